#include <limits>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("arithmetic on floats and integers") {
  HostTensor a = F32({4}, {7, -7, 7.5, -7.5});
  HostTensor b = F32({4}, {2, 2, -2, -2});
  CheckOp("add", {}, {a, b}, {F32({4}, {9, -5, 5.5, -9.5})});
  CheckOp("subtract", {}, {a, b}, {F32({4}, {5, -9, 9.5, -5.5})});
  CheckOp("multiply", {}, {a, b}, {F32({4}, {14, -14, -15, 15})});
  CheckOp("divide", {}, {a, b}, {F32({4}, {3.5, -3.5, -3.75, 3.75})});
  CheckOp("floor_divide", {}, {a, b}, {F32({4}, {3, -4, -4, 3})});
  CheckOp("trunc_divide", {}, {a, b}, {F32({4}, {3, -3, -3, 3})});
  CheckOp("mod", {}, {a, b}, {F32({4}, {1, -1, 1.5, -1.5})});
  CheckOp("trunc_mod", {}, {a, b}, {F32({4}, {1, -1, 1.5, -1.5})});
  CheckOp("floor_mod", {}, {a, b}, {F32({4}, {1, 1, -0.5, -1.5})});
  CheckOp("power", {}, {F32({2}, {2, 9}), F32({2}, {3, 0.5})}, {F32({2}, {8, 3})});

  HostTensor i = I32({4}, {7, -7, 7, -7});
  HostTensor j = I32({4}, {2, 2, -2, -2});
  CheckOp("divide", {}, {i, j}, {I32({4}, {3, -3, -3, 3})});
  CheckOp("trunc_divide", {}, {i, j}, {I32({4}, {3, -3, -3, 3})});
  CheckOp("floor_divide", {}, {i, j}, {I32({4}, {3, -4, -4, 3})});
  CheckOp("mod", {}, {i, j}, {I32({4}, {1, -1, 1, -1})});
  CheckOp("floor_mod", {}, {i, j}, {I32({4}, {1, 1, -1, -1})});
  CheckFails("power", {}, {i, j}, "must be of a float dtype");
  CheckFails("add", {}, {Bool({1}, {1}), Bool({1}, {1})}, "not bool");
  CheckFails("add", {}, {a, i}, "dtypes float32 and int32 differ");
}

TEST_CASE("maximum and minimum keep TVM's treatment of NaN") {
  HostTensor a = F32({3}, {kNan, 1, 2});
  HostTensor b = F32({3}, {1, kNan, 3});
  CheckOp("maximum", {}, {a, b}, {F32({3}, {1, kNan, 3})});
  CheckOp("minimum", {}, {a, b}, {F32({3}, {1, kNan, 2})});
}

TEST_CASE("comparisons give bool, on any dtype") {
  HostTensor a = I32({3}, {1, 2, 3});
  HostTensor b = I32({3}, {2, 2, 2});
  CheckOp("equal", {}, {a, b}, {Bool({3}, {0, 1, 0})});
  CheckOp("not_equal", {}, {a, b}, {Bool({3}, {1, 0, 1})});
  CheckOp("less", {}, {a, b}, {Bool({3}, {1, 0, 0})});
  CheckOp("less_equal", {}, {a, b}, {Bool({3}, {1, 1, 0})});
  CheckOp("greater", {}, {a, b}, {Bool({3}, {0, 0, 1})});
  CheckOp("greater_equal", {}, {a, b}, {Bool({3}, {0, 1, 1})});
  CheckOp("equal", {}, {Bool({2}, {0, 1}), Bool({2}, {1, 1})}, {Bool({2}, {0, 1})});
  CheckOp("less", {}, {F32({1}, {kNan}), F32({1}, {1})}, {Bool({1}, {0})});
}

TEST_CASE("logic and bits") {
  HostTensor p = Bool({4}, {0, 0, 1, 1});
  HostTensor q = Bool({4}, {0, 1, 0, 1});
  CheckOp("logical_and", {}, {p, q}, {Bool({4}, {0, 0, 0, 1})});
  CheckOp("logical_or", {}, {p, q}, {Bool({4}, {0, 1, 1, 1})});
  CheckOp("logical_xor", {}, {p, q}, {Bool({4}, {0, 1, 1, 0})});
  HostTensor i = I32({2}, {12, -8});
  HostTensor j = I32({2}, {10, 1});
  CheckOp("bitwise_and", {}, {i, j}, {I32({2}, {8, 0})});
  CheckOp("bitwise_or", {}, {i, j}, {I32({2}, {14, -7})});
  CheckOp("bitwise_xor", {}, {i, j}, {I32({2}, {6, -7})});
  CheckOp("left_shift", {}, {i, I32({2}, {1, 2})}, {I32({2}, {24, -32})});
  CheckOp("right_shift", {}, {i, I32({2}, {1, 2})}, {I32({2}, {6, -2})});
  CheckFails("logical_and", {}, {i, j}, "must be bool");
  CheckFails("left_shift", {}, {p, q}, "must be of an integer dtype");
}

TEST_CASE("broadcasting") {
  CheckOp("add", {}, {F32({2, 1}, {1, 2}), F32({3}, {10, 20, 30})},
          {F32({2, 3}, {11, 21, 31, 12, 22, 32})});
  CheckOp("add", {}, {F32({}, {1}), F32({2, 1, 2}, {1, 2, 3, 4})}, {F32({2, 1, 2}, {2, 3, 4, 5})});
  CheckOp("add", {}, {F32({1, 2}, {1, 2}), F32({2, 1}, {10, 20})}, {F32({2, 2}, {11, 12, 21, 22})});
  CheckOp("add", {}, {F32({0, 2}, {}), F32({1, 2}, {1, 2})}, {F32({0, 2}, {})});
  CheckFails("add", {}, {F32({2}, {1, 2}), F32({3}, {1, 2, 3})}, "2 and 3 do not broadcast");
  // The same at run time is a guard.
  CheckFails("add", {}, {F32({2}, {1, 2}), F32({3}, {1, 2, 3})}, "operands", true);
}

TEST_CASE("where broadcasts three ways and takes any condition") {
  CheckOp("where", {}, {Bool({2, 1}, {1, 0}), F32({3}, {1, 2, 3}), F32({}, {9})},
          {F32({2, 3}, {1, 2, 3, 9, 9, 9})});
  CheckOp("where", {}, {I32({2}, {2, 0}), I32({2}, {1, 2}), I32({2}, {3, 4})}, {I32({2}, {1, 4})});
  CheckFails("where", {}, {Bool({1}, {1}), F32({1}, {1}), I32({1}, {1})}, "differ");
}

}  // namespace
}  // namespace relayvm::op_testing

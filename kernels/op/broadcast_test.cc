#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("broadcast_to and broadcast_to_like") {
  HostTensor x = F32({3, 1}, {1, 2, 3});
  std::vector<double> twice = {1, 1, 2, 2, 3, 3};
  CheckOp("broadcast_to", {{"shape", List({3, 2})}}, {x}, {F32({3, 2}, twice)});
  CheckOp("broadcast_to", {{"shape", List({2, 3, 1})}}, {x}, {F32({2, 3, 1}, {1, 2, 3, 1, 2, 3})});
  CheckOp("broadcast_to", {{"shape", List({2})}}, {F32({}, {7})}, {F32({2}, {7, 7})});
  CheckOp("broadcast_to_like", {}, {x, I32({3, 2}, Iota(6))}, {F32({3, 2}, twice)});
  CheckFails("broadcast_to", {{"shape", List({3, 2})}}, {F32({2, 2}, Iota(4))}, "do not broadcast");
  CheckFails("broadcast_to", {{"shape", List({1, 2})}}, {F32({3, 2}, Iota(6))}, "3 and 1");
  CheckFails("broadcast_to", {{"shape", List({2})}}, {x}, "fewer dims");
}

TEST_CASE("collapse_sum is the adjoint of broadcasting") {
  HostTensor x = F32({2, 2, 3}, Iota(12));
  CheckOp("collapse_sum_like", {}, {x, F32({1, 3}, {0, 0, 0})}, {F32({1, 3}, {18, 22, 26})});
  CheckOp("collapse_sum_like", {}, {x, F32({2, 1}, {0, 0})}, {F32({2, 1}, {24, 42})});
  CheckOp("collapse_sum_like", {}, {x, F32({}, {0})}, {F32({}, {66})});
  CheckOp("collapse_sum_like", {}, {x, x}, {x});
  CheckOp("collapse_sum_to", {}, {x, I64({2}, {1, 3})}, {F32({1, 3}, {18, 22, 26})});
  CheckFails("collapse_sum_to", {}, {x, I64({1}, {2})}, "2 and 3");
}

TEST_CASE("tile and repeat") {
  HostTensor x = F32({2, 2}, {1, 2, 3, 4});
  CheckOp("tile", {{"reps", List({2})}}, {x}, {F32({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4})});
  CheckOp("tile", {{"reps", List({2, 1, 1})}}, {x}, {F32({2, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 4})});
  CheckOp("tile", {{"reps", List({3})}}, {F32({}, {5})}, {F32({3}, {5, 5, 5})});
  CheckOp("tile", {{"reps", List({0, 1})}}, {x}, {F32({0, 2}, {})});
  CheckFails("tile", {{"reps", List({-1})}}, {x}, "negative");
  CheckOp("repeat", {{"repeats", 2}, {"axis", 0}}, {x}, {F32({4, 2}, {1, 2, 1, 2, 3, 4, 3, 4})});
  CheckOp("repeat", {{"repeats", 2}, {"axis", -1}}, {x}, {F32({2, 4}, {1, 1, 2, 2, 3, 3, 4, 4})});
  CheckOp("repeat", {{"repeats", 2}}, {x}, {F32({8}, {1, 1, 2, 2, 3, 3, 4, 4})});
  CheckOp("repeat", {{"repeats", 0}, {"axis", 0}}, {x}, {F32({0, 2}, {})});
  CheckFails("repeat", {{"repeats", 2}, {"axis", 2}}, {x}, "out of range");
}

}  // namespace
}  // namespace relayvm::op_testing

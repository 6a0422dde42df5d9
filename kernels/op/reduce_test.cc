#include <limits>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

HostTensor Data() { return F32({2, 3}, {1, -2, 3, 4, 5, -6}); }

TEST_CASE("sum: axes, keepdims, exclude") {
  CheckOp("sum", {}, {Data()}, {F32({}, {5})});
  CheckOp("sum", {{"axis", List({1})}}, {Data()}, {F32({2}, {2, 3})});
  CheckOp("sum", {{"axis", -2}}, {Data()}, {F32({3}, {5, 3, -3})});
  CheckOp("sum", {{"axis", List({0, 1})}, {"keepdims", true}}, {Data()}, {F32({1, 1}, {5})});
  CheckOp("sum", {{"axis", List({0})}, {"exclude", true}}, {Data()}, {F32({2}, {2, 3})});
  CheckOp("sum", {{"axis", List({})}}, {Data()}, {Data()});
  CheckOp("sum", {{"axis", List({1})}}, {F32({2, 0}, {})}, {F32({2}, {0, 0})});
  CheckOp("sum", {}, {F32({}, {3})}, {F32({}, {3})});
  CheckFails("sum", {{"axis", List({2})}}, {Data()}, "out of range");
}

TEST_CASE("the other reductions") {
  CheckOp("prod", {{"axis", List({1})}}, {Data()}, {F32({2}, {-6, -120})});
  CheckOp("max", {{"axis", List({0})}}, {Data()}, {F32({3}, {4, 5, 3})});
  CheckOp("min", {{"axis", List({0})}}, {Data()}, {F32({3}, {1, -2, -6})});
  const HostTensor b = Bool({2, 2}, {1, 0, 1, 1});
  CheckOp("all", {{"axis", List({1})}}, {b}, {Bool({2}, {0, 1})});
  CheckOp("any", {{"axis", List({1})}, {"keepdims", true}}, {b}, {Bool({2, 1}, {1, 1})});
  CheckFails("all", {}, {Data()}, "bool");
}

TEST_CASE("max and min ignore NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CheckOp("max", {}, {F32({3}, {nan, 2, nan})}, {F32({}, {2})});
  CheckOp("min", {}, {F32({3}, {2, nan, 3})}, {F32({}, {2})});
}

TEST_CASE("mean divides in the input's dtype") {
  CheckOp("mean", {{"axis", List({1})}}, {F32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 9})},
          {F32({2}, {2.5, 6.75})});
  CheckOp("mean", {}, {I32({3}, {-1, -2, -4})}, {I32({}, {-2})});
  // Neither sum nor count fits: those of integers have 64 bits, those of half floats are divided in
  // float32.
  const std::vector<double> many(300, 100);
  CheckOp("mean", {}, {Host(DType::kInt8, {300}, many)}, {Host(DType::kInt8, {}, {100})});
  CheckOp("mean", {}, {Host(DType::kUInt8, {300}, many)}, {Host(DType::kUInt8, {}, {100})});
  CheckOp("mean", {}, {I32({2}, {INT32_MAX, INT32_MAX})}, {I32({}, {INT32_MAX})});
  std::vector<double> few(70000, 0);
  few[0] = 3500;
  CheckOp("mean", {}, {Host(DType::kFloat16, {70000}, few)},
          {Host(DType::kFloat16, {}, {3500.0 / 70000})});
  // A float16 sum ends at 2048 where halves are added.
  CheckOp("mean", {}, {Host(DType::kFloat16, {20000}, std::vector<double>(20000, 0.5))},
          {Host(DType::kFloat16, {}, {0.5})});
  std::vector<double> spread(256, 101);
  std::fill_n(spread.begin(), 128, 99.0);
  CheckOp("variance", {}, {Host(DType::kInt8, {256}, spread), Host(DType::kInt8, {1}, {100})},
          {Host(DType::kInt8, {}, {1})}, {.static_args = {1}});
}

TEST_CASE("variance takes the mean with kept dimensions") {
  const HostTensor x = F32({2, 2}, {1, 3, 10, 14});
  const HostTensor mean = F32({2, 1}, {2, 12});
  const Options by_row{.static_args = {1}};
  CheckOp("variance", {{"axis", List({1})}}, {x, mean}, {F32({2}, {1, 4})}, by_row);
  CheckOp("variance", {{"axis", List({1})}, {"unbiased", true}, {"keepdims", true}}, {x, mean},
          {F32({2, 1}, {2, 8})}, by_row);
  CheckFails("variance", {}, {x, F32({2}, {2, 12})}, "rank");
}

TEST_CASE("argmax and argmin: ties go to the first, or to the last") {
  const HostTensor x = F32({2, 3}, {7, 1, 7, 0, 2, 2});
  CheckOp("argmax", {{"axis", List({1})}}, {x}, {I32({2}, {0, 1})});
  CheckOp("argmax", {{"axis", List({1})}, {"select_last_index", true}}, {x}, {I32({2}, {2, 2})});
  CheckOp("argmin", {{"axis", List({-1})}, {"keepdims", true}}, {x}, {I32({2, 1}, {1, 0})});
  CheckOp("argmax", {}, {x}, {I32({}, {0})});
  CheckOp("argmin", {}, {F32({}, {5})}, {I32({}, {0})});
}

}  // namespace
}  // namespace relayvm::op_testing

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

AttrMap Slice(const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
              const std::vector<int64_t>& strides = {1}) {
  return {{"begin", List(begin)}, {"end", List(end)}, {"strides", List(strides)}};
}

TEST_CASE("strided_slice follows numpy") {
  HostTensor x = F32({3, 4}, Iota(12));
  CheckOp("strided_slice", Slice({1, 1}, {3, 3}), {x}, {F32({2, 2}, {5, 6, 9, 10})});
  CheckOp("strided_slice", Slice({0, -1}, {3, -5}, {1, -2}), {x},
          {F32({3, 2}, {3, 1, 7, 5, 11, 9})});
  CheckOp("strided_slice", Slice({0, 0}, {2147483647, 2147483647}, {2, 3}), {x},
          {F32({2, 2}, {0, 3, 8, 11})});
  CheckOp("strided_slice", Slice({-1}, {-2147483648LL}, {-1}), {x},
          {F32({3, 4}, {8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3})});
  CheckOp("strided_slice", Slice({2}, {1}), {x}, {F32({0, 4}, {})});
  AttrMap axes = Slice({-2}, {100});
  axes["axes"] = List({-1});
  CheckOp("strided_slice", axes, {x}, {F32({3, 2}, {2, 3, 6, 7, 10, 11})});
  AttrMap size = Slice({1, 0}, {-1, 2}, {5});
  size["slice_mode"] = "size";
  CheckOp("strided_slice", size, {x}, {F32({2, 2}, {4, 5, 8, 9})});
  CheckFails("strided_slice", Slice({0}, {1}, {0}), {x}, "the stride of axis 0 is 0");
  CheckFails("strided_slice", Slice({0, 0, 0}, {1, 1, 1}), {x}, "the data 2 dims");
  size["slice_mode"] = "length";
  CheckFails("strided_slice", size, {x}, "neither end nor size");
}

TEST_CASE("dyn.strided_slice reads the same from tensors") {
  HostTensor x = F32({3, 4}, Iota(12));
  auto v = [](const std::vector<double>& values) {
    return I64({static_cast<int64_t>(values.size())}, values);
  };
  CheckOp("dyn.strided_slice", {}, {x, v({1, 1}), v({3, 3}), v({1, 1})},
          {F32({2, 2}, {5, 6, 9, 10})});
  CheckOp("dyn.strided_slice", {}, {x, v({-1, -1}), v({-9, 0}), v({-1, -2})},
          {F32({3, 2}, {11, 9, 7, 5, 3, 1})});
  CheckOp("dyn.strided_slice", {}, {x, v({-2}), v({7}), v({1})}, {F32({2, 4}, Iota(8, 4))});
  CheckOp("dyn.strided_slice", {{"slice_mode", "size"}}, {x, v({1, 1}), v({1, -1}), v({1, 1})},
          {F32({1, 3}, {5, 6, 7})});
  CheckFails("dyn.strided_slice", {}, {x, v({0}), v({1}), v({0})}, "is 0", true);
  CheckFails("dyn.strided_slice", {}, {x, v({0}), v({1, 1, 1}), v({1})},
             "end has 3 elements, the data 2 dims");
}

TEST_CASE("strided_set") {
  HostTensor x = F32({3, 4}, Iota(12));
  Options vectors{.static_args = {2, 3, 4}};
  CheckOp("strided_set", {},
          {x, F32({2, 2}, {-1, -2, -3, -4}), I64({2}, {1, 0}), I64({2}, {3, 4}), I64({2}, {1, 2})},
          {F32({3, 4}, {0, 1, 2, 3, -1, 5, -2, 7, -3, 9, -4, 11})}, vectors);
  CheckOp("strided_set", {},
          {x, F32({3, 2}, {-1, -2, -3, -4, -5, -6}), I64({2}, {0, -1}), I64({2}, {3, -5}),
           I64({2}, {1, -2})},
          {F32({3, 4}, {0, -2, 2, -1, 4, -4, 6, -3, 8, -6, 10, -5})}, vectors);
  CheckOp("strided_set", {},
          {x, F32({3, 4}, Iota(12, 20)), I64({1}, {0}), I64({2}, {3, 4}), I64({0}, {})},
          {F32({3, 4}, Iota(12, 20))}, vectors);
  CheckOp("strided_set", {},
          {x, F32({3, 4}, Iota(12, 20)), I64({0}, {}), I64({0}, {}), I64({1}, {-1})},
          {F32({3, 4}, {28, 29, 30, 31, 24, 25, 26, 27, 20, 21, 22, 23})}, vectors);
  // An axis that only its end cuts.
  CheckOp("strided_set", {},
          {x, F32({2, 2}, {-1, -2, -3, -4}), I64({1}, {1}), I64({2}, {3, 2}), I64({1}, {1})},
          {F32({3, 4}, {0, 1, 2, 3, -1, -2, 6, 7, -3, -4, 10, 11})}, vectors);
  CheckFails("strided_set", {},
             {x, F32({2, 2}, Iota(4)), I64({2}, {0, 0}), I64({2}, {3, 2}), I64({2}, {1, 1})},
             "the slice that it replaces");
}

TEST_CASE("slice_like") {
  HostTensor x = F32({3, 4}, Iota(12));
  CheckOp("slice_like", {{"axes", List({})}}, {x, F32({2, 2}, Iota(4))},
          {F32({2, 2}, {0, 1, 4, 5})});
  CheckOp("slice_like", {{"axes", List({-1})}}, {x, F32({9, 1}, Iota(9))},
          {F32({3, 1}, {0, 4, 8})});
  CheckOp("slice_like", {}, {x, F32({2}, Iota(2))}, {F32({2, 4}, Iota(8))});
  CheckFails("slice_like", {}, {x, F32({4, 4}, Iota(16))},
             "the data's extent beside the reference's");
  CheckFails("slice_like", {}, {x, F32({4, 4}, Iota(16))},
             "the data's extent beside the reference's", true);
}

TEST_CASE("sliding_window") {
  CheckOp("sliding_window", {{"axis", 1}, {"window_shape", List({2})}, {"strides", List({2})}},
          {F32({2, 5}, Iota(10))}, {F32({2, 2, 2}, {0, 1, 2, 3, 5, 6, 7, 8})});
  CheckOp("sliding_window",
          {{"axis", 0}, {"window_shape", List({2, 2})}, {"strides", List({1, 1})}},
          {F32({2, 3}, Iota(6))}, {F32({1, 2, 2, 2}, {0, 1, 3, 4, 1, 2, 4, 5})});
  CheckFails("sliding_window", {{"axis", 0}, {"window_shape", List({3})}, {"strides", List({1})}},
             {F32({2}, Iota(2))}, "the data's extent under the window");
}

}  // namespace
}  // namespace relayvm::op_testing

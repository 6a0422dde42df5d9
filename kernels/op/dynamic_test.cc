#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

HostTensor Sizes(const std::vector<double>& v) { return I64({static_cast<int64_t>(v.size())}, v); }

TEST_CASE("dyn.zeros, dyn.ones, dyn.full") {
  CheckOp("dyn.zeros", {{"shape", AttrValue()}, {"dtype", "int64"}}, {Sizes({2, 1})},
          {I64({2, 1}, {0, 0})}, {.static_args = {0}});
  CheckOp("dyn.ones", {{"dtype", "float32"}}, {Sizes({})}, {F32({}, {1})}, {.static_args = {0}});
  CheckOp("dyn.full", {{"dtype", "int32"}}, {F32({}, {2.5}), Sizes({3})}, {I32({3}, {2, 2, 2})});
  CheckFails("dyn.zeros", {}, {Sizes({-1})}, "negative dim");
  CheckFails("dyn.full", {}, {F32({}, {1}), Sizes({-1})}, "a dim: ", true);
}

TEST_CASE("dyn.reshape") {
  HostTensor x = F32({2, 3, 4}, Iota(24));
  CheckOp("dyn.reshape", {{"newshape", AttrList{}}}, {x, Sizes({8, 3})}, {F32({8, 3}, Iota(24))});
  CheckOp("dyn.reshape", {}, {x, Sizes({0, -1})}, {F32({2, 12}, Iota(24))});
  CheckOp("dyn.reshape", {}, {x, Sizes({4, 0, -1})}, {F32({4, 3, 2}, Iota(24))});
  CheckOp("dyn.reshape", {}, {x, Sizes({-3, -2})}, {F32({6, 4}, Iota(24))}, {.constant_args = {1}});
  CheckFails("dyn.reshape", {}, {x, Sizes({5, -1})}, "the number of elements");
  CheckFails("dyn.reshape", {}, {x, Sizes({5, 7})}, "the number of elements", true);
  CheckOp("dyn.reshape", {}, {x, Sizes({-3, 4})}, {F32({6, 4}, Iota(24))});
  CheckFails("dyn.reshape", {}, {x, Sizes({-4, 1, 2, 3})}, "gives 3 dims, the result has 4", true);
  CheckOp("dyn.reshape", {}, {x, Sizes({-4, 1, 2, -2})}, {F32({1, 2, 3, 4}, Iota(24))});
  CheckOp("dyn.reshape", {{"allowzero", true}}, {F32({0, 3}, {}), Sizes({3, 0})},
          {F32({3, 0}, {})});
}

TEST_CASE("dyn.squeeze and dyn.expand_dims") {
  HostTensor x = F32({1, 3, 1}, Iota(3));
  CheckOp("dyn.squeeze", {{"axis", AttrList{}}}, {x, Sizes({0})}, {F32({3, 1}, Iota(3))});
  CheckOp("dyn.squeeze", {}, {x, Sizes({-1, 0})}, {F32({3}, Iota(3))});
  CheckFails("dyn.squeeze", {}, {x, Sizes({1})}, "a squeezed axis is not 1");
  CheckFails("dyn.squeeze", {}, {x, Sizes({1})}, "a squeezed axis is not 1", true);
  CheckFails("dyn.squeeze", {}, {x, Sizes({3})}, "out of range");
  for (bool symbolic : {false, true}) {
    CheckFails("dyn.squeeze", {}, {x, Sizes({0, -3})}, "axis 0 is given twice", symbolic);
  }
  HostTensor y = F32({2, 3}, Iota(6));
  CheckOp("dyn.expand_dims", {{"num_newaxis", 2}}, {y, I64({}, {1})}, {F32({2, 1, 1, 3}, Iota(6))});
  CheckOp("dyn.expand_dims", {}, {y, I32({}, {-1})}, {F32({2, 3, 1}, Iota(6))});
  CheckFails("dyn.expand_dims", {}, {y, I64({}, {3})}, "axis: expected at most 2, found 3");
  CheckFails("dyn.expand_dims", {}, {y, I64({}, {-4})}, "axis: ", true);
}

TEST_CASE("dyn.broadcast_to and dyn.tile") {
  HostTensor x = F32({2, 1}, {1, 2});
  CheckOp("dyn.broadcast_to", {{"shape", AttrValue()}}, {x, Sizes({2, 3})},
          {F32({2, 3}, {1, 1, 1, 2, 2, 2})});
  CheckFails("dyn.broadcast_to", {}, {x, Sizes({3, 3})}, "shape", true);
  CheckOp("dyn.tile", {{"reps", AttrList{}}}, {x, Sizes({2, 1, 2})},
          {F32({2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2})});
}

TEST_CASE("dyn.nn.pad") {
  HostTensor x = F32({1, 3}, {1, 2, 3});
  CheckOp("dyn.nn.pad", {}, {x, I64({2, 2}, {1, 0, 0, 2}), F32({}, {9})},
          {F32({2, 5}, {9, 9, 9, 9, 9, 1, 2, 3, 9, 9})}, {.static_args = {1}});
  CheckOp("dyn.nn.pad", {{"pad_mode", "edge"}}, {x, I64({2, 2}, {0, 0, 2, 1}), F32({}, {0})},
          {F32({1, 6}, {1, 1, 1, 2, 3, 3})}, {.static_args = {1}});
  CheckOp("dyn.nn.pad", {{"pad_mode", "reflect"}}, {x, I64({2, 2}, {0, 0, 2, 1}), F32({}, {0})},
          {F32({1, 6}, {3, 2, 1, 2, 3, 2})}, {.static_args = {1}});
  CheckOp("dyn.nn.pad", {}, {x, I64({2, 2}, {0, 0, -1, 0}), F32({}, {9})}, {F32({1, 2}, {2, 3})},
          {.static_args = {1}});
  CheckFails("dyn.nn.pad", {{"pad_mode", "reflect"}}, {x, I64({2, 2}, {0, 0, 3, 0}), F32({}, {0})},
             "the extent of a padded axis");
}

TEST_CASE("dyn.image.resize2d and dyn.nn.upsampling") {
  HostTensor x = F32({1, 1, 2, 2}, {1, 2, 3, 4});
  std::vector<double> doubled = {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4};
  AttrMap nearest = {{"method", "nearest_neighbor"},
                     {"coordinate_transformation_mode", "asymmetric"},
                     {"rounding_method", ""},
                     {"size", AttrList{}},
                     {"roi", AttrList{}}};
  CheckOp("dyn.image.resize2d", nearest, {x, Sizes({4, 4}), F32({4}, {0, 0, 0, 0})},
          {F32({1, 1, 4, 4}, doubled)}, {.static_args = {2}});
  CheckOp("dyn.nn.upsampling", {{"scale_h", 0.0}, {"scale_w", 0.0}},
          {x, F32({}, {2}), F32({}, {2})}, {F32({1, 1, 4, 4}, doubled)});
  CheckOp("dyn.nn.upsampling", {}, {F32({1, 1, 2, 3}, Iota(6)), F32({}, {0.5}), F32({}, {1})},
          {F32({1, 1, 1, 3}, {0, 1, 2})});
  CheckOp("dyn.nn.upsampling3d", {{"coordinate_transformation_mode", "asymmetric"}},
          {F32({1, 1, 1, 1, 2}, {1, 2}), F32({}, {2}), F32({}, {1}), F32({}, {2})},
          {F32({1, 1, 2, 1, 4}, {1, 1, 2, 2, 1, 1, 2, 2})});
  // A scale of each type; 5 * 0.7 is 3.5 in float32, which rounds up.
  for (DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kInt32}) {
    CheckOp("dyn.nn.upsampling", {},
            {F32({1, 1, 1, 2}, {1, 2}), Host(dtype, {}, {1}), Host(dtype, {}, {2})},
            {F32({1, 1, 1, 4}, {1, 1, 2, 2})});
  }
  auto third = RunOp("dyn.nn.upsampling", {},
                     {F32({1, 1, 1, 5}, Iota(5)), F32({}, {1}), F32({}, {0.7})}, true);
  REQUIRE(third.ok());
  CHECK((*third)[0].shape == std::vector<int64_t>{1, 1, 1, 4});
  CheckFails("dyn.nn.upsampling", {}, {x, F32({1}, {2}), F32({}, {2})}, "a scale", true);
  for (double scale : {std::nan(""), 0.0, -1.0, 1e7, HUGE_VAL}) {
    CAPTURE(scale);
    for (DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
      const std::vector<Arg> args = {x, Host(dtype, {}, {scale}), Host(dtype, {}, {1})};
      CheckFails("dyn.nn.upsampling", {}, args, "a scale");
      CheckFails("dyn.nn.upsampling", {}, args, "a scale", true);
    }
  }
  for (double scale : {0.0, -1.0, 1e7}) {
    const std::vector<Arg> args = {x, I64({}, {scale}), I64({}, {1})};
    CheckFails("dyn.nn.upsampling", {}, args, "a scale");
    CheckFails("dyn.nn.upsampling", {}, args, "a scale", true);
  }
}

}  // namespace
}  // namespace relayvm::op_testing

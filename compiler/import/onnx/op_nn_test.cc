// The values that convolutions and pools give, against those of other systems or of their
// definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30, at open dims:
    {"Conv, SAME_UPPER",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "Conv" attribute { name:
       "auto_pad" s: "SAME_UPPER" type: STRING } attribute { name: "kernel_shape" ints: [3,
       2] type: INTS } attribute { name: "strides" ints: [2, 2] type: INTS } domain: "" }
       name: "g" initializer { dims: [2, 2, 3, 2] data_type: 1 float_data: [0.125, 1.125,
       -1.875, 0.0, 0.125, -1.125, 0.5, 0.75, -1.75, 1.75, -0.125, 0.75, 1.75, 1.25, -1.875,
       0.0, -1.875, 1.875, -1.625, -1.625, 0.625, -0.5, 1.5, -0.875] name: "w" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output {
       name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {-3.796875, -5.71875, -4.4375, -1.46875, -0.859375, -1.5625, 1.21875, -7.71875, -9.65625,
      1.25, 4.75, -5.0625},
     0.0001},
    {"MaxPool, SAME_UPPER",
     R"(graph { node { input: "x" output: "y" op_type: "MaxPool" attribute { name: "auto_pad"
       s: "SAME_UPPER" type: STRING } attribute { name: "kernel_shape" ints: [3, 3] type:
       INTS } attribute { name: "strides" ints: [2, 2] type: INTS } domain: "" } name: "g"
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" }
       dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output
       { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {-2.875, -4.375, -1.125, -1.25, -4.375, -3.625, -1.75, -4.625, -2, -3.875, -2.625,
      -3.125, -2.875, -3.875, -3, -3, -4.625, -2.125, -2.75, -3.125, -1.125, -4.125, -2.125,
      -4.375, -3.25, -1.5, -3.25, -3.375, -1.625, -3.875, -5, -4.875, -4.25, -2.875, -1.25,
      -1.25, -2.5, -3.875, -1.75, -3.625},
     {-1.125, -1.125, -1.75, -1.75, -2.125, -2.75, -1.125, -2.125, -1.25, -1.25, -1.25, -1.25},
     0.0001},
    {"AveragePool, SAME_UPPER, without padding",
     R"(graph { node { input: "x" output: "y" op_type: "AveragePool" attribute { name:
       "auto_pad" s: "SAME_UPPER" type: STRING } attribute { name: "count_include_pad" i: 0
       type: INT } attribute { name: "kernel_shape" ints: [3, 3] type: INTS } attribute {
       name: "strides" ints: [2, 2] type: INTS } domain: "" } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param:
       "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {-0.020833334, 0.8125, -0.111111112, -0.020833334, -0.208333328, 0.03125, 0.4375,
      -0.28125, 0.013888889, -0.166666672, 0.25, 1.03125},
     0.0001},
    {"AveragePool, SAME_UPPER, with padding",
     R"(graph { node { input: "x" output: "y" op_type: "AveragePool" attribute { name:
       "auto_pad" s: "SAME_UPPER" type: STRING } attribute { name: "count_include_pad" i: 1
       type: INT } attribute { name: "kernel_shape" ints: [3, 3] type: INTS } attribute {
       name: "strides" ints: [2, 2] type: INTS } domain: "" } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param:
       "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {-0.013888889, 0.361111104, -0.111111112, -0.013888889, -0.138888896, 0.013888889,
      0.291666657, -0.125, 0.013888889, -0.111111112, 0.166666672, 0.458333343},
     0.0001},
    {"Conv, SAME_LOWER",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "Conv" attribute { name:
       "auto_pad" s: "SAME_LOWER" type: STRING } attribute { name: "kernel_shape" ints: [3,
       2] type: INTS } attribute { name: "strides" ints: [2, 3] type: INTS } domain: "" }
       name: "g" initializer { dims: [2, 2, 3, 2] data_type: 1 float_data: [-1.5, -0.125,
       1.375, 0.375, -1.125, 0.875, 0.125, 0.5, 1.0, 0.875, -1.625, -1.75, -0.125, -0.5,
       1.375, -1.25, -0.625, -1.25, 1.125, -0.75, -0.25, 1.0, 1.75, -1.5] name: "w" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output {
       name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {0.921875, 1.140625, 3.921875, -10.96875, -0.8125, 2.09375, 3.8125, 0.171875, 2.71875,
      0.390625, 3.40625, 0.21875},
     0.0001},
    {"MaxPool, SAME_LOWER",
     R"(graph { node { input: "x" output: "y" op_type: "MaxPool" attribute { name: "auto_pad"
       s: "SAME_LOWER" type: STRING } attribute { name: "kernel_shape" ints: [3, 3] type:
       INTS } attribute { name: "strides" ints: [2, 3] type: INTS } domain: "" } name: "g"
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" }
       dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output
       { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {-2.875, -4.375, -1.125, -1.25, -4.375, -3.625, -1.75, -4.625, -2, -3.875, -2.625,
      -3.125, -2.875, -3.875, -3, -3, -4.625, -2.125, -2.75, -3.125, -1.125, -4.125, -2.125,
      -4.375, -3.25, -1.5, -3.25, -3.375, -1.625, -3.875, -5, -4.875, -4.25, -2.875, -1.25,
      -1.25, -2.5, -3.875, -1.75, -3.625},
     {-2.875, -1.125, -2, -1.75, -2.125, -2.75, -1.125, -2.125, -1.5, -1.25, -2.5, -1.25},
     0.0001},
    {"AveragePool, SAME_LOWER, without padding",
     R"(graph { node { input: "x" output: "y" op_type: "AveragePool" attribute { name:
       "auto_pad" s: "SAME_LOWER" type: STRING } attribute { name: "count_include_pad" i: 0
       type: INT } attribute { name: "kernel_shape" ints: [3, 3] type: INTS } attribute {
       name: "strides" ints: [2, 3] type: INTS } domain: "" } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param:
       "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {-0.8125, 0.8125, -0.4375, -0.020833334, -0.375, 0.03125, 0.5, -0.28125, 0.104166664,
      -0.166666672, -0.375, 1.03125},
     0.0001},
    {"AveragePool, SAME_LOWER, with padding",
     R"(graph { node { input: "x" output: "y" op_type: "AveragePool" attribute { name:
       "auto_pad" s: "SAME_LOWER" type: STRING } attribute { name: "count_include_pad" i: 1
       type: INT } attribute { name: "kernel_shape" ints: [3, 3] type: INTS } attribute {
       name: "strides" ints: [2, 3] type: INTS } domain: "" } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param:
       "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {-0.361111104, 0.361111104, -0.291666657, -0.013888889, -0.166666672, 0.013888889,
      0.222222224, -0.125, 0.0694444478, -0.111111112, -0.166666672, 0.458333343},
     0.0001},
    {"Conv, a stride wider than the window",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "Conv" attribute { name:
       "auto_pad" s: "SAME_UPPER" type: STRING } attribute { name: "kernel_shape" ints: [2,
       2] type: INTS } attribute { name: "strides" ints: [4, 3] type: INTS } domain: "" }
       name: "g" initializer { dims: [1, 2, 2, 2] data_type: 1 float_data: [-0.5, 1.125,
       1.25, 1.125, -1.75, 0.625, -0.75, -1.25] name: "w" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim
       { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {-9.703125, -0.21875, 0.375, 1.15625},
     0.0001},
    {"Conv of two kinds that meet",
     R"(graph { node { input: "x" input: "w" output: "a" op_type: "Conv" attribute { name:
       "auto_pad" s: "SAME_UPPER" type: STRING } attribute { name: "kernel_shape" ints: [3,
       3] type: INTS } attribute { name: "strides" ints: [2, 2] type: INTS } domain: "" }
       node { input: "x" input: "v" output: "b" op_type: "Conv" attribute { name:
       "kernel_shape" ints: [1, 1] type: INTS } attribute { name: "strides" ints: [2, 2]
       type: INTS } domain: "" } node { input: "a" input: "b" output: "y" op_type: "Add"
       domain: "" } name: "g" initializer { dims: [1, 2, 3, 3] data_type: 1 float_data:
       [-1.5, 1.875, -0.5, 0.75, -0.5, 1.625, -1.125, 1.5, -0.375, 1.375, 0.625, 0.5, 0.25,
       -1.75, -1.125, -1.625, 0.75, -1.5] name: "w" } initializer { dims: [1, 2, 1, 1]
       data_type: 1 float_data: [0.75, -2.0] name: "v" } input { name: "x" type { tensor_type
       { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim {
       dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {3.671875, -0.90625, 2.703125, 0.375, -5.8125, 2.84375},
     0.0001},
    {"MaxPool whose last window would begin in the padding",
     R"(graph { node { input: "x" output: "y" op_type: "MaxPool" attribute { name: "ceil_mode"
       i: 1 type: INT } attribute { name: "kernel_shape" ints: [3, 3] type: INTS } attribute
       { name: "pads" ints: [1, 1, 1, 1] type: INTS } attribute { name: "strides" ints: [3,
       3] type: INTS } domain: "" } name: "g" input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param:
       "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {0.125, 1.875, 1, 0.375, 1.875, 0.875, 1.375, 1.75},
     0.0001, 19},
    {"AveragePool whose last window would begin in the padding",
     R"(graph { node { input: "x" output: "y" op_type: "AveragePool" attribute { name:
       "ceil_mode" i: 1 type: INT } attribute { name: "count_include_pad" i: 1 type: INT }
       attribute { name: "kernel_shape" ints: [2, 3] type: INTS } attribute { name: "pads"
       ints: [1, 1, 1, 1] type: INTS } attribute { name: "strides" ints: [2, 3] type: INTS }
       domain: "" } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim
       { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param:
       "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {-0.208333328, 0.604166687, -0.3125, -0.020833334, -0.25, 0.020833334, 0.125,
      -0.0833333358, 0.291666657, -0.75, -0.25, 0.6875},
     0.0001, 19},
};
// clang-format on

TEST_CASE("convolutions and pools: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

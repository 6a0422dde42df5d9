// Windows whose padding only the run tells, windows that begin in the padding, and NaN: values that
// ONNX Runtime 1.30 gives. All dims are open.
#include "compiler/end_to_end/imported_values.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
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
    {"LpPool, SAME_UPPER",
     R"(graph { node { input: "x" output: "y" op_type: "LpPool" attribute { name: "auto_pad"
       s: "SAME_UPPER" type: STRING } attribute { name: "kernel_shape" ints: [3, 3] type:
       INTS } attribute { name: "strides" ints: [2, 2] type: INTS } domain: "" } name: "g"
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" }
       dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output
       { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {3.04394889, 3.28348136, 2.55563092, 2.08791161, 2.06155276, 0.279508501, 2.81458259,
      1.69096863, 3.69754982, 3.7207191, 2.68677306, 2.84220433},
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
    {"LpPool, SAME_LOWER",
     R"(graph { node { input: "x" output: "y" op_type: "LpPool" attribute { name: "auto_pad"
       s: "SAME_LOWER" type: STRING } attribute { name: "kernel_shape" ints: [3, 3] type:
       INTS } attribute { name: "strides" ints: [2, 3] type: INTS } domain: "" } name: "g"
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" }
       dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output
       { name: "y" } })",
     DType::kFloat32, {1, 2, 5, 4},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125, 1.875, -1.125, 0.875, -1.375, -0.25,
      1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875, -1.25, 0.125, 1.75, 1.75, 0.5, -0.875,
      1.25, -0.625},
     {2.04633808, 3.28348136, 2.19729948, 2.08791161, 2.04633808, 0.279508501, 2.66340947,
      1.69096863, 2.55868626, 3.7207191, 1.61051238, 2.84220433},
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
    {"Relu of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" output: "z"
       op_type: "Relu" domain: "" } node { input: "z" output: "m" op_type: "IsNaN" domain: ""
       } node { input: "m" input: "k" input: "z" output: "y" op_type: "Where" domain: "" }
       name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0, 1.0, 1.0, 1.0, 1.0,
       1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name: "k" } input { name:
       "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } } } } } output {
       name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, 0, 0, 0, 1.5, 9},
     1e-06},
    {"Sign of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" output: "z"
       op_type: "Sign" domain: "" } node { input: "z" output: "m" op_type: "IsNaN" domain: ""
       } node { input: "m" input: "k" input: "z" output: "y" op_type: "Where" domain: "" }
       name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0, 1.0, 1.0, 1.0, 1.0,
       1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name: "k" } input { name:
       "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } } } } } output {
       name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, -1, -1, 0, 1, 1},
     1e-06},
    {"HardSigmoid of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" output: "z"
       op_type: "HardSigmoid" domain: "" } node { input: "z" output: "m" op_type: "IsNaN"
       domain: "" } node { input: "m" input: "k" input: "z" output: "y" op_type: "Where"
       domain: "" } name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0, 1.0, 1.0,
       1.0, 1.0, 1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name: "k" }
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } }
       } } } output { name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, 0.099999994, 0.400000006, 0.5, 0.800000012, 1},
     1e-06},
    {"Clip of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" input: "a" input:
       "b" output: "z" op_type: "Clip" domain: "" } node { input: "z" output: "m" op_type:
       "IsNaN" domain: "" } node { input: "m" input: "k" input: "z" output: "y" op_type:
       "Where" domain: "" } name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0,
       1.0, 1.0, 1.0, 1.0, 1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name:
       "k" } initializer { data_type: 1 float_data: -1.0 name: "a" } initializer { data_type:
       1 float_data: 2.0 name: "b" } input { name: "x" type { tensor_type { elem_type: 1
       shape { dim { dim_param: "d0" } } } } } output { name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, -1, -0.5, 0, 1.5, 2},
     1e-06},
    {"Clip before opset 11 of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" output: "z"
       op_type: "Clip" attribute { name: "max" f: 2.0 type: FLOAT } attribute { name: "min"
       f: -1.0 type: FLOAT } domain: "" } node { input: "z" output: "m" op_type: "IsNaN"
       domain: "" } node { input: "m" input: "k" input: "z" output: "y" op_type: "Where"
       domain: "" } name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0, 1.0, 1.0,
       1.0, 1.0, 1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name: "k" }
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } }
       } } } output { name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, -1, -0.5, 0, 1.5, 2},
     1e-06, 10},
    {"Mod, fmod by infinity and of large numbers",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "Mod" attribute { name:
       "fmod" i: 1 type: INT } domain: "" } name: "g" initializer { dims: 5 data_type: 1
       float_data: [inf, -inf, 3.3, 0.1, 2.0] name: "w" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } } } } } output { name: "y"
       } })",
     DType::kFloat32, {5},
     {5.5, -3, 10000000, 100.5, -7},
     {5.5, -3, 0.244496107, 0.0999985039, -1},
     0.0001},
    {"Resize by a half beside a pool",
     R"(graph { node { input: "x" output: "a" op_type: "MaxPool" attribute { name:
       "kernel_shape" ints: [2, 2] type: INTS } attribute { name: "strides" ints: [2, 2]
       type: INTS } domain: "" } node { input: "x" input: "" input: "s" output: "b" op_type:
       "Resize" attribute { name: "coordinate_transformation_mode" s: "asymmetric" type:
       STRING } attribute { name: "mode" s: "nearest" type: STRING } attribute { name:
       "nearest_mode" s: "floor" type: STRING } domain: "" } node { input: "a" input: "b"
       output: "y" op_type: "Add" domain: "" } name: "g" initializer { dims: 4 data_type: 1
       float_data: [1.0, 1.0, 0.5, 0.5] name: "s" } input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param:
       "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 1, 4, 5},
     {0.125, -1.375, 1.875, 1.75, -1.375, -0.625, 1.25, -1.625, 1, -0.875, 0.375, -0.125,
      0.125, -0.875, 0, 0, -1.625, 0.875, 0.25, -0.125},
     {1.375, 3.75, 0.75, 1},
     0.0001},
    {"Resize by three quarters",
     R"(graph { node { input: "x" input: "" input: "s" output: "y" op_type: "Resize" attribute
       { name: "mode" s: "linear" type: STRING } domain: "" } name: "g" initializer { dims: 4
       data_type: 1 float_data: [1.0, 1.0, 0.75, 1.25] name: "s" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim
       { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 1, 5, 4},
     {1.875, -1.125, 0.875, -1.375, -0.25, 1.5, -0.25, -0.375, 1.375, -0.875, -2, -1.875,
      -1.25, 0.125, 1.75, 1.75, 0.5, -0.875, 1.25, -0.625},
     {1.52083337, -0.0250001103, -7.4505806e-09, 0.11875008, -1.20833325, 0.5625, 0.387499988,
      -0.40625, -1.125, -1.125, -0.812499762, -0.272916645, 0.541666508, 1.13124967,
      1.14583313},
     0.0001},
    {"ConvTranspose to a shape",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "ConvTranspose" attribute {
       name: "output_shape" ints: 5 type: INTS } attribute { name: "strides" ints: 2
       type: INTS } } name: "g" initializer { dims: [1, 1, 3] data_type: 1
       float_data: [1, 10, 100] name: "w" } input { name: "x" type { tensor_type { elem_type:
       1 shape { dim { dim_param: "d0" } dim { dim_value: 1 } dim { dim_param: "d2" } } } } }
       output { name: "y" } })",
     DType::kFloat32, {1, 1, 4},
     {1, 2, 3, 4},
     {102, 20, 203, 30, 304},
     0},
    {"ConvTranspose to a shape, less at the end",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "ConvTranspose" attribute {
       name: "output_shape" ints: 4 type: INTS } attribute { name: "strides" ints: 2
       type: INTS } attribute { name: "auto_pad" s: "SAME_UPPER" type:
       STRING } } name: "g" initializer { dims: [1, 1, 3] data_type: 1
       float_data: [1, 10, 100] name: "w" } input { name: "x" type { tensor_type { elem_type:
       1 shape { dim { dim_param: "d0" } dim { dim_value: 1 } dim { dim_param: "d2" } } } } }
       output { name: "y" } })",
     DType::kFloat32, {1, 1, 4},
     {1, 2, 3, 4},
     {102, 20, 203, 30},
     0},
    {"ConvTranspose to a shape, less at the start",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "ConvTranspose" attribute {
       name: "output_shape" ints: 4 type: INTS } attribute { name: "strides" ints: 2
       type: INTS } } name: "g" initializer { dims: [1, 1, 3] data_type: 1
       float_data: [1, 10, 100] name: "w" } input { name: "x" type { tensor_type { elem_type:
       1 shape { dim { dim_param: "d0" } dim { dim_value: 1 } dim { dim_param: "d2" } } } } }
       output { name: "y" } })",
     DType::kFloat32, {1, 1, 4},
     {1, 2, 3, 4},
     {20, 203, 30, 304},
     0},
    {"ConvTranspose to a larger shape",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "ConvTranspose" attribute {
       name: "output_shape" ints: 10 type: INTS } attribute { name: "strides" ints: 2
       type: INTS } } name: "g" initializer { dims: [1, 1, 3] data_type: 1
       float_data: [1, 10, 100] name: "w" } input { name: "x" type { tensor_type { elem_type:
       1 shape { dim { dim_param: "d0" } dim { dim_value: 1 } dim { dim_param: "d2" } } } } }
       output { name: "y" } })",
     DType::kFloat32, {1, 1, 4},
     {1, 2, 3, 4},
     {1, 10, 102, 20, 203, 30, 304, 40, 400, 0},
     0},
};
// clang-format on

TEST_CASE("windows and limits agree with ONNX Runtime at open dims") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

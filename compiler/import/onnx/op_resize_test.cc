// The values that Resize give, against those of other systems or of their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30:
    {"Resize, antialiased linear by scales",
     R"(graph { node { input: "x" input: "" input: "s" output: "y" op_type: "Resize" attribute
       { name: "antialias" i: 1 type: INT } attribute { name: "mode" s: "linear" type: STRING
       } domain: "" } name: "g" initializer { dims: 4 data_type: 1 float_data: [1.0, 1.0,
       0.45, 0.6] name: "s" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim
       { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param:
       "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 1, 5, 4},
     {1.625, -1.25, 0, -0.75, -0.875, 1.125, -1.5, -0.75, -1.625, -1.5, -1, 0.75, 0.25, -0.25,
      -1.375, 1.125, 1.125, -1.125, -1.875, -0.75},
     {-0.0672940612, -0.60637629, -0.363939524, -0.826310992},
     0.0001, 18},
    {"Resize, antialiased cubic to sizes",
     R"(graph { node { input: "x" input: "" input: "" input: "s" output: "y" op_type: "Resize"
       attribute { name: "antialias" i: 1 type: INT } attribute { name: "exclude_outside" i:
       1 type: INT } attribute { name: "mode" s: "cubic" type: STRING } domain: "" } name:
       "g" initializer { dims: 4 data_type: 7 int64_data: [1, 1, 3, 6] name: "s" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output {
       name: "y" } })",
     DType::kFloat32, {1, 1, 5, 4},
     {1.625, -1.25, 0, -0.75, -0.875, 1.125, -1.5, -0.75, -1.625, -1.5, -1, 0.75, 0.25, -0.25,
      -1.375, 1.125, 1.125, -1.125, -1.875, -0.75},
     {0.615739405, 0.235386327, -0.326737642, -0.55999428, -0.775911152, -0.857427537,
      -1.33620763, -0.85063678, -0.57549572, -1.28221595, -0.294898987, 0.805403411,
      0.981426835, 0.136279076, -1.11981595, -1.72509086, -0.771483123, 0.290726215},
     0.0001, 18},
    {"Resize, antialiased bytes",
     R"(graph { node { input: "x" input: "" input: "" input: "s" output: "y" op_type: "Resize"
       attribute { name: "antialias" i: 1 type: INT } attribute { name: "mode" s: "linear"
       type: STRING } domain: "" } name: "g" initializer { dims: 4 data_type: 7 int64_data:
       [1, 1, 3, 2] name: "s" } input { name: "x" type { tensor_type { elem_type: 2 shape {
       dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim {
       dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kUInt8, {1, 1, 5, 4},
     {37, 203, 132, 129, 74, 129, 246, 60, 195, 3, 80, 237, 222, 21, 214, 215, 115, 93, 249,
      242},
     {113, 139, 119, 156, 132, 213},
     1, 18},
    // By ONNX Runtime 1.30, at open dims:
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
};
// clang-format on

TEST_CASE("Resize: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

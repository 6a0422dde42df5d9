// The values that rarer convolutions and pools give, against those of other systems or of their
// definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30, at open dims:
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

TEST_CASE("rarer convolutions and pools: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

// The values that recurrent layers give, against those of other systems or of their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30, or numpy where it refuses or departs from the definition:
    {"DynamicQuantizeLSTM",
     R"(graph { node { input: "x" input: "W" input: "R" input: "B" input: "" input: ""
     input: "" input: "" input: "ws" input: "wz" input: "rs" input: "rz" output: "y"
     op_type: "DynamicQuantizeLSTM" attribute { name: "hidden_size" i: 2 type: INT }
     domain: "com.microsoft" } name: "g" initializer { dims: 1 dims: 2 dims: 8
     data_type: 2 int32_data: 78 int32_data: 10 int32_data: 19 int32_data: 4
     int32_data: 44 int32_data: 208 int32_data: 166 int32_data: 233 int32_data: 128
     int32_data: 155 int32_data: 248 int32_data: 186 int32_data: 161 int32_data: 139
     int32_data: 143 int32_data: 239 name: "W" } initializer { dims: 1 dims: 2 dims: 8
     data_type: 2 int32_data: 71 int32_data: 208 int32_data: 171 int32_data: 0
     int32_data: 100 int32_data: 219 int32_data: 141 int32_data: 8 int32_data: 195
     int32_data: 186 int32_data: 216 int32_data: 44 int32_data: 22 int32_data: 220
     int32_data: 5 int32_data: 138 name: "R" } initializer { dims: 1 dims: 16
     data_type: 1 float_data: -1.625 float_data: -0.8125 float_data: -0.0625
     float_data: -0.3125 float_data: -0.375 float_data: -1.875 float_data: -1.9375
     float_data: -1.5 float_data: -1.9375 float_data: 0.6875 float_data: 0.125
     float_data: 0.5625 float_data: -0.9375 float_data: 0.4375 float_data: 1.0625
     float_data: -0.4375 name: "B" } initializer { dims: 1 data_type: 1 float_data:
     0.01 name: "ws" } initializer { dims: 1 data_type: 2 int32_data: 120 name: "wz" }
     initializer { dims: 1 data_type: 1 float_data: 0.02 name: "rs" } initializer {
     dims: 1 data_type: 2 int32_data: 131 name: "rz" } input { name: "x" type {
     tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
     dim { dim_value: 2 } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 1, 2},
     {1.375, 0.5625, 0.0625, -0.9375},
     {-0.000640103, 0.0146646, -0.00487566, -0.1348},
     0.0005, 17},
    {"DynamicQuantizeLSTM by columns, with lengths",
     R"(graph { node { input: "x" input: "W" input: "R" input: "" input: "lens" input: ""
     input: "" input: "" input: "ws" input: "wz" input: "rs" input: "rz" output: "y"
     op_type: "DynamicQuantizeLSTM" attribute { name: "direction" s: "bidirectional"
     type: STRING } attribute { name: "hidden_size" i: 1 type: INT } domain:
     "com.microsoft" } name: "g" initializer { dims: 2 dims: 2 dims: 4 data_type: 3
     int32_data: 115 int32_data: 38 int32_data: 87 int32_data: 48 int32_data: 52
     int32_data: -29 int32_data: 96 int32_data: -94 int32_data: 20 int32_data: 56
     int32_data: 88 int32_data: 6 int32_data: -32 int32_data: -49 int32_data: -20
     int32_data: -4 name: "W" } initializer { dims: 2 dims: 1 dims: 4 data_type: 3
     int32_data: 56 int32_data: 99 int32_data: -110 int32_data: 111 int32_data: 8
     int32_data: -37 int32_data: 44 int32_data: 18 name: "R" } initializer { dims: 1
     data_type: 6 int32_data: 2 name: "lens" } initializer { dims: 2 dims: 4 data_type:
     1 float_data: 0.01171875 float_data: 0.01171875 float_data: 0.0234375 float_data:
     0.01953125 float_data: 0.01953125 float_data: 0.01171875 float_data: 0.02734375
     float_data: 0.015625 name: "ws" } initializer { dims: 2 dims: 4 data_type: 3
     int32_data: 0 int32_data: 0 int32_data: 0 int32_data: 0 int32_data: 0 int32_data:
     0 int32_data: 0 int32_data: 0 name: "wz" } initializer { dims: 2 dims: 4
     data_type: 1 float_data: 0.01171875 float_data: 0.03125 float_data: 0.01171875
     float_data: 0.0078125 float_data: 0.0234375 float_data: 0.01953125 float_data:
     0.00390625 float_data: 0.00390625 name: "rs" } initializer { dims: 2 dims: 4
     data_type: 3 int32_data: 0 int32_data: 0 int32_data: 0 int32_data: 0 int32_data: 0
     int32_data: 0 int32_data: 0 int32_data: 0 name: "rz" } input { name: "x" type {
     tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
     dim { dim_value: 2 } } } } } output { name: "y" } })",
     DType::kFloat32, {3, 1, 2},
     {-0.125, 1.9375, 1.1875, 1.875, -0.5, 0.75},
     {-0.205635, -0.00686907, -0.299236, -0.000817593, 0, 0},
     0.0005, 17},
};
// clang-format on

TEST_CASE("recurrent layers: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

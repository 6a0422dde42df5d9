// The values that quantisation give, against those of other systems or of their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30, or numpy in float64 where it has no kernel:
    {"QLinearConv, channels last",
     R"(graph { node { input: "x" input: "xs" input: "xz" input: "w" input: "ws" input: "wz"
       input: "ys" input: "yz" input: "b" output: "y" op_type: "QLinearConv" attribute {
       name: "channels_last" i: 1 type: INT } attribute { name: "pads" ints: [1, 1, 1, 1]
       type: INTS } domain: "com.microsoft" } name: "g" initializer { data_type: 1
       float_data: 0.05 name: "xs" } initializer { data_type: 2 name: "xz" raw_data: "x" }
       initializer { dims: [2, 2, 3, 3] data_type: 2 name: "w" raw_data:
       "\\\301\017\213F\370:e\017\177\212\277p?\006\351\'\305\352R\"\260_\t\362\347\034\271h\020\314\331\004\032\021\364"
       } initializer { data_type: 1 float_data: 0.01 name: "ws" } initializer { data_type: 2
       name: "wz" raw_data: "d" } initializer { data_type: 1 float_data: 0.2 name: "ys" }
       initializer { data_type: 2 name: "yz" raw_data: "n" } initializer { dims: 2 data_type:
       6 int32_data: [1, 200] name: "b" } input { name: "x" type { tensor_type { elem_type: 2
       shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim {
       dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kUInt8, {1, 3, 4, 2},
     {5, 158, 142, 97, 125, 224, 152, 124, 186, 176, 133, 211, 143, 157, 125, 150, 156, 229,
      63, 92, 140, 86, 171, 210},
     {140, 164, 80, 73, 142, 128, 116, 136, 39, 97, 163, 60, 120, 158, 98, 167, 121, 138, 157,
      165, 123, 65, 105, 147},
     1},
    // By numpy in float64:
    {"DequantizeLinear of UINT4, one scale",
     R"(graph { node { input: "w" input: "s" input: "z" output: "d" name:
       "d_DequantizeLinear" op_type: "DequantizeLinear" domain: "" } node { input: "x"
       input: "d" output: "y" name: "y_MatMul" op_type: "MatMul" domain: "" } name: "g"
       initializer { dims: 3 dims: 5 data_type: 21 name: "w" raw_data:
       "\312\300\207J\017di\002" } initializer { data_type: 1 name: "s" raw_data:
       "\000\000\200>" } initializer { data_type: 21 name: "z" raw_data: "\001" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" } dim {
       dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3},
     {0.75, 1.625, 0.25, -1.25, -0.9375, 1.625},
     {4.71875, 6.03125, 1.53125, 8.0625, 0.78125, -3.234375, -3.515625, 2.859375, -4.6875,
      -1.234375},
     1e-05, 21},
    {"DequantizeLinear of UINT4, columns",
     R"(graph { node { input: "w" input: "s" input: "z" output: "d" name:
       "d_DequantizeLinear" op_type: "DequantizeLinear" attribute { name: "axis" i: 1 type:
       INT } domain: "" } node { input: "x" input: "d" output: "y" name: "y_MatMul" op_type:
       "MatMul" domain: "" } name: "g" initializer { dims: 3 dims: 5 data_type: 21 name: "w"
       raw_data: "\312\300\207J\017di\002" } initializer { dims: 5 data_type: 1 name: "s"
       raw_data: "\000\000\220?\000\000\210?\000\000\020?\000\0000?\000\000`?" } initializer
       { dims: 5 data_type: 21 name: "z" raw_data: "\240\360\010" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" } dim { dim_param: "x_1" }
       } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3},
     {0.75, 1.625, 0.25, -1.25, -0.9375, 1.625},
     {24.1875, 0.53125, 4.921875, -3.09375, -13.34375, -15.1875, -9.5625, 6.1171875, -7.4765625,
      -0.875},
     1e-05, 21},
    {"DequantizeLinear of UINT4, blocks",
     R"(graph { node { input: "w" input: "s" input: "z" output: "d" name:
       "d_DequantizeLinear" op_type: "DequantizeLinear" attribute { name: "axis" i: 0 type:
       INT } attribute { name: "block_size" i: 2 type: INT } domain: "" } node { input: "x"
       input: "d" output: "y" name: "y_MatMul" op_type: "MatMul" domain: "" } name: "g"
       initializer { dims: 3 dims: 5 data_type: 21 name: "w" raw_data:
       "\312\300\207J\017di\002" } initializer { dims: 2 dims: 5 data_type: 1 name: "s"
       raw_data:
       "\000\000\000?\000\000\210?\000\000\200>\000\000`?\000\000\210?\000\000\340>\000\000\220?\000\000\210?\000\000@>\000\000p?"
       } initializer { dims: 2 dims: 5 data_type: 21 name: "z" raw_data: "\014\200e>X" }
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" }
       dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3},
     {0.75, 1.625, 0.25, -1.25, -0.9375, 1.625},
     {-4.21875, 24.578125, 3.21875, 12.484375, -7.7421875, 1.703125, -40.5234375, 9.421875,
      -10.7265625, -2.24609375},
     1e-05, 21},
    {"QuantizeLinear to UINT4",
     R"(graph { node { input: "x" input: "s" input: "z" output: "q" name: "q_QuantizeLinear"
       op_type: "QuantizeLinear" domain: "" } node { input: "q" output: "t" name:
       "t_Transpose" op_type: "Transpose" attribute { name: "perm" ints: 1 ints: 0 type:
       INTS } domain: "" } node { input: "t" input: "s" input: "z" output: "y" name:
       "y_DequantizeLinear" op_type: "DequantizeLinear" domain: "" } name: "g" initializer {
       data_type: 1 name: "s" raw_data: "\000\000@?" } initializer { data_type: 21 name: "z"
       raw_data: "\001" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "x_0" } dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {4, 3},
     {-6.5625, -8.125, 1.375, -6.625, 7, 4.3125, -12, 1.625, -6.625, 0.1875, 0.25, -11.9375},
     {-0.75, -0.75, -0.75, 0, -0.75, 6.75, 1.5, 0, 1.5, 4.5, -0.75, -0.75},
     1e-05, 21},
    {"QuantizeLinear, output_dtype UINT4",
     R"(graph { node { input: "x" input: "s" output: "q" name: "q_QuantizeLinear" op_type:
       "QuantizeLinear" attribute { name: "output_dtype" i: 21 type: INT } domain: "" } node
       { input: "q" input: "s" output: "y" name: "y_DequantizeLinear" op_type:
       "DequantizeLinear" domain: "" } name: "g" initializer { data_type: 1 name: "s"
       raw_data: "\000\000@?" } input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "x_0" } dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {4, 3},
     {-6.5625, -8.125, 1.375, -6.625, 7, 4.3125, -12, 1.625, -6.625, 0.1875, 0.25, -11.9375},
     {0, 0, 1.5, 0, 6.75, 4.5, 0, 1.5, 0, 0, 0, 0},
     1e-05, 21},
    {"DequantizeLinear of INT4, one scale",
     R"(graph { node { input: "w" input: "s" input: "z" output: "d" name:
       "d_DequantizeLinear" op_type: "DequantizeLinear" domain: "" } node { input: "x"
       input: "d" output: "y" name: "y_MatMul" op_type: "MatMul" domain: "" } name: "g"
       initializer { dims: 3 dims: 5 data_type: 22 name: "w" raw_data:
       "\204m\225U\337w\342\013" } initializer { data_type: 1 name: "s" raw_data:
       "\000\000\200>" } initializer { data_type: 22 name: "z" raw_data: "\001" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" } dim {
       dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3},
     {1.4375, 0.5625, 2.4375, 0.625, 0.875, 0.8125},
     {3.609375, 0.984375, -0.265625, -0.3125, -2.78125, -0.0625, 0.6875, 0.453125, -0.265625,
      -1.46875},
     1e-05, 21},
    {"DequantizeLinear of INT4, columns",
     R"(graph { node { input: "w" input: "s" input: "z" output: "d" name:
       "d_DequantizeLinear" op_type: "DequantizeLinear" attribute { name: "axis" i: 1 type:
       INT } domain: "" } node { input: "x" input: "d" output: "y" name: "y_MatMul" op_type:
       "MatMul" domain: "" } name: "g" initializer { dims: 3 dims: 5 data_type: 22 name: "w"
       raw_data: "\204m\225U\337w\342\013" } initializer { dims: 5 data_type: 1 name: "s"
       raw_data: "\000\000\340>\000\000P?\000\000\240>\000\000`?\000\000P?" } initializer {
       dims: 5 data_type: 22 name: "z" raw_data: "f\336\004" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" } dim { dim_param: "x_1" }
       } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3},
     {1.4375, 0.5625, 2.4375, 0.625, 0.875, 0.8125},
     {-3.390625, -14.828125, 3.828125, 14.4375, -19.85546875, -5.16796875, -7.16015625, 2.734375,
      7.1640625, -10.41015625},
     1e-05, 21},
    {"DequantizeLinear of INT4, blocks",
     R"(graph { node { input: "w" input: "s" input: "z" output: "d" name:
       "d_DequantizeLinear" op_type: "DequantizeLinear" attribute { name: "axis" i: 0 type:
       INT } attribute { name: "block_size" i: 2 type: INT } domain: "" } node { input: "x"
       input: "d" output: "y" name: "y_MatMul" op_type: "MatMul" domain: "" } name: "g"
       initializer { dims: 3 dims: 5 data_type: 22 name: "w" raw_data:
       "\204m\225U\337w\342\013" } initializer { dims: 2 dims: 5 data_type: 1 name: "s"
       raw_data:
       "\000\000\300>\000\000\020?\000\000\200?\000\000\020?\000\000p?\000\000P?\000\000\220?\000\000\230?\000\000p?\000\000\200?"
       } initializer { dims: 2 dims: 5 data_type: 22 name: "z" raw_data: "\251=_\347\016" }
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" }
       dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3},
     {1.4375, 0.5625, 2.4375, 0.625, 0.875, 0.8125},
     {9.890625, 1.86328125, 16.078125, 1.16015625, -5.15625, 3.8984375, 4.7109375, 10.859375,
      -0.9140625, -2.1875},
     1e-05, 21},
    {"QuantizeLinear to INT4",
     R"(graph { node { input: "x" input: "s" input: "z" output: "q" name: "q_QuantizeLinear"
       op_type: "QuantizeLinear" domain: "" } node { input: "q" output: "t" name:
       "t_Transpose" op_type: "Transpose" attribute { name: "perm" ints: 1 ints: 0 type:
       INTS } domain: "" } node { input: "t" input: "s" input: "z" output: "y" name:
       "y_DequantizeLinear" op_type: "DequantizeLinear" domain: "" } name: "g" initializer {
       data_type: 1 name: "s" raw_data: "\000\000@?" } initializer { data_type: 22 name: "z"
       raw_data: "\001" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "x_0" } dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {4, 3},
     {-7.625, 3.6875, -7.1875, -1.9375, -0.0625, -2.6875, -0.3125, 8.0625, -3.125, -7.5625, -11,
      -1.25},
     {-6.75, -2.25, 0, -6.75, 3.75, 0, 4.5, -6.75, -6.75, -3, -3, -1.5},
     1e-05, 21},
    {"QuantizeLinear, output_dtype INT4",
     R"(graph { node { input: "x" input: "s" output: "q" name: "q_QuantizeLinear" op_type:
       "QuantizeLinear" attribute { name: "output_dtype" i: 22 type: INT } domain: "" } node
       { input: "q" input: "s" output: "y" name: "y_DequantizeLinear" op_type:
       "DequantizeLinear" domain: "" } name: "g" initializer { data_type: 1 name: "s"
       raw_data: "\000\000@?" } input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "x_0" } dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {4, 3},
     {-7.625, 3.6875, -7.1875, -1.9375, -0.0625, -2.6875, -0.3125, 8.0625, -3.125, -7.5625, -11,
      -1.25},
     {-6, 3.75, -6, -2.25, 0, -3, 0, 5.25, -3, -6, -6, -1.5},
     1e-05, 21},
    {"DequantizeLinear of INT2, one scale",
     R"(graph { node { input: "w" input: "s" input: "z" output: "d" name:
       "d_DequantizeLinear" op_type: "DequantizeLinear" domain: "" } node { input: "x"
       input: "d" output: "y" name: "y_MatMul" op_type: "MatMul" domain: "" } name: "g"
       initializer { dims: 3 dims: 5 data_type: 26 int32_data: 165 int32_data: 188
       int32_data: 86 int32_data: 56 name: "w" } initializer { data_type: 1 name: "s"
       raw_data: "\000\000\200>" } initializer { data_type: 26 int32_data: 1 name: "z" }
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" }
       dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3},
     {0.125, 1.875, 0.5, -1.5625, 1.75, 0.375},
     {-0.9375, -0.9375, -1.625, -1.875, -0.28125, -0.875, -0.875, -0.234375, -0.421875, 0.203125},
     1e-05, 21},
    {"DequantizeLinear of INT2, columns",
     R"(graph { node { input: "w" input: "s" input: "z" output: "d" name:
       "d_DequantizeLinear" op_type: "DequantizeLinear" attribute { name: "axis" i: 1 type:
       INT } domain: "" } node { input: "x" input: "d" output: "y" name: "y_MatMul" op_type:
       "MatMul" domain: "" } name: "g" initializer { dims: 3 dims: 5 data_type: 26
       int32_data: 165 int32_data: 188 int32_data: 86 int32_data: 56 name: "w" } initializer
       { dims: 5 data_type: 1 name: "s" raw_data:
       "\000\000\040?\000\000\200>\000\000@>\000\000\300>\000\000\020?" } initializer {
       dims: 5 data_type: 26 int32_data: 216 int32_data: 1 name: "z" } input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" } dim { dim_param:
       "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3},
     {0.125, 1.875, 0.5, -1.5625, 1.75, 0.375},
     {-0.78125, 0.9375, -1.21875, -0.9375, -0.6328125, -1.8359375, -0.453125, -0.17578125,
      -0.2109375, 0.45703125},
     1e-05, 21},
    {"DequantizeLinear of INT2, blocks",
     R"(graph { node { input: "w" input: "s" input: "z" output: "d" name:
       "d_DequantizeLinear" op_type: "DequantizeLinear" attribute { name: "axis" i: 0 type:
       INT } attribute { name: "block_size" i: 2 type: INT } domain: "" } node { input: "x"
       input: "d" output: "y" name: "y_MatMul" op_type: "MatMul" domain: "" } name: "g"
       initializer { dims: 3 dims: 5 data_type: 26 int32_data: 165 int32_data: 188
       int32_data: 86 int32_data: 56 name: "w" } initializer { dims: 2 dims: 5 data_type: 1
       name: "s" raw_data:
       "\000\0000?\000\000\040?\000\000`?\000\000\210?\000\000\020?\000\000\200?\000\000\040?\000\000P?\000\000p?\000\0000?"
       } initializer { dims: 2 dims: 5 data_type: 26 int32_data: 18 int32_data: 139
       int32_data: 9 name: "z" } input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "x_0" } dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3},
     {0.125, 1.875, 0.5, -1.5625, 1.75, 0.375},
     {3.046875, -0.78125, -4.4375, -5.65625, 2.5234375, -0.89453125, -1.8359375, 0.1171875,
      -1.453125, 1.34765625},
     1e-05, 21},
    {"QuantizeLinear to INT2",
     R"(graph { node { input: "x" input: "s" input: "z" output: "q" name: "q_QuantizeLinear"
       op_type: "QuantizeLinear" domain: "" } node { input: "q" output: "t" name:
       "t_Transpose" op_type: "Transpose" attribute { name: "perm" ints: 1 ints: 0 type:
       INTS } domain: "" } node { input: "t" input: "s" input: "z" output: "y" name:
       "y_DequantizeLinear" op_type: "DequantizeLinear" domain: "" } name: "g" initializer {
       data_type: 1 name: "s" raw_data: "\000\000@?" } initializer { data_type: 26
       int32_data: 1 name: "z" } input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "x_0" } dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {4, 3},
     {5.1875, 2.75, 2.9375, 10.9375, 3.75, 0.75, 4.25, -5.5, -2, 4.75, 3.8125, 9.3125},
     {0, 0, 0, 0, 0, 0, -2.25, 0, 0, 0, -2.25, 0},
     1e-05, 21},
    {"QuantizeLinear, output_dtype INT2",
     R"(graph { node { input: "x" input: "s" output: "q" name: "q_QuantizeLinear" op_type:
       "QuantizeLinear" attribute { name: "output_dtype" i: 26 type: INT } domain: "" } node
       { input: "q" input: "s" output: "y" name: "y_DequantizeLinear" op_type:
       "DequantizeLinear" domain: "" } name: "g" initializer { data_type: 1 name: "s"
       raw_data: "\000\000@?" } input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "x_0" } dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {4, 3},
     {5.1875, 2.75, 2.9375, 10.9375, 3.75, 0.75, 4.25, -5.5, -2, 4.75, 3.8125, 9.3125},
     {0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, -1.5, -1.5, 0.75, 0.75, 0.75},
     1e-05, 21},
};
// clang-format on

TEST_CASE("quantisation: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

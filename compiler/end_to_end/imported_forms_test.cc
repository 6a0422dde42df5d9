// Rarer operators and forms of operators, against values computed by ONNX Runtime, or with numpy where
// it refuses or departs from the definition.
#include "compiler/end_to_end/imported_values.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
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
    {"RoiAlign, max",
     R"(graph { node { input: "x" input: "r" input: "at" output: "y" op_type: "RoiAlign"
     attribute { name: "mode" s: "max" type: STRING } attribute { name: "output_height"
     i: 2 type: INT } attribute { name: "output_width" i: 2 type: INT } attribute {
     name: "sampling_ratio" i: 2 type: INT } domain: "" } name: "g" initializer { dims:
     3 dims: 4 data_type: 1 float_data: 0.0 float_data: 0.0 float_data: 3.0 float_data:
     3.0 float_data: 0.5 float_data: 1.0 float_data: 3.5 float_data: 3.75 float_data:
     -3.0 float_data: -3.0 float_data: 1.0 float_data: 1.0 name: "r" } initializer {
     dims: 3 data_type: 7 int64_data: 0 int64_data: 1 int64_data: 1 name: "at" } input
     { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim
     { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output
     { name: "y" } })",
     DType::kFloat32, {2, 1, 4, 4},
     {-0.5, 1.3125, -0.375, 1.125, -0.75, -1, 1.125, 1.5, -1.6875, -1.75, 0.6875,
      -0.625, 0.3125, -1.375, 1.4375, -0.1875, 1.5625, 1.1875, 0.8125, -1.0625, 1.0625,
      -1.75, 0.25, -0.375, 1.9375, -1.1875, 1.75, -1.625, 0.5, 0.3125, 1.5625, -0.8125},
     {0.820312, 0.820312, 0.0390625, 0.615234, 0.643311, 0.813477, 0.946045, 1.23901, 0,
      0, 0, 1.5625},
     1e-05, 16},
    {"MatMulNBits, g_idx and real zero points",
     R"(graph { node { input: "x" input: "B" input: "s" input: "z" input: "g" output: "y"
     op_type: "MatMulNBits" attribute { name: "K" i: 32 type: INT } attribute { name:
     "N" i: 2 type: INT } attribute { name: "bits" i: 4 type: INT } attribute { name:
     "block_size" i: 16 type: INT } domain: "com.microsoft" } name: "g" initializer {
     dims: 2 dims: 2 dims: 8 data_type: 2 int32_data: 230 int32_data: 172 int32_data:
     227 int32_data: 51 int32_data: 194 int32_data: 241 int32_data: 12 int32_data: 93
     int32_data: 162 int32_data: 27 int32_data: 130 int32_data: 161 int32_data: 195
     int32_data: 237 int32_data: 104 int32_data: 112 int32_data: 121 int32_data: 244
     int32_data: 50 int32_data: 127 int32_data: 12 int32_data: 108 int32_data: 242
     int32_data: 158 int32_data: 89 int32_data: 254 int32_data: 154 int32_data: 242
     int32_data: 4 int32_data: 117 int32_data: 213 int32_data: 193 name: "B" }
     initializer { dims: 4 data_type: 1 float_data: 0.25 float_data: 0.5 float_data:
     1.0 float_data: 2.0 name: "s" } initializer { dims: 4 data_type: 1 float_data: 3.0
     float_data: 7.5 float_data: 8.0 float_data: 9.0 name: "z" } initializer { dims: 32
     data_type: 6 int32_data: 0 int32_data: 1 int32_data: 0 int32_data: 1 int32_data: 0
     int32_data: 1 int32_data: 0 int32_data: 1 int32_data: 0 int32_data: 1 int32_data:
     0 int32_data: 1 int32_data: 0 int32_data: 1 int32_data: 0 int32_data: 1
     int32_data: 0 int32_data: 1 int32_data: 0 int32_data: 1 int32_data: 0 int32_data:
     1 int32_data: 0 int32_data: 1 int32_data: 1 int32_data: 1 int32_data: 1
     int32_data: 1 int32_data: 1 int32_data: 1 int32_data: 1 int32_data: 1 name: "g" }
     input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0"
     } dim { dim_value: 32 } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 32},
     {-0.375, 0, -0.3125, 0.125, -1.0625, 1.125, -1.6875, -0.3125, -0.875, 0.9375, 1,
      0.8125, 1.6875, 1.6875, -1.25, -1.5, -1.4375, 0.875, 1.875, 1.6875, 0.6875,
      1.8125, 1.4375, -1.9375, -1.5, 1.4375, -1.625, 1.875, 1.3125, 1.8125, -0.5625,
      -1.375, 0.0625, 1.875, -0.5, 1.5625, -0.4375, 1.25, -1.0625, -0.0625, -0.6875,
      -1.0625, 1.5625, 1.1875, -1.4375, 1.6875, 1.875, -0.9375, -0.3125, 0.125, 0.625,
      -0.25, -1.375, 1.6875, 0.75, -1.8125, 1.25, 0.9375, -1.25, 0.4375, 0, -1.875,
      1.6875, 0.875},
     {11.1406, -42, 1.48438, -38.0625},
     0.001, 17},
    {"MatMulNBits, g_idx and packed zero points",
     R"(graph { node { input: "x" input: "B" input: "s" input: "z" input: "g" output: "y"
     op_type: "MatMulNBits" attribute { name: "K" i: 32 type: INT } attribute { name:
     "N" i: 2 type: INT } attribute { name: "bits" i: 4 type: INT } attribute { name:
     "block_size" i: 16 type: INT } domain: "com.microsoft" } name: "g" initializer {
     dims: 2 dims: 2 dims: 8 data_type: 2 int32_data: 230 int32_data: 172 int32_data:
     227 int32_data: 51 int32_data: 194 int32_data: 241 int32_data: 12 int32_data: 93
     int32_data: 162 int32_data: 27 int32_data: 130 int32_data: 161 int32_data: 195
     int32_data: 237 int32_data: 104 int32_data: 112 int32_data: 121 int32_data: 244
     int32_data: 50 int32_data: 127 int32_data: 12 int32_data: 108 int32_data: 242
     int32_data: 158 int32_data: 89 int32_data: 254 int32_data: 154 int32_data: 242
     int32_data: 4 int32_data: 117 int32_data: 213 int32_data: 193 name: "B" }
     initializer { dims: 4 data_type: 1 float_data: 0.25 float_data: 0.5 float_data:
     1.0 float_data: 2.0 name: "s" } initializer { dims: 2 data_type: 2 int32_data: 74
     int32_data: 145 name: "z" } initializer { dims: 32 data_type: 6 int32_data: 0
     int32_data: 1 int32_data: 0 int32_data: 1 int32_data: 0 int32_data: 1 int32_data:
     0 int32_data: 1 int32_data: 0 int32_data: 1 int32_data: 0 int32_data: 1
     int32_data: 0 int32_data: 1 int32_data: 0 int32_data: 1 int32_data: 0 int32_data:
     1 int32_data: 0 int32_data: 1 int32_data: 0 int32_data: 1 int32_data: 0
     int32_data: 1 int32_data: 1 int32_data: 1 int32_data: 1 int32_data: 1 int32_data:
     1 int32_data: 1 int32_data: 1 int32_data: 1 name: "g" } input { name: "x" type {
     tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_value: 32 } }
     } } } output { name: "y" } })",
     DType::kFloat32, {2, 32},
     {-0.375, 0, -0.3125, 0.125, -1.0625, 1.125, -1.6875, -0.3125, -0.875, 0.9375, 1,
      0.8125, 1.6875, 1.6875, -1.25, -1.5, -1.4375, 0.875, 1.875, 1.6875, 0.6875,
      1.8125, 1.4375, -1.9375, -1.5, 1.4375, -1.625, 1.875, 1.3125, 1.8125, -0.5625,
      -1.375, 0.0625, 1.875, -0.5, 1.5625, -0.4375, 1.25, -1.0625, -0.0625, -0.6875,
      -1.0625, 1.5625, 1.1875, -1.4375, 1.6875, 1.875, -0.9375, -0.3125, 0.125, 0.625,
      -0.25, -1.375, 1.6875, 0.75, -1.8125, 1.25, 0.9375, -1.25, 0.4375, 0, -1.875,
      1.6875, 0.875},
     {23.3906, -44.1875, 15.9219, -44.625},
     0.001, 17},
    {"DFT, to a real signal",
     R"(graph { node { input: "x" output: "y" op_type: "DFT" attribute { name: "axis" i: 1
     type: INT } attribute { name: "inverse" i: 1 type: INT } attribute { name:
     "onesided" i: 1 type: INT } domain: "" } name: "g" input { name: "x" type {
     tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
     dim { dim_value: 2 } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 4, 2},
     {-0.75, -1.875, -1.625, 1, -1.375, 0.0625, 1.5625, 1.6875},
     {-0.864583, -0.733801, 0.364784, -0.302084, 0.906049, -0.120366},
     1e-05, 17},
    {"DFT, to a real signal of odd length",
     R"(graph { node { input: "x" input: "l" input: "a" output: "y" op_type: "DFT"
     attribute { name: "inverse" i: 1 type: INT } attribute { name: "onesided" i: 1
     type: INT } domain: "" } name: "g" initializer { data_type: 7 int64_data: 7 name:
     "l" } initializer { data_type: 7 int64_data: 1 name: "a" } input { name: "x" type
     { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1"
     } dim { dim_value: 2 } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 4, 2},
     {-0.9375, -1.6875, 0, 1.375, 0.5, -1.6875, 0.5625, -0.625},
     {0.169643, -0.0701303, -0.894249, -0.453936, 0.292693, 0.569379, -0.550901},
     1e-05, 20},
    {"DFT, to a shorter real signal",
     R"(graph { node { input: "x" input: "l" input: "a" output: "y" op_type: "DFT"
     attribute { name: "inverse" i: 1 type: INT } attribute { name: "onesided" i: 1
     type: INT } domain: "" } name: "g" initializer { data_type: 7 int64_data: 5 name:
     "l" } initializer { data_type: 7 int64_data: 1 name: "a" } input { name: "x" type
     { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1"
     } dim { dim_value: 2 } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 4, 2},
     {-1.0625, -0.25, 1.5, 1.8125, -1.4375, 0.25, 1, -0.9375},
     {-0.1875, -0.3102, -1.20663, -0.544556, 1.18639},
     1e-05, 20},
    {"DFT, to a longer real signal",
     R"(graph { node { input: "x" input: "l" output: "y" op_type: "DFT" attribute { name:
     "axis" i: 1 type: INT } attribute { name: "inverse" i: 1 type: INT } attribute {
     name: "onesided" i: 1 type: INT } domain: "" } name: "g" initializer { data_type:
     7 int64_data: 8 name: "l" } input { name: "x" type { tensor_type { elem_type: 1
     shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_value: 2 } } } }
     } output { name: "y" } })",
     DType::kFloat32, {1, 3, 2},
     {-0.875, -1, -1.125, 1.5, -1.125, -1.0625},
     {-0.671875, -0.307789, -0.203125, -0.441291, -0.109375, 0.620289, 0.546875,
      -0.308709},
     1e-05, 17},
    {"Attention, keys that count",
     R"(graph { node { input: "x" input: "k" input: "v" input: "" input: "" input: ""
     input: "n" output: "y" op_type: "Attention" domain: "" } name: "g" initializer {
     dims: 2 dims: 1 dims: 3 dims: 2 data_type: 1 float_data: 1.0625 float_data: 1.25
     float_data: -1.75 float_data: 0.25 float_data: -0.1875 float_data: -0.8125
     float_data: -0.1875 float_data: -0.3125 float_data: -0.0625 float_data: 1.25
     float_data: 1.3125 float_data: 0.5 name: "k" } initializer { dims: 2 dims: 1 dims:
     3 dims: 2 data_type: 1 float_data: 0.8125 float_data: 1.8125 float_data: 0.5625
     float_data: -0.5 float_data: -1.625 float_data: 0.1875 float_data: -1.0625
     float_data: 0.375 float_data: -1.875 float_data: 1.375 float_data: 1.75
     float_data: -1.375 name: "v" } initializer { dims: 2 data_type: 7 int64_data: 3
     int64_data: 1 name: "n" } input { name: "x" type { tensor_type { elem_type: 1
     shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" }
     dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 1, 2, 2},
     {-1.5, -1.5, 1.125, -0.8125, 1.1875, 0.3125, 1.4375, 0.1875},
     {-0.236262, -0.222858, -0.436342, 0.810382, -1.0625, 0.375, -1.0625, 0.375},
     1e-05, 24},
    {"Attention, keys that count, causal",
     R"(graph { node { input: "x" input: "k" input: "v" input: "" input: "" input: ""
     input: "n" output: "y" op_type: "Attention" attribute { name: "is_causal" i: 1
     type: INT } domain: "" } name: "g" initializer { dims: 2 dims: 1 dims: 3 dims: 2
     data_type: 1 float_data: 1.125 float_data: -0.3125 float_data: 1.4375 float_data:
     1.3125 float_data: -1.5 float_data: -1.9375 float_data: -1.5625 float_data:
     -0.5625 float_data: -1.5625 float_data: -1.6875 float_data: -0.9375 float_data:
     0.625 name: "k" } initializer { dims: 2 dims: 1 dims: 3 dims: 2 data_type: 1
     float_data: 0.125 float_data: -0.875 float_data: 1.75 float_data: 0.8125
     float_data: 0.5 float_data: 1.75 float_data: 1.125 float_data: -1.5 float_data:
     -1.8125 float_data: 1.4375 float_data: -0.375 float_data: -1.75 name: "v" }
     initializer { dims: 2 data_type: 7 int64_data: 3 int64_data: 1 name: "n" } input {
     name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
     dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output {
     name: "y" } })",
     DType::kFloat32, {2, 1, 2, 2},
     {1.25, -0.375, -1.8125, 1.625, 1.75, -1.8125, 0.375, 1.25},
     {0.874786, -0.0963757, 1.01447, 1.0677, 0, 0, 1.125, -1.5},
     1e-05, 24},
    {"Attention, keys that count, with a mask",
     R"(graph { node { input: "x" input: "k" input: "v" input: "m" input: "" input: ""
     input: "n" output: "y" op_type: "Attention" domain: "" } name: "g" initializer {
     dims: 2 dims: 1 dims: 3 dims: 2 data_type: 1 float_data: -0.75 float_data: -0.0625
     float_data: -0.0625 float_data: 1.875 float_data: 0.75 float_data: 1.0625
     float_data: -1.9375 float_data: -0.75 float_data: 1.875 float_data: -0.9375
     float_data: 0.0625 float_data: 1.4375 name: "k" } initializer { dims: 2 dims: 1
     dims: 3 dims: 2 data_type: 1 float_data: 0.5625 float_data: 1.5 float_data:
     -1.3125 float_data: 0.0625 float_data: 0.5625 float_data: -0.625 float_data:
     0.3125 float_data: 1.9375 float_data: 0.9375 float_data: -0.75 float_data: -1.6875
     float_data: -1.25 name: "v" } initializer { dims: 1 dims: 3 data_type: 9
     int32_data: 1 int32_data: 0 int32_data: 1 name: "m" } initializer { dims: 2
     data_type: 7 int64_data: 2 int64_data: 0 name: "n" } input { name: "x" type {
     tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
     dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 1, 1, 2},
     {-0.0625, -0.5, -0.25, -0.25},
     {0.5625, 1.5, 0, 0},
     1e-05, 24},
    {"Attention, causal, fewer queries than keys",
     R"(graph { node { input: "x" input: "k" input: "v" input: "" input: "" input: ""
     input: "" output: "y" op_type: "Attention" attribute { name: "is_causal" i: 1
     type: INT } domain: "" } name: "g" initializer { dims: 2 dims: 1 dims: 3 dims: 2
     data_type: 1 float_data: 0.25 float_data: 1.6875 float_data: 1.8125 float_data:
     1.0 float_data: 0.5 float_data: 1.4375 float_data: 1.9375 float_data: -1.0
     float_data: 0.25 float_data: -1.4375 float_data: -1.5625 float_data: 0.6875 name:
     "k" } initializer { dims: 2 dims: 1 dims: 3 dims: 2 data_type: 1 float_data:
     -1.8125 float_data: 0.875 float_data: 1.25 float_data: -1.3125 float_data: 0.6875
     float_data: -0.4375 float_data: 1.5625 float_data: 1.625 float_data: 0.3125
     float_data: 0.25 float_data: 0.8125 float_data: 0.3125 name: "v" } input { name:
     "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
     dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output {
     name: "y" } })",
     DType::kFloat32, {2, 1, 2, 2},
     {-0.875, 1.5, -0.875, 1.25, -0.875, 0.6875, 0.125, 1.8125},
     {-1.8125, 0.875, -1.28701, 0.499652, 1.5625, 1.625, 1.15047, 1.17176},
     1e-05, 24},
    {"ReduceLogSum: of integers, toward zero",
     R"(graph { node { op_type: "Cast" input: "x" output: "i" attribute { name: "to" i: 6
     type: INT } } node { op_type: "ReduceLogSum" input: "i" output: "r" attribute { name:
     "axes" ints: 1 type: INTS } attribute { name: "keepdims" i: 0 type: INT } } node {
     op_type: "Cast" input: "r" output: "y" attribute { name: "to" i: 1 type: INT } }
     name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
     "n" } dim { dim_param: "m" } } } } } output { name: "y" } })",
     DType::kFloat32, {3, 2},
     {1, 2, 30, 25, 1000000, 7000000},
     {1, 4, 15},
     0},
};
// clang-format on

TEST_CASE("rarer operators compute what they state") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

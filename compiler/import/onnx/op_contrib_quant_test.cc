// The values that quantised operators of com.microsoft give, against those of other systems or of
// their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30, or numpy where it refuses or departs from the definition:
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
    // By ONNX Runtime 1.30:
    {"GatherBlockQuantized of UINT4",
     R"(graph { node { input: "x" output: "i" op_type: "Cast" attribute { name: "to" i: 7
       type: INT } } node { input: "d" input: "i" input: "s" input: "z" output: "y" op_type:
       "GatherBlockQuantized" attribute { name: "block_size" i: 16 type: INT } attribute {
       name: "gather_axis" i: 0 type: INT } attribute { name: "quantize_axis" i: 1 type: INT
       } domain: "com.microsoft" } name: "g" initializer { dims: 3 dims: 20 data_type: 21
       name: "d" raw_data:
       "_=\211\362/\325\301\224\207\204\030\233\367\263r~\326\0040\370\257\324\205\014\210\243\033\177\373\r"
       } initializer { dims: 3 dims: 2 data_type: 1 name: "s" raw_data:
       "\000\000\300>\000\000\340?\000\000\200>\000\000\000>\000\000\300>\000\000\340?" }
       initializer { dims: 3 dims: 2 data_type: 21 name: "z" raw_data: "9\213\312" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim {
       dim_value: 2 } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 2},
     {2, 0, 1, 2},
     {1.875, 0, -2.25, 1.125, -1.875, -0.75, 0.75, -3.75, -0.75, -0.75, -2.625, 0, 0.375, -3.375,
      1.875, -1.125, -1.75, 5.25, 1.75, -21, 2.25, -1.5, 1.5, -2.25, 0, -0.375, -2.625, 2.25, 2.25,
      -2.625, -1.5, 1.5, -3, 1.125, -1.875, 0, 7, 8.75, 1.75, 8.75, -0.75, -2.5, 0, -0.5, -1, 1, -2,
      0, -2.25, -1, 0.75, -1, -1.25, 0.5, -1.75, -2.75, -1, -0.625, 0, 0.875, 1.875, 0, -2.25,
      1.125, -1.875, -0.75, 0.75, -3.75, -0.75, -0.75, -2.625, 0, 0.375, -3.375, 1.875, -1.125,
      -1.75, 5.25, 1.75, -21},
     0.0001},
    {"GatherBlockQuantized of bytes",
     R"(graph { node { input: "x" output: "i" op_type: "Cast" attribute { name: "to" i: 7
       type: INT } } node { input: "d" input: "i" input: "s" output: "y" op_type:
       "GatherBlockQuantized" attribute { name: "bits" i: 4 type: INT } attribute { name:
       "block_size" i: 16 type: INT } attribute { name: "gather_axis" i: 0 type: INT }
       attribute { name: "quantize_axis" i: 1 type: INT } domain: "com.microsoft" } name:
       "g" initializer { dims: 3 dims: 8 data_type: 2 name: "d" raw_data:
       "\271\036\023zf\3353Z6\314Tt\305\361#f\313\322\315\023\251V4%" } initializer { dims:
       3 dims: 1 data_type: 1 name: "s" raw_data: "\000\000\000?\000\000\300>\000\000\040?"
       } input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" }
       dim { dim_value: 2 } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 2},
     {2, 0, 1, 2},
     {1.875, 2.5, -3.75, 3.125, 3.125, 2.5, -3.125, -4.375, 0.625, 1.25, -1.25, -1.875, -2.5,
      -3.125, -1.875, -3.75, 0.5, 1.5, 3, -3.5, -2.5, -3.5, 1, -0.5, -1, -1, 2.5, 2.5, -2.5, -2.5,
      1, -1.5, -0.75, -1.875, 1.5, 1.5, -1.5, -1.125, -1.5, -0.375, -1.125, 1.5, -2.625, 2.625,
      -1.875, -2.25, -0.75, -0.75, 1.875, 2.5, -3.75, 3.125, 3.125, 2.5, -3.125, -4.375, 0.625,
      1.25, -1.25, -1.875, -2.5, -3.125, -1.875, -3.75},
     0.0001},
    {"QLinearWhere",
     R"(graph { node { input: "c" input: "x" input: "as" input: "az" input: "b" input: "bs"
       input: "bz" input: "ys" input: "yz" output: "y" op_type: "QLinearWhere" domain:
       "com.microsoft" } name: "g" initializer { dims: 2 dims: 3 data_type: 9 name: "c"
       raw_data: "\001\000\001\000\000\001" } initializer { data_type: 1 name: "as"
       raw_data: "\n\327\243<" } initializer { data_type: 2 name: "az" raw_data: "x" }
       initializer { dims: 2 dims: 3 data_type: 2 name: "b" raw_data: "\361\004R|$u" }
       initializer { data_type: 1 name: "bs" raw_data: "\n\327#<" } initializer { data_type:
       2 name: "bz" raw_data: "n" } initializer { data_type: 1 name: "ys" raw_data:
       "\217\302\365<" } initializer { data_type: 2 name: "yz" raw_data: "\200" } input {
       name: "x" type { tensor_type { elem_type: 2 shape { dim { dim_param: "n" } dim {
       dim_value: 3 } } } } } output { name: "y" }})",
     DType::kUInt8, {2, 3},
     {9, 108, 167, 126, 88, 172},
     {54, 93, 159, 133, 103, 163},
     0.0001},
    // By numpy in float64, by the definition:
    {"MatMulNBits",
     R"(graph { node { input: "x" input: "B" input: "s" input: "z" output: "y" op_type:
       "MatMulNBits" attribute { name: "K" i: 32 type: INT } attribute { name: "N" i: 3
       type: INT } attribute { name: "bits" i: 4 type: INT } attribute { name:
       "block_size" i: 16 type: INT } domain: "com.microsoft" } name: "g" initializer {
       dims: 3 dims: 2 dims: 8 data_type: 2 int32_data: 91 int32_data: 226 int32_data: 3
       int32_data: 6 int32_data: 26 int32_data: 84 int32_data: 235 int32_data: 154
       int32_data: 163 int32_data: 11 int32_data: 41 int32_data: 97 int32_data: 172
       int32_data: 206 int32_data: 149 int32_data: 68 int32_data: 42 int32_data: 102
       int32_data: 72 int32_data: 195 int32_data: 231 int32_data: 199 int32_data: 28
       int32_data: 205 int32_data: 9 int32_data: 45 int32_data: 190 int32_data: 85
       int32_data: 216 int32_data: 181 int32_data: 166 int32_data: 154 int32_data: 227
       int32_data: 217 int32_data: 6 int32_data: 255 int32_data: 107 int32_data: 74
       int32_data: 211 int32_data: 227 int32_data: 201 int32_data: 178 int32_data: 11
       int32_data: 79 int32_data: 203 int32_data: 244 int32_data: 70 int32_data: 201
       name: "B" } initializer { dims: 6 data_type: 1 float_data: 1.625 float_data:
       1.0625 float_data: 0.625 float_data: 1.75 float_data: 1.375 float_data: 0.3125
       name: "s" } initializer { dims: 3 data_type: 2 int32_data: 114 int32_data: 175
       int32_data: 80 name: "z" } input { name: "x" type { tensor_type { elem_type: 1
       shape { dim { dim_param: "d0" } dim { dim_param: "d1" } } } } } output { name: "y"
       } })",
     DType::kFloat32, {2, 32},
     {0.375, -0.5, 1.0625, -2, 0.375, 0.375, -1.75, 1.0625, 0.5625, 1.8125, -1.25,
      -0.3125, 1.4375, 1.75, 0.75, -0.5625, 1, -0.1875, 0.125, 0.6875, 1.75, -1.9375,
      0.8125, 1.6875, -0.5, -1.0625, 0.25, -1.875, 1.25, -0.0625, 0.625, 1.125, -1.9375,
      -1.25, -0.3125, 0.4375, -0.5625, -0.875, -1.875, -0.3125, 1.75, -1.875, 0.375,
      -1.1875, 1.875, 1.25, -1.125, 1.875, -0.75, 0.75, -0.9375, -0.8125, -1.75, -0.8125,
      -0.375, -1.875, -1.9375, -1.9375, 1.5, -0.3125, 1.6875, -0.0625, 0.25, -0.5},
     {-19.01171875, -40.390625, -2.94921875, 47.30859375, -12.5, -18.79296875},
     0.01},
    {"QLinearAdd",
     R"(graph { node { input: "x" input: "xs" input: "xz" input: "w" input: "ws" input:
       "wz" input: "ys" input: "yz" output: "y" op_type: "QLinearAdd" domain:
       "com.microsoft" } name: "g" initializer { data_type: 1 float_data: 0.05 name: "xs"
       } initializer { data_type: 2 int32_data: 120 name: "xz" } initializer { data_type:
       1 float_data: 0.03 name: "ws" } initializer { data_type: 2 int32_data: 100 name:
       "wz" } initializer { data_type: 1 float_data: 0.07 name: "ys" } initializer {
       data_type: 2 int32_data: 110 name: "yz" } initializer { dims: 1 dims: 2 dims: 1
       dims: 1 data_type: 2 int32_data: 31 int32_data: 32 name: "w" } input { name: "x"
       type { tensor_type { elem_type: 2 shape { dim { dim_param: "d0" } dim { dim_param:
       "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y"
       } })",
     DType::kUInt8, {1, 2, 2, 2},
     {230, 199, 23, 87, 233, 206, 21, 100},
     {159, 137, 11, 57, 162, 142, 10, 67},
     0},
    {"QLinearMul",
     R"(graph { node { input: "x" input: "xs" input: "xz" input: "w" input: "ws" input:
       "wz" input: "ys" input: "yz" output: "y" op_type: "QLinearMul" domain:
       "com.microsoft" } name: "g" initializer { data_type: 1 float_data: 0.05 name: "xs"
       } initializer { data_type: 2 int32_data: 120 name: "xz" } initializer { data_type:
       1 float_data: 0.03 name: "ws" } initializer { data_type: 2 int32_data: 100 name:
       "wz" } initializer { data_type: 1 float_data: 0.07 name: "ys" } initializer {
       data_type: 2 int32_data: 110 name: "yz" } initializer { dims: 1 dims: 2 dims: 1
       dims: 1 data_type: 2 int32_data: 31 int32_data: 32 name: "w" } input { name: "x"
       type { tensor_type { elem_type: 2 shape { dim { dim_param: "d0" } dim { dim_param:
       "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y"
       } })",
     DType::kUInt8, {1, 2, 2, 2},
     {230, 199, 23, 87, 233, 206, 21, 100},
     {0, 0, 253, 159, 0, 0, 254, 139},
     0},
    {"QLinearSigmoid",
     R"(graph { node { input: "x" input: "xs" input: "xz" input: "ys" input: "yz" output:
       "y" op_type: "QLinearSigmoid" domain: "com.microsoft" } name: "g" initializer {
       data_type: 1 float_data: 0.05 name: "xs" } initializer { data_type: 2 int32_data:
       120 name: "xz" } initializer { data_type: 1 float_data: 0.03 name: "ws" }
       initializer { data_type: 2 int32_data: 100 name: "wz" } initializer { data_type: 1
       float_data: 0.00390625 name: "ys" } initializer { data_type: 2 int32_data: 0 name:
       "yz" } input { name: "x" type { tensor_type { elem_type: 2 shape { dim {
       dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param:
       "d3" } } } } } output { name: "y" } })",
     DType::kUInt8, {1, 2, 2, 2},
     {230, 199, 23, 87, 233, 206, 21, 100},
     {255, 251, 2, 41, 255, 253, 2, 69},
     0},
    {"QLinearLeakyRelu",
     R"(graph { node { input: "x" input: "xs" input: "xz" input: "ys" input: "yz" output:
       "y" op_type: "QLinearLeakyRelu" attribute { name: "alpha" f: 0.125 type: FLOAT }
       domain: "com.microsoft" } name: "g" initializer { data_type: 1 float_data: 0.05
       name: "xs" } initializer { data_type: 2 int32_data: 120 name: "xz" } initializer {
       data_type: 1 float_data: 0.03 name: "ws" } initializer { data_type: 2 int32_data:
       100 name: "wz" } initializer { data_type: 1 float_data: 0.07 name: "ys" }
       initializer { data_type: 2 int32_data: 110 name: "yz" } input { name: "x" type {
       tensor_type { elem_type: 2 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
       dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kUInt8, {1, 2, 2, 2},
     {230, 199, 23, 87, 233, 206, 21, 100},
     {189, 166, 101, 107, 191, 171, 101, 108},
     0},
    {"QLinearConcat",
     R"(graph { node { input: "ys" input: "yz" input: "x" input: "xs" input: "xz" input:
       "w" input: "ws" input: "wz" output: "y" op_type: "QLinearConcat" attribute { name:
       "axis" i: 1 type: INT } domain: "com.microsoft" } name: "g" initializer {
       data_type: 1 float_data: 0.05 name: "xs" } initializer { data_type: 2 int32_data:
       120 name: "xz" } initializer { data_type: 1 float_data: 0.03 name: "ws" }
       initializer { data_type: 2 int32_data: 100 name: "wz" } initializer { data_type: 1
       float_data: 0.07 name: "ys" } initializer { data_type: 2 int32_data: 110 name:
       "yz" } initializer { dims: 1 dims: 2 dims: 2 dims: 2 data_type: 2 int32_data: 31
       int32_data: 31 int32_data: 31 int32_data: 31 int32_data: 32 int32_data: 32
       int32_data: 32 int32_data: 32 name: "w" } input { name: "x" type { tensor_type {
       elem_type: 2 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim {
       dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kUInt8, {1, 2, 2, 2},
     {230, 199, 23, 87, 233, 206, 21, 100},
     {189, 166, 41, 86, 191, 171, 39, 96, 80, 80, 80, 80, 81, 81, 81, 81},
     0},
    {"QLinearGlobalAveragePool",
     R"(graph { node { input: "x" input: "xs" input: "xz" input: "ys" input: "yz" output:
       "y" op_type: "QLinearGlobalAveragePool" attribute { name: "channels_last" i: 0
       type: INT } domain: "com.microsoft" } name: "g" initializer { data_type: 1
       float_data: 0.05 name: "xs" } initializer { data_type: 2 int32_data: 120 name:
       "xz" } initializer { data_type: 1 float_data: 0.03 name: "ws" } initializer {
       data_type: 2 int32_data: 100 name: "wz" } initializer { data_type: 1 float_data:
       0.07 name: "ys" } initializer { data_type: 2 int32_data: 110 name: "yz" } input {
       name: "x" type { tensor_type { elem_type: 2 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output {
       name: "y" } })",
     DType::kUInt8, {1, 2, 2, 2},
     {230, 199, 23, 87, 233, 206, 21, 100},
     {121, 124},
     0},
    {"QLinearAveragePool",
     R"(graph { node { input: "x" input: "xs" input: "xz" input: "ys" input: "yz" output:
       "y" op_type: "QLinearAveragePool" attribute { name: "kernel_shape" ints: 2 ints: 2
       type: INTS } domain: "com.microsoft" } name: "g" initializer { data_type: 1
       float_data: 0.05 name: "xs" } initializer { data_type: 2 int32_data: 120 name:
       "xz" } initializer { data_type: 1 float_data: 0.03 name: "ws" } initializer {
       data_type: 2 int32_data: 100 name: "wz" } initializer { data_type: 1 float_data:
       0.07 name: "ys" } initializer { data_type: 2 int32_data: 110 name: "yz" } input {
       name: "x" type { tensor_type { elem_type: 2 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output {
       name: "y" } })",
     DType::kUInt8, {1, 2, 2, 2},
     {230, 199, 23, 87, 233, 206, 21, 100},
     {121, 124},
     0},
    {"QGemm",
     R"(graph { node { input: "x" input: "xs" input: "xz" input: "B" input: "ws" input:
       "wb" input: "C" input: "yb" input: "yz" output: "y" op_type: "QGemm" attribute {
       name: "transB" i: 1 type: INT } domain: "com.microsoft" } name: "g" initializer {
       data_type: 1 float_data: 0.05 name: "xs" } initializer { data_type: 2 int32_data:
       120 name: "xz" } initializer { data_type: 1 float_data: 0.03 name: "ws" }
       initializer { data_type: 2 int32_data: 100 name: "wz" } initializer { data_type: 1
       float_data: 0.07 name: "ys" } initializer { data_type: 2 int32_data: 110 name:
       "yz" } initializer { dims: 3 dims: 4 data_type: 3 int32_data: -70 int32_data: -21
       int32_data: -31 int32_data: -120 int32_data: 35 int32_data: -29 int32_data: -40
       int32_data: -29 int32_data: -71 int32_data: 53 int32_data: 0 int32_data: 127 name:
       "B" } initializer { data_type: 3 int32_data: 0 name: "wb" } initializer { dims: 3
       data_type: 6 int32_data: 793 int32_data: -621 int32_data: -529 name: "C" }
       initializer { data_type: 1 float_data: 0.5 name: "yb" } input { name: "x" type {
       tensor_type { elem_type: 2 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
       } } } } output { name: "y" } })",
     DType::kUInt8, {2, 4},
     {155, 126, 214, 162, 174, 99, 59, 64},
     {81, 96, 118, 128, 128, 72},
     0},
    {"MatMulIntegerToFloat",
     R"(graph { node { input: "x" input: "B" input: "xs" input: "ws" input: "xz" input:
       "wz" output: "y" op_type: "MatMulIntegerToFloat" domain: "com.microsoft" } name:
       "g" initializer { data_type: 1 float_data: 0.05 name: "xs" } initializer {
       data_type: 2 int32_data: 120 name: "xz" } initializer { data_type: 1 float_data:
       0.03 name: "ws" } initializer { data_type: 2 int32_data: 100 name: "wz" }
       initializer { data_type: 1 float_data: 0.07 name: "ys" } initializer { data_type:
       2 int32_data: 110 name: "yz" } initializer { dims: 4 dims: 3 data_type: 2
       int32_data: 107 int32_data: 138 int32_data: 238 int32_data: 198 int32_data: 133
       int32_data: 181 int32_data: 173 int32_data: 30 int32_data: 79 int32_data: 176
       int32_data: 202 int32_data: 36 name: "B" } input { name: "x" type { tensor_type {
       elem_type: 2 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } } } } }
       output { name: "y" } })",
     DType::kUInt8, {2, 4},
     {155, 126, 214, 162, 174, 99, 59, 64},
     {16.33049964904785, -1.1519999504089355, 0.9810000061988831, -15.583499908447266,
      -0.12449999898672104, 15.923999786376953},
     0.001},
    {"DynamicQuantizeMatMul",
     R"(graph { node { input: "x" input: "B" input: "ws" input: "wz" input: "bi" output:
       "y" op_type: "DynamicQuantizeMatMul" domain: "com.microsoft" } name: "g"
       initializer { data_type: 1 float_data: 0.05 name: "xs" } initializer { data_type:
       2 int32_data: 120 name: "xz" } initializer { data_type: 1 float_data: 0.03 name:
       "ws" } initializer { data_type: 2 int32_data: 100 name: "wz" } initializer {
       data_type: 1 float_data: 0.07 name: "ys" } initializer { data_type: 2 int32_data:
       110 name: "yz" } initializer { dims: 4 dims: 3 data_type: 2 int32_data: 107
       int32_data: 138 int32_data: 238 int32_data: 198 int32_data: 133 int32_data: 181
       int32_data: 173 int32_data: 30 int32_data: 79 int32_data: 176 int32_data: 202
       int32_data: 36 name: "B" } initializer { dims: 3 data_type: 1 float_data: 0.8125
       float_data: -1.6875 float_data: 0.375 name: "bi" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
       } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {1.125, 0.4375, 0.8125, -1.625, 0.5, 1.9375, -0.3125, -1.5625},
     {0.40302208065986633, -6.6293158531188965, 8.713345527648926, 2.3867058753967285,
      -3.3342132568359375, 10.373889923095703},
     0.001},
    // By ONNX Runtime 1.30, or numpy in float64 where it has no kernel:
    {"MatMulBnb4 of FP4",
     R"(graph { node { input: "x" input: "w" input: "s" output: "y" op_type: "MatMulBnb4"
       attribute { name: "K" i: 16 type: INT } attribute { name: "N" i: 3 type: INT }
       attribute { name: "block_size" i: 16 type: INT } attribute { name: "quant_type" i: 0
       type: INT } domain: "com.microsoft" } name: "g" initializer { dims: 24 data_type: 2
       name: "w" raw_data: "\255a\200\016\214.t\034Fj}\007\354k32\273p@s1)R\366" }
       initializer { dims: 3 data_type: 1 float_data: [1.875, 0.25, 1.75] name: "s" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 16},
     {-1.25, -1.875, 1.875, 0, 0.875, 1, 1.75, -1.875, -0.875, 1.875, -0.25, -0.5, -1, -2,
      -1.875, 1.875, -2, -1.5, -1.125, -0.875, 1.375, -0.75, -1.375, -0.5, 0.75, -0.25,
      -1.125, -1.625, -1.75, -0.125, -1.25, 0.25},
     {0.255126953, -1.203125, 0.641438544, 1.89331055, -0.372395843, 3.91357422},
     0.001},
    {"MatMulBnb4 of NF4",
     R"(graph { node { input: "x" input: "w" input: "s" output: "y" op_type: "MatMulBnb4"
       attribute { name: "K" i: 16 type: INT } attribute { name: "N" i: 3 type: INT }
       attribute { name: "block_size" i: 16 type: INT } attribute { name: "quant_type" i: 1
       type: INT } domain: "com.microsoft" } name: "g" initializer { dims: 24 data_type: 2
       name: "w" raw_data:
       "4R\335\240L\201\234\032F\302\240\322\274{Lc3\362\007_\021\341\247k" } initializer {
       dims: 3 data_type: 1 float_data: [1.25, 0.75, 0.375] name: "s" } input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param:
       "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 16},
     {-0.25, -0.625, 0.125, -1.375, 0.75, -2, 0.25, -1.875, -2, -1.25, 0.875, -0.375, -0.375,
      0.375, -1.75, 1.875, -0.125, 1.5, 1, -1.125, -0.875, 0.375, 1.25, 1.625, -0.125, -1.625,
      1.875, 1.375, 0.75, -0.5, -1.5, 1.125},
     {5.42757034, 1.91414571, 0.891846657, -2.2964673, -0.633807003, 2.11299729},
     0.001},
    {"QLinearReduceMean",
     R"(graph { node { input: "x" input: "a" input: "b" input: "c" input: "d" output: "y"
       op_type: "QLinearReduceMean" attribute { name: "axes" ints: [1, -2] type: INTS }
       attribute { name: "keepdims" i: 1 type: INT } domain: "com.microsoft" } name: "g"
       initializer { data_type: 1 float_data: 0.05 name: "a" } initializer { data_type: 2
       name: "b" raw_data: "x" } initializer { data_type: 1 float_data: 0.02 name: "c" }
       initializer { data_type: 2 name: "d" raw_data: "n" } input { name: "x" type {
       tensor_type { elem_type: 2 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim
       { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kUInt8, {1, 3, 4, 2},
     {5, 158, 142, 97, 125, 224, 152, 124, 186, 176, 133, 211, 143, 157, 125, 150, 156, 229,
      63, 92, 140, 86, 171, 210},
     {131, 209},
     0},
};
// clang-format on

TEST_CASE("quantised operators of com.microsoft: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

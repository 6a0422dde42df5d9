// Operators of com.microsoft, against values computed with numpy in float64 from their definitions.
#include "compiler/end_to_end/imported_values.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    {"BiasGelu",
     R"(graph { node { input: "x" input: "b" output: "y" op_type: "BiasGelu" domain:
       "com.microsoft" } name: "g" initializer { dims: 4 data_type: 1 float_data: 1.8125
       float_data: 0.6875 float_data: -1.1875 float_data: 0.6875 name: "b" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {1.125, 0.4375, 0.8125, -1.625, 0.5, 1.9375, -0.3125, -1.5625},
     {2.932640314102173, 0.9784186482429504, -0.1326863318681717, -0.16336004436016083,
      2.2885076999664307, 2.6136274337768555, -0.10021080076694489, -0.16693858802318573},
     1e-05},
    {"FastGelu",
     R"(graph { node { input: "x" input: "b" output: "y" op_type: "FastGelu" domain:
       "com.microsoft" } name: "g" initializer { dims: 4 data_type: 1 float_data: 1.8125
       float_data: 0.6875 float_data: -1.1875 float_data: 0.6875 name: "b" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {1.125, 0.4375, 0.8125, -1.625, 0.5, 1.9375, -0.3125, -1.5625},
     {2.9330737590789795, 0.9782248139381409, -0.13269223272800446, -0.1634906530380249,
      2.2888541221618652, 2.614096164703369, -0.10042842477560043, -0.16704732179641724},
     1e-05},
    {"QuickGelu",
     R"(graph { node { input: "x" output: "y" op_type: "QuickGelu" attribute { name:
       "alpha" f: 1.702 type: FLOAT } domain: "com.microsoft" } name: "g" input { name:
       "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {1.125, 0.4375, 0.8125, -1.625, 0.5, 1.9375, -0.3125, -1.5625},
     {0.980495810508728, 0.29662778973579407, 0.6495550274848938, -0.09620534628629684,
      0.35038843750953674, 1.8684227466583252, -0.11564990133047104, -0.10220864415168762},
     1e-05},
    {"SkipLayerNormalization",
     R"(graph { node { input: "x" input: "s" input: "g" input: "be" input: "bi" output:
       "y" op_type: "SkipLayerNormalization" attribute { name: "epsilon" f: 1e-05 type:
       FLOAT } domain: "com.microsoft" } name: "g" initializer { dims: 1 dims: 2 dims: 4
       data_type: 1 float_data: 2.0 float_data: -1.1875 float_data: 1.4375 float_data:
       0.8125 float_data: -1.125 float_data: -1.25 float_data: 1.8125 float_data: -0.625
       name: "s" } initializer { dims: 4 data_type: 1 float_data: -0.25 float_data: 0.625
       float_data: -0.25 float_data: -2.0 name: "g" } initializer { dims: 4 data_type: 1
       float_data: -0.9375 float_data: -0.125 float_data: 1.0625 float_data: 0.4375 name:
       "be" } initializer { dims: 4 data_type: 1 float_data: -0.25 float_data: -1.25
       float_data: 1.125 float_data: -1.25 name: "bi" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
       dim { dim_param: "d2" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 2, 4},
     {0.875, -0, 0.1875, -0.4375, -1.1875, -1.3125, 0.5625, -0.875},
     {-1.172767162322998, -0.9484348893165588, 0.8132911324501038, 1.6783161163330078,
      -0.8368673920631409, -0.6485616564750671, 0.6354912519454956, 1.3731114864349365},
     0.0001},
    {"SkipSimplifiedLayerNormalization",
     R"(graph { node { input: "x" input: "s" input: "g" input: "bi" output: "y" op_type:
       "SkipSimplifiedLayerNormalization" attribute { name: "epsilon" f: 1e-05 type:
       FLOAT } domain: "com.microsoft" } name: "g" initializer { dims: 1 dims: 2 dims: 4
       data_type: 1 float_data: 2.0 float_data: -1.1875 float_data: 1.4375 float_data:
       0.8125 float_data: -1.125 float_data: -1.25 float_data: 1.8125 float_data: -0.625
       name: "s" } initializer { dims: 4 data_type: 1 float_data: -0.25 float_data: 0.625
       float_data: -0.25 float_data: -2.0 name: "g" } initializer { dims: 4 data_type: 1
       float_data: -0.25 float_data: -1.25 float_data: 1.125 float_data: -1.25 name: "bi"
       } input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
       "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } } } } } output { name: "y"
       } })",
     DType::kFloat32, {1, 2, 4},
     {0.875, -0, 0.1875, -0.4375, -1.1875, -1.3125, 0.5625, -0.875},
     {-0.28532475233078003, -0.6623610854148865, -0.2989116609096527, 0.7608660459518433,
      0.20030757784843445, -0.7450464367866516, -0.2735908329486847, 1.719713807106018},
     0.0001},
    {"FusedMatMul",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "FusedMatMul" attribute
       { name: "alpha" f: 0.5 type: FLOAT } attribute { name: "transB" i: 1 type: INT }
       domain: "com.microsoft" } name: "g" initializer { dims: 3 dims: 4 data_type: 1
       float_data: -1.9375 float_data: -1.25 float_data: 1.6875 float_data: 0.875
       float_data: 0.3125 float_data: -0.375 float_data: 1.25 float_data: -0.9375
       float_data: 0.5625 float_data: -1.9375 float_data: 0.5625 float_data: 1.875 name:
       "w" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
       "d0" } dim { dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {1.125, 0.4375, 0.8125, -1.625, 0.5, 1.9375, -0.3125, -1.5625},
     {-1.388671875, 1.36328125, -1.40234375, -2.642578125, 0.251953125, -3.2890625},
     1e-05},
    {"FusedGemm",
     R"(graph { node { input: "x" input: "w" input: "c" output: "y" op_type: "FusedGemm"
       attribute { name: "activation" s: "LeakyRelu" type: STRING } attribute { name:
       "activation_alpha" f: 0.1 type: FLOAT } attribute { name: "transB" i: 1 type: INT
       } domain: "com.microsoft" } name: "g" initializer { dims: 3 dims: 4 data_type: 1
       float_data: -1.9375 float_data: -1.25 float_data: 1.6875 float_data: 0.875
       float_data: 0.3125 float_data: -0.375 float_data: 1.25 float_data: -0.9375
       float_data: 0.5625 float_data: -1.9375 float_data: 0.5625 float_data: 1.875 name:
       "w" } initializer { dims: 3 data_type: 1 float_data: 0.8125 float_data: -1.6875
       float_data: 0.375 name: "c" } input { name: "x" type { tensor_type { elem_type: 1
       shape { dim { dim_param: "d0" } dim { dim_param: "d1" } } } } } output { name: "y"
       } })",
     DType::kFloat32, {2, 4},
     {1.125, 0.4375, 0.8125, -1.625, 0.5, 1.9375, -0.3125, -1.5625},
     {-0.19648437201976776, 1.0390625, -0.24296875298023224, -0.447265625,
      -0.11835937947034836, -0.620312511920929},
     1e-05},
    {"CDist",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "CDist" attribute {
       name: "metric" s: "euclidean" type: STRING } domain: "com.microsoft" } name: "g"
       initializer { dims: 3 dims: 4 data_type: 1 float_data: -1.9375 float_data: -1.25
       float_data: 1.6875 float_data: 0.875 float_data: 0.3125 float_data: -0.375
       float_data: 1.25 float_data: -0.9375 float_data: 0.5625 float_data: -1.9375
       float_data: 0.5625 float_data: 1.875 name: "w" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
       } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {1.125, 0.4375, 0.8125, -1.625, 0.5, 1.9375, -0.3125, -1.5625},
     {4.386591911315918, 1.408678412437439, 4.274287223815918, 5.103231430053711,
      2.866154909133911, 5.253718852996826},
     1e-05},
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
};
// clang-format on

TEST_CASE("operators of com.microsoft compute what they state") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

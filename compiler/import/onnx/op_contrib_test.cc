// The values that operators of com.microsoft give, against those of other systems or of their
// definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30:
    {"FusedMatMul with transBatchA",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "FusedMatMul" attribute {
       name: "alpha" f: 0.5 type: FLOAT } attribute { name: "transBatchA" i: 1 type: INT }
       domain: "com.microsoft" } name: "g" initializer { dims: 2 dims: 3 dims: 2 data_type:
       1 name: "w" raw_data:
       "\000\000\000?\000\000\300>\000\000\260?\000\000\300\277\000\000\320\277\000\000\040?\000\000\200?\000\000\000@\000\000@?\000\000`?\000\000`\277\000\000@?"
       } input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" }
       dim { dim_value: 2 } dim { dim_value: 3 } } } } } output { name: "y" }})",
     DType::kFloat32, {4, 2, 3},
     {0.625, -1, -0.875, -0.125, 0.25, -3, 0.125, 0.25, -0.125, 0.25, 0.5, -1, 0.375, -0.25, -1,
      0.25, 1.5, -1.5, -1.625, -1.625, 2, -0.25, 0, -0.75},
     {0.1796875, 0.59375, 0.3046875, -0.203125, 0.734375, -0.0546875, -3.1484375, 1.5390625,
      1.34375, -1.140625, 0.75, 0.09375, 1.34375, 0.34375, 0.203125, -0.53125},
     0.0001},
    // By numpy in float64, by the definition:
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
    // By ONNX Runtime 1.30, or numpy in float64 where it has no kernel:
    {"GroupNorm with Swish",
     R"(graph { node { input: "x" input: "g" input: "b" output: "y" op_type: "GroupNorm"
       attribute { name: "activation" i: 1 type: INT } attribute { name: "groups" i: 2 type:
       INT } domain: "com.microsoft" } name: "g" initializer { dims: 4 data_type: 1
       float_data: [-1.25, -0.5, -1.375, 1.125] name: "g" } initializer { dims: 4 data_type:
       1 float_data: [1.375, -0.5, -2.0, 0.75] name: "b" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim
       { dim_param: "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 2, 2, 4},
     {0.625, -0.5, -1.25, 1.625, -1, 0.125, 0.625, -1.125, -0.75, 0.875, -1.25, 0.625, 1.75,
      0.625, 0.5, -0.25, 1.75, -1.125, -0.625, 0.5, 0.5, -1.625, -1.375, 0.75, 1.25, 0.5,
      1.625, -0.5, -0.75, 1.125, -1.875, -1.25},
     {0.544490278, -0.041568093, -0.153281435, 2.46130252, 2.99471164, -0.174113005,
      -0.147637606, -0.171895996, 2.60330248, -0.25768131, -0.153281435, 1.24611294,
      -0.251399785, -0.237964913, -0.163438946, 0.341397434, -0.13131246, 0.0409688763,
      -0.265448838, 1.3249743, 0.779260576, 0.170227006, -0.238878131, 1.59232998, 0.13084881,
      -0.218805894, -0.0530748181, 0.382462084, 2.21522546, -0.260329962, -0.0598036498,
      -0.0721800253},
     0.0001},
    {"GroupNorm, channels first",
     R"(graph { node { input: "x" input: "g" input: "b" output: "y" op_type: "GroupNorm"
       attribute { name: "activation" i: 0 type: INT } attribute { name: "channels_last" i: 0
       type: INT } attribute { name: "groups" i: 2 type: INT } domain: "com.microsoft" }
       name: "g" initializer { dims: 4 data_type: 1 float_data: [-1.25, -0.5, -1.375, 1.125]
       name: "g" } initializer { dims: 4 data_type: 1 float_data: [1.375, -0.5, -2.0, 0.75]
       name: "b" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param:
       "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4, 2, 2},
     {0.625, -1, -0.75, 1.75, -0.5, 0.125, 0.875, 0.625, -1.25, 0.625, -1.25, 0.5, 1.625,
      -1.125, 0.625, -0.25, 1.75, 0.5, 1.25, -0.75, -1.125, -1.625, 0.5, 1.125, -0.625,
      -1.375, 1.625, -1.875, 0.5, 0.75, -0.5, -1.25},
     {0.791286647, 3.12614012, 2.76693201, -0.82515043, -0.0869105309, -0.446118772,
      -0.877168655, -0.733485341, -0.37667951, -2.93981719, -0.37667951, -2.7689414,
      2.63740134, -0.438363791, 1.51894128, 0.540288746, -0.310422897, 1.05153501,
      0.234360263, 2.41349292, 0.0788321123, 0.29674536, -0.629386008, -0.901777565,
      -1.65611863, -0.739101768, -4.40716934, -0.127757162, 1.59407234, 1.84416795,
      0.593690276, -0.156596258},
     0.0001},
    {"SkipGroupNorm",
     R"(graph { node { input: "x" input: "g" input: "b" input: "k" input: "e" output: "y"
       op_type: "SkipGroupNorm" attribute { name: "activation" i: 0 type: INT } attribute {
       name: "groups" i: 2 type: INT } domain: "com.microsoft" } name: "g" initializer {
       dims: 4 data_type: 1 float_data: [-1.25, -0.5, -1.375, 1.125] name: "g" } initializer
       { dims: 4 data_type: 1 float_data: [1.375, -0.5, -2.0, 0.75] name: "b" } initializer {
       dims: [2, 4] data_type: 1 float_data: [-1.625, 0.375, -1.375, 1.75, 0.625, 1.875,
       0.375, 0.875] name: "k" } initializer { dims: 4 data_type: 1 float_data: [-0.5, 1.125,
       -1.625, -1.5] name: "e" } input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim {
       dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 2, 2, 4},
     {0.625, -0.5, -1.25, 1.625, -1, 0.125, 0.625, -1.125, -0.75, 0.875, -1.25, 0.625, 1.75,
      0.625, 0.5, -0.25, 1.75, -1.125, -0.625, 0.5, 0.5, -1.625, -1.375, 0.75, 1.25, 0.5,
      1.625, -0.5, -0.75, 1.125, -1.875, -1.25},
     {2.22580814, -0.764695823, -0.190296277, 2.49389625, 3.20896411, -0.915950596,
      -1.39676547, 1.04613328, 3.05770946, -1.09745634, -0.190296277, 1.96743703, 1.5451616,
      -1.0369544, -1.31633413, 1.50678515, 1.27808261, -0.538766921, -1.33319223, 1.81242585,
      2.38570952, -0.361546636, -0.490908712, 2.04213953, 1.72113335, -1.11473286,
      -3.86004281, 0.893571079, 3.4933362, -1.33625829, 0.070613645, 0.204429999},
     0.0001},
    {"SkipGroupNorm, the sum",
     R"(graph { node { input: "x" input: "g" input: "b" input: "k" input: "e" output: "u"
       output: "y" op_type: "SkipGroupNorm" attribute { name: "activation" i: 0 type: INT }
       attribute { name: "groups" i: 2 type: INT } domain: "com.microsoft" } name: "g"
       initializer { dims: 4 data_type: 1 float_data: [-1.25, -0.5, -1.375, 1.125] name: "g"
       } initializer { dims: 4 data_type: 1 float_data: [1.375, -0.5, -2.0, 0.75] name: "b" }
       initializer { dims: [2, 4] data_type: 1 float_data: [-1.625, 0.375, -1.375, 1.75,
       0.625, 1.875, 0.375, 0.875] name: "k" } initializer { dims: 4 data_type: 1 float_data:
       [-0.5, 1.125, -1.625, -1.5] name: "e" } input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param:
       "d2" } dim { dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 2, 2, 4},
     {0.625, -0.5, -1.25, 1.625, -1, 0.125, 0.625, -1.125, -0.75, 0.875, -1.25, 0.625, 1.75,
      0.625, 0.5, -0.25, 1.75, -1.125, -0.625, 0.5, 0.5, -1.625, -1.375, 0.75, 1.25, 0.5,
      1.625, -0.5, -0.75, 1.125, -1.875, -1.25},
     {-1.5, 1, -4.25, 1.875, -3.125, 1.625, -2.375, -0.875, -2.875, 2.375, -4.25, 0.875,
      -0.375, 2.125, -2.5, 0, 1.875, 1.875, -1.875, -0.125, 0.625, 1.375, -2.625, 0.125,
      1.375, 3.5, 0.375, -1.125, -0.625, 4.125, -3.125, -1.875},
     0.0001},
    {"FusedGemm, Elu",
     R"(graph { node { input: "x" input: "w" input: "c" output: "y" op_type: "FusedGemm"
       attribute { name: "activation" s: "Elu" type: STRING } attribute { name:
       "activation_alpha" f: 0.7 type: FLOAT } attribute { name: "transB" i: 1 type: INT }
       domain: "com.microsoft" } name: "g" initializer { dims: [3, 4] data_type: 1
       float_data: [0.5, -0.125, 0.375, 1.75, 0.875, -0.75, -0.375, -0.5, -1.5, -2.0, 1.125,
       -0.375] name: "w" } initializer { dims: 3 data_type: 1 float_data: [-0.625, 0.5, 0.25]
       name: "c" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "d0" } dim { dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {-0.625, 0.75, -0.125, 1.375, 1.75, -0.5, -0.375, 0.125},
     {1.328125, -0.49944663, -0.434309959, 0.390625, 2.484375, -0.589243889},
     0.0001},
    {"FusedGemm, HardSigmoid",
     R"(graph { node { input: "x" input: "w" input: "c" output: "y" op_type: "FusedGemm"
       attribute { name: "activation" s: "HardSigmoid" type: STRING } attribute { name:
       "activation_alpha" f: 0.3 type: FLOAT } attribute { name: "activation_beta" f: 0.4
       type: FLOAT } attribute { name: "transB" i: 1 type: INT } domain: "com.microsoft" }
       name: "g" initializer { dims: [3, 4] data_type: 1 float_data: [-1.25, 1.25, 1.25,
       -2.0, -1.375, 0.75, -0.5, -0.75, -1.75, -1.25, 1.375, 1.25] name: "w" } initializer {
       dims: 3 data_type: 1 float_data: [1.25, 0.25, -1.5] name: "c" } input { name: "x" type
       { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } }
       } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {1.625, 0.375, 1.625, 0.25, -0.75, -0.75, 1.875, 0.25},
     {0.765625, 0, 0, 1, 0.278124988, 1},
     0.0001},
    {"FusedGemm, Softplus",
     R"(graph { node { input: "x" input: "w" input: "c" output: "y" op_type: "FusedGemm"
       attribute { name: "activation" s: "Softplus" type: STRING } attribute { name: "transB"
       i: 1 type: INT } domain: "com.microsoft" } name: "g" initializer { dims: [3, 4]
       data_type: 1 float_data: [0.75, -1.625, 1.875, 1.375, 1.0, -1.0, -0.25, -0.25, -0.875,
       -1.875, 0.875, -2.0] name: "w" } initializer { dims: 3 data_type: 1 float_data: [1.0,
       -1.25, 0.5] name: "c" } input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "d0" } dim { dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {-0.75, 0, 1.875, -1, 0.125, -0.125, 0, 0.125},
     {2.65129757, 0.103228703, 4.80509663, 1.67593741, 0.3049528, 0.898123264},
     0.0001},
    {"FusedGemm, Softsign",
     R"(graph { node { input: "x" input: "w" input: "c" output: "y" op_type: "FusedGemm"
       attribute { name: "activation" s: "Softsign" type: STRING } attribute { name: "transB"
       i: 1 type: INT } domain: "com.microsoft" } name: "g" initializer { dims: [3, 4]
       data_type: 1 float_data: [-0.25, -2.0, 0.625, -0.625, 1.375, -1.25, -0.75, -1.875,
       1.125, 0.125, -0.5, 1.625] name: "w" } initializer { dims: 3 data_type: 1 float_data:
       [0.375, 1.75, 0.875] name: "c" } input { name: "x" type { tensor_type { elem_type: 1
       shape { dim { dim_param: "d0" } dim { dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {-0.75, -1.125, 1.625, -0.125, 1.5, -1.25, -0.125, -0.625},
     {0.796178341, 0.532846689, -0.529411793, 0.737704873, 0.869120657, 0.592356682},
     0.0001},
    {"FusedGemm, ThresholdedRelu",
     R"(graph { node { input: "x" input: "w" input: "c" output: "y" op_type: "FusedGemm"
       attribute { name: "activation" s: "ThresholdedRelu" type: STRING } attribute { name:
       "activation_alpha" f: 0.5 type: FLOAT } attribute { name: "transB" i: 1 type: INT }
       domain: "com.microsoft" } name: "g" initializer { dims: [3, 4] data_type: 1
       float_data: [0.875, -1.875, 1.125, -1.5, -0.875, -1.25, 0.125, -1.25, -1.0, -1.875,
       1.875, -1.25] name: "w" } initializer { dims: 3 data_type: 1 float_data: [-1.25,
       0.375, -1.5] name: "c" } input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "d0" } dim { dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {0.25, 0, -1.25, 0.75, 1.125, 0.75, -0.375, -2},
     {0, 0, 0, 0.90625, 0.90625, 0},
     0.0001},
    {"FusedGemm, ScaledTanh",
     R"(graph { node { input: "x" input: "w" input: "c" output: "y" op_type: "FusedGemm"
       attribute { name: "activation" s: "ScaledTanh" type: STRING } attribute { name:
       "activation_alpha" f: 0.5 type: FLOAT } attribute { name: "activation_beta" f: 1.5
       type: FLOAT } attribute { name: "transB" i: 1 type: INT } domain: "com.microsoft" }
       name: "g" initializer { dims: [3, 4] data_type: 1 float_data: [0.625, -1.5, 1.125,
       -0.375, 1.75, -1.0, -0.5, 1.375, 0.75, -1.875, -0.75, -2.0] name: "w" } initializer {
       dims: 3 data_type: 1 float_data: [1.25, -0.375, -1.125] name: "c" } input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param:
       "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {1.5, 1.125, -0.625, -0.5, -0.625, 0.875, -0.375, -0.875},
     {-0.0117166042, 0.404650539, -0.372347385, -0.33761996, -0.499957979, -0.473644644},
     0.0001},
    {"FusedGemm, ParametricSoftplus",
     R"(graph { node { input: "x" input: "w" input: "c" output: "y" op_type: "FusedGemm"
       attribute { name: "activation" s: "ParametricSoftplus" type: STRING } attribute {
       name: "activation_alpha" f: 0.5 type: FLOAT } attribute { name: "activation_beta" f:
       1.5 type: FLOAT } attribute { name: "transB" i: 1 type: INT } domain: "com.microsoft"
       } name: "g" initializer { dims: [3, 4] data_type: 1 float_data: [0.875, -0.75, 0.25,
       -0.125, 0.875, -1.875, -1.125, -1.875, 1.875, 0.0, -0.125, -0.125] name: "w" }
       initializer { dims: 3 data_type: 1 float_data: [-1.875, 1.25, 1.375] name: "c" } input
       { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4},
     {0.875, 1.375, -1.625, 0, -0.625, 0.875, 1.625, 0.125},
     {0.0108420551, 1.01901388, 2.41804743, 0.00879822113, 0.00552387163, 0.340748549},
     0.0001},
    {"NhwcMaxPool",
     R"(graph { node { input: "x" output: "y" op_type: "NhwcMaxPool" attribute { name:
       "kernel_shape" ints: [3, 2] type: INTS } attribute { name: "pads" ints: [1, 0, 1, 1]
       type: INTS } attribute { name: "strides" ints: [2, 1] type: INTS } domain:
       "com.microsoft" } name: "g" input { name: "x" type { tensor_type { elem_type: 2 shape
       { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim {
       dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kUInt8, {1, 3, 4, 2},
     {5, 158, 142, 97, 125, 224, 152, 124, 186, 176, 133, 211, 143, 157, 125, 150, 156, 229,
      63, 92, 140, 86, 171, 210},
     {186, 211, 143, 224, 152, 224, 152, 150, 186, 229, 143, 211, 171, 210, 171, 210},
     0},
    {"UnfoldTensor",
     R"(graph { node { input: "x" output: "y" op_type: "UnfoldTensor" attribute { name: "dim"
       i: 1 type: INT } attribute { name: "size" i: 3 type: INT } attribute { name: "step" i:
       2 type: INT } domain: "com.microsoft" } name: "g" input { name: "x" type { tensor_type
       { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim {
       dim_param: "d2" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 7, 2},
     {1.625, 1.25, 0.625, -1.75, -1, 0, -0.125, -1.625, -1.125, 0.75, 1.5, -1.625, 1.75,
      -0.75, -1.75, 1.625, 0, 0.625, -1.375, 1.625, -0.5, -0.625, 0.875, 1, 0.75, -1.125,
      -1.25, 0.25},
     {1.625, 0.625, -1, 1.25, -1.75, 0, -1, -0.125, -1.125, 0, -1.625, 0.75, -1.125, 1.5,
      1.75, 0.75, -1.625, -0.75, -1.75, 0, -1.375, 1.625, 0.625, 1.625, -1.375, -0.5, 0.875,
      1.625, -0.625, 1, 0.875, 0.75, -1.25, 1, -1.125, 0.25},
     0.0001},
    {"ComplexMul",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "ComplexMul" domain:
       "com.microsoft" } name: "g" initializer { dims: [1, 2, 3, 2] data_type: 1 float_data:
       [-0.25, -1.125, -1.75, 0.5, -0.625, -0.75, 1.75, 1.25, 0.0, 1.625, 0.125, 1.625] name:
       "w" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
       "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } }
       output { name: "y" } })",
     DType::kFloat32, {2, 1, 3, 2},
     {-0.75, -1.875, -0.375, 1, -0.5, -0.375, 0.625, 1.875, 1.125, -1.5, -0.75, 0.125},
     {-1.921875, 1.3125, 0.15625, -1.9375, 0.03125, 0.609375, 1.03125, -4.21875, -1.625,
      -0.609375, 0.546875, -0.859375, 1.953125, -1.171875, -1.21875, 3.1875, 0.5625, 0.484375,
      -1.25, 4.0625, 2.4375, 1.828125, -0.296875, -1.203125},
     0.0001},
    {"ComplexMulConj",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "ComplexMulConj" domain:
       "com.microsoft" } name: "g" initializer { dims: [1, 2, 3, 2] data_type: 1 float_data:
       [-0.25, -1.125, -1.75, 0.5, -0.625, -0.75, 1.75, 1.25, 0.0, 1.625, 0.125, 1.625] name:
       "w" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
       "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } }
       output { name: "y" } })",
     DType::kFloat32, {2, 1, 3, 2},
     {-0.75, -1.875, -0.375, 1, -0.5, -0.375, 0.625, 1.875, 1.125, -1.5, -0.75, 0.125},
     {2.296875, -0.375, 1.15625, -1.5625, 0.59375, -0.140625, -3.65625, -2.34375, 1.625,
      0.609375, -0.671875, 0.765625, -2.265625, 0.234375, -2.71875, 2.0625, 0.375, -0.640625,
      3.4375, 2.5, -2.4375, -1.828125, 0.109375, 1.234375},
     0.0001},
    {"IsAllFinite, 1.0",
     R"(graph { node { input: "x" input: "w" output: "b" op_type: "IsAllFinite" domain:
       "com.microsoft" } node { input: "b" output: "y" op_type: "Cast" attribute { name: "to"
       i: 1 type: INT } domain: "" } name: "g" initializer { dims: [2, 2] data_type: 1
       float_data: [0.5, 1.0, 3.0, 4.0] name: "w" } input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "d0" } } } } } output { name: "y" } })",
     DType::kFloat32, {2},
     {0.375, -0.625},
     {1},
     0.0001},
    {"IsAllFinite, inf",
     R"(graph { node { input: "x" input: "w" output: "b" op_type: "IsAllFinite" domain:
       "com.microsoft" } node { input: "b" output: "y" op_type: "Cast" attribute { name: "to"
       i: 1 type: INT } domain: "" } name: "g" initializer { dims: [2, 2] data_type: 1
       float_data: [0.5, inf, 3.0, 4.0] name: "w" } input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "d0" } } } } } output { name: "y" } })",
     DType::kFloat32, {2},
     {0.25, 0.75},
     {0},
     0.0001},
    {"IsAllFinite, nan",
     R"(graph { node { input: "x" input: "w" output: "b" op_type: "IsAllFinite" domain:
       "com.microsoft" } node { input: "b" output: "y" op_type: "Cast" attribute { name: "to"
       i: 1 type: INT } domain: "" } name: "g" initializer { dims: [2, 2] data_type: 1
       float_data: [0.5, nan, 3.0, 4.0] name: "w" } input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "d0" } } } } } output { name: "y" } })",
     DType::kFloat32, {2},
     {1.125, 1.875},
     {0},
     0.0001},
    {"GemmFastGelu",
     R"(graph { node { input: "x" input: "w" input: "b" output: "y" op_type: "GemmFastGelu"
       domain: "com.microsoft" } name: "g" initializer { dims: [3, 4] data_type: 1
       float_data: [-0.125, -1.875, 1.75, -1.125, -1.5, -1.125, 1.125, 0.125, -0.125, -0.625,
       -0.125, 0.75] name: "w" } initializer { dims: 4 data_type: 1 float_data: [1.5, 1.75,
       -1.5, 0.875] name: "b" } input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "d0" } dim { dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 3},
     {-1, -1.625, -0.75, 0.25, 1.5, 1.625},
     {4.15621758, 5.921875, -2.54593459e-07, 1.10018551, -0.160074309, -0.110470645,
      0.279880345, 1.95459771},
     0.0001},
};
// clang-format on

TEST_CASE("operators of com.microsoft: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

// The values that operators of ai.onnx.ml give, against those of other systems or of their
// definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30:
    {"Scaler",
     R"(graph { node { input: "x" output: "t" op_type: "Scaler" attribute { name: "offset"
       floats: 1.0 floats: 2.0 floats: 3.0 type: FLOATS } attribute { name: "scale" floats:
       0.5 floats: 1.0 floats: 2.0 type: FLOATS } domain: "ai.onnx.ml" } node { input: "t"
       output: "yf" op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g"
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" }
       dim { dim_value: 3 } } } } } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {-0.875, -3.375, -6.5, -0.3125, -0.875, -5.75, -0.75, -2.75, -4.5, 0.3125, -1.75, -8.5},
     1e-05},
    {"Normalizer MAX",
     R"(graph { node { input: "x" output: "t" op_type: "Normalizer" attribute { name: "norm"
       s: "MAX" type: STRING } domain: "ai.onnx.ml" } node { input: "t" output: "yf"
       op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 }
       } } } } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0, 0, 0, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {3, 5.5, 1, 0, 0, 0, -0.6666666865348816, -1, 1, 1, 0.1538461595773697, -0.7692307829856873},
     1e-05},
    {"Normalizer L1",
     R"(graph { node { input: "x" output: "t" op_type: "Normalizer" attribute { name: "norm"
       s: "L1" type: STRING } domain: "ai.onnx.ml" } node { input: "t" output: "yf" op_type:
       "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 } } } }
       } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0, 0, 0, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {-0.31578946113586426, -0.5789473652839661, -0.10526315867900848, 0, 0, 0, -0.25, -0.375,
      0.375, 0.5199999809265137, 0.07999999821186066, -0.4000000059604645},
     1e-05},
    {"Normalizer L2",
     R"(graph { node { input: "x" output: "t" op_type: "Normalizer" attribute { name: "norm"
       s: "L2" type: STRING } domain: "ai.onnx.ml" } node { input: "t" output: "yf" op_type:
       "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 } } } }
       } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0, 0, 0, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {-0.4728662371635437, -0.8669214844703674, -0.1576220840215683, 0, 0, 0, -0.42640143632888794,
      -0.6396021246910095, 0.6396021246910095, 0.7867957949638367, 0.12104550749063492,
      -0.605227530002594},
     1e-05},
    {"Imputer",
     R"(graph { node { input: "x" output: "t" op_type: "Imputer" attribute { name:
       "imputed_value_floats" floats: 10.0 floats: 20.0 floats: 30.0 type: FLOATS }
       attribute { name: "replaced_value_float" f: -9.0 type: FLOAT } domain: "ai.onnx.ml" }
       node { input: "t" output: "yf" op_type: "Cast" attribute { name: "to" i: 1 type: INT
       } } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "n" } dim { dim_value: 3 } } } } } output { name: "yf" }})",
     DType::kFloat32, {2, 3},
     {1, -9, 3, -9, 5, 6},
     {1, 20, 3, 10, 5, 6},
     1e-05},
    {"Binarizer",
     R"(graph { node { input: "x" output: "t" op_type: "Binarizer" attribute { name:
       "threshold" f: 0.25 type: FLOAT } domain: "ai.onnx.ml" } node { input: "t" output:
       "yf" op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim {
       dim_value: 3 } } } } } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0},
     1e-05},
    {"OneHotEncoder",
     R"(graph { node { input: "x" output: "i" op_type: "Cast" attribute { name: "to" i: 7
       type: INT } } node { input: "i" output: "t" op_type: "OneHotEncoder" attribute {
       name: "cats_int64s" ints: 0 ints: 2 ints: 3 type: INTS } domain: "ai.onnx.ml" } node
       { input: "t" output: "y" op_type: "Cast" attribute { name: "to" i: 1 type: INT } }
       name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "x_0" } dim { dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {4, 1},
     {0, 3, 7, 2},
     {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
     1e-05},
    {"Imputer of integers",
     R"(graph { node { input: "x" output: "i" op_type: "Cast" attribute { name: "to" i: 7
       type: INT } } node { input: "i" output: "t" op_type: "Imputer" attribute { name:
       "imputed_value_int64s" ints: 5 ints: 6 type: INTS } attribute { name:
       "replaced_value_int64" i: 0 type: INT } domain: "ai.onnx.ml" } node { input: "t"
       output: "y" op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input
       { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" } dim {
       dim_param: "x_1" } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 2},
     {0, 3, 7, 0},
     {5, 3, 7, 6},
     1e-05},
    {"LabelEncoder",
     R"(graph { node { input: "x" output: "i" op_type: "Cast" attribute { name: "to" i: 7
       type: INT } } node { input: "i" output: "t" op_type: "LabelEncoder" attribute { name:
       "default_int64" i: -5 type: INT } attribute { name: "keys_int64s" ints: 0 ints: 2
       ints: 3 type: INTS } attribute { name: "values_int64s" ints: 10 ints: 12 ints: 13
       type: INTS } domain: "ai.onnx.ml" } node { input: "t" output: "y" op_type: "Cast"
       attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" } } } } } output { name:
       "y" }})",
     DType::kFloat32, {4},
     {0, 3, 7, 2},
     {10, 13, -5, 12},
     1e-05},
    {"LabelEncoder to floats",
     R"(graph { node { input: "x" output: "i" op_type: "Cast" attribute { name: "to" i: 7
       type: INT } } node { input: "i" output: "t" op_type: "LabelEncoder" attribute { name:
       "default_float" f: 9.0 type: FLOAT } attribute { name: "keys_int64s" ints: 0 ints: 2
       ints: 3 type: INTS } attribute { name: "values_floats" floats: 0.5 floats: 0.25
       floats: 0.75 type: FLOATS } domain: "ai.onnx.ml" } node { input: "t" output: "y"
       op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "x_0" } } } } } output {
       name: "y" }})",
     DType::kFloat32, {4},
     {0, 3, 7, 2},
     {0.5, 0.75, 9, 0.25},
     1e-05},
    {"LinearRegressor",
     R"(graph { node { input: "x" output: "t" op_type: "LinearRegressor" attribute { name:
       "coefficients" floats: -1.0 floats: 1.625 floats: 0.25 floats: -1.75 floats: -0.125
       floats: -1.125 type: FLOATS } attribute { name: "intercepts" floats: 0.5 floats: -0.5
       type: FLOATS } attribute { name: "targets" i: 2 type: INT } domain: "ai.onnx.ml" }
       node { input: "t" output: "yf" op_type: "Cast" attribute { name: "to" i: 1 type: INT
       } } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "n" } dim { dim_value: 3 } } } } } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {-1.046875, 1.265625, 1.984375, -1.4375, -0.03125, -0.375, -1.03125, -1.96875},
     1e-05},
    {"LinearClassifier of three, labels",
     R"(graph { node { input: "x" output: "t" output: "s" op_type: "LinearClassifier"
       attribute { name: "classlabels_ints" ints: 3 ints: 5 ints: 9 type: INTS } attribute {
       name: "coefficients" floats: -1.0 floats: 1.625 floats: 0.25 floats: -1.75 floats:
       -0.125 floats: -1.125 floats: -0.625 floats: -0.5 floats: -0.75 type: FLOATS }
       attribute { name: "intercepts" floats: 0.1 floats: 0.2 floats: 0.3 type: FLOATS }
       attribute { name: "post_transform" s: "SOFTMAX" type: STRING } domain: "ai.onnx.ml" }
       node { input: "t" output: "lf" op_type: "Cast" attribute { name: "to" i: 1 type: INT
       } } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "n" } dim { dim_value: 3 } } } } } output { name: "lf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {5, 3, 9, 9},
     1e-05},
    {"LinearClassifier of two, labels",
     R"(graph { node { input: "x" output: "t" output: "s" op_type: "LinearClassifier"
       attribute { name: "classlabels_ints" ints: 3 ints: 5 type: INTS } attribute { name:
       "coefficients" floats: -1.0 floats: 1.625 floats: 0.25 type: FLOATS } attribute {
       name: "intercepts" floats: 0.1 type: FLOATS } attribute { name: "post_transform" s:
       "LOGISTIC" type: STRING } domain: "ai.onnx.ml" } node { input: "t" output: "lf"
       op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 }
       } } } } output { name: "lf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {3, 5, 3, 3},
     1e-05},
    {"LinearClassifier of three, scores",
     R"(graph { node { input: "x" output: "l" output: "t" op_type: "LinearClassifier"
       attribute { name: "classlabels_ints" ints: 3 ints: 5 ints: 9 type: INTS } attribute {
       name: "coefficients" floats: -1.0 floats: 1.625 floats: 0.25 floats: -1.75 floats:
       -0.125 floats: -1.125 floats: -0.625 floats: -0.5 floats: -0.75 type: FLOATS }
       attribute { name: "intercepts" floats: 0.1 floats: 0.2 floats: 0.3 type: FLOATS }
       attribute { name: "post_transform" s: "SOFTMAX" type: STRING } domain: "ai.onnx.ml" }
       node { input: "t" output: "sf" op_type: "Cast" attribute { name: "to" i: 1 type: INT
       } } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "n" } dim { dim_value: 3 } } } } } output { name: "sf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {0.01875053532421589, 0.5689099431037903, 0.4123395085334778, 0.8252884149551392,
      0.08095211535692215, 0.09375949949026108, 0.18232908844947815, 0.38841065764427185,
      0.4292601943016052, 0.14736276865005493, 0.17336469888687134, 0.6792725324630737},
     1e-05},
    {"LinearClassifier of two, scores",
     R"(graph { node { input: "x" output: "l" output: "t" op_type: "LinearClassifier"
       attribute { name: "classlabels_ints" ints: 3 ints: 5 type: INTS } attribute { name:
       "coefficients" floats: -1.0 floats: 1.625 floats: 0.25 type: FLOATS } attribute {
       name: "intercepts" floats: 0.1 type: FLOATS } attribute { name: "post_transform" s:
       "LOGISTIC" type: STRING } domain: "ai.onnx.ml" } node { input: "t" output: "sf"
       op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 }
       } } } } output { name: "sf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {0.8095170259475708, 0.1904829740524292, 0.17017680406570435, 0.8298231959342957,
      0.6061721444129944, 0.3938278555870056, 0.807096004486084, 0.19290399551391602},
     1e-05},
    {"OneHotEncoder without zeros",
     R"(graph { node { input: "x" output: "i" op_type: "Cast" attribute { name: "to" i: 7
       type: INT } domain: "" } node { input: "i" output: "y" op_type: "OneHotEncoder"
       attribute { name: "cats_int64s" ints: [1, 5, 7] type: INTS } attribute { name: "zeros"
       i: 0 type: INT } domain: "ai.onnx.ml" } name: "g" input { name: "x" type { tensor_type
       { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } } } } } output
       { name: "y" } })",
     DType::kFloat32, {2, 2},
     {5, 1, 7, 7},
     {0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1},
     0.0001},
    {"LinearRegressor of open features",
     R"(graph { node { input: "x" output: "y" op_type: "LinearRegressor" attribute { name:
       "coefficients" floats: [1.0, 2.0, -3.0, 0.5, 0.25, 2.0] type: FLOATS } attribute {
       name: "intercepts" floats: [0.5, -1.0] type: FLOATS } attribute { name: "targets" i: 2
       type: INT } domain: "ai.onnx.ml" } name: "g" input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } } } } } output {
       name: "y" } })",
     DType::kFloat32, {3, 3},
     {0.125, 1.125, -1.875, 0, 0.125, -1.125, 0.5, 0.75, -1.75},
     {8.5, -4.40625, 4.125, -3.21875, 7.75, -4.0625},
     0.0001},
};
// clang-format on

TEST_CASE("operators of ai.onnx.ml: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

// The values that support vector machines give, against those of other systems or of their
// definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30:
    {"SVMClassifier, labels",
     R"(graph { node { input: "x" output: "t" output: "s" op_type: "SVMClassifier" attribute
       { name: "classlabels_ints" ints: 3 ints: 5 ints: 9 type: INTS } attribute { name:
       "coefficients" floats: -2.125 floats: -0.625 floats: 1.75 floats: 0.25 floats: -0.25
       floats: 0.375 floats: 0.375 floats: 0.125 floats: 0.625 floats: -1.625 floats: 0.625
       floats: -0.625 type: FLOATS } attribute { name: "kernel_params" floats: 0.5 floats:
       0.0 floats: 0.0 type: FLOATS } attribute { name: "kernel_type" s: "RBF" type: STRING
       } attribute { name: "rho" floats: 0.25 floats: -0.5 floats: 0.125 type: FLOATS }
       attribute { name: "support_vectors" floats: 0.75 floats: -1.0 floats: -1.625 floats:
       -2.875 floats: -0.375 floats: 1.25 floats: 0.0 floats: 0.5 floats: 1.0 floats: -0.875
       floats: 2.625 floats: -0.875 floats: 0.375 floats: 2.75 floats: -0.125 floats: 0.125
       floats: -0.5 floats: 0.375 type: FLOATS } attribute { name: "vectors_per_class" ints:
       2 ints: 3 ints: 1 type: INTS } domain: "ai.onnx.ml" } node { input: "t" output: "lf"
       op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 }
       } } } } output { name: "lf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {9, 3, 9, 5},
     1e-05},
    {"SVMClassifier, probabilities, labels",
     R"(graph { node { input: "x" output: "t" output: "s" op_type: "SVMClassifier" attribute
       { name: "classlabels_ints" ints: 3 ints: 5 ints: 9 type: INTS } attribute { name:
       "coefficients" floats: -2.125 floats: -0.625 floats: 1.75 floats: 0.25 floats: -0.25
       floats: 0.375 floats: 0.375 floats: 0.125 floats: 0.625 floats: -1.625 floats: 0.625
       floats: -0.625 type: FLOATS } attribute { name: "kernel_params" floats: 0.5 floats:
       0.0 floats: 0.0 type: FLOATS } attribute { name: "kernel_type" s: "RBF" type: STRING
       } attribute { name: "prob_a" floats: -1.0 floats: -0.5 floats: -2.0 type: FLOATS }
       attribute { name: "prob_b" floats: 0.1 floats: 0.0 floats: -0.1 type: FLOATS }
       attribute { name: "rho" floats: 0.25 floats: -0.5 floats: 0.125 type: FLOATS }
       attribute { name: "support_vectors" floats: 0.75 floats: -1.0 floats: -1.625 floats:
       -2.875 floats: -0.375 floats: 1.25 floats: 0.0 floats: 0.5 floats: 1.0 floats: -0.875
       floats: 2.625 floats: -0.875 floats: 0.375 floats: 2.75 floats: -0.125 floats: 0.125
       floats: -0.5 floats: 0.375 type: FLOATS } attribute { name: "vectors_per_class" ints:
       2 ints: 3 ints: 1 type: INTS } domain: "ai.onnx.ml" } node { input: "t" output: "lf"
       op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 }
       } } } } output { name: "lf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {9, 3, 9, 5},
     0.0001},
    {"SVMClassifier, scores",
     R"(graph { node { input: "x" output: "l" output: "t" op_type: "SVMClassifier" attribute
       { name: "classlabels_ints" ints: 3 ints: 5 ints: 9 type: INTS } attribute { name:
       "coefficients" floats: -2.125 floats: -0.625 floats: 1.75 floats: 0.25 floats: -0.25
       floats: 0.375 floats: 0.375 floats: 0.125 floats: 0.625 floats: -1.625 floats: 0.625
       floats: -0.625 type: FLOATS } attribute { name: "kernel_params" floats: 0.5 floats:
       0.0 floats: 0.0 type: FLOATS } attribute { name: "kernel_type" s: "RBF" type: STRING
       } attribute { name: "rho" floats: 0.25 floats: -0.5 floats: 0.125 type: FLOATS }
       attribute { name: "support_vectors" floats: 0.75 floats: -1.0 floats: -1.625 floats:
       -2.875 floats: -0.375 floats: 1.25 floats: 0.0 floats: 0.5 floats: 1.0 floats: -0.875
       floats: 2.625 floats: -0.875 floats: 0.375 floats: 2.75 floats: -0.125 floats: 0.125
       floats: -0.5 floats: 0.375 type: FLOATS } attribute { name: "vectors_per_class" ints:
       2 ints: 3 ints: 1 type: INTS } domain: "ai.onnx.ml" } node { input: "t" output: "sf"
       op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 }
       } } } } output { name: "sf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {0.0915888100862503, -0.30988261103630066, -0.07722014933824539, 1.0774924755096436,
      -0.39790794253349304, 0.3102678656578064, 0.8484416007995605, -0.2052811235189438,
      -0.09543102979660034, -0.334434449672699, -0.366327166557312, 0.09967970848083496},
     1e-05},
    {"SVMClassifier, probabilities, scores",
     R"(graph { node { input: "x" output: "l" output: "t" op_type: "SVMClassifier" attribute
       { name: "classlabels_ints" ints: 3 ints: 5 ints: 9 type: INTS } attribute { name:
       "coefficients" floats: -2.125 floats: -0.625 floats: 1.75 floats: 0.25 floats: -0.25
       floats: 0.375 floats: 0.375 floats: 0.125 floats: 0.625 floats: -1.625 floats: 0.625
       floats: -0.625 type: FLOATS } attribute { name: "kernel_params" floats: 0.5 floats:
       0.0 floats: 0.0 type: FLOATS } attribute { name: "kernel_type" s: "RBF" type: STRING
       } attribute { name: "prob_a" floats: -1.0 floats: -0.5 floats: -2.0 type: FLOATS }
       attribute { name: "prob_b" floats: 0.1 floats: 0.0 floats: -0.1 type: FLOATS }
       attribute { name: "rho" floats: 0.25 floats: -0.5 floats: 0.125 type: FLOATS }
       attribute { name: "support_vectors" floats: 0.75 floats: -1.0 floats: -1.625 floats:
       -2.875 floats: -0.375 floats: 1.25 floats: 0.0 floats: 0.5 floats: 1.0 floats: -0.875
       floats: 2.625 floats: -0.875 floats: 0.375 floats: 2.75 floats: -0.125 floats: 0.125
       floats: -0.5 floats: 0.375 type: FLOATS } attribute { name: "vectors_per_class" ints:
       2 ints: 3 ints: 1 type: INTS } domain: "ai.onnx.ml" } node { input: "t" output: "sf"
       op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 }
       } } } } output { name: "sf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {0.3145202696323395, 0.3286837339401245, 0.356795996427536, 0.4209936559200287,
      0.2810857594013214, 0.29792046546936035, 0.3904282748699188, 0.2474968582391739,
      0.36207494139671326, 0.26846370100975037, 0.4171629846096039, 0.31437331438064575},
     0.0001},
    {"SVMRegressor POLY",
     R"(graph { node { input: "x" output: "t" op_type: "SVMRegressor" attribute { name:
       "coefficients" floats: 0.375 floats: -0.375 floats: 0.625 floats: 0.375 type: FLOATS
       } attribute { name: "kernel_params" floats: 0.5 floats: 0.25 floats: 3.0 type: FLOATS
       } attribute { name: "kernel_type" s: "POLY" type: STRING } attribute { name:
       "n_supports" i: 4 type: INT } attribute { name: "rho" floats: 0.5 type: FLOATS }
       attribute { name: "support_vectors" floats: 1.25 floats: -0.0 floats: 0.875 floats:
       1.625 floats: 0.5 floats: -0.625 floats: 0.375 floats: 0.5 floats: 2.125 floats:
       -0.375 floats: -1.5 floats: 0.25 type: FLOATS } domain: "ai.onnx.ml" } node { input:
       "t" output: "yf" op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g"
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" }
       dim { dim_value: 3 } } } } } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {1.508646011352539, 0.5142730474472046, 1.2349848747253418, -2.715770959854126},
     1e-05},
    {"SVMRegressor SIGMOID",
     R"(graph { node { input: "x" output: "t" op_type: "SVMRegressor" attribute { name:
       "coefficients" floats: -0.125 floats: -0.125 floats: 0.0 floats: -1.125 type: FLOATS
       } attribute { name: "kernel_params" floats: 0.25 floats: 0.1 floats: 0.0 type: FLOATS
       } attribute { name: "kernel_type" s: "SIGMOID" type: STRING } attribute { name:
       "n_supports" i: 4 type: INT } attribute { name: "rho" floats: 0.5 type: FLOATS }
       attribute { name: "support_vectors" floats: 1.25 floats: -0.875 floats: -0.75 floats:
       -0.0 floats: -0.5 floats: 1.25 floats: 0.625 floats: -0.0 floats: 1.5 floats: 0.5
       floats: 1.0 floats: 0.75 type: FLOATS } domain: "ai.onnx.ml" } node { input: "t"
       output: "yf" op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g"
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" }
       dim { dim_value: 3 } } } } } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {0.8621301651000977, 0.030651956796646118, 0.46417751908302307, 0.3099621832370758},
     1e-05},
    {"SVMRegressor of open features",
     R"(graph { node { input: "x" output: "y" op_type: "SVMRegressor" attribute { name:
       "coefficients" floats: [0.5, -0.3, 0.7] type: FLOATS } attribute { name:
       "kernel_params" floats: [0.5, 0.3, 2.0] type: FLOATS } attribute { name: "kernel_type"
       s: "RBF" type: STRING } attribute { name: "n_supports" i: 3 type: INT } attribute {
       name: "rho" floats: 0.1 type: FLOATS } attribute { name: "support_vectors" floats:
       [1.75, -0.125, 0.75, 1.75, 1.25, -1.875, 0.0, -1.875, 1.875] type: FLOATS } domain:
       "ai.onnx.ml" } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "d0" } dim { dim_param: "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {4, 3},
     {-1.625, -1.625, 0.625, -0.5, 1.5, -0.875, -1.5, -0.125, 1.375, 0.375, -1.125, 0.875},
     {0.183493197, 0.0888531134, 0.145461529, 0.515484214},
     0.0001},
};
// clang-format on

TEST_CASE("support vector machines: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

// The classes and scores that tree ensembles give, against those of other systems or of their
// definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

using import::testing::ImportText;
using import::testing::Node;
using import::testing::Tensor;

Value Of(const std::vector<int64_t>& dims, const std::vector<float>& elements) {
  return *Value::CopyTensor(DType::kFloat32, dims, elements.data());
}

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30:
    {"TreeEnsembleClassifier of three, labels",
     R"(graph { node { input: "x" output: "t" output: "s" op_type: "TreeEnsembleClassifier"
       attribute { name: "class_ids" ints: 2 ints: 0 ints: 0 ints: 2 ints: 1 ints: 1 ints: 2
       ints: 0 ints: 1 ints: 2 ints: 0 ints: 1 ints: 1 ints: 1 ints: 2 ints: 0 ints: 1 ints:
       2 type: INTS } attribute { name: "class_nodeids" ints: 2 ints: 3 ints: 5 ints: 5
       ints: 6 ints: 2 ints: 2 ints: 3 ints: 3 ints: 3 ints: 4 ints: 2 ints: 3 ints: 5 ints:
       5 ints: 6 ints: 6 ints: 6 type: INTS } attribute { name: "class_treeids" ints: 0
       ints: 0 ints: 0 ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints:
       2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name:
       "class_weights" floats: -1.8473248 floats: 0.68037844 floats: -0.87034065 floats:
       -0.67056584 floats: -1.4924638 floats: 1.0428755 floats: -0.81351554 floats:
       -1.2845808 floats: -0.83816695 floats: 0.12643455 floats: 0.8219243 floats:
       -0.43906218 floats: -0.10496319 floats: 1.7911755 floats: 0.8831318 floats: 1.2571886
       floats: 0.5669455 floats: -1.5996693 type: FLOATS } attribute { name:
       "classlabels_int64s" ints: 4 ints: 5 ints: 6 type: INTS } attribute { name:
       "nodes_falsenodeids" ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 ints: 4
       ints: 3 ints: 0 ints: 0 ints: 0 ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints:
       0 type: INTS } attribute { name: "nodes_featureids" ints: 0 ints: 0 ints: 1 ints: 0
       ints: 0 ints: 2 ints: 2 ints: 1 ints: 0 ints: 0 ints: 1 ints: 0 ints: 0 ints: 2 ints:
       0 ints: 0 ints: 1 ints: 0 ints: 0 type: INTS } attribute { name: "nodes_hitrates"
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 type: FLOATS } attribute
       { name: "nodes_modes" strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF"
       strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings: "LEAF"
       strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" type: STRINGS } attribute { name:
       "nodes_nodeids" ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 ints: 0 ints:
       1 ints: 2 ints: 3 ints: 4 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6
       type: INTS } attribute { name: "nodes_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints:
       0 ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2
       ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name: "nodes_truenodeids"
       ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 ints: 1 ints: 2 ints: 0 ints:
       0 ints: 0 ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 type: INTS }
       attribute { name: "nodes_values" floats: 0.9518233 floats: -0.35721496 floats:
       -0.36916894 floats: 1.0965842 floats: -0.14177091 floats: -0.10695033 floats:
       -0.56983757 floats: 0.62807447 floats: 0.26949567 floats: 0.50206506 floats:
       0.17328201 floats: -0.517153 floats: -0.93238586 floats: 0.42194378 floats:
       0.24292107 floats: 0.23999606 floats: 0.42364138 floats: -0.12461752 floats:
       -0.06570254 type: FLOATS } attribute { name: "post_transform" s: "SOFTMAX" type:
       STRING } domain: "ai.onnx.ml" } node { input: "t" output: "lf" op_type: "Cast"
       attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 } } } }
       } output { name: "lf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {5, 4, 5, 6},
     1e-05},
    {"TreeEnsembleClassifier of two, probabilities, labels",
     R"(graph { node { input: "x" output: "t" output: "s" op_type: "TreeEnsembleClassifier"
       attribute { name: "class_ids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0
       ints: 0 ints: 0 type: INTS } attribute { name: "class_nodeids" ints: 1 ints: 2 ints:
       1 ints: 3 ints: 4 ints: 2 ints: 3 ints: 5 ints: 6 type: INTS } attribute { name:
       "class_treeids" ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2 ints:
       2 type: INTS } attribute { name: "class_weights" floats: 0.34988925 floats: 0.8963094
       floats: 0.25795496 floats: 0.2587711 floats: 0.6705105 floats: 0.87155586 floats:
       0.21938993 floats: 0.13435173 floats: 0.9456007 type: FLOATS } attribute { name:
       "classlabels_int64s" ints: 4 ints: 5 type: INTS } attribute { name:
       "nodes_falsenodeids" ints: 2 ints: 0 ints: 0 ints: 2 ints: 0 ints: 4 ints: 0 ints: 0
       ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 type: INTS } attribute {
       name: "nodes_featureids" ints: 1 ints: 0 ints: 2 ints: 2 ints: 1 ints: 1 ints: 2
       ints: 1 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 1 ints: 1 type: INTS }
       attribute { name: "nodes_hitrates" floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 type: FLOATS } attribute { name:
       "nodes_modes" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF"
       strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" type: STRINGS } attribute { name:
       "nodes_nodeids" ints: 0 ints: 1 ints: 2 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints:
       0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 type: INTS } attribute { name:
       "nodes_treeids" ints: 0 ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints:
       2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name:
       "nodes_truenodeids" ints: 1 ints: 0 ints: 0 ints: 1 ints: 0 ints: 3 ints: 0 ints: 0
       ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 type: INTS } attribute {
       name: "nodes_values" floats: 0.7323003 floats: 0.5067696 floats: -0.9244642 floats:
       0.6991346 floats: -1.3375381 floats: 1.2427726 floats: 0.66454464 floats: 0.4290036
       floats: -0.34816042 floats: -0.4238164 floats: -0.19836277 floats: 0.53642946 floats:
       -0.38215798 floats: -0.945593 floats: 0.13401908 type: FLOATS } domain: "ai.onnx.ml"
       } node { input: "t" output: "lf" op_type: "Cast" attribute { name: "to" i: 1 type:
       INT } } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "n" } dim { dim_value: 3 } } } } } output { name: "lf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {5, 5, 5, 5},
     1e-05},
    {"TreeEnsembleClassifier of two, base and logistic, labels",
     R"(graph { node { input: "x" output: "t" output: "s" op_type: "TreeEnsembleClassifier"
       attribute { name: "base_values" floats: -0.25 type: FLOATS } attribute { name:
       "class_ids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0
       ints: 0 ints: 0 type: INTS } attribute { name: "class_nodeids" ints: 2 ints: 3 ints:
       5 ints: 6 ints: 1 ints: 3 ints: 4 ints: 2 ints: 3 ints: 5 ints: 6 type: INTS }
       attribute { name: "class_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 1 ints: 1
       ints: 1 ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name:
       "class_weights" floats: 1.8272586 floats: -0.51622945 floats: 0.7194407 floats:
       -0.36771372 floats: 0.4174656 floats: -0.95012355 floats: -1.4804236 floats:
       1.0511252 floats: -0.26213145 floats: -0.73482835 floats: 0.46185473 type: FLOATS }
       attribute { name: "classlabels_int64s" ints: 4 ints: 5 type: INTS } attribute { name:
       "nodes_falsenodeids" ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 ints: 2
       ints: 0 ints: 4 ints: 0 ints: 0 ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints:
       0 type: INTS } attribute { name: "nodes_featureids" ints: 2 ints: 2 ints: 0 ints: 0
       ints: 2 ints: 0 ints: 1 ints: 2 ints: 0 ints: 2 ints: 1 ints: 0 ints: 0 ints: 1 ints:
       0 ints: 0 ints: 1 ints: 2 ints: 2 type: INTS } attribute { name: "nodes_hitrates"
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 type: FLOATS } attribute
       { name: "nodes_modes" strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF"
       strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF"
       strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" type: STRINGS } attribute { name:
       "nodes_nodeids" ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 ints: 0 ints:
       1 ints: 2 ints: 3 ints: 4 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6
       type: INTS } attribute { name: "nodes_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints:
       0 ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2
       ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name: "nodes_truenodeids"
       ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 ints: 1 ints: 0 ints: 3 ints:
       0 ints: 0 ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 type: INTS }
       attribute { name: "nodes_values" floats: -2.1548324 floats: 0.04874606 floats:
       0.26994047 floats: 0.022220632 floats: -0.24978755 floats: -0.17311268 floats:
       -0.34575397 floats: -1.2647532 floats: 0.9360942 floats: 1.075977 floats: 1.0365344
       floats: 0.8810327 floats: 0.74541354 floats: -0.25699624 floats: -0.23996001 floats:
       0.6235876 floats: -1.0149118 floats: -0.37159842 floats: 0.16516481 type: FLOATS }
       attribute { name: "post_transform" s: "LOGISTIC" type: STRING } domain: "ai.onnx.ml"
       } node { input: "t" output: "lf" op_type: "Cast" attribute { name: "to" i: 1 type:
       INT } } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "n" } dim { dim_value: 3 } } } } } output { name: "lf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {5, 4, 4, 4},
     1e-05},
    {"TreeEnsembleClassifier of three, scores",
     R"(graph { node { input: "x" output: "l" output: "t" op_type: "TreeEnsembleClassifier"
       attribute { name: "class_ids" ints: 2 ints: 0 ints: 0 ints: 2 ints: 1 ints: 1 ints: 2
       ints: 0 ints: 1 ints: 2 ints: 0 ints: 1 ints: 1 ints: 1 ints: 2 ints: 0 ints: 1 ints:
       2 type: INTS } attribute { name: "class_nodeids" ints: 2 ints: 3 ints: 5 ints: 5
       ints: 6 ints: 2 ints: 2 ints: 3 ints: 3 ints: 3 ints: 4 ints: 2 ints: 3 ints: 5 ints:
       5 ints: 6 ints: 6 ints: 6 type: INTS } attribute { name: "class_treeids" ints: 0
       ints: 0 ints: 0 ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints:
       2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name:
       "class_weights" floats: -1.8473248 floats: 0.68037844 floats: -0.87034065 floats:
       -0.67056584 floats: -1.4924638 floats: 1.0428755 floats: -0.81351554 floats:
       -1.2845808 floats: -0.83816695 floats: 0.12643455 floats: 0.8219243 floats:
       -0.43906218 floats: -0.10496319 floats: 1.7911755 floats: 0.8831318 floats: 1.2571886
       floats: 0.5669455 floats: -1.5996693 type: FLOATS } attribute { name:
       "classlabels_int64s" ints: 4 ints: 5 ints: 6 type: INTS } attribute { name:
       "nodes_falsenodeids" ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 ints: 4
       ints: 3 ints: 0 ints: 0 ints: 0 ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints:
       0 type: INTS } attribute { name: "nodes_featureids" ints: 0 ints: 0 ints: 1 ints: 0
       ints: 0 ints: 2 ints: 2 ints: 1 ints: 0 ints: 0 ints: 1 ints: 0 ints: 0 ints: 2 ints:
       0 ints: 0 ints: 1 ints: 0 ints: 0 type: INTS } attribute { name: "nodes_hitrates"
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 type: FLOATS } attribute
       { name: "nodes_modes" strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF"
       strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings: "LEAF"
       strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" type: STRINGS } attribute { name:
       "nodes_nodeids" ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 ints: 0 ints:
       1 ints: 2 ints: 3 ints: 4 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6
       type: INTS } attribute { name: "nodes_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints:
       0 ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2
       ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name: "nodes_truenodeids"
       ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 ints: 1 ints: 2 ints: 0 ints:
       0 ints: 0 ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 type: INTS }
       attribute { name: "nodes_values" floats: 0.9518233 floats: -0.35721496 floats:
       -0.36916894 floats: 1.0965842 floats: -0.14177091 floats: -0.10695033 floats:
       -0.56983757 floats: 0.62807447 floats: 0.26949567 floats: 0.50206506 floats:
       0.17328201 floats: -0.517153 floats: -0.93238586 floats: 0.42194378 floats:
       0.24292107 floats: 0.23999606 floats: 0.42364138 floats: -0.12461752 floats:
       -0.06570254 type: FLOATS } attribute { name: "post_transform" s: "SOFTMAX" type:
       STRING } domain: "ai.onnx.ml" } node { input: "t" output: "sf" op_type: "Cast"
       attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 } } } }
       } output { name: "sf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {0.05499560385942459, 0.9357088208198547, 0.009295628406107426, 0.8893463015556335,
      0.09927967190742493, 0.011373952031135559, 0.05499560385942459, 0.9357088208198547,
      0.009295628406107426, 0.07678911089897156, 0.16177204251289368, 0.7614388465881348},
     1e-05},
    {"TreeEnsembleClassifier of two, probabilities, scores",
     R"(graph { node { input: "x" output: "l" output: "t" op_type: "TreeEnsembleClassifier"
       attribute { name: "class_ids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0
       ints: 0 ints: 0 type: INTS } attribute { name: "class_nodeids" ints: 1 ints: 2 ints:
       1 ints: 3 ints: 4 ints: 2 ints: 3 ints: 5 ints: 6 type: INTS } attribute { name:
       "class_treeids" ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2 ints:
       2 type: INTS } attribute { name: "class_weights" floats: 0.34988925 floats: 0.8963094
       floats: 0.25795496 floats: 0.2587711 floats: 0.6705105 floats: 0.87155586 floats:
       0.21938993 floats: 0.13435173 floats: 0.9456007 type: FLOATS } attribute { name:
       "classlabels_int64s" ints: 4 ints: 5 type: INTS } attribute { name:
       "nodes_falsenodeids" ints: 2 ints: 0 ints: 0 ints: 2 ints: 0 ints: 4 ints: 0 ints: 0
       ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 type: INTS } attribute {
       name: "nodes_featureids" ints: 1 ints: 0 ints: 2 ints: 2 ints: 1 ints: 1 ints: 2
       ints: 1 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 1 ints: 1 type: INTS }
       attribute { name: "nodes_hitrates" floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 type: FLOATS } attribute { name:
       "nodes_modes" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF"
       strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" type: STRINGS } attribute { name:
       "nodes_nodeids" ints: 0 ints: 1 ints: 2 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints:
       0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 type: INTS } attribute { name:
       "nodes_treeids" ints: 0 ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints:
       2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name:
       "nodes_truenodeids" ints: 1 ints: 0 ints: 0 ints: 1 ints: 0 ints: 3 ints: 0 ints: 0
       ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 type: INTS } attribute {
       name: "nodes_values" floats: 0.7323003 floats: 0.5067696 floats: -0.9244642 floats:
       0.6991346 floats: -1.3375381 floats: 1.2427726 floats: 0.66454464 floats: 0.4290036
       floats: -0.34816042 floats: -0.4238164 floats: -0.19836277 floats: 0.53642946 floats:
       -0.38215798 floats: -0.945593 floats: 0.13401908 type: FLOATS } domain: "ai.onnx.ml"
       } node { input: "t" output: "sf" op_type: "Cast" attribute { name: "to" i: 1 type:
       INT } } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "n" } dim { dim_value: 3 } } } } } output { name: "sf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {-0.5534448623657227, 1.5534448623657227, -1.0998649597167969, 2.099864959716797,
      -0.5542609691619873, 1.5542609691619873, -0.4794001579284668, 1.4794001579284668},
     1e-05},
    {"TreeEnsembleClassifier of two, base and logistic, scores",
     R"(graph { node { input: "x" output: "l" output: "t" op_type: "TreeEnsembleClassifier"
       attribute { name: "base_values" floats: -0.25 type: FLOATS } attribute { name:
       "class_ids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0
       ints: 0 ints: 0 type: INTS } attribute { name: "class_nodeids" ints: 2 ints: 3 ints:
       5 ints: 6 ints: 1 ints: 3 ints: 4 ints: 2 ints: 3 ints: 5 ints: 6 type: INTS }
       attribute { name: "class_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 1 ints: 1
       ints: 1 ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name:
       "class_weights" floats: 1.8272586 floats: -0.51622945 floats: 0.7194407 floats:
       -0.36771372 floats: 0.4174656 floats: -0.95012355 floats: -1.4804236 floats:
       1.0511252 floats: -0.26213145 floats: -0.73482835 floats: 0.46185473 type: FLOATS }
       attribute { name: "classlabels_int64s" ints: 4 ints: 5 type: INTS } attribute { name:
       "nodes_falsenodeids" ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 ints: 2
       ints: 0 ints: 4 ints: 0 ints: 0 ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints:
       0 type: INTS } attribute { name: "nodes_featureids" ints: 2 ints: 2 ints: 0 ints: 0
       ints: 2 ints: 0 ints: 1 ints: 2 ints: 0 ints: 2 ints: 1 ints: 0 ints: 0 ints: 1 ints:
       0 ints: 0 ints: 1 ints: 2 ints: 2 type: INTS } attribute { name: "nodes_hitrates"
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 type: FLOATS } attribute
       { name: "nodes_modes" strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF"
       strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF"
       strings: "BRANCH_LEQ" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" type: STRINGS } attribute { name:
       "nodes_nodeids" ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 ints: 0 ints:
       1 ints: 2 ints: 3 ints: 4 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6
       type: INTS } attribute { name: "nodes_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints:
       0 ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2
       ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name: "nodes_truenodeids"
       ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 ints: 1 ints: 0 ints: 3 ints:
       0 ints: 0 ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 type: INTS }
       attribute { name: "nodes_values" floats: -2.1548324 floats: 0.04874606 floats:
       0.26994047 floats: 0.022220632 floats: -0.24978755 floats: -0.17311268 floats:
       -0.34575397 floats: -1.2647532 floats: 0.9360942 floats: 1.075977 floats: 1.0365344
       floats: 0.8810327 floats: 0.74541354 floats: -0.25699624 floats: -0.23996001 floats:
       0.6235876 floats: -1.0149118 floats: -0.37159842 floats: 0.16516481 type: FLOATS }
       attribute { name: "post_transform" s: "LOGISTIC" type: STRING } domain: "ai.onnx.ml"
       } node { input: "t" output: "sf" op_type: "Cast" attribute { name: "to" i: 1 type:
       INT } } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim {
       dim_param: "n" } dim { dim_value: 3 } } } } } output { name: "sf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {0.3611348271369934, 0.6388651728630066, 0.8617579936981201, 0.13824200630187988,
      0.6263786554336548, 0.3736213445663452, 0.504706859588623, 0.49529314041137695},
     1e-05},
};
// clang-format on

TEST_CASE("classifiers of trees: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

TEST_CASE("tree ensembles: a class that no leaf of the row has a weight for is not its label") {
  const auto ints = [](const char* name, const std::vector<int>& values) {
    return fmt::format("attribute {{ name: '{}' type: INTS ints: [{}] }} ", name,
                       fmt::join(values, ", "));
  };
  const auto floats = [](const char* name, const std::vector<double>& values) {
    return fmt::format("attribute {{ name: '{}' type: FLOATS floats: [{}] }} ", name,
                       fmt::join(values, ", "));
  };
  std::string node =
      Node("TreeEnsembleClassifier", "x", "y s",
           ints("nodes_treeids", {0, 0, 0}) + ints("nodes_nodeids", {0, 1, 2}) +
               ints("nodes_featureids", {0, 0, 0}) + ints("nodes_truenodeids", {1, 0, 0}) +
               ints("nodes_falsenodeids", {2, 0, 0}) + floats("nodes_values", {0.5, 0, 0}) +
               ints("class_treeids", {0, 0, 0}) + ints("class_nodeids", {1, 2, 2}) +
               ints("class_ids", {1, 0, 2}) + floats("class_weights", {-2, -1, -0.5}) +
               ints("classlabels_int64s", {10, 11, 12}) +
               "attribute { name: 'nodes_modes' type: STRINGS strings: ['BRANCH_LEQ', 'LEAF', "
               "'LEAF'] } ");
  node.insert(node.find("op_type"), "domain: 'ai.onnx.ml' ");
  const auto run = Runnable(ImportText(
      "ir_version: 8 opset_import { domain: 'ai.onnx.ml' version: 3 } opset_import { version: 17 } "
      "graph { name: 'g' " +
      node + Tensor("input", "x", {"n", "1"}) + "output { name: 'y' } output { name: 's' } }"));
  auto result = run->Run("main", {Of({2, 1}, {0, 1})});
  REQUIRE_MESSAGE(result.ok(), result.status().ToString());
  CHECK(result->field(0).element(0) == 11);
  CHECK(result->field(0).element(1) == 12);
}

}  // namespace
}  // namespace relayvm

// The values that tree ensembles give, against those of other systems or of their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30:
    {"TreeEnsembleRegressor SUM",
     R"(graph { node { input: "x" output: "t" op_type: "TreeEnsembleRegressor" attribute {
       name: "aggregate_function" s: "SUM" type: STRING } attribute { name: "base_values"
       floats: 0.5 floats: 0.25 type: FLOATS } attribute { name: "n_targets" i: 2 type: INT
       } attribute { name: "nodes_falsenodeids" ints: 4 ints: 3 ints: 0 ints: 0 ints: 0
       ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 ints: 4 ints: 3 ints: 0 ints:
       0 ints: 0 type: INTS } attribute { name: "nodes_featureids" ints: 2 ints: 2 ints: 0
       ints: 1 ints: 0 ints: 2 ints: 2 ints: 1 ints: 2 ints: 2 ints: 1 ints: 0 ints: 2 ints:
       0 ints: 0 ints: 2 ints: 1 type: INTS } attribute { name: "nodes_hitrates" floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 type: FLOATS } attribute { name: "nodes_modes" strings:
       "BRANCH_GT" strings: "BRANCH_GT" strings: "LEAF" strings: "LEAF" strings: "LEAF"
       strings: "BRANCH_GT" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_GT" strings: "LEAF" strings: "LEAF" strings: "BRANCH_LEQ" strings:
       "BRANCH_GT" strings: "LEAF" strings: "LEAF" strings: "LEAF" type: STRINGS } attribute
       { name: "nodes_nodeids" ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 0 ints: 1 ints:
       2 ints: 3 ints: 4 ints: 5 ints: 6 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 type: INTS
       } attribute { name: "nodes_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 1
       ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2 ints: 2 ints:
       2 type: INTS } attribute { name: "nodes_truenodeids" ints: 1 ints: 2 ints: 0 ints: 0
       ints: 0 ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 ints: 1 ints: 2 ints:
       0 ints: 0 ints: 0 type: INTS } attribute { name: "nodes_values" floats: -0.014872688
       floats: -0.7049561 floats: -0.020018782 floats: 1.1335921 floats: 0.22620814 floats:
       1.002735 floats: -0.82009864 floats: 0.25135025 floats: 0.3006299 floats: -0.8235976
       floats: 0.62666804 floats: -0.28316808 floats: 0.27024335 floats: -0.048060093
       floats: -0.88201946 floats: 0.58316815 floats: -0.2681511 type: FLOATS } attribute {
       name: "target_ids" ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1
       ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints:
       0 ints: 1 type: INTS } attribute { name: "target_nodeids" ints: 2 ints: 2 ints: 3
       ints: 3 ints: 4 ints: 4 ints: 2 ints: 2 ints: 3 ints: 3 ints: 5 ints: 5 ints: 6 ints:
       6 ints: 2 ints: 2 ints: 3 ints: 3 ints: 4 ints: 4 type: INTS } attribute { name:
       "target_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 1 ints: 1
       ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2 ints: 2 ints:
       2 ints: 2 type: INTS } attribute { name: "target_weights" floats: 0.8530917 floats:
       -1.115056 floats: -0.3010613 floats: 1.3652658 floats: -0.5424503 floats: 0.4093645
       floats: 1.0888977 floats: -0.61942333 floats: -1.5243183 floats: -1.0397234 floats:
       0.2855663 floats: -0.23515624 floats: -0.5369294 floats: -0.46058843 floats:
       0.25194138 floats: 0.8667654 floats: -0.5716676 floats: 1.1513005 floats: -2.0009403
       floats: -0.3479885 type: FLOATS } domain: "ai.onnx.ml" } node { input: "t" output:
       "yf" op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim {
       dim_value: 3 } } } } } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {-0.32855165004730225, 1.5755088329315186, 1.8905994892120361, -0.23344695568084717,
      -0.36228227615356445, -1.4482008218765259, -0.3274384140968323, 1.0655415058135986},
     1e-05},
    {"TreeEnsembleRegressor AVERAGE",
     R"(graph { node { input: "x" output: "t" op_type: "TreeEnsembleRegressor" attribute {
       name: "aggregate_function" s: "AVERAGE" type: STRING } attribute { name:
       "base_values" floats: 0.5 floats: 0.25 type: FLOATS } attribute { name: "n_targets"
       i: 2 type: INT } attribute { name: "nodes_falsenodeids" ints: 4 ints: 3 ints: 0 ints:
       0 ints: 6 ints: 0 ints: 0 ints: 2 ints: 0 ints: 4 ints: 0 ints: 0 ints: 4 ints: 3
       ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 type: INTS } attribute { name:
       "nodes_featureids" ints: 0 ints: 2 ints: 0 ints: 0 ints: 0 ints: 1 ints: 0 ints: 0
       ints: 2 ints: 1 ints: 2 ints: 0 ints: 2 ints: 0 ints: 0 ints: 0 ints: 0 ints: 2 ints:
       1 type: INTS } attribute { name: "nodes_hitrates" floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0
       floats: 1.0 floats: 1.0 type: FLOATS } attribute { name: "nodes_modes" strings:
       "BRANCH_GT" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings: "BRANCH_GT" strings: "LEAF"
       strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings: "BRANCH_LEQ" strings:
       "BRANCH_GT" strings: "LEAF" strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF"
       strings: "LEAF" type: STRINGS } attribute { name: "nodes_nodeids" ints: 0 ints: 1
       ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints:
       0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 type: INTS } attribute { name:
       "nodes_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 1 ints:
       1 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2
       type: INTS } attribute { name: "nodes_truenodeids" ints: 1 ints: 2 ints: 0 ints: 0
       ints: 5 ints: 0 ints: 0 ints: 1 ints: 0 ints: 3 ints: 0 ints: 0 ints: 1 ints: 2 ints:
       0 ints: 0 ints: 5 ints: 0 ints: 0 type: INTS } attribute { name: "nodes_values"
       floats: -0.92030454 floats: -0.06447457 floats: -1.2953496 floats: 0.3642294 floats:
       0.66679746 floats: -0.22373909 floats: 0.9599417 floats: -0.1636822 floats: -0.722826
       floats: 0.6844104 floats: 0.66713196 floats: 0.5086661 floats: 1.2592995 floats:
       0.055559695 floats: -0.2013155 floats: -0.29159582 floats: -0.3799543 floats:
       -1.308291 floats: 0.21649201 type: FLOATS } attribute { name: "target_ids" ints: 0
       ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints:
       1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1
       type: INTS } attribute { name: "target_nodeids" ints: 2 ints: 2 ints: 3 ints: 3 ints:
       5 ints: 5 ints: 6 ints: 6 ints: 1 ints: 1 ints: 3 ints: 3 ints: 4 ints: 4 ints: 2
       ints: 2 ints: 3 ints: 3 ints: 5 ints: 5 ints: 6 ints: 6 type: INTS } attribute {
       name: "target_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints:
       0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints: 2 ints: 2
       ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name: "target_weights"
       floats: -0.60612446 floats: -1.3950832 floats: -0.52824557 floats: -0.043909375
       floats: 0.15375912 floats: 0.5527752 floats: 0.12982802 floats: 1.447619 floats:
       -1.0324638 floats: 0.84209406 floats: -0.18430029 floats: 0.9203385 floats: 1.0785412
       floats: 0.082291864 floats: -0.43659148 floats: 0.25373736 floats: -1.2776523 floats:
       -0.1308514 floats: 0.021277644 floats: 0.10273796 floats: 0.77177763 floats:
       -0.9943756 type: FLOATS } domain: "ai.onnx.ml" } node { input: "t" output: "yf"
       op_type: "Cast" attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 }
       } } } } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {-0.18935900926589966, 0.048134639859199524, -0.16576695442199707, 0.6006406545639038,
      -0.16339939832687378, 0.4985259175300598, -0.19172650575637817, 0.1502494215965271},
     1e-05},
    {"TreeEnsembleRegressor MIN",
     R"(graph { node { input: "x" output: "t" op_type: "TreeEnsembleRegressor" attribute {
       name: "aggregate_function" s: "MIN" type: STRING } attribute { name: "base_values"
       floats: 0.5 floats: 0.25 type: FLOATS } attribute { name: "n_targets" i: 2 type: INT
       } attribute { name: "nodes_falsenodeids" ints: 4 ints: 3 ints: 0 ints: 0 ints: 6
       ints: 0 ints: 0 ints: 4 ints: 3 ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 ints: 4 ints:
       3 ints: 0 ints: 0 ints: 6 ints: 0 ints: 0 type: INTS } attribute { name:
       "nodes_featureids" ints: 0 ints: 2 ints: 1 ints: 1 ints: 0 ints: 0 ints: 2 ints: 0
       ints: 2 ints: 2 ints: 2 ints: 1 ints: 2 ints: 1 ints: 0 ints: 0 ints: 0 ints: 1 ints:
       2 ints: 0 ints: 2 type: INTS } attribute { name: "nodes_hitrates" floats: 1.0 floats:
       1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats:
       1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats:
       1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 floats: 1.0 type: FLOATS }
       attribute { name: "nodes_modes" strings: "BRANCH_LEQ" strings: "BRANCH_GT" strings:
       "LEAF" strings: "LEAF" strings: "BRANCH_GT" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_GT" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings:
       "BRANCH_GT" strings: "LEAF" strings: "LEAF" strings: "BRANCH_LEQ" strings:
       "BRANCH_LEQ" strings: "LEAF" strings: "LEAF" strings: "BRANCH_LEQ" strings: "LEAF"
       strings: "LEAF" type: STRINGS } attribute { name: "nodes_nodeids" ints: 0 ints: 1
       ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints:
       5 ints: 6 ints: 0 ints: 1 ints: 2 ints: 3 ints: 4 ints: 5 ints: 6 type: INTS }
       attribute { name: "nodes_treeids" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 0
       ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 2 ints: 2 ints:
       2 ints: 2 ints: 2 ints: 2 ints: 2 type: INTS } attribute { name: "nodes_truenodeids"
       ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0 ints: 1 ints: 2 ints: 0 ints:
       0 ints: 5 ints: 0 ints: 0 ints: 1 ints: 2 ints: 0 ints: 0 ints: 5 ints: 0 ints: 0
       type: INTS } attribute { name: "nodes_values" floats: 0.46220204 floats: 0.7741002
       floats: -1.2971098 floats: 0.14311725 floats: -0.2998633 floats: -1.2884419 floats:
       0.26708728 floats: -0.47286707 floats: 0.9543723 floats: 1.6973169 floats: -0.6415602
       floats: -0.64365995 floats: -1.2136376 floats: 0.02362752 floats: -1.0555235 floats:
       -0.19470415 floats: -0.19145398 floats: -0.25626564 floats: -0.20320147 floats:
       0.018485168 floats: 0.224924 type: FLOATS } attribute { name: "target_ids" ints: 0
       ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints:
       1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 ints: 1
       ints: 0 ints: 1 type: INTS } attribute { name: "target_nodeids" ints: 2 ints: 2 ints:
       3 ints: 3 ints: 5 ints: 5 ints: 6 ints: 6 ints: 2 ints: 2 ints: 3 ints: 3 ints: 5
       ints: 5 ints: 6 ints: 6 ints: 2 ints: 2 ints: 3 ints: 3 ints: 5 ints: 5 ints: 6 ints:
       6 type: INTS } attribute { name: "target_treeids" ints: 0 ints: 0 ints: 0 ints: 0
       ints: 0 ints: 0 ints: 0 ints: 0 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints: 1 ints:
       1 ints: 1 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 ints: 2 type: INTS
       } attribute { name: "target_weights" floats: 0.58841765 floats: -0.4308023 floats:
       0.1289081 floats: 1.3943222 floats: 1.173094 floats: 1.7560859 floats: -0.2691063
       floats: 0.27040124 floats: -1.65131 floats: -0.095518574 floats: -1.28555 floats:
       -0.13992412 floats: 0.2208529 floats: 1.2766908 floats: -0.9616654 floats:
       -0.36329693 floats: 1.3249204 floats: 1.4375256 floats: -0.6752188 floats: 1.3177608
       floats: -1.215934 floats: -2.0333257 floats: -0.5866035 floats: 0.36309552 type:
       FLOATS } domain: "ai.onnx.ml" } node { input: "t" output: "yf" op_type: "Cast"
       attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 } } } }
       } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {-0.7159340381622314, -1.7833256721496582, -1.1513099670410156, 0.1544814258813858,
      -0.46166539192199707, -0.11329692602157593, -1.1513099670410156, -1.7833256721496582},
     1e-05},
    {"TreeEnsemble",
     R"(graph { node { input: "x" output: "t" op_type: "TreeEnsemble" attribute { name:
       "aggregate_function" i: 1 type: INT } attribute { name: "leaf_targetids" ints: 0
       ints: 1 ints: 0 ints: 1 type: INTS } attribute { name: "leaf_weights" t { dims: 4
       data_type: 1 name: "w" raw_data: "\000\000\200?\000\000\000@\000\000@@\000\000\200@"
       } type: TENSOR } attribute { name: "n_targets" i: 2 type: INT } attribute { name:
       "nodes_falseleafs" ints: 1 ints: 1 ints: 1 type: INTS } attribute { name:
       "nodes_falsenodeids" ints: 1 ints: 3 ints: 0 type: INTS } attribute { name:
       "nodes_featureids" ints: 0 ints: 1 ints: 2 type: INTS } attribute { name:
       "nodes_modes" t { dims: 3 data_type: 2 name: "m" raw_data: "\000\001\002" } type:
       TENSOR } attribute { name: "nodes_splits" t { dims: 3 data_type: 1 name: "s"
       raw_data: "\315\314\314=\315\314L>\232\231\231\276" } type: TENSOR } attribute {
       name: "nodes_trueleafs" ints: 0 ints: 1 ints: 1 type: INTS } attribute { name:
       "nodes_truenodeids" ints: 1 ints: 0 ints: 2 type: INTS } attribute { name:
       "post_transform" i: 0 type: INT } attribute { name: "tree_roots" ints: 0 ints: 2
       type: INTS } domain: "ai.onnx.ml" } node { input: "t" output: "yf" op_type: "Cast"
       attribute { name: "to" i: 1 type: INT } } name: "g" input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 3 } } } }
       } output { name: "yf" }})",
     DType::kFloat32, {4, 3},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25},
     {4, 0, 3, 2, 4, 0, 1, 2},
     1e-05, 17, 5},
    {"TreeEnsemble with sets of members",
     R"(graph { node { input: "x" output: "y" op_type: "TreeEnsemble" attribute { name:
       "aggregate_function" i: 1 type: INT } attribute { name: "leaf_targetids" ints: [0, 1,
       0, 1] type: INTS } attribute { name: "leaf_weights" t { dims: 4 data_type: 1
       float_data: [5.23, 12.12, -12.23, 7.21] name: "t" } type: TENSOR } attribute { name:
       "membership_values" t { dims: 8 data_type: 1 float_data: [1.2, 3.7, 8.0, 9.0, nan,
       12.0, 7.0, nan] name: "t" } type: TENSOR } attribute { name: "n_targets" i: 2 type:
       INT } attribute { name: "nodes_falseleafs" ints: [0, 1, 0, 1] type: INTS } attribute {
       name: "nodes_falsenodeids" ints: [2, 2, 3, 3] type: INTS } attribute { name:
       "nodes_featureids" ints: [0, 0, 1, 1] type: INTS } attribute { name: "nodes_modes" t {
       dims: 4 data_type: 2 int32_data: [0, 6, 6, 4] name: "t" } type: TENSOR } attribute {
       name: "nodes_splits" t { dims: 4 data_type: 1 float_data: [3.14, 0.0, 0.0, 4.2] name:
       "t" } type: TENSOR } attribute { name: "nodes_trueleafs" ints: [0, 1, 1, 1] type: INTS
       } attribute { name: "nodes_truenodeids" ints: [1, 0, 1, 0] type: INTS } attribute {
       name: "post_transform" i: 0 type: INT } attribute { name: "tree_roots" ints: 0 type:
       INTS } domain: "ai.onnx.ml" } name: "g" input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_value: 9 } dim { dim_value: 2 } } } } } output { name:
       "y" } })",
     DType::kFloat32, {9, 2},
     {1.20000005, 0, 3.1400001, 0, 3.70000005, 1, 8, 4.19999981, 9, 7, 10, 12, 10, 4.19999981,
      9, 5, 3, 3},
     {5.23000002, 0, -12.2299995, 0, 0, 7.21000004, 5.23000002, 0, 0, 12.1199999, 0,
      12.1199999, 5.23000002, 0, 0, 7.21000004, -12.2299995, 0},
     0.0001, 17, 5},
    {"TreeEnsembleRegressor of open features; the first weight of a leaf for one target counts",
     R"(graph { node { input: "x" output: "y" op_type: "TreeEnsembleRegressor" attribute {
       name: "n_targets" i: 1 type: INT } attribute { name: "nodes_falsenodeids" ints: [2, 0,
       0] type: INTS } attribute { name: "nodes_featureids" ints: [2, 0, 0] type: INTS }
       attribute { name: "nodes_modes" strings: "BRANCH_LEQ" strings: "LEAF" strings: "LEAF"
       type: STRINGS } attribute { name: "nodes_nodeids" ints: [0, 1, 2] type: INTS }
       attribute { name: "nodes_treeids" ints: [0, 0, 0] type: INTS } attribute { name:
       "nodes_truenodeids" ints: [1, 0, 0] type: INTS } attribute { name: "nodes_values"
       floats: [0.25, 0.0, 0.0] type: FLOATS } attribute { name: "target_ids" ints: [0, 0, 0]
       type: INTS } attribute { name: "target_nodeids" ints: [1, 1, 2] type: INTS } attribute {
       name: "target_treeids" ints: [0, 0, 0] type: INTS } attribute { name: "target_weights"
       floats: [1.5, 7.0, -2.0] type: FLOATS } domain: "ai.onnx.ml" } name: "g" input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param:
       "d1" } } } } } output { name: "y" } })",
     DType::kFloat32, {5, 4},
     {0.125, 0.5, 1, 0.875, -1.625, -1.75, -0.125, -0.5, 1.375, -1.25, -0.625, -1.25, 1.125,
      -0.75, -0.25, 1, 1.75, -1.5, -0.5, 1.125},
     {-2, 1.5, 1.5, 1.5, 1.5},
     0.0001},
};
// clang-format on

TEST_CASE("tree ensembles: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

// A whole tree of 2,047 nodes over columns 0..highest: the sum of leaves is the leaf's number.
void CheckWholeTree(int64_t highest) {
  CAPTURE(highest);
  constexpr int64_t kBranches = 1023, kNodes = 2 * kBranches + 1;
  const auto column = [&](int64_t node) {
    return node % 3 == 0 ? highest : node * 7919 % (highest + 1);
  };
  const auto list = [&](const char* name, const char* field, const auto& of, int64_t from = 0) {
    std::string text = "attribute { name: '" + std::string(name) + "' type: ";
    text += field == std::string("ints")     ? "INTS"
            : field == std::string("floats") ? "FLOATS"
                                             : "STRINGS";
    for (int64_t i = from; i < kNodes; ++i) text += std::string(" ") + field + ": " + of(i);
    return text + " } ";
  };
  const auto number = [](int64_t value) { return std::to_string(value); };
  const auto zero = [](int64_t) { return "0"; };
  const auto self = [&](int64_t i) { return number(i); };
  const auto child = [&](int64_t right) {
    return [=](int64_t i) { return number(i < kBranches ? 2 * i + 1 + right : 0); };
  };
  const std::string graph =
      "ir_version: 8 opset_import { version: 17 } opset_import { domain: 'ai.onnx.ml' version: 3 } "
      "graph { name: 'g' node { op_type: 'TreeEnsembleRegressor' domain: 'ai.onnx.ml' input: 'x' "
      "output: 'y' " +
      list("nodes_treeids", "ints", zero) + list("nodes_nodeids", "ints", self) +
      list("nodes_featureids", "ints",
           [&](int64_t i) { return number(i < kBranches ? column(i) : 0); }) +
      list("nodes_truenodeids", "ints", child(0)) + list("nodes_falsenodeids", "ints", child(1)) +
      list("nodes_values", "floats", [&](int64_t i) { return number(i % 2); }) +
      list("nodes_modes", "strings",
           [&](int64_t i) { return i < kBranches ? "'BRANCH_LEQ'" : "'LEAF'"; }) +
      list("target_ids", "ints", zero, kBranches) +
      list("target_treeids", "ints", zero, kBranches) +
      list("target_nodeids", "ints", self, kBranches) +
      list("target_weights", "floats", self, kBranches) + "} " +
      import::testing::Tensor("input", "x", {"n", number(highest + 1)}) + "output { name: 'y' } }";
  const std::unique_ptr<Invocation> invocation = Runnable(import::testing::ImportText(graph));
  constexpr int64_t kRows = 3;
  std::vector<float> x(static_cast<size_t>(kRows * (highest + 1)));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 40503 >> 7 & 1) * 2 - 0.5F;
  const auto y = invocation->Run(
      "main", {*Value::CopyTensor(DType::kFloat32, {{kRows, highest + 1}}, x.data())});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  for (int64_t row = 0; row < kRows; ++row) {
    int64_t node = 0;
    while (node < kBranches) {
      const float value = x[static_cast<size_t>(row * (highest + 1) + column(node))];
      node = 2 * node + (value <= static_cast<float>(node % 2) ? 1 : 2);
    }
    CHECK(static_cast<const float*>(y->data())[row] == static_cast<float>(node));
  }
}

TEST_CASE("trees: columns and nodes that fit into one number of 32 bits, and do not") {
  for (const int64_t highest : {0, 1, 6, 7, 8, (1 << 20) - 1, 1 << 20}) CheckWholeTree(highest);
}

}  // namespace
}  // namespace relayvm

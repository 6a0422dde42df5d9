// Operators that newer opsets of ONNX added, and more of com.microsoft: values that ONNX Runtime
// 1.30 gives.
#include "compiler/end_to_end/imported_values.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    {"DeformConv",
     R"(graph { node { input: "x" input: "w" input: "o" output: "y" op_type: "DeformConv"
       attribute { name: "pads" ints: 1 ints: 1 ints: 1 ints: 1 type: INTS } attribute {
       name: "strides" ints: 2 ints: 2 type: INTS } } name: "g" initializer { dims: 2 dims:
       2 dims: 2 dims: 2 data_type: 1 name: "w" raw_data:
       "\000\000\200?\000\000\220\277\000\000\220\277\000\000\300\276\000\000\040?\000\000`?\000\000\040\277\000\000\000\276\000\000\040?\000\000\300\276\000\000\200>\000\000\000>\000\000\240\277\000\000\200?\000\000\200\277\000\000\220\277"
       } initializer { dims: 1 dims: 8 dims: 3 dims: 3 data_type: 1 name: "o" raw_data:
       "\000\000\240\277\000\000\300\276\000\000\000\200\000\000\000\277\000\000\000\200\000\000\260?\000\000\000\277\000\000\240\277\000\000\360\277\000\000\200\276\000\000\300\276\000\000\200>\000\000\000\277\000\000\000\277\000\000@\277\000\000\000\277\000\000\000>\000\000\300\276\000\000\000>\000\000\360?\000\000\000?\000\000\320\277\000\000\340?\000\000\300>\000\000\200\277\000\000`?\000\000\000\000\000\000\040\277\000\000\040\277\000\000\200\277\000\000\000\000\000\000\220?\000\000\300\276\000\000\300>\000\000\360?\000\000\240\277\000\000\200>\000\000\200\276\000\000\200\277\000\000\200\277\000\000\000\200\000\000\300>\000\000\000\277\000\000\000\000\000\000@?\000\000\200>\000\000`?\000\000\000?\000\000\000?\000\000\360?\000\000\040?\000\000\000>\000\000@?\000\000`\277\000\000\300\276\000\000@?\000\000\040?\000\000\300?\000\000\000\000\000\000\300\277\000\000\000@\000\000\220?\000\000\200\277\000\000\260?\000\000\000\000\000\000\360\277\000\000\300\276\000\000\000\277\000\000\320?\000\000@\277\000\000\200\276\000\000\200\276"
       } input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" }
       dim { dim_value: 2 } dim { dim_param: "h" } dim { dim_param: "w" } } } } } output {
       name: "y" }})",
     DType::kFloat32, {1, 2, 5, 5},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25, -1, 1.625,
      0.25, -1.75, -0.125, -1.125, -0.625, -0.5, -0.75, 0.5, -0.125, -0.625, 0.375, 0.875, -1.625,
      -0.25, -1, -0.125, -1.25, 0, 0, -0.25, -1, -0.375, -1.125, -1.375, 0.25, -1.125, 1.125, 0.75,
      -2, 0.25, -1.125, 0, 0, -2, -0.25, -0.25},
     {0.481201171875, 1.36669921875, -0.473876953125, 1.1728515625, -1.314453125, -3.059814453125,
      -0.0908203125, -1.15576171875, 1.328857421875, 0.640625, 0.336181640625, -0.455322265625,
      0.5810546875, 2.3203125, 0.650390625, -0.6484375, 1.541748046875, 1.594482421875},
     0.0001, 19},
    {"DeformConv with groups, weights of taps and a bias",
     R"(graph { node { input: "x" input: "w" input: "o" input: "b" input: "m" output: "y"
       op_type: "DeformConv" attribute { name: "dilations" ints: 2 ints: 2 type: INTS }
       attribute { name: "group" i: 2 type: INT } attribute { name: "offset_group" i: 2
       type: INT } } name: "g" initializer { dims: 2 dims: 1 dims: 2 dims: 2 data_type: 1
       name: "w" raw_data:
       "\000\000\300\276\000\000`\277\000\000\200>\000\000\220?\000\000\040?\000\000`\277\000\000\220\277\000\000\000>"
       } initializer { dims: 1 dims: 16 dims: 3 dims: 3 data_type: 1 name: "o" raw_data:
       "\000\000@\277\000\000\040\277\000\000\320\277\000\000\000@\000\000`?\000\000\200\277\000\000`?\000\000\260?\000\000\030\300\000\000\000\277\000\000\300\276\000\000\040?\000\000\000\276\000\000\200\276\000\000\000\200\000\000\360?\000\000\010@\000\000\000\277\000\000`\277\000\0000@\000\000\200\277\000\000\040\277\000\000\000\000\000\000\000?\000\000\200?\000\000\300>\000\000`\277\000\000\000?\000\000\200>\000\000\360?\000\000\000\200\000\000\260\277\000\000\200\277\000\000\300?\000\000\000\277\000\000\010\300\000\000\040\277\000\000\000\000\000\000\240?\000\000\200\277\000\000\040?\000\000@?\000\000@\277\000\000\200\276\000\000\340?\000\000\340?\000\000`?\000\000\300>\000\000\220?\000\000\000\276\000\000\000\276\000\000`\277\000\000\000\000\000\000\000\276\000\0000@\000\000\200\276\000\000\240?\000\000\260?\000\000\000\276\000\000\220?\000\000\010\300\000\000\000>\000\000`?\000\000\030\300\000\000\220\277\000\000\200?\000\000\200\276\000\000\220\277\000\000\300\276\000\000\000\277\000\000@?\000\000\000?\000\000\200\276\000\000\040\277\000\000\000\200\000\000\260?\000\000\300>\000\000\040?\000\000\000\276\000\000\240\277\000\000@\277\000\000\040?\000\000\000>\000\000`\277\000\000\320\277\000\000\000>\000\000\300\276\000\000\300\276\000\000\300\276\000\000\200>\000\000\200>\000\000\200?\000\000`?\000\000\260?\000\000@?\000\000\300\276\000\000\000\200\000\000\000?\000\000\200\276\000\000\000?\000\000\220?\000\000@\277\000\000\340\277\000\000\240?\000\000\000\000\000\000@?\000\000\260\277\000\000\340?\000\000@?\000\000\000\276\000\000\300\276\000\000\000>\000\000\000\276\000\000\200\276\000\000\220\277\000\000\240?\000\000\000\200\000\000\000>\000\000\000>\000\000\030\300\000\000\000?\000\000\300\276\000\000\200\276\000\000\000>\000\000\200\277\000\000`?\000\000@\277\000\000`\277\000\000`\277\000\000\000>\000\000@?\000\000\040\277\000\000\300\277\000\000\200?\000\000\220\277\000\000\240?\000\000\000\200\000\000@\277\000\000\040\277\000\000\000?\000\000`?\000\000\200\276\000\000\200?\000\000\010@"
       } initializer { dims: 2 data_type: 1 name: "b" raw_data:
       "\000\000\200\276\000\000\220\277" } initializer { dims: 1 dims: 8 dims: 3 dims: 3
       data_type: 1 name: "m" raw_data:
       "\000\000\200?\000\000\260?\000\000\040?\000\000@?\000\000\260?\000\000\000?\000\000(@\000\000\260?\000\000\000@\000\000\200?\000\000\000?\000\000\000?\000\000\340?\000\000\000?\000\000\000>\000\000\240?\000\000\000>\000\000@?\000\000@?\000\000@?\000\000\000\000\000\000\300>\000\000`?\000\000\260?\000\000\000>\000\000\360?\000\000\000\000\000\000\240?\000\000\220?\000\000\260?\000\000@?\000\000\260?\000\000\200>\000\000\300>\000\000\300?\000\000\000?\000\000\240?\000\000\320?\000\000\200>\000\000\000\000\000\000@?\000\000\200?\000\000\000?\000\000\300>\000\000\300>\000\000\000\000\000\000\300>\000\000\300>\000\000\000?\000\000\300>\000\000\040?\000\000\040?\000\000\300>\000\000\200>\000\000\000\000\000\000\040@\000\0000@\000\000\300>\000\000\300>\000\000\260?\000\000@?\000\000\200>\000\000\000\000\000\000\260?\000\000`?\000\000\040?\000\000\000?\000\000\200>\000\000\200>\000\000`?\000\000\000?\000\000\300>"
       } input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" }
       dim { dim_value: 2 } dim { dim_param: "h" } dim { dim_param: "w" } } } } } output {
       name: "y" }})",
     DType::kFloat32, {1, 2, 5, 5},
     {-0.75, -1.375, -0.25, 0.375, 1.125, 0.125, -0.5, -0.75, 0.75, 1.625, 0.25, -1.25, -1, 1.625,
      0.25, -1.75, -0.125, -1.125, -0.625, -0.5, -0.75, 0.5, -0.125, -0.625, 0.375, 0.875, -1.625,
      -0.25, -1, -0.125, -1.25, 0, 0, -0.25, -1, -0.375, -1.125, -1.375, 0.25, -1.125, 1.125, 0.75,
      -2, 0.25, -1.125, 0, 0, -2, -0.25, -0.25},
     {-0.541748046875, -1.374420166015625, -0.25, 0.7528076171875, -1.07879638671875,
      -0.4310302734375, 0.89935302734375, 0.403289794921875, 0.641357421875, -1.5882568359375,
      1.433624267578125, 0.13433837890625, -1.5076904296875, -1.352630615234375, 0.767822265625,
      -2.02423095703125, -0.8785400390625, -1.1927490234375},
     0.0001, 19},
    {"TensorScatter, linear",
     R"(graph { node { input: "x" input: "u" input: "i" output: "y" op_type: "TensorScatter"
       attribute { name: "mode" s: "linear" type: STRING } } name: "g" initializer { dims: 2
       dims: 1 dims: 2 dims: 2 data_type: 1 name: "u" raw_data:
       "\000\000`\277\000\000\300\276\000\000\320?\000\000\300\276\000\000\220?\000\000`?\000\000@?\000\000@?"
       } initializer { dims: 2 data_type: 7 name: "i" raw_data:
       "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000" } input { name:
       "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value:
       1 } dim { dim_param: "m" } dim { dim_value: 2 } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 1, 4, 2},
     {-1, 0.375, 1.625, -0.75, 0, -0.75, 0.375, -1.125, 1.625, -0.375, -1.5, 1.75, 1, 0.5, 0.5,
      -0.375},
     {-1, 0.375, -0.875, -0.375, 1.625, -0.375, 0.375, -1.125, 1.625, -0.375, -1.5, 1.75, 1.125,
      0.875, 0.75, 0.75},
     0.0001, 24},
    {"TensorScatter, circular",
     R"(graph { node { input: "x" input: "u" input: "i" output: "y" op_type: "TensorScatter"
       attribute { name: "mode" s: "circular" type: STRING } } name: "g" initializer { dims:
       2 dims: 1 dims: 2 dims: 2 data_type: 1 name: "u" raw_data:
       "\000\000\200\276\000\000@?\000\000`?\000\000`?\000\000\200>\000\000\000\277\000\000\200\276\000\000\220?"
       } initializer { dims: 2 data_type: 7 name: "i" raw_data:
       "\001\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000" } input { name:
       "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value:
       1 } dim { dim_param: "m" } dim { dim_value: 2 } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 1, 4, 2},
     {1.5, -0.375, -0.5, 1.25, 0.75, 0.75, -1.25, -0.375, -0.5, 0.25, -1.625, 1.25, 0.25, 0.375,
      -1.125, 0},
     {1.5, -0.375, -0.25, 0.75, 0.875, 0.875, -1.25, -0.375, -0.25, 1.125, -1.625, 1.25, 0.25,
      0.375, 0.25, -0.5},
     0.0001, 24},
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
    {"QAttention",
     R"(graph { node { input: "x" input: "w" input: "b" input: "xs" input: "ws" input: "m"
       input: "xz" input: "wz" output: "y" op_type: "QAttention" attribute { name:
       "num_heads" i: 2 type: INT } domain: "com.microsoft" } name: "g" initializer { dims:
       4 dims: 12 data_type: 2 name: "w" raw_data:
       "mm\246\000t\002\261|4t\356UK\035\202\\\361\253\177\320\305\302\250\000\000V\230|\243\317\266\217\325\314\364\257\264\022\344\372\374\216L\231\311B\037\346"
       } initializer { dims: 12 data_type: 1 name: "b" raw_data:
       "\000\000\220\277\000\000\240?\000\000\340?\000\000\040\277\000\000\200>\000\000\000>\000\000\040\277\000\000\040\300\000\000\300\276\000\000\040?\000\000\300\277\000\000`\277"
       } initializer { data_type: 1 name: "xs" raw_data: "\n\327\243<" } initializer {
       data_type: 1 name: "ws" raw_data: "\n\327#<" } initializer { dims: 1 dims: 3
       data_type: 6 name: "m" raw_data: "\001\000\000\000\001\000\000\000\000\000\000\000" }
       initializer { data_type: 2 name: "xz" raw_data: "x" } initializer { data_type: 2
       name: "wz" raw_data: "n" } input { name: "x" type { tensor_type { elem_type: 2 shape
       { dim { dim_value: 1 } dim { dim_param: "s" } dim { dim_value: 4 } } } } } output {
       name: "y" }})",
     DType::kUInt8, {1, 3, 4},
     {7, 60, 23, 216, 242, 8, 188, 33, 100, 234, 66, 206},
     {-0.3592395484447479, -3.1869542598724365, 3.452177047729492, -0.2126806676387787,
      -1.0823426246643066, -2.350505828857422, 3.518685817718506, -0.22458580136299133,
      -3.814291477203369, 0.8096709847450256, 3.520998001098633, -0.22499965131282806},
     0.0001},
    {"CumProd",
     R"(graph { node { input: "x" input: "a" output: "y" op_type: "CumProd" domain: "" } name:
       "g" initializer { data_type: 7 int64_data: 1 name: "a" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } } }
       } } output { name: "y" } })",
     DType::kFloat32, {3, 4},
     {0.625, 1.125, -2, 1.125, -0.125, 0, 0.5, -0.875, 1.875, -1.875, -1, -0.5},
     {0.625, 0.703125, -1.40625, -1.58203125, -0.125, 0, 0, 0, 1.875, -3.515625, 3.515625,
      -1.7578125},
     1e-05, 26},
    {"CumProd from the end, without the element itself",
     R"(graph { node { input: "x" input: "a" output: "y" op_type: "CumProd" attribute { name:
       "exclusive" i: 1 type: INT } attribute { name: "reverse" i: 1 type: INT } domain: "" }
       name: "g" initializer { data_type: 7 int64_data: -2 name: "a" } input { name: "x" type
       { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" } }
       } } } output { name: "y" } })",
     DType::kFloat32, {3, 4},
     {0.625, 1.125, -2, 1.125, -0.125, 0, 0.5, -0.875, 1.875, -1.875, -1, -0.5},
     {-0.234375, 0, -0.5, 0.4375, 1.875, -1.875, -1, -0.5, 1, 1, 1, 1},
     1e-05, 26},
    {"Inverse",
     R"(graph { node { input: "x" output: "y" op_type: "Inverse" domain: "com.microsoft" }
       name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
       "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 4, 4},
     {0.25, -0.375, -1.5, -1.875, -2, -1.875, -1.5, 1.875, -1.25, 0.5, 1, -1.125, -0.875,
      -0.375, -1, 1.875, 0, 2, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 1, 0, 0, -2},
     {-0.0688692629, -0.0577013269, -0.502559304, -0.31270358, 0.199162453, -0.697999001,
      0.372266233, 1.12052119, -0.442531437, 0.223825037, 0.0139599284, -0.657980442,
      -0.228323236, -0.0471537188, -0.152629107, 0.260586321, 0, 0, 0.25, 0, 0.5, 0, 0, 0, 0,
      0.333333343, 0, 0, 0, 0, 0.125, -0.5},
     0.001},
    {"CropAndResize, bilinear",
     R"(graph { node { input: "x" input: "r" input: "b" input: "s" output: "y" op_type:
       "CropAndResize" attribute { name: "extrapolation_value" f: 2.5 type: FLOAT } attribute
       { name: "mode" s: "bilinear" type: STRING } domain: "com.microsoft" } name: "g"
       initializer { dims: [4, 4] data_type: 1 float_data: [0.0, 0.0, 1.0, 1.0, 0.1, 0.2,
       0.7, 0.9, -0.2, 0.3, 1.3, 0.8, 0.9, 0.8, 0.1, 0.2] name: "r" } initializer { dims: 4
       data_type: 6 int32_data: [0, 1, 1, 0] name: "b" } initializer { dims: 2 data_type: 6
       int32_data: [2, 3] name: "s" } input { name: "x" type { tensor_type { elem_type: 1
       shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim {
       dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 1, 4, 5},
     {-1.375, 1.5, 1.125, 1.375, -1.625, -0.5, 0.5, -0.125, 0.625, 0.625, 0.625, -1.875, 1.75,
      0.125, 1.5, -1, -0.625, 1.5, -1.375, -1.75, -0.625, 0.625, -1.625, 1.375, -0.75, -1.125,
      0.125, 1.5, 1.5, 1.375, -0.875, -2, 1, 0.75, 1, -2, -1.875, 0, -0.75, -0.375},
     {-1.375, 1.125, -1.625, -1, 1.5, -1.75, 0.224999994, -0.267499864, 0.497500092,
      -1.78750002, 0.840000093, 0.757500112, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, -0.894999623,
      1.57500005, -0.902500153, 0.7299999, 0.75, 0.737499952},
     0.0001},
    {"CropAndResize, nearest",
     R"(graph { node { input: "x" input: "r" input: "b" input: "s" output: "y" op_type:
       "CropAndResize" attribute { name: "extrapolation_value" f: 2.5 type: FLOAT } attribute
       { name: "mode" s: "nearest" type: STRING } domain: "com.microsoft" } name: "g"
       initializer { dims: [4, 4] data_type: 1 float_data: [0.0, 0.0, 1.0, 1.0, 0.1, 0.2,
       0.7, 0.9, -0.2, 0.3, 1.3, 0.8, 0.9, 0.8, 0.1, 0.2] name: "r" } initializer { dims: 4
       data_type: 6 int32_data: [0, 1, 1, 0] name: "b" } initializer { dims: 2 data_type: 6
       int32_data: [2, 3] name: "s" } input { name: "x" type { tensor_type { elem_type: 1
       shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim {
       dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {2, 1, 4, 5},
     {-1.375, 1.5, 1.125, 1.375, -1.625, -0.5, 0.5, -0.125, 0.625, 0.625, 0.625, -1.875, 1.75,
      0.125, 1.5, -1, -0.625, 1.5, -1.375, -1.75, -0.625, 0.625, -1.625, 1.375, -0.75, -1.125,
      0.125, 1.5, 1.5, 1.375, -0.875, -2, 1, 0.75, 1, -2, -1.875, 0, -0.75, -0.375},
     {-1.375, 1.125, -1.625, -1, 1.5, -1.75, 0.625, -1.625, -0.75, -2, 1, 1, 2.5, 2.5, 2.5,
      2.5, 2.5, 2.5, -1.375, 1.5, -0.625, 1.375, 1.125, 1.5},
     0.0001},
    {"Resize, antialiased linear by scales",
     R"(graph { node { input: "x" input: "" input: "s" output: "y" op_type: "Resize" attribute
       { name: "antialias" i: 1 type: INT } attribute { name: "mode" s: "linear" type: STRING
       } domain: "" } name: "g" initializer { dims: 4 data_type: 1 float_data: [1.0, 1.0,
       0.45, 0.6] name: "s" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim
       { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param:
       "d3" } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 1, 5, 4},
     {1.625, -1.25, 0, -0.75, -0.875, 1.125, -1.5, -0.75, -1.625, -1.5, -1, 0.75, 0.25, -0.25,
      -1.375, 1.125, 1.125, -1.125, -1.875, -0.75},
     {-0.0672940612, -0.60637629, -0.363939524, -0.826310992},
     0.0001, 18},
    {"Resize, antialiased cubic to sizes",
     R"(graph { node { input: "x" input: "" input: "" input: "s" output: "y" op_type: "Resize"
       attribute { name: "antialias" i: 1 type: INT } attribute { name: "exclude_outside" i:
       1 type: INT } attribute { name: "mode" s: "cubic" type: STRING } domain: "" } name:
       "g" initializer { dims: 4 data_type: 7 int64_data: [1, 1, 3, 6] name: "s" } input {
       name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim {
       dim_param: "d1" } dim { dim_param: "d2" } dim { dim_param: "d3" } } } } } output {
       name: "y" } })",
     DType::kFloat32, {1, 1, 5, 4},
     {1.625, -1.25, 0, -0.75, -0.875, 1.125, -1.5, -0.75, -1.625, -1.5, -1, 0.75, 0.25, -0.25,
      -1.375, 1.125, 1.125, -1.125, -1.875, -0.75},
     {0.615739405, 0.235386327, -0.326737642, -0.55999428, -0.775911152, -0.857427537,
      -1.33620763, -0.85063678, -0.57549572, -1.28221595, -0.294898987, 0.805403411,
      0.981426835, 0.136279076, -1.11981595, -1.72509086, -0.771483123, 0.290726215},
     0.0001, 18},
    {"Resize, antialiased bytes",
     R"(graph { node { input: "x" input: "" input: "" input: "s" output: "y" op_type: "Resize"
       attribute { name: "antialias" i: 1 type: INT } attribute { name: "mode" s: "linear"
       type: STRING } domain: "" } name: "g" initializer { dims: 4 data_type: 7 int64_data:
       [1, 1, 3, 2] name: "s" } input { name: "x" type { tensor_type { elem_type: 2 shape {
       dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_param: "d2" } dim {
       dim_param: "d3" } } } } } output { name: "y" } })",
     DType::kUInt8, {1, 1, 5, 4},
     {37, 203, 132, 129, 74, 129, 246, 60, 195, 3, 80, 237, 222, 21, 214, 215, 115, 93, 249,
      242},
     {113, 139, 119, 156, 132, 213},
     1, 18},
};
// clang-format on

TEST_CASE("newer and rarer operators of ONNX give what ONNX Runtime gives") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

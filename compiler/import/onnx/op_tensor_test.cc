// The values that casts give, against those of other systems or of their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By numpy in float64:
    {"Cast to UINT4",
     R"(graph { node { input: "x" output: "q" name: "q_Cast" op_type: "Cast" attribute {
       name: "to" i: 21 type: INT } domain: "" } node { input: "q" output: "y" name:
       "y_Cast" op_type: "Cast" attribute { name: "to" i: 1 type: INT } domain: "" } name:
       "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
       "x_0" } } } } } output { name: "y" }})",
     DType::kFloat32, {12},
     {-9, -8, -3.5, -2.5, -0.5, 0.75, 1.5, 7, 8, 9, 15, 17},
     {0, 0, 0, 0, 0, 1, 2, 7, 8, 9, 15, 15},
     1e-05, 21},
    {"CastLike UINT4",
     R"(graph { node { input: "x" input: "z" output: "q" name: "q_CastLike" op_type:
       "CastLike" domain: "" } node { input: "q" output: "y" name: "y_Cast" op_type: "Cast"
       attribute { name: "to" i: 1 type: INT } domain: "" } name: "g" initializer {
       data_type: 21 name: "z" raw_data: "\000" } input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "x_0" } } } } } output { name: "y" }})",
     DType::kFloat32, {12},
     {-9, -8, -3.5, -2.5, -0.5, 0.75, 1.5, 7, 8, 9, 15, 17},
     {0, 0, 0, 0, 0, 1, 2, 7, 8, 9, 15, 15},
     1e-05, 21},
    {"Cast of integers to UINT4",
     R"(graph { node { input: "x" output: "i" name: "i_Cast" op_type: "Cast" attribute {
       name: "to" i: 6 type: INT } domain: "" } node { input: "i" output: "q" name: "q_Cast"
       op_type: "Cast" attribute { name: "to" i: 21 type: INT } domain: "" } node { input:
       "q" output: "y" name: "y_Cast" op_type: "Cast" attribute { name: "to" i: 1 type: INT
       } domain: "" } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "x_0" } } } } } output { name: "y" }})",
     DType::kFloat32, {12},
     {-9, -8, -4, -2, 0, 1, 3, 7, 8, 9, 15, 17},
     {7, 8, 12, 14, 0, 1, 3, 7, 8, 9, 15, 1},
     1e-05, 21},
    {"Cast to INT4",
     R"(graph { node { input: "x" output: "q" name: "q_Cast" op_type: "Cast" attribute {
       name: "to" i: 22 type: INT } domain: "" } node { input: "q" output: "y" name:
       "y_Cast" op_type: "Cast" attribute { name: "to" i: 1 type: INT } domain: "" } name:
       "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
       "x_0" } } } } } output { name: "y" }})",
     DType::kFloat32, {12},
     {-9, -8, -3.5, -2.5, -0.5, 0.75, 1.5, 7, 8, 9, 15, 17},
     {-8, -8, -4, -2, 0, 1, 2, 7, 7, 7, 7, 7},
     1e-05, 21},
    {"CastLike INT4",
     R"(graph { node { input: "x" input: "z" output: "q" name: "q_CastLike" op_type:
       "CastLike" domain: "" } node { input: "q" output: "y" name: "y_Cast" op_type: "Cast"
       attribute { name: "to" i: 1 type: INT } domain: "" } name: "g" initializer {
       data_type: 22 name: "z" raw_data: "\000" } input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "x_0" } } } } } output { name: "y" }})",
     DType::kFloat32, {12},
     {-9, -8, -3.5, -2.5, -0.5, 0.75, 1.5, 7, 8, 9, 15, 17},
     {-8, -8, -4, -2, 0, 1, 2, 7, 7, 7, 7, 7},
     1e-05, 21},
    {"Cast of integers to INT4",
     R"(graph { node { input: "x" output: "i" name: "i_Cast" op_type: "Cast" attribute {
       name: "to" i: 6 type: INT } domain: "" } node { input: "i" output: "q" name: "q_Cast"
       op_type: "Cast" attribute { name: "to" i: 22 type: INT } domain: "" } node { input:
       "q" output: "y" name: "y_Cast" op_type: "Cast" attribute { name: "to" i: 1 type: INT
       } domain: "" } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "x_0" } } } } } output { name: "y" }})",
     DType::kFloat32, {12},
     {-9, -8, -4, -2, 0, 1, 3, 7, 8, 9, 15, 17},
     {7, -8, -4, -2, 0, 1, 3, 7, -8, -7, -1, 1},
     1e-05, 21},
    {"Cast to INT2",
     R"(graph { node { input: "x" output: "q" name: "q_Cast" op_type: "Cast" attribute {
       name: "to" i: 26 type: INT } domain: "" } node { input: "q" output: "y" name:
       "y_Cast" op_type: "Cast" attribute { name: "to" i: 1 type: INT } domain: "" } name:
       "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
       "x_0" } } } } } output { name: "y" }})",
     DType::kFloat32, {12},
     {-9, -8, -3.5, -2.5, -0.5, 0.75, 1.5, 7, 8, 9, 15, 17},
     {-2, -2, -2, -2, 0, 1, 1, 1, 1, 1, 1, 1},
     1e-05, 21},
    {"CastLike INT2",
     R"(graph { node { input: "x" input: "z" output: "q" name: "q_CastLike" op_type:
       "CastLike" domain: "" } node { input: "q" output: "y" name: "y_Cast" op_type: "Cast"
       attribute { name: "to" i: 1 type: INT } domain: "" } name: "g" initializer {
       data_type: 26 int32_data: 0 name: "z" } input { name: "x" type { tensor_type {
       elem_type: 1 shape { dim { dim_param: "x_0" } } } } } output { name: "y" }})",
     DType::kFloat32, {12},
     {-9, -8, -3.5, -2.5, -0.5, 0.75, 1.5, 7, 8, 9, 15, 17},
     {-2, -2, -2, -2, 0, 1, 1, 1, 1, 1, 1, 1},
     1e-05, 21},
    {"Cast of integers to INT2",
     R"(graph { node { input: "x" output: "i" name: "i_Cast" op_type: "Cast" attribute {
       name: "to" i: 6 type: INT } domain: "" } node { input: "i" output: "q" name: "q_Cast"
       op_type: "Cast" attribute { name: "to" i: 26 type: INT } domain: "" } node { input:
       "q" output: "y" name: "y_Cast" op_type: "Cast" attribute { name: "to" i: 1 type: INT
       } domain: "" } name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape {
       dim { dim_param: "x_0" } } } } } output { name: "y" }})",
     DType::kFloat32, {12},
     {-9, -8, -4, -2, 0, 1, 3, 7, 8, 9, 15, 17},
     {-1, 0, 0, -2, 0, 1, -1, -1, 0, 1, -1, 1},
     1e-05, 21},
};
// clang-format on

TEST_CASE("casts: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

// The values that scans of batches give, against those of other systems or of their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By numpy in float64:
    {"Scan 8, batches",
     R"(graph { node { input: "" input: "s" input: "x" output: "f" output: "y" op_type:
       "Scan" attribute { name: "body" g { node { input: "s" input: "i" output: "t" name:
       "t_Add" op_type: "Add" domain: "" } node { input: "t" input: "i" output: "o" name:
       "o_Mul" op_type: "Mul" domain: "" } name: "b" input { name: "s" type { tensor_type {
       elem_type: 1 shape { dim { dim_value: 2 } } } } } input { name: "i" type {
       tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } output { name: "t"
       type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } output { name:
       "o" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } } type:
       GRAPH } attribute { name: "num_scan_inputs" i: 1 type: INT } } name: "g" initializer
       { dims: 2 dims: 2 data_type: 1 name: "s" raw_data:
       "\000\000\200\276\000\000\000\277\000\000\200?\000\000\300\276" } input { name: "x"
       type { tensor_type { elem_type: 1 shape { dim { dim_param: "b" } dim { dim_param: "t"
       } dim { dim_value: 2 } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3, 2},
     {-1, 0, -0.25, 1.25, 0.75, -1.25, 0.5, -1.25, 0.25, 0.75, -0.5, -0.5},
     {1.25, 0, 0.375, 0.9375, -0.5625, 0.625, 0.75, 2.03125, 0.4375, -0.65625, -0.625, 0.6875},
     2e-05, 8},
    {"Scan 8, batches of their own lengths",
     R"(graph { node { input: "l" input: "s" input: "x" output: "f" output: "y" op_type:
       "Scan" attribute { name: "body" g { node { input: "s" input: "i" output: "t" name:
       "t_Add" op_type: "Add" domain: "" } node { input: "t" input: "i" output: "o" name:
       "o_Mul" op_type: "Mul" domain: "" } name: "b" input { name: "s" type { tensor_type {
       elem_type: 1 shape { dim { dim_value: 2 } } } } } input { name: "i" type {
       tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } output { name: "t"
       type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } output { name:
       "o" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } } type:
       GRAPH } attribute { name: "num_scan_inputs" i: 1 type: INT } } name: "g" initializer
       { dims: 2 dims: 2 data_type: 1 name: "s" raw_data:
       "\000\000\200\276\000\000\000\277\000\000\200?\000\000\300\276" } initializer { dims:
       2 data_type: 7 name: "l" raw_data:
       "\003\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000" } input { name:
       "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "b" } dim { dim_param:
       "t" } dim { dim_value: 2 } } } } } output { name: "y" }})",
     DType::kFloat32, {2, 3, 2},
     {-1, 0, -0.25, 1.25, 0.75, -1.25, 0.5, -1.25, 0.25, 0.75, -0.5, -0.5},
     {1.25, 0, 0.375, 0.9375, -0.5625, 0.625, 0.75, 2.03125, 0, 0, 0, 0},
     2e-05, 8},
};
// clang-format on

TEST_CASE("scans of batches: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

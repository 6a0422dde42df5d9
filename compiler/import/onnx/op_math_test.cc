// The values that arithmetic give, against those of other systems or of their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30, at open dims:
    {"Relu of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" output: "z"
       op_type: "Relu" domain: "" } node { input: "z" output: "m" op_type: "IsNaN" domain: ""
       } node { input: "m" input: "k" input: "z" output: "y" op_type: "Where" domain: "" }
       name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0, 1.0, 1.0, 1.0, 1.0,
       1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name: "k" } input { name:
       "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } } } } } output {
       name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, 0, 0, 0, 1.5, 9},
     1e-06},
    {"Sign of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" output: "z"
       op_type: "Sign" domain: "" } node { input: "z" output: "m" op_type: "IsNaN" domain: ""
       } node { input: "m" input: "k" input: "z" output: "y" op_type: "Where" domain: "" }
       name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0, 1.0, 1.0, 1.0, 1.0,
       1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name: "k" } input { name:
       "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } } } } } output {
       name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, -1, -1, 0, 1, 1},
     1e-06},
    {"HardSigmoid of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" output: "z"
       op_type: "HardSigmoid" domain: "" } node { input: "z" output: "m" op_type: "IsNaN"
       domain: "" } node { input: "m" input: "k" input: "z" output: "y" op_type: "Where"
       domain: "" } name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0, 1.0, 1.0,
       1.0, 1.0, 1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name: "k" }
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } }
       } } } output { name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, 0.099999994, 0.400000006, 0.5, 0.800000012, 1},
     1e-06},
    {"Clip of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" input: "a" input:
       "b" output: "z" op_type: "Clip" domain: "" } node { input: "z" output: "m" op_type:
       "IsNaN" domain: "" } node { input: "m" input: "k" input: "z" output: "y" op_type:
       "Where" domain: "" } name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0,
       1.0, 1.0, 1.0, 1.0, 1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name:
       "k" } initializer { data_type: 1 float_data: -1.0 name: "a" } initializer { data_type:
       1 float_data: 2.0 name: "b" } input { name: "x" type { tensor_type { elem_type: 1
       shape { dim { dim_param: "d0" } } } } } output { name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, -1, -0.5, 0, 1.5, 2},
     1e-06},
    {"Clip before opset 11 of NaN",
     R"(graph { node { input: "p" output: "q" op_type: "Log" domain: "" } node { input: "x"
       input: "q" output: "s" op_type: "Add" domain: "" } node { input: "s" output: "z"
       op_type: "Clip" attribute { name: "max" f: 2.0 type: FLOAT } attribute { name: "min"
       f: -1.0 type: FLOAT } domain: "" } node { input: "z" output: "m" op_type: "IsNaN"
       domain: "" } node { input: "m" input: "k" input: "z" output: "y" op_type: "Where"
       domain: "" } name: "g" initializer { dims: 6 data_type: 1 float_data: [-1.0, 1.0, 1.0,
       1.0, 1.0, 1.0] name: "p" } initializer { data_type: 1 float_data: -7.0 name: "k" }
       input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } }
       } } } output { name: "y" } })",
     DType::kFloat32, {6},
     {0, -2, -0.5, 0, 1.5, 9},
     {-7, -1, -0.5, 0, 1.5, 2},
     1e-06, 10},
    {"Mod, fmod by infinity and of large numbers",
     R"(graph { node { input: "x" input: "w" output: "y" op_type: "Mod" attribute { name:
       "fmod" i: 1 type: INT } domain: "" } name: "g" initializer { dims: 5 data_type: 1
       float_data: [inf, -inf, 3.3, 0.1, 2.0] name: "w" } input { name: "x" type {
       tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } } } } } output { name: "y"
       } })",
     DType::kFloat32, {5},
     {5.5, -3, 10000000, 100.5, -7},
     {5.5, -3, 0.244496107, 0.0999985039, -1},
     0.0001},
};
// clang-format on

TEST_CASE("arithmetic: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

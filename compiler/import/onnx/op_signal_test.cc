// The values that signals give, against those of other systems or of their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30, or numpy where it refuses or departs from the definition:
    {"DFT, to a real signal",
     R"(graph { node { input: "x" output: "y" op_type: "DFT" attribute { name: "axis" i: 1
     type: INT } attribute { name: "inverse" i: 1 type: INT } attribute { name:
     "onesided" i: 1 type: INT } domain: "" } name: "g" input { name: "x" type {
     tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1" }
     dim { dim_value: 2 } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 4, 2},
     {-0.75, -1.875, -1.625, 1, -1.375, 0.0625, 1.5625, 1.6875},
     {-0.864583, -0.733801, 0.364784, -0.302084, 0.906049, -0.120366},
     1e-05, 17},
    {"DFT, to a real signal of odd length",
     R"(graph { node { input: "x" input: "l" input: "a" output: "y" op_type: "DFT"
     attribute { name: "inverse" i: 1 type: INT } attribute { name: "onesided" i: 1
     type: INT } domain: "" } name: "g" initializer { data_type: 7 int64_data: 7 name:
     "l" } initializer { data_type: 7 int64_data: 1 name: "a" } input { name: "x" type
     { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1"
     } dim { dim_value: 2 } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 4, 2},
     {-0.9375, -1.6875, 0, 1.375, 0.5, -1.6875, 0.5625, -0.625},
     {0.169643, -0.0701303, -0.894249, -0.453936, 0.292693, 0.569379, -0.550901},
     1e-05, 20},
    {"DFT, to a shorter real signal",
     R"(graph { node { input: "x" input: "l" input: "a" output: "y" op_type: "DFT"
     attribute { name: "inverse" i: 1 type: INT } attribute { name: "onesided" i: 1
     type: INT } domain: "" } name: "g" initializer { data_type: 7 int64_data: 5 name:
     "l" } initializer { data_type: 7 int64_data: 1 name: "a" } input { name: "x" type
     { tensor_type { elem_type: 1 shape { dim { dim_param: "d0" } dim { dim_param: "d1"
     } dim { dim_value: 2 } } } } } output { name: "y" } })",
     DType::kFloat32, {1, 4, 2},
     {-1.0625, -0.25, 1.5, 1.8125, -1.4375, 0.25, 1, -0.9375},
     {-0.1875, -0.3102, -1.20663, -0.544556, 1.18639},
     1e-05, 20},
    {"DFT, to a longer real signal",
     R"(graph { node { input: "x" input: "l" output: "y" op_type: "DFT" attribute { name:
     "axis" i: 1 type: INT } attribute { name: "inverse" i: 1 type: INT } attribute {
     name: "onesided" i: 1 type: INT } domain: "" } name: "g" initializer { data_type:
     7 int64_data: 8 name: "l" } input { name: "x" type { tensor_type { elem_type: 1
     shape { dim { dim_param: "d0" } dim { dim_param: "d1" } dim { dim_value: 2 } } } }
     } output { name: "y" } })",
     DType::kFloat32, {1, 3, 2},
     {-0.875, -1, -1.125, 1.5, -1.125, -1.0625},
     {-0.671875, -0.307789, -0.203125, -0.441291, -0.109375, 0.620289, 0.546875,
      -0.308709},
     1e-05, 17},
};
// clang-format on

TEST_CASE("signals: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

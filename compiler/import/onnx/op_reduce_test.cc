// The values that reductions give, against those of other systems or of their definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30, or numpy where it refuses or departs from the definition:
    {"ReduceLogSum: of integers, toward zero",
     R"(graph { node { op_type: "Cast" input: "x" output: "i" attribute { name: "to" i: 6
     type: INT } } node { op_type: "ReduceLogSum" input: "i" output: "r" attribute { name:
     "axes" ints: 1 type: INTS } attribute { name: "keepdims" i: 0 type: INT } } node {
     op_type: "Cast" input: "r" output: "y" attribute { name: "to" i: 1 type: INT } }
     name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param:
     "n" } dim { dim_param: "m" } } } } } output { name: "y" } })",
     DType::kFloat32, {3, 2},
     {1, 2, 30, 25, 1000000, 7000000},
     {1, 4, 15},
     0},
};
// clang-format on

TEST_CASE("reductions: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

}  // namespace
}  // namespace relayvm

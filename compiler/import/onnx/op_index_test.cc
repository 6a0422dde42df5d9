// The values that reads and writes by index give, against those of other systems or of their
// definitions.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

using import::testing::GraphModel;
using import::testing::ImportText;
using import::testing::Int;
using import::testing::Node;
using import::testing::Tensor;

Value Of(const std::vector<int64_t>& dims, const std::vector<float>& elements) {
  return *Value::CopyTensor(DType::kFloat32, dims, elements.data());
}

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.30:
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
};
// clang-format on

TEST_CASE("reads and writes by index: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

TEST_CASE("Unique along an axis: slices without elements are equal, and there may be none") {
  const auto run = Runnable(ImportText(
      GraphModel(Node("Unique", "x", "y f i c", Int("axis", 0)) + Tensor("input", "x", {"a", "b"}) +
                 "output { name: 'y' } output { name: 'i' } output { name: 'c' } ")));
  const auto unique = [&](int64_t rows, int64_t columns) {
    auto result = run->Run(
        "main", {Of({rows, columns}, std::vector<float>(static_cast<size_t>(rows * columns) + 1))});
    REQUIRE_MESSAGE(result.ok(), result.status().ToString());
    return fmt::format("{}x{} {} {}", result->field(0).dims()[0], result->field(0).dims()[1],
                       result->field(1).num_elements(), result->field(2).num_elements());
  };
  CHECK(unique(3, 0) == "1x0 3 1");
  CHECK(unique(0, 3) == "0x3 0 0");
  CHECK(unique(0, 0) == "0x0 0 0");
  CHECK(unique(4, 2) == "1x2 4 1");
}

}  // namespace
}  // namespace relayvm

// Rows of which nothing counts: queries whose keys are all masked, classes that no leaf has a weight for;
// slices without elements. Values are ONNX Runtime's, or numpy's where it ends the process.
#include <cfloat>
#include <cmath>

#include "compiler/end_to_end/imported_values.h"

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

TEST_CASE(
    "Attention: a query whose keys are all masked gives 0, by -infinity or the lowest number") {
  const std::vector<float> with_all = {0.38190436F, 0.50690436F, 0,     0,
                                       0.43646199F, 0.56146199F, 0.75F, 0.875F};
  const std::vector<float> causal = {0, 0.125F, 0, 0, 0.28292897F, 0.40792897F, 0.75F, 0.875F};
  for (const bool is_causal : {false, true}) {
    const auto run = Runnable(ImportText(
        GraphModel(Node("Attention", "x x x m", "y", Int("is_causal", is_causal ? 1 : 0)) +
                       Tensor("input", "x", {"1", "1", "4", "2"}) +
                       Tensor("input", "m", {"4", "n"}) + "output { name: 'y' } ",
                   23)));
    for (const float hidden : {-HUGE_VALF, -FLT_MAX}) {
      CAPTURE(is_causal);
      CAPTURE(hidden);
      std::vector<float> mask(16, 0);
      for (const int i : {4, 5, 6, 7, 12, 13, 14}) mask[static_cast<size_t>(i)] = hidden;
      auto y = run->Run("main",
                        {Of({1, 1, 4, 2}, {0, 0.125F, 0.25F, 0.375F, 0.5F, 0.625F, 0.75F, 0.875F}),
                         Of({4, 4}, mask)});
      REQUIRE_MESSAGE(y.ok(), y.status().ToString());
      const std::vector<float>& expected = is_causal ? causal : with_all;
      for (size_t i = 0; i < expected.size(); ++i)
        CHECK(std::abs(static_cast<const float*>(y->data())[i] - expected[i]) < 1e-5F);
    }
  }
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

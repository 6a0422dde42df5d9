// Inputs that only one branch of an imported model reads: their dims are a contract there, and
// nothing where another branch is taken.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

using import::testing::GraphModel;
using import::testing::ImportText;
using import::testing::Node;
using import::testing::Tensor;

std::string Branch(const char* name, const std::string& nodes) {
  return std::string("attribute { name: '") + name + "' type: GRAPH g { name: '" + name + "' " +
         nodes + "output { name: 'r' } } } ";
}

// A decoder with its two traces merged: the second reads the caches that it made before, the first
// reads what the encoder gave. Names of dims are shared by all.
std::string Merged(const std::string& inside_second) {
  return "node { name: 'if' op_type: 'If' input: 'go' output: 'y' " +
         Branch("then_branch", inside_second) +
         Branch("else_branch", Node("Add", "x encoder", "r")) + "} output { name: 'y' } " +
         Node("Relu", "x", "kept") + "output { name: 'kept' } " + Tensor("input", "go", {}, 9) +
         Tensor("input", "x", {"b", "n"}) + Tensor("input", "encoder", {"b", "n"}) +
         Tensor("input", "key", {"b", "n"}) + Tensor("input", "value", {"n", "b"});
}

Value Filled(std::vector<int64_t> dims, float value) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= d;
  const std::vector<float> data(static_cast<size_t>(size), value);
  return *Value::CopyTensor(DType::kFloat32, dims, data.data());
}

Result<Value> Run(Invocation& decoder, bool second, std::vector<std::vector<int64_t>> dims) {
  const auto go = static_cast<uint8_t>(second);
  return decoder.Run("main", {*Value::CopyTensor(DType::kBool, {}, &go), Filled(dims[0], 1),
                              Filled(dims[1], 2), Filled(dims[2], 4), Filled(dims[3], 8)});
}

TEST_CASE("dims of inputs that one branch reads are compared in that branch") {
  const std::string sum = Node("Transpose", "value", "t") + Node("Sum", "x key t", "r");
  // Read directly, in a branch of the branch, and after the same input was read.
  const std::string forms[] = {
      sum,
      "node { name: 'inner' op_type: 'If' input: 'go' output: 'r' " +
          Branch("then_branch", Node("Transpose", "value", "t") + Node("Sum", "x key t", "r")) +
          Branch("else_branch", Node("Identity", "x", "r")) + "} ",
      Node("Add", "x key", "u") + Node("Transpose", "value", "t") + Node("Add", "u t", "r"),
  };
  for (const std::string& form : forms) {
    CAPTURE(form);
    const auto decoder = Runnable(ImportText(GraphModel(Merged(form), 13)));
    auto first = Run(*decoder, false, {{2, 3}, {2, 3}, {0, 0}, {0, 0}});
    REQUIRE_MESSAGE(first.ok(), first.status().ToString());
    CHECK(static_cast<const float*>(first->field(0).data())[5] == 3);
    // Within what one branch reads, names are a contract when the program is called.
    CHECK_FALSE(Run(*decoder, false, {{2, 3}, {2, 3}, {0, 0}, {0, 1}}).ok());
    auto second = Run(*decoder, true, {{2, 3}, {7, 0}, {2, 3}, {3, 2}});
    REQUIRE_MESSAGE(second.ok(), second.status().ToString());
    CHECK(static_cast<const float*>(second->field(0).data())[5] == 13);
    // What ONNX would broadcast is not what the names say.
    for (const std::vector<int64_t>& key : {std::vector<int64_t>{1, 3}, {2, 1}, {0, 0}, {3, 2}}) {
      const auto wrong = Run(*decoder, true, {{2, 3}, {2, 3}, key, {key[1], key[0]}});
      REQUIRE_FALSE(wrong.ok());
      CAPTURE(wrong.status().ToString());
      CHECK(wrong.status().message().find("input 'key': dimension") != std::string::npos);
    }
    CHECK_FALSE(Run(*decoder, false, {{2, 3}, {2, 2}, {0, 0}, {0, 0}}).ok());
  }
}

TEST_CASE("inputs that all branches read keep their names") {
  const auto module = ImportText(GraphModel(
      Merged(Node("Transpose", "value", "t") + Node("Sum", "x key t encoder", "r")), 13));
  const auto decoder = Runnable(module);
  const auto wrong = Run(*decoder, true, {{2, 3}, {1, 3}, {2, 3}, {3, 2}});
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.status().message().find("x's dim 0 (b) is 2, encoder's dim 0 (b) is 1") !=
        std::string::npos);
}

}  // namespace
}  // namespace relayvm

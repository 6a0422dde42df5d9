// What an imported model asks of its inputs' numbers is checked when it runs, and the error names the
// node: places in sequences, blocks of weights, categories.
#include "compiler/end_to_end/imported_values.h"

namespace relayvm {
namespace {

using import::testing::ImportText;
using import::testing::Int;
using import::testing::Node;
using import::testing::Tensor;

struct Check {
  const char* node;  // the name that the error must say
  std::string graph;
  DType dtype;  // of the input that is checked: int64 or int32
  std::vector<int64_t> fine, wrong;
  std::vector<int64_t> dims = {3, 2};  // of x
};

std::string InDomain(std::string node, const char* domain) {
  return node.insert(node.find("op_type"), std::string("domain: '") + domain + "' ");
}

std::vector<Check> Checks() {
  // A sequence of three rows.
  const std::string rows = Tensor("input", "x", {"n", "2"}) + Tensor("input", "i", {}, 7) +
                           Node("SplitToSequence", "x", "s", Int("axis", 0));
  const std::string joined = Node("ConcatFromSequence", "q", "y", Int("axis", 0));
  const std::string out = "output { name: 'y' }";
  const std::string codes = "initializer { name: 'w' data_type: 2 dims: [1, 2, 8] raw_data: '" +
                            std::string(16, 'a') + "' } initializer { name: 'k' data_type: 1 " +
                            "dims: 2 float_data: [1, 2] } ";
  const std::string blocks =
      InDomain(Node("MatMulNBits", "x w k - i", "y",
                    Int("K", 32) + Int("N", 1) + Int("bits", 4) + Int("block_size", 16)),
               "com.microsoft");
  const std::string kept =
      InDomain(Node("OneHotEncoder", "i", "y",
                    "attribute { name: 'cats_int64s' type: INTS ints: [1, 5] } " + Int("zeros", 0)),
               "ai.onnx.ml");
  return {
      {"y", rows + Node("SequenceAt", "s i", "y") + out, DType::kInt64, {2}, {3}},
      {"y", rows + Node("SequenceAt", "s i", "y") + out, DType::kInt64, {-3}, {-4}},
      {"q", rows + Node("SequenceErase", "s i", "q") + joined + out, DType::kInt64, {-3}, {3}},
      {"q", rows + Node("SequenceErase", "s i", "q") + joined + out, DType::kInt64, {2}, {-4}},
      {"q", rows + Node("SequenceInsert", "s x i", "q") + joined + out, DType::kInt64, {3}, {4}},
      {"q", rows + Node("SequenceInsert", "s x i", "q") + joined + out, DType::kInt64, {-3}, {-4}},
      {"y",
       Tensor("input", "x", {"n", "32"}) + Tensor("input", "i", {"32"}, 6) + codes + blocks + out,
       DType::kInt32,
       std::vector<int64_t>(32, 1),
       std::vector<int64_t>(32, 2),
       {3, 32}},
      {"y",
       Tensor("input", "x", {"n", "32"}) + Tensor("input", "i", {"32"}, 6) + codes + blocks + out,
       DType::kInt32,
       std::vector<int64_t>(32, 0),
       std::vector<int64_t>(32, -1),
       {3, 32}},
      {"y",
       Tensor("input", "x", {"n"}) + Tensor("input", "i", {"m"}, 7) + kept + out,
       DType::kInt64,
       {5, 1},
       {1, 3},
       {5}},
  };
}

Value Whole(const Check& c, const std::vector<int64_t>& numbers, bool scalar) {
  const std::vector<int64_t> dims =
      scalar ? std::vector<int64_t>() : std::vector<int64_t>{static_cast<int64_t>(numbers.size())};
  const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
  const bool wide = c.dtype == DType::kInt64;
  return *Value::CopyTensor(c.dtype, dims,
                            wide ? static_cast<const void*>(numbers.data()) : narrow.data());
}

TEST_CASE("numbers that a node can't take stop the program at the node") {
  for (const Check& c : Checks()) {
    CAPTURE(c.graph);
    const std::unique_ptr<Invocation> run = Runnable(ImportText(
        "ir_version: 8 opset_import { domain: 'com.microsoft' version: 1 } opset_import { domain: "
        "'ai.onnx.ml' version: 3 } opset_import { version: 17 } graph { name: 'g' " +
        c.graph + " }"));
    const bool scalar = c.fine.size() == 1;
    const std::vector<float> data(96, 0.5F);
    const Value x = *Value::CopyTensor(DType::kFloat32, c.dims, data.data());
    const auto fine = run->Run("main", {x, Whole(c, c.fine, scalar)});
    CHECK_MESSAGE(fine.ok(), fine.status().ToString());
    const auto wrong = run->Run("main", {x, Whole(c, c.wrong, scalar)});
    REQUIRE(!wrong.ok());
    CAPTURE(wrong.status().ToString());
    CHECK(wrong.status().ToString().find("node '" + std::string(c.node) + "'") !=
          std::string::npos);
    CHECK(wrong.status().ToString().find("expected InRange") != std::string::npos);
  }
}

}  // namespace
}  // namespace relayvm

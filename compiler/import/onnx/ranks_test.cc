// ONNX models whose values have ranks that only running tells: branches that differ, Squeeze of
// what may be 1; as outputs and on the way. And sequences and optional values of tensors with open
// dims.
#include <tuple>
#include <utility>

#include "compiler/import/onnx/value_cases.h"
#include "compiler/reference/interpreter.h"

namespace relayvm {
namespace {

using import::testing::GraphModel;
using import::testing::ImportText;
using import::testing::Ints;
using import::testing::Node;
using import::testing::Tensor;

using Dims = std::vector<int64_t>;

// Elements 0, 1, 2, ...
Value Counting(const Dims& dims) {
  auto v = *Value::NewTensor(DType::kFloat32, dims);
  for (int64_t i = 0; i < v.num_elements(); ++i)
    static_cast<float*>(v.mutable_data())[i] = static_cast<float>(i);
  return v;
}
Dims DimsOf(const Value& v) {
  REQUIRE(v.is_tensor());
  return {v.dims().begin(), v.dims().end()};
}
Dims DimsOf(const Result<Value>& v) {
  REQUIRE_MESSAGE(v.ok(), v.status().ToString());
  return DimsOf(*v);
}
std::string If(const std::string& condition, const std::string& out, const std::string& yes,
               const std::string& no) {
  return Node("If", condition, out,
              "attribute { name: 'then_branch' type: GRAPH g { name: 't' " + yes +
                  "} } attribute { name: 'else_branch' type: GRAPH g { name: 'e' " + no + "} } ");
}
std::string Output(const char* name) { return fmt::format("output {{ name: '{}' }} ", name); }

// Of x (1, n): without its first axis where c holds.
const std::string kTwoRanks = If("c", "y", Node("Squeeze", "x zero", "s") + Output("s"),
                                 Node("Neg", "x", "i") + Output("i")) +
                              Ints("zero", {0}) + Tensor("input", "c", {}, 9) +
                              Tensor("input", "x", {"1", "n"});

TEST_CASE("an output of two ranks is the tensor that the branch gives") {
  const auto run = Runnable(ImportText(GraphModel(kTwoRanks + Output("y"))));
  CHECK(DimsOf(run->Run("main", {Value::Bool(true), Counting({1, 3})})) == Dims{3});
  CHECK(DimsOf(run->Run("main", {Value::Bool(false), Counting({1, 3})})) == Dims{1, 3});
}

TEST_CASE("outputs of two ranks among others, and what follows such a value") {
  const auto run = Runnable(
      ImportText(GraphModel(kTwoRanks + Node("ReduceSum", "y", "sum") + Node("Exp", "y", "e") +
                            Output("y") + Output("sum") + Output("x") + Output("e"))));
  for (const bool c : {true, false}) {
    auto result = run->Run("main", {Value::Bool(c), Counting({1, 3})});
    REQUIRE_MESSAGE(result.ok(), result.status().ToString());
    REQUIRE(result->num_fields() == 4);
    const Dims y = c ? Dims{3} : Dims{1, 3}, sum = c ? Dims{1} : Dims{1, 1};
    CHECK(DimsOf(result->field(0)) == y);
    CHECK(DimsOf(result->field(1)) == sum);
    CHECK(DimsOf(result->field(2)) == Dims{1, 3});
    CHECK(DimsOf(result->field(3)) == y);
  }
}

TEST_CASE("branches in branches, of three ranks; the reference gives the same") {
  const std::string inner = If("d", "t", Node("Squeeze", "x zero", "s") + Output("s"),
                               Node("Unsqueeze", "x zero", "u") + Output("u")) +
                            Output("t");
  const std::string graph = If("c", "y", inner, Node("Neg", "x", "i") + Output("i")) +
                            Node("Abs", "y", "z") + Ints("zero", {0}) +
                            Tensor("input", "c", {}, 9) + Tensor("input", "d", {}, 9) +
                            Tensor("input", "x", {"1", "n"}) + Output("z");
  auto module = ImportText(GraphModel(graph));
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  auto typed = RunFrontendPipeline(*module);
  REQUIRE_MESSAGE(typed.ok(), typed.status().ToString());
  const auto run = Runnable(ImportText(GraphModel(graph)));
  const auto scalar = [](bool b) {
    HostTensor t{DType::kBool, {}, SharedBytes::Zeros(1)};
    t.data.Mutable()[0] = std::byte{b};
    return reference::MakeTensor(std::move(t));
  };
  const std::tuple<bool, bool, Dims> cases[] = {
      {true, true, {3}}, {true, false, {1, 1, 3}}, {false, true, {1, 3}}};
  for (const auto& [c, d, dims] : cases) {
    CHECK(DimsOf(run->Run("main", {Value::Bool(c), Value::Bool(d), Counting({1, 3})})) == dims);
    HostTensor x{DType::kFloat32, {1, 3}, SharedBytes::Zeros(12)};
    auto z = reference::Run(*typed, "main",
                            {scalar(c), scalar(d), reference::MakeTensor(std::move(x))}, {});
    REQUIRE_MESSAGE(z.ok(), z.status().ToString());
    REQUIRE((*z)->As<reference::Tensor>() != nullptr);
    CHECK((*z)->As<reference::Tensor>()->data->shape == dims);
  }
}

TEST_CASE("a state of a loop has one rank") {
  const auto module =
      ImportText(GraphModel(Node("Loop", "n c x", "y",
                                 "attribute { name: 'body' type: GRAPH g { name: 'b' input { name: "
                                 "'i' } input { name: 'k' } "
                                 "input { name: 's' } " +
                                     If("k", "t", Node("Squeeze", "s", "u") + Output("u"),
                                        Node("Identity", "s", "v") + Output("v")) +
                                     Output("k") + Output("t") + "} } ") +
                            Tensor("input", "n", {}, 7) + Tensor("input", "c", {}, 9) +
                            Tensor("input", "x", {"1", "3"}) + Output("y")));
  CHECK(!module.ok());
}

TEST_CASE("Squeeze without axes: open dims go where they are 1 when it runs") {
  const auto run = Runnable(ImportText(GraphModel(
      Node("Squeeze", "x", "y") + Tensor("input", "x", {"n", "1", "m", "3"}) + Output("y"))));
  const std::pair<Dims, Dims> cases[] = {{{2, 1, 4, 3}, {2, 4, 3}},
                                         {{1, 1, 4, 3}, {4, 3}},
                                         {{2, 1, 1, 3}, {2, 3}},
                                         {{1, 1, 1, 3}, {3}},
                                         {{0, 1, 1, 3}, {0, 3}}};
  for (const auto& [from, to] : cases) CHECK(DimsOf(run->Run("main", {Counting(from)})) == to);
}

TEST_CASE("Squeeze without axes: a dim is asked for once, and what follows fits one rank alone") {
  // Both are squeezed alike, and only matrices are transposed so.
  const auto run = Runnable(ImportText(GraphModel(
      Node("Squeeze", "x", "a") + Node("Exp", "x", "e") + Node("Squeeze", "e", "b") +
      Node("Add", "a b", "s") + Node("Transpose", "s", "y", import::testing::Perm({1, 0})) +
      Tensor("input", "x", {"n", "3"}) + Output("y"))));
  CHECK(DimsOf(run->Run("main", {Counting({4, 3})})) == Dims{3, 4});
  const auto wrong = run->Run("main", {Counting({1, 3})});
  CHECK(!wrong.ok());
}

TEST_CASE("what is given for each sequence says how many a recurrent layer has") {
  const auto weights = [](const char* name) {
    return fmt::format(
        "initializer {{ name: '{}' data_type: 1 dims: [1, 6, 2] float_data: [{}] }} ", name,
        fmt::join(std::vector<double>(12, 0.5), ", "));
  };
  const auto run = Runnable(ImportText(GraphModel(
      Node("GRU", "x W R - - h", "y") + Node("Squeeze", "y", "z") + weights("W") + weights("R") +
      "initializer { name: 'h' data_type: 1 dims: [1, 1, 2] float_data: [1, 2] } " +
      Tensor("input", "x", {"5", "batch", "2"}) + Output("z"))));
  CHECK(DimsOf(run->Run("main", {Counting({5, 1, 2})})) == Dims{5, 2});
  CHECK(!run->Run("main", {Counting({5, 2, 2})}).ok());
}

// --- Sequences and optional values ---

std::string Held(const char* name, const std::string& type, const std::string& dims) {
  const std::string tensor =
      "tensor_type { elem_type: 1 shape { " + dims + " dim { dim_value: 3 } } }";
  return fmt::format("input {{ name: '{}' type {{ {} }} }} ", name,
                     fmt::format(fmt::runtime(type), tensor));
}
const char* const kSequence = "sequence_type {{ elem_type {{ {} }} }}";
const char* const kOptional = "optional_type {{ elem_type {{ {} }} }}";

Value ListOf(const std::vector<Value>& elements) {
  Value list = Value::Adt(1, {});
  for (size_t i = elements.size(); i-- > 0;) list = Value::Adt(0, {elements[i], std::move(list)});
  return list;
}

TEST_CASE("sequences of tensors with open dims") {
  for (const char* dims : {"dim { dim_param: 'n' }", "dim { }", "dim { dim_value: 0 }"}) {
    const auto run = Runnable(ImportText(GraphModel(
        Node("SequenceAt", "q i", "t") + Node("MatMul", "t w", "y") + Held("q", kSequence, dims) +
        Tensor("input", "i", {}, 7) + Tensor("input", "w", {"3", "k"}) + Output("y"))));
    const Value q = ListOf({Counting({2, 3}), Counting({5, 3})});
    CHECK(DimsOf(run->Run("main", {q, Value::Int64(0), Counting({3, 4})})) == Dims{2, 4});
    CHECK(DimsOf(run->Run("main", {q, Value::Int64(-1), Counting({3, 4})})) == Dims{5, 4});
    CHECK(!run->Run("main", {ListOf({Counting({2, 4})}), Value::Int64(0), Counting({3, 4})}).ok());
  }
}

TEST_CASE("optional values with open dims: given as they are, or left out") {
  const std::string graph = Node("OptionalHasElement", "o", "c") +
                            If("c", "y", Node("OptionalGetElement", "o", "t") + Output("t"),
                               Node("Identity", "x", "e") + Output("e")) +
                            Tensor("input", "x", {"m", "3"}) +
                            Held("o", kOptional, "dim { dim_param: 'n' }") + Output("y");
  const auto run = Runnable(ImportText(GraphModel(graph, 18)));
  CHECK(DimsOf(run->Run("main", {Counting({4, 3})})) == Dims{4, 3});
  CHECK(DimsOf(run->Run("main", {Counting({4, 3}), Counting({2, 3})})) == Dims{2, 3});
}

TEST_CASE("optional sequences are lists for hosts, in and out") {
  const auto run = Runnable(ImportText(GraphModel(
      Node("OptionalGetElement", "o", "q") +
          Node("ConcatFromSequence", "q", "y", import::testing::Int("axis", 0)) +
          Held("o", "optional_type {{ elem_type {{ sequence_type {{ elem_type {{ {} }} }} }} }}",
               "dim { }") +
          Output("y"),
      18)));
  const Value q = ListOf({Counting({2, 3}), Counting({5, 3})});
  CHECK(DimsOf(run->Run("main", {Value::Adt(1, {q})})) == Dims{7, 3});
}

}  // namespace
}  // namespace relayvm

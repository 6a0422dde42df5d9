#include "compiler/import/control_flow.h"

#include "compiler/import/onnx/testing.h"
#include "compiler/ir/printer.h"
#include "compiler/typing/infer.h"

namespace relayvm::import {
namespace {

using testing::GraphModel;
using testing::ImportText;
using testing::Tensor;

ir::Type T(std::vector<Dim> shape, DType dtype = DType::kFloat32) {
  return ir::MakeTensorType(std::move(shape), dtype);
}

std::string Text(const ir::Type& t) { return t == nullptr ? "none" : ir::TypeToString(t); }

std::string ResultOf(const std::string& graph) {
  auto module = ImportText(GraphModel(graph));
  if (!module.ok()) return std::string(module.status().message());
  auto typed = InferTypes(*module);
  if (!typed.ok()) return std::string(typed.status().message());
  return ir::TypeToString(typed->functions.at("main")->result_type, /*symbol_names=*/false);
}

TEST_CASE("the type of one of two values") {
  const ir::Type pair = ir::MakeType(ir::TupleType{{T({2}), T({3})}});
  const ir::Type one = ir::MakeType(ir::TupleType{{T({2})}});
  const ir::Type none = ir::MakeType(ir::TupleType{});
  CHECK(Text(JoinTypes(T({2, 3}), T({2, 3}))) == "Tensor[(2, 3), float32]");
  CHECK(Text(JoinTypes(T({2, 3}), T({2, 4}))) == "Tensor[(2, ?), float32]");
  CHECK(JoinTypes(T({2, 3}), T({2})) == nullptr);
  CHECK(JoinTypes(T({2}), T({2}, DType::kInt64)) == nullptr);
  CHECK(Text(JoinTypes(pair, one)) == "Sequence[Tensor[(?), float32]]");
  CHECK(Text(JoinTypes(none, one)) == "Sequence[Tensor[(2), float32]]");
  CHECK(Text(JoinTypes(SequenceType(T({5})), pair)) == "Sequence[Tensor[(?), float32]]");
  CHECK(Text(JoinTypes(NoneType(), pair)) == "Optional[Sequence[Tensor[(?), float32]]]");
  CHECK(Text(JoinTypes(OptionalType(T({4})), T({2}))) == "Optional[Tensor[(?), float32]]");
  CHECK(JoinTypes(pair, T({2})) == nullptr);
  CHECK(JoinTypes(one, ir::MakeType(ir::TupleType{{T({2}), T({2, 2})}})) == nullptr);
}

// y = concat(y, x) as often as `n` says.
std::string LoopModel(const std::string& body) {
  return "node { name: 'l' op_type: 'Loop' input: 'n' input: '' input: 'x' output: 'y' output: 'z' "
         "attribute { name: 'body' type: GRAPH g { name: 'b' " +
         Tensor("input", "i", {}, 7) + Tensor("input", "c", {}, 9) +
         Tensor("input", "s", {"k", "2"}) + body + Tensor("output", "c", {}, 9) +
         Tensor("output", "t", {"k", "2"}) + Tensor("output", "r", {}) + "} } } " +
         Tensor("input", "n", {}, 7) + Tensor("input", "x", {"3", "2"}) +
         Tensor("output", "y", {"k", "2"}) + Tensor("output", "z", {"m"});
}

TEST_CASE("dims of a loop's state are numbers as long as every turn keeps them") {
  const std::string row =
      "node { op_type: 'ReduceSum' input: 's' output: 'r' attribute { name: "
      "'keepdims' type: INT i: 0 } } ";
  CHECK(ResultOf(LoopModel("node { op_type: 'Relu' input: 's' output: 't' } " + row)) ==
        "(Tensor[(3, 2), float32], Tensor[(?), float32])");
  CHECK(ResultOf(LoopModel("node { op_type: 'Concat' input: 's' input: 'x' output: 't' attribute { "
                           "name: 'axis' type: INT i: 0 } } " +
                           row)) == "(Tensor[(?, 2), float32], Tensor[(?), float32])");
  const std::string error = ResultOf(LoopModel(
      "node { op_type: 'ReduceSum' input: 's' output: 't' attribute { name: 'keepdims' type: INT "
      "i: 0 } } " +
      row));
  CHECK(error.find("node 'l' (Loop): the state 0 of the loop is") != std::string::npos);
}

// x of (n, 4), or without its first axis where n is 1; then `rest` from v to y.
std::string BranchModel(const std::string& rest, const std::vector<std::string>& dims) {
  const auto branch = [](const std::string& name, const std::string& op) {
    return "attribute { name: '" + name + "' type: GRAPH g { name: 'b' node { op_type: '" + op +
           "' input: 'x' " + (op == "Squeeze" ? "input: 'zero' " : "") + "output: 'o' } " +
           "output { name: 'o' } } } ";
  };
  return "initializer { name: 'zero' dims: 1 data_type: 7 int64_data: 0 } "
         "initializer { name: 'one' data_type: 7 int64_data: 1 } "
         "node { op_type: 'Shape' input: 'x' output: 'shape' } "
         "node { op_type: 'Gather' input: 'shape' input: 'zero' output: 'd' } "
         "node { op_type: 'Equal' input: 'd' input: 'one' output: 'is_one' } "
         "node { name: 'if' op_type: 'If' input: 'is_one' output: 'v' " +
         branch("then_branch", "Squeeze") + branch("else_branch", "Identity") + "} " + rest +
         Tensor("input", "x", dims) + "output { name: 'y' } ";
}

TEST_CASE("branches of an If that differ in rank") {
  const std::string sum = "node { op_type: 'ReduceSum' input: 'v' output: 'y' } ";
  const std::string total =
      "node { op_type: 'ReduceSum' input: 'v' output: 'y' attribute { name: 'keepdims' type: INT "
      "i: 0 } } ";
  // Decided by the shape.
  CHECK(ResultOf(BranchModel(sum, {"1", "4"})) == "Tensor[(1), float32]");
  CHECK(ResultOf(BranchModel(sum, {"3", "4"})) == "Tensor[(1, 1), float32]");
  // What follows comes to one rank again.
  CHECK(ResultOf(BranchModel(total, {"n", "4"})) == "float32");
  // It does not: a value of either type.
  CHECK(ResultOf(BranchModel(sum, {"n", "4"})) ==
        "OneOf[Tensor[(1), float32], Tensor[(1, 1), float32]]");
  // It fits one of them alone: the other fails when the program runs.
  CHECK(ResultOf(BranchModel("node { op_type: 'Transpose' input: 'v' output: 'y' attribute { name: "
                             "'perm' type: INTS ints: 1 ints: 0 } } ",
                             {"n", "4"})) == "Tensor[(4, ?), float32]");
}

}  // namespace
}  // namespace relayvm::import

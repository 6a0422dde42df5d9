#include "compiler/import/onnx/importer.h"

#include <set>

#include "compiler/import/onnx/operator.h"
#include "compiler/import/onnx/testing.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/signature_attrs.h"
#include "compiler/typing/infer.h"

namespace relayvm::import {
namespace {

using testing::GraphModel;
using testing::ImportText;
using testing::ModelOf;
using testing::Tensor;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string ErrorOf(const std::string& graph, int opset = 13) {
  auto module = ImportText(GraphModel(graph, opset));
  REQUIRE(!module.ok());
  return std::string(module.status().message());
}

const std::string kXY = Tensor("input", "x", {"n", "4"}) + Tensor("output", "y", {"n", "4"});

TEST_CASE("inputs, outputs and dims keep their names") {
  auto module =
      ImportText(GraphModel("node { name: 'act' op_type: 'Relu' input: 'x' output: 'y' } " + kXY));
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  auto typed = InferTypes(*module);
  REQUIRE_MESSAGE(typed.ok(), typed.status().ToString());
  const ir::Function& main = *typed->functions.at("main");
  REQUIRE(main.params.size() == 1);
  CHECK(main.params[0]->name == "x");
  CHECK(ir::TypeToString(main.params[0]->type) == "Tensor[(n, 4), float32]");
  CHECK(ir::TypeToString(main.result_type) == "Tensor[(n, 4), float32]");
  CHECK(main.attrs.at(ir::kOutputNames) == AttrValue(AttrList{std::string("y")}));
}

TEST_CASE("--dim fixes a named dimension everywhere") {
  auto module = ImportText(GraphModel("node { op_type: 'Add' input: 'x' input: 'z' output: 'y' } " +
                                      kXY + Tensor("input", "z", {"n", "4"})),
                           {.dims = {{"n", 3}}});
  REQUIRE(module.ok());
  for (const ir::Var* p : module->functions.at("main")->params) {
    CHECK(ir::TypeToString(p->type) == "Tensor[(3, 4), float32]");
  }
  auto wrong = ImportText(GraphModel("node { op_type: 'Relu' input: 'x' output: 'y' } " + kXY),
                          {.dims = {{"batch", 3}}});
  REQUIRE(!wrong.ok());
  CHECK(Contains(wrong.status().message(),
                 "no input of the model has a dimension of that name; it has: n"));
}

TEST_CASE("all operators that are not supported are named at once, with node, domain and opset") {
  const std::string error = ErrorOf(
      "node { name: 'a' op_type: 'Frobnicate' input: 'x' output: 't' } "
      "node { name: 'b' op_type: 'Relu' domain: 'com.example' input: 't' output: 'y' } " +
      kXY);
  CHECK(Contains(error, "2 operators are not supported"));
  CHECK(Contains(error, "Frobnicate (ai.onnx, opset 13): node 'a'"));
  CHECK(Contains(error, "Relu (com.example, opset 1): node 'b'"));
}

TEST_CASE("errors name the node") {
  CHECK(Contains(ErrorOf("node { name: 'act' op_type: 'Relu' input: 'nope' output: 'y' } " + kXY),
                 "node 'act' (Relu): 'nope' is used before"));
  CHECK(Contains(ErrorOf("node { name: 'act' op_type: 'Relu' input: 'y' output: 'y' } " + kXY),
                 "'y' is used before"));  // a cycle
  CHECK(Contains(
      ErrorOf("node { name: 'two' op_type: 'Relu' input: 'x' input: 'x' output: 'y' } " + kXY),
      "node 'two' (Relu): expected 1 inputs, found 2"));
  CHECK(Contains(ErrorOf("node { name: 'sum' op_type: 'Add' input: 'x' input: 'w' output: 'y' } "
                         "initializer { name: 'w' dims: 3 data_type: 1 float_data: [1, 2, 3] } " +
                         kXY),
                 "node 'sum' (Add): add: "));
  CHECK(Contains(ErrorOf("node { name: 't' op_type: 'Transpose' input: 'x' output: 'y' attribute { "
                         "name: 'perm' type: "
                         "FLOAT f: 1 } } " +
                         kXY),
                 "attribute perm: expected INTS, found FLOAT"));
  CHECK(Contains(ErrorOf(Tensor("input", "x", {"n"})), "the graph has no outputs"));
}

TEST_CASE("the elements of a shape decide a rank: not too many") {
  for (const char* count : {"65", "2147483648", "9223372036854775807"}) {
    CAPTURE(count);
    CHECK(Contains(ErrorOf("node { op_type: 'Expand' input: 'x' input: 's' output: 'y' } " +
                           Tensor("input", "s", {count}, 7) + kXY),
                   "the number of elements of shape decides a rank"));
  }
}

TEST_CASE(
    "functions of a model are written where they are called; one that calls itself is refused") {
  const std::string calls =
      "node { op_type: 'F' domain: 'mine' input: 'x' output: 'y' attribute { name: 'k' type: INT "
      "i: 1 } } ";
  const auto model = [&](const std::string& body) {
    return "ir_version: 8 opset_import { version: 13 } opset_import { domain: 'mine' version: 1 } "
           "graph { name: 'g' " +
           calls + kXY +
           " } functions { name: 'F' domain: 'mine' input: 'a' output: 'b' attribute: 'k' "
           "opset_import { version: 13 } opset_import { domain: 'mine' version: 1 } " +
           body + " }";
  };
  auto good = ImportText(
      model("node { op_type: 'Softmax' input: 'a' output: 'b' attribute { name: 'axis' type: INT "
            "ref_attr_name: 'k' } } "));
  REQUIRE_MESSAGE(good.ok(), good.status().ToString());
  CHECK(Contains(ir::PrintModule(*good), "nn.softmax(%x, axis=1)"));
  auto endless = ImportText(model("node { op_type: 'F' domain: 'mine' input: 'a' output: 'b' } "));
  REQUIRE(!endless.ok());
  CHECK(Contains(endless.status().message(), "function 'F' calls itself"));
}

TEST_CASE("--shape gives the rank of tensors that a sequence or an optional value holds") {
  const auto model = [](const char* type) {
    return GraphModel(std::string("input { name: 's' type { ") + type +
                      " } } node { op_type: 'Identity' input: 's' output: 'y' } output { name: 'y' "
                      "} ");
  };
  const char* sequence = "sequence_type { elem_type { tensor_type { elem_type: 1 } } }";
  const char* optional =
      "optional_type { elem_type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } "
      "}";
  const char* ranked =
      "sequence_type { elem_type { tensor_type { elem_type: 1 shape { dim { dim_param: 'n' } dim { "
      "dim_value: 2 } } } } }";
  const auto param = [&](const char* type, const char* shape) {
    auto module = ImportText(model(type), {.shapes = {{"s", shape}}});
    REQUIRE_MESSAGE(module.ok(), module.status().ToString());
    return ir::TypeToString(module->functions.at("main")->params[0]->type);
  };
  CHECK(param(sequence, "?x3") == "List[Tensor[(?, 3), float32]]");
  CHECK(param(optional, "5") == "Optional[List[Tensor[(5), float32]]]");
  CHECK(param(ranked, "3x?") == "List[Tensor[(3, 2), float32]]");
  auto named = ImportText(model(ranked));
  REQUIRE(named.ok());
  CHECK(ir::TypeToString(named->functions.at("main")->params[0]->type) ==
        "List[Tensor[(?, 2), float32]]");
  for (const char* type : {sequence, optional}) {
    auto open = ImportText(model(type));
    REQUIRE(!open.ok());
    CHECK(Contains(open.status().message(),
                   "input 's': the rank of the tensors that it holds is not declared; give their "
                   "shape: --shape s=1x?x?"));
  }
  auto complex = ImportText(model("sequence_type { elem_type { tensor_type { elem_type: 14 } } }"));
  REQUIRE(!complex.ok());
  CHECK(Contains(complex.status().message(), "input 's': elements of COMPLEX64 are not supported"));
}

TEST_CASE("dtypes that the IR lacks are named where they are asked for") {
  const std::string xy = Tensor("input", "x", {"n"}) + "output { name: 'y' } ";
  const auto cast = [&](int type, const std::string& more) {
    return ErrorOf("node { name: 'c' op_type: 'Cast' input: 'x' output: '" +
                       std::string(more.empty() ? "y" : "t") +
                       "' attribute { name: 'to' type: INT i: " + std::to_string(type) + " } } " +
                       more + xy,
                   21);
  };
  CHECK(Contains(cast(24, ""), "attribute to: elements of FLOAT8E8M0 are not supported"));
  CHECK(Contains(cast(14, "node { op_type: 'Identity' input: 't' output: 'y' } "),
                 "attribute to: elements of COMPLEX64 are not supported"));
  CHECK(Contains(ErrorOf(Tensor("input", "x", {"n"}, 24) + "output { name: 'x' } ", 21),
                 "input 'x': elements of FLOAT8E8M0 are not supported"));
}

TEST_CASE("numbers of a node that cannot be") {
  const std::string x = Tensor("input", "x", {"2", "6", "1"}) + "output { name: 'y' } ";
  const auto dft = [&](int64_t length) {
    return ErrorOf(
        "node { name: 'f' op_type: 'DFT' input: 'x' input: 'l' output: 'y' } "
        "initializer { name: 'l' data_type: 7 int64_data: " +
            std::to_string(length) + " } " + x,
        17);
  };
  CHECK(Contains(dft(0), "node 'f' (DFT): dft_length 'l': 0, expected 1 or more"));
  CHECK(Contains(dft(-5), "dft_length 'l': -5, expected 1 or more"));
  const auto nbits = [&](const std::string& g) {
    return std::string(
        ImportText("ir_version: 7 opset_import { version: 17 } opset_import { domain: "
                   "'com.microsoft' version: 1 } graph { name: 'g' node { name: 'm' op_type: "
                   "'MatMulNBits' domain: 'com.microsoft' input: 'x' input: 'w' input: 's' input: "
                   "'' input: 'g' output: 'y' attribute { name: 'K' type: INT i: 4 } attribute { "
                   "name: 'N' type: INT i: 1 } attribute { name: 'block_size' type: INT i: 2 } } "
                   "initializer { name: 'w' data_type: 2 dims: [1, 2, 1] int32_data: [1, 2] } "
                   "initializer { name: 's' data_type: 1 dims: 2 float_data: [1, 2] } initializer "
                   "{ name: 'g' data_type: 6 " +
                   g + " } " + Tensor("input", "x", {"3", "4"}) + "output { name: 'y' } }")
            .status()
            .message());
  };
  CHECK(nbits("dims: 4 int32_data: [0, 1, 1, 0]").empty());
  CHECK(Contains(nbits("dims: 4 int32_data: [0, 1, 2, 0]"), "g_idx: expected 0 to 1, found 2"));
  CHECK(Contains(nbits("dims: 4 int32_data: [0, 1, -1, 0]"), "g_idx: expected 0 to 1, found -1"));
  CHECK(Contains(nbits("dims: 2 int32_data: [0, 1]"), "g_idx: expected a vector of 4 numbers"));
}

TEST_CASE("trees that are none, keys of other types and maps are refused") {
  const auto error = [](const std::string& op, const std::string& attributes) {
    auto module = ImportText(
        "ir_version: 8 opset_import { version: 17 } opset_import { domain: 'ai.onnx.ml' version: 5 "
        "} graph { name: 'g' node { name: 'it' op_type: '" +
        op + "' domain: 'ai.onnx.ml' input: 'x' output: 'y' " + attributes + " } " +
        Tensor("input", "x", {"n", "2"}) + "output { name: 'y' } }");
    return std::string(module.status().message());
  };
  const auto ints = [](const char* name, const std::string& values) {
    return "attribute { name: '" + std::string(name) + "' type: INTS ints: [" + values + "] } ";
  };
  const auto floats = [](const char* name, const std::string& values) {
    return "attribute { name: '" + std::string(name) + "' type: FLOATS floats: [" + values + "] } ";
  };
  // One branch and two leaves, but for what differs.
  const auto tree = [&](const std::string& yes, const std::string& no, const std::string& feature,
                        const std::string& mode, const std::string& leaf) {
    return error("TreeEnsembleRegressor",
                 ints("nodes_treeids", "0, 0, 0") + ints("nodes_nodeids", "0, 1, 2") +
                     ints("nodes_featureids", feature) + ints("nodes_truenodeids", yes) +
                     ints("nodes_falsenodeids", no) + floats("nodes_values", "0.5, 0, 0") +
                     "attribute { name: 'nodes_modes' type: STRINGS strings: ['" + mode +
                     "', 'BRANCH_LEQ', 'LEAF'] } " + ints("target_ids", "0") +
                     ints("target_treeids", "0") + ints("target_nodeids", leaf) +
                     floats("target_weights", "1"));
  };
  CHECK(tree("1, 2, 0", "2, 2, 0", "0, 1, 0", "BRANCH_LEQ", "2").empty());
  CHECK(Contains(tree("1, 0, 0", "2, 2, 0", "0, 1, 0", "BRANCH_LEQ", "2"),
                 "nodes lead back to themselves"));
  CHECK(Contains(tree("1, 7, 0", "2, 2, 0", "0, 1, 0", "BRANCH_LEQ", "2"),
                 "node 1 of tree 0 leads to node 7, which there is not"));
  CHECK(Contains(tree("1, 2, 0", "2, 2, 0", "0, 2, 0", "BRANCH_LEQ", "2"),
                 "nodes_featureids: expected 0 to 1, found 2"));
  CHECK(Contains(tree("1, 2, 0", "2, 2, 0", "0, 1, 0", "BRANCH_?", "2"),
                 "nodes_modes: 'BRANCH_?' is not supported"));
  CHECK(Contains(tree("1, 2, 0", "2, 2", "0, 1, 0", "BRANCH_LEQ", "2"),
                 "nodes_falsenodeids: expected 3 numbers, found 2"));
  CHECK(Contains(tree("1, 2, 0", "2, 2, 0", "0, 1, 0", "BRANCH_LEQ", "5"),
                 "a weight names node 5 of tree 0, which there is not"));
  CHECK(Contains(error("TreeEnsemble", ""), "nodes_featureids: expected nodes"));
  CHECK(Contains(
      error("LabelEncoder", "attribute { name: 'keys_strings' type: STRINGS strings: ['a'] } " +
                                ints("values_int64s", "1")),
      "expected an input of the keys' type, string, found float32"));
  CHECK(Contains(error("DictVectorizer", ""), "maps are not supported"));
}

TEST_CASE(
    "functions: inputs that a call leaves out, attributes inside graphs and those with defaults") {
  const std::string x_and_y =
      Tensor("input", "x", {"n"}) + Tensor("input", "c", {}, 9) + "output { name: 'y' } ";
  const auto model = [&](const std::string& call, const std::string& function) {
    return ModelOf(
        "ir_version: 9 opset_import { version: 17 } opset_import { domain: 'mine' version: 1 } "
        "graph { name: 'g' node { name: 'call' op_type: 'F' domain: 'mine' output: 'y' " +
        call + " } " + x_and_y + " } functions { name: 'F' domain: 'mine' " + function +
        " opset_import { version: 17 } }");
  };
  const auto text = [](const onnx::ModelProto& m) {
    testing::ModelFolder folder;
    auto mapping = FileMapping::Open(folder.Write("model.onnx", m.SerializeAsString()));
    REQUIRE(mapping.ok());
    auto module = ImportOnnx("model.onnx", SharedBytes::OfFile(*mapping), {});
    REQUIRE_MESSAGE(module.ok(), module.status().ToString());
    return ir::PrintModule(*module);
  };
  const std::string left_out = text(
      model("input: 'x' input: ''",
            "input: 'a' input: 'low' output: 'b' node { op_type: 'Clip' input: 'a' input: 'low' "
            "output: 'b' }"));
  CHECK(!Contains(left_out, "maximum"));
  const std::string alpha = "attribute { name: 'alpha' ref_attr_name: 'slope' type: FLOAT } ";
  const std::string leaky =
      "node { op_type: 'LeakyRelu' input: 'a' output: 'b' " + alpha + " } output: 'b'";
  CHECK(Contains(
      text(model("input: 'x' input: 'c' attribute { name: 'slope' type: FLOAT f: 0.25 } ",
                 "input: 'a' input: 'c' attribute: 'slope' output: 'r' node { op_type: 'If' input: "
                 "'c' output: 'r' attribute { name: 'then_branch' type: GRAPH g { name: 't' node { "
                 "op_type: 'LeakyRelu' input: 'a' output: 'p' " +
                     alpha +
                     " } output { name: 'p' } } } attribute { name: 'else_branch' type: GRAPH g { "
                     "name: 'e' node { op_type: 'Identity' input: 'a' output: 'q' } output { name: "
                     "'q' } } } }")),
      "0.25f"));
  // The schema's newer field: defaults of attributes.
  onnx::ModelProto with_default = model("input: 'x'", "input: 'a' " + leaky);
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.125);
  onnx::FunctionProto* function = with_default.mutable_functions(0);
  function->GetReflection()->MutableUnknownFields(function)->AddLengthDelimited(
      11, slope.SerializeAsString());
  CHECK(Contains(text(with_default), "0.125f"));
}

TEST_CASE("the table: each operator once for a version, and found from that version on") {
  std::set<std::tuple<std::string_view, std::string_view, int>> seen;
  for (const OperatorDef& op : Operators()) {
    CAPTURE(op.name);
    CHECK(seen.insert({op.domain, op.name, op.since}).second);
    CHECK(op.min_inputs >= 0);
    CHECK((op.max_inputs == -1 || op.max_inputs >= op.min_inputs));
    CHECK(FindOperator(op.domain, op.name, op.since) == &op);
    CHECK(FindOperator(op.domain, op.name, 1000) != nullptr);
  }
  CHECK(FindOperator("", "Relu", 0) == nullptr);
  CHECK(FindOperator("com.example", "Relu", 13) == nullptr);
}

// A few hundred bytes that stand for 2^60 nodes.
TEST_CASE("what a model expands to has an end") {
  std::string functions;
  for (int i = 0; i < 60; ++i) {
    const std::string callee = "F" + std::to_string(i + 1);
    const auto call = [&](const char* in, const char* out) {
      return "node { op_type: '" + callee + "' domain: 'mine' input: '" + in + "' output: '" + out +
             "' } ";
    };
    functions += "functions { name: 'F" + std::to_string(i) +
                 "' domain: 'mine' input: 'a' output: 'c' opset_import { domain: "
                 "'mine' version: 1 } " +
                 call("a", "b") + call("b", "c") + "} ";
  }
  functions +=
      "functions { name: 'F60' domain: 'mine' input: 'a' output: 'c' opset_import { version: 13 } "
      "node { op_type: 'Relu' input: 'a' output: 'c' } } ";
  auto doubled = ImportText(
      "ir_version: 8 opset_import { version: 13 } opset_import { domain: 'mine' version: 1 } graph "
      "{ "
      "name: 'g' node { op_type: 'F0' domain: 'mine' input: 'x' output: 'y' } " +
      kXY + " } " + functions);
  REQUIRE(!doubled.ok());
  CHECK(Contains(doubled.status().message(), "functions, loops and branches expand to more than"));

  // Loops in loops, whose state changes its dims: the body of each is read until its types are
  // known.
  std::string body =
      "node { op_type: 'Concat' input: 's' input: 's' output: 't' attribute { name: 'axis' type: "
      "INT i: 0 } } ";
  for (int i = 0; i < 40; ++i) {
    body =
        "node { op_type: 'Loop' input: '' input: 'go' input: 's' output: 't' attribute { name: "
        "'body' type: GRAPH g { name: 'b' "
        "input { name: 'turn' } input { name: 'on' } input { name: 's' } output { name: 'on' } "
        "output { name: 't' } " +
        body + "} } } ";
  }
  const std::string loops = "node { op_type: 'Identity' input: 'x' output: 's' } " + body +
                            "node { op_type: 'Relu' input: 't' output: 'y' } initializer { name: "
                            "'go' data_type: 9 int32_data: 1 } ";
  auto nested = ImportText(GraphModel(loops + kXY));
  if (!nested.ok()) CHECK(!nested.status().message().empty());
}

// Whatever a node says, there is a module or an error.
TEST_CASE("the table: hostile nodes") {
  const std::vector<std::string> kInputs = {
      Tensor("input", "a", {"n", "3"}),
      Tensor("input", "a", {}),
      Tensor("input", "a", {"0", "2"}),
      Tensor("input", "a", {"2", "3", "n", "5"}, 7),
      Tensor("input", "a", {"4"}, 9),
      Tensor("input", "a", {"1", "2", "1", "n", "2", "3", "2"}, 11)};
  const std::string least = "-9223372036854775808", most = "9223372036854775807";
  const auto number = [](const char* name, const std::string& value) {
    return "attribute { name: '" + std::string(name) + "' type: INT i: " + value + " } ";
  };
  const std::vector<std::string> kAttrs = {
      "",
      number("num_heads", "2") + number("kv_num_heads", most) + number("q_num_heads", least) +
          number("value_int", least) + number("block_size", least) + number("N", most) +
          number("K", most) + number("seed", least),
      number("num_heads", most) + number("kv_num_heads", "0") + number("value_int", most) +
          "attribute { name: 'auto_pad' type: STRING s: 'SAME_UPPER' } attribute { name: 'strides' "
          "type: INTS ints: 0 } attribute { name: 'kernel_shape' type: INTS ints: " +
          most + " } ",
      "attribute { name: 'axis' type: INT i: 9223372036854775807 } attribute { name: 'axes' type: "
      "INTS ints: -9 }",
      "attribute { name: 'pads' type: INTS ints: [-9223372036854775808, 1] } attribute { name: "
      "'kernel_shape' type: INTS } "
      "attribute { name: 'strides' type: INTS ints: 0 } attribute { name: 'perm' type: INTS ints: "
      "[7, 7] }",
      "attribute { name: 'kernel_shape' type: INTS ints: [0, 0] } attribute { name: 'group' type: "
      "INT i: 0 } "
      "attribute { name: 'pads' type: INTS ints: [9000000000000000000, 1, 1, 1] } attribute { "
      "name: 'num_groups' type: INT i: 0 } "
      "attribute { name: 'blocksize' type: INT i: 0 } attribute { name: 'hidden_size' type: INT i: "
      "-1 } "
      "attribute { name: 'equation' type: STRING s: 'i->' } attribute { name: 'mode' type: STRING "
      "s: '?' }"};
  for (const OperatorDef& op : Operators()) {
    CAPTURE(op.name);
    const int most = op.max_inputs < 0 ? op.min_inputs + 1 : op.max_inputs;
    for (int inputs = op.min_inputs; inputs <= most; ++inputs) {
      for (const std::string& type : kInputs) {
        for (const std::string& attrs : kAttrs) {
          std::string node = "node { name: 'it' op_type: '" + std::string(op.name) + "' domain: '" +
                             std::string(op.domain) + "' ";
          for (int i = 0; i < inputs; ++i) node += "input: 'a' ";
          node += "output: 'y' output: 'z' " + attrs + " } ";
          auto module = ImportText(
              "ir_version: 7 opset_import { version: 17 } opset_import { domain: 'com.microsoft' "
              "version: 1 } "
              "graph { name: 'g' " +
              node + type + " output { name: 'y' } }");
          if (!module.ok()) {
            CHECK(!module.status().message().empty());
            CHECK_MESSAGE(module.status().code() != StatusCode::kInternal,
                          module.status().ToString());
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace relayvm::import

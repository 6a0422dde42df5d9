// What a model's names mean, and that what it stands for has an end. See importer_test.cc.
#include "compiler/import/onnx/graph_importer.h"

#include <stop_token>

#include "compiler/import/onnx/testing.h"
#include "compiler/ir/printer.h"

namespace relayvm::import {
namespace {

using testing::Floats;
using testing::GraphModel;
using testing::ImportText;
using testing::Ints;
using testing::Node;
using testing::Tensor;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

const std::string kXY = Tensor("input", "x", {"2", "3"}) + "output { name: 'y' } ";

std::string ErrorOf(const std::string& graph, int opset = 13) {
  auto module = ImportText(GraphModel(graph, opset));
  return module.ok() ? "" : std::string(module.status().message());
}

// A model with functions of the domain `mine`.
std::string WithFunctions(const std::string& graph, const std::string& functions) {
  return "ir_version: 8 opset_import { version: 13 } opset_import { domain: 'mine' version: 1 } "
         "graph { name: 'g' " +
         graph + " } " + functions;
}
std::string Function(const std::string& name, const std::string& body) {
  return "functions { name: '" + name +
         "' domain: 'mine' input: 'a' output: 'b' opset_import { version: 13 } opset_import { "
         "domain: 'mine' version: 1 } " +
         body + " } ";
}
std::string Call(const std::string& name, const std::string& in, const std::string& out,
                 const std::string& attributes = "") {
  return "node { op_type: '" + name + "' domain: 'mine' input: '" + in + "' output: '" + out +
         "' " + attributes + " } ";
}

// --- Names ---

TEST_CASE("a name is given once in a graph; the error names both") {
  struct Case {
    std::string graph, error;
  };
  const std::string at = "model.onnx: node 'y' (Tanh): output 'y' is given already, by ";
  const std::string relu = Node("Relu", "x", "t");
  const Case cases[] = {
      {Node("Relu", "x", "y") + Node("Tanh", "x", "y") + kXY, at + "node 'y' (Relu)"},
      {Node("Tanh", "x", "y") + Floats("y", {1}) + kXY, at + "an initializer"},
      {Node("Tanh", "x", "y") + Tensor("input", "y", {"2"}) + kXY, at + "an input"},
      {"node { name: 's' op_type: 'Split' input: 'x' output: 'y' output: 'y' } " + kXY,
       "model.onnx: node 's' (Split): output 'y' is given already, by the node itself"},
      {relu + Tensor("input", "x", {"3"}) + kXY,
       "model.onnx: the graph has two inputs of the name 'x'"},
      {relu + Floats("w", {1}) + Floats("w", {2}) + kXY,
       "model.onnx: the graph has two initializers of the name 'w'"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.graph);
    CHECK(ErrorOf(c.graph) == c.error);
  }
  // In graphs inside and in functions.
  const auto branches = [](const std::string& inside) {
    return "node { name: 'if' op_type: 'If' input: 'c' output: 'y' attribute { name: 'then_branch' "
           "type: GRAPH g { name: 'then' " +
           inside + " output { name: 'q' } } } attribute { name: 'else_branch' type: GRAPH g { " +
           Node("Relu", "x", "q") + " output { name: 'q' } } } } " + kXY +
           Tensor("input", "c", {}, 9);
  };
  CHECK(Contains(ErrorOf(branches(Node("Relu", "x", "q") + Node("Tanh", "x", "q"))),
                 "node 'q' (Tanh): output 'q' is given already, by node 'q' (Relu)"));
  auto function = ImportText(WithFunctions(
      Call("F", "x", "y") + kXY, Function("F", Node("Relu", "a", "b") + Node("Tanh", "b", "a"))));
  CHECK(Contains(function.status().message(),
                 "node 'a' (Tanh): output 'a' is given already, by an input"));
  // Inside, a name may hide one from outside; an input may have a default; no name is no name.
  CHECK(ErrorOf(branches(Node("Relu", "x", "t") + Node("Relu", "t", "x") +
                         Node("Relu", "x", "q"))) == "");
  CHECK(ErrorOf(Node("Relu", "x", "y") + Floats("x", {1}) + kXY) == "");
  CHECK(ErrorOf("node { op_type: 'Dropout' input: 'x' output: 't' output: '' } node { op_type: "
                "'Dropout' input: 't' output: 'y' output: '' } " +
                kXY) == "");
}

TEST_CASE("what follows a branch of two ranks is written for each, and defines its names twice") {
  const std::string graph =
      "node { op_type: 'If' input: 'c' output: 't' attribute { name: 'then_branch' type: GRAPH g "
      "{ " +
      Node("Identity", "x", "p") +
      " output { name: 'p' } } } attribute { name: 'else_branch' type: GRAPH g { " +
      Node("Flatten", "x", "q", testing::Int("axis", 0)) + Node("Squeeze", "q", "r") +
      " output { name: 'r' } } } } " + Node("Relu", "t", "u") +
      Node("ReduceSum", "u", "y", testing::Int("keepdims", 0)) + kXY + Tensor("input", "c", {}, 9);
  CHECK(ErrorOf(graph) == "");
}

TEST_CASE("an output that nothing gives is named with its graph") {
  CHECK(ErrorOf(Node("Relu", "x", "z") + kXY) ==
        "model.onnx: output 'y' of the graph: no node, input or initializer gives it");
  CHECK(ErrorOf("node { name: 'if' op_type: 'If' input: 'c' output: 'y' attribute { name: "
                "'then_branch' type: GRAPH g { name: 'then' output { name: 'no' } } } attribute { "
                "name: 'else_branch' type: GRAPH g { output { name: 'x' } } } } " +
                kXY + Tensor("input", "c", {}, 9)) ==
        "model.onnx: node 'if' (If): output 'no' of graph 'then': no node, input or initializer "
        "gives it");
  auto function =
      ImportText(WithFunctions(Call("F", "x", "y") + kXY, Function("F", Node("Relu", "a", "c"))));
  CHECK(Contains(function.status().message(), "output 'b' of function 'F': no node"));
}

TEST_CASE("a node's name forges no line of an error") {
  CHECK(ErrorOf("node { name: 'n\\nerror: \\033[31m' op_type: 'Relu' input: 'no' output: 'y' } " +
                kXY) ==
        "model.onnx: node 'n?error: ?[31m' (Relu): 'no' is used before a node, an input or an "
        "initializer gives it");
}

// --- Attributes of functions ---

TEST_CASE("graphs that a call hands on refer to the attributes of the caller") {
  const std::string axis = "attribute { name: 'axis' type: INT ref_attr_name: 'k' } ";
  const std::string f = Function(
      "F", "attribute: 'k' " +
               Call("G", "a", "b",
                    testing::Int("k", 0) + "attribute { name: 'body' type: GRAPH g { name: 'b' " +
                        Node("Softmax", "a", "q", axis) + " output { name: 'q' } } } "));
  const std::string g = Function(
      "G",
      "attribute: 'body' attribute: 'k' node { op_type: 'Constant' output: 'yes' attribute { name: "
      "'value' type: TENSOR t { data_type: 9 int32_data: 1 } } } node { op_type: 'If' input: 'yes' "
      "output: 't' attribute { name: 'then_branch' type: GRAPH ref_attr_name: 'body' } attribute { "
      "name: 'else_branch' type: GRAPH ref_attr_name: 'none' } } " +
          Node("LogSoftmax", "t", "b", axis));
  auto module = ImportText(WithFunctions(Call("F", "x", "y", testing::Int("k", 1)) + kXY, f + g));
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  const std::string text = ir::PrintModule(*module);
  CHECK(Contains(text, "nn.softmax(%x, axis=1)"));  // F's k
  CHECK(Contains(text, "axis=0)"));                 // G's
}

// --- What a model expands to ---

// Each function hands its attribute to the next one in a graph, ten times: 10^depth nodes.
TEST_CASE("graphs in attributes of attributes take no memory") {
  const std::string refers = "attribute { name: 'a' type: GRAPH ref_attr_name: 'a' } ";
  std::string functions;
  constexpr int kDepth = 40;
  for (int i = 0; i < kDepth; ++i) {
    std::string nodes;
    for (int k = 0; k < 10; ++k) nodes += Node("Identity", "a", "q" + std::to_string(k), refers);
    const std::string body =
        i + 1 == kDepth
            ? Node("Relu", "a", "b")
            : Call("f" + std::to_string(i + 1), "a", "b",
                   "attribute { name: 'a' type: GRAPH g { name: 'gg' " + nodes + " } } ");
    functions += Function("f" + std::to_string(i), "attribute: 'a' " + body);
  }
  const std::string graph = Call(
      "f0", "x", "y",
      "attribute { name: 'a' type: GRAPH g { name: 'g0' " + Node("Identity", "x", "q") + " } } ");
  auto module = ImportText(WithFunctions(graph + kXY, functions));
  CHECK_MESSAGE(module.ok(), module.status().ToString());
}

std::string Doubling(int depth, const std::string& last) {
  std::string functions;
  for (int i = 0; i < depth; ++i) {
    const std::string next = "F" + std::to_string(i + 1);
    functions += Function("F" + std::to_string(i), Call(next, "a", "t") + Call(next, "t", "b"));
  }
  return functions + Function("F" + std::to_string(depth), last);
}

TEST_CASE("bytes that are read again and again have an end, and so have nodes") {
  auto nodes =
      ImportText(WithFunctions(Call("F0", "x", "y") + kXY, Doubling(60, Node("Relu", "a", "b"))));
  CHECK(nodes.status().code() == StatusCode::kResourceExhausted);
  // 60 * 2 + 1 nodes are there.
  CHECK(Contains(nodes.status().message(),
                 "functions, loops and branches expand to more than 51952 nodes"));
  // Few nodes, each with much: 2^10 times 100 kB.
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += "ints: 70000 ";
  auto bytes = ImportText(WithFunctions(
      Call("F0", "x", "y") + kXY,
      Doubling(10,
               "node { op_type: 'Constant' output: 'c' attribute { name: 'value_ints' type: INTS " +
                   many + "} } " + Node("Identity", "c", "d") + Node("Relu", "a", "b"))));
  CHECK(bytes.status().code() == StatusCode::kResourceExhausted);
  CHECK(Contains(bytes.status().message(), "bytes of the model"));
}

TEST_CASE("an import ends when it is asked to") {
  std::stop_source source;
  const std::string model = GraphModel(Node("Relu", "x", "t") + Node("Relu", "t", "y") + kXY);
  CHECK(ImportText(model, {.stop = source.get_token()}).ok());
  source.request_stop();
  auto stopped = ImportText(model, {.stop = source.get_token()});
  CHECK(stopped.status().code() == StatusCode::kCancelled);
}

// --- Numbers at the ends of their range ---

TEST_CASE("numbers of attributes and initializers do not overflow") {
  constexpr int64_t kLeast = INT64_MIN, kMost = INT64_MAX, kHalf = int64_t{1} << 62;
  const auto pad = [&](const std::vector<int64_t>& pads) {
    return ErrorOf(Node("Pad", "x p", "y") + Ints("p", pads) + kXY);
  };
  CHECK(pad({-1, 0, -1, 0}) == "");
  CHECK(Contains(pad({kLeast, 0, 0, 0}), "pads: axis 0 has 2 elements, and loses more"));
  CHECK(Contains(pad({-kHalf, 0, 0, 0}), "pads: axis 0 has 2 elements, and loses more"));
  CHECK(Contains(pad({0, kLeast, 0, kLeast}), "pads: axis 1 has 3 elements, and loses more"));
  CHECK(Contains(pad({-1, 0, -2, 0}), "pads: axis 0 has 2 elements, and loses more"));
  CHECK(!pad({kMost, kMost, kMost, kMost}).empty());

  const std::string huge = std::to_string(kMost);
  auto pool = ImportText(GraphModel(
      Node(
          "MaxPool", "p", "y",
          "attribute { name: 'kernel_shape' type: INTS ints: 3 } attribute { name: 'strides' type: "
          "INTS ints: 2147483647 } attribute { name: 'auto_pad' type: STRING s: 'SAME_UPPER' } ") +
      Tensor("input", "p", {"0", "1", huge}) + "output { name: 'y' } "));
  REQUIRE_MESSAGE(pool.ok(), pool.status().ToString());
  CHECK(Contains(ir::PrintModule(*pool), "padding=[1, 1]"));  // 2^63 - 1 is 1 modulo the stride
  CHECK(Contains(
      ErrorOf(Node("ConvTranspose", "p w", "y",
                   "attribute { name: 'output_shape' type: INTS ints: 3 } attribute { name: "
                   "'strides' type: INTS ints: 2147483647 } ") +
              Tensor("input", "p", {"0", "1", huge}) + Tensor("input", "w", {"1", "1", "3"}) +
              "output { name: 'y' } "),
      "output_shape: the extents are too large"));
  CHECK(Contains(ErrorOf(Node("ConvTranspose", "p w", "y", testing::Int("group", 4)) +
                         Tensor("input", "p", {"1", "4", "5"}) +
                         Tensor("input", "w", {"0", huge, "3"}) + "output { name: 'y' } "),
                 "node 'y' (ConvTranspose): "));
  CHECK(!ErrorOf(Node("SplitToSequence", "x s", "z", "") +
                 "initializer { name: 's' data_type: 7 dims: 2 int64_data: [" + huge + ", " + huge +
                 "] } " + Node("SequenceAt", "z i", "y") + Ints("i", {0}) + kXY)
             .empty());
  CHECK(ErrorOf(Node("SplitToSequence", "x s", "z", "") +
                "initializer { name: 's' data_type: 7 int64_data: " + huge + " } " +
                Node("SequenceAt", "z i", "y") +
                "initializer { name: 'i' data_type: 7 int64_data: "
                "0 } " +
                kXY) == "");
  CHECK(Contains(
      ErrorOf(Node("DeformConv", "p w o", "y", "") + Tensor("input", "p", {"1", "1", "5", "5"}) +
                  "initializer { name: 'w' data_type: 1 dims: [1, 0, 4294967296, 4294967296] } " +
                  Tensor("input", "o", {"1", "1", "1", "1"}) + "output { name: 'y' } ",
              19),
      "kernels of more than 2^20 elements"));
  // Small outputs of a large picture.
  CHECK(Contains(ErrorOf(Node("Resize", "p - - s", "y",
                              testing::Text("mode", "linear") + testing::Int("antialias", 1)) +
                             Tensor("input", "p", {"1", "1", "4", "4"}) + Ints("s", {1, 1, 0, 4}) +
                             "output { name: 'y' } ",
                         18),
                 "antialias: expected a scale above 0"));
  CHECK(
      Contains(ErrorOf(Node("Resize", "p - s", "y") + Tensor("input", "p", {"0", "1", huge, "4"}) +
                           Floats("s", {1, 1, 1e6F, 1}) + "output { name: 'y' } ",
                       13),
               "scales: the result is too large"));
}

// --- Order and what is not used ---

TEST_CASE("nodes may stand in any order, but not need each other") {
  const std::string inner =
      "attribute { name: 'then_branch' type: GRAPH g { name: 'then' " + Node("Neg", "t", "p") +
      "output { name: 'p' } } } attribute { name: 'else_branch' type: GRAPH g "
      "{ name: 'else' " +
      Node("Abs", "t", "q") + "output { name: 'q' } } } ";
  CHECK(ErrorOf(Node("Relu", "t", "y") + Node("Tanh", "s", "t") + Node("Neg", "x", "s") + kXY) ==
        "");
  CHECK(ErrorOf(Node("If", "c", "y", inner) + Node("Tanh", "x", "t") +
                "input { name: 'c' type { tensor_type { elem_type: 9 shape { } } } } " + kXY) ==
        "");
  CHECK(Contains(
      ErrorOf(Node("Add", "x s", "t") + Node("Neg", "t", "s") + Node("Relu", "t", "y") + kXY),
      "it needs what node 't' gives, which needs what it gives"));
}

TEST_CASE("functions and constants that nobody uses may hold anything") {
  const std::string text =
      "node { name: 's' op_type: 'Constant' output: 's' attribute { name: 'value' type: TENSOR t { "
      "data_type: 8 dims: 1 string_data: 'a' } } } ";
  CHECK(ErrorOf(text + Node("Relu", "x", "y") + kXY) == "");
  CHECK(Contains(ErrorOf(text + Node("Add", "x s", "y") + kXY),
                 "add: expected numbers, found strings: argument 1 is Tensor[(1), string]"));
  const std::string unknown = Function("Other", Node("Frobnicate", "a", "b"));
  auto unused = ImportText(WithFunctions(Node("Relu", "x", "y") + kXY, unknown));
  CHECK_MESSAGE(unused.ok(), unused.status().ToString());
  auto used = ImportText(WithFunctions(Call("Outer", "x", "y") + kXY,
                                       Function("Outer", Call("Other", "a", "b")) + unknown));
  CHECK(Contains(used.status().message(), "Frobnicate (ai.onnx, opset 13)"));
}

TEST_CASE("a function is found by its overload") {
  onnx::ModelProto model = testing::ModelOf(
      WithFunctions(Call("F", "x", "y") + kXY,
                    Function("F", Node("Relu", "a", "b")) + Function("F", Node("Tanh", "a", "b"))));
  const auto set = [](google::protobuf::Message* message, int number) {
    message->GetReflection()->MutableUnknownFields(message)->AddLengthDelimited(number, "second");
  };
  set(model.mutable_functions(1), 13);
  set(model.mutable_graph()->mutable_node(0), 8);
  const std::string bytes = model.SerializeAsString();
  auto module = ImportOnnx("model.onnx", SharedBytes::Copy(std::as_bytes(std::span(bytes))), {});
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  const std::string text = ir::PrintModule(*module);
  CHECK(Contains(text, "tanh"));
  CHECK(!Contains(text, "relu"));
}

TEST_CASE("sparse tensors are read with their zeros") {
  const auto sparse = [](const std::string& values, const std::string& indices) {
    return "sparse_initializer { values { name: 'w' data_type: 1 " + values +
           " } indices { data_type: 7 " + indices + " } dims: [2, 3] } " + Node("Mul", "x w", "y") +
           kXY;
  };
  const std::string two = "dims: 2 float_data: [5, 7]";
  CHECK(ErrorOf(sparse(two, "dims: 2 int64_data: [0, 5]")) == "");
  CHECK(ErrorOf(sparse(two, "dims: [2, 2] int64_data: [0, 1, 1, 2]")) == "");
  CHECK(Contains(ErrorOf(sparse(two, "dims: 2 int64_data: [0, 6]")), "index 6 is out of 0 to 5"));
  CHECK(Contains(ErrorOf(sparse(two, "dims: [2, 2] int64_data: [0, 1, 2, 2]")),
                 "index 2 is out of 0 to 1"));
  CHECK(Contains(ErrorOf(sparse(two, "dims: 3 int64_data: [0, 1, 2]")),
                 "expected an index, or one for each axis, for each value"));
}

TEST_CASE("an opset that is newer than this version is a warning") {
  std::string said;
  ImportOptions options;
  options.warn = [&](const std::string& what) { said += what; };
  REQUIRE(ImportText(GraphModel(Node("Relu", "x", "y") + kXY, 17), options).ok());
  CHECK(said == "");
  REQUIRE(ImportText(GraphModel(Node("Relu", "x", "y") + kXY, 99), options).ok());
  CHECK(said ==
        "model.onnx: opset 99 is newer than this version knows; its operators are read as "
        "those of opset 26");
}

}  // namespace
}  // namespace relayvm::import

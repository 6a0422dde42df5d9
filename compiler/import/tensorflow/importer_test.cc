#include "compiler/import/tensorflow/importer.h"

#include <doctest/doctest.h>

#include "compiler/import/tensorflow/testing.h"

namespace relayvm::import::tensorflow::testing {
namespace {

bool Says(const std::string& text, std::string_view part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a graph: inputs, nodes, what no other node reads") {
  const std::string graph = Float("x", "-1 2") + Real("two", 2) + Node("twice", "Mul", "x two") +
                            Node("y", "AddV2", "twice x ^two") + Node("unused", "NoOp", "^y");
  CheckNear(RunGraph(graph, {{{2, 2}, {1, 2, 3, 4}}}), {3, 6, 9, 12});
  CheckNear(RunGraph(graph, {{{1, 2}, {1, 2}}}, {.signature = "twice,y"}), {2, 4, 3, 6});
}

TEST_CASE("what a graph says wrongly") {
  CHECK(Says(Refusal(Float("x", "2") + Node("y", "Neg", "z:3")),
             "node 'y' (Neg): input 'z:3': there is no node of that name"));
  CHECK(Says(Refusal(Float("x", "2") + Node("y", "Neg", "x") + Node("y", "Neg", "x")),
             "two nodes are called 'y'"));
  CHECK(Says(Refusal(Float("x", "2") + Node("a", "Neg", "b") + Node("b", "Neg", "a") +
                     Node("y", "Neg", "a")),
             "the node needs what it gives itself"));
  CHECK(Says(Refusal(Float("x", "2") + Node("y", "AddV2", "x")), "expected 2 inputs, found 1"));
  CHECK(Says(Refusal(Float("x", "2") + Node("a", "Neg", "x") + Node("y", "Neg", "a:5")),
             "input 'a:5' is not an output of a node"));
  const std::string twice = Float("x", "2") + Node("a", "NoSuch", "x") + Node("b", "Neither", "a") +
                            Node("c", "NoSuch", "b");
  CHECK(Says(Refusal(twice),
             "2 operators are not supported:\n  Neither: node 'b'\n  NoSuch: node 'c', 'a'"));
  CHECK(Says(Refusal(Float("x", "2") + Node("y", "Neg", "x"), {.signature = "z"}),
             "--signature z: the graph has no such node"));
}

TEST_CASE("an input of any rank has the first one that fits") {
  const auto of = [](const std::string& rest) {
    return Node("x", "Placeholder", "", Attr("dtype", "type: DT_FLOAT")) + rest;
  };
  CheckNear(RunGraph(of(Node("y", "Neg", "x")), {{{2}, {1, 2}}}), {-1, -2});
  // Only broadcast into another: a number.
  CheckNear(RunGraph(of(Float("z", "2 2") + Node("y", "Mul", "z x")),
                     {{{}, {2}}, {{2, 2}, {1, 2, 3, 4}}}),
            {2, 4, 6, 8});
  CHECK(Says(Refusal(of(Int("nine", 9) + Node("y", "ExpandDims", "x nine"))), "--shape x=1x?x?"));
}

// --- TensorFlow 1 ---

TEST_CASE("Switch and Merge, whatever they are called, take the side of their predicate") {
  // if (p) { if (q) x + 1 else x + 2 } else x + 3; nothing but edges says so.
  const std::string graph =
      Input("p", "DT_BOOL", "") + Input("q", "DT_BOOL", "") + Float("x", "") + Real("one", 1) +
      Real("two", 2) + Real("three", 3) + Node("s", "Switch", "x p") +
      Node("t", "Switch", "s:1 q") + Node("a", "AddV2", "t:1 one") + Node("b", "AddV2", "t two") +
      Node("m", "Merge", "a b") + Node("c", "AddV2", "s three") + Node("y", "Merge", "c m");
  for (const int p : {0, 1}) {
    for (const int q : {0, 1}) {
      const auto y = RunGraph(
          graph, {{{}, {p + 0.0}, DType::kBool}, {{}, {q + 0.0}, DType::kBool}, {{}, {10}}});
      CheckNear(y, {p == 0 ? 13.0 : q == 0 ? 12.0 : 11.0});
    }
  }
  // A constant that only a control input ties to its side.
  const std::string tied =
      Input("p", "DT_BOOL", "") + Node("s", "Switch", "p p") + Node("yes", "Identity", "s:1") +
      Node("no", "Identity", "s") +
      Node("k", "Const", "^yes",
           Attr("value", "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 5 }")) +
      Node("l", "Const", "^no",
           Attr("value", "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 6 }")) +
      Node("y", "Merge", "l k");
  CheckNear(RunGraph(tied, {{{}, {1}, DType::kBool}}), {5});
  CheckNear(RunGraph(tied, {{{}, {0}, DType::kBool}}), {6});
}

TEST_CASE("a Merge of several: predicates decide one after the other") {
  const std::string graph =
      Input("p", "DT_BOOL", "") + Input("q", "DT_BOOL", "") + Float("x", "") + Real("one", 1) +
      Node("s", "Switch", "x p") + Node("t", "Switch", "s q") + Node("a", "AddV2", "t one") +
      Node("b", "Neg", "t:1") + Node("c", "Square", "s:1") + Node("m", "Merge", "a b c") +
      Node("y", "Identity", "m") + Node("i", "Identity", "m:1");
  for (const auto& [p, q, y, i] :
       {std::tuple(0, 0, 6.0, 0.0), {0, 1, -5.0, 1.0}, {1, 0, 25.0, 2.0}, {1, 1, 25.0, 2.0}}) {
    CheckNear(
        RunGraph(graph, {{{}, {p + 0.0}, DType::kBool}, {{}, {q + 0.0}, DType::kBool}, {{}, {5}}},
                 {.signature = "y,i"}),
        {y, i});
  }
  CHECK(Says(Refusal(Float("x", "") + Node("a", "Neg", "x") + Node("b", "Abs", "x") +
                     Node("m", "Merge", "a b x") + Node("y", "Neg", "m")),
             "no Switch decides between what it merges"));
}

TEST_CASE("a branch of TensorFlow 1 that is not taken changes no variable") {
  const std::string shape = Attr("dtype", "type: DT_FLOAT") + Attr("shape", Shape(""));
  const std::string inputs = Input("p", "DT_BOOL", "") + Float("x", "");
  // References: the Assign reads a Switch.
  const std::string reference = inputs + Node("v", "VariableV2", "", shape) +
                                Node("s", "Switch", "x p") + Node("r", "RefSwitch", "v p") +
                                Node("a", "Assign", "r:1 s:1") + Node("n", "Neg", "s") +
                                Node("m", "Merge", "n a") + Node("y", "Identity", "m");
  // Handles: only a control input ties the assignment to its side.
  const std::string handle =
      inputs + Node("v", "VarHandleOp", "", shape) + Node("s", "Switch", "p p") +
      Node("yes", "Identity", "s:1") + Node("no", "Identity", "s") +
      Node("a", "AssignVariableOp", "v x ^yes") + Node("r", "ReadVariableOp", "v ^a") +
      Node("n", "Neg", "x ^no") + Node("m", "Merge", "n r") + Node("y", "Identity", "m");
  for (const std::string& graph : {reference, handle}) {
    CheckNear(RunGraph(graph, {{{}, {1}, DType::kBool}, {{}, {5}}, {{}, {7}}}, {.signature = "y"}),
              {5, 5});
    CheckNear(RunGraph(graph, {{{}, {0}, DType::kBool}, {{}, {5}}, {{}, {7}}}, {.signature = "y"}),
              {-5, 7});
  }
  // What was read before an assignment stays.
  const std::string before = Float("x", "") + Node("v", "VariableV2", "", shape) +
                             Node("old", "Identity", "v") + Node("a", "Assign", "v x ^old") +
                             Node("y", "AddV2", "old x ^a");
  CheckNear(RunGraph(before, {{{}, {5}}, {{}, {7}}}, {.signature = "y"}), {12, 5});
  // Two variables are not one, whichever side is taken.
  CHECK(Says(
      Refusal(inputs + Node("v", "VarHandleOp", "", shape) + Node("w", "VarHandleOp", "", shape) +
              Node("s", "Switch", "v p") + Node("t", "Switch", "w p") +
              Node("m", "Merge", "s t:1") + Node("y", "ReadVariableOp", "m")),
      "the branches give handles of 'v' and of 'w'"));
}

std::string Enter(const std::string& name, const std::string& input, const std::string& frame,
                  bool fixed = false) {
  return Node(name, "Enter", input,
              Attr("frame_name", "s: '" + frame + "'") +
                  Attr("is_constant", fixed ? "b: true" : "b: false"));
}

TEST_CASE("loops in loops, found from their Exits") {
  // for (i = 0; i < n; ++i) for (j = 0; j < i; ++j) s += x
  const std::string graph =
      Input("n", "DT_INT32", "") + Float("x", "2") + Int("zero", 0) + Int("one", 1) +
      Node("zeros", "ZerosLike", "x") + Enter("i0", "zero", "f") + Enter("s0", "zeros", "f") +
      Enter("nf", "n", "f", true) + Enter("xf", "x", "f", true) + Enter("zf", "zero", "f", true) +
      Enter("of", "one", "f", true) + Node("i", "Merge", "i0 i_next") +
      Node("s", "Merge", "s0 s_next") + Node("more", "Less", "i nf") +
      Node("go", "LoopCond", "more") + Node("i_at", "Switch", "i go") +
      Node("s_at", "Switch", "s go") + Enter("j0", "zf", "g") + Enter("t0", "s_at:1", "g") +
      Enter("ig", "i_at:1", "g", true) + Enter("xg", "xf", "g", true) +
      Enter("og", "of", "g", true) + Node("j", "Merge", "j0 j_next") +
      Node("t", "Merge", "t0 t_next") + Node("more_g", "Less", "j ig") +
      Node("go_g", "LoopCond", "more_g") + Node("j_at", "Switch", "j go_g") +
      Node("t_at", "Switch", "t go_g") + Node("j1", "AddV2", "j_at:1 og") +
      Node("t1", "AddV2", "t_at:1 xg") + Node("j_next", "NextIteration", "j1") +
      Node("t_next", "NextIteration", "t1") + Node("t_end", "Exit", "t_at") +
      Node("i1", "AddV2", "i_at:1 of") + Node("i_next", "NextIteration", "i1") +
      Node("s_next", "NextIteration", "t_end") + Node("s_end", "Exit", "s_at") +
      Node("y", "Identity", "s_end");
  CheckNear(RunGraph(graph, {{{}, {4}, DType::kInt32}, {{2}, {1, 10}}}), {6, 60});
  CheckNear(RunGraph(graph, {{{}, {0}, DType::kInt32}, {{2}, {1, 10}}}), {0, 0});
  CHECK(Says(Refusal(Float("x", "2") + Node("e", "Exit", "x") + Node("y", "Neg", "e")),
             "a loop without its parts"));
}

TEST_CASE("an array that a loop writes has the dims of what it writes") {
  // a = TensorArray(0, dynamic); for (i = 0; i < n; ++i) a[i] = x * i
  const std::string graph =
      Input("n", "DT_INT32", "") + Float("x", "-1") + Int("zero", 0) + Int("one", 1) +
      Node("a", "TensorArrayV3", "zero",
           Attr("dtype", "type: DT_FLOAT") + Attr("dynamic_size", "b: true")) +
      Enter("i0", "zero", "f") + Enter("a0", "a:1", "f") + Enter("h", "a", "f", true) +
      Enter("nf", "n", "f", true) + Enter("xf", "x", "f", true) + Enter("of", "one", "f", true) +
      Node("i", "Merge", "i0 i_next") + Node("w", "Merge", "a0 w_next") +
      Node("more", "Less", "i nf") + Node("go", "LoopCond", "more") +
      Node("i_at", "Switch", "i go") + Node("w_at", "Switch", "w go") +
      Node("r", "Cast", "i_at:1", Attr("DstT", "type: DT_FLOAT")) + Node("v", "Mul", "xf r") +
      Node("w1", "TensorArrayWriteV3", "h i_at:1 v w_at:1") + Node("i1", "AddV2", "i_at:1 of") +
      Node("i_next", "NextIteration", "i1") + Node("w_next", "NextIteration", "w1") +
      Node("w_end", "Exit", "w_at") + Node("size", "TensorArraySizeV3", "a w_end") +
      Node("all", "Range", "zero size one") +
      Node("y", "TensorArrayGatherV3", "a all w_end", Attr("dtype", "type: DT_FLOAT"));
  CheckNear(RunGraph(graph, {{{}, {3}, DType::kInt32}, {{2}, {1, 10}}}), {0, 0, 1, 10, 2, 20});
}

// --- Functions ---

std::string Arg(const char* field, const std::string& name, const std::string& type) {
  return fmt::format("{} {{ name: '{}' type: {} }} ", field, name, type);
}
// A function of floats.
std::string Function(const std::string& name, const std::string& inputs, const std::string& output,
                     const std::string& result, const std::string& nodes,
                     const std::string& type = "DT_FLOAT") {
  std::string text = "library { function { signature { name: '" + name + "' ";
  for (const std::string& input : Words(inputs)) text += Arg("input_arg", input, type);
  text += Arg("output_arg", output, "DT_FLOAT") + "} " + nodes;
  return text + fmt::format("ret {{ key: '{}' value: '{}' }} }} }} ", output, result);
}
std::string Body(const std::string& name, const std::string& op, const std::string& inputs,
                 const std::string& attrs = "") {
  return Node(name, op, inputs, attrs, "node_def");
}
std::string Calls(const std::string& attr, const std::string& name) {
  return Attr(attr, "func { name: '" + name + "' }");
}

TEST_CASE("functions: outputs by the names of their arguments, calls in calls, none in itself") {
  const std::string library =
      Function("halves", "v", "z", "parts:output:1",
               Int("axis", 0, "node_def") +
                   Body("parts", "Split", "axis:output:0 v", Attr("num_split", "i: 2"))) +
      Function("outer", "v", "z", "sum:z:0",
               Body("h", "PartitionedCall", "v", Calls("f", "halves")) +
                   Body("sum", "AddV2", "h:output:0 h:output:0"));
  const std::string x = Float("x", "4");
  CheckNear(RunGraph(x + Node("y", "StatefulPartitionedCall", "x", Calls("f", "outer")) + library,
                     {{{4}, {1, 2, 3, 4}}}),
            {6, 8});
  // A node that is called as the function is.
  CheckNear(RunGraph(x + Node("y", "halves", "x") + library, {{{4}, {1, 2, 3, 4}}}), {3, 4});
  CHECK(Says(Refusal(x + Node("y", "PartitionedCall", "x", Calls("f", "f")) +
                     Function("f", "v", "z", "c:output:0",
                              Body("c", "PartitionedCall", "v", Calls("f", "f")))),
             "function 'f' calls itself"));
  CHECK(Says(Refusal(x + Node("y", "PartitionedCall", "x", Calls("f", "g"))),
             "function 'g': the file has none of that name"));
}

TEST_CASE("branches of TensorFlow 1 in a function, whose predicate is an argument") {
  const std::string library =
      "library { function { signature { name: 'f' " + Arg("input_arg", "p", "DT_BOOL") +
      Arg("input_arg", "v", "DT_FLOAT") + Arg("output_arg", "z", "DT_FLOAT") + "} " +
      Body("id", "Identity", "p") + Body("s", "Switch", "v id:output:0") +
      Body("a", "Neg", "s:output_true:0") + Body("m", "Merge", "s:output_false:0 a:y:0") +
      "ret { key: 'z' value: 'm:output:0' } } } ";
  const std::string graph = Input("p", "DT_BOOL", "") + Float("x", "") +
                            Node("y", "PartitionedCall", "p x", Calls("f", "f")) + library;
  CheckNear(RunGraph(graph, {{{}, {1}, DType::kBool}, {{}, {5}}}), {-5});
  CheckNear(RunGraph(graph, {{{}, {0}, DType::kBool}, {{}, {5}}}), {5});
}

TEST_CASE("If, Case and While call functions") {
  const std::string library =
      Function("up", "v", "z", "a:z:0",
               Real("k", 1, "node_def") + Body("a", "AddV2", "v k:output:0")) +
      Function("down", "v", "z", "a:z:0",
               Real("k", 1, "node_def") + Body("a", "Sub", "v k:output:0")) +
      Function("twice", "v", "z", "a:z:0", Body("a", "AddV2", "v v")) +
      Function("small", "v", "z", "a:z:0",
               Real("k", 100, "node_def") + Body("a", "Less", "v k:output:0"));
  const std::string x = Float("x", "");
  const std::string branch =
      Input("p", "DT_BOOL", "") + x +
      Node("y", "If", "p x", Calls("then_branch", "up") + Calls("else_branch", "down")) + library;
  CheckNear(RunGraph(branch, {{{}, {1}, DType::kBool}, {{}, {5}}}), {6});
  CheckNear(RunGraph(branch, {{{}, {0}, DType::kBool}, {{}, {5}}}), {4});
  const std::string chosen = Input("i", "DT_INT32", "") + x +
                             Node("y", "Case", "i x",
                                  Attr("branches",
                                       "list { func { name: 'up' } func { name: 'down' "
                                       "} func { name: 'twice' } }")) +
                             library;
  for (const auto& [i, y] : {std::pair(0, 6.0), {1, 4.0}, {2, 10.0}, {7, 10.0}, {-1, 10.0}})
    CheckNear(RunGraph(chosen, {{{}, {i + 0.0}, DType::kInt32}, {{}, {5}}}), {y});
  const std::string loop =
      x + Node("y", "While", "x", Calls("cond", "small") + Calls("body", "twice")) + library;
  CheckNear(RunGraph(loop, {{{}, {3}}}), {192});
  CheckNear(RunGraph(loop, {{{}, {300}}}), {300});
}

TEST_CASE("lists: rows of a tensor") {
  const std::string x = Float("x", "2 3") + Int("zero", 0) + Int("one", 1) + Ints("any", {-1});
  const std::string list =
      x + Node("n", "Neg", "x") +
      Node("l", "EmptyTensorList", "any zero", Attr("element_dtype", "type: DT_FLOAT")) +
      Node("m", "TensorListPushBack", "l x") + Node("k", "TensorListPushBack", "m n");
  CheckNear(
      RunGraph(list + Node("y", "TensorListGetItem", "k one any"), {{{2, 3}, {1, 2, 3, 4, 5, 6}}}),
      {-1, -2, -3, -4, -5, -6});
  CheckNear(RunGraph(list + Node("p", "TensorListPopBack", "k any") +
                         Node("y", "TensorListStack", "p any") + Node("c", "TensorListLength", "k"),
                     {{{2, 3}, {1, 2, 3, 4, 5, 6}}}),
            {1, 2, 3, 4, 5, 6, 2});
  // What nobody has put there is zeros, whose dims the other elements tell.
  CheckNear(
      RunGraph(
          x + Int("two", 2) +
              Node("l", "TensorListReserve", "any two", Attr("element_dtype", "type: DT_FLOAT")) +
              Node("m", "TensorListSetItem", "l one x") + Node("y", "TensorListStack", "m any"),
          {{{2, 3}, {1, 2, 3, 4, 5, 6}}}),
      {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6});
  CHECK(Says(
      Refusal(x +
              Node("l", "EmptyTensorList", "zero zero", Attr("element_dtype", "type: DT_FLOAT")) +
              Node("y", "TensorListGetItem", "l zero zero")),
      "before an element is there"));
}

TEST_CASE("letters of texts that only a run tells: ASCII's, or those of an encoding") {
  const auto matches = [](const char* encoding, const char* pattern) {
    const std::string graph =
        Input("i", "DT_INT32", "2") + Int("zero", 0) +
        Node("texts", "Const", "",
             Attr("value",
                  "tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: "
                  "'a\303\251' "
                  "string_val: 'B' }")) +
        Node("t", "GatherV2", "texts i zero") +
        Node("u", "StringUpper", "t", Attr("encoding", "s: '" + std::string(encoding) + "'")) +
        Node("m", "StaticRegexFullMatch", "u",
             Attr("pattern", "s: '" + std::string(pattern) + "'")) +
        Node("y", "Cast", "m", Attr("DstT", "type: DT_FLOAT"));
    return RunGraph(graph, {{{2}, {1, 0}, DType::kInt32}});
  };
  CheckNear(matches("", "A\303\251|b"), {0, 1});
  CheckNear(matches("utf-8", "A\303\211|B"), {1, 1});
}

TEST_CASE("tables of constants") {
  const std::string table =
      Input("x", "DT_INT64", "-1") +
      Node("t", "HashTableV2", "",
           Attr("key_dtype", "type: DT_INT64") + Attr("value_dtype", "type: DT_FLOAT")) +
      Real("other", -1);
  CHECK(Says(Refusal(table + Node("y", "LookupTableFindV2", "t x other")),
             "table 't' has no entries in the file"));
}

}  // namespace
}  // namespace relayvm::import::tensorflow::testing

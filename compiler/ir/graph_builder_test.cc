// Modules built without text. Where expressions are evaluated: to_anf_test.cc.
#include "compiler/ir/graph_builder.h"

#include <doctest/doctest.h>

#include "compiler/ir/printer.h"
#include "compiler/ir/scalar.h"
#include "compiler/typing/infer.h"

namespace relayvm::ir {
namespace {

const Type kInt = MakeTensorType({}, DType::kInt32);

// A module of one model file, and a function @main over its parameters.
struct Model {
  Module m = MakeModule();
  uint32_t file = m.sources->AddModel("model.onnx");
  GraphBuilder b{m};
  std::vector<const Var*> params;

  Span At(std::string_view node, std::string_view op = "") {
    return m.sources->NodeSpan(file, node, op);
  }
  NodeId Param(const std::string& name, const Type& type = kInt) {
    params.push_back(MakeVar(m, name, type, {}));
    return b.Use(params.back(), {});
  }
  NodeId Number(int64_t value) { return b.Constant(IntScalar(DType::kInt32, value), "", {}); }
  Status Finish(NodeId body) {
    Function main;
    main.name = "main";
    main.params = params;
    return b.Define(m, b.MakeFunction(main, body));
  }
  // The function's body on one line.
  std::string Body() {
    std::string text = PrintFunction(m, *m.functions.at("main"));
    std::string out;
    bool blank = true;
    for (char c : text.substr(text.find('{'))) {
      if (c == '\n') c = ' ';
      if (c != ' ' || !blank) out += c;
      blank = c == ' ';
    }
    return out.substr(0, out.size() - 1);
  }
};

TEST_CASE("graph builder: what is shared is bound where all its uses see it") {
  Model g;
  NodeId c = g.Param("c", MakeTensorType({}, DType::kBool));
  NodeId x = g.Param("x");
  // Made in an order of its own: first what only one branch needs, then what both need.
  NodeId in_then = g.b.Op("negative", {x}, {}, {});
  NodeId unused = g.b.Op("exp", {x}, {}, {});
  NodeId in_both = g.b.Op("add", {x, g.Number(1)}, {}, {});
  NodeId inner = g.b.If(c, g.b.Tuple({in_both, in_then}, {}), g.b.Tuple({in_both, x}, {}), {});
  REQUIRE(g.Finish(g.b.Op("add", {g.b.Field(inner, 0, {}), g.b.Field(inner, 1, {})}, {}, {})).ok());
  CHECK(unused != kNoNode);
  CHECK(g.Body() ==
        "{ let %_1 = add(%x, 1); let %_2 = if (%c) { let %_3 = negative(%x); (%_1, %_3) } else { "
        "(%_1, %x) }; let %_4 = %_2.0; let %_5 = %_2.1; add(%_4, %_5) }");
  CHECK(InferTypes(g.m).ok());
}

TEST_CASE("graph builder: nested functions and recursion") {
  Model g;
  NodeId x = g.Param("x");
  NodeId outside = g.b.Op("multiply", {x, x}, {}, {});
  const Var* y = MakeVar(g.m, "y", kInt, {});
  Function inner;
  inner.params = {y};
  NodeId f = g.b.MakeFunction(inner, g.b.Op("add", {g.b.Use(y, {}), outside}, {}, {}));
  REQUIRE(g.Finish(g.b.Call(f, {outside}, {})).ok());
  CHECK(g.Body() ==
        "{ let %_1 = multiply(%x, %x); let %_2 = fn (%y: int32) { add(%y, %_1) }; %_2(%_1) }");
  CHECK(InferTypes(g.m).ok());
}

TEST_CASE("graph builder: a loop is a function that calls itself") {
  Model g;
  NodeId n = g.Param("n");
  const Var* i = MakeVar(g.m, "i", kInt, {});
  const Var* sum = MakeVar(g.m, "sum", kInt, {});
  NodeId twice = g.b.Op("add", {n, n}, {}, {});  // does not change while the loop runs
  NodeId last = g.b.While(
      {i, sum}, {g.Number(0), g.Number(0)},
      [&](std::span<const NodeId> s) { return g.b.Op("less", {s[0], twice}, {}, {}); },
      [&](std::span<const NodeId> s) {
        return std::vector{g.b.Op("add", {s[0], g.Number(1)}, {}, {}),
                           g.b.Op("add", {s[1], s[0]}, {}, {})};
      },
      g.At("Loop_1", "Loop"));
  REQUIRE(g.Finish(g.b.Op("add", {g.b.Field(last, 1, {}), twice}, {}, {})).ok());
  std::string body = g.Body();
  CHECK(body.find("if (") != std::string::npos);
  CHECK(body.find("let %while = fn (%i: int32, %sum: int32)") != std::string::npos);
  auto typed = InferTypes(g.m);
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  CHECK(TypeToString(typed->functions.at("main")->result_type) == "int32");
}

TEST_CASE("graph builder: what stands before a loop is evaluated before it") {
  Model g;
  NodeId n = g.Param("n");
  const Var* i = MakeVar(g.m, "i", kInt, {});
  const Var* k = MakeVar(g.m, "k", kInt, {});
  NodeId square = g.b.Op("multiply", {n, n}, {}, {});  // that the inner loop alone reads
  const auto below = [&](NodeId most) {
    return [&, most](std::span<const NodeId> s) { return g.b.Op("less", {s[0], most}, {}, {}); };
  };
  const auto next = [&](std::span<const NodeId> s) {
    return std::vector{g.b.Op("add", {s[0], g.Number(1)}, {}, {})};
  };
  NodeId last = g.b.While(
      {i}, {g.Number(0)}, below(n),
      [&](std::span<const NodeId> s) {
        NodeId turn = g.b.Op("negative", {s[0]}, {}, {});  // once for each turn of the outer one
        NodeId inner = g.b.While({k}, {turn}, below(square),
                                 [&](std::span<const NodeId> t) {
                                   return std::vector{g.b.Op("add", {t[0], turn}, {}, {})};
                                 },
                                 {});
        return std::vector{g.b.Op("add", {next(s)[0], g.b.Field(inner, 0, {})}, {}, {})};
      },
      {});
  REQUIRE(g.Finish(g.b.Field(last, 0, {})).ok());
  const std::string body = g.Body();
  CHECK(body.starts_with("{ let %_1 = multiply(%n, %n); let %while = fn (%i: int32) {"));
  const size_t outer = body.find("let %while = "), negative = body.find("negative(");
  const size_t inner = body.find("let %while1 = ");
  CHECK((outer < negative && negative < inner));
  CHECK(InferTypes(g.m).ok());
}

TEST_CASE("graph builder: any depth, any sharing") {
  constexpr int kDepth = 100000;
  Model chain;
  NodeId at = chain.Param("x");
  for (int i = 0; i < kDepth; ++i) at = chain.b.Op("negative", {at}, {}, {});
  REQUIRE(chain.Finish(at).ok());
  CHECK(chain.m.functions.at("main")->body->bindings.size() == kDepth);

  Model tower;  // as a tree it has 2 to the 100,000th nodes
  at = tower.Param("x");
  for (int i = 0; i < kDepth; ++i) at = tower.b.Op("add", {at, at}, {}, {});
  REQUIRE(tower.Finish(at).ok());
  CHECK(tower.m.functions.at("main")->body->bindings.size() == kDepth);
}

TEST_CASE("graph builder: constants share the bytes that they are given") {
  Model g;
  HostTensor weight{DType::kFloat32, {4}, SharedBytes::Zeros(16)};
  const std::byte* bytes = weight.data.data();
  NodeId w = g.b.Constant(weight, "layers.0.weight", {});
  auto* constant = std::get<const Constant*>(g.b.node(w).atom);
  CHECK(constant->value.data.data() == bytes);
  CHECK(constant->name == "layers.0.weight");
}

TEST_CASE("graph builder: errors name the node") {
  auto message = [](auto build) {
    Model g;
    NodeId x = g.Param("x", MakeTensorType({2, 3}, DType::kFloat32));
    Status s = g.Finish(build(g, x));
    if (s.ok()) s = InferTypes(g.m).status();
    return std::string(s.message());
  };
  CHECK(message([](Model& g, NodeId x) {
          return g.b.Op("nn.conv9d", {x}, {}, g.At("Conv_3", "Conv"));
        }) == "model.onnx: node 'Conv_3' (Conv): there is no operator nn.conv9d");
  CHECK(message([](Model& g, NodeId x) { return g.b.Op("add", {x}, {}, g.At("Add_1", "Add")); }) ==
        "model.onnx: node 'Add_1' (Add): operator add takes 2 arguments, 1 given");
  CHECK(message([](Model& g, NodeId x) {
          Attrs attrs;
          attrs.Set("axes", 1.5);
          return g.b.Op("transpose", {x}, attrs, g.At("T", "Transpose"));
        }).starts_with("model.onnx: node 'T' (Transpose): transpose: "));
  // What type inference finds.
  std::string typing = message([](Model& g, NodeId x) {
    return g.b.Op("nn.dense", {x, x}, {}, g.At("MatMul_7", "MatMul"));
  });
  CHECK(typing.empty());  // (2, 3) and (2, 3) is a product
  typing = message([](Model& g, NodeId x) {
    return g.b.Op("add",
                  {x, g.b.Op("nn.relu",
                             {g.b.Op(
                                 "reshape", {x},
                                 [] {
                                   Attrs a;
                                   a.Set("newshape", AttrList{7});
                                   return a;
                                 }(),
                                 g.At("Reshape_2", "Reshape"))},
                             {}, {})},
                  {}, g.At("Add_1", "Add"));
  });
  CHECK(typing.starts_with("model.onnx: node 'Reshape_2' (Reshape): reshape: "));
  // The first error sticks.
  CHECK(message([](Model& g, NodeId x) {
          NodeId bad = g.b.Op("nonsense", {x}, {}, g.At("a", "A"));
          return g.b.Op("more nonsense", {bad}, {}, g.At("b", "B"));
        }).starts_with("model.onnx: node 'a' (A): "));
  // A variable out of its scope.
  CHECK(message([](Model& g, NodeId x) {
          const Var* y = MakeVar(g.m, "y", nullptr, {});
          Function f;
          f.params = {y};
          NodeId inside = g.b.Use(y, g.At("Relu_1", "Relu"));
          return g.b.Tuple({g.b.MakeFunction(f, inside), inside, x}, {});
        }) == "model.onnx: node 'Relu_1' (Relu): variable %y is used outside its scope");
}

}  // namespace
}  // namespace relayvm::ir

#include "tools/serve/model_graph.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using Json = nlohmann::json;

Json GraphOf(std::string_view relay, const GraphLimits& limits = {}) {
  const auto executable = testing::Loaded(relay);
  return Json::parse(ModelGraphJson(*executable, limits));
}
Json FunctionOf(const Json& graph, std::string_view name) {
  for (const Json& function : graph["functions"]) {
    if (function["name"] == name) return function["nodes"];
  }
  return {};
}
std::vector<size_t> Of(const Json& nodes, std::string_view kind) {
  std::vector<size_t> found;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]["kind"] == kind) found.push_back(i);
  }
  return found;
}

TEST_CASE("tensors lead from inputs through kernels to the result") {
  const Json graph = GraphOf(testing::kAddOne);
  CHECK(graph["truncated"] == false);
  CHECK(!graph["functions"][0]["memory"].get<std::string>().empty());
  const Json nodes = FunctionOf(graph, "main");
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0]["kind"] == "input");
  CHECK(nodes[0]["name"] == "x");
  CHECK(nodes[1]["kind"] == "kernel");
  CHECK(nodes[1]["from"] == Json({0}));
  CHECK(nodes[2]["kind"] == "result");
  CHECK(nodes[2]["from"] == Json({1}));
}

TEST_CASE("where branches meet, a tensor comes from each") {
  const Json nodes = FunctionOf(GraphOf(R"(#[version = "0.0.5"]
def @main(%c: bool, %x: Tensor[(64, 64), float32], %y: Tensor[(64, 64), float32]) -> Tensor[(64, 64), float32] {
  let %r = if (%c) { nn.dense(%x, %y) } else { nn.softmax(%y) };
  nn.dense(%r, %x)
})"),
                                "main");
  const auto results = Of(nodes, "result");
  REQUIRE(results.size() == 1);
  const Json& last = nodes[nodes[results[0]]["from"][0].get<size_t>()];
  size_t from_kernels = 0;
  for (const Json& source : last["from"])
    from_kernels += nodes[source.get<size_t>()]["kind"] == "input" ? 0 : 1;
  CHECK(from_kernels >= 2);
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Json& source : nodes[i]["from"]) CHECK(source.get<size_t>() < i);
  }
}

TEST_CASE("calls of functions and choices show") {
  const Json graph = GraphOf(R"(#[version = "0.0.5"]
type Tree { Leaf(Tensor[(?), float32]), Node(Tree, Tree) }
def @sum(%t: Tree) -> Tensor[(?), float32] {
  match (%t) { Leaf(%x) => %x, Node(%a, %b) => add(@sum(%a), @sum(%b)) }
}
def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] {
  @sum(Node(Leaf(%x), Node(Leaf(%x), Leaf(%x))))
})");
  size_t calls = 0, choices = 0;
  for (const Json& function : graph["functions"]) {
    calls += Of(function["nodes"], "call").size() + Of(function["nodes"], "tail_call").size();
    choices += Of(function["nodes"], "choice").size();
  }
  CHECK(calls >= 2);
  CHECK(choices >= 1);
}

TEST_CASE("large graphs are cut, and still JSON") {
  std::string relay = "#[version = \"0.0.5\"]\ndef @main(%x0: Tensor[(4), float32]) {\n";
  for (int i = 0; i < 50; ++i) relay += fmt::format("  let %x{} = nn.softmax(%x{});\n", i + 1, i);
  relay += "  %x50\n}\n";
  const Json whole = GraphOf(relay);
  CHECK(FunctionOf(whole, "main").size() == 52);
  const Json cut = GraphOf(relay, {.max_nodes = 10});
  CHECK(cut["truncated"] == true);
  CHECK(FunctionOf(cut, "main").size() == 10);
  CHECK(GraphOf(relay, {.max_steps = 100})["truncated"] == true);
}

}  // namespace
}  // namespace relayvm::serve

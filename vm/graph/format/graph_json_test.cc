#include "vm/graph/format/graph_json.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "vm/graph/format/testing.h"

namespace relayvm::graph {
namespace {

using Json = nlohmann::json;

std::string Text() {
  const auto text = GraphToJson(testing::SmallGraph(), testing::AddKernel());
  REQUIRE(text.ok());
  return *text;
}

TEST_CASE("the schema is TVM's") {
  const Json json = Json::parse(Text());
  CHECK(json["nodes"].size() == 6);
  CHECK(json["nodes"][0] == Json::parse(R"({"op": "null", "name": "x", "inputs": []})"));
  const Json& add = json["nodes"][3];
  CHECK(add["op"] == "tvm_op");
  CHECK(add["inputs"] == Json::parse("[[2, 0, 0], [0, 0, 0]]"));
  CHECK(add["attrs"]["func_name"] == "test.add");
  for (const auto& [key, value] : add["attrs"].items()) CHECK(value.is_string());
  CHECK(json["nodes"][5]["attrs"]["func_name"] == "__nop");
  CHECK(json["arg_nodes"] == Json::parse("[0, 1]"));
  CHECK(json["heads"] == Json::parse("[[5, 0, 0]]"));
  CHECK(json["node_row_ptr"] == Json::parse("[0, 1, 2, 3, 4, 5, 6]"));
  CHECK(json["attrs"] == Json::parse(R"({
    "storage_id": ["list_int", [0, 1, 2, 3, 3, 3]],
    "shape": ["list_shape", [[4], [4], [4], [4], [4], [2, 2]]],
    "dltype": ["list_str", ["float32", "float32", "float32", "float32", "float32", "float32"]]})"));
}

TEST_CASE("graphs read back, offsets, places and many results too") {
  Graph g = testing::SmallGraph();
  g.nodes[4].source = "model.onnx: node '\"ä\"' (Add)";
  g.nodes[4].scratch_bytes = 4096;
  g.nodes[4].outputs.push_back({DType::kBFloat16, {}, 7, 128});
  g.nodes[4].scalars = {INT64_MIN, 0, INT64_MAX};
  g.heads.push_back({4, 1});
  const auto text = GraphToJson(g, testing::AddKernel());
  REQUIRE(text.ok());
  const auto again = ParseGraphJson(*text);
  REQUIRE_MESSAGE(again.ok(), again.status().message());
  CHECK(*again == g);
  g.nodes[0].name = "\xff";
  CHECK(GraphToJson(g, testing::AddKernel()).status().message().find("not UTF-8") !=
        std::string::npos);
}

TEST_CASE("what is wrong is named by its place") {
  struct Case {
    const char* pointer;  // what is replaced
    const char* by;
    const char* message;
  };
  const Case cases[] = {
      {"/nodes", "3", "nodes: expected an array, found 3"},
      {"/nodes/0", "[]", "nodes[0]: expected an object, found an array"},
      {"/nodes/0/op", "\"other\"", "nodes[0].op: expected \"null\" or \"tvm_op\", found \"other\""},
      {"/nodes/0/name", "null", "nodes[0].name: expected a string, found null"},
      {"/nodes/2/inputs", "[[0]]",
       "nodes[2].inputs[0]: expected [node, output, 0], found an array"},
      {"/nodes/2/inputs", "[[0, -1, 0]]", "nodes[2].inputs[0][1]: expected a whole number from 0"},
      {"/nodes/2/inputs", "[[0, 1.5, 0]]", "expected a whole number"},
      {"/nodes/2/inputs", "[[18446744073709551615, 0, 0]]", "expected a whole number"},
      {"/nodes/2/attrs", "{}", "nodes[2].attrs: \"func_name\" is missing"},
      {"/nodes/2/attrs/units", "\"x\"", "attrs.units: expected numbers with spaces between them"},
      {"/nodes/2/attrs/units", "8", "nodes[2].attrs.units: expected a string, found 8"},
      {"/nodes/2/attrs/units", "\"1 2\"", "expected a number in a string"},
      {"/nodes/2/attrs/scalars", "\"99999999999999999999\"", "expected numbers"},
      {"/nodes/2/attrs/kernel", "\"-1\"", "expected the number of a kernel"},
      {"/nodes/2/attrs/num_outputs", "\"0\"", "expected 1 to 65536 outputs"},
      {"/nodes/2/attrs/num_outputs", "\"999999999\"", "expected 1 to 65536 outputs"},
      {"/nodes/2/attrs/num_outputs", "\"2\"", "node_row_ptr[3]: expected 4"},
      {"/arg_nodes", "[true]", "arg_nodes[0]: expected a whole number"},
      {"/heads", "{}", "heads: expected an array, found an object"},
      {"/node_row_ptr", "[0]", "node_row_ptr: expected 7 numbers, one more than nodes"},
      {"/attrs", "[]", "attrs: expected an object"},
      {"/attrs/storage_id", "[\"list_int\", [0]]",
       "as many elements as there are tensors, 6 (there are 1)"},
      {"/attrs/storage_id", "[\"list_str\", []]", "attrs.storage_id[0]: expected \"list_int\""},
      {"/attrs/storage_id", "[]", "attrs.storage_id: expected [\"list_int\", [...]]"},
      {"/attrs/shape/1/2", "[-1]", "attrs.shape[1][2][0]: expected a whole number from 0"},
      {"/attrs/shape/1/2", "7", "attrs.shape[1][2]: expected an array"},
      {"/attrs/dltype/1/2", "\"float33\"",
       "attrs.dltype[1][2]: expected a dtype, found \"float33\""},
  };
  const Json good = Json::parse(Text());
  for (const Case& c : cases) {
    CAPTURE(c.pointer);
    Json json = good;
    json[Json::json_pointer(c.pointer)] = Json::parse(c.by);
    const auto graph = ParseGraphJson(json.dump());
    REQUIRE_FALSE(graph.ok());
    CHECK(graph.status().code() == StatusCode::kInvalidInput);
    CHECK_MESSAGE(graph.status().message().find(c.message) != std::string::npos,
                  graph.status().message());
  }
  CHECK(ParseGraphJson("{\"nodes\": [").status().message().starts_with("no JSON: "));
  CHECK(ParseGraphJson("").status().message().starts_with("no JSON: "));
  CHECK(ParseGraphJson("[]").status().message() == "graph: expected an object, found an array");
  const std::string deep(100'000, '[');
  CHECK(ParseGraphJson(deep).status().message() == "no JSON: nested more than 32 deep");
  CHECK_FALSE(ParseGraphJson(deep + std::string(100'000, ']')).ok());
}

}  // namespace
}  // namespace relayvm::graph

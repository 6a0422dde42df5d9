#include "compiler/import/mxnet/symbol.h"

#include <doctest/doctest.h>

namespace relayvm::import::mxnet {

namespace {

std::string ErrorOf(std::string_view text) {
  const auto symbol = ReadSymbol("net-symbol.json", text);
  return symbol.ok() ? "" : symbol.status().message();
}

}  // namespace

TEST_CASE("Symbols of all versions") {
  const auto now = ReadSymbol("net", R"({"nodes": [{"op": "null", "name": "data", "inputs": []},
    {"op": "relu", "name": "r", "attrs": {"a": "1"}, "inputs": [[0, 0, 0]], "subgraphs": [
      {"nodes": [{"op": "null", "name": "v", "inputs": []}], "heads": [[0, 0, 0]]}]}],
    "arg_nodes": [0], "heads": [[1, 0, 0]],
    "attrs": {"mxnet_version": ["int", 10901], "is_np_shape": ["int", 1]}})");
  REQUIRE_MESSAGE(now.ok(), now.status().message());
  CHECK(now->version == 10901);
  CHECK(now->np_shape);
  CHECK(now->num_nodes() == 3);
  CHECK(now->nodes[1].attrs.at("a") == "1");
  // Before 0.9 "param" is the operator's, "attr" the user's; inputs are pairs.
  const auto old = ReadSymbol("net", R"({"nodes": [
    {"op": "null", "param": {}, "name": "data", "inputs": [], "backward_source_id": -1},
    {"op": "relu", "param": {"a": "1"}, "name": "r", "inputs": [[0, 0]], "attr": {"a": "2",
     "lr_mult": "3"}}], "arg_nodes": [0], "heads": [[1, 0]]})");
  REQUIRE_MESSAGE(old.ok(), old.status().message());
  CHECK(old->version == 800);
  CHECK(old->nodes[1].attrs.at("a") == "1");
  CHECK(old->nodes[1].attrs.at("lr_mult") == "3");
}

TEST_CASE("Symbols that are none") {
  CHECK(ErrorOf("{\"nodes\": [").find("the JSON is damaged or cut off") != std::string::npos);
  CHECK(ErrorOf("[]").find("expected an object with nodes and heads") != std::string::npos);
  CHECK(ErrorOf("{\"nodes\": [], \"heads\": []}").find("no heads") != std::string::npos);
  CHECK(ErrorOf(R"({"nodes": [{"op": "relu", "name": "r", "inputs": [[0, 0, 0]]}],
                    "heads": [[0, 0, 0]]})")
            .find("input 0 is of node 0, expected one of the 0 nodes before") != std::string::npos);
  CHECK(ErrorOf(R"({"nodes": [{"op": "null", "name": "x", "inputs": []}], "heads": [[4, 0, 0]]})")
            .find("a head is of node 4") != std::string::npos);
  CHECK(ErrorOf(R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
                    {"op": "null", "name": "x", "inputs": []}], "heads": [[0, 0, 0]]})")
            .find("'x' is the name of another variable") != std::string::npos);
  const std::string deep(100'000, '[');
  CHECK(ErrorOf(deep).find("nest deeper") != std::string::npos);
  CHECK(ErrorOf(R"({"nodes": [{"op": "null", "name": "x", "attrs": {"a": 1}}], "heads": [[0, 0]]})")
            .find("attribute a: expected a text") != std::string::npos);
}

}  // namespace relayvm::import::mxnet

#include "compiler/frontend/metadata.h"

#include <doctest/doctest.h>

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"

namespace relayvm::frontend {
namespace {

// A section whose root holds each of `nodes` (JSON objects, numbered from 3) under its type key's
// name "X".
std::string Section(const std::string& nodes, int count) {
  std::string data;
  for (int i = 0; i < count; ++i) data += (i > 0 ? "," : "") + std::to_string(i + 3);
  return R"({"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["X"], "data": [2]},)"
         R"({"type_key": "Array", "data": [)" +
         data + "]}," + nodes + R"(], "b64ndarrays": []})";
}

Metadata Read(const std::string& json) {
  size_t offset = 0;
  auto m = Metadata::Parse(json, &offset);
  if (!m.ok()) FAIL(m.status().message());
  return *std::move(m);
}

TEST_CASE("values of attributes") {
  Metadata m = Read(Section(R"(
      {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "-7"}},
      {"type_key": "IntImm", "attrs": {"dtype": "bool", "value": "1"}},
      {"type_key": "FloatImm", "attrs": {"dtype": "float32", "value": "0.10000000000000001"}},
      {"type_key": "FloatImm", "attrs": {"dtype": "float32", "value": "-inf"}},
      {"type_key": "runtime.String", "repr_str": "a \"b\""},
      {"type_key": "runtime.String", "repr_b64": "AgAAAAAAAAAKAQ=="},
      {"type_key": "runtime.String"},
      {"type_key": "Array", "data": [3, 0, 9]},
      {"type_key": "tir.Any", "attrs": {"dtype": "int32"}})",
                            9));
  ir::IdSource ids;
  auto value = [&](uint64_t i) { return *m.Value(*m.Find("X", i), ids); };
  CHECK(value(0) == AttrValue(-7));
  CHECK(value(1) == AttrValue(true));
  CHECK(value(2) == AttrValue(0.1));
  CHECK(std::get<double>(value(3).value) < -1e308);
  CHECK(value(4) == AttrValue("a \"b\""));
  CHECK(value(5) == AttrValue("\n\x01"));
  CHECK(value(6) == AttrValue(""));
  CHECK(value(7) == AttrValue(AttrList{AttrValue(-7), AttrValue(), AttrValue("")}));
  CHECK(value(8) == AttrValue(Dim::Any()));
}

TEST_CASE("size variables are symbols, shared by all that refer to them") {
  Metadata m = Read(Section(R"(
      {"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "6"}},
      {"type_key": "tir.Mul", "attrs": {"a": "3", "b": "7"}},
      {"type_key": "relay.TensorType", "attrs": {"dtype": "float32", "shape": "8"}},
      {"type_key": "runtime.String", "repr_str": "n"},
      {"type_key": "IntImm", "attrs": {"dtype": "int64", "value": "4"}},
      {"type_key": "Array", "data": [3, 4, 7]},
      {"type_key": "tir.FloorDiv", "attrs": {"a": "4", "b": "3"}})",
                            7));
  ir::IdSource ids;
  Dim n = *m.DimValue(3, ids);
  CHECK(n.symbol_name() == "n");
  CHECK(*m.DimValue(4, ids) == n * Dim(4));
  CHECK(*m.DimValue(9, ids) == Dim(4));
  CHECK(ir::TypeToString(*m.TypeValue(5, ids)) == "Tensor[(n, n*4, 4), float32]");
}

TEST_CASE("operators' attributes, as TVM dumps them") {
  // A number in a field may be the value or the index of a node.
  const struct {
    const char* call;
    const char* fields;
    const char* printed;
  } kCases[] = {
      {"cumsum(%x, meta[relay.attrs.X][0])", R"("axis": "4", "dtype": "int64", "exclusive": "5")",
       "cumsum(%x, axis=1, dtype=\"int64\", exclusive=True)"},
      {"cumsum(%x, meta[relay.attrs.X][0])", R"("axis": "0", "dtype": "", "exclusive": "6")",
       "cumsum(%x)"},
      {"reshape(%x, meta[relay.attrs.X][0])", R"("newshape": "7", "allowzero": "1")",
       "reshape(%x, newshape=[1, 1], allowzero=True)"},
      {"take(%x, %x, meta[relay.attrs.X][0])", R"("axis": "0", "batch_dims": "4", "mode": "8")",
       "take(%x, %x, batch_dims=1, mode=\"wrap\")"},
      {"nn.softmax(%x, meta[relay.attrs.X][0])", R"("axis": "1")", "nn.softmax(%x, axis=1)"},
      {"nn.softmax(%x, meta[relay.attrs.X][0])", R"("axis": "-2")", "nn.softmax(%x, axis=-2)"},
      {"nn.leaky_relu(%x, meta[relay.attrs.X][0])", R"("alpha": "0.10000000000000001")",
       "nn.leaky_relu(%x, alpha=0.1f)"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.call);
    auto m =
        ParseRelay("test", std::string("#[version = \"0.0.5\"]\ndef @main(%x) { ") + c.call + R"( }
#[metadata]
{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.attrs.X"], "data": [2]},
  {"type_key": "Array", "data": [3]},
  {"type_key": "relay.attrs.X", "attrs": {)" +
                               c.fields + R"(}},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "1"}},
  {"type_key": "IntImm", "attrs": {"dtype": "bool", "value": "1"}},
  {"type_key": "IntImm", "attrs": {"dtype": "bool", "value": "0"}},
  {"type_key": "Array", "data": [4, 4]},
  {"type_key": "runtime.String", "repr_str": "wrap"}]})");
    REQUIRE_MESSAGE(m.ok(), m.status().message());
    const ir::Block& body = *m->functions.at("main")->body;
    CHECK(ir::PrintExpr(*m, *body.bindings[0].value).find(std::string(c.printed).substr(0, 4)) ==
          0);
    std::string text = ir::PrintFunction(*m, *m->functions.at("main"));
    CHECK(text == std::string("def @main(%x) {\n  ") + c.printed + "\n}\n");
  }
}

TEST_CASE("constants are shared by identity") {
  auto m = ParseRelay("test", R"(#[version = "0.0.5"]
def @main() { (meta[relay.Constant][0], meta[relay.Constant][1], meta[relay.Constant][0]) }
#[metadata]
{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
  {"type_key": "Array", "data": [3, 4]},
  {"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": "0", "span": "0", "virtual_device_": "5"}},
  {"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": "1", "span": "0", "virtual_device_": "5"}},
  {"type_key": "VirtualDevice", "attrs": {"device_type_int": "-1", "memory_scope": "6", "target": "0", "virtual_device_id": "-1"}},
  {"type_key": "runtime.String"}],
 "b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQADAAAAAAAAAAwAAAAAAAAAAACAPwAAAEAAAEBA",
                 "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAABAAQAIAAAAAAAAAAUAAAAAAAAA"],
 "attrs": {"tvm_version": "0.14.0"}})");
  REQUIRE_MESSAGE(m.ok(), m.status().message());
  const auto& fields =
      m->functions.at("main")->body->bindings[0].value->As<ir::MakeTuple>()->fields;
  CHECK(fields[0] == fields[2]);
  CHECK(std::get<const ir::Constant*>(fields[0])->value.shape == std::vector<int64_t>{3});
  CHECK(std::get<const ir::Constant*>(fields[1])->value.dtype == DType::kInt64);
}

TEST_CASE("malformed sections are errors") {
  const struct {
    std::string json;
    const char* message;
  } kCases[] = {
      {"[", "metadata: malformed JSON"},
      {"[]", "metadata: expected a JSON object"},
      {"{}", "metadata: no list of nodes"},
      {R"({"root": 0, "nodes": []})", "metadata: the root is not the index of a node"},
      {R"({"root": -1, "nodes": [{}]})", "metadata: the root is not the index of a node"},
      {R"({"root": 0, "nodes": [{"type_key": "Array"}]})", "metadata: the root is not a map"},
      {R"({"root": 0, "nodes": [{"type_key": "Map", "keys": ["a"], "data": []}]})",
       "metadata: the root is not a map"},
      {R"({"root": 0, "nodes": [{"type_key": "Map", "data": [1]}]})",
       "metadata: node 0: malformed \"data\""},
      {R"({"root": 0, "nodes": [{"type_key": 1}]})", "metadata: node 0: malformed \"type_key\""},
      {R"({"root": 0, "nodes": [{"attrs": {"a": 1}}]})", "metadata: node 0: malformed \"attrs\""},
      {R"({"root": 0, "nodes": [5]})", "metadata: node 0 is not an object"},
      {R"({"root": 0, "nodes": [{}], "b64ndarrays": [1]})",
       "metadata: an element of b64ndarrays is not a string"},
  };
  for (const auto& c : kCases) {
    size_t offset = 0;
    auto m = Metadata::Parse(c.json, &offset);
    REQUIRE_FALSE(m.ok());
    CHECK(m.status().message() == c.message);
  }
  CHECK_FALSE(Metadata::Parse(std::string(100000, '['),
                              [] {
                                static size_t n;
                                return &n;
                              }())
                  .ok());
}

TEST_CASE("nodes of another kind than their use are errors") {
  const struct {
    const char* use;   // of metadata node 3, in the text
    const char* node;  // 3; node 4 is IntImm -5, 5 an Array of 4, 6 IntImm 0
    const char* message;
  } kCases[] = {
      {"cumsum(%x, meta[K][0])", R"({"type_key": "X", "attrs": {"axis": "1"}})",
       "cumsum: metadata: expected an object of class relay.attrs.*, found \"X\""},
      {"cumsum(%x, meta[K][0])", R"({"type_key": "", "attrs": {"axis": "1"}})",
       "cumsum: metadata: expected an object of class relay.attrs.*, found \"\""},
      {"cumsum(%x, meta[K][0])", R"({"type_key": "relay.attrs.", "attrs": {"axis": "x"}})",
       "cumsum: metadata: relay.attrs.: malformed field axis = \"x\""},
      {"fn (%y: Tensor[(meta[K][0]), int8]) { %y }",
       R"({"type_key": "IntImm", "attrs": {"value": "-5"}})",
       "metadata: expected a dimension of a tensor, 0 or more, found -5"},
      {"fn (%y: Tensor[(meta[K][0]), int8]) { %y }",
       R"({"type_key": "tir.Sub", "attrs": {"a": "6", "b": "7"}})",
       "metadata: expected a dimension of a tensor, 0 or more, found -3"},
      {"fn (%y: Tensor[(meta[K][0]), int8]) { %y }",
       R"({"type_key": "tir.FloorDiv", "attrs": {"a": "7", "b": "6"}})",
       "metadata: tir.FloorDiv by 0"},
      {"fn (%y: Tensor[(meta[K][0]), int8]) { %y }",
       R"({"type_key": "tir.Mod", "attrs": {"a": "7", "b": "6"}})", "metadata: tir.Mod by 0"},
      {"fn (%y: Tensor[(meta[K][0]), int8]) { %y }", R"({"type_key": "Array", "data": [4]})",
       "metadata: expected a dimension, found \"Array\""},
      {"fn (%y: Tensor[(meta[K][0]), int8]) { %y }", R"({})",
       "metadata: expected a dimension, found \"\""},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.node);
    const bool attrs = std::string(c.use).starts_with("cumsum");
    const std::string key = attrs ? "relay.attrs.K" : "IntImm";
    std::string use = c.use;
    use.replace(use.find("[K]"), 3, "[" + key + "]");
    auto m = ParseRelay("f", "#[version = \"0.0.5\"]\ndef @main(%x) { " + use +
                                 " }\n#[metadata]\n"
                                 R"({"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": [")" +
                                 key + R"("], "data": [2]}, {"type_key": "Array", "data": [3]},)" +
                                 c.node + R"(,
  {"type_key": "IntImm", "attrs": {"value": "-5"}}, {"type_key": "Array", "data": [4]},
  {"type_key": "IntImm", "attrs": {"value": "0"}}, {"type_key": "IntImm", "attrs": {"value": "3"}}]})");
    REQUIRE_FALSE(m.ok());
    const std::string& message = m.status().message();
    CHECK(message.starts_with("f:2:"));
    CHECK(message.find(c.message) != std::string::npos);
    CAPTURE(message);
  }
}

TEST_CASE("cycles and blow-up by sharing are errors") {
  ir::IdSource ids;
  Metadata cyclic = Read(Section(R"({"type_key": "Array", "data": [3]})", 1));
  CHECK(cyclic.Value(3, ids).status().message() ==
        "metadata: objects are cyclic or nested too deeply");
  Metadata sum = Read(Section(R"({"type_key": "tir.Add", "attrs": {"a": "3", "b": "3"}})", 1));
  CHECK_FALSE(sum.DimValue(3, ids).ok());
  std::string nodes = R"({"type_key": "Array"})";
  for (int i = 0; i < 60; ++i)
    nodes += ",{\"type_key\": \"Array\", \"data\": [" + std::to_string(i + 3) + "," +
             std::to_string(i + 3) + "]}";
  Metadata shared = Read(Section(nodes, 1));
  CHECK_FALSE(shared.Value(63, ids).ok());
}

}  // namespace
}  // namespace relayvm::frontend

#include "compiler/import/tensorflow/text_format.h"

#include <doctest/doctest.h>

#include "compiler/import/container/protobuf_wire.h"

namespace relayvm::import::tensorflow {
namespace {

std::string Message(std::string_view text) {
  const auto binary = BinaryOf(text, TextMessage::kGraph);
  return binary.ok() ? "" : binary.status().message();
}

TEST_CASE("texts are told from binary") {
  CHECK(TextMessageOf("node {\n") == TextMessage::kGraph);
  CHECK(TextMessageOf("# a graph\n  node: < name: 'x' >") == TextMessage::kGraph);
  CHECK(TextMessageOf("saved_model_schema_version: 1") == TextMessage::kSavedModel);
  CHECK(!TextMessageOf("\x0a\x05node {"));
  CHECK(!TextMessageOf("nodes { }"));
  CHECK(!TextMessageOf(""));
}

TEST_CASE("a text says what the binary says") {
  const auto binary = BinaryOf(
      "node { # one\n name: \"a\" 'b\\n\\101\\x42', op: 'Const'; input: ['x', \"y\"]\n"
      "attr { key: 'f' value { f: -1.5 } } attr < key: 'l' value: { list { i: [1, -2] type: "
      "DT_INT64 "
      "b: true } } > device: '' unknown_field: [{ a: 1 }, { }] [ext.field]: 3 }\n"
      "versions { producer: 12 }",
      TextMessage::kGraph);
  REQUIRE_MESSAGE(binary.ok(), binary.status().message());
  std::string l, list, f, value, node, expected;
  AppendBytes(1, "ab\nAB", &node);
  AppendBytes(2, "Const", &node);
  AppendBytes(3, "x", &node);
  AppendBytes(3, "y", &node);
  AppendFloat(4, -1.5F, &value);
  AppendBytes(1, "f", &f);
  AppendBytes(2, value, &f);
  AppendBytes(5, f, &node);
  AppendNumber(3, 1, &list);
  AppendNumber(3, static_cast<uint64_t>(-2), &list);
  AppendNumber(6, 9, &list);
  AppendNumber(5, 1, &list);
  value.clear();
  AppendBytes(1, list, &value);
  AppendBytes(1, "l", &l);
  AppendBytes(2, value, &l);
  AppendBytes(5, l, &node);
  AppendBytes(1, node, &expected);
  CHECK(*binary == expected);
}

TEST_CASE("what is no text of a graph names its line") {
  CHECK(Message("node {\n name: 'a'\n").find("line 3: expected '}'") == 0);
  CHECK(Message("node {\n name: 3 }") == "line 2: name: '3'");
  CHECK(Message("node { name: 'a\n' }").find("a text without its end") != std::string::npos);
  CHECK(Message("node { attr { value { type: DT_NONE } } }").find("type: 'DT_NONE'") !=
        std::string::npos);
  CHECK(Message("node { name { } }").find("expected no message") != std::string::npos);
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "a { ";
  CHECK(Message(deep).find("nest too deeply") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::import::tensorflow

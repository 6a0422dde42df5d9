#include "compiler/ir/source.h"

#include <doctest/doctest.h>

#include "bytecode/base/status_detail.h"

namespace relayvm::ir {
namespace {

TEST_CASE("places in a model are nodes") {
  SourceMap sources;
  uint32_t text = sources.AddFile("f.relay", "x");
  uint32_t model = sources.AddModel("model.onnx");
  Span conv = sources.NodeSpan(model, "Conv_3", "Conv");
  Span unnamed = sources.NodeSpan(model, "", "Add");
  Span value = sources.NodeSpan(model, "%12", "");
  CHECK(sources.Place(conv) == "model.onnx: node 'Conv_3' (Conv)");
  CHECK(sources.Place(unnamed) == "model.onnx: a node (Add)");
  CHECK(sources.Place(value) == "model.onnx: node '%12'");
  CHECK(sources.Place(Span{text, 1, 1}) == "f.relay:1:1");
  CHECK(sources.Place(Span{}).empty());
  CHECK(sources.Error(StatusCode::kInvalidInput, conv, "bad").message() ==
        "model.onnx: node 'Conv_3' (Conv): bad");
  CHECK(sources.IsModel(model));
  CHECK_FALSE(sources.IsModel(text));
}

TEST_CASE("an error has its place, and what its message says, as fields") {
  SourceMap sources;
  const uint32_t file = sources.AddFile("a.relay", "first\n\tlet %x = y;\r\nlast");
  Status error = sources.Error(StatusCode::kInvalidInput, sources.SpanAt(file, 11, 2),
                               "argument 1: expected (int64, bool), found Tensor[(2), int64]");
  REQUIRE(error.detail() != nullptr);
  REQUIRE(error.detail()->places.size() == 1);
  const StatusPlace& place = error.detail()->places[0];
  CHECK(place.file == "a.relay");
  CHECK(place.line == 2);
  CHECK(place.column == 6);
  CHECK(place.length == 2);
  CHECK(place.source_line == "\tlet %x = y;");
  CHECK(error.detail()->expected_text == "(int64, bool)");
  CHECK(error.detail()->found_text == "Tensor[(2), int64]");

  const uint32_t model = sources.AddModel("model.onnx");
  error = sources.Error(StatusCode::kInvalidInput, sources.NodeSpan(model, "Conv_3", "Conv"),
                        "it is bad, as expected");
  REQUIRE(error.detail() != nullptr);
  CHECK(error.detail()->places.at(0).file == "model.onnx: node 'Conv_3' (Conv)");
  CHECK(error.detail()->places[0].line == 0);
  CHECK(error.detail()->expected_text.empty());
  CHECK(sources.Error(StatusCode::kInvalidInput, Span{}, "bad").detail()->places.empty());
}

TEST_CASE("an error shows its place, the line and a caret") {
  SourceMap sources;
  uint32_t file = sources.AddFile("a.relay", "first\n\tlet %x = y;\r\nlast");
  const struct {
    size_t offset, length;
    const char* message;
  } kCases[] = {
      {0, 5, "a.relay:1:1: bad\nfirst\n^~~~~"},
      {2, 1, "a.relay:1:3: bad\nfirst\n  ^"},
      {11, 2, "a.relay:2:6: bad\n\tlet %x = y;\n\t    ^~"},
      {23, 0, "a.relay:3:4: bad\nlast\n   ^"},
      {24, 0, "a.relay:3:5: bad\nlast\n    ^"},   // the end of the file
      {20, 100, "a.relay:3:1: bad\nlast\n^~~~"},  // underlines what the line has
  };
  for (const auto& c : kCases) {
    Status s =
        sources.Error(StatusCode::kInvalidInput, sources.SpanAt(file, c.offset, c.length), "bad");
    CHECK(s.message() == c.message);
    CHECK(s.code() == StatusCode::kInvalidInput);
  }
}

TEST_CASE("columns count bytes, the caret stands under the character") {
  SourceMap sources;
  uint32_t file = sources.AddFile("f", "\xC3\xA4\xC3\xB6 x");
  CHECK(sources.Error(StatusCode::kInvalidInput, sources.SpanAt(file, 5, 1), "m").message() ==
        "f:1:6: m\n\xC3\xA4\xC3\xB6 x\n   ^");
}

TEST_CASE("a long line is shown around the place") {
  SourceMap sources;
  uint32_t file = sources.AddFile("f", std::string(5000, 'a') + "!" + std::string(5000, 'b'));
  std::string message =
      sources.Error(StatusCode::kInvalidInput, sources.SpanAt(file, 5000, 1), "m").message();
  CHECK(message.size() < 400);
  size_t line = message.find('\n') + 1;
  size_t caret = message.find('^') - message.rfind('\n') - 1;
  CHECK(message[line + caret] == '!');
}

TEST_CASE("an unknown place leaves the message alone") {
  SourceMap sources;
  CHECK(sources.Error(StatusCode::kInternal, Span{}, "m").message() == "m");
  sources.AddFile("f", "text");
  CHECK(sources.Error(StatusCode::kInternal, Span{}, "m").message() == "m");
  CHECK(sources.Line(0, 2).empty());
  CHECK(sources.Line(3, 1).empty());
}

}  // namespace
}  // namespace relayvm::ir

// Where things stand in the source, and how an error shows it.
// Tested by source_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::ir {

// A place in a source; line 0 is unknown. In a text file lines and columns start at 1, and columns
// count bytes. In a model (ONNX ...) `line` is the number of a named node, and column is 0.
struct Span {
  uint32_t file = 0;  // index in the SourceMap
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 0;  // bytes to underline, 0 or 1: one caret
};

class SourceMap {
 public:
  // Keeps the text. Gives the file's index.
  uint32_t AddFile(std::string name, std::string text);
  // A model whose places are nodes. Gives its index, as of a file.
  uint32_t AddModel(std::string name);
  // A node of a model, by the names that its format gives it: "Conv_3", "Conv". Names may be empty
  // and may repeat.
  Span NodeSpan(uint32_t model, std::string_view node, std::string_view op,
                std::string_view part = "");

  bool IsModel(uint32_t file) const { return !files_[file].nodes.empty(); }

  const std::string& name(uint32_t file) const { return files_[file].name; }
  uint32_t num_files() const { return static_cast<uint32_t>(files_.size()); }
  // Valid until the next AddFile.
  std::string_view text(uint32_t file) const { return files_[file].text; }
  // The text of a line, without its newline. Empty if there is no such line.
  std::string_view Line(uint32_t file, uint32_t line) const;

  // The place of `length` bytes at byte `offset` of a file.
  Span SpanAt(uint32_t file, size_t offset, size_t length) const;

  // "file:line:column", or "model.onnx: node 'Conv_3' (Conv)". Empty for an unknown place.
  std::string Place(Span span) const;
  // "file:line:column: message", the source line and a caret line below it; or
  // "model.onnx: node 'Conv_3' (Conv): message". The detail has the place, and what the message
  // says was expected and found.
  Status Error(StatusCode code, Span span, std::string_view message) const;

 private:
  struct File {
    std::string name, text;
    std::vector<size_t> line_starts;
    std::vector<std::string> nodes;  // of a model
  };
  bool IsKnown(Span span) const;

  std::vector<File> files_;
};

}  // namespace relayvm::ir

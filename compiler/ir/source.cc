#include "compiler/ir/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bytecode/base/printable.h"
#include "bytecode/base/status_detail.h"

namespace relayvm::ir {
namespace {

// Messages say "expected X, found Y", after what it is about.
void ReadExpected(std::string_view message, StatusDetail* detail) {
  constexpr std::string_view kExpected = "expected ", kFound = ", found ";
  const size_t expected = message.find(kExpected);
  if (expected == std::string_view::npos) return;
  const size_t begin = expected + kExpected.size();
  const size_t found = message.rfind(kFound);
  if (found == std::string_view::npos || found < begin) return;
  detail->expected_text = message.substr(begin, found - begin);
  detail->found_text = message.substr(found + kFound.size());
}
// Generated programs have lines of many kilobytes: an error shows this many bytes around the place.
constexpr size_t kShownBytes = 160;
}  // namespace

uint32_t SourceMap::AddFile(std::string name, std::string text) {
  File file{std::move(name), std::move(text), {0}, {}};
  for (size_t i = 0; i < file.text.size(); ++i) {
    if (file.text[i] == '\n') file.line_starts.push_back(i + 1);
  }
  files_.push_back(std::move(file));
  return static_cast<uint32_t>(files_.size() - 1);
}

uint32_t SourceMap::AddModel(std::string name) {
  files_.push_back({std::move(name), "", {}, {}});
  return static_cast<uint32_t>(files_.size() - 1);
}

Span SourceMap::NodeSpan(uint32_t model, std::string_view node, std::string_view op,
                         std::string_view part) {
  std::string text = node.empty() ? "a node" : fmt::format("node '{}'", node);
  if (!op.empty()) text += fmt::format(" ({})", op);
  if (!part.empty()) text += fmt::format(": {}", part);
  std::vector<std::string>& nodes = files_[model].nodes;
  nodes.push_back(std::move(text));
  return Span{model, static_cast<uint32_t>(nodes.size())};
}

bool SourceMap::IsKnown(Span span) const { return span.line != 0 && span.file < files_.size(); }

std::string SourceMap::Place(Span span) const {
  if (!IsKnown(span)) return "";
  const File& file = files_[span.file];
  if (span.line <= file.nodes.size())
    return fmt::format("{}: {}", file.name, file.nodes[span.line - 1]);
  return fmt::format("{}:{}:{}", file.name, span.line, span.column);
}

Span SourceMap::SpanAt(uint32_t file, size_t offset, size_t length) const {
  const std::vector<size_t>& starts = files_[file].line_starts;
  size_t line = std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin();
  return Span{file, static_cast<uint32_t>(line),
              static_cast<uint32_t>(offset - starts[line - 1] + 1), static_cast<uint32_t>(length)};
}

std::string_view SourceMap::Line(uint32_t file, uint32_t line) const {
  if (file >= files_.size() || line == 0 || line > files_[file].line_starts.size()) return {};
  const File& f = files_[file];
  size_t begin = f.line_starts[line - 1];
  size_t end = line < f.line_starts.size() ? f.line_starts[line] - 1 : f.text.size();
  if (end > begin && f.text[end - 1] == '\r') --end;
  return std::string_view(f.text).substr(begin, end - begin);
}

Status SourceMap::Error(StatusCode code, Span span, std::string_view message) const {
  auto detail = std::make_shared<StatusDetail>();
  ReadExpected(message, detail.get());
  if (!IsKnown(span)) return Status(code, std::string(message), std::move(detail));
  StatusPlace& at = detail->places.emplace_back();
  if (IsModel(span.file)) {
    at.file = Place(span);
    return Status(code, fmt::format("{}: {}", at.file, message), std::move(detail));
  }
  at.file = files_[span.file].name;
  at.line = span.line;
  at.column = span.column;
  at.length = span.length;
  at.source_line = Line(span.file, span.line);
  std::string_view line = Line(span.file, span.line);
  size_t place = std::min<size_t>(span.column == 0 ? 0 : span.column - 1, line.size());
  size_t first = 0;
  if (line.size() > kShownBytes && place > kShownBytes / 2) {
    first = std::min(place - kShownBytes / 2, line.size() - kShownBytes);
  }
  const std::string shown = PrintableLines(line.substr(first, kShownBytes));
  std::string caret;  // tabs are kept, so that the caret stands under its place
  for (size_t i = first; i < place; ++i) {
    bool continues_utf8 = (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
    if (!continues_utf8) caret += line[i] == '\t' ? '\t' : ' ';
  }
  caret += '^';
  size_t underlined =
      std::min<size_t>(span.length, first + shown.size() - std::min(place, first + shown.size()));
  if (underlined > 1) caret.append(underlined - 1, '~');
  return Status(code, fmt::format("{}: {}\n{}\n{}", Place(span), message, shown, caret),
                std::move(detail));
}

}  // namespace relayvm::ir

#include "compiler/import/torch/export_json.h"

#include <fmt/format.h>

namespace relayvm::import::torch {

Result<Json> ParseJson(std::string_view where, std::string_view text) {
  constexpr size_t kMost = size_t{64} << 20;
  constexpr int kDepth = 200;
  if (text.size() > kMost) {
    return Status(
        StatusCode::kInvalidInput,
        fmt::format("{}: {} bytes of JSON, at most {} are read", where, text.size(), kMost));
  }
  // Numbers that JSON has not, as Python writes them (torch.export of PyTorch 2.4 and before): as
  // texts, which later versions have.
  std::string quoted;
  size_t copied = 0;
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
      continue;
    }
    for (const std::string_view number : {"-Infinity", "Infinity", "NaN"}) {
      if (!text.substr(i).starts_with(number)) continue;
      quoted += fmt::format("{}\"{}\"", text.substr(copied, i - copied), number);
      copied = i + number.size();
      i = copied - 1;
      break;
    }
    in_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDepth) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: JSON that is nested more than {} deep", where, kDepth));
    }
  }
  if (copied > 0) text = quoted += text.substr(copied);
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("{}: damaged JSON, or one that ends early", where));
  }
  return json;
}

}  // namespace relayvm::import::torch

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
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDepth) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: JSON that is nested more than {} deep", where, kDepth));
    }
  }
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("{}: damaged JSON, or one that ends early", where));
  }
  return json;
}

}  // namespace relayvm::import::torch

// What torch.export's JSON holds, read without exceptions: a field that is missing or of another
// kind is null, or the fallback. Values live as long as the document.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bytecode/base/status.h"

namespace relayvm::import::torch {

using Json = nlohmann::json;

inline const Json& NoJson() {
  static const Json kNull;
  return kNull;
}
inline const Json& Member(const Json& o, const char* key) {
  if (!o.is_object()) return NoJson();
  const auto at = o.find(key);
  return at == o.end() ? NoJson() : *at;
}
// Of a list; null where it is none, or shorter.
inline const Json& ItemOf(const Json& v, size_t i) {
  return v.is_array() && i < v.size() ? v[i] : NoJson();
}
inline std::string_view TextOf(const Json& v) {
  const auto* text = v.get_ptr<const std::string*>();
  return text == nullptr ? std::string_view() : *text;
}
inline std::optional<int64_t> IntOf(const Json& v) {
  if (const auto* u = v.get_ptr<const uint64_t*>()) {
    if (v.is_number_unsigned())
      return *u > static_cast<uint64_t>(INT64_MAX) ? std::nullopt
                                                   : std::optional(static_cast<int64_t>(*u));
  }
  if (!v.is_number_integer()) return std::nullopt;
  const auto* i = v.get_ptr<const int64_t*>();
  return i == nullptr ? std::nullopt : std::optional(*i);
}
// A union: an object of exactly one key. No name where it is none.
inline std::pair<std::string_view, const Json*> UnionOf(const Json& v) {
  if (!v.is_object() || v.size() != 1) return {{}, &NoJson()};
  return {v.begin().key(), &*v.begin()};
}

// `where` begins the message. At most 64 MiB, and of bounded depth.
Result<Json> ParseJson(std::string_view where, std::string_view text);

}  // namespace relayvm::import::torch

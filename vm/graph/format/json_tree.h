// JSON as a tree of plain values: of bounded nesting, and destroyed without recursion beyond that
// and without memory (nlohmann's own tree takes some where it is destroyed, and ends the process
// without). Safe on any bytes. Tested by graph_json_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::graph {

struct JsonTree;
using JsonArray = std::vector<JsonTree>;
using JsonObject = std::vector<std::pair<std::string, JsonTree>>;  // in the text's order

struct JsonTree {
  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string,
               std::unique_ptr<JsonArray>, std::unique_ptr<JsonObject>>
      value = nullptr;

  // Null when it is something else.
  const std::string* string() const { return std::get_if<std::string>(&value); }
  const JsonArray* array() const {
    const auto* a = std::get_if<std::unique_ptr<JsonArray>>(&value);
    return a == nullptr ? nullptr : a->get();
  }
  const JsonObject* object() const {
    const auto* o = std::get_if<std::unique_ptr<JsonObject>>(&value);
    return o == nullptr ? nullptr : o->get();
  }
  // The member of that name, the last one where there are several; null without.
  const JsonTree* Find(std::string_view key) const;
};

// Nesting is at most kMaxJsonDepth. kInvalidInput says what is wrong, and at which line and column.
inline constexpr size_t kMaxJsonDepth = 32;
Result<JsonTree> ParseJson(std::string_view text);

}  // namespace relayvm::graph

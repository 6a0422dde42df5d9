// Sets of characters by Unicode's names, and the letters that differ in case alone (simple case
// folding), from a table made of the Unicode Character Database (unicode_table.inc). Tested by
// regex_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace relayvm::import {

inline constexpr int64_t kLastCharacter = 0x10FFFF;

// Both are in it.
struct CharacterRange {
  int64_t low, high;
  bool operator==(const CharacterRange&) const = default;
};
using Characters = std::vector<CharacterRange>;

// In order, joined where they touch.
Characters Joined(Characters ranges);
bool Contains(const Characters& joined, int64_t c);
// All that are not in `ranges`.
Characters Without(const Characters& ranges);
// With all that differ from one of them in case alone. Joined.
Characters AllCases(Characters ranges);

// Those of a general category ("Lu"), a group of them ("L") or a script ("Greek"); "Any" is all.
// Joined; nullopt where the name is none. Characters that Unicode has not assigned are in "Any"
// alone.
std::optional<Characters> CharactersOf(std::string_view name);

}  // namespace relayvm::import

#include "compiler/import/unicode.h"

#include <algorithm>
#include <utility>

namespace relayvm::import {
namespace {

// `count` characters, `step` apart from `first` on, each of which folds to the one that is `by`
// behind it.
struct Fold {
  int64_t first, by, step, count;
  int64_t last() const { return first + (count - 1) * step; }
};

#include "compiler/import/unicode_table.inc"

// The ranges of all names that `wanted` takes.
template <typename Wanted>
Characters CharactersWhere(std::string_view names, std::string_view runs, const Wanted& wanted) {
  std::vector<bool> takes;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(' '));
    takes.push_back(wanted(name));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
  Characters found;
  int64_t begin = 0;
  for (size_t i = 0; i < runs.size();) {
    size_t code = 0;
    if (runs[i] >= 'a') code = static_cast<size_t>(runs[i++] - 'a' + 1) * 26;
    code += static_cast<size_t>(runs[i++] - 'A');
    int64_t length = 0;
    for (; i < runs.size() && runs[i] <= '9'; ++i) length = length * 10 + (runs[i] - '0');
    length = std::max<int64_t>(length, 1);
    if (takes[code]) found.push_back({begin, begin + length - 1});
    begin += length;
  }
  return Joined(std::move(found));
}

}  // namespace

bool Contains(const Characters& joined, int64_t c) {
  const auto at =
      std::ranges::partition_point(joined, [&](const CharacterRange& r) { return r.high < c; });
  return at != joined.end() && c >= at->low;
}

Characters Joined(Characters ranges) {
  std::ranges::sort(ranges, {}, &CharacterRange::low);
  Characters joined;
  for (const CharacterRange& r : ranges) {
    if (!joined.empty() && r.low <= joined.back().high + 1) {
      joined.back().high = std::max(joined.back().high, r.high);
    } else {
      joined.push_back(r);
    }
  }
  return joined;
}

Characters Without(const Characters& ranges) {
  Characters rest;
  int64_t next = 0;
  for (const CharacterRange& r : Joined(ranges)) {
    if (r.low > next) rest.push_back({next, r.low - 1});
    next = r.high + 1;
  }
  if (next <= kLastCharacter) rest.push_back({next, kLastCharacter});
  return rest;
}

Characters AllCases(Characters ranges) {
  ranges = Joined(std::move(ranges));
  // The folded forms of what is there, then all that fold to one of these.
  for (const bool to_folded : {true, false}) {
    if (ranges.empty()) break;
    Characters more = ranges;
    for (const Fold& f : kFolds) {
      const int64_t from = to_folded ? 0 : f.by, to = f.by - from;
      if (f.last() + from < ranges.front().low || f.first + from > ranges.back().high) continue;
      for (int64_t c = f.first; c <= f.last(); c += f.step) {
        if (Contains(ranges, c + from)) more.push_back({c + to, c + to});
      }
    }
    ranges = Joined(std::move(more));
  }
  return ranges;
}

std::optional<Characters> CharactersOf(std::string_view name) {
  if (name == "Any") return Characters{{0, kLastCharacter}};
  Characters found = CharactersWhere(kCategoryNames, kCategoryRuns, [&](std::string_view category) {
    return category != "Cn" && (category == name || category.substr(0, 1) == name);
  });
  if (found.empty()) {
    found = CharactersWhere(kScriptNames, kScriptRuns, [&](std::string_view script) {
      return script == name && script != "Unknown";
    });
  }
  if (found.empty()) return std::nullopt;
  return found;
}

}  // namespace relayvm::import

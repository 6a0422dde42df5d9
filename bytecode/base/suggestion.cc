#include "bytecode/base/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace relayvm {
namespace {

constexpr int kMaxCandidates = 10000;
constexpr size_t kMaxLength = 64;

// Levenshtein's distance.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

void Suggestion::Consider(std::string_view candidate) {
  if (candidate.size() > kMaxLength || wanted_.size() > kMaxLength ||
      ++candidates_ > kMaxCandidates)
    return;
  size_t shorter = std::min(candidate.size(), wanted_.size());
  if (std::max(candidate.size(), wanted_.size()) - shorter >= best_distance_) return;
  size_t distance = Distance(wanted_, candidate);
  if (distance >= best_distance_ || distance >= wanted_.size()) return;
  best_distance_ = distance;
  best_ = candidate;
}

std::string Suggestion::Text(std::string_view prefix) const {
  return best_.empty() ? "" : fmt::format("; did you mean {}{}?", prefix, best_);
}

std::string DidYouMean(std::string_view wanted, std::span<const std::string_view> names,
                       std::string_view prefix) {
  Suggestion suggestion(wanted);
  for (const std::string_view name : names) suggestion.Consider(name);
  return suggestion.Text(prefix);
}

}  // namespace relayvm

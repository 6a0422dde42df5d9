// What somebody may have meant who wrote a name that there is not. Tested by suggestion_test.cc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace relayvm {

// Collects candidates and keeps the one closest to a misspelt name, if any is close enough.
class Suggestion {
 public:
  explicit Suggestion(std::string_view wanted)
      : wanted_(wanted), best_distance_(wanted.size() < 4 ? 2 : 3) {}
  void Consider(std::string_view candidate);
  // `; did you mean PREFIX...?`, or nothing.
  std::string Text(std::string_view prefix) const;

 private:
  std::string wanted_;
  size_t best_distance_;
  std::string best_;
  int candidates_ = 0;
};

// The text for the one of `names` that is closest.
std::string DidYouMean(std::string_view wanted, std::span<const std::string_view> names,
                       std::string_view prefix = "");

}  // namespace relayvm

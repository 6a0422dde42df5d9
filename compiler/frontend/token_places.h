// Where the tokens of a text stand as TVM's parser counts it, for nodes of a text as it was
// written: lines and columns from 1, and what its lexer adds. Numbers, strings and `-` stand behind
// their last character, a variable where its `%` is, and a line's columns go on where letters were
// tried in vain ("inff" at each `i`, "meta[" at each `m`). Tested by token_places_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace relayvm::frontend {

// A place from a line and column to others; line 0 is unknown.
struct WrittenPlace {
  uint32_t line = 0, end_line = 0, column = 0, end_column = 0;
};
// The smallest place that has both.
WrittenPlace Merge(const WrittenPlace& a, const WrittenPlace& b);

class TokenPlaces {
 public:
  // Of what stands in `text` behind its first `skipped` bytes; line 1 begins there.
  TokenPlaces(std::string_view text, size_t skipped);

  // From the first token that begins at `begin` or later to the last that begins before `end`.
  WrittenPlace Of(size_t begin, size_t end) const;

 private:
  struct Place {
    size_t begin;
    WrittenPlace place;
  };
  std::vector<Place> places_;
};

}  // namespace relayvm::frontend

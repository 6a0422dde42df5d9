// Damage to bytes and to text, at random: what the fuzzers feed to readers.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace relayvm::fuzz {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // One to eight changes: bits, bytes and numbers overwritten, ranges cut out, repeated or moved,
  // a part of `other`, the end cut off.
  std::string Bytes(std::string bytes, const std::string& other);
  // The same by tokens, so that much of the result still reads: tokens removed, repeated, swapped,
  // or replaced by one of `other`.
  std::string Tokens(const std::string& text, const std::string& other);

  uint64_t Below(uint64_t n) { return n == 0 ? 0 : random_() % n; }

 private:
  std::mt19937_64 random_;
};

}  // namespace relayvm::fuzz

// Where the generator's choices come from: a seed, or bytes that a fuzzer changes.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace relayvm::random_programs {

class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  // A byte a choice; then those of a seed.
  explicit Random(std::string_view choices) : choices_(choices), random_(choices.size()) {}

  uint64_t operator()() {
    if (next_ == choices_.size()) return random_();
    return static_cast<unsigned char>(choices_[next_++]);
  }

 private:
  std::string_view choices_;
  size_t next_ = 0;
  std::mt19937_64 random_;
};

}  // namespace relayvm::random_programs

// BLAKE2b with a result of 32 bytes (RFC 7693): no two contents that anybody can find have the
// same. What is kept for others to find by its content is named by it. For damage Checksum64 is
// enough.
//
//   Blake2b hash;
//   hash.Add(first);
//   hash.Add(second);
//   ContentHash of_both = hash.Finish();
//
// Tested by blake2b_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace relayvm {

using ContentHash = std::array<uint8_t, 32>;

class Blake2b {
 public:
  Blake2b();
  void Add(std::span<const std::byte> bytes);
  void Add(uint64_t number);  // its 8 bytes, the least first
  // REQUIRES: called once, last.
  ContentHash Finish();

 private:
  static constexpr size_t kBlock = 128;
  void Compress(const std::byte* block, bool is_last);

  uint64_t state_[8];
  uint64_t count_ = 0;  // of bytes in all blocks but the one at hand
  size_t filled_ = 0;   // of the block at hand
  std::byte block_[kBlock];
};

inline ContentHash HashOf(std::span<const std::byte> bytes) {
  Blake2b hash;
  hash.Add(bytes);
  return hash.Finish();
}

}  // namespace relayvm

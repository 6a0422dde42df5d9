#include "bytecode/blake2b.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace relayvm {
namespace {

constexpr uint64_t kStart[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr uint8_t kOrder[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

void Mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d, uint64_t x, uint64_t y) {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

}  // namespace

Blake2b::Blake2b() {
  std::copy_n(kStart, 8, state_);
  state_[0] ^= 0x01010000 ^ sizeof(ContentHash);  // no key, no tree
}

void Blake2b::Compress(const std::byte* block, bool is_last) {
  uint64_t m[16], v[16];
  std::memcpy(m, block, sizeof m);  // little endian
  std::copy_n(state_, 8, v);
  std::copy_n(kStart, 8, v + 8);
  v[12] ^= count_;
  if (is_last) v[14] = ~v[14];
  for (int round = 0; round < 12; ++round) {
    const uint8_t* s = kOrder[round % 10];
    for (int i = 0; i < 4; ++i)
      Mix(v[i], v[4 + i], v[8 + i], v[12 + i], m[s[2 * i]], m[s[2 * i + 1]]);
    for (int i = 0; i < 4; ++i) {
      Mix(v[i], v[4 + (i + 1) % 4], v[8 + (i + 2) % 4], v[12 + (i + 3) % 4], m[s[8 + 2 * i]],
          m[s[9 + 2 * i]]);
    }
  }
  for (int i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[8 + i];
}

// The last block is compressed by Finish alone, so that a full one waits for what comes.
void Blake2b::Add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (filled_ == kBlock) {
      count_ += kBlock;
      Compress(block_, false);
      filled_ = 0;
    }
    const size_t size = std::min(bytes.size(), kBlock - filled_);
    std::memcpy(block_ + filled_, bytes.data(), size);
    filled_ += size;
    bytes = bytes.subspan(size);
  }
}

void Blake2b::Add(uint64_t number) { Add(std::as_bytes(std::span(&number, 1))); }

ContentHash Blake2b::Finish() {
  count_ += filled_;
  std::memset(block_ + filled_, 0, kBlock - filled_);
  Compress(block_, true);
  ContentHash hash;
  std::memcpy(hash.data(), state_, hash.size());
  return hash;
}

}  // namespace relayvm

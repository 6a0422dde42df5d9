#include "bytecode/checksum.h"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace relayvm {
namespace {

uint64_t Of(std::string_view text, uint64_t seed = 0) {
  return Checksum64({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, seed);
}

// Values of the reference implementation (xxhsum).
TEST_CASE("checksum: XXH64") {
  CHECK(Of("") == 0xef46db3751d8e999u);
  CHECK(Of("a") == 0xd24ec4f1a98c6e5bu);
  CHECK(Of("abc") == 0x44bc2cf5ad770999u);
  CHECK(Of("Nobody inspects the spammish repetition") == 0xfbcea83c8a378bf1u);
}

TEST_CASE("checksum: every byte and the seed count, at every length") {
  for (size_t size = 0; size < 100; ++size) {
    std::vector<uint8_t> data(size, 7);
    uint64_t whole = Checksum64(data);
    CHECK(Checksum64(data, 1) != whole);
    for (size_t i = 0; i < size; ++i) {
      data[i] ^= 0x40;
      CHECK(Checksum64(data) != whole);
      data[i] ^= 0x40;
    }
  }
}

}  // namespace
}  // namespace relayvm

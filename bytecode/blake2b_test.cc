#include "bytecode/blake2b.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace relayvm {
namespace {

std::string Hex(const ContentHash& hash) {
  std::string text;
  for (uint8_t byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

// What Python's hashlib.blake2b(bytes, digest_size=32) gives.
TEST_CASE("BLAKE2b of contents around its blocks, whole and in pieces") {
  struct Row {
    size_t size;
    const char* hash;
  };
  const Row table[] = {
      {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
      {1, "ee155ace9c40292074cb6aff8c9ccdd273c81648ff1149ef36bcea6ebb8a3e25"},
      {3, "9facd640130c81e7f318a8d5c660bc1b0f5d03861ffbd4cc1358e0e904593c28"},
      {127, "f609ab2904b340cd075920018e0e3c6f6a90a3dae3edf03d3cccc0634a81ffe3"},
      {128, "0702c64922fb7635a1b799668a7e89ba9c5fe55ed7bd2fdecb001544073afad9"},
      {129, "490091b32bad7b3380c9e593d341bce9b73ff9d4ebcf0091ff932bdff7279897"},
      {255, "b579b3e762db9a4a9def50ea22419ca669a4875f015a167f52baa86547df7554"},
      {256, "3d0cb2693dfbac42af5a6cc960953fea8714aa39c4bcd054ef61d6b5e98ade4a"},
      {257, "080f7f2ee61cc8ffcf2ad907f7a9824a8445c5e4b194a0106c65f9b9c1ea6787"},
      {1000, "a2ae1ecc90361e0bb07dab9789a4b0a724ee3cf05623ac6cefa1e6af3da4aae8"},
  };
  for (const Row& row : table) {
    CAPTURE(row.size);
    std::vector<std::byte> bytes(row.size);
    for (size_t i = 0; i < row.size; ++i)
      bytes[i] = static_cast<std::byte>((i * 7 + row.size) % 256);
    CHECK(Hex(HashOf(bytes)) == row.hash);
    for (size_t piece : {size_t{1}, size_t{100}, size_t{128}}) {
      Blake2b hash;
      for (size_t at = 0; at < bytes.size(); at += piece)
        hash.Add(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
      CHECK(Hex(hash.Finish()) == row.hash);
    }
  }
  Blake2b number;
  number.Add(uint64_t{0x0807060504030201});
  const std::byte counted[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                               std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
  CHECK(number.Finish() == HashOf(counted));
}

}  // namespace
}  // namespace relayvm

// Checksum64: XXH64 (the xxHash specification, 64-bit variant), several bytes a cycle. It finds
// damage, not malice. Tested by checksum_test.cc.
#pragma once

#include <cstdint>
#include <span>

namespace relayvm {

uint64_t Checksum64(std::span<const uint8_t> data, uint64_t seed = 0);

}  // namespace relayvm

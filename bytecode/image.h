// Kernel images: shared ELF files of x86-64 code that need no relocation, so that loading one is
// mapping its segments. This parses and checks them; vm/ maps them. The code in an image is
// trusted, as a shared library's is. Tested by image_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm {

inline constexpr uint64_t kImagePageBytes = 4096;
// Most that an image may span in memory.
inline constexpr uint64_t kMaxImageMemory = uint64_t{1} << 32;

// A PT_LOAD: file bytes [file_offset, file_offset + file_bytes) go to `address`; the rest up to
// memory_bytes is zero.
struct ImageSegment {
  uint64_t address;
  uint64_t memory_bytes;
  uint64_t file_offset;  // congruent to address modulo the page
  uint64_t file_bytes;
  bool writable;
  bool executable;
};

struct ImageLayout {
  std::vector<ImageSegment> segments;  // by ascending address; no two share a page
  uint64_t memory_bytes = 0;           // from address 0 to the end of the last segment, whole pages
  // True when `address` is inside the file-backed part of an executable segment.
  bool IsCode(uint64_t address) const;
};

// What holds of a parsed image: 64-bit little-endian x86-64 ET_DYN; at least one segment; file
// ranges inside `elf`; no segment both writable and executable; no dynamic relocations, needed
// libraries, initialisers or thread-local storage.
Result<ImageLayout> ParseImage(std::span<const uint8_t> elf);

}  // namespace relayvm

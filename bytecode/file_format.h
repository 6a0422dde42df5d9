// The layout of a .vmx file: a fixed header, a flatbuffer (program.fbs), and segments of bulk data.
//
//   0       +--------------------------------------------------------------+
//           | FileHeader, 64 bytes                                         |
//   64      +--------------------------------------------------------------+
//           | program: flatbuffer, below 2 GiB                             |
//   64      +--------------------------------------------------------------+
//           | the program for another processor: flatbuffer ...            |
//   page    +--------------------------------------------------------------+
//           | kernel image 0: an ELF file, mapped read + execute           |
//   page    +--------------------------------------------------------------+
//           | kernel image 1 ...                                           |
//   page    +--------------------------------------------------------------+
//           | constants, and what recipes make constants of, each at a     |
//           | multiple of 64, mapped read-only                             |
//   file_size --------------------------------------------------------------
//
// A file may hold the program for several processors, and with and without regions of other
// engines (RegionInfo): the first is for the least of them, and names the others (program.fbs,
// Alternative). Each has its own code, kernels and image; constants of the same bytes stand once.
//
// Gaps hold zeros. All integers are little-endian. The program names its images and constants by
// 64-bit offsets from the start of the file. The header's checksum covers the header and the
// program; the program holds a checksum of each image, of each constant and of each program for
// another processor. A loader compares those of what it takes, but for the constants, so that its
// time does not depend on the weights: these are for those who ask (CheckSegments; vmrun --verify,
// vmdump --check).
//
// Versions: a reader takes files of its own major version with its own or an older minor version,
// from kOldestFormatMinor on, nothing else. Minor 1 says what kernels do with their buffers; minor
// 2 has recipes of constants; minor 3 devices; minor 4 regions; minor 5 rows of calls that run
// together. A file states the least that it needs.
// Tested by reader_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace relayvm {

inline constexpr uint8_t kFileMagic[4] = {'R', 'V', 'M', 'X'};
inline constexpr uint16_t kFormatMajor = 1;
inline constexpr uint16_t kFormatMinor = 5;
inline constexpr uint16_t kOldestFormatMinor = 1;
inline constexpr uint16_t kMinorOfRecipes = 2;
inline constexpr uint16_t kMinorOfDevices = 3;
inline constexpr uint16_t kMinorOfRegions = 4;
inline constexpr uint16_t kMinorOfRows = 5;

inline constexpr uint64_t kSegmentAlignment = 4096;
inline constexpr uint64_t kConstantAlignment = 64;
// Flatbuffers' own limit: offsets are signed 32-bit.
inline constexpr uint64_t kMaxProgramBytes = (uint64_t{1} << 31) - 1;

struct FileHeader {
  uint8_t magic[4];
  uint16_t major;
  uint16_t minor;
  uint32_t flags;  // none is defined; a reader refuses what it does not know
  uint32_t reserved0;
  uint64_t program_offset;
  uint64_t program_size;
  uint64_t file_size;
  uint64_t checksum;  // Checksum64(program, seed: Checksum64(this header with checksum = 0))
  uint64_t reserved1[2];
};
static_assert(sizeof(FileHeader) == 64);
static_assert(offsetof(FileHeader, flags) == 8);
static_assert(offsetof(FileHeader, program_offset) == 16);
static_assert(offsetof(FileHeader, checksum) == 40);
static_assert(std::is_trivially_copyable_v<FileHeader>);

}  // namespace relayvm

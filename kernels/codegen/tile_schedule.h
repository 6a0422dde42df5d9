// The register tile of products and convolutions, where somebody chooses it instead of the
// compiler:
//
//   relayc --kernel 'nn.dense[(n, 768), (3072, 768)]' --schedule tile=8x32 --emit time --dim n=128
//
// Tested by tile_schedule_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bytecode/base/status.h"

namespace relayvm {

// The greatest number in a schedule.
inline constexpr int64_t kMostOfSchedule = 4096;

// 0: as the compiler chooses.
struct TileSchedule {
  int64_t rows = 0, columns = 0;  // of results that are summed in registers at a time
  int64_t block = 0;              // rows that are packed at a time; a multiple of `rows`
  friend bool operator==(const TileSchedule&, const TileSchedule&) = default;
};

// "tile=8x32", "tile=8x32,block=96", "block=96".
Result<TileSchedule> ParseTileSchedule(const std::string& text);
std::string ToString(const TileSchedule& schedule);

// By a kernel's name as vmdump and profiles show it, without its number (KernelSpec::name); "": all
// that have no own one.
using TileSchedules = std::map<std::string, TileSchedule>;

}  // namespace relayvm

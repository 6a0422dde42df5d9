// Parts of Winograd's convolutions (winograd.h) that know sizes when they run: helper functions of
// the module, which its kernels share. All are of float32. Stateless. Tested through
// winograd_test.cc.
#pragma once

#include <cstdint>

#include "kernels/codegen/contraction/winograd_lines.h"

namespace relayvm::codegen {

// What parts have in common.
struct WinogradVectors {
  int64_t tile;
  unsigned lanes;
  bool has_masks;  // masked stores cost what others do
  int64_t window() const { return tile + 2; }
};

// A line, or a plane of lines, of the data: pointers to float32, sizes i64.
struct WinogradData {
  llvm::Value* image;  // its first element
  llvm::Value* zeros;  // tile + 1 vectors, read in place of lines outside
  llvm::Value *channels, *height, *width;
};

// Sets the word `limit` (i32) to the bits of the largest number that is not far in the image of so
// many elements (i64) at `data`.
void EmitFarLimit(Builder& b, llvm::Value* limit, llvm::Value* data, llvm::Value* elements);

// The windows of a run of tiles, of all channels. `row`, `column`: of the first window, in the
// data. `count`: of tiles, lanes at most. `to`: of the first channel and product; `panel` elements
// from channel to channel, `stride` from product to product. `far`: where each tile's word goes.
struct WinogradWindows {
  llvm::Value *row, *column, *count, *to, *far, *limit;
  int64_t panel, stride;
};
void EmitWindows(Builder& b, const WinogradVectors& form, const WinogradData& data,
                 const WinogradWindows& windows);

// A kernel's taps, [channel][9] at `to`, from what is multiplied by: channels are `rows` apart,
// products `stride` (i64).
void EmitRestoredWeights(Builder& b, const WinogradVectors& form, llvm::Value* to,
                         llvm::Value* from, llvm::Value* channels, int64_t rows,
                         llvm::Value* stride);

// A line of a run's results, tile vectors at `to`, as sums over the taps at `weights`. `row`: of
// the data, that the first tap reads; `column`: as of WinogradWindows.
void EmitFarLine(Builder& b, const WinogradVectors& form, const WinogradData& data, llvm::Value* to,
                 llvm::Value* weights, llvm::Value* row, llvm::Value* column);

// Stores the lanes that the mask turns on.
void StoreTiles(Builder& b, const WinogradVectors& form, llvm::Value* value, llvm::Value* pointer,
                llvm::Value* mask);

}  // namespace relayvm::codegen

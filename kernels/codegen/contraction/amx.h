// Products by AMX's tile registers, of 16 rows of 16 words: of pairs of bfloat16
// (PanelForm::kPairs) and of four bytes (kQuads), where the target has AMX and the product more
// than a few rows.
//
//                       B: 16 words of k, 32 columns of a panel
//                         tmm6     tmm7
//   A: 32 rows,   tmm4    tmm0     tmm1        C += A * B, 16 words of k at a time: 4 loads, 4 products.
//   16 words      tmm5    tmm2     tmm3        With at most 16 rows or columns, half or a quarter of it.
//
// Panels of B are read where VPDPBF16PS and VPDPBUSD would read them: 16 rows of a panel are a
// tile. Rows of A are packed with their words along k. Words of k that fill no tile come from a
// copy with zeros below (EmitAmxTail). Rows of C that A does not have are computed from whatever is
// there, and not stored.
//
// A kernel configures the tiles of its thread when it begins, and releases them when it ends or
// asks whether to go on: what is then done on the thread may be something else's. It keeps nothing
// in them meanwhile. Tested by amx_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"
#include "kernels/codegen/contraction/plan.h"

namespace relayvm::codegen {

// Of a tile register: its rows, and the words of a row.
inline constexpr int64_t kAmxTile = 16;
// What is computed at once.
inline constexpr int64_t kAmxRows = 2 * kAmxTile;
// Products of at most so many rows leave most of a tile empty: vectors serve them.
inline constexpr int64_t kMostRowsWithoutAmx = 8;

// Those of the machine for the product; null: vectors do it.
const DotProduct* TilesOf(const ContractionDetail& d);
// Whether such tiles can compute the product, where it has more rows than that.
bool TakesAmx(const ContractionDetail& d);

void EmitAmxConfigure(Builder& b);
void EmitAmxRelease(Builder& b);

// The last rows of a panel of `words` of k: those that are no whole tile, and zeros up to one, at
// `destination`, d.panel words a row. `stride`: words of a row of the panel.
void EmitAmxTail(ContractionContext& c, llvm::Value* panel, llvm::Value* words, int64_t stride,
                 llvm::Value* destination);

// Distances of rows in words.
struct AmxConfig {
  PanelForm form;      // kPairs, kQuads
  bool a_is_unsigned;  // kQuads: the other side is signed
  unsigned row_tiles, column_tiles;
  int64_t a_row_stride, b_row_stride, tail_row_stride, c_row_stride;
};
// As EmitTileCall, call.k in words; call.tail is what EmitAmxTail made. REQUIRES: the tiles are
// configured; what follows A's words up to a whole tile is 0, or any integers.
void EmitAmxCall(Builder& builder, const AmxConfig& config, const TileCall& call);

}  // namespace relayvm::codegen

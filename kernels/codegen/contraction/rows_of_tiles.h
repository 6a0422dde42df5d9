// Where the rows are that a tile multiplies: plain memory, packed, or what is made of them in
// scratch; and where their sums go. Tested through contraction_test.cc and conv_test.cc.
#pragma once

#include "kernels/codegen/contraction/few_rows.h"
#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/pack.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/taps.h"

namespace relayvm::codegen {

class RowsOfTiles : protected FewRows {
 protected:
  explicit RowsOfTiles(ContractionContext& c) : FewRows(c), a_scratch_(c.Scratch(d_.a_offset)) {}

  // Of element k in the first tile of packed rows.
  Value* AOffset(Value* k) {
    if (d_.k_block == 0 || !d_.a.k_contiguous) return Mul(b_, k, d_.step_words * d_.a_k_stride);
    Value* block = Div(b_, k, I64(b_, d_.k_block));
    return Add(b_, Mul(b_, block, int64_t{d_.tile_rows} * d_.a_row_stride),
               Mul(b_, Rem(b_, k, I64(b_, d_.k_block)), d_.step_words));
  }

  // Of a block of k, in packed a.
  Value* RowsOfBlock(Value* a, Value* tile, Value* block) {
    Value* index = Div(b_, tile, I64(b_, d_.tile_rows));
    if (!d_.a.k_contiguous) {
      Value* k = Mul(b_, block, d_.k_block * d_.a_k_stride);
      Value* of_tile = Mul(b_, index, c_.emitter.EmitDim(TilePitch(d_)));
      return At(b_, c_.element, a, Add(b_, of_tile, k));
    }
    Value* of_block = Add(b_, Mul(b_, index, c_.emitter.EmitDim(d_.k_blocks)), block);
    return At(b_, c_.element, a, Mul(b_, of_block, int64_t{d_.tile_rows} * ARowStride()));
  }

  // `count` rows of a, without the taps that are left out.
  Value* CutRows(const TapBounds& bounds, Value* rows, Value* count, Value* channels) {
    if (!d_.cuts_taps) return rows;
    If(b_, bounds.is_cut, [&] { EmitCutRows(c_, bounds, rows, count, channels, a_scratch_); });
    return b_.CreateSelect(bounds.is_cut, a_scratch_, rows);
  }

  // What plain memory of a is of.
  llvm::Type* AElement() const { return c_.ElementOf(d_.a); }
  // `count` rows of a from `row` on, whose float16 becomes float32, or whose quads are split, in
  // scratch. Rows that are packed as tiles read them are one run.
  Value* WidenedRows(Value* a, Value* row, Value* count, Value* extent) {
    Value* stride = c_.emitter.EmitDim(d_.a.stride);
    Value* from = At(b_, AElement(), a, Mul(b_, row, stride));
    if (d_.step_words > 1) {
      EmitSplitRows(c_, from, stride, count, extent, a_scratch_);
      return a_scratch_;
    }
    Value* next_tile = Mul(b_, stride, int64_t{d_.tile_rows});
    if (d_.a.k_contiguous) {
      EmitWidenRows(c_, from, stride, count, extent, a_scratch_, next_tile);
    } else {
      EmitWidenRows(c_, from, stride, I64(b_, 1), Mul(b_, count, extent), a_scratch_, next_tile);
    }
    return a_scratch_;
  }
  // Where the tile that begins with row `tile` of a block is, without blocks of k.
  Value* RowsOfA(Value* a, Value* tile) {
    if (d_.a.k_contiguous) return At(b_, c_.element, a, Mul(b_, tile, ARowStride()));
    Value* index = Div(b_, tile, I64(b_, d_.tile_rows));
    Value* pitch = d_.form == ContractionForm::kMatrix ? c_.emitter.EmitDim(TilePitch(d_))
                                                       : Mul(b_, c_.depth, d_.a_k_stride);
    return At(b_, c_.element, a, Mul(b_, index, pitch));
  }

  // Whether a tile's products, or what is computed of their sums, take so long that storing the
  // sums and loading them once more is nothing beside them: the latter is then written once, in a
  // loop, and not for each register. A store of 64 bytes takes as long as two of half.
  bool IsDeep() const {
    const int64_t steps_per_byte = d_.has_long_epilogue ? 1 : 4;
    return d_.depth.is_const() && d_.depth.value() >= steps_per_byte * d_.target.vector_bytes;
  }

  // Whether the sums of a tile stay in registers until they are stored: whole ones do, with what is
  // computed of them written once for each register.
  Value* TakesRegisters(Value* rows, Value* column) {
    const int64_t all_rows = d_.rows.is_const() ? d_.rows.value() : d_.tile_rows;
    const bool has_elements =
        Form() == PanelForm::kElements ||
        (d_.panel_form == PanelForm::kWidened && d_.weight_block == 0 && !Widened()->in_words());
    if (!d_.epilogue_in_registers || !has_elements || all_rows < d_.tile_rows ||
        TileSets(ConfigOf(false), all_rows) != 1) {
      return nullptr;
    }
    Value* fits = epilogue_.TakesRegisters(column);
    if (!fits || HasWholeTiles()) return fits;
    return b_.CreateAnd(fits, b_.CreateICmpEQ(rows, I64(b_, d_.tile_rows)));
  }

  // Whether no tile has fewer rows than others.
  bool HasWholeTiles() const {
    return d_.rows.is_const() && d_.rows.value() % int64_t{d_.tile_rows} == 0;
  }

  Value* a_scratch_;
};

}  // namespace relayvm::codegen

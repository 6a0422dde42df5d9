// Products of integers of 8 bits with sums of 32 (PanelForm::kQuads): four neighbours along K are a
// word, unsigned on the side of the data, signed on that of the weights, so that one instruction
// multiplies and adds four of each where the machine has one (Machine::dots; elsewhere two that
// multiply pairs of 16 bits). Sums wrap as int32 does and are exact whatever the numbers are.
//
// A machine without that instruction splits quads when it packs: into a word of the bytes at even
// places and one of those at odd ones, each a pair of int16 (ContractionDetail::step_words), so
// that nothing but products and sums is left to tiles. Weights in memory stay bytes. With AVX2,
// words of constant weights on the side of b are multiplied as they are (sorted_quads.h).
//
// Everything but packing counts K in words. Other pairs of signs are brought to this one by whoever
// writes the product (compiler/transforms/products/integer_products.h). Tested by integer_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"
#include "kernels/op/qnn.h"

namespace relayvm::codegen {

using qnn::kQuad;

// sum + the products of the four bytes of each lane. REQUIRES: Machine::dots.quads.
llvm::Value* AddQuadProducts(Builder& b, llvm::Value* unsigned_words, llvm::Value* signed_words,
                             llvm::Value* sum);
// sum + the products of the two int16 of each lane.
llvm::Value* AddPairProducts(Builder& b, llvm::Value* x, llvm::Value* y, llvm::Value* sum);

// Quads as two words of pairs each.
struct QuadHalves {
  llvm::Value *even, *odd;
};
QuadHalves SplitQuads(Builder& b, llvm::Value* words, bool is_signed);

// Stores a vector of quads at column `column` of row `row` of a panel, split where the panel is.
// Lanes that the mask turns off keep what they hold; null: all are on.
void StoreQuads(ContractionContext& c, llvm::Value* words, llvm::Value* panel, llvm::Value* row,
                llvm::Value* column, llvm::Value* mask);
// `count` rows of weights of bytes, `extent` quads of each and `stride` quads from one to the next,
// split at `destination`, d.a_row_stride from one to the next. Rows that are packed as tiles read
// them (k not contiguous) are those of one tile.
void EmitSplitRows(ContractionContext& c, llvm::Value* from, llvm::Value* stride,
                   llvm::Value* count, llvm::Value* extent, llvm::Value* destination);
// `extent` rows of a panel that is packed as quads, split at `destination`.
void EmitSplitPanel(ContractionContext& c, llvm::Value* panel, llvm::Value* extent,
                    llvm::Value* destination);

// As the functions of pack.h, for operands that are bytes and become words.
void EmitPackByteRows(ContractionContext& c, llvm::Value* batch, llvm::Value* row,
                      llvm::Value* count, llvm::Value* destination);
void EmitPackBytePanel(ContractionContext& c, llvm::Value* batch, llvm::Value* column,
                       llvm::Value* destination);
void EmitPackBytePixelRows(ContractionContext& c, llvm::Value* batch, llvm::Value* row,
                           llvm::Value* count, llvm::Value* destination);
// Words of four channels of pixels `stride` apart, channels first: the first channel of lane 0 is
// at `pointer`, channels are `plane` bytes apart.
llvm::Value* LoadPixelWords(ContractionContext& c, llvm::Value* pointer, llvm::Value* plane,
                            int64_t stride, llvm::Value* mask);

}  // namespace relayvm::codegen

// Products of integers of 8 bits with sums of 32 (PanelForm::kQuads): four neighbours along K are a
// word, unsigned on the side of the data, signed on that of the weights, so that one instruction
// multiplies and adds four of each where the machine has one (Machine::dots; elsewhere two that
// multiply pairs of 16 bits). Sums wrap as int32 does and are exact whatever the numbers are.
//
// Everything but packing counts K in words. Other pairs of signs are brought to this one by whoever
// writes the product (compiler/transforms/products/integer_products.h). Tested by integer_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"
#include "kernels/op/qnn.h"

namespace relayvm::codegen {

using qnn::kQuad;

// sum + the products of the four bytes of each lane.
llvm::Value* AddQuadProducts(Builder& b, llvm::Value* unsigned_words, llvm::Value* signed_words,
                             llvm::Value* sum);

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

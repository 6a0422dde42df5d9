#include "kernels/codegen/instructions.h"

#include <llvm/Analysis/VectorUtils.h>

#include <vector>

#include "kernels/codegen/contraction/ir.h"

namespace relayvm::codegen {

using llvm::Value;

Value* InUnits(Builder& b, Value* x, unsigned unit, llvm::function_ref<Value*(Value*)> emit) {
  const unsigned lanes = LanesOf(x);
  std::vector<Value*> parts;
  for (unsigned first = 0; first < lanes; first += unit) {
    std::vector<int> pick;
    for (unsigned i = 0; i < unit; ++i) {
      pick.push_back(first + i < lanes ? static_cast<int>(first + i) : -1);
    }
    parts.push_back(emit(lanes == unit ? x : b.CreateShuffleVector(x, pick)));
  }
  Value* joined = parts.size() == 1 ? parts[0] : llvm::concatenateVectors(b, parts);
  if (LanesOf(joined) == lanes) return joined;
  std::vector<int> all;
  for (unsigned i = 0; i < lanes; ++i) all.push_back(static_cast<int>(i));
  return b.CreateShuffleVector(joined, all);
}

Value* Instructions::FloatToHalf(Builder& b, Value* x) const {
  const auto with = [&](llvm::Type* element) -> llvm::Type* {
    return x->getType()->isVectorTy() ? VectorOf(element, LanesOf(x)) : element;
  };
  return b.CreateBitCast(b.CreateFPTrunc(x, with(b.getHalfTy())), with(b.getInt16Ty()));
}

Value* Instructions::Pick(Builder& b, Value* from, Value* picks) const {
  const unsigned lanes = LanesOf(from);
  const bool of_16 = from->getType()->getScalarSizeInBits() == 8;
  Value* picked = llvm::PoisonValue::get(from->getType());
  for (unsigned i = 0; i < lanes; ++i) {
    Value* at = b.CreateZExt(b.CreateExtractElement(picks, i), b.getInt64Ty());
    if (of_16) at = Add(b, at, int64_t{i / 16 * 16});
    picked = b.CreateInsertElement(picked, b.CreateExtractElement(from, at), i);
  }
  return picked;
}

Value* Instructions::MultiplyPairs(Builder& b, Value* x, Value* y) const {
  const unsigned lanes = LanesOf(x) / 2;
  llvm::Type* wide = VectorOf(b.getInt32Ty(), 2 * lanes);
  Value* products = b.CreateMul(b.CreateSExt(x, wide), b.CreateSExt(y, wide));
  std::vector<int> even, odd;
  for (unsigned i = 0; i < lanes; ++i) {
    even.push_back(static_cast<int>(2 * i));
    odd.push_back(static_cast<int>(2 * i + 1));
  }
  return b.CreateAdd(b.CreateShuffleVector(products, even), b.CreateShuffleVector(products, odd));
}

Value* Instructions::MultiplyBytePairs(Builder& b, Value* unsigned_bytes,
                                       Value* signed_bytes) const {
  const unsigned lanes = LanesOf(unsigned_bytes) / 2;
  llvm::Type* wide = VectorOf(b.getInt16Ty(), 2 * lanes);
  // A product fits, a sum may not.
  Value* products =
      b.CreateMul(b.CreateZExt(unsigned_bytes, wide), b.CreateSExt(signed_bytes, wide));
  std::vector<int> even, odd;
  for (unsigned i = 0; i < lanes; ++i) {
    even.push_back(static_cast<int>(2 * i));
    odd.push_back(static_cast<int>(2 * i + 1));
  }
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, b.CreateShuffleVector(products, even),
                                 b.CreateShuffleVector(products, odd));
}

}  // namespace relayvm::codegen

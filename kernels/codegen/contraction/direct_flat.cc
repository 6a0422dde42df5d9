// With lines of W elements, the input of pixel f = y * W + x at a tap is pixel
//
//   f + (ky * dilation - padding) * W + kx * dilation - padding
//
// where line and column are inside. Which lanes are that depends on the vector and the tap alone:
// a table of masks is made once for all channels.
#include "kernels/codegen/contraction/direct_flat.h"

#include <utility>
#include <vector>

#include "kernels/codegen/contraction/direct_weights.h"
#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

class FlatEmitter {
 public:
  explicit FlatEmitter(ContractionContext& c)
      : c_(c),
        b_(c.b),
        d_(c.d),
        p_(c.d.pixels),
        epilogue_(c),
        weights_(c),
        loader_(c, 1),
        lines_in_(c.emitter.EmitDim(p_.input[0])),
        lines_(c.emitter.EmitDim(p_.output[0])),
        width_(c.emitter.EmitDim(p_.output[1])),
        pixels_(Mul(b_, lines_, width_)),
        mask_(b_.getIntNTy(d_.lanes)) {}

  void Emit(Value* begin, Value* end) {
    MakeMasks();
    for (int64_t ky = 0; ky < p_.kernel[0]; ++ky) {
      for (int64_t kx = 0; kx < p_.kernel[1]; ++kx) {
        const auto [y, x] = Distance(ky, kx);
        offsets_.push_back(Add(b_, Mul(b_, width_, y), x));
      }
    }
    Value* work = WorkOf(b_, WorkOf(b_, I64(b_, kDirectLines), width_), c_.depth);
    ForPolled(b_, begin, end, 1, work, "unit", [&](Value* unit) {
      std::vector<Value*> at =
          EmitUnflatten(c_, unit, {1, p_.groups, Dim::CeilDiv(p_.output[0], kDirectLines)});
      // The vectors that begin in the unit's lines.
      Value* first = Mul(b_, at[2], kDirectLines);
      Value* last = Min(b_, Add(b_, first, kDirectLines), lines_);
      auto vector_at = [&](Value* line) { return CeilDiv(b_, Mul(b_, line, width_), d_.lanes); };
      weights_.Bind(at[1]);
      for (int64_t m = 0; m < d_.rows.value(); ++m) {
        EmitVectors(at[0], at[1], m, vector_at(first), vector_at(last));
      }
    });
  }

 private:
  // From a pixel to its input at a tap.
  std::pair<int64_t, int64_t> Distance(int64_t ky, int64_t kx) const {
    return {ky * p_.dilation[0] - p_.padding[0], kx * p_.dilation[1] - p_.padding[1]};
  }

  // masks_[vector * taps + tap]: the lanes whose pixel exists and whose input is inside.
  void MakeMasks() {
    const int64_t most = (kFlatPixels + d_.lanes - 1) / d_.lanes;
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    masks_ =
        llvm::IRBuilder<>(&entry, entry.begin())
            .CreateAlloca(llvm::ArrayType::get(mask_, static_cast<uint64_t>(most * p_.taps())));
    llvm::Type* floats = VectorOf(b_.getFloatTy(), d_.lanes);
    llvm::Type* integers = VectorOf(b_.getInt32Ty(), d_.lanes);
    auto splat = [&](Value* value) {
      return b_.CreateVectorSplat(d_.lanes, b_.CreateTrunc(value, b_.getInt32Ty()));
    };
    Value* width = splat(width_);
    For(b_, I64(b_, 0), CeilDiv(b_, pixels_, d_.lanes), 1, "mask", [&](Value* vector) {
      Value* first = Mul(b_, vector, d_.lanes);
      Value* pixel =
          b_.CreateAdd(splat(first), b_.CreateTrunc(LaneIndices(b_, d_.lanes), integers));
      // The quotient of such small numbers is exact when it is cut, half a pixel further on.
      Value* middle =
          b_.CreateFAdd(b_.CreateSIToFP(pixel, floats), llvm::ConstantFP::get(floats, 0.5));
      Value* y = b_.CreateFPToSI(b_.CreateFDiv(middle, b_.CreateSIToFP(width, floats)), integers);
      Value* x = b_.CreateSub(pixel, b_.CreateMul(y, width));
      Value* exists = MaskBelow(b_, Sub(b_, pixels_, first), d_.lanes);
      auto inside = [&](Value* position, int64_t distance, Value* extent) {
        Value* moved = b_.CreateAdd(position, llvm::ConstantInt::getSigned(integers, distance));
        return b_.CreateICmpULT(moved, splat(extent));
      };
      for (int64_t ky = 0; ky < p_.kernel[0]; ++ky) {
        Value* in_lines = b_.CreateAnd(exists, inside(y, Distance(ky, 0).first, lines_in_));
        for (int64_t kx = 0; kx < p_.kernel[1]; ++kx) {
          Value* mask = b_.CreateAnd(in_lines, inside(x, Distance(ky, kx).second, width_));
          Value* index = Add(b_, Mul(b_, vector, p_.taps()), ky * p_.kernel[1] + kx);
          b_.CreateStore(b_.CreateBitCast(mask, mask_), At(b_, mask_, masks_, index));
        }
      }
    });
  }

  // Vectors from..to-1 of output channel m of the group.
  void EmitVectors(Value* image, Value* group, int64_t m, Value* from, Value* to) {
    const int64_t taps = p_.taps();
    const llvm::Align align(c_.element_bytes);
    std::vector<Value*> splats;
    for (int64_t k = 0; k < taps; ++k) {
      splats.push_back(b_.CreateVectorSplat(d_.lanes, weights_.Load(m, I64(b_, k))));
    }
    Value* zero = llvm::Constant::getNullValue(c_.vector);
    Value* data = loader_.Line({image, group, I64(b_, 0)});
    Value* channel = Add(b_, Mul(b_, group, d_.rows.value()), m);
    For(b_, from, to, 1, "vector", [&](Value* vector) {
      Value* pixel = Mul(b_, vector, d_.lanes);
      Value* masks = At(b_, mask_, masks_, Mul(b_, vector, taps));
      Value* sum = zero;
      for (int64_t k = 0; k < taps; ++k) {
        Value* mask = b_.CreateBitCast(b_.CreateLoad(mask_, At(b_, mask_, masks, k)),
                                       VectorOf(b_.getInt1Ty(), d_.lanes));
        Value* pointer = At(b_, c_.element, data, Add(b_, pixel, offsets_[static_cast<size_t>(k)]));
        Value* values = b_.CreateMaskedLoad(c_.vector, pointer, align, mask, zero);
        sum = MultiplyAdd(b_, splats[static_cast<size_t>(k)], values, sum, d_.rounds);
      }
      epilogue_.EmitVector({image, channel}, pixel, sum,
                           MaskBelow(b_, Sub(b_, pixels_, pixel), d_.lanes));
    });
  }

  ContractionContext& c_;
  Builder& b_;
  const ContractionDetail& d_;
  const PixelOperand& p_;
  EpilogueEmitter epilogue_;
  DirectWeights weights_;
  PixelLoader loader_;
  Value *lines_in_, *lines_, *width_, *pixels_;
  llvm::Type* mask_;  // an integer, a bit for each lane
  Value* masks_ = nullptr;
  std::vector<Value*> offsets_;  // of taps
};

}  // namespace

Value* TakesFlat(ContractionContext& c) {
  Builder& b = c.b;
  Value* width = c.emitter.EmitDim(c.d.pixels.output[1]);
  Value* pixels = c.emitter.EmitDim(c.d.image_pixels);
  return b.CreateAnd(b.CreateICmpSLE(width, I64(b, kFlatWidth)),
                     b.CreateICmpSLE(pixels, I64(b, kFlatPixels)));
}

void EmitFlat(ContractionContext& c, Value* begin, Value* end) { FlatEmitter(c).Emit(begin, end); }

}  // namespace relayvm::codegen

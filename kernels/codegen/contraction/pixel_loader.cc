// Vectors of a convolution's data: contiguous, strided or computed.
#include <utility>
#include <vector>

#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

// Lanes first, first + 2 ... of two vectors.
std::vector<int> EveryOther(unsigned lanes, unsigned first) {
  std::vector<int> result;
  for (unsigned i = 0; i < lanes; ++i) result.push_back(static_cast<int>(2 * i + first));
  return result;
}

// The lanes of two vectors whose even ones are those of the mask; the odd ones are off.
std::pair<Value*, Value*> SpreadMask(Builder& b, Value* mask) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  Value* off = llvm::Constant::getNullValue(mask->getType());
  std::vector<int> halves[2];
  for (unsigned i = 0; i < 2 * lanes; ++i)
    halves[i / lanes].push_back(static_cast<int>(i % 2 == 0 ? i / 2 : lanes));
  return {b.CreateShuffleVector(mask, off, halves[0]), b.CreateShuffleVector(mask, off, halves[1])};
}

// The elements at pointer + lane * stride, zero where mask is off.
Value* LoadStrided(ContractionContext& c, Value* pointer, int64_t stride, Value* mask) {
  Builder& b = c.b;
  const llvm::Align align(c.element_bytes);
  Value* zero = llvm::Constant::getNullValue(c.vector);
  if (stride == 1 && !mask) return b.CreateAlignedLoad(c.vector, pointer, align);
  if (stride == 1) return b.CreateMaskedLoad(c.vector, pointer, align, mask, zero);
  const unsigned lanes = c.d.lanes;
  if (stride == 2 && !mask) {
    // The second load ends with the last even element, which is the last that may exist.
    std::vector<int> even;
    for (unsigned i = 0; i < lanes; ++i) {
      even.push_back(static_cast<int>(2 * i < lanes ? 2 * i : 2 * i + 1));
    }
    Value* first = b.CreateAlignedLoad(c.vector, pointer, align);
    Value* second =
        b.CreateAlignedLoad(c.vector, b.CreateGEP(c.element, pointer, I64(b, lanes - 1)), align);
    return b.CreateShuffleVector(first, second, even);
  }
  if (stride == 2) {
    // Two contiguous loads of the even elements, then both halves together.
    const auto [low, high] = SpreadMask(b, mask);
    Value* first = b.CreateMaskedLoad(c.vector, pointer, align, low, zero);
    Value* second = b.CreateMaskedLoad(c.vector, b.CreateGEP(c.element, pointer, I64(b, lanes)),
                                       align, high, zero);
    return b.CreateShuffleVector(first, second, EveryOther(lanes, 0));
  }
  Value* offsets = b.CreateMul(LaneIndices(b, lanes), b.CreateVectorSplat(lanes, I64(b, stride)));
  Value* pointers = b.CreateGEP(c.element, pointer, offsets);
  if (!mask) mask = llvm::ConstantInt::getTrue(VectorOf(b.getInt1Ty(), lanes));
  return b.CreateMaskedGather(c.vector, pointers, align, mask, zero);
}

}  // namespace

PixelLoader::PixelLoader(ContractionContext& c, int64_t lane_stride) : c_(c), stride_(lane_stride) {
  const PixelOperand& p = c.d.pixels;
  if (p.plain) {
    base_ = c.emitter.ElementAddress(p.data.get(),
                                     std::vector<Value*>(p.data->shape.size(), I64(c.b, 0)));
    std::vector<Dim> extents = {1};
    extents.insert(extents.end(), p.input.begin(), p.input.end());
    extents.insert(p.channels_last ? extents.end() : extents.begin() + 1, p.channels);
    for (const Dim& extent : extents) extents_.push_back(c.emitter.EmitDim(extent));
    return;
  }
  std::vector<te::Expr> at;
  for (const Dim& extent : p.data->shape) {
    axes_.push_back(te::MakeAxis("i", extent));
    at.push_back(te::AxisValue(axes_.back()));
  }
  if (stride_ != 1) {
    first_ = te::MakeAxis("first", p.data->shape.back());
    at.back() = at.back() * te::IntImm(stride_) + te::AxisValue(first_);
  }
  te::Expr element = te::Load(p.data, std::move(at));
  for (DType dtype : p.casts) element = te::Cast(element, dtype);
  element_ = c.Keep(te::Cast(element, c.d.dtype));
}

Value* PixelLoader::Load(const std::vector<Value*>& indices, Value* mask) {
  Builder& b = c_.b;
  if (c_.d.pixels.plain) {
    Value* offset = indices[0];
    Value* plane = I64(b, 1);
    for (size_t i = 1; i < indices.size(); ++i) {
      const bool is_word = c_.d.pixels.bytes && i == 1;  // channels first
      offset =
          Add(b, Mul(b, offset, extents_[i]), is_word ? Mul(b, indices[i], kQuad) : indices[i]);
      if (i > 1) plane = Mul(b, plane, extents_[i]);
    }
    if (c_.d.pixels.bytes) {
      return LoadPixelWords(c_, At(b, b.getInt8Ty(), base_, offset), plane, stride_, mask);
    }
    return LoadStrided(c_, b.CreateGEP(c_.element, base_, offset), stride_, mask);
  }
  if (!mask) return Compute(indices, nullptr);
  // The emitter may load what is the same in all lanes: only where some lane is in range.
  Value* zero = llvm::Constant::getNullValue(c_.vector);
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* computed = nullptr;
  Value* values = nullptr;
  If(b, b.CreateOrReduce(mask), [&] {
    values = b.CreateSelect(mask, Compute(indices, mask), zero);
    computed = b.GetInsertBlock();
  });
  llvm::PHINode* phi = b.CreatePHI(c_.vector, 2);
  phi->addIncoming(zero, before);
  phi->addIncoming(values, computed);
  return phi;
}

void PixelLoader::Turn(Value* is_turned) {
  Value *&y = extents_[extents_.size() - 2], *&x = extents_.back();
  Value* height = y;
  y = c_.b.CreateSelect(is_turned, x, y);
  x = c_.b.CreateSelect(is_turned, height, x);
}

Value* PixelLoader::Line(const std::vector<Value*>& indices) {
  Value* offset = indices[0];
  for (size_t i = 1; i < indices.size(); ++i) {
    offset = Add(c_.b, Mul(c_.b, offset, extents_[i]), indices[i]);
  }
  return At(c_.b, c_.element, base_, Mul(c_.b, offset, extents_.back()));
}

std::pair<Value*, Value*> PixelLoader::LoadNeighbours(const std::vector<Value*>& indices) {
  Builder& b = c_.b;
  Value* pointer = At(b, c_.element, Line({indices.begin(), indices.end() - 1}), indices.back());
  const llvm::Align align(c_.element_bytes);
  Value* first = b.CreateAlignedLoad(c_.vector, pointer, align);
  Value* second = b.CreateAlignedLoad(c_.vector, At(b, c_.vector, pointer, 1), align);
  return {b.CreateShuffleVector(first, second, EveryOther(c_.d.lanes, 0)),
          b.CreateShuffleVector(first, second, EveryOther(c_.d.lanes, 1))};
}

Value* PixelLoader::Compute(const std::vector<Value*>& indices, Value* mask) {
  Emitter& emitter = c_.emitter;
  for (size_t i = 0; i + 1 < indices.size(); ++i) {
    emitter.BindAxis(axes_[i].get(), indices[i]);
  }
  VectorAxis lane{axes_.back().get(), indices.back(), c_.d.lanes, mask};
  if (first_) {
    emitter.BindAxis(first_.get(), indices.back());
    lane.base = I64(c_.b, 0);
  }
  return emitter.EmitVector(element_, lane);
}

}  // namespace relayvm::codegen

// Packing the data of convolutions, without a copy of the padded input: taps outside of it are
// lanes that are masked off.
//
// Channels first: the lanes of a vector are consecutive output pixels. They fall into runs, one for
// each line of the output that they touch; along a run, the input elements of one tap and channel
// are `stride` apart.
#include <vector>

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

using llvm::Value;

std::vector<Value*> EmitUnflatten(ContractionContext& c, Value* flat,
                                  const std::vector<Dim>& extents) {
  std::vector<Value*> result(extents.size());
  Value* rest = flat;
  for (size_t i = extents.size(); i-- > 0;) {
    if (i == 0) {
      result[i] = rest;
    } else if (extents[i].is_const(1)) {
      result[i] = I64(c.b, 0);
    } else {
      Value* extent = c.emitter.EmitDim(extents[i]);
      result[i] = Rem(c.b, rest, extent);
      rest = Div(c.b, rest, extent);
    }
  }
  return result;
}

namespace {

Value* LoadStrided(ContractionContext& c, Value* pointer, int64_t stride, Value* mask);

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
    for (size_t i = 1; i < indices.size(); ++i) {
      offset = Add(b, Mul(b, offset, extents_[i]), indices[i]);
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

namespace {

// 0 <= x < extent.
Value* InRange(Builder& b, Value* x, Value* extent) { return b.CreateICmpULT(x, extent); }

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
    std::vector<int> low, high, even;
    Value* off = llvm::Constant::getNullValue(mask->getType());
    for (unsigned i = 0; i < lanes; ++i) {
      low.push_back(i % 2 == 0 ? static_cast<int>(i / 2) : static_cast<int>(lanes));
      high.push_back(i % 2 == 0 ? static_cast<int>((lanes + i) / 2) : static_cast<int>(lanes));
      even.push_back(static_cast<int>(2 * i));
    }
    Value* first =
        b.CreateMaskedLoad(c.vector, pointer, align, b.CreateShuffleVector(mask, off, low), zero);
    Value* second = b.CreateMaskedLoad(c.vector, b.CreateGEP(c.element, pointer, I64(b, lanes)),
                                       align, b.CreateShuffleVector(mask, off, high), zero);
    return b.CreateShuffleVector(first, second, even);
  }
  Value* offsets = b.CreateMul(LaneIndices(b, lanes), b.CreateVectorSplat(lanes, I64(b, stride)));
  Value* pointers = b.CreateGEP(c.element, pointer, offsets);
  if (!mask) mask = llvm::ConstantInt::getTrue(VectorOf(b.getInt1Ty(), lanes));
  return b.CreateMaskedGather(c.vector, pointers, align, mask, zero);
}

// Masked loads and stores cost what others do.
bool HasMasks(const ContractionContext& c) { return c.d.target.vector_bytes == 64; }

// Stores the lanes that the mask turns on; null: all. The others are packed memory, which may be
// read and written back.
void StoreFrom(ContractionContext& c, Value* values, Value* pointer, Value* mask) {
  Builder& b = c.b;
  const llvm::Align align(c.element_bytes);
  if (mask && HasMasks(c)) {
    b.CreateMaskedStore(values, pointer, align, mask);
    return;
  }
  if (mask) values = b.CreateSelect(mask, values, b.CreateAlignedLoad(c.vector, pointer, align));
  b.CreateAlignedStore(values, pointer, align);
}

// Calls body(positions, tap, inside) for every tap but its last axis; positions are input
// coordinates of all spatial axes but the last, `inside` says that they are in range.
void ForOuterTaps(ContractionContext& c, const std::vector<Value*>& output_position, size_t axis,
                  std::vector<Value*> positions, Value* tap, Value* inside,
                  const std::function<void(const std::vector<Value*>&, Value*, Value*)>& body) {
  const PixelOperand& p = c.d.pixels;
  Builder& b = c.b;
  if (axis + 1 == p.spatial()) return body(positions, tap, inside);
  For(b, I64(b, 0), I64(b, p.kernel[axis]), 1, "tap", [&](Value* k) {
    Value* at = Add(b, Mul(b, output_position[axis], p.stride[axis]),
                    Add(b, Mul(b, k, p.dilation[axis]), -p.padding[axis]));
    std::vector<Value*> next = positions;
    next.push_back(at);
    Value* in_range = InRange(b, at, c.emitter.EmitDim(p.input[axis]));
    ForOuterTaps(c, output_position, axis + 1, std::move(next),
                 Add(b, Mul(b, tap, p.kernel[axis]), k), b.CreateAnd(inside, in_range), body);
  });
}

// Whether all taps but of the last axis are inside.
Value* LinesInside(ContractionContext& c, const std::vector<Value*>& output_position) {
  const PixelOperand& p = c.d.pixels;
  Builder& b = c.b;
  Value* inside = b.getTrue();
  for (size_t axis = 0; axis + 1 < p.spatial(); ++axis) {
    Value* first = Add(b, Mul(b, output_position[axis], p.stride[axis]), -p.padding[axis]);
    Value* last = Add(b, first, (p.kernel[axis] - 1) * p.dilation[axis]);
    inside = b.CreateAnd(inside, b.CreateICmpSGE(first, I64(b, 0)));
    inside = b.CreateAnd(inside, b.CreateICmpSLT(last, c.emitter.EmitDim(p.input[axis])));
  }
  return inside;
}

}  // namespace

void EmitPackPixelPanel(ContractionContext& c, Value* batch, Value* pixel, Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const PixelOperand& p = d.pixels;
  const unsigned lanes = d.lanes;
  const size_t w = p.spatial() - 1;
  PixelLoader loader(c, p.stride[w]);
  Value* image = Div(b, batch, I64(b, p.groups));
  Value* first_channel = Mul(b, Rem(b, batch, I64(b, p.groups)), p.group_channels);
  Value* width = c.emitter.EmitDim(p.input[w]);
  Value* out_width = c.emitter.EmitDim(p.output[w]);
  llvm::Type* i32 = b.getInt32Ty();
  std::vector<llvm::Constant*> indices, steps;
  for (unsigned i = 0; i < lanes; ++i) {
    indices.push_back(b.getInt32(i));
    steps.push_back(b.getInt32(static_cast<uint32_t>(i * p.stride[w])));
  }
  Value* lane = llvm::ConstantVector::get(indices);
  Value* lane_step = llvm::ConstantVector::get(steps);
  auto splat = [&](Value* v) { return b.CreateVectorSplat(lanes, b.CreateTrunc(v, i32)); };

  For(b, I64(b, 0), I64(b, d.vectors), 1, "pack.vector", [&](Value* v) {
    Value* vector_at = Mul(b, v, int64_t{lanes});
    Value* start = Add(b, pixel, vector_at);
    Value* limit = Min(b, Sub(b, c.columns, start), I64(b, lanes));
    ForNext(b, I64(b, 0), limit, "run", [&](Value* run) {
      std::vector<Value*> at = EmitUnflatten(c, Add(b, start, run), p.output);
      Value* next = Add(b, run, Min(b, Sub(b, limit, run), Sub(b, out_width, at[w])));
      Value* from_run = b.CreateICmpSGE(lane, splat(run));
      Value* in_run = b.CreateAnd(from_run, b.CreateICmpSLT(lane, splat(next)));
      auto x_at = [&](Value* k) {  // of lane 0, had the run begun there
        return Add(b, Mul(b, Sub(b, at[w], run), p.stride[w]),
                   Add(b, Mul(b, k, p.dilation[w]), -p.padding[w]));
      };
      auto mask_at = [&](Value* k) {
        Value* lane_x = b.CreateAdd(splat(x_at(k)), lane_step);
        return b.CreateAnd(in_run, b.CreateICmpULT(lane_x, splat(width)));
      };
      const bool unrolls = p.plain && p.kernel[w] <= 7;
      std::vector<Value*> masks;
      for (int64_t k = 0; unrolls && k < p.kernel[w]; ++k) masks.push_back(mask_at(I64(b, k)));
      // A channel's taps follow each other, since they share lines of the cache that those of
      // other channels may map to too.
      auto pack = [&](bool masked) {
        For(b, I64(b, 0), I64(b, p.group_channels), 1, "pack.channel", [&](Value* channel) {
          Value* first_row = Mul(b, channel, p.taps());
          ForOuterTaps(c, at, 0, {}, I64(b, 0), b.getTrue(),
                       [&](const std::vector<Value*>& positions, Value* tap, Value* inside) {
                         Value* in_line = b.CreateVectorSplat(lanes, inside);
                         auto pack_tap = [&](Value* k) {
                           Value* mask = nullptr;
                           if (masked) {
                             mask =
                                 b.CreateAnd(in_line, unrolls ? masks[*ConstantOf(k)] : mask_at(k));
                           }
                           std::vector<Value*> index = {image, Add(b, first_channel, channel)};
                           index.insert(index.end(), positions.begin(), positions.end());
                           index.push_back(x_at(k));
                           Value* values = loader.Load(index, mask);
                           Value* row = Add(b, Add(b, first_row, Mul(b, tap, p.kernel[w])), k);
                           Value* offset = Add(b, Mul(b, row, d.panel), vector_at);
                           StoreFrom(c, values, At(b, c.element, destination, offset),
                                     masked ? from_run : nullptr);
                         };
                         if (!unrolls) {
                           return For(b, I64(b, 0), I64(b, p.kernel[w]), 1, "tap", pack_tap);
                         }
                         for (int64_t k = 0; k < p.kernel[w]; ++k) pack_tap(I64(b, k));
                       });
        });
      };
      if (!p.plain) {
        pack(true);
        return next;
      }
      // Whether the run is the vector, and all taps of all lanes are inside.
      Value* x = x_at(I64(b, 0));
      Value* last_x = Add(b, x, (p.kernel[w] - 1) * p.dilation[w] + (lanes - 1) * p.stride[w]);
      Value* is_whole = LinesInside(c, at);
      for (Value* condition : {b.CreateICmpEQ(Sub(b, next, run), I64(b, lanes)),
                               b.CreateICmpSGE(x, I64(b, 0)), b.CreateICmpSLT(last_x, width)}) {
        is_whole = b.CreateAnd(is_whole, condition);
      }
      If(
          b, is_whole, [&] { pack(false); }, [&] { pack(true); });
      return next;
    });
  });
}

void EmitPackPixelRows(ContractionContext& c, Value* batch, Value* row, Value* count,
                       Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const PixelOperand& p = d.pixels;
  const size_t w = p.spatial() - 1;
  PixelLoader loader(c, 1);
  Value* image = Div(b, batch, I64(b, p.groups));
  Value* first_channel = Mul(b, Rem(b, batch, I64(b, p.groups)), p.group_channels);
  const int64_t channels = p.group_channels;
  const int64_t whole = channels / d.lanes * d.lanes;
  For(b, I64(b, 0), count, 1, "pack.row", [&](Value* i) {
    std::vector<Value*> at = EmitUnflatten(c, Add(b, row, i), p.output);
    Value* packed = At(b, c.element, destination, Mul(b, i, d.a_row_stride));
    ForOuterTaps(
        c, at, 0, {}, I64(b, 0), b.getTrue(),
        [&](const std::vector<Value*>& positions, Value* tap, Value* inside) {
          For(b, I64(b, 0), I64(b, p.kernel[w]), 1, "tap", [&](Value* k) {
            Value* x =
                Add(b, Mul(b, at[w], p.stride[w]), Add(b, Mul(b, k, p.dilation[w]), -p.padding[w]));
            Value* valid = b.CreateAnd(inside, InRange(b, x, c.emitter.EmitDim(p.input[w])));
            Value* to =
                At(b, c.element, packed, Mul(b, Add(b, Mul(b, tap, p.kernel[w]), k), channels));
            // A vector that reaches past the channels writes into what the next tap or row fills
            // later.
            auto store = [&](Value* channel, Value* values) {
              c.StoreLanes(values, At(b, c.element, to, channel));
            };
            auto load = [&](Value* channel, Value* mask) {
              std::vector<Value*> index = {image};
              index.insert(index.end(), positions.begin(), positions.end());
              index.push_back(x);
              index.push_back(Add(b, first_channel, channel));
              store(channel, loader.Load(index, mask));
            };
            Value* zero = llvm::Constant::getNullValue(c.vector);
            If(
                b, valid,
                [&] {
                  For(b, I64(b, 0), I64(b, whole), d.lanes, "pack.channel",
                      [&](Value* channel) { load(channel, nullptr); });
                  if (whole < channels) {
                    load(I64(b, whole), MaskBelow(b, I64(b, channels - whole), d.lanes));
                  }
                },
                [&] {
                  For(b, I64(b, 0), I64(b, channels), d.lanes, "pack.zero",
                      [&](Value* channel) { store(channel, zero); });
                });
          });
        });
  });
}

}  // namespace relayvm::codegen

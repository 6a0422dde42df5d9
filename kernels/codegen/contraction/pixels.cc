// Packing the data of convolutions, without a copy of the padded input: taps outside of it are
// lanes that are masked off.
//
// Channels first: the lanes of a vector are consecutive output pixels. They fall into runs, one for
// each line of the output that they touch; along a run, the input elements of one tap and channel
// are `stride` apart.
#include <utility>
#include <vector>

#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/pack.h"
#include "kernels/codegen/contraction/taps.h"

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

// 0 <= x < extent.
Value* InRange(Builder& b, Value* x, Value* extent) { return b.CreateICmpULT(x, extent); }

// Masked loads and stores cost what others do.
bool HasMasks(const ContractionContext& c) { return c.d.target.masks; }

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
    Value* in_range = InRange(b, at, c.emitter.EmitDim(p.input[axis]));
    // No lane of a line outside is loaded, but processors take long to see that of an address in no
    // page: 0 is in one.
    std::vector<Value*> next = positions;
    next.push_back(b.CreateSelect(in_range, at, I64(b, 0)));
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

// Memory whose lanes are off is packed memory too, which may be read and written back.
void StoreMasked(ContractionContext& c, Value* values, Value* pointer, Value* mask) {
  Builder& b = c.b;
  const llvm::Align align(c.element_bytes);
  if (mask && HasMasks(c)) {
    b.CreateMaskedStore(values, pointer, align, mask);
    return;
  }
  if (mask) values = b.CreateSelect(mask, values, b.CreateAlignedLoad(c.vector, pointer, align));
  b.CreateAlignedStore(values, pointer, align);
}

namespace {

// A vector is gathered in the time that about so many parts of it are loaded in.
constexpr int64_t kRunsOfGather = 4;
// A coordinate that no tap brings inside.
constexpr int64_t kOutside = int64_t{1} << 30;

// Packs panels of pixels, some channels of them.
class PanelPacker {
 public:
  PanelPacker(ContractionContext& c, const TapBounds& bounds, Value* first_channel, Value* channels)
      : c_(c),
        b_(c.b),
        d_(c.d),
        p_(c.d.pixels),
        bounds_(bounds),
        w_(c.d.pixels.spatial() - 1),
        loader_(c, c.d.pixels.stride.back()),
        first_channel_(first_channel),
        channels_(channels),
        width_(c.emitter.EmitDim(c.d.pixels.input.back())),
        out_width_(c.emitter.EmitDim(c.d.pixels.output.back())) {
    std::vector<llvm::Constant*> indices, steps;
    for (unsigned i = 0; i < d_.lanes; ++i) {
      indices.push_back(b_.getInt32(i));
      steps.push_back(b_.getInt32(static_cast<uint32_t>(i * p_.stride[w_])));
    }
    lane_ = llvm::ConstantVector::get(indices);
    lane_step_ = llvm::ConstantVector::get(steps);
    for (size_t i = 0; i < extents().size(); ++i) position_.push_back(Alloca(b_.getInt64Ty()));
  }

  // `count` panels from `column` on, which are `stride` elements apart.
  void Pack(Value* column, Value* count, Value* destination, Value* stride, Value* is_scattered) {
    SetPosition(EmitUnflatten(c_, column, extents()));
    For(b_, I64(b_, 0), count, 1, "pack", [&](Value* q) {
      destination_ = At(b_, c_.element, destination, Mul(b_, q, stride));
      Value* first = Add(b_, column, Mul(b_, q, d_.panel));
      For(b_, I64(b_, 0), I64(b_, d_.vectors), 1, "pack.vector", [&](Value* v) {
        vector_at_ = Mul(b_, v, int64_t{d_.lanes});
        Value* left = Sub(b_, c_.columns, Add(b_, first, vector_at_));
        Value* limit = Min(b_, left, I64(b_, d_.lanes));
        auto by_runs = [&] {
          ForNext(b_, I64(b_, 0), limit, "run", [&](Value* run) { return PackRun(run, limit); });
        };
        If(b_, is_scattered, [&] { PackScattered(limit); }, by_runs);
      });
    });
  }

 private:
  Value* Splat(Value* v) {
    return b_.CreateVectorSplat(d_.lanes, b_.CreateTrunc(v, b_.getInt32Ty()));
  }

  Value* Alloca(llvm::Type* type) {
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
  }

  // --- Where the next pixel of the output is: (image, place along each axis), which is divided out
  // once and counted on from there ---

  std::vector<Dim> extents() const {
    std::vector<Dim> extents = {d_.images};
    extents.insert(extents.end(), p_.output.begin(), p_.output.end());
    return extents;
  }
  std::vector<Value*> Position() {
    std::vector<Value*> position;
    for (Value* at : position_) position.push_back(b_.CreateLoad(b_.getInt64Ty(), at));
    return position;
  }
  void SetPosition(const std::vector<Value*>& position) {
    for (size_t i = 0; i < position.size(); ++i) b_.CreateStore(position[i], position_[i]);
  }
  // `count` pixels later, which are no more than are left of a line.
  std::vector<Value*> After(std::vector<Value*> position, Value* count) {
    const std::vector<Dim> sizes = extents();
    for (size_t s = position.size(); s-- > 0;) {
      position[s] = Add(b_, position[s], count);
      if (s == 0) break;
      Value* carry = b_.CreateICmpEQ(position[s], c_.emitter.EmitDim(sizes[s]));
      position[s] = b_.CreateSelect(carry, I64(b_, 0), position[s]);
      count = b_.CreateZExt(carry, b_.getInt64Ty());
    }
    return position;
  }

  // --- Lines that are short against a vector: each lane has an address of its own ---

  void PackScattered(Value* limit) {
    const size_t axes = p_.spatial();
    llvm::Type* i32 = b_.getInt32Ty();
    llvm::FixedVectorType* vector = VectorOf(i32, d_.lanes);
    // For each lane, the distance of its window from image `first_image`, and the window's
    // coordinates, which follow each other in row-major order.
    Value* lanes = Alloca(llvm::ArrayType::get(vector, static_cast<uint64_t>(axes) + 1));
    auto room = [&](size_t i) { return At(b_, vector, lanes, static_cast<int64_t>(i)); };
    for (size_t i = 0; i <= axes; ++i) {
      b_.CreateStore(llvm::ConstantInt::getSigned(vector, i < axes ? -kOutside : 0), room(i));
    }
    std::vector<Value*> at = Position();
    Value* first_image = at[0];
    at[0] = I64(b_, 0);
    at = ForCarried(b_, I64(b_, 0), limit, 1, "lane", at,
                    [&](Value* lane, const std::vector<Value*>& position) {
                      StoreWindow(position, lane, room);
                      return After(position, I64(b_, 1));
                    });
    at[0] = Add(b_, first_image, at[0]);
    SetPosition(at);
    std::vector<Value*> windows;
    for (size_t i = 0; i <= axes; ++i) windows.push_back(b_.CreateLoad(vector, room(i)));
    Value* distances = windows.back();
    Value* first_element =
        Mul(b_, Add(b_, Mul(b_, first_image, c_.emitter.EmitDim(p_.channels)), first_channel_),
            PlaneElements());
    GatherTaps(0, windows, I64(b_, 0), I64(b_, 0), nullptr,
               [&](Value* tap, Value* tap_distance, Value* inside) {
                 auto for_channels = [&](const std::function<Value*(Value*)>& load) {
                   For(b_, I64(b_, 0), channels_, 1, "pack.channel", [&](Value* channel) {
                     Value* row = Add(b_, Mul(b_, channel, bounds_.taps), tap);
                     Store(load(channel), row, nullptr);
                   });
                 };
                 Value* zero = llvm::Constant::getNullValue(c_.vector);
                 If(
                     b_, b_.CreateOrReduce(inside),
                     [&] {
                       for_channels([&](Value* channel) {
                         Value* element = Add(b_, first_element, Mul(b_, channel, PlaneElements()));
                         Value* base =
                             At(b_, c_.element, loader_.base(), Add(b_, element, tap_distance));
                         Value* pointers = b_.CreateGEP(c_.element, base, distances);
                         return b_.CreateMaskedGather(c_.vector, pointers,
                                                      llvm::Align(c_.element_bytes), inside, zero);
                       });
                     },
                     [&] { for_channels([&](Value*) { return zero; }); });
               });
  }

  // Of a lane's pixel, at `room(axis)`, and after those the distance.
  void StoreWindow(const std::vector<Value*>& position, Value* lane,
                   const std::function<Value*(size_t)>& room) {
    llvm::Type* i32 = b_.getInt32Ty();
    Value* distance = Mul(b_, position[0], c_.emitter.EmitDim(p_.channels));
    for (size_t s = 0; s < p_.spatial(); ++s) {
      Value* window = Add(b_, Mul(b_, position[s + 1], p_.stride[s]), -p_.padding[s]);
      distance = Add(b_, Mul(b_, distance, c_.emitter.EmitDim(p_.input[s])), window);
      b_.CreateStore(b_.CreateTrunc(window, i32), At(b_, i32, room(s), lane));
    }
    b_.CreateStore(b_.CreateTrunc(distance, i32), At(b_, i32, room(p_.spatial()), lane));
  }

  Value* PlaneElements() {
    Value* elements = I64(b_, 1);
    for (const Dim& extent : p_.input) elements = Mul(b_, elements, c_.emitter.EmitDim(extent));
    return elements;
  }

  // Calls body(tap, its distance from the window's first element, lanes inside) for every tap that
  // is left, which are counted.
  void GatherTaps(size_t axis, const std::vector<Value*>& windows, Value* tap, Value* distance,
                  Value* inside, const std::function<void(Value*, Value*, Value*)>& body) {
    if (axis == p_.spatial()) return body(tap, distance, inside);
    Value* extent = c_.emitter.EmitDim(p_.input[axis]);
    For(b_, I64(b_, 0), bounds_.count[axis], 1, "tap", [&](Value* k) {
      Value* offset = Mul(b_, Add(b_, bounds_.first[axis], k), p_.dilation[axis]);
      Value* position = b_.CreateAdd(windows[axis], Splat(offset));
      Value* in_range = b_.CreateICmpULT(position, Splat(extent));
      GatherTaps(axis + 1, windows, Add(b_, Mul(b_, tap, bounds_.count[axis]), k),
                 Add(b_, Mul(b_, distance, extent), offset),
                 inside ? b_.CreateAnd(inside, in_range) : in_range, body);
    });
  }

  // --- Runs of pixels of one line ---

  // The lanes from `run` on that are pixels of one line of the output. Returns the next run.
  Value* PackRun(Value* run, Value* limit) {
    std::vector<Value*> at = Position();
    Value* count = Min(b_, Sub(b_, limit, run), Sub(b_, out_width_, at.back()));
    SetPosition(After(at, count));
    Value* image = at[0];
    at.erase(at.begin());
    Value* next = Add(b_, run, count);
    Value* from_run = b_.CreateICmpSGE(lane_, Splat(run));
    Value* in_run = b_.CreateAnd(from_run, b_.CreateICmpSLT(lane_, Splat(next)));
    auto x_at = [&](Value* k) {  // of lane 0, had the run begun there
      return Add(b_, Mul(b_, Sub(b_, at[w_], run), p_.stride[w_]),
                 Add(b_, Mul(b_, k, p_.dilation[w_]), -p_.padding[w_]));
    };
    auto mask_at = [&](Value* k) {
      Value* lane_x = b_.CreateAdd(Splat(x_at(k)), lane_step_);
      return b_.CreateAnd(in_run, b_.CreateICmpULT(lane_x, Splat(width_)));
    };
    const bool unrolls = p_.plain && p_.kernel[w_] <= 7;
    std::vector<Value*> masks;
    for (int64_t k = 0; unrolls && k < p_.kernel[w_]; ++k) masks.push_back(mask_at(I64(b_, k)));
    // A channel's taps follow each other, since they share lines of the cache that those of other
    // channels may map to too.
    auto pack = [&](bool masked) {
      For(b_, I64(b_, 0), channels_, 1, "pack.channel", [&](Value* channel) {
        Value* first_row = Mul(b_, channel, p_.taps());
        ForOuterTaps(
            c_, at, 0, {}, I64(b_, 0), b_.getTrue(),
            [&](const std::vector<Value*>& positions, Value* tap, Value* inside) {
              Value* in_line = b_.CreateVectorSplat(d_.lanes, inside);
              auto index_of = [&](Value* k) {
                std::vector<Value*> index = {image, Add(b_, first_channel_, channel)};
                index.insert(index.end(), positions.begin(), positions.end());
                index.push_back(x_at(k));
                return index;
              };
              auto row_of = [&](Value* k) {
                return Add(b_, Add(b_, first_row, Mul(b_, tap, p_.kernel[w_])), k);
              };
              auto pack_tap = [&](Value* k) {
                Value* mask = nullptr;
                if (masked) {
                  mask = b_.CreateAnd(in_line, unrolls ? masks[*ConstantOf(k)] : mask_at(k));
                }
                Store(loader_.Load(index_of(k), mask), row_of(k), masked ? from_run : nullptr);
              };
              if (!unrolls) {
                return For(b_, I64(b_, 0), I64(b_, p_.kernel[w_]), 1, "tap", pack_tap);
              }
              for (int64_t k = 0; k < p_.kernel[w_]; ++k) {
                if (masked || !HasNeighbours(k)) {
                  pack_tap(I64(b_, k));
                  continue;
                }
                const auto [even, odd] = loader_.LoadNeighbours(index_of(I64(b_, k)));
                Store(even, row_of(I64(b_, k)), nullptr);
                Store(odd, row_of(I64(b_, ++k)), nullptr);
              }
            });
      });
    };
    if (!p_.plain) {
      pack(true);
      return next;
    }
    // Whether the run is the vector, and all taps of all lanes are inside.
    Value* x = x_at(I64(b_, 0));
    Value* last_x =
        Add(b_, x, (p_.kernel[w_] - 1) * p_.dilation[w_] + (d_.lanes - 1) * p_.stride[w_]);
    Value* is_whole = LinesInside(c_, at);
    for (Value* condition : {b_.CreateICmpEQ(Sub(b_, next, run), I64(b_, d_.lanes)),
                             b_.CreateICmpSGE(x, I64(b_, 0)), b_.CreateICmpSLT(last_x, width_)}) {
      is_whole = b_.CreateAnd(is_whole, condition);
    }
    If(b_, is_whole, [&] { pack(false); }, [&] { pack(true); });
    return next;
  }

  // Whether tap k of the last axis and the next are the even and the odd elements of two vectors.
  bool HasNeighbours(int64_t k) const {
    return p_.plain && !p_.bytes && p_.stride[w_] == 2 && p_.dilation[w_] == 1 &&
           k + 1 < p_.kernel[w_];
  }

  void Store(Value* values, Value* row, Value* mask) {
    if (p_.bytes) return StoreQuads(c_, values, destination_, row, vector_at_, mask);
    Value* offset = Add(b_, Mul(b_, row, d_.panel), vector_at_);
    StoreMasked(c_, values, At(b_, c_.element, destination_, offset), mask);
  }

  ContractionContext& c_;
  Builder& b_;
  const ContractionDetail& d_;
  const PixelOperand& p_;
  const TapBounds& bounds_;
  const size_t w_;  // the last spatial axis
  PixelLoader loader_;
  Value *first_channel_, *channels_;
  Value *width_, *out_width_;
  Value *lane_, *lane_step_;
  std::vector<Value*> position_;  // in memory
  Value* destination_ = nullptr;  // of the panel
  Value* vector_at_ = nullptr;    // the first column of the vector, in the panel
};

}  // namespace

Value* ArePixelsScattered(ContractionContext& c, const TapBounds& bounds) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const PixelOperand& p = d.pixels;
  if (!p.plain || p.bytes || d.target.vector_bytes == 16 || d.lanes < 8) return b.getFalse();
  // Distances between lanes are int32.
  Value* elements = c.emitter.EmitDim(p.channels);
  for (const Dim& extent : p.input) elements = Mul(b, elements, c.emitter.EmitDim(extent));
  const int64_t runs = p.stride.back() > 2 ? 1 : kRunsOfGather;  // strided runs are gathered too
  Value* is_short =
      b.CreateICmpSLT(c.emitter.EmitDim(p.output.back()), I64(b, int64_t{d.lanes} / runs));
  Value* is_scattered =
      b.CreateAnd(is_short, b.CreateICmpSLT(elements, I64(b, (1 << 30) / d.lanes)));
  return b.CreateOr(is_scattered, bounds.is_cut);
}

void EmitPackPixels(ContractionContext& c, const TapBounds& bounds, const PixelPanels& panels,
                    Value* is_scattered) {
  PanelPacker(c, bounds, panels.first_channel, panels.channels)
      .Pack(panels.column, panels.count, panels.destination, panels.stride, is_scattered);
}

int64_t PixelPanelElements(const ContractionDetail& d) {
  return d.channel_block * d.pixels.taps() * d.step_words * d.panel;
}

void EmitPackPixelPanels(ContractionContext& c, const TapBounds& bounds, Value* group,
                         Value* column, Value* count, Value* channel, Value* end,
                         Value* destination) {
  Builder& b = c.b;
  auto panel = [&](Value* q) {
    return At(b, c.element, destination, Mul(b, q, PixelPanelElements(c.d)));
  };
  const PixelPanels panels{Add(b, Mul(b, group, c.d.pixels.group_channels), channel),
                           Sub(b, end, channel),
                           column,
                           count,
                           destination,
                           I64(b, PixelPanelElements(c.d))};
  auto each = [&] {
    Value* is_scattered = ArePixelsScattered(c, bounds);
    if (c.d.pixels.plain && !c.d.pixels.bytes) {
      return EmitPackWindows(c, bounds, panels, is_scattered);
    }
    EmitPackPixels(c, bounds, panels, is_scattered);
  };
  if (!c.d.pixels_in_place) return each();
  if (!c.d.pixels.bytes) {
    return EmitPackPlainPixels(c, group, column, count, channel, end, destination);
  }
  // Pixels as they are: a channel's, of all panels, since memory is best read in long runs.
  const PixelOperand& p = c.d.pixels;
  Value* pixels = c.emitter.EmitDim(p.input[0]);
  Value* image = Div(b, column, pixels);
  Value* first = Sub(b, column, Mul(b, image, pixels));
  Value* is_last = b.CreateICmpEQ(Add(b, image, 1), c.emitter.EmitDim(c.d.images));
  Value* ends = b.CreateICmpSLE(Add(b, first, Mul(b, count, c.d.panel)), pixels);
  auto copy = [&] {
    PixelLoader loader(c, 1);
    Value* left = Sub(b, pixels, first);
    Value* whole = Min(b, Div(b, left, I64(b, c.d.panel)), count);
    For(b, channel, end, 1, "pack.channel", [&](Value* at) {
      Value* row = Sub(b, at, channel);
      Value* source = Add(b, Mul(b, group, p.group_channels), at);
      auto vector = [&](Value* q, int64_t v, Value* mask) {
        Value* x = Add(b, first, Add(b, Mul(b, q, c.d.panel), v));
        Value* values = loader.Load({image, source, x}, mask);
        if (p.bytes) return StoreQuads(c, values, panel(q), row, I64(b, v), nullptr);
        c.StoreLanes(values, At(b, c.element, panel(q), Add(b, Mul(b, row, c.d.panel), v)));
      };
      For(b, I64(b, 0), whole, 1, "pack.panel", [&](Value* q) {
        for (unsigned v = 0; v < c.d.vectors; ++v) vector(q, v * c.d.lanes, nullptr);
      });
      For(b, whole, count, 1, "pack.panel", [&](Value* q) {
        for (unsigned v = 0; v < c.d.vectors; ++v) {
          Value* rest = Sub(b, left, Add(b, Mul(b, q, c.d.panel), v * c.d.lanes));
          vector(q, v * c.d.lanes, MaskBelow(b, rest, c.d.lanes));
        }
      });
    });
  };
  If(b, b.CreateOr(is_last, ends), copy, each);
}

// Copies so many elements; what is written past them is arbitrary.
static void CopyRun(ContractionContext& c, Value* from, Value* to, int64_t count) {
  Builder& b = c.b;
  const int64_t lanes = c.d.lanes, whole = count / lanes * lanes;
  const llvm::Align align(c.element_bytes);
  For(b, I64(b, 0), I64(b, whole), lanes, "pack.run", [&](Value* i) {
    c.StoreLanes(b.CreateAlignedLoad(c.vector, At(b, c.element, from, i), align),
                 At(b, c.element, to, i));
  });
  if (whole == count) return;
  Value* rest = b.CreateMaskedLoad(c.vector, At(b, c.element, from, whole), align,
                                   MaskBelow(b, I64(b, count - whole), c.d.lanes),
                                   llvm::Constant::getNullValue(c.vector));
  c.StoreLanes(rest, At(b, c.element, to, whole));
}

void EmitPackPixelRows(ContractionContext& c, Value* batch, Value* row, Value* count,
                       Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const PixelOperand& p = d.pixels;
  if (p.bytes) return EmitPackBytePixelRows(c, batch, row, count, destination);
  const size_t w = p.spatial() - 1;
  PixelLoader loader(c, 1);
  Value* image = Div(b, batch, I64(b, p.groups));
  Value* first_channel = Mul(b, Rem(b, batch, I64(b, p.groups)), p.group_channels);
  const int64_t channels = p.group_channels;
  const int64_t whole = channels / d.lanes * d.lanes;
  For(b, I64(b, 0), count, 1, "pack.row", [&](Value* i) {
    std::vector<Value*> at = EmitUnflatten(c, Add(b, row, i), p.output);
    Value* packed = At(b, c.element, destination, Mul(b, i, d.a_row_stride));
    ForOuterTaps(c, at, 0, {}, I64(b, 0), b.getTrue(),
                 [&](const std::vector<Value*>& positions, Value* outer_tap, Value* inside) {
                   Value* first = Add(b, Mul(b, at[w], p.stride[w]), -p.padding[w]);
                   Value* width = c.emitter.EmitDim(p.input[w]);
                   Value* run = At(b, c.element, packed, Mul(b, outer_tap, p.kernel[w] * channels));
                   auto tap = [&](Value* k) {
                     Value* x = Add(b, first, Mul(b, k, p.dilation[w]));
                     Value* valid = b.CreateAnd(inside, InRange(b, x, width));
                     Value* to = At(b, c.element, run, Mul(b, k, channels));
                     // A vector that reaches past the channels writes into what the next tap or row
                     // fills later.
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
                   };
                   auto taps = [&] { For(b, I64(b, 0), I64(b, p.kernel[w]), 1, "tap", tap); };
                   // The taps of a line that are inside follow each other in memory.
                   if (!p.plain || p.groups != 1 || p.dilation[w] != 1 || p.kernel[w] == 1)
                     return taps();
                   Value* end = Add(b, first, p.kernel[w]);
                   Value* all =
                       b.CreateAnd(b.CreateICmpSGE(first, I64(b, 0)), b.CreateICmpSLE(end, width));
                   If(
                       b, b.CreateAnd(inside, all),
                       [&] {
                         std::vector<Value*> index = {image};
                         index.insert(index.end(), positions.begin(), positions.end());
                         index.push_back(first);
                         CopyRun(c, loader.Line(index), run, p.kernel[w] * channels);
                       },
                       taps);
                 });
  });
}

}  // namespace relayvm::codegen

#include "kernels/codegen/contraction/taps.h"

#include <functional>

#include "kernels/codegen/contraction/plan.h"

namespace relayvm::codegen {

using llvm::Value;

TapBounds EmitTapBounds(ContractionContext& c) {
  const PixelOperand& p = c.d.pixels;
  Builder& b = c.b;
  Value* zero = I64(b, 0);
  TapBounds all{b.getFalse(), {}, {}, I64(b, p.taps())};
  for (const int64_t kernel : p.kernel) {
    all.first.push_back(zero);
    all.count.push_back(I64(b, kernel));
  }
  if (!c.d.cuts_taps) return all;
  TapBounds cut{nullptr, {}, {}, I64(b, 1)};
  Value* elements = c.emitter.EmitDim(p.channels);
  for (size_t s = 0; s < p.spatial(); ++s) {
    Value* extent = c.emitter.EmitDim(p.input[s]);
    elements = Mul(b, elements, extent);
    // From what the last window brings inside to what the first one does.
    Value* last_window =
        Add(b, Mul(b, Add(b, c.emitter.EmitDim(p.output[s]), -1), p.stride[s]), -p.padding[s]);
    Value* first = CeilDiv(b, Max(b, Sub(b, zero, last_window), zero), p.dilation[s]);
    Value* end = Min(b, CeilDiv(b, Add(b, extent, p.padding[s]), p.dilation[s]), all.count[s]);
    cut.first.push_back(first);
    cut.count.push_back(Max(b, Sub(b, end, first), zero));
    cut.taps = Mul(b, cut.taps, cut.count.back());
  }
  // Pixels are then gathered, by distances of 32 bits.
  cut.is_cut = b.CreateAnd(b.CreateICmpSLT(cut.taps, all.taps),
                           b.CreateICmpSLT(elements, I64(b, (1 << 30) / c.d.lanes)));
  if (c.d.few_pixels > 0) {
    cut.is_cut = b.CreateAnd(cut.is_cut, b.CreateICmpSGT(c.columns, I64(b, c.d.few_pixels)));
  }
  const auto either = [&](Value*& of_cut, Value* of_all) {
    of_cut = b.CreateSelect(cut.is_cut, of_cut, of_all);
  };
  for (size_t s = 0; s < p.spatial(); ++s) {
    either(cut.first[s], all.first[s]);
    either(cut.count[s], all.count[s]);
  }
  either(cut.taps, all.taps);
  return cut;
}

namespace {

// Calls body(tap, cut) with the first of each run of taps along the last axis: its number among all
// taps and among those that are left.
void ForRuns(ContractionContext& c, const TapBounds& bounds, size_t axis, Value* tap, Value* cut,
             const std::function<void(Value*, Value*)>& body) {
  Builder& b = c.b;
  const auto next = [&](Value* k) {
    return Add(b, Mul(b, tap, c.d.pixels.kernel[axis]), Add(b, bounds.first[axis], k));
  };
  const auto next_cut = [&](Value* k) { return Add(b, Mul(b, cut, bounds.count[axis]), k); };
  if (axis + 1 == c.d.pixels.spatial()) return body(next(I64(b, 0)), next_cut(I64(b, 0)));
  For(b, I64(b, 0), bounds.count[axis], 1, "tap",
      [&](Value* k) { ForRuns(c, bounds, axis + 1, next(k), next_cut(k), body); });
}

}  // namespace

Value* EmitCutRows(ContractionContext& c, const TapBounds& bounds, Value* from, Value* count,
                   Value* channels, Value* to) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const llvm::Align align(c.element_bytes);
  Value* run = bounds.count.back();
  const auto for_runs = [&](const std::function<void(Value*, Value*)>& copy) {
    For(b, I64(b, 0), channels, 1, "cut.channel",
        [&](Value* channel) { ForRuns(c, bounds, 0, channel, channel, copy); });
  };
  if (!d.a.k_contiguous) {  // rows side by side
    llvm::Type* vector = VectorOf(c.element, static_cast<unsigned>(d.a_k_stride));
    for_runs([&](Value* tap, Value* cut) {
      For(b, I64(b, 0), run, 1, "cut.tap", [&](Value* k) {
        b.CreateAlignedStore(
            b.CreateAlignedLoad(vector, At(b, vector, from, Add(b, tap, k)), align),
            At(b, vector, to, Add(b, cut, k)), align);
      });
    });
    return to;
  }
  // What a run's vector has more than the run, the next one replaces.
  Value* mask = MaskBelow(b, run, d.lanes);
  For(b, I64(b, 0), count, 1, "cut.row", [&](Value* row) {
    Value* from_row = At(b, c.element, from, Mul(b, row, d.a_row_stride));
    Value* to_row = At(b, c.element, to, Mul(b, row, d.a_row_stride));
    for_runs([&](Value* tap, Value* cut) {
      Value* values = b.CreateMaskedLoad(c.vector, At(b, c.element, from_row, tap), align, mask,
                                         llvm::Constant::getNullValue(c.vector));
      b.CreateAlignedStore(values, At(b, c.element, to_row, cut), align);
      For(b, I64(b, d.lanes), run, 1, "cut.tap", [&](Value* k) {
        Value* value = b.CreateLoad(c.element, At(b, c.element, from_row, Add(b, tap, k)));
        b.CreateStore(value, At(b, c.element, to_row, Add(b, cut, k)));
      });
    });
  });
  return to;
}

}  // namespace relayvm::codegen

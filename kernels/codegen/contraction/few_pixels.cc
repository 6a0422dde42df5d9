#include "kernels/codegen/contraction/few_pixels.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

Value* InEntry(ContractionContext& c, int64_t elements) {
  llvm::BasicBlock& entry = c.b.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::AllocaInst* room =
      llvm::IRBuilder<>(&entry, entry.begin())
          .CreateAlloca(llvm::ArrayType::get(c.element, static_cast<uint64_t>(elements)));
  room->setAlignment(llvm::Align(64));
  return room;
}

// Calls body with the number of pixels that there are.
void ForPixels(ContractionContext& c, const std::function<void(unsigned)>& body) {
  for (unsigned pixels = 1; pixels <= c.d.few_pixels; ++pixels) {
    if (!c.d.columns.is_const()) {
      If(c.b, c.b.CreateICmpEQ(c.columns, I64(c.b, pixels)), [&] { body(pixels); });
    } else if (c.d.columns.is_const(pixels)) {
      body(pixels);
    }
  }
}

// A block of weights [k][rows] is a panel of b, pixels are rows of a.
void EmitBlockSums(ContractionContext& c, Value* a, Value* sums) {
  Builder& b = c.b;
  const auto block = static_cast<unsigned>(c.d.a_k_stride);
  Value* room = InEntry(c, int64_t{block} * block);
  ForPixels(c, [&](unsigned pixels) {
    TileConfig config{c.d.dtype, /*rounds=*/false, pixels, 1, block, SetsFor(pixels)};
    config.a_row_stride = TileConfig::kDynamic;
    config.a_k_stride = 1;
    config.b_k_stride = config.c_row_stride = block;
    TileCall call{c.Scratch(c.d.few_offset), a, room, c.depth, b.getFalse()};
    call.a_row_stride = I64(b, FewPixelStride(c.d));
    EmitTileCall(b, config, call);
  });
  std::vector<Value*> vectors(block, llvm::PoisonValue::get(VectorOf(c.element, block)));
  for (unsigned pixel = 0; pixel < c.d.few_pixels; ++pixel) {
    vectors[pixel] =
        b.CreateAlignedLoad(vectors[pixel]->getType(), At(b, c.element, room, pixel * block),
                            llvm::Align(c.element_bytes));
  }
  Transpose(b, vectors);
  std::vector<int> first;
  for (int pixel = 0; pixel < c.d.few_pixels; ++pixel) first.push_back(pixel);
  for (unsigned row = 0; row < block; ++row) {
    b.CreateAlignedStore(b.CreateShuffleVector(vectors[row], first),
                         At(b, c.element, sums, row * c.d.panel), llvm::Align(c.element_bytes));
  }
}

// Rows of weights as they are: dot products with pixels.
void EmitDotSums(ContractionContext& c, Value* a, Value* rows, Value* sums) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const auto most = static_cast<int64_t>(d.tile_rows);
  Value* room = InEntry(c, most * d.few_pixels);
  const DotForm form = d.depth.value() < kLongDotDepth ? DotForm::kShort : DotForm::kLong;
  const int64_t all_rows = d.rows.value();
  ForPixels(c, [&](unsigned pixels) {
    const DotShape shape = DotShapeOf(pixels, form, d.target.vector_registers);
    Value* next = I64(b, 0);
    // Tiles, and the last one, are of so many rows.
    int64_t left = all_rows < most ? all_rows : most;
    int64_t left_of_last = all_rows % most;
    for (auto units = static_cast<int64_t>(shape.units); units > 0; units /= 2) {
      if (left < units && left_of_last < units) continue;
      left %= units;
      left_of_last %= units;
      Value* last = Add(b, next, b.CreateAnd(Sub(b, rows, next), I64(b, -units)));
      For(b, next, last, units, "unit", [&](Value* unit) {
        EmitDotCall(b,
                    {d.dtype, pixels, static_cast<unsigned>(units),
                     d.target.vector_bytes / c.element_bytes, shape.sets},
                    {c.Scratch(d.few_offset), At(b, c.element, a, Mul(b, unit, d.a_row_stride)),
                     At(b, c.element, room, unit), c.depth, I64(b, FewPixelStride(d)),
                     I64(b, d.a_row_stride), most});
      });
      next = last;
    }
  });
  For(b, I64(b, 0), c.columns, 1, "pixel", [&](Value* pixel) {
    For(b, I64(b, 0), rows, 1, "row", [&](Value* row) {
      Value* sum =
          b.CreateLoad(c.element, At(b, c.element, room, Add(b, Mul(b, pixel, most), row)));
      b.CreateStore(sum, At(b, c.element, sums, Add(b, Mul(b, row, d.panel), pixel)));
    });
  });
}

}  // namespace

Value* TakesFewPixels(ContractionContext& c) {
  return c.b.CreateICmpSLE(c.columns, I64(c.b, c.d.few_pixels));
}

// A row of a pixel: (channel, tap), as of the weights.
void EmitFewPixels(ContractionContext& c, Value* group) {
  Builder& b = c.b;
  const PixelOperand& p = c.d.pixels;
  std::vector<Dim> extents = {c.d.images};
  extents.insert(extents.end(), p.output.begin(), p.output.end());
  Value* plane = I64(b, 1);
  for (const Dim& extent : p.input) plane = Mul(b, plane, c.emitter.EmitDim(extent));
  Value* data = PixelLoader(c, 1).base();
  Value* zero = llvm::Constant::getNullValue(c.element);
  For(b, I64(b, 0), c.columns, 1, "pixel", [&](Value* pixel) {
    const std::vector<Value*> at = EmitUnflatten(c, pixel, extents);
    Value* first =
        Add(b, Mul(b, at[0], c.emitter.EmitDim(p.channels)), Mul(b, group, p.group_channels));
    Value* from = At(b, c.element, data, Mul(b, first, plane));
    Value* to = At(b, c.element, c.Scratch(c.d.few_offset), Mul(b, pixel, FewPixelStride(c.d)));
    const auto copy = [&](Value* tap, Value* offset, Value* inside) {
      const auto channels = [&](const std::function<Value*(Value*)>& of) {
        For(b, I64(b, 0), I64(b, p.group_channels), 1, "channel", [&](Value* channel) {
          b.CreateStore(of(channel), At(b, c.element, to, Add(b, Mul(b, channel, p.taps()), tap)));
        });
      };
      If(
          b, inside,
          [&] {
            channels([&](Value* channel) {
              return b.CreateLoad(c.element,
                                  At(b, c.element, from, Add(b, Mul(b, channel, plane), offset)));
            });
          },
          [&] { channels([&](Value*) { return zero; }); });
    };
    const std::function<void(size_t, Value*, Value*, Value*)> for_taps =
        [&](size_t axis, Value* tap, Value* offset, Value* inside) {
          if (axis == p.spatial()) return copy(tap, offset, inside);
          Value* extent = c.emitter.EmitDim(p.input[axis]);
          For(b, I64(b, 0), I64(b, p.kernel[axis]), 1, "tap", [&](Value* k) {
            Value* x = Add(b, Mul(b, at[axis + 1], p.stride[axis]),
                           Add(b, Mul(b, k, p.dilation[axis]), -p.padding[axis]));
            for_taps(axis + 1, Add(b, Mul(b, tap, p.kernel[axis]), k),
                     Add(b, Mul(b, offset, extent), x),
                     b.CreateAnd(inside, b.CreateICmpULT(x, extent)));
          });
        };
    for_taps(0, I64(b, 0), I64(b, 0), b.getTrue());
  });
}

void EmitFewPixelSums(ContractionContext& c, Value* a, Value* rows, Value* sums) {
  if (c.d.a.k_contiguous) return EmitDotSums(c, a, rows, sums);
  EmitBlockSums(c, a, sums);
}

}  // namespace relayvm::codegen

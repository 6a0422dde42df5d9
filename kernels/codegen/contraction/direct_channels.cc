// A block is d.block_lines lines by d.block_pixels pixels of the output. Each pixel of the input
// that it reaches is loaded once, and multiplied by the weights of all taps that bring it to a
// pixel of the block. Where some of it lies outside of the input or the output, masks say so: a
// lane of one pixel is as far inside as all of its lanes, so that a mask is made once for all
// channels.
#include "kernels/codegen/contraction/direct_channels.h"

#include <vector>

#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

class ChannelBlockEmitter {
 public:
  explicit ChannelBlockEmitter(ContractionContext& c)
      : c_(c),
        b_(c.b),
        d_(c.d),
        p_(c.d.pixels),
        height_(AxisOf(p_.spatial() == 2 ? 0 : kNone)),
        width_(AxisOf(p_.spatial() - 1)),
        epilogue_(c),
        loader_(c, 1) {}

  void Emit(Value* begin, Value* end) {
    const Dim lines = p_.spatial() == 2 ? p_.output[0] : Dim(1);
    Value* work = WorkOf(b_, I64(b_, d_.block_lines * p_.groups), width_.output);
    ForPolled(b_, begin, end, 1, WorkOf(b_, work, c_.depth), "unit", [&](Value* unit) {
      const std::vector<Value*> at =
          EmitUnflatten(c_, unit, {1, Dim::CeilDiv(lines, d_.block_lines)});
      Value* line = Mul(b_, at[1], d_.block_lines);
      Value* lines_inside = IsInside(height_, line, d_.block_lines);
      For(b_, I64(b_, 0), width_.output, d_.block_pixels, "block", [&](Value* x) {
        Value* inside = b_.CreateAnd(lines_inside, IsInside(width_, x, d_.block_pixels));
        const Block block{at[0], line, x};
        If(b_, inside, [&] { EmitBlock(block, false); }, [&] { EmitBlock(block, true); });
      });
    });
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  // One of the two axes of an image; of lines alone, the first has one position.
  struct ImageAxis {
    Value *input, *output;
    int64_t kernel, stride, padding, dilation;
  };
  struct Block {
    Value *image, *line, *x;  // of its first pixel
  };

  ImageAxis AxisOf(size_t axis) {
    if (axis == kNone) return {I64(b_, 1), I64(b_, 1), 1, 1, 0, 1};
    return {c_.emitter.EmitDim(p_.input[axis]),
            c_.emitter.EmitDim(p_.output[axis]),
            p_.kernel[axis],
            p_.stride[axis],
            p_.padding[axis],
            p_.dilation[axis]};
  }

  // How many positions of the input `count` of the output reach over.
  static int64_t Reach(const ImageAxis& axis, int64_t count) {
    return (count - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
  }
  Value* InputAt(const ImageAxis& axis, Value* at) {
    return Add(b_, Mul(b_, at, axis.stride), -axis.padding);
  }

  // Whether `count` positions from `at` on exist, and all that they reach.
  Value* IsInside(const ImageAxis& axis, Value* at, int64_t count) {
    Value* from = InputAt(axis, at);
    Value* end = Add(b_, from, Reach(axis, count));
    Value* exist = b_.CreateICmpSLE(Add(b_, at, count), axis.output);
    return b_.CreateAnd(
        exist, b_.CreateAnd(b_.CreateICmpSGE(from, I64(b_, 0)), b_.CreateICmpSLE(end, axis.input)));
  }

  // The tap that brings position `input` of a block's input to position `output` of its output; -1:
  // none does.
  static int64_t TapBetween(const ImageAxis& axis, int64_t input, int64_t output) {
    const int64_t distance = input - output * axis.stride;
    if (distance < 0 || distance % axis.dilation != 0) return -1;
    const int64_t tap = distance / axis.dilation;
    return tap < axis.kernel ? tap : -1;
  }

  // Which positions there are of what a block reaches; empty: all of them.
  struct Existing {
    std::vector<Value*> lines, pixels;  // i1
  };
  // `from` + i, or where that does not exist 0: a vector that is masked off costs hundreds of
  // cycles where its memory is not there.
  Value* PositionOf(Value* from, int64_t i, const std::vector<Value*>& exist) {
    Value* at = Add(b_, from, i);
    return exist.empty() ? at : b_.CreateSelect(exist[static_cast<size_t>(i)], at, I64(b_, 0));
  }
  std::vector<Value*> Below(Value* first, int64_t count, Value* extent) {
    std::vector<Value*> result;
    for (int64_t i = 0; i < count; ++i) {
      result.push_back(b_.CreateICmpULT(Add(b_, first, i), extent));
    }
    return result;
  }

  void EmitBlock(const Block& block, bool is_border) {
    Existing existing;
    if (is_border) {
      existing = {
          Below(InputAt(height_, block.line), Reach(height_, d_.block_lines), height_.input),
          Below(InputAt(width_, block.x), Reach(width_, d_.block_pixels), width_.input)};
    }
    const int64_t lanes = d_.lanes, whole = p_.groups / lanes * lanes;
    auto mask_of = [&](Value* channel) {
      return MaskBelow(b_, Sub(b_, I64(b_, p_.groups), channel), d_.lanes);
    };
    // Where masks cost nothing the last channels are no code of their own.
    const bool is_uniform = d_.target.masks && whole < p_.groups;
    For(b_, I64(b_, 0), I64(b_, is_uniform ? p_.groups : whole), lanes, "channel",
        [&](Value* channel) {
          EmitChannels(block, existing, channel, is_uniform ? mask_of(channel) : nullptr);
        });
    if (whole < p_.groups && !is_uniform) {
      EmitChannels(block, existing, I64(b_, whole), mask_of(I64(b_, whole)));
    }
  }

  // `lanes`, where both are there; null: everywhere.
  Value* MaskOf(const std::vector<Value*>& lines, int64_t line, const std::vector<Value*>& pixels,
                int64_t pixel, Value* lanes) {
    if (lines.empty()) return lanes;
    Value* both =
        b_.CreateAnd(lines[static_cast<size_t>(line)], pixels[static_cast<size_t>(pixel)]);
    Value* mask = b_.CreateVectorSplat(d_.lanes, both);
    return lanes ? b_.CreateAnd(mask, lanes) : mask;
  }

  // A vector of channels of the block.
  void EmitChannels(const Block& block, const Existing& existing, Value* channel, Value* lanes) {
    Value* zero = llvm::Constant::getNullValue(c_.vector);
    std::vector<Value*> sums(static_cast<size_t>(d_.block_lines * d_.block_pixels), zero);
    std::vector<Value*> weights(static_cast<size_t>(p_.taps()), nullptr);
    auto weight = [&](int64_t tap) {
      Value*& w = weights[static_cast<size_t>(tap)];
      if (!w) w = c_.LoadView(d_.a.view, channel, I64(b_, 0), I64(b_, tap), 0, lanes);
      return w;
    };
    for (int64_t row = 0; row < Reach(height_, d_.block_lines); ++row) {
      for (int64_t column = 0; column < Reach(width_, d_.block_pixels); ++column) {
        Value* data = nullptr;
        for (int64_t line = 0; line < d_.block_lines; ++line) {
          const int64_t ky = TapBetween(height_, row, line);
          for (int64_t pixel = 0; ky >= 0 && pixel < d_.block_pixels; ++pixel) {
            const int64_t kx = TapBetween(width_, column, pixel);
            if (kx < 0) continue;
            if (!data) {
              Value* mask = MaskOf(existing.lines, row, existing.pixels, column, lanes);
              data = LoadPixel(block, existing, row, column, channel, mask);
            }
            Value*& sum = sums[static_cast<size_t>(line * d_.block_pixels + pixel)];
            sum = MultiplyAdd(b_, weight(ky * width_.kernel + kx), data, sum, d_.rounds);
          }
        }
      }
    }
    if (d_.has_long_epilogue || !existing.lines.empty()) {
      return StoreByMemory(block, sums, channel, lanes);
    }
    for (int64_t line = 0; line < d_.block_lines; ++line) {
      for (int64_t pixel = 0; pixel < d_.block_pixels; ++pixel) {
        StorePixel(block, I64(b_, line), I64(b_, pixel), channel,
                   sums[static_cast<size_t>(line * d_.block_pixels + pixel)], lanes);
      }
    }
  }

  // What is computed of the sums is written once for all pixels, of those that there are.
  void StoreByMemory(const Block& block, const std::vector<Value*>& sums, Value* channel,
                     Value* lanes) {
    if (!memory_) {
      llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
      memory_ = llvm::IRBuilder<>(&entry, entry.begin())
                    .CreateAlloca(llvm::ArrayType::get(c_.vector, sums.size()));
    }
    for (size_t i = 0; i < sums.size(); ++i)
      b_.CreateStore(sums[i], At(b_, c_.vector, memory_, static_cast<int64_t>(i)));
    auto count = [&](const ImageAxis& axis, Value* first, int64_t most) {
      return Min(b_, Sub(b_, axis.output, first), I64(b_, most));
    };
    For(b_, I64(b_, 0), count(height_, block.line, d_.block_lines), 1, "out.line",
        [&](Value* line) {
          For(b_, I64(b_, 0), count(width_, block.x, d_.block_pixels), 1, "out.pixel",
              [&](Value* pixel) {
                Value* at = Add(b_, Mul(b_, line, d_.block_pixels), pixel);
                Value* sum = b_.CreateLoad(c_.vector, At(b_, c_.vector, memory_, at));
                StorePixel(block, line, pixel, channel, sum, lanes);
              });
        });
  }

  void StorePixel(const Block& block, Value* line, Value* pixel, Value* channel, Value* sum,
                  Value* lanes) {
    std::vector<Value*> outer = {block.image};
    if (p_.spatial() == 2) outer.push_back(Add(b_, block.line, line));
    outer.push_back(Add(b_, block.x, pixel));
    epilogue_.EmitVector(outer, channel, sum, lanes);
  }

  Value* LoadPixel(const Block& block, const Existing& existing, int64_t row, int64_t column,
                   Value* channel, Value* mask) {
    std::vector<Value*> index = {block.image};
    if (p_.spatial() == 2) {
      index.push_back(PositionOf(InputAt(height_, block.line), row, existing.lines));
    }
    index.push_back(PositionOf(InputAt(width_, block.x), column, existing.pixels));
    index.push_back(channel);
    return loader_.Load(index, mask);
  }

  ContractionContext& c_;
  Builder& b_;
  const ContractionDetail& d_;
  const PixelOperand& p_;
  ImageAxis height_, width_;
  EpilogueEmitter epilogue_;
  PixelLoader loader_;
  Value* memory_ = nullptr;  // a block's sums
};

}  // namespace

void EmitChannelBlocks(ContractionContext& c, Value* begin, Value* end) {
  ChannelBlockEmitter(c).Emit(begin, end);
}

}  // namespace relayvm::codegen

#include "kernels/codegen/contraction/winograd_parts.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/codegen/contraction/tile.h"
#include "kernels/codegen/contraction/winograd.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

llvm::Align FloatAlign() { return llvm::Align(sizeof(float)); }

llvm::FixedVectorType* Floats(Builder& b, unsigned lanes) {
  return VectorOf(b.getFloatTy(), lanes);
}
llvm::FixedVectorType* Words(Builder& b, unsigned lanes) { return VectorOf(b.getInt32Ty(), lanes); }
Value* FloatAt(Builder& b, Value* base, Value* index) { return At(b, b.getFloatTy(), base, index); }
Value* FloatAt(Builder& b, Value* base, int64_t index) { return FloatAt(b, base, I64(b, index)); }

// Calls the helper of that name with `args`, which `define` is given as parameters.
void CallHelper(Builder& b, const std::string& name, const Vectors& args,
                const std::function<void(Builder&, const Vectors&)>& define) {
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  llvm::Function* helper =
      GetOrDefineHelper(b, name, types, [&](Builder& builder, llvm::Function* function) {
        Vectors parameters;
        for (llvm::Argument& argument : function->args()) {
          if (argument.getType()->isPointerTy()) argument.addAttr(llvm::Attribute::NoAlias);
          parameters.push_back(&argument);
        }
        define(builder, parameters);
      });
  b.CreateCall(helper, args);
}

std::string NameOf(const char* part, const WinogradVectors& form) {
  return fmt::format("winograd_{}_{}x{}", part, form.tile, form.lanes);
}

Vectors ArgsOf(const WinogradData& data) {
  return {data.image, data.zeros, data.channels, data.height, data.width};
}
WinogradData DataOf(const Vectors& parameters) {
  return {parameters[0], parameters[1], parameters[2], parameters[3], parameters[4]};
}

Value* Larger(Builder& b, Value* x, Value* y) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, x, y);
}

// The lanes whose elements from `column` on are inside of a line.
Value* MaskOfLine(Builder& b, const WinogradVectors& form, Value* column, Value* width) {
  Value* before = b.CreateNeg(column);
  return b.CreateAnd(MaskBelow(b, Add(b, before, width), form.lanes),
                     b.CreateNot(MaskBelow(b, before, form.lanes)));
}

// Floats that are not negative are ordered as their bits are, NaN above all. What is usual is the
// mean of the logarithms of a sample's numbers, which few far ones hardly move; zeros tell nothing.
void DefineFarLimit(Builder& b, Value* limit, Value* data, Value* elements) {
  constexpr int64_t kSamples = 64;
  constexpr uint32_t kLogBits = 11, kShift = 31 - kLogBits;  // of a float's bits: 2^-3 octaves
  constexpr uint32_t kInfinite = 0xFFU << (kLogBits - 8);
  const uint32_t largest = (kInfinite << kShift) - 1;
  auto word = [&](uint32_t value) { return b.getInt32(value); };
  // The golden section of the image, so that a sample has all of its columns and channels.
  Value* step = Add(b, Mul(b, Div(b, elements, I64(b, 256)), 158), 1);
  step = b.CreateSelect(b.CreateICmpSLT(step, elements), step, I64(b, 1));
  const auto sums = ForCarried(
      b, I64(b, 0), I64(b, kSamples), 1, "sample", {Div(b, elements, I64(b, 2)), word(0), word(0)},
      [&](Value*, const Vectors& carried) -> Vectors {
        Value* at = b.CreateSelect(b.CreateICmpSLT(carried[0], elements), carried[0],
                                   Sub(b, carried[0], elements));
        Value* bits = b.CreateLoad(b.getInt32Ty(), FloatAt(b, data, at));
        Value* log = b.CreateLShr(b.CreateAnd(bits, word(0x7FFFFFFF)), word(kShift));
        Value* counts =
            b.CreateAnd(b.CreateICmpNE(log, word(0)), b.CreateICmpULT(log, word(kInfinite)));
        return {Add(b, at, step), b.CreateAdd(carried[1], b.CreateSelect(counts, log, word(0))),
                b.CreateAdd(carried[2], b.CreateZExt(counts, b.getInt32Ty()))};
      });
  Value* is_known = b.CreateICmpNE(sums[2], word(0));
  Value* mean = b.CreateUDiv(sums[1], b.CreateSelect(is_known, sums[2], word(1)));
  Value* far = b.CreateAdd(mean, word(static_cast<uint32_t>(kFarOctaves) << (kLogBits - 8)));
  Value* is_below = b.CreateAnd(is_known, b.CreateICmpULT(far, word(kInfinite)));
  b.CreateStore(b.CreateSelect(is_below, b.CreateShl(far, word(kShift)), word(largest)), limit);
}

// Lines of a transformed window that have much of the window in common.
std::vector<std::vector<size_t>> LineGroups(const WinogradVectors& form) {
  if (form.tile == 2) return {{0, 1, 2, 3}};
  return {{0}, {1, 2}, {3, 4}, {5}};
}

class WindowEmitter {
 public:
  WindowEmitter(Builder& b, const WinogradVectors& form, const WinogradData& data,
                const WinogradWindows& windows)
      : b_(b), form_(form), data_(data), windows_(windows), vector_(Floats(b, form.lanes)) {}

  void Emit() {
    const auto lanes = static_cast<int64_t>(form_.lanes);
    plane_ = Mul(b_, data_.height, data_.width);
    for (int64_t i = 0; i < form_.window(); ++i) {
      Value* at = Add(b_, windows_.row, i);
      inside_.push_back(b_.CreateICmpULT(at, data_.height));
      offsets_.push_back(Add(b_, Mul(b_, at, data_.width), windows_.column));
    }
    for (int64_t v = 0; v <= form_.tile; ++v)
      masks_.push_back(MaskOfLine(b_, form_, Add(b_, windows_.column, v * lanes), data_.width));
    store_mask_ = MaskBelow(b_, windows_.count, form_.lanes);
    llvm::Type* words = Words(b_, form_.lanes);
    const Vectors peaks = ForCarried(
        b_, I64(b_, 0), data_.channels, 1, "channel",
        Vectors(static_cast<size_t>(form_.tile) + 1, llvm::Constant::getNullValue(words)),
        [&](Value* channel, const Vectors& carried) { return Channel(channel, carried); });
    StoreFar(peaks);
  }

 private:
  Vectors Channel(Value* channel, Vectors peaks) {
    const auto window = static_cast<size_t>(form_.window());
    const auto tile = static_cast<size_t>(form_.tile);
    Value* plane = Mul(b_, channel, plane_);
    Vectors lines;
    for (size_t i = 0; i < window; ++i) {
      Value* line = FloatAt(b_, data_.image, Add(b_, offsets_[i], plane));
      lines.push_back(b_.CreateSelect(inside_[i], line, data_.zeros));
    }
    Value* to = FloatAt(b_, windows_.to, Mul(b_, channel, windows_.panel));
    // Few lines of transformed windows at a time are held in registers: lines are read again.
    for (const std::vector<size_t>& group : LineGroups(form_)) {
      std::vector<Vectors> transformed(group.size());
      for (size_t v = 0; v <= tile; ++v) {
        Vectors column;
        for (size_t i = 0; i < window; ++i) {
          column.push_back(b_.CreateMaskedLoad(
              vector_, FloatAt(b_, lines[i], static_cast<int64_t>(v) * form_.lanes), FloatAlign(),
              masks_[v], llvm::Constant::getNullValue(vector_)));
          if (group[0] == 0) peaks[v] = Larger(b_, peaks[v], Magnitude(column[i]));  // each once
        }
        const Vectors all = OfData(b_, form_.tile, column);
        for (size_t g = 0; g < group.size(); ++g) transformed[g].push_back(all[group[g]]);
      }
      for (size_t g = 0; g < group.size(); ++g) {
        const Vectors products = OfData(b_, form_.tile, TakeApart(b_, form_.tile, transformed[g]));
        for (size_t j = 0; j < window; ++j) {
          const auto product = static_cast<int64_t>(group[g] * window + j);
          StoreTiles(b_, form_, products[j], FloatAt(b_, to, product * windows_.stride),
                     store_mask_);
        }
      }
    }
    return peaks;
  }

  Value* Magnitude(Value* numbers) {
    llvm::Type* words = Words(b_, form_.lanes);
    return b_.CreateAnd(b_.CreateBitCast(numbers, words),
                        llvm::ConstantInt::get(words, 0x7FFFFFFF));
  }

  // Of each tile of the run, whether it is far: all bits of its word, or none. `peaks` are of each
  // column of its lines, in tile + 1 vectors, the largest bits without the sign.
  void StoreFar(const Vectors& peaks) {
    Vectors columns = TakeApart(b_, form_.tile, peaks);
    Value* peak = columns[0];
    for (size_t i = 1; i < columns.size(); ++i) peak = Larger(b_, peak, columns[i]);
    Value* limit =
        b_.CreateVectorSplat(form_.lanes, b_.CreateLoad(b_.getInt32Ty(), windows_.limit));
    Value* far = b_.CreateSExt(b_.CreateICmpUGT(peak, limit), Words(b_, form_.lanes));
    StoreTiles(b_, form_, b_.CreateBitCast(far, vector_), windows_.far, store_mask_);
  }

  Builder& b_;
  const WinogradVectors& form_;
  const WinogradData& data_;
  const WinogradWindows& windows_;
  llvm::FixedVectorType* vector_;
  Value *plane_ = nullptr, *store_mask_ = nullptr;
  Vectors inside_, offsets_, masks_;
};

// G's first and last lines hold the first and the last tap, the difference of a pair the middle
// one.
void DefineRestoredWeights(Builder& b, const WinogradVectors& form, int64_t rows,
                           const Vectors& parameters) {
  Value *to = parameters[0], *from = parameters[1], *stride = parameters[3];
  const int64_t last = form.window() - 1;
  const double middle = form.tile == 2 ? 1 : -1.5 / (2 * std::sqrt(0.5));
  const std::vector<int64_t> used = {0, 1, 2, last};
  auto taps = [&](const Vectors& u) -> Vectors {
    return {form.tile == 2 ? b.CreateFNeg(u[0]) : u[0],
            b.CreateFMul(b.CreateFSub(u[1], u[2]), ConstantLike(u[1], middle)), u[3]};
  };
  For(b, I64(b, 0), parameters[2], 1, "far.weight", [&](Value* channel) {
    Value* of_channel = FloatAt(b, from, Mul(b, channel, rows));
    std::vector<Vectors> lines;  // with their columns' taps
    for (int64_t i : used) {
      Vectors line;
      for (int64_t j : used) {
        Value* at = FloatAt(b, of_channel, Mul(b, stride, i * form.window() + j));
        line.push_back(b.CreateLoad(b.getFloatTy(), at));
      }
      lines.push_back(taps(line));
    }
    Value* to_channel = FloatAt(b, to, Mul(b, channel, 9));
    for (size_t x = 0; x < 3; ++x) {
      const Vectors column = taps({lines[0][x], lines[1][x], lines[2][x], lines[3][x]});
      for (size_t y = 0; y < 3; ++y)
        b.CreateStore(column[y], FloatAt(b, to_channel, static_cast<int64_t>(3 * y + x)));
    }
  });
}

void DefineFarLine(Builder& b, const WinogradVectors& form, const WinogradData& data, Value* to,
                   Value* weights, Value* row, Value* column) {
  const auto tile = static_cast<size_t>(form.tile);
  llvm::FixedVectorType* vector = Floats(b, form.lanes);
  Value* plane = Mul(b, data.height, data.width);
  const auto tap = [&](Value* line, Value* x, Value* weight, const Vectors& carried) {
    Vectors sums;
    Value* of_tap = b.CreateVectorSplat(form.lanes, b.CreateLoad(b.getFloatTy(), weight));
    for (size_t v = 0; v < tile; ++v) {
      Value* at = Add(b, x, static_cast<int64_t>(v) * form.lanes);
      Value* numbers =
          b.CreateMaskedLoad(vector, b.CreateGEP(b.getFloatTy(), line, at), FloatAlign(),
                             MaskOfLine(b, form, Add(b, column, at), data.width),
                             llvm::Constant::getNullValue(vector));
      sums.push_back(MultiplyAdd(b, numbers, of_tap, carried[v], false));
    }
    return sums;
  };
  const Vectors sums = ForCarried(
      b, I64(b, 0), data.channels, 1, "far.channel",
      Vectors(tile, llvm::Constant::getNullValue(vector)),
      [&](Value* channel, const Vectors& of_channels) {
        return ForCarried(
            b, I64(b, 0), I64(b, 3), 1, "far.y", of_channels,
            [&](Value* y, const Vectors& of_lines) {
              Value* at = Add(b, row, y);
              Value* offset =
                  Add(b, Add(b, Mul(b, channel, plane), Mul(b, at, data.width)), column);
              Value* line =
                  b.CreateSelect(b.CreateICmpULT(at, data.height),
                                 b.CreateGEP(b.getFloatTy(), data.image, offset), data.zeros);
              Value* of_line = FloatAt(b, weights, Add(b, Mul(b, channel, 9), Mul(b, y, 3)));
              return ForCarried(b, I64(b, 0), I64(b, 3), 1, "far.x", of_lines,
                                [&](Value* x, const Vectors& carried) {
                                  return tap(line, x, FloatAt(b, of_line, x), carried);
                                });
            });
      });
  for (size_t v = 0; v < tile; ++v) {
    b.CreateAlignedStore(sums[v], At(b, vector, to, static_cast<int64_t>(v)), FloatAlign());
  }
}

}  // namespace

void EmitFarLimit(Builder& b, Value* limit, Value* data, Value* elements) {
  CallHelper(b, "winograd_limit", {limit, data, elements},
             [](Builder& in, const Vectors& p) { DefineFarLimit(in, p[0], p[1], p[2]); });
}

void EmitWindows(Builder& b, const WinogradVectors& form, const WinogradData& data,
                 const WinogradWindows& windows) {
  Vectors args = ArgsOf(data);
  for (Value* arg :
       {windows.row, windows.column, windows.count, windows.to, windows.far, windows.limit}) {
    args.push_back(arg);
  }
  const std::string name =
      fmt::format("{}_{}_{}", NameOf("windows", form), windows.panel, windows.stride);
  CallHelper(b, name, args, [&](Builder& in, const Vectors& p) {
    const WinogradData data_in = DataOf(p);
    const WinogradWindows windows_in{p[5], p[6],  p[7],          p[8],
                                     p[9], p[10], windows.panel, windows.stride};
    WindowEmitter(in, form, data_in, windows_in).Emit();
  });
}

void EmitRestoredWeights(Builder& b, const WinogradVectors& form, Value* to, Value* from,
                         Value* channels, int64_t rows, Value* stride) {
  CallHelper(b, fmt::format("{}_{}", NameOf("weights", form), rows), {to, from, channels, stride},
             [&](Builder& in, const Vectors& p) { DefineRestoredWeights(in, form, rows, p); });
}

void EmitFarLine(Builder& b, const WinogradVectors& form, const WinogradData& data, Value* to,
                 Value* weights, Value* row, Value* column) {
  Vectors args = ArgsOf(data);
  for (Value* arg : {to, weights, row, column}) args.push_back(arg);
  CallHelper(b, NameOf("far", form), args, [&](Builder& in, const Vectors& p) {
    const WinogradData data_in = DataOf(p);
    DefineFarLine(in, form, data_in, p[5], p[6], p[7], p[8]);
  });
}

void StoreTiles(Builder& b, const WinogradVectors& form, Value* value, Value* pointer,
                Value* mask) {
  if (form.has_masks) {
    b.CreateMaskedStore(value, pointer, FloatAlign(), mask);
    return;
  }
  Value* old = b.CreateAlignedLoad(value->getType(), pointer, FloatAlign());
  b.CreateAlignedStore(b.CreateSelect(mask, value, old), pointer, FloatAlign());
}

}  // namespace relayvm::codegen

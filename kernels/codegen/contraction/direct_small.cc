// Lane g * W + x of vector j is pixel x of line j * lines + g of the output, W pixels wide. All
// lines of the input are loaded once, in whole vectors; what a tap multiplies is gathered from them
// in registers, with zeros where it lies outside.
#include "kernels/codegen/contraction/direct_small.h"

#include <algorithm>
#include <map>
#include <vector>

#include "kernels/codegen/contraction/direct_weights.h"
#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

class SmallEmitter {
 public:
  explicit SmallEmitter(ContractionContext& c)
      : c_(c),
        b_(c.b),
        d_(c.d),
        p_(c.d.pixels),
        lanes_(c.d.lanes),
        epilogue_(c),
        weights_(c),
        loader_(c, 1) {}

  void Emit(Value* begin, Value* end) {
    Value* work = I64(b_, p_.output[0].value() * p_.output[1].value() * p_.taps());
    ForPolled(b_, begin, end, 1, work, "unit", [&](Value* unit) {
      const std::vector<Value*> at = EmitUnflatten(c_, unit, {1, p_.groups});
      weights_.Bind(at[1]);
      data_ = loader_.Line({at[0], at[1], I64(b_, 0)});
      loaded_.clear();
      for (int64_t m = 0; m < d_.rows.value(); ++m) EmitOutput(at[0], at[1], m);
    });
  }

 private:
  // What a lane holds: a position of the input's image, zero, or anything.
  static constexpr int64_t kZero = -1, kAny = -2;

  void EmitOutput(Value* image, Value* group, int64_t m) {
    const int64_t height = p_.output[0].value(), width = p_.output[1].value();
    const int64_t lines = SmallLines(d_);
    std::vector<Value*> weights;
    for (int64_t k = 0; k < p_.taps(); ++k) {
      weights.push_back(b_.CreateVectorSplat(d_.lanes, weights_.Load(m, I64(b_, k))));
    }
    Value* channel = Add(b_, Mul(b_, group, d_.rows.value()), m);
    for (int64_t line = 0; line < height; line += lines) {
      Value* sum = llvm::Constant::getNullValue(c_.vector);
      for (int64_t k = 0; k < p_.taps(); ++k) {
        Value* values = Gather(Positions(line, k / p_.kernel[1], k % p_.kernel[1]));
        if (values) {
          sum = MultiplyAdd(b_, weights[static_cast<size_t>(k)], values, sum, d_.rounds);
        }
      }
      const int64_t count = std::min(lines, height - line) * width;
      Value* mask = count < lanes_ ? MaskBelow(b_, I64(b_, count), d_.lanes) : nullptr;
      epilogue_.EmitVector({image, channel}, I64(b_, line * width), sum, mask);
    }
  }

  // Of the input of all lanes of the vector that begins in the line, at a tap.
  std::vector<int64_t> Positions(int64_t line, int64_t ky, int64_t kx) const {
    const int64_t height = p_.input[0].value(), width = p_.input[1].value();
    const int64_t out_width = p_.output[1].value();
    std::vector<int64_t> positions(d_.lanes, kAny);
    const int64_t last = std::min(SmallLines(d_), p_.output[0].value() - line);
    for (int64_t lane = 0; lane < last * out_width; ++lane) {
      const int64_t y =
          (line + lane / out_width) * p_.stride[0] + ky * p_.dilation[0] - p_.padding[0];
      const int64_t x = lane % out_width * p_.stride[1] + kx * p_.dilation[1] - p_.padding[1];
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      positions[static_cast<size_t>(lane)] = inside ? y * width + x : kZero;
    }
    return positions;
  }

  // Where the vector that is loaded for a position begins: few different ones for all taps.
  int64_t BaseOf(int64_t position) const {
    const int64_t width = p_.input[1].value(), pixels = p_.input[0].value() * width;
    const int64_t column = position % width / lanes_ * lanes_;
    return std::max<int64_t>(std::min(position / width * width + column, pixels - lanes_), 0);
  }

  // The lanes' values; null where all are zero.
  Value* Gather(const std::vector<int64_t>& positions) {
    std::vector<int64_t> left;  // that no vector holds yet
    for (const int64_t position : positions) {
      if (position >= 0) left.push_back(position);
    }
    if (left.empty()) return nullptr;
    Value* zero = llvm::Constant::getNullValue(c_.vector);
    Value* result = nullptr;
    // Lanes of `result` that have their values are theirs, the others are poison.
    std::vector<bool> done(positions.size(), false);
    while (!left.empty()) {
      const int64_t base = BaseOf(*std::ranges::min_element(left));
      const auto in_vector = [&](int64_t p) { return p >= base && p < base + lanes_; };
      Value* source = LoadFrom(base);
      std::vector<int> from_source(positions.size(), llvm::PoisonMaskElem), both;
      for (size_t i = 0; i < positions.size(); ++i) {
        const auto lane = static_cast<int>(i);
        const bool here = !done[i] && in_vector(positions[i]);
        const int in_source = static_cast<int>(positions[i] - base);
        if (here) from_source[i] = in_source;
        both.push_back(done[i] ? lane
                       : here  ? static_cast<int>(lanes_) + in_source
                               : llvm::PoisonMaskElem);
        done[i] = done[i] || here;
      }
      std::erase_if(left, in_vector);
      // Alone, its zeros are lanes of another vector.
      const bool alone = result == nullptr && left.empty();
      for (size_t i = 0; alone && i < positions.size(); ++i) {
        if (positions[i] == kZero) from_source[i] = static_cast<int>(lanes_);
      }
      if (alone) return b_.CreateShuffleVector(source, zero, from_source);
      result = result == nullptr ? b_.CreateShuffleVector(source, from_source)
                                 : b_.CreateShuffleVector(result, source, both);
    }
    if (std::ranges::count(positions, kZero) == 0) return result;
    std::vector<llvm::Constant*> is_inside;
    for (const int64_t position : positions) is_inside.push_back(b_.getInt1(position != kZero));
    return b_.CreateSelect(llvm::ConstantVector::get(is_inside), result, zero);
  }

  // Lanes past the image are zero.
  Value* LoadFrom(int64_t base) {
    Value*& values = loaded_[base];
    if (values) return values;
    const llvm::Align align(c_.element_bytes);
    Value* pointer = At(b_, c_.element, data_, base);
    const int64_t pixels = p_.input[0].value() * p_.input[1].value();
    if (base + lanes_ <= pixels) {
      return values = b_.CreateAlignedLoad(c_.vector, pointer, align);
    }
    return values = b_.CreateMaskedLoad(c_.vector, pointer, align,
                                        MaskBelow(b_, I64(b_, pixels - base), d_.lanes),
                                        llvm::Constant::getNullValue(c_.vector));
  }

  ContractionContext& c_;
  Builder& b_;
  const ContractionDetail& d_;
  const PixelOperand& p_;
  const int64_t lanes_;
  EpilogueEmitter epilogue_;
  DirectWeights weights_;
  PixelLoader loader_;
  Value* data_ = nullptr;             // the image of the unit
  std::map<int64_t, Value*> loaded_;  // of it, by their first position
};

}  // namespace

void EmitSmall(ContractionContext& c, Value* begin, Value* end) {
  SmallEmitter(c).Emit(begin, end);
}

}  // namespace relayvm::codegen

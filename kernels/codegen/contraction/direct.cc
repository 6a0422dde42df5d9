#include "kernels/codegen/contraction/direct.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

class DirectEmitter {
 public:
  explicit DirectEmitter(ContractionContext& c)
      : c_(c),
        b_(c.b),
        d_(c.d),
        p_(c.d.pixels),
        epilogue_(c),
        loader_(c, c.d.pixels.channels_last ? 1 : c.d.pixels.stride.back()) {
    for (const Dim& extent : p_.input) input_.push_back(c.emitter.EmitDim(extent));
    for (const Dim& extent : p_.output) output_.push_back(c.emitter.EmitDim(extent));
    for (size_t dim = 0; dim < 3; ++dim) {
      weight_axes_.push_back(te::MakeAxis("w", d_.a.view->shape[dim]));
    }
    std::vector<te::Expr> indices;
    for (const te::Axis& axis : weight_axes_) indices.push_back(te::AxisValue(axis));
    weight_ = c.Keep(te::Load(d_.a.view, std::move(indices)));
  }

  void Emit(Value* begin, Value* end) {
    std::vector<Dim> lines(p_.output.begin(), p_.output.end() - 1);
    Value* work = WorkOf(b_, WorkOf(b_, I64(b_, 1), output_.back()), c_.depth);
    ForPolled(b_, begin, end, 1, work, "line", [&](Value* unit) {
      // (n, group, line...) or (n, line...)
      std::vector<Dim> extents = {1};
      if (!p_.channels_last) extents.push_back(p_.groups);
      extents.insert(extents.end(), lines.begin(), lines.end());
      std::vector<Value*> at = EmitUnflatten(c_, unit, extents);
      Value* group = p_.channels_last ? nullptr : at[1];
      std::vector<Value*> line(at.begin() + (p_.channels_last ? 1 : 2), at.end());
      if (p_.channels_last) {
        EmitLineOfChannels(at[0], line);
      } else {
        EmitLine(at[0], group, line);
      }
    });
  }

 private:
  // The taps of one axis that fall inside the input, for the output position `at`: first and
  // past-the-last.
  std::pair<Value*, Value*> TapRange(size_t axis, Value* at) {
    const int64_t kernel = p_.kernel[axis], dilation = p_.dilation[axis];
    Value* start = Add(b_, Mul(b_, at, p_.stride[axis]), -p_.padding[axis]);
    auto taps_before = [&](Value* distance) {  // ceil(distance / dilation), at least 0
      return CeilDiv(b_, Max(b_, distance, I64(b_, 0)), dilation);
    };
    Value* first = p_.padding[axis] == 0 ? I64(b_, 0) : taps_before(Sub(b_, I64(b_, 0), start));
    Value* last = Min(b_, I64(b_, kernel), taps_before(Sub(b_, input_[axis], start)));
    return {first, last};
  }

  // Calls body(positions, tap, sums) in loops over the taps of axes first.. that are in range,
  // carrying sums.
  using Sums = std::vector<Value*>;
  using TapBody =
      std::function<Sums(const std::vector<Value*>& positions, Value* tap, const Sums&)>;
  Sums ForTaps(size_t axis, size_t last_axis, const std::vector<Value*>& at,
               const std::vector<Value*>& positions, Value* tap, const Sums& sums,
               const TapBody& body) {
    if (axis == last_axis) return body(positions, tap, sums);
    auto [first, last] = TapRange(axis, at[axis]);
    return ForCarried(b_, first, last, 1, "tap", sums, [&](Value* k, const Sums& carried) {
      std::vector<Value*> next = positions;
      next.push_back(Add(b_, Mul(b_, at[axis], p_.stride[axis]),
                         Add(b_, Mul(b_, k, p_.dilation[axis]), -p_.padding[axis])));
      return ForTaps(axis + 1, last_axis, at, next, Add(b_, Mul(b_, tap, p_.kernel[axis]), k),
                     carried, body);
    });
  }

  // --- Channels first ---

  void EmitLine(Value* image, Value* group, const std::vector<Value*>& line) {
    const size_t w = p_.spatial() - 1;
    const int64_t outputs = d_.rows.value();
    int64_t vectors = std::max<int64_t>(1, 8 / outputs);
    vectors = std::min<int64_t>(vectors, 4);
    if (p_.output[w].is_const()) {
      vectors = std::min(vectors, (p_.output[w].value() + d_.lanes - 1) / d_.lanes);
    }
    vectors = std::max<int64_t>(vectors, 1);
    const int64_t chunk = vectors * d_.lanes;
    // Lane 0 of the first vector at the first tap, and the last element that an unmasked load could
    // touch.
    For(b_, I64(b_, 0), output_[w], chunk, "chunk", [&](Value* x) {
      Value* first = Add(b_, Mul(b_, x, p_.stride[w]), -p_.padding[w]);
      Value* reach = Add(b_, first, (p_.kernel[w] - 1) * p_.dilation[w] + chunk * p_.stride[w]);
      Value* inside =
          b_.CreateAnd(b_.CreateICmpSGE(first, I64(b_, 0)), b_.CreateICmpSLE(reach, input_[w]));
      Value* whole = b_.CreateICmpSLE(Add(b_, x, chunk), output_[w]);
      If(
          b_, b_.CreateAnd(inside, whole),
          [&] { EmitChunk(image, group, line, x, vectors, /*masked=*/false); },
          [&] { EmitChunk(image, group, line, x, vectors, /*masked=*/true); });
    });
  }

  void EmitChunk(Value* image, Value* group, const std::vector<Value*>& line, Value* x,
                 int64_t vectors, bool masked) {
    const size_t w = p_.spatial() - 1;
    const int64_t outputs = d_.rows.value();
    const unsigned lanes = d_.lanes;
    llvm::Type* i32 = b_.getInt32Ty();
    std::vector<llvm::Constant*> steps;
    for (unsigned i = 0; i < lanes; ++i) {
      steps.push_back(b_.getInt32(static_cast<uint32_t>(i * p_.stride[w])));
    }
    Value* lane_step = llvm::ConstantVector::get(steps);
    auto splat = [&](Value* v) { return b_.CreateVectorSplat(lanes, b_.CreateTrunc(v, i32)); };
    auto output_mask = [&](int64_t v) -> Value* {
      if (!masked) return nullptr;
      return MaskBelow(b_, Sub(b_, output_[w], Add(b_, x, v * lanes)), lanes);
    };
    auto taps_of_line = [&](Value* channel, const std::vector<Value*>& positions, Value* tap,
                            Sums sums) {
      auto one_tap = [&](Value* k, Sums carried) {
        std::vector<Value*> weights;
        Value* row = Add(b_, Mul(b_, tap, p_.kernel[w]), k);
        for (int64_t m = 0; m < outputs; ++m) {
          weights.push_back(b_.CreateVectorSplat(
              lanes, Weight(group, I64(b_, m), Add(b_, Mul(b_, channel, p_.taps()), row))));
        }
        for (int64_t v = 0; v < vectors; ++v) {
          Value* first = Add(b_, Mul(b_, Add(b_, x, v * lanes), p_.stride[w]),
                             Add(b_, Mul(b_, k, p_.dilation[w]), -p_.padding[w]));
          Value* mask = nullptr;
          if (masked) {
            Value* lane_x = b_.CreateAdd(splat(first), lane_step);
            mask = b_.CreateAnd(output_mask(v), b_.CreateICmpULT(lane_x, splat(input_[w])));
          }
          std::vector<Value*> index = {image, Add(b_, Mul(b_, group, p_.group_channels), channel)};
          index.insert(index.end(), positions.begin(), positions.end());
          index.push_back(first);
          Value* data = loader_.Load(index, mask);
          for (int64_t m = 0; m < outputs; ++m) {
            Value*& sum = carried[m * vectors + v];
            sum = MultiplyAdd(b_, weights[m], data, sum, d_.rounds);
          }
        }
        return carried;
      };
      // Usual widths are unrolled.
      if (p_.kernel[w] <= 7 && p_.plain) {
        for (int64_t k = 0; k < p_.kernel[w]; ++k) sums = one_tap(I64(b_, k), std::move(sums));
        return sums;
      }
      return ForCarried(b_, I64(b_, 0), I64(b_, p_.kernel[w]), 1, "tap", sums, one_tap);
    };
    Sums sums(outputs * vectors, llvm::Constant::getNullValue(c_.vector));
    sums = ForCarried(
        b_, I64(b_, 0), I64(b_, p_.group_channels), 1, "channel", sums,
        [&](Value* channel, const Sums& carried) {
          return ForTaps(0, w, line, {}, I64(b_, 0), carried,
                         [&](const std::vector<Value*>& positions, Value* tap, const Sums& inner) {
                           return taps_of_line(channel, positions, tap, inner);
                         });
        });
    for (int64_t m = 0; m < outputs; ++m) {
      std::vector<Value*> outer = {image, Add(b_, Mul(b_, group, outputs), m)};
      outer.insert(outer.end(), line.begin(), line.end());
      for (int64_t v = 0; v < vectors; ++v) {
        auto store = [&] {
          epilogue_.EmitVector(outer, Add(b_, x, v * lanes), sums[m * vectors + v], output_mask(v));
        };
        // Vectors past the end have no lane that is on.
        if (masked && v > 0) {
          If(b_, b_.CreateICmpSLT(Add(b_, x, v * lanes), output_[w]), store);
        } else {
          store();
        }
      }
    }
  }

  // Weight of (group, output channel of the group, k).
  Value* Weight(Value* group, Value* output, Value* k) {
    Value* const positions[3] = {group, output, k};
    for (size_t dim = 0; dim < 3; ++dim) {
      c_.emitter.BindAxis(weight_axes_[dim].get(), positions[dim]);
    }
    return c_.emitter.Emit(weight_);
  }

  // --- Channels last: one channel a group, vectors along the groups ---

  void EmitLineOfChannels(Value* image, const std::vector<Value*>& line) {
    const size_t w = p_.spatial() - 1;
    const int64_t whole = p_.groups / d_.lanes * d_.lanes;
    For(b_, I64(b_, 0), output_[w], 1, "pixel", [&](Value* x) {
      std::vector<Value*> at = line;
      at.push_back(x);
      auto channels_from = [&](Value* channel, int64_t vectors, Value* mask) {
        Sums sums(vectors, llvm::Constant::getNullValue(c_.vector));
        auto one_tap = [&](const std::vector<Value*>& positions, Value* tap, const Sums& carried) {
          Sums next;
          for (int64_t v = 0; v < vectors; ++v) {
            Value* at_channel = Add(b_, channel, v * d_.lanes);
            std::vector<Value*> index = {image};
            index.insert(index.end(), positions.begin(), positions.end());
            index.push_back(at_channel);
            Value* data = loader_.Load(index, mask);
            Value* weights = c_.LoadView(d_.a.view, at_channel, I64(b_, 0), tap, 0, mask);
            next.push_back(MultiplyAdd(b_, weights, data, carried[v], d_.rounds));
          }
          return next;
        };
        sums = ForTaps(0, p_.spatial(), at, {}, I64(b_, 0), sums, one_tap);
        std::vector<Value*> outer = {image};
        outer.insert(outer.end(), at.begin(), at.end());
        for (int64_t v = 0; v < vectors; ++v) {
          epilogue_.EmitVector(outer, Add(b_, channel, v * d_.lanes), sums[v], mask);
        }
      };
      // Several vectors hide the latency of a chain of FMAs over few taps.
      constexpr int64_t kVectors = 4;
      const int64_t lanes = d_.lanes;
      const int64_t blocks = p_.groups / (kVectors * lanes) * kVectors * lanes;
      For(b_, I64(b_, 0), I64(b_, blocks), kVectors * lanes, "channel",
          [&](Value* channel) { channels_from(channel, kVectors, nullptr); });
      For(b_, I64(b_, blocks), I64(b_, whole), lanes, "channel",
          [&](Value* channel) { channels_from(channel, 1, nullptr); });
      if (whole < p_.groups) {
        channels_from(I64(b_, whole), 1, MaskBelow(b_, I64(b_, p_.groups - whole), d_.lanes));
      }
    });
  }

  ContractionContext& c_;
  Builder& b_;
  const ContractionDetail& d_;
  const PixelOperand& p_;
  EpilogueEmitter epilogue_;
  PixelLoader loader_;
  std::vector<Value*> input_, output_;
  std::vector<te::Axis> weight_axes_;
  te::Expr weight_;
};

}  // namespace

void EmitDirectConvolution(ContractionContext& c, Value* begin, Value* end) {
  DirectEmitter(c).Emit(begin, end);
}

}  // namespace relayvm::codegen

// What comes after a quantised product: int32 sums become int8 and the like, bit by bit as the
// native definitions say (kernels/op/qnn_arithmetic.cc), which oneDNN's float scales do not. Plain
// loops, a channel's numbers each; several threads of a run's.
// Tested by quantised_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"

namespace relayvm::onednn {

// A ratio of scales: round(v * ratio) is (clamp(v, -limit, limit) * factor + half) >> shift.
struct FixedPoint {
  int64_t factor = 0, limit = 0, half = 0, shift = 0;
};
// Of numerator / denominator, for results of `out`.
FixedPoint FixedPointOf(float numerator, float denominator, DType out);

struct IntegerStep {
  // From kToFloats on values are of float32, until kToIntegers; each operation rounds.
  enum class Kind : uint8_t {
    kAdd,
    kRequantize,
    kClip,
    kCast,
    kSum,
    kDequantize,
    kToFloats,
    kAddFloats,
    kMultiplyFloats,
    kClipFloats,
    kSumFloats,
    kToIntegers
  };
  Kind kind = Kind::kAdd;
  // Of one element, or of as many as there are channels; of kSum of one.
  std::vector<int32_t> addend;    // kAdd
  std::vector<FixedPoint> ratio;  // kRequantize, kSum
  // Of kRequantize without zero_in, where each fits: a fast form of the same (Complete).
  std::vector<int32_t> factors, lowest, highest;
  std::vector<int64_t> halves, shifts, zeros;
  bool is_one = false;                     // they are one number, many times
  std::vector<int64_t> zero_in, zero_out;  // kRequantize, kSum; kDequantize has zero_in
  std::vector<float> scale;                // kDequantize; operands of floats
  float least = 0, greatest = 0;           // kClipFloats
  bool to_nearest = false;                 // kRequantize: halves away from zero, else up
  int64_t low = 0, high = 0;               // kClip; what a requantised value saturates to
  DType dtype = DType::kInt32;  // kCast, kToIntegers: to it; kSum, kSumFloats: of the other tensor
  FixedPoint other_ratio;       // kSum, of the other tensor
  int64_t other_zero = 0;
};

struct IntegerSteps {
  std::vector<IntegerStep> steps;  // kDequantize is the last; one takes the other tensor at most
  DType out = DType::kInt32;       // of what they give
  int64_t times = 1;               // that vectors have the channels' numbers, one after the other
};

// Repeats the numbers of few channels, and fills in fast forms. `channels`: of the vectors.
void Complete(IntegerSteps* steps, int64_t channels);

// Elements lie as [outer][channels][inner], in both.
struct ChannelLayout {
  int64_t outer = 1, channels = 1, inner = 1;
};
// `other`: of kSum and kSumFloats, lying as they do; null without.
void RunIntegerSteps(const IntegerSteps& steps, const ChannelLayout& layout, const int32_t* from,
                     const void* other, void* to);

}  // namespace relayvm::onednn

#include "vm/engines/dnnl/integer_steps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "vm/engines/dnnl/threads.h"

// The loops for each width of vectors, where the compiler and the linker choose among functions.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define ONEDNN_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define ONEDNN_VECTOR_CLONES
#endif

namespace relayvm::onednn {
namespace {

constexpr int64_t kBlock = 256;

// --- Of 32 bits ---

// What a value is requantised by.
struct ByNumbers {
  int32_t factor, lowest, highest;
  int64_t half, shift, zero;
};
inline __attribute__((always_inline)) int32_t Requantized(int32_t v, const ByNumbers& by,
                                                          int64_t away, int64_t low, int64_t high) {
  const int32_t clamped = std::min(std::max(v, by.lowest), by.highest);
  int64_t product = static_cast<int64_t>(clamped) * static_cast<int64_t>(by.factor);
  product -= product < 0 ? away : 0;
  const int64_t result = ((product + by.half) >> by.shift) + by.zero;
  return static_cast<int32_t>(std::min(std::max(result, low), high));
}
ONEDNN_VECTOR_CLONES void RequantizeOne(int32_t* __restrict v, int64_t n, const IntegerStep& step,
                                        int64_t first) {
  const auto k = static_cast<size_t>(first);
  const ByNumbers by = {step.factors[k], step.lowest[k], step.highest[k],
                        step.halves[k],  step.shifts[k], step.zeros[k]};
  const int64_t away = step.to_nearest ? 1 : 0, low = step.low, high = step.high;
  for (int64_t i = 0; i < n; ++i) v[i] = Requantized(v[i], by, away, low, high);
}
ONEDNN_VECTOR_CLONES void RequantizeEach(int32_t* __restrict v, int64_t n, const IntegerStep& step,
                                         int64_t first) {
  const int32_t* __restrict const factor = step.factors.data() + first;
  const int32_t* __restrict const lowest = step.lowest.data() + first;
  const int32_t* __restrict const highest = step.highest.data() + first;
  const int64_t* __restrict const half = step.halves.data() + first;
  const int64_t* __restrict const shift = step.shifts.data() + first;
  const int64_t* __restrict const zero = step.zeros.data() + first;
  const int64_t away = step.to_nearest ? 1 : 0, low = step.low, high = step.high;
  for (int64_t i = 0; i < n; ++i) {
    v[i] = Requantized(v[i], {factor[i], lowest[i], highest[i], half[i], shift[i], zero[i]}, away,
                       low, high);
  }
}
ONEDNN_VECTOR_CLONES void AddOne(int32_t* v, int64_t n, uint32_t addend) {
  for (int64_t i = 0; i < n; ++i) v[i] = static_cast<int32_t>(static_cast<uint32_t>(v[i]) + addend);
}
ONEDNN_VECTOR_CLONES void AddEach(int32_t* v, int64_t n, const int32_t* addends) {
  for (int64_t i = 0; i < n; ++i) {
    v[i] = static_cast<int32_t>(static_cast<uint32_t>(v[i]) + static_cast<uint32_t>(addends[i]));
  }
}
ONEDNN_VECTOR_CLONES void Clip(int32_t* v, int64_t n, int32_t low, int32_t high) {
  for (int64_t i = 0; i < n; ++i) v[i] = std::min(std::max(v[i], low), high);
}
template <typename T>
void Narrow(const int32_t* from, T* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
}
void Cast(int32_t* v, int64_t n, DType dtype) {
  if (dtype == DType::kInt32) return;
  for (int64_t i = 0; i < n; ++i) {
    v[i] = dtype == DType::kInt8 ? int32_t{static_cast<int8_t>(v[i])}
                                 : int32_t{static_cast<uint8_t>(v[i])};
  }
}

// --- Of any numbers ---

template <typename T>
const T& Of(const std::vector<T>& numbers, int64_t channel) {
  return numbers.size() == 1 ? numbers[0] : numbers[static_cast<size_t>(channel)];
}
int64_t Scaled(int64_t v, const FixedPoint& r, bool to_nearest) {
  int64_t product = std::min(std::max(v, -r.limit), r.limit) * r.factor;
  if (to_nearest && product < 0) --product;
  return (product + r.half) >> r.shift;
}

// Elements of a block: `at` is the place of the first, `first` its channel.
struct Block {
  int64_t at, n, first;
  bool advances;  // each is of the next channel

  int64_t channel(int64_t i) const { return first + (advances ? i : 0); }
};

void Requantize(const IntegerStep& step, const Block& b, int32_t* v) {
  if (!step.factors.empty()) {
    if (step.is_one) {
      RequantizeEach(v, b.n, step, 0);
    } else if (b.advances) {
      RequantizeEach(v, b.n, step, b.first);
    } else {
      RequantizeOne(v, b.n, step, b.first);
    }
    return;
  }
  for (int64_t i = 0; i < b.n; ++i) {
    const int64_t c = b.channel(i);
    const int64_t result =
        Scaled(int64_t{v[i]} - Of(step.zero_in, c), Of(step.ratio, c), step.to_nearest) +
        Of(step.zero_out, c);
    v[i] = static_cast<int32_t>(std::min(std::max(result, step.low), step.high));
  }
}

void Sum(const IntegerStep& step, const Block& b, const void* other, int32_t* v) {
  const auto* bytes = static_cast<const uint8_t*>(other) + b.at;
  const bool is_signed = step.dtype == DType::kInt8;
  for (int64_t i = 0; i < b.n; ++i) {
    const int64_t o = is_signed ? int64_t{static_cast<int8_t>(bytes[i])} : int64_t{bytes[i]};
    const int64_t result = Scaled(v[i] - step.zero_in[0], step.ratio[0], false) +
                           Scaled(o - step.other_zero, step.other_ratio, false) + step.zero_out[0];
    v[i] = static_cast<int32_t>(std::min(std::max(result, step.low), step.high));
  }
}

void Dequantize(const IntegerStep& step, const Block& b, const int32_t* v, float* to) {
  for (int64_t i = 0; i < b.n; ++i) {
    const int64_t c = b.channel(i);
    // The difference is exact in float64.
    to[i] = static_cast<float>(static_cast<double>(v[i] - Of(step.zero_in, c))) * Of(step.scale, c);
  }
}

// --- Of float32 ---

template <typename T>
void AddBytes(const IntegerStep& step, const T* other, int64_t n, float* v) {
  const float scale = step.scale[0];
  for (int64_t i = 0; i < n; ++i) v[i] += scale * static_cast<float>(other[i]);
}
void RunFloatStep(const IntegerStep& step, const Block& b, const void* other, float* v) {
  switch (step.kind) {
    case IntegerStep::Kind::kAddFloats:
      for (int64_t i = 0; i < b.n; ++i) v[i] += Of(step.scale, b.channel(i));
      break;
    case IntegerStep::Kind::kMultiplyFloats:
      for (int64_t i = 0; i < b.n; ++i) v[i] *= Of(step.scale, b.channel(i));
      break;
    case IntegerStep::Kind::kClipFloats:  // as kernels/op/unary.cc, NaN too
      for (int64_t i = 0; i < b.n; ++i) {
        const float below = v[i] < step.greatest ? v[i] : step.greatest;
        v[i] = below > step.least ? below : step.least;
      }
      break;
    default:  // kSumFloats
      if (step.dtype == DType::kInt8) {
        AddBytes(step, static_cast<const int8_t*>(other) + b.at, b.n, v);
      } else {
        AddBytes(step, static_cast<const uint8_t*>(other) + b.at, b.n, v);
      }
  }
}
// Toward zero, as native code does: to int32, whose ends are what is beyond them, 0 of NaN, and as
// many bits of it as the type has.
void ToIntegers(DType dtype, const float* from, int64_t n, int32_t* to) {
  for (int64_t i = 0; i < n; ++i) {
    const double v = std::isnan(from[i]) ? 0 : double{from[i]};
    to[i] = static_cast<int32_t>(std::min(std::max(v, double{INT32_MIN}), double{INT32_MAX}));
  }
  Cast(to, n, dtype);
}

void RunBlock(const IntegerSteps& steps, const int32_t* from, const void* other, void* out,
              const Block& b) {
  char* const to = static_cast<char*>(out) + b.at * DTypeBytes(steps.out);
  int32_t v[kBlock];
  float floats[kBlock];
  std::copy_n(from + b.at, b.n, v);
  for (const IntegerStep& step : steps.steps) {
    switch (step.kind) {
      case IntegerStep::Kind::kAdd:
        if (step.addend.size() == 1 || !b.advances) {
          AddOne(v, b.n, static_cast<uint32_t>(Of(step.addend, b.first)));
        } else {
          AddEach(v, b.n, step.addend.data() + b.first);
        }
        break;
      case IntegerStep::Kind::kRequantize:
        Requantize(step, b, v);
        break;
      case IntegerStep::Kind::kClip:
        Clip(v, b.n, static_cast<int32_t>(step.low), static_cast<int32_t>(step.high));
        break;
      case IntegerStep::Kind::kCast:
        Cast(v, b.n, step.dtype);
        break;
      case IntegerStep::Kind::kSum:
        Sum(step, b, other, v);
        break;
      case IntegerStep::Kind::kDequantize:
        Dequantize(step, b, v, reinterpret_cast<float*>(to));
        return;
      case IntegerStep::Kind::kToFloats:
        for (int64_t i = 0; i < b.n; ++i) floats[i] = static_cast<float>(v[i]);
        break;
      case IntegerStep::Kind::kToIntegers:
        ToIntegers(step.dtype, floats, b.n, v);
        break;
      default:
        RunFloatStep(step, b, other, floats);
    }
  }
  switch (steps.out) {
    case DType::kInt8:
      Narrow(v, reinterpret_cast<int8_t*>(to), b.n);
      break;
    case DType::kUInt8:
      Narrow(v, reinterpret_cast<uint8_t*>(to), b.n);
      break;
    case DType::kFloat32:
      std::copy_n(floats, b.n, reinterpret_cast<float*>(to));
      break;
    default:
      std::copy_n(v, b.n, reinterpret_cast<int32_t*>(to));
      break;
  }
}

}  // namespace

namespace {

template <typename T>
void Repeat(std::vector<T>* numbers, int64_t times) {
  const size_t n = numbers->size();
  if (n == 1) return;
  numbers->reserve(n * static_cast<size_t>(times));
  for (size_t i = n; i < n * static_cast<size_t>(times); ++i) numbers->push_back((*numbers)[i - n]);
}

void AddFastForm(IntegerStep* step) {
  for (const int64_t zero : step->zero_in) {
    if (zero != 0) return;
  }
  for (const FixedPoint& r : step->ratio) {
    if (r.factor < INT32_MIN || r.factor > INT32_MAX) return;
  }
  const size_t n = std::max(step->ratio.size(), step->zero_out.size());
  step->is_one = n == 1;
  for (size_t i = 0; i < (step->is_one ? size_t{kBlock} : n); ++i) {
    const FixedPoint& r = Of(step->ratio, static_cast<int64_t>(i));
    step->factors.push_back(static_cast<int32_t>(r.factor));
    step->lowest.push_back(static_cast<int32_t>(std::max<int64_t>(-r.limit, INT32_MIN)));
    step->highest.push_back(static_cast<int32_t>(std::min<int64_t>(r.limit, INT32_MAX)));
    step->halves.push_back(r.half);
    step->shifts.push_back(r.shift);
    step->zeros.push_back(Of(step->zero_out, static_cast<int64_t>(i)));
  }
}

}  // namespace

void Complete(IntegerSteps* steps, int64_t channels) {
  steps->times = channels > 0 ? std::max<int64_t>(kBlock / channels, 1) : 1;
  for (IntegerStep& step : steps->steps) {
    Repeat(&step.addend, steps->times);
    Repeat(&step.ratio, steps->times);
    Repeat(&step.zero_in, steps->times);
    Repeat(&step.zero_out, steps->times);
    Repeat(&step.scale, steps->times);
    if (step.kind == IntegerStep::Kind::kRequantize) AddFastForm(&step);
  }
}

// As frexp of the ratio in float64: a significand of 31 bits, and an exponent. Where the ratio is 0
// or next to it, nothing is left; where it is infinite, all but 0 saturates.
FixedPoint FixedPointOf(float numerator, float denominator, DType out) {
  constexpr int64_t kExponentBias = 1022;  // of a significand in [0.5, 1)
  constexpr int64_t kMostSteps = int64_t{3} << 30, kMostShift = 62, kNarrowBits = 28;
  const auto bits = std::bit_cast<int64_t>(double{numerator} / double{denominator});
  const auto half_to_one =
      std::bit_cast<double>((bits & ((int64_t{1} << 52) - 1)) | (kExponentBias << 52));
  const auto rounded = static_cast<int64_t>(std::round(half_to_one * 0x1p31));
  const bool overflows = rounded == int64_t{1} << 31;
  const int64_t exponent = (bits >> 52 & 0x7FF) - kExponentBias + (overflows ? 1 : 0);
  int64_t significand = overflows ? int64_t{1} << 30 : rounded;
  const bool is_number = (bits & INT64_MAX) <= int64_t{0x7FF} << 52;
  if (is_number && bits < 0) significand = -significand;
  if (exponent < 31 - kMostShift) significand = 0;
  const int64_t bits_before = DTypeBits(out) <= 16 ? kNarrowBits : 32;
  const int64_t left = std::clamp<int64_t>(exponent, 0, bits_before);
  FixedPoint f;
  f.factor = significand * (int64_t{1} << left);
  f.limit = std::min(((int64_t{1} << bits_before) >> left) << std::clamp<int64_t>(-exponent, 0, 8),
                     kMostSteps);
  f.shift = std::min(31 + std::max<int64_t>(-exponent, 0), kMostShift);
  f.half = int64_t{1} << (f.shift - 1);
  return f;
}

void RunIntegerSteps(const IntegerSteps& steps, const ChannelLayout& layout, const int32_t* from,
                     const void* other, void* to) {
  const bool advances = layout.inner == 1;
  const int64_t count = layout.outer * layout.channels * layout.inner;
  const int64_t row = advances ? layout.channels * steps.times : layout.inner;
  const int64_t rows = (count + row - 1) / row;  // the last one may be shorter
  ForEachPart(rows, row, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t first = r * row, n = std::min(row, count - first);
      for (int64_t i = 0; i < n; i += kBlock) {
        RunBlock(
            steps, from, other, to,
            {first + i, std::min(kBlock, n - i), advances ? i : r % layout.channels, advances});
      }
    }
  });
}

}  // namespace relayvm::onednn

#include "vm/engines/dnnl/integer_steps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "vm/engines/dnnl/threads.h"

// The loops for each width of vectors, where the compiler and the linker choose among functions.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ONEDNN_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define ONEDNN_VECTOR_CLONES
#endif

namespace relayvm::onednn {
namespace {

constexpr int64_t kBlock = 256;

ONEDNN_VECTOR_CLONES void Requantize(int64_t* v, int64_t n, const IntegerStep& step,
                                     const FixedPoint& r, int64_t zero_in, int64_t zero_out) {
  const int64_t away = step.to_nearest ? 1 : 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t clamped = std::min(std::max(v[i] - zero_in, -r.limit), r.limit);
    int64_t product = clamped * r.factor;
    product -= product < 0 ? away : 0;
    const int64_t result = ((product + r.half) >> r.shift) + zero_out;
    v[i] = std::min(std::max(result, step.low), step.high);
  }
}

// Each element has numbers of its own: the channels are innermost.
struct ByElement {
  int64_t factor[kBlock], limit[kBlock], half[kBlock], shift[kBlock];
  int64_t zero_in[kBlock], zero_out[kBlock];
};
ONEDNN_VECTOR_CLONES void RequantizeEach(int64_t* v, int64_t n, const IntegerStep& step,
                                         const ByElement& e) {
  const int64_t away = step.to_nearest ? 1 : 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t clamped = std::min(std::max(v[i] - e.zero_in[i], -e.limit[i]), e.limit[i]);
    int64_t product = clamped * e.factor[i];
    product -= product < 0 ? away : 0;
    const int64_t result = ((product + e.half[i]) >> e.shift[i]) + e.zero_out[i];
    v[i] = std::min(std::max(result, step.low), step.high);
  }
}

ONEDNN_VECTOR_CLONES void Widen(const int32_t* from, int64_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}
ONEDNN_VECTOR_CLONES void Clip(int64_t* v, int64_t n, int64_t low, int64_t high) {
  for (int64_t i = 0; i < n; ++i) v[i] = std::min(std::max(v[i], low), high);
}
int64_t Scaled(int64_t v, const FixedPoint& r) {
  return (std::min(std::max(v, -r.limit), r.limit) * r.factor + r.half) >> r.shift;
}
ONEDNN_VECTOR_CLONES void Sum(int64_t* v, const int64_t* other, int64_t n, const IntegerStep& step,
                              const FixedPoint& r, int64_t zero_in, int64_t zero_out) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t result =
        Scaled(v[i] - zero_in, r) + Scaled(other[i] - step.other_zero, step.other_ratio) + zero_out;
    v[i] = std::min(std::max(result, step.low), step.high);
  }
}
// Elements `at` .. at + n - 1 of bytes.
void WidenBytes(const void* from, DType dtype, int64_t at, int64_t* to, int64_t n) {
  const auto* bytes = static_cast<const uint8_t*>(from) + at;
  for (int64_t i = 0; i < n; ++i) {
    to[i] = dtype == DType::kInt8 ? int64_t{static_cast<int8_t>(bytes[i])} : int64_t{bytes[i]};
  }
}
void Cast(int64_t* v, int64_t n, DType dtype) {
  for (int64_t i = 0; i < n; ++i) {
    v[i] = dtype == DType::kInt8    ? int64_t{static_cast<int8_t>(v[i])}
           : dtype == DType::kUInt8 ? int64_t{static_cast<uint8_t>(v[i])}
                                    : int64_t{static_cast<int32_t>(v[i])};
  }
}
template <typename T>
void Narrow(const int64_t* from, T* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
}

template <typename T>
const T& Of(const std::vector<T>& numbers, int64_t channel) {
  return numbers.size() == 1 ? numbers[0] : numbers[static_cast<size_t>(channel)];
}

// `n` elements, of channel `first` and, where `advances`, the channels after it.
void RequantizeBlock(const IntegerStep& step, int64_t* v, int64_t n, int64_t first, bool advances) {
  const bool is_one = !advances || (step.ratio.size() == 1 && step.zero_in.size() == 1 &&
                                    step.zero_out.size() == 1);
  if (is_one) {
    Requantize(v, n, step, Of(step.ratio, first), Of(step.zero_in, first),
               Of(step.zero_out, first));
    return;
  }
  ByElement e;
  for (int64_t i = 0; i < n; ++i) {
    const FixedPoint& r = Of(step.ratio, first + i);
    e.factor[i] = r.factor;
    e.limit[i] = r.limit;
    e.half[i] = r.half;
    e.shift[i] = r.shift;
    e.zero_in[i] = Of(step.zero_in, first + i);
    e.zero_out[i] = Of(step.zero_out, first + i);
  }
  RequantizeEach(v, n, step, e);
}

void Dequantize(const IntegerStep& step, const int64_t* v, float* to, int64_t n, int64_t first,
                bool advances) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t c = first + (advances ? i : 0);
    // The difference is exact in float64.
    to[i] = static_cast<float>(static_cast<double>(v[i] - Of(step.zero_in, c))) * Of(step.scale, c);
  }
}

struct Block {
  int64_t at, n;  // elements
  int64_t first;  // channel of the first
  bool advances;  // each is of the next channel
};

void RunBlock(const IntegerSteps& steps, const int32_t* from, const void* other, void* out,
              const Block& block) {
  const auto [at, n, first, advances] = block;
  char* const to = static_cast<char*>(out) + at * DTypeBytes(steps.out);
  int64_t v[kBlock], o[kBlock];
  Widen(from + at, v, n);
  for (const IntegerStep& step : steps.steps) {
    switch (step.kind) {
      case IntegerStep::Kind::kAdd:
        for (int64_t i = 0; i < n; ++i) {  // wraps, as int32 does
          const auto sum = static_cast<uint32_t>(v[i]) +
                           static_cast<uint32_t>(Of(step.addend, first + (advances ? i : 0)));
          v[i] = static_cast<int32_t>(sum);
        }
        break;
      case IntegerStep::Kind::kRequantize:
        RequantizeBlock(step, v, n, first, advances);
        break;
      case IntegerStep::Kind::kClip:
        Clip(v, n, step.low, step.high);
        break;
      case IntegerStep::Kind::kCast:
        Cast(v, n, step.dtype);
        break;
      case IntegerStep::Kind::kSum:
        WidenBytes(other, step.dtype, at, o, n);
        Sum(v, o, n, step, step.ratio[0], step.zero_in[0], step.zero_out[0]);
        break;
      case IntegerStep::Kind::kDequantize:
        Dequantize(step, v, reinterpret_cast<float*>(to), n, first, advances);
        return;
    }
  }
  switch (steps.out) {
    case DType::kInt8:
      Narrow(v, reinterpret_cast<int8_t*>(to), n);
      break;
    case DType::kUInt8:
      Narrow(v, reinterpret_cast<uint8_t*>(to), n);
      break;
    default:
      Narrow(v, reinterpret_cast<int32_t*>(to), n);
      break;
  }
}

}  // namespace

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
  const int64_t row = advances ? layout.channels : layout.inner;
  const int64_t rows = advances ? layout.outer : layout.outer * layout.channels;
  ForEachPart(rows, row, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t i = 0; i < row; i += kBlock) {
        RunBlock(
            steps, from, other, to,
            {r * row + i, std::min(kBlock, row - i), advances ? i : r % layout.channels, advances});
      }
    }
  });
}

}  // namespace relayvm::onednn

// Running sums and products along an axis, in the output's dtype (halves round at every step).
// Tested by scan_test.cc.
#include <algorithm>

#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

struct Add {
  static constexpr int kIdentity = 0;
  template <typename T>
  static T Apply(T a, T b) {
    return WrapAdd(a, b);
  }
};

struct Multiply {
  static constexpr int kIdentity = 1;
  template <typename T>
  static T Apply(T a, T b) {
    return WrapMultiply(a, b);
  }
};

// One scan over neighbours: the sum so far stays in a register.
template <typename Op, typename T, typename Load>
void ScanLine(const CallArgs& args, const Load& load, T* out, int64_t first, int64_t n,
              bool exclusive) {
  T sum = FromArithmetic<T>(static_cast<Arithmetic<T>>(Op::kIdentity));
  args.InBlocks(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = first + begin; i < first + end; ++i) {
      const T before = sum;
      sum = FromArithmetic<T>(Op::Apply(ToArithmetic(sum), ToArithmetic(load(i))));
      out[i] = exclusive ? before : sum;
    }
  });
}

// Runs of `inner` neighbouring scans advance together, so that memory is read in order. load(i) is
// element i as T.
template <typename Op, typename T, typename Load>
void Scan(const CallArgs& args, const Load& load, T* out, const AxisSplit& s, bool exclusive) {
  if (s.inner == 1) {
    for (int64_t o = 0; o < s.outer; ++o) ScanLine<Op, T>(args, load, out, o * s.n, s.n, exclusive);
    return;
  }
  const T identity = FromArithmetic<T>(static_cast<Arithmetic<T>>(Op::kIdentity));
  constexpr int64_t kBlock = 1 << 14;  // elements between two polls
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t left = 0; left < s.inner; left += kBlock) {
      const int64_t right = std::min(s.inner, left + kBlock), rows = kBlock / (right - left);
      for (int64_t k = 0, polled = 0; k < s.n; ++k) {
        if (k == polled) {
          polled = std::min(s.n, k + rows);
          args.Work((polled - k) * (right - left));
        }
        const int64_t row = (o * s.n + k) * s.inner;
        for (int64_t i = left; i < right; ++i) {
          // Exclusive: the sum before this element; inclusive: with it.
          const int64_t at = exclusive ? row - s.inner + i : row + i;
          if (k == 0 && exclusive) {
            out[row + i] = identity;
            continue;
          }
          const T before = k == 0 ? identity : out[row - s.inner + i];
          out[row + i] = FromArithmetic<T>(Op::Apply(ToArithmetic(before), ToArithmetic(load(at))));
        }
      }
    }
  }
}

template <typename Op>
int32_t RunScan(const CallArgs& args) {
  const TensorView& in = args[0];
  const TensorView& out = args[1];
  const int64_t axis = args.param(0);
  const bool exclusive = args.param(1) != 0;
  // Over all elements the result is flat.
  if (axis < 0 ? out.size() != in.size() : !SameDims(in, out)) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  if (in.size() == 0) return RELAYVM_KERNEL_OK;
  const AxisSplit split =
      axis < 0 ? AxisSplit{1, in.size(), 1} : SplitAt(in, static_cast<int>(axis));
  DispatchDType(out.dtype, [&]<typename T>() {
    if (in.dtype == out.dtype) {
      Scan<Op, T>(
          args, [&](int64_t i) { return in.as<const T>()[i]; }, out.as<T>(), split, exclusive);
    } else {
      Scan<Op, T>(
          args, [&](int64_t i) { return LoadAs<T>(in, i); }, out.as<T>(), split, exclusive);
    }
  });
  return RELAYVM_KERNEL_OK;
}

}  // namespace

int32_t CumSum(const CallArgs& args) { return RunScan<Add>(args); }
int32_t CumProd(const CallArgs& args) { return RunScan<Multiply>(args); }

}  // namespace relayvm

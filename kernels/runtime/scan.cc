// Running sums and products along an axis, in the output's dtype (halves round at every step). Tested by scan_test.cc.
#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

struct Add {
  static constexpr int kIdentity = 0;
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return static_cast<T>(a + b);
    }
  }
};

struct Multiply {
  static constexpr int kIdentity = 1;
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return static_cast<T>(a * b);
    }
  }
};

// Runs of `inner` neighbouring scans advance together, so that memory is read in order.
template <typename Op, typename T>
void Scan(const TensorView& in, T* out, const AxisSplit& s, bool exclusive) {
  const T identity = FromArithmetic<T>(static_cast<Arithmetic<T>>(Op::kIdentity));
  const auto apply = [](T a, T b) {
    return FromArithmetic<T>(Op::Apply(ToArithmetic(a), ToArithmetic(b)));
  };
  DispatchDType(in.dtype, [&]<typename In>() {
    const In* data = in.as<const In>();
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t k = 0; k < s.n; ++k) {
        const int64_t row = (o * s.n + k) * s.inner;
        for (int64_t i = 0; i < s.inner; ++i) {
          // Exclusive: the sum before this element; inclusive: with it.
          const T before = k == 0 ? identity : out[row - s.inner + i];
          if (!exclusive) {
            out[row + i] = apply(before, ConvertElement<T>(data[row + i]));
          } else {
            out[row + i] =
                k == 0 ? identity : apply(before, ConvertElement<T>(data[row - s.inner + i]));
          }
        }
      }
    }
  });
}

template <typename Op>
int32_t RunScan(const CallArgs& args) {
  const TensorView& in = args[0];
  const TensorView& out = args[1];
  const int64_t axis = args.param(0);
  const AxisSplit split = axis < 0 ? AxisSplit{1, in.size(), 1} : SplitAt(in, static_cast<int>(axis));
  DispatchDType(out.dtype, [&]<typename T>() {
    Scan<Op, T>(in, out.as<T>(), split, args.param(1) != 0);
  });
  return RELAYVM_KERNEL_OK;
}

}  // namespace

int32_t CumSum(const CallArgs& args) { return RunScan<Add>(args); }
int32_t CumProd(const CallArgs& args) { return RunScan<Multiply>(args); }

}  // namespace relayvm

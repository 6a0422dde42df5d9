// Running sums and products along an axis, in the output's dtype (halves round at every step).
// Tested by scan_test.cc.
#include <algorithm>
#include <array>
#include <cstring>

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

// Elements first..first+n-1 as T, in `room`, which is large enough.
template <typename T>
[[gnu::noinline]] const T* Converted(const TensorView& in, int64_t first, int64_t n, T* room) {
  for (int64_t i = 0; i < n; ++i) room[i] = LoadAs<T>(in, first + i);
  return room;
}

// The next row of neighbouring scans. Runs of constant length, which become vectors.
template <typename Op, typename T>
[[gnu::noinline]] void Advance(const T* __restrict before, const T* __restrict in,
                               T* __restrict out, int64_t width) {
  constexpr int64_t kRun = 16;
  const auto one = [&](int64_t i) {
    out[i] = FromArithmetic<T>(Op::Apply(ToArithmetic(before[i]), ToArithmetic(in[i])));
  };
  int64_t i = 0;
  for (; i + kRun <= width; i += kRun) {
    for (int64_t j = 0; j < kRun; ++j) one(i + j);
  }
  for (; i < width; ++i) one(i);
}

// A few neighbouring scans through rows that are neighbours too: one after the other, each in a
// register.
template <typename Op, typename T>
[[gnu::noinline]] void AdvanceFew(T* sums, const T* in, T* out, int64_t width, int64_t rows,
                                  bool exclusive) {
  for (int64_t i = 0; i < width; ++i) {
    T sum = sums[i];
    for (int64_t j = i; j < rows * width; j += width) {
      const T before = sum;
      sum = FromArithmetic<T>(Op::Apply(ToArithmetic(sum), ToArithmetic(in[j])));
      out[j] = exclusive ? before : sum;
    }
    sums[i] = sum;
  }
}

// Few neighbouring scans, and what is converted, go through a block at a time. Of many, rows
// advance together from the row before, which is still near: memory is read and written once, in
// order.
template <typename Op, typename T>
void Scan(const CallArgs& args, const TensorView& in, const TensorView& to, const AxisSplit& s,
          bool exclusive) {
  constexpr int64_t kBlock = 4096 / sizeof(T), kFew = 16, kBetweenPolls = 1 << 14;
  const T identity = FromArithmetic<T>(static_cast<Arithmetic<T>>(Op::kIdentity));
  const bool is_few = s.inner < kFew, converts = in.dtype != to.dtype;
  const int64_t block = converts ? kBlock : kBetweenPolls;
  std::array<T, kBlock> before, room;
  const auto load = [&](int64_t at, int64_t n) {
    return converts ? Converted<T>(in, at, n, room.data()) : in.as<const T>() + at;
  };
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t left = 0; left < s.inner; left += block) {
      const int64_t width = std::min(s.inner - left, block), first = o * s.n * s.inner + left;
      before.fill(identity);
      T* out = to.as<T>() + first;
      if (is_few) {
        const int64_t step = block / width;
        for (int64_t k = 0; k < s.n; k += step) {
          const int64_t rows = std::min(step, s.n - k), at = k * width;
          args.Work(rows * width);
          AdvanceFew<Op>(before.data(), load(first + at, rows * width), out + at, width, rows,
                         exclusive);
        }
        continue;
      }
      int64_t at = first, paid = 0;
      for (int64_t k = 0; k < s.n; ++k, out += s.inner) {
        if (k >= paid) {
          const int64_t rows = std::min(s.n - k, kBetweenPolls / width);
          args.Work(rows * width);
          paid = k + rows;
        }
        if (k == 0 && exclusive) {
          std::fill_n(out, width, identity);
          continue;
        }
        if (k > 0) {
          Advance<Op>(out - s.inner, load(at, width), out, width);
        } else {
          for (int64_t i = 0; i < width; i += kBlock) {
            const int64_t n = std::min(kBlock, width - i);
            Advance<Op>(before.data(), load(at + i, n), out + i, n);
          }
        }
        at += s.inner;
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
  DispatchDType(out.dtype, [&]<typename T>() { Scan<Op, T>(args, in, out, split, exclusive); });
  return RELAYVM_KERNEL_OK;
}

}  // namespace

int32_t CumSum(const CallArgs& args) { return RunScan<Add>(args); }
int32_t CumProd(const CallArgs& args) { return RunScan<Multiply>(args); }

}  // namespace relayvm

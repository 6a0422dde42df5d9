// Running sums and products along an axis, from its begin or its end, in the output's dtype (halves round at every step).
// Tested by scan_test.cc.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

struct Add {
  static constexpr int kIdentity = 0;
  template <typename T>
  static T Apply(T a, T b) {
    return WrapAdd(a, b);
  }
  template <typename V>
  static V OfVectors(V a, V b) {
    return a + b;
  }
};

struct Multiply {
  static constexpr int kIdentity = 1;
  template <typename T>
  static T Apply(T a, T b) {
    return WrapMultiply(a, b);
  }
  template <typename V>
  static V OfVectors(V a, V b) {
    return a * b;
  }
};

// Elements first..first+n-1 as T, in `room`, which is large enough.
template <typename T>
[[gnu::noinline]] const T* Converted(const TensorView& in, int64_t first, int64_t n, T* room) {
  for (int64_t i = 0; i < n; ++i) room[i] = LoadAs<T>(in, first + i);
  return room;
}

// Rows of neighbouring scans, whose sums so far are `sums`. Steps: elements from a row to the next
// one, less than 0 where scans run backwards.
template <typename T>
struct Rows {
  const T* in;
  int64_t in_step;
  T* out;
  int64_t out_step;
  int64_t count;
};

// So many vectors of columns, their sums in registers.
template <typename Op, bool kExclusive, size_t kVectors, typename T>
void AdvanceVectors(T* sums, Rows<T> rows) {
  using Number =
      std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  using Vector [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = Number;
  constexpr int64_t kLanes = 16 / sizeof(T);
  const auto at = [](auto* p, size_t k) { return p + static_cast<int64_t>(k) * kLanes; };
  [&]<size_t... kVector>(std::index_sequence<kVector...>) {
    Vector run[] = {*reinterpret_cast<const Vector*>(at(sums, kVector))...};
    const auto one = [&](Vector& sum, size_t k) {
      const Vector before = sum;
      sum = Op::OfVectors(before, *reinterpret_cast<const Vector*>(at(rows.in, k)));
      *reinterpret_cast<Vector*>(at(rows.out, k)) = kExclusive ? before : sum;
    };
    for (; rows.count > 0; --rows.count) {
      (one(run[kVector], kVector), ...);
      rows.in += rows.in_step;
      rows.out += rows.out_step;
    }
    ((*reinterpret_cast<Vector*>(at(sums, kVector)) = run[kVector]), ...);
  }(std::make_index_sequence<kVectors>());
}

template <typename Op, bool kExclusive, typename T>
[[gnu::noinline]] void Advance(T* sums, const Rows<T>& rows, int64_t width) {
  int64_t i = 0;
  if constexpr (std::is_arithmetic_v<T>) {
    // A few rows at once: so many streams are read and written side by side.
    constexpr int64_t kLine = 64 / sizeof(T), kVector = 16 / sizeof(T), kSideBySide = 4;
    for (int64_t row = 0; row < rows.count; row += kSideBySide) {
      const int64_t count = std::min(kSideBySide, rows.count - row);
      const T* from = rows.in + row * rows.in_step;
      T* to = rows.out + row * rows.out_step;
      const auto here = [&] {
        return Rows<T>{from + i, rows.in_step, to + i, rows.out_step, count};
      };
      for (i = 0; i + kLine <= width; i += kLine)
        AdvanceVectors<Op, kExclusive, 4>(sums + i, here());
      for (; i + kVector <= width; i += kVector)
        AdvanceVectors<Op, kExclusive, 1>(sums + i, here());
    }
  }
  for (; i < width; ++i) {
    T sum = sums[i];
    const T* from = rows.in + i;
    T* to = rows.out + i;
    for (int64_t row = 0; row < rows.count; ++row, from += rows.in_step, to += rows.out_step) {
      const T before = sum;
      sum = FromArithmetic<T>(Op::Apply(ToArithmetic(before), ToArithmetic(*from)));
      *to = kExclusive ? before : sum;
    }
    sums[i] = sum;
  }
}

// Blocks of neighbouring scans, in turns of as many rows as stay near.
template <typename Op, typename T>
void Scan(const CallArgs& args, const TensorView& in, const TensorView& to, const AxisSplit& s,
          bool exclusive, bool reversed) {
  constexpr int64_t kBlock = 4096 / sizeof(T), kNear = 4 * kBlock;
  const T identity = FromArithmetic<T>(static_cast<Arithmetic<T>>(Op::kIdentity));
  const bool converts = in.dtype != to.dtype;
  const auto advance = exclusive ? Advance<Op, true, T> : Advance<Op, false, T>;
  std::array<T, kBlock> sums, room;
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t left = 0; left < s.inner; left += kBlock) {
      const int64_t width = std::min(s.inner - left, kBlock);
      std::fill_n(sums.begin(), width, identity);
      // What is converted is so row by row, or several where they are neighbours.
      const int64_t most = converts ? (width == s.inner ? kBlock / width : 1) : kNear / width;
      for (int64_t done = 0; done < s.n; done += most) {
        const int64_t rows = std::min(most, s.n - done);
        const int64_t first = reversed ? s.n - done - rows : done;  // of these rows
        const int64_t start = reversed ? first + rows - 1 : first;
        const int64_t at = (o * s.n + first) * s.inner + left;
        args.Work(rows * width);
        const T* from =
            converts ? Converted<T>(in, at, rows * width, room.data()) : in.as<const T>() + at;
        const int64_t direction = reversed ? -1 : 1, of_row = converts ? width : s.inner;
        advance(sums.data(),
                {from + (start - first) * of_row, direction * of_row,
                 to.as<T>() + (o * s.n + start) * s.inner + left, direction * s.inner, rows},
                width);
      }
    }
  }
}

template <typename Op>
int32_t RunScan(const CallArgs& args, bool reversed) {
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
  DispatchDType(out.dtype,
                [&]<typename T>() { Scan<Op, T>(args, in, out, split, exclusive, reversed); });
  return RELAYVM_KERNEL_OK;
}

}  // namespace

int32_t CumSum(const CallArgs& args) { return RunScan<Add>(args, false); }
int32_t CumProd(const CallArgs& args) { return RunScan<Multiply>(args, false); }
int32_t CumSumReversed(const CallArgs& args) { return RunScan<Add>(args, true); }
int32_t CumProdReversed(const CallArgs& args) { return RunScan<Multiply>(args, true); }

}  // namespace relayvm

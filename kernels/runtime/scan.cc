// Running sums and products along an axis, from its begin or its end, in the output's dtype (halves
// round at every step). Tested by scan_test.cc.
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

// Rows of neighbouring scans. The sums so far are the row of the result that was written before
// these. Steps: elements from a row to the next one, less than 0 where scans run backwards.
template <typename T>
struct Rows {
  const T* in;
  int64_t in_step;
  const T* sums;
  T* out;
  int64_t out_step;
  int64_t count;

  Rows At(int64_t column) const {
    return {in + column, in_step, sums + column, out + column, out_step, count};
  }
};

// So many vectors of columns of some rows, or of one, their sums in registers.
template <typename Op, size_t kVectors, bool kOneRow = false, typename T>
void AdvanceVectors(Rows<T> rows) {
  using Vector [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = T;
  constexpr int64_t kLanes = 16 / sizeof(T);
  const auto at = [](auto* p, size_t k) { return p + static_cast<int64_t>(k) * kLanes; };
  [&]<size_t... kVector>(std::index_sequence<kVector...>) {
    Vector sums[] = {*reinterpret_cast<const Vector*>(at(rows.sums, kVector))...};
    const auto one = [&](Vector& sum, size_t k) {
      sum = Op::OfVectors(sum, *reinterpret_cast<const Vector*>(at(rows.in, k)));
      *reinterpret_cast<Vector*>(at(rows.out, k)) = sum;
    };
    do {
      (one(sums[kVector], kVector), ...);
      rows.in += rows.in_step;
      rows.out += rows.out_step;
    } while (!kOneRow && --rows.count > 0);
  }(std::make_index_sequence<kVectors>());
}

// So many rows at a time: one row in so many is read again.
template <typename Op, typename T>
[[gnu::noinline]] void Advance(const Rows<T>& rows, int64_t width, int64_t at_once) {
  int64_t i = 0;
  if constexpr (std::is_arithmetic_v<T>) {
    constexpr int64_t kLine = 64 / sizeof(T), kVector = 16 / sizeof(T);
    Rows<T> now = rows;
    for (int64_t row = 0; row < rows.count; row += at_once) {
      now.count = std::min(at_once, rows.count - row);
      i = 0;
      if (at_once == 1) {
        for (; i + kLine <= width; i += kLine) AdvanceVectors<Op, 4, true>(now.At(i));
      }
      for (; i + kLine <= width; i += kLine) AdvanceVectors<Op, 4>(now.At(i));
      for (; i + kVector <= width; i += kVector) AdvanceVectors<Op, 1>(now.At(i));
      now.in += at_once * rows.in_step;
      now.out += at_once * rows.out_step;
      now.sums = now.out - rows.out_step;
    }
  }
  for (; i < width; ++i) {
    const Rows<T> column = rows.At(i);
    T sum = *column.sums;
    const T* from = column.in;
    T* to = column.out;
    for (int64_t row = 0; row < rows.count; ++row, from += rows.in_step, to += rows.out_step) {
      sum = FromArithmetic<T>(Op::Apply(ToArithmetic(sum), ToArithmetic(*from)));
      *to = sum;
    }
  }
}

// Integers wrap, so that those with a sign are summed as those without.
template <typename T>
using Summed =
    std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
template <typename T>
using Conversion = const T* (*)(const TensorView& in, int64_t first, int64_t n, T* room);

// Blocks of neighbouring scans, in turns of as many rows as stay near. A block is of several pages:
// so the processor reads ahead of it. One that is exclusive is one that begins a row late.
template <typename Op, typename T>
void Scan(const CallArgs& args, const TensorView& in, const TensorView& to, const AxisSplit& s,
          bool exclusive, bool reversed, Conversion<T> converted) {
  constexpr int64_t kRoom = 4096 / sizeof(T), kBlock = 8 * kRoom;
  const T identity = FromArithmetic<T>(static_cast<Arithmetic<T>>(Op::kIdentity));
  const bool converts = in.dtype != to.dtype;
  const int64_t block = converts ? kRoom : kBlock;
  const int64_t direction = reversed ? -1 : 1, late = exclusive ? 1 : 0;
  // Long rows that stay near the processor are fastest as one stream; backwards, short ones, and
  // those in memory several side by side.
  const int64_t row_bytes = s.inner * int64_t{sizeof(T)};
  const bool streams = !reversed && row_bytes >= 1024 && row_bytes <= (6 << 20) / s.n;
  const int64_t at_once = streams ? 1 : 4;
  std::array<T, kRoom> room;
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t left = 0; left < s.inner; left += block) {
      const int64_t width = std::min(s.inner - left, block);
      // Where row `row` in the scans' order is.
      const auto at = [&](int64_t row) {
        return (o * s.n + (reversed ? s.n - 1 - row : row)) * s.inner + left;
      };
      args.Work(width);
      std::fill_n(to.as<T>() + at(0), width, identity);
      // What is converted is so row by row, or several where they are neighbours.
      const int64_t most = !converts          ? std::max<int64_t>(block / width, 4)
                           : width == s.inner ? block / width
                                              : 1;
      for (int64_t done = late; done < s.n; done += most) {
        const int64_t rows = std::min(most, s.n - done);
        args.Work(rows * width);
        const int64_t first = done - late;  // row of `in`
        int64_t step = direction * s.inner;
        const T* from;
        if (!converts) {
          from = in.as<const T>() + at(first);
        } else {
          from = converted(in, at(reversed ? first + rows - 1 : first), rows * width, room.data());
          step = direction * width;
          if (reversed) from += (rows - 1) * width;
        }
        T* const out = to.as<T>() + at(done);
        const T* const sums = done == 0 ? out : out - direction * s.inner;
        Advance<Op, T>({from, step, sums, out, direction * s.inner, rows}, width, at_once);
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
  DispatchDType(out.dtype, [&]<typename T>() {
    const auto converted = [](const TensorView& from, int64_t first, int64_t n, Summed<T>* room) {
      return reinterpret_cast<const Summed<T>*>(
          Converted<T>(from, first, n, reinterpret_cast<T*>(room)));
    };
    Scan<Op, Summed<T>>(args, in, out, split, exclusive, reversed, converted);
  });
  return RELAYVM_KERNEL_OK;
}

}  // namespace

int32_t CumSum(const CallArgs& args) { return RunScan<Add>(args, false); }
int32_t CumProd(const CallArgs& args) { return RunScan<Multiply>(args, false); }
int32_t CumSumReversed(const CallArgs& args) { return RunScan<Add>(args, true); }
int32_t CumProdReversed(const CallArgs& args) { return RunScan<Multiply>(args, true); }

}  // namespace relayvm

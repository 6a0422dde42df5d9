// Averages over the samples of roi_align's bins. A sample lies between four pixels, whose weights
// are products of one for the row and one for the column, and a bin's samples are a grid. So a
// bin's sum is that over its rows, each with a weight, of that over its columns, and no pixel is
// read twice.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include "kernels/runtime/kernels.h"

namespace relayvm {

// The samples or pixels of a bin that are looked at without a poll.
constexpr int64_t kBinAtOnce = 1 << 12;

// The two pixels that a sample lies between along one axis, and their weights. Outside: beyond one
// pixel outside the map, where the value is 0.
template <typename R>
struct Between {
  int64_t near = 0, far = 0;  // in elements, from the map's first one
  R near_weight = 0, far_weight = 0;
  bool is_outside = true;
};

// What each bin takes along one axis: pixels, and the sum of the weights that its samples give
// them.
template <typename R>
class BinTaps {
 public:
  struct Tap {
    int64_t at;  // in elements, from the map's first one
    R weight;
  };

  explicit BinTaps(const CallArgs& args)
      : args_(args), taps_(args.NewVector<Tap>()), ends_(args.NewVector<int64_t>()) {}

  // Of `per_bin` samples for each of `bins` bins.
  void Merge(const KernelVector<Between<R>>& samples, int64_t bins, int64_t per_bin) {
    taps_.clear();
    ends_.clear();
    first_ = last_ = 0;
    for (int64_t b = 0; b < bins; ++b) {
      const size_t begin = taps_.size();
      args_.InBlocks(per_bin, [&](int64_t from, int64_t to) {
        for (int64_t i = b * per_bin + from; i < b * per_bin + to; ++i) {
          const Between<R>& s = samples[static_cast<size_t>(i)];
          if (s.is_outside) continue;
          Add(begin, s.near, s.near_weight);
          Add(begin, s.far, s.far_weight);
        }
      });
      args_.Push(ends_, static_cast<int64_t>(taps_.size()));
    }
  }

  std::span<const Tap> Bin(int64_t b) const {
    const int64_t begin = b == 0 ? 0 : ends_[static_cast<size_t>(b - 1)];
    return std::span<const Tap>(taps_).subspan(
        static_cast<size_t>(begin), static_cast<size_t>(ends_[static_cast<size_t>(b)] - begin));
  }
  int64_t size() const { return static_cast<int64_t>(taps_.size()); }
  int64_t first() const { return first_; }  // the least place of a tap, and the greatest
  int64_t last() const { return last_; }

 private:
  // Samples go along the axis, so that a pixel that they share is one of the last two.
  void Add(size_t begin, int64_t at, R weight) {
    for (size_t i = taps_.size(); i > begin && i + 2 > taps_.size(); --i) {
      if (taps_[i - 1].at != at) continue;
      taps_[i - 1].weight += weight;
      return;
    }
    first_ = taps_.empty() ? at : std::min(first_, at);
    last_ = taps_.empty() ? at : std::max(last_, at);
    args_.Push(taps_, Tap{at, weight});
  }

  const CallArgs& args_;
  KernelVector<Tap> taps_;
  KernelVector<int64_t> ends_;  // of each bin's taps
  int64_t first_ = 0, last_ = 0;
};

// line[i] = the sum over the taps of weight * map[at + i], for i below `width`.
template <typename R>
[[gnu::noinline]] void SumRows(const CallArgs& args, const R* map,
                               std::span<const typename BinTaps<R>::Tap> taps, int64_t width,
                               R* line) {
  using Vector [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = R;
  constexpr int64_t kLanes = 16 / sizeof(R);
  constexpr size_t kAtOnce = 16;  // rows that are read without a poll
  if (taps.empty()) return args.Fill(line, width, R(0));
  for (size_t first = 0; first < taps.size(); first += kAtOnce) {
    const auto rows = taps.subspan(first, std::min(kAtOnce, taps.size() - first));
    const auto sum = [&]<typename V>(int64_t i) {
      V value{};
      if (first > 0) value = *reinterpret_cast<const V*>(line + i);
      for (const auto& row : rows)
        value += row.weight * *reinterpret_cast<const V*>(map + row.at + i);
      *reinterpret_cast<V*>(line + i) = value;
    };
    args.InBlocks(
        width,
        [&](int64_t i, int64_t end) {
          for (; i + kLanes <= end; i += kLanes) sum.template operator()<Vector>(i);
          for (; i < end; ++i) sum.template operator()<R>(i);
        },
        static_cast<int64_t>(rows.size()) / kLanes + 1);
  }
}

// The sum of the pixels of one channel that a bin takes, by row. The caller counts the work.
template <typename T, typename R>
R SumOfBin(const T* map, std::span<const typename BinTaps<R>::Tap> rows,
           std::span<const typename BinTaps<R>::Tap> columns) {
  R sum = 0;
  for (const auto& row : rows) {
    const T* const line = map + row.at;
    R of_row = 0;
    for (const auto& column : columns)
      of_row += column.weight * static_cast<R>(ToArithmetic(line[column.at]));
    sum += row.weight * of_row;
  }
  return sum;
}

// The same of a bin of any size.
template <typename T, typename R>
[[gnu::noinline]] R SumOfLargeBin(const CallArgs& args, const T* map,
                                  std::span<const typename BinTaps<R>::Tap> rows,
                                  std::span<const typename BinTaps<R>::Tap> columns) {
  R sum = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    args.InBlocks(static_cast<int64_t>(columns.size()), [&](int64_t begin, int64_t end) {
      sum += SumOfBin<T, R>(
          map, rows.subspan(row, 1),
          columns.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    });
  }
  return sum;
}

// store(y, x, sum) for each bin of one channel's map. Neighbouring bins share pixels, so that rows
// are summed for all bins of a line at once where a row's pixels follow each other and most are
// taken. `line` is room for that.
template <typename T, typename R, typename Store>
void SumBins(const CallArgs& args, const T* map, const BinTaps<R>& ys, int64_t height,
             const BinTaps<R>& xs, int64_t width, bool is_dense, KernelVector<R>& line,
             const Store& store) {
  using Taps = std::span<const typename BinTaps<R>::Tap>;
  const auto sum_line = [&]<typename Pixel>(const Pixel* from, Taps rows, int64_t y) {
    const bool is_small = static_cast<int64_t>(rows.size()) * xs.size() <= kBinAtOnce;
    if (is_small) args.Work(static_cast<int64_t>(rows.size()) * xs.size() + width);
    for (int64_t x = 0; x < width; ++x) {
      store(y, x,
            is_small ? SumOfBin<Pixel, R>(from, rows, xs.Bin(x))
                     : SumOfLargeBin<Pixel, R>(args, from, rows, xs.Bin(x)));
    }
  };
  const int64_t span = xs.size() == 0 ? 0 : xs.last() - xs.first() + 1;
  for (int64_t y = 0; y < height; ++y) {
    const Taps rows = ys.Bin(y);
    if constexpr (std::is_same_v<T, R>) {
      if (is_dense && rows.size() > 1 && span <= 2 * xs.size()) {
        while (static_cast<int64_t>(line.size()) < span) args.Push(line, R(0));
        SumRows<R>(args, map + xs.first(), rows, span, line.data());
        const typename BinTaps<R>::Tap whole{-xs.first(), R(1)};
        sum_line(static_cast<const R*>(line.data()), Taps(&whole, 1), y);
        continue;
      }
    }
    sum_line(map, rows, y);
  }
}

}  // namespace relayvm

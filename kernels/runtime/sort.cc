// Sorting kernels. Elements become 64-bit keys of the same order (SortKey), so one piece of code
// serves every dtype; what is written out is read back from the data by index. Ties keep their
// order, for ascending and descending. Tested by sort_test.cc.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels/runtime/kernels.h"

namespace relayvm {

namespace {

// The keys of elements begin..end-1.
template <typename T>
[[gnu::noinline]] void KeysOf(const std::byte* data, int64_t begin, int64_t end, uint64_t* keys) {
  for (int64_t i = begin; i < end; ++i) *keys++ = SortKey(reinterpret_cast<const T*>(data)[i]);
}
using Keys = void (*)(const std::byte*, int64_t, int64_t, uint64_t*);
Keys KeysFor(DType dtype) {
  return DispatchDType(dtype, []<typename T>() -> Keys { return KeysOf<T>; });
}

}  // namespace

void LoadKeys(const CallArgs& args, const TensorView& t, int64_t first, int64_t n, uint64_t* keys) {
  const Keys load = KeysFor(t.dtype);
  args.InBlocks(n, [&](int64_t begin, int64_t end) {
    load(t.data, first + begin, first + end, keys + begin);
  });
}

namespace {

constexpr int64_t kLineCost = 16;  // of a line, however short

// Neighbours of which it is asked together whether any is before the last of the first ones so far:
// a vector of the smallest elements, and few of the largest.
constexpr int64_t kTogether = 16;

// From `begin` on: where the first kTogether elements are of which one may be before element
// `last`, or where fewer than so many are left. An element is before those that it is not behind or
// equal to, which NaN never is.
template <typename T>
[[gnu::noinline]] int64_t SkipBehind(const void* line, int64_t begin, int64_t end, int64_t last,
                                     bool ascending) {
  if constexpr (std::is_arithmetic_v<T>) {
    const T* x = static_cast<const T*>(line);
    const T limit = x[last];
    using Mask = std::conditional_t<
        sizeof(T) == 8, uint64_t,
        std::conditional_t<sizeof(T) == 4, uint32_t,
                           std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
    const auto pass = [&](const auto& behind) {
      for (; begin + kTogether <= end; begin += kTogether) {
        Mask before = 0;
        for (int64_t i = 0; i < kTogether; ++i)
          before |= behind(x[begin + i]) ? Mask{0} : static_cast<Mask>(~Mask{0});
        if (before != 0) return;
      }
    };
    if (ascending) {
      pass([&](T value) { return value >= limit; });
    } else {
      pass([&](T value) { return value <= limit; });
    }
  }
  return begin;
}

}  // namespace

// Those that are before the last of the first ones so far are gathered, which few are. Each time
// that as many have gathered again, the first of them stay.
void FindFirst(const CallArgs& args, const TensorView& line, int64_t k, bool ascending,
               const SortEntry* after, KernelVector<SortEntry>& found) {
  constexpr int64_t kBlock = 1 << 12;  // elements between two polls
  using Skip = int64_t (*)(const void*, int64_t, int64_t, int64_t, bool);
  const Skip skip = DispatchDType(line.dtype, []<typename T>() -> Skip { return SkipBehind<T>; });
  const Keys load = KeysFor(line.dtype);
  const int64_t n = line.dims[0];
  const uint64_t flip = ascending ? 0 : ~uint64_t{0};
  const auto most = static_cast<size_t>(2 * k);
  found.clear();
  found.reserve(most + kTogether);
  bool is_full = false;  // k are found, and the last of them is at the end
  SortEntry last{};
  const auto keep_first = [&] {
    args.Select(found.begin(), found.begin() + (k - 1), found.end(), std::less<SortEntry>());
    found.resize(static_cast<size_t>(k));
    last = found.back();
    is_full = true;
  };
  std::array<uint64_t, kTogether> keys;
  int64_t paid = 0;
  for (int64_t begin = 0; begin < n;) {
    if (begin >= paid) {
      args.Work(std::min(n - begin, kBlock));
      paid = begin + kBlock;
    }
    if (is_full) begin = skip(line.data, begin, std::min(n, paid), last.index, ascending);
    const int64_t count = std::min(n - begin, kTogether);
    load(line.data, begin, begin + count, keys.data());
    for (int64_t i = 0; i < count; ++i) {
      const SortEntry entry{keys[i] ^ flip, begin + i};
      // An equal key comes later, which is behind.
      if (is_full && entry.key >= last.key) continue;
      if (after == nullptr || *after < entry) found.push_back(entry);
    }
    begin += count;
    if (found.size() >= most) keep_first();
  }
  if (found.size() > static_cast<size_t>(k)) keep_first();
  args.Sort(found.begin(), found.end(), std::less<SortEntry>());
}

namespace {

// Lines along an axis that is not the last one, side by side in memory of their own: as many as a
// cache line has elements of.
class Lines {
 public:
  Lines(const CallArgs& args, const TensorView& in, const AxisSplit& split)
      : args_(args),
        in_(in),
        split_(split),
        bytes_(DTypeBytes(in.dtype)),
        packed_(args.NewVector<std::byte>(split.inner == 1 ? 0 : PerPack() * split.n * bytes_)) {}

  // REQUIRES: lines are asked for in order.
  TensorView At(int64_t outer, int64_t inner) {
    TensorView line = in_;
    line.rank = 1;
    line.dims = &split_.n;
    if (split_.inner == 1) {
      line.data += outer * split_.n * bytes_;
      return line;
    }
    if (inner % PerPack() == 0) Pack(outer, inner);
    line.data = packed_.data() + inner % PerPack() * split_.n * bytes_;
    return line;
  }

 private:
  int64_t PerPack() const { return std::min(split_.inner, 64 / bytes_); }
  void Pack(int64_t outer, int64_t inner) {
    const int64_t lines = std::min(PerPack(), split_.inner - inner);
    const auto pack = [&]<typename T>() {
      const T* from = in_.as<const T>() + outer * split_.n * split_.inner + inner;
      T* to = reinterpret_cast<T*>(packed_.data());
      args_.InBlocks(
          split_.n,
          [&](int64_t begin, int64_t end) {
            for (int64_t j = begin; j < end; ++j) {
              for (int64_t i = 0; i < lines; ++i) to[i * split_.n + j] = from[j * split_.inner + i];
            }
          },
          lines + CallArgs::kScattered);
    };
    if (bytes_ == 1) return pack.template operator()<uint8_t>();
    if (bytes_ == 2) return pack.template operator()<uint16_t>();
    if (bytes_ == 4) return pack.template operator()<uint32_t>();
    pack.template operator()<uint64_t>();
  }

  const CallArgs& args_;
  const TensorView& in_;
  const AxisSplit& split_;
  const int64_t bytes_;
  KernelVector<std::byte> packed_;
};

// Of a short line, or where few are wanted of many: the first k so far stand in order in `entries`,
// and one that is before the last of them is put where it belongs. Their order in the line decides
// between equal keys, as those behind never go before.
constexpr int64_t kMostInserted = 32, kShortLine = 256;
void InsertFirst(const TensorView& line, int64_t k, uint64_t flip, Keys load, SortEntry* entries) {
  constexpr int64_t kAtOnce = 64;
  std::array<uint64_t, kAtOnce> keys;
  const int64_t n = line.dims[0];
  int64_t count = 0;
  for (int64_t begin = 0; begin < n; begin += kAtOnce) {
    const int64_t end = std::min(n, begin + kAtOnce);
    load(line.data, begin, end, keys.data());
    if (k == 1) {  // without a branch
      SortEntry first = begin == 0 ? SortEntry{keys[0] ^ flip, 0} : entries[0];
      for (int64_t j = begin; j < end; ++j) {
        const uint64_t key = keys[static_cast<size_t>(j - begin)] ^ flip;
        const bool is_before = key < first.key;
        first.index = is_before ? j : first.index;
        first.key = is_before ? key : first.key;
      }
      entries[0] = first;
      continue;
    }
    for (int64_t j = begin; j < end; ++j) {
      const uint64_t key = keys[static_cast<size_t>(j - begin)] ^ flip;
      if (count == k && key >= entries[k - 1].key) continue;
      int64_t at = count < k ? count++ : k - 1;
      for (; at > 0 && entries[at - 1].key > key; --at) entries[at] = entries[at - 1];
      entries[at] = {key, j};
    }
  }
}

// Elements `entries` of a line, k in order, become those at first, first + step, ..
template <typename T>
void TakeValues(const TensorView& line, const SortEntry* entries, int64_t k, const TensorView& to,
                int64_t first, int64_t step) {
  for (int64_t j = 0; j < k; ++j)
    to.as<T>()[first + j * step] = line.as<const T>()[entries[j].index];
}
using Take = void (*)(const TensorView&, const SortEntry*, int64_t, const TensorView&, int64_t,
                      int64_t);
Take TakeFor(int bytes) {
  return bytes == 1   ? TakeValues<uint8_t>
         : bytes == 2 ? TakeValues<uint16_t>
         : bytes == 4 ? TakeValues<uint32_t>
                      : TakeValues<uint64_t>;
}
void TakeIndices(const SortEntry* entries, int64_t k, const TensorView& to, int64_t first,
                 int64_t step) {
  if (to.dtype == DType::kInt64) {
    for (int64_t j = 0; j < k; ++j) to.as<int64_t>()[first + j * step] = entries[j].index;
    return;
  }
  for (int64_t j = 0; j < k; ++j) StoreIndex(to, first + j * step, entries[j].index);
}

// The first k of each line of `in` along `axis`, in order, into `values` and `indices` (null: not
// wanted).
int32_t SortLines(const CallArgs& args, const TensorView& in, int axis, bool ascending,
                  const TensorView* values, const TensorView* indices) {
  const TensorView& out = values != nullptr ? *values : *indices;
  if (!SameDims(in, out, axis) || out.dims[axis] > in.dims[axis]) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  if (out.size() == 0) return RELAYVM_KERNEL_OK;
  const AxisSplit split = SplitAt(in, axis);
  const int64_t k = out.dims[axis];
  // Of many, those that may be among the first k are gathered.
  const bool is_few = k <= split.n / 8;
  const bool inserts = k <= kMostInserted && (!is_few || split.n <= kShortLine);
  const bool gathers = is_few && !inserts;
  const Keys load = KeysFor(in.dtype);
  const Take take = TakeFor(DTypeBytes(in.dtype));
  const uint64_t flip = ascending ? 0 : ~uint64_t{0};
  auto keys = args.NewVector<uint64_t>(gathers || inserts ? 0 : split.n);
  auto entries = args.NewVector<SortEntry>(gathers ? 0 : inserts ? k : split.n);
  Lines lines(args, in, split);
  for (int64_t o = 0; o < split.outer; ++o) {
    for (int64_t i = 0; i < split.inner; ++i) {
      args.Work(kLineCost);
      const TensorView line = lines.At(o, i);
      if (gathers) {
        FindFirst(args, line, k, ascending, nullptr, entries);
      } else if (inserts) {
        args.Work(split.n);
        InsertFirst(line, k, flip, load, entries.data());
      } else {
        LoadKeys(args, line, 0, split.n, keys.data());
        args.InBlocks(
            split.n,
            [&](int64_t begin, int64_t end) {
              for (int64_t j = begin; j < end; ++j) entries[j] = {keys[j] ^ flip, j};
            },
            2);
        // Entries are distinct (the index breaks ties), so no stable algorithm is needed.
        if (k < split.n)
          args.Select(entries.begin(), entries.begin() + k, entries.end(), std::less<SortEntry>());
        args.Sort(entries.begin(), entries.begin() + k, std::less<SortEntry>());
      }
      args.InBlocks(
          k,
          [&](int64_t begin, int64_t end) {
            const SortEntry* first = entries.data() + begin;
            const int64_t at = (o * k + begin) * split.inner + i;
            if (values != nullptr) take(line, first, end - begin, *values, at, split.inner);
            if (indices != nullptr) TakeIndices(first, end - begin, *indices, at, split.inner);
          },
          CallArgs::kScattered);
    }
  }
  return RELAYVM_KERNEL_OK;
}

int32_t RunSort(const CallArgs& args, const TensorView* values, const TensorView* indices) {
  return SortLines(args, args[0], static_cast<int>(args.param(0)), args.param(1) != 0, values,
                   indices);
}

}  // namespace

int32_t Sort(const CallArgs& args) { return RunSort(args, &args[1], nullptr); }
int32_t ArgSort(const CallArgs& args) { return RunSort(args, nullptr, &args[1]); }
int32_t TopK(const CallArgs& args) { return RunSort(args, &args[1], &args[2]); }
int32_t TopKValues(const CallArgs& args) { return RunSort(args, &args[1], nullptr); }
int32_t TopKIndices(const CallArgs& args) { return RunSort(args, nullptr, &args[1]); }
int32_t DynTopK(const CallArgs& args) { return RunSort(args, &args[2], &args[3]); }
int32_t DynTopKValues(const CallArgs& args) { return RunSort(args, &args[2], nullptr); }
int32_t DynTopKIndices(const CallArgs& args) { return RunSort(args, nullptr, &args[2]); }

int32_t SearchSorted(const CallArgs& args) {
  const TensorView& sorted = args[0];
  const TensorView& values = args[1];
  const bool right = args.param(0) != 0;
  const int64_t n = sorted.dims[sorted.rank - 1];
  const int64_t lines = sorted.Count(0, sorted.rank - 1);
  const int64_t total = values.size();
  if (total == 0) return RELAYVM_KERNEL_OK;
  // One sorted line serves all values, or each line its own.
  if (sorted.rank > 1 && !SameDims(sorted, values, sorted.rank - 1)) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  const int64_t per_line = total / lines;
  auto line = args.NewVector<uint64_t>(n), keys = args.NewVector<uint64_t>(per_line);
  for (int64_t l = 0; l < lines; ++l) {
    args.Work(4);
    LoadKeys(args, sorted, l * n, n, line.data());
    LoadKeys(args, values, l * per_line, per_line, keys.data());
    for (int64_t j = 0; j < per_line; ++j) {
      args.Work(16);
      const auto at = right ? std::upper_bound(line.begin(), line.end(), keys[j])
                            : std::lower_bound(line.begin(), line.end(), keys[j]);
      StoreIndex(args[2], l * per_line + j, at - line.begin());
    }
  }
  return RELAYVM_KERNEL_OK;
}

}  // namespace relayvm

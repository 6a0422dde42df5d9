// Sorting kernels. Elements become 64-bit keys of the same order (SortKey), so one piece of code
// serves every dtype; what is written out is read back from the data by index. Ties keep their
// order, for ascending and descending. Tested by sort_test.cc.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/runtime/kernels.h"

namespace relayvm {

void LoadKeys(const CallArgs& args, const TensorView& t, int64_t first, int64_t stride, int64_t n,
              uint64_t* keys) {
  DispatchDType(t.dtype, [&]<typename T>() {
    const T* data = t.as<const T>() + first;
    args.InBlocks(
        n,
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) keys[i] = SortKey(data[i * stride]);
        },
        stride == 1 ? 1 : CallArgs::kScattered);
  });
}

namespace {

constexpr int64_t kLineCost = 16;  // of a line, however short

struct Entry {
  uint64_t key;
  int64_t index;
  [[maybe_unused]] friend bool operator<(const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

void CopyElement(const TensorView& from, int64_t i, const TensorView& to, int64_t j) {
  const int bytes = DTypeBytes(from.dtype);
  std::memcpy(to.data + j * bytes, from.data + i * bytes, static_cast<size_t>(bytes));
}

// The first k of n > k keys, in any order: those that are before the last of the first ones so far,
// which few are. Each time that as many have gathered again, the first of them stay.
void FindFirst(const CallArgs& args, const uint64_t* keys, int64_t n, int64_t k, uint64_t flip,
               KernelVector<Entry>& found) {
  constexpr int64_t kBlock = 64;  // keys that are looked at together
  const auto room = static_cast<size_t>(2 * k + kBlock);
  uint64_t last = std::numeric_limits<uint64_t>::max();
  bool is_full = false;  // k are found, and `last` is the greatest of their keys
  const auto keep_first = [&] {
    args.Select(found.begin(), found.begin() + (k - 1), found.end(), std::less<Entry>());
    found.resize(static_cast<size_t>(k));
    last = found.back().key;
    is_full = true;
  };
  found.clear();
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    args.Work(end - begin);
    if (is_full) {
      // An equal key comes later, which is behind.
      unsigned before = 0;
      for (int64_t i = begin; i < end; ++i) before += (keys[i] ^ flip) < last ? 1 : 0;
      if (before == 0) continue;
    }
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = keys[i] ^ flip;
      if (!is_full || key < last) found.push_back({key, i});
    }
    if (found.size() + kBlock > room) keep_first();
  }
  if (found.size() > static_cast<size_t>(k)) keep_first();
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
  auto keys = args.NewVector<uint64_t>(split.n);
  // Of many, those that may be among the first k are gathered.
  const bool gathers = k <= split.n / 8;
  auto entries = args.NewVector<Entry>(gathers ? 0 : split.n);
  if (gathers) entries.reserve(static_cast<size_t>(2 * k + 128));
  for (int64_t o = 0; o < split.outer; ++o) {
    for (int64_t i = 0; i < split.inner; ++i) {
      args.Work(kLineCost);
      const int64_t first = o * split.n * split.inner + i;
      LoadKeys(args, in, first, split.inner, split.n, keys.data());
      const uint64_t flip = ascending ? 0 : ~uint64_t{0};
      if (gathers) FindFirst(args, keys.data(), split.n, k, flip, entries);
      args.InBlocks(
          gathers ? 0 : split.n,
          [&](int64_t begin, int64_t end) {
            for (int64_t j = begin; j < end; ++j) entries[j] = {keys[j] ^ flip, j};
          },
          2);
      // Entries are distinct (the index breaks ties), so no stable algorithm is needed.
      if (k < split.n && !gathers)
        args.Select(entries.begin(), entries.begin() + k, entries.end(), std::less<Entry>());
      args.Sort(entries.begin(), entries.begin() + k, std::less<Entry>());
      args.InBlocks(
          k,
          [&](int64_t begin, int64_t end) {
            for (int64_t j = begin; j < end; ++j) {
              const int64_t at = (o * k + j) * split.inner + i, index = entries[j].index;
              if (values != nullptr) CopyElement(in, first + index * split.inner, *values, at);
              if (indices != nullptr) StoreIndex(*indices, at, index);
            }
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
    LoadKeys(args, sorted, l * n, 1, n, line.data());
    LoadKeys(args, values, l * per_line, 1, per_line, keys.data());
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

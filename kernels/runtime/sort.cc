// Sorting kernels. Elements become 64-bit keys of the same order (SortKey), so one piece of code
// serves every dtype; what is written out is read back from the data by index. Ties keep their
// order, for ascending and descending. Tested by sort_test.cc.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/runtime/kernels.h"

namespace relayvm {

void LoadKeys(const CallArgs& args, const TensorView& t, int64_t first, int64_t stride, int64_t n,
              uint64_t* keys) {
  DispatchDType(t.dtype, [&]<typename T>() {
    const T* data = t.as<const T>() + first;
    args.InBlocks(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) keys[i] = SortKey(data[i * stride]);
    });
  });
}

namespace {

struct Entry {
  uint64_t key;
  int64_t index;
  friend bool operator<(const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

void CopyElement(const TensorView& from, int64_t i, const TensorView& to, int64_t j) {
  const int bytes = DTypeBytes(from.dtype);
  std::memcpy(to.data + j * bytes, from.data + i * bytes, static_cast<size_t>(bytes));
}

// The first k of each line of `in` along `axis`, in order, into `values` and `indices` (null: not
// wanted).
int32_t SortLines(const CallArgs& args, const TensorView& in, int axis, bool ascending,
                  const TensorView* values, const TensorView* indices) {
  const AxisSplit split = SplitAt(in, axis);
  const int64_t k = (values != nullptr ? values : indices)->dims[axis];
  if (k < 0 || k > split.n) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  auto keys = args.NewVector<uint64_t>(split.n);
  auto entries = args.NewVector<Entry>(split.n);
  for (int64_t o = 0; o < split.outer; ++o) {
    for (int64_t i = 0; i < split.inner; ++i) {
      const int64_t first = o * split.n * split.inner + i;
      LoadKeys(args, in, first, split.inner, split.n, keys.data());
      for (int64_t j = 0; j < split.n; ++j) {
        entries[j] = {ascending ? keys[j] : ~keys[j], j};
      }
      // Entries are distinct (the index breaks ties), so no stable algorithm is needed.
      if (k < split.n) {
        args.Work(split.n);
        std::nth_element(entries.begin(), entries.begin() + k, entries.end());
      }
      args.Sort(entries.begin(), entries.begin() + k, std::less<Entry>());
      args.Work(k);
      const int64_t out = o * k * split.inner + i;
      for (int64_t j = 0; j < k; ++j) {
        const int64_t at = out + j * split.inner;
        if (values != nullptr) CopyElement(in, first + entries[j].index * split.inner, *values, at);
        if (indices != nullptr) StoreIndex(*indices, at, entries[j].index);
      }
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
  // One sorted line serves all values, or each line its own.
  const int64_t per_line = lines == 0 ? 0 : total / lines;
  auto line = args.NewVector<uint64_t>(n), keys = args.NewVector<uint64_t>(per_line);
  for (int64_t l = 0; l < lines; ++l) {
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

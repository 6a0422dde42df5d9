// Kernels whose result's size depends on the data: argwhere, unique. Tested by select_test.cc.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/runtime/kernels.h"

namespace relayvm {

int32_t ArgWhere(const CallArgs& args) {
  const TensorView& condition = args[0];
  const TensorView& out = args[1];
  const int rank = condition.rank;
  const int64_t total = condition.size();
  if (out.dims[1] != rank || out.dims[0] < total) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  auto position = args.NewVector<int64_t>(rank);
  int64_t found = 0;
  DispatchDType(condition.dtype, [&]<typename T>() {
    const T* data = condition.as<const T>();
    args.InBlocks(
        total,
        [&](int64_t begin, int64_t end) {
          for (int64_t flat = begin; flat < end; ++flat) {
            if (ConvertElement<Bool>(data[flat]).bits != 0) {
              for (int d = 0; d < rank; ++d) StoreIndex(out, found * rank + d, position[d]);
              ++found;
            }
            for (int d = rank; d-- > 0;) {
              if (++position[d] < condition.dims[d]) break;
              position[d] = 0;
            }
          }
        },
        std::max(rank, 1));
  });
  args.count(0) = found;
  return RELAYVM_KERNEL_OK;
}

namespace {

// Equal keys are neighbours after sorting (key, index), the first of each group being its first
// occurrence.
int32_t RunUnique(const CallArgs& args, const TensorView* counts) {
  const TensorView& data = args[0];
  const TensorView &values = args[1], &first = args[2], &inverse = args[3], &number = args[4];
  const bool sorted = args.param(0) != 0;
  const int64_t n = data.size();
  auto keys = args.NewVector<uint64_t>(n);
  LoadKeys(args, data, 0, 1, n, keys.data());
  auto order = args.NewVector<int64_t>(n);
  args.InBlocks(n, [&](int64_t begin, int64_t end) {
    std::iota(order.begin() + begin, order.begin() + end, begin);
  });
  args.Sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  struct Group {
    int64_t first, begin, end;  // begin..end in `order`
  };
  auto groups = args.NewVector<Group>();
  uint64_t key = 0;
  args.InBlocks(
      n,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (i > 0 && keys[order[i]] == key) continue;
          key = keys[order[i]];
          if (i > 0) groups.back().end = i;
          args.Push(groups, {order[i], i, n});
        }
      },
      CallArgs::kScattered);
  if (!sorted) {
    args.Sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.first < b.first; });
  }
  const int64_t found = static_cast<int64_t>(groups.size());
  const int bytes = DTypeBytes(data.dtype);
  for (int64_t g = 0; g < found; ++g) {
    const Group& group = groups[g];
    args.Work(CallArgs::kScattered);
    std::memcpy(values.data + g * bytes, data.data + group.first * bytes,
                static_cast<size_t>(bytes));
    args.InBlocks(
        group.end - group.begin,
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) StoreIndex(inverse, order[group.begin + i], g);
        },
        CallArgs::kScattered);
    StoreIndex(first, g, group.first);
    if (counts != nullptr) StoreIndex(*counts, g, group.end - group.begin);
  }
  // Beyond them values and counts are 0, positions n.
  args.InBlocks(
      n - found,
      [&](int64_t begin, int64_t end) {
        std::memset(values.data + (found + begin) * bytes, 0,
                    static_cast<size_t>((end - begin) * bytes));
        for (int64_t g = found + begin; g < found + end; ++g) {
          StoreIndex(first, g, n);
          if (counts != nullptr) StoreIndex(*counts, g, 0);
        }
      },
      2);
  StoreIndex(number, 0, found);
  return RELAYVM_KERNEL_OK;
}

}  // namespace

int32_t Unique(const CallArgs& args) { return RunUnique(args, nullptr); }
int32_t UniqueCounts(const CallArgs& args) { return RunUnique(args, &args[5]); }

}  // namespace relayvm

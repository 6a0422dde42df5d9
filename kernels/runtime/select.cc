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
  auto position = args.NewVector<int64_t>(rank);
  int64_t found = 0;
  DispatchDType(condition.dtype, [&]<typename T>() {
    const T* data = condition.as<const T>();
    for (int64_t flat = 0; flat < total; ++flat) {
      if ((flat & 4095) == 0) args.Work(4096);
      if (ConvertElement<Bool>(data[flat]).bits != 0) {
        for (int d = 0; d < rank; ++d) StoreIndex(out, found * rank + d, position[d]);
        ++found;
      }
      for (int d = rank; d-- > 0;) {
        if (++position[d] < condition.dims[d]) break;
        position[d] = 0;
      }
    }
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
  std::iota(order.begin(), order.end(), int64_t{0});
  args.Sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  struct Group {
    int64_t first, begin, end;  // begin..end in `order`
  };
  auto groups = args.NewVector<Group>();
  for (int64_t i = 0; i < n;) {
    int64_t end = i + 1;
    while (end < n && keys[order[end]] == keys[order[i]]) ++end;
    groups.push_back({order[i], i, end});
    i = end;
  }
  if (!sorted) {
    args.Sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.first < b.first; });
  }
  const int64_t found = static_cast<int64_t>(groups.size());
  const int bytes = DTypeBytes(data.dtype);
  for (int64_t g = 0; g < n; ++g) {
    if ((g & 4095) == 0) args.Work(4096);
    const bool real = g < found;  // beyond them values and counts are 0, positions n
    if (!real) {
      std::memset(values.data + g * bytes, 0, static_cast<size_t>(bytes));
    } else {
      std::memcpy(values.data + g * bytes, data.data + groups[g].first * bytes,
                  static_cast<size_t>(bytes));
      for (int64_t i = groups[g].begin; i < groups[g].end; ++i) StoreIndex(inverse, order[i], g);
    }
    StoreIndex(first, g, real ? groups[g].first : n);
    if (counts != nullptr) StoreIndex(*counts, g, real ? groups[g].end - groups[g].begin : 0);
  }
  StoreIndex(number, 0, found);
  return RELAYVM_KERNEL_OK;
}

}  // namespace

int32_t Unique(const CallArgs& args) { return RunUnique(args, nullptr); }
int32_t UniqueCounts(const CallArgs& args) { return RunUnique(args, &args[5]); }

}  // namespace relayvm

// Kernels whose result's size depends on the data: argwhere, unique. Tested by select_test.cc.
#include <algorithm>
#include <cstring>
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

// One switch over dtypes for all places where indices are stored, most of which are of one of two.
[[gnu::noinline]] void StorePlace(const TensorView& t, int64_t i, int64_t value) {
  if (t.dtype == DType::kInt32) {
    t.as<int32_t>()[i] = static_cast<int32_t>(value);
  } else {
    StoreIndex(t, i, value);
  }
}

struct UniqueResults {
  const TensorView* values;  // may be null
  const TensorView &first, &inverse, &number;
  const TensorView* counts;  // may be null
};

// Of rows, which are the elements of an axis 0. Equal ones are neighbours after sorting (keys,
// index), the first of each group being its first occurrence. The first key lies with the index:
// most rows differ there.
int32_t RunUnique(const CallArgs& args, const UniqueResults& results) {
  const TensorView& data = args[0];
  const bool sorted = args.param(0) != 0;
  const int64_t n = data.dims[0], width = data.Count(1, data.rank);
  auto keys = args.NewVector<uint64_t>(n * width);
  LoadKeys(args, data, 0, n * width, keys.data());
  auto order = args.NewVector<SortEntry>(n);
  args.InBlocks(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) order[i] = {width > 0 ? keys[i * width] : 0, i};
  });
  // Less than 0, 0 or more, of two rows whose first keys are the same.
  const auto compare_rest = [&](const SortEntry& a, const SortEntry& b) {
    constexpr int64_t kPiece = 64;
    const uint64_t *x = keys.data() + a.index * width, *y = keys.data() + b.index * width;
    for (int64_t i = 1; i < width; ++i) {
      if (i % kPiece == 1) args.Work(std::min(width - i, kPiece));
      if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
  };
  args.Sort(order.begin(), order.end(), [&](const SortEntry& a, const SortEntry& b) {
    if (a.key != b.key) return a.key < b.key;
    const int rest = compare_rest(a, b);
    return rest != 0 ? rest < 0 : a.index < b.index;
  });
  struct Group {
    int64_t first, begin, end;  // begin..end in `order`
  };
  auto groups = args.NewVector<Group>();
  args.InBlocks(
      n,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (i > 0 && order[i].key == order[i - 1].key &&
              compare_rest(order[i - 1], order[i]) == 0)
            continue;
          if (i > 0) groups.back().end = i;
          args.Push(groups, {order[i].index, i, n});
        }
      },
      CallArgs::kScattered);
  if (!sorted) {
    args.Sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.first < b.first; });
  }
  const int64_t found = static_cast<int64_t>(groups.size());
  const int bytes = DTypeBytes(data.dtype);
  const TensorView *values = results.values, *counts = results.counts;
  for (int64_t g = 0; g < found; ++g) {
    const Group& group = groups[g];
    args.Work(CallArgs::kScattered);
    if (values != nullptr) {
      std::memcpy(values->data + g * bytes, data.data + group.first * bytes,
                  static_cast<size_t>(bytes));
    }
    args.InBlocks(
        group.end - group.begin,
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            StorePlace(results.inverse, order[group.begin + i].index, g);
        },
        CallArgs::kScattered);
    StorePlace(results.first, g, group.first);
    if (counts != nullptr) StorePlace(*counts, g, group.end - group.begin);
  }
  // Beyond them values and counts are 0, positions n.
  args.InBlocks(
      n - found,
      [&](int64_t begin, int64_t end) {
        if (values != nullptr) {
          std::memset(values->data + (found + begin) * bytes, 0,
                      static_cast<size_t>((end - begin) * bytes));
        }
        for (int64_t g = found + begin; g < found + end; ++g) {
          StorePlace(results.first, g, n);
          if (counts != nullptr) StorePlace(*counts, g, 0);
        }
      },
      2);
  StorePlace(results.number, 0, found);
  return RELAYVM_KERNEL_OK;
}

}  // namespace

int32_t Unique(const CallArgs& args) {
  return RunUnique(args, {&args[1], args[2], args[3], args[4], nullptr});
}
int32_t UniqueCounts(const CallArgs& args) {
  return RunUnique(args, {&args[1], args[2], args[3], args[4], &args[5]});
}
int32_t UniqueRows(const CallArgs& args) {
  return RunUnique(args, {nullptr, args[1], args[2], args[3], &args[4]});
}

}  // namespace relayvm

// Kernels whose result's size depends on the data: argwhere, unique. Tested by select_test.cc.
#include <algorithm>
#include <cstring>
#include <functional>
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
// Place i is places(i), of begin..end-1.
template <typename Places>
void StorePlaces(const TensorView& t, int64_t begin, int64_t end, const Places& places) {
  if (t.dtype == DType::kInt32) {
    for (int64_t i = begin; i < end; ++i) t.as<int32_t>()[i] = static_cast<int32_t>(places(i));
  } else {
    for (int64_t i = begin; i < end; ++i) StorePlace(t, i, places(i));
  }
}

struct UniqueResults {
  const TensorView* values;  // may be null
  const TensorView &first, &inverse, &number;
  const TensorView* counts;  // may be null
};

// Rows that are equal: the first of them, and how many.
struct Group {
  int64_t first, count;
};

// Rows of `keys` as they are ordered; `order` has the first key of each, and its index, which
// decides between equal ones.
struct RowOrder {
  const CallArgs& args;
  const uint64_t* keys;
  int64_t width;

  // Less than 0, 0 or more, of two rows whose first keys are the same.
  int CompareRest(const SortEntry& a, const SortEntry& b) const {
    constexpr int64_t kPiece = 64;
    const uint64_t *x = keys + a.index * width, *y = keys + b.index * width;
    for (int64_t i = 1; i < width; ++i) {
      if (i % kPiece == 1) args.Work(std::min(width - i, kPiece));
      if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
  }
  void Sort(KernelVector<SortEntry>& order) const {
    args.Sort(order.begin(), order.end(), [&](const SortEntry& a, const SortEntry& b) {
      if (a.key != b.key) return a.key < b.key;
      const int rest = CompareRest(a, b);
      return rest != 0 ? rest < 0 : a.index < b.index;
    });
  }
};

// Rows of few kinds, by a table of their hashes. Its size has a bound, and so has a search in it:
// where more rows differ, or rows are made to meet in it, this gives up.
class FewKinds {
 public:
  FewKinds(const CallArgs& args, const TensorView& data)
      : args_(args),
        data_(data),
        n_(data.dims[0]),
        width_(data.Count(1, data.rank)),
        bits_(TableBits(n_)),
        table_(args.NewVector<uint16_t>(int64_t{1} << bits_)),
        kind_of_(args.NewVector<uint16_t>(n_)),
        kinds_(args.NewVector<Kind>()),
        keys_(args.NewVector<uint64_t>(2 * kAtOnce)) {}

  // False: there are more.
  bool Find() {
    const int64_t step = width_ > kAtOnce ? 1 : kAtOnce / std::max<int64_t>(1, width_);
    for (int64_t begin = 0; begin < n_; begin += step) {
      const int64_t end = std::min(n_, begin + step);
      if (width_ <= kAtOnce)
        LoadKeys(args_, data_, begin * width_, (end - begin) * width_, keys_.data());
      args_.Work((end - begin) * CallArgs::kScattered);
      if (!FindAll(begin, end)) return false;
    }
    return true;
  }

  // REQUIRES: Find has said true.
  void Store(bool sorted, const TensorView& inverse, KernelVector<Group>& groups) const {
    const auto number = static_cast<int64_t>(kinds_.size());
    auto order = args_.NewVector<SortEntry>(number);
    auto places = args_.NewVector<int32_t>(number);
    auto keys = args_.NewVector<uint64_t>(sorted ? number * width_ : 0);
    for (int64_t k = 0; k < number; ++k) {
      order[k] = {0, k};
      if (!sorted || width_ == 0) continue;
      LoadKeys(args_, data_, kinds_[k].group.first * width_, width_, keys.data() + k * width_);
      order[k].key = keys[k * width_];
    }
    if (sorted) RowOrder{args_, keys.data(), width_}.Sort(order);
    for (int64_t g = 0; g < number; ++g) {
      places[order[g].index] = static_cast<int32_t>(g);
      args_.Push(groups, kinds_[order[g].index].group);
    }
    args_.InBlocks(n_, [&](int64_t begin, int64_t end) {
      StorePlaces(inverse, begin, end, [&](int64_t i) { return places[kind_of_[i]]; });
    });
  }

 private:
  // Of rows begin..end-1, whose keys are loaded unless the rows are long.
  bool FindAll(int64_t begin, int64_t end) {
    const uint64_t* keys = keys_.data();
    const uint16_t* const table = table_.data();
    const int shift = 64 - bits_;
    for (int64_t i = begin; i < end; ++i, keys += width_) {
      const uint64_t hash = HashOf(i, keys);
      // Mostly the kind is the first that is looked at.
      int64_t kind = int64_t{table[hash >> shift]} - 1;
      if (kind < 0 || width_ != 1 || kinds_[kind].hash != hash) kind = KindOf(i, hash);
      if (kind < 0) return false;
      ++kinds_[kind].group.count;
      kind_of_[i] = static_cast<uint16_t>(kind);
    }
    return true;
  }

  struct Kind {
    uint64_t hash;
    Group group;
  };
  static constexpr int kMostBits = 12;
  static constexpr int kMostProbes = 8;
  static constexpr int64_t kAtOnce = 512;  // elements

  static int TableBits(int64_t n) {
    int bits = 6;
    while (bits < kMostBits && (int64_t{1} << bits) < 2 * n) ++bits;
    return bits;
  }

  static uint64_t Mix(uint64_t hash, const uint64_t* keys, int64_t n) {
    constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // of 2^64, the golden ratio
    for (int64_t i = 0; i < n; ++i) hash = ((hash ^ hash >> 32) ^ keys[i]) * kFactor;
    return hash;
  }
  // Of rows of one key, each has its own. `keys` are the row's unless it is long.
  uint64_t HashOf(int64_t i, const uint64_t* keys) {
    return width_ <= kAtOnce ? Mix(0, keys, width_) : HashOfLong(i);
  }
  [[gnu::noinline]] uint64_t HashOfLong(int64_t i) {
    uint64_t hash = 0;
    for (int64_t at = 0; at < width_; at += kAtOnce) {
      const int64_t n = std::min(kAtOnce, width_ - at);
      LoadKeys(args_, data_, i * width_ + at, n, keys_.data());
      hash = Mix(hash, keys_.data(), n);
    }
    return hash;
  }
  // Of rows of more than one key.
  [[gnu::noinline]] bool AreEqual(int64_t a, int64_t b) {
    const int bytes = DTypeBytes(data_.dtype);
    for (int64_t at = 0; at < width_; at += kAtOnce) {
      const int64_t n = std::min(kAtOnce, width_ - at);
      args_.Work(n);
      const int64_t x = a * width_ + at, y = b * width_ + at;
      if (std::memcmp(data_.data + x * bytes, data_.data + y * bytes,
                      static_cast<size_t>(n * bytes)) == 0)
        continue;
      auto pair = args_.NewVector<uint64_t>(2 * n);  // 0 and -0, two NaN
      LoadKeys(args_, data_, x, n, pair.data());
      LoadKeys(args_, data_, y, n, pair.data() + n);
      if (!std::equal(pair.begin(), pair.begin() + n, pair.begin() + n)) return false;
    }
    return true;
  }

  // -1: no room.
  [[gnu::noinline]] int64_t KindOf(int64_t i, uint64_t hash) {
    const size_t mask = table_.size() - 1;
    auto slot = static_cast<size_t>(hash >> (64 - bits_));
    for (int probe = 0; probe < kMostProbes; ++probe, slot = (slot + 1) & mask) {
      const int64_t kind = int64_t{table_[slot]} - 1;
      if (kind < 0) {
        if (2 * kinds_.size() >= table_.size()) return -1;
        args_.Push(kinds_, {hash, {i, 0}});
        table_[slot] = static_cast<uint16_t>(kinds_.size());
        return static_cast<int64_t>(kinds_.size()) - 1;
      }
      if (kinds_[kind].hash == hash && (width_ == 1 || AreEqual(kinds_[kind].group.first, i)))
        return kind;
    }
    return -1;
  }

  const CallArgs& args_;
  const TensorView& data_;
  const int64_t n_, width_;
  const int bits_;
  KernelVector<uint16_t> table_;    // 1 + a kind's number, or 0
  KernelVector<uint16_t> kind_of_;  // of each row
  KernelVector<Kind> kinds_;
  KernelVector<uint64_t> keys_;
};

// Equal rows are neighbours after sorting, the first of each group being its first occurrence.
void GroupBySorting(const CallArgs& args, const TensorView& data, bool sorted,
                    const TensorView& inverse, KernelVector<Group>& groups) {
  const int64_t n = data.dims[0], width = data.Count(1, data.rank);
  auto keys = args.NewVector<uint64_t>(n * width);
  LoadKeys(args, data, 0, n * width, keys.data());
  auto order = args.NewVector<SortEntry>(n);
  args.InBlocks(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) order[i] = {keys[i * width], i};
  });
  const RowOrder rows{args, keys.data(), width};
  rows.Sort(order);
  auto begins = args.NewVector<int64_t>();  // of groups, in `order`
  args.InBlocks(
      n,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (i == 0 || order[i].key != order[i - 1].key ||
              rows.CompareRest(order[i - 1], order[i]) != 0)
            args.Push(begins, i);
        }
      },
      CallArgs::kScattered);
  const auto number = static_cast<int64_t>(begins.size());
  auto by_first = args.NewVector<SortEntry>(number);
  args.InBlocks(
      number,
      [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; ++g)
          by_first[g] = {static_cast<uint64_t>(order[begins[g]].index), g};
      },
      CallArgs::kScattered);
  if (!sorted) args.Sort(by_first.begin(), by_first.end(), std::less<SortEntry>());
  groups.reserve(begins.size());
  for (int64_t g = 0; g < number; ++g) {
    const int64_t at = by_first[g].index, begin = begins[at];
    const int64_t count = (at + 1 < number ? begins[at + 1] : n) - begin;
    args.InBlocks(
        count,
        [&](int64_t from, int64_t to) {
          for (int64_t i = from; i < to; ++i) StorePlace(inverse, order[begin + i].index, g);
        },
        CallArgs::kScattered);
    groups.push_back({static_cast<int64_t>(by_first[g].key), count});
  }
}

// Of rows, which are the elements of an axis 0.
int32_t RunUnique(const CallArgs& args, const UniqueResults& results) {
  const TensorView& data = args[0];
  const bool sorted = args.param(0) != 0;
  const int64_t n = data.dims[0];
  auto groups = args.NewVector<Group>();
  const bool are_few = [&] {
    FewKinds kinds(args, data);
    if (!kinds.Find()) return false;
    kinds.Store(sorted, results.inverse, groups);
    return true;
  }();
  if (!are_few) GroupBySorting(args, data, sorted, results.inverse, groups);
  const auto found = static_cast<int64_t>(groups.size());
  const int bytes = DTypeBytes(data.dtype);
  const TensorView *values = results.values, *counts = results.counts;
  for (int64_t g = 0; g < found; ++g) {
    const Group& group = groups[g];
    args.Work(CallArgs::kScattered);
    if (values != nullptr) {
      std::memcpy(values->data + g * bytes, data.data + group.first * bytes,
                  static_cast<size_t>(bytes));
    }
    StorePlace(results.first, g, group.first);
    if (counts != nullptr) StorePlace(*counts, g, group.count);
  }
  // Beyond them values and counts are 0, positions n.
  args.InBlocks(
      n - found,
      [&](int64_t begin, int64_t end) {
        if (values != nullptr) {
          std::memset(values->data + (found + begin) * bytes, 0,
                      static_cast<size_t>((end - begin) * bytes));
        }
        StorePlaces(results.first, found + begin, found + end, [&](int64_t) { return n; });
        if (counts != nullptr)
          StorePlaces(*counts, found + begin, found + end, [](int64_t) { return 0; });
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

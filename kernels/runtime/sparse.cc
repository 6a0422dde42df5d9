// Kernels on sparse tensors: COO (a row of indices for each value) and CSR / BSR matrices. Tested
// by sparse_test.cc.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/runtime/kernels.h"
#include "kernels/runtime/store_index.h"

namespace relayvm {

// Each row of the dense shape without an entry gets one, at column 0, with the default value.
// Entries of a row keep their order.
int32_t SparseFillEmptyRows(const CallArgs& args) {
  const TensorView &indices = args[0], &values = args[1], &fill = args[3];
  const TensorView &out_indices = args[4], &out_values = args[5], &empty_row = args[6];
  const int64_t entries = values.size();
  const int64_t rank = indices.dims[1];
  const int64_t rows = empty_row.dims[0];
  if (entries > 0 && rank < 1) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  // start[r]: where row r's entries begin in the result.
  auto start = args.NewVector<int64_t>(rows + 1);
  for (int64_t e = 0; e < entries; ++e) {
    args.Work(2);
    const int64_t row = LoadIndex(indices, e * rank);
    if (row < 0 || row >= rows) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
    ++start[row + 1];
  }
  int64_t total = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t count = start[r + 1];
    args.Work(1);
    StoreIndex(empty_row, r, count == 0);
    start[r] = total;
    total += count == 0 ? 1 : count;
  }
  if (total > out_values.dims[0] || total > out_indices.dims[0]) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  const size_t bytes = static_cast<size_t>(DTypeBytes(values.dtype));
  for (int64_t r = 0; r < rows; ++r) {
    args.Work(1);
    if (LoadAs<int64_t>(empty_row, r) == 0) continue;
    args.InBlocks(rank, [&](int64_t begin, int64_t end) {
      for (int64_t d = begin; d < end; ++d)
        StoreFittingIndex(out_indices, start[r] * rank + d, d == 0 ? r : 0);
    });
    std::memcpy(out_values.data + start[r] * bytes, fill.data, bytes);
  }
  for (int64_t e = 0; e < entries; ++e) {
    args.Work(1);
    const int64_t at = start[LoadAs<int64_t>(indices, e * rank)]++;
    args.InBlocks(rank, [&](int64_t begin, int64_t end) {
      for (int64_t d = begin; d < end; ++d)
        StoreIndex(out_indices, at * rank + d, LoadAs<int64_t>(indices, e * rank + d));
    });
    std::memcpy(out_values.data + at * bytes, values.data + e * bytes, bytes);
  }
  args.count(0) = total;
  return RELAYVM_KERNEL_OK;
}

// The same positions under another dense shape, of which one extent may be -1.
int32_t SparseReshape(const CallArgs& args) {
  const TensorView &indices = args[0], &shape = args[1], &wanted = args[2];
  const TensorView &out_indices = args[3], &out_shape = args[4];
  const int64_t entries = indices.dims[0];
  const int64_t from = shape.size(), to = wanted.size();
  auto old_shape = args.NewVector<int64_t>(from), new_shape = args.NewVector<int64_t>(to);
  int64_t size = 1, known = 1, inferred = -1;
  for (int64_t d = 0; d < from; ++d) {
    args.Work(1);
    old_shape[d] = LoadAs<int64_t>(shape, d);
    if (__builtin_mul_overflow(size, old_shape[d], &size)) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  for (int64_t d = 0; d < to; ++d) {
    args.Work(1);
    new_shape[d] = LoadAs<int64_t>(wanted, d);
    if (new_shape[d] == -1) {
      if (inferred >= 0) return RELAYVM_KERNEL_INVALID_ARGUMENT;
      inferred = d;
    } else if (__builtin_mul_overflow(known, new_shape[d], &known)) {
      return RELAYVM_KERNEL_INVALID_ARGUMENT;
    }
  }
  if (inferred >= 0) {
    if (known <= 0 || size % known != 0) return RELAYVM_KERNEL_INVALID_ARGUMENT;
    new_shape[inferred] = size / known;
  }
  for (int64_t d = 0; d < to; ++d) {
    args.Work(1);
    if (new_shape[d] <= 0 && entries > 0) return RELAYVM_KERNEL_INVALID_ARGUMENT;
    StoreFittingIndex(out_shape, d, new_shape[d]);
  }
  const bool is_same =
      from == to && !args.AnyOf(to, [&](int64_t d) { return old_shape[d] != new_shape[d]; }, 1);
  if (is_same) {  // as they are, even where an index lies outside its extent
    args.InBlocks(entries * to, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) StoreIndex(out_indices, i, LoadAs<int64_t>(indices, i));
    });
    return RELAYVM_KERNEL_OK;
  }
  for (int64_t e = 0; e < entries; ++e) {
    uint64_t flat = 0;
    args.Work(1);
    for (int64_t d = 0; d < from; ++d) {
      args.Work(1);
      flat = flat * static_cast<uint64_t>(old_shape[d]) +
             static_cast<uint64_t>(LoadAs<int64_t>(indices, e * from + d));
    }
    for (int64_t d = to; d-- > 0;) {
      args.Work(2);
      const uint64_t extent = static_cast<uint64_t>(new_shape[d]);
      StoreFittingIndex(out_indices, e * to + d,
                        static_cast<int64_t>(d == 0 ? flat : flat % extent));
      flat /= extent;
    }
  }
  return RELAYVM_KERNEL_OK;
}

namespace {

// Entries whose index lies outside the shape are left out; of equal indices the last entry counts.
int32_t FillDense(const CallArgs& args, const TensorView* fallback, const TensorView& out) {
  const TensorView &indices = args[0], &values = args[1];

  // A scalar is one index of one coordinate, a vector has one coordinate an index.
  int64_t entries = indices.rank == 0 ? 1 : indices.dims[0];
  const int64_t coordinates = indices.rank < 2 ? 1 : indices.dims[1];
  if (indices.rank > 2 || values.rank > 1 || coordinates != out.rank ||
      (values.rank == 1 && values.dims[0] != entries)) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  // All are the same: indices without coordinates may be many without taking memory.
  if (coordinates == 0 && values.rank == 0) entries = std::min<int64_t>(entries, 1);
  return DispatchDType(out.dtype, [&]<typename T>() -> int32_t {
    T* to = out.as<T>();
    args.Fill(to, out.size(), fallback == nullptr ? T() : LoadAs<T>(*fallback, 0));
    for (int64_t e = 0; e < entries; ++e) {
      args.Work(coordinates + 1);
      int64_t at = 0;

      bool inside = true;
      for (int64_t d = 0; d < coordinates && inside; ++d) {
        const int64_t index = LoadIndex(indices, e * coordinates + d);
        inside = index >= 0 && index < out.dims[d];
        at = inside ? at * out.dims[d] + index : 0;
      }
      if (inside && out.size() > 0) to[at] = values.as<const T>()[values.rank == 0 ? 0 : e];
    }
    return RELAYVM_KERNEL_OK;
  });
}

}  // namespace

int32_t SparseToDense(const CallArgs& args) { return FillDense(args, &args[2], args[3]); }
int32_t SparseToDenseZero(const CallArgs& args) { return FillDense(args, nullptr, args[2]); }
// The output's shape, which the last input is, is known.
int32_t DynSparseToDense(const CallArgs& args) { return FillDense(args, &args[2], args[4]); }

}  // namespace relayvm

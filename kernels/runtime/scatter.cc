// Scatter kernels: the output starts as the data, or is the data itself; each update is written or
// combined at the place its indices name. An index out of range is an error, before anything outside
// is touched. Tested by scatter_test.cc.
#include <algorithm>
#include <cstring>

#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

template <typename T>
void Combine(T& to, T from, ScatterMode mode) {
  using A = Arithmetic<T>;
  const A a = ToArithmetic(to), b = ToArithmetic(from);
  switch (mode) {
    case ScatterMode::kUpdate:
      to = from;
      return;
    case ScatterMode::kAdd:
      to = FromArithmetic<T>(WrapAdd(a, b));
      return;
    case ScatterMode::kMul:
      to = FromArithmetic<T>(WrapMultiply(a, b));
      return;
    case ScatterMode::kMean:
      to = FromArithmetic<T>(static_cast<A>(WrapAdd(a, b) / 2));
      return;
    case ScatterMode::kMin:
      to = FromArithmetic<T>(b < a ? b : a);
      return;
    case ScatterMode::kMax:
      to = FromArithmetic<T>(b > a ? b : a);
      return;
  }
}

void CopyTensor(const TensorView& from, const TensorView& to) {
  const size_t bytes = static_cast<size_t>(from.size()) * DTypeBytes(from.dtype);
  if (bytes != 0 && from.data != to.data) std::memcpy(to.data, from.data, bytes);
}

// An index brought into 0..extent-1, or -1.
int64_t ResolveIndex(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent ? index : -1;
}

}  // namespace

int32_t ScatterElements(const CallArgs& args) {
  const TensorView& data = args[0];
  const TensorView& indices = args[1];
  const TensorView& updates = args[2];
  const TensorView& out = args[3];
  if (indices.rank != data.rank || updates.rank != data.rank) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  const int axis = static_cast<int>(args.param(0));
  const ScatterMode mode = static_cast<ScatterMode>(args.param(1));
  for (int d = 0; d < data.rank; ++d) {
    if (d != axis && indices.dims[d] > data.dims[d]) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
    if (indices.dims[d] > updates.dims[d]) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  }
  CopyTensor(data, out);
  const int64_t total = indices.size();
  return DispatchDType(out.dtype, [&]<typename T>() -> int32_t {
    T* to = out.as<T>();
    const T* from = updates.as<const T>();
    for (int64_t flat = 0; flat < total; ++flat) {
      args.Work(1);
      const int64_t index = ResolveIndex(LoadIndex(indices, flat), data.dims[axis]);
      if (index < 0) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
      // The position of `flat` within data (with the index in place of the axis) and within
      // updates.
      int64_t rest = flat, at = 0, stride = 1, source = 0, source_stride = 1;
      for (int d = data.rank; d-- > 0;) {
        const int64_t position = rest % indices.dims[d];
        rest /= indices.dims[d];
        at += (d == axis ? index : position) * stride;
        stride *= data.dims[d];
        source += position * source_stride;
        source_stride *= updates.dims[d];
      }
      Combine(to[at], from[source], mode);
    }
    return RELAYVM_KERNEL_OK;
  });
}

// indices is (m, y...), updates (y..., data.shape[m:]...): each column of indices names a slice of
// data. Relay's relation also lets updates have further axes where indices name every axis of data;
// then a column counts in steps of these axes' size, and what falls behind the data is dropped.
int32_t ScatterNd(const CallArgs& args) {
  const TensorView& data = args[0];
  const TensorView& indices = args[1];
  const TensorView& updates = args[2];
  const TensorView& out = args[3];
  const int64_t depth = indices.dims[0];
  if (depth > data.rank || updates.rank < indices.rank - 1) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  const ScatterMode mode = static_cast<ScatterMode>(args.param(0));
  const int64_t columns = indices.Count(1, indices.rank);
  const int64_t slice = updates.Count(indices.rank - 1, updates.rank);
  const int64_t size = data.size();
  int64_t used;
  if (__builtin_mul_overflow(columns, slice, &used) || updates.size() < used) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  CopyTensor(data, out);
  if (depth == 0 && slice == 0) return RELAYVM_KERNEL_OK;  // no index, nothing to write
  return DispatchDType(out.dtype, [&]<typename T>() -> int32_t {
    T* to = out.as<T>();
    const T* from = updates.as<const T>();
    for (int64_t c = 0; c < columns; ++c) {
      args.Work(depth + slice);
      int64_t at = 0;
      for (int64_t m = 0; m < depth; ++m) {
        const int64_t index = ResolveIndex(LoadIndex(indices, m * columns + c), data.dims[m]);
        if (index < 0) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
        at = at * data.dims[m] + index;
      }
      int64_t first;
      if (__builtin_mul_overflow(at, slice, &first)) continue;
      const int64_t written = std::min(slice, size - first);
      if (mode == ScatterMode::kUpdate) {
        if (written > 0) std::memcpy(to + first, from + c * slice, written * sizeof(T));
        continue;
      }
      for (int64_t i = 0; i < written; ++i) Combine(to[first + i], from[c * slice + i], mode);
    }
    return RELAYVM_KERNEL_OK;
  });
}

}  // namespace relayvm

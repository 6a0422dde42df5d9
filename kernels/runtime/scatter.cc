// Scatter kernels: the output starts as the data, or is the data itself; each update is written or
// combined at the place its indices name. An index out of range is an error, before anything
// outside is touched. Tested by scatter_test.cc.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <type_traits>

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

template <ScatterMode kMode, typename V>
V CombineVectors(V to, V from) {
  if constexpr (kMode == ScatterMode::kAdd) return to + from;
  if constexpr (kMode == ScatterMode::kMul) return to * from;
  if constexpr (kMode == ScatterMode::kMin) return from < to ? from : to;
  return from > to ? from : to;
}

// n elements, each with the one of its place: in vectors, where they are more than one.
template <ScatterMode kMode, typename T>
void CombineRun(T* to, const T* from, int64_t n) {
  if constexpr (kMode == ScatterMode::kUpdate) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  int64_t i = 0;
  // Others than floats only add in vectors: the library is to be small.
  constexpr bool in_vectors = std::is_floating_point_v<T>
                                  ? kMode != ScatterMode::kMean
                                  : std::is_integral_v<T> && kMode == ScatterMode::kAdd;
  if constexpr (in_vectors) {
    constexpr bool wraps =
        std::is_integral_v<T> && (kMode == ScatterMode::kAdd || kMode == ScatterMode::kMul);
    using Number = std::conditional_t<wraps, std::make_unsigned<T>, std::type_identity<T>>::type;
    using Vector [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = Number;
    constexpr int64_t kLanes = 16 / sizeof(T);
    const auto at = [](auto* p) { return reinterpret_cast<Vector*>(const_cast<T*>(p)); };
    const auto one = [&](int64_t k) {
      *at(to + k) = CombineVectors<kMode>(*at(to + k), *at(from + k));
    };
    for (; i + kLanes <= n; i += kLanes) one(i);
  }
  for (; i < n; ++i) Combine(to[i], from[i], kMode);
}

// Slices of updates, one after the other, and where they go: place p is the p-th slice of the data.
// What falls behind the data's size is dropped.
template <typename T>
struct Slices {
  T* to;
  int64_t size;
  const T* from;
  int64_t slice;
  std::span<const int64_t> places;
};

template <ScatterMode kMode, typename T>
[[gnu::noinline]] void CombineSlices(const Slices<T>& s) {
  if (s.slice == 1) {
    const T* from = s.from;
    for (const int64_t place : s.places) {
      if (place < s.size) Combine(s.to[place], *from, kMode);
      ++from;
    }
    return;
  }
  const T* from = s.from;
  for (const int64_t place : s.places) {
    int64_t at;
    if (!__builtin_mul_overflow(place, s.slice, &at) && at < s.size)
      CombineRun<kMode>(s.to + at, from, std::min(s.slice, s.size - at));
    from += s.slice;
  }
}

// Asks once which mode it is.
template <typename T>
void CombineSlices(const Slices<T>& s, ScatterMode mode) {
  switch (mode) {
    case ScatterMode::kUpdate:
      return CombineSlices<ScatterMode::kUpdate>(s);
    case ScatterMode::kAdd:
      return CombineSlices<ScatterMode::kAdd>(s);
    case ScatterMode::kMul:
      return CombineSlices<ScatterMode::kMul>(s);
    case ScatterMode::kMean:
      return CombineSlices<ScatterMode::kMean>(s);
    case ScatterMode::kMin:
      return CombineSlices<ScatterMode::kMin>(s);
    case ScatterMode::kMax:
      return CombineSlices<ScatterMode::kMax>(s);
  }
}

void CopyTensor(const CallArgs& args, const TensorView& from, const TensorView& to) {
  if (from.data != to.data) args.Copy(to.data, from.data, from.size() * DTypeBytes(from.dtype));
}

// An index brought into 0..extent-1, or -1.
int64_t ResolveIndex(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent ? index : -1;
}

// Of an element: reads in order, a write anywhere.
constexpr int64_t kUpdateCost = 2;

// scatter_elements, a line of the indices' last axis after the other. load(i) is index i.
template <typename T, typename Load>
int32_t ScatterLines(const CallArgs& args, int axis, const Load& load, T* to, const T* from,
                     ScatterMode mode) {
  const TensorView& data = args[0];
  const TensorView& indices = args[1];
  const TensorView& updates = args[2];
  const int last = data.rank - 1;
  const int64_t extent = data.dims[axis];
  const int64_t step = data.Count(axis + 1, data.rank);  // of an index
  const int64_t next = axis == last ? 0 : 1;             // of an element of a line
  const int64_t length = indices.dims[last];
  const int64_t lines = indices.size() / length;
  for (int64_t line = 0; line < lines; ++line) {
    args.Work(4 * data.rank);
    // Where the line begins in the data, the axis apart, and in the updates.
    int64_t rest = line, at = 0, source = 0;
    int64_t stride = data.dims[last], source_stride = updates.dims[last];
    for (int d = last; d-- > 0;) {
      const int64_t position = rest % indices.dims[d];
      rest /= indices.dims[d];
      if (d != axis) at += position * stride;
      source += position * source_stride;
      stride *= data.dims[d];
      source_stride *= updates.dims[d];
    }
    int32_t status = RELAYVM_KERNEL_OK;
    args.InBlocks(
        length,
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end && status == RELAYVM_KERNEL_OK; ++i) {
            const int64_t given = load(line * length + i);
            const int64_t index = ResolveIndex(given, extent);
            if (index < 0) {
              status = args.OutOfRange(given, -extent, extent - 1);
              return;
            }
            T& place = to[at + index * step + i * next];
            if (mode == ScatterMode::kUpdate) {
              place = from[source + i];
            } else {
              Combine(place, from[source + i], mode);
            }
          }
        },
        kUpdateCost);
    if (status != RELAYVM_KERNEL_OK) return status;
  }
  return RELAYVM_KERNEL_OK;
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
  CopyTensor(args, data, out);
  if (indices.size() == 0) return RELAYVM_KERNEL_OK;
  if (data.rank == 0) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  return DispatchDType(out.dtype, [&]<typename T>() -> int32_t {
    const auto update = [&](const auto& load) {
      return ScatterLines(args, axis, load, out.as<T>(), updates.as<const T>(), mode);
    };
    if (indices.dtype == DType::kInt64)
      return update([from = indices.as<const int64_t>()](int64_t i) { return from[i]; });
    return update([&](int64_t i) { return LoadIndex(indices, i); });
  });
}

namespace {

// Columns that are looked up together, and elements that are written before a run can be stopped.
constexpr int64_t kPlacesAtOnce = 128, kElementsAtOnce = 64 << 10;

// Index tuples: the numbers of one are `of_number` apart, the tuples `of_tuple`.
struct Tuples {
  const TensorView& indices;
  int64_t length, of_number, of_tuple;
};

// The slices that tuples from `first` on name, by their number in the data; an error where an index
// is out of range. Number after number, so that what lies side by side takes vectors.
int32_t PlacesOf(const CallArgs& args, const TensorView& data, const Tuples& tuples,
                 std::span<int64_t> places, int64_t first) {
  std::ranges::fill(places, 0);
  const auto count = static_cast<int64_t>(places.size());
  const auto add = [&](int64_t extent, const auto& load) {
    uint64_t beyond = 0;
    for (int64_t c = 0; c < count; ++c) {
      int64_t index = load(c);
      index += index < 0 ? extent : 0;
      beyond |=
          static_cast<uint64_t>(static_cast<uint64_t>(index) >= static_cast<uint64_t>(extent));
      int64_t& place = places[static_cast<size_t>(c)];
      place = static_cast<int64_t>(static_cast<uint64_t>(place) * static_cast<uint64_t>(extent) +
                                   static_cast<uint64_t>(index));
    }
    return beyond == 0;
  };
  for (int64_t m = 0; m < tuples.length; ++m) {
    const int64_t from = m * tuples.of_number + first * tuples.of_tuple;
    const int64_t step = tuples.of_tuple;
    const auto fits = [&] {
      if (tuples.indices.dtype != DType::kInt64)
        return add(data.dims[m],
                   [&](int64_t c) { return LoadIndex(tuples.indices, from + c * step); });
      const auto* numbers = tuples.indices.as<const int64_t>() + from;
      if (step == 1) return add(data.dims[m], [=](int64_t c) { return numbers[c]; });
      return add(data.dims[m], [=](int64_t c) { return numbers[c * step]; });
    };
    if (fits()) continue;
    for (int64_t c = 0; c < count; ++c) {
      const int64_t given = LoadIndex(tuples.indices, from + c * step);
      if (ResolveIndex(given, data.dims[m]) < 0) {
        return args.OutOfRange(given, -data.dims[m], data.dims[m] - 1);
      }
    }
  }
  return RELAYVM_KERNEL_OK;
}

// indices is (m, y...), or (y..., m) where the tuples are its last axis, updates
// (y..., data.shape[m:]...): each tuple of indices names a slice of data. Relay's relation also
// lets updates have further axes where indices name every axis of data; then a column counts in
// steps of these axes' size, and what falls behind the data is dropped.
int32_t RunScatterNd(const CallArgs& args, bool last) {
  const TensorView& data = args[0];
  const TensorView& indices = args[1];
  const TensorView& updates = args[2];
  const TensorView& out = args[3];
  const int64_t depth = indices.dims[last ? indices.rank - 1 : 0];
  if (depth > data.rank || updates.rank < indices.rank - 1) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  const ScatterMode mode = static_cast<ScatterMode>(args.param(0));
  const int64_t columns =
      last ? indices.Count(0, indices.rank - 1) : indices.Count(1, indices.rank);
  const int64_t slice = updates.Count(indices.rank - 1, updates.rank);
  const int64_t size = data.size();
  int64_t used;
  if (__builtin_mul_overflow(columns, slice, &used) || updates.size() < used) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  CopyTensor(args, data, out);
  if (depth == 0 && slice == 0) return RELAYVM_KERNEL_OK;  // no index, nothing to write
  return DispatchDType(out.dtype, [&]<typename T>() -> int32_t {
    const Tuples tuples = {indices, depth, last ? 1 : columns, last ? depth : 1};
    std::array<int64_t, kPlacesAtOnce> room;
    const int64_t at_once =
        std::clamp<int64_t>(kElementsAtOnce / std::max<int64_t>(slice, 1), 1, kPlacesAtOnce);
    for (int64_t first = 0; first < columns; first += at_once) {
      const int64_t count = std::min(at_once, columns - first);
      const std::span places = std::span(room).first(static_cast<size_t>(count));
      // A slice that is more polls as it goes on.
      args.Work(count * (depth + (slice <= kElementsAtOnce ? slice : 1)));
      const int32_t error = PlacesOf(args, data, tuples, places, first);
      if (error != RELAYVM_KERNEL_OK) return error;
      const Slices<T> all = {out.as<T>(), size, updates.as<const T>() + first * slice, slice,
                             places};
      if (slice <= kElementsAtOnce) {
        CombineSlices(all, mode);
        continue;
      }
      int64_t at;
      if (__builtin_mul_overflow(places[0], slice, &at) || at >= size) continue;
      args.InBlocks(std::min(slice, size - at), [&](int64_t begin, int64_t end) {
        const std::array<int64_t, 1> start = {0};
        CombineSlices(
            Slices<T>{all.to + at + begin, end - begin, all.from + begin, end - begin, start},
            mode);
      });
    }
    return RELAYVM_KERNEL_OK;
  });
}

}  // namespace

int32_t ScatterNd(const CallArgs& args) { return RunScatterNd(args, false); }
int32_t ScatterNdTuplesLast(const CallArgs& args) { return RunScatterNd(args, true); }

}  // namespace relayvm

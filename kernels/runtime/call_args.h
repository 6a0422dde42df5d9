// How a builtin reads its arguments (see builtin.h for their layout), gets memory and polls, and
// how it handles elements of any dtype. Tested through builtin_test.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/kernel_abi.h"
#include "kernels/runtime/half.h"

namespace relayvm {

struct TensorView {
  DType dtype = DType::kFloat32;
  int rank = 0;
  const int64_t* dims = nullptr;
  std::byte* data = nullptr;

  // The number of elements of axes from..to-1.
  int64_t Count(int from, int to) const {
    int64_t count = 1;
    for (int d = from; d < to; ++d) count *= dims[d];
    return count;
  }
  int64_t size() const { return Count(0, rank); }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

// Ends the call of the builtin that runs, which gives `code`. By an exception, or where there are
// none (RELAYVM_MINIMAL) by a jump: what a builtin holds is memory of KernelAllocators.
[[noreturn, gnu::cold]] void StopKernel(int32_t code);
// What they allocate by.
void* AllocateForKernel(const RelayvmKernelEnv* env, size_t bytes);
void ReleaseOfKernel(const RelayvmKernelEnv* env, void* memory, size_t bytes);

// Memory of the call's environment, as an allocator of the standard library: what a builtin holds
// counts toward the run's limit, at which the call ends.
template <typename T>
class KernelAllocator {
 public:
  using value_type = T;

  explicit KernelAllocator(const RelayvmKernelEnv* env) : env_(env) {}
  template <typename U>
  KernelAllocator(const KernelAllocator<U>& other) : env_(other.env()) {}  // NOLINT: converts

  T* allocate(size_t n) {
    if (n > PTRDIFF_MAX / sizeof(T)) StopKernel(RELAYVM_KERNEL_OUT_OF_MEMORY);
    return static_cast<T*>(AllocateForKernel(env_, n * sizeof(T)));
  }
  void deallocate(T* memory, size_t n) { ReleaseOfKernel(env_, memory, n * sizeof(T)); }
  const RelayvmKernelEnv* env() const { return env_; }
  friend bool operator==(const KernelAllocator& a, const KernelAllocator& b) {
    return a.env_ == b.env_;
  }

 private:
  const RelayvmKernelEnv* env_;
};

template <typename T>
using KernelVector = std::vector<T, KernelAllocator<T>>;

// The arguments of one call, and its environment. REQUIRES: the kernel knows how many tensors it
// has. Not thread-safe.
class CallArgs {
 public:
  static constexpr int kMaxTensors = 12;
  // What is read of the environment; older callers have no more.
  static constexpr size_t kEnvBytes = offsetof(RelayvmKernelEnv, kept);

  CallArgs(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, int num_tensors)
      : env_(env), buffers_(args->buffers), num_tensors_(num_tensors) {
    const int64_t* s = args->scalars;
    for (int i = 0; i < num_tensors; ++i) {
      TensorView& t = tensors_[i];
      t.dtype = static_cast<DType>(*s++);
      t.rank = static_cast<int>(*s++);
      t.dims = s;
      s += t.rank;
      t.data = static_cast<std::byte*>(args->buffers[i]);
    }
    params_ = s;
  }

  const TensorView& operator[](int i) const { return tensors_[i]; }
  int64_t param(int i) const { return params_[i]; }
  int64_t& count(int i) const { return *static_cast<int64_t*>(buffers_[num_tensors_ + i]); }

  // `n` values, all T(); for Push, with n = 0. Polls: new memory is touched, so that bytes count
  // and not values.
  template <typename T>
  KernelVector<T> NewVector(int64_t n = 0) const {
    KernelVector<T> vector{KernelAllocator<T>(env_)};
    if (static_cast<uint64_t>(n) > vector.max_size()) StopKernel(RELAYVM_KERNEL_OUT_OF_MEMORY);
    vector.reserve(static_cast<size_t>(n));
    InBlocks(
        n, [&](int64_t, int64_t end) { vector.resize(static_cast<size_t>(end)); },
        std::max<int64_t>(1, sizeof(T) / kBytesOfUnit));
    return vector;
  }
  // vector.push_back, which polls where many values move to larger memory.
  template <typename T>
  void Push(KernelVector<T>& vector, const T& value) const {
    if (vector.size() == vector.capacity()) [[unlikely]]
      Grow(vector);
    vector.push_back(value);
  }

  // An index out of range, of those least..most.
  int32_t OutOfRange(int64_t found, int64_t least, int64_t most) const {
    if (env_->struct_size >= kEnvBytes && env_->fault != nullptr) {
      *env_->fault = {1, found, least, most};
    }
    return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  }

  // --- Texts ---
  // Of an id; an id that has none ends the call. Not zero-terminated; stays until the run ends.
  std::string_view Text(int64_t id) const {
    uint64_t bytes = 0;
    const RelayvmStrings* strings = Strings();
    const char* text = strings == nullptr ? nullptr : strings->text(strings, id, &bytes);
    if (text == nullptr) StopKernel(RELAYVM_KERNEL_INVALID_ARGUMENT);
    Work(kScattered + static_cast<int64_t>(bytes) / kBytesOfUnit);
    return {text, static_cast<size_t>(bytes)};
  }
  // The id of a text, which is copied where it is new. Ends the call at the run's limit.
  int64_t Intern(std::string_view text) const {
    RelayvmStrings* strings = Strings();
    if (strings == nullptr) StopKernel(RELAYVM_KERNEL_INVALID_ARGUMENT);
    Work(2 * kScattered + static_cast<int64_t>(text.size()) / kBytesOfUnit);
    const int64_t id = strings->intern(strings, text.data(), text.size());
    if (id < 0) StopKernel(RELAYVM_KERNEL_OUT_OF_MEMORY);
    return id;
  }
  // A text that is no number, where one is read.
  int32_t BadText(int64_t id) const {
    if (env_->struct_size >= kEnvBytes && env_->fault != nullptr) {
      *env_->fault = {1, id, 0, -1};
    }
    return RELAYVM_KERNEL_BAD_TEXT;
  }

  // --- Polling ---
  // Whatever takes time that grows with the sizes goes through one of these, bulk copies too.

  // What an element counts that is read or written where none of its neighbours are: a cache miss.
  static constexpr int64_t kScattered = 4;

  // Every long loop says here how much it does as it goes on, so that the run can be stopped
  // meanwhile, in units of some nanoseconds (up to 15): an element in order, about.
  void Work(int64_t units) const {
    fuel_ -= units;
    if (fuel_ <= 0) [[unlikely]]
      Poll();
  }
  // The same for each of `n` elements in turn: each(begin, end) does a block of them, each of
  // `cost` units.
  template <typename Each>
  void InBlocks(int64_t n, const Each& each, int64_t cost = 1) const {
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const int64_t end = std::min(n, begin + kBlock);
      Work((end - begin) * cost);
      each(begin, end);
    }
  }
  // Whether is(i) holds for any i of 0..n-1.
  template <typename Is>
  bool AnyOf(int64_t n, const Is& is, int64_t cost) const {
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const int64_t end = std::min(n, begin + kBlock);
      Work((end - begin) * cost);
      for (int64_t i = begin; i < end; ++i) {
        if (is(i)) return true;
      }
    }
    return false;
  }

  void Copy(void* to, const void* from, int64_t bytes) const {
    if (bytes > 0 && bytes < kPiece) {
      Work(bytes / kBytesOfUnit + 1);
      std::memcpy(to, from, static_cast<size_t>(bytes));
      return;
    }
    InPieces(bytes, [&](int64_t at, size_t size) {
      std::memcpy(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, size);
    });
  }
  // All of the tensor's bytes become 0.
  void Clear(const TensorView& t) const {
    InPieces(t.size() * DTypeBytes(t.dtype),
             [&](int64_t at, size_t size) { std::memset(t.data + at, 0, size); });
  }
  template <typename T>
  void Fill(T* to, int64_t n, T value) const {
    InBlocks(n, [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, value); });
  }

  // std::sort: a quicksort down to pieces that take less than a millisecond, without a cost in
  // their comparisons.
  template <typename Iterator, typename Less>
  void Sort(Iterator first, Iterator last, const Less& less) const {
    for (int level = 0; last - first > kSmall; ++level) {
      if (level == 64) return SortByPolls(first, last, less);
      Iterator middle = Partition(first, last, less);
      // The smaller side by recursion, so that its depth is logarithmic.
      if (middle - first < last - middle) {
        Sort(first, middle, less);
        first = middle;
      } else {
        Sort(middle, last, less);
        last = middle;
      }
    }
    Work((last - first) * kSortCost);
    std::sort(first, last, less);
  }
  // std::nth_element, likewise. REQUIRES: first <= nth < last.
  template <typename Iterator, typename Less>
  void Select(Iterator first, Iterator nth, Iterator last, const Less& less) const {
    for (int level = 0; last - first > kSmall; ++level) {
      if (level == 64) return Sort(first, last, less);
      const Iterator middle = Partition(first, last, less);
      (nth < middle ? last : first) = middle;
    }
    Work((last - first) * kSortCost);
    std::nth_element(first, nth, last, less);
  }

 private:
  // Units between two polls: less than a millisecond.
  static constexpr int64_t kFuel = 1 << 16;
  // Elements, and bytes of a bulk copy, that are done without a poll inside.
  static constexpr int64_t kBlock = 1 << 14, kPiece = 1 << 18;
  static constexpr int64_t kBytesOfUnit = 4;  // of a bulk copy, or of new memory
  // What the standard library sorts, and what that takes of each element.
  static constexpr ptrdiff_t kSmall = 1 << 14;
  static constexpr int64_t kSortCost = 4;

  // each(at, size) for pieces of so many bytes.
  template <typename Each>
  void InPieces(int64_t bytes, const Each& each) const {
    for (int64_t at = 0; at < bytes; at += kPiece) {
      const int64_t size = std::min(bytes - at, kPiece);
      Work(size / kBytesOfUnit + 1);
      each(at, static_cast<size_t>(size));
    }
  }
  // Room for twice as many values; few are left to the vector itself.
  template <typename T>
  [[gnu::noinline]] void Grow(KernelVector<T>& vector) const {
    const auto size = static_cast<int64_t>(vector.size());
    if (size < kBlock) return;
    KernelVector<T> larger{KernelAllocator<T>(env_)};
    larger.reserve(2 * vector.size());
    InBlocks(
        size,
        [&](int64_t begin, int64_t end) {
          larger.insert(larger.end(), vector.begin() + begin, vector.begin() + end);
        },
        std::max<int64_t>(1, sizeof(T) / kBytesOfUnit));
    vector.swap(larger);
  }

  // Goes on in steps to the first element that is not `passed`; true after four, for there may be
  // many.
  template <typename Iterator, typename Passed>
  static bool Skip(Iterator& at, ptrdiff_t step, const Passed& passed) {
    for (int i = 0; i < 4; ++i, at += step) {
      if (!passed(*at)) return false;
    }
    return true;
  }
  // Hoare's: what is not above the pivot, then what is not below. Neither side is empty.
  template <typename Iterator, typename Less>
  Iterator Partition(Iterator first, Iterator last, const Less& less) const {
    // The middle of three spread over the piece, at its start.
    Iterator a = first, b = first + (last - first) / 2, c = last - 1;
    if (less(*b, *a)) std::iter_swap(a, b);
    if (less(*c, *b)) std::iter_swap(b, c);
    if (less(*b, *a)) std::iter_swap(a, b);
    const auto pivot = *b;
    // Either side may be passed without a swap: each says on its way how far it came.
    constexpr ptrdiff_t kStep = kSmall / 4;
    Iterator low = first, high = last - 1;
    Iterator low_mark = low + kStep, high_mark = high - kStep;
    const auto pass_low = [&] {
      Work(kStep * kScattered);
      low_mark += std::min(kStep, last - low_mark);
    };
    const auto pass_high = [&] {
      Work(kStep * kScattered);
      high_mark -= std::min(kStep, high_mark - first);
    };
    for (;; ++low, --high) {
      if (low >= low_mark) [[unlikely]]
        pass_low();
      while (Skip(low, 1, [&](const auto& x) { return less(x, pivot); })) {
        if (low >= low_mark) [[unlikely]]
          pass_low();
      }
      while (Skip(high, -1, [&](const auto& x) { return less(pivot, x); })) {
        if (high <= high_mark) [[unlikely]]
          pass_high();
      }
      if (low >= high) return high + 1;
      std::iter_swap(low, high);
    }
  }
  // Where pivots were bad again and again.
  template <typename Iterator, typename Less>
  void SortByPolls(Iterator first, Iterator last, const Less& less) const {
    std::sort(first, last, [&](const auto& x, const auto& y) {
      Work(kScattered);
      return less(x, y);
    });
  }
  RelayvmStrings* Strings() const {
    return env_->struct_size >= kEnvBytes ? env_->strings : nullptr;
  }
  void Poll() const {
    fuel_ = kFuel;
    if (env_->struct_size < kEnvBytes || env_->poll == nullptr) return;
    const int32_t code = env_->poll(env_);
    if (code != RELAYVM_KERNEL_OK) StopKernel(code);
  }

  const RelayvmKernelEnv* env_;
  TensorView tensors_[kMaxTensors];
  void* const* buffers_;
  const int64_t* params_;
  int num_tensors_;
  mutable int64_t fuel_ = kFuel;
};

// --- Elements ---

struct Bool {
  uint8_t bits;
  Bool() = default;
  explicit Bool(bool b) : bits(b) {}
  explicit operator bool() const { return bits != 0; }
};

// Calls fn.operator()<T>() with T the storage type of `t`.
template <typename Fn>
decltype(auto) DispatchDType(DType t, Fn&& fn) {
  switch (t) {
    case DType::kBool:
      return fn.template operator()<Bool>();
    case DType::kInt8:
      return fn.template operator()<int8_t>();
    case DType::kInt16:
      return fn.template operator()<int16_t>();
    case DType::kInt32:
      return fn.template operator()<int32_t>();
    case DType::kInt64:
    case DType::kString:  // its id
      return fn.template operator()<int64_t>();
    case DType::kUInt8:
      return fn.template operator()<uint8_t>();
    case DType::kUInt16:
      return fn.template operator()<uint16_t>();
    case DType::kUInt32:
      return fn.template operator()<uint32_t>();
    case DType::kUInt64:
      return fn.template operator()<uint64_t>();
    case DType::kFloat16:
      return fn.template operator()<Float16>();
    case DType::kBFloat16:
      return fn.template operator()<BFloat16>();
    case DType::kFloat32:
      return fn.template operator()<float>();
    case DType::kFloat64:
      return fn.template operator()<double>();
  }
  return fn.template operator()<float>();
}

// The type that arithmetic on T uses: integers wrap as their unsigned 64-bit images, halves compute
// in float.
template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <typename T>
using Arithmetic = std::conditional_t<
    kIsHalf<T>, float,
    std::conditional_t<
        std::is_same_v<T, Bool>, bool,
        std::conditional_t<std::is_floating_point_v<T>, T,
                           std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>>>;

// What geometric kernels compute float dtypes in.
template <typename T>
using Real = std::conditional_t<std::is_same_v<Arithmetic<T>, double>, double, float>;

// As DispatchDType for float dtypes; an error for others.
template <typename Fn>
int32_t DispatchFloat(DType t, Fn&& fn) {
  if (!IsFloat(t)) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  return DispatchDType(t, [&]<typename T>() -> int32_t {
    if constexpr (kIsHalf<T> || std::is_floating_point_v<T>) {
      return fn.template operator()<T>();
    } else {
      return RELAYVM_KERNEL_INVALID_ARGUMENT;
    }
  });
}

// Integers wrap; others are added and multiplied as they are.
template <typename A>
A WrapAdd(A a, A b) {
  if constexpr (std::is_same_v<A, int64_t>) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return static_cast<A>(a + b);
  }
}
template <typename A>
A WrapMultiply(A a, A b) {
  if constexpr (std::is_same_v<A, int64_t>) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return static_cast<A>(a * b);
  }
}

template <typename T>
Arithmetic<T> ToArithmetic(T x) {
  return static_cast<Arithmetic<T>>(x);
}
template <typename T>
T FromArithmetic(Arithmetic<T> x) {
  return static_cast<T>(x);
}

// Float to integer, toward zero; NaN gives 0 and what is out of range the nearest end (never
// undefined).
inline int64_t TruncateToInt64(double x) {
  if (!(x == x)) return 0;
  if (x >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (x < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

// Conversion between storage types as `cast` defines it.
template <typename To, typename From>
To ConvertElement(From from) {
  const Arithmetic<From> x = ToArithmetic(from);
  if constexpr (std::is_same_v<To, Bool>) {
    return Bool(x != Arithmetic<From>(0));
  } else if constexpr (std::is_floating_point_v<Arithmetic<From>> && std::is_integral_v<To>) {
    return static_cast<To>(TruncateToInt64(static_cast<double>(x)));
  } else {
    return FromArithmetic<To>(static_cast<Arithmetic<To>>(x));
  }
}

// Element i of a tensor of any dtype.
template <typename To>
To LoadAs(const TensorView& t, int64_t i) {
  return DispatchDType(t.dtype,
                       [&]<typename T>() { return ConvertElement<To>(t.as<const T>()[i]); });
}
// Element i of an integer tensor as an index: what int64 cannot hold is its largest value, which no
// extent exceeds.
inline int64_t LoadIndex(const TensorView& t, int64_t i) {
  if (t.dtype != DType::kUInt64) return LoadAs<int64_t>(t, i);
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  const uint64_t index = t.as<const uint64_t>()[i];
  return static_cast<int64_t>(index < kMost ? index : kMost);
}
inline void StoreIndex(const TensorView& t, int64_t i, int64_t value) {
  DispatchDType(t.dtype, [&]<typename T>() { t.as<T>()[i] = ConvertElement<T>(value); });
}

// Whether two tensors have the same shape, but for `axis` (-1: without exception).
inline bool SameDims(const TensorView& a, const TensorView& b, int64_t axis = -1) {
  if (a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d) {
    if (d != axis && a.dims[d] != b.dims[d]) return false;
  }
  return true;
}

// A tensor seen as (outer, n, inner) around one axis.
struct AxisSplit {
  int64_t outer, n, inner;
};
inline AxisSplit SplitAt(const TensorView& t, int axis) {
  return {t.Count(0, axis), t.dims[axis], t.Count(axis + 1, t.rank)};
}

// An integer whose order is that of the elements: NaN above all, -0 equal to 0.
template <typename T>
uint64_t SortKey(T x) {
  if constexpr (std::is_same_v<T, Bool>) {
    return x.bits != 0;
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<uint64_t>(static_cast<int64_t>(x)) ^ (uint64_t{1} << 63);
    } else {
      return x;
    }
  } else {
    using F = std::conditional_t<sizeof(T) == 8, double, float>;
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1), kAll = ~Bits{0};
    const F f = static_cast<F>(ToArithmetic(x));
    const Bits bits = std::bit_cast<Bits>(f + F{0});  // of -0 too
    const Bits key = bits ^ ((bits & kSign) != 0 ? kAll : kSign);
    return std::isnan(f) ? kAll : key;
  }
}
// The keys of n elements from `first` on.
void LoadKeys(const CallArgs& args, const TensorView& t, int64_t first, int64_t n, uint64_t* keys);

// An element by its key; among equals the first comes first.
struct SortEntry {
  uint64_t key;
  int64_t index;
  friend bool operator<(const SortEntry& a, const SortEntry& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};
// The first k elements of a line of many (a tensor of rank 1), in order; of those behind `after` if
// that is not null. Descending, keys are the elements' inverted. REQUIRES: k > 0.
void FindFirst(const CallArgs& args, const TensorView& line, int64_t k, bool ascending,
               const SortEntry* after, KernelVector<SortEntry>& found);

}  // namespace relayvm

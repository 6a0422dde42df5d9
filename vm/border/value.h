// Value: what goes in and out of a program: a tensor, a tuple or constructor of an ADT, a closure,
// or a reference.
//
// A handle on an immutable tree that is shared by counting; copies are cheap, and any thread may
// hold, read and drop them. Trees of any depth are dropped without recursion. Only mutable_data()
// of a tensor that is not shared may be written. Tested by value_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"

namespace relayvm {

class Device;  // vm/device/device.h

namespace vm {
struct Object;
}

// The dtype of T's: bool, float, double, integers of 8 to 64 bits.
template <typename T>
inline constexpr DType kDTypeOf = [] {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
  constexpr DType kSigned[] = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64};
  constexpr DType kUnsigned[] = {DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64};
  constexpr int kPower = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  if (std::is_same_v<T, bool>) return DType::kBool;
  if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  return std::is_signed_v<T> ? kSigned[kPower] : kUnsigned[kPower];
}();

class Value {
 public:
  enum class Kind : uint8_t { kNone, kTensor, kAdt, kClosure, kRef };

  Value() = default;
  Value(const Value& other);
  Value(Value&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Value& operator=(Value other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Value() {
    if (object_ != nullptr) Drop();
  }

  // --- Builders. They fail with kInvalidArgument (a negative dim, a rank above 255, no data) or
  // kResourceExhausted. ---

  // A tensor of numbers (as the next two) with undefined elements, to be filled through
  // mutable_data().
  static Result<Value> NewTensor(DType dtype, std::span<const int64_t> dims);
  // Copies compact, row-major elements.
  static Result<Value> CopyTensor(DType dtype, std::span<const int64_t> dims, const void* data);
  // A tensor of strings, UTF-8, as many as the dims say.
  static Result<Value> CopyStrings(std::span<const int64_t> dims,
                                   std::span<const std::string_view> texts);
  // The caller's memory, without a copy when it is 64-byte aligned; `release(context)` is called
  // when it is no longer needed, from any thread (at once when it had to be copied, and on
  // failure). `release` may be null. The memory must not change meanwhile: where a program gives an
  // input back, or a part of it, that is the result's memory too (is_borrowed).
  static Result<Value> WrapTensor(DType dtype, std::span<const int64_t> dims, void* data,
                                  void (*release)(void*), void* context);
  // A rank-0 tensor of a number from a canonical scalar (bytecode/kernel_abi.h); and from C++
  // numbers.
  static Value Scalar(DType dtype, uint64_t canonical);
  static Value Int64(int64_t value) { return Scalar(DType::kInt64, static_cast<uint64_t>(value)); }
  static Value Int32(int32_t value) {
    return Scalar(DType::kInt32, static_cast<uint64_t>(int64_t{value}));
  }
  static Value Bool(bool value) { return Scalar(DType::kBool, value); }
  static Value Float32(float value);
  static Value Float64(double value);
  static Value Tuple(std::vector<Value> fields) { return Adt(0, std::move(fields)); }
  // A constructor by its tag (Executable::FindConstructor). None when there are more than 65535
  // fields. A field that is none is so in the result too, which no program takes.
  static Value Adt(uint32_t tag, std::vector<Value> fields);

  // --- What it is ---
  Kind kind() const;
  bool is_tensor() const { return kind() == Kind::kTensor; }
  explicit operator bool() const { return object_ != nullptr; }

  // REQUIRES, to `bytes`: is_tensor().
  DType dtype() const;
  std::span<const int64_t> dims() const;
  int64_t num_elements() const;
  // Compact, row-major, 64-byte aligned (a scalar's 16); undefined when there are no elements. Of
  // strings their offsets (bytecode/base/string_table.h). Null on a device.
  const void* data() const;
  size_t bytes() const;
  // Where its memory is; null: the host's. It lives as long as the value. Runtime::CopyTo makes
  // values on devices and brings them back; runs leave them there (OutputBuffer::device).
  const Device* device() const;
  std::shared_ptr<Device> shared_device() const;  // the same; null of what is no tensor, too
  // Its address there; null on the host.
  void* device_data() const;
  // The elements as T (bool, float, double, integers of 8 to 64 bits), which live as long as a
  // handle on the tensor; none where it is no tensor of these.
  template <typename T>
  std::span<const T> span() const {
    if (!is_tensor() || dtype() != kDTypeOf<T> || device() != nullptr) return {};
    return {static_cast<const T*>(data()), static_cast<size_t>(num_elements())};
  }
  // The same where mutable_data() is not null.
  template <typename T>
  std::span<T> mutable_span() {
    if (!is_tensor() || dtype() != kDTypeOf<T>) return {};
    T* const elements = static_cast<T*>(mutable_data());
    return elements == nullptr ? std::span<T>()
                               : std::span<T>(elements, static_cast<size_t>(num_elements()));
  }
  // Whether the memory is that of a WrapTensor. Hosts whose callers change it after a run, copy.
  bool is_borrowed() const;
  // Null when the tensor is shared, or its memory is not its own.
  void* mutable_data();
  // The text at a flat position, which lives as long as a handle on the tensor. REQUIRES: a tensor
  // of strings, in range.
  std::string_view text(int64_t position) const;
  // The element at a flat position as a canonical scalar. REQUIRES: a tensor of the host, in range.
  uint64_t element(int64_t position) const;

  // REQUIRES: kAdt (tuples have tag 0).
  uint32_t tag() const;
  size_t num_fields() const;
  // REQUIRES: kAdt with index < num_fields(), or kRef with index 0 (the content when the run
  // ended).
  Value field(size_t index) const;
  // REQUIRES: kClosure. The function's index in its program; what it captured stays inside.
  uint32_t function() const;

  // For the runtime: takes over a reference to a shared object.
  static Value Adopt(vm::Object* object) {
    Value v;
    v.object_ = object;
    return v;
  }
  // Gives up its reference: the caller has it now, and this is none.
  vm::Object* Release() { return std::exchange(object_, nullptr); }
  vm::Object* object() const { return object_; }

 private:
  void Drop();

  vm::Object* object_ = nullptr;
};

// Memory of the caller for a tensor of a result: compact, row-major, of any alignment. Who keeps
// one in a variable keeps its dims too: `{{2, 3}}` lasts as long as the call that it stands in.
struct OutputBuffer {
  DType dtype = DType::kFloat32;
  std::span<const int64_t> dims;  // not needed once a run has started
  void* data = nullptr;           // null: no buffer, the tensor stays in the result
  // The tensor stays in the result, on this device of the runtime; null: on the host. REQUIRES:
  // data is null.
  const Device* device = nullptr;
};

// An input, and a buffer for a tensor of the result, as the function calls them
// (FunctionSignature).
struct NamedValue {
  std::string_view name;
  Value value;
};
struct NamedBuffer {
  std::string_view name;
  OutputBuffer buffer;
};

}  // namespace relayvm

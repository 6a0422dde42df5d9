// Runtime objects: a closed set, with intrusive counts.
//
//   word 0   count (4) | kind (1) | home (1) | two bytes by kind
//   word 1   by kind; while an object waits to be destroyed, the link to the next one (never of a
//            tensor)
//
// An object lives in one of three homes, and its count is read accordingly:
//   kLocal     in the Heap of one invocation; a plain count below kUncounted
//   kShared    owned by Values (value.h); kUncounted + an atomic count that the interpreter never
//              touches: an invocation holds its inputs for as long as it runs, and otherwise treats
//              them as constants
//   kImmortal  constants of an executable, and the empty object: never counted
// So Retain and Release are one compare and one add, without atomics, whatever the object is. A
// local count that reaches kUncounted stays there: the object then lives until its heap is reset.
//
// References go from local objects to any, from shared ones to shared and immortal ones only.
// Tested by object_test.cc.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bytecode/base/dtype.h"

namespace relayvm::vm {

class Heap;

// kDeviceTensor is a Tensor whose memory is a device's: a kind of its own, so that whoever asks for
// a tensor, to read its data, asks for one of the host.
enum class ObjectKind : uint8_t { kEmpty, kTensor, kAdt, kClosure, kRef, kDeviceTensor };
enum class Home : uint8_t { kLocal, kShared, kImmortal };

// "a tensor", "a closure", ...
const char* ObjectKindName(ObjectKind kind);

inline constexpr uint32_t kUncounted = 0x80000000;

struct Object {
  std::atomic<uint32_t> count;
  ObjectKind kind;
  Home home;
};

// Where a tensor's memory is.
enum class Storage : uint8_t {
  kInline,    // behind the header, in the same block
  kScalar,    // the same, of rank 0: at once behind, without room for dims
  kOwned,     // a block of its own, from the heap
  kView,      // that of `owner`
  kExternal,  // anywhere; `external` says how to give it back
  kOutput,    // the caller's, for a tensor of the result (output_places.h); copied where it leaves
  kDevice,    // a device's, from `place`
};

// Memory that came from outside, or that left its heap.
struct ExternalMemory {
  void (*release)(ExternalMemory* self);  // frees *self too; may be called from any thread
  bool is_writable = false;               // by who alone holds the tensor
  bool is_callers = false;                // of Value::WrapTensor, also where this is a part of it
};

struct Tensor;
// Where tensors of kDeviceTensor have their memory; of one run.
struct DevicePlace {
  void (*free)(DevicePlace* self, Heap& heap, Tensor* tensor);
};

struct Tensor : Object {
  DType dtype;
  uint8_t rank;
  // 64-byte aligned, a scalar's 16; meaningless without elements.
  alignas(8) char* data;
  alignas(8) uint64_t capacity : 48;  // bytes at data
  uint64_t device : 8;                // 0: the host
  uint64_t storage_code : 8;
  union alignas(8) {
    Tensor* owner;             // kView; never a view itself
    ExternalMemory* external;  // kExternal
    DevicePlace* place;        // kDevice
  };
  alignas(8) int64_t dims[];  // room for room_for_dims() of them

  Storage storage() const { return static_cast<Storage>(storage_code); }
  int room_for_dims() const;
  std::span<const int64_t> shape() const { return {dims, rank}; }
  int64_t num_elements() const;
  size_t bytes() const { return static_cast<size_t>(num_elements()) * DTypeBytes(dtype); }
};
static_assert(sizeof(Tensor) == 32);
inline constexpr int kInlineDims = 4;
inline int Tensor::room_for_dims() const {
  return storage() == Storage::kScalar ? 0 : std::max<int>(rank, kInlineDims);
}
inline constexpr int kMaxRank = 255;
inline constexpr size_t kDataAlignment = 64;
// A scalar's whole block.
inline constexpr size_t kScalarBytes = sizeof(Tensor) + sizeof(uint64_t);
static_assert(kScalarBytes <= 48);
// Bytes of a tensor's header, a multiple of 64: inline data starts there.
constexpr size_t TensorHeaderBytes(int rank) {
  return (sizeof(Tensor) + 8 * static_cast<size_t>(std::max(rank, kInlineDims)) + 63) & ~size_t{63};
}

struct Adt : Object {
  uint16_t num_fields;
  union alignas(8) {
    uint64_t tag;
    Object* next;
  };
  Object* fields[];
};

struct Closure : Object {
  uint16_t num_captured;
  union alignas(8) {
    uint64_t function;
    Object* next;
  };
  Object* captured[];
};

struct Ref : Object {
  uint16_t unused;
  alignas(8) Object* next;
  alignas(8) Object* content;
};
static_assert(sizeof(Adt) == 16 && sizeof(Closure) == 16 && sizeof(Ref) == 24);
// Adt, Closure and Ref are alike to what walks them: a row of fields.
inline std::span<Object*> FieldsOf(Object* object) {
  switch (object->kind) {
    case ObjectKind::kAdt: {
      auto* adt = static_cast<Adt*>(object);
      return {adt->fields, adt->num_fields};
    }
    case ObjectKind::kClosure: {
      auto* closure = static_cast<Closure*>(object);
      return {closure->captured, closure->num_captured};
    }
    case ObjectKind::kRef:
      return {&static_cast<Ref*>(object)->content, 1};
    case ObjectKind::kTensor:
    case ObjectKind::kDeviceTensor:
    case ObjectKind::kEmpty:
      return {};
  }
  return {};
}

// What a register without a value holds. Immortal.
extern Object kEmptyObject;
inline Object* Empty() { return &kEmptyObject; }

inline void Retain(Object* o) {
  uint32_t count = o->count.load(std::memory_order_relaxed);
  if (count < kUncounted) o->count.store(count + 1, std::memory_order_relaxed);
}
// Destroys a local object whose count is 1, and all that this was the last holder of, without
// recursion.
void Destroy(Heap& heap, Object* object);
inline void Release(Heap& heap, Object* o) {
  uint32_t count = o->count.load(std::memory_order_relaxed);
  if (count >= kUncounted) return;
  if (count == 1) return Destroy(heap, o);
  o->count.store(count - 1, std::memory_order_relaxed);
}
inline bool IsUnique(const Object* o) { return o->count.load(std::memory_order_relaxed) == 1; }

// New local objects with count 1; null when the heap's limit is reached. Fields are uninitialised.
// REQUIRES: num_fields and num_captured fit 16 bits.
Adt* NewAdt(Heap& heap, uint32_t tag, uint32_t num_fields);
Closure* NewClosure(Heap& heap, uint32_t function, uint32_t num_captured);
Ref* NewRef(Heap& heap);
// Elements are what was there before, or zero in a run that clears its memory
// (LoadOptions::clear_memory). Dims are left to the caller, who copies `rank` of them. REQUIRES: 0
// <= rank <= kMaxRank.
Tensor* NewTensor(Heap& heap, DType dtype, int rank, size_t bytes);
// A view of `owner` (retained), or of what it views: `bytes` at `data`.
Tensor* NewView(Heap& heap, Tensor* owner, int rank, char* data, size_t bytes);
// At memory of a device, which `place` frees; null without memory for the header.
Tensor* NewDeviceTensor(Heap& heap, DType dtype, std::span<const int64_t> dims, uint8_t device,
                        DevicePlace* place, void* data, size_t bytes);
inline bool IsTensor(const Object* o) {
  return o->kind == ObjectKind::kTensor || o->kind == ObjectKind::kDeviceTensor;
}
// In memory that outlives the heap's objects; null without memory for the header.
Tensor* NewOutputTensor(Heap& heap, DType dtype, int rank, char* data, size_t bytes);

// The bytes of a tensor, or -1 when a dim is negative or the size, leaving out dims of 0, is above
// 2^47 (a quarter of 32 bits' addresses). The dims that are not 0 must fit even of an empty tensor:
// what kernels make of them (strides, extents) never overflows then.
inline int64_t CheckedTensorBytes(DType dtype, std::span<const int64_t> dims) {
  constexpr int64_t kLimit = std::min<uint64_t>(uint64_t{1} << 47, PTRDIFF_MAX / 2);
  int64_t bytes = DTypeBytes(dtype);
  bool zero = false;
  for (int64_t d : dims) {
    if (d == 0) {
      zero = true;
      continue;
    }
    if (d < 0 || __builtin_mul_overflow(bytes, d, &bytes) || bytes > kLimit) return -1;
  }
  return zero ? 0 : bytes;
}

// Elements as canonical scalars (bytecode/kernel_abi.h).
uint64_t LoadScalar(DType dtype, const void* data);
void StoreScalar(DType dtype, uint64_t value, void* data);

}  // namespace relayvm::vm

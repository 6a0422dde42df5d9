#include "vm/memory/object.h"

#include <cassert>
#include <cstring>
#include <new>

#include "vm/memory/allocator.h"

namespace relayvm::vm {
namespace {

void InitObject(Object* o, ObjectKind kind) {
  o->count.store(1, std::memory_order_relaxed);
  o->kind = kind;
  o->home = Home::kLocal;
}

Tensor* InitTensor(void* block, DType dtype, int rank, Storage storage) {
  auto* tensor = static_cast<Tensor*>(block);
  InitObject(tensor, ObjectKind::kTensor);
  tensor->dtype = dtype;
  tensor->rank = static_cast<uint8_t>(rank);
  tensor->device = 0;
  tensor->storage_code = static_cast<uint8_t>(storage);
  tensor->owner = nullptr;
  return tensor;
}

void FreeTensor(Heap& heap, Tensor* tensor) {
  switch (tensor->storage()) {
    case Storage::kInline:
    case Storage::kScalar:
    case Storage::kExternal:  // it has left this header
    case Storage::kOutput:
      break;
    case Storage::kOwned:
      heap.FreeLarge(tensor->data, tensor->capacity);
      break;
    case Storage::kDevice:
      tensor->place->free(tensor->place, heap, tensor);
      break;
    case Storage::kView: {
      Tensor* owner = tensor->owner;
      uint32_t count = owner->count.load(std::memory_order_relaxed);
      if (count == 1) {
        FreeTensor(heap, owner);  // an owner is no view: one level deep
      } else if (count < kUncounted) {
        owner->count.store(count - 1, std::memory_order_relaxed);
      }
      break;
    }
  }
  heap.FreeSmall(tensor);
}

// The block of an Adt or Closure.
void* AllocateRow(Heap& heap, size_t num_fields) {
  size_t bytes = sizeof(Adt) + 8 * num_fields;
  return bytes <= Heap::kMaxSmall ? heap.AllocateSmall(bytes) : heap.AllocateLarge(bytes);
}
void FreeRow(Heap& heap, Object* object, size_t num_fields) {
  size_t bytes = sizeof(Adt) + 8 * num_fields;
  if (bytes <= Heap::kMaxSmall) return heap.FreeSmall(object);
  heap.FreeLarge(object, bytes);
}

}  // namespace

Object kEmptyObject = {{kUncounted}, ObjectKind::kEmpty, Home::kImmortal};

const char* ObjectKindName(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kEmpty:
      return "an empty register";
    case ObjectKind::kTensor:
      return "a tensor";
    case ObjectKind::kAdt:
      return "a constructor or tuple";
    case ObjectKind::kClosure:
      return "a closure";
    case ObjectKind::kRef:
      return "a reference";
    case ObjectKind::kDeviceTensor:
      return "a tensor on a device";
  }
  return "an unknown object";
}

int64_t Tensor::num_elements() const {
  // The product of dims fits, unless one of them is zero: then the others may be anything.
  uint64_t n = 1;
  for (int64_t d : shape()) n *= static_cast<uint64_t>(d);
  return static_cast<int64_t>(n);
}

void Destroy(Heap& heap, Object* object) {
  if (IsTensor(object)) return FreeTensor(heap, static_cast<Tensor*>(object));
  // The three kinds with fields have the link at the same place.
  Object* pending = object;
  static_cast<Adt*>(object)->next = nullptr;
  while (pending != nullptr) {
    Object* dead = pending;
    pending = static_cast<Adt*>(dead)->next;
    const std::span<Object*> fields = FieldsOf(dead);
    for (Object* child : fields) {
      uint32_t count = child->count.load(std::memory_order_relaxed);
      if (count >= kUncounted) continue;
      if (count > 1) {
        child->count.store(count - 1, std::memory_order_relaxed);
      } else if (IsTensor(child)) {
        FreeTensor(heap, static_cast<Tensor*>(child));
      } else {
        static_cast<Adt*>(child)->next = pending;
        pending = child;
      }
    }
    if (dead->kind == ObjectKind::kRef) {
      heap.FreeSmall(dead);
    } else {
      FreeRow(heap, dead, fields.size());
    }
  }
}

Adt* NewAdt(Heap& heap, uint32_t tag, uint32_t num_fields) {
  void* block = AllocateRow(heap, num_fields);
  if (block == nullptr) return nullptr;
  auto* adt = static_cast<Adt*>(block);
  InitObject(adt, ObjectKind::kAdt);
  adt->num_fields = static_cast<uint16_t>(num_fields);
  adt->tag = tag;
  return adt;
}

Closure* NewClosure(Heap& heap, uint32_t function, uint32_t num_captured) {
  void* block = AllocateRow(heap, num_captured);
  if (block == nullptr) return nullptr;
  auto* closure = static_cast<Closure*>(block);
  InitObject(closure, ObjectKind::kClosure);
  closure->num_captured = static_cast<uint16_t>(num_captured);
  closure->function = function;
  return closure;
}

Ref* NewRef(Heap& heap) {
  void* block = heap.AllocateSmall(sizeof(Ref));
  if (block == nullptr) return nullptr;
  auto* ref = static_cast<Ref*>(block);
  InitObject(ref, ObjectKind::kRef);
  return ref;
}

namespace {

// Of a program that must not see what was here before.
void ClearData(const Heap& heap, Tensor* tensor) {
  if (heap.clears()) [[unlikely]]
    std::memset(tensor->data, 0, tensor->capacity);
}

}  // namespace

Tensor* NewTensor(Heap& heap, DType dtype, int rank, size_t bytes) {
  assert(rank >= 0 && rank <= kMaxRank);
  if (rank == 0 && bytes <= sizeof(uint64_t)) {
    void* block = heap.AllocateSmall(kScalarBytes);
    if (block == nullptr) return nullptr;
    Tensor* tensor = InitTensor(block, dtype, rank, Storage::kScalar);
    tensor->data = static_cast<char*>(block) + sizeof(Tensor);
    tensor->capacity = sizeof(uint64_t);
    ClearData(heap, tensor);
    return tensor;
  }
  size_t header = TensorHeaderBytes(rank);
  size_t padded = (bytes + 63) & ~size_t{63};
  if (padded <= Heap::kMaxSmall - header) {
    void* block = heap.AllocateSmall(header + padded);
    if (block == nullptr) return nullptr;
    Tensor* tensor = InitTensor(block, dtype, rank, Storage::kInline);
    tensor->data = static_cast<char*>(block) + header;
    tensor->capacity = padded;
    ClearData(heap, tensor);
    return tensor;
  }
  void* data = heap.AllocateLarge(bytes);
  if (data == nullptr) return nullptr;
  void* block = heap.AllocateSmall(header);
  if (block == nullptr) {
    heap.FreeLarge(data, bytes);
    return nullptr;
  }
  Tensor* tensor = InitTensor(block, dtype, rank, Storage::kOwned);
  tensor->data = static_cast<char*>(data);
  tensor->capacity = bytes;
  ClearData(heap, tensor);
  return tensor;
}

Tensor* NewView(Heap& heap, Tensor* owner, int rank, char* data, size_t bytes) {
  if (owner->storage() == Storage::kView) owner = owner->owner;
  void* block = heap.AllocateSmall(TensorHeaderBytes(rank));
  if (block == nullptr) return nullptr;
  Tensor* view = InitTensor(block, owner->dtype, rank, Storage::kView);
  view->kind = owner->kind;
  view->device = owner->device;
  view->owner = owner;
  Retain(owner);
  view->data = data;
  view->capacity = bytes;
  return view;
}

Tensor* NewDeviceTensor(Heap& heap, DType dtype, std::span<const int64_t> dims, uint8_t device,
                        DevicePlace* place, void* data, size_t bytes) {
  const auto rank = static_cast<int>(dims.size());
  void* block = heap.AllocateSmall(TensorHeaderBytes(rank));
  if (block == nullptr) return nullptr;
  Tensor* tensor = InitTensor(block, dtype, rank, Storage::kDevice);
  tensor->kind = ObjectKind::kDeviceTensor;
  tensor->device = device;
  tensor->place = place;
  tensor->data = static_cast<char*>(data);
  tensor->capacity = bytes;
  std::ranges::copy(dims, tensor->dims);
  return tensor;
}

Tensor* NewOutputTensor(Heap& heap, DType dtype, int rank, char* data, size_t bytes) {
  void* block = heap.AllocateSmall(TensorHeaderBytes(rank));
  if (block == nullptr) return nullptr;
  Tensor* tensor = InitTensor(block, dtype, rank, Storage::kOutput);
  tensor->data = data;
  tensor->capacity = bytes;
  ClearData(heap, tensor);
  return tensor;
}

uint64_t LoadScalar(DType dtype, const void* data) {
  auto load = [data]<typename T>(T) {
    T value;
    std::memcpy(&value, data, sizeof(T));
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  };
  switch (dtype) {
    case DType::kBool:
      return *static_cast<const uint8_t*>(data) != 0;
    case DType::kInt8:
      return load(int8_t{});
    case DType::kInt16:
      return load(int16_t{});
    case DType::kInt32:
      return load(int32_t{});
    case DType::kInt64:
      return load(int64_t{});
    case DType::kUInt8:
      return load(uint8_t{});
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return load(uint16_t{});
    case DType::kUInt32:
    case DType::kFloat32:
      return load(uint32_t{});
    case DType::kUInt64:
    case DType::kFloat64:
    case DType::kString:
      return load(uint64_t{});
  }
  return 0;
}

void StoreScalar(DType dtype, uint64_t value, void* data) {
  // Little-endian: the low bytes come first. A bool is one byte, 0 or 1.
  if (dtype == DType::kBool) value = value != 0;
  std::memcpy(data, &value, static_cast<size_t>(DTypeBytes(dtype)));
}

}  // namespace relayvm::vm

#include "vm/border/shared_object.h"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "bytecode/base/string_table.h"
#include "vm/platform/system_pages.h"

namespace relayvm::vm {
namespace {

void Init(Object* o, ObjectKind kind) {
  new (&o->count) std::atomic<uint32_t>(kUncounted + 1);
  o->kind = kind;
  o->home = Home::kShared;
}

// Tensors from this size on have pages of their own: malloc keeps what it got for buffers of many
// sizes, and a host that feeds inputs of ever new shapes would grow with each.
constexpr size_t kOwnPagesBytes = 256 << 10;

size_t TensorBytes(int rank, size_t data_bytes) {
  return TensorHeaderBytes(rank) + ((data_bytes + 63) & ~size_t{63});
}

void* AllocateTensorMemory(size_t bytes) {
  if (bytes < kOwnPagesBytes) return std::aligned_alloc(64, bytes);
  return MapPages(bytes);
}

// Of the block of a tensor.
size_t BlockBytes(const Tensor* tensor) {
  if (tensor->storage() == Storage::kScalar) return kScalarBytes;
  // Memory of others, or none, has the header alone.
  const bool with_data = tensor->storage() == Storage::kInline;
  return TensorBytes(tensor->rank, with_data ? tensor->capacity : 0);
}

// The bytes that malloc has back of it.
size_t DestroyTensor(Tensor* tensor) {
  ExternalMemory* external = tensor->storage() == Storage::kExternal ? tensor->external : nullptr;
  size_t bytes = BlockBytes(tensor);
  if (bytes < kOwnPagesBytes) {
    std::free(tensor);
  } else {
    UnmapPages(tensor, bytes);
    bytes = 0;
  }
  if (external != nullptr) external->release(external);
  return bytes;
}

// From so much memory of small blocks on, malloc is told to give back what is free. By itself it
// keeps it all: it does not join blocks of up to 128 bytes with free ones beside them, and so finds
// no free pages.
constexpr size_t kTrimBytes = 32 << 20;

void GivePagesBack() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

Tensor* NewHeader(DType dtype, std::span<const int64_t> dims, size_t data_bytes) {
  int rank = static_cast<int>(dims.size());
  const bool scalar = rank == 0 && data_bytes - 1 < sizeof(uint64_t);  // with its data
  size_t header = scalar ? sizeof(Tensor) : TensorHeaderBytes(rank);
  if (data_bytes > SIZE_MAX - header - 63) return nullptr;
  auto* tensor = static_cast<Tensor*>(scalar ? std::malloc(kScalarBytes)
                                             : AllocateTensorMemory(TensorBytes(rank, data_bytes)));
  if (tensor == nullptr) return nullptr;
  Init(tensor, ObjectKind::kTensor);
  tensor->dtype = dtype;
  tensor->rank = static_cast<uint8_t>(dims.size());
  tensor->data = reinterpret_cast<char*>(tensor) + header;
  tensor->capacity = data_bytes;
  tensor->device = 0;
  tensor->storage_code = static_cast<uint8_t>(scalar ? Storage::kScalar : Storage::kInline);
  tensor->external = nullptr;
  std::copy(dims.begin(), dims.end(), tensor->dims);
  return tensor;
}

// Drops one reference; true when it was the last.
bool Drop(Object* object) {
  if (object->home != Home::kShared) return false;
  return object->count.fetch_sub(1, std::memory_order_acq_rel) == kUncounted + 1;
}

}  // namespace

void RetainShared(Object* object) {
  if (object->home == Home::kShared) object->count.fetch_add(1, std::memory_order_relaxed);
}

bool IsUniqueShared(const Object* object) {
  return object->home == Home::kShared &&
         object->count.load(std::memory_order_acquire) == kUncounted + 1;
}

size_t SharedObjectBytes(const Object* object) {
  const size_t bytes = IsTensor(object)
                           ? BlockBytes(static_cast<const Tensor*>(object))
                           : sizeof(Adt) + 8 * FieldsOf(const_cast<Object*>(object)).size();
  return (bytes + 23) & ~size_t{15};
}

void ReleaseShared(Object* object) {
  if (!Drop(object)) return;
  if (IsTensor(object)) {
    DestroyTensor(static_cast<Tensor*>(object));
    return;
  }
  size_t freed = 0;
  Object* pending = object;  // dead objects with fields, linked as in Destroy
  static_cast<Adt*>(object)->next = nullptr;
  while (pending != nullptr) {
    Object* dead = pending;
    pending = static_cast<Adt*>(dead)->next;
    for (Object* child : FieldsOf(dead)) {
      if (!Drop(child)) continue;
      // Tensors have no room for a link; they have no fields either.
      if (IsTensor(child)) {
        freed += DestroyTensor(static_cast<Tensor*>(child));
        continue;
      }
      static_cast<Adt*>(child)->next = pending;
      pending = child;
    }
    freed += SharedObjectBytes(dead);
    std::free(dead);
  }
  if (freed >= kTrimBytes) GivePagesBack();
}

Tensor* NewSharedTensor(DType dtype, std::span<const int64_t> dims, size_t bytes) {
  return NewHeader(dtype, dims, bytes);
}

Tensor* NewSharedTensor(DType dtype, std::span<const int64_t> dims, char* data, size_t bytes,
                        ExternalMemory* memory) {
  Tensor* tensor = NewHeader(dtype, dims, 0);
  if (tensor == nullptr) {
    memory->release(memory);
    return nullptr;
  }
  tensor->data = data;
  tensor->capacity = bytes;
  tensor->storage_code = static_cast<uint8_t>(Storage::kExternal);
  tensor->external = memory;
  return tensor;
}

Tensor* NewSharedStrings(std::span<const int64_t> dims, size_t n, size_t text_bytes) {
  constexpr size_t kMost = std::min<uint64_t>(uint64_t{1} << 47, SIZE_MAX / 4);
  if (text_bytes > kMost || n > kMost / 8) return nullptr;
  return NewSharedTensor(DType::kString, dims, PackedBytes(static_cast<int64_t>(n), text_bytes));
}

Adt* NewSharedAdt(uint64_t tag, size_t num_fields) {
  auto* adt = static_cast<Adt*>(std::malloc(sizeof(Adt) + 8 * num_fields));
  if (adt == nullptr) return nullptr;
  Init(adt, ObjectKind::kAdt);
  adt->num_fields = static_cast<uint16_t>(num_fields);
  adt->tag = tag;
  std::fill_n(adt->fields, num_fields, Empty());
  return adt;
}

Closure* NewSharedClosure(uint64_t function) {
  auto* closure = static_cast<Closure*>(std::malloc(sizeof(Closure)));
  if (closure == nullptr) return nullptr;
  Init(closure, ObjectKind::kClosure);
  closure->num_captured = 0;
  closure->function = function;
  return closure;
}

Ref* NewSharedRef() {
  auto* ref = static_cast<Ref*>(std::malloc(sizeof(Ref)));
  if (ref == nullptr) return nullptr;
  Init(ref, ObjectKind::kRef);
  ref->content = Empty();
  return ref;
}

}  // namespace relayvm::vm

#include "vm/shared_object.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

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
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void FreeTensor(Tensor* tensor) {
  if (tensor->storage() == Storage::kScalar) return std::free(tensor);
  // Memory of others, or none, has the header alone.
  bool with_data = tensor->storage() == Storage::kInline;
  size_t bytes = TensorBytes(tensor->rank, with_data ? tensor->capacity : 0);
  if (bytes < kOwnPagesBytes) {
    std::free(tensor);
  } else {
    munmap(tensor, bytes);
  }
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

void ReleaseShared(Object* object) {
  if (!Drop(object)) return;
  Object* pending = nullptr;  // dead objects with fields, linked as in Destroy
  Object* dead = object;
  while (dead != nullptr) {
    if (dead->kind == ObjectKind::kTensor) {
      auto* tensor = static_cast<Tensor*>(dead);
      ExternalMemory* external =
          tensor->storage() == Storage::kExternal ? tensor->external : nullptr;
      FreeTensor(tensor);
      if (external != nullptr) external->release(external);
    } else {
      for (Object* child : FieldsOf(dead)) {
        if (!Drop(child)) continue;
        // Tensors have no room for a link; they have no fields either.
        if (child->kind == ObjectKind::kTensor) {
          child->count.store(kUncounted + 1, std::memory_order_relaxed);
          ReleaseShared(child);
          continue;
        }
        static_cast<Adt*>(child)->next = pending;
        pending = child;
      }
      std::free(dead);
    }
    dead = pending;
    if (dead != nullptr) pending = static_cast<Adt*>(dead)->next;
  }
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

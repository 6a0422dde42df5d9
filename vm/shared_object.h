// Objects that belong to Values: atomic counts, memory from malloc, alive on their own.
// Thread-safe as Values are. Tested by value_test.cc.
#pragma once

#include <cstddef>
#include <span>

#include "vm/object.h"

namespace relayvm::vm {

// Of shared objects only; others are left alone.
void RetainShared(Object* object);
// Destroys the object with all that it was the last holder of, without recursion. Much memory of small
// objects goes back to the machine then.
void ReleaseShared(Object* object);
// True when nobody else holds this shared object.
bool IsUniqueShared(const Object* object);
// The memory that this shared object takes by itself, about as malloc has it.
size_t SharedBytes(const Object* object);

// New shared objects with one reference; null when there is no memory. Fields are Empty().
Tensor* NewSharedTensor(DType dtype, std::span<const int64_t> dims, size_t bytes);
// Takes over `memory`, which is released with the tensor (at once on failure).
Tensor* NewSharedTensor(DType dtype, std::span<const int64_t> dims, char* data, size_t bytes,
                        ExternalMemory* memory);
Adt* NewSharedAdt(uint64_t tag, size_t num_fields);
Closure* NewSharedClosure(uint64_t function);
Ref* NewSharedRef();

}  // namespace relayvm::vm

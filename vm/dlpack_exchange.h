// Tensors to and from other libraries by DLPack, without a copy where the memory allows it.
// Thread-safe. Tested by dlpack_exchange_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "vm/dlpack.h"
#include "vm/value.h"

namespace relayvm {

// Takes over `tensor`: its deleter is called when the value dies, or at once when the elements had
// to be copied (memory that is not 64-byte aligned, or not compact) and on failure. Memory of the
// CPU only. The elements must not change meanwhile.
Result<Value> FromDLPack(DLManagedTensorVersioned* tensor);
Result<Value> FromDLPack(DLManagedTensor* tensor);

// The consumer calls the deleter. The memory stays that of the value, and is marked read-only.
// Fails with kInvalidArgument when the value is not a tensor.
Result<DLManagedTensorVersioned*> ToDLPack(const Value& value);

}  // namespace relayvm

// Tensors to and from other libraries by DLPack, without a copy where the memory allows it.
// Thread-safe. Tested by dlpack_exchange_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "vm/api/dlpack.h"
#include "vm/border/value.h"

namespace relayvm {

// Takes over `tensor`: its deleter is called when the value dies, or at once when the elements had
// to be copied (memory that is not 64-byte aligned, or not compact) and on failure. The elements
// must not change meanwhile. Fails with kUnsupported (not on the CPU, a dtype that there is none
// of, several lanes, another major version) or kInvalidArgument (a rank above 255, no data, a shape
// or strides beyond the address space).
Result<Value> FromDLPack(DLManagedTensorVersioned* tensor);
Result<Value> FromDLPack(DLManagedTensor* tensor);

// The consumer calls the deleter. The memory stays that of the value, and is marked read-only; the
// structure before DLPack 1.0 cannot say so, but nobody may write there either. Fails with
// kInvalidArgument when the value is not a tensor.
Result<DLManagedTensorVersioned*> ToDLPack(const Value& value);
Result<DLManagedTensor*> ToLegacyDLPack(const Value& value);

}  // namespace relayvm

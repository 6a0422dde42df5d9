// Tensors to and from other libraries by DLPack, without a copy where the memory allows it.
// Thread-safe. Tested by dlpack_exchange_test.cc.
#pragma once

#include <cstdint>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "vm/api/dlpack.h"
#include "vm/border/value.h"

namespace relayvm {

class Runtime;

// The dtype as DLPack has it. REQUIRES: not of strings.
inline DLDataType ToDLDataType(DType t) {
  auto bits = static_cast<uint8_t>(DTypeBytes(t) * 8);
  if (t == DType::kBool) return {kDLBool, bits, 1};
  if (t == DType::kBFloat16) return {kDLBfloat, bits, 1};
  if (IsFloat(t)) return {kDLFloat, bits, 1};
  if (IsSignedInt(t)) return {kDLInt, bits, 1};
  return {kDLUInt, bits, 1};
}

// Whether elements lie one after the other. REQUIRES: the shape's size has been checked.
inline bool IsCompact(const DLTensor& t) {
  if (t.strides == nullptr) return true;
  int64_t expected = 1;
  for (int i = t.ndim; i-- > 0;) {
    if (t.shape[i] == 0) return true;
    if (t.shape[i] != 1 && t.strides[i] != expected) return false;
    expected *= t.shape[i];
  }
  return true;
}

// Takes over `tensor`: its deleter is called when the value dies, or at once when the elements had
// to be copied (memory that is not 64-byte aligned, or not compact) and on failure. The elements
// must not change meanwhile. Memory of a device is taken where `runtime` has it (Device::number),
// and never copied: what has written there is done, and kernels of the device's queues may read it.
// Fails with kUnsupported (another device, a dtype that there is none of, several lanes, another
// major version; a device's memory that is not compact or not 64-byte aligned) or kInvalidArgument
// (a rank above 255, no data, a shape or strides beyond the address space).
Result<Value> FromDLPack(DLManagedTensorVersioned* tensor, const Runtime* runtime = nullptr);
Result<Value> FromDLPack(DLManagedTensor* tensor, const Runtime* runtime = nullptr);

// The consumer calls the deleter. The memory stays that of the value, and is marked read-only; the
// structure before DLPack 1.0 cannot say so, but nobody may write there either. A value on a device
// stays there, where its number says what that is to others. Fails with kInvalidArgument when the
// value is not a tensor, kUnsupported on a device without a number.
Result<DLManagedTensorVersioned*> ToDLPack(const Value& value);
Result<DLManagedTensor*> ToLegacyDLPack(const Value& value);

}  // namespace relayvm

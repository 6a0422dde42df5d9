// Arrays of numpy to tensors and back, by numpy's C structures: the buffer protocol and attributes
// take longer than a small model's run. What is no plain array goes by values.h. REQUIRES: the GIL
// is held.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bytecode/base/dtype.h"
#include "vm/border/value.h"

namespace relayvm::python {

// Before pybind11's functions of arrays are used, which several threads could not do first. What is
// below does so itself.
void LoadNumpy();

// From so much on a copy takes longer than to keep a caller's memory and give it back.
inline constexpr size_t kLeastShared = 4096;  // bytes
// Whether to share `bytes` of a caller's memory at `data`, not to copy them: it is aligned too.
bool IsShared(const void* data, size_t bytes);
// A copy of compact memory; `spare`: as FromArray.
Value CopyOf(DType dtype, std::span<const int64_t> dims, const void* data, Value* spare = nullptr);

// A compact array whose elements are those of `dtype` (of bfloat16, its bits as uint16), its memory
// shared or copied. Nothing where `object` is anything else, which may be an error or not. `spare`,
// if not null: a tensor or none; a small copy takes its memory where it fits and nobody else has
// it, and is left there.
std::optional<Value> FromArray(pybind11::handle object, DType dtype, Value* spare = nullptr);

// The same of compact memory that `owner` has, and keeps as long as it lives.
Value FromMemory(pybind11::handle owner, DType dtype, std::span<const int64_t> dims, void* data,
                 Value* spare);

// A Relay dtype of a format of the buffer protocol ("<f", "?", "l"): false where there is none.
bool DTypeOfFormat(const char* format, pybind11::ssize_t item_bytes, DType* dtype);

// Whether `object` is a compact array that may be written, whose memory *buffer becomes.
bool IsOutputArray(pybind11::handle object, OutputBuffer* buffer);

// Whether arrays have elements of `dtype` as they are.
bool HasArrays(DType dtype);
// One that is new. REQUIRES: HasArrays(dtype).
pybind11::object EmptyArray(DType dtype, std::span<const int64_t> dims);

// A tensor as an array; of bfloat16, its bits as uint16. Arrays may be written when nobody else has
// the memory.
pybind11::object ArrayOf(Value value);

}  // namespace relayvm::python

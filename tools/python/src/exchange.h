// Tensors of libraries that have DLPack's functions of C (__dlpack_c_exchange_api__ of a class, as
// torch.Tensor has from 2.10 on): in and out without a capsule or a method of Python's. What is
// none of these goes by values.h. REQUIRES: the GIL is held.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <span>

#include "bytecode/base/dtype.h"
#include "vm/border/value.h"

namespace relayvm::python {

struct ExchangeFunctions;  // of a library, which are there until the process ends

// Null where a class has none that we can use. A subclass that answers for its operators itself has
// no memory of its own.
const ExchangeFunctions* ExchangeOf(PyTypeObject* type);

// A compact tensor of `dtype` on the host, its memory shared or copied (spare: as FromArray).
// Nothing where `object` is anything else, or wants gradients and `with_gradients` is not set,
// which may be an error or not.
std::optional<Value> FromExchange(pybind11::handle object, DType dtype, Value* spare,
                                  bool with_gradients);

// Whether `object` is a compact tensor on the host that may be written, whose memory *buffer
// becomes; its dims are there as long as the tensor is.
bool IsOutputTensor(pybind11::handle object, OutputBuffer* buffer);

// A compact copy; nothing where strides, of bytes, are no whole elements.
std::optional<Value> CopyStrided(DType dtype, std::span<const int64_t> dims,
                                 std::span<const int64_t> strides, void* data);

// A new tensor of the library's, of the dtype and dims that `buffer` has, which gets its memory.
pybind11::object EmptyTensor(const ExchangeFunctions& functions, OutputBuffer* buffer);

// A tensor of the library's that has the value's memory, or a copy where others have it too.
// REQUIRES: it is a tensor of numbers.
pybind11::object ToExchange(Value value, const ExchangeFunctions& functions);

}  // namespace relayvm::python

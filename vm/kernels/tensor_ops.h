// What tensor.view and tensor.append make (bytecode/opcodes.def), in the interpreter and in native
// code. `dims` fit `bytes`, which CheckedTensorBytes gave; `take`: the caller's reference may be
// used up, which it is where the result is the operand itself. Null without memory. Tested by
// vm/run/interpreter_data_test.cc and tests/aot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vm/memory/object.h"

namespace relayvm::vm {

// REQUIRES: bytes <= from->bytes().
inline Tensor* ViewTensor(Heap& heap, Tensor* from, bool take, std::span<const int64_t> dims,
                          int64_t bytes) {
  const auto rank = static_cast<int>(dims.size());
  Tensor* view = from;
  if (take && rank <= from->room_for_dims() && IsUnique(from)) {
    from->rank = static_cast<uint8_t>(rank);
  } else {
    view = NewView(heap, from, rank, from->data, static_cast<size_t>(bytes));
    if (view == nullptr) return nullptr;
  }
  std::ranges::copy(dims, view->dims);
  return view;
}

// REQUIRES: both are of `dtype`, bytes == head->bytes() + tail->bytes().
inline Tensor* AppendTensor(Heap& heap, Tensor* head, bool take, const Tensor* tail, DType dtype,
                            std::span<const int64_t> dims, int64_t bytes) {
  const auto rank = static_cast<int>(dims.size());
  const size_t head_bytes = head->bytes(), tail_bytes = tail->bytes();
  const auto size = static_cast<size_t>(bytes);
  // A view's own memory ends with it. What is appended to itself has two holders, or is one.
  const bool alone = take && head != tail && IsUnique(head) && head->storage() != Storage::kView;
  Tensor* tensor = head;
  if (!alone || size > head->capacity || rank > head->room_for_dims()) {
    const size_t room = alone ? size + size / 2 : size;
    tensor = NewTensor(heap, dtype, rank, room);
    // The room is a wish.
    if (tensor == nullptr && room > size) tensor = NewTensor(heap, dtype, rank, size);
    if (tensor == nullptr) return nullptr;
    std::copy_n(head->data, head_bytes, tensor->data);
  }
  tensor->rank = static_cast<uint8_t>(rank);
  std::ranges::copy(dims, tensor->dims);
  std::copy_n(tail->data, tail_bytes, tensor->data + head_bytes);
  return tensor;
}

}  // namespace relayvm::vm

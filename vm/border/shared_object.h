// Objects that belong to Values: atomic counts, memory from malloc, alive on their own.
// Thread-safe as Values are. Tested by value_test.cc.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "vm/memory/object.h"

namespace relayvm::vm {

// Of shared objects only; others are left alone.
void RetainShared(Object* object);
// Destroys the object with all that it was the last holder of, without recursion. Much memory of
// small objects goes back to the machine then.
void ReleaseShared(Object* object);
// True when nobody else holds this shared object.
bool IsUniqueShared(const Object* object);
// The memory that this shared object takes by itself, about as malloc has it.
size_t SharedObjectBytes(const Object* object);

// New shared objects with one reference; null when there is no memory. Fields are Empty().
Tensor* NewSharedTensor(DType dtype, std::span<const int64_t> dims, size_t bytes);
// Takes over `memory`, which is released with the tensor (at once on failure).
Tensor* NewSharedTensor(DType dtype, std::span<const int64_t> dims, char* data, size_t bytes,
                        ExternalMemory* memory);
// Packed strings (bytecode/base/string_table.h), `n` as the dims say, to be filled.
Tensor* NewSharedStrings(std::span<const int64_t> dims, size_t n, size_t text_bytes);
Adt* NewSharedAdt(uint64_t tag, size_t num_fields);
Closure* NewSharedClosure(uint64_t function);
Ref* NewSharedRef();

// Fills a tensor of NewSharedStrings: Add for each text, of as many bytes together as were asked
// for.
class StringPacker {
 public:
  explicit StringPacker(Tensor* tensor)
      : offsets_(reinterpret_cast<int64_t*>(tensor->data)),
        text_(reinterpret_cast<char*>(offsets_ + tensor->num_elements() + 1)) {
    *offsets_ = 0;
  }
  void Add(std::string_view text) {
    if (!text.empty()) std::memcpy(text_ + *offsets_, text.data(), text.size());
    offsets_[1] = offsets_[0] + static_cast<int64_t>(text.size());
    ++offsets_;
  }

 private:
  int64_t* offsets_;
  char* text_;
};

}  // namespace relayvm::vm

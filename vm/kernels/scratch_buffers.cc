#include "vm/kernels/scratch_buffers.h"

#include <algorithm>
#include <cstdlib>

#include "vm/memory/object.h"
#include "vm/platform/system_pages.h"

namespace relayvm::vm {

ScratchBuffers::~ScratchBuffers() {
  for (Block& b : blocks_) Free(b);
}

// At least `bytes`, which it rounds up; null without memory.
void* ScratchBuffers::Allocate(size_t* bytes) {
  const size_t unit = source_ != nullptr ? kPageBytes : kDataAlignment;
  if (*bytes > SIZE_MAX - unit) return nullptr;
  *bytes = (*bytes + unit - 1) & ~(unit - 1);
  return source_ != nullptr ? source_->Allocate(*bytes, unit) : std::aligned_alloc(unit, *bytes);
}

void ScratchBuffers::Free(Block& block) {
  if (source_ == nullptr) {
    std::free(block.memory);
  } else if (block.memory != nullptr) {
    source_->Free(block.memory, block.bytes);
  }
  block = {};
}

bool ScratchBuffers::Reserve(size_t bytes, uint32_t workers) {
  for (uint32_t i = 0; i < workers; ++i) {
    Block& b = blocks_[i];
    if (b.bytes >= bytes) continue;
    size_t wanted = std::max(bytes, 2 * b.bytes);
    Free(b);
    b.memory = Allocate(&wanted);
    if (b.memory == nullptr) b.memory = Allocate(&(wanted = bytes));
    if (b.memory == nullptr) return false;
    b.bytes = wanted;
  }
  return true;
}

void ScratchBuffers::Trim(size_t bytes) {
  for (Block& b : blocks_) {
    if (b.bytes > bytes) Free(b);
  }
}

}  // namespace relayvm::vm

// The memory source of runtimes without an injected one: pages of the operating system. Tested by
// vm/memory/allocator_test.cc.
#pragma once

#include "vm/memory/memory_source.h"

namespace relayvm::vm {

inline constexpr size_t kPageBytes = 4096;
constexpr size_t PagesOf(size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }

// Its memory is zero, and may be freed in parts; it asks for huge pages. REQUIRES: alignments of at
// most a page (heaps' chunks come from address_space.h). Has no state.
MemorySource& SystemPages();

// The content of these pages of it is not needed: the system may take them when it is short of
// memory, until they are written again, and they cost nothing if it does not.
void OfferPages(void* memory, size_t bytes);

}  // namespace relayvm::vm

// Pages of the operating system, and the memory source of runtimes without an injected one. Tested
// by vm/memory/allocator_test.cc.
#pragma once

#include <memory>

#include "vm/memory/memory_source.h"

namespace relayvm::vm {

inline constexpr size_t kPageBytes = 4096;
constexpr size_t PagesOf(size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }

// Its memory is zero, and may be freed in parts; it asks for huge pages. REQUIRES: alignments of at
// most a page (heaps' chunks come from address_space.h). Has no state.
MemorySource& SystemPages();

// What heaps take their chunks from where they are given no source; null: from SystemPages and
// address_space.h, as only a system with virtual memory can.
std::shared_ptr<MemorySource> HeapSource();
// Of a heap's chunk: of address space, or of memory where that is what it costs.
#if RELAYVM_MINIMAL
inline constexpr size_t kHeapChunkBytes = 4 << 20;
#else
inline constexpr size_t kHeapChunkBytes = 64 << 20;
#endif

// Pages of their own; null when there are none. Without huge ones.
void* MapPages(size_t bytes);
void UnmapPages(void* memory, size_t bytes);
// Whole pages, whose content is not needed: their memory goes back.
void DropPages(void* memory, size_t bytes);

// The content of these pages of it is not needed: the system may take them when it is short of
// memory, until they are written again, and they cost nothing if it does not.
void OfferPages(void* memory, size_t bytes);

}  // namespace relayvm::vm

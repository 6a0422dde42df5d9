// The memory source of runtimes without an injected one: pages of the operating system. Tested by
// allocator_test.cc.
#pragma once

#include "vm/memory_source.h"

namespace relayvm::vm {

inline constexpr size_t kPageBytes = 4096;
constexpr size_t PagesOf(size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }

// Its memory is zero, and may be freed in parts. What is aligned to more than a page is cut into
// small blocks: huge pages would make it resident in steps of 2 MiB; other memory asks for them.
// Has no state.
MemorySource& SystemPages();

}  // namespace relayvm::vm

// Address space that many owners take pieces of: whole slabs are mapped at once, so that 100,000
// stacks need a few thousand mappings, far below what Linux allows a process (vm.max_map_count).
//
// Pieces are zero when they are taken, and cost only what of them is touched. Huge pages are off:
// of most pieces a page or two is ever used. (Without virtual memory pieces are memory, and small.)
// Of two kinds of pieces a slab stays mapped when none
// is in use. Thread-safe; a child of fork() may use it at once. Tested by address_space_test.cc.
#pragma once

#include <cstddef>

namespace relayvm::vm {

// `bytes`, a multiple of 4096, at a multiple of `alignment`, a power of two from 4096 on. With
// `guarded`, the first page is inaccessible. Null when there is no address space, or there are too
// many mappings.
char* TakeAddresses(size_t bytes, size_t alignment, bool guarded);
// What the process may have of it in all, where a limit says so (ulimit -v); else SIZE_MAX.
size_t AddressLimit();
const char* AddressAdvice();  // to who needs more
// Gives back what TakeAddresses gave, by the same numbers. Its memory goes back to the system;
// takes none.
void GiveAddresses(char* memory, size_t bytes, size_t alignment, bool guarded);

}  // namespace relayvm::vm

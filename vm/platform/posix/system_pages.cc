#include "vm/platform/system_pages.h"

#include <sys/mman.h>

#include <cassert>

namespace relayvm::vm {
namespace {

class Pages : public MemorySource {
 public:
  void* Allocate(size_t bytes, size_t alignment) override {
    assert(alignment <= kPageBytes);
    (void)alignment;
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    madvise(mapped, bytes, MADV_HUGEPAGE);
    return mapped;
  }
  void Free(void* memory, size_t bytes) override {
    // Where it would cut a mapping and there may be no more of them, the memory at least goes back.
    if (munmap(memory, bytes) != 0) Discard(memory, bytes);
  }
  void Discard(void* memory, size_t bytes) override { madvise(memory, bytes, MADV_DONTNEED); }
};

// Made and kept without a guard, which a fork in another thread's first call would leave taken for
// ever.
union Forever {
  constexpr Forever() : pages() {}
  ~Forever() {}  // NOLINT(modernize-use-equals-default): a union's would be deleted
  Pages pages;
};
constinit Forever g_forever;

}  // namespace

std::shared_ptr<MemorySource> HeapSource() { return nullptr; }

void* MapPages(size_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}
void UnmapPages(void* memory, size_t bytes) { munmap(memory, bytes); }
void DropPages(void* memory, size_t bytes) { madvise(memory, bytes, MADV_DONTNEED); }

void OfferPages(void* memory, size_t bytes) { madvise(memory, bytes, MADV_FREE); }

MemorySource& SystemPages() { return g_forever.pages; }

}  // namespace relayvm::vm

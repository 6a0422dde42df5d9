#include "vm/system_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace relayvm::vm {
namespace {

void* MapPages(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

class Pages : public MemorySource {
 public:
  void* Allocate(size_t bytes, size_t alignment) override {
    if (alignment <= kPageBytes) {
      void* mapped = MapPages(bytes);
      if (mapped != nullptr) madvise(mapped, bytes, MADV_HUGEPAGE);
      return mapped;
    }
    const size_t total = bytes + alignment;
    void* mapped = total < bytes ? nullptr : MapPages(total);
    if (mapped == nullptr) return nullptr;
    const size_t before = -reinterpret_cast<uintptr_t>(mapped) & (alignment - 1);
    char* aligned = static_cast<char*>(mapped) + before;
    if (before > 0) munmap(mapped, before);
    munmap(aligned + bytes, alignment - before);
    madvise(aligned, bytes, MADV_NOHUGEPAGE);
    return aligned;
  }
  void Free(void* memory, size_t bytes) override { munmap(memory, bytes); }
  void Discard(void* memory, size_t bytes) override { madvise(memory, bytes, MADV_DONTNEED); }
};

}  // namespace

MemorySource& SystemPages() {
  static Pages pages;
  return pages;
}

}  // namespace relayvm::vm

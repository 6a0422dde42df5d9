#include "bytecode/base/shared_bytes.h"

#ifndef RELAYVM_MINIMAL
#include <sys/mman.h>
#endif

#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/guarded.h"
#include "bytecode/base/threads.h"

namespace relayvm {

struct SharedBytes::Recipe {
  std::function<void(std::span<std::byte>)> fill;
  Mutex mutex;
  SharedBytes pinned;  // empty until somebody asks for a pointer
};

namespace {

constexpr size_t kAlignment = 64;

#ifndef RELAYVM_MINIMAL
// From here on buffers are the system's own zeros, in large pages: allocators write zeros into what
// they have, and faults of small pages are half of the time that filling a buffer takes.
constexpr size_t kLeastMapped = size_t{4} << 20;

// Begins with its size.
void* MapZeros(size_t size) {
  void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  ::madvise(pages, size, MADV_HUGEPAGE);  // advice
  *static_cast<size_t*>(pages) = size;
  return pages;
}
void Unmap(void* pages) { ::munmap(pages, *static_cast<size_t*>(pages)); }
#endif

struct Allocation {
  void* memory;  // null: there is none
  void (*release)(void*);
};

// Of bytes that are 0, but for the first kAlignment.
Allocation AllocateZeros(size_t size) {
#ifndef RELAYVM_MINIMAL
  if (size >= kLeastMapped) return {MapZeros(size), Unmap};
#endif
  return {std::calloc(size, 1), std::free};
}

}  // namespace

SharedBytes::SharedBytes(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  data_ = owner->data();
  size_ = owner->size();
  owner_ = std::move(owner);
}

SharedBytes::SharedBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : owner_(std::const_pointer_cast<void>(std::move(owner))),
      data_(bytes.data()),
      size_(bytes.size()) {}

SharedBytes SharedBytes::OfFile(std::shared_ptr<const FileMapping> file) {
  auto bytes = std::as_bytes(file->bytes());
  SharedBytes out(bytes, std::move(file));
  out.kind_ = Kind::kMapped;
  return out;
}

SharedBytes SharedBytes::Zeros(size_t size) {
  SharedBytes out;
  if (size == 0) return out;
  if (size > SIZE_MAX - kAlignment) OutOfMemory();
  const auto [memory, release] = AllocateZeros(size + kAlignment);
  if (memory == nullptr) OutOfMemory();
  out.owner_ = std::shared_ptr<void>(memory, release);
  out.data_ = static_cast<std::byte*>(memory) +
              (kAlignment - reinterpret_cast<uintptr_t>(memory) % kAlignment);
  out.size_ = size;
  out.kind_ = Kind::kBuffer;
  return out;
}

SharedBytes SharedBytes::Copy(std::span<const std::byte> bytes) {
  SharedBytes out = Zeros(bytes.size());
  if (!bytes.empty()) std::memcpy(out.Mutable().data(), bytes.data(), bytes.size());
  return out;
}

SharedBytes SharedBytes::Lazy(size_t size, std::function<void(std::span<std::byte>)> fill) {
  SharedBytes out;
  if (size == 0) return out;
  auto recipe = std::make_shared<Recipe>();
  recipe->fill = std::move(fill);
  out.owner_ = std::move(recipe);
  out.size_ = size;
  out.kind_ = Kind::kLazy;
  return out;
}

const std::byte* SharedBytes::Pin() const {
  auto& recipe = *static_cast<Recipe*>(owner_.get());
  std::lock_guard lock(recipe.mutex);
  if (recipe.pinned.empty()) {
    SharedBytes made = Zeros(size_);
    recipe.fill(made.Mutable());
    recipe.pinned = std::move(made);
  }
  return recipe.pinned.data_;
}

SharedBytes SharedBytes::Loaded() const {
  if (kind_ != Kind::kLazy) return *this;
  auto& recipe = *static_cast<Recipe*>(owner_.get());
  {
    std::lock_guard lock(recipe.mutex);
    if (!recipe.pinned.empty()) return recipe.pinned;
  }
  SharedBytes made = Zeros(size_);
  recipe.fill(made.Mutable());
  return made;
}

bool operator==(const SharedBytes& a, const SharedBytes& b) {
  return a.size_ == b.size_ &&
         (a.size_ == 0 || std::memcmp(a.Loaded().data_, b.Loaded().data_, a.size_) == 0);
}

SharedBytes SharedBytes::Slice(size_t offset, size_t size) const {
  assert(offset <= size_ && size <= size_ - offset);
  SharedBytes part = Loaded();
  part.data_ += offset;
  part.size_ = size;
  return part;
}

std::span<std::byte> SharedBytes::Mutable() {
  if (kind_ == Kind::kLazy) *this = Loaded();
  if (size_ != 0 && (kind_ != Kind::kBuffer || owner_.use_count() != 1)) *this = Copy(*this);
  // The memory is this object's own and was never const.
  return {const_cast<std::byte*>(data_), size_};
}

void SharedBytes::DropPages() const {
  if (kind_ != Kind::kMapped || size_ == 0) return;
  FileMapping::DropPages({data_, size_});
}

}  // namespace relayvm

#include "bytecode/image_loader.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "bytecode/image.h"

namespace relayvm {
namespace {

std::string Join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

int Protection(const ImageSegment& segment) {
  return PROT_READ | (segment.writable ? PROT_WRITE : 0) | (segment.executable ? PROT_EXEC : 0);
}

#ifndef MFD_EXEC
#define MFD_EXEC 0x10
#endif

// Of the pages that a segment lies in.
struct SegmentPages {
  explicit SegmentPages(const ImageSegment& segment)
      : in_page(segment.address % kImagePageBytes),
        begin(segment.address - in_page),
        bytes((in_page + segment.memory_bytes + kImagePageBytes - 1) / kImagePageBytes *
              kImagePageBytes) {}
  uint64_t in_page, begin;
  size_t bytes;
};

// The image as it lies in memory, in a file without a name that nobody can change any more; -1
// where the system has none.
int MakeSealedFile(const ImageLayout& layout, std::span<const uint8_t> elf) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = memfd_create("relayvm", kFlags | MFD_EXEC);
  if (fd < 0 && errno == EINVAL) fd = memfd_create("relayvm", kFlags);  // before Linux 6.3
  if (fd < 0) return -1;
  bool done = ftruncate(fd, static_cast<off_t>(layout.memory_bytes)) == 0;
  for (const ImageSegment& segment : layout.segments) {
    for (uint64_t at = 0; done && at < segment.file_bytes;) {
      const ssize_t n = pwrite(fd, elf.data() + segment.file_offset + at, segment.file_bytes - at,
                               static_cast<off_t>(segment.address + at));
      done = n > 0 || (n < 0 && errno == EINTR);
      if (n > 0) at += static_cast<uint64_t>(n);
    }
  }
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (done && fcntl(fd, F_ADD_SEALS, kSeals) == 0) return fd;
  close(fd);
  return -1;
}

Status Refused(const char* what) {
  return {errno == ENOMEM ? StatusCode::kResourceExhausted : StatusCode::kUnsupported,
          fmt::format("kernel image: the system refuses {}: {}", what, std::strerror(errno))};
}

// No page is ever both writable and executable, or one after the other: what sees to that (MDWE,
// SELinux) lets it through.
Status MapSegmentOfFile(const ImageSegment& segment, int fd, char* base) {
  const SegmentPages pages(segment);
  void* memory = mmap(base + pages.begin, pages.bytes, Protection(segment), MAP_PRIVATE | MAP_FIXED,
                      fd, static_cast<off_t>(pages.begin));
  return memory == MAP_FAILED ? Refused("to map it") : OkStatus();
}

Status CopySegment(const ImageSegment& segment, std::span<const uint8_t> elf, char* base) {
  const SegmentPages pages(segment);
  char* begin = base + pages.begin;
  void* memory = mmap(begin, pages.bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return {StatusCode::kResourceExhausted, "kernel image: no memory to map it"};
  std::memcpy(begin + pages.in_page, elf.data() + segment.file_offset, segment.file_bytes);
  if (mprotect(begin, pages.bytes, Protection(segment)) != 0) return Refused("executable memory");
  return OkStatus();
}

// Reads a T at `offset`; false outside the bytes.
template <typename T>
bool ReadAt(std::span<const uint8_t> bytes, uint64_t offset, T* out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(out, bytes.data() + offset, sizeof(T));
  return true;
}

}  // namespace

Result<size_t> ChooseImage(std::span<const ImageInfo> images, const CpuFeatures& cpu) {
  assert(!images.empty());
  size_t best = images.size(), best_count = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    if (!cpu.Missing(images[i].cpu_features).empty()) continue;
    size_t count = ExpandFeatures(images[i].cpu_features).size();
    if (best < images.size() && count <= best_count) continue;
    best = i;
    best_count = count;
  }
  if (best < images.size()) return best;
  std::string message = "no kernel image runs on this machine:";
  for (const ImageInfo& image : images) {
    const std::vector<std::string> missing = cpu.Missing(image.cpu_features);
    message += fmt::format("{} the one for {} needs {}", &image == images.data() ? "" : ";",
                           image.cpu_features, Join(missing));
    if (std::ranges::any_of(missing, [&](const std::string& f) { return cpu.IsRefused(f); }))
      message += ", where the system refuses this process AMX (arch_prctl ARCH_REQ_XCOMP_PERM)";
  }
  return Status(StatusCode::kUnsupported, message + "; compile with a lower --target");
}

Result<std::unique_ptr<MappedImage>> MappedImage::Map(std::span<const uint8_t> elf, Kind kind) {
  RELAYVM_ASSIGN_OR_RETURN(ImageLayout layout, ParseImage(elf));
  std::unique_ptr<MappedImage> image(new MappedImage());
  void* reserved = mmap(nullptr, layout.memory_bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    return Status(
        StatusCode::kResourceExhausted,
        fmt::format("kernel image: cannot reserve {} bytes of address space", layout.memory_bytes));
  }
  image->base_ = static_cast<char*>(reserved);
  image->bytes_ = layout.memory_bytes;
  const int fd = kind == Kind::kSealed ? MakeSealedFile(layout, elf) : -1;
  Status mapped;
  for (const ImageSegment& segment : layout.segments) {
    if (!mapped.ok()) break;
    mapped = fd >= 0 ? MapSegmentOfFile(segment, fd, image->base_)
                     : CopySegment(segment, elf, image->base_);
  }
  if (fd >= 0) close(fd);
  if (!mapped.ok()) return mapped;
  return image;
}

MappedImage::~MappedImage() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

RelayvmKernelFn MappedImage::Entry(uint64_t address) const {
  assert(address < bytes_);
  return reinterpret_cast<RelayvmKernelFn>(base_ + address);
}

void WritePerfMap(const MappedImage& image, std::span<const uint8_t> elf) {
  Elf64_Ehdr header;
  if (!ReadAt(elf, 0, &header) || header.e_shentsize != sizeof(Elf64_Shdr)) return;
  // perf reads no other name, and anyone may have made it before: a link, or what is not ours, is
  // left alone.
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return;
  struct stat info;
  const bool ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                    info.st_nlink == 1;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(ours ? fdopen(fd, "a") : nullptr,
                                                            std::fclose);
  if (out == nullptr) {
    close(fd);
    return;
  }
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, names;
    if (!ReadAt(elf, header.e_shoff + i * sizeof(section), &section) ||
        section.sh_type != SHT_SYMTAB)
      continue;
    if (!ReadAt(elf, header.e_shoff + section.sh_link * sizeof(names), &names)) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!ReadAt(elf, section.sh_offset + at, &symbol)) break;
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0) continue;
      std::string name;
      char c;
      for (uint64_t p = names.sh_offset + symbol.st_name; ReadAt(elf, p, &c) && c != '\0'; ++p)
        name += c;
      fmt::print(out.get(), "{:x} {:x} {}\n",
                 reinterpret_cast<uintptr_t>(image.base() + symbol.st_value), symbol.st_size, name);
    }
  }
}

}  // namespace relayvm

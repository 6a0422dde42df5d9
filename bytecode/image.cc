#include "bytecode/image.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <string>

namespace relayvm {
namespace {

constexpr int kMaxProgramHeaders = 64;

Status BadImage(std::string message) {
  return Status(StatusCode::kInvalidInput, "kernel image: " + std::move(message));
}

bool InRange(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

// The file may be unaligned in memory. REQUIRES: in range.
template <typename T>
T ReadAt(std::span<const uint8_t> elf, uint64_t offset) {
  T value;
  std::memcpy(&value, elf.data() + offset, sizeof(T));
  return value;
}

Status CheckHeader(std::span<const uint8_t> elf, const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return BadImage("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return BadImage("not a 64-bit ELF file");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) return BadImage("not little-endian");
  if (header.e_ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT) {
    return BadImage("unknown ELF version");
  }
  if (header.e_machine != EM_X86_64) {
    return BadImage(fmt::format("machine {}, expected {} (x86-64)", header.e_machine, EM_X86_64));
  }
  if (header.e_type != ET_DYN) {
    return BadImage(fmt::format("ELF type {}, expected {} (shared object)", header.e_type, ET_DYN));
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr)) {
    return BadImage(fmt::format("program headers of {} bytes, expected {}", header.e_phentsize,
                                sizeof(Elf64_Phdr)));
  }
  if (header.e_phnum == 0 || header.e_phnum > kMaxProgramHeaders) {
    return BadImage(
        fmt::format("{} program headers, expected 1 to {}", header.e_phnum, kMaxProgramHeaders));
  }
  if (!InRange(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), elf.size())) {
    return BadImage("program headers outside the file");
  }
  return {};
}

Status AddSegment(std::span<const uint8_t> elf, const Elf64_Phdr& phdr, int index,
                  ImageLayout* layout) {
  if (phdr.p_filesz > phdr.p_memsz)
    return BadImage(fmt::format("segment {}: larger in the file than in memory", index));
  if (!InRange(phdr.p_offset, phdr.p_filesz, elf.size())) {
    return BadImage(fmt::format("segment {}: outside the file", index));
  }
  if (!InRange(phdr.p_vaddr, phdr.p_memsz, kMaxImageMemory - kImagePageBytes)) {
    return BadImage(fmt::format("segment {}: addresses beyond {:#x}", index, kMaxImageMemory));
  }
  if (phdr.p_align < kImagePageBytes || (phdr.p_align & (phdr.p_align - 1)) != 0) {
    return BadImage(fmt::format("segment {}: alignment {}, expected a power of two from {}", index,
                                phdr.p_align, kImagePageBytes));
  }
  if (phdr.p_vaddr % kImagePageBytes != phdr.p_offset % kImagePageBytes) {
    return BadImage(
        fmt::format("segment {}: address and file offset differ within the page", index));
  }
  if ((phdr.p_flags & PF_W) != 0 && (phdr.p_flags & PF_X) != 0) {
    return BadImage(fmt::format("segment {}: both writable and executable", index));
  }
  uint64_t first_page = phdr.p_vaddr / kImagePageBytes * kImagePageBytes;
  if (first_page < layout->memory_bytes) {
    return BadImage(fmt::format("segment {}: not after the segment before it", index));
  }
  uint64_t end = phdr.p_vaddr + phdr.p_memsz;
  layout->memory_bytes = (end + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes;
  layout->segments.push_back({phdr.p_vaddr, phdr.p_memsz, phdr.p_offset, phdr.p_filesz,
                              (phdr.p_flags & PF_W) != 0, (phdr.p_flags & PF_X) != 0});
  return {};
}

// Tags that would ask the loader to do more than map. The names are for the message.
struct ForbiddenTag {
  int64_t tag;
  const char* name;
};
constexpr ForbiddenTag kForbiddenTags[] = {
    {DT_RELA, "DT_RELA"},
    {DT_REL, "DT_REL"},
    {DT_JMPREL, "DT_JMPREL"},
    {36 /* DT_RELR, newer than some elf.h */, "DT_RELR"},
    {DT_TEXTREL, "DT_TEXTREL"},
    {DT_NEEDED, "DT_NEEDED"},
    {DT_INIT, "DT_INIT"},
    {DT_FINI, "DT_FINI"},
    {DT_INIT_ARRAY, "DT_INIT_ARRAY"},
    {DT_FINI_ARRAY, "DT_FINI_ARRAY"},
    {DT_PREINIT_ARRAY, "DT_PREINIT_ARRAY"},
};

Status CheckDynamic(std::span<const uint8_t> elf, const Elf64_Phdr& phdr) {
  if (!InRange(phdr.p_offset, phdr.p_filesz, elf.size()))
    return BadImage("dynamic section outside the file");
  uint64_t count = phdr.p_filesz / sizeof(Elf64_Dyn);
  for (uint64_t i = 0; i < count; ++i) {
    auto entry = ReadAt<Elf64_Dyn>(elf, phdr.p_offset + i * sizeof(Elf64_Dyn));
    if (entry.d_tag == DT_NULL) break;
    for (const ForbiddenTag& forbidden : kForbiddenTags) {
      if (entry.d_tag == forbidden.tag) {
        return BadImage(
            fmt::format("{} present: images must need no dynamic linking", forbidden.name));
      }
    }
  }
  return {};
}

}  // namespace

bool ImageLayout::IsCode(uint64_t address) const {
  for (const ImageSegment& segment : segments) {
    if (segment.executable && address >= segment.address &&
        address - segment.address < segment.file_bytes) {
      return true;
    }
  }
  return false;
}

Result<ImageLayout> ParseImage(std::span<const uint8_t> elf) {
  if (elf.size() < sizeof(Elf64_Ehdr))
    return BadImage(fmt::format("{} bytes are too few for an ELF file", elf.size()));
  auto header = ReadAt<Elf64_Ehdr>(elf, 0);
  RELAYVM_RETURN_IF_ERROR(CheckHeader(elf, header));
  ImageLayout layout;
  for (int i = 0; i < header.e_phnum; ++i) {
    auto phdr =
        ReadAt<Elf64_Phdr>(elf, header.e_phoff + static_cast<uint64_t>(i) * sizeof(Elf64_Phdr));
    switch (phdr.p_type) {
      case PT_LOAD:
        if (phdr.p_memsz > 0) RELAYVM_RETURN_IF_ERROR(AddSegment(elf, phdr, i, &layout));
        break;
      case PT_DYNAMIC:
        RELAYVM_RETURN_IF_ERROR(CheckDynamic(elf, phdr));
        break;
      case PT_INTERP:
        return BadImage("asks for an interpreter (PT_INTERP)");
      case PT_TLS:
        return BadImage("has thread-local storage (PT_TLS)");
      default:
        break;
    }
  }
  if (layout.segments.empty()) return BadImage("nothing to load (no PT_LOAD)");
  return layout;
}

}  // namespace relayvm

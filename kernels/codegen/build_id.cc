#include "kernels/codegen/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <span>
#include <string_view>

namespace relayvm::codegen {
namespace {

constexpr size_t kNoteAlignment = 4;

size_t Padded(size_t bytes) {
  return (bytes + kNoteAlignment - 1) / kNoteAlignment * kNoteAlignment;
}

// Of a segment of notes; empty: it has none.
std::string IdIn(std::span<const char> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const size_t name = sizeof header, id = name + Padded(header.n_namesz);
    const size_t end = id + Padded(header.n_descsz);
    if (end > notes.size()) break;
    const std::string_view owner(notes.data() + name, header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && owner == std::string_view("GNU", 4)) {
      return fmt::format(
          "{:02x}",
          fmt::join(std::span(reinterpret_cast<const uint8_t*>(notes.data() + id), header.n_descsz),
                    ""));
    }
    notes = notes.subspan(end);
  }
  return "";
}

bool Holds(const dl_phdr_info& file, uintptr_t address) {
  for (const ElfW(Phdr) & s : std::span(file.dlpi_phdr, file.dlpi_phnum)) {
    if (s.p_type == PT_LOAD && address - (file.dlpi_addr + s.p_vaddr) < s.p_memsz) return true;
  }
  return false;
}

std::string IdOf(const dl_phdr_info& file) {
  for (const ElfW(Phdr) & s : std::span(file.dlpi_phdr, file.dlpi_phnum)) {
    if (s.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(file.dlpi_addr + s.p_vaddr);
    if (std::string id = IdIn({notes, s.p_filesz}); !id.empty()) return id;
  }
  return "";
}

struct Ids {
  std::string all;
  bool lacks_one = false;
};

int AddFile(dl_phdr_info* file, size_t /*size*/, void* to) {
  static const char here = 0;
  auto& ids = *static_cast<Ids*>(to);
  const bool is_llvm = std::string_view(file->dlpi_name).find("/libLLVM") != std::string_view::npos;
  if (!is_llvm && !Holds(*file, reinterpret_cast<uintptr_t>(&here))) return 0;
  const std::string id = IdOf(*file);
  ids.lacks_one |= id.empty();
  ids.all += id + ' ';
  return 0;
}

}  // namespace

const std::string& BuildId() {
  static const std::string id = [] {
    Ids ids;
    ::dl_iterate_phdr(AddFile, &ids);
    return ids.lacks_one ? std::string() : ids.all;
  }();
  return id;
}

}  // namespace relayvm::codegen

// What the compiler left in a kernel image about its kernels (NoteSchedule of
// kernels/codegen/kernel_function.cc): strings "name: text", each with a zero before and after, in
// a section that is not loaded. Files of before have none. Tested by tools_test.cc
// and vmdump_test.cc.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace relayvm {

// The bytes of an ELF file's section; empty where there is none, or where it is damaged.
inline std::string_view SectionOf(std::span<const uint8_t> elf, std::string_view name) {
  const std::string_view all(reinterpret_cast<const char*>(elf.data()), elf.size());
  Elf64_Ehdr header;
  if (all.size() < sizeof header) return {};
  std::memcpy(&header, all.data(), sizeof header);
  const auto section = [&](uint64_t index) {
    Elf64_Shdr found{};
    const bool fits =
        header.e_shoff <= all.size() && (index + 1) * sizeof found <= all.size() - header.e_shoff;
    if (fits) std::memcpy(&found, all.data() + header.e_shoff + index * sizeof found, sizeof found);
    return found;
  };
  const auto bytes = [&](const Elf64_Shdr& s) {
    const bool fits = s.sh_offset <= all.size() && s.sh_size <= all.size() - s.sh_offset;
    return fits ? all.substr(s.sh_offset, s.sh_size) : std::string_view();
  };
  const std::string_view names = bytes(section(header.e_shstrndx));
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr s = section(i);
    if (s.sh_name >= names.size()) continue;
    // Of a stranger's file: as much is compared as the name is long.
    const std::string_view rest = names.substr(s.sh_name);
    if (rest.size() > name.size() && rest.starts_with(name) && rest[name.size()] == '\0')
      return bytes(s);
  }
  return {};
}

// The texts of an image's kernels, by their names.
inline std::map<std::string, std::string> KernelNotes(std::span<const uint8_t> elf) {
  std::map<std::string, std::string> notes;
  std::string_view rest = SectionOf(elf, ".GCC.command.line");
  while (!rest.empty()) {
    const std::string_view note = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), note.size() + 1));
    const size_t colon = note.find(": ");
    if (colon != std::string_view::npos)
      notes.emplace(note.substr(0, colon), note.substr(colon + 2));
  }
  return notes;
}

}  // namespace relayvm

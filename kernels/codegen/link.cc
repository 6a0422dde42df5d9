#include "kernels/codegen/link.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "kernels/codegen/llvm_guard.h"

LLD_HAS_DRIVER(elf)

namespace relayvm::codegen {
namespace {

// What an image has besides its objects' content: headers, tables, padding between segments.
constexpr size_t kMostLinkerBytes = size_t{1} << 20;

// A directory that only this process uses, removed with all that is in it.
class PrivateDirectory {
 public:
  static Result<std::unique_ptr<PrivateDirectory>> Make() {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    if (error) base = "/tmp";
    std::string pattern = (base / "relayvm-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      return {
          StatusCode::kResourceExhausted,
          fmt::format("cannot make a temporary directory {}: {}", pattern, std::strerror(errno))};
    }
    return std::unique_ptr<PrivateDirectory>(new PrivateDirectory(pattern));
  }
  ~PrivateDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit PrivateDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Status WriteFile(const std::string& path, const std::vector<char>& data) {
  std::ofstream file(path, std::ios::binary);
  file.write(data.data(), static_cast<std::streamsize>(data.size()));
  file.close();
  if (!file) return Status(StatusCode::kResourceExhausted, fmt::format("cannot write {}", path));
  return OkStatus();
}

// Whether the file system has room for a file of so many bytes; leaves none.
Status CheckRoom(const std::string& path, size_t bytes) {
  const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  const int error = fd < 0 ? errno : ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (fd >= 0) ::close(fd);
  ::unlink(path.c_str());
  if (error == 0) return OkStatus();
  return {StatusCode::kResourceExhausted,
          fmt::format("no room for {} bytes in {}: {}; TMPDIR names another folder", bytes, path,
                      std::strerror(error))};
}

Result<std::vector<uint8_t>> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {StatusCode::kInternal, fmt::format("cannot read {}", path)};
  std::vector<uint8_t> data(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
  if (!file) return {StatusCode::kInternal, fmt::format("cannot read {}", path)};
  return data;
}

// The tables of an ELF file that the linker wrote just now.
class Elf {
 public:
  explicit Elf(const std::vector<uint8_t>& data) : data_(data) {
    if (data.size() < sizeof(Elf64_Ehdr)) return;
    header_ = Read<Elf64_Ehdr>(0);
    for (size_t i = 0; i < header_.e_shnum; ++i) {
      sections.push_back(Read<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    for (size_t i = 0; i < header_.e_phnum; ++i) {
      segments.push_back(Read<Elf64_Phdr>(header_.e_phoff + i * sizeof(Elf64_Phdr)));
    }
  }
  template <typename T>
  T Read(size_t offset) const {
    T value{};
    if (offset + sizeof(T) <= data_.size()) std::memcpy(&value, data_.data() + offset, sizeof(T));
    return value;
  }
  std::string String(const Elf64_Shdr& table, size_t offset) const {
    const Elf64_Shdr& strings = sections.at(table.sh_link);
    return reinterpret_cast<const char*>(data_.data()) + strings.sh_offset + offset;
  }
  template <typename Fn>
  void ForEachSymbol(uint32_t section_type, Fn fn) const {
    for (const Elf64_Shdr& section : sections) {
      if (section.sh_type != section_type) continue;
      for (size_t i = 1; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
        Elf64_Sym symbol = Read<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym));
        fn(symbol, String(section, symbol.st_name));
      }
    }
  }
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Phdr> segments;

 private:
  const std::vector<uint8_t>& data_;
  Elf64_Ehdr header_{};
};

// Runs LLD; `what` begins errors, `more` are its options besides those of all links.
Result<std::vector<uint8_t>> Link(const char* what, const std::vector<std::string>& more,
                                  const std::vector<std::vector<char>>& objects,
                                  const std::stop_token& stop) {
  RELAYVM_ASSIGN_OR_RETURN(auto directory, PrivateDirectory::Make());
  std::vector<std::string> args = {"ld.lld", "--threads=1", "--build-id=none", "--hash-style=gnu"};
  args.insert(args.end(), more.begin(), more.end());
  // LLD ends the process where it cannot write.
  size_t bytes = kMostLinkerBytes;
  for (const std::string& arg : more) {
    std::error_code no_file;
    if (const auto size = std::filesystem::file_size(arg, no_file); !no_file) bytes += size;
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    bytes += objects[i].size();
    std::string path = directory->File(fmt::format("{}.o", i));
    RELAYVM_RETURN_IF_ERROR(WriteFile(path, objects[i]));
    args.push_back(path);
  }
  std::string output = directory->File("linked");
  args.insert(args.end(), {"-o", output});
  std::vector<const char*> argv;
  argv.reserve(args.size());
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  RELAYVM_RETURN_IF_ERROR(CheckRoom(directory->File("room"), bytes));
  RELAYVM_RETURN_IF_ERROR(GuardLld(stop, [&]() -> Status {
    std::string messages;
    llvm::raw_string_ostream stream(messages);
    const lld::Result result = lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
    if (result.retCode == 0) return OkStatus();
    return {StatusCode::kInternal, fmt::format("{} failed: {}", what, messages)};
  }));
  return ReadFile(output);
}

// The file of a shared library that every process has, as the dynamic linker finds it.
Result<std::string> FindLibrary(const char* name) {
  void* library = dlopen(name, RTLD_LAZY);
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr)
    return {StatusCode::kNotFound, fmt::format("{}: not found: {}", name, dlerror())};
  return std::string(map->l_name);  // which stays loaded
}

}  // namespace

Result<std::vector<uint8_t>> LinkImage(const std::vector<std::vector<char>>& objects,
                                       const std::stop_token& stop) {
  RELAYVM_ASSIGN_OR_RETURN(std::vector<uint8_t> elf,
                           Link("linking the kernels",
                                {"-shared", "-nostdlib", "--no-undefined", "--no-dynamic-linker",
                                 "-Bsymbolic", "-zseparate-code", "-znorelro", "-zrodynamic",
                                 "-zmax-page-size=4096", "-znoexecstack", "--discard-locals"},
                                objects, stop));
  RELAYVM_RETURN_IF_ERROR(CheckImage(elf));
  return elf;
}

Result<std::vector<uint8_t>> LinkProgram(const std::vector<std::vector<char>>& objects,
                                         const std::string& main_file,
                                         const std::stop_token& stop) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(main_file, error)) {
    return {StatusCode::kNotFound,
            fmt::format("{}: not found; it is the main part of programs, which is installed with "
                        "relayc, but is no part of a quick build",
                        main_file)};
  }
  // The dynamic linker's path is the processor's ABI; programs of other ones are not made.
  std::vector<std::string> args = {"-pie",           "--dynamic-linker=/lib64/ld-linux-x86-64.so.2",
                                   "--no-undefined", "--gc-sections",
                                   "--eh-frame-hdr", "--as-needed",
                                   "--strip-debug",  "-znow",
                                   "-zrelro",        "-znoexecstack",
                                   main_file};
  for (const char* library : {"libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"}) {
    RELAYVM_ASSIGN_OR_RETURN(args.emplace_back(), FindLibrary(library));
  }
  return Link("linking the program", args, objects, stop);
}

Result<std::vector<uint8_t>> LinkLibrary(const std::vector<std::vector<char>>& objects,
                                         const std::string& library, const std::stop_token& stop) {
  std::vector<std::string> args = {"-shared", "--no-undefined", "--as-needed",   "--eh-frame-hdr",
                                   "-znow",   "-zrelro",        "-znoexecstack", library};
  for (const char* name : {"libm.so.6", "libc.so.6"}) {
    RELAYVM_ASSIGN_OR_RETURN(args.emplace_back(), FindLibrary(name));
  }
  return Link("linking native code", args, objects, stop);
}

Status CheckImage(const std::vector<uint8_t>& data) {
  Elf elf(data);
  if (elf.segments.empty())
    return Status(StatusCode::kInternal, "the kernel image has no segments");
  for (const Elf64_Phdr& segment : elf.segments) {
    if (segment.p_type != PT_LOAD) continue;
    if ((segment.p_flags & PF_W) != 0)
      return Status(StatusCode::kInternal, "the kernel image has a writable segment");
  }
  for (const Elf64_Shdr& section : elf.sections) {
    bool relocations = section.sh_type == SHT_RELA || section.sh_type == SHT_REL ||
                       section.sh_type == 19 /* RELR */;
    if (relocations && section.sh_size != 0) {
      return Status(StatusCode::kInternal, "the kernel image has dynamic relocations");
    }
  }
  std::string undefined;
  for (uint32_t type : {uint32_t{SHT_DYNSYM}, uint32_t{SHT_SYMTAB}}) {
    elf.ForEachSymbol(type, [&](const Elf64_Sym& symbol, const std::string& name) {
      if (symbol.st_shndx == SHN_UNDEF && !name.empty())
        undefined += (undefined.empty() ? "" : ", ") + name;
    });
  }
  if (!undefined.empty()) {
    return Status(StatusCode::kInternal,
                  fmt::format("the kernel image has undefined symbols: {}", undefined));
  }
  return OkStatus();
}

Result<std::vector<uint64_t>> FindFunctions(const std::vector<uint8_t>& data,
                                            const std::vector<std::string>& names) {
  Elf elf(data);
  std::unordered_map<std::string, uint64_t> addresses;
  elf.ForEachSymbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, const std::string& name) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) addresses[name] = symbol.st_value;
  });
  std::vector<uint64_t> found;
  for (const std::string& name : names) {
    auto it = addresses.find(name);
    if (it == addresses.end()) {
      return {StatusCode::kInternal, fmt::format("the kernel image has no function {}", name)};
    }
    found.push_back(it->second);
  }
  return found;
}

}  // namespace relayvm::codegen

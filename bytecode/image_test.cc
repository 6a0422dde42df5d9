#include "bytecode/image.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "bytecode/test_programs.h"

namespace relayvm {
namespace {

using testing::kTinyImageEntry;
using testing::MakeTinyImage;
using testing::TinyImage;

// Adds a dynamic section of one entry, in a segment of its own.
void AddDynamic(TinyImage* image, int64_t tag) {
  Elf64_Dyn entries[2] = {};
  entries[0].d_tag = tag;
  Elf64_Phdr dynamic{};
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr) + image->rest.size();
  dynamic.p_filesz = sizeof(entries);
  image->segments.push_back(dynamic);
  image->header.e_phnum = 2;
  auto bytes = reinterpret_cast<const uint8_t*>(entries);
  image->rest.insert(image->rest.end(), bytes, bytes + sizeof(entries));
}

TEST_CASE("image: segments and code") {
  TinyImage image = MakeTinyImage();
  Elf64_Phdr data = image.segments[0];
  data.p_flags = PF_R | PF_W;
  data.p_vaddr = 8192;
  data.p_memsz = 5000;
  image.segments.push_back(data);
  image.header.e_phnum = 2;
  Result<ImageLayout> layout = ParseImage(image.Bytes());
  REQUIRE_MESSAGE(layout.ok(), layout.status().message());
  REQUIRE(layout->segments.size() == 2);
  CHECK(layout->segments[0].executable);
  CHECK(!layout->segments[0].writable);
  CHECK(layout->segments[1].address == 8192);
  CHECK(layout->segments[1].writable);
  CHECK(layout->memory_bytes == 16384);
  CHECK(layout->IsCode(kTinyImageEntry));
  CHECK(!layout->IsCode(kTinyImageEntry + 3));
  CHECK(!layout->IsCode(8192));
}

TEST_CASE("image: a harmless dynamic section is accepted") {
  TinyImage image = MakeTinyImage();
  AddDynamic(&image, DT_HASH);
  CHECK(ParseImage(image.Bytes()).ok());
}

TEST_CASE("image: what is refused") {
  struct Case {
    std::function<void(TinyImage*)> change;
    std::string message;
  };
  const Case kCases[] = {
      {[](TinyImage* i) { i->header.e_ident[0] = 0; }, "not an ELF file"},
      {[](TinyImage* i) { i->header.e_ident[EI_CLASS] = ELFCLASS32; }, "not a 64-bit ELF file"},
      {[](TinyImage* i) { i->header.e_ident[EI_DATA] = ELFDATA2MSB; }, "not little-endian"},
      {[](TinyImage* i) { i->header.e_version = 2; }, "unknown ELF version"},
      {[](TinyImage* i) { i->header.e_machine = EM_AARCH64; }, "machine 183, expected 62 (x86-64)"},
      {[](TinyImage* i) { i->header.e_type = ET_EXEC; }, "ELF type 2, expected 3 (shared object)"},
      {[](TinyImage* i) { i->header.e_phentsize = 55; },
       "program headers of 55 bytes, expected 56"},
      {[](TinyImage* i) { i->header.e_phnum = 0; }, "0 program headers, expected 1 to 64"},
      {[](TinyImage* i) { i->header.e_phnum = 3; }, "program headers outside the file"},
      {[](TinyImage* i) { i->header.e_phoff = ~uint64_t{0} - 8; },
       "program headers outside the file"},
      {[](TinyImage* i) { i->segments[0].p_filesz = i->segments[0].p_memsz + 1; },
       "segment 0: larger in the file than in memory"},
      {[](TinyImage* i) { i->segments[0].p_memsz = i->segments[0].p_filesz = 4096; },
       "segment 0: outside the file"},
      {[](TinyImage* i) { i->segments[0].p_offset = ~uint64_t{0} / 4096 * 4096; },
       "segment 0: outside the file"},
      {[](TinyImage* i) { i->segments[0].p_memsz = ~uint64_t{0}; },
       "segment 0: addresses beyond 0x100000000"},
      {[](TinyImage* i) { i->segments[0].p_align = 16; },
       "segment 0: alignment 16, expected a power of two from 4096"},
      {[](TinyImage* i) { i->segments[0].p_vaddr = 64; },
       "segment 0: address and file offset differ within the page"},
      {[](TinyImage* i) { i->segments[0].p_flags |= PF_W; },
       "segment 0: both writable and executable"},
      {[](TinyImage* i) {
         i->segments.push_back(i->segments[0]);
         i->header.e_phnum = 2;
       },
       "segment 1: not after the segment before it"},
      {[](TinyImage* i) { i->segments[0].p_type = PT_NOTE; }, "nothing to load (no PT_LOAD)"},
      {[](TinyImage* i) { i->segments[0].p_type = PT_TLS; }, "has thread-local storage (PT_TLS)"},
      {[](TinyImage* i) { i->segments[0].p_type = PT_INTERP; },
       "asks for an interpreter (PT_INTERP)"},
      {[](TinyImage* i) { AddDynamic(i, DT_RELA); },
       "DT_RELA present: images must need no dynamic linking"},
      {[](TinyImage* i) { AddDynamic(i, DT_REL); },
       "DT_REL present: images must need no dynamic linking"},
      {[](TinyImage* i) { AddDynamic(i, DT_JMPREL); },
       "DT_JMPREL present: images must need no dynamic linking"},
      {[](TinyImage* i) { AddDynamic(i, DT_NEEDED); },
       "DT_NEEDED present: images must need no dynamic linking"},
      {[](TinyImage* i) { AddDynamic(i, DT_INIT_ARRAY); },
       "DT_INIT_ARRAY present: images must need no dynamic linking"},
      {[](TinyImage* i) {
         AddDynamic(i, DT_NULL);
         i->segments[1].p_offset = ~uint64_t{0};
       },
       "dynamic section outside the file"},
  };
  for (const Case& c : kCases) {
    TinyImage image = MakeTinyImage();
    c.change(&image);
    Result<ImageLayout> layout = ParseImage(image.Bytes());
    CAPTURE(c.message);
    REQUIRE(!layout.ok());
    CHECK(layout.status().message() == "kernel image: " + c.message);
  }
}

TEST_CASE("image: every truncation and flipped byte is an image or an error") {
  TinyImage image = MakeTinyImage();
  AddDynamic(&image, DT_HASH);
  std::vector<uint8_t> bytes = image.Bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::vector<uint8_t> head(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    CHECK(!ParseImage(head).ok());
  }
  int accepted = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int flip : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] = static_cast<uint8_t>(damaged[i] ^ flip);
      accepted += ParseImage(damaged).ok();
    }
  }
  CHECK(accepted > 0);
}

}  // namespace
}  // namespace relayvm

// Programs for the tests of this folder: a small one in assembler text that uses every kind of
// operand, and a tiny image.
#pragma once

#include <doctest/doctest.h>
#include <elf.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "bytecode/assembler.h"
#include "bytecode/program.h"

namespace relayvm::testing {

// An ELF image of one executable segment: header, program headers, then code at kTinyImageEntry.
struct TinyImage {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::vector<uint8_t> rest;  // after the headers

  std::vector<uint8_t> Bytes() const {
    std::vector<uint8_t> out(sizeof(header) + segments.size() * sizeof(Elf64_Phdr));
    std::memcpy(out.data(), &header, sizeof(header));
    if (!segments.empty()) {
      std::memcpy(out.data() + sizeof(header), segments.data(),
                  segments.size() * sizeof(Elf64_Phdr));
    }
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }
};

inline TinyImage MakeTinyImage() {
  TinyImage image;
  std::memcpy(image.header.e_ident, ELFMAG, SELFMAG);
  image.header.e_ident[EI_CLASS] = ELFCLASS64;
  image.header.e_ident[EI_DATA] = ELFDATA2LSB;
  image.header.e_ident[EI_VERSION] = EV_CURRENT;
  image.header.e_type = ET_DYN;
  image.header.e_machine = EM_X86_64;
  image.header.e_version = EV_CURRENT;
  image.header.e_phoff = sizeof(Elf64_Ehdr);
  image.header.e_ehsize = sizeof(Elf64_Ehdr);
  image.header.e_phentsize = sizeof(Elf64_Phdr);
  image.header.e_phnum = 1;
  image.rest = {0x31, 0xc0, 0xc3};  // xor eax, eax; ret
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_flags = PF_R | PF_X;
  load.p_filesz = load.p_memsz = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + image.rest.size();
  load.p_align = 4096;
  image.segments.push_back(load);
  return image;
}
inline constexpr uint64_t kTinyImageEntry = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);

// `%IMAGE%` stands for the tiny image's bytes. The function "main" is where tests put code of their
// own.
inline constexpr const char* kSampleTables = R"(
.version 1
.source "sample.relay"
.message "dims differ: \"n\"\n"
.message "no match"
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.data "Unit" 0
.image "x86-64-v3"
  .hex %IMAGE%
.kernel "fused_add" scalars 1 buffers (float32[], float32[max(s0 - s0, 0)*2], out float32[] over 0) units floordiv(s0 + 3, 2) scratch (s0 + 1)*8 batched k2 (calls, s0) sharing 1 0x78
.kernel "cumsum" scalars 0 buffers (float32[2], out float32[2]) builtin
.kernel "fused_add_batched" scalars 2 buffers (float32[s0], float32[max(s1 - s1, 0)*2], out float32[s0]) units s0 0x78
.host "fetch" (int64[], (bool[3], data 0(int8[?"n"]))) -> float32[?, 128]
.host "tick" () -> ()
.type float32[1, 300]
.type int8[]
.constant float32[2] "layers.0.weight"
  .hex 0000803f00000040
.constant int64[] ""
  .hex 0700000000000000
.constant bool[0, 5] ""
.export "main" f0 ("x": float32[?"n*2 + 1", 3]) -> data 0((int32[?], ref(fn), data 1())) "out0"
.export "apply" f2 ("a": fn, "b": (float16[], int8[4]), "c": data 1()) -> (float32[], int64[2]) "p" "q"
.export "choose" vars 1 f2 ("p": var 0, "q": data 0(var 0), "r": (var 0, int8[])) -> data 0(var 0)
)";

inline constexpr const char* kSampleMain = R"(
.function "main" scalars 0 objects 1 captured 0 registers 4 8 returns object arena 128
  .slot 0 64
  .slot 64 4
%BODY%
.end
)";

inline constexpr const char* kSampleFunctions = R"(
.function "count" scalars 2 objects 1 captured 0 registers 3 1 returns scalar arena 0
  .at 0 10 3
L0:
  br.cmp.i le, i0, i1, L1
  .at 0 11 3
  addimm.i i0, i0, -1
  tail.call f1, [i0, i1], [r0!]
L1:
  ret.i i0
.end
.function "apply" scalars 0 objects 3 captured 0 registers 0 4 returns object arena 0
  call.closure r3, r0!, [r1!, r2!]
  tail.closure r3!, []
.end
.function "lambda" scalars 0 objects 3 captured 2 registers 0 3 returns object arena 0
  adt.new r0, #0, [r0!, r1!, r2!]
  ret.r r0!
.end
)";

inline constexpr const char* kSampleBody = R"(
  .at 0 3 5
  tensor.dim i0, r0, #1
  const.i16 i1, -3
  const.i64 i2, -9000000000
  cmp.i i3, lt, i0, i1
  guard i3, i0, i1, m0
  fn.f32 i1, exp, i1
  fn2.f64 i1, atan2, i1, i2
  convert i2, i2, int8, float64
  wrap i2, i2, uint8
  br.ifnot i3, L2
L0:
  .at 0 4 1
  call.i i0, f1, [i1, i2], [r0]
  const.r r1, c0
  tensor.static r2, t0
  kernel k0, i0, i1, i2, [i3], [r0, c0, s1]
  kernel.1 k1, [], [r1!, r2]
  slot.item i1, s1, float32
  tensor.item i1, r2, int64, 70000
  call.host r4, h0, [r1, r2]
  call.host r4, h1, []
  tensor.alloc r3, bfloat16, [i0, i1]
  tensor.reuse r3, r3!, float32, [i0]
  switch i1, [L0, L1, L2]
L1:
  closure.new r4, f3, [r2, r3]
  drop r3!
  adt.new r5, #1, [r4!, r2!]
  switch.tag r5, []
  call.r r6, f2, [], [r5, r5, r5!]
  ret.r r6!
L2:
  jump L3
L3:
  trap m1
)";

inline std::string ReplaceAll(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// f(x), of n rows of 2, is what an engine's region makes of it. `constant`: the region's, of two
// floats, in hexadecimal; `json`: with its quotes escaped.
inline std::string RegionText(const std::string& engine, const std::string& json,
                              const std::string& constant) {
  return fmt::format(R"(
.version 1
.source "net.relay"
.region "net_0" engine "{0}" constants (c0) symbols 1 json "{1}"
.kernel "{0}:net_0" scalars 10 s0=0 s1=11 s2=2 s5=11 s6=2 buffers (float32[s3, s4], out float32[s7, s8]) units 1 builtin region 0
.constant float32[2] "w"
  .hex {2}
.export "main" f0 ("x": float32[?"n", 2]) -> float32[?"n", 2]
.function "main" scalars 0 objects 1 captured 0 registers 4 2 returns object arena 0
  const.i16 i0, 0
  const.i16 i1, 11
  const.i16 i2, 2
  tensor.dim i3, r0, #0
  tensor.alloc r1, float32, [i3, i2]
  .at 0 7 3
  kernel.1 k0, [i0, i1, i2, i3, i2, i1, i2, i3, i2, i3], [r0, r1]
  ret.r r1!
.end
)",
                     engine, json, constant);
}

// The sample with another body of "main".
inline std::string SampleText(const std::string& body = kSampleBody) {
  std::string hex;
  for (uint8_t byte : MakeTinyImage().Bytes()) hex += fmt::format("{:02x}", byte);
  return ReplaceAll(kSampleTables, "%IMAGE%", hex) + ReplaceAll(kSampleMain, "%BODY%", body) +
         kSampleFunctions;
}

inline Program Parse(const std::string& text) {
  Result<Program> program = Assemble(text);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  return *std::move(program);
}

}  // namespace relayvm::testing

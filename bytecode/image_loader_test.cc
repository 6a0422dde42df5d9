#include "bytecode/image_loader.h"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "bytecode/test_programs.h"

namespace relayvm {
namespace {

std::optional<std::string> EnvironmentOf(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

TEST_CASE("cpu features: levels expand, and what is missing is named") {
  CHECK(ExpandFeatures("x86-64") ==
        std::vector<std::string>{"cmov", "cx8", "fxsr", "mmx", "sse", "sse2"});
  CHECK(ExpandFeatures("+avx512f, avx2,+avx2,") == std::vector<std::string>{"avx2", "avx512f"});
  CHECK(ExpandFeatures("x86-64-v3").size() == 22);
  CpuFeatures old(ExpandFeatures("x86-64-v2"));
  CHECK(old.Missing("x86-64-v2").empty());
  CHECK(old.Missing("x86-64-v2,avx2,amx-tile") == std::vector<std::string>{"amx-tile", "avx2"});
  CHECK(old.Missing("no-such-thing") == std::vector<std::string>{"no-such-thing"});
}

TEST_CASE("cpu features: this machine has the base level") {
  CHECK(CpuFeatures::OfThisMachine().Missing("x86-64").empty());
  const std::optional<std::string> old = EnvironmentOf(kMaxCpuLevelVariable);
  ::unsetenv(kMaxCpuLevelVariable);
  CHECK(CpuFeatures::OfThisMachine().Has("avx2") == (__builtin_cpu_supports("avx2") != 0));
  CHECK(CpuFeatures::OfThisMachine().Has("avx512f") == (__builtin_cpu_supports("avx512f") != 0));
  CHECK(CpuFeatures::OfThisMachine().Has("sse4.2") == (__builtin_cpu_supports("sse4.2") != 0));
  // Or less, where the environment says so.
  const CpuFeatures machine = CpuFeatures::OfThisMachine();
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    CHECK(IsCpuLevel(level));
    ::setenv(kMaxCpuLevelVariable, level, 1);
    const CpuFeatures capped = CpuFeatures::OfThisMachine();
    CHECK(capped.Missing(level) == machine.Missing(level));
    for (const char* feature : {"avx2", "avx512f", "avx512vnni", "amx-tile", "gfni"}) {
      const std::vector<std::string> allowed = ExpandFeatures(level);
      const bool is_allowed = std::count(allowed.begin(), allowed.end(), feature) != 0;
      CHECK(capped.Has(feature) == (is_allowed && machine.Has(feature)));
    }
  }
  for (const char* name : {"", "v3", "x86-64", "x86-64-v5"}) CHECK_FALSE(IsCpuLevel(name));
  if (old) {
    ::setenv(kMaxCpuLevelVariable, old->c_str(), 1);
  } else {
    ::unsetenv(kMaxCpuLevelVariable);
  }
}

TEST_CASE("images: the one that asks for most of those that run") {
  auto choose = [](const std::vector<std::string>& images, const char* machine) {
    std::vector<ImageInfo> infos;
    for (const std::string& features : images) infos.push_back({features, {}});
    return ChooseImage(infos, CpuFeatures(ExpandFeatures(machine)));
  };
  CHECK(*choose({"x86-64-v2", "x86-64-v4", "x86-64-v3"}, "x86-64-v4") == 1);
  CHECK(*choose({"x86-64-v2", "x86-64-v4", "x86-64-v3"}, "x86-64-v3,gfni") == 2);
  CHECK(*choose({"x86-64-v4", ""}, "x86-64") == 1);
  Result<size_t> none =
      choose({"x86-64-v3", "x86-64-v2,amx-tile"}, "x86-64-v2,avx,bmi,bmi2,fma,lzcnt,movbe,xsave");
  REQUIRE(!none.ok());
  CHECK(none.status().code() == StatusCode::kUnsupported);
  CHECK(none.status().message() ==
        "no kernel image runs on this machine: the one for x86-64-v3 needs avx2, f16c; the one for "
        "x86-64-v2,amx-tile needs "
        "amx-tile; compile with a lower --target");
}

TEST_CASE(
    "images: AMX counts where the system permits it, and is asked for where an image needs it") {
  static int asked = 0;
  bool (*const permit)() = [] { return ++asked > 0; };
  bool (*const refuse)() = [] { return ++asked < 0; };
  auto machine = [](bool (*permits)()) {
    return CpuFeatures(ExpandFeatures("x86-64-v4,amx-tile,amx-bf16"), permits);
  };
  const std::vector<ImageInfo> plain = {{"x86-64-v3", {}}, {"x86-64-v4", {}}};
  CHECK(*ChooseImage(plain, machine(refuse)) == 1);
  CHECK(asked == 0);
  std::vector<ImageInfo> images = plain;
  images.push_back({"x86-64-v4,amx-bf16,amx-tile", {}});
  CHECK(*ChooseImage(images, machine(permit)) == 2);
  CHECK(*ChooseImage(images, machine(refuse)) == 1);
  CHECK(asked > 1);
  CHECK(machine(refuse).IsRefused("amx-tile"));
  CHECK_FALSE(machine(refuse).IsRefused("amx-int8"));  // there is none
  CHECK_FALSE(machine(permit).IsRefused("amx-tile"));
  const Result<size_t> none = ChooseImage(std::span(images).last(1), machine(refuse));
  REQUIRE(!none.ok());
  CHECK(none.status().code() == StatusCode::kUnsupported);
  CHECK(none.status().message() ==
        "no kernel image runs on this machine: the one for x86-64-v4,amx-bf16,amx-tile needs "
        "amx-bf16, "
        "amx-tile, where the system refuses this process AMX (arch_prctl ARCH_REQ_XCOMP_PERM); "
        "compile "
        "with a lower --target");
}

// Code that returns the word at the start of its second, writable segment, plus one.
std::vector<uint8_t> TwoSegmentImage() {
  relayvm::testing::TinyImage image = relayvm::testing::MakeTinyImage();
  constexpr uint64_t kHeaders = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  constexpr uint64_t kData = 0x2000;
  image.header.e_phnum = 2;
  // mov eax, [rip + data]; inc eax; mov [rip + data], eax; ret
  auto code = [&](uint64_t at, std::vector<uint8_t> bytes, uint64_t next) {
    auto distance = static_cast<uint32_t>(kData - next);
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(distance >> (8 * i)));
    (void)at;
    return bytes;
  };
  std::vector<uint8_t> load = code(kHeaders, {0x8b, 0x05}, kHeaders + 6);
  std::vector<uint8_t> store = code(kHeaders + 8, {0x89, 0x05}, kHeaders + 14);
  image.rest = load;
  image.rest.insert(image.rest.end(), {0xff, 0xc0});
  image.rest.insert(image.rest.end(), store.begin(), store.end());
  image.rest.push_back(0xc3);
  image.segments[0].p_filesz = image.segments[0].p_memsz = kHeaders + image.rest.size();
  image.rest.resize(0x1000 - kHeaders);
  for (uint8_t byte : {41, 0, 0, 0}) image.rest.push_back(byte);
  Elf64_Phdr data{};
  data.p_type = PT_LOAD;
  data.p_flags = PF_R | PF_W;
  data.p_offset = 0x1000;
  data.p_vaddr = kData;
  data.p_filesz = 4;
  data.p_memsz = 0x3000;
  data.p_align = 4096;
  image.segments.push_back(data);
  return image.Bytes();
}
constexpr uint64_t kTwoSegmentEntry = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);

TEST_CASE("images: mapped from memory, code and data") {
  std::vector<uint8_t> elf = TwoSegmentImage();
  auto image = MappedImage::Map(elf);
  REQUIRE_MESSAGE(image.ok(), image.status().message());
  RelayvmKernelFn fn = (*image)->Entry(kTwoSegmentEntry);
  CHECK(fn(nullptr, nullptr, 0, 1) == 42);
  CHECK(fn(nullptr, nullptr, 0, 1) == 43);
  auto second = MappedImage::Map(elf);  // has data of its own
  CHECK((*second)->Entry(kTwoSegmentEntry)(nullptr, nullptr, 0, 1) == 42);
}

TEST_CASE("images: run where pages that were writable may not become executable") {
  const std::vector<uint8_t> elf = TwoSegmentImage();
  constexpr int kNoMdwe = 77;
  const pid_t child = fork();
  if (child == 0) {
    constexpr int kSetMdwe = 65, kRefuseExecGain = 1;  // PR_SET_MDWE, from Linux 6.3 on
    if (prctl(kSetMdwe, kRefuseExecGain, 0, 0, 0) != 0) _exit(kNoMdwe);
    auto image = MappedImage::Map(elf);
    _exit(image.ok() ? (*image)->Entry(kTwoSegmentEntry)(nullptr, nullptr, 0, 1) : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) != kNoMdwe) CHECK(WEXITSTATUS(status) == 42);
}

TEST_CASE("images: nobody can write to their code, and perf finds it in no file") {
  const std::vector<uint8_t> elf = TwoSegmentImage();
  for (const auto kind : {MappedImage::Kind::kSealed, MappedImage::Kind::kAnonymous}) {
    auto image = MappedImage::Map(elf, kind);
    REQUIRE(image.ok());
    std::ifstream maps("/proc/self/maps");
    const std::string first = fmt::format("{:x}-", reinterpret_cast<uintptr_t>((*image)->base()));
    std::string line;
    while (std::getline(maps, line) && !line.starts_with(first)) {
    }
    CAPTURE(line);
    CHECK(line.find(" r-xp ") != std::string::npos);
    CHECK((line.find("memfd:relayvm") != std::string::npos) ==
          (kind == MappedImage::Kind::kSealed));
  }
}

TEST_CASE("images: what is no image is an error") {
  std::vector<uint8_t> bytes(100, 1);
  auto image = MappedImage::Map(bytes);
  REQUIRE(!image.ok());
  CHECK(image.status().code() == StatusCode::kInvalidInput);
}

}  // namespace
}  // namespace relayvm

#include "bytecode/regions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/assembler.h"
#include "bytecode/checksum.h"
#include "bytecode/disassembler.h"
#include "bytecode/file_format.h"
#include "bytecode/reader.h"
#include "bytecode/test_programs.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"

namespace relayvm {
namespace {

using testing::Parse;
using testing::ReplaceAll;
using Bytes = std::vector<uint8_t>;

// With a constant and a symbol, the rows of x.
std::string RegionsText() {
  return testing::RegionText("dnnl", R"({\"nodes\": []})", "0000803f00000040");
}

std::string ErrorOf(const std::string& text) {
  const Status status = VerifyProgram(Parse(text));
  CHECK(!status.ok());
  return status.message();
}

TEST_CASE("regions: text and files give back what went in") {
  const Program program = Parse(RegionsText());
  const std::string text = DisassembleProgram(program, {.data = true});
  CHECK(text.find("engine \"dnnl\" constants (c0) symbols 1 json \"{\\\"nodes\\\": []}\"") !=
        std::string::npos);
  CHECK(DisassembleProgram(Parse(text), {.data = true}) == text);
  CHECK(LeastFormatMinor(program) == kMinorOfRegions);

  const Result<Bytes> file = SerializeProgram(program);
  REQUIRE_MESSAGE(file.ok(), file.status().message());
  const Result<Program> read = ReadProgram(*file);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(DisassembleProgram(*read, {.data = true}) == text);
  REQUIRE(read->regions.size() == 1);
  CHECK(read->regions[0].json == "{\"nodes\": []}");
  CHECK(read->kernels[0].region == 0);
  CHECK(read->targets.empty());
  CHECK(EnginesOf(*read) == std::vector<std::string>{"dnnl"});
  CHECK(!Parse(testing::SampleText()).kernels[0].region);
}

TEST_CASE("regions: what does not fit is refused") {
  CHECK(VerifyProgram(Parse(RegionsText())).ok());
  const std::string two = "s5=11 s6=2 buffers (float32[s3, s4], out float32[s7, s8])";
  const std::pair<std::pair<std::string, std::string>, std::string> kCases[] = {
      {{"engine \"dnnl\"", "engine \"dnnl,x\""}, "its engine is no name"},
      {{"engine \"dnnl\"", "engine \"../x\""}, "its engine is no name"},
      {{"engine \"dnnl\"", "engine \"\""}, "its engine is no name"},
      {{R"("{\"nodes\": []}")", "\"\""}, "JSON of 0 bytes, expected 1 to 67108864"},
      {{"constants (c0)", "constants (c0, c1)"}, "constant c1 is out of range 1"},
      {{"symbols 1", "symbols 2"}, "expected 11 scalars, the last 2 of its region's symbols"},
      {{"symbols 1", "symbols 4097"}, "4097 symbols, the limit is 4096"},
      {{"region 0", "region 1"}, "region 1 is out of range 1"},
      {{"builtin region 0", "region 0 0x78"}, "has 1 entries, expects 0"},
      {{"s0=0", "s0=1"}, "expected scalar 0 to be 0, its region"},
      {{" s0=0", ""}, "expected scalar 0 to be 0, its region"},
      {{"s1=11", "s1=12"}, "expected scalars 1 and 2 to be the dtype and the rank of buffer 0"},
      {{" s6=2", ""}, "expected scalars 5 and 6 to be the dtype and the rank of buffer 1"},
      {{"s6=2", "s6=256"}, "expected scalars 5 and 6 to be the dtype and the rank of buffer 1"},
      {{"[s7, s8]", "[s7, s4]"}, "expected buffer 1 to have the shape [s7, s8], found [s7, s4]"},
      {{"[s7, s8]", "[s7, s8] over 0"}, "and none in the other's memory"},
      {{"out float32[s7", "float32[s7"}, "expected a region to write an output"},
      {{"(float32[s3", "(out float32[s3"}, ""},
      {{"(float32[s3, s4], out", "(out float32[s3, s4],"}, "expected a region's inputs, then"},
      {{"units 1", "units 2"}, "expected one unit of work, and no scratch"},
      {{"units 1", ""}, "expected one unit of work, and no scratch"},
      {{"units 1", "units 1 scratch 8"}, "expected one unit of work, and no scratch"},
  };
  for (const auto& [change, message] : kCases) {
    const std::string text = ReplaceAll(RegionsText(), change.first, change.second);
    CAPTURE(text);
    const Result<Program> program = Assemble(text);
    const Status status = program.ok() ? VerifyProgram(*program) : program.status();
    if (message.empty()) {  // a call that writes what it should read, and else nothing is wrong
      CHECK(status.ok());
      continue;
    }
    CHECK(!status.ok());
    CHECK_MESSAGE(status.message().find(message) != std::string::npos, status.message());
  }
  // Two kernels of one region.
  Program program = Parse(RegionsText());
  program.kernels.push_back(program.kernels[0]);
  CHECK(VerifyProgram(program).message() == "kernel 'dnnl:net_0': region 0 is another kernel's");
  program = Parse(RegionsText());
  program.constants[0].dtype = DType::kString;
  program.constants[0].dims = {1};
  CHECK(VerifyProgram(program).message() ==
        "region 0 'net_0': constant c0: expected numbers on the host");
  program = Parse(RegionsText());
  program.kernels[0].builtin = false;
  CHECK(!VerifyProgram(program).ok());
}

TEST_CASE("regions: a call that is not its kernel's is refused") {
  CHECK(ErrorOf(ReplaceAll(RegionsText(), "kernel.1 k0, [i0,", "kernel.1 k0, [i1,")) != "");
  CHECK(ErrorOf(ReplaceAll(RegionsText(), "[r0, r1]", "[r0]")) != "");
}

// --- The choice ---

std::string Chosen(const std::vector<ProgramNeeds>& programs, const std::string& target,
                   const std::vector<std::string>& engines) {
  const Result<size_t> index = ChooseProgram(programs, target, engines);
  return index.ok() ? TargetName(programs[*index]) : index.status().message();
}

TEST_CASE("regions: the best program of a file") {
  const std::vector<ProgramNeeds> kAll = {{"", {}},           {"sse2", {}},
                                          {"sse2", {"dnnl"}}, {"sse2", {"blas", "dnnl"}},
                                          {"sse2,sse3", {}},  {"sse2,no-such", {"dnnl"}}};
  // The processor counts first.
  CHECK(Chosen(kAll, "", {}) == "sse2,sse3");
  CHECK(Chosen(kAll, "", {"dnnl"}) == "sse2,sse3");
  const std::vector<ProgramNeeds> kSome(kAll.begin(), kAll.begin() + 4);
  CHECK(Chosen(kSome, "", {}) == "sse2");
  CHECK(Chosen(kSome, "", {"blas"}) == "sse2");
  CHECK(Chosen(kSome, "", {"dnnl"}) == "sse2 + dnnl");
  CHECK(Chosen(kSome, "", {"dnnl", "blas"}) == "sse2 + blas + dnnl");
  // By name, or by its processor.
  CHECK(Chosen(kAll, "sse2", {}) == "sse2");
  CHECK(Chosen(kAll, "sse2", {"dnnl"}) == "sse2 + dnnl");
  CHECK(Chosen(kAll, "sse2 + dnnl", {}) == "sse2 + dnnl");
  CHECK(Chosen(kAll, "sse2,no-such", {}) == "sse2,no-such + dnnl");
  CHECK(Chosen(kSome, "avx3", {}) ==
        "the file has no program for avx3, it has , sse2, sse2 + dnnl, sse2 + blas + dnnl");
  // None has what it needs: one that runs here, so that its engine is what is missing.
  CHECK(Chosen({{"no-such", {}}, {"sse2", {"dnnl"}}}, "", {}) == "sse2 + dnnl");
  CHECK(Chosen({{"no-such", {}}, {"nor-this", {"dnnl"}}}, "", {"dnnl"}) == "no-such");
  // For any processor.
  CHECK(Chosen({{"sse2", {}}, {"", {"dnnl"}}}, "", {"dnnl"}) == "any + dnnl");
  CHECK(Chosen({{"sse2", {}}, {"", {"dnnl"}}}, "", {}) == "sse2");
}

// The program with its region, without it, and for a processor that there is not.
struct Twins {
  Program native = Parse(testing::SampleText()), regions = Parse(RegionsText()), none = native;
  Bytes file;
  Twins() {
    native.images[0].cpu_features = none.images[0].cpu_features = "sse2";
    none.images[0].cpu_features += ",no-such-feature";
    std::vector<Program> others = {regions, none};
    Result<Bytes> bytes = SerializeProgram(native, others);
    REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
    file = *std::move(bytes);
  }
};

TEST_CASE("regions: a file with a twin, with and without its engine") {
  const Twins twins;
  const std::vector<std::string> engines = {"dnnl"};
  Result<Program> read = ReadProgram(twins.file);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(read->regions.empty());
  CHECK(read->targets == std::vector<std::string>{"sse2", "any + dnnl", "sse2,no-such-feature"});
  read = ReadProgram(twins.file, {.engines = engines});
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(read->regions.size() == 1);
  read = ReadProgram(twins.file, {.target = "any + dnnl"});
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(DisassembleProgram(*read, {.data = true}) ==
        DisassembleProgram(twins.regions, {.data = true}));
  CHECK(CheckSegments(twins.file).ok());
  // One with regions may have no image; none may have two.
  Program two = twins.regions;
  two.images = {twins.native.images[0], twins.native.images[0]};
  CHECK(!SerializeProgram(twins.native, {&two, 1}).ok());
  // The engines of another program than are stated.
  Bytes damaged = twins.file;
  const std::string stated = "dnnl";
  const auto end = damaged.begin() + 64 + 4096;
  const auto at = std::search(damaged.begin(), end, stated.begin(), stated.end());
  REQUIRE(at != end);
  *at = 'x';
  FileHeader header{};
  std::memcpy(&header, damaged.data(), sizeof(header));
  header.checksum = 0;
  const uint64_t seed = Checksum64({reinterpret_cast<const uint8_t*>(&header), sizeof(header)});
  header.checksum = Checksum64(std::span(damaged).subspan(64, header.program_size), seed);
  std::memcpy(damaged.data(), &header, sizeof(header));
  CHECK(ReadProgram(damaged, {.target = "any + xnnl"}).status().message() ==
        ".vmx program for any + xnnl has regions for [dnnl]");
}

TEST_CASE("regions: damage of a file is found, and hostile bytes load and verify, or are errors") {
  const Result<Bytes> good = SerializeProgram(Parse(RegionsText()));
  REQUIRE(good.ok());
  FileHeader header{};
  std::memcpy(&header, good->data(), sizeof(header));
  size_t loaded = 0;
  for (size_t i = 64; i < 64 + header.program_size; ++i) {
    for (int flip : {0x01, 0x20, 0x80, 0xff}) {
      Bytes damaged = *good;
      damaged[i] = static_cast<uint8_t>(damaged[i] ^ flip);
      CHECK(!ReadProgram(damaged).ok());
      FileHeader resealed = header;
      resealed.checksum = 0;
      const uint64_t seed =
          Checksum64({reinterpret_cast<const uint8_t*>(&resealed), sizeof(resealed)});
      resealed.checksum = Checksum64(std::span(damaged).subspan(64, header.program_size), seed);
      std::memcpy(damaged.data(), &resealed, sizeof(resealed));
      const Result<Program> read = ReadProgram(damaged);
      if (!read.ok()) continue;
      ++loaded;
      for (const RegionInfo& region : read->regions) {
        CHECK(IsEngineName(region.engine));
        for (uint32_t c : region.constants) CHECK(c < read->constants.size());
      }
    }
  }
  CHECK(loaded > 100);
}

}  // namespace
}  // namespace relayvm

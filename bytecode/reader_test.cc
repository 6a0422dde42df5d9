#include "bytecode/reader.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>

#include "bytecode/checksum.h"
#include "bytecode/disassembler.h"
#include "bytecode/file_format.h"
#include "bytecode/memory_report.h"
#include "bytecode/test_programs.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"

namespace relayvm {
namespace {

namespace fs = std::filesystem;
using testing::SampleText;
using Bytes = std::vector<uint8_t>;

class TempDir {
 public:
  TempDir() : path_(fs::temp_directory_path() / ("relayvm_reader_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~TempDir() { fs::remove_all(path_); }
  std::string File(const char* name) const { return (path_ / name).string(); }
  size_t Count() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

Bytes ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

Program Sample() {
  Result<Program> program = Assemble(SampleText());
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  return *std::move(program);
}

Bytes Serialize(const Program& program) {
  Result<Bytes> bytes = SerializeProgram(program);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  return *std::move(bytes);
}

FileHeader HeaderOf(const Bytes& file) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

// Changes the header and makes the checksum right again, so that what lies behind the checksum is
// tested.
void Reseal(Bytes* file, const std::function<void(FileHeader*)>& change = [](FileHeader*) {}) {
  FileHeader header = HeaderOf(*file);
  change(&header);
  header.checksum = 0;
  uint64_t seed = Checksum64({reinterpret_cast<const uint8_t*>(&header), sizeof(header)});
  if (header.program_offset <= file->size() &&
      header.program_size <= file->size() - header.program_offset) {
    header.checksum =
        Checksum64(std::span(*file).subspan(header.program_offset, header.program_size), seed);
  }
  std::memcpy(file->data(), &header, sizeof(header));
}

std::string ErrorOf(const Bytes& file) {
  Result<Program> program = ReadProgram(file);
  CHECK(!program.ok());
  return program.ok() ? "" : program.status().message();
}

// Uses all that was loaded, as vmdump would.
void Use(const Program& program) {
  std::string text = DisassembleProgram(program, {.data = true});
  Result<Program> again = Assemble(text);
  REQUIRE_MESSAGE(again.ok(), again.status().message());
  CHECK(DisassembleProgram(*again, {.data = true}) == text);
  for (uint32_t i = 0; i < program.functions.size(); ++i) ReportMemory(program, i);
}

// --- Round trips ---

TEST_CASE("writer and reader: what goes in comes out") {
  Program program = Sample();
  Bytes file = Serialize(program);
  Result<Program> read = ReadProgram(file);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(DisassembleProgram(*read, {.data = true}) == DisassembleProgram(program, {.data = true}));
  CHECK(Serialize(*read) == file);

  CHECK(read->bytecode_version == 1);
  CHECK(read->functions[0].slots[1].offset == 64);
  CHECK(read->functions[3].num_captured == 2);
  CHECK(read->exports[0].params[0].dims == std::vector<int64_t>{-1, 3});
  CHECK(read->exports[0].params[0].dim_names == std::vector<std::string>{"n*2 + 1", ""});
  CHECK(read->constants[0].name == "layers.0.weight");
  CHECK(read->messages[0] == "dims differ: \"n\"\n");
}

TEST_CASE("writer and reader: an empty program") {
  Bytes file = Serialize(Program());
  Result<Program> read = ReadProgram(file);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(read->functions.empty());
  CHECK(file.size() == HeaderOf(file).file_size);
}

TEST_CASE("writer: layout, alignment and determinism") {
  Program program = Sample();
  Bytes file = Serialize(program);
  CHECK(Serialize(Sample()) == file);
  FileHeader header = HeaderOf(file);
  CHECK(std::memcmp(file.data(), "RVMX\1\0\1\0", 8) == 0);
  CHECK(header.program_offset == 64);
  CHECK(header.file_size == file.size());

  Result<Program> read = ReadProgram(file);
  REQUIRE(read.ok());
  CHECK(reinterpret_cast<uintptr_t>(read->images[0].elf.data()) % 4096 == 0);
  CHECK(reinterpret_cast<uintptr_t>(read->constants[0].data.data()) % 4096 == 0);
  for (const ConstantInfo& constant : read->constants) {
    CHECK(reinterpret_cast<uintptr_t>(constant.data.data()) % 64 == 0);
  }
}

TEST_CASE(
    "writer: the file has the same bytes, replaces the old one, and leaves nothing else behind") {
  TempDir dir;
  std::string path = dir.File("model.vmx");
  std::ofstream(path) << "old";
  auto old = FileMapping::Open(path);
  REQUIRE(old.ok());
  Program program = Sample();
  Status status = WriteProgramFile(program, path);
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(ReadAll(path) == Serialize(program));
  CHECK((*old)->bytes().size() == 3);
  CHECK((*old)->bytes()[0] == 'o');

  Result<Program> read = OpenProgram(path);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  fs::remove(path);
  CHECK(Serialize(*read) == Serialize(program));
  CHECK(dir.Count() == 0);
}

TEST_CASE("writer: errors") {
  TempDir dir;
  Status status = WriteProgramFile(Sample(), dir.File("no/such/folder.vmx"));
  CHECK(status.message() ==
        "cannot create '" + dir.File("no/such/folder.vmx") + "': No such file or directory");
  Program invalid = Sample();
  invalid.exports[0].function = 9;
  CHECK(WriteProgramFile(invalid, dir.File("x.vmx")).message() ==
        "export 'main': function 9 out of range 4");
  CHECK(dir.Count() == 0);
  CHECK(!SerializeProgram(invalid).ok());
}

TEST_CASE("writer: a full device is an error") {
  if (!fs::exists("/dev/full")) return;
  CHECK(WriteProgramFile(Sample(), "/dev/full").message() ==
        "cannot write '/dev/full': No space left on device");
}

TEST_CASE("reader: time does not depend on the constants' size") {
  // A sparse file with a constant of 64 GiB that is never touched: made from one with a small
  // constant, whose size, a number that occurs nowhere else, is replaced.
  TempDir dir;
  constexpr uint64_t kBytes = uint64_t{1} << 36, kSmall = 12345;
  std::vector<std::byte> data(kSmall);
  Program program;
  program.constants.push_back({DType::kInt8, {static_cast<int64_t>(kSmall)}, "w", data});
  Bytes file = Serialize(program);
  int replaced = 0;
  for (size_t at = 64; at + 8 <= 64 + HeaderOf(file).program_size; at += 4) {
    uint64_t value;
    std::memcpy(&value, &file[at], sizeof(value));
    if (value != kSmall) continue;
    std::memcpy(&file[at], &kBytes, sizeof(kBytes));
    ++replaced;
  }
  REQUIRE(replaced == 2);  // the dim, and the segment's size
  file.erase(file.end() - static_cast<ptrdiff_t>(kSmall), file.end());
  Reseal(&file, [](FileHeader* h) { h->file_size += kBytes - kSmall; });
  std::string path = dir.File("large.vmx");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  std::error_code error;
  fs::resize_file(path, file.size() + kBytes, error);
  if (error) return;  // a file system without sparse files
  Result<Program> read = OpenProgram(path);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(read->constants[0].data.size() == kBytes);
}

TEST_CASE("reader: a batched form that counts rows needs a runtime that does") {
  const auto with_rows = [](const std::string& rows) {
    std::string text = SampleText();
    const std::string form = "batched k2 (calls, s0)";
    text.replace(text.find(form), form.size(), form + rows);
    Result<Program> program = Assemble(text);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    return *std::move(program);
  };
  CHECK(LeastFormatMinor(with_rows("")) < kMinorOfRows);
  const Program program = with_rows(" rows s0*2");
  CHECK(LeastFormatMinor(program) == kMinorOfRows);
  Result<Program> read = ReadProgram(Serialize(program));
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(read->kernels[0].batched->rows == program.kernels[0].batched->rows);
  const std::string text = DisassembleProgram(*read, {.data = true});
  CHECK(text.find("batched k2 (calls, s0) rows s0*2 sharing 1") != std::string::npos);
  CHECK(VerifyProgram(program).ok());
  // A kernel is its own batched form where that counts rows.
  Program own = program;
  own.kernels[2].batched = {
      .kernel = 2, .shared = {}, .scalars = {BatchedKernelInfo::kBatchSize, 0}};
  CHECK(!VerifyProgram(own).ok());
  own.kernels[2].batched->rows = program.kernels[0].batched->rows;
  CHECK(VerifyProgram(own).ok());
  own.kernels[2].batched->rows = {{SizeStep::Kind::kScalar, 2}};
  CHECK(!VerifyProgram(own).ok());
}

// --- Refusals ---

TEST_CASE("reader: versions") {
  Bytes file = Serialize(Sample());
  Bytes other = file;
  Reseal(&other, [](FileHeader* h) { h->major = 2; });
  CHECK(ErrorOf(other) == ".vmx format 2.1, this runtime reads 1.x: compile the program again");
  CHECK(ReadProgram(other).status().code() == StatusCode::kUnsupported);
  other = file;
  Reseal(&other, [](FileHeader* h) { h->minor = kFormatMinor + 1; });
  CHECK(ErrorOf(other) == ".vmx format 1.6, this runtime reads up to 1.5: use a newer runtime");
  other = file;
  Reseal(&other, [](FileHeader* h) { h->minor = 0; });
  CHECK(ErrorOf(other) ==
        ".vmx format 1.0, this runtime reads 1.1 and later: compile the program again");
  other = file;
  Reseal(&other, [](FileHeader* h) { h->flags = 4; });
  CHECK(ErrorOf(other) == ".vmx flags 0x4 are unknown to this runtime");
}

TEST_CASE("reader: headers that are refused") {
  const Bytes file = Serialize(Sample());
  const uint64_t size = file.size();
  struct Case {
    std::function<void(FileHeader*)> change;
    std::string message;
  };
  const Case kCases[] = {
      {[](FileHeader* h) { h->magic[0] = 'X'; },
       "expected a compiled program (.vmx), found a binary file of unknown kind"},
      {[](FileHeader* h) { h->file_size += 1; },
       fmt::format(".vmx file has {} bytes, its header says {}: truncated", size, size + 1)},
      {[](FileHeader* h) { h->file_size -= 1; },
       fmt::format(".vmx file has {} bytes, its header says {}: damaged", size, size - 1)},
      {[](FileHeader* h) { h->program_size = uint64_t{1} << 31; },
       ".vmx program of 2147483648 bytes, the limit is 2147483647"},
      {[](FileHeader* h) { h->program_offset = 68; }, "outside the file"},
      {[](FileHeader* h) { h->program_offset = 0; }, "outside the file"},
      {[](FileHeader* h) { h->program_offset = ~uint64_t{63}; }, "outside the file"},
      {[&](FileHeader* h) { h->program_size = size; }, "outside the file"},
      {[](FileHeader* h) { h->program_size = 0; }, ".vmx program is not a valid flatbuffer"},
      {[](FileHeader* h) { h->program_size = 4; }, ".vmx program is not a valid flatbuffer"},
  };
  for (const Case& c : kCases) {
    Bytes damaged = file;
    Reseal(&damaged, c.change);
    CAPTURE(c.message);
    CHECK(ErrorOf(damaged).find(c.message) != std::string::npos);
  }
  CHECK(ErrorOf({}) == "expected a compiled program (.vmx), found an empty file");
}

TEST_CASE("reader: errors name the file") {
  TempDir dir;
  std::string path = dir.File("text.vmx");
  std::ofstream(path) << std::string(100, 'x');
  CHECK(OpenProgram(path).status().message() ==
        path + ": expected a compiled program (.vmx), found text");
  CHECK(OpenProgram(dir.File("none")).status().code() == StatusCode::kNotFound);
}

// --- Damage ---

TEST_CASE("reader: every truncation is an error") {
  Bytes file = Serialize(Sample());
  for (size_t size = 0; size < file.size(); ++size) {
    Bytes head(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
    CHECK(!ReadProgram(head).ok());
    // With a header that agrees.
    if (size < sizeof(FileHeader)) continue;
    Reseal(&head, [&](FileHeader* h) { h->file_size = size; });
    CHECK(!ReadProgram(head).ok());
  }
}

TEST_CASE("reader: every flipped byte of the header, program or image is found") {
  const Bytes file = Serialize(Sample());
  const FileHeader header = HeaderOf(file);
  const size_t program_end = header.program_offset + header.program_size;
  const size_t image_end = 4096 + testing::MakeTinyImage().Bytes().size();
  REQUIRE(program_end < 4096);
  for (size_t i = 0; i < file.size(); ++i) {
    Bytes damaged = file;
    damaged[i] ^= 0xff;
    Result<Program> read = ReadProgram(damaged);
    bool guarded = i < program_end || (i >= 4096 && i < image_end);
    CAPTURE(i);
    CHECK(read.ok() == !guarded);
  }
}

TEST_CASE("reader: every flipped bit of the whole file is found, or stands in a gap") {
  const Bytes file = Serialize(Sample());
  const std::string good = DisassembleProgram(*ReadProgram(file), {.data = true});
  CHECK(CheckSegments(file).ok());
  size_t harmless = 0;
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    Bytes damaged = file;
    damaged[bit / 8] = static_cast<uint8_t>(damaged[bit / 8] ^ (1 << bit % 8));
    Result<Program> program = ReadProgram(damaged);
    if (!program.ok() || !CheckSegments(damaged).ok()) continue;
    ++harmless;
    // Gaps hold nothing but zeros.
    if (file[bit / 8] != 0 || DisassembleProgram(*program, {.data = true}) != good) {
      FAIL_CHECK("byte " << bit / 8 << ", bit " << bit % 8);
    }
  }
  CHECK(harmless < 8 * 2 * 4096);
}

TEST_CASE("reader: damage of a constant names it") {
  Bytes file = Serialize(Sample());
  const Result<Program> program = ReadProgram(file);
  std::span<const std::byte> weight = program->constants.at(0).data;
  auto same = [](uint8_t a, std::byte b) { return a == static_cast<uint8_t>(b); };
  auto at = std::find_end(file.begin(), file.end(), weight.begin(), weight.end(), same);
  REQUIRE(at != file.end());
  *at ^= 1;
  REQUIRE(ReadProgram(file).ok());
  Status status = CheckSegments(file);
  CHECK(status.code() == StatusCode::kInvalidInput);
  CHECK(status.message().starts_with(".vmx constant 0 \"layers.0.weight\" is damaged: "));
  CHECK(status.message().find("expected checksum 0x") != std::string::npos);
}

TEST_CASE("reader: flipped bytes behind a right checksum load and verify, or are errors") {
  const Bytes file = Serialize(Sample());
  const size_t end = 64 + HeaderOf(file).program_size;
  int loaded = 0;
  for (size_t i = 64; i < end; ++i) {
    for (int flip : {0x01, 0x04, 0x80, 0xff}) {
      Bytes damaged = file;
      damaged[i] = static_cast<uint8_t>(damaged[i] ^ flip);
      Reseal(&damaged);
      Result<Program> read = ReadProgram(damaged);
      if (!read.ok()) continue;
      ++loaded;
      if (flip == 0x01) Use(*read);
    }
  }
  CHECK(loaded > 0);
}

TEST_CASE("reader: random damage behind a right checksum") {
  const Bytes file = Serialize(Sample());
  const size_t end = 64 + HeaderOf(file).program_size;
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    Bytes damaged = file;
    for (uint32_t changes = 1 + random() % 6; changes > 0; --changes) {
      size_t at = 64 + random() % (end - 64);
      switch (random() % 3) {
        case 0:
          damaged[at] = static_cast<uint8_t>(random());
          break;
        case 1:
          damaged[at] = static_cast<uint8_t>(damaged[at] + 1);
          break;
        default: {
          size_t from = 64 + random() % (end - 64),
                 size = std::min<size_t>(8, end - std::max(from, at));
          std::memmove(&damaged[at], &damaged[from], size);
        }
      }
    }
    Reseal(&damaged);
    Result<Program> read = ReadProgram(damaged);
    if (read.ok()) Use(*read);
  }
}

// --- Several processors ---

// The sample, as for a processor.
Program SampleFor(const std::string& features, const std::string& name) {
  Program program = Sample();
  program.images[0].cpu_features = features;
  program.functions[0].name = name;
  return program;
}

// What this machine has and one thing that none has.
struct Several {
  Program least = SampleFor("", "least"), here = SampleFor("sse2", "here"),
          nowhere = SampleFor("sse2,no-such-feature", "nowhere");
  Bytes file;
  Several() {
    // As passes that run once for all processors leave them.
    here.constants[0].data = least.constants[0].data;
    std::vector<Program> others = {here, nowhere};
    auto bytes = SerializeProgram(least, others);
    REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
    file = *std::move(bytes);
  }
};

TEST_CASE("several processors: the best that runs here, or the one that is asked for") {
  Several several;
  Result<Program> best = ReadProgram(several.file);
  REQUIRE_MESSAGE(best.ok(), best.status().message());
  CHECK(best->functions[0].name == "here");
  CHECK(best->targets == std::vector<std::string>{"", "sse2", "sse2,no-such-feature"});
  for (const Program* wanted : {&several.here, &several.nowhere}) {
    Result<Program> read = ReadProgram(several.file, {.target = wanted->images[0].cpu_features});
    REQUIRE_MESSAGE(read.ok(), read.status().message());
    CHECK(DisassembleProgram(*read, {.data = true}) == DisassembleProgram(*wanted, {.data = true}));
    Use(*read);
  }
  CHECK(ReadProgram(several.file, {.target = "avx3"})
            .status()
            .message()
            .find("the file has no program for avx3, it has") != std::string::npos);
  CHECK(CheckSegments(several.file).ok());
  // None runs: the one that asks least tells why, when it is linked.
  std::vector<Program> others = {SampleFor("no-such-feature,nor-this", "more")};
  auto none = SerializeProgram(SampleFor("no-such-feature", "first"), others);
  REQUIRE(none.ok());
  CHECK(ReadProgram(*none)->functions[0].name == "first");
}

TEST_CASE("several processors: constants that share their bytes stand once") {
  Several several;
  const auto at = [&](const std::string& target) {
    auto program = ReadProgram(several.file, {.target = target});
    REQUIRE(program.ok());
    return std::string(reinterpret_cast<const char*>(program->constants[0].data.data()),
                       program->constants[0].data.size());
  };
  CHECK(at("sse2") == at("sse2,no-such-feature"));
  Program apart = several.here;
  apart.constants[0].data = SharedBytes::Copy(apart.constants[0].data);
  std::vector<Program> others = {apart, several.nowhere};
  auto larger = SerializeProgram(several.least, others);
  REQUIRE(larger.ok());
  CHECK(larger->size() >= several.file.size());
  // A program that has no image, or two, is for no processor.
  apart.images.clear();
  CHECK(!SerializeProgram(several.least, {&apart, 1}).ok());
}

TEST_CASE("several processors: damage is found by who reads it, or who asks") {
  const Several several;
  std::vector<bool> covered(several.file.size());
  for (size_t i = 0; i < several.file.size(); ++i) {
    CAPTURE(i);
    Bytes damaged = several.file;
    damaged[i] ^= 0x10;
    bool found = false;
    for (const char* target : {"", "sse2,no-such-feature"}) {
      Result<Program> read = ReadProgram(damaged, {.target = target});
      if (!read.ok()) found = true;
    }
    if (!found) found = !CheckSegments(damaged).ok();
    covered[i] = found;
  }
  // The rest are zeros between the parts.
  for (size_t i = 0; i < covered.size(); ++i) {
    if (!covered[i]) CHECK(several.file[i] == 0);
  }
  CHECK(std::count(covered.begin(), covered.end(), true) > 1000);
}

TEST_CASE(
    "several processors: flipped bytes behind right checksums load and verify, or are errors") {
  const Several several;
  const FileHeader header = HeaderOf(several.file);
  for (size_t i = header.program_offset; i < header.program_offset + header.program_size; ++i) {
    for (int flip : {0x01, 0x80, 0xFF}) {
      CAPTURE(i);
      Bytes damaged = several.file;
      damaged[i] = static_cast<uint8_t>(damaged[i] ^ flip);
      Reseal(&damaged);
      Result<Program> read = ReadProgram(damaged);
      if (read.ok()) Use(*read);
      Status checked = read.ok() ? CheckSegments(damaged) : read.status();
      if (!checked.ok()) CHECK(checked.message().size() > 5);
    }
  }
}

TEST_CASE("reader: types as deep as the verifier allows, and not deeper") {
  auto with_depth = [](int depth) {
    Program program = Sample();
    ValueType type;
    for (int i = 1; i < depth; ++i) {
      ValueType outer;
      outer.kind = ValueType::Kind::kTuple;
      outer.args.push_back(std::move(type));
      type = std::move(outer);
    }
    program.exports[1].params[0] = std::move(type);
    return program;
  };
  Bytes file = Serialize(with_depth(kMaxTypeDepth));
  CHECK(ReadProgram(file).ok());
  CHECK(!SerializeProgram(with_depth(kMaxTypeDepth + 1)).ok());
}

}  // namespace
}  // namespace relayvm

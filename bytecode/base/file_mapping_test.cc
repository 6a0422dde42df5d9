#include "bytecode/base/file_mapping.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace relayvm {
namespace {

namespace fs = std::filesystem;

class TempDir {
 public:
  TempDir() : path_(fs::temp_directory_path() / ("relayvm_mapping_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~TempDir() { fs::remove_all(path_); }
  std::string File(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

TEST_CASE("file mapping: the file's bytes, for as long as the mapping lives") {
  TempDir dir;
  std::string path = dir.File("data");
  std::ofstream(path) << "hello";
  auto mapping = FileMapping::Open(path);
  REQUIRE(mapping.ok());
  fs::remove(path);
  CHECK(std::string((*mapping)->bytes().begin(), (*mapping)->bytes().end()) == "hello");
  CHECK(reinterpret_cast<uintptr_t>((*mapping)->bytes().data()) % 4096 == 0);
  CHECK((*mapping)->path() == path);
}

TEST_CASE("file mapping: tells when the file was written to, not when it was replaced") {
  TempDir dir;
  const std::string path = dir.File("data"), other = dir.File("other");
  const auto wait = [] { ::usleep(20'000); };  // longer than a tick of the file system's clock
  for (const FileMapping::Kind kind : {FileMapping::Kind::kMap, FileMapping::Kind::kRead}) {
    std::ofstream(path) << "hello";
    auto mapping = FileMapping::Open(path, kind);
    REQUIRE(mapping.ok());
    wait();
    CHECK((*mapping)->CheckUnchanged().ok());
    std::ofstream(other) << "world";
    fs::rename(other, path);
    CHECK((*mapping)->CheckUnchanged().ok());
    CHECK(std::string((*mapping)->bytes().begin(), (*mapping)->bytes().end()) == "hello");

    mapping = FileMapping::Open(path, kind);
    wait();
    std::ofstream(path) << "there";  // of the same size
    const Status status = (*mapping)->CheckUnchanged();
    if (kind == FileMapping::Kind::kRead) {
      CHECK(status.ok());
      CHECK(std::string((*mapping)->bytes().begin(), (*mapping)->bytes().end()) == "world");
      continue;
    }
    CHECK(status.code() == StatusCode::kFailedPrecondition);
    CHECK(
        status.message() ==
        "'" + path +
            "' has been written to while it is in use (5 bytes when it was opened, 5 now); load it "
            "again, and replace such files by renaming (mv), not in place");
  }
}

TEST_CASE("file mapping: an empty file has no bytes") {
  TempDir dir;
  std::ofstream(dir.File("empty")).flush();
  auto mapping = FileMapping::Open(dir.File("empty"));
  REQUIRE(mapping.ok());
  CHECK((*mapping)->bytes().empty());
}

TEST_CASE("file mapping: a pipe is read to its end") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string text(60'000, 'x');  // what a pipe holds without a reader
  REQUIRE(::write(ends[1], text.data(), text.size()) == 60'000);
  ::close(ends[1]);
  auto mapping = FileMapping::Open("/dev/fd/" + std::to_string(ends[0]));
  ::close(ends[0]);
  REQUIRE_MESSAGE(mapping.ok(), mapping.status().message());
  CHECK(std::string((*mapping)->bytes().begin(), (*mapping)->bytes().end()) == text);
  CHECK(reinterpret_cast<uintptr_t>((*mapping)->bytes().data()) % 4096 == 0);
  CHECK((*mapping)->CheckUnchanged().ok());
}

TEST_CASE("file mapping: what can't be mapped") {
  TempDir dir;
  CHECK(FileMapping::Open(dir.File("none")).status().code() == StatusCode::kNotFound);
  CHECK(FileMapping::Open(dir.File("none")).status().message() ==
        "cannot open '" + dir.File("none") + "': No such file or directory");
  CHECK(FileMapping::Open(dir.File(".")).status().code() == StatusCode::kInvalidInput);
}

}  // namespace
}  // namespace relayvm

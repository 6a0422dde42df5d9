#include "bytecode/base/file_replacement.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "tests/temp_folder.h"

namespace relayvm {
namespace {

namespace fs = std::filesystem;

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

size_t CountFiles(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST_CASE("a file is replaced when it is complete, and who has the old one open keeps it") {
  testing::TempFolder folder;
  const std::string path = folder / "x";
  REQUIRE(WriteFile(path, "old").ok());
  std::ifstream reader(path, std::ios::binary);
  {
    auto file = FileReplacement::Create(path);
    REQUIRE(file.ok());
    REQUIRE(file->Write("new", 3).ok());
    CHECK(Content(path) == "old");
    REQUIRE(file->Commit().ok());
  }
  CHECK(Content(path) == "new");
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "old");
  CHECK(CountFiles(fs::path(path).parent_path()) == 1);
}

TEST_CASE("without a commit, nothing has happened") {
  testing::TempFolder folder;
  const std::string path = folder / "x";
  REQUIRE(WriteFile(path, "old").ok());
  {
    auto file = FileReplacement::Create(path);
    REQUIRE(file.ok());
    REQUIRE(file->Write("half", 4).ok());
  }
  CHECK(Content(path) == "old");
  CHECK(CountFiles(fs::path(path).parent_path()) == 1);
}

TEST_CASE("parts may be written in any order") {
  testing::TempFolder folder;
  const std::string path = folder / "x";
  auto file = FileReplacement::Create(path);
  REQUIRE(file.ok());
  REQUIRE(file->has_offsets());
  REQUIRE(file->WriteAt(4, "end", 3).ok());
  REQUIRE(file->WriteAt(0, "ab", 2).ok());
  REQUIRE(file->Commit().ok());
  CHECK(Content(path) == std::string("ab\0\0end", 7));
  CHECK_FALSE(FileReplacement::Create("/dev/null")->has_offsets());
}

TEST_CASE("a link that stands where a temporary was is not followed") {
  testing::TempFolder folder;
  const std::string path = folder / "x", victim = folder / "victim";
  REQUIRE(WriteFile(victim, "mine").ok());
  fs::create_symlink(victim, path + ".tmp" + std::to_string(getpid()));
  REQUIRE(WriteFile(path, "new").ok());
  CHECK(Content(victim) == "mine");
  CHECK(Content(path) == "new");
  CHECK_FALSE(fs::is_symlink(path));
}

TEST_CASE("what stood there before is replaced, a link too, with the permissions of new files") {
  testing::TempFolder folder;
  const std::string path = folder / "x", victim = folder / "victim";
  REQUIRE(WriteFile(victim, "mine").ok());
  fs::create_symlink(victim, path);
  const mode_t before = umask(027);
  const Status status = WriteFile(path, "new", /*lasting=*/true);
  umask(before);
  REQUIRE(status.ok());
  CHECK(Content(victim) == "mine");
  struct stat info;
  REQUIRE(lstat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0640);
  CHECK(S_ISREG(info.st_mode));
}

TEST_CASE("several threads write one path: one of their files is there, whole") {
  testing::TempFolder folder;
  const std::string path = folder / "x";
  std::vector<std::thread> threads;
  std::vector<Status> failed(4);
  for (size_t t = 0; t < failed.size(); ++t) {
    threads.emplace_back([&, t] {
      const std::string content(100'000, static_cast<char>('a' + t));
      for (int i = 0; i < 20 && failed[t].ok(); ++i) failed[t] = WriteFile(path, content);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : failed) CHECK_MESSAGE(status.ok(), status.ToString());
  const std::string content = Content(path);
  REQUIRE(content.size() == 100'000);
  CHECK(content.find_first_not_of(content[0]) == std::string::npos);
  CHECK(CountFiles(fs::path(path).parent_path()) == 1);
}

TEST_CASE("errors name the file; devices are written in place") {
  testing::TempFolder folder;
  const std::string path = folder / "no/such/folder";
  CHECK(WriteFile(path, "x").message() ==
        "cannot create '" + path + "': No such file or directory");
  CHECK(WriteFile("/dev/null", "x").ok());
  CHECK(WriteFile("/dev/full", "x").message() ==
        "cannot write '/dev/full': No space left on device");
}

TEST_CASE("a file is copied whole, to a file and to a pipe") {
  testing::TempFolder folder;
  for (const size_t size : {0, 1, 100'000}) {
    const std::string bytes(size, 'x'), from = folder / "from", to = folder / "to";
    REQUIRE(WriteFile(from, bytes).ok());
    const auto file = FileMapping::Open(from);
    REQUIRE(file.ok());
    REQUIRE(CopyFile(**file, to).ok());
    CHECK(Content(to) == bytes);
    const std::string pipe = folder / "pipe" + std::to_string(size);
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    std::string read;
    std::thread reader([&] { read = Content(pipe); });
    CHECK(CopyFile(**file, pipe).ok());
    reader.join();
    CHECK(read == bytes);
  }
  const auto file = FileMapping::Open(folder / "from");
  CHECK(!CopyFile(**file, folder / "no/such/folder").ok());
}

}  // namespace
}  // namespace relayvm

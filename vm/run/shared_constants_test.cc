#include "vm/run/shared_constants.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace relayvm::vm {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSize = 100'000;
const ContentHash kKey = HashOf(std::as_bytes(std::span("a key")));

// An environment's variable, as it was again afterwards.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name);
    if (old != nullptr) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

std::vector<std::byte> Content(int seed = 0) {
  std::vector<std::byte> bytes(kSize);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 31 + static_cast<size_t>(seed));
  return bytes;
}

std::optional<SharedBytes> Make(const ContentHash& key = kKey, int seed = 0) {
  std::optional<SharedConstantsWriter> writer = SharedConstantsWriter::Create(key, kSize);
  if (!writer || !writer->Write(0, Content(seed))) return std::nullopt;
  return writer->Publish();
}

std::vector<fs::path> Files(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

bool Holds(const std::optional<SharedBytes>& bytes, int seed = 0) {
  const std::vector<std::byte> expected = Content(seed);
  return bytes && bytes->size() == kSize &&
         std::memcmp(bytes->data(), expected.data(), kSize) == 0 &&
         reinterpret_cast<uintptr_t>(bytes->data()) % 64 == 0;
}

TEST_CASE("shared constants: what one has made others find, in a folder of theirs alone") {
  const testing::TempFolder folder;
  const Variable cache("RELAYVM_CACHE", folder / "new");
  CHECK(!FindSharedConstants(kKey, kSize, false));
  REQUIRE(Holds(Make()));
  CHECK(Holds(FindSharedConstants(kKey, kSize, false)));
  CHECK(Holds(FindSharedConstants(kKey, kSize, true)));
  CHECK(!FindSharedConstants(kKey, kSize - 1, false));
  CHECK(!FindSharedConstants(HashOf({}), kSize, false));
  struct stat info{};
  REQUIRE(::stat((folder / "new").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  const std::vector<fs::path> files = Files(folder / "new");
  REQUIRE(files.size() == 1);
  REQUIRE(::stat(files[0].c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("shared constants: the folders that the environment names") {
  const testing::TempFolder folder;
  struct Row {
    std::string own, cache, home, path;
  };
  const Row table[] = {{folder / "a", folder / "b", folder / "c", folder / "a"},
                       {"-", folder / "b", folder / "c", folder / "b/relayvm"},
                       {"-", "-", folder / "c", folder / "c/.cache/relayvm"},
                       {"-", "relative", folder / "d", folder / "d/.cache/relayvm"}};
  fs::create_directory(folder / "c");
  fs::create_directory(folder / "d");
  for (const Row& row : table) {
    CAPTURE(row.path);
    const Variable own("RELAYVM_CACHE", row.own), cache("XDG_CACHE_HOME", row.cache),
        home("HOME", row.home);
    if (row.own == "-") ::unsetenv("RELAYVM_CACHE");
    if (row.cache == "-") ::unsetenv("XDG_CACHE_HOME");
    REQUIRE(Holds(Make()));
    CHECK(Files(row.path).size() == 1);
  }
  // Turned off; not a whole path; no home.
  for (const char* own : {"", "relative"}) {
    const Variable variable("RELAYVM_CACHE", own);
    CHECK(!Make());
    CHECK(!FindSharedConstants(kKey, kSize, false));
  }
  const Variable own("RELAYVM_CACHE", ""), cache("XDG_CACHE_HOME", ""), home("HOME", "");
  ::unsetenv("RELAYVM_CACHE");
  CHECK(!Make());
}

TEST_CASE("shared constants: folders that are not safe, or can't be written to, are not used") {
  const testing::TempFolder folder;
  fs::create_directory(folder / "open");
  fs::permissions(folder / "open", fs::perms::all);
  fs::create_directory(folder / "real");
  fs::create_symlink(folder / "real", folder / "link");
  std::ofstream(folder / "file") << "x";
  for (const char* name : {"open", "link", "file", "no/such"}) {
    CAPTURE(name);
    const Variable cache("RELAYVM_CACHE", folder / name);
    CHECK(!Make());
    CHECK(!FindSharedConstants(kKey, kSize, false));
  }
  CHECK(Files(folder / "open").empty());
  CHECK(Files(folder / "real").empty());
  const Variable cache("RELAYVM_CACHE", "/proc/self");
  CHECK(!Make());
}

TEST_CASE("shared constants: files that are not what they should be are left out, and replaced") {
  const testing::TempFolder folder;
  const Variable cache("RELAYVM_CACHE", folder / "cache");
  REQUIRE(Make());
  const fs::path file = Files(folder / "cache").at(0);
  const auto damage = [&](std::streamoff at) {
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekg(at);
    const char byte = static_cast<char>(~stream.get());
    stream.seekp(at);
    stream.put(byte);
  };
  const auto check_replaced = [&](bool verify) {
    CHECK(!FindSharedConstants(kKey, kSize, verify));
    CHECK(Holds(Make()));
    CHECK(Holds(FindSharedConstants(kKey, kSize, true)));
    CHECK(Files(folder / "cache").size() == 1);
  };
  for (std::streamoff at : {0, 8, 16, 47, 48}) {  // magic, version, key, size
    CAPTURE(at);
    damage(at);
    check_replaced(false);
  }
  damage(4096 + 50'000);
  CHECK(FindSharedConstants(kKey, kSize, false));
  check_replaced(true);
  damage(56);  // the checksum
  check_replaced(true);
  fs::resize_file(file, 5'000);
  check_replaced(false);
  fs::resize_file(file, 0);
  check_replaced(false);
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  check_replaced(false);
  // A link elsewhere, a folder that is empty, a pipe.
  fs::rename(file, folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", file);
  check_replaced(false);
  CHECK(fs::exists(folder / "elsewhere"));
  fs::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  check_replaced(false);
}

TEST_CASE("shared constants: who has them mapped keeps them") {
  const testing::TempFolder folder;
  const Variable cache("RELAYVM_CACHE", folder / "cache");
  const std::optional<SharedBytes> bytes = Make();
  fs::remove_all(folder / "cache");
  CHECK(Holds(bytes));
  CHECK(Holds(Make(kKey, 1), 1));
  CHECK(Holds(bytes));
}

TEST_CASE("shared constants: of several that make the same at once, all get one file") {
  const testing::TempFolder folder;
  const Variable cache("RELAYVM_CACHE", folder / "cache");
  std::optional<SharedConstantsWriter> first = SharedConstantsWriter::Create(kKey, kSize);
  std::optional<SharedConstantsWriter> second = SharedConstantsWriter::Create(kKey, kSize);
  REQUIRE((first && second));
  CHECK(Files(folder / "cache").size() == 2);
  REQUIRE(first->Write(0, Content(1)));
  REQUIRE(second->Write(0, Content(2)));
  CHECK(Holds(first->Publish(), 1));
  CHECK(Holds(second->Publish(), 1));  // the first one's
  first.reset();
  second.reset();
  CHECK(Files(folder / "cache").size() == 1);
}

TEST_CASE("shared constants: what is not finished leaves nothing, and what is old goes") {
  const testing::TempFolder folder;
  const Variable cache("RELAYVM_CACHE", folder / "cache");
  {
    std::optional<SharedConstantsWriter> writer = SharedConstantsWriter::Create(kKey, kSize);
    REQUIRE(writer);
    CHECK(writer->Write(0, Content()));
  }
  CHECK(Files(folder / "cache").empty());
  CHECK(!SharedConstantsWriter::Create(kKey, kMostSharedBytes));
  const auto name = [&](char digit, const char* end) {
    return folder / ("cache/" + std::string(*end == 'n' ? 32 : 64, digit) + "." + end);
  };
  const auto make_old = [&](const std::string& path, int hours) {
    std::ofstream(path) << "x";
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  make_old(name('a', "new"), 2);
  make_old(name('b', "new"), 0);
  make_old(name('c', "constants"), 24 * 31);
  make_old(name('d', "constants"), 24 * 29);
  // Nobody's here.
  for (const char* other : {"notes.txt", "a.new", "b.constants"})
    make_old(folder / (std::string("cache/") + other), 24 * 400);
  REQUIRE(Make());
  CHECK(!fs::exists(name('a', "new")));
  CHECK(fs::exists(name('b', "new")));
  CHECK(!fs::exists(name('c', "constants")));
  CHECK(fs::exists(name('d', "constants")));
  CHECK(fs::exists(folder / "cache/notes.txt"));
  CHECK(fs::exists(folder / "cache/a.new"));
  CHECK(fs::exists(folder / "cache/b.constants"));
  // Too much: what was used longest ago goes first.
  fs::resize_file(name('d', "constants"), kMostSharedBytes - 2 * kSize);
  fs::last_write_time(name('d', "constants"),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  REQUIRE(Make(HashOf({}), 3));
  CHECK(!fs::exists(name('d', "constants")));
  CHECK(Holds(FindSharedConstants(kKey, kSize, true)));
  CHECK(Holds(FindSharedConstants(HashOf({}), kSize, true), 3));
}

TEST_CASE("shared constants: a limit of files' sizes is kept, without a signal") {
  const testing::TempFolder folder;
  const Variable cache("RELAYVM_CACHE", folder / "cache");
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{kSize, kSize};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(Make() ? 1 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace relayvm::vm

#include "kernels/codegen/object_cache.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "bytecode/base/file_replacement.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm {
namespace {

namespace fs = std::filesystem;

// A folder that goes with its scope.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "object_cache.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(path)) all.push_back(entry.path());
    return all;
  }
  fs::path path;
};

ObjectCache::Key KeyNumbered(int n) {
  const std::string text = "key " + std::to_string(n);
  return ObjectCache::KeyOf(text);
}

std::shared_ptr<ObjectCache> Opened(const fs::path& path,
                                    uint64_t max_bytes = ObjectCache::kMaxBytes) {
  auto cache = ObjectCache::Open(path.string(), max_bytes);
  REQUIRE_MESSAGE(cache.ok(), cache.status().message());
  return *cache;
}

TEST_CASE("ObjectCache: what is stored is found, by another one too") {
  const Folder folder;
  const std::vector<char> object(1000, 'x');
  auto cache = Opened(folder.path / "made" / "here");
  CHECK(!cache->Find(KeyNumbered(1)));
  cache->Store(KeyNumbered(1), object);
  CHECK(cache->Find(KeyNumbered(1)) == object);
  CHECK(!cache->Find(KeyNumbered(2)));
  CHECK(Opened(folder.path / "made" / "here")->Find(KeyNumbered(1)) == object);
  struct stat info = {};
  REQUIRE(stat((folder.path / "made" / "here").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
}

TEST_CASE("ObjectCache: damaged files are as none") {
  const Folder folder;
  auto cache = Opened(folder.path);
  cache->Store(KeyNumbered(1), std::vector<char>(100, 'x'));
  const fs::path file = folder.files().at(0);
  const auto size = fs::file_size(file);
  for (uintmax_t length = 0; length < size; length += 7) {
    fs::resize_file(file, length);
    CHECK(!cache->Find(KeyNumbered(1)));
  }
  for (uintmax_t at = 0; at < size; at += 5) {
    cache->Store(KeyNumbered(1), std::vector<char>(100, 'x'));
    REQUIRE(cache->Find(KeyNumbered(1)));
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put('\x7f');
    stream.close();
    CHECK(!cache->Find(KeyNumbered(1)));
  }
  fs::remove(file);
  fs::create_directory(file);
  CHECK(!cache->Find(KeyNumbered(1)));
  cache->Store(KeyNumbered(1), std::vector<char>(100, 'x'));  // cannot
}

TEST_CASE("ObjectCache: beyond the bound, what was not asked for the longest goes") {
  const Folder folder;
  const std::vector<char> object(1000, 'x');
  auto cache = Opened(folder.path, 16'000);
  for (int n = 0; n < 15; ++n) {
    cache->Store(KeyNumbered(n), object);
    timespec times[2] = {{.tv_sec = 1000 + n, .tv_nsec = 0}, {.tv_sec = 1000 + n, .tv_nsec = 0}};
    for (const fs::path& file : folder.files()) {
      struct stat info = {};
      if (stat(file.c_str(), &info) == 0 && info.st_mtime > 10'000)
        utimensat(AT_FDCWD, file.c_str(), times, 0);
    }
  }
  CHECK(folder.files().size() == 15);
  CHECK(cache->Find(KeyNumbered(0)));  // now it is the newest
  cache->Store(KeyNumbered(15), object);
  CHECK(folder.files().size() == 11);
  CHECK(cache->Find(KeyNumbered(0)));
  CHECK(!cache->Find(KeyNumbered(1)));
  CHECK(cache->Find(KeyNumbered(15)));
}

TEST_CASE("ObjectCache: files are found whole, and go like objects do") {
  const Folder folder;
  const auto write = [](const std::string& path) { return WriteFile(path, std::string(300, 'x')); };
  const auto no_room = [](const std::string&) { return Status(StatusCode::kInvalidInput, "full"); };
  auto cache = Opened(folder.path, 4000);
  ObjectCache::Key content{}, same{};
  const auto stored = cache->StoreFile(KeyNumbered(1), 300, &content, write);
  REQUIRE(stored != nullptr);
  CHECK(content == ObjectCache::KeyOf(std::string(300, 'x')));
  const auto found = cache->FindFile(KeyNumbered(1), content);
  REQUIRE(found != nullptr);
  CHECK(std::ranges::equal(found->bytes(), stored->bytes()));
  CHECK(cache->FindFile(KeyNumbered(2), content) == nullptr);
  CHECK(cache->FindFile(KeyNumbered(1), KeyNumbered(1)) == nullptr);
  CHECK(cache->StoreFile(KeyNumbered(2), 300, &same, no_room) == nullptr);
  CHECK(cache->StoreFile(KeyNumbered(2), 1001, &same, write) == nullptr);  // too large
  std::fstream(found->path(), std::ios::in | std::ios::out).put('y');
  CHECK(cache->FindFile(KeyNumbered(1), content) == nullptr);

  // Also what a process has left that ended while it wrote; not what is another's.
  const std::string left = found->path() + ".tmpabcdefgh", other = folder.path / "mine";
  for (const std::string& path : {left, other}) {
    REQUIRE(WriteFile(path, std::string(300, 'x')).ok());
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  for (int n = 3; n < 16; ++n) cache->StoreFile(KeyNumbered(n), 300, &same, write);
  CHECK(!fs::exists(left));
  CHECK(fs::exists(other));
  CHECK(folder.files().size() <= 4000 / 300 + 1);
  CHECK(cache->FindFile(KeyNumbered(15), same) != nullptr);
}

TEST_CASE("ObjectCache: folders that others may write to are refused") {
  const Folder folder;
  for (mode_t mode : {0777, 0770, 0722}) {
    REQUIRE(chmod(folder.path.c_str(), mode) == 0);
    const Status status = ObjectCache::Open(folder.path.string()).status();
    CHECK(status.code() == StatusCode::kFailedPrecondition);
    CHECK(status.message().find("chmod go-w") != std::string::npos);
  }
  REQUIRE(chmod(folder.path.c_str(), 0755) == 0);
  Opened(folder.path);
  std::ofstream(folder.path / "file") << "text";
  CHECK(ObjectCache::Open((folder.path / "file").string()).status().code() ==
        StatusCode::kInvalidInput);
  CHECK(ObjectCache::Open((folder.path / "file" / "below").string()).status().code() ==
        StatusCode::kInvalidInput);
}

TEST_CASE("ObjectCache: many threads at once") {
  const Folder folder;
  auto cache = Opened(folder.path, 20'000);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < 100; ++n) {
        const int key = (n + t * 7) % 30;
        const std::vector<char> object(1000, static_cast<char>('a' + key));
        cache->Store(KeyNumbered(key), object);
        auto found = cache->Find(KeyNumbered(key));
        if (found) CHECK(*found == object);
      }
    });
  }
}

TEST_CASE("ObjectCache: the user's folder") {
  struct Variable {
    Variable(const char* n, const char* value) : name(n) {
      const char* now = getenv(n);
      if (now != nullptr) old = now;
      value == nullptr ? unsetenv(n) : setenv(n, value, 1);
    }
    ~Variable() { old ? setenv(name, old->c_str(), 1) : unsetenv(name); }
    const char* name;
    std::optional<std::string> old;
  };
  {
    Variable a("RELAYVM_CACHE", nullptr), b("XDG_CACHE_HOME", "/x"), c("HOME", "/h");
    CHECK(ObjectCache::DefaultFolder() == "/x/relayvm");
    Variable d("XDG_CACHE_HOME", "relative");
    CHECK(ObjectCache::DefaultFolder() == "/h/.cache/relayvm");
    Variable e("HOME", nullptr);
    CHECK(ObjectCache::DefaultFolder().empty());
    Variable f("RELAYVM_CACHE", "here");
    CHECK(ObjectCache::DefaultFolder() == "here");
  }
  Variable off("RELAYVM_CACHE", "off");
  CHECK(ObjectCache::DefaultFolder().empty());
}

KernelSpec Scaled(double by) {
  const te::Tensor x = te::Placeholder("x", {Dim(64)}, DType::kFloat32, 0);
  KernelSpec spec;
  spec.name = "scaled";
  spec.inputs = {x};
  spec.by_value = {false};
  spec.outputs = {te::Compute("y", {Dim(64)}, [&](const std::vector<te::Expr>& i) {
    return te::Binary(te::BinaryOp::kMultiply, te::Load(x, i), te::Const(by, DType::kFloat32));
  })};
  return spec;
}

TEST_CASE("ObjectCache: kernels of one machine, level and text are compiled once") {
  const Folder folder;
  auto compile = [&](double by, int opt_level, std::string_view target) {
    KernelOptions options;
    options.machine = MachineNamed(target);
    options.opt_level = opt_level;
    options.cache = Opened(folder.path);
    KernelCompiler compiler(options);
    REQUIRE(compiler.Add(Scaled(by)).ok());
    auto image = compiler.Finish();
    REQUIRE_MESSAGE(image.ok(), image.status().message());
    return *std::move(image);
  };
  const KernelImage first = compile(2, 3, "x86-64-v3");
  CHECK(first.times.found == 0);
  const KernelImage second = compile(2, 3, "x86-64-v3");
  CHECK(second.times.found == 1);
  CHECK(second.elf == first.elf);
  CHECK(compile(3, 3, "x86-64-v3").times.found == 0);
  CHECK(compile(2, 1, "x86-64-v3").times.found == 0);
  CHECK(compile(2, 3, "x86-64-v4").times.found == 0);
  CHECK(compile(2, 3, "x86-64-v2").times.found == 0);
  CHECK(compile(2, 1, "x86-64-v3").times.found == 1);
}

}  // namespace
}  // namespace relayvm

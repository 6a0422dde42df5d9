#include "compiler/import/input_files.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace relayvm::import {
namespace {

namespace fs = std::filesystem;
using Kind = InputFiles::Kind;

ContentHash Hash(std::span<const char> content) { return HashOf(std::as_bytes(content)); }

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string TextOf(const FileMapping& file) { return {file.bytes().begin(), file.bytes().end()}; }

TEST_CASE("InputFiles: each question is kept once, and its answer tells what has changed") {
  const testing::TempFolder folder;
  const std::string file = folder / "a.params", none = folder / "none";
  Write(file, "one");
  Write(folder / "b.txt", "");
  fs::create_symlink(file, folder / "link");
  InputFiles files(Hash);
  for (int i = 0; i < 2; ++i) {
    CHECK(TextOf(**files.Open(file)) == "one");
    CHECK(files.Open(none).status().code() == StatusCode::kNotFound);
    CHECK(files.IsFile(file));
    CHECK(!files.IsFile(none));
    CHECK(files.IsFolder(folder / ""));
    CHECK(!files.IsFolder(file));
    CHECK(files.Canonical(folder / "link") == fs::canonical(file).string());
    CHECK(files.Names(folder / "", ".params") == std::vector<std::string>{"a.params"});
    CHECK(files.Names(none, ".params").empty());
  }
  CHECK(files.asked().size() == 9);
  CHECK(files.AreUnchanged());

  // Another one is asked after each change: which answers are others than they were.
  const auto changed = [&] {
    InputFiles now(Hash);
    std::vector<Kind> kinds;
    for (const InputFiles::Question& q : files.asked()) {
      if (now.Answer(q) != files.Answer(q)) kinds.push_back(q.kind);
    }
    CHECK(now.asked().empty());
    return kinds;
  };
  using Kinds = std::vector<Kind>;
  CHECK(changed() == Kinds{});
  Write(file, "onf");
  CHECK(changed() == Kinds{Kind::kContent});
  Write(file, "one");
  CHECK(changed() == Kinds{});
  Write(none, "");
  CHECK(changed() == Kinds{Kind::kContent, Kind::kIsFile});
  fs::remove(none);
  Write(folder / "c.params", "");
  CHECK(changed() == Kinds{Kind::kNames});
  fs::remove(folder / "c.params");
  fs::remove(folder / "link");
  fs::create_symlink(folder / "b.txt", folder / "link");
  CHECK(changed() == Kinds{Kind::kCanonical});
}

TEST_CASE("InputFiles: what is written meanwhile is told, whatever its times say") {
  const testing::TempFolder folder;
  const std::string file = folder / "file";
  const auto write_at = [&](const std::string& text, fs::file_time_type time) {
    Write(file, text);
    fs::last_write_time(file, time);
  };
  const auto now = fs::file_time_type::clock::now();
  write_at("one", now);
  {
    InputFiles files(Hash);
    REQUIRE(files.Open(file).ok());
    write_at("two", now);  // within a step of the clock
    CHECK(!files.AreUnchanged());
  }
  write_at("one", now - std::chrono::hours(1));
  InputFiles files(Hash);
  REQUIRE(files.Open(file).ok());
  CHECK(files.AreUnchanged());
  write_at("two", now);
  CHECK(!files.AreUnchanged());
}

TEST_CASE("InputFiles: without a hash files are opened, and that is all") {
  const testing::TempFolder folder;
  Write(folder / "file", "one");
  InputFiles files;
  CHECK(TextOf(**files.Open(folder / "file")) == "one");
  CHECK(files.asked().empty());
}

}  // namespace
}  // namespace relayvm::import

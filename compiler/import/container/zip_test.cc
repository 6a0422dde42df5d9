#include "compiler/import/container/zip.h"

#include <doctest/doctest.h>

#include "bytecode/base/file_mapping.h"
#include "bytecode/io/zip_writer.h"
#include "tests/temp_folder.h"

namespace relayvm::import {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

SharedBytes Zipped(const Entries& entries) {
  const relayvm::testing::TempFolder folder;
  auto zip = ZipWriter::Create(folder / "made.zip");
  REQUIRE(zip.ok());
  for (const auto& [name, content] : entries) {
    REQUIRE(zip->Add(name, std::as_bytes(std::span(content))).ok());
  }
  REQUIRE(zip->Finish().ok());
  return SharedBytes::OfFile(*FileMapping::Open(folder / "made.zip"));
}

TEST_CASE("entries by name, without the folder that holds all") {
  const SharedBytes file = Zipped({{"m/version", "3\n"}, {"m/data/0", "abcd"}, {"m/data/1", ""}});
  const auto archive = Archive::Open("m.pt", file);
  REQUIRE_MESSAGE(archive.ok(), archive.status().message());
  CHECK(archive->folder() == "m/");
  CHECK(*archive->Text("version") == "3\n");
  CHECK(archive->Names("data/") == std::vector<std::string_view>{"data/0", "data/1"});
  const auto view = archive->View("data/0");
  REQUIRE(view.ok());
  CHECK(view->size() == 4);
  CHECK(view->data() > file.data());
  CHECK(view->data() < file.data() + file.size());
  CHECK(archive->SizeOf("data/0") == 4);
  CHECK(archive->Read("code.py").status().ToString() ==
        "not found: m.pt: the archive has no entry m/code.py");
  CHECK(archive->Read("data/0", 3).status().ToString() ==
        "invalid input: m.pt: data/0: 4 bytes; expected at most 3");
}

TEST_CASE("files that lie in no common folder keep their names") {
  const auto archive = Archive::Open("m.keras", Zipped({{"a/config.json", "{}"}, {"b", ""}}));
  REQUIRE(archive.ok());
  CHECK(archive->folder().empty());
  CHECK(archive->Has("a/config.json"));
}

TEST_CASE("what is no archive, or has a name twice") {
  CHECK(Archive::Open("m.pt", SharedBytes()).status().ToString() ==
        "invalid input: m.pt: not a zip archive");
  CHECK(Archive::Open("m.pt", Zipped({{"a", "1"}, {"a", "2"}})).status().ToString() ==
        "invalid input: m.pt: two entries are called a");
}

}  // namespace
}  // namespace relayvm::import

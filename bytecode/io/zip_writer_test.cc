#include "bytecode/io/zip_writer.h"

#include <doctest/doctest.h>
#include <zip.h>

#include <cstring>

#include "bytecode/base/file_mapping.h"
#include "bytecode/io/zip_reader.h"
#include "tests/temp_folder.h"

namespace relayvm {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

void Write(const std::string& path, const std::vector<std::pair<std::string, std::string>>& all) {
  auto zip = ZipWriter::Create(path);
  REQUIRE_MESSAGE(zip.ok(), zip.status().message());
  for (const auto& [name, content] : all) REQUIRE(zip->Add(name, Bytes(content)).ok());
  REQUIRE(zip->Finish().ok());
}

TEST_CASE("zip: what is written, libzip and our reader read alike") {
  testing::TempFolder folder;
  const std::string path = folder / "made.zip";
  const std::vector<std::pair<std::string, std::string>> all = {
      {"a.npy", "alpha"}, {"ü/b.npy", std::string(100000, 'b')}, {"empty", ""}};
  Write(path, all);
  int error = 0;
  zip_t* theirs = zip_open(path.c_str(), ZIP_CHECKCONS | ZIP_RDONLY, &error);
  REQUIRE(theirs != nullptr);
  REQUIRE(zip_get_num_entries(theirs, 0) == 3);
  auto ours = ZipReader::Open(SharedBytes::OfFile(*FileMapping::Open(path)));
  REQUIRE_MESSAGE(ours.ok(), ours.status().message());
  REQUIRE(ours->entries().size() == 3);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [name, content] = all[i];
    CHECK(std::string(zip_get_name(theirs, i, 0)) == name);
    zip_file_t* file = zip_fopen_index(theirs, i, 0);
    std::string read(content.size() + 1, '\0');
    REQUIRE(zip_fread(file, read.data(), read.size()) == static_cast<zip_int64_t>(content.size()));
    read.pop_back();
    CHECK(read == content);
    zip_fclose(file);
    CHECK(ours->entries()[i].name == name);
    auto bytes = ours->Read(ours->entries()[i]);
    REQUIRE(bytes.ok());
    CHECK(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) == content);
  }
  zip_discard(theirs);
}

TEST_CASE("zip: more entries than 16 bits count, and none") {
  testing::TempFolder folder;
  std::vector<std::pair<std::string, std::string>> all;
  for (int i = 0; i < 70000; ++i) all.emplace_back(std::to_string(i), "x");
  for (const size_t count : {all.size(), size_t{0}}) {
    all.resize(count);
    Write(folder / "many.zip", all);
    auto zip = ZipReader::Open(SharedBytes::OfFile(*FileMapping::Open(folder / "many.zip")));
    REQUIRE_MESSAGE(zip.ok(), zip.status().message());
    CHECK(zip->entries().size() == count);
  }
}

TEST_CASE("zip: what cannot be written is an error") {
  testing::TempFolder folder;
  CHECK(!ZipWriter::Create(folder / "no/such.zip").ok());
  auto zip = ZipWriter::Create(folder / "a.zip");
  REQUIRE(zip.ok());
  CHECK(zip->Add(std::string(70000, 'n'), {}).message().find("at most 65535 bytes") !=
        std::string::npos);
}

}  // namespace
}  // namespace relayvm

#include "bytecode/io/zip_reader.h"

#include <doctest/doctest.h>
#include <zip.h>

#include <cstring>
#include <fstream>

#include "bytecode/base/file_mapping.h"
#include "tests/temp_folder.h"

namespace relayvm {
namespace {

// An archive that libzip makes: the content of each entry, and whether it is compressed.
SharedBytes MakeZip(const std::vector<std::tuple<std::string, std::string, bool>>& entries,
                    const std::string& comment = "") {
  testing::TempFolder folder;
  const std::string path = folder / "made.zip";
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE, nullptr);
  REQUIRE(zip != nullptr);
  for (const auto& [name, content, compressed] : entries) {
    zip_source_t* source = zip_source_buffer(zip, content.data(), content.size(), 0);
    zip_int64_t index = zip_file_add(zip, name.c_str(), source, 0);
    REQUIRE(index >= 0);
    REQUIRE(zip_set_file_compression(zip, static_cast<zip_uint64_t>(index),
                                     compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) == 0);
  }
  if (!comment.empty())
    zip_set_archive_comment(zip, comment.c_str(), static_cast<zip_uint16_t>(comment.size()));
  REQUIRE(zip_close(zip) == 0);
  auto mapping = FileMapping::Open(path);
  REQUIRE(mapping.ok());
  return SharedBytes::OfFile(*mapping);
}

std::string Text(const SharedBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string ManyBytes(size_t size) {
  std::string out(size, '\0');
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * i >> 3);
  return out;
}

TEST_CASE("zip: stored entries are parts of the file, compressed ones are inflated") {
  const std::string large = ManyBytes(9 << 20);  // more than is read at a time
  SharedBytes file = MakeZip(
      {{"a", "alpha", false}, {"b/c", large, true}, {"empty", "", false}, {"d", large, false}},
      "a comment");
  REQUIRE(ZipReader::IsZip(file));
  auto zip = ZipReader::Open(file);
  REQUIRE_MESSAGE(zip.ok(), zip.status().message());
  REQUIRE(zip->entries().size() == 4);
  const char* names[] = {"a", "b/c", "empty", "d"};
  const std::string contents[] = {"alpha", large, "", large};
  for (size_t i = 0; i < 4; ++i) {
    const ZipEntry& entry = zip->entries()[i];
    CHECK(entry.name == names[i]);
    auto bytes = zip->Read(entry);
    REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
    CHECK(Text(*bytes) == contents[i]);
    bool in_place = bytes->data() >= file.data() && bytes->data() < file.data() + file.size();
    CHECK(in_place == (i != 1));
  }
}

TEST_CASE("zip: an archive without entries") {
  std::vector<std::byte> end(22);
  std::memcpy(end.data(), "PK\5\6", 4);
  auto zip = ZipReader::Open(end);
  REQUIRE(zip.ok());
  CHECK(zip->entries().empty());
}

// Python's zipfile, with force_zip64 and a stream that cannot seek: sizes stand behind the data.
TEST_CASE("zip: 64-bit sizes, and sizes behind the data") {
  auto put = [](std::string& out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  };
  constexpr uint32_t kChecksum = 0xa684c7c6;  // of "0123456789"
  std::string file = "PK\3\4";
  for (auto [value, bytes] : {std::pair<uint64_t, int>{45, 2},
                              {8, 2},
                              {0, 2},
                              {0, 4},
                              {0, 4},
                              {0, 4},
                              {0, 4},
                              {1, 2},
                              {0, 2}})
    put(file, value, bytes);
  file += "x0123456789";
  const size_t central = file.size();
  file += "PK\1\2";
  for (auto [value, bytes] : {std::pair<uint64_t, int>{45, 2},
                              {45, 2},
                              {8, 2},
                              {0, 2},
                              {0, 4},
                              {kChecksum, 4},
                              {UINT32_MAX, 4},
                              {UINT32_MAX, 4},
                              {1, 2},
                              {28, 2},
                              {0, 2},
                              {0, 2},
                              {0, 2},
                              {0, 4},
                              {UINT32_MAX, 4}})
    put(file, value, bytes);
  file += 'x';
  for (auto [value, bytes] : {std::pair<uint64_t, int>{1, 2}, {24, 2}, {10, 8}, {10, 8}, {0, 8}})
    put(file, value, bytes);
  const size_t end = file.size();
  file += "PK\6\6";
  for (auto [value, bytes] : {std::pair<uint64_t, int>{44, 8},
                              {45, 2},
                              {45, 2},
                              {0, 4},
                              {0, 4},
                              {1, 8},
                              {1, 8},
                              {end - central, 8},
                              {central, 8}})
    put(file, value, bytes);
  file += "PK\6\7";
  for (auto [value, bytes] : {std::pair<uint64_t, int>{0, 4}, {end, 8}, {1, 4}})
    put(file, value, bytes);
  file += "PK\5\6";
  for (auto [value, bytes] : {std::pair<uint64_t, int>{0, 2},
                              {0, 2},
                              {UINT16_MAX, 2},
                              {UINT16_MAX, 2},
                              {UINT32_MAX, 4},
                              {UINT32_MAX, 4},
                              {0, 2}})
    put(file, value, bytes);
  auto zip = ZipReader::Open(SharedBytes::Copy(std::as_bytes(std::span(file))));
  REQUIRE_MESSAGE(zip.ok(), zip.status().message());
  REQUIRE(zip->entries().size() == 1);
  auto bytes = zip->Read(zip->entries()[0]);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  CHECK(Text(*bytes) == "0123456789");
}

TEST_CASE("zip: damage is found") {
  const std::string text = "some text, some text, some text, some text";
  for (bool compressed : {false, true}) {
    SharedBytes good = MakeZip({{"a", text, compressed}, {"b", text, compressed}}, "c");
    // Every bit: an error, or the same content (dates and attributes mean nothing).
    for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
      CAPTURE(bit / 8);
      SharedBytes changed = good;
      changed.Mutable()[bit / 8] ^= std::byte(1 << bit % 8);
      auto zip = ZipReader::Open(changed);
      if (!zip.ok()) continue;
      REQUIRE(zip->entries().size() == 2);
      for (size_t i = 0; i < 2; ++i) {
        auto bytes = zip->Read(zip->entries()[i]);
        if (!bytes.ok()) continue;
        CHECK(zip->entries()[i].name == (i == 0 ? "a" : "b"));
        CHECK(Text(*bytes) == text);
      }
    }
    for (size_t size = 0; size < good.size(); ++size)
      CHECK_FALSE(ZipReader::Open(good.Slice(0, size)).ok());
  }
}

TEST_CASE("zip: errors name what is wrong") {
  SharedBytes good = MakeZip({{"a", "0123456789", false}, {"b", "0123456789", false}});
  auto message = [&](size_t at, std::byte value) {
    SharedBytes changed = good;
    changed.Mutable()[at] = value;
    auto zip = ZipReader::Open(changed);
    if (!zip.ok()) return std::string(zip.status().message());
    return std::string(zip->Read(zip->entries()[0]).status().message());
  };
  CHECK(message(31, std::byte{'x'}).ends_with(": damaged"));
  CHECK(message(30, std::byte{'x'}) == "entry 0: a: its two headers differ");
  CHECK(message(good.size() - 22, std::byte{0}) == "not a zip archive");
  CHECK(message(good.size() - 18, std::byte{1}) == "a part of a split archive");
}

}  // namespace
}  // namespace relayvm

#include "compiler/import/tensorflow/bundle.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "bytecode/base/string_table.h"
#include "compiler/import/container/protobuf_wire.h"

namespace relayvm::import::tensorflow {
namespace {

std::string Fixed32(uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// --- A writer of tables ---

std::string Block(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string block, last;
  for (const auto& [key, value] : entries) {
    size_t shared = 0;
    while (shared < last.size() && shared < key.size() && last[shared] == key[shared]) ++shared;
    AppendVarint(shared, &block);
    AppendVarint(key.size() - shared, &block);
    AppendVarint(value.size(), &block);
    block += key.substr(shared) + value;
    last = key;
  }
  return block + Fixed32(0) + Fixed32(1);
}

std::string Place(const std::string& file, const std::string& block) {
  std::string handle;
  AppendVarint(file.size(), &handle);
  AppendVarint(block.size(), &handle);
  return handle;
}
void AddBlock(const std::string& block, char type, std::string* file) {
  *file += block + type + Fixed32(MaskedCrc(Crc32c(block + type)));
}

std::string Table(const std::vector<std::pair<std::string, std::string>>& entries, char type = 0) {
  std::string file;
  std::string block = Block(entries);
  if (type == 1) {  // snappy: all of it as it is
    std::string packed;
    AppendVarint(block.size(), &packed);
    packed += static_cast<char>(61 << 2);
    packed += static_cast<char>((block.size() - 1) & 0xff);
    packed += static_cast<char>((block.size() - 1) >> 8);
    block = packed + block;
  }
  const std::string place = Place(file, block);
  AddBlock(block, type, &file);
  const std::string index = Block({{"z", place}});
  std::string footer = Place(file, index) + Place(file, index);
  AddBlock(index, 0, &file);
  footer.resize(40);
  return file + footer + std::string("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
}

std::string Extents(const std::vector<int64_t>& shape) {
  std::string message;
  for (const int64_t d : shape) {
    std::string dim;
    AppendNumber(1, static_cast<uint64_t>(d), &dim);
    AppendBytes(2, dim, &message);
  }
  return message;
}

std::string Entry(int type, const std::vector<int64_t>& shape, size_t offset,
                  const std::string& bytes) {
  std::string entry;
  AppendNumber(1, static_cast<uint64_t>(type), &entry);
  AppendBytes(2, Extents(shape), &entry);
  AppendNumber(4, offset, &entry);
  AppendNumber(5, bytes.size(), &entry);
  AppendTag(6, WireType::kFixed32, &entry);
  return entry + Fixed32(MaskedCrc(Crc32c(bytes)));
}

std::string Floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}
std::vector<float> Read(const HostTensor& t) {
  std::vector<float> out(static_cast<size_t>(t.size()));
  std::memcpy(out.data(), t.data.data(), out.size() * sizeof(float));
  return out;
}

struct Folder {
  Folder() {
    static int count = 0;
    path =
        std::filesystem::temp_directory_path() / fmt::format("bundle_{}_{}", ::getpid(), ++count);
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string Write(const std::string& index, const std::string& data) const {
    std::ofstream(path / "v.index", std::ios::binary) << index;
    std::ofstream(path / "v.data-00000-of-00001", std::ios::binary) << data;
    return (path / "v").string();
  }
  std::filesystem::path path;
};

std::string Message(const Status& s) { return s.ok() ? "" : s.message(); }

// --- Tests ---

TEST_CASE("crc32c of known texts") {  // RFC 3720, B.4
  CHECK(Crc32c(std::string(32, '\0')) == 0x8a9136aaU);
  CHECK(Crc32c(std::string(32, '\xff')) == 0x62a8ab43U);
  CHECK(Crc32c("123456789") == 0xe3069283U);
  CHECK(Crc32c("6789", Crc32c("12345")) == 0xe3069283U);
}

TEST_CASE("snappy: bytes, and copies of what was before") {
  // "ab" then ten bytes from two before: it reads what it writes.
  const auto unpacked = UnpackSnappy(std::string_view("\x0c\x04"
                                                      "ab\x26\x02\x00",
                                                      7),
                                     100);
  REQUIRE(unpacked.ok());
  CHECK(*unpacked == "abababababab");
  for (const std::string_view wrong : {std::string_view("\x05\x04"
                                                        "ab",
                                                        4),
                                       std::string_view("\x0c\x04"
                                                        "ab\x26\x03\x00",
                                                        7),
                                       std::string_view("\x02\x10"
                                                        "ab",
                                                        4),
                                       std::string_view("\xff\xff\xff\xff\x0f", 5),
                                       std::string_view("\x0c\x04"
                                                        "ab\x26",
                                                        5)}) {
    CHECK(!UnpackSnappy(wrong, 100).ok());
  }
}

TEST_CASE("a checkpoint: tensors by keys, slices of one, texts") {
  const std::string a = Floats({1, 2, 3, 4, 5, 6}), b = Floats({7, 8}), c = Floats({9, 10});
  std::string texts("\x02\x03", 2);
  texts += Fixed32(MaskedCrc(Crc32c(Fixed32(2) + Fixed32(3)))) + "upall";
  // A variable of shape (2, 2) in two slices, (0, 2) and (1, 2) of its first axis.
  std::string whole, header;
  AppendNumber(1, 1, &header);
  AppendNumber(1, 1, &whole);
  AppendBytes(2, Extents({2, 2}), &whole);
  for (const int start : {0, 1}) {
    std::string slice, first, all;
    AppendNumber(1, static_cast<uint64_t>(start), &first);
    AppendNumber(2, 1, &first);
    AppendNumber(2, static_cast<uint64_t>(-1), &all);
    AppendBytes(1, first, &slice);
    AppendBytes(1, "", &all);
    AppendBytes(1, all, &slice);
    AppendBytes(7, slice, &whole);
  }
  const auto slice_key = [](char start) {
    return std::string("\0p\0\1\1\2", 6) + static_cast<char>(0x80 + start) + "\x81\x80" + "\x7f";
  };
  for (const char type : {0, 1}) {
    const Folder folder;
    const std::string prefix =
        folder.Write(Table({{"", header},
                            {slice_key(0), Entry(1, {1, 2}, a.size(), b)},
                            {slice_key(1), Entry(1, {1, 2}, a.size() + b.size(), c)},
                            {"a", Entry(1, {2, 3}, 0, a)},
                            {"p", whole},
                            {"t", Entry(7, {2}, a.size() + b.size() + c.size(), texts)}},
                           type),
                     a + b + c + texts);
    auto bundle = Bundle::Open(prefix);
    REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
    auto read = (*bundle)->Tensor("a");
    REQUIRE_MESSAGE(read.ok(), read.status().message());
    CHECK(read->shape == std::vector<int64_t>{2, 3});
    CHECK(Read(*read) == std::vector<float>{1, 2, 3, 4, 5, 6});
    read = (*bundle)->Tensor("a", "2 3 0,2:1,2");
    REQUIRE(read.ok());
    CHECK(Read(*read) == std::vector<float>{2, 3, 5, 6});
    read = (*bundle)->Tensor("p");
    REQUIRE_MESSAGE(read.ok(), read.status().message());
    CHECK(Read(*read) == std::vector<float>{7, 8, 9, 10});
    read = (*bundle)->Tensor("p", "2 2 1,1:-");
    REQUIRE(read.ok());
    CHECK(Read(*read) == std::vector<float>{9, 10});
    read = (*bundle)->Tensor("t");
    REQUIRE_MESSAGE(read.ok(), read.status().message());
    CHECK(PackedStrings(read->data.data(), 2)[1] == "all");
    CHECK(Message((*bundle)->Tensor("b").status()).ends_with("there is no tensor 'b'"));
    CHECK(!(*bundle)->Tensor("a", "2 3 0,2:2,2").ok());
  }
}

TEST_CASE("checkpoints that are damaged") {
  std::string header;
  AppendNumber(1, 1, &header);
  const std::string a = Floats({1, 2});
  const std::string index = Table({{"", header}, {"a", Entry(1, {2}, 0, a)}});
  const auto tensor = [](const std::string& index, const std::string& data) {
    const Folder folder;
    auto bundle = Bundle::Open(folder.Write(index, data));
    return Message(bundle.ok() ? (*bundle)->Tensor("a").status() : bundle.status());
  };
  CHECK(tensor(index, a).empty());
  CHECK(tensor(index, Floats({1, 3})).find("checksum is wrong") != std::string::npos);
  CHECK(tensor(index, a.substr(1)).find("the file has 7 bytes") != std::string::npos);
  CHECK(tensor(index.substr(1), a).find("outside of the file") == std::string::npos);
  CHECK(tensor("no table", a).find("its magic number") != std::string::npos);
  const std::string large = Table({{"", header}, {"a", Entry(1, {1LL << 40, 1LL << 40}, 0, a)}});
  CHECK(tensor(large, a).find("too large") != std::string::npos);
  // A byte of a block that is another is told by its checksum; the footer has bytes that say
  // nothing.
  constexpr size_t kFooter = 48;
  for (size_t i = 0; i < index.size(); ++i) {
    std::string other = index;
    other[i] = static_cast<char>(other[i] ^ 0x15);
    const std::string said = tensor(other, a);
    if (i + kFooter < index.size()) CHECK(!said.empty());
    CHECK(!tensor(index.substr(0, i), a).empty());
  }
}

}  // namespace
}  // namespace relayvm::import::tensorflow

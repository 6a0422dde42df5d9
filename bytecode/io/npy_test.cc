#include "bytecode/io/npy.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>

#include "bytecode/base/string_table.h"
#include "tests/temp_folder.h"

namespace relayvm {
namespace {

std::vector<std::byte> Bytes(std::string_view s) {
  auto b = std::as_bytes(std::span(s));
  return {b.begin(), b.end()};
}

// A file as numpy writes it: the header padded to a multiple of 64 bytes.
std::vector<std::byte> Npy(std::string_view dict, std::string_view data, int major = 1) {
  std::string header(dict);
  const size_t prefix = major == 1 ? 10 : 12;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(major);
  out += '\0';
  for (size_t i = 0; i < prefix - 8; ++i) out += static_cast<char>(header.size() >> (8 * i));
  return Bytes(out + header + std::string(data));
}

template <typename T>
HostTensor Tensor(DType dtype, std::vector<int64_t> shape, std::vector<T> values) {
  HostTensor t{dtype, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(t.data.Mutable().data(), values.data(), t.data.size());
  return t;
}

bool Same(const HostTensor& a, const HostTensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.data == b.data;
}

using std::string_view_literals::operator""sv;

TEST_CASE("reads what numpy writes, and writes the same bytes") {
  const struct {
    const char* what;
    std::vector<std::byte> file;
    HostTensor tensor;
    bool canonical;  // numpy's own choice for these values, and so ours
  } kCases[] = {
      {"float32",
       Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
           "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40\x00\x00\xc0\x40"sv),
       Tensor<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}), true},
      {"scalar float16",
       Npy("{'descr': '<f2', 'fortran_order': False, 'shape': (), }", "\x00\x3e"sv),
       Tensor<uint16_t>(DType::kFloat16, {}, {0x3E00}), true},
      {"bool", Npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x01\x00"sv),
       Tensor<uint8_t>(DType::kBool, {2}, {1, 0}), true},
      {"bool of other bytes",
       Npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x07\x00"sv),
       Tensor<uint8_t>(DType::kBool, {2}, {1, 0}), false},
      {"empty", Npy("{'descr': '<u8', 'fortran_order': False, 'shape': (0, 3), }", ""),
       Tensor<uint64_t>(DType::kUInt64, {0, 3}, {}), true},
      {"Fortran order",
       Npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
           "\x01\x00\x04\x00\x02\x00\x05\x00\x03\x00\x06\x00"sv),
       Tensor<int16_t>(DType::kInt16, {2, 3}, {1, 2, 3, 4, 5, 6}), false},
      {"Fortran order of rank 3",
       Npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 1, 3), }",
           "\x01\x04\x02\x05\x03\x06"sv),
       Tensor<int8_t>(DType::kInt8, {2, 1, 3}, {1, 2, 3, 4, 5, 6}), false},
      {"big endian",
       Npy("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }",
           "\x00\x00\x00\x01\x00\x00\x01\x00"sv),
       Tensor<int32_t>(DType::kInt32, {2}, {1, 256}), false},
      {"format 2.0",
       Npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", "\x07\0\0\0\0\0\0\0"sv, 2),
       Tensor<int64_t>(DType::kInt64, {1}, {7}), false},
      {"format 3.0", Npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", "\x07", 3),
       Tensor<uint8_t>(DType::kUInt8, {1}, {7}), false},
      {"Python 2, other order of keys",
       Npy("{'shape': (1L,), \"fortran_order\": False, 'descr': '=u2'}", "\x07\x00"sv),
       Tensor<uint16_t>(DType::kUInt16, {1}, {7}), false},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.what);
    auto t = ParseNpy(c.file);
    REQUIRE_MESSAGE(t.ok(), t.status().message());
    CHECK(Same(*t, c.tensor));
    if (c.canonical) CHECK(*SerializeNpy(c.tensor) == c.file);
  }
}

TEST_CASE("every dtype but bfloat16 makes the round trip") {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    HostTensor t{dtype,
                 {3, 2},
                 std::vector<std::byte>(6 * static_cast<size_t>(DTypeBytes(dtype)), std::byte{1})};
    auto bytes = SerializeNpy(t);
    if (dtype == DType::kBFloat16) {
      REQUIRE_FALSE(bytes.ok());
      CHECK(bytes.status().message() == "npy: bfloat16 has no .npy form; cast to float32 first");
      continue;
    }
    auto back = ParseNpy(*bytes);
    REQUIRE(back.ok());
    CHECK(Same(*back, t));
    CHECK((bytes->size() - t.data.size()) % 64 == 0);
  }
}

TEST_CASE("texts: UTF-32 and bytes come in, UTF-32 goes out") {
  const auto texts_of = [](const HostTensor& t) {
    const PackedStrings packed(t.data.data(), t.size());
    std::vector<std::string> texts;
    for (int64_t i = 0; i < packed.size(); ++i) texts.emplace_back(packed[i]);
    return texts;
  };
  const std::vector<std::string> expected = {"aé", "", "😀"};
  const auto wide = ParseNpy(Npy("{'descr': '<U2', 'fortran_order': False, 'shape': (3,), }",
                                 "a\0\0\0\xE9\0\0\0"
                                 "\0\0\0\0\0\0\0\0"
                                 "\0\xF6\1\0\0\0\0\0"sv));
  REQUIRE_MESSAGE(wide.ok(), wide.status().message());
  CHECK(wide->dtype == DType::kString);
  CHECK(texts_of(*wide) == expected);
  CHECK(*SerializeNpy(*wide) == Npy("{'descr': '<U2', 'fortran_order': False, 'shape': (3,), }",
                                    "a\0\0\0\xE9\0\0\0"
                                    "\0\0\0\0\0\0\0\0"
                                    "\0\xF6\1\0\0\0\0\0"sv));
  const auto big =
      ParseNpy(Npy("{'descr': '>U1', 'fortran_order': False, 'shape': (1, 1), }", "\0\0\0b"sv));
  REQUIRE(big.ok());
  CHECK(texts_of(*big) == std::vector<std::string>{"b"});
  const auto bytes =
      ParseNpy(Npy("{'descr': '|S2', 'fortran_order': True, 'shape': (2, 2), }", "abc\0d\0\0\0"sv));
  REQUIRE(bytes.ok());
  CHECK(texts_of(*bytes) == std::vector<std::string>{"ab", "d", "c", ""});
  for (const auto& [descr, data] : {std::pair{"<U1", "\0\xD8\0\0"sv},
                                    {"<U1", "\0\0\x11\0"sv},
                                    {"|S1", "\xFF"sv},
                                    {"<U1", "abc"sv},
                                    {"<U", "abcd"sv},
                                    {"<Ux", ""sv}}) {
    CHECK(!ParseNpy(Npy("{'descr': '" + std::string(descr) +
                            "', 'fortran_order': False, 'shape': (1,), }",
                        data))
               .ok());
  }
  CHECK(!ParseNpy(Npy("{'descr': '<U0', 'fortran_order': False, 'shape': (1099511627776,), }", ""))
             .ok());
  const HostTensor none{DType::kString, {0, 2}, PackStrings({})};
  CHECK(ParseNpy(*SerializeNpy(none))->shape == none.shape);
}

TEST_CASE("malformed files are errors") {
  const char* kGood = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  const struct {
    std::vector<std::byte> file;
    const char* message;
  } kCases[] = {
      {Bytes(""), "npy: truncated header: 8 bytes are missing"},
      {Bytes("NUMPY\1\0\0\0\0"sv), "npy: not a .npy file (wrong magic number)"},
      {Npy(kGood, "1234", 4), "npy: format 4.0 is not supported"},
      {Npy(kGood, "123"), "npy: truncated data: 3 of 4 bytes"},
      {Npy(kGood, "12345"), "npy: 1 bytes after the data"},
      {Npy("{'descr': '<c8', 'fortran_order': False, 'shape': (), }", ""),
       "npy: dtype '<c8' is not supported"},
      {Npy("{'descr': '<V2', 'fortran_order': False, 'shape': (), }", ""),
       "npy: dtype '<V2' is not supported"},
      {Npy("{'descr': '', 'fortran_order': False, 'shape': (), }", ""),
       "npy: dtype '' is not supported"},
      {Npy("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", ""),
       "npy: arrays of structures are not supported"},
      {Npy("{'descr': '<f4', 'fortran_order': False, }", ""),
       "npy: header without descr, fortran_order or shape"},
      {Npy("{'descr': '<f4', 'other': False, }", ""), "npy: unknown header field 'other'"},
      {Npy("{'descr': '<f4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", "1234"),
       "npy: header field 'descr' occurs twice"},
      {Npy("{'shape': (2,), 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "1234"),
       "npy: header field 'shape' occurs twice"},
      {Npy("{'fortran_order': True, 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
           "1234"),
       "npy: header field 'fortran_order' occurs twice"},
      {Npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (), }", ""), "npy: malformed header"},
      {Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""),
       "npy: malformed header"},
      {Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", ""),
       "npy: malformed header"},
      {Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000000000000, 9), }", ""),
       "npy: the shape is too large"},
      {Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,) } x", "1234"),
       "npy: malformed header"},
      {Npy("not a dict", ""), "npy: malformed header"},
  };
  for (const auto& c : kCases) {
    auto t = ParseNpy(c.file);
    REQUIRE_FALSE(t.ok());
    CHECK(t.status().message() == c.message);
  }
}

TEST_CASE("any truncation and any changed byte is safe") {
  const auto good =
      Npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "0123456789abcdef");
  for (size_t i = 0; i < good.size(); ++i) {
    CHECK_FALSE(ParseNpy(SharedBytes(good).Slice(0, i)).ok());
    for (int b = 0; b < 256; ++b) {
      auto changed = good;
      changed[i] = static_cast<std::byte>(b);
      auto t = ParseNpy(changed);
      // Texts have another form in memory.
      if (t.ok() && t->dtype != DType::kString) REQUIRE(t->data.size() == 16);
      if (t.ok() && t->dtype == DType::kString)
        REQUIRE(IsPacked({t->data.data(), t->data.size()}, t->size()));
    }
  }
}

TEST_CASE("files") {
  testing::TempFolder folder;
  const std::string path = folder / "tensor.npy";
  auto t = Tensor<int32_t>(DType::kInt32, {2}, {1, -1});
  REQUIRE(WriteNpyFile(path, t).ok());
  auto back = ReadNpyFile(path);
  REQUIRE(back.ok());
  CHECK(Same(*back, t));
  // A tensor of a file may replace that file.
  back->shape = {1, 2};
  REQUIRE(WriteNpyFile(path, *back).ok());
  CHECK(ReadNpyFile(path)->shape == back->shape);
  CHECK(back->data == t.data);
  REQUIRE(std::remove(path.c_str()) == 0);
  auto gone = ReadNpyFile(path);
  CHECK(gone.status().code() == StatusCode::kNotFound);
  CHECK(gone.status().message() == "cannot open '" + path + "': No such file or directory");
  CHECK_FALSE(WriteNpyFile("/nonexistent/x.npy", t).ok());
}

}  // namespace
}  // namespace relayvm

#include "bytecode/io/ndarray_blob.h"

#include <doctest/doctest.h>

#include <cstring>

namespace relayvm {
namespace {

// Written by TVM 0.14.
constexpr const char* kFloats =
    "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQADAAAAAAAAAAwAAAAAAAAAAACAPwAAAEAAAEBA";
constexpr const char* kFive = "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAABAAQAIAAAAAAAAAAUAAAAAAAAA";

TEST_CASE("reads and writes TVM's blobs byte for byte") {
  auto bytes = Base64Decode(kFloats);
  REQUIRE(bytes.ok());
  size_t size = 0;
  auto t = ReadNdarrayBlob(*bytes, &size);
  REQUIRE(t.ok());
  CHECK(size == bytes->size());
  CHECK(t->dtype == DType::kFloat32);
  CHECK(t->shape == std::vector<int64_t>{3});
  std::vector<float> found(3);
  std::memcpy(found.data(), t->data.data(), 12);
  CHECK(found == std::vector<float>{1, 2, 3});
  CHECK(WriteNdarrayBlob(*t) == *bytes);
  CHECK(Base64Encode(*bytes) == kFloats);

  auto five = Base64Decode(kFive);
  auto scalar = ReadNdarrayBlob(*five, &size);
  REQUIRE(scalar.ok());
  CHECK(scalar->dtype == DType::kInt64);
  CHECK(scalar->shape.empty());
  CHECK(static_cast<int>(scalar->data[0]) == 5);
  CHECK(WriteNdarrayBlob(*scalar) == *five);
}

TEST_CASE("every dtype survives") {
  for (int i = 0; i < kNumDTypes; ++i) {
    auto dtype = static_cast<DType>(i);
    HostTensor t{dtype, {2, 0, 3}, {}};
    size_t size = 0;
    auto empty = ReadNdarrayBlob(WriteNdarrayBlob(t), &size);
    REQUIRE(empty.ok());
    CHECK(empty->dtype == dtype);
    CHECK(empty->shape == t.shape);
    t = HostTensor{
        dtype,
        {3},
        std::vector<std::byte>(3 * static_cast<size_t>(DTypeBytes(dtype)), std::byte{1})};
    auto full = ReadNdarrayBlob(WriteNdarrayBlob(t), &size);
    REQUIRE(full.ok());
    CHECK(full->data == t.data);
  }
}

TEST_CASE("damaged blobs are errors") {
  const auto good = *Base64Decode(kFloats);
  auto with = [&](size_t at, std::initializer_list<int> bytes) {
    auto bad = good;
    for (int b : bytes) bad[at++] = static_cast<std::byte>(b);
    return bad;
  };
  const struct {
    std::vector<std::byte> bytes;
    const char* message;
  } kCases[] = {
      {with(0, {0}), "tensor blob: wrong magic number"},
      {with(16, {2}), "tensor blob: device type 2, only 1 (CPU) is legal"},
      {with(24, {0xFF, 0xFF, 0xFF, 0xFF}), "tensor blob: rank -1 is not in 0..32"},
      {with(24, {0xFF, 0xFF, 0xFF, 0x7F}), "tensor blob: rank 2147483647 is not in 0..32"},
      {with(24, {9}), "tensor blob: truncated shape"},
      {with(28, {7}), "tensor blob: unsupported dtype, code 7 of 32 bits"},
      {with(29, {24}), "tensor blob: unsupported dtype, code 2 of 24 bits"},
      {with(30, {4}), "tensor blob: vector elements (4 lanes) are not supported"},
      {with(39, {0x80}), "tensor blob: negative dimension -9223372036854775805"},
      {with(39, {0x7F}), "tensor blob: 12 bytes of data stated, its shape needs another number"},
      {with(40, {13}), "tensor blob: 13 bytes of data stated, its shape needs another number"},
  };
  size_t size = 0;
  for (const auto& c : kCases) {
    auto t = ReadNdarrayBlob(c.bytes, &size);
    REQUIRE_FALSE(t.ok());
    CHECK(t.status().message() == c.message);
  }
  for (size_t n = 0; n < good.size(); ++n)
    CHECK_FALSE(ReadNdarrayBlob(SharedBytes(good).Slice(0, n), &size).ok());
}

TEST_CASE("base64") {
  const struct {
    const char* bytes;
    const char* text;
  } kCases[] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}};
  for (const auto& c : kCases) {
    std::string_view bytes(c.bytes);
    CHECK(Base64Encode(std::as_bytes(std::span(bytes))) == c.text);
    auto decoded = Base64Decode(c.text);
    REQUIRE(decoded.ok());
    CHECK(std::string(reinterpret_cast<const char*>(decoded->data()), decoded->size()) == bytes);
  }
  for (const char* bad :
       {"Z", "Zg", "Zg=", "Zm8==", "Zm9v=", "Z!9v", "====", "Zg==x", "Zm9v\nrest", "Zm9v Zg=="})
    CHECK_FALSE(Base64Decode(bad).ok());
  CHECK(Base64Decode("Zm9v \n").ok());
}

}  // namespace
}  // namespace relayvm

#include "compiler/import/container/protobuf_wire.h"

#include <doctest/doctest.h>

namespace relayvm::import {
namespace {

TEST_CASE("fields of all wire types, as they were written") {
  std::string message;
  AppendNumber(1, 300, &message);
  AppendNumber(2, static_cast<uint64_t>(-2), &message);
  AppendBytes(3, "text", &message);
  AppendFloat(4, 1.5F, &message);
  AppendDouble(2000, -2.25, &message);
  WireReader in(message);
  REQUIRE(in.Next());
  CHECK(in.field() == 1);
  CHECK(in.number() == 300);
  CHECK(in.bytes().empty());
  REQUIRE(in.Next());
  CHECK(in.signed_number() == -2);
  REQUIRE(in.Next());
  CHECK(in.type() == WireType::kBytes);
  CHECK(in.bytes() == "text");
  CHECK(in.float_number() == 0);  // of another type
  REQUIRE(in.Next());
  CHECK(in.float_number() == 1.5F);
  REQUIRE(in.Next());
  CHECK(in.field() == 2000);
  CHECK(in.double_number() == -2.25);
  CHECK(!in.Next());
  CHECK(!in.damaged());
  // Cut anywhere but between two fields, it is damaged.
  for (size_t size = 0; size < message.size(); ++size) {
    CAPTURE(size);
    WireReader cut(std::string_view(message).substr(0, size));
    while (cut.Next()) continue;
    const bool is_whole = size == 0 || size == 3 || size == 14 || size == 20 || size == 25;
    CHECK(cut.damaged() == !is_whole);
  }
}

TEST_CASE("repeated numbers, packed and one by one") {
  std::string packed, message;
  for (const uint64_t n : {1, 128, 70000}) AppendVarint(n, &packed);
  AppendBytes(5, packed, &message);
  AppendNumber(5, 7, &message);
  std::vector<int64_t> numbers;
  for (WireReader in(message); in.Next();) AppendNumbers(in, &numbers);
  CHECK(numbers == std::vector<int64_t>{1, 128, 70000, 7});
  std::vector<float> floats;
  message.clear();
  AppendBytes(5, std::string_view("\0\0\x80\x3f\0\0\0\x40\1", 9), &message);  // and a rest
  AppendFloat(5, 3, &message);
  for (WireReader in(message); in.Next();) AppendFloats(in, &floats);
  CHECK(floats == std::vector<float>{1, 2, 3});
}

TEST_CASE("what no writer writes") {
  const auto damaged = [](std::string_view message) {
    WireReader in(message);
    while (in.Next()) continue;
    return in.damaged();
  };
  CHECK(damaged(std::string_view("\0\1", 2)));                     // field 0
  CHECK(damaged("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));  // longer than memory
  CHECK(damaged("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));  // a number without an end
  CHECK(damaged("\x0f"));                                          // type 7
  CHECK(damaged("\x0b\x08\x01"));                                  // a group without its end
  CHECK(damaged("\x0c"));                                          // an end without its group
  // Groups are skipped.
  WireReader in("\x0b\x08\x01\x0c\x10\x05");
  REQUIRE(in.Next());
  CHECK(in.field() == 2);
  CHECK(in.number() == 5);
}

}  // namespace
}  // namespace relayvm::import

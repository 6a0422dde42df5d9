#include "bytecode/base/string_table.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace relayvm {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

TEST_CASE("string table: each text has one id, the empty one 0") {
  StringTable table;
  CHECK(table.IsEmpty());
  CHECK(table.Intern("") == 0);
  const int64_t cat = table.Intern("cat"), dog = table.Intern("d\0g"sv);
  CHECK(cat == 1);
  CHECK(dog == 2);
  CHECK(table.Intern("cat") == cat);
  CHECK(table.Find("d\0g"sv) == dog);
  CHECK(table.Find("bird") == -1);
  CHECK(table.Text(dog) == "d\0g"sv);
  CHECK(!table.Text(3));
  CHECK(!table.Text(-1));
  CHECK(table.Texts() == std::vector<std::string>{"", "cat", "d\0g"s});
}

TEST_CASE("string table: a run's goes on behind its base, and texts stay where they are") {
  StringTable base;
  base.Intern("a");
  StringTable run(&base);
  CHECK(run.Intern("a") == 1);
  CHECK(run.Intern("") == 0);
  const int64_t first = run.Intern("b");
  CHECK(first == 2);
  const char* at = run.Text(first)->data();
  for (int i = 0; i < 100000; ++i) run.Intern(std::to_string(i) + std::string(i % 50, 'x'));
  CHECK(run.Text(first)->data() == at);
  CHECK(run.size() == 100003);
  CHECK(base.size() == 2);
  for (int64_t id = 0; id < run.size(); ++id) CHECK(run.Find(*run.Text(id)) == id);
}

TEST_CASE("string table: it pays for its memory, and goes on at the limit with what it has") {
  struct Limit {
    size_t left = 100 << 10, asked = 0;
  } limit;
  StringTable table(nullptr, {[](void* context, size_t bytes) {
                                auto* l = static_cast<Limit*>(context);
                                if (bytes > l->left) return false;
                                l->left -= bytes;
                                l->asked += bytes;
                                return true;
                              },
                              &limit});
  int64_t last = 0;
  size_t text_bytes = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::string text = "text " + std::to_string(i);
    const int64_t id = table.Intern(text);
    if (id < 0) break;
    last = id;
    text_bytes += text.size();
  }
  CHECK(last > 100);
  CHECK(last < 10000);
  CHECK(limit.asked >= text_bytes);
  CHECK(table.Intern("text 0") == 1);
  CHECK(table.Intern(std::string(1 << 20, 'y')) == -1);
  CHECK(table.Intern("text 1") == 2);
}

TEST_CASE("packed strings: what is none is told apart") {
  const std::vector<std::string_view> texts = {"a", "", "héé", "z\0"sv};
  const HostTensor packed{DType::kString, {2, 2}, PackStrings(texts)};
  const PackedStrings view(packed.data.data(), 4);
  for (int64_t i = 0; i < 4; ++i) CHECK(view[i] == texts[static_cast<size_t>(i)]);
  StringTable table;
  const auto ids = InternStrings(table, packed);
  REQUIRE(ids.ok());
  const auto back = PackStrings(table, *ids);
  REQUIRE(back.ok());
  CHECK(back->data == packed.data);

  CHECK(IsPacked({packed.data.data(), packed.data.size()}, 4));
  CHECK(!IsPacked({packed.data.data(), packed.data.size()}, 3));
  CHECK(!IsPacked({packed.data.data(), packed.data.size()}, -1));
  CHECK(!IsPacked({packed.data.data(), packed.data.size() - 1}, 4));
  // Any change of an offset leaves it none, or other texts.
  for (size_t byte = 0; byte < 5 * 8; ++byte) {
    SharedBytes changed = SharedBytes::Copy({packed.data.data(), packed.data.size()});
    changed.Mutable()[byte] ^= std::byte{0x81};
    CHECK(!IsPacked({changed.data(), changed.size()}, 4));
  }
  const HostTensor wrong{DType::kString, {1}, SharedBytes::Zeros(8)};
  CHECK(!InternStrings(table, wrong).ok());
  const HostTensor unknown{
      DType::kString, {1}, SharedBytes::Copy(std::as_bytes(std::span("1234567", 8)))};
  CHECK(!PackStrings(table, unknown).ok());
}

TEST_CASE("packed strings: UTF-8 only") {
  CHECK(IsUtf8("aé漢😀"));
  for (std::string_view bad : {"\x80"sv, "\xC3"sv, "\xED\xA0\x80"sv, "\xF5\x80\x80\x80"sv})
    CHECK(!IsUtf8(bad));
}

TEST_CASE("a table as bytes gives the same ids") {
  StringTable table, other;
  for (const char* text : {"x", "y", "zz"}) table.Intern(text);
  const HostTensor bytes = StringsOfTable(table);
  REQUIRE(ReadStringsOfTable(bytes, other).ok());
  CHECK(other.Texts() == table.Texts());
  for (size_t n = 0; n < bytes.data.size(); ++n) {
    StringTable none;
    HostTensor cut{DType::kUInt8, {static_cast<int64_t>(n)}, bytes.data.Slice(0, n)};
    CHECK(!ReadStringsOfTable(cut, none).ok());
  }
}

}  // namespace
}  // namespace relayvm

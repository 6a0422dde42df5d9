#include "bytecode/base/printable.h"

#include <doctest/doctest.h>

namespace relayvm {
namespace {

TEST_CASE("control characters of names become question marks") {
  struct Case {
    std::string_view text, name, lines;
  };
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"", "", ""},
      {"conv.1/weight", "conv.1/weight", "conv.1/weight"},
      {"a\nb\tc\rd", "a?b?c?d", "a\nb\tc?d"},
      {"\x1b[31mred\x7f", "?[31mred?", "?[31mred?"},
      {"a\0b"sv, "a?b", "a?b"},
      {"a\u202eb\u2028c\u2067d\u2030\u2027", "a?b?c?d\u2030\u2027", "a?b?c?d\u2030\u2027"},
      {"größe, 大小, 🙂", "größe, 大小, 🙂", "größe, 大小, 🙂"},
      {"\xC2\x9B"
       "31m",
       "?31m", "?31m"},  // C1 in UTF-8
      {"\x9B"
       "31m \xE9",
       "?31m \xE9", "?31m \xE9"},            // bytes of other encodings
      {"\xE5\xA4", "\xE5\xA4", "\xE5\xA4"},  // cut off
      {"\xE5\n", "\xE5?", "\xE5\n"},         // a lead byte hides nothing
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(Printable(c.text) == c.name);
    CHECK(PrintableLines(c.text) == c.lines);
  }
}

}  // namespace
}  // namespace relayvm

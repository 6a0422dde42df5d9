#include "compiler/frontend/token_places.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace relayvm::frontend {
namespace {

// "line:column-end_line:end_column" of all that stands in the text.
std::string PlaceOf(std::string_view text) {
  const WrittenPlace p = TokenPlaces(text, 0).Of(0, text.size());
  return fmt::format("{}:{}-{}:{}", p.line, p.column, p.end_line, p.end_column);
}

TEST_CASE("a token stands where it begins; numbers, strings and minus behind their end") {
  CHECK(PlaceOf("abc") == "1:1-1:4");
  CHECK(PlaceOf("  (") == "1:3-1:4");
  CHECK(PlaceOf("12") == "1:3-1:4");
  CHECK(PlaceOf("-1.5f") == "1:6-1:7");
  CHECK(PlaceOf("\"ab\"") == "1:5-1:6");
  CHECK(PlaceOf("%x") == "1:1-1:2");
  CHECK(PlaceOf("%12") == "1:1-1:4");
  CHECK(PlaceOf("") == "0:0-0:0");
}

TEST_CASE("columns go on where letters were tried in vain") {
  CHECK(PlaceOf("is b") == "1:2-1:6");    // i
  CHECK(PlaceOf("int8 b") == "1:3-1:9");  // in
  CHECK(PlaceOf("mean b") == "1:3-1:9");  // me
  CHECK(PlaceOf("max\nb") == "1:1-2:5");  // a new line begins anew
}

TEST_CASE("comments and blanks have no place") {
  CHECK(PlaceOf("/* i /* m */ \n */ a // b") == "2:5-2:6");
  CHECK(PlaceOf("\r\n\ta") == "2:2-2:3");
}

TEST_CASE("a place has all tokens from one byte to another") {
  const std::string_view text = "f(a,\n  b)";
  const TokenPlaces places(text, 0);
  const WrittenPlace whole = places.Of(0, text.size()),
                     last = places.Of(text.find('b'), text.find(')'));
  CHECK((whole.line == 1 && whole.column == 1 && whole.end_line == 2 && whole.end_column == 5));
  CHECK((last.line == 2 && last.column == 3 && last.end_column == 4));
  CHECK(TokenPlaces("skipped\na", 8).Of(8, 9).line == 1);
}

}  // namespace
}  // namespace relayvm::frontend

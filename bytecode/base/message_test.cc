#include "bytecode/base/message.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace relayvm {
namespace {

TEST_CASE("numbers stand where a message names them") {
  const std::vector<int64_t> values = {3, INT64_MIN};
  CHECK(FillMessage("a: {0} x {1} does not equal {0}", values) ==
        "a: 3 x -9223372036854775808 does not equal 3");
  CHECK(FillMessage("no place", values) == "no place");
  CHECK(FillMessage("{2} {} {x} {-1} {0", values) == "{2} {} {x} {-1} {0");
  CHECK(FillMessage("{99999999999999999999}", values) == "{99999999999999999999}");
  CHECK(FillMessage("{", values) == "{");
}

TEST_CASE("a name with braces is no place") {
  const std::vector<int64_t> values = {3};
  for (const char* text : {"%{0}", "{{0}}", "{", "a{{{0}", "}"}) {
    CHECK(FillMessage(EscapeMessage(text), values) == text);
  }
}

TEST_CASE("numbers and texts are joined") {
  CHECK(Joined(std::vector<int64_t>{}).empty());
  CHECK(Joined(std::vector<int64_t>{-1}) == "-1");
  CHECK(Joined(std::vector<int64_t>{2, 3, INT64_MIN}, " x ") == "2 x 3 x -9223372036854775808");
  CHECK(Joined(std::vector<std::string>{"a", "", "b"}) == "a, , b");
}

}  // namespace
}  // namespace relayvm

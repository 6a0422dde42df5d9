#include "tools/serve/protocol/token.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace relayvm::serve {
namespace {

TEST_CASE("a token is a bearer's, whole and exact") {
  const std::string token = "0123456789abcdef";
  CHECK(HasToken("Bearer " + token, token));
  CHECK(HasToken("bearer " + token, token));
  for (const std::string& other : std::vector<std::string>{
           std::string(), token, "Bearer", "Bearer ", "Bearer  " + token, "Bearer " + token + " ",
           "Bearer 0123456789abcde", "Bearer 0123456789abcdeF", "Basic " + token,
           "Bearer " + token + std::string(1, '\0')}) {
    CAPTURE(other);
    CHECK_FALSE(HasToken(other, token));
  }
}

TEST_CASE("a token's file is one line of 8 to 4096 printable characters") {
  const testing::TempFolder folder;
  const std::string path = folder / "token";
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    const auto token = ReadToken(path);
    return token.ok() ? *token : "";
  };
  CHECK(read("0123456789") == "0123456789");
  CHECK(read("0123456789\n") == "0123456789");
  CHECK(read("0123456789\r\n") == "0123456789");
  CHECK(read(std::string(4096, 'x') + "\n") == std::string(4096, 'x'));
  for (const std::string& bad : {std::string(), std::string("short\n"), std::string("two words\n"),
                                 std::string("two\nlines and\n"), std::string(4097, 'x')}) {
    CHECK(read(bad).empty());
  }
  CHECK(ReadToken(folder / "none").status().code() == StatusCode::kNotFound);
}

}  // namespace
}  // namespace relayvm::serve

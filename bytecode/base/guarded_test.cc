#include "bytecode/base/guarded.h"

#include <doctest/doctest.h>

namespace relayvm {
namespace {

Result<int> Throws(int what) {
  return Guarded([&]() -> Result<int> {
    switch (what) {
      case 0:
        return 42;
      case 1:
        return Status(StatusCode::kNotFound, "nothing");
      case 2:
        throw std::bad_alloc();
      case 3:
        throw std::length_error("too long");
      case 4:
        throw std::runtime_error("the host's");
      default:
        throw 5;
    }
  });
}

TEST_CASE("guarded: what is given passes, what is thrown becomes a status") {
  CHECK(*Throws(0) == 42);
  struct Case {
    int what;
    const char* expected;
  };
  for (const Case& c : {Case{1, "not found: nothing"}, Case{2, "resource exhausted: out of memory"},
                        Case{3, "resource exhausted: out of memory"},
                        Case{4, "internal error: exception: the host's"},
                        Case{5, "internal error: exception of an unknown type"}}) {
    const Result<int> result = Throws(c.what);
    REQUIRE(!result.ok());
    CHECK(result.status().ToString() == c.expected);
  }
}

}  // namespace
}  // namespace relayvm

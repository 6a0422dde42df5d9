#include "compiler/lowering/unread_arguments.h"

#include <doctest/doctest.h>

#include <string>

#include "compiler/transforms/testing.h"

namespace relayvm::lower {
namespace {

TEST_CASE("parts of arguments that are ignored or only go into the result") {
  using Paths = std::set<ArgumentPath>;
  struct Case {
    const char* main;
    Paths expected;
  };
  const Case cases[] = {
      {"(%x: Tensor[(3), float32]) { %x }", Paths{{0}}},
      {"(%x: Tensor[(3), float32]) { nn.relu(%x) }", Paths{}},
      {"(%x: Tensor[(3), float32]) { (%x, nn.relu(%x)) }", Paths{}},
      {"(%x: Tensor[(3), float32]) { 1 }", Paths{{0}}},
      {"(%x: Tensor[(?), float32]) { %x }", Paths{}},
      {"(%t: (Tensor[(3), float32], int32)) { %t.1 }", Paths{{0, 0}, {0, 1}}},
      {"(%t: (Tensor[(3), float32], int32)) { (%t, add(%t.1, 1)) }", Paths{{0, 0}}},
      {"(%t: (Tensor[(3), float32], (int32, int64))) { let %u = (%t.1, %t.0); %u.0 }",
       Paths{{0, 0}, {0, 1, 0}, {0, 1, 1}}},
      {"(%x: int32, %y: int32) { let %u = (%x, %y); (%u.1, negative(%u.0)) }", Paths{{1}}},
      {"(%x: int32, %y: bool) { if (%y) { %x } else { 1 } }", Paths{}},
      {"(%x: int32, %y: int32) { let %f = fn () { %x }; (%f(), %y) }", Paths{{1}}},
      {"(%x: Tensor[(3), float32]) { concatenate((%x, %x), axis=0) }", Paths{}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.main);
    ir::Module m = ir::Typed(std::string("def @main") + c.main);
    CHECK(UnreadArguments(*m.functions.at("main")) == c.expected);
  }
}

}  // namespace
}  // namespace relayvm::lower

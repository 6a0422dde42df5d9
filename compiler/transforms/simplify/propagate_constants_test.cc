#include "compiler/transforms/simplify/propagate_constants.h"

#include <fmt/format.h>

#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("a loop that hands its own parameter on gets it as a constant") {
  Module m = PropagateConstants(Parsed(R"(
def @loop(%i: int32, %step: int32) -> int32 { if (less(%i, 10)) { @loop(add(%i, %step), %step) } else { %i } }
def @main(%n: int32) -> int32 { @loop(%n, 3) }
)"));
  CHECK(m.functions.at("loop")->params.size() == 1);
  Retyped(m);
}

TEST_CASE("a constant goes through a long chain of loops at once") {
  constexpr int kLoops = 2000;
  std::string text =
      "def @f0000(%n: int32, %k: int32) -> int32 { if (%n > 0) { @f0000(%n - 1, %k) } else { %k } "
      "}\n";
  for (int i = 1; i < kLoops; ++i) {
    text += fmt::format(
        "def @f{0:04}(%n: int32, %k: int32) -> int32 {{ if (%n > 0) {{ @f{0:04}(%n - 1, %k) }} "
        "else {{ @f{1:04}(%n, %k) }} }}\n",
        i, i - 1);
  }
  const Module m = PropagateConstants(
      Parsed(text + fmt::format("def @main(%n: int32) -> int32 {{ @f{:04}(%n, 3) }}", kLoops - 1)));
  CHECK(m.functions.at("f0000")->params.size() == 1);
}

TEST_CASE("a parameter with two values stays") {
  Module m = PropagateConstants(Parsed(R"(
def @f(%i: int32, %step: int32) -> int32 { add(%i, %step) }
def @main(%n: int32) -> int32 { @f(@f(%n, 3), 4) }
)"));
  CHECK(m.functions.at("f")->params.size() == 2);
}

TEST_CASE("a parameter of a generic type keeps it") {
  Module m = Parsed(R"(
type List[A] { Cons(A, List[A]), Nil }
def @fold[A, B](%f: fn (B, A) -> B, %start: B, %xs: List[A]) -> B {
  match (%xs) { Cons(%x, %rest) => { %f(@fold(%f, %start, %rest), %x) }, Nil => { %start } }
}
def @main(%xs: List[int32]) -> int32 {
  @fold(fn (%a: int32, %b: int32) -> int32 { add(%a, %b) }, 7, %xs)
}
)");
  m = PropagateConstants(m);
  CHECK(m.functions.at("fold")->params.size() == 3);
  Retyped(m);
}

TEST_CASE("a function used as a value keeps its signature") {
  Module m = PropagateConstants(Parsed(R"(
def @f(%i: int32) -> int32 { add(%i, 1) }
def @main() { (@f, @f(3)) }
)"));
  CHECK(m.functions.at("f")->params.size() == 1);
}

}  // namespace
}  // namespace relayvm::ir

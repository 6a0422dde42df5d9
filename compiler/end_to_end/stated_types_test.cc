// What a program states about shapes holds at every level: a walk over the places where a type can
// be written. Each program takes %x: Tensor[(?, ?), float32], states somewhere that it (or what is
// made of it) has the shape (2, 2), runs with that shape, and fails with another one.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bytecode/writer.h"
#include "compiler/driver.h"
#include "compiler/end_to_end/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

constexpr const char* kTypes = R"(
type List[A] { Cons(A, List[A]), Nil, }
type Box { Full(Tensor[(?, ?), float32]), Empty, }
type Square { Side(Tensor[(2, 2), float32]), }
def @apply(%f, %v: Tensor[(?, ?), float32]) { %f(%v) }
def @same[A](%a: A) -> A { %a }
def @twice[A](%f: fn (A) -> A, %a: A) -> A { %f(%f(%a)) }
def @from[A](%a: A, %f: fn (A) -> A) -> A { %f(%f(%a)) }
)";

Status RunAt(int level, const std::string& source, std::vector<int64_t> shape) {
  auto executable = Executable::FromProgram(Compile(kTypes + source, level).program);
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  std::vector<float> data(static_cast<size_t>(shape[0] * shape[1]), 1.0F);
  Result<Value> input = Value::CopyTensor(DType::kFloat32, shape, data.data());
  return (*invocation)->Run("main", {*input}).status();
}

struct Case {
  const char *what, *source, *message;
};

const Case kCases[] = {
    {"let",
     "def @main(%x: Tensor[(?, ?), float32]) { let %y: Tensor[(2, 2), float32] = exp(%x); sum(%y) "
     "}",
     "%y: dimension 0"},
    {"let, unused",
     "def @main(%x: Tensor[(?, ?), float32]) { let %y: Tensor[(2, ?), float32] = exp(%x); %x }",
     "%y: dimension 0"},
    {"let of an alias",
     "def @main(%x: Tensor[(?, ?), float32]) { let %y: Tensor[(?, 2), float32] = %x; sum(%y) }",
     "%y: dimension 1"},
    {"let of a tuple",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %t: (Tensor[(2, 2), float32], (Tensor[(?, ?), float32], int32)) = (%x, (%x, 1)); "
     "%t.1.0 }",
     "%t: dimension 0"},
    {"let of a tuple in a tuple",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %t: (int32, (Tensor[(?, 2), float32], int32)) = (1, (%x, 1)); sum(%t.1.0) }",
     "%t: dimension 1"},
    {"let of an operator with several results",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %t: (Tensor[(2, 1), float32], Tensor[(?, ?), float32]) ="
     "    split(%x, indices_or_sections=[1], axis=1); sum(%t.0) }",
     "%t: dimension 0"},
    {"the parameter of a function that a generic function is given",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  @twice(fn (%y: Tensor[(2, ?), float32]) -> Tensor[(2, ?), float32] { exp(%y) }, %x) }",
     "argument %a of @twice: dimension 0"},
    {"the parameter of a function that follows what it is given",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  @from(%x, fn (%y: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] { exp(%y) }) }",
     "argument %a of @from: dimension 1"},
    {"let in a branch, of a let outside",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  if (less(sum(%x), 1000f)) { let %y: Tensor[(2, 2), float32] = %x; sum(%y) } else { 0f } }",
     "%y: dimension 0"},
    {"let of an if",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %y: Tensor[(2, ?), float32] = if (less(sum(%x), 1000f)) { %x } else { exp(%x) }; "
     "sum(%y) }",
     "%y: dimension 0"},
    {"let of a value of an unknown shape",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %y: Tensor[(4, 2), int32] = argwhere(%x); sum(%y) }",
     "%y: dimension 0"},
    {"variable of a pattern",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  match (Full(%x)) { Full(%a: Tensor[(2, 2), float32]) => sum(%a), Empty => 0f } }",
     "%a: dimension 0"},
    {"variable of a pattern, unused",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  match (Full(%x)) { Full(%a: Tensor[(2, ?), float32]) => 1f, Empty => 0f } }",
     "%a: dimension 0"},
    {"variable of a pattern in patterns",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  match ((Cons(%x, Nil), 1)) { (Cons(%a: Tensor[(?, 2), float32], Nil), _) => sum(%a), _ => "
     "0f } }",
     "%a: dimension 1"},
    {"match in match",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %b = Full(%x); let %l = Cons(%x, Nil);"
     "  match (%b) { Full(%a) => match (%l) {"
     "    Cons(%c: Tensor[(2, ?), float32], _) => sum(add(%a, %c)), Nil => 0f }, Empty => 0f } }",
     "%c: dimension 0"},
    {"parameter",
     "def @f(%p: Tensor[(2, 2), float32]) { sum(%p) }"
     "def @main(%x: Tensor[(?, ?), float32]) { @f(%x) }",
     "argument %p of @f: dimension 0"},
    {"parameter, unused",
     "def @f(%p: Tensor[(2, 2), float32], %q: Tensor[(?, ?), float32]) { sum(%q) }"
     "def @main(%x: Tensor[(?, ?), float32]) { @f(%x, %x) }",
     "argument %p of @f: dimension 0"},
    {"parameter of a tuple",
     "def @f(%p: (int32, Tensor[(2, 2), float32])) { sum(%p.1) }"
     "def @main(%x: Tensor[(?, ?), float32]) { @f((1, %x)) }",
     "argument %p of @f: dimension 0"},
    {"parameter of a function of a function",
     "def @f(%p: Tensor[(?, 2), float32]) { sum(%p) } def @g(%q: Tensor[(?, ?), float32]) { "
     "@f(exp(%q)) }"
     "def @main(%x: Tensor[(?, ?), float32]) { @g(%x) }",
     "argument %p of @f: dimension 1"},
    {"parameter of a function that is called twice",
     "def @f(%p: Tensor[(2, ?), float32]) { exp(%p) }"
     "def @main(%x: Tensor[(?, ?), float32]) { add(@f(%x), @f(negative(%x))) }",
     "argument %p of @f: dimension 0"},
    {"parameter of a recursive function",
     "def @f(%i: int32, %p: Tensor[(2, 2), float32]) -> float32 {"
     "  if (less(%i, 1)) { sum(%p) } else { @f(subtract(%i, 1), exp(%p)) } }"
     "def @main(%x: Tensor[(?, ?), float32]) { @f(2, %x) }",
     "argument %p of @f: dimension 0"},
    {"parameter of a generic function",
     "def @f[A](%a: A, %p: Tensor[(2, 2), float32]) -> (A, float32) { (%a, sum(%p)) }"
     "def @main(%x: Tensor[(?, ?), float32]) { @f(%x, %x).1 }",
     "argument %p of @f: dimension 0"},
    {"result",
     "def @f(%p: Tensor[(?, ?), float32]) -> Tensor[(2, 2), float32] { exp(%p) }"
     "def @main(%x: Tensor[(?, ?), float32]) { sum(@f(%x)) }",
     "result of @f: dimension 0"},
    {"result, unused",
     "def @f(%p: Tensor[(?, ?), float32]) -> (Tensor[(?, 2), float32], int32) { (exp(%p), 3) }"
     "def @main(%x: Tensor[(?, ?), float32]) { @f(%x).1 }",
     "result of @f: dimension 1"},
    {"result of main",
     "def @main(%x: Tensor[(?, ?), float32]) -> Tensor[(2, ?), float32] { exp(%x) }",
     "result of @main: dimension 0"},
    {"result of a branch",
     "def @f(%p: Tensor[(?, ?), float32]) -> Tensor[(2, 2), float32] {"
     "  if (less(sum(%p), 1000f)) { %p } else { exp(%p) } }"
     "def @main(%x: Tensor[(?, ?), float32]) { sum(@f(%x)) }",
     "result of @f: dimension 0"},
    {"result of a clause",
     "def @f(%p: Box[]) -> Tensor[(2, 2), float32] {"
     "  match (%p) { Full(%v) => %v, Empty => ones(shape=[2, 2], dtype=\"float32\") } }"
     "def @main(%x: Tensor[(?, ?), float32]) { sum(@f(Full(%x))) }",
     "result of @f: dimension 0"},
    {"result of a recursive function",
     "def @f(%i: int32, %p: Tensor[(?, ?), float32]) -> Tensor[(2, 2), float32] {"
     "  if (less(%i, 1)) { %p } else { @f(subtract(%i, 1), exp(%p)) } }"
     "def @main(%x: Tensor[(?, ?), float32]) { sum(@f(2, %x)) }",
     "result of @f: dimension 0"},
    {"result of a recursive function that works on the result",
     "def @f(%i: int32, %p: Tensor[(?, ?), float32]) -> Tensor[(2, ?), float32] {"
     "  if (less(%i, 1)) { %p } else { exp(@f(subtract(%i, 1), %p)) } }"
     "def @main(%x: Tensor[(?, ?), float32]) { sum(@f(2, %x)) }",
     "result of @f: dimension 0"},
    {"result of mutually recursive functions",
     "def @f(%i: int32, %p: Tensor[(?, ?), float32]) -> Tensor[(2, 2), float32] {"
     "  if (less(%i, 1)) { %p } else { @g(subtract(%i, 1), %p) } }"
     "def @g(%i: int32, %p: Tensor[(?, ?), float32]) -> Tensor[(?, ?), float32] {"
     "  if (less(%i, 1)) { %p } else { @f(subtract(%i, 1), %p) } }"
     "def @main(%x: Tensor[(?, ?), float32]) { sum(@f(2, %x)) }",
     "result of @f: dimension 0"},
    {"parameter of a literal",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %f = fn (%p: Tensor[(2, 2), float32]) { sum(%p) }; %f(%x) }",
     "argument %p of %f: dimension 0"},
    {"parameter of a literal in a literal",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %f = fn (%q: Tensor[(?, ?), float32]) {"
     "    let %g = fn (%p: Tensor[(2, ?), float32]) { sum(add(%p, %q)) }; %g(%q) }; %f(%x) }",
     "argument %p of %g: dimension 0"},
    {"result of a literal",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %f = fn (%p: Tensor[(?, ?), float32]) -> Tensor[(2, 2), float32] { %p }; sum(%f(%x)) }",
     "result of %f: dimension 0"},
    {"let in a literal that is passed around",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %f = fn (%p: Tensor[(?, ?), float32]) -> float32 {"
     "    let %y: Tensor[(?, 2), float32] = exp(%p); sum(%y) };"
     "  let %t = (%f, 1); @apply(@same(%t.0), %x) }",
     "%y: dimension 1"},
    {"result of a literal that is passed around",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %f = fn (%p: Tensor[(?, ?), float32]) -> Tensor[(2, ?), float32] { %p };"
     "  let %r = ref(%f); sum(ref_read(%r)(%x)) }",
     "result of %f: dimension 0"},
    {"let in a recursive literal",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %f = fn (%i: int32, %p: Tensor[(?, ?), float32]) -> float32 {"
     "    let %y: Tensor[(2, 2), float32] = exp(%p);"
     "    if (less(%i, 1)) { sum(%y) } else { %f(subtract(%i, 1), %p) } }; %f(3, %x) }",
     "%y: dimension 0"},
    {"let of what a generic function gives",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %y: Tensor[(2, 2), float32] = @same(%x); sum(%y) }",
     "%y: dimension 0"},
    {"let in a generic function",
     "def @f[A](%a: A, %p: Tensor[(?, ?), float32]) -> (A, float32) {"
     "  let %y: (Tensor[(2, 2), float32], A) = (%p, %a); (%y.1, sum(%y.0)) }"
     "def @main(%x: Tensor[(?, ?), float32]) { @f(%x, %x).1 }",
     "%y: dimension 0"},
    {"field of a constructor",
     "def @main(%x: Tensor[(?, ?), float32]) { match (Side(%x)) { Side(%a) => sum(%a) } }",
     "argument 0 of Side: dimension 0"},
    {"let of what a reference holds",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %r = ref(%x); ref_write(%r, exp(%x));"
     "  let %y: Tensor[(2, 2), float32] = ref_read(%r); sum(%y) }",
     "%y: dimension 0"},
    {"what is written to a reference",
     "def @main(%x: Tensor[(?, ?), float32]) {"
     "  let %y: Tensor[(2, 2), float32] = exp(%x); let %r = ref(%y); sum(ref_read(%r)) }",
     "%y: dimension 0"},
    {"an operator that needs the number",
     "def @f(%p: Tensor[(?, ?), float32]) -> Tensor[(2, 2), float32] { exp(%p) }"
     "def @main(%x: Tensor[(?, ?), float32]) { sum(split(@f(%x), indices_or_sections=2, axis=1).0) "
     "}",
     "result of @f: dimension 0"},
};

TEST_CASE("what the program states about shapes holds at every level") {
  for (const Case& c : kCases) {
    for (int level = 0; level <= 3; ++level) {
      CAPTURE(c.what);
      CAPTURE(level);
      CHECK(RunAt(level, c.source, {2, 2}).ToString() == "ok");
      Status failed = RunAt(level, c.source, {3, 3});
      CHECK(failed.code() == StatusCode::kFailedPrecondition);
      CHECK(failed.message().find(c.message) != std::string::npos);
      CHECK_MESSAGE(failed.message().find("does not equal") != std::string::npos, failed.message());
    }
  }
}

// Inside containers, references and function types no guard reaches.
TEST_CASE("what no guard can check is refused") {
  const char* const sources[] = {
      "def @main(%x: Tensor[(?, ?), float32]) {"
      "  let %l: List[Tensor[(2, 2), float32]] = Cons(%x, Nil); %l }",
      "def @main(%x: Tensor[(?, ?), float32]) {"
      "  let %r: ref(Tensor[(2, 2), float32]) = ref(%x); sum(ref_read(%r)) }",
      "def @main(%x: Tensor[(?, ?), float32]) {"
      "  let %f = fn (%p: Tensor[(2, 2), float32]) { sum(%p) }; @apply(%f, %x) }",
  };
  for (const char* source : sources) {
    CAPTURE(source);
    auto checked = RunFrontendPipeline(ir::Parsed(kTypes + std::string(source)));
    REQUIRE_FALSE(checked.ok());
    CHECK(checked.status().message().find("test.relay:") != std::string::npos);
    CHECK(checked.status().message().find("must agree") != std::string::npos);
  }
}

// Code that does not fit is no error where it is not reached.
TEST_CASE("a copied function that can't be typed fails when it is reached") {
  const char* source =
      "def @f(%p: Tensor[(?), float32]) { add(%p, ones(shape=[3], dtype=\"float32\")) }"
      "def @main(%x: Tensor[(?, ?), float32]) {"
      "  if (less(sum(%x), 5f)) { sum(%x) } else { sum(@f(ones(shape=[2], dtype=\"float32\"))) } }";
  for (int level = 0; level <= 3; ++level) {
    CAPTURE(level);
    CHECK(RunAt(level, source, {2, 2}).ToString() == "ok");
    Status failed = RunAt(level, source, {3, 3});
    CHECK(failed.code() == StatusCode::kFailedPrecondition);
    CHECK_MESSAGE(failed.message().find("do not broadcast") != std::string::npos, failed.message());
  }
}

}  // namespace
}  // namespace relayvm

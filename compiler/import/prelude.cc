#include "compiler/frontend/parser.h"
#include "compiler/import/control_flow.h"

namespace relayvm::import {

const char* const kPrelude = R"(#[version = "0.0.5"]
type Sequence[A] { Empty, Append(Sequence[A], A) }
type Optional[A] { None, Some(A) }
type List[A] { Cons(A, List[A]), Nil }
type Checked[A] { InRange(A), OutOfRange }
type OneOf[A, B] { First(A), Second(B) }
def @sequence_length[A](%s: Sequence[A], %n: int64) -> int64 {
  match (%s) { Append(%rest, _) => { @sequence_length(%rest, add(%n, 1i64)) }, Empty => { %n } }
}
def @sequence_at[A](%s: Sequence[A], %n: int64) -> A {
  match? (%s) { Append(%rest, %x) => { if (less(%n, 1i64)) { %x } else { @sequence_at(%rest, subtract(%n, 1i64)) } } }
}
def @sequence_rest[A](%s: Sequence[A]) -> Sequence[A] {
  match? (%s) { Append(%rest, _) => { %rest } }
}
def @sequence_insert[A](%s: Sequence[A], %n: int64, %x: A) -> Sequence[A] {
  if (less(%n, 1i64)) { Append(%s, %x) } else {
    match? (%s) { Append(%rest, %y) => { Append(@sequence_insert(%rest, subtract(%n, 1i64), %x), %y) } }
  }
}
def @sequence_erase[A](%s: Sequence[A], %n: int64) -> Sequence[A] {
  match? (%s) {
    Append(%rest, %y) => { if (less(%n, 1i64)) { %rest } else { Append(@sequence_erase(%rest, subtract(%n, 1i64)), %y) } }
  }
}
def @sequence_to_list[A](%s: Sequence[A], %done: List[A]) -> List[A] {
  match (%s) { Append(%rest, %x) => { @sequence_to_list(%rest, Cons(%x, %done)) }, Empty => { %done } }
}
def @sequence_of_list[A](%l: List[A], %done: Sequence[A]) -> Sequence[A] {
  match (%l) { Cons(%x, %rest) => { @sequence_of_list(%rest, Append(%done, %x)) }, Nil => { %done } }
}
def @list_first[A](%l: List[A]) -> A { match? (%l) { Cons(%x, _) => { %x } } }
def @list_rest[A](%l: List[A]) -> List[A] { match? (%l) { Cons(_, %rest) => { %rest } } }
def @is_first[A, B](%o: OneOf[A, B]) -> bool {
  match (%o) { First(_) => { True }, Second(_) => { False } }
}
def @optional_has[A](%o: Optional[A]) -> bool {
  match (%o) { Some(_) => { True }, None => { False } }
}
)";

ir::Module PreludeModule() {
  auto module = frontend::ParseRelay("prelude", kPrelude);
  return module.ok() ? *std::move(module) : ir::MakeModule();
}

Status DefineEntry(TypedBuilder& b, ir::Module& module, const ir::Function& entry,
                   const Value& result) {
  RELAYVM_RETURN_IF_ERROR(b.status());
  if (!b.uses_prelude()) {
    module.functions.clear();
    module.types.clear();
  }
  return b.graph().Define(module, b.graph().MakeFunction(entry, result.node));
}

}  // namespace relayvm::import

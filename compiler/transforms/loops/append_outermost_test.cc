#include "compiler/transforms/loops/append_outermost.h"

#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

// The axes of the concatenations of a program, in order of functions, "axis of rank"; what its main
// function returns has the same type as before.
std::string Joins(const std::string& text) {
  const Module typed = Typed(text);
  const Module m = EliminateDeadCode(Retyped(AppendOutermost(typed)));
  CHECK(TypeToString(m.functions.at("main")->result_type, false) ==
        TypeToString(typed.functions.at("main")->result_type, false));
  std::string out;
  for (const auto& [name, f] : m.functions) {
    ForEachBinding(*f->body, [&](const Binding& b) {
      const auto* call = b.value->As<OpCall>();
      if (call == nullptr || call->op->name != "concatenate") return;
      out += (out.empty() ? "" : ", ") + std::to_string(call->attrs.Int("axis")) + " of " +
             TypeToString(b.var->type, false);
    });
  }
  return out;
}

// A loop over a tensor that grows along axis 1; `more` is done with the longer one in each turn,
// its result is added to a sum.
std::string Loop(const std::string& more, const std::string& row = "%row",
                 const std::string& first = "(2, 7, 3)") {
  return R"(def @loop(%n: int64, %x: Tensor[(2, ?, 3), float32], %row: Tensor[(2, 1, 3), float32],
                      %sum: Tensor[(2, 3), float32]) -> (Tensor[(2, ?, 3), float32], Tensor[(2, 3), float32]) {
    if (greater(%n, 0i64)) {
      let %longer = concatenate((%x, )" +
         row + R"(), axis=1);
      @loop(subtract(%n, 1i64), %longer, %row, add(%sum, )" +
         more + R"())
    } else { (%x, %sum) }
  }
  def @main(%n: int64, %x: Tensor[)" +
         first + R"(, float32], %row: Tensor[(2, 1, 3), float32]) {
    @loop(%n, %x, %row, zeros(shape=[2, 3], dtype="float32"))
  })";
}

constexpr char kInner[] = "1 of Tensor[(2, ?, 3), float32]";
constexpr char kOuter[] = "0 of Tensor[(?, 2, 3), float32]";

TEST_CASE("what grows in a loop has the axis first that grows") {
  CHECK(Joins(Loop("sum(%longer, axis=[1])")) == kOuter);
  // What is appended may be of any length, and made anywhere.
  CHECK(Joins(Loop("sum(%longer, axis=[1])", "exp(concatenate((%row, %row), axis=1))")) ==
        std::string("1 of Tensor[(2, 2, 3), float32], ") + kOuter);
}

TEST_CASE("what may be long already stays as it is: the loop may be short") {
  CHECK(Joins(Loop("sum(%longer, axis=[1])", "%row", "(2, ?, 3)")) == kInner);
}

TEST_CASE("kernels that read it as it is written are at most as many as the appends") {
  CHECK(Joins(Loop("sum(sort(%longer, axis=1), axis=[1])")) == kOuter);
  CHECK(Joins(Loop("add(sum(sort(%longer, axis=1), axis=[1]), sum(sort(%longer, axis=2), "
                   "axis=[1]))")) == kInner);
}

TEST_CASE("what does not grow by itself stays as it is") {
  // In front; of two tensors that change places; the axis is the first one; another dtype's.
  for (const char* body : {
           "@loop(concatenate((%row, %x), axis=1), %row)",
           "@loop(transpose(concatenate((%x, %row), axis=1), axes=[0, 1, 2]), %row)",
           "@loop(exp(concatenate((%x, %row), axis=1)), %row)",
       }) {
    CAPTURE(body);
    CHECK(Joins(std::string("def @loop(%x: Tensor[(2, ?, 3), float32], %row: Tensor[(2, 1, 3), "
                            "float32]) -> Tensor[(2, ?, 3), float32] { if "
                            "(greater(sum(%row), 0f)) { ") +
                body +
                " } else { %x } } def @main(%x: Tensor[(2, 1, 3), float32], %row: Tensor[(2, 1, "
                "3), float32]) { @loop(%x, %row) }")
              .starts_with("1 of"));
  }
}

TEST_CASE("through tuples, branches, matches and literals") {
  CHECK(Joins(R"(def @main(%n: int64, %x: Tensor[(4, 1), float32], %row: Tensor[(4, 1), float32]) {
    let %loop = fn (%i: int64, %p: ((Tensor[(4, ?), float32],), int64)) -> ((Tensor[(4, ?), float32],), int64) {
      if (less(%i, %n)) {
        let %t = match (%p) { ((%a), %b) => %a };
        let %longer = if (equal(%i, 3i64)) { %t } else { concatenate((%t, %row), axis=-1) };
        %loop(add(%i, 1i64), ((%longer,), %p.1))
      } else { %p }
    };
    %loop(0i64, ((%x,), 7i64))
  })") == "0 of Tensor[(?, 4), float32]");
}

TEST_CASE("what a list, a closure or another caller holds stays as it is written") {
  // The loop is a value too: nobody knows with what it is called.
  CHECK(Joins(R"(def @loop(%x: Tensor[(4, ?), float32], %go: bool) -> Tensor[(4, ?), float32] {
    if (%go) { @loop(concatenate((%x, ones(shape=[4, 1], dtype="float32")), axis=1), False) } else { %x }
  }
  def @apply(%f: fn (Tensor[(4, ?), float32], bool) -> Tensor[(4, ?), float32], %x: Tensor[(4, ?), float32]) { %f(%x, True) }
  def @main(%x: Tensor[(4, 1), float32]) { @apply(@loop, @loop(%x, True)) })") ==
        "1 of Tensor[(4, ?), float32]");
  // A pattern of a constructor gives a tensor as the list has it.
  CHECK(Joins(R"(type Box { Box(Tensor[(4, ?), float32]) }
  def @loop(%b: Box, %i: int64) -> Box {
    if (less(%i, 3i64)) {
      @loop(match (%b) { Box(%x) => Box(concatenate((%x, ones(shape=[4, 1], dtype="float32")), axis=1)) }, add(%i, 1i64))
    } else { %b }
  }
  def @main(%x: Tensor[(4, 1), float32]) { @loop(Box(%x), 0i64) })") ==
        "1 of Tensor[(4, ?), float32]");
}

}  // namespace
}  // namespace relayvm::ir

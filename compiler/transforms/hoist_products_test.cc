#include "compiler/transforms/hoist_products.h"

#include <fmt/format.h>

#include "compiler/transforms/dead_code.h"
#include "compiler/transforms/resolve_shapes.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

// How many products the main function has after the pass, and how many all others.
std::string Products(const std::string& text) {
  const Module typed = Typed(text);
  const Module before = Retyped(EliminateDeadCode(ResolveShapes(typed)));
  const Module m = EliminateDeadCode(Retyped(HoistProducts(before)));
  CHECK(TypeToString(m.functions.at("main")->result_type, false) ==
        TypeToString(typed.functions.at("main")->result_type, false));
  size_t outside = 0, inside = 0;
  for (const auto& [name, f] : m.functions) {
    const std::function<void(const Block&, bool)> visit = [&](const Block& block, bool is_main) {
      for (const Binding& b : block.bindings) {
        const auto* call = b.value->As<OpCall>();
        if (call != nullptr && (call->op->name == "nn.dense" || call->op->name == "nn.matmul"))
          ++(is_main ? outside : inside);
        const bool literal = b.value->As<FunctionExpr>() != nullptr;
        ForEachBlock(*b.value, [&](const Block& inner) { visit(inner, is_main && !literal); });
      }
    };
    visit(*f->body, name == "main");
  }
  return std::to_string(outside) + " outside, " + std::to_string(inside) + " inside";
}

struct Parts {
  std::string condition = "less(%i, %n)";
  std::string index = "%i";
  std::string next = "add(%i, 1)";
  std::string rows = "%xs", weight = "%w";  // of the next turn
  std::string length = R"(take(shape_of(%xs, dtype="int32"), 0, axis=0))";
  std::string product = "nn.dense(expand_dims(%x, axis=0), %w, units=4)";
};

std::string Loop(const Parts& p) {
  return "def @loop(%i: int32, %n: int32, %xs: Tensor[(?, 3), float32], %w: Tensor[(4, 3), "
         "float32], %sum: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] { if (" +
         p.condition + ") { let %x = take(%xs, " + p.index + ", axis=0); @loop(" + p.next +
         ", %n, " + p.rows + ", " + p.weight + ", add(%sum, " + p.product +
         ")) } else { %sum } } def @main(%xs: Tensor[(?, 3), float32], %w: Tensor[(4, 3), "
         "float32]) { @loop(0, " +
         p.length + ", %xs, %w, zeros(shape=[1, 4], dtype=\"float32\")) }";
}

constexpr char kHoisted[] = "1 outside, 0 inside";
constexpr char kKept[] = "0 outside, 1 inside";

TEST_CASE("a product of each row becomes one of all") {
  CHECK(Products(Loop({})) == kHoisted);
  CHECK(Products(Loop({.condition = "greater(%n, %i)", .next = "add(1, %i)"})) == kHoisted);
  CHECK(Products(Loop({.index = "reshape(%i, newshape=[1])",
                       .product = "nn.matmul(%x, %w, transpose_b=True)"})) == kHoisted);
}

TEST_CASE("not where some rows are read, or others") {
  // A row by what it holds, as an embedding is.
  CHECK(Products(Loop({.index = "cast(sum(%sum), dtype=\"int32\")"})) == kKept);
  // Every second one; the same one; a number of turns of its own.
  CHECK(Products(Loop({.next = "add(%i, 2)"})) == kKept);
  CHECK(Products(Loop({.index = "%n"})) == kKept);
  CHECK(Products(Loop({.length = "7"})) == kKept);
  CHECK(Products(Loop({.condition = "less(sum(%sum), 9f)"})) == kKept);
  // It may end before.
  CHECK(Products(Loop({.condition = "logical_and(less(sum(%sum), 9f), less(%i, %n))"})) == kKept);
  // Weights whose sizes are checked where they are used: a loop without turns does not.
  std::string open = Loop({});
  for (size_t at = open.find("(4, 3)"); at != std::string::npos; at = open.find("(4, 3)", at + 1))
    open.replace(at, 6, "(4, ?)");
  CHECK(Products(open) == kKept);
  // Other rows or weights in the next turn.
  CHECK(Products(Loop({.rows = "exp(%xs)"})) == kKept);
  CHECK(Products(Loop({.weight = "exp(%w)"})) == kKept);
}

TEST_CASE("not where a turn starts the loop") {
  CHECK(Products(R"(
    def @loop(%i: int32, %xs: Tensor[(9, 3), float32], %w: Tensor[(4, 3), float32], %s: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] {
      if (less(%i, 9)) {
        let %x = take(%xs, reshape(%i, newshape=[1]), axis=0);
        let %t = add(%s, nn.dense(%x, %w, units=4));
        if (greater(sum(%t), 1f)) { @again(add(%i, 1), %xs, %w, %t) } else { @loop(add(%i, 1), %xs, %w, %t) }
      } else { %s }
    }
    def @again(%i: int32, %xs: Tensor[(9, 3), float32], %w: Tensor[(4, 3), float32], %s: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] {
      if (less(%i, 4)) { @loop(%i, %xs, %w, %s) } else { @loop(add(%i, 1), %xs, %w, %s) }
    }
    def @main(%xs: Tensor[(9, 3), float32], %w: Tensor[(4, 3), float32]) {
      @loop(0, %xs, %w, zeros(shape=[1, 4], dtype="float32"))
    })") == kKept);
}

TEST_CASE("a loop that is a literal takes rows and weights from outside") {
  CHECK(Products(R"(def @main(%xs: Tensor[(?, 2, 3), float32], %w: Tensor[(4, 3), float32]) {
    let %n = take(shape_of(%xs, dtype="int64"), 0, axis=0);
    let %loop = fn (%i: int64, %s: Tensor[(2, 4), float32]) -> Tensor[(2, 4), float32] {
      if (greater_equal(%i, %n)) { %s } else {
        %loop(add(%i, 1i64), add(%s, nn.dense(take(%xs, %i, axis=0), %w, units=4)))
      }
    };
    %loop(0i64, zeros(shape=[2, 4], dtype="float32"))
  })") == kHoisted);
}

TEST_CASE("each of many loops, of which one starts the next, is looked at once") {
  std::string text = "def @f0(%n: int32) -> int32 { if (%n > 0) { @f0(%n - 1) } else { 0 } }\n";
  for (int i = 1; i < 2000; ++i) {
    text += fmt::format(
        "def @f{0}(%n: int32) -> int32 {{ if (%n > 0) {{ @f{0}(%n - 1) }} else {{ @f{1}(5) }} "
        "}}\n",
        i, i - 1);
  }
  CHECK(Products(text + "def @main(%n: int32) { @f1999(%n) }") == "0 outside, 0 inside");
}

}  // namespace
}  // namespace relayvm::ir

#include "compiler/transforms/products/hoist_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/resolve_shapes.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

// How many products there are after the pass of all rows, in the main function, or of a chunk of
// them, whose numbers are made beside; and how many others.
std::string Products(const std::string& text) {
  const Module typed = Typed(text);
  const Module before = Retyped(EliminateDeadCode(ResolveShapes(typed)));
  const Module m = EliminateDeadCode(Retyped(HoistProducts(before)));
  CHECK(TypeToString(m.functions.at("main")->result_type, false) ==
        TypeToString(typed.functions.at("main")->result_type, false));
  size_t outside = 0, inside = 0;
  for (const auto& [name, f] : m.functions) {
    const std::function<void(const Block&, bool)> visit = [&](const Block& block, bool is_main) {
      const auto is_op = [](const Binding& b, std::string_view op) {
        const auto* call = b.value->As<OpCall>();
        return call != nullptr && call->op->name == op;
      };
      const bool of_chunk =
          std::ranges::any_of(block.bindings, [&](const Binding& b) { return is_op(b, "arange"); });
      for (const Binding& b : block.bindings) {
        if (is_op(b, "nn.dense") || is_op(b, "nn.matmul"))
          ++(is_main || of_chunk ? outside : inside);
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

// Rows that are known to be few.
std::string Few(std::string text) {
  for (size_t at = text.find("(?, 3)"); at != std::string::npos; at = text.find("(?, 3)", at + 1))
    text.replace(at, 6, "(9, 3)");
  return text;
}

constexpr char kHoisted[] = "1 outside, 0 inside";
constexpr char kKept[] = "0 outside, 1 inside";

TEST_CASE("a product of each row becomes one of all") {
  CHECK(Products(Loop({})) == kHoisted);
  CHECK(Products(Loop({.condition = "greater(%n, %i)", .next = "add(1, %i)"})) == kHoisted);
  CHECK(Products(Loop({.index = "reshape(%i, newshape=[1])",
                       .product = "nn.matmul(%x, %w, transpose_b=True)"})) == kHoisted);
}

TEST_CASE("few rows are multiplied where the loop is started, others chunk by chunk") {
  const auto outline = [](const std::string& text) {
    const Module m = Retyped(EliminateDeadCode(ResolveShapes(Typed(text))));
    return Outline(EliminateDeadCode(Retyped(HoistProducts(m))), "loop");
  };
  CHECK(outline(Few(Loop({.length = "9"}))).find("arange") == std::string::npos);
  CHECK(Products(Few(Loop({.length = "9"}))) == kHoisted);
  CHECK(outline(Loop({})).find("arange") != std::string::npos);
}

TEST_CASE("not out of a loop that may end before all rows are read") {
  const std::string loop = Loop({});
  const std::string turn =
      loop.substr(loop.find("@loop(add("), loop.find(" } else { %sum }") - loop.find("@loop(add("));
  const auto with = [&](const std::string& rest) {
    std::string text = loop;
    return text.replace(text.find(turn), turn.size(), rest);
  };
  CHECK(Products(with(turn)) == kHoisted);
  CHECK(Products(with("if (less(sum(%sum), 9f)) { %sum } else { " + turn + " }")) ==
        "0 outside, 1 inside");
  // The product itself is always needed; what ends the loop comes behind it.
  CHECK(Products(with("let %p = " + Parts{}.product +
                      "; if (less(sum(%p), 9f)) { %p } else { "
                      "@loop(add(%i, 1), %n, %xs, %w, add(%sum, %p)) }")) == kKept);
  // Both ways go on.
  CHECK(Products(with("let %p = " + Parts{}.product +
                      "; if (less(sum(%p), 9f)) { "
                      "@loop(add(%i, 1), %n, %xs, %w, %sum) } else { "
                      "@loop(add(%i, 1), %n, %xs, %w, add(%sum, %p)) }")) == kHoisted);
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

// Formulas of rules: what attributes and conditions are computed from.
#include <fmt/format.h>

#include "compiler/frontend/rules.h"
#include "compiler/rules/formula.h"
#include "compiler/rules/rules.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/testing.h"

namespace relayvm::rules {
namespace {

const std::string kProgram =
    "def @main(%x: Tensor[(?, 4, 6), float32]) { transpose(%x, axes=[2, 0, 1]) }";

// Whether transpose(%x, axes=$p) matches under a condition, or why not.
std::string Under(const std::string& condition, const std::string& program = kProgram) {
  auto rules = ReadRules("test.rules",
                         "rule @r(%x) {\n  transpose(%x, axes=$p) if " + condition + " => %x\n}");
  if (!rules.ok()) return rules.status().message();
  Report report;
  // The replacement's type differs: what is looked at is why.
  auto m =
      ApplyRules(ir::EliminateDeadCode(ir::Typed(program)), **rules, {.explain = true}, &report);
  REQUIRE_MESSAGE(m.ok(), m.status().message());
  if (report.misses.empty()) return "applied";
  const std::string& miss = report.misses[0];
  return miss.substr(miss.find("not applied: ") + 13);
}
const std::string kHeld = "the replacement's type: expected";

bool Holds(const std::string& condition) {
  const std::string why = Under(condition);
  const bool holds = why.starts_with(kHeld);
  if (!holds) CHECK_MESSAGE(why.find(" does not hold") != std::string::npos, why);
  return holds;
}

// Whether add(%x, %b) matches under a condition.
bool IsAdded(const std::string& b, const std::string& condition) {
  const auto rules = ReadRules(
      "test.rules", "rule @r(%x, %b) { add(%x, %b) if " + condition + " => add(%b, %x) }");
  REQUIRE_MESSAGE(rules.ok(), rules.status().message());
  Report report;
  // It goes on for ever where it matches.
  return !ApplyRules(
              ir::Typed("def @main(%x: Tensor[(?, 4, 6), float32], " + b + ") { add(%x, %b) }"),
              **rules, {}, &report)
              .ok() ||
         !report.applied.empty();
}

TEST_CASE("functions of attributes and types") {
  for (const char* condition : {"$p == [2, 0, 1]",
                                "$p[0] == 2",
                                "$p[-1] == 1",
                                "$p[[1, 2, 0]] == [0, 1, 2]",
                                "is_identity($p[[1, 2, 0]])",
                                "size($p) == 3",
                                "size($p) + 2 * 3 - 1 == 8",
                                "(size($p) + 2) * 3 == 15",
                                "[$p[0], 7] == [2, 7]",
                                "$p + [1, 1, 1] == [3, 1, 2]",
                                "max($p[0], 5) == 5 and min($p[0], 5) == 2",
                                "rank(%x) == 3",
                                "dim(%x, 1) == 4",
                                "dim(%x, -1) == 6",
                                "dim(%x, 0) == dim(%x, 0)",
                                "dim(%x, 1) != dim(%x, 2)",
                                "dtype(%x) == \"float32\"",
                                "holds(\"float64\", dtype(%x))",
                                "is_constant(%x) == False",
                                "axis(-1, %x) == 2",
                                "broadcast_axes(%x, %x) == [0, 1, 2]",
                                "least($p) == 0 and greatest($p) == 2",
                                "least(3) == 3",
                                "is_in($p, [[0, 1, 2], [2, 0, 1]])",
                                "is_in(dtype(%x), [\"bfloat16\", \"float32\"])",
                                "order($p, %x) == $p",
                                "order(None, %x) == [2, 1, 0]",
                                "$p < 3",
                                "1.5 + $p[0] == 3.5"}) {
    CAPTURE(std::string(condition));
    CHECK(Holds(condition));
  }
  // What is not known does not hold, either way.
  for (const char* condition :
       {"$p == [0, 1, 2]", "is_identity($p)", "dim(%x, 0) == 4", "dim(%x, 0) != 4",
        "dim(%x, 0) < 4", "holds(\"float16\", dtype(%x))", "is_constant(%x)", "$p < 2",
        "rank(%x) == 3 and rank(%x) == 4", "$p == None", "is_in(rank(%x), [1, 2, 4])",
        "is_in(None, [])"}) {
    CAPTURE(std::string(condition));
    CHECK_FALSE(Holds(condition));
  }
}

TEST_CASE("formulas without a value say which part has none") {
  CHECK(Under("$p[3] == 0") == "$p[3] has no value here");
  CHECK(Under("dim(%x, 3) == 0") == "dim(%x, 3) has no value here");
  CHECK(Under("$p + 1 == 0") == "$p + 1 has no value here");
  CHECK(Under("$p + [1] == 0") == "$p + [1] has no value here");
  CHECK(Under("size(rank(%x)) == 1") == "size(rank(%x)) has no value here");
  CHECK(Under("least([]) == 0") == "least([]) has no value here");
  CHECK(Under("greatest([1, \"a\"]) == 1") == "greatest([1, \"a\"]) has no value here");
  CHECK(Under("magnitude(%x, 0) == 1") == "magnitude(%x, 0) has no value here");
  CHECK(Under("is_in(3, rank(%x))") == "is_in(3, rank(%x)) has no value here");
  CHECK(Under("axis(3, %x) == 3") == "axis(3, %x) has no value here");
  CHECK(Under("holds(\"float65\", dtype(%x))") ==
        "holds(\"float65\", dtype(%x)) has no value here");
  CHECK(Under("size($p)") == "size($p) does not hold: $p is [2, 0, 1]");
}

TEST_CASE("axes along which a value has other elements than where it is broadcast") {
  // Whether the second operand has them along these axes.
  const auto along = [](const std::string& b, const std::string& axes) {
    return IsAdded("%b: Tensor[" + b + ", float32]", "broadcast_axes(%b, %x) == " + axes);
  };
  CHECK(along("(4, 1)", "[1]"));
  CHECK(along("(1, 4, 1)", "[1]"));
  CHECK(along("(6)", "[2]"));
  CHECK(along("(1, 1)", "[]"));
  CHECK(along("()", "[]"));
  CHECK(along("(4, 6)", "[1, 2]"));
  CHECK_FALSE(along("(4, 6)", "[1]"));
  CHECK_FALSE(along("(1, 2, 4, 6)", "[1]"));  // it is not broadcast to the other's shape
  CHECK_FALSE(along("(?, 4, 1)", "[1]"));     // whose first dim is another one
}

TEST_CASE("the magnitude of a constant's elements at a place of an axis") {
  const auto of = [](const std::string& dtype, const std::string& condition) {
    const auto rules = ReadRules("test.rules", "rule @r(%x, %w) { left_shift(%x, %w) if " +
                                                   condition + " => right_shift(%x, %w) }");
    REQUIRE_MESSAGE(rules.ok(), rules.status().message());
    const ir::Module m = ir::EliminateDeadCode(ir::FoldConstants(
        ir::Typed("def @main(%x: Tensor[(2, 3), " + dtype +
                  "]) { left_shift(%x, cast(reshape("
                  "arange(0, 6, 1, start=0, stop=6, step=1, dtype=\"int32\"), newshape=[2, 3]) - "
                  "3, dtype=\"" +
                  dtype + "\")) }")));
    Report report;
    CHECK(ApplyRules(m, **rules, {}, &report).ok());
    return !report.applied.empty();
  };
  // -3 -2 -1 / 0 1 2
  CHECK(of("int8", "magnitude(%w, 0) == 6"));
  CHECK(of("int8", "magnitude(%w, 1) == 3"));
  CHECK(of("int8", "magnitude(%w, -1) == 3"));
  CHECK(of("uint8", "magnitude(%w, 1) == 257"));  // 253 254 255 0 1 2
  CHECK_FALSE(of("int32", "magnitude(%w, 0) == 6"));
}

TEST_CASE("the same name twice is the same value") {
  const auto applied = [](const std::string& body) {
    Report report;
    const auto rules = ReadRules(
        "test.rules", "rule @r(%x) { abs(reverse(reverse(%x, axis=$a), axis=$a)) => abs(%x) }");
    REQUIRE_MESSAGE(rules.ok(), rules.status().message());
    const auto m = ApplyRules(
        ir::EliminateDeadCode(ir::Typed("def @main(%x: Tensor[(2, 2), float32]) { " + body + " }")),
        **rules, {.explain = true}, &report);
    REQUIRE(m.ok());
    return report.applied.empty() ? report.misses.at(0) : "applied";
  };
  CHECK(applied("abs(reverse(reverse(%x, axis=1), axis=1))") == "applied");
  CHECK(applied("abs(reverse(reverse(%x, axis=0), axis=1))")
            .find("reverse: attribute axis: expected = 1, found 0") != std::string::npos);
}

TEST_CASE("what is wrong is said at its place when a file is read") {
  const auto error = [](const std::string& rule) {
    auto rules = ReadRules("test.rules", "rule @r(%x, %y) {\n  " + rule + "\n}");
    return rules.ok() ? "none" : rules.status().message();
  };
  const auto says = [&](const std::string& rule, const std::string& part) {
    const std::string message = error(rule);
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
  };
  says("abs(%x) if $a == 1 => abs(%x)",
       "test.rules:2:14: rule @r: no attribute of each pattern is called $a");
  says("take(%x, %y, axis=$a) or abs(add(%x, %y)) => take(%x, %y, axis=$a)",
       "no attribute of each pattern is called $a");
  says("take(%x, %y, axis=$a + 1) => %x",
       "a pattern gives an attribute a name: expected $name, found $a + 1; compare after the "
       "pattern: "
       "if $name == $a + 1");
  says("abs(%x) if rnak(%x) == 1 => %x",
       "there is no function rnak of attributes: expected one of axis, broadcast_axes, dim, dtype, "
       "greatest, holds");
  says("abs(%x) if rank(%x, 1) == 1 => %x", "rank: expected 1 arguments, found 2");
  says("abs(%x) if rank(3) == 1 => %x", "rank: expected a hole of each pattern, found 3");
  says("abs(%x) if rank(%y) == 1 => %x", "rank: expected a hole of each pattern, found %y");
  says("abs(%x) if %x == 1 => %x", "%x is a value: expected a number or a list, as rank(%x) is");
  says("abs(%x) if => %x", "expected");
  says("abs(%x) if rank(%x) == 1 or => %x", "expected");
  says("take(%x, %y, axis=$a) if $a == 1 take(%x, %y) => %x",
       "'=>' and the replacement, 'and' and a condition, or 'or' and another pattern");
  says("take(%x, %y, axes=$a) => %x", "take: there is no attribute axes");
  says("take(%x, %y, axis > $a) => %x", "compare formulas after the pattern");
  says("take(%x, %y, axis=$a) => tanh(cast(%x, dtype=$a, missing=$a))",
       "cast: there is no attribute missing");
  std::string sum = "1";
  for (int i = 0; i < 100000; ++i) sum += " + 1";
  says("abs(%x) if " + sum + " == 1 => %x", "operators in a row at most");
  says("abs(%x) if " + std::string(100000, '[') + std::string(100000, ']') + " == 1 => %x", "nest");
}

TEST_CASE("a replacement whose formula gives what the operator does not take is not applied") {
  const auto rules = ReadRules(
      "test.rules", "rule @r(%x) { transpose(%x, axes=$p) => transpose(%x, axes=$p + $p) }");
  REQUIRE_MESSAGE(rules.ok(), rules.status().message());
  Report report;
  const auto m =
      ApplyRules(ir::EliminateDeadCode(ir::Typed(kProgram)), **rules, {.explain = true}, &report);
  REQUIRE(m.ok());
  CHECK(report.applied.empty());
  REQUIRE(report.misses.size() == 1);
  CHECK_MESSAGE(report.misses[0].find("the replacement: ") != std::string::npos, report.misses[0]);
}

}  // namespace
}  // namespace relayvm::rules

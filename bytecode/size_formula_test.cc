#include "bytecode/size_formula.h"

#include <doctest/doctest.h>

#include <limits>

namespace relayvm {
namespace {

using Kind = SizeStep::Kind;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// An expression over the symbols 0, 1, .. as a formula over scalars of the same numbers.
SizeFormula FormulaOf(const Dim& dim) {
  SizeFormula formula;
  auto scalar_of = [](const Dim& s) { return static_cast<int64_t>(s.symbol_id()); };
  REQUIRE(AppendSize(dim, scalar_of, &formula).ok());
  REQUIRE(CheckSizeFormula(formula, 2, /*shape=*/false).ok());
  return formula;
}

TEST_CASE("size formula: has the text and the value of the expression that it is made of") {
  const Dim n = Dim::Symbol(0, "n"), m = Dim::Symbol(1, "m");
  struct Case {
    Dim dim;
    std::string text;
    std::optional<int64_t> value;  // with n = 10 and m = 3
  };
  for (const Case& c :
       std::vector<Case>{{7, "7", 7},
                         {n, "s0", 10},
                         {n * 8 + 5, "s0*8 + 5", 85},
                         {n - m - 1, "s0 - s1 - 1", 6},
                         {Dim(0) - n, "s0*-1", -10},
                         {Dim::FloorDiv(n + 63, 64), "floordiv(s0 + 63, 64)", 1},
                         {Dim::FloorMod(n, m), "floormod(s0, s1)", 1},
                         {Dim::Min(n, m) * n, "s0*min(s0, s1)", 30},
                         {Dim::Max(n, 12), "max(12, s0)", 12},
                         {n * kMost, "s0*9223372036854775807", std::nullopt},
                         {Dim::FloorDiv(n, m - 3), "floordiv(s0, s1 - 3)", std::nullopt}}) {
    CAPTURE(c.text);
    const SizeFormula formula = FormulaOf(c.dim);
    CHECK(SizeFormulaToString(formula) == c.text);
    const int64_t scalars[] = {10, 3};
    CHECK(EvaluateSize(formula, scalars) == c.value);
    const Dim symbols[] = {n, m};
    const auto again = EvaluateDims(formula, symbols);
    REQUIRE(again.has_value());
    CHECK((*again)[0] == c.dim);
  }
}

TEST_CASE("size formula: arithmetic at the ends of int64 has no value, and never wraps") {
  struct Case {
    Kind kind;
    int64_t a, b;
    std::optional<int64_t> value;
  };
  for (const Case& c :
       {Case{Kind::kAdd, kMost, 1, std::nullopt}, Case{Kind::kSub, kLeast, 1, std::nullopt},
        Case{Kind::kMul, int64_t{1} << 32, int64_t{1} << 31, std::nullopt},
        Case{Kind::kFloorDiv, kLeast, -1, std::nullopt}, Case{Kind::kFloorDiv, 1, 0, std::nullopt},
        Case{Kind::kFloorMod, 1, 0, std::nullopt}, Case{Kind::kFloorMod, kLeast, -1, 0},
        Case{Kind::kFloorDiv, -7, 2, -4}, Case{Kind::kFloorMod, -7, 2, 1},
        Case{Kind::kFloorMod, 7, -2, -1}, Case{Kind::kMin, kLeast, 0, kLeast},
        Case{Kind::kMax, kLeast, 0, 0}}) {
    const SizeFormula formula = {{Kind::kConst, c.a}, {Kind::kConst, c.b}, {c.kind}};
    CAPTURE(SizeFormulaToString(formula));
    CHECK(EvaluateSize(formula, nullptr) == c.value);
    CHECK(ConstantSize(formula) == c.value);
  }
}

TEST_CASE("size formula: a shape gives its elements; none where a dim is negative") {
  const SizeFormula shape = {{Kind::kScalar, 0}, {Kind::kDim}, {Kind::kScalar, 1}, {Kind::kDim}};
  auto elements = [&](int64_t a, int64_t b) {
    const int64_t scalars[] = {a, b};
    return EvaluateSize(shape, scalars);
  };
  CHECK(SizeFormulaToString(shape) == "s0, s1");
  CHECK(elements(3, 4) == 12);
  CHECK(elements(0, 4) == 0);
  CHECK(elements(-3, -4) == std::nullopt);
  CHECK(elements(int64_t{1} << 62, 4) == std::nullopt);
  CHECK(EvaluateSize({}, nullptr) == 1);
  CHECK(ConstantSize(shape) == std::nullopt);
}

TEST_CASE("size formula: what is none is refused") {
  struct Case {
    SizeFormula formula;
    bool shape;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {{}, false, "a size ends early"},
           {{{Kind::kScalar, 2}}, false, "a size of scalar 2, out of range 2"},
           {{{Kind::kScalar, -1}}, false, "a size of scalar 18446744073709551615, out of range 2"},
           {{{Kind::kConst, 1}, {Kind::kAdd}}, false, "a size has step 2 where it has no meaning"},
           {{{Kind::kConst, 1}, {Kind::kDim}}, false, "a size has step 9 where it has no meaning"},
           {{{Kind::kDim}}, true, "a size has step 9 where it has no meaning"},
           {{{Kind::kConst, 1}}, true, "a size ends early"},
           {{{static_cast<Kind>(77), 1}}, true, "a size has step 77 where it has no meaning"},
           {SizeFormula(200, {Kind::kConst, 1}), false, "a size nests deeper than 128"},
           {SizeFormula(2000, {Kind::kConst, 1}), false,
            "a size of 2000 steps, the limit is 1024"}}) {
    CAPTURE(c.message);
    const Status status = CheckSizeFormula(c.formula, 2, c.shape);
    CHECK(status.message() == c.message);
  }
}

}  // namespace
}  // namespace relayvm

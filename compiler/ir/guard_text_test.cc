#include "compiler/ir/guard_text.h"

#include <doctest/doctest.h>

namespace relayvm::ir {
namespace {

const Dim kN = Dim::Symbol(1, "n");
const Dim kM = Dim::Symbol(2, "m");

GuardText Text(Guard::Kind kind, const Dim& left, const Dim& right) {
  return TextOf({kind, left, right, "op: the size"});
}

TEST_CASE("a failed guard shows the numbers, products as such") {
  GuardText equal = Text(Guard::Kind::kEqual, kN * kM, kN * Dim(8));
  CHECK(equal.text == "op: the size: {0} x {1} does not equal {2}");
  CHECK(equal.values == std::vector<Dim>{kN, kM, kN * Dim(8)});
  CHECK(Text(Guard::Kind::kEqual, kN, 3).text == "op: the size: {0} does not equal 3");
  CHECK(Text(Guard::Kind::kEqual, kN, kN * kM).text ==
        "op: the size: {0} does not equal {0} x {1}");
  CHECK(Text(Guard::Kind::kAtLeast, kN - kM, 0).text == "op: the size: {0} is negative");
  CHECK(Text(Guard::Kind::kAtLeast, kN, kM).text ==
        "op: the size: expected at least {1}, found {0}");
  CHECK(Text(Guard::Kind::kAtLeast, 4, kM).text == "op: the size: expected at most 4, found {0}");
  CHECK(Text(Guard::Kind::kBroadcastable, kN, kM).text ==
        "op: the size: {0} and {1} do not broadcast");
  CHECK(TextOf({Guard::Kind::kEqual, kN, 1, "%{0}"}).text == "%{{0}: {0} does not equal 1");
}

TEST_CASE("a long formula is cut to its value") {
  Dim product(1);
  for (uint32_t i = 0; i < 9; ++i) product = product * Dim::Symbol(i, "s");
  CHECK(Text(Guard::Kind::kEqual, product, kN).text == "op: the size: {0} does not equal {1}");
  CHECK(Text(Guard::Kind::kEqual, Dim::Max(kN, kM), 2).text ==
        "op: the size: {0} does not equal 2");
}

}  // namespace
}  // namespace relayvm::ir

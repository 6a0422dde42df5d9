#include "bytecode/base/dim.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace relayvm {
namespace {

const Dim n = Dim::Symbol(1, "n");
const Dim m = Dim::Symbol(2, "m");
const Dim k = Dim::Symbol(3, "k", /*nonnegative=*/false);

Dim Div(const Dim& a, const Dim& b) { return Dim::FloorDiv(a, b); }
Dim Mod(const Dim& a, const Dim& b) { return Dim::FloorMod(a, b); }

TEST_CASE("equal expressions have one form") {
  struct Row {
    Dim left, right;
    const char* text;
  };
  const Row rows[] = {
      {n + m, m + n, "n + m"},
      {n + n, n * 2, "n*2"},
      {(n + 1) * 2, n * 2 + 2, "n*2 + 2"},
      {n - Dim::Symbol(n.symbol_id(), "n"), 0, "0"},
      {(n + m) * (n - m), n * n - m * m, "n*n - m*m"},
      {n * 4 - 1, Dim(-1) + n * 4, "n*4 - 1"},
      {Dim(0) - n, n * -1, "-n"},
      {m - n, Dim(0) - (n - m), "m - n"},
      {Dim(0) - n * m * 3, n * m * -3, "-n*m*3"},
      {n * 0, 0, "0"},
      // Division.
      {Div(n * 4, 4), n, "n"},
      {Div(n * 4 + 3, 4), n, "n"},
      {Div(n * m, m), n, "n"},
      {Div(n + 6, 2), Div(n, 2) + 3, "floordiv(n, 2) + 3"},
      {Div(n - 1, 2), Div(n + 1, 2) - 1, "floordiv(n + 1, 2) - 1"},
      {Div(n * 3, 2), Div(n, 2) + n, "n + floordiv(n, 2)"},
      {Div(n * 2, 4), Div(n, 2), "floordiv(n, 2)"},
      {Div(n * 6 + 3, 4), n + Div(n * 2 + 3, 4), "n + floordiv(n + 1, 2)"},
      {Div(Div(n, 2), 2), Div(n, 4), "floordiv(n, 4)"},
      {Div(Div(n - 1, 2), 2), Div(n - 1, 4), "floordiv(n + 3, 4) - 1"},
      {Div(n, n), 1, "1"},
      {Dim::CeilDiv(n * 8, 8), n, "n"},
      {Dim::CeilDiv(n, 8), Div(n + 7, 8), "floordiv(n + 7, 8)"},
      {Dim::CeilDiv(n + 5, INT64_MAX), Div(n + 4, INT64_MAX) + 1,
       "floordiv(n + 4, 9223372036854775807) + 1"},
      {Div(n - m, int64_t{1} << 40), Div(n - m, int64_t{1} << 40),
       "floordiv(n - m, 1099511627776)"},
      {Div(m * ((int64_t{1} << 40) - 1), int64_t{1} << 40), m + Div(0 - m, int64_t{1} << 40),
       "m + floordiv(-m, 1099511627776)"},
      {Mod(n * 4, 4), 0, "0"},
      {Mod(n * 4 + 3, 4), 3, "3"},
      {Mod(n + 8, 4), Mod(n, 4), "floormod(n, 4)"},
      {Mod(n * 5 - 1, 4), Mod(n + 3, 4), "floormod(n + 3, 4)"},
      {Mod(n, n), 0, "0"},
      // Minimum and maximum drop what is dominated.
      {Dim::Max(n, 0), n, "n"},
      {Dim::Max(k, 0), Dim::Max(0, k), "max(0, k)"},
      {Dim::Min(n, n + 1), n, "n"},
      {Dim::Max(n, Dim::Max(m, n + 2)), Dim::Max(n + 2, m), "max(m, n + 2)"},
      {Dim::Min(Dim::Min(3, n), 5), Dim::Min(n, 3), "min(3, n)"},
      {Dim::Max(n, n), n, "n"},
  };
  for (const Row& r : rows) {
    INFO(r.text);
    CHECK(r.left == r.right);
    CHECK(Dim::Compare(r.left, r.right) == 0);
    CHECK(r.left.Hash() == r.right.Hash());
    CHECK(r.left.ToString() == r.text);
  }
}

TEST_CASE("Any absorbs") {
  CHECK((Dim::Any() + 1).is_any());
  CHECK((n * Dim::Any()).is_any());
  CHECK((Dim::Any() * 0).is_const(0));
  CHECK(Div(Dim::Any(), 2).is_any());
  CHECK(Dim::Min(Dim::Any(), n).is_any());
  CHECK(Dim::Any() == Dim::Any());
  CHECK_FALSE(Dim::ProvablyDifferent(Dim::Any(), 3));
  CHECK(Dim::Any().ContainsAny());
  CHECK_FALSE((n + 1).ContainsAny());
}

TEST_CASE("a symbol is its id") {
  CHECK(n == Dim::Symbol(1, "other name"));
  CHECK_FALSE(n == Dim::Symbol(4, "n"));
}

TEST_CASE("bounds") {
  struct Row {
    Dim d;
    std::optional<int64_t> low, high;
  };
  const Row rows[] = {
      {5, 5, 5},
      {n, 0, std::nullopt},
      {k, std::nullopt, std::nullopt},
      {n + 3, 3, std::nullopt},
      {Dim(3) - n, std::nullopt, 3},
      {n * m * 2 + 1, 1, std::nullopt},
      {n * k, std::nullopt, std::nullopt},
      {Div(n, 3), 0, std::nullopt},
      {Div(n - 5, 3), -2, std::nullopt},
      {Mod(n, 3), 0, 2},
      {Mod(k, 3), 0, 2},
      {Dim::Min(n, 7), 0, 7},
      {Dim::Max(k, 7), 7, std::nullopt},
      {Dim::Min(k, n), std::nullopt, std::nullopt},
      {Dim::Min(n, 1) * m, 0, std::nullopt},
  };
  for (const Row& r : rows) {
    INFO(r.d.ToString());
    CHECK(r.d.LowerBound() == r.low);
    CHECK(r.d.UpperBound() == r.high);
  }
}

TEST_CASE("what cannot be equal") {
  CHECK(Dim::ProvablyDifferent(3, 4));
  CHECK(Dim::ProvablyDifferent(n, n + 1));
  CHECK(Dim::ProvablyDifferent(n + 1, 0));
  CHECK(Dim::ProvablyDifferent(n * 4, m * 6 + 1));
  CHECK(Dim::ProvablyDifferent(n * 2, k * 2 + 3));
  CHECK_FALSE(Dim::ProvablyDifferent(n, m));
  CHECK_FALSE(Dim::ProvablyDifferent(n, 0));
  CHECK_FALSE(Dim::ProvablyDifferent(n * 4, m * 6 + 2));
  CHECK_FALSE(Dim::ProvablyDifferent(n, n));
}

TEST_CASE("what does not fit 64 bits stays as it was asked for, and proves nothing") {
  const int64_t big = int64_t{1} << 62;
  const std::pair<Dim, std::string> rows[] = {
      {Dim(big) * 4, "4*4611686018427387904"},
      {Dim(big) * -4, "-4*4611686018427387904"},
      {Dim(-big) * -4, "4*4611686018427387904"},
      {Dim(INT64_MIN) * -1, "-1*-9223372036854775808"},
      {Dim(INT64_MIN) * INT64_MIN, "-9223372036854775808*-9223372036854775808"},
      {Dim(big) + big, "4611686018427387904 + 4611686018427387904"},
      {Dim(INT64_MIN) - 1, "-9223372036854775808 - 1"},
      {Dim(0) - INT64_MIN, "0 + -1*-9223372036854775808"},
      {n * big * 4, "4*n*4611686018427387904"},
      {n * big * -4, "-4*n*4611686018427387904"},
      {n * big + n * big + m, "m + n*4611686018427387904 + n*4611686018427387904"},
      {(n + INT64_MAX) + (m + 1), "n + 9223372036854775807 + m + 1"},
      {(n + big) * 4, "4*(n + 4611686018427387904)"},
      {Div(INT64_MIN, -1), "floordiv(-9223372036854775808, -1)"},
      {Div(n * INT64_MIN, -1), "floordiv(n*-9223372036854775808, -1)"},
  };
  auto two = [](uint32_t) -> std::optional<int64_t> { return 2; };
  for (const auto& [d, text] : rows) {
    CAPTURE(text);
    CHECK(d.ToString() == text);
    CHECK_FALSE(d.is_const());
    CHECK_FALSE(d.Evaluate(two).has_value());
    CHECK(d == d);
    CHECK((d - d).is_const(0));
    CHECK(Dim::Max(d, d) == d);
    CHECK((d * 0).is_const(0));
    CHECK((d + n) - n == d);
    CHECK(d.Substitute([](const Dim&) { return std::nullopt; }) == d);
    for (const auto& [other, other_text] : rows) CHECK((d == other) == (text == other_text));
    // What the machine's numbers end at is another number.
    for (const Dim& end : {Dim(INT64_MAX), Dim(INT64_MIN), n * INT64_MAX, n + INT64_MAX}) {
      CHECK_FALSE(d == end);
      CHECK_FALSE(end == d);
    }
  }
  // Of these two, m + K and m + K + 1 times c, the second is larger by c.
  const Dim less = (n + (int64_t{1} << 47)) * 65536, more = (n + (int64_t{1} << 47) + 1) * 65536;
  CHECK_FALSE(less == more);
  CHECK_FALSE(Dim::Min(less, more) == less);
  // Smaller ones are taken apart again.
  auto is_3 = [](const Dim&) { return std::optional(Dim(3)); };
  CHECK(((n - 1) * (big / 2)).Substitute(is_3) == Dim(big));
  CHECK((n + INT64_MAX + m - 6).Substitute(is_3).is_const(INT64_MAX));
  CHECK_FALSE((Dim::Max(n, big) * Dim::Max(m, big)).LowerBound().has_value());
  CHECK_FALSE((Dim(big) * 4).LowerBound().has_value());
  CHECK((n * big * 4).LowerBound() == 0);
  CHECK_FALSE(Dim::ProvablyDifferent(n * INT64_MIN, m * INT64_MIN - INT64_MIN));
  CHECK((Dim(INT64_MIN) - INT64_MIN).is_const(0));
  CHECK(Mod(INT64_MIN, -1).is_const(0));
}

TEST_CASE("quotients and remainders that fit are exact") {
  auto at = [](int64_t value) {
    return [value](uint32_t) -> std::optional<int64_t> { return value; };
  };
  // A quotient that fits is exact, though a sum on the way to it is not.
  CHECK(Dim::CeilDiv(3, INT64_MAX).is_const(1));
  CHECK(Dim::CeilDiv(0, INT64_MAX).is_const(0));
  CHECK(Dim::CeilDiv(INT64_MAX, 2).is_const(int64_t{1} << 62));
  CHECK(Dim::CeilDiv(INT64_MAX, INT64_MAX).is_const(1));
  CHECK(Dim::CeilDiv(INT64_MIN, INT64_MAX).is_const(-1));
  CHECK(Dim::CeilDiv(INT64_MIN, 1).is_const(INT64_MIN));
  // A quotient times its divisor may not fit where the remainder does.
  CHECK(Mod(k, 3).Evaluate(at(INT64_MIN)) == 1);
  CHECK_FALSE(Mod(k, m).Evaluate(at(0)).has_value());
}

TEST_CASE("an expression at the edge of the range equals itself") {
  for (const Dim& d : {n + INT64_MIN, n + INT64_MAX, n * INT64_MIN, k * INT64_MIN + INT64_MIN,
                       Div(k, INT64_MIN), Mod(k, INT64_MIN), Dim::Max(k, INT64_MIN)}) {
    INFO(d.ToString());
    CHECK((d - d).is_const(0));
    CHECK(Dim::Max(d, d) == d);
    CHECK(Dim::Min(d, d) == d);
    CHECK_FALSE(Dim::ProvablyDifferent(d, d));
  }
}

TEST_CASE("minimum and maximum do not depend on the order of operands") {
  std::vector<Dim> operands = {n, m, n + 1, m * 2, Dim(4), k, Dim::Min(n, m), Mod(k, 4) + 1};
  const Dim least = Dim::Min(Dim::Min(n, m), Dim::Min(k, Mod(k, 4) + 1));
  auto less = [](const Dim& a, const Dim& b) { return a < b; };
  std::sort(operands.begin(), operands.end(), less);
  std::optional<Dim> most;
  std::mt19937 random(1);
  for (int order = 0; order < 200; ++order) {
    std::shuffle(operands.begin(), operands.end(), random);
    Dim low = operands[0];
    Dim high = operands[0];
    for (const Dim& d : operands) {
      low = Dim::Min(low, d);
      high = Dim::Max(high, d);
    }
    if (!most) most = high;
    CHECK(low == least);
    CHECK(high == *most);
    CHECK(high.operands().size() >= 2);
  }
}

TEST_CASE("division by zero stays an expression") {
  Dim d = Div(n, 0);
  CHECK(d.ToString() == "floordiv(n, 0)");
  CHECK(Div(6, 0).ToString() == "floordiv(6, 0)");
  CHECK(Mod(6, 0).ToString() == "floormod(6, 0)");
  CHECK_FALSE(Div(6, 0).Evaluate([](uint32_t) { return 1; }).has_value());
  CHECK(Div(0, 0).ToString() == "floordiv(0, 0)");
  CHECK(Mod(0, 0).ToString() == "floormod(0, 0)");
}

TEST_CASE("large products are not multiplied out") {
  Dim sum = 1;
  for (uint32_t i = 0; i < 12; ++i) sum = sum + Dim::Symbol(100 + i, "s");
  Dim product = 1;
  for (int i = 0; i < 6; ++i) product = product * sum;
  CHECK(product.ToString().size() < 2'000);
  auto two = [](uint32_t) -> std::optional<int64_t> { return 2; };
  CHECK(product.Evaluate(two) == int64_t{25} * 25 * 25 * 25 * 25 * 25);
  CHECK(product * sum == sum * product);
}

TEST_CASE("what never differs from an operand is that operand") {
  const Dim first = Dim::Min(n, 512);  // of a table of 512 positions, the first n
  CHECK(Dim::Max(n, first) == n);
  CHECK(Dim::Min(n, Dim::Max(m, n)) == n);
  CHECK(Dim::Min(1, n) * n == n);
  CHECK(Dim::Min(1, Dim::Min(n, m)) * n * m == n * m);
  CHECK(Dim::Min(Dim(1), Dim::Min(n, first)) * Dim::Max(n, first) == n);
  // Neither holds for numbers that may be negative, nor for another factor.
  const Dim any = Dim::Symbol(90, "any", /*nonnegative=*/false);
  CHECK(Dim::Min(1, any) * any != any);
  CHECK(Dim::Min(1, n) * m != m);
  CHECK(Dim::Min(1, Dim::Min(n, m)) * n != n);
  CHECK(Dim::Min(2, n) * n != n);
}

TEST_CASE("substitution re-canonicalises") {
  auto n_is = [](const Dim& value) {
    return [value](const Dim& s) { return s == n ? std::optional(value) : std::nullopt; };
  };
  CHECK((n * 2 + m).Substitute(n_is(m)) == m * 3);
  CHECK(Div(n, 4).Substitute(n_is(m * 8)) == m * 2);
  CHECK(Dim::Max(n, m).Substitute(n_is(m + 1)) == m + 1);
  CHECK(Mod(n, 4).Substitute(n_is(7)).is_const(3));
  CHECK(n.Substitute(n_is(Dim::Any())).is_any());
}

TEST_CASE("each symbol is visited once") {
  std::string seen;
  (n * m + Div(n, m) + k).ForEachSymbol([&](const Dim& s) { seen += s.symbol_name(); });
  CHECK(seen.size() == 3);
}

TEST_CASE("Evaluate refuses overflow and unknown symbols") {
  auto big = [](uint32_t) -> std::optional<int64_t> { return INT64_MAX; };
  CHECK_FALSE((n + 1).Evaluate(big).has_value());
  CHECK_FALSE((n * 2).Evaluate(big).has_value());
  CHECK_FALSE(n.Evaluate([](uint32_t) { return std::nullopt; }).has_value());
}

TEST_CASE("products and shapes") {
  const Dim shape[] = {2, n, 3};
  CHECK(ProductOf(shape) == n * 6);
  CHECK(ProductOf({}).is_const(1));
  CHECK(ShapeToString(shape) == "(2, n, 3)");
  CHECK(ShapeToString({}) == "()");
}

// A random expression next to the plain evaluation of what was asked for.
struct Sample {
  Dim dim;
  std::function<std::optional<int64_t>(const int64_t*)> value;
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Sample Make(int depth) {
    if (depth == 0 || Pick(5) == 0) return Leaf();
    Sample a = Make(depth - 1);
    int kind = Pick(8);
    if (kind == 7) {  // wraps or not
      int64_t c = Pick(2) == 0 ? 1 : int64_t{1} << 30;
      auto f = a.value;
      return {Dim::Int32(a.dim * c), [f, c](const int64_t* s) -> std::optional<int64_t> {
                auto x = f(s);
                if (!x || std::abs(*x) > int64_t{1} << 32) return std::nullopt;
                return static_cast<int32_t>(*x * c);
              }};
    }
    if (kind >= 5) {  // by a positive constant: no other division is decided
      int64_t c = 1 + Pick(6);
      auto f = a.value;
      bool div = kind == 5;
      return {div ? Div(a.dim, c) : Mod(a.dim, c),
              [f, c, div](const int64_t* s) -> std::optional<int64_t> {
                auto x = f(s);
                if (!x) return x;
                int64_t q = *x / c - (*x % c < 0 ? 1 : 0);
                return div ? q : *x - q * c;
              }};
    }
    Sample b = Make(depth - 1);
    auto f = a.value;
    auto g = b.value;
    Dim dims[] = {a.dim + b.dim, a.dim - b.dim, a.dim * b.dim, Dim::Min(a.dim, b.dim),
                  Dim::Max(a.dim, b.dim)};
    return {dims[kind], [f, g, kind](const int64_t* s) -> std::optional<int64_t> {
              auto x = f(s);
              auto y = g(s);
              if (!x || !y) return std::nullopt;
              if (std::abs(*x) > 1'000'000 || std::abs(*y) > 1'000'000) return std::nullopt;
              const int64_t values[] = {*x + *y, *x - *y, *x * *y, std::min(*x, *y),
                                        std::max(*x, *y)};
              return values[kind];
            }};
  }
  int Pick(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }

 private:
  Sample Leaf() {
    int64_t c = Pick(9) - 4;
    int which = Pick(4);
    if (which == 3) return {c, [c](const int64_t*) { return c; }};
    const Dim symbols[] = {n, m, k};
    return {symbols[which], [which](const int64_t* s) { return s[which]; }};
  }

  std::mt19937 random_;
};

TEST_CASE("int32 wraps, and what is assumed to fit is told") {
  CHECK(Dim::Int32(Dim(int64_t{1} << 31)) == Dim(INT32_MIN));
  CHECK(Dim::Int32(Dim::Int32(n)) == Dim::Int32(n));
  CHECK(Dim::Int32(Dim::Min(Mod(n, 7), m)) == Dim::Min(Mod(n, 7), m));
  CHECK(Dim::Int32(n + 1).ToString() == "int32(n + 1)");
  Dim sum = Dim::Int32(Dim::Int32(n) * Dim::Int32(m)) + 2;
  CHECK(sum.Evaluate([](uint32_t) { return int64_t{65536}; }) == 2);
  std::vector<Dim> assumed;
  CHECK(sum.WithoutInt32(&assumed) == n * m + 2);
  CHECK(assumed == std::vector<Dim>{n, m, n * m});
  CHECK((n * 3).WithoutInt32(&assumed) == n * 3);
  CHECK(assumed.size() == 3);
}

TEST_CASE("canonical forms keep the value, and bounds hold") {
  Generator generator(7);
  int checked = 0;
  for (int round = 0; round < 4000; ++round) {
    Sample sample = generator.Make(4);
    Sample other = generator.Make(3);
    for (int point = 0; point < 8; ++point) {
      int64_t s[] = {generator.Pick(12), generator.Pick(12), generator.Pick(24) - 12};
      auto lookup = [&](uint32_t id) -> std::optional<int64_t> { return s[id - 1]; };
      auto want = sample.value(s);
      auto got = sample.dim.Evaluate(lookup);
      if (!want || !got) continue;
      ++checked;
      INFO(sample.dim.ToString(), " at ", s[0], " ", s[1], " ", s[2]);
      REQUIRE(*got == *want);
      if (auto low = sample.dim.LowerBound()) REQUIRE(*low <= *want);
      if (auto high = sample.dim.UpperBound()) REQUIRE(*high >= *want);
      auto y = other.value(s);
      if (y && *y == *want) REQUIRE_FALSE(Dim::ProvablyDifferent(sample.dim, other.dim));
      if (sample.dim == other.dim && y) REQUIRE(*y == *want);
      auto fixed = sample.dim.Substitute(
          [&](const Dim& d) { return std::optional(Dim(s[d.symbol_id() - 1])); });
      REQUIRE(fixed.is_const(*want));
    }
  }
  CHECK(checked > 10'000);
}

}  // namespace
}  // namespace relayvm

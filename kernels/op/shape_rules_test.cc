#include "kernels/op/shape_rules.h"

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

std::optional<std::vector<int64_t>> EvaluateAll(const std::vector<Dim>& dims,
                                                const std::map<uint32_t, int64_t>& symbols) {
  std::vector<int64_t> out;
  for (const Dim& d : dims) {
    auto v = d.Evaluate([&](uint32_t id) -> std::optional<int64_t> {
      auto it = symbols.find(id);
      return it == symbols.end() ? std::nullopt : std::optional(it->second);
    });
    if (!v) return std::nullopt;
    out.push_back(*v);
  }
  return out;
}

TEST_CASE("indicators") {
  Dim x = Dim::Symbol(1, "x", false);
  for (int64_t v : {-5, -1, 0, 1, 7}) {
    CAPTURE(v);
    CHECK(EvaluateAll({IsPositive(x), IsNegative(x)}, {{1, v}}) ==
          std::vector<int64_t>{v > 0, v < 0});
  }
}

// Reshapes `in` by `codes`; with `unknown`, the codes are symbols whose values only the guards and
// the evaluation see.
std::optional<std::vector<int64_t>> Reshape(const std::vector<int64_t>& in,
                                            const std::vector<int64_t>& codes, bool unknown,
                                            bool allow_zero = false) {
  std::map<uint32_t, int64_t> symbols;
  auto symbol = [&](int64_t v, bool nonnegative) {
    auto id = static_cast<uint32_t>(symbols.size() + 1);
    symbols[id] = v;
    return Dim::Symbol(id, "s", nonnegative);
  };
  std::vector<Dim> shape, code_dims;
  for (int64_t d : in) shape.push_back(unknown ? symbol(d, true) : Dim(d));
  for (int64_t c : codes) code_dims.push_back(unknown ? symbol(c, false) : Dim(c));
  FakeContext ctx({}, {});
  ctx.shape_by_rule = [&](const RuledShape& rule) {
    return RunRule(
        rule, [&](const Dim& d) { return EvaluateAll({d}, symbols)->front(); },
        [&](int64_t value) { return symbol(value, true); });
  };
  auto result = ReshapeDims(ctx, shape, code_dims, allow_zero);
  if (!result.ok()) return std::nullopt;
  for (const Guard& g : ctx.guards) {
    auto v = EvaluateAll({g.a, g.b}, symbols);
    if (!v || (g.kind == Guard::kEqual ? (*v)[0] != (*v)[1] : (*v)[0] < (*v)[1])) {
      return std::nullopt;
    }
  }
  return EvaluateAll(*result, symbols);
}

TEST_CASE("reshape codes 0, -1 and sizes, known and read at run time") {
  using Shape = std::vector<int64_t>;
  struct Row {
    Shape in, codes;
    std::optional<Shape> out;
  };
  const Row rows[] = {
      {{2, 3, 4}, {8, 3}, Shape{8, 3}},
      {{2, 3, 4}, {0, -1}, Shape{2, 12}},
      {{2, 3, 4}, {-1}, Shape{24}},
      {{2, 3, 4}, {4, -1, 2}, Shape{4, 3, 2}},
      {{2, 3, 4}, {0, 0, -1}, Shape{2, 3, 4}},
      {{2, 3, 4}, {-1, 0, 8}, Shape{1, 3, 8}},
      {{2, 3, 4}, {0, 0, 4}, Shape{2, 3, 4}},
      {{2, 3, 4}, {6, 0}, std::nullopt},       // 6 * 3 is not 24
      {{2, 3, 4}, {-1, -1, 4}, std::nullopt},  // two unknowns
      {{2, 3, 4}, {5, -1}, std::nullopt},      // 24 is no multiple of 5
      {{2, 3, 4}, {25}, std::nullopt},
      {{2, 3}, {6, 1, 0}, std::nullopt},  // no third dim to copy
      {{0, 3}, {0, 3}, Shape{0, 3}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.codes);
    CHECK(Reshape(row.in, row.codes, false) == row.out);
    CHECK(Reshape(row.in, row.codes, true) == row.out);
  }
  CHECK(Reshape({0, 3}, {3, 0}, false, true) == Shape{3, 0});
  CHECK(Reshape({0, 3}, {3, 0}, true, true) == Shape{3, 0});
}

TEST_CASE("reshape codes -2, -3 and -4") {
  using Shape = std::vector<int64_t>;
  CHECK(Reshape({2, 3, 4}, {-2}, false) == Shape{2, 3, 4});
  CHECK(Reshape({2, 3, 4}, {2, -2}, false) == Shape{2, 3, 4});
  CHECK(Reshape({2, 3, 4}, {-2, 1, 1}, false) == Shape{2, 3, 4, 1, 1});
  CHECK(Reshape({2, 3, 4}, {-3, 4}, false) == Shape{6, 4});
  CHECK(Reshape({2, 3, 4, 5}, {-3, -3}, false) == Shape{6, 20});
  CHECK(Reshape({2, 3, 4}, {0, -3}, false) == Shape{2, 12});
  CHECK(Reshape({2, 3, 4}, {-4, 1, 2, -2}, false) == Shape{1, 2, 3, 4});
  CHECK(Reshape({2, 3, 4}, {2, -4, -1, 3, -2}, false) == Shape{2, 1, 3, 4});
  CHECK(Reshape({8, 3}, {-4, 2, -1, -2}, false) == Shape{2, 4, 3});
  CHECK_FALSE(Reshape({8, 3}, {-4, 3, -1, -2}, false));
  CHECK_FALSE(Reshape({8, 3}, {-4, 2}, false));
  CHECK_FALSE(Reshape({8, 3}, {-4, 0, -1, 3}, false));
  CHECK_FALSE(Reshape({8, 3}, {-5, 3}, false));
  CHECK_FALSE(Reshape({8}, {-3}, false));
}

TEST_CASE("reshape codes -2 and -3 read at run time keep the rank") {
  using Shape = std::vector<int64_t>;
  CHECK(Reshape({2, 3, 4, 5}, {-3, -3}, true) == Shape{6, 20});
  CHECK(Reshape({2, 3, 4, 5}, {0, -3, -2}, true) == Shape{2, 12, 5});
  CHECK(Reshape({2, 3, 4, 5}, {-3, 2, -1}, true) == Shape{6, 2, 10});
  CHECK(Reshape({2, 3, 4, 5}, {-3, 0, 0}, true) == Shape{6, 4, 5});
  CHECK(Reshape({2, 3, 4, 5}, {-1, -3, 0}, true) == Shape{2, 12, 5});
  CHECK_FALSE(Reshape({2, 3, 4, 5}, {-3, -2}, true));
  CHECK_FALSE(Reshape({2, 3}, {-3, -3}, true));
  CHECK_FALSE(Reshape({2, 3}, {-4, 1, 2}, true));
  CHECK(Reshape({2, 3, 4}, {-4, 1, 2, -2}, true) == Shape{1, 2, 3, 4});
}

// Sizes, copies and codes that are known beside a number that is not.
TEST_CASE("what is known of a reshape stays known") {
  Dim n = Dim::Symbol(1, "n"), m = Dim::Symbol(2, "m"), s = Dim::Symbol(3, "s", false);
  Dim ruled[] = {Dim::Symbol(10, "r0"), Dim::Symbol(11, "r1"), Dim::Symbol(12, "r2")};
  auto reshape = [&](const std::vector<Dim>& in, const std::vector<Dim>& codes, size_t guards) {
    FakeContext ctx({}, {});
    ctx.shape_by_rule = [&](const RuledShape& shape) {
      CHECK(shape.data == in);
      CHECK(shape.numbers == codes);
      return Result<std::vector<Dim>>(std::vector<Dim>(ruled, ruled + shape.rank));
    };
    auto result = ReshapeDims(ctx, in, codes, false);
    REQUIRE(result.ok());
    CHECK(ctx.guards.size() == guards);
    return *result;
  };
  using Dims = std::vector<Dim>;
  CHECK(reshape({n, m}, {s, s + Dim(1)}, 0) == Dims{ruled[0], ruled[1]});
  // One open dim is what is left.
  CHECK(reshape({n, 64}, {s, 64}, 1) == Dims{n, 64});
  CHECK(reshape({n, 64}, {n, s}, 1) == Dims{n, 64});
  CHECK(reshape({n, m, 4}, {0, s}, 1) == Dims{n, m * Dim(4)});
  CHECK(reshape({n, 6}, {s, 4}, 1) == Dims{Dim::FloorDiv(n * Dim(6), 4), 4});
  // ... unless it could be 0 by 0.
  CHECK(reshape({n}, {s, m}, 0) == Dims{ruled[0], m});
  CHECK(reshape({n, m, 4}, {s, -1, 2}, 0) == Dims{ruled[0], ruled[1], 2});
  CHECK(reshape({n, m, 4}, {0, s, s}, 0) == Dims{n, ruled[1], ruled[2]});
  CHECK(reshape({n, m, 4}, {-3, s, s}, 0) == Dims{n * m, ruled[1], ruled[2]});
  CHECK(reshape({n, m, 4}, {s, 0, s}, 0) == Dims{ruled[0], ruled[1], ruled[2]});
  CHECK(reshape({n, m}, {-4, s, -1}, 0) == Dims{ruled[0], ruled[1]});
}

// The rule that runs and what the compiler knows are one meaning.
TEST_CASE("known and unknown numbers give the same shape") {
  const int64_t extents[] = {0, 1, 2, 3, 4, 6};
  const int64_t codes[] = {-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 12};
  uint64_t state = 1;
  auto pick = [&](const auto& from) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return from[(state >> 33) % std::size(from)];
  };
  int fits = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<int64_t> in(static_cast<size_t>(pick(codes) & 3)), given(1 + (round & 3));
    for (int64_t& d : in) d = pick(extents);
    for (int64_t& c : given) c = pick(codes);
    const bool allow_zero = (round & 4) != 0;
    auto known = Reshape(in, given, false, allow_zero);
    auto ruled = Reshape(in, given, true, allow_zero);
    CAPTURE(in);
    CAPTURE(given);
    // Where -2 or -4 changes the rank, only numbers that are known can say so.
    if (known && known->size() == given.size()) {
      CHECK(known == ruled);
      ++fits;
    } else {
      CHECK_FALSE(ruled);
    }
  }
  CHECK(fits > 500);
}

TEST_CASE("a symbol that is no negative number stays as it is") {
  Dim n = Dim::Symbol(1, "n");
  Dim m = Dim::Symbol(2, "m");
  FakeContext ctx({}, {});
  CHECK(*ReshapeDims(ctx, {n, m, 4}, {n, -1}, false) == std::vector<Dim>{n, m * Dim(4)});
  CHECK(*ReshapeDims(ctx, {n, m}, {0, -1, 1}, false) == std::vector<Dim>{n, m, 1});
  CHECK(*ReshapeDims(ctx, {n, m}, {-3}, false) == std::vector<Dim>{n * m});
  CHECK(ctx.guards.empty());
  CHECK(*ReshapeDims(ctx, {n}, {-1, 4}, false) == std::vector<Dim>{Dim::FloorDiv(n, 4), 4});
  CHECK(ctx.guards.size() == 1);
}

TEST_CASE("slices are Python's, whatever is known of extent, begin, end and stride") {
  const int64_t numbers[] = {-7, -5, -4, -1, 0, 1, 3, 4, 5, 9};
  for (int64_t extent : {0, 1, 5}) {
    for (int64_t stride : {-3, -2, -1, 1, 2, 7}) {
      for (int64_t begin : numbers) {
        for (int64_t end : numbers) {
          // Python's slice.indices().
          int64_t low = stride < 0 ? -1 : 0;
          int64_t high = stride < 0 ? extent - 1 : extent;
          auto fix = [&](int64_t v) {
            return std::clamp(v < 0 ? v + extent : v, low, std::max(low, high));
          };
          std::vector<int64_t> expected;
          for (int64_t i = fix(begin); stride > 0 ? i < fix(end) : i > fix(end); i += stride) {
            expected.push_back(i);
          }
          for (int known = 0; known < 16; ++known) {
            std::map<uint32_t, int64_t> symbols = {{1, extent}, {2, begin}, {3, end}, {4, stride}};
            auto dim = [&](uint32_t id, int64_t v) {
              return (known >> (id - 1)) & 1 ? Dim(v) : Dim::Symbol(id, "s", id == 1);
            };
            SliceRange r = SliceAxis(dim(1, extent), dim(2, begin), dim(3, end), dim(4, stride));
            auto v = EvaluateAll({r.begin, r.length}, symbols);
            REQUIRE(v);
            bool right = (*v)[1] == static_cast<int64_t>(expected.size()) &&
                         (expected.empty() || (*v)[0] == expected[0]);
            if (!right) {
              FAIL("extent " << extent << " [" << begin << ":" << end << ":" << stride << "] known "
                             << known << ": " << (*v)[0] << ", " << (*v)[1]);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("slices: numbers at the edge of 64 bits, whatever is known of them") {
  struct Row {
    int64_t extent, begin, end, stride;
    int64_t from, length;
  };
  const Row rows[] = {
      {3, 0, 3, INT64_MAX, 0, 1},
      {3, 2, INT64_MAX, INT64_MAX, 2, 1},
      {3, INT64_MIN, INT64_MAX, INT64_MAX, 0, 1},
      {3, 3, INT64_MAX, INT64_MAX, 3, 0},
      {0, 0, INT64_MAX, INT64_MAX, 0, 0},
      {3, -1, INT64_MIN, -INT64_MAX, 2, 1},
      {3, -1, INT64_MIN, INT64_MIN, 2, 1},
      {3, INT64_MAX, INT64_MIN, INT64_MIN, 2, 1},
      {4, -4, INT64_MAX - 1, INT64_MAX - 1, 0, 1},
      {4, 1, INT64_MAX, int64_t{1} << 62, 1, 1},
      {4, 1, INT64_MAX, (int64_t{1} << 62) - 1, 1, 1},
      {int64_t{1} << 40, int64_t{1} << 38, INT64_MAX, int64_t{1} << 38, int64_t{1} << 38, 3},
      {int64_t{1} << 40, -1, INT64_MIN, -(int64_t{1} << 39), (int64_t{1} << 40) - 1, 2},
  };
  for (const Row& row : rows) {
    for (int known = 0; known < 16; ++known) {
      std::map<uint32_t, int64_t> symbols = {
          {1, row.extent}, {2, row.begin}, {3, row.end}, {4, row.stride}};
      const auto dim = [&](uint32_t id) {
        return (known >> (id - 1)) & 1 ? Dim(symbols[id]) : Dim::Symbol(id, "s", id == 1);
      };
      const SliceRange r = SliceAxis(dim(1), dim(2), dim(3), dim(4));
      const auto v = EvaluateAll({r.begin, r.length}, symbols);
      INFO("extent " << row.extent << " [" << row.begin << ":" << row.end << ":" << row.stride
                     << "] known " << known);
      REQUIRE(v);
      CHECK((*v)[1] == row.length);
      if (row.length > 0) CHECK((*v)[0] == row.from);
    }
  }
  const Dim n = Dim::Symbol(1, "n"), k = Dim::Symbol(2, "k", false);
  const std::map<uint32_t, int64_t> symbols = {{1, 5}, {2, INT64_MAX}};
  CHECK(EvaluateAll({SliceAxisBySize(n, 2, INT64_MAX).length}, symbols)->front() == 3);
  CHECK(EvaluateAll({SliceAxisBySize(n, 2, k).length}, symbols)->front() == 3);
}

TEST_CASE("slices: forms stay short, and a huge end is the end") {
  Dim n = Dim::Symbol(1, "n");
  CHECK(SliceAxis(n, 0, INT32_MAX, 1).length == n);
  CHECK(SliceAxis(n, 0, n, 1).length == n);
  CHECK(SliceAxis(n, 1, INT64_MAX, 1).length == Dim::Max(0, n - Dim(1)));
  CHECK(SliceAxis(n, 0, -1, 1).length == Dim::Max(0, n - Dim(1)));
  CHECK(SliceAxis(n, -1, INT32_MIN, -1).length == n);
  CHECK(SliceAxisBySize(n, 0, -1).length == n);
  CHECK(SliceAxisBySize(10, 3, 4).length == Dim(4));
  CHECK(SliceAxisBySize(10, -3, 2).length == Dim(2));
  CHECK(SliceAxisBySize(10, -3, 2).begin == Dim(7));
  CHECK(SliceAxisBySize(10, 8, 4).length == Dim(2));
}

}  // namespace
}  // namespace relayvm::op_testing

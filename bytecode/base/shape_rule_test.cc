#include "bytecode/base/shape_rule.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace relayvm {
namespace {

using Shape = std::vector<int64_t>;
constexpr int64_t kHuge = int64_t{1} << 62;
constexpr uint64_t kAll = ~uint64_t{0};

struct Row {
  Shape data, numbers;
  Shape shape;        // of the result; where `error` is set only its length counts
  std::string error;  // all of it
  uint64_t zeros = 0;
};

void Check(ShapeRule rule, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.data);
    CAPTURE(row.numbers);
    Shape shape(row.shape.size(), -7);
    Status s = ApplyShapeRule(rule, row.data, row.numbers, row.zeros, shape);
    CHECK(s.message() == row.error);
    if (s.ok()) CHECK(shape == row.shape);
  }
}

TEST_CASE("reshape: each code alone and beside others") {
  Check(ShapeRule::kReshape, {{{2, 3, 4}, {8, 3}, {8, 3}, ""},
                              {{2, 3, 4}, {0, -1}, {2, 12}, ""},
                              {{2, 3, 4}, {-1}, {24}, ""},
                              {{2, 3, 4}, {4, -1, 2}, {4, 3, 2}, ""},
                              {{2, 3, 4}, {-1, 0, 8}, {1, 3, 8}, ""},
                              {{2, 3, 4}, {-2}, {2, 3, 4}, ""},
                              {{2, 3, 4}, {2, -2, 1}, {2, 3, 4, 1}, ""},
                              {{2, 3, 4, 5}, {-3, -3}, {6, 20}, ""},
                              {{2, 3, 4, 5}, {0, -3, -2}, {2, 12, 5}, ""},
                              {{2, 3, 4, 5}, {-1, -3, 0}, {2, 12, 5}, ""},
                              {{8, 3}, {-4, 2, -1, -2}, {2, 4, 3}, ""},
                              {{2, 3, 4}, {2, -4, -1, 3, -2}, {2, 1, 3, 4}, ""},
                              {{}, {1, 1}, {1, 1}, ""},
                              {{1, 1}, {}, {}, ""}});
}

TEST_CASE("reshape: no elements") {
  Check(ShapeRule::kReshape,
        {{{0, 4}, {0, -1}, {0, 4}, ""},
         {{0, 3, 4}, {-3, -1}, {0, 4}, ""},
         {{0, 4}, {0, 2, -1}, {0, 2, 2}, ""},
         {{0, 3}, {0, 5}, {0, 5}, ""},
         {{0, 3}, {7, 0}, {0, 0}, "the number of elements: 7 x 3 does not equal 0"},
         {{0, 3}, {3, 0}, {3, 0}, "", kAll},
         {{3, 0}, {0, 5}, {0, 5}, "", 1},
         {{3, 0}, {0, 5}, {0, 0}, "the number of elements: 3 x 5 does not equal 0"},
         {{0, 4}, {0, -1}, {0, 0}, "newshape: -1 is ambiguous beside a dim of size 0", kAll},
         {{0, kHuge, 4}, {0, 1}, {0, 1}, ""},
         {{5, 4}, {0, 2}, {0, 2}, "the number of elements: 0 x 2 does not equal 20", kAll}});
}

TEST_CASE("reshape: what does not fit") {
  Check(ShapeRule::kReshape,
        {{{32}, {3, 12}, {0, 0}, "the number of elements: 3 x 12 does not equal 32"},
         {{32},
          {3, 6148914691236517216},
          {0, 0},
          "the number of elements: 3 x 6148914691236517216 does not equal 32"},
         {{32},
          {kHuge, 4},
          {0, 0},
          "the number of elements: 4611686018427387904 x 4 does not equal 32"},
         {{32},
          {kHuge, 4, -1},
          {0, 0, 0},
          "newshape: the number of elements is beyond the largest size"},
         {{24}, {7, -1}, {0, 0}, "the number of elements: 24 is no multiple of 7"},
         {{24}, {-1, -1}, {0, 0}, "newshape: only one dim can be -1"},
         {{24}, {-5}, {0}, "newshape: -5 is no size and no code"},
         {{24}, {INT64_MIN}, {0}, "newshape: -9223372036854775808 is no size and no code"},
         {{24}, {INT64_MAX}, {0}, "the number of elements: 9223372036854775807 does not equal 24"},
         {{2, 3}, {6, 1, 0}, {0, 0, 0}, "newshape: 0 needs a dim beyond the 2 of the data, (2, 3)"},
         {{2, 3}, {0, -3}, {0, 0}, "newshape: -3 needs a dim beyond the 2 of the data, (2, 3)"},
         {{8}, {-3}, {0}, "newshape: -3 needs a dim beyond the 1 of the data, (8)"},
         {{kHuge, 4}, {-3}, {0}, "newshape: the number of elements is beyond the largest size"},
         {{8}, {-4, 2}, {0}, "newshape: -4 needs two more values"},
         {{}, {-4, 1, 1}, {0, 0}, "newshape: -4 needs a dim beyond the 0 of the data, ()"},
         {{8}, {-4, -1, -1}, {0, 0}, "newshape: -4 with -1 twice says nothing"},
         {{8}, {-4, 0, -1}, {0, 0}, "newshape: -4 can't split into 0 and -1"},
         {{8}, {-4, 3, -1}, {0, 0}, "newshape: the parts of a split dim: 3 x 2 does not equal 8"},
         {{8},
          {-4, -1, INT64_MIN},
          {0, 0},
          "newshape: -4 can't split into -1 and -9223372036854775808"},
         {{8},
          {-4, kHuge, 4},
          {0, 0},
          "newshape: the parts of a split dim: 4611686018427387904 x 4 does not equal 8"},
         {{2, 3, 4}, {-2, 1}, {0, 0}, "newshape: [-2, 1] gives 4 dims, the result has 2"},
         {{2, 3, 4},
          {-4, 1, 2, 12},
          {0, 0, 0, 0},
          "newshape: [-4, 1, 2, 12] gives 3 dims, the result has 4"}});
}

TEST_CASE("squeeze and expand_dims") {
  Check(ShapeRule::kSqueeze,
        {{{1, 3, 1, 5}, {0}, {3, 1, 5}, ""},
         {{1, 3, 1, 5}, {-2}, {1, 3, 5}, ""},
         {{1, 3, 1, 5}, {2, 0}, {3, 5}, ""},
         {{1, 3}, {}, {1, 3}, ""},
         {{1, 3}, {1}, {0}, "a squeezed axis is not 1: axis 1 of (1, 3)"},
         {{1, 3}, {2}, {0}, "axis: expected at most 1, found 2"},
         {{1, 3}, {INT64_MIN}, {0}, "axis: expected at least -2, found -9223372036854775808"},
         {{1, 1, 3}, {0, -3}, {0}, "axis 0 is given twice"},
         {{1, 3}, {0}, {0, 0}, "squeeze of 2 dims by 1 axes can't give 2"}});
  Check(ShapeRule::kExpandDims,
        {{{7, 8}, {0}, {1, 1, 7, 8}, ""},
         {{7, 8}, {1}, {7, 1, 1, 8}, ""},
         {{7, 8}, {2}, {7, 8, 1, 1}, ""},
         {{7, 8}, {-1}, {7, 8, 1}, ""},
         {{7, 8}, {-3}, {1, 7, 8}, ""},
         {{}, {0}, {1}, ""},
         {{7, 8}, {3}, {0, 0, 0}, "axis: expected at most 2, found 3"},
         {{7, 8}, {-4}, {0, 0, 0}, "axis: expected at least -3, found -4"},
         {{7, 8}, {INT64_MAX}, {0, 0, 0}, "axis: expected at most 2, found 9223372036854775807"},
         {{7, 8}, {0}, {0}, "expand_dims of 2 dims by 1 axes can't give 1"}});
}

TEST_CASE("lists that no rule takes") {
  Shape many(65, 1), shape(65);
  for (int rule = 0; rule < kNumShapeRules; ++rule) {
    CHECK(ApplyShapeRule(ShapeRule(rule), many, many, 0, shape).message() ==
          "a shape of more than 64 dims");
  }
}

}  // namespace
}  // namespace relayvm

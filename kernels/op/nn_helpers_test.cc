#include "kernels/op/nn_helpers.h"

#include "kernels/op/testing.h"

namespace relayvm::nn {
namespace {

TEST_CASE("layouts: positions, splits, errors") {
  const WindowLayout l = *WindowLayout::Parse("NCHW8c");
  CHECK(l.rank() == 5);
  CHECK(l.Position('W') == 3);
  CHECK(l.Position('D') == -1);
  CHECK(l.Factor('C') == 8);
  CHECK((l.Extent('C', {1, 2, 3, 4, 8}) == Dim(16)));
  CHECK(l.Capitals() == "NCHW");
  struct Case {
    const char *text, *error;
  };
  for (const Case& c : {Case{"", "malformed"}, Case{"NCHWc", "factor"}, Case{"N8CHW", "factor"},
                        Case{"NCHN", "twice"}, Case{"NCHW8", "malformed"}, Case{"NHW8c", "absent"},
                        Case{"NC-W", "no axis"}}) {
    const auto result = WindowLayout::Parse(c.text);
    REQUIRE(!result.ok());
    CHECK_MESSAGE(result.status().message().find(c.error) != std::string::npos,
                  result.status().ToString());
  }
}

TEST_CASE("an axis split twice: outer first") {
  const WindowLayout l = *WindowLayout::Parse("OI4i2o2i");
  const te::Axis o = te::MakeAxis("o", 8), i = te::MakeAxis("i", 32);
  const Indices at = l.Physical([&](char axis) { return te::AxisValue(axis == 'O' ? o : i); });
  // Read back: the logical index of i is ((I * 4 + i) * 2 + i).
  const auto value = [&](const te::Expr& e, int64_t x) {
    const te::Tensor t = te::Compute("v", {1}, [&](const Indices&) {
      return te::SubstituteAxes(
          e, [&](const te::Axis& a) { return a == i ? te::IntImm(x) : te::IntImm(0); });
    });
    return op_testing::Values(*te::Evaluate(t, {}, [](uint32_t) { return std::nullopt; }))[0];
  };
  for (int64_t x : {0, 1, 2, 7, 8, 31}) {
    CHECK(value(at[1], x) == x / 8);
    CHECK(value(at[2], x) == x / 2 % 4);
    CHECK(value(at[4], x) == x % 2);
    CHECK(value(l.Logical('I', at), x) == x);
  }
}

TEST_CASE("short forms of padding and of spatial attributes") {
  CHECK(ExpandPadding({3}, 2)->after == std::vector<int64_t>{3, 3});
  CHECK(ExpandPadding({1, 2}, 2)->after == std::vector<int64_t>{1, 2});
  CHECK(ExpandPadding({1, 2, 3, 4}, 2)->before == std::vector<int64_t>{1, 2});
  CHECK(ExpandPadding({1, 2}, 1)->after == std::vector<int64_t>{2});
  CHECK(!ExpandPadding({1, 2, 3}, 2).ok());
  CHECK(*ExpandSpatial({4}, 3, 1, "strides") == std::vector<int64_t>{4, 4, 4});
  CHECK(!ExpandSpatial({4, 0}, 2, 1, "strides").ok());
  CHECK((WindowExtent(Dim(7), 2, Dim(3), 2, 2) == Dim(3)));
}

}  // namespace
}  // namespace relayvm::nn

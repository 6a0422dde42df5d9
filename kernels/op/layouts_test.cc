#include "kernels/op/layouts.h"

#include "kernels/op/testing.h"

namespace relayvm {
namespace {

TEST_CASE("layouts: positions, splits, errors") {
  const Layout l = *Layout::Parse("NCHW8c");
  CHECK(l.rank() == 5);
  CHECK(l.Position('W') == 3);
  CHECK(l.Position('D') == -1);
  CHECK(l.Factor('C') == 8);
  CHECK((l.Extent('C', {1, 2, 3, 4, 8}) == Dim(16)));
  CHECK(l.Axes() == "NCHW");
  struct Case {
    const char *text, *error;
  };
  for (const Case& c : {Case{"", "empty"}, Case{"NCHWc", "factor"}, Case{"N8CHW", "factor"},
                        Case{"N0CHW", "factor"}, Case{"NCHW0c", "factor"}, Case{"NCHN", "twice"},
                        Case{"NCHW8", "ends in a factor"}, Case{"NHW8c", "absent"},
                        Case{"NC-W", "no axis"}, Case{"NC99999999999999999999c", "too large"},
                        Case{"NC2000000000c2000000000c", "too large"}}) {
    const auto result = Layout::Parse(c.text);
    REQUIRE(!result.ok());
    CHECK_MESSAGE(result.status().message().find(c.error) != std::string::npos,
                  result.status().ToString());
  }
}

TEST_CASE("an axis split twice: outer first") {
  const Layout l = *Layout::Parse("OI4i2o2i");
  const te::Axis o = te::MakeAxis("o", 8), i = te::MakeAxis("i", 32);
  const ExprList at = l.Physical([&](char axis) { return te::AxisValue(axis == 'O' ? o : i); });
  // Read back: the logical index of i is ((I * 4 + i) * 2 + i).
  const auto value = [&](const te::Expr& e, int64_t x) {
    const te::Tensor t = te::Compute("v", {1}, [&](const ExprList&) {
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

}  // namespace
}  // namespace relayvm

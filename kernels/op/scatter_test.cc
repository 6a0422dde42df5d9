#include "kernels/op/builtin_op_testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("scatter_elements") {
  const Dim n = Symbol(1);
  CheckBuiltin("scatter_elements", {{"axis", -1}, {"reduction", "add"}},
               {Float({n, 4}), Int64({n, 2}), Float({n, 2})}, {Float({n, 4})}, "scatter_elements",
               {1, 1});
  CheckBuiltin("scatter_elements", {}, {Float({4}), Int32({2}), Float({3})}, {Float({4})},
               "scatter_elements", {0, 0});
  CheckBuiltinFails("scatter_elements", {}, {Float({4}), Int32({3}), Float({2})},
                    "expected at least");
  CheckBuiltinFails("scatter_elements", {}, {Float({4}), Float({3}), Float({3})}, "indices");
  CheckBuiltinFails("scatter_elements", {{"reduction", "sum"}},
                    {Float({4}), Int32({3}), Float({3})}, "sum");
}

TEST_CASE("scatter_nd: updates have the shape of the columns and of the slices") {
  CheckBuiltin("scatter_nd", {{"mode", "mul"}}, {Float({4, 5, 6}), Int64({2, 3}), Float({3, 6})},
               {Float({4, 5, 6})}, "scatter_nd", {2});
  CheckBuiltin("scatter_nd", {{"tuples_last", true}},
               {Float({4, 5, 6}), Int64({3, 2}), Float({3, 6})}, {Float({4, 5, 6})},
               "scatter_nd_tuples_last", {0});
  CheckBuiltinFails("scatter_nd", {{"tuples_last", true}},
                    {Float({4, 5, 6}), Int64({3, 2}), Float({2, 6})}, "updates");
  // The depth is known from the ranks where it is not from the shape.
  const auto plan =
      PlanBuiltin("scatter_nd", {}, {Float({4, 5, 6}), Int64({Symbol(1), 3}), Float({3, 6})});
  REQUIRE(plan.ok());
  CHECK(plan->guards.size() == 1);
  CheckBuiltinFails("scatter_nd", {}, {Float({4, 5, 6}), Int64({2, 3}), Float({3, 5})}, "updates");
  CheckBuiltinFails("scatter_nd", {}, {Float({4}), Int64({2, 3}), Float({3})}, "2 axes");
}

TEST_CASE("check_range gives its bound") {
  const Dim n = Symbol(1);
  CheckBuiltin("check_range", {}, {Int32({n, 3}), Int64({1}), Int64({1})}, {Int64({1})},
               "check_range", {});
  for (const char* name : {"check_range", "range_checked"}) {
    CheckBuiltinFails(name, {}, {Float({n}), Int64({1}), Int64({1})}, "values");
    CheckBuiltinFails(name, {}, {Int64({n}), Int32({1}), Int64({1})}, "bounds: expected int64");
    CheckBuiltinFails(name, {}, {Int64({n, 3}), Int64({2}), Int64({2})}, "2 and 3 differ");
    CheckBuiltinFails(name, {}, {Int64({}), Int64({2}), Int64({2})}, "rank 0");
  }
}

}  // namespace
}  // namespace relayvm::op_testing

#include "kernels/op/builtin_op_testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("argwhere has as many rows as the kernel finds") {
  const Dim n = Symbol(1);
  const auto plan = PlanBuiltin("argwhere", {}, {Float({n, 3})});
  REQUIRE(plan.ok());
  CHECK(plan->results[0].shape[0].is_symbol());
  CHECK((plan->results[0].shape[1] == Dim(2)));
  CHECK((plan->results[0].dtype == DType::kInt32));
  CHECK((plan->upper_bound == std::vector<TensorType>{Int32({n * 3, 2})}));
}

TEST_CASE("unique returns padded vectors") {
  const Dim n = Symbol(1);
  CheckBuiltin("unique", {}, {Int64({n})}, {Int64({n}), Int32({n}), Int32({n}), Int32({1})},
               "unique", {1});
  CheckBuiltin("unique", {{"return_counts", true}, {"sorted", false}}, {Int64({n})},
               {Int64({n}), Int32({n}), Int32({n}), Int32({1}), Int32({n})}, "unique_counts", {0});
  CheckBuiltinFails("unique", {}, {Int64({n, 2})}, "rank");
}

TEST_CASE("unique_rows compares slices along axis 0, of any shape") {
  const Dim n = Symbol(1), m = Symbol(2);
  const std::vector<TensorType> results = {Int32({n}), Int32({n}), Int32({1}), Int32({n})};
  CheckBuiltin("unique_rows", {}, {Int64({n, m, 3})}, results, "unique_rows", {1});
  CheckBuiltin("unique_rows", {{"sorted", false}}, {Float({n})}, results, "unique_rows", {0});
  CheckBuiltinFails("unique_rows", {}, {Float({})}, "axis");
}

TEST_CASE("sparse_fill_empty_rows: at most one new row each") {
  const Dim n = Symbol(1), rows = Symbol(2, false);
  const auto plan =
      PlanBuiltin("sparse_fill_empty_rows", {}, {Int64({n, 2}), Float({n}), Int64({2}), Float({1})},
                  {{2, {rows, Dim(5)}}});
  REQUIRE(plan.ok());
  CHECK((plan->results[2] == TensorType{{rows}, DType::kBool}));
  CHECK((plan->results[0].shape[0] == plan->results[1].shape[0]));
  CHECK((plan->upper_bound[1].shape[0] == n + rows));
  CheckBuiltinFails("sparse_fill_empty_rows", {},
                    {Int64({3, 2}), Float({4}), Int64({2}), Float({1})}, "3 and 4 differ");
}

TEST_CASE("sparse_reshape") {
  const Dim n = Symbol(1);
  CheckBuiltin("sparse_reshape", {}, {Int64({n, 2}), Int64({2}), Int64({3})},
               {Int64({n, 3}), Int64({3})}, "sparse_reshape", {});
  CheckBuiltinFails("sparse_reshape", {}, {Int64({n, 2}), Int64({3}), Int64({3})},
                    "2 and 3 differ");
}

}  // namespace
}  // namespace relayvm::op_testing

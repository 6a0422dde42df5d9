#include "kernels/op/builtin_op_testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("sort and argsort") {
  const Dim n = Symbol(1);
  CheckBuiltin("sort", {}, {Float({2, n})}, {Float({2, n})}, "sort", {1, 1});
  CheckBuiltin("argsort", {{"axis", 0}, {"is_ascend", false}, {"dtype", "int64"}}, {Float({2, n})},
               {Int64({2, n})}, "argsort", {0, 0});
  CheckBuiltin("argsort", {}, {Float({n})}, {Int32({n})}, "argsort", {0, 1});
  CheckBuiltinFails("sort", {}, {Float({})}, "out of range");
}

TEST_CASE("topk: how many, and what it returns") {
  CheckBuiltin("topk", {{"k", 3}}, {Float({2, 5})}, {Float({2, 3}), Int32({2, 3})}, "topk", {1, 0});
  CheckBuiltin("topk", {{"k", 0}, {"axis", 0}, {"ret_type", "values"}}, {Float({2, 5})},
               {Float({2, 5})}, "topk_values", {0, 0});
  CheckBuiltin("topk", {{"k", 1}, {"ret_type", "indices"}, {"dtype", "int64"}, {"is_ascend", true}},
               {Float({2, 5})}, {Int64({2, 1})}, "topk_indices", {1, 1});
  CheckBuiltinFails("topk", {{"k", 6}}, {Float({2, 5})}, "expected at least");
  CheckBuiltinFails("topk", {{"ret_type", "all"}}, {Float({2, 5})}, "ret_type");
}

TEST_CASE("dyn.topk takes k from a tensor; below 1 it means all") {
  const Dim n = Symbol(1), k = Symbol(2, false);
  const std::vector<TensorType> args = {Float({n}), Int64({1})};
  auto plan = PlanBuiltin("dyn.topk", {{"ret_type", "values"}}, args, {{1, {k}}});
  REQUIRE(plan.ok());
  CHECK(plan->call.name == "dyn_topk_values");
  const auto extent = [&](int64_t value) {
    return plan->results[0].shape[0].Evaluate(
        [&](uint32_t id) { return std::optional<int64_t>(id == 1 ? 10 : value); });
  };
  CHECK(extent(4) == 4);
  CHECK(extent(0) == 10);
  CHECK(extent(-3) == 10);
  plan = PlanBuiltin("dyn.topk", {}, args, {{1, {Dim(2)}}});
  CHECK((plan->results[0].shape[0] == Dim(2)));
}

TEST_CASE("a dtype that is too narrow for the indices is refused, or guarded") {
  const Dim n = Symbol(1);
  for (auto [dtype, most] : {std::pair("int8", 128), {"uint8", 256}, {"float16", 2049}}) {
    const AttrMap attrs = {{"dtype", dtype}};
    const std::vector<TensorType> fits = {Float({most})}, wide = {Float({most + 1})};
    CHECK(PlanBuiltin("argsort", attrs, fits).ok());
    CHECK(PlanBuiltin("topk", attrs, fits).ok());
    CHECK(PlanBuiltin("topk", {{"dtype", dtype}, {"ret_type", "values"}}, wide).ok());
    CheckBuiltinFails("argsort", attrs, wide, "the last index as");
    CheckBuiltinFails("topk", attrs, wide, "the last index as");
    CheckBuiltinFails("searchsorted", attrs, {Float({most}), Float({2})}, "the last position as");
  }
  const auto guards = [&](const std::string& name, const char* dtype,
                          const std::vector<TensorType>& args) {
    auto plan = PlanBuiltin(name, {{"dtype", dtype}}, args);
    REQUIRE_MESSAGE(plan.ok(), plan.status().ToString());
    return plan->guards.size();
  };
  const size_t before = guards("topk", "int64", {Float({n})});  // that there are k
  CHECK(guards("topk", "int16", {Float({n})}) == before + 1);
  CHECK(guards("argsort", "int64", {Float({n})}) == 0);
  CHECK(guards("argsort", "int16", {Float({n})}) == 1);
  CHECK(guards("searchsorted", "int16", {Float({n}), Float({2})}) == 1);
}

TEST_CASE("searchsorted") {
  CheckBuiltin("searchsorted", {{"right", true}}, {Float({9}), Float({2, 3})}, {Int32({2, 3})},
               "searchsorted", {1});
  CheckBuiltin("searchsorted", {{"dtype", "int64"}}, {Float({2, 9}), Float({2, 3})},
               {Int64({2, 3})}, "searchsorted", {0});
  CheckBuiltinFails("searchsorted", {}, {Float({2, 9}), Float({3, 3})}, "2 and 3 differ");
  CheckBuiltinFails("searchsorted", {}, {Float({9}), Int32({3})}, "dtypes");
}

}  // namespace
}  // namespace relayvm::op_testing

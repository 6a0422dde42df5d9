#include "kernels/op/builtin_op_testing.h"

namespace relayvm::op_testing {
namespace {

TensorType Strings(std::vector<Dim> shape) { return {std::move(shape), DType::kString}; }

TEST_CASE("conversions are elementwise, of what they say") {
  const Dim n = Symbol(1);
  CheckBuiltin("string.from_number", {}, {Float({n, 3})}, {Strings({n, 3})}, "string_from_number",
               {});
  CheckBuiltin("string.to_number", {{"dtype", "int64"}}, {Strings({n})}, {Int64({n})},
               "string_to_number", {});
  CheckBuiltinFails("string.from_number", {}, {Strings({n})}, "expected numbers");
  CheckBuiltinFails("string.to_number", {{"dtype", "int64"}}, {Float({n})}, "expected string");
  CheckBuiltinFails("string.to_number", {{"dtype", "string"}}, {Strings({n})}, "expected numbers");
}

TEST_CASE("string.id is the elements' own number") {
  HostTensor x{DType::kString, {2}, {}};
  const int64_t ids[] = {5, 0};
  x.data = SharedBytes::Copy(std::as_bytes(std::span(ids)));
  HostTensor y = x;
  y.dtype = DType::kInt64;
  CheckOp("string.id", {}, {x}, {y});
}

TEST_CASE("ranks, joined texts, parts") {
  const Dim n = Symbol(1), m = Symbol(2);
  CheckBuiltin("string.rank", {}, {Strings({n})}, {Int64({n})}, "string_rank", {});
  CheckBuiltinFails("string.rank", {}, {Strings({n, 2})}, "rank");
  CheckBuiltin("string.concat", {}, {Strings({n, 1}), Strings({3})}, {Strings({n, 3})},
               "string_concat", {});
  CheckBuiltinFails("string.concat", {}, {Strings({2}), Strings({3})}, "2 and 3");
  CheckBuiltin("string.split_count", {{"maxsplit", 2}}, {Strings({n, m}), Strings({1})},
               {Int64({n, m})}, "string_split_count", {2});
  CheckBuiltinFails("string.split_count", {}, {Strings({n}), Strings({2})}, "one delimiter");
  const auto plan =
      PlanBuiltin("string.split", {}, {Strings({n}), Strings({1}), Int64({1})}, {{2, {Symbol(3)}}});
  REQUIRE(plan.ok());
  CHECK((plan->results == std::vector<TensorType>{Strings({n, Symbol(3)})}));
  CHECK(plan->call.name == "string_split");
}

TEST_CASE("string.normalize gives one text at least") {
  const Dim n = Symbol(1);
  const auto plan = PlanBuiltin("string.normalize", {{"change_case", 2}, {"ascii", true}},
                                {Strings({n}), Strings({4})});
  REQUIRE(plan.ok());
  CHECK((plan->upper_bound == std::vector<TensorType>{Strings({n + 1})}));
  CHECK((plan->call.params == std::vector<Dim>{5, 0}));
  CheckBuiltinFails("string.normalize", {{"change_case", 3}}, {Strings({n}), Strings({4})},
                    "0 to 2");
}

TEST_CASE("hashes; tokens") {
  const Dim n = Symbol(1), m = Symbol(2);
  CheckBuiltin("murmur3", {{"seed", 7}, {"dtype", "int32"}}, {Strings({n, m})},
               {TensorType{{n, m}, DType::kInt32}}, "murmur3", {7});
  CheckBuiltinFails("murmur3", {{"dtype", "int64"}}, {Int64({n})}, "expected uint32 or int32");
  CheckBuiltin("string.count_tokens", {{"are_matches", true}, {"least", 2}},
               {Strings({n, m}), Int64({7, 3}), Int64({1})}, {Int64({n, m})}, "string_count_tokens",
               {1, 2});
  CheckBuiltinFails("string.count_tokens", {{"least", 0}},
                    {Strings({n}), Int64({7, 3}), Int64({1})}, "1 or more");
  CheckBuiltinFails("string.count_tokens", {}, {Strings({n}), Int64({7, 2}), Int64({1})},
                    "rows of 3");
  const auto plan = PlanBuiltin("string.tokens", {{"mark", true}},
                                {Strings({n}), Int64({7, 3}), Int64({2}), Strings({3}), Int64({1})},
                                {{4, {Symbol(3)}}});
  REQUIRE(plan.ok());
  CHECK((plan->results == std::vector<TensorType>{Strings({n, Symbol(3)})}));
  CHECK((plan->call.params == std::vector<Dim>{0, 1, 1}));
}

TEST_CASE("string.full_match, count_grams") {
  const Dim n = Symbol(1), m = Symbol(2);
  CheckBuiltin("string.full_match", {}, {Strings({n}), Int64({7, 3})},
               {TensorType{{n}, DType::kBool}}, "string_full_match", {});
  CheckBuiltinFails("string.full_match", {}, {Strings({n}), Int64({7, 2})}, "rows of 3");
  CheckBuiltin("count_grams", {{"width", 9}, {"skips", 1}},
               {Int64({n, m}), Int64({5, 2}), Int64({5})}, {Int64({n, 9})}, "count_grams", {1});
  CheckBuiltinFails("count_grams", {{"width", 9}}, {Int64({n, m}), Int64({5, 2}), Int64({4})},
                    "5 and 4");
  CheckBuiltinFails("count_grams", {{"width", -1}}, {Int64({n, m}), Int64({5, 2}), Int64({5})},
                    "negative");
}

}  // namespace
}  // namespace relayvm::op_testing

#include "vm/border/state.h"

#include <utility>
#include <vector>

#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::LoadText;
using testing::NewInvocation;
using testing::ToInt64;

Value Zeros(std::vector<int64_t> dims) {
  const auto count = static_cast<size_t>(dims[0] * (dims.size() > 1 ? dims[1] : 1));
  return testing::Floats(std::move(dims), std::vector<float>(count));
}

// Gives (count + step, (tail, x)): two states, of which the second is what x was.
std::shared_ptr<const Executable> Counter() {
  return LoadText(R"(
.version 1
.export "main" f0 ("step": int64[], "count": int64[], "x": float32[?"n", 2], "last": float32[?"m", 2]) -> (int64[], (float32[?"m", 2], float32[?"n", 2])) "next" "before" "now" state 1=0 state 3=2
.function "main" scalars 0 objects 4 captured 0 registers 2 6 returns object arena 0
  tensor.item i0, r0!, int64, 0
  tensor.item i1, r1!, int64, 0
  add.i i0, i0, i1
  tensor.box r4, i0, int64
  adt.new r5, #0, [r3!, r2!]
  adt.new r5, #0, [r4!, r5!]
  ret.r r5!
.end
)");
}

TEST_CASE("state: what was an output is the next run's input") {
  const auto program = Counter();
  auto invocation = NewInvocation(program);
  auto state = State::Create(program);
  REQUIRE_MESSAGE(state.ok(), state.status().message());
  CHECK_FALSE(state->Get("count").value());
  int64_t sum = 0;
  for (const int64_t step : {3, 4, 5}) {
    sum += step;
    const Value x = Zeros({step, 2});
    auto result = invocation->Run({{"x", x}, {"step", Value::Int64(step)}}, *state);
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    CHECK(ToInt64(result->Find("next").value()) == sum);
    CHECK(ToInt64(state->Get("count").value()) == sum);
    // A dim that no input has by name is 0 before there is anything.
    const Value before = result->Find("before").value();
    CHECK(before.dims()[0] == (step == 3 ? 0 : step - 1));
    CHECK(state->Get("last").value().dims()[0] == step);
  }
}

TEST_CASE("state: copies go on by themselves, and what is set counts") {
  const auto program = Counter();
  auto invocation = NewInvocation(program);
  State one = State::Create(program).value();
  const auto next = [&](State& state) {
    auto result = invocation->Run({{"x", Zeros({1, 2})}, {"step", Value::Int64(1)}}, state);
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    return ToInt64(result->Find("next").value());
  };
  REQUIRE(one.Set("count", Value::Int64(40)).ok());
  CHECK(next(one) == 41);
  State other = one;
  CHECK(next(one) == 42);
  CHECK(next(one) == 43);
  CHECK(next(other) == 42);
  one.Reset();
  CHECK(next(one) == 1);
  CHECK(next(other) == 43);
  // Given, it is not taken from the state.
  auto result = invocation->Run(
      {{"x", Zeros({1, 2})}, {"step", Value::Int64(1)}, {"count", Value::Int64(7)}}, one);
  REQUIRE(result.ok());
  CHECK(ToInt64(one.Get("count").value()) == 8);
}

TEST_CASE("state: a run that fails changes nothing") {
  const auto program = Counter();
  auto invocation = NewInvocation(program);
  State state = State::Create(program).value();
  REQUIRE(state.Set("count", Value::Int64(5)).ok());
  CHECK_FALSE(invocation->Run({{"x", Zeros({1, 3})}, {"step", Value::Int64(1)}}, state).ok());
  CHECK(ToInt64(state.Get("count").value()) == 5);
  CHECK_FALSE(state.Get("last").value());
  // One of another type is found when the run begins.
  REQUIRE(state.Set("count", Value::Float32(1)).ok());
  auto result = invocation->Run({{"x", Zeros({1, 2})}, {"step", Value::Int64(1)}}, state);
  CHECK(result.status().message() == "main: parameter %count: expected int64, found float32");
}

TEST_CASE("state: an output that went to a buffer is none") {
  const auto program = Counter();
  auto invocation = NewInvocation(program);
  State state = State::Create(program).value();
  int64_t next = 0;
  auto result = invocation->Run({{"x", Zeros({1, 2})}, {"step", Value::Int64(1)}}, state,
                                {{"next", {DType::kInt64, {}, &next}}});
  CHECK(result.status().message() ==
        "output 'next' is the next run's 'count': it can't go to a buffer");
  CHECK_FALSE(state.Get("last").value());
}

TEST_CASE("state: names, and programs that keep nothing") {
  const auto program = Counter();
  State state = State::Create(program).value();
  CHECK(state.Get("counter").status().message() == "main keeps no 'counter'; did you mean count?");
  CHECK(state.Set("x", Value()).code() == StatusCode::kInvalidArgument);
  CHECK(State::Create(program, "nain").status().code() == StatusCode::kNotFound);
  const auto plain = LoadText(testing::ScalarProgram(1, "  mov.i i15, i0"));
  CHECK(State::Create(plain).status().code() == StatusCode::kFailedPrecondition);
  auto invocation = NewInvocation(Counter());
  CHECK(invocation->Run(std::vector<NamedValue>{}, state).status().message() ==
        "the state is of another program");
}

TEST_CASE("state: sizes of zeros that no machine has are an error") {
  const auto program = LoadText(R"(
.version 1
.export "main" f0 ("x": float32[?"n"], "h": float32[?"n", 1099511627776]) -> float32[?"n", 1099511627776] state 1=0
.function "main" scalars 0 objects 2 captured 0 registers 0 2 returns object arena 0
  ret.r r1!
.end
)");
  auto invocation = NewInvocation(program);
  State state = State::Create(program).value();
  auto result = invocation->Run({{"x", Zeros({1000})}}, state);
  CHECK(result.status().message() ==
        "state h: a tensor of shape (1000, 1099511627776): negative or too large");
}

TEST_CASE("state: one run at a time") {
  State state = State::Create(Counter()).value();
  std::vector<Value> inputs(4);
  REQUIRE(state.Begin(&inputs).ok());
  std::vector<Value> others(4);
  CHECK(state.Begin(&others).code() == StatusCode::kFailedPrecondition);
  CHECK_FALSE(others[1]);
  State copy = state;
  CHECK(copy.Begin(&others).ok());
  CHECK(state.End(Status(StatusCode::kCancelled, "")).ok());
  CHECK_FALSE(state.Get("count").value());
  CHECK(state.Begin(&inputs).ok());
}

TEST_CASE("state: memory of a host is copied") {
  State state = State::Create(Counter()).value();
  alignas(64) int64_t count = 5;
  REQUIRE(state.Set("count", Value::WrapTensor(DType::kInt64, {}, &count, nullptr, nullptr).value())
              .ok());
  count = 7;
  CHECK(ToInt64(state.Get("count").value()) == 5);
}

TEST_CASE("state: first values have sizes of what is kept of others") {
  const auto program = LoadText(R"(
.version 1
.export "main" f0 ("h": float32[?"k", 2], "c": float32[?"k", 3]) -> (float32[?"k", 2], float32[?"k", 3]) state 0=0 state 1=1
.function "main" scalars 0 objects 2 captured 0 registers 0 3 returns object arena 0
  adt.new r2, #0, [r0!, r1!]
  ret.r r2!
.end
)");
  auto invocation = NewInvocation(program);
  State state = State::Create(program).value();
  REQUIRE(state.Set("h", Zeros({5, 2})).ok());
  auto result = invocation->Run(std::vector<NamedValue>{}, state);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(state.Get("c").value().dims()[0] == 5);
}

}  // namespace
}  // namespace relayvm

#include "vm/outputs.h"

#include <cstring>

#include "bytecode/base/status_detail.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Contains;
using testing::ElementsOf;
using testing::Floats;
using testing::LoadText;

// (x, (y, list), z): "x" and "z" are inputs, "y" is new: i0 rows of 2, each element 7.
int32_t Sevens(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  auto* out = static_cast<float*>(args->buffers[0]);
  for (int64_t i = 0; i < 2 * args->scalars[0]; ++i) out[i] = 7;
  return 0;
}
constexpr Builtin kKernels[] = {{"sevens", Sevens}};

std::shared_ptr<const Executable> NestedProgram() {
  return LoadText(R"(
.version 1
.kernel "sevens" scalars 1 buffers (out float32[s0 * 2]) builtin
.data "Box" 0
  .constructor "Box" (float32[?""])
.export "main" f0 ("x": float32[?"n"], "rows": int64[], "z": float32[2, ?"m"]) -> (float32[?"n"], (float32[?"", 2], data 0()), float32[2, ?"m"]) "first" "second" "third"
.function "main" scalars 0 objects 3 captured 0 registers 2 6 returns object arena 0
  tensor.item i0, r1!, int64, 0
  const.i16 i1, 2
  tensor.alloc r1, float32, [i0, i1]
  kernel.1 k0, [i0], [r1]
  adt.new r3, #0, [r0]
  adt.new r4, #0, [r1!, r3!]
  adt.new r5, #0, [r0!, r4!, r2!]
  ret.r r5!
.end
)",
                  kKernels);
}

std::vector<Value> NestedInputs(int64_t rows) {
  return {Floats({3}, {1, 2, 3}), Value::Int64(rows), Floats({2, 2}, {4, 5, 6, 7})};
}

TEST_CASE("outputs: tensors of nested tuples land in their buffers, the rest in the value") {
  auto invocation = testing::NewInvocation(NestedProgram());
  for (int64_t rows : {2, 50'000}) {  // copied out, and with pages of its own
    std::vector<float> x(3), y(static_cast<size_t>(rows) * 2), z(5);
    // At any alignment.
    Result<Value> result = invocation->Run("main", NestedInputs(rows),
                                           {{DType::kFloat32, {3}, x.data()},
                                            {DType::kFloat32, {rows, 2}, y.data()},
                                            {DType::kFloat32, {2, 2}, z.data() + 1}});
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    CHECK(x == std::vector<float>{1, 2, 3});
    CHECK(y == std::vector<float>(static_cast<size_t>(rows) * 2, 7));
    CHECK(z == std::vector<float>{0, 4, 5, 6, 7});
    CHECK(result->num_fields() == 3);
    CHECK(result->field(0).kind() == Value::Kind::kNone);
    CHECK(result->field(1).field(0).kind() == Value::Kind::kNone);
    CHECK(result->field(2).kind() == Value::Kind::kNone);
    // The constructor's field is no output.
    CHECK(ElementsOf<float>(result->field(1).field(1).field(0)) == std::vector<float>{1, 2, 3});
  }
}

TEST_CASE("outputs: fewer buffers than tensors, and gaps; in slices") {
  auto invocation = testing::NewInvocation(NestedProgram());
  std::vector<float> y(4);
  REQUIRE(
      invocation->Start("main", NestedInputs(2), {{}, {DType::kFloat32, {2, 2}, y.data()}}).ok());
  while (invocation->Poll(std::chrono::nanoseconds(1)) != RunState::kDone) {
  }
  Result<Value> result = invocation->TakeResult();
  REQUIRE(result.ok());
  CHECK(y == std::vector<float>(4, 7));
  CHECK(ElementsOf<float>(result->field(0)) == std::vector<float>{1, 2, 3});
  CHECK(result->field(2).dims()[1] == 2);
}

TEST_CASE("outputs: what cannot fit is refused before the run, what does not fit after it") {
  auto invocation = testing::NewInvocation(NestedProgram());
  float memory[64] = {};
  auto run = [&](std::vector<OutputBuffer> outputs) {
    Result<Value> result = invocation->Run("main", NestedInputs(2), std::move(outputs));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kInvalidArgument);
    for (float f : memory) REQUIRE(f == 0);
    return result.status();
  };
  Status status = run({{}, {}, {DType::kFloat32, {3, 2}, memory}});
  CHECK(status.message() ==
        "main: output third: expected a buffer for Tensor[(2, m), float32], found one for "
        "Tensor[(3, 2), float32]");
  REQUIRE(status.detail() != nullptr);
  CHECK(status.detail()->subject == "third");
  CHECK(status.detail()->expected == std::vector<int64_t>{2, -1});
  CHECK(status.detail()->found == std::vector<int64_t>{3, 2});
  status = run({{DType::kFloat64, {3}, memory}});
  CHECK(Contains(status.message(), "found one for Tensor[(3), float64]"));
  CHECK(Contains(run({{DType::kFloat32, {-1}, memory}}).message(), "Tensor[(-1), float32]"));
  CHECK(Contains(run({{DType::kFloat32, {INT64_MAX}, memory}}).message(), "output first"));
  CHECK(Contains(run({{}, {}, {}, {}}).message(), "expected at most 3 output buffers, found 4"));
  CHECK(Contains(
      run({{DType::kFloat32, {3}, memory}, {DType::kFloat32, {2, 2}, memory + 2}}).message(),
      "the buffers of outputs 0 and 1 overlap"));
  // Known at the end only: the first buffer, which fits, is not written either.
  status = run({{DType::kFloat32, {3}, memory}, {DType::kFloat32, {4, 2}, memory + 3}});
  CHECK(status.message() ==
        "main: output second: expected a buffer for Tensor[(2, 2), float32], found one for "
        "Tensor[(4, 2), float32]");
  CHECK(status.detail()->expected == std::vector<int64_t>{2, 2});
  CHECK(invocation->Run("main", NestedInputs(2)).ok());
}

TEST_CASE("outputs: a single tensor, and one without elements") {
  const char* text = R"(
.version 1
.export "main" f0 ("x": float32[?""]) -> float32[?""]
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)";
  auto invocation = testing::NewInvocation(LoadText(text));
  float out[3] = {};
  Result<Value> result =
      invocation->Run("main", {Floats({3}, {1, 2, 3})}, {{DType::kFloat32, {3}, out}});
  REQUIRE(result.ok());
  CHECK(!*result);
  CHECK(out[2] == 3);
  result = invocation->Run("main", {Floats({0}, {})}, {{DType::kFloat32, {0}, out}});
  REQUIRE(result.ok());
  CHECK(!*result);
}

TEST_CASE("outputs: a buffer may be an input's memory, also when two change places") {
  const char* text = R"(
.version 1
.export "main" f0 ("x": float32[4], "y": float32[4]) -> (float32[4], float32[4])
.function "main" scalars 0 objects 2 captured 0 registers 0 3 returns object arena 0
  adt.new r2, #0, [r1!, r0!]
  ret.r r2!
.end
)";
  auto invocation = testing::NewInvocation(LoadText(text));
  alignas(64) float memory[32];
  for (int i = 0; i < 32; ++i) memory[i] = static_cast<float>(i);
  const int64_t dims[] = {4};
  Value x = *Value::WrapTensor(DType::kFloat32, dims, memory, nullptr, nullptr);
  Value y = *Value::WrapTensor(DType::kFloat32, dims, memory + 16, nullptr, nullptr);
  REQUIRE(invocation
              ->Run("main", {x, y},
                    {{DType::kFloat32, {4}, memory}, {DType::kFloat32, {4}, memory + 16}})
              .ok());
  CHECK(memory[0] == 16);
  CHECK(memory[3] == 19);
  CHECK(memory[16] == 0);
  // Shifted by one element.
  REQUIRE(invocation->Run("main", {x, x}, {{}, {DType::kFloat32, {4}, memory + 1}}).ok());
  CHECK(memory[1] == 16);
  CHECK(memory[4] == 19);
  CHECK(memory[0] == 16);
}

}  // namespace
}  // namespace relayvm

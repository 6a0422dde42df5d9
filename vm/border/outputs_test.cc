#include "vm/border/outputs.h"

#include <array>
#include <cstring>
#include <future>
#include <numeric>
#include <string_view>
#include <utility>

#include "bytecode/base/status_detail.h"
#include "vm/schedule/scheduler.h"
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
                                           {{DType::kFloat32, {{3}}, x.data()},
                                            {DType::kFloat32, {{rows, 2}}, y.data()},
                                            {DType::kFloat32, {{2, 2}}, z.data() + 1}});
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

TEST_CASE(
    "outputs: an input that is passed through keeps its value, though a buffer lies over it") {
  // (y, x, x): any of the three may have a buffer, anywhere in the memory of x.
  auto invocation = testing::NewInvocation(LoadText(R"(
.version 1
.export "main" f0 ("x": float32[?"n"], "y": float32[?"n"]) -> (float32[?"n"], (float32[?"n"], float32[?"n"]))
.function "main" scalars 0 objects 2 captured 0 registers 0 4 returns object arena 0
  adt.new r2, #0, [r0, r0!]
  adt.new r3, #0, [r1!, r2!]
  ret.r r3!
.end
)"));
  for (const int64_t n : {4, 8192}) {
    for (const int64_t shift : {int64_t{0}, int64_t{1}, n - 1}) {
      const auto size = static_cast<size_t>(n);
      std::vector<float> memory(3 * size), x(size), y(size);
      for (size_t i = 0; i < size; ++i) {
        x[i] = memory[size + i] = static_cast<float>(i);
        y[i] = -1.0F - static_cast<float>(i);
      }
      const Value input =
          *Value::WrapTensor(DType::kFloat32, {{n}}, memory.data() + n, nullptr, nullptr);
      float* const to = memory.data() + n + shift;
      Result<Value> result =
          invocation->Run("main", {input, Floats({n}, y)}, {{DType::kFloat32, {{n}}, to}});
      REQUIRE_MESSAGE(result.ok(), result.status().message());
      CHECK(std::equal(y.begin(), y.end(), to));
      CHECK(ElementsOf<float>(result->field(1).field(0)) == x);
      CHECK(ElementsOf<float>(result->field(1).field(1)) == x);
    }
  }
}

TEST_CASE("outputs: one tensor goes to its buffer, wherever that lies over the input that it is") {
  auto invocation = testing::NewInvocation(LoadText(R"(
.version 1
.export "main" f0 ("x": float32[?"n"]) -> float32[?"n"]
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)"));
  constexpr int64_t n = 32;
  for (const int64_t shift : {0, 1, 7, -1, -31, 32, -32}) {
    alignas(64) std::array<float, 3 * n> memory;
    std::iota(memory.begin(), memory.end(), 0.0F);
    const std::vector<float> x(memory.begin() + n, memory.begin() + 2 * n);
    const Value input =
        *Value::WrapTensor(DType::kFloat32, {{n}}, memory.data() + n, nullptr, nullptr);
    REQUIRE(input.data() == memory.data() + n);
    float* const to = memory.data() + n + shift;
    const Result<Value> result = invocation->Run("main", {input}, {{DType::kFloat32, {{n}}, to}});
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    CHECK(result->kind() == Value::Kind::kNone);
    CHECK(std::equal(x.begin(), x.end(), to));
    CHECK(invocation->Run("main", {input}, {{DType::kFloat32, {{n + 1}}, to}}).status().code() ==
          StatusCode::kInvalidArgument);
    CHECK(invocation->Run("main", {input}, {{}})->is_tensor());  // no buffer
  }
  std::vector<float> none;
  CHECK(invocation->Run("main", {Floats({0}, none)}, {{DType::kFloat32, {{0}}, &none}}).ok());
}

TEST_CASE("outputs: fewer buffers than tensors, and gaps; in slices") {
  auto invocation = testing::NewInvocation(NestedProgram());
  std::vector<float> y(4);
  std::vector<int64_t> dims = {2, 2};
  REQUIRE(invocation->Start("main", NestedInputs(2), {{}, {DType::kFloat32, dims, y.data()}}).ok());
  dims.assign(2, -1);  // what the run needs of them it has
  while (invocation->Poll(std::chrono::nanoseconds(1)) != RunState::kDone) {
  }
  Result<Value> result = invocation->TakeResult();
  REQUIRE(result.ok());
  CHECK(y == std::vector<float>(4, 7));
  CHECK(ElementsOf<float>(result->field(0)) == std::vector<float>{1, 2, 3});
  CHECK(result->field(2).dims()[1] == 2);
}

TEST_CASE("outputs: dims of buffers may go once a scheduler has the run") {
  auto scheduler = *Scheduler::Create(testing::TestRuntime(), {.num_threads = 1});
  std::vector<float> x(3), y(4);
  std::promise<void> go;
  std::promise<Result<Value>> first, second;
  std::vector<int64_t> dims = {3, 2, 2};
  // It begins when the one before it has ended.
  const auto executable = NestedProgram();
  REQUIRE(scheduler
              ->RunAsync({.executable = executable, .inputs = NestedInputs(2)},
                         [&](Result<Value> result) {
                           go.get_future().wait();
                           first.set_value(std::move(result));
                         })
              .ok());
  REQUIRE(scheduler
              ->RunAsync({.executable = executable,
                          .inputs = NestedInputs(2),
                          .outputs = {{DType::kFloat32, {dims.data(), 1}, x.data()},
                                      {DType::kFloat32, {dims.data() + 1, 2}, y.data()}}},
                         [&](Result<Value> result) { second.set_value(std::move(result)); })
              .ok());
  dims.assign(3, -1);
  go.set_value();
  const Result<Value> result = second.get_future().get();
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(x == std::vector<float>{1, 2, 3});
  CHECK(y == std::vector<float>(4, 7));
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
  Status status = run({{}, {}, {DType::kFloat32, {{3, 2}}, memory}});
  CHECK(status.message() ==
        "main: output third: expected a buffer for Tensor[(2, m), float32], found one for "
        "Tensor[(3, 2), float32]");
  REQUIRE(status.detail() != nullptr);
  CHECK(status.detail()->subject == "third");
  CHECK(status.detail()->expected == std::vector<int64_t>{2, -1});
  CHECK(status.detail()->found == std::vector<int64_t>{3, 2});
  status = run({{DType::kFloat64, {{3}}, memory}});
  CHECK(Contains(status.message(), "found one for Tensor[(3), float64]"));
  CHECK(Contains(run({{DType::kFloat32, {{-1}}, memory}}).message(), "Tensor[(-1), float32]"));
  CHECK(Contains(run({{DType::kFloat32, {{INT64_MAX}}, memory}}).message(), "output first"));
  CHECK(Contains(run({{}, {}, {}, {}}).message(), "expected at most 3 output buffers, found 4"));
  CHECK(Contains(
      run({{DType::kFloat32, {{3}}, memory}, {DType::kFloat32, {{2, 2}}, memory + 2}}).message(),
      "the buffers of outputs first and second overlap"));
  // Known at the end only: the first buffer, which fits, is not written either.
  status = run({{DType::kFloat32, {{3}}, memory}, {DType::kFloat32, {{4, 2}}, memory + 3}});
  CHECK(status.message() ==
        "main: output second: expected a buffer for Tensor[(2, 2), float32], found one for "
        "Tensor[(4, 2), float32]");
  CHECK(status.detail()->expected == std::vector<int64_t>{2, 2});
  CHECK(invocation->Run("main", NestedInputs(2)).ok());
}

TEST_CASE("outputs: buffers are counted by tensors, and named by outputs") {
  // The second output is a list, which has no buffer: buffer 1 is for the third.
  for (const bool all : {true, false}) {
    const std::string names = all ? R"("a" "list" "b")" : R"("a" "b")";
    auto invocation = testing::NewInvocation(LoadText(R"(
.version 1
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.export "main" f0 ("x": float32[3]) -> (float32[3], data 0(bool[]), float32[3]) )" +
                                                      names +
                                                      R"(
.function "main" scalars 0 objects 1 captured 0 registers 0 3 returns object arena 0
  adt.new r1, #0, []
  adt.new r2, #0, [r0, r1!, r0!]
  ret.r r2!
.end
)"));
    float memory[3] = {};
    const Result<Value> result =
        invocation->Run("main", {Floats({3}, {1, 2, 3})}, {{}, {DType::kFloat32, {{4}}, memory}});
    REQUIRE(!result.ok());
    CHECK(result.status().message() ==
          "main: output b: expected a buffer for Tensor[(3), float32], found one for "
          "Tensor[(4), float32]");
    CHECK(result.status().detail()->subject == "b");
  }
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
      invocation->Run("main", {Floats({3}, {1, 2, 3})}, {{DType::kFloat32, {{3}}, out}});
  REQUIRE(result.ok());
  CHECK(!*result);
  CHECK(out[2] == 3);
  result = invocation->Run("main", {Floats({0}, {})}, {{DType::kFloat32, {{0}}, out}});
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
                    {{DType::kFloat32, {{4}}, memory}, {DType::kFloat32, {{4}}, memory + 16}})
              .ok());
  CHECK(memory[0] == 16);
  CHECK(memory[3] == 19);
  CHECK(memory[16] == 0);
  // Shifted by one element.
  REQUIRE(invocation->Run("main", {x, x}, {{}, {DType::kFloat32, {{4}}, memory + 1}}).ok());
  CHECK(memory[1] == 16);
  CHECK(memory[4] == 19);
  CHECK(memory[0] == 16);
}

// --- Results that are made in their buffers (output_places.h) ---

constexpr int64_t kMany = 8192;  // elements; 32 KiB

// Where the last call of "reversed" wrote to.
const void* g_written = nullptr;

int32_t Reversed(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  const auto* x = static_cast<const float*>(args->buffers[0]);
  auto* out = static_cast<float*>(args->buffers[1]);
  for (int64_t i = 0; i < kMany; ++i) out[i] = x[kMany - 1 - i];
  g_written = out;
  return 0;
}
constexpr Builtin kReversed[] = {{"reversed", Reversed}};

struct Aligned {
  alignas(64) std::array<float, kMany + 16> data;
};

std::vector<float> Counted(float first, float step) {
  std::vector<float> numbers(kMany);
  for (float& f : numbers) f = std::exchange(first, first + step);
  return numbers;
}
const std::vector<float>& Upwards() {
  static const std::vector<float> numbers = Counted(0, 1);
  return numbers;
}
const std::vector<float>& Downwards() {
  static const std::vector<float> numbers = Counted(kMany - 1, -1);
  return numbers;
}

// f0 of "x", which is r0, and "take", which is r1 and true; six registers of each bank.
std::shared_ptr<const Executable> ReversingProgram(const std::string& result,
                                                   const std::string& body,
                                                   const std::string& functions = "") {
  return LoadText(fmt::format(R"(
.version 1
.kernel "reversed" scalars 0 buffers (float32[8192], out float32[8192]) builtin
.type float32[8192]
.data "Box" 0
  .constructor "Box" (float32[8192])
.export "main" f0 ("x": float32[8192], "take": int64[]) -> {}
.function "main" scalars 0 objects 2 captured 0 registers 6 6 returns object arena 0
{}.end
{})",
                              result, body, functions),
                  kReversed);
}

struct Reversing {
  const char* name;
  const char* result;
  const char* body;
  bool in_place;  // where the buffer can be written to at once
};

constexpr Reversing kReversing[] = {
    {"a static tensor", "float32[8192]",
     "  tensor.static r2, t0\n  kernel.1 k0, [], [r0, r2]\n  ret.r r2!\n", true},
    {"dims from registers", "float32[8192]",
     "  const.i16 i0, 8192\n  tensor.alloc r2, float32, [i0]\n  kernel.1 k0, [], [r0, r2]\n"
     "  ret.r r2!\n",
     true},
    {"the memory of a temporary", "float32[8192]",
     "  const.i16 i0, 8192\n  tensor.static r2, t0\n  kernel.1 k0, [], [r0, r2]\n"
     "  tensor.static r3, t0\n  kernel.1 k0, [], [r2, r3]\n"
     "  tensor.reuse r2, r2!, float32, [i0]\n  kernel.1 k0, [], [r3, r2]\n  ret.r r2!\n",
     true},
    {"moved, viewed, in a tuple", "(float32[4, 2048])",
     "  const.i16 i0, 4\n  const.i16 i1, 2048\n  tensor.static r2, t0\n"
     "  kernel.1 k0, [], [r0, r2]\n  mov.r r3, r2!\n  tensor.view r4, r3!, [i0, i1]\n"
     "  adt.new r5, #0, [r4!]\n  ret.r r5!\n",
     true},
    {"viewed, and held elsewhere", "(float32[4, 2048], data 0())",
     "  const.i16 i0, 4\n  const.i16 i1, 2048\n  tensor.static r2, t0\n"
     "  kernel.1 k0, [], [r0, r2]\n  tensor.view r4, r2, [i0, i1]\n  adt.new r3, #0, [r2!]\n"
     "  adt.new r5, #0, [r4!, r3!]\n  ret.r r5!\n",
     true},
    {"before a call", "float32[8192]",
     "  tensor.static r2, t0\n  kernel.1 k0, [], [r0, r2]\n  call.r r3, f1, [], [r0]\n"
     "  ret.r r2!\n",
     true},
    {"on one way of two", "float32[8192]",
     "  tensor.item i0, r1!, int64, 0\n  br.if i0, L0\n  ret.r r0!\nL0:\n"
     "  tensor.static r2, t0\n  kernel.1 k0, [], [r0, r2]\n  ret.r r2!\n",
     true},
    {"made, then one of two ways", "float32[8192]",
     "  tensor.item i0, r1!, int64, 0\n  tensor.static r2, t0\n"
     "  kernel.1 k0, [], [r0, r2]\n  br.if i0, L0\n  ret.r r0!\nL0:\n  ret.r r2!\n",
     false},
    {"before a call of itself, which makes its own", "float32[8192]",
     "  tensor.item i0, r1!, int64, 0\n  br.if i0, L0\n  tensor.static r2, t0\n"
     "  kernel.1 k0, [], [r0, r2]\n  ret.r r2!\nL0:\n  tensor.static r2, t0\n"
     "  kernel.1 k0, [], [r0, r2]\n  const.i16 i0, 0\n  tensor.box r3, i0, int64\n"
     "  call.r r4, f0, [], [r2, r3!]\n  ret.r r2!\n",
     true},
    {"in a call", "float32[8192]", "  call.r r2, f1, [], [r0!]\n  ret.r r2!\n", false},
    {"in the last call", "float32[8192]", "  tail.call f1, [], [r0!]\n", false},
};

constexpr const char* kReverse =
    ".function \"reverse\" scalars 0 objects 1 captured 0 registers 0 2 returns object arena 0\n"
    "  tensor.static r1, t0\n  kernel.1 k0, [], [r0!, r1]\n  ret.r r1!\n.end\n";

TEST_CASE("outputs: what plainly becomes the result is made in its buffer") {
  for (const Reversing& c : kReversing) {
    CAPTURE(std::string(c.name));
    auto invocation = testing::NewInvocation(ReversingProgram(c.result, c.body, kReverse));
    Aligned out{};
    const std::vector<Value> inputs = {Floats({kMany}, Upwards()), Value::Int64(1)};
    const bool is_flat = std::string_view(c.result).starts_with("float32");
    const std::vector<int64_t> dims =
        is_flat ? std::vector<int64_t>{kMany} : std::vector<int64_t>{4, 2048};
    for (const size_t shift : {0, 1}) {  // aligned, and not
      out.data.fill(-1);
      float* const to = out.data.data() + shift;
      Result<Value> result = invocation->Run("main", inputs, {{DType::kFloat32, dims, to}});
      REQUIRE_MESSAGE(result.ok(), result.status().message());
      CHECK(std::equal(Downwards().begin(), Downwards().end(), to));
      CHECK(to[kMany] == -1);
      const bool in_place = c.in_place && shift == 0;
      const bool calls_later = std::string_view(c.name).starts_with("before a call");
      if (!calls_later) CHECK((g_written == to) == in_place);
      // One tensor less in the heap, if it is not in a temporary's memory there.
      const uint64_t peak = invocation->stats().peak_bytes;
      REQUIRE(invocation->Run("main", inputs).ok());
      if (std::string_view(c.name) != "the memory of a temporary")
        CHECK((peak < invocation->stats().peak_bytes) == in_place);
      // What stays in the result is its own.
      if (std::string_view(c.result).find("data") == std::string_view::npos) continue;
      out.data.fill(-2);
      CHECK(ElementsOf<float>(result->field(1).field(0)) == Downwards());
    }
  }
}

TEST_CASE("outputs: one tensor twice is made in the later buffer and copied to the other") {
  auto invocation = testing::NewInvocation(ReversingProgram(
      "(float32[8192], float32[8192])",
      "  tensor.static r2, t0\n  kernel.1 k0, [], [r0, r2]\n  adt.new r3, #0, [r2, r2]\n"
      "  ret.r r3!\n"));
  Aligned a{}, b{};
  const std::vector<Value> inputs = {Floats({kMany}, Upwards()), Value::Int64(1)};
  const int64_t dims[] = {kMany};
  const OutputBuffer to_a{DType::kFloat32, dims, a.data.data()};
  const OutputBuffer to_b{DType::kFloat32, dims, b.data.data()};
  REQUIRE(invocation->Run("main", inputs, {to_a, to_b}).ok());
  CHECK(std::equal(Downwards().begin(), Downwards().end(), a.data.data()));
  CHECK(std::equal(Downwards().begin(), Downwards().end(), b.data.data()));
  // With a buffer for one of them, the other one is the result's own.
  for (const bool first : {true, false}) {
    Result<Value> result = first ? invocation->Run("main", inputs, {to_a})
                                 : invocation->Run("main", inputs, {{}, to_a});
    REQUIRE(result.ok());
    CHECK(std::equal(Downwards().begin(), Downwards().end(), a.data.data()));
    a.data.fill(-3);
    CHECK(ElementsOf<float>(result->field(first ? 1 : 0)) == Downwards());
  }
}

TEST_CASE("outputs: what an input lies in is written when the run ends") {
  const char* reverse = "  tensor.static r2, t0\n  kernel.1 k0, [], [r0, r2]\n  ret.r r2!\n";
  auto invocation = testing::NewInvocation(ReversingProgram("float32[8192]", reverse));
  const int64_t dims[] = {kMany};
  for (const size_t shift : {0, 16}) {  // all of it, and all but a line
    Aligned memory{};
    std::ranges::copy(Upwards(), memory.data.begin());
    Value x = *Value::WrapTensor(DType::kFloat32, dims, memory.data.data(), nullptr, nullptr);
    float* const to = memory.data.data() + shift;
    REQUIRE(invocation->Run("main", {x, Value::Int64(1)}, {{DType::kFloat32, {{kMany}}, to}}).ok());
    CHECK(std::equal(Downwards().begin(), Downwards().end(), to));
    CHECK(g_written != to);
  }
}

TEST_CASE("outputs: a host function that keeps what is made in a buffer has a copy") {
  Value kept;
  const HostFunction keep{"keep", "", [&](HostCall& call) -> Result<Value> {
                            kept = call.args()[0];
                            return Value::Tuple({});
                          }};
  auto program = Assemble(R"(
.version 1
.kernel "reversed" scalars 0 buffers (float32[8192], out float32[8192]) builtin
.type float32[8192]
.host "keep" (float32[8192]) -> ()
.export "main" f0 ("x": float32[8192]) -> float32[8192]
.function "main" scalars 0 objects 1 captured 0 registers 0 3 returns object arena 0
  tensor.static r1, t0
  kernel.1 k0, [], [r0, r1]
  call.host r2, h0, [r1]
  ret.r r1!
.end
)");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  LoadOptions options;
  options.kernels = kReversed;
  options.host_functions = std::span(&keep, 1);
  auto executable = Executable::FromProgram(*std::move(program), options);
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  auto invocation = testing::NewInvocation(*executable);
  Aligned out{};
  REQUIRE(invocation
              ->Run("main", {Floats({kMany}, Upwards())},
                    {{DType::kFloat32, {{kMany}}, out.data.data()}})
              .ok());
  CHECK(g_written == out.data.data());
  out.data.fill(-1);
  CHECK(ElementsOf<float>(kept) == Downwards());
}

}  // namespace
}  // namespace relayvm

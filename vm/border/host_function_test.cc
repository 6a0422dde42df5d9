// Host functions: how they are linked, what crosses, what is refused.
#include "vm/border/host_function.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "vm/border/host_testing.h"
#include "vm/platform/sanitizers.h"

namespace relayvm {
namespace {

using testing::Body;
using testing::Contains;
using testing::Forward;
using testing::Identity;
using testing::Int64Values;
using testing::LoadForward;
using testing::LoadHost;
using testing::NewInvocation;
using testing::OnInt64;
using testing::RunOk;
using testing::ToInt64;

// --- Linking ---

Status LoadError(const std::string& text, std::vector<HostFunction> functions) {
  Result<Program> program = Assemble(text);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  auto executable = Executable::FromProgram(*std::move(program), {.host_functions = functions});
  REQUIRE(!executable.ok());
  return executable.status();
}

TEST_CASE("host functions: what is missing is named with its type") {
  Status status = LoadError(Forward("int64[]", "float32[?\"n\", 128]"), {{"g", "", Identity}});
  CHECK(status.code() == StatusCode::kUnsupported);
  CHECK(status.message() ==
        "the program needs host function 'f' of type fn (int64) -> Tensor[(n, 128), float32], "
        "which the host has not registered");
}

TEST_CASE("host functions: types are checked when the program is loaded") {
  const std::string tables =
      ".data \"List\" 1\n.constructor \"Nil\" ()\n"
      ".constructor \"Cons\" (var 0, data 0(var 0))";
  const std::string text = Forward("(int64[], data 0(bool[3]))", "float32[?\"n\", 128]", tables);
  const std::string declares =
      "host function 'f': the program declares fn ((int64, List[Tensor[(3), bool]])) -> "
      "Tensor[(n, 128), float32], the host ";
  struct Case {
    std::string type, message;
  };
  const Case kWrong[] = {
      {"fn () -> Tensor[(?, 128), float32]", "expected 1 parameters, found 0"},
      {"fn ((int64, List[Tensor[(3), bool]])) -> Tensor[(?, 64), float32]",
       "result: expected Tensor[(n, 128), float32], found Tensor[(?, 64), float32]"},
      {"fn ((int64, List[Tensor[(3), bool]])) -> Tensor[(?, 128), float64]",
       "result: expected Tensor[(n, 128), float32], found Tensor[(?, 128), float64]"},
      {"fn ((int64, List[Tensor[(3), bool]])) -> Tensor[(128), float32]",
       "result: expected Tensor[(n, 128), float32], found Tensor[(128), float32]"},
      {"fn ((int64, List[bool])) -> Tensor[(?, 128), float32]",
       "parameter 0: expected (int64, List[Tensor[(3), bool]]), found (int64, List[bool])"},
      {"fn ((int64,)) -> int64",
       "parameter 0: expected (int64, List[Tensor[(3), bool]]), found (int64,)"},
      {"fn (Tree) -> int64", "the program has no type 'Tree'"},
      {"fn (List) -> int64", "type List takes 1 type arguments, 0 are given"},
      {"fn (Tensor[(3), bool]", "expected ',' or ')', found the end of the line"},
      {"fn () -> ", "expected a type, found the end of the line"},
      {"fn () -> () more", "expected the end, found 'more'"},
      {"int64", "expected 'fn', found 'int64'"},
      {"fn () -> Tensor[(-2), bool]", "expected a dim, found '-2), bool]'"},
      {"fn () -> Tensor[(2), handle]", "unknown dtype 'handle'"},
  };
  for (const Case& c : kWrong) {
    CAPTURE(c.type);
    Status status = LoadError(text, {{"f", c.type, Identity}});
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message() == declares + c.type + ": " + c.message);
  }
  for (const char* type :
       {"fn ((int64, List[Tensor[(3), bool]])) -> Tensor[(?, 128), float32]",
        "fn((Tensor[(),int64],List[Tensor[(?),bool]]))->Tensor[(m,?),float32]"}) {
    CAPTURE(type);
    LoadHost(text, {{"other", "nonsense", nullptr}, {"f", type, Identity}});
  }
  CHECK(LoadError(text, {{"f", "", nullptr}}).message() ==
        "host function 'f': it is registered without a function to call");
  CHECK(LoadError(text, {{"f", "", Identity}, {"f", "", Identity}}).message() ==
        "host function 'f': it is registered twice");
}

// --- Values ---

constexpr const char* kList = R"(
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0)))";

TEST_CASE("host functions: any value goes in and comes out") {
  auto executable = LoadForward(
      "(float32[?, 3], data 0(int64[]))", "(data 0(int64[]), float32[?, 3])",
      [](HostCall& call) -> Result<Value> {
        const Value& pair = call.args()[0];
        return Value::Tuple({pair.field(1), pair.field(0)});
      },
      kList);
  Value list = Value::Adt(0, {});
  for (int64_t i = 0; i < 100'000; ++i) list = Value::Adt(1, {Value::Int64(i), list});
  for (int64_t rows : {0, 1, 5000}) {
    std::vector<float> elements(static_cast<size_t>(rows * 3));
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i);
    Value result = RunOk(executable, {Value::Tuple({testing::Floats({rows, 3}, elements), list})});
    CHECK(testing::ElementsOf<float>(result.field(1)) == elements);
    CHECK(result.field(1).dims()[0] == rows);
    Value rest = result.field(0);
    for (int64_t i = 100'000; i-- > 0; rest = rest.field(1)) {
      if (ToInt64(rest.field(0)) != i) REQUIRE(ToInt64(rest.field(0)) == i);
    }
    CHECK(rest.tag() == 0);
  }
}

TEST_CASE("host functions: an argument that the program keeps is not changed by the host") {
  // main(n, x): t = x's elements in new memory; (h0(t), t), or (h0(t), x) when the call is the last
  // use of t.
  constexpr const char* kProgram = R"(
.version 5
.host "f" (int64[?]) -> int64[?]
.constant int64[0] ""
.export "main" f0 ("n": int64[], "x": int64[?]) -> (int64[?], int64[?])
.function "main" scalars 0 objects 2 captured 0 registers 1 4 returns object arena 0
  tensor.dim i0, r1, #0
  const.r r3, c0
  tensor.append r2, r1, r3, int64, [i0]
  call.host r3, h0, [r2%TAKE%]
  adt.new r3, #0, [r3!, %KEPT%]
  ret.r r3!
.end
)";
  for (bool take : {false, true}) {
    std::string text = kProgram;
    text.replace(text.find("%TAKE%"), 6, take ? "!" : "");
    text.replace(text.find("%KEPT%"), 6, take ? "r1!" : "r2!");
    for (int64_t n : {10, 100'000}) {
      std::vector<Value> kept;
      auto executable = LoadHost(
          text, {{"f", "", [&](HostCall& call) -> Result<Value> {
                    kept.push_back(call.args()[0]);
                    auto* data = static_cast<int64_t*>(const_cast<void*>(call.args()[0].data()));
                    std::fill_n(data, n, 7);
                    return call.args()[0];
                  }}});
      auto invocation = NewInvocation(executable);
      std::vector<int64_t> elements(static_cast<size_t>(n), 3);
      Value x = testing::TensorOf(DType::kInt64, {n}, elements);
      Value result = RunOk(*invocation, {Value::Int64(n), x});
      CHECK(testing::ElementsOf<int64_t>(result.field(0)) == std::vector<int64_t>(n, 7));
      // The host's value is its own, also once the invocation has ended.
      invocation.reset();
      CHECK(testing::ElementsOf<int64_t>(kept[0]) == std::vector<int64_t>(n, 7));
      CHECK(testing::ElementsOf<int64_t>(result.field(1)) == elements);
      CHECK(testing::ElementsOf<int64_t>(x) == elements);
    }
  }
}

TEST_CASE("host functions: a result of another type is an error that says so") {
  struct Case {
    std::string result;
    Value value;
    std::string message;
  };
  const Case kCases[] = {
      {"int64[]", Value::Int32(1), "expected int64, found int32"},
      {"int64[]", Value(), "expected int64, found nothing"},
      {"float32[?\"n\", 3]", testing::Floats({3}, {1, 2, 3}),
       "expected Tensor[(n, 3), float32], found Tensor[(3), float32]"},
      {"float32[?, 3]", testing::Floats({3, 1}, {1, 2, 3}),
       "expected Tensor[(?, 3), float32], found Tensor[(3, 1), float32]"},
      {"(int64[], bool[])", Value::Tuple({Value::Int64(1)}),
       "expected (int64, bool), found a tuple or constructor with tag 0 and 1 fields"},
      {"(int64[], bool[])", Value::Tuple({Value::Int64(1), Value::Int64(1)}),
       "expected bool, found int64"},
      {"data 0(int64[])", Value::Adt(2, {}),
       "expected List[int64], found a tuple or constructor with tag 2 and 0 fields"},
      {"data 0(int64[])", Value::Adt(1, {Value::Int64(1)}), "Cons takes 2 fields, found 1"},
      {"data 0(int64[])", Value::Adt(1, {Value::Int64(1), Value()}),
       "expected List[A], found nothing"},
      {"data 0(int64[])", Value::Adt(1, {Value::Bool(true), Value::Adt(0, {})}),
       "expected int64, found bool"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.message);
    auto invocation = NewInvocation(LoadForward(
        "int64[]", c.result, [&](HostCall&) -> Result<Value> { return c.value; }, kList));
    Result<Value> result = invocation->Run("main", Int64Values({1}));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kFailedPrecondition);
    CHECK(result.status().message() == "main+0x0: host function f: result: " + c.message);
  }
}

TEST_CASE("host functions: the memory limit counts what they give, and no run leaks") {
  auto executable = LoadForward("int64[]", "int8[?]", [](HostCall& call) -> Result<Value> {
    const auto n = static_cast<int64_t>(call.args()[0].element(0));
    return Value::NewTensor(DType::kInt8, std::span(&n, 1));
  });
  auto invocation = NewInvocation(executable, {.memory_limit = 1 << 20});
  for (int64_t n : {1000, 3'000'000, 1'000'000, 2'000'000}) {
    Result<Value> result = invocation->Run("main", Int64Values({n}));
    CHECK(result.ok() == (n <= 1'000'000));
    if (result.ok()) continue;
    CHECK(result.status().code() == StatusCode::kResourceExhausted);
    CHECK(Contains(result.status().message(),
                   "main+0x0: no memory for the result of host function f: "));
  }
}

TEST_CASE("host functions: failures and exceptions are statuses with the place") {
  struct Case {
    Body body;
    StatusCode code;
    std::string message;
  };
  const Case kCases[] = {
      {[](HostCall&) { return Result<Value>(StatusCode::kNotFound, "no row 3"); },
       StatusCode::kNotFound, "no row 3"},
      {[](HostCall&) -> Result<Value> { throw std::runtime_error("lost"); }, StatusCode::kInternal,
       "exception: lost"},
      {[](HostCall&) -> Result<Value> { throw 3; }, StatusCode::kInternal,
       "exception of an unknown type"},
      {[](HostCall&) -> Result<Value> { throw std::bad_alloc(); }, StatusCode::kResourceExhausted,
       "out of memory"},
  };
  for (const Case& c : kCases) {
    auto invocation = NewInvocation(OnInt64(c.body));
    for (int turn = 0; turn < 2; ++turn) {
      Result<Value> result = invocation->Run("main", Int64Values({1}));
      REQUIRE(!result.ok());
      CHECK(result.status().code() == c.code);
      CHECK(result.status().message() == "main+0x0: host function f: " + c.message);
    }
  }
}

#ifdef NDEBUG  // else Result's assert says so
TEST_CASE("host functions: a status without an error is no result") {
  auto invocation = NewInvocation(OnInt64([](HostCall&) -> Result<Value> { return OkStatus(); }));
  Result<Value> result = invocation->Run("main", Int64Values({1}));
  CHECK(result.status().code() == StatusCode::kInternal);
  CHECK(Contains(result.status().message(), "it gave neither a value nor a failure"));
}
#endif

TEST_CASE("host functions: a cancellation ends one run, whatever the function makes of it") {
  Invocation* self = nullptr;
  auto invocation = NewInvocation(OnInt64([&](HostCall& call) -> Result<Value> {
    if (testing::ToInt64(call.args()[0]) == 0) return Value::Int64(0);
    self->Cancel();
    CHECK(call.CheckInterrupt().code() == StatusCode::kCancelled);
    return Status(StatusCode::kNotFound, "given up");
  }));
  self = invocation.get();
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(invocation->Run("main", Int64Values({1})).status().code() == StatusCode::kNotFound);
    CHECK(invocation->Run("main", Int64Values({0})).ok());
  }
}

#if !RELAYVM_ASAN && !RELAYVM_TSAN
TEST_CASE("host functions: who polls or destroys its own run is told, and the process ends") {
  for (bool polls : {true, false}) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], STDERR_FILENO);
      std::signal(SIGABRT, SIG_DFL);
      std::unique_ptr<Invocation> invocation;
      invocation = NewInvocation(OnInt64([&](HostCall&) -> Result<Value> {
        if (polls) invocation->Poll();
        invocation.reset();
        return Value::Int64(0);
      }));
      (void)invocation->Run("main", Int64Values({1}));
      _exit(0);
    }
    close(ends[1]);
    char text[200] = {};
    CHECK(read(ends[0], text, sizeof(text) - 1) > 0);
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(Contains(text, polls ? "was polled by a host function of its own run"
                               : "was destroyed by a host function of its own run"));
  }
}
#endif

TEST_CASE("host functions: know what calls them") {
  int context = 0;
  uint64_t id = 0;
  auto executable = OnInt64([&](HostCall& call) -> Result<Value> {
    CHECK(call.function() == "f");
    CHECK(call.context() == &context);
    CHECK(call.executable().FindExport("main") != nullptr);
    CHECK(call.deadline() - std::chrono::steady_clock::now() > std::chrono::seconds(50));
    CHECK(call.CheckInterrupt().ok());
    id = call.invocation_id();
    return call.args()[0];
  });
  auto invocation =
      NewInvocation(executable, {.timeout = std::chrono::seconds(100), .host_context = &context});
  RunOk(*invocation, Int64Values({1}));
  CHECK(id == invocation->id());
  auto other = NewInvocation(OnInt64([](HostCall& call) -> Result<Value> {
    CHECK(call.deadline() == std::chrono::steady_clock::time_point::max());
    return call.args()[0];
  }));
  RunOk(*other, Int64Values({1}));
}

}  // namespace
}  // namespace relayvm

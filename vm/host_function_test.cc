// Host functions: what crosses, what is refused, how runs wait and are woken.
#include "vm/host_function.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "vm/testing.h"

namespace relayvm {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::Int64Values;
using testing::NewInvocation;
using testing::RunOk;
using testing::ToInt64;
using Body = std::function<Result<Value>(HostCall&)>;

std::shared_ptr<const Executable> LoadHost(const std::string& text,
                                           std::vector<HostFunction> functions) {
  Result<Program> program = Assemble(text);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  auto executable = Executable::FromProgram(*std::move(program), {.host_functions = functions});
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  return *executable;
}

// main(x) = h0(x), of these types.
std::string Forward(const std::string& param, const std::string& result,
                    const std::string& tables = "") {
  return fmt::format(R"(
.version 5
{2}
.host "f" ({0}) -> {1}
.export "main" f0 ("x": {0}) -> {1}
.function "main" scalars 0 objects 1 captured 0 registers 0 2 returns object arena 0
  call.host r1, h0, [r0]
  ret.r r1!
.end
)",
                     param, result, tables);
}
std::shared_ptr<const Executable> LoadForward(const std::string& param, const std::string& result,
                                              Body body, const std::string& tables = "") {
  return LoadHost(Forward(param, result, tables), {{"f", "", std::move(body)}});
}
std::shared_ptr<const Executable> OnInt64(Body body) {
  return LoadForward("int64[]", "int64[]", std::move(body));
}

// main(n): calls h0(i) for i = n .. 1, and gives the sum of what it gives.
std::shared_ptr<const Executable> Loop(Body body) {
  return LoadHost(".host \"f\" (int64[]) -> int64[]\n" + testing::ScalarProgram(1, R"(
L0:
  tensor.box r1, i0, int64
  call.host r2, h0, [r1!]
  tensor.item i1, r2!, int64, 0
  add.i i15, i15, i1
  addimm.i i0, i0, -1
  br.if i0, L0)"),
                  {{"f", "fn (int64) -> int64", std::move(body)}});
}

Result<Value> Identity(HostCall& call) { return call.args()[0]; }
Result<Value> SuspendForever(HostCall& call) {
  RELAYVM_RETURN_IF_ERROR(call.Suspend());
  return Status(StatusCode::kInternal, "nobody woke it");
}

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
      {[](HostCall&) -> Result<Value> { throw std::bad_alloc(); }, StatusCode::kInternal,
       "exception: std::bad_alloc"},
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

// --- Waiting ---

TEST_CASE("host functions: a loop goes on while its values arrive in order") {
  std::vector<int64_t> seen;
  auto invocation = NewInvocation(Loop([&](HostCall& call) -> Result<Value> {
    seen.push_back(ToInt64(call.args()[0]));
    call.waker().Wake();
    RELAYVM_RETURN_IF_ERROR(call.Suspend());
    return Value::Int64(1);
  }));
  CHECK(ToInt64(RunOk(*invocation, Int64Values({1000}))) == 1000);
  for (size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == 1000 - static_cast<int64_t>(i));
}

TEST_CASE("host functions: suspended by one, an invocation is not in the way of others") {
  std::deque<std::pair<Waker, int64_t>> waiting;
  auto executable = OnInt64([&](HostCall& call) -> Result<Value> {
    waiting.emplace_back(call.waker(), ToInt64(call.args()[0]));
    RELAYVM_RETURN_IF_ERROR(call.Suspend());
    return Value::Int64(ToInt64(call.args()[0]) * 2);
  });
  auto runtime = testing::TestRuntime();
  constexpr int64_t kMany = 100;
  std::vector<std::unique_ptr<Invocation>> invocations;
  std::vector<int> ready(kMany);
  for (int64_t i = 0; i < kMany; ++i) {
    invocations.push_back(*Invocation::Create(runtime, executable));
    invocations.back()->set_on_ready([&ready, i] { ++ready[static_cast<size_t>(i)]; });
    REQUIRE(invocations.back()->Start("main", Int64Values({i})).ok());
    CHECK(invocations.back()->Poll() == RunState::kWaiting);
    CHECK(invocations.back()->Poll() == RunState::kWaiting);
    CHECK(!invocations.back()->WakeIfDue());
    CHECK(invocations.back()->next_deadline() == std::chrono::steady_clock::time_point::max());
  }
  while (!waiting.empty()) {  // the last first
    auto [waker, i] = waiting.back();
    waiting.pop_back();
    waker.Wake();
    waker.Wake();
    CHECK(ready[static_cast<size_t>(i)] == 1);
    Invocation& invocation = *invocations[static_cast<size_t>(i)];
    CHECK(invocation.Poll() == RunState::kDone);
    CHECK(ToInt64(*invocation.TakeResult()) == 2 * i);
    waker.Wake();
    invocations[static_cast<size_t>(i)].reset();
    waker.Wake();
    CHECK(ready[static_cast<size_t>(i)] == 1);
  }
}

TEST_CASE("host functions: Run sleeps until another thread wakes it, early or late") {
  std::vector<std::thread> threads;
  auto invocation = NewInvocation(Loop([&](HostCall& call) -> Result<Value> {
    const int64_t i = ToInt64(call.args()[0]);
    std::atomic<bool> woken{false};
    threads.emplace_back([waker = call.waker(), i, &woken] {
      if (i % 2 == 0) std::this_thread::sleep_for(milliseconds(1));
      woken = true;
      waker.Wake();
    });
    if (i % 3 == 0) std::this_thread::sleep_for(milliseconds(2));
    RELAYVM_RETURN_IF_ERROR(call.Suspend());
    CHECK(woken);
    return call.args()[0];
  }));
  CHECK(ToInt64(RunOk(*invocation, Int64Values({40}))) == 820);
  for (std::thread& t : threads) t.join();
}

TEST_CASE("host functions: what is suspended for ever is cancelled, or runs out of time") {
  std::atomic<bool> suspended{false};
  auto executable = OnInt64([&](HostCall& call) -> Result<Value> {
    suspended = true;
    return SuspendForever(call);
  });
  auto invocation = NewInvocation(executable);
  std::thread canceller([&] {
    while (!suspended) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(2));
    invocation->Cancel();
  });
  Result<Value> result = invocation->Run("main", Int64Values({1}));
  canceller.join();
  CHECK(result.status().code() == StatusCode::kCancelled);
  CHECK(result.status().message() == "main+0x0: host function f: cancelled");

  invocation->set_timeout(milliseconds(5));
  result = invocation->Run("main", Int64Values({1}));
  CHECK(result.status().code() == StatusCode::kDeadlineExceeded);
  CHECK(result.status().message() == "main+0x0: host function f: the deadline has passed");
  CHECK(invocation->stats().run_ns >= 5'000'000);

  // In slices, who polls looks at the clock.
  int ready = 0;
  invocation->set_on_ready([&] { ++ready; });
  REQUIRE(invocation->Start("main", Int64Values({1})).ok());
  CHECK(invocation->Poll() == RunState::kWaiting);
  const auto deadline = invocation->next_deadline();
  CHECK(deadline < std::chrono::steady_clock::now() + milliseconds(6));
  invocation->Wait();
  CHECK(std::chrono::steady_clock::now() >= deadline);
  CHECK(invocation->WakeIfDue());
  CHECK(!invocation->WakeIfDue());
  CHECK(ready == 1);
  CHECK(invocation->Poll() == RunState::kDone);
  CHECK(invocation->TakeResult().status().code() == StatusCode::kDeadlineExceeded);

  // Cancelled, a waiting run is ready.
  invocation->set_timeout({});
  REQUIRE(invocation->Start("main", Int64Values({1})).ok());
  CHECK(invocation->Poll() == RunState::kWaiting);
  invocation->Cancel();
  invocation->Cancel();
  CHECK(ready == 2);
  CHECK(invocation->Poll() == RunState::kDone);
  CHECK(invocation->TakeResult().status().code() == StatusCode::kCancelled);
}

TEST_CASE("host functions: sleep without anybody to wake them") {
  auto invocation = NewInvocation(OnInt64([](HostCall& call) -> Result<Value> {
    const auto end = std::chrono::steady_clock::now() + milliseconds(3);
    RELAYVM_RETURN_IF_ERROR(call.SuspendUntil(end));
    CHECK(std::chrono::steady_clock::now() >= end);
    RELAYVM_RETURN_IF_ERROR(call.SuspendUntil(end));  // passed: at once
    return call.args()[0];
  }));
  CHECK(ToInt64(RunOk(*invocation, Int64Values({4}))) == 4);
}

TEST_CASE("host functions: a waker of a call that has ended wakes no other") {
  std::vector<Waker> wakers;
  auto invocation = NewInvocation(Loop([&](HostCall& call) -> Result<Value> {
    for (const Waker& old : wakers) old.Wake();
    wakers.push_back(call.waker());
    const auto start = std::chrono::steady_clock::now();
    RELAYVM_RETURN_IF_ERROR(call.SuspendUntil(start + milliseconds(1)));
    CHECK(std::chrono::steady_clock::now() - start >= milliseconds(1));
    return call.args()[0];
  }));
  CHECK(ToInt64(RunOk(*invocation, Int64Values({5}))) == 15);
  CHECK(ToInt64(RunOk(*invocation, Int64Values({5}))) == 15);
  invocation.reset();
  for (const Waker& old : wakers) old.Wake();
  Waker().Wake();
}

TEST_CASE("host functions: an invocation is destroyed while it waits") {
  std::optional<Waker> waker;
  int ready = 0;
  std::vector<Value> held = {testing::Floats({2}, {1, 2})};
  bool unwound = false;
  auto executable = OnInt64([&](HostCall& call) -> Result<Value> {
    struct Guard {
      bool& flag;
      ~Guard() { flag = true; }
    } guard{unwound};
    waker = call.waker();
    return SuspendForever(call);
  });
  auto invocation = NewInvocation(executable);
  invocation->set_on_ready([&] { ++ready; });
  REQUIRE(invocation->Start("main", Int64Values({1})).ok());
  CHECK(invocation->Poll() == RunState::kWaiting);
  invocation.reset();
  CHECK(unwound);
  CHECK(ready == 0);
  waker->Wake();
  CHECK(ready == 0);
}

TEST_CASE("host functions: deep in calls") {
  // f(n) = n == 0 ? 0 : h0(n) + f(n - 1)
  const std::string text = ".host \"f\" (int64[]) -> int64[]\n" +
                           testing::ScalarProgram(1, "  call.i i15, f1, [i0], []", R"(
.function "sum" scalars 1 objects 0 captured 0 registers 3 2 returns scalar arena 0
  br.if i0, L0
  ret.i i0
L0:
  addimm.i i1, i0, -1
  call.i i1, f1, [i1], []
  tensor.box r0, i0, int64
  call.host r1, h0, [r0!]
  tensor.item i2, r1!, int64, 0
  add.i i2, i2, i1
  ret.i i2
.end
)");
  auto invocation = NewInvocation(LoadHost(text, {{"f", "", [](HostCall& call) -> Result<Value> {
                                                     call.waker().Wake();
                                                     RELAYVM_RETURN_IF_ERROR(call.Suspend());
                                                     return call.args()[0];
                                                   }}}));
  constexpr int64_t kDepth = 200'000 / testing::kSlowdown;
  CHECK(ToInt64(RunOk(*invocation, Int64Values({kDepth}))) == kDepth * (kDepth + 1) / 2);
}

// --- Threads ---

// What a scheduler does: invocations that are ready, for any thread to poll; wakers for another
// thread to use.
class TestScheduler {
 public:
  void Enqueue(Invocation* invocation) {
    std::lock_guard lock(mutex_);
    ready_.push_back(invocation);
    changed_.notify_one();
  }
  void Remember(Waker waker) {
    std::lock_guard lock(mutex_);
    wakers_.push_back(std::move(waker));
    changed_.notify_one();
  }
  void Work(int runs) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return done_ == runs || !ready_.empty() || !wakers_.empty(); });
      if (!wakers_.empty()) {
        const Waker waker = std::move(wakers_.front());
        wakers_.pop_front();
        lock.unlock();
        waker.Wake();
        continue;
      }
      if (ready_.empty()) return;
      Invocation* invocation = ready_.front();
      ready_.pop_front();
      lock.unlock();
      const RunState state = invocation->Poll(std::chrono::microseconds(20));
      if (state == RunState::kWaiting) continue;  // on_ready has it
      lock.lock();
      if (state == RunState::kReady) {
        ready_.push_back(invocation);
      } else {
        ++done_;
      }
      changed_.notify_all();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Invocation*> ready_;
  std::deque<Waker> wakers_;
  int done_ = 0;
};

TEST_CASE("host functions: invocations of one program go from thread to thread") {
  constexpr int kInvocations = 40;
  const int64_t turns = 400 / (testing::kSlowdown > 1 ? 10 : 1);
  TestScheduler scheduler;
  auto executable = Loop([&](HostCall& call) -> Result<Value> {
    scheduler.Remember(call.waker());
    RELAYVM_RETURN_IF_ERROR(call.Suspend());
    return call.args()[0];
  });
  auto runtime = testing::TestRuntime();
  std::vector<std::unique_ptr<Invocation>> invocations;
  for (int i = 0; i < kInvocations; ++i) {
    Invocation* invocation =
        invocations.emplace_back(*Invocation::Create(runtime, executable)).get();
    invocation->set_on_ready([&scheduler, invocation] { scheduler.Enqueue(invocation); });
    REQUIRE(invocation->Start("main", Int64Values({turns + i})).ok());
    scheduler.Enqueue(invocation);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { scheduler.Work(kInvocations); });
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < kInvocations; ++i) {
    Result<Value> result = invocations[static_cast<size_t>(i)]->TakeResult();
    REQUIRE(result.ok());
    const int64_t n = turns + i;
    CHECK(ToInt64(*result) == n * (n + 1) / 2);
  }
}

TEST_CASE("host functions: cancellations, wakes and ends race") {
  auto runtime = testing::TestRuntime();
  std::atomic<int> cancelled{0}, ended{0};
  std::mutex mutex;
  std::vector<Waker> wakers;
  auto executable = OnInt64([&](HostCall& call) -> Result<Value> {
    {
      std::lock_guard lock(mutex);
      wakers.push_back(call.waker());
    }
    RELAYVM_RETURN_IF_ERROR(call.Suspend());
    return call.args()[0];
  });
  std::atomic<bool> stop{false};
  std::thread waker([&] {
    while (!stop) {
      std::vector<Waker> some;
      {
        std::lock_guard lock(mutex);
        some.swap(wakers);
      }
      for (const Waker& w : some) w.Wake();
      std::this_thread::yield();
    }
  });
  auto invocation = *Invocation::Create(runtime, executable);
  std::thread canceller([&] {
    while (!stop) {
      invocation->Cancel();
      std::this_thread::yield();
    }
  });
  const int runs = 3000 / testing::kSlowdown;
  for (int i = 0; i < runs; ++i) {
    Result<Value> result = invocation->Run("main", Int64Values({i}));
    ++(result.ok() ? ended : cancelled);
    if (!result.ok()) CHECK(result.status().code() == StatusCode::kCancelled);
  }
  stop = true;
  waker.join();
  canceller.join();
  CHECK(ended + cancelled == runs);
}

}  // namespace
}  // namespace relayvm

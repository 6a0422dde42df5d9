// Host functions that suspend their invocations: how runs wait and are woken, on one thread and on
// several.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "vm/border/host_testing.h"
#include "vm/platform/sanitizers.h"

namespace relayvm {
namespace {

using std::chrono::milliseconds;
using testing::Int64Values;
using testing::LoadHost;
using testing::Loop;
using testing::NewInvocation;
using testing::OnInt64;
using testing::RunOk;
using testing::SuspendForever;
using testing::ToInt64;

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
    CHECK(invocations.back()->set_on_ready([&ready, i] { ++ready[static_cast<size_t>(i)]; }).ok());
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
  CHECK(invocation->set_on_ready([&] { ++ready; }).ok());
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

#if defined(NDEBUG) && !RELAYVM_ASAN && !RELAYVM_TSAN
TEST_CASE("host functions: what is suspended holds two pages and what is known of it, 11 KiB") {
  const auto resident = [] {
    size_t pages = 0, total = 0;
    std::ifstream("/proc/self/statm") >> total >> pages;
    return pages * 4096;
  };
  // A number; and tensors of a kernel, of open dims, some of them alive, with a number beside them.
  const std::string streaming = R"(
.version 5
.kernel "copy" scalars 2 buffers (float32[s0 * s1], out float32[s0 * s1]) builtin
.host "f" (int64[], float32[?,8]) -> bool[]
.export "main" f0 ("x": float32[?,8]) -> float32[?,8]
.function "main" scalars 0 objects 1 captured 0 registers 4 4 returns object arena 0
  tensor.dim i0, r0, #0
  const.i16 i1, 8
  tensor.alloc r1, float32, [i0, i1]
  kernel.1 k0, [i0, i1], [r0, r1]
  tensor.box r2, i0, int64
  call.host r3, h0, [r2!, r1]
  ret.r r1!
.end
)";
  constexpr Builtin kCopy{
      "copy",
      [](const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) -> int32_t {
        const auto elements = static_cast<size_t>(args->scalars[0] * args->scalars[1]);
        std::copy_n(static_cast<const float*>(args->buffers[0]), elements,
                    static_cast<float*>(args->buffers[1]));
        return RELAYVM_KERNEL_OK;
      }};
  const std::vector<Value> numbers = Int64Values({1});
  const std::vector<Value> rows = {testing::Floats({2, 8}, std::vector<float>(16))};
  for (const bool of_tensors : {false, true}) {
    CAPTURE(of_tensors);
    auto executable = of_tensors ? LoadHost(streaming, {{"f", "", SuspendForever}}, {&kCopy, 1})
                                 : OnInt64(SuspendForever);
    auto runtime = Runtime::Create();
    REQUIRE(runtime.ok());
    std::vector<std::unique_ptr<Invocation>> invocations;
    const auto suspend = [&](size_t count) {
      for (size_t i = 0; i < count; ++i) {
        invocations.push_back(*Invocation::Create(*runtime, executable));
        REQUIRE(invocations.back()->Start("main", of_tensors ? rows : numbers).ok());
        REQUIRE(invocations.back()->Poll() == RunState::kWaiting);
      }
    };
    suspend(200);
    const size_t before = resident();
    constexpr size_t kMore = 4000;
    suspend(kMore);
    CHECK((resident() - before) / kMore < 12 << 10);
  }
}
#endif

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
  CHECK(invocation->set_on_ready([&] { ++ready; }).ok());
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
    CHECK(
        invocation->set_on_ready([&scheduler, invocation] { scheduler.Enqueue(invocation); }).ok());
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

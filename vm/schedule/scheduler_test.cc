#include "vm/schedule/scheduler.h"

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <mutex>
#include <thread>

#include "vm/border/host_testing.h"

namespace relayvm {
namespace {

using testing::Int64Values;
using testing::LoadText;
using testing::ToInt64;
using namespace std::chrono_literals;

// i15 = i0, after i0 turns of a loop.
std::shared_ptr<const Executable> Loop() {
  return LoadText(testing::ScalarProgram(1, R"(
L0:
  addimm.i i15, i15, 1
  addimm.i i0, i0, -1
  br.if i0, L0)"));
}

std::unique_ptr<Scheduler> Make(const SchedulerOptions& options = {}) {
  auto scheduler = Scheduler::Create(testing::TestRuntime(), options);
  REQUIRE_MESSAGE(scheduler.ok(), scheduler.status().message());
  return *std::move(scheduler);
}

// Results in the order of their completions, by the number of the run.
class Results {
 public:
  Scheduler::Completion Of(int number) {
    return [this, number](Result<Value> result) {
      std::lock_guard lock(mutex_);
      results_.emplace_back(number, std::move(result));
      changed_.notify_all();
    };
  }
  std::vector<std::pair<int, Result<Value>>> Wait(size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, 120s, [&] { return results_.size() >= count; }));
    return results_;
  }
  size_t size() {
    std::lock_guard lock(mutex_);
    return results_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<int, Result<Value>>> results_;
};

TEST_CASE("scheduler: every run completes once, with its own result") {
  auto program = Loop();
  for (uint32_t threads : {1u, 4u}) {
    auto scheduler = Make({.num_threads = threads, .slice = 20us});
    Results results;
    constexpr int kRuns = 2000 / testing::kSlowdown;
    for (int i = 0; i < kRuns; ++i) {
      auto run = scheduler->RunAsync(
          {.executable = program, .inputs = Int64Values({1 + i % 7 * 300})}, results.Of(i));
      REQUIRE(run.ok());
      CHECK(run->id() == static_cast<uint64_t>(i + 1));
    }
    std::vector<bool> seen(kRuns);
    for (auto& [number, result] : results.Wait(kRuns)) {
      REQUIRE(result.ok());
      CHECK(ToInt64(*result) == 1 + number % 7 * 300);
      CHECK_FALSE(seen[static_cast<size_t>(number)]);
      seen[static_cast<size_t>(number)] = true;
    }
    const SchedulerStats stats = scheduler->stats();
    CHECK(stats.accepted == kRuns);
    CHECK(stats.ended[0] == kRuns);
    CHECK(stats.queued == 0);
    CHECK(stats.ready == 0);
    CHECK(stats.waiting == 0);
  }
}

TEST_CASE("scheduler: a short run is not behind a long one") {
  auto program = Loop();
  auto scheduler = Make({.slice = 100us});
  Results results;
  auto endless = scheduler->RunAsync(
      {.executable = program, .inputs = Int64Values({INT64_MAX}), .priority = Priority::kHigh},
      results.Of(0));
  REQUIRE(endless.ok());
  // Even where it has the lower priority.
  REQUIRE(scheduler
              ->RunAsync(
                  {.executable = program, .inputs = Int64Values({100}), .priority = Priority::kLow},
                  results.Of(1))
              .ok());
  CHECK(results.Wait(1)[0].first == 1);
  endless->Cancel();
  const auto both = results.Wait(2);
  CHECK(both[1].second.status().code() == StatusCode::kCancelled);
  endless->Cancel();  // of a run that has ended: nothing
}

TEST_CASE("scheduler: higher priorities first") {
  auto program = Loop();
  auto scheduler = Make({.slice = 10ms});
  Results results;
  std::atomic<bool> go{false};
  // Holds the only thread until all are queued.
  REQUIRE(scheduler
              ->RunAsync({.executable = program, .inputs = Int64Values({1})},
                         [&](const Result<Value>&) {
                           while (!go) std::this_thread::yield();
                         })
              .ok());
  for (int i = 0; i < 12; ++i) {
    REQUIRE(scheduler
                ->RunAsync({.executable = program,
                            .inputs = Int64Values({1}),
                            .priority = static_cast<Priority>(2 - i / 4)},
                           results.Of(i))
                .ok());
  }
  go = true;
  const auto order = results.Wait(12);
  int in_place = 0;
  for (size_t i = 0; i < 12; ++i) in_place += order[i].first / 4 == 2 - static_cast<int>(i) / 4;
  CHECK(in_place >= 10);  // one turn in 16 is the lowest's
}

TEST_CASE("scheduler: deadlines count the time in the queue") {
  auto program = Loop();
  auto scheduler = Make();
  Results results;
  const auto now = std::chrono::steady_clock::now();
  REQUIRE(scheduler
              ->RunAsync({.executable = program, .inputs = Int64Values({1}), .deadline = now - 1ms},
                         results.Of(0))
              .ok());
  REQUIRE(
      scheduler
          ->RunAsync(
              {.executable = program, .inputs = Int64Values({INT64_MAX}), .deadline = now + 30ms},
              results.Of(1))
          .ok());
  REQUIRE(scheduler
              ->RunAsync({.executable = program,
                          .inputs = Int64Values({1}),
                          .deadline = std::chrono::steady_clock::time_point::min()},
                         results.Of(2))
              .ok());
  for (auto& [number, result] : results.Wait(3))
    CHECK(result.status().code() == StatusCode::kDeadlineExceeded);
  CHECK(scheduler->stats().ended[static_cast<size_t>(StatusCode::kDeadlineExceeded)] == 3);
}

TEST_CASE("scheduler: what a run cannot begin with goes to its completion; the rest is refused") {
  auto program = Loop();
  auto scheduler = Make({.max_active = 1, .max_queued = 2});
  Results results;
  auto run = [&](RunRequest request, int number) {
    return scheduler->RunAsync(std::move(request), results.Of(number)).status();
  };
  CHECK(run({}, 0).code() == StatusCode::kInvalidArgument);
  CHECK(scheduler->RunAsync({.executable = program}, nullptr).status().code() ==
        StatusCode::kInvalidArgument);
  REQUIRE(run({.executable = program, .function = "none"}, 1).ok());
  CHECK(results.Wait(1)[0].second.status().code() == StatusCode::kNotFound);
  REQUIRE(run({.executable = program}, 2).ok());
  CHECK(results.Wait(2)[1].second.status().code() == StatusCode::kInvalidArgument);
  // One runs, two are queued.
  auto endless = scheduler->RunAsync({.executable = program, .inputs = Int64Values({INT64_MAX})},
                                     results.Of(3));
  REQUIRE(endless.ok());
  while (scheduler->stats().queued > 0) std::this_thread::yield();
  REQUIRE(run({.executable = program, .inputs = Int64Values({1})}, 4).ok());
  REQUIRE(run({.executable = program, .inputs = Int64Values({1})}, 5).ok());
  Status refused = run({.executable = program, .inputs = Int64Values({1})}, 6);
  CHECK(refused.code() == StatusCode::kResourceExhausted);
  CHECK(refused.message() == "2 runs are queued already");
  endless->Cancel();
  CHECK(results.Wait(5).size() == 5);
  CHECK(scheduler->stats().refused == 1);
  CHECK(Scheduler::Create(nullptr).status().code() == StatusCode::kInvalidArgument);
  CHECK(Scheduler::Create(testing::TestRuntime(), {.num_threads = 5000}).status().code() ==
        StatusCode::kInvalidArgument);
}

// A function of the host that waits: for its waker, which `wakers` gets, or for a time.
struct Waiting {
  std::mutex mutex;
  std::vector<Waker> wakers;
  HostFunction function{"f", "", [this](HostCall& call) -> Result<Value> {
                          const int64_t ms = ToInt64(call.args()[0]);
                          if (ms > 0) {
                            RELAYVM_RETURN_IF_ERROR(call.SuspendUntil(
                                std::chrono::steady_clock::now() + std::chrono::milliseconds(ms)));
                            return Value::Int64(ms);
                          }
                          {
                            std::lock_guard lock(mutex);
                            wakers.push_back(call.waker());
                          }
                          RELAYVM_RETURN_IF_ERROR(call.Suspend());
                          return Value::Int64(ms);
                        }};
  size_t size() {
    std::lock_guard lock(mutex);
    return wakers.size();
  }
};

TEST_CASE("scheduler: runs that wait take no thread; wakers and times make them ready") {
  Waiting waiting;
  auto program = testing::LoadForward("int64[]", "int64[]", waiting.function.call);
  auto scheduler = Make({.num_threads = 2, .slice = 100us});
  Results results;
  constexpr int kRuns = 200;
  for (int i = 0; i < kRuns; ++i) {
    REQUIRE(
        scheduler
            ->RunAsync({.executable = program, .inputs = Int64Values({i % 2 == 0 ? 0 : 1 + i % 5})},
                       results.Of(i))
            .ok());
  }
  results.Wait(kRuns / 2);  // those that wait for a time
  while (waiting.size() < kRuns / 2) std::this_thread::yield();
  while (scheduler->stats().waiting < kRuns / 2) std::this_thread::yield();
  CHECK(results.size() == kRuns / 2);
  std::vector<std::thread> wakers;
  for (int t = 0; t < 4; ++t) {
    wakers.emplace_back([&, t] {
      for (size_t i = static_cast<size_t>(t); i < waiting.wakers.size(); i += 2)
        waiting.wakers[i].Wake();  // some twice
    });
  }
  for (std::thread& t : wakers) t.join();
  for (auto& [number, result] : results.Wait(kRuns)) CHECK(result.ok());
}

TEST_CASE("scheduler: cancelling and destroying end runs that wait, run and are queued") {
  Waiting waiting;
  auto waits = testing::LoadForward("int64[]", "int64[]", waiting.function.call);
  auto loops = Loop();
  Results results;
  constexpr int kEach = 20;
  {
    auto scheduler = Make({.num_threads = 2, .slice = 50us, .max_active = 30});
    std::vector<Scheduler::Handle> handles;
    for (int i = 0; i < kEach; ++i) {
      handles.push_back(*scheduler->RunAsync(
          {.executable = waits, .inputs = Int64Values({i % 2 == 0 ? 0 : 100000})}, results.Of(i)));
      handles.push_back(*scheduler->RunAsync(
          {.executable = loops, .inputs = Int64Values({INT64_MAX})}, results.Of(i)));
    }
    for (size_t i = 0; i < 10; ++i) handles[3 * i].Cancel();
    results.Wait(10);
  }
  const auto all = results.Wait(2 * kEach);
  CHECK(all.size() == 2 * kEach);
  for (auto& [number, result] : all) CHECK(result.status().code() == StatusCode::kCancelled);
}

TEST_CASE(
    "scheduler: runs that are queued end when they are cancelled or late, whatever the others do") {
  Waiting waiting;
  auto waits = testing::LoadForward("int64[]", "int64[]", waiting.function.call);
  auto loops = Loop();
  for (uint32_t threads : {1u, 3u}) {
    CAPTURE(threads);
    auto scheduler = Make({.num_threads = threads, .max_active = 1});
    Results results;
    auto run = [&](int number, std::chrono::steady_clock::time_point deadline) {
      auto accepted = scheduler->RunAsync({.executable = loops,
                                           .inputs = Int64Values({number}),
                                           .priority = static_cast<Priority>(number % 3),
                                           .deadline = deadline},
                                          results.Of(number));
      REQUIRE(accepted.ok());
      return *accepted;
    };
    // The one that may be active waits until it is cancelled.
    auto first =
        scheduler->RunAsync({.executable = waits, .inputs = Int64Values({0})}, results.Of(0));
    REQUIRE(first.ok());
    while (scheduler->stats().waiting != 1) std::this_thread::yield();
    constexpr int kQueued = 30;
    constexpr auto kNever = std::chrono::steady_clock::time_point::max();
    const auto soon = std::chrono::steady_clock::now() + 20ms;
    std::vector<Scheduler::Handle> handles;
    for (int i = 1; i <= kQueued; ++i) handles.push_back(run(i, i % 5 == 0 ? soon : kNever));
    // The first, the last, and some between, one of them twice.
    std::vector<int> cancelled = {1, 2, 3, kQueued - 1, 14, 13, 14};
    for (int number : cancelled) handles[static_cast<size_t>(number) - 1].Cancel();
    constexpr size_t kLate = 6, kCancelled = 6;
    for (const auto& [number, result] : results.Wait(kLate + kCancelled)) {
      CAPTURE(number);
      CHECK(result.status().code() ==
            (number % 5 == 0 ? StatusCode::kDeadlineExceeded : StatusCode::kCancelled));
    }
    SchedulerStats stats = scheduler->stats();
    CHECK(stats.queued == kQueued - kLate - kCancelled);
    CHECK(stats.waiting == 1);
    // The rest is still in order, and runs once there is room.
    first->Cancel();
    const auto all = results.Wait(1 + kQueued);
    CHECK(all.size() == 1 + kQueued);
    for (size_t i = kLate + kCancelled; i < all.size(); ++i) {
      const auto& [number, result] = all[i];
      CHECK(result.ok() == (number != 0));
    }
    for (const Scheduler::Handle& handle : handles) handle.Cancel();  // nothing
    CHECK(scheduler->stats().queued == 0);
    handles.push_back(*first);
    scheduler.reset();
    for (const Scheduler::Handle& handle : handles) handle.Cancel();
  }
}

TEST_CASE("scheduler: each priority gets on where the two others always have something ready") {
  auto program = Loop();
  auto scheduler = Make({.slice = 50us});
  Results results;
  std::vector<Scheduler::Handle> endless;
  for (int middle = 0; middle < 3; ++middle) {
    CAPTURE(middle);
    for (int priority = 0; priority < 3; ++priority) {
      if (priority == middle) continue;
      endless.push_back(*scheduler->RunAsync({.executable = program,
                                              .inputs = Int64Values({INT64_MAX}),
                                              .priority = static_cast<Priority>(priority)},
                                             results.Of(-1)));
    }
    // It begins, and goes on for a few slices.
    REQUIRE(scheduler
                ->RunAsync({.executable = program,
                            .inputs = Int64Values({200'000}),
                            .priority = static_cast<Priority>(middle)},
                           results.Of(middle))
                .ok());
    const auto all = results.Wait(3 * static_cast<size_t>(middle) + 1);
    CHECK(all.back().first == middle);
    CHECK(all.back().second.ok());
    for (; !endless.empty(); endless.pop_back()) endless.back().Cancel();
    results.Wait(3 * static_cast<size_t>(middle) + 3);
  }
}

TEST_CASE("scheduler: many queued runs end at once, behind a higher priority too") {
  auto program = Loop();
  auto scheduler = Make({.slice = 1ms});
  Results results;
  auto endless = *scheduler->RunAsync(
      {.executable = program, .inputs = Int64Values({INT64_MAX}), .priority = Priority::kHigh},
      results.Of(-1));
  while (scheduler->stats().running == 0) std::this_thread::yield();
  constexpr int kRuns = 300;
  const uint64_t before = scheduler->stats().slices;
  for (int i = 0; i < kRuns; ++i) {
    auto run = scheduler->RunAsync({.executable = program,
                                    .inputs = Int64Values({INT64_MAX}),
                                    .priority = Priority::kLow,
                                    .deadline = std::chrono::steady_clock::now() + 5ms},
                                   results.Of(i));
    REQUIRE(run.ok());
    if (i % 2 == 0) run->Cancel();
  }
  results.Wait(kRuns);
  // A turn for each, and a few of the endless one; had they waited for theirs, 16 times as many.
  CHECK(scheduler->stats().slices - before < 8 * kRuns);
  endless.Cancel();
  results.Wait(kRuns + 1);
}

TEST_CASE("scheduler: a run that has begun gets on while others of its priority begin") {
  auto program = Loop();
  auto scheduler = Make({.slice = 50us});
  Results results;
  auto endless = *scheduler->RunAsync(
      {.executable = program, .inputs = Int64Values({INT64_MAX}), .priority = Priority::kHigh},
      results.Of(-1));
  // Each that ends starts two others: there is always one that may begin.
  std::atomic<bool> stop{false};
  std::atomic<int> going{0};
  std::function<void()> start = [&] {
    ++going;
    auto run = scheduler->RunAsync(
        {.executable = program, .inputs = Int64Values({1}), .priority = Priority::kLow},
        [&](const Result<Value>&) {
          if (!stop && going < 1000) start();
          if (!stop && going < 1000) start();
          --going;
        });
    if (!run.ok()) --going;
  };
  start();
  REQUIRE(
      scheduler
          ->RunAsync(
              {.executable = program, .inputs = Int64Values({300'000}), .priority = Priority::kLow},
              results.Of(1))
          .ok());
  CHECK(results.Wait(1)[0].first == 1);
  stop = true;
  endless.Cancel();
  results.Wait(2);
  while (going > 0) std::this_thread::yield();
}

TEST_CASE("scheduler: a place is free for others before the completion is over") {
  auto program = Loop();
  auto scheduler = Make({.num_threads = 2, .max_active = 1});
  Results results;
  std::atomic<bool> second{false};
  REQUIRE(scheduler
              ->RunAsync({.executable = program, .inputs = Int64Values({1})},
                         [&](const Result<Value>&) {
                           const auto end = std::chrono::steady_clock::now() + 60s;
                           while (!second && std::chrono::steady_clock::now() < end)
                             std::this_thread::sleep_for(1ms);
                           results.Of(0)(second ? Value::Int64(1) : Value());
                         })
              .ok());
  REQUIRE(scheduler
              ->RunAsync({.executable = program, .inputs = Int64Values({1})},
                         [&](const Result<Value>&) { second = true; })
              .ok());
  CHECK(results.Wait(1)[0].second->object() != nullptr);
  CHECK(second);
}

TEST_CASE("scheduler: what waits is counted, in a completion too") {
  Waiting waiting;
  auto waits = testing::LoadForward("int64[]", "int64[]", waiting.function.call);
  auto scheduler = Make();
  Results results;
  auto one = *scheduler->RunAsync({.executable = waits, .inputs = Int64Values({0})}, results.Of(0));
  while (waiting.size() < 1 || scheduler->stats().waiting < 1) std::this_thread::yield();
  SchedulerStats stats;
  REQUIRE(scheduler
              ->RunAsync({.executable = Loop(), .inputs = Int64Values({1})},
                         [&](Result<Value> result) {
                           stats = scheduler->stats();
                           results.Of(1)(std::move(result));
                         })
              .ok());
  results.Wait(1);
  CHECK(stats.waiting == 1);
  CHECK(stats.running == 0);
  CHECK(stats.ended[0] == 1);
  one.Cancel();
  results.Wait(2);
}

TEST_CASE("scheduler: a waiting run is out of time at its deadline") {
  Waiting waiting;
  auto program = testing::LoadForward("int64[]", "int64[]", waiting.function.call);
  auto scheduler = Make();
  Results results;
  REQUIRE(scheduler
              ->RunAsync({.executable = program,
                          .inputs = Int64Values({0}),
                          .deadline = std::chrono::steady_clock::now() + 20ms},
                         results.Of(0))
              .ok());
  CHECK(results.Wait(1)[0].second.status().code() == StatusCode::kDeadlineExceeded);
}

// --- Coroutines ---

struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Detached Chain(Scheduler& scheduler, std::shared_ptr<const Executable> program, int64_t turns,
               std::atomic<int64_t>& sum, std::atomic<int>& ended) {
  for (int64_t i = 1; i <= turns; ++i) {
    RunRequest request{.executable = program, .inputs = Int64Values({i})};
    Result<Value> result = co_await scheduler.Run(std::move(request));
    if (result.ok()) sum += static_cast<int64_t>(result->element(0));
  }
  RunRequest none;
  Result<Value> refused = co_await scheduler.Run(std::move(none));
  if (!refused.ok()) ++ended;
}

TEST_CASE("scheduler: coroutines await runs") {
  std::atomic<int64_t> sum{0};
  std::atomic<int> ended{0};
  auto scheduler = Make({.num_threads = 3});
  auto program = Loop();
  for (int i = 0; i < 50; ++i) Chain(*scheduler, program, 20, sum, ended);
  while (ended < 50) std::this_thread::yield();
  CHECK(sum == 50 * 210);
}

}  // namespace
}  // namespace relayvm

// Of a scheduler what a service needs: groups, draining, reports of runs, threads of the host.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "vm/border/host_testing.h"
#include "vm/schedule/scheduler.h"

namespace relayvm {
namespace {

using testing::Int64Values;
using testing::ToInt64;
using namespace std::chrono_literals;

std::shared_ptr<const Executable> Turns() {
  return testing::LoadText(testing::ScalarProgram(1, R"(
L0:
  addimm.i i15, i15, 1
  addimm.i i0, i0, -1
  br.if i0, L0)"));
}

std::unique_ptr<Scheduler> MakeScheduler(const SchedulerOptions& options = {}) {
  auto scheduler = Scheduler::Create(testing::TestRuntime(), options);
  REQUIRE_MESSAGE(scheduler.ok(), scheduler.status().message());
  return *std::move(scheduler);
}

// Runs of a host function that waits until they are let go.
class Gate {
 public:
  const std::shared_ptr<const Executable> program = testing::OnInt64([this](HostCall& call) {
    {
      const std::lock_guard lock(mutex_);
      most_ = std::max(most_, ++inside_);
      wakers_.push_back(call.waker());
    }
    const Status status = call.Suspend();
    const std::lock_guard lock(mutex_);
    --inside_;
    return status.ok() ? Result<Value>(call.args()[0]) : Result<Value>(status);
  });

  int inside() {
    const std::lock_guard lock(mutex_);
    return inside_;
  }
  int most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }
  void WaitFor(int inside) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (this->inside() < inside && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(1ms);
    REQUIRE(this->inside() == inside);
  }
  void LetGo() {
    std::vector<Waker> wakers;
    {
      const std::lock_guard lock(mutex_);
      wakers.swap(wakers_);
    }
    for (const Waker& waker : wakers) waker.Wake();
  }

 private:
  std::mutex mutex_;
  std::vector<Waker> wakers_;
  int inside_ = 0, most_ = 0;
};

TEST_CASE("scheduler: a group has so many runs at once, and others do not wait for it") {
  Gate gate;
  auto scheduler = MakeScheduler({.num_threads = 2});
  const RunGroup small = *scheduler->MakeGroup({.max_active = 2, .max_queued = 3});
  std::atomic<int> ended{0};
  const auto run = [&](const RunGroup& tenant, const RunGroup& model = {}) {
    return scheduler->RunAsync(
        {.executable = gate.program, .inputs = Int64Values({1}), .tenant = tenant, .model = model},
        [&](const Result<Value>&) { ++ended; });
  };
  for (int i = 0; i < 2; ++i) REQUIRE(run(small).ok());
  gate.WaitFor(2);
  for (int i = 0; i < 3; ++i) REQUIRE(run(small).ok());
  const auto full = run(small).status();
  CHECK(full.code() == StatusCode::kResourceExhausted);
  CHECK(full.message() == "3 runs are queued already in the run's group");
  for (int i = 0; i < 4; ++i) REQUIRE(run({}).ok());
  gate.WaitFor(6);
  RunGroupStats stats = scheduler->stats(small);
  CHECK(stats.active == 2);
  CHECK(stats.queued == 3);
  CHECK(stats.accepted == 5);
  CHECK(stats.refused == 1);
  CHECK(scheduler->stats().queued == 3);
  CHECK(scheduler->stats().accepted == 9);
  while (ended < 9) gate.LetGo();
  CHECK(gate.most() == 6);
  // Once all ended, nothing is left behind.
  REQUIRE(scheduler->Drain().ok());
  stats = scheduler->stats(small);
  CHECK(stats.active == 0);
  CHECK(stats.queued == 0);
  CHECK(stats.ended[0] == 5);
  CHECK(stats.latency.count == 5);
  CHECK(stats.queue_time.count == 5);
  CHECK(scheduler->stats().latency.count == 9);
}

TEST_CASE("scheduler: runs of two groups, named in any order, all get on") {
  auto scheduler = MakeScheduler({.num_threads = 3, .slice = 20us});
  const auto program = Turns();
  std::vector<RunGroup> groups;
  for (int i = 0; i < 4; ++i) {
    groups.push_back(i < 2 ? *scheduler->MakeGroup({.max_active = 1})
                           : *scheduler->MakeGroup({.max_active = 3, .max_ready = 2}));
  }
  std::atomic<int> well{0}, cancelled{0};
  constexpr int kRuns = 2000 / testing::kSlowdown;
  for (int i = 0; i < kRuns; ++i) {
    const auto handle = scheduler->RunAsync(
        {.executable = program,
         .inputs = Int64Values({1 + i % 100}),
         .priority = static_cast<Priority>(i % 3),
         .tenant = groups[static_cast<size_t>(i * 7 % 4)],
         .model = groups[static_cast<size_t>(i * 5 / 3 % 4)]},
        [&](const Result<Value>& result) { ++(result.ok() ? well : cancelled); });
    REQUIRE(handle.ok());
    if (i % 5 == 0) handle->Cancel();  // also where it waits for a group
  }
  REQUIRE(scheduler->Drain(std::chrono::steady_clock::now() + 120s).ok());
  CHECK(well + cancelled == kRuns);
  CHECK(well >= kRuns - (kRuns + 4) / 5);
  for (const RunGroup& group : groups) {
    const RunGroupStats stats = scheduler->stats(group);
    CHECK(stats.active == 0);
    CHECK(stats.queued == 0);
  }
  CHECK(scheduler->stats().queued == 0);
}

struct SizedRun {
  int64_t turns;
  std::chrono::nanoseconds quantum;
  Priority priority = Priority::kNormal;
};

// The order in which runs of a group end that are all there at once, on one thread.
std::vector<size_t> OrderOfEnds(const RunGroupOptions& options, const std::vector<SizedRun>& runs) {
  auto scheduler = MakeScheduler({.slice = 20us});
  const RunGroup group = *scheduler->MakeGroup(options);
  const auto program = Turns();
  std::vector<size_t> order;
  std::atomic<bool> go{false};
  REQUIRE(scheduler
              ->RunAsync({.executable = program, .inputs = Int64Values({1})},
                         [&](const Result<Value>&) { go.wait(false); })
              .ok());
  for (size_t i = 0; i < runs.size(); ++i) {
    REQUIRE(scheduler
                ->RunAsync({.executable = program,
                            .inputs = Int64Values({runs[i].turns}),
                            .priority = runs[i].priority,
                            .quantum = runs[i].quantum,
                            .model = group},
                           [&, i](const Result<Value>&) { order.push_back(i); })
                .ok());
  }
  go = true;
  go.notify_one();
  REQUIRE(scheduler->Drain(std::chrono::steady_clock::now() + 120s).ok());
  return order;
}

TEST_CASE("scheduler: runs of a group that are not ready at once end in the order they came in") {
  constexpr int64_t kLong = 2'000'000 / testing::kSlowdown, kShort = kLong / 20;
  // In turns, each for a slice, the short ones are the first to end.
  CHECK(OrderOfEnds({}, {{kLong, 1h}, {kShort, 1h}, {1, 1h}}) == std::vector<size_t>{2, 1, 0});
  CHECK(OrderOfEnds({.max_ready = 1}, {{kLong, 1h}, {kShort, 1h}, {1, 1h}}) ==
        std::vector<size_t>{0, 1, 2});
  // But they do not wait for one that has had its quantum, nor for one of a lower priority.
  CHECK(OrderOfEnds({.max_ready = 1}, {{kLong, 40us}, {kShort, 1h}, {1, 1h}}) ==
        std::vector<size_t>{1, 2, 0});
  CHECK(OrderOfEnds({.max_ready = 1}, {{kLong, 1h, Priority::kNormal},
                                       {1, 1h, Priority::kLow},
                                       {kShort, 1h, Priority::kHigh}}) ==
        std::vector<size_t>{2, 0, 1});
  // One of a lower priority is not kept waiting for ever.
  std::vector<SizedRun> many(200, {1, 1h});
  many[1].priority = Priority::kLow;
  const std::vector<size_t> order = OrderOfEnds({.max_ready = 1}, many);
  const auto low = std::ranges::find(order, 1) - order.begin();
  CHECK(low > 1);
  CHECK(low < 100);
}

TEST_CASE("scheduler: runs that wait keep none of their group from beginning") {
  Gate gate;
  auto scheduler = MakeScheduler();
  const RunGroup group = *scheduler->MakeGroup({.max_ready = 1});
  std::atomic<int> ended{0};
  for (int i = 0; i < 5; ++i) {
    REQUIRE(scheduler
                ->RunAsync({.executable = gate.program,
                            .inputs = Int64Values({1}),
                            .quantum = 1h,
                            .model = group},
                           [&](const Result<Value>&) { ++ended; })
                .ok());
  }
  gate.WaitFor(5);
  gate.LetGo();
  REQUIRE(scheduler->Drain(std::chrono::steady_clock::now() + 120s).ok());
  CHECK(ended == 5);
  CHECK(scheduler->stats(group).active == 0);
}

TEST_CASE("scheduler: a deadline ends what waits for its group") {
  Gate gate;
  auto scheduler = MakeScheduler();
  const RunGroup group = *scheduler->MakeGroup({.max_active = 1});
  std::atomic<int> ended{0};
  REQUIRE(scheduler
              ->RunAsync({.executable = gate.program, .inputs = Int64Values({1}), .tenant = group},
                         [&](const Result<Value>&) { ++ended; })
              .ok());
  gate.WaitFor(1);
  std::atomic<StatusCode> code{StatusCode::kOk};
  REQUIRE(scheduler
              ->RunAsync({.executable = gate.program,
                          .inputs = Int64Values({1}),
                          .tenant = group,
                          .deadline = std::chrono::steady_clock::now() + 5ms},
                         [&](const Result<Value>& result) {
                           code = result.status().code();
                           ++ended;
                         })
              .ok());
  while (ended < 1) std::this_thread::yield();
  CHECK(code == StatusCode::kDeadlineExceeded);
  CHECK(scheduler->stats(group).active == 1);
  gate.LetGo();
  REQUIRE(scheduler->Drain().ok());
}

TEST_CASE("scheduler: groups are those of one scheduler, and may be older than it") {
  auto scheduler = MakeScheduler();
  RunGroup group = *scheduler->MakeGroup();
  CHECK(scheduler->MakeGroup({.max_active = 0}).status().message() ==
        "expected a max_active and a max_ready above 0, found 0 and 18446744073709551615");
  CHECK(scheduler->MakeGroup({.max_ready = 0}).status().code() == StatusCode::kInvalidArgument);
  auto other = MakeScheduler();
  const auto run = [&] {
    return other->RunAsync({.executable = Turns(), .inputs = Int64Values({1}), .model = group},
                           [](const Result<Value>&) {});
  };
  CHECK(run().status().message() == "the run's group is not of this scheduler");
  CHECK(other->stats(group).accepted == 0);
  scheduler.reset();
  CHECK(run().status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("scheduler: draining waits for runs and their completions, and refuses new ones") {
  Gate gate;
  auto scheduler = MakeScheduler({.num_threads = 2});
  std::atomic<int> ended{0};
  StatusCode from_run = StatusCode::kOk;
  REQUIRE(scheduler
              ->RunAsync({.executable = gate.program, .inputs = Int64Values({1})},
                         [&](const Result<Value>&) {
                           from_run = scheduler->Drain().code();
                           std::this_thread::sleep_for(20ms);
                           ++ended;
                         })
              .ok());
  gate.WaitFor(1);
  const Status late = scheduler->Drain(std::chrono::steady_clock::now() + 5ms);
  CHECK(late.code() == StatusCode::kDeadlineExceeded);
  CHECK(late.message() == "1 runs have not ended");
  CHECK(ended == 0);
  const auto refused =
      scheduler->RunAsync({.executable = gate.program}, [](const Result<Value>&) {});
  CHECK(refused.status().code() == StatusCode::kFailedPrecondition);
  gate.LetGo();
  CHECK(scheduler->Drain().ok());
  CHECK(ended == 1);
  CHECK(from_run == StatusCode::kFailedPrecondition);
  CHECK(scheduler->Drain(std::chrono::steady_clock::time_point::min()).ok());
}

TEST_CASE("scheduler: a run's tag is in its report, its events and its host functions") {
  struct Sink : TraceSink {
    std::mutex mutex;
    std::map<uint64_t, std::map<std::string, int>> seen;  // by tag
    std::map<uint64_t, uint64_t> tag_of;                  // by invocation
    void See(const TracedRun& run, const char* what) {
      const std::lock_guard lock(mutex);
      ++seen[run.tag][what];
      tag_of[run.invocation] = run.tag;
    }
    void OnInstruction(const InstructionEvent& e) override { See(e.run, "instruction"); }
    void OnRunBegin(const RunEvent& e) override { See(e.run, "begin"); }
    void OnRunEnd(const RunEvent& e) override { See(e.run, "end"); }
    void OnSlice(const SliceEvent& e) override { See(e.run, "slice"); }
    void OnWait(const WaitEvent& e) override { See(e.run, "wait"); }
    void OnHostCall(const HostCallEvent& e) override { See(e.run, "host"); }
    bool wants_instructions() const override { return true; }
  } sink;
  std::mutex mutex;
  std::vector<RunReport> reports;
  auto runtime = Runtime::Create({.trace = &sink});
  auto scheduler = Scheduler::Create(*runtime, {.on_end = [&](const RunReport& report) {
    const std::lock_guard lock(mutex);
    reports.push_back(report);
  }});
  REQUIRE(scheduler.ok());
  const auto program = testing::OnInt64([](HostCall& call) -> Result<Value> {
    RELAYVM_RETURN_IF_ERROR(
        call.SuspendUntil(std::chrono::steady_clock::now() + std::chrono::milliseconds(1)));
    return Value::Int64(static_cast<int64_t>(call.tag()));
  });
  for (uint64_t tag : {7U, 9U}) {
    REQUIRE(
        (*scheduler)
            ->RunAsync({.executable = program, .inputs = Int64Values({1}), .options = {.tag = tag}},
                       [tag](const Result<Value>& result) {
                         CHECK(ToInt64(*result) == static_cast<int64_t>(tag));
                       })
            .ok());
  }
  REQUIRE((*scheduler)
              ->RunAsync({.executable = program,
                          .options = {.tag = 11},
                          .deadline = std::chrono::steady_clock::now() - 1ms},
                         [](const Result<Value>&) {})
              .ok());
  REQUIRE((*scheduler)->Drain().ok());
  for (uint64_t tag : {7U, 9U}) {
    CAPTURE(tag);
    for (const char* what : {"instruction", "begin", "end", "slice", "wait", "host"})
      CHECK(sink.seen[tag][what] > 0);
  }
  CHECK(sink.seen.size() == 2);
  REQUIRE(reports.size() == 3);
  for (const RunReport& report : reports) {
    if (report.tag == 11) {
      CHECK(report.status == StatusCode::kDeadlineExceeded);
      CHECK(report.invocation == 0);
      continue;
    }
    CHECK(report.status == StatusCode::kOk);
    CHECK(sink.tag_of.at(report.invocation) == report.tag);
    CHECK(report.total_ns >= report.queued_ns);
    CHECK(report.queued_ns >= 0);
  }
}

TEST_CASE("scheduler: each run on a runtime of its own, with its limits") {
  auto scheduler = MakeScheduler();
  const auto small = *Runtime::Create({.memory_limit = 64 << 10});
  const auto program = testing::LoadText(R"(
.version 1
.export "main" f0 () -> float32[30000]
.function "main" scalars 0 objects 0 captured 0 registers 1 1 returns object arena 0
  const.i16 i0, 30000
  tensor.alloc r0, float32, [i0]
  ret.r r0!
.end
)");
  std::atomic<int> well{0}, without{0};
  for (int i = 0; i < 4; ++i) {
    REQUIRE(scheduler
                ->RunAsync({.executable = program, .runtime = i % 2 == 0 ? small : nullptr},
                           [&](const Result<Value>& result) {
                             if (result.ok()) ++well;
                             if (result.status().code() == StatusCode::kResourceExhausted)
                               ++without;
                           })
                .ok());
  }
  REQUIRE(scheduler->Drain().ok());
  CHECK(well == 2);
  CHECK(without == 2);
  CHECK(small->stats().started == 2);
}

// A host's pool of threads, with timers.
class Pool : public Executor {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~Pool() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;  // runs all that there is
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void Post(void (*job)(void*), void* context) override {
    PostAt(std::chrono::steady_clock::time_point::min(), job, context);
  }
  void PostAt(std::chrono::steady_clock::time_point time, void (*job)(void*),
              void* context) override {
    const std::lock_guard lock(mutex_);
    jobs_.emplace(time, std::pair(job, context));
    ++posted_;
    changed_.notify_one();
  }
  int posted() {
    const std::lock_guard lock(mutex_);
    return posted_;
  }
  int most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (jobs_.empty()) {
        if (stopping_) return;
        changed_.wait(lock);
        continue;
      }
      const auto first = jobs_.begin();
      if (!stopping_ && first->first > std::chrono::steady_clock::now()) {
        changed_.wait_until(lock, std::chrono::steady_clock::time_point(first->first));
        continue;
      }
      const auto [job, context] = first->second;
      jobs_.erase(first);
      most_ = std::max(most_, ++running_);
      lock.unlock();
      job(context);
      lock.lock();
      --running_;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<std::chrono::steady_clock::time_point, std::pair<void (*)(void*), void*>> jobs_;
  bool stopping_ = false;
  int posted_ = 0, running_ = 0, most_ = 0;
  std::vector<std::thread> threads_;
};

TEST_CASE("scheduler: on threads of the host") {
  for (const int threads : {1, 3}) {
    auto pool = std::make_shared<Pool>(threads);
    auto scheduler = MakeScheduler({.num_threads = 2, .executor = pool, .slice = 20us});
    Gate gate;
    const auto program = Turns();
    const auto sleeps = testing::OnInt64([](HostCall& call) -> Result<Value> {
      RELAYVM_RETURN_IF_ERROR(call.SuspendUntil(
          std::chrono::steady_clock::now() + std::chrono::milliseconds(ToInt64(call.args()[0]))));
      return call.args()[0];
    });
    std::atomic<int> well{0}, late{0};
    std::atomic<bool> own{true};
    constexpr int kRuns = 600 / testing::kSlowdown;
    const auto count = [&](const Result<Value>& result) {
      if (!scheduler->IsOwnThread()) own = false;
      if (result.ok()) ++well;
      if (result.status().code() == StatusCode::kDeadlineExceeded) ++late;
    };
    for (int i = 0; i < kRuns; ++i) {
      const auto& which = i % 3 == 0 ? program : i % 3 == 1 ? sleeps : gate.program;
      REQUIRE(scheduler->RunAsync({.executable = which, .inputs = Int64Values({1 + i % 20})}, count)
                  .ok());
    }
    // Two whose time is over while nothing else happens: one runs, one waits.
    const auto soon = std::chrono::steady_clock::now() + 30ms;
    for (const auto& which : {program, gate.program}) {
      REQUIRE(scheduler
                  ->RunAsync(
                      {.executable = which, .inputs = Int64Values({INT64_MAX}), .deadline = soon},
                      count)
                  .ok());
    }
    const auto end = std::chrono::steady_clock::now() + 120s;
    while (well < kRuns && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
      if (late < 2) continue;
      gate.LetGo();
    }
    CHECK(scheduler->Drain(end).ok());
    CHECK(well == kRuns);
    CHECK(late == 2);
    CHECK(own);
    CHECK(!scheduler->IsOwnThread());
    CHECK(pool->most() <= std::min(threads, 3));  // two jobs, and a timer
    CHECK(pool->posted() > 0);
    // One that is destroyed while runs wait, whose timers come later.
    for (int i = 0; i < 5; ++i) {
      auto short_lived = MakeScheduler({.executor = pool});
      for (int64_t ms : {0, 1, 1000}) {
        REQUIRE(short_lived
                    ->RunAsync({.executable = ms == 0 ? gate.program : sleeps,
                                .inputs = Int64Values({ms}),
                                .deadline = std::chrono::steady_clock::now() + 10s},
                               [](const Result<Value>&) {})
                    .ok());
      }
    }
    scheduler.reset();
  }
}

}  // namespace
}  // namespace relayvm

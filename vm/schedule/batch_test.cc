// Runs of a scheduler whose kernels run together: results, limits and ends of each run for itself.
#include "vm/schedule/batch.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "vm/border/host_testing.h"
#include "vm/schedule/scheduler.h"

namespace relayvm {
namespace {

using testing::Contains;
using testing::LoadText;
using namespace std::chrono_literals;

std::atomic<int64_t> g_single{0}, g_together{0}, g_largest{0};
std::atomic<int64_t> g_microseconds{0};  // that a kernel of many calls takes

// x[i] * w + 1. A negative element is an error.
int32_t Scale(const int64_t* x, int64_t w, int64_t n, int64_t* y) {
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] < 0) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
    y[i] = x[i] * w % 1000 + 1;
  }
  return RELAYVM_KERNEL_OK;
}
int32_t ScaleOne(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  ++g_single;
  return Scale(static_cast<int64_t*>(args->buffers[0]), *static_cast<int64_t*>(args->buffers[1]),
               args->scalars[0], static_cast<int64_t*>(args->buffers[2]));
}
int32_t ScaleMany(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  ++g_together;
  int64_t seen = g_largest;
  while (seen < args->scalars[1] && !g_largest.compare_exchange_weak(seen, args->scalars[1])) {
  }
  if (g_microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(g_microseconds));
  return Scale(static_cast<int64_t*>(args->buffers[0]), *static_cast<int64_t*>(args->buffers[1]),
               args->scalars[0] * args->scalars[1], static_cast<int64_t*>(args->buffers[2]));
}
std::atomic<int64_t> g_rows_together{0};
int32_t ScaleRows(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  g_rows_together += args->scalars[0];
  return Scale(static_cast<int64_t*>(args->buffers[0]), *static_cast<int64_t*>(args->buffers[1]),
               args->scalars[0], static_cast<int64_t*>(args->buffers[2]));
}
constexpr Builtin kKernels[] = {
    {"scale", ScaleOne}, {"scale_many", ScaleMany}, {"scale_rows", ScaleRows}};

// `turns` times x = scale(x, w), in a tensor of its own each time.
std::shared_ptr<const Executable> Program(const std::string& scratch = "0") {
  return LoadText(R"(
.version 1
.source "scale.relay"
.kernel "scale" scalars 1 buffers (int64[s0], int64[1], out int64[s0]) builtin batched k1 (s0, calls) sharing 1
.kernel "scale_many" scalars 2 buffers (int64[s1, s0], int64[1], out int64[s1, s0]) builtin
.export "main" f0 ("x": int64[?], "w": int64[1], "turns": int64[]) -> int64[?]
.function "main" scalars 0 objects 3 captured 0 registers 6 4 returns object arena 0
  tensor.item i0, r2!, int64, 0
  tensor.dim i1, r0, #0
  const.i16 i2, 1
  const.i64 i3, )" + scratch +
                      R"(
L0:
  tensor.alloc r3, int64, [i1]
  kernel k0, i2, i2, i3, [i1], [r0!, r1, r3]
  mov.r r0, r3!
  addimm.i i0, i0, -1
  br.if i0, L0
  ret.r r0!
.end
)",
                  kKernels);
}

Value Int64s(const std::vector<int64_t>& numbers) {
  return testing::TensorOf<int64_t>(DType::kInt64, {static_cast<int64_t>(numbers.size())}, numbers);
}

std::vector<int64_t> Expected(std::vector<int64_t> x, int64_t w, int64_t turns) {
  for (; turns > 0; --turns) {
    for (int64_t& e : x) e = e * w % 1000 + 1;
  }
  return x;
}

// main(n): n turns of a loop, without a kernel.
std::shared_ptr<const Executable> Busy() {
  return LoadText(testing::ScalarProgram(1, R"(
L0:
  addimm.i i0, i0, -1
  br.if i0, L0)"));
}

class Runs {
 public:
  explicit Runs(const BatchingOptions& batching, uint32_t threads = 1,
                std::shared_ptr<Runtime> runtime = testing::TestRuntime())
      : runtime_(std::move(runtime)) {
    g_single = g_together = g_largest = g_microseconds = 0;
    auto made =
        Scheduler::Create(runtime_, {.num_threads = threads, .slice = 200us, .batching = batching});
    REQUIRE_MESSAGE(made.ok(), made.status().message());
    scheduler_ = *std::move(made);
  }

  size_t Add(RunRequest request) {
    const size_t number = handles_.size();
    handles_.emplace_back();
    {
      std::lock_guard lock(mutex_);
      results_.emplace_back();
      ends_.emplace_back();
    }
    auto run = scheduler_->RunAsync(std::move(request), [this, number](Result<Value> value) {
      std::lock_guard lock(mutex_);
      results_[number].emplace(std::move(value));
      ends_[number] = std::chrono::steady_clock::now();
      ++ended_;
      changed_.notify_all();
    });
    REQUIRE(run.ok());
    handles_[number] = *run;
    return number;
  }
  void Wait(size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, 120s, [&] { return ended_ >= count; }));
  }
  // REQUIRES: it has been waited for.
  const Result<Value>& result(size_t number) { return *results_[number]; }
  std::chrono::steady_clock::time_point end(size_t number) { return ends_[number]; }
  Scheduler& scheduler() { return *scheduler_; }
  const Runtime& runtime() const { return *runtime_; }
  const Scheduler::Handle& handle(size_t number) { return handles_[number]; }

  // Until all have been added, nothing of it runs: on one thread.
  void Hold(std::shared_ptr<const Executable> program) {
    auto run = scheduler_->RunAsync(
        {.executable = std::move(program), .inputs = {Int64s({1}), Int64s({1}), Value::Int64(1)}},
        [this](const Result<Value>&) {
          std::unique_lock lock(mutex_);
          is_held_ = true;
          changed_.notify_all();
          changed_.wait(lock, [&] { return go_; });
        });
    REQUIRE(run.ok());
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_held_; });
  }
  void Go() {
    std::lock_guard lock(mutex_);
    go_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false, go_ = false;
  std::shared_ptr<Runtime> runtime_;
  size_t ended_ = 0;
  std::deque<std::optional<Result<Value>>> results_;
  std::deque<std::chrono::steady_clock::time_point> ends_;
  std::vector<Scheduler::Handle> handles_;
  std::unique_ptr<Scheduler> scheduler_;  // goes first: completions use the others
};

TEST_CASE("batching: runs of different lengths share their kernels") {
  auto program = Program();
  CHECK(program->num_batched_kernels() == 1);
  const Value w = Int64s({7}), other = Int64s({3});
  // Those that wait for others are not ready: the next one of their group begins.
  for (const auto& [threads, max_ready] :
       {std::pair{1u, SIZE_MAX}, {1u, size_t{1}}, {2u, SIZE_MAX}, {4u, size_t{2}}}) {
    CAPTURE(threads);
    CAPTURE(max_ready);
    Runs runs({.max_batch = 8, .max_wait = 100ms}, threads);
    const RunGroup group = *runs.scheduler().MakeGroup({.max_ready = max_ready});
    constexpr size_t kRuns = 60;
    std::deque<std::vector<int64_t>> expected;
    if (threads == 1) runs.Hold(program);
    for (size_t i = 0; i < kRuns; ++i) {
      // Two lengths and two weights: four groups that never mix.
      const auto n = static_cast<int64_t>(i);
      std::vector<int64_t> x = {n, n * 3 % 17};
      if (i % 4 == 1) x.push_back(5);
      const int64_t turns = 1 + n * 7 % 23;
      expected.push_back(Expected(x, i % 2 == 0 ? 7 : 3, turns));
      runs.Add({.executable = program,
                .inputs = {Int64s(x), i % 2 == 0 ? w : other, Value::Int64(turns)},
                .quantum = 1h,
                .model = group});
    }
    runs.Go();
    runs.Wait(kRuns);
    for (size_t i = 0; i < kRuns; ++i) {
      REQUIRE_MESSAGE(runs.result(i).ok(), runs.result(i).status().message());
      CHECK(testing::ElementsOf<int64_t>(*runs.result(i)) == expected[i]);
    }
    CHECK(g_largest <= 8);
    const SchedulerStats stats = runs.scheduler().stats();
    CHECK(stats.batches == static_cast<uint64_t>(g_together));
    CHECK(stats.lone_calls == static_cast<uint64_t>(g_single));
    const RuntimeStats counted = runs.runtime().stats();
    CHECK(counted.batches == stats.batches);
    CHECK(counted.batched_calls == stats.batched_calls);
    CHECK(counted.lone_calls == stats.lone_calls);
    CHECK(counted.batch_waits == counted.batched_calls + counted.lone_calls);
    CHECK(counted.kernel_calls == counted.batch_waits);
    CHECK(counted.batch_wait_ns > 0);
    CHECK(counted.batch_sizes[0] + counted.batch_sizes[4] == 0);
    CHECK(counted.waits == 0);
    if (threads == 1) {
      CHECK(counted.batch_sizes[3] > counted.batch_sizes[1]);
      CHECK(g_largest == 8);
      CHECK(stats.batched_calls > 4 * stats.batches);
    }
  }
}

TEST_CASE("batching: without it, or with groups of one, kernels run alone") {
  auto program = Program();
  for (size_t max_batch : {0, 1}) {
    Runs runs({.max_batch = max_batch});
    const Value w = Int64s({7});
    for (int i = 0; i < 4; ++i)
      runs.Add({.executable = program, .inputs = {Int64s({i}), w, Value::Int64(3)}});
    runs.Wait(4);
    CHECK(g_together == 0);
    CHECK(g_single == 12);
    CHECK(runs.scheduler().stats().lone_calls == 0);
  }
  CHECK(Scheduler::Create(testing::TestRuntime(), {.batching = {.max_batch = 2, .max_wait = -1ns}})
            .status()
            .code() == StatusCode::kInvalidArgument);
}

TEST_CASE("batching: a lone run does not wait where nothing else is ready") {
  auto program = Program();
  Runs runs({.max_batch = 64, .max_wait = 1h});
  runs.Add({.executable = program, .inputs = {Int64s({5}), Int64s({7}), Value::Int64(100)}});
  runs.Wait(1);
  CHECK(testing::ElementsOf<int64_t>(*runs.result(0)) == Expected({5}, 7, 100));
  CHECK(runs.scheduler().stats().lone_calls == 100);
}

TEST_CASE("batching: nor for long while others keep the thread") {
  auto busy = Busy();
  auto program = Program();
  // Its turns alone, or max_wait, end its waiting: the other one is never over.
  for (const auto wait : {std::chrono::nanoseconds(1h), std::chrono::nanoseconds(300us)}) {
    Runs runs({.max_batch = 64, .max_wait = wait});
    auto endless = runs.scheduler().RunAsync(
        {.executable = busy, .inputs = testing::Int64Values({INT64_MAX})}, [](const auto&) {});
    REQUIRE(endless.ok());
    const auto start = std::chrono::steady_clock::now();
    runs.Add({.executable = program, .inputs = {Int64s({5}), Int64s({7}), Value::Int64(5)}});
    runs.Wait(1);
    REQUIRE(runs.result(0).ok());
    CHECK(runs.end(0) - start >= 1500us);  // five calls, each of which waited
    CHECK(runs.end(0) - start < 10s);
    // One that is more urgent than what is ready does not wait at all.
    const auto again = std::chrono::steady_clock::now();
    runs.Add({.executable = program,
              .inputs = {Int64s({5}), Int64s({7}), Value::Int64(2000)},
              .priority = Priority::kHigh});
    runs.Wait(2);
    CHECK(runs.end(1) - again < 2500ms);
    endless->Cancel();
  }
}

TEST_CASE("batching: a call that waits costs its run no turn of those that are busy") {
  auto busy = Busy();
  auto program = Program();
  Runs runs({.max_batch = 16, .max_wait = 1ns});  // late at once
  constexpr int kBusy = 30, kCalls = 20;
  std::vector<Scheduler::Handle> endless;
  for (int i = 0; i < kBusy; ++i) {
    endless.push_back(*runs.scheduler().RunAsync(
        {.executable = busy, .inputs = testing::Int64Values({INT64_MAX})}, [](const auto&) {}));
  }
  while (runs.scheduler().stats().queued > 0) std::this_thread::yield();
  const uint64_t before = runs.scheduler().stats().slices;
  runs.Add({.executable = program, .inputs = {Int64s({5}), Int64s({7}), Value::Int64(kCalls)}});
  runs.Wait(1);
  // A round of all to begin, two for a slice that ends, and few for each call; not a round for
  // each.
  CHECK(runs.scheduler().stats().slices - before < 6 * kBusy + 5 * kCalls);
  CHECK(testing::ElementsOf<int64_t>(*runs.result(0)) == Expected({5}, 7, kCalls));
  for (const Scheduler::Handle& handle : endless) handle.Cancel();
}

TEST_CASE("batching: one that fails, is cancelled or is late leaves the others alone") {
  auto program = Program();
  Runs runs({.max_batch = 4, .max_wait = 1h});
  const Value w = Int64s({7});
  runs.Hold(program);
  auto add = [&](int64_t x, int64_t turns, const InvocationOptions& options = {}) {
    return runs.Add({.executable = program,
                     .inputs = {Int64s({x}), w, Value::Int64(turns)},
                     .options = options});
  };
  SUBCASE("a failure is that of the call that made it") {
    add(1, 3), add(-5, 3), add(2, 3), add(3, 3);
    runs.Go();
    runs.Wait(4);
    CHECK(runs.result(1).status().code() == StatusCode::kOutOfRange);
    CHECK(Contains(runs.result(1).status().message(), "scale"));
    for (size_t i : {0, 2, 3}) {
      REQUIRE(runs.result(i).ok());
      CHECK(testing::ElementsOf<int64_t>(*runs.result(i)) ==
            Expected({i == 0 ? 1 : static_cast<int64_t>(i)}, 7, 3));
    }
  }
  SUBCASE("cancellation") {
    constexpr int64_t kMany = 1'000'000'000;
    add(1, kMany), add(2, 50), add(3, 50), add(4, 50);
    runs.Go();
    runs.Wait(3);
    CHECK(g_together > 0);
    runs.handle(0).Cancel();
    runs.Wait(4);
    CHECK(runs.result(0).status().code() == StatusCode::kCancelled);
    for (size_t i : {1, 2, 3})
      CHECK(testing::ElementsOf<int64_t>(*runs.result(i)) ==
            Expected({static_cast<int64_t>(i + 1)}, 7, 50));
  }
  SUBCASE("deadline") {
    g_microseconds = 1000;
    constexpr int64_t kMany = 1'000'000'000;
    add(1, kMany, {.timeout = 20ms}), add(2, 100), add(3, 100), add(4, 100);
    runs.Go();
    runs.Wait(4);
    CHECK(runs.result(0).status().code() == StatusCode::kDeadlineExceeded);
    for (size_t i : {1, 2, 3})
      CHECK(testing::ElementsOf<int64_t>(*runs.result(i)) ==
            Expected({static_cast<int64_t>(i + 1)}, 7, 100));
  }
}

TEST_CASE("batching: memory counts as it does alone") {
  // A mebibyte of scratch, which runs of a batch do not use, is theirs all the same.
  auto program = Program("1048576");
  const Value w = Int64s({7});
  for (size_t max_batch : {0, 4}) {
    Runs runs({.max_batch = max_batch, .max_wait = 1h});
    runs.Hold(program);
    for (size_t i = 0; i < 4; ++i) {
      runs.Add({.executable = program,
                .inputs = {Int64s({1}), w, Value::Int64(3)},
                .options = {.memory_limit = i == 2 ? size_t{512} << 10 : size_t{4} << 20}});
    }
    runs.Go();
    runs.Wait(4);
    for (size_t i = 0; i < 4; ++i) {
      CHECK(runs.result(i).status().code() ==
            (i == 2 ? StatusCode::kResourceExhausted : StatusCode::kOk));
    }
  }
}

TEST_CASE("batching: copies count toward the runtime's limit, and go back") {
  auto program = Program();
  const Value w = Int64s({7});
  constexpr size_t kElements = 100'000, kBytes = 8 * kElements;
  const std::vector<int64_t> x(kElements, 3);
  // A result for each of four runs; the copies of two, in and out, are as much again.
  for (const size_t limit : {5 * kBytes + kBytes / 4, 16 * kBytes}) {
    CAPTURE(limit);
    const std::shared_ptr<Runtime> runtime = *Runtime::Create({.memory_limit = limit});
    {
      Runs runs({.max_batch = 4, .max_wait = 1h}, 1, runtime);
      runs.Hold(program);
      for (size_t i = 0; i < 4; ++i)
        runs.Add({.executable = program, .inputs = {Int64s(x), w, Value::Int64(1)}});
      runs.Go();
      runs.Wait(4);
      for (size_t i = 0; i < 4; ++i) {
        REQUIRE_MESSAGE(runs.result(i).ok(), runs.result(i).status().message());
        CHECK(testing::ElementsOf<int64_t>(*runs.result(i)) == Expected(x, 7, 1));
      }
      CHECK((g_together > 0) == (limit == 16 * kBytes));
    }
    runtime->Trim();
    CHECK(runtime->stats().counted_bytes == 0);
  }
}

TEST_CASE("batching: a scheduler that goes cancels what waits in groups") {
  auto program = Program();
  auto busy = Busy();
  std::atomic<int> cancelled{0};
  for (uint32_t threads : {1u, 4u}) {
    auto scheduler =
        Scheduler::Create(testing::TestRuntime(),
                          {.num_threads = threads, .batching = {.max_batch = 100, .max_wait = 1h}});
    REQUIRE(scheduler.ok());
    for (uint32_t i = 0; i < threads; ++i) {
      REQUIRE((*scheduler)
                  ->RunAsync({.executable = busy, .inputs = testing::Int64Values({INT64_MAX})},
                             [](const auto&) {})
                  .ok());
    }
    const Value w = Int64s({7});
    for (int i = 0; i < 20; ++i) {
      REQUIRE((*scheduler)
                  ->RunAsync({.executable = program,
                              .inputs = {Int64s({1}), w, Value::Int64(1'000'000'000)}},
                             [&](const Result<Value>& value) {
                               cancelled += value.status().code() == StatusCode::kCancelled;
                             })
                  .ok());
    }
    std::this_thread::sleep_for(5ms);
  }
  CHECK(cancelled == 40);
}

TEST_CASE("batching: batched forms that do not fit their kernel are refused or not used") {
  auto fails = [](const std::string& batched, const std::string& second) {
    Result<relayvm::Program> program = Assemble(fmt::format(R"(
.version 1
.kernel "scale" scalars 1 buffers (int64[s0], int64[1], out int64[s0]) builtin batched {}
.kernel "scale_many" {} builtin
.export "main" f0 () -> int64[?]
.function "main" scalars 0 objects 0 captured 0 registers 2 1 returns object arena 0
  const.i16 i0, 1
  tensor.alloc r0, int64, [i0]
  ret.r r0!
.end
)",
                                                            batched, second));
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    LoadOptions options;
    options.kernels = kKernels;
    return std::string(Executable::FromProgram(*std::move(program), options).status().message());
  };
  const std::string good = "scalars 2 buffers (int64[s1, s0], int64[1], out int64[s1, s0])";
  CHECK(fails("k1 (s0, calls) sharing 1", good).empty());
  CHECK(Contains(fails("k2 (s0, calls) sharing 1", good), "k2 is out of range 2"));
  CHECK(Contains(fails("k0 (s0) sharing 1", good), "no batched form"));
  CHECK(Contains(fails("k1 (s0) sharing 1", good), "scalars"));
  CHECK(Contains(fails("k1 (s1, calls) sharing 1", good), "takes scalar 1, out of range 1"));
  CHECK(Contains(fails("k1 (s0, calls) sharing 2", good), "share buffer 2"));
  CHECK(Contains(fails("k1 (s0, calls) rows s1 sharing 1", good), "scalar"));
  CHECK(Contains(fails("k1 (s0, calls) sharing 1 sharing 1", good), "share buffer 1"));
  CHECK(Contains(fails("k1 (s0, calls) sharing 1",
                       "scalars 2 buffers (int32[s1, s0], int64[1], out int64[s1, s0])"),
                 "buffer 0"));
}

TEST_CASE("batching: a kernel that takes more than its calls have runs alone") {
  // It says that it writes a row more.
  auto program = LoadText(R"(
.version 1
.kernel "scale" scalars 1 buffers (int64[s0], int64[1], out int64[s0]) builtin batched k1 (s0, calls) sharing 1
.kernel "scale_many" scalars 2 buffers (int64[s1, s0], int64[1], out int64[s1 + 1, s0]) builtin
.export "main" f0 ("x": int64[?], "w": int64[1]) -> int64[?]
.function "main" scalars 0 objects 2 captured 0 registers 3 3 returns object arena 0
  tensor.dim i0, r0, #0
  const.i16 i1, 1
  const.i16 i2, 0
  tensor.alloc r2, int64, [i0]
  kernel k0, i1, i1, i2, [i0], [r0!, r1!, r2]
  ret.r r2!
.end
)",
                          kKernels);
  Runs runs({.max_batch = 4});
  runs.Hold(Program());
  const Value w = Int64s({7});
  for (int i = 0; i < 4; ++i) runs.Add({.executable = program, .inputs = {Int64s({i}), w}});
  runs.Go();
  runs.Wait(4);
  for (int i = 0; i < 4; ++i)
    CHECK(testing::ElementsOf<int64_t>(*runs.result(static_cast<size_t>(i))) ==
          std::vector<int64_t>{i * 7 + 1});
  CHECK(g_together == 0);
}

// Calls of s0 numbers each, whose rows are these.
std::shared_ptr<const Executable> RowsProgram(const std::string& rows) {
  return LoadText(R"(
.version 1
.kernel "scale" scalars 1 buffers (int64[s0], int64[1], out int64[s0]) builtin batched k1 (calls) rows )" +
                      rows + R"( sharing 1
.kernel "scale_rows" scalars 1 buffers (int64[s0], int64[1], out int64[s0]) builtin
.export "main" f0 ("x": int64[?], "w": int64[1]) -> int64[?]
.function "main" scalars 0 objects 2 captured 0 registers 3 3 returns object arena 0
  tensor.dim i0, r0, #0
  const.i16 i1, 1
  const.i16 i2, 0
  tensor.alloc r2, int64, [i0]
  kernel k0, i1, i1, i2, [i0], [r0!, r1!, r2]
  ret.r r2!
.end
)",
                  kKernels);
}

TEST_CASE("batching: calls of different rows run together where they are few") {
  auto run = [&](const std::string& rows, const std::vector<int64_t>& lengths) {
    auto program = RowsProgram(rows);
    Runs runs({.max_batch = 4});
    runs.Hold(Program());
    const Value w = Int64s({7});
    std::vector<std::vector<int64_t>> inputs;
    for (const int64_t n : lengths) {
      auto& x = inputs.emplace_back();
      for (int64_t i = 0; i < n; ++i) x.push_back(100 * n + i);
      runs.Add({.executable = program, .inputs = {Int64s(x), w}});
    }
    runs.Go();
    runs.Wait(lengths.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      CHECK(testing::ElementsOf<int64_t>(*runs.result(i)) == Expected(inputs[i], 7, 1));
    }
    return std::pair(g_rows_together.exchange(0), g_single.load() - 1);
  };
  CHECK(run("s0", {3, 4, 1, 2}) == std::pair<int64_t, int64_t>{10, 0});
  // One of them has many.
  CHECK(run("s0", {3, 5, 1, 2}).second > 0);
  // The file says more rows than there are, fewer than there may be, or none that can be.
  CHECK(run("s0 + 1", {1, 2, 3, 3}) == std::pair<int64_t, int64_t>{0, 4});
  CHECK(run("s0*4611686018427387904", {1, 2, 3, 3}) == std::pair<int64_t, int64_t>{0, 4});
}

TEST_CASE("batching: a trace sees batches, and in them the calls of each run") {
  struct Sink : TraceSink {
    std::mutex mutex;
    uint64_t batches = 0, batched = 0, in_batches = 0, alone = 0, waits = 0;
    void OnBatch(const BatchEvent& e) override {
      std::lock_guard lock(mutex);
      CHECK(e.name == "scale");
      CHECK(e.end_ns >= e.begin_ns);
      ++batches;
      batched += e.calls;
    }
    void OnKernel(const KernelEvent& e) override {
      std::lock_guard lock(mutex);
      CHECK(e.end_ns >= e.begin_ns);
      ++(e.batch > 1 ? in_batches : alone);
    }
    void OnWait(const WaitEvent& e) override {
      std::lock_guard lock(mutex);
      CHECK(e.in_batch);
      ++waits;
    }
  } sink;
  auto runtime = Runtime::Create({.trace = &sink});
  REQUIRE(runtime.ok());
  auto program = Program();
  const Value w = Int64s({7});
  Runs runs({.max_batch = 8, .max_wait = 100ms}, 1, *runtime);
  runs.Hold(program);
  for (int64_t i = 0; i < 20; ++i)
    runs.Add({.executable = program, .inputs = {Int64s({i}), w, Value::Int64(1 + i % 5)}});
  runs.Go();
  runs.Wait(20);
  for (size_t i = 0; i < 20; ++i) {
    const auto n = static_cast<int64_t>(i);
    REQUIRE(runs.result(i).ok());
    CHECK(testing::ElementsOf<int64_t>(*runs.result(i)) == Expected({n}, 7, 1 + n % 5));
  }
  const SchedulerStats stats = runs.scheduler().stats();
  CHECK(stats.batches > 0);
  CHECK(sink.batches == stats.batches);
  CHECK(sink.batched == stats.batched_calls);
  CHECK(sink.in_batches == stats.batched_calls);
  CHECK(sink.alone == stats.lone_calls);
  CHECK(sink.waits == stats.batched_calls + stats.lone_calls);
}

}  // namespace
}  // namespace relayvm

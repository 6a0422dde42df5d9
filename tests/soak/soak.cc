// A soak: many invocations at once, with all that may happen to them, each result checked.
//
//   soak PROGRAMS_FOLDER [--runs N] [--threads N] [--seed N]
//
// Each thread draws a case (cases.h) and a way to run it: on one of two schedulers, one of which
// batches, or by itself with an invocation that it keeps or makes anew. Some runs get a limit of
// memory, a deadline, a cancellation at a random time, host functions that wait or fail. A run must
// give its case's value, bit for bit, or the status of something that was done to it; in the end
// every tensor has been given back, and resident memory has not grown. Half of the runs take their
// memory from a source that counts. Prints the counts; the exit status is 1 when anything was
// wrong.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <cinttypes>
#include <condition_variable>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "tests/same_value.h"
#include "tests/soak/cases.h"
#include "vm/platform/sanitizers.h"
#include "vm/schedule/scheduler.h"

namespace relayvm::soak {
namespace {

using Clock = std::chrono::steady_clock;

class CountingSource : public MemorySource {
 public:
  void* Allocate(size_t bytes, size_t alignment) override {
    void* memory = nullptr;
    if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
    live_ += static_cast<int64_t>(bytes);
    return memory;
  }
  void Free(void* memory, size_t bytes) override {
    live_ -= static_cast<int64_t>(bytes);
    std::free(memory);
  }
  void Discard(void* memory, size_t bytes) override { madvise(memory, bytes, MADV_DONTNEED); }
  int64_t live() const { return live_; }

 private:
  std::atomic<int64_t> live_{0};
};

double ResidentMiB() {
  int64_t pages = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%" SCNd64 " %" SCNd64, &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// What was done to a run, and so what it may end with besides its case's own outcome.
struct Run {
  const Case* test = nullptr;
  HostPlan plan;
  InvocationOptions options;
  Clock::time_point deadline = Clock::time_point::max();
  std::atomic<bool> cancelled{false};
  Value buffer;  // whose memory the result goes to; or none

  // The case's own outcome.
  bool IsExpected(const Result<Value>& result) const {
    if (result.status().code() != test->code) return false;
    if (!result.ok()) return true;
    return buffer ? !*result && testing::SameBits(buffer, test->expected)
                  : testing::SameBits(*result, test->expected);
  }
  bool MayEndWith(StatusCode code) const {
    switch (code) {
      case StatusCode::kResourceExhausted:
        return options.memory_limit != SIZE_MAX;
      case StatusCode::kDeadlineExceeded:
        return options.timeout.count() > 0 || deadline != Clock::time_point::max();
      case StatusCode::kCancelled:
        return cancelled;
      case StatusCode::kNotFound:
        return plan.fails_at >= 0;
      default:
        return false;
    }
  }
};

struct Totals {
  std::array<std::atomic<uint64_t>, kNumStatusCodes> ended{};
  std::atomic<uint64_t> done{0}, wrong{0}, cancelled{0}, limited{0}, timed{0}, waiting{0};
  std::atomic<uint64_t> wrapped{0}, released{0}, buffers{0};
};

void Check(const Run& run, const Result<Value>& result, Totals* totals) {
  ++totals->ended[static_cast<size_t>(result.status().code())];
  const StatusCode code = result.status().code();
  const bool is_right = code == run.test->code ? run.IsExpected(result) : run.MayEndWith(code);
  if (!is_right && ++totals->wrong <= 10) {
    fmt::print(stderr, "soak: {}: {}\n", run.test->program,
               result.ok() ? "a wrong value" : result.status().ToString());
  }
  ++totals->done;
}

// One of the threads. Runs by itself, or asks the schedulers, of whose runs a few are open at once.
class Worker {
 public:
  Worker(std::span<const Case> cases, std::span<const std::shared_ptr<Runtime>> runtimes,
         std::span<const std::unique_ptr<Scheduler>> schedulers, uint64_t seed, Totals* totals)
      : cases_(cases),
        runtimes_(runtimes),
        schedulers_(schedulers),
        random_(seed),
        totals_(totals) {}

  void Work(uint64_t runs) {
    for (; runs > 0; --runs) {
      auto run = std::make_shared<Run>();
      Draw(run.get());
      if (Chance(60)) {
        RunOnScheduler(std::move(run));
      } else {
        RunAlone(*run);
      }
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_ == 0; });
  }

  // Cancels what this worker runs by itself, if anything; from another thread.
  void CancelCurrent() {
    const std::lock_guard lock(mutex_);
    if (current_ == nullptr) return;
    current_run_->cancelled = true;
    ++totals_->cancelled;
    current_->Cancel();
  }

 private:
  static constexpr int kMostOpen = 64;

  bool Chance(int64_t percent) { return Between(random_, 1, 100) <= percent; }

  void Draw(Run* run) {
    run->test =
        &cases_[static_cast<size_t>(Between(random_, 0, static_cast<int64_t>(cases_.size()) - 1))];
    if (Chance(8)) {
      run->options.memory_limit = static_cast<size_t>(Between(random_, 0, 300'000));
      ++totals_->limited;
    }
    if (Chance(8)) {
      run->options.timeout = std::chrono::microseconds(Between(random_, 1, 2000));
      ++totals_->timed;
    }
    if (run->test->expected.is_tensor() && Chance(20)) {
      const Value& expected = run->test->expected;
      auto buffer = Value::NewTensor(expected.dtype(), expected.dims());
      if (buffer.ok()) run->buffer = *std::move(buffer);
      ++totals_->buffers;
    }
    if (run->test->calls_host) {
      if (Chance(50)) {
        run->plan.wait = Chance(50) ? HostPlan::Wait::kForTime : HostPlan::Wait::kForWaker;
        ++totals_->waiting;
      }
      if (Chance(10)) run->plan.fails_at = Between(random_, 0, 4);
      run->options.host_context = &run->plan;
    }
  }

  // The case's inputs, some of them as memory of the host that is released.
  std::vector<Value> Inputs(const Case& test) {
    std::vector<Value> inputs = test.inputs;
    Value& last = inputs.back();
    if (last.is_tensor() && last.bytes() > 0 && Chance(20)) {
      auto* held = new std::pair<Value, Totals*>(last, totals_);
      auto wrapped = Value::WrapTensor(
          last.dtype(), last.dims(), const_cast<void*>(last.data()),
          [](void* context) {
            std::unique_ptr<std::pair<Value, Totals*>> mine(
                static_cast<std::pair<Value, Totals*>*>(context));
            ++mine->second->released;
          },
          held);
      ++totals_->wrapped;
      if (wrapped.ok()) last = *std::move(wrapped);
    }
    return inputs;
  }

  static std::vector<OutputBuffer> Outputs(Run& run) {
    if (!run.buffer) return {};
    return {{run.buffer.dtype(), run.buffer.dims(), run.buffer.mutable_data()}};
  }

  void RunOnScheduler(std::shared_ptr<Run> run) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return open_ < kMostOpen; });
      ++open_;
    }
    RunRequest request{.executable = run->test->executable,
                       .inputs = Inputs(*run->test),
                       .outputs = Outputs(*run)};
    request.options = run->options;
    request.priority = static_cast<Priority>(Between(random_, 0, 2));
    if (Chance(5)) {
      run->deadline = Clock::now() + std::chrono::microseconds(Between(random_, 0, 20'000));
      request.deadline = run->deadline;
    }
    Scheduler& scheduler = *schedulers_[static_cast<size_t>(Between(random_, 0, 1))];
    auto handle = scheduler.RunAsync(std::move(request), [this, run](const Result<Value>& result) {
      Check(*run, result, totals_);
      const std::lock_guard lock(mutex_);
      --open_;
      changed_.notify_all();
    });
    if (!handle.ok()) {
      ++totals_->wrong;
      const std::lock_guard lock(mutex_);
      --open_;
      return;
    }
    // Another one than this, which has been open for a while.
    auto& [old_run, old_handle] = recent_[static_cast<size_t>(Between(random_, 0, kRecent - 1))];
    if (old_run != nullptr && Chance(6)) {
      old_run->cancelled = true;
      ++totals_->cancelled;
      old_handle.Cancel();
    }
    old_run = std::move(run);
    old_handle = *std::move(handle);
  }

  void RunAlone(Run& run) {
    const Case& test = *run.test;
    std::unique_ptr<Invocation>& kept = kept_[test.executable.get()];
    if (kept == nullptr || Chance(10)) {
      auto made = Invocation::Create(runtimes_[static_cast<size_t>(Between(random_, 0, 1))],
                                     test.executable);
      if (!made.ok()) {
        ++totals_->wrong;
        return;
      }
      kept = *std::move(made);
    }
    kept->set_memory_limit(run.options.memory_limit);
    kept->set_timeout(run.options.timeout);
    kept->set_host_context(run.options.host_context);
    SetCurrent(kept.get(), &run);
    Result<Value> result =
        Chance(70) ? kept->Run("main", Inputs(test), Outputs(run)) : RunInSlices(*kept, run);
    SetCurrent(nullptr, nullptr);
    kept->ForgetCancel();
    Check(run, result, totals_);
    if (Chance(2)) kept->Trim();
  }

  Result<Value> RunInSlices(Invocation& invocation, Run& run) {
    RELAYVM_RETURN_IF_ERROR(invocation.Start("main", Inputs(*run.test), Outputs(run)));
    for (;;) {
      const RunState state = invocation.Poll(std::chrono::microseconds(Between(random_, 1, 50)));
      if (state == RunState::kDone) return invocation.TakeResult();
      if (state == RunState::kWaiting) invocation.Wait();
    }
  }

  void SetCurrent(Invocation* invocation, Run* run) {
    const std::lock_guard lock(mutex_);
    current_ = invocation;
    current_run_ = run;
  }

  std::span<const Case> cases_;
  std::span<const std::shared_ptr<Runtime>> runtimes_;
  std::span<const std::unique_ptr<Scheduler>> schedulers_;
  Random random_;
  Totals* totals_;

  std::mutex mutex_;
  std::condition_variable changed_;
  int open_ = 0;
  Invocation* current_ = nullptr;
  Run* current_run_ = nullptr;

  static constexpr int kRecent = 32;
  std::array<std::pair<std::shared_ptr<Run>, Scheduler::Handle>, kRecent> recent_;
  std::map<const Executable*, std::unique_ptr<Invocation>> kept_;
};

struct Options {
  std::string folder;
  uint64_t runs = 1'000'000, threads = 8, seed = 1;
};

// All threads, and one that cancels; resident memory is sampled.
std::vector<double> RunAll(const Options& options, std::span<const Case> cases,
                           const std::shared_ptr<MemorySource>& source, Totals* totals) {
  constexpr int kSamples = 20;
  std::vector<std::shared_ptr<Runtime>> runtimes;
  std::vector<std::unique_ptr<Scheduler>> schedulers;
  for (const bool second : {false, true}) {
    runtimes.push_back(*Runtime::Create({.memory = second ? source : nullptr}));
    schedulers.push_back(
        *Scheduler::Create(runtimes.back(), {.num_threads = 2,
                                             .slice = std::chrono::microseconds(200),
                                             .batching = {.max_batch = second ? size_t{8} : 0}}));
  }
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  uint64_t left = options.runs;
  for (uint64_t i = 0; i < options.threads; ++i) {
    workers.push_back(
        std::make_unique<Worker>(cases, runtimes, schedulers, options.seed * 1000 + i, totals));
    const uint64_t share = left / (options.threads - i);
    left -= share;
    threads.emplace_back([worker = workers.back().get(), share] { worker->Work(share); });
  }
  std::vector<double> resident;
  Random random(options.seed);
  while (totals->done < options.runs) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    workers[static_cast<size_t>(Between(random, 0, static_cast<int64_t>(workers.size()) - 1))]
        ->CancelCurrent();
    if (totals->done * kSamples >= options.runs * (resident.size() + 1))
      resident.push_back(ResidentMiB());
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < schedulers.size(); ++i) {
    const SchedulerStats stats = schedulers[i]->stats();
    fmt::print("scheduler {}: {} accepted, {} slices, {} batches of {} calls, {} calls alone\n",
               i + 1, stats.accepted, stats.slices, stats.batches, stats.batched_calls,
               stats.lone_calls);
  }
  return resident;
}

// The median of the samples from `first` on.
double Median(const std::vector<double>& samples, size_t first, size_t count) {
  std::vector<double> part(samples.begin() + static_cast<std::ptrdiff_t>(first),
                           samples.begin() + static_cast<std::ptrdiff_t>(first + count));
  std::sort(part.begin(), part.end());
  return part[count / 2];
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Many invocations at once, with all that may happen to them.", "soak");
  app.add_option("folder", options.folder, "tests/programs")->required();
  app.add_option("--runs", options.runs);
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 64));
  app.add_option("--seed", options.seed);
  CLI11_PARSE(app, argc, argv);

  Totals totals;
  auto source = std::make_shared<CountingSource>();
  const auto begin = Clock::now();
  std::vector<double> resident;
  double mebibytes_before = 0;
  {
    Alarm alarm;
    Random random(options.seed);
    const std::vector<Case> cases = MakeCases(options.folder, 24, &alarm, random);
    mebibytes_before = ResidentMiB();
    resident = RunAll(options, cases, source, &totals);
  }
  malloc_trim(0);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  fmt::print("{} runs on {} threads in {:.1f} s: {} wrong\n", totals.done.load(), options.threads,
             seconds, totals.wrong.load());
  for (size_t code = 0; code < kNumStatusCodes; ++code) {
    if (totals.ended[code] > 0)
      fmt::print("  {:>8} {}\n", totals.ended[code].load(),
                 StatusCodeName(static_cast<StatusCode>(code)));
  }
  fmt::print(
      "of these {} with a memory limit, {} with a time limit, {} that wait, {} cancellations, {} "
      "into buffers\n",
      totals.limited.load(), totals.timed.load(), totals.waiting.load(), totals.cancelled.load(),
      totals.buffers.load());
  fmt::print("inputs wrapped {}, released {}; bytes of the source that are live: {}\n",
             totals.wrapped.load(), totals.released.load(), source->live());
  std::string samples;
  for (double mebibytes : resident) samples += fmt::format(" {:.0f}", mebibytes);
  fmt::print("resident MiB: {:.0f} before,{}; {:.0f} after\n", mebibytes_before, samples,
             ResidentMiB());

  bool good = totals.wrong == 0 && totals.done == options.runs && source->live() == 0 &&
              totals.wrapped == totals.released;
  // The first quarter of the runs, but for its first tenth, against the last quarter.
  constexpr size_t kQuarter = 5;
#if RELAYVM_ASAN  // which keeps what was freed for a while
  constexpr double kMostGrowth = std::numeric_limits<double>::infinity();
#else
  constexpr double kMostGrowth = 24;
#endif
  if (resident.size() >= 3 * kQuarter) {
    const double growth =
        Median(resident, resident.size() - kQuarter, kQuarter) - Median(resident, 2, kQuarter);
    fmt::print("growth of the median from the first quarter to the last: {:.1f} MiB\n", growth);
    good = good && growth < kMostGrowth;
  }
  fmt::print("{}\n", good ? "good" : "WRONG");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace relayvm::soak

int main(int argc, char** argv) { return relayvm::soak::Main(argc, argv); }

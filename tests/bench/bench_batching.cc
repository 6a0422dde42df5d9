// What batching across requests gains: many requests at once through a scheduler, on one thread,
// with batching and without, in turn. All results are compared bit for bit.
//
//   bench_batching KIND MODEL.vmx FUNCTION SIZES
//       [REQUESTS [ROUNDS [MAX_BATCH [MAX_WAIT_US [THREADS]]]]]
//   bench_batching latency SECONDS KIND MODEL.vmx FUNCTION SIZES [KIND MODEL.vmx FUNCTION SIZES ...]
//
//   tree     a tree of leaves (1, ?) first, then weights; SIZES: a file of trees, "((. .) .)" a line
//   lengths  a tensor of (?, ...) first, then weights; SIZES: a file of numbers
//   tokens   a tensor of (1, ?) of int64 below 1,000, then weights; SIZES: a file of numbers
//   decode   tokens and a number of steps first; SIZES: the number of steps
//
// Prints the milliseconds of a round without and with batching, the ratio of the two, calls a
// batch, and the share of calls that ran alone. THREADS: of a run's kernels. `latency`: mixed
// requests at random times on two threads, 70 % of what these can do without batching; the
// latencies with batching and without, at the same rate.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bytecode/program.h"
#include "tests/same_value.h"
#include "vm/schedule/scheduler.h"

namespace {

using relayvm::DType;
using relayvm::Value;
using Clock = std::chrono::steady_clock;

std::mt19937 g_random(1);

Value RandomTensor(const std::vector<int64_t>& dims) {
  auto tensor = Value::NewTensor(DType::kFloat32, dims);
  if (!tensor.ok()) std::exit(2);
  std::normal_distribution<float> normal(0, 0.05F);
  auto* data = static_cast<float*>(tensor->mutable_data());
  for (int64_t i = 0; i < tensor->num_elements(); ++i) data[i] = normal(g_random);
  return *std::move(tensor);
}

struct Workload {
  std::shared_ptr<const relayvm::Executable> program;
  std::string function;
  std::vector<std::vector<Value>> requests;
};

// "((. .) .)", from `at` on.
Value Tree(const std::string& text, size_t* at, const std::vector<Value>& leaves) {
  while (text[*at] == ' ') ++*at;
  if (text[(*at)++] == '.') return Value::Adt(0, {leaves[g_random() % leaves.size()]});
  Value left = Tree(text, at, leaves), right = Tree(text, at, leaves);
  ++*at;  // )
  return Value::Adt(1, {left, right});
}

Workload Make(const char* kind, const char* path, const char* function, const char* sizes,
              size_t num_requests) {
  auto program = relayvm::Executable::Load(path, {.perf_map = true});
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", program.status().message().c_str());
    std::exit(2);
  }
  Workload work{*program, function, {}};
  const relayvm::ExportInfo* info = work.program->FindExport(function);
  if (info == nullptr) std::exit(2);
  std::vector<Value> weights;
  const size_t own = std::strcmp(kind, "decode") == 0 ? 2 : 1;
  for (size_t i = own; i < info->params.size(); ++i)
    weights.push_back(RandomTensor(info->params[i].dims));
  std::vector<std::string> lines;
  if (own == 1) {
    std::ifstream file(sizes);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    if (lines.empty()) std::exit(2);
  }
  std::vector<Value> leaves;
  for (int i = 0; i < 64; ++i) leaves.push_back(RandomTensor({1, 300}));
  for (size_t r = 0; r < num_requests; ++r) {
    std::vector<Value> inputs;
    if (std::strcmp(kind, "tree") == 0) {
      size_t at = 0;
      inputs.push_back(Tree(lines[r * 7 % lines.size()], &at, leaves));
    } else if (std::strcmp(kind, "tokens") == 0) {
      const int64_t dims[] = {1, std::atoll(lines[r * 7 % lines.size()].c_str())};
      std::vector<int64_t> tokens(static_cast<size_t>(dims[1]));
      for (int64_t& token : tokens) token = static_cast<int64_t>(g_random() % 1000);
      inputs.push_back(*Value::CopyTensor(DType::kInt64, dims, tokens.data()));
    } else if (own == 1) {
      std::vector<int64_t> dims = info->params[0].dims;
      dims[0] = std::atoll(lines[r * 7 % lines.size()].c_str());
      inputs.push_back(RandomTensor(dims));
    } else {
      const int32_t tokens[] = {static_cast<int32_t>(300 + r), 1};
      const int64_t dims[] = {info->params[0].dims[0] == 1 ? 1 : 2};
      inputs.push_back(*Value::CopyTensor(DType::kInt32, dims, tokens));
      inputs.push_back(Value::Int32(std::atoi(sizes)));
    }
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    work.requests.push_back(std::move(inputs));
  }
  return work;
}

// Runs all requests; milliseconds.
double Round(relayvm::Scheduler& scheduler, const Workload& work, std::vector<Value>* results) {
  std::mutex mutex;
  std::condition_variable changed;
  size_t left = work.requests.size();
  results->assign(left, Value());
  const auto start = Clock::now();
  for (size_t i = 0; i < work.requests.size(); ++i) {
    auto run =
        scheduler.RunAsync({.executable = work.program,
                            .function = work.function,
                            .inputs = work.requests[i],
                            .outputs = {},
                            .options = {}},
                           [&, i](relayvm::Result<Value> value) {
                             if (!value.ok()) {
                               std::fprintf(stderr, "%s\n", value.status().message().c_str());
                               std::exit(3);
                             }
                             std::lock_guard lock(mutex);
                             (*results)[i] = *std::move(value);
                             if (--left == 0) changed.notify_one();
                           });
    if (!run.ok()) std::exit(3);
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return left == 0; });
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// --- Latency ---

// Requests of all workloads, one after the other.
struct Request {
  const Workload* work;
  const std::vector<Value>* inputs;
};

// Requests that arrive at random times, `rate` a second on average: their latencies in
// milliseconds, in order.
std::vector<double> Latencies(relayvm::Scheduler& scheduler, const std::vector<Request>& requests,
                              double rate, double seconds) {
  std::mt19937 random(7);
  std::exponential_distribution<double> pause(rate);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<double> latencies;
  size_t sent = 0;
  const auto start = Clock::now();
  for (double at = pause(random); at < seconds; at += pause(random)) {
    const auto due =
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(at));
    std::this_thread::sleep_until(due);
    const Request& request = requests[sent++ % requests.size()];
    auto run = scheduler.RunAsync({.executable = request.work->program,
                                   .function = request.work->function,
                                   .inputs = *request.inputs,
                                   .outputs = {},
                                   .options = {}},
                                  [&, due](const relayvm::Result<Value>& value) {
                                    if (!value.ok()) std::exit(3);
                                    const std::chrono::duration<double, std::milli> took =
                                        Clock::now() - due;
                                    std::lock_guard lock(mutex);
                                    latencies.push_back(took.count());
                                    changed.notify_one();
                                  });
    if (!run.ok()) std::exit(3);
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return latencies.size() == sent; });
  std::ranges::sort(latencies);
  return latencies;
}

int MeasureLatency(double seconds, const std::vector<Workload>& works) {
  auto runtime = relayvm::Runtime::Create({.max_idle_workspaces = 256});
  relayvm::SchedulerOptions options;
  options.num_threads = 2;
  auto plain = relayvm::Scheduler::Create(*runtime, options);
  options.batching.max_batch = 64;
  auto batching = relayvm::Scheduler::Create(*runtime, options);
  if (!plain.ok() || !batching.ok()) return 2;
  // What two threads do without batching in a second, of a mixture in equal numbers.
  double milliseconds = 0;
  size_t count = 0;
  std::vector<Value> results;
  for (const Workload& work : works) {
    double least = Round(**plain, work, &results);
    for (int turn = 0; turn < 4; ++turn) least = std::min(least, Round(**plain, work, &results));
    milliseconds += least;
    count += work.requests.size();
  }
  const double rate = 0.7 * static_cast<double>(count) / milliseconds * 1000;
  std::vector<Request> requests;
  for (size_t i = 0; i < works[0].requests.size(); ++i) {
    for (const Workload& work : works) requests.push_back({&work, &work.requests[i]});
  }
  for (bool batches : {false, true}) {
    const std::vector<double> all =
        Latencies(batches ? **batching : **plain, requests, rate, seconds);
    auto at = [&](double share) {
      return all[static_cast<size_t>(share * static_cast<double>(all.size() - 1))];
    };
    std::printf("%s batching: %.0f requests a second, p50 %.2f ms, p99 %.2f ms, p99/p50 %.1f\n",
                batches ? "with" : "without", rate, at(0.5), at(0.99), at(0.99) / at(0.5));
  }
  const relayvm::SchedulerStats stats = (*batching)->stats();
  std::printf(
      "%.1f calls a batch, %.0f%% alone\n",
      static_cast<double>(stats.batched_calls) /
          static_cast<double>(std::max<uint64_t>(stats.batches, 1)),
      100 * static_cast<double>(stats.lone_calls) /
          static_cast<double>(std::max<uint64_t>(stats.batched_calls + stats.lone_calls, 1)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 7 && std::strcmp(argv[1], "latency") == 0) {
    std::vector<Workload> works;
    for (int at = 3; at + 3 < argc; at += 4)
      works.push_back(Make(argv[at], argv[at + 1], argv[at + 2], argv[at + 3], 64));
    return MeasureLatency(std::atof(argv[2]), works);
  }
  if (argc < 5) return 1;
  auto number = [&](int at, size_t otherwise) {
    return argc > at ? static_cast<size_t>(std::atoll(argv[at])) : otherwise;
  };
  const size_t num_requests = number(5, 64), rounds = number(6, 7), max_batch = number(7, 64);
  const Workload work = Make(argv[1], argv[2], argv[3], argv[4], num_requests);
  if (work.program->num_batched_kernels() == 0)
    std::printf("no kernels to batch: compile with relayc --batching\n");
  auto runtime = relayvm::Runtime::Create(
      {.num_threads = static_cast<uint32_t>(number(9, 1)), .max_idle_workspaces = 256});
  relayvm::SchedulerOptions options;
  auto plain = relayvm::Scheduler::Create(*runtime, options);
  options.batching.max_batch = max_batch;
  options.batching.max_wait = std::chrono::microseconds(number(8, 1000));
  auto batching = relayvm::Scheduler::Create(*runtime, options);
  if (!plain.ok() || !batching.ok()) return 2;
  std::vector<double> without, with;
  size_t differ = 0;
  for (size_t r = 0; r <= rounds; ++r) {
    std::vector<Value> expected, found;
    const double a = Round(**plain, work, &expected), b = Round(**batching, work, &found);
    for (size_t i = 0; i < expected.size(); ++i)
      differ += relayvm::testing::SameBits(expected[i], found[i]) ? 0 : 1;
    if (r == 0) continue;  // pages and caches
    without.push_back(a);
    with.push_back(b);
  }
  const relayvm::SchedulerStats stats = (*batching)->stats();
  const double batches = static_cast<double>(std::max<uint64_t>(stats.batches, 1));
  const double calls = static_cast<double>(stats.batched_calls + stats.lone_calls);
  std::printf("%.3f %.3f ratio %.2f, %.1f calls a batch, %.1f%% alone, %zu results differ\n",
              Median(without), Median(with), Median(without) / Median(with),
              static_cast<double>(stats.batched_calls) / batches,
              100 * static_cast<double>(stats.lone_calls) / std::max(calls, 1.0), differ);
  return differ == 0 ? 0 : 4;
}

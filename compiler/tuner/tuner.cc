#include "compiler/tuner/tuner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "bytecode/image_loader.h"
#include "compiler/tuner/bench.h"
#include "compiler/tuner/decision.h"
#include "kernels/codegen/schedule_space.h"
#include "kernels/codegen/tensor_order.h"

namespace relayvm::tuner {
namespace {

using Clock = std::chrono::steady_clock;

// Of a kernel at a sample, weights' copies aside.
constexpr size_t kMostBenchBytes = size_t{512} << 20;
// Cycles of a call that is not measured: half a second.
constexpr double kMostCycles = 1.5e9;
// Compiled together: few first, so that something is measured in a short time.
constexpr size_t kFirstBatch = 3, kBatch = 7;
// Turns: of all candidates, of the best one.
constexpr int kTurns = 4, kLeastTurns = 2, kLastTurns = 16, kLeastLastTurns = 8;
// What is so much slower at a sample, by the least of a few turns, is not looked at again.
constexpr double kMostSlower = 0.1;
// A time is of so many calls that it is this long, in ns.
constexpr double kSpan = 40e3;
constexpr int kMostCalls = 1000;
// What a kernel gains for which the model expects nothing, or that it does not know.
constexpr double kHope = 0.02;
constexpr double kNotable = 0.05;
// Of a program's products together, below which nobody waits for them: some 20 us.
constexpr double kLeastCycles = 60000;
constexpr std::chrono::seconds kFirstResult{1};

// A kernel of the program: its structure, once.
struct Kernel {
  KernelSpec spec;
  std::string key;
  size_t calls = 0;
};

std::vector<Kernel> Distinct(const std::vector<KernelSpec>& specs, const KernelOptions& options) {
  std::vector<Kernel> kernels;
  std::map<std::string, size_t> index;
  for (const KernelSpec& spec : specs) {
    std::string key = ScheduleKey(spec, options);
    const auto [at, fresh] = index.try_emplace(key, kernels.size());
    if (fresh) kernels.push_back({spec, std::move(key), 0});
    ++kernels[at->second].calls;
  }
  return kernels;
}

// Whether the model may know it: it knows no others.
bool IsProduct(const KernelSpec& spec) {
  return std::ranges::any_of(codegen::TensorsInOrder(spec.outputs), [](const te::Tensor& t) {
    return t->hint != te::ScheduleHint::kNone;
  });
}

// Over all samples; nullopt where the model knows none of them.
std::optional<KernelEstimate> EstimateAll(const KernelSpec& spec, const KernelOptions& options,
                                          const TileSchedule& schedule,
                                          const std::vector<Sample>& samples) {
  std::optional<KernelEstimate> sum;
  for (const Sample& sample : samples) {
    const auto one = EstimateKernel(spec, options, schedule, ValuesOf(sample));
    if (!one) continue;
    if (!sum) sum.emplace();
    sum->cycles += one->cycles;
    sum->least += one->least;
  }
  return sum;
}

struct Candidate {
  TileSchedule schedule;
  double cycles;  // estimated
};

// What there is to measure of a kernel.
struct Work {
  Kernel kernel;
  std::vector<Sample> samples;
  std::vector<Candidate> candidates;  // the most promising first
  double importance = 0;              // expected cycles that the program gains
};

std::optional<Work> WorkOf(const Kernel& kernel, std::vector<Sample> samples,
                           const KernelOptions& options, size_t most_candidates) {
  Work work{kernel, std::move(samples), {}, 0};
  const auto own = EstimateAll(kernel.spec, options, {}, work.samples);
  for (const TileSchedule& schedule : ScheduleSpace(kernel.spec, options)) {
    const auto estimate = EstimateAll(kernel.spec, options, schedule, work.samples);
    work.candidates.push_back({schedule, estimate ? estimate->cycles : 0});
  }
  if (work.candidates.empty()) return std::nullopt;
  std::ranges::stable_sort(work.candidates, {}, &Candidate::cycles);
  if (work.candidates.size() > most_candidates) work.candidates.resize(most_candidates);
  const double now = own ? own->cycles : work.candidates.back().cycles;
  const double gain = own ? std::max(kHope, 1 - work.candidates[0].cycles / now) : kHope;
  work.importance = now * gain * static_cast<double>(kernel.calls);
  return work;
}

// --- One kernel ---

class KernelTuner {
 public:
  KernelTuner(const Work& work, const KernelOptions& options, const TuneOptions& tune,
              Clock::time_point end)
      : work_(work), options_(options), tune_(tune), end_(end) {}

  // nullopt: there was no time to measure it.
  Result<std::optional<ScheduleRecord>> Run() {
    RELAYVM_RETURN_IF_ERROR(MakeBenches());
    RELAYVM_ASSIGN_OR_RETURN(std::vector<CompiledKernel> own, Compile({TileSchedule()}));
    own_.kernel = std::move(own[0]);
    for (Bench& bench : benches_) {
      RELAYVM_ASSIGN_OR_RETURN(expected_.emplace_back(), bench.Run(own_.kernel));
      const double once = tune_.time_of ? kSpan : bench.Time(own_.kernel, 1);
      calls_.push_back(static_cast<int>(std::clamp(kSpan / once, 1.0, double{kMostCalls})));
    }
    base_ns_.assign(benches_.size(), std::numeric_limits<double>::infinity());
    bool measured = false;
    for (size_t first = 0; first < work_.candidates.size() && HasTime();) {
      const size_t size = first == 0 ? kFirstBatch : kBatch;
      RELAYVM_ASSIGN_OR_RETURN(const bool done, Screen(first, size));
      measured |= done;
      first += size;
    }
    if (!measured) return std::optional<ScheduleRecord>();
    RELAYVM_ASSIGN_OR_RETURN(ScheduleRecord record, Decide());
    return std::optional(std::move(record));
  }

 private:
  struct Entry {
    TileSchedule schedule;
    CompiledKernel kernel;
  };

  bool HasTime() const { return Clock::now() < end_; }

  Status MakeBenches() {
    Status last;
    for (const Sample& sample : work_.samples) {
      const auto estimate = EstimateKernel(work_.kernel.spec, options_, {}, ValuesOf(sample));
      if (estimate && estimate->least > kMostCycles) {
        last = {StatusCode::kResourceExhausted, "a call takes too long"};
        continue;
      }
      auto bench = Bench::Make(work_.kernel.spec, sample, kMostBenchBytes);
      if (bench.ok()) {
        benches_.push_back(std::move(*bench));
      } else {
        last = bench.status();
      }
    }
    return benches_.empty() ? last : OkStatus();
  }

  Result<std::vector<CompiledKernel>> Compile(const std::vector<TileSchedule>& schedules) const {
    return CompileKernels(work_.kernel.spec, options_, schedules);
  }

  // As many threads as with the compiler's own schedule have something to do.
  bool KeepsTasks(const CompiledKernel& kernel) const {
    const int64_t threads = std::max(1U, std::thread::hardware_concurrency());
    return std::ranges::all_of(benches_, [&](const Bench& bench) {
      const SymbolValue values = ValuesOf(bench.sample());
      const auto own = TasksOf(own_.kernel.interface, values),
                 its = TasksOf(kernel.interface, values);
      return own && its && *its >= std::min(*own, threads);
    });
  }

  // Gives the results of the compiler's own schedule.
  bool IsRight(const CompiledKernel& kernel) {
    for (size_t i = 0; i < benches_.size(); ++i) {
      auto found = benches_[i].Run(kernel);
      if (!found.ok() || !CompareResults(*found, expected_[i]).ok()) return false;
    }
    return true;
  }

  double Time(const Entry& entry, size_t bench) {
    if (tune_.time_of) return tune_.time_of(entry.schedule, benches_[bench].sample());
    return benches_[bench].Time(entry.kernel, calls_[bench]);
  }

  // Times of the compiler's own schedule and the others, in turns, each of which begins with
  // another one; those after the `least` first ones only while there is time. Returns how many
  // there were.
  int TakeTurns(const std::vector<Entry>& others, int turns, int least,
                std::vector<std::vector<Series>>* all) {
    std::vector<const Entry*> entries = {&own_};
    for (const Entry& other : others) entries.push_back(&other);
    all->assign(others.size(), std::vector<Series>(benches_.size()));
    std::vector<double> times(entries.size());
    for (int turn = 0; turn < turns; ++turn) {
      for (size_t b = 0; b < benches_.size(); ++b) {
        for (size_t i = 0; i < entries.size(); ++i) {
          if (turn >= least && !HasTime()) return turn;
          const size_t at = (i + static_cast<size_t>(turn)) % entries.size();
          times[at] = Time(*entries[at], b);
        }
        base_ns_[b] = std::min(base_ns_[b], times[0]);
        for (size_t i = 0; i < others.size(); ++i) {
          (*all)[i][b].base.push_back(times[0]);
          (*all)[i][b].other.push_back(times[i + 1]);
        }
      }
    }
    return turns;
  }

  // Compiles and measures the candidates; keeps the best.
  Result<bool> Screen(size_t first, size_t size) {
    const size_t last = std::min(first + size, work_.candidates.size());
    std::vector<TileSchedule> schedules;
    for (size_t i = first; i < last; ++i) schedules.push_back(work_.candidates[i].schedule);
    RELAYVM_ASSIGN_OR_RETURN(std::vector<CompiledKernel> compiled, Compile(schedules));
    std::vector<Entry> entries;
    for (size_t i = 0; i < compiled.size(); ++i) {
      if (KeepsTasks(compiled[i]) && IsRight(compiled[i]))
        entries.push_back({schedules[i], std::move(compiled[i])});
    }
    std::vector<std::vector<Series>> series;
    if (TakeTurns(entries, kTurns, 0, &series) < kLeastTurns) return false;
    for (size_t i = 0; i < entries.size(); ++i) {
      const double ratio = Ratio(series[i]);
      const bool is_slower = std::ranges::any_of(series[i], [](const Series& s) {
        return Least(s.other) > Least(s.base) * (1 + kMostSlower);
      });
      if (is_slower || ratio >= best_ratio_) continue;
      best_ratio_ = ratio;
      best_ = entries[i];
    }
    return true;
  }

  Result<ScheduleRecord> Decide() {
    ScheduleRecord record;
    record.key = work_.kernel.key;
    record.kernel = work_.kernel.spec.name;
    for (const Dim& symbol : SymbolsOf(work_.kernel.spec)) {
      std::vector<int64_t> sizes;
      for (const Bench& bench : benches_) sizes.push_back(bench.sample().at(symbol.symbol_id()));
      // Symbols of one name mostly have one size.
      std::pair extent(symbol.symbol_name(), std::move(sizes));
      if (std::ranges::find(record.extents, extent) == record.extents.end())
        record.extents.push_back(std::move(extent));
    }
    record.ns = record.base_ns = base_ns_;
    if (!best_) return record;
    // At other places in memory, so that these are not what is faster.
    RELAYVM_ASSIGN_OR_RETURN(std::vector<CompiledKernel> again,
                             Compile({best_->schedule, TileSchedule()}));
    best_->kernel = std::move(again[0]);
    own_.kernel = std::move(again[1]);
    // What was found is worth some time more than there is.
    std::vector<std::vector<Series>> series;
    TakeTurns({*best_}, kLastTurns, kLeastLastTurns, &series);
    if (!IsFaster(series[0])) return record;
    record.schedule = best_->schedule;
    for (size_t b = 0; b < benches_.size(); ++b) {
      record.base_ns[b] = Least(series[0][b].base);
      record.ns[b] = Least(series[0][b].other);
    }
    return record;
  }

  const Work& work_;
  const KernelOptions& options_;
  const TuneOptions& tune_;
  const Clock::time_point end_;
  std::vector<Bench> benches_;  // one a sample
  std::vector<int> calls_;
  std::vector<std::vector<HostTensor>> expected_;
  Entry own_;
  std::vector<double> base_ns_;  // the least, one a sample
  std::optional<Entry> best_;
  double best_ratio_ = 1;
};

// --- All of them ---

Status CheckNames(const std::vector<Kernel>& kernels, const SampleSizes& defaults,
                  const SampleSizes& given) {
  std::set<std::string> names;
  for (const auto& [name, sizes] : defaults) names.insert(name);
  for (const Kernel& kernel : kernels) {
    for (const Dim& symbol : SymbolsOf(kernel.spec)) names.insert(symbol.symbol_name());
  }
  for (const auto& [name, sizes] : given) {
    if (names.contains(name)) continue;
    return {StatusCode::kInvalidArgument,
            fmt::format("--shape-samples {}: no open dimension has that name; there {}", name,
                        names.empty() ? "is none" : fmt::format("are {}", fmt::join(names, ", ")))};
  }
  return OkStatus();
}

}  // namespace

Status CheckMachine(const KernelOptions& options) {
  const std::vector<std::string> missing =
      CpuFeatures::OfThisMachine().Missing(FeaturesOf(options.machine));
  if (missing.empty()) return OkStatus();
  return {StatusCode::kInvalidArgument,
          fmt::format("kernels for {} cannot be measured here: this machine has no {}",
                      options.machine.target, fmt::join(missing, ", "))};
}

Result<TuneReport> Tune(const std::vector<KernelSpec>& specs, const SampleSizes& defaults,
                        const KernelOptions& options, const TuneOptions& tune, ScheduleBook* book) {
  const Clock::time_point end = Clock::now() + tune.budget;
  RELAYVM_RETURN_IF_ERROR(CheckMachine(options));
  const std::string target = ScheduleTarget(options);
  const std::vector<Kernel> kernels = Distinct(specs, options);
  RELAYVM_RETURN_IF_ERROR(CheckNames(kernels, defaults, tune.samples));
  SampleSizes usual = tune.usual;
  usual.insert(defaults.begin(), defaults.end());
  TuneReport report;
  std::vector<Work> all;
  for (const Kernel& kernel : kernels) {
    auto work =
        WorkOf(kernel, SamplesOf(kernel.spec, tune.samples, usual), options, tune.most_candidates);
    if (!work) continue;
    ++report.with_alternatives;
    if (book->Knows(kernel.spec)) {
      ++report.known;
      continue;
    }
    all.push_back(std::move(*work));
  }
  std::ranges::stable_sort(all, std::greater<>(), &Work::importance);
  double left = 0;
  for (const Work& work : all) left += work.importance;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto now = Clock::now();
    if (now >= end) break;
    // Each gets time by its importance, what others left over, and what a first result takes.
    const double part = std::max(left > 0 ? all[i].importance / left : 0,
                                 1.0 / static_cast<double>(all.size() - i));
    left -= all[i].importance;
    const auto share = std::chrono::duration_cast<Clock::duration>((end - now) * part);
    const auto span = std::max(share, std::min<Clock::duration>(end - now, kFirstResult));
    if (tune.on_progress) {
      const std::chrono::duration<double> seconds = end - now;
      tune.on_progress(fmt::format("kernel {}/{} {}, {:.0f} s left", i + 1, all.size(),
                                   all[i].kernel.spec.name, seconds.count()));
    }
    auto record = KernelTuner(all[i], options, tune, now + span).Run();
    if (!record.ok()) {
      report.left_out.push_back(
          fmt::format("{}: {}", all[i].kernel.spec.name, record.status().message()));
      continue;
    }
    if (!*record) continue;
    ScheduleRecord& measured = **record;
    measured.target = target;
    measured.machine = MachineName();
    book->Set(measured.key, measured.schedule);
    report.measured.push_back(std::move(measured));
  }
  return report;
}

size_t CountPoorKernels(const std::vector<KernelSpec>& specs, const SampleSizes& defaults,
                        const KernelOptions& options, const ScheduleBook& book) {
  struct Estimated {
    const Kernel* kernel;
    std::vector<Sample> samples;
    KernelEstimate estimate;
  };
  std::vector<KernelSpec> products;
  std::ranges::copy_if(specs, std::back_inserter(products), IsProduct);
  const std::vector<Kernel> kernels = Distinct(products, options);
  std::vector<Estimated> estimated;
  double total = 0;
  for (const Kernel& kernel : kernels) {
    std::vector<Sample> samples = SamplesOf(kernel.spec, {}, defaults);
    const auto estimate = EstimateAll(kernel.spec, options, {}, samples);
    if (!estimate) continue;
    total += estimate->cycles * static_cast<double>(kernel.calls);
    estimated.push_back({&kernel, std::move(samples), *estimate});
  }
  if (total < kLeastCycles) return 0;
  return static_cast<size_t>(std::ranges::count_if(estimated, [&](const Estimated& e) {
    const double cycles = e.estimate.cycles;
    if (e.estimate.share() >= kPoorShare || book.Knows(e.kernel->spec)) return false;
    if (cycles * static_cast<double>(e.kernel->calls) < kNotable * total) return false;
    return std::ranges::any_of(
        ScheduleSpace(e.kernel->spec, options), [&](const TileSchedule& schedule) {
          const auto other = EstimateAll(e.kernel->spec, options, schedule, e.samples);
          return other && other->cycles < cycles * (1 - kWorthwhile);
        });
  }));
}

std::string TuningAdvice(size_t poor_kernels) {
  return fmt::format(
      "{} {} estimated below {:.0f} % of what this machine reaches; 'relayc --tune 60s' measures "
      "alternatives",
      poor_kernels, poor_kernels == 1 ? "kernel is" : "kernels are", kPoorShare * 100);
}

}  // namespace relayvm::tuner

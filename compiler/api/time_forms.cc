#include "compiler/api/time_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "compiler/tuner/bench.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kSpan{60};  // of a sample, both forms
constexpr size_t kLeastTurns = 5, kMostTurns = 10'000;

class Form {
 public:
  static Result<Form> Of(const Program& program) {
    std::vector<EngineLibrary> engines;
    for (const RegionInfo& region : program.regions) engines.push_back({region.engine, ""});
    LoadOptions load;
    load.engines = engines;
    Form form;
    RELAYVM_ASSIGN_OR_RETURN(auto executable, Executable::FromProgram(program, load));
    RELAYVM_ASSIGN_OR_RETURN(form.runtime_, Runtime::Create({.num_threads = 1}));
    RELAYVM_ASSIGN_OR_RETURN(form.invocation_, Invocation::Create(form.runtime_, executable));
    return form;
  }
  Status Run(const std::vector<Value>& inputs) {
    const auto start = Clock::now();
    RELAYVM_RETURN_IF_ERROR(invocation_->Run("main", inputs).status());
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    times_.push_back(took.count());
    return OkStatus();
  }
  // Without the first, which takes memory and plans.
  double TakeMedian() {
    std::vector<double> times(times_.begin() + 1, times_.end());
    times_.clear();
    const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

 private:
  std::shared_ptr<Runtime> runtime_;
  std::unique_ptr<Invocation> invocation_;
  std::vector<double> times_;
};

Result<std::vector<Value>> RandomInputs(const ExportInfo& entry,
                                        const regions::ShapeSample& sample) {
  std::vector<Value> inputs;
  for (size_t i = 0; i < entry.params.size(); ++i) {
    HostTensor t{entry.params[i].dtype, sample.shapes.at(i), {}};
    constexpr int64_t kMostBytes = int64_t{1} << 34;
    int64_t bytes = static_cast<int64_t>(DTypeBytes(t.dtype));
    for (const int64_t d : t.shape) {
      if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMostBytes)
        return Status(StatusCode::kResourceExhausted,
                      fmt::format("({}) is too large to measure", fmt::join(t.shape, ", ")));
    }
    t.data = SharedBytes::Zeros(static_cast<size_t>(bytes));
    tuner::FillRandom(t);
    RELAYVM_ASSIGN_OR_RETURN(Value value, Value::CopyTensor(t.dtype, t.shape, t.data.data()));
    inputs.push_back(std::move(value));
  }
  return inputs;
}

}  // namespace

Result<std::vector<regions::RegionTime>> TimeForms(
    const Program& native, const Program& with_regions,
    const std::vector<regions::ShapeSample>& samples) {
  RELAYVM_ASSIGN_OR_RETURN(Form first, Form::Of(native));
  RELAYVM_ASSIGN_OR_RETURN(Form second, Form::Of(with_regions));
  std::vector<regions::RegionTime> times;
  for (const regions::ShapeSample& sample : samples) {
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<Value> inputs,
                             RandomInputs(native.exports.at(0), sample));
    const auto end = Clock::now() + kSpan;
    for (size_t i = 0; i < kMostTurns && (i < kLeastTurns || Clock::now() < end); ++i) {
      RELAYVM_RETURN_IF_ERROR(first.Run(inputs));
      RELAYVM_RETURN_IF_ERROR(second.Run(inputs));
    }
    times.push_back({first.TakeMedian(), second.TakeMedian()});
  }
  return times;
}

}  // namespace relayvm

#include "tools/values/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>

#include "bytecode/base/printable.h"
#include "bytecode/io/npy.h"
#include "bytecode/variables.h"
#include "tools/values/input.h"
#include "tools/values/print.h"
#include "tools/values/tensor_file.h"

namespace relayvm::tools {
namespace {

struct Times {
  double min_ms, median_ms, mean_ms;
  double p90_ms, p99_ms;  // what so many of a hundred runs do not exceed
};

Times Summarise(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  size_t half = ms.size() / 2;
  double median = ms.size() % 2 == 1 ? ms[half] : (ms[half - 1] + ms[half]) / 2;
  const auto percentile = [&](size_t of_hundred) {
    return ms[(of_hundred * ms.size() + 99) / 100 - 1];
  };
  return {ms.front(), median,
          std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size()),
          percentile(90), percentile(99)};
}

// Of this program's own memory: getrusage's ru_maxrss counts what started it, too.
size_t PeakResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:"))
      return std::strtoull(line.c_str() + sizeof("VmHWM:") - 1, nullptr, 10) * 1024;
  }
  return 0;
}

std::string HumanBytes(size_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

// Times and memory, as lines for people or as members of a JSON object.
struct Measurements {
  std::vector<double> run_ms;
  double load_ms;
  RunCounts counts;

  std::string TimesJson() const {
    Times t = Summarise(run_ms);
    return fmt::format(
        R"({{"runs": {}, "min_ms": {:.6f}, "median_ms": {:.6f}, "mean_ms": {:.6f}, "p90_ms": {:.6f}, "p99_ms": {:.6f}}})",
        run_ms.size(), t.min_ms, t.median_ms, t.mean_ms, t.p90_ms, t.p99_ms);
  }
  std::string TimesText() const {
    Times t = Summarise(run_ms);
    return fmt::format("{:>8} {:>12} {:>12} {:>12} {:>12} {:>12}\n", "runs", "min ms", "median ms",
                       "mean ms", "p90 ms", "p99 ms") +
           fmt::format("{:>8} {:>12.4f} {:>12.4f} {:>12.4f} {:>12.4f} {:>12.4f}\n", run_ms.size(),
                       t.min_ms, t.median_ms, t.mean_ms, t.p90_ms, t.p99_ms);
  }
  std::string StatsJson() const {
    std::string out =
        fmt::format(R"({{"load_ms": {:.6f}, "run_ms": {:.6f})", load_ms, run_ms.back());
    if (counts.memory) {
      out += fmt::format(R"(, "peak_bytes": {}, "allocations": {}, "resident_bytes": {})",
                         counts.memory->peak_bytes, counts.memory->allocations,
                         counts.memory->resident_bytes);
    }
    return out + fmt::format(R"(, "process_peak_resident_bytes": {}}})", PeakResidentBytes());
  }
  std::string StatsText() const {
    std::string out = fmt::format("load time         {:.3f} ms\nrun time          {:.3f} ms\n",
                                  load_ms, run_ms.back());
    if (counts.memory) {
      out += fmt::format("peak memory       {}\nallocations       {}\nresident          {}\n",
                         HumanBytes(counts.memory->peak_bytes), counts.memory->allocations,
                         HumanBytes(counts.memory->resident_bytes));
    }
    return out + fmt::format("process peak      {}\n", HumanBytes(PeakResidentBytes()));
  }
};

// Where --output (FILE, or NAME=FILE) goes: one tensor, or all.
struct Destination {
  std::string path;
  std::optional<size_t> tensor;
};

// `names`: of the result's tensors.
Result<Destination> FindDestination(const std::string& output,
                                    const std::vector<std::string>& names) {
  std::optional<size_t> named;  // the longest name that fits: they may hold any character
  for (size_t i = 0; i < names.size(); ++i) {
    if (output.starts_with(names[i] + "=") && output.ends_with(".npy") &&
        (!named || names[i].size() > names[*named].size()))
      named = i;
  }
  if (named) return Destination{output.substr(names[*named].size() + 1), named};
  const std::string name = output.substr(0, output.find('='));
  if (name.size() < output.size() && name.find('/') == std::string::npos) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("--output {}: write NAME=OUT.npy; the result has {}", output,
                              fmt::join(names, ", ")));
  }
  if (!output.ends_with(".npy")) return Destination{output, std::nullopt};
  if (names.size() != 1) {
    return Status(
        StatusCode::kInvalidInput,
        fmt::format("--output {}: the result has {} tensors; write an .npz", output, names.size()));
  }
  return Destination{output, 0};
}

// How many tensors a result of the type has; nothing where only the result says it.
std::optional<size_t> CountTensors(const ValueType& type) {
  if (type.kind == ValueType::Kind::kTensor) return 1;
  if (type.kind == ValueType::Kind::kFunction) return 0;
  if (type.kind != ValueType::Kind::kTuple) return std::nullopt;
  size_t count = 0;
  for (const ValueType& field : type.args) {
    const std::optional<size_t> more = CountTensors(field);
    if (!more) return std::nullopt;
    count += *more;
  }
  return count;
}

// What can be told of the outputs before the run, which may take long.
Status CheckDestinations(const RunFlags& flags, const ExportInfo& function) {
  const std::optional<size_t> count = CountTensors(function.result);
  for (const std::string& output : flags.outputs) {
    std::string path = output;
    const size_t equals = output.find('=');
    if (count) {
      RELAYVM_ASSIGN_OR_RETURN(const Destination to,
                               FindDestination(output, TensorNames(function, *count)));
      path = to.path;
    } else if (equals < output.find('/')) {
      path = output.substr(equals + 1);
    }
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
      return {StatusCode::kInvalidInput,
              fmt::format("--output {}: there is no folder {}", output, folder.string())};
    }
  }
  return OkStatus();
}

Status Save(const std::string& output, const ExportInfo& function,
            const std::vector<Value>& tensors) {
  const std::vector<std::string> names = TensorNames(function, tensors.size());
  RELAYVM_ASSIGN_OR_RETURN(const Destination to, FindDestination(output, names));
  if (to.tensor) return WriteNpyFile(to.path, ToFileTensor(tensors[*to.tensor]));
  NamedTensors named;
  for (size_t i = 0; i < tensors.size(); ++i)
    named.emplace_back(names[i], ToFileTensor(tensors[i]));
  return WriteNpz(to.path, named);
}

// --state FILE.npz: read where it is there. Without one, variables have their first values.
Result<State*> OpenState(const RunFlags& flags, const ExportInfo& function, TypeTable& types,
                         Executor& executor) {
  RELAYVM_ASSIGN_OR_RETURN(State * state, executor.UseState(function));
  std::error_code error;
  if (!flags.state.empty() && std::filesystem::exists(flags.state, error)) {
    RELAYVM_RETURN_IF_ERROR(ReadStates(flags.state, types, function, state));
  }
  return state;
}

Status SaveState(const std::string& path, const State& state) {
  NamedTensors named;
  for (const StatePair& pair : state.function().states) {
    const std::string& name = state.function().inputs[pair.input].name;
    RELAYVM_ASSIGN_OR_RETURN(const Value value, state.Get(name));
    named.emplace_back(name, ToFileTensor(value));
  }
  return WriteNpz(path, named);
}

// The result on standard output; measurements with it as JSON, or on standard error.
void Print(const FlatValue& result, const Executor& executor, const RunFlags& flags,
           const Measurements& m) {
  bool measured = flags.repeat > 1 || flags.stats || flags.profile;
  std::string out = flags.json ? PrintJson(result) : PrintableLines(PrintRelay(result));
  if (flags.json && measured) {
    out = "{\"result\": " + out;
    if (flags.repeat > 1) out += ", \"times\": " + m.TimesJson();
    if (flags.stats) out += ", \"stats\": " + m.StatsJson();
    if (flags.profile) out += ", " + executor.ProfileJson();
    out += "}";
  }
  out += "\n";
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (flags.json || !measured) return;
  std::fflush(stdout);
  std::string text;
  if (flags.repeat > 1) text += m.TimesText();
  if (flags.stats) text += m.StatsText();
  if (flags.profile) {
    double total_ms = std::accumulate(m.run_ms.begin(), m.run_ms.end(), 0.0);
    text += PrintableLines(executor.ProfileTable(static_cast<int64_t>(total_ms * 1e6)));
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

Exit Report(const std::string& tool, const Status& status, Exit exit) {
  std::fflush(stdout);
  fmt::print(stderr, "{}: {}\n", tool, PrintableLines(status.message()));
  return exit;
}

Exit ExitForStatus(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument ? Exit::kUsage : Exit::kBadInput;
}

Exit RunFunction(const std::string& tool, Executor& executor, const RunFlags& flags,
                 double load_ms) {
  const ExportInfo* function = nullptr;
  std::string names;
  for (const ExportInfo& e : executor.program().exports) {
    if (e.name == flags.function) function = &e;
    names += (names.empty() ? "" : ", ") + Printable(e.name);
  }
  if (function == nullptr) {
    return Report(tool,
                  {StatusCode::kInvalidArgument,
                   fmt::format("the program has no function {}; it has {}", flags.function, names)},
                  Exit::kUsage);
  }
  const ExportInfo shown = WithoutVariables(*function);
  if (Status s = CheckDestinations(flags, shown); !s.ok()) return Report(tool, s, Exit::kBadInput);
  TypeTable types(executor.program());
  Result<State*> state = nullptr;
  if (!flags.state.empty() || NumVariables(*function) > 0) {
    state = OpenState(flags, *function, types, executor);
    if (!state.ok()) return Report(tool, state.status(), ExitForStatus(state.status()));
  }
  Result<std::vector<Value>> inputs = ReadInputs(types, *function, flags.inputs, *state != nullptr);
  if (!inputs.ok()) return Report(tool, inputs.status(), ExitForStatus(inputs.status()));

  Measurements m{{}, load_ms, {}};
  Result<FlatValue> result = FlatValue();
  for (uint32_t i = 0; i < flags.repeat; ++i) {
    result = executor.Run(*function, *inputs, types);
    if (!result.ok()) {
      // What the runtime says of inputs before it runs.
      bool bad_input = result.status().code() == StatusCode::kInvalidArgument;
      return Report(tool, result.status(), bad_input ? Exit::kBadInput : Exit::kRunFailed);
    }
    m.counts = executor.counts();
    m.run_ms.push_back(static_cast<double>(m.counts.run_ns) / 1e6);
  }
  Print(*result, executor, flags, m);
  std::vector<Value> tensors = TensorsOf(*result);
  for (const std::string& output : flags.outputs) {
    if (Status s = Save(output, shown, tensors); !s.ok()) return Report(tool, s, Exit::kBadInput);
  }
  for (const std::string& file : {flags.profile_file, flags.trace_file}) {
    if (file.empty()) continue;
    if (Status s = executor.WriteChromeTrace(file); !s.ok())
      return Report(tool, s, Exit::kBadInput);
  }
  const auto save_state = [&] {
    if (flags.state.empty()) return Exit::kDone;
    const Status saved = SaveState(flags.state, **state);
    return saved.ok() ? Exit::kDone : Report(tool, saved, Exit::kBadInput);
  };
  if (flags.expect.empty()) return save_state();
  Result<std::string> difference =
      CompareWithFile(flags.expect, TensorNames(shown, tensors.size()), tensors, flags.tolerance);
  if (!difference.ok()) return Report(tool, difference.status(), Exit::kBadInput);
  if (difference->empty()) return save_state();
  return Report(tool, {StatusCode::kFailedPrecondition, "--expect: " + *difference},
                Exit::kMismatch);
}

}  // namespace relayvm::tools

// The options of a run, and what their texts mean.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tools/cli/option_forms.h"
#include "tools/values/run.h"

namespace relayvm::tools {
namespace {

constexpr const char* kValues = "Input and output";
constexpr const char* kRunning = "Running";
constexpr const char* kLimits = "Limits";
constexpr const char* kLookGroup = "Looking at a run";

constexpr OptionForm kRunForms[] = {
    {"--function", kValues, "NAME"},
    {"--input", kValues, "VALUE"},
    {"--output", kValues, "FILE"},
    {"--expect", kValues, "FILE"},
    {"--rtol", kValues, "NUMBER"},
    {"--atol", kValues, "NUMBER"},
    {"--json", kValues},
    {"--state-file", kValues, "FILE"},
    {"--threads", kRunning, "N"},
    {"--repeat", kRunning, "N"},
    {"--memory-limit", kLimits, "SIZE"},
    {"--stack-limit", kLimits, "SIZE"},
    {"--timeout", kLimits, "SECONDS"},
    {"--stats", kLookGroup},
    {"--profile", kLookGroup},
    {"--profile-interval", kLookGroup, "N"},
    {"--trace", kLookGroup},
};

}  // namespace

void RunFlags::AddNativeTo(CLI::App& app) {
  app.add_option("--function", function, "the function to run (default: main)");
  AddValues(app);
  app.add_option("--repeat", repeat, "run this many times, and print the times")
      ->check(CLI::Range(1u, 1000000000u));
  app.add_flag("--json", json,
               "print the result as one JSON value; with --repeat or --stats, an object with the "
               "result as \"result\"");
  AddLimits(app);
  ShowOptions(app, kRunForms);
}

void RunFlags::AddValues(CLI::App& app) {
  app.add_option("--input", inputs,
                 "a parameter's value, once for each in order, or NAME=value: x.npy, - (standard "
                 "input), all.npz, "
                 "3, [[1,2],[3,4]], 2x3xf32=0.5, 2x3xf32=random, (@a.npy, 3), Cons(@a.npy, Nil); "
                 "a tensor of another dtype is converted where that loses nothing but digits")
      ->allow_extra_args(false);
  app.add_option("--output", outputs,
                 "OUT.npz: write the result's tensors; OUT.npy: the only one; NAME=OUT.npy: the "
                 "one of that name")
      ->allow_extra_args(false);
  app.add_option("--expect", expect,
                 "a .npy or .npz file that the result must agree with (else exit status 4)");
  app.add_option("--rtol", tolerance.rtol, "relative tolerance of --expect (default: 1e-5)");
  app.add_option("--atol", tolerance.atol, "absolute tolerance of --expect (default: 1e-5)");
}

void RunFlags::AddLimits(CLI::App& app) {
  constexpr size_t kMega = size_t{1} << 20;
  app.add_option("--memory-limit", memory_limit_text,
                 "fail when a run needs more memory: 64MiB, 1GB, ...");
  app.add_option("--stack-limit", stack_limit_text,
                 fmt::format("address space for the frames of calls, which bounds recursion "
                             "(default: {}MiB)",
                             stack_limit / kMega));
  app.add_option("--timeout", timeout_seconds, "fail when a run takes longer, in seconds");
  app.add_flag("--stats", stats, "print times and memory");
}

void RunFlags::AddTo(CLI::App& app, bool with_function) {
  if (with_function) app.add_option("--function", function, "the function to run (default: main)");
  AddValues(app);
  // relayrun's --state is the compiler's.
  app.add_option(with_function ? "--state,--state-file" : "--state-file", state,
                 "FILE.npz: what the program keeps between runs (relayc --state IN=OUT): read "
                 "where the file is there, and written after the last run if that is as expected");
  app.add_option("--threads", threads,
                 "threads for kernels (default: 1; 0: as many as the machine has)");
  app.add_option("--repeat", repeat, "run this many times, and print the times")
      ->check(CLI::Range(1u, 1000000000u));
  app.add_flag("--json", json,
               "print the result as one JSON value; with --repeat, --stats or --profile, an object "
               "with the result as \"result\"");
  app.add_flag(
      "--profile", profile,
      "print the time spent in each kernel, and at each source line or node of a model; --profile "
      "FILE.json also writes a Chrome trace");
  app.add_option("--profile-interval", profile_interval,
                 "of --profile: time one kernel call in so many, at random, which costs next to "
                 "nothing from 100 on (default: 1, each)")
      ->check(CLI::Range(1u, 1000000000u));
  app.add_option("--profile-file", profile_file)->group("");
  app.add_flag("--trace", trace,
               "print each instruction as it runs, on standard error; --trace FILE.json instead "
               "writes a Chrome trace, for ui.perfetto.dev");
  app.add_option("--trace-file", trace_file)->group("");
  AddLimits(app);
  ShowOptions(app, kRunForms);
}

Status RunFlags::Finish() {
  struct Limit {
    const char* option;
    const std::string& text;
    size_t* bytes;
  };
  for (const Limit& limit : {Limit{"--memory-limit", memory_limit_text, &memory_limit},
                             Limit{"--stack-limit", stack_limit_text, &stack_limit}}) {
    if (limit.text.empty()) continue;
    Result<size_t> size = ParseSize(limit.text);
    if (!size.ok())
      return size.status().WithContext(fmt::format("{} {}", limit.option, limit.text));
    *limit.bytes = *size;
  }
  if (!(timeout_seconds >= 0)) {
    return {StatusCode::kInvalidArgument, "--timeout must be a number of seconds, not below 0"};
  }
  if (!(tolerance.rtol >= 0) || !(tolerance.atol >= 0)) {
    return {StatusCode::kInvalidArgument, "--rtol and --atol must not be negative"};
  }
  if (!state.empty() && !state.ends_with(".npz")) {
    return {StatusCode::kInvalidArgument,
            fmt::format("--state {}: the name must end in .npz", state)};
  }
  for (const std::string& output : outputs) {
    if (output.ends_with(".npy") || output.ends_with(".npz")) continue;
    return {StatusCode::kInvalidArgument,
            fmt::format("--output {}: the name must end in .npy or .npz", output)};
  }
  return OkStatus();
}

std::chrono::nanoseconds RunFlags::timeout() const {
  constexpr double kLongest = 9e9;  // what fits in nanoseconds
  auto ns = static_cast<int64_t>(std::min(timeout_seconds, kLongest) * 1e9);
  return std::chrono::nanoseconds(timeout_seconds > 0 ? std::max<int64_t>(ns, 1) : 0);
}

std::string HintInput(const std::string& argument) {
  if (argument.starts_with('-') && argument != "-") return "";
  return fmt::format("the value of a parameter is given by --input {}", argument);
}

Result<size_t> ParseSize(const std::string& text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr Unit kUnits[] = {
      {"", 1},
      {"b", 1},
      {"k", 1 << 10},
      {"m", 1 << 20},
      {"g", 1 << 30},
      {"kib", 1 << 10},
      {"mib", 1 << 20},
      {"gib", 1 << 30},
      {"kb", 1e3},
      {"mb", 1e6},
      {"gb", 1e9},
      {"t", double{1 << 30} * 1024},
      {"tib", double{1 << 30} * 1024},
      {"tb", 1e12},
  };
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(end, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size()
                                                                 : unit.find_first_not_of(' '));
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  for (const Unit& u : kUnits) {
    if (error != std::errc() || unit != u.name) continue;
    double bytes = number * u.bytes;
    if (!(bytes >= 0) || bytes > 9e18) break;
    return static_cast<size_t>(bytes);
  }
  return {StatusCode::kInvalidArgument, "expected a size such as 64MiB, 1GB or 4096"};
}

std::vector<std::string> NormalizeRunArguments(std::vector<std::string> args) {
  std::vector<std::string> out;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    constexpr std::string_view kProfile = "--profile";
    if (arg.starts_with("--profile=")) {
      out.push_back(std::string(kProfile));
      out.push_back("--profile-file=" + arg.substr(kProfile.size() + 1));
    } else if (arg == "--trace" && i + 1 < args.size() && args[i + 1].ends_with(".json")) {
      out.push_back("--trace-file=" + args[++i]);
    } else if (arg.starts_with("--trace=")) {
      out.push_back("--trace-file=" + arg.substr(std::string_view("--trace=").size()));
    } else if (arg == kProfile && i + 1 < args.size() && args[i + 1].ends_with(".json")) {
      out.push_back(arg);
      out.push_back("--profile-file=" + args[++i]);
    } else {
      out.push_back(arg);
    }
  }
  return out;
}

}  // namespace relayvm::tools

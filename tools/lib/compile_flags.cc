#include "tools/lib/compile_flags.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/printable.h"
#include "compiler/api/options.h"
#include "tools/cli/option_forms.h"

namespace relayvm::tools {
namespace {

// The libraries of --load-pass: what their passes declare are options too.
std::vector<std::string> LoadedBy(const std::vector<std::string>& args) {
  constexpr std::string_view kOption = "--load-pass";
  std::vector<std::string> libraries;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == kOption && i + 1 < args.size()) libraries.push_back(args[++i]);
    if (arg.starts_with(kOption) && arg.substr(kOption.size()).starts_with("="))
      libraries.emplace_back(arg.substr(kOption.size() + 1));
  }
  return libraries;
}

constexpr const char* kInput = "Input";
constexpr const char* kOutput = "Output";
constexpr const char* kTargetGroup = "Target and precision";
constexpr const char* kLook = "Looking at the program";
constexpr const char* kTuneGroup = "Tuning";
constexpr const char* kExtend = "Passes and extensions";
constexpr const char* kRunGroup = "Running";

}  // namespace

void CompileFlags::AddTo(CLI::App& app) {
  CLI::Option* input_option =
      app.add_option("INPUT", input,
                     fmt::format("the program: {}; - for standard input", ModelKinds()))
          ->required();
  app.add_option("--params", compiler.params_file,
                 "weights to bind to parameters by name: a TVM parameter file or an .npz; of an "
                 "MXNet symbol, its .params");
  app.add_option(
      "--shape", shapes,
      "NAME=1x?x300, or with names of dims NAME='(n, ?, 300)': the shape of a parameter (? "
      "keeps what is declared, ?<=512 and n<=512 plan memory for at most that many, a name is "
      "one size wherever it stands). Where the model has no types: '(n, 3):int64' or "
      "'List[Tensor[(?, 3), float32]]'; 0=... is the first input");
  app.add_option("--signature", compiler.signature,
                 "which entry of a model that has several (TensorFlow, TensorFlow Lite)");
  app.add_option("--input-name", compiler.input_names,
                 "NAME of an input in place of the model's, once for each in their order");
  app.add_option(
      "--output-node", compiler.outputs,
      "NAME of a node that is a result, once for each (TensorFlow, MXNet; default: those "
      "that nothing reads)");
  app.add_option("--dim", dims, "NAME=8: fixes a dimension that the model has named");
  app.add_option("--overridable", compiler.overridable,
                 "an initializer of an ONNX model that vmrun may be given another value for, once "
                 "for each; all: those that are inputs too, none: no one (default: all, where they "
                 "are 1 MiB or less in sum; none with --executor graph and aot)");
  const std::vector<std::string_view> names = TargetNames();
  const std::vector<std::string> targets(names.begin(), names.end());
  app.add_option(
         "--target", compiler.targets,
         fmt::format("the processor: {}; several, separated by commas, make a file of which each "
                     "machine runs the best part",
                     fmt::join(targets, ", ")))
      ->delimiter(',')
      ->type_size(1)
      ->check(CLI::IsMember(targets));
  app.add_flag("--batching", compiler.batching,
               "with kernels that run the products of many requests at once, for schedulers that "
               "batch");
  app.add_option(
      "--schedule-for", schedules,
      "KERNEL=tile=8x32,block=96: the register tile (rows by columns of sums), and the "
      "rows that are packed at a time, of a product or convolution, by the name that vmdump "
      "--kernels shows, without its number");
  app.add_option(
      "--schedules", compiler.schedules,
      "a log that relayc --tune wrote: kernels that it knows are compiled as it says; of "
      "several logs, the last one that knows a kernel counts");
  app.add_option("--plugin", compiler.plugins,
                 "a shared library of operators (kernels/runtime/operator_plugin.h)");
  app.add_option("--entry", compiler.entry, "the function to compile");
  app.add_option("--print-ir-after", compiler.print_ir_after,
                 "a pass's name, or all: print the program after it, on standard error");
  app.add_flag("--time-passes", time_passes, "print the time of each pass, on standard error");
  passes.AddTo(app, input_option, &compiler);
  compiler.cache = "auto";
  app.add_option("--cache", compiler.cache,
                 "where models and kernels that were compiled before are found, and new ones are "
                 "left: a folder; off; or auto: RELAYVM_CACHE, or relayvm in XDG_CACHE_HOME or "
                 "~/.cache")
      ->capture_default_str();
  app.add_flag("--verify-ir", compiler.verify_ir, "check the program after each pass");
  for (int level = 0; level <= 3; ++level) {
    app.add_flag_callback(
           fmt::format("--O{}", level), [this, level] { compiler.opt_level = level; },
           "-O0 (quick to compile, 8 to 40 times slower to run), -O1, -O2 or -O3 (the default: "
           "kernels that are next to nothing of a run are made as by -O0)")
        ->group(level == 0 ? "Options" : "");
  }
}

namespace {

constexpr OptionForm kForms[] = {
    {"--params", kInput, "FILE"},
    {"--shape", kInput, "NAME=1x?x300"},
    {"--dim", kInput, "NAME=8"},
    {"--signature", kInput, "NAME"},
    {"--input-name", kInput, "NAME"},
    {"--output-node", kInput, "NAME"},
    {"--overridable", kInput, "NAME"},
    {"--entry", kInput, "FUNCTION"},
    {"--kernel", kInput, "'OPERATOR[SHAPES]'"},
    {"--output", kOutput, "FILE"},
    {"--emit", kOutput},
    {"--executor", kOutput},
    {"--data", kOutput},
    {"--quiet", kOutput},
    {"--target", kTargetGroup},
    {"--batching", kTargetGroup},
    {"--cache", kTargetGroup, "FOLDER|off|auto"},
    {"--O0", kTargetGroup},
    {"--check", kLook, "VALUE"},
    {"--print-ir-after", kLook, "PASS"},
    {"--time-passes", kLook},
    {"--verify-ir", kLook},
    {"--list-passes", kLook},
    {"--list-operators", kLook, "FORMAT"},
    {"--list-onnx-operators", kLook},
    {"--trace-values", kLook},
    {"--tune", kTuneGroup, "TIME"},
    {"--tune-log", kTuneGroup, "FILE"},
    {"--shape-samples", kTuneGroup, "NAME=1,16"},
    {"--schedules", kTuneGroup, "FILE"},
    {"--schedule-for", kTuneGroup, "KERNEL=SCHEDULE"},
    {"--schedule", kTuneGroup, "SCHEDULE"},
    {"--threads", kRunGroup, "N"},
    {"--rules", kExtend, "FILE"},
    {"--load-pass", kExtend, "LIBRARY"},
    {"--pass", kExtend, "NAME@PLACE"},
    {"--disable-pass", kExtend, "PASS"},
    {"--plugin", kExtend, "LIBRARY"},
};

}  // namespace

void GroupOptions(CLI::App& app) { ShowOptions(app, kForms); }

Status CompileFlags::AddPassOptions(CLI::App& app, const std::vector<std::string>& args) {
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Pass> loaded, LoadPasses(LoadedBy(args)));
  const std::vector<DeclaredOption> own = PassOptions();
  for (const DeclaredOption& declared : PassOptions(loaded)) {
    const PassOption& o = *declared.option;
    const std::string flag = "--" + o.name;
    if (app.get_option_no_throw(flag) != nullptr) {
      return {StatusCode::kInvalidArgument,
              fmt::format("pass {}: there is an option {} already", declared.passes[0], flag)};
    }
    const std::string help =
        o.help + (o.initial.empty() ? "" : fmt::format(" (default: {})", o.initial));
    // Its texts stay in CLI11, which tells an empty one from none.
    CLI::Option*& option = of_passes[o.name];
    option = o.is_flag() ? app.add_flag(flag, help)
                         : app.add_option(flag, [](const CLI::results_t&) { return true; }, help);
    if (!o.is_flag()) option->type_name(o.Form());
    if (o.repeats) option->expected(1, CLI::detail::expected_max_vector_size);
    const bool is_own = std::ranges::find(own, &o, &DeclaredOption::option) != own.end();
    option->group(is_own ? kTargetGroup : kExtend);
  }
  return OkStatus();
}

Status CompileFlags::Finish() {
  for (const auto& [name, option] : of_passes) {
    for (const std::string& text : option->results())
      RELAYVM_RETURN_IF_ERROR(compiler.Set(name, text));
  }
  for (const std::string& text : shapes) RELAYVM_RETURN_IF_ERROR(compiler.Set("shape", text));
  for (const std::string& text : dims) RELAYVM_RETURN_IF_ERROR(compiler.Set("dim", text));
  for (const std::string& text : schedules)
    RELAYVM_RETURN_IF_ERROR(compiler.Set("schedule-for", text));
  compiler.on_text = [](std::string_view text) { fmt::print(stderr, "{}", PrintableLines(text)); };
  RELAYVM_ASSIGN_OR_RETURN(options, ReadCompilerOptions(compiler));
  options.warn = [](const std::string& what) {
    fmt::print(stderr, "warning: {}\n", PrintableLines(what));
  };
  if (time_passes) options.pipeline.timings = &timings;
  return OkStatus();
}

void CompileFlags::PrintTimings() const {
  if (!time_passes) return;
  double total = 0;
  for (const PassTiming& t : timings) total += t.is_part ? 0 : t.milliseconds;
  const auto print = [&](double milliseconds, std::string_view prefix, std::string_view what) {
    const double share = total > 0 ? 100 * milliseconds / total : 0;
    fmt::print(stderr, "{:5.1f} % {:10.3f} ms  {}{}\n", share, milliseconds, prefix, what);
  };
  for (const PassTiming& t : timings) print(t.milliseconds, t.is_part ? "  of that: " : "", t.pass);
  print(total, "", "total");
}

std::vector<std::string> NormalizeArguments(std::vector<std::string> args) {
  for (std::string& arg : args) {
    bool level = arg.size() == 3 && arg.starts_with("-O") && arg[2] >= '0' && arg[2] <= '3';
    if (level) arg.insert(0, "-");
  }
  return args;
}

int Fail(const std::string& tool, const Status& status) {
  fmt::print(stderr, "{}: {}\n", tool, PrintableLines(status.message()));
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    default:
      return kExitBadInput;
  }
}

}  // namespace relayvm::tools

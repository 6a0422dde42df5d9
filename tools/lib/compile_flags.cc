#include "tools/lib/compile_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>

#include "kernels/op/custom_ops.h"

namespace relayvm::tools {

void CompileFlags::AddTo(CLI::App& app) {
  CLI::Option* input_option =
      app.add_option("INPUT", input,
                     "the program: Relay text or an ONNX model; - for standard input")
          ->required();
  app.add_option("--params", options.params_file,
                 "weights to bind to parameters by name: a TVM parameter file or an .npz");
  app.add_option("--shape", shapes,
                 "NAME=1x?x300: the shape of a parameter (? keeps what is declared; ?<=512 "
                 "plans memory for at most that many)");
  app.add_option("--dim", dims, "NAME=8: fixes a dimension that an ONNX model has named");
  app.add_option("--target", targets,
                 "the processor: native, x86-64-v2, x86-64-v3 or x86-64-v4; several, separated by "
                 "commas, make a file of which each machine runs the best part")
      ->delimiter(',')
      ->type_size(1)
      ->check(CLI::IsMember({"native", "x86-64-v2", "x86-64-v3", "x86-64-v4"}));
  app.add_option("--layout", layouts,
                 "nn.conv2d=NHWC:default: the layouts of an operator's data and kernel that it "
                 "computes in, whatever the program says");
  app.add_option("--precision", precision,
                 "fp32: as the program says; bf16: constant weights of matrix products take half "
                 "the memory, and what they are multiplied with is rounded too; sums stay float32")
      ->check(CLI::IsMember({"fp32", "bf16"}));
  app.add_option("--weights", weights,
                 "q8 or q4: constant weights of matrix products as integers of 8 or 4 bits, in "
                 "blocks of 32 with a scale each; they become float32 in registers")
      ->check(CLI::IsMember({"q8", "q4"}));
  app.add_flag("--exact", options.pipeline.exact,
               "no faster way to compute that loses more precision than a sum in another order: "
               "3x3 convolutions do without Winograd's transforms");
  app.add_flag("--batching", options.kernels.batching,
               "with kernels that run the products of many requests at once, for schedulers that "
               "batch");
  app.add_option(
      "--schedule-for", schedules,
      "KERNEL=tile=8x32,block=96: the register tile (rows by columns of sums), and the "
      "rows that are packed at a time, of a product or convolution, by the name that vmdump "
      "--kernels shows, without its number");
  app.add_option(
      "--schedules", logs,
      "a log that relayc --tune wrote: kernels that it knows are compiled as it says; of "
      "several logs, the last one that knows a kernel counts");
  app.add_option("--plugin", plugins,
                 "a shared library of operators (kernels/runtime/operator_plugin.h)");
  app.add_option("--entry", options.entry, "the function to compile");
  app.add_option("--print-ir-after", options.pipeline.print_ir_after,
                 "a pass's name, or all: print the program after it, on standard error");
  app.add_flag("--time-passes", time_passes, "print the time of each pass, on standard error");
  passes.AddTo(app, input_option, &options.pipeline);
  app.add_flag("--verify-ir", options.pipeline.verify, "check the program after each pass");
  for (int level = 0; level <= 3; ++level) {
    app.add_flag_callback(
        fmt::format("--O{}", level), [this, level] { options.pipeline.opt_level = level; },
        fmt::format("optimisation level; also -O{}", level));
  }
}

Status CompileFlags::Finish() {
  for (const std::string& path : plugins) {
    if (Status s = AddCustomOperators(path); !s.ok()) return s.WithContext("--plugin");
  }
  for (const std::string& s : shapes) {
    size_t equals = s.find('=');
    if (equals == std::string::npos || equals == 0) {
      return {StatusCode::kInvalidArgument, fmt::format("--shape {}: write NAME=1x?x300", s)};
    }
    options.shapes[s.substr(0, equals)] = s.substr(equals + 1);
  }
  for (const std::string& d : dims) {
    const size_t equals = d.find('=');
    int64_t value = 0;
    const char* begin = d.data() + std::min(equals, d.size() - 1) + 1;
    const auto [end, error] = std::from_chars(begin, d.data() + d.size(), value);
    if (equals == std::string::npos || equals == 0 || error != std::errc() ||
        end != d.data() + d.size() || value < 0) {
      return {StatusCode::kInvalidArgument, fmt::format("--dim {}: write NAME=8", d)};
    }
    options.dims[d.substr(0, equals)] = value;
  }
  for (const std::string& l : layouts) {
    RELAYVM_RETURN_IF_ERROR(ir::ParseLayoutChoice(l, &options.pipeline.layouts));
  }
  for (const std::string& s : schedules) {
    const size_t equals = s.find('=');
    if (equals == std::string::npos || equals == 0) {
      return {StatusCode::kInvalidArgument,
              fmt::format("--schedule-for {}: write KERNEL=tile=8x32", s)};
    }
    RELAYVM_ASSIGN_OR_RETURN(options.kernels.schedules[s.substr(0, equals)],
                             ParseTileSchedule(s.substr(equals + 1)));
  }
  for (const std::string& path : logs) {
    RELAYVM_ASSIGN_OR_RETURN(auto records, tuner::ReadScheduleLog(path));
    std::ranges::move(records, std::back_inserter(options.schedules));
  }
  options.warn = [](const std::string& what) { fmt::print(stderr, "warning: {}\n", what); };
  if (!targets.empty()) options.kernels.cpu = targets[0];
  if (targets.size() > 1) options.more_cpus.assign(targets.begin() + 1, targets.end());
  options.pipeline.cpu = options.kernels.cpu;
  if (precision == "bf16") options.pipeline.weights = WeightFormat::kBFloat16;
  if (!weights.empty()) {
    if (precision != "fp32") {
      return {
          StatusCode::kInvalidArgument,
          fmt::format("--weights {} with --precision {}: weights have one form; give one of them",
                      weights, precision)};
    }
    options.pipeline.weights =
        weights == "q8" ? WeightFormat::kInt8Blocks : WeightFormat::kInt4Blocks;
  }
  if (options.pipeline.weights != WeightFormat::kAsGiven && options.pipeline.opt_level < 1) {
    return {StatusCode::kInvalidArgument,
            fmt::format("{} packs weights: it needs -O1 or more",
                        weights.empty() ? "--precision bf16" : "--weights " + weights)};
  }
  options.pipeline.print = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
  };
  if (time_passes) options.pipeline.timings = &timings;
  return passes.Finish(&options.pipeline);
}

void CompileFlags::PrintTimings() const {
  if (!time_passes) return;
  double total = 0;
  for (const PassTiming& t : timings) {
    fmt::print(stderr, "{:10.3f} ms  {}{}\n", t.milliseconds, t.is_part ? "  of that: " : "",
               t.pass);
    if (!t.is_part) total += t.milliseconds;
  }
  fmt::print(stderr, "{:10.3f} ms  total\n", total);
}

std::vector<std::string> NormalizeArguments(std::vector<std::string> args) {
  for (std::string& arg : args) {
    bool level = arg.size() == 3 && arg.starts_with("-O") && arg[2] >= '0' && arg[2] <= '3';
    if (level) arg.insert(0, "-");
  }
  return args;
}

int Fail(const std::string& tool, const Status& status) {
  fmt::print(stderr, "{}: {}\n", tool, status.message());
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    default:
      return kExitBadInput;
  }
}

}  // namespace relayvm::tools

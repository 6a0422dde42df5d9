// relayc: compiles a model of one of compiler/import's formats to a .vmx file.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/file_mapping.h"
#include "bytecode/base/file_replacement.h"
#include "bytecode/base/printable.h"
#include "bytecode/disassembler.h"
#include "bytecode/instruction.h"
#include "bytecode/writer.h"
#include "compiler/aot/aot.h"
#include "compiler/graph/build_graph.h"
#include "compiler/import/importers.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/walk.h"
#include "compiler/transforms/layouts/convert_layout.h"
#include "kernels/codegen/link.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output_files.h"
#include "tools/lib/check.h"
#include "tools/lib/kernel_source.h"
#include "tools/lib/progress.h"
#include "tools/lib/tune_flags.h"
#include "vm/graph/format/graph_files.h"

#ifndef RELAYVM_NATIVE_MAIN  // a build with sanitizers
#define RELAYVM_NATIVE_MAIN "native_main.o"
#endif

namespace relayvm::tools {
namespace {

Status WriteText(const std::string& path, const std::string& text) {
  if (!path.empty() && path != "-") return WriteFile(path, text);
  const std::string shown = isatty(STDOUT_FILENO) != 0 ? PrintableLines(text) : text;
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  return OkStatus();
}

Status WriteProgram(const std::string& path, const Compiled& compiled) {
  if (path != "-") return WriteProgramFile(compiled.program, path, compiled.others);
  RELAYVM_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes,
                           SerializeProgram(compiled.program, compiled.others));
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  return OkStatus();
}

Status WriteGraph(const std::string& folder, const Compiled& compiled) {
  RELAYVM_ASSIGN_OR_RETURN(const graph::GraphProgram graph, graph::BuildGraph(compiled.program));
  return graph::SaveGraph(graph, folder);
}

size_t CountOperators(const ir::Block& block) {
  size_t count = 0;
  ir::ForEachBinding(block, [&](const ir::Binding& b) {
    if (b.value->As<ir::OpCall>() != nullptr) ++count;
    if (const auto* primitive = b.value->As<ir::PrimitiveCall>()) {
      count += CountOperators(*primitive->function->body);
    }
  });
  return count;
}

std::string Size(uint64_t bytes) {
  constexpr int kKilo = 1000;
  if (bytes < kKilo) return fmt::format("{} bytes", bytes);
  const double kilobytes = static_cast<double>(bytes) / kKilo;
  return kilobytes < kKilo ? fmt::format("{:.1f} kB", kilobytes)
                           : fmt::format("{:.1f} MB", kilobytes / kKilo);
}

// --executor aot: OUTPUT.o and OUTPUT.h.
Status WriteAhead(const std::string& output, const CompileFlags& flags, const Compiled& compiled,
                  bool quiet) {
  const std::string name = std::filesystem::path(output).filename().string();
  RELAYVM_ASSIGN_OR_RETURN(const aot::AotObject object,
                           aot::CompileAhead(compiled.program, {name, flags.options.kernels}));
  RELAYVM_RETURN_IF_ERROR(WriteFile(output + ".o", {object.object.data(), object.object.size()}));
  RELAYVM_RETURN_IF_ERROR(WriteFile(output + ".h", object.header));
  if (!quiet) fmt::print(stderr, "  {0}.o: {1}; {0}.h\n", output, Size(object.object.size()));
  return OkStatus();
}

// Where this tool is installed, or built.
Result<std::filesystem::path> OwnFolder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return {StatusCode::kNotFound,
            fmt::format("--emit exe: /proc/self/exe cannot be read: {}", error.message())};
  }
  return self.parent_path().parent_path();
}

// --executor aot --emit exe: OUTPUT, with all of the runtime that it needs.
Status WriteExecutable(const std::string& output, const CompileFlags& flags,
                       const Compiled& compiled, bool quiet) {
  RELAYVM_ASSIGN_OR_RETURN(
      aot::AotObject object,
      aot::CompileAhead(compiled.program,
                        {.kernels = flags.options.kernels, .descriptor = aot::kDescriptorSymbol}));
  RELAYVM_ASSIGN_OR_RETURN(const std::filesystem::path folder, OwnFolder());
  std::vector<std::vector<char>> objects;
  objects.push_back(std::move(object.object));
  RELAYVM_ASSIGN_OR_RETURN(
      const std::vector<uint8_t> program,
      codegen::LinkProgram(objects, folder / RELAYVM_NATIVE_MAIN, flags.options.kernels.stop));
  RELAYVM_RETURN_IF_ERROR(WriteFile(output,
                                    {reinterpret_cast<const char*>(program.data()), program.size()},
                                    /*lasting=*/true));
  // Who may read it may run it.
  std::error_code error;
  using std::filesystem::perms;
  const perms now = std::filesystem::status(output, error).permissions();
  for (const auto& [reads, runs] : {std::pair{perms::owner_read, perms::owner_exec},
                                    std::pair{perms::group_read, perms::group_exec},
                                    std::pair{perms::others_read, perms::others_exec}}) {
    if (!error && (now & reads) != perms::none)
      std::filesystem::permissions(output, runs, std::filesystem::perm_options::add, error);
  }
  if (error) {
    return {StatusCode::kInvalidInput,
            fmt::format("{}: cannot be made executable: {}", output, error.message())};
  }
  if (!quiet) fmt::print(stderr, "  {}: {}\n", output, Size(program.size()));
  return OkStatus();
}

// --batching: what it made, and whether that can gain anything.
std::string BatchingText(const Program& program) {
  size_t kernels = 0;
  for (const KernelInfo& k : program.kernels) kernels += k.batched ? 1 : 0;
  if (kernels == 0) {
    return "batching: no kernel can run the products of many requests at once: it gains nothing "
           "here";
  }
  // What a batch reads once, and its requests alone each for themselves.
  std::set<uint16_t> weights;
  Instruction instruction;
  for (size_t at = 0; at < program.code.size(); at += instruction.size()) {
    if (!DecodeInstruction(program.code, at, &instruction).ok()) break;
    for (int i = 0; i < instruction.info->num_operands; ++i) {
      const auto k = static_cast<size_t>(i);
      if (instruction.info->operands[k] == OperandKind::KERNEL &&
          !program.kernels[instruction.Unit(i)].batched)
        break;
      if (instruction.info->operands[k] != OperandKind::BUFS) continue;
      const std::span<const uint16_t> buffers = instruction.List(i);
      for (size_t b = 0; b + 1 < buffers.size(); b += 2) {
        if ((buffers[b] & 0xFF) == static_cast<uint16_t>(BufferKind::kConstant))
          weights.insert(buffers[b + 1]);
      }
    }
  }
  uint64_t bytes = 0;
  for (const uint16_t constant : weights) bytes += program.constants[constant].data.size();
  std::string text = fmt::format(
      "batching: {} of {} kernels run the products of many requests at once, which read {} of "
      "weights once for all",
      kernels, program.kernels.size(), Size(bytes));
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);  // NOLINT(google-runtime-int): sysconf's
  if (cache > 0 && bytes < static_cast<uint64_t>(cache)) {
    text += fmt::format(
        "; a core's cache of {} holds them anyway, so that requests are hardly faster together",
        Size(static_cast<uint64_t>(cache)));
  }
  return text;
}

// What came of the program, on standard error.
void PrintSummary(const Compiled& compiled, const std::string& output, double seconds,
                  bool with_layouts, bool with_batching) {
  const Program& program = compiled.program;
  for (const ExportInfo& e : program.exports) {
    for (size_t i = 0; i < e.params.size(); ++i) {
      fmt::print(stderr, "  input  {}: {}\n", Printable(e.param_names[i]),
                 Printable(TypeToString(program, e.params[i])));
    }
    const bool named = e.output_names.size() > 1 && e.output_names.size() == e.result.args.size();
    for (size_t i = 0; named && i < e.output_names.size(); ++i) {
      fmt::print(stderr, "  output {}: {}\n", Printable(e.output_names[i]),
                 Printable(ResultTypeToString(program, e, e.result.args[i])));
    }
    if (!named) {
      fmt::print(stderr, "  output {}: {}\n",
                 e.output_names.size() == 1 ? Printable(e.output_names[0]) : std::string("result"),
                 Printable(ResultTypeToString(program, e, e.result)));
    }
  }
  size_t operators = 0, weights = 0;
  for (const auto& [name, f] : compiled.module.functions) operators += CountOperators(*f->body);
  for (const ConstantInfo& c : program.constants) weights += BytesInFile(c);
  std::error_code error;
  const bool is_file = output != "-" && std::filesystem::is_regular_file(output, error);
  const auto written = is_file ? std::filesystem::file_size(output, error) : 0;
  fmt::print(stderr, "  {} operators in {} kernels; {} of {} constants; {}{:.2f} s\n", operators,
             program.kernels.size(), Size(weights), program.constants.size(),
             !is_file || error ? std::string() : fmt::format("{}: {}; ", output, Size(written)),
             seconds);
  if (with_batching) fmt::print(stderr, "  {}\n", BatchingText(program));
  const ir::LayoutTransforms left = ir::CountLayoutTransforms(compiled.module);
  if (!with_layouts && left.count == 0) return;
  fmt::print(stderr, "  layout transforms left: {}, which write {}{}\n", left.count,
             Size(left.bytes),
             left.open > 0 ? fmt::format(" and {} tensors of open shapes", left.open) : "");
}

// What is written where --output does not say: beside INPUT, or (empty) to standard output.
std::string DefaultOutput(const std::string& input, const std::string& emit, bool ahead,
                          bool is_graph, bool is_kernel) {
  if (emit != "vmx" && emit != "exe") return "";
  if (ahead) return std::filesystem::path(input).replace_extension();
  const size_t dot = is_kernel ? std::string::npos : input.rfind('.');
  const size_t slash = input.rfind('/');
  const bool has_extension =
      dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return input.substr(0, has_extension ? dot : std::string::npos) + (is_graph ? "_graph" : ".vmx");
}

// The files of an output.
std::vector<std::string> FilesOf(const std::string& output, const std::string& emit, bool ahead,
                                 bool is_graph) {
  if (emit == "vmx" && ahead) return {output + ".o", output + ".h"};
  if (emit == "vmx" && is_graph) {
    return {output + graph::kGraphFile, output + graph::kParamsFile, output + graph::kKernelsFile};
  }
  return {output};
}

bool IsCompiled(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // a pipe is read once
  auto file = FileMapping::Open(path);
  return file.ok() && DescribeFile((*file)->bytes()).starts_with("a compiled program");
}

// The files that are read for it.
std::vector<SourceFile> SourcesOf(const CompilerOptions& options, const std::string& input,
                                  const std::vector<std::string>& check) {
  std::vector<SourceFile> sources = {{input, "the input"},
                                     {options.params_file, "the file of --params"}};
  const auto add = [&](const std::vector<std::string>& files, const char* option) {
    for (const std::string& file : files)
      sources.push_back({file, fmt::format("the file of {}", option)});
  };
  add(options.rules, "--rules");
  add(options.schedules, "--schedules");
  add(options.plugins, "--plugin");
  add(options.pass_libraries, "--load-pass");
  // Such a file is refused when it is read, which says what it is.
  std::erase_if(sources, [](const SourceFile& s) { return IsCompiled(s.path); });
  add(check, "--check");
  for (const std::string& value : check) add({value.substr(value.find('=') + 1)}, "--check");
  return sources;
}

// relayc --kernel: one operator in place of a program.
struct KernelFlags {
  std::string text, schedule;
  uint32_t threads = 1;
  KernelSource source;
  DimValues dims;

  void AddTo(CLI::App& app) {
    app.add_option("--kernel", text,
                   "an operator alone, in place of INPUT: 'nn.dense[(n, 768), (3072, 768)]', "
                   "'nn.conv2d[(1, 64, h, w), (64, 64, 3, 3); padding=[1, 1]]'")
        ->each([&app](const std::string&) { app.get_option("INPUT")->required(false); });
    app.add_option("--schedule", schedule,
                   "with --kernel: tile=8x32,block=96, as --schedule-for takes it");
    app.add_option("--threads", threads, "with --emit time: how many may work")
        ->check(CLI::Range(1, 1024));
  }

  // What relayc does with the operator: its own INPUT.
  Status Finish(const std::string& emit, CompileFlags* flags) {
    const auto wrong = [](std::string why) {
      return Status(StatusCode::kInvalidArgument, std::move(why));
    };
    if (text.empty()) {
      if (emit == "time") return wrong("--emit time: only with --kernel");
      if (!schedule.empty()) return wrong("--schedule: only with --kernel; see --schedule-for");
      return OkStatus();
    }
    if (!flags->input.empty()) return wrong("--kernel: there is an INPUT as well");
    RELAYVM_ASSIGN_OR_RETURN(source, ParseKernelSource(text));
    if (!schedule.empty()) {
      RELAYVM_RETURN_IF_ERROR(ParseTileSchedule(schedule).status());
      flags->compiler.schedule_for[""] = schedule;
    }
    flags->input = source.op;
    return OkStatus();
  }

  // --dim is the kernel's: sizes that it is compiled for, or, where its time is taken, run with.
  Status TakeDims(const std::string& emit, CompileFlags* flags) {
    if (text.empty()) return OkStatus();
    dims = std::exchange(flags->options.dims, {});
    for (const auto& [name, value] : dims) {
      if (!HasDim(name)) {
        return {StatusCode::kInvalidArgument,
                fmt::format("--dim {}={}: --kernel has no dimension of that name", name, value)};
      }
    }
    const std::string relay = RelayText(source, emit == "time" ? DimValues() : dims);
    flags->options.content = SharedBytes::Copy(std::as_bytes(std::span(relay)));
    return NameSamples(emit, &flags->options.tune);
  }

  bool HasDim(const std::string& name) const {
    return std::ranges::any_of(source.arguments, [&](const KernelArgument& a) {
      return std::ranges::find(a.dims, name) != a.dims.end();
    });
  }

  // Sizes by the operator's names of dims become those of its program's, x0.1 for the second one of
  // the first argument. What its time is taken with is measured with.
  Status NameSamples(const std::string& emit, tuner::TuneOptions* tune) const {
    tuner::SampleSizes samples = std::exchange(tune->samples, {});
    for (const auto& [name, sizes] : samples) {
      if (!HasDim(name)) {
        return {StatusCode::kInvalidArgument,
                fmt::format("--shape-samples {}: --kernel has no dimension of that name", name)};
      }
    }
    for (const auto& [name, value] : dims) {
      if (emit == "time") samples.try_emplace(name, std::vector<int64_t>{value});
    }
    for (size_t i = 0; i < source.arguments.size(); ++i) {
      const std::vector<std::string>& names = source.arguments[i].dims;
      for (size_t axis = 0; axis < names.size(); ++axis) {
        if (const auto known = samples.find(names[axis]); known != samples.end())
          tune->usual[fmt::format("x{}.{}", i, axis)] = known->second;
      }
    }
    return OkStatus();
  }
};

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const ModelFormat& format : ModelFormats()) names.emplace_back(format.name);
  return names;
}

int Main(int argc, char** argv) {
  CLI::App app(fmt::format("Compiles a model ({}) to an executable for relayvm.", ModelKinds()),
               "relayc");
  CompileFlags flags;
  flags.AddTo(app);
  std::string output;
  std::string emit = "vmx";
  app.add_option("-o,--output", output,
                 "the file to write, - for standard output (default: INPUT's name with .vmx)");
  app.add_option(
         "--emit", emit,
         "what to write: vmx, relay (the program as it was read, with its weights), "
         "bytecode, llvm or asm; with --kernel also time, a line on how long it takes; with "
         "--executor aot also exe, a program that takes --input as vmrun does")
      ->check(CLI::IsMember({"vmx", "relay", "bytecode", "llvm", "asm", "time", "exe"}));
  KernelFlags kernel;
  kernel.AddTo(app);
  TuneFlags tune;
  tune.AddTo(app);
  app.add_option(
         "--executor", flags.compiler.executor,
         "what will run the program: vm, or graph, for static programs without control flow: "
         "--output is a folder then, with the graph in TVM's schema (default: INPUT's name); or "
         "aot, "
         "native code, control flow too: OUTPUT.o, and OUTPUT.h for the C program that it is "
         "linked "
         "into (default: INPUT's name)")
      ->check(CLI::IsMember({"vm", "graph", "aot"}));
  bool data = false;
  app.add_flag("--data", data,
               "with --emit bytecode: the bytes of constants and kernels too, so that vmasm needs "
               "no other file to take them from");
  std::string operators_of;
  const auto input_is_optional = [&](auto) { app.get_option("INPUT")->required(false); };
  app.add_option("--list-operators", operators_of,
                 "print the operators of a format that are supported, and end")
      ->check(CLI::IsMember(FormatNames()))
      ->each(input_is_optional);
  app.add_flag_callback(
      "--list-onnx-operators",
      [&] {
        operators_of = "onnx";
        input_is_optional("");
      },
      "the same as --list-operators onnx");
  std::vector<std::string> check;
  app.add_option("--check", check,
                 "a parameter's value as vmrun's --input takes it, once for each: runs the program "
                 "on them and prints how far its results are from those with float32 weights, or "
                 "from those of -O0 where --precision is fp32");
  bool quiet = false;
  app.add_flag("-q,--quiet", quiet, "no summary on standard error");
  std::vector<std::string> args = NormalizeArguments({argv + 1, argv + argc});
  if (Status s = flags.AddPassOptions(app, args); !s.ok()) return Fail("relayc", s);
  GroupOptions(app);
  if (auto done = ParseCommandLine(app, std::move(args))) return *done;
  // Native code is made of what the VM would run.
  const bool ahead = flags.compiler.executor == "aot";
  if (ahead) flags.compiler.executor = "vm";
  if (emit == "exe" && (!ahead || output == "-")) {
    return Fail("relayc", {StatusCode::kInvalidArgument,
                           ahead ? "--emit exe: a program is a file: give --output another name"
                                 : "--emit exe: only with --executor aot"});
  }
  if (Status s = kernel.Finish(emit, &flags); !s.ok()) return Fail("relayc", s);
  const bool list_operators = !operators_of.empty();
  if (flags.input == "-" && output.empty() && !list_operators && (emit == "vmx" || emit == "exe")) {
    return Fail("relayc",
                {StatusCode::kInvalidArgument,
                 "standard input has no name to derive the output's from: give --output"});
  }
  if (Status s = flags.Finish(); !s.ok()) return Fail("relayc", s);
  if (Status s = tune.Finish(!list_operators && !flags.passes.list && emit != "relay", &flags);
      !s.ok()) {
    return Fail("relayc", s);
  }
  if (Status s = kernel.TakeDims(emit, &flags); !s.ok()) return Fail("relayc", s);
  // What a C program calls takes all that is declared.
  if (ahead && !flags.options.overridable) flags.options.overridable.emplace();
  const bool is_graph = flags.options.for_graph;
  const bool lists = list_operators || flags.passes.list;
  if (output.empty() && !lists) {
    output = DefaultOutput(flags.input, emit, ahead, is_graph, !kernel.text.empty());
  }
  // Told before anything is written.
  std::vector<SourceFile> sources =
      SourcesOf(flags.compiler, kernel.text.empty() ? flags.input : "", check);
  sources.push_back({tune.log, "the file of --tune-log"});
  Status outputs =
      CheckOutputs(lists ? std::vector{output} : FilesOf(output, emit, ahead, is_graph), sources);
  // The log of a tuning may be one that it reads.
  if (outputs.ok()) {
    outputs = CheckOutputs({tune.log}, {{flags.input, "the input"},
                                        {flags.compiler.params_file, "the file of --params"}});
  }
  if (!outputs.ok()) return Fail("relayc", outputs);
  if (list_operators) {
    Status written = WriteText(output, import::FindImporter(operators_of)->operators());
    return written.ok() ? 0 : Fail("relayc", written);
  }
  if (flags.passes.list) {
    auto list = ListPasses(flags.options.pipeline, flags.compiler.pass_libraries);
    if (!list.ok()) return Fail("relayc", list.status());
    Status written = WriteText(output, *list);
    return written.ok() ? 0 : Fail("relayc", written);
  }
  if (emit == "relay") {
    auto module = LoadModule(flags.input, flags.options);
    if (!module.ok()) return Fail("relayc", module.status());
    Status printed = WriteText(output, ir::PrintModule(*module));
    return printed.ok() ? 0 : Fail("relayc", printed);
  }
  if (emit != "vmx" && !flags.options.more_machines.empty()) {
    return Fail("relayc", {StatusCode::kInvalidArgument,
                           fmt::format("--emit {}: expected one --target, found {}", emit,
                                       flags.options.more_machines.size() + 1)});
  }
  flags.options.kernels.keep_llvm_ir = emit == "llvm";
  flags.options.kernels.keep_assembly = emit == "asm";
  // One program, for a machine that may be this one.
  flags.options.count_poor_kernels = !quiet && tune.budget.empty() &&
                                     flags.options.more_machines.empty() &&
                                     tuner::CheckMachine(flags.options.kernels).ok();
  const auto start = std::chrono::steady_clock::now();
  auto compiled = CompileWithProgress("relayc", flags);
  flags.PrintTimings();
  if (!compiled.ok()) return Fail("relayc", compiled.status());

  if (!tune.budget.empty()) {
    if (Status s = tune.WriteLog(compiled->tuning); !s.ok()) return Fail("relayc", s);
    if (!quiet) fmt::print(stderr, "{}", PrintableLines(TuneTable(compiled->tuning)));
  }
  Status written;
  if (emit == "time") {
    auto line = TimeKernel(kernel.source, compiled->program, kernel.dims, kernel.threads);
    written = line.ok() ? WriteText(output, *line) : line.status();
  } else if (ahead && (emit == "vmx" || emit == "exe")) {
    written = emit == "exe" ? WriteExecutable(output, flags, *compiled, quiet)
                            : WriteAhead(output, flags, *compiled, quiet);
  } else if (emit == "vmx") {
    written = is_graph ? WriteGraph(output, *compiled) : WriteProgram(output, *compiled);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (written.ok() && !quiet) {
      PrintSummary(*compiled, output, took.count(), flags.compiler.pass_options.contains("layout"),
                   flags.compiler.batching);
    }
  } else if (emit == "bytecode") {
    written = WriteText(output, DisassembleProgram(compiled->program, {.data = data}));
  } else {
    written = WriteText(output, emit == "llvm" ? compiled->llvm_ir : compiled->assembly);
  }
  if (!written.ok()) return Fail("relayc", written);
  if (compiled->poor_kernels > 0)
    fmt::print(stderr, "  {}\n", tuner::TuningAdvice(compiled->poor_kernels));
  if (check.empty()) return 0;
  const Check checked = CheckPrecision(flags, compiled->program, check);
  if (!checked.status.ok()) {
    return static_cast<int>(Report("relayc", checked.status, checked.exit));
  }
  // Standard output may be the program.
  const bool is_program = output == "-" || (output.empty() && emit != "vmx" && emit != "exe");
  std::fwrite(checked.report.data(), 1, checked.report.size(), is_program ? stderr : stdout);
  return 0;
}

}  // namespace
}  // namespace relayvm::tools

int main(int argc, char** argv) {
  return relayvm::tools::GuardedMain("relayc", [&] { return relayvm::tools::Main(argc, argv); });
}

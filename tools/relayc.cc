// relayc: compiles a model of one of compiler/import's formats to a .vmx file.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/file_mapping.h"
#include "bytecode/base/file_replacement.h"
#include "bytecode/base/printable.h"
#include "bytecode/disassembler.h"
#include "bytecode/instruction.h"
#include "bytecode/regions.h"
#include "bytecode/writer.h"
#include "compiler/aot/aot.h"
#include "compiler/graph/build_graph.h"
#include "compiler/import/importers.h"
#include "compiler/ir/printer.h"
#include "compiler/regions/region_options.h"
#include "kernels/codegen/link.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output_files.h"
#include "tools/lib/check.h"
#include "tools/lib/kernel_flags.h"
#include "tools/lib/model_page.h"
#include "tools/lib/progress.h"
#include "tools/lib/tune_flags.h"
#include "vm/graph/format/graph_files.h"

#ifndef RELAYVM_NATIVE_MAIN  // a build with sanitizers, or a quick one
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
  if (path != "-") {
    return compiled.file != nullptr ? CopyFile(*compiled.file, path)
                                    : WriteProgramFile(compiled.program, path, compiled.others);
  }
  SharedBytes bytes;
  if (compiled.file != nullptr) {
    bytes = SharedBytes::OfFile(compiled.file);
  } else {
    RELAYVM_ASSIGN_OR_RETURN(bytes, SerializeToShared(compiled.program, compiled.others));
  }
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  return OkStatus();
}

// What is written where there is room for one form.
const Program& OneProgram(const Compiled& compiled) {
  return FormWithRegions(compiled.program, compiled.others);
}

// A line, or none. `is_one`: the program is written in one form.
std::string RegionsSummary(const Compiled& compiled, bool is_one) {
  const std::vector<RegionInfo>& regions = OneProgram(compiled).regions;
  std::map<std::string, size_t> counts;
  for (const RegionInfo& region : regions) ++counts[region.engine];
  std::string text;
  for (const auto& [engine, count] : counts)
    text += fmt::format("{}{} for {}", text.empty() ? "  regions: " : ", ", count, engine);
  if (text.empty()) return text;
  return text + (compiled.program.regions.empty() && !is_one ? "; beside them the native program\n"
                                                             : "; no native program\n");
}

// An object of the regions' JSON, by name.
std::string RegionsText(const Compiled& compiled) {
  std::string text;
  for (const RegionInfo& region : OneProgram(compiled).regions)
    text += fmt::format("{}\"{}\": {}", text.empty() ? "\n" : ",\n", region.name, region.json);
  return "{" + text + "\n}\n";
}

Status WriteGraph(const std::string& folder, const Compiled& compiled) {
  RELAYVM_ASSIGN_OR_RETURN(const graph::GraphProgram graph,
                           graph::BuildGraph(OneProgram(compiled)));
  return graph::SaveGraph(graph, folder);
}

std::string Size(uint64_t bytes) {
  constexpr int kKilo = 1000;
  if (bytes < kKilo) return fmt::format("{} bytes", bytes);
  const double kilobytes = static_cast<double>(bytes) / kKilo;
  return kilobytes < kKilo ? fmt::format("{:.1f} kB", kilobytes)
                           : fmt::format("{:.1f} MB", kilobytes / kKilo);
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

Status Invalid(std::string why) { return {StatusCode::kInvalidArgument, std::move(why)}; }

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const ModelFormat& format : ModelFormats()) names.emplace_back(format.name);
  return names;
}

// One call of the tool.
class Relayc {
 public:
  Status AddTo(CLI::App& app, const std::vector<std::string>& args);
  // After parsing: what the options say together, and that what is written overwrites nothing.
  Status Finish();
  // The exit status, if that is no Status's.
  Result<int> Run();

 private:
  bool lists() const { return !operators_of_.empty() || flags_.passes.list; }
  bool compiles() const { return !lists() && emit_ != "relay"; }
  bool makes_program() const { return emit_ == "vmx" || emit_ == "exe"; }
  Status CheckFiles() const;
  // What is written where nothing is compiled.
  Result<std::optional<std::string>> Text() const;
  Result<Compiled> Compile();
  // What is written where --output does not say: beside INPUT, or (empty) to standard output.
  std::string DefaultOutput() const;
  std::vector<std::string> FilesOfOutput() const;
  Status Write(const Compiled& compiled) const;
  Status WritePage(const Compiled& compiled) const;
  Status WriteAhead(const Compiled& compiled) const;
  Status WriteExecutable(const Compiled& compiled) const;
  void PrintSummary(const Compiled& compiled) const;
  int CheckResults(const Compiled& compiled) const;

  CompileFlags flags_;
  KernelFlags kernel_;
  TuneFlags tune_;
  std::string output_, emit_ = "vmx", operators_of_;
  std::vector<std::string> check_;
  bool data_ = false, quiet_ = false;
  bool ahead_ = false;  // native code, which is made of what the VM would run
  std::chrono::steady_clock::time_point start_;
};

Status Relayc::AddTo(CLI::App& app, const std::vector<std::string>& args) {
  flags_.AddTo(app);
  app.add_option("-o,--output", output_,
                 "the file to write, - for standard output (default: INPUT's name with .vmx)");
  app.add_option(
         "--emit", emit_,
         "what to write: vmx, relay (the program as it was read, with its weights), "
         "bytecode, llvm or asm; with --kernel also time, a line on how long it takes; with "
         "--executor aot also exe, a program that takes --input as vmrun does; with --byoc also "
         "region-json, an object of the regions by name, in TVM's JSON, and what shows one form "
         "(bytecode, llvm, asm) shows the one with regions; graph.html, a page that shows the "
         "model and what became of it (default: INPUT's name with .graph.html)")
      ->check(CLI::IsMember(
          {"vmx", "relay", "bytecode", "llvm", "asm", "time", "exe", "region-json", "graph.html"}));
  kernel_.AddTo(app);
  tune_.AddTo(app);
  app.add_option(
         "--executor", flags_.compiler.executor,
         "what will run the program: vm, or graph, for static programs without control flow: "
         "--output is a folder then, with the graph in TVM's schema (default: INPUT's name); or "
         "aot, "
         "native code, control flow too: OUTPUT.o, and OUTPUT.h for the C program that it is "
         "linked "
         "into (default: INPUT's name)")
      ->check(CLI::IsMember({"vm", "graph", "aot"}));
  app.add_flag("--data", data_,
               "with --emit bytecode: the bytes of constants and kernels too, so that vmasm needs "
               "no other file to take them from");
  const auto input_is_optional = [&app](auto) { app.get_option("INPUT")->required(false); };
  app.add_option("--list-operators", operators_of_,
                 "print the operators of a format that are supported, and end")
      ->check(CLI::IsMember(FormatNames()))
      ->each(input_is_optional);
  app.add_flag_callback(
      "--list-onnx-operators",
      [this, input_is_optional] {
        operators_of_ = "onnx";
        input_is_optional("");
      },
      "the same as --list-operators onnx");
  app.add_option("--check", check_,
                 "a parameter's value as vmrun's --input takes it, once for each: runs the program "
                 "on them and prints how far its results are from those with float32 weights, or "
                 "from those of -O0 where --precision is fp32; with --byoc both forms, each where "
                 "its engines are here");
  app.add_flag("-q,--quiet", quiet_, "no summary on standard error");
  return flags_.AddPassOptions(app, args);
}

Status Relayc::Finish() {
  ahead_ = flags_.compiler.executor == "aot";
  if (ahead_) flags_.compiler.executor = "vm";
  if (emit_ == "exe" && !ahead_) return Invalid("--emit exe: only with --executor aot");
  if (emit_ == "exe" && output_ == "-")
    return Invalid("--emit exe: a program is a file: give --output another name");
  RELAYVM_RETURN_IF_ERROR(kernel_.Finish(emit_, &flags_));
  if (flags_.input == "-" && output_.empty() && operators_of_.empty() && makes_program()) {
    return Invalid("standard input has no name to derive the output's from: give --output");
  }
  if (flags_.input == "-" && emit_ == "graph.html")
    return Invalid("--emit graph.html: INPUT is read twice: give it as a file");
  RELAYVM_RETURN_IF_ERROR(flags_.Finish());
  if (emit_ == "region-json" && !regions::HasEngines(flags_.options.pipeline.options))
    return Invalid("--emit region-json: only with --byoc");
  RELAYVM_RETURN_IF_ERROR(tune_.Finish(compiles(), &flags_));
  RELAYVM_RETURN_IF_ERROR(kernel_.TakeDims(emit_, &flags_));
  // What a C program calls takes all that is declared.
  CompileOptions& options = flags_.options;
  if (ahead_ && !options.overridable) options.overridable.emplace();
  if (output_.empty() && !lists()) output_ = DefaultOutput();
  RELAYVM_RETURN_IF_ERROR(CheckFiles());
  if (compiles() && emit_ != "vmx" && !options.more_machines.empty()) {
    return Invalid(fmt::format("--emit {}: expected one --target, found {}", emit_,
                               options.more_machines.size() + 1));
  }
  options.direct = emit_ == "vmx" && !ahead_ && !flags_.time_passes;
  options.kernels.keep_llvm_ir = emit_ == "llvm";
  options.kernels.keep_assembly = emit_ == "asm";
  // One program, for a machine that may be this one.
  options.count_poor_kernels = compiles() && !quiet_ && tune_.budget.empty() &&
                               options.more_machines.empty() &&
                               tuner::CheckMachine(options.kernels).ok();
  return OkStatus();
}

std::string Relayc::DefaultOutput() const {
  if (emit_ == "graph.html" && flags_.input != "-")
    return std::filesystem::path(flags_.input).replace_extension(".graph.html").string();
  if (!makes_program()) return "";
  std::filesystem::path name = flags_.input;
  if (ahead_ || kernel_.text.empty()) name.replace_extension();
  return name.string() + (ahead_ ? "" : flags_.options.for_graph ? "_graph" : ".vmx");
}

std::vector<std::string> Relayc::FilesOfOutput() const {
  if (lists() || emit_ != "vmx") return {output_};
  if (ahead_) return {output_ + ".o", output_ + ".h"};
  if (!flags_.options.for_graph) return {output_};
  return {output_ + graph::kGraphFile, output_ + graph::kParamsFile, output_ + graph::kKernelsFile};
}

// Told before anything is written.
Status Relayc::CheckFiles() const {
  std::vector<SourceFile> sources =
      SourcesOf(flags_.compiler, kernel_.text.empty() ? flags_.input : "", check_);
  sources.push_back({tune_.log, "the file of --tune-log"});
  RELAYVM_RETURN_IF_ERROR(CheckOutputs(FilesOfOutput(), sources));
  // The log of a tuning may be one that it reads.
  return CheckOutputs({tune_.log}, {{flags_.input, "the input"},
                                    {flags_.compiler.params_file, "the file of --params"}});
}

Result<Compiled> Relayc::Compile() {
  auto compiled = CompileWithProgress("relayc", flags_);
  flags_.PrintTimings();
  if (!compiled.ok() || tune_.budget.empty()) return compiled;
  RELAYVM_RETURN_IF_ERROR(tune_.WriteLog(compiled->tuning));
  if (!quiet_) fmt::print(stderr, "{}", PrintableLines(TuneTable(compiled->tuning)));
  return compiled;
}

Status Relayc::Write(const Compiled& compiled) const {
  if (emit_ == "time") {
    RELAYVM_ASSIGN_OR_RETURN(const std::string line, TimeKernel(kernel_.source, compiled.program,
                                                                kernel_.dims, kernel_.threads));
    return WriteText(output_, line);
  }
  if (emit_ == "exe") return WriteExecutable(compiled);
  if (emit_ == "region-json") return WriteText(output_, RegionsText(compiled));
  if (emit_ == "graph.html") return WritePage(compiled);
  if (emit_ == "bytecode")
    return WriteText(output_, DisassembleFile(compiled.program, compiled.others, {.data = data_}));
  if (emit_ != "vmx")
    return WriteText(output_, emit_ == "llvm" ? compiled.llvm_ir : compiled.assembly);
  if (ahead_) return WriteAhead(compiled);
  RELAYVM_RETURN_IF_ERROR(flags_.options.for_graph ? WriteGraph(output_, compiled)
                                                   : WriteProgram(output_, compiled));
  if (!quiet_) PrintSummary(compiled);
  return OkStatus();
}

// --emit graph.html: the model as it was read, which the compilation has changed.
Status Relayc::WritePage(const Compiled& compiled) const {
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module, LoadModule(flags_.input, flags_.options));
  RELAYVM_ASSIGN_OR_RETURN(const ir::Module typed, RunFrontendPipeline(std::move(module)));
  const std::string title = std::filesystem::path(flags_.input).filename().string();
  const std::string page = ModelPage(title, typed, compiled);
  RELAYVM_RETURN_IF_ERROR(WriteText(output_, page));
  if (!quiet_ && output_ != "-") fmt::print(stderr, "  {}: {}\n", output_, Size(page.size()));
  return OkStatus();
}

// --executor aot: OUTPUT.o and OUTPUT.h.
Status Relayc::WriteAhead(const Compiled& compiled) const {
  const std::string name = std::filesystem::path(output_).filename().string();
  RELAYVM_ASSIGN_OR_RETURN(const aot::AotObject object,
                           aot::CompileAhead(OneProgram(compiled), {name, flags_.options.kernels}));
  RELAYVM_RETURN_IF_ERROR(WriteFile(output_ + ".o", {object.object.data(), object.object.size()}));
  RELAYVM_RETURN_IF_ERROR(WriteFile(output_ + ".h", object.header));
  if (!quiet_) {
    fmt::print(stderr, "  {0}.o: {1}; {0}.h\n{2}", output_, Size(object.object.size()),
               RegionsSummary(compiled, /*is_one=*/true));
  }
  return OkStatus();
}

// --executor aot --emit exe: OUTPUT, with all of the runtime that it needs.
Status Relayc::WriteExecutable(const Compiled& compiled) const {
  RELAYVM_ASSIGN_OR_RETURN(
      aot::AotObject object,
      aot::CompileAhead(OneProgram(compiled),
                        {.kernels = flags_.options.kernels, .descriptor = aot::kDescriptorSymbol}));
  RELAYVM_ASSIGN_OR_RETURN(const std::filesystem::path folder, OwnFolder());
  std::vector<std::vector<char>> objects;
  objects.push_back(std::move(object.object));
  RELAYVM_ASSIGN_OR_RETURN(
      const std::vector<uint8_t> program,
      codegen::LinkProgram(objects, folder / RELAYVM_NATIVE_MAIN, flags_.options.kernels.stop));
  RELAYVM_RETURN_IF_ERROR(WriteFile(output_,
                                    {reinterpret_cast<const char*>(program.data()), program.size()},
                                    /*lasting=*/true));
  // Who may read it may run it.
  std::error_code error;
  using std::filesystem::perms;
  const perms now = std::filesystem::status(output_, error).permissions();
  for (const auto& [reads, runs] : {std::pair{perms::owner_read, perms::owner_exec},
                                    std::pair{perms::group_read, perms::group_exec},
                                    std::pair{perms::others_read, perms::others_exec}}) {
    if (!error && (now & reads) != perms::none)
      std::filesystem::permissions(output_, runs, std::filesystem::perm_options::add, error);
  }
  if (error) {
    return {StatusCode::kInvalidInput,
            fmt::format("{}: cannot be made executable: {}", output_, error.message())};
  }
  if (!quiet_) {
    fmt::print(stderr, "  {}: {}\n{}", output_, Size(program.size()),
               RegionsSummary(compiled, /*is_one=*/true));
  }
  return OkStatus();
}

// What came of the program, on standard error.
void Relayc::PrintSummary(const Compiled& compiled) const {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
  const bool is_one = flags_.options.for_graph;
  const Program& program = is_one ? OneProgram(compiled) : compiled.program;
  for (const ExportInfo& e : program.exports) {
    for (size_t i = 0; i < e.params.size(); ++i) {
      fmt::print(stderr, "  input  {}: {}\n", Printable(e.param_names[i]),
                 Printable(TypeToString(program, e.params[i])));
    }
    for (const StateInfo& s : e.states) {
      fmt::print(stderr, "  keeps  {} between runs: output {} is the next one\n",
                 Printable(e.param_names[s.input]), s.output);
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
  size_t weights = 0;
  for (const ConstantInfo& c : program.constants) weights += BytesInFile(c);
  std::error_code error;
  const bool is_file = output_ != "-" && std::filesystem::is_regular_file(output_, error);
  const auto written = is_file ? std::filesystem::file_size(output_, error) : 0;
  fmt::print(stderr, "  {} operators in {} kernels; {} of {} constants; {}{:.2f} s\n",
             compiled.num_operators, program.kernels.size(), Size(weights),
             program.constants.size(),
             !is_file || error ? std::string() : fmt::format("{}: {}; ", output_, Size(written)),
             took.count());
  fmt::print(stderr, "{}", PrintableLines(RegionsSummary(compiled, is_one)));
  if (flags_.compiler.batching) fmt::print(stderr, "  {}\n", BatchingText(program));
  if (!flags_.compiler.pass_options.contains("layout") && compiled.transforms == 0) return;
  fmt::print(stderr, "  layout transforms left: {}, which write {}{}\n", compiled.transforms,
             Size(compiled.transformed_bytes),
             compiled.open_transforms > 0
                 ? fmt::format(" and {} tensors of open shapes", compiled.open_transforms)
                 : "");
}

// --check.
int Relayc::CheckResults(const Compiled& compiled) const {
  const Check checked = CheckPrecision(flags_, compiled, check_);
  if (!checked.status.ok()) return static_cast<int>(Report("relayc", checked.status, checked.exit));
  // Standard output may be the program.
  const bool is_program = output_ == "-" || (output_.empty() && !makes_program());
  std::fwrite(checked.report.data(), 1, checked.report.size(), is_program ? stderr : stdout);
  return 0;
}

Result<std::optional<std::string>> Relayc::Text() const {
  if (!operators_of_.empty())
    return std::optional(import::FindImporter(operators_of_)->operators());
  if (flags_.passes.list) {
    RELAYVM_ASSIGN_OR_RETURN(std::string list,
                             ListPasses(flags_.options.pipeline, flags_.compiler.pass_libraries));
    return std::optional(std::move(list));
  }
  if (emit_ != "relay") return std::optional<std::string>();
  RELAYVM_ASSIGN_OR_RETURN(const ir::Module module, LoadModule(flags_.input, flags_.options));
  return std::optional(ir::PrintModule(module));
}

Result<int> Relayc::Run() {
  RELAYVM_ASSIGN_OR_RETURN(const std::optional<std::string> text, Text());
  if (text) {
    RELAYVM_RETURN_IF_ERROR(WriteText(output_, *text));
    return 0;
  }
  start_ = std::chrono::steady_clock::now();
  // Left for the end of the process, which frees it at once.
  static const Compiled* kept = nullptr;
  RELAYVM_ASSIGN_OR_RETURN(Compiled made, Compile());
  kept = new Compiled(std::move(made));
  const Compiled& compiled = *kept;
  RELAYVM_RETURN_IF_ERROR(Write(compiled));
  if (compiled.poor_kernels > 0)
    fmt::print(stderr, "  {}\n", tuner::TuningAdvice(compiled.poor_kernels));
  return check_.empty() ? 0 : CheckResults(compiled);
}

int Main(int argc, char** argv) {
  CLI::App app(fmt::format("Compiles a model ({}) to an executable for relayvm.", ModelKinds()),
               "relayc");
  Relayc relayc;
  std::vector<std::string> args = NormalizeArguments({argv + 1, argv + argc});
  if (Status s = relayc.AddTo(app, args); !s.ok()) return Fail("relayc", s);
  GroupOptions(app);
  app.footer(
      "Exit status: 0 done, 1 wrong usage, 2 bad input, 3 a run of --check failed.\n\n"
      "Examples:\n"
      "  relayc model.onnx -o model.vmx\n"
      "  relayc model.onnx --shape image=1x3x224x224 --target x86-64-v3 -o model.vmx\n"
      "  relayc model.relay --params weights.npz --precision bf16 --check image.npy\n"
      "  relayc model.onnx --tune 60s --tune-log model.log");
  if (auto done = ParseCommandLine(app, std::move(args))) return *done;
  if (Status s = relayc.Finish(); !s.ok()) return Fail("relayc", s);
  const Result<int> exit = relayc.Run();
  return exit.ok() ? *exit : Fail("relayc", exit.status());
}

}  // namespace
}  // namespace relayvm::tools

int RELAYVM_MAIN(int argc, char** argv) {
  return relayvm::tools::GuardedMain("relayc", [&] { return relayvm::tools::Main(argc, argv); });
}

// vmdump: shows what is in a .vmx file. The command line is the user's contract:
//
//   vmdump MODEL.vmx [--bytecode] [--kernels] [--memory] [--constants] [--data] [--regions] [--check]
//          [--json]
//
// Without a selection: an overview. Exit status: 0 done, 1 wrong usage, 2 bad input. Tested by
// vmdump_test.cc.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/printable.h"
#include "bytecode/disassembler.h"
#include "bytecode/file_format.h"
#include "bytecode/image.h"
#include "bytecode/memory_report.h"
#include "bytecode/reader.h"
#include "bytecode/regions.h"
#include "tools/cli/command_line.h"
#include "tools/cli/option_forms.h"
#include "tools/kernel_notes.h"

namespace relayvm {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string path, target;
  bool bytecode = false, kernels = false, memory = false, constants = false, json = false,
       regions = false, check = false, data = false;
};

// --- The content as JSON; text is printed from it ---

// "winograd_weights_4(float16[64, 3, 3, 3])"
std::string RecipeText(const RecipeInfo& recipe) {
  std::string inputs;
  for (const RecipeInput& input : recipe.inputs)
    inputs += (inputs.empty() ? "" : ", ") + TensorTypeToString(input.dtype, input.dims);
  for (int64_t param : recipe.params) inputs += fmt::format(", {}", param);
  return fmt::format("{}({})", recipe.builtin, inputs);
}

Json Overview(const Program& program) {
  Json exports = Json::array();
  for (const ExportInfo& e : program.exports) {
    Json params = Json::array();
    for (size_t i = 0; i < e.params.size(); ++i) {
      params.push_back({{"name", e.param_names[i]}, {"type", TypeToString(program, e.params[i])}});
    }
    Json states = Json::array();
    for (const StateInfo& s : e.states)
      states.push_back({{"input", s.input}, {"output", s.output}});
    exports.push_back({{"name", e.name},
                       {"parameters", e.num_type_params},
                       {"params", std::move(params)},
                       {"result", TypeToString(program, e.result)},
                       {"outputs", e.output_names},
                       {"states", std::move(states)}});
  }
  Json types = Json::array();
  for (const AdtInfo& adt : program.adts) {
    Json constructors = Json::array();
    for (const ConstructorInfo& constructor : adt.constructors) {
      Json fields = Json::array();
      for (const ValueType& field : constructor.fields)
        fields.push_back(TypeToString(program, field));
      constructors.push_back({{"name", constructor.name}, {"fields", std::move(fields)}});
    }
    types.push_back(
        {{"name", adt.name}, {"parameters", adt.num_type_params}, {"constructors", constructors}});
  }
  Json hosts = Json::array();
  for (const HostFunctionInfo& host : program.host_functions) {
    Json params = Json::array();
    for (const ValueType& param : host.params) params.push_back(TypeToString(program, param));
    hosts.push_back({{"name", host.name},
                     {"params", std::move(params)},
                     {"result", TypeToString(program, host.result)}});
  }
  uint64_t constant_bytes = 0, image_bytes = 0;
  for (const ConstantInfo& constant : program.constants) constant_bytes += BytesInFile(constant);
  for (const ImageInfo& image : program.images) image_bytes += image.elf.size();
  return {{"exports", std::move(exports)},
          {"types", std::move(types)},
          {"host_functions", std::move(hosts)},
          {"functions", program.functions.size()},
          {"code_bytes", program.code.size() * sizeof(uint16_t)},
          {"kernels", program.kernels.size()},
          {"images", program.images.size()},
          {"image_bytes", image_bytes},
          {"targets", program.targets},
          {"regions", program.regions.size()},
          {"engines", EnginesOf(program)},
          {"constants", program.constants.size()},
          {"constant_bytes", constant_bytes}};
}

Json Bytecode(const Program& program) {
  Json functions = Json::array();
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    functions.push_back(
        {{"name", program.functions[i].name}, {"code", DisassembleFunction(program, i)}});
  }
  return functions;
}

Json Kernels(const Program& program) {
  Json images = Json::array();
  for (const ImageInfo& image : program.images) {
    Json segments = Json::array();
    if (Result<ImageLayout> layout = ParseImage(image.elf); layout.ok()) {
      for (const ImageSegment& segment : layout->segments) {
        segments.push_back({{"address", segment.address},
                            {"bytes", segment.memory_bytes},
                            {"access", segment.executable ? "rx"
                                       : segment.writable ? "rw"
                                                          : "r"}});
      }
    }
    images.push_back({{"cpu_features", image.cpu_features},
                      {"bytes", image.elf.size()},
                      {"segments", std::move(segments)}});
  }
  std::vector<std::map<std::string, std::string>> notes;
  for (const ImageInfo& image : program.images) notes.push_back(KernelNotes(image.elf));
  Json kernels = Json::array();
  for (const KernelInfo& kernel : program.kernels) {
    // One an image; empty where it says none.
    Json schedules = Json::array();
    for (const auto& of_image : notes) {
      const auto found = of_image.find(kernel.name);
      schedules.push_back(found == of_image.end() || kernel.builtin ? "" : found->second);
    }
    kernels.push_back({{"name", kernel.name},
                       {"builtin", kernel.builtin},
                       {"scalars", kernel.num_scalars},
                       {"buffers", kernel.buffers.size()},
                       {"entries", kernel.entries},
                       {"schedules", std::move(schedules)}});
  }
  return {{"images", std::move(images)}, {"kernels", std::move(kernels)}};
}

Json Memory(const Program& program) {
  Json functions = Json::array();
  const std::vector<MemoryReport> reports = ReportMemory(program);
  for (size_t i = 0; i < reports.size(); ++i) {
    const MemoryReport& report = reports[i];
    Json allocations = Json::array();
    for (const MemoryReport::Allocation& allocation : report.allocations) {
      allocations.push_back({{"pc", allocation.pc},
                             {"instruction", allocation.mnemonic},
                             {"bytes", allocation.bytes}});
    }
    functions.push_back({{"name", program.functions[i].name},
                         {"arena_bytes", report.arena_bytes},
                         {"peak_bytes", report.peak_bytes},
                         {"total_bytes", report.total_bytes},
                         {"allocations", std::move(allocations)}});
  }
  return functions;
}

Json Constants(const Program& program) {
  Json constants = Json::array();
  for (const ConstantInfo& constant : program.constants) {
    constants.push_back({{"name", constant.name},
                         {"dtype", DTypeName(constant.dtype)},
                         {"shape", constant.dims},
                         {"bytes", BytesInFile(constant)}});
    if (constant.recipe != nullptr) constants.back()["recipe"] = RecipeText(*constant.recipe);
  }
  return constants;
}

// Whole, with the JSON that an engine gets.
Json Regions(const Program& program) {
  Json regions = Json::array();
  for (const RegionInfo& region : program.regions) {
    regions.push_back({{"name", region.name},
                       {"engine", region.engine},
                       {"constants", region.constants},
                       {"symbols", region.num_symbols},
                       {"json", region.json}});
  }
  return regions;
}

// --- Text ---

constexpr uint32_t kMaxShownParameters = 64;  // of a type or function

std::string Text(const Json& value) { return Printable(value.get<std::string>()); }

// "List[A]": with the names of its type parameters.
std::string Generic(const Json& entry) {
  std::string names;
  for (uint32_t i = 0; i < entry["parameters"].get<uint32_t>() && i < kMaxShownParameters; ++i) {
    names += (i > 0 ? ", " : "") + TypeParameterName(i);
  }
  return Text(entry["name"]) + (names.empty() ? "" : "[" + names + "]");
}

void PrintOverview(const Json& overview) {
  for (const Json& type : overview["types"]) {
    std::string constructors;
    for (const Json& constructor : type["constructors"]) {
      std::string fields;
      for (const Json& field : constructor["fields"])
        fields += (fields.empty() ? "" : ", ") + Text(field);
      constructors += (constructors.empty() ? "" : " | ") + Text(constructor["name"]);
      if (!fields.empty()) constructors += "(" + fields + ")";
    }
    fmt::print("type {} = {}\n", Generic(type), constructors);
  }
  for (const Json& host : overview["host_functions"]) {
    std::string params;
    for (const Json& param : host["params"]) params += (params.empty() ? "" : ", ") + Text(param);
    fmt::print("host {}({}) -> {}\n", Text(host["name"]), params, Text(host["result"]));
  }
  for (const Json& e : overview["exports"]) {
    std::string params;
    for (const Json& param : e["params"]) {
      params += (params.empty() ? "" : ", ") + Text(param["name"]) + ": " + Text(param["type"]);
    }
    fmt::print("export {}({}) -> {}\n", Generic(e), params, Text(e["result"]));
    std::string outputs;
    for (const Json& name : e["outputs"]) outputs += (outputs.empty() ? "" : ", ") + Text(name);
    if (!outputs.empty()) fmt::print("  outputs {}\n", outputs);
    for (const Json& s : e["states"]) {
      fmt::print("  keeps {} between runs: its output {}\n",
                 Text(e["params"][s["input"].get<size_t>()]["name"]), s["output"].get<size_t>());
    }
  }
  std::string targets;
  for (const Json& t : overview["targets"]) targets += (targets.empty() ? "" : ", ") + Text(t);
  if (!targets.empty()) fmt::print("for {}\n", targets);
  std::string engines;
  for (const Json& e : overview["engines"]) engines += (engines.empty() ? "" : ", ") + Text(e);
  if (!engines.empty())
    fmt::print("{} regions for {}\n", overview["regions"].get<uint64_t>(), engines);
  fmt::print(
      "{} functions, {} bytes of code; {} kernels, {} images of {} bytes; {} constants of {} "
      "bytes\n",
      overview["functions"].get<uint64_t>(), overview["code_bytes"].get<uint64_t>(),
      overview["kernels"].get<uint64_t>(), overview["images"].get<uint64_t>(),
      overview["image_bytes"].get<uint64_t>(), overview["constants"].get<uint64_t>(),
      overview["constant_bytes"].get<uint64_t>());
}

void PrintKernels(const Json& all) {
  for (const Json& image : all["images"]) {
    fmt::print("image {}, {} bytes\n", Text(image["cpu_features"]), image["bytes"].get<uint64_t>());
    for (const Json& segment : image["segments"]) {
      fmt::print("  {:#10x} {:>10} bytes {}\n", segment["address"].get<uint64_t>(),
                 segment["bytes"].get<uint64_t>(), Text(segment["access"]));
    }
  }
  size_t index = 0;
  for (const Json& kernel : all["kernels"]) {
    std::string entries;
    for (const Json& entry : kernel["entries"])
      entries += fmt::format(" {:#x}", entry.get<uint64_t>());
    fmt::print("k{:<5} {:<48} {:>2} scalars {:>2} buffers{}\n", index++, Text(kernel["name"]),
               kernel["scalars"].get<int>(), kernel["buffers"].get<int>(),
               kernel["builtin"].get<bool>() ? " builtin" : entries);
    for (size_t i = 0; i < all["images"].size(); ++i) {
      const std::string schedule = Text(kernel["schedules"][i]);
      if (schedule.empty()) continue;
      fmt::print("       {}: {}\n", Text(all["images"][i]["cpu_features"]), schedule);
    }
  }
}

void PrintMemory(const Json& functions) {
  for (const Json& function : functions) {
    fmt::print("{}: peak {} bytes, arena {}\n", Text(function["name"]),
               Text(function["peak_bytes"]), function["arena_bytes"].get<uint64_t>());
    if (Text(function["total_bytes"]) != Text(function["peak_bytes"]))
      fmt::print("  with what it calls: {} bytes\n", Text(function["total_bytes"]));
    for (const Json& allocation : function["allocations"]) {
      fmt::print("  +{:<#8x} {:<14} {}\n", allocation["pc"].get<uint32_t>(),
                 Text(allocation["instruction"]), Text(allocation["bytes"]));
    }
  }
}

void PrintConstants(const Program& program) {
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ConstantInfo& constant = program.constants[i];
    fmt::print("c{:<5} {:<28} {:>12} bytes  {}{}\n", i,
               TensorTypeToString(constant.dtype, constant.dims), BytesInFile(constant),
               Printable(constant.name),
               constant.recipe == nullptr ? "" : "  = " + Printable(RecipeText(*constant.recipe)));
  }
}

void PrintRegions(const Program& program) {
  for (const RegionInfo& region : program.regions) {
    fmt::print("region {} for {}, {} constants, {} symbols\n{}\n", Printable(region.name),
               region.engine, region.constants.size(), region.num_symbols,
               PrintableLines(region.json));
  }
}

// `format`: of the file, for all of its parts.
void PrintText(const Options& options, const std::string& format, const Program& program) {
  bool selected =
      options.bytecode || options.kernels || options.memory || options.constants || options.regions;
  if (!selected) {
    PrintOverview(Overview(program));
    fmt::print("needs a runtime of .vmx format {}, bytecode {}, or newer\n", format,
               program.bytecode_version);
  }
  if (options.bytecode) {
    // vmasm reads it as it is.
    const std::string text = DisassembleProgram(program, {.data = options.data});
    fmt::print("{}", isatty(STDOUT_FILENO) != 0 ? PrintableLines(text) : text);
  }
  if (options.kernels) PrintKernels(Kernels(program));
  if (options.memory) PrintMemory(Memory(program));
  if (options.constants) PrintConstants(program);
  if (options.regions) PrintRegions(program);
}

void PrintJson(const Options& options, const std::string& format, const Program& program) {
  Json all = {{"format", format},
              {"bytecode_version", program.bytecode_version},
              {"program", Overview(program)}};
  if (options.bytecode) all["bytecode"] = Bytecode(program);
  if (options.kernels) all["kernels"] = Kernels(program);
  if (options.memory) all["memory"] = Memory(program);
  if (options.constants) all["constants"] = Constants(program);
  if (options.regions) all["regions"] = Regions(program);
  // Names may be any bytes; JSON must be UTF-8.
  fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

struct Opened {
  std::string format;  // "1.2": the least that a runtime has to read
  Program program;
};

Result<Opened> Open(const Options& options) {
  const std::string path = tools::InputPath(options.path);
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> file, FileMapping::Open(path));
  RELAYVM_ASSIGN_OR_RETURN(Program program, ReadProgram(file, {.target = options.target}));
  FileHeader header;  // which the reader has checked
  std::memcpy(&header, file->bytes().data(), sizeof(header));
  Opened opened = {fmt::format("{}.{}", header.major, header.minor), std::move(program)};
  if (!options.check) return opened;
  if (Status s = CheckSegments(file->bytes()); !s.ok()) return s.WithContext(path);
  return opened;
}

constexpr const char* kParts = "What to show";

constexpr tools::OptionForm kForms[] = {
    {"--bytecode", kParts},  {"--kernels", kParts}, {"--memory", kParts},
    {"--constants", kParts}, {"--regions", kParts}, {"--data", kParts},
    {"--json", kParts},      {"--check", "Input"},  {"--target", "Input", "PROCESSOR"},
};

constexpr const char* kExamples =
    "Exit status: 0 done, 1 wrong usage, 2 bad input.\n\n"
    "Examples:\n"
    "  vmdump model.vmx\n"
    "  vmdump model.vmx --memory\n"
    "  vmdump model.vmx --bytecode --data | vmasm - -o same.vmx";

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Shows what is in a compiled program.", "vmdump");
  app.add_option("MODEL", options.path, "the .vmx file; - for standard input")->required();
  app.add_flag("--bytecode", options.bytecode, "the tables and the code of all functions");
  app.add_flag("--kernels", options.kernels, "kernels and their images");
  app.add_flag(
      "--memory", options.memory,
      "each function's memory, alone and with what it calls, as formulas over its symbols");
  app.add_flag("--constants", options.constants, "the constants' names and types");
  app.add_flag("--regions", options.regions,
               "the regions that other engines run, with the JSON that these get");
  app.add_flag("--data", options.data,
               "with --bytecode: the bytes of constants and kernels too, so that vmasm needs no "
               "other file to take them from");
  app.add_flag("--check", options.check,
               "compare the checksums of the weights too: reads all of them");
  app.add_option("--target", options.target,
                 "of a file for several processors or engines, the one to show: x86-64-v3, "
                 "\"x86-64-v3 + dnnl\" (default: the best that this machine is, without engines)");
  app.add_flag("--json", options.json, "one JSON value instead of text");
  tools::ShowOptions(app, kForms);
  app.footer(kExamples);
  if (auto done = tools::ParseCommandLine(app, {argv + 1, argv + argc})) return *done;
  Result<Opened> opened = Open(options);
  if (!opened.ok()) {
    fmt::print(stderr, "vmdump: {}\n", PrintableLines(opened.status().message()));
    return 2;
  }
  if (options.json) {
    PrintJson(options, opened->format, opened->program);
  } else {
    PrintText(options, opened->format, opened->program);
  }
  return 0;
}

}  // namespace
}  // namespace relayvm

int RELAYVM_MAIN(int argc, char** argv) {
  return relayvm::tools::GuardedMain("vmdump", [&] { return relayvm::Main(argc, argv); });
}

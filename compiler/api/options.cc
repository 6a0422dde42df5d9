#include "compiler/api/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "bytecode/base/string_table.h"
#include "bytecode/base/suggestion.h"
#include "compiler/api/time_forms.h"
#include "compiler/frontend/params.h"
#include "compiler/pass_plugin.h"
#include "compiler/rules/rule_pass.h"
#include "kernels/op/weight_forms.h"

namespace relayvm {
namespace {

Status Wrong(std::string why) { return {StatusCode::kInvalidArgument, std::move(why)}; }

// --- CompilerOptions::Set ---

struct Pair {
  std::string name, value;
};

// NAME=VALUE; `example` is one. `equals` is where the = is: names of imported models may hold
// others.
Result<Pair> ReadPair(std::string_view option, std::string_view text, std::string_view example,
                      size_t equals) {
  if (equals == std::string_view::npos || equals == 0)
    return Wrong(fmt::format("--{} {}: write {}", option, text, example));
  return Pair{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

// The last one that is not of a <=.
size_t LastEquals(std::string_view text) {
  size_t at = text.rfind('=');
  while (at != std::string_view::npos && at > 0 && text[at - 1] == '<')
    at = text.rfind('=', at - 1);
  return at;
}

Status ReadFlag(std::string_view option, std::string_view text, bool* flag) {
  if (text != "true" && text != "false" && !text.empty())
    return Wrong(fmt::format("--{} {}: expected true or false", option, text));
  *flag = text != "false";
  return OkStatus();
}

template <typename T>
bool ReadNumber(std::string_view text, T least, T most, T* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number >= least &&
         *number <= most;
}

struct Setter {
  std::string_view name;
  Status (*set)(std::string_view option, std::string_view value, CompilerOptions* options);
};

template <std::string CompilerOptions::* kField>
Status SetText(std::string_view /*option*/, std::string_view value, CompilerOptions* o) {
  o->*kField = value;
  return OkStatus();
}
template <std::vector<std::string> CompilerOptions::* kField>
Status AddText(std::string_view /*option*/, std::string_view value, CompilerOptions* o) {
  (o->*kField).emplace_back(value);
  return OkStatus();
}
template <bool CompilerOptions::* kField>
Status SetFlag(std::string_view option, std::string_view value, CompilerOptions* o) {
  return ReadFlag(option, value, &(o->*kField));
}

Status AddTargets(std::string_view /*option*/, std::string_view value, CompilerOptions* o) {
  while (true) {
    const size_t comma = value.find(',');
    o->targets.emplace_back(value.substr(0, comma));
    if (comma == std::string_view::npos) return OkStatus();
    value.remove_prefix(comma + 1);
  }
}
Status SetLevel(std::string_view option, std::string_view value, CompilerOptions* o) {
  if (ReadNumber(value, 0, 3, &o->opt_level)) return OkStatus();
  return Wrong(fmt::format("-{} {}: expected 0 to 3", option, value));
}
Status SetCache(std::string_view /*option*/, std::string_view value, CompilerOptions* o) {
  o->cache = value == "true" ? "auto" : value == "false" ? "off" : value;
  return OkStatus();
}
Status SetThreads(std::string_view option, std::string_view value, CompilerOptions* o) {
  if (ReadNumber<uint32_t>(value, 0, 1024, &o->num_threads)) return OkStatus();
  return Wrong(fmt::format("{} {}: expected 0 to 1024", option, value));
}
Status AddShape(std::string_view option, std::string_view value, CompilerOptions* o) {
  RELAYVM_ASSIGN_OR_RETURN(
      const Pair pair,
      ReadPair(option, value, "NAME=1x?x300, NAME=(n, ?, 300) or NAME=(n, 3):int64",
               LastEquals(value)));
  o->shapes[pair.name] = pair.value;
  return OkStatus();
}
Status AddDim(std::string_view option, std::string_view value, CompilerOptions* o) {
  auto pair = ReadPair(option, value, "NAME=8", LastEquals(value));
  int64_t number = 0;
  if (!pair.ok() || !ReadNumber<int64_t>(pair->value, 0, INT64_MAX, &number))
    return Wrong(fmt::format("--{} {}: write NAME=8", option, value));
  o->dims[pair->name] = number;
  return OkStatus();
}
Status AddScheduleFor(std::string_view option, std::string_view value, CompilerOptions* o) {
  RELAYVM_ASSIGN_OR_RETURN(const Pair pair,
                           ReadPair(option, value, "KERNEL=tile=8x32", value.find('=')));
  o->schedule_for[pair.name] = pair.value;
  return OkStatus();
}

using O = CompilerOptions;
constexpr Setter kSetters[] = {
    {"O", SetLevel},
    {"batching", SetFlag<&O::batching>},
    {"cache", SetCache},
    {"dim", AddDim},
    {"disable-pass", AddText<&O::disabled_passes>},
    {"entry", SetText<&O::entry>},
    {"executor", SetText<&O::executor>},
    {"input-name", AddText<&O::input_names>},
    {"load-pass", AddText<&O::pass_libraries>},
    {"output-node", AddText<&O::outputs>},
    {"overridable", AddText<&O::overridable>},
    {"params", SetText<&O::params_file>},
    {"pass", AddText<&O::passes>},
    {"plugin", AddText<&O::plugins>},
    {"print-ir-after", SetText<&O::print_ir_after>},
    {"rules", AddText<&O::rules>},
    {"schedule-for", AddScheduleFor},
    {"schedules", AddText<&O::schedules>},
    {"shape", AddShape},
    {"signature", SetText<&O::signature>},
    {"target", AddTargets},
    {"threads", SetThreads},
    {"verify-ir", SetFlag<&O::verify_ir>},
};

// The names of all, in order.
std::vector<std::string_view> NamesWith(const std::vector<DeclaredOption>& of_passes) {
  std::vector<std::string_view> names;
  for (const Setter& s : kSetters) names.push_back(s.name);
  for (const DeclaredOption& d : of_passes) names.push_back(d.option->name);
  std::ranges::sort(names);
  return names;
}

// An option of a library's pass that is another one already.
Status CheckNewOptions(const Pass& pass, const std::vector<Pass>& loaded) {
  const std::vector<DeclaredOption> there = PassOptions(loaded);
  for (const PassOption* option : pass.options) {
    const auto known =
        std::ranges::find(there, option->name, [](auto& d) { return d.option->name; });
    const bool is_setter =
        std::ranges::find(kSetters, option->name, &Setter::name) != std::end(kSetters);
    if (is_setter || (known != there.end() && known->option != option))
      return Wrong(fmt::format("pass {}: there is an option {} already", pass.name, option->name));
  }
  return OkStatus();
}

// --- ReadCompilerOptions ---

Status ReadTargets(const CompilerOptions& o, CompileOptions* options) {
  std::vector<Machine> machines;
  for (const std::string& target : o.targets) {
    auto machine = MachineFor(target);
    if (machine.status().code() == StatusCode::kInvalidArgument)
      return Wrong(fmt::format("--{}", machine.status().message()));
    if (!machine.ok()) return machine.status();
    machines.push_back(*machine);
  }
  if (machines.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(machines.emplace_back(), MachineFor("native"));
  }
  options->kernels.machine = options->pipeline.machine = machines[0];
  options->more_machines.assign(machines.begin() + 1, machines.end());
  return OkStatus();
}

Status ReadPasses(const CompilerOptions& o, PipelineOptions* pipeline) {
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Pass> loaded, LoadPasses(o.pass_libraries));
  for (const std::string& text : o.passes) {
    const size_t at = text.find('@');
    const std::string name = text.substr(0, at);
    if (at == std::string::npos || at == 0) {
      return Wrong(fmt::format("--pass {}: expected NAME@PLACE, such as {}@after:FoldConstants",
                               text, name.empty() ? "MyPass" : name));
    }
    const auto pass = std::ranges::find(loaded, name, &Pass::name);
    if (pass == loaded.end()) {
      std::vector<std::string_view> names;
      for (const Pass& p : loaded) names.push_back(p.name);
      return Wrong(fmt::format("--pass {}: no loaded library has a pass {}; {}", text, name,
                               names.empty()
                                   ? "load one with --load-pass"
                                   : fmt::format("there are {}", fmt::join(names, ", "))));
    }
    pipeline->passes.push_back({*pass, text.substr(at + 1)});
  }
  // Of a pass that is loaded and does not run.
  for (const DeclaredOption& d : PassOptions(loaded)) {
    const bool runs = std::ranges::any_of(d.passes, [&](const std::string& name) {
      const auto is_it = [&](const Pass& p) { return p.name == name; };
      return std::ranges::none_of(loaded, is_it) ||
             std::ranges::any_of(pipeline->passes, is_it, &InsertedPass::pass);
    });
    if (runs || !o.pass_options.contains(d.option->name)) continue;
    return Wrong(fmt::format("--{}: nothing reads it; run a pass that does: --pass {}@PLACE",
                             d.option->name, d.passes[0]));
  }
  return OkStatus();
}

Status ReadRuleFiles(const CompilerOptions& o, CompileOptions* options) {
  if (o.rules.empty()) return OkStatus();
  std::vector<std::shared_ptr<const rules::RuleSet>> sets;
  std::string content;
  for (const std::string& path : o.rules) {
    auto set = rules::ReadRuleFile(path, options->operators, &content);
    if (!set.ok()) return set.status().WithContext("--rules");
    sets.push_back(*std::move(set));
  }
  // The program as it was written: constants are bound, functions inlined.
  options->pipeline.passes.push_back(
      {rules::RewritePass(rules::Join(sets)), "before:SimplifyInference", std::move(content)});
  return OkStatus();
}

// The tensor's memory, which the copy of the value keeps.
Result<HostTensor> TensorOf(const std::string& name, const Value& value) {
  if (!value.is_tensor()) return Wrong(fmt::format("parameter {}: expected a tensor", name));
  HostTensor tensor;
  tensor.dtype = value.dtype();
  tensor.shape.assign(value.dims().begin(), value.dims().end());
  if (tensor.dtype == DType::kString) {
    std::vector<std::string_view> texts(static_cast<size_t>(value.num_elements()));
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = value.text(static_cast<int64_t>(i));
    tensor.data = PackStrings(texts);
    return tensor;
  }
  const auto bytes = static_cast<size_t>(tensor.size()) * DTypeBytes(tensor.dtype);
  tensor.data = SharedBytes({static_cast<const std::byte*>(value.data()), bytes},
                            std::make_shared<const Value>(value));
  return tensor;
}

Status ReadTensors(const CompilerOptions& o, CompileOptions* options) {
  options->params_file = o.params_file;
  options->params_content = o.params_content;
  if (o.params_content && !o.params_file.empty())
    return Wrong("--params: there are a file and bytes in memory");
  for (const auto& [name, value] : o.params) {
    RELAYVM_ASSIGN_OR_RETURN(HostTensor tensor, TensorOf(name, value));
    if (!options->params.emplace(name, std::move(tensor)).second)
      return Wrong(fmt::format("parameter {} is given twice", name));
  }
  return OkStatus();
}

}  // namespace

Status CompilerOptions::Set(std::string_view name, std::string_view value) {
  const auto* setter = std::ranges::find(kSetters, name, &Setter::name);
  if (setter != std::end(kSetters)) return setter->set(name, value, this);
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Pass> loaded, LoadPasses(pass_libraries));
  const std::vector<DeclaredOption> of_passes = PassOptions(loaded);
  const auto found = std::ranges::find(of_passes, name, [](auto& d) { return d.option->name; });
  if (found != of_passes.end()) {
    RELAYVM_RETURN_IF_ERROR(CheckPassOption(*found->option, value));
    std::vector<std::string>& given = pass_options[found->option->name];
    if (!found->option->repeats) given.clear();
    given.emplace_back(value);
    return OkStatus();
  }
  const std::vector<std::string_view> names = NamesWith(of_passes);
  const std::string meant = DidYouMean(name, names);
  return Wrong(fmt::format("there is no option {}{} there are {}", name,
                           meant.empty() ? ";" : meant, fmt::join(names, ", ")));
}

std::vector<std::string_view> CompilerOptions::Names() { return NamesWith(PassOptions()); }

Result<std::vector<Pass>> LoadPasses(const std::vector<std::string>& libraries) {
  std::vector<Pass> loaded;
  for (const std::string& library : libraries) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Pass> found, LoadPassPlugin(library));
    for (Pass& pass : found) {
      if (std::ranges::find(loaded, pass.name, &Pass::name) != loaded.end())
        return Wrong(fmt::format("--load-pass {}: there is a pass {} already", library, pass.name));
      if (Status s = CheckNewOptions(pass, loaded); !s.ok())
        return s.WithContext("--load-pass " + library);
      loaded.push_back(std::move(pass));
    }
  }
  return loaded;
}

namespace {

// Null: none.
Result<std::shared_ptr<ObjectCache>> OpenCache(const std::string& cache) {
  const std::string folder = cache == "off"    ? ""
                             : cache == "auto" ? ObjectCache::DefaultFolder()
                                               : cache;
  if (folder.empty()) return std::shared_ptr<ObjectCache>();
  auto opened = ObjectCache::Open(folder);
  if (!opened.ok() && cache == "auto") return std::shared_ptr<ObjectCache>();
  return opened;
}

}  // namespace

Result<CompileOptions> ReadCompilerOptions(const CompilerOptions& o) {
  CompileOptions options;
  options.time_forms = TimeForms;
  if (o.opt_level < 0 || o.opt_level > 3)
    return Wrong(fmt::format("opt_level {}: expected 0 to 3", o.opt_level));
  PipelineOptions& pipeline = options.pipeline;
  pipeline.opt_level = o.opt_level;
  if (o.opt_level == 0) {
    options.kernels.opt_level = 0;
    options.kernels.quick = true;
  }
  pipeline.options = o.pass_options;
  options.kernels.batching = o.batching;
  if (o.executor != "vm" && o.executor != "graph")
    return Wrong(fmt::format("--executor {}: expected vm or graph", o.executor));
  options.for_graph = o.executor == "graph";
  pipeline.disabled = o.disabled_passes;
  pipeline.verify = pipeline.verify || o.verify_ir;
  pipeline.print_ir_after = o.print_ir_after;
  pipeline.print = o.on_text;
  options.kernels.num_threads = o.num_threads;
  RELAYVM_ASSIGN_OR_RETURN(options.kernels.cache, OpenCache(o.cache));
  options.entry = o.entry;
  options.shapes = o.shapes;
  options.signature = o.signature;
  options.outputs = o.outputs;
  options.input_names = o.input_names;
  for (const auto& [name, value] : o.dims) {
    if (value < 0) return Wrong(fmt::format("--dim {}={}: expected 0 or more", name, value));
  }
  options.dims = o.dims;
  if (!o.overridable.empty()) options.overridable = o.overridable;
  for (const std::string& path : o.plugins) {
    if (Status s = options.operators.Add(path); !s.ok()) return s.WithContext("--plugin");
  }
  for (const auto& [kernel, schedule] : o.schedule_for) {
    RELAYVM_ASSIGN_OR_RETURN(options.kernels.schedules[kernel], ParseTileSchedule(schedule));
  }
  for (const std::string& path : o.schedules) {
    RELAYVM_ASSIGN_OR_RETURN(auto records, tuner::ReadScheduleLog(path));
    std::ranges::move(records, std::back_inserter(options.schedules));
  }
  RELAYVM_RETURN_IF_ERROR(ReadTargets(o, &options));
  RELAYVM_RETURN_IF_ERROR(ReadPasses(o, &pipeline));
  RELAYVM_RETURN_IF_ERROR(CheckPassOptions(pipeline));
  RELAYVM_RETURN_IF_ERROR(ReadRuleFiles(o, &options));
  RELAYVM_RETURN_IF_ERROR(ReadTensors(o, &options));
  return options;
}

}  // namespace relayvm

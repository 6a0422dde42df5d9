#include "compiler/driver.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "bytecode/base/check_stop.h"
#include "bytecode/base/file_mapping.h"
#include "compiler/compile_cache.h"
#include "compiler/frontend/params.h"
#include "compiler/graph/check_static.h"
#include "compiler/import/importers.h"
#include "compiler/ir/shape_text.h"
#include "compiler/ir/signature_attrs.h"
#include "compiler/ir/stop_scope.h"
#include "compiler/ir/walk.h"
#include "compiler/lowering/lower.h"
#include "compiler/regions/region_options.h"
#include "compiler/transforms/layouts/convert_layout.h"
#include "compiler/transforms/loops/name_states.h"
#include "compiler/transforms/products/pack_weights.h"

namespace relayvm {
namespace {

constexpr std::string_view kStandardInput = "-";

Result<SharedBytes> ReadContent(const std::string& input, const CompileOptions& options,
                                import::InputFiles& files) {
  if (options.content) return *options.content;
  RELAYVM_ASSIGN_OR_RETURN(auto file, files.Open(input == kStandardInput ? "/dev/stdin" : input));
  return SharedBytes::OfFile(std::move(file));
}

// A module, and what is to be bound to it still: its importer may have done so.
struct ReadResult {
  ir::Module module;
  frontend::Params params;
  bool takes_shapes;
};

Result<frontend::Params> ReadAllParams(const CompileOptions& options, import::InputFiles& files) {
  frontend::Params params = options.params;
  if (options.params_file.empty() && !options.params_content) return params;
  const std::string name =
      options.params_file.empty() ? std::string("<parameters>") : options.params_file;
  SharedBytes content;
  if (options.params_content) {
    content = *options.params_content;
  } else {
    RELAYVM_ASSIGN_OR_RETURN(auto file, files.Open(name));
    content = SharedBytes::OfFile(std::move(file));
  }
  RELAYVM_ASSIGN_OR_RETURN(frontend::Params more, frontend::ReadParams(name, content));
  params.merge(more);
  if (more.empty()) return params;
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{}parameter {} is given twice",
                            options.params_file.empty() ? "" : name + ": ", more.begin()->first));
}

Result<ReadResult> ReadModule(const std::string& given, const CompileOptions& options,
                              const std::shared_ptr<import::InputFiles>& files) {
  std::string input = given;
  if (!options.content) {
    RELAYVM_ASSIGN_OR_RETURN(input, import::ModelFileOf(given, *files));
  }
  RELAYVM_ASSIGN_OR_RETURN(SharedBytes content, ReadContent(input, options, *files));
  const std::string_view start(reinterpret_cast<const char*>(content.data()), content.size());
  import::ImportOptions import{options.dims, options.shapes, options.overridable, options.operators,
                               options.warn, options.stop,   options.signature,   options.outputs};
  import.user_operators = options.user_operators;
  import.files = files;
  // A graph has no branches.
  if (options.for_graph && !import.overridable) import.overridable.emplace();
  const import::Importer& importer = import::ImporterOf(input, start);
  frontend::Params params;
  if (importer.reads_params) {
    import.params_file = options.params_file;
    import.params_content = options.params_content;
    import.params = options.params;
  } else {
    RELAYVM_ASSIGN_OR_RETURN(params, ReadAllParams(options, *files));
  }
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module, importer.import(input, std::move(content), import));
  return ReadResult{std::move(module), std::move(params), importer.takes_shapes};
}

// The dims that --shape names, over all parameters: those that the program has names for already,
// and new ones.
class NamedDims {
 public:
  explicit NamedDims(const ir::Module& module) : module_(module) {
    for (const ir::Var* p : module.functions.at(module.entry)->params) {
      if (p->type == nullptr) continue;
      ir::ForEachDim(p->type, [&](const Dim& d) {
        d.ForEachSymbol([&](const Dim& s) { dims_.emplace(s.symbol_name(), s); });
      });
    }
  }
  Dim Of(const std::string& name) {
    auto [at, inserted] = dims_.try_emplace(name);
    if (inserted) at->second = Dim::Symbol(module_.ids->Next(), name);
    return at->second;
  }

 private:
  const ir::Module& module_;
  std::map<std::string, Dim> dims_;
};

// What --shape says, over a declared type: `?` keeps what is declared, a number or a name replaces
// `?` and names.
Result<ir::Type> BindShape(const ir::Type& declared, const std::string& name,
                           const std::string& text, NamedDims& named) {
  auto fail = [&](const std::string& why) {
    return Status(StatusCode::kInvalidArgument, fmt::format("--shape {}={}: {}", name, text, why));
  };
  // Of what a list or an optional value holds.
  const auto* holder = declared == nullptr ? nullptr : declared->As<ir::AdtType>();
  if (holder != nullptr && holder->args.size() == 1) {
    RELAYVM_ASSIGN_OR_RETURN(ir::Type held, BindShape(holder->args[0], name, text, named));
    return ir::MakeType(ir::AdtType{holder->name, {std::move(held)}});
  }
  const auto* tensor = declared == nullptr ? nullptr : declared->As<TensorType>();
  if (tensor == nullptr) return fail("the parameter is not a tensor with a declared type");
  const auto parts = ir::ParseShapeText(text);
  if (!parts.ok()) return fail(parts.status().message());
  if (parts->size() != tensor->shape.size())
    return fail(fmt::format("the parameter has {} dimensions", tensor->shape.size()));
  std::vector<Dim> dims = tensor->shape;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const ir::DimText& part = (*parts)[axis];
    if (!part.size && part.name.empty()) continue;
    if (dims[axis].is_const() && dims[axis].value() != part.size)
      return fail(fmt::format("dimension {} is declared as {}", axis, dims[axis].value()));
    dims[axis] = part.size ? Dim(*part.size) : named.Of(part.name);
  }
  return ir::MakeTensorType(std::move(dims), tensor->dtype);
}

// The entry with other names of its first parameters.
Result<ir::Module> RenameInputs(ir::Module module, const std::vector<std::string>& names) {
  if (names.empty()) return module;
  ir::Function copy = *module.functions.at(module.entry);
  if (names.size() > copy.params.size()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--input-name: there are {} names, and {} inputs", names.size(),
                              copy.params.size()));
  }
  // Their uses refer to them by pointer: each becomes a let of the new one.
  ir::Block body;
  for (size_t i = 0; i < names.size(); ++i) {
    const ir::Var* old = copy.params[i];
    copy.params[i] = ir::MakeVar(module, names[i], old->type, old->span);
    body.bindings.push_back({old, ir::MakeExpr(module, ir::AtomExpr{copy.params[i]}, old->span)});
  }
  body.bindings.insert(body.bindings.end(), copy.body->bindings.begin(), copy.body->bindings.end());
  body.result = copy.body->result;
  copy.body = module.arena->New<ir::Block>(std::move(body));
  module.functions[module.entry] = module.arena->New<ir::Function>(std::move(copy));
  return module;
}

Result<ir::Module> BindShapes(ir::Module module, const std::map<std::string, std::string>& shapes) {
  if (shapes.empty()) return module;
  const ir::Function& main = *module.functions.at(module.entry);
  ir::Function copy = main;
  NamedDims named(module);
  for (const auto& [name, text] : shapes) {
    bool found = false;
    for (const ir::Var*& p : copy.params) {
      if (p->name != name) continue;
      found = true;
      RELAYVM_ASSIGN_OR_RETURN(ir::Type type, BindShape(p->type, name, text, named));
      // The same variable with a sharper type: its uses refer to it by pointer, so it is replaced
      // by a let at the start.
      const ir::Var* param = ir::MakeVar(module, p->name, std::move(type), p->span);
      ir::Block body;
      body.bindings.push_back({p, ir::MakeExpr(module, ir::AtomExpr{param}, p->span)});
      body.bindings.insert(body.bindings.end(), copy.body->bindings.begin(),
                           copy.body->bindings.end());
      body.result = copy.body->result;
      copy.body = module.arena->New<ir::Block>(std::move(body));
      p = param;
    }
    if (!found) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("--shape {}={}: @{} has no parameter of that name", name, text,
                                module.entry));
    }
  }
  module.functions[module.entry] = module.arena->New<ir::Function>(std::move(copy));
  return module;
}

// What `?<=N` says of the symbols of the entry's parameters.
lower::SymbolBounds DimBounds(const ir::Module& module,
                              const std::map<std::string, std::string>& shapes) {
  lower::SymbolBounds bounds;
  const auto& params = module.functions.at(module.entry)->params;
  for (size_t i = 0; i < params.size(); ++i) {
    const ir::Var* p = params[i];
    auto text = shapes.find(p->name);
    if (text == shapes.end()) text = shapes.find(std::to_string(i));
    const auto* tensor = p->type->As<TensorType>();
    if (text == shapes.end() || tensor == nullptr) continue;
    const auto parts = ir::ParseShapeText(text->second.substr(0, text->second.find(':')));
    if (!parts.ok()) continue;
    for (size_t axis = 0; axis < std::min(tensor->shape.size(), parts->size()); ++axis) {
      const auto& bound = (*parts)[axis].bound;
      const Dim& d = tensor->shape[axis];
      if (!bound || !d.is_symbol()) continue;
      auto [at, inserted] = bounds.try_emplace(d.symbol_id(), *bound);
      if (!inserted) at->second = std::min(at->second, *bound);
    }
  }
  return bounds;
}

}  // namespace

Result<ir::Module> LoadModule(const std::string& input, const CompileOptions& options,
                              const std::shared_ptr<import::InputFiles>& files) {
  RELAYVM_RETURN_IF_ERROR(CheckStop(options.stop));
  RELAYVM_ASSIGN_OR_RETURN(ReadResult read, ir::Stoppable(options.stop, [&] {
                             return ReadModule(input, options, files);
                           }));
  ir::Module module = std::move(read.module);
  module.entry = options.entry;
  if (!module.functions.contains(module.entry)) {
    return Status(StatusCode::kNotFound,
                  fmt::format("{}: there is no function @{}; name the one to compile with --entry",
                              input, module.entry));
  }
  if (!read.params.empty()) {
    auto bound = frontend::BindParams(module, read.params);
    // What has no place in the program is about the file.
    if (!bound.ok() && bound.status().detail() == nullptr && !options.params_file.empty())
      return bound.status().WithContext(options.params_file);
    RELAYVM_ASSIGN_OR_RETURN(module, std::move(bound));
  }
  if (!read.takes_shapes) {
    RELAYVM_ASSIGN_OR_RETURN(module, BindShapes(std::move(module), options.shapes));
  }
  return RenameInputs(std::move(module), options.input_names);
}

namespace {

// The machines of the file, the least first, each once. Among several, this one is its level.
std::vector<Machine> MachinesOf(const CompileOptions& options) {
  std::vector<Machine> machines = options.more_machines;
  machines.push_back(options.kernels.machine);
  if (machines.size() == 1) return machines;
  for (Machine& m : machines) {
    if (m.is_native()) m = MachineNamed(m.level);
  }
  const auto rank = [](const Machine& m) {
    return std::tuple(m.level, m.target != m.level, m.target);  // x86-64-v2 is before x86-64-v3
  };
  std::ranges::sort(machines, {}, rank);
  const auto rest = std::ranges::unique(machines, {}, &Machine::target);
  machines.erase(rest.begin(), rest.end());
  return machines;
}

std::vector<std::vector<Dim>> ParameterShapes(const ir::Module& module) {
  std::vector<std::vector<Dim>> shapes;
  for (const ir::Var* p : module.functions.at(module.entry)->params) {
    if (const auto* tensor = p->type->As<TensorType>()) shapes.push_back(tensor->shape);
  }
  return shapes;
}

void AddTimes(const KernelTimes& t, double milliseconds, std::vector<PassTiming>* timings) {
  if (timings == nullptr) return;
  timings->push_back({"lowering to bytecode and kernels", milliseconds});
  timings->push_back({"kernels to LLVM", t.emission, true});
  timings->push_back({"LLVM: optimisation", t.optimisation, true});
  timings->push_back({"LLVM: code generation", t.code_generation, true});
  timings->push_back({"LLVM: linking", t.linking, true});
  constexpr size_t kMostKernels = 10;
  std::vector<KernelTime> kernels = t.kernels;
  std::ranges::stable_sort(kernels, std::greater(), &KernelTime::milliseconds);
  kernels.resize(std::min(kernels.size(), kMostKernels));
  for (const KernelTime& k : kernels) {
    timings->push_back({fmt::format("LLVM: {}: {} lines, -O{}", k.name, k.lines, k.opt_level),
                        k.milliseconds, true});
  }
  if (t.found > 0) {
    timings->push_back(
        {fmt::format("LLVM: {} of {} objects were there already", t.found, t.objects), 0, true});
  }
}

// What cannot be made, or not together.
Status CheckTargets(const CompileOptions& options, const ir::Module& module,
                    const std::vector<Machine>& machines, const lower::Placement& placement) {
  // Their text is for people alone.
  const bool is_text = options.kernels.keep_llvm_ir || options.kernels.keep_assembly;
  for (const Machine& m : machines) {
    if (const std::string_view why = WhyNoPrograms(m); !why.empty() && !is_text)
      return Status(StatusCode::kUnsupported, fmt::format("--target {}: {}", m.target, why));
  }
  if (options.for_graph && machines.size() > 1)
    return Status(StatusCode::kInvalidArgument, "--executor graph: expected one --target");
  const bool keeps = !ir::StateOption().In(options.pipeline.options).empty() ||
                     !ir::StatesOf(*module.functions.at(module.entry)).empty();
  if (options.for_graph && keeps) {
    return {StatusCode::kUnsupported,
            "--state, or a model with variables: --executor graph keeps nothing between runs; the "
            "VM does"};
  }
  const char* const what = placement.device.empty()   ? nullptr
                           : options.for_graph        ? "--executor graph has no devices"
                           : options.kernels.batching ? "--batching is for the host's kernels"
                           : machines.size() > 1      ? "expected one --target"
                           : !regions::ByocOption().In(options.pipeline.options).empty()
                               ? "--byoc is for the host's programs"
                               : nullptr;
  if (what == nullptr) return OkStatus();
  return Status(StatusCode::kUnsupported, fmt::format("--device {}: {}", placement.device, what));
}

// The program for one machine, whose kernels are tuned first if that is asked for.
Result<lower::LoweredProgram> CompileFor(const Machine& machine, const ir::Module& module,
                                         const CompileOptions& options,
                                         const lower::Placement& placement, Compiled* compiled) {
  auto start = std::chrono::steady_clock::now();
  KernelOptions kernels = options.kernels;
  kernels.machine = machine;
  kernels.stop = options.stop;
  kernels.by_share = true;
  kernels.time_kernels = options.pipeline.timings != nullptr;
  kernels.exact = ir::ExactOption().In(options.pipeline.options) || options.pipeline.opt_level == 0;
  tuner::ScheduleBook book(options.schedules, kernels, options.warn);
  const tuner::SampleSizes samples = tuner::DefaultSampleSizes(ParameterShapes(module));
  if (options.tune.budget.count() > 0) {
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<KernelSpec> specs, ir::Stoppable(options.stop, [&] {
                               return lower::KernelsOf(module, kernels);
                             }));
    RELAYVM_ASSIGN_OR_RETURN(compiled->tuning,
                             tuner::Tune(specs, samples, kernels, options.tune, &book));
    start = std::chrono::steady_clock::now();
  }
  // Nobody tunes quick kernels.
  const bool counts_poor = options.count_poor_kernels && !kernels.quick;
  std::vector<KernelSpec> specs;
  kernels.schedule_for = [&](const KernelSpec& spec) {
    if (counts_poor) specs.push_back(spec);
    return book.ScheduleFor(spec);
  };
  RELAYVM_ASSIGN_OR_RETURN(lower::LoweredProgram lowered, ir::Stoppable(options.stop, [&] {
                             return lower::LowerModule(module, kernels,
                                                       {.bounds = DimBounds(module, options.shapes),
                                                        .scalars_in_memory = options.for_graph,
                                                        .placement = placement});
                           }));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  AddTimes(lowered.kernel_times, took.count(), options.pipeline.timings);
  if (counts_poor) compiled->poor_kernels = tuner::CountPoorKernels(specs, samples, kernels, book);
  return lowered;
}

// Where kernels use nothing of what a processor has more than its level, that is there already:
// with the same engines.
void AddProgram(Program program, Compiled& compiled) {
  const auto needs = [](const Program& p) {
    return std::pair(p.images.empty() ? std::string() : p.images[0].cpu_features,
                     p.regions.empty());
  };
  const auto is_same = [&](const Program& p) { return needs(p) == needs(program); };
  if (is_same(compiled.program) || std::ranges::any_of(compiled.others, is_same)) return;
  compiled.others.push_back(std::move(program));
}

uint64_t CountOperators(const ir::Block& block) {
  uint64_t count = 0;
  ir::ForEachBinding(block, [&](const ir::Binding& b) {
    if (b.value->As<ir::OpCall>() != nullptr) ++count;
    if (const auto* primitive = b.value->As<ir::PrimitiveCall>())
      count += CountOperators(*primitive->function->body);
  });
  return count;
}

// Compiles a program whose regions are functions, both ways, for this machine alone.
std::shared_ptr<const regions::RegionMeasure> MeasureOf(
    const CompileOptions& options, const std::shared_ptr<regions::RuleFiles>& rule_files) {
  auto measure = std::make_shared<regions::RegionMeasure>();
  measure->samples = options.tune.samples;
  measure->time = [&options, rule_files](const ir::Module& m,
                                         const std::vector<regions::ShapeSample>& samples)
      -> Result<std::vector<regions::RegionTime>> {
    RELAYVM_RETURN_IF_ERROR(tuner::CheckMachine(options.kernels));
    CompileOptions alone;
    alone.operators = options.operators;
    alone.kernels = options.kernels;
    alone.stop = options.stop;
    alone.pipeline.opt_level = options.pipeline.opt_level;
    alone.pipeline.machine = options.pipeline.machine;
    alone.pipeline.options = options.pipeline.options;
    alone.pipeline.rule_files = rule_files;
    for (const PassOption* option :
         {&ir::StateOption().row(), &lower::DeviceOption().row(), &regions::ExplainOption().row(),
          &regions::ByocOption().row(), &regions::ByocOnlyOption().row()})
      alone.pipeline.options.erase(option->name);
    std::vector<std::string>& engines =
        alone.pipeline.options[regions::ByocRegionsOption().row().name];
    RELAYVM_ASSIGN_OR_RETURN(const auto known,
                             regions::EnginesOf(options.pipeline.options, *rule_files));
    engines.clear();
    for (const regions::EnginePattern& engine : known) engines.push_back(engine.engine);
    RELAYVM_ASSIGN_OR_RETURN(const Compiled compiled, CompileModule(m, alone));
    if (compiled.others.size() != 1)
      return Status(StatusCode::kInternal, "a program of regions did not get two forms");
    return options.time_forms(compiled.program, compiled.others[0], samples);
  };
  return measure;
}

}  // namespace

Result<Compiled> CompileModule(ir::Module module, const CompileOptions& options) {
  const std::vector<Machine> machines = MachinesOf(options);
  const lower::Placement placement = lower::PlacementOf(options.pipeline.options);
  RELAYVM_RETURN_IF_ERROR(CheckTargets(options, module, machines, placement));
  PipelineOptions pipeline = options.pipeline;
  pipeline.stop = options.stop;
  pipeline.cache = options.kernels.cache;
  if (pipeline.rule_files == nullptr) pipeline.rule_files = std::make_shared<regions::RuleFiles>();
  if (options.time_forms) pipeline.measure = MeasureOf(options, pipeline.rule_files);
  RELAYVM_ASSIGN_OR_RETURN(Pipelined ready, RunPipelines(std::move(module), pipeline, machines));
  if (options.for_graph) RELAYVM_RETURN_IF_ERROR(graph::CheckStatic(ready.native[0]));
  Compiled compiled;
  const bool has_regions = !ready.with_regions.empty();
  const bool only = has_regions && regions::ByocOnlyOption().In(pipeline.options);
  bool is_first = true;
  CompileOptions each = options;
  for (size_t i = 0; i < machines.size(); ++i) {
    std::vector<const ir::Module*> twins;  // for one processor, the native one first
    if (!only) twins.push_back(&ready.native[i]);
    if (has_regions) twins.push_back(&ready.with_regions[i]);
    bool depends_on_machine = false;
    for (const ir::Module* twin : twins) {
      RELAYVM_ASSIGN_OR_RETURN(lower::LoweredProgram lowered,
                               CompileFor(machines[i], *twin, each, placement, &compiled));
      if (std::exchange(each.tune.budget, {}).count() > 0) {
        // The twin has what was measured.
        each.schedules.insert(each.schedules.end(), compiled.tuning.measured.begin(),
                              compiled.tuning.measured.end());
      }
      depends_on_machine = depends_on_machine || !lowered.program.images.empty();
      if (i == 0) {
        compiled.llvm_ir = std::move(lowered.llvm_ir);
        compiled.assembly = std::move(lowered.assembly);
      }
      if (std::exchange(is_first, false)) {
        compiled.program = std::move(lowered.program);
      } else {
        AddProgram(std::move(lowered.program), compiled);
      }
    }
    if (!depends_on_machine) break;
  }
  compiled.module = only ? std::move(ready.with_regions[0]) : std::move(ready.native[0]);
  for (const auto& [name, f] : compiled.module.functions)
    compiled.num_operators += CountOperators(*f->body);
  const ir::LayoutTransforms left = ir::CountLayoutTransforms(compiled.module);
  compiled.transforms = left.count;
  compiled.open_transforms = left.open;
  compiled.transformed_bytes = left.bytes;
  return compiled;
}

Result<Compiled> CompileFile(const std::string& input, const CompileOptions& options) {
  std::optional<CompileCache> cache = CompileCache::For(input, options);
  if (!cache) {
    RELAYVM_ASSIGN_OR_RETURN(ir::Module module, LoadModule(input, options));
    return CompileModule(std::move(module), options);
  }
  if (auto compiled = cache->Find(options)) return *std::move(compiled);
  const CompileOptions recorded = cache->Recorded(options);
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module, LoadModule(input, recorded, cache->files()));
  RELAYVM_ASSIGN_OR_RETURN(Compiled compiled, CompileModule(std::move(module), recorded));
  cache->Store(&compiled);
  return compiled;
}

}  // namespace relayvm

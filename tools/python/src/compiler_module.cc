// relayvm.compiler._native: the compiler. The classes that users see are in relayvm/compiler.
#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/string_table.h"
#include "compiler/api/module.h"
#include "compiler/api/options.h"
#include "compiler/frontend/params.h"
#include "compiler/import/importers.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/region.h"
#include "compiler/pipeline.h"
#include "compiler/regions/engine_rules.h"
#include "compiler/regions/lower_regions.h"
#include "compiler/regions/region_options.h"
#include "compiler/rules/rule_pass.h"
#include "tools/python/src/arrays.h"
#include "tools/python/src/debug_executor.h"
#include "tools/python/src/engines.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/graph_compiler.h"
#include "tools/python/src/interruptible.h"
#include "tools/python/src/module.h"
#include "tools/python/src/native_executor.h"
#include "tools/python/src/nodes.h"
#include "tools/python/src/program.h"
#include "tools/python/src/python_converter.h"
#include "tools/python/src/python_pass.h"
#include "tools/python/src/values.h"
#include "tools/python/src/without_gil.h"

namespace py = pybind11;

namespace relayvm::python {
namespace {

using py::literals::operator""_a;

using Options = std::vector<std::pair<std::string, std::string>>;

struct PyCompiled {
  CompiledModel model;
};

CompilerOptions OptionsOf(const Options& options) {
  CompilerOptions result;
  result.cache = "auto";
  for (const auto& [name, value] : options) ThrowIfError(result.Set(name, value));
  return result;
}

// Of the dtype that the array has.
Value Weight(const std::string& name, const py::object& object) {
  if (py::isinstance<Opaque>(object)) return object.cast<const Opaque&>().value;
  ValueType open;
  open.kind = ValueType::Kind::kTypeVar;
  return ToValue(object, open, Program(), name);
}

std::map<std::string, Value> Weights(const py::dict& params) {
  std::map<std::string, Value> weights;
  for (const auto& [key, value] : params) {
    const auto name = key.cast<std::string>();
    weights.emplace(name, Weight(name, py::reinterpret_borrow<py::object>(value)));
  }
  return weights;
}

PyModule Read(const std::string& name, const py::object& content, const Options& options,
              const py::dict& params, const py::dict& converters) {
  ModelSource source{name, {}};
  if (!content.is_none()) {
    const py::bytes bytes = content;
    const auto text = static_cast<std::string_view>(bytes);
    source.content =
        WithoutTheGil([&] { return SharedBytes::Copy(std::as_bytes(std::span(text))); });
  }
  CompilerOptions read = OptionsOf(options);
  read.params = Weights(params);
  const PythonConverters python = ReadPythonConverters(converters);
  std::optional<LoadedModel> model;
  WithExceptionsOf(*python.raised, [&] {
    model = Interruptible<LoadedModel>([&](const std::stop_token& stop) {
      *python.stop = stop;
      return ReadModel(source, read, stop, python.operators);
    });
  });
  return {*std::move(model)};
}

// Types, and what is wrong with them.
PyModule InferTypes(const PyModule& module) {
  return {Interruptible<LoadedModel>([&](const std::stop_token&) -> Result<LoadedModel> {
            RELAYVM_ASSIGN_OR_RETURN(ir::Module typed, RunFrontendPipeline(module.model.module));
            return LoadedModel{std::move(typed), module.model.operators};
          }),
          {Fact::kChecked, Fact::kTyped}};
}

PyModule Transform(const PyModule& module, const std::vector<std::string>& passes,
                   const Options& options, bool verify) {
  const CompilerOptions given = OptionsOf(options);
  const CompileOptions compile =
      ValueOrThrow(WithoutTheGil([&] { return ReadCompilerOptions(given); }));
  PassedModule passed = Interruptible<PassedModule>([&](const std::stop_token& stop) {
    PipelineOptions pipeline = compile.pipeline;
    pipeline.verify = verify;
    pipeline.stop = stop;
    return RunPasses({module.model.module, module.holds}, passes, pipeline);
  });
  return {{std::move(passed.module), module.model.operators}, passed.holds};
}

// The module after the rules of a text, or of a file where `text` is None, and what explains them.
py::tuple Rewrite(const PyModule& module, const std::string& name, const py::object& text,
                  bool explain) {
  const std::string content = text.is_none() ? "" : text.cast<std::string>();
  const bool is_file = text.is_none();
  rules::Report report;
  PassedModule passed =
      Interruptible<PassedModule>([&](const std::stop_token& stop) -> Result<PassedModule> {
        PipelineOptions pipeline;
        pipeline.stop = stop;
        auto set = is_file ? rules::ReadRuleFile(name, module.model.operators)
                           : rules::ReadRules(name, content, module.model.operators);
        RELAYVM_RETURN_IF_ERROR(set.status());
        if (module.holds.Has(Fact::kFinalTypes) || module.holds.Has(Fact::kFused))
          return Status(StatusCode::kInvalidArgument,
                        "rules are applied before FuseOps and DropShapeOperands: this module is " +
                            module.holds.ToString());
        RELAYVM_ASSIGN_OR_RETURN(PassedModule typed, RunPasses({module.model.module, module.holds},
                                                               {"EliminateDeadCode"}, pipeline));
        RELAYVM_ASSIGN_OR_RETURN(typed.module,
                                 rules::ApplyRules(typed.module, **set, {explain, stop}, &report));
        return RunPasses(typed, {"ResolveAliases", "EliminateDeadCode"}, pipeline);
      });
  return py::make_tuple(PyModule{{std::move(passed.module), module.model.operators}, passed.holds},
                        rules::ReportText(report));
}

// The JSON of each region, by name. `engines`: --byoc and its kin.
py::dict RegionJsons(const PyModule& module, const Options& options) {
  const CompilerOptions given = OptionsOf(options);
  const auto jsons =
      ValueOrThrow(WithoutTheGil([&]() -> Result<std::vector<std::pair<std::string, std::string>>> {
        RELAYVM_ASSIGN_OR_RETURN(const CompileOptions read, ReadCompilerOptions(given));
        regions::RuleFiles files;
        RELAYVM_ASSIGN_OR_RETURN(const std::vector<regions::EnginePattern> engines,
                                 regions::EnginesOfRegions(read.pipeline.options, files));
        return regions::RegionJsons(module.model.module, engines);
      }));
  py::dict result;
  for (const auto& [name, json] : jsons) result[name.c_str()] = json;
  return result;
}

PyModule Bind(const PyModule& module, const py::dict& params, const std::string& function) {
  frontend::Params bound;
  for (const auto& [name, value] : Weights(params)) {
    HostTensor tensor;
    tensor.dtype = value.dtype();
    tensor.shape.assign(value.dims().begin(), value.dims().end());
    if (tensor.dtype == DType::kString) {
      std::vector<std::string_view> texts;
      for (int64_t i = 0; i < value.num_elements(); ++i) texts.push_back(value.text(i));
      tensor.data = PackStrings(texts);
      bound.emplace(name, std::move(tensor));
      continue;
    }
    auto owner = std::make_shared<Value>(value);
    tensor.data = SharedBytes(std::span(static_cast<const std::byte*>(value.data()), value.bytes()),
                              std::shared_ptr<const void>(owner));
    bound.emplace(name, std::move(tensor));
  }
  ir::Module m = module.model.module;
  const std::string entry = m.entry;
  if (!m.functions.contains(function))
    Throw({StatusCode::kNotFound, fmt::format("there is no function @{}", function)});
  m.entry = function;
  m = ValueOrThrow(WithoutTheGil([&] { return frontend::BindParams(m, bound); }));
  m.entry = entry;
  return {{std::move(m), module.model.operators}, {}};
}

// The module with @entry as its entry.
LoadedModel ForCompiling(const PyModule& module, const std::string& entry) {
  if (module.holds.Has(Fact::kFinalTypes) || module.holds.Has(Fact::kLifted))
    Throw({StatusCode::kInvalidArgument,
           "this module has gone through passes that only lowering comes after (it is " +
               module.holds.ToString() +
               "): compile the one that it was made of, or run fewer passes"});
  LoadedModel model = module.model;
  model.module.entry = entry;
  if (!model.module.functions.contains(entry))
    Throw({StatusCode::kNotFound, fmt::format("there is no function @{}", entry)});
  return model;
}

PyCompiled Compile(const PyModule& module, const Options& options, const py::object& progress,
                   const py::list& inserted) {
  CompilerOptions compile = OptionsOf(options);
  const LoadedModel model = ForCompiling(module, compile.entry);
  const PythonPasses passes = ReadPythonPasses(inserted, model.operators);
  if (!progress.is_none()) {
    compile.on_progress = [&](std::string_view what, size_t done, size_t total) {
      const GilAcquire gil;
      try {
        progress(std::string(what), done, total);
      } catch (py::error_already_set& e) {
        e.discard_as_unraisable("progress of a compilation");
      }
    };
  }
  std::optional<CompiledModel> compiled;
  WithExceptionsOf(*passes.raised, [&] {
    compiled = Interruptible<CompiledModel>([&](const std::stop_token& stop) {
      return CompileLoaded(model, compile, stop, passes.passes);
    });
  });
  return {*std::move(compiled)};
}

// (LLVM's representation, assembly) of all kernels.
py::tuple TextsOfKernels(const PyModule& module, const Options& options, const py::list& inserted) {
  const CompilerOptions compile = OptionsOf(options);
  const LoadedModel model = ForCompiling(module, compile.entry);
  const PythonPasses passes = ReadPythonPasses(inserted, model.operators);
  KernelTexts texts;
  WithExceptionsOf(*passes.raised, [&] {
    texts = Interruptible<KernelTexts>([&](const std::stop_token& stop) {
      return KernelTextsOf(model, compile, stop, passes.passes);
    });
  });
  return py::make_tuple(texts.llvm_ir, texts.assembly);
}

}  // namespace

PYBIND11_MODULE(_native, m) {
  m.doc() = "The native part of relayvm's compiler.";
  py::module_::import("relayvm._native");

  AddNodes(m);
  py::class_<PyModule> module(m, "Module");
  AddNodeBuilder(module);
  module.def(py::init([] { return PyModule{{ir::MakeModule(), {}}, {}}; }))
      .def("text",
           [](const PyModule& p, bool for_people) {
             return WithoutTheGil(
                 [&] { return ir::PrintModule(p.model.module, {.for_people = for_people}); });
           })
      .def("functions",
           [](const PyModule& p) {
             std::vector<std::string> names;
             for (const auto& [name, function] : p.model.module.functions) names.push_back(name);
             return names;
           })
      .def(
          "function_text",
          [](const PyModule& p, const std::string& name) {
            const auto found = p.model.module.functions.find(name);
            if (found == p.model.module.functions.end()) throw py::key_error(name);
            return WithoutTheGil([&] { return ir::PrintFunction(p.model.module, *found->second); });
          })
      .def("params",
           [](const PyModule& p, const std::string& name) {
             const auto found = p.model.module.functions.find(name);
             if (found == p.model.module.functions.end()) throw py::key_error(name);
             py::list params;
             for (const ir::Var* v : found->second->params)
               params.append(py::make_tuple(
                   v->name, v->type == nullptr ? std::string("?") : ir::TypeToString(v->type)));
             return params;
           })
      .def("infer_types", InferTypes)
      .def("bind", Bind)
      .def("transform", Transform)
      .def("rewrite", Rewrite)
      .def("region_jsons", RegionJsons)
      .def("region_engines",  // of functions that are regions
           [](const PyModule& p) {
             std::set<std::string> engines;
             for (const auto& [name, function] : p.model.module.functions) {
               const std::string engine = ir::TextAttr(*function, ir::kCompilerAttr);
               if (!engine.empty()) engines.insert(engine);
             }
             return std::vector<std::string>(engines.begin(), engines.end());
           })
      .def("facts", [](const PyModule& p) { return p.holds.ToString(); })
      .def("compile", Compile)
      .def("kernel_texts", TextsOfKernels);
  AddDebugExecutor(m);
  AddGraphCompiler(m);
  AddNativeExecutor(m);
  m.def("places", [] {  // "before:NAME" and what holds there
    std::vector<std::pair<std::string, std::string>> places;
    const std::vector<PlannedPass> plan = ValueOrThrow(PlanPasses({}));
    for (const PlannedPass& p : plan) {
      if (p.pass.name != kRetypePass) places.emplace_back(p.pass.name, p.after.ToString());
    }
    return places;
  });
  m.def("read", Read, "name"_a, "content"_a, "options"_a, "params"_a, "converters"_a = py::dict());
  m.def("passes", [] {
    py::dict passes;
    for (const Pass& p : CompilerPasses()) passes[p.name.c_str()] = p.description;
    return passes;
  });
  m.def("read_params", [](const std::string& path) {
    const frontend::Params params =
        ValueOrThrow(WithoutTheGil([&] { return frontend::ReadParams(path); }));
    py::dict result;
    for (const auto& [name, tensor] : params) {
      const SharedBytes bytes = WithoutTheGil([&] { return tensor.data.Loaded(); });
      if (tensor.dtype == DType::kString) {
        const PackedStrings packed(bytes.data(), tensor.size());
        std::vector<std::string_view> texts;
        for (int64_t i = 0; i < packed.size(); ++i) texts.push_back(packed[i]);
        result[name.c_str()] = ArrayOf(ValueOrThrow(Value::CopyStrings(tensor.shape, texts)));
        continue;
      }
      Value value = CopyOf(tensor.dtype, tensor.shape, bytes.data());
      result[name.c_str()] = tensor.dtype == DType::kBFloat16 ? py::cast(Opaque{value, nullptr})
                                                              : ArrayOf(std::move(value));
    }
    return result;
  });
  m.def("formats", [] {  // by name: what messages call a model, and its files' ending
    py::dict formats;
    for (const ModelFormat& f : ModelFormats()) formats[f.name] = py::make_tuple(f.model, f.ending);
    return formats;
  });
  m.def("list_operators", [](const std::string& format) -> std::optional<std::string> {
    const import::Importer* importer = import::FindImporter(format);
    return importer == nullptr ? std::nullopt : std::optional(importer->operators());
  });
  // Those that the compiler's passes and passes of libraries declare.
  m.def("pass_options", [](const std::vector<std::string>& libraries) {
    py::list rows;
    const std::vector<Pass> loaded =
        ValueOrThrow(WithoutTheGil([&] { return LoadPasses(libraries); }));
    for (const DeclaredOption& d : PassOptions(loaded)) {
      const PassOption& o = *d.option;
      std::string keyword = o.keyword.empty() ? o.name : o.keyword;
      std::ranges::replace(keyword, '-', '_');
      rows.append(py::dict("name"_a = o.name, "keyword"_a = keyword, "help"_a = o.help,
                           "values"_a = o.values, "form"_a = o.form, "initial"_a = o.initial,
                           "is_flag"_a = o.is_flag(), "repeats"_a = o.repeats,
                           "passes"_a = d.passes));
    }
    return rows;
  });
  m.def("engines", [] {  // that the compiler knows
    const std::vector<std::string_view> names = regions::EngineNames();
    return std::vector<std::string>(names.begin(), names.end());
  });
  m.def("stop_work", StopWork);
  m.def("check_options", [](const Options& options) { OptionsOf(options); });
  m.def("option_names", [] {
    std::vector<std::string> names;
    for (std::string_view name : CompilerOptions::Names()) names.emplace_back(name);
    return names;
  });

  py::class_<PyCompiled>(m, "Compiled")
      .def("save",
           [](const PyCompiled& p, const std::string& path) {
             Status saved;
             {
               const GilRelease no_gil;
               saved = p.model.Save(path);
             }
             ThrowIfError(saved);
           })
      .def("bytes",
           [](const PyCompiled& p) {
             const SharedBytes bytes = ValueOrThrow(WithoutTheGil([&] { return p.model.Bytes(); }));
             return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
           })
      .def("graph", [](const PyCompiled& p) { return MakeGraph(p.model); })
      .def(
          "native",
          [](const PyCompiled& p, const std::string& function, std::shared_ptr<PyRuntime> runtime) {
            return MakeNative(p.model, function, std::move(runtime));
          })
      .def("bytecode",
           [](const PyCompiled& p) { return WithoutTheGil([&] { return p.model.Bytecode(); }); })
      .def("kernels",
           [](const PyCompiled& p) {
             std::vector<std::string> names;
             for (const KernelInfo& k : p.model.program().kernels) names.push_back(k.name);
             return names;
           })
      .def("regions",
           [](const PyCompiled& p) {
             py::list regions;
             for (const CompiledRegion& r : WithoutTheGil([&] { return p.model.Regions(); }))
               regions.append(py::make_tuple(r.name, r.engine, r.json));
             return regions;
           })
      .def("num_batched_kernels",
           [](const PyCompiled& p) {
             return std::ranges::count_if(p.model.program().kernels, [](const KernelInfo& k) {
               return k.batched.has_value();
             });
           })
      .def("warnings",
           [](const PyCompiled& p) {
             std::vector<std::string> warnings;
             for (const Status& s : p.model.warnings()) warnings.push_back(s.message());
             return warnings;
           })
      .def("times",
           [](const PyCompiled& p) {
             py::list times;
             for (const PassTime& t : p.model.times())
               times.append(py::make_tuple(t.pass, t.milliseconds, t.is_part));
             return times;
           })
      .def("load",
           [](const PyCompiled& p, const py::dict& host_functions, const py::dict& engines) {
             std::vector<HostFunction> functions;
             for (const auto& [name, function] : host_functions)
               functions.push_back({name.cast<std::string>(),
                                    function.attr("type").cast<std::string>(), CallPython});
             LoadOptions options;
             options.host_functions = functions;
             Engines read(engines);
             read.Use(&options);
             PyProgram program{ValueOrThrow(WithoutTheGil([&] { return p.model.Load(options); }))};
             read.Warn();
             return program;
           });
}

}  // namespace relayvm::python

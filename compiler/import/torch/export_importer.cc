// A torch.export program as a module: parameters, state, constants, symbolic dims.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/import/checked.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/input_types.h"
#include "compiler/import/torch/export_archive.h"
#include "compiler/import/torch/export_graph.h"
#include "compiler/import/torch/export_guards.h"
#include "compiler/import/torch/export_symbols.h"
#include "compiler/import/torch/importer.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import {

namespace torch {
namespace {

using Kind = Argument::Kind;

class ExportImporter {
 public:
  ExportImporter(ExportArchive archive, const ImportOptions& options)
      : archive_(std::move(archive)),
        options_(options),
        module_(PreludeModule()),
        b_(module_),
        types_(module_, options_),
        file_(module_.sources->AddModel(archive_.path())) {}

  Result<ir::Module> Run() {
    RELAYVM_RETURN_IF_ERROR(CheckVersion());
    const Json& graph_module = Member(archive_.program(), "graph_module");
    const Json& graph = Member(graph_module, "graph");
    RELAYVM_RETURN_IF_ERROR(CheckOperators(graph));
    const Json& signature = Member(graph_module, "signature");
    RELAYVM_RETURN_IF_ERROR(FindNames(signature));
    for (const Json& spec : Member(signature, "output_specs")) {
      const auto [kind, v] = UnionOf(spec);
      if (kind == "buffer_mutation") kept_.insert(NameOf(TextOf(Member(*v, "buffer_name"))));
      if (kind == "parameter_mutation") kept_.insert(NameOf(TextOf(Member(*v, "parameter_name"))));
    }
    // Buffers that the graph writes are state: which ones they are is seen by running it.
    for (;;) {
      RELAYVM_RETURN_IF_ERROR(RunGraph(graph, signature));
      const size_t known = kept_.size();
      for (const Held& h : held_) {
        const Storage& storage = *h.argument.alias->storage();
        if (storage.version > 0 || !storage.stale.empty()) kept_.insert(h.name);
      }
      if (kept_.size() == known) break;
    }
    RELAYVM_RETURN_IF_ERROR(CheckShared());
    return Finish(signature);
  }

 private:
  struct Held {
    std::string name;
    Argument argument;
    std::string storage;
  };
  struct State {
    std::string name;
    const ir::Var* var;
    Argument argument;
  };

  Status Wrong(std::string_view what) const {
    return {StatusCode::kInvalidInput, fmt::format("{}: {}", archive_.path(), what)};
  }

  Status CheckVersion() const {
    const Json& version = Member(archive_.program(), "schema_version");
    const auto major = IntOf(Member(version, "major"));
    constexpr int64_t kMajor = 8;
    if (!Member(archive_.program(), "graph_module").is_object())
      return Wrong("it is no program of torch.export: 'graph_module' is missing");
    if (major && *major > kMajor) {
      return {StatusCode::kUnsupported,
              fmt::format("{}: schema version {}.{}, this version reads {}; export it with "
                          "torch 2.1 to 2.15",
                          archive_.path(), *major, IntOf(Member(version, "minor")).value_or(0),
                          kMajor)};
    }
    return OkStatus();
  }

  // All that are missing at once.
  Status CheckOperators(const Json& graph) const {
    std::map<std::string, Missing> missing;
    FindMissing(graph, options_, &missing);
    if (missing.empty()) return OkStatus();
    std::string text;
    for (const auto& [name, m] : missing) {
      text += fmt::format("\n  {} ({} time{}{}{})", name, m.count, m.count == 1 ? "" : "s",
                          m.place.empty() ? "" : ", first at ", m.place);
    }
    return {StatusCode::kUnsupported,
            fmt::format("{}: operators that are not supported:{}", archive_.path(), text)};
  }

  // --- Dims ---

  Dim DimOf(const Json& size) {
    const auto [kind, v] = UnionOf(size);
    if (kind == "as_int") return Dim(IntOf(*v).value_or(0));
    if (kind != "as_expr") return Dim::Any();
    auto d = ParseSymbolic(TextOf(Member(*v, "expr_str")), [&](const std::string& name) {
      return name[0] == 's' || name[0] == 'z' ? types_.DimNamed(name) : Dim::Any();
    });
    if (!d.ok()) {
      if (bad_.ok()) bad_ = Wrong(d.status().message());
      return Dim::Any();
    }
    return *d;
  }

  Result<ir::Type> TypeOf(const Json& meta, const std::string& name, bool* complex) {
    const int number = TorchOfExported(IntOf(Member(meta, "dtype")).value_or(0));
    auto dtype = DTypeOfTorch(number);
    *complex = IsTorchComplex(number);
    if (*complex) dtype = number == 10 ? DType::kFloat64 : DType::kFloat32;
    if (!dtype) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{}: input '{}': {} is not supported", archive_.path(), name,
                                TorchDTypeName(number)));
    }
    std::vector<Dim> shape;
    for (const Json& size : Member(meta, "sizes")) shape.push_back(DimOf(size));
    if (*complex) shape.emplace_back(2);
    RELAYVM_RETURN_IF_ERROR(bad_);
    for (const Dim& d : shape) {
      if (d.is_const() && d.value() < 0)
        return Wrong(fmt::format("input '{}': a size of {}", name, d.value()));
    }
    return ir::MakeTensorType(std::move(shape), *dtype);
  }

  // --- Inputs ---

  Status AddUserInput(const Json& graph, const Json& argument) {
    const auto [kind, v] = UnionOf(argument);
    const bool symbolic = kind.starts_with("as_sym");
    const std::string name(TextOf(Member(*v, symbolic ? "as_name" : "name")));
    if (kind == "as_tensor") {
      bool complex = false;
      const Json& meta = Member(Member(graph, "tensor_values"), name.c_str());
      if (!meta.is_object()) return Wrong(fmt::format("input '{}' has no type", name));
      RELAYVM_ASSIGN_OR_RETURN(const ir::Type declared, TypeOf(meta, name, &complex));
      RELAYVM_ASSIGN_OR_RETURN(const ir::Type type, types_.Of(name, main_.params.size(), declared));
      const ir::Var* var = b_.NewVar(name, type);
      main_.params.push_back(var);
      Argument a = b_.Use(var);
      int axis = 0;
      for (const Json& size : Member(meta, "sizes")) guards_->AddSize(name, a.value, axis++, size);
      a.complex = complex;
      inputs_.push_back(aliases_->Fresh(std::move(a)));
      given_.emplace_back(name, inputs_.back());
      return OkStatus();
    }
    if (symbolic && kind != "as_sym_ints") {
      const DType t = kind == "as_sym_int"     ? DType::kInt64
                      : kind == "as_sym_float" ? DType::kFloat64
                                               : DType::kBool;
      const ir::Var* var = b_.NewVar(name, ir::MakeScalarType(t));
      main_.params.push_back(var);
      const Value number = b_.Use(var);
      if (kind == "as_sym_int")
        guards_->AddInteger(name, number, Member(Member(graph, "sym_int_values"), name.c_str()));
      inputs_.push_back(ScalarArgument(b_, number));
      return OkStatus();
    }
    if (kind == "as_none") {
      inputs_.emplace_back();
      return OkStatus();
    }
    return AddConstantInput(name.empty() ? fmt::format("input{}", inputs_.size()) : name, argument);
  }

  // A number that was given when the model was exported: the caller gives the same.
  Status AddConstantInput(const std::string& name, const Json& value) {
    const auto [kind, v] = UnionOf(value);
    inputs_.emplace_back();
    if (kind == "as_none" || kind == "as_string") return OkStatus();
    if (kind != "as_int" && kind != "as_bool" && kind != "as_float") {
      return Wrong(
          fmt::format("input '{}' is given as '{}', which this version does not know", name, kind));
    }
    Argument number = Argument::Bool(*v == Json(true));
    if (kind == "as_int") number = Argument::Int(IntOf(*v).value_or(0));
    if (kind == "as_float") number = FloatArgument(*v);
    const DType t = kind == "as_bool"  ? DType::kBool
                    : kind == "as_int" ? DType::kInt64
                                       : DType::kFloat64;
    const ir::Var* var = b_.NewVar(name, ir::MakeScalarType(t));
    main_.params.push_back(var);
    guards_->AddNumber(name, b_.Use(var), number);
    return OkStatus();
  }

  // A tensor may have several names: a buffer, and the constant that it is where it is written.
  Status FindNames(const Json& signature) {
    std::map<std::string, std::string> first;
    for (const Json& spec : Member(signature, "input_specs")) {
      const auto [kind, v] = UnionOf(spec);
      const char* key = kind == "parameter"         ? "parameter_name"
                        : kind == "buffer"          ? "buffer_name"
                        : kind == "tensor_constant" ? "tensor_constant_name"
                                                    : nullptr;
      if (key == nullptr) continue;
      const std::string name(TextOf(Member(*v, key)));
      RELAYVM_ASSIGN_OR_RETURN(const TorchTensor tensor, archive_.Tensor(name));
      if (tensor.storage.empty() || tensor.elements.data.size() == 0) continue;
      const std::string place =
          fmt::format("{} {} {} {} {}", tensor.storage, tensor.type.torch, tensor.view.offset,
                      fmt::join(tensor.view.sizes, ","), fmt::join(tensor.view.strides, ","));
      names_[name] = first.emplace(place, name).first->second;
    }
    return OkStatus();
  }
  std::string NameOf(std::string_view name) const {
    const auto known = names_.find(std::string(name));
    return known == names_.end() ? std::string(name) : known->second;
  }

  // A parameter, buffer or constant: of those that are kept between runs a state.
  Status AddTensor(const std::string& given) {
    const std::string name = NameOf(given);
    const auto known = tensors_.find(name);
    if (known != tensors_.end()) {
      inputs_.push_back(known->second);
      return OkStatus();
    }
    RELAYVM_ASSIGN_OR_RETURN(const TorchTensor tensor, archive_.Tensor(name));
    b_.SetSpan({});
    Value first = b_.Constant(tensor.elements, name);
    Argument a = first;
    if (kept_.contains(name)) {
      const bool is_zero = std::all_of(tensor.elements.data.data(),
                                       tensor.elements.data.data() + tensor.elements.data.size(),
                                       [](std::byte x) { return x == std::byte{0}; });
      const ir::Var* var = b_.NewVar(name, is_zero ? first.type : OptionalType(first.type));
      const Value given = b_.Use(var);
      if (is_zero) {
        a = given;
      } else {
        const Value has =
            CallPrelude(b_, "optional_has", {given}, ir::MakeTensorType({}, DType::kBool));
        a = b_.If(has, import::Held(b_, given), first, first.type);
      }
      a.complex = tensor.type.complex;
      inputs_.push_back(aliases_->Fresh(std::move(a)));
      tensors_[name] = inputs_.back();
      states_.push_back({name, var, inputs_.back()});
      storages_[name] = tensor.storage;
      return OkStatus();
    }
    a.complex = tensor.type.complex;
    inputs_.push_back(aliases_->Fresh(std::move(a)));
    tensors_[name] = inputs_.back();
    held_.push_back({name, inputs_.back(), tensor.storage});
    return OkStatus();
  }

  // What is written and shares its memory with another tensor of the file would change that too.
  Status CheckShared() const {
    for (const State& s : states_) {
      const std::string& storage = storages_.at(s.name);
      for (const Held& h : held_) {
        if (!storage.empty() && h.storage == storage) {
          return {StatusCode::kUnsupported,
                  fmt::format("{}: buffer '{}' is written and shares its memory with '{}'",
                              archive_.path(), s.name, h.name)};
        }
      }
    }
    return OkStatus();
  }

  Status AddInputs(const Json& graph, const Json& signature) {
    const Json& specs = Member(signature, "input_specs");
    const Json& arguments = Member(graph, "inputs");
    if (!specs.is_array() || specs.size() != arguments.size())
      return Wrong("its signature and its graph have another number of inputs");
    for (size_t i = 0; i < specs.size(); ++i) {
      const auto [kind, v] = UnionOf(specs[i]);
      if (kind == "user_input") {
        RELAYVM_RETURN_IF_ERROR(AddUserInput(graph, Member(*v, "arg")));
      } else if (kind == "constant_input") {
        RELAYVM_RETURN_IF_ERROR(
            AddConstantInput(std::string(TextOf(Member(*v, "name"))), Member(*v, "value")));
      } else if (kind == "parameter") {
        RELAYVM_RETURN_IF_ERROR(AddTensor(std::string(TextOf(Member(*v, "parameter_name")))));
      } else if (kind == "buffer") {
        RELAYVM_RETURN_IF_ERROR(AddTensor(std::string(TextOf(Member(*v, "buffer_name")))));
      } else if (kind == "tensor_constant") {
        RELAYVM_RETURN_IF_ERROR(AddTensor(std::string(TextOf(Member(*v, "tensor_constant_name")))));
      } else {
        return {StatusCode::kUnsupported,
                fmt::format("{}: an input of kind '{}' is not supported", archive_.path(), kind)};
      }
    }
    return OkStatus();
  }

  Status RunGraph(const Json& graph, const Json& signature) {
    aliases_ = std::make_unique<Aliases>(b_);
    inputs_.clear();
    given_.clear();
    held_.clear();
    tensors_.clear();
    states_.clear();
    guards_ = std::make_unique<ExportGuards>(b_, file_);
    const Status ranges = guards_->ReadRanges(Member(archive_.program(), "range_constraints"));
    if (!ranges.ok()) return Wrong(ranges.message());
    main_ = {};
    main_.name = "main";
    RELAYVM_RETURN_IF_ERROR(AddInputs(graph, signature));
    RELAYVM_RETURN_IF_ERROR(types_.CheckUsed());
    b_.SetSpan({});
    ExportGraph runner(b_, *aliases_, module_, file_, options_);
    outputs_ = runner.Run(graph, inputs_, &values_);
    return b_.status();
  }

  // --- Outputs ---

  // Results that the caller asks for: values of the graph, inputs as they are when it ends.
  Result<std::vector<Argument>> Chosen(const std::map<std::string, Argument>& written) const {
    std::vector<Argument> results;
    for (const std::string& name : options_.outputs) {
      const auto input = written.find(name);
      const auto value = values_.find(name);
      if (input == written.end() && value == values_.end()) {
        return Status(
            StatusCode::kInvalidArgument,
            fmt::format("--output-node {}: {} has no value of that name", name, archive_.path()));
      }
      results.push_back(input != written.end() ? input->second : value->second);
    }
    return results;
  }

  // Inputs that the model changes: as PyTorch, results do not hold them.
  void SayWritten(const std::map<std::string, Argument>& written) const {
    for (const auto& [name, value] : given_) {
      const bool changed = written.contains(name) || value.alias->storage()->version > 0;
      if (!changed || !options_.warn) continue;
      options_.warn(
          fmt::format("{}: it writes its input '{}'; --output-node {} makes a result of "
                      "what it holds then",
                      archive_.path(), name, name));
    }
  }

  Result<ir::Module> Finish(const Json& signature) {
    b_.SetSpan({});
    const Json& specs = Member(signature, "output_specs");
    if (!specs.is_array() || specs.size() != outputs_.size())
      return Wrong("its signature and its graph have another number of outputs");
    std::vector<Argument> results;
    std::map<std::string, Value> mutated;
    std::map<std::string, Argument> written;  // inputs
    for (size_t i = 0; i < specs.size(); ++i) {
      const auto [kind, v] = UnionOf(specs[i]);
      if (kind == "user_output" || kind == "loss_output") {
        if (!outputs_[i].is_none() && !outputs_[i].is(Kind::kString))
          results.push_back(outputs_[i]);
      } else if (kind == "buffer_mutation" || kind == "parameter_mutation") {
        const char* name = kind == "buffer_mutation" ? "buffer_name" : "parameter_name";
        if (!outputs_[i].is_tensor()) return Wrong("a buffer is written by what is no tensor");
        mutated[NameOf(TextOf(Member(*v, name)))] = aliases_->Read(outputs_[i]);
      } else if (kind == "user_input_mutation") {
        written[std::string(TextOf(Member(*v, "user_input_name")))] = outputs_[i];
      } else if (kind != "token") {
        return Status(
            StatusCode::kUnsupported,
            fmt::format("{}: an output of kind '{}' is not supported", archive_.path(), kind));
      }
    }
    if (options_.outputs.empty()) {
      SayWritten(written);
    } else {
      RELAYVM_ASSIGN_OR_RETURN(results, Chosen(written));
    }
    std::vector<Value> values = ValuesOf(b_, *aliases_, results);
    if (values.empty() && states_.empty()) return Wrong("the program has no results");
    AttrList states;
    for (const State& s : states_) {
      const auto named = mutated.find(s.name);
      const Value last = named != mutated.end() ? named->second : aliases_->Read(s.argument);
      states.emplace_back(static_cast<int64_t>(main_.params.size()));
      states.emplace_back(static_cast<int64_t>(values.size()));
      main_.params.push_back(s.var);
      if (s.var->type->As<TensorType>() == nullptr) b_.UsePrelude();
      values.push_back(last);
    }
    if (!states_.empty() || !options_.outputs.empty()) {
      // What is kept has one name before a run and after it.
      AttrList names;
      for (size_t i = 0; i + states_.size() < values.size(); ++i) {
        names.emplace_back(options_.outputs.empty() ? fmt::format("output_{}", i)
                                                    : options_.outputs[i]);
      }
      for (const State& s : states_) names.emplace_back(s.name);
      main_.attrs[ir::kOutputNames] = std::move(names);
      if (!states_.empty()) main_.attrs[ir::kStates] = std::move(states);
    }
    values[0] = guards_->Applied(values[0]);
    b_.SetSpan({});
    const Value result = values.size() == 1 ? values[0] : b_.Tuple(values);
    RELAYVM_RETURN_IF_ERROR(DefineEntry(b_, module_, main_, result));
    return std::move(module_);
  }

  ExportArchive archive_;
  const ImportOptions& options_;
  ir::Module module_;
  TypedBuilder b_;
  InputTypes types_;
  uint32_t file_;
  std::unique_ptr<Aliases> aliases_;
  ir::Function main_;
  std::vector<Argument> inputs_, outputs_;
  std::vector<std::pair<std::string, Argument>> given_;  // tensors of the user's
  ExportGraph::Names values_;                            // of the graph, by name
  std::map<std::string, std::string> names_;             // of tensors, by any of their names
  std::map<std::string, Argument> tensors_;              // by that name
  std::vector<Held> held_;
  std::vector<State> states_;
  std::map<std::string, std::string> storages_;
  std::unique_ptr<ExportGuards> guards_;
  std::set<std::string> kept_;  // names of tensors that a run changes
  Status bad_;
};

}  // namespace
}  // namespace torch

Result<ir::Module> ImportTorchExport(const std::string& path, SharedBytes file,
                                     const ImportOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(auto archive,
                           torch::ExportArchive::Open(path, std::move(file), options.signature));
  return torch::ExportImporter(std::move(archive), options).Run();
}

std::string TorchExportOperatorTable() { return torch::OperatorList(); }

}  // namespace relayvm::import

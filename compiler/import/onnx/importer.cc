#include "compiler/import/onnx/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/parser.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/import/onnx/names_read.h"
#include "compiler/ir/output_names.h"
#include "compiler/ir/shape_text.h"

namespace relayvm::import {

namespace {

class ModelImporter {
 public:
  ModelImporter(ModelFile& file, const ImportOptions& options)
      : file_(file),
        options_(options),
        module_(PreludeModule()),
        importer_(file, module_, module_.sources->AddModel(file.path()), options.operators,
                  options.stop) {}

  Result<ir::Module> Run() {
    RELAYVM_RETURN_IF_ERROR(CheckDims());
    WarnOfOpset();
    importer_.SetWarn(options_.warn);
    RELAYVM_RETURN_IF_ERROR(importer_.CheckOperators());
    const onnx::GraphProto& graph = file_.model().graph();
    std::map<std::string, bool> initialized;
    for (const auto& t : graph.initializer()) initialized[t.name()] = true;
    for (const auto& t : graph.sparse_initializer()) initialized[t.values().name()] = true;
    branches_ = InputsOfBranches(graph);
    ir::Function main;
    main.name = "main";
    std::map<std::string, Value> inputs;
    for (const auto& input : graph.input()) {
      if (initialized.contains(input.name())) continue;  // a default that nobody changes
      RELAYVM_ASSIGN_OR_RETURN(ir::Type type, TypeOf(input));
      const ir::Var* var = importer_.b().NewVar(input.name(), std::move(type));
      main.params.push_back(var);
      const Value value = importer_.b().Use(var);
      const bool is_list = input.type().has_sequence_type();
      if (var->type->As<TensorType>() == nullptr) importer_.b().UsePrelude();
      inputs[input.name()] = is_list ? OfList(importer_.b(), value) : value;
    }
    importer_.SetContracts(Contracts(inputs));
    std::vector<Value> outputs = importer_.Import(graph, inputs, nullptr);
    RELAYVM_RETURN_IF_ERROR(importer_.b().status());
    if (outputs.empty()) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: the graph has no outputs", file_.path()));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].bits != 0) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("{}: output '{}': elements of {}INT{} are not supported",
                                  file_.path(), graph.output(static_cast<int>(i)).name(),
                                  IsSignedInt(outputs[i].dtype()) ? "" : "U", outputs[i].bits));
      }
      RELAYVM_ASSIGN_OR_RETURN(outputs[i],
                               ForHost(outputs[i], graph.output(static_cast<int>(i)).type()));
    }
    RELAYVM_RETURN_IF_ERROR(importer_.b().status());
    AttrList names;
    for (const auto& output : graph.output()) names.emplace_back(output.name());
    main.attrs[ir::kOutputNames] = std::move(names);
    const Value result = outputs.size() == 1 ? outputs[0] : importer_.b().Tuple(outputs);
    ir::GraphBuilder& g = importer_.b().graph();
    if (!importer_.b().uses_prelude()) {
      module_.functions.clear();
      module_.types.clear();
    }
    RELAYVM_RETURN_IF_ERROR(g.Define(module_, g.MakeFunction(main, result.node)));
    return std::move(module_);
  }

 private:
  static ir::Module PreludeModule() {
    auto module = frontend::ParseRelay("prelude", kPrelude);
    return module.ok() ? *std::move(module) : ir::MakeModule();
  }

  // Sizes that --shape gives, as dims. The driver checks the text.
  static std::vector<Dim> DimsOfText(std::string_view text) {
    std::vector<Dim> dims;
    const auto parts = ir::ParseShapeText(text);
    if (!parts.ok()) return {Dim::Any()};
    for (const ir::DimText& part : *parts) dims.push_back(part.size ? Dim(*part.size) : Dim::Any());
    return dims;
  }

  // Of what a sequence or an optional value holds: dims are numbers or not known. Null where the IR
  // has no such type. A sequence of the host's own is a List. `given` is what --shape says.
  static ir::Type HeldType(const onnx::TypeProto& type, const std::string* given = nullptr,
                           int depth = 0) {
    if (type.has_tensor_type()) {
      const auto& tensor = type.tensor_type();
      const auto dtype = DTypeOfOnnx(tensor.elem_type());
      if (!dtype || (!tensor.has_shape() && given == nullptr)) return nullptr;
      std::vector<Dim> shape = given == nullptr ? std::vector<Dim>() : DimsOfText(*given);
      if (tensor.has_shape()) shape.resize(static_cast<size_t>(tensor.shape().dim_size()));
      for (int i = 0; i < tensor.shape().dim_size(); ++i) {
        const int64_t declared = tensor.shape().dim(i).dim_value();
        if (declared > 0) shape[static_cast<size_t>(i)] = Dim(declared);
      }
      return ir::MakeTensorType(std::move(shape), *dtype);
    }
    constexpr int kMostNested = 8;
    const bool is_sequence = type.has_sequence_type();
    if (depth > kMostNested || (!is_sequence && !type.has_optional_type())) return nullptr;
    ir::Type held =
        HeldType(is_sequence ? type.sequence_type().elem_type() : type.optional_type().elem_type(),
                 given, depth + 1);
    if (held == nullptr) return nullptr;
    if (!is_sequence) return OptionalType(held);
    return depth == 0 ? ListType(held) : SequenceType(held);
  }

  // The elements of tensors in sequences and optional values.
  static std::optional<int32_t> HeldDType(const onnx::TypeProto& type) {
    const onnx::TypeProto* held = &type;
    while (!held->has_tensor_type()) {
      if (held->has_sequence_type()) {
        held = &held->sequence_type().elem_type();
      } else if (held->has_optional_type()) {
        held = &held->optional_type().elem_type();
      } else {
        return std::nullopt;
      }
    }
    return held->tensor_type().elem_type();
  }

  // An output as its type is declared: a List, an Optional or a tensor.
  Result<Value> ForHost(const Value& v, const onnx::TypeProto& declared) {
    if (v.is_tensor() && !declared.has_optional_type()) return v;
    ir::Type type;
    if (IsSequence(v) && !declared.has_optional_type()) {
      const Value list = IsEmptyTuple(v) ? v : AsSequence(importer_.b(), v);
      if (ir::Type element = ElementType(list.type, "Sequence")) type = ListType(element);
    } else {
      type = IsNone(v) ? nullptr : JoinTypes(v.type, NoneType());
    }
    if (type == nullptr) type = HeldType(declared);
    RELAYVM_RETURN_IF_ERROR(importer_.b().status());
    if (type == nullptr) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{}: an output's type is not declared", file_.path()));
    }
    return Coerce(importer_.b(), v, type);
  }
  static bool IsEmptyTuple(const Value& v) {
    const auto* tuple = v.type == nullptr ? nullptr : v.type->As<ir::TupleType>();
    return tuple != nullptr && tuple->fields.empty();
  }

  Result<ir::Type> TypeOf(const onnx::ValueInfoProto& input) {
    const auto fail = [&](StatusCode code, std::string_view why) {
      return Status(code, fmt::format("{}: input '{}': {}", file_.path(), input.name(), why));
    };
    if (!input.type().has_tensor_type()) {
      const auto given = options_.shapes.find(input.name());
      ir::Type type =
          HeldType(input.type(), given == options_.shapes.end() ? nullptr : &given->second);
      if (type != nullptr) return type;
      const auto held = HeldDType(input.type());
      if (held && DTypeOfOnnx(*held)) {
        return fail(StatusCode::kUnsupported,
                    fmt::format("the rank of the tensors that it holds is not declared; give their "
                                "shape: --shape {}=1x?x?",
                                input.name()));
      }
      if (held) {
        return fail(StatusCode::kUnsupported,
                    fmt::format("elements of {} are not supported", OnnxTypeName(*held)));
      }
      return fail(StatusCode::kUnsupported,
                  "expected a tensor, or a sequence or an optional value of tensors");
    }
    const auto& tensor = input.type().tensor_type();
    const auto dtype = DTypeOfOnnx(tensor.elem_type());
    if (!dtype) {
      return fail(StatusCode::kUnsupported, fmt::format("elements of {} are not supported",
                                                        OnnxTypeName(tensor.elem_type())));
    }
    if (!tensor.has_shape()) {
      if (auto given = options_.shapes.find(input.name()); given != options_.shapes.end()) {
        // The driver reads the sizes; here it is the rank that counts.
        const auto dims = ir::ParseShapeText(given->second);
        std::vector<Dim> open(dims.ok() ? dims->size() : 1);
        for (Dim& d : open) d = NewDim("");
        return ir::MakeTensorType(std::move(open), *dtype);
      }
      return fail(
          StatusCode::kUnsupported,
          fmt::format("its rank is not declared; give its shape: --shape {}=1x?x?", input.name()));
    }
    const int group = GroupOf(input);
    std::vector<Dim> shape;
    for (const auto& d : tensor.shape().dim()) {
      if (d.has_dim_value()) {
        // Exporters write 0 and -1 for what is not known.
        shape.push_back(d.dim_value() > 0 ? Dim(d.dim_value()) : NewDim(""));
      } else {
        shape.push_back(NewDim(d.dim_param(), group));
      }
    }
    return ir::MakeTensorType(std::move(shape), *dtype);
  }

  // 0: whatever branches are taken, it is read.
  int GroupOf(const onnx::ValueInfoProto& input) const {
    const auto found = branches_.groups.find(input.name());
    return found == branches_.groups.end() ? 0 : found->second;
  }

  // The names of dims, where a branch reads inputs that not every branch reads.
  std::map<const onnx::GraphProto*, GraphImporter::Contract> Contracts(
      const std::map<std::string, Value>& inputs) const {
    std::map<std::string, Dim, std::less<>> symbols;
    const auto stated = [&](const onnx::ValueInfoProto& input, const TensorType& type) {
      std::vector<Dim> shape = type.shape;
      const auto& declared = input.type().tensor_type().shape();
      for (int i = 0; i < declared.dim_size(); ++i) {
        Dim& d = shape[static_cast<size_t>(i)];
        const std::string& name = declared.dim(i).dim_param();
        if (!d.is_symbol()) continue;
        d = name.empty() ? Dim::Any() : symbols.try_emplace(name).first->second;
      }
      return ir::MakeTensorType(std::move(shape), type.dtype);
    };
    for (const auto& [key, dim] : dims_) {
      symbols.try_emplace(key.first, Dim::Symbol(module_.ids->Next(), key.first));
    }
    std::map<const onnx::GraphProto*, GraphImporter::Contract> contracts;
    for (const auto& [branch, names] : branches_.read) {
      GraphImporter::Contract& contract = contracts[branch];
      for (const auto& input : file_.model().graph().input()) {
        const auto value = inputs.find(input.name());
        if (value == inputs.end() || !value->second.is_tensor()) continue;
        const bool is_own = GroupOf(input) != 0;
        if (is_own && !names.contains(input.name())) continue;
        (is_own ? contract.stated : contract.known)
            .emplace_back(input.name(), stated(input, value->second.tensor()));
      }
    }
    return contracts;
  }

  void WarnOfOpset() const {
    constexpr int64_t kNewest = 26;  // of ai.onnx
    for (const auto& opset : file_.model().opset_import()) {
      const bool is_onnx = opset.domain().empty() || opset.domain() == "ai.onnx";
      if (!options_.warn || !is_onnx || opset.version() <= kNewest) continue;
      options_.warn(
          fmt::format("{}: opset {} is newer than this version knows; its operators are "
                      "read as those of opset {}",
                      file_.path(), opset.version(), kNewest));
    }
  }

  Status CheckDims() const {
    for (const auto& [name, value] : options_.dims) {
      bool found = false;
      std::string names;
      for (const auto& input : file_.model().graph().input()) {
        for (const auto& d : input.type().tensor_type().shape().dim()) {
          found |= d.dim_param() == name;
          if (!d.dim_param().empty()) names += " " + d.dim_param();
        }
      }
      if (!found) {
        return {StatusCode::kInvalidArgument,
                fmt::format(
                    "--dim {}={}: no input of the model has a dimension of that name; it has:{}",
                    name, value, names.empty() ? " none" : names)};
      }
    }
    return OkStatus();
  }

  // One symbol for each name that inputs of a group (names_read.h) have.
  Dim NewDim(const std::string& name, int group = 0) {
    if (name.empty()) return Dim::Symbol(module_.ids->Next(), "d");
    if (auto given = options_.dims.find(name); given != options_.dims.end()) {
      return Dim(given->second);
    }
    auto [it, inserted] = dims_.try_emplace({name, group});
    if (inserted) it->second = Dim::Symbol(module_.ids->Next(), name);
    return it->second;
  }

  ModelFile& file_;
  const ImportOptions& options_;
  ir::Module module_;
  GraphImporter importer_;
  BranchInputs branches_;
  std::map<std::pair<std::string, int>, Dim> dims_;
};

}  // namespace

Result<ir::Module> ImportOnnx(const std::string& path, SharedBytes file,
                              const ImportOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(auto model, ModelFile::Read(path, std::move(file)));
  return ModelImporter(*model, options).Run();
}

}  // namespace relayvm::import

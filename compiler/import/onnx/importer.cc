#include "compiler/import/onnx/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "bytecode/base/suggestion.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/arithmetic.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/import/onnx/names_read.h"
#include "compiler/ir/one_of.h"
#include "compiler/ir/shape_text.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import {

namespace {

// Names that --overridable takes beside those of initializers.
constexpr std::string_view kEveryDefault = "all", kNoDefault = "none";
// Bytes of initializers that may be overridden though nobody has said so.
constexpr size_t kMostDefaults = size_t{1} << 20;

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
    std::set<std::string_view> initialized;
    for (const auto& t : graph.initializer()) initialized.insert(t.name());
    for (const auto& t : graph.sparse_initializer()) initialized.insert(t.values().name());
    branches_ = InputsOfBranches(graph);
    ir::Function main;
    main.name = "main";
    std::map<std::string, Value> inputs;
    for (const auto& input : graph.input()) {
      if (initialized.contains(input.name())) continue;  // see WithDefaults
      RELAYVM_ASSIGN_OR_RETURN(ir::Type type, TypeOf(input));
      const ir::Var* var = importer_.b().NewVar(input.name(), std::move(type));
      main.params.push_back(var);
      const Value value = importer_.b().Use(var);
      if (var->type->As<TensorType>() == nullptr) importer_.b().UsePrelude();
      inputs[input.name()] = FromHost(value, input.type());
    }
    importer_.SetContracts(Contracts(inputs));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> outputs, ImportGraph(inputs));
    RELAYVM_RETURN_IF_ERROR(WithDefaults(inputs, &main, &outputs));
    AttrList names;
    for (const auto& output : graph.output()) names.emplace_back(output.name());
    main.attrs[ir::kOutputNames] = std::move(names);
    if (std::ranges::any_of(outputs, IsOneOf)) main.attrs[ir::kOneOfResults] = true;
    const Value result = outputs.size() == 1 ? outputs[0] : importer_.b().Tuple(outputs);
    RELAYVM_RETURN_IF_ERROR(DefineEntry(importer_.b(), module_, main, result));
    return std::move(module_);
  }

 private:
  // The outputs of the graph, as hosts see them. After an error of the graph the builder's status
  // has it no more.
  Result<std::vector<Value>> ImportGraph(const std::map<std::string, Value>& inputs) {
    const onnx::GraphProto& graph = file_.model().graph();
    std::vector<Value> outputs = importer_.Import(graph, inputs, nullptr);
    if (const Status failed = importer_.b().status(); !failed.ok()) {
      static_cast<void>(importer_.b().TakeStatus());
      return failed;
    }
    if (outputs.empty()) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: the graph has no outputs", file_.path()));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      RELAYVM_ASSIGN_OR_RETURN(outputs[i],
                               ForHost(outputs[i], graph.output(static_cast<int>(i)).type()));
    }
    RELAYVM_RETURN_IF_ERROR(importer_.b().status());
    return outputs;
  }

  // --- Initializers that the caller may give other values ---
  //
  // They are parameters of type Optional, after all others. The graph is there twice: with all of
  // them as constants, which is what runs when none is given, and with what is given in their
  // places.

  // An initializer that may be given; `type` is what a value must have.
  struct Default {
    std::string name;
    ir::Type type;
    const onnx::TensorProto* dense = nullptr;
    const onnx::SparseTensorProto* sparse = nullptr;  // where `dense` is null
    size_t bytes = 0;
  };

  // `input` is null for one that is no input: its type is its own.
  Result<Default> DefaultOf(const std::string& name, const onnx::ValueInfoProto* input) {
    const onnx::GraphProto& graph = file_.model().graph();
    Default d{name, nullptr};
    for (const auto& t : graph.initializer()) {
      if (t.name() != name) continue;
      d.dense = &t;
      d.bytes = t.ByteSizeLong();
    }
    for (const auto& t : graph.sparse_initializer()) {
      if (t.values().name() == name && d.dense == nullptr) d.sparse = &t;
    }
    const Value value = d.dense != nullptr ? importer_.ConstantOf(*d.dense, name)
                                           : importer_.ConstantOf(*d.sparse, name);
    if (const Status failed = importer_.b().TakeStatus(); !failed.ok()) return failed;
    if (value.bits != 0) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{}: input '{}': elements of fewer than 8 bits cannot be given",
                                file_.path(), name));
    }
    d.bytes = static_cast<size_t>(value.constant->size()) * DTypeBytes(value.dtype());
    d.type = value.type;
    const bool declared = input != nullptr && input->type().tensor_type().has_shape();
    if (!declared) return d;
    d.type = HeldType(input->type());
    if (d.type == nullptr || JoinTypes(d.type, value.type) == nullptr) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: input '{}': its initializer is {}", file_.path(), name,
                                ir::TypeToString(value.type)));
    }
    return d;
  }

  // By ONNX Runtime's rule: initializers that are inputs too, from IR version 4 on, which says that
  // others are constants; before, all had to be inputs. Or those that the user names.
  Result<std::vector<Default>> Defaults() {
    const onnx::GraphProto& graph = file_.model().graph();
    const auto& wanted = options_.overridable;
    const auto is_named = [&](std::string_view name) {
      return wanted && std::ranges::find(*wanted, name) != wanted->end();
    };
    std::set<std::string_view> initializers, taken;
    for (const auto& t : graph.initializer()) initializers.insert(t.name());
    for (const auto& t : graph.sparse_initializer()) initializers.insert(t.values().name());
    std::vector<Default> defaults;
    const bool by_rule = file_.model().ir_version() >= 4 && (!wanted || is_named(kEveryDefault));
    for (const auto& input : graph.input()) {
      if (!initializers.contains(input.name()) || !(by_rule || is_named(input.name()))) continue;
      taken.insert(input.name());
      RELAYVM_ASSIGN_OR_RETURN(Default d, DefaultOf(input.name(), &input));
      defaults.push_back(std::move(d));
    }
    for (const std::string& name : wanted.value_or(std::vector<std::string>())) {
      if (taken.contains(name)) continue;
      if (initializers.contains(name)) {
        taken.insert(name);
        RELAYVM_ASSIGN_OR_RETURN(Default d, DefaultOf(name, nullptr));
        defaults.push_back(std::move(d));
      } else if (name != kEveryDefault && name != kNoDefault) {
        return Status(
            StatusCode::kInvalidArgument,
            fmt::format("--overridable {}: the model has no initializer of that name{}", name,
                        DidYouMean(name, std::vector<std::string_view>(initializers.begin(),
                                                                       initializers.end()))));
      }
    }
    return defaults;
  }

  // Without a word of the user, only what costs little is there twice.
  Status WithDefaults(const std::map<std::string, Value>& inputs, ir::Function* main,
                      std::vector<Value>* outputs) {
    auto found = Defaults();
    if (options_.overridable) {
      RELAYVM_RETURN_IF_ERROR(found.status());
      return found->empty() ? OkStatus() : AddDefaults(*found, inputs, main, outputs);
    }
    if (!found.ok()) return Warn("initializers that are inputs too", found.status().message());
    if (found->empty()) return OkStatus();
    size_t bytes = 0;
    for (const Default& d : *found) bytes += d.bytes;
    if (bytes > kMostDefaults) {
      return Warn(
          fmt::format("{} initializers that are inputs too", found->size()),
          fmt::format("they are {:.1f} MiB; with --overridable NAME or all a caller may give "
                      "others",
                      static_cast<double>(bytes) / (1 << 20)));
    }
    const Status failed = AddDefaults(*found, inputs, main, outputs);
    if (failed.ok() || failed.code() == StatusCode::kCancelled) return failed;
    // Those that say shapes are what is in the way.
    std::erase_if(*found,
                  [](const Default& d) { return !IsFloat(d.type->As<TensorType>()->dtype); });
    if (!found->empty() && AddDefaults(*found, inputs, main, outputs).ok()) return OkStatus();
    return Warn("initializers that are inputs too", failed.message());
  }

  Status Warn(std::string_view what, std::string_view why) const {
    if (options_.warn)
      options_.warn(fmt::format("{}: {} stay constants: {}", file_.path(), what, why));
    return OkStatus();
  }

  Status AddDefaults(const std::vector<Default>& defaults, std::map<std::string, Value> inputs,
                     ir::Function* main, std::vector<Value>* outputs) {
    TypedBuilder& b = importer_.b();
    std::vector<const ir::Var*> params;
    Value any;
    for (const Default& d : defaults) {
      const ir::Var* var = b.NewVar(d.name, OptionalType(d.type));
      params.push_back(var);
      const Value given = b.Use(var);
      const Value is_given = HasElement(given);
      any = any ? b.Op("logical_or", {any, is_given}) : is_given;
      const Value constant = d.dense != nullptr ? importer_.ConstantOf(*d.dense, d.name)
                                                : importer_.ConstantOf(*d.sparse, d.name);
      inputs[d.name] = b.If(is_given, Held(b, given), constant, b.Open(d.type));
    }
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> general, ImportGraph(inputs));
    ir::TupleType type;
    std::vector<Value> plain = *outputs;
    for (size_t i = 0; i < plain.size(); ++i) {
      const ir::Type joined = JoinAny(plain[i].type, general[i].type);
      if (joined == nullptr) {
        return {StatusCode::kUnsupported,
                fmt::format("{}: output '{}' is {}, and {} where an initializer is overridden",
                            file_.path(), file_.model().graph().output(static_cast<int>(i)).name(),
                            ir::TypeToString(plain[i].type), ir::TypeToString(general[i].type))};
      }
      plain[i] = CoerceAny(b, plain[i], joined);
      general[i] = CoerceAny(b, general[i], joined);
      type.fields.push_back(b.Open(joined));
    }
    const Value result = b.If(any, b.Tuple(general), b.Tuple(plain), ir::MakeType(std::move(type)));
    if (const Status failed = b.TakeStatus(); !failed.ok()) return failed;
    *outputs = b.Fields(result);
    main->params.insert(main->params.end(), params.begin(), params.end());
    return OkStatus();
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
  // has no such type. A sequence of the host's own is a List, also one that may be left out.
  // `given` is what --shape says.
  static ir::Type HeldType(const onnx::TypeProto& type, const std::string* given = nullptr,
                           int depth = 0, bool in_sequence = false) {
    if (type.has_tensor_type()) {
      const auto& tensor = type.tensor_type();
      const auto dtype = DTypeOfOnnx(tensor.elem_type());
      if (!dtype || (!tensor.has_shape() && given == nullptr)) return nullptr;
      std::vector<Dim> shape = given == nullptr ? std::vector<Dim>() : DimsOfText(*given);
      if (tensor.has_shape())
        shape.resize(static_cast<size_t>(tensor.shape().dim_size()), Dim::Any());
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
                 given, depth + 1, in_sequence || is_sequence);
    if (held == nullptr) return nullptr;
    if (!is_sequence) return OptionalType(held);
    return in_sequence ? SequenceType(held) : ListType(held);
  }

  Value HasElement(const Value& optional) {
    return CallPrelude(importer_.b(), "optional_has", {optional},
                       ir::MakeTensorType({}, DType::kBool));
  }
  Value NoneValue() { return importer_.b().Wrap(importer_.b().Tuple({}).node, NoneType()); }

  // A List as the sequence that operators take, also one that may be left out. Elements of a few
  // bits are one a byte, whose other bits do not count.
  Value FromHost(const Value& v, const onnx::TypeProto& declared) {
    TypedBuilder& b = importer_.b();
    if (const NarrowInt* narrow = NarrowIntOf(declared.tensor_type().elem_type())) {
      Value low = v;
      if (narrow->bits < 8) {
        const double count = 1 << narrow->bits;
        const Term bits =
            Term(b, v).As(DType::kInt32).Call("bitwise_and", b.Scalar(count - 1, DType::kInt32));
        low = IsSignedInt(narrow->dtype) ? Select(bits >= count / 2, bits - count, bits) : bits;
        low = b.Cast(low, narrow->dtype);
      }
      low.bits = narrow->kind();
      return low;
    }
    if (ElementType(v.type, "List") != nullptr) return OfList(b, v);
    const ir::Type held = ElementType(v.type, "Optional");
    if (held == nullptr || ElementType(held, "List") == nullptr) return v;
    const ir::Type type = OptionalType(SequenceType(ElementType(held, "List")));
    return b.If(HasElement(v), Coerce(b, OfList(b, Held(b, v)), type), Coerce(b, NoneValue(), type),
                type);
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
    if ((v.is_tensor() || IsOneOf(v)) && !declared.has_optional_type()) return v;
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
    const ir::Type held = ElementType(type, "Optional");
    const ir::Type element = held == nullptr ? nullptr : ElementType(held, "Sequence");
    if (element == nullptr) return Coerce(importer_.b(), v, type);
    TypedBuilder& b = importer_.b();
    const ir::Type list = OptionalType(ListType(element));
    if (ElementType(v.type, "Optional") == nullptr) return Coerce(b, v, list);
    return b.If(HasElement(v), Coerce(b, Held(b, v), list), Coerce(b, NoneValue(), list), list);
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
    const NarrowInt* narrow = NarrowIntOf(tensor.elem_type());
    const auto dtype = narrow != nullptr ? narrow->dtype : DTypeOfOnnx(tensor.elem_type());
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
  RELAYVM_ASSIGN_OR_RETURN(auto model, ModelFile::Read(path, std::move(file), options.files));
  return ModelImporter(*model, options).Run();
}

}  // namespace relayvm::import

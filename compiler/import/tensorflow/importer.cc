#include "compiler/import/tensorflow/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "bytecode/base/printable.h"
#include "bytecode/base/suggestion.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/input_types.h"
#include "compiler/import/onnx/strings.h"
#include "compiler/import/tensorflow/entry.h"
#include "compiler/import/tensorflow/graph_importer.h"
#include "compiler/import/tensorflow/object_graph.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import {

namespace tensorflow {

namespace {

// What is not known before an import, and turns out by one.
struct Guess {
  std::set<std::string> states;      // variables that the program changes
  std::map<std::string, int> ranks;  // of inputs whose rank nothing tells
};

std::string_view NodeOfTensor(std::string_view tensor) {
  return tensor.substr(0, tensor.find(':'));
}

class ModelImporter {
 public:
  ModelImporter(GraphFile& file, const ImportOptions& options, const Guess& guess)
      : file_(file),
        options_(options),
        states_(guess.states),
        ranks_(guess.ranks),
        module_(PreludeModule()),
        types_(module_, options),
        importer_(file, module_, module_.sources->AddModel(file.path()), options.stop) {
    importer_.SetWarn(options.warn);
    importer_.SetStates(guess.states);
  }

  // Variables that it was seen to change, inputs whose rank nothing tells.
  const std::set<std::string>& assigned() const { return importer_.assigned(); }
  const std::vector<std::string>& unranked() const { return unranked_; }
  bool is_missing() const { return importer_.is_missing(); }
  const std::vector<int>& output_ranks() const { return output_ranks_; }

  Result<ir::Module> Run() {
    const bool names_nodes = !file_.is_saved_model() && !options_.outputs.empty();
    RELAYVM_ASSIGN_OR_RETURN(
        const Entry entry,
        FindEntry(file_, names_nodes ? fmt::format("{}", fmt::join(options_.outputs, ","))
                                     : options_.signature));
    RELAYVM_RETURN_IF_ERROR(CheckParts(entry));
    RELAYVM_RETURN_IF_ERROR(Initialise());
    TypedBuilder& b = importer_.b();
    ir::Function main;
    main.name = "main";
    std::vector<std::pair<const Port*, const ir::Var*>> optional;
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      const Port& input = entry.inputs[i];
      RELAYVM_ASSIGN_OR_RETURN(ir::Type type, TypeOf(input, i));
      if (input.has_default) type = OptionalType(type);
      const ir::Var* var = b.NewVar(input.name, std::move(type));
      main.params.push_back(var);
      if (input.has_default) {
        optional.emplace_back(&input, var);
      } else {
        importer_.Bind(input.tensor, b.Use(var));
      }
    }
    RELAYVM_RETURN_IF_ERROR(types_.CheckUsed());
    std::vector<std::string> tensors;
    AttrList names;
    for (const Port& output : entry.outputs) {
      tensors.push_back(output.tensor);
      names.emplace_back(output.name);
    }
    RELAYVM_RETURN_IF_ERROR(BindStates(&main));
    auto imported = ImportAll(tensors);
    if (!imported.ok()) return imported.status();
    std::vector<Value> outputs = *std::move(imported);
    if (!optional.empty()) RELAYVM_RETURN_IF_ERROR(WithGiven(optional, tensors, &outputs));
    NameStates(tensors.size(), &main, &names);
    main.attrs[ir::kOutputNames] = std::move(names);
    const Value result = outputs.size() == 1 ? outputs[0] : b.Tuple(outputs);
    RELAYVM_RETURN_IF_ERROR(DefineEntry(b, module_, main, result));
    return std::move(module_);
  }

 private:
  // Inputs that are parts of one that is no tensor.
  Status CheckParts(const Entry& entry) {
    for (const Port& output : entry.outputs) {
      if (!file_.is_saved_model()) return OkStatus();
      const auto part = FindComposite(file_, output.tensor);
      for (const Port& input : entry.inputs) {
        if (!part || NodeOfTensor(input.tensor) != NodeOfTensor(part->tensor)) continue;
        return {StatusCode::kUnsupported,
                fmt::format("{}: input '{}' is a {} tensor, which is not supported; give the model "
                            "a signature of dense tensors",
                            file_.path(), Printable(input.name), part->kind)};
      }
    }
    return OkStatus();
  }

  // What variables and tables hold at first.
  Status Initialise() {
    if (!file_.is_saved_model()) return OkStatus();
    TypedBuilder& b = importer_.b();
    if (!file_.file_name_tensor().empty())
      importer_.Bind(file_.file_name_tensor(), Texts(b, {""}, {}));
    for (const auto& [tensor, name] : file_.assets())
      importer_.Bind(tensor, Texts(b, {std::string(name)}, {}));
    if (!file_.restore_op().empty()) importer_.ImportEffects(file_.restore_op());
    if (b.status().ok()) importer_.RestoreObjects();
    for (const std::string_view node : InitialisersOf(file_)) importer_.ImportEffects(node);
    return b.status();
  }

  // The outputs, then what the program changed.
  Result<std::vector<Value>> ImportAll(const std::vector<std::string>& tensors) {
    std::vector<Value> outputs = importer_.Import(tensors);
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] = importer_.Loaded(outputs[i]);
      if (!importer_.b().status().ok() || outputs[i].is_tensor()) continue;
      return Status(
          StatusCode::kUnsupported,
          fmt::format("{}: output '{}' is no tensor, but {}", file_.path(), Printable(tensors[i]),
                      IsComplex(outputs[i]) ? "of complex numbers" : "a handle or a list"));
    }
    for (const std::string& name : states_) outputs.push_back(importer_.Read({.name = name}));
    const Status failed = importer_.b().TakeStatus();
    if (importer_.is_missing()) return importer_.Unsupported(tensors);
    if (!failed.ok()) return failed;
    output_ranks_.clear();
    for (const Value& v : outputs) output_ranks_.push_back(v.rank());
    return outputs;
  }

  // --- State ---

  // Where a variable has a first value, its input may be left out.
  Status BindStates(ir::Function* main) {
    TypedBuilder& b = importer_.b();
    for (const std::string& name : states_) {
      const Value first = importer_.Read({.name = name});
      // Nothing has asked for the handle yet where nothing restores it.
      if (!importer_.handles().contains(name) && file_.graph().places.contains(name))
        importer_.Import({name});
      const auto handle = importer_.handles().find(name);
      const auto variable =
          handle == importer_.handles().end() ? nullptr : importer_.ResourceOf(handle->second);
      ir::Type type = first ? first.type : nullptr;
      if (variable != nullptr && variable->shape) {
        ir::Type declared = ir::MakeTensorType(*variable->shape, variable->dtype);
        type = type == nullptr ? declared : JoinTypes(type, declared);
      }
      if (type == nullptr) {
        return {StatusCode::kUnsupported,
                fmt::format("{}: variable '{}', which the program changes, has no shape",
                            file_.path(), Printable(name))};
      }
      const ir::Var* var = b.NewVar(name, first ? OptionalType(type) : b.Open(type));
      main->params.push_back(var);
      importer_.Write({.name = name}, first ? GivenOr(var, first, type) : b.Use(var));
    }
    return b.status();
  }

  Value GivenOr(const ir::Var* var, const Value& otherwise, const ir::Type& type) {
    TypedBuilder& b = importer_.b();
    const Value given = b.Use(var);
    const Value has = CallPrelude(b, "optional_has", {given}, ir::MakeTensorType({}, DType::kBool));
    return b.If(has, Held(b, given), otherwise, b.Open(type));
  }

  void NameStates(size_t outputs, ir::Function* main, AttrList* names) {
    if (states_.empty()) return;
    AttrList pairs;
    size_t input = main->params.size() - states_.size();
    for (const std::string& name : states_) {
      names->emplace_back(name);
      pairs.emplace_back(static_cast<int64_t>(input++));
      pairs.emplace_back(static_cast<int64_t>(outputs++));
    }
    main->attrs[ir::kStates] = std::move(pairs);
  }

  // --- Inputs ---

  // Inputs with defaults: the graph is there twice, so that what they decide is decided where none
  // is given. Where what may be given cannot be compiled, only the defaults count.
  Status WithGiven(const std::vector<std::pair<const Port*, const ir::Var*>>& optional,
                   const std::vector<std::string>& tensors, std::vector<Value>* outputs) {
    TypedBuilder& b = importer_.b();
    const Value no = b.Full({}, 0, DType::kBool);
    Value any;
    for (const auto& [port, var] : optional) {
      const Value given = b.Use(var);
      const Value has =
          CallPrelude(b, "optional_has", {given}, ir::MakeTensorType({}, DType::kBool));
      any = any ? b.Op("logical_or", {any, has}) : has;
      const std::vector<Value> otherwise = importer_.Import({port->tensor});
      if (otherwise.empty()) return b.status();
      const ir::Type type = JoinTypes(ElementType(var->type, "Optional"), otherwise[0].type);
      if (type == nullptr) {
        return InvalidInput(fmt::format("{}: input '{}' has the default {}", file_.path(),
                                        Printable(port->name),
                                        ir::TypeToString(otherwise[0].type)));
      }
      bound_.emplace_back(port->tensor, GivenOr(var, otherwise[0], type));
    }
    importer_.StartOver();
    for (const auto& [tensor, value] : bound_) importer_.Bind(tensor, value);
    auto general = ImportAll(tensors);
    std::vector<Value> joined;
    if (general.ok()) joined = importer_.Joined(any, *general, *outputs);
    if (const Status failed = b.TakeStatus(); !failed.ok() || !general.ok()) {
      if (options_.warn) {
        options_.warn(fmt::format("{}: inputs with defaults always have those: {}", file_.path(),
                                  (general.ok() ? failed : general.status()).message()));
      }
      return OkStatus();
    }
    *outputs = std::move(joined);
    return OkStatus();
  }

  Result<ir::Type> TypeOf(const Port& input, size_t position) {
    const auto fail = [&](StatusCode code, std::string_view why) {
      return Status(code,
                    fmt::format("{}: input '{}': {}", file_.path(), Printable(input.name), why));
    };
    const auto dtype = DTypeOf(input.type);
    if (!dtype || IsComplexType(input.type)) {
      return fail(StatusCode::kUnsupported,
                  fmt::format("elements of {} are not supported", TypeName(input.type)));
    }
    if (input.shape)
      return types_.Of(input.name, position, ir::MakeTensorType(*input.shape, *dtype));
    if (types_.IsSaid(input.name, position)) {
      RELAYVM_ASSIGN_OR_RETURN(ir::Type said, types_.Of(input.name, position));
      const auto* tensor = said->As<TensorType>();
      if (tensor == nullptr) return fail(StatusCode::kInvalidArgument, "it is a tensor");
      return ir::MakeTensorType(tensor->shape, *dtype);
    }
    if (!readers_) readers_.emplace(file_.graph());
    auto rank = readers_->Of(input.tensor);
    if (!rank) {
      unranked_.push_back(input.name);
      const auto guessed = ranks_.find(input.name);
      if (guessed != ranks_.end()) rank = guessed->second;
    }
    if (!rank) {
      return fail(StatusCode::kUnsupported,
                  fmt::format("its rank is not declared; give its shape: --shape {}=1x?x?",
                              Printable(input.name)));
    }
    const std::vector<Dim> open(static_cast<size_t>(*rank), Dim::Any());
    return types_.Of(input.name, position, ir::MakeTensorType(open, *dtype));
  }

  GraphFile& file_;
  const ImportOptions& options_;
  const std::set<std::string>& states_;
  const std::map<std::string, int>& ranks_;
  std::vector<std::string> unranked_;
  std::vector<int> output_ranks_;
  std::optional<ReadersRanks> readers_;
  ir::Module module_;
  InputTypes types_;
  GraphImporter importer_;
  std::vector<std::pair<std::string, Value>> bound_;
};

// An import with these ranks. What a program changes is its state, which is known once it is seen
// to change it.
struct Outcome {
  Result<ir::Module> module;
  std::vector<std::string> unranked;
  std::vector<int> output_ranks;
  bool is_missing = false;
};
Outcome ImportWith(GraphFile& file, const ImportOptions& options, Guess guess) {
  for (;;) {
    ModelImporter importer(file, options, guess);
    Outcome outcome{importer.Run(), importer.unranked(), importer.output_ranks(),
                    importer.is_missing()};
    const size_t before = guess.states.size();
    guess.states.insert(importer.assigned().begin(), importer.assigned().end());
    if (guess.states.size() == before) return outcome;
  }
}

// Inputs whose rank nothing says: the first ranks that the program can be made with.
Result<ir::Module> ImportRanked(GraphFile& file, const ImportOptions& options) {
  Outcome first = ImportWith(file, options, {});
  if (first.module.ok() || first.unranked.empty() || first.is_missing)
    return std::move(first.module);
  constexpr int kRanks[] = {1, 4, 2, 3, 0, 5};
  ImportOptions quiet = options;
  quiet.warn = nullptr;
  // Each is an import.
  const int most_tries = file.graph().nodes.size() < 2000 ? 40 : 6;
  Guess guess;
  std::vector<std::string> unranked = first.unranked;
  std::vector<size_t> at(1, 0);
  for (int tries = 0; tries < most_tries; ++tries) {
    at.resize(unranked.size(), 0);
    for (size_t i = 0; i < unranked.size(); ++i) guess.ranks[unranked[i]] = kRanks[at[i]];
    Outcome outcome = ImportWith(file, quiet, guess);
    if (outcome.unranked.size() > unranked.size()) {  // the first one stopped the others
      unranked = std::move(outcome.unranked);
      continue;
    }
    if (outcome.is_missing || outcome.module.status().code() == StatusCode::kCancelled)
      return std::move(outcome.module);
    if (outcome.module.ok()) {
      // One that is only broadcast into others is a number.
      for (size_t i = 0; i < unranked.size() && tries + static_cast<int>(i) < most_tries; ++i) {
        const std::string& name = unranked[i];
        Guess scalar = guess;
        scalar.ranks[name] = 0;
        if (guess.ranks[name] != 1) continue;
        Outcome other = ImportWith(file, quiet, scalar);
        if (!other.module.ok() || other.output_ranks != outcome.output_ranks) continue;
        guess = scalar;
        outcome = std::move(other);
      }
      for (const std::string& name : unranked) {
        if (!options.warn) break;
        options.warn(
            fmt::format("{}: input '{}': its rank is not declared: {} is taken; "
                        "for another say --shape {}=1x?x?",
                        file.path(), Printable(name), guess.ranks[name], Printable(name)));
      }
      return std::move(outcome.module);
    }
    size_t i = 0;
    while (i < at.size() && ++at[i] == std::size(kRanks)) at[i++] = 0;
    if (i == at.size()) break;
  }
  return std::move(first.module);
}

}  // namespace

}  // namespace tensorflow

Result<ir::Module> ImportTensorFlow(const std::string& path, SharedBytes file,
                                    const ImportOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(auto graph,
                           tensorflow::GraphFile::Read(path, std::move(file), options.files));
  return tensorflow::ImportRanked(*graph, options);
}

}  // namespace relayvm::import

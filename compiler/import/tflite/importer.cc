#include "compiler/import/tflite/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "bytecode/base/printable.h"
#include "bytecode/base/suggestion.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/input_types.h"
#include "compiler/import/tflite/graph_importer.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import {

namespace tflite {
namespace {

// What is compiled: a subgraph, and the names of what goes in and out.
struct Entry {
  int subgraph = 0;
  std::vector<std::string> inputs;  // of the subgraph's inputs
  std::vector<int> outputs;         // tensors
  std::vector<std::string> output_names;
};

std::string KeyOf(const fb::SignatureDef& s) {
  return s.signature_key() == nullptr ? "" : s.signature_key()->str();
}

class ModelImporter {
 public:
  ModelImporter(ModelFile& file, const ImportOptions& options)
      : file_(file),
        options_(options),
        module_(PreludeModule()),
        types_(module_, options),
        importer_(file, module_, module_.sources->AddModel(file.path()), options.stop) {}

  Result<ir::Module> Run() {
    RELAYVM_ASSIGN_OR_RETURN(const Entry entry, ChosenEntry());
    RELAYVM_RETURN_IF_ERROR(importer_.CheckOperators(entry.subgraph));
    TypedBuilder& b = importer_.b();
    ir::Function main;
    main.name = "main";
    const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(entry.subgraph)];
    std::vector<Value> inputs;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      RELAYVM_ASSIGN_OR_RETURN(
          const ir::Type type,
          InputType(graph.tensors[static_cast<size_t>(graph.inputs[i])], entry.inputs[i], i));
      main.params.push_back(b.NewVar(entry.inputs[i], type));
      inputs.push_back(b.Use(main.params.back()));
    }
    RELAYVM_RETURN_IF_ERROR(types_.CheckUsed());
    RELAYVM_RETURN_IF_ERROR(importer_.FindVariables(entry.subgraph));
    RELAYVM_RETURN_IF_ERROR(AddStates(entry, &main));
    std::vector<Value> outputs = importer_.Import(entry.subgraph, inputs, entry.outputs);
    RELAYVM_RETURN_IF_ERROR(b.status());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] && !IsComplex(entry, i)) continue;
      return Status(
          StatusCode::kUnsupported,
          fmt::format("{}: output '{}': elements of {}", file_.path(),
                      Printable(entry.output_names[i]),
                      TypeName(graph.tensors[static_cast<size_t>(entry.outputs[i])].type)));
    }
    std::vector<std::string> names = entry.output_names;
    KeepStates(&main, &outputs, &names);
    AttrList list;
    for (const std::string& name : names) list.emplace_back(name);
    main.attrs[ir::kOutputNames] = std::move(list);
    const bool is_one = outputs.size() == 1 && states_.empty();
    const Value result = is_one ? outputs[0] : b.Tuple(outputs);
    RELAYVM_RETURN_IF_ERROR(DefineEntry(b, module_, main, result));
    return std::move(module_);
  }

 private:
  bool IsComplex(const Entry& entry, size_t output) const {
    return file_.subgraphs()[static_cast<size_t>(entry.subgraph)]
        .tensors[static_cast<size_t>(entry.outputs[output])]
        .is_complex();
  }

  // --- Which part of the model ---

  Result<Entry> ChosenEntry() const {
    const auto* all = file_.model().signature_defs();
    const fb::SignatureDef* chosen = nullptr;
    std::vector<std::string> keys;
    for (uint32_t i = 0; all != nullptr && i < all->size(); ++i) {
      const fb::SignatureDef* s = all->Get(i);
      keys.push_back(KeyOf(*s));
      const bool is_default = options_.signature.empty() && s->subgraph_index() == 0;
      if (chosen == nullptr && (is_default || KeyOf(*s) == options_.signature)) chosen = s;
    }
    if (chosen == nullptr && options_.signature.empty() && keys.size() == 1) chosen = all->Get(0);
    if (chosen == nullptr && !options_.signature.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    keys.empty()
                        ? fmt::format("--signature {}: the model has none", options_.signature)
                        : fmt::format("--signature {}: the model has {}", options_.signature,
                                      fmt::join(keys, ", ")));
    }
    Entry entry;
    entry.subgraph = chosen == nullptr ? 0 : static_cast<int>(chosen->subgraph_index());
    const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(entry.subgraph)];
    std::map<int, std::string> inputs;
    if (chosen != nullptr && chosen->inputs() != nullptr) {
      for (const fb::TensorMap* m : *chosen->inputs())
        inputs[static_cast<int>(m->tensor_index())] = m->name() ? m->name()->str() : "";
    }
    for (const int i : graph.inputs) {
      const auto named = inputs.find(i);
      entry.inputs.push_back(named != inputs.end() ? named->second
                                                   : graph.tensors[static_cast<size_t>(i)].name);
    }
    entry.outputs = graph.outputs;
    for (const int i : graph.outputs)
      entry.output_names.push_back(graph.tensors[static_cast<size_t>(i)].name);
    if (chosen != nullptr && chosen->outputs() != nullptr && chosen->outputs()->size() > 0)
      TakeOutputs(*chosen, graph, &entry);
    MakeDistinct(&entry.inputs);
    MakeDistinct(&entry.output_names);
    return entry;
  }

  // The signature's, in the order of the subgraph.
  static void TakeOutputs(const fb::SignatureDef& signature, const Subgraph& graph, Entry* entry) {
    std::vector<std::pair<int, std::string>> named;
    for (const fb::TensorMap* m : *signature.outputs())
      named.emplace_back(static_cast<int>(m->tensor_index()), m->name() ? m->name()->str() : "");
    const auto place = [&](int tensor) { return std::ranges::find(graph.outputs, tensor); };
    std::ranges::stable_sort(named, {}, [&](const auto& n) { return place(n.first); });
    entry->outputs.clear();
    entry->output_names.clear();
    for (auto& [tensor, name] : named) {
      entry->outputs.push_back(tensor);
      entry->output_names.push_back(std::move(name));
    }
  }

  // Names that are empty, or there twice, are their positions.
  static void MakeDistinct(std::vector<std::string>* names) {
    std::set<std::string> seen;
    for (size_t i = 0; i < names->size(); ++i) {
      std::string& name = (*names)[i];
      if (name.empty() || !seen.insert(name).second) name = std::to_string(i);
    }
  }

  // --- Inputs ---

  Result<ir::Type> InputType(const Tensor& t, const std::string& name, size_t position) {
    const auto fail = [&](StatusCode code, const std::string& what) {
      return Status(code, fmt::format("{}: input '{}': {}", file_.path(), Printable(name), what));
    };
    if (!t.dtype || t.is_complex())
      return fail(StatusCode::kUnsupported, fmt::format("elements of {}", TypeName(t.type)));
    const auto of = [&](bool keeps) {
      std::vector<Dim> dims;
      for (const int64_t d : t.shape) dims.push_back(d < 0 || !keeps ? Dim::Any() : Dim(d));
      return types_.Of(name, position, ir::MakeTensorType(std::move(dims), *t.dtype));
    };
    // Without a signature the shape that a file has is where interpreters begin, and any other may
    // be said. One that has a signature says which dims are open; numbers go before it.
    const bool has_signature =
        t.table->shape_signature() != nullptr && t.table->shape_signature()->size() > 0;
    if (!types_.IsSaid(name, position)) return of(true);
    auto said = has_signature ? of(true) : of(false);
    return said.ok() || !has_signature ? said : of(false);
  }

  // --- What is kept between runs ---

  // Each variable becomes an input and an output of one name behind the others: an input that may
  // be left out where it has a first value. One that nothing assigns is that value.
  Status AddStates(const Entry& entry, ir::Function* main) {
    TypedBuilder& b = importer_.b();
    std::set<std::string> taken(entry.inputs.begin(), entry.inputs.end());
    taken.insert(entry.output_names.begin(), entry.output_names.end());
    for (Variable& v : importer_.variables()) {
      if (v.first && !v.is_assigned) {
        v.current = v.first;
        continue;
      }
      if (v.type == nullptr && v.first) v.type = v.first.type;
      if (v.type == nullptr) continue;  // nobody reads or assigns it
      std::string name = v.name.empty() ? "state" : v.name;
      while (taken.contains(name)) name += "'";
      taken.insert(name);
      if (v.first) {
        const ir::Type held = v.first.type->As<TensorType>() != nullptr ? WithFirst(v) : v.type;
        main->params.push_back(b.NewVar(name, OptionalType(held)));
        const Value given = b.Use(main->params.back());
        b.UsePrelude();
        const Value is_given =
            CallPrelude(b, "optional_has", {given}, ir::MakeTensorType({}, DType::kBool));
        v.current = b.If(is_given, Held(b, given), v.first, b.Open(held));
      } else {
        main->params.push_back(b.NewVar(name, b.Open(v.type)));
        v.current = b.Use(main->params.back());
      }
      states_.push_back({main->params.size() - 1, &v});
    }
    return b.status();
  }

  // The type of a first value, where dims are not declared otherwise.
  static ir::Type WithFirst(const Variable& v) {
    if (v.type == nullptr) return v.first.type;
    const TensorType& first = v.first.tensor();
    const auto* declared = v.type->As<TensorType>();
    if (declared == nullptr || declared->rank() != first.rank()) return v.first.type;
    return JoinTypes(v.type, v.first.type);
  }

  void KeepStates(ir::Function* main, std::vector<Value>* outputs,
                  std::vector<std::string>* names) {
    if (states_.empty()) return;
    AttrList pairs;
    for (const auto& [param, variable] : states_) {
      pairs.emplace_back(static_cast<int64_t>(param));
      pairs.emplace_back(static_cast<int64_t>(outputs->size()));
      outputs->push_back(variable->current);
      names->push_back(main->params[param]->name);
    }
    main->attrs[ir::kStates] = std::move(pairs);
  }

  ModelFile& file_;
  const ImportOptions& options_;
  ir::Module module_;
  InputTypes types_;
  GraphImporter importer_;
  struct State {
    size_t param;
    Variable* variable;
  };
  std::vector<State> states_;
};

}  // namespace
}  // namespace tflite

Result<ir::Module> ImportTfLite(const std::string& path, SharedBytes file,
                                const ImportOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(auto model, tflite::ModelFile::Read(path, std::move(file)));
  return tflite::ModelImporter(*model, options).Run();
}

}  // namespace relayvm::import

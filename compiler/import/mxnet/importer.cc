#include "compiler/import/mxnet/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/printable.h"
#include "compiler/frontend/parser.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/input_types.h"
#include "compiler/import/mxnet/arrays.h"
#include "compiler/import/mxnet/declared_types.h"
#include "compiler/import/mxnet/graph_importer.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import {

namespace {

using mxnet::Arrays;
using mxnet::Entry;
using mxnet::OperatorDef;
using mxnet::Symbol;
using mxnet::SymbolNode;

ir::Module PreludeModule() {
  auto module = frontend::ParseRelay("prelude", kPrelude);
  return module.ok() ? *std::move(module) : ir::MakeModule();
}

// --- Where the arrays are ---

// "net-symbol.json", "net.json": "net".
std::string PrefixOf(std::string name) {
  for (const std::string_view ending : {"-symbol.json", ".json"}) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

// Files beside the symbol that may hold its arrays: "net-0000.params", else "net.params".
std::vector<std::string> ArraysBeside(const std::string& path, InputFiles& files) {
  namespace fs = std::filesystem;
  const fs::path symbol(path);
  const std::string prefix = PrefixOf(symbol.filename().string());
  std::vector<std::string> found;
  const fs::path folder = symbol.has_parent_path() ? symbol.parent_path() : fs::path(".");
  constexpr std::string_view ending = ".params";
  for (const std::string& name : files.Names(folder.string(), std::string(ending))) {
    constexpr size_t kDigits = 4;
    if (name.size() != prefix.size() + 1 + kDigits + ending.size()) continue;
    const auto digits = std::string_view(name).substr(prefix.size() + 1, kDigits);
    if (name.starts_with(prefix + "-") && name.ends_with(ending) &&
        std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
      found.push_back((folder / name).string());
    }
  }
  const std::string plain = folder / (prefix + ".params");
  if (found.empty() && files.IsFile(plain)) found.push_back(plain);
  return found;
}

Status AddFile(const std::string& path, const SharedBytes& content, Arrays* arrays) {
  const std::string_view start(reinterpret_cast<const char*>(content.data()),
                               std::min<size_t>(content.size(), 64));
  if (mxnet::AreArrays(start) || content.size() < 2) {
    RELAYVM_ASSIGN_OR_RETURN(*arrays, mxnet::ReadArrays(path, content));
    return OkStatus();
  }
  // An .npz of the same arrays, or TVM's.
  RELAYVM_ASSIGN_OR_RETURN(auto params, frontend::ReadParams(path, content));
  for (auto& [name, tensor] : params) arrays->emplace(name, std::move(tensor));
  return OkStatus();
}

// Results by name: "fc1", "fc1_output", "split_output1", or a variable's.
Status ChooseHeads(const std::string& path, const std::vector<std::string>& names, Symbol* symbol) {
  if (names.empty()) return OkStatus();
  symbol->heads.clear();
  for (const std::string& name : names) {
    std::optional<Entry> found;
    for (uint32_t i = 0; i < symbol->nodes.size() && !found; ++i) {
      const std::string& node = symbol->nodes[i].name;
      if (!name.starts_with(node)) continue;
      std::string_view rest = std::string_view(name).substr(node.size());
      uint32_t output = 0;
      if (rest.starts_with("_output")) {
        rest.remove_prefix(std::string_view("_output").size());
        const auto [end, error] = std::from_chars(rest.begin(), rest.end(), output);
        if (!rest.empty() && (error != std::errc() || end != rest.end())) continue;
        rest = {};
      }
      if (rest.empty()) found = Entry{i, output};
    }
    if (!found) {
      return {StatusCode::kInvalidArgument,
              fmt::format("--output-node {}: {} has no node of that name", name, path)};
    }
    symbol->heads.push_back(*found);
  }
  return OkStatus();
}

// --- The module ---

class ModelImporter {
 public:
  ModelImporter(const std::string& path, Symbol symbol, const ImportOptions& options)
      : path_(path),
        symbol_(std::move(symbol)),
        options_(options),
        module_(PreludeModule()),
        importer_(symbol_, module_, module_.sources->AddModel(path), options),
        types_(module_, options) {}

  Result<ir::Module> Run() {
    RELAYVM_RETURN_IF_ERROR(importer_.CheckOperators(path_));
    RELAYVM_RETURN_IF_ERROR(ReadWeights());
    RELAYVM_RETURN_IF_ERROR(AddVariables());
    RELAYVM_RETURN_IF_ERROR(types_.CheckUsed());
    const std::vector<Value> outputs = importer_.Convert(variables_);
    RELAYVM_RETURN_IF_ERROR(importer_.b().status());
    AttrList names;
    for (const std::string& name : OutputNames()) names.emplace_back(name);
    main_.name = "main";
    main_.attrs[ir::kOutputNames] = std::move(names);
    const Value result = outputs.size() == 1 ? outputs[0] : importer_.b().Tuple(outputs);
    RELAYVM_RETURN_IF_ERROR(DefineEntry(importer_.b(), module_, main_, result));
    return std::move(module_);
  }

 private:
  Status ReadWeights() {
    std::string file = options_.params_file;
    if (options_.params_content) {
      RELAYVM_RETURN_IF_ERROR(
          AddFile(file.empty() ? path_ : file, *options_.params_content, &arrays_));
    } else {
      if (file.empty()) {
        beside_ = ArraysBeside(path_, *options_.files);
        if (beside_.size() == 1) file = beside_[0];
      }
      if (!file.empty()) {
        RELAYVM_ASSIGN_OR_RETURN(auto mapping, options_.files->Open(file));
        RELAYVM_RETURN_IF_ERROR(AddFile(file, SharedBytes::OfFile(mapping), &arrays_));
      }
    }
    for (const auto& [name, tensor] : options_.params) arrays_[name] = tensor;
    return OkStatus();
  }

  // Constants, and parameters of main.
  Status AddVariables() {
    const std::vector<bool> reached = mxnet::Reached(symbol_);
    const std::vector<bool> needed = mxnet::NeededVariables(symbol_);
    const auto declared = mxnet::DeclaredTypes(symbol_, arrays_);
    variables_.resize(symbol_.nodes.size());
    std::vector<std::string> missing;
    size_t position = 0;
    for (size_t i = 0; i < symbol_.nodes.size(); ++i) {
      const SymbolNode& node = symbol_.nodes[i];
      if (!node.is_variable()) continue;
      const auto array = arrays_.find(node.name);
      if (array != arrays_.end() && !types_.IsSaid(node.name, SIZE_MAX)) {
        if (reached[i]) variables_[i] = importer_.b().Constant(array->second, node.name);
        continue;
      }
      const size_t at = position++;
      // What somebody says comes before what operators let one guess.
      auto type = types_.Of(node.name, at, types_.IsSaid(node.name, at) ? nullptr : declared[i]);
      if (!type.ok()) return type.status().WithContext(path_);
      if (*type == nullptr || (!reached[i] && !types_.IsSaid(node.name, at))) {
        if (needed[i]) missing.push_back(Printable(node.name));
        continue;
      }
      const ir::Var* var = importer_.b().NewVar(node.name, *type);
      main_.params.push_back(var);
      variables_[i] = importer_.b().Use(var);
      if (!variables_[i].is_tensor()) {
        return {StatusCode::kInvalidArgument,
                fmt::format("--shape {}: expected the type of a tensor", Printable(node.name))};
      }
    }
    return missing.empty() ? OkStatus() : Missing(missing);
  }

  Status Missing(const std::vector<std::string>& names) const {
    constexpr size_t kShown = 8;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
      text += fmt::format("\n  --shape '{}=(?, ?):float32'", names[i]);
    if (names.size() > kShown) text += fmt::format("\n  and {} more", names.size() - kShown);
    std::string arrays;
    if (arrays_.empty()) {
      arrays = beside_.size() > 1
                   ? fmt::format("; beside it are {} files of arrays: give one with --params",
                                 beside_.size())
                   : "; if they are weights, give the file that holds them: --params "
                     "PREFIX-0000.params";
    }
    return {StatusCode::kInvalidInput,
            fmt::format("{}: {} variable{} neither an array nor a shape{}; an input's dims and "
                        "dtype are given so (? is open):{}",
                        path_, names.size(), names.size() == 1 ? " has" : "s have", arrays, text)};
  }

  // "fc1_output", "split_output0"; each once.
  std::vector<std::string> OutputNames() const {
    std::vector<std::string> names;
    std::set<std::string> known;
    for (const Entry& head : symbol_.heads) {
      const SymbolNode& node = symbol_.nodes[head.node];
      std::string name = node.is_variable() ? node.name : node.name + "_output";
      if (HasSeveralHeads(head)) name += std::to_string(head.output);
      std::string unique = name;
      for (int i = 2; !known.insert(unique).second; ++i) unique = fmt::format("{}#{}", name, i);
      names.push_back(std::move(unique));
    }
    return names;
  }
  bool HasSeveralHeads(const Entry& head) const {
    return head.output > 0 || std::ranges::any_of(symbol_.heads, [&](const Entry& other) {
             return other.node == head.node && other.output != head.output;
           });
  }

  const std::string& path_;
  const Symbol symbol_;
  const ImportOptions& options_;
  ir::Module module_;
  mxnet::GraphImporter importer_;
  InputTypes types_;
  Arrays arrays_;
  std::vector<std::string> beside_;
  std::vector<Value> variables_;  // by the number of the node
  ir::Function main_;
};

}  // namespace

Result<ir::Module> ImportMxnet(const std::string& path, SharedBytes content,
                               const ImportOptions& options) {
  const SharedBytes text = content.Loaded();
  RELAYVM_ASSIGN_OR_RETURN(
      Symbol symbol,
      mxnet::ReadSymbol(path, {reinterpret_cast<const char*>(text.data()), text.size()}));
  mxnet::Upgrade(&symbol);
  RELAYVM_RETURN_IF_ERROR(ChooseHeads(path, options.outputs, &symbol));
  return ModelImporter(path, std::move(symbol), options).Run();
}

}  // namespace relayvm::import

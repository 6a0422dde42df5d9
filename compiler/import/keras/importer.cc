#include "compiler/import/keras/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "bytecode/base/printable.h"
#include "compiler/import/container/hdf5.h"
#include "compiler/import/container/zip.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/input_types.h"
#include "compiler/import/keras/model_builder.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import {

namespace keras {

namespace {

// A file's configuration, and where its weights are.
struct ModelFile {
  Json model;
  int version = 3;
  std::optional<Hdf5File> weights;
  WeightScope scope;
};

// Python writes numbers that JSON has not: they become texts.
std::string WithoutInfinities(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      out += text.substr(i++, 2);
      continue;
    }
    if (c == '"') quoted = !quoted;
    bool replaced = false;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (quoted || replaced || !text.substr(i).starts_with(word)) continue;
      out += '"' + std::string(word) + '"';
      i += word.size() - 1;
      replaced = true;
    }
    if (!replaced) out += c;
  }
  return out;
}

// Nested no deeper than what reads it may be.
Result<Json> ParseConfig(const std::string& path, std::string_view text) {
  constexpr int kMostNesting = 256;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostNesting)
        return InvalidInput(fmt::format("{}: the configuration is nested too deep", path));
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) json = Json::parse(WithoutInfinities(text), nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return InvalidInput(fmt::format("{}: the configuration is no JSON object", path));
  return json;
}

int VersionOf(std::string_view text) {
  return text.starts_with("1.") || text.starts_with("2.") ? 2 : 3;
}

// A list of texts that may be cut into parts: "weight_names0" ...
Result<std::vector<std::string>> TextList(const Hdf5File& file, const std::string& object,
                                          const std::string& attribute) {
  std::vector<std::string> all;
  RELAYVM_ASSIGN_OR_RETURN(auto whole, file.Texts(object, attribute));
  if (whole) return *std::move(whole);
  for (int i = 0;; ++i) {
    RELAYVM_ASSIGN_OR_RETURN(auto part, file.Texts(object, attribute + std::to_string(i)));
    if (!part) return all;
    all.insert(all.end(), part->begin(), part->end());
  }
}

// .h5: the configuration is an attribute, each layer a group with the names of its weights.
Result<ModelFile> ReadHdf5(const std::string& path, SharedBytes bytes) {
  RELAYVM_ASSIGN_OR_RETURN(Hdf5File file, Hdf5File::Open(path, std::move(bytes)));
  RELAYVM_ASSIGN_OR_RETURN(const auto config, file.Texts("", "model_config"));
  if (!config || config->size() != 1) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: it holds weights without a model; save the whole model: "
                              "model.save(...)",
                              path));
  }
  RELAYVM_ASSIGN_OR_RETURN(Json model, ParseConfig(path, config->front()));
  RELAYVM_ASSIGN_OR_RETURN(const auto version, file.Texts("", "keras_version"));
  ModelFile out{std::move(model),
                VersionOf(version && !version->empty() ? version->front() : "2."),
                std::nullopt,
                {}};
  out.scope.by_place = false;
  const std::string root = file.Has("model_weights") ? "model_weights" : "";
  const std::string prefix = root.empty() ? "" : root + "/";
  RELAYVM_ASSIGN_OR_RETURN(const auto layers, TextList(file, root, "layer_names"));
  for (const std::string& layer : layers) {
    RELAYVM_ASSIGN_OR_RETURN(const auto names, TextList(file, prefix + layer, "weight_names"));
    for (const std::string& name : names) out.scope.datasets.push_back(prefix + layer + "/" + name);
  }
  out.weights = std::move(file);
  return out;
}

// .keras: a zip archive of configuration, metadata and weights.
Result<ModelFile> ReadArchive(const std::string& path, SharedBytes bytes) {
  RELAYVM_ASSIGN_OR_RETURN(const Archive archive, Archive::Open(path, std::move(bytes)));
  RELAYVM_ASSIGN_OR_RETURN(const std::string config, archive.Text("config.json"));
  RELAYVM_ASSIGN_OR_RETURN(Json model, ParseConfig(path, config));
  ModelFile out{std::move(model)};
  if (archive.Has("metadata.json")) {
    RELAYVM_ASSIGN_OR_RETURN(const std::string text, archive.Text("metadata.json"));
    RELAYVM_ASSIGN_OR_RETURN(const Json metadata, ParseConfig(path, text));
    out.version = VersionOf(TextAt(metadata, "keras_version", "3."));
  }
  constexpr std::string_view kWeights = "model.weights.h5";
  if (!archive.Has(kWeights)) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: it has no {}", path, kWeights));
  }
  RELAYVM_ASSIGN_OR_RETURN(SharedBytes weights, archive.View(kWeights));
  RELAYVM_ASSIGN_OR_RETURN(
      out.weights, Hdf5File::Open(fmt::format("{}: {}", path, kWeights), std::move(weights)));
  return out;
}

}  // namespace

}  // namespace keras

Result<ir::Module> ImportKeras(const std::string& path, SharedBytes file,
                               const ImportOptions& options) {
  using namespace keras;  // NOLINT(google-build-using-namespace)
  const std::string_view start(reinterpret_cast<const char*>(file.data()),
                               std::min<size_t>(file.size(), 4));
  const bool is_archive = start.starts_with("PK");
  RELAYVM_ASSIGN_OR_RETURN(ModelFile model, is_archive ? ReadArchive(path, std::move(file))
                                                       : ReadHdf5(path, std::move(file)));
  ir::Module module = PreludeModule();
  InputTypes types(module, options);
  ModelBuilder builder(path, model.version, &*model.weights, module, module.sources->AddModel(path),
                       options.stop);
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<ModelInput> inputs, builder.Inputs(model.model));
  RELAYVM_RETURN_IF_ERROR(builder.CheckLayers(model.model));
  TypedBuilder& b = builder.b();
  ir::Function main;
  main.name = "main";
  std::vector<Tensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    RELAYVM_ASSIGN_OR_RETURN(
        ir::Type type,
        types.Of(inputs[i].name, i, ir::MakeTensorType(inputs[i].shape, inputs[i].dtype)));
    const ir::Var* var = b.NewVar(inputs[i].name, std::move(type));
    main.params.push_back(var);
    values.push_back({b.Use(var), {}});
  }
  RELAYVM_RETURN_IF_ERROR(types.CheckUsed());
  std::vector<Value> outputs;
  for (const Tensor& t : builder.Call(model.model, model.scope, values)) outputs.push_back(t.value);
  if (Status s = b.TakeStatus(); !s.ok()) return s;
  if (outputs.empty()) return InvalidInput(fmt::format("{}: the model has no outputs", path));
  AttrList names, kept;
  for (const std::string& name : builder.OutputNames(model.model)) names.emplace_back(name);
  while (names.size() < outputs.size() && !builder.state_names().empty())
    names.emplace_back(fmt::format("output_{}", names.size()));
  for (const std::string& name : builder.state_names()) {
    const KeptState& state = builder.state(name);
    kept.emplace_back(static_cast<int64_t>(main.params.size()));
    kept.emplace_back(static_cast<int64_t>(outputs.size()));
    main.params.push_back(state.var);
    outputs.push_back(state.current);
    names.emplace_back(state.var->name);
  }
  if (!kept.empty()) main.attrs[ir::kStates] = std::move(kept);
  if (names.size() == outputs.size()) main.attrs[ir::kOutputNames] = std::move(names);
  const Value result = outputs.size() == 1 ? outputs[0] : b.Tuple(outputs);
  RELAYVM_RETURN_IF_ERROR(DefineEntry(b, module, main, result));
  return module;
}

}  // namespace relayvm::import

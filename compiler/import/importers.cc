#include "compiler/import/importers.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "compiler/frontend/parser.h"
#include "compiler/import/onnx/importer.h"
#include "kernels/op/op.h"
#ifdef RELAYVM_FORMAT_KERAS
#include "compiler/import/keras/importer.h"
#endif
#ifdef RELAYVM_FORMAT_MXNET
#include "compiler/import/mxnet/importer.h"
#endif
#ifdef RELAYVM_FORMAT_TENSORFLOW
#include "compiler/import/tensorflow/importer.h"
#endif
#ifdef RELAYVM_FORMAT_TFLITE
#include "compiler/import/tflite/importer.h"
#endif
#ifdef RELAYVM_FORMAT_TORCH
#include "compiler/import/torch/importer.h"
#endif

namespace relayvm::import {

namespace {

constexpr std::string_view kStandardInput = "-";

std::string_view TextOf(const SharedBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<ir::Module> ImportRelay(const std::string& path, SharedBytes content,
                               const ImportOptions& options) {
  if (!options.dims.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--dim {}: Relay text has no dimensions with names",
                              options.dims.begin()->first));
  }
  // Text may be anything; what it must not be is told by its start.
  const std::string_view text = TextOf(content);
  const std::string found = DescribeFile(text);
  if (found != "text" && !found.starts_with("Relay text")) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("{}: expected {}, found {}", path, ModelKinds(), found));
  }
  return frontend::ParseRelay(path == kStandardInput ? "<stdin>" : path, std::string(text),
                              options.operators);
}

std::string RelayOperatorTable() {
  const OpTable& table = OpTable::Get();
  std::vector<std::string_view> names = table.Names();
  std::sort(names.begin(), names.end());
  std::string out =
      "# Relay operators\n\nMade by `relayc --list-operators relay`. Attributes in brackets may be "
      "left out.\n\n| operator | arguments | attributes |\n|---|---|---|\n";
  for (std::string_view name : names) {
    const OpDef& op = *table.Find(name);
    std::vector<std::string> attrs;
    for (const AttrField& a : op.attrs)
      attrs.push_back(a.required ? std::string(a.name) : fmt::format("[{}]", a.name));
    out +=
        fmt::format("| {} | {} | {} |\n", name,
                    op.num_args < 0 ? "any" : std::to_string(op.num_args), fmt::join(attrs, ", "));
  }
  return out;
}

// Of formats without a row, which the build leaves out (RELAYVM_FORMATS).
Result<ir::Module> ImportNothing(const std::string& path, SharedBytes content,
                                 const ImportOptions&) {
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: expected Relay text or a model of a format that this build reads, "
                            "found {}; `cmake --preset release` makes a build that reads all of "
                            "them",
                            path, ImporterOf(path, TextOf(content)).format->model));
}

std::string NoOperators() { return "This build does not read the format.\n"; }

struct Row {
  std::string_view name;  // the format's
  decltype(Importer::import) import;
  decltype(Importer::operators) operators;
  bool reads_params = false, takes_shapes = false;
};
constexpr Row kRows[] = {
    {"relay", ImportRelay, RelayOperatorTable},
    {"onnx", ImportOnnx, OnnxOperatorTable},
#ifdef RELAYVM_FORMAT_TORCH
    {"torchscript", ImportTorchScript, TorchScriptOperatorTable, false, true},
    {"torch_export", ImportTorchExport, TorchExportOperatorTable, false, true},
#endif
#ifdef RELAYVM_FORMAT_TFLITE
    {"tflite", ImportTfLite, TfLiteOperatorTable, false, true},
#endif
#ifdef RELAYVM_FORMAT_TENSORFLOW
    {"tensorflow", ImportTensorFlow, TensorFlowOperatorTable, false, true},
#endif
#ifdef RELAYVM_FORMAT_MXNET
    {"mxnet", ImportMxnet, MxnetOperatorTable, true, true},
#endif
#ifdef RELAYVM_FORMAT_KERAS
    {"keras", ImportKeras, KerasOperatorTable, false, true},
#endif
};

}  // namespace

std::span<const Importer> Importers() {
  static const std::vector<Importer>* const kAll = [] {
    auto* all = new std::vector<Importer>;
    for (const ModelFormat& format : ModelFormats()) {
      Importer importer{&format, ImportNothing, NoOperators};
      for (const Row& row : kRows) {
        if (row.name == format.name)
          importer = {&format, row.import, row.operators, row.reads_params, row.takes_shapes};
      }
      all->push_back(importer);
    }
    return all;
  }();
  return *kAll;
}

const Importer* FindImporter(std::string_view name) {
  const auto all = Importers();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Importer& i) { return i.format->name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<std::string> ModelFileOf(const std::string& path, InputFiles& files) {
  if (!files.IsFolder(path)) return path;
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt", "model.json"}) {
    const std::string file = std::filesystem::path(path) / name;
    if (files.IsFile(file)) return file;
  }
  return Status(StatusCode::kInvalidInput,
                fmt::format("{} is a folder without saved_model.pb, saved_model.pbtxt and "
                            "model.json: expected a model's file, or the folder of a SavedModel",
                            path));
}

const Importer& ImporterOf(std::string_view path, std::string_view content) {
  for (const Importer& i : Importers()) {
    if (i.format->matches(content)) return i;
  }
  for (const Importer& i : Importers()) {
    if (path.ends_with(i.format->ending)) return i;
  }
  return Importers().front();
}

}  // namespace relayvm::import

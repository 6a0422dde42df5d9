// What stands beside a SavedModel: its checkpoint, its assets.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/printable.h"
#include "bytecode/base/string_table.h"
#include "compiler/import/tensorflow/graph_importer.h"
#include "compiler/import/tensorflow/object_graph.h"

namespace relayvm::import::tensorflow {

Value GraphImporter::NewStored(std::string key, std::string slice) {
  const Value value = builder_.Wrap(builder_.graph().Tuple({}, builder_.span()),
                                    ir::MakeType(ir::AdtType{"Stored", {}}));
  stored_[value.node] = {std::move(key), std::move(slice), {}};
  return value;
}

Bundle* GraphImporter::OpenBundle() {
  if (bundle_ != nullptr) return bundle_.get();
  const auto folder = std::filesystem::path(file_.path()).parent_path();
  auto bundle = Bundle::Open((folder / "variables" / "variables").string(), file_.files());
  if (!bundle.ok()) {
    builder_.Fail(bundle.status().code(), bundle.status().message());
    return nullptr;
  }
  bundle_ = *std::move(bundle);
  return bundle_.get();
}

void GraphImporter::RestoreObjects() {
  std::vector<std::string> without;
  for (const NodeDef& node : file_.graph().nodes) {
    if (node.op == "VarHandleOp" && !variables_.contains(std::string(node.name)))
      without.emplace_back(node.name);
  }
  if (without.empty() || file_.object_graph().empty() || OpenBundle() == nullptr) return;
  const auto objects = bundle_->Tensor(kObjectGraphKey);
  if (!objects.ok() || objects->size() != 1) return;
  const PackedStrings text(objects->data.data(), 1);
  for (const auto& [node, key] : CheckpointKeys(file_, text[0])) {
    if (std::ranges::find(without, node) != without.end())
      variables_[std::string(node)] = NewStored(key, "");
  }
}

Value GraphImporter::Loaded(const Value& v) {
  const auto known = stored_.find(v.node);
  if (known == stored_.end()) return v;
  Stored& stored = known->second;
  if (stored.value) return stored.value;
  if (OpenBundle() == nullptr) return {};
  auto tensor = bundle_->Tensor(stored.key, stored.slice);
  if (tensor.ok() && tensor->dtype == DType::kString)
    tensor = InternStrings(*builder_.module().strings, *tensor);
  if (!tensor.ok()) {
    builder_.Fail(tensor.status().code(), tensor.status().message());
    return {};
  }
  stored.value = builder_.Constant(*std::move(tensor), stored.key);
  return stored.value;
}

void GraphImporter::StartOver() {
  scopes_.front()->values.clear();
  scopes_.front()->wanted.clear();
}

Result<SharedBytes> GraphImporter::Asset(const std::string& name) {
  // Whoever wrote the model had it elsewhere: here it lies in the model's own folder.
  const auto file = std::filesystem::path(name).filename();
  if (file.empty() || file == ".." || file == ".")
    return InvalidInput(fmt::format("asset '{}': expected the name of a file", Printable(name)));
  const auto folder = std::filesystem::path(file_.path()).parent_path();
  RELAYVM_ASSIGN_OR_RETURN(auto mapping, file_.files()->Open((folder / "assets" / file).string()));
  return SharedBytes::OfFile(std::move(mapping));
}

bool GraphImporter::IsRangeFromZero(const NodeDef& node, size_t i) {
  const Scope& scope = *scopes_.back();
  const auto from = [&](std::string_view text) -> const NodeDef* {
    for (int steps = 0; steps < 10; ++steps) {
      const auto at = scope.graph->places.find(text.substr(0, text.find(':')));
      if (at == scope.graph->places.end()) return nullptr;
      const NodeDef& found = scope.graph->nodes[at->second];
      if (found.op != "Identity" || found.inputs.empty()) return &found;
      text = found.inputs[0];
    }
    return nullptr;
  };
  const auto is_number = [&](std::string_view text, int64_t number) {
    const auto source = SourceOf(scope, text);
    const auto value = source ? Known(scope, *source) : std::nullopt;
    const auto known = value && *value ? builder_.ConstantInts(*value) : std::nullopt;
    return known && known->size() == 1 && (*known)[0] == number;
  };
  const NodeDef* range = i < node.inputs.size() ? from(node.inputs[i]) : nullptr;
  return range != nullptr && range->op == "Range" && range->inputs.size() >= 3 &&
         is_number(range->inputs[0], 0) && is_number(range->inputs[2], 1);
}

}  // namespace relayvm::import::tensorflow

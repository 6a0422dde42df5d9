// Calls of functions, and what those do.
#include <fmt/format.h>

#include <algorithm>

#include "bytecode/base/printable.h"
#include "compiler/import/tensorflow/graph_importer.h"

namespace relayvm::import::tensorflow {

bool GraphImporter::TouchesState(const NodeDef& node) {
  if (const OperatorDef* op = FindOperator(node.op); op != nullptr && op->touches_state)
    return true;
  const auto calls = [&](std::string_view name) {
    const auto function = file_.FindFunction(name);
    return function.ok() && *function != nullptr && TouchesState((*function)->body);
  };
  for (const auto& [name, bytes] : node.attrs) {
    const AttrValue value = ReadAttr(bytes);
    if (value.kind == AttrValue::Kind::kFunction && calls(ReadFunctionRef(value.bytes).name))
      return true;
    if (value.kind != AttrValue::Kind::kList || name != "branches") continue;
    for (const AttrValue& each : ReadList(value.bytes)) {
      if (each.kind == AttrValue::Kind::kFunction && calls(ReadFunctionRef(each.bytes).name))
        return true;
    }
  }
  return calls(node.op);
}

bool GraphImporter::TouchesState(const Graph& graph) {
  const auto [known, is_new] = touches_.emplace(&graph, false);  // false in a circle
  if (!is_new) return known->second;
  const bool touches =
      std::ranges::any_of(graph.nodes, [&](const NodeDef& node) { return TouchesState(node); });
  touches_[&graph] = touches;
  return touches;
}

std::vector<bool> GraphImporter::HandedOn(const FunctionRef& ref, int depth) {
  constexpr int kMostDepth = 20;
  constexpr size_t kMostSteps = 1000;
  const auto found = file_.FindFunction(ref.name);
  if (!found.ok() || *found == nullptr) return {};
  const FunctionDef& function = **found;
  std::vector<bool> out;
  for (size_t i = 0; i < function.outputs.size() && i < function.inputs.size(); ++i) {
    const auto result = function.results.find(function.outputs[i].name);
    std::string_view text = result == function.results.end() ? "" : result->second;
    for (size_t steps = 0; steps < kMostSteps; ++steps) {
      const auto at = function.body.places.find(text.substr(0, text.find(':')));
      if (at == function.body.places.end()) break;
      const NodeDef& node = function.body.nodes[at->second];
      if (node.inputs.empty()) break;
      if (node.op == "Identity") {
        text = node.inputs[0];
        continue;
      }
      // What a loop inside does not change either.
      const auto number = NumberIn(text.substr(text.rfind(':') + 1));
      if ((node.op != "While" && node.op != "StatelessWhile") || !number ||
          *number >= node.inputs.size()) {
        break;
      }
      if (depth >= kMostDepth) break;
      const std::vector<bool> inner =
          HandedOn(ReadFunctionRef(ReadAttr(node.Attr("body")).bytes), depth + 1);
      if (*number >= inner.size() || !inner[*number]) break;
      text = node.inputs[*number];
    }
    out.push_back(text.substr(0, text.find(':')) == function.inputs[i].name);
  }
  return out;
}

std::vector<Value> GraphImporter::Call(const FunctionRef& ref, const std::vector<Value>& inputs,
                                       const WantsFn& wants) {
  const auto found = file_.FindFunction(ref.name);
  if (!found.ok() || *found == nullptr) {
    builder_.Fail("function '{}': {}", Printable(ref.name),
                  found.ok() ? "the file has none of that name" : found.status().message());
    return {};
  }
  const FunctionDef& function = **found;
  if (std::ranges::find(calls_, &function) != calls_.end() || scopes_.size() >= kMostScopes) {
    builder_.Fail("function '{}' calls itself, directly or through others", Printable(ref.name));
    return {};
  }
  auto scope = std::make_unique<Scope>();
  scope->graph = &function.body;
  scope->function = &function;
  scope->attrs = &ref.attrs;
  scope->caller = scopes_.back().get();
  size_t next = 0;
  for (const ArgDef& arg : function.inputs) {
    size_t count = 1;  // of a list what is left, by its attribute
    if (!arg.number_attr.empty() || !arg.type_list_attr.empty()) {
      AttrValue length;
      for (const auto& [name, value] : ref.attrs) {
        if (name == arg.number_attr || name == arg.type_list_attr) length = ReadAttr(value);
      }
      count = length.kind == AttrValue::Kind::kList
                  ? ReadList(length.bytes).size()
                  : static_cast<size_t>(std::max<int64_t>(length.number, 0));
    }
    if (count > inputs.size() - next) {
      builder_.Fail("function '{}' takes more inputs than {}", Printable(ref.name), inputs.size());
      return {};
    }
    std::vector<Value>& values = scope->args[arg.name];
    for (size_t i = 0; i < count; ++i) values.push_back(inputs[next++]);
  }
  if (next != inputs.size()) {
    builder_.Fail("function '{}' takes {} inputs, found {}", Printable(ref.name), next,
                  inputs.size());
    return {};
  }
  std::vector<std::string_view> results;
  std::vector<size_t> places;
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    const ArgDef& output = function.outputs[i];
    if (wants != nullptr && !wants(i)) continue;
    const auto result = function.results.find(output.name);
    if (result == function.results.end()) {
      builder_.Fail("function '{}' says nowhere what its output '{}' is", Printable(ref.name),
                    Printable(output.name));
      return {};
    }
    results.push_back(result->second);
    places.push_back(i);
  }
  calls_.push_back(&function);
  scopes_.push_back(std::move(scope));
  const std::vector<Value> values = Evaluate(results, function.control_results);
  scopes_.pop_back();
  calls_.pop_back();
  if (!builder_.status().ok()) return {};
  std::vector<Value> outputs(function.outputs.size());
  for (size_t i = 0; i < places.size(); ++i) outputs[places[i]] = values[i];
  return outputs;
}

AttrValue GraphImporter::AttrOf(const NodeDef& node, std::string_view name) const {
  AttrValue value = ReadAttr(node.Attr(name));
  const Scope* scope = scopes_.back().get();
  // In a function: what its caller says, which may stand in one too.
  while (value.kind == AttrValue::Kind::kPlaceholder && scope != nullptr) {
    AttrValue given;
    for (size_t i = 0; scope->attrs != nullptr && i < scope->attrs->size(); ++i) {
      if ((*scope->attrs)[i].first == value.bytes) given = ReadAttr((*scope->attrs)[i].second);
    }
    value = given;
    scope = scope->caller;
  }
  return value;
}

}  // namespace relayvm::import::tensorflow

#include "compiler/import/mxnet/graph_importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bytecode/base/check_stop.h"
#include "bytecode/base/printable.h"

namespace relayvm::import::mxnet {

namespace {

// Bodies of loops are converted more than once, and loops in loops oftener. A small file could
// stand for more than there is memory: it may grow to so many nodes, and so many for each it has.
constexpr size_t kMostNodes = 50'000, kMostTimes = 16;

void NoteMissing(const Symbol& graph, std::map<std::string, std::vector<std::string>>* missing) {
  const std::vector<bool> reached = Reached(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const SymbolNode& node = graph.nodes[i];
    if (!reached[i]) continue;
    if (!node.is_variable() && FindOperator(node.op) == nullptr)
      (*missing)[Printable(node.op)].push_back(fmt::format("'{}'", Printable(node.name)));
    for (const Symbol& subgraph : node.subgraphs) NoteMissing(subgraph, missing);
  }
}

}  // namespace

std::vector<bool> Reached(const Symbol& graph) {
  std::vector<bool> reached(graph.nodes.size());
  for (const Entry& head : graph.heads) reached[head.node] = true;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (!reached[i]) continue;
    for (const Entry& input : graph.nodes[i].inputs) reached[input.node] = true;
  }
  return reached;
}

GraphImporter::GraphImporter(const Symbol& symbol, const ir::Module& module, uint32_t file,
                             const ImportOptions& options)
    : symbol_(symbol),
      builder_(module),
      file_(file),
      options_(options),
      current_(&symbol),
      most_nodes_(kMostNodes + kMostTimes * symbol.num_nodes()) {}

Status GraphImporter::CheckOperators(const std::string& path) const {
  std::map<std::string, std::vector<std::string>> missing;  // nodes by operator
  NoteMissing(symbol_, &missing);
  if (missing.empty()) return OkStatus();
  std::string text;
  for (auto& [op, nodes] : missing) {
    constexpr size_t kShown = 3;
    const size_t all = nodes.size();
    nodes.resize(std::min(all, kShown));
    text += fmt::format("\n  {}: node {}", op, fmt::join(nodes, ", "));
    if (all > kShown) text += fmt::format(" and {} more", all - kShown);
  }
  return {StatusCode::kUnsupported,
          fmt::format("{}: {} operator{} not supported:{}", path, missing.size(),
                      missing.size() == 1 ? " is" : "s are", text)};
}

void GraphImporter::NoteOrigins(const Value& v, std::vector<Value> origins) {
  if (v) origins_[v.node] = std::move(origins);
}

std::vector<Value> GraphImporter::OriginsOf(const Value& v) const {
  const auto found = origins_.find(v.node);
  return found == origins_.end() ? std::vector<Value>() : found->second;
}

void GraphImporter::Warn(std::string_view what) {
  if (options_.warn)
    options_.warn(fmt::format("{}: {}", builder_.module().sources->Place(builder_.span()), what));
}

std::string GraphImporter::NameOf(const Entry& entry) const {
  return entry.node < current_->nodes.size() ? current_->nodes[entry.node].name : "";
}

ir::Span GraphImporter::SpanOf(const SymbolNode& node, std::string_view part) {
  // A name with a newline would forge a line of an error.
  return builder_.module().sources->NodeSpan(file_, Printable(node.name), Printable(node.op), part);
}

std::vector<Value> GraphImporter::Convert(const std::vector<Value>& variables) {
  std::vector<std::vector<Value>> values(symbol_.nodes.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (symbol_.nodes[i].is_variable()) values[i] = {variables[i]};
  }
  return ConvertGraph(symbol_, std::move(values));
}

std::vector<Value> GraphImporter::ConvertSubgraph(const Symbol& graph,
                                                  const std::vector<Value>& variables,
                                                  const std::map<size_t, Value>& known) {
  std::vector<std::vector<Value>> values(graph.nodes.size());
  size_t next = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!graph.nodes[i].is_variable()) continue;
    if (next == variables.size()) {
      return builder_.Fail("the subgraph has more than the {} variables that it is given",
                           variables.size());
    }
    values[i] = {variables[next++]};
  }
  for (const auto& [node, value] : known) values[node] = {value};
  const ir::Span outer = builder_.span();
  const Symbol* const before = std::exchange(current_, &graph);
  std::vector<Value> heads = ConvertGraph(graph, std::move(values));
  current_ = before;
  builder_.SetSpan(outer);
  return heads;
}

std::vector<Value> GraphImporter::ConvertGraph(const Symbol& graph,
                                               std::vector<std::vector<Value>> values) {
  const auto output = [&](const Entry& entry) {
    const std::vector<Value>& all = values[entry.node];
    if (entry.output < all.size()) return all[entry.output];
    builder_.Fail("node '{}' has {} outputs; output {} is asked for",
                  Printable(graph.nodes[entry.node].name), all.size(), entry.output);
    return Value{};
  };
  const std::vector<bool> reached = Reached(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const SymbolNode& node = graph.nodes[i];
    if (!reached[i] || node.is_variable() || !values[i].empty()) continue;
    if (const Status stopped = CheckStop(options_.stop); !stopped.ok())
      return builder_.Fail(stopped.code(), stopped.message());
    if (++converted_ > most_nodes_)
      return builder_.Fail("loops in loops stand for more than {} nodes", most_nodes_);
    builder_.SetSpan(SpanOf(node));
    std::vector<Value> inputs;
    for (const Entry& entry : node.inputs) inputs.push_back(output(entry));
    if (builder_.status().ok()) values[i] = ConvertNode(node, std::move(inputs));
    if (!builder_.status().ok()) return {};
  }
  std::vector<Value> heads;
  for (const Entry& head : graph.heads) heads.push_back(output(head));
  return heads;
}

std::vector<Value> GraphImporter::ConvertNode(const SymbolNode& node, std::vector<Value> inputs) {
  const OperatorDef* op = FindOperator(node.op);
  if (op == nullptr)
    return builder_.Fail(StatusCode::kUnsupported, "the operator is not supported");
  const size_t least = static_cast<size_t>(op->min_inputs);
  if (inputs.size() < least ||
      (op->max_inputs >= 0 && inputs.size() > static_cast<size_t>(op->max_inputs))) {
    return builder_.Fail("expected {}{} inputs, found {}", op->min_inputs,
                         op->max_inputs < 0                 ? " or more"
                         : op->max_inputs == op->min_inputs ? ""
                                                            : fmt::format(" to {}", op->max_inputs),
                         inputs.size());
  }
  for (size_t i = 0; i < least; ++i) {
    if (!inputs[i]) return builder_.Fail("input {} has no value", i);
    if (!inputs[i].is_tensor()) return builder_.Fail("input {} is no tensor", i);
  }
  Node context(*this, node, std::move(inputs));
  return op->convert(context);
}

}  // namespace relayvm::import::mxnet

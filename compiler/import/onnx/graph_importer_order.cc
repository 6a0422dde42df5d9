// Nodes in an order in which each comes behind those that it reads.
#include <fmt/format.h>

#include <utility>

#include "bytecode/base/printable.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/import/onnx/names_read.h"

namespace relayvm::import {

bool GraphImporter::IsGivenBefore(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    const Scope& scope = scopes_[i];
    if (scope.values.contains(name) || scope.initializers.contains(name) ||
        scope.sparse.contains(name))
      return true;
    if (!scope.sees_outer) return false;
  }
  return false;
}

void GraphImporter::Sort(Body& body) {
  const size_t count = body.nodes.size();
  std::unordered_map<std::string_view, size_t> giver;
  for (size_t i = 0; i < count; ++i) {
    for (const std::string& name : body.nodes[i]->output()) giver.try_emplace(name, i);
  }
  std::vector<std::vector<size_t>> needs(count);
  std::vector<bool> is_read(count, false);
  bool sorted = true;
  for (size_t i = 0; i < count; ++i) {
    for (const std::string_view name : ReadBy(*body.nodes[i])) {
      const auto by = giver.find(name);
      if (by == giver.end()) continue;
      // Of a name that is hidden only later on, the one before is meant.
      if (by->second > i && IsGivenBefore(name)) continue;
      is_read[by->second] = true;
      // A node that reads its own output says so itself.
      if (by->second != i) needs[i].push_back(by->second);
      sorted &= by->second <= i;
    }
  }
  for (const std::string& name : body.outputs) {
    if (const auto by = giver.find(name); by != giver.end()) is_read[by->second] = true;
  }
  std::vector<const onnx::NodeProto*> nodes;
  const auto add = [&](size_t i) {
    if (is_read[i] || body.nodes[i]->op_type() != "Constant") nodes.push_back(body.nodes[i]);
  };
  // Depth first, without recursion, from the first node on: those in order keep theirs.
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(count, kNew);
  std::vector<std::pair<size_t, size_t>> stack;  // a node, and how many of its needs are seen to
  for (size_t i = 0; i < count; ++i) {
    if (sorted) {
      add(i);
      continue;
    }
    if (state[i] == kNew) stack.emplace_back(i, 0);
    while (!stack.empty()) {
      auto& [node, seen] = stack.back();
      state[node] = kOpen;
      if (seen < needs[node].size()) {
        const size_t next = needs[node][seen++];
        if (state[next] == kOpen) {
          const ir::Span outer = builder_.span();
          builder_.SetSpan(SpanOf(*body.nodes[node]));
          builder_.Fail("it needs what node '{}' gives, which needs what it gives",
                        Printable(NameOf(*body.nodes[next])));
          builder_.SetSpan(outer);
          return;
        }
        if (state[next] == kNew) stack.emplace_back(next, 0);
        continue;
      }
      state[node] = kDone;
      add(node);
      stack.pop_back();
    }
  }
  body.nodes = std::move(nodes);
}

}  // namespace relayvm::import

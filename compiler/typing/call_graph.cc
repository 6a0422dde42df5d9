#include "compiler/typing/call_graph.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/walk.h"

namespace relayvm::typing {
namespace {

using Ids = std::unordered_map<std::string_view, uint32_t>;

void CollectMentions(const ir::Block& block, const Ids& ids, std::vector<uint32_t>& out) {
  ir::ForEachGlobal(block, [&](const ir::GlobalVar& g, const ir::CallExpr*) {
    if (auto it = ids.find(g.name); it != ids.end()) out.push_back(it->second);
  });
}

struct Visit {
  uint32_t node;
  size_t next;  // position among its callees
};

}  // namespace

// Tarjan's algorithm with its own stack.
std::vector<Component> ComponentsCalleesFirst(const ir::Module& module) {
  Ids ids;
  std::vector<const std::string*> names;
  for (const auto& [name, function] : module.functions) {
    ids.emplace(name, static_cast<uint32_t>(names.size()));
    names.push_back(&name);
  }
  std::vector<std::vector<uint32_t>> callees(names.size());
  for (const auto& [name, function] : module.functions) {
    auto& list = callees[ids[name]];
    if (function->body != nullptr) CollectMentions(*function->body, ids, list);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  constexpr uint32_t kUnseen = UINT32_MAX;
  std::vector<uint32_t> index(names.size(), kUnseen);
  std::vector<uint32_t> low(names.size(), 0);
  std::vector<bool> open(names.size(), false);
  std::vector<uint32_t> stack;
  std::vector<Visit> visits;
  std::vector<Component> components;
  uint32_t next_index = 0;
  for (uint32_t start = 0; start < names.size(); ++start) {
    if (index[start] != kUnseen) continue;
    visits.push_back({start, 0});
    while (!visits.empty()) {
      auto& [node, next] = visits.back();
      if (next == 0 && index[node] == kUnseen) {
        index[node] = low[node] = next_index++;
        stack.push_back(node);
        open[node] = true;
      }
      if (next < callees[node].size()) {
        uint32_t callee = callees[node][next++];
        if (index[callee] == kUnseen) {
          visits.push_back({callee, 0});
        } else if (open[callee]) {
          low[node] = std::min(low[node], index[callee]);
        }
        continue;
      }
      uint32_t done = node;
      visits.pop_back();
      if (!visits.empty()) {
        low[visits.back().node] = std::min(low[visits.back().node], low[done]);
      }
      if (low[done] != index[done]) continue;
      Component component;
      uint32_t member;
      do {
        member = stack.back();
        stack.pop_back();
        open[member] = false;
        component.functions.push_back(names[member]);
      } while (member != done);
      std::reverse(component.functions.begin(), component.functions.end());
      component.recursive = component.functions.size() > 1 ||
                            std::binary_search(callees[done].begin(), callees[done].end(), done);
      components.push_back(std::move(component));
    }
  }
  return components;
}

}  // namespace relayvm::typing

// Which names the graphs of a model read. Graphs that nest deeper than kMaxScopes are not looked
// into: the importer refuses them.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string_view>

namespace relayvm::import {

// Subgraphs and functions in one another; what walks them recurses with them.
inline constexpr size_t kMaxScopes = 200;

// Views of the model's names.
using Names = std::set<std::string_view>;

// `fn` of each node, those of graphs inside too.
template <typename Nodes, typename Fn>
void ForEachNode(const Nodes& nodes, const Fn& fn, size_t depth = 0) {
  if (depth > kMaxScopes) return;
  for (const onnx::NodeProto& node : nodes) {
    fn(node);
    for (const auto& attr : node.attribute()) {
      if (attr.has_g()) ForEachNode(attr.g().node(), fn, depth + 1);
      for (const auto& g : attr.graphs()) ForEachNode(g.node(), fn, depth + 1);
    }
  }
}

// The names that a node reads: its inputs', and what its graphs read of those around it.
Names ReadBy(const onnx::NodeProto& node);

// The inputs of a graph that only some branches of its Ifs read: a caller who takes another branch
// gives what has the right rank and no more (the empty caches of merged decoders), so that their
// dims are a contract where they are read. Not: inputs that are read whichever branches are taken,
// or by nobody.
struct BranchInputs {
  std::map<std::string_view, int>
      groups;  // from 1; those of one group are read by the same branches
  std::map<const onnx::GraphProto*, Names> read;  // by each branch
};
BranchInputs InputsOfBranches(const onnx::GraphProto& graph);

}  // namespace relayvm::import

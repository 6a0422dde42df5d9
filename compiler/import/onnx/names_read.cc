#include "compiler/import/onnx/names_read.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace relayvm::import {

namespace {

Names GivenIn(const onnx::GraphProto& graph) {
  Names own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& t : graph.initializer()) own.insert(t.name());
  for (const auto& t : graph.sparse_initializer()) own.insert(t.values().name());
  for (const onnx::NodeProto& node : graph.node())
    own.insert(node.output().begin(), node.output().end());
  return own;
}

void AddOutside(const Names& read, const Names& own, Names& names) {
  std::set_difference(read.begin(), read.end(), own.begin(), own.end(),
                      std::inserter(names, names.end()));
}

// The names that a graph reads from graphs around it.
void ReadOutside(const onnx::GraphProto& graph, Names& names, size_t depth) {
  if (depth > kMaxScopes) return;
  Names read;
  for (const auto& output : graph.output()) read.insert(output.name());
  for (const onnx::NodeProto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
    for (const auto& attr : node.attribute()) {
      if (attr.has_g()) ReadOutside(attr.g(), read, depth + 1);
      for (const auto& g : attr.graphs()) ReadOutside(g, read, depth + 1);
    }
  }
  AddOutside(read, GivenIn(graph), names);
}

// The same, of those that are read whichever branches are taken.
Names AlwaysRead(const onnx::GraphProto& graph, size_t depth = 0) {
  Names read, outside;
  if (depth > kMaxScopes) return outside;
  for (const auto& output : graph.output()) read.insert(output.name());
  for (const onnx::NodeProto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
    const bool is_if = node.op_type() == "If";
    Names both;
    bool first = true;
    for (const auto& attr : node.attribute()) {
      if (!attr.has_g()) continue;
      if (!is_if) {
        ReadOutside(attr.g(), read, depth + 1);
        continue;
      }
      Names branch = AlwaysRead(attr.g(), depth + 1), common;
      std::set_intersection(both.begin(), both.end(), branch.begin(), branch.end(),
                            std::inserter(common, common.end()));
      both = std::exchange(first, false) ? std::move(branch) : std::move(common);
    }
    read.merge(both);
  }
  AddOutside(read, depth == 0 ? Names() : GivenIn(graph), outside);
  return outside;
}

}  // namespace

Names ReadBy(const onnx::NodeProto& node) {
  Names names(node.input().begin(), node.input().end());
  for (const auto& attr : node.attribute()) {
    if (attr.has_g()) ReadOutside(attr.g(), names, 0);
    for (const auto& g : attr.graphs()) ReadOutside(g, names, 0);
  }
  names.erase("");
  return names;
}

BranchInputs InputsOfBranches(const onnx::GraphProto& graph) {
  using Branches = std::set<const onnx::GraphProto*>;
  std::map<std::string_view, Branches> readers;
  for (const onnx::NodeProto& node : graph.node()) {
    for (const auto& attr : node.attribute()) {
      if (node.op_type() != "If" || !attr.has_g()) continue;
      Names names;
      ReadOutside(attr.g(), names, 0);
      for (const std::string_view name : names) readers[name].insert(&attr.g());
    }
  }
  const Names always = AlwaysRead(graph);
  std::map<Branches, int> groups;
  BranchInputs result;
  for (const auto& input : graph.input()) {
    const auto read = readers.find(input.name());
    if (read == readers.end() || always.contains(input.name())) continue;
    const int next = static_cast<int>(groups.size()) + 1;
    result.groups[input.name()] = groups.try_emplace(read->second, next).first->second;
    for (const onnx::GraphProto* branch : read->second) result.read[branch].insert(input.name());
  }
  return result;
}

}  // namespace relayvm::import

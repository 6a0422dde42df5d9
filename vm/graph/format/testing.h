// A small graph for tests: x + w, then that twice, then the sum in place.
#pragma once

#include "vm/graph/format/graph.h"

namespace relayvm::graph::testing {

// Kernel 0, add(a[s0], b[s0]) -> c[s0], which may be made in a's place. A host's kernel by the
// name.
inline Program AddKernel() {
  Program p;
  KernelInfo& k = p.kernels.emplace_back();
  k.name = "test.add";
  k.builtin = true;
  k.num_scalars = 1;
  const SizeFormula shape = {{SizeStep::Kind::kScalar, 0}, {SizeStep::Kind::kDim}};
  k.buffers = {{DType::kFloat32, false, {}, shape},
               {DType::kFloat32, false, {}, shape},
               {DType::kFloat32, true, {0}, shape}};
  k.units = {{SizeStep::Kind::kScalar, 0}};
  return p;
}

inline Node Input(std::string name, uint32_t storage) {
  Node n;
  n.name = std::move(name);
  n.outputs = {{DType::kFloat32, {4}, storage, 0}};
  return n;
}
inline Node Add(EntryRef a, EntryRef b, uint32_t storage) {
  Node n;
  n.kind = Node::Kind::kKernel;
  n.name = "add";
  n.inputs = {a, b};
  n.outputs = {{DType::kFloat32, {4}, storage, 0}};
  n.scalars = {4};
  n.units = 4;
  return n;
}

// x, w, y = x + w, z = y + x, u = z + y (in z's place), view of u.
inline Graph SmallGraph() {
  Graph g;
  g.nodes = {Input("x", 0), Input("w", 1), Add({0, 0}, {1, 0}, 2), Add({2, 0}, {0, 0}, 3),
             Add({3, 0}, {2, 0}, 3)};
  Node view;
  view.kind = Node::Kind::kView;
  view.name = "view";
  view.inputs = {{4, 0}};
  view.outputs = {{DType::kFloat32, {2, 2}, 3, 0}};
  g.nodes.push_back(view);
  g.inputs = {0, 1};
  g.heads = {{5, 0}};
  return g;
}

}  // namespace relayvm::graph::testing

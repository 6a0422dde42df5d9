// A-normal form to the surface DAG: expressions inside each other again, as people write them and
// as TVM's users walk them. The inverse of to_anf.h, which makes an equivalent function of the
// result.
//
// What has no name, is pure and is used becomes a node that its users share. What has a name, an
// effect, or users in function literals alone (it would be computed at each call) stays a let. What
// type inference makes anew anyway is left out: guards, and dims that no expression reads. All else
// has a node; of kinds that Relay has no syntax for, a kExpr. Nodes other than atoms and lets keep
// the variable that they are bound to (Node::bind), and with it their type. Recurses with the
// nesting of blocks. Tested by from_anf_test.cc.
#pragma once

#include "compiler/ir/effects.h"
#include "compiler/ir/graph.h"

namespace relayvm::ir {

class SurfaceBuilder {
 public:
  explicit SurfaceBuilder(const Module& module)
      : module_(module), effects_(module, Effects::Of::kMoving) {}

  // Adds the nodes of a function to the graph, operands before their users: the last is a
  // kFunction. Its payload keeps the body that it is made of, and so do those of function literals.
  NodeId Add(const Function& function, Graph* graph) const;

 private:
  const Module& module_;
  Effects effects_;
};

}  // namespace relayvm::ir

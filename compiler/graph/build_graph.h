// A graph (vm/graph/format/graph.h) of a compiled program, by running its bytecode on values that
// are not there yet: sizes and whatever else constants decide are numbers, a tensor is the node
// that gives it, and each call of a kernel becomes a node. Functions that are called become parts
// of the graph.
//
// What depends on data has no place in a graph: then this fails, with the place in the source.
// CheckStatic (check_static.h) finds most of that before, and can say more about it. Tested by
// build_graph_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "vm/graph/format/graph.h"

namespace relayvm::graph {

// Of the program's export. `program` was lowered with LowerOptions::scalars_in_memory; its
// constants become weights, which share its memory. Fails with kUnsupported.
Result<GraphProgram> BuildGraph(const Program& program);

}  // namespace relayvm::graph

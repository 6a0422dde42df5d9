// Which tensors of a graph share memory: each in the storage that fits, largest first ("greedy by
// size" of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020),
// and what a kernel may compute in place in its operand's. Tested by build_graph_test.cc.
#pragma once

#include "vm/graph/format/graph.h"

namespace relayvm::graph {

// Before: a storage is a region of memory that nothing but views and what they show share; offsets
// say where. After: storages are shared by what does not live together; views are where what they
// show is. Inputs of the graph keep theirs for themselves, results live to the end. Numbers have no
// gaps.
void PlanStorage(Graph& graph, const Program& kernels);

}  // namespace relayvm::graph

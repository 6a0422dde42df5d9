// What must hold of a graph before it runs, whoever wrote it. Of a graph that passed, running does
// what the kernels do and nothing else (kernels are native code, and trusted as a shared library
// is):
//
//   - nodes: inputs are outputs of nodes before; inputs of the graph have one output and no input;
//     all of them are listed once, with names of their own; results exist;
//   - tensors: dtypes, ranks and dims are valid, sizes and their storages' fit memory's addresses;
//   - views are the memory of their inputs: a part of one, or all of several, one after the other;
//   - kernels: exist; scalars, inputs and outputs are as many as theirs; dtypes and sizes are what
//     the kernel reads and writes with these scalars; fixed scalars, units of work and scratch are
//     right;
//   - memory: nothing is written over while somebody will still read it, the inputs and weights
//     never; an output overlaps an input of the same kernel only where the kernel allows the two to
//     be one.
//
// Time is in proportion to the size of the graph, or else it is refused. Thread-safe. Tested by
// verify_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "bytecode/base/status.h"
#include "vm/graph/format/graph.h"

namespace relayvm::graph {

// Fails with kInvalidInput; messages name the node: "node 3 (fused_add): input 1: ...". REQUIRES:
// the program passed VerifyProgram.
Status VerifyGraph(const Graph& graph, const Program& kernels);

// What is known of the memory of a graph that passed.
struct StorageInfo {
  uint64_t bytes = 0;
  int64_t input = -1;  // the node whose own it is; -1: of tensors in between
};
std::vector<StorageInfo> StoragesOf(const Graph& graph);

// REQUIRES: valid.
uint64_t BytesOf(const Entry& entry);

}  // namespace relayvm::graph

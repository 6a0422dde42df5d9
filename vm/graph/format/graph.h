// Graph: a program of static shapes without control flow, as nodes in the order in which they run.
// Plain data. `compiler/graph` makes one, graph_json.h writes and reads it, verify.h says what must
// hold, and GraphModule runs it. Tested by graph_json_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/io/tvm_params.h"
#include "bytecode/program.h"

namespace relayvm::graph {

// A tensor that a node gives: at byte `offset` of a storage. Tensors that do not live together may
// have one storage, and views have that of what they show.
struct Entry {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  uint32_t storage = 0;
  uint64_t offset = 0;  // a multiple of 64

  friend bool operator==(const Entry&, const Entry&) = default;
};

struct EntryRef {
  uint32_t node = 0, output = 0;

  friend auto operator<=>(const EntryRef&, const EntryRef&) = default;
};

struct Node {
  enum class Kind : uint8_t {
    kInput,   // an input of the graph, or a weight: one output, set from outside
    kKernel,  // a kernel's call
    kView,  // nothing runs: one output, which is (a part of) its input's memory with other dims, or
            // the memory of several inputs that lie one after the other
  };
  Kind kind = Kind::kInput;
  std::string name;    // of an input unique; else for people
  std::string source;  // "model.onnx: node 'Conv_3' (Conv)", "file.relay:3:7"; empty: unknown
  std::vector<EntryRef> inputs;  // of nodes before
  std::vector<Entry> outputs;
  // kKernel: the call, as the program's kernel describes it. The kernel's buffers that are read are
  // the inputs, those that are written the outputs, each in order.
  uint32_t kernel = 0;  // index into Program::kernels
  std::vector<int64_t> scalars;
  int64_t units = 1, grain = 1;
  int64_t scratch_bytes = 0;  // for each thread

  friend bool operator==(const Node&, const Node&) = default;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<uint32_t> inputs;  // the nodes of kind kInput, in order of the graph's parameters
  std::vector<EntryRef> heads;   // the results, depth first through tuples

  friend bool operator==(const Graph&, const Graph&) = default;
};

// All of a graph that runs. `kernels` has kernels and images, and one export: the names and types
// of the graph's inputs (which are no weights) and of its result; and, as constants, the weights
// that are not among `params`.
struct GraphProgram {
  Graph graph;
  Program kernels;
  TensorsByName params;  // by the names of inputs
};

}  // namespace relayvm::graph

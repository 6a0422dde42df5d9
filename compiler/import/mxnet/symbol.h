// A symbol of MXNet: the graph that a -symbol.json holds, of any version.
//
//   {"nodes": [{"op": "null", "name": "data", "inputs": []},
//              {"op": "Activation", "name": "act", "attrs": {"act_type": "relu"}, "inputs": [[0, 0, 0]],
//               "subgraphs": [{"nodes": ..., "heads": ...}]}, ...],
//    "arg_nodes": [0], "heads": [[1, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
//
// Attributes are "attrs"; "attr" before 1.0; and before 0.9 "param", beside which "attr" has what
// users wrote. Inputs are pairs or triples. Any bytes are safe: nothing recurses with the file, and
// what it counts is bounded by its size. Tested by symbol_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::import::mxnet {

struct Symbol;

// An output of a node. `node` is an index, always of one that stands before in the graph.
struct Entry {
  uint32_t node = 0, output = 0;
};

struct SymbolNode {
  std::string op, name;  // op "null": a variable
  std::map<std::string, std::string, std::less<>> attrs;
  std::vector<Entry> inputs;
  std::vector<Symbol> subgraphs;

  bool is_variable() const { return op == "null"; }
};

struct Symbol {
  std::vector<SymbolNode> nodes;
  std::vector<Entry> heads;  // one at least
  int64_t version = 800;     // 10901 is 1.9.1; where the file has none it is older than 0.9
  bool np_shape = false;     // in shapes of attributes 0 is an extent of 0, and -1 is not known

  size_t num_nodes() const;  // with those of subgraphs
};

// `path` is what errors call the file.
Result<Symbol> ReadSymbol(const std::string& path, std::string_view text);

}  // namespace relayvm::import::mxnet

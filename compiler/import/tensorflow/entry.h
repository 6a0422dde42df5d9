// What of a file is compiled: its inputs and outputs, by a signature, or for a graph on its own by
// what its nodes are. Tested by importer_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/import/tensorflow/graph_def.h"

namespace relayvm::import::tensorflow {

struct Port {
  std::string name;
  std::string tensor;  // "x:0"
  // Of an input.
  int64_t type = 0;
  std::optional<std::vector<Dim>> shape;  // nullopt: of any rank
  bool has_default = false;
};

struct Entry {
  std::vector<Port> inputs, outputs;
};

// `signature` names one of a SavedModel (empty: serving_default, or the only one), or of a graph
// the outputs, between commas (empty: those that no other node reads).
Result<Entry> FindEntry(const GraphFile& file, std::string_view signature);

// Nodes that fill tables and variables before a SavedModel's first run.
std::vector<std::string_view> InitialisersOf(const GraphFile& file);

// The ranks of nodes' outputs as operators that read them have them (OperatorDef::ranks).
class ReadersRanks {
 public:
  // `graph` outlives this.
  explicit ReadersRanks(const Graph& graph);
  // Nullopt where none says.
  std::optional<int> Of(std::string_view node) const;

 private:
  // Who reads a text, and as which input.
  std::unordered_multimap<std::string_view, std::pair<const NodeDef*, size_t>> readers_;
};

}  // namespace relayvm::import::tensorflow

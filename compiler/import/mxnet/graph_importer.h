// The nodes of a symbol as Relay, in their order, and subgraphs in their nodes. Not thread-safe.
// Tested by importer_test.cc.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/import/import_options.h"
#include "compiler/import/mxnet/operator.h"
#include "compiler/import/mxnet/symbol.h"

namespace relayvm::import::mxnet {

class GraphImporter {
 public:
  // `symbol`, `module` and `options` outlive this. `file` is the symbol's number in the module's
  // source map.
  GraphImporter(const Symbol& symbol, const ir::Module& module, uint32_t file,
                const ImportOptions& options);

  TypedBuilder& b() { return builder_; }
  bool np_shape() const { return symbol_.np_shape; }
  // kUnsupported with all operators that no row has, and nodes of each.
  Status CheckOperators(const std::string& path) const;

  // The heads, with the values of the variables by the numbers of their nodes; no value where there
  // is none. Errors are the builder's.
  std::vector<Value> Convert(const std::vector<Value>& variables);
  // The same of a subgraph, whose variables have these values in their order. `known`: outputs of
  // nodes that have one, by their numbers.
  std::vector<Value> ConvertSubgraph(const Symbol& graph, const std::vector<Value>& variables,
                                     const std::map<size_t, Value>& known);

  // What a value was made of: nothing where nobody noted it.
  void NoteOrigins(const Value& v, std::vector<Value> origins);
  std::vector<Value> OriginsOf(const Value& v) const;
  void Warn(std::string_view what);
  // The name of a node of the graph that is being converted.
  std::string NameOf(const Entry& entry) const;
  ir::Span SpanOf(const SymbolNode& node, std::string_view part = "");

 private:
  std::vector<Value> ConvertGraph(const Symbol& graph, std::vector<std::vector<Value>> values);
  std::vector<Value> ConvertNode(const SymbolNode& node, std::vector<Value> inputs);

  const Symbol& symbol_;
  TypedBuilder builder_;
  uint32_t file_;
  const ImportOptions& options_;
  const Symbol* current_;
  size_t converted_ = 0, most_nodes_;
  std::unordered_map<ir::NodeId, std::vector<Value>> origins_;
};

// Whether each node is needed for the heads.
std::vector<bool> Reached(const Symbol& graph);

}  // namespace relayvm::import::mxnet

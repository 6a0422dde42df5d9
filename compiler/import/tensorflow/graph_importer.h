// A graph of TensorFlow, node by node, from its outputs back: what no output needs is not looked
// at. Scopes hold what is known of nodes' outputs: the graph's, a function's, those of a turn of a
// loop. Not thread-safe. Tested by importer_test.cc.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/import/tensorflow/graph_def.h"
#include "compiler/import/tensorflow/operator.h"

namespace relayvm::import::tensorflow {

// An output of a node.
struct Edge {
  uint32_t node = 0;
  uint32_t output = 0;
  auto operator<=>(const Edge&) const = default;
};

class GraphImporter {
 public:
  // `file_index` is the model's in the module's source map. `stop` is asked before each node.
  GraphImporter(GraphFile& file, const ir::Module& module, uint32_t file_index,
                std::stop_token stop);

  TypedBuilder& b() { return builder_; }
  GraphFile& file() { return file_; }
  void SetWarn(std::function<void(const std::string&)> warn) { warn_ = std::move(warn); }
  void Warn(std::string_view what);

  // What an output of the graph is, whatever its node says.
  void Bind(std::string_view node, uint32_t output, Value value);
  // The values of tensors: "x", "x:1".
  std::vector<Value> Import(const std::vector<std::string>& tensors);
  // Whether it failed at an operator that no table has; and all of those that the tensors need, in
  // one error.
  bool is_missing() const { return missing_; }
  Status Unsupported(const std::vector<std::string>& tensors);

  // A function with these inputs, as an operator that has the attribute calls it.
  std::vector<Value> Call(const FunctionRef& function, const std::vector<Value>& inputs);

  ir::Span SpanOf(const NodeDef& node, std::string_view part = "");
  // What the attribute is, in a function that of its caller. No kind where there is none.
  AttrValue AttrOf(const NodeDef& node, std::string_view name) const;
  Value ConstantOf(std::string_view tensor, std::string_view name);
  bool WantsOutput(const NodeDef& node, size_t output) const;
  std::string TextOfInput(const NodeDef& node, size_t i) const;

 private:
  struct Scope {
    const Graph* graph = nullptr;
    const FunctionDef* function = nullptr;  // null: the graph of the file
    const NodeAttrs* attrs = nullptr;       // that the function was called with
    const Scope* caller = nullptr;
    std::map<std::string_view, std::vector<Value>, std::less<>> args;  // of the function, by name
    std::unordered_map<uint32_t, std::vector<Value>> values;           // outputs by node
    std::map<Edge, Value> bound;
    std::set<Edge> wanted;  // what somebody reads
  };

  // What a text refers to: an output of a node, or in a function an argument.
  struct Source {
    bool is_arg = false;
    Edge edge;  // edge.output counts in the argument's list where is_arg
    std::string_view arg;
  };
  std::optional<Source> SourceOf(const Scope& scope, std::string_view text);
  // The first output of the argument of that name; nullopt where the operator has none.
  std::optional<uint32_t> OutputNamed(const NodeDef& node, std::string_view name);
  std::optional<Value> Known(const Scope& scope, const Source& source) const;
  // The nodes that these need and that are not known yet, each behind those that it needs. False
  // with an error.
  bool Order(const std::vector<Source>& roots, std::vector<uint32_t>* order);
  // The values of what the texts refer to, in the innermost scope.
  std::vector<Value> Evaluate(const std::vector<std::string_view>& texts);
  void ImportNode(uint32_t node);
  void FailGraph(StatusCode code, std::string_view message);

  GraphFile& file_;
  TypedBuilder builder_;
  uint32_t file_index_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  const std::stop_token stop_;
  std::function<void(const std::string&)> warn_;
  std::unordered_map<const char*, HostTensor> tensors_;  // that have been read
  std::vector<const FunctionDef*> calls_;                // functions being imported
  bool missing_ = false;
  size_t imported_ = 0, most_nodes_ = 0;  // nodes, each as often as it is written
};

}  // namespace relayvm::import::tensorflow

// Graphs of a model, node by node: names in scope, initializers, subgraphs, functions of the model.
// Not thread-safe. Tested by importer_test.cc.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/import/onnx/model_file.h"
#include "compiler/import/onnx/operator.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::import {

class GraphImporter {
 public:
  // `file_index` is the model's in the module's source map.
  GraphImporter(ModelFile& file, const ir::Module& module, uint32_t file_index,
                const CustomOperators& operators);

  TypedBuilder& b() { return builder_; }
  ModelFile& file() { return file_; }
  // All operators that no table has, in one error.
  Status CheckOperators() const;
  // Inputs by name come from `inputs`; other names from the graphs around. Gives the outputs.
  std::vector<Value> Import(const onnx::GraphProto& graph,
                            const std::map<std::string, Value>& inputs);
  // The node whose first output `v` is; null for inputs, constants and what functions hold.
  struct Origin {
    const onnx::NodeProto* node;
    std::vector<Value> inputs;
    int opset;
  };
  const Origin* OriginOf(const Value& v) const;
  Value ConstantOf(const onnx::TensorProto& tensor, const std::string& name);
  // The node being imported gives `yes` or `no`, whose ranks differ: what follows it is imported for
  // either.
  void Fork(const Value& condition, std::vector<Value> yes, std::vector<Value> no);

 private:
  struct Scope {
    std::map<std::string, Value, std::less<>> values;
    // Initializers become constants when they are used.
    std::map<std::string, const onnx::TensorProto*, std::less<>> initializers;
    std::map<std::string, Value, std::less<>> constants;
    bool sees_outer = true;
  };

  int OpsetOf(std::string_view domain) const;
  // Null when it is none of users' operators.
  const OpDef* CustomOf(const onnx::NodeProto& node) const;
  const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node) const;
  Value Lookup(const std::string& name);
  using Nodes = std::vector<const onnx::NodeProto*>;
  // The nodes from `first` on, in order, then the values of these names.
  std::vector<Value> ImportNodes(const Nodes& nodes, size_t first,
                                 const std::vector<std::string>& outputs);
  std::vector<Value> ImportForked(const Nodes& nodes, size_t first,
                                  const std::vector<std::string>& outputs);
  void ImportNode(const onnx::NodeProto& node);
  // A node whose operator a library of the user has (kernels/op/custom_ops.h).
  std::vector<Value> CallCustom(const OpDef& op, const onnx::NodeProto& node,
                                const std::vector<Value>& inputs);
  std::vector<Value> CallFunction(const onnx::FunctionProto& function, const onnx::NodeProto& node,
                                  const std::vector<Value>& inputs);
  void Define(const onnx::NodeProto& node, const std::vector<Value>& outputs);

  ModelFile& file_;
  const CustomOperators& operators_;
  TypedBuilder builder_;
  uint32_t file_index_;
  std::map<std::string, int, std::less<>> opsets_;  // by domain
  std::vector<Scope> scopes_;
  int64_t imported_ = 0;  // nodes, each as often as it is written
  int64_t most_nodes_ = 0;
  std::vector<const onnx::FunctionProto*> calls_;  // functions being imported
  struct Alternatives {
    Value condition;
    std::vector<Value> yes, no;
  };
  std::unordered_map<ir::NodeId, Origin> origins_;
  std::optional<Alternatives> fork_;
  int forks_ = 0;  // around what is being imported
};

}  // namespace relayvm::import

// Graphs of a model, node by node: names in scope, initializers, subgraphs, functions of the model.
// Not thread-safe. Tested by importer_test.cc.
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "compiler/import/onnx/model_file.h"
#include "compiler/import/onnx/operator.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::import {

// The attributes of a call, by name. What is in a function refers to them by name too, also in
// graphs that calls inside hand on: nothing is copied, so that what a model stands for takes no
// memory.
struct CallAttributes {
  std::map<std::string_view, GivenAttribute> given;  // views of the model's names
};

// What errors call a node: one without a name by its first output.
const std::string& NameOf(const onnx::NodeProto& node);
// A domain as tables have it: that of ONNX's own operators is empty.
std::string_view CanonicalDomain(std::string_view domain);

class GraphImporter {
 public:
  // `file_index` is the model's in the module's source map. `stop` is asked before each node.
  GraphImporter(ModelFile& file, const ir::Module& module, uint32_t file_index,
                const CustomOperators& operators, std::stop_token stop);

  TypedBuilder& b() { return builder_; }
  ModelFile& file() { return file_; }
  // To whom warnings go, each with its node.
  void SetWarn(std::function<void(const std::string&)> warn) { warn_ = std::move(warn); }
  void Warn(std::string_view what);
  // What is stated of the model's inputs where a branch is imported that reads them: types whose
  // symbols, where they are the same, stand for equal dims. The first ones are those that others
  // are compared with; they are read as they are.
  struct Contract {
    std::vector<std::pair<std::string, ir::Type>> known, stated;
  };
  void SetContracts(std::map<const onnx::GraphProto*, Contract> contracts) {
    contracts_ = std::move(contracts);
  }
  // All operators that no table has, in one error.
  Status CheckOperators() const;
  // Inputs by name come from `inputs`; other names from the graphs around. Attributes that refer to
  // a function's take those of `call`; null: there are none. Gives the outputs; where they
  // `may_differ` in rank, such a one is a OneOf.
  std::vector<Value> Import(const onnx::GraphProto& graph,
                            const std::map<std::string, Value>& inputs, const CallAttributes* call,
                            bool may_differ = true);
  // The node whose first output `v` is; null for inputs, constants and what functions hold.
  struct Origin {
    const onnx::NodeProto* node;
    std::vector<Value> inputs;
    int opset;
  };
  const Origin* OriginOf(const Value& v) const;
  // Of the node, or of that part of it.
  ir::Span SpanOf(const onnx::NodeProto& node, std::string_view part = "");
  Value ConstantOf(const onnx::TensorProto& tensor, const std::string& name);
  // With its zeros.
  Value ConstantOf(const onnx::SparseTensorProto& sparse, const std::string& name);
  // The node being imported gives `yes` or `no`, whose ranks differ: what follows it is imported
  // for either.
  void Fork(const Value& condition, std::vector<Value> yes, std::vector<Value> no);
  // As NodeContext's.
  bool ForkByOne(const Dim& dim, const Value& extent);
  std::optional<bool> IsOne(const Dim& dim) const;

 private:
  // What a name stands for, and the node that gives it; null: an input.
  struct Given {
    Value value;
    const onnx::NodeProto* node;
  };
  struct Scope {
    std::map<std::string, Given, std::less<>> values;
    // Initializers become constants when they are used.
    std::map<std::string, const onnx::TensorProto*, std::less<>> initializers;
    std::map<std::string, const onnx::SparseTensorProto*, std::less<>> sparse;
    std::map<std::string, Value, std::less<>> constants;
    bool sees_outer = true;
    bool may_differ = true;  // an output may be a OneOf
  };

  // Nodes in order, and the names of what they are for. `name` says in errors whose they are.
  struct Body {
    std::string name;
    std::vector<const onnx::NodeProto*> nodes;
    std::vector<std::string> outputs;
  };

  int OpsetOf(std::string_view domain) const;
  // Null when it is none of users' operators.
  const OpDef* CustomOf(const onnx::NodeProto& node) const;
  const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node) const;
  // Nullopt where nothing gives the name.
  std::optional<Value> Find(const std::string& name);
  Value Lookup(const std::string& name);
  // The nodes from `first` on, then the values of the outputs.
  std::vector<Value> ImportNodes(const Body& body, size_t first);
  std::vector<Value> ImportForked(const Body& body, size_t first);
  void ImportNode(const onnx::NodeProto& node);
  // A node whose operator a library of the user has (kernels/op/custom_ops.h).
  std::vector<Value> CallCustom(const OpDef& op, const onnx::NodeProto& node,
                                const std::vector<Value>& inputs);
  std::vector<Value> CallFunction(const onnx::FunctionProto& function, const onnx::NodeProto& node,
                                  const std::vector<Value>& inputs);
  // Fork for the first of the values that is a OneOf; false where none is.
  bool ForkOneOf(const std::vector<Value>& values);
  void Define(const onnx::NodeProto& node, const std::vector<Value>& outputs);
  // What is read of the model counts as often as it is read.
  void Charge(const onnx::NodeProto& node);
  void Charge(size_t bytes);
  void StateInputs(const Contract& contract);
  // The nodes of a body, each behind those whose outputs it reads; constants that nobody reads are
  // left out.
  void Sort(Body& body);
  // Whether a name is there before the nodes of the innermost scope.
  bool IsGivenBefore(std::string_view name) const;
  // An error of a graph: the model's own has no node around it that says where.
  void FailGraph(StatusCode code, std::string_view message);

  ModelFile& file_;
  const CustomOperators& operators_;
  TypedBuilder builder_;
  uint32_t file_index_;
  std::map<std::string, int, std::less<>> opsets_;  // by domain
  std::vector<Scope> scopes_;
  const std::stop_token stop_;
  std::function<void(const std::string&)> warn_;
  std::map<const onnx::GraphProto*, Contract> contracts_;
  // By domain, name and overload; the first of each counts.
  std::map<std::tuple<std::string_view, std::string_view, std::string>, const onnx::FunctionProto*>
      functions_;
  // What functions say of attributes that a call leaves out.
  std::unordered_map<const onnx::FunctionProto*, std::vector<onnx::AttributeProto>> defaults_;
  // Tensors that have been read: those of functions and loops are read again.
  std::unordered_map<const onnx::TensorProto*, HostTensor> tensors_;
  size_t imported_ = 0, most_nodes_ = 0;           // nodes, each as often as it is written
  size_t charged_ = 0, most_bytes_ = 0;            // of what is read of the model
  std::vector<const onnx::FunctionProto*> calls_;  // functions being imported
  const CallAttributes* call_ = nullptr;           // what the nodes being imported refer to
  struct Alternatives {
    Value condition;
    std::vector<Value> yes, no;
    std::optional<Dim> dim;  // the condition is that it is 1, and the node is imported for either
  };
  std::unordered_map<ir::NodeId, Origin> origins_;
  std::optional<Alternatives> fork_;
  int forks_ = 0;                             // around what is being imported
  std::vector<std::pair<Dim, bool>> is_one_;  // dims that were forked by
};

}  // namespace relayvm::import

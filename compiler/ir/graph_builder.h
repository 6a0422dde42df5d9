// GraphBuilder: how frontends and importers build functions. Expressions are nodes that may be
// shared and made in any order that puts operands before their users; the builder finds out where
// each is evaluated (to_anf.h): once, in the innermost block that dominates all its uses.
//
//   GraphBuilder b(module);
//   Span span = module.sources->NodeSpan(file, "Conv_3", "Conv");
//   NodeId x = b.Use(param, span);
//   NodeId y = b.Op("nn.relu", {b.Op("nn.conv2d", {x, b.Constant(weight, "w", span)}, attrs, span)}, {}, span);
//   Function main{.name = "main", .params = {param}};
//   RELAYVM_RETURN_IF_ERROR(b.Define(module, b.MakeFunction(main, y)));
//
// Errors stick: after one, nodes are still made, and Define gives the first. Graphs of any depth;
// nothing recurses with it. Not thread-safe. Tested by graph_builder_test.cc and to_anf_test.cc.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/to_anf.h"

namespace relayvm::ir {

class GraphBuilder {
 public:
  // The module's arena, source map and ids are used; Define adds functions to it.
  explicit GraphBuilder(const Module& module) : module_(module), lowering_(module, graph_) {}
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  // A variable in scope, a constant, a global function or a constructor.
  NodeId Use(Atom atom, Span span);
  // Shares the tensor's bytes, which may be a part of a mapped file.
  NodeId Constant(HostTensor value, std::string name, Span span);
  // Looks the operator up, checks the number of arguments and completes the attributes.
  NodeId Op(std::string_view name, std::vector<NodeId> args, const Attrs& attrs, Span span);
  // REQUIRES: attributes are complete.
  NodeId OpCall(const OpDef& op, std::vector<NodeId> args, Attrs attrs, Span span);
  NodeId Call(NodeId callee, std::vector<NodeId> args, Span span);
  // Calls what the host registers as `name`; `type` is a function type. For the body of a function
  // with the attribute kHostAttr.
  NodeId HostCall(std::string name, Type type, std::vector<NodeId> args, Span span);
  NodeId Tuple(std::vector<NodeId> fields, Span span);
  NodeId Field(NodeId tuple, uint32_t index, Span span);
  NodeId RefCreate(NodeId value, Span span);
  NodeId RefRead(NodeId ref, Span span);
  NodeId RefWrite(NodeId ref, NodeId value, Span span);
  // An expression of the IR that only the compiler makes, with other operands (ForEachAtom's
  // order). REQUIRES: it has no nested blocks.
  NodeId OfExpr(const Expr& expr, std::vector<NodeId> operands, Span span);

  // Binds each variable in turn, then gives the value of `result`. A function may mention the
  // variable that it is bound to. REQUIRES: vars.size() == values.size().
  NodeId Let(std::vector<const Var*> vars, std::vector<NodeId> values, NodeId result, Span span);
  // `function` has all but its body. What only the body needs is evaluated there.
  NodeId MakeFunction(Function function, NodeId body);
  NodeId If(NodeId condition, NodeId then_value, NodeId else_value, Span span);
  NodeId Match(NodeId data, std::vector<Pattern> patterns, std::vector<NodeId> bodies,
               bool complete, Span span);
  // while (condition(state)) state = body(state): the tuple of the last state. `state` holds new
  // variables, whose types may be left open. What was made before the first use of one of them is
  // evaluated before the loop.
  using StateFn = std::function<NodeId(std::span<const NodeId> state)>;
  using NextStateFn = std::function<std::vector<NodeId>(std::span<const NodeId> state)>;
  NodeId While(std::vector<const Var*> state, std::vector<NodeId> initial, const StateFn& condition,
               const NextStateFn& body, Span span);

  // For frontends: an operator by itself, which is a callee or a value yet to be made one.
  NodeId BareOperator(const OpDef& op, Span span);
  // Null when the node is none.
  const OpDef* AsBareOperator(NodeId node) const;
  // The operator that the node calls; null when it is no such call.
  const OpDef* AsOpCall(NodeId node) const;
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  const Graph& graph() const { return graph_; }
  // REQUIRES: the node is a function.
  const Function& function(NodeId id) const { return graph_.functions[graph_.nodes[id].payload]; }
  Span span(NodeId id) const { return graph_.nodes[id].span; }
  // The variable that the node's value is bound to, where no let binds it to another one. Once for
  // each variable.
  void SetBinding(NodeId node, const Var* var) { graph_.nodes[node].bind = var; }
  // REQUIRES: MakeFunction made it.
  void SetName(NodeId function, std::string name);

  // The first error of a node that was made.
  const Status& status() const { return status_; }
  // The function in A-normal form, or the first error. REQUIRES: MakeFunction made it.
  Result<const Function*> Lower(NodeId function);
  // The same, as a global function under its name.
  Status Define(Module& module, NodeId function);

 private:
  NodeId Add(NodeKind kind, Span span, std::vector<NodeId> operands, size_t payload = 0);
  NodeId Fail(Span span, const Status& status);

  const Module& module_;
  Graph graph_;
  AnfBuilder lowering_;
  Status status_;
  std::unordered_map<const Var*, NodeId> first_uses_;
};

}  // namespace relayvm::ir

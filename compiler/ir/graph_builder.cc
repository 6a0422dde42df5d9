#include "compiler/ir/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace relayvm::ir {

NodeId GraphBuilder::Add(NodeKind kind, Span span, std::vector<NodeId> operands, size_t payload) {
  graph_.nodes.push_back({kind, span, std::move(operands), static_cast<uint32_t>(payload)});
  return static_cast<NodeId>(graph_.nodes.size() - 1);
}

// What stands for a node that cannot be made: the unit tuple.
NodeId GraphBuilder::Fail(Span span, const Status& status) {
  if (status_.ok()) status_ = module_.sources->Error(status.code(), span, status.message());
  return Tuple({}, span);
}

NodeId GraphBuilder::Use(Atom atom, Span span) {
  NodeId id = Add(NodeKind::kAtom, span, {});
  graph_.nodes[id].atom = atom;
  if (const Var* v = AsVar(atom)) first_uses_.emplace(v, id);
  return id;
}

NodeId GraphBuilder::Constant(HostTensor value, std::string name, Span span) {
  return Use(MakeConstant(module_, std::move(value), std::move(name)), span);
}

NodeId GraphBuilder::Op(std::string_view name, std::vector<NodeId> args, const Attrs& attrs,
                        Span span) {
  const OpDef* op = OpTable::Get().Find(name);
  if (op == nullptr)
    return Fail(span, {StatusCode::kUnsupported, fmt::format("there is no operator {}", name)});
  auto complete = CompleteAttrs(*op, attrs);
  if (!complete.ok()) return Fail(span, complete.status());
  return OpCall(*op, std::move(args), *std::move(complete), span);
}

NodeId GraphBuilder::OpCall(const OpDef& op, std::vector<NodeId> args, Attrs attrs, Span span) {
  if (op.num_args >= 0 && args.size() != static_cast<size_t>(op.num_args)) {
    return Fail(span, {StatusCode::kInvalidInput,
                       fmt::format("operator {} takes {} argument{}, {} given", op.name,
                                   op.num_args, op.num_args == 1 ? "" : "s", args.size())});
  }
  graph_.ops.push_back({&op, std::move(attrs)});
  return Add(NodeKind::kOpCall, span, std::move(args), graph_.ops.size() - 1);
}

NodeId GraphBuilder::Call(NodeId callee, std::vector<NodeId> args, Span span) {
  args.insert(args.begin(), callee);
  return Add(NodeKind::kCall, span, std::move(args));
}

NodeId GraphBuilder::HostCall(std::string name, Type type, std::vector<NodeId> args, Span span) {
  graph_.hosts.push_back({std::move(name), std::move(type)});
  return Add(NodeKind::kHostCall, span, std::move(args), graph_.hosts.size() - 1);
}

NodeId GraphBuilder::Tuple(std::vector<NodeId> fields, Span span) {
  return Add(NodeKind::kTuple, span, std::move(fields));
}

NodeId GraphBuilder::Field(NodeId tuple, uint32_t index, Span span) {
  return Add(NodeKind::kTupleGet, span, {tuple}, index);
}

NodeId GraphBuilder::RefCreate(NodeId value, Span span) {
  return Add(NodeKind::kRefCreate, span, {value});
}

NodeId GraphBuilder::RefRead(NodeId ref, Span span) { return Add(NodeKind::kRefRead, span, {ref}); }

NodeId GraphBuilder::RefWrite(NodeId ref, NodeId value, Span span) {
  return Add(NodeKind::kRefWrite, span, {ref, value});
}

NodeId GraphBuilder::OfExpr(const Expr& expr, std::vector<NodeId> operands, Span span) {
  graph_.exprs.push_back(&expr);
  return Add(NodeKind::kExpr, span, std::move(operands), graph_.exprs.size() - 1);
}

NodeId GraphBuilder::Let(std::vector<const Var*> vars, std::vector<NodeId> values, NodeId result,
                         Span span) {
  graph_.lets.push_back(std::move(vars));
  values.push_back(result);
  return Add(NodeKind::kLet, span, std::move(values), graph_.lets.size() - 1);
}

NodeId GraphBuilder::MakeFunction(Function function, NodeId body) {
  const Span span = function.span;
  graph_.functions.push_back(std::move(function));
  return Add(NodeKind::kFunction, span, {body}, graph_.functions.size() - 1);
}

NodeId GraphBuilder::If(NodeId condition, NodeId then_value, NodeId else_value, Span span) {
  return Add(NodeKind::kIf, span, {condition, then_value, else_value});
}

NodeId GraphBuilder::Match(NodeId data, std::vector<Pattern> patterns, std::vector<NodeId> bodies,
                           bool complete, Span span) {
  graph_.matches.push_back({std::move(patterns), complete});
  bodies.insert(bodies.begin(), data);
  return Add(NodeKind::kMatch, span, std::move(bodies), graph_.matches.size() - 1);
}

NodeId GraphBuilder::While(std::vector<const Var*> state, std::vector<NodeId> initial,
                           const StateFn& condition, const NextStateFn& body, Span span) {
  const Var* loop = MakeVar(module_, "while", nullptr, span);
  std::vector<NodeId> values;
  for (const Var* v : state) values.push_back(Use(v, v->span));
  NodeId first = kNoNode;
  for (const Var* v : state) first = std::min(first, first_uses_.at(v));
  NodeId again = Call(Use(loop, span), body(values), span);
  NodeId turn = If(condition(values), again, Tuple(values, span), span);
  Function function;
  function.params = std::move(state);
  function.span = span;
  NodeId start = Call(Use(loop, span), std::move(initial), span);
  const NodeId literal = MakeFunction(std::move(function), turn);
  if (first != kNoNode) graph_.first_inside[literal] = first;
  return Let({loop}, {literal}, start, span);
}

NodeId GraphBuilder::BareOperator(const OpDef& op, Span span) {
  graph_.ops.push_back({&op, Attrs()});
  return Add(NodeKind::kOperator, span, {}, graph_.ops.size() - 1);
}

const OpDef* GraphBuilder::AsBareOperator(NodeId id) const {
  const Node& n = graph_.nodes[id];
  return n.kind == NodeKind::kOperator ? graph_.ops[n.payload].op : nullptr;
}
const OpDef* GraphBuilder::AsOpCall(NodeId node) const {
  const Node& n = graph_.nodes[node];
  return n.kind == NodeKind::kOpCall ? graph_.ops[n.payload].op : nullptr;
}

void GraphBuilder::SetName(NodeId function, std::string name) {
  graph_.functions[graph_.nodes[function].payload].name = std::move(name);
}

Result<const Function*> GraphBuilder::Lower(NodeId function) {
  if (!status_.ok()) return status_;
  return lowering_.Lower(function);
}

Status GraphBuilder::Define(Module& module, NodeId function) {
  RELAYVM_ASSIGN_OR_RETURN(const Function* lowered, Lower(function));
  module.functions[lowered->name] = lowered;
  return OkStatus();
}

}  // namespace relayvm::ir

#include "compiler/ir/to_anf.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "compiler/ir/walk.h"

namespace relayvm::ir {

// --- Placement ---

std::vector<NodeId> AnfBuilder::PostOrder(NodeId root) {
  std::vector<NodeId> order;
  std::vector<std::pair<NodeId, size_t>> path = {{root, 0}};
  auto visit = [&](NodeId n) {
    states_[n] = NodeState{};
    states_[n].epoch = epoch_;
  };
  visit(root);
  while (!path.empty()) {
    auto& [node, next] = path.back();
    const std::vector<NodeId>& operands = graph_.nodes[node].operands;
    if (next == operands.size()) {
      order.push_back(node);
      path.pop_back();
      continue;
    }
    NodeId operand = operands[next++];
    if (states_[operand].epoch == epoch_) continue;
    visit(operand);
    path.emplace_back(operand, 0);
  }
  return order;
}

uint32_t AnfBuilder::NewBlock(uint32_t parent, NodeId since) {
  uint32_t depth = 1;
  if (parent != kNoBlock) {
    depth += blocks_[parent].depth;
    since = std::max(since, blocks_[parent].since);
  }
  blocks_.push_back(BlockState{parent, depth, since, {}});
  return static_cast<uint32_t>(blocks_.size() - 1);
}

uint32_t AnfBuilder::CommonBlock(uint32_t a, uint32_t b) const {
  if (a == kNoBlock) return b;
  while (a != b) {
    if (blocks_[a].depth < blocks_[b].depth) std::swap(a, b);
    a = blocks_[a].parent;
  }
  return a;
}

bool AnfBuilder::IsWithin(uint32_t block, uint32_t outer) const {
  while (block != kNoBlock && blocks_[block].depth > blocks_[outer].depth)
    block = blocks_[block].parent;
  return block == outer;
}

// Users come before their operands, so a node's block is known when its operands are met.
Status AnfBuilder::PlaceNodes(const std::vector<NodeId>& order, NodeId root) {
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = graph_.nodes[*it];
    const uint32_t block = *it == root ? kNoBlock : states_[*it].block;
    if (node.kind == NodeKind::kAtom) continue;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      uint32_t place = block;
      if (node.OpensBlock(i)) {
        const auto first = graph_.first_inside.find(*it);
        place = NewBlock(block, first == graph_.first_inside.end() ? 0 : first->second);
        if (states_[*it].first_block == kNoBlock) states_[*it].first_block = place;
        if (blocks_[place].depth > kMaxBlockDepth) {
          return module_.sources->Error(
              StatusCode::kOutOfRange, node.span,
              fmt::format("blocks are nested deeper than {}", kMaxBlockDepth));
        }
      }
      NodeState& operand = states_[node.operands[i]];
      while (node.operands[i] < blocks_[place].since) place = blocks_[place].parent;
      operand.block = CommonBlock(operand.block, place);
    }
  }
  return OkStatus();
}

// --- Evaluation ---

const Var* AnfBuilder::Declare(const Var* var, uint32_t block) {
  auto [it, is_new] = variables_.try_emplace(var, Variable{var, block, epoch_});
  if (!is_new && it->second.epoch != epoch_) {
    it->second = Variable{MakeVar(module_, var->name, var->type, var->span), block, epoch_};
  }
  return it->second.var;
}

const Var* AnfBuilder::Bind(uint32_t block, const Var* var, const Expr* value) {
  var = Declare(var, block);
  blocks_[block].bindings.push_back({var, value});
  return var;
}

void AnfBuilder::DeclarePattern(Pattern& pattern, uint32_t block) {
  if (pattern.var != nullptr) pattern.var = Declare(pattern.var, block);
  for (Pattern& field : pattern.fields) DeclarePattern(field, block);
}

void AnfBuilder::DeclareParams(NodeId function) {
  for (const Var* p : graph_.functions[graph_.nodes[function].payload].params) {
    Declare(p, states_[function].first_block);
  }
}

Status AnfBuilder::Use(NodeId operand, uint32_t block, Atom* atom) {
  const Node& node = graph_.nodes[operand];
  *atom = node.kind == NodeKind::kAtom ? node.atom : states_[operand].atom;
  auto* var = std::get_if<const Var*>(atom);
  if (var == nullptr) return OkStatus();
  // A node's own value is a variable of this call; one that the text names may stand for a copy.
  if (node.kind != NodeKind::kAtom) return OkStatus();
  auto it = variables_.find(*var);
  if (it != variables_.end() && it->second.epoch == epoch_ && IsWithin(block, it->second.block)) {
    *var = it->second.var;
    return OkStatus();
  }
  return module_.sources->Error(
      StatusCode::kInvalidInput, node.span,
      fmt::format("variable %{} is used outside its scope", (*var)->name));
}

Status AnfBuilder::TakeBlock(uint32_t block, NodeId result, const Block** out) {
  Block taken;
  RELAYVM_RETURN_IF_ERROR(Use(result, block, &taken.result));
  taken.bindings = std::move(blocks_[block].bindings);
  *out = module_.arena->New(std::move(taken));
  return OkStatus();
}

bool AnfBuilder::Demand(NodeId operand, const Var* bind) {
  if (graph_.nodes[operand].kind == NodeKind::kAtom || states_[operand].done) return false;
  stack_.push_back(Work{operand, 0, bind});
  return true;
}

// Step i evaluates value i; the binding of value i - 1 is completed first.
Status AnfBuilder::StepLet(Work& work, const Node& node) {
  const std::vector<const Var*>& vars = graph_.lets[node.payload];
  const uint32_t block = states_[work.node].block;
  for (;;) {
    if (work.step > 0) {
      const Var* var = vars[work.step - 1];
      NodeId value = node.operands[work.step - 1];
      Atom atom;
      RELAYVM_RETURN_IF_ERROR(Use(value, block, &atom));
      // The value may have been bound to the variable at once.
      auto declared = variables_.find(var);
      const bool is_bound = declared != variables_.end() && declared->second.epoch == epoch_ &&
                            atom == Atom(declared->second.var);
      if (!is_bound) {
        Bind(block, var, MakeExpr(module_, AtomExpr{atom}, graph_.nodes[value].span));
      }
    }
    const uint32_t i = work.step++;
    const bool last = i == vars.size();
    const NodeId operand = node.operands[i];
    const bool here = states_[operand].block == block;
    const Var* bind = last ? work.bind : vars[i];
    // A function may mention the variable that it is bound to.
    if (!last && here && graph_.nodes[operand].kind == NodeKind::kFunction) Declare(bind, block);
    if (Demand(operand, here ? bind : nullptr)) return OkStatus();
    if (last) return OkStatus();
  }
}

Status AnfBuilder::Step() {
  Work& work = stack_.back();
  const Node& node = graph_.nodes[work.node];
  if (states_[work.node].done) {  // needed twice, evaluated meanwhile
    stack_.pop_back();
    return OkStatus();
  }
  if (node.kind == NodeKind::kLet) {
    if (work.step <= graph_.lets[node.payload].size()) return StepLet(work, node);
  } else {
    if (work.step == 0 && node.kind == NodeKind::kFunction) DeclareParams(work.node);
    while (work.step < node.operands.size()) {
      const size_t i = work.step++;
      if (node.kind == NodeKind::kMatch && i > 0) {
        Pattern pattern = graph_.matches[node.payload].patterns[i - 1];
        DeclarePattern(pattern, states_[work.node].first_block + static_cast<uint32_t>(i - 1));
      }
      if (Demand(node.operands[i], nullptr)) return OkStatus();
    }
  }
  const Work finished = work;
  RELAYVM_RETURN_IF_ERROR(Finish(finished, node));
  stack_.pop_back();
  return OkStatus();
}

Status AnfBuilder::Finish(const Work& work, const Node& node) {
  NodeState& state = states_[work.node];
  state.done = true;
  if (node.kind == NodeKind::kLet) return Use(node.operands.back(), state.block, &state.atom);
  ExprVariant value = AtomExpr{};
  RELAYVM_RETURN_IF_ERROR(ValueOf(work, node, &value));
  const Var* var = work.bind != nullptr ? work.bind : node.bind;
  if (var == nullptr) var = MakeVar(module_, "", nullptr, node.span);
  state.atom = Bind(state.block, var, MakeExpr(module_, std::move(value), node.span));
  return OkStatus();
}

Status AnfBuilder::ValueOf(const Work& work, const Node& node, ExprVariant* value) {
  const NodeState& state = states_[work.node];
  const std::vector<NodeId>& operands = node.operands;
  switch (node.kind) {
    case NodeKind::kFunction: {
      Function function = graph_.functions[node.payload];
      if (function.name.empty() && work.bind != nullptr) function.name = work.bind->name;
      RenameParams(function);
      RELAYVM_RETURN_IF_ERROR(TakeBlock(state.first_block, operands[0], &function.body));
      *value = FunctionExpr{module_.arena->New(std::move(function))};
      return OkStatus();
    }
    case NodeKind::kIf: {
      IfExpr branch{};
      RELAYVM_RETURN_IF_ERROR(Use(operands[0], state.block, &branch.condition));
      RELAYVM_RETURN_IF_ERROR(TakeBlock(state.first_block, operands[1], &branch.then_block));
      RELAYVM_RETURN_IF_ERROR(TakeBlock(state.first_block + 1, operands[2], &branch.else_block));
      *value = branch;
      return OkStatus();
    }
    case NodeKind::kMatch: {
      const MatchPayload& payload = graph_.matches[node.payload];
      MatchExpr match;
      match.complete = payload.complete;
      RELAYVM_RETURN_IF_ERROR(Use(operands[0], state.block, &match.data));
      for (size_t i = 1; i < operands.size(); ++i) {
        const uint32_t block = state.first_block + static_cast<uint32_t>(i - 1);
        MatchClause clause{payload.patterns[i - 1], nullptr};
        DeclarePattern(clause.pattern, block);
        RELAYVM_RETURN_IF_ERROR(TakeBlock(block, operands[i], &clause.body));
        match.clauses.push_back(std::move(clause));
      }
      *value = std::move(match);
      return OkStatus();
    }
    default:
      return PlainValueOf(node, value);
  }
}

// Of a node whose operands are all evaluated in its own block.
Status AnfBuilder::PlainValueOf(const Node& node, ExprVariant* value) {
  const uint32_t block = states_[static_cast<NodeId>(&node - graph_.nodes.data())].block;
  std::vector<Atom> atoms(node.operands.size());
  for (size_t i = 0; i < atoms.size(); ++i)
    RELAYVM_RETURN_IF_ERROR(Use(node.operands[i], block, &atoms[i]));
  switch (node.kind) {
    case NodeKind::kOpCall: {
      const auto& [op, attrs] = graph_.ops[node.payload];
      *value = OpCall{op, std::move(atoms), attrs};
      break;
    }
    case NodeKind::kCall:
      *value = CallExpr{atoms[0], {atoms.begin() + 1, atoms.end()}, {}};
      break;
    case NodeKind::kTuple:
      *value = MakeTuple{std::move(atoms)};
      break;
    case NodeKind::kTupleGet:
      *value = TupleGet{atoms[0], node.payload};
      break;
    case NodeKind::kRefCreate:
      *value = RefCreate{atoms[0]};
      break;
    case NodeKind::kRefRead:
      *value = RefRead{atoms[0]};
      break;
    case NodeKind::kRefWrite:
      *value = RefWrite{atoms[0], atoms[1]};
      break;
    case NodeKind::kHostCall: {
      const HostPayload& host = graph_.hosts[node.payload];
      *value = HostCall{host.name, host.type, std::move(atoms)};
      break;
    }
    case NodeKind::kExpr: {
      *value = graph_.exprs[node.payload]->node;
      size_t next = 0;
      auto replace = [&](auto& part) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, Atom>)
          part = atoms[next++];
      };
      std::visit([&](auto& n) { VisitParts(n, replace); }, *value);
      break;
    }
    default:
      return {StatusCode::kInternal, "to_anf: a bare operator is left in the surface form"};
  }
  return OkStatus();
}

void AnfBuilder::RenameParams(Function& function) {
  for (const Var*& p : function.params) p = variables_.at(p).var;
}

Result<const Function*> AnfBuilder::Lower(NodeId function) {
  ++epoch_;
  states_.resize(graph_.nodes.size());
  RELAYVM_RETURN_IF_ERROR(PlaceNodes(PostOrder(function), function));
  const Node& node = graph_.nodes[function];
  DeclareParams(function);
  stack_.clear();
  Demand(node.operands[0], nullptr);
  while (!stack_.empty()) RELAYVM_RETURN_IF_ERROR(Step());
  Function lowered = graph_.functions[node.payload];
  RenameParams(lowered);
  RELAYVM_RETURN_IF_ERROR(
      TakeBlock(states_[function].first_block, node.operands[0], &lowered.body));
  return module_.arena->New(std::move(lowered));
}

}  // namespace relayvm::ir

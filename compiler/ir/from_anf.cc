#include "compiler/ir/from_anf.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"

namespace relayvm::ir {
namespace {

// What becomes of the bindings of one function.
class Plan {
 public:
  enum class Form : uint8_t { kHidden, kLet, kNode };

  Plan(const Module& m, const Effects& effects, const Function& f) : m_(m), effects_(effects) {
    Walk(*f.body, &f);
    NeedSymbols();
    // Who reads what inference makes stands behind it.
    for (auto at = made_.rbegin(); at != made_.rend(); ++at) {
      Use& use = uses_[at->var->id];
      if (use.count == 0 && !symbol_values_.contains(at->var->id)) {
        use.is_hidden = true;
        continue;
      }
      ForEachAtom(*at->value, [&](const Atom& a) {
        if (const Var* v = AsVar(a)) ++uses_[v->id].count;
      });
      NoteDims(*at->value);
      NeedSymbols();
    }
  }

  // `is_result`: the last of its block, and what the block gives.
  Form FormOf(const Binding& b, bool is_result) const {
    if (b.value->As<Guard>() != nullptr) return Form::kHidden;
    const Use& use = uses_.at(b.var->id);
    if (use.is_hidden) return Form::kHidden;
    if (!b.var->name.empty() || use.is_recursive || symbol_values_.contains(b.var->id))
      return Form::kLet;
    if (is_result && use.count == 1) return Form::kNode;
    return use.here == 0 || HasEffect(*b.value) ? Form::kLet : Form::kNode;
  }

 private:
  struct Use {
    const Function* owner = nullptr;  // the innermost function around the binding
    uint32_t count = 0;
    uint32_t here = 0;     // in the owner itself, not in its literals
    bool is_open = false;  // its value is being walked
    bool is_recursive = false;
    bool is_hidden = false;
  };

  // A composite's call (region.h) has what is inside.
  bool HasEffect(const Expr& e) const {
    const auto* call = e.As<CallExpr>();
    const Var* callee = call == nullptr ? nullptr : AsVar(call->callee);
    return !(callee != nullptr && composites_.contains(callee->id)) && effects_.HasEffect(e);
  }
  void NoteComposite(const Binding& b) {
    const auto* literal = b.value->As<FunctionExpr>();
    if (literal == nullptr || TextAttr(*literal->function, kCompositeAttr).empty()) return;
    const auto has_effect = [&](const Binding& inner) { return effects_.HasEffect(*inner.value); };
    if (std::ranges::none_of(literal->function->body->bindings, has_effect))
      composites_.insert(b.var->id);
  }

  static bool IsMade(const Expr& e) {
    return e.As<DimOf>() != nullptr || e.As<ElementOf>() != nullptr ||
           e.As<ShapeByRule>() != nullptr;
  }
  void NoteDims(const Expr& e) {
    const auto note = [&](const Dim& d) {
      d.ForEachSymbol([&](const Dim& s) { symbols_.insert(s.symbol_id()); });
    };
    std::visit([&](const auto& n) { VisitParts(n, Overloaded{note, kIgnoreRest}); }, e.node);
  }
  void NeedSymbols() {
    for (const uint32_t id : symbols_) {
      const auto at = m_.symbols.find(id);
      if (at != m_.symbols.end()) symbol_values_.insert(at->second.value->id);
    }
    symbols_.clear();
  }

  void Mention(const Atom& a, const Function* owner) {
    const Var* v = AsVar(a);
    if (v == nullptr) return;
    const auto at = uses_.find(v->id);
    if (at == uses_.end()) return;  // a parameter, or of a pattern
    ++at->second.count;
    at->second.is_recursive = at->second.is_recursive || at->second.is_open;
    if (at->second.owner == owner) ++at->second.here;
  }

  void Walk(const Block& block, const Function* owner) {
    for (const Binding& b : block.bindings) {
      Use& use = uses_[b.var->id];  // stays where it is: nodes of the table do not move
      use.owner = owner;
      use.is_open = true;
      if (IsMade(*b.value)) {
        made_.push_back(b);
      } else if (b.value->As<Guard>() == nullptr) {
        ForEachAtom(*b.value, [&](const Atom& a) { Mention(a, owner); });
        NoteDims(*b.value);
        NoteComposite(b);
        const auto* literal = b.value->As<FunctionExpr>();
        ForEachBlock(*b.value, [&](const Block& inner) {
          Walk(inner, literal == nullptr ? owner : literal->function);
        });
      }
      use.is_open = false;
    }
    Mention(block.result, owner);
  }

  const Module& m_;
  const Effects& effects_;
  std::unordered_map<uint32_t, Use> uses_;      // by Var::id
  std::vector<Binding> made_;                   // by type inference
  std::unordered_set<uint32_t> composites_;     // without effects, by Var::id
  std::unordered_set<uint32_t> symbols_;        // that visible expressions mention
  std::unordered_set<uint32_t> symbol_values_;  // the variables that these stand for
};

class Builder {
 public:
  Builder(const Module& m, const Effects& effects, Graph& graph)
      : m_(m), effects_(effects), graph_(graph) {}

  NodeId Function(const ir::Function& f) {
    const Plan plan(m_, effects_, f);
    plan_ = &plan;
    return Literal(f);
  }

 private:
  NodeId Add(NodeKind kind, Span span, std::vector<NodeId> operands, size_t payload = 0) {
    graph_.nodes.push_back({kind, span, std::move(operands), static_cast<uint32_t>(payload)});
    return static_cast<NodeId>(graph_.nodes.size() - 1);
  }
  NodeId Use(const Atom& a, Span span) {
    if (const Var* v = AsVar(a)) {
      if (const auto at = nodes_.find(v->id); at != nodes_.end()) return at->second;
      span = v->span;
    }
    const NodeId id = Add(NodeKind::kAtom, span, {});
    graph_.nodes[id].atom = a;
    if (const Var* v = AsVar(a)) nodes_.emplace(v->id, id);
    return id;
  }
  std::vector<NodeId> Use(const std::vector<Atom>& atoms, Span span) {
    std::vector<NodeId> nodes;
    nodes.reserve(atoms.size());
    for (const Atom& a : atoms) nodes.push_back(Use(a, span));
    return nodes;
  }

  NodeId Literal(const ir::Function& f) {
    const NodeId body = Block(*f.body);
    graph_.functions.push_back(f);
    return Add(NodeKind::kFunction, f.span, {body}, graph_.functions.size() - 1);
  }
  // A kernel's: all its bindings are pure and its dims are those of the place where it runs.
  NodeId Primitive(const ir::Function& f) {
    const Plan plan(m_, effects_, f);
    const Plan* outer = std::exchange(plan_, &plan);
    const NodeId id = Literal(f);
    plan_ = outer;
    return id;
  }

  NodeId Block(const ir::Block& block) {
    struct Let {
      const Var* var;
      NodeId value;
      Span span;
    };
    std::vector<Let> lets;
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const Binding& b = block.bindings[i];
      const bool is_result = i + 1 == block.bindings.size() && block.result == Atom(b.var);
      const Plan::Form form = plan_->FormOf(b, is_result);
      if (form == Plan::Form::kHidden) continue;
      const NodeId value = Value(*b.value);
      Node& node = graph_.nodes[value];
      if (b.value->As<AtomExpr>() == nullptr) node.bind = b.var;
      if (form == Plan::Form::kNode) {
        nodes_.emplace(b.var->id, value);
      } else {
        lets.push_back({b.var, value, b.value->span});
      }
    }
    NodeId result = Use(block.result, {});
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
      graph_.lets.push_back({let->var});
      result = Add(NodeKind::kLet, let->span, {let->value, result}, graph_.lets.size() - 1);
    }
    return result;
  }

  NodeId Value(const Expr& e) {
    const Span span = e.span;
    if (const auto* x = e.As<AtomExpr>()) return Use(x->atom, span);
    if (const auto* x = e.As<OpCall>()) {
      std::vector<NodeId> args = Use(x->args, span);
      graph_.ops.push_back({x->op, x->attrs});
      return Add(NodeKind::kOpCall, span, std::move(args), graph_.ops.size() - 1);
    }
    if (const auto* x = e.As<CallExpr>()) {
      std::vector<NodeId> operands = {Use(x->callee, span)};
      for (const Atom& a : x->args) operands.push_back(Use(a, span));
      return Add(NodeKind::kCall, span, std::move(operands));
    }
    if (const auto* x = e.As<PrimitiveCall>()) {
      std::vector<NodeId> operands = {Primitive(*x->function)};
      for (const Atom& a : x->args) operands.push_back(Use(a, span));
      return Add(NodeKind::kCall, span, std::move(operands));
    }
    if (const auto* x = e.As<MakeTuple>()) return Add(NodeKind::kTuple, span, Use(x->fields, span));
    if (const auto* x = e.As<TupleGet>())
      return Add(NodeKind::kTupleGet, span, {Use(x->tuple, span)}, x->index);
    if (const auto* x = e.As<FunctionExpr>()) return Literal(*x->function);
    if (const auto* x = e.As<IfExpr>()) {
      const NodeId condition = Use(x->condition, span);
      const NodeId yes = Block(*x->then_block);
      return Add(NodeKind::kIf, span, {condition, yes, Block(*x->else_block)});
    }
    if (const auto* x = e.As<MatchExpr>()) {
      std::vector<NodeId> operands = {Use(x->data, span)};
      MatchPayload payload{{}, x->complete};
      for (const MatchClause& c : x->clauses) {
        payload.patterns.push_back(c.pattern);
        operands.push_back(Block(*c.body));
      }
      graph_.matches.push_back(std::move(payload));
      return Add(NodeKind::kMatch, span, std::move(operands), graph_.matches.size() - 1);
    }
    if (const auto* x = e.As<RefCreate>())
      return Add(NodeKind::kRefCreate, span, {Use(x->value, span)});
    if (const auto* x = e.As<RefRead>()) return Add(NodeKind::kRefRead, span, {Use(x->ref, span)});
    if (const auto* x = e.As<RefWrite>())
      return Add(NodeKind::kRefWrite, span, {Use(x->ref, span), Use(x->value, span)});
    std::vector<NodeId> operands;
    ForEachAtom(e, [&](const Atom& a) { operands.push_back(Use(a, span)); });
    graph_.exprs.push_back(&e);
    return Add(NodeKind::kExpr, span, std::move(operands), graph_.exprs.size() - 1);
  }

  const Module& m_;
  const Effects& effects_;
  Graph& graph_;
  const Plan* plan_ = nullptr;
  std::unordered_map<uint32_t, NodeId> nodes_;  // of variables, by id
};

}  // namespace

NodeId SurfaceBuilder::Add(const Function& function, Graph* graph) const {
  return Builder(module_, effects_, *graph).Function(function);
}

}  // namespace relayvm::ir

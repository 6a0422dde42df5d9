#include "compiler/ir/substitute.h"

namespace relayvm::ir {
namespace {

class Substituter {
 public:
  Substituter(const Module& m, const Substitution& by) : module_(m), by_(by) {}

  const Block* Visit(const Block* b) {
    Block out{{}, b->result};
    bool changed = Replace(out.result);
    out.bindings.reserve(b->bindings.size());
    for (const Binding& binding : b->bindings) {
      const Expr* value = Visit(binding.value);
      changed = changed || value != binding.value;
      out.bindings.push_back({binding.var, value});
    }
    return changed ? module_.arena->New(std::move(out)) : b;
  }

  const Expr* Visit(const Expr* e) {
    bool changed = false;
    ForEachAtom(*e, [&](const Atom& a) {
      auto* var = std::get_if<const Var*>(&a);
      changed = changed || (var != nullptr && by_.contains(*var));
    });
    Expr copy = *e;
    if (changed) {
      std::visit([this](auto& node) { ReplaceOperands(node); }, copy.node);
    }
    if (auto* branch = std::get_if<IfExpr>(&copy.node)) {
      changed |= VisitNested(branch->then_block);
      changed |= VisitNested(branch->else_block);
    } else if (auto* match = std::get_if<MatchExpr>(&copy.node)) {
      for (MatchClause& clause : match->clauses) changed |= VisitNested(clause.body);
    } else if (auto* function = std::get_if<FunctionExpr>(&copy.node)) {
      Function f = *function->function;
      if (VisitNested(f.body)) {
        function->function = module_.arena->New(std::move(f));
        changed = true;
      }
    }
    return changed ? module_.arena->New(std::move(copy)) : e;
  }

 private:
  bool Replace(Atom& a) {
    auto* var = std::get_if<const Var*>(&a);
    auto it = var == nullptr ? by_.end() : by_.find(*var);
    if (it == by_.end()) return false;
    a = it->second;
    return true;
  }
  void Replace(std::vector<Atom>& atoms) {
    for (Atom& a : atoms) Replace(a);
  }
  bool VisitNested(const Block*& b) {
    const Block* out = Visit(b);
    const bool changed = out != b;
    b = out;
    return changed;
  }

  void ReplaceOperands(AtomExpr& e) { Replace(e.atom); }
  void ReplaceOperands(OpCall& e) { Replace(e.args); }
  void ReplaceOperands(CallExpr& e) {
    Replace(e.callee);
    Replace(e.args);
  }
  void ReplaceOperands(PrimitiveCall& e) { Replace(e.args); }
  void ReplaceOperands(MakeTuple& e) { Replace(e.fields); }
  void ReplaceOperands(TupleGet& e) { Replace(e.tuple); }
  void ReplaceOperands(MakeClosure& e) { Replace(e.captured); }
  void ReplaceOperands(IfExpr& e) { Replace(e.condition); }
  void ReplaceOperands(MatchExpr& e) { Replace(e.data); }
  void ReplaceOperands(RefCreate& e) { Replace(e.value); }
  void ReplaceOperands(RefRead& e) { Replace(e.ref); }
  void ReplaceOperands(RefWrite& e) {
    Replace(e.ref);
    Replace(e.value);
  }
  template <typename T>
  void ReplaceOperands(T&) {}  // no operands

  const Module& module_;
  const Substitution& by_;
};

}  // namespace

const Block* Substitute(const Module& m, const Block& b, const Substitution& by) {
  return Substituter(m, by).Visit(&b);
}
const Expr* Substitute(const Module& m, const Expr& e, const Substitution& by) {
  return Substituter(m, by).Visit(&e);
}

}  // namespace relayvm::ir

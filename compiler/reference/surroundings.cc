#include "compiler/reference/surroundings.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/walk.h"

namespace relayvm::reference {
namespace {

using ir::Atom;

class SurroundingsFinder {
 public:
  explicit SurroundingsFinder(const ir::Function& f) { Visit(f); }

  Surroundings Found() const {
    Surroundings out;
    for (uint32_t id : used_) {
      if (!bound_.contains(id)) out.vars.push_back(id);
    }
    std::sort(out.vars.begin(), out.vars.end());
    out.symbols.assign(symbols_.begin(), symbols_.end());
    std::sort(out.symbols.begin(), out.symbols.end());
    return out;
  }

 private:
  void Visit(const ir::Function& f) {
    for (const ir::Var* p : f.params) Bind(p);
    Visit(*f.body);
  }
  void Visit(const ir::Block& block) {
    for (const ir::Binding& b : block.bindings) {
      Bind(b.var);
      Visit(*b.value);
    }
    Use(block.result);
  }
  void Visit(const ir::Expr& e) {
    std::visit(
        [&](const auto& node) {
          ir::VisitParts(node, ir::Overloaded{[&](const Atom& a) { Use(a); },
                                              [&](const Dim& d) { Mention(d); }, ir::kIgnoreRest});
        },
        e.node);
    if (const auto* match = e.As<ir::MatchExpr>()) {
      for (const ir::MatchClause& c : match->clauses) {
        ir::ForEachVar(c.pattern, [&](const ir::Var* v) { Bind(v); });
      }
    }
    if (const auto* f = e.As<ir::FunctionExpr>()) {
      Visit(*f->function);
    } else {
      ir::ForEachBlock(e, [&](const ir::Block& b) { Visit(b); });
    }
  }
  void Bind(const ir::Var* v) {
    bound_.insert(v->id);
    if (v->type != nullptr) ir::ForEachDim(v->type, [&](const Dim& d) { Mention(d); });
  }
  void Use(const Atom& a) {
    if (const auto* v = std::get_if<const ir::Var*>(&a)) used_.insert((*v)->id);
  }
  void Mention(const Dim& d) {
    d.ForEachSymbol([&](const Dim& s) { symbols_.insert(s.symbol_id()); });
  }

  std::unordered_set<uint32_t> used_, bound_, symbols_;
};

}  // namespace

Surroundings FindSurroundings(const ir::Function& f) { return SurroundingsFinder(f).Found(); }

}  // namespace relayvm::reference

#include "compiler/typing/rebuild.h"

#include <fmt/format.h>

#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/region.h"
#include "compiler/ir/stop_scope.h"
#include "compiler/ir/walk.h"

namespace relayvm::typing {
namespace {

using ir::Atom;
using ir::Guard;
using ir::Type;

// The guards on the way to a place.
class KnownFacts {
 public:
  size_t mark() const { return log_.size(); }
  void Rollback(size_t mark) {
    for (; log_.size() > mark; log_.pop_back()) facts_.erase(log_.back());
  }
  // False when the fact is known already.
  bool Add(const Guard& g) {
    if (Knows(g.kind, g.left, g.right)) return false;
    Fact f = Make(g.kind, g.left, g.right);
    facts_.insert(f);
    log_.push_back(f);
    return true;
  }

 private:
  using Fact = std::tuple<Guard::Kind, Dim, Dim>;
  static Fact Make(Guard::Kind kind, const Dim& a, const Dim& b) {
    bool swap = kind != Guard::Kind::kAtLeast && b < a;
    return swap ? Fact(kind, b, a) : Fact(kind, a, b);
  }
  bool Knows(Guard::Kind kind, const Dim& a, const Dim& b) const {
    return facts_.contains(Make(kind, a, b)) || facts_.contains(Make(Guard::Kind::kEqual, a, b));
  }

  std::set<Fact> facts_;
  std::vector<Fact> log_;
};

class Rebuilder {
 public:
  Rebuilder(const ir::Module& module, Inference& inference) : in_(module), inference_(inference) {}

  ir::Module Run() {
    out_ = in_;
    const KeptFunctions& kept = inference_.kept();
    auto released = [&](const auto& entry) {
      return !kept.any() || kept.IsReleased(entry.second.value->id) ||
             kept.IsReleased(entry.second.source->id);
    };
    std::erase_if(out_.symbols, released);
    std::erase_if(out_.contents,
                  [&](const auto& entry) { return !kept.any() || kept.IsReleased(entry.first); });
    kept_symbols_.swap(out_.symbols);
    for (const Inference::Element& e : inference_.elements()) elements_[e.var].push_back(e);
    for (auto& [name, function] : out_.functions) {
      if (!kept.Contains(function)) function = RebuildFunction(*function);
    }
    DropUnused();
    out_.symbols.merge(kept_symbols_);
    out_.typed = std::make_shared<const ir::TypedParts>(ir::TypedParts{out_.functions, out_.types});
    return std::move(out_);
  }

 private:
  void Use(const Dim& d) {
    if (d.is_const()) return;
    d.ForEachSymbol([&](const Dim& s) { used_symbols_.insert(s.symbol_id()); });
  }
  void Use(const ir::Binding& b) {
    ir::ForEachSymbol(b, [&](const Dim& s) { used_symbols_.insert(s.symbol_id()); });
  }

  const ir::Var* MapVar(const ir::Var* var) {
    auto [it, inserted] = vars_.try_emplace(var);
    if (!inserted) return it->second;
    Type type = inference_.FinalType(var);
    bool same = var->type != nullptr && ir::TypeEquals(var->type, type);
    it->second = same ? var : in_.arena->New<ir::Var>(ir::Var{var->id, var->name, type, var->span});
    if (!restated_ids_.contains(var->id)) NoteContents(var);
    return it->second;
  }
  void NoteContents(const ir::Var* var) {
    const std::vector<Dim>* contents = inference_.Contents(var);
    if (contents == nullptr) return;
    for (const Dim& d : *contents) Use(d);
    out_.contents[var->id] = *contents;
  }

  Atom Map(const Atom& a) {
    const ir::Var* var = ir::AsVar(a);
    if (var == nullptr) return a;
    if (auto same = same_.find(var); same != same_.end()) return same->second;
    used_vars_.insert(var->id);
    return MapVar(var);
  }
  std::vector<Atom> Map(const std::vector<Atom>& atoms) {
    std::vector<Atom> out;
    out.reserve(atoms.size());
    for (const Atom& a : atoms) out.push_back(Map(a));
    return out;
  }

  const ir::Function* RebuildFunction(const ir::Function& f) {
    // Calls may share a primitive function.
    auto [it, inserted] = functions_.try_emplace(&f);
    if (!inserted) return it->second;
    ir::Function out = f;
    for (const ir::Var*& p : out.params) p = MapVar(p);
    out.result_type = inference_.FinalResult(&f);
    // A primitive function is a kernel: its dims are values of the place where it runs.
    bool primitive = f.attrs.contains("Primitive") && !f.attrs.contains(ir::kCompilerAttr);
    out.body = RebuildBlock(*f.body, primitive ? std::vector<const ir::Var*>() : f.params);
    return functions_[&f] = in_.arena->New<ir::Function>(std::move(out));
  }

  void EmitGuards(const std::vector<Guard>& guards, ir::Span span, std::vector<ir::Binding>& out) {
    for (const Guard& g : guards) {
      // What is known by a guard that is made anew may be known no more when its call has gone.
      const bool is_new = facts_.Add(g);
      if (g.is_kept ? !kept_facts_.Add(g) : !is_new) continue;
      const ir::Var* unit = ir::MakeVar(in_, "", ir::UnitType(), span);
      out.push_back({unit, ir::MakeExpr(in_, g, span)});
      Use(out.back());
    }
  }

  // Of a call that a pass has replaced. It goes where types say that it holds, and where nothing
  // stands for a symbol of it any more.
  void EmitKept(Guard g, ir::Span span, std::vector<ir::Binding>& out) {
    g.left = inference_.Translate(g.left);
    g.right = inference_.Translate(g.right);
    bool is_known = true;
    for (const Dim* d : {&g.left, &g.right}) {
      d->ForEachSymbol(
          [&](const Dim& s) { is_known = is_known && out_.symbols.contains(s.symbol_id()); });
    }
    const auto low = (g.left - g.right).LowerBound();
    const bool is_proved = g.kind == Guard::Kind::kAtLeast ? low && *low >= 0 : g.left == g.right;
    if (is_known && !is_proved) EmitGuards({std::move(g)}, span, out);
  }

  // Binds the symbols that `var` (of the input) gives: its dims and its elements.
  void BindSymbols(const ir::Var* var, ir::Block& out) {
    const ir::Var* source = MapVar(var);
    auto define = [&](uint32_t id, std::string name, auto node) {
      const ir::Var* value =
          ir::MakeVar(in_, std::move(name), ir::MakeScalarType(DType::kInt64), source->span);
      out.bindings.push_back({value, ir::MakeExpr(in_, std::move(node), source->span)});
      out_.symbols[id] = {value, source};
    };
    for (Inference::DefinedDim& d : inference_.DimsDefinedBy(var)) {
      define(d.symbol.symbol_id(), d.symbol.symbol_name(),
             ir::DimOf{source, std::move(d.path), d.axis});
    }
    auto elements = elements_.find(var);
    if (elements == elements_.end()) return;
    for (const Inference::Element& e : elements->second) {
      if (source->type->As<TensorType>()->rank() == 0) {
        out_.symbols[e.symbol] = {source, source};
      } else {
        define(e.symbol, fmt::format("{}[{}]", source->name, e.index),
               ir::ElementOf{source, e.index});
      }
    }
  }

  // What binds a symbol that nothing mentions goes again, and so does what an earlier run made and
  // no operand reads.
  bool IsUnused(const ir::Binding& b) const {
    if (used_vars_.contains(b.var->id) || needed_values_.contains(b.var->id)) return false;
    if (b.value->As<ir::ShapeByRule>() != nullptr) return true;
    if (b.value->As<ir::ShapeValue>() != nullptr) return restated_ids_.contains(b.var->id);
    return b.value->As<ir::DimOf>() != nullptr || b.value->As<ir::ElementOf>() != nullptr;
  }
  void DropUnused() {
    for (const ir::Var* var : restated_) {
      if (used_vars_.contains(var->id)) NoteContents(var);
    }
    std::erase_if(out_.symbols,
                  [&](const auto& entry) { return !used_symbols_.contains(entry.first); });
    for (const auto& [id, symbol] : out_.symbols) {
      needed_values_.insert({symbol.value->id, symbol.source->id});
    }
    for (const ir::Block* block : blocks_) {
      // Made here and not yet given away.
      std::erase_if(const_cast<ir::Block*>(block)->bindings,
                    [&](const ir::Binding& b) { return IsUnused(b); });
    }
  }

  // `bound`: the variables that come into scope with the block.
  const ir::Block* RebuildBlock(const ir::Block& block,
                                const std::vector<const ir::Var*>& bound = {}) {
    const size_t mark = facts_.mark(), kept_mark = kept_facts_.mark();
    ir::Block out;
    out.bindings.reserve(block.bindings.size());
    bool ended = false;
    for (const ir::Var* var : bound) BindSymbols(var, out);
    for (const ir::Binding& b : block.bindings) {
      ir::PollStop();
      if (const auto* guard = b.value->As<Guard>()) {  // of an earlier run
        if (guard->is_kept) EmitKept(*guard, b.value->span, out.bindings);
        continue;
      }
      if (const Outcome* outcome = inference_.OutcomeOf(b.var)) {
        for (const ir::Binding& added : outcome->before) {
          const ir::Var* var = MapVar(added.var);
          out.bindings.push_back({var, RebuildExpr(added)});
          Use(out.bindings.back());
          BindSymbols(added.var, out);
        }
        if (outcome->dead_end) {
          out.result = EmitTrap(*outcome->dead_end, block, b.value->span, out.bindings);
          ended = true;
          break;
        }
        EmitGuards(outcome->guards, b.value->span, out.bindings);
      }
      auto* stated = b.value->As<ir::Stated>();
      if (stated != nullptr && inference_.IsProved(b)) {
        same_.emplace(b.var, Map(stated->value));
        continue;
      }
      bool restated =
          b.value->As<ir::DimOf>() != nullptr || b.value->As<ir::ElementOf>() != nullptr;
      if (restated && restated_ids_.insert(b.var->id).second) restated_.push_back(b.var);
      const ir::Var* var = MapVar(b.var);
      out.bindings.push_back({var, RebuildExpr(b)});
      if (!restated) Use(out.bindings.back());
      BindSymbols(b.var, out);
    }
    if (!ended) out.result = Map(block.result);
    facts_.Rollback(mark);
    kept_facts_.Rollback(kept_mark);
    blocks_.push_back(in_.arena->New<ir::Block>(std::move(out)));
    return blocks_.back();
  }

  // The result of a block that ends here.
  Atom EmitTrap(const std::string& message, const ir::Block& block, ir::Span span,
                std::vector<ir::Binding>& out) {
    const ir::Var* var = ir::MakeVar(in_, "", inference_.FinalType(block.result), span);
    out.push_back({var, ir::MakeExpr(in_, ir::Trap{message}, span)});
    return var;
  }

  ir::Pattern RebuildPattern(const ir::Pattern& p) {
    ir::Pattern out = p;
    if (p.var != nullptr) out.var = MapVar(p.var);
    for (ir::Pattern& field : out.fields) field = RebuildPattern(field);
    return out;
  }

  // Of what is made of its operands alone.
  bool StaysAsIs(const ir::Binding& b) {
    if (restated_ids_.contains(b.var->id)) return false;
    const ir::Expr& e = *b.value;
    if (e.As<ir::OpCall>() == nullptr && e.As<ir::MakeTuple>() == nullptr &&
        e.As<ir::TupleGet>() == nullptr)
      return false;
    if (const Outcome* outcome = inference_.OutcomeOf(b.var); outcome && !outcome->args.empty())
      return false;
    bool same = true;
    ir::ForEachAtom(e, [&](const Atom& a) { same = same && Map(a) == a; });
    return same;
  }

  const ir::Expr* RebuildExpr(const ir::Binding& b) {
    const ir::Expr& e = *b.value;
    if (StaysAsIs(b)) return &e;
    ir::ExprVariant node = e.node;
    // Symbols are bound anew; an operand that still reads the old variable has its value.
    if (restated_ids_.contains(b.var->id)) node = ir::ShapeValue{*inference_.Contents(b.var)};
    std::visit([&](auto& n) { Rebuild(n, b.var); }, node);
    return in_.arena->New<ir::Expr>(ir::Expr{std::move(node), e.span});
  }

  void Rebuild(ir::AtomExpr& n, const ir::Var*) { n.atom = Map(n.atom); }
  void Rebuild(ir::OpCall& n, const ir::Var* var) {
    if (const Outcome* outcome = inference_.OutcomeOf(var)) {
      for (const auto& [i, copy] : outcome->args) n.args[i] = copy;
    }
    n.args = Map(n.args);
  }
  void Rebuild(ir::CallExpr& n, const ir::Var* var) {
    n.callee = Map(n.callee);
    n.args = Map(n.args);
    n.type_args.clear();
    if (const Outcome* outcome = inference_.OutcomeOf(var)) {
      for (const Type& t : outcome->type_args) n.type_args.push_back(inference_.Final(t));
    }
  }
  void Rebuild(ir::PrimitiveCall& n, const ir::Var*) {
    if (!ir::IsRegion(*n.function)) n.function = RebuildFunction(*n.function);
    n.args = Map(n.args);
  }
  void Rebuild(ir::ShapeValue& n, const ir::Var* var) {
    if (restated_ids_.contains(var->id)) return;
    for (Dim& d : n.elements) d = inference_.Translate(d);
  }
  void Rebuild(ir::ShapeByRule& n, const ir::Var*) {
    for (Dim& d : n.shape.data) d = inference_.Translate(d);
    for (Dim& d : n.shape.numbers) d = inference_.Translate(d);
  }
  void Rebuild(ir::MakeTuple& n, const ir::Var*) { n.fields = Map(n.fields); }
  void Rebuild(ir::TupleGet& n, const ir::Var*) { n.tuple = Map(n.tuple); }
  void Rebuild(ir::FunctionExpr& n, const ir::Var*) { n.function = RebuildFunction(*n.function); }
  void Rebuild(ir::MakeClosure& n, const ir::Var*) { n.captured = Map(n.captured); }
  void Rebuild(ir::IfExpr& n, const ir::Var*) {
    n.condition = Map(n.condition);
    n.then_block = RebuildBlock(*n.then_block);
    n.else_block = RebuildBlock(*n.else_block);
  }
  void Rebuild(ir::MatchExpr& n, const ir::Var*) {
    n.data = Map(n.data);
    for (ir::MatchClause& c : n.clauses) {
      std::vector<const ir::Var*> bound;
      ir::ForEachVar(c.pattern, [&](const ir::Var* v) { bound.push_back(v); });
      c.pattern = RebuildPattern(c.pattern);
      c.body = RebuildBlock(*c.body, bound);
    }
  }
  void Rebuild(ir::HostCall& n, const ir::Var*) { n.args = Map(n.args); }
  void Rebuild(ir::RefCreate& n, const ir::Var*) { n.value = Map(n.value); }
  void Rebuild(ir::RefRead& n, const ir::Var*) { n.ref = Map(n.ref); }
  void Rebuild(ir::RefWrite& n, const ir::Var*) {
    n.ref = Map(n.ref);
    n.value = Map(n.value);
  }
  void Rebuild(ir::Stated& n, const ir::Var*) { n.value = Map(n.value); }
  void Rebuild(ir::Trap&, const ir::Var*) {}
  void Rebuild(Guard&, const ir::Var*) {}
  void Rebuild(ir::DimOf&, const ir::Var*) {}      // restated
  void Rebuild(ir::ElementOf&, const ir::Var*) {}  // restated

  const ir::Module& in_;
  Inference& inference_;
  ir::Module out_;
  ir::SymbolTable kept_symbols_;  // of the functions that stay
  std::unordered_map<const ir::Var*, const ir::Var*> vars_;
  std::unordered_map<const ir::Function*, const ir::Function*> functions_;
  std::unordered_map<const ir::Var*, std::vector<Inference::Element>> elements_;
  std::unordered_map<const ir::Var*, Atom> same_;  // what is stated of these is proved
  std::unordered_set<uint32_t> used_symbols_;
  std::unordered_set<uint32_t> used_vars_;  // as operands
  std::vector<const ir::Var*> restated_;    // what an earlier run made for its symbols
  std::unordered_set<uint32_t> restated_ids_;
  std::unordered_set<uint32_t> needed_values_;  // what used symbols stand for
  std::vector<const ir::Block*> blocks_;        // all that were made
  KnownFacts facts_, kept_facts_;
};

}  // namespace

ir::Module Rebuild(const ir::Module& module, Inference& inference) {
  return Rebuilder(module, inference).Run();
}

}  // namespace relayvm::typing

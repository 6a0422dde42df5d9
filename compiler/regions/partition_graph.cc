#include "compiler/regions/partition_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"
#include "compiler/regions/annotations.h"

namespace relayvm::regions {
namespace {

using ir::Atom;
using ir::Binding;

// Makes the function of one region, and its call.
class RegionWriter {
 public:
  RegionWriter(const ir::Module& m, const ir::Block& block, const RegionGraph& graph)
      : m_(m), block_(block), graph_(graph) {}

  // `outputs`: of the members, those that are read outside. Appends to `out`.
  const ir::Function* Write(const std::string& name, const std::vector<size_t>& members,
                            const std::vector<size_t>& outputs, std::vector<Binding>& out) {
    for (const size_t i : members) inside_.insert(block_.bindings[i].var->id);
    const ir::Span span = block_.bindings[members.back()].value->span;
    for (const size_t i : members) {
      const Binding& b = block_.bindings[i];
      if (const Binding* literal = graph_.composites().BindingOf(*b.value);
          literal != nullptr && !map_.contains(literal->var->id))
        Copy(*literal, out);
      Copy(b, out);
    }
    std::vector<Atom> results;
    for (const size_t i : outputs) {
      const ir::Var* v = block_.bindings[i].var;
      for (size_t k = 0; k < NumFields(v); ++k) results.push_back(Field(map_.at(v->id), v, k));
    }
    const bool is_one = results.size() == 1;
    body_.result = is_one ? results[0] : Bind(ir::MakeTuple{results}, span);
    ir::Function f;
    f.name = name;
    f.params = std::move(params_);
    f.attrs = {{ir::kCompilerAttr, graph_.engine(members[0])},
               {ir::kGlobalSymbolAttr, name},
               {"Primitive", Dim(1)},
               {"Inline", Dim(1)}};
    f.span = span;
    f.body = m_.arena->New<ir::Block>(std::move(body_));
    Call(name, outputs, is_one, span, out);
    return m_.arena->New<ir::Function>(std::move(f));
  }

 private:
  static size_t NumFields(const ir::Var* v) {
    const auto* tuple = v->type->As<ir::TupleType>();
    return tuple == nullptr ? 1 : tuple->fields.size();
  }
  const ir::Var* Bind(ir::ExprVariant node, ir::Span span) {
    const ir::Var* v = ir::MakeVar(m_, "", nullptr, span);
    body_.bindings.push_back({v, m_.arena->New<ir::Expr>(ir::Expr{std::move(node), span})});
    return v;
  }
  // Of a value that is the region's own name for `v`.
  Atom Field(const Atom& value, const ir::Var* v, size_t k) {
    if (v->type->As<ir::TupleType>() == nullptr) return value;
    return Bind(ir::TupleGet{value, static_cast<uint32_t>(k)}, v->span);
  }

  void Copy(const Binding& b, std::vector<Binding>& out) {
    ir::ForEachAtom(*b.value, [&](const Atom& a) { Import(graph_.Through(a), out); });
    const ir::Expr* e = ir::MapAtoms(m_, b.value, [&](const Atom& a) -> Atom {
      const Atom from = graph_.Through(a);
      const ir::Var* v = ir::AsVar(from);
      return v == nullptr ? from : map_.at(v->id);
    });
    const bool is_literal = e->As<ir::FunctionExpr>() != nullptr;
    const ir::Var* copy =
        ir::MakeVar(m_, b.var->name, is_literal ? nullptr : Open(b.var->type), b.var->span);
    if (is_literal) e = OpenLiteral(*e);
    body_.bindings.push_back({copy, e});
    map_.emplace(b.var->id, copy);
  }

  // Dims are inferred anew.
  static ir::Type Open(const ir::Type& t) {
    return ir::MapDims(t, [](const Dim& d) { return d.is_const() ? d : Dim::Any(); });
  }
  // A literal whose variables are its own: it stands in another function now.
  const ir::Expr* OpenLiteral(const ir::Expr& e) {
    ir::Function f = *e.As<ir::FunctionExpr>()->function;
    ir::AtomMap map;
    const auto fresh = [&](const ir::Var* v) {
      const ir::Var* copy = ir::MakeVar(m_, v->name, v->type ? Open(v->type) : nullptr, v->span);
      map.emplace(v->id, copy);
      return copy;
    };
    for (const ir::Var*& p : f.params) p = fresh(p);
    if (f.result_type != nullptr) f.result_type = Open(f.result_type);
    ir::Block body;
    const auto image = [&](const Atom& a) { return ir::Image(map, a); };
    for (const Binding& b : f.body->bindings) {
      // What inference makes of dims, it makes anew.
      if (b.value->As<ir::Guard>() != nullptr || b.value->As<ir::DimOf>() != nullptr) continue;
      const ir::Expr* value = ir::MapAtoms(m_, b.value, image);
      body.bindings.push_back({fresh(b.var), value});
    }
    body.result = image(f.body->result);
    f.body = m_.arena->New<ir::Block>(std::move(body));
    return ir::MakeExpr(m_, ir::FunctionExpr{m_.arena->New<ir::Function>(std::move(f))}, e.span);
  }

  // What stands outside becomes a parameter; a tuple, one for each field.
  void Import(const Atom& a, std::vector<Binding>& out) {
    const ir::Var* v = ir::AsVar(a);
    if (v == nullptr || inside_.contains(v->id) || map_.contains(v->id)) return;
    const auto* tuple = v->type->As<ir::TupleType>();
    if (tuple == nullptr) {
      map_.emplace(v->id, Parameter(a, v->name, v->type));
      return;
    }
    ir::MakeTuple fields;
    for (uint32_t k = 0; k < tuple->fields.size(); ++k) {
      const ir::Var* field = ir::MakeVar(m_, "", tuple->fields[k], v->span);
      out.push_back({field, ir::MakeExpr(m_, ir::TupleGet{v, k}, v->span)});
      fields.fields.push_back(Parameter(field, "", tuple->fields[k]));
    }
    map_.emplace(v->id, Bind(std::move(fields), v->span));
  }

  // Its dims by the function's own symbols: one for each expression.
  const ir::Var* Parameter(const Atom& a, const std::string& name, const ir::Type& type) {
    const ir::Type own = ir::MapDims(type, [&](const Dim& d) {
      if (d.is_const() || d.is_any()) return d;
      const auto [at, inserted] = symbols_.try_emplace(d);
      if (inserted) at->second = Dim::Symbol(m_.ids->Next(), d.is_symbol() ? d.symbol_name() : "n");
      return at->second;
    });
    const ir::Var* param = ir::MakeVar(m_, name, own, Span());
    params_.push_back(param);
    args_.push_back(a);
    return param;
  }
  static ir::Span Span() { return {}; }

  void Call(const std::string& name, const std::vector<size_t>& outputs, bool is_one, ir::Span span,
            std::vector<Binding>& out) {
    const Atom callee = m_.arena->New<ir::GlobalVar>(ir::GlobalVar{name});
    const ir::Expr* call = ir::MakeExpr(m_, ir::CallExpr{callee, std::move(args_), {}}, span);
    const ir::Var* first = block_.bindings[outputs[0]].var;
    if (is_one && first->type->As<ir::TupleType>() == nullptr) {
      out.push_back({first, call});
      return;
    }
    const ir::Var* all = ir::MakeVar(m_, "", nullptr, span);
    out.push_back({all, call});
    uint32_t next = 0;
    for (const size_t i : outputs) {
      const ir::Var* v = block_.bindings[i].var;
      if (v->type->As<ir::TupleType>() == nullptr) {
        out.push_back({v, ir::MakeExpr(m_, ir::TupleGet{all, next++}, span)});
        continue;
      }
      ir::MakeTuple fields;
      for (size_t k = 0; k < NumFields(v); ++k) {
        const ir::Var* field = is_one ? all : ir::MakeVar(m_, "", nullptr, span);
        if (!is_one) out.push_back({field, ir::MakeExpr(m_, ir::TupleGet{all, next++}, span)});
        fields.fields.push_back(field);
      }
      out.push_back({v, ir::MakeExpr(m_, std::move(fields), span)});
    }
  }

  const ir::Module& m_;
  const ir::Block& block_;
  const RegionGraph& graph_;
  std::unordered_set<uint32_t> inside_;
  ir::AtomMap map_;
  std::map<Dim, Dim> symbols_;
  std::vector<const ir::Var*> params_;
  std::vector<Atom> args_;
  ir::Block body_;
};

class Partitioner {
 public:
  explicit Partitioner(const ir::Module& m) : m_(m), effects_(m, ir::Effects::Of::kMoving) {
    for (const auto& [name, f] : m.functions) {
      taken_.insert(name);
      ir::ForEachBinding(*f->body, [&](const Binding& b) {
        const auto* call = b.value->As<ir::PrimitiveCall>();
        if (call == nullptr) return;
        if (const auto region = ir::RegionOf(*call->function)) taken_.insert(region->name);
      });
    }
  }

  ir::Module Run() {
    ir::Module rewritten =
        MapEachBlock(m_, [&](const std::string& function, const ir::Block& block) {
          return Partition(function, block);
        });
    rewritten.functions.insert(made_.begin(), made_.end());
    return rewritten;
  }

 private:
  const ir::Block* Partition(const std::string& function, const ir::Block& block) {
    RegionGraph graph(m_, effects_, block);
    bool has_markers = false;
    for (size_t i = 0; i < graph.size(); ++i) has_markers = has_markers || graph.is_marker(i);
    if (!has_markers) return &block;
    std::vector<size_t> cyclic;
    std::vector<size_t> order = graph.Order(&cyclic);
    std::unordered_map<size_t, std::vector<size_t>> members;
    for (size_t i = 0; i < graph.size(); ++i) members[graph.Find(i)].push_back(i);
    if (!cyclic.empty()) {
      // As the program has them.
      order.clear();
      for (size_t i = 0; i < graph.size(); ++i) {
        if (!graph.is_marker(i)) order.push_back(i);
      }
    }
    readers_.assign(graph.size(), {});
    for (size_t i = 0; i < graph.size(); ++i) {
      for (const size_t need : graph.needs(i)) readers_[need].push_back(i);
    }
    ir::Block out;
    for (const size_t group : order) {
      const bool is_region = !graph.engine(group).empty() && cyclic.empty();
      if (!is_region && cyclic.empty() && IsCopied(graph, block, group)) continue;
      if (!is_region) {
        out.bindings.push_back(WithoutMarkers(graph, block.bindings[group]));
        continue;
      }
      Cut(function, block, graph, members.at(group), out.bindings);
    }
    out.result = graph.Through(block.result);
    return m_.arena->New<ir::Block>(std::move(out));
  }

  // A composite whose calls are all in regions, which have copies of it.
  bool IsCopied(const RegionGraph& graph, const ir::Block& block, size_t i) const {
    const auto* literal = block.bindings[i].value->As<ir::FunctionExpr>();
    if (literal == nullptr || ir::TextAttr(*literal->function, ir::kCompositeAttr).empty())
      return false;
    return !readers_[i].empty() && std::ranges::all_of(readers_[i], [&](size_t reader) {
      return !graph.engine(reader).empty();
    });
  }

  Binding WithoutMarkers(const RegionGraph& graph, const Binding& b) const {
    ir::Block one;
    one.bindings.push_back(b);
    one.result = b.var;
    ir::AtomMap map;
    const auto note = [&](const ir::Var* v) {
      const Atom through = graph.Through(v);
      if (!(through == Atom(v))) map.emplace(v->id, through);
    };
    ir::ForEachUse(m_, b, note);
    ir::ForEachBlock(*b.value,
                     [&](const ir::Block& inner) { ir::ForEachUseInside(m_, inner, note); });
    return map.empty() ? b : ir::Substitute(m_, one, map)->bindings[0];
  }

  void Cut(const std::string& function, const ir::Block& block, const RegionGraph& graph,
           const std::vector<size_t>& members, std::vector<Binding>& out) {
    const size_t result = graph.IndexOf(graph.Through(block.result));
    std::vector<size_t> outputs;
    for (const size_t i : members) {
      const auto is_outside = [&](size_t reader) { return graph.Find(reader) != graph.Find(i); };
      if (i == result || std::ranges::any_of(readers_[i], is_outside)) outputs.push_back(i);
    }
    if (outputs.empty()) return;  // nobody needs it
    const std::string& engine = graph.engine(members[0]);
    std::string name;
    do {
      name =
          fmt::format("tvmgen_default_{}_{}_{}", engine, function, numbers_[engine + function]++);
    } while (taken_.contains(name));
    made_.emplace(name, RegionWriter(m_, block, graph).Write(name, members, outputs, out));
  }

  const ir::Module& m_;
  const ir::Effects effects_;
  std::unordered_set<std::string> taken_;  // names, also of regions that are lowered already
  std::map<std::string, const ir::Function*> made_;
  std::map<std::string, int> numbers_;
  std::vector<std::vector<size_t>> readers_;  // of the block, by binding
};

}  // namespace

ir::Module PartitionGraph(const ir::Module& m) { return Partitioner(m).Run(); }

bool HasHeavyWork(const ir::Function& f) {
  bool is_heavy = false;
  ir::ForEachBinding(*f.body, [&](const Binding& b) {
    const auto* call = b.value->As<ir::OpCall>();
    is_heavy = is_heavy || (call != nullptr && (call->op->conv || call->op->product));
  });
  return is_heavy;
}

ir::Module PruneRegions(const ir::Module& m,
                        const std::function<bool(const std::string& engine)>& is_pruned) {
  ir::Module out = m;
  for (auto& [name, f] : out.functions) {
    const std::string engine = ir::TextAttr(*f, ir::kCompilerAttr);
    if (engine.empty() || !is_pruned(engine) || HasHeavyWork(*f)) continue;
    ir::Function plain = *f;
    plain.attrs = {{kPrunedAttr, engine}};
    f = m.arena->New<ir::Function>(std::move(plain));
  }
  return out;
}

}  // namespace relayvm::regions

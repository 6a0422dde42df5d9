#include "compiler/regions/annotate_target.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"
#include "compiler/regions/annotations.h"
#include "compiler/regions/merge_composite.h"
#include "compiler/rules/replace.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/resolve_aliases.h"
#include "kernels/op/region_markers.h"

namespace relayvm::regions {
namespace {

using ir::Atom;
using ir::Binding;

// The engine of each variable that a single operator binds, by Var::id.
using EngineOfVar = std::unordered_map<uint32_t, std::string>;

EngineOfVar SingleOperators(const ir::Module& m, const std::vector<EnginePattern>& engines) {
  EngineOfVar found;
  for (const EnginePattern& engine : engines) {
    rules::ReplacePatterns(
        m, *engine.patterns,
        [&](const rules::Place& place, std::vector<Binding>&, std::string*) {
          if (!IsComposite(place.match)) found.try_emplace(place.root.var->id, engine.engine);
          return false;
        },
        /*report=*/nullptr, rules::Extent::kShortest);
  }
  return found;
}

class Annotator {
 public:
  Annotator(const ir::Module& m, const ir::Block& block, const EngineOfVar& single,
            const std::vector<EnginePattern>& engines)
      : m_(m), block_(block), single_(single), engines_(engines) {}

  const ir::Block* Run() {
    for (const Binding& b : block_.bindings) Add(b);
    if (!changed_) return &block_;
    out_.result = block_.result;
    return m_.arena->New<ir::Block>(std::move(out_));
  }

 private:
  std::string EngineOf(const Binding& b) const {
    if (const auto* get = b.value->As<ir::TupleGet>()) {
      const ir::Var* tuple = ir::AsVar(get->tuple);
      const auto at = tuple == nullptr ? marked_.end() : marked_.find(tuple->id);
      return at == marked_.end() ? "" : at->second;
    }
    if (const ir::Function* composite = composites_.Of(*b.value)) {
      const std::string name = ir::TextAttr(*composite, ir::kCompositeAttr);
      for (const EnginePattern& e : engines_) {
        if (name.starts_with(e.engine + ".")) return e.engine;
      }
      return "";
    }
    const auto at = single_.find(b.var->id);
    return at == single_.end() ? "" : at->second;
  }

  // Markers, and what reads through them, are as the program has them.
  bool IsMarked(const Binding& b) {
    const auto* call = b.value->As<ir::OpCall>();
    if (call != nullptr && RegionMarkerOf(*call->op) != RegionMarker::kNone) {
      if (RegionMarkerOf(*call->op) == RegionMarker::kBegin) begun_.insert(b.var->id);
      return true;
    }
    bool is_marked = false;
    ir::ForEachAtom(*b.value, [&](const Atom& a) {
      const ir::Var* v = ir::AsVar(a);
      is_marked = is_marked || (v != nullptr && begun_.contains(v->id));
    });
    return is_marked;
  }

  void Add(const Binding& b) {
    composites_.Note(b);
    if (const auto* tuple = b.value->As<ir::MakeTuple>()) tuples_.emplace(b.var->id, tuple);
    const std::string engine = IsMarked(b) ? "" : EngineOf(b);
    if (engine.empty()) {
      out_.bindings.push_back(b);
      return;
    }
    changed_ = true;
    marked_.emplace(b.var->id, engine);
    const ir::Span span = b.value->span;
    const auto* call = b.value->As<ir::CallExpr>();
    std::unordered_map<uint32_t, Atom> begun;  // by Var::id
    const auto begin = [&](const Atom& a) { return Begin(a, engine, span); };
    ir::ForEachAtom(*b.value, [&](const Atom& a) {
      const ir::Var* v = ir::AsVar(a);
      if (v != nullptr && !(call != nullptr && a == call->callee) && !begun.contains(v->id))
        begun.emplace(v->id, begin(a));
    });
    const ir::Expr* inside = ir::MapAtoms(m_, b.value, [&](const Atom& a) -> Atom {
      const ir::Var* v = ir::AsVar(a);
      const auto at = v == nullptr ? begun.end() : begun.find(v->id);
      return at == begun.end() ? a : at->second;
    });
    const ir::Var* value = ir::MakeVar(m_, b.var->name, b.var->type, b.var->span);
    out_.bindings.push_back({value, inside});
    Mark(RegionMarker::kEnd, value, engine, b.var, span);
  }

  // A tuple of tensors is made inside.
  Atom Begin(const Atom& a, const std::string& engine, ir::Span span) {
    const ir::Var* v = ir::AsVar(a);
    const auto tuple = tuples_.find(v->id);
    if (tuple != tuples_.end() && !marked_.contains(v->id)) {
      ir::MakeTuple inside;
      for (const Atom& field : tuple->second->fields) {
        const bool is_var = ir::AsVar(field) != nullptr;
        inside.fields.push_back(is_var ? Begin(field, engine, span) : field);
      }
      const ir::Var* made = ir::MakeVar(m_, v->name, v->type, span);
      out_.bindings.push_back({made, ir::MakeExpr(m_, std::move(inside), span)});
      return made;
    }
    const ir::Var* begun = ir::MakeVar(m_, v->name, v->type, span);
    Mark(RegionMarker::kBegin, a, engine, begun, span);
    return begun;
  }

  void Mark(RegionMarker marker, const Atom& value, const std::string& engine, const ir::Var* as,
            ir::Span span) {
    const NamedCall call = RegionMarkerCall(marker, engine);
    out_.bindings.push_back(
        {as,
         ir::MakeExpr(m_, ir::OpCall{OpTable::Get().Find(call.op), {value}, call.attrs}, span)});
  }

  const ir::Module& m_;
  const ir::Block& block_;
  const EngineOfVar& single_;
  const std::vector<EnginePattern>& engines_;
  Composites composites_;
  std::unordered_map<uint32_t, const ir::MakeTuple*> tuples_;  // of the block, by Var::id
  EngineOfVar marked_;
  std::unordered_set<uint32_t> begun_;  // by Var::id: markers of the program's own
  ir::Block out_;
  bool changed_ = false;
};

}  // namespace

ir::Module AnnotateTarget(const ir::Module& given, const std::vector<EnginePattern>& engines) {
  // Another name for a value would end a region.
  const ir::Module m = ir::ResolveAliases(given);
  const EngineOfVar single = SingleOperators(m, engines);
  // Tuples that were made inside anew stand there still.
  return ir::EliminateDeadCode(MapEachBlock(m, [&](const std::string&, const ir::Block& block) {
    return Annotator(m, block, single, engines).Run();
  }));
}

}  // namespace relayvm::regions

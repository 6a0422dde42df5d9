#include "compiler/regions/annotations.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"
#include "kernels/op/region_markers.h"

namespace relayvm::regions {

using ir::Atom;

namespace {

const ir::OpCall* MarkerCall(const ir::Expr& e) {
  const auto* call = e.As<ir::OpCall>();
  return call != nullptr && RegionMarkerOf(*call->op) != RegionMarker::kNone ? call : nullptr;
}

// Empty for "default", with which TVM marks what stays where it is.
std::string EngineMarked(const ir::OpCall& marker) {
  const std::string& engine = MarkedEngine(marker.attrs);
  return engine == "default" ? "" : engine;
}

const ir::Block* MapBlock(const ir::Module& m, const std::string& function, const ir::Block& block,
                          const BlockFn& fn) {
  ir::Block out;
  out.result = block.result;
  bool changed = false;
  for (const ir::Binding& b : block.bindings) {
    const auto* literal = b.value->As<ir::FunctionExpr>();
    const bool is_composite =
        literal != nullptr && !ir::TextAttr(*literal->function, ir::kCompositeAttr).empty();
    const ir::Expr* e =
        is_composite ? b.value : ir::MapBlocks(m, b.value, [&](const ir::Block& inner) {
          return MapBlock(m, function, inner, fn);
        });
    changed = changed || e != b.value;
    out.bindings.push_back({b.var, e});
  }
  return fn(function, changed ? *m.arena->New<ir::Block>(std::move(out)) : block);
}

}  // namespace

// --- Composites ---

void Composites::Note(const ir::Binding& b) {
  const auto* literal = b.value->As<ir::FunctionExpr>();
  if (literal == nullptr || ir::TextAttr(*literal->function, ir::kCompositeAttr).empty()) return;
  literals_.insert_or_assign(b.var->id, b);
}

const ir::Binding* Composites::BindingOf(const ir::Expr& e) const {
  const auto* call = e.As<ir::CallExpr>();
  const ir::Var* callee = call == nullptr ? nullptr : ir::AsVar(call->callee);
  const auto at = callee == nullptr ? literals_.end() : literals_.find(callee->id);
  return at == literals_.end() ? nullptr : &at->second;
}

const ir::Function* Composites::Of(const ir::Expr& e) const {
  const ir::Binding* literal = BindingOf(e);
  return literal == nullptr ? nullptr : literal->value->As<ir::FunctionExpr>()->function;
}

ir::Module MapEachBlock(const ir::Module& m, const BlockFn& fn) {
  ir::Module out = m;
  for (auto& [name, f] : out.functions) {
    if (!ir::TextAttr(*f, ir::kCompilerAttr).empty() || ir::IsHostFunction(*f)) continue;
    const ir::Block* body = MapBlock(m, name, *f->body, fn);
    if (body != f->body) f = ir::WithBody(m, *f, body);
  }
  return out;
}

// --- The graph ---

RegionGraph::RegionGraph(const ir::Module& m, const ir::Effects& effects, const ir::Block& block)
    : block_(block),
      engines_(block.bindings.size()),
      markers_(block.bindings.size()),
      parent_(block.bindings.size()),
      needs_(block.bindings.size()) {
  std::iota(parent_.begin(), parent_.end(), size_t{0});
  for (size_t i = 0; i < size(); ++i) {
    const ir::Binding& b = block.bindings[i];
    index_[b.var->id] = i;
    markers_[i] = MarkerCall(*b.value) != nullptr;
    composites_.Note(b);
  }
  FindEngines();
  FindNeeds(m, effects);
}

size_t RegionGraph::Find(size_t i) const {
  while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
  return i;
}

size_t RegionGraph::IndexOf(const Atom& a) const {
  const ir::Var* v = ir::AsVar(a);
  const auto at = v == nullptr ? index_.end() : index_.find(v->id);
  return at == index_.end() ? kNone : at->second;
}

Atom RegionGraph::Through(const Atom& a) const {
  Atom at = a;
  for (size_t i = IndexOf(at); i != kNone && markers_[i]; i = IndexOf(at))
    at = MarkerCall(*block_.bindings[i].value)->args[0];
  return at;
}

// Others than these are no part of a region, whatever stands around them.
bool RegionGraph::MayBelong(const ir::Expr& e) const {
  return e.As<ir::OpCall>() != nullptr || e.As<ir::MakeTuple>() != nullptr ||
         e.As<ir::TupleGet>() != nullptr || composites_.BindingOf(e) != nullptr;
}

void RegionGraph::FindEngines() {
  for (size_t i = 0; i < size(); ++i) {
    const ir::Expr& e = *block_.bindings[i].value;
    if (markers_[i]) {
      const ir::OpCall& marker = *MarkerCall(e);
      const size_t of = IndexOf(marker.args[0]);
      const bool ends = RegionMarkerOf(*marker.op) == RegionMarker::kEnd;
      if (ends && of != kNone && !markers_[of] && MayBelong(*block_.bindings[of].value))
        engines_[of] = EngineMarked(marker);
      continue;
    }
    if (!MayBelong(e)) continue;
    ir::ForEachAtom(e, [&](const Atom& a) {
      const size_t of = IndexOf(a);
      if (of == kNone || !engines_[i].empty()) return;
      const ir::OpCall* marker = MarkerCall(*block_.bindings[of].value);
      if (marker == nullptr) {
        engines_[i] = engines_[of];
      } else if (RegionMarkerOf(*marker->op) == RegionMarker::kBegin) {
        engines_[i] = EngineMarked(*marker);
      }
    });
  }
  // What an engine's binding has without a marker is inside too.
  for (size_t i = size(); i-- > 0;) {
    if (engines_[i].empty()) continue;
    has_regions_ = true;
    ir::ForEachAtom(*block_.bindings[i].value, [&](const Atom& a) {
      const size_t of = IndexOf(a);
      if (of == kNone || markers_[of] || !MayBelong(*block_.bindings[of].value)) return;
      if (engines_[of].empty()) engines_[of] = engines_[i];
      if (engines_[of] == engines_[i]) Join(of, i);
    });
  }
}

void RegionGraph::FindNeeds(const ir::Module& m, const ir::Effects& effects) {
  size_t barrier = kNone;  // the latest binding that keeps its place
  for (size_t i = 0; i < size(); ++i) {
    if (markers_[i]) continue;
    const ir::Binding& b = block_.bindings[i];
    std::vector<size_t>& needs = needs_[i];
    const auto need = [&](const ir::Var* v) {
      const size_t of = IndexOf(Through(v));
      if (of != kNone && of != i) needs.push_back(of);
    };
    ir::ForEachUse(m, b, need);
    ir::ForEachBlock(*b.value,
                     [&](const ir::Block& inner) { ir::ForEachUseInside(m, inner, need); });
    if (barrier != kNone) needs.push_back(barrier);
    std::ranges::sort(needs);
    needs.erase(std::ranges::unique(needs).begin(), needs.end());
    // Composites are operators, whatever is not known of calls.
    const bool has_effect =
        composites_.BindingOf(*b.value) == nullptr && effects.HasEffect(*b.value);
    if (b.value->As<ir::Guard>() != nullptr || b.value->As<ir::Stated>() != nullptr || has_effect)
      barrier = i;
  }
}

std::vector<size_t> RegionGraph::Order(std::vector<size_t>* cyclic) const {
  std::vector<std::vector<size_t>> users(size());
  std::vector<size_t> waits(size(), 0), last(size(), 0);
  for (size_t i = 0; i < size(); ++i) {
    const size_t group = Find(i);
    last[group] = std::max(last[group], i);
    for (const size_t need : needs_[i]) {
      if (Find(need) == group) continue;
      users[Find(need)].push_back(group);
      ++waits[group];
    }
  }
  using Entry = std::pair<size_t, size_t>;  // the last of its bindings, the group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<bool> is_done(size(), false);
  for (size_t i = 0; i < size(); ++i) {
    if (!markers_[i] && Find(i) == i && waits[i] == 0) ready.emplace(last[i], i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t group = ready.top().second;
    ready.pop();
    order.push_back(group);
    is_done[group] = true;
    for (const size_t user : users[group]) {
      if (--waits[user] == 0) ready.emplace(last[user], user);
    }
  }
  cyclic->clear();
  for (size_t i = 0; i < size(); ++i) {
    if (!markers_[i] && Find(i) == i && !is_done[i]) cyclic->push_back(i);
  }
  return order;
}

}  // namespace relayvm::regions

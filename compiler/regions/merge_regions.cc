#include "compiler/regions/merge_regions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/walk.h"
#include "compiler/regions/annotations.h"
#include "kernels/op/region_markers.h"

namespace relayvm::regions {
namespace {

using ir::Atom;

class Merger {
 public:
  Merger(const ir::Module& m, const ir::Block& block, RegionGraph& graph)
      : m_(m), block_(block), graph_(graph) {}

  const ir::Block* Run() {
    std::vector<size_t> cyclic;
    const std::vector<size_t> order = graph_.Order(&cyclic);
    if (!cyclic.empty()) return &block_;  // markers by hand: PartitionGraph takes them apart
    Edges();
    for (const size_t group : order) SetLevel(group);
    for (auto group = order.rbegin(); group != order.rend(); ++group) Raise(*group);
    bool joins = false;
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (graph_.engine(i).empty()) continue;
      for (const size_t need : graph_.needs(i)) {
        if (graph_.engine(need) != graph_.engine(i) || graph_.Find(need) == graph_.Find(i) ||
            levels_[first_.at(need)] != levels_[first_.at(i)])
          continue;
        graph_.Join(need, i);
        joins = true;
      }
    }
    return joins ? WithoutInnerMarkers() : &block_;
  }

 private:
  // Between groups as they are at first.
  void Edges() {
    levels_.assign(graph_.size(), 0);
    needs_.resize(graph_.size());
    users_.resize(graph_.size());
    for (size_t i = 0; i < graph_.size(); ++i) {
      first_.push_back(graph_.Find(i));
      for (const size_t need : graph_.needs(i)) {
        const size_t from = graph_.Find(need), to = graph_.Find(i);
        if (from == to) continue;
        needs_[to].push_back(from);
        users_[from].push_back(to);
      }
    }
  }
  size_t Step(size_t a, size_t b) const { return graph_.engine(a) == graph_.engine(b) ? 0 : 1; }

  void SetLevel(size_t group) {
    for (const size_t need : needs_[group])
      levels_[group] = std::max(levels_[group], levels_[need] + Step(need, group));
  }

  // To the level of users of its engine, unless that parts it from what it needs.
  void Raise(size_t group) {
    const std::string& engine = graph_.engine(group);
    if (engine.empty() || users_[group].empty()) return;
    const auto is_here = [&](size_t other) {
      return graph_.engine(other) == engine && levels_[other] == levels_[group];
    };
    if (std::ranges::any_of(needs_[group], is_here) || std::ranges::any_of(users_[group], is_here))
      return;
    size_t most = SIZE_MAX;
    for (const size_t user : users_[group])
      most = std::min(most, levels_[user] - Step(group, user));
    const auto meets = [&](size_t user) {
      return graph_.engine(user) == engine && levels_[user] == most;
    };
    if (std::ranges::any_of(users_[group], meets)) levels_[group] = most;
  }

  // Of a value of the region where it is read.
  const ir::Block* WithoutInnerMarkers() const {
    ir::AtomMap inner;
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (!graph_.is_marker(i)) continue;
      const ir::Var* v = block_.bindings[i].var;
      const Atom value = graph_.Through(v);
      const auto* marker = block_.bindings[i].value->As<ir::OpCall>();
      if (RegionMarkerOf(*marker->op) == RegionMarker::kBegin) inner.emplace(v->id, value);
    }
    ir::Block out;
    out.result = block_.result;
    std::unordered_set<uint32_t> used;  // of what is kept so far, from the end
    if (const ir::Var* v = ir::AsVar(out.result)) used.insert(v->id);
    for (size_t i = graph_.size(); i-- > 0;) {
      const ir::Binding& b = block_.bindings[i];
      if (graph_.is_marker(i) && !used.contains(b.var->id)) continue;
      const ir::Expr* e = b.value;
      if (!graph_.engine(i).empty()) {
        e = ir::MapAtoms(m_, e, [&](const Atom& a) -> Atom {
          const ir::Var* v = ir::AsVar(a);
          const auto at = v == nullptr ? inner.end() : inner.find(v->id);
          if (at == inner.end()) return a;
          const size_t of = graph_.IndexOf(at->second);
          const bool is_inside = of != RegionGraph::kNone && !graph_.engine(of).empty() &&
                                 graph_.Find(of) == graph_.Find(i);
          return is_inside ? at->second : a;
        });
      }
      const ir::Binding kept{b.var, e};
      ir::ForEachUse(m_, kept, [&](const ir::Var* v) { used.insert(v->id); });
      ir::ForEachBlock(*e, [&](const ir::Block& block) {
        ir::ForEachUseInside(m_, block, [&](const ir::Var* v) { used.insert(v->id); });
      });
      out.bindings.push_back(kept);
    }
    std::ranges::reverse(out.bindings);
    return m_.arena->New<ir::Block>(std::move(out));
  }

  const ir::Module& m_;
  const ir::Block& block_;
  RegionGraph& graph_;
  std::vector<size_t> first_, levels_;  // by binding; by group
  std::vector<std::vector<size_t>> needs_, users_;
};

}  // namespace

ir::Module MergeCompilerRegions(const ir::Module& m) {
  const ir::Effects effects(m, ir::Effects::Of::kMoving);
  return MapEachBlock(m, [&](const std::string&, const ir::Block& block) {
    RegionGraph graph(m, effects, block);
    return graph.has_regions() ? Merger(m, block, graph).Run() : &block;
  });
}

}  // namespace relayvm::regions

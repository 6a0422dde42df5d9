#include "compiler/regions/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"
#include "compiler/regions/annotations.h"
#include "compiler/regions/partition_graph.h"
#include "compiler/rules/match.h"
#include "kernels/op/region_markers.h"

namespace relayvm::regions {
namespace {

struct Row {
  std::string op, place, runs;
};

class Explainer {
 public:
  Explainer(const ir::Module& m, const std::vector<EnginePattern>& engines)
      : m_(m), engines_(engines) {}

  std::string Run() {
    for (const auto& [name, f] : m_.functions) {
      if (ir::IsHostFunction(*f)) continue;
      const std::string engine = ir::TextAttr(*f, ir::kCompilerAttr);
      region_ = engine.empty() ? "" : name;
      pruned_ = ir::TextAttr(*f, kPrunedAttr);
      around_ = {};
      ir::ForEachUseInside(m_, *f->body, [&](const ir::Var* v) { ++around_.uses[v->id]; });
      Walk(*f->body, "");
    }
    return Table();
  }

 private:
  // Recurses with the nesting of blocks.
  void Walk(const ir::Block& block, const std::string& composite) {
    const uint32_t number = ++num_blocks_;
    for (const ir::Binding& b : block.bindings)
      around_.definitions.insert_or_assign(b.var->id, rules::Definition{b.var, b.value, number});
    for (const ir::Binding& b : block.bindings) {
      if (const auto* call = b.value->As<ir::OpCall>()) Add(b, *call, composite, number);
      const auto* literal = b.value->As<ir::FunctionExpr>();
      const std::string inner =
          literal == nullptr ? "" : ir::TextAttr(*literal->function, ir::kCompositeAttr);
      ir::ForEachBlock(*b.value, [&](const ir::Block& nested) {
        Walk(nested, inner.empty() ? composite : inner);
      });
    }
  }

  void Add(const ir::Binding& b, const ir::OpCall& call, const std::string& composite,
           uint32_t number) {
    if (RegionMarkerOf(*call.op) != RegionMarker::kNone) return;
    Row row{call.op->name, m_.sources->Place(b.value->span), ""};
    if (!region_.empty()) {
      ++in_regions_;
      row.runs = composite.empty() ? region_ : fmt::format("{}, part of {}", region_, composite);
    } else if (!pruned_.empty()) {
      row.runs = Native(
          "no heavy work",
          fmt::format("{} could run it, and it stands beside no convolution or product there: "
                      "calling the engine would cost more than it brings",
                      pruned_));
    } else {
      row.runs = WhyNot(b, call, number);
    }
    rows_.push_back(std::move(row));
  }

  std::string Native(const std::string& kind, const std::string& why) {
    ++reasons_[kind];
    return "native: " + why;
  }

  // Of all patterns of all engines that start with the operator, the nearest.
  std::string WhyNot(const ir::Binding& b, const ir::OpCall& call, uint32_t number) {
    std::optional<rules::Miss> nearest;
    std::string who, names;
    for (const EnginePattern& engine : engines_) {
      names += (names.empty() ? "" : ", ") + engine.engine;
      const auto at = engine.patterns->by_root.find(call.op);
      if (at == engine.patterns->by_root.end()) continue;
      for (const size_t i : at->second) {
        rules::Miss miss;
        const rules::Definition root{b.var, b.value, number};
        if (rules::MatchRule(m_, engine.patterns->rules[i], root, around_, &miss)) continue;
        if (nearest && miss.reached <= nearest->reached) continue;
        nearest = std::move(miss);
        who = fmt::format("{} (@{})", engine.engine, engine.patterns->rules[i].name);
      }
    }
    if (!nearest)
      return Native("no pattern", fmt::format("{} has no pattern that starts with it", names));
    return Native("a condition", fmt::format("{}: {}", who, nearest->reason));
  }

  std::string Table() const {
    size_t op = 8, place = 5;
    for (const Row& row : rows_) {
      op = std::max(op, row.op.size());
      place = std::max(place, row.place.size());
    }
    std::string text =
        fmt::format("{:<{}}  {:<{}}  {}\n", "operator", op, "place", place, "runs in");
    for (const Row& row : rows_)
      text += fmt::format("{:<{}}  {:<{}}  {}\n", row.op, op, row.place, place, row.runs);
    text += fmt::format("{} operators, {} of them in regions", rows_.size(), in_regions_);
    for (const auto& [kind, count] : reasons_) text += fmt::format("; native, {}: {}", kind, count);
    return text + "\n";
  }

  const ir::Module& m_;
  const std::vector<EnginePattern>& engines_;
  rules::Surroundings around_;
  uint32_t num_blocks_ = 0;
  std::string region_, pruned_;  // of the function; empty: none
  std::vector<Row> rows_;
  size_t in_regions_ = 0;
  std::map<std::string, size_t> reasons_;
};

}  // namespace

std::string ExplainRegions(const ir::Module& m, const std::vector<EnginePattern>& engines) {
  return Explainer(m, engines).Run();
}

}  // namespace relayvm::regions

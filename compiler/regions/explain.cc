#include "compiler/regions/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"
#include "compiler/regions/annotations.h"
#include "compiler/regions/choose_regions.h"
#include "compiler/regions/cut_regions.h"
#include "compiler/regions/partition_graph.h"
#include "compiler/rules/match.h"
#include "kernels/op/region_markers.h"

namespace relayvm::regions {
namespace {

struct Reason {
  std::string kind, why, recipe;  // of a native operator
};
struct Row {
  std::string op, place, runs, recipe;
};

// "%a, %b"
std::string HolesOf(const ir::OpCall& call) {
  std::string holes;
  for (size_t i = 0; i < call.args.size(); ++i)
    holes += fmt::format("{}%x{}", i == 0 ? "" : ", ", i);
  return holes;
}

// "@conv (dnnl.relay:3:6)": the parts and patterns in which the operator stands.
std::set<std::string> PartsWith(const rules::RuleSet& patterns, const OpDef& op) {
  std::set<std::string> found;
  const auto note = [&](const rules::Rule& rule) {
    const bool has = std::ranges::any_of(rule.graph->nodes, [&](const auto& node) {
      const auto* call = node.second->template As<ir::OpCall>();
      return call != nullptr && call->op == &op;
    });
    if (has) found.insert(fmt::format("@{} ({})", rule.name, rule.place));
  };
  for (const auto& [name, part] : patterns.parts) note(part->ways.at(0));
  for (const rules::Rule& rule : patterns.rules) note(rule);
  return found;
}

class Explainer {
 public:
  Explainer(const ir::Module& m, const std::vector<EnginePattern>& engines)
      : m_(m), engines_(engines), cuts_(m) {}

  std::string Run() {
    for (const auto& [name, f] : m_.functions) {
      if (ir::IsHostFunction(*f)) continue;
      const std::string engine = ir::TextAttr(*f, ir::kCompilerAttr);
      region_ = engine.empty() ? "" : name;
      pruned_ = Pruned(name, *f);
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
    for (const ir::Binding& b : block.bindings) {
      around_.definitions.insert_or_assign(b.var->id, rules::Definition{b.var, b.value, number});
      variables_.emplace(b.value, b.var->id);
    }
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
    Row row{call.op->name, m_.sources->Place(b.value->span), "", ""};
    if (!region_.empty()) {
      ++in_regions_;
      row.runs = composite.empty() ? region_ : fmt::format("{}, part of {}", region_, composite);
    } else {
      Reason reason = pruned_              ? *pruned_
                      : !composite.empty() ? OfComposite(composite)
                                           : WhyNot(b, call, number);
      ++reasons_[reason.kind];
      row.runs = "native: " + reason.why;
      row.recipe = std::move(reason.recipe);
    }
    rows_.push_back(std::move(row));
  }

  // --- What was a region ---

  std::optional<Reason> Pruned(const std::string& name, const ir::Function& f) {
    const std::string engine = ir::TextAttr(f, kPrunedAttr);
    if (engine.empty()) return std::nullopt;
    const std::string measured = ir::TextAttr(f, kMeasuredAttr);
    if (!measured.empty()) {
      return Reason{"measured", fmt::format("{} could run it, {}", engine, measured),
                    fmt::format("--byoc {} without auto keeps it; so may other sizes, where it "
                                "takes at most {} of the native time (--shape-samples)",
                                engine, kFaster)};
    }
    if (const auto cut = cuts_.Of(name, engine)) {
      return Reason{"cut off", fmt::format("{} could run it, {}", engine, cut->why), cut->recipe};
    }
    return Reason{
        "no heavy work",
        fmt::format("{} could run it, and it stands beside no convolution or product there: "
                    "calling the engine would cost more than it brings",
                    engine),
        fmt::format("let a convolution or a product that {0} runs feed or read it, with nothing "
                    "native between; or give rules of your own (--byoc-rules {0}.relay), which "
                    "keep light regions",
                    engine)};
  }

  Reason OfComposite(const std::string& composite) const {
    const std::string prefix = composite.substr(0, composite.find('.'));
    const bool is_named = std::ranges::count(engines_, prefix, &EnginePattern::engine) > 0;
    if (is_named) {
      return {
          "a composite", fmt::format("composite {} is in no region", composite),
          fmt::format("leave markers (compiler_begin) away from it, so that it is {}'s", prefix)};
    }
    return {"a composite", fmt::format("composite {} is of no engine here", composite),
            fmt::format("name an engine that runs it before a dot ({}.NAME), as --byoc has it, or "
                        "leave the composite out: its operators are matched by rules then",
                        Engines(" or "))};
  }

  // --- Patterns ---

  std::string Engines(std::string_view between) const {
    std::vector<std::string> names;
    for (const EnginePattern& engine : engines_) names.push_back(engine.engine);
    return fmt::format("{}", fmt::join(names, between));
  }

  // Of all patterns of all engines that start with the operator, the nearest.
  Reason WhyNot(const ir::Binding& b, const ir::OpCall& call, uint32_t number) {
    std::optional<rules::Miss> nearest;
    const rules::Rule* rule = nullptr;
    std::string who;
    const rules::Definition root{b.var, b.value, number};
    for (const EnginePattern& engine : engines_) {
      const auto at = engine.patterns->by_root.find(call.op);
      if (at == engine.patterns->by_root.end()) continue;
      for (const size_t i : at->second) {
        rules::Miss miss;
        miss.prefers_conditions = true;
        if (rules::MatchRule(m_, engine.patterns->rules[i], root, around_, &miss))
          return Marked(engine.engine);
        // Of several that are as near the plainest, where that is told by benefits.
        const rules::Rule& pattern = engine.patterns->rules[i];
        if (nearest && !miss.IsNearerThan(*nearest) &&
            (nearest->IsNearerThan(miss) || pattern.benefit >= rule->benefit))
          continue;
        nearest = std::move(miss);
        rule = &pattern;
        who = fmt::format("{} (@{})", engine.engine, rule->name);
      }
    }
    if (!nearest) return NoPattern(call);
    const std::string turned = Turned(*rule, root, *nearest);
    if (nearest->is_condition && !nearest->is_whole) {
      nearest->recipe += fmt::format("; and what @{} ({}) has before it must stand there",
                                     rule->name, rule->place);
    }
    return {nearest->is_condition ? "a condition" : "a pattern's shape",
            fmt::format("{}: {}", who, nearest->reason), turned.empty() ? nearest->recipe : turned};
  }

  // A rule matches, and yet it is in no region.
  static Reason Marked(const std::string& engine) {
    return {"markers",
            fmt::format("{} could run it, and markers of the program keep it out: they say "
                        "default, or their regions would need each other in a circle",
                        engine),
            "leave compiler_begin and compiler_end out: regions are cut where they can be then"};
  }

  Reason NoPattern(const ir::OpCall& call) {
    const std::string why = fmt::format("{} has no pattern that starts with it", Engines(", "));
    const auto [known, is_new] = parts_.try_emplace(call.op);
    std::set<std::string>& parts = known->second;
    for (const EnginePattern& engine : engines_) {
      if (is_new) parts.merge(PartsWith(*engine.patterns, *call.op));
    }
    if (!parts.empty()) {
      return {"no pattern", why + ", and it is a piece of others",
              fmt::format("write what it is a piece of: {}; the row of what reads it says what is "
                          "amiss there. Or write a pattern that ends with it (--byoc-rules)",
                          fmt::join(parts, " or "))};
    }
    const std::string& name = call.op->name;
    const std::string holes = HolesOf(call);
    return {"no pattern", why,
            fmt::format("write one for an engine that computes it (--byoc-rules ENGINE.relay, and "
                        "its provider): part @one({0}) {{ {1}({0}) }} pattern @own({0}) {{ "
                        "@one({0}) }}",
                        holes, name)};
  }

  // Whether the rule would match if the first two operands of what matched last changed places.
  std::string Turned(const rules::Rule& rule, const rules::Definition& root,
                     const rules::Miss& miss) {
    const auto* call = miss.at == nullptr ? nullptr : miss.at->As<ir::OpCall>();
    if (call == nullptr || call->args.size() < 2 || call->args[0] == call->args[1]) return "";
    ir::OpCall other = *call;
    std::swap(other.args[0], other.args[1]);
    const ir::Expr* turned = ir::MakeExpr(m_, std::move(other), miss.at->span);
    rules::Definition first = root;
    if (first.value == miss.at) first.value = turned;
    rules::Definition& inside = around_.definitions.at(variables_.at(miss.at));
    inside.value = turned;
    const bool matches = rules::MatchRule(m_, rule, first, around_, nullptr).has_value();
    inside.value = miss.at;
    if (!matches) return "";
    return fmt::format("write the operands of {} in the other order, where that is the same",
                       call->op->name);
  }

  // --- Text ---

  std::string Table() const {
    size_t op = 8, place = 5;
    for (const Row& row : rows_) {
      op = std::max(op, row.op.size());
      place = std::max(place, row.place.size());
    }
    std::string text =
        fmt::format("{:<{}}  {:<{}}  {}\n", "operator", op, "place", place, "runs in");
    for (const Row& row : rows_) {
      text += fmt::format("{:<{}}  {:<{}}  {}\n", row.op, op, row.place, place, row.runs);
      if (!row.recipe.empty())
        text += fmt::format("{:{}}to change it: {}\n", "", op + 4, row.recipe);
    }
    text += fmt::format("{} operators, {} of them in regions", rows_.size(), in_regions_);
    for (const auto& [kind, count] : reasons_) text += fmt::format("; native, {}: {}", kind, count);
    return text + "\n";
  }

  const ir::Module& m_;
  const std::vector<EnginePattern>& engines_;
  CutRegions cuts_;
  rules::Surroundings around_;
  std::unordered_map<const ir::Expr*, uint32_t> variables_;  // Var::id of what has the value
  std::map<const OpDef*, std::set<std::string>> parts_;      // of operators without a pattern
  uint32_t num_blocks_ = 0;
  std::string region_;            // of the function; empty: none
  std::optional<Reason> pruned_;  // the same
  std::vector<Row> rows_;
  size_t in_regions_ = 0;
  std::map<std::string, size_t> reasons_;
};

}  // namespace

std::string ExplainRegions(const ir::Module& m, const std::vector<EnginePattern>& engines) {
  return Explainer(m, engines).Run();
}

}  // namespace relayvm::regions

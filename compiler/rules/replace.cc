#include "compiler/rules/replace.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"

namespace relayvm::rules {
namespace {

using ir::Binding;

class Replacer {
 public:
  Replacer(const ir::Module& m, const RuleSet& patterns, const MakeFn& make, Report* report,
           Extent extent)
      : m_(m), patterns_(patterns), make_(make), report_(report), extent_(extent) {}

  const ir::Block* Run(const ir::Block& body) {
    around_.definitions.clear();
    around_.uses.clear();
    ir::ForEachUseInside(m_, body, [&](const ir::Var* v) { ++around_.uses[v->id]; });
    return Rewrite(body);
  }

 private:
  // Why a pattern does not match at a binding.
  struct Note {
    const Rule* pattern;
    const Binding* at;
    Miss miss;
  };

  // Recurses with the nesting of blocks.
  const ir::Block* Rewrite(const ir::Block& block) {
    const uint32_t number = ++num_blocks_;
    for (const Binding& b : block.bindings)
      around_.definitions.insert_or_assign(b.var->id, Definition{b.var, b.value, number});
    taken_.clear();
    notes_.clear();
    const std::vector<bool> may_match = MayMatch(block);
    std::unordered_map<size_t, std::vector<Binding>> made;
    for (size_t i = block.bindings.size(); i-- > 0;) {
      const Binding& b = block.bindings[i];
      if (std::vector<Binding> out; !taken_.contains(b.var) && Try(b, number, may_match, out))
        made[i] = std::move(out);
    }
    for (auto note = notes_.rbegin(); note != notes_.rend(); ++note)
      NoteMiss(m_, *note->pattern, *note->at, note->miss, report_);
    ir::Block out;
    out.result = block.result;
    bool changed = !made.empty();
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const Binding& b = block.bindings[i];
      if (const auto at = made.find(i); at != made.end()) {
        out.bindings.insert(out.bindings.end(), at->second.begin(), at->second.end());
        continue;
      }
      const auto* literal = b.value->As<ir::FunctionExpr>();
      const bool is_whole =
          literal != nullptr && !ir::TextAttr(*literal->function, ir::kCompositeAttr).empty();
      const ir::Expr* e =
          is_whole
              ? b.value
              : ir::MapBlocks(m_, b.value, [&](const ir::Block& inner) { return Rewrite(inner); });
      changed = changed || e != b.value;
      out.bindings.push_back({b.var, e});
    }
    return changed ? m_.arena->New<ir::Block>(std::move(out)) : &block;
  }

  // For each pattern, whether the block has the operators that it needs.
  std::vector<bool> MayMatch(const ir::Block& block) const {
    std::unordered_set<const OpDef*> present;
    for (const Binding& b : block.bindings) {
      if (const auto* call = b.value->As<ir::OpCall>()) present.insert(call->op);
    }
    const auto is_present = [&](const OpDef* op) { return present.contains(op); };
    std::vector<bool> may_match;
    for (const Rule& pattern : patterns_.rules) {
      may_match.push_back(std::ranges::all_of(
          pattern.needs, [&](const auto& ops) { return std::ranges::any_of(ops, is_present); }));
    }
    return may_match;
  }

  bool Try(const Binding& b, uint32_t number, const std::vector<bool>& may_match,
           std::vector<Binding>& out) {
    const auto* call = b.value->As<ir::OpCall>();
    if (call == nullptr) return false;
    const auto candidates = patterns_.by_root.find(call->op);
    if (candidates == patterns_.by_root.end()) return false;
    const Definition root{b.var, b.value, number};
    for (const size_t i : candidates->second) {
      const Rule& pattern = patterns_.rules[i];
      if (report_ == nullptr && !may_match[i]) continue;
      Miss miss;
      const auto match =
          MatchRule(m_, pattern, root, around_, report_ == nullptr ? nullptr : &miss, extent_);
      if (match) {
        std::string reason;
        if (make_({m_, patterns_, pattern, *match, root, around_}, out, &reason)) {
          taken_.insert(match->inside.begin(), match->inside.end());
          if (report_ != nullptr) {
            ++report_->applied[pattern.name];
            Forget(pattern, match->values.back());
          }
          return true;
        }
        out.clear();
        miss = {match->values.size(), match->values.size(), reason, match->values.back()};
      }
      constexpr size_t kNear = 2;
      if (report_ == nullptr || miss.required < kNear) continue;
      Forget(pattern, miss.at);  // the same from a root further out
      notes_.push_back({&pattern, &b, std::move(miss)});
    }
    return false;
  }
  void Forget(const Rule& pattern, const ir::Expr* at) {
    std::erase_if(notes_, [&](const Note& n) { return n.pattern == &pattern && n.miss.at == at; });
  }

  const ir::Module& m_;
  const RuleSet& patterns_;
  const MakeFn& make_;
  Report* report_;
  Extent extent_;
  Surroundings around_;
  uint32_t num_blocks_ = 0;
  std::unordered_set<const ir::Var*> taken_;  // of the block, by matches
  std::vector<Note> notes_;                   // of the block
};

}  // namespace

std::vector<const Step*> Match::OwnSteps() const {
  std::vector<const Step*> own;
  for (const Step& step : steps) {
    if (step.caller == 0) own.push_back(&step);
  }
  return own;
}

std::vector<ir::Atom> Step::Operands(size_t first) const {
  std::vector<ir::Atom> operands;
  for (size_t i = first; i < way->graph->params.size(); ++i) {
    if (const auto image = images.find(way->graph->params[i]->id); image != images.end())
      operands.push_back(image->second);
  }
  return operands;
}

std::vector<const ir::OpCall*> Place::Calls() const {
  std::vector<const ir::OpCall*> calls;
  for (auto value = match.values.rbegin(); value != match.values.rend(); ++value) {
    if (const auto* call = (*value)->As<ir::OpCall>()) calls.push_back(call);
  }
  return calls;
}

const ir::OpCall* Place::CallOf(const ir::Atom& a, const std::string& part) const {
  const ir::Var* v = ir::AsVar(a);
  const auto at = v == nullptr ? around.definitions.end() : around.definitions.find(v->id);
  if (at == around.definitions.end() || at->second.function != root.function) return nullptr;
  const auto* call = at->second.value->As<ir::OpCall>();
  if (call == nullptr) return nullptr;
  for (const Rule& way : patterns.parts.at(part)->ways) {
    if (way.roots.ops.contains(call->op) && MatchRule(module, way, at->second, around, nullptr))
      return call;
  }
  return nullptr;
}

ir::Module ReplacePatterns(const ir::Module& m, const RuleSet& patterns, const MakeFn& make,
                           Report* report, Extent extent) {
  ir::Module out = m;
  Replacer replacer(m, patterns, make, report, extent);
  for (auto& [name, f] : out.functions) {
    const ir::Block* body = replacer.Run(*f->body);
    if (body != f->body) f = ir::WithBody(m, *f, body);
  }
  return out;
}

}  // namespace relayvm::rules

#include "compiler/rules/replace.h"

#include <algorithm>
#include <functional>
#include <set>
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
      : m_(m), patterns_(patterns), make_(make), report_(report), extent_(extent) {
    for (const Rule& pattern : patterns.rules) benefits_.insert(pattern.benefit);
  }

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

  // What stands in the place of a block's bindings, by their position; further results are bound
  // there and no more where they were.
  struct Made {
    std::unordered_map<size_t, std::vector<Binding>> at;
    std::unordered_set<const ir::Var*> elsewhere;
  };

  // Recurses with the nesting of blocks.
  const ir::Block* Rewrite(const ir::Block& block) {
    const uint32_t number = ++num_blocks_;
    for (const Binding& b : block.bindings)
      around_.definitions.insert_or_assign(b.var->id, Definition{b.var, b.value, number});
    taken_.clear();
    notes_.clear();
    readers_.clear();
    FindCandidates(block);
    Made made;
    for (const int64_t benefit : benefits_) {
      for (size_t i = block.bindings.size(); i-- > 0;) {
        if (taken_.contains(block.bindings[i].var) || made.at.contains(i)) continue;
        if (std::vector<Binding> out; Try(block, i, benefit, number, out, made.elsewhere))
          made.at[i] = std::move(out);
      }
    }
    for (auto note = notes_.rbegin(); note != notes_.rend(); ++note)
      NoteMiss(m_, *note->pattern, *note->at, note->miss, report_);
    ir::Block out;
    out.result = block.result;
    bool changed = !made.at.empty();
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const Binding& b = block.bindings[i];
      if (const auto at = made.at.find(i); at != made.at.end()) {
        out.bindings.insert(out.bindings.end(), at->second.begin(), at->second.end());
        continue;
      }
      if (made.elsewhere.contains(b.var)) continue;
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

  // Which patterns' operators the block has, for each pattern.
  void FindCandidates(const ir::Block& block) {
    std::unordered_set<const OpDef*> present;
    for (const Binding& b : block.bindings) {
      if (const auto* call = b.value->As<ir::OpCall>()) present.insert(call->op);
    }
    const auto is_present = [&](const OpDef* op) { return present.contains(op); };
    may_match_.clear();
    for (const Rule& pattern : patterns_.rules) {
      may_match_.push_back(std::ranges::all_of(
          pattern.needs, [&](const auto& ops) { return std::ranges::any_of(ops, is_present); }));
    }
  }

  bool Try(const ir::Block& block, size_t position, int64_t benefit, uint32_t number,
           std::vector<Binding>& out, std::unordered_set<const ir::Var*>& elsewhere) {
    const Binding& b = block.bindings[position];
    const auto* call = b.value->As<ir::OpCall>();
    if (call == nullptr) return false;
    const auto candidates = patterns_.by_root.find(call->op);
    if (candidates == patterns_.by_root.end()) return false;
    const Definition root{b.var, b.value, number};
    for (const size_t i : candidates->second) {
      const Rule& pattern = patterns_.rules[i];
      if (pattern.benefit != benefit || (report_ == nullptr && !may_match_[i])) continue;
      Miss miss;
      const auto match =
          MatchRule(m_, pattern, root, around_, report_ == nullptr ? nullptr : &miss, extent_);
      if (match) {
        std::string reason = ReadBefore(block, position, *match);
        if (reason.empty() &&
            make_({m_, patterns_, pattern, *match, root, around_}, out, &reason)) {
          taken_.insert(match->inside.begin(), match->inside.end());
          elsewhere.insert(match->results.begin(), match->results.end());
          // Other patterns do not look into it.
          around_.definitions.erase(b.var->id);
          for (const ir::Var* v : match->results) around_.definitions.erase(v->id);
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
  // Why a further result of the match cannot be bound at its root; or nothing.
  std::string ReadBefore(const ir::Block& block, size_t root, const Match& match) {
    if (match.results.empty()) return {};
    if (readers_.empty()) {
      for (size_t i = 0; i < block.bindings.size(); ++i) {
        const auto note = [&](const ir::Var* v) { readers_[v->id].push_back(i); };
        ir::ForEachUse(m_, block.bindings[i], note);
        ir::ForEachBlock(*block.bindings[i].value,
                         [&](const ir::Block& inner) { ir::ForEachUseInside(m_, inner, note); });
      }
    }
    for (const ir::Var* v : match.results) {
      for (const size_t i : readers_[v->id]) {
        const ir::Var* reader = block.bindings[i].var;
        if (i < root && std::ranges::find(match.inside, reader) == match.inside.end())
          return "%" + v->name + ", a further result, is used before the last one is computed";
      }
    }
    return {};
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
  std::set<int64_t, std::greater<>> benefits_;
  uint32_t num_blocks_ = 0;
  std::unordered_set<const ir::Var*> taken_;                   // of the block, by matches
  std::vector<Note> notes_;                                    // of the block
  std::vector<bool> may_match_;                                // of the block: each pattern
  std::unordered_map<uint32_t, std::vector<size_t>> readers_;  // of its variables, once asked for
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

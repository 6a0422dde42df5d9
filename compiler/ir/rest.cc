#include "compiler/ir/rest.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/copy.h"
#include "compiler/ir/walk.h"

namespace relayvm::ir {
namespace {

bool IsBranching(const Binding& b) {
  return b.value->As<IfExpr>() != nullptr || b.value->As<MatchExpr>() != nullptr;
}

// The variables that a binding or a block uses and doesn't bind inside, in order of first use.
class UseFinder {
 public:
  template <typename T>
  static std::vector<const Var*> Of(const T& code) {
    UseFinder finder;
    finder.Walk(code);
    std::erase_if(finder.used_, [&](const Var* v) { return finder.bound_.contains(v); });
    return std::move(finder.used_);
  }

 private:
  void Use(const Atom& a) {
    const Var* v = AsVar(a);
    if (v != nullptr && seen_.insert(v).second) used_.push_back(v);
  }
  void Walk(const Binding& b) {
    bound_.insert(b.var);
    ForEachAtom(*b.value, [&](const Atom& a) { Use(a); });
    if (const auto* f = b.value->As<FunctionExpr>()) {
      bound_.insert(f->function->params.begin(), f->function->params.end());
    }
    if (const auto* match = b.value->As<MatchExpr>()) {
      for (const MatchClause& c : match->clauses) {
        ForEachVar(c.pattern, [&](const Var* v) { bound_.insert(v); });
      }
    }
    ForEachBlock(*b.value, [&](const Block& inner) { Walk(inner); });
  }
  void Walk(const Block& block) {
    for (const Binding& b : block.bindings) Walk(b);
    Use(block.result);
  }

  std::vector<const Var*> used_;
  std::unordered_set<const Var*> seen_, bound_;
};

}  // namespace

size_t CountBindings(const Block& block) {
  size_t count = block.bindings.size();
  for (const Binding& b : block.bindings) {
    ForEachBlock(*b.value, [&](const Block& inner) { count += CountBindings(inner); });
  }
  return count;
}

std::vector<const Var*> UsesOf(const Block& block) { return UseFinder::Of(block); }

// Backwards: of what is used behind a binding, what is used first was seen last.
RestUses::Lists RestUses::Find(const Block& block) {
  Lists lists;
  std::unordered_map<const Var*, size_t> seen;
  size_t time = 0;
  if (const Var* v = AsVar(block.result)) seen[v] = ++time;
  for (size_t i = block.bindings.size(); i-- > 0;) {
    const Binding& b = block.bindings[i];
    if (IsBranching(b)) {
      std::vector<std::pair<size_t, const Var*>> live;
      for (const auto& [v, when] : seen) live.emplace_back(when, v);
      std::ranges::sort(live, std::greater<>(), &std::pair<size_t, const Var*>::first);
      std::vector<const Var*>& list = lists[i + 1];
      for (const auto& [when, v] : live) list.push_back(v);
    }
    seen.erase(b.var);
    const std::vector<const Var*> uses = UseFinder::Of(b);
    for (size_t k = uses.size(); k-- > 0;) seen[uses[k]] = ++time;
  }
  return lists;
}

const std::vector<const Var*>& RestUses::Of(const Rest& rest) {
  auto [at, inserted] = blocks_.try_emplace(rest.block);
  if (inserted) at->second = Find(*rest.block);
  return at->second.at(rest.first);
}

Block RestCopy::Extend(Module& m, Block& block, const PrepareFn& prepare) {
  const std::vector<Binding>& all = block_->bindings;
  Block part{{}, block_->result};
  const size_t first = next_;
  for (size_t ends = 0; next_ < all.size() && ends < ends_; ++next_) {
    part.bindings.push_back(all[next_]);
    if (!IsBranching(all[next_])) continue;
    part.result = all[next_].var;
    ++ends;
  }
  ends_ *= 2;
  done_ = next_ == all.size();
  if (done_) part.result = block_->result;
  prepare(part, map_);
  const Block* copy = CopyBlock(m, part, map_, {}, m.symbols);
  for (size_t i = first; i < next_; ++i) {
    if (!IsBranching(all[i])) continue;
    rests_.emplace(AsVar(map_.at(all[i].var->id)), Rest{block_, i + 1});
  }
  block.bindings.insert(block.bindings.end(), copy->bindings.begin(), copy->bindings.end());
  block.result = copy->result;
  return part;
}

const Rest* RestCopy::After(const Var* var) const {
  auto at = rests_.find(var);
  return at == rests_.end() ? nullptr : &at->second;
}

}  // namespace relayvm::ir

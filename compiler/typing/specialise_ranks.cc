#include "compiler/typing/specialise_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/copy.h"
#include "compiler/ir/rest.h"
#include "compiler/ir/rewrite.h"
#include "compiler/typing/held_values.h"
#include "compiler/typing/infer.h"
#include "compiler/typing/rank_sums.h"
#include "compiler/typing/statements.h"
#include "compiler/typing/structure.h"

namespace relayvm::ir {
namespace {

// Rounds that look at the whole program. Each takes the first such branches of each block.
constexpr size_t kMaxRounds = 1000;
// Bindings that functions copied to their calls may have, together: others give a value of a type
// of its own, which costs the caller a match and shares the function's code.
constexpr size_t kMostCopied = 512;
// Bindings and parameters that the pass makes, together: so many, and so many for each binding of
// the program.
constexpr size_t kMostMade = 4096, kMostMadeEach = 128;

constexpr const char* kAttr = "Continuation";

class Specialiser {
 public:
  explicit Specialiser(const Module& m) : m_(m), most_made_(kMostMade) {
    for (const auto& [name, f] : m.functions) {
      if (f->body != nullptr) most_made_ += kMostMadeEach * CountBindings(*f->body);
    }
  }

  Result<Module> Run() {
    for (size_t round = 0;;) {
      MixedValues mixed;
      mixed_ = &mixed;
      if (!new_.empty()) {
        const Status typed = InferTypes(NewOnes(), &mixed.ranks).status();
        RELAYVM_RETURN_IF_ERROR(SplitNewOnes(typed));
        continue;
      }
      auto typed = InferTypes(m_, &mixed.ranks);
      if (mixed.ranks.vars.empty()) {
        RELAYVM_RETURN_IF_ERROR(typed.status());
        if (sums_.empty()) {
          RELAYVM_RETURN_IF_ERROR(CheckContinuations(*typed));
          return WithoutMarks(*std::move(typed));
        }
        const Status wrapped =
            sums_.Wrap(*typed, [&](const Atom& a) { return AtomType(*typed, a); });
        if (!wrapped.ok()) return GiveUp(wrapped.message());
        RELAYVM_RETURN_IF_ERROR(CheckContinuations(*typed));
        return WithoutMarks(*std::move(typed));
      }
      error_ = mixed.ranks.error;
      if (round++ == kMaxRounds)
        return GiveUp("they are the results of functions that call each other");
      RELAYVM_RETURN_IF_ERROR(TakeMixedFunctions());
      const std::map<std::string, const Function*> functions = m_.functions;
      bool changed = false;
      for (const auto& [name, f] : functions) changed = Split(name, false) || changed;
      if (!changed && !copied_) return GiveUp("they are the result of a function literal");
      RELAYVM_RETURN_IF_ERROR(CheckBudget());
    }
  }

 private:
  // The copy of a rest that is not whole yet, and what its function was given that is held.
  struct Copy {
    RestCopy rest;
    HeldValues::State held;
  };
  // The arguments of a call of a continuation after the first one.
  struct Given {
    std::vector<HeldValues::Value> direct;
    HeldValues::State held;
  };

  // --- The functions that the last round made ---
  //
  // Each round types these and what they call, and no others; and of what follows branches they
  // have as much as ends in the next ones. So a row of branches takes time linear in its length.
  // When they hold nothing that is mixed the whole program is looked at again.

  Module NewOnes() const {
    Module part;
    part.arena = m_.arena;
    part.sources = m_.sources;
    part.ids = m_.ids;
    part.types = m_.types;
    part.symbols = m_.symbols;
    part.contents = m_.contents;
    part.entry = m_.entry;
    std::vector<std::string> wanted(new_.begin(), new_.end());
    while (!wanted.empty()) {
      const std::string name = std::move(wanted.back());
      wanted.pop_back();
      auto at = m_.functions.find(name);
      if (at == m_.functions.end() || !part.functions.insert(*at).second) continue;
      ForEachGlobal(*at->second->body,
                    [&](const GlobalVar& g, const CallExpr*) { wanted.push_back(g.name); });
    }
    return part;
  }

  Status SplitNewOnes(const Status& typed) {
    if (!mixed_->ranks.vars.empty()) error_ = mixed_->ranks.error;
    bool any = !mixed_->ranks.vars.empty() || typed.ok();
    for (const Function* f : mixed_->ranks.functions) {
      auto at = m_.functions.find(f->name);
      any = any && at != m_.functions.end() && at->second == f && copies_.contains(f->name);
    }
    const std::set<std::string> functions = std::move(new_);
    new_.clear();
    std::vector<std::string> whole;
    for (const std::string& name : functions) {
      if (!any || !Split(name, /*is_new=*/true)) whole.push_back(name);
    }
    const bool changed = whole.size() < functions.size();
    for (const std::string& name : whole) {
      if (copies_.contains(name) && !EndInKnown(name)) Extend(name);
    }
    if (!any || (!changed && !mixed_->ranks.vars.empty())) {
      // The whole program says what this is.
      while (!copies_.empty()) Extend(copies_.begin()->first);
      new_.clear();
    }
    return CheckBudget();
  }

  // A copy ends in the function that continues another one with the same types, if there is one.
  bool EndInKnown(const std::string& name) {
    auto copy = copies_.find(name);
    const Function& f = *m_.functions.at(name);
    const Rest* rest = copy->second.rest.After(AsVar(f.body->result));
    const Type type = mixed_->TypeOf(f.body->result);
    if (rest == nullptr || type == nullptr) return false;
    Block body = *f.body;
    const Given given = GivenTo(*rest, &copy->second, {type}, ScopeOf(f), body.bindings);
    for (const HeldValues::Value& v : given.direct) {
      if (v.type == nullptr) return false;
    }
    auto known = continuations_.find(KeyOf(*rest, type, given));
    if (known == continuations_.end()) return false;
    CallExpr call{known->second, ArgsOf(f.body->result, given)};
    const Var* result = MakeVar(m_, "", nullptr, f.span);
    body.bindings.push_back({result, MakeExpr(m_, std::move(call), f.span)});
    body.result = result;
    m_.functions[name] = WithBody(m_, f, m_.arena->New<Block>(std::move(body)));
    copies_.erase(copy);
    return true;
  }

  void Extend(const std::string& name) {
    auto copy = copies_.find(name);
    const Function& f = *m_.functions.at(name);
    Block body = *f.body;
    const size_t before = body.bindings.size();
    const auto read = [&](const Block& part, AtomMap& map) {
      held_.Read(UsesOf(part), f.span, copy->second.held, map, body.bindings);
      made_ += body.bindings.size() - before;
    };
    const Block part = copy->second.rest.Extend(m_, body, read);
    m_.functions[name] = WithBody(m_, f, m_.arena->New<Block>(std::move(body)));
    made_ += CountBindings(part);
    Remember(part, copy->second.rest.map());
    new_.insert(name);
    if (copy->second.rest.done()) copies_.erase(copy);
  }

  // --- One round: each function's outermost mixed values ---

  bool Split(const std::string& name, bool is_new) {
    const Function& f = *m_.functions.at(name);
    function_ = name;
    type_params_ = f.type_params;
    auto copy = copies_.find(name);
    copy_ = copy == copies_.end() ? nullptr : &copy->second;
    ended_ = false;
    const Block* body = Split(*f.body, /*outermost=*/true);
    copy_ = nullptr;
    if (body == f.body) return false;
    m_.functions[name] = WithBody(m_, f, body);
    if (ended_) {
      copies_.erase(name);
    } else if (is_new) {
      new_.insert(name);
    }
    return true;
  }

  Status CheckBudget() const {
    if (made_ <= most_made_) return OkStatus();
    return GiveUp(
        fmt::format("what follows would be compiled for so many combinations of ranks that these "
                    "take more than {} bindings",
                    most_made_));
  }

  Status GiveUp(const std::string& why) const {
    return {error_.code(),
            fmt::format("{}\n{}; give the branches one rank, for example by expand_dims or reshape",
                        error_.message(), why)};
  }

  const Block* Split(const Block& block, bool outermost = false) {
    const Copy* copy = outermost ? copy_ : nullptr;
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const Binding& b = block.bindings[i];
      if (!mixed_->Has(b.var)) continue;
      if (copy == nullptr && &b == mixed_->Tail(block)) break;  // what follows is outside
      if (!IsKnown(b)) {
        // Mixed values inside come first: their turn is this round, that of `b` the next.
        const Expr* inner = MapBlocks(m_, b.value, [&](const Block& x) { return Split(x); });
        if (inner != b.value) {
          Block out = block;
          out.bindings[i].value = inner;
          return m_.arena->New<Block>(std::move(out));
        }
      }
      const Rest rest = copy == nullptr ? Rest{&block, i + 1} : *copy->rest.After(b.var);
      ended_ = ended_ || outermost;
      Block out{{block.bindings.begin(), block.bindings.begin() + static_cast<ptrdiff_t>(i)}, {}};
      const Given given = GivenTo(rest, copy, TypesOfBranches(b),
                                  ScopeOf(*m_.functions.at(function_)), out.bindings);
      const Var* result = MakeVar(m_, "", nullptr, b.value->span);
      out.bindings.push_back({result, Continue(b, rest, given)});
      out.result = result;
      return m_.arena->New<Block>(std::move(out));
    }
    Block out{{}, block.result};
    bool changed = false;
    for (const Binding& b : block.bindings) {
      const Expr* e = MapBlocks(m_, b.value, [&](const Block& inner) { return Split(inner); });
      changed = changed || e != b.value;
      out.bindings.push_back({b.var, e});
    }
    return changed ? m_.arena->New<Block>(std::move(out)) : &block;
  }

  // Whether the types of all that the branches of `b` give are known.
  bool IsKnown(const Binding& b) const {
    bool known = true;
    ForEachBlock(*b.value, [&](const Block& branch) {
      const Binding* tail = mixed_->Tail(branch);
      known =
          known && (tail != nullptr ? IsKnown(*tail) : mixed_->TypeOf(branch.result) != nullptr);
    });
    return known;
  }

  std::vector<Type> TypesOfBranches(const Binding& b) const {
    std::vector<Type> types;
    ForEachBlock(*b.value, [&](const Block& branch) {
      mixed_->ForEachLeaf(branch,
                          [&](const Block& leaf) { types.push_back(mixed_->TypeOf(leaf.result)); });
    });
    return types;
  }

  // The branches of `b`, each of which goes on with `rest`.
  const Expr* Continue(const Binding& b, const Rest& rest, const Given& given) {
    return MapBlocks(m_, b.value, [&](const Block& branch) -> const Block* {
      Block out = branch;
      if (const Binding* tail = mixed_->Tail(branch)) {
        out.bindings.back().value = Continue(*tail, rest, given);
        // The type that was written for it is that of the whole.
        const Var* result = MakeVar(m_, "", nullptr, tail->value->span);
        out.bindings.back().var = result;
        out.result = result;
        return m_.arena->New<Block>(std::move(out));
      }
      const Var* result = MakeVar(m_, "", nullptr, b.value->span);
      CallExpr call = CallContinuation(branch.result, rest, given);
      out.bindings.push_back({result, MakeExpr(m_, std::move(call), b.value->span)});
      out.result = result;
      return m_.arena->New<Block>(std::move(out));
    });
  }

  // --- Functions that continue ---

  // What continuations of a rest are given besides the value; `copy`: of that which the rest stands
  // in, or null. `out` binds what is made for it.
  Given GivenTo(const Rest& rest, const Copy* copy, const std::vector<Type>& values,
                const HeldValues::Scope& scope, std::vector<Binding>& out) {
    Given given;
    if (copy != nullptr) {
      given.held = HeldValues::Passed(copy->held, [&](const Var* v) { return mixed_->TypeOf(v); });
    }
    std::unordered_set<const HeldValues::Layout*> used;
    for (const Var* v : Captured(rest)) {
      if (given.held.Holds(v)) {
        used.insert(given.held.index->at(v));
        continue;
      }
      const Atom image = copy == nullptr ? v : copy->rest.ImageOf(v);
      given.direct.push_back({v, image, mixed_->TypeOf(image)});
    }
    std::erase_if(given.held.holders,
                  [&](const HeldValues::Holder& h) { return !used.contains(h.layout); });
    const size_t before = out.size();
    held_.Hold(scope, values, given.direct, given.held, out);
    made_ += out.size() - before;
    return given;
  }
  static std::vector<Atom> ArgsOf(const Atom& value, const Given& given) {
    std::vector<Atom> args = {value};
    for (const HeldValues::Value& v : given.direct) args.push_back(v.image);
    for (const HeldValues::Holder& h : given.held.holders) args.push_back(h.var);
    return args;
  }

  CallExpr CallContinuation(const Atom& value, const Rest& rest, const Given& given) {
    const GlobalVar*& global = continuations_[KeyOf(rest, mixed_->TypeOf(value), given)];
    if (global == nullptr) global = MakeContinuation(mixed_->TypeOf(value), rest, given);
    return {global, ArgsOf(value, given)};
  }

  static const Var* ValueBefore(const Rest& rest) {
    return rest.block->bindings[rest.first - 1].var;
  }
  std::vector<const Var*> Captured(const Rest& rest) {
    std::vector<const Var*> captured = rest_uses_.Of(rest);
    std::erase(captured, ValueBefore(rest));
    return captured;
  }

  // Symbols count by where they occur: each copy has its own.
  std::string KeyOf(const Rest& rest, const Type& value, const Given& given) const {
    NumberedSpelling spelling;
    std::string key = fmt::format("{}; {}", Origin(ValueBefore(rest))->id, spelling.Of(value));
    for (const HeldValues::Value& v : given.direct) key += "; " + spelling.Of(v.type);
    for (const HeldValues::Holder& h : given.held.holders) {
      key += "; " + spelling.Of(HeldValues::TypeOf(h));
      for (const Dim& d : h.dims) key += ", " + spelling.Of(d);
    }
    return key;
  }

  const GlobalVar* MakeContinuation(const Type& value, const Rest& rest, const Given& given) {
    const Var* var = ValueBefore(rest);
    Function f;
    f.type_params = type_params_;
    f.span = var->span;
    f.params.push_back(MakeVar(m_, var->name, value, var->span));
    AtomMap map;
    HeldValues::State held{given.held.holders, given.held.index, {{f.params[0], value}}, {}};
    for (const HeldValues::Value& v : given.direct) {
      f.params.push_back(MakeVar(m_, v.original->name, v.type, v.original->span));
      map[v.original->id] = f.params.back();
      if (v.type != nullptr && v.type->has_open_dim)
        held.known.emplace_back(f.params.back(), v.type);
    }
    for (HeldValues::Holder& h : held.holders) {
      f.params.push_back(MakeVar(m_, h.var->name, HeldValues::TypeOf(h), var->span));
      h.var = f.params.back();
    }
    made_ += f.params.size();
    // A type that was written for the value is checked in its copy.
    const Block head{{{var, MakeExpr(m_, AtomExpr{f.params[0]}, var->span)}}, var};
    f.body = CopyBlock(m_, head, map, {}, m_.symbols);
    Remember(head, map);
    const Var* origin = Origin(var);
    f.attrs[kAttr] = Dim(static_cast<int64_t>(origin->id));
    std::string name;
    do {
      name = fmt::format("{}.rank{}", RootOf(function_), ++number_);
    } while (m_.functions.contains(name));
    f.name = name;
    m_.functions[name] = m_.arena->New<Function>(std::move(f));
    copies_.emplace(name, Copy{RestCopy(rest, std::move(map)), std::move(held)});
    Extend(name);
    return m_.arena->New<GlobalVar>(GlobalVar{name});
  }

  static std::string RootOf(const std::string& name) { return name.substr(0, name.find(".rank")); }
  static HeldValues::Scope ScopeOf(const Function& f) {
    return {RootOf(f.name), f.type_params, f.span};
  }

  // Copies continue as their originals do.
  const Var* Origin(const Var* v) const {
    auto at = origins_.find(v);
    return at == origins_.end() ? v : at->second;
  }
  void Remember(const Block& block, const AtomMap& map) {
    for (const Binding& b : block.bindings) {
      auto at = map.find(b.var->id);
      if (at != map.end()) {
        if (const Var* copy = AsVar(at->second)) origins_[copy] = Origin(b.var);
      }
      ForEachBlock(*b.value, [&](const Block& inner) { Remember(inner, map); });
    }
  }

  // --- Functions with results of several ranks ---

  // Small ones are copied to their calls; others give a sum of their types.
  Status TakeMixedFunctions() {
    std::map<std::string, const Function*> all, mixed, sums;
    for (const auto& [name, f] : m_.functions) {
      if (!mixed_->ranks.functions.contains(f)) continue;
      if (name == m_.entry) {
        return GiveUp(fmt::format("they are the result of @{}, which has one type", name));
      }
      all.emplace(name, f);
    }
    copied_ = false;
    if (all.empty()) return OkStatus();
    std::unordered_map<std::string, size_t> calls;
    for (const auto& [name, f] : m_.functions) {
      ForEachGlobal(*f->body, [&](const GlobalVar& g, const CallExpr*) { ++calls[g.name]; });
    }
    for (const auto& [name, f] : all) {
      const size_t copies = calls[name] * CountBindings(*f->body);
      if (copied_bindings_ + copies > kMostCopied || !f->type_params.empty() ||
          Mentions(*f->body, name)) {
        sums.emplace(name, f);
      } else {
        copied_bindings_ += copies;
        mixed.emplace(name, f);
      }
    }
    RELAYVM_RETURN_IF_ERROR(CopyMixedFunctions(mixed));
    // Those that call what was copied have changed, and are looked at again.
    if (!mixed.empty()) return OkStatus();
    if (sums.empty()) return OkStatus();
    auto made = sums_.Make(sums, *mixed_);
    if (!made.ok()) return GiveUp(made.status().message());
    made_ += *made;
    copied_ = true;
    return OkStatus();
  }

  Status CopyMixedFunctions(const std::map<std::string, const Function*>& mixed) {
    if (mixed.empty()) return OkStatus();
    copied_ = true;
    Status failure;
    auto copy = [&](const Binding& b, std::vector<Binding>& out) {
      const auto* call = b.value->As<CallExpr>();
      const auto* g = call == nullptr ? nullptr : std::get_if<const GlobalVar*>(&call->callee);
      auto at = g == nullptr ? mixed.end() : mixed.find((*g)->name);
      ForEachAtom(*b.value, [&](const Atom& a) {
        const auto* value = std::get_if<const GlobalVar*>(&a);
        if (value == nullptr || !mixed.contains((*value)->name) ||
            (g != nullptr && a == call->callee))
          return;
        failure = GiveUp(
            fmt::format("they are the result of @{}, which is used as a value", (*value)->name));
      });
      if (at == mixed.end()) {
        out.push_back(b);
        return;
      }
      CopyCall(b, *call, *at->second, out);
    };
    for (auto& [name, f] : m_.functions) {
      if (mixed.contains(name)) continue;
      const Block* body = RewriteBlock(m_, *f->body, copy);
      if (body != f->body) f = WithBody(m_, *f, body);
    }
    // Those that mixed functions call are copied in the next round.
    for (const auto& [name, f] : mixed) {
      bool used = std::any_of(m_.functions.begin(), m_.functions.end(), [&](const auto& other) {
        return other.first != name && Mentions(*other.second->body, name);
      });
      if (used) continue;
      std::erase_if(continuations_, [&](const auto& known) { return known.second->name == name; });
      m_.functions.erase(name);
    }
    return failure;
  }

  static bool Mentions(const Block& block, const std::string& name) {
    bool found = false;
    for (const Binding& b : block.bindings) {
      ForEachAtom(*b.value, [&](const Atom& a) {
        const auto* g = std::get_if<const GlobalVar*>(&a);
        found = found || (g != nullptr && (*g)->name == name);
      });
      ForEachBlock(*b.value, [&](const Block& inner) { found = found || Mentions(inner, name); });
    }
    return found;
  }

  void CopyCall(const Binding& b, const CallExpr& call, const Function& f,
                std::vector<Binding>& out) {
    AtomMap map;
    for (size_t i = 0; i < f.params.size() && i < call.args.size(); ++i) {
      const Var* p = f.params[i];
      const Var* copy = MakeVar(m_, p->name, nullptr, p->span);
      const Expr* value = MakeExpr(m_, AtomExpr{call.args[i]}, b.value->span);
      if (p->type != nullptr) {
        std::string what = fmt::format("argument %{} of @{}", p->name, f.name);
        value = MakeExpr(m_, Stated{call.args[i], p->type, std::move(what)}, b.value->span);
      }
      out.push_back({copy, value});
      map[p->id] = copy;
    }
    const Block* body = CopyBlock(m_, *f.body, map, {}, m_.symbols);
    made_ += CountBindings(*body);
    out.insert(out.end(), body->bindings.begin(), body->bindings.end());
    // The last binding is the mixed one: it takes the place of the call.
    if (!body->bindings.empty() && AsVar(body->result) == body->bindings.back().var) {
      out.back().var = b.var;
    } else {
      out.push_back({b.var, MakeExpr(m_, AtomExpr{body->result}, b.value->span)});
    }
  }

  // --- At the end ---

  static Module WithoutMarks(Module typed) {
    for (auto& [name, f] : typed.functions) {
      if (!f->attrs.contains(kAttr)) continue;
      Function copy = *f;
      copy.attrs.erase(kAttr);
      f = typed.arena->New<Function>(std::move(copy));
    }
    return typed;
  }

  // What follows must fit one of the ranks.
  Status CheckContinuations(const Module& typed) const {
    struct Group {
      bool fits = false;
      std::string reasons;
      Span span;
    };
    std::map<int64_t, Group> groups;
    for (const auto& [name, f] : typed.functions) {
      auto attr = f->attrs.find(kAttr);
      if (attr == f->attrs.end()) continue;
      Group& g = groups[std::get<Dim>(attr->second.value).value()];
      const Trap* trap = nullptr;
      for (const Binding& b : f->body->bindings) {
        if (b.value->As<Trap>() == nullptr) continue;
        trap = b.value->As<Trap>();
        g.span = b.value->span;
      }
      g.fits = g.fits || trap == nullptr;
      if (trap == nullptr) continue;
      g.reasons += fmt::format("{}with {}: {}", g.reasons.empty() ? "" : "; ",
                               TypeToString(f->params[0]->type, false), trap->message);
    }
    for (const auto& [id, g] : groups) {
      if (g.fits) continue;
      return typed.sources->Error(
          StatusCode::kInvalidInput, g.span,
          fmt::format("branches differ in rank, and what follows fits none of them ({})",
                      g.reasons));
    }
    return OkStatus();
  }

  Module m_;
  const MixedValues* mixed_ = nullptr;  // of this round
  std::set<std::string> new_;  // functions that were made or changed, to be looked at alone
  std::map<std::string, Copy> copies_;  // those of new_ that are not whole yet
  RestUses rest_uses_;
  HeldValues held_{m_};
  Status error_;          // that made it necessary
  std::string function_;  // that is being split
  std::vector<Type> type_params_;
  const Copy* copy_ = nullptr;  // of function_, which is not whole
  bool ended_ = false;          // function_ ends in calls of continuations now
  std::unordered_map<std::string, const GlobalVar*> continuations_;  // by origin and types
  std::unordered_map<const Var*, const Var*> origins_;
  RankSums sums_{m_};
  size_t number_ = 0;
  size_t copied_bindings_ = 0, made_ = 0, most_made_;
  bool copied_ = false;  // a function's result was taken care of, in this round
};

}  // namespace

Result<Module> CheckTypes(const Module& m) {
  RELAYVM_RETURN_IF_ERROR(typing::CheckStructure(m));
  return Specialiser(typing::StateTypes(m)).Run();
}

}  // namespace relayvm::ir

#include "compiler/transforms/specialise_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/transforms/copy.h"
#include "compiler/transforms/rewrite.h"
#include "compiler/typing/infer.h"
#include "compiler/typing/statements.h"
#include "compiler/typing/structure.h"

namespace relayvm::ir {
namespace {

// So many functions may continue branches of different rank.
constexpr size_t kMaxContinuations = 256;
// Each round takes the first such branches of each block.
constexpr size_t kMaxRounds = 300;

constexpr const char* kAttr = "Continuation";

// What a block uses and doesn't bind, in order of first use.
class FreeVars {
 public:
  static std::vector<const Var*> Of(const Block& block) {
    FreeVars finder;
    finder.Walk(block);
    std::erase_if(finder.used_, [&](const Var* v) { return finder.bound_.contains(v); });
    return std::move(finder.used_);
  }

 private:
  void Walk(const Block& block) {
    auto use = [&](const Atom& a) {
      const Var* v = AsVar(a);
      if (v != nullptr && seen_.insert(v).second) used_.push_back(v);
    };
    for (const Binding& b : block.bindings) {
      bound_.insert(b.var);
      ForEachAtom(*b.value, use);
      if (const auto* f = b.value->As<FunctionExpr>()) {
        bound_.insert(f->function->params.begin(), f->function->params.end());
      }
      if (const auto* match = b.value->As<MatchExpr>()) {
        for (const MatchClause& c : match->clauses) Bind(c.pattern);
      }
      ForEachBlock(*b.value, [&](const Block& inner) { Walk(inner); });
    }
    use(block.result);
  }
  void Bind(const Pattern& p) {
    if (p.var != nullptr) bound_.insert(p.var);
    for (const Pattern& f : p.fields) Bind(f);
  }

  std::vector<const Var*> used_;
  std::unordered_set<const Var*> seen_, bound_;
};

class Specialiser {
 public:
  explicit Specialiser(const Module& m) : m_(m) {}

  Result<Module> Run() {
    for (size_t round = 0;; ++round) {
      MixedRanks mixed;
      auto typed = InferTypes(m_, &mixed);
      if (mixed.vars.empty()) {
        RELAYVM_RETURN_IF_ERROR(typed.status());
        RELAYVM_RETURN_IF_ERROR(CheckContinuations(*typed));
        return WithoutMarks(*std::move(typed));
      }
      mixed_ = &mixed;
      if (round == kMaxRounds)
        return GiveUp("they are the results of functions that call each other");
      RELAYVM_RETURN_IF_ERROR(Split());
    }
  }

 private:
  // --- One round: each function's outermost mixed values ---

  Status Split() {
    RELAYVM_RETURN_IF_ERROR(CopyMixedFunctions());
    std::map<std::string, const Function*> functions = m_.functions;
    bool changed = false;
    for (const auto& [name, f] : functions) {
      function_ = name;
      type_params_ = f->type_params;
      const Block* body = Split(*f->body);
      if (body == f->body) continue;
      m_.functions[name] = WithBody(m_, *f, body);
      changed = true;
    }
    if (!changed && !copied_) return GiveUp("they are the result of a function literal");
    if (continuations_.size() <= kMaxContinuations) return OkStatus();
    return GiveUp(
        fmt::format("what follows would be compiled for more than {} combinations of ranks",
                    kMaxContinuations));
  }

  Status GiveUp(const std::string& why) const {
    return {mixed_->error.code(),
            fmt::format("{}\n{}; give the branches one rank, for example by expand_dims or reshape",
                        mixed_->error.message(), why)};
  }

  bool IsMixed(const Var* v) const { return mixed_->vars.contains(v); }

  // The binding that gives the block's result a mixed value, or null.
  const Binding* MixedTail(const Block& block) const {
    if (block.bindings.empty()) return nullptr;
    const Binding& last = block.bindings.back();
    return AsVar(block.result) == last.var && IsMixed(last.var) ? &last : nullptr;
  }

  const Block* Split(const Block& block) {
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const Binding& b = block.bindings[i];
      if (!IsMixed(b.var)) continue;
      if (&b == MixedTail(block)) break;  // what follows is outside
      if (!IsKnown(b)) {
        // Mixed values inside come first: their turn is this round, that of `b` the next.
        const Expr* inner = MapBlocks(m_, b.value, [&](const Block& x) { return Split(x); });
        if (inner != b.value) {
          Block out = block;
          out.bindings[i].value = inner;
          return m_.arena->New<Block>(std::move(out));
        }
      }
      Block rest{{block.bindings.begin() + static_cast<ptrdiff_t>(i) + 1, block.bindings.end()},
                 block.result};
      Block out{{block.bindings.begin(), block.bindings.begin() + static_cast<ptrdiff_t>(i)}, {}};
      const Var* result = MakeVar(m_, "", nullptr, b.value->span);
      out.bindings.push_back({result, Continue(b, b.var, rest)});
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
      const Binding* tail = MixedTail(branch);
      known = known && (tail != nullptr ? IsKnown(*tail) : TypeOf(branch.result) != nullptr);
    });
    return known;
  }

  // The branches of `b`, each of which goes on with `rest`, where `var` stands for its result.
  const Expr* Continue(const Binding& b, const Var* var, const Block& rest) {
    return MapBlocks(m_, b.value, [&](const Block& branch) -> const Block* {
      Block out = branch;
      if (const Binding* tail = MixedTail(branch)) {
        out.bindings.back().value = Continue(*tail, var, rest);
        // The type that was written for it is that of the whole.
        const Var* result = MakeVar(m_, "", nullptr, tail->value->span);
        out.bindings.back().var = result;
        out.result = result;
        return m_.arena->New<Block>(std::move(out));
      }
      const Var* result = MakeVar(m_, "", nullptr, b.value->span);
      CallExpr call = CallContinuation(branch.result, var, rest);
      out.bindings.push_back({result, MakeExpr(m_, std::move(call), b.value->span)});
      out.result = result;
      return m_.arena->New<Block>(std::move(out));
    });
  }

  // --- Functions that continue ---

  Type TypeOf(const Atom& a) const {
    if (const auto* c = std::get_if<const Constant*>(&a)) return ConstantType(**c);
    const Var* v = AsVar(a);
    if (v == nullptr) return nullptr;
    auto at = mixed_->types.find(v);
    return at == mixed_->types.end() ? nullptr : at->second;
  }

  CallExpr CallContinuation(const Atom& value, const Var* var, const Block& rest) {
    std::vector<const Var*> captured = FreeVars::Of(rest);
    std::erase(captured, var);
    CallExpr call;
    call.args.push_back(value);
    call.args.insert(call.args.end(), captured.begin(), captured.end());
    std::vector<Type> types;
    for (const Atom& a : call.args) types.push_back(TypeOf(a));
    std::string key = Key(Origin(var), types);
    const GlobalVar*& global = continuations_[key];
    if (global == nullptr) global = MakeContinuation(var, captured, types, rest);
    call.callee = global;
    return call;
  }

  // Symbols count by where they occur: each copy has its own.
  static std::string Key(const Var* origin, const std::vector<Type>& types) {
    std::map<uint32_t, uint32_t> numbers;
    TypeSpelling spelling;
    spelling.dim = [&](const Dim& d) {
      return d
          .Substitute([&](const Dim& s) -> std::optional<Dim> {
            auto next = static_cast<uint32_t>(numbers.size());
            uint32_t n = numbers.try_emplace(s.symbol_id(), next).first->second;
            return Dim::Symbol(n, fmt::format("s{}", n), s.symbol_nonnegative());
          })
          .ToString();
    };
    spelling.var = [](const TypeVar& v) { return fmt::format("t{}", v.id); };
    std::string key = fmt::format("{}", origin->id);
    for (const Type& t : types) key += "; " + TypeToString(t, spelling);
    return key;
  }

  const GlobalVar* MakeContinuation(const Var* var, const std::vector<const Var*>& captured,
                                    const std::vector<Type>& types, const Block& rest) {
    Function f;
    f.type_params = type_params_;
    f.span = var->span;
    AtomMap map;
    for (size_t i = 0; i < types.size(); ++i) {
      const Var* v = i == 0 ? var : captured[i - 1];
      f.params.push_back(MakeVar(m_, v->name, types[i], v->span));
      if (i > 0) map[v->id] = f.params[i];
    }
    // A type that was written for the value is checked in its copy.
    Block body{{{var, MakeExpr(m_, AtomExpr{f.params[0]}, var->span)}}, rest.result};
    body.bindings.insert(body.bindings.end(), rest.bindings.begin(), rest.bindings.end());
    f.body = CopyBlock(m_, body, map, {}, m_.symbols);
    Remember(body, map);
    const Var* origin = Origin(var);
    f.attrs[kAttr] = Dim(static_cast<int64_t>(origin->id));
    std::string name;
    do {
      name = fmt::format("{}.rank{}", function_.substr(0, function_.find(".rank")), ++number_);
    } while (m_.functions.contains(name));
    f.name = name;
    m_.functions[name] = m_.arena->New<Function>(std::move(f));
    return m_.arena->New<GlobalVar>(GlobalVar{name});
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

  Status CopyMixedFunctions() {
    std::unordered_map<std::string, const Function*> mixed;
    for (const auto& [name, f] : m_.functions) {
      if (!mixed_->functions.contains(f)) continue;
      if (name == m_.entry) {
        return GiveUp(fmt::format("they are the result of @{}, which has one type", name));
      }
      if (Mentions(*f->body, name)) {
        return GiveUp(fmt::format("they are the result of @{}, which calls itself", name));
      }
      if (!f->type_params.empty()) {
        return GiveUp(fmt::format("they are the result of @{}, which is generic", name));
      }
      mixed.emplace(name, f);
    }
    copied_ = !mixed.empty();
    if (mixed.empty()) return OkStatus();
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
  const MixedRanks* mixed_ = nullptr;
  std::string function_;  // that is being split
  std::vector<Type> type_params_;
  std::unordered_map<std::string, const GlobalVar*> continuations_;  // by origin and types
  std::unordered_map<const Var*, const Var*> origins_;
  size_t number_ = 0;
  bool copied_ = false;  // a function to its calls, in this round
};

}  // namespace

Result<Module> CheckTypes(const Module& m) {
  RELAYVM_RETURN_IF_ERROR(typing::CheckStructure(m));
  return Specialiser(typing::StateTypes(m)).Run();
}

}  // namespace relayvm::ir

#include "compiler/transforms/simplify/specialise_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/transforms/copy.h"
#include "compiler/transforms/rest.h"
#include "compiler/transforms/rewrite.h"
#include "compiler/transforms/simplify/held_values.h"
#include "compiler/typing/infer.h"
#include "compiler/typing/statements.h"
#include "compiler/typing/structure.h"

namespace relayvm::ir {
namespace {

// Rounds that look at the whole program. Each takes the first such branches of each block.
constexpr size_t kMaxRounds = 1000;
// Bindings that functions copied to their calls may have, together: others give a value of a type of
// its own, which costs the caller a match and shares the function's code.
constexpr size_t kMostCopied = 512;
// Bindings and parameters that the pass makes, together: so many, and so many for each binding of the
// program.
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
      MixedRanks mixed;
      mixed_ = &mixed;
      if (!new_.empty()) {
        const Status typed = InferTypes(NewOnes(), &mixed).status();
        RELAYVM_RETURN_IF_ERROR(SplitNewOnes(typed));
        continue;
      }
      auto typed = InferTypes(m_, &mixed);
      if (mixed.vars.empty()) {
        RELAYVM_RETURN_IF_ERROR(typed.status());
        if (sums_.empty()) {
          RELAYVM_RETURN_IF_ERROR(CheckContinuations(*typed));
          return WithoutMarks(*std::move(typed));
        }
        RELAYVM_RETURN_IF_ERROR(Wrap(*typed, [&](const Atom& a) { return AtomType(*typed, a); }));
        RELAYVM_RETURN_IF_ERROR(CheckContinuations(*typed));
        return WithoutMarks(*std::move(typed));
      }
      error_ = mixed.error;
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
  // Each round types these and what they call, and no others; and of what follows branches they have
  // as much as ends in the next ones. So a row of branches takes time linear in its length. When
  // they hold nothing that is mixed the whole program is looked at again.

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
    if (!mixed_->vars.empty()) error_ = mixed_->error;
    bool any = !mixed_->vars.empty() || typed.ok();
    for (const Function* f : mixed_->functions) {
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
    if (!any || (!changed && !mixed_->vars.empty())) {
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
    const Type type = TypeOf(f.body->result);
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

  bool IsMixed(const Var* v) const { return mixed_->vars.contains(v); }

  // The binding that gives the block's result a mixed value, or null.
  const Binding* MixedTail(const Block& block) const {
    if (block.bindings.empty()) return nullptr;
    const Binding& last = block.bindings.back();
    return AsVar(block.result) == last.var && IsMixed(last.var) ? &last : nullptr;
  }

  const Block* Split(const Block& block, bool outermost = false) {
    const Copy* copy = outermost ? copy_ : nullptr;
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const Binding& b = block.bindings[i];
      if (!IsMixed(b.var)) continue;
      if (copy == nullptr && &b == MixedTail(block)) break;  // what follows is outside
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
      const Binding* tail = MixedTail(branch);
      known = known && (tail != nullptr ? IsKnown(*tail) : TypeOf(branch.result) != nullptr);
    });
    return known;
  }

  std::vector<Type> TypesOfBranches(const Binding& b) const {
    std::vector<Type> types;
    ForEachBlock(*b.value, [&](const Block& branch) {
      ForEachLeaf(branch, [&](const Block& leaf) { types.push_back(TypeOf(leaf.result)); });
    });
    return types;
  }

  // The branches of `b`, each of which goes on with `rest`.
  const Expr* Continue(const Binding& b, const Rest& rest, const Given& given) {
    return MapBlocks(m_, b.value, [&](const Block& branch) -> const Block* {
      Block out = branch;
      if (const Binding* tail = MixedTail(branch)) {
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

  Type TypeOf(const Atom& a) const {
    if (const auto* c = std::get_if<const Constant*>(&a)) return ConstantType(**c);
    const Var* v = AsVar(a);
    if (v == nullptr) return nullptr;
    auto at = mixed_->types.find(v);
    return at == mixed_->types.end() ? nullptr : at->second;
  }

  // What continuations of a rest are given besides the value; `copy`: of that which the rest stands
  // in, or null. `out` binds what is made for it.
  Given GivenTo(const Rest& rest, const Copy* copy, const std::vector<Type>& values,
                const HeldValues::Scope& scope, std::vector<Binding>& out) {
    Given given;
    if (copy != nullptr) {
      given.held = HeldValues::Passed(copy->held, [&](const Var* v) { return TypeOf(v); });
    }
    std::unordered_set<const HeldValues::Layout*> used;
    for (const Var* v : Captured(rest)) {
      if (given.held.Holds(v)) {
        used.insert(given.held.index->at(v));
        continue;
      }
      const Atom image = copy == nullptr ? v : copy->rest.ImageOf(v);
      given.direct.push_back({v, image, TypeOf(image)});
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
    const GlobalVar*& global = continuations_[KeyOf(rest, TypeOf(value), given)];
    if (global == nullptr) global = MakeContinuation(TypeOf(value), rest, given);
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
      if (!mixed_->functions.contains(f)) continue;
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
    return MakeSums(sums);
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

  // --- Functions that give a sum of types ---
  //
  //   def @f(%c, %x) -> f.ranks {                           // type f.ranks { f.of1(Tensor[(?)]),
  //     if (%c) { f.of1(%x) } else { f.of2(expand_dims(%x)) }            f.of2(Tensor[(?, ?)]) }
  //   }
  //   let %y = match (@f(%c, %x)) { f.of1(%v) => %v, f.of2(%v) => %v };
  //
  // which makes %y a value of several ranks as those of branches are. What a function gives and has
  // no type yet, as it comes of a call of the function itself, goes through @f.wrap until it has one.

  struct Sum {
    std::string name;
    std::vector<Type> type_params;
    std::map<std::string, const Constructor*> constructors;  // by the type without its dims
  };

  static Type WithoutDims(const Type& t) {
    if (const auto* tensor = t->As<TensorType>()) {
      return MakeTensorType(std::vector<Dim>(tensor->shape.size(), Dim::Any()), tensor->dtype);
    }
    if (const auto* tuple = t->As<TupleType>()) {
      TupleType out;
      for (const Type& f : tuple->fields) out.fields.push_back(WithoutDims(f));
      return MakeType(std::move(out));
    }
    return t;
  }

  // Calls fn with each value that the block's branches give.
  void ForEachLeaf(const Block& block, const std::function<void(const Block&)>& fn) const {
    if (const Binding* tail = MixedTail(block)) {
      ForEachBlock(*tail->value, [&](const Block& branch) { ForEachLeaf(branch, fn); });
    } else {
      fn(block);
    }
  }
  const Block* MapLeaves(const Block& block, const std::function<const Block*(const Block&)>& fn) {
    const Binding* tail = MixedTail(block);
    if (tail == nullptr) return fn(block);
    Block out = block;
    const Var* result = MakeVar(m_, "", nullptr, tail->value->span);
    out.bindings.back() = {
        result, MapBlocks(m_, tail->value, [&](const Block& b) { return MapLeaves(b, fn); })};
    out.result = result;
    return m_.arena->New<Block>(std::move(out));
  }

  Status MakeSums(const std::map<std::string, const Function*>& functions) {
    if (functions.empty()) return OkStatus();
    // Those whose types are all known go first; if there are none, they call each other.
    std::map<std::string, const Function*> known;
    for (const auto& [name, f] : functions) {
      bool is_known = true;
      ForEachLeaf(*f->body, [&](const Block& leaf) {
        is_known = is_known && TypeOf(leaf.result) != nullptr;
      });
      if (is_known) known.emplace(name, f);
    }
    const bool recursive = known.empty();
    const auto& chosen = recursive ? functions : known;
    std::map<std::string, Type> shared;
    for (const auto& [name, f] : chosen) {
      std::map<std::string, Type> types;
      ForEachLeaf(*f->body, [&](const Block& leaf) {
        const Type t = TypeOf(leaf.result);
        if (t != nullptr) types.emplace(TypeToString(WithoutDims(t), false), WithoutDims(t));
      });
      if (recursive) {
        shared.insert(types.begin(), types.end());
      } else {
        RELAYVM_RETURN_IF_ERROR(DefineSum(name, *f, types));
      }
    }
    if (recursive) {
      for (const auto& [name, f] : chosen) RELAYVM_RETURN_IF_ERROR(DefineSum(name, *f, shared));
    }
    for (const auto& [name, f] : chosen) m_.functions[name] = GivesSum(name, *f, sums_.at(name));
    RELAYVM_RETURN_IF_ERROR(Wrap(m_, [&](const Atom& a) { return TypeOf(a); }));
    const auto match_result = [&](const Binding& b, std::vector<Binding>& out) {
      const auto* call = b.value->As<CallExpr>();
      const auto* g = call == nullptr ? nullptr : std::get_if<const GlobalVar*>(&call->callee);
      if (g == nullptr || !chosen.contains((*g)->name)) {
        out.push_back(b);
        return;
      }
      const Span span = b.value->span;
      const Var* sum = MakeVar(m_, "", nullptr, span);
      out.push_back({sum, b.value});
      MatchExpr match{sum, {}, true};
      for (const auto& [key, constructor] : sums_.at((*g)->name).constructors) {
        const Var* v = MakeVar(m_, "", nullptr, span);
        Pattern field{Pattern::Kind::kVar, v, nullptr, {}, span};
        Pattern pattern{Pattern::Kind::kConstructor, nullptr, constructor, {field}, span};
        match.clauses.push_back({std::move(pattern), m_.arena->New<Block>(Block{{}, v})});
      }
      out.push_back({b.var, MakeExpr(m_, std::move(match), span)});
    };
    for (auto& [name, f] : m_.functions) {
      const Block* body = RewriteBlock(m_, *f->body, match_result);
      if (body == f->body) continue;
      made_ += CountBindings(*body) - std::min(CountBindings(*f->body), CountBindings(*body));
      f = WithBody(m_, *f, body);
    }
    copied_ = true;
    return OkStatus();
  }

  Status DefineSum(const std::string& name, const Function& f,
                   const std::map<std::string, Type>& types) {
    bool is_value = false;
    for (const auto& [other, g] : m_.functions) {
      ForEachGlobal(*g->body, [&](const GlobalVar& global, const CallExpr* call) {
        is_value = is_value || (global.name == name && call == nullptr);
      });
    }
    if (is_value)
      return GiveUp(fmt::format("they are the result of @{}, which is used as a value", name));
    if (types.size() < 2)
      return GiveUp(fmt::format("they are the result of @{}, which calls itself", name));
    Sum& sum = sums_[name];
    sum.name = name + ".ranks";
    while (m_.types.contains(sum.name)) sum.name += "_";
    sum.type_params = f.type_params;
    TypeDef def{sum.name, f.type_params, {}, f.span};
    for (const auto& [key, type] : types) {
      const auto tag = static_cast<uint32_t>(def.constructors.size());
      def.constructors.push_back(m_.arena->New<Constructor>(
          Constructor{fmt::format("{}.of{}", name, tag + 1), sum.name, tag, {type}}));
      sum.constructors[key] = def.constructors.back();
    }
    m_.types[sum.name] = std::move(def);
    // What waits for its type.
    Function wrap;
    wrap.name = WrapName(name);
    wrap.span = f.span;
    wrap.type_params = f.type_params;
    const Type value = MakeType(TypeVar{m_.ids->Next(), "value"});
    wrap.type_params.push_back(value);
    wrap.params.push_back(MakeVar(m_, "value", value, f.span));
    wrap.result_type = MakeType(AdtType{sum.name, f.type_params});
    const Var* result = MakeVar(m_, "", wrap.result_type, f.span);
    Block body{{{result, MakeExpr(m_, Trap{"a value without a type"}, f.span)}}, result};
    wrap.body = m_.arena->New<Block>(std::move(body));
    m_.functions[WrapName(name)] = m_.arena->New<Function>(std::move(wrap));
    return OkStatus();
  }

  static std::string WrapName(const std::string& name) { return name + ".wrap"; }

  const Function* GivesSum(const std::string& name, const Function& f, const Sum& sum) {
    const GlobalVar* wrap = m_.arena->New<GlobalVar>(GlobalVar{WrapName(name)});
    Function copy = f;
    copy.result_type = MakeType(AdtType{sum.name, sum.type_params});
    copy.body = MapLeaves(*f.body, [&](const Block& leaf) {
      Block out = leaf;
      const Span span = leaf.bindings.empty() ? f.span : leaf.bindings.back().value->span;
      const Var* result = MakeVar(m_, "", nullptr, span);
      out.bindings.push_back({result, MakeExpr(m_, CallExpr{wrap, {leaf.result}}, span)});
      out.result = result;
      return m_.arena->New<Block>(std::move(out));
    });
    return m_.arena->New<Function>(std::move(copy));
  }

  // Constructors instead of what waits for them, where `type_of` knows the type.
  Status Wrap(Module& m, const std::function<Type(const Atom&)>& type_of) {
    std::unordered_map<std::string, const Sum*> sums;
    for (const auto& [name, sum] : sums_) sums[WrapName(name)] = &sum;
    Status failure;
    const auto wrap = [&](const Binding& b, std::vector<Binding>& out) {
      out.push_back(b);
      const auto* call = b.value->As<CallExpr>();
      const auto* g = call == nullptr ? nullptr : std::get_if<const GlobalVar*>(&call->callee);
      const auto at = g == nullptr ? sums.end() : sums.find((*g)->name);
      if (at == sums.end()) return;
      const Type type = type_of(call->args[0]);
      if (type == nullptr) return;
      const auto& constructors = at->second->constructors;
      const auto constructor = constructors.find(TypeToString(WithoutDims(type), false));
      if (constructor == constructors.end()) {
        failure = GiveUp(fmt::format("one that calls of functions by themselves give is {}",
                                     TypeToString(type, false)));
        return;
      }
      out.back().value = MakeExpr(m, CallExpr{constructor->second, call->args}, b.value->span);
    };
    for (auto& [name, f] : m.functions) {
      const Block* body = RewriteBlock(m, *f->body, wrap);
      if (body != f->body) f = WithBody(m, *f, body);
    }
    return failure;
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
  const MixedRanks* mixed_ = nullptr;  // of this round
  std::set<std::string> new_;          // functions that were made or changed, to be looked at alone
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
  std::map<std::string, Sum> sums_;  // by function
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

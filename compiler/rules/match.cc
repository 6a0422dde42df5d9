#include "compiler/rules/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "compiler/ir/walk.h"
#include "compiler/rules/formula.h"
#include "compiler/rules/miss.h"

namespace relayvm::rules {
namespace {

using ir::Atom;

// A tensor whose elements all are the scalar `number`. Large ones are not looked at.
bool IsMadeOf(const HostTensor& tensor, const HostTensor& number) {
  constexpr int64_t kMaxElements = 4096;
  if (tensor.dtype != number.dtype || number.size() != 1 || tensor.size() < 1 ||
      tensor.size() > kMaxElements)
    return false;
  const auto bytes = DTypeBytes(number.dtype);
  const SharedBytes elements = tensor.data.Loaded(), one = number.data.Loaded();
  const auto others = static_cast<size_t>(tensor.size() - 1) * bytes;
  return std::memcmp(elements.data(), one.data(), bytes) == 0 &&
         std::memcmp(elements.data(), elements.data() + bytes, others) == 0;
}

// What is to be matched with a value: a part of a rule, or of a way of a part. Its scope: 0 is the
// rule, n the n-th step.
struct Goal {
  Atom pattern;
  Atom found;
  uint32_t scope = 0;
  int steps = 0;        // of a chain, that are taken
  bool is_end = false;  // of the scope: what is left of it
  size_t next = 0;      // in its list, from 1; 0: none
};

constexpr int kMaxOpen = 4 * kMaxSteps;  // choices at a place, which are recursion

// What a step is to its chain.
struct Frame {
  const ir::Var* node;  // the use of the part
  const PartUse* use;
  uint32_t caller;     // the scope of the use
  int steps;           // of a chain, before this one
  bool is_required;    // the pattern does not match without it
  size_t pending = 0;  // a list: arguments, once the step's own conditions hold
};

class Matcher {
 public:
  Matcher(const ir::Module& m, const Rule& rule, const Definition& root, Surroundings& around,
          Miss* miss, Extent extent)
      : m_(m), rule_(rule), root_(root), around_(around), miss_(miss), extent_(extent) {}

  std::optional<Match> Run() {
    Push(open_, {.is_end = true});
    Push(open_, {rule_.pattern, Atom(root_.var)});
    if (!Solve()) return std::nullopt;
    match_.results = Results();
    return std::move(match_);
  }

 private:
  void Push(size_t& list, Goal goal) {
    goal.next = list;
    goals_.push_back(goal);
    list = goals_.size();
  }
  // What takes back a change, where a choice that is open may turn out wrong.
  template <typename F>
  void OnUndo(const F& undo) {
    if (num_open_ > 0) undo_.emplace_back(undo);
  }
  void Undo(size_t mark) {
    for (; undo_.size() > mark; undo_.pop_back()) undo_.back()();
  }

  template <typename F>
  bool Fail(const F& reason) {
    if (miss_ == nullptr) return false;
    const size_t reached = match_.values.size();
    if (!miss_->prefers_conditions && !miss_->reason.empty() && reached <= miss_->reached)
      return false;
    Why why = reason();
    Miss miss{reached,
              required_,
              std::move(why.reason),
              reached == 0 ? nullptr : match_.values.back(),
              std::move(why.recipe),
              why.is_condition,
              miss_->prefers_conditions && IsWhole(),
              miss_->prefers_conditions};
    if (miss.IsNearerThan(*miss_)) *miss_ = std::move(miss);
    return false;
  }

  // Whether no operator is left to be found.
  bool IsWhole() const {
    const auto has_values_alone = [&](size_t list) {
      for (size_t at = list; at != 0; at = goals_[at - 1].next) {
        const Goal& goal = goals_[at - 1];
        const Rule& rule = RuleOf(goal.scope);
        const ir::Var* v = goal.is_end ? nullptr : ir::AsVar(Resolve(rule, goal.pattern));
        if (v != nullptr && !rule.graph->holes.contains(v->id)) return false;
      }
      return true;
    };
    return has_values_alone(open_) &&
           std::ranges::all_of(frames_, has_values_alone, &Frame::pending);
  }

  const Rule& RuleOf(uint32_t scope) const {
    return scope == 0 ? rule_ : *match_.steps[scope - 1].way;
  }
  std::map<uint32_t, Atom>& Images(uint32_t scope) {
    return scope == 0 ? match_.images : match_.steps[scope - 1].images;
  }
  std::map<std::string, AttrValue>& Variables(uint32_t scope) {
    return scope == 0 ? match_.variables : match_.steps[scope - 1].variables;
  }
  bool IsRequired(uint32_t scope) const { return scope == 0 || frames_[scope - 1].is_required; }

  void SetImage(uint32_t scope, const ir::Var& v, const Atom& found) {
    if (Images(scope).emplace(v.id, found).second)
      OnUndo([this, scope, id = v.id] { Images(scope).erase(id); });
  }
  void AddValue(const ir::Expr& value) {
    match_.values.push_back(&value);
    OnUndo([this] { match_.values.pop_back(); });
  }
  void AddOwn(uint32_t id) {
    ++own_[id];
    OnUndo([this, id] { --own_[id]; });
  }

  // Recurses with the open choices.
  bool Solve() {
    while (open_ != 0) {
      const Goal goal = goals_[open_ - 1];
      open_ = goal.next;
      if (goal.is_end) {
        if (!End(goal.scope)) return false;
        continue;
      }
      const Rule& rule = RuleOf(goal.scope);
      const Atom pattern = Resolve(rule, goal.pattern);
      const ir::Var* v = ir::AsVar(pattern);
      const auto use = v == nullptr ? rule.graph->parts.end() : rule.graph->parts.find(v->id);
      const bool is_use = use != rule.graph->parts.end();
      if ((is_use || num_goals_ > 0) && !Spend(1)) return false;
      if (is_use && (goal.steps > 0 || !Images(goal.scope).contains(v->id))) {
        SetImage(goal.scope, *v, goal.found);
        const std::vector<const Rule*> choices = Choices(use->second, goal);
        if (choices.empty()) return false;
        const auto num_goals = static_cast<std::ptrdiff_t>(goals_.size());
        for (size_t i = 0; i + 1 < choices.size(); ++i) {
          const size_t mark = undo_.size();
          ++num_open_;
          Take(*v, use->second, choices[i], goal);
          if (Solve()) return true;
          Undo(mark);
          --num_open_;
          if (is_over_) return false;
          goals_.erase(goals_.begin() + num_goals, goals_.end());
          open_ = goal.next;
        }
        Take(*v, use->second, choices.back(), goal);
      } else if (!Operand(pattern, goal)) {
        return false;
      }
    }
    return true;
  }

  // --- Parts ---

  // False where it would be too much.
  bool Spend(size_t goals) {
    const int64_t before = std::max(num_goals_, kFreeGoals);
    num_goals_ += static_cast<int64_t>(goals);
    if (num_goals_ > before) around_.goals_left -= num_goals_ - before;
    is_over_ = is_over_ || num_goals_ > kMaxGoals || num_open_ > kMaxOpen ||
               (num_goals_ > before && around_.goals_left < 0);
    if (!is_over_) return true;
    // A condition that is known to be amiss says more.
    if (miss_ != nullptr && !(miss_->prefers_conditions && miss_->is_condition)) {
      miss_->reason = "it may match in too many ways: make its parts narrower";
      miss_->recipe = "make the rule's parts narrower";
    }
    return false;
  }

  // Whether what is left of a chain may start with the operator (null: of no call).
  bool MayStart(const Rule& rule, Atom a, const OpDef* op) {
    while (Spend(1)) {
      const ir::Var* v = ir::AsVar(Resolve(rule, a));
      const auto use = v == nullptr ? rule.graph->parts.end() : rule.graph->parts.find(v->id);
      if (use == rule.graph->parts.end()) {
        const auto node = v == nullptr ? rule.graph->nodes.end() : rule.graph->nodes.find(v->id);
        const auto* call =
            node == rule.graph->nodes.end() ? nullptr : node->second->As<ir::OpCall>();
        return call == nullptr || call->op == op;
      }
      if (use->second.part->roots.ops.contains(op)) return true;
      if (use->second.least > 0) return false;
      a = use->second.args[0];
    }
    return false;
  }

  // The ways that the value's operator allows, and null for no further step.
  std::vector<const Rule*> Choices(const PartUse& use, const Goal& goal) {
    const Definition* d = DefinitionOf(Follow(around_, goal.found, true));
    const auto* call = d == nullptr ? nullptr : d->value->As<ir::OpCall>();
    const OpDef* op = call == nullptr ? nullptr : call->op;
    std::vector<const Rule*> choices;
    // A step's own use of the value that it goes on to is to come.
    const bool is_shared =
        d != nullptr && goal.steps > 0 && rule_.computes() && OtherUses(goal.found) > 1;
    const bool is_left_out =
        extent_ == Extent::kShortest && goal.scope == 0 && goal.steps >= use.least;
    if (goal.steps < use.most && use.part->roots.ops.contains(op) && !is_shared && !is_left_out &&
        Spend(use.part->ways.size() / 16)) {
      for (const Rule& way : use.part->ways) {
        if (way.roots.ops.contains(op)) choices.push_back(&way);
      }
    }
    if (goal.steps >= use.least && MayStart(RuleOf(goal.scope), use.args[0], op))
      choices.push_back(nullptr);
    if (!choices.empty() || is_over_) return choices;
    Fail([&]() -> Why {
      if (is_shared) return UsesMiss(goal.found, 1);
      if (call != nullptr && goal.steps == use.most && use.most > 1)
        return {fmt::format("@{}: more than {} steps", use.part->name, use.most),
                "let something else read a value in the middle of the chain: that parts it"};
      Roots expected = use.part->roots;
      if (goal.steps >= use.least) AddRoots(RuleOf(goal.scope), use.args[0], expected);
      std::set<std::string> names;
      for (const OpDef* one : expected.ops) names.insert(one->name);
      return OperatorMiss(goal.found, fmt::format("{}", fmt::join(names, " or ")),
                          d == nullptr ? nullptr : d->value);
    });
    return choices;
  }

  void Take(const ir::Var& node, const PartUse& use, const Rule* way, const Goal& goal) {
    if (way == nullptr) {
      Push(open_, {use.args[0], goal.found, goal.scope});
      return;
    }
    const bool is_required = use.least == 1 && use.most == 1 && IsRequired(goal.scope);
    const Atom found = Follow(around_, goal.found, true);
    const Definition* d = DefinitionOf(found);
    match_.steps.push_back({use.part, way, d->var, d->value, {}, {}, goal.scope});
    frames_.push_back({&node, &use, goal.scope, goal.steps, is_required});
    OnUndo([this] {
      match_.steps.pop_back();
      frames_.pop_back();
    });
    const auto scope = static_cast<uint32_t>(frames_.size());
    Push(open_, {.scope = scope, .is_end = true});
    Push(open_, {way->pattern, goal.found, scope});
  }

  // The argument that a parameter of a step's part has: by its position, below args.size().
  size_t ArgumentOf(const ir::Var& hole, uint32_t scope) const {
    const auto& params = RuleOf(scope).graph->params;
    return static_cast<size_t>(std::ranges::find(params, &hole) - params.begin());
  }
  void AddArgument(const ir::Var& hole, const Atom& found, uint32_t scope) {
    Frame& frame = frames_[scope - 1];
    const size_t at = ArgumentOf(hole, scope);
    if (at >= frame.use->args.size()) return;
    const bool goes_on = frame.use->most > 1;
    OnUndo([this, scope, before = static_cast<uint32_t>(frame.pending)] {
      frames_[scope - 1].pending = before;
    });
    Push(frame.pending, {goes_on ? Atom(frame.node) : frame.use->args[at], found, frame.caller,
                         goes_on ? frame.steps + 1 : 0});
  }

  bool End(uint32_t scope) {
    if (!Conditions(scope)) return false;
    if (scope == 0) return IsUnused();
    for (size_t at = frames_[scope - 1].pending; at != 0; at = goals_[at - 1].next)
      Push(open_, goals_[at - 1]);
    return true;
  }

  // --- Values ---

  const Definition* DefinitionOf(const Atom& a) const {
    const ir::Var* var = ir::AsVar(a);
    if (var == nullptr) return nullptr;
    if (var == root_.var) return &root_;
    const auto d = around_.definitions.find(var->id);
    return d == around_.definitions.end() ? nullptr : &d->second;
  }

  bool Operand(const Atom& pattern, const Goal& goal) {
    const Rule& rule = RuleOf(goal.scope);
    const auto* number = std::get_if<const ir::Constant*>(&pattern);
    if (number != nullptr) return Number(**number, goal.found);
    const ir::Var* v = ir::AsVar(pattern);
    const auto hole = rule.graph->holes.find(v->id);
    const bool is_hole = hole != rule.graph->holes.end();
    const std::map<uint32_t, Atom>& images = Images(goal.scope);
    if (const auto known = images.find(v->id); known != images.end()) {
      // What a parameter stands for may be computed by the pattern.
      if (!is_hole ||
          (goal.scope > 0 && ArgumentOf(*v, goal.scope) < frames_[goal.scope - 1].use->args.size()))
        CountOwn(goal.found);
      return Same(known->second, goal.found) || Fail([&] {
               return Why{fmt::format("%{} stands for two different values", v->name),
                          "read one value at both places"};
             });
    }
    if (is_hole) return Hole(*hole->second, goal.found, goal.scope);
    // Along the definitions, each of which only this use may have.
    Atom at = goal.found;
    while (true) {
      const ir::Var* var = ir::AsVar(at);
      const Definition* d = DefinitionOf(at);
      const ir::Expr& wanted = *rule.graph->nodes.at(v->id);
      if (d == nullptr) {
        return Fail([&] { return OperatorMiss(at, WhatIs(&wanted), nullptr); });
      }
      if (d->function != root_.function && rule_.computes()) {
        return Fail([&] {
          return Why{NameOf(at) + " is computed outside of this function",
                     fmt::format("compute {} where it is read: patterns do not cross branches",
                                 NameOf(at))};
        });
      }
      if (d != &root_) {
        match_.inside.push_back(var);
        OnUndo([this] { match_.inside.pop_back(); });
        AddOwn(var->id);
      }
      const ir::Expr& value = *d->value;
      const auto* alias = value.As<ir::AtomExpr>();
      const auto* stated = value.As<ir::Stated>();
      if (alias == nullptr && stated == nullptr) {
        SetImage(goal.scope, *v, Atom(var));
        return Value(wanted, value, goal.scope);
      }
      AddValue(value);
      at = alias != nullptr ? alias->atom : stated->value;
    }
  }

  // A further use of what the pattern computes.
  void CountOwn(Atom a) {
    for (const ir::Var* v = ir::AsVar(a); v != nullptr; v = ir::AsVar(a)) {
      AddOwn(v->id);
      const Definition* d = DefinitionOf(a);
      const auto* alias = d == nullptr ? nullptr : d->value->As<ir::AtomExpr>();
      if (alias == nullptr) return;
      a = alias->atom;
    }
  }

  bool Number(const ir::Constant& number, const Atom& found) {
    const Atom at = Follow(around_, found, true);
    const auto* constant = std::get_if<const ir::Constant*>(&at);
    return (constant != nullptr && IsMadeOf((*constant)->value, number.value)) ||
           Fail([&] { return NumberMiss(number.value, found, constant != nullptr); });
  }

  bool Same(const Atom& a, const Atom& b) const {
    const Atom x = Follow(around_, a, true), y = Follow(around_, b, true);
    const auto* one = std::get_if<const ir::Constant*>(&x);
    const auto* other = std::get_if<const ir::Constant*>(&y);
    return x == y ||
           (one != nullptr && other != nullptr && IsMadeOf((*one)->value, (*other)->value) &&
            (*one)->value.shape == (*other)->value.shape);
  }

  bool Hole(const ir::Var& hole, const Atom& found, uint32_t scope) {
    const Atom at = Follow(around_, found, false);
    if (RuleOf(scope).graph->constants.contains(&hole) &&
        !std::holds_alternative<const ir::Constant*>(at))
      return Fail([&] { return ConstantMiss("%" + hole.name, at, around_); });
    const ir::Type type = hole.type == nullptr ? nullptr : ir::AtomType(m_, at);
    if (hole.type != nullptr && !Takes(hole.type, type)) {
      return Fail([&] { return TypeMiss("%" + hole.name, hole.type, type); });
    }
    SetImage(scope, hole, at);
    if (scope > 0) AddArgument(hole, found, scope);
    return true;
  }

  bool Value(const ir::Expr& wanted, const ir::Expr& found, uint32_t scope) {
    const auto differs = [&] {
      return Fail([&] {
        return Why{fmt::format("expected {}, found {}", WhatIs(&wanted), WhatIs(&found)),
                   fmt::format("compute it by {}: the pattern goes on there", WhatIs(&wanted))};
      });
    };
    std::vector<Atom> operands, others;
    if (const auto* call = wanted.As<ir::OpCall>()) {
      const auto* other = found.As<ir::OpCall>();
      if (other == nullptr || other->op != call->op) return differs();
      if (!Attributes(*call, *other, scope)) return false;
    } else if (wanted.As<ir::MakeTuple>() != nullptr) {
      if (found.As<ir::MakeTuple>() == nullptr) return differs();
    } else {
      const auto* field = found.As<ir::TupleGet>();
      if (field == nullptr) return differs();
      if (const auto* open = OpenField(RuleOf(scope), wanted)) {
        if (!Name(*open, static_cast<int64_t>(field->index), scope)) {
          return Fail([&] {
            return Why{fmt::format("expected field {} of a tuple, found {}",
                                   ToText(Variables(scope).at(open->name)), field->index),
                       "read the same field of each tuple"};
          });
        }
      } else if (field->index != wanted.As<ir::TupleGet>()->index) {
        return differs();
      }
    }
    ir::ForEachAtom(wanted, [&](const Atom& a) { operands.push_back(a); });
    ir::ForEachAtom(found, [&](const Atom& a) { others.push_back(a); });
    if (operands.size() != others.size()) {
      return Fail([&] {
        return Why{fmt::format("{}: expected {} operands, found {}", WhatIs(&found),
                               operands.size(), others.size()),
                   fmt::format("give {} {} operands", WhatIs(&found), operands.size())};
      });
    }
    if (num_goals_ > 0 && !Spend(operands.size() / 4)) return false;
    AddValue(found);
    if (IsRequired(scope)) {
      ++required_;
      OnUndo([this] { --required_; });
    }
    for (size_t i = operands.size(); i-- > 0;) Push(open_, {operands[i], others[i], scope});
    return true;
  }

  bool Attributes(const ir::OpCall& wanted, const ir::OpCall& found, uint32_t scope) {
    const auto fails = [&](const std::string& name, const std::string& comparison,
                           const AttrValue& value) {
      return Fail([&] {
        return AttributeMiss(found.op->name, name, comparison, value, found.attrs.Find(name));
      });
    };
    for (const AttrValue& n : SaidOf(wanted, frontend::kWrittenAttr)) {
      const auto& name = std::get<std::string>(n.value);
      const AttrValue* value = wanted.attrs.Find(name);
      const AttrValue* other = found.attrs.Find(name);
      if (value == nullptr || (other != nullptr && *value == *other)) continue;
      return fails(name, "=", *value);
    }
    for (const AttrValue& c : SaidOf(wanted, frontend::kConditionsAttr)) {
      const auto& parts = std::get<AttrList>(c.value);
      const auto& name = std::get<std::string>(parts[0].value);
      const auto& comparison = std::get<std::string>(parts[1].value);
      const AttrValue* other = found.attrs.Find(name);
      if (other == nullptr || !Compare(*other, comparison, parts[2]))
        return fails(name, comparison, parts[2]);
    }
    for (const AttrValue& v : SaidOf(wanted, frontend::kFormulasAttr)) {
      const auto& [name, formula] = FormulaOf(RuleOf(scope), v);
      const AttrValue* other = found.attrs.Find(name);
      const AttrValue value = other == nullptr ? AttrValue() : *other;
      if (!Name(formula, value, scope)) return fails(name, "=", Variables(scope).at(formula.name));
    }
    return true;
  }
  // False where the $name stands for another value already.
  bool Name(const frontend::Formula& formula, const AttrValue& value, uint32_t scope) {
    const auto [known, is_new] = Variables(scope).emplace(formula.name, value);
    if (!is_new) return known->second == value;
    OnUndo([this, scope, name = &formula.name] { Variables(scope).erase(*name); });
    return true;
  }

  bool Conditions(uint32_t scope) {
    const Rule& rule = RuleOf(scope);
    const FormulaScope names{m_, rule, Variables(scope), Images(scope)};
    const auto holds = [&](const frontend::Formula& condition) {
      std::string reason;
      const auto value = Evaluate(condition, names, miss_ == nullptr ? nullptr : &reason);
      const bool* result = value ? std::get_if<bool>(&value->value) : nullptr;
      return (result != nullptr && *result) || Fail([&] {
               Why why = ConditionMiss(condition, names, around_, reason);
               if (scope == 0) return why;
               const Atom& at = Images(scope).at(ir::AsVar(rule.pattern)->id);
               why.reason = fmt::format("{} (@{}): {}", NameOf(at), rule.name, why.reason);
               return why;
             });
    };
    if (num_goals_ > 0 && !Spend(rule.num_formulas / 4)) return false;
    return std::ranges::all_of(rule.conditions, holds) &&
           std::ranges::all_of(rule.graph->conditions, holds);
  }

  // What the replacement does not compute again, or nobody else needs.
  bool IsUnused() {
    if (!rule_.computes()) return true;
    if (num_goals_ > 0 && !Spend(match_.inside.size() + rule_.kept.size())) return false;
    // The replacement uses that very value.
    std::set<const ir::Var*> kept;
    for (const uint32_t id : rule_.kept) {
      if (const auto image = match_.images.find(id); image != match_.images.end())
        kept.insert(ir::AsVar(image->second));
    }
    for (const ir::Var* v : Results()) kept.insert(v);
    for (const ir::Var* v : match_.inside) {
      if (OtherUses(Atom(v)) <= 0 || kept.contains(v)) continue;
      return Fail([&] { return UsesMiss(Atom(v)); });
    }
    return true;
  }

  // Of a pattern and its steps: what may be read elsewhere.
  std::vector<const ir::Var*> Results() {
    std::vector<const ir::Var*> found;
    if (!rule_.is_pattern) return found;
    for (uint32_t scope = 0; scope <= match_.steps.size(); ++scope) {
      for (const Atom& a : RuleOf(scope).results) {
        const auto image = Images(scope).find(ir::AsVar(a)->id);
        const ir::Var* v = image == Images(scope).end() ? nullptr : ir::AsVar(image->second);
        const bool is_inside = std::ranges::find(match_.inside, v) != match_.inside.end();
        if (is_inside && std::ranges::find(found, v) == found.end()) found.push_back(v);
      }
    }
    return found;
  }

  // Of a value, but for the pattern's own so far.
  int64_t OtherUses(const Atom& a) const {
    const ir::Var* v = ir::AsVar(a);
    const auto uses = v == nullptr ? around_.uses.end() : around_.uses.find(v->id);
    if (uses == around_.uses.end()) return 0;
    const auto own = own_.find(v->id);
    return uses->second - (own == own_.end() ? 0 : own->second);
  }
  Why UsesMiss(const Atom& a, int64_t own = 0) const {
    const int64_t others = OtherUses(a) - own;
    return {fmt::format("{} ({}) has {} other use{}", NameOf(a), WhatIs(DefinitionOf(a)->value),
                        others, others == 1 ? "" : "s"),
            fmt::format("compute {} once more for its other readers: the pattern would not keep it",
                        NameOf(a))};
  }

  const ir::Module& m_;
  const Rule& rule_;
  const Definition& root_;
  Surroundings& around_;
  Miss* miss_;
  Extent extent_;
  Match match_;
  std::vector<Frame> frames_;                  // of the match's steps
  std::vector<Goal> goals_;                    // in lists
  size_t open_ = 0;                            // a list
  std::unordered_map<uint32_t, int64_t> own_;  // uses of values that are the pattern's, by Var::id
  size_t required_ = 0;
  std::vector<std::function<void()>> undo_;  // the last change last
  int64_t num_goals_ = 0;                    // from the first use of a part on
  int num_open_ = 0;
  bool is_over_ = false;
};

}  // namespace

ir::Atom Follow(const Surroundings& around, ir::Atom a, bool through_statements) {
  while (const ir::Var* v = ir::AsVar(a)) {
    const auto at = around.definitions.find(v->id);
    if (at == around.definitions.end()) break;
    const auto* alias = at->second.value->As<ir::AtomExpr>();
    const auto* stated = at->second.value->As<ir::Stated>();
    if (alias == nullptr && (stated == nullptr || !through_statements)) break;
    a = alias != nullptr ? alias->atom : stated->value;
  }
  return a;
}

std::optional<Match> MatchRule(const ir::Module& m, const Rule& rule, const Definition& root,
                               Surroundings& around, Miss* miss, Extent extent) {
  return Matcher(m, rule, root, around, miss, extent).Run();
}

}  // namespace relayvm::rules

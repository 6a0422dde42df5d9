#include "compiler/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "compiler/ir/large_stack.h"
#include "compiler/ir/walk.h"
#include "compiler/rules/formula.h"
#include "compiler/rules/pattern.h"
#include "compiler/typing/infer.h"

namespace relayvm::rules {
namespace {

using ir::Atom;

Status Wrong(const ir::Module& m, ir::Span span, const std::string& message) {
  return m.sources->Error(StatusCode::kInvalidInput, span, message);
}

void FindLike(Rule& rule) {
  std::map<const OpDef*, const ir::Var*> outermost;
  std::set<uint32_t> seen;
  std::vector<Atom> level = {rule.pattern};
  while (!level.empty()) {
    std::vector<Atom> next;
    for (const Atom& a : level) {
      const ir::Var* v = ir::AsVar(Resolve(rule, a));
      const auto node = v == nullptr ? rule.graph->nodes.end() : rule.graph->nodes.find(v->id);
      if (node == rule.graph->nodes.end() || !seen.insert(v->id).second) continue;
      if (const auto* call = node->second->As<ir::OpCall>()) outermost.emplace(call->op, v);
      ForEachOperand(rule, *v, [&](const Atom& part) { next.push_back(part); });
    }
    level = std::move(next);
  }
  for (const ir::Var* v : rule.new_nodes) {
    const auto* call = rule.graph->nodes.at(v->id)->As<ir::OpCall>();
    const auto like = call == nullptr ? outermost.end() : outermost.find(call->op);
    if (like != outermost.end()) rule.like.emplace(v->id, like->second);
  }
}

Status CheckAttributes(const ir::Module& m, const Rule& rule) {
  for (const ir::Var* v : rule.new_nodes) {
    const ir::Expr& e = *rule.graph->nodes.at(v->id);
    const auto* call = e.As<ir::OpCall>();
    if (call == nullptr || rule.like.contains(v->id)) continue;
    // What is a formula is there.
    OpDef op = *call->op;
    for (const AttrValue& said : SaidOf(*call, frontend::kFormulasAttr)) {
      const auto field = std::ranges::find(op.attrs, FormulaOf(rule, said).first, &AttrField::name);
      if (field != op.attrs.end()) field->required = false;
    }
    const auto complete = CompleteAttrs(op, OperatorAttrs(*call, nullptr));
    if (!complete.ok())
      return Wrong(m, e.span,
                   fmt::format("rule @{}: {}; the replacement must say it, as its pattern has no "
                               "call of that operator to take it from",
                               rule.name, complete.status().message()));
  }
  return OkStatus();
}

// --- Types of both sides ---

// Whether both may be the same type: dims that are open may turn out to be equal.
bool MayBeSame(const ir::Type& a, const ir::Type& b) {
  const auto* tuple = a->As<ir::TupleType>();
  const auto* other = b->As<ir::TupleType>();
  if (tuple != nullptr && other != nullptr) {
    return std::ranges::equal(tuple->fields, other->fields, MayBeSame);
  }
  const auto* s = a->As<TensorType>();
  const auto* t = b->As<TensorType>();
  if (s == nullptr || t == nullptr) return ir::TypeEquals(a, b);
  return s->dtype == t->dtype &&
         std::ranges::equal(s->shape, t->shape, [](const Dim& x, const Dim& y) {
           return !Dim::ProvablyDifferent(x, y);
         });
}

class Checker {
 public:
  Checker(const ir::Module& m, const frontend::ParsedRule& parsed) : m_(m), parsed_(parsed) {
    for (const ir::Var* p : parsed.function->params) has_open_ = has_open_ || p->type == nullptr;
    for (const ir::Binding& b : parsed.function->body->bindings) {
      ir::ForEachAtom(*b.value, [&](const Atom& a) {
        const auto* c = std::get_if<const ir::Constant*>(&a);
        if (c != nullptr && !has_number_) {
          dtype_ = (*c)->value.dtype;
          has_number_ = true;
        }
      });
    }
  }

  // Of one pattern, by its position, and the replacement.
  Status Check(const Rule& of, size_t position) const {
    const Atom &pattern = of.pattern, &replacement = of.replacement;
    if (!of.graph->parts.empty()) return OkStatus();
    if (!IsStated(of, pattern) || !IsStated(of, replacement)) return OkStatus();
    constexpr int kMaxRank = 5;
    Status last;
    bool is_typed = false;
    for (int rank = 0; rank <= (has_open_ ? kMaxRank : 0); ++rank) {
      const auto both = TypesOf(of, {pattern, replacement}, rank);
      if (!both.ok()) {
        last = TypesOf(of, {pattern}, rank).status();
        if (!last.ok()) continue;
        return both.status().WithContext(fmt::format(
            "rule @{}: the replacement has no type where the pattern has one", parsed_.name));
      }
      is_typed = true;
      if (MayBeSame((*both)[0], (*both)[1])) continue;
      return Wrong(m_, parsed_.sides.back(),
                   fmt::format("rule @{}: both sides must have the same type: expected {}, as the "
                               "pattern of line {} has, found {}",
                               parsed_.name, ir::TypeToString((*both)[0]),
                               parsed_.sides[position].line, ir::TypeToString((*both)[1])));
    }
    // Holes of different ranks: each place where the rule matches tells.
    if (is_typed || (has_open_ && parsed_.function->params.size() > 1)) return OkStatus();
    return last.WithContext(fmt::format("rule @{}: the pattern has no type", parsed_.name));
  }

 private:
  // Whether all attributes are there that types are made of.
  static bool IsStated(const Rule& of, const Atom& side) {
    return std::ranges::all_of(Parts(of, side), [&](uint32_t id) {
      const auto node = of.graph->nodes.find(id);
      if (node != of.graph->nodes.end() && OpenField(of, *node->second) != nullptr) return false;
      const auto* call = node == of.graph->nodes.end() ? nullptr : node->second->As<ir::OpCall>();
      return call == nullptr || (SaidOf(*call, frontend::kFormulasAttr).empty() &&
                                 CompleteAttrs(*call->op, AttrsOf(of, *call, id)).ok());
    });
  }

  Result<std::vector<ir::Type>> TypesOf(const Rule& of, const std::vector<Atom>& sides,
                                        int rank) const {
    ir::Module m = m_;
    m.arena = std::make_shared<ir::Arena>();
    ir::Function f = *parsed_.function;
    f.attrs.clear();
    f.params.clear();
    ir::Block body;
    // What the sides are made of, operands first.
    std::set<uint32_t> seen;
    const std::function<void(const Atom&)> add = [&](const Atom& a) {
      const ir::Var* v = ir::AsVar(a);
      if (v == nullptr || !seen.insert(v->id).second) return;
      if (of.graph->holes.contains(v->id)) {
        const ir::Type open =
            ir::MakeTensorType(std::vector<Dim>(static_cast<size_t>(rank), Dim::Any()), dtype_);
        f.params.push_back(ir::MakeVar(m, v->name, v->type == nullptr ? open : v->type, v->span));
        body.bindings.push_back({v, ir::MakeExpr(m, ir::AtomExpr{f.params.back()}, v->span)});
        return;
      }
      const ir::Expr* e = of.graph->nodes.at(v->id);
      ir::ForEachAtom(*e, add);
      if (const auto* call = e->As<ir::OpCall>())
        e = ir::MakeExpr(m, ir::OpCall{call->op, call->args, AttrsOf(of, *call, v->id)}, e->span);
      body.bindings.push_back({v, e});
    };
    std::ranges::for_each(sides, add);
    const ir::Var* result = ir::MakeVar(m, "", nullptr, parsed_.span);
    body.bindings.push_back({result, ir::MakeExpr(m, ir::MakeTuple{sides}, parsed_.span)});
    body.result = result;
    f.body = m.arena->New<ir::Block>(std::move(body));
    m.functions = {{"main", m.arena->New<ir::Function>(std::move(f))}};
    RELAYVM_ASSIGN_OR_RETURN(const ir::Module typed, InferTypes(m));
    // The types of the variables, whose dims have identity; those of the result have none.
    const ir::Block& block = *typed.functions.at("main")->body;
    std::vector<ir::Type> types;
    for (const ir::Binding& b : block.bindings) {
      const auto* tuple = b.value->As<ir::MakeTuple>();
      if (tuple == nullptr || !(Atom(b.var) == block.result)) continue;
      for (const Atom& a : tuple->fields) types.push_back(ir::AtomType(typed, a));
    }
    if (types.size() != sides.size())
      return Status(StatusCode::kInternal, fmt::format("rule @{}: no types", parsed_.name));
    return types;
  }

  const ir::Module& m_;
  const frontend::ParsedRule& parsed_;
  bool has_open_ = false, has_number_ = false;
  DType dtype_ = DType::kFloat32;
};

// --- Rules from functions ---

Status CheckNodes(const ir::Module& m, const frontend::ParsedRule& parsed) {
  const ir::Function& f = *parsed.function;
  if (const size_t size = f.body->bindings.size() + f.params.size(); size > kMaxNodes) {
    return Wrong(m, parsed.span,
                 fmt::format("rule @{} has {} nodes and holes: at most {} are taken", parsed.name,
                             size, kMaxNodes));
  }
  for (const ir::Binding& b : f.body->bindings) {
    const ir::Expr& e = *b.value;
    const bool is_plain = e.As<ir::OpCall>() != nullptr || e.As<ir::MakeTuple>() != nullptr ||
                          e.As<ir::TupleGet>() != nullptr || e.As<ir::AtomExpr>() != nullptr;
    const auto* use = e.As<ir::CallExpr>();
    const bool is_part =
        use != nullptr && std::holds_alternative<const ir::GlobalVar*>(use->callee);
    bool is_value = true;
    const auto check = [&](const Atom& a) {
      is_value =
          is_value && (ir::AsVar(a) != nullptr || std::holds_alternative<const ir::Constant*>(a));
    };
    if (is_part) {
      std::ranges::for_each(use->args, check);
    } else {
      ir::ForEachAtom(e, check);
    }
    if ((!is_plain && !is_part) || !is_value)
      return Wrong(m, e.span.line == 0 ? parsed.span : e.span,
                   fmt::format("rule @{}: expected operator calls, tuples, their fields, numbers, "
                               "holes and parts, found another expression",
                               parsed.name));
  }
  return OkStatus();
}

// Of the replacement and the pattern, whose parts are given.
Status CheckReplacement(const ir::Module& m, const Rule& rule,
                        const std::set<uint32_t>& replacement, const std::set<uint32_t>& pattern) {
  for (const uint32_t id : replacement) {
    const auto hole = rule.graph->holes.find(id);
    if (hole != rule.graph->holes.end() && !pattern.contains(id)) {
      return Wrong(m, hole->second->span,
                   fmt::format("rule @{}: hole %{} is in the replacement and not in each pattern: "
                               "nothing would say what it is",
                               rule.name, hole->second->name));
    }
    const auto node = rule.graph->nodes.find(id);
    if (pattern.contains(id) || node == rule.graph->nodes.end()) continue;
    if (rule.graph->parts.contains(id)) {
      return Wrong(m, node->second->span,
                   fmt::format("rule @{}: a part stands in patterns, and in a replacement only "
                               "where it is the pattern's own value: %0 = @part(...); ... => %0",
                               rule.name));
    }
    if (const auto* open = OpenField(rule, *node->second)) {
      return Wrong(m, open->span,
                   fmt::format("rule @{}: a replacement states its fields: expected a number, "
                               "found ${}",
                               rule.name, open->name));
    }
    const auto* call = node->second->As<ir::OpCall>();
    if (call == nullptr) continue;
    for (const AttrValue& c : SaidOf(*call, frontend::kConditionsAttr)) {
      const AttrList& parts = std::get<AttrList>(c.value);
      return Wrong(m, node->second->span,
                   fmt::format("rule @{}: a replacement states its attributes: expected {} = ..., "
                               "found a condition ({})",
                               rule.name, std::get<std::string>(parts[0].value),
                               std::get<std::string>(parts[1].value)));
    }
  }
  return OkStatus();
}

// The same, and conditions.
Status CheckFormulas(const ir::Module& m, const Rule& rule, const std::set<uint32_t>& replacement,
                     const std::set<uint32_t>& pattern) {
  const auto each = [&](const std::set<uint32_t>& parts, const auto& fn) -> Status {
    for (const uint32_t id : parts) {
      const auto node = rule.graph->nodes.find(id);
      const auto* call = node == rule.graph->nodes.end() ? nullptr : node->second->As<ir::OpCall>();
      if (call == nullptr) continue;
      for (const AttrValue& said : SaidOf(*call, frontend::kFormulasAttr))
        RELAYVM_RETURN_IF_ERROR(fn(id, FormulaOf(rule, said).second));
    }
    return OkStatus();
  };
  std::set<std::string> variables;
  std::set<uint32_t> holes;
  for (const uint32_t id : pattern) {
    if (rule.graph->holes.contains(id)) holes.insert(id);
    const auto node = rule.graph->nodes.find(id);
    const auto* open = node == rule.graph->nodes.end() ? nullptr : OpenField(rule, *node->second);
    if (open != nullptr) variables.insert(open->name);
  }
  RELAYVM_RETURN_IF_ERROR(each(pattern, [&](uint32_t, const frontend::Formula& f) -> Status {
    if (f.kind == frontend::Formula::Kind::kVariable) {
      variables.insert(f.name);
      return OkStatus();
    }
    return Wrong(m, f.span,
                 fmt::format("rule @{}: a pattern gives an attribute a name: expected $name, found "
                             "{}; compare after the pattern: if $name == {}",
                             rule.name, ToText(f), ToText(f)));
  }));
  for (const auto* conditions : {&rule.conditions, &rule.graph->conditions}) {
    for (const frontend::Formula& f : *conditions)
      RELAYVM_RETURN_IF_ERROR(CheckFormula(m, rule, f, variables, holes));
  }
  return each(replacement, [&](uint32_t id, const frontend::Formula& f) {
    return pattern.contains(id) ? OkStatus() : CheckFormula(m, rule, f, variables, holes);
  });
}

using PartsByName = std::map<std::string, std::shared_ptr<const Part>>;

// Of a call of a part, whose name ends in ?, * or + where it has such a mark.
Result<PartUse> UseOf(const ir::Module& m, const Rule& rule, const ir::Expr& e,
                      const PartsByName& parts) {
  const auto& call = *e.As<ir::CallExpr>();
  std::string name = std::get<const ir::GlobalVar*>(call.callee)->name;
  PartUse use{nullptr, 1, 1, call.args};
  const std::string marked = name;
  if (const char mark = name.back(); mark == '?' || mark == '*' || mark == '+') {
    name.pop_back();
    use.least = mark == '+' ? 1 : 0;
    use.most = mark == '?' ? 1 : kMaxSteps;
  }
  use.part = parts.at(name);
  const auto& params = use.part->ways[0].graph->params;
  const size_t least = marked == name ? 0 : 1, most = use.most > 1 ? 1 : params.size();
  if (use.args.size() < least || use.args.size() > most) {
    return Wrong(m, e.span,
                 use.most > 1
                     ? fmt::format("rule @{}: @{} expected one argument, what the chain leads to, "
                                   "found {}",
                                   rule.name, marked, use.args.size())
                     : fmt::format("rule @{}: @{} has {} parameters: expected {} to {} arguments, "
                                   "found {}",
                                   rule.name, marked, params.size(), least, most, use.args.size()));
  }
  for (const auto& [position, label] : use.part->lacking) {
    if (position >= use.args.size()) break;
    const ir::Var* hole = ir::AsVar(Resolve(rule, use.args[position]));
    if (position > 0 && hole != nullptr && rule.graph->holes.contains(hole->id)) continue;
    return Wrong(m, e.span,
                 fmt::format("rule @{}: @{}: each way must have parameter %{}, whose argument is "
                             "more than a hole here: that of {} may not",
                             rule.name, marked, params[position]->name, label));
  }
  return use;
}

std::shared_ptr<const Part> MakePart(const std::string& name, std::vector<Rule> ways) {
  Part part{name, std::move(ways), {}, {}};
  for (const Rule& way : part.ways) {
    part.roots.ops.insert(way.roots.ops.begin(), way.roots.ops.end());
    const std::set<uint32_t> parts = Parts(way, way.pattern);
    const auto& params = way.graph->params;
    for (size_t i = 0; i < params.size(); ++i) {
      if (!parts.contains(params[i]->id)) part.lacking.emplace(i, way.label);
    }
  }
  return std::make_shared<const Part>(std::move(part));
}

// benefit=N.
Result<int64_t> BenefitOf(const ir::Module& m, const frontend::ParsedRule& parsed) {
  int64_t benefit = 0;
  for (const auto& [name, value] : parsed.function->attrs) {
    const Dim* number = std::get_if<Dim>(&value.value);
    if (name != "benefit" || number == nullptr || !number->is_const() ||
        parsed.kind == frontend::ParsedRule::Kind::kPart) {
      return Wrong(m, parsed.span,
                   fmt::format("rule @{}: expected benefit=N, an integer, found attribute {}",
                               parsed.name, name));
    }
    benefit = number->value();
  }
  return benefit;
}

// What the replacement, whose nodes are given, operands first, computes: not what the pattern, of
// the given parts, computes already.
void FindNew(Rule& rule, const std::vector<const ir::Var*>& replacement,
             const std::set<uint32_t>& pattern) {
  std::set<uint32_t> seen;
  std::vector<Atom> open = {rule.replacement};
  while (!open.empty()) {
    const ir::Var* v = ir::AsVar(Resolve(rule, open.back()));
    open.pop_back();
    if (v == nullptr || !rule.graph->nodes.contains(v->id) || !seen.insert(v->id).second) continue;
    if (pattern.contains(v->id)) {
      rule.kept.insert(v->id);
      continue;
    }
    ir::ForEachAtom(*rule.graph->nodes.at(v->id), [&](const Atom& a) { open.push_back(a); });
  }
  for (const ir::Var* v : replacement) {
    if (seen.contains(v->id) && !pattern.contains(v->id)) rule.new_nodes.push_back(v);
  }
}

size_t SizeOf(const std::vector<frontend::Formula>& formulas) {
  size_t size = formulas.size();
  for (const frontend::Formula& f : formulas) size += SizeOf(f.args);
  return size;
}
// Of nodes: themselves and their operands.
size_t SizeOf(const Rule& rule, const std::set<uint32_t>& nodes) {
  size_t size = nodes.size();
  for (const uint32_t id : nodes) {
    if (const auto node = rule.graph->nodes.find(id); node != rule.graph->nodes.end())
      ir::ForEachAtom(*node->second, [&](const Atom&) { ++size; });
  }
  return size;
}

// Of a pattern that is a tuple: its first value, and further results.
Status FindResults(const ir::Module& m, const frontend::ParsedRule& parsed, size_t position,
                   Rule& rule) {
  const ir::Var* v = ir::AsVar(rule.pattern);
  const auto node = v == nullptr ? rule.graph->nodes.end() : rule.graph->nodes.find(v->id);
  const auto* tuple = node == rule.graph->nodes.end() ? nullptr : node->second->As<ir::MakeTuple>();
  if (tuple == nullptr || tuple->fields.size() < 2 ||
      parsed.kind == frontend::ParsedRule::Kind::kRule)
    return OkStatus();
  rule.pattern = Resolve(rule, tuple->fields[0]);
  const std::set<uint32_t> parts = Parts(rule, rule.pattern);
  for (size_t i = 1; i < tuple->fields.size(); ++i) {
    const ir::Var* result = ir::AsVar(Resolve(rule, tuple->fields[i]));
    const bool is_inside =
        result != nullptr && rule.graph->nodes.contains(result->id) && parts.contains(result->id);
    if (!is_inside || Atom(result) == rule.pattern) {
      return Wrong(m, parsed.sides[position],
                   fmt::format("rule @{}: result {} of a pattern is no value inside of the first "
                               "one: expected %0 of (..., %0)",
                               rule.name, i));
    }
    rule.results.emplace_back(result);
  }
  return OkStatus();
}

Status TooLarge(const ir::Module& m, const frontend::ParsedRule& parsed, size_t position,
                size_t size) {
  return Wrong(m, parsed.sides[position],
               fmt::format("rule @{}: its first {} alternatives, the replacement with each, are of "
                           "{} nodes, operands and formulas: at most {} are taken; make it several "
                           "rules",
                           parsed.name, position + 1, size, kMaxSize));
}

Result<std::vector<Rule>> MakeRules(const ir::Module& m, const frontend::ParsedRule& parsed,
                                    const PartsByName& known, bool check_types) {
  RELAYVM_RETURN_IF_ERROR(CheckNodes(m, parsed));
  using Kind = frontend::ParsedRule::Kind;
  Rule rule;
  rule.name = parsed.name;
  rule.place = m.sources->Place(parsed.span);
  const auto graph = std::make_shared<Graph>();
  rule.graph = graph;
  graph->constants = parsed.constants;
  graph->formulas = parsed.formulas;
  graph->conditions = parsed.common;
  RELAYVM_ASSIGN_OR_RETURN(rule.benefit, BenefitOf(m, parsed));
  rule.is_pattern = parsed.kind == Kind::kPattern;
  graph->params = parsed.function->params;
  for (const ir::Var* p : graph->params) graph->holes[p->id] = p;
  const ir::MakeTuple* sides = nullptr;
  for (const ir::Binding& b : parsed.function->body->bindings) {
    // Other names of a value are one step from it.
    const auto* alias = b.value->As<ir::AtomExpr>();
    graph->nodes[b.var->id] =
        alias == nullptr ? b.value
                         : ir::MakeExpr(m, ir::AtomExpr{Resolve(rule, alias->atom)}, b.value->span);
    if (Atom(b.var) == parsed.function->body->result) sides = b.value->As<ir::MakeTuple>();
    if (b.value->As<ir::CallExpr>() != nullptr) {
      RELAYVM_ASSIGN_OR_RETURN(graph->parts[b.var->id], UseOf(m, rule, *b.value, known));
    }
  }
  if (sides == nullptr) return Status(StatusCode::kInternal, "a rule without sides");
  const bool has_replacement = parsed.kind == Kind::kRule;
  std::set<uint32_t> replaced;
  std::vector<const ir::Var*> made;
  if (has_replacement) {
    rule.replacement = Resolve(rule, sides->fields.back());
    replaced = Parts(rule, rule.replacement);
    for (const ir::Binding& b : parsed.function->body->bindings) {
      if (replaced.contains(b.var->id)) made.push_back(b.var);
    }
  }
  const Checker types(m, parsed);
  const size_t conditions = SizeOf(graph->conditions);
  const size_t replacement = SizeOf(rule, replaced);
  size_t size = 0;
  std::vector<Rule> rules;
  for (size_t i = 0; i < parsed.conditions.size(); ++i) {
    Rule& one = rules.emplace_back(rule);
    one.pattern = Resolve(rule, sides->fields[i]);
    RELAYVM_RETURN_IF_ERROR(FindResults(m, parsed, i, one));
    AddRoots(one, one.pattern, one.roots);
    AddNeeds(one, one.pattern, one.needs);
    if (one.roots.any) {
      return Wrong(m, parsed.sides[i],
                   fmt::format("rule @{}: expected a pattern that is an operator call", rule.name));
    }
    const std::set<uint32_t> parts = Parts(one, one.pattern);
    one.conditions = parsed.conditions[i];
    one.num_formulas = conditions + SizeOf(one.conditions);
    size += replacement + SizeOf(one, parts) + one.num_formulas + one.roots.ops.size();
    if (size > kMaxSize) return TooLarge(m, parsed, i, size);
    one.label = parsed.labels[i];
    if (one.label.empty() && one.roots.ops.size() == 1) one.label = (*one.roots.ops.begin())->name;
    if (has_replacement) RELAYVM_RETURN_IF_ERROR(CheckReplacement(m, one, replaced, parts));
    RELAYVM_RETURN_IF_ERROR(CheckFormulas(m, one, replaced, parts));
    if (!has_replacement) continue;
    FindNew(one, made, parts);
    FindLike(one);
    RELAYVM_RETURN_IF_ERROR(CheckAttributes(m, one));
    if (check_types) RELAYVM_RETURN_IF_ERROR(types.Check(one, i));
  }
  return rules;
}

std::shared_ptr<const RuleSet> Indexed(RuleSet set) {
  for (size_t i = 0; i < set.rules.size(); ++i) {
    for (const OpDef* op : set.rules[i].roots.ops) set.by_root[op].push_back(i);
  }
  for (auto& [op, order] : set.by_root) {
    std::ranges::stable_sort(
        order, [&](size_t a, size_t b) { return set.rules[a].benefit > set.rules[b].benefit; });
  }
  return std::make_shared<const RuleSet>(std::move(set));
}

// Rules or patterns, as `wanted` says, and parts.
Result<std::shared_ptr<const RuleSet>> ReadDefinitions(const frontend::ParsedRules& parsed,
                                                       frontend::ParsedRule::Kind wanted,
                                                       bool check_types) {
  using Kind = frontend::ParsedRule::Kind;
  return ir::WithLargeStack([&]() -> Result<std::shared_ptr<const RuleSet>> {
    RuleSet set;
    for (const frontend::ParsedRule& p : parsed.rules) {
      if (p.kind != Kind::kPart && p.kind != wanted) {
        return Wrong(parsed.module, p.span,
                     wanted == Kind::kRule
                         ? fmt::format("pattern @{} has no replacement: expected rules", p.name)
                         : fmt::format("rule @{} has a replacement: expected patterns", p.name));
      }
      RELAYVM_ASSIGN_OR_RETURN(std::vector<Rule> rules,
                               MakeRules(parsed.module, p, set.parts, check_types));
      if (p.kind == Kind::kPart) {
        set.parts[p.name] = MakePart(p.name, std::move(rules));
      } else {
        std::ranges::move(rules, std::back_inserter(set.rules));
      }
    }
    set.owners.push_back(parsed.module);
    return Indexed(std::move(set));
  });
}

}  // namespace

Result<std::shared_ptr<const RuleSet>> ReadRules(const std::string& name, std::string text,
                                                 const CustomOperators& operators,
                                                 bool check_types) {
  RELAYVM_ASSIGN_OR_RETURN(const frontend::ParsedRules parsed,
                           frontend::ParseRules(name, std::move(text), operators));
  return ReadDefinitions(parsed, frontend::ParsedRule::Kind::kRule, check_types);
}

Result<std::shared_ptr<const RuleSet>> ReadPatterns(const std::string& name, std::string text) {
  RELAYVM_ASSIGN_OR_RETURN(const frontend::ParsedRules parsed,
                           frontend::ParseRules(name, std::move(text)));
  return ReadDefinitions(parsed, frontend::ParsedRule::Kind::kPattern, false);
}

std::shared_ptr<const RuleSet> Join(const std::vector<std::shared_ptr<const RuleSet>>& sets) {
  RuleSet all;
  for (const auto& set : sets) {
    all.rules.insert(all.rules.end(), set->rules.begin(), set->rules.end());
    all.owners.insert(all.owners.end(), set->owners.begin(), set->owners.end());
  }
  return Indexed(std::move(all));
}

}  // namespace relayvm::rules

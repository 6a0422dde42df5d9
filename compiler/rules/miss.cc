#include "compiler/rules/miss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "compiler/rules/pattern.h"

namespace relayvm::rules {
namespace {

using frontend::Formula;
using Kind = Formula::Kind;

constexpr std::string_view kBindsConstants = "--params FILE binds parameters by name";

const ir::OpCall* RootOf(const Rule& rule) {
  const ir::Var* v = ir::AsVar(Resolve(rule, rule.pattern));
  const auto node = v == nullptr ? rule.graph->nodes.end() : rule.graph->nodes.find(v->id);
  return node == rule.graph->nodes.end() ? nullptr : node->second->As<ir::OpCall>();
}

// "data_layout of nn.conv2d": the attribute that a name stands for, of the root's before others; or
// the field of a tuple.
std::string AttributeNamed(const Rule& rule, const std::string& variable) {
  const auto in = [&](const ir::OpCall& call) -> std::string {
    for (const AttrValue& v : SaidOf(call, frontend::kFormulasAttr)) {
      const auto& [name, formula] = FormulaOf(rule, v);
      if (formula.kind == Kind::kVariable && formula.name == variable)
        return fmt::format("{} of {}", name, call.op->name);
    }
    return "";
  };
  std::string found;
  if (const ir::OpCall* root = RootOf(rule)) found = in(*root);
  for (const auto& [id, node] : rule.graph->nodes) {
    const auto* call = node->As<ir::OpCall>();
    if (found.empty() && call != nullptr) found = in(*call);
  }
  if (!found.empty()) return found;
  for (const auto& [id, node] : rule.graph->nodes) {
    const Formula* field = OpenField(rule, *node);
    if (field != nullptr && field->name == variable)
      return fmt::format("the tuple's field that is {}", variable);
  }
  return "$" + variable;
}

class ConditionText {
 public:
  ConditionText(const FormulaScope& scope, const Surroundings& around)
      : scope_(scope), around_(around) {}

  std::string Recipe(const Formula& condition) {
    const std::string wish = Wish(condition);
    const std::string constant = Constant();
    return constant.empty() ? fmt::format("make {}{}", wish, Hint()) : constant;
  }

 private:
  // Formulas of a file are as deep as its parser lets them be.
  std::string Say(const Formula& f) {
    if (f.kind == Kind::kValue) return ToText(f.value);
    if (f.kind == Kind::kVariable) {
      abouts_.insert(About::kAttribute);
      return AttributeNamed(scope_.rule, f.name);
    }
    if (f.kind == Kind::kHole) {
      holes_.push_back(f.name);
      return WhoIs(scope_.rule, f.name);
    }
    const Words words = WordsOf(f.name);
    abouts_.insert(words.about);
    std::vector<std::string> parts;
    for (const Formula& arg : f.args) parts.push_back(Say(arg));
    if (f.name == "list") return fmt::format("[{}]", fmt::join(parts, ", "));
    std::string text;
    for (size_t i = 0; i < words.text.size(); ++i) {
      const bool is_place = words.text[i] == '{' && i + 2 < words.text.size();
      const auto at = is_place ? static_cast<size_t>(words.text[i + 1] - '0') : 0;
      text += is_place && at < parts.size() ? parts[at] : std::string(1, words.text[i]);
      if (is_place) i += 2;
    }
    return text;
  }

  std::optional<AttrValue> Value(const Formula& f) const {
    return f.kind == Kind::kHole ? std::nullopt : Evaluate(f, scope_, nullptr);
  }
  // What it is here, and where that comes from.
  std::string Wanted(const Formula& f) {
    const auto value = Value(f);
    if (f.kind == Kind::kValue || !value) return Say(f);
    return fmt::format("{} ({})", ToText(*value), Say(f));
  }

  std::string Wish(const Formula& f) {
    if (f.kind != Kind::kCall || f.args.size() != 2) return Say(f);
    constexpr std::pair<std::string_view, std::string_view> kComparisons[] = {
        {"==", "equal to"}, {"!=", "other than"}, {"<", "less than"},
        {"<=", "at most"},  {">", "more than"},   {">=", "at least"}};
    if (f.name == "is_in") {
      const std::string subject = Say(f.args[0]);
      const auto list = Value(f.args[1]);
      const auto* values = list ? std::get_if<AttrList>(&list->value) : nullptr;
      if (values == nullptr) return fmt::format("{} one of {}", subject, Say(f.args[1]));
      std::vector<std::string> texts;
      for (const AttrValue& v : *values) {
        if (std::ranges::count(texts, ToText(v)) == 0) texts.push_back(ToText(v));
      }
      return fmt::format("{} {}", subject, fmt::join(texts, " or "));
    }
    for (const auto& [sign, words] : kComparisons) {
      if (f.name != sign) continue;
      const std::string subject = Say(f.args[0]);
      const bool is_value = f.args[1].kind == Kind::kValue && sign == "==";
      return is_value ? fmt::format("{} {}", subject, ToText(f.args[1].value))
                      : fmt::format("{} {} {}", subject, words, Wanted(f.args[1]));
    }
    return Say(f);
  }

  // Where it asks for a constant that is none.
  std::string Constant() const {
    if (!abouts_.contains(About::kConstant)) return "";
    for (const std::string& name : holes_) {
      const auto hole = std::ranges::find_if(
          scope_.rule.graph->holes, [&](const auto& one) { return one.second->name == name; });
      const auto image = hole == scope_.rule.graph->holes.end() ? scope_.images.end()
                                                                : scope_.images.find(hole->first);
      if (image == scope_.images.end()) continue;
      const ir::Atom at = Follow(around_, image->second, /*through_statements=*/true);
      if (!std::holds_alternative<const ir::Constant*>(at))
        return ConstantMiss(WhoIs(scope_.rule, name), at, around_).recipe;
    }
    return "";
  }

  std::string Hint() const {
    if (abouts_.contains(About::kAttribute)) return " in the model";
    if (abouts_.contains(About::kDType)) return ": cast it, or convert the model";
    if (!abouts_.contains(About::kShape)) return "";
    return ": reshape or broadcast it; sizes that are open may be stated (--shape)";
  }

  const FormulaScope& scope_;
  const Surroundings& around_;
  std::vector<std::string> holes_;  // that were said
  std::set<About> abouts_;
};

}  // namespace

std::string NameOf(const ir::Atom& a) {
  const ir::Var* v = ir::AsVar(a);
  if (v == nullptr) return "the operand";
  return v->name.empty() ? "a value" : "%" + v->name;
}

std::string WhatIs(const ir::Expr* e) {
  if (e == nullptr) return "a parameter or a constant";
  if (const auto* call = e->As<ir::OpCall>()) return call->op->name;
  if (e->As<ir::MakeTuple>() != nullptr) return "a tuple";
  if (e->As<ir::TupleGet>() != nullptr) return "a tuple's field";
  if (e->As<ir::CallExpr>() != nullptr) return "a part";
  return "another expression";
}

std::string WhoIs(const Rule& rule, const std::string& hole) {
  const ir::OpCall* root = RootOf(rule);
  if (hole.starts_with('@'))
    return root == nullptr ? "the result" : "the result of " + root->op->name;
  for (size_t i = 0; root != nullptr && i < root->args.size(); ++i) {
    const ir::Var* v = ir::AsVar(Resolve(rule, root->args[i]));
    if (v != nullptr && v->name == hole && rule.graph->holes.contains(v->id))
      return fmt::format("operand {} of {}", i + 1, root->op->name);
  }
  return "%" + hole;
}

Why ConditionMiss(const Formula& condition, const FormulaScope& scope, const Surroundings& around,
                  std::string reason) {
  if (reason.empty()) reason = WhyNot(condition, scope);
  return {std::move(reason), ConditionText(scope, around).Recipe(condition), true};
}

Why AttributeMiss(const std::string& op, const std::string& name, const std::string& comparison,
                  const AttrValue& value, const AttrValue* found) {
  const bool is_equal = comparison == "=" || comparison == "==";
  return {fmt::format("{}: attribute {}: expected {} {}, found {}", op, name, comparison,
                      ToText(value), found == nullptr ? "none" : ToText(*found)),
          fmt::format("make {} of {} {}{} in the model", name, op,
                      is_equal ? std::string() : comparison + " ", ToText(value)),
          true};
}

Why ConstantMiss(const std::string& who, const ir::Atom& found, const Surroundings& around) {
  const ir::Var* v = ir::AsVar(found);
  const auto at = v == nullptr ? around.definitions.end() : around.definitions.find(v->id);
  const std::string name = v == nullptr || v->name.empty() ? "" : " (%" + v->name + ")";
  return {fmt::format("{} is not a constant", who),
          at == around.definitions.end()
              ? fmt::format("make {}{} a constant: write it into the model; {}; --overridable none "
                            "keeps an ONNX model's initializers",
                            who, name, kBindsConstants)
              : fmt::format("make {}{}, which {} computes, a constant: what depends on constants "
                            "alone is folded; {}",
                            who, name, WhatIs(at->second.value), kBindsConstants),
          true};
}

Why NumberMiss(const HostTensor& number, const ir::Atom& found, bool is_constant) {
  return {NameOf(found) + (is_constant ? " is not the pattern's number" : " is not a constant"),
          fmt::format("make {} the pattern's number of {}, as a constant{}", NameOf(found),
                      DTypeName(number.dtype),
                      is_constant ? std::string() : fmt::format(": {}", kBindsConstants))};
}

Why TypeMiss(const std::string& who, const ir::Type& expected, const ir::Type& found) {
  return {fmt::format("{}: expected {}, found {}", who, ir::TypeToString(expected),
                      ir::TypeToString(found)),
          fmt::format("make {} of type {}: cast or reshape it, or convert the model", who,
                      ir::TypeToString(expected)),
          true};
}

Why OperatorMiss(const ir::Atom& at, const std::string& expected, const ir::Expr* found) {
  return {fmt::format("{}: expected {}, found {}", NameOf(at), expected, WhatIs(found)),
          fmt::format("compute {} by {}: the pattern goes on there", NameOf(at), expected)};
}

bool Miss::IsNearerThan(const Miss& other) const {
  if (other.reason.empty()) return true;
  if (!prefers_conditions) return reached > other.reached;
  const auto rank = [](const Miss& m) {
    return std::tuple(m.is_condition, m.is_whole, m.required > 0, m.reached);
  };
  return rank(*this) > rank(other);
}

void NoteMiss(const ir::Module& m, const Rule& rule, const ir::Binding& at, const Miss& miss,
              Report* report) {
  constexpr size_t kMaxMisses = 1000;
  if (report->misses.size() >= kMaxMisses) return;
  const std::string place = m.sources->Place(at.value->span);
  report->misses.push_back(fmt::format(
      "{}: {} @{} ({}) is not applied: {}", place.empty() ? "a call made by a rewrite" : place,
      rule.is_pattern ? "pattern" : "rule", rule.name, rule.place, miss.reason));
}

}  // namespace relayvm::rules

#include "compiler/rules/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/ir/walk.h"
#include "compiler/rules/formula.h"

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
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (std::memcmp(elements.data() + static_cast<size_t>(i) * bytes, one.data(), bytes) != 0)
      return false;
  }
  return true;
}

// The type of a hole takes the type: `?` any dim.
bool Takes(const ir::Type& hole, const ir::Type& type) {
  if (const auto* tensor = hole->As<TensorType>()) {
    const auto* found = type->As<TensorType>();
    if (found == nullptr || found->dtype != tensor->dtype ||
        found->shape.size() != tensor->shape.size())
      return false;
    for (size_t i = 0; i < found->shape.size(); ++i) {
      if (tensor->shape[i].is_const() && !(tensor->shape[i] == found->shape[i])) return false;
    }
    return true;
  }
  const auto* tuple = hole->As<ir::TupleType>();
  const auto* found = type->As<ir::TupleType>();
  if (tuple == nullptr || found == nullptr || tuple->fields.size() != found->fields.size())
    return tuple == nullptr && found == nullptr && ir::TypeEquals(hole, type);
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    if (!Takes(tuple->fields[i], found->fields[i])) return false;
  }
  return true;
}

std::string NameOf(const Atom& a) {
  const ir::Var* v = ir::AsVar(a);
  if (v == nullptr) return "the operand";
  return v->name.empty() ? "a value" : "%" + v->name;
}

std::string WhatIs(const ir::Expr* e) {
  if (e == nullptr) return "a parameter or a constant";
  if (const auto* call = e->As<ir::OpCall>()) return call->op->name;
  if (e->As<ir::MakeTuple>() != nullptr) return "a tuple";
  if (e->As<ir::TupleGet>() != nullptr) return "a tuple's field";
  return "another expression";
}

class Matcher {
 public:
  Matcher(const ir::Module& m, const Rule& rule, const Definition& root, const Surroundings& around,
          Miss* miss)
      : m_(m), rule_(rule), root_(root), around_(around), miss_(miss) {}

  std::optional<Match> Run() {
    const ir::Var* pattern = ir::AsVar(rule_.pattern);
    match_.images.emplace(pattern->id, Atom(root_.var));
    if (!Value(*rule_.nodes.at(pattern->id), *root_.value) || !Conditions() || !IsUnused())
      return std::nullopt;
    return std::move(match_);
  }

 private:
  template <typename F>
  bool Fail(const F& reason) {
    if (miss_ != nullptr) *miss_ = {match_.values.size(), reason()};
    return false;
  }

  // Recurses with the pattern, which has kMaxNodes nodes at most.
  bool Operand(const Atom& part, const Atom& found) {
    const Atom pattern = Resolve(rule_, part);
    const auto* number = std::get_if<const ir::Constant*>(&pattern);
    if (number != nullptr) return Number(**number, found);
    const ir::Var* v = ir::AsVar(pattern);
    if (const auto known = match_.images.find(v->id); known != match_.images.end()) {
      return Same(known->second, found) ||
             Fail([&] { return fmt::format("%{} stands for two different values", v->name); });
    }
    if (const auto hole = rule_.holes.find(v->id); hole != rule_.holes.end())
      return Hole(*hole->second, found);
    // Along the definitions, each of which only this use may have.
    Atom at = found;
    while (true) {
      const ir::Var* var = ir::AsVar(at);
      const auto d = var == nullptr ? around_.definitions.end() : around_.definitions.find(var->id);
      const ir::Expr& wanted = *rule_.nodes.at(v->id);
      if (d == around_.definitions.end()) {
        return Fail([&] {
          return fmt::format("{}: expected {}, found {}", NameOf(at), WhatIs(&wanted),
                             WhatIs(nullptr));
        });
      }
      if (d->second.function != root_.function && rule_.computes()) {
        return Fail([&] { return NameOf(at) + " is computed outside of this function"; });
      }
      match_.inside.push_back(var);
      const ir::Expr& value = *d->second.value;
      const auto* alias = value.As<ir::AtomExpr>();
      const auto* stated = value.As<ir::Stated>();
      if (alias == nullptr && stated == nullptr) {
        match_.images.emplace(v->id, Atom(var));
        return Value(wanted, value);
      }
      match_.values.push_back(&value);
      at = alias != nullptr ? alias->atom : stated->value;
    }
  }

  bool Number(const ir::Constant& number, const Atom& found) {
    const Atom at = Follow(around_, found, true);
    const auto* constant = std::get_if<const ir::Constant*>(&at);
    return (constant != nullptr && IsMadeOf((*constant)->value, number.value)) || Fail([&] {
             return NameOf(found) +
                    (constant == nullptr ? " is not a constant" : " is not the pattern's number");
           });
  }

  bool Same(const Atom& a, const Atom& b) const {
    const Atom x = Follow(around_, a, true), y = Follow(around_, b, true);
    const auto* one = std::get_if<const ir::Constant*>(&x);
    const auto* other = std::get_if<const ir::Constant*>(&y);
    return x == y ||
           (one != nullptr && other != nullptr && IsMadeOf((*one)->value, (*other)->value) &&
            (*one)->value.shape == (*other)->value.shape);
  }

  bool Hole(const ir::Var& hole, const Atom& found) {
    const Atom at = Follow(around_, found, false);
    if (rule_.constants.contains(&hole) && !std::holds_alternative<const ir::Constant*>(at))
      return Fail([&] { return fmt::format("%{} is not a constant", hole.name); });
    const ir::Type type = ir::AtomType(m_, at);
    if (hole.type != nullptr && !Takes(hole.type, type)) {
      return Fail([&] {
        return fmt::format("%{}: expected {}, found {}", hole.name, ir::TypeToString(hole.type),
                           ir::TypeToString(type));
      });
    }
    match_.images.emplace(hole.id, at);
    return true;
  }

  bool Value(const ir::Expr& wanted, const ir::Expr& found) {
    const auto differs = [&] {
      return Fail(
          [&] { return fmt::format("expected {}, found {}", WhatIs(&wanted), WhatIs(&found)); });
    };
    std::vector<Atom> operands, others;
    if (const auto* call = wanted.As<ir::OpCall>()) {
      const auto* other = found.As<ir::OpCall>();
      if (other == nullptr || other->op != call->op) return differs();
      if (!Attributes(*call, *other)) return false;
    } else if (wanted.As<ir::MakeTuple>() != nullptr) {
      if (found.As<ir::MakeTuple>() == nullptr) return differs();
    } else {
      const auto* field = found.As<ir::TupleGet>();
      if (field == nullptr || field->index != wanted.As<ir::TupleGet>()->index) return differs();
    }
    ir::ForEachAtom(wanted, [&](const Atom& a) { operands.push_back(a); });
    ir::ForEachAtom(found, [&](const Atom& a) { others.push_back(a); });
    if (operands.size() != others.size()) {
      return Fail([&] {
        return fmt::format("{}: expected {} operands, found {}", WhatIs(&found), operands.size(),
                           others.size());
      });
    }
    match_.values.push_back(&found);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!Operand(operands[i], others[i])) return false;
    }
    return true;
  }

  bool Attributes(const ir::OpCall& wanted, const ir::OpCall& found) {
    const auto fails = [&](const std::string& name, const std::string& comparison,
                           const AttrValue& value) {
      return Fail([&] {
        const AttrValue* at = found.attrs.Find(name);
        return fmt::format("{}: attribute {}: expected {} {}, found {}", found.op->name, name,
                           comparison, ToText(value), at == nullptr ? "none" : ToText(*at));
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
      const auto& [name, formula] = FormulaOf(rule_, v);
      const AttrValue* other = found.attrs.Find(name);
      const AttrValue value = other == nullptr ? AttrValue() : *other;
      const auto [known, is_new] = match_.variables.emplace(formula.name, value);
      if (!is_new && !(known->second == value)) return fails(name, "=", known->second);
    }
    return true;
  }

  bool Conditions() {
    for (const frontend::Formula& condition : rule_.conditions) {
      std::string reason = ToText(condition) + " does not hold";
      const auto value = Evaluate(condition, {m_, rule_, match_.variables, match_.images},
                                  miss_ == nullptr ? nullptr : &reason);
      const bool* holds = value ? std::get_if<bool>(&value->value) : nullptr;
      if (holds == nullptr || !*holds) return Fail([&] { return reason; });
    }
    return true;
  }

  // What the replacement does not compute again, or nobody else needs.
  bool IsUnused() {
    if (!rule_.computes()) return true;
    std::map<uint32_t, int64_t> own;
    for (const ir::Expr* e : match_.values) {
      ir::ForEachAtom(*e, [&](const Atom& a) {
        if (const ir::Var* v = ir::AsVar(a)) ++own[v->id];
      });
    }
    for (const ir::Var* v : match_.inside) {
      const auto uses = around_.uses.find(v->id);
      const int64_t others = (uses == around_.uses.end() ? 0 : uses->second) - own[v->id];
      if (others <= 0 || IsKept(*v)) continue;
      return Fail([&] {
        const ir::Expr& e = *around_.definitions.at(v->id).value;
        return fmt::format("{} ({}) has {} other use{}", NameOf(Atom(v)), WhatIs(&e), others,
                           others == 1 ? "" : "s");
      });
    }
    return true;
  }

  // The replacement uses that very value.
  bool IsKept(const ir::Var& v) const {
    for (const ir::Var* node : rule_.order) {
      const auto image = match_.images.find(node->id);
      if (image == match_.images.end() || !(image->second == Atom(&v))) continue;
      if (rule_.kept.contains(node->id)) return true;
    }
    return false;
  }

  const ir::Module& m_;
  const Rule& rule_;
  const Definition& root_;
  const Surroundings& around_;
  Miss* miss_;
  Match match_;
};

}  // namespace

const AttrList& SaidOf(const ir::OpCall& call, const char* name) {
  static const AttrList kNothing;
  const AttrValue* said = call.attrs.Find(name);
  return said == nullptr ? kNothing : std::get<AttrList>(said->value);
}

std::pair<std::string, const frontend::Formula&> FormulaOf(const Rule& rule,
                                                           const AttrValue& said) {
  const AttrList& parts = std::get<AttrList>(said.value);
  const auto position = static_cast<size_t>(std::get<Dim>(parts[1].value).value());
  return {std::get<std::string>(parts[0].value), rule.formulas->at(position)};
}

Attrs OperatorAttrs(const ir::OpCall& call, const Attrs* like) {
  const auto is_of_operator = [](const std::string& name) {
    return name != frontend::kWrittenAttr && name != frontend::kConditionsAttr &&
           name != frontend::kFormulasAttr;
  };
  Attrs result;
  for (const auto& [name, value] : call.attrs.values()) {
    if (is_of_operator(name)) result.Set(name, value);
  }
  if (like == nullptr) return result;
  const AttrList& written = SaidOf(call, frontend::kWrittenAttr);
  for (const auto& [name, value] : like->values()) {
    if (is_of_operator(name) && std::ranges::find(written, AttrValue(name)) == written.end())
      result.Set(name, value);
  }
  return result;
}

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
                               const Surroundings& around, Miss* miss) {
  return Matcher(m, rule, root, around, miss).Run();
}

}  // namespace relayvm::rules

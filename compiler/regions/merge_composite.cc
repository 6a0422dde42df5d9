#include "compiler/regions/merge_composite.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"
#include "compiler/rules/replace.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/resolve_aliases.h"

namespace relayvm::regions {
namespace {

using ir::Atom;
using ir::Binding;

// Makes the literal and its call, of one match.
class CompositeWriter {
 public:
  explicit CompositeWriter(const rules::Place& place)
      : place_(place), m_(place.module), whole_(WholeStep(place.match)) {
    for (const ir::Var* v : place.match.inside) inside_.insert(v->id);
    const auto note = [&](const Atom& a) {
      const Atom from = rules::Follow(place.around, a, /*through_statements=*/true);
      if (const auto* c = std::get_if<const ir::Constant*>(&from)) operands_.insert(*c);
    };
    const std::vector<const rules::Step*> steps = place.match.OwnSteps();
    if (whole_ != nullptr) {
      std::ranges::for_each(whole_->Operands(0), note);
      return;
    }
    ir::ForEachAtom(*steps.back()->value, note);
    for (const rules::Step* step : steps) std::ranges::for_each(step->Operands(), note);
  }

  void Write(const std::string& name, std::vector<Binding>& out) {
    const ir::Span span = place_.root.value->span;
    const Atom result = Copy(place_.root.var, *place_.root.value);
    const std::vector<const ir::Var*> results = Results(result);
    ir::Function f;
    f.attrs = {{ir::kCompositeAttr, name}, {"PartitionedFromPattern", name}};
    if (whole_ == nullptr) {
      f.attrs[kStepsAttr] = Steps();
    } else {
      f.attrs[kWholeAttr] = Whole();
    }
    f.params = std::move(params_);
    f.result_type = ir::AtomType(m_, body_.result);
    f.span = span;
    f.body = m_.arena->New<ir::Block>(std::move(body_));
    const ir::Function* literal = m_.arena->New<ir::Function>(std::move(f));
    const ir::Var* callee = ir::MakeVar(m_, "", ir::FunctionTypeOf(*literal), span);
    out.push_back({callee, ir::MakeExpr(m_, ir::FunctionExpr{literal}, span)});
    const ir::Expr* call = ir::MakeExpr(m_, ir::CallExpr{callee, std::move(args_), {}}, span);
    if (results.size() == 1) {
      out.push_back({place_.root.var, call});
      return;
    }
    const ir::Var* all = ir::MakeVar(m_, "", literal->result_type, span);
    out.push_back({all, call});
    for (uint32_t i = 0; i < results.size(); ++i)
      out.push_back({results[i], ir::MakeExpr(m_, ir::TupleGet{all, i}, span)});
  }

 private:
  // What the composite gives, of the copy of the root: sets the body's result.
  std::vector<const ir::Var*> Results(const Atom& root) {
    std::vector<const ir::Var*> results = {place_.root.var};
    body_.result = root;
    if (place_.match.results.empty()) return results;
    ir::MakeTuple tuple{{root}};
    ir::TupleType type{{place_.root.var->type}};
    for (const ir::Var* v : place_.match.results) {
      results.push_back(v);
      tuple.fields.push_back(Operand(v));
      type.fields.push_back(v->type);
    }
    const ir::Var* all =
        ir::MakeVar(m_, "", ir::MakeType(std::move(type)), place_.root.value->span);
    body_.bindings.push_back({all, ir::MakeExpr(m_, std::move(tuple), all->span)});
    body_.result = all;
    return results;
  }

  // What is inside first, so that parameters are in the order of the steps. Recurses with the depth
  // of the pattern.
  Atom Copy(const ir::Var* var, const ir::Expr& value) {
    ir::ForEachAtom(value, [&](const Atom& a) {
      const ir::Var* v = ir::AsVar(rules::Follow(place_.around, a, /*through_statements=*/true));
      if (v != nullptr && inside_.contains(v->id)) Operand(v);
    });
    const ir::Expr* e = ir::MapAtoms(m_, &value, [&](const Atom& a) { return Operand(a); });
    const ir::Var* copy = ir::MakeVar(m_, var->name, var->type, var->span);
    body_.bindings.push_back({copy, e});
    map_.emplace(var->id, copy);
    return copy;
  }

  // Of each step upon the innermost one.
  AttrList Steps() const {
    AttrList all;
    const std::vector<const rules::Step*> steps = place_.match.OwnSteps();
    for (auto step = steps.rbegin() + 1; step != steps.rend(); ++step) {
      AttrList inputs, numbers;
      for (const Atom& a : (*step)->Operands()) inputs.push_back(NumberOf(a));
      all.emplace_back(AttrList{(*step)->way->label, std::move(inputs), Numbers(**step)});
    }
    return all;
  }
  AttrList Whole() const {
    AttrList names, inputs;
    for (const auto& [name, a] : NamedOperands(*whole_)) {
      names.emplace_back(name);
      inputs.push_back(NumberOf(a));
    }
    return {whole_->way->label, std::move(names), std::move(inputs), Numbers(*whole_)};
  }
  // Of the parameter that stands for it.
  AttrValue NumberOf(const Atom& a) const {
    const Atom from = rules::Follow(place_.around, a, /*through_statements=*/true);
    const ir::Var* v = ir::AsVar(from);
    const Atom param =
        v == nullptr ? Atom(constants_.at(std::get<const ir::Constant*>(from))) : map_.at(v->id);
    return static_cast<int64_t>(std::ranges::find(params_, ir::AsVar(param)) - params_.begin());
  }
  static AttrList Numbers(const rules::Step& step) {
    AttrList numbers;
    for (const auto& [name, value] : step.variables) {
      numbers.emplace_back(name);
      numbers.push_back(value);
    }
    return numbers;
  }

  // MapAtoms may ask twice.
  Atom Operand(const Atom& a) {
    const Atom from = rules::Follow(place_.around, a, /*through_statements=*/true);
    const ir::Var* v = ir::AsVar(from);
    if (v == nullptr) {
      const auto* constant = std::get_if<const ir::Constant*>(&from);
      if (constant == nullptr ||
          ((*constant)->value.shape.empty() && !operands_.contains(*constant)))
        return from;
      const auto [at, inserted] = constants_.try_emplace(*constant);
      if (inserted) at->second = Parameter(from);
      return at->second;
    }
    if (const auto at = map_.find(v->id); at != map_.end()) return at->second;
    if (inside_.contains(v->id)) {
      const rules::Definition& definition = place_.around.definitions.at(v->id);
      return Copy(definition.var, *definition.value);
    }
    const ir::Var* param = Parameter(a);
    map_.emplace(v->id, param);
    return param;
  }

  const ir::Var* Parameter(const Atom& a) {
    const ir::Var* v = ir::AsVar(a);
    const ir::Var* param =
        ir::MakeVar(m_, v == nullptr ? "" : v->name, ir::AtomType(m_, a), place_.root.value->span);
    params_.push_back(param);
    args_.push_back(a);
    return param;
  }

  const rules::Place& place_;
  const ir::Module& m_;
  const rules::Step* whole_;
  std::unordered_set<uint32_t> inside_;
  std::unordered_set<const ir::Constant*> operands_;  // parameters, of numbers too
  std::unordered_map<uint32_t, Atom> map_;
  std::unordered_map<const ir::Constant*, const ir::Var*> constants_;
  std::vector<const ir::Var*> params_;
  std::vector<Atom> args_;
  ir::Block body_;
};

}  // namespace

bool IsComposite(const rules::Match& match) {
  return match.OwnSteps().size() > 1 || WholeStep(match) != nullptr;
}

const rules::Step* WholeStep(const rules::Match& match) {
  const std::vector<const rules::Step*> steps = match.OwnSteps();
  const auto operators = std::ranges::count_if(
      match.values, [](const ir::Expr* e) { return e->As<ir::OpCall>() != nullptr; });
  return steps.size() == 1 && operators > 1 ? steps[0] : nullptr;
}

std::vector<std::pair<std::string, ir::Atom>> NamedOperands(const rules::Step& step) {
  std::vector<std::pair<std::string, ir::Atom>> named;
  for (const ir::Var* p : step.way->graph->params) {
    if (const auto image = step.images.find(p->id); image != step.images.end())
      named.emplace_back(p->name, image->second);
  }
  return named;
}

std::string CompositeName(const rules::Match& match) {
  std::string name;
  const std::vector<const rules::Step*> steps = match.OwnSteps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    name += (name.empty() ? "" : "_") + (*step)->way->label;
  return name;
}

ir::Module MergeComposite(const ir::Module& m, const std::string& engine,
                          const rules::RuleSet& patterns, rules::Report* report) {
  const auto make = [&](const rules::Place& place, std::vector<Binding>& out, std::string*) {
    if (!IsComposite(place.match)) return false;
    CompositeWriter(place).Write(engine + "." + CompositeName(place.match), out);
    return true;
  };
  // What composites compute stands there still. Another name of a result may be read before it.
  return ir::EliminateDeadCode(
      rules::ReplacePatterns(ir::ResolveAliases(m), patterns, make, report));
}

}  // namespace relayvm::regions

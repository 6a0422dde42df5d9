#include "compiler/regions/merge_composite.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"
#include "compiler/rules/replace.h"
#include "compiler/transforms/simplify/dead_code.h"

namespace relayvm::regions {
namespace {

using ir::Atom;
using ir::Binding;

// Makes the literal and its call, of one match.
class CompositeWriter {
 public:
  explicit CompositeWriter(const rules::Place& place) : place_(place), m_(place.module) {
    for (const ir::Var* v : place.match.inside) inside_.insert(v->id);
    const auto note = [&](const Atom& a) {
      const Atom from = rules::Follow(place.around, a, /*through_statements=*/true);
      if (const auto* c = std::get_if<const ir::Constant*>(&from)) operands_.insert(*c);
    };
    const std::vector<const rules::Step*> steps = place.match.OwnSteps();
    ir::ForEachAtom(*steps.back()->value, note);
    for (const rules::Step* step : steps) std::ranges::for_each(step->Operands(), note);
  }

  void Write(const std::string& name, std::vector<Binding>& out) {
    const ir::Span span = place_.root.value->span;
    const Atom result = Copy(place_.root.var, *place_.root.value);
    body_.result = result;
    ir::Function f;
    const AttrList steps = Steps();
    f.params = std::move(params_);
    f.result_type = place_.root.var->type;
    f.attrs = {{ir::kCompositeAttr, name}, {"PartitionedFromPattern", name}, {kStepsAttr, steps}};
    f.span = span;
    f.body = m_.arena->New<ir::Block>(std::move(body_));
    const ir::Function* literal = m_.arena->New<ir::Function>(std::move(f));
    const ir::Var* callee = ir::MakeVar(m_, "", ir::FunctionTypeOf(*literal), span);
    out.push_back({callee, ir::MakeExpr(m_, ir::FunctionExpr{literal}, span)});
    out.push_back(
        {place_.root.var, ir::MakeExpr(m_, ir::CallExpr{callee, std::move(args_), {}}, span)});
  }

 private:
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
      for (const Atom& a : (*step)->Operands()) {
        const Atom from = rules::Follow(place_.around, a, /*through_statements=*/true);
        const ir::Var* v = ir::AsVar(from);
        const Atom param = v == nullptr ? Atom(constants_.at(std::get<const ir::Constant*>(from)))
                                        : map_.at(v->id);
        inputs.emplace_back(
            static_cast<int64_t>(std::ranges::find(params_, ir::AsVar(param)) - params_.begin()));
      }
      for (const auto& [name, value] : (*step)->variables) {
        numbers.emplace_back(name);
        numbers.push_back(value);
      }
      all.emplace_back(AttrList{(*step)->way->label, std::move(inputs), std::move(numbers)});
    }
    return all;
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
  std::unordered_set<uint32_t> inside_;
  std::unordered_set<const ir::Constant*> operands_;  // parameters, of numbers too
  std::unordered_map<uint32_t, Atom> map_;
  std::unordered_map<const ir::Constant*, const ir::Var*> constants_;
  std::vector<const ir::Var*> params_;
  std::vector<Atom> args_;
  ir::Block body_;
};

}  // namespace

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
    if (place.match.OwnSteps().size() < 2) return false;
    CompositeWriter(place).Write(engine + "." + CompositeName(place.match), out);
    return true;
  };
  // What composites compute stands there still.
  return ir::EliminateDeadCode(rules::ReplacePatterns(m, patterns, make, report));
}

}  // namespace relayvm::regions

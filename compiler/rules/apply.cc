#include <fmt/format.h>

#include <algorithm>

#include "bytecode/base/check_stop.h"
#include "compiler/ir/large_stack.h"
#include "compiler/ir/walk.h"
#include "compiler/rules/formula.h"
#include "compiler/rules/match.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/resolve_aliases.h"
#include "compiler/typing/op_typing.h"

namespace relayvm::rules {
namespace {

using ir::Atom;
using ir::Binding;

constexpr size_t kMaxRounds = 100;

// What the relation of a call asks for where a rule is applied. What only running tells is refused.
class Host final : public typing::OpHost {
 public:
  Host(const ir::Module& m, const std::vector<Atom>& args) : m_(m), args_(args) {}
  bool failed() const { return failed_; }

  std::vector<Dim> Elements(size_t i, int64_t size) override {
    std::vector<Dim> elements;
    if (const ir::Constant* c = ConstantArg(i)) {
      for (const int64_t v : typing::IntegerElements(c->value)) elements.emplace_back(v);
    } else if (const ir::Var* v = ir::AsVar(args_[i]);
               v != nullptr && m_.contents.contains(v->id)) {
      elements = m_.contents.at(v->id);
    } else {
      failed_ = true;
    }
    elements.resize(static_cast<size_t>(size));
    return elements;
  }
  Dim Element(size_t i, int64_t index) override { return Elements(i, index + 1).back(); }
  const ir::Constant* ConstantArg(size_t i) override {
    const auto* c = std::get_if<const ir::Constant*>(&args_[i]);
    return c == nullptr ? nullptr : *c;
  }
  Dim NewSymbol(std::string_view /*name*/) override {
    failed_ = true;
    return 0;
  }
  typing::Broadcasts& broadcasts() override { return broadcasts_; }

 private:
  const ir::Module& m_;
  const std::vector<Atom>& args_;
  typing::Broadcasts broadcasts_;
  bool failed_ = false;
};

ir::Type TypeOfResult(const OpResult& r) {
  std::vector<ir::Type> types;
  for (const TensorType& t : r.tensors) types.push_back(ir::MakeType(t));
  return r.is_tuple ? ir::MakeType(ir::TupleType{std::move(types)}) : types[0];
}

class Applier {
 public:
  // Takes from *goals_left, of the rounds together.
  Applier(const ir::Module& m, const RuleSet& rules, const ApplyOptions& options, Report* report,
          int64_t* goals_left)
      : m_(m), rules_(rules), options_(options), report_(report), goals_left_(goals_left) {
    around_.goals_left = *goals_left;
    CountUses();
    limit_ = kSlack + around_.definitions.size() + num_bindings_;
  }

  // nullopt: nothing applied.
  Result<std::optional<ir::Module>> Run() {
    ir::Module out = m_;
    bool changed = false;
    for (auto& [name, f] : out.functions) {
      if (ir::IsHostFunction(*f)) continue;
      const ir::Block* body = Rewrite(*f->body, ++num_functions_);
      if (!status_.ok()) return status_;
      if (body == f->body) continue;
      f = ir::WithBody(m_, *f, body);
      changed = true;
    }
    *goals_left_ = around_.goals_left;
    return changed ? std::optional(std::move(out)) : std::nullopt;
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  static constexpr size_t kSlack = 1000;
  static constexpr uint32_t kNoParent = UINT32_MAX;
  // A rule that was applied, and the one whose result it was applied to.
  struct Step {
    const Rule* rule;
    uint32_t parent;
    uint32_t depth;
  };
  struct Item {
    Binding binding;
    uint32_t step;
  };

  void CountUses() {
    const auto count = [&](const Atom& a) {
      if (const ir::Var* v = ir::AsVar(a)) ++around_.uses[v->id];
    };
    const std::function<void(const ir::Block&)> visit = [&](const ir::Block& block) {
      count(block.result);
      for (const Binding& b : block.bindings) {
        ++num_bindings_;
        ir::ForEachAtom(*b.value, count);
        ir::ForEachBlock(*b.value, visit);
      }
    };
    for (const auto& [name, f] : m_.functions) visit(*f->body);
    for (const auto& [id, symbol] : m_.symbols) ++around_.uses[symbol.value->id];
  }

  // Recurses with the nesting of blocks.
  const ir::Block* Rewrite(const ir::Block& block, uint32_t function) {
    ir::Block out;
    out.bindings.reserve(block.bindings.size());
    out.result = block.result;
    bool changed = false;
    for (const Binding& b : block.bindings) {
      if (!status_.ok()) return &block;
      const uint32_t inner =
          b.value->As<ir::FunctionExpr>() != nullptr ? ++num_functions_ : function;
      const ir::Expr* value = ir::MapBlocks(
          m_, b.value, [&](const ir::Block& nested) { return Rewrite(nested, inner); });
      changed = changed || value != b.value;
      std::vector<Item> open = {{{b.var, value}, kNoParent}};
      while (!open.empty() && status_.ok()) {
        const Item item = open.back();
        open.pop_back();
        if (Try(item, function, open)) {
          changed = true;
          continue;
        }
        around_.definitions[item.binding.var->id] = {item.binding.var, item.binding.value,
                                                     function};
        out.bindings.push_back(item.binding);
      }
    }
    return changed ? m_.arena->New<ir::Block>(std::move(out)) : &block;
  }

  bool Try(const Item& item, uint32_t function, std::vector<Item>& open) {
    const auto* call = item.binding.value->As<ir::OpCall>();
    if (call == nullptr) return false;
    const auto candidates = rules_.by_root.find(call->op);
    if (candidates == rules_.by_root.end()) return false;
    const Definition root{item.binding.var, item.binding.value, function};
    for (const size_t i : candidates->second) {
      const Rule& rule = rules_.rules[i];
      Miss miss;
      const auto match = MatchRule(m_, rule, root, around_, options_.explain ? &miss : nullptr);
      std::vector<Binding> made;
      if (match && Instantiate(rule, *match, item.binding, made, &miss.reason)) {
        Note(rule, item.step);
        if (!status_.ok()) return true;
        Replace(*item.binding.value, made);
        for (size_t k = made.size(); k-- > 0;)
          open.push_back({made[k], static_cast<uint32_t>(steps_.size() - 1)});
        return true;
      }
      if (options_.explain && report_ != nullptr) NoteMiss(m_, rule, item.binding, miss, report_);
    }
    return false;
  }

  // Those that a call of the replacement takes over; null: none.
  const Attrs* AttrsLike(const Rule& rule, const ir::Var& node, const Match& match,
                         const Binding& root) const {
    const auto like = rule.like.find(node.id);
    if (like == rule.like.end()) return nullptr;
    const ir::Var* found = ir::AsVar(match.images.at(like->second->id));
    const ir::Expr* value =
        found == root.var ? root.value : around_.definitions.at(found->id).value;
    const auto* call = value->As<ir::OpCall>();
    return call == nullptr ? nullptr : &call->attrs;
  }

  // The bindings of the replacement, the last of which binds the root's variable.
  bool Instantiate(const Rule& rule, const Match& match, const Binding& root,
                   std::vector<Binding>& made, std::string* reason) {
    std::map<uint32_t, Atom> images = match.images;
    const auto image = [&](const Atom& atom) -> Atom {
      const Atom a = Resolve(rule, atom);
      if (const auto* c = std::get_if<const ir::Constant*>(&a))
        return ir::MakeConstant(m_, (*c)->value);
      return images.at(ir::AsVar(a)->id);
    };
    for (const ir::Var* node : rule.new_nodes) {
      if (images.contains(node->id)) continue;
      const ir::Expr& e = *rule.graph->nodes.at(node->id);
      ir::Type type;
      const ir::Expr* value = nullptr;
      std::vector<Atom> operands;
      ir::ForEachAtom(e, [&](const Atom& a) { operands.push_back(image(a)); });
      if (const auto* call = e.As<ir::OpCall>()) {
        Attrs attrs = OperatorAttrs(*call, AttrsLike(rule, *node, match, root));
        if (!AddFormulas(rule, match, *call, &attrs, reason)) return false;
        type = TypeCall(*call->op, attrs, operands, reason);
        value =
            ir::MakeExpr(m_, ir::OpCall{call->op, operands, std::move(attrs)}, root.value->span);
      } else if (e.As<ir::MakeTuple>() != nullptr) {
        std::vector<ir::Type> fields;
        for (const Atom& a : operands) fields.push_back(ir::AtomType(m_, a));
        type = ir::MakeType(ir::TupleType{std::move(fields)});
        value = ir::MakeExpr(m_, ir::MakeTuple{operands}, root.value->span);
      } else {
        const uint32_t index = e.As<ir::TupleGet>()->index;
        const ir::Type tuple = ir::AtomType(m_, operands[0]);
        const auto* fields = tuple->As<ir::TupleType>();
        if (fields != nullptr && index < fields->fields.size()) type = fields->fields[index];
        value = ir::MakeExpr(m_, ir::TupleGet{operands[0], index}, root.value->span);
      }
      if (type == nullptr) return false;
      const ir::Var* var = ir::MakeVar(m_, "", type, root.value->span);
      images.emplace(node->id, Atom(var));
      made.push_back({var, value});
    }
    const Atom result = image(rule.replacement);
    const ir::Type type = ir::AtomType(m_, result);
    if (!ir::TypeEquals(type, root.var->type)) {
      *reason = fmt::format("the replacement's type: expected {}, found {}",
                            ir::TypeToString(root.var->type), ir::TypeToString(type));
      return false;
    }
    if (!made.empty() && result == Atom(made.back().var)) {
      made.back().var = root.var;
    } else {
      made.push_back({root.var, ir::MakeExpr(m_, ir::AtomExpr{result}, root.value->span)});
    }
    return true;
  }

  // The attributes that are formulas. False, and the reason, where they have no value here.
  bool AddFormulas(const Rule& rule, const Match& match, const ir::OpCall& call, Attrs* attrs,
                   std::string* reason) const {
    const AttrList& formulas = SaidOf(call, frontend::kFormulasAttr);
    if (formulas.empty()) return true;
    for (const AttrValue& said : formulas) {
      const auto& [name, formula] = FormulaOf(rule, said);
      const auto value = Evaluate(formula, {m_, rule, match.variables, match.images}, reason);
      if (!value) return false;
      attrs->Set(name, *value);
    }
    auto complete = CompleteAttrs(*call.op, *attrs);
    if (!complete.ok()) {
      *reason = "the replacement: " + complete.status().message();
      return false;
    }
    *attrs = *std::move(complete);
    return true;
  }

  // Null, and the reason, where it has none that is proved.
  ir::Type TypeCall(const OpDef& op, const Attrs& attrs, const std::vector<Atom>& args,
                    std::string* reason) {
    std::vector<ir::Type> types;
    for (const Atom& a : args) types.push_back(ir::AtomType(m_, a));
    if (op.is_identity) return types[0];
    auto arg_types = typing::ArgTypes(op, types);
    if (!arg_types.ok()) {
      *reason = arg_types.status().message();
      return nullptr;
    }
    Host host(m_, args);
    auto typed = typing::TypeOp(op, attrs, *arg_types, host);
    if (!typed.ok()) {
      *reason = "the replacement: " + typed.status().message();
      return nullptr;
    }
    if (host.failed() || !typed->guards.empty()) {
      *reason = fmt::format("the replacement: the type of {} is only known when it runs", op.name);
      return nullptr;
    }
    return TypeOfResult(typed->result);
  }

  void Replace(const ir::Expr& old, const std::vector<Binding>& made) {
    for (const Binding& b : made) {
      ir::ForEachAtom(*b.value, [&](const Atom& a) {
        if (const ir::Var* v = ir::AsVar(a)) ++around_.uses[v->id];
      });
    }
    // What nobody uses any more uses nothing.
    std::vector<const ir::Expr*> dead = {&old};
    while (!dead.empty()) {
      const ir::Expr& e = *dead.back();
      dead.pop_back();
      ir::ForEachAtom(e, [&](const Atom& a) {
        const ir::Var* v = ir::AsVar(a);
        if (v == nullptr || --around_.uses[v->id] != 0) return;
        const auto at = around_.definitions.find(v->id);
        if (at == around_.definitions.end()) return;
        const ir::Expr& value = *at->second.value;
        if (value.As<ir::OpCall>() != nullptr || value.As<ir::MakeTuple>() != nullptr ||
            value.As<ir::TupleGet>() != nullptr || value.As<ir::AtomExpr>() != nullptr)
          dead.push_back(&value);
      });
    }
    created_ += made.size();
  }

  void Note(const Rule& rule, uint32_t parent) {
    const uint32_t depth = parent == kNoParent ? 1 : steps_[parent].depth + 1;
    steps_.push_back({&rule, parent, depth});
    names_.push_back(rule.name);
    if (report_ != nullptr) ++report_->applied[rule.name];
    constexpr size_t kGrowth = 200;
    if (depth <= limit_ && created_ <= kGrowth * limit_) {
      if (steps_.size() % 256 == 0) status_ = CheckStop(options_.stop);
      return;
    }
    // The rules of the last steps, from result to result.
    std::vector<std::string> cycle;
    for (uint32_t at = static_cast<uint32_t>(steps_.size() - 1);
         at != kNoParent && cycle.size() < kSlack; at = steps_[at].parent) {
      const std::string name = "@" + steps_[at].rule->name + " (" + steps_[at].rule->place + ")";
      if (std::ranges::find(cycle, name) == cycle.end()) cycle.push_back(name);
      if (depth - steps_[at].depth > kSlack / 2) break;
    }
    std::ranges::reverse(cycle);
    status_ = Status(StatusCode::kInvalidArgument,
                     fmt::format("rules go on for ever: after {} rewrites, one upon the other's "
                                 "result, there is more to do; the cycle is of {}; make a "
                                 "pattern narrower, so that its replacement does not match again",
                                 depth, fmt::join(cycle, ", ")));
  }

  const ir::Module& m_;
  const RuleSet& rules_;
  const ApplyOptions& options_;
  Report* report_;
  int64_t* goals_left_;
  Surroundings around_;
  std::vector<Step> steps_;
  std::vector<std::string> names_;
  Status status_;
  size_t num_bindings_ = 0, created_ = 0, limit_ = 0;
  uint32_t num_functions_ = 0;
};

}  // namespace

Result<ir::Module> ApplyRules(const ir::Module& m, const RuleSet& rules,
                              const ApplyOptions& options, Report* report) {
  return ir::WithLargeStack([&]() -> Result<ir::Module> {
    ir::Module module = m;
    std::set<std::string> last;
    int64_t goals_left = kMaxProgramGoals;
    for (size_t round = 0; round < kMaxRounds; ++round) {
      RELAYVM_RETURN_IF_ERROR(CheckStop(options.stop));
      if (report != nullptr) report->misses.clear();
      Applier applier(module, rules, options, report, &goals_left);
      RELAYVM_ASSIGN_OR_RETURN(std::optional<ir::Module> changed, applier.Run());
      if (!changed) return module;
      // A variable that only stands for another one would keep fusion from its value.
      module = ir::EliminateDeadCode(ir::ResolveAliases(*changed));
      last = {applier.names().begin(), applier.names().end()};
    }
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("rules go on for ever: {} times through the program, and there is more "
                    "to do, by rules @{}",
                    kMaxRounds, fmt::join(last, ", @")));
  });
}

}  // namespace relayvm::rules

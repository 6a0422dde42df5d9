#include "compiler/transforms/loops/value_flow.h"

#include <functional>
#include <unordered_set>

#include "compiler/ir/walk.h"

namespace relayvm::ir {

uint32_t CountLeaves(const Type& t) {
  const auto* tuple = t->is_large() ? nullptr : t->As<TupleType>();
  if (tuple == nullptr) return 1;
  uint32_t count = 0;
  for (const Type& field : tuple->fields) count += CountLeaves(field);
  return count;
}

Leaves FieldLeaves(const Type& tuple, const Leaves& leaves, uint32_t index) {
  const auto& fields = tuple->As<TupleType>()->fields;
  Leaves field{leaves.first, CountLeaves(fields[index])};
  for (uint32_t i = 0; i < index; ++i) field.first += CountLeaves(fields[i]);
  return field;
}

ValueFlow::ValueFlow(const Module& m) : m_(m) {
  FindCallees();
  for (const auto& [name, f] : m.functions) Visit(*f);
}

// --- Leaves ---

uint32_t ValueFlow::NewLeaves(uint32_t count) {
  const auto first = static_cast<uint32_t>(parent_.size());
  for (uint32_t i = 0; i < count; ++i) parent_.push_back(first + i);
  fixed_.resize(parent_.size(), false);
  return first;
}

Leaves ValueFlow::Of(const Var* var) {
  auto [at, is_new] = leaves_.try_emplace(var->id);
  if (is_new) {
    const uint32_t count = CountLeaves(var->type);
    at->second = {NewLeaves(count), count};
  }
  return at->second;
}

std::optional<Leaves> ValueFlow::ResultOf(const Function* f) const {
  const auto at = results_.find(f);
  return at == results_.end() ? std::nullopt : std::optional(at->second);
}

uint32_t ValueFlow::Find(uint32_t leaf) const {
  while (parent_[leaf] != leaf) leaf = parent_[leaf] = parent_[parent_[leaf]];
  return leaf;
}

void ValueFlow::Fix(const Leaves& leaves) {
  for (uint32_t i = 0; i < leaves.count; ++i) fixed_[Find(leaves.first + i)] = true;
}

void ValueFlow::Join(uint32_t a, uint32_t b) {
  a = Find(a);
  b = Find(b);
  if (a == b) return;
  parent_[b] = a;
  fixed_[a] = fixed_[a] || fixed_[b];
}

void ValueFlow::Join(const Leaves& a, const Leaves& b) {
  if (a.count != b.count) {
    Fix(a);
    Fix(b);
    return;
  }
  for (uint32_t i = 0; i < a.count; ++i) Join(a.first + i, b.first + i);
}

void ValueFlow::Join(const Leaves& to, const Atom& from) {
  if (const Var* v = AsVar(from)) Join(to, Of(v));
}

// --- Functions ---

const Function* ValueFlow::Callee(const Atom& callee) const {
  if (const auto* g = std::get_if<const GlobalVar*>(&callee)) {
    const auto at = globals_.find((*g)->name);
    return at == globals_.end() ? nullptr : at->second;
  }
  const Var* v = AsVar(callee);
  const auto at = v == nullptr ? literals_.end() : literals_.find(v->id);
  return at == literals_.end() ? nullptr : at->second;
}

void ValueFlow::FindCallees() {
  std::unordered_set<std::string> values{m_.entry};  // functions that somebody else may call
  std::unordered_set<uint32_t> variables;            // that are used otherwise than called
  const auto use = [&](const Atom& a) {
    if (const Var* v = AsVar(a)) variables.insert(v->id);
    if (const auto* g = std::get_if<const GlobalVar*>(&a)) values.insert((*g)->name);
  };
  const std::function<void(const Block&)> visit = [&](const Block& block) {
    use(block.result);
    for (const Binding& b : block.bindings) {
      if (const auto* call = b.value->As<CallExpr>()) {
        for (const Atom& a : call->args) use(a);
      } else {
        ForEachAtom(*b.value, use);
      }
      if (const auto* literal = b.value->As<FunctionExpr>()) {
        literals_[b.var->id] = literal->function;
      }
      ForEachBlock(*b.value, visit);
    }
  };
  for (const auto& [name, f] : m_.functions) visit(*f->body);
  std::erase_if(literals_, [&](const auto& literal) {
    return variables.contains(literal.first) || !literal.second->type_params.empty();
  });
  for (const auto& [name, f] : m_.functions) {
    if (!values.contains(name) && f->type_params.empty()) globals_[name] = f;
  }
  const auto add = [&](const Function* f) {
    const uint32_t count = CountLeaves(f->result_type);
    results_[f] = {NewLeaves(count), count};
  };
  for (const auto& [name, f] : globals_) add(f);
  for (const auto& [id, f] : literals_) add(f);
}

void ValueFlow::Visit(const Function& f) { Visit(*f.body, ResultOf(&f)); }

// --- Blocks ---

void ValueFlow::Visit(const Block& block, const std::optional<Leaves>& result) {
  for (const Binding& b : block.bindings) Visit(b);
  if (result) Join(*result, block.result);
}

void ValueFlow::Visit(const Binding& binding) {
  const Leaves to = Of(binding.var);
  const Expr& e = *binding.value;
  if (const auto* alias = e.As<AtomExpr>()) {
    Join(to, alias->atom);
  } else if (const auto* stated = e.As<Stated>()) {
    Join(to, stated->value);
  } else if (const auto* tuple = e.As<MakeTuple>()) {
    if (binding.var->type->is_large()) {
      for (const Atom& field : tuple->fields) {
        if (const Var* v = AsVar(field)) Fix(Of(v));
      }
      return;
    }
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
      Join(FieldLeaves(binding.var->type, to, i), tuple->fields[i]);
    }
  } else if (const auto* get = e.As<TupleGet>()) {
    const Var* from = AsVar(get->tuple);
    if (from == nullptr || from->type->is_large()) {
      Fix(to);
    } else {
      Join(to, FieldLeaves(from->type, Of(from), get->index));
    }
  } else if (const auto* call = e.As<CallExpr>()) {
    const Function* f = Callee(call->callee);
    if (f == nullptr) return;
    for (size_t i = 0; i < call->args.size(); ++i) Join(Of(f->params[i]), call->args[i]);
    Join(to, *ResultOf(f));
  } else if (const auto* branch = e.As<IfExpr>()) {
    Visit(*branch->then_block, to);
    Visit(*branch->else_block, to);
  } else if (const auto* match = e.As<MatchExpr>()) {
    const Var* data = AsVar(match->data);
    for (const MatchClause& clause : match->clauses) {
      Visit(clause.pattern, data == nullptr ? nullptr : data->type,
            data == nullptr ? std::nullopt : std::optional(Of(data)));
      Visit(*clause.body, to);
    }
  } else if (const auto* literal = e.As<FunctionExpr>()) {
    Visit(*literal->function);
  }
}

void ValueFlow::Visit(const Pattern& pattern, const Type& type, const std::optional<Leaves>& data) {
  if (pattern.kind == Pattern::Kind::kVar) {
    if (data) {
      Join(Of(pattern.var), *data);
    } else {
      Fix(Of(pattern.var));
    }
    return;
  }
  const bool is_tuple = pattern.kind == Pattern::Kind::kTuple && data && !type->is_large();
  for (uint32_t i = 0; i < pattern.fields.size(); ++i) {
    if (is_tuple) {
      Visit(pattern.fields[i], type->As<TupleType>()->fields[i], FieldLeaves(type, *data, i));
    } else {
      Visit(pattern.fields[i], nullptr, std::nullopt);
    }
  }
}

}  // namespace relayvm::ir

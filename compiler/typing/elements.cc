// Contents of small integer tensors, as dims.
#include <fmt/format.h>

#include "compiler/typing/inference.h"

namespace relayvm::typing {

// The variable or constant whose value `a` is.
ir::Atom Inference::Canonical(const ir::Atom& a) const {
  ir::Atom current = a;
  while (auto* var = std::get_if<const ir::Var*>(&current)) {
    auto it = vars_.find(*var);
    if (it == vars_.end() || !it->second.alias) break;
    current = *it->second.alias;
  }
  return current;
}

// Known elements, or symbols for them; nullopt when the tensor is no small integer tensor.
std::optional<std::vector<Dim>> Inference::ElementsOf(const ir::Atom& a) {
  auto type = TypeOf(a);
  if (!type.ok()) return std::nullopt;
  auto* tensor = solver_.Resolve(*type)->As<TensorType>();
  if (tensor == nullptr) return std::nullopt;
  auto size = TrackedSize(*tensor);
  if (!size) return std::nullopt;
  return ElementsOrSymbols(a, *size);
}

// REQUIRES: `a` is a variable or constant of integer tensor type with `size` elements.
std::vector<Dim> Inference::ElementsOrSymbols(const ir::Atom& a, int64_t size) {
  ir::Atom canonical = Canonical(a);
  if (auto* constant = std::get_if<const ir::Constant*>(&canonical)) {
    std::vector<int64_t> values = IntegerElements((*constant)->value);
    return {values.begin(), values.end()};
  }
  const ir::Var* var = std::get<const ir::Var*>(canonical);
  VarState& state = vars_[var];
  if (state.elements != nullptr) return *state.elements;
  std::vector<Dim> out;
  for (int64_t i = 0; i < size; ++i) out.push_back(ElementAt(var, i));
  state.elements = std::make_shared<const std::vector<Dim>>(out);
  state.leaf_elements = true;
  return out;
}

Dim Inference::NewElementSymbol(const ir::Var* var, int64_t index) {
  auto old = old_elements_.find(std::pair(var->id, index));
  bool reuse = old != old_elements_.end() && !scopes_.IsDefined(old->second);
  uint32_t id = reuse ? old->second : module_.ids->Next();
  std::string name = var->name.empty() ? fmt::format("v{}", var->id) : var->name;
  scopes_.DefineSymbol(id, vars_[var].place);
  element_symbols_.push_back({id, var, index});
  return Dim::Symbol(id, fmt::format("{}[{}]", name, index),
                     /*nonnegative=*/vars_[var].is_ruled_shape);
}

// REQUIRES: `a` is a variable or constant of integer tensor type.
Dim Inference::ElementAt(const ir::Atom& a, int64_t index) {
  ir::Atom canonical = Canonical(a);
  if (auto* constant = std::get_if<const ir::Constant*>(&canonical)) {
    return IntegerElements((*constant)->value).at(static_cast<size_t>(index));
  }
  const ir::Var* var = std::get<const ir::Var*>(canonical);
  if (const auto& known = vars_[var].elements) return known->at(static_cast<size_t>(index));
  auto [it, inserted] = single_elements_.try_emplace(std::pair(var, index));
  if (inserted) it->second = NewElementSymbol(var, index);
  return it->second;
}

// Shapes may come as floats (Relay's dyn.tile takes such): the call gets an integer copy instead.
std::vector<Dim> Inference::FloatElements(const ir::Var* call, size_t arg, const ir::Var* var,
                                          int64_t size) {
  Place place = vars_[call].place;
  for (const ir::Var* copy : integer_copies_[var]) {
    if (!scopes_.IsVisible(vars_[copy].place, place)) continue;
    outcomes_[call].args[arg] = copy;
    return ElementsOrSymbols(copy, size);
  }
  const OpDef* cast = OpTable::Get().Find("cast");
  Attrs attrs;
  attrs.Set("dtype", std::string("int64"));
  const TensorType& from = *TypeOf(var)->As<TensorType>();
  const ir::Var* copy =
      ir::MakeVar(module_, var->name, ir::MakeTensorType(from.shape, DType::kInt64), call->span);
  DefineVar(copy, copy->type, place);
  Outcome& insertion = outcomes_[call];
  insertion.before.push_back(
      {copy, ir::MakeExpr(module_, ir::OpCall{cast, {var}, std::move(attrs)}, call->span)});
  insertion.args[arg] = copy;
  integer_copies_[var].push_back(copy);
  return ElementsOrSymbols(copy, size);
}

// A long expression is computed once, before `call`, and has a symbol from there on.
Dim Inference::NameDim(const ir::Var* call, const Dim& d) {
  Place place = vars_[call].place;
  for (const Dim& symbol : named_dims_[d]) {
    if (scopes_.IsSymbolVisible(symbol.symbol_id(), place)) return symbol;
  }
  const ir::Var* var = ir::MakeVar(module_, "", ir::MakeScalarType(DType::kInt64), call->span);
  Dim symbol = Dim::Symbol(module_.ids->Next(), fmt::format("d{}", var->id));
  scopes_.DefineSymbol(symbol.symbol_id(), place);
  element_symbols_.push_back({symbol.symbol_id(), var, 0});
  DefineVar(var, var->type, place);
  outcomes_[call].before.push_back({var, ir::MakeExpr(module_, ir::ShapeValue{{d}}, call->span)});
  named_dims_[d].push_back(symbol);
  return symbol;
}

// The dims that only running the rule tells: elements of a tensor that is bound before `call`.
std::vector<Dim> Inference::ShapeOfCall(const ir::Var* call, const std::string& what,
                                        RuledShape shape) {
  Place place = vars_[call].place;
  const auto rank = static_cast<int64_t>(shape.rank);
  std::vector<const ir::Var*>& known = ruled_shapes_[KeyOf(shape)];
  const ir::Var* var = VisibleOf(known, place);
  if (var == nullptr) {
    var = ir::MakeVar(module_, "shape", ir::MakeTensorType({Dim(rank)}, DType::kInt64), call->span);
    DefineVar(var, var->type, place);
    vars_[var].is_ruled_shape = true;
    known.push_back(var);
    ir::ShapeByRule made{std::move(shape), what};
    outcomes_[call].before.push_back({var, ir::MakeExpr(module_, std::move(made), call->span)});
  }
  return ElementsOrSymbols(var, rank);
}

void Inference::TrackElements(const ir::Var* var, const ir::OpCall& call, const OpResult& result,
                              const std::vector<ArgType>& args) {
  std::vector<TensorType> inputs;
  std::vector<ir::Atom>
      atoms;  // of each input; null where it is no variable or constant of its own
  const ir::Atom none = static_cast<const ir::Var*>(nullptr);
  for (size_t i = 0; i < args.size(); ++i) {
    ir::Atom canonical = Canonical(call.args[i]);
    auto* tuple_var = std::get_if<const ir::Var*>(&canonical);
    const ir::MakeTuple* tuple = tuple_var != nullptr ? vars_[*tuple_var].tuple : nullptr;
    for (size_t k = 0; k < args[i].tensors.size(); ++k) {
      inputs.push_back(args[i].tensors[k]);
      if (!args[i].is_tuple) {
        atoms.push_back(call.args[i]);
      } else {
        atoms.push_back(tuple != nullptr && k < tuple->fields.size() ? tuple->fields[k] : none);
      }
    }
  }
  auto known = EvaluateElements(*call.op, call.attrs, inputs, result.tensors,
                                [&](size_t i) -> std::optional<std::vector<Dim>> {
                                  if (atoms[i] == none) return std::nullopt;
                                  return ElementsOf(atoms[i]);
                                });
  VarState& state = vars_[var];
  if (result.is_tuple) {
    state.field_elements = std::move(known);
  } else if (known[0]) {
    state.elements = std::make_shared<const std::vector<Dim>>(std::move(*known[0]));
    state.leaf_elements = false;
  }
}

}  // namespace relayvm::typing

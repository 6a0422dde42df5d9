// Contents of small integer tensors, as dims.
#include "compiler/typing/inference.h"

#include <fmt/format.h>

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
  for (int64_t i = 0; i < size; ++i) {
    auto old = old_elements_.find(std::pair(var->id, i));
    bool reuse = old != old_elements_.end() && !scopes_.IsDefined(old->second);
    uint32_t id = reuse ? old->second : module_.ids->Next();
    std::string name = var->name.empty() ? fmt::format("v{}", var->id) : var->name;
    out.push_back(Dim::Symbol(id, fmt::format("{}[{}]", name, i), /*nonnegative=*/false));
    scopes_.DefineSymbol(id, state.place);
    element_symbols_.push_back({id, var, i});
  }
  state.elements = std::make_shared<const std::vector<Dim>>(out);
  state.leaf_elements = true;
  return out;
}

void Inference::TrackElements(const ir::Var* var, const ir::OpCall& call, const OpResult& result,
                              const std::vector<ArgType>& args) {
  std::vector<TensorType> inputs;
  std::vector<ir::Atom> atoms;  // of each input; null where it is no variable or constant of its own
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

// Contents of small integer tensors, as dims.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/typing/inference.h"
#include "kernels/op/shape_rules.h"
#include "kernels/te/scalar.h"

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
  const ir::Atom canonical = Canonical(a);
  if (tensor->dtype == DType::kBool && std::holds_alternative<const ir::Constant*>(canonical)) {
    size = TrackedSize({tensor->shape, DType::kInt32});
  }
  if (!size) return std::nullopt;
  return ElementsOrSymbols(canonical, *size);
}

namespace {

bool IsPositive(const HostTensor& t) {
  if (t.size() != 1) return false;
  const te::Scalar s = te::ReadElement(t.dtype, t.data.data());
  return IsFloat(t.dtype) ? s.f > 0 && s.f < 1e30 : s.i > 0;
}

enum class Sign : uint8_t {
  kAny,
  kNotNegative,  // a number of at least 0, or infinite
  kPositive,     // a constant above 0
};

Sign SignOf(const te::ExprNode& e, const std::vector<Sign>& inputs) {
  constexpr double kMost = 1e30;  // products of two are finite
  const auto constant = [](double v) {
    if (v > 0 && v < kMost) return Sign::kPositive;
    return v >= 0 ? Sign::kNotNegative : Sign::kAny;
  };
  const auto operand = [&](size_t i) { return SignOf(*e.operands[i], inputs); };
  const auto both = [&](Sign least) { return operand(0) >= least && operand(1) >= least; };
  const auto when = [](bool known) { return known ? Sign::kNotNegative : Sign::kAny; };
  switch (e.kind) {
    case te::ExprKind::kIntImm:
      return constant(static_cast<double>(e.int_value));
    case te::ExprKind::kFloatImm:
      return constant(e.float_value);
    case te::ExprKind::kLoad: {
      if (!e.tensor->is_placeholder()) return SignOf(*e.tensor->body, inputs);
      const auto i = static_cast<size_t>(e.tensor->input_index);
      return i < inputs.size() ? inputs[i] : Sign::kAny;
    }
    case te::ExprKind::kCast:  // nothing wraps
      return when((e.dtype == DType::kInt64 || IsFloat(e.dtype)) &&
                  operand(0) >= Sign::kNotNegative);
    case te::ExprKind::kUnary: {
      constexpr std::array kKeep = {te::UnaryOp::kFloor,     te::UnaryOp::kCeil,
                                    te::UnaryOp::kTrunc,     te::UnaryOp::kRound,
                                    te::UnaryOp::kRoundEven, te::UnaryOp::kSqrt};
      return when(std::find(kKeep.begin(), kKeep.end(), e.unary) != kKeep.end() &&
                  operand(0) >= Sign::kNotNegative);
    }
    case te::ExprKind::kBinary: {
      const bool is_float = IsFloat(e.operands[0]->dtype);
      const bool scaled = (operand(0) == Sign::kPositive || operand(1) == Sign::kPositive) &&
                          both(Sign::kNotNegative);  // neither 0 times infinity nor 0 by 0
      switch (e.binary) {
        case te::BinaryOp::kMin:
        case te::BinaryOp::kMax:
          return when(both(Sign::kNotNegative));
        case te::BinaryOp::kAdd:
          return when(is_float && both(Sign::kNotNegative));
        case te::BinaryOp::kMultiply:
          return when(is_float && scaled);
        case te::BinaryOp::kDivide:
          return when(is_float ? scaled : both(Sign::kNotNegative));
        default:
          return Sign::kAny;
      }
    }
    default:
      return Sign::kAny;
  }
}

}  // namespace

// A scalar of sizes that took a way through floats is a size.
bool Inference::IsSize(const ir::Atom& a) {
  const ir::Atom canonical = Canonical(a);
  if (std::holds_alternative<const ir::Constant*>(canonical)) return false;
  const auto* var = std::get_if<const ir::Var*>(&canonical);
  if (var == nullptr) return false;
  const VarState& state = vars_[*var];
  if (state.is_size || state.elements == nullptr || state.elements->empty()) return state.is_size;
  const auto low = (*state.elements)[0].LowerBound();
  return low && *low >= 0;
}

void Inference::NoteSize(const ir::Var* var, const ir::OpCall& call, const TensorType& result) {
  if (result.rank() != 0 || !call.op->compute || call.op->builtin) return;
  std::vector<TensorType> types;
  std::vector<Sign> signs;
  for (const ir::Atom& a : call.args) {
    auto type = TypeOf(a);
    const auto* t = type.ok() ? solver_.Resolve(*type)->As<TensorType>() : nullptr;
    if (t == nullptr || t->rank() != 0) return;
    types.push_back(*t);
    const ir::Atom canonical = Canonical(a);
    const auto* constant = std::get_if<const ir::Constant*>(&canonical);
    const bool positive = constant != nullptr && IsPositive((*constant)->value);
    signs.push_back(positive ? Sign::kPositive : IsSize(a) ? Sign::kNotNegative : Sign::kAny);
  }
  if (std::find(signs.begin(), signs.end(), Sign::kNotNegative) == signs.end()) return;
  const te::Tensor computed = ExpressionOf(*call.op, call.attrs, types, result);
  vars_[var].is_size = !computed->is_placeholder() && SignOf(*computed->body, signs) != Sign::kAny;
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
                     /*nonnegative=*/vars_[var].is_size);
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
  const auto* copy = ir::AsVar(*RunSteps(call, var->name, {var}, WholeNumberSteps()));
  outcomes_[call].args[arg] = copy;
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
    vars_[var].is_size = true;
    known.push_back(var);
    ir::ShapeByRule made{std::move(shape), what};
    outcomes_[call].before.push_back({var, ir::MakeExpr(module_, std::move(made), call->span)});
  }
  return ElementsOrSymbols(var, rank);
}

void Inference::TrackElements(const ir::Var* var, const ir::OpCall& call, const OpResult& result,
                              const std::vector<ArgType>& args) {
  const TensorType& first = result.tensors[0];
  const bool holds_sizes = first.dtype == DType::kInt32 || first.dtype == DType::kInt64;
  if (!result.is_tuple && first.rank() > 0 && !holds_sizes) return;
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
  if (!result.is_tuple) NoteSize(var, call, result.tensors[0]);
  VarState& state = vars_[var];
  if (result.is_tuple) {
    state.field_elements = std::move(known);
  } else if (known[0]) {
    state.elements = std::make_shared<const std::vector<Dim>>(std::move(*known[0]));
    state.leaf_elements = false;
  }
}

}  // namespace relayvm::typing

// Dims that operators on scalars compute before a call: sizes that depend on floats.
//
// The operators become bindings before the call, and the dim is the symbol of the last one. A run
// on the output of an earlier one finds those bindings and adds none.
#include <fmt/format.h>

#include "compiler/ir/scalar.h"
#include "compiler/typing/inference.h"
#include "kernels/te/evaluate.h"

namespace relayvm::typing {

using ir::Type;

namespace {

Status NoScalar(const Type& type) {
  return {StatusCode::kInvalidInput,
          fmt::format("expected a scalar, found {}", ir::TypeToString(type))};
}

}  // namespace

// What tells a call from others: constants count by their value, variables by what they stand for.
// Nullopt for operators that are no functions of elements, and for constants that are no scalars.
std::optional<std::string> Inference::ScalarCallKey(const OpDef& op, const Attrs& attrs,
                                                    const std::vector<ir::Atom>& args) const {
  if (op.fusion > FusionClass::kBroadcast) return std::nullopt;
  std::string key = op.name;
  for (const auto& [name, value] : attrs.values()) {
    const auto* text = std::get_if<std::string>(&value.value);
    if (text == nullptr) return std::nullopt;
    key += fmt::format(" {}", *text);
  }
  for (const ir::Atom& a : args) {
    ir::Atom canonical = Canonical(a);
    if (auto* var = std::get_if<const ir::Var*>(&canonical)) {
      key += fmt::format(" %{}", (*var)->id);
      continue;
    }
    auto* constant = std::get_if<const ir::Constant*>(&canonical);
    if (constant == nullptr || !(*constant)->value.shape.empty()) return std::nullopt;
    key += fmt::format(" {}:", DTypeName((*constant)->value.dtype));
    for (std::byte b : (*constant)->value.data)
      key += fmt::format("{:02x}", std::to_integer<int>(b));
  }
  return key;
}

void Inference::RememberScalarCall(const ir::Var* var, const OpDef& op, const Attrs& attrs,
                                   const std::vector<ir::Atom>& args) {
  if (auto key = ScalarCallKey(op, attrs, args)) scalar_calls_[*key].push_back(var);
}

const ir::Var* Inference::VisibleOf(const std::vector<const ir::Var*>& vars, Place from) {
  for (const ir::Var* v : vars) {
    if (scopes_.IsVisible(vars_[v].place, from)) return v;
  }
  return nullptr;
}

// An int64 scalar with the value of `d`.
ir::Atom Inference::DimScalar(const ir::Var* call, const Dim& d) {
  if (d.is_const()) return ir::MakeConstant(module_, ir::IntScalar(DType::kInt64, d.value()));
  Place place = vars_[call].place;
  std::vector<const ir::Var*>& known = dim_scalars_[d];
  if (const ir::Var* var = VisibleOf(known, place)) return var;
  const ir::Var* var = ir::MakeVar(module_, "", ir::MakeScalarType(DType::kInt64), call->span);
  DefineVar(var, var->type, place);
  vars_[var].elements = std::make_shared<const std::vector<Dim>>(1, d);
  outcomes_[call].before.push_back({var, ir::MakeExpr(module_, ir::ShapeValue{{d}}, call->span)});
  known.push_back(var);
  return var;
}

// The result of one step: computed now, found in the program, or added to it.
Result<ir::Atom> Inference::ScalarCall(const ir::Var* call, const std::string& name,
                                       const ScalarStep& step, std::vector<ir::Atom> operands) {
  const OpDef* op = OpTable::Get().Find(step.op);
  if (op == nullptr) {
    return Status(StatusCode::kInternal, fmt::format("there is no operator {}", step.op));
  }
  Attrs attrs;
  if (step.dtype) attrs.Set("dtype", std::string(DTypeName(*step.dtype)));
  std::vector<TensorType> types;
  std::vector<const HostTensor*> values;
  for (const ir::Atom& a : operands) {
    RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(a));
    auto* tensor = type->As<TensorType>();
    if (tensor == nullptr || (tensor->rank() != 0 && !types.empty())) return NoScalar(type);
    types.push_back(*tensor);
    ir::Atom canonical = Canonical(a);
    if (auto* c = std::get_if<const ir::Constant*>(&canonical)) values.push_back(&(*c)->value);
  }
  TensorType result = types[0];
  if (step.dtype == result.dtype) return operands[0];
  if (step.dtype) result.dtype = *step.dtype;
  if (values.size() == operands.size()) {
    RELAYVM_ASSIGN_OR_RETURN(
        HostTensor value, te::Evaluate(ExpressionOf(*op, attrs, types, result), values, nullptr));
    return ir::Atom(ir::MakeConstant(module_, std::move(value)));
  }
  Place place = vars_[call].place;
  auto key = ScalarCallKey(*op, attrs, operands);
  if (key) {
    if (const ir::Var* var = VisibleOf(scalar_calls_[*key], place)) return ir::Atom(var);
  }
  const ir::Var* var = ir::MakeVar(module_, name, ir::MakeType(result), call->span);
  DefineVar(var, var->type, place);
  if (key) scalar_calls_[*key].push_back(var);
  ir::OpCall made{op, std::move(operands), std::move(attrs)};
  NoteSize(var, made, result);
  outcomes_[call].before.push_back({var, ir::MakeExpr(module_, std::move(made), call->span)});
  return ir::Atom(var);
}

Result<ir::Atom> Inference::RunSteps(const ir::Var* call, const std::string& name,
                                     const std::vector<ir::Atom>& args,
                                     std::span<const ScalarStep> steps) {
  std::vector<ir::Atom> results;
  for (const ScalarStep& step : steps) {
    std::vector<ir::Atom> operands;
    for (const ScalarStep::Operand& o : step.operands) {
      if (auto* argument = std::get_if<ScalarStep::Argument>(&o)) {
        operands.push_back(args.at(argument->index));
      } else if (auto* earlier = std::get_if<ScalarStep::Earlier>(&o)) {
        operands.push_back(results.at(earlier->index));
      } else if (auto* dim = std::get_if<Dim>(&o)) {
        operands.push_back(DimScalar(call, *dim));
      } else {
        RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(operands.at(0)));
        const HostTensor number =
            ir::FloatScalar(type->As<TensorType>()->dtype, std::get<double>(o));
        operands.push_back(ir::MakeConstant(module_, number));
      }
    }
    RELAYVM_ASSIGN_OR_RETURN(ir::Atom result, ScalarCall(call, name, step, std::move(operands)));
    results.push_back(result);
  }
  return results.back();
}

Result<Dim> Inference::ComputeDim(const ir::Var* call, const std::vector<ir::Atom>& args,
                                  std::span<const ScalarStep> steps) {
  RELAYVM_ASSIGN_OR_RETURN(ir::Atom result, RunSteps(call, "", args, steps));
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(result));
  if (type->As<TensorType>()->rank() != 0) return NoScalar(type);
  return ElementsOrSymbols(result, 1)[0];
}

}  // namespace relayvm::typing

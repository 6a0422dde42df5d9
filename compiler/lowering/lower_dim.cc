// Dimension expressions as instructions on sizes: exact, or an error that names whose size it is.
#include <limits>
#include <utility>

#include "bytecode/base/dim.h"
#include "compiler/lowering/function_lowering.h"

namespace relayvm::lower {
namespace {

bool FitsImm16(int64_t v) {
  return v >= std::numeric_limits<int16_t>::min() && v <= std::numeric_limits<int16_t>::max();
}

}  // namespace

Reg FunctionLowering::ConstI(int64_t value) {
  auto [at, inserted] = dim_registers_.try_emplace(Dim(value), 0);
  if (!inserted) return at->second;
  Reg reg = NewScalar();
  at->second = reg;
  undo_.push_back({nullptr, Dim(value)});
  Emit(FitsImm16(value) ? Opcode::kConstI16 : Opcode::kConstI64, {reg, value});
  return reg;
}

Reg FunctionLowering::EmitDim(const Dim& dim) {
  if (dim.is_const()) return ConstI(dim.value());
  if (auto at = dim_registers_.find(dim); at != dim_registers_.end()) return at->second;
  Reg reg = 0;
  if (dim.is_symbol()) {
    const ir::SymbolTable& symbols = module_.module().symbols;
    auto symbol = symbols.find(dim.symbol_id());
    auto value = symbol == symbols.end() ? vars_.end() : vars_.find(symbol->second.value->id);
    if (value != vars_.end()) {
      reg = ScalarOf(value->second);
    } else {
      // Type inference never leaves a symbol without a meaning in scope.
      reg = NewScalar();
      Emit(Opcode::kTrap, {module_.MessageIndex("the dimension " + dim.symbol_name() +
                                                " has no value here (a defect of the compiler)")});
    }
  } else {
    Opcode op = Opcode::kMaxI;
    switch (dim.kind()) {
      case Dim::Kind::kMul:
        op = Opcode::kDimMul;
        break;
      case Dim::Kind::kFloorDiv:
        op = Opcode::kDimFloorDiv;
        break;
      case Dim::Kind::kFloorMod:
        op = Opcode::kDimFloorMod;
        break;
      case Dim::Kind::kMin:
        op = Opcode::kMinI;
        break;
      default:
        break;
    }
    if (dim.kind() == Dim::Kind::kAdd) {
      reg = EmitSum(dim);
    } else if (dim.kind() == Dim::Kind::kInt32) {
      Reg value = EmitDim(dim.operands()[0]);
      reg = NewScalar();
      Emit(Opcode::kWrap, {reg, value, static_cast<int64_t>(DType::kInt32)});
    } else {
      auto operands = dim.operands();
      reg = EmitDim(operands[0]);
      for (size_t i = 1; i < operands.size(); ++i) {
        reg = EmitDimOp(op, reg, EmitDim(operands[i]));
      }
    }
  }
  dim_registers_[dim] = reg;
  undo_.push_back({nullptr, dim});
  return reg;
}

Reg FunctionLowering::EmitDimOp(Opcode op, Reg left, Reg right) {
  const DimStep step{op, left, right};
  const auto [at, is_new] = dim_steps_.try_emplace(step, 0);
  if (!is_new) return at->second;
  const Reg reg = NewScalar();
  at->second = reg;
  undo_.push_back({.step = step});
  if (op == Opcode::kMinI || op == Opcode::kMaxI) {
    Emit(op, {reg, left, right});
  } else {
    Emit(op, {reg, left, right, module_.MessageIndex(dim_owner_)});
  }
  return reg;
}

// Terms with a negative coefficient are subtracted: n - m, not n + m * -1.
Reg FunctionLowering::EmitSum(const Dim& sum) {
  std::vector<Dim> minus;
  std::optional<Reg> total;
  for (const Dim& term : sum.operands()) {
    bool scaled = term.kind() == Dim::Kind::kMul && term.operands().back().is_const();
    int64_t coefficient = scaled ? term.operands().back().value() : 1;
    if (coefficient < 0 && coefficient != INT64_MIN) {
      minus.push_back(Dim(0) - term);
    } else if (term.is_const() && total && FitsImm16(term.value())) {
      // The constant is last.
      for (const Dim& m : std::exchange(minus, {})) {
        total = EmitDimOp(Opcode::kDimSub, *total, EmitDim(m));
      }
      Reg reg = NewScalar();
      Emit(Opcode::kDimAddImm, {reg, *total, term.value(), module_.MessageIndex(dim_owner_)});
      total = reg;
    } else {
      Reg value = EmitDim(term);
      total = total ? EmitDimOp(Opcode::kDimAdd, *total, value) : value;
    }
  }
  if (!total) total = ConstI(0);
  for (const Dim& m : minus) total = EmitDimOp(Opcode::kDimSub, *total, EmitDim(m));
  return *total;
}

std::vector<uint32_t> FunctionLowering::EmitDims(const std::vector<Dim>& dims) {
  std::vector<uint32_t> regs;
  regs.reserve(dims.size());
  for (const Dim& d : dims) regs.push_back(EmitDim(d));
  return regs;
}

// --- What symbols stand for ---

Status FunctionLowering::Lower(const ir::Var* var, const ir::DimOf& e) {
  auto number = std::make_shared<TensorNumber>();
  number->value = AtomValue(e.value);
  number->is_dim = true;
  number->index = e.axis;
  ir::Type type = number->value.type;
  for (uint32_t field : e.path) {
    type = type->As<ir::TupleType>()->fields[field];
    number->path.emplace_back(field, type);
  }
  Location* l = NewLocation();
  l->number = std::move(number);
  return BindResult(var, {var->type, l});
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::ShapeByRule& e) {
  dim_owner_ = e.what;
  const RuledShape& shape = e.shape;
  std::vector<uint32_t> data = EmitDims(shape.data);
  std::vector<uint32_t> numbers = EmitDims(shape.numbers);
  std::vector<uint32_t> results;
  std::vector<Value> dims;
  for (size_t i = 0; i < shape.rank; ++i) {
    results.push_back(NewScalar());
    dims.push_back(ScalarValue(ir::MakeScalarType(DType::kInt64), results.back()));
  }
  Emit(Opcode::kDimShape,
       {results, static_cast<int64_t>(shape.rule), static_cast<int64_t>(shape.zeros), data, numbers,
        module_.MessageIndex(e.what)});
  return BindResult(var, TupleOf(var->type, std::move(dims)));
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::ElementOf& e) {
  const Value tensor = AtomValue(e.tensor);
  if (tensor.location->fields) {
    return BindResult(var, (*tensor.location->fields)[static_cast<size_t>(e.index)]);
  }
  auto number = std::make_shared<TensorNumber>();
  number->value = tensor;
  number->index = e.index;
  Location* l = NewLocation();
  l->number = std::move(number);
  return BindResult(var, {var->type, l});
}

Reg FunctionLowering::ReadNumber(const TensorNumber& number) {
  Value value = number.value;
  for (const auto& [field, type] : number.path) value = FieldOf(value, field, type);
  Reg object = ObjectOf(value);
  Reg reg = NewScalar();
  if (number.is_dim) {
    Emit(Opcode::kTensorDim, {reg, object, static_cast<uint32_t>(number.index)});
  } else {
    DType dtype = value.type->As<TensorType>()->dtype;
    Emit(Opcode::kTensorItem, {reg, object, static_cast<int64_t>(dtype), number.index});
  }
  return reg;
}

}  // namespace relayvm::lower

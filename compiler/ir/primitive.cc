#include "compiler/ir/primitive.h"

#include <unordered_map>
#include <utility>

#include "kernels/te/scalar.h"

namespace relayvm::ir {

std::vector<TensorType> FlatTypes(const Type& type) {
  if (const auto* t = type->As<TensorType>()) return {*t};
  std::vector<TensorType> all;
  if (const auto* tuple = type->As<TupleType>()) {
    for (const Type& f : tuple->fields) {
      std::vector<TensorType> inner = FlatTypes(f);
      all.insert(all.end(), inner.begin(), inner.end());
    }
  }
  return all;
}

te::Tensor ImmediateTensor(const HostTensor& value) {
  te::Scalar s = te::ReadElement(value.dtype, value.data.data());
  te::Expr e = IsFloat(value.dtype) ? te::FloatImm(s.f, value.dtype) : te::IntImm(s.i, value.dtype);
  return te::Compute("immediate", {}, [&](const std::vector<te::Expr>&) { return e; });
}

te::Tensor VectorOf(const ShapeValue& value, const TensorType& type) {
  return te::Compute("shape", type.shape, [&](const std::vector<te::Expr>& i) {
    te::Expr e = te::IntImm(0, type.dtype);
    for (size_t k = value.elements.size(); k-- > 0;) {
      te::Expr element = te::Cast(te::DimValue(value.elements[k]), type.dtype);
      e = k + 1 == value.elements.size()
              ? element
              : te::Select(i[0] == te::IntImm(static_cast<int64_t>(k)), element, e);
    }
    return e;
  });
}

Result<std::vector<te::Tensor>> ComputePrimitive(const Function& f,
                                                 std::span<const te::Tensor> inputs) {
  std::unordered_map<uint32_t, std::vector<te::Tensor>> values;
  auto input = inputs.begin();
  for (const Var* param : f.params) {
    const auto count = static_cast<ptrdiff_t>(FlatTypes(param->type).size());
    values[param->id].assign(input, input + count);
    input += count;
  }
  auto atom_value = [&](const Atom& a) -> std::vector<te::Tensor> {
    if (const auto* v = std::get_if<const Var*>(&a)) return values.at((*v)->id);
    return {ImmediateTensor(std::get<const Constant*>(a)->value)};
  };
  int64_t check = 0;
  for (const Binding& b : f.body->bindings) {
    std::vector<te::Tensor>& result = values[b.var->id];
    if (const auto* op = b.value->As<OpCall>()) {
      std::vector<te::Tensor> arguments;
      for (const Atom& a : op->args) {
        for (te::Tensor& t : atom_value(a)) arguments.push_back(std::move(t));
      }
      const std::vector<TensorType> outputs = FlatTypes(b.var->type);
      check += op->op->checks ? 1 : 0;
      result = op->op->compute({op->attrs, arguments, outputs, check});
    } else if (const auto* shape = b.value->As<ShapeValue>()) {
      result = {VectorOf(*shape, *b.var->type->As<TensorType>())};
    } else if (const auto* tuple = b.value->As<MakeTuple>()) {
      for (const Atom& a : tuple->fields) {
        for (te::Tensor& t : atom_value(a)) result.push_back(std::move(t));
      }
    } else if (const auto* get = b.value->As<TupleGet>()) {
      result = {atom_value(get->tuple)[get->index]};
    } else if (const auto* alias = b.value->As<AtomExpr>()) {
      result = atom_value(alias->atom);
    } else {
      return Status(StatusCode::kInternal, "a fused group holds more than operators");
    }
  }
  return atom_value(f.body->result);
}

}  // namespace relayvm::ir

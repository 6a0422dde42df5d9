#include "compiler/ir/type.h"

#include <map>

namespace relayvm::ir {
namespace {

// Equality up to the names of bound type parameters: `bound` maps those of the left side to those
// of the right.
using BoundVars = std::map<uint32_t, uint32_t>;

bool Equals(const Type& a, const Type& b, BoundVars& bound);

bool AllEqual(const std::vector<Type>& a, const std::vector<Type>& b, BoundVars& bound) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Equals(a[i], b[i], bound)) return false;
  }
  return true;
}

bool FunctionsEqual(const FunctionType& a, const FunctionType& b, BoundVars& bound) {
  if (a.type_params.size() != b.type_params.size()) return false;
  BoundVars inner = bound;
  for (size_t i = 0; i < a.type_params.size(); ++i) {
    inner[a.type_params[i]->As<TypeVar>()->id] = b.type_params[i]->As<TypeVar>()->id;
  }
  return AllEqual(a.params, b.params, inner) && Equals(a.result, b.result, inner);
}

bool Equals(const Type& a, const Type& b, BoundVars& bound) {
  if (a == nullptr || b == nullptr) return a == b;
  if (a == b && bound.empty()) return true;
  if (a->node.index() != b->node.index()) return false;
  if (auto* t = a->As<TensorType>()) return *t == *b->As<TensorType>();
  if (auto* t = a->As<TupleType>()) return AllEqual(t->fields, b->As<TupleType>()->fields, bound);
  if (auto* t = a->As<FunctionType>()) return FunctionsEqual(*t, *b->As<FunctionType>(), bound);
  if (auto* t = a->As<RefType>()) return Equals(t->value, b->As<RefType>()->value, bound);
  if (auto* t = a->As<AdtType>()) {
    auto* u = b->As<AdtType>();
    return t->name == u->name && AllEqual(t->args, u->args, bound);
  }
  if (auto* t = a->As<TypeVar>()) {
    auto it = bound.find(t->id);
    return (it == bound.end() ? t->id : it->second) == b->As<TypeVar>()->id;
  }
  return a->As<InferVar>()->id == b->As<InferVar>()->id;
}

void Print(const Type& t, const TypeSpelling& spelling, std::string& out);

void PrintList(const std::vector<Type>& types, const TypeSpelling& spelling, std::string& out) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) out += ", ";
    Print(types[i], spelling, out);
  }
}

void PrintTensor(const TensorType& t, const TypeSpelling& spelling, std::string& out) {
  if (t.shape.empty()) {
    out += DTypeName(t.dtype);
    return;
  }
  out += "Tensor[(";
  for (size_t i = 0; i < t.shape.size(); ++i) {
    if (i > 0) out += ", ";
    out += spelling.dim(t.shape[i]);
  }
  out += "), ";
  out += DTypeName(t.dtype);
  out += "]";
}

void Print(const Type& t, const TypeSpelling& spelling, std::string& out) {
  if (t == nullptr) {
    out += "_";
  } else if (auto* tensor = t->As<TensorType>()) {
    PrintTensor(*tensor, spelling, out);
  } else if (auto* tuple = t->As<TupleType>()) {
    out += "(";
    PrintList(tuple->fields, spelling, out);
    out += tuple->fields.size() == 1 ? ",)" : ")";
  } else if (auto* fn = t->As<FunctionType>()) {
    out += "fn ";
    if (!fn->type_params.empty()) {
      out += "[";
      PrintList(fn->type_params, spelling, out);
      out += "]";
    }
    out += "(";
    PrintList(fn->params, spelling, out);
    out += ") -> ";
    Print(fn->result, spelling, out);
  } else if (auto* ref = t->As<RefType>()) {
    out += "ref(";
    Print(ref->value, spelling, out);
    out += ")";
  } else if (auto* adt = t->As<AdtType>()) {
    out += adt->name;
    out += "[";
    PrintList(adt->args, spelling, out);
    out += "]";
  } else if (auto* var = t->As<TypeVar>()) {
    out += spelling.var(*var);
  } else {
    out += "_";
  }
}

}  // namespace

Type MakeTensorType(std::vector<Dim> shape, DType dtype) {
  return MakeType(TensorType{std::move(shape), dtype});
}
Type MakeScalarType(DType dtype) { return MakeTensorType({}, dtype); }
Type UnitType() { return MakeType(TupleType{}); }

bool TypeEquals(const Type& a, const Type& b) {
  BoundVars bound;
  return Equals(a, b, bound);
}

std::string TypeToString(const Type& t, bool symbol_names) {
  return TypeToString(t, TypeSpelling{[&](const Dim& d) {
                                        return symbol_names || d.is_const() ? d.ToString() : "?";
                                      },
                                      [](const TypeVar& v) { return v.name; }});
}

std::string TypeToString(const Type& t, const TypeSpelling& spelling) {
  std::string out;
  Print(t, spelling, out);
  return out;
}

void ForEachDim(const Type& t, const std::function<void(const Dim&)>& fn) {
  auto each = [&](const std::vector<Type>& types) {
    for (const Type& x : types) ForEachDim(x, fn);
  };
  if (t == nullptr) return;
  if (auto* tensor = t->As<TensorType>()) {
    for (const Dim& d : tensor->shape) fn(d);
  } else if (auto* tuple = t->As<TupleType>()) {
    each(tuple->fields);
  } else if (auto* function = t->As<FunctionType>()) {
    each(function->params);
    ForEachDim(function->result, fn);
  } else if (auto* ref = t->As<RefType>()) {
    ForEachDim(ref->value, fn);
  } else if (auto* adt = t->As<AdtType>()) {
    each(adt->args);
  }
}

Type MapDims(const Type& t, const std::function<Dim(const Dim&)>& fn) {
  auto all = [&](const std::vector<Type>& types) {
    std::vector<Type> out;
    out.reserve(types.size());
    for (const Type& x : types) out.push_back(MapDims(x, fn));
    return out;
  };
  if (t == nullptr) return t;
  if (auto* tensor = t->As<TensorType>()) {
    std::vector<Dim> shape;
    for (const Dim& d : tensor->shape) shape.push_back(fn(d));
    return shape == tensor->shape ? t : MakeTensorType(std::move(shape), tensor->dtype);
  }
  if (auto* tuple = t->As<TupleType>()) {
    auto fields = all(tuple->fields);
    return fields == tuple->fields ? t : MakeType(TupleType{std::move(fields)});
  }
  if (auto* f = t->As<FunctionType>()) {
    auto params = all(f->params);
    Type result = MapDims(f->result, fn);
    if (params == f->params && result == f->result) return t;
    return MakeType(FunctionType{f->type_params, std::move(params), std::move(result)});
  }
  if (auto* ref = t->As<RefType>()) {
    Type value = MapDims(ref->value, fn);
    return value == ref->value ? t : MakeType(RefType{std::move(value)});
  }
  if (auto* adt = t->As<AdtType>()) {
    auto args = all(adt->args);
    return args == adt->args ? t : MakeType(AdtType{adt->name, std::move(args)});
  }
  return t;
}

bool IsScalarType(const Type& t) {
  auto* tensor = t == nullptr ? nullptr : t->As<TensorType>();
  return tensor != nullptr && tensor->shape.empty() && tensor->dtype != DType::kFloat16 &&
         tensor->dtype != DType::kBFloat16;
}

}  // namespace relayvm::ir

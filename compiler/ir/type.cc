#include "compiler/ir/type.h"

#include <algorithm>
#include <set>

namespace relayvm::ir {

namespace {

bool AddSymbols(const Type& t, std::vector<uint32_t>& out);

// Adds what the parts of `t` mention and `t` does not bind to `out`; false when these are many.
bool AddSymbolsOfParts(const TypeNode& t, std::vector<uint32_t>& out) {
  std::vector<uint32_t> inside;
  bool few = true;
  ForEachChild(t, [&](const Type& child) { few = few && AddSymbols(child, inside); });
  if (auto* f = t.As<FunctionType>()) {
    ForEachBoundSymbol(f->params, [&](uint32_t id) { std::erase(inside, id); });
  }
  for (uint32_t id : inside) {
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  }
  return few && out.size() <= TypeNode::kFewSymbols;
}

bool AddSymbols(const Type& t, std::vector<uint32_t>& out) {
  if (t == nullptr || !t->has_open_dim) return true;
  if (auto* tensor = t->As<TensorType>()) {
    for (const Dim& d : tensor->shape) {
      d.ForEachSymbol([&](const Dim& s) {
        if (std::find(out.begin(), out.end(), s.symbol_id()) == out.end())
          out.push_back(s.symbol_id());
      });
    }
    return out.size() <= TypeNode::kFewSymbols;
  }
  if (!t->is_large()) return AddSymbolsOfParts(*t, out);
  out.insert(out.end(), t->symbols.begin(), t->symbols.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return !t->has_many_symbols && out.size() <= TypeNode::kFewSymbols;
}

}  // namespace

TypeNode::TypeNode(TypeVariant n) : node(std::move(n)) {
  auto mix = [&](size_t part) { hash = hash * 1000003 + part; };
  mix(node.index());
  has_infer_var = As<InferVar>() != nullptr;
  has_type_var = As<TypeVar>() != nullptr;
  if (auto* tensor = As<TensorType>()) {
    for (const Dim& d : tensor->shape) {
      has_open_dim = has_open_dim || !d.is_const();
      mix(d.Hash());
    }
    mix(static_cast<size_t>(tensor->dtype));
  } else if (auto* adt = As<AdtType>()) {
    mix(std::hash<std::string>()(adt->name));
  } else if (auto* unknown = As<InferVar>()) {
    mix(unknown->id);
  }
  ForEachChild(*this, [&](const Type& child) {
    if (child == nullptr) return;
    has_infer_var = has_infer_var || child->has_infer_var;
    has_type_var = has_type_var || child->has_type_var;
    has_open_dim = has_open_dim || child->has_open_dim;
    size = std::min(kLarge, size + child->size);
    mix(child->hash);
  });
  if (is_large() && has_open_dim) has_many_symbols = !AddSymbolsOfParts(*this, symbols);
}

namespace {

// Equality up to the names of bound type parameters: `bound` maps those of the left side to those
// of the right.
struct BoundVars {
  std::map<uint32_t, uint32_t> names;
  // Pairs of large types that are equal under no names.
  std::set<std::pair<const TypeNode*, const TypeNode*>> equal;
};

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
  BoundVars inner{bound.names, {}};
  for (size_t i = 0; i < a.type_params.size(); ++i) {
    inner.names[a.type_params[i]->As<TypeVar>()->id] = b.type_params[i]->As<TypeVar>()->id;
  }
  return AllEqual(a.params, b.params, inner) && Equals(a.result, b.result, inner);
}

bool ChildrenEqual(const Type& a, const Type& b, BoundVars& bound);

bool Equals(const Type& a, const Type& b, BoundVars& bound) {
  if (a == nullptr || b == nullptr) return a == b;
  if (a == b && bound.names.empty()) return true;
  if (a->hash != b->hash || a->node.index() != b->node.index()) return false;
  if (!a->is_large() || !bound.names.empty()) return ChildrenEqual(a, b, bound);
  if (bound.equal.contains({a.get(), b.get()})) return true;
  if (!ChildrenEqual(a, b, bound)) return false;
  bound.equal.insert({a.get(), b.get()});
  return true;
}

bool ChildrenEqual(const Type& a, const Type& b, BoundVars& bound) {
  if (auto* t = a->As<TensorType>()) return *t == *b->As<TensorType>();
  if (auto* t = a->As<TupleType>()) return AllEqual(t->fields, b->As<TupleType>()->fields, bound);
  if (auto* t = a->As<FunctionType>()) return FunctionsEqual(*t, *b->As<FunctionType>(), bound);
  if (auto* t = a->As<RefType>()) return Equals(t->value, b->As<RefType>()->value, bound);
  if (auto* t = a->As<AdtType>()) {
    auto* u = b->As<AdtType>();
    return t->name == u->name && AllEqual(t->args, u->args, bound);
  }
  if (auto* t = a->As<TypeVar>()) {
    auto it = bound.names.find(t->id);
    return (it == bound.names.end() ? t->id : it->second) == b->As<TypeVar>()->id;
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

// No text of a type is longer by much: as a tree a type may be larger than memory.
constexpr size_t kMaxText = 1 << 20;

void Print(const Type& t, const TypeSpelling& spelling, std::string& out) {
  if (out.size() > kMaxText) {
    out += "...";
  } else if (t == nullptr) {
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

namespace {

void ForEachBoundSymbol(const std::vector<Type>& params, const std::function<void(uint32_t)>& fn,
                        TypeMemo<bool>& seen) {
  for (const Type& p : params) {
    if (p == nullptr || !p->has_open_dim || seen.Find(p) != nullptr) continue;
    if (auto* tensor = p->As<TensorType>()) {
      for (const Dim& d : tensor->shape) {
        if (d.is_symbol()) fn(d.symbol_id());
      }
    } else if (auto* tuple = p->As<TupleType>()) {
      ForEachBoundSymbol(tuple->fields, fn, seen);
      seen.Add(p, true);
    }
  }
}

}  // namespace

void ForEachBoundSymbol(const std::vector<Type>& params, const std::function<void(uint32_t)>& fn) {
  TypeMemo<bool> seen;
  ForEachBoundSymbol(params, fn, seen);
}

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

namespace {

void ForEachDim(const Type& t, const std::function<void(const Dim&)>& fn, TypeMemo<bool>& seen) {
  if (t == nullptr || seen.Find(t) != nullptr) return;
  if (auto* tensor = t->As<TensorType>()) {
    for (const Dim& d : tensor->shape) fn(d);
    return;
  }
  ForEachChild(*t, [&](const Type& child) { ForEachDim(child, fn, seen); });
  seen.Add(t, true);
}

Type MapDims(const Type& t, const std::function<Dim(const Dim&)>& fn, TypeMemo<Type>& done) {
  if (t == nullptr) return t;
  if (auto* tensor = t->As<TensorType>()) {
    std::vector<Dim> shape;
    for (const Dim& d : tensor->shape) shape.push_back(fn(d));
    return shape == tensor->shape ? t : MakeTensorType(std::move(shape), tensor->dtype);
  }
  if (const Type* known = done.Find(t)) return *known;
  Type out = MapChildren(t, [&](const Type& child) { return MapDims(child, fn, done); });
  done.Add(t, out);
  return out;
}

// What parts of a type became. A part that nothing else holds is met once; any other is remembered,
// however small: what shares no parts after one substitution grows with the next. Holds the parts,
// so that no other takes their address.
class SubstitutedTypes {
 public:
  const Type* Find(const Type& t) const {
    const auto at = t.use_count() > 1 ? images_.find(t.get()) : images_.end();
    return at == images_.end() ? nullptr : &at->second.second;
  }
  void Add(const Type& t, const Type& image) {
    if (t.use_count() > 1) images_.emplace(t.get(), std::pair(t, image));
  }

 private:
  std::unordered_map<const TypeNode*, std::pair<Type, Type>> images_;
};

Type SubstituteTypeVars(const Type& t, const std::map<uint32_t, Type>& types,
                        SubstitutedTypes& done) {
  if (t == nullptr || !t->has_type_var) return t;
  if (auto* v = t->As<TypeVar>()) {
    auto it = types.find(v->id);
    return it == types.end() ? t : it->second;
  }
  if (const Type* known = done.Find(t)) return *known;
  Type out =
      MapChildren(t, [&](const Type& child) { return SubstituteTypeVars(child, types, done); });
  done.Add(t, out);
  return out;
}

}  // namespace

void ForEachDim(const Type& t, const std::function<void(const Dim&)>& fn) {
  TypeMemo<bool> seen;
  ForEachDim(t, fn, seen);
}

Type MapDims(const Type& t, const std::function<Dim(const Dim&)>& fn) {
  TypeMemo<Type> done;
  return MapDims(t, fn, done);
}

Type MapChildren(const Type& t, const std::function<Type(const Type&)>& fn) {
  bool changed = false;
  auto map = [&](const Type& x) {
    Type y = fn(x);
    changed = changed || y != x;
    return y;
  };
  auto all = [&](const std::vector<Type>& types) {
    std::vector<Type> out;
    out.reserve(types.size());
    for (const Type& x : types) out.push_back(map(x));
    return out;
  };
  if (auto* tuple = t->As<TupleType>()) {
    auto fields = all(tuple->fields);
    return changed ? MakeType(TupleType{std::move(fields)}) : t;
  }
  if (auto* f = t->As<FunctionType>()) {
    auto params = all(f->params);
    Type result = map(f->result);
    return changed ? MakeType(FunctionType{f->type_params, std::move(params), std::move(result)})
                   : t;
  }
  if (auto* ref = t->As<RefType>()) {
    Type value = map(ref->value);
    return changed ? MakeType(RefType{std::move(value)}) : t;
  }
  if (auto* adt = t->As<AdtType>()) {
    auto args = all(adt->args);
    return changed ? MakeType(AdtType{adt->name, std::move(args)}) : t;
  }
  return t;
}

Type SubstituteTypeVars(const Type& t, const std::map<uint32_t, Type>& types) {
  if (types.empty()) return t;
  SubstitutedTypes done;
  return SubstituteTypeVars(t, types, done);
}

bool IsScalarType(const Type& t) {
  auto* tensor = t == nullptr ? nullptr : t->As<TensorType>();
  return tensor != nullptr && tensor->shape.empty() && tensor->dtype != DType::kFloat16 &&
         tensor->dtype != DType::kBFloat16;
}

}  // namespace relayvm::ir

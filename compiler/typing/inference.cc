// Variables: their types, the opening of unknown dims, and annotations.
#include "compiler/typing/inference.h"

#include <fmt/format.h>

#include <algorithm>

namespace relayvm::typing {

using ir::AdtType;
using ir::FunctionType;
using ir::InferVar;
using ir::MakeType;
using ir::RefType;
using ir::TupleType;
using ir::Type;

Inference::Inference(const ir::Module& module, Widenings* widenings)
    : module_(module), solver_(module.ids.get(), &scopes_, widenings) {
  for (const auto& [id, symbol] : module.symbols) {
    old_symbols_.emplace(symbol.value->id, id);
    if (symbol.value == symbol.source) old_elements_.emplace(std::pair(symbol.value->id, 0), id);
  }
}

Status Inference::Run() {
  RELAYVM_RETURN_IF_ERROR(CheckTypeDefs());
  RELAYVM_RETURN_IF_ERROR(InferComponents());
  RELAYVM_RETURN_IF_ERROR(RunStalled());
  if (must_rerun()) return OkStatus();
  for (const Annotation& a : annotations_) {
    RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(a.value));
    GuardAnnotation(type, a.declared, a.what, *a.guards);
  }
  RELAYVM_RETURN_IF_ERROR(CheckContainers());
  return CheckTypeParams();
}

// --- Variables ---

void Inference::DefineVar(const ir::Var* var, Type type, Place place) {
  VarState& state = vars_[var];
  state.type = std::move(type);
  state.place = place;
}

const Type& Inference::TypeOf(const ir::Var* var) {
  VarState& state = vars_[var];
  if (state.settled) return state.type;
  if (!state.read) {
    // What is not decided yet is decided once, where it is defined.
    if (state.alias) {
      state.type = *TypeOf(*state.alias);
    } else if (state.tuple != nullptr && state.place.time != 0) {
      TupleType tuple;
      for (const ir::Atom& field : state.tuple->fields) tuple.fields.push_back(*TypeOf(field));
      state.type = MakeType(std::move(tuple));
      state.settled = solver_.FirstUnknown(state.type) == 0;
      return state.type;
    }
  }
  if (solver_.IsUnknown(state.type)) {
    state.type = solver_.Resolve(state.type);
    return state.type;
  }
  state.read = true;
  std::vector<int> path;
  Type opened = Open(var, state.type, path);
  VarState& after = vars_[var];
  after.type = opened;
  after.settled = solver_.FirstUnknown(opened) == 0;
  return after.type;
}

Result<Type> Inference::TypeOf(const ir::Atom& a) {
  if (auto* var = std::get_if<const ir::Var*>(&a)) {
    if (!vars_.contains(*var)) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("%{} is used outside of its scope", (*var)->name));
    }
    auto* function = vars_[*var].function;
    if (function != nullptr && !function->done) {
      return FunctionValueType(*function);
    }
    return TypeOf(*var);
  }
  if (auto* constant = std::get_if<const ir::Constant*>(&a)) return ir::ConstantType(**constant);
  if (auto* constructor = std::get_if<const ir::Constructor*>(&a)) {
    return ir::ConstructorType(module_, **constructor);
  }
  const std::string& name = std::get<const ir::GlobalVar*>(a)->name;
  auto it = globals_.find(name);
  if (it == globals_.end()) {
    return Status(StatusCode::kInvalidInput, fmt::format("there is no function @{}", name));
  }
  return FunctionValueType(*it->second);
}

// Any in tensor position becomes a symbol that `var` defines.
Type Inference::Open(const ir::Var* var, const Type& t, std::vector<int>& path) {
  Type r = solver_.Resolve(t);
  if (auto* tensor = r->As<TensorType>()) {
    std::vector<Dim> shape = tensor->shape;
    bool changed = false;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!shape[i].is_any()) continue;
      path.push_back(static_cast<int>(i));
      shape[i] = OpenedDim(var, path);
      path.pop_back();
      changed = true;
    }
    return changed ? ir::MakeTensorType(std::move(shape), tensor->dtype) : r;
  }
  if (r->As<TupleType>() == nullptr) return r;
  int next = 0;
  return MapChildren(r, [&](const Type& field) {
    path.push_back(next++);
    Type opened = Open(var, field, path);
    path.pop_back();
    return opened;
  });
}

Dim Inference::OpenedDim(const ir::Var* var, const std::vector<int>& path) {
  auto [it, inserted] = opened_.try_emplace(std::pair(var->id, path));
  if (!inserted) return it->second;
  if (auto declared = DeclaredSymbol(var, path)) {
    it->second = *declared;
  } else {
    std::string name = var->name.empty() ? fmt::format("v{}", var->id) : var->name;
    for (int i : path) name += fmt::format(".{}", i);
    it->second = Dim::Symbol(module_.ids->Next(), std::move(name));
  }
  scopes_.DefineSymbol(it->second.symbol_id(), vars_[var].place);
  return it->second;
}

std::vector<Inference::DefinedDim> Inference::DimsDefinedBy(const ir::Var* var) const {
  std::vector<DefinedDim> out;
  for (auto at = opened_.lower_bound({var->id, {}}); at != opened_.end(); ++at) {
    const auto& [id, path] = at->first;
    if (id != var->id) break;
    out.push_back({at->second, {path.begin(), path.end() - 1}, static_cast<uint32_t>(path.back())});
  }
  return out;
}

// The symbol that the input's type of `var` has at `path`, if this run doesn't use it for something
// else.
std::optional<Dim> Inference::DeclaredSymbol(const ir::Var* var,
                                             const std::vector<int>& path) const {
  Type t = var->type;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    auto* tuple = t == nullptr ? nullptr : t->As<TupleType>();
    if (tuple == nullptr || static_cast<size_t>(path[i]) >= tuple->fields.size()) {
      return std::nullopt;
    }
    t = tuple->fields[static_cast<size_t>(path[i])];
  }
  auto* tensor = t == nullptr ? nullptr : t->As<TensorType>();
  if (tensor == nullptr || path.back() >= tensor->rank()) return std::nullopt;
  const Dim& d = tensor->shape[static_cast<size_t>(path.back())];
  if (!d.is_symbol() || !d.symbol_nonnegative() || scopes_.IsDefined(d.symbol_id())) {
    return std::nullopt;
  }
  return d;
}

// Where an earlier run gave a variable a symbol and this one finds an expression, the symbol stands
// for the expression.
void Inference::LearnMeanings(const Type& declared, const Type& inferred) {
  Type r = solver_.Resolve(inferred);
  if (declared == nullptr || declared->node.index() != r->node.index()) return;
  if (auto* d = declared->As<TensorType>()) {
    auto* t = r->As<TensorType>();
    for (int i = 0; i < d->rank() && i < t->rank(); ++i) {
      const Dim& s = d->shape[i];
      if (s.is_symbol() && !(s == t->shape[i]) && !t->shape[i].is_any() &&
          !scopes_.IsDefined(s.symbol_id())) {
        meanings_.emplace(s.symbol_id(), t->shape[i]);
      }
    }
  } else if (auto* tuple = declared->As<TupleType>()) {
    auto* fields = r->As<TupleType>();
    for (size_t i = 0; i < tuple->fields.size() && i < fields->fields.size(); ++i) {
      LearnMeanings(tuple->fields[i], fields->fields[i]);
    }
  }
}

Dim Inference::Translate(const Dim& d) {
  return d.Substitute([&](const Dim& s) -> std::optional<Dim> {
    if (scopes_.IsDefined(s.symbol_id())) return std::nullopt;
    auto it = meanings_.find(s.symbol_id());
    if (it != meanings_.end()) return it->second;
    // What this run has for the variable that the symbol stood for.
    auto old = module_.symbols.find(s.symbol_id());
    if (old == module_.symbols.end() || !vars_.contains(old->second.value)) return std::nullopt;
    return ElementsOrSymbols(old->second.value, 1)[0];
  });
}

Type Inference::NewSlot(Item& item, bool guessed) {
  return solver_.NewSlot(item.place, {item.binding->var->id, item.slot_index++}, guessed);
}

// --- Annotations ---

namespace {

// Symbols that `type`'s function types bind stay; all others become Any.
Type ForgetSymbols(const Type& t, std::vector<uint32_t>& bound) {
  if (auto* tensor = t->As<TensorType>()) {
    std::vector<Dim> shape;
    for (const Dim& d : tensor->shape) {
      bool free = false;
      d.ForEachSymbol([&](const Dim& s) {
        free = free || std::find(bound.begin(), bound.end(), s.symbol_id()) == bound.end();
      });
      shape.push_back(free ? Dim::Any() : d);
    }
    return shape == tensor->shape ? t : ir::MakeTensorType(std::move(shape), tensor->dtype);
  }
  size_t outer = bound.size();
  if (auto* f = t->As<FunctionType>()) {
    ForEachBoundSymbol(f->params, [&](uint32_t id) { bound.push_back(id); });
  }
  Type out = MapChildren(t, [&](const Type& child) { return ForgetSymbols(child, bound); });
  bound.resize(outer);
  return out;
}

}  // namespace

// Fields are written out: every constructor has one type for the whole module.
Status Inference::CheckTypeDefs() {
  for (const auto& [name, def] : module_.types) {
    for (const ir::Constructor* c : def.constructors) {
      for (size_t i = 0; i < c->fields.size(); ++i) {
        RELAYVM_ASSIGN_OR_RETURN(Type field, PrepareDeclared(c->fields[i], {}, def.span));
        if (solver_.FirstUnknown(field) != 0) {
          return ErrorAt(def.span,
                         fmt::format("the type of field {} of {} is incomplete", i, c->name));
        }
      }
    }
  }
  return OkStatus();
}

// Checks a written type: ADTs exist, children are there; "_" get their slots; symbols (of an
// earlier run) become Any.
Result<Type> Inference::PrepareDeclared(const Type& t, Place place, ir::Span span) {
  Status failure;
  std::function<void(const Type&)> check = [&](const Type& x) {
    if (!failure.ok()) return;
    if (x == nullptr) {
      failure = ErrorAt(span, "a type is incomplete");
      return;
    }
    if (auto* v = x->As<InferVar>()) solver_.AdoptSlot(v->id, place);
    if (auto* adt = x->As<AdtType>()) {
      auto it = module_.types.find(adt->name);
      if (it == module_.types.end()) {
        failure = ErrorAt(span, fmt::format("there is no type {}", adt->name));
      } else if (it->second.params.size() != adt->args.size()) {
        failure =
            ErrorAt(span, fmt::format("type {} takes {} type argument{}, found {}", adt->name,
                                      it->second.params.size(),
                                      it->second.params.size() == 1 ? "" : "s", adt->args.size()));
      }
    }
    if (auto* f = x->As<FunctionType>(); f != nullptr && f->result == nullptr) {
      failure = ErrorAt(span, "a function type has no result");
      return;
    }
    MapChildren(x, [&](const Type& child) {
      check(child);
      return child;
    });
  };
  check(t);
  if (!failure.ok()) return failure;
  std::vector<uint32_t> bound;
  return ForgetSymbols(t, bound);
}

Status Inference::Annotate(const ir::Atom& value, const Type& written, Place place, ir::Span span,
                           std::string what, std::vector<ir::Guard>* guards, bool new_ref) {
  RELAYVM_ASSIGN_OR_RETURN(Type declared, PrepareDeclared(written, place, span));
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(value));
  // Symbols of an earlier run that still are what they were decide what nothing else decides. They
  // claim nothing.
  Status flow = solver_.Flow(type, solver_.Restrict(written, place));
  if (!flow.ok()) return ErrorAt(span, flow.WithContext(what));
  const auto* made = new_ref ? solver_.Resolve(type)->As<RefType>() : nullptr;
  const auto* wanted = declared->As<RefType>();
  if (made != nullptr && wanted != nullptr) {
    // What a new reference holds follows from what is written to it: a ? leaves that open.
    checks_.push_back({made->value, wanted->value, span, what});
  } else {
    AddCheck(type, declared, span, what);
  }
  annotations_.push_back({value, declared, std::move(what), guards});
  return OkStatus();
}

// An annotation may be more precise than what is known: then it is a claim to be checked when the
// program runs.
void Inference::GuardAnnotation(const Type& inferred, const Type& declared, const std::string& what,
                                std::vector<ir::Guard>& guards) {
  Type i = solver_.Resolve(inferred);
  Type d = solver_.Resolve(declared);
  if (i->node.index() != d->node.index()) return;
  if (auto* tensor = i->As<TensorType>()) {
    auto* want = d->As<TensorType>();
    for (int k = 0; k < tensor->rank() && k < want->rank(); ++k) {
      const Dim& x = tensor->shape[k];
      const Dim& y = want->shape[k];
      if (!y.is_const() || x == y || x.is_any()) continue;
      guards.push_back(
          {ir::Guard::Kind::kEqual, x, y,
           fmt::format("{}: dimension {}: {} and {} differ", what, k, x.ToString(), y.ToString())});
    }
  } else if (auto* tuple = i->As<TupleType>()) {
    auto* want = d->As<TupleType>();
    for (size_t k = 0; k < tuple->fields.size() && k < want->fields.size(); ++k) {
      GuardAnnotation(tuple->fields[k], want->fields[k], what, guards);
    }
  }
}

// `inferred` with the constants that `declared` promises.
Type Inference::Refine(const Type& inferred, const Type& declared) {
  Type i = solver_.Resolve(inferred);
  Type d = solver_.Resolve(declared);
  if (i->node.index() != d->node.index()) return i;
  if (auto* tensor = i->As<TensorType>()) {
    auto* want = d->As<TensorType>();
    if (tensor->rank() != want->rank()) return i;
    std::vector<Dim> shape = tensor->shape;
    for (size_t k = 0; k < shape.size(); ++k) {
      if (want->shape[k].is_const()) shape[k] = want->shape[k];
    }
    return shape == tensor->shape ? i : ir::MakeTensorType(std::move(shape), tensor->dtype);
  }
  auto* want = d->As<TupleType>();
  if (want == nullptr) return i;
  size_t next = 0;
  return MapChildren(i, [&](const Type& field) {
    return next < want->fields.size() ? Refine(field, want->fields[next++]) : field;
  });
}

// --- Errors ---

Status Inference::ErrorAt(ir::Span span, const Status& status) {
  if (error_located_) return status;
  if (module_.sources == nullptr || span.line == 0 || span.file >= module_.sources->num_files()) {
    return status;
  }
  error_located_ = true;
  return module_.sources->Error(status.code(), span, status.message());
}

Status Inference::ErrorAt(ir::Span span, std::string_view message) {
  return ErrorAt(span, Status(StatusCode::kInvalidInput, std::string(message)));
}

std::string Inference::NameOf(const ir::Atom& a) const {
  if (auto* var = std::get_if<const ir::Var*>(&a)) {
    return (*var)->name.empty() ? "a function value" : "%" + (*var)->name;
  }
  if (auto* global = std::get_if<const ir::GlobalVar*>(&a)) return "@" + (*global)->name;
  if (auto* constructor = std::get_if<const ir::Constructor*>(&a)) return (*constructor)->name;
  return "a constant";
}

// --- Results ---

Type Inference::FinalType(const ir::Var* var) {
  VarState& state = vars_[var];
  if (state.function != nullptr && state.function->done) {
    return FinalFunctionType(*state.function);
  }
  static const Type kUnit = ir::UnitType();
  TypeOf(var);
  return solver_.Zonk(vars_[var].type, kUnit);
}

std::vector<Type> Inference::FinalTypeArgs(const ir::Var* var) {
  auto it = type_args_.find(var);
  if (it == type_args_.end()) return {};
  std::vector<Type> out;
  for (const Type& t : it->second) out.push_back(solver_.Zonk(t, ir::UnitType()));
  return out;
}

const std::vector<Dim>* Inference::Contents(const ir::Var* var) const {
  auto it = vars_.find(var);
  if (it == vars_.end() || it->second.leaf_elements) return nullptr;
  return it->second.elements.get();
}

}  // namespace relayvm::typing

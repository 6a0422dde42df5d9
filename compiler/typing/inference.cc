// Variables: their types, the opening of unknown dims, and annotations.
#include "compiler/typing/inference.h"

#include <fmt/format.h>

#include <algorithm>

#include "bytecode/verifier.h"
#include "compiler/ir/walk.h"

namespace relayvm::typing {

using ir::AdtType;
using ir::FunctionType;
using ir::InferVar;
using ir::MakeType;
using ir::RefType;
using ir::TupleType;
using ir::Type;

namespace {

// Floats, of a shape that is numbers alone.
bool IsPlain(const Type& t) {
  if (t == nullptr || t->has_open_dim || t->has_infer_var) return false;
  if (const auto* tensor = t->As<TensorType>()) return IsFloat(tensor->dtype);
  const auto* tuple = t->As<TupleType>();
  return tuple != nullptr && std::ranges::all_of(tuple->fields, IsPlain);
}

// The calls of tensors that are plain, on what is plain and on constants.
std::unordered_map<const ir::Expr*, const ir::Var*> PlainCallsOf(const ir::Module& module) {
  std::unordered_map<const ir::Expr*, const ir::Var*> calls;
  if (module.typed == nullptr) return calls;
  const auto is_plain = [](const ir::Atom& a) {
    const ir::Var* var = ir::AsVar(a);
    return var != nullptr ? IsPlain(var->type) : std::holds_alternative<const ir::Constant*>(a);
  };
  for (const auto& [name, function] : module.typed->functions) {
    ir::ForEachBinding(*function->body, [&](const ir::Binding& b) {
      const auto* call = b.value->As<ir::OpCall>();
      if (call == nullptr || call->op->is_identity || !IsPlain(b.var->type)) return;
      const auto* tensor = b.var->type->As<TensorType>();
      if (tensor != nullptr && tensor->rank() > 0 && std::ranges::all_of(call->args, is_plain))
        calls.emplace(b.value, b.var);
    });
  }
  return calls;
}

}  // namespace

Inference::Inference(const ir::Module& module, Purpose purpose, Widenings* widenings)
    : module_(module), purpose_(purpose), solver_(module.ids.get(), &scopes_, widenings) {
  if (purpose == Purpose::kRetype) {
    kept_ = KeptFunctions(module);
    typed_calls_ = PlainCallsOf(module);
  }
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
  if (!mixed_.vars.empty()) return mixed_.error;
  for (const ir::Binding* b : statements_) RELAYVM_RETURN_IF_ERROR(GuardStatement(*b));
  solver_.Close();
  if (purpose_ == Purpose::kRetype) return OkStatus();
  RELAYVM_RETURN_IF_ERROR(CheckContainers());
  return CheckTypeParams();
}

bool Inference::KeepsType(const ir::Binding& binding, const ir::OpCall& call) {
  const auto typed = typed_calls_.find(binding.value);
  if (typed == typed_calls_.end() || typed->second != binding.var) return false;
  return std::ranges::all_of(call.args, [&](const ir::Atom& a) {
    const ir::Var* var = ir::AsVar(a);
    if (var == nullptr) return true;
    const auto now = TypeOf(a);
    return now.ok() && ir::TypeEquals(*now, var->type);
  });
}

// --- Variables ---

void Inference::DefineVar(const ir::Var* var, Type type, Place place) {
  VarState& state = vars_[var];
  state.type = std::move(type);
  state.place = place;
}

// The type that the variable has in the input if it is the same: what is made of it is then quick
// to compare.
Type Inference::KnownType(const ir::Var* var, const Type& type) {
  bool same = type->is_large() && var->type != nullptr && ir::TypeEquals(var->type, type);
  return same ? var->type : type;
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
      state.type = KnownType(var, MakeType(std::move(tuple)));
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
  after.type = KnownType(var, opened);
  after.settled = solver_.FirstUnknown(after.type) == 0;
  return after.type;
}

Result<Type> Inference::TypeOf(const ir::Atom& a) {
  if (auto* var = std::get_if<const ir::Var*>(&a)) {
    if (!vars_.contains(*var)) {
      return Status(StatusCode::kInternal,
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
  if (!t->has_open_dim && !t->has_infer_var) return t;
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
  if (!d.is_symbol() || !d.symbol_nonnegative() || !MayAdopt(d.symbol_id())) return std::nullopt;
  return d;
}

// Where an earlier run gave a variable a symbol and this one finds an expression, the symbol stands
// for the expression.
void Inference::LearnMeanings(const Type& declared, const Type& inferred) {
  Type r = solver_.Resolve(inferred);
  if (declared == nullptr || declared->node.index() != r->node.index()) return;
  if (!declared->has_open_dim || (declared->is_large() && ir::TypeEquals(declared, r))) return;
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
Type ForgetSymbols(const Type& t, std::vector<uint32_t>& bound, ir::TypeMemo<Type>& done) {
  if (!t->has_open_dim) return t;
  if (const Type* known = done.Find(t)) return *known;
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
  if (auto* f = t->As<FunctionType>()) {
    size_t outer = bound.size();
    ForEachBoundSymbol(f->params, [&](uint32_t id) { bound.push_back(id); });
    ir::TypeMemo<Type> inside;
    bool binds = bound.size() > outer;
    Type out = MapChildren(
        t, [&](const Type& child) { return ForgetSymbols(child, bound, binds ? inside : done); });
    bound.resize(outer);
    done.Add(t, out);
    return out;
  }
  Type out = MapChildren(t, [&](const Type& child) { return ForgetSymbols(child, bound, done); });
  done.Add(t, out);
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
  ir::TypeMemo<bool> here;
  ir::TypeMemo<Type> done_here;
  const bool open = t != nullptr && t->has_infer_var;  // what becomes of it depends on the place
  ir::TypeMemo<bool>& seen = open ? here : checked_types_;
  ir::TypeMemo<Type>& done = open ? done_here : prepared_types_;
  std::function<void(const Type&)> check = [&](const Type& x) {
    if (!failure.ok()) return;
    if (x == nullptr) {
      failure = ErrorAt(span, "a type is incomplete");
      return;
    }
    if (seen.Find(x) != nullptr) return;
    seen.Add(x, true);
    if (auto* v = x->As<InferVar>()) solver_.AdoptSlot(v->id, place);
    if (auto* tensor = x->As<TensorType>();
        tensor != nullptr && tensor->shape.size() > kMaxTensorRank) {
      failure = ErrorAt(span, Status(StatusCode::kUnsupported,
                                     fmt::format("a tensor has at most {} dimensions, found {}",
                                                 kMaxTensorRank, tensor->shape.size())));
    }
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
    ForEachChild(*x, check);
  };
  check(t);
  if (!failure.ok()) return failure;
  std::vector<uint32_t> bound;
  return ForgetSymbols(t, bound, done);
}

Status Inference::Annotate(const ir::Atom& value, const Type& written, Place place, ir::Span span,
                           const std::string& what, bool new_ref) {
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
    AddCheck(made->value, wanted->value, span, what, /*inside=*/true);
  } else {
    AddCheck(type, declared, span, what);
  }
  return OkStatus();
}

Inference::DimMatch Inference::MatchStated(const ir::Stated& stated, const Type& actual) {
  DimMatch match;
  ir::ForEachDim(stated.type, [&](const Dim& d) {
    d.ForEachSymbol([&](const Dim& s) { match.bound.insert(s.symbol_id()); });
  });
  MatchDims(stated.type, actual, stated.what, match);
  return match;
}

Status Inference::GuardStatement(const ir::Binding& binding) {
  const auto& stated = *binding.value->As<ir::Stated>();
  RELAYVM_ASSIGN_OR_RETURN(Type actual, TypeOf(stated.value));
  auto guards = GuardEquations(MatchStated(stated, actual));
  if (!guards.ok() && IsDeadEnd(guards.status())) {
    AddDeadEnd(binding.var, guards.status());
    return OkStatus();
  }
  if (!guards.ok()) return ErrorAt(binding.value->span, guards.status());
  if (!guards->empty()) outcomes_[binding.var].guards = std::move(*guards);
  return OkStatus();
}

bool Inference::IsProved(const ir::Binding& stated) {
  const Outcome* outcome = OutcomeOf(stated.var);
  return (outcome == nullptr || outcome->guards.empty()) &&
         ir::TypeEquals(FinalType(stated.var), FinalType(stated.value->As<ir::Stated>()->value));
}

Type Inference::Refine(const Type& inferred, const Type& declared, const DimMap& known) {
  Type i = solver_.Resolve(inferred);
  Type d = solver_.Resolve(declared);
  if (i == d || i->node.index() != d->node.index()) return i;
  if (i->is_large() && ir::TypeEquals(i, d)) return i;
  if (auto* tensor = i->As<TensorType>()) {
    auto* want = d->As<TensorType>();
    if (tensor->rank() != want->rank()) return i;
    std::vector<Dim> shape = tensor->shape;
    for (size_t k = 0; k < shape.size(); ++k) {
      const Dim& promised = want->shape[k];
      const auto found = promised.is_symbol() ? known.find(promised.symbol_id()) : known.end();
      if (promised.is_const()) shape[k] = promised;
      if (found != known.end()) shape[k] = found->second;
    }
    return shape == tensor->shape ? i : ir::MakeTensorType(std::move(shape), tensor->dtype);
  }
  auto* want = d->As<TupleType>();
  if (want == nullptr) return i;
  size_t next = 0;
  return MapChildren(i, [&](const Type& field) {
    return next < want->fields.size() ? Refine(field, want->fields[next++], known) : field;
  });
}

// --- Errors ---

Status Inference::Located(ir::Span span, const Status& status) const {
  bool known =
      module_.sources != nullptr && span.line != 0 && span.file < module_.sources->num_files();
  return known ? module_.sources->Error(status.code(), span, status.message()) : status;
}

Status Inference::ErrorAt(ir::Span span, const Status& status) {
  if (error_located_ || MayEndDead()) return status;
  Status located = Located(span, status);
  error_located_ = located.message() != status.message();
  return located;
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
  if (state.type == nullptr) return ir::UnitType();  // behind a dead end
  TypeOf(var);
  return Final(vars_[var].type);
}

Type Inference::FinalType(const ir::Atom& a) {
  if (auto* var = std::get_if<const ir::Var*>(&a)) return FinalType(*var);
  auto type = TypeOf(a);
  return type.ok() ? Final(*type) : ir::UnitType();
}

const Outcome* Inference::OutcomeOf(const ir::Var* var) const {
  auto it = outcomes_.find(var);
  return it == outcomes_.end() ? nullptr : &it->second;
}

MixedRanks Inference::TakeMixedRanks() {
  if (mixed_.vars.empty()) return {};
  for (const auto& [var, state] : vars_) {
    if (state.type == nullptr || solver_.FirstUnknown(state.type) != 0) continue;
    mixed_.types.emplace(var, solver_.Zonk(state.type));
  }
  return std::move(mixed_);
}

const std::vector<Dim>* Inference::Contents(const ir::Var* var) const {
  auto it = vars_.find(var);
  if (it == vars_.end() || it->second.leaf_elements) return nullptr;
  return it->second.elements.get();
}

}  // namespace relayvm::typing

#include "compiler/typing/solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace relayvm::typing {

using ir::AdtType;
using ir::FunctionType;
using ir::InferVar;
using ir::MakeType;
using ir::RefType;
using ir::TupleType;
using ir::Type;
using ir::TypeMemo;
using ir::TypeVar;

// --- Slots ---

Type Solver::NewSlot(Place limit, SlotKey key, bool guessed) {
  uint32_t id = ids_->Next();
  slots_[id] = Slot{nullptr, 0, limit, {key}, guessed, step_, {}};
  return MakeType(InferVar{id});
}

void Solver::AdoptSlot(uint32_t id, Place limit) {
  slots_.try_emplace(id, Slot{nullptr, 0, limit, {SlotKey{id, UINT32_MAX}}, false, step_, {}});
}

uint32_t Solver::Root(uint32_t id) const {
  for (const Slot* s = &At(id); s->forward != 0; s = &At(id)) id = s->forward;
  return id;
}

Type Solver::Resolve(const Type& t) const {
  Type current = t;
  while (auto* v = current->As<InferVar>()) {
    auto it = slots_.find(v->id);
    if (it == slots_.end()) return current;
    if (it->second.forward != 0) {
      current = MakeType(InferVar{Root(v->id)});
      continue;
    }
    if (it->second.type == nullptr) return current;
    current = it->second.type;
  }
  return current;
}

uint32_t Solver::FirstUnknown(const Type& t) const {
  TypeMemo<bool> seen;
  return FirstUnknown(t, seen);
}

uint32_t Solver::FirstUnknown(const Type& t, TypeMemo<bool>& seen) const {
  if (!t->has_infer_var) return 0;
  Type r = Resolve(t);
  if (auto* v = r->As<InferVar>()) return v->id;
  if (seen.Find(r) != nullptr) return 0;
  uint32_t found = 0;
  ForEachChild(*r, [&](const Type& child) {
    if (found == 0) found = FirstUnknown(child, seen);
  });
  seen.Add(r, true);
  return found;
}

Type Solver::Zonk(const Type& t, const Type& fallback) const {
  if (closed_ && fallback != nullptr) return Zonk(t, fallback, final_);
  TypeMemo<Type> done;
  return Zonk(t, fallback, done);
}

Type Solver::Zonk(const Type& t, const Type& fallback, TypeMemo<Type>& done) const {
  Type r = Resolve(t);
  if (!r->has_infer_var) return r;
  if (const Type* known = done.Find(r)) return *known;
  Type out = ZonkNode(r, fallback, done);
  done.Add(r, out);
  return out;
}

Type Solver::ZonkNode(const Type& r, const Type& fallback, TypeMemo<Type>& done) const {
  if (r->As<InferVar>() != nullptr) return fallback != nullptr ? fallback : r;
  if (auto* f = r->As<FunctionType>()) {
    // A symbol written in a parameter is bound by the function type; one that a slot brings is not,
    // and must not become so.
    FunctionType out{f->type_params, {}, Zonk(f->result, fallback, done)};
    bool changed = out.result != f->result;
    for (const Type& p : f->params) {
      out.params.push_back(ZonkParam(p, fallback));
      changed = changed || out.params.back() != p;
    }
    return changed ? MakeType(std::move(out)) : r;
  }
  return MapChildren(r, [&](const Type& child) { return Zonk(child, fallback, done); });
}

Type Solver::ZonkParam(const Type& t, const Type& fallback) const {
  if (!t->has_infer_var) return t;
  if (t->As<InferVar>() != nullptr) {
    return ir::MapDims(Zonk(t, fallback),
                       [](const Dim& d) { return d.is_const() ? d : Dim::Any(); });
  }
  if (t->As<TupleType>() == nullptr) return Zonk(t, fallback);
  return MapChildren(t, [&](const Type& field) { return ZonkParam(field, fallback); });
}

void Solver::Wait(uint32_t slot, uint32_t waiter) { At(Root(slot)).waiters.push_back(waiter); }

bool Solver::Occurs(uint32_t slot, const Type& t) const {
  TypeMemo<bool> seen;
  return Occurs(slot, t, seen);
}

bool Solver::Occurs(uint32_t slot, const Type& t, TypeMemo<bool>& seen) const {
  if (!t->has_infer_var) return false;
  Type r = Resolve(t);
  if (auto* v = r->As<InferVar>()) return v->id == slot;
  if (seen.Find(r) != nullptr) return false;
  bool found = false;
  ForEachChild(*r, [&](const Type& child) { found = found || Occurs(slot, child, seen); });
  seen.Add(r, true);
  return found;
}

namespace {

// `t` with Any wherever `wide` has it. Types of different structure are left alone.
Type ApplyWidening(const Type& t, const Type& wide) {
  if (auto* tensor = t->As<TensorType>()) {
    auto* w = wide->As<TensorType>();
    if (w == nullptr || w->rank() != tensor->rank()) return t;
    std::vector<Dim> shape = tensor->shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (w->shape[i].is_any()) shape[i] = Dim::Any();
    }
    return shape == tensor->shape ? t : ir::MakeTensorType(std::move(shape), tensor->dtype);
  }
  std::vector<Type> others;
  MapChildren(wide, [&](const Type& child) {
    others.push_back(child);
    return child;
  });
  if (t->node.index() != wide->node.index()) return t;
  size_t next = 0;
  return MapChildren(t, [&](const Type& child) {
    return next < others.size() ? ApplyWidening(child, others[next++]) : child;
  });
}

}  // namespace

void Solver::Fill(uint32_t slot, const Type& type) {
  Slot& s = At(slot);
  Type t = type;
  for (const SlotKey& key : s.keys) {
    if (auto it = widenings_->find(key); it != widenings_->end()) t = ApplyWidening(t, it->second);
  }
  s.type = t;
  woken_.insert(woken_.end(), s.waiters.begin(), s.waiters.end());
  s.waiters.clear();
}

Status Solver::Bind(uint32_t slot, const Type& type) {
  if (Occurs(slot, type)) {
    return {StatusCode::kInvalidInput,
            fmt::format("the type would contain itself: {}", ir::TypeToString(Zonk(type)))};
  }
  Cleaning c{At(slot).limit, At(slot).guessed, nullptr, {}, {}};
  Type clean = Clean(type, c, Variance::kCovariant);
  Fill(slot, clean);
  return OkStatus();
}

Status Solver::Define(const Type& slot, const Type& type) {
  Type r = Resolve(slot);
  if (auto* v = r->As<InferVar>()) {
    if (auto* other = Resolve(type)->As<InferVar>()) {
      if (other->id != v->id) Link(v->id, other->id);
      return OkStatus();
    }
    At(v->id).guessed = false;
    return Bind(v->id, type);
  }
  return Flow(type, slot);
}

void Solver::Link(uint32_t a, uint32_t b) {
  a = Root(a);
  b = Root(b);
  if (a == b) return;
  Slot& from = At(a);
  Slot& to = At(b);
  Place limit = scopes_->Common(from.limit, to.limit);
  to.keys.insert(to.keys.end(), from.keys.begin(), from.keys.end());
  to.guessed = to.guessed || from.guessed;
  to.step = std::min(to.step, from.step);
  from.forward = b;
  std::vector<uint32_t> waiters = std::move(from.waiters);
  from.waiters.clear();
  Limit(b, limit, false);
  if (At(b).type != nullptr) {
    woken_.insert(woken_.end(), waiters.begin(), waiters.end());
  } else {
    At(b).waiters.insert(At(b).waiters.end(), waiters.begin(), waiters.end());
  }
}

void Solver::Widen(uint32_t slot, const Type& type) {
  Slot& s = At(slot);
  Type before = s.type;
  s.type = type;
  // The same type may be written with other slots that have become one with its own.
  if (s.step == step_ || ir::TypeEquals(Zonk(before), Zonk(type))) return;
  must_rerun_ = true;
  Type wide = Zonk(type);
  for (const SlotKey& key : s.keys) {
    auto [it, inserted] = widenings_->emplace(key, wide);
    if (!inserted) it->second = ApplyWidening(it->second, wide);
  }
}

// A function whose parameter is written as `param` takes what `slot` stands for.
void Solver::Accept(const Type& slot, const Type& param) {
  auto* var = slot->As<InferVar>();
  if (var == nullptr || param->As<TensorType>() == nullptr) return;
  Slot& s = At(Root(var->id));
  if (s.accepted == nullptr) s.accepted = param;
}

void Solver::Limit(uint32_t slot, Place limit, bool drop_symbols) {
  slot = Root(slot);
  Slot& s = At(slot);
  s.limit = scopes_->Common(s.limit, limit);
  if (s.type == nullptr) {
    s.guessed = s.guessed || drop_symbols;
    return;
  }
  Cleaning c{s.limit, drop_symbols, nullptr, {}, {}};
  Type before = s.type;
  Type clean = Clean(before, c, Variance::kInvariant);
  if (clean != before) Widen(slot, clean);
}

// --- Dims seen from a place ---

Type Solver::Restrict(const Type& t, Place limit, const std::function<bool(uint32_t)>& keep) {
  Cleaning c{limit, false, keep ? &keep : nullptr, {}, {}};
  return Clean(t, c, Variance::kCovariant);
}

Type Solver::Clean(const Type& t, Cleaning& c, Variance v) {
  if (!t->has_open_dim && !t->has_infer_var) return t;
  auto visible = [&](uint32_t id) { return IsVisible(id, c); };
  if (t->is_large() && !t->has_infer_var && !t->has_many_symbols &&
      std::all_of(t->symbols.begin(), t->symbols.end(), visible)) {
    return t;
  }
  ir::TypeMemo<Type>& done = c.done[v == Variance::kCovariant ? 0 : 1];
  if (const Type* known = done.Find(t)) return *known;
  Type out = CleanNode(t, c, v);
  c.done[v == Variance::kCovariant ? 0 : 1].Add(t, out);
  return out;
}

bool Solver::IsVisible(uint32_t symbol, const Cleaning& c) const {
  if (std::find(c.bound.begin(), c.bound.end(), symbol) != c.bound.end()) return true;
  if (c.keep != nullptr && (*c.keep)(symbol)) return true;
  return !c.drop_symbols && scopes_->IsSymbolVisible(symbol, c.limit);
}

Type Solver::CleanNode(const Type& t, Cleaning& c, Variance v) {
  if (auto* var = t->As<InferVar>()) {
    uint32_t root = Root(var->id);
    if (At(root).type != nullptr && v == Variance::kCovariant) return Clean(At(root).type, c, v);
    Limit(root, c.limit, c.drop_symbols && At(root).type != nullptr);
    return root == var->id ? t : MakeType(InferVar{root});
  }
  if (auto* tensor = t->As<TensorType>()) {
    std::vector<Dim> shape;
    bool changed = false;
    for (const Dim& d : tensor->shape) {
      bool visible = true;
      d.ForEachSymbol([&](const Dim& s) { visible = visible && IsVisible(s.symbol_id(), c); });
      shape.push_back(visible ? d : Dim::Any());
      changed = changed || !visible;
    }
    return changed ? ir::MakeTensorType(std::move(shape), tensor->dtype) : t;
  }
  if (auto* f = t->As<FunctionType>()) {
    // What symbols mean depends on the function types around: inside, parts are cleaned anew.
    auto outer_done = std::exchange(c.done, {});
    size_t outer = c.bound.size();
    ForEachBoundSymbol(f->params, [&](uint32_t id) { c.bound.push_back(id); });
    bool changed = false;
    FunctionType out{f->type_params, {}, nullptr};
    for (const Type& p : f->params) {
      out.params.push_back(Clean(p, c, Variance::kInvariant));
      changed = changed || out.params.back() != p;
    }
    out.result = Clean(f->result, c, v);
    changed = changed || out.result != f->result;
    c.bound.resize(outer);
    c.done = std::move(outer_done);
    return changed ? MakeType(std::move(out)) : t;
  }
  Variance inner = t->As<RefType>() != nullptr ? Variance::kInvariant : v;
  return MapChildren(t, [&](const Type& child) { return Clean(child, c, inner); });
}

// --- Flow ---

namespace {

// The type of a slot into which `actual` went, with the numbers that a function asks for: a tensor
// of an open dim that is passed there is checked when the program runs, so the slot need not give
// them up.
Type KeepAccepted(const Type& joined, const Type& actual, const Type& accepted) {
  auto* wide = joined->As<TensorType>();
  auto* given = actual->As<TensorType>();
  auto* wanted = accepted == nullptr ? nullptr : accepted->As<TensorType>();
  if (wide == nullptr || given == nullptr || wanted == nullptr) return joined;
  if (wide->rank() != wanted->rank() || given->rank() != wanted->rank()) return joined;
  std::vector<Dim> shape = wide->shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool open = shape[i].is_any() && !given->shape[i].is_const();
    if (open && wanted->shape[i].is_const()) shape[i] = wanted->shape[i];
  }
  return shape == wide->shape ? joined : ir::MakeTensorType(std::move(shape), wide->dtype);
}

}  // namespace

Status Solver::Flow(const Type& actual, const Type& expected) {
  // The message shows the types as they were before the attempt.
  if (actual == expected) return OkStatus();
  joined_.clear();
  auto joined = Join(expected, actual, {Variance::kCovariant, /*widen=*/false});
  if (joined.ok()) return OkStatus();
  std::string e = ir::TypeToString(Zonk(expected));
  std::string a = ir::TypeToString(Zonk(actual));
  const std::string& why = joined.status().message();
  return {joined.status().code(), why.empty()
                                      ? fmt::format("expected {}, found {}", e, a)
                                      : fmt::format("expected {}, found {} ({})", e, a, why)};
}

Result<Type> Solver::Join(const Type& expected, const Type& actual, JoinMode mode) {
  Type e = Resolve(expected);
  Type a = Resolve(actual);
  if (e == a) return expected;
  if (e->is_large() && !e->has_infer_var && !a->has_infer_var && ir::TypeEquals(e, a)) {
    return expected;
  }
  auto* e_unknown = e->As<InferVar>();
  auto* a_unknown = a->As<InferVar>();
  auto* e_slot = expected->As<InferVar>();
  auto* a_slot = actual->As<InferVar>();
  if (e_slot != nullptr && a_slot != nullptr && Root(e_slot->id) == Root(a_slot->id))
    return expected;
  if (e_unknown != nullptr && a_unknown != nullptr) {
    Link(a_unknown->id, e_unknown->id);
    return expected;
  }
  if (e_unknown != nullptr || a_unknown != nullptr) {
    uint32_t unknown = e_unknown != nullptr ? e_unknown->id : a_unknown->id;
    const Type& other = e_unknown != nullptr ? actual : expected;
    auto* other_slot = other->As<InferVar>();
    if (mode.variance == Variance::kInvariant && other_slot != nullptr) {
      if (Occurs(unknown, other)) return Status(StatusCode::kInvalidInput, "infinite type");
      Link(unknown, other_slot->id);
      return expected;
    }
    RELAYVM_RETURN_IF_ERROR(Bind(unknown, other));
    ++differences_;
    if (e_unknown != nullptr) return expected;
    // The slot may not say all that `expected` does: then that is too narrow.
    a = Resolve(actual);
  }
  mode.widen = mode.widen || e_slot != nullptr;
  size_t before = differences_;
  RELAYVM_ASSIGN_OR_RETURN(Type joined, JoinResolved(e, a, mode));
  if (a_slot != nullptr && mode.variance == Variance::kInvariant && joined != a &&
      differences_ != before) {
    // Both sides must agree: the wider type is that of both.
    if (!ir::TypeEquals(Zonk(joined), Zonk(a))) Widen(Root(a_slot->id), joined);
  }
  if (e_slot == nullptr) return joined;
  const uint32_t root = Root(e_slot->id);
  joined = KeepAccepted(joined, a, At(root).accepted);
  if (joined != e) Widen(root, joined);
  return expected;
}

Result<Type> Solver::JoinResolved(const Type& e, const Type& a, JoinMode mode) {
  // Only types of several parts that may be shared are worth remembering.
  bool remember = e->is_large() || (a->has_infer_var && a->size > 1);
  if (!remember) return JoinNodes(e, a, mode);
  std::tuple key(e, a, mode.variance, mode.widen);
  auto known = joined_.find(key);
  if (known != joined_.end()) {
    differences_ += known->second.differ ? 1 : 0;
    return known->second.type;
  }
  size_t before = differences_;
  RELAYVM_ASSIGN_OR_RETURN(Type joined, JoinNodes(e, a, mode));
  joined_.emplace(std::move(key), Joined{joined, differences_ != before});
  return joined;
}

Result<Type> Solver::JoinNodes(const Type& e, const Type& a, JoinMode mode) {
  Status differ(StatusCode::kInvalidInput, "");
  if (e->node.index() != a->node.index()) return differ;
  if (auto* t = e->As<TensorType>()) {
    return JoinTensors(*t, *a->As<TensorType>(), e, mode.widen);
  }
  if (e->As<FunctionType>() != nullptr) return JoinFunctions(e, a, mode);
  if (auto* t = e->As<TypeVar>()) {
    if (t->id != a->As<TypeVar>()->id) return differ;
    return e;
  }
  if (auto* t = e->As<RefType>()) {
    RELAYVM_ASSIGN_OR_RETURN(
        Type value, Join(t->value, a->As<RefType>()->value, {Variance::kInvariant, mode.widen}));
    return value == t->value ? e : MakeType(RefType{std::move(value)});
  }
  if (auto* t = e->As<TupleType>()) {
    const auto& other = a->As<TupleType>()->fields;
    if (t->fields.size() != other.size()) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{} and {} fields", t->fields.size(), other.size()));
    }
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Type> fields, JoinLists(t->fields, other, mode));
    return fields == t->fields ? e : MakeType(TupleType{std::move(fields)});
  }
  auto* t = e->As<AdtType>();
  auto* u = a->As<AdtType>();
  if (t->name != u->name || t->args.size() != u->args.size()) return differ;
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Type> args, JoinLists(t->args, u->args, mode));
  return args == t->args ? e : MakeType(AdtType{t->name, std::move(args)});
}

Result<std::vector<Type>> Solver::JoinLists(const std::vector<Type>& e, const std::vector<Type>& a,
                                            JoinMode mode) {
  std::vector<Type> out;
  out.reserve(e.size());
  for (size_t i = 0; i < e.size(); ++i) {
    RELAYVM_ASSIGN_OR_RETURN(Type t, Join(e[i], a[i], mode));
    out.push_back(std::move(t));
  }
  return out;
}

Result<Type> Solver::JoinTensors(const TensorType& e, const TensorType& a, const Type& whole,
                                 bool widen) {
  if (e.dtype != a.dtype) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("dtypes {} and {} differ", DTypeName(e.dtype), DTypeName(a.dtype)));
  }
  if (e.rank() != a.rank()) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("ranks {} and {} differ", e.rank(), a.rank()));
  }
  std::vector<Dim> shape;
  bool changed = false;
  for (int i = 0; i < e.rank(); ++i) {
    const Dim& x = e.shape[i];
    const Dim& y = a.shape[i];
    if (!widen && x.is_const() && y.is_const() && !(x == y)) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("dimension {}: {} and {} differ", i, x.ToString(), y.ToString()));
    }
    differences_ += x == y ? 0 : 1;
    bool keep = x == y || x.is_any();
    shape.push_back(keep ? x : Dim::Any());
    changed = changed || !keep;
  }
  return changed ? ir::MakeTensorType(std::move(shape), e.dtype) : whole;
}

FunctionType Solver::Loosen(const FunctionType& f) {
  std::map<uint32_t, Type> instance;
  for (const Type& p : f.type_params) {
    instance[p->As<TypeVar>()->id] = NewSlot({}, SlotKey{UINT32_MAX, anonymous_++});
  }
  std::vector<uint32_t> bound;
  ForEachBoundSymbol(f.params, [&](uint32_t id) { bound.push_back(id); });
  auto loosen_dim = [&](const Dim& d) {
    bool uses_bound = false;
    d.ForEachSymbol([&](const Dim& s) {
      uses_bound =
          uses_bound || std::find(bound.begin(), bound.end(), s.symbol_id()) != bound.end();
    });
    return uses_bound ? Dim::Any() : d;
  };
  if (instance.empty() && bound.empty()) return f;
  FunctionType out;
  for (const Type& p : f.params) {
    // Slots stay: they are shared with the function's own parameters.
    out.params.push_back(SubstituteTypeVars(ir::MapDims(p, loosen_dim), instance));
  }
  out.result = SubstituteTypeVars(ir::MapDims(f.result, loosen_dim), instance);
  return out;
}

namespace {

// The greatest type below both, of what a function accepts. Null when there is none.
Type MeetParams(const Type& a, const Type& b) {
  auto* x = a->As<TensorType>();
  auto* y = b->As<TensorType>();
  if (x == nullptr || y == nullptr || x->rank() != y->rank()) return a;
  std::vector<Dim> shape;
  for (int i = 0; i < x->rank(); ++i) {
    shape.push_back(x->shape[i].is_any() ? y->shape[i] : x->shape[i]);
  }
  return shape == x->shape ? a : ir::MakeTensorType(std::move(shape), x->dtype);
}

}  // namespace

Result<Type> Solver::JoinFunctions(const Type& e, const Type& a, JoinMode mode) {
  const auto& x = *e->As<FunctionType>();
  const auto& y = *a->As<FunctionType>();
  if (same_functions_(e, a)) return e;
  ++differences_;
  if (x.params.size() != y.params.size()) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("{} and {} parameters", x.params.size(), y.params.size()));
  }
  FunctionType ex = Loosen(x);
  FunctionType ay = Loosen(y);
  FunctionType out;
  for (size_t i = 0; i < ex.params.size(); ++i) {
    // What the users of `e` pass goes into the parameters of `a`.
    RELAYVM_ASSIGN_OR_RETURN(
        Type unused, Join(ay.params[i], ex.params[i], {Variance::kInvariant, /*widen=*/false}));
    Accept(ex.params[i], ay.params[i]);
    bool plain = ex.params[i]->As<TensorType>() != nullptr;
    out.params.push_back(plain ? MeetParams(ex.params[i], Resolve(ay.params[i])) : ex.params[i]);
  }
  RELAYVM_ASSIGN_OR_RETURN(out.result, Join(ex.result, ay.result, mode));
  // A slot keeps the type that it has unless it really changes.
  Type joined = MakeType(out);
  FunctionType before = x;
  before.type_params.clear();
  bool same = x.type_params.empty() && ir::TypeEquals(MakeType(before), joined);
  return same ? e : joined;
}

}  // namespace relayvm::typing

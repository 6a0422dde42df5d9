// The type of each kind of expression but calls of functions.
#include <fmt/format.h>

#include <algorithm>

#include "bytecode/base/dim.h"
#include "compiler/typing/inference.h"
#include "compiler/typing/patterns.h"

namespace relayvm::typing {

using ir::AdtType;
using ir::InferVar;
using ir::MakeType;
using ir::RefType;
using ir::TupleType;
using ir::Type;

namespace {}  // namespace

Result<Inference::MaybeType> Inference::InferExpr(Item& item) {
  return std::visit([&](const auto& e) { return Infer(item, e); }, item.binding->value->node);
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::AtomExpr& e) {
  return InferAlias(item.binding->var, e.atom);
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::MakeTuple& e) {
  TupleType type;
  for (const ir::Atom& a : e.fields) {
    RELAYVM_ASSIGN_OR_RETURN(Type field, TypeOf(a));
    type.fields.push_back(std::move(field));
  }
  vars_[item.binding->var].tuple = &e;
  return MaybeType(MakeType(std::move(type)));
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::FunctionExpr& e) {
  const ir::Var* var = item.binding->var;
  std::string name = var->name.empty() ? "a closure" : "%" + var->name;
  FunctionState& state = NewFunctionState(e.function, name, item.place);
  RELAYVM_RETURN_IF_ERROR(DeclareParams(state));
  DefineVar(var, nullptr, item.place);
  vars_[var].function = &state;
  RELAYVM_RETURN_IF_ERROR(InferFunction(state));
  return MaybeType(FunctionValueType(state));
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::Trap&) {
  const ir::Var* var = item.binding->var;
  if (var->type == nullptr) return MaybeType(NewSlot(item));
  RELAYVM_ASSIGN_OR_RETURN(Type type, PrepareDeclared(var->type, item.place, var->span));
  return MaybeType(type);
}

// Guards are made anew, or kept as they are (rebuild.cc).
Result<Inference::MaybeType> Inference::Infer(Item&, const ir::Guard&) {
  return MaybeType(ir::UnitType());
}

Result<Inference::MaybeType> Inference::InferAlias(const ir::Var* var, const ir::Atom& atom) {
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(atom));
  VarState& state = vars_[var];
  state.alias = Canonical(atom);
  if (auto* from = std::get_if<const ir::Var*>(&atom)) {
    const VarState& source = vars_[*from];
    state.function = source.function;
    state.field_elements = source.field_elements;
    state.tuple = source.tuple;
  } else if (auto* global = std::get_if<const ir::GlobalVar*>(&atom)) {
    state.function = globals_.at((*global)->name);
  }
  return MaybeType(type);
}

// The value, with the numbers that are stated of it. Guards are made at the end, when its type is
// known.
Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::Stated& e) {
  RELAYVM_ASSIGN_OR_RETURN(Type declared,
                           PrepareDeclared(e.type, item.place, item.binding->value->span));
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(e.value));
  Status flow = solver_.Flow(type, declared);
  if (!flow.ok()) return flow.WithContext(e.what);
  AddCheck(type, declared, item.binding->value->span, e.what);
  statements_.push_back(item.binding);
  RELAYVM_ASSIGN_OR_RETURN(type, TypeOf(e.value));  // it may be known now
  Type refined = Refine(type, e.type, MatchStated(e, type).dims);
  if (refined == type) return InferAlias(item.binding->var, e.value);
  if (auto* from = std::get_if<const ir::Var*>(&e.value)) {
    VarState& state = vars_[item.binding->var];
    state.elements = vars_[*from].elements;
    state.field_elements = vars_[*from].field_elements;
  }
  return MaybeType(refined);
}

// --- Operators ---

// The host of a call in the program.
class CallHost final : public OpHost {
 public:
  CallHost(Inference& inference, const ir::Var* var, const ir::OpCall& call, Place place)
      : inference_(inference), var_(var), op_(*call.op), args_(call.args), place_(place) {}

  std::vector<Dim> Elements(size_t i, int64_t size) override {
    ir::Atom canonical = inference_.Canonical(args_[i]);
    auto* var = std::get_if<const ir::Var*>(&canonical);
    if (var != nullptr && IsFloat(inference_.TypeOf(*var)->As<TensorType>()->dtype)) {
      return inference_.FloatElements(var_, i, *var, size);
    }
    return inference_.ElementsOrSymbols(canonical, size);
  }
  Dim Element(size_t i, int64_t index) override { return inference_.ElementAt(args_[i], index); }
  Dim NameDim(const Dim& d) override { return inference_.NameDim(var_, d); }
  Result<Dim> ComputeDim(std::span<const ScalarStep> steps) override {
    return inference_.ComputeDim(var_, args_, steps);
  }
  Result<std::vector<Dim>> ShapeByRule(const RuledShape& shape) override {
    return inference_.ShapeOfCall(var_, op_.name, shape);
  }
  const ir::Constant* ConstantArg(size_t i) override {
    ir::Atom a = inference_.Canonical(args_[i]);
    auto* constant = std::get_if<const ir::Constant*>(&a);
    return constant != nullptr ? *constant : nullptr;
  }
  Dim NewSymbol(std::string_view name) override {
    std::string base = var_->name.empty() ? fmt::format("v{}", var_->id) : var_->name;
    Dim d = Dim::Symbol(inference_.module_.ids->Next(), fmt::format("{}.{}", base, name));
    inference_.scopes_.DefineSymbol(d.symbol_id(), place_);
    fresh_.push_back(d);
    return d;
  }
  Broadcasts& broadcasts() override { return inference_.broadcasts_; }

  const std::vector<Dim>& fresh() const { return fresh_; }

 private:
  Inference& inference_;
  const ir::Var* var_;
  const OpDef& op_;
  const std::vector<ir::Atom>& args_;
  Place place_;
  std::vector<Dim> fresh_;
};

Result<std::optional<std::vector<ArgType>>> Inference::KnownArgTypes(
    Item& item, const OpDef& op, const std::vector<ir::Atom>& args) {
  using MaybeArgs = std::optional<std::vector<ArgType>>;
  std::vector<Type> types;
  for (const ir::Atom& a : args) {
    RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(a));
    type = solver_.Zonk(type);
    const Type* unknown = type->As<InferVar>() != nullptr ? &type : nullptr;
    if (auto* tuple = type->As<TupleType>()) {
      for (const Type& f : tuple->fields) {
        if (f->As<InferVar>() != nullptr) unknown = &f;
      }
    }
    if (unknown != nullptr) {
      item.blocked_on = (*unknown)->As<InferVar>()->id;
      return MaybeArgs();
    }
    types.push_back(std::move(type));
  }
  RELAYVM_ASSIGN_OR_RETURN(std::vector<ArgType> known, ArgTypes(op, types));
  return MaybeArgs(std::move(known));
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::OpCall& call) {
  const ir::Var* var = item.binding->var;
  if (call.op->is_identity) return InferAlias(var, call.args[0]);
  if (KeepsType(*item.binding, call)) return MaybeType(var->type);
  RELAYVM_ASSIGN_OR_RETURN(auto args, KnownArgTypes(item, *call.op, call.args));
  if (!args) return MaybeType();
  vars_[var].place = item.place;
  CallHost host(*this, var, call, item.place);
  RELAYVM_ASSIGN_OR_RETURN(OpTyping typing, TypeOp(*call.op, call.attrs, *args, host));

  // Symbols that the call defines take their names from the input's type where it has some.
  DimMap renamed;
  std::set<uint32_t> defined;
  for (size_t t = 0; t < typing.result.tensors.size(); ++t) {
    std::vector<Dim>& shape = typing.result.tensors[t].shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      bool fresh =
          std::find(host.fresh().begin(), host.fresh().end(), shape[i]) != host.fresh().end();
      if (!fresh || !defined.insert(shape[i].symbol_id()).second) continue;
      std::vector<int> path;
      if (typing.result.is_tuple) path.push_back(static_cast<int>(t));
      path.push_back(static_cast<int>(i));
      auto declared = DeclaredSymbol(var, path);
      opened_.insert_or_assign({var->id, path}, declared ? *declared : shape[i]);
      if (!declared) continue;
      renamed.emplace(shape[i].symbol_id(), *declared);
      scopes_.DefineSymbol(declared->symbol_id(), item.place);
    }
  }
  if (!renamed.empty()) {
    for (TensorType& t : typing.result.tensors) {
      for (Dim& d : t.shape) d = Substitute(d, renamed);
    }
    for (ir::Guard& g : typing.guards) {
      g.left = Substitute(g.left, renamed);
      g.right = Substitute(g.right, renamed);
    }
  }
  if (!typing.guards.empty()) outcomes_[var].guards = std::move(typing.guards);
  if (!typing.result.is_tuple && typing.result.tensors[0].rank() == 0) {
    RememberScalarCall(var, *call.op, call.attrs, call.args);
  }

  TrackElements(var, call, typing.result, *args);
  if (!typing.result.is_tuple) {
    const TensorType& t = typing.result.tensors[0];
    return MaybeType(ir::MakeTensorType(t.shape, t.dtype));
  }
  TupleType tuple;
  for (const TensorType& t : typing.result.tensors) {
    tuple.fields.push_back(ir::MakeTensorType(t.shape, t.dtype));
  }
  return MaybeType(MakeType(std::move(tuple)));
}

// --- Dims, and what symbols stand for by an earlier run ---

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::ShapeValue& shape) {
  const ir::Var* var = item.binding->var;
  if (var->type == nullptr || var->type->As<TensorType>() == nullptr) {
    return InvalidInput("a shape value has no tensor type");
  }
  const auto& written = *var->type->As<TensorType>();
  if (IsFloat(written.dtype) || written.dtype == DType::kString ||
      !ProductOf(written.shape).is_const(static_cast<int64_t>(shape.elements.size()))) {
    return InvalidInput(fmt::format("a shape value of {} elements has type {}",
                                    shape.elements.size(), ir::TypeToString(var->type)));
  }
  std::vector<Dim> elements;
  for (const Dim& d : shape.elements) {
    Dim value = Translate(d);
    // A number that is read from a tensor stands here where its dtype holds it.
    bool read = value.is_symbol() && !value.symbol_nonnegative();
    elements.push_back(written.dtype == DType::kInt32 && !read ? Dim::Int32(value) : value);
  }
  auto named = old_elements_.find(std::pair(var->id, 0));
  if (elements.size() == 1 && elements[0].Size() > kMaxDimSize && named != old_elements_.end() &&
      !scopes_.IsDefined(named->second)) {
    // NameDim of an earlier run: the expression keeps its symbol.
    Dim symbol = Dim::Symbol(named->second, fmt::format("d{}", var->id));
    scopes_.DefineSymbol(symbol.symbol_id(), item.place);
    element_symbols_.push_back({symbol.symbol_id(), var, 0});
    named_dims_[elements[0]].push_back(symbol);
  }
  bool scalar =
      elements.size() == 1 && ir::TypeEquals(var->type, ir::MakeScalarType(DType::kInt64));
  if (scalar) dim_scalars_[elements[0]].push_back(var);
  vars_[var].elements = std::make_shared<const std::vector<Dim>>(std::move(elements));
  return MaybeType(var->type);
}

// `var` is a number that this run has as `d`.
void Inference::Restate(const ir::Var* var, const Dim& d) {
  VarState& state = vars_[var];
  state.elements = std::make_shared<const std::vector<Dim>>(1, d);
  state.leaf_elements = false;
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::DimOf& e) {
  const ir::Var* var = item.binding->var;
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(e.value));
  for (uint32_t field : e.path) {
    auto* tuple = type->As<TupleType>();
    if (tuple != nullptr && field < tuple->fields.size())
      type = solver_.Resolve(tuple->fields[field]);
  }
  if (auto* unknown = type->As<InferVar>()) {
    item.blocked_on = unknown->id;
    return MaybeType();
  }
  auto* tensor = type->As<TensorType>();
  if (tensor == nullptr || e.axis >= tensor->shape.size()) {
    return InvalidInput(fmt::format("there is no dimension {} of {}, a {}", e.axis, NameOf(e.value),
                                    ir::TypeToString(solver_.Zonk(type))));
  }
  Restate(var, tensor->shape[e.axis]);
  return MaybeType(ir::MakeScalarType(DType::kInt64));
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::ShapeByRule& e) {
  RuledShape shape = e.shape;
  for (Dim& d : shape.data) d = Translate(d);
  for (Dim& d : shape.numbers) d = Translate(d);
  const ir::Var* var = item.binding->var;
  ruled_shapes_[KeyOf(shape)].push_back(var);
  vars_[var].is_size = true;
  return MaybeType(ir::MakeTensorType({Dim(static_cast<int64_t>(shape.rank))}, DType::kInt64));
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::ElementOf& e) {
  const ir::Var* var = item.binding->var;
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(e.tensor));
  if (auto* unknown = type->As<InferVar>()) {
    item.blocked_on = unknown->id;
    return MaybeType();
  }
  auto* tensor = type->As<TensorType>();
  if (tensor == nullptr || IsFloat(tensor->dtype) || tensor->dtype == DType::kString) {
    return InvalidInput(fmt::format("there is no element {} of {}, a {}", e.index, NameOf(e.tensor),
                                    ir::TypeToString(solver_.Zonk(type))));
  }
  auto old = old_symbols_.find(var->id);
  if (old != old_symbols_.end()) {
    if (auto* of = std::get_if<const ir::Var*>(&e.tensor)) {
      old_elements_.emplace(std::pair((*of)->id, e.index), old->second);
    }
  }
  Restate(var, ElementAt(e.tensor, e.index));
  return MaybeType(ir::MakeScalarType(DType::kInt64));
}

// --- Tuples, references ---

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::TupleGet& get) {
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(get.tuple));
  if (auto* unknown = type->As<InferVar>()) {
    item.blocked_on = unknown->id;
    return MaybeType();
  }
  auto* tuple = type->As<TupleType>();
  if (tuple == nullptr) {
    return InvalidInput(fmt::format("expected a tuple, found {} of type {}", NameOf(get.tuple),
                                    ir::TypeToString(solver_.Zonk(type))));
  }
  if (get.index >= tuple->fields.size()) {
    return InvalidInput(fmt::format("field {} of a tuple with {} field{}: {}", get.index,
                                    tuple->fields.size(), tuple->fields.size() == 1 ? "" : "s",
                                    ir::TypeToString(solver_.Zonk(type))));
  }
  VarState& state = vars_[item.binding->var];
  ir::Atom canonical = Canonical(get.tuple);
  if (auto* var = std::get_if<const ir::Var*>(&canonical)) {
    const VarState& source = vars_[*var];
    if (source.tuple != nullptr) {
      state.alias = Canonical(source.tuple->fields[get.index]);
      if (auto* field = std::get_if<const ir::Var*>(&*state.alias)) {
        state.function = vars_[*field].function;
        state.tuple = vars_[*field].tuple;
      }
    } else if (get.index < source.field_elements.size() && source.field_elements[get.index]) {
      state.elements = std::make_shared<const std::vector<Dim>>(*source.field_elements[get.index]);
    }
  }
  return MaybeType(tuple->fields[get.index]);
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::RefCreate& e) {
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(e.value));
  // The contents may widen with what is written later.
  Type slot = NewSlot(item);
  RELAYVM_RETURN_IF_ERROR(solver_.Flow(type, slot));
  return MaybeType(MakeType(RefType{slot}));
}

// What the reference holds.
Result<Type> Inference::ContentOf(Item& item, const ir::Atom& ref) {
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(ref));
  if (solver_.IsUnknown(type)) {
    RELAYVM_RETURN_IF_ERROR(solver_.Flow(type, MakeType(RefType{NewSlot(item)})));
    type = solver_.Resolve(type);
  }
  if (auto* made = type->As<RefType>()) return made->value;
  return InvalidInput(fmt::format("expected a reference, found {} of type {}", NameOf(ref),
                                  ir::TypeToString(solver_.Zonk(type))));
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::RefRead& e) {
  RELAYVM_ASSIGN_OR_RETURN(Type content, ContentOf(item, e.ref));
  return MaybeType(content);
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::RefWrite& e) {
  RELAYVM_ASSIGN_OR_RETURN(Type content, ContentOf(item, e.ref));
  RELAYVM_ASSIGN_OR_RETURN(Type value, TypeOf(e.value));
  const std::string what = fmt::format("write to {}", NameOf(e.ref));
  Status s = solver_.Flow(value, content);
  if (!s.ok()) return s.WithContext(what);
  AddCheck(value, content, item.binding->value->span, what);
  return MaybeType(ir::UnitType());
}

// --- Branches ---

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::IfExpr& e) {
  RELAYVM_ASSIGN_OR_RETURN(Type condition, TypeOf(e.condition));
  Status s = solver_.Flow(condition, ir::MakeScalarType(DType::kBool));
  if (!s.ok()) return s.WithContext("condition of if");
  Type then_type;
  Type else_type;
  RELAYVM_RETURN_IF_ERROR(
      InferBlock(*e.then_block, scopes_.NewScope(item.place.scope), &then_type));
  RELAYVM_RETURN_IF_ERROR(
      InferBlock(*e.else_block, scopes_.NewScope(item.place.scope), &else_type));
  solver_.BeginStep();
  Type result = NewSlot(item);
  RELAYVM_RETURN_IF_ERROR(JoinBranches(item, {e.then_block, e.else_block}, {then_type, else_type},
                                       result, "the branches of if differ"));
  return MaybeType(result);
}

namespace {

// Whether types differ in ranks of tensors and nothing else.
bool DifferInRank(const Type& a, const Type& b, bool* differ) {
  if (a == b) return true;
  if (a->node.index() != b->node.index()) return false;
  if (auto* tensor = a->As<TensorType>()) {
    *differ = *differ || tensor->rank() != b->As<TensorType>()->rank();
    return tensor->dtype == b->As<TensorType>()->dtype;
  }
  std::vector<Type> others;
  ir::ForEachChild(*b, [&](const Type& child) { others.push_back(child); });
  size_t next = 0;
  bool same = true;
  ir::ForEachChild(*a, [&](const Type& child) {
    same = same && next < others.size() && DifferInRank(child, others[next], differ);
    ++next;
  });
  auto* adt = a->As<AdtType>();
  return same && next == others.size() && (adt == nullptr || adt->name == b->As<AdtType>()->name);
}

}  // namespace

// Branches of several ranks have no type in common: their variable is noted as mixed.
Status Inference::JoinBranches(Item& item, const std::vector<const ir::Block*>& blocks,
                               const std::vector<Type>& types, const Type& result,
                               const char* what) {
  ir::Span span = item.binding->value->span;
  bool mixed = false;
  for (const ir::Block* b : blocks) mixed = mixed || mixed_blocks_.contains(b);
  Status failure;
  for (size_t i = 0; i < types.size() && !mixed && failure.ok(); ++i) {
    failure = solver_.Flow(types[i], result);
    bool ranks = false;
    mixed = !failure.ok() && DifferInRank(solver_.Zonk(types[i]), solver_.Zonk(types[0]), &ranks) &&
            ranks;
    if (failure.ok()) AddCheck(types[i], result, span, what);
  }
  if (!failure.ok()) failure = failure.WithContext(what);
  if (!mixed || purpose_ == Purpose::kRetype) return failure;
  mixed_.vars.insert(item.binding->var);
  if (mixed_.error.ok()) {
    mixed_.error =
        Located(span, failure.ok() ? InvalidInput(std::string(what) + " in rank") : failure);
  }
  return failure.ok() ? InvalidInput(what) : failure;
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::MatchExpr& e) {
  RELAYVM_ASSIGN_OR_RETURN(Type data, TypeOf(e.data));
  std::vector<Type> types;
  for (const ir::MatchClause& clause : e.clauses) {
    ScopeId scope = scopes_.NewScope(item.place.scope);
    solver_.BeginStep();
    RELAYVM_RETURN_IF_ERROR(InferPattern(item, clause.pattern, data, scope));
    RELAYVM_RETURN_IF_ERROR(InferBlock(*clause.body, scope, &types.emplace_back()));
  }
  if (e.complete && purpose_ == Purpose::kCheck) {
    RELAYVM_ASSIGN_OR_RETURN(auto missing, UnmatchedCase(module_, e));
    if (missing) {
      return InvalidInput(fmt::format("match is not exhaustive: {} is not handled", *missing));
    }
  }
  solver_.BeginStep();
  Type result = NewSlot(item);
  std::vector<const ir::Block*> blocks;
  for (const ir::MatchClause& clause : e.clauses) blocks.push_back(clause.body);
  RELAYVM_RETURN_IF_ERROR(JoinBranches(item, blocks, types, result, "the clauses of match differ"));
  return MaybeType(result);
}

Status Inference::InferPattern(Item& item, const ir::Pattern& p, const Type& type, ScopeId scope) {
  using Kind = ir::Pattern::Kind;
  if (p.kind == Kind::kWildcard) return OkStatus();
  if (p.kind == Kind::kVar) {
    Place place = Now(scope);
    DefineVar(p.var, type, place);
    if (p.var->type == nullptr) return OkStatus();
    RELAYVM_RETURN_IF_ERROR(
        Annotate(p.var, p.var->type, place, p.span, fmt::format("%{}", p.var->name)));
    LearnMeanings(p.var->type, TypeOf(p.var));
    return OkStatus();
  }
  Type t = solver_.Resolve(type);
  std::vector<Type> fields;
  if (p.kind == Kind::kTuple) {
    if (t->As<InferVar>() != nullptr) {
      TupleType tuple;
      for (size_t i = 0; i < p.fields.size(); ++i) tuple.fields.push_back(NewSlot(item));
      RELAYVM_RETURN_IF_ERROR(solver_.Flow(MakeType(std::move(tuple)), t));
      t = solver_.Resolve(t);
    }
    auto* tuple = t->As<TupleType>();
    if (tuple == nullptr || tuple->fields.size() != p.fields.size()) {
      return ErrorAt(p.span, fmt::format("the pattern is a tuple of {}, the value has type {}",
                                         p.fields.size(), ir::TypeToString(solver_.Zonk(t))));
    }
    fields = tuple->fields;
  } else {
    const ir::Constructor& c = *p.constructor;
    auto def = module_.types.find(c.adt);
    if (def == module_.types.end()) {
      return ErrorAt(p.span, fmt::format("there is no type {}", c.adt));
    }
    if (t->As<InferVar>() != nullptr) {
      AdtType adt{c.adt, {}};
      for (size_t i = 0; i < def->second.params.size(); ++i) adt.args.push_back(NewSlot(item));
      RELAYVM_RETURN_IF_ERROR(solver_.Flow(MakeType(std::move(adt)), t));
      t = solver_.Resolve(t);
    }
    auto* adt = t->As<AdtType>();
    if (adt == nullptr || adt->name != c.adt || adt->args.size() != def->second.params.size()) {
      return ErrorAt(p.span, fmt::format("{} makes a value of type {}, the value has type {}",
                                         c.name, c.adt, ir::TypeToString(solver_.Zonk(t))));
    }
    if (c.fields.size() != p.fields.size()) {
      return ErrorAt(p.span,
                     fmt::format("{} has {} field{}, the pattern has {}", c.name, c.fields.size(),
                                 c.fields.size() == 1 ? "" : "s", p.fields.size()));
    }
    std::map<uint32_t, Type> args;
    for (size_t i = 0; i < adt->args.size(); ++i) {
      args[def->second.params[i]->As<ir::TypeVar>()->id] = adt->args[i];
    }
    for (const Type& f : c.fields) fields.push_back(SubstituteTypeVars(f, args));
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    RELAYVM_RETURN_IF_ERROR(InferPattern(item, p.fields[i], fields[i], scope));
  }
  return OkStatus();
}

}  // namespace relayvm::typing

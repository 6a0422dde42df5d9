// Calls of functions, closures and constructors.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_set>

#include "compiler/ir/host_type.h"
#include "compiler/ir/region.h"
#include "compiler/typing/inference.h"

namespace relayvm::typing {

using ir::AdtType;
using ir::FunctionType;
using ir::InferVar;
using ir::MakeType;
using ir::RefType;
using ir::TupleType;
using ir::Type;

Inference::Callee Inference::KnownCallee(FunctionState& state) {
  Callee callee;
  callee.name = state.name;
  callee.type_params = state.function->type_params;
  callee.params = state.params;
  callee.param_vars = state.function->params;
  callee.result = ResultForCall(state);
  callee.outside = state.outside;
  return callee;
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::CallExpr& call) {
  if (auto* global = std::get_if<const ir::GlobalVar*>(&call.callee)) {
    auto it = globals_.find((*global)->name);
    if (it == globals_.end())
      return InvalidInput(fmt::format("there is no function @{}", (*global)->name));
    return ApplyCallee(item, KnownCallee(*it->second), call.args);
  }
  if (auto* var = std::get_if<const ir::Var*>(&call.callee)) {
    auto known = vars_.find(*var);
    if (known != vars_.end() && known->second.function != nullptr) {
      return ApplyCallee(item, KnownCallee(*known->second.function), call.args);
    }
  }
  RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(call.callee));
  if (type->As<InferVar>() != nullptr) return CallUnknown(item, type, call);
  auto* f = type->As<FunctionType>();
  if (f == nullptr) {
    return InvalidInput(fmt::format("{} is called, but has type {}", NameOf(call.callee),
                                    ir::TypeToString(solver_.Zonk(type))));
  }
  Callee callee{NameOf(call.callee), f->type_params, f->params, {}, f->result, item.place};
  return ApplyCallee(item, std::move(callee), call.args);
}

// What comes back is as declared, and of its dims only numbers: those are what the runtime checks.
// What the result's type says beyond that is checked as a statement of the function's.
Result<Inference::MaybeType> Inference::Infer(Item&, const ir::HostCall& call) {
  const auto* type = call.type == nullptr ? nullptr : call.type->As<FunctionType>();
  if (type == nullptr || type->params.size() != call.args.size() || type->result == nullptr)
    return InvalidInput(fmt::format("host function {} has no type that fits its call", call.name));
  const auto open = [](const Type& t) {
    return ir::MapDims(t, [](const Dim& d) { return d.is_const() ? d : Dim::Any(); });
  };
  const auto check = [&](const Type& t, const std::string& what) -> Status {
    const std::string part = ir::WhatCannotCross(module_, t);
    if (part.empty()) return OkStatus();
    return InvalidInput(
        fmt::format("{} of host function {} has type {}: {} cannot cross to the host", what,
                    call.name, ir::TypeToString(t), part));
  };
  for (size_t i = 0; i < call.args.size(); ++i) {
    const ir::Var* param = ir::AsVar(call.args[i]);
    const std::string what = param == nullptr || param->name.empty()
                                 ? fmt::format("parameter {}", i)
                                 : "parameter %" + param->name;
    if (Status s = check(type->params[i], what); !s.ok())
      return param == nullptr ? s : ErrorAt(param->span, s);
    RELAYVM_ASSIGN_OR_RETURN(Type actual, TypeOf(call.args[i]));
    Status s = solver_.Flow(actual, open(type->params[i]));
    if (!s.ok()) return s.WithContext(fmt::format("{} of host function {}", what, call.name));
  }
  RELAYVM_RETURN_IF_ERROR(check(type->result, "the result"));
  return MaybeType(open(type->result));
}

Result<Inference::MaybeType> Inference::InferRegion(Item& item, const ir::PrimitiveCall& call) {
  std::vector<TensorType> args;
  for (const ir::Atom& a : call.args) {
    RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(a));
    type = solver_.Zonk(type);
    if (const auto* unknown = type->As<InferVar>()) {
      item.blocked_on = unknown->id;
      return MaybeType();
    }
    const size_t i = args.size();
    const auto* tensor = type->As<TensorType>();
    const auto* param = call.function->params.at(i)->type->As<TensorType>();
    if (tensor == nullptr || tensor->dtype != param->dtype || tensor->rank() != param->rank())
      return InvalidInput(fmt::format("argument {} of region {} has type {}", i,
                                      call.function->name, ir::TypeToString(type)));
    args.push_back(*tensor);
  }
  return MaybeType(ir::ResultOfCall(*call.function, args));
}

Result<Inference::MaybeType> Inference::Infer(Item& item, const ir::PrimitiveCall& call) {
  if (ir::IsRegion(*call.function)) return InferRegion(item, call);
  auto it = by_function_.find(call.function);
  if (it == by_function_.end() || !it->second->done) {
    FunctionState& state = NewFunctionState(call.function, "a primitive function", item.place);
    RELAYVM_RETURN_IF_ERROR(DeclareParams(state));
    RELAYVM_RETURN_IF_ERROR(InferFunction(state));
    it = by_function_.find(call.function);
  }
  return ApplyCallee(item, KnownCallee(*it->second), call.args);
}

// A parameter that is called: its type is that of a function from what it is given here.
Result<Inference::MaybeType> Inference::CallUnknown(Item& item, const Type& callee,
                                                    const ir::CallExpr& call) {
  FunctionType type;
  for (const ir::Atom& a : call.args) {
    RELAYVM_ASSIGN_OR_RETURN(Type arg, TypeOf(a));
    Type slot = NewSlot(item);
    RELAYVM_RETURN_IF_ERROR(solver_.Flow(arg, slot));
    type.params.push_back(slot);
  }
  type.result = NewSlot(item);
  RELAYVM_RETURN_IF_ERROR(solver_.Flow(MakeType(type), callee));
  return MaybeType(type.result);
}

Result<Inference::MaybeType> Inference::Infer(Item&, const ir::MakeClosure& e) {
  auto it = globals_.find(e.function->name);
  if (it == globals_.end())
    return InvalidInput(fmt::format("there is no function @{}", e.function->name));
  Type type = FunctionValueType(*it->second);
  FunctionType closure = *type->As<FunctionType>();
  if (closure.params.size() < e.captured.size()) {
    return InvalidInput(fmt::format("@{} has {} parameters, {} are captured", e.function->name,
                                    closure.params.size(), e.captured.size()));
  }
  DimMatch match;
  ForEachBoundSymbol(closure.params, [&](uint32_t id) { match.bound.insert(id); });
  for (size_t i = 0; i < e.captured.size(); ++i) {
    RELAYVM_ASSIGN_OR_RETURN(Type actual, TypeOf(e.captured[i]));
    RELAYVM_RETURN_IF_ERROR(solver_.Flow(actual, closure.params[i]));
    MatchDims(closure.params[i], actual, "captured value", match);
  }
  closure.params.erase(closure.params.begin(),
                       closure.params.begin() + static_cast<ptrdiff_t>(e.captured.size()));
  Type rest = MakeType(std::move(closure));
  return MaybeType(ir::MapDims(rest, [&](const Dim& d) { return Substitute(d, match.dims); }));
}

Dim Inference::Substitute(const Dim& d, const DimMap& known) {
  return d.Substitute([&](const Dim& s) -> std::optional<Dim> {
    auto found = known.find(s.symbol_id());
    return found == known.end() ? std::nullopt : std::optional(found->second);
  });
}

// Binds the symbols of `expected` to the dims of `actual`; what else must be equal becomes an
// equation.
void Inference::MatchDims(const Type& expected, const Type& actual, const std::string& what,
                          DimMatch& match) {
  Type e = solver_.Resolve(expected);
  Type a = solver_.Resolve(actual);
  if (e == a && !e->has_open_dim) return;
  if (e->node.index() != a->node.index()) return;
  if (auto* tensor = e->As<TensorType>()) {
    auto* given = a->As<TensorType>();
    for (int i = 0; i < tensor->rank() && i < given->rank(); ++i) {
      const Dim& x = tensor->shape[i];
      const Dim& y = given->shape[i];
      if (x.is_any()) continue;
      if (x.is_symbol() && match.bound.contains(x.symbol_id()) &&
          match.dims.emplace(x.symbol_id(), y).second) {
        continue;
      }
      match.equations.push_back({x, y, fmt::format("{}: dimension {}", what, i)});
    }
  } else if (auto* tuple = e->As<TupleType>()) {
    if (e->is_large() && !match.seen.insert({e, a}).second) return;
    auto* given = a->As<TupleType>();
    for (size_t i = 0; i < tuple->fields.size() && i < given->fields.size(); ++i) {
      MatchDims(tuple->fields[i], given->fields[i], what, match);
    }
  }
}

bool Inference::DimMatch::IsOpen(const Dim& d) const {
  bool open = false;
  d.ForEachSymbol([&](const Dim& s) {
    open = open || (bound.contains(s.symbol_id()) && !dims.contains(s.symbol_id()));
  });
  return open;
}

Result<std::vector<ir::Guard>> Inference::GuardEquations(const DimMatch& match) const {
  std::vector<ir::Guard> guards;
  for (const DimEquation& e : match.equations) {
    const Dim expected = Substitute(e.expected, match.dims);
    if (match.IsOpen(e.expected) || expected == e.actual || expected.ContainsAny() ||
        e.actual.ContainsAny())
      continue;
    if (Dim::ProvablyDifferent(expected, e.actual)) {
      return InvalidInput(fmt::format("{}: expected {}, found {}", e.what, expected.ToString(),
                                      e.actual.ToString()));
    }
    guards.push_back({ir::Guard::Kind::kEqual, e.actual, expected, e.what});
  }
  return guards;
}

Inference::TypeArgs Inference::Instantiate(Item& item, const Callee& callee) {
  TypeArgs instance;
  const bool is_first = item.type_args.empty();
  for (size_t i = 0; i < callee.type_params.size(); ++i) {
    if (is_first) item.type_args.push_back(NewSlot(item));
    instance[callee.type_params[i]->As<ir::TypeVar>()->id] = item.type_args[i];
  }
  return instance;
}

// What functions take is checked when compiling, tensors when running: a generic function's type
// parameters are decided by the functions that it is given.
Status Inference::FlowArguments(const std::vector<Argument>& args, const TypeArgs& instance,
                                Callee& callee) {
  std::vector<size_t> order(args.size());
  std::iota(order.begin(), order.end(), 0);
  if (!instance.empty()) {
    std::stable_partition(order.begin(), order.end(), [&](size_t i) {
      return solver_.Resolve(args[i].type)->As<FunctionType>() != nullptr;
    });
  }
  for (size_t i : order) {
    // A slot of a generic function may have come to mention its type parameters.
    bool known = !instance.empty() && solver_.FirstUnknown(callee.params[i]) == 0;
    if (known) callee.params[i] = solver_.Zonk(callee.params[i]);
    callee.params[i] = SubstituteTypeVars(callee.params[i], instance);
    Status s = solver_.Flow(args[i].type, callee.params[i]);
    if (!s.ok()) return s.WithContext(args[i].what);
  }
  return OkStatus();
}

Result<Inference::MaybeType> Inference::ApplyCallee(Item& item, Callee callee,
                                                    const std::vector<ir::Atom>& args) {
  if (callee.params.size() != args.size()) {
    return InvalidInput(fmt::format("{} takes {} argument{}, found {}", callee.name,
                                    callee.params.size(), callee.params.size() == 1 ? "" : "s",
                                    args.size()));
  }
  const TypeArgs instance = Instantiate(item, callee);
  std::vector<Argument> actual;
  for (size_t i = 0; i < args.size(); ++i) {
    RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(args[i]));
    const bool named = i < callee.param_vars.size() && !callee.param_vars[i]->name.empty();
    const std::string which = named ? "%" + callee.param_vars[i]->name : std::to_string(i);
    actual.push_back({std::move(type), fmt::format("argument {} of {}", which, callee.name)});
  }
  RELAYVM_RETURN_IF_ERROR(FlowArguments(actual, instance, callee));
  // A parameter may have been unknown until now: what waits for it decides the result.
  if (const Type result = solver_.Resolve(callee.result);
      result->As<InferVar>() != nullptr && !item.loose) {
    item.blocked_on = result->As<InferVar>()->id;
    return MaybeType();
  }

  for (size_t i = 0; i < callee.param_vars.size(); ++i) {
    callee.params[i] = SubstituteTypeVars(TypeOf(callee.param_vars[i]), instance);
  }
  DimMatch match;
  ForEachBoundSymbol(callee.params, [&](uint32_t id) { match.bound.insert(id); });
  for (size_t i = 0; i < args.size(); ++i) {
    auto& [type, what] = actual[i];
    RELAYVM_ASSIGN_OR_RETURN(type, TypeOf(args[i]));  // the call may have decided it
    MatchDims(callee.params[i], type, what, match);
    AddCheck(type, callee.params[i], item.binding->value->span, what);
  }
  RELAYVM_ASSIGN_OR_RETURN(std::vector<ir::Guard> guards, GuardEquations(match));
  if (!guards.empty()) outcomes_[item.binding->var].guards = std::move(guards);
  return MaybeType(ResultOf(callee, instance, match));
}

Type Inference::ResultOf(const Callee& callee, const TypeArgs& instance, const DimMatch& match) {
  const bool is_known = !callee.param_vars.empty();
  Type result = solver_.Zonk(callee.result);
  if (is_known) {
    result = solver_.Restrict(result, callee.outside,
                              [&](uint32_t id) { return match.dims.contains(id); });
  }
  return ir::MapDims(SubstituteTypeVars(result, instance), [&](const Dim& d) {
    // Of a function value: symbols that its parameters bind and that no argument gave are unknown.
    return !is_known && match.IsOpen(d) ? Dim::Any() : Substitute(d, match.dims);
  });
}

// --- Checks at the end ---

// Type parameters don't leave their function through parameters that nobody annotated.
Status Inference::CheckTypeParams() {
  for (const auto& [name, function] : module_.functions) {
    // Those of the function and of the function types around.
    std::unordered_multiset<uint32_t> bound;
    for (const Type& p : function->type_params) bound.insert(p->As<ir::TypeVar>()->id);
    ir::TypeMemo<bool> seen;  // below these alone
    for (const ir::Var* p : function->params) {
      const ir::TypeVar* stranger = nullptr;
      std::function<void(const Type&, ir::TypeMemo<bool>&)> find = [&](const Type& t,
                                                                       ir::TypeMemo<bool>& known) {
        if (!t->has_type_var || known.Find(t) != nullptr) return;
        if (auto* v = t->As<ir::TypeVar>(); v != nullptr && !bound.contains(v->id)) stranger = v;
        auto* f = t->As<FunctionType>();
        if (f == nullptr || f->type_params.empty()) {
          ForEachChild(*t, [&](const Type& child) { find(child, known); });
        } else {
          for (const Type& q : f->type_params) bound.insert(q->As<ir::TypeVar>()->id);
          ir::TypeMemo<bool> inside;
          ForEachChild(*t, [&](const Type& child) { find(child, inside); });
          for (const Type& q : f->type_params) bound.erase(bound.find(q->As<ir::TypeVar>()->id));
        }
        known.Add(t, true);
      };
      find(FinalType(p), seen);
      if (stranger == nullptr) continue;
      return ErrorAt(p->span, fmt::format("the type of %{} depends on {}, a type parameter of "
                                          "another function; annotate it",
                                          p->name, stranger->name));
    }
  }
  return OkStatus();
}

void Inference::AddCheck(Type actual, Type expected, ir::Span span, std::string what, bool inside) {
  if (purpose_ == Purpose::kRetype || actual == expected) return;
  if (!inside && solver_.Resolve(expected)->As<TensorType>() != nullptr) return;
  checks_.push_back({std::move(actual), std::move(expected), span, std::move(what), inside});
}

namespace {

bool DimsConform(const TensorType& actual, const TensorType& expected) {
  for (int i = 0; i < actual.rank() && i < expected.rank(); ++i) {
    if (!expected.shape[i].is_any() && !(expected.shape[i] == actual.shape[i])) return false;
  }
  return true;
}

struct Conforming {
  // The pairs of parts of large types that are known to conform.
  std::set<std::tuple<Type, Type, bool>> pairs;
  FunctionTypeEquality same_functions;
};

bool ConformsInside(const Type& actual, const Type& expected, bool inside, Conforming& known);

// `inside` a container, where no guard reaches.
bool PartsConform(const Type& actual, const Type& expected, bool inside, Conforming& known) {
  if (auto* tensor = actual->As<TensorType>()) {
    return !inside || DimsConform(*tensor, *expected->As<TensorType>());
  }
  if (auto* tuple = actual->As<TupleType>()) {
    const auto& other = expected->As<TupleType>()->fields;
    for (size_t i = 0; i < tuple->fields.size() && i < other.size(); ++i) {
      if (!ConformsInside(tuple->fields[i], other[i], inside, known)) return false;
    }
    return true;
  }
  if (auto* adt = actual->As<AdtType>()) {
    const auto& other = expected->As<AdtType>()->args;
    for (size_t i = 0; i < adt->args.size() && i < other.size(); ++i) {
      if (!ConformsInside(adt->args[i], other[i], true, known)) return false;
    }
    return true;
  }
  if (auto* ref = actual->As<RefType>()) {
    const Type& other = expected->As<RefType>()->value;
    return ConformsInside(ref->value, other, true, known) &&
           ConformsInside(other, ref->value, true, known);
  }
  auto* f = actual->As<FunctionType>();
  if (f == nullptr) return true;
  auto* g = expected->As<FunctionType>();
  if (known.same_functions(actual, expected)) return true;
  // Each symbol that a parameter binds for the first time takes any value.
  std::set<uint32_t> bound;
  auto loosen = [](const Type& t, std::set<uint32_t>& seen) {
    return ir::MapDims(t, [&](const Dim& d) {
      return d.is_symbol() && seen.insert(d.symbol_id()).second ? Dim::Any() : d;
    });
  };
  std::set<uint32_t> wanted;
  for (size_t i = 0; i < f->params.size() && i < g->params.size(); ++i) {
    Type given = ir::MapDims(g->params[i], [](const Dim& d) { return d; });
    if (!ConformsInside(given, loosen(f->params[i], bound), true, known)) return false;
  }
  ForEachBoundSymbol(f->params, [&](uint32_t id) { wanted.insert(id); });
  ForEachBoundSymbol(g->params, [&](uint32_t id) { wanted.insert(id); });
  auto forget = [&](const Dim& d) {
    bool quantified = false;
    d.ForEachSymbol(
        [&](const Dim& s) { quantified = quantified || wanted.contains(s.symbol_id()); });
    return quantified ? Dim::Any() : d;
  };
  return ConformsInside(ir::MapDims(f->result, forget), ir::MapDims(g->result, forget), true,
                        known);
}

bool ConformsInside(const Type& actual, const Type& expected, bool inside, Conforming& known) {
  if (actual == expected || actual->node.index() != expected->node.index()) return true;
  if (!actual->is_large()) return PartsConform(actual, expected, inside, known);
  if (known.pairs.contains({actual, expected, inside})) return true;
  bool conform = ir::TypeEquals(actual, expected) || PartsConform(actual, expected, inside, known);
  if (conform) known.pairs.emplace(actual, expected, inside);
  return conform;
}

}  // namespace

Status Inference::CheckContainers() {
  for (const ContainerCheck& c : checks_) {
    Type actual = solver_.Zonk(c.actual, ir::UnitType());
    Type expected = solver_.Zonk(c.expected, ir::UnitType());
    Conforming known;
    if (ConformsInside(actual, expected, c.inside, known)) continue;
    return ErrorAt(c.span,
                   Status(StatusCode::kUnsupported,
                          fmt::format("{}: expected {}, found {}; dimensions inside containers, "
                                      "references and function types are not checked when the "
                                      "program runs, so they must agree",
                                      c.what, ir::TypeToString(expected, true),
                                      ir::TypeToString(actual, true))));
  }
  return OkStatus();
}

}  // namespace relayvm::typing

// Functions, blocks, and what waits.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/stop_scope.h"
#include "compiler/ir/walk.h"
#include "compiler/typing/call_graph.h"
#include "compiler/typing/inference.h"

namespace relayvm::typing {

using ir::FunctionType;
using ir::MakeType;
using ir::TupleType;
using ir::Type;

namespace {

// Slot numbers of a function's own slots; its site is the id of its first parameter, or of the
// variable it is bound to.
constexpr uint32_t kParamSlot = 1'000'000;
constexpr uint32_t kResultSlot = 1'000'001;
// The result of a block that ends early; its site is the variable where it does.
constexpr uint32_t kDeadEndSlot = 1'000'002;

// Symbols that a function's parameters bind: new ones in place of those that are another's.
using OwnSymbols = std::map<uint32_t, std::optional<uint32_t>>;

// Types of parameters, with the function's own symbols as dims: those of tensors and of tensors in
// tuples come from the written type, all else from its prepared form.
class WrittenDims {
 public:
  explicit WrittenDims(const OwnSymbols& own) : own_(own) {}

  Type Restore(const Type& prepared, const Type& written) {
    if (!written->has_open_dim) return prepared;
    if (const Type* known = restored_.Find(written)) return *known;
    if (auto* tensor = written->As<TensorType>()) {
      std::vector<Dim> shape;
      for (const Dim& d : tensor->shape) shape.push_back(Own(d));
      return ir::MakeTensorType(std::move(shape), tensor->dtype);
    }
    auto* tuple = written->As<TupleType>();
    if (tuple == nullptr) return prepared;
    size_t next = 0;
    Type out = MapChildren(
        prepared, [&](const Type& field) { return Restore(field, tuple->fields[next++]); });
    restored_.Add(written, out);
    return out;
  }

 private:
  Dim Own(const Dim& d) const {
    bool all_own = true;
    d.ForEachSymbol([&](const Dim& s) { all_own = all_own && own_.contains(s.symbol_id()); });
    if (!all_own) return Dim::Any();
    return d.Substitute([&](const Dim& s) -> std::optional<Dim> {
      const auto renamed = own_.at(s.symbol_id());
      if (!renamed) return std::nullopt;
      return Dim::Symbol(*renamed, s.symbol_name(), s.symbol_nonnegative());
    });
  }

  const OwnSymbols& own_;
  ir::TypeMemo<Type> restored_;
};

// Calls fn(path, symbol) for each dim that is a symbol, of a tensor or of tensors in tuples.
class SymbolPlaces {
 public:
  using Fn = std::function<void(const std::vector<int>& path, const Dim& symbol)>;

  void ForEach(const Type& t, const Fn& fn) {
    if (!t->has_open_dim || seen_.Find(t) != nullptr) return;
    seen_.Add(t, true);
    auto* tensor = t->As<TensorType>();
    auto* tuple = t->As<TupleType>();
    const size_t count = tensor != nullptr  ? tensor->shape.size()
                         : tuple != nullptr ? tuple->fields.size()
                                            : 0;
    for (size_t i = 0; i < count; ++i) {
      path_.push_back(static_cast<int>(i));
      if (tuple != nullptr) {
        ForEach(tuple->fields[i], fn);
      } else if (tensor->shape[i].is_symbol()) {
        fn(path_, tensor->shape[i]);
      }
      path_.pop_back();
    }
  }

 private:
  std::vector<int> path_;
  ir::TypeMemo<bool> seen_;
};

}  // namespace

// --- Functions ---

FunctionState& Inference::NewFunctionState(const ir::Function* f, std::string name, Place outside) {
  FunctionState& state = function_states_.emplace_back();
  state.function = f;
  state.name = std::move(name);
  state.outside = outside;
  state.scope = scopes_.NewScope(outside.scope);
  by_function_[f] = &state;
  return state;
}

Status Inference::InferComponents() {
  for (const auto& [name, function] : module_.functions) {
    FunctionState& state = NewFunctionState(function, "@" + name, Place{Scopes::kRoot, 0});
    globals_.emplace(name, &state);
  }
  // What is kept has its symbols already.
  for (bool kept : {true, false}) {
    for (const auto& [name, state] : globals_) {
      if (kept_.Contains(state->function) == kept) RELAYVM_RETURN_IF_ERROR(DeclareParams(*state));
    }
  }
  std::set<const ir::Function*> changed;
  for (const Component& component : ComponentsCalleesFirst(module_)) {
    RELAYVM_RETURN_IF_ERROR(InferComponent(component, changed));
  }
  return OkStatus();
}

Status Inference::InferComponent(const Component& component,
                                 std::set<const ir::Function*>& changed) {
  bool keep = kept_.any();
  for (const std::string* name : component.functions) {
    const ir::Function* f = globals_[*name]->function;
    keep = keep && kept_.Contains(f);
    if (!keep || changed.empty()) continue;
    ir::ForEachGlobal(*f->body, [&](const ir::GlobalVar& g, const ir::CallExpr*) {
      auto callee = globals_.find(g.name);
      keep = keep && (callee == globals_.end() || !changed.contains(callee->second->function));
    });
  }
  for (const std::string* name : component.functions) {
    FunctionState& state = *globals_[*name];
    state.recursive = component.recursive;
    state.kept = keep;
    state.done = keep;
    if (!keep) kept_.Release(state.function);
  }
  if (keep) return OkStatus();
  for (const std::string* name : component.functions) {
    FunctionState& state = *globals_[*name];
    in_continuation_ = state.function->attrs.contains("Continuation");
    RELAYVM_RETURN_IF_ERROR(InferFunction(state));
    in_continuation_ = false;
    const bool same = !kept_.any() || KeepsSignature(state, KeptFunctions::Before(module_, *name));
    if (!same) changed.insert(state.function);
  }
  return OkStatus();
}

// Whether callers see what they saw of the function `before`.
bool Inference::KeepsSignature(FunctionState& state, const ir::Function* before) {
  if (before == nullptr) return false;
  auto same = [&](const Type& type, const Type& old) {
    return solver_.FirstUnknown(type) == 0 && ir::TypeEquals(solver_.Zonk(type), old);
  };
  const ir::Function& f = *state.function;
  if (solver_.FirstUnknown(ResultForCall(state)) != 0) return false;
  return std::ranges::equal(
             f.params, before->params,
             [&](const ir::Var* p, const ir::Var* old) { return same(TypeOf(p), old->type); }) &&
         std::ranges::equal(f.type_params, before->type_params, same) &&
         ir::TypeEquals(FinalResult(&f), before->result_type);
}

Status Inference::DeclareParams(FunctionState& state) {
  ir::PollStop();
  const ir::Function& f = *state.function;
  if (f.body == nullptr) return ErrorAt(f.span, fmt::format("{} has no body", state.name));
  // Symbols that the parameters bind keep their identity; a copy of a function gets its own.
  std::vector<Type> written;
  for (const ir::Var* p : f.params) {
    if (p->type != nullptr) written.push_back(p->type);
  }
  OwnSymbols own;
  Place place = Now(state.scope);
  ForEachBoundSymbol(written, [&](uint32_t id) {
    if (own.contains(id)) return;
    bool taken = scopes_.IsDefined(id) || !(kept_.Contains(&f) || kept_.IsFree(id));
    own[id] = taken ? std::optional(module_.ids->Next()) : std::nullopt;
    scopes_.DefineSymbol(taken ? *own[id] : id, place);
  });
  WrittenDims dims(own);
  SymbolPlaces places;
  std::set<uint32_t> given;  // the first parameter with a symbol as a dim gives it
  for (const ir::Var* p : f.params) {
    Type type;
    if (p->type == nullptr) {
      type = solver_.NewSlot({}, {p->id, kParamSlot});
    } else {
      RELAYVM_ASSIGN_OR_RETURN(Type prepared, PrepareDeclared(p->type, {}, p->span));
      type = dims.Restore(prepared, p->type);
      places.ForEach(type, [&](const std::vector<int>& path, const Dim& d) {
        if (given.insert(d.symbol_id()).second) opened_.emplace(std::pair(p->id, path), d);
      });
    }
    state.params.push_back(type);
    DefineVar(p, type, place);
  }
  if (f.result_type != nullptr) {
    // Slots of a written result are shared by all calls: they see nothing of the body.
    RELAYVM_ASSIGN_OR_RETURN(state.declared_result,
                             PrepareDeclared(f.result_type, state.outside, f.span));
  }
  return OkStatus();
}

// REQUIRES: DeclareParams.
Status Inference::InferFunction(FunctionState& state) {
  Type body;
  Status s = InferBlock(*state.function->body, state.scope, &body);
  if (!s.ok()) return ErrorAt(state.function->span, s);
  if (mixed_blocks_.contains(state.function->body)) mixed_.functions.insert(state.function);
  solver_.BeginStep();
  return FinishFunction(state, body);
}

Status Inference::FinishFunction(FunctionState& state, const Type& body_type) {
  const ir::Function& f = *state.function;
  std::string what = fmt::format("result of {}", state.name);
  if (state.declared_result != nullptr) {
    RELAYVM_RETURN_IF_ERROR(Annotate(f.body->result, f.result_type, state.outside, f.span, what));
  }
  if (state.recursive) {
    Status s = solver_.Flow(body_type, ResultForCall(state));
    if (!s.ok()) return ErrorAt(f.span, s.WithContext(what));
  }
  state.done = true;
  return OkStatus();
}

// What a call gives. While the body isn't typed yet, the same for all calls: nothing that depends
// on the arguments' dims.
Type Inference::ResultForCall(FunctionState& state) {
  if (state.kept) return state.function->result_type;
  if (state.done && !state.recursive) {
    // The result's variable knows more than what has flowed out of the function.
    Type type = *TypeOf(state.function->body->result);
    return state.declared_result == nullptr ? type : Refine(type, state.declared_result, {});
  }
  if (state.result != nullptr) return state.result;
  state.recursive = true;
  if (state.declared_result != nullptr) {
    state.result = state.declared_result;
  } else {
    uint32_t site = state.function->params.empty() ? state.function->body->bindings.empty()
                                                         ? static_cast<uint32_t>(state.scope)
                                                         : state.function->body->bindings[0].var->id
                                                   : state.function->params[0]->id;
    state.result = solver_.NewSlot(state.outside, {site, kResultSlot});
  }
  return state.result;
}

// The type of a function as a value. What its users find out about its unannotated parameters
// reaches it through their slots.
Type Inference::FunctionValueType(FunctionState& state) {
  Type result = ResultForCall(state);
  FunctionType type{state.function->type_params, state.params, nullptr};
  bool complete = solver_.FirstUnknown(result) == 0;
  for (size_t i = 0; i < state.params.size(); ++i) {
    const ir::Var* var = state.function->params[i];
    bool annotated = var->type != nullptr && solver_.FirstUnknown(state.params[i]) == 0;
    complete = complete && annotated;
    if (annotated) type.params[i] = TypeOf(var);
  }
  std::set<uint32_t> own;
  // While anything is open the symbols of parameters quantify nothing in the result.
  if (complete) ForEachBoundSymbol(type.params, [&](uint32_t id) { own.insert(id); });
  type.result =
      solver_.Restrict(result, state.outside, [&](uint32_t id) { return own.contains(id); });
  return MakeType(std::move(type));
}

Type Inference::FinalFunctionType(FunctionState& state) {
  FunctionType type{state.function->type_params, {}, FinalResult(state.function)};
  for (const ir::Var* p : state.function->params) type.params.push_back(FinalType(p));
  return MakeType(std::move(type));
}

Type Inference::FinalResult(const ir::Function* function) {
  FunctionState& state = *by_function_.at(function);
  std::vector<Type> params;
  for (const ir::Var* p : function->params) params.push_back(FinalType(p));
  std::set<uint32_t> own;
  ForEachBoundSymbol(params, [&](uint32_t id) { own.insert(id); });
  return solver_.Restrict(solver_.Zonk(ResultForCall(state), ir::UnitType()), state.outside,
                          [&](uint32_t id) { return own.contains(id); });
}

// --- Blocks and bindings ---

Status Inference::InferBlock(const ir::Block& block, ScopeId scope, Type* result) {
  for (const ir::Binding& b : block.bindings) {
    Status s = InferBinding(b, scope);
    if (s.ok()) continue;
    if (mixed_.vars.contains(b.var)) {
      auto* result_var = std::get_if<const ir::Var*>(&block.result);
      if (result_var != nullptr && *result_var == b.var) mixed_blocks_.insert(&block);
    } else if (IsDeadEnd(s)) {
      AddDeadEnd(b.var, s);
    } else {
      return s;
    }
    RELAYVM_RETURN_IF_ERROR(EndBlock(block, b, scope));
    break;
  }
  auto type = TypeOf(block.result);
  if (!type.ok()) return type.status();
  *result = *type;
  return OkStatus();
}

void Inference::AddDeadEnd(const ir::Var* var, const Status& why) {
  outcomes_[var].dead_end = why.message();
  any_dead_end_ = true;
}

// What follows `at` is not typed. The block's type is what it was before.
Status Inference::EndBlock(const ir::Block& block, const ir::Binding& at, ScopeId scope) {
  auto* var = std::get_if<const ir::Var*>(&block.result);
  if (var == nullptr || vars_[*var].type != nullptr) return OkStatus();
  Place place = Now(scope);
  Type type = solver_.NewSlot(place, {at.var->id, kDeadEndSlot});
  if ((*var)->type != nullptr) {
    RELAYVM_ASSIGN_OR_RETURN(type, PrepareDeclared((*var)->type, place, at.value->span));
  }
  DefineVar(*var, std::move(type), place);
  return OkStatus();
}

bool Inference::IsDeadEnd(const Status& s) const {
  return MayEndDead() &&
         (s.code() == StatusCode::kInvalidInput || s.code() == StatusCode::kUnsupported);
}

Status Inference::InferBinding(const ir::Binding& binding, ScopeId scope) {
  ir::PollStop();
  Item item{.binding = &binding, .place = Now(scope), .in_continuation = in_continuation_};
  solver_.BeginStep();
  auto type = InferExpr(item);
  if (!type.ok()) return ErrorAt(binding.value->span, type.status());
  if (type->has_value()) {
    RELAYVM_RETURN_IF_ERROR(Finish(item, std::move(**type)));
  } else {
    item.promised = solver_.NewSlot(item.place, {binding.var->id, 0}, /*guessed=*/true);
    DefineVar(binding.var, item.promised, item.place);
    if (binding.var->type != nullptr) {
      RELAYVM_ASSIGN_OR_RETURN(Type declared,
                               PrepareDeclared(binding.var->type, item.place, binding.var->span));
      Status s = solver_.Flow(item.promised, declared);
      if (!s.ok()) return ErrorAt(binding.value->span, s);
    }
    items_.push_back(item);
    solver_.Wait(item.blocked_on, static_cast<uint32_t>(items_.size() - 1));
  }
  return RunWoken();
}

Status Inference::Finish(Item& item, Type type) {
  const ir::Var* var = item.binding->var;
  item.done = true;
  if (!item.type_args.empty()) outcomes_[var].type_args = item.type_args;
  if (item.promised != nullptr) {
    Status s = solver_.Define(item.promised, type);
    if (!s.ok()) return ErrorAt(item.binding->value->span, s);
    VarState& state = vars_[var];
    // Who has seen the promised type relies on its symbols.
    if (!state.read) {
      state.type = type;
      state.settled = false;
    }
  } else {
    DefineVar(var, std::move(type), item.place);
  }
  if (var->type == nullptr) return OkStatus();
  // Without symbols, what it was says nothing more.
  const bool is_same = purpose_ == Purpose::kRetype && item.promised == nullptr &&
                       !var->type->has_open_dim && !var->type->has_infer_var &&
                       ir::TypeEquals(vars_[var].type, var->type);
  if (is_same) return OkStatus();
  RELAYVM_RETURN_IF_ERROR(Annotate(var, var->type, item.place, item.binding->value->span,
                                   var->name.empty() ? "a value" : "%" + var->name,
                                   item.binding->value->As<ir::RefCreate>() != nullptr));
  LearnMeanings(var->type, TypeOf(var));
  return OkStatus();
}

// --- Waiting ---

Status Inference::RunWoken() {
  if (running_woken_) return OkStatus();
  running_woken_ = true;
  const bool outer = in_continuation_;
  Status status;
  while (status.ok() && solver_.HasWoken()) {
    for (uint32_t i : solver_.TakeWoken()) {
      Item& item = items_[i];
      if (item.done) continue;
      ir::PollStop();
      solver_.BeginStep();
      in_continuation_ = item.in_continuation;
      auto type = InferExpr(item);
      if (!type.ok()) {
        status = ErrorAt(item.binding->value->span, type.status());
      } else if (type->has_value()) {
        status = Finish(item, std::move(**type));
      } else {
        solver_.Wait(item.blocked_on, i);
      }
      if (IsDeadEnd(status)) {
        AddDeadEnd(item.binding->var, status);
        item.done = true;
        status = OkStatus();
      }
      if (!status.ok()) break;
    }
  }
  running_woken_ = false;
  in_continuation_ = outer;
  return status;
}

// Nothing moves on its own any more. First operators say what they know of their weights; then what
// waits for the result of a call that itself waits takes it as it is.
Status Inference::RunStalled() {
  RELAYVM_RETURN_IF_ERROR(RunWoken());
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].done) continue;
    auto* call = items_[i].binding->value->As<ir::OpCall>();
    if (call == nullptr) continue;
    solver_.BeginStep();
    Status s = ImplyArgTypes(*call);
    if (!s.ok()) return ErrorAt(items_[i].binding->value->span, s);
    RELAYVM_RETURN_IF_ERROR(RunWoken());
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    if (item.done || item.binding->value->As<ir::CallExpr>() == nullptr) continue;
    item.loose = true;
    solver_.BeginStep();
    auto type = InferExpr(item);
    if (!type.ok()) return ErrorAt(item.binding->value->span, type.status());
    if (type->has_value()) RELAYVM_RETURN_IF_ERROR(Finish(item, std::move(**type)));
    RELAYVM_RETURN_IF_ERROR(RunWoken());
  }
  return Stuck();
}

Status Inference::ImplyArgTypes(const ir::OpCall& call) {
  if (call.args.empty() || !call.op->implied_args) return OkStatus();
  RELAYVM_ASSIGN_OR_RETURN(Type data, TypeOf(call.args[0]));
  auto* tensor = data->As<TensorType>();
  if (tensor == nullptr) return OkStatus();
  auto implied = call.op->implied_args(call.attrs, *tensor, call.args.size());
  for (size_t i = 1; i < call.args.size(); ++i) {
    RELAYVM_ASSIGN_OR_RETURN(Type type, TypeOf(call.args[i]));
    if (!solver_.IsUnknown(type) || !implied[i]) continue;
    RELAYVM_RETURN_IF_ERROR(
        solver_.Flow(ir::MakeTensorType(implied[i]->shape, implied[i]->dtype), type));
  }
  return OkStatus();
}

Status Inference::Stuck() {
  if (!mixed_.vars.empty()) return OkStatus();  // what follows the branches is not typed yet
  const bool outer = in_continuation_;
  for (const Item& item : items_) {
    if (item.done) continue;
    std::string unknown;
    ir::ForEachAtom(*item.binding->value, [&](const ir::Atom& a) {
      auto type = TypeOf(a);
      auto* var = std::get_if<const ir::Var*>(&a);
      if (!unknown.empty() || !type.ok() || solver_.FirstUnknown(*type) == 0) return;
      if (var != nullptr && !(*var)->name.empty()) unknown = "%" + (*var)->name;
    });
    if (any_dead_end_) {
      // It waits for what every path ends before: it is not reached either.
      in_continuation_ = item.in_continuation;
      if (MayEndDead()) {
        AddDeadEnd(item.binding->var,
                   {StatusCode::kInvalidInput,
                    fmt::format("no path gives {}", unknown.empty() ? "its argument" : unknown)});
      }
      in_continuation_ = outer;
      continue;
    }
    return ErrorAt(item.binding->value->span,
                   unknown.empty()
                       ? std::string("the type of this expression cannot be inferred; "
                                     "annotate what it is made of")
                       : fmt::format("the type of {} cannot be inferred; annotate it", unknown));
  }
  return OkStatus();
}

}  // namespace relayvm::typing

#include "compiler/lowering/function_lowering.h"

#include <fmt/core.h>

#include <cassert>

#include "bytecode/base/message.h"
#include "compiler/ir/guard_text.h"
#include "compiler/ir/stop_scope.h"
#include "compiler/ir/walk.h"

namespace relayvm::lower {

using ir::Atom;
using ir::Block;
using ir::Type;

FunctionLowering::FunctionLowering(ModuleLowering& module, const FunctionTask& task)
    : module_(module), task_(task) {}

Result<MFunction> FunctionLowering::Lower() {
  switch (task_.kind) {
    case FunctionTask::Kind::kFunction:
    case FunctionTask::Kind::kClosureCode:
      RELAYVM_RETURN_IF_ERROR(LowerFunctionBody());
      break;
    case FunctionTask::Kind::kAdapter:
      RELAYVM_RETURN_IF_ERROR(LowerAdapter());
      break;
    case FunctionTask::Kind::kConstructor:
      RELAYVM_RETURN_IF_ERROR(LowerConstructor());
      break;
  }
  return std::move(out_);
}

// --- Emission ---

MInst& FunctionLowering::Emit(Opcode op, std::vector<MOperand> operands) {
  assert(operands.size() == GetOpcodeInfo(op).num_operands);
  MInst& inst = out_.code.emplace_back();
  inst.op = op;
  inst.operands = std::move(operands);
  inst.span = span_;
  return inst;
}

void FunctionLowering::Bind(Label label) {
  MInst& inst = out_.code.emplace_back();
  inst.is_label = true;
  inst.label = label;
  inst.span = span_;
}

Value FunctionLowering::ScalarValue(Type type, Reg reg) {
  Location* l = NewLocation();
  l->scalar = reg;
  return {std::move(type), l};
}

Value FunctionLowering::ObjectValue(Type type, Reg reg) {
  Location* l = NewLocation();
  l->object = reg;
  return {std::move(type), l};
}

void FunctionLowering::Remember(std::optional<Reg>& part, Reg reg) {
  part = reg;
  undo_.push_back({&part, Dim()});
}

void FunctionLowering::CloseScope(size_t mark) {
  while (undo_.size() > mark) {
    Undo& u = undo_.back();
    if (u.part != nullptr) {
      u.part->reset();
    } else if (u.step) {
      dim_steps_.erase(*u.step);
    } else {
      dim_registers_.erase(u.dim);
    }
    undo_.pop_back();
  }
}

// --- Values ---

Value FunctionLowering::AtomValue(const Atom& atom) {
  if (const auto* var = std::get_if<const ir::Var*>(&atom)) return vars_.at((*var)->id);
  if (const auto* constant = std::get_if<const ir::Constant*>(&atom)) {
    Location* l = NewLocation();
    l->constant = *constant;
    return {ir::ConstantType(**constant), l};
  }
  Reg reg = NewObject();
  uint32_t function = 0;
  if (const auto* global = std::get_if<const ir::GlobalVar*>(&atom)) {
    function = module_.AdapterIndex((*global)->name);
  } else {
    function = module_.ConstructorIndex(*std::get<const ir::Constructor*>(atom));
  }
  Emit(Opcode::kClosureNew, {reg, function, std::vector<uint32_t>{}});
  return ObjectValue(ir::AtomType(module_.module(), atom), reg);
}

void FunctionLowering::BindVar(const ir::Var* var, Value value) {
  value.type = var->type;
  vars_[var->id] = std::move(value);
}

Reg FunctionLowering::ScalarOf(const Value& value) {
  Location& l = *value.location;
  if (l.scalar) return *l.scalar;
  if (l.number != nullptr) {
    Reg read = ReadNumber(*l.number);
    Remember(l.scalar, read);
    return read;
  }
  const auto& tensor = *value.type->As<TensorType>();
  if (l.constant != nullptr) {
    const HostTensor& host = l.constant->value;
    uint64_t bits = 0;
    int bytes = DTypeBytes(host.dtype);
    for (int i = 0; i < bytes; ++i) {
      bits |= static_cast<uint64_t>(std::to_integer<uint8_t>(host.data[static_cast<size_t>(i)]))
              << (8 * i);
    }
    if (IsSignedInt(host.dtype) && bytes < 8) {
      int shift = 64 - 8 * bytes;
      bits = static_cast<uint64_t>(static_cast<int64_t>(bits << shift) >> shift);
    }
    return ConstI(static_cast<int64_t>(bits));
  }
  Reg reg = NewScalar();
  if (l.slot) {
    Emit(Opcode::kSlotItem, {reg, *l.slot, static_cast<int64_t>(tensor.dtype)});
  } else {
    Emit(Opcode::kTensorItem, {reg, *l.object, static_cast<int64_t>(tensor.dtype), 0});
  }
  Remember(l.scalar, reg);
  return reg;
}

Reg FunctionLowering::ObjectOf(const Value& value) {
  Location& l = *value.location;
  if (l.object) return *l.object;
  Reg reg = NewObject();
  if (l.constant != nullptr) {
    Emit(Opcode::kConstR, {reg, module_.ConstantIndex(*l.constant)});
  } else if (l.fields) {
    std::vector<uint32_t> fields;
    for (const Value& f : *l.fields) fields.push_back(ObjectOf(f));
    Emit(Opcode::kAdtNew, {reg, 0, fields});
  } else {
    assert(l.is_number() && "a tensor in an arena slot never escapes");
    DType dtype = value.type->As<TensorType>()->dtype;
    Emit(Opcode::kTensorBox, {reg, ScalarOf(value), static_cast<int64_t>(dtype)});
  }
  Remember(l.object, reg);
  return reg;
}

MBuffer FunctionLowering::BufferOf(const Value& value) {
  const Location& l = *value.location;
  if (l.slot) return {BufferKind::kSlot, *l.slot};
  if (l.constant != nullptr) return {BufferKind::kConstant, module_.ConstantIndex(*l.constant)};
  return {BufferKind::kRegister, ObjectOf(value)};
}

std::vector<uint32_t> FunctionLowering::ObjectsOf(const std::vector<Atom>& atoms) {
  std::vector<uint32_t> regs;
  regs.reserve(atoms.size());
  for (const Atom& a : atoms) regs.push_back(ObjectOf(AtomValue(a)));
  return regs;
}

Value FunctionLowering::FieldOf(const Value& tuple, uint32_t index, const Type& type) {
  Location& l = *tuple.location;
  if (l.fields) return (*l.fields)[index];
  Location*& part = l.parts[index];
  if (part == nullptr) part = NewLocation();
  if (!part->object) {
    Reg reg = NewObject();
    Emit(Opcode::kAdtGet, {reg, ObjectOf(tuple), index});
    Remember(part->object, reg);
  }
  return {type, part};
}

// --- Escapes and uses ---

// Bindings are visited last to first, so that what a variable's users need is known before its own
// operands are seen.
void FunctionLowering::FindEscapes(const Block& block, bool result_escapes) {
  auto mark = [&](const Atom& a) {
    if (const ir::Var* v = ir::AsVar(a)) escapes_.insert(v->id);
  };
  if (result_escapes) mark(block.result);
  if (const ir::Var* v = ir::AsVar(block.result)) ++remaining_[v->id];
  for (size_t i = block.bindings.size(); i-- > 0;) {
    const ir::Expr& e = *block.bindings[i].value;
    bool escapes = escapes_.contains(block.bindings[i].var->id);
    ForEachUse(module_.module(), block.bindings[i], [&](const ir::Var* v) { ++remaining_[v->id]; });
    const auto* call = e.As<ir::OpCall>();
    bool alias = e.As<ir::AtomExpr>() != nullptr || e.As<ir::MakeTuple>() != nullptr ||
                 e.As<ir::TupleGet>() != nullptr;
    if (call != nullptr && (call->op->is_view || call->op->is_identity)) alias = true;
    if (call != nullptr && MayAppend(*call)) ForEachAtom(e, mark);
    if (alias) {
      if (escapes) ForEachAtom(e, mark);
    } else if (call == nullptr && e.As<ir::PrimitiveCall>() == nullptr) {
      ForEachAtom(e, mark);
    }
    ForEachBlock(e, [&](const Block& b) { FindEscapes(b, true); });
  }
}

// --- Functions ---

Status FunctionLowering::LowerFunctionBody() {
  const ir::Function& f = *task_.function;
  bool closure = task_.kind == FunctionTask::Kind::kClosureCode;
  Convention convention = module_.ConventionOf(f);
  if (closure) {
    convention.result = Bank::kObject;
    for (Bank& b : convention.params) b = Bank::kObject;
  }
  result_bank_ = convention.result;
  span_ = f.span;
  FindEscapes(*f.body, result_bank_ == Bank::kObject);
  for (size_t i = 0; i < f.params.size(); ++i) {
    const ir::Var* p = f.params[i];
    bool scalar = convention.params[i] == Bank::kScalar;
    BindVar(p, scalar ? ScalarValue(p->type, NewScalar()) : ObjectValue(p->type, NewObject()));
  }
  out_.num_scalar_args = out_.num_scalars;
  out_.num_object_args = out_.num_objects;
  if (task_.name == module_.module().entry) LowerBounds();
  auto result = LowerBlock(*f.body, /*tail=*/true);
  return result.ok() ? OkStatus() : result.status();
}

void FunctionLowering::LowerBounds() {
  for (const ir::Var* p : task_.function->params) {
    const auto* tensor = p->type->As<TensorType>();
    if (tensor == nullptr) continue;
    for (size_t axis = 0; axis < tensor->shape.size(); ++axis) {
      const Dim& d = tensor->shape[axis];
      auto bound = d.is_symbol() ? module_.bounds().find(d.symbol_id()) : module_.bounds().end();
      if (bound == module_.bounds().end()) continue;
      Reg size = NewScalar();
      Emit(Opcode::kTensorDim, {size, ObjectOf(vars_.at(p->id)), static_cast<uint32_t>(axis)});
      std::string text = EscapeMessage(fmt::format("dimension {} of %{}", axis, p->name)) +
                         fmt::format(
                             ": expected at most {}, the bound that the program was "
                             "compiled with (--shape), found {{0}}",
                             bound->second);
      Emit(Opcode::kDimCheck, {static_cast<int64_t>(Comparison::kLe), size, ConstI(bound->second),
                               module_.MessageIndex(text), std::vector<uint32_t>{size}});
    }
  }
}

Status FunctionLowering::LowerAdapter() {
  const ir::Function& f = *task_.function;
  Convention convention = module_.ConventionOf(f);
  span_ = f.span;
  std::vector<Value> params;
  for (const ir::Var* p : f.params) params.push_back(ObjectValue(p->type, NewObject()));
  out_.num_object_args = out_.num_objects;
  std::vector<uint32_t> scalars;
  std::vector<uint32_t> objects;
  for (size_t i = 0; i < params.size(); ++i) {
    if (convention.params[i] == Bank::kScalar) {
      scalars.push_back(ScalarOf(params[i]));
    } else {
      objects.push_back(ObjectOf(params[i]));
    }
  }
  uint32_t callee = module_.FunctionIndex(task_.name);
  if (convention.result == Bank::kObject) {
    Emit(Opcode::kTailCall, {callee, scalars, objects});
    return OkStatus();
  }
  Reg result = NewScalar();
  Emit(Opcode::kCallI, {result, callee, scalars, objects});
  Return(ScalarValue(f.result_type, result));
  return OkStatus();
}

Status FunctionLowering::LowerConstructor() {
  std::vector<uint32_t> fields;
  for (size_t i = 0; i < task_.constructor->fields.size(); ++i) fields.push_back(NewObject());
  out_.num_object_args = out_.num_objects;
  Reg reg = NewObject();
  Emit(Opcode::kAdtNew, {reg, task_.constructor->tag, fields});
  Emit(Opcode::kReturnR, {reg});
  return OkStatus();
}

// --- Blocks ---

namespace {

// Whose sizes the ShapeValue at `at` is: type inference puts those of an operator before its call.
std::string SizesFor(const Block& block, size_t at) {
  for (size_t i = at + 1; i < block.bindings.size() && block.bindings[at].var->name.empty(); ++i) {
    const ir::Expr& e = *block.bindings[i].value;
    if (const auto* call = e.As<ir::OpCall>()) return call->op->name;
    const auto* group = e.As<ir::PrimitiveCall>();
    if (group == nullptr) continue;
    const auto& inner = group->function->body->bindings;
    const auto* first = inner.empty() ? nullptr : inner[0].value->As<ir::OpCall>();
    if (first != nullptr) return first->op->name;
  }
  return "arithmetic on sizes";
}

}  // namespace

Result<std::optional<Value>> FunctionLowering::LowerBlock(const Block& block, bool tail) {
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    ir::PollStop();
    const ir::Binding& b = block.bindings[i];
    span_ = b.value->span;
    const auto* result = std::get_if<const ir::Var*>(&block.result);
    bool last = tail && i + 1 == block.bindings.size() && result != nullptr && *result == b.var;
    if (last) {
      const Type& type = b.var->type;
      if (const auto* call = b.value->As<ir::CallExpr>()) {
        RELAYVM_RETURN_IF_ERROR(LowerTailCall(*call, type));
        return std::optional<Value>();
      }
      if (const auto* e = b.value->As<ir::IfExpr>()) {
        auto r = LowerIf(*e, type, true);
        if (!r.ok()) return r.status();
        return std::optional<Value>();
      }
      if (const auto* e = b.value->As<ir::MatchExpr>()) {
        auto r = LowerMatch(*e, type, true, b.value->span);
        if (!r.ok()) return r.status();
        return std::optional<Value>();
      }
    }
    if (b.value->As<ir::ShapeValue>() != nullptr) dim_owner_ = SizesFor(block, i);
    RELAYVM_RETURN_IF_ERROR(LowerBinding(b));
    ForEachUse(module_.module(), b, [&](const ir::Var* v) { --remaining_[v->id]; });
  }
  Value value = AtomValue(block.result);
  if (!tail) return std::optional<Value>(value);
  Return(value);
  return std::optional<Value>();
}

Status FunctionLowering::LowerBinding(const ir::Binding& b) {
  return std::visit([&](const auto& e) { return Lower(b.var, e); }, b.value->node);
}

Status FunctionLowering::BindResult(const ir::Var* var, Value value) {
  BindVar(var, std::move(value));
  return OkStatus();
}

Value FunctionLowering::TupleOf(const Type& type, std::vector<Value> fields) {
  Location* l = NewLocation();
  l->fields = std::move(fields);
  return {type, l};
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::AtomExpr& e) {
  return BindResult(var, AtomValue(e.atom));
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::Stated& e) {
  return BindResult(var, AtomValue(e.value));
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::Trap& e) {
  Emit(Opcode::kTrap, {module_.MessageIndex(e.message)});
  return BindResult(var, MergeTarget(var->type));  // what follows is not reached
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::CallExpr& e) {
  RELAYVM_ASSIGN_OR_RETURN(Value v, LowerCall(e, var->type));
  return BindResult(var, v);
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::MakeTuple& e) {
  std::vector<Value> fields;
  for (const Atom& a : e.fields) fields.push_back(AtomValue(a));
  return BindResult(var, TupleOf(var->type, std::move(fields)));
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::TupleGet& e) {
  return BindResult(var, FieldOf(AtomValue(e.tuple), e.index, var->type));
}

Status FunctionLowering::Lower(const ir::Var*, const ir::FunctionExpr&) {
  return {StatusCode::kInternal,
          "lowering: a function literal that lambda lifting should have removed"};
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::MakeClosure& e) {
  Reg reg = NewObject();
  uint32_t code = module_.ClosureCodeIndex(e.function->name);
  Emit(Opcode::kClosureNew, {reg, code, ObjectsOf(e.captured)});
  return BindResult(var, ObjectValue(var->type, reg));
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::IfExpr& e) {
  RELAYVM_ASSIGN_OR_RETURN(Value v, LowerIf(e, var->type, false));
  return BindResult(var, v);
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::MatchExpr& e) {
  RELAYVM_ASSIGN_OR_RETURN(Value v, LowerMatch(e, var->type, false, span_));
  return BindResult(var, v);
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::HostCall& call) {
  Reg reg = NewObject();
  Emit(Opcode::kCallHost, {reg, module_.HostIndex(call), ObjectsOf(call.args)});
  return BindResult(var, ObjectValue(var->type, reg));
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::RefCreate& e) {
  Reg reg = NewObject();
  Emit(Opcode::kRefNew, {reg, ObjectOf(AtomValue(e.value))});
  return BindResult(var, ObjectValue(var->type, reg));
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::RefRead& e) {
  Reg reg = NewObject();
  Emit(Opcode::kRefGet, {reg, ObjectOf(AtomValue(e.ref))});
  return BindResult(var, ObjectValue(var->type, reg));
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::RefWrite& e) {
  Emit(Opcode::kRefSet, {ObjectOf(AtomValue(e.ref)), ObjectOf(AtomValue(e.value))});
  return BindResult(var, TupleOf(var->type, {}));
}

void FunctionLowering::Return(const Value& value) {
  if (result_bank_ == Bank::kScalar) {
    Emit(Opcode::kReturnI, {ScalarOf(value)});
  } else {
    Emit(Opcode::kReturnR, {ObjectOf(value)});
  }
}

// --- Control ---

Value FunctionLowering::MergeTarget(const Type& type) {
  return module_.IsScalar(type) ? ScalarValue(type, NewScalar()) : ObjectValue(type, NewObject());
}

void FunctionLowering::MoveTo(const Value& target, const Value& value) {
  if (target.location->scalar) {
    Emit(Opcode::kMoveI, {*target.location->scalar, ScalarOf(value)});
  } else {
    Emit(Opcode::kMoveR, {*target.location->object, ObjectOf(value)});
  }
}

Result<Value> FunctionLowering::LowerIf(const ir::IfExpr& e, const Type& type, bool tail) {
  Value target = tail ? Value{type, nullptr} : MergeTarget(type);
  Label else_label = NewLabel();
  Label done = NewLabel();
  Emit(Opcode::kBranchIfNot, {ScalarOf(AtomValue(e.condition)), else_label});
  const Block* blocks[] = {e.then_block, e.else_block};
  for (int side = 0; side < 2; ++side) {
    size_t scope = OpenScope();
    if (side == 1) Bind(else_label);
    RELAYVM_ASSIGN_OR_RETURN(std::optional<Value> v, LowerBlock(*blocks[side], tail));
    if (v) {
      MoveTo(target, *v);
      Emit(Opcode::kJump, {done});
    }
    CloseScope(scope);
  }
  if (!tail) Bind(done);
  return target;
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::Guard& guard) {
  BindVar(var, TupleOf(var->type, {}));
  dim_owner_ = guard.message;
  Reg left = EmitDim(guard.left);
  Reg right = EmitDim(guard.right);
  ir::GuardText text = ir::TextOf(guard);
  std::vector<uint32_t> shown = EmitDims(text.values);
  uint32_t message = module_.MessageIndex(text.text);
  if (guard.kind == ir::Guard::Kind::kBroadcastable) {
    Emit(Opcode::kDimBroadcast, {left, right, message, shown});
    return OkStatus();
  }
  Comparison c = guard.kind == ir::Guard::Kind::kEqual ? Comparison::kEq : Comparison::kGe;
  Emit(Opcode::kDimCheck, {static_cast<int64_t>(c), left, right, message, shown});
  return OkStatus();
}

}  // namespace relayvm::lower

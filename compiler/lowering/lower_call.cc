// Calls of functions, constructors and closures, and tail calls.
#include "compiler/lowering/function_lowering.h"

namespace relayvm::lower {

using ir::Atom;
using ir::Type;

void FunctionLowering::SplitArguments(const std::vector<Atom>& args, const Convention& convention,
                                      std::vector<uint32_t>& scalars,
                                      std::vector<uint32_t>& objects) {
  for (size_t i = 0; i < args.size(); ++i) {
    Value v = AtomValue(args[i]);
    if (convention.params[i] == Bank::kScalar) {
      scalars.push_back(ScalarOf(v));
    } else {
      objects.push_back(ObjectOf(v));
    }
  }
}

Result<Value> FunctionLowering::LowerCall(const ir::CallExpr& call, const Type& type) {
  if (const auto* c = std::get_if<const ir::Constructor*>(&call.callee)) {
    Reg reg = NewObject();
    Emit(Opcode::kAdtNew, {reg, (*c)->tag, ObjectsOf(call.args)});
    return ObjectValue(type, reg);
  }
  if (const auto* g = std::get_if<const ir::GlobalVar*>(&call.callee)) {
    const ir::Function& f = *module_.module().functions.at((*g)->name);
    Convention convention = module_.ConventionOf(f);
    std::vector<uint32_t> scalars;
    std::vector<uint32_t> objects;
    SplitArguments(call.args, convention, scalars, objects);
    uint32_t callee = module_.FunctionIndex((*g)->name);
    if (convention.result == Bank::kScalar) {
      Reg reg = NewScalar();
      Emit(Opcode::kCallI, {reg, callee, scalars, objects});
      return ScalarValue(type, reg);
    }
    Reg reg = NewObject();
    Emit(Opcode::kCallR, {reg, callee, scalars, objects});
    return ObjectValue(type, reg);
  }
  Reg closure = ObjectOf(AtomValue(call.callee));
  std::vector<uint32_t> args = ObjectsOf(call.args);
  Reg reg = NewObject();
  Emit(Opcode::kCallClosure, {reg, closure, args});
  return ObjectValue(type, reg);
}

Status FunctionLowering::LowerTailCall(const ir::CallExpr& call, const Type& type) {
  if (const auto* g = std::get_if<const ir::GlobalVar*>(&call.callee)) {
    const ir::Function& f = *module_.module().functions.at((*g)->name);
    Convention convention = module_.ConventionOf(f);
    if (convention.result == result_bank_) {
      std::vector<uint32_t> scalars;
      std::vector<uint32_t> objects;
      SplitArguments(call.args, convention, scalars, objects);
      Emit(Opcode::kTailCall, {module_.FunctionIndex((*g)->name), scalars, objects});
      return OkStatus();
    }
  }
  bool closure = std::holds_alternative<const ir::Var*>(call.callee);
  if (closure && result_bank_ == Bank::kObject) {
    Reg reg = ObjectOf(AtomValue(call.callee));
    Emit(Opcode::kTailClosure, {reg, ObjectsOf(call.args)});
    return OkStatus();
  }
  RELAYVM_ASSIGN_OR_RETURN(Value v, LowerCall(call, type));
  Return(v);
  return OkStatus();
}

}  // namespace relayvm::lower

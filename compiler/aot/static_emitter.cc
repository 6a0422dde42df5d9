#include "compiler/aot/static_emitter.h"

#include <fmt/format.h>

#include "bytecode/kernel_abi.h"

namespace relayvm::aot {

void StaticEmitter::kAdtNew(uint16_t to, uint16_t, OperandUnits operands) {
  uint64_t offset = 0;
  std::vector<Value*> fields;
  for (uint16_t operand : operands) fields.push_back(R(operand));
  for (Value* field : fields) {
    b_.CreateStore(field, Bytes(Place(at()), offset));
    offset += sizeof(void*);
  }
  SetR(to, Place(at()));
}

void StaticEmitter::kKernel(uint16_t kernel, uint16_t number, uint16_t, uint16_t,
                            OperandUnits scalars, OperandUnits buffers) {
  Value* args = KernelArguments(scalars, buffers, Bytes(context_value_, frame_.scratch_offset));
  Value* units = I(number);
  Require(b_.CreateICmpULE(units, Int(UINT32_MAX)), [&] {
    return FailWith(at(), fmt::format("kernel {}: more than {} units of work",
                                      program().kernels[kernel].name, UINT32_MAX));
  });
  auto* done = llvm::BasicBlock::Create(context(), "done", function());
  auto* run = llvm::BasicBlock::Create(context(), "run", function());
  b_.CreateCondBr(b_.CreateIsNull(units), done, run);
  b_.SetInsertPoint(run);
  CallKernel(kernel, args, b_.CreateTrunc(units, b_.getInt32Ty()));
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void StaticEmitter::CallKernel(uint16_t kernel, Value* args, Value* end) {
  const std::string& name = program().kernels[kernel].name;
  auto* type = llvm::FunctionType::get(
      b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty()}, false);
  Value* code =
      b_.CreateCall(type, KernelAddress(kernel), {object_.kernel_env, args, b_.getInt32(0), end});
  Require(b_.CreateIsNull(code), [&] {
    const std::string place = PlaceText(at().pc);
    Value* index = b_.getInt32(static_cast<uint32_t>(
        object_.AddError(fmt::format("{}: kernel {}: index out of range", place, name))));
    Value* other = b_.getInt32(static_cast<uint32_t>(
        object_.AddError(fmt::format("{}: kernel {}: invalid argument", place, name))));
    Value* is_index = b_.CreateICmpEQ(code, b_.getInt32(RELAYVM_KERNEL_INDEX_OUT_OF_RANGE));
    return ErrorResult(b_.CreateSelect(is_index, index, other));
  });
}

// Numbers that a message shows stay as their places: there is nobody to write them.
llvm::Value* StaticEmitter::Fail(const At& at, const Failure& failure) {
  return FailWith(at,
                  FailureText(failure.kind, at.i.opcode, program().messages[failure.message], {}));
}

llvm::Value* StaticEmitter::FailWith(const At& at, const std::string& text) {
  const int32_t code = object_.AddError(fmt::format("{}: {}", PlaceText(at.pc), text));
  return ErrorResult(b_.getInt32(static_cast<uint32_t>(code)));
}

}  // namespace relayvm::aot

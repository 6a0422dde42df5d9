// StaticEmitter: functions of a program that needs no heap (static_plan.h). An object is the
// address of a tensor's elements, or of a tuple's fields; nothing is counted or freed. Tested by
// tests/aot.
#pragma once

#include "compiler/aot/function_emitter.h"

namespace relayvm::aot {

class StaticEmitter final : public FunctionEmitter {
 public:
  StaticEmitter(ObjectModule& object, uint32_t function, const StaticFrame& frame)
      : FunctionEmitter(object, function), frame_(frame) {}

  // --- Rows OP of opcodes.def: those that static_plan.h lets through ---
  void kMoveR(uint16_t to, uint16_t from) { SetR(to, R(from)); }
  void kDrop(uint16_t) {}
  void kConstR(uint16_t to, uint16_t constant) { SetR(to, BufferOfConstant(constant)); }
  void kTensorStatic(uint16_t to, uint16_t) { SetR(to, Place(at())); }
  void kTensorAlloc(uint16_t to, DType, OperandUnits) { SetR(to, Place(at())); }
  void kTensorReuse(uint16_t to, uint16_t, DType, OperandUnits) { SetR(to, Place(at())); }
  void kTensorView(uint16_t to, uint16_t from, OperandUnits) { SetR(to, R(from)); }
  void kTensorBox(uint16_t to, uint16_t number, DType dtype) {
    StoreElement(dtype, I(number), Place(at()));
    SetR(to, Place(at()));
  }
  void kTensorItem(uint16_t to, uint16_t from, DType dtype, int64_t position) {
    SetI(to,
         LoadElement(dtype, Bytes(R(from), static_cast<uint64_t>(position * DTypeBytes(dtype)))));
  }
  void kAdtNew(uint16_t to, uint16_t tag, OperandUnits fields);
  void kAdtGet(uint16_t to, uint16_t from, uint16_t field) {
    SetR(to, b_.CreateLoad(b_.getPtrTy(), Bytes(R(from), sizeof(void*) * field)));
  }
  void kKernel(uint16_t kernel, uint16_t units, uint16_t grain, uint16_t scratch,
               OperandUnits scalars, OperandUnits buffers);
  void kKernel1(uint16_t kernel, OperandUnits scalars, OperandUnits buffers) {
    CallKernel(kernel, KernelArguments(scalars, buffers, Null()), b_.getInt32(1));
  }

 private:
  void Begin() override { arena_ = context_value_; }
  Status EmitObject(const At& at) override {
    const auto emit = ObjectRowOf<StaticEmitter>(at.i.opcode);
    return emit != nullptr ? emit(*this, at.i) : NoNativeCode(at);
  }
  void CallKernel(uint16_t kernel, Value* args, Value* end);
  Value* CalleeContext(const At& at) override { return Place(at); }
  Value* Pass(uint16_t operand) override { return R(operand); }
  void SetObject(uint16_t reg, Value* value) override { SetR(reg, value); }
  void ReleaseRegisters() override {}
  void End() override {}
  Value* PassOnError(const At&, Value* error) override { return ErrorResult(error); }
  Value* Fail(const At& at, const Failure& failure) override;
  Value* FailWith(const At& at, const std::string& text);
  Value* BufferOfRegister(uint16_t reg) override { return R(reg); }

  Value* Place(const At& at) { return Bytes(context_value_, frame_.offsets.at(at.pc)); }

  const StaticFrame& frame_;
};

}  // namespace relayvm::aot

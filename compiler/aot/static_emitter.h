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

 private:
  void Begin() override { arena_ = context_value_; }
  Status EmitObject(const At& at) override;
  void EmitKernel(const At& at, bool ranged) override;
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

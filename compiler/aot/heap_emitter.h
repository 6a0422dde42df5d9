// HeapEmitter: functions of a program that makes tensors of open size, constructors, closures or
// recursion. An object is one of vm/memory/object.h, counted in place; an empty register is null.
// What is more than a few instructions is a call of the runtime (vm/aot/aot_runtime.h). A failure
// leaves what lives to Heap::Reset. Tested by tests/aot.
#pragma once

#include "compiler/aot/function_emitter.h"

namespace relayvm::aot {

class HeapEmitter final : public FunctionEmitter {
 public:
  HeapEmitter(ObjectModule& object, uint32_t function) : FunctionEmitter(object, function) {}

  // The function that a closure of `function` is called by: takes the context, the closure (owned),
  // and the arguments.
  static llvm::Function* MakeClosureEntry(ObjectModule& object, uint32_t function);

 private:
  void Begin() override;
  void Poll(const At& at) override;
  Status EmitObject(const At& at) override;
  void EmitKernel(const At& at, bool ranged) override;
  Value* CalleeContext(const At&) override { return context_value_; }
  Value* Pass(uint16_t operand) override;
  void SetObject(uint16_t reg, Value* value) override;
  void ReleaseRegisters() override;
  void End() override;
  Value* PassOnError(const At& at, Value* error) override;
  Value* Fail(const At& at, const Failure& failure) override;
  Value* BufferOfRegister(uint16_t reg) override;

  Value* Site(uint32_t pc) { return Int(static_cast<int64_t>(uint64_t{index_} << 32 | pc)); }
  void Retain(Value* object);
  void Release(Value* object);
  // The use of an operand that was only looked at ends.
  void EndUse(uint16_t operand);
  // A runtime function that gives an object, or null and a failure; its first arguments are the
  // context and the place.
  Value* Make(const At& at, const char* name, std::vector<Value*> args);
  Value* Dims(std::span<const uint16_t> regs);
  Value* ConstantDims(const std::vector<int64_t>& dims);
  Value* CallClosure(const At& at, uint16_t closure, std::span<const uint16_t> operands);
  bool HasLargeArena() const { return info_.arena_bytes > kMostOnStack; }

  static constexpr uint64_t kMostOnStack = 16 << 10;
};

}  // namespace relayvm::aot

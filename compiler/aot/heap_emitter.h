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

  // --- Rows OP of opcodes.def ---
  void kMoveR(uint16_t to, uint16_t from) { SetObject(to, Pass(from)); }
  void kDrop(uint16_t reg) { SetObject(reg & kRegisterMask, Null()); }
  void kConstR(uint16_t to, uint16_t constant) { SetObject(to, object_.tensors[constant]); }
  void kAdtNew(uint16_t to, uint16_t tag, OperandUnits fields) {
    MakeFilled("relayvm_aot_adt_new", to, tag, fields);
  }
  void kAdtGet(uint16_t to, uint16_t from, uint16_t field);
  void kAdtTag(uint16_t to, uint16_t from) { SetI(to, TagOf(from)); }
  void kSwitchTag(uint16_t from, const Targets& targets) { EmitSwitch(TagOf(from), targets); }
  void kClosureNew(uint16_t to, uint16_t function, OperandUnits captured) {
    MakeFilled("relayvm_aot_closure_new", to, function, captured);
  }
  void kCallClosure(uint16_t to, uint16_t closure, OperandUnits objects);
  void kTailClosure(uint16_t closure, OperandUnits objects);
  void kRefNew(uint16_t to, uint16_t content);
  void kRefGet(uint16_t to, uint16_t ref) { kAdtGet(to, ref, 0); }
  void kRefSet(uint16_t ref, uint16_t content);
  void kTensorStatic(uint16_t to, uint16_t type);
  void kTensorAlloc(uint16_t to, DType dtype, OperandUnits dims) {
    MakeTensor(to, dtype, Dims(dims), dims.size());
  }
  void kTensorView(uint16_t to, uint16_t from, OperandUnits dims);
  void kTensorReuse(uint16_t to, uint16_t from, DType dtype, OperandUnits dims);
  void kTensorAppend(uint16_t to, uint16_t head, uint16_t tail, DType dtype, OperandUnits dims);
  void kTensorDim(uint16_t to, uint16_t from, uint16_t axis);
  void kTensorItem(uint16_t to, uint16_t from, DType dtype, int64_t position);
  void kTensorBox(uint16_t to, uint16_t number, DType dtype);
  void kDimTensor(OperandUnits dims, uint16_t message);
  void kDimShape(OperandUnits to, ShapeRule rule, int64_t zeros, OperandUnits dims,
                 OperandUnits numbers, uint16_t message);
  void kKernel(uint16_t kernel, uint16_t units, uint16_t grain, uint16_t scratch,
               OperandUnits scalars, OperandUnits buffers);
  void kKernel1(uint16_t kernel, OperandUnits scalars, OperandUnits buffers);

 private:
  void Begin() override;
  void Poll(const At& at) override;
  Status EmitObject(const At& at) override {
    const auto emit = ObjectRowOf<HeapEmitter>(at.i.opcode);
    return emit != nullptr ? emit(*this, at.i) : NoNativeCode(at);
  }
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
  Value* Make(const char* name, std::vector<Value*> args);
  void MakeFilled(const char* name, uint16_t to, uint32_t number, OperandUnits fields);
  void MakeTensor(uint16_t to, DType dtype, Value* dims, size_t rank);
  // A runtime function that gives 0 with a failure; the same first arguments.
  void Check(const char* name, std::vector<Value*> args);
  Value* Int32(uint64_t v) { return b_.getInt32(static_cast<uint32_t>(v)); }
  Value* Int32(DType dtype) { return Int32(static_cast<uint64_t>(dtype)); }
  Value* TagOf(uint16_t from);
  // The operand, and whether the runtime takes it over.
  std::vector<Value*> Handed(uint16_t from);
  Value* Numbers(const char* block, OperandUnits regs);
  Value* Dims(OperandUnits regs) { return Numbers("dims", regs); }
  Value* ConstantDims(const std::vector<int64_t>& dims);
  llvm::CallInst* CallClosure(uint16_t closure, OperandUnits operands, bool is_tail);
  Value* AddressOf(uint16_t kernel);
  void EndUses(OperandUnits buffers);
  bool HasLargeArena() const { return info_.arena_bytes > kMostOnStack; }

  static constexpr uint64_t kMostOnStack = 16 << 10;
};

}  // namespace relayvm::aot

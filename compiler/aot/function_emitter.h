// FunctionEmitter: a function's bytecode as LLVM IR. Registers become SSA values, branches
// branches, kernel calls direct calls; what objects are, StaticEmitter and HeapEmitter decide.
//
// A native function takes a context (static: its frame in the workspace; with a heap: the runtime's
// AotContext), its scalars, its objects, and gives {result, int32 error}. An error that is not 0
// leaves at once. The calling convention is LLVM's tailcc, so that tail calls are jumps whatever
// they pass. In GuardLlvm (kernels/codegen/llvm_guard.h). Tested by tests/aot.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "bytecode/semantics.h"
#include "compiler/aot/llvm_ops.h"
#include "compiler/aot/static_plan.h"
#include "kernels/codegen/target.h"
#include "vm/aot/aot_runtime.h"

namespace relayvm::aot {

// What the functions of an object share.
struct ObjectModule {
  const Program& program;
  const Machine& machine;
  llvm::Module& module;
  const std::string prefix;                      // of the names of native functions: "model."
  std::vector<llvm::Function*> functions;        // by index; null: nothing calls it
  llvm::GlobalVariable* kernels = nullptr;       // the image of kernels, as it lies in memory
  std::vector<llvm::GlobalVariable*> constants;  // their elements; null: the runtime makes them
  std::vector<llvm::Constant*> places;           // where it puts their address then; else null
  std::vector<llvm::GlobalVariable*> tensors;    // with a heap: the constants as objects
  llvm::GlobalVariable* closures = nullptr;      // with a heap: entries by function
  llvm::GlobalVariable* kernel_env = nullptr;    // static: one for all
  std::vector<std::string> errors;               // static: texts of the codes 1, 2 ...

  llvm::LLVMContext& context() const { return module.getContext(); }
  // Declares the function; its body comes later.
  void Declare(uint32_t function);
  llvm::StructType* ResultType(const FunctionInfo& f) const;
  // A function of the runtime, or of C's library.
  llvm::FunctionCallee Runtime(const char* name, llvm::Type* result,
                               std::initializer_list<llvm::Type*> params) const;
  int32_t AddError(std::string text);
  // Bytes of the object that nobody changes, aligned as constants are.
  llvm::GlobalVariable* AddData(std::span<const std::byte> bytes, const char* name) const;
  // An image as the loader would place it: code that runs where it lies, whatever the address.
  Result<llvm::GlobalVariable*> AddImage(std::span<const uint8_t> elf,
                                         const std::string& symbol) const;
};

class FunctionEmitter {
 public:
  FunctionEmitter(ObjectModule& object, uint32_t function);
  virtual ~FunctionEmitter() = default;
  FunctionEmitter(const FunctionEmitter&) = delete;
  FunctionEmitter& operator=(const FunctionEmitter&) = delete;

  Status Emit();

  // --- Rows OP of opcodes.def (bytecode/semantics.h) ---
  void kJump(int32_t distance) { b_.CreateBr(TargetOf(*at_, distance)); }
  void kSwitch(uint16_t index, const Targets& targets) { EmitSwitch(I(index), targets); }
  void kCallI(uint16_t to, uint16_t callee, OperandUnits scalars, OperandUnits objects) {
    SetI(to, CallFunction(callee, scalars, objects));
  }
  void kCallR(uint16_t to, uint16_t callee, OperandUnits scalars, OperandUnits objects) {
    SetObject(to, CallFunction(callee, scalars, objects));
  }
  void kTailCall(uint16_t callee, OperandUnits scalars, OperandUnits objects);
  void kReturnI(uint16_t reg);
  void kReturnR(uint16_t reg);
  void kKernels(int64_t) {}  // one by one
  void kSlotItem(uint16_t to, uint16_t slot, DType dtype) {
    SetI(to, LoadElement(dtype, Bytes(arena_, info_.slots[slot].offset)));
  }

 protected:
  using Value = llvm::Value;
  struct At {
    uint32_t pc;
    const Instruction& i;
  };

  // At the start of the function, before its code.
  virtual void Begin() = 0;
  // Where a loop, or the function, begins anew: the place to look whether to go on.
  virtual void Poll(const At& /*at*/) {}
  // A row OP. kUnsupported where there is no native code for it.
  virtual Status EmitObject(const At& at) = 0;
  // The context that a call passes on.
  virtual Value* CalleeContext(const At& at) = 0;
  // Of an object operand of a call or a return: its value, owned by the callee.
  virtual Value* Pass(uint16_t operand) = 0;
  // Puts a value that the register is to own into it.
  virtual void SetObject(uint16_t reg, Value* value) = 0;
  // Empties all object registers; what was `Pass`ed is gone from them.
  virtual void ReleaseRegisters() = 0;
  // Before control leaves the function for good; `Pass`ed operands are gone.
  virtual void End() = 0;
  // After a call that failed, in its block: what to return.
  virtual Value* PassOnError(const At& at, Value* error) = 0;
  // What to return where an instruction fails.
  using Failure = ScalarFailure<Value*>;
  virtual Value* Fail(const At& at, const Failure& failure) = 0;

  // --- For all ---
  Value* I(uint16_t reg) { return b_.CreateLoad(b_.getInt64Ty(), scalars_[reg]); }
  void SetI(uint16_t reg, Value* v) { b_.CreateStore(v, scalars_[reg]); }
  Value* R(uint16_t operand) {
    return b_.CreateLoad(b_.getPtrTy(), objects_[operand & kRegisterMask]);
  }
  void SetR(uint16_t reg, Value* v) { b_.CreateStore(v, objects_[reg & kRegisterMask]); }
  Value* Int(int64_t v) { return b_.getInt64(static_cast<uint64_t>(v)); }
  Value* Null() { return llvm::ConstantPointerNull::get(b_.getPtrTy()); }
  Value* Bytes(Value* base, uint64_t offset) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset);
  }
  // An element as a canonical scalar, and back (bytecode/kernel_abi.h).
  Value* LoadElement(DType dtype, Value* address);
  void StoreElement(DType dtype, Value* value, Value* address);
  // A function of the runtime; there is none without a heap, where static_plan.h leaves none to
  // call.
  Value* CallRuntime(const char* name, llvm::Type* result, const std::vector<Value*>& args);
  // Goes on where `ok`; else into a new block, where `fail` gives what to return.
  template <typename Fn>
  void Require(Value* ok, Fn fail) {
    auto* bad = llvm::BasicBlock::Create(context(), "fail", function_);
    auto* good = llvm::BasicBlock::Create(context(), "", function_);
    b_.CreateCondBr(ok, good, bad, likely_);
    b_.SetInsertPoint(bad);
    b_.CreateRet(fail());
    b_.SetInsertPoint(good);
  }
  // {result, error}.
  Value* Return(Value* result, Value* error);
  Value* ErrorResult(Value* error);
  // An array in the frame of this call, of which all instructions of this kind share one.
  llvm::AllocaInst* Block(const char* name, llvm::Type* element, size_t count);
  llvm::Function* function() const { return function_; }
  llvm::MDNode* likely() const { return likely_; }  // that a branch is taken
  llvm::LLVMContext& context() const { return object_.context(); }
  const Program& program() const { return object_.program; }
  const FunctionInfo& info() const { return info_; }
  // "main (file:3:1)".
  std::string PlaceText(uint32_t pc) const;
  Value* KernelAddress(uint32_t kernel);
  virtual Value* BufferOfRegister(uint16_t reg) = 0;
  Value* BufferOfConstant(uint16_t constant);
  void EmitSwitch(Value* index, const Targets& targets);
  // RelayvmKernelArgs.
  Value* KernelArguments(OperandUnits scalars, OperandUnits buffers, Value* scratch);
  Status NoNativeCode(const At& at) const;
  // The arguments of a call, the context left out; the call: {result, error}.
  std::vector<Value*> GatherArguments(OperandUnits scalars, OperandUnits objects);
  llvm::CallInst* CallFunction(uint32_t callee, std::vector<Value*> args);
  // The result of one that does not fail.
  Value* CallFunction(uint32_t callee, OperandUnits scalars, OperandUnits objects);
  const At& at() const { return *at_; }  // what is emitted

  ObjectModule& object_;
  const uint32_t index_;
  const FunctionInfo& info_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  Value* context_value_ = nullptr;
  std::vector<llvm::AllocaInst*> scalars_, objects_;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::BasicBlock* body_ = nullptr;  // of the first instruction
  Value* arena_ = nullptr;

 private:
  struct ScalarMachine;  // of bytecode/semantics.h

  Status EmitInstruction(const At& at);
  llvm::BasicBlock* Target(uint32_t pc);
  llvm::BasicBlock* BlockAfter(const At& at) {
    return Target(at.pc + static_cast<uint32_t>(at.i.size()));
  }
  llvm::BasicBlock* TargetOf(const At& at, int64_t distance) {
    return Target(static_cast<uint32_t>(at.pc + distance));
  }

  std::map<uint32_t, llvm::BasicBlock*> blocks_;  // by pc
  std::map<std::pair<std::string, llvm::Type*>, llvm::AllocaInst*> arrays_;
  llvm::MDNode* likely_;
  const At* at_ = nullptr;
};

}  // namespace relayvm::aot

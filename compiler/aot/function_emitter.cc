#include "compiler/aot/function_emitter.h"

#include <fmt/format.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "bytecode/image.h"
#include "bytecode/kernel_abi.h"

namespace relayvm::aot {

// --- What functions share ---

llvm::StructType* ObjectModule::ResultType(const FunctionInfo& f) const {
  llvm::Type* result = f.returns_scalar
                           ? static_cast<llvm::Type*>(llvm::Type::getInt64Ty(context()))
                           : llvm::PointerType::getUnqual(context());
  return llvm::StructType::get(context(), {result, llvm::Type::getInt32Ty(context())});
}

void ObjectModule::Declare(uint32_t index) {
  const FunctionInfo& f = program.functions[index];
  std::vector<llvm::Type*> params = {llvm::PointerType::getUnqual(context())};
  params.insert(params.end(), f.num_scalar_args, llvm::Type::getInt64Ty(context()));
  params.insert(params.end(), f.num_object_args, llvm::PointerType::getUnqual(context()));
  auto* type = llvm::FunctionType::get(ResultType(f), params, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, prefix + f.name, module);
  function->setCallingConv(llvm::CallingConv::Tail);
  codegen::PrepareFunction(*function, machine);
  functions[index] = function;
}

llvm::FunctionCallee ObjectModule::Runtime(const char* name, llvm::Type* result,
                                           std::initializer_list<llvm::Type*> params) const {
  return module.getOrInsertFunction(
      name, llvm::FunctionType::get(
                result, llvm::ArrayRef<llvm::Type*>(params.begin(), params.size()), false));
}

int32_t ObjectModule::AddError(std::string text) {
  errors.push_back(std::move(text));
  return static_cast<int32_t>(errors.size());
}

llvm::GlobalVariable* ObjectModule::AddData(std::span<const std::byte> bytes,
                                            const char* name) const {
  const llvm::StringRef raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto* data = llvm::ConstantDataArray::getRaw(raw, raw.size(), llvm::Type::getInt8Ty(context()));
  auto* variable = new llvm::GlobalVariable(module, data->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, data, name);
  variable->setAlignment(llvm::Align(kAlignment));
  return variable;
}

Result<llvm::GlobalVariable*> ObjectModule::AddImage(std::span<const uint8_t> elf,
                                                     const std::string& symbol) const {
  RELAYVM_ASSIGN_OR_RETURN(const ImageLayout layout, ParseImage(elf));
  std::vector<uint8_t> memory(layout.memory_bytes);
  for (const ImageSegment& s : layout.segments)
    std::memcpy(memory.data() + s.address, elf.data() + s.file_offset, s.file_bytes);
  while (!memory.empty() && memory.back() == 0) memory.pop_back();
  // A section of its own, since LLVM makes no variable executable.
  std::string text = fmt::format(
      ".section .text.{0},\"ax\",@progbits\n.p2align 12\n.type {0},@object\n.size {0},{1}\n{0}:\n",
      symbol, memory.size());
  constexpr size_t kBytesALine = 64;
  constexpr const char* kHex = "0123456789abcdef";
  text.reserve(text.size() + memory.size() * 5);
  for (size_t i = 0; i < memory.size(); ++i) {
    text += i % kBytesALine == 0 ? ".byte 0x" : ",0x";
    text += kHex[memory[i] >> 4];
    text += kHex[memory[i] & 15];
    if (i % kBytesALine == kBytesALine - 1 || i + 1 == memory.size()) text += '\n';
  }
  module.appendModuleInlineAsm(text);
  auto* image = new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(context()), true,
                                         llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
  image->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return image;
}

// --- A function ---

FunctionEmitter::FunctionEmitter(ObjectModule& object, uint32_t function)
    : object_(object),
      index_(function),
      info_(object.program.functions[function]),
      function_(object.functions[function]),
      b_(object.context()),
      likely_(llvm::MDBuilder(object.context()).createBranchWeights(1 << 20, 1)) {}

Status FunctionEmitter::Emit() {
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<PlacedInstruction> code,
                           DecodeFunction(program(), index_));
  entry_ = llvm::BasicBlock::Create(context(), "entry", function_);
  body_ = llvm::BasicBlock::Create(context(), "body", function_);
  b_.SetInsertPoint(entry_);
  for (uint32_t i = 0; i < info_.num_scalar_registers; ++i)
    scalars_.push_back(b_.CreateAlloca(b_.getInt64Ty()));
  for (uint32_t i = 0; i < info_.num_object_registers; ++i)
    objects_.push_back(b_.CreateAlloca(b_.getPtrTy()));
  for (llvm::AllocaInst* reg : scalars_) b_.CreateStore(Int(0), reg);
  for (llvm::AllocaInst* reg : objects_) b_.CreateStore(Null(), reg);
  context_value_ = function_->getArg(0);
  for (uint32_t i = 0; i < info_.num_scalar_args; ++i)
    SetI(static_cast<uint16_t>(i), function_->getArg(1 + i));
  for (uint32_t i = 0; i < info_.num_object_args; ++i)
    SetR(static_cast<uint16_t>(i), function_->getArg(1u + info_.num_scalar_args + i));
  Begin();
  b_.CreateBr(body_);
  blocks_[0] = body_;
  std::set<uint32_t> loops = {0};  // where calls of the function itself begin
  for (const auto& [pc, i] : code) {
    ForEachTarget(i, [&, at = pc](int32_t distance) {
      const auto target = static_cast<uint32_t>(static_cast<int64_t>(at) + distance);
      Target(target);
      if (distance <= 0) loops.insert(target);
    });
  }
  b_.SetInsertPoint(body_);
  bool ended = false;
  for (const auto& [pc, i] : code) {
    if (const auto block = blocks_.find(pc); block != blocks_.end() && pc != 0) {
      if (!ended) b_.CreateBr(block->second);
      b_.SetInsertPoint(block->second);
      ended = false;
    }
    if (ended) {  // nothing jumps here
      b_.SetInsertPoint(llvm::BasicBlock::Create(context(), "dead", function_));
    }
    if (loops.contains(pc)) Poll({pc, i});
    RELAYVM_RETURN_IF_ERROR(EmitInstruction({pc, i}));
    ended = b_.GetInsertBlock()->getTerminator() != nullptr;
  }
  return OkStatus();
}

llvm::BasicBlock* FunctionEmitter::Target(uint32_t pc) {
  llvm::BasicBlock*& block = blocks_[pc];
  if (block == nullptr)
    block = llvm::BasicBlock::Create(context(), fmt::format("l{}", pc), function_);
  return block;
}

llvm::AllocaInst* FunctionEmitter::Block(const char* name, llvm::Type* element, size_t count) {
  llvm::AllocaInst*& array = arrays_[{fmt::format("{}{}", name, count), element}];
  if (array == nullptr) {
    llvm::IRBuilder<> first(entry_, entry_->begin());
    array = first.CreateAlloca(llvm::ArrayType::get(element, std::max<size_t>(count, 1)));
  }
  return array;
}

llvm::Value* FunctionEmitter::Return(Value* result, Value* error) {
  Value* both = llvm::PoisonValue::get(function_->getReturnType());
  both = b_.CreateInsertValue(both, result, 0);
  return b_.CreateInsertValue(both, error, 1);
}

llvm::Value* FunctionEmitter::ErrorResult(Value* error) {
  auto* type = llvm::cast<llvm::StructType>(function_->getReturnType());
  return Return(llvm::Constant::getNullValue(type->getElementType(0)), error);
}

std::string FunctionEmitter::PlaceText(uint32_t pc) const {
  const auto after =
      std::upper_bound(info_.locations.begin(), info_.locations.end(), pc,
                       [](uint32_t unit, const SourceLocation& l) { return unit < l.pc; });
  if (after == info_.locations.begin()) return fmt::format("{}+{:#x}", info_.name, pc);
  const SourceLocation& l = after[-1];
  const std::string file =
      l.file < program().source_files.size() ? program().source_files[l.file] : "?";
  if (l.line == 0) return fmt::format("{} ({})", info_.name, file);
  return fmt::format("{} ({}:{}:{})", info_.name, file, l.line, l.column);
}

// --- Scalars ---

struct FunctionEmitter::ScalarMachine : LlvmOps {
  FunctionEmitter& emitter;
  const At& at;

  ScalarMachine(FunctionEmitter& e, const At& a) : LlvmOps(e.b_), emitter(e), at(a) {}
  Int Scalar(uint16_t reg) { return emitter.I(reg); }
  void SetScalar(uint16_t reg, Int value) { emitter.SetI(reg, value); }
  template <typename Fn>
  void Require(Bool ok, const Fn& fails) {
    emitter.Require(ok, [&] { return emitter.Fail(at, fails()); });
  }
  template <typename Fn>
  void Fail(const Fn& fails) {
    emitter.b_.CreateRet(emitter.Fail(at, fails()));
  }
  void Branch(Bool condition, int32_t distance) {
    llvm::BasicBlock* next = emitter.BlockAfter(at);
    emitter.b_.CreateCondBr(condition, emitter.TargetOf(at, distance), next);
  }

  // What is no few instructions, the runtime computes.
  Int Function(ScalarFunction fn, FloatWidth width, Int a) {
    if (Int made = InlineFunction(fn, width, a)) return made;
    return Slow(width == FloatWidth::k32 ? "relayvm_aot_call_f32" : "relayvm_aot_call_f64",
                {Code(fn), a});
  }
  Int Function2(ScalarFunction fn, FloatWidth width, Int a, Int b) {
    if (Int made = InlineFunction2(fn, width, a, b)) return made;
    return Slow(width == FloatWidth::k32 ? "relayvm_aot_call2_f32" : "relayvm_aot_call2_f64",
                {Code(fn), a, b});
  }
  Int Convert(Int a, DType from, DType to) {
    if (Int made = InlineConvert(a, from, to)) return made;
    return Slow("relayvm_aot_convert", {a, Code(from), Code(to)});
  }
  Int Power(Int a, Int b, bool is_signed) {
    return Slow("relayvm_aot_power", {a, b, Code(is_signed)});
  }

 private:
  template <typename T>
  Int Code(T value) {
    return emitter.b_.getInt32(static_cast<uint32_t>(value));
  }
  Int Slow(const char* name, const std::vector<Value*>& args) {
    return emitter.CallRuntime(name, emitter.b_.getInt64Ty(), args);
  }
};

Status FunctionEmitter::EmitInstruction(const At& at) {
  at_ = &at;
  ScalarMachine machine(*this, at);
  return RunScalar(machine, at.i) ? OkStatus() : EmitObject(at);
}

llvm::Value* FunctionEmitter::CallRuntime(const char* name, llvm::Type* result,
                                          const std::vector<Value*>& args) {
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  return b_.CreateCall(
      object_.module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)),
      args);
}

llvm::Value* FunctionEmitter::LoadElement(DType dtype, Value* address) {
  llvm::Type* type = b_.getIntNTy(static_cast<unsigned>(8 * DTypeBytes(dtype)));
  Value* v = b_.CreateLoad(type, address);
  if (dtype == DType::kBool) return b_.CreateZExt(b_.CreateIsNotNull(v), b_.getInt64Ty());
  return IsSignedInt(dtype) ? b_.CreateSExt(v, b_.getInt64Ty()) : b_.CreateZExt(v, b_.getInt64Ty());
}

void FunctionEmitter::StoreElement(DType dtype, Value* value, Value* address) {
  if (dtype == DType::kBool) value = b_.CreateZExt(b_.CreateIsNotNull(value), b_.getInt64Ty());
  b_.CreateStore(b_.CreateTrunc(value, b_.getIntNTy(static_cast<unsigned>(8 * DTypeBytes(dtype)))),
                 address);
}

// --- Control ---

void FunctionEmitter::EmitSwitch(Value* index, const Targets& targets) {
  auto* jumps = b_.CreateSwitch(index, BlockAfter(at()), static_cast<unsigned>(targets.count()));
  for (int k = 0; k < targets.count(); ++k) {
    jumps->addCase(b_.getInt64(static_cast<uint64_t>(k)), TargetOf(at(), targets[k]));
  }
}

void FunctionEmitter::kTailCall(uint16_t callee, OperandUnits scalars, OperandUnits objects) {
  std::vector<Value*> args = GatherArguments(scalars, objects);
  if (callee != index_) {
    // What this function holds goes before the call.
    End();
    llvm::CallInst* call = CallFunction(callee, std::move(args));
    call->setTailCallKind(llvm::CallInst::TCK_MustTail);
    b_.CreateRet(call);
    return;
  }
  ReleaseRegisters();
  for (llvm::AllocaInst* reg : scalars_) b_.CreateStore(Int(0), reg);
  for (llvm::AllocaInst* reg : objects_) b_.CreateStore(Null(), reg);
  for (size_t k = 0; k < scalars.size(); ++k) b_.CreateStore(args[1 + k], scalars_[k]);
  for (size_t k = 0; k < objects.size(); ++k)
    b_.CreateStore(args[1 + scalars.size() + k], objects_[k]);
  b_.CreateBr(body_);
}

void FunctionEmitter::kReturnI(uint16_t reg) {
  Value* result = I(reg);
  End();
  b_.CreateRet(Return(result, b_.getInt32(0)));
}

void FunctionEmitter::kReturnR(uint16_t reg) {
  Value* result = Pass(reg | kTakeBit);
  End();
  b_.CreateRet(Return(result, b_.getInt32(0)));
}

std::vector<llvm::Value*> FunctionEmitter::GatherArguments(OperandUnits scalars,
                                                           OperandUnits objects) {
  std::vector<Value*> args = {nullptr};
  for (uint16_t reg : scalars) args.push_back(I(reg));
  for (uint16_t operand : objects) args.push_back(Pass(operand));
  return args;
}

llvm::Value* FunctionEmitter::CallFunction(uint32_t callee, OperandUnits scalars,
                                           OperandUnits objects) {
  llvm::CallInst* call = CallFunction(callee, GatherArguments(scalars, objects));
  Value* error = b_.CreateExtractValue(call, 1);
  Require(b_.CreateICmpEQ(error, b_.getInt32(0)), [&] { return PassOnError(at(), error); });
  return b_.CreateExtractValue(call, 0);
}

llvm::CallInst* FunctionEmitter::CallFunction(uint32_t callee, std::vector<Value*> args) {
  args[0] = CalleeContext(at());
  llvm::CallInst* call = b_.CreateCall(object_.functions[callee], args);
  call->setCallingConv(llvm::CallingConv::Tail);
  return call;
}

// --- Kernels ---

llvm::Value* FunctionEmitter::KernelAddress(uint32_t kernel) {
  const KernelInfo& info = program().kernels[kernel];
  return llvm::ConstantExpr::getInBoundsGetElementPtr(b_.getInt8Ty(), object_.kernels,
                                                      b_.getInt64(info.entries[0]));
}

llvm::Value* FunctionEmitter::BufferOfConstant(uint16_t constant) {
  if (object_.constants[constant] != nullptr) return object_.constants[constant];
  return b_.CreateLoad(b_.getPtrTy(), object_.places[constant]);
}

llvm::Value* FunctionEmitter::KernelArguments(OperandUnits scalars, OperandUnits buffers,
                                              Value* scratch) {
  auto* pointers = llvm::ArrayType::get(b_.getPtrTy(), buffers.size() / 2);
  auto* numbers = llvm::ArrayType::get(b_.getInt64Ty(), scalars.size());
  Value* buffer_block = Block("buffers", b_.getPtrTy(), buffers.size() / 2);
  Value* scalar_block = Block("scalars", b_.getInt64Ty(), scalars.size());
  for (unsigned k = 0; k < scalars.size(); ++k)
    b_.CreateStore(I(scalars[k]), b_.CreateConstInBoundsGEP2_32(numbers, scalar_block, 0, k));
  for (unsigned k = 0; 2 * k < buffers.size(); ++k) {
    const uint16_t index = buffers[2 * k + 1];
    Value* buffer = nullptr;
    switch (static_cast<BufferKind>(buffers[2 * k] & 0xFF)) {
      case BufferKind::kRegister:
        buffer = BufferOfRegister(index);
        break;
      case BufferKind::kConstant:
        buffer = BufferOfConstant(index);
        break;
      case BufferKind::kSlot:
        buffer = Bytes(arena_, info_.slots[index].offset);
        break;
    }
    b_.CreateStore(buffer, b_.CreateConstInBoundsGEP2_32(pointers, buffer_block, 0, k));
  }
  auto* type = llvm::StructType::get(context(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()});
  Value* args = Block("args", type, 1);
  b_.CreateStore(buffer_block, b_.CreateStructGEP(type, args, 0));
  b_.CreateStore(scalar_block, b_.CreateStructGEP(type, args, 1));
  b_.CreateStore(scratch, b_.CreateStructGEP(type, args, 2));
  return args;
}

Status FunctionEmitter::NoNativeCode(const At& at) const {
  return {StatusCode::kUnsupported, fmt::format("{}: --executor aot has no native code for {}",
                                                PlaceText(at.pc), at.i.info->mnemonic)};
}

}  // namespace relayvm::aot

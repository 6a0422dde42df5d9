#include "compiler/aot/heap_emitter.h"

#include <fmt/format.h>

#include <cstddef>

#include "vm/aot/aot_runtime.h"
#include "vm/memory/object.h"

namespace relayvm::aot {
namespace {

// Of vm/memory/object.h: what all objects begin with, then a word by kind, then fields.
constexpr uint64_t kRankAt = 7, kWordAt = 8, kFieldsAt = 16, kDimsAt = sizeof(vm::Tensor);
static_assert(sizeof(vm::Object) == 8 && sizeof(vm::Adt) == kFieldsAt &&
              sizeof(vm::Closure) == kFieldsAt && sizeof(vm::Ref) == kFieldsAt + 8);
using vm::AotContext;

enum class CountChange : uint8_t { kRetain, kRelease };

// void retain(object) and release(context, object), of null too; inlined everywhere.
llvm::Function* CountFunction(ObjectModule& object, CountChange change) {
  const bool release = change == CountChange::kRelease;
  const char* name = release ? "relayvm.release" : "relayvm.retain";
  if (llvm::Function* made = object.module.getFunction(name)) return made;
  llvm::LLVMContext& context = object.context();
  llvm::IRBuilder<> b(context);
  auto* function = llvm::Function::Create(
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false),
      llvm::GlobalValue::InternalLinkage, name, object.module);
  codegen::PrepareFunction(*function, object.machine);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  const auto block = [&](const char* label) {
    return llvm::BasicBlock::Create(context, label, function);
  };
  auto *entry = block("entry"), *some = block("some"), *counted = block("counted"),
       *done = block("done");
  llvm::Value* o = function->getArg(1);
  b.SetInsertPoint(entry);
  b.CreateCondBr(b.CreateIsNull(o), done, some);
  b.SetInsertPoint(some);
  // Others may count a shared object meanwhile: above kUncounted, whatever it is.
  llvm::LoadInst* count = b.CreateLoad(b.getInt32Ty(), o);
  count->setAtomic(llvm::AtomicOrdering::Monotonic);
  b.CreateCondBr(b.CreateICmpULT(count, b.getInt32(vm::kUncounted)), counted, done);
  b.SetInsertPoint(counted);
  if (release) {
    auto *last = block("last"), *more = block("more");
    b.CreateCondBr(b.CreateICmpEQ(count, b.getInt32(1)), last, more);
    b.SetInsertPoint(last);
    b.CreateCall(object.Runtime("relayvm_aot_destroy", b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}),
                 {function->getArg(0), o});
    b.CreateBr(done);
    b.SetInsertPoint(more);
  }
  llvm::Value* changed = b.CreateAdd(count, b.getInt32(release ? UINT32_MAX : 1));
  b.CreateStore(changed, o)->setAtomic(llvm::AtomicOrdering::Monotonic);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return function;
}

}  // namespace

void HeapEmitter::Retain(Value* object) {
  b_.CreateCall(CountFunction(object_, CountChange::kRetain), {context_value_, object});
}
void HeapEmitter::Release(Value* object) {
  b_.CreateCall(CountFunction(object_, CountChange::kRelease), {context_value_, object});
}

void HeapEmitter::Begin() {
  // Kernels and the runtime have room below the limit.
  Value* frame =
      b_.CreateIntrinsic(llvm::Intrinsic::frameaddress, {b_.getPtrTy()}, {b_.getInt32(0)});
  Value* limit =
      b_.CreateLoad(b_.getPtrTy(), Bytes(context_value_, offsetof(AotContext, stack_limit)));
  Require(b_.CreateICmpUGT(frame, limit), [&] {
    CallRuntime("relayvm_aot_fail_stack", b_.getVoidTy(), {context_value_, Site(0)});
    return ErrorResult(b_.getInt32(1));
  });
  if (info_.arena_bytes == 0) return;
  if (!HasLargeArena()) {
    llvm::AllocaInst* arena = Block("arena", b_.getInt8Ty(), info_.arena_bytes);
    arena->setAlignment(llvm::Align(vm::kDataAlignment));
    arena_ = arena;
    return;
  }
  arena_ = CallRuntime("relayvm_aot_push_arena", b_.getPtrTy(),
                       {context_value_, Site(0), Int(static_cast<int64_t>(info_.arena_bytes))});
  Require(b_.CreateIsNotNull(arena_), [&] { return ErrorResult(b_.getInt32(1)); });
}

void HeapEmitter::Poll(const At& at) {
  Value* place = Bytes(context_value_, offsetof(AotContext, fuel));
  Value* fuel = b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), place), Int(1));
  b_.CreateStore(fuel, place);
  auto* look = llvm::BasicBlock::Create(context(), "look", function());
  auto* next = llvm::BasicBlock::Create(context(), "next", function());
  b_.CreateCondBr(b_.CreateICmpSGE(fuel, Int(0)), next, look, likely());
  b_.SetInsertPoint(look);
  Value* ok = CallRuntime("relayvm_aot_poll", b_.getInt32Ty(), {context_value_, Site(at.pc)});
  Require(b_.CreateIsNotNull(ok), [&] { return ErrorResult(b_.getInt32(1)); });
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

void HeapEmitter::ReleaseRegisters() {
  for (llvm::AllocaInst* reg : objects_) Release(b_.CreateLoad(b_.getPtrTy(), reg));
}

void HeapEmitter::End() {
  ReleaseRegisters();
  if (HasLargeArena())
    CallRuntime("relayvm_aot_pop_arena", b_.getVoidTy(), {context_value_, arena_});
}

llvm::Value* HeapEmitter::Pass(uint16_t operand) {
  Value* object = R(operand);
  if ((operand & kTakeBit) != 0)
    SetR(operand, Null());
  else
    Retain(object);
  return object;
}

void HeapEmitter::SetObject(uint16_t reg, Value* value) {
  Value* old = R(reg);
  SetR(reg, value);
  Release(old);
}

void HeapEmitter::EndUse(uint16_t operand) {
  if ((operand & kTakeBit) == 0) return;
  Value* taken = R(operand);
  SetR(operand, Null());
  Release(taken);
}

llvm::Value* HeapEmitter::PassOnError(const At& at, Value* error) {
  CallRuntime("relayvm_aot_called_from", b_.getVoidTy(), {context_value_, Site(at.pc)});
  return ErrorResult(error);
}

llvm::Value* HeapEmitter::Fail(const At& at, const Failure& failure) {
  Value* numbers = Null();
  if (!failure.shown.empty()) {
    llvm::AllocaInst* array = Block("numbers", b_.getInt64Ty(), failure.shown.size());
    for (unsigned i = 0; i < failure.shown.size(); ++i)
      b_.CreateStore(failure.shown[i],
                     b_.CreateConstInBoundsGEP2_32(array->getAllocatedType(), array, 0, i));
    numbers = array;
  }
  CallRuntime("relayvm_aot_fail", b_.getVoidTy(),
              {context_value_, Site(at.pc), b_.getInt32(static_cast<uint32_t>(failure.kind)),
               b_.getInt32(static_cast<uint32_t>(at.i.opcode)),
               b_.getInt32(static_cast<uint32_t>(failure.message)), numbers,
               b_.getInt32(static_cast<uint32_t>(failure.shown.size()))});
  return ErrorResult(b_.getInt32(1));
}

llvm::Value* HeapEmitter::BufferOfRegister(uint16_t reg) {
  return b_.CreateLoad(b_.getPtrTy(), Bytes(R(reg), kWordAt));
}

llvm::Value* HeapEmitter::Make(const char* name, std::vector<Value*> args) {
  args.insert(args.begin(), {context_value_, Site(at().pc)});
  Value* object = CallRuntime(name, b_.getPtrTy(), args);
  Require(b_.CreateIsNotNull(object), [&] { return ErrorResult(b_.getInt32(1)); });
  return object;
}

void HeapEmitter::Check(const char* name, std::vector<Value*> args) {
  args.insert(args.begin(), {context_value_, Site(at().pc)});
  Value* ok = CallRuntime(name, b_.getInt32Ty(), args);
  Require(b_.CreateIsNotNull(ok), [&] { return ErrorResult(b_.getInt32(1)); });
}

llvm::Value* HeapEmitter::Numbers(const char* block, OperandUnits regs) {
  llvm::AllocaInst* array = Block(block, b_.getInt64Ty(), regs.size());
  for (unsigned i = 0; i < regs.size(); ++i)
    b_.CreateStore(I(regs[i]),
                   b_.CreateConstInBoundsGEP2_32(array->getAllocatedType(), array, 0, i));
  return array;
}

llvm::Value* HeapEmitter::ConstantDims(const std::vector<int64_t>& dims) {
  if (dims.empty()) return Null();
  auto* data = llvm::ConstantDataArray::get(context(), llvm::ArrayRef<int64_t>(dims));
  return new llvm::GlobalVariable(object_.module, data->getType(), true,
                                  llvm::GlobalValue::PrivateLinkage, data, "dims");
}

llvm::CallInst* HeapEmitter::CallClosure(uint16_t closure, OperandUnits operands, bool is_tail) {
  Value* callee = Pass(closure);
  std::vector<Value*> args = {context_value_, callee};
  std::vector<llvm::Type*> types = {b_.getPtrTy(), b_.getPtrTy()};
  for (uint16_t operand : operands) {
    args.push_back(Pass(operand));
    types.push_back(b_.getPtrTy());
  }
  Value* function = b_.CreateLoad(b_.getInt64Ty(), Bytes(callee, kWordAt));
  Value* entry = b_.CreateLoad(b_.getPtrTy(),
                               b_.CreateInBoundsGEP(b_.getPtrTy(), object_.closures, {function}));
  if (is_tail) End();
  auto* result = llvm::StructType::get(context(), {b_.getPtrTy(), b_.getInt32Ty()});
  llvm::CallInst* call = b_.CreateCall(llvm::FunctionType::get(result, types, false), entry, args);
  call->setCallingConv(llvm::CallingConv::Tail);
  return call;
}

llvm::Function* HeapEmitter::MakeClosureEntry(ObjectModule& object, uint32_t index) {
  const FunctionInfo& f = object.program.functions[index];
  llvm::IRBuilder<> b(object.context());
  std::vector<llvm::Type*> types(2u + f.num_object_args - f.num_captured, b.getPtrTy());
  auto* entry = llvm::Function::Create(llvm::FunctionType::get(object.ResultType(f), types, false),
                                       llvm::GlobalValue::InternalLinkage,
                                       object.prefix + f.name + ".closure", object.module);
  entry->setCallingConv(llvm::CallingConv::Tail);
  codegen::PrepareFunction(*entry, object.machine);
  b.SetInsertPoint(llvm::BasicBlock::Create(object.context(), "", entry));
  llvm::Value *context = entry->getArg(0), *closure = entry->getArg(1);
  std::vector<llvm::Value*> args = {context};
  for (uint64_t i = 0; i < f.num_captured; ++i) {
    llvm::Value* captured = b.CreateLoad(
        b.getPtrTy(),
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), closure, kFieldsAt + sizeof(void*) * i));
    b.CreateCall(CountFunction(object, CountChange::kRetain), {context, captured});
    args.push_back(captured);
  }
  for (unsigned i = 2; i < entry->arg_size(); ++i) args.push_back(entry->getArg(i));
  b.CreateCall(CountFunction(object, CountChange::kRelease), {context, closure});
  llvm::CallInst* call = b.CreateCall(object.functions[index], args);
  call->setCallingConv(llvm::CallingConv::Tail);
  call->setTailCallKind(llvm::CallInst::TCK_MustTail);
  b.CreateRet(call);
  return entry;
}

// --- Data ---

void HeapEmitter::MakeFilled(const char* name, uint16_t to, uint32_t number, OperandUnits fields) {
  Value* object = Make(name, {Int32(number), Int32(fields.size())});
  uint64_t offset = kFieldsAt;
  for (uint16_t operand : fields) {
    b_.CreateStore(Pass(operand), Bytes(object, offset));
    offset += sizeof(void*);
  }
  SetObject(to, object);
}

// The object may go before its field does.
void HeapEmitter::kAdtGet(uint16_t to, uint16_t from, uint16_t field) {
  Value* value =
      b_.CreateLoad(b_.getPtrTy(), Bytes(R(from), kFieldsAt + sizeof(void*) * uint64_t{field}));
  Retain(value);
  EndUse(from);
  SetObject(to, value);
}

llvm::Value* HeapEmitter::TagOf(uint16_t from) {
  Value* tag = b_.CreateLoad(b_.getInt64Ty(), Bytes(R(from), kWordAt));
  EndUse(from);
  return tag;
}

void HeapEmitter::kCallClosure(uint16_t to, uint16_t closure, OperandUnits objects) {
  Value* both = CallClosure(closure, objects, /*is_tail=*/false);
  Value* error = b_.CreateExtractValue(both, 1);
  Require(b_.CreateIsNull(error), [&] { return PassOnError(at(), error); });
  SetObject(to, b_.CreateExtractValue(both, 0));
}

void HeapEmitter::kTailClosure(uint16_t closure, OperandUnits objects) {
  llvm::CallInst* call = CallClosure(closure, objects, /*is_tail=*/true);
  call->setTailCallKind(llvm::CallInst::TCK_MustTail);
  b_.CreateRet(call);
}

void HeapEmitter::kRefNew(uint16_t to, uint16_t content) {
  Value* ref = Make("relayvm_aot_ref_new", {});
  b_.CreateStore(Pass(content), Bytes(ref, kFieldsAt));
  SetObject(to, ref);
}

void HeapEmitter::kRefSet(uint16_t ref, uint16_t content) {
  Value* place = Bytes(R(ref), kFieldsAt);
  Value* old = b_.CreateLoad(b_.getPtrTy(), place);
  b_.CreateStore(Pass(content), place);
  Release(old);
  EndUse(ref);
}

// --- Tensors ---

void HeapEmitter::MakeTensor(uint16_t to, DType dtype, Value* dims, size_t rank) {
  SetObject(to, Make("relayvm_aot_tensor_alloc", {Int32(dtype), dims, Int32(rank)}));
}

void HeapEmitter::kTensorStatic(uint16_t to, uint16_t index) {
  const TensorTypeInfo& type = program().tensor_types[index];
  MakeTensor(to, type.dtype, ConstantDims(type.dims), type.dims.size());
}

std::vector<llvm::Value*> HeapEmitter::Handed(uint16_t from) {
  const bool takes = (from & kTakeBit) != 0;
  std::vector<Value*> operand = {R(from), Int32(takes ? 1 : 0)};
  if (takes) SetR(from, Null());
  return operand;
}

void HeapEmitter::kTensorView(uint16_t to, uint16_t from, OperandUnits dims) {
  std::vector<Value*> args = Handed(from);
  args.insert(args.end(), {Dims(dims), Int32(dims.size())});
  SetObject(to, Make("relayvm_aot_tensor_view", args));
}

void HeapEmitter::kTensorReuse(uint16_t to, uint16_t from, DType dtype, OperandUnits dims) {
  std::vector<Value*> args = Handed(from);
  args.insert(args.end(), {Dims(dims), Int32(dims.size()), Int32(dtype)});
  SetObject(to, Make("relayvm_aot_tensor_reuse", args));
}

void HeapEmitter::kTensorAppend(uint16_t to, uint16_t head, uint16_t tail, DType dtype,
                                OperandUnits dims) {
  Value* more = R(tail);
  std::vector<Value*> args = Handed(head);
  args.insert(args.end(), {more, Int32(dtype), Dims(dims), Int32(dims.size())});
  Value* made = Make("relayvm_aot_tensor_append", args);
  EndUse(tail);
  SetObject(to, made);
}

void HeapEmitter::kTensorDim(uint16_t to, uint16_t from, uint16_t axis) {
  Value* dim = b_.CreateLoad(b_.getInt64Ty(), Bytes(R(from), kDimsAt + 8 * uint64_t{axis}));
  EndUse(from);
  SetI(to, dim);
}

void HeapEmitter::kTensorItem(uint16_t to, uint16_t from, DType dtype, int64_t position) {
  Value* tensor = R(from);
  // Of rank 0, element 0 is there.
  Value* is_scalar = b_.CreateIsNull(b_.CreateLoad(b_.getInt8Ty(), Bytes(tensor, kRankAt)));
  Value* known = b_.CreateAnd(is_scalar, b_.getInt1(position == 0));
  auto* check = llvm::BasicBlock::Create(context(), "check", function());
  auto* load = llvm::BasicBlock::Create(context(), "load", function());
  b_.CreateCondBr(known, load, check);
  b_.SetInsertPoint(check);
  Check("relayvm_aot_check_item", {tensor, Int32(dtype), Int(position)});
  b_.CreateBr(load);
  b_.SetInsertPoint(load);
  Value* data = b_.CreateLoad(b_.getPtrTy(), Bytes(tensor, kWordAt));
  Value* value = LoadElement(dtype, Bytes(data, static_cast<uint64_t>(position) *
                                                    static_cast<uint64_t>(DTypeBytes(dtype))));
  EndUse(from);
  SetI(to, value);
}

void HeapEmitter::kTensorBox(uint16_t to, uint16_t number, DType dtype) {
  Value* tensor = Make("relayvm_aot_tensor_alloc", {Int32(dtype), Null(), Int32(0)});
  StoreElement(dtype, I(number), b_.CreateLoad(b_.getPtrTy(), Bytes(tensor, kWordAt)));
  SetObject(to, tensor);
}

// --- Sizes ---

void HeapEmitter::kDimTensor(OperandUnits dims, uint16_t message) {
  Check("relayvm_aot_check_dims", {Dims(dims), Int32(dims.size()), Int32(message)});
}

void HeapEmitter::kDimShape(OperandUnits to, ShapeRule rule, int64_t zeros, OperandUnits dims,
                            OperandUnits numbers, uint16_t message) {
  llvm::AllocaInst* shape = Block("shape", b_.getInt64Ty(), to.size());
  Value* second = Numbers("numbers_of_rule", numbers);
  Check("relayvm_aot_shape_rule",
        {Int32(static_cast<uint64_t>(rule)), Int(zeros), Dims(dims), Int32(dims.size()), second,
         Int32(numbers.size()), shape, Int32(to.size()), Int32(message)});
  for (unsigned k = 0; k < to.size(); ++k) {
    SetI(to[k], b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP2_32(
                                                   shape->getAllocatedType(), shape, 0, k)));
  }
}

// --- Kernels ---

llvm::Value* HeapEmitter::AddressOf(uint16_t kernel) {
  if (!program().kernels[kernel].builtin) return KernelAddress(kernel);
  Value* table =
      b_.CreateLoad(b_.getPtrTy(), Bytes(context_value_, offsetof(AotContext, builtins)));
  return b_.CreateLoad(b_.getPtrTy(), Bytes(table, sizeof(void*) * kernel));
}

void HeapEmitter::EndUses(OperandUnits buffers) {
  for (size_t k = 0; k < buffers.size(); k += 2) {
    if ((buffers[k] & kTakeBit) != 0) EndUse(buffers[k + 1] | kTakeBit);
  }
}

void HeapEmitter::kKernel(uint16_t kernel, uint16_t units, uint16_t, uint16_t scratch,
                          OperandUnits scalars, OperandUnits buffers) {
  Value* args = KernelArguments(scalars, buffers, Null());  // scratch: the runtime's
  Check("relayvm_aot_run_kernel", {Int32(kernel), AddressOf(kernel), args, I(units), I(scratch)});
  EndUses(buffers);
}

void HeapEmitter::kKernel1(uint16_t kernel, OperandUnits scalars, OperandUnits buffers) {
  Value* args = KernelArguments(scalars, buffers, Null());
  auto* type = llvm::FunctionType::get(
      b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty()}, false);
  Value* env =
      b_.CreateLoad(b_.getPtrTy(), Bytes(context_value_, offsetof(AotContext, kernel_env)));
  Value* address = AddressOf(kernel);
  // A run that is traced is slow; others lose a load and a branch.
  auto* straight = llvm::BasicBlock::Create(context(), "straight", function());
  auto* traced = llvm::BasicBlock::Create(context(), "traced", function());
  auto* called = llvm::BasicBlock::Create(context(), "called", function());
  Value* traces =
      b_.CreateLoad(b_.getInt64Ty(), Bytes(context_value_, offsetof(AotContext, traces)));
  b_.CreateCondBr(b_.CreateICmpEQ(traces, Int(0)), straight, traced, likely());
  b_.SetInsertPoint(straight);
  Value* of_kernel = b_.CreateCall(type, address, {env, args, b_.getInt32(0), b_.getInt32(1)});
  b_.CreateBr(called);
  b_.SetInsertPoint(traced);
  Value* of_trace = CallRuntime("relayvm_aot_trace_kernel", b_.getInt32Ty(),
                                {context_value_, Site(at().pc), Int32(kernel), address, args});
  b_.CreateBr(called);
  b_.SetInsertPoint(called);
  llvm::PHINode* code = b_.CreatePHI(b_.getInt32Ty(), 2);
  code->addIncoming(of_kernel, straight);
  code->addIncoming(of_trace, traced);
  Require(b_.CreateIsNull(code), [&] {
    CallRuntime("relayvm_aot_fail_kernel", b_.getVoidTy(),
                {context_value_, Site(at().pc), Int32(kernel), code});
    return ErrorResult(b_.getInt32(1));
  });
  EndUses(buffers);
}

}  // namespace relayvm::aot

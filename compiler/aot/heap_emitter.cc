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

llvm::Value* HeapEmitter::Make(const At& at, const char* name, std::vector<Value*> args) {
  args.insert(args.begin(), {context_value_, Site(at.pc)});
  Value* object = CallRuntime(name, b_.getPtrTy(), args);
  Require(b_.CreateIsNotNull(object), [&] { return ErrorResult(b_.getInt32(1)); });
  return object;
}

llvm::Value* HeapEmitter::Dims(std::span<const uint16_t> regs) {
  llvm::AllocaInst* array = Block("dims", b_.getInt64Ty(), regs.size());
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

llvm::Value* HeapEmitter::CallClosure(const At& at, uint16_t closure,
                                      std::span<const uint16_t> operands) {
  Value* callee = Pass(closure);
  std::vector<Value*> args = {context_value_, callee};
  std::vector<llvm::Type*> types = {b_.getPtrTy(), b_.getPtrTy()};
  for (uint16_t operand : operands) {
    args.push_back(Pass(operand));
    types.push_back(b_.getPtrTy());
  }
  (void)at;
  Value* function = b_.CreateLoad(b_.getInt64Ty(), Bytes(callee, kWordAt));
  Value* entry = b_.CreateLoad(b_.getPtrTy(),
                               b_.CreateInBoundsGEP(b_.getPtrTy(), object_.closures, {function}));
  if (at.i.opcode == Opcode::kTailClosure) End();
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

Status HeapEmitter::EmitObject(const At& at) {
  const Instruction& i = at.i;
  const auto fill = [&](Value* object, std::span<const uint16_t> operands) {
    uint64_t offset = kFieldsAt;
    for (uint16_t operand : operands) {
      b_.CreateStore(Pass(operand), Bytes(object, offset));
      offset += sizeof(void*);
    }
  };
  // A field of an object: the object may go before its field does.
  const auto get = [&](uint16_t to, uint16_t from, uint64_t offset) {
    Value* field = b_.CreateLoad(b_.getPtrTy(), Bytes(R(from), offset));
    Retain(field);
    EndUse(from);
    SetObject(to, field);
  };
  const auto int32 = [&](uint32_t v) { return b_.getInt32(v); };
  switch (i.opcode) {
    case Opcode::kMoveR:
      SetObject(i.Unit(0), Pass(i.Unit(1)));
      break;
    case Opcode::kDrop:
      SetObject(i.Unit(0) & kRegisterMask, Null());
      break;
    case Opcode::kConstR:
      SetObject(i.Unit(0), object_.tensors[i.Unit(1)]);
      break;
    case Opcode::kAdtNew: {
      Value* adt = Make(at, "relayvm_aot_adt_new", {int32(i.Unit(1)), int32(i.Count(2))});
      fill(adt, i.List(2));
      SetObject(i.Unit(0), adt);
      break;
    }
    case Opcode::kAdtGet:
      get(i.Unit(0), i.Unit(1), kFieldsAt + sizeof(void*) * i.Unit(2));
      break;
    case Opcode::kAdtTag: {
      Value* tag = b_.CreateLoad(b_.getInt64Ty(), Bytes(R(i.Unit(1)), kWordAt));
      EndUse(i.Unit(1));
      SetI(i.Unit(0), tag);
      break;
    }
    case Opcode::kSwitchTag: {
      Value* tag = b_.CreateLoad(b_.getInt64Ty(), Bytes(R(i.Unit(0)), kWordAt));
      EndUse(i.Unit(0));
      EmitSwitch(at, tag);
      break;
    }
    case Opcode::kClosureNew: {
      Value* closure = Make(at, "relayvm_aot_closure_new", {int32(i.Unit(1)), int32(i.Count(2))});
      fill(closure, i.List(2));
      SetObject(i.Unit(0), closure);
      break;
    }
    case Opcode::kCallClosure: {
      Value* both = CallClosure(at, i.Unit(1), i.List(2));
      Value* error = b_.CreateExtractValue(both, 1);
      Require(b_.CreateIsNull(error), [&] { return PassOnError(at, error); });
      SetObject(i.Unit(0), b_.CreateExtractValue(both, 0));
      break;
    }
    case Opcode::kTailClosure: {
      auto* call = llvm::cast<llvm::CallInst>(CallClosure(at, i.Unit(0), i.List(1)));
      call->setTailCallKind(llvm::CallInst::TCK_MustTail);
      b_.CreateRet(call);
      break;
    }
    case Opcode::kRefNew: {
      Value* ref = Make(at, "relayvm_aot_ref_new", {});
      b_.CreateStore(Pass(i.Unit(1)), Bytes(ref, kFieldsAt));
      SetObject(i.Unit(0), ref);
      break;
    }
    case Opcode::kRefGet:
      get(i.Unit(0), i.Unit(1), kFieldsAt);
      break;
    case Opcode::kRefSet: {
      Value* place = Bytes(R(i.Unit(0)), kFieldsAt);
      Value* old = b_.CreateLoad(b_.getPtrTy(), place);
      b_.CreateStore(Pass(i.Unit(1)), place);
      Release(old);
      EndUse(i.Unit(0));
      break;
    }
    case Opcode::kTensorStatic: {
      const TensorTypeInfo& type = program().tensor_types[i.Unit(1)];
      SetObject(i.Unit(0), Make(at, "relayvm_aot_tensor_alloc",
                                {int32(static_cast<uint32_t>(type.dtype)), ConstantDims(type.dims),
                                 int32(static_cast<uint32_t>(type.dims.size()))}));
      break;
    }
    case Opcode::kTensorAlloc:
      SetObject(i.Unit(0), Make(at, "relayvm_aot_tensor_alloc",
                                {int32(i.Unit(1)), Dims(i.List(2)), int32(i.Count(2))}));
      break;
    case Opcode::kTensorView:
    case Opcode::kTensorReuse: {
      const bool reuse = i.opcode == Opcode::kTensorReuse;
      const uint16_t from = i.Unit(1);
      const int list = reuse ? 3 : 2;
      // The runtime takes over a taken operand.
      Value* source = R(from);
      const bool takes = (from & kTakeBit) != 0;
      if (takes) SetR(from, Null());
      std::vector<Value*> args = {source, int32(takes ? 1 : 0), Dims(i.List(list)),
                                  int32(i.Count(list))};
      if (reuse) args.push_back(int32(i.Unit(2)));
      SetObject(i.Unit(0),
                Make(at, reuse ? "relayvm_aot_tensor_reuse" : "relayvm_aot_tensor_view", args));
      break;
    }
    case Opcode::kTensorAppend: {
      const uint16_t from = i.Unit(1);
      Value *source = R(from), *more = R(i.Unit(2));
      const bool takes = (from & kTakeBit) != 0;
      if (takes) SetR(from, Null());
      Value* made = Make(at, "relayvm_aot_tensor_append",
                         {source, int32(takes ? 1 : 0), more, int32(i.Unit(3)), Dims(i.List(4)),
                          int32(i.Count(4))});
      EndUse(i.Unit(2));
      SetObject(i.Unit(0), made);
      break;
    }
    case Opcode::kTensorDim: {
      Value* dim =
          b_.CreateLoad(b_.getInt64Ty(), Bytes(R(i.Unit(1)), kDimsAt + 8 * uint64_t{i.Unit(2)}));
      EndUse(i.Unit(1));
      SetI(i.Unit(0), dim);
      break;
    }
    case Opcode::kTensorItem: {
      const auto dtype = static_cast<DType>(i.Unit(2));
      Value* tensor = R(i.Unit(1));
      Value* position = Int(i.Immediate(3));
      // Of rank 0, element 0 is there.
      Value* is_scalar = b_.CreateIsNull(b_.CreateLoad(b_.getInt8Ty(), Bytes(tensor, kRankAt)));
      Value* known = b_.CreateAnd(is_scalar, b_.getInt1(i.Immediate(3) == 0));
      auto* check = llvm::BasicBlock::Create(context(), "check", function());
      auto* load = llvm::BasicBlock::Create(context(), "load", function());
      b_.CreateCondBr(known, load, check);
      b_.SetInsertPoint(check);
      Value* ok = CallRuntime("relayvm_aot_check_item", b_.getInt32Ty(),
                              {context_value_, Site(at.pc), tensor, int32(i.Unit(2)), position});
      Require(b_.CreateIsNotNull(ok), [&] { return ErrorResult(b_.getInt32(1)); });
      b_.CreateBr(load);
      b_.SetInsertPoint(load);
      Value* data = b_.CreateLoad(b_.getPtrTy(), Bytes(tensor, kWordAt));
      Value* value = LoadElement(dtype, Bytes(data, static_cast<uint64_t>(i.Immediate(3)) *
                                                        static_cast<uint64_t>(DTypeBytes(dtype))));
      EndUse(i.Unit(1));
      SetI(i.Unit(0), value);
      break;
    }
    case Opcode::kTensorBox: {
      Value* tensor = Make(at, "relayvm_aot_tensor_alloc", {int32(i.Unit(2)), Null(), int32(0)});
      StoreElement(static_cast<DType>(i.Unit(2)), I(i.Unit(1)),
                   b_.CreateLoad(b_.getPtrTy(), Bytes(tensor, kWordAt)));
      SetObject(i.Unit(0), tensor);
      break;
    }
    case Opcode::kSlotItem:
      SetI(i.Unit(0), LoadElement(static_cast<DType>(i.Unit(2)),
                                  Bytes(arena_, info_.slots[i.Unit(1)].offset)));
      break;
    case Opcode::kDimTensor: {
      Value* ok = CallRuntime(
          "relayvm_aot_check_dims", b_.getInt32Ty(),
          {context_value_, Site(at.pc), Dims(i.List(0)), int32(i.Count(0)), int32(i.Unit(1))});
      Require(b_.CreateIsNotNull(ok), [&] { return ErrorResult(b_.getInt32(1)); });
      break;
    }
    case Opcode::kDimShape: {
      // OLIST, RULE, IMM64, ILIST, ILIST, MESSAGE.
      llvm::AllocaInst* shape = Block("shape", b_.getInt64Ty(), i.Count(0));
      llvm::AllocaInst* numbers = Block("numbers_of_rule", b_.getInt64Ty(), i.Count(4));
      for (unsigned k = 0; k < i.List(4).size(); ++k) {
        b_.CreateStore(I(i.List(4)[k]),
                       b_.CreateConstInBoundsGEP2_32(numbers->getAllocatedType(), numbers, 0, k));
      }
      Value* ok = CallRuntime("relayvm_aot_shape_rule", b_.getInt32Ty(),
                              {context_value_, Site(at.pc), int32(i.Unit(1)), Int(i.Immediate(2)),
                               Dims(i.List(3)), int32(i.Count(3)), numbers, int32(i.Count(4)),
                               shape, int32(i.Count(0)), int32(i.Unit(5))});
      Require(b_.CreateIsNotNull(ok), [&] { return ErrorResult(b_.getInt32(1)); });
      for (unsigned k = 0; k < i.List(0).size(); ++k) {
        SetI(i.List(0)[k],
             b_.CreateLoad(b_.getInt64Ty(),
                           b_.CreateConstInBoundsGEP2_32(shape->getAllocatedType(), shape, 0, k)));
      }
      break;
    }
    default:
      return {StatusCode::kUnsupported, fmt::format("{}: --executor aot has no native code for {}",
                                                    PlaceText(at.pc), i.info->mnemonic)};
  }
  return OkStatus();
}

void HeapEmitter::EmitKernel(const At& at, bool ranged) {
  const Instruction& i = at.i;
  const uint16_t kernel = i.Unit(0);
  const int first_list = ranged ? 4 : 1;
  const KernelBlocks blocks = FillBlocks(i, first_list);
  Value* address = nullptr;
  if (program().kernels[kernel].builtin) {
    Value* table =
        b_.CreateLoad(b_.getPtrTy(), Bytes(context_value_, offsetof(AotContext, builtins)));
    address = b_.CreateLoad(b_.getPtrTy(), Bytes(table, sizeof(void*) * kernel));
  } else {
    address = KernelAddress(kernel);
  }
  auto* args_type = llvm::StructType::get(context(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()});
  Value* args = Block("args", args_type, 1);
  b_.CreateStore(blocks.buffers, b_.CreateStructGEP(args_type, args, 0));
  b_.CreateStore(blocks.scalars, b_.CreateStructGEP(args_type, args, 1));
  if (ranged) {
    Value* ok = CallRuntime("relayvm_aot_run_kernel", b_.getInt32Ty(),
                            {context_value_, Site(at.pc), b_.getInt32(kernel), address, args,
                             I(i.Unit(1)), I(i.Unit(3))});
    Require(b_.CreateIsNotNull(ok), [&] { return ErrorResult(b_.getInt32(1)); });
  } else {
    b_.CreateStore(Null(), b_.CreateStructGEP(args_type, args, 2));
    auto* type = llvm::FunctionType::get(
        b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty()}, false);
    Value* env =
        b_.CreateLoad(b_.getPtrTy(), Bytes(context_value_, offsetof(AotContext, kernel_env)));
    Value* code = b_.CreateCall(type, address, {env, args, b_.getInt32(0), b_.getInt32(1)});
    Require(b_.CreateIsNull(code), [&] {
      CallRuntime("relayvm_aot_fail_kernel", b_.getVoidTy(),
                  {context_value_, Site(at.pc), b_.getInt32(kernel), code});
      return ErrorResult(b_.getInt32(1));
    });
  }
  const std::span<const uint16_t> buffers = i.List(first_list + 1);
  for (size_t k = 0; k < buffers.size(); k += 2) {
    if ((buffers[k] & kTakeBit) != 0) EndUse(buffers[k + 1] | kTakeBit);
  }
}

}  // namespace relayvm::aot

#include "compiler/aot/function_emitter.h"

#include <fmt/format.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <set>

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
  codegen::PrepareFunction(*function, target);
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

Status FunctionEmitter::EmitInstruction(const At& at) {
  if (EmitScalar(at.i) || EmitDim(at)) return OkStatus();
  switch (at.i.opcode) {
    case Opcode::kKernel:
    case Opcode::kKernel1:
      EmitKernel(at, at.i.opcode == Opcode::kKernel);
      return OkStatus();
    case Opcode::kKernels:  // one by one
      return OkStatus();
    case Opcode::kJump:
    case Opcode::kBranchIf:
    case Opcode::kBranchIfNot:
    case Opcode::kBranchCmpI:
    case Opcode::kSwitch:
    case Opcode::kCallI:
    case Opcode::kCallR:
    case Opcode::kTailCall:
    case Opcode::kReturnI:
    case Opcode::kReturnR:
    case Opcode::kGuard:
    case Opcode::kTrap:
      return EmitControl(at);
    case Opcode::kCallF32:
    case Opcode::kCallF64:
    case Opcode::kCall2F32:
    case Opcode::kCall2F64:
    case Opcode::kConvert:
    case Opcode::kPowI:
    case Opcode::kPowU:
      return EmitSlowScalar(at);
    default:
      return EmitObject(at);
  }
}

// --- Scalars ---

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

llvm::Value* FunctionEmitter::Compare(uint16_t comparison, Value* a, Value* b, bool is_signed) {
  using P = llvm::CmpInst::Predicate;
  constexpr P kSigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT,
                           P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  constexpr P kUnsigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_ULT,
                             P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  return b_.CreateICmp((is_signed ? kSigned : kUnsigned)[comparison], a, b);
}

llvm::Value* FunctionEmitter::CompareFloats(uint16_t comparison, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  constexpr P kFloats[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT,
                           P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
  return b_.CreateFCmp(kFloats[comparison], a, b);
}

llvm::Value* FunctionEmitter::Float(Value* bits, bool wide) {
  if (wide) return b_.CreateBitCast(bits, b_.getDoubleTy());
  return b_.CreateBitCast(b_.CreateTrunc(bits, b_.getInt32Ty()), b_.getFloatTy());
}

llvm::Value* FunctionEmitter::Bits(Value* number) {
  if (number->getType()->isDoubleTy()) return b_.CreateBitCast(number, b_.getInt64Ty());
  return b_.CreateZExt(b_.CreateBitCast(number, b_.getInt32Ty()), b_.getInt64Ty());
}

llvm::Value* FunctionEmitter::Wrap(Value* v, DType dtype) {
  if (dtype == DType::kBool) return b_.CreateZExt(b_.CreateIsNotNull(v), b_.getInt64Ty());
  if (IsFloat(dtype) || DTypeBytes(dtype) == 8) return v;
  Value* narrow = b_.CreateTrunc(v, b_.getIntNTy(static_cast<unsigned>(8 * DTypeBytes(dtype))));
  return IsSignedInt(dtype) ? b_.CreateSExt(narrow, b_.getInt64Ty())
                            : b_.CreateZExt(narrow, b_.getInt64Ty());
}

// Of integers; null where the opcode is no such instruction. Division by zero gives 0, as
// INT64_MIN / -1 wraps: the divisor is made 1 for the instruction that would trap.
llvm::Value* FunctionEmitter::Binary(Opcode opcode, Value* a, Value* b) {
  const auto divide = [&](auto make, bool is_signed, bool floor_remainder,
                          bool quotient) -> Value* {
    Value* zero = b_.CreateICmpEQ(b, Int(0));
    Value* special = is_signed ? b_.CreateOr(zero, b_.CreateICmpEQ(b, Int(-1))) : zero;
    Value* safe = b_.CreateSelect(special, Int(1), b);
    Value* result = make(a, safe, floor_remainder);
    // By -1: the quotient is the negation, wrapped; the remainder 0.
    Value* other = quotient && is_signed ? b_.CreateSelect(zero, Int(0), b_.CreateNeg(a)) : Int(0);
    return b_.CreateSelect(special, other, result);
  };
  const auto inexact_opposite = [&](Value* r, Value* x, Value* y) {
    Value* signs = b_.CreateICmpSLT(b_.CreateXor(x, y), Int(0));
    return b_.CreateAnd(b_.CreateICmpNE(r, Int(0)), signs);
  };
  switch (opcode) {
    case Opcode::kAddI:
      return b_.CreateAdd(a, b);
    case Opcode::kSubI:
      return b_.CreateSub(a, b);
    case Opcode::kMulI:
      return b_.CreateMul(a, b);
    case Opcode::kAddI32:
      return Extend32(b_.CreateAdd(a, b));
    case Opcode::kSubI32:
      return Extend32(b_.CreateSub(a, b));
    case Opcode::kMulI32:
      return Extend32(b_.CreateMul(a, b));
    case Opcode::kDivI:
      return divide([&](Value* x, Value* y, bool) { return b_.CreateSDiv(x, y); }, true, false,
                    true);
    case Opcode::kModI:
      return divide([&](Value* x, Value* y, bool) { return b_.CreateSRem(x, y); }, true, false,
                    false);
    case Opcode::kFloorDivI:
      return divide(
          [&](Value* x, Value* y, bool) {
            Value* adjust = inexact_opposite(b_.CreateSRem(x, y), x, y);
            return b_.CreateSub(b_.CreateSDiv(x, y), b_.CreateZExt(adjust, b_.getInt64Ty()));
          },
          true, false, true);
    case Opcode::kFloorModI:
      return divide(
          [&](Value* x, Value* y, bool) {
            Value* r = b_.CreateSRem(x, y);
            return b_.CreateSelect(inexact_opposite(r, x, y), b_.CreateAdd(r, y), r);
          },
          true, false, false);
    case Opcode::kDivU:
      return divide([&](Value* x, Value* y, bool) { return b_.CreateUDiv(x, y); }, false, false,
                    true);
    case Opcode::kModU:
      return divide([&](Value* x, Value* y, bool) { return b_.CreateURem(x, y); }, false, false,
                    false);
    case Opcode::kMinI:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case Opcode::kMaxI:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case Opcode::kMinU:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
    case Opcode::kMaxU:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, b);
    case Opcode::kAndI:
      return b_.CreateAnd(a, b);
    case Opcode::kOrI:
      return b_.CreateOr(a, b);
    case Opcode::kXorI:
      return b_.CreateXor(a, b);
    case Opcode::kShlI:
    case Opcode::kShrU: {
      Value* count = b_.CreateAnd(b, Int(63));
      Value* shifted = opcode == Opcode::kShlI ? b_.CreateShl(a, count) : b_.CreateLShr(a, count);
      return b_.CreateSelect(b_.CreateICmpUGT(b, Int(63)), Int(0), shifted);
    }
    case Opcode::kShrI:
      return b_.CreateAShr(a, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b, Int(63)));
    default:
      return nullptr;
  }
}

bool FunctionEmitter::EmitScalar(const Instruction& i) {
  const auto set = [&](Value* v) {
    SetI(i.Unit(0), v);
    return true;
  };
  const auto truth = [&](Value* v) { return set(b_.CreateZExt(v, b_.getInt64Ty())); };
  switch (i.opcode) {
    case Opcode::kMoveI:
      return set(I(i.Unit(1)));
    case Opcode::kConstI16:
    case Opcode::kConstI64:
      return set(Int(i.Immediate(1)));
    case Opcode::kAddImm:
      return set(b_.CreateAdd(I(i.Unit(1)), Int(i.Immediate(2))));
    case Opcode::kAddImmI32:
      return set(Extend32(b_.CreateAdd(I(i.Unit(1)), Int(i.Immediate(2)))));
    case Opcode::kWrap:
      return set(Wrap(I(i.Unit(1)), static_cast<DType>(i.Unit(2))));
    case Opcode::kCompareI:
    case Opcode::kCompareU:
      return truth(Compare(i.Unit(1), I(i.Unit(2)), I(i.Unit(3)), i.opcode == Opcode::kCompareI));
    case Opcode::kSelectI:
      return set(b_.CreateSelect(b_.CreateIsNotNull(I(i.Unit(1))), I(i.Unit(2)), I(i.Unit(3))));
    case Opcode::kAddF32:
    case Opcode::kAddF64:
    case Opcode::kSubF32:
    case Opcode::kSubF64:
    case Opcode::kMulF32:
    case Opcode::kMulF64:
    case Opcode::kDivF32:
    case Opcode::kDivF64: {
      const bool wide = i.opcode == Opcode::kAddF64 || i.opcode == Opcode::kSubF64 ||
                        i.opcode == Opcode::kMulF64 || i.opcode == Opcode::kDivF64;
      Value *x = Float(I(i.Unit(1)), wide), *y = Float(I(i.Unit(2)), wide);
      switch (i.opcode) {
        case Opcode::kAddF32:
        case Opcode::kAddF64:
          return set(Bits(b_.CreateFAdd(x, y)));
        case Opcode::kSubF32:
        case Opcode::kSubF64:
          return set(Bits(b_.CreateFSub(x, y)));
        case Opcode::kMulF32:
        case Opcode::kMulF64:
          return set(Bits(b_.CreateFMul(x, y)));
        default:
          return set(Bits(b_.CreateFDiv(x, y)));
      }
    }
    case Opcode::kCompareF32:
    case Opcode::kCompareF64: {
      const bool wide = i.opcode == Opcode::kCompareF64;
      return truth(CompareFloats(i.Unit(1), Float(I(i.Unit(2)), wide), Float(I(i.Unit(3)), wide)));
    }
    case Opcode::kCallF32:
    case Opcode::kCallF64: {
      Value* v = CallScalarFunction(static_cast<ScalarFunction>(i.Unit(1)),
                                    i.opcode == Opcode::kCallF64, I(i.Unit(2)));
      return v != nullptr && set(v);
    }
    case Opcode::kCall2F32:
    case Opcode::kCall2F64: {
      const auto fn = static_cast<ScalarFunction>(i.Unit(1));
      if (fn != ScalarFunction::kMin && fn != ScalarFunction::kMax) return false;
      const bool wide = i.opcode == Opcode::kCall2F64;
      Value *x = Float(I(i.Unit(2)), wide), *y = Float(I(i.Unit(3)), wide);
      Value* first = fn == ScalarFunction::kMin ? b_.CreateFCmpOLT(x, y) : b_.CreateFCmpOGT(x, y);
      return set(Bits(b_.CreateSelect(first, x, y)));
    }
    case Opcode::kConvert: {
      const auto from = static_cast<DType>(i.Unit(2)), to = static_cast<DType>(i.Unit(3));
      if (from == DType::kFloat16 || to == DType::kFloat16 || from == DType::kBFloat16 ||
          to == DType::kBFloat16)
        return false;
      Value* v = I(i.Unit(1));
      if (!IsFloat(from)) {
        if (!IsFloat(to)) return set(Wrap(v, to));
        llvm::Type* type = to == DType::kFloat32 ? b_.getFloatTy() : b_.getDoubleTy();
        return set(
            Bits(from == DType::kUInt64 ? b_.CreateUIToFP(v, type) : b_.CreateSIToFP(v, type)));
      }
      if (!IsFloat(to)) return false;
      Value* x = Float(v, from == DType::kFloat64);
      return set(
          Bits(b_.CreateFPCast(x, to == DType::kFloat32 ? b_.getFloatTy() : b_.getDoubleTy())));
    }
    default:
      if (Opcode o = i.opcode;
          i.info->num_operands == 3 && i.info->operands[0] == OperandKind::IOUT &&
          i.info->operands[1] == OperandKind::IIN && i.info->operands[2] == OperandKind::IIN) {
        Value* v = Binary(o, I(i.Unit(1)), I(i.Unit(2)));
        return v != nullptr && set(v);
      }
      return false;
  }
}

// Those that one instruction computes exactly; null for the others. Of float32 as of float64: rounding
// what is computed in double gives the same.
llvm::Value* FunctionEmitter::CallScalarFunction(ScalarFunction fn, bool wide, Value* bits) {
  Value* x = Float(bits, wide);
  const auto truth = [&](Value* v) { return b_.CreateZExt(v, b_.getInt64Ty()); };
  const auto intrinsic = [&](llvm::Intrinsic::ID id) {
    return Bits(b_.CreateUnaryIntrinsic(id, x));
  };
  switch (fn) {
    case ScalarFunction::kNegate:
      return Bits(b_.CreateFNeg(x));
    case ScalarFunction::kAbs:
      return intrinsic(llvm::Intrinsic::fabs);
    case ScalarFunction::kSqrt:
      return intrinsic(llvm::Intrinsic::sqrt);
    case ScalarFunction::kFloor:
      return intrinsic(llvm::Intrinsic::floor);
    case ScalarFunction::kCeil:
      return intrinsic(llvm::Intrinsic::ceil);
    case ScalarFunction::kTrunc:
      return intrinsic(llvm::Intrinsic::trunc);
    case ScalarFunction::kRoundEven:
      return intrinsic(llvm::Intrinsic::roundeven);
    case ScalarFunction::kIsNan:
      return truth(b_.CreateFCmpUNO(x, x));
    case ScalarFunction::kIsInf: {
      Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
      return truth(b_.CreateFCmpOEQ(size, llvm::ConstantFP::getInfinity(x->getType())));
    }
    case ScalarFunction::kIsFinite: {
      Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
      return truth(b_.CreateFCmpOLT(size, llvm::ConstantFP::getInfinity(x->getType())));
    }
    default:
      return nullptr;
  }
}

// --- Sizes ---

bool FunctionEmitter::EmitDim(const At& at) {
  const Instruction& i = at.i;
  const auto checked = [&](Value* a, Value* b, Value* result, Value* bad) {
    Require(b_.CreateNot(bad), [&] {
      return Fail(at, {i.Unit(3), "", {a, b}, Failure::Kind::kDim});
    });
    SetI(i.Unit(0), result);
    return true;
  };
  const auto overflowing = [&](llvm::Intrinsic::ID id, Value* a, Value* b) {
    Value* both = b_.CreateBinaryIntrinsic(id, a, b);
    return checked(a, b, b_.CreateExtractValue(both, 0), b_.CreateExtractValue(both, 1));
  };
  switch (i.opcode) {
    case Opcode::kDimAdd:
      return overflowing(llvm::Intrinsic::sadd_with_overflow, I(i.Unit(1)), I(i.Unit(2)));
    case Opcode::kDimAddImm:
      return overflowing(llvm::Intrinsic::sadd_with_overflow, I(i.Unit(1)), Int(i.Immediate(2)));
    case Opcode::kDimSub:
      return overflowing(llvm::Intrinsic::ssub_with_overflow, I(i.Unit(1)), I(i.Unit(2)));
    case Opcode::kDimMul:
      return overflowing(llvm::Intrinsic::smul_with_overflow, I(i.Unit(1)), I(i.Unit(2)));
    case Opcode::kDimFloorDiv: {
      Value *a = I(i.Unit(1)), *b = I(i.Unit(2));
      Value* wraps = b_.CreateAnd(b_.CreateICmpEQ(a, Int(INT64_MIN)), b_.CreateICmpEQ(b, Int(-1)));
      return checked(a, b, Binary(Opcode::kFloorDivI, a, b),
                     b_.CreateOr(b_.CreateICmpEQ(b, Int(0)), wraps));
    }
    case Opcode::kDimFloorMod: {
      Value *a = I(i.Unit(1)), *b = I(i.Unit(2));
      return checked(a, b, Binary(Opcode::kFloorModI, a, b), b_.CreateICmpEQ(b, Int(0)));
    }
    case Opcode::kDimCheck:
    case Opcode::kDimBroadcast: {
      const bool broadcast = i.opcode == Opcode::kDimBroadcast;
      const int first = broadcast ? 0 : 1;
      Value *a = I(i.Unit(first)), *b = I(i.Unit(first + 1));
      Value* ok = broadcast
                      ? b_.CreateOr(b_.CreateICmpEQ(a, b), b_.CreateOr(b_.CreateICmpEQ(a, Int(1)),
                                                                       b_.CreateICmpEQ(b, Int(1))))
                      : Compare(i.Unit(0), a, b, true);
      Require(ok, [&] {
        Failure failure{i.Unit(first + 2), "", {}, Failure::Kind::kCheck};
        for (uint16_t reg : i.List(first + 3)) failure.shown.push_back(I(reg));
        return Fail(at, failure);
      });
      return true;
    }
    default:
      return false;
  }
}

// --- Control ---

void FunctionEmitter::Branch(Value* condition, const At& at, uint32_t target) {
  llvm::BasicBlock* next = BlockAfter(at);
  b_.CreateCondBr(condition, Target(target), next);
}

void FunctionEmitter::EmitSwitch(const At& at, Value* index) {
  auto* jumps = b_.CreateSwitch(index, BlockAfter(at), at.i.Count(1));
  for (int k = 0; k < at.i.Count(1); ++k) {
    jumps->addCase(b_.getInt64(static_cast<uint64_t>(k)),
                   Target(static_cast<uint32_t>(int64_t{at.pc} + at.i.TargetAt(1, k))));
  }
}

Status FunctionEmitter::EmitControl(const At& at) {
  const Instruction& i = at.i;
  const auto target = [&](int64_t distance) { return static_cast<uint32_t>(at.pc + distance); };
  switch (i.opcode) {
    case Opcode::kJump:
      b_.CreateBr(Target(target(i.Immediate(0))));
      break;
    case Opcode::kBranchIf:
      Branch(b_.CreateIsNotNull(I(i.Unit(0))), at, target(i.Immediate(1)));
      break;
    case Opcode::kBranchIfNot:
      Branch(b_.CreateIsNull(I(i.Unit(0))), at, target(i.Immediate(1)));
      break;
    case Opcode::kBranchCmpI:
      Branch(Compare(i.Unit(0), I(i.Unit(1)), I(i.Unit(2)), true), at, target(i.Immediate(3)));
      break;
    case Opcode::kSwitch:
      EmitSwitch(at, I(i.Unit(0)));
      break;
    case Opcode::kCallI:
    case Opcode::kCallR: {
      llvm::CallInst* call = CallFunction(at, i.Unit(1), GatherArguments(i, 2));
      Value* error = b_.CreateExtractValue(call, 1);
      Require(b_.CreateICmpEQ(error, b_.getInt32(0)), [&] { return PassOnError(at, error); });
      Value* result = b_.CreateExtractValue(call, 0);
      if (i.opcode == Opcode::kCallI)
        SetI(i.Unit(0), result);
      else
        SetObject(i.Unit(0), result);
      break;
    }
    case Opcode::kTailCall: {
      if (i.Unit(0) == index_) {
        std::vector<Value*> scalars, objects;
        for (uint16_t reg : i.List(1)) scalars.push_back(I(reg));
        for (uint16_t operand : i.List(2)) objects.push_back(Pass(operand));
        ReleaseRegisters();
        for (llvm::AllocaInst* reg : scalars_) b_.CreateStore(Int(0), reg);
        for (llvm::AllocaInst* reg : objects_) b_.CreateStore(Null(), reg);
        for (size_t k = 0; k < scalars.size(); ++k) b_.CreateStore(scalars[k], scalars_[k]);
        for (size_t k = 0; k < objects.size(); ++k) b_.CreateStore(objects[k], objects_[k]);
        b_.CreateBr(body_);
        break;
      }
      // What this function holds goes before the call.
      std::vector<Value*> args = GatherArguments(i, 1);
      End();
      llvm::CallInst* call = CallFunction(at, i.Unit(0), std::move(args));
      call->setTailCallKind(llvm::CallInst::TCK_MustTail);
      b_.CreateRet(call);
      break;
    }
    case Opcode::kReturnI: {
      Value* result = I(i.Unit(0));
      End();
      b_.CreateRet(Return(result, b_.getInt32(0)));
      break;
    }
    case Opcode::kReturnR: {
      Value* result = Pass(i.Unit(0) | kTakeBit);
      End();
      b_.CreateRet(Return(result, b_.getInt32(0)));
      break;
    }
    case Opcode::kGuard:
      Require(b_.CreateIsNotNull(I(i.Unit(0))), [&] {
        return Fail(at, {i.Unit(3), "", {I(i.Unit(1)), I(i.Unit(2))}, Failure::Kind::kGuard});
      });
      break;
    default:  // kTrap
      b_.CreateRet(Fail(at, {i.Unit(0), "", {}, Failure::Kind::kTrap}));
      break;
  }
  return OkStatus();
}

std::vector<llvm::Value*> FunctionEmitter::GatherArguments(const Instruction& i, int first_list) {
  std::vector<Value*> args = {nullptr};
  for (uint16_t reg : i.List(first_list)) args.push_back(I(reg));
  for (uint16_t operand : i.List(first_list + 1)) args.push_back(Pass(operand));
  return args;
}

llvm::CallInst* FunctionEmitter::CallFunction(const At& at, uint32_t callee,
                                              std::vector<Value*> args) {
  args[0] = CalleeContext(at);
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

FunctionEmitter::KernelBlocks FunctionEmitter::FillBlocks(const Instruction& i, int first_list) {
  const std::span<const uint16_t> scalars = i.List(first_list), buffers = i.List(first_list + 1);
  auto* pointers = llvm::ArrayType::get(b_.getPtrTy(), buffers.size() / 2);
  auto* numbers = llvm::ArrayType::get(b_.getInt64Ty(), scalars.size());
  KernelBlocks blocks{Block("buffers", b_.getPtrTy(), buffers.size() / 2),
                      Block("scalars", b_.getInt64Ty(), scalars.size())};
  for (unsigned k = 0; k < scalars.size(); ++k)
    b_.CreateStore(I(scalars[k]), b_.CreateConstInBoundsGEP2_32(numbers, blocks.scalars, 0, k));
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
    b_.CreateStore(buffer, b_.CreateConstInBoundsGEP2_32(pointers, blocks.buffers, 0, k));
  }
  return blocks;
}

}  // namespace relayvm::aot

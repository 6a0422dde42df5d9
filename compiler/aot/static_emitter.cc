#include "compiler/aot/static_emitter.h"

#include <fmt/format.h>

#include "bytecode/kernel_abi.h"

namespace relayvm::aot {

Status StaticEmitter::EmitObject(const At& at) {
  const Instruction& i = at.i;
  switch (i.opcode) {
    case Opcode::kMoveR:
      SetR(i.Unit(0), R(i.Unit(1)));
      return OkStatus();
    case Opcode::kDrop:
      return OkStatus();
    case Opcode::kConstR:
      SetR(i.Unit(0), BufferOfConstant(i.Unit(1)));
      return OkStatus();
    case Opcode::kTensorStatic:
    case Opcode::kTensorAlloc:
    case Opcode::kTensorReuse:
      SetR(i.Unit(0), Place(at));
      return OkStatus();
    case Opcode::kTensorView:
      SetR(i.Unit(0), R(i.Unit(1)));
      return OkStatus();
    case Opcode::kTensorBox:
      StoreElement(static_cast<DType>(i.Unit(2)), I(i.Unit(1)), Place(at));
      SetR(i.Unit(0), Place(at));
      return OkStatus();
    case Opcode::kTensorItem: {
      const auto dtype = static_cast<DType>(i.Unit(2));
      SetI(i.Unit(0),
           LoadElement(dtype, Bytes(R(i.Unit(1)), static_cast<uint64_t>(i.Immediate(3)) *
                                                      static_cast<uint64_t>(DTypeBytes(dtype)))));
      return OkStatus();
    }
    case Opcode::kSlotItem:
      SetI(i.Unit(0), LoadElement(static_cast<DType>(i.Unit(2)),
                                  Bytes(arena_, info_.slots[i.Unit(1)].offset)));
      return OkStatus();
    case Opcode::kAdtNew: {
      uint64_t offset = 0;
      std::vector<Value*> fields;
      for (uint16_t operand : i.List(2)) fields.push_back(R(operand));
      for (Value* field : fields) {
        b_.CreateStore(field, Bytes(Place(at), offset));
        offset += sizeof(void*);
      }
      SetR(i.Unit(0), Place(at));
      return OkStatus();
    }
    case Opcode::kAdtGet:
      SetR(i.Unit(0), b_.CreateLoad(b_.getPtrTy(), Bytes(R(i.Unit(1)), sizeof(void*) * i.Unit(2))));
      return OkStatus();
    default:
      return {StatusCode::kUnsupported,
              fmt::format("{}: --executor aot has no native code for {} without a heap",
                          PlaceText(at.pc), i.info->mnemonic)};
  }
}

void StaticEmitter::EmitKernel(const At& at, bool ranged) {
  const Instruction& i = at.i;
  const uint16_t kernel = i.Unit(0);
  const std::string& name = program().kernels[kernel].name;
  const KernelBlocks blocks = FillBlocks(i, ranged ? 4 : 1);
  auto* args_type = llvm::StructType::get(context(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()});
  Value* args = Block("args", args_type, 1);
  Value* scratch = ranged ? Bytes(context_value_, frame_.scratch_offset) : Null();
  b_.CreateStore(blocks.buffers, b_.CreateStructGEP(args_type, args, 0));
  b_.CreateStore(blocks.scalars, b_.CreateStructGEP(args_type, args, 1));
  b_.CreateStore(scratch, b_.CreateStructGEP(args_type, args, 2));
  Value* end = b_.getInt32(1);
  llvm::BasicBlock* done = nullptr;
  if (ranged) {
    Value* units = I(i.Unit(1));
    Require(b_.CreateICmpULE(units, Int(UINT32_MAX)), [&] {
      return FailWith(at, fmt::format("kernel {}: more than {} units of work", name, UINT32_MAX));
    });
    done = llvm::BasicBlock::Create(context(), "done", function());
    auto* run = llvm::BasicBlock::Create(context(), "run", function());
    b_.CreateCondBr(b_.CreateIsNull(units), done, run);
    b_.SetInsertPoint(run);
    end = b_.CreateTrunc(units, b_.getInt32Ty());
  }
  auto* type = llvm::FunctionType::get(
      b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty()}, false);
  Value* code =
      b_.CreateCall(type, KernelAddress(kernel), {object_.kernel_env, args, b_.getInt32(0), end});
  Require(b_.CreateIsNull(code), [&] {
    const std::string place = PlaceText(at.pc);
    Value* index = b_.getInt32(static_cast<uint32_t>(
        object_.AddError(fmt::format("{}: kernel {}: index out of range", place, name))));
    Value* other = b_.getInt32(static_cast<uint32_t>(
        object_.AddError(fmt::format("{}: kernel {}: invalid argument", place, name))));
    Value* is_index = b_.CreateICmpEQ(code, b_.getInt32(RELAYVM_KERNEL_INDEX_OUT_OF_RANGE));
    return ErrorResult(b_.CreateSelect(is_index, index, other));
  });
  if (done != nullptr) {
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
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

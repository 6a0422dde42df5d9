#include "compiler/aot/constant_builtins.h"

#include <llvm/IR/Constants.h>

#include <map>

#include "bytecode/kernel_abi.h"
#include "kernels/codegen/link.h"

// RELAYVM_FREESTANDING_OBJECT: the file.
__asm__(
    ".pushsection .rodata\n"
    "relayvm_freestanding_object:\n"
    ".incbin \"" RELAYVM_FREESTANDING_OBJECT
    "\"\n"
    "relayvm_freestanding_object_end:\n"
    ".popsection\n");
extern const char object_begin[] __asm__("relayvm_freestanding_object");
extern const char object_end[] __asm__("relayvm_freestanding_object_end");

namespace relayvm::aot {
namespace {

class ConstantMaker {
 public:
  ConstantMaker(ObjectModule* object, const std::vector<uint8_t>& image)
      : object_(*object), image_(image), b_(object->context()) {}

  Result<llvm::Function*> Emit(const std::string& symbol) {
    RELAYVM_ASSIGN_OR_RETURN(code_, object_.AddImage(image_, symbol));
    llvm::LLVMContext& context = object_.context();
    auto* function =
        llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), false),
                               llvm::GlobalValue::InternalLinkage, "make", object_.module);
    codegen::PrepareFunction(*function, object_.machine);
    auto* made =
        new llvm::GlobalVariable(object_.module, b_.getInt32Ty(), false,
                                 llvm::GlobalValue::InternalLinkage, b_.getInt32(0), "made");
    b_.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
    llvm::LoadInst* is_made = b_.CreateAlignedLoad(b_.getInt32Ty(), made, llvm::Align(4));
    is_made->setAtomic(llvm::AtomicOrdering::Acquire);
    auto* first = llvm::BasicBlock::Create(context, "first", function);
    auto* done = llvm::BasicBlock::Create(context, "done", function);
    b_.CreateCondBr(b_.CreateIsNull(is_made), first, done);
    b_.SetInsertPoint(done);
    b_.CreateRetVoid();
    b_.SetInsertPoint(first);
    for (size_t i = 0; i < object_.constants.size(); ++i) {
      if (object_.constants[i] == nullptr) RELAYVM_RETURN_IF_ERROR(EmitCall(i));
    }
    b_.CreateAlignedStore(b_.getInt32(1), made, llvm::Align(4))
        ->setAtomic(llvm::AtomicOrdering::Release);
    b_.CreateRetVoid();
    return function;
  }

 private:
  Status EmitCall(size_t index) {
    const ConstantInfo& c = object_.program.constants[index];
    const RecipeInfo& recipe = *c.recipe;
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<uint64_t> entry,
                             codegen::FindFunctions(image_, {recipe.builtin}));
    auto* type = llvm::ArrayType::get(b_.getInt8Ty(), c.data.size());
    auto* memory =
        new llvm::GlobalVariable(object_.module, type, false, llvm::GlobalValue::InternalLinkage,
                                 llvm::ConstantAggregateZero::get(type), "constant");
    memory->setAlignment(llvm::Align(kAlignment));
    object_.constants[index] = memory;
    std::vector<llvm::Constant*> buffers;
    std::vector<uint64_t> scalars;
    const auto add = [&](DType dtype, const std::vector<int64_t>& dims, llvm::Constant* data) {
      buffers.push_back(data);
      scalars.push_back(static_cast<uint64_t>(dtype));
      scalars.push_back(dims.size());
      scalars.insert(scalars.end(), dims.begin(), dims.end());
    };
    for (const RecipeInput& input : recipe.inputs) {
      llvm::Constant*& data = inputs_[input.data.identity()];
      if (data == nullptr) data = object_.AddData(input.data.Loaded(), "recipe");
      add(input.dtype, input.dims, data);
    }
    add(c.dtype, c.dims, memory);
    scalars.insert(scalars.end(), recipe.params.begin(), recipe.params.end());
    auto* pointers = llvm::ArrayType::get(b_.getPtrTy(), buffers.size());
    llvm::Constant* args = Data(llvm::ConstantStruct::getAnon(
        {Data(llvm::ConstantArray::get(pointers, buffers)),
         Data(llvm::ConstantDataArray::get(object_.context(), llvm::ArrayRef<uint64_t>(scalars))),
         llvm::ConstantPointerNull::get(b_.getPtrTy())}));
    llvm::Type* ptr = b_.getPtrTy();
    auto* kernel = llvm::FunctionType::get(b_.getInt32Ty(),
                                           {ptr, ptr, b_.getInt32Ty(), b_.getInt32Ty()}, false);
    b_.CreateCall(kernel, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), code_, entry[0]),
                  {object_.kernel_env, args, b_.getInt32(0), b_.getInt32(1)});
    return OkStatus();
  }
  llvm::GlobalVariable* Data(llvm::Constant* value) {
    return new llvm::GlobalVariable(object_.module, value->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, value, "args");
  }

  ObjectModule& object_;
  const std::vector<uint8_t>& image_;
  llvm::IRBuilder<> b_;
  llvm::GlobalVariable* code_ = nullptr;
  std::map<const void*, llvm::Constant*> inputs_;  // by identity
};

}  // namespace

Result<std::vector<uint8_t>> LinkConstantBuiltins(const std::stop_token& stop) {
  return codegen::LinkImage({{object_begin, object_end}}, stop);
}

Result<llvm::Function*> EmitConstantMaker(ObjectModule* object, const std::vector<uint8_t>& image,
                                          const std::string& symbol) {
  return ConstantMaker(object, image).Emit(symbol);
}

}  // namespace relayvm::aot

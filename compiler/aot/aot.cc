#include "compiler/aot/aot.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "bytecode/kernel_abi.h"
#include "compiler/aot/constant_builtins.h"
#include "compiler/aot/descriptor.h"
#include "compiler/aot/function_emitter.h"
#include "compiler/aot/header.h"
#include "compiler/aot/heap_emitter.h"
#include "compiler/aot/static_emitter.h"
#include "compiler/aot/static_plan.h"
#include "kernels/codegen/llvm_guard.h"
#include "kernels/codegen/target.h"

namespace relayvm::aot {
namespace {

struct LlvmWork {
  explicit LlvmWork(const KernelOptions& options)
      : machine(codegen::MakeTargetMachine(options.machine, options.opt_level)),
        module("aot", context) {
    codegen::GuardDiagnoses(context);
  }
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::LLVMContext context;
  llvm::Module module;
};

Status AddKernels(const Program& program, const std::string& name, ObjectModule* object) {
  const bool compiled =
      std::ranges::any_of(program.kernels, [](const KernelInfo& k) { return !k.builtin; });
  if (!compiled) return OkStatus();
  if (program.images.size() != 1) {
    return {StatusCode::kUnsupported,
            fmt::format("--executor aot: expected kernels for one processor, found {}",
                        program.images.size())};
  }
  RELAYVM_ASSIGN_OR_RETURN(object->kernels,
                           object->AddImage(program.images[0].elf, name + "_relayvm_kernels"));
  return OkStatus();
}

// Those that have a recipe are null: the object holds what they are made of.
Status AddConstants(const Program& program, bool has_runtime, ObjectModule* object) {
  constexpr uint64_t kMost = uint64_t{3} << 29;  // code reaches what is within 2 GiB
  uint64_t total = 0;
  for (const ConstantInfo& c : program.constants) {
    total += RoundUp(BytesInFile(c));
    if (c.recipe != nullptr && !has_runtime) total += RoundUp(c.data.size());
  }
  if (total > kMost) {
    return {StatusCode::kUnsupported,
            fmt::format(
                "--executor aot: an object holds at most {} bytes of constants, the program has {}",
                kMost, total)};
  }
  for (const ConstantInfo& c : program.constants) {
    object->constants.push_back(c.recipe != nullptr ? nullptr
                                                    : object->AddData(c.data, "constant"));
  }
  object->places.resize(program.constants.size());
  return OkStatus();
}

// `const char* NAME_message(int32_t)`.
llvm::Function* AddMessages(const std::string& name, ObjectModule* object) {
  llvm::LLVMContext& context = object->context();
  llvm::IRBuilder<> b(context);
  std::vector<std::string> texts = {"success"};
  texts.insert(texts.end(), object->errors.begin(), object->errors.end());
  texts.emplace_back("an argument is not what the function takes");
  std::vector<llvm::Constant*> pointers;
  for (const std::string& text : texts) {
    auto* data = llvm::ConstantDataArray::getString(context, text);
    pointers.push_back(new llvm::GlobalVariable(
        object->module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "message"));
  }
  auto* type = llvm::ArrayType::get(b.getPtrTy(), pointers.size());
  auto* table =
      new llvm::GlobalVariable(object->module, type, true, llvm::GlobalValue::PrivateLinkage,
                               llvm::ConstantArray::get(type, pointers), "messages");
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(b.getPtrTy(), {b.getInt32Ty()}, false),
                             llvm::GlobalValue::ExternalLinkage, name + "_message", object->module);
  codegen::PrepareFunction(*function, object->machine);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
  llvm::Value* error = b.CreateZExt(function->getArg(0), b.getInt64Ty());
  llvm::Value* last = b.getInt64(pointers.size() - 1);
  error = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, error, last);
  b.CreateRet(b.CreateLoad(b.getPtrTy(), b.CreateInBoundsGEP(type, table, {b.getInt64(0), error})));
  return function;
}

// The C function of an export: plain pointers, a workspace. Its bytes:
//   rounding up to 64 | frame | copies of inputs that are not aligned | tuples of inputs
class StaticEntry {
 public:
  StaticEntry(const ObjectModule& object, const ExportInfo& e, const StaticFrame& frame)
      : object_(object), e_(e), b_(object.context()), bytes_(frame.bytes) {}

  // `make`: of the constants, called first; or null.
  uint64_t Emit(const std::string& name, llvm::Function* make) {
    std::vector<llvm::Type*> params(InputLeaves(e_).size() + OutputLeaves(e_).size() + 1,
                                    b_.getPtrTy());
    function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getInt32Ty(), params, false),
                                       llvm::GlobalValue::ExternalLinkage, name, object_.module);
    codegen::PrepareFunction(*function_, object_.machine);
    b_.SetInsertPoint(llvm::BasicBlock::Create(object_.context(), "", function_));
    RefuseNulls();
    if (make != nullptr) b_.CreateCall(make);
    llvm::Value* address =
        b_.CreatePtrToInt(function_->getArg(function_->arg_size() - 1), b_.getInt64Ty());
    workspace_ = b_.CreateIntToPtr(b_.CreateAnd(b_.CreateAdd(address, b_.getInt64(kAlignment - 1)),
                                                b_.getInt64(~(kAlignment - 1))),
                                   b_.getPtrTy());
    std::vector<llvm::Value*> args = {workspace_};
    for (const ValueType& type : e_.params) args.push_back(Input(type));
    llvm::CallInst* call = b_.CreateCall(object_.functions[e_.function], args);
    call->setCallingConv(llvm::CallingConv::Tail);
    llvm::Value* error = b_.CreateExtractValue(call, 1);
    auto* failed = llvm::BasicBlock::Create(object_.context(), "failed", function_);
    auto* done = llvm::BasicBlock::Create(object_.context(), "done", function_);
    b_.CreateCondBr(b_.CreateIsNull(error), done, failed);
    b_.SetInsertPoint(failed);
    b_.CreateRet(error);
    b_.SetInsertPoint(done);
    Output(e_.result, b_.CreateExtractValue(call, 0));
    b_.CreateRet(b_.getInt32(0));
    return bytes_ + kAlignment;
  }

 private:
  void RefuseNulls() {
    llvm::Value* any = b_.getFalse();
    for (llvm::Argument& arg : function_->args()) any = b_.CreateOr(any, b_.CreateIsNull(&arg));
    auto* bad = llvm::BasicBlock::Create(object_.context(), "bad", function_);
    auto* good = llvm::BasicBlock::Create(object_.context(), "good", function_);
    b_.CreateCondBr(any, bad, good);
    b_.SetInsertPoint(bad);
    b_.CreateRet(b_.getInt32(static_cast<uint32_t>(-1)));  // RELAYVM_AOT_BAD_ARGUMENT
    b_.SetInsertPoint(good);
  }

  llvm::Value* Reserve(uint64_t bytes) {
    llvm::Value* place = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), workspace_, bytes_);
    bytes_ += RoundUp(std::max<uint64_t>(bytes, 1));
    return place;
  }

  llvm::Value* Input(const ValueType& type) {
    if (type.kind == ValueType::Kind::kTuple) {
      std::vector<llvm::Value*> fields;
      for (const ValueType& field : type.args) fields.push_back(Input(field));
      llvm::Value* tuple = Reserve(sizeof(void*) * fields.size());
      for (size_t i = 0; i < fields.size(); ++i)
        b_.CreateStore(fields[i], b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), tuple, i));
      return tuple;
    }
    llvm::Value* data = function_->getArg(next_++);
    llvm::Value* copy = Reserve(BytesOf(type));
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* move = llvm::BasicBlock::Create(object_.context(), "copy", function_);
    auto* done = llvm::BasicBlock::Create(object_.context(), "aligned", function_);
    llvm::Value* low =
        b_.CreateAnd(b_.CreatePtrToInt(data, b_.getInt64Ty()), b_.getInt64(kAlignment - 1));
    b_.CreateCondBr(b_.CreateIsNull(low), done, move);
    b_.SetInsertPoint(move);
    b_.CreateMemCpy(copy, llvm::Align(kAlignment), data, llvm::Align(1), BytesOf(type));
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    llvm::PHINode* chosen = b_.CreatePHI(b_.getPtrTy(), 2);
    chosen->addIncoming(data, before);
    chosen->addIncoming(copy, move);
    return chosen;
  }

  void Output(const ValueType& type, llvm::Value* value) {
    if (type.kind == ValueType::Kind::kTuple) {
      for (size_t i = 0; i < type.args.size(); ++i) {
        Output(type.args[i], b_.CreateLoad(b_.getPtrTy(),
                                           b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), value, i)));
      }
      return;
    }
    b_.CreateMemCpy(function_->getArg(next_++), llvm::Align(1), value, llvm::Align(1),
                    BytesOf(type));
  }

  const ObjectModule& object_;
  const ExportInfo& e_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::Value* workspace_ = nullptr;
  uint64_t bytes_;
  unsigned next_ = 0;
};

// One thread, no polls; kernels ask for no memory of their own.
void AddKernelEnv(ObjectModule* object) {
  llvm::LLVMContext& context = object->context();
  llvm::IRBuilder<> b(context);
  auto* null = llvm::ConstantPointerNull::get(b.getPtrTy());
  static_assert(sizeof(RelayvmKernelEnv) == 8 + 6 * sizeof(void*), "every field is given here");
  auto* env = llvm::ConstantStruct::getAnon(
      {b.getInt32(sizeof(RelayvmKernelEnv)), b.getInt32(1), null, null, null, null, null, null});
  object->kernel_env = new llvm::GlobalVariable(
      object->module, env->getType(), true, llvm::GlobalValue::PrivateLinkage, env, "kernel_env");
}

// Where the runtime puts the addresses of constants that it makes.
void AddPlaces(ObjectModule* object) {
  auto* null = llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(object->context()));
  for (size_t i = 0; i < object->constants.size(); ++i) {
    if (object->constants[i] != nullptr) continue;
    object->places[i] = new llvm::GlobalVariable(object->module, null->getType(), false,
                                                 llvm::GlobalValue::InternalLinkage, null, "place");
  }
}

// `int32_t (tensors, workspace)`, vm/aot's AotStaticFunction, of a C function that takes each
// alone.
llvm::Function* MakeStaticEntry(const ObjectModule& object, llvm::Function* function) {
  llvm::IRBuilder<> b(object.context());
  auto* entry = llvm::Function::Create(
      llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()}, false),
      llvm::GlobalValue::InternalLinkage, function->getName() + ".entry", object.module);
  codegen::PrepareFunction(*entry, object.machine);
  b.SetInsertPoint(llvm::BasicBlock::Create(object.context(), "", entry));
  std::vector<llvm::Value*> args;
  for (size_t i = 0; i + 1 < function->arg_size(); ++i) {
    args.push_back(b.CreateLoad(b.getPtrTy(),
                                b.CreateConstInBoundsGEP1_64(b.getPtrTy(), entry->getArg(0), i)));
  }
  args.push_back(entry->getArg(1));
  b.CreateRet(b.CreateCall(function, args));
  return entry;
}

// `builtins`: the image of those that make constants; empty: the runtime has them, or there are
// none to make.
Status EmitStatic(const StaticPlan& plan, const AotOptions& options, const std::string& name,
                  const std::vector<uint8_t>& builtins, ObjectModule* object, std::string* header) {
  const Program& program = object->program;
  AddKernelEnv(object);
  llvm::Function* make = nullptr;
  if (builtins.empty()) {
    AddPlaces(object);
  } else {
    RELAYVM_ASSIGN_OR_RETURN(make, EmitConstantMaker(object, builtins, name + "_relayvm_builtins"));
  }
  std::vector<uint32_t> functions;
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    if (!plan.reached(i)) continue;
    object->Declare(i);
    functions.push_back(i);
  }
  for (uint32_t i : functions)
    RELAYVM_RETURN_IF_ERROR(StaticEmitter(*object, i, plan.frames[i]).Emit());
  DescriptorParts parts;
  for (const ExportInfo& e : program.exports) {
    const std::string symbol = fmt::format("{}_{}", name, ToIdentifier(e.name));
    parts.workspace_bytes.push_back(
        StaticEntry(*object, e, plan.frames[e.function]).Emit(symbol, make));
    if (!options.descriptor.empty())
      parts.entries.push_back(MakeStaticEntry(*object, object->module.getFunction(symbol)));
  }
  parts.message = AddMessages(name, object);
  if (!options.descriptor.empty()) EmitDescriptor(*object, parts, options.descriptor);
  *header = StaticHeader(program, name, parts.workspace_bytes);
  return OkStatus();
}

// `int32_t (context, args, result)`, vm/aot's AotFunction.
llvm::Function* MakeHeapEntry(const ObjectModule& object, const ExportInfo& e) {
  llvm::IRBuilder<> b(object.context());
  auto* entry = llvm::Function::Create(
      llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getPtrTy()}, false),
      llvm::GlobalValue::InternalLinkage, object.prefix + e.name + ".entry", object.module);
  codegen::PrepareFunction(*entry, object.machine);
  b.SetInsertPoint(llvm::BasicBlock::Create(object.context(), "", entry));
  std::vector<llvm::Value*> args = {entry->getArg(0)};
  for (size_t i = 0; i < e.params.size(); ++i) {
    args.push_back(b.CreateLoad(b.getPtrTy(),
                                b.CreateConstInBoundsGEP1_64(b.getPtrTy(), entry->getArg(1), i)));
  }
  llvm::CallInst* call = b.CreateCall(object.functions[e.function], args);
  call->setCallingConv(llvm::CallingConv::Tail);
  b.CreateStore(b.CreateExtractValue(call, 0), entry->getArg(2));
  b.CreateRet(b.CreateExtractValue(call, 1));
  return entry;
}

// Native functions, the descriptor, and for each export
// `relayvm_status* NAME_f(relayvm_value* const* inputs, size_t num_inputs, relayvm_value**
// result)`, and NAME_f_with, which takes limits first.
Status EmitWithHeap(const AotOptions& options, const std::string& name, ObjectModule* object,
                    std::string* header) {
  const Program& program = object->program;
  llvm::LLVMContext& context = object->context();
  llvm::IRBuilder<> b(context);
  const auto count = static_cast<uint32_t>(program.functions.size());
  for (uint32_t i = 0; i < count; ++i) object->Declare(i);
  auto* table_type = llvm::ArrayType::get(b.getPtrTy(), count);
  std::vector<llvm::Constant*> closures(count, llvm::ConstantPointerNull::get(b.getPtrTy()));
  for (uint32_t i = 0; i < count; ++i) {
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<PlacedInstruction> code, DecodeFunction(program, i));
    for (const PlacedInstruction& placed : code) {
      if (placed.instruction.opcode != Opcode::kClosureNew) continue;
      const uint16_t callee = placed.instruction.Unit(1);
      if (closures[callee]->isNullValue())
        closures[callee] = HeapEmitter::MakeClosureEntry(*object, callee);
    }
  }
  object->closures =
      new llvm::GlobalVariable(object->module, table_type, true, llvm::GlobalValue::PrivateLinkage,
                               llvm::ConstantArray::get(table_type, closures), "closures");
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ConstantInfo& c = program.constants[i];
    llvm::GlobalVariable* tensor =
        EmitTensor(*object, c.dtype, c.dims, object->constants[i], c.data.size());
    object->tensors.push_back(tensor);
    if (object->constants[i] == nullptr) object->places[i] = DataOfTensor(*object, tensor);
  }
  for (uint32_t i = 0; i < count; ++i) RELAYVM_RETURN_IF_ERROR(HeapEmitter(*object, i).Emit());

  DescriptorParts parts;
  for (const ExportInfo& e : program.exports) parts.entries.push_back(MakeHeapEntry(*object, e));
  llvm::GlobalVariable* descriptor = EmitDescriptor(*object, parts, options.descriptor);
  const llvm::FunctionCallee run = object->Runtime(
      "relayvm_aot_run", b.getPtrTy(),
      {b.getPtrTy(), b.getInt32Ty(), b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getPtrTy()});
  for (uint32_t i = 0; i < program.exports.size(); ++i) {
    // NAME_f_with(options, inputs, num_inputs, result), and NAME_f without the options.
    for (const bool with : {true, false}) {
      std::vector<llvm::Type*> params = {b.getPtrTy(), b.getInt64Ty(), b.getPtrTy()};
      if (with) params.insert(params.begin(), b.getPtrTy());
      auto* function = llvm::Function::Create(
          llvm::FunctionType::get(b.getPtrTy(), params, false), llvm::GlobalValue::ExternalLinkage,
          fmt::format("{}_{}{}", name, ToIdentifier(program.exports[i].name), with ? "_with" : ""),
          object->module);
      codegen::PrepareFunction(*function, object->machine);
      b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
      std::vector<llvm::Value*> args = {descriptor, b.getInt32(i)};
      if (!with) args.push_back(llvm::ConstantPointerNull::get(b.getPtrTy()));
      for (llvm::Argument& arg : function->args()) args.push_back(&arg);
      b.CreateRet(b.CreateCall(run, args));
    }
  }
  *header = RuntimeHeader(program, name);
  return OkStatus();
}

// Whether the C names of all that an object has differ.
Status CheckNames(const Program& program) {
  std::map<std::string, const ExportInfo*> functions;
  for (const ExportInfo& e : program.exports) {
    const auto [other, is_new] = functions.emplace(ToIdentifier(e.name), &e);
    if (is_new) continue;
    return {StatusCode::kUnsupported,
            fmt::format("--executor aot: @{} and @{} are both called {} in C; rename one",
                        other->second->name, e.name, other->first)};
  }
  if (const auto taken = functions.find("message"); taken != functions.end()) {
    return {StatusCode::kUnsupported,
            fmt::format("--executor aot: a function of the object is called message already; "
                        "rename @{}",
                        taken->second->name)};
  }
  for (const auto& [name, e] : functions) {
    for (const char* more : {"_with", "_checked"}) {
      const auto taken = functions.find(name + more);
      if (taken == functions.end()) continue;
      return {StatusCode::kUnsupported,
              fmt::format("--executor aot: the object has {0}{1} for @{0}; rename @{2}", e->name,
                          more, taken->second->name)};
    }
  }
  return OkStatus();
}

}  // namespace

Result<AotObject> CompileAhead(const Program& program, const AotOptions& options) {
  if (!program.strings.empty()) {
    return {StatusCode::kUnsupported,
            "--executor aot: the program has tensors of strings; run the program in the VM"};
  }
  if (!program.host_functions.empty()) {
    return {StatusCode::kUnsupported,
            fmt::format("--executor aot: @{} is a function of the host; run the program in the VM",
                        program.host_functions[0].name)};
  }
  for (const ExportInfo& e : program.exports) {
    if (e.states.empty()) continue;
    return {StatusCode::kUnsupported,
            "--state: --executor aot keeps nothing between runs; the VM does"};
  }
  if (!program.devices.empty()) {
    return {StatusCode::kUnsupported,
            fmt::format("--executor aot: the program runs on device '{}'; run it in the VM",
                        program.devices[0])};
  }
  RELAYVM_RETURN_IF_ERROR(CheckNames(program));
  RELAYVM_ASSIGN_OR_RETURN(const StaticPlan plan, PlanStatically(program));
  const std::string name = ToIdentifier(options.name);
  // Without a descriptor there is no runtime that makes constants.
  const bool has_runtime = !plan.possible() || !options.descriptor.empty();
  std::vector<uint8_t> builtins;
  if (!has_runtime && std::ranges::any_of(program.constants, [](const ConstantInfo& c) {
        return c.recipe != nullptr;
      })) {
    RELAYVM_ASSIGN_OR_RETURN(builtins, LinkConstantBuiltins(options.kernels.stop));
  }
  AotObject result;
  RELAYVM_RETURN_IF_ERROR(codegen::GuardLlvm(options.kernels.stop, [&]() -> Status {
    const codegen::Leakable<LlvmWork> work(options.kernels);
    codegen::PrepareModule(work->module, *work->machine);
    ObjectModule object{program, options.kernels.machine, work->module, name + ".", {}};
    object.functions.resize(program.functions.size());
    RELAYVM_RETURN_IF_ERROR(AddKernels(program, name, &object));
    RELAYVM_RETURN_IF_ERROR(AddConstants(program, has_runtime, &object));
    if (plan.possible()) {
      RELAYVM_RETURN_IF_ERROR(EmitStatic(plan, options, name, builtins, &object, &result.header));
    } else {
      result.needs_runtime = plan.obstacle;
      RELAYVM_RETURN_IF_ERROR(EmitWithHeap(options, name, &object, &result.header));
    }
    RELAYVM_ASSIGN_OR_RETURN(result.object,
                             codegen::MakeObject(work->module, *work->machine, options.kernels));
    return OkStatus();
  }));
  return result;
}

}  // namespace relayvm::aot

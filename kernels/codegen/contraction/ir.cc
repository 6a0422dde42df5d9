#include "kernels/codegen/contraction/ir.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstddef>

#include "bytecode/kernel_abi.h"

namespace relayvm::codegen {

using llvm::BasicBlock;
using llvm::Value;

Value* Add(Builder& b, Value* x, Value* y) {
  if (IsConst(x, 0)) return y;
  if (IsConst(y, 0)) return x;
  return b.CreateAdd(x, y, "", /*HasNUW=*/false, /*HasNSW=*/true);
}
Value* Add(Builder& b, Value* x, int64_t y) { return Add(b, x, I64(b, y)); }
Value* Sub(Builder& b, Value* x, Value* y) {
  if (IsConst(y, 0)) return x;
  if (x == y) return llvm::Constant::getNullValue(x->getType());
  return b.CreateSub(x, y, "", /*HasNUW=*/false, /*HasNSW=*/true);
}
Value* Mul(Builder& b, Value* x, Value* y) {
  if (IsConst(x, 1)) return y;
  if (IsConst(y, 1)) return x;
  if (IsConst(x, 0)) return x;
  if (IsConst(y, 0)) return y;
  return b.CreateMul(x, y, "", /*HasNUW=*/false, /*HasNSW=*/true);
}
Value* Mul(Builder& b, Value* x, int64_t y) { return Mul(b, x, I64(b, y)); }

// Of constants a constant, so that loops and branches by them are decided here: the builder folds
// no intrinsics.
Value* Min(Builder& b, Value* x, Value* y) {
  if (x == y) return x;
  if (auto p = ConstantOf(x), q = ConstantOf(y); p && q) return *p <= *q ? x : y;
  return b.IntMin(x, y, /*is_signed=*/true);
}
Value* Max(Builder& b, Value* x, Value* y) {
  if (x == y) return x;
  if (auto p = ConstantOf(x), q = ConstantOf(y); p && q) return *p >= *q ? x : y;
  return b.IntMax(x, y, /*is_signed=*/true);
}
Value* Div(Builder& b, Value* x, Value* y) { return IsConst(y, 1) ? x : b.CreateUDiv(x, y); }
Value* Rem(Builder& b, Value* x, Value* y) {
  return IsConst(y, 1) ? I64(b, 0) : b.CreateURem(x, y);
}
Value* CeilDiv(Builder& b, Value* x, int64_t y) { return Div(b, Add(b, x, y - 1), I64(b, y)); }

std::optional<int64_t> ConstantOf(Value* v) {
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(v);
  if (!constant) return std::nullopt;
  return constant->getSExtValue();
}

void NextBlock(Builder& b, std::string_view name) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  BasicBlock* next = BasicBlock::Create(b.getContext(), llvm::Twine(name), function);
  b.CreateBr(next);
  b.SetInsertPoint(next);
}

void For(Builder& b, Value* begin, Value* end, int64_t step, std::string_view name,
         const std::function<void(Value*)>& body) {
  ForCarried(b, begin, end, step, name, {}, [&](Value* i, const std::vector<Value*>&) {
    body(i);
    return std::vector<Value*>{};
  });
}

void ForNext(Builder& b, Value* begin, Value* end, std::string_view name,
             const std::function<Value*(Value*)>& body) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  BasicBlock* before = b.GetInsertBlock();
  BasicBlock* loop = BasicBlock::Create(b.getContext(), llvm::Twine(name), function);
  BasicBlock* after = BasicBlock::Create(b.getContext(), llvm::Twine(name) + ".end", function);
  b.CreateCondBr(b.CreateICmpSLT(begin, end), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2, llvm::StringRef(name));
  i->addIncoming(begin, before);
  Value* next = body(i);
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, end), loop, after);
  b.SetInsertPoint(after);
}

namespace {

// Values that a loop carries, at the head of its body: `initial` from `before` comes in first.
struct CarriedValues {
  CarriedValues(Builder& b, const std::vector<Value*>& initial, BasicBlock* before) {
    for (Value* v : initial) {
      phis.push_back(b.CreatePHI(v->getType(), 2));
      phis.back()->addIncoming(v, before);
      values.push_back(phis.back());
    }
  }
  void Continue(const std::vector<Value*>& next, BasicBlock* latch) {
    for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(next[i], latch);
  }
  std::vector<llvm::PHINode*> phis;
  std::vector<Value*> values;
};

// After the loop: `initial` when it never ran, which `before` says, else `next` from `last`.
std::vector<Value*> JoinValues(Builder& b, const std::vector<Value*>& initial, BasicBlock* before,
                               const std::vector<Value*>& next, BasicBlock* last) {
  std::vector<Value*> result;
  for (size_t i = 0; i < initial.size(); ++i) {
    llvm::PHINode* phi = b.CreatePHI(initial[i]->getType(), 2);
    phi->addIncoming(initial[i], before);
    phi->addIncoming(next[i], last);
    result.push_back(phi);
  }
  return result;
}

}  // namespace

std::vector<Value*> ForCarried(
    Builder& b, Value* begin, Value* end, int64_t step, std::string_view name,
    std::vector<Value*> initial,
    const std::function<std::vector<Value*>(Value*, const std::vector<Value*>&)>& body, bool runs) {
  if (begin == end) return initial;
  if (std::optional<int64_t> from = ConstantOf(begin), to = ConstantOf(end); from && to) {
    runs = true;
    if (*from >= *to) return initial;
    if (*from + step >= *to) return body(begin, initial);
  }
  llvm::Function* function = b.GetInsertBlock()->getParent();
  BasicBlock* before = b.GetInsertBlock();
  BasicBlock* loop = BasicBlock::Create(b.getContext(), llvm::Twine(name), function);
  BasicBlock* after = BasicBlock::Create(b.getContext(), llvm::Twine(name) + ".end", function);
  if (runs) {
    b.CreateBr(loop);
  } else {
    b.CreateCondBr(b.CreateICmpSLT(begin, end), loop, after);
  }
  b.SetInsertPoint(loop);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2, llvm::StringRef(name));
  i->addIncoming(begin, before);
  CarriedValues carried(b, initial, before);
  std::vector<Value*> next = body(i, carried.values);
  Value* next_i = Add(b, i, step);
  BasicBlock* latch = b.GetInsertBlock();
  i->addIncoming(next_i, latch);
  carried.Continue(next, latch);
  b.CreateCondBr(b.CreateICmpSLT(next_i, end), loop, after);
  b.SetInsertPoint(after);
  return runs ? next : JoinValues(b, initial, before, next, latch);
}

namespace {

// i32 poll(env): 0, or the code to return. The environment may have no function for it.
llvm::Function* PollFunction(Builder& caller) {
  constexpr const char* kName = "relayvm.poll";
  llvm::Module& module = *caller.GetInsertBlock()->getModule();
  if (llvm::Function* existing = module.getFunction(kName)) return existing;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, kName, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::Cold);
  Builder b(caller.machine(), BasicBlock::Create(context, "entry", function));
  Value* env = function->getArg(0);
  auto field = [&](llvm::Type* field_type, size_t offset) {
    return b.CreateLoad(field_type, At(b, b.getInt8Ty(), env, static_cast<int64_t>(offset)));
  };
  auto* has_field = BasicBlock::Create(context, "has.field", function);
  auto* has_function = BasicBlock::Create(context, "has.function", function);
  auto* none = BasicBlock::Create(context, "none", function);
  constexpr size_t kAt = offsetof(RelayvmKernelEnv, poll);
  Value* size = field(b.getInt32Ty(), offsetof(RelayvmKernelEnv, struct_size));
  b.CreateCondBr(b.CreateICmpUGE(size, b.getInt32(kAt + sizeof(void*))), has_field, none);
  b.SetInsertPoint(has_field);
  Value* poll = field(pointer, kAt);
  b.CreateCondBr(b.CreateIsNotNull(poll), has_function, none);
  b.SetInsertPoint(has_function);
  b.CreateRet(b.CreateCall(type, poll, {env}));
  b.SetInsertPoint(none);
  b.CreateRet(b.getInt32(0));
  return function;
}

// i32 out_of_range(env, number, found, least, most): the code to return. The environment may have
// no place for what was found.
llvm::Function* OutOfRangeFunction(Builder& caller) {
  constexpr const char* kName = "relayvm.out_of_range";
  llvm::Module& module = *caller.GetInsertBlock()->getModule();
  if (llvm::Function* existing = module.getFunction(kName)) return existing;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                       {pointer, i64, i64, i64, i64}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, kName, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::Cold);
  Builder b(caller.machine(), BasicBlock::Create(context, "entry", function));
  Value* env = function->getArg(0);
  constexpr size_t kAt = offsetof(RelayvmKernelEnv, fault);
  auto* has_field = BasicBlock::Create(context, "has.field", function);
  auto* has_fault = BasicBlock::Create(context, "has.fault", function);
  auto* done = BasicBlock::Create(context, "done", function);
  Value* size = b.CreateLoad(
      b.getInt32Ty(),
      At(b, b.getInt8Ty(), env, static_cast<int64_t>(offsetof(RelayvmKernelEnv, struct_size))));
  b.CreateCondBr(b.CreateICmpUGE(size, b.getInt32(kAt + sizeof(void*))), has_field, done);
  b.SetInsertPoint(has_field);
  Value* fault = b.CreateLoad(pointer, At(b, b.getInt8Ty(), env, static_cast<int64_t>(kAt)));
  b.CreateCondBr(b.CreateIsNotNull(fault), has_fault, done);
  b.SetInsertPoint(has_fault);
  static_assert(sizeof(RelayvmKernelFault) == 4 * sizeof(int64_t));
  for (unsigned i = 0; i < 4; ++i) {
    b.CreateStore(function->getArg(i + 1), At(b, i64, fault, static_cast<int64_t>(i)));
  }
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRet(b.getInt32(RELAYVM_KERNEL_INDEX_OUT_OF_RANGE));
  return function;
}

// i64* kept(env, own): the environment's word, which it may not have, or `own`.
llvm::Function* KeptFunction(Builder& caller) {
  constexpr const char* kName = "relayvm.kept";
  llvm::Module& module = *caller.GetInsertBlock()->getModule();
  if (llvm::Function* existing = module.getFunction(kName)) return existing;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  auto* type = llvm::FunctionType::get(pointer, {pointer, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, kName, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  Builder b(caller.machine(), BasicBlock::Create(context, "entry", function));
  Value *env = function->getArg(0), *own = function->getArg(1);
  constexpr size_t kAt = offsetof(RelayvmKernelEnv, kept);
  auto* has_field = BasicBlock::Create(context, "has.field", function);
  auto* none = BasicBlock::Create(context, "none", function);
  Value* size = b.CreateLoad(
      b.getInt32Ty(),
      At(b, b.getInt8Ty(), env, static_cast<int64_t>(offsetof(RelayvmKernelEnv, struct_size))));
  b.CreateCondBr(b.CreateICmpUGE(size, b.getInt32(kAt + sizeof(void*))), has_field, none);
  b.SetInsertPoint(has_field);
  Value* kept = b.CreateLoad(pointer, At(b, b.getInt8Ty(), env, static_cast<int64_t>(kAt)));
  b.CreateRet(b.CreateSelect(b.CreateIsNull(kept), own, kept));
  b.SetInsertPoint(none);
  b.CreateRet(own);
  return function;
}

// i32 kernel(env, args, begin, end)
bool IsKernel(const llvm::Function* function) {
  return function->getReturnType()->isIntegerTy(32) && function->arg_size() == 4;
}

}  // namespace

void ReturnOutOfRange(Builder& b, int64_t number, Value* found, Value* least, Value* most) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  assert(IsKernel(function) && "a check outside of a kernel");
  b.CreateRet(b.CreateCall(OutOfRangeFunction(b),
                           {function->getArg(0), I64(b, number), found, least, most}));
}

Value* KeptWord(Builder& b) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  assert(IsKernel(function) && "kept of what is no kernel");
  llvm::BasicBlock& entry = function->getEntryBlock();
  Value* own = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(b.getInt64Ty());
  b.CreateStore(I64(b, 0), own);
  return b.CreateCall(KeptFunction(b), {function->getArg(0), own});
}

void UnlessKept(Builder& b, Value* kept, Value* key, const std::function<void()>& body) {
  Value* mark = Add(b, key, 1);
  If(b, b.CreateICmpNE(b.CreateLoad(b.getInt64Ty(), kept), mark), [&] {
    body();
    b.CreateStore(mark, kept);
  });
}

Value* WorkOf(Builder& b, Value* work, Value* turns) {
  if (std::optional<int64_t> w = ConstantOf(work), t = ConstantOf(turns); w && t) {
    return I64(b, std::min(kMaxWork, *w * std::clamp<int64_t>(*t, 0, kMaxWork)));
  }
  turns = Min(b, Max(b, turns, I64(b, 0)), I64(b, kMaxWork));
  return Min(b, Mul(b, work, turns), I64(b, kMaxWork));
}

std::vector<Value*> ForPolled(
    Builder& b, Value* begin, Value* end, int64_t step, Value* work, std::string_view name,
    std::vector<Value*> initial,
    const std::function<std::vector<Value*>(Value*, const std::vector<Value*>&)>& body) {
  if (begin == end) return initial;
  llvm::Function* function = b.GetInsertBlock()->getParent();
  const std::optional<int64_t> from = ConstantOf(begin), to = ConstantOf(end);
  const std::optional<int64_t> each = ConstantOf(work);
  const bool is_short =
      from && to && each && (*to - *from) / step < kMaxWork / std::max<int64_t>(*each, 1);
  if (is_short || !IsKernel(function)) {
    return ForCarried(b, begin, end, step, name, std::move(initial), body);
  }
  // The poll stands between two loops, so that the inner one is as it would be without.
  llvm::LLVMContext& context = b.getContext();
  Value* run = nullptr;
  if (each) {
    run = I64(b, std::max<int64_t>(kMaxWork / std::max<int64_t>(*each, 1), 1) * step);
  } else {
    // A division costs as much as a short loop does, so only long ones pay it.
    BasicBlock* entry = b.GetInsertBlock();
    BasicBlock* divide = BasicBlock::Create(context, llvm::Twine(name) + ".long", function);
    BasicBlock* join = BasicBlock::Create(context, llvm::Twine(name) + ".entry", function);
    Value* whole = Sub(b, end, begin);
    work = Max(b, work, I64(b, 1));  // turns of empty loops take time too
    Value* is_long = b.CreateICmpSGE(WorkOf(b, work, whole), I64(b, kMaxWork));
    b.CreateCondBr(is_long, divide, join);
    b.SetInsertPoint(divide);
    Value* divided = Mul(b, Div(b, I64(b, kMaxWork), work), step);
    b.CreateBr(join);
    b.SetInsertPoint(join);
    llvm::PHINode* phi = b.CreatePHI(b.getInt64Ty(), 2);
    phi->addIncoming(whole, entry);
    phi->addIncoming(divided, divide);
    run = phi;
  }
  BasicBlock* before = b.GetInsertBlock();
  BasicBlock* loop = BasicBlock::Create(context, llvm::Twine(name) + ".run", function);
  BasicBlock* poll = BasicBlock::Create(context, llvm::Twine(name) + ".poll", function);
  BasicBlock* stopped = BasicBlock::Create(context, llvm::Twine(name) + ".stopped", function);
  BasicBlock* after = BasicBlock::Create(context, llvm::Twine(name) + ".done", function);
  b.CreateCondBr(b.CreateICmpSLT(begin, end), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode* first = b.CreatePHI(b.getInt64Ty(), 2);
  first->addIncoming(begin, before);
  CarriedValues carried(b, initial, before);
  // first + run might overflow; what is left cannot.
  Value* last = Add(b, first, Min(b, run, Sub(b, end, first)));
  std::vector<Value*> next = ForCarried(b, first, last, step, name, carried.values, body);
  BasicBlock* ran = b.GetInsertBlock();
  llvm::MDNode* rare = llvm::MDBuilder(context).createBranchWeights(1, 1000);
  b.CreateCondBr(b.CreateICmpSLT(last, end), poll, after, rare);
  b.SetInsertPoint(poll);
  Value* code = b.CreateCall(PollFunction(b), {function->getArg(0)});
  first->addIncoming(last, poll);
  carried.Continue(next, poll);
  b.CreateCondBr(b.CreateICmpEQ(code, b.getInt32(0)), loop, stopped);
  b.SetInsertPoint(stopped);
  b.CreateRet(code);
  b.SetInsertPoint(after);
  return JoinValues(b, initial, before, next, ran);
}

void Poll(Builder& b) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  Value* code = b.CreateCall(PollFunction(b), {function->getArg(0)});
  BasicBlock* stopped = BasicBlock::Create(b.getContext(), "stopped", function);
  BasicBlock* go_on = BasicBlock::Create(b.getContext(), "go.on", function);
  b.CreateCondBr(b.CreateICmpEQ(code, b.getInt32(0)), go_on, stopped);
  b.SetInsertPoint(stopped);
  b.CreateRet(code);
  b.SetInsertPoint(go_on);
}

void PollAfter(Builder& b, Value* is_long, Value* counter, const std::function<Value*()>& work,
               const std::function<void()>& before, const std::function<void()>& after) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  if (IsConst(is_long, 0) || !IsKernel(function)) return;
  If(b, is_long, [&] {
    Value* left = Sub(b, b.CreateLoad(b.getInt64Ty(), counter), Max(b, work(), I64(b, 1)));
    Value* is_due = b.CreateICmpSLE(left, I64(b, 0));
    b.CreateStore(b.CreateSelect(is_due, I64(b, kMaxWork), left), counter);
    If(b, is_due, [&] {
      if (before) before();
      Poll(b);
      if (after) after();
    });
  });
}

void ForPolled(Builder& b, Value* begin, Value* end, int64_t step, Value* work,
               std::string_view name, const std::function<void(Value*)>& body) {
  ForPolled(b, begin, end, step, work, name, {}, [&](Value* i, const std::vector<Value*>&) {
    body(i);
    return std::vector<Value*>{};
  });
}

void If(Builder& b, Value* condition, const std::function<void()>& then_body,
        const std::function<void()>& else_body) {
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (constant->isOne()) {
      then_body();
    } else if (else_body) {
      else_body();
    }
    return;
  }
  llvm::Function* function = b.GetInsertBlock()->getParent();
  BasicBlock* then_block = BasicBlock::Create(b.getContext(), "then", function);
  BasicBlock* else_block =
      else_body ? BasicBlock::Create(b.getContext(), "else", function) : nullptr;
  BasicBlock* after = BasicBlock::Create(b.getContext(), "endif", function);
  b.CreateCondBr(condition, then_block, else_block ? else_block : after);
  b.SetInsertPoint(then_block);
  then_body();
  b.CreateBr(after);
  if (else_block) {
    b.SetInsertPoint(else_block);
    else_body();
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
}

void KeepLoops(llvm::Function* function) {
  llvm::LLVMContext& context = function->getContext();
  auto hint = [&](const char* name, llvm::Metadata* value) {
    llvm::Metadata* parts[] = {llvm::MDString::get(context, name), value};
    return llvm::MDNode::get(context, llvm::ArrayRef(parts, value ? 2 : 1));
  };
  llvm::Metadata* off = llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context));
  for (BasicBlock& block : *function) {
    auto* branch = llvm::dyn_cast_or_null<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || branch->getMetadata(llvm::LLVMContext::MD_loop)) {
      continue;
    }
    // The latch of a For: its first successor is the head, which has a value from here.
    BasicBlock* head = branch->getSuccessor(0);
    const bool is_latch = !head->phis().empty() && head->begin() != head->end() &&
                          llvm::cast<llvm::PHINode>(head->begin())->getBasicBlockIndex(&block) == 1;
    if (!is_latch || !branch->getSuccessor(1)->getName().contains(".end")) continue;
    llvm::MDNode* loop =
        llvm::MDNode::getDistinct(context, {nullptr, hint("llvm.loop.unroll.disable", nullptr),
                                            hint("llvm.loop.vectorize.enable", off)});
    loop->replaceOperandWith(0, loop);
    branch->setMetadata(llvm::LLVMContext::MD_loop, loop);
  }
}

llvm::FixedVectorType* VectorOf(llvm::Type* element, unsigned lanes) {
  return llvm::FixedVectorType::get(element, lanes);
}

Value* LaneIndices(Builder& b, unsigned lanes) {
  std::vector<llvm::Constant*> indices;
  for (unsigned i = 0; i < lanes; ++i) indices.push_back(I64(b, i));
  return llvm::ConstantVector::get(indices);
}

Value* MaskInside(Builder& b, Value* x, int64_t step, Value* extent, unsigned lanes) {
  std::vector<llvm::Constant*> steps;
  for (unsigned i = 0; i < lanes; ++i) {
    steps.push_back(b.getInt32(static_cast<uint32_t>(i * step)));
  }
  auto splat = [&](Value* value) {
    return b.CreateVectorSplat(lanes, b.CreateTrunc(value, b.getInt32Ty()));
  };
  return b.CreateICmpULT(b.CreateAdd(splat(x), llvm::ConstantVector::get(steps)), splat(extent));
}

Value* MaskBelow(Builder& b, Value* count, unsigned lanes) {
  return b.CreateICmpSLT(LaneIndices(b, lanes), b.CreateVectorSplat(lanes, count));
}

void Transpose(Builder& b, std::vector<Value*>& vectors) {
  const unsigned n = static_cast<unsigned>(vectors.size());
  for (unsigned bit = 1; bit < n; bit *= 2) {
    std::vector<int> low, high;
    for (unsigned lane = 0; lane < n; ++lane) {
      const bool second = lane & bit;
      low.push_back(static_cast<int>(second ? n + lane - bit : lane));
      high.push_back(static_cast<int>(second ? n + lane : lane + bit));
    }
    for (unsigned i = 0; i < n; ++i) {
      if (i & bit) continue;
      Value* x = vectors[i];
      Value* y = vectors[i + bit];
      vectors[i] = b.CreateShuffleVector(x, y, low);
      vectors[i + bit] = b.CreateShuffleVector(x, y, high);
    }
  }
}

void FetchLine(Builder& b, Value* pointer) {
  const int reads = 0, second_cache = 2, data = 1;
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                    {pointer, b.getInt32(reads), b.getInt32(second_cache), b.getInt32(data)});
}

Value* At(Builder& b, llvm::Type* element, Value* base, Value* index) {
  if (IsConst(index, 0)) return base;
  return b.CreateInBoundsGEP(element, base, index);
}
Value* At(Builder& b, llvm::Type* element, Value* base, int64_t index) {
  return At(b, element, base, I64(b, index));
}

llvm::Function* GetOrDefineHelper(Builder& caller, const std::string& name,
                                  llvm::ArrayRef<llvm::Type*> params,
                                  const std::function<void(Builder&, llvm::Function*)>& define) {
  llvm::Function* parent = caller.GetInsertBlock()->getParent();
  llvm::Module* module = parent->getParent();
  if (llvm::Function* existing = module->getFunction(name)) return existing;
  llvm::LLVMContext& context = module->getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), params, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, *module);
  function->addFnAttrs(llvm::AttrBuilder(context, parent->getAttributes().getFnAttrs()));
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  Builder builder(caller.machine(), BasicBlock::Create(context, "entry", function));
  define(builder, function);
  builder.CreateRetVoid();
  KeepLoops(function);
  return function;
}

}  // namespace relayvm::codegen

// What is bound, the public calls, stores, and scalars. Vectors are in emitter_vector.cc,
// reductions in emitter_reduce.cc.
#include "kernels/codegen/emitter.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cassert>
#include <unordered_set>

#include "bytecode/base/dim.h"
#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;
using te::BinaryOp;

// Opens a scope for a public call that is made outside of any, and drops what it had emitted when
// the call ends.
struct Emitter::TopLevel {
  explicit TopLevel(Emitter& emitter) : emitter(emitter), opened(emitter.scopes_.empty()) {
    if (opened) emitter.OpenScope();
  }
  ~TopLevel() {
    if (opened) emitter.CloseScope();
  }
  Emitter& emitter;
  bool opened;
};

Emitter::Emitter(Builder& builder, Graph* graph)
    : b_(builder),
      own_graph_(graph == nullptr ? std::make_unique<Graph>() : nullptr),
      graph_(graph == nullptr ? *own_graph_ : *graph) {
  ops_ = std::make_unique<Ops>(b_);
}
Emitter::~Emitter() = default;

// --- Bindings ---

void Emitter::BindSymbol(uint32_t symbol_id, Value* i64) { symbols_[symbol_id] = i64; }
void Emitter::BindAxis(const te::AxisNode* axis, Value* i64) { axes_[axis] = i64; }

void Emitter::BindBuffer(const te::TensorNode* tensor, Value* pointer, bool constant) {
  if (values_.erase(tensor) > 0 || !buffers_.contains(tensor)) lowering_.reset();
  buffers_[tensor] = {pointer, constant};
}

void Emitter::BindValue(const te::TensorNode* tensor, Value* value) {
  if (buffers_.erase(tensor) > 0 || !values_.contains(tensor)) lowering_.reset();
  values_[tensor] = value;
  varies_.clear();
}

const Node* Emitter::Lower(const te::Expr& e) {
  if (!lowering_) {
    lowering_ = std::make_unique<Lowering>(graph_, [this](const te::TensorNode* t) {
      if (values_.contains(t)) return Lowering::Place::kValue;
      if (buffers_.contains(t) || t->is_placeholder()) return Lowering::Place::kMemory;
      return Lowering::Place::kInline;
    });
  }
  return lowering_->Lower(e);
}

void Emitter::OpenScope() { scopes_.emplace_back(); }
void Emitter::CloseScope() { scopes_.pop_back(); }

// --- Public emission ---

llvm::Type* Emitter::MemoryType(DType dtype) { return ops_->MemoryType(dtype); }
llvm::Type* Emitter::ValueType(DType dtype) { return ops_->ValueType(dtype); }

Value* Emitter::Emit(const te::Expr& e) { return EmitNode(Lower(e)); }
Value* Emitter::EmitVector(const te::Expr& e, const VectorAxis& axis) {
  return EmitNodeVector(Lower(e), axis);
}

Value* Emitter::EmitNode(const Node* n) {
  TopLevel top(*this);
  VectorAxis outer = std::exchange(vector_, {});
  Value* outer_mask = std::exchange(select_mask_, nullptr);
  varies_.clear();
  Value* v = Scalar(n);
  vector_ = outer;
  select_mask_ = outer_mask;
  varies_.clear();
  return v;
}

void Emitter::UseVectorAxis(const VectorAxis& axis) {
  bool same = vector_.axis == axis.axis && vector_.base == axis.base &&
              vector_.lanes == axis.lanes && vector_.mask == axis.mask;
  if (!same) {
    for (Values& scope : scopes_) scope.vector.clear();
    varies_.clear();
    vector_ = axis;
  }
  select_mask_ = nullptr;
}

Value* Emitter::EmitNodeVector(const Node* n, const VectorAxis& axis) {
  TopLevel top(*this);
  UseVectorAxis(axis);
  return Vector(n);
}

Value* Emitter::EmitDim(const Dim& dim) {
  switch (dim.kind()) {
    case Dim::Kind::kConst:
      return I64(b_, dim.value());
    case Dim::Kind::kSymbol: {
      auto it = symbols_.find(dim.symbol_id());
      assert(it != symbols_.end() && "a dimension's symbol is not bound");
      return it->second;
    }
    default:
      break;
  }
  // Where the kernel begins, once: LLVM need not find it again, nor take it out of loops.
  if (auto found = dims_.find(dim); found != dims_.end()) return found->second;
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  if (llvm::Instruction* end = entry.getTerminator()) {
    b_.SetInsertPoint(end);
  } else {
    b_.SetInsertPoint(&entry);
  }
  Value* value = EmitDimExpression(dim);
  dims_.emplace(dim, value);
  return value;
}

Value* Emitter::EmitDimExpression(const Dim& dim) {
  Value* result = EmitDim(dim.operands()[0]);
  if (dim.kind() == Dim::Kind::kInt32)
    return b_.CreateSExt(b_.CreateTrunc(result, b_.getInt32Ty()), b_.getInt64Ty());
  for (const Dim& operand : dim.operands().subspan(1)) {
    Value* x = EmitDim(operand);
    switch (dim.kind()) {
      case Dim::Kind::kAdd:
        result = Add(b_, result, x);
        break;
      case Dim::Kind::kMul:
        result = Mul(b_, result, x);
        break;
      case Dim::Kind::kMin:
        result = Min(b_, result, x);
        break;
      case Dim::Kind::kMax:
        result = Max(b_, result, x);
        break;
      default: {
        BinaryOp op =
            dim.kind() == Dim::Kind::kFloorDiv ? BinaryOp::kFloorDivide : BinaryOp::kFloorMod;
        auto low = dim.operands()[0].LowerBound();
        bool nonnegative = low && *low >= 0;
        result = ops_->Binary(op, nonnegative ? DType::kUInt64 : DType::kInt64, result, x);
        break;
      }
    }
  }
  return dim.kind() == Dim::Kind::kAdd ? Named(result, dim.operands().size()) : result;
}

// A sum of so many terms that LLVM is better off without them: its scalar evolution flattens sums,
// and compares those of a join's begins term by term in each loop. What makes no code hides them.
Value* Emitter::Named(Value* sum, size_t terms) {
  constexpr size_t kMostTerms = 4;
  if (terms <= kMostTerms || b_.is_quick() || llvm::isa<llvm::Constant>(sum)) return sum;
  auto* type = llvm::FunctionType::get(sum->getType(), {sum->getType()}, /*isVarArg=*/false);
  auto* name = llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false);
  llvm::CallInst* call = b_.CreateCall(type, name, {sum});
  call->setDoesNotThrow();
  call->setDoesNotAccessMemory();
  return call;
}

Value* Emitter::ElementAddress(const te::TensorNode* tensor, const std::vector<Value*>& indices) {
  Value* flat = I64(b_, 0);
  for (size_t i = 0; i < indices.size(); ++i) {
    flat = Mul(b_, flat, EmitDim(tensor->shape[i]));
    flat = Add(b_, flat, indices[i]);
  }
  return Pointer(tensor, flat);
}

Value* Emitter::Pointer(const te::TensorNode* tensor, Value* index) {
  auto it = buffers_.find(tensor);
  assert(it != buffers_.end() && "a tensor that is loaded or stored has no buffer");
  return At(b_, MemoryType(tensor->dtype), it->second.pointer, index);
}

void Emitter::Store(Value* value, DType dtype, Value* pointer) {
  b_.CreateAlignedStore(ops_->ToMemory(value, dtype), pointer,
                        llvm::Align(static_cast<uint64_t>(DTypeBytes(dtype))));
}

void Emitter::StoreVector(Value* value, DType dtype, Value* pointer, Value* mask) {
  Value* memory = ops_->ToMemory(value, dtype);
  llvm::Align align(static_cast<uint64_t>(DTypeBytes(dtype)));
  if (mask == nullptr) {
    b_.CreateAlignedStore(memory, pointer, align);
  } else {
    b_.CreateMaskedStore(memory, pointer, align, mask);
  }
}

unsigned Emitter::LanesFor(const Node* n) {
  // Indices are int64, but do not count: only what is loaded and computed as data.
  int bytes = DTypeBytes(n->dtype);
  if (n->kind == NodeKind::kReduce) bytes = 1;
  std::vector<const Node*> stack = {n};
  std::unordered_set<const Node*> seen;
  while (!stack.empty()) {
    const Node* x = stack.back();
    stack.pop_back();
    if (!seen.insert(x).second) continue;
    bool is_float16 = x->dtype == DType::kFloat16 || x->dtype == DType::kBFloat16;
    if (x->kind != NodeKind::kLinear && x->kind != NodeKind::kAxis) {
      bytes = std::max(bytes, is_float16 ? 4 : DTypeBytes(x->dtype));
    }
    if (x->kind == NodeKind::kLoad) continue;
    for (const Node* operand : x->operands) stack.push_back(operand);
  }
  return std::max(2u, b_.machine().vector_bytes / static_cast<unsigned>(bytes));
}

unsigned Emitter::LanesFor(const Node* n, const Dim& extent) {
  constexpr unsigned kLeastBytes = 16;
  unsigned lanes = LanesFor(n);
  for (unsigned bytes = b_.machine().vector_bytes;
       bytes > kLeastBytes && extent.is_const() && extent.value() < int64_t{lanes}; bytes /= 2) {
    lanes /= 2;
  }
  return lanes;
}

void Emitter::StoreAt(const te::TensorNode* tensor, const Node* index, Value* value,
                      const VectorAxis* axis) {
  TopLevel top(*this);
  if (axis == nullptr) {
    Store(value, tensor->dtype, Pointer(tensor, EmitNode(index)));
    return;
  }
  assert(vector_.axis == axis->axis && vector_.base == axis->base);
  Address address = AddressOf(index);
  llvm::Type* element = MemoryType(tensor->dtype);
  if (address.affine && address.stride.is_const(1)) {
    Value* first = Add(b_, Scalar(address.uniform), vector_.base);
    StoreVector(value, tensor->dtype, Pointer(tensor, first), vector_.mask);
    return;
  }
  Value* pointers = b_.CreateGEP(element, Pointer(tensor, I64(b_, 0)), Vector(index));
  b_.CreateMaskedScatter(ops_->ToMemory(value, tensor->dtype), pointers,
                         llvm::Align(static_cast<uint64_t>(DTypeBytes(tensor->dtype))),
                         vector_.mask);
}

// --- Scalars ---

Value* Emitter::Scalar(const Node* n) {
  for (size_t i = scopes_.size(); i-- > 0;) {
    auto it = scopes_[i].scalar.find(n);
    if (it != scopes_[i].scalar.end()) return it->second;
  }
  Value* v = ScalarNew(n);
  scopes_.back().scalar[n] = v;
  return v;
}

Value* Emitter::ScalarNew(const Node* n) {
  switch (n->kind) {
    case NodeKind::kInt:
      return ops_->Constant(te::IntScalar(n->int_value), n->dtype);
    case NodeKind::kFloat:
      return ops_->Constant(te::FloatScalar(n->float_value), n->dtype);
    case NodeKind::kAxis: {
      auto it = axes_.find(n->axis);
      assert(it != axes_.end() && "an axis is not bound");
      return it->second;
    }
    case NodeKind::kLinear:
      return LinearScalar(n);
    case NodeKind::kLoad:
      return LoadScalar(n);
    case NodeKind::kLoadAt:
      assert(false && "a staged load was not placed");
      return nullptr;
    case NodeKind::kSelect:
      return ScalarSelect(n, /*vector_sides=*/false);
    case NodeKind::kChecked:
      return Check(n, /*vector=*/false);
    case NodeKind::kReduce:
      return ReduceScalar(n);
    default:
      break;
  }
  std::vector<Value*> operands;
  for (const Node* operand : n->operands) operands.push_back(Scalar(operand));
  return Apply(n, operands);
}

Value* Emitter::Apply(const Node* n, const std::vector<Value*>& operands) {
  DType from = n->operands[0]->dtype;
  switch (n->kind) {
    case NodeKind::kUnary:
      return ops_->Unary(n->unary, from, operands[0]);
    case NodeKind::kBinary: {
      bool divides = n->binary == BinaryOp::kFloorDivide || n->binary == BinaryOp::kFloorMod;
      if (divides && n->dtype == DType::kInt64) {
        Bounds x = graph_.BoundsOf(n->operands[0]);
        Bounds y = graph_.BoundsOf(n->operands[1]);
        auto not_negative = [](const Bounds& b) {
          auto low = b.low ? b.low->LowerBound() : std::nullopt;
          return low && *low >= 0;
        };
        if (not_negative(x) && not_negative(y)) return DivideIndex(n, operands[0], operands[1]);
      }
      return ops_->Binary(n->binary, from, operands[0], operands[1]);
    }
    case NodeKind::kCast:
      if (Graph::IsLimitedTo(n->operands[0], n->dtype)) {
        return ops_->CastLimited(n->dtype, operands[0]);
      }
      return ops_->Cast(from, n->dtype, operands[0]);
    default:
      return ops_->Reinterpret(from, n->dtype, operands[0]);
  }
}

// The value, where all lanes that are on are in range; else the kernel ends. A number is in range
// when neither difference is negative: where one of them wraps, the other one is negative. What
// follows may read by it without a mask, so that lanes that are off have the least one.
Value* Emitter::Check(const Node* n, bool vector) {
  auto emit = [&](const Node* x) { return vector ? Vector(x) : Scalar(x); };
  Value* v = emit(n->operands[0]);
  Value* least = emit(n->operands[1]);
  Value* end = emit(n->operands[2]);
  Value* last = b_.CreateSub(end, llvm::ConstantInt::get(end->getType(), 1));
  Value* either = b_.CreateOr(b_.CreateSub(v, least), b_.CreateSub(last, v));
  Value* is_out = b_.CreateICmpSLT(either, llvm::Constant::getNullValue(either->getType()));
  Value* mask = vector ? MaskFor(false) : nullptr;
  if (mask != nullptr) is_out = b_.CreateAnd(is_out, mask);
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* out = llvm::BasicBlock::Create(b_.getContext(), "out.of.range", function);
  auto* in = llvm::BasicBlock::Create(b_.getContext(), "in.range", function);
  llvm::MDNode* rare = llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1 << 20);
  b_.CreateCondBr(vector ? b_.CreateOrReduce(is_out) : is_out, out, in, rare);
  b_.SetInsertPoint(out);
  auto first = [&](Value* x) {
    if (!vector) return x;
    llvm::Type* bits = b_.getIntNTy(vector_.lanes);
    Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateBitCast(is_out, bits),
                                           b_.getTrue());
    return b_.CreateExtractElement(x, b_.CreateZExtOrTrunc(lane, b_.getInt64Ty()));
  };
  ReturnOutOfRange(b_, n->int_value, first(v), first(least), first(last));
  b_.SetInsertPoint(in);
  return mask == nullptr ? v : b_.CreateSelect(mask, v, least);
}

// Neither is negative. Vectors of indices below 2^32 divide in 32 bits.
Value* Emitter::DivideIndex(const Node* n, Value* x, Value* y) {
  BinaryOp op = n->binary;
  auto fits = [&](const Node* operand) {
    Bounds b = graph_.BoundsOf(operand);
    auto high = b.high ? b.high->UpperBound() : std::nullopt;
    return high && *high < (int64_t{1} << 31);
  };
  if (x->getType()->isVectorTy() && fits(n->operands[0]) && fits(n->operands[1])) {
    Value* x32 = ops_->Cast(DType::kInt64, DType::kUInt32, x);
    Value* y32 = ops_->Cast(DType::kInt64, DType::kUInt32, y);
    return ops_->Cast(DType::kUInt32, DType::kInt64, ops_->Binary(op, DType::kUInt32, x32, y32));
  }
  return ops_->Binary(op, DType::kUInt64, x, y);
}

Value* Emitter::LinearScalar(const Node* n) {
  Value* sum = nullptr;
  for (size_t i = 0; i < n->operands.size(); ++i) {
    Value* term = Mul(b_, Scalar(n->operands[i]), EmitDim(n->coefficients[i]));
    sum = sum == nullptr ? term : b_.CreateAdd(sum, term);
  }
  if (sum == nullptr) return EmitDim(n->dim);
  return n->dim.is_const(0) ? sum : b_.CreateAdd(sum, EmitDim(n->dim));
}

Value* Emitter::LoadScalar(const Node* n) {
  if (n->operands.empty()) {
    Value* bound = values_.at(n->tensor);
    assert(!bound->getType()->isVectorTy());
    return bound;
  }
  Value* pointer = Pointer(n->tensor, Scalar(n->operands[0]));
  llvm::Align align(static_cast<uint64_t>(DTypeBytes(n->dtype)));
  llvm::LoadInst* load = b_.CreateAlignedLoad(MemoryType(n->dtype), pointer, align);
  if (buffers_.at(n->tensor).constant) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  }
  return ops_->FromMemory(load, n->dtype);
}

// Emits what both nodes need in any case, so that it is not emitted once a side of a branch.
void Emitter::EmitShared(const Node* a, const Node* b, bool vector) {
  auto needed = [](const Node* root, std::vector<const Node*>& order) {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> stack = {root};
    while (!stack.empty()) {
      const Node* n = stack.back();
      stack.pop_back();
      if (!seen.insert(n).second) continue;
      order.push_back(n);
      size_t count = n->kind == NodeKind::kSelect
                         ? 1
                         : (n->kind == NodeKind::kReduce ? 0 : n->operands.size());
      for (size_t i = 0; i < count; ++i) stack.push_back(n->operands[i]);
    }
    return seen;
  };
  std::vector<const Node*> order_a;
  std::vector<const Node*> order_b;
  needed(a, order_a);
  auto in_b = needed(b, order_b);
  for (const Node* n : order_a) {
    if (n->cost >= 2 && in_b.contains(n)) vector ? Vector(n) : Scalar(n);
  }
}

// The condition is a scalar; the sides are scalars or vectors.
Value* Emitter::ScalarSelect(const Node* n, bool vector_sides, bool may_compute_both) {
  constexpr uint32_t kCheap = 12;
  auto emit = [&](const Node* side) { return vector_sides ? Vector(side) : Scalar(side); };
  Value* condition = Scalar(n->operands[0]);
  const Node* if_true = n->operands[1];
  const Node* if_false = n->operands[2];
  bool cheap = if_true->cost + if_false->cost <= kCheap;
  if (may_compute_both && cheap && if_true->safe && if_false->safe) {
    Value* x = emit(if_true);
    return b_.CreateSelect(condition, x, emit(if_false));
  }
  EmitShared(if_true, if_false, vector_sides);
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* then_block = llvm::BasicBlock::Create(b_.getContext(), "select.true", function);
  auto* else_block = llvm::BasicBlock::Create(b_.getContext(), "select.false", function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "select.end", function);
  b_.CreateCondBr(condition, then_block, else_block);
  Value* values[2];
  llvm::BasicBlock* from[2];
  for (int side = 0; side < 2; ++side) {
    b_.SetInsertPoint(side == 0 ? then_block : else_block);
    OpenScope();
    values[side] = emit(side == 0 ? if_true : if_false);
    CloseScope();
    from[side] = b_.GetInsertBlock();
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
  llvm::PHINode* phi = b_.CreatePHI(values[0]->getType(), 2);
  phi->addIncoming(values[0], from[0]);
  phi->addIncoming(values[1], from[1]);
  return phi;
}

}  // namespace relayvm::codegen

// Scalars, vectors, loads and stores. Reductions are in emitter_reduce.cc.
#include "kernels/codegen/emitter.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cassert>
#include <unordered_set>

#include "kernels/codegen/contraction_ir.h"
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

Emitter::Emitter(llvm::IRBuilderBase& builder, Graph* graph)
    : b_(builder),
      own_graph_(graph == nullptr ? std::make_unique<Graph>() : nullptr),
      graph_(graph == nullptr ? *own_graph_ : *graph) {
  TargetTraits traits;
  if (b_.GetInsertBlock() != nullptr) traits = TargetTraits::Of(*b_.GetInsertBlock()->getParent());
  ops_ = std::make_unique<Ops>(b_, traits);
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
  Value* result = EmitDim(dim.operands()[0]);
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
  return result;
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
  return std::max(2u, ops_->traits().vector_bytes / static_cast<unsigned>(bytes));
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
      return ops_->Cast(from, n->dtype, operands[0]);
    default:
      return ops_->Reinterpret(from, n->dtype, operands[0]);
  }
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
Value* Emitter::ScalarSelect(const Node* n, bool vector_sides) {
  constexpr uint32_t kCheap = 12;
  auto emit = [&](const Node* side) { return vector_sides ? Vector(side) : Scalar(side); };
  Value* condition = Scalar(n->operands[0]);
  const Node* if_true = n->operands[1];
  const Node* if_false = n->operands[2];
  bool cheap = if_true->cost + if_false->cost <= kCheap;
  if (cheap && if_true->safe && if_false->safe) {
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

// --- Vectors ---

bool Emitter::Varies(const Node* n) {
  if (vector_.axis == nullptr) return false;
  if (n->DependsOn(vector_.axis)) return true;
  if (!n->bound) return false;
  auto found = varies_.find(n);
  if (found != varies_.end()) return found->second;
  bool varies = false;
  if (n->kind == NodeKind::kLoad && n->operands.empty()) {
    varies = values_.at(n->tensor)->getType()->isVectorTy();
  }
  for (const Node* operand : n->operands) varies = varies || Varies(operand);
  return varies_[n] = varies;
}

Value* Emitter::Splat(Value* v) { return b_.CreateVectorSplat(vector_.lanes, v); }

Value* Emitter::Vector(const Node* n) {
  for (size_t i = scopes_.size(); i-- > 0;) {
    auto it = scopes_[i].vector.find(n);
    if (it != scopes_[i].vector.end()) return it->second;
  }
  Value* v = VectorNew(n);
  scopes_.back().vector[n] = v;
  return v;
}

Value* Emitter::VectorNew(const Node* n) {
  if (!Varies(n)) {
    if (n->safe || select_mask_ == nullptr) return Splat(Scalar(n));
    // The one value is needed only if a lane is on; otherwise it may not be loaded.
    llvm::Function* function = b_.GetInsertBlock()->getParent();
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* some = llvm::BasicBlock::Create(b_.getContext(), "some", function);
    auto* after = llvm::BasicBlock::Create(b_.getContext(), "some.end", function);
    b_.CreateCondBr(b_.CreateOrReduce(MaskFor(false)), some, after);
    before = b_.GetInsertBlock();
    b_.SetInsertPoint(some);
    OpenScope();
    Value* v = Scalar(n);
    CloseScope();
    llvm::BasicBlock* from = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    llvm::PHINode* phi = b_.CreatePHI(v->getType(), 2);
    phi->addIncoming(v, from);
    phi->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
    return Splat(phi);
  }
  switch (n->kind) {
    case NodeKind::kAxis:
      return b_.CreateAdd(Splat(vector_.base), LaneIndices(b_, vector_.lanes));
    case NodeKind::kLinear:
      return LinearVector(n);
    case NodeKind::kLoad:
      return LoadVector(n);
    case NodeKind::kSelect:
      return Varies(n->operands[0]) ? VectorSelect(n) : ScalarSelect(n, /*vector_sides=*/true);
    case NodeKind::kReduce:
      return ReduceVector(n);
    default:
      break;
  }
  std::vector<Value*> operands;
  for (const Node* operand : n->operands) operands.push_back(Vector(operand));
  return Apply(n, operands);
}

// The parts that are the same in all lanes are summed as scalars.
Value* Emitter::LinearVector(const Node* n) {
  Value* uniform = EmitDim(n->dim);
  Value* sum = nullptr;
  for (size_t i = 0; i < n->operands.size(); ++i) {
    Value* c = EmitDim(n->coefficients[i]);
    const Node* term = n->operands[i];
    if (!Varies(term)) {
      uniform = Add(b_, uniform, Mul(b_, Scalar(term), c));
      continue;
    }
    Value* v = nullptr;
    if (term->kind == NodeKind::kAxis) {
      uniform = Add(b_, uniform, Mul(b_, vector_.base, c));
      v = LaneIndices(b_, vector_.lanes);
    } else {
      v = Vector(term);
    }
    if (!IsConst(c, 1)) v = b_.CreateMul(v, Splat(c));
    sum = sum == nullptr ? v : b_.CreateAdd(sum, v);
  }
  return IsConst(uniform, 0) ? sum : b_.CreateAdd(sum, Splat(uniform));
}

Value* Emitter::VectorSelect(const Node* n) {
  Value* condition = Vector(n->operands[0]);
  Value* outer = select_mask_;
  Value* values[2];
  for (int side = 0; side < 2; ++side) {
    const Node* node = n->operands[static_cast<size_t>(side + 1)];
    if (node->safe) {
      values[side] = Vector(node);
      continue;
    }
    Value* on = side == 0 ? condition : b_.CreateNot(condition);
    select_mask_ = outer == nullptr ? on : b_.CreateAnd(outer, on);
    OpenScope();
    values[side] = Vector(node);
    CloseScope();
    select_mask_ = outer;
  }
  return b_.CreateSelect(condition, values[0], values[1]);
}

// The lanes that may be accessed; null: all.
Value* Emitter::MaskFor(bool in_range) {
  if (in_range || select_mask_ == nullptr) return vector_.mask;
  if (vector_.mask == nullptr) return select_mask_;
  return b_.CreateAnd(vector_.mask, select_mask_);
}

Emitter::Address Emitter::AddressOf(const Node* index) {
  Address address;
  if (index->kind == NodeKind::kAxis && index->axis == vector_.axis) {
    address.affine = true;
    address.stride = Dim(1);
    address.uniform = graph_.DimOf(Dim(0));
    return address;
  }
  if (index->kind != NodeKind::kLinear) return address;
  const Node* uniform = graph_.DimOf(index->dim);
  for (size_t i = 0; i < index->operands.size(); ++i) {
    const Node* term = index->operands[i];
    if (term->kind == NodeKind::kAxis && term->axis == vector_.axis) {
      address.stride = index->coefficients[i];
    } else if (Varies(term)) {
      return address;
    } else {
      uniform = graph_.Add(uniform, graph_.Scale(term, index->coefficients[i]));
    }
  }
  address.affine = true;
  address.uniform = uniform;
  return address;
}

Value* Emitter::LoadVector(const Node* n) {
  if (n->operands.empty()) return values_.at(n->tensor);
  llvm::Type* element = MemoryType(n->dtype);
  llvm::Type* type = VectorOf(element, vector_.lanes);
  llvm::Align align(static_cast<uint64_t>(DTypeBytes(n->dtype)));
  Value* mask = MaskFor(n->in_range);
  auto mark = [&](llvm::Value* v) {
    auto* load = llvm::dyn_cast<llvm::Instruction>(v);
    if (load != nullptr && buffers_.at(n->tensor).constant) {
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(b_.getContext(), {}));
    }
    return ops_->FromMemory(v, n->dtype);
  };
  auto load = [&](Value* pointer, Value* lanes_on) -> Value* {
    if (lanes_on == nullptr) return b_.CreateAlignedLoad(type, pointer, align);
    return b_.CreateMaskedLoad(type, pointer, align, lanes_on, llvm::Constant::getNullValue(type));
  };
  Address address = AddressOf(n->operands[0]);
  if (address.affine && (address.stride.is_const(1) || address.stride.is_const(-1))) {
    bool reversed = address.stride.is_const(-1);
    Value* first = Scalar(address.uniform);
    first = reversed ? b_.CreateSub(first, vector_.base) : Add(b_, first, vector_.base);
    if (!reversed) return mark(load(Pointer(n->tensor, first), mask));
    first = b_.CreateSub(first, I64(b_, vector_.lanes - 1));
    if (mask != nullptr) mask = b_.CreateVectorReverse(mask);
    return ops_->FromMemory(b_.CreateVectorReverse(load(Pointer(n->tensor, first), mask)),
                            n->dtype);
  }
  Value* pointers = nullptr;
  if (address.affine && (address.stride.is_const(2) || address.stride.is_const(4)) &&
      ops_->traits().masks) {
    int64_t stride = address.stride.value();
    Value* first = Add(b_, Scalar(address.uniform), Mul(b_, vector_.base, stride));
    return ops_->FromMemory(LoadStrided(n, first, static_cast<unsigned>(stride), mask), n->dtype);
  }
  if (address.affine) {
    Value* stride = EmitDim(address.stride);
    Value* first = Add(b_, Scalar(address.uniform), Mul(b_, vector_.base, stride));
    Value* offsets = b_.CreateMul(LaneIndices(b_, vector_.lanes), Splat(stride));
    pointers = b_.CreateGEP(element, Pointer(n->tensor, first), offsets);
  } else {
    pointers = b_.CreateGEP(element, Pointer(n->tensor, I64(b_, 0)), Vector(n->operands[0]));
  }
  return mark(
      b_.CreateMaskedGather(type, pointers, align, mask, llvm::Constant::getNullValue(type)));
}

// Loads everything from the first to the last lane's element, with what lies between masked off,
// and picks.
Value* Emitter::LoadStrided(const Node* n, Value* first, unsigned stride, Value* mask) {
  unsigned lanes = vector_.lanes;
  llvm::Type* type = VectorOf(MemoryType(n->dtype), lanes * stride);
  std::vector<int> spread;
  std::vector<int> pick;
  for (unsigned i = 0; i < lanes * stride; ++i)
    spread.push_back(static_cast<int>(i % stride == 0 ? i / stride : lanes));
  for (unsigned i = 0; i < lanes; ++i) pick.push_back(static_cast<int>(i * stride));
  llvm::Type* mask_type = VectorOf(b_.getInt1Ty(), lanes);
  if (mask == nullptr) mask = llvm::Constant::getAllOnesValue(mask_type);
  Value* wide_mask = b_.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask_type), spread);
  llvm::Align align(static_cast<uint64_t>(DTypeBytes(n->dtype)));
  Value* wide = b_.CreateMaskedLoad(type, Pointer(n->tensor, first), align, wide_mask,
                                    llvm::Constant::getNullValue(type));
  return b_.CreateShuffleVector(wide, pick);
}

std::vector<Value*> Emitter::LoadTransposed(const Node* load, const te::AxisNode* along,
                                            Value* first, const VectorAxis& axis) {
  UseVectorAxis(axis);
  Address address = AddressOf(load->operands[0]);
  assert(address.affine);
  OpenScope();
  BindAxis(along, first);
  Value* start = Scalar(address.uniform);
  CloseScope();
  unsigned lanes = axis.lanes;
  llvm::Type* type = VectorOf(MemoryType(load->dtype), lanes);
  llvm::Align align(static_cast<uint64_t>(DTypeBytes(load->dtype)));
  Value* stride = EmitDim(address.stride);
  std::vector<Value*> rows;
  for (unsigned r = 0; r < lanes; ++r) {
    Value* index = Add(b_, start, Mul(b_, Add(b_, axis.base, static_cast<int64_t>(r)), stride));
    Value* pointer = Pointer(load->tensor, index);
    if (axis.mask == nullptr) {
      rows.push_back(b_.CreateAlignedLoad(type, pointer, align));
      continue;
    }
    Value* on = b_.CreateVectorSplat(lanes, b_.CreateExtractElement(axis.mask, uint64_t{r}));
    rows.push_back(
        b_.CreateMaskedLoad(type, pointer, align, on, llvm::Constant::getNullValue(type)));
  }
  // Exchanges the off-diagonal halves of blocks of 2, 4, ... rows.
  for (unsigned step = 1; step < lanes; step *= 2) {
    for (unsigned i = 0; i < lanes; ++i) {
      if ((i & step) != 0) continue;
      std::vector<int> low;
      std::vector<int> high;
      for (unsigned k = 0; k < lanes; ++k) {
        bool upper = (k & step) != 0;
        low.push_back(static_cast<int>(upper ? lanes + k - step : k));
        high.push_back(static_cast<int>(upper ? lanes + k : k + step));
      }
      Value* a = rows[i];
      Value* b = rows[i + step];
      rows[i] = b_.CreateShuffleVector(a, b, low);
      rows[i + step] = b_.CreateShuffleVector(a, b, high);
    }
  }
  for (Value*& row : rows) row = ops_->FromMemory(row, load->dtype);
  return rows;
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

}  // namespace relayvm::codegen

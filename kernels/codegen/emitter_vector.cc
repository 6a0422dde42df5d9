// Expressions as vectors along one axis: what varies from lane to lane, masks, and loads by how
// their addresses advance.
#include <llvm/IR/Function.h>

#include <bit>
#include <cassert>
#include <functional>
#include <vector>

#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/emitter.h"
#include "kernels/codegen/instructions.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;

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
    auto* some = llvm::BasicBlock::Create(b_.getContext(), "some", function);
    auto* after = llvm::BasicBlock::Create(b_.getContext(), "some.end", function);
    b_.CreateCondBr(b_.CreateOrReduce(MaskFor(false)), some, after);
    llvm::BasicBlock* before = b_.GetInsertBlock();
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
    case NodeKind::kChecked:
      return Check(n, /*vector=*/true);
    case NodeKind::kReduce:
      return ReduceVector(n);
    case NodeKind::kCast:
      if (Value* v = FixedPointProduct(n)) return v;
      break;
    default:
      break;
  }
  std::vector<Value*> operands;
  for (const Node* operand : n->operands) operands.push_back(Vector(operand));
  return Apply(n, operands);
}

namespace {

// The int32 that an int64 node is; null: it is none.
const Node* WidenedInt32(const Node* n) {
  return n->kind == NodeKind::kCast && n->operands[0]->dtype == DType::kInt32 ? n->operands[0]
                                                                              : nullptr;
}

// (x * y + rounding) >> shift as int32, of int32: y may be a constant.
struct FixedPoint {
  const Node* x = nullptr;
  const Node* y = nullptr;
  int64_t factor = 0;  // where y is null
  int64_t rounding = 0;
  int64_t shift = 0;
};

std::optional<FixedPoint> FixedPointOf(const Node* n) {
  const Node* shifted = n->operands[0];
  if (n->dtype != DType::kInt32 || shifted->kind != NodeKind::kBinary ||
      shifted->binary != te::BinaryOp::kShiftRight || shifted->dtype != DType::kInt64)
    return std::nullopt;
  const Node* by = shifted->operands[1];
  const Node* sum = shifted->operands[0];
  if (by->kind != NodeKind::kLinear || !by->operands.empty() || !by->dim.is_const())
    return std::nullopt;
  FixedPoint f{.shift = by->dim.value()};
  // What is shifted out at the top of an odd lane is not needed.
  if (f.shift < 1 || f.shift > 32) return std::nullopt;
  const Node* product = sum;
  if (sum->kind == NodeKind::kLinear) {
    if (sum->operands.size() != 1 || !sum->dim.is_const() || !sum->coefficients[0].is_const())
      return std::nullopt;
    product = sum->operands[0];
    f.rounding = sum->dim.value();
    f.factor = sum->coefficients[0].value();
    f.x = WidenedInt32(product);
    if (f.x != nullptr) {
      const bool fits = f.factor >= INT32_MIN && f.factor <= INT32_MAX;
      return fits ? std::optional(f) : std::nullopt;
    }
    if (f.factor != 1) return std::nullopt;
  }
  if (product->kind != NodeKind::kBinary || product->binary != te::BinaryOp::kMultiply)
    return std::nullopt;
  f.x = WidenedInt32(product->operands[0]);
  f.y = WidenedInt32(product->operands[1]);
  return f.x != nullptr && f.y != nullptr ? std::optional(f) : std::nullopt;
}

}  // namespace

// Products of the even lanes and of the odd ones, each in 64 bits where its lanes lie: nothing
// moves between lanes. Null: the node is no such product.
Value* Emitter::FixedPointProduct(const Node* n) {
  const auto f = FixedPointOf(n);
  const unsigned lanes = vector_.lanes;
  if (!f || lanes % 2 != 0) return nullptr;
  llvm::Type* wide = VectorOf(b_.getInt64Ty(), lanes / 2);
  std::vector<int> odd_lanes;  // each in an even one too
  std::vector<int> own;        // of the even products, then the odd ones, as int32
  for (unsigned i = 0; i < lanes; ++i) {
    odd_lanes.push_back(static_cast<int>(i | 1));
    own.push_back(static_cast<int>(i % 2 == 0 ? i : lanes + i));
  }
  const auto constant = [&](int64_t v) {
    return llvm::ConstantInt::get(wide, static_cast<uint64_t>(v), /*IsSigned=*/true);
  };
  // Sign-extended in place, which is what LLVM's back ends know a 32-bit multiplication by.
  const auto extended = [&](Value* v) {
    return b_.CreateAShr(b_.CreateShl(b_.CreateBitCast(v, wide), 32), 32);
  };
  Value* x = Vector(f->x);
  Value* y = f->y == nullptr ? nullptr : Vector(f->y);
  Value* products[2];
  for (int odd = 0; odd < 2; ++odd) {
    const auto part = [&](Value* v) {
      return extended(odd == 0 ? v : b_.CreateShuffleVector(v, odd_lanes));
    };
    Value* factor = y == nullptr ? constant(f->factor) : part(y);
    Value* sum = b_.CreateAdd(b_.CreateMul(part(x), factor), constant(f->rounding));
    products[odd] = odd == 0 ? b_.CreateLShr(sum, static_cast<uint64_t>(f->shift))
                             : b_.CreateShl(sum, static_cast<uint64_t>(32 - f->shift));
  }
  llvm::Type* narrow = VectorOf(b_.getInt32Ty(), lanes);
  return b_.CreateShuffleVector(b_.CreateBitCast(products[0], narrow),
                                b_.CreateBitCast(products[1], narrow), own);
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

// What is the same in all lanes of a condition is decided by a branch, so that the masks of the
// rest do not depend on it.
const Node* Emitter::WithUniformFirst(const Node* n) {
  std::vector<const Node*> conjuncts;
  AppendConjuncts(n->operands[0], conjuncts);
  const Node* uniform = nullptr;
  const Node* varying = nullptr;
  for (const Node* c : conjuncts) {
    const Node*& all = Varies(c) ? varying : uniform;
    all = all == nullptr ? c : graph_.Binary(te::BinaryOp::kAnd, all, c);
  }
  if (uniform == nullptr || varying == nullptr) return n;
  const Node* inner = graph_.Select(varying, n->operands[1], n->operands[2]);
  return graph_.Select(uniform, inner, n->operands[2]);
}

Value* Emitter::VectorSelect(const Node* n) {
  // What is inside is guarded by both parts of the condition: alone, neither makes it safe.
  if (const Node* parted = WithUniformFirst(n); parted != n)
    return ScalarSelect(parted, /*vector_sides=*/true, /*may_compute_both=*/false);
  if (!b_.machine().masks && !n->operands[1]->safe && n->operands[2]->safe &&
      MaskFor(false) == nullptr) {
    if (Value* all = HoldsForAll(n->operands[0])) {
      return Choose(all, [&](bool on) { return on ? Vector(n->operands[1]) : SelectLanes(n); });
    }
  }
  return SelectLanes(n);
}

// Whether inequalities hold for all lanes: what is affine along the vector's axis does where it
// does for the first one and the last. Null: the condition is of something else.
Value* Emitter::HoldsForAll(const Node* condition) {
  std::vector<const Node*> conjuncts;
  AppendConjuncts(condition, conjuncts);
  Value* all = nullptr;
  for (const Node* c : conjuncts) {
    const bool is_order = c->kind == NodeKind::kBinary && te::BinaryOp::kLess <= c->binary &&
                          c->binary <= te::BinaryOp::kGreaterEqual;
    if (!is_order || c->operands[0]->dtype != DType::kInt64) return nullptr;
    for (const unsigned lane : {0U, vector_.lanes - 1}) {
      Value* sides[2];
      for (int i = 0; i < 2; ++i) {
        const Node* side = c->operands[i];
        if (!Varies(side)) {
          sides[i] = Scalar(side);
          continue;
        }
        const Address address = AddressOf(side);
        if (!address.affine) return nullptr;
        sides[i] = Add(b_, Scalar(address.uniform),
                       Mul(b_, Add(b_, vector_.base, int64_t{lane}), EmitDim(address.stride)));
      }
      Value* holds = ops_->Binary(c->binary, DType::kInt64, sides[0], sides[1]);
      all = all == nullptr ? holds : b_.CreateAnd(all, holds);
    }
  }
  return all;
}

// By masks.
Value* Emitter::SelectLanes(const Node* n) {
  Value* condition = Vector(n->operands[0]);
  Value* outer = select_mask_;
  Value* values[2];
  for (int side = 0; side < 2; ++side) {
    const Node* node = n->operands[side == 0 ? 1 : 2];
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
  return ops_->FromMemory(LoadVectorAt(n, n->operands[0], MaskFor(n->in_range)), n->dtype);
}

// The elements of n's tensor at `index`, as they are in memory.
Value* Emitter::LoadVectorAt(const Node* n, const Node* index, Value* mask) {
  Address address = AddressOf(index);
  if (address.affine && (address.stride.is_const(1) || address.stride.is_const(-1))) {
    bool reversed = address.stride.is_const(-1);
    Value* first = Scalar(address.uniform);
    first = reversed ? b_.CreateSub(first, vector_.base) : Add(b_, first, vector_.base);
    if (!reversed) return LoadRun(n, first, vector_.lanes, mask);
    first = b_.CreateSub(first, I64(b_, vector_.lanes - 1));
    if (mask != nullptr) mask = b_.CreateVectorReverse(mask);
    return b_.CreateVectorReverse(LoadRun(n, first, vector_.lanes, mask));
  }
  if (!b_.is_quick() && address.affine && address.stride.is_const() &&
      address.stride.value() >= 2 && address.stride.value() <= 4 &&
      (mask == nullptr || b_.machine().masks)) {
    int64_t stride = address.stride.value();
    Value* first = Add(b_, Scalar(address.uniform), Mul(b_, vector_.base, stride));
    return LoadStrided(n, first, static_cast<unsigned>(stride), mask);
  }
  if (!address.affine) {
    if (Value* taken = LoadByBytes(n, index)) return taken;
    if (Value* chosen = LoadChosen(n, index, mask)) return chosen;
    if (Value* repeated = LoadRepeated(n, index, mask)) return repeated;
    if (Value* near = LoadNear(n, index, mask)) return near;
    // What varies stays apart, so that offsets of 32 bits are such.
    const Node* rest = nullptr;
    Dim coefficient;
    const Node* term = IrregularTerm(index, rest, coefficient);
    if (term == nullptr || !coefficient.is_const(1))
      return Gather(n, Pointer(n->tensor, I64(b_, 0)), Vector(index), mask);
    const bool is_narrow =
        term->kind == NodeKind::kCast && term->operands[0]->dtype == DType::kInt32;
    // Alone, the rest may be outside the tensor.
    Value* base = b_.CreateGEP(MemoryType(n->dtype), Pointer(n->tensor, I64(b_, 0)), Scalar(rest));
    return Gather(n, base, Vector(is_narrow ? term->operands[0] : term), mask);
  }
  Value* stride = EmitDim(address.stride);
  Value* first = Add(b_, Scalar(address.uniform), Mul(b_, vector_.base, stride));
  Value* offsets = b_.CreateMul(LaneIndices(b_, vector_.lanes), Splat(stride));
  return Gather(n, Pointer(n->tensor, first), offsets, mask);
}

Value* Emitter::Gather(const Node* n, Value* base, Value* offsets, Value* mask) {
  llvm::Type* element = MemoryType(n->dtype);
  llvm::Type* type = VectorOf(element, vector_.lanes);
  return Mark(n, b_.CreateMaskedGather(type, b_.CreateGEP(element, base, offsets),
                                       llvm::Align(static_cast<uint64_t>(DTypeBytes(n->dtype))),
                                       mask, llvm::Constant::getNullValue(type)));
}

// `count` elements from flat index `first` on; those that the mask (null: none) turns off are 0.
Value* Emitter::LoadRun(const Node* n, Value* first, unsigned count, Value* mask) {
  llvm::Type* type = VectorOf(MemoryType(n->dtype), count);
  const llvm::Align align(static_cast<uint64_t>(DTypeBytes(n->dtype)));
  Value* pointer = Pointer(n->tensor, first);
  if (mask == nullptr) return Mark(n, b_.CreateAlignedLoad(type, pointer, align));
  return Mark(n,
              b_.CreateMaskedLoad(type, pointer, align, mask, llvm::Constant::getNullValue(type)));
}

Value* Emitter::Mark(const Node* n, Value* load) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(load);
  if (instruction != nullptr && buffers_.at(n->tensor).constant) {
    instruction->setMetadata(llvm::LLVMContext::MD_invariant_load,
                             llvm::MDNode::get(b_.getContext(), {}));
  }
  return load;
}

// The term of an index that is no multiple of the vector's axis, where there is one such and no
// other varies: index = rest + coefficient * term. Null: there is none.
const Node* Emitter::IrregularTerm(const Node* index, const Node*& rest, Dim& coefficient) {
  rest = graph_.DimOf(Dim(0));
  coefficient = Dim(1);
  if (index->kind != NodeKind::kLinear) return Varies(index) ? index : nullptr;
  const Node* found = nullptr;
  rest = graph_.DimOf(index->dim);
  for (size_t i = 0; i < index->operands.size(); ++i) {
    const Node* term = index->operands[i];
    if (!Varies(term)) {
      rest = graph_.Add(rest, graph_.Scale(term, index->coefficients[i]));
      continue;
    }
    if (found != nullptr) return nullptr;
    found = term;
    coefficient = index->coefficients[i];
  }
  return found;
}

bool MayBeByteTable(const te::TensorNode& tensor) {
  constexpr int64_t kByteValues = 256;
  return tensor.is_placeholder() && tensor.rank() == 1 && DTypeBytes(tensor.dtype) == 1 &&
         tensor.shape[0].is_const(kByteValues);
}

// What a table of 256 bytes holds for bytes. Null: the index is none, or the machine has nothing
// for it. Lanes that are off read too: each byte has a place.
Value* Emitter::LoadByBytes(const Node* n, const Node* index) {
  if (!MayBeByteTable(*n->tensor) || index->kind != NodeKind::kCast ||
      index->operands[0]->dtype != DType::kUInt8)
    return nullptr;
  return b_.machine().instructions->TakeByBytes(b_, Pointer(n->tensor, I64(b_, 0)),
                                                Vector(index->operands[0]));
}

// Either of two loads that all lanes choose between, as where an extent may be one that is
// broadcast. Null: the index is none of that kind.
Value* Emitter::LoadChosen(const Node* n, const Node* index, Value* mask) {
  const Node* rest = nullptr;
  Dim coefficient;
  const Node* term = IrregularTerm(index, rest, coefficient);
  if (term == nullptr || term->kind != NodeKind::kSelect || Varies(term->operands[0])) {
    return nullptr;
  }
  Value* condition = Scalar(term->operands[0]);
  return Choose(condition, [&](bool on) {
    const Node* side = term->operands[on ? 1 : 2];
    const Node* at = graph_.Add(rest, graph_.Scale(side, coefficient));
    if (Varies(at)) return LoadVectorAt(n, at, mask);
    // One element for all lanes, which is loaded where one is on.
    if (mask == nullptr) {
      Value* one = LoadRun(n, Scalar(at), 1, nullptr);
      return b_.CreateShuffleVector(one, std::vector<int>(vector_.lanes, 0));
    }
    Value* one = LoadRun(n, Scalar(at), 1, b_.CreateVectorSplat(1, b_.CreateOrReduce(mask)));
    return b_.CreateSelect(
        mask, b_.CreateShuffleVector(one, std::vector<int>(vector_.lanes, 0)),
        llvm::Constant::getNullValue(VectorOf(MemoryType(n->dtype), vector_.lanes)));
  });
}

// Elements that several lanes in a row have: rest + (first + lane) / times. Where `first` is a
// multiple, they are loaded once and spread. Null: the index is none of that kind.
Value* Emitter::LoadRepeated(const Node* n, const Node* index, Value* mask) {
  const Node* rest = nullptr;
  Dim coefficient;
  const Node* term = IrregularTerm(index, rest, coefficient);
  if (term == nullptr || term->kind != NodeKind::kBinary || !coefficient.is_const(1) ||
      (term->binary != te::BinaryOp::kDivide && term->binary != te::BinaryOp::kFloorDivide)) {
    return nullptr;
  }
  const Node* divisor = term->operands[1];
  if (divisor->kind != NodeKind::kLinear || !divisor->operands.empty() ||
      !divisor->dim.is_const()) {
    return nullptr;
  }
  const int64_t times = divisor->dim.value();
  const Address address = AddressOf(term->operands[0]);
  if (times < 2 || (times & (times - 1)) != 0 || vector_.lanes % times != 0 || !address.affine ||
      !address.stride.is_const(1)) {
    return nullptr;
  }
  Value* first = Add(b_, Scalar(address.uniform), vector_.base);
  Value* is_multiple =
      b_.CreateAnd(b_.CreateICmpEQ(b_.CreateAnd(first, I64(b_, times - 1)), I64(b_, 0)),
                   b_.CreateICmpSGE(first, I64(b_, 0)));
  return Choose(is_multiple, [&](bool on) {
    if (!on) return Gather(n, Pointer(n->tensor, I64(b_, 0)), Vector(index), mask);
    const auto count = static_cast<unsigned>(vector_.lanes / times);
    std::vector<int> spread;
    for (unsigned i = 0; i < vector_.lanes; ++i) spread.push_back(static_cast<int>(i / times));
    Value* some = nullptr;  // elements that a lane which is on has
    for (int64_t lane = 0; mask != nullptr && lane < times; ++lane) {
      std::vector<int> lanes;
      for (unsigned i = 0; i < count; ++i) lanes.push_back(static_cast<int>(i * times + lane));
      Value* part = b_.CreateShuffleVector(mask, lanes);
      some = some == nullptr ? part : b_.CreateOr(some, part);
    }
    Value* at = Add(b_, Scalar(rest), b_.CreateLShr(first, std::countr_zero<uint64_t>(times)));
    return b_.CreateShuffleVector(LoadRun(n, at, count, some), spread);
  });
}

// Elements that lie close together, as where an image is enlarged: where all lanes are on a
// vector's length from the first one on, that is loaded, and permuted. Null: the target has no such
// permutation, or the index comes from memory and may be anything.
Value* Emitter::LoadNear(const Node* n, const Node* index, Value* mask) {
  const unsigned lanes = vector_.lanes;
  if (!b_.machine().masks || DTypeBytes(n->dtype) != 4 || (lanes != 16 && lanes != 8)) {
    return nullptr;
  }
  // Of a staged tensor, scratch holds a part: its shape does not say where that ends.
  if (!n->tensor->is_placeholder()) return nullptr;
  bool is_computed = true;
  ForEachNode({index}, [&](const Node* node) {
    if (node->kind == NodeKind::kLoad || node->kind == NodeKind::kLoadAt) is_computed = false;
  });
  if (!is_computed) return nullptr;
  Value* at = Vector(index);
  Value* first = b_.CreateExtractElement(at, uint64_t{0});
  Value* distance = b_.CreateSub(at, b_.CreateVectorSplat(lanes, first));
  Value* is_near = b_.CreateICmpULT(distance, llvm::ConstantInt::get(distance->getType(), lanes));
  if (mask != nullptr) is_near = b_.CreateOr(is_near, b_.CreateNot(mask));
  Value* all_near = b_.CreateAndReduce(is_near);
  // What is off may have any index.
  if (mask != nullptr)
    all_near = b_.CreateAnd(all_near, b_.CreateExtractElement(mask, uint64_t{0}));
  return Choose(all_near, [&](bool on) {
    if (!on) return Gather(n, Pointer(n->tensor, I64(b_, 0)), at, mask);
    Dim elements(1);
    for (const Dim& extent : n->tensor->shape) elements = elements * extent;
    Value* run = LoadRun(n, first, lanes, MaskBelow(b_, Sub(b_, EmitDim(elements), first), lanes));
    llvm::Type* type = run->getType();
    Value* picks = b_.CreateTrunc(distance, VectorOf(b_.getInt32Ty(), lanes));
    Value* words = b_.CreateBitCast(run, picks->getType());
    Value* picked = b_.CreateBitCast(b_.machine().instructions->Pick(b_, words, picks), type);
    if (mask == nullptr) return picked;
    return b_.CreateSelect(mask, picked, llvm::Constant::getNullValue(type));
  });
}

// The value that `emit` gives for the condition's side, in a branch of its own.
Value* Emitter::Choose(Value* condition, const std::function<Value*(bool)>& emit) {
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  llvm::BasicBlock* sides[2];
  for (auto*& side : sides) side = llvm::BasicBlock::Create(b_.getContext(), "side", function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "side.end", function);
  b_.CreateCondBr(condition, sides[0], sides[1]);
  Value* values[2];
  for (int i = 0; i < 2; ++i) {
    b_.SetInsertPoint(sides[i]);
    OpenScope();
    values[i] = emit(i == 0);
    CloseScope();
    sides[i] = b_.GetInsertBlock();
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
  llvm::PHINode* phi = b_.CreatePHI(values[0]->getType(), 2);
  for (int i = 0; i < 2; ++i) phi->addIncoming(values[i], sides[i]);
  return phi;
}

}  // namespace relayvm::codegen

#include "kernels/codegen/reduce.h"

namespace relayvm::codegen {

using llvm::Value;
using te::BinaryOp;
using te::ReduceKind;

Reducer::Reducer(const Node* n, Ops& ops, Builder& b)
    : n_(n),
      ops_(ops),
      b_(b),
      dtype_(n->operands[0]->dtype),
      is_arg_(n->reduce == ReduceKind::kArgMax || n->reduce == ReduceKind::kArgMin) {}

bool Reducer::IsOrdered(const Node* n) {
  return n->operands[0]->dtype == DType::kFloat16 &&
         (n->reduce == ReduceKind::kSum || n->reduce == ReduceKind::kProd);
}

ReduceState Reducer::Identity(unsigned lanes) {
  Value* value = ops_.Constant(te::ReduceIdentity(n_->reduce, dtype_), dtype_);
  Value* position = b_.getInt64(~uint64_t{0});
  if (lanes != 0) {
    value = b_.CreateVectorSplat(lanes, value);
    position = b_.CreateVectorSplat(lanes, position);
  }
  if (is_arg_) return {value, position};
  return {value};
}

Value* Reducer::Merge(Value* a, Value* x) {
  bool is_float = IsFloat(dtype_);
  DType t = dtype_;
  switch (n_->reduce) {
    case ReduceKind::kSum:
      return ops_.Binary(BinaryOp::kAdd, t, a, x);
    case ReduceKind::kProd:
      return ops_.Binary(BinaryOp::kMultiply, t, a, x);
    case ReduceKind::kMax:
      return ops_.Binary(BinaryOp::kMax, t, x, a);  // NaN in x keeps a
    case ReduceKind::kMin:
      return ops_.Binary(BinaryOp::kMin, t, x, a);
    case ReduceKind::kAll:
    case ReduceKind::kAny: {
      BinaryOp op = n_->reduce == ReduceKind::kAll ? BinaryOp::kAnd : BinaryOp::kOr;
      if (t == DType::kBool || is_float) return ops_.Binary(op, t, a, x);
      Value* truth = ops_.Cast(DType::kBool, t, ops_.Cast(t, DType::kBool, x));
      return ops_.Binary(op, t, a, truth);
    }
    default:
      return a;
  }
}

ReduceState Reducer::Step(const ReduceState& state, Value* x, Value* position, Value* mask) {
  if (!is_arg_) {
    Value* next = Merge(state[0], x);
    if (mask != nullptr) next = b_.CreateSelect(mask, next, state[0]);
    return {next};
  }
  BinaryOp better = n_->reduce == ReduceKind::kArgMax ? BinaryOp::kGreater : BinaryOp::kLess;
  Value* take = ops_.Binary(better, dtype_, x, state[0]);
  Value* tie = ops_.Binary(BinaryOp::kEqual, dtype_, x, state[0]);
  if (!n_->select_last) {
    tie = b_.CreateAnd(
        tie, b_.CreateICmpSLT(state[1], llvm::Constant::getNullValue(state[1]->getType())));
  }
  take = b_.CreateOr(take, tie);
  if (mask != nullptr) take = b_.CreateAnd(take, mask);
  return {b_.CreateSelect(take, x, state[0]), b_.CreateSelect(take, position, state[1])};
}

ReduceState Reducer::Combine(const ReduceState& a, const ReduceState& b) {
  if (!is_arg_) return {Merge(a[0], b[0])};
  Value* zero = llvm::Constant::getNullValue(a[1]->getType());
  BinaryOp better = n_->reduce == ReduceKind::kArgMax ? BinaryOp::kGreater : BinaryOp::kLess;
  Value* wins = ops_.Binary(better, dtype_, b[0], a[0]);
  Value* tie = ops_.Binary(BinaryOp::kEqual, dtype_, b[0], a[0]);
  Value* before = n_->select_last ? b_.CreateICmpSGT(b[1], a[1]) : b_.CreateICmpSLT(b[1], a[1]);
  wins = b_.CreateOr(wins, b_.CreateAnd(tie, before));
  Value* a_empty = b_.CreateICmpSLT(a[1], zero);
  Value* b_some = b_.CreateICmpSGE(b[1], zero);
  Value* take = b_.CreateAnd(b_some, b_.CreateOr(a_empty, wins));
  return {b_.CreateSelect(take, b[0], a[0]), b_.CreateSelect(take, b[1], a[1])};
}

ReduceState Reducer::Horizontal(ReduceState state) {
  unsigned lanes = llvm::cast<llvm::FixedVectorType>(state[0]->getType())->getNumElements();
  while (lanes > 1) {
    unsigned half = lanes / 2;
    std::vector<int> low;
    std::vector<int> high;
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(half + i));
    }
    ReduceState a;
    ReduceState b;
    for (Value* v : state) {
      a.push_back(b_.CreateShuffleVector(v, low));
      b.push_back(b_.CreateShuffleVector(v, high));
    }
    state = Combine(a, b);
    lanes = half;
  }
  for (Value*& v : state) v = b_.CreateExtractElement(v, uint64_t{0});
  return state;
}

Value* Reducer::Finish(const ReduceState& state) {
  if (!is_arg_) return state[0];
  Value* zero = llvm::Constant::getNullValue(state[1]->getType());
  Value* position = b_.IntMax(state[1], zero, /*is_signed=*/true);
  return ops_.Cast(DType::kInt64, n_->dtype, position);
}

}  // namespace relayvm::codegen

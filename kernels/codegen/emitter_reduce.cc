// Reductions: nested loops that carry their state in registers.
//
// A scalar reduction whose loads are contiguous along one of its axes runs vectors along that axis,
// with several sets of accumulators to hide latency, and combines lanes at the end. A reduction
// that is itself emitted as a vector (along a spatial axis) has one state a lane and needs no
// combining.
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <cassert>

#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/emitter.h"
#include "kernels/codegen/ops.h"
#include "kernels/codegen/reduce.h"

namespace relayvm::codegen {

using llvm::Value;
using te::BinaryOp;
using te::ReduceKind;

namespace {

// The longest chain of a sum.
constexpr int64_t kSumBlock = 32;

// sum + x * y, fused where the target can.
Value* Accumulate(Builder& b, Value* x, Value* y, Value* sum) {
  return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, sum});
}

// The row-major position within the reduce axes.
const Node* PositionOf(Graph& graph, const Node* n) {
  std::vector<Dim> shape;
  std::vector<const Node*> indices;
  for (const te::AxisNode* axis : n->axes) {
    shape.push_back(axis->extent);
    indices.push_back(graph.Axis(axis));
  }
  return graph.Flatten(shape, indices);
}

}  // namespace

Value* Emitter::EmitWork(const Node* root) {
  Value* work = I64(b_, std::clamp<int64_t>(root->cost, 1, kMaxWork));
  ForEachNode({root}, [&](const Node* n) {
    if (n->kind != NodeKind::kReduce) return;
    Value* reduction = EmitWork(n->operands[0]);
    for (const te::AxisNode* axis : n->axes)
      reduction = WorkOf(b_, reduction, EmitDim(axis->extent));
    std::optional<int64_t> x = ConstantOf(work), y = ConstantOf(reduction);
    work = x && y ? I64(b_, std::max(*x, *y)) : Max(b_, work, reduction);
  });
  return work;
}

// Loops over axes[level..], innermost last; `work` is what the body does. The rounding errors of
// one long chain of sums grow with its length, so that floats are summed in blocks, each from zero.
std::vector<Value*> Emitter::ReduceLoops(
    const Node* n, const std::vector<const te::AxisNode*>& axes, size_t level,
    const std::vector<Value*>& carried, Value* work,
    const std::function<std::vector<Value*>(const std::vector<Value*>&)>& body) {
  if (level == axes.size()) return body(carried);
  const te::AxisNode* axis = axes[level];
  Value* turn = work;
  for (size_t inner = level + 1; inner < axes.size(); ++inner)
    turn = WorkOf(b_, turn, EmitDim(axes[inner]->extent));
  auto one = [&](Value* i, const std::vector<Value*>& state) {
    OpenScope();
    BindAxis(axis, i);
    auto next = ReduceLoops(n, axes, level + 1, state, work, body);
    CloseScope();
    return next;
  };
  Value* extent = EmitDim(axis->extent);
  const DType dtype = n->operands[0]->dtype;
  const bool blocked = n->reduce == ReduceKind::kSum &&
                       (dtype == DType::kFloat32 || dtype == DType::kFloat64) &&
                       !(axis->extent.is_const() && axis->extent.value() <= kSumBlock);
  if (!blocked) return ForPolled(b_, I64(b_, 0), extent, 1, turn, axis->name, carried, one);
  std::vector<Value*> zeros;
  for (Value* v : carried) zeros.push_back(llvm::Constant::getNullValue(v->getType()));
  return ForPolled(b_, I64(b_, 0), extent, kSumBlock, WorkOf(b_, turn, I64(b_, kSumBlock)),
                   axis->name, carried, [&](Value* from, const std::vector<Value*>& sums) {
                     Value* to = Min(b_, Add(b_, from, kSumBlock), extent);
                     std::vector<Value*> next = ForCarried(b_, from, to, 1, axis->name, zeros, one);
                     for (size_t i = 0; i < next.size(); ++i)
                       next[i] = b_.CreateFAdd(sums[i], next[i]);
                     return next;
                   });
}

// The axes, those outermost that masks of lanes depend on: masks are then made once for all turns
// of the others. In their own order where that is prescribed.
std::vector<const te::AxisNode*> Emitter::AxesOfMasksFirst(const Node* n) {
  std::vector<const te::AxisNode*> axes = n->axes;
  if (Reducer::IsOrdered(n) || axes.size() < 2) return axes;
  std::vector<const Node*> masks;
  ForEachNode({n->operands[0]}, [&](const Node* x) {
    if (x->kind == NodeKind::kSelect && Varies(x->operands[0]))
      AppendConjuncts(x->operands[0], masks);
  });
  std::erase_if(masks, [&](const Node* mask) { return !Varies(mask); });
  std::stable_partition(axes.begin(), axes.end(), [&](const te::AxisNode* axis) {
    return std::ranges::any_of(masks, [&](const Node* mask) { return mask->DependsOn(axis); });
  });
  return axes;
}

Value* Emitter::ReduceVector(const Node* n) {
  Reducer reducer(n, *ops_, b_);
  const Node* position = reducer.is_arg() ? PositionOf(graph_, n) : nullptr;
  Value* work = EmitWork(n->operands[0]);
  const std::vector<const te::AxisNode*> axes = reducer.is_arg() ? n->axes : AxesOfMasksFirst(n);
  auto state = ReduceLoops(
      n, axes, 0, reducer.Identity(vector_.lanes), work, [&](const std::vector<Value*>& s) {
        const Node* body = n->operands[0];
        bool fuse = n->reduce == ReduceKind::kSum && body->kind == NodeKind::kBinary &&
                    body->binary == BinaryOp::kMultiply &&
                    (body->dtype == DType::kFloat32 || body->dtype == DType::kFloat64);
        if (fuse) {
          Value* x = Vector(body->operands[0]);
          return ReduceState{Accumulate(b_, x, Vector(body->operands[1]), s[0])};
        }
        Value* x = Vector(body);
        return reducer.Step(s, x, position != nullptr ? Vector(position) : nullptr, nullptr);
      });
  return reducer.Finish(state);
}

// The reduce axis along which every load of the body is contiguous or the same; null when there is
// none that pays.
const te::AxisNode* Emitter::VectorReduceAxis(const Node* n) {
  if (Reducer::IsOrdered(n)) return nullptr;
  for (size_t i = n->axes.size(); i-- > 0;) {
    const te::AxisNode* axis = n->axes[i];
    if (axis->extent.is_const() && axis->extent.value() < 4) continue;
    int contiguous = 0;
    bool suits = true;
    ForEachNode({n->operands[0]}, [&](const Node* x) {
      if (!x->DependsOn(axis)) return;
      if (x->kind == NodeKind::kReduce) suits = false;
      if (x->kind == NodeKind::kBinary && x->dtype == DType::kInt64 &&
          x->binary >= BinaryOp::kDivide && x->binary <= BinaryOp::kFloorMod) {
        suits = false;
      }
      if (x->kind != NodeKind::kLoad) return;
      const Node* index = x->operands[0];
      bool unit = index->kind == NodeKind::kAxis;
      if (index->kind == NodeKind::kLinear) {
        for (size_t t = 0; t < index->operands.size(); ++t) {
          const Node* term = index->operands[t];
          if (!term->DependsOn(axis)) continue;
          unit = term->kind == NodeKind::kAxis && index->coefficients[t].is_const(1);
          if (!unit) break;
        }
      }
      if (unit) {
        ++contiguous;
      } else {
        suits = false;
      }
    });
    if (suits && contiguous > 0) return axis;
  }
  return nullptr;
}

Value* Emitter::ReduceScalar(const Node* n) {
  // Inside a vector emission this is a value that all lanes share: emitted on its own.
  VectorAxis outer = std::exchange(vector_, {});
  Value* outer_mask = std::exchange(select_mask_, nullptr);
  std::vector<std::unordered_map<const Node*, Value*>> outer_vectors;
  for (Values& scope : scopes_) outer_vectors.push_back(std::exchange(scope.vector, {}));
  varies_.clear();
  Value* result = nullptr;
  if (const te::AxisNode* axis = VectorReduceAxis(n)) {
    result = ReduceAlongVector(n, axis);
  } else {
    Reducer reducer(n, *ops_, b_);
    const Node* position = reducer.is_arg() ? PositionOf(graph_, n) : nullptr;
    Value* work = EmitWork(n->operands[0]);
    auto state =
        ReduceLoops(n, n->axes, 0, reducer.Identity(0), work, [&](const std::vector<Value*>& s) {
          Value* x = Scalar(n->operands[0]);
          return reducer.Step(s, x, position != nullptr ? Scalar(position) : nullptr, nullptr);
        });
    result = reducer.Finish(state);
  }
  vector_ = outer;
  select_mask_ = outer_mask;
  for (size_t i = 0; i < outer_vectors.size(); ++i) scopes_[i].vector = std::move(outer_vectors[i]);
  varies_.clear();
  return result;
}

Value* Emitter::ReduceAlongVector(const Node* n, const te::AxisNode* axis) {
  Reducer reducer(n, *ops_, b_);
  const Node* body = n->operands[0];
  const Node* position = reducer.is_arg() ? PositionOf(graph_, n) : nullptr;
  unsigned lanes = LanesFor(body);
  bool is_const = axis->extent.is_const();
  while (is_const && lanes > 2 && static_cast<int64_t>(lanes) > axis->extent.value()) lanes /= 2;
  bool masks = b_.machine().masks;

  // How many vectors a turn of the main loop takes.
  unsigned ways = body->cost < 24 ? 4 : (body->cost < 80 ? 2 : 1);
  if (reducer.is_arg()) ways = std::min(ways, 2u);
  while (is_const && ways > 1 && int64_t{ways} * lanes > axis->extent.value()) ways /= 2;

  std::vector<const te::AxisNode*> outer;
  for (const te::AxisNode* a : n->axes) {
    if (a != axis) outer.push_back(a);
  }
  bool fuse = n->reduce == ReduceKind::kSum && body->kind == NodeKind::kBinary &&
              body->binary == BinaryOp::kMultiply &&
              (body->dtype == DType::kFloat32 || body->dtype == DType::kFloat64);
  // One step on the state in carried[first...].
  auto step = [&](std::vector<Value*>& carried, size_t first, Value* base, Value* mask) {
    OpenScope();
    vector_ = {axis, base, lanes, mask};
    varies_.clear();
    ReduceState state(carried.begin() + static_cast<ptrdiff_t>(first),
                      carried.begin() + static_cast<ptrdiff_t>(first + reducer.width()));
    if (fuse) {
      Value* x = Vector(body->operands[0]);
      Value* next = Accumulate(b_, x, Vector(body->operands[1]), state[0]);
      state[0] = mask == nullptr ? next : b_.CreateSelect(mask, next, state[0]);
    } else {
      Value* x = Vector(body);
      state = reducer.Step(state, x, position != nullptr ? Vector(position) : nullptr, mask);
    }
    std::copy(state.begin(), state.end(), carried.begin() + static_cast<ptrdiff_t>(first));
    vector_ = {};
    CloseScope();
    // Values of this vector position must not be found by the next one.
    for (Values& scope : scopes_) scope.vector.clear();
  };

  std::vector<Value*> carried;
  for (unsigned w = 0; w < ways; ++w) {
    for (Value* v : reducer.Identity(lanes)) carried.push_back(v);
  }
  size_t scalar_state = carried.size();  // where the elements go that fill no vector, without masks
  if (!masks) {
    for (Value* v : reducer.Identity(0)) carried.push_back(v);
  }
  Value* work = EmitWork(body);
  Value* line = WorkOf(b_, work, EmitDim(axis->extent));
  carried = ReduceLoops(n, outer, 0, carried, line, [&](const std::vector<Value*>& initial) {
    OpenScope();
    Value* extent = EmitDim(axis->extent);
    auto whole = [&](uint64_t unit) { return b_.CreateAnd(extent, b_.getInt64(~(unit - 1))); };
    std::vector<Value*> state = initial;
    Value* done = I64(b_, 0);
    for (unsigned width = ways; width >= 1; width = width > 1 ? 1 : 0) {
      Value* end = whole(width * lanes);
      state = ForPolled(b_, done, end, width * lanes, WorkOf(b_, work, I64(b_, width)), axis->name,
                        state, [&](Value* i, std::vector<Value*> s) {
                          for (unsigned w = 0; w < width; ++w) {
                            step(s, w * reducer.width(), Add(b_, i, int64_t{w} * lanes), nullptr);
                          }
                          return s;
                        });
      done = end;
    }
    if (masks) {
      state = ForCarried(b_, done, extent, lanes, axis->name, state,
                         [&](Value* i, std::vector<Value*> s) {
                           step(s, 0, i, MaskBelow(b_, b_.CreateSub(extent, i), lanes));
                           return s;
                         });
    } else {
      state =
          ForCarried(b_, done, extent, 1, axis->name, state, [&](Value* i, std::vector<Value*> s) {
            OpenScope();
            BindAxis(axis, i);
            ReduceState tail(s.begin() + static_cast<ptrdiff_t>(scalar_state), s.end());
            Value* x = Scalar(body);
            tail = reducer.Step(tail, x, position != nullptr ? Scalar(position) : nullptr, nullptr);
            std::copy(tail.begin(), tail.end(), s.begin() + static_cast<ptrdiff_t>(scalar_state));
            CloseScope();
            return s;
          });
    }
    CloseScope();
    return state;
  });

  std::vector<ReduceState> parts;
  for (size_t first = 0; first < scalar_state; first += reducer.width()) {
    parts.emplace_back(carried.begin() + static_cast<ptrdiff_t>(first),
                       carried.begin() + static_cast<ptrdiff_t>(first + reducer.width()));
  }
  while (parts.size() > 1) {
    size_t half = parts.size() / 2;
    for (size_t i = 0; i < half; ++i) parts[i] = reducer.Combine(parts[i], parts[i + half]);
    parts.resize(half);
  }
  ReduceState result = reducer.Horizontal(parts[0]);
  if (!masks) {
    ReduceState tail(carried.begin() + static_cast<ptrdiff_t>(scalar_state), carried.end());
    result = reducer.Combine(result, tail);
  }
  return reducer.Finish(result);
}

}  // namespace relayvm::codegen

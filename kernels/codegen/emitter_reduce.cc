// Reductions: nested loops that carry their state in registers.
//
// A scalar reduction whose loads are contiguous along one of its axes runs vectors along that axis,
// with several sets of accumulators to hide latency, and combines lanes at the end. A reduction
// that is itself emitted as a vector (along a spatial axis) has one state a lane and needs no
// combining.
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <iterator>

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
  for (Value* v : carried) zeros.push_back(b_.Zero(v->getType()));
  return ForPolled(b_, I64(b_, 0), extent, kSumBlock, WorkOf(b_, turn, I64(b_, kSumBlock)),
                   axis->name, carried, [&](Value* from, const std::vector<Value*>& sums) {
                     Value* to = Min(b_, Add(b_, from, kSumBlock), extent);
                     std::vector<Value*> next = ForCarried(b_, from, to, 1, axis->name, zeros, one,
                                                           /*runs=*/b_.is_quick());
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
  return reducer.Finish(ReduceLoops(n, axes, 0, reducer.Identity(vector_.lanes), work,
                                    [&](const std::vector<Value*>& state) {
                                      return VectorStep(reducer, n, position, state, nullptr);
                                    }));
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
  if (const te::AxisNode* axis = b_.is_quick() ? nullptr : VectorReduceAxis(n)) {
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

// A scalar reduction by vectors along one of its axes: `ways` states of `lanes` lanes, and without
// masks a scalar one for the elements that fill no vector.
struct Emitter::AlongVector {
  const Node* n;
  const te::AxisNode* axis;
  Reducer reducer;
  const Node* position;  // of arg reductions, else null
  unsigned lanes, ways;
  bool masks;

  const Node* body() const { return n->operands[0]; }
  size_t scalar_state() const { return ways * reducer.width(); }  // where it begins
  // `width` values from `first` on; to the end where it is 0.
  static ReduceState Part(const std::vector<Value*>& carried, size_t first, size_t width = 0) {
    const auto begin = carried.begin() + static_cast<ptrdiff_t>(first);
    return {begin, width == 0 ? carried.end() : begin + static_cast<ptrdiff_t>(width)};
  }
  static void Put(const ReduceState& state, std::vector<Value*>& carried, size_t first) {
    std::ranges::copy(state, carried.begin() + static_cast<ptrdiff_t>(first));
  }
};

// The state after the vector of elements at the vector position; see Reducer::Step.
ReduceState Emitter::VectorStep(Reducer& reducer, const Node* n, const Node* position,
                                const ReduceState& state, Value* mask) {
  const Node* body = n->operands[0];
  const bool fuses = n->reduce == ReduceKind::kSum && body->kind == NodeKind::kBinary &&
                     body->binary == BinaryOp::kMultiply &&
                     (body->dtype == DType::kFloat32 || body->dtype == DType::kFloat64);
  Value* x = Vector(fuses ? body->operands[0] : body);
  if (!fuses) return reducer.Step(state, x, position ? Vector(position) : nullptr, mask);
  Value* next = b_.MulAdd(x, Vector(body->operands[1]), state[0]);
  return {mask == nullptr ? next : b_.CreateSelect(mask, next, state[0])};
}

// One step on the state in carried[first...], of the vector that begins at `base` of the axis.
void Emitter::StepAlongVector(AlongVector& r, std::vector<Value*>& carried, size_t first,
                              Value* base, Value* mask) {
  OpenScope();
  vector_ = {r.axis, base, r.lanes, mask};
  varies_.clear();
  const ReduceState state = AlongVector::Part(carried, first, r.reducer.width());
  AlongVector::Put(VectorStep(r.reducer, r.n, r.position, state, mask), carried, first);
  vector_ = {};
  CloseScope();
  // Values of this vector position must not be found by the next one.
  for (Values& scope : scopes_) scope.vector.clear();
}

// All elements of the axis: `ways` vectors a turn, then single ones, then what fills none.
std::vector<Value*> Emitter::LineAlongVector(AlongVector& r, Value* work,
                                             std::vector<Value*> state) {
  OpenScope();
  Value* extent = EmitDim(r.axis->extent);
  Value* done = I64(b_, 0);
  for (unsigned width = r.ways; width >= 1; width = width > 1 ? 1 : 0) {
    Value* end = b_.CreateAnd(extent, b_.getInt64(~(uint64_t{width} * r.lanes - 1)));
    state = ForPolled(b_, done, end, width * r.lanes, WorkOf(b_, work, I64(b_, width)),
                      r.axis->name, state, [&](Value* i, std::vector<Value*> s) {
                        for (unsigned w = 0; w < width; ++w) {
                          StepAlongVector(r, s, w * r.reducer.width(),
                                          Add(b_, i, int64_t{w} * r.lanes), nullptr);
                        }
                        return s;
                      });
    done = end;
  }
  const auto tail = [&](Value* i, std::vector<Value*> s) {
    if (r.masks) {
      StepAlongVector(r, s, 0, i, MaskBelow(b_, b_.CreateSub(extent, i), r.lanes));
      return s;
    }
    OpenScope();
    BindAxis(r.axis, i);
    const ReduceState before = AlongVector::Part(s, r.scalar_state());
    Value* x = Scalar(r.body());
    Value* position = r.position ? Scalar(r.position) : nullptr;
    AlongVector::Put(r.reducer.Step(before, x, position, nullptr), s, r.scalar_state());
    CloseScope();
    return s;
  };
  state = ForCarried(b_, done, extent, r.masks ? r.lanes : 1, r.axis->name, state, tail);
  CloseScope();
  return state;
}

Value* Emitter::ReduceAlongVector(const Node* n, const te::AxisNode* axis) {
  const Node* body = n->operands[0];
  Reducer reducer(n, *ops_, b_);
  unsigned lanes = LanesFor(body);
  const bool is_const = axis->extent.is_const();
  while (is_const && lanes > 2 && static_cast<int64_t>(lanes) > axis->extent.value()) lanes /= 2;
  // How many vectors a turn of the main loop takes.
  const uint64_t cost = CostAlong(body, axis);
  unsigned ways = cost < 24 ? 4 : (cost < 80 ? 2 : 1);
  if (reducer.is_arg()) ways = std::min(ways, 2u);
  while (is_const && ways > 1 && int64_t{ways} * lanes > axis->extent.value()) ways /= 2;
  const Node* position = reducer.is_arg() ? PositionOf(graph_, n) : nullptr;
  AlongVector r{n, axis, std::move(reducer), position, lanes, ways, b_.machine().masks};

  std::vector<const te::AxisNode*> outer = n->axes;
  std::erase(outer, axis);
  std::vector<Value*> carried;
  for (unsigned w = 0; w < ways; ++w)
    std::ranges::copy(r.reducer.Identity(lanes), std::back_inserter(carried));
  if (!r.masks) std::ranges::copy(r.reducer.Identity(0), std::back_inserter(carried));
  Value* work = EmitWork(body);
  Value* line = WorkOf(b_, work, EmitDim(axis->extent));
  carried = ReduceLoops(n, outer, 0, carried, line, [&](const std::vector<Value*>& initial) {
    return LineAlongVector(r, work, initial);
  });

  std::vector<ReduceState> parts;
  for (unsigned w = 0; w < ways; ++w)
    parts.push_back(AlongVector::Part(carried, w * r.reducer.width(), r.reducer.width()));
  while (parts.size() > 1) {
    const size_t half = parts.size() / 2;
    for (size_t i = 0; i < half; ++i) parts[i] = r.reducer.Combine(parts[i], parts[i + half]);
    parts.resize(half);
  }
  ReduceState result = r.reducer.Horizontal(parts[0]);
  if (!r.masks) result = r.reducer.Combine(result, AlongVector::Part(carried, r.scalar_state()));
  return r.reducer.Finish(result);
}

// --- Several sums in one loop ---

void Emitter::SumTogether(const std::vector<const Node*>& sums, const VectorAxis* axis) {
  UseVectorAxis(axis == nullptr ? VectorAxis() : *axis);
  const te::AxisNode* along = axis == nullptr ? VectorReduceAxis(sums[0]) : nullptr;
  const bool all_along = std::ranges::all_of(
      sums, [&](const Node* n) { return axis != nullptr || VectorReduceAxis(n) == along; });
  std::vector<Value*> results;
  if (along != nullptr && all_along) {
    results = SumAlongVector(sums, along);
  } else {
    std::vector<Reducer> reducers;
    for (const Node* n : sums) {
      reducers.emplace_back(n, *ops_, b_);
      results.push_back(
          b_.Zero(reducers.back().Identity(axis == nullptr ? 0 : axis->lanes)[0]->getType()));
    }
    const auto step = [&](std::vector<Value*> state) {
      if (axis != nullptr) SplatFactors(sums);
      for (size_t i = 0; i < sums.size(); ++i) {
        state[i] =
            axis != nullptr
                ? VectorStep(reducers[i], sums[i], nullptr, {state[i]}, nullptr)[0]
                : reducers[i].Step({state[i]}, Scalar(sums[i]->operands[0]), nullptr, nullptr)[0];
      }
      return state;
    };
    results = ReduceLoops(sums[0], sums[0]->axes, 0, results, EmitWork(sums[0]->operands[0]), step);
  }
  Values& scope = scopes_.back();
  for (size_t i = 0; i < sums.size(); ++i)
    (axis == nullptr ? scope.scalar : scope.vector)[sums[i]] = results[i];
}

// Factors that all lanes share are made vectors in a block of its own: LLVM's quick selection of
// instructions leaves all of a block before such to the slow one.
void Emitter::SplatFactors(const std::vector<const Node*>& sums) {
  std::vector<const Node*> factors;
  for (const Node* n : sums) {
    for (const Node* factor : n->operands[0]->operands) {
      if (!Varies(factor) && std::ranges::find(factors, factor) == factors.end())
        factors.push_back(factor);
    }
  }
  if (factors.empty()) return;
  for (const Node* factor : factors) Scalar(factor);
  NextBlock(b_, "splat");
  for (const Node* factor : factors) Vector(factor);
  NextBlock(b_, "step");
}

// As vectors along `axis`, which is one of the sums'; what fills none is summed by itself.
std::vector<Value*> Emitter::SumAlongVector(const std::vector<const Node*>& sums,
                                            const te::AxisNode* axis) {
  const size_t count = sums.size();
  const unsigned lanes = LanesFor(sums[0]->operands[0], axis->extent);
  const bool has_rest = !axis->extent.is_const() || axis->extent.value() % lanes != 0;
  std::vector<Reducer> reducers;
  std::vector<Value*> state, singles;
  for (const Node* n : sums) {
    reducers.emplace_back(n, *ops_, b_);
    state.push_back(b_.Zero(reducers.back().Identity(lanes)[0]->getType()));
    singles.push_back(reducers.back().Identity(0)[0]);
  }
  if (has_rest) state.insert(state.end(), singles.begin(), singles.end());
  std::vector<const te::AxisNode*> outer = sums[0]->axes;
  std::erase(outer, axis);
  Value* work = EmitWork(sums[0]->operands[0]);
  const auto line = [&](const std::vector<Value*>& initial) {
    OpenScope();
    Value* extent = EmitDim(axis->extent);
    Value* whole = b_.CreateAnd(extent, b_.getInt64(~(uint64_t{lanes} - 1)));
    const auto vectors = [&](Value* i, std::vector<Value*> s) {
      OpenScope();
      vector_ = {axis, i, lanes, nullptr};
      varies_.clear();
      for (size_t n = 0; n < count; ++n)
        s[n] = VectorStep(reducers[n], sums[n], nullptr, {s[n]}, nullptr)[0];
      vector_ = {};
      CloseScope();
      for (Values& scope : scopes_) scope.vector.clear();
      return s;
    };
    std::vector<Value*> s =
        ForPolled(b_, I64(b_, 0), whole, lanes, work, axis->name, initial, vectors);
    if (has_rest) {
      s = ForCarried(b_, whole, extent, 1, axis->name, s, [&](Value* i, std::vector<Value*> rest) {
        OpenScope();
        BindAxis(axis, i);
        for (size_t n = 0; n < count; ++n) {
          Value* x = Scalar(sums[n]->operands[0]);
          rest[count + n] = reducers[n].Step({rest[count + n]}, x, nullptr, nullptr)[0];
        }
        CloseScope();
        return rest;
      });
    }
    CloseScope();
    return s;
  };
  state = ReduceLoops(sums[0], outer, 0, state, WorkOf(b_, work, EmitDim(axis->extent)), line);
  if (has_rest) singles.assign(state.begin() + static_cast<ptrdiff_t>(count), state.end());
  state.resize(count);
  return SumOfLanes(reducers, state, singles);
}

// `sums` and all lanes of each vector, through memory: one loop is less code than shuffles.
std::vector<Value*> Emitter::SumOfLanes(std::vector<Reducer>& reducers,
                                        const std::vector<Value*>& vectors,
                                        std::vector<Value*> sums) {
  auto* type = llvm::cast<llvm::FixedVectorType>(vectors[0]->getType());
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  Value* memory = llvm::IRBuilder<>(&entry, entry.begin())
                      .CreateAlloca(llvm::ArrayType::get(type, vectors.size()));
  for (size_t n = 0; n < vectors.size(); ++n)
    b_.CreateStore(vectors[n], At(b_, type, memory, static_cast<int64_t>(n)));
  const unsigned lanes = type->getNumElements();
  return ForCarried(b_, I64(b_, 0), I64(b_, lanes), 1, "lane", std::move(sums),
                    [&](Value* lane, std::vector<Value*> s) {
                      for (size_t n = 0; n < vectors.size(); ++n) {
                        Value* at = Add(b_, lane, static_cast<int64_t>(n * lanes));
                        Value* x = b_.CreateLoad(type->getElementType(),
                                                 At(b_, type->getElementType(), memory, at));
                        s[n] = reducers[n].Step({s[n]}, x, nullptr, nullptr)[0];
                      }
                      return s;
                    });
}

}  // namespace relayvm::codegen

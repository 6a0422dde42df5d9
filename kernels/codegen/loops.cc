#include "kernels/codegen/loops.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_set>

#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/loop_transforms.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

class LoopEmitter {
 public:
  LoopEmitter(LoopPlan& plan, const LoopSection& section, Emitter& emitter, Builder& builder)
      : graph_(plan.graph),
        section_(section),
        may_repeat_(plan.in_place.empty()),
        quick_(plan.quick),
        emitter_(emitter),
        b_(builder) {}

  void Run(Value* begin, Value* end) {
    if (quick_) return RunQuick(begin, end);
    emitter_.OpenScope();
    // Unit indices are decoded once, then counted up with carries.
    std::vector<const te::AxisNode*> axes(section_.unit_axes);
    std::vector<Value*> extents;
    extents.reserve(axes.size() + 1);
    for (const te::AxisNode* axis : axes) extents.push_back(emitter_.EmitDim(axis->extent));
    if (section_.block != 0) {
      Value* extent = emitter_.EmitDim(section_.nests[0].axes.front()->extent);
      extents.push_back(CeilDiv(b_, extent, section_.block));
    }
    std::vector<Value*> first(extents.size());
    Value* rest = begin;
    for (size_t i = extents.size(); i-- > 0;) {
      if (i == 0) {
        first[i] = rest;
        continue;
      }
      // A unit exists only when no extent is 0; the division must not trap before that is known.
      Value* divisor = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, extents[i], I64(b_, 1));
      first[i] = Rem(b_, rest, divisor);
      rest = Div(b_, rest, divisor);
    }
    if (extents.empty()) {
      For(b_, begin, end, 1, "unit", [&](Value*) { EmitUnit(nullptr); });
      emitter_.CloseScope();
      return;
    }
    Value* work = I64(b_, 0);
    for (const LoopNest& nest : section_.nests) {
      work =
          Add(b_, work, TurnWork(nest, 0, section_.block != 0 ? I64(b_, section_.block) : nullptr));
    }
    work = WorkOf(b_, work, I64(b_, 1));
    auto unit = [&](Value*, const std::vector<Value*>& index) {
      emitter_.OpenScope();
      for (size_t i = 0; i < axes.size(); ++i) emitter_.BindAxis(axes[i], index[i]);
      EmitUnit(section_.block != 0 ? index.back() : nullptr);
      emitter_.CloseScope();
      return Next(index, extents);
    };
    ForPolled(b_, begin, end, 1, work, "unit", first, unit);
    emitter_.CloseScope();
  }

 private:
  // Each unit polls, as do long loops of one; it is found by dividing.
  void RunQuick(Value* begin, Value* end) {
    For(b_, begin, end, 1, "unit", [&](Value* unit) {
      Poll(b_);
      emitter_.OpenScope();
      Value* block = nullptr;
      Value* rest = unit;
      if (section_.block != 0) {
        Value* extent = emitter_.EmitDim(section_.nests[0].axes.front()->extent);
        Value* blocks = CeilDiv(b_, extent, section_.block);
        block = section_.unit_axes.empty() ? rest : Rem(b_, rest, blocks);
        rest = Div(b_, rest, blocks);
      }
      for (size_t i = section_.unit_axes.size(); i-- > 0;) {
        const te::AxisNode* axis = section_.unit_axes[i];
        Value* extent = emitter_.EmitDim(axis->extent);
        emitter_.BindAxis(axis, i == 0 ? rest : Rem(b_, rest, extent));
        if (i != 0) rest = Div(b_, rest, extent);
      }
      EmitUnit(block);
      emitter_.CloseScope();
    });
  }

  // Of a loop that polls nothing by itself.
  static bool IsShort(const te::AxisNode& axis) {
    constexpr int64_t kShort = 1 << 12;
    return axis.extent.is_const() && axis.extent.value() <= kShort;
  }

  // One loop of vectors, without masks. Where elements may be computed twice the last vector ends
  // with the loop; else, and where there is no room for one, what fills none is computed by itself.
  void EmitQuickVectors(const LoopNest& nest, const te::AxisNode* axis, Value* first, Value* end) {
    unsigned lanes = 64;
    for (const LoopStore& store : nest.stores)
      lanes = std::min(lanes, emitter_.LanesFor(store.value, axis->extent));
    Value* count = Sub(b_, end, first);
    Value* last = Sub(b_, end, I64(b_, lanes));
    Value* whole = may_repeat_
                       ? b_.CreateSelect(b_.CreateICmpSLT(count, I64(b_, lanes)), first, end)
                       : Add(b_, first, b_.CreateAnd(count, b_.getInt64(~(uint64_t{lanes} - 1))));
    const auto turn = [&](Value* i) {
      EmitVector(nest, {axis, may_repeat_ ? Min(b_, i, last) : i, lanes, nullptr});
    };
    if (IsShort(*axis)) {
      For(b_, first, whole, lanes, axis->name, turn);
    } else {
      Value* work = WorkOf(b_, TurnWork(nest, nest.axes.size()), I64(b_, lanes));
      ForPolled(b_, first, whole, lanes, work, axis->name, turn);
    }
    For(b_, whole, end, 1, axis->name, [&](Value* i) {
      emitter_.OpenScope();
      emitter_.BindAxis(axis, i);
      EmitScalar(nest);
      emitter_.CloseScope();
    });
  }

  // Sums of products over the same axes are computed in one loop: see TakeProductsTogether.
  void EmitSums(const LoopNest& nest, const VectorAxis* axis) {
    if (!quick_) return;
    std::vector<const Node*> sums;
    const auto is_bound = [&](const te::AxisNode* a) {
      return std::ranges::find(nest.axes, a) != nest.axes.end() ||
             std::ranges::find(section_.unit_axes, a) != section_.unit_axes.end();
    };
    std::vector<const Node*> values;
    for (const LoopStore& store : nest.stores) values.push_back(store.value);
    ForEachNode(values, [&](const Node* n) {
      if (n->kind != NodeKind::kReduce || n->reduce != te::ReduceKind::kSum || !n->safe) return;
      const Node* body = n->operands[0];
      if (body->kind != NodeKind::kBinary || body->binary != te::BinaryOp::kMultiply) return;
      if (!sums.empty() && n->axes != sums[0]->axes) return;
      if (std::ranges::all_of(n->free_axes, is_bound)) sums.push_back(n);
    });
    if (!sums.empty()) emitter_.SumTogether(sums, axis);
  }

  // What the loops of a nest from `level` on do; `first`, if not null, stands for the extent of its
  // first axis.
  Value* TurnWork(const LoopNest& nest, size_t level, Value* first = nullptr) {
    Value* work = I64(b_, 1);
    for (const LoopStore& store : nest.stores) work = Add(b_, work, emitter_.EmitWork(store.value));
    work = WorkOf(b_, work, I64(b_, 1));
    for (size_t i = level; i < nest.axes.size(); ++i) {
      bool replaced = i == 0 && first != nullptr;
      work = WorkOf(b_, work, replaced ? first : emitter_.EmitDim(nest.axes[i]->extent));
    }
    return work;
  }

  std::vector<Value*> Next(std::vector<Value*> index, const std::vector<Value*>& extents) {
    for (size_t i = index.size(); i-- > 0;) {
      // Without a carry out of the axes behind, the index stays; the last one always counts.
      bool last = i + 1 == index.size();
      Value* counted = last ? Add(b_, index[i], 1) : index[i];
      if (!last) counted = b_.CreateAdd(index[i], b_.CreateZExt(carry_, b_.getInt64Ty()));
      if (i == 0) {
        index[i] = counted;
        break;
      }
      carry_ = b_.CreateICmpEQ(counted, extents[i]);
      index[i] = b_.CreateSelect(carry_, I64(b_, 0), counted);
    }
    return index;
  }

  void EmitUnit(Value* block) {
    for (const LoopNest& nest : section_.nests) {
      emitter_.OpenScope();
      EmitLevel(nest, 0, block);
      emitter_.CloseScope();
    }
  }

  // Numbers that are checked for every element, and are the same in the loops from `level` on, are
  // checked before these.
  void EmitChecks(const LoopNest& nest, size_t level) {
    std::vector<const Node*> work;
    std::unordered_set<const Node*> seen;
    for (const LoopStore& store : nest.stores) {
      work.push_back(store.value);
      while (!work.empty()) {
        const Node* n = work.back();
        work.pop_back();
        if (n->safe || !seen.insert(n).second || n->kind == NodeKind::kReduce) continue;
        // Of a select, the condition alone is evaluated for certain.
        const size_t count = n->kind == NodeKind::kSelect ? 1 : n->operands.size();
        for (size_t i = 0; i < count; ++i) work.push_back(n->operands[i]);
        if (n->kind != NodeKind::kChecked) continue;
        const bool is_same =
            std::all_of(nest.axes.begin() + static_cast<std::ptrdiff_t>(level), nest.axes.end(),
                        [&](const te::AxisNode* axis) { return !n->DependsOn(axis); });
        const bool is_safe =
            std::ranges::all_of(n->operands, [](const Node* operand) { return operand->safe; });
        if (is_same && is_safe) emitter_.EmitNode(n);
      }
    }
  }

  void EmitLevel(const LoopNest& nest, size_t level, Value* block) {
    if (level == nest.axes.size()) return EmitScalar(nest);
    if (!quick_) EmitChecks(nest, level);
    const te::AxisNode* axis = nest.axes[level];
    Value* first = I64(b_, 0);
    Value* end = emitter_.EmitDim(axis->extent);
    const bool is_cut = block != nullptr && level == 0;
    if (is_cut) {
      first = Mul(b_, block, section_.block);
      end = Min(b_, end, Add(b_, first, section_.block));
    }
    if (quick_) {
      if (nest.vectorise && level + 1 == nest.axes.size())
        return EmitQuickVectors(nest, axis, first, end);
      // A unit of several nests may be all that the kernel does.
      const bool polls = section_.nests.size() > 1 && level == 0 && nest.axes.size() > 1;
      const auto turn = [&](Value* i) {
        if (polls) Poll(b_);
        emitter_.OpenScope();
        emitter_.BindAxis(axis, i);
        EmitLevel(nest, level + 1, block);
        emitter_.CloseScope();
      };
      if (is_cut || polls || IsShort(*axis)) return For(b_, first, end, 1, axis->name, turn);
      return ForPolled(b_, first, end, 1, TurnWork(nest, level + 1), axis->name, turn);
    }
    // What both ends are multiples of: no code for a rest where there is none.
    int64_t multiple = axis->extent.is_const() ? axis->extent.value() : 1;
    if (is_cut) multiple = std::gcd(multiple, section_.block);
    if (nest.vectorise && level + 1 == nest.axes.size()) {
      if (!nest.transposed.empty()) return EmitVectors(nest, axis, first, end, multiple);
      const std::vector<Segment> segments = SegmentsOf(graph_, nest);
      if (segments.size() == 1 && segments[0].start.is_const(0) &&
          segments[0].end == axis->extent) {
        return EmitVectors(segments[0].nest, segments[0].nest.axes.back(), first, end, multiple);
      }
      for (const Segment& segment : segments) {
        Value* start = emitter_.EmitDim(segment.start);
        Value* from = Max(b_, first, start);
        Value* to = Max(b_, from, Min(b_, end, emitter_.EmitDim(segment.end)));
        EmitVectors(segment.nest, segment.nest.axes.back(), Sub(b_, from, start),
                    Sub(b_, to, start), 1);
      }
      return;
    }
    if (nest.interleaved && level + 2 == nest.axes.size())
      first = EmitInterleaved(nest, first, end);
    if (!nest.transposed.empty() && level + 2 == nest.axes.size())
      first = EmitTiles(nest, first, end, multiple);
    ForPolled(b_, first, end, 1, TurnWork(nest, level + 1), axis->name, [&](Value* i) {
      emitter_.OpenScope();
      emitter_.BindAxis(axis, i);
      EmitLevel(nest, level + 1, block);
      emitter_.CloseScope();
    });
  }

  // Whole tiles along the axis before the last from `first` on; gives where the rest begins.
  Value* EmitTiles(const LoopNest& nest, Value* first, Value* end, int64_t multiple) {
    const te::AxisNode* along = nest.axes[nest.axes.size() - 2];
    const te::AxisNode* axis = nest.axes.back();
    unsigned lanes = 16;
    for (const LoopStore& store : nest.stores)
      lanes = std::min(lanes, emitter_.LanesFor(store.value));
    Value* extent = emitter_.EmitDim(axis->extent);
    auto whole = [&](Value* from, Value* to) {
      return Add(b_, from, b_.CreateAnd(b_.CreateSub(to, from), b_.getInt64(~uint64_t{lanes - 1})));
    };
    Value* limit = multiple % lanes == 0 ? end : whole(first, end);
    Value* vector_limit = whole(I64(b_, 0), extent);
    Value* strip = WorkOf(b_, TurnWork(nest, nest.axes.size() - 1), I64(b_, lanes));
    ForPolled(b_, first, limit, lanes, strip, along->name, [&](Value* a) {
      For(b_, I64(b_, 0), vector_limit, lanes, axis->name,
          [&](Value* v) { EmitTile(nest, along, a, {axis, v, lanes, nullptr}, nullptr); });
      if (b_.machine().masks) {
        For(b_, vector_limit, extent, lanes, axis->name, [&](Value* v) {
          Value* left = b_.CreateSub(extent, v);
          EmitTile(nest, along, a, {axis, v, lanes, MaskBelow(b_, left, lanes)}, left);
        });
        return;
      }
      For(b_, a, Add(b_, a, static_cast<int64_t>(lanes)), 1, along->name, [&](Value* row) {
        For(b_, vector_limit, extent, 1, axis->name, [&](Value* v) {
          emitter_.OpenScope();
          emitter_.BindAxis(along, row);
          emitter_.BindAxis(axis, v);
          EmitScalar(nest);
          emitter_.CloseScope();
        });
      });
    });
    return limit;
  }

  void EmitTile(const LoopNest& nest, const te::AxisNode* along, Value* first,
                const VectorAxis& axis, Value* left) {
    emitter_.OpenScope();
    std::vector<std::vector<Value*>> tiles;
    for (const Node* load : nest.transposed)
      tiles.push_back(emitter_.LoadTransposed(load, along, first, axis, left));
    auto row = [&](Value* i, const std::vector<Value*>& vectors) {
      emitter_.OpenScope();
      emitter_.BindAxis(along, Add(b_, first, i));
      for (size_t t = 0; t < vectors.size(); ++t)
        emitter_.SetVector(nest.transposed[t], vectors[t]);
      EmitVector(nest, axis);
      emitter_.CloseScope();
    };
    if (IsLong(nest)) {
      EmitRowsInTurn(tiles, row);
    } else {
      for (unsigned i = 0; i < axis.lanes; ++i) {
        std::vector<Value*> vectors;
        for (const std::vector<Value*>& tile : tiles) vectors.push_back(tile[i]);
        row(I64(b_, i), vectors);
      }
    }
    emitter_.CloseScope();
  }

  // Whether what is computed of a tile takes so long that storing the tile and loading it once more
  // is nothing beside it.
  static bool IsLong(const LoopNest& nest) {
    constexpr uint64_t kLong = 8;
    uint64_t cost = 0;
    for (const LoopStore& store : nest.stores) cost += CostAlong(store.value, nest.axes.back());
    return cost > kLong;
  }

  // The rows of all tiles through memory, in a loop: what is computed of them is written once.
  void EmitRowsInTurn(const std::vector<std::vector<Value*>>& tiles,
                      const std::function<void(Value*, const std::vector<Value*>&)>& row) {
    std::vector<Value*> memory;
    for (const std::vector<Value*>& tile : tiles) {
      llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
      llvm::Type* type = tile[0]->getType();
      memory.push_back(llvm::IRBuilder<>(&entry, entry.begin())
                           .CreateAlloca(llvm::ArrayType::get(type, tile.size())));
      for (size_t i = 0; i < tile.size(); ++i)
        b_.CreateStore(tile[i], At(b_, type, memory.back(), static_cast<int64_t>(i)));
    }
    const auto count = static_cast<int64_t>(tiles[0].size());
    For(b_, I64(b_, 0), I64(b_, count), 1, "tile.row", [&](Value* i) {
      std::vector<Value*> vectors;
      for (size_t t = 0; t < tiles.size(); ++t) {
        llvm::Type* type = tiles[t][0]->getType();
        vectors.push_back(b_.CreateLoad(type, At(b_, type, memory[t], i)));
      }
      row(i, vectors);
    });
  }

  // Whole vectors along the axis before the last from `first` on; gives where the rest begins.
  Value* EmitInterleaved(const LoopNest& nest, Value* first, Value* end) {
    const te::AxisNode* along = nest.axes[nest.axes.size() - 2];
    unsigned widest = 16;
    for (const LoopStore& store : nest.stores)
      widest = std::min(widest, emitter_.LanesFor(store.value));
    for (unsigned lanes : {widest, 4u}) {
      if (lanes > widest) break;
      Value* limit =
          Add(b_, first, b_.CreateAnd(b_.CreateSub(end, first), b_.getInt64(~uint64_t{lanes - 1})));
      Value* work = WorkOf(b_, TurnWork(nest, nest.axes.size() - 1), I64(b_, lanes));
      ForPolled(b_, first, limit, lanes, work, along->name,
                [&](Value* i) { EmitInTurn(nest, {along, i, lanes, nullptr}); });
      first = limit;
      if (lanes == 4) break;
    }
    return first;
  }

  // A vector along `along` for each element of the last axis, and their elements in turn.
  void EmitInTurn(const LoopNest& nest, const VectorAxis& along) {
    const te::AxisNode* last = nest.axes.back();
    auto ways = static_cast<unsigned>(last->extent.value());
    std::vector<std::vector<Value*>> parts(nest.stores.size());
    for (unsigned i = 0; i < ways; ++i) {
      emitter_.OpenScope();
      emitter_.BindAxis(last, I64(b_, i));
      for (size_t s = 0; s < parts.size(); ++s)
        parts[s].push_back(emitter_.EmitNodeVector(nest.stores[s].value, along));
      emitter_.CloseScope();
    }
    emitter_.OpenScope();
    emitter_.BindAxis(along.axis, along.base);
    emitter_.BindAxis(last, I64(b_, 0));
    for (size_t s = 0; s < parts.size(); ++s) {
      emitter_.StoreAt(nest.stores[s].target, nest.stores[s].index, InTurn(parts[s], along.lanes),
                       nullptr);
    }
    emitter_.CloseScope();
  }

  // The elements of two to four vectors in turn: the first of each, the second of each, and so on.
  Value* InTurn(std::vector<Value*> parts, unsigned lanes) {
    auto ways = static_cast<unsigned>(parts.size());
    // Joined as a tree: shuffles take two vectors of one length.
    unsigned joined = 1;
    while (joined < ways) joined *= 2;
    parts.resize(joined, llvm::PoisonValue::get(parts[0]->getType()));
    for (unsigned size = lanes; parts.size() > 1; size *= 2) {
      std::vector<int> all(size_t{2} * size);
      std::iota(all.begin(), all.end(), 0);
      for (size_t i = 0; 2 * i < parts.size(); ++i)
        parts[i] = b_.CreateShuffleVector(parts[2 * i], parts[2 * i + 1], all);
      parts.resize(parts.size() / 2);
    }
    std::vector<int> order;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned part = 0; part < ways; ++part)
        order.push_back(static_cast<int>(part * lanes + lane));
    }
    return b_.CreateShuffleVector(parts[0], order);
  }

  // All values come before all stores, so that an output may have an input's memory.
  void EmitScalar(const LoopNest& nest) {
    EmitSums(nest, nullptr);
    std::vector<Value*> values;
    for (const LoopStore& store : nest.stores) values.push_back(emitter_.EmitNode(store.value));
    for (size_t i = 0; i < values.size(); ++i) {
      emitter_.StoreAt(nest.stores[i].target, nest.stores[i].index, values[i], nullptr);
    }
  }

  void EmitVector(const LoopNest& nest, const VectorAxis& axis) {
    emitter_.OpenScope();
    EmitSums(nest, &axis);
    std::vector<Value*> values;
    for (const LoopStore& store : nest.stores)
      values.push_back(emitter_.EmitNodeVector(store.value, axis));
    for (size_t i = 0; i < values.size(); ++i) {
      emitter_.StoreAt(nest.stores[i].target, nest.stores[i].index, values[i], &axis);
    }
    emitter_.CloseScope();
  }

  // `multiple`: of it are both ends.
  void EmitVectors(const LoopNest& nest, const te::AxisNode* axis, Value* first, Value* end,
                   int64_t multiple) {
    unsigned lanes = 64;
    uint64_t cost = 0;
    bool reduces = false, guards = false;
    for (const LoopStore& store : nest.stores) {
      lanes = std::min(lanes, emitter_.LanesFor(store.value));
      cost += CostAlong(store.value, axis);
      ForEachNode({store.value}, [&](const Node* n) {
        reduces = reduces || n->kind == NodeKind::kReduce;
        guards = guards || (n->kind == NodeKind::kSelect && n->operands[0]->DependsOn(axis));
      });
    }
    bool masks = b_.machine().masks;
    bool is_const = axis->extent.is_const();
    int64_t extent = is_const ? axis->extent.value() : 0;
    while (is_const && lanes > 2 &&
           (masks ? static_cast<int64_t>(lanes / 2) >= extent
                  : static_cast<int64_t>(lanes) > extent)) {
      lanes /= 2;
    }
    // Several vectors at once: for a reduction independent chains of additions, for cheap bodies
    // fewer turns.
    // Without masks a vector with lanes outside is slow, and the longer the more of them there are.
    unsigned wide = guards && !masks ? 1 : reduces ? 4 : (cost <= 8 ? 2 : 1);
    while (is_const && wide > 1 && int64_t{wide} * lanes > extent) wide /= 2;

    auto whole = [&](unsigned unit) {
      if (multiple % unit == 0) return end;
      return Add(b_, first,
                 b_.CreateAnd(b_.CreateSub(end, first), b_.getInt64(~uint64_t{unit - 1})));
    };
    Value* done = first;
    for (unsigned ways = wide;; ways = 1) {
      Value* limit = whole(ways * lanes);
      Value* work = WorkOf(b_, TurnWork(nest, nest.axes.size()), I64(b_, ways));
      ForPolled(b_, done, limit, ways * lanes, work, axis->name,
                [&](Value* i) { EmitVector(nest, {axis, i, ways * lanes, nullptr}); });
      done = limit;
      if (ways == 1) break;
    }
    // A vector of what is left stores no more than that: where the output has an input's memory, a
    // load behind a masked store that reaches into it waits for that.
    const unsigned left = is_const ? static_cast<unsigned>(extent % lanes) : 0;
    if (masks && left >= 4 && std::has_single_bit(left) && IsConst(first, 0) &&
        ConstantOf(end) == extent) {
      EmitVector(nest, {axis, done, left, nullptr});
      return;
    }
    if (masks) {
      For(b_, done, end, lanes, axis->name, [&](Value* i) {
        EmitVector(nest, {axis, i, lanes, MaskBelow(b_, b_.CreateSub(end, i), lanes)});
      });
      return;
    }
    // The last vector has some of the one before once more.
    const std::optional<int64_t> from = ConstantOf(first), to = ConstantOf(end);
    if (reduces && may_repeat_ && from && to && *to - *from >= int64_t{lanes}) {
      if ((*to - *from) % lanes != 0)
        EmitVector(nest, {axis, I64(b_, *to - lanes), lanes, nullptr});
      return;
    }
    For(b_, done, end, 1, axis->name, [&](Value* i) {
      emitter_.OpenScope();
      emitter_.BindAxis(axis, i);
      EmitScalar(nest);
      emitter_.CloseScope();
    });
  }

  Graph& graph_;
  const LoopSection& section_;
  const bool may_repeat_;  // an element may be computed and stored twice
  const bool quick_;       // LoopPlan::quick
  Emitter& emitter_;
  Builder& b_;
  Value* carry_ = nullptr;
};

Value* AllocateNumber(Emitter& emitter, Builder& builder, DType dtype) {
  llvm::BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(emitter.MemoryType(dtype));
}

}  // namespace

void EmitLoops(LoopPlan& plan, Emitter& emitter, Builder& builder, Value* begin, Value* end,
               Value* scratch) {
  for (const LoopPlan::Scratch& s : plan.scratch) {
    // A single number becomes a register, so that what is made of it alone leaves the loops.
    emitter.BindBuffer(s.tensor, s.is_number ? AllocateNumber(emitter, builder, s.tensor->dtype)
                                             : At(builder, builder.getInt8Ty(), scratch,
                                                  emitter.EmitDim(s.offset)));
  }
  if (plan.sections.size() == 1) {
    LoopEmitter(plan, plan.sections[0], emitter, builder).Run(begin, end);
    return;
  }
  Value* start = I64(builder, 0);
  for (const LoopSection& section : plan.sections) {
    Value* units = emitter.EmitDim(section.units);
    const auto within = [&](Value* unit) {
      return Max(builder, Min(builder, builder.CreateSub(unit, start), units), I64(builder, 0));
    };
    LoopEmitter(plan, section, emitter, builder).Run(within(begin), within(end));
    start = Add(builder, start, units);
  }
}

}  // namespace relayvm::codegen

#include "kernels/codegen/loop_transforms.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "kernels/codegen/quick.h"

namespace relayvm::codegen {

using te::BinaryOp;

Stride StrideOf(const Node* index, const te::AxisNode* axis) {
  if (!index->DependsOn(axis)) return Stride::kNone;
  if (index->kind == NodeKind::kAxis) return Stride::kOne;
  if (index->kind != NodeKind::kLinear) return Stride::kIrregular;
  Stride stride = Stride::kNone;
  for (size_t i = 0; i < index->operands.size(); ++i) {
    const Node* term = index->operands[i];
    if (!term->DependsOn(axis)) continue;
    if (term->kind != NodeKind::kAxis) return Stride::kIrregular;
    stride = index->coefficients[i].is_const(1) ? Stride::kOne : Stride::kOther;
  }
  return stride;
}

namespace {

using AxisList = std::vector<const te::AxisNode*>;

std::vector<const Node*> RootsOf(const LoopNest& nest) {
  std::vector<const Node*> roots;
  for (const LoopStore& store : nest.stores) {
    roots.push_back(store.value);
    roots.push_back(store.index);
  }
  return roots;
}

void SubstituteAll(Graph& graph, LoopNest& nest,
                   const std::unordered_map<const te::AxisNode*, const Node*>& axes) {
  for (LoopStore& store : nest.stores) {
    store.value = graph.Substitute(store.value, axes);
    store.index = graph.Substitute(store.index, axes);
  }
}

// --- Merging ---

// The coefficient of `axis` in sum n; 0 when absent.
Dim CoefficientOf(const Node* n, const te::AxisNode* axis) {
  if (n->kind == NodeKind::kAxis) return Dim(n->axis == axis ? 1 : 0);
  if (n->kind != NodeKind::kLinear) return Dim(0);
  for (size_t i = 0; i < n->operands.size(); ++i) {
    if (n->operands[i]->kind == NodeKind::kAxis && n->operands[i]->axis == axis)
      return n->coefficients[i];
  }
  return Dim(0);
}

// Whether a*extent(b) + b can stand for the two wherever they occur below `roots`.
bool CanMerge(const std::vector<const Node*>& roots, const te::AxisNode* a, const te::AxisNode* b) {
  bool can = true;
  auto check_sum = [&](const Node* sum) {
    can = can && CoefficientOf(sum, a) == CoefficientOf(sum, b) * b->extent;
  };
  for (const Node* root : roots) {
    if (root->kind == NodeKind::kAxis) check_sum(root);
  }
  ForEachNode(roots, [&](const Node* n) {
    if (!can) return;
    if (n->kind == NodeKind::kLinear) return check_sum(n);
    for (const Node* operand : n->operands) {
      if (operand->kind == NodeKind::kAxis) check_sum(operand);
    }
  });
  return can;
}

// The axis that stands for a pair, the same each time: a reduction that several stores hold, of its
// own and inside others, stays one node, and is computed once.
class MergedAxes {
 public:
  explicit MergedAxes(Graph& graph) : graph_(graph) {}
  const te::AxisNode* Of(const te::AxisNode* a, const te::AxisNode* b) {
    const te::AxisNode*& merged = of_[{a, b}];
    if (merged == nullptr) merged = graph_.NewAxis(a->name + b->name, a->extent * b->extent);
    return merged;
  }

 private:
  Graph& graph_;
  std::map<std::pair<const te::AxisNode*, const te::AxisNode*>, const te::AxisNode*> of_;
};

// Replaces each run of adjacent axes that can merge by one axis. In every sum the run is then a
// multiple of that axis: of its last axis, with zero for the others.
std::unordered_map<const te::AxisNode*, const Node*> MergeRuns(
    Graph& graph, const std::vector<const Node*>& roots, AxisList& axes, MergedAxes& merged_axes) {
  std::unordered_map<const te::AxisNode*, const Node*> replaced;
  AxisList merged;
  for (size_t first = 0, last = 0; first < axes.size(); first = ++last) {
    const te::AxisNode* run = axes[first];
    for (; last + 1 < axes.size() && CanMerge(roots, axes[last], axes[last + 1]); ++last) {
      run = merged_axes.Of(run, axes[last + 1]);
      replaced[axes[last]] = graph.DimOf(Dim(0));
    }
    if (last > first) replaced[axes[last]] = graph.Axis(run);
    merged.push_back(run);
  }
  axes = std::move(merged);
  return replaced;
}

void DropUnitAxes(AxisList& axes) {
  std::erase_if(axes, [](const te::AxisNode* a) { return a->extent.is_const(1); });
}

void MergeAxes(Graph& graph, LoopNest& nest) {
  MergedAxes merged(graph);
  DropUnitAxes(nest.axes);
  const auto replaced = MergeRuns(graph, RootsOf(nest), nest.axes, merged);
  if (!replaced.empty()) SubstituteAll(graph, nest, replaced);
}

// Inside reductions, likewise. The position of an arg reduction is row-major, which merging keeps.
const Node* MergeReduceAxes(Graph& graph, MergedAxes& merged, const Node* root) {
  return graph.Rewrite(root, [&](const Node* n) -> const Node* {
    if (n->kind != NodeKind::kReduce) return nullptr;
    AxisList axes = n->axes;
    const Node* body = n->operands[0];
    bool is_arg = n->reduce == te::ReduceKind::kArgMax || n->reduce == te::ReduceKind::kArgMin;
    DropUnitAxes(axes);
    const auto replaced = MergeRuns(graph, {body}, axes, merged);
    if (!replaced.empty()) body = graph.Substitute(body, replaced);
    if (axes == n->axes) return nullptr;
    if (axes.empty()) {
      // One element: the reduction is its body, but for the NaN that kMax and kMin ignore and the 0
      // and 1 of kAll and kAny.
      if (n->reduce == te::ReduceKind::kSum || n->reduce == te::ReduceKind::kProd) return body;
      if (is_arg) return graph.Int(0, n->dtype);
      axes = {n->axes[0]};
    }
    return graph.Reduce(n->reduce, body, std::move(axes), n->dtype, n->select_last);
  });
}

// --- Splitting ---

// An axis that is divided by d, where d divides its extent, becomes two: a = outer * d + inner.
bool SplitOne(Graph& graph, LoopNest& nest, int64_t least) {
  const te::AxisNode* axis = nullptr;
  Dim divisor;
  ForEachNode(RootsOf(nest), [&](const Node* n) {
    if (axis != nullptr || n->kind != NodeKind::kBinary || n->dtype != DType::kInt64) return;
    if (n->binary != BinaryOp::kFloorDivide && n->binary != BinaryOp::kFloorMod) return;
    const Node* x = n->operands[0];
    const Node* d = n->operands[1];
    if (x->kind != NodeKind::kAxis || d->kind != NodeKind::kLinear || !d->operands.empty()) return;
    if (std::find(nest.axes.begin(), nest.axes.end(), x->axis) == nest.axes.end()) return;
    auto low = d->dim.LowerBound();
    if (!low || *low < 0 || d->dim.is_const(0)) return;
    if (!Dim::FloorMod(x->axis->extent, d->dim).is_const(0)) return;
    if (d->dim.is_const() && d->dim.value() < least && !(x->axis->extent == d->dim)) return;
    axis = x->axis;
    divisor = d->dim;
  });
  if (axis == nullptr) return false;
  const te::AxisNode* outer = graph.NewAxis(axis->name + "o", Dim::FloorDiv(axis->extent, divisor));
  const te::AxisNode* inner = graph.NewAxis(axis->name + "i", divisor);
  const Node* sum = graph.Add(graph.Scale(graph.Axis(outer), divisor), graph.Axis(inner));
  auto at = std::find(nest.axes.begin(), nest.axes.end(), axis);
  *at = outer;
  nest.axes.insert(at + 1, inner);
  SubstituteAll(graph, nest, {{axis, sum}});
  return true;
}

// --- Vectors ---

// Whether n divides sizes or indices: slow where its operands vary.
bool DividesIndex(const Node* n) {
  return n->kind == NodeKind::kBinary && n->dtype == DType::kInt64 &&
         n->binary >= BinaryOp::kDivide && n->binary <= BinaryOp::kFloorMod;
}

struct VectorScore {
  int gathers = 0;  // loads that are not contiguous, and divisions of what varies
  int contiguous = 0;
  bool stores = true;  // all stores are contiguous
};

VectorScore ScoreOf(const LoopNest& nest, const te::AxisNode* axis) {
  VectorScore score;
  for (const LoopStore& store : nest.stores) {
    score.stores = score.stores && StrideOf(store.index, axis) == Stride::kOne;
  }
  ForEachNode(RootsOf(nest), [&](const Node* n) {
    if (!n->DependsOn(axis)) return;
    if (DividesIndex(n)) score.gathers += 2;
    if (n->kind != NodeKind::kLoad || n->operands.empty()) return;
    if (StrideOf(n->operands[0], axis) == Stride::kOne) {
      ++score.contiguous;
    } else {
      ++score.gathers;
    }
  });
  return score;
}

// Whether a reduction in the nest runs along memory, so that it vectorises inside.
bool HasContiguousReduction(const LoopNest& nest) {
  bool found = false;
  ForEachNode(RootsOf(nest), [&](const Node* n) {
    if (n->kind != NodeKind::kReduce) return;
    for (const te::AxisNode* axis : n->axes) {
      if (axis->extent.is_const() && axis->extent.value() < 4) continue;
      int contiguous = 0;
      int others = 0;
      ForEachNode({n->operands[0]}, [&](const Node* x) {
        if (x->kind != NodeKind::kLoad || x->operands.empty()) return;
        Stride stride = StrideOf(x->operands[0], axis);
        if (stride == Stride::kOne) ++contiguous;
        if (stride == Stride::kOther || stride == Stride::kIrregular) ++others;
      });
      found = found || (contiguous > 0 && others == 0);
    }
  });
  return found;
}

}  // namespace

void ChooseVectorAxis(LoopNest& nest) {
  bool reduces_along_memory = HasContiguousReduction(nest);
  const te::AxisNode* best = nullptr;
  int best_value = 0;
  for (size_t i = nest.axes.size(); i-- > 0;) {
    const te::AxisNode* axis = nest.axes[i];
    VectorScore score = ScoreOf(nest, axis);
    if (reduces_along_memory && score.gathers > 0) continue;
    int value = (score.stores ? 8 : 0) + 2 * score.contiguous - 3 * score.gathers;
    if (axis->extent.is_const() && axis->extent.value() < 4) value -= 12;
    if (best != nullptr && value <= best_value) continue;
    best = axis;
    best_value = value;
  }
  nest.vectorise = best != nullptr;
  if (best == nullptr) return;
  nest.axes.erase(std::find(nest.axes.begin(), nest.axes.end(), best));
  nest.axes.push_back(best);
}

namespace {

// Whether the nest runs as vectors along the axis before the last, which the stores take in turn
// with the few elements of the last: every load is contiguous along it, or the same all along.
bool IsInterleaved(const LoopNest& nest) {
  if (nest.axes.size() < 2) return false;
  const te::AxisNode* last = nest.axes.back();
  const te::AxisNode* along = nest.axes[nest.axes.size() - 2];
  if (!last->extent.is_const() || last->extent.value() < 2 || last->extent.value() > 4)
    return false;
  if (along->extent.is_const() && along->extent.value() < 8) return false;
  for (const LoopStore& store : nest.stores) {
    if (StrideOf(store.index, last) != Stride::kOne) return false;
    if (!(CoefficientOf(store.index, along) == last->extent)) return false;
  }
  bool suits = true;
  bool contiguous = false;
  ForEachNode(RootsOf(nest), [&](const Node* n) {
    if (n->kind == NodeKind::kReduce) suits = false;
    if (!n->DependsOn(along)) return;
    if (DividesIndex(n)) suits = false;
    if (n->kind != NodeKind::kLoad || n->operands.empty()) return;
    contiguous = contiguous || StrideOf(n->operands[0], along) == Stride::kOne;
    suits = suits && StrideOf(n->operands[0], along) == Stride::kOne;
  });
  return suits && contiguous;
}

bool FindInterleaved(Graph& graph, LoopNest& nest) {
  LoopNest split = nest;
  while (SplitOne(graph, split, 2)) {
  }
  MergeAxes(graph, split);
  if (!IsInterleaved(split)) return false;
  nest = std::move(split);
  nest.interleaved = true;
  return true;
}

// Square tiles for loads that run across the vectors. All must run along the same other axis.
void FindTransposed(LoopNest& nest) {
  if (!nest.vectorise || nest.axes.size() < 2) return;
  const te::AxisNode* vector_axis = nest.axes.back();
  const te::AxisNode* along = nullptr;
  std::vector<const Node*> loads;
  bool suits = true;
  auto is_short = [](const te::AxisNode* axis) {
    return axis->extent.is_const() && axis->extent.value() < 8;
  };
  ForEachNode(RootsOf(nest), [&](const Node* n) {
    if (n->kind == NodeKind::kReduce) suits = false;
    if (n->kind != NodeKind::kLoad || n->operands.empty() || !n->in_range) return;
    if (StrideOf(n->operands[0], vector_axis) != Stride::kOther) return;
    for (const te::AxisNode* axis : nest.axes) {
      if (axis == vector_axis || StrideOf(n->operands[0], axis) != Stride::kOne) continue;
      suits = suits && (along == nullptr || along == axis);
      along = axis;
      loads.push_back(n);
    }
  });
  if (!suits || along == nullptr || is_short(along) || is_short(vector_axis)) return;
  nest.axes.erase(std::find(nest.axes.begin(), nest.axes.end(), along));
  nest.axes.insert(nest.axes.end() - 1, along);
  nest.transposed = std::move(loads);
}

}  // namespace

void TransformNest(Graph& graph, LoopNest& nest, bool quick) {
  MergedAxes merged(graph);
  for (LoopStore& store : nest.stores) store.value = MergeReduceAxes(graph, merged, store.value);
  MergeAxes(graph, nest);
  if (quick) {
    TakeProductsTogether(graph, nest);
    nest.in_rows = !nest.axes.empty();
    return;
  }
  if (FindInterleaved(graph, nest)) return;
  // Short inner loops are worse than dividing by a small constant.
  constexpr int64_t kLeastInner = 8;
  while (SplitOne(graph, nest, kLeastInner)) {
  }
  MergeAxes(graph, nest);
  ChooseVectorAxis(nest);
  FindTransposed(nest);
}

namespace {

// The value of `axis` at which the comparison n changes; nullopt when n is not such a comparison.
std::optional<Dim> CutOf(const Node* n, const te::AxisNode* axis) {
  if (n->kind != NodeKind::kBinary || n->operands[0]->dtype != DType::kInt64 ||
      n->dtype != DType::kBool) {
    return std::nullopt;
  }
  // sign * axis + c < 0, or <=.
  auto split = [&](const Node* side, Dim& coefficient, Dim& constant) {
    coefficient = CoefficientOf(side, axis);
    if (side->kind == NodeKind::kAxis) return side->axis == axis;
    if (side->kind != NodeKind::kLinear) return false;
    constant = side->dim;
    return side->operands.size() == (coefficient.is_const(0) ? 0u : 1u);
  };
  Dim ca, a, cb, b;
  if (!split(n->operands[0], ca, a) || !split(n->operands[1], cb, b)) return std::nullopt;
  Dim coefficient = ca - cb;
  if (!coefficient.is_const(1) && !coefficient.is_const(-1)) return std::nullopt;
  Dim at = (b - a) * coefficient;  // axis == at: both sides are equal
  bool rising = coefficient.is_const(1);
  switch (n->binary) {
    case BinaryOp::kLess:
    case BinaryOp::kGreaterEqual:
      return rising ? at : at + Dim(1);
    case BinaryOp::kLessEqual:
    case BinaryOp::kGreater:
      return rising ? at + Dim(1) : at;
    default:
      return std::nullopt;
  }
}

bool AtLeast(const Dim& a, const Dim& b) {
  auto low = (a - b).LowerBound();
  return low && *low >= 0;
}

}  // namespace

namespace {

// Appends the values of `axis` inside its extent where the comparison n changes, if it is one.
void AppendCut(const Node* n, const te::AxisNode* axis, std::vector<Dim>& cuts) {
  if (!n->DependsOn(axis)) return;
  std::optional<Dim> cut = CutOf(n, axis);
  if (!cut || !AtLeast(*cut, Dim(0)) || !AtLeast(axis->extent, *cut)) return;
  if (cut->is_const(0) || *cut == axis->extent) return;
  if (std::find(cuts.begin(), cuts.end(), *cut) == cuts.end()) cuts.push_back(*cut);
}

// The nest for each range of the axis at `position` between the cuts whose order is known for every
// value of the symbols.
std::vector<Segment> CutAt(Graph& graph, const LoopNest& nest, size_t position,
                           const std::vector<Dim>& cuts) {
  constexpr size_t kMaxCuts = 64;
  const te::AxisNode* axis = nest.axes[position];
  std::vector<Dim> ordered;
  for (const Dim& cut : cuts) {
    size_t at = 0;
    while (at < ordered.size() && AtLeast(cut, ordered[at])) ++at;
    bool comparable = at == ordered.size() || AtLeast(ordered[at], cut);
    if (comparable) ordered.insert(ordered.begin() + static_cast<ptrdiff_t>(at), cut);
  }
  if (ordered.empty() || ordered.size() > kMaxCuts) return {{Dim(0), axis->extent, nest}};
  // By halves: of a join, each half has left the parts of the other one behind before it is cut
  // again.
  std::vector<Segment> segments;
  const std::function<void(Segment, std::span<const Dim>)> cut_at = [&](Segment whole,
                                                                        std::span<const Dim> at) {
    if (at.empty()) return segments.push_back(std::move(whole));
    const size_t middle = at.size() / 2;
    const te::AxisNode* old = whole.nest.axes[position];
    const auto part_of = [&](const Dim& start, const Dim& end) {
      Segment part{start, end, whole.nest};
      const te::AxisNode* own = graph.NewAxis(axis->name, end - start);
      part.nest.axes[position] = own;
      const Node* index = graph.Add(graph.Axis(own), graph.DimOf(start - whole.start));
      SubstituteAll(graph, part.nest, {{old, index}});
      return part;
    };
    cut_at(part_of(whole.start, at[middle]), at.first(middle));
    cut_at(part_of(at[middle], whole.end), at.subspan(middle + 1));
  };
  cut_at({Dim(0), axis->extent, nest}, ordered);
  return segments;
}

bool Loads(const Node* root) {
  bool found = false;
  ForEachNode({root}, [&](const Node* n) {
    found = found || (n->kind == NodeKind::kLoad && !n->operands.empty());
  });
  return found;
}

// Where the parts of joins meet along `axis`. Of the last axis only if a part is not read along it.
std::vector<Dim> JoinCuts(const LoopNest& nest, const te::AxisNode* axis) {
  std::vector<Dim> cuts;
  bool across = axis != nest.axes.back();
  ForEachNode(RootsOf(nest), [&](const Node* n) {
    if (n->kind == NodeKind::kLoad && !n->operands.empty())
      across = across || StrideOf(n->operands[0], axis) == Stride::kOther;
    if (n->kind != NodeKind::kSelect || !Loads(n->operands[1]) || !Loads(n->operands[2])) return;
    AppendCut(n->operands[0], axis, cuts);
  });
  return across ? cuts : std::vector<Dim>();
}

}  // namespace

std::vector<Segment> SegmentsOf(Graph& graph, const LoopNest& nest) {
  const te::AxisNode* axis = nest.axes.back();
  std::vector<Dim> cuts;
  ForEachNode(RootsOf(nest), [&](const Node* n) { AppendCut(n, axis, cuts); });
  return CutAt(graph, nest, nest.axes.size() - 1, cuts);
}

std::vector<LoopNest> PartsOf(Graph& graph, const LoopNest& nest, bool quick) {
  if (quick) return {nest};
  constexpr size_t kMostParts = 16;  // more code than that takes longer to compile than it saves
  bool reduces = false;
  ForEachNode(RootsOf(nest),
              [&](const Node* n) { reduces = reduces || n->kind == NodeKind::kReduce; });
  if (reduces) return {nest};
  std::vector<LoopNest> parts{nest};
  // What a part reads of its own is inside it wherever the part's axes are.
  const auto in_range = [&](const Node* n) -> const Node* {
    if (n->kind != NodeKind::kLoad || n->operands.empty() || n->in_range) return nullptr;
    const Bounds b = graph.BoundsOf(n->operands[0]);
    const bool inside = b.low && b.high && AtLeast(*b.low, Dim(0)) &&
                        AtLeast(ProductOf(n->tensor->shape) - Dim(1), *b.high);
    return inside ? graph.LoadFlat(n->tensor, n->operands[0], true) : nullptr;
  };
  for (size_t i = 0; i < parts.size();) {
    bool is_whole = true;
    for (size_t position = 0; is_whole && position < parts[i].axes.size(); ++position) {
      const std::vector<Dim> cuts = JoinCuts(parts[i], parts[i].axes[position]);
      std::vector<Segment> segments = CutAt(graph, parts[i], position, cuts);
      if (segments.size() == 1) continue;
      if (parts.size() + segments.size() - 1 > kMostParts) return {nest};
      is_whole = false;
      parts[i] = std::move(segments[0].nest);
      for (size_t k = 1; k < segments.size(); ++k)
        parts.insert(parts.begin() + static_cast<ptrdiff_t>(i + k), std::move(segments[k].nest));
    }
    if (is_whole) ++i;
  }
  if (parts.size() == 1) return parts;
  for (LoopNest& part : parts) {
    for (LoopStore& store : part.stores) store.value = graph.Rewrite(store.value, in_range);
  }
  return parts;
}

namespace {

// Positions first..end-1 of an axis.
using Range = std::pair<int64_t, int64_t>;

// Appends the ranges of the axis for which `node`, asked for in `range`, asks for `value`.
void AskedFor(const Node* node, const Node* value, const te::AxisNode* axis, Range range,
              std::set<std::pair<const Node*, Range>>& seen, std::set<Range>& asked) {
  if (range.first >= range.second || !seen.insert({node, range}).second) return;
  if (node == value) {
    asked.insert(range);
    return;
  }
  const std::optional<Dim> cut =
      node->kind == NodeKind::kSelect ? CutOf(node->operands[0], axis) : std::nullopt;
  if (!cut || !cut->is_const()) {
    for (const Node* operand : node->operands) AskedFor(operand, value, axis, range, seen, asked);
    return;
  }
  // Of a comparison that holds at the range's first position, the first value is before the cut.
  const Node* condition = node->operands[0];
  const bool less =
      condition->binary == BinaryOp::kLess || condition->binary == BinaryOp::kLessEqual;
  const bool rising = CoefficientOf(condition->operands[0], axis).is_const(1) ||
                      CoefficientOf(condition->operands[1], axis).is_const(-1);
  const bool first_is_true = less == rising;
  AskedFor(condition, value, axis, range, seen, asked);
  const Range before{range.first, std::min(range.second, cut->value())};
  const Range after{std::max(range.first, cut->value()), range.second};
  AskedFor(node->operands[first_is_true ? 1 : 2], value, axis, before, seen, asked);
  AskedFor(node->operands[first_is_true ? 2 : 1], value, axis, after, seen, asked);
}

}  // namespace

bool IsAskedOnce(const Node* root, const Node* value, const te::AxisNode* axis) {
  if (!axis->extent.is_const()) return false;
  std::set<std::pair<const Node*, Range>> seen;
  std::set<Range> asked;
  AskedFor(root, value, axis, {0, axis->extent.value()}, seen, asked);
  return asked.size() == 1 && asked.begin()->second - asked.begin()->first == 1;
}

bool IsReadByWindows(const te::TensorNode& t, const std::vector<const te::AxisNode*>& loops) {
  constexpr int64_t kMostOfWindow = 1 << 20;  // elements
  int64_t read = 1, held = 1;
  std::vector<Dim> extents(t.shape);
  for (const te::AxisNode* axis : loops) {
    const auto same = std::ranges::find(extents, axis->extent);
    if (same != extents.end()) {
      extents.erase(same);
    } else if (axis->extent.is_const() && axis->extent.value() <= kMostOfWindow) {
      read *= axis->extent.value();
    } else {
      return false;
    }
    if (read > kMostOfWindow) return true;
  }
  for (const Dim& extent : extents) {
    if (!extent.is_const() || extent.value() > kMostOfWindow) return false;
    held *= std::max<int64_t>(extent.value(), 1);
    if (held > kMostOfWindow) return false;
  }
  return read >= 2 * held;
}

bool ReadsOwnUnit(Graph& graph, const Node* read, const Node* written, const AxisList& unit_axes) {
  // written = sum over unit axes + inner, and inner covers [0, size of a unit). The read is within
  // the unit when it has the same unit part and the rest stays in that range.
  const Node* rest = read;
  const Node* inner = written;
  Dim unit_size;
  for (const te::AxisNode* axis : unit_axes) {
    Dim c = CoefficientOf(written, axis);
    if (!(CoefficientOf(read, axis) == c)) return false;
    rest = graph.Add(rest, graph.Scale(graph.Axis(axis), Dim(0) - c));
    inner = graph.Add(inner, graph.Scale(graph.Axis(axis), Dim(0) - c));
    unit_size = c;  // of the innermost unit axis
  }
  for (const te::AxisNode* axis : unit_axes) {
    if (rest->DependsOn(axis) || inner->DependsOn(axis)) return false;
  }
  if (unit_axes.empty()) return false;
  Bounds in = graph.BoundsOf(rest);
  Bounds out = graph.BoundsOf(inner);
  auto within = [&](const Bounds& b) {
    if (!b.low || !b.high) return false;
    auto low = b.low->LowerBound();
    auto room = (unit_size - Dim(1) - *b.high).LowerBound();
    return low && *low >= 0 && room && *room >= 0;
  };
  return within(in) && within(out);
}

}  // namespace relayvm::codegen

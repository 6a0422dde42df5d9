// Operators of StableHLO that index by data, and sorts.
#include <algorithm>
#include <set>
#include <string>

#include "compiler/import/composite/axes.h"
#include "compiler/import/tflite/graph_importer.h"
#include "compiler/import/tflite/stablehlo.h"

namespace relayvm::import::tflite {

namespace {

bool Has(const std::vector<int64_t>& all, int64_t x) {
  return std::ranges::find(all, x) != all.end();
}

// Whether these are axes of a tensor of this rank, each once.
bool AreAxes(const std::vector<int64_t>& axes, int rank) {
  const std::set<int64_t> once(axes.begin(), axes.end());
  return once.size() == axes.size() &&
         std::ranges::all_of(axes, [&](int64_t a) { return a >= 0 && a < rank; });
}

// Index vectors (.., count), int64, whose axis may be one that is not there. Nullopt with an error.
std::optional<Term> VectorsOf(NodeContext& n, size_t input, int64_t axis, size_t count) {
  Term s = Term(n, input).As(DType::kInt64);
  if (axis < 0 || axis > s.rank()) return n.Fail("index vectors along axis {}", axis);
  if (axis == s.rank()) s = s.Expand(s.rank());
  s = s.Transpose(AxisMoved(s.rank(), static_cast<int>(axis), s.rank() - 1));
  if (s.value().dim(-1).is_const(static_cast<int64_t>(count))) return s;
  return n.Fail("expected index vectors of {} numbers", count);
}

// The i-th number of each vector, and `after` axes of 1 behind.
Term NumberOf(const Term& vectors, int64_t i, int after) {
  const int last = vectors.rank() - 1;
  const Term one(vectors.b(), vectors.b().Squeeze(vectors.Slice(last, i, i + 1), {last}));
  return after == 0 ? one : one.Expand(one.rank(), after);
}

// --- Gather: slices of one size, from places that vectors say ---

struct GatherPlan {
  std::vector<int64_t> offsets, collapsed, map, sizes;
  std::vector<int64_t> indexed, whole;  // axes of the operand
};

std::optional<GatherPlan> PlanOfGather(NodeContext& n, Term* x) {
  const auto& o = n.Get2<fb::StablehloGatherOptions>();
  GatherPlan plan{LongsOf(o.offset_dims()),
                  LongsOf(o.collapsed_slice_dims()),
                  LongsOf(o.start_index_map()),
                  LongsOf(o.slice_sizes()),
                  {},
                  {}};
  const int rank = x->rank();
  if (static_cast<int>(plan.sizes.size()) != rank || !AreAxes(plan.collapsed, rank) ||
      !AreAxes(plan.map, rank) ||
      plan.offsets.size() + plan.collapsed.size() != plan.sizes.size() ||
      !std::ranges::is_sorted(plan.offsets)) {
    n.Fail("its axes do not fit an operand of rank {}", rank);
    return std::nullopt;
  }
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t size = plan.sizes[static_cast<size_t>(axis)];
    const Dim extent = x->value().dim(axis);
    if (size < 0 || (extent.is_const() && size > extent.value()) ||
        (Has(plan.collapsed, axis) && size != 1)) {
      n.Fail("slices of {} along axis {}", size, axis);
      return std::nullopt;
    }
    if (!extent.is_const(size) && Has(plan.map, axis)) {
      plan.indexed.push_back(axis);
    } else {
      plan.whole.push_back(axis);
      if (!extent.is_const(size)) *x = x->Slice(axis, 0, size);
    }
  }
  return plan;
}

Outputs Gathered(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const auto plan = PlanOfGather(n, &x);
  if (!plan) return {};
  const auto vectors =
      VectorsOf(n, 1, n.Get2<fb::StablehloGatherOptions>().index_vector_dim(), plan->map.size());
  if (!vectors) return {};
  const int batch = vectors->rank() - 1, more = static_cast<int>(plan->indexed.size());
  const int rank = batch + static_cast<int>(plan->offsets.size());
  if (!AreAxes(plan->offsets, rank)) return n.Fail("its axes do not fit a result of rank {}", rank);
  if (more == 0) return n.Unsupported("slices that are all of the operand");
  std::vector<Term> indices;
  for (int k = 0; k < more; ++k) {
    const int64_t axis = plan->indexed[static_cast<size_t>(k)];
    const int64_t size = plan->sizes[static_cast<size_t>(axis)];
    const auto which = std::ranges::find(plan->map, axis) - plan->map.begin();
    const Term at = NumberOf(*vectors, which, more);
    const Term room = Extent(b, x, static_cast<int>(axis)) - static_cast<double>(size);
    const Term from = Maximum(Minimum(at, room), at.Number(0));
    indices.push_back(from + Along(Range(Term(b, b.Int(size))), batch + k, batch + more));
  }
  Term grid = indices[0] * 0;
  for (const Term& index : indices) grid = grid + index * 0;
  std::vector<Value> tuples;
  for (const Term& index : indices) tuples.push_back((index + grid).Expand(0));
  std::vector<int64_t> order = plan->indexed;
  order.insert(order.end(), plan->whole.begin(), plan->whole.end());
  const Term y(b, b.Op("gather_nd", {x.Transpose(order), b.Concat(tuples, 0)}));
  // Axes of y: of the batch, then the operand's in `order`. Those that go stand last.
  const auto place_of = [&](int64_t axis) {
    return batch + (std::ranges::find(order, axis) - order.begin());
  };
  std::vector<int64_t> kept, turned, gone;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (!Has(plan->collapsed, axis)) kept.push_back(place_of(axis));
  for (int64_t at = 0, of_batch = 0, of_kept = 0; at < rank; ++at) {
    const bool is_offset = Has(plan->offsets, at);
    turned.push_back(is_offset ? kept[static_cast<size_t>(of_kept++)] : of_batch++);
  }
  for (const int64_t axis : plan->collapsed) {
    gone.push_back(static_cast<int64_t>(turned.size()));
    turned.push_back(place_of(axis));
  }
  const Term result = y.Transpose(turned);
  return {gone.empty() ? result.value() : b.Squeeze(result, gone)};
}

// --- Scatter: updates at places that vectors say; those outside of the operand do nothing ---

Outputs Scattered(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto& o = n.Get2<fb::StablehloScatterOptions>();
  const auto window = LongsOf(o.update_window_dims()), inserted = LongsOf(o.inserted_window_dims());
  const auto map = LongsOf(o.scatter_dims_to_operand_dims());
  const Term x(n, 0), updates(n, 2);
  const auto reduction = ReductionOf(n, o.update_computation_subgraph_index());
  const auto vectors = reduction ? VectorsOf(n, 1, o.index_vector_dim(), map.size()) : std::nullopt;
  if (!vectors) return {};
  if (reduction->scatter == nullptr) return n.Unsupported("updates of truths");
  const int places = vectors->rank() - 1, sizes = static_cast<int>(window.size());
  if (!AreAxes(window, updates.rank()) || !AreAxes(inserted, x.rank()) || !AreAxes(map, x.rank()) ||
      updates.rank() != places + sizes ||
      window.size() + inserted.size() != static_cast<size_t>(x.rank())) {
    return n.Fail("its axes do not fit an operand of rank {}", x.rank());
  }
  std::vector<int64_t> order;
  for (int axis = 0; axis < updates.rank(); ++axis)
    if (!Has(window, axis)) order.push_back(axis);
  order.insert(order.end(), window.begin(), window.end());
  const Term turned = updates.Transpose(order);
  Term place(b, b.Int(0)), inside(b, b.Scalar(1, DType::kBool));
  int next = places;
  for (int axis = 0; axis < x.rank(); ++axis) {
    Term at(b, b.Int(0));
    if (const auto found = std::ranges::find(map, axis); found != map.end())
      at = NumberOf(*vectors, found - map.begin(), sizes);
    if (!Has(inserted, axis)) {
      at = at + Along(Range(Extent(b, turned, next)), next, places + sizes);
      ++next;
    }
    const Term extent = Extent(b, x, axis);
    inside = And(inside, And(at >= 0, at < extent));
    place = place * extent + at;
  }
  const Term all = Term(b, b.DimOf(x.Reshape({-1}), 0));  // (1)
  Term flat_place = Select(inside, place, AsScalar(all)) + turned.As(DType::kInt64) * 0;
  flat_place = flat_place.Reshape({-1}).Expand(0);
  const Value none = AsVector(Term(b, b.Scalar(0, x.dtype())));
  const Value flat = b.Concat({x.Reshape({-1}), none}, 0);
  const Value y =
      b.Op("scatter_nd", {flat, flat_place, turned.Reshape({-1})}, {{"mode", reduction->scatter}});
  std::vector<Value> dims;
  for (int axis = 0; axis < x.rank(); ++axis) dims.push_back(b.DimOf(x, axis));
  const Value kept = b.Op("dyn.strided_slice", {y, b.Ints({0}), all, b.Ints({1})});
  return {dims.empty() ? AsScalar(Term(b, kept)).value() : ShapedAs(b, kept, dims)};
}

// --- Sorts ---

struct Comparison {
  size_t key;  // which of the tensors is compared
  bool rises;
};

// Of a subgraph that compares two elements of one tensor.
std::optional<Comparison> ComparisonOf(NodeContext& n, int32_t subgraph) {
  const auto& graphs = n.importer().file().subgraphs();
  if (subgraph < 0 || static_cast<size_t>(subgraph) >= graphs.size())
    return n.Fail("subgraph {}: the model has {}", subgraph, graphs.size());
  const Subgraph& graph = graphs[static_cast<size_t>(subgraph)];
  const auto* body = graph.table->operators();
  const auto wrong = [&] { return n.Unsupported("a comparison that is not of two elements"); };
  if (body == nullptr || body->size() != 1 || graph.inputs.size() != 2 * n.num_inputs())
    return wrong();
  const fb::Operator& op = *body->Get(0);
  if (op.inputs() == nullptr || op.inputs()->size() != 2) return wrong();
  std::optional<bool> is_less;
  switch (n.importer().file().CodeOf(op)) {
    case Code::LESS:
    case Code::LESS_EQUAL:
      is_less = true;
      break;
    case Code::GREATER:
    case Code::GREATER_EQUAL:
      is_less = false;
      break;
    case Code::STABLEHLO_COMPARE:
      if (const auto* o = op.builtin_options_2_as_StablehloCompareOptions()) {
        if (o->comparison_direction() >= 4) is_less = true;  // LE, LT
        if (o->comparison_direction() == 2 || o->comparison_direction() == 3) is_less = false;
      }
      break;
    default:
      break;
  }
  const auto place = [&](uint32_t i) {
    return static_cast<size_t>(std::ranges::find(graph.inputs, op.inputs()->Get(i)) -
                               graph.inputs.begin());
  };
  const size_t x = place(0), y = place(1);
  if (!is_less || x / 2 != y / 2 || x == y || x >= graph.inputs.size()) return wrong();
  return Comparison{x / 2, *is_less == (x < y)};
}

Outputs Sorted(NodeContext& n) {
  const auto& o = n.Get2<fb::StablehloSortOptions>();
  const auto by = ComparisonOf(n, o.comparator_subgraph_index());
  if (!by) return {};
  const int axis = n.Axis(o.dimension(), n.Input(0).rank());
  if (!n.b().status().ok()) return {};
  if (n.num_inputs() == 1)
    return {Term(n, 0).Call("sort", {{"axis", axis}, {"is_ascend", by->rises}})};
  const Term order =
      Term(n, by->key)
          .Call("argsort", {{"axis", axis}, {"is_ascend", by->rises}, {"dtype", "int64"}});
  Outputs sorted;
  for (const Value& x : n.inputs())
    sorted.push_back(n.b().Op("gather", {x, order}, {{"axis", axis}}));
  return sorted;
}

}  // namespace

std::span<const OperatorDef> StablehloIndexOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::STABLEHLO_GATHER, 2, 2, Gathered, Options::NONE, Options2::StablehloGatherOptions},
      {Code::STABLEHLO_SCATTER, 3, 3, Scattered, Options::NONE, Options2::StablehloScatterOptions},
      {Code::STABLEHLO_SORT, 1, -1, Sorted, Options::NONE, Options2::StablehloSortOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite

// What changes extents: reductions, concatenation, and images of other sizes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "vm/engines/dnnl/operators.h"

namespace relayvm::onednn {
namespace {

// --- Reductions ---

struct ReductionKind {
  std::string_view op;
  dnnl_alg_kind_t algorithm;
  float of_nothing;
};
constexpr ReductionKind kReductions[] = {
    {"sum", dnnl_reduction_sum, 0},
    {"prod", dnnl_reduction_mul, 1},
    {"mean", dnnl_reduction_mean, std::numeric_limits<float>::quiet_NaN()},
    {"max", dnnl_reduction_max, -std::numeric_limits<float>::infinity()},
    {"min", dnnl_reduction_min, std::numeric_limits<float>::infinity()},
};

struct ReductionForm {
  ReductionKind kind;
  std::vector<bool> is_reduced;  // of axes
  bool keeps = false;
  Steps steps;
};

Result<std::vector<bool>> ReadAxes(const Node& n, int rank) {
  std::vector<bool> is_reduced(static_cast<size_t>(rank), false);
  RELAYVM_ASSIGN_OR_RETURN(const Dims axes, n.Integers("axis", {}));
  for (const int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      return InvalidInput(fmt::format("axis {} of a rank of {}", axis, rank));
    }
    is_reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  RELAYVM_ASSIGN_OR_RETURN(const bool excludes, n.Flag("exclude", false));
  if (axes.empty() || excludes) is_reduced.flip();
  if (axes.empty() && excludes) return Status(StatusCode::kUnsupported, "all axes are excluded");
  return is_reduced;
}

Status BuildReduction(PlanBuilder& b, uint32_t node, const ReductionForm& f) {
  const Node& n = b.graph().nodes[node];
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  RELAYVM_ASSIGN_OR_RETURN(const Dims in, b.DimsOf(n.inputs[0]));
  Dims with_ones = in, expected;
  for (size_t i = 0; i < in.size(); ++i) {
    if (f.is_reduced[i]) with_ones[i] = 1;
    if (!f.is_reduced[i] || f.keeps) expected.push_back(with_ones[i]);
  }
  if (expected != result) return InvalidInput("the result has other extents than the axes leave");
  RELAYVM_ASSIGN_OR_RETURN(const Value data, b.Plain(n.inputs[0]));
  Reduction reduction{f.kind.algorithm, data.desc, {}};
  RELAYVM_ASSIGN_OR_RETURN(reduction.dst, MemoryDesc::Plain(with_ones, n.outputs[0].dtype));
  Root root;
  root.of_nothing = f.kind.of_nothing;
  root.is_reshaped = true;
  root.sources = {{DNNL_ARG_SRC, data.desc, data.place, data.desc}};
  if (with_ones == in) {  // each result is of one element
    const Eltwise same{dnnl_eltwise_linear, 1, 0, data.desc};
    root.describe = [same](const Attributes& a) { return Describe(same, a); };
  } else {
    root.describe = [reduction](const Attributes& a) { return Describe(reduction, a); };
  }
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, f.steps.Resolve(b, node));
  return b.Emit(node, root, posts);
}

Result<BuildFn> MakeReduction(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 1));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 1));
  ReductionForm f;
  for (const ReductionKind& kind : kReductions) {
    if (kind.op == n.op) f.kind = kind;
  }
  RELAYVM_ASSIGN_OR_RETURN(f.is_reduced, ReadAxes(n, graph.TypeOf(n.inputs[0]).rank()));
  RELAYVM_ASSIGN_OR_RETURN(f.keeps, n.Flag("keepdims", false));
  RELAYVM_ASSIGN_OR_RETURN(f.steps, ReadSteps(graph, node, 0, false));
  return BuildFn([node, f](PlanBuilder& b) { return BuildReduction(b, node, f); });
}

// --- concatenate ---

// The order in which the axes of a layout lie in memory, where they lie in some order.
std::vector<int> MemoryOrder(const MemoryDesc& desc) {
  std::vector<int> order(static_cast<size_t>(desc.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return desc.Stride(a) != desc.Stride(b) ? desc.Stride(a) > desc.Stride(b) : a < b;
  });
  return order;
}

// The operands' layout: of the first one that is not row-major, where axes lie in some order (as
// convolutions like theirs); row-major where there is none. That of each operand would have the
// concatenation by plain loops.
Result<MemoryDesc> LaidOutAs(const MemoryDesc& like, const Dims& dims, DType dtype) {
  const std::vector<int> order = MemoryOrder(like);
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc plain, MemoryDesc::Plain(Ordered(dims, order), dtype));
  std::vector<int> back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int>(i);
  return plain.Permuted(back);
}

Status BuildConcat(PlanBuilder& b, uint32_t node, int axis) {
  const Node& n = b.graph().nodes[node];
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  Concat concat{.axis = axis};
  Root root;
  int64_t extent = 0;
  const auto at = static_cast<size_t>(axis);
  MemoryDesc like;  // none: as they are
  for (const ValueRef& input : n.inputs) {
    const MemoryDesc& desc = b.Get(input).desc;
    const bool is_other = !desc.is_empty() && !desc.is_plain();
    if (is_other && desc.is_strided() && like.is_none()) like = desc;
  }
  for (const ValueRef& input : n.inputs) {
    const Value value = b.Get(input);
    Dims dims = value.desc.dims();
    extent += dims[at];
    const bool is_empty = dims[at] == 0;
    dims[at] = result[at];
    if (dims != result) return InvalidInput("the operands' extents differ along other axes");
    if (is_empty) continue;
    const int arg = DNNL_ARG_MULTIPLE_SRC + static_cast<int>(root.sources.size());
    MemoryDesc wanted = value.desc;
    if (!like.is_none()) {
      RELAYVM_ASSIGN_OR_RETURN(wanted, LaidOutAs(like, wanted.dims(), b.DTypeOf(input)));
    }
    root.sources.push_back({arg, value.desc, value.place, wanted});
    concat.srcs.push_back(wanted);
  }
  if (extent != result[at]) {
    return InvalidInput(
        fmt::format("the operands have {} along axis {}, the result {}", extent, axis, result[at]));
  }
  if (!like.is_none()) {
    RELAYVM_ASSIGN_OR_RETURN(concat.dst, LaidOutAs(like, result, b.DTypeOf({node, 0})));
  }
  root.describe = [concat](const Attributes& a) -> Result<PrimitiveDesc> {
    if (!a.post_ops.empty()) return Status(StatusCode::kUnsupported, "a concatenation takes none");
    return Describe(concat, a);
  };
  return b.Emit(node, root, {});
}

Result<BuildFn> MakeConcat(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  const TensorType& type = n.outputs[0];
  if (n.inputs.empty()) return InvalidInput("it has no inputs");
  constexpr size_t kMost = 1024;  // of DNNL_ARG_MULTIPLE_SRC
  if (n.inputs.size() > kMost) {
    return Status(StatusCode::kUnsupported, fmt::format("{} operands", n.inputs.size()));
  }
  if (!n.steps.empty()) return Status(StatusCode::kUnsupported, "steps after a concatenation");
  if (type.rank() == 0) return InvalidInput("a rank of 0");
  for (const ValueRef& v : n.inputs) {
    if (graph.TypeOf(v).dtype != type.dtype || graph.TypeOf(v).rank() != type.rank()) {
      return InvalidInput("an operand is of another dtype or rank than the result");
    }
  }
  RELAYVM_RETURN_IF_ERROR(MemoryDesc::Plain({1}, type.dtype).status());
  RELAYVM_ASSIGN_OR_RETURN(const int axis, ReadAxis(n, "axis", 0, type.rank()));
  return BuildFn([node, axis](PlanBuilder& b) { return BuildConcat(b, node, axis); });
}

// --- image.resize2d ---
// oneDNN takes the pixel centres at halves, and for the nearest one rounds halves up; by whole
// factors no pixel lies at a half, and what Relay has with other coordinates is the same pixel.

Status CheckNearest(const Node& n, const TensorType& in, const std::vector<int>& axes,
                    const std::string& coordinates, const std::string& rounding) {
  const bool is_same =
      (coordinates == "half_pixel" && (rounding == "round" || rounding == "round_prefer_floor" ||
                                       rounding == "round_prefer_ceil")) ||
      (coordinates == "asymmetric" && (rounding == "floor" || rounding.empty()));
  if (!is_same) {
    return {StatusCode::kUnsupported,
            fmt::format("coordinates {} rounded by \"{}\"", coordinates, rounding)};
  }
  for (const size_t s : {2, 3}) {
    const auto axis = static_cast<size_t>(axes[s]);
    const Extent from = in.shape[axis], to = n.outputs[0].shape[axis];
    if (!from.is_known() || !to.is_known() || from.value == 0 || to.value % from.value != 0) {
      return {StatusCode::kUnsupported,
              "nearest pixels of an image that does not grow by a whole factor"};
    }
  }
  return OkStatus();
}

Result<BuildFn> MakeResize(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 1));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 1));
  const TensorType& in = graph.TypeOf(n.inputs[0]);
  if (in.rank() != 4 || n.outputs[0].rank() != 4) return InvalidInput("not of rank 4");
  RELAYVM_ASSIGN_OR_RETURN(const std::string layout, n.Text("layout", "NCHW"));
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<int> order, ReadLayout("layout", layout, "NCHW"));
  RELAYVM_ASSIGN_OR_RETURN(const std::string method, n.Text("method", "linear"));
  RELAYVM_ASSIGN_OR_RETURN(const std::string coordinates,
                           n.Text("coordinate_transformation_mode", "half_pixel"));
  RELAYVM_ASSIGN_OR_RETURN(const std::string rounding, n.Text("rounding_method", "round"));
  if (method == "nearest_neighbor") {
    RELAYVM_RETURN_IF_ERROR(CheckNearest(n, in, order, coordinates, rounding));
  } else if (method != "linear" || coordinates != "half_pixel") {
    return Status(StatusCode::kUnsupported,
                  fmt::format("method {} with coordinates {}", method.substr(0, 40),
                              coordinates.substr(0, 40)));
  }
  RELAYVM_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(graph, node, order[1], false));
  const dnnl_alg_kind_t algorithm =
      method == "linear" ? dnnl_resampling_linear : dnnl_resampling_nearest;
  return BuildFn([node, order, algorithm, steps](PlanBuilder& b) -> Status {
    const Node& resize = b.graph().nodes[node];
    const Value data = b.Get(resize.inputs[0]);
    RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
    Resampling resampling{.algorithm = algorithm};
    RELAYVM_ASSIGN_OR_RETURN(resampling.src, data.desc.Permuted(order));
    RELAYVM_ASSIGN_OR_RETURN(resampling.dst,
                             MemoryDesc::Any(Ordered(result, order), resize.outputs[0].dtype));
    Root root;
    root.order = order;
    root.sources = {{DNNL_ARG_SRC, resampling.src, data.place, resampling.src}};
    root.describe = [resampling](const Attributes& a) { return Describe(resampling, a); };
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, steps.Resolve(b, node));
    return b.Emit(node, root, posts);
  });
}

}  // namespace

MakeFn FindRearrangement(std::string_view op) {
  if (op == "concatenate") return MakeConcat;
  if (op == "image.resize2d") return MakeResize;
  for (const ReductionKind& kind : kReductions) {
    if (kind.op == op) return MakeReduction;
  }
  return nullptr;
}

}  // namespace relayvm::onednn

// Normalisations: softmax, batch_norm, layer_norm, lrn; and prelu, which has a vector along an axis
// too. oneDNN has the channels as axis 1, or what it normalises over as the last one: views put the
// axis there.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "vm/engines/dnnl/operators.h"

namespace relayvm::onednn {
namespace {

// The axes with `axis` at place `to`.
std::vector<int> MovedAxis(int rank, int axis, int to) {
  std::vector<int> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  order.insert(order.begin() + to, axis);
  return order;
}

// Inputs 1 .. count are vectors along `axis` of input 0.
Status RequireVectors(const Graph& graph, const Node& n, size_t count, int axis) {
  const Extent channels = n.outputs[0].shape[static_cast<size_t>(axis)];
  for (size_t i = 1; i <= count; ++i) {
    const TensorType& t = graph.TypeOf(n.inputs[i]);
    if (t.rank() != 1 || (t.shape[0].is_known() && channels.is_known() && t.shape[0] != channels)) {
      return InvalidInput(fmt::format("input {} is no vector along axis {}", i, axis));
    }
  }
  if (graph.TypeOf(n.inputs[0]).shape != n.outputs[0].shape) {
    return InvalidInput("the result has other extents than the operand");
  }
  return OkStatus();
}

// Input `input` as a float32 vector of `channels`.
Result<Source> VectorSource(PlanBuilder& b, const Node& n, size_t input, int arg,
                            int64_t channels) {
  const Value value = b.Get(n.inputs[input]);
  if (value.desc.dims() != Dims{channels}) {
    return InvalidInput(fmt::format("input {} has {} elements, expected {}", input,
                                    value.desc.dims()[0], channels));
  }
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc wanted, MemoryDesc::Plain({channels}, DType::kFloat32));
  return Source{arg, value.desc, value.place, wanted};
}

// --- softmax ---

Result<BuildFn> MakeSoftmax(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 1));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 1));
  if (n.outputs[0].rank() == 0) return InvalidInput("a rank of 0");
  RELAYVM_ASSIGN_OR_RETURN(const int axis, ReadAxis(n, "axis", -1, n.outputs[0].rank()));
  RELAYVM_RETURN_IF_ERROR(RequireVectors(graph, n, 0, axis));
  RELAYVM_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(graph, node, axis, false));
  const bool is_log = n.op == "nn.log_softmax";
  return BuildFn([node, axis, steps, is_log](PlanBuilder& b) -> Status {
    const Value data = b.Get(b.graph().nodes[node].inputs[0]);
    const Softmax softmax{is_log, data.desc, data.desc, axis};
    Root root;
    root.sources = {{DNNL_ARG_SRC, data.desc, data.place, data.desc}};
    root.describe = [softmax](const Attributes& a) { return Describe(softmax, a); };
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, steps.Resolve(b, node));
    return b.Emit(node, root, posts);
  });
}

// --- batch_norm, layer_norm ---

struct NormForm {
  bool is_batch = false, has_scale = true, has_shift = true;
  int axis = 1;
  float epsilon = 0;
  Steps steps;
};

Status BuildNorm(PlanBuilder& b, uint32_t node, const NormForm& f) {
  const Node& n = b.graph().nodes[node];
  const Value data = b.Get(n.inputs[0]);
  const int rank = data.desc.rank();
  Root root;
  root.order = MovedAxis(rank, f.axis, f.is_batch ? 1 : rank - 1);
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc view, data.desc.Permuted(root.order));
  const int64_t channels = data.desc.dims()[static_cast<size_t>(f.axis)];
  root.sources = {{DNNL_ARG_SRC, view, data.place, view}};
  const auto add = [&](bool has, size_t input, int arg) -> Status {
    if (!has) return OkStatus();
    RELAYVM_ASSIGN_OR_RETURN(Source source, VectorSource(b, n, input, arg, channels));
    root.sources.push_back(std::move(source));
    return OkStatus();
  };
  RELAYVM_RETURN_IF_ERROR(add(f.has_scale, 1, DNNL_ARG_SCALE));
  RELAYVM_RETURN_IF_ERROR(add(f.has_shift, 2, DNNL_ARG_SHIFT));
  if (f.is_batch) {
    RELAYVM_RETURN_IF_ERROR(add(true, 3, DNNL_ARG_MEAN));
    RELAYVM_RETURN_IF_ERROR(add(true, 4, DNNL_ARG_VARIANCE));
    const BatchNorm norm{view, f.epsilon, f.has_scale, f.has_shift};
    root.describe = [norm](const Attributes& a) { return Describe(norm, a); };
  } else {
    const LayerNorm norm{view, f.epsilon, f.has_scale, f.has_shift};
    root.describe = [norm](const Attributes& a) { return Describe(norm, a); };
  }
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, f.steps.Resolve(b, node));
  return b.Emit(node, root, posts);
}

Result<BuildFn> MakeNorm(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  NormForm f;
  f.is_batch = n.op == "nn.batch_norm";
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, f.is_batch ? 5 : 3));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, f.is_batch ? 5 : 3));
  const int rank = n.outputs[0].rank();
  if (rank < 2) return Status(StatusCode::kUnsupported, fmt::format("a rank of {}", rank));
  RELAYVM_ASSIGN_OR_RETURN(f.axis, ReadAxis(n, "axis", f.is_batch ? 1 : -1, rank));
  RELAYVM_RETURN_IF_ERROR(RequireVectors(graph, n, f.is_batch ? 4 : 2, f.axis));
  RELAYVM_ASSIGN_OR_RETURN(const double epsilon, n.Number("epsilon", 1e-5));
  f.epsilon = static_cast<float>(epsilon);
  RELAYVM_ASSIGN_OR_RETURN(f.has_scale, n.Flag("scale", true));
  RELAYVM_ASSIGN_OR_RETURN(f.has_shift, n.Flag("center", true));
  RELAYVM_ASSIGN_OR_RETURN(f.steps, ReadSteps(graph, node, f.axis, false));
  return BuildFn([node, f](PlanBuilder& b) { return BuildNorm(b, node, f); });
}

// --- lrn ---

Result<BuildFn> MakeLrn(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 1));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 1));
  const int rank = n.outputs[0].rank();
  if (rank < 2 || rank > 5)
    return Status(StatusCode::kUnsupported, fmt::format("a rank of {}", rank));
  RELAYVM_ASSIGN_OR_RETURN(const int axis, ReadAxis(n, "axis", 1, rank));
  RELAYVM_RETURN_IF_ERROR(RequireVectors(graph, n, 0, axis));
  RELAYVM_ASSIGN_OR_RETURN(const int64_t size, n.Integer("size", 5));
  if (size < 1) return InvalidInput(fmt::format("size is {}", size));
  if (size % 2 == 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("size is {}: oneDNN begins even windows one later", size));
  }
  RELAYVM_ASSIGN_OR_RETURN(const double alpha, n.Number("alpha", 1e-4));
  RELAYVM_ASSIGN_OR_RETURN(const double beta, n.Number("beta", 0.75));
  RELAYVM_ASSIGN_OR_RETURN(const double bias, n.Number("bias", 2));
  RELAYVM_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(graph, node, axis, false));
  const Lrn form{
      {}, size, static_cast<float>(alpha), static_cast<float>(beta), static_cast<float>(bias)};
  return BuildFn([node, axis, form, steps](PlanBuilder& b) -> Status {
    const Value data = b.Get(b.graph().nodes[node].inputs[0]);
    Root root;
    root.order = MovedAxis(data.desc.rank(), axis, 1);
    Lrn lrn = form;
    RELAYVM_ASSIGN_OR_RETURN(lrn.data, data.desc.Permuted(root.order));
    root.sources = {{DNNL_ARG_SRC, lrn.data, data.place, lrn.data}};
    root.describe = [lrn](const Attributes& a) { return Describe(lrn, a); };
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, steps.Resolve(b, node));
    return b.Emit(node, root, posts);
  });
}

// --- prelu ---

Result<BuildFn> MakePrelu(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 2));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 2));
  const int rank = n.outputs[0].rank();
  if (rank < 2 || rank > 5)
    return Status(StatusCode::kUnsupported, fmt::format("a rank of {}", rank));
  RELAYVM_ASSIGN_OR_RETURN(const int axis, ReadAxis(n, "axis", 1, rank));
  RELAYVM_RETURN_IF_ERROR(RequireVectors(graph, n, 1, axis));
  RELAYVM_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(graph, node, axis, false));
  return BuildFn([node, axis, steps](PlanBuilder& b) -> Status {
    const Node& prelu_node = b.graph().nodes[node];
    const Value data = b.Get(prelu_node.inputs[0]);
    RELAYVM_ASSIGN_OR_RETURN(const Value slope, b.Plain(prelu_node.inputs[1]));
    Root root;
    root.order = MovedAxis(data.desc.rank(), axis, 1);
    Prelu prelu;
    RELAYVM_ASSIGN_OR_RETURN(prelu.data, data.desc.Permuted(root.order));
    Dims dims(static_cast<size_t>(data.desc.rank()), 1);
    dims[1] = prelu.data.dims()[1];
    if (slope.desc.dims() != Dims{dims[1]}) return InvalidInput("the slopes are not the channels'");
    RELAYVM_ASSIGN_OR_RETURN(prelu.weights, slope.desc.Reshaped(dims));
    root.sources = {{DNNL_ARG_SRC, prelu.data, data.place, prelu.data},
                    {DNNL_ARG_WEIGHTS, prelu.weights, slope.place, prelu.weights}};
    root.describe = [prelu](const Attributes& a) { return Describe(prelu, a); };
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, steps.Resolve(b, node));
    return b.Emit(node, root, posts);
  });
}

}  // namespace

MakeFn FindNorm(std::string_view op) {
  if (op == "nn.softmax" || op == "nn.log_softmax") return MakeSoftmax;
  if (op == "nn.batch_norm" || op == "nn.layer_norm") return MakeNorm;
  if (op == "nn.lrn") return MakeLrn;
  return op == "nn.prelu" ? MakePrelu : nullptr;
}

}  // namespace relayvm::onednn

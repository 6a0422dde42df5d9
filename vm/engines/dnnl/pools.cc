// Pools of windows, and global ones, of 1 to 3 axes. oneDNN leaves what is outside the data out of
// maxima, and out of averages or not, as Relay does; where a window may hold nothing, and where
// Relay counts a part of a window, they differ.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "vm/engines/dnnl/operators.h"

namespace relayvm::onednn {
namespace {

struct PoolForm {
  dnnl_alg_kind_t algorithm = dnnl_pooling_max;
  bool is_global = false, is_ceil = false;
  std::vector<int> in, out;  // N C and the spatial axes
  Dims window, strides, dilation, before, after;
  Steps steps;
};

Status CheckWindows(const PoolForm& f, bool counts_padding) {
  for (size_t s = 0; s < f.window.size(); ++s) {
    const int64_t after = f.after[s] + (f.is_ceil ? f.strides[s] - 1 : 0);
    const bool may_miss = f.dilation[s] > 1 ? f.before[s] > 0 || after > 0
                                            : f.before[s] >= f.window[s] || after >= f.window[s];
    if (may_miss && !counts_padding) {
      return {StatusCode::kUnsupported, "a window may hold nothing but padding"};
    }
    if (f.is_ceil && f.strides[s] > 1 && counts_padding) {
      return {StatusCode::kUnsupported, "ceil_mode with count_include_pad"};
    }
  }
  return OkStatus();
}

Result<PoolForm> ReadPoolForm(const Graph& graph, uint32_t node, int spatial, bool is_max,
                              bool is_global) {
  const Node& n = graph.nodes[node];
  PoolForm f;
  f.is_global = is_global;
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 1));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 1));
  const int rank = spatial + 2;
  if (graph.TypeOf(n.inputs[0]).rank() != rank || n.outputs[0].rank() != rank) {
    return InvalidInput(fmt::format("the operand or the result is not of rank {}", rank));
  }
  const std::string letters =
      "NC" + std::string(std::string_view("DHW").substr(static_cast<size_t>(3 - spatial)));
  RELAYVM_ASSIGN_OR_RETURN(const std::string layout, n.Text("layout", letters));
  RELAYVM_ASSIGN_OR_RETURN(std::string out, n.Text("out_layout", ""));
  if (out.empty()) out = layout;
  RELAYVM_ASSIGN_OR_RETURN(f.in, ReadLayout("layout", layout, letters));
  RELAYVM_ASSIGN_OR_RETURN(f.out, ReadLayout("out_layout", out, letters));
  RELAYVM_ASSIGN_OR_RETURN(f.steps, ReadSteps(graph, node, f.out[1], false));
  bool counts_padding = false;
  if (!is_max) {
    RELAYVM_ASSIGN_OR_RETURN(counts_padding, n.Flag("count_include_pad", false));
    f.algorithm =
        counts_padding ? dnnl_pooling_avg_include_padding : dnnl_pooling_avg_exclude_padding;
  }
  if (is_global) return f;
  if (n.Find("pool_size") == nullptr) return InvalidInput("no pool_size");
  RELAYVM_ASSIGN_OR_RETURN(f.window, ReadSpatial(n, "pool_size", spatial, 1, 1));
  RELAYVM_ASSIGN_OR_RETURN(f.strides, ReadSpatial(n, "strides", spatial, 1, 1));
  RELAYVM_ASSIGN_OR_RETURN(f.dilation, ReadSpatial(n, "dilation", spatial, 1, 1));
  RELAYVM_RETURN_IF_ERROR(ReadPadding(n, spatial, &f.before, &f.after));
  RELAYVM_ASSIGN_OR_RETURN(f.is_ceil, n.Flag("ceil_mode", false));
  RELAYVM_RETURN_IF_ERROR(CheckWindows(f, counts_padding));
  return f;
}

// What the last windows of ceil_mode lack behind the data.
Status Widen(const PoolForm& f, const Dims& in, const Dims& out, Dims* after) {
  for (size_t s = 0; s < f.window.size(); ++s) {
    const int64_t range = (f.window[s] - 1) * f.dilation[s] + 1;
    const int64_t needed = (out[s + 2] - 1) * f.strides[s] + range - in[s + 2] - f.before[s];
    if (needed > f.after[s] + f.strides[s] - 1) {
      return InvalidInput("the result is larger than windows reach");
    }
    (*after)[s] = std::max(needed, f.after[s]);
  }
  return OkStatus();
}

Status BuildPool(PlanBuilder& b, uint32_t node, const PoolForm& f) {
  const Node& n = b.graph().nodes[node];
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  const Value data = b.Get(n.inputs[0]);
  Pool pool{.algorithm = f.algorithm};
  RELAYVM_ASSIGN_OR_RETURN(pool.src, data.desc.Permuted(f.in));
  const Dims in = pool.src.dims(), out = Ordered(result, f.out);
  pool.window = f.window;
  pool.strides = f.strides;
  pool.dilation = f.dilation;
  pool.before = f.before;
  pool.after = f.after;
  if (f.is_global) {
    pool.window.assign(in.begin() + 2, in.end());
    pool.strides.assign(in.size() - 2, 1);
    pool.dilation = pool.strides;
    pool.before.assign(in.size() - 2, 0);
    pool.after = pool.before;
  } else if (f.is_ceil) {
    RELAYVM_RETURN_IF_ERROR(Widen(f, in, out, &pool.after));
  }
  RELAYVM_ASSIGN_OR_RETURN(pool.dst, MemoryDesc::Any(out, n.outputs[0].dtype));
  Root root;
  root.order = f.out;
  root.sources = {{DNNL_ARG_SRC, pool.src, data.place, pool.src}};
  root.describe = [pool](const Attributes& a) { return Describe(pool, a); };
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, f.steps.Resolve(b, node));
  return b.Emit(node, root, posts);
}

template <int kSpatial, bool kIsMax, bool kIsGlobal>
Result<BuildFn> MakePool(const Graph& graph, uint32_t node) {
  RELAYVM_ASSIGN_OR_RETURN(const PoolForm form,
                           ReadPoolForm(graph, node, kSpatial, kIsMax, kIsGlobal));
  return BuildFn([node, form](PlanBuilder& b) { return BuildPool(b, node, form); });
}

}  // namespace

MakeFn FindPool(std::string_view op) {
  constexpr std::pair<std::string_view, MakeFn> kPools[] = {
      {"nn.max_pool1d", MakePool<1, true, false>},
      {"nn.max_pool2d", MakePool<2, true, false>},
      {"nn.max_pool3d", MakePool<3, true, false>},
      {"nn.avg_pool1d", MakePool<1, false, false>},
      {"nn.avg_pool2d", MakePool<2, false, false>},
      {"nn.avg_pool3d", MakePool<3, false, false>},
      {"nn.global_max_pool2d", MakePool<2, true, true>},
      {"nn.global_avg_pool2d", MakePool<2, false, true>},
  };
  for (const auto& [name, make] : kPools) {
    if (name == op) return make;
  }
  return nullptr;
}

}  // namespace relayvm::onednn

// Convolutions and transposed ones, of 1 to 3 axes. Relay's layouts are orders of the axes of
// oneDNN's; its groups split an axis of the kernel in two.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "vm/engines/dnnl/conv_form.h"

namespace relayvm::onednn {
namespace {

// The kernel as oneDNN sees it: [groups,] outputs, inputs, spatial axes.
Result<MemoryDesc> KernelView(const ConvForm& f, const MemoryDesc& kernel, int64_t channels) {
  if (f.groups == 1) return kernel.Permuted(f.kernel);
  Dims dims = kernel.dims();
  const auto o = static_cast<size_t>(f.kernel[0]), i = static_cast<size_t>(f.kernel[1]);
  const bool has_multiplier =
      !f.is_transposed && channels == f.groups && dims[o] == f.groups && dims[i] != 1;
  // The axis that is split in two: outputs; inputs of a transposed one and where each channel has
  // several results.
  const size_t split = f.is_transposed || has_multiplier ? i : o;
  const int64_t outer = has_multiplier ? dims[split] : f.groups;
  if (outer == 0 || dims[split] % outer != 0) {
    return InvalidInput(
        fmt::format("{} channels of the kernel in {} groups", dims[split], f.groups));
  }
  const int64_t inner = dims[split] / outer;
  dims[split] = outer;
  dims.insert(dims.begin() + static_cast<int64_t>(split) + 1, inner);
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc reshaped, kernel.Reshaped(dims));
  const auto moved = [&](int axis) { return axis > static_cast<int>(split) ? axis + 1 : axis; };
  const int first = static_cast<int>(split), second = first + 1;
  std::vector<int> order;
  if (has_multiplier) {
    order = {moved(f.kernel[0]), first, second};
  } else if (f.is_transposed) {
    order = {first, moved(f.kernel[0]), second};
  } else {
    order = {first, second, moved(f.kernel[1])};
  }
  for (size_t s = 2; s < f.kernel.size(); ++s) order.push_back(moved(f.kernel[s]));
  return reshaped.Permuted(order);
}

Result<bool> IsChannelsLast(const MemoryDesc& view) {
  std::vector<int> order = {0};
  for (int i = 2; i < view.rank(); ++i) order.push_back(i);
  order.push_back(1);
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc last, view.Permuted(order));
  return last.is_plain();
}

}  // namespace

Result<ConvForm> ReadConvForm(const Graph& graph, uint32_t node, int spatial, bool is_transposed) {
  const Node& n = graph.nodes[node];
  ConvForm f{.spatial = spatial, .is_transposed = is_transposed};
  const int rank = spatial + 2;
  for (const size_t i : {0, 1}) {
    if (graph.TypeOf(n.inputs[i]).rank() != rank || n.outputs[0].rank() != rank) {
      return InvalidInput(fmt::format("an operand or the result is not of rank {}", rank));
    }
  }
  const std::string letters(std::string_view("DHW").substr(static_cast<size_t>(3 - spatial)));
  RELAYVM_ASSIGN_OR_RETURN(const std::string data, n.Text("data_layout", "NC" + letters));
  RELAYVM_ASSIGN_OR_RETURN(std::string out, n.Text("out_layout", ""));
  RELAYVM_ASSIGN_OR_RETURN(const std::string kernel,
                           n.Text("kernel_layout", (is_transposed ? "IO" : "OI") + letters));
  if (out.empty()) out = data;
  RELAYVM_ASSIGN_OR_RETURN(f.data, ReadLayout("data_layout", data, "NC" + letters));
  RELAYVM_ASSIGN_OR_RETURN(f.out, ReadLayout("out_layout", out, "NC" + letters));
  RELAYVM_ASSIGN_OR_RETURN(f.kernel, ReadLayout("kernel_layout", kernel, "OI" + letters));
  RELAYVM_ASSIGN_OR_RETURN(f.strides, ReadSpatial(n, "strides", spatial, 1, 1));
  RELAYVM_ASSIGN_OR_RETURN(f.dilation, ReadSpatial(n, "dilation", spatial, 1, 1));
  RELAYVM_RETURN_IF_ERROR(ReadPadding(n, spatial, &f.before, &f.after));
  f.more.assign(static_cast<size_t>(spatial), 0);
  if (is_transposed) {
    RELAYVM_ASSIGN_OR_RETURN(Dims more, n.Integers("output_padding", {0}));
    // Some programs give more values than there are spatial axes; the first ones count.
    if (more.size() > static_cast<size_t>(spatial)) more.resize(static_cast<size_t>(spatial));
    if (more.size() == 1) more.assign(static_cast<size_t>(spatial), more[0]);
    if (more.size() != static_cast<size_t>(spatial)) {
      return InvalidInput(fmt::format("output_padding has {} values", more.size()));
    }
    f.more = std::move(more);
  }
  RELAYVM_ASSIGN_OR_RETURN(f.groups, n.Integer("groups", 1));
  if (f.groups < 1) return InvalidInput(fmt::format("groups is {}", f.groups));
  return f;
}

Result<MemoryDesc> ChannelsLast(const Dims& dims, DType dtype) {
  Dims last = {dims[0]};
  last.insert(last.end(), dims.begin() + 2, dims.end());
  last.push_back(dims[1]);
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc plain, MemoryDesc::Plain(last, dtype));
  std::vector<int> order = {0, plain.rank() - 1};
  for (int i = 1; i + 1 < plain.rank(); ++i) order.push_back(i);
  return plain.Permuted(order);
}

Result<PrimitiveDesc> ConvolutionForms::Describe(const Attributes& a) const {
  const auto is_fast = [](const PrimitiveDesc& desc) {
    return !desc.is_reference() && desc.implementation().find("gemm") == std::string::npos;
  };
  PrimitiveDesc slow;
  Status failure;
  for (const Convolution& c : forms) {
    Result<PrimitiveDesc> desc = DescribePacked(c, packed, a, is_fast);
    if (!desc.ok()) {
      failure = desc.status();
      if (failure.code() == StatusCode::kResourceExhausted) return failure;
      continue;
    }
    if (is_fast(*desc)) return desc;
    if (!slow || (slow.is_reference() && !desc->is_reference())) slow = *std::move(desc);
  }
  if (!slow) return failure;
  return slow;
}

Result<ConvolutionForms> FormsOf(PlanBuilder& b, uint32_t node, const ConvForm& f,
                                 DType kernel_type, DType dst_type, Root* root) {
  const Node& n = b.graph().nodes[node];
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  const Value data = b.Get(n.inputs[0]);
  RELAYVM_ASSIGN_OR_RETURN(const Value kernel, b.Plain(n.inputs[1]));
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc src, data.desc.Permuted(f.data));
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc weights, KernelView(f, kernel.desc, src.dims()[1]));
  Convolution c{.is_transposed = f.is_transposed,
                .strides = f.strides,
                .dilation = f.dilation,
                .before = f.before,
                .after = f.after};
  for (size_t s = 0; s < c.after.size(); ++s) c.after[s] -= f.more[s];
  RELAYVM_ASSIGN_OR_RETURN(c.src, MemoryDesc::Any(src.dims(), b.DTypeOf(n.inputs[0])));
  RELAYVM_ASSIGN_OR_RETURN(c.weights, MemoryDesc::Any(weights.dims(), kernel_type));
  RELAYVM_ASSIGN_OR_RETURN(c.dst, MemoryDesc::Any(Ordered(result, f.out), dst_type));
  root->order = f.out;
  root->of_nothing = 0;
  root->sources = {{DNNL_ARG_SRC, src, data.place, {}, dnnl_query_src_md, 0},
                   {DNNL_ARG_WEIGHTS, weights, kernel.place, {}, dnnl_query_weights_md, 0}};
  ConvolutionForms all{.packed = b.Preferred(n.inputs[1], weights)};
  RELAYVM_ASSIGN_OR_RETURN(const bool is_last, IsChannelsLast(src));
  if (is_last && !f.is_transposed) {
    Convolution last = c;
    last.src = src;
    RELAYVM_ASSIGN_OR_RETURN(last.dst, ChannelsLast(c.dst.dims(), dst_type));
    all.forms.push_back(std::move(last));
  }
  all.forms.push_back(std::move(c));
  return all;
}

namespace {

Status BuildConvolution(PlanBuilder& b, uint32_t node, const ConvForm& f, const Steps& steps) {
  Root root;
  const DType dtype = b.DTypeOf({node, 0});
  RELAYVM_ASSIGN_OR_RETURN(ConvolutionForms all, FormsOf(b, node, f, dtype, dtype, &root));
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, steps.Resolve(b, node));
  MemoryDesc bias;
  RELAYVM_RETURN_IF_ERROR(
      steps.AddBias(b, result, {result[static_cast<size_t>(f.out[1])]}, &root, &bias));
  for (Convolution& form : all.forms) form.bias = bias;
  root.describe = [all](const Attributes& a) { return all.Describe(a); };
  return b.Emit(node, root, posts);
}

template <int kSpatial, bool kTransposed>
Result<BuildFn> MakeConvolution(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 2));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 2));
  RELAYVM_ASSIGN_OR_RETURN(const ConvForm form, ReadConvForm(graph, node, kSpatial, kTransposed));
  RELAYVM_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(graph, node, form.out[1], true));
  return BuildFn(
      [node, form, steps](PlanBuilder& b) { return BuildConvolution(b, node, form, steps); });
}

}  // namespace

MakeFn FindConvolution(std::string_view op) {
  constexpr std::pair<std::string_view, MakeFn> kConvolutions[] = {
      {"nn.conv1d", MakeConvolution<1, false>},
      {"nn.conv2d", MakeConvolution<2, false>},
      {"nn.conv3d", MakeConvolution<3, false>},
      {"nn.conv1d_transpose", MakeConvolution<1, true>},
      {"nn.conv2d_transpose", MakeConvolution<2, true>},
      {"nn.conv3d_transpose", MakeConvolution<3, true>},
  };
  for (const auto& [name, make] : kConvolutions) {
    if (name == op) return make;
  }
  return nullptr;
}

}  // namespace relayvm::onednn

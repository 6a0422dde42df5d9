#include "kernels/op/problem.h"

#include <algorithm>
#include <utility>

#include "kernels/op/op_helpers.h"
#include "kernels/op/weight_forms.h"

namespace relayvm {
namespace {

bool AllAre(const std::vector<int64_t>& values, int64_t value) {
  return std::ranges::count(values, value) == std::ssize(values);
}

// The kernel's layout. Of data in blocks, a kernel with two dims more than its layout has blocks
// of I and O behind it, as TVM's nn.contrib_conv2d_NCHWc takes them.
Result<Layout> KernelLayout(const Attrs& attrs, const std::string& letters, const Layout& data,
                            const TensorType& kernel) {
  const std::string& text = attrs.String("kernel_layout");
  const size_t axes = letters.size() + 2;
  if (text.size() == axes && data.Factor('C') > 1 && kernel.shape.size() == axes + 2 &&
      kernel.shape[axes].is_const() && kernel.shape[axes + 1].is_const()) {
    return Layout::Parse(
        fmt::format("{}{}i{}o", text, kernel.shape[axes].value(), kernel.shape[axes + 1].value()),
        "IO" + letters, "kernel_layout");
  }
  return Layout::Parse(text, "IO" + letters, "kernel_layout");
}

}  // namespace

std::string ConvForm::UsualKernel() const {
  const std::string space(letters());
  return is_channels_last() ? space + "IO" : "OI" + space;
}

bool ConvForm::is_dense() const { return AllAre(strides, 1) && AllAre(dilation, 1); }

bool ConvForm::is_padded() const { return !AllAre(padding.before, 0) || !AllAre(padding.after, 0); }

bool ConvProblem::has_window(int64_t extent) const {
  return std::ranges::all_of(kernel_extent, [&](const Dim& d) { return d.is_const(extent); });
}

Result<ConvProblem> ReadConv(ConvClass kind, const Attrs& attrs, const TensorType& data,
                             const TensorType& kernel) {
  ConvProblem p;
  p.kind = kind;
  const std::string letters(p.letters());
  const std::string& data_layout = attrs.String("data_layout");
  RELAYVM_ASSIGN_OR_RETURN(p.data, Layout::Parse(data_layout, "NC" + letters, "data_layout"));
  RELAYVM_ASSIGN_OR_RETURN(p.kernel, KernelLayout(attrs, letters, p.data, kernel));
  const std::string& out_layout = attrs.String("out_layout");
  RELAYVM_ASSIGN_OR_RETURN(p.out, Layout::Parse(out_layout.empty() ? data_layout : out_layout,
                                                "NC" + letters, "out_layout"));
  if (p.data.rank() != data.rank()) {
    return Invalid("data has rank {}, expected {}", data.rank(), data_layout);
  }
  if (p.kernel.rank() != kernel.rank()) {
    return Invalid("the kernel has rank {}, expected {}", kernel.rank(),
                   attrs.String("kernel_layout"));
  }
  const int spatial = kind.spatial;
  RELAYVM_ASSIGN_OR_RETURN(p.strides,
                           nn::ExpandSpatial(attrs.Ints("strides"), spatial, 1, "strides"));
  RELAYVM_ASSIGN_OR_RETURN(p.dilation,
                           nn::ExpandSpatial(attrs.Ints("dilation"), spatial, 1, "dilation"));
  RELAYVM_ASSIGN_OR_RETURN(p.padding, nn::ExpandPadding(attrs.Ints("padding"), spatial));
  p.groups = attrs.Int("groups");
  if (p.groups < 1) return Invalid("groups is {}, expected at least 1", p.groups);
  if (kind.is_transposed) {
    // Some programs give more values than there are spatial axes; the first ones count.
    std::vector<int64_t> more = attrs.Ints("output_padding");
    if (static_cast<int>(more.size()) > spatial) more.resize(static_cast<size_t>(spatial));
    RELAYVM_ASSIGN_OR_RETURN(p.output_padding,
                             nn::ExpandSpatial(std::move(more), spatial, 0, "output_padding"));
  }

  p.batch = p.data.Extent('N', data.shape);
  p.in_channels = p.data.Extent('C', data.shape);
  p.kernel_out = p.kernel.Extent('O', kernel.shape);
  p.kernel_in = p.kernel.Extent('I', kernel.shape);
  p.has_multiplier = !kind.is_transposed && p.groups > 1 && p.in_channels.is_const(p.groups) &&
                     p.kernel_out.is_const(p.groups) && !p.kernel_in.is_const(1);
  p.out_channels = kind.is_transposed ? p.kernel_out * p.groups
                   : p.has_multiplier ? p.kernel_out * p.kernel_in
                                      : p.kernel_out;
  for (size_t s = 0; s < letters.size(); ++s) {
    p.in_extent.push_back(p.data.Extent(letters[s], data.shape));
    p.kernel_extent.push_back(p.kernel.Extent(letters[s], kernel.shape));
    const int64_t pad = p.padding.before[s] + p.padding.after[s];
    p.out_extent.push_back(kind.is_transposed
                               ? (p.in_extent[s] - 1) * p.strides[s] +
                                     (p.kernel_extent[s] - 1) * p.dilation[s] + 1 - pad +
                                     p.output_padding[s]
                               : nn::WindowExtent(p.in_extent[s], pad, p.kernel_extent[s],
                                                  p.strides[s], p.dilation[s]));
  }
  p.data_type = data.dtype;
  p.kernel_type = kernel.dtype;
  p.sum_type = attrs.OptionalDType("out_dtype").value_or(data.dtype);
  return p;
}

std::optional<ConvProblem> ConvOf(const OpDef& op, const Attrs& attrs, const TensorType& data,
                                  const TensorType& kernel) {
  if (!op.conv) return std::nullopt;
  auto problem = ReadConv(*op.conv, attrs, data, kernel);
  return problem.ok() ? std::optional(*std::move(problem)) : std::nullopt;
}

std::optional<ProductProblem> MatrixProductOf(const OpDef& op, const Attrs& attrs,
                                              const TensorType& data, const TensorType& weight) {
  if (!op.product) return std::nullopt;
  ProductProblem p;
  p.kind = *op.product;
  p.data_type = data.dtype;
  p.weight_type = weight.dtype;
  p.sum_type = attrs.OptionalDType("out_dtype").value_or(data.dtype);
  if (p.kind.has_blocks) {
    p.transpose_b = true;
    p.units = weight.shape[0];
    p.depth = attrs.Int("in_units");
    p.bits = attrs.Int("bits");
    p.block = weight.shape[2].value() * 8 / p.bits;
    return p;
  }
  const AttrValue* a = attrs.Find("transpose_a");
  p.transpose_a = a != nullptr && attrs.Bool("transpose_a");
  p.transpose_b = a == nullptr || attrs.Bool("transpose_b");
  const size_t first = p.kind.is_batched ? 1 : 0;
  if (weight.shape.size() != first + 2) return std::nullopt;
  p.units = weight.shape[first + (p.transpose_b ? 0 : 1)];
  p.depth = weight.shape[first + (p.transpose_b ? 1 : 0)];
  return p;
}

std::optional<ProductProblem> MatrixProductOf(const ConvProblem& conv) {
  if (conv.kind.is_transposed || conv.kind.is_quantised || !conv.is_channels_last() ||
      !conv.has_usual_kernel() || conv.groups != 1 || !AllAre(conv.strides, 1) ||
      conv.is_padded() || !conv.has_window(1)) {
    return std::nullopt;
  }
  ProductProblem p;
  p.depth = conv.kernel_in;
  p.units = conv.kernel_out;
  p.data_type = conv.data_type;
  p.weight_type = conv.kernel_type;
  p.sum_type = conv.sum_type;
  return p;
}

std::string OperatorOf(const ConvClass& kind) {
  return fmt::format("{}.conv{}d{}", kind.is_quantised ? "qnn" : "nn", kind.spatial,
                     kind.is_transposed ? "_transpose" : "");
}

std::string_view OperatorOf(const ProductClass& kind) {
  if (kind.is_batched) return kind.is_quantised ? "qnn.batch_matmul" : "nn.batch_matmul";
  return kind.is_quantised ? "qnn.dense" : "nn.dense";
}

std::optional<NamedCall> PackedProduct(const ProductProblem& product, const WeightForm& form) {
  const bool is_plain = form.block == 0 && form.side_by_side() == 1;
  if (product.transpose_a || product.kind.is_quantised || !product.units.is_const() ||
      !product.depth.is_const() || (product.kind.is_batched && !is_plain)) {
    return std::nullopt;
  }
  NamedCall call{"nn.contrib_dense_pack", {}};
  call.attrs.Set("units", product.units.value());
  if (!is_plain) call.attrs.Set("in_units", product.depth.value());
  if (form.block == 0) {
    if (product.sum_type != product.data_type)
      call.attrs.Set("out_dtype", std::string(DTypeName(product.sum_type)));
    return call;
  }
  call.op = "nn.contrib_dense_blocks";
  call.attrs.Set("form", std::string(form.name));
  return call;
}

NamedCall WinogradConvolution(const ConvProblem& conv, int64_t tile) {
  NamedCall call{"nn.contrib_conv2d_winograd", {}};
  AttrList padding(conv.padding.before.begin(), conv.padding.before.end());
  padding.insert(padding.end(), conv.padding.after.begin(), conv.padding.after.end());
  call.attrs.Set("tile_size", tile);
  call.attrs.Set("channels", conv.kernel_out.value());
  call.attrs.Set("padding", std::move(padding));
  return call;
}

}  // namespace relayvm

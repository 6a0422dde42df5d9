// Quantised products: qnn.conv1d, 2d and 3d, qnn.conv2d_transpose and qnn.dense with constant
// weights, and qnn.batch_matmul of two tensors. oneDNN sums bytes to int32; what comes after is
// done by plain loops (integer_steps.h), to the same bits as the native definitions.
//
// oneDNN brings sums to float32 on their way, which holds integers to 2^24. Refused are weights
// whose sums may be larger, products of two tensors of more than kMostTerms terms, and machines
// without products of bytes in int32 (VNNI), where it saturates sums of two.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "vm/engines/dnnl/conv_form.h"
#include "vm/engines/dnnl/operators.h"
#include "vm/engines/dnnl/quantised_steps.h"

namespace relayvm::onednn {
namespace {

constexpr int64_t kMostOfByte = 255;  // signed bytes are summed with 128 more
constexpr int64_t kMostSum = int64_t{1} << 24;
constexpr int64_t kMostTerms = kMostSum / (kMostOfByte * 128);

struct QuantisedForm {
  int32_t zero_point = 0;  // of the data
  DType data = DType::kInt8;
  IntegerSteps steps;
  std::optional<ValueRef> other;  // of the step sum
};

// That no sum of a result's products leaves what float32 holds. `outputs`: the weight's axes of
// which each place makes results of its own.
Status CheckSums(const Graph& graph, ValueRef weight, const std::vector<int>& outputs) {
  const Node& n = graph.nodes[weight.node];
  if (n.kind != Node::Kind::kConst) return {StatusCode::kUnsupported, "the weight is no constant"};
  if (n.outputs[0].dtype != DType::kInt8) {
    return {StatusCode::kUnsupported,
            fmt::format("a weight of {}, expected int8", DTypeName(n.outputs[0].dtype))};
  }
  RELAYVM_ASSIGN_OR_RETURN(const Dims dims, ResolveDims(n.outputs[0], {}));
  const auto* w = static_cast<const int8_t*>(graph.constant_data[n.position]);
  Dims strides(dims.size(), 0), at(dims.size(), 0);
  int64_t places = 1, count = 1;
  for (const int axis : outputs) {
    strides[static_cast<size_t>(axis)] = places;
    places *= dims[static_cast<size_t>(axis)];
  }
  for (const int64_t d : dims) count *= d;
  if (count == 0) return OkStatus();
  std::vector<int64_t> sums(static_cast<size_t>(places), 0);
  int64_t place = 0;
  for (int64_t k = 0; k < count; ++k) {
    sums[static_cast<size_t>(place)] += std::abs(int64_t{w[k]});
    for (size_t i = dims.size(); i-- > 0;) {
      place += strides[i];
      if (++at[i] < dims[i]) break;
      place -= strides[i] * dims[i];
      at[i] = 0;
    }
  }
  const int64_t most = *std::max_element(sums.begin(), sums.end());
  if (most * kMostOfByte <= kMostSum) return OkStatus();
  return {
      StatusCode::kUnsupported,
      fmt::format("weights of a result have {} in all: its sums may leave the 24 bits that oneDNN "
                  "keeps",
                  most)};
}

// Of data, weight, their zero points, their scales (which do not change the integers), then the
// steps' operands.
Result<QuantisedForm> ReadQuantisedForm(const Graph& graph, const Node& n, int channel_axis) {
  QuantisedForm f;
  if (!HasByteProducts()) {
    return Status(StatusCode::kUnsupported, "products of bytes need VNNI");
  }
  f.data = graph.TypeOf(n.inputs[0]).dtype;
  if (f.data != DType::kInt8 && f.data != DType::kUInt8) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("data of {}, expected int8 or uint8", DTypeName(f.data)));
  }
  RELAYVM_ASSIGN_OR_RETURN(
      const std::vector<int32_t> data_zero,
      ReadConstant<int32_t>(graph, n.inputs[2], DType::kInt32, -1, "the data's zero point"));
  const TensorType& weight_zero_type = graph.TypeOf(n.inputs[3]);
  const int64_t vector = weight_zero_type.rank() == 1 && weight_zero_type.shape[0].is_known()
                             ? weight_zero_type.shape[0].value
                             : -1;
  RELAYVM_ASSIGN_OR_RETURN(
      const std::vector<int32_t> weight_zero,
      ReadConstant<int32_t>(graph, n.inputs[3], DType::kInt32, vector, "the weight's zero point"));
  if (std::any_of(weight_zero.begin(), weight_zero.end(), [](int32_t z) { return z != 0; })) {
    return Status(StatusCode::kUnsupported, "a weight's zero point that is not 0");
  }
  f.zero_point = data_zero[0];
  RELAYVM_ASSIGN_OR_RETURN(const Limits limits, LimitsOf(f.data));
  if (f.zero_point < limits.low || f.zero_point > limits.high) {
    return Status(StatusCode::kUnsupported, fmt::format("a zero point of {}", f.zero_point));
  }
  RELAYVM_ASSIGN_OR_RETURN(QuantisedSteps steps, ReadQuantisedSteps(graph, n, channel_axis));
  f.steps = std::move(steps.steps);
  f.other = steps.other;
  return f;
}

Attributes WithZeroPoint(const QuantisedForm& f) {
  Attributes a;
  if (f.zero_point != 0) a.src_zero_point = f.zero_point;
  return a;
}

// `sums` of int32, brought through the steps.
Status FinishQuantised(PlanBuilder& b, uint32_t node, const QuantisedForm& f, const Value& sums,
                       int channel_axis) {
  std::vector<Value> places = {sums};
  if (f.other) {
    RELAYVM_ASSIGN_OR_RETURN(Value other, b.As(*f.other, sums.desc.WithType(b.DTypeOf(*f.other))));
    places.push_back(std::move(other));
  }
  const Value to = b.SetResult(node, sums.desc.WithType(f.steps.out));
  places.push_back(to);
  const auto axis = static_cast<size_t>(channel_axis);
  ChannelLayout layout;
  layout.channels = sums.desc.dims()[axis];
  int64_t count = 1;
  for (const int64_t d : sums.desc.dims()) count *= d;
  layout.inner = layout.channels == 1 ? count : sums.desc.Stride(channel_axis);
  layout.outer = count / (layout.channels * layout.inner);
  b.AddNative(
      [layout, steps = f.steps](std::span<void* const> at) {
        const void* other = at.size() > 2 ? at[1] : nullptr;
        RunIntegerSteps(steps, layout, static_cast<const int32_t*>(at[0]), other, at.back());
      },
      places);
  return OkStatus();
}

// --- Operators ---

Status BuildQuantisedConv(PlanBuilder& b, uint32_t node, const ConvForm& c,
                          const QuantisedForm& f) {
  Root root;
  RELAYVM_ASSIGN_OR_RETURN(ConvolutionForms all,
                           FormsOf(b, node, c, DType::kInt8, DType::kInt32, &root));
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc last,
                           ChannelsLast(all.forms[0].dst.dims(), DType::kInt32));
  for (Convolution& form : all.forms) form.dst = last;
  root.describe = [all, zero = WithZeroPoint(f)](const Attributes& /*none*/) {
    return all.Describe(zero);
  };
  if (f.steps.steps.empty()) return b.Emit(node, root, {});
  RELAYVM_ASSIGN_OR_RETURN(const Value sums, b.EmitScratch(node, root, DType::kInt32));
  return FinishQuantised(b, node, f, sums, c.out[1]);
}

template <int kSpatial, bool kTransposed>
Result<BuildFn> MakeQuantisedConv(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 6));
  RELAYVM_ASSIGN_OR_RETURN(const ConvForm c, ReadConvForm(graph, node, kSpatial, kTransposed));
  // The places of O; where each channel has several results, those of I too.
  const TensorType& kernel = graph.TypeOf(n.inputs[1]);
  const Extent channels = graph.TypeOf(n.inputs[0]).shape[static_cast<size_t>(c.data[1])];
  std::vector<int> outputs = {c.kernel[0]};
  const bool has_multiplier = !kTransposed && c.groups > 1 && channels.is_known() &&
                              channels.value == c.groups &&
                              kernel.shape[static_cast<size_t>(c.kernel[0])].value == c.groups;
  if (has_multiplier) outputs.push_back(c.kernel[1]);
  RELAYVM_RETURN_IF_ERROR(CheckSums(graph, n.inputs[1], outputs));
  RELAYVM_ASSIGN_OR_RETURN(const QuantisedForm f, ReadQuantisedForm(graph, n, c.out[1]));
  return BuildFn([node, c, f](PlanBuilder& b) { return BuildQuantisedConv(b, node, c, f); });
}

Status BuildQuantisedDense(PlanBuilder& b, uint32_t node, const QuantisedForm& f) {
  const Node& n = b.graph().nodes[node];
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  RELAYVM_ASSIGN_OR_RETURN(const Dims data, b.DimsOf(n.inputs[0]));
  RELAYVM_ASSIGN_OR_RETURN(const Value x, b.Plain(n.inputs[0]));
  RELAYVM_ASSIGN_OR_RETURN(const Value w, b.Plain(n.inputs[1]));
  const int64_t rows =
      std::accumulate(result.begin(), result.end() - 1, int64_t{1}, std::multiplies<>());
  const int64_t columns = result.back(), depth = data.back();
  if (!std::equal(result.begin(), result.end() - 1, data.begin(), data.end() - 1) ||
      w.desc.dims() != Dims{columns, depth}) {
    return InvalidInput("the extents of data, weight and result do not fit");
  }
  MatMul product;
  RELAYVM_ASSIGN_OR_RETURN(product.src, x.desc.Reshaped({rows, depth}));
  RELAYVM_ASSIGN_OR_RETURN(product.weights, MemoryDesc::Any({depth, columns}, DType::kInt8));
  RELAYVM_ASSIGN_OR_RETURN(product.dst, MemoryDesc::Plain({rows, columns}, DType::kInt32));
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc weights, w.desc.Permuted({1, 0}));
  Root root;
  root.of_nothing = 0;
  root.is_flat = true;
  root.sources = {{DNNL_ARG_SRC, product.src, x.place, product.src},
                  {DNNL_ARG_WEIGHTS, weights, w.place, {}, dnnl_query_weights_md, 0}};
  root.describe = [describe = WithWeights(product, b.Preferred(n.inputs[1], weights)),
                   zero = WithZeroPoint(f)](const Attributes& /*none*/) { return describe(zero); };
  if (f.steps.steps.empty()) return b.Emit(node, root, {});
  RELAYVM_ASSIGN_OR_RETURN(const Value sums, b.EmitScratch(node, root, DType::kInt32));
  return FinishQuantised(b, node, f, sums, static_cast<int>(result.size()) - 1);
}

Result<BuildFn> MakeQuantisedDense(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 6));
  const int rank = graph.TypeOf(n.inputs[0]).rank();
  if (rank < 1 || rank != n.outputs[0].rank() || graph.TypeOf(n.inputs[1]).rank() != 2) {
    return InvalidInput("the ranks of data, weight and result do not fit");
  }
  RELAYVM_RETURN_IF_ERROR(CheckSums(graph, n.inputs[1], {0}));
  RELAYVM_ASSIGN_OR_RETURN(const QuantisedForm f, ReadQuantisedForm(graph, n, rank - 1));
  return BuildFn([node, f](PlanBuilder& b) { return BuildQuantisedDense(b, node, f); });
}

// A product's last two axes, of which the last is summed over where it `is_last`.
Result<MemoryDesc> SummedLast(const MemoryDesc& desc, bool is_last) {
  if (is_last) return desc;
  return desc.Permuted({0, 2, 1});
}

Status BuildQuantisedBatches(PlanBuilder& b, uint32_t node, bool transpose_a, bool transpose_b,
                             const QuantisedForm& f) {
  const Node& n = b.graph().nodes[node];
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  RELAYVM_ASSIGN_OR_RETURN(const Value x, b.Plain(n.inputs[0]));
  RELAYVM_ASSIGN_OR_RETURN(const Value y, b.Plain(n.inputs[1]));
  MatMul product;
  RELAYVM_ASSIGN_OR_RETURN(product.src, SummedLast(x.desc, !transpose_a));
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc weights, SummedLast(y.desc, !transpose_b));
  product.weights = weights;
  if (b.IsConstant(n.inputs[1])) {
    RELAYVM_ASSIGN_OR_RETURN(product.weights, MemoryDesc::Any(weights.dims(), DType::kInt8));
  }
  RELAYVM_ASSIGN_OR_RETURN(product.dst, MemoryDesc::Plain(result, DType::kInt32));
  const Dims a = product.src.dims(), w = weights.dims();
  const auto fits = [&](int64_t batch) { return batch == result[0] || batch == 1; };
  if (!fits(a[0]) || !fits(w[0]) || a[1] != result[1] || w[2] != result[2] || a[2] != w[1]) {
    return InvalidInput("the extents of the matrices and of the result do not fit");
  }
  Root root;
  root.of_nothing = 0;
  root.sources = {{DNNL_ARG_SRC, product.src, x.place, product.src},
                  {DNNL_ARG_WEIGHTS, weights, y.place, {}, dnnl_query_weights_md, 0}};
  root.describe = [describe = WithWeights(product, b.Preferred(n.inputs[1], weights)),
                   zero = WithZeroPoint(f)](const Attributes& /*none*/) { return describe(zero); };
  if (f.steps.steps.empty()) return b.Emit(node, root, {});
  RELAYVM_ASSIGN_OR_RETURN(const Value sums, b.EmitScratch(node, root, DType::kInt32));
  return FinishQuantised(b, node, f, sums, 2);
}

Result<BuildFn> MakeQuantisedBatches(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 6));
  for (const TensorType& t : {graph.TypeOf(n.inputs[0]), graph.TypeOf(n.inputs[1]), n.outputs[0]}) {
    if (t.rank() != 3) return InvalidInput("an operand or the result is not of rank 3");
  }
  RELAYVM_ASSIGN_OR_RETURN(const bool transpose_a, n.Flag("transpose_a", false));
  RELAYVM_ASSIGN_OR_RETURN(const bool transpose_b, n.Flag("transpose_b", false));
  const TensorType& y = graph.TypeOf(n.inputs[1]);
  const Extent terms = y.shape[transpose_b ? 2 : 1];
  if (!terms.is_known() || terms.value > kMostTerms) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("sums of {} products, expected at most {}: they may leave the 24 bits "
                    "that oneDNN keeps",
                    terms.is_known() ? std::to_string(terms.value) : "any number of", kMostTerms));
  }
  if (y.dtype != DType::kInt8) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("a second tensor of {}, expected int8", DTypeName(y.dtype)));
  }
  RELAYVM_ASSIGN_OR_RETURN(const QuantisedForm f, ReadQuantisedForm(graph, n, 2));
  return BuildFn([node, transpose_a, transpose_b, f](PlanBuilder& b) {
    return BuildQuantisedBatches(b, node, transpose_a, transpose_b, f);
  });
}

}  // namespace

MakeFn FindQuantised(std::string_view op) {
  constexpr std::pair<std::string_view, MakeFn> kProducts[] = {
      {"qnn.conv1d", MakeQuantisedConv<1, false>},
      {"qnn.conv2d", MakeQuantisedConv<2, false>},
      {"qnn.conv3d", MakeQuantisedConv<3, false>},
      {"qnn.conv2d_transpose", MakeQuantisedConv<2, true>},
      {"qnn.dense", MakeQuantisedDense},
      {"qnn.batch_matmul", MakeQuantisedBatches},
  };
  for (const auto& [name, make] : kProducts) {
    if (name == op) return make;
  }
  return nullptr;
}

}  // namespace relayvm::onednn

// Quantised products: qnn.conv1d, 2d and 3d, and qnn.dense, with constant weights. oneDNN sums
// bytes to int32; what comes after is done by plain loops (integer_steps.h), to the same bits as
// the native definitions.
//
// oneDNN brings sums to float32 on their way, which holds integers to 2^24: weights whose sums may
// be larger are refused, and machines without products of bytes in int32 (VNNI), where it saturates
// sums of two.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "vm/engines/dnnl/conv_form.h"
#include "vm/engines/dnnl/integer_steps.h"
#include "vm/engines/dnnl/operators.h"

namespace relayvm::onednn {
namespace {

constexpr int64_t kMostOfByte = 255;  // signed bytes are summed with 128 more
constexpr int64_t kMostSum = int64_t{1} << 24;

// --- Constants, read when the region is created ---

template <typename T>
std::vector<T> Elements(const void* data, int64_t count) {
  std::vector<T> elements(static_cast<size_t>(count));
  if (count != 0) std::memcpy(elements.data(), data, elements.size() * sizeof(T));
  return elements;
}

// The numbers of a constant that is a scalar, or a vector of `channels` (-1: a scalar).
template <typename T>
Result<std::vector<T>> ReadConstant(const Graph& graph, ValueRef v, DType dtype, int64_t channels,
                                    const char* what) {
  const Node& n = graph.nodes[v.node];
  if (n.kind != Node::Kind::kConst) {
    return Status(StatusCode::kUnsupported, fmt::format("{} is no constant", what));
  }
  RELAYVM_ASSIGN_OR_RETURN(const Dims dims, ResolveDims(n.outputs[0], {}));
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  const bool fits = count == 1 || (count == channels && dims.size() == 1);
  if (n.outputs[0].dtype != dtype || !fits) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} is {} of {} elements, expected {} of 1{}", what,
                              DTypeName(n.outputs[0].dtype), count, DTypeName(dtype),
                              channels < 0 ? "" : fmt::format(" or {}", channels)));
  }
  return Elements<T>(graph.constant_data[n.position], count);
}

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

// --- Steps ---

struct Limits {
  int64_t low, high;
};
Result<Limits> LimitsOf(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return Limits{-128, 127};
    case DType::kUInt8:
      return Limits{0, 255};
    case DType::kInt32:
      return Limits{INT32_MIN, INT32_MAX};
    default:
      return Status(StatusCode::kUnsupported, fmt::format("integers of {}", DTypeName(dtype)));
  }
}

class StepReader {
 public:
  StepReader(const Graph& graph, const Node& node, int channel_axis)
      : graph_(graph),
        node_(node),
        axis_(channel_axis),
        channels_(node.outputs[0].shape[static_cast<size_t>(channel_axis)]) {}

  Result<IntegerSteps> Read() {
    for (const Step& step : node_.steps) {
      if (dtype_ == DType::kFloat32) {
        return Status(StatusCode::kUnsupported, "steps after the step dequantize");
      }
      if (step.label == "bias" || step.label == "add") {
        RELAYVM_RETURN_IF_ERROR(ReadAdd(step));
      } else if (step.label == "requantize") {
        RELAYVM_RETURN_IF_ERROR(ReadRequantize(step));
      } else if (step.label == "clip" || step.label == "relu") {
        RELAYVM_RETURN_IF_ERROR(ReadClip(step));
      } else if (step.label == "cast") {
        RELAYVM_RETURN_IF_ERROR(ReadCast(step));
      } else if (step.label == "sum") {
        RELAYVM_RETURN_IF_ERROR(ReadSum(step));
      } else if (step.label == "dequantize") {
        RELAYVM_RETURN_IF_ERROR(ReadDequantize(step));
      } else {
        return Status(
            StatusCode::kUnsupported,
            fmt::format("a quantised product has no step \"{}\"", step.label.substr(0, 40)));
      }
    }
    if (dtype_ != node_.outputs[0].dtype) {
      return InvalidInput(fmt::format("the steps give {}, the result is {}", DTypeName(dtype_),
                                      DTypeName(node_.outputs[0].dtype)));
    }
    steps_.out = dtype_;
    Complete(&steps_, channels());
    return steps_;
  }
  const std::optional<ValueRef>& other() const { return other_; }

 private:
  int64_t channels() const { return channels_.is_known() ? channels_.value : -1; }

  Status RequireInputs(const Step& step, size_t count) const {
    if (step.inputs.size() == count) return OkStatus();
    return InvalidInput(fmt::format("the step {} has {} inputs, expected {}", step.label,
                                    step.inputs.size(), count));
  }
  ValueRef Operand(const Step& step, size_t i) const { return node_.inputs[step.inputs[i]]; }

  // [C], or [C, 1, 1] as it is broadcast.
  Status ReadAdd(const Step& step) {
    RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 1));
    if (dtype_ != DType::kInt32) {
      return {StatusCode::kUnsupported, fmt::format("an addition of {}", DTypeName(dtype_))};
    }
    const ValueRef v = Operand(step, 0);
    const Node& n = graph_.nodes[v.node];
    if (n.kind != Node::Kind::kConst || n.outputs[0].dtype != DType::kInt32) {
      return {StatusCode::kUnsupported, "a bias that is no constant of int32"};
    }
    RELAYVM_ASSIGN_OR_RETURN(const Dims dims, ResolveDims(n.outputs[0], {}));
    const auto rank = static_cast<size_t>(node_.outputs[0].rank());
    int64_t count = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      count *= dims[i];
      const bool is_channel = i + rank - dims.size() == static_cast<size_t>(axis_);
      if (dims[i] != 1 && !is_channel && (dims.size() != 1 || step.label != "bias")) {
        return {StatusCode::kUnsupported, "an addition along another axis than the channels"};
      }
    }
    if (count != 1 && count != channels()) {
      return InvalidInput(fmt::format("a bias of {} for {} channels", count, channels()));
    }
    IntegerStep s{.kind = IntegerStep::Kind::kAdd};
    s.addend = Elements<int32_t>(graph_.constant_data[n.position], count);
    steps_.steps.push_back(std::move(s));
    return OkStatus();
  }

  // Vectors are along `axis` of the step, which must be that of the channels.
  int64_t Vectors(const Step& step) const {
    const double axis = step.NumberOr("axis", axis_);
    const int rank = node_.outputs[0].rank();
    return axis == axis_ || axis + rank == axis_ ? channels() : -1;
  }
  Result<std::vector<int64_t>> ZeroPoints(const Step& step, size_t i, int64_t vectors) const {
    RELAYVM_ASSIGN_OR_RETURN(
        const std::vector<int32_t> zeros,
        ReadConstant<int32_t>(graph_, Operand(step, i), DType::kInt32, vectors, "a zero point"));
    return std::vector<int64_t>(zeros.begin(), zeros.end());
  }

  Status ReadRequantize(const Step& step) {
    RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 4));
    const std::string compute = step.Text("compute_dtype", "None");
    const std::string rounding = step.Text("rounding", "");
    if (compute != "None" && !compute.empty() && compute != "int64") {
      return {StatusCode::kUnsupported, fmt::format("compute_dtype {}", compute.substr(0, 40))};
    }
    IntegerStep s{.kind = IntegerStep::Kind::kRequantize};
    s.to_nearest = rounding == "TONEAREST";
    if (!s.to_nearest && rounding != "UPWARD" && rounding != "None") {
      return InvalidInput(
          fmt::format("the step requantize has rounding \"{}\", expected None, UPWARD "
                      "or TONEAREST",
                      rounding.substr(0, 40)));
    }
    RELAYVM_ASSIGN_OR_RETURN(const DType dtype, NamedType(step));
    RELAYVM_ASSIGN_OR_RETURN(const Limits limits, LimitsOf(dtype));
    s.low = limits.low;
    s.high = limits.high;
    const int64_t vectors = Vectors(step);
    const auto scales = [&](size_t i) {
      return ReadConstant<float>(graph_, Operand(step, i), DType::kFloat32, vectors, "a scale");
    };
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<float> in, scales(0));
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<float> out, scales(2));
    RELAYVM_ASSIGN_OR_RETURN(s.zero_in, ZeroPoints(step, 1, vectors));
    RELAYVM_ASSIGN_OR_RETURN(s.zero_out, ZeroPoints(step, 3, vectors));
    if (DTypeBits(dtype) <= 16) {  // as far as such a result needs them
      for (int64_t& zero : s.zero_out) {
        zero = std::clamp<int64_t>(zero, -(int64_t{1} << 28), int64_t{1} << 28);
      }
    }
    for (size_t i = 0; i < std::max(in.size(), out.size()); ++i) {
      s.ratio.push_back(
          FixedPointOf(in.size() == 1 ? in[0] : in[i], out.size() == 1 ? out[0] : out[i], dtype));
    }
    dtype_ = dtype;
    steps_.steps.push_back(std::move(s));
    return OkStatus();
  }

  // "dtype=int8".
  Result<DType> NamedType(const Step& step) const {
    const std::string named = step.Text("dtype", step.Text("out_dtype", ""));
    const std::optional<DType> dtype = ParseDType(named);
    if (dtype) return *dtype;
    return InvalidInput(
        fmt::format("the step {} has dtype \"{}\"", step.label, named.substr(0, 40)));
  }

  Status ReadCast(const Step& step) {
    RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 0));
    IntegerStep s{.kind = IntegerStep::Kind::kCast};
    RELAYVM_ASSIGN_OR_RETURN(s.dtype, NamedType(step));
    RELAYVM_RETURN_IF_ERROR(LimitsOf(s.dtype).status());
    dtype_ = s.dtype;
    steps_.steps.push_back(std::move(s));
    return OkStatus();
  }

  // qnn.add: the other tensor, then scale and zero point of the value, of the other, of the result.
  Status ReadSum(const Step& step) {
    RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 7));
    if (other_) return {StatusCode::kUnsupported, "a second step sum"};
    if (DTypeBits(dtype_) != 8) {
      return {StatusCode::kUnsupported, fmt::format("a sum of {}", DTypeName(dtype_))};
    }
    other_ = Operand(step, 0);
    const TensorType& other = graph_.TypeOf(*other_);
    if (other.dtype != dtype_ || other.shape != node_.outputs[0].shape) {
      return InvalidInput("a sum with a tensor of another type");
    }
    IntegerStep s{.kind = IntegerStep::Kind::kSum, .dtype = dtype_};
    const auto scale = [&](size_t i) {
      return ReadConstant<float>(graph_, Operand(step, i), DType::kFloat32, -1, "a scale");
    };
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<float> own, scale(1));
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<float> others, scale(3));
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<float> out, scale(5));
    RELAYVM_ASSIGN_OR_RETURN(s.zero_in, ZeroPoints(step, 2, -1));
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<int64_t> other_zero, ZeroPoints(step, 4, -1));
    RELAYVM_ASSIGN_OR_RETURN(s.zero_out, ZeroPoints(step, 6, -1));
    s.zero_out[0] = std::clamp<int64_t>(s.zero_out[0], -(int64_t{1} << 28), int64_t{1} << 28);
    s.other_zero = other_zero[0];
    s.ratio = {FixedPointOf(own[0], out[0], dtype_)};
    s.other_ratio = FixedPointOf(others[0], out[0], dtype_);
    RELAYVM_ASSIGN_OR_RETURN(const Limits limits, LimitsOf(dtype_));
    s.low = limits.low;
    s.high = limits.high;
    steps_.steps.push_back(std::move(s));
    return OkStatus();
  }

  Status ReadClip(const Step& step) {
    RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 0));
    RELAYVM_ASSIGN_OR_RETURN(const Limits limits, LimitsOf(dtype_));
    IntegerStep s{.kind = IntegerStep::Kind::kClip, .low = 0, .high = limits.high};
    if (step.label == "clip") {
      RELAYVM_ASSIGN_OR_RETURN(const double min, step.Number("min"));
      RELAYVM_ASSIGN_OR_RETURN(const double max, step.Number("max"));
      const auto is_fine = [&](double v) {
        return v == std::floor(v) && v >= static_cast<double>(limits.low) &&
               v <= static_cast<double>(limits.high);
      };
      if (!is_fine(min) || !is_fine(max) || min > max) {
        return {StatusCode::kUnsupported,
                fmt::format("clip to {} .. {} of {}", min, max, DTypeName(dtype_))};
      }
      s.low = static_cast<int64_t>(min);
      s.high = static_cast<int64_t>(max);
    }
    steps_.steps.push_back(std::move(s));
    return OkStatus();
  }

  Status ReadDequantize(const Step& step) {
    RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 2));
    IntegerStep s{.kind = IntegerStep::Kind::kDequantize};
    const int64_t vectors = Vectors(step);
    RELAYVM_ASSIGN_OR_RETURN(s.scale, ReadConstant<float>(graph_, Operand(step, 0), DType::kFloat32,
                                                          vectors, "a scale"));
    RELAYVM_ASSIGN_OR_RETURN(s.zero_in, ZeroPoints(step, 1, vectors));
    dtype_ = DType::kFloat32;
    steps_.steps.push_back(std::move(s));
    return OkStatus();
  }

  const Graph& graph_;
  const Node& node_;
  int axis_;
  Extent channels_;
  DType dtype_ = DType::kInt32;
  IntegerSteps steps_;
  std::optional<ValueRef> other_;
};

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
  StepReader reader(graph, n, channel_axis);
  RELAYVM_ASSIGN_OR_RETURN(f.steps, reader.Read());
  f.other = reader.other();
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
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Convolution> forms,
                           ConvolutionForms(b, node, c, DType::kInt8, DType::kInt32, &root));
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc last, ChannelsLast(forms[0].dst.dims(), DType::kInt32));
  for (Convolution& form : forms) form.dst = last;
  root.describe = [forms, zero = WithZeroPoint(f)](const Attributes& /*none*/) {
    return FirstFast(forms, zero);
  };
  if (f.steps.steps.empty()) return b.Emit(node, root, {});
  RELAYVM_ASSIGN_OR_RETURN(const Value sums, b.EmitScratch(node, root, DType::kInt32));
  return FinishQuantised(b, node, f, sums, c.out[1]);
}

template <int kSpatial>
Result<BuildFn> MakeQuantisedConv(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 6));
  RELAYVM_ASSIGN_OR_RETURN(const ConvForm c, ReadConvForm(graph, node, kSpatial, false));
  // The places of O; where each channel has several results, those of I too.
  const TensorType& kernel = graph.TypeOf(n.inputs[1]);
  const Extent channels = graph.TypeOf(n.inputs[0]).shape[static_cast<size_t>(c.data[1])];
  std::vector<int> outputs = {c.kernel[0]};
  const bool has_multiplier = c.groups > 1 && channels.is_known() && channels.value == c.groups &&
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

}  // namespace

MakeFn FindQuantised(std::string_view op) {
  constexpr std::pair<std::string_view, MakeFn> kProducts[] = {
      {"qnn.conv1d", MakeQuantisedConv<1>},
      {"qnn.conv2d", MakeQuantisedConv<2>},
      {"qnn.conv3d", MakeQuantisedConv<3>},
      {"qnn.dense", MakeQuantisedDense},
  };
  for (const auto& [name, make] : kProducts) {
    if (name == op) return make;
  }
  return nullptr;
}

}  // namespace relayvm::onednn

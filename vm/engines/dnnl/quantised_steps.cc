#include "vm/engines/dnnl/quantised_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace relayvm::onednn {

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

namespace {

class StepReader {
 public:
  StepReader(const Graph& graph, const Node& node, int channel_axis)
      : graph_(graph),
        node_(node),
        axis_(channel_axis),
        channels_(node.outputs[0].shape[static_cast<size_t>(channel_axis)]) {}

  Result<IntegerSteps> Read() {
    for (const Step& step : node_.steps) {
      if (is_dequantized_) {
        return Status(StatusCode::kUnsupported, "steps after the step dequantize");
      }
      if (dtype_ == DType::kFloat32) {
        RELAYVM_RETURN_IF_ERROR(ReadFloats(step));
      } else if (step.label == "bias" || step.label == "add") {
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

  // Elements of a constant [C], or [C, 1, 1] as it is broadcast; of a bias [C] along the channels.
  Result<int64_t> CountAlongChannels(const Step& step, const Node& n) const {
    RELAYVM_ASSIGN_OR_RETURN(const Dims dims, ResolveDims(n.outputs[0], {}));
    const auto rank = static_cast<size_t>(node_.outputs[0].rank());
    if (dims.size() > rank) return InvalidInput("an operand of a higher rank than the result");
    int64_t count = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      count *= dims[i];
      const bool is_channel = i + rank - dims.size() == static_cast<size_t>(axis_);
      if (dims[i] != 1 && !is_channel && (dims.size() != 1 || step.label != "bias")) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("the step {} along another axis than the channels", step.label));
      }
    }
    if (count != 1 && count != channels()) {
      return InvalidInput(
          fmt::format("the step {} of {} for {} channels", step.label, count, channels()));
    }
    return count;
  }

  Status ReadAdd(const Step& step) {
    RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 1));
    if (dtype_ != DType::kInt32) {
      return {StatusCode::kUnsupported, fmt::format("an addition of {}", DTypeName(dtype_))};
    }
    const Node& n = graph_.nodes[Operand(step, 0).node];
    if (n.kind != Node::Kind::kConst || n.outputs[0].dtype != DType::kInt32) {
      return {StatusCode::kUnsupported, "a bias that is no constant of int32"};
    }
    RELAYVM_ASSIGN_OR_RETURN(const int64_t count, CountAlongChannels(step, n));
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
    if (s.dtype == DType::kFloat32) {
      s.kind = IntegerStep::Kind::kToFloats;
    } else {
      RELAYVM_RETURN_IF_ERROR(LimitsOf(s.dtype).status());
      if (dtype_ == DType::kFloat32) s.kind = IntegerStep::Kind::kToIntegers;
    }
    dtype_ = s.dtype;
    steps_.steps.push_back(std::move(s));
    return OkStatus();
  }

  // qnn.add: the other tensor, then scale and zero point of the value, of the other, of the result.
  Status ReadSum(const Step& step) {
    RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 7));
    if (DTypeBits(dtype_) != 8) {
      return {StatusCode::kUnsupported, fmt::format("a sum of {}", DTypeName(dtype_))};
    }
    RELAYVM_RETURN_IF_ERROR(TakeOther(step));
    if (graph_.TypeOf(*other_).dtype != dtype_) {
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
    is_dequantized_ = true;
    steps_.steps.push_back(std::move(s));
    return OkStatus();
  }

  // --- Of float32, after a cast ---

  // The numbers of all channels, or one; as they are broadcast.
  Result<std::vector<float>> ChannelFloats(const Step& step) const {
    RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 1));
    const ValueRef v = Operand(step, 0);
    const Node& n = graph_.nodes[v.node];
    if (n.kind != Node::Kind::kConst || n.outputs[0].dtype != DType::kFloat32) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("an operand of {} that is no constant of float32", step.label));
    }
    RELAYVM_ASSIGN_OR_RETURN(const int64_t count, CountAlongChannels(step, n));
    return Elements<float>(graph_.constant_data[n.position], count);
  }

  Status ReadFloats(const Step& step) {
    IntegerStep s;
    if (step.label == "cast") return ReadCast(step);
    if (step.label == "add" || step.label == "bias" || step.label == "multiply") {
      s.kind = step.label == "multiply" ? IntegerStep::Kind::kMultiplyFloats
                                        : IntegerStep::Kind::kAddFloats;
      RELAYVM_ASSIGN_OR_RETURN(s.scale, ChannelFloats(step));
    } else if (step.label == "clip" || step.label == "relu") {
      RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 0));
      s.kind = IntegerStep::Kind::kClipFloats;
      s.greatest = std::numeric_limits<float>::infinity();
      if (step.label == "clip") {
        RELAYVM_ASSIGN_OR_RETURN(const double min, step.Number("min"));
        RELAYVM_ASSIGN_OR_RETURN(const double max, step.Number("max"));
        s.least = static_cast<float>(min);
        s.greatest = static_cast<float>(max);
      }
    } else if (step.label == "scaled_sum") {
      RELAYVM_RETURN_IF_ERROR(RequireInputs(step, 2));
      RELAYVM_RETURN_IF_ERROR(TakeOther(step));
      s.kind = IntegerStep::Kind::kSumFloats;
      s.dtype = graph_.TypeOf(*other_).dtype;
      RELAYVM_ASSIGN_OR_RETURN(
          s.scale, ReadConstant<float>(graph_, Operand(step, 1), DType::kFloat32, -1, "a scale"));
    } else {
      return {StatusCode::kUnsupported,
              fmt::format("floats of a quantised product have no step \"{}\"",
                          step.label.substr(0, 40))};
    }
    steps_.steps.push_back(std::move(s));
    return OkStatus();
  }

  // A tensor of bytes of the result's extents, once.
  Status TakeOther(const Step& step) {
    if (other_) return {StatusCode::kUnsupported, "a second step sum"};
    other_ = Operand(step, 0);
    const TensorType& other = graph_.TypeOf(*other_);
    if ((other.dtype != DType::kInt8 && other.dtype != DType::kUInt8) ||
        other.shape != node_.outputs[0].shape) {
      return InvalidInput("a sum with a tensor of another type");
    }
    return OkStatus();
  }

  const Graph& graph_;
  const Node& node_;
  int axis_;
  Extent channels_;
  DType dtype_ = DType::kInt32;
  bool is_dequantized_ = false;
  IntegerSteps steps_;
  std::optional<ValueRef> other_;
};

}  // namespace

Result<QuantisedSteps> ReadQuantisedSteps(const Graph& graph, const Node& node, int channel_axis) {
  StepReader reader(graph, node, channel_axis);
  QuantisedSteps steps;
  RELAYVM_ASSIGN_OR_RETURN(steps.steps, reader.Read());
  steps.other = reader.other();
  return steps;
}

}  // namespace relayvm::onednn

#include "vm/engines/dnnl/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vm/engines/dnnl/functions.h"

namespace relayvm::onednn {

Result<BuildFn> MakeOperator(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  for (const auto find : {FindConvolution, FindProduct, FindElementwise, FindPool, FindNorm,
                          FindRearrangement, FindQuantised, FindRecurrent}) {
    if (const MakeFn make = find(n.op)) {
      Result<BuildFn> made = make(graph, node);
      return made.ok() ? std::move(made) : Result<BuildFn>(n.Located(made.status()));
    }
  }
  return n.Unsupported(fmt::format("this engine does not run the operator {}", n.op.substr(0, 80)));
}

Status RequireInputs(const Node& node, size_t least) {
  if (node.inputs.size() < least) {
    return InvalidInput(fmt::format("{} inputs, expected {}", node.inputs.size(), least));
  }
  // Further ones belong to steps.
  for (size_t i = least; i < node.inputs.size(); ++i) {
    bool is_used = false;
    for (const Step& s : node.steps) {
      is_used |= std::find(s.inputs.begin(), s.inputs.end(), i) != s.inputs.end();
    }
    if (!is_used) {
      return InvalidInput(
          fmt::format("input {} belongs to nothing: {} takes {}", i, node.op, least));
    }
  }
  return OkStatus();
}

Status RequireFloats(const Graph& graph, const Node& node, size_t count) {
  const DType dtype = node.outputs[0].dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kBFloat16) {
    return {StatusCode::kUnsupported,
            fmt::format("a result of {}, expected float32 or bfloat16", DTypeName(dtype))};
  }
  if (dtype == DType::kBFloat16 && !HasBFloat16()) {
    return {StatusCode::kUnsupported, "bfloat16 needs AVX-512"};
  }
  for (size_t i = 0; i < count; ++i) {
    const DType input = graph.TypeOf(node.inputs[i]).dtype;
    if (input != dtype) {
      return {StatusCode::kUnsupported, fmt::format("input {} of {} for a result of {}", i,
                                                    DTypeName(input), DTypeName(dtype))};
    }
  }
  return OkStatus();
}

Result<std::vector<int>> ReadLayout(std::string_view attribute, std::string_view text,
                                    std::string_view letters) {
  std::vector<int> order;
  for (const char letter : letters) {
    const size_t at = text.find(letter);
    if (at == std::string_view::npos || text.size() != letters.size()) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{} is \"{}\", expected the axes {} in some order", attribute,
                                text.substr(0, 20), letters));
    }
    order.push_back(static_cast<int>(at));
  }
  return order;
}

Result<Dims> ReadSpatial(const Node& node, std::string_view attribute, int spatial, int64_t least,
                         int64_t fallback) {
  RELAYVM_ASSIGN_OR_RETURN(Dims values, node.Integers(attribute, {fallback}));
  if (values.size() == 1) values.assign(static_cast<size_t>(spatial), values[0]);
  if (values.size() != static_cast<size_t>(spatial)) {
    return InvalidInput(
        fmt::format("{} has {} values, expected {}", attribute, values.size(), spatial));
  }
  for (const int64_t v : values) {
    if (v < least) {
      return InvalidInput(fmt::format("{} holds {}, expected at least {}", attribute, v, least));
    }
  }
  return values;
}

Status ReadPadding(const Node& node, int spatial, Dims* before, Dims* after) {
  const auto n = static_cast<size_t>(spatial);
  RELAYVM_ASSIGN_OR_RETURN(const Dims values, node.Integers("padding", {0}));
  if (values.size() == 1) {
    before->assign(n, values[0]);
    *after = *before;
  } else if (values.size() == n) {
    *before = *after = values;
  } else if (values.size() == 2 * n) {
    before->assign(values.begin(), values.begin() + spatial);
    after->assign(values.begin() + spatial, values.end());
  } else {
    return InvalidInput(
        fmt::format("padding has {} values, expected 1, {} or {}", values.size(), n, 2 * n));
  }
  for (const int64_t v : values) {
    if (v < 0) return {StatusCode::kUnsupported, fmt::format("padding of {}", v)};
  }
  return OkStatus();
}

Result<int> ReadAxis(const Node& node, std::string_view attribute, int64_t fallback, int rank) {
  RELAYVM_ASSIGN_OR_RETURN(const int64_t axis, node.Integer(attribute, fallback));
  if (axis < -rank || axis >= rank) {
    return InvalidInput(fmt::format("{} is {} of a rank of {}", attribute, axis, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Dims Ordered(const Dims& dims, const std::vector<int>& order) {
  Dims ordered;
  for (const int axis : order) ordered.push_back(dims[static_cast<size_t>(axis)]);
  return ordered;
}

// --- Steps ---

namespace {

// Functions whose number is an operand, a constant: the same with the number "alpha".
Result<Step> WithAlpha(const Graph& graph, const Node& n, const Step& step) {
  const bool is_negated = step.label == "elu_of_negated";
  if (step.inputs.size() != 1 || !(is_negated || step.label == "elu" || step.label == "swish")) {
    return step;
  }
  const Node& operand = graph.nodes[n.inputs[step.inputs[0]].node];
  if (operand.kind != Node::Kind::kConst || operand.outputs[0].rank() != 0 ||
      operand.outputs[0].dtype != DType::kFloat32) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the step {} has an operand that is no constant number of float32",
                              step.label));
  }
  float alpha = 0;
  std::memcpy(&alpha, graph.constant_data[operand.position], sizeof(alpha));
  Step named{.label = is_negated ? "elu" : step.label};
  named.numbers.emplace_back("alpha", is_negated ? -alpha : alpha);
  return named;
}

}  // namespace

Result<Steps> ReadSteps(const Graph& graph, uint32_t node, int channel_axis, bool takes_bias) {
  const Node& n = graph.nodes[node];
  Steps steps;
  steps.channel_axis = channel_axis;
  const DType dtype = n.outputs[0].dtype;
  for (const Step& step : n.steps) {
    const bool is_bias = step.label == "bias";
    const std::optional<dnnl_alg_kind_t> binary = FindBinary(step.label);
    if (is_bias || binary || step.label == "sum") {
      if (step.inputs.size() != 1) {
        return InvalidInput(
            fmt::format("the step {} has {} inputs, expected one", step.label, step.inputs.size()));
      }
      const ValueRef operand = n.inputs[step.inputs[0]];
      const DType operand_type = graph.TypeOf(operand).dtype;
      if (operand_type != dtype) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("the step {} has an operand of {} for a result of {}", step.label,
                                  DTypeName(operand_type), DTypeName(dtype)));
      }
      if (is_bias && takes_bias && steps.posts.empty() && !steps.bias) {
        steps.bias = operand;
        continue;
      }
      Post post;
      post.kind = step.label == "sum" ? PostOp::Kind::kSum : PostOp::Kind::kBinary;
      post.algorithm = binary.value_or(dnnl_binary_add);
      post.operand = operand;
      steps.posts.push_back(post);
      steps.is_along_channel.push_back(is_bias);
      continue;
    }
    RELAYVM_ASSIGN_OR_RETURN(const Step named, WithAlpha(graph, n, step));
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> functions, FunctionOf(named));
    steps.posts.insert(steps.posts.end(), functions.begin(), functions.end());
    steps.is_along_channel.resize(steps.posts.size(), false);
  }
  return steps;
}

Result<Dims> BroadcastDims(const Dims& operand, const Dims& result) {
  if (operand.size() > result.size()) {
    return InvalidInput(
        fmt::format("an operand of rank {} for a result of {}", operand.size(), result.size()));
  }
  Dims dims(result.size() - operand.size(), 1);
  dims.insert(dims.end(), operand.begin(), operand.end());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1 && dims[i] != result[i]) {
      return InvalidInput(
          fmt::format("extent {} of an operand is broadcast to {}", dims[i], result[i]));
    }
  }
  return dims;
}

namespace {

// [C], [C, 1, 1] or with leading ones: extents along the channels.
Result<Dims> ChannelDims(const Dims& operand, const Dims& result, int axis) {
  if (operand.size() == 1) {
    const int64_t channels = result.empty() ? 1 : result[static_cast<size_t>(axis)];
    if (operand[0] != channels) {
      return InvalidInput(fmt::format("a bias of {} for {} channels", operand[0], channels));
    }
    Dims dims(result.size(), 1);
    if (!dims.empty()) dims[static_cast<size_t>(axis)] = channels;
    return dims;
  }
  RELAYVM_ASSIGN_OR_RETURN(const Dims dims, BroadcastDims(operand, result));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1 && i != static_cast<size_t>(axis)) {
      return InvalidInput(fmt::format(
          "a bias of extent {} along axis {}, where channels are axis {}", dims[i], i, axis));
    }
  }
  return dims;
}

}  // namespace

Result<std::vector<Post>> Steps::Resolve(const PlanBuilder& builder, uint32_t node) const {
  std::vector<Post> resolved = posts;
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, builder.DimsOf({node, 0}));
  for (size_t i = 0; i < resolved.size(); ++i) {
    Post& post = resolved[i];
    if (post.kind == PostOp::Kind::kEltwise) continue;
    RELAYVM_ASSIGN_OR_RETURN(const Dims operand, builder.DimsOf(post.operand));
    RELAYVM_ASSIGN_OR_RETURN(post.dims, is_along_channel[i]
                                            ? ChannelDims(operand, result, channel_axis)
                                            : BroadcastDims(operand, result));
  }
  return resolved;
}

Status Steps::AddBias(PlanBuilder& builder, const Dims& result, const Dims& dims, Root* root,
                      MemoryDesc* desc) const {
  if (!bias) return OkStatus();
  Post post;
  post.kind = PostOp::Kind::kBinary;
  post.algorithm = dnnl_binary_add;
  post.operand = *bias;
  RELAYVM_ASSIGN_OR_RETURN(const Dims operand, builder.DimsOf(*bias));
  RELAYVM_ASSIGN_OR_RETURN(post.dims, ChannelDims(operand, result, channel_axis));
  const int64_t channels = result[static_cast<size_t>(channel_axis)];
  int64_t count = 1;
  for (const int64_t d : operand) count *= d;
  if (count != channels) {
    return InvalidInput(fmt::format("a bias of {} for {} channels", count, channels));
  }
  RELAYVM_ASSIGN_OR_RETURN(const Value value, builder.Plain(*bias));
  RELAYVM_ASSIGN_OR_RETURN(*desc, value.desc.Reshaped(dims));
  root->sources.push_back({DNNL_ARG_BIAS, *desc, value.place, {}, dnnl_query_weights_md, 1});
  root->bias = std::move(post);
  return OkStatus();
}

}  // namespace relayvm::onednn

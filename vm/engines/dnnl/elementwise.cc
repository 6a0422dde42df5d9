// Functions of elements and of two tensors that are broadcast.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "vm/engines/dnnl/functions.h"
#include "vm/engines/dnnl/operators.h"

namespace relayvm::onednn {
namespace {

struct Function {
  std::string_view label, op;  // op "": of steps alone
  dnnl_alg_kind_t algorithm;
  float alpha = 0, beta = 0;
};
// Those without numbers of their own.
constexpr Function kFunctions[] = {
    {"relu", "nn.relu", dnnl_eltwise_relu},
    {"tanh", "tanh", dnnl_eltwise_tanh},
    {"sigmoid", "sigmoid", dnnl_eltwise_logistic},
    {"exp", "exp", dnnl_eltwise_exp},
    {"log", "log", dnnl_eltwise_log},
    {"sqrt", "sqrt", dnnl_eltwise_sqrt},
    {"rsqrt", "rsqrt", dnnl_eltwise_pow, 1, -0.5F},
    {"abs", "abs", dnnl_eltwise_abs},
    {"square", "", dnnl_eltwise_square},
    {"negative", "negative", dnnl_eltwise_linear, -1, 0},
    {"gelu", "", dnnl_eltwise_gelu_erf},
    {"gelu_tanh", "", dnnl_eltwise_gelu_tanh},
    {"hardswish", "", dnnl_eltwise_hardswish},
    {"mish", "", dnnl_eltwise_mish},
    {"round_even", "round_even", dnnl_eltwise_round},
};

Post EltwisePost(dnnl_alg_kind_t algorithm, double alpha, double beta) {
  Post post;
  post.algorithm = algorithm;
  post.alpha = static_cast<float>(alpha);
  post.beta = static_cast<float>(beta);
  return post;
}

// An operator of one tensor as the step of the same meaning.
Result<Step> StepOf(const Node& node) {
  Step step;
  if (node.op == "clip") {
    step.label = "clip";
    for (const auto& [name, attribute] : {std::pair{"min", "a_min"}, std::pair{"max", "a_max"}}) {
      if (node.Find(attribute) == nullptr) return InvalidInput(fmt::format("no {}", attribute));
      RELAYVM_ASSIGN_OR_RETURN(const double value, node.Number(attribute, 0));
      step.numbers.emplace_back(name, value);
    }
    return step;
  }
  if (node.op == "nn.leaky_relu") {
    step.label = "leaky_relu";
    RELAYVM_ASSIGN_OR_RETURN(const double alpha, node.Number("alpha", 0.01));
    step.numbers.emplace_back("alpha", alpha);
    return step;
  }
  for (const Function& f : kFunctions) {
    if (f.op == node.op) step.label = f.label;
  }
  if (node.op == "round") step.label = "round";
  return step;
}

Result<BuildFn> MakeFunction(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 1));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 1));
  RELAYVM_ASSIGN_OR_RETURN(const Step step, StepOf(n));
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> functions, FunctionOf(step));
  RELAYVM_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(graph, node, 0, false));
  return BuildFn([node, functions, steps](PlanBuilder& b) -> Status {
    const ValueRef input = b.graph().nodes[node].inputs[0];
    RELAYVM_ASSIGN_OR_RETURN(const Dims from, b.DimsOf(input));
    RELAYVM_ASSIGN_OR_RETURN(const Dims to, b.DimsOf({node, 0}));
    if (from != to) return InvalidInput("the result has other extents than the operand");
    std::vector<Post> posts = functions;
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> more, steps.Resolve(b, node));
    posts.insert(posts.end(), more.begin(), more.end());
    return b.EmitPosts(node, b.Get(input), posts);
  });
}

// --- Two tensors ---

// Repeats the elements of `from` along axes where its extent is 1; both are row-major.
void BroadcastCopy(const char* from, const Dims& dims, char* to, const Dims& result, size_t bytes) {
  int64_t count = 1;
  for (const int64_t d : result) count *= d;
  Dims strides(dims.size(), 0), at(dims.size(), 0);
  int64_t step = 1, offset = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1) strides[i] = step;
    step *= dims[i];
  }
  for (int64_t k = 0; k < count; ++k) {
    std::memcpy(to + static_cast<size_t>(k) * bytes, from + static_cast<size_t>(offset) * bytes,
                bytes);
    for (size_t i = dims.size(); i-- > 0;) {
      offset += strides[i];
      if (++at[i] < result[i]) break;
      offset -= strides[i] * result[i];
      at[i] = 0;
    }
  }
}

Result<Value> Broadcast(PlanBuilder& b, ValueRef v, const Dims& dims, const Dims& result) {
  RELAYVM_ASSIGN_OR_RETURN(const Value from, b.Plain(v));
  Value to;
  RELAYVM_ASSIGN_OR_RETURN(to.desc, MemoryDesc::Plain(result, b.DTypeOf(v)));
  to.place = b.NewBuffer(to.desc.bytes());
  b.AddNative(
      [dims, result,
       bytes = static_cast<size_t>(DTypeBytes(b.DTypeOf(v)))](std::span<void* const> at) {
        BroadcastCopy(static_cast<const char*>(at[0]), dims, static_cast<char*>(at[1]), result,
                      bytes);
      },
      {from, to});
  return to;
}

Status BuildBinary(PlanBuilder& b, uint32_t node, dnnl_alg_kind_t algorithm, const Steps& steps) {
  const Node& n = b.graph().nodes[node];
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  Dims dims[2];
  for (const size_t i : {0, 1}) {
    RELAYVM_ASSIGN_OR_RETURN(const Dims operand, b.DimsOf(n.inputs[i]));
    RELAYVM_ASSIGN_OR_RETURN(dims[i], BroadcastDims(operand, result));
  }
  const bool commutes = algorithm != dnnl_binary_sub && algorithm != dnnl_binary_div;
  const size_t first = dims[0] != result && dims[1] == result && commutes ? 1 : 0;
  Post post;
  post.kind = PostOp::Kind::kBinary;
  post.algorithm = algorithm;
  post.operand = n.inputs[1 - first];
  post.dims = dims[1 - first];
  Value value = b.Get(n.inputs[first]);
  if (dims[first] != result) {
    RELAYVM_ASSIGN_OR_RETURN(value, Broadcast(b, n.inputs[first], dims[first], result));
  }
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Post> posts, steps.Resolve(b, node));
  posts.insert(posts.begin(), post);
  // The rank of the result, where the operand has it without leading ones.
  Result<MemoryDesc> desc = value.desc.Reshaped(result.empty() ? Dims{1} : result);
  if (!desc.ok()) {
    RELAYVM_ASSIGN_OR_RETURN(value, b.Plain(n.inputs[first]));
    desc = value.desc.Reshaped(result);
    RELAYVM_RETURN_IF_ERROR(desc.status());
  }
  value.desc = *desc;
  return b.EmitPosts(node, value, posts);
}

Result<BuildFn> MakeBinary(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 2));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 2));
  const dnnl_alg_kind_t algorithm = *FindBinary(n.op);
  RELAYVM_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(graph, node, 0, false));
  return BuildFn(
      [node, algorithm, steps](PlanBuilder& b) { return BuildBinary(b, node, algorithm, steps); });
}

// nn.bias_add alone: an addition along an axis.
Result<BuildFn> MakeBiasAdd(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 2));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 2));
  RELAYVM_ASSIGN_OR_RETURN(const int axis, ReadAxis(n, "axis", 1, n.outputs[0].rank()));
  RELAYVM_ASSIGN_OR_RETURN(Steps steps, ReadSteps(graph, node, axis, false));
  Post post;
  post.kind = PostOp::Kind::kBinary;
  post.algorithm = dnnl_binary_add;
  post.operand = n.inputs[1];
  steps.posts.insert(steps.posts.begin(), post);
  steps.is_along_channel.insert(steps.is_along_channel.begin(), true);
  return BuildFn([node, steps](PlanBuilder& b) -> Status {
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, steps.Resolve(b, node));
    const ValueRef input = b.graph().nodes[node].inputs[0];
    RELAYVM_ASSIGN_OR_RETURN(const Dims from, b.DimsOf(input));
    RELAYVM_ASSIGN_OR_RETURN(const Dims to, b.DimsOf({node, 0}));
    if (from != to) return InvalidInput("the result has other extents than the operand");
    return b.EmitPosts(node, b.Get(input), posts);
  });
}

}  // namespace

std::optional<dnnl_alg_kind_t> FindBinary(std::string_view label) {
  constexpr std::pair<std::string_view, dnnl_alg_kind_t> kBinaries[] = {
      {"add", dnnl_binary_add},    {"subtract", dnnl_binary_sub}, {"multiply", dnnl_binary_mul},
      {"divide", dnnl_binary_div}, {"maximum", dnnl_binary_max},  {"minimum", dnnl_binary_min},
  };
  for (const auto& [name, algorithm] : kBinaries) {
    if (name == label) return algorithm;
  }
  return std::nullopt;
}

Result<std::vector<Post>> FunctionOf(const Step& step) {
  if (!step.inputs.empty()) {
    return InvalidInput(fmt::format("the step {} takes no input", step.label.substr(0, 40)));
  }
  if (step.label == "clip") {
    RELAYVM_ASSIGN_OR_RETURN(const double min, step.Number("min"));
    RELAYVM_ASSIGN_OR_RETURN(const double max, step.Number("max"));
    return std::vector{EltwisePost(dnnl_eltwise_clip, min, max)};
  }
  if (step.label == "leaky_relu") {
    RELAYVM_ASSIGN_OR_RETURN(const double alpha, step.Number("alpha"));
    return std::vector{EltwisePost(dnnl_eltwise_relu, alpha, 0)};
  }
  if (step.label == "elu" || step.label == "swish") {
    return std::vector{EltwisePost(step.label == "elu" ? dnnl_eltwise_elu : dnnl_eltwise_swish,
                                   step.NumberOr("alpha", 1), 0)};
  }
  if (step.label == "hardsigmoid") {  // clip(x / 6 + 1 / 2, 0, 1)
    return std::vector{EltwisePost(dnnl_eltwise_linear, 1.0 / 6, 0.5),
                       EltwisePost(dnnl_eltwise_clip, 0, 1)};
  }
  if (step.label == "round") {
    return Status(StatusCode::kUnsupported,
                  "oneDNN rounds halves to even, Relay's round away from zero");
  }
  for (const Function& f : kFunctions) {
    if (f.label == step.label) return std::vector{EltwisePost(f.algorithm, f.alpha, f.beta)};
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("this engine has no step \"{}\"", step.label.substr(0, 40)));
}

MakeFn FindElementwise(std::string_view op) {
  if (FindBinary(op)) return MakeBinary;
  if (op == "nn.bias_add") return MakeBiasAdd;
  if (op == "clip" || op == "nn.leaky_relu" || op == "round") return MakeFunction;
  for (const Function& f : kFunctions) {
    if (!f.op.empty() && f.op == op) return MakeFunction;
  }
  return nullptr;
}

}  // namespace relayvm::onednn

// Relay's operators as oneDNN's primitives. Of a node that the engine can run, an operator makes a
// function that adds its primitives to a plan. Making it checks all that sizes do not say: types,
// ranks, layouts, attributes and the steps after it; kUnsupported where oneDNN means something else
// by it, and says the node and what. What is not said by the JSON has the value that Relay gives
// it.
//
// One file for each class of operators. Tested by the tests of their names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vm/engines/dnnl/graph.h"
#include "vm/engines/dnnl/plan_builder.h"

namespace relayvm::onednn {

using BuildFn = std::function<Status(PlanBuilder&)>;
using MakeFn = Result<BuildFn> (*)(const Graph& graph, uint32_t node);

// The graph stays while the function is used. REQUIRES: a kernel.
Result<BuildFn> MakeOperator(const Graph& graph, uint32_t node);

// nullptr: not of that class.
MakeFn FindConvolution(std::string_view op);
MakeFn FindProduct(std::string_view op);
MakeFn FindElementwise(std::string_view op);
MakeFn FindPool(std::string_view op);
MakeFn FindNorm(std::string_view op);
MakeFn FindRearrangement(std::string_view op);
MakeFn FindQuantised(std::string_view op);
MakeFn FindRecurrent(std::string_view op);

// --- What the files share ---

Status RequireInputs(const Node& node, size_t least);
// The dtypes of inputs 0 .. count-1 and of the result are the same float.
Status RequireFloats(const Graph& graph, const Node& node, size_t count);

// The axes of the layout `text` in the order of `letters`, of which it must consist: "NHWC" in
// "NCHW" is 0 3 1 2.
Result<std::vector<int>> ReadLayout(std::string_view attribute, std::string_view text,
                                    std::string_view letters);
// `spatial` values each: strides and dilations of at least 1; padding as Relay expands it.
Result<Dims> ReadSpatial(const Node& node, std::string_view attribute, int spatial, int64_t least,
                         int64_t fallback);
Status ReadPadding(const Node& node, int spatial, Dims* before, Dims* after);
// The axis from 0.
Result<int> ReadAxis(const Node& node, std::string_view attribute, int64_t fallback, int rank);

Dims Ordered(const Dims& dims, const std::vector<int>& order);

// The steps after the operator. A first one "bias" is told apart where `takes_bias`; later ones,
// and those that are not, are additions along `channel_axis` of the result.
struct Steps {
  std::optional<ValueRef> bias;
  std::vector<Post> posts;             // without extents of operands
  std::vector<bool> is_along_channel;  // of posts
  int channel_axis = 0;

  // With extents, for these of the result. kInvalidInput where they do not fit.
  Result<std::vector<Post>> Resolve(const PlanBuilder& builder, uint32_t node) const;
  // The bias, where there is one, as a source of the primitive, of extents `dims` of which one at
  // most is not 1: the channels. kInvalidInput where it has other elements.
  Status AddBias(PlanBuilder& builder, const Dims& result, const Dims& dims, Root* root,
                 MemoryDesc* desc) const;
};
Result<Steps> ReadSteps(const Graph& graph, uint32_t node, int channel_axis, bool takes_bias);
// Extents of an operand that is broadcast to `result`, with leading ones; kInvalidInput where they
// do not fit.
Result<Dims> BroadcastDims(const Dims& operand, const Dims& result);

// `form`, with the weight `packed` as plans before have it where that is fast; none: there is none.
template <typename Form, typename IsFast>
Result<PrimitiveDesc> DescribePacked(const Form& form, const MemoryDesc& packed,
                                     const Attributes& a, const IsFast& is_fast) {
  if (!packed.is_none()) {
    Form with_packed = form;
    with_packed.weights = packed;
    Result<PrimitiveDesc> desc = Describe(with_packed, a);
    if (desc.ok() && is_fast(*desc)) return desc;
  }
  return Describe(form, a);
}
template <typename Form>
std::function<Result<PrimitiveDesc>(const Attributes&)> WithWeights(Form form,
                                                                    const MemoryDesc& packed) {
  return [form, packed](const Attributes& a) {
    return DescribePacked(form, packed, a,
                          [](const PrimitiveDesc& desc) { return !desc.is_reference(); });
  };
}

}  // namespace relayvm::onednn

// Tensors that are subviews of others, in the arena: what is joined is made in its place, what is
// split is read in its place. Of static shapes, where the subviews are each one run of the whole's
// elements.
#include <algorithm>
#include <utility>

#include "compiler/lowering/function_lowering.h"
#include "kernels/op/subviews.h"

namespace relayvm::lower {
bool FunctionLowering::LowerSubviews(const ir::Var* var, const ir::OpCall& call,
                                     const std::vector<Value>& inputs) {
  const auto* types = var->type->As<ir::TupleType>();
  if (call.op->along_axis != AlongAxis::kSplits || types == nullptr || escapes_.contains(var->id))
    return false;
  const Value& source = inputs[0];
  if (!source.location->slot) return false;
  std::vector<TensorType> subviews;
  for (const ir::Type& t : types->fields) subviews.push_back(*t->As<TensorType>());
  const auto offsets =
      SubviewOffsets(*source.type->As<TensorType>(), call.attrs.Int("axis"), subviews);
  if (!offsets) return false;
  std::vector<Value> results;
  for (size_t i = 0; i < subviews.size(); ++i) {
    Location* l = NewLocation();
    l->slot = static_cast<uint32_t>(out_.slots.size());
    out_.slots.push_back({*StaticBytesOf(subviews[i]), {{*source.location->slot, (*offsets)[i]}}});
    results.push_back({types->fields[i], l});
  }
  BindResults(var, std::move(results), /*is_tuple=*/true);
  return true;
}

// Its slot is its own, and of its size.
bool FunctionLowering::MayBeSubview(const Value& value, const std::vector<Value>& all) const {
  const auto& slot = value.location->slot;
  if (!slot || out_.slots[*slot].part) return false;
  const auto is_same = [&](const Value& other) { return other.location->slot == slot; };
  return std::count_if(all.begin(), all.end(), is_same) == 1 &&
         out_.slots[*slot].bytes == StaticBytesOf(*value.type->As<TensorType>());
}

Result<bool> FunctionLowering::ConcatenateInPlace(const ir::Var* var, const ir::OpCall& call,
                                                  const std::vector<Value>& inputs) {
  if (call.op->along_axis != AlongAxis::kJoins || escapes_.contains(var->id) || inputs.size() < 2)
    return false;
  const auto& whole = *var->type->As<TensorType>();
  std::vector<TensorType> types;
  for (const Value& v : inputs) types.push_back(*v.type->As<TensorType>());
  const auto offsets = SubviewOffsets(whole, call.attrs.Int("axis"), types);
  if (!offsets) return false;
  const uint64_t bytes = *StaticBytesOf(whole);
  uint64_t in_place = 0;
  size_t copies = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (MayBeSubview(inputs[i], inputs)) {
      in_place += *StaticBytesOf(types[i]);
    } else {
      ++copies;
    }
  }
  // Each copy is a kernel of its own, where there was one.
  if (copies > 1 || in_place * 2 < bytes) return false;
  std::vector<Value> parts = inputs;
  for (Value& part : parts) {
    if (MayBeSubview(part, inputs)) continue;
    RELAYVM_ASSIGN_OR_RETURN(part, CopyOf(part));
  }
  Location* l = NewLocation();
  l->slot = static_cast<uint32_t>(out_.slots.size());
  out_.slots.push_back({bytes});
  for (size_t i = 0; i < parts.size(); ++i) {
    out_.slots[*parts[i].location->slot].part = {*l->slot, (*offsets)[i]};
  }
  BindVar(var, {var->type, l});
  return true;
}

}  // namespace relayvm::lower

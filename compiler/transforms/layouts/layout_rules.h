// How operators stand to the order of their data's dims: what choosing layouts (choose_layouts.h)
// and converting to them (convert_layout.h) share. Tested by their tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// How a value's dims stand in another variable: the dims as the program has them have the letters
// of `from`, the variable's are in the order of `to`, with blocks maybe (NCHW, NHWC; NCHW,
// NCHW16c).
struct Order {
  std::string from, to;

  size_t rank() const { return from.size(); }
  bool is_blocked() const { return to.size() != from.size(); }
  // Where axis `i` of the program's dims is. REQUIRES: not blocked.
  int64_t Axis(int64_t i) const {
    return static_cast<int64_t>(to.find(from[static_cast<size_t>(i)]));
  }
  // The same order in letters of its own: two that are equal mean the same.
  std::string Form() const;
  // In the letters of `names`, which stand for the program's dims.
  std::string Named(const std::string& names) const;
};

bool HasAttr(const OpDef& op, std::string_view name);
// The attribute that names the layout of an operator's data; null where it has none.
const char* DataLayoutAttr(const OpDef& op);
// The layout that an attribute has where nobody gives one.
std::string DefaultLayout(const OpDef& op, std::string_view attribute);
// The layout of a kernel that goes with data of a layout, as TVM has it. `plain` is the one of an
// operator with its channels first.
std::string NaturalKernel(const std::string& data, const std::string& plain, bool is_depthwise);
bool IsDepthwise(const OpCall& call, const TensorType& weight, const std::string& layout);
// The layout of a call's data, where it could be another one: an operator that has layouts, and one
// result in the layout of its data. REQUIRES: LayoutRule::kChooses.
std::optional<std::string> WrittenLayout(const OpCall& call, const TensorType& data,
                                         const Type& result);
// The order of a call that only moves axes: letters of the argument's dims, and of the result's.
std::optional<Order> TurnedBy(const OpCall& call, int rank);
// The attributes for data in that order; false where they say nothing of axes. `axes` are those of
// the program.
bool MoveAxes(const OpDef& op, const Order& order, Attrs* attrs, std::vector<int64_t>* axes);

}  // namespace relayvm::ir

// Calls of operators by what they do: what code writes programs from, which so names no operator.
// A writer (the passes' BindingBuilder, the CallWriter of decompositions) is a CallMakers that has
// Call(op, args, attrs) and Tuple(fields); what follows the operands of a maker (a variable that
// the call binds) goes on to Call. Tested by compiler/transforms/builder_test.cc.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/op/attrs.h"

namespace relayvm {

template <typename Writer, typename Value>
class CallMakers {
 public:
  // --- The same elements, elsewhere ---

  template <typename... As>
  Value Reshape(Value a, AttrList shape, As... as) {
    return Make("reshape", {a}, {{"newshape", std::move(shape)}}, as...);
  }
  Value ExpandDims(Value a, int64_t axis, int64_t count = 1) {
    return Make("expand_dims", {a}, {{"axis", axis}, {"num_newaxis", count}});
  }
  template <typename... As>
  Value Transpose(Value a, const std::vector<int64_t>& axes, As... as) {
    return Make("transpose", {a}, {{"axes", List(axes)}}, as...);
  }
  template <typename... As>
  Value ToLayout(Value a, const std::string& from, const std::string& to, As... as) {
    return Make("layout_transform", {a}, {{"src_layout", from}, {"dst_layout", to}}, as...);
  }
  Value Reverse(Value a, int64_t axis) { return Make("reverse", {a}, {{"axis", axis}}); }
  template <typename... As>
  Value Concatenate(std::vector<Value> parts, int64_t axis, As... as) {
    return Make("concatenate", {writer().Tuple(std::move(parts))}, {{"axis", axis}}, as...);
  }
  // Of all axes without `axes`.
  Value Slice(Value a, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
              const std::vector<int64_t>& axes = {}) {
    return Make("strided_slice", {a},
                {{"begin", List(begin)},
                 {"end", List(end)},
                 {"axes", axes.empty() ? AttrValue() : AttrValue(List(axes))}});
  }
  Value Repeat(Value a, int64_t times, int64_t axis) {
    return Make("repeat", {a}, {{"repeats", times}, {"axis", axis}});
  }
  Value Dilate(Value a, const std::vector<int64_t>& strides) {
    return Make("nn.dilate", {a}, {{"strides", List(strides)}});
  }
  // `widths`: before and behind each dim.
  Value Pad(Value a, Value fill, AttrList widths) {
    return Make("nn.pad", {a, fill}, {{"pad_width", std::move(widths)}});
  }
  // Elements of a vector or of a tensor in one row.
  Value Take(Value a, Value indices) { return Make("take", {a, indices}, {}); }

  // --- Numbers ---

  Value Zeros(AttrList shape, DType dtype) {
    return Make("zeros", {}, {{"shape", std::move(shape)}, {"dtype", Name(dtype)}});
  }
  Value Range(Value start, Value stop, Value step, DType dtype) {
    return Make("arange", {start, stop, step}, {{"dtype", Name(dtype)}});
  }
  Value ShapeOf(Value a, DType dtype) { return Make("shape_of", {a}, {{"dtype", Name(dtype)}}); }
  Value Cast(Value a, DType dtype) { return Make("cast", {a}, {{"dtype", Name(dtype)}}); }
  Value Add(Value a, Value b) { return Make("add", {a, b}, {}); }
  Value Subtract(Value a, Value b) { return Make("subtract", {a, b}, {}); }
  Value Multiply(Value a, Value b) { return Make("multiply", {a, b}, {}); }
  Value Minimum(Value a, Value b) { return Make("minimum", {a, b}, {}); }
  Value IsAtLeast(Value a, Value b) { return Make("greater_equal", {a, b}, {}); }
  Value Xor(Value a, Value b) { return Make("bitwise_xor", {a, b}, {}); }  // of bits
  Value Sum(Value a, const std::vector<int64_t>& axes, bool keepdims) {
    return Make("sum", {a}, {{"axis", List(axes)}, {"keepdims", keepdims}});
  }

 private:
  Writer& writer() { return static_cast<Writer&>(*this); }
  static AttrList List(const std::vector<int64_t>& v) { return AttrList(v.begin(), v.end()); }
  static std::string Name(DType dtype) { return std::string(DTypeName(dtype)); }

  template <typename... As>
  Value Make(std::string_view op, std::vector<Value> args,
             std::initializer_list<std::pair<const char*, AttrValue>> given, As... as) {
    Attrs attrs;
    for (const auto& [name, value] : given) attrs.Set(name, value);
    return writer().Call(op, std::move(args), attrs, as...);
  }
};

}  // namespace relayvm

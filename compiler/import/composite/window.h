// Windows over the spatial dims of data: padding that follows from extents, convolutions, pools,
// the windows themselves. Tested by window_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/import/composite/quantised.h"

namespace relayvm::import {

enum class WindowPadding : uint8_t {
  kGiven,      // by `pads`
  kSameUpper,  // one window begins at each stride; of what is padded the odd one stands at the end
  kSameLower   // the same; at the start
};

// 1 to 3 spatial dims, one entry each. Data is (n, channels, spatial..), or with channels_last (n,
// spatial.., channels).
struct Window {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> pads;  // all starts, then all ends; empty: none
  WindowPadding padding = WindowPadding::kGiven;
  bool channels_last = false;

  size_t spatial() const { return kernel.size(); }
  int axis(size_t i) const { return static_cast<int>(i) + (channels_last ? 1 : 2); }
  // The extent of a window, 1-based: from its first tap to its last.
  int64_t reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  std::string layout() const;  // "NCHW"
};

// Whether there is a kernel, a stride and a dilation for each of `spatial` dims, in range, and pads
// are; false with an error.
bool IsSane(TypedBuilder& b, const Window& w, size_t spatial);
// The window with its pads as numbers; nullopt with an error. Where they depend on extents that are
// open, `x` becomes the data padded with `fill`; without one that is an error.
std::optional<Window> Fitted(TypedBuilder& b, Value& x, Window w,
                             std::optional<double> fill = std::nullopt);

struct ConvSpec {
  Window window;
  int64_t groups = 1;
  std::string kernel_layout;  // empty: "OIHW"
};
// Real numbers, or integers; nullopt with an error.
std::optional<Value> Convolved(TypedBuilder& b, const Value& x, const Value& w,
                               const ConvSpec& spec);
// The int32 convolution of bytes less their zero points (qnn.conv2d ...), which becomes one of
// bytes (compiler/transforms/products/integer_products.h); nullopt where that one does not take it.
// Data is (n, channels, spatial..).
std::optional<Value> ByteConvOf(TypedBuilder& b, const ByteProduct& p, const ConvSpec& spec);
// The same for all integers, by whatever convolution takes them.
std::optional<Value> IntegerConv(TypedBuilder& b, const Value& x, const Value& x_zero,
                                 const Value& w, const Value& w_zero, const ConvSpec& spec);

struct PoolSpec {
  Window window;
  bool average = false;  // else the greatest
  bool counts_padding = false;
  bool ceil = false;   // the last window may reach beyond the end
  bool inside = true;  // with ceil: it starts inside of the data or the padding before it
};
std::optional<Value> Pooled(TypedBuilder& b, const Value& x, const PoolSpec& spec);
// The greatest of each window, and where it stands among the spatial elements of its n and channel:
// the first one, in row-major order; `columns_first`: the place counts down the first dim first.
// Data is (n, channels, spatial..).
struct MaxAndPlace {
  Value max, place;  // place: int64
};
std::optional<MaxAndPlace> PooledWithPlaces(TypedBuilder& b, const Value& x, const PoolSpec& spec,
                                            bool columns_first);

// An error where a window has too many elements to list them.
bool FewTaps(TypedBuilder& b, const Window& w);
// Every window of x (n, channels, spatial..), whose pads are numbers: (n, c, o.., kernel..), o the
// windows along each spatial dim. What lies outside x is `fill`. `positions`: the flat position of
// each element in its n and c, int64, (o.., kernel..); -1 outside. By `spec` only window and ceil
// count.
struct Windows {
  Term values, positions;
};
Windows WindowsOf(const Term& x, const PoolSpec& spec, double fill);

}  // namespace relayvm::import

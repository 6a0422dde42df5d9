// Windows over the spatial dims of data in NC... layout: what convolutions and pools share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

struct Window {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> pads;  // all starts, then all ends
};

inline constexpr std::string_view kLayouts[] = {"NCW", "NCHW", "NCDHW"};

// Reads strides, dilations and pads of a node with 1 to 3 spatial dims. `kernel` is the window's
// size. Where auto_pad leaves pads to extents that are open, `x` becomes the data padded with `fill`;
// without one that is an error.
std::optional<Window> ReadWindow(NodeContext& n, Value& x, std::vector<int64_t> kernel,
                                 std::optional<double> fill = std::nullopt);
// The spatial dims of a convolution's weight; 0 where they are not known.
std::vector<int64_t> KernelOf(const Value& weight);
Value AddBias(NodeContext& n, const Value& y, size_t input);

// An error where a window has too many elements to list them.
bool FewTaps(NodeContext& n, const Window& w);

// Every window of x: (n, c, o.., kernel..), o the windows along each spatial dim. What lies outside
// x is `fill`. With `positions`, instead the flat position of each element in its n and c, int64,
// (o.., kernel..); -1 outside.
struct Windows {
  Term values, positions;
};
Windows WindowsOf(NodeContext& n, const Term& x, const Window& w, double fill);

}  // namespace relayvm::import

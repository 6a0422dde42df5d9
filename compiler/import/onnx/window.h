// Windows by attributes of nodes: what convolutions and pools share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/import/composite/window.h"
#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

inline constexpr std::string_view kLayouts[] = {"NCW", "NCHW", "NCDHW"};

// strides, dilations, pads and auto_pad of a node; `kernel` is the window's size. Nullopt with an
// error.
std::optional<Window> ReadWindow(NodeContext& n, const Value& x, std::vector<int64_t> kernel);
// The spatial dims of a convolution's weight; 0 where they are not known.
std::vector<int64_t> KernelOf(const Value& weight);
Value AddBias(NodeContext& n, const Value& y, size_t input);

}  // namespace relayvm::import

// Windows by attributes of nodes: what convolutions and pools share.
#pragma once

#include <optional>

#include "compiler/import/composite/window.h"
#include "compiler/import/mxnet/operator.h"

namespace relayvm::import::mxnet {

// kernel, stride, dilate, pad and layout. Nullopt with an error.
std::optional<Window> ReadWindow(Node& n);
// The layout of weights whose first dim is the output's channels, and whose second the input's:
// "OIHW", or with channels last "OHWI".
std::string KernelLayout(const Window& w);
// Input `i`, where it is given, is added to each channel.
Value WithBias(Node& n, const Value& y, size_t i, const Window& w);

}  // namespace relayvm::import::mxnet

// What converters share. See operator.h.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/import/arithmetic.h"
#include "compiler/import/onnx/operator.h"

namespace relayvm::import {

// The Relay operator of that name on the inputs, one to one.
template <OpName kName>
std::vector<Value> Same(NodeContext& n) {
  return {n.b().Op(kName.chars, n.inputs())};
}

// The operator of ONNX of that name and opset on the inputs, with the node's attributes.
template <OpName kName, int kOpset>
std::vector<Value> SameAs(NodeContext& n) {
  return n.As(kName.chars, kOpset, n.inputs());
}

// What gives axes, where it is input 1: "axes 'k'".
inline std::string AxesText(const NodeContext& n) {
  return n.HasAttr("axes") ? "" : n.InputText(1, "axes");
}

}  // namespace relayvm::import

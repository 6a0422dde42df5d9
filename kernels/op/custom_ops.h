// Operators of shared libraries (kernels/runtime/operator_plugin.h), added to the operator table.
// Tested by tests/operator_plugins.
#pragma once

#include <string>
#include <string_view>

#include "kernels/op/op.h"
#include "kernels/runtime/operator_library.h"

namespace relayvm {

// Adds all operators of the library, or none. A library that has been added is not added again.
// REQUIRES: nothing is being compiled: the table is not locked.
Status AddCustomOperators(const std::string& path);

// The operator for nodes of an ONNX model; null when no library has one.
const OpDef* FindCustomOperator(std::string_view onnx_domain, std::string_view onnx_name);
// The kernel of a custom operator, for who computes without a runtime; null when there is none.
const Builtin* FindCustomKernel(std::string_view name);

}  // namespace relayvm

// An ONNX model as a module of Relay. Tested by importer_test.cc.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::import {

struct ImportOptions {
  std::map<std::string, int64_t> dims;  // by the names that the model gives to dims ("batch")
  // Of inputs whose rank the model leaves open: "1x?x300".
  std::map<std::string, std::string> shapes;
  // Initializers that a caller may give other values, by name, or "all" (that are inputs too), or "none".
  // Nullopt: all, where they are 1 MiB or less in sum, else none.
  std::optional<std::vector<std::string>> overridable;
  CustomOperators operators;  // besides the compiler's own
  // What is right only perhaps: an opset that is newer than this version. May be empty.
  std::function<void(const std::string&)> warn;
  std::stop_token stop;  // asked to: fails with kCancelled, between two nodes
};

// `path` names the model, and external data lies in its folder; `file` is its content. The module has a
// function main: its parameters are the graph's inputs that have no initializer, by name, and after them,
// as values that may be left out, initializers that may be overridden; its result is the output, or a tuple of the outputs (see Module::output_names). Errors name the node; operators that
// are not supported are named all at once.
Result<ir::Module> ImportOnnx(const std::string& path, SharedBytes file,
                              const ImportOptions& options);

// The operators that are supported, as a table in Markdown: each with its domain and the opsets from
// which on there is a meaning. onnx/OPERATORS.md is this text.
std::string OnnxOperatorTable();

}  // namespace relayvm::import

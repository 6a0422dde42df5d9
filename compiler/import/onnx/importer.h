// An ONNX model as a module of Relay. Tested by importer_test.cc.
#pragma once

#include <string>

#include "compiler/import/importers.h"

namespace relayvm::import {

// `path` names the model, and external data lies in its folder; `file` is its content. The module
// has a function main: its parameters are the graph's inputs that have no initializer, by name, and
// after them, as values that may be left out, initializers that may be overridden; its result is
// the output, or a tuple of the outputs (see Module::output_names). Errors name the node; operators
// that are not supported are named all at once. options.stop is asked between two nodes.
Result<ir::Module> ImportOnnx(const std::string& path, SharedBytes file,
                              const ImportOptions& options);

// The operators that are supported, as a table in Markdown: each with its domain and the opsets
// from which on there is a meaning. onnx/OPERATORS.md is this text.
std::string OnnxOperatorTable();

}  // namespace relayvm::import

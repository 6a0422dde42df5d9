// A symbol of MXNet and its arrays as a module of Relay. Tested by importer_test.cc.
#pragma once

#include <string>

#include "compiler/import/import_options.h"
#include "compiler/ir/ir.h"

namespace relayvm::import {

// `path` names the symbol ("prefix-symbol.json"), `content` is what it holds. Arrays come from
// options.params_file, options.params_content and options.params; where none is given, from
// "prefix-0000.params" beside the symbol, where only one file has such a name. What no array gives
// is an input of main, in the symbol's order: its type is what --shape says, or what the symbol
// tells; labels, which nothing needs at inference, may stay without. Outputs are called as MXNet
// calls them. Operators that are not supported are named all at once.
Result<ir::Module> ImportMxnet(const std::string& path, SharedBytes content,
                               const ImportOptions& options);

// The operators that are supported, as a table in Markdown; mxnet/OPERATORS.md is this text.
std::string MxnetOperatorTable();

}  // namespace relayvm::import

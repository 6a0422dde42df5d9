// Relay text to IR: version 0.0.5 of the text format with its metadata section, and a superset of
// it (see README.md).
//
// The result is in A-normal form, untyped: annotations that were written are kept, all else is
// null. Errors have a place and show the source line; any bytes are safe. Tested by parser_test.cc
// and parser_error_test.cc.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/ir.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::frontend {

// Nesting of parentheses, blocks and calls in a text. (Room for kMaxBlockDepth blocks as they are
// printed.)
inline constexpr int kMaxNesting = 31'000;
// Nesting of types, patterns and attribute lists: whoever drops them recurses, on any stack.
inline constexpr int kMaxTypeNesting = 1'000;

// `name` is the file's, for messages. A text without definitions is an expression and becomes
// @main. `operators` are those that the text may use besides the compiler's own.
Result<ir::Module> ParseRelay(std::string name, std::string text,
                              const CustomOperators& operators = {});

// A text as it stands: the nodes of its functions, before they are in A-normal form. The module has
// its type definitions, and no functions. Tested by tools/python/tests/test_tvm_ir.py.
struct WrittenProgram {
  ir::Module module;
  ir::Graph graph;
  std::vector<std::pair<std::string, ir::NodeId>> functions;  // by name, in the text's order
};
Result<WrittenProgram> ParseRelayAsWritten(std::string name, std::string text,
                                           const CustomOperators& operators = {});

}  // namespace relayvm::frontend

// Relay text to IR: version 0.0.5 of the text format with its metadata section, and a superset of
// it (see README.md).
//
// The result is in A-normal form, untyped: annotations that were written are kept, all else is
// null. Errors have a place and show the source line; any bytes are safe. Tested by parser_test.cc
// and parser_error_test.cc.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/frontend/token_places.h"
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

// A text as it stands: the nodes of its functions, before they are in A-normal form, with the names
// that it has. The module has its type definitions, and no functions. An operator may be a value,
// and functions may be called that are elsewhere. Tested by tools/python/tests/test_tvm_text.py.
struct WrittenProgram {
  ir::Module module;
  ir::Graph graph;
  // By name, in the text's order; of an expression, it alone, without a name.
  std::vector<std::pair<std::string, ir::NodeId>> functions;
  // Where they stand: nodes by number; variables, constants and what else is an atom where it was
  // used last; each let of a node that has several.
  std::vector<WrittenPlace> places;
  std::unordered_map<const void*, WrittenPlace> atom_places;
  std::unordered_map<ir::NodeId, std::vector<WrittenPlace>> let_places;
  std::unordered_map<ir::NodeId, std::vector<std::string>> attr_orders;  // of functions
  // Of calls of functions, which are for whoever reads the text.
  std::unordered_map<ir::NodeId, std::vector<std::pair<std::string, AttrValue>>> call_attrs;
};
struct WrittenText {
  std::string name, text;
  bool is_expression = false;  // which declares variables by free_var where it likes
  size_t skipped = 0;          // bytes before line 1
};
Result<WrittenProgram> ParseRelayAsWritten(WrittenText text, const CustomOperators& operators = {});
// What tells an atom from others in `atom_places`.
inline const void* KeyOf(const ir::Atom& atom) {
  return std::visit([](const auto* p) -> const void* { return p; }, atom);
}

}  // namespace relayvm::frontend

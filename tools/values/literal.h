// Values written in Relay's syntax: what --input takes.
//
//   value   := tensor | "(" [value {"," value} [","]] ")"          a tuple; "()" is the unit
//            | CONSTRUCTOR ["(" [value {"," value}] ")"]          also by its tag: 1(@a.npy)
//   tensor  := "@" FILE | "@" '"' FILE '"'                         a .npy file
//            | NUMBER | "true" | "false"                            a scalar, in the type's dtype;
//            Relay's suffixes may stand | "[" [tensor {"," tensor}] "]"                      of
//            numbers | [DIM "x" {DIM "x"}] DTYPE "=" (NUMBER | "random")   2x3xf32=0.5: all
//            elements alike, or random | "Tensor[(" DIMS ")," DTYPE "]" tensor              as
//            results print
//
// The type says what is expected; nothing recurses with the depth of a value.
// Errors tell the place, what is expected and what is found. Tested by literal_test.cc.
#pragma once

#include <string_view>

#include "bytecode/base/status.h"
#include "tools/values/types.h"
#include "vm/value.h"

namespace relayvm::tools {

// `seed` makes what `random` gives: floats from [-1, 1), integers from 0 to 9. Fails with
// kInvalidInput, or as reading a file does.
Result<Value> ParseLiteral(std::string_view text, TypeTable& types, TypeTable::Id type,
                           uint64_t seed = 0);

// A tensor from a file as one of a type: converted to its dtype (ConvertTensor), and checked
// against its rank and static dims.
Result<Value> FitTensor(const Value& tensor, const TypeTable& types, TypeTable::Id type);

// True for the head of a filled tensor: "2x3xf32", "float32", "0xi64".
bool IsFillHead(std::string_view text);

}  // namespace relayvm::tools

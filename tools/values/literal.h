// Values written in Relay's syntax: what --input takes.
//
//   value   := tensor
//            | "(" [value {"," value} [","]] ")"                  a tuple; "()" is the unit
//            | CONSTRUCTOR ["(" [value {"," value}] ")"]          also by its tag: 1(@a.npy)
//   tensor  := "@" FILE | "@" '"' FILE '"'                        a .npy file
//            | NUMBER | "true" | "false"                          a scalar; also as in Relay: 3i64
//            | '"' TEXT '"'                                       a string, as in JSON
//            | "[" [tensor {"," tensor}] "]"                      of numbers or strings
//            | [DIM "x" {DIM "x"}] DTYPE "=" (NUMBER | "random")  2x3xf32=0.5: all elements alike
//            | "Tensor[(" DIMS ")," DTYPE "]" tensor              as results print
//
// The type says what is expected; nothing recurses with the depth of a value. Where a type
// parameter of the function leaves the type open, the value says what it is, and binds the
// parameter for what follows, sizes of dims left open: a constructor is looked up in all ADTs of
// the program, and a bare number is what it is in Relay text (2.5: float32, 3: int32, true: bool;
// see GuessDType). There, a tag does not do, but 0(...) is a tuple. Errors tell the place, what is
// expected and what is found. Tested by literal_test.cc.
#pragma once

#include <string_view>

#include "bytecode/base/status.h"
#include "tools/values/types.h"
#include "vm/border/value.h"

namespace relayvm::tools {

// `seed` makes what `random` gives: floats from [-1, 1), integers from 0 to 9. Fails with
// kInvalidInput, or as reading a file does.
Result<Value> ParseLiteral(std::string_view text, TypeTable& types, TypeTable::Id type,
                           uint64_t seed = 0);

// A tensor from a file as one of a type: converted to its dtype (ConvertTensor), and checked
// against its rank and static dims. An open type is bound to the tensor's.
Result<Value> FitTensor(const Value& tensor, TypeTable& types, TypeTable::Id type);

// True for the head of a filled tensor: "2x3xf32", "float32", "0xi64".
bool IsFillHead(std::string_view text);

}  // namespace relayvm::tools

// Rows of requests that stand one below the other: which signatures allow it, joining inputs,
// splitting results. Pure functions. Tested by batch_rows_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/base/status.h"
#include "vm/api/relayvm.h"

namespace relayvm::serve {

// Whether the types let the inputs of several runs be joined by rows and their result be split:
// numbers, with one free first dim for all inputs and outputs that no other dim depends on, no
// states, nothing that may be left out. Whether rows are independent they do not say. Else
// kUnsupported says what is in the way.
Status CheckJoinable(const FunctionSignature& function);

// Of inputs in order, as the function takes them (Executable::CheckInputs): the size of their first
// dim; -1 where they have several.
int64_t RowsOf(std::span<const Value> inputs);
// Whether all dims but the first agree.
bool AreJoinable(std::span<const Value> a, std::span<const Value> b);

// Each input of all parts, in their order. Memory of `runtime`, which counts it.
Result<std::vector<Value>> JoinRows(std::span<const std::span<const Value>> parts,
                                    Runtime& runtime);
// Rows [first, first + count) of a result of `total` rows: a tensor, or tuples of tensors.
// kInternal where a tensor has another number of rows.
Result<Value> SliceRows(const Value& result, int64_t first, int64_t count, int64_t total,
                        Runtime& runtime);

}  // namespace relayvm::serve

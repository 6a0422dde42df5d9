// Branches and loops whose bodies a format builds (control_flow.h has what they are made of): short
// ones become straight code. Tested by loops_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/import/control_flow.h"

namespace relayvm::import {

// The number, or truth (0 or 1), of a value that is known; nullopt where it is not, or of no value.
std::optional<int64_t> KnownNumber(TypedBuilder& b, const Value& v);
// A tensor of one element as rank 0; no value stays none.
Value ScalarOrNone(TypedBuilder& b, const Value& v);

// What `yes` and `no` have in common, each where the condition (a scalar) says so. Nullopt, without
// an error, where a pair has no type in common: ranks or dtypes differ. REQUIRES: equal sizes.
std::optional<std::vector<Value>> Branches(TypedBuilder& b, const Value& condition,
                                           std::vector<Value> yes, std::vector<Value> no);

// RunLoop, or straight code where turns and conditions are known, and turns times `nodes`, the size
// of a body, are few.
TypedBuilder::State RunOrUnroll(TypedBuilder& b, const CountedLoop& loop, int64_t nodes);

// A loop over the rows, along the first axis, of tensors of one length.
struct ScanSpec {
  TypedBuilder::State initial;
  std::vector<Value> scanned;  // one at least, rank 1 or more
  std::vector<bool> backward;  // of each: from the last row on
  // May be called several times; the last counts. `again` is not asked.
  std::function<Turn(const TypedBuilder::State& state, const std::vector<Value>& rows)> body;
  int64_t nodes = 0;  // the size of the body
};
// The last state, then what is collected: rows stand along the first axis.
TypedBuilder::State ScanRows(TypedBuilder& b, const ScanSpec& spec);

}  // namespace relayvm::import

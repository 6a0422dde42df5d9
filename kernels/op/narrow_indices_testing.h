// The walk over operators that read indices. For tests only.
#pragma once

#include <string>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {

// Evaluates the call with indices of each integer dtype, at its ends and near 0, and with the same
// numbers as int64: what differs, in words, or "". Sets `reads_indices` where it has any.
std::string WrongIndex(const OpDef& op, const KnownCall& call, bool* reads_indices);

}  // namespace relayvm::op_testing

// Whether a computation on a batch is the same for each slice of it: images of a network, each of
// which depends on its own input alone.
//
//   y[n][c][h][w] = max(x[n][c][h][w] + b[c], 0)   of 8 images in slices of 2: x is sliced, b is not
//
// Thread-safe. Recursion is as deep as expressions are. Tested by slices_test.cc.
#pragma once

#include <optional>
#include <vector>

#include "kernels/te/te.h"

namespace relayvm::te {

// `whole` and `slice` are results of one computation, made for batches of different sizes, the
// first dim of each result. Which of the `num_inputs` inputs are sliced along their first dims as
// the results are, where each result of a slice is, expression by expression, what `whole` has
// there: it reads a sliced input at its own place of the batch, other inputs wherever it likes, and
// its place in no other way. nullopt: it is not so, or this does not see that.
std::optional<std::vector<bool>> SlicedInputs(const std::vector<Tensor>& whole,
                                              const std::vector<Tensor>& slice, size_t num_inputs);

}  // namespace relayvm::te

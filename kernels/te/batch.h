// Many computations at once, of inputs of which some are the same for all: with a leading axis, or
// with more rows.
//
//   y[m][n] = sum over k of x[m][k] * w[n][k]   =>   y[b][m][n] = sum over k of x[b][m][k] * w[n][k]
//                                               =>   y[b][n] = sum over k of x[b][k] * w[n][k]
//
// Hints stay: their inputs are those of the new computations. Thread-safe. Tested by
// vm/schedule/batch_test.cc.
#pragma once

#include <vector>

#include "bytecode/base/dim.h"
#include "kernels/te/te.h"

namespace relayvm::te {

struct Batch {
  std::vector<Tensor> inputs;  // (b, ...), or as they were where they are shared
  std::vector<Tensor>
      outputs;  // (b, ...), or as they were where they depend on shared inputs alone
};

// `outputs` are computed from `inputs`, whose input_index is their position. REQUIRES: of tensors
// that are not shared, or computed from such, none has a conv or attention hint.
Batch AddLeadingAxis(const std::vector<Tensor>& inputs, const std::vector<bool>& shared,
                     const std::vector<Tensor>& outputs, const Dim& b);

// First dims that are `rows` become `b`. Whether each row of the outputs is made of its own rows
// alone, SlicedInputs (slices.h) tells of the two computations.
Batch WithRows(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
               const Dim& rows, const Dim& b);

}  // namespace relayvm::te

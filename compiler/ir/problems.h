// What a typed call computes, where that is a convolution or a product of matrices
// (kernels/op/problem.h). Stateless. Tested through the passes that ask.
#pragma once

#include <optional>

#include "compiler/ir/ir.h"
#include "kernels/op/problem.h"

namespace relayvm::ir {

std::optional<ConvProblem> ConvOf(const Module& m, const OpCall& call);
std::optional<ProductProblem> MatrixProductOf(const Module& m, const OpCall& call);

}  // namespace relayvm::ir

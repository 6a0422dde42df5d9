// What the files that define convolutions share. Tested by conv_test.cc.
#pragma once

#include <vector>

#include "kernels/op/op.h"
#include "kernels/op/problem.h"

namespace relayvm {

// The attributes of nn.convNd; with `transpose`, of nn.convNd_transpose.
std::vector<AttrField> ConvFields(int spatial, bool transpose);
// Checks `channels` and `kernel_size`, where given, against the kernel's type.
Status CheckConvAttrs(TypeContext& tc, const Dim& out_channels, const std::vector<Dim>& kernel);
// Type relation and meaning over arguments 0 (data) and 1 (kernel); qnn operators have more.
Result<OpResult> InferConv(TypeContext& tc, int spatial);
std::vector<te::Tensor> ComputeConv(const ComputeContext& c, int spatial);
// The meaning of a problem that is not transposed, over data and kernel in its layouts.
te::Tensor ConvTensor(const ConvProblem& p, const te::Tensor& data, const te::Tensor& kernel);
// The shape of the result.
std::vector<Dim> ConvShape(const ConvProblem& p);
// conv_transpose.cc
Result<OpResult> InferConvTranspose(TypeContext& tc, int spatial);
std::vector<te::Tensor> ComputeConvTranspose(const ComputeContext& c, int spatial);
void DefineConvTranspose(OpTable& table);
void DefineConvGradient(OpTable& table);  // conv_gradient.cc

}  // namespace relayvm

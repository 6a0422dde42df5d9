// What the files that define convolutions share. Tested by conv_test.cc.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/op/layouts.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/op.h"

namespace relayvm {

// What the attributes and the operand types of any convolution say; `O` and `I` as its kernel's
// layout has them.
struct ConvGeometry {
  int spatial = 2;
  Layout data, kernel, out;
  std::vector<int64_t> strides, dilation;
  nn::Padding padding;
  int64_t groups = 1;
  Dim batch, in_channels, kernel_out, kernel_in;
  std::vector<Dim> in_extent, kernel_extent;
};
// The error names the attribute that is wrong.
Result<ConvGeometry> ReadConvGeometry(const Attrs& attrs, int spatial,
                                      std::string_view kernel_capitals,
                                      const std::vector<Dim>& data_shape,
                                      const std::vector<Dim>& kernel_shape);

// The attributes of nn.convNd; with `transpose`, of nn.convNd_transpose.
std::vector<AttrField> ConvFields(int spatial, bool transpose);
// Checks `channels` and `kernel_size`, where given, against the kernel's type.
Status CheckConvAttrs(TypeContext& tc, const Dim& out_channels, const std::vector<Dim>& kernel);
// Type relation and meaning over arguments 0 (data) and 1 (kernel); qnn operators have more.
Result<OpResult> InferConv(TypeContext& tc, int spatial);
std::vector<te::Tensor> ComputeConv(const ComputeContext& c, int spatial);
// conv_transpose.cc
Result<OpResult> InferConvTranspose(TypeContext& tc, int spatial);
std::vector<te::Tensor> ComputeConvTranspose(const ComputeContext& c, int spatial);
void DefineConvTranspose(OpTable& table);

}  // namespace relayvm

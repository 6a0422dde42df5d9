// What convolutions of floats and quantised ones share. Tested by convolutions_test.cc.
#pragma once

#include <vector>

#include "vm/engines/dnnl/operators.h"

namespace relayvm::onednn {

struct ConvForm {
  int spatial = 2;
  bool is_transposed = false;
  std::vector<int> data, out;                   // of N C and the spatial axes
  std::vector<int> kernel;                      // of O I and the spatial axes
  Dims strides, dilation, before, after, more;  // more: output_padding
  int64_t groups = 1;
};
// Of inputs 0 (data) and 1 (kernel), of any dtypes.
Result<ConvForm> ReadConvForm(const Graph& graph, uint32_t node, int spatial, bool is_transposed);

struct ConvolutionForms {
  std::vector<Convolution> forms;  // the best first
  MemoryDesc packed;               // the kernel as plans before have it; none: there is none

  // The first form that is fast, with that kernel where it may be; else the first that there is.
  Result<PrimitiveDesc> Describe(const Attributes& a) const;
};
// With data whose channels are last as they are, and as oneDNN likes it. Without bias. Sets the
// root's order and its sources, data and kernel.
Result<ConvolutionForms> FormsOf(PlanBuilder& b, uint32_t node, const ConvForm& f,
                                 DType kernel_type, DType dst_type, Root* root);
// N C and spatial axes, with the channels last in memory.
Result<MemoryDesc> ChannelsLast(const Dims& dims, DType dtype);

}  // namespace relayvm::onednn

// What image.resize* and dyn.image.resize2d share. Tested by image_test.cc.
#pragma once

#include <vector>

#include "kernels/op/op_helpers.h"
#include "kernels/op/resize.h"
#include "kernels/op/shape_rules.h"

namespace relayvm {

// The attributes of image.resize<spatial>d, and what they say.
std::vector<AttrField> ResizeAttrs(int spatial);
ResizeMode ReadResizeMode(const Attrs& attrs);
// Argument 0, in the layout of attribute `layout`, resampled to `size`.
Result<OpResult> InferResize(TypeContext& ctx, const std::vector<Dim>& size, int spatial,
                             const ResizeMode& mode, DType dtype);
// Which element of roi starts `axis`; its end comes `spatial` elements later.
size_t RoiIndex(size_t axis, size_t spatial);

// image_sample.cc: affine_grid, grid_sample, dilation2d.
void DefineImageSampling(OpTable& table);

}  // namespace relayvm

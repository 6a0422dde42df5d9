// Resampling of spatial axes: what image.resize*, crop_and_resize and nn.upsampling share.
// Stateless. Tested by image_test.cc.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/op/op_helpers.h"

namespace relayvm {

struct ResizeMode {
  std::string method = "linear";           // nearest_neighbor, linear, cubic
  std::string coordinates = "half_pixel";  // see CheckResizeMode for the others
  std::string rounding;  // of nearest_neighbor; "": round with align_corners, floor else
  double cubic_alpha = -0.5;
  bool cubic_exclude = false;  // weights of pixels outside the image are 0
  double extrapolation = 0;    // of tf_crop_and_resize, for what is outside the image
};

// Fails for a method, coordinate mode or rounding that does not exist.
Status CheckResizeMode(const ResizeMode& mode);

// The region of interest of one axis, from 0 to 1: (start, end), as float32.
using RoiFn = std::function<std::pair<te::Expr, te::Expr>(size_t axis, const ExprList& out)>;

// `data` resampled to shape `out` along `axes` (in order; the last is interpolated first). The
// other indices are those of the result, or what `source` makes of them. `roi` is needed by
// tf_crop_and_resize only. Coordinates are computed in float32 as TVM does, values in float32
// (float64 for float64 data).
te::Tensor ResizeTensor(const te::Tensor& data, const std::vector<int>& axes, const TensorType& out,
                        const ResizeMode& mode, const RoiFn& roi = nullptr,
                        const std::function<void(ExprList& indices)>& source = nullptr);

// The positions of the spatial axes, in the order of their letters in "DHW", of a layout such as
// NCHW, NWC, NCHW8c. Fails unless the layout has N, C and `spatial` such axes.
Result<std::vector<int>> SpatialAxes(std::string_view layout, int spatial);

// nn.upsampling: round(extent * scale), halves away from zero.
Result<Dim> ScaledExtent(TypeContext& ctx, const Dim& extent, double scale);
// The same by argument `arg`, a scalar whose value need not be known. Rounds in its dtype.
Result<Dim> ScaledExtentByArg(TypeContext& ctx, const Dim& extent, size_t arg);
// What the attributes of nn.upsampling (spatial 2) or nn.upsampling3d, static or dyn, say.
ResizeMode ReadUpsamplingMode(const Attrs& attrs, int spatial);

}  // namespace relayvm

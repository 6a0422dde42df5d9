// nn.upsampling and nn.upsampling3d: resampling by factors. Stateless. Tested by nn_pad_test.cc.
#include <utility>

#include "kernels/op/layouts.h"
#include "kernels/op/nn_parts.h"
#include "kernels/op/resize.h"

namespace relayvm {
namespace {

OpDef UpsamplingOp(int spatial) {
  OpDef op;
  op.name = spatial == 2 ? "nn.upsampling" : "nn.upsampling3d";
  op.attrs = {Optional("scale_h", AttrKind::kFloat, 1.0),
              Optional("scale_w", AttrKind::kFloat, 1.0),
              Optional("layout", AttrKind::kString, spatial == 2 ? "NCHW" : "NCDHW"),
              Optional("method", AttrKind::kString, "nearest_neighbor")};
  if (spatial == 2) {
    op.attrs.push_back(Optional("align_corners", AttrKind::kBool, false));
  } else {
    op.attrs.push_back(Optional("scale_d", AttrKind::kFloat, 1.0));
    op.attrs.push_back(Optional("coordinate_transformation_mode", AttrKind::kString, "half_pixel"));
  }
  op.fusion = FusionClass::kInjective;
  op.infer = [spatial](TypeContext& tc) -> Result<OpResult> {
    const Attrs& attrs = tc.attrs();
    TensorType result = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(CheckResizeMode(ReadUpsamplingMode(attrs, spatial)));
    const std::string& layout = attrs.String("layout");
    RELAYVM_ASSIGN_OR_RETURN(std::vector<int> axes, SpatialAxes(layout, spatial));
    RELAYVM_ASSIGN_OR_RETURN(Layout parsed, Layout::Parse(layout));
    RELAYVM_RETURN_IF_ERROR(RequireRank(result, parsed.rank()));
    std::vector<double> scales = {attrs.Float("scale_h"), attrs.Float("scale_w")};
    if (spatial == 3) scales.insert(scales.begin(), attrs.Float("scale_d"));
    for (size_t s = 0; s < axes.size(); ++s) {
      if (!(scales[s] > 0)) return Invalid("a scale is {}, expected more than 0", scales[s]);
      Dim& extent = result.shape[axes[s]];
      RELAYVM_ASSIGN_OR_RETURN(extent, ScaledExtent(tc, extent, scales[s]));
    }
    return OpResult(std::move(result));
  };
  op.compute = [spatial](const ComputeContext& c) -> std::vector<te::Tensor> {
    return {ResizeTensor(c.inputs[0], *SpatialAxes(c.attrs.String("layout"), spatial), c.outputs[0],
                         ReadUpsamplingMode(c.attrs, spatial))};
  };
  return op;
}

}  // namespace

void DefineNnUpsampling(OpTable& table) {
  table.Add(UpsamplingOp(2));
  table.Add(UpsamplingOp(3));
}

}  // namespace relayvm

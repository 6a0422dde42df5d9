// Padding and rearrangement: nn.pad nn.mirror_pad nn.dilate nn.depth_to_space nn.space_to_depth
// nn.space_to_batch_nd nn.batch_to_space_nd. Stateless. Tested by nn_pad_test.cc.
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/nn_parts.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

// --- nn.pad, nn.mirror_pad ---

using Widths = std::vector<std::vector<int64_t>>;

Result<Widths> PadWidths(const Attrs& attrs, int rank) {
  Widths widths = attrs.Ints2("pad_width");
  if (widths.size() != static_cast<size_t>(rank)) {
    return Invalid("pad_width has {} pairs, expected {}", widths.size(), rank);
  }
  for (const auto& w : widths) {
    if (w.size() != 2)
      return Invalid("pad_width holds {} values for one axis, expected 2", w.size());
  }
  return widths;
}

// `spare` is by how much an axis must be longer than its padding (reflection), -1 where padding may
// be any (negative widths crop).
Result<OpResult> InferPad(TypeContext& tc, int spare) {
  const TensorType& data = tc.tensor(0);
  RELAYVM_ASSIGN_OR_RETURN(Widths widths, PadWidths(tc.attrs(), data.rank()));
  TensorType result = data;
  for (int d = 0; d < data.rank(); ++d) {
    const int64_t before = widths[d][0], after = widths[d][1];
    result.shape[d] = data.shape[d] + (before + after);
    if (before < 0 || after < 0) {
      RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(result.shape[d], 0, "the padded extent"));
    }
    const int64_t longest = std::max(before, after);
    if (spare >= 0 && longest > 0) {
      RELAYVM_RETURN_IF_ERROR(
          tc.RequireAtLeast(data.shape[d], longest + spare, "the extent of a mirrored axis"));
    }
  }
  return OpResult(std::move(result));
}

// Index j along an axis of n elements mirrored at its ends. `skip`: 1 does not repeat the border
// (REFLECT), 0 does (SYMMETRIC).
Expr Mirror(const Expr& j, const Dim& n, int64_t before, int64_t after, int64_t skip) {
  Expr at = j;
  if (after > 0) {
    const Expr end = te::DimValue(n);
    at = te::Select(j < end, at, te::DimValue(n * 2 - (1 + skip)) - j);
  }
  if (before > 0) at = te::Select(j < Int(0), Int(skip - 1) - j, at);
  return at;
}

std::vector<Tensor> ComputeMirror(const ComputeContext& c, int64_t skip) {
  const Tensor& x = c.inputs[0];
  const Widths widths = *PadWidths(c.attrs, x->rank());
  return {te::Compute("mirror_pad", c.outputs[0].shape, [&](const Indices& i) {
    Indices at;
    for (size_t d = 0; d < i.size(); ++d) {
      at.push_back(Mirror(i[d] - Int(widths[d][0]), x->shape[d], widths[d][0], widths[d][1], skip));
    }
    return te::Load(x, at);
  })};
}

std::vector<Tensor> ComputePad(const ComputeContext& c) {
  const std::string& mode = c.attrs.String("pad_mode");
  if (mode == "reflect") return ComputeMirror(c, 1);
  const Tensor& x = c.inputs[0];
  const Widths widths = *PadWidths(c.attrs, x->rank());
  return {te::Compute("pad", c.outputs[0].shape, [&](const Indices& i) {
    Indices at;
    std::vector<Expr> inside;
    for (size_t d = 0; d < i.size(); ++d) {
      const int64_t before = widths[d][0], after = widths[d][1];
      const Expr extent = te::DimValue(x->shape[d]);
      const Expr j = i[d] - Int(before);
      if (mode == "edge") {
        at.push_back(before == 0 && after == 0 ? j : Clamp(j, Int(0), extent - Int(1)));
        continue;
      }
      at.push_back(j);
      if (before > 0) inside.push_back(j >= Int(0));
      if (after > 0) inside.push_back(j < extent);
    }
    const Expr fill = te::Load(c.inputs[1], Indices(c.inputs[1]->shape.size(), Int(0)));
    return nn::SelectIf(nn::AndAll(inside), te::Load(x, at), te::Cast(fill, x->dtype));
  })};
}

OpDef PadOp() {
  OpDef op;
  op.name = "nn.pad";
  op.num_args = 2;
  op.attrs = {{"pad_width", AttrKind::kInts2, true},
              {"pad_mode", AttrKind::kString, false, "constant"}};
  op.fusion = FusionClass::kInjective;
  op.layout = LayoutRule::kFollows;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const std::string& mode = tc.attrs().String("pad_mode");
    if (mode != "constant" && mode != "edge" && mode != "reflect") {
      return Invalid("pad_mode is \"{}\", expected constant, edge or reflect", mode);
    }
    for (const Dim& d : tc.tensor(1).shape) {
      if (!d.is_const(1))
        return Invalid("pad_value has shape {}, expected a scalar",
                       ShapeToString(tc.tensor(1).shape));
    }
    if (mode == "constant") return InferPad(tc, -1);
    // An edge needs one element to repeat; with widths above zero only.
    RELAYVM_ASSIGN_OR_RETURN(Widths widths, PadWidths(tc.attrs(), tc.tensor(0).rank()));
    if (mode == "reflect") return InferPad(tc, 1);
    for (int d = 0; d < tc.tensor(0).rank(); ++d) {
      if (widths[d][0] == 0 && widths[d][1] == 0) continue;
      RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(tc.tensor(0).shape[d], 1,
                                                "the extent of an axis whose edge is repeated"));
    }
    return InferPad(tc, -1);
  };
  op.compute = ComputePad;
  return op;
}

OpDef MirrorPadOp() {
  OpDef op;
  op.name = "nn.mirror_pad";
  op.attrs = {{"mode", AttrKind::kString, false, "SYMMETRIC"},
              {"pad_width", AttrKind::kInts2, true}};
  op.fusion = FusionClass::kInjective;
  op.layout = LayoutRule::kFollows;
  // As TVM, which checks no name: what is not SYMMETRIC reflects.
  const auto skip = [](const Attrs& attrs) { return attrs.String("mode") == "SYMMETRIC" ? 0 : 1; };
  op.infer = [skip](TypeContext& tc) { return InferPad(tc, skip(tc.attrs())); };
  op.compute = [skip](const ComputeContext& c) { return ComputeMirror(c, skip(c.attrs)); };
  return op;
}

// --- nn.dilate ---

OpDef DilateOp() {
  OpDef op;
  op.name = "nn.dilate";
  op.attrs_class = "DilateAttrs";
  op.print_attrs_class = true;
  op.attrs = {{"strides", AttrKind::kInts, false, AttrList{1, 1}},
              {"dilation_value", AttrKind::kFloat, false, 0.0}};
  op.fusion = FusionClass::kInjective;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    TensorType result = tc.tensor(0);
    const std::vector<int64_t> strides = tc.attrs().Ints("strides");
    if (strides.size() != result.shape.size()) {
      return Invalid("strides has {} values, expected {}", strides.size(), result.rank());
    }
    for (size_t d = 0; d < strides.size(); ++d) {
      if (strides[d] < 1) return Invalid("strides holds {}, expected at least 1", strides[d]);
      // Nothing lies between the elements of an empty axis.
      result.shape[d] = Dim::Max(0, (result.shape[d] - 1) * strides[d] + 1);
    }
    return OpResult(std::move(result));
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const std::vector<int64_t> strides = c.attrs.Ints("strides");
    return {te::Compute("dilate", c.outputs[0].shape, [&](const Indices& i) {
      Indices at;
      std::vector<Expr> hits;
      for (size_t d = 0; d < i.size(); ++d) {
        if (strides[d] > 1) hits.push_back(FloorModExpr(i[d], Int(strides[d])) == Int(0));
        at.push_back(FloorDivExpr(i[d], Int(strides[d])));
      }
      return nn::SelectIf(nn::AndAll(hits), te::Load(x, at),
                          te::Const(c.attrs.Float("dilation_value"), x->dtype));
    })};
  };
  return op;
}

// --- Depth and space ---

struct DepthPlan {
  int64_t block = 1;
  bool channels_first = true;
  bool crd = false;  // channel-major blocks; else depth-major (DCR)

  // (n, channel, y, x) as an index tuple, and the parts of one.
  template <typename T>
  std::vector<T> Pack(const T& n, const T& channel, const T& y, const T& x) const {
    return channels_first ? std::vector<T>{n, channel, y, x} : std::vector<T>{n, y, x, channel};
  }
  int channel() const { return channels_first ? 1 : 3; }
  int y() const { return channels_first ? 2 : 1; }
  int x() const { return y() + 1; }
};

// As TVM, which checks no name of a mode, and reads none of nn.space_to_depth.
Result<DepthPlan> PlanDepth(const Attrs& attrs) {
  DepthPlan p;
  p.block = attrs.Int("block_size");
  const std::string& layout = attrs.String("layout");
  if (p.block < 1) return Invalid("block_size is {}, expected at least 1", p.block);
  if (layout != "NCHW" && layout != "NHWC") {
    return Invalid("layout is \"{}\", expected NCHW or NHWC", layout);
  }
  p.channels_first = layout == "NCHW";
  p.crd = attrs.String("mode") != "DCR";
  return p;
}

OpDef DepthOp(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.attrs = {{"block_size", AttrKind::kInt, false, 1},
              {"layout", AttrKind::kString, false, "NCHW"},
              {"mode", AttrKind::kString, false, "DCR"}};
  op.fusion = FusionClass::kInjective;
  return op;
}

OpDef DepthToSpaceOp() {
  OpDef op = DepthOp("nn.depth_to_space");
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 4, "data"));
    RELAYVM_ASSIGN_OR_RETURN(DepthPlan p, PlanDepth(tc.attrs()));
    const Dim& channels = data.shape[p.channel()];
    const int64_t area = p.block * p.block;
    return OpResult(
        TensorType{p.Pack<Dim>(data.shape[0], Dim::FloorDiv(channels, area),
                               data.shape[p.y()] * p.block, data.shape[p.x()] * p.block),
                   data.dtype});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const DepthPlan p = *PlanDepth(c.attrs);
    const std::vector<Dim>& shape = c.outputs[0].shape;
    return {te::Compute("depth_to_space", shape, [&](const Indices& i) {
      const Expr block = Int(p.block);
      const Expr& channel = i[p.channel()];
      const Expr within = FloorModExpr(i[p.y()], block) * block + FloorModExpr(i[p.x()], block);
      const Expr from = p.crd ? channel * Int(p.block * p.block) + within
                              : within * te::DimValue(shape[p.channel()]) + channel;
      return te::Load(c.inputs[0], p.Pack<Expr>(i[0], from, FloorDivExpr(i[p.y()], block),
                                                FloorDivExpr(i[p.x()], block)));
    })};
  };
  return op;
}

OpDef SpaceToDepthOp() {
  OpDef op = DepthOp("nn.space_to_depth");
  op.depth_blocks = [](const Attrs& attrs) -> DepthBlocks {
    const DepthPlan p = *PlanDepth(attrs);
    return {p.block, static_cast<size_t>(p.channel())};
  };
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 4, "data"));
    RELAYVM_ASSIGN_OR_RETURN(DepthPlan p, PlanDepth(tc.attrs()));
    for (int d : {p.y(), p.x()}) {
      RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::FloorMod(data.shape[d], p.block), 0,
                                              "the height and width modulo block_size"));
    }
    return OpResult(
        TensorType{p.Pack<Dim>(data.shape[0], data.shape[p.channel()] * (p.block * p.block),
                               Dim::FloorDiv(data.shape[p.y()], p.block),
                               Dim::FloorDiv(data.shape[p.x()], p.block)),
                   data.dtype});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const DepthPlan p = *PlanDepth(c.attrs);
    const Tensor& x = c.inputs[0];
    return {te::Compute("space_to_depth", c.outputs[0].shape, [&](const Indices& i) {
      const Expr block = Int(p.block);
      const Expr channels = te::DimValue(x->shape[p.channel()]);
      const Expr within = FloorDivExpr(i[p.channel()], channels);
      return te::Load(x, p.Pack<Expr>(i[0], FloorModExpr(i[p.channel()], channels),
                                      i[p.y()] * block + FloorDivExpr(within, block),
                                      i[p.x()] * block + FloorModExpr(within, block)));
    })};
  };
  return op;
}

// --- Batch and space ---
// Position in the block is the slower part of the batch: batch = ((b0 * block1 + b1) ...) * N + n.

struct BatchPlan {
  std::vector<int64_t> block;
  Widths widths;  // padding or crop, before and after
  int64_t blocks = 1;
};

Result<BatchPlan> PlanBatch(const Attrs& attrs, const char* widths_name, int rank) {
  BatchPlan p;
  p.block = attrs.Ints("block_shape");
  p.widths = attrs.Ints2(widths_name);
  if (static_cast<int>(p.block.size()) >= rank) {
    return Invalid("block_shape has {} values for data of rank {}", p.block.size(), rank);
  }
  if (p.widths.size() != p.block.size()) {
    return Invalid("{} has {} pairs, expected {}", widths_name, p.widths.size(), p.block.size());
  }
  for (size_t s = 0; s < p.block.size(); ++s) {
    if (p.block[s] < 1) return Invalid("block_shape holds {}, expected at least 1", p.block[s]);
    if (p.widths[s].size() != 2 || p.widths[s][0] < 0 || p.widths[s][1] < 0) {
      return Invalid("{} must hold pairs of numbers from 0", widths_name);
    }
    p.blocks *= p.block[s];
  }
  return p;
}

OpDef SpaceToBatchOp() {
  OpDef op;
  op.name = "nn.space_to_batch_nd";
  op.attrs = {{"block_shape", AttrKind::kInts, false, AttrList{1, 1}},
              {"paddings", AttrKind::kInts2, true},
              {"pad_value", AttrKind::kFloat, false, 0.0}};
  op.fusion = FusionClass::kInjective;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    TensorType result = tc.tensor(0);
    RELAYVM_ASSIGN_OR_RETURN(BatchPlan p, PlanBatch(tc.attrs(), "paddings", result.rank()));
    result.shape[0] = result.shape[0] * p.blocks;
    for (size_t s = 0; s < p.block.size(); ++s) {
      Dim& extent = result.shape[s + 1];
      extent = extent + (p.widths[s][0] + p.widths[s][1]);
      extent = Dim::FloorDiv(extent, p.block[s]);
    }
    return OpResult(std::move(result));
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const BatchPlan p = *PlanBatch(c.attrs, "paddings", x->rank());
    return {te::Compute("space_to_batch_nd", c.outputs[0].shape, [&](const Indices& i) {
      Indices at = i;
      const Expr batch = te::DimValue(x->shape[0]);
      at[0] = FloorModExpr(i[0], batch);
      Expr block = FloorDivExpr(i[0], batch);
      std::vector<Expr> inside;
      for (size_t s = p.block.size(); s-- > 0;) {
        at[s + 1] =
            i[s + 1] * Int(p.block[s]) + FloorModExpr(block, Int(p.block[s])) - Int(p.widths[s][0]);
        block = FloorDivExpr(block, Int(p.block[s]));
        if (p.widths[s][0] > 0) inside.push_back(at[s + 1] >= Int(0));
        if (p.widths[s][1] > 0) inside.push_back(at[s + 1] < te::DimValue(x->shape[s + 1]));
      }
      return nn::SelectIf(nn::AndAll(inside), te::Load(x, at),
                          te::Const(c.attrs.Float("pad_value"), x->dtype));
    })};
  };
  return op;
}

OpDef BatchToSpaceOp() {
  OpDef op;
  op.name = "nn.batch_to_space_nd";
  op.attrs = {{"block_shape", AttrKind::kInts, false, AttrList{1, 1}},
              {"crops", AttrKind::kInts2, true}};
  op.fusion = FusionClass::kInjective;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    TensorType result = tc.tensor(0);
    RELAYVM_ASSIGN_OR_RETURN(BatchPlan p, PlanBatch(tc.attrs(), "crops", result.rank()));
    result.shape[0] = Dim::FloorDiv(result.shape[0], p.blocks);
    for (size_t s = 0; s < p.block.size(); ++s) {
      Dim& extent = result.shape[s + 1];
      extent = extent * p.block[s] - (p.widths[s][0] + p.widths[s][1]);
      RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(extent, 0, "a cropped extent"));
    }
    return OpResult(std::move(result));
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const BatchPlan p = *PlanBatch(c.attrs, "crops", x->rank());
    return {te::Compute("batch_to_space_nd", c.outputs[0].shape, [&](const Indices& i) {
      Indices at = i;
      Expr block = Int(0);
      for (size_t s = 0; s < p.block.size(); ++s) {
        const Expr position = i[s + 1] + Int(p.widths[s][0]);
        at[s + 1] = FloorDivExpr(position, Int(p.block[s]));
        block = block * Int(p.block[s]) + FloorModExpr(position, Int(p.block[s]));
      }
      at[0] = block * te::DimValue(c.outputs[0].shape[0]) + i[0];
      return te::Load(x, at);
    })};
  };
  return op;
}

}  // namespace

void DefineNnPad(OpTable& table) {
  table.Add(PadOp());
  table.Add(MirrorPadOp());
  table.Add(DilateOp());
  table.Add(DepthToSpaceOp());
  table.Add(SpaceToDepthOp());
  table.Add(SpaceToBatchOp());
  table.Add(BatchToSpaceOp());
}

}  // namespace relayvm

// Markers: operators that give their argument back, of whatever type. They steer TVM's passes and
// cost nothing.
#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"
#include "kernels/op/region_markers.h"

namespace relayvm {
namespace {

constexpr const char* kRegionBegin = "annotation.compiler_begin";
constexpr const char* kRegionEnd = "annotation.compiler_end";
constexpr const char* kEngine = "compiler";

OpDef Marker(std::string name, std::vector<AttrField> attrs = {}, std::string attrs_class = "") {
  OpDef def;
  def.name = std::move(name);
  def.attrs = std::move(attrs);
  def.print_attrs_class = !attrs_class.empty();
  def.attrs_class = std::move(attrs_class);
  def.is_identity = true;
  def.layout = LayoutRule::kAgnostic;
  def.decompose = [](CallWriter& w) -> std::optional<std::vector<CallWriter::Value>> {
    return {{w.Arg(0)}};
  };
  return def;
}

// A marker that stays a call, so that no fused group reaches across it.
OpDef Barrier(std::string name) {
  OpDef def = Marker(std::move(name));
  def.decompose = nullptr;
  return def;
}

// What a value would be after quantisation: data scaled, clipped, rounded and scaled back.
OpDef SimulatedQuantize() {
  OpDef def;
  def.name = "relay.op.annotation.simulated_quantize";
  def.num_args = 4;  // data, scale, clip_min, clip_max
  def.attrs = {Required("kind", AttrKind::kInt), Optional("sign", AttrKind::kBool, true),
               Optional("rounding", AttrKind::kString, "round")};
  def.fusion = FusionClass::kElementwise;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireFloat(ctx.tensor(0)));
    for (size_t i = 1; i < 4; ++i) {
      RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(i), 0, "scale and bounds"));
      RELAYVM_RETURN_IF_ERROR(RequireSameDType(ctx.tensor(0), ctx.tensor(i)));
    }
    if (ctx.attrs().String("rounding") != "round") {
      return Unsupported("rounding \"{}\"; only round is", ctx.attrs().String("rounding"));
    }
    return OpResult(ctx.tensor(0));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    constexpr int64_t kIdentity = 0;  // TVM's QAnnotateKind
    const te::Tensor& data = ctx.inputs[0];
    if (ctx.attrs.Int("kind") == kIdentity) return {Identity(data)};
    return {te::Compute("simulated_quantize", data->shape, [&](const ExprList& i) {
      te::Expr scale = Scalar(ctx.inputs[1]);
      te::Expr scaled = te::Binary(te::BinaryOp::kDivide, te::Load(data, i), scale);
      te::Expr clipped = MaxExpr(MinExpr(scaled, Scalar(ctx.inputs[3])), Scalar(ctx.inputs[2]));
      return te::Unary(te::UnaryOp::kRound, clipped) * scale;
    })};
  };
  return def;
}

}  // namespace

RegionMarker RegionMarkerOf(const OpDef& op) {
  if (!op.is_identity) return RegionMarker::kNone;
  return op.name == kRegionBegin ? RegionMarker::kBegin
         : op.name == kRegionEnd ? RegionMarker::kEnd
                                 : RegionMarker::kNone;
}

const std::string& MarkedEngine(const Attrs& attrs) { return attrs.String(kEngine); }

NamedCall RegionMarkerCall(RegionMarker marker, const std::string& engine) {
  NamedCall call;
  call.op = marker == RegionMarker::kBegin ? kRegionBegin : kRegionEnd;
  call.attrs.Set(kEngine, engine);
  return call;
}

void DefineAnnotation(OpTable& table) {
  table.Add(Marker("annotation.bitpack_end"));
  table.Add(Marker("annotation.bitpack_start"));
  table.Add(
      Marker("annotation.cast_hint", {Optional("dtype", AttrKind::kDType, "")}, "CastHintAttrs"));
  table.Add(Marker("annotation.checkpoint"));
  for (const char* name : {kRegionBegin, kRegionEnd})
    table.Add(Marker(name, {Optional(kEngine, AttrKind::kString, "")}, "CompilerAttrs"));
  table.Add(Barrier("annotation.stop_fusion"));
  table.Add(Marker("annotation.with_funcid"));
  table.Add(Marker("on_device", {Optional("virtual_device", AttrKind::kAny),
                                 Optional("constrain_result", AttrKind::kBool, false),
                                 Optional("constrain_body", AttrKind::kBool, true)}));
  table.Add(Marker("device_copy", {Optional("src_virtual_device", AttrKind::kAny),
                                   Optional("dst_virtual_device", AttrKind::kAny)}));
  table.Add(SimulatedQuantize());
}

}  // namespace relayvm

#include "kernels/op/winograd.h"

#include <cmath>
#include <span>
#include <tuple>
#include <vector>

#include "kernels/op/define.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/op.h"
#include "kernels/op/problem.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

// The coefficient of x^power in the product of (x - point) over the points but the skipped one.
double Coefficient(std::span<const double> points, int64_t skipped, int64_t power) {
  std::vector<double> polynomial = {1};
  for (size_t i = 0; i < points.size(); ++i) {
    if (static_cast<int64_t>(i) == skipped) continue;
    polynomial.insert(polynomial.begin(), 0);
    for (size_t j = 0; j + 1 < polynomial.size(); ++j) {
      polynomial[j] -= points[i] * polynomial[j + 1];
    }
  }
  return power < static_cast<int64_t>(polynomial.size()) ? polynomial[static_cast<size_t>(power)]
                                                         : 0;
}

// Element (i, j) of a matrix of constants.
Expr ElementOf(double (*matrix)(int64_t tile, int64_t i, int64_t j), int64_t tile, int64_t rows,
               int64_t columns, const Expr& i, const Expr& j) {
  const Expr index = i * te::IntImm(columns) + j;
  Expr value = te::Const(0, DType::kFloat32);
  for (int64_t at = 0; at < rows * columns; ++at) {
    const double element = matrix(tile, at / columns, at % columns);
    if (element == 0) continue;
    value = te::Select(index == te::IntImm(at), te::Const(element, DType::kFloat32), value);
  }
  return value;
}

struct WinogradPlan {
  int64_t tile = 0, window = 0, channels = 0, blocks = 0, rows = 0;
  nn::Padding padding;
  Dim height, width;  // of the result
};

// REQUIRES: the weight's dims 2 and 4 are constants.
Result<WinogradPlan> Plan(const Attrs& attrs, const std::vector<Dim>& data,
                          const std::vector<Dim>& weight) {
  WinogradPlan p;
  p.tile = attrs.Int("tile_size");
  if (!IsWinogradTile(p.tile)) return Invalid("tile_size is {}, expected 2 or 4", p.tile);
  p.window = WinogradWindow(p.tile);
  p.channels = attrs.Int("channels");
  if (p.channels < 1) return Invalid("channels is {}, expected at least 1", p.channels);
  p.blocks = weight[2].value();
  p.rows = weight[4].value();
  RELAYVM_ASSIGN_OR_RETURN(p.padding, nn::ExpandPadding(attrs.Ints("padding"), 2));
  auto extent = [&](size_t axis) {
    return nn::WindowExtent(data[2 + axis], p.padding.before[axis] + p.padding.after[axis], 3, 1,
                            1);
  };
  p.height = extent(0);
  p.width = extent(1);
  return p;
}

Result<OpResult> Infer(TypeContext& tc) {
  const TensorType& data = tc.tensor(0);
  const TensorType& weight = tc.tensor(1);
  for (const auto& [type, what, rank] :
       {std::tuple(&data, "data", 4), std::tuple(&weight, "weight", 5)}) {
    if (type->rank() != rank) {
      return Invalid("{} has rank {}, expected {}", what, type->rank(), rank);
    }
    if (type->dtype != DType::kFloat32) {
      return Invalid("{} is of {}, expected float32", what, DTypeName(type->dtype));
    }
  }
  constexpr int64_t kMost = 64;
  for (size_t i : {2U, 4U}) {
    const Dim& d = weight.shape[i];
    if (d.is_const() && d.value() > 0 && d.value() <= kMost) continue;
    return Invalid("dimension {} of weight is {}, expected a constant from 1 to {}", i,
                   d.ToString(), kMost);
  }
  RELAYVM_ASSIGN_OR_RETURN(WinogradPlan p, Plan(tc.attrs(), data.shape, weight.shape));
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(weight.shape[1], p.window * p.window,
                                          "the products of a tile and of weight"));
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::CeilDiv(p.channels, p.blocks * p.rows),
                                          weight.shape[0], "the groups of channels and of weight"));
  RELAYVM_RETURN_IF_ERROR(
      tc.RequireEqual(data.shape[1], weight.shape[3], "the channels of data and of weight"));
  for (const Dim* extent : {&p.height, &p.width}) {
    RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(*extent, 0, "the output's extent"));
  }
  return OpResult(TensorType{{data.shape[0], p.channels, p.height, p.width}, DType::kFloat32});
}

std::vector<Tensor> Compute(const ComputeContext& c) {
  const Tensor& data = c.inputs[0];
  const Tensor& weight = c.inputs[1];
  const WinogradPlan p = *Plan(c.attrs, data->shape, weight->shape);
  const Dim tiles_y = Dim::CeilDiv(p.height, p.tile), tiles_x = Dim::CeilDiv(p.width, p.tile);
  auto window_axes = [&] {
    return std::vector<te::Axis>{te::MakeAxis("i", p.window), te::MakeAxis("j", p.window)};
  };
  // (n, channel, tile y, tile x, i, j)
  const Tensor windows = te::Compute(
      "winograd_data", {data->shape[0], data->shape[1], tiles_y, tiles_x, p.window, p.window},
      [&](const Indices& at) {
        const std::vector<te::Axis> axes = window_axes();
        const Expr y = te::AxisValue(axes[0]), x = te::AxisValue(axes[1]);
        const Expr row = at[2] * te::IntImm(p.tile) + y - te::IntImm(p.padding.before[0]);
        const Expr column = at[3] * te::IntImm(p.tile) + x - te::IntImm(p.padding.before[1]);
        const Expr inside = nn::AndAll({nn::InRange(row, te::DimValue(data->shape[2])),
                                        nn::InRange(column, te::DimValue(data->shape[3]))});
        const Expr element = te::Select(inside, te::Load(data, {at[0], at[1], row, column}),
                                        te::Const(0, DType::kFloat32));
        const Expr factor = ElementOf(WinogradOfData, p.tile, p.window, p.window, at[4], y) *
                            ElementOf(WinogradOfData, p.tile, p.window, p.window, at[5], x);
        return te::Reduce(te::ReduceKind::kSum, factor * element, axes, DType::kFloat32);
      });
  // (n, output channel, tile y, tile x, i, j)
  const Tensor products = te::Compute(
      "winograd_products", {data->shape[0], p.channels, tiles_y, tiles_x, p.window, p.window},
      [&](const Indices& at) {
        const te::Axis channel = te::MakeAxis("c", data->shape[1]);
        const Expr k = te::AxisValue(channel);
        const Expr x = te::Load(windows, {at[0], k, at[2], at[3], at[4], at[5]});
        const Expr block = FloorDivExpr(at[1], te::IntImm(p.rows));
        const Expr w = te::Load(weight, {FloorDivExpr(block, te::IntImm(p.blocks)),
                                         at[4] * te::IntImm(p.window) + at[5],
                                         FloorModExpr(block, te::IntImm(p.blocks)), k,
                                         FloorModExpr(at[1], te::IntImm(p.rows))});
        return te::Reduce(te::ReduceKind::kSum, x * w, {channel}, DType::kFloat32);
      });
  const Tensor out = te::Compute("conv2d_winograd", c.outputs[0].shape, [&](const Indices& at) {
    const std::vector<te::Axis> axes = window_axes();
    const Expr i = te::AxisValue(axes[0]), j = te::AxisValue(axes[1]);
    const Expr tile = te::IntImm(p.tile);
    const Expr product = te::Load(
        products, {at[0], at[1], FloorDivExpr(at[2], tile), FloorDivExpr(at[3], tile), i, j});
    const Expr factor =
        ElementOf(WinogradOfResult, p.tile, p.tile, p.window, FloorModExpr(at[2], tile), i) *
        ElementOf(WinogradOfResult, p.tile, p.tile, p.window, FloorModExpr(at[3], tile), j);
    return te::Reduce(te::ReduceKind::kSum, factor * product, axes, DType::kFloat32);
  });
  auto node =
      std::make_shared<te::TensorNode>(*nn::WithHint(out, te::ScheduleHint::kConv, {data, weight}));
  ConvForm form;
  form.strides = form.dilation = {1, 1};
  form.padding = p.padding;
  form.data = form.out = *Layout::Parse("NCHW");
  form.winograd_tile = p.tile;
  node->conv = std::make_shared<const ConvForm>(std::move(form));
  return {node};
}

}  // namespace

double WinogradOfData(int64_t tile, int64_t i, int64_t j) {
  const std::span<const double> points = WinogradPoints(tile);
  return Coefficient(points, i, j);  // the last row, of infinity, skips none
}

double WinogradOfResult(int64_t tile, int64_t i, int64_t j) {
  const std::span<const double> points = WinogradPoints(tile);
  if (j == static_cast<int64_t>(points.size())) return i == tile - 1 ? 1 : 0;
  return std::pow(points[static_cast<size_t>(j)], static_cast<double>(i));
}

void DefineWinograd(OpTable& table) {
  OpDef op;
  op.name = "nn.contrib_conv2d_winograd";
  op.num_args = 2;
  op.attrs = {{"tile_size", AttrKind::kInt, true},
              {"channels", AttrKind::kInt, true},
              {"padding", AttrKind::kInts, false, AttrList(2, AttrValue(int64_t{0}))}};
  op.fusion = FusionClass::kOutElementwise;
  op.infer = Infer;
  op.compute = Compute;
  table.Add(std::move(op));
}

}  // namespace relayvm

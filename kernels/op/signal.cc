// Fourier transforms by their definition: dft (over the last axis, real and imaginary part apart)
// and stft. Stateless. Tested by signal_test.cc.
#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/op/nn_helpers.h"
#include "kernels/op/nn_parts.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

// 2 pi a b / n in `dtype`. The product is reduced modulo n first, so the angle stays small and
// exact.
Expr Angle(const Expr& a, const Expr& b, const Expr& n, DType dtype) {
  return te::Const(2 * std::numbers::pi, dtype) *
         nn::Divide(te::Cast(FloorModExpr(a * b, n), dtype), te::Cast(n, dtype));
}
Expr Cos(Expr x) { return te::Unary(te::UnaryOp::kCos, std::move(x)); }
Expr Sin(Expr x) { return te::Unary(te::UnaryOp::kSin, std::move(x)); }
Expr Negative(Expr x) { return te::Unary(te::UnaryOp::kNegative, std::move(x)); }

OpDef DftOp() {
  OpDef op;
  op.name = "dft";
  op.attrs_class = "DFTAttrs";
  op.print_attrs_class = true;
  op.num_args = 2;
  op.attrs = {Optional("inverse", AttrKind::kBool, false)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& re = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireFloat(re));
    if (re.rank() < 1) return Invalid("data has rank 0, expected at least 1");
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(re, tc.tensor(1)));
    RELAYVM_RETURN_IF_ERROR(
        RequireShapeEqual(tc, re.shape, tc.tensor(1).shape, "the real and the imaginary part"));
    return OpResult::Tuple({re, re});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor &re = c.inputs[0], &im = c.inputs[1];
    const DType dtype = re->dtype;
    const bool inverse = c.attrs.Bool("inverse");
    const Expr n = te::DimValue(re->shape.back());
    const auto part = [&](bool real) {
      return te::Compute(real ? "dft_re" : "dft_im", re->shape, [&](const Indices& i) {
        const te::Axis k = te::MakeAxis("k", re->shape.back());
        Indices at = i;
        at.back() = te::AxisValue(k);
        const Expr angle = Angle(i.back(), at.back(), n, dtype);
        const Expr cos = Cos(angle), sin = inverse ? Sin(angle) : Negative(Sin(angle));
        const Expr term = real ? te::Load(re, at) * cos - te::Load(im, at) * sin
                               : te::Load(re, at) * sin + te::Load(im, at) * cos;
        const Expr sum = te::Reduce(te::ReduceKind::kSum, term, {k}, dtype);
        return inverse ? nn::Divide(sum, te::Cast(n, dtype)) : sum;
      });
    };
    return {part(true), part(false)};
  };
  return op;
}

struct StftPlan {
  int64_t n_fft, hop, window;
};

Result<StftPlan> PlanStft(const Attrs& attrs) {
  StftPlan p{attrs.Int("n_fft"), attrs.Int("hop_length"), attrs.Int("win_length")};
  if (p.hop == -1) p.hop = p.n_fft / 4;
  if (p.window == -1) p.window = p.n_fft;
  if (p.n_fft < 1 || p.hop < 1 || p.window < 1 || p.window > p.n_fft) {
    return Invalid("n_fft {}, hop_length {}, win_length {} are no frames", p.n_fft, p.hop,
                   p.window);
  }
  return p;
}

// data ([batch,] length), window (win_length) -> ([batch,] frequencies, frames, 2)
OpDef StftOp() {
  OpDef op;
  op.name = "stft";
  op.attrs_class = "StftAttrs";
  op.print_attrs_class = true;
  op.num_args = 2;
  op.attrs = {PlainInt(Optional("n_fft", AttrKind::kInt, -1)),
              PlainInt(Optional("hop_length", AttrKind::kInt, -1)),
              PlainInt(Optional("win_length", AttrKind::kInt, -1)),
              Optional("normalized", AttrKind::kBool, false),
              Optional("onesided", AttrKind::kBool, true)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
    if (data.rank() < 1 || data.rank() > 2)
      return Invalid("data has rank {}, expected 1 or 2", data.rank());
    RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(1), 1, "window"));
    RELAYVM_ASSIGN_OR_RETURN(StftPlan p, PlanStft(tc.attrs()));
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(tc.tensor(1).shape[0], p.window, "the window and win_length"));
    RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(data.shape.back(), p.n_fft, "the length of data"));
    TensorType result = data;
    result.shape.back() = tc.attrs().Bool("onesided") ? p.n_fft / 2 + 1 : p.n_fft;
    result.shape.push_back(Dim::FloorDiv(data.shape.back() - p.n_fft, p.hop) + 1);
    result.shape.push_back(2);
    return OpResult(std::move(result));
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor &data = c.inputs[0], &window = c.inputs[1];
    const DType dtype = data->dtype;
    const StftPlan p = *PlanStft(c.attrs);
    const double scale =
        c.attrs.Bool("normalized") ? 1 / std::sqrt(static_cast<double>(p.n_fft)) : 1.0;
    return {te::Compute("stft", c.outputs[0].shape, [&](const Indices& i) {
      const size_t rank = i.size();
      const te::Axis k = te::MakeAxis("k", p.window);
      const Expr at = te::AxisValue(k);
      Indices from(i.begin(), i.end() - 3);
      from.push_back(i[rank - 2] * Int(p.hop) + at);
      const Expr angle = Angle(i[rank - 3], at, Int(p.window), dtype);
      const Expr factor = te::Select(i[rank - 1] == Int(0), Cos(angle), Negative(Sin(angle)));
      const Expr term = te::Cast(te::Load(window, {at}), dtype) * te::Load(data, from) * factor;
      return te::Reduce(te::ReduceKind::kSum, term, {k}, dtype) * te::Const(scale, dtype);
    })};
  };
  return op;
}

}  // namespace

void DefineSignal(OpTable& table) {
  table.Add(DftOp());
  table.Add(StftOp());
}

}  // namespace relayvm

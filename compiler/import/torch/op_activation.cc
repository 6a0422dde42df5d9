// Activations, softmax and their kin.
#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/quantised.h"

namespace relayvm::import::torch {

namespace {

// An argument as a number of x's dtype.
Term Parameter(const Call& n, const Term& x, std::string_view name) {
  return {n.b(), n.Number(name, x.dtype())};
}

Results ReluOf(Call& n) {
  const Term x(n, 0);
  return {NotBelow(x, 0)};
}
Results Relu6(Call& n) {
  const Term x(n, 0);
  return {Limited(x, x.Number(0), x.Number(6))};
}
Results LeakyRelu(Call& n) {
  const Term x = Real(n);
  return {Select(x > 0, x, x * Parameter(n, x, "negative_slope"))};
}
Results RandomRelu(Call& n) {
  const Term x = Real(n);
  if (n.Bool("training")) return n.Unsupported("training is not supported");
  const double slope = (n.Float("lower") + n.Float("upper")) / 2;
  return {Select(x >= 0, x, x * slope)};
}
Results Elu(Call& n) {
  const Term x = Real(n), scale = Parameter(n, x, "scale");
  const Term below = (Exp(x * Parameter(n, x, "input_scale")) - 1) * Parameter(n, x, "alpha");
  return {Select(x > 0, x, below) * scale};
}
Results Celu(Call& n) {
  const Term x = Real(n), alpha = Parameter(n, x, "alpha");
  return {Select(x > 0, x, (Exp(x / alpha) - 1) * alpha)};
}
Results Selu(Call& n) {
  const Term x = Real(n);
  constexpr double kAlpha = 1.6732632423543772848170429916717,
                   kScale = 1.0507009873554804934193349852946;
  return {Select(x > 0, x, (Exp(x) - 1) * kAlpha) * kScale};
}
Results Gelu(Call& n) {
  const Term x(n, 0);
  const DType dtype = x.dtype();
  const Term wide = x.As(SumType(dtype));
  const bool tanh = n.String("approximate", "none") == "tanh";
  return {(tanh ? TanhGeluOf(wide) : GeluOf(wide)).As(dtype)};
}
Results Silu(Call& n) { return {SwishOf(Real(n), 1)}; }
Results Mish(Call& n) {
  const Term x = Real(n);
  return {x * Softplus(x).Call("tanh")};
}
Results SoftplusOf(Call& n) {
  const Term x = Real(n), beta = Parameter(n, x, "beta"), scaled = x * beta;
  return {Select(scaled > Parameter(n, x, "threshold"), x, Softplus(scaled) / beta)};
}
Results LogSigmoid(Call& n) { return {-Softplus(-Real(n))}; }
// With a buffer that only gradients read.
Results LogSigmoidForward(Call& n) {
  const Term x = Real(n);
  return {-Softplus(-x), Exp(-Abs(x))};
}
Results Threshold(Call& n) {
  const Term x(n, 0);
  return {Select(x <= Parameter(n, x, "threshold"), Parameter(n, x, "value"), x)};
}
Results Hardtanh(Call& n) {
  const Term x(n, 0);
  return {Limited(x, Parameter(n, x, "min_val"), Parameter(n, x, "max_val"))};
}
Term HardSigmoidOf(const Term& x) { return Limited(x + 3, x.Number(0), x.Number(6)) / 6; }
Results HardSigmoid(Call& n) { return {HardSigmoidOf(Real(n))}; }
Results HardSwish(Call& n) {
  const Term x = Real(n);
  return {x * Limited(x + 3, x.Number(0), x.Number(6)) / 6};
}
Results HardShrink(Call& n) {
  const Term x = Real(n), limit = Parameter(n, x, "lambd");
  return {Select(And(x >= -limit, x <= limit), x.Number(0), x)};
}
Results SoftShrink(Call& n) {
  const Term x = Real(n), limit = Parameter(n, x, "lambd");
  return {Select(x > limit, x - limit, Select(x < -limit, x + limit, x * 0.0))};
}
Results Glu(Call& n) {
  const Term x = Real(n);
  const int axis = n.Axis("dim", x.rank(), -1);
  const std::vector<Value> halves =
      n.b().Ops("split", {x}, {{"indices_or_sections", 2}, {"axis", axis}});
  if (halves.size() != 2) return {};
  return {Term(n, halves[0]) * Term(n, halves[1]).Call("sigmoid")};
}
// One slope, or one for each channel.
Results PRelu(Call& n) {
  const Term x = Real(n);
  Term slope(n, 1);
  if (slope.rank() == 1) {
    const bool one = slope.value().dim(0).is_const(1) || x.rank() < 2;
    slope = one ? AsScalar(slope) : Along(slope, 1, x.rank());
  }
  return {Select(x > 0, x, x * slope)};
}

// --- Softmax ---

// dtype= casts before; 16-bit floats are summed in float32.
template <OpName kName>
Results SoftmaxOf(Call& n) {
  Term x = Real(n);
  if (const auto dtype = n.Dtype()) x = x.As(*dtype);
  if (n.Bool("half_to_float")) x = x.As(DType::kFloat32);
  const int axis = n.Axis("dim", x.rank());
  if (!n.b().status().ok()) return {};
  const Term wide = x.As(SumType(x.dtype()));
  if (x.rank() == 0)
    return {(wide * 0.0)
                .Call(kName.chars == std::string_view("nn.softmax") ? "exp" : "copy")
                .As(x.dtype())};
  return {wide.Call(kName.chars, {{"axis", axis}}).As(x.dtype())};
}
// Rows of nothing but -infinity give 0.
Results SafeSoftmax(Call& n) {
  const Term x = Real(n);
  const int axis = n.Axis("dim", x.rank());
  const Results soft = SoftmaxOf<"nn.softmax">(n);
  if (soft.empty() || !n.b().status().ok()) return {};
  const Term y(n, soft[0].value);
  const Term none = Max(x, {axis}) <= x.Number(-HUGE_VAL);
  return {Select(none, y.Number(0), y)};
}
Results MaskedSoftmax(Call& n) {
  Term x = Real(n), mask(n, 1);
  const int axis = n.Has("dim") ? n.Axis("dim", x.rank()) : x.rank() - 1;
  if (mask.rank() == 2 && x.rank() == 4) {
    const int64_t kind = n.Int("mask_type", 1);
    mask = kind == 0 ? mask : mask.Expand(1, 2);
  }
  x = Select(Truth(mask), x.Number(-HUGE_VAL), x);
  return {x.Call("nn.softmax", {{"axis", axis}})};
}

constexpr OperatorDef kActivationOperators[] = {
    {"aten::relu(Tensor self) -> Tensor", Requantising<ReluOf>, Takes::kQuantised},
    {"aten::relu6(Tensor self) -> Tensor", Requantising<Relu6>, Takes::kQuantised},
    {"aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", Requantising<LeakyRelu>,
     Takes::kQuantised},
    {"aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
     "training=False, Generator? generator=None) -> Tensor",
     RandomRelu},
    {"aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> "
     "Tensor",
     Requantising<Elu>, Takes::kQuantised},
    {"aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", Requantising<Celu>, Takes::kQuantised},
    {"aten::selu(Tensor self) -> Tensor", Selu},
    {"aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", Gelu},
    {"aten::silu(Tensor self) -> Tensor", Silu},
    {"aten::mish(Tensor self) -> Tensor", Mish},
    {"aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", SoftplusOf},
    {"aten::log_sigmoid(Tensor self) -> Tensor", LogSigmoid},
    {"aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)", LogSigmoidForward},
    {"aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
     Requantising<Threshold>, Takes::kQuantised},
    {"aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
     Requantising<Hardtanh>, Takes::kQuantised},
    {"aten::hardsigmoid(Tensor self) -> Tensor", QuantisedToRange<HardSigmoid, 1, false>,
     Takes::kQuantised},
    {"aten::hardswish(Tensor self) -> Tensor", Requantising<HardSwish>, Takes::kQuantised},
    {"aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", HardShrink},
    {"aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", SoftShrink},
    {"aten::glu(Tensor self, int dim=-1) -> Tensor", Glu},
    {"aten::prelu(Tensor self, Tensor weight) -> Tensor", PRelu},
    {"aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor", PRelu},
    {"aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     SoftmaxOf<"nn.softmax">},
    {"aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", SoftmaxOf<"nn.softmax">},
    {"aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     SoftmaxOf<"nn.softmax">},
    {"aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     SoftmaxOf<"nn.log_softmax">},
    {"aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
     SoftmaxOf<"nn.log_softmax">},
    {"aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
     SoftmaxOf<"nn.log_softmax">},
    {"aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", SafeSoftmax},
    {"aten::_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) "
     "-> Tensor",
     MaskedSoftmax},
};

}  // namespace

OperatorTable ActivationOperators() { return kActivationOperators; }

}  // namespace relayvm::import::torch

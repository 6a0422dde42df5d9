#include "compiler/import/torch/quantised.h"

#include <algorithm>
#include <cmath>

#include "compiler/import/composite/quantised.h"

namespace relayvm::import::torch {

namespace {

Term AlongAxis(const Value& v, const Quantisation& q, int rank, TypedBuilder& b) {
  const Term p(b, v);
  if (p.rank() == 0 || q.axis < 0) return p.rank() == 0 ? p : AsScalar(p);
  return Along(p, q.axis, rank);
}

}  // namespace

Quantisation QuantisedBy(TypedBuilder& b, double scale, double zero_point, DType dtype) {
  return {.scale = b.Scalar(scale, DType::kFloat32),
          .zero_point = b.Scalar(zero_point, DType::kInt32),
          .axis = -1,
          .dtype = dtype};
}

Term ScaleOf(TypedBuilder& b, const Quantisation& q, int rank) {
  return AlongAxis(q.scale, q, rank, b);
}
Term ZeroPointOf(TypedBuilder& b, const Quantisation& q, int rank, DType dtype) {
  return AlongAxis(q.zero_point, q, rank, b).As(dtype);
}

Term NumbersOf(TypedBuilder& b, const Argument& a) {
  const Term x(b, a.value);
  if (a.quantised == nullptr) return x;
  const Quantisation& q = *a.quantised;
  const Term scale = ScaleOf(b, q, x.rank()).As(DType::kFloat32);
  // Weights of embeddings have zero points that are no integers.
  if (IsFloat(q.zero_point.dtype()))
    return (x.As(DType::kFloat32) - ZeroPointOf(b, q, x.rank(), DType::kFloat32)) * scale;
  return Dequantised(x, scale, ZeroPointOf(b, q, x.rank(), DType::kInt32));
}

Argument WithMeaning(Value v, const Quantisation& q) {
  Argument a(std::move(v));
  a.quantised = std::make_shared<const Quantisation>(q);
  return a;
}

Argument QuantisedAs(const Term& x, const Quantisation& q, std::optional<double> low,
                     std::optional<double> high) {
  TypedBuilder& b = x.b();
  const Term scale = ScaleOf(b, q, x.rank());
  const Term zero = ZeroPointOf(b, q, x.rank(), DType::kFloat32);
  // PyTorch multiplies by the inverse.
  Term steps = x.As(DType::kFloat32) * (1.0 / scale);
  steps = IsFloat(q.zero_point.dtype()) ? (steps + zero).Call("round_even")
                                        : steps.Call("round_even") + zero;
  if (low || high) {
    steps = steps.Call(
        "clip", {{"a_min", low.value_or(-2147483648.0)}, {"a_max", high.value_or(2147483520.0)}});
  }
  return WithMeaning(Saturate(steps, {q.dtype}), q);
}

Argument TensorArgument(TypedBuilder& b, TorchTensor tensor, const std::string& name) {
  Argument a(b.Constant(std::move(tensor.elements), name));
  a.complex = tensor.type.complex;
  if (!tensor.type.quantised) return a;
  const auto is_whole = [](double v) { return v == std::floor(v); };
  const bool whole = std::ranges::all_of(tensor.zero_points, is_whole);
  const auto numbers = [&](const std::vector<double>& values, DType dtype) {
    if (tensor.axis < 0) return b.Scalar(values.empty() ? 0 : values[0], dtype);
    return import::Table(b, values, {static_cast<int64_t>(values.size())}, dtype).value();
  };
  a.quantised = std::make_shared<const Quantisation>(Quantisation{
      .scale = numbers(tensor.scales, DType::kFloat32),
      .zero_point = numbers(tensor.zero_points, whole ? DType::kInt32 : DType::kFloat32),
      .axis = tensor.axis,
      .dtype = tensor.type.dtype});
  return a;
}

QuantisedRange RangeOfIntegers(DType dtype) {
  if (dtype == DType::kInt8) return {-128, 127};
  if (dtype == DType::kUInt8) return {0, 255};
  return {-2147483648.0, 2147483647.0};
}

std::optional<DType> DTypeOfQuantised(int64_t torch) {
  if (torch == 12) return DType::kInt8;
  if (torch == 13) return DType::kUInt8;
  return torch == 14 ? std::optional(DType::kInt32) : std::nullopt;
}

Call OnNumbers(const Call& n) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < n.size(); ++i) arguments.push_back(n.Arg(i));
  if (!arguments.empty() && arguments[0].is_tensor())
    arguments[0] = Argument(NumbersOf(n.b(), arguments[0]));
  return {n.b(), *FindOperator(n.name(), n.overload()), std::move(arguments)};
}

}  // namespace relayvm::import::torch

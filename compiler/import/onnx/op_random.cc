// Random numbers: RandomUniform and its kin, Bernoulli, Multinomial.
#include "compiler/import/composite/random.h"
#include "compiler/import/onnx/random.h"

namespace relayvm::import {

Term Uniform(NodeContext& n, const Value& shape, uint32_t stream) {
  return UniformOf(n, shape, n.Seed() + stream);
}

namespace {

// Of the mean 0 and the deviation 1 (Box and Muller).
Term Normal(NodeContext& n, const Value& shape) { return NormalOf(n, shape, n.Seed()); }

Value Drawn(NodeContext& n, const Value& shape, bool normal, DType dtype) {
  if (!n.b().status().ok()) return {};
  if (!IsFloat(dtype)) return n.Fail("dtype: expected a type of floats"), Value{};
  const Term y =
      normal ? Normal(n, shape) * n.Float("scale", 1) + n.Float("mean", 0)
             : Uniform(n, shape) * (n.Float("high", 1) - n.Float("low", 0)) + n.Float("low", 0);
  return y.As(dtype);
}

template <bool kNormal>
Outputs Random(NodeContext& n) {
  return {Drawn(n, n.b().Ints(n.Ints("shape")), kNormal, n.Type("dtype", DType::kFloat32))};
}
template <bool kNormal>
Outputs RandomLike(NodeContext& n) {
  const Value x = n.Input(0);
  const DType own = IsFloat(x.dtype()) ? x.dtype() : DType::kFloat32;
  return {Drawn(n, n.b().ShapeOf(x), kNormal, n.Type("dtype", own))};
}

Outputs Bernoulli(NodeContext& n) {
  const Term x(n, 0);
  const Term drawn = Uniform(n, n.b().ShapeOf(x));
  return {(drawn.As(DType::kFloat64) < x.As(DType::kFloat64)).As(n.Type("dtype", x.dtype()))};
}

// Rows of logarithms of weights: places whose sums of weights a number lies between.
Outputs Multinomial(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (x.rank() != 2) return n.Fail("expected an input of rank 2");
  const Term sums = x.As(DType::kFloat32)
                        .Call("nn.softmax", {{"axis", 1}})
                        .Call("cumsum", {{"axis", 1}})
                        .Expand(1);
  const Value shape = b.Concat({b.DimOf(x, 0), b.Ints({n.Count("sample_size", 1)})}, 0);
  const Term below = (sums <= Uniform(n, shape).Expand(2)).As(DType::kInt32);
  const Term last = (Extent(b, x, 1) - 1).As(DType::kInt32);
  return {Minimum(below.Over("sum", {2}, false), last).As(n.Type("dtype", DType::kInt32))};
}

constexpr OperatorDef kRandomOperators[] = {
    {"Bernoulli", 1, 1, Bernoulli, 15},     {"Multinomial", 1, 1, Multinomial, 7},
    {"RandomNormal", 0, 0, Random<true>},   {"RandomNormalLike", 1, 1, RandomLike<true>},
    {"RandomUniform", 0, 0, Random<false>}, {"RandomUniformLike", 1, 1, RandomLike<false>},
};

}  // namespace

std::span<const OperatorDef> RandomOperators() { return kRandomOperators; }

}  // namespace relayvm::import

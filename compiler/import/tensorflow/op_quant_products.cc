// Operators on quantised tensors as TensorFlow's own rewriter of graphs made them: integers with
// what their least and greatest stand for, each an input and an output of its own.
#include <cmath>

#include "compiler/import/composite/quantised.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

// Integers of a dtype, of which the least stands for `low` and the greatest for `high` (rank 0).
struct Levels {
  Term x, low, high;
  double least, most;

  double steps() const { return most - least; }
};

std::optional<Levels> LevelsOf(NodeContext& n, size_t data, size_t low, size_t high) {
  const Term x(n, data);
  const bool wide = x.dtype() == DType::kInt32;
  const auto limits = wide ? std::nullopt : LimitsOf({x.dtype()});
  if (!wide && !limits) return n.Unsupported("quantised numbers of {}", DTypeName(x.dtype()));
  return Levels{x, AsScalar(Term(n, low)), AsScalar(Term(n, high)), wide ? -0x1p31 : limits->low,
                wide ? 0x1p31 - 1 : limits->high};
}
Levels Like(const Levels& v, DType dtype, const Term& low, const Term& high) {
  if (dtype == DType::kInt32) return {v.x, low, high, -0x1p31, 0x1p31 - 1};
  const auto limits = LimitsOf({dtype}).value_or(LimitsOf({DType::kUInt8}).value());
  return {v.x, low, high, limits.low, limits.high};
}
Outputs With(const Term& x, const Term& low, const Term& high) { return {x, low, high}; }

// The integer that stands for a number (rank 0), as float64, which may lie beyond the least.
Term LevelOf(const Levels& v, double number) {
  const Term low = v.low.As(DType::kFloat64), high = v.high.As(DType::kFloat64);
  const Term scale = low.Number(v.steps()) / (high - low);
  const Term level = (scale * number).Call("round") - (low * scale).Call("round") + v.least;
  return Select(Equal(low, high), level.Number(v.least), level);
}
Term ZeroOf(const Levels& v) { return LevelOf(v, 0); }

// As numbers, float32.
Term NumbersOf(const Levels& v) {
  const Term step = (v.high - v.low) / v.steps();
  const Term first = Select(Equal(v.low, v.high), v.low, (v.low / step).Call("round") * step);
  return (first - step * v.least) + v.x.As(DType::kFloat32) * step;
}
// Numbers as levels, floats.
Term QuantisedAs(const Levels& given, Term numbers) {
  Levels to = given;
  if (to.steps() > 0x1p24) {  // more than float32 tells apart
    numbers = numbers.As(DType::kFloat64);
    to.low = to.low.As(DType::kFloat64);
    to.high = to.high.As(DType::kFloat64);
  }
  const Term range = to.high - to.low;
  const Term scale = Select(Equal(range, 0), range, range.Number(to.steps()) / range);
  const Term y = (numbers * scale).Call("round") - (to.low * scale).Call("round") + to.least;
  return Clamp(y, y.Number(to.least), y.Number(to.most));
}

// What one step of a product of both is, times the least and the greatest of 32 bits.
Outputs WithProductRange(const Term& product, const Levels& x, const Levels& y) {
  const Term step = (x.high - x.low) / x.steps() * ((y.high - y.low) / y.steps());
  return With(product, step * -0x1p31, step * (0x1p31 - 1));
}
Term Centred(const Levels& v) { return v.x.As(DType::kInt32) - ZeroOf(v).As(DType::kInt32); }

// An operator of TensorFlow of what both differ from their zeros by.
template <OpName kName>
Outputs Product(NodeContext& n) {
  const auto x = LevelsOf(n, 0, 2, 3), y = LevelsOf(n, 1, 4, 5);
  if (!x || !y) return {};
  const Outputs product = n.As(kName.chars, {Centred(*x), Centred(*y)});
  return product.empty() ? product : WithProductRange(Term(n, product[0]), *x, *y);
}

// Sums are taken in a range that is 2^17 times as wide as the wider one's.
Outputs AddBias(NodeContext& n) {
  const auto x = LevelsOf(n, 0, 2, 3), y = LevelsOf(n, 1, 4, 5);
  if (!x || !y) return {};
  const Term most = Maximum(Maximum(x->high, -x->low), Maximum(y->high, -y->low)) * 0x1p17;
  const Levels to = Like(*x, DType::kInt32, -most, most);
  return With(QuantisedAs(to, NumbersOf(*x) + NumbersOf(*y)).As(DType::kInt32), to.low, to.high);
}

Outputs MaxPoolOfLevels(NodeContext& n) {
  const Outputs y = n.As("MaxPool", {n.Input(0)});
  return y.empty() ? y : Outputs{y[0], n.Input(1), n.Input(2)};
}
// Halves go to even numbers.
Outputs AvgPoolOfLevels(NodeContext& n) {
  const Outputs means = n.As("AvgPool", {Term(n, 0).As(DType::kFloat64)});
  if (means.empty()) return means;
  const Term y = Term(n, means[0]).Call("round_even");
  return {y.As(n.Input(0).dtype()), n.Input(1), n.Input(2)};
}

template <bool kSix>
Outputs ReluOfLevels(NodeContext& n) {
  const auto x = LevelsOf(n, 0, 1, 2);
  if (!x) return {};
  const auto level = [&](double number) {
    const Term v = LevelOf(*x, number);
    return Clamp(v, v.Number(x->least), v.Number(x->most)).As(x->x.dtype());
  };
  Term y = Maximum(x->x, level(0));
  if (kSix) y = Minimum(y, level(6));
  return With(y, x->low, x->high);
}

Outputs ReshapeLevels(NodeContext& n) {
  const Outputs y = n.As("Reshape", {n.Input(0), n.Input(1)});
  return y.empty() ? y : Outputs{y[0], n.Input(2), n.Input(3)};
}

// concat_dim, N tensors, N minima, N maxima: all in the range of all.
Outputs ConcatLevels(NodeContext& n) {
  const size_t count = n.num_inputs() / 3;
  if (count == 0 || n.num_inputs() != 3 * count + 1)
    return n.Fail("expected an axis, and as many tensors as minima and maxima");
  std::vector<Levels> parts;
  std::optional<Term> low, high;
  for (size_t i = 0; i < count; ++i) {
    const auto part = LevelsOf(n, 1 + i, 1 + count + i, 1 + 2 * count + i);
    if (!part) return {};
    low = low ? Minimum(*low, part->low) : part->low;
    high = high ? Maximum(*high, part->high) : part->high;
    parts.push_back(*part);
  }
  if (parts[0].least < 0) {
    high = Maximum(Abs(*low), Abs(*high));
    low = -*high;
  }
  std::vector<Value> inputs = {n.Input(0)};
  for (const Levels& part : parts) {
    const Levels to = Like(part, part.x.dtype(), *low, *high);
    const Term same = And(Equal(part.low, *low), Equal(part.high, *high));
    const Term moved = QuantisedAs(to, NumbersOf(part)).As(part.x.dtype());
    inputs.push_back(count == 1 ? part.x : Select(same, part.x, moved));
  }
  const Outputs y = n.As("Concat", inputs);
  return y.empty() ? y : Outputs{y[0], *low, *high};
}

// The range of what is there: of numbers from 0 down and up.
std::pair<Term, Term> UsedRange(const Levels& v) {
  std::vector<int64_t> axes = Iota(v.x.rank());
  const auto number = [&](const char* op) {
    const Term end = axes.empty() ? v.x : Term(v.x.b(), v.x.Over(op, axes, false));
    const Term low = v.low.As(DType::kFloat64), high = v.high.As(DType::kFloat64);
    const Term step = (high - low) / v.steps(),
               rough = step.As(DType::kFloat32).As(DType::kFloat64);
    const Term first = (low / rough).Call("round") * rough;
    const Term y = first + (end.As(DType::kFloat64) - v.least) * step;
    return Select(Equal(low, high), low, y).As(DType::kFloat32);
  };
  const Term low = number("min");
  return {Minimum(low, low.Number(0)), number("max")};
}
Outputs RangeUsed(NodeContext& n) {
  const auto x = LevelsOf(n, 0, 1, 2);
  if (!x) return {};
  const auto [low, high] = UsedRange(*x);
  return {low, high};
}
Outputs IntoRange(NodeContext& n, const Levels& x, const Term& low, const Term& high) {
  const DType dtype = n.Type("out_type", DType::kUInt8);
  return With(QuantisedAs(Like(x, dtype, low, high), NumbersOf(x)).As(dtype), low, high);
}
Outputs Shrink(NodeContext& n) {
  const auto x = LevelsOf(n, 0, 1, 2);
  if (!x) return {};
  const auto [low, high] = UsedRange(*x);
  return IntoRange(n, *x, low, high);
}
Outputs Requantise(NodeContext& n) {
  const auto x = LevelsOf(n, 0, 1, 2);
  return x ? IntoRange(n, *x, AsScalar(Term(n, 3)), AsScalar(Term(n, 4))) : Outputs{};
}

constexpr std::string_view kOutput = "output min_output max_output", kOut = "out min_out max_out";
constexpr OperatorDef kQuantisedOperators[] = {
    {"QuantizeDownAndShrinkRange", 3, 3, Shrink, "output output_min output_max"},
    {"QuantizedAvgPool", 3, 3, AvgPoolOfLevels, kOutput, "400"},
    {"QuantizedBiasAdd", 6, 6, AddBias, kOut, "?10000"},
    {"QuantizedConcat", 4, -1, ConcatLevels, "output output_min output_max"},
    {"QuantizedConv2D", 6, 6, Product<"Conv2D">, kOutput, "440000"},
    {"QuantizedMatMul", 6, 6, Product<"MatMul">, kOut, "220000"},
    {"QuantizedMaxPool", 3, 3, MaxPoolOfLevels, kOutput, "400"},
    {"QuantizedMul", 6, 6, Product<"Mul">, "z min_z max_z"},
    {"QuantizedRelu", 3, 3, ReluOfLevels<false>, "activations min_activations max_activations"},
    {"QuantizedRelu6", 3, 3, ReluOfLevels<true>, "activations min_activations max_activations"},
    {"QuantizedReshape", 4, 4, ReshapeLevels, "output output_min output_max"},
    {"RequantizationRange", 3, 3, RangeUsed, "output_min output_max"},
    {"Requantize", 5, 5, Requantise, "output output_min output_max"},
};

}  // namespace

std::span<const OperatorDef> QuantisedOperators() { return kQuantisedOperators; }

}  // namespace relayvm::import::tensorflow

// Random numbers, and what drops elements at random while training. See composite/random.h.
#include <cmath>
#include <numbers>

#include "compiler/import/composite/random.h"
#include "compiler/import/torch/convert.h"
#include "compiler/import/torch/nn_tables.h"

namespace relayvm::import::torch {

namespace {

// Each place of a program that draws has numbers of its own: those of its place in the graph.
uint32_t SeedOf(TypedBuilder& b) {
  const auto place = static_cast<uint32_t>(b.Ints({0}).node);
  return place * 2654435761U;  // Knuth's multiplicative hash
}
Term UniformAt(const Call& n, const Value& shape) { return UniformOf(n, shape, SeedOf(n)); }
Term NormalAt(const Call& n, const Value& shape) { return NormalOf(n, shape, SeedOf(n)); }

DType DrawnType(const Call& n, DType otherwise) { return n.Dtype().value_or(otherwise); }
DType TypeLike(const Call& n) {
  const Value x = n.Input(0);
  return DrawnType(n, x.dtype());
}

// Whole numbers low..high-1.
Term WholeNumbers(const Call& n, const Value& shape, const Term& low, const Term& high,
                  DType dtype) {
  const Term width = (high - low).As(DType::kFloat64);
  const Term drawn = Floor(UniformAt(n, shape).As(DType::kFloat64) * width).As(DType::kInt64);
  return (drawn + low).As(dtype);
}

Results Rand(Call& n) { return {UniformAt(n, n.Sizes("size")).As(DrawnType(n, DType::kFloat32))}; }
Results Randn(Call& n) { return {NormalAt(n, n.Sizes("size")).As(DrawnType(n, DType::kFloat32))}; }
Results RandLike(Call& n) { return {UniformAt(n, n.b().ShapeOf(n.Input(0))).As(TypeLike(n))}; }
Results RandnLike(Call& n) { return {NormalAt(n, n.b().ShapeOf(n.Input(0))).As(TypeLike(n))}; }

Term LowOf(const Call& n) { return {n, n.Has("low") ? n.SymInt("low") : n.b().Int(0)}; }
Results RandInt(Call& n) {
  return {WholeNumbers(n, n.Sizes("size"), LowOf(n), {n, n.SymInt("high")},
                       DrawnType(n, DType::kInt64))};
}
Results RandIntLike(Call& n) {
  return {WholeNumbers(n, n.b().ShapeOf(n.Input(0)), LowOf(n), {n, n.SymInt("high")}, TypeLike(n))};
}
// 0 .. n-1 in an order by random numbers.
Results RandPerm(Call& n) {
  const Value count = n.b().Reshape(n.SymInt("n"), {1});
  const Term keys = UniformAt(n, count);
  const std::string dtype(DTypeName(DrawnType(n, DType::kInt64)));
  return {keys.Call("argsort", {{"axis", 0}, {"is_ascend", true}, {"dtype", dtype}})};
}

// --- By distribution; of a tensor whose elements are given up ---

Results Uniform(Call& n) {
  const Value x = n.Input(0);
  const Term low(n, n.Number("from", DType::kFloat32)), high(n, n.Number("to", DType::kFloat32));
  return {(UniformAt(n, n.b().ShapeOf(x)) * (high - low) + low).As(x.dtype())};
}
Results Normal(Call& n) {
  TypedBuilder& b = n.b();
  if (n.Has("size")) {
    const Term drawn = NormalAt(n, n.Sizes("size"));
    const Term mean(n, n.Number("mean", DType::kFloat32)),
        deviation(n, n.Number("std", DType::kFloat32));
    return {(drawn * deviation + mean).As(DrawnType(n, DType::kFloat32))};
  }
  const auto parameter = [&](std::string_view name) {
    return n.Arg(name).is_tensor() ? Term(n, n.Tensor(name))
                                   : Term(n, n.Number(name, DType::kFloat32));
  };
  const Term mean = parameter("mean"), deviation = parameter("std");
  if (n.schema().Find("self") >= 0) {
    const Value x = n.Input(0);
    return {(NormalAt(n, b.ShapeOf(x)) * deviation.As(DType::kFloat32) + mean.As(DType::kFloat32))
                .As(x.dtype())};
  }
  const Term shaped = mean.As(DType::kFloat32) + deviation.As(DType::kFloat32) * 0.0;
  const Term drawn = NormalAt(n, b.ShapeOf(shaped));
  const DType dtype = n.Arg("mean").is_tensor() ? mean.dtype() : deviation.dtype();
  return {(shaped + drawn * deviation.As(DType::kFloat32)).As(dtype)};
}
Results LogNormal(Call& n) {
  const Value x = n.Input(0);
  return {
      Exp(NormalAt(n, n.b().ShapeOf(x)) * n.Float("std", 2) + n.Float("mean", 1)).As(x.dtype())};
}
Results Exponential(Call& n) {
  const Value x = n.Input(0);
  const Term drawn = (1.0 - UniformAt(n, n.b().ShapeOf(x))).Call("log");
  return {(drawn * (-1 / n.Float("lambd", 1))).As(x.dtype())};
}
Results Cauchy(Call& n) {
  const Value x = n.Input(0);
  const Term angle = (UniformAt(n, n.b().ShapeOf(x)) - 0.5) * std::numbers::pi;
  return {(angle.Call("tan") * n.Float("sigma", 1) + n.Float("median")).As(x.dtype())};
}
Results Geometric(Call& n) {
  const Value x = n.Input(0);
  const Term drawn = (1.0 - UniformAt(n, n.b().ShapeOf(x))).Call("log");
  return {(Floor(drawn * (1 / std::log1p(-n.Float("p", 0.5)))) + 1).As(x.dtype())};
}
Results RandomWhole(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const Term low(n, n.Has("from") ? n.SymInt("from") : b.Int(0));
  const int64_t most = IsFloat(x.dtype()) || DTypeBytes(x.dtype()) > 2
                           ? 1 << 24
                           : 1 << (8 * DTypeBytes(x.dtype()) - 1);
  const Term high(n, n.Has("to") ? n.SymInt("to") : b.Int(most));
  return {WholeNumbers(n, b.ShapeOf(x), low, high, x.dtype())};
}
Results Bernoulli(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  Term chance = x.As(DType::kFloat32);
  if (n.Arg("p").is_tensor()) {
    chance = Term(n, n.Tensor("p")).As(DType::kFloat32);
  } else if (n.Has("p")) {
    chance = Term(n, n.Number("p", DType::kFloat32));
  }
  return {(UniformAt(n, b.ShapeOf(x)) < chance).As(x.dtype())};
}

// Rows of weights: places whose sums of weights a number lies between; without replacement those
// of the least exponential numbers by weight.
Results Multinomial(Call& n) {
  TypedBuilder& b = n.b();
  Term x = Real(n).As(DType::kFloat32);
  const bool row = x.rank() == 1;
  if (row) x = x.Expand(0);
  if (x.rank() != 2) return n.Fail("expected weights of rank 1 or 2");
  const int64_t count = n.Int("num_samples", 1);
  if (count < 1) return n.Fail("num_samples: expected 1 or more, found {}", count);
  Term places = x;
  if (n.Bool("replacement") || count == 1) {
    const Term sums = x.Call("cumsum", {{"axis", 1}});
    const Term total = sums.Slice(1, -1, INT64_MAX);
    const Value shape = b.Concat({b.DimOf(x, 0), b.Ints({count})}, 0);
    const Term drawn = UniformAt(n, shape) * total;
    const Term below =
        (sums.Expand(1) <= drawn.Expand(2)).As(DType::kInt64).Over("sum", {2}, false);
    places = Minimum(below, Extent(b, x, 1) - 1);
  } else {
    const Term wait = -(1.0 - UniformAt(n, b.ShapeOf(x))).Call("log") / x;
    places = wait.Call("topk", {{"k", count},
                                {"axis", 1},
                                {"ret_type", "indices"},
                                {"is_ascend", true},
                                {"dtype", "int64"}});
  }
  return {row ? b.Squeeze(places, {0}) : places.value()};
}

// --- Dropping ---

// 1 / (1 - p) where an element stays, else 0; of whole channels (the first two axes).
Term KeptElements(const Call& n, const Term& x, double p, bool features) {
  TypedBuilder& b = n.b();
  std::vector<Value> dims = DimsOf(b, x);
  for (size_t i = 2; features && i < dims.size(); ++i) dims[i] = b.Ints({1});
  const Value shape = dims.empty() ? b.Ints({}) : b.Concat(dims, 0);
  return UniformAt(n, shape) >= p;
}
template <bool kFeatures>
Results Dropout(Call& n) {
  const Term x(n, 0);
  const double p = n.Float("p", 0.5);
  const bool train = n.Bool("train", true);
  Results out;
  if (!train || p <= 0) {
    out = {x};
    if (n.schema().results.size() > 1)
      out.emplace_back(Filled(n, 1, DType::kBool, n.b().ShapeOf(x)));
    return out;
  }
  const Term kept = KeptElements(n, x, p, kFeatures);
  out = {x * kept.As(x.dtype()) * (p < 1 ? 1 / (1 - p) : 0)};
  if (n.schema().results.size() > 1) out.emplace_back(kept);
  return out;
}
// Keeps mean and deviation of what SELU gives.
template <bool kFeatures>
Results AlphaDropout(Call& n) {
  const Term x(n, 0);
  const double p = n.Float("p", 0.5);
  if (!n.Bool("train") || p <= 0) return {x};
  constexpr double kAlpha = 1.7580993408473766;
  const double scale = p < 1 ? 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p)) : 0;
  const Term kept = KeptElements(n, x, p, kFeatures).As(x.dtype());
  return {x * kept * scale + (kept - 1) * (kAlpha * scale) + kAlpha * scale * p};
}

constexpr OperatorDef kRandomOperators[] = {
    {"aten::rand(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     Rand},
    {"aten::rand.generator(int[] size, *, Generator? generator, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Rand},
    {"aten::rand.names(int[] size, *, str[]? names, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Rand},
    {"aten::rand.generator_with_names(int[] size, *, Generator? generator, str[]? names, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     Rand},
    {"aten::randn(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     Randn},
    {"aten::randn.generator(int[] size, *, Generator? generator, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Randn},
    {"aten::randn.names(int[] size, *, str[]? names, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Randn},
    {"aten::randn.generator_with_names(int[] size, *, Generator? generator, str[]? names, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     Randn},
    {"aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> "
     "Tensor",
     RandLike},
    {"aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> "
     "Tensor",
     RandnLike},
    {"aten::randint(int high, int[] size, *, ScalarType? dtype=4, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     RandInt},
    {"aten::randint.generator(int high, int[] size, *, Generator? generator, ScalarType? "
     "dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     RandInt},
    {"aten::randint.low(int low, int high, int[] size, *, ScalarType? dtype=4, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     RandInt},
    {"aten::randint.low_generator(int low, int high, int[] size, *, Generator? generator, "
     "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     RandInt},
    {"aten::randint_like(Tensor self, int high, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     RandIntLike},
    {"aten::randint_like.low_dtype(Tensor self, int low, int high, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
     "MemoryFormat? memory_format=None) -> Tensor",
     RandIntLike},
    {"aten::randperm(int n, *, ScalarType? dtype=4, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     RandPerm},
    {"aten::randperm.generator(int n, *, Generator? generator, ScalarType? dtype=4, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     RandPerm},
    {"aten::uniform(Tensor self, float from=0., float to=1., *, Generator? "
     "generator=None) -> Tensor",
     Uniform},
    {"aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) "
     "-> Tensor",
     Normal},
    {"aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> "
     "Tensor",
     Normal},
    {"aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) "
     "-> Tensor",
     Normal},
    {"aten::normal.float_float(float mean, float std, int[] size, *, Generator? "
     "generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None) -> Tensor",
     Normal},
    {"aten::normal_functional(Tensor self, float mean=0., float std=1., *, Generator? "
     "generator=None) -> Tensor",
     Normal},
    {"aten::log_normal(Tensor self, float mean=1., float std=2., *, Generator? "
     "generator=None) -> Tensor",
     LogNormal},
    {"aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> "
     "Tensor",
     Exponential},
    {"aten::cauchy(Tensor self, float median=0., float sigma=1., *, Generator? "
     "generator=None) -> Tensor",
     Cauchy},
    {"aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", Geometric},
    {"aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> "
     "Tensor",
     RandomWhole},
    {"aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", RandomWhole},
    {"aten::random(Tensor self, *, Generator? generator=None) -> Tensor", RandomWhole},
    {"aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", Bernoulli},
    {"aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", Bernoulli},
    {"aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> "
     "Tensor",
     Bernoulli},
    {"aten::multinomial(Tensor self, int num_samples, bool replacement=False, *, "
     "Generator? generator=None) -> Tensor",
     Multinomial},
    {"aten::dropout(Tensor input, float p, bool train) -> Tensor", Dropout<false>},
    {"aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
     Dropout<false>},
    {"aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", Dropout<true>},
    {"aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", AlphaDropout<false>},
    {"aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
     AlphaDropout<true>},
};

}  // namespace

OperatorTable RandomOperators() { return kRandomOperators; }

}  // namespace relayvm::import::torch

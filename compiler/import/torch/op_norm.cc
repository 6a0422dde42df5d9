// Normalisation: over the batch, layers, groups, instances; of weights.
#include <cmath>

#include "compiler/import/composite/normalise.h"
#include "compiler/import/torch/convert.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/norms.h"

namespace relayvm::import::torch {

namespace {

// y * weight + bias, where they are given, along `axis`.
Term Affine(const Call& n, Term y, int axis) {
  const int rank = y.rank();
  if (n.Has("weight")) y = y * Along(Term(n, n.Tensor("weight")).As(y.dtype()), axis, rank);
  if (n.Has("bias")) y = y + Along(Term(n, n.Tensor("bias")).As(y.dtype()), axis, rank);
  return y;
}

// Over all axes but that of the channels.
std::vector<int64_t> OtherAxes(int rank) {
  std::vector<int64_t> axes = {0};
  for (int i = 2; i < rank; ++i) axes.push_back(i);
  return axes;
}

// Of means and deviations: the data's own, but float32 where halves come with weights of float32.
DType StatisticsType(const Call& n, const Term& x) {
  const char* with = n.Has("weight") ? "weight" : "bias";
  return n.Has(with) && n.Tensor(with).dtype() != x.dtype() ? SumType(x.dtype()) : x.dtype();
}

// --- Over the batch ---

// Results by PyTorch's order: y, the mean and 1 / deviation that it is made by.
struct BatchNormed {
  Term y, mean, inverse;
  std::optional<Term> running_mean, running_var;  // as they are afterwards
};

// By the batch's own numbers.
BatchNormed ByBatch(Call& n, const Term& x) {
  TypedBuilder& b = n.b();
  const std::vector<int64_t> axes = OtherAxes(x.rank());
  const Term wide = x.As(WideFloat(x.dtype()));
  const Term mean = Mean(wide, axes), centred = wide - mean;
  const Term variance = Mean(centred * centred, axes);
  const Term inverse = 1.0 / Sqrt(variance + n.Float("eps", 1e-5));
  BatchNormed r{Affine(n, (centred * inverse).As(x.dtype()), 1), mean.Reshape({-1}),
                inverse.Reshape({-1}), std::nullopt, std::nullopt};
  if (!n.Has("running_mean") || !n.Has("running_var")) return r;
  // The running variance is that of a sample.
  const double momentum = n.Float("momentum", 0.1);
  const Term count = Term(b, b.Reshape(CountOfElements(b, x), {})).As(wide.dtype()) /
                     Extent(b, x, 1).As(wide.dtype());
  const Term unbiased = variance.Reshape({-1}) * (count / (count - 1));
  const auto running = [&](std::string_view name, const Term& now) {
    const Term before(n, n.Tensor(name));
    return before * (1 - momentum) + now.As(before.dtype()) * momentum;
  };
  r.running_mean = running("running_mean", r.mean);
  r.running_var = running("running_var", unbiased);
  return r;
}

BatchNormed ByRunning(Call& n, const Term& x) {
  TypedBuilder& b = n.b();
  const double epsilon = n.Float("eps", 1e-5);
  const Term mean(n, n.Tensor("running_mean")), variance(n, n.Tensor("running_var"));
  const auto parameter = [&](std::string_view name, double otherwise) {
    if (n.Has(name)) return b.Cast(n.Tensor(name), x.dtype());
    return b.Op("full_like", {mean.As(x.dtype()), b.Scalar(otherwise, x.dtype())});
  };
  const Value all = b.Op(
      "nn.batch_norm",
      {x, parameter("weight", 1), parameter("bias", 0), mean.As(x.dtype()), variance.As(x.dtype())},
      {{"axis", 1}, {"epsilon", epsilon}});
  return {{b, b.Field(all, 0)}, mean, 1.0 / Sqrt(variance + epsilon), std::nullopt, std::nullopt};
}

std::optional<BatchNormed> NormaliseBatch(Call& n, bool training) {
  const Term x = Real(n);
  if (x.rank() < 2) {
    n.Fail("expected an input of rank 2 or more, found rank {}", x.rank());
    return std::nullopt;
  }
  if (training || !n.Has("running_mean")) return ByBatch(n, x);
  return ByRunning(n, x);
}

void WriteRunning(Call& n, const BatchNormed& r) {
  if (!r.running_mean) return;
  n.Write("running_mean", *r.running_mean);
  n.Write("running_var", *r.running_var);
}

Results BatchNorm(Call& n) {
  const auto r = NormaliseBatch(n, n.Bool("training"));
  if (!r) return {};
  WriteRunning(n, *r);
  return {r->y};
}
// With the mean and 1 / deviation of the batch; without training they are empty.
Results NativeBatchNorm(Call& n) {
  TypedBuilder& b = n.b();
  const bool training = n.Bool("training", n.name() == "aten::_batch_norm_with_update");
  const auto r = NormaliseBatch(n, training);
  if (!r) return {};
  WriteRunning(n, *r);
  const bool own = training || !n.Has("running_mean");
  const DType t = StatisticsType(n, r->y);
  const Value none = Filled(b, 0, t, b.Ints({0}));
  Results out = {r->y, own ? r->mean.As(t).value() : none, own ? r->inverse.As(t).value() : none};
  const size_t count = n.schema().results.size();
  const Value reserve = Filled(b, 0, DType::kUInt8, b.Ints({0}));
  if (n.name() == "aten::_native_batch_norm_legit_functional") {
    out.push_back(r->running_mean ? r->running_mean->value() : n.Tensor("running_mean"));
    out.push_back(r->running_var ? r->running_var->value() : n.Tensor("running_var"));
  }
  while (out.size() < count) out.emplace_back(out.size() == 4 ? Argument::Int(0) : reserve);
  return out;
}

// --- Over the last axes ---

// The axes that normalized_shape stands for; an error where the input's last dims are others.
std::optional<std::vector<int64_t>> NormalisedAxes(const Call& n, const Value& x) {
  const auto count = static_cast<int>(n.SymInts("normalized_shape").size());
  if (count < 1 || count > x.rank())
    return n.Fail("normalized_shape: {} numbers for an input of rank {}", count, x.rank());
  return Iota(count, x.rank() - count);
}

Results LayerNorm(Call& n) {
  const Term x = Real(n);
  const auto axes = NormalisedAxes(n, x);
  const double epsilon = n.Float("eps", 1e-5);
  if (!axes || !n.b().status().ok()) return {};
  const Value weight = n.Tensor("weight"), bias = n.Tensor("bias");
  const bool one_result = n.schema().results.size() == 1;
  if (axes->size() == 1 && weight && bias && one_result)
    return {
        ScaledLayerNorm(x, n.b().Cast(weight, x.dtype()), n.b().Cast(bias, x.dtype()), epsilon)};
  const Normalised norm = LayerNormOf(x, *axes, epsilon);
  Term y = norm.y;
  if (weight) y = y * Term(n, weight).As(x.dtype());
  if (bias) y = y + Term(n, bias).As(x.dtype());
  if (one_result) return {y};
  const DType t = StatisticsType(n, x);
  return {y, norm.mean.As(t), norm.inverse.As(t)};
}

Results RmsNorm(Call& n) {
  const Term x = Real(n);
  const auto axes = NormalisedAxes(n, x);
  // What a float can tell from 1.
  const double least = x.dtype() == DType::kFloat64    ? std::exp2(-52)
                       : x.dtype() == DType::kFloat16  ? std::exp2(-10)
                       : x.dtype() == DType::kBFloat16 ? std::exp2(-7)
                                                       : std::exp2(-23);
  const double epsilon = n.Float("eps", least);
  if (!axes || !n.b().status().ok()) return {};
  const Normalised norm = RmsNormOf(x, *axes, epsilon);
  Term y = norm.y;
  if (n.Has("weight")) y = y * Term(n, n.Tensor("weight")).As(x.dtype());
  if (n.schema().results.size() == 1) return {y};
  return {y, norm.inverse};
}

// --- Over groups of channels ---

Results GroupNormBy(Call& n, int64_t groups) {
  TypedBuilder& b = n.b();
  const Term x = Real(n);
  if (x.rank() < 2 || groups < 1) return n.Fail("expected groups, and an input of rank 2 or more");
  const Dim channels = x.value().dim(1);
  if (channels.is_const() && channels.value() % groups != 0)
    return n.Fail("{} channels are no {} groups", channels.value(), groups);
  const Normalised norm = LayerNormOf(Grouped(x, groups), {2, 3}, n.Float("eps", 1e-5));
  const Term y = Affine(n, {b, ShapedLike(b, norm.y, x)}, 1);
  if (n.schema().results.size() == 1) return {y};
  const auto flat = [&](const Term& v) {
    return b.Cast(b.Squeeze(v, {2, 3}), StatisticsType(n, x));
  };
  return {y, flat(norm.mean), flat(norm.inverse)};
}
Results GroupNorm(Call& n) {
  return GroupNormBy(n, n.Int(n.Has("num_groups") ? "num_groups" : "group", 1));
}

Results InstanceNorm(Call& n) {
  const Term x = Real(n);
  if (x.rank() < 2) return n.Fail("expected an input of rank 2 or more");
  if (!n.Bool("use_input_stats", true)) {
    const BatchNormed r = ByRunning(n, x);
    return {r.y};
  }
  const Term y = LayerNormOf(x, Iota(x.rank() - 2, 2), n.Float("eps", 1e-5)).y;
  return {Affine(n, y, 1)};
}

// --- Of weights ---

// The 2-norm over all axes but `dim`; -1: over all.
Term NormExcept(const Term& v, int64_t dim, double power) {
  std::vector<int64_t> axes;
  for (int i = 0; i < v.rank(); ++i) {
    if (i != dim) axes.push_back(i);
  }
  if (power == 2) return Sqrt(Sum(v * v, axes));
  return Sum(Abs(v).Call("power", v.Number(power)), axes).Call("power", v.Number(1 / power));
}
int64_t DimOfWeight(const Call& n, const Term& v) {
  const int64_t dim = n.Int("dim");
  return dim == -1 ? -1 : n.Axis("dim", v.rank());
}
Results WeightNorm(Call& n) {
  const Term v(n, 0), g(n, 1);
  const Term norm = NormExcept(v, DimOfWeight(n, v), 2);
  const Term y = v * (g / norm);
  if (n.schema().results.size() == 1) return {y};
  return {y, norm};
}
Results NormExceptDim(Call& n) {
  const Term v(n, 0);
  return {NormExcept(v, DimOfWeight(n, v), n.Float("pow", 2))};
}
// Slices along an axis whose norm is at most `maxnorm`.
Results Renorm(Call& n) {
  const Term x(n, 0);
  const int dim = n.Axis("dim", x.rank());
  if (!n.b().status().ok()) return {};
  if (x.rank() < 2) return n.Fail("expected rank 2 or more, found rank {}", x.rank());
  std::vector<int64_t> axes = Iota(x.rank());
  axes.erase(axes.begin() + dim);
  const Term norm = NormOver(x, n.Float("p", 2), axes), most(n, n.Number("maxnorm", x.dtype()));
  return {x * Select(norm > most, most / (norm + 1e-7), norm.Number(1))};
}

constexpr OperatorDef kNormOperators[] = {
    {"aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
     "Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) "
     "-> Tensor",
     BatchNorm},
    {"aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, bool training, float momentum, float eps) -> "
     "(Tensor, Tensor, Tensor)",
     NativeBatchNorm},
    {"aten::cudnn_batch_norm(Tensor input, Tensor weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, bool training, float exponential_average_factor, "
     "float epsilon) -> (Tensor, Tensor, Tensor, Tensor)",
     NativeBatchNorm},
    {"aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, "
     "Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, "
     "float eps) -> (Tensor, Tensor, Tensor)",
     NativeBatchNorm},
    {"aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, "
     "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     NativeBatchNorm},
    {"aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? "
     "bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float "
     "eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
     NativeBatchNorm},
    {"aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? "
     "bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> "
     "(Tensor, Tensor, Tensor)",
     NativeBatchNorm},
    {"aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, "
     "Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> "
     "(Tensor, Tensor, Tensor, Tensor)",
     NativeBatchNorm},
    {"aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, "
     "Tensor, Tensor)",
     NativeBatchNorm},
    {"aten::_batch_norm_impl_index(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, bool training, float momentum, float eps, bool "
     "cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int)",
     NativeBatchNorm},
    {"aten::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? "
     "bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
     LayerNorm},
    {"aten::native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, "
     "Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
     LayerNorm},
    {"aten::rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? "
     "eps=None) -> Tensor",
     RmsNorm},
    {"aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? "
     "eps) -> (Tensor, Tensor)",
     RmsNorm},
    {"aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? "
     "bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
     GroupNorm},
    {"aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, "
     "int HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
     GroupNorm},
    {"aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, "
     "bool cudnn_enabled) -> Tensor",
     InstanceNorm},
    {"aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", WeightNorm},
    {"aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)", WeightNorm},
    {"aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", NormExceptDim},
    {"aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", Renorm},
};

}  // namespace

OperatorTable NormOperators() { return kNormOperators; }

}  // namespace relayvm::import::torch

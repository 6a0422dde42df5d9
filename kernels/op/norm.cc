// Normalisation: nn.softmax nn.log_softmax nn.fast_softmax nn.batch_norm nn.layer_norm
// nn.instance_norm nn.group_norm nn.l2_normalize nn.lrn.
//
// Each statistic is a computation of its own, so that it is computed once for all elements that
// share it. Variances are biased and epsilon stands inside the square root. Everything is in the
// data's dtype. Stateless. Tested by norm_test.cc.
#include <algorithm>
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/implied_args.h"
#include "kernels/op/nn_helpers.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::ReduceKind;
using te::Tensor;

// --- Statistics ---

// Reduces `element(index)` over the axes marked in `reduced`; these have extent 1 in the result.
Tensor Statistic(std::string name, const std::vector<Dim>& shape, const std::vector<bool>& reduced,
                 ReduceKind kind, DType dtype, const std::function<Expr(const Indices&)>& element,
                 const std::function<Expr(Expr)>& finish = nullptr) {
  std::vector<Dim> out = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced[d]) out[d] = 1;
  }
  return te::Compute(std::move(name), out, [&](const Indices& i) {
    std::vector<te::Axis> axes;
    Indices at = i;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!reduced[d]) continue;
      axes.push_back(te::MakeAxis(fmt::format("k{}", d), shape[d]));
      at[d] = te::AxisValue(axes.back());
    }
    Expr value = nn::ReduceOver(kind, element(at), std::move(axes), dtype);
    return finish ? finish(std::move(value)) : value;
  });
}

// The index tuple of a statistic: 0 along the reduced axes.
Indices StatisticIndex(Indices at, const std::vector<bool>& reduced) {
  for (size_t d = 0; d < at.size(); ++d) {
    if (reduced[d]) at[d] = Int(0);
  }
  return at;
}

std::vector<bool> OneAxis(int64_t axis, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  reduced[CanonicalAxis(axis, rank)] = true;
  return reduced;
}

Dim CountOf(const std::vector<Dim>& shape, const std::vector<bool>& reduced) {
  Dim count = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced[d]) count = count * shape[d];
  }
  return count;
}

// Mean and variance over the reduced axes, and the normalised element (x - mean) / sqrt(variance +
// epsilon), whose divisor is inverted once for all that share it.
struct Moments {
  Tensor data, mean, variance;
  std::vector<bool> reduced;
  Expr epsilon;

  Expr Normalized(const Indices& at) const {
    const Indices stat = StatisticIndex(at, reduced);
    const Expr deviation = nn::Sqrt(te::Load(variance, stat) + epsilon);
    return (te::Load(data, at) - te::Load(mean, stat)) *
           nn::Divide(te::Const(1, data->dtype), deviation);
  }
};

Moments MomentsOf(const Tensor& data, std::vector<bool> reduced, double epsilon) {
  Moments m;
  m.data = data;
  m.reduced = std::move(reduced);
  const DType dtype = data->dtype;
  m.epsilon = te::Const(epsilon, dtype);
  const Expr count = te::Cast(te::DimValue(CountOf(data->shape, m.reduced)), dtype);
  const auto average = [&](Expr sum) { return nn::Divide(std::move(sum), count); };
  m.mean = Statistic(
      "mean", data->shape, m.reduced, ReduceKind::kSum, dtype,
      [&](const Indices& at) { return te::Load(data, at); }, average);
  m.variance = Statistic(
      "variance", data->shape, m.reduced, ReduceKind::kSum, dtype,
      [&](const Indices& at) {
        const Expr d = te::Load(data, at) - te::Load(m.mean, StatisticIndex(at, m.reduced));
        return d * d;
      },
      average);
  return m;
}

// --- Softmax ---

std::vector<Tensor> ComputeSoftmax(const ComputeContext& c, bool log) {
  const Tensor& x = c.inputs[0];
  const DType dtype = x->dtype;
  const std::vector<bool> reduced = OneAxis(c.attrs.Int("axis"), x->rank());
  const Tensor max = Statistic("softmax_max", x->shape, reduced, ReduceKind::kMax, dtype,
                               [&](const Indices& at) { return te::Load(x, at); });
  const auto shifted = [&](const Indices& at) {
    return te::Load(x, at) - te::Load(max, StatisticIndex(at, reduced));
  };
  if (log) {
    const Tensor sum = Statistic("softmax_sum", x->shape, reduced, ReduceKind::kSum, dtype,
                                 [&](const Indices& at) { return nn::SoftmaxExp(shifted(at)); });
    return {te::Compute("log_softmax", x->shape, [&](const Indices& at) {
      return shifted(at) - nn::Log(te::Load(sum, StatisticIndex(at, reduced)));
    })};
  }
  const Tensor exp = te::Compute("softmax_exp", x->shape,
                                 [&](const Indices& at) { return nn::SoftmaxExp(shifted(at)); });
  const Tensor sum = Statistic("softmax_sum", x->shape, reduced, ReduceKind::kSum, dtype,
                               [&](const Indices& at) { return te::Load(exp, at); });
  return {te::Compute("softmax", x->shape, [&](const Indices& at) {
    return nn::Divide(te::Load(exp, at), te::Load(sum, StatisticIndex(at, reduced)));
  })};
}

OpDef SoftmaxOp(std::string name, bool log) {
  OpDef op;
  op.name = std::move(name);
  op.attrs = {{"axis", AttrKind::kInt, false, -1}};
  op.fusion = FusionClass::kOutElementwise;
  op.layout = LayoutRule::kFollows;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
    RELAYVM_RETURN_IF_ERROR(NormalizeAxis(tc.attrs().Int("axis"), data.rank()).status());
    return OpResult(data);
  };
  op.compute = [log](const ComputeContext& c) { return ComputeSoftmax(c, log); };
  return op;
}

// --- batch_norm, layer_norm, instance_norm, group_norm ---

std::vector<AttrField> NormFields(int64_t axis) {
  return {{"axis", AttrKind::kInt, false, axis},
          {"epsilon", AttrKind::kFloat, false, 1e-5},
          {"center", AttrKind::kBool, false, true},
          {"scale", AttrKind::kBool, false, true}};
}

// Checks that arguments 1.. are vectors along `axis` of the data, of its dtype.
Result<int> CheckNormArgs(TypeContext& tc, std::initializer_list<const char*> names) {
  const TensorType& data = tc.tensor(0);
  RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
  RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(tc.attrs().Int("axis"), data.rank()));
  size_t i = 0;
  for (const char* name : names) {
    const TensorType& arg = tc.tensor(++i);
    RELAYVM_RETURN_IF_ERROR(RequireRank(arg, 1, name));
    RELAYVM_RETURN_IF_ERROR(nn::RequireSameDType(arg.dtype, data.dtype,
                                                 fmt::format("the dtypes of {} and data", name)));
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(arg.shape[0], data.shape[axis],
                                            fmt::format("{} and axis {} of data", name, axis)));
  }
  return axis;
}

Result<OpResult> InferNorm(TypeContext& tc) {
  RELAYVM_RETURN_IF_ERROR(CheckNormArgs(tc, {"gamma", "beta"}).status());
  return OpResult(tc.tensor(0));
}

// normalized * gamma + beta, as `scale` and `center` ask. Inputs: data, gamma, beta.
std::vector<Tensor> ScaleAndCenter(const ComputeContext& c, const char* name,
                                   const std::function<Expr(const Indices&)>& normalized) {
  const Tensor& data = c.inputs[0];
  const int axis = CanonicalAxis(c.attrs.Int("axis"), data->rank());
  return {te::Compute(name, data->shape, [&](const Indices& at) {
    Expr value = normalized(at);
    if (c.attrs.Bool("scale")) value = value * te::Load(c.inputs[1], {at[axis]});
    if (c.attrs.Bool("center")) value = value + te::Load(c.inputs[2], {at[axis]});
    return value;
  })};
}

OpDef NormOp(std::string name, int64_t axis) {
  OpDef op;
  op.name = std::move(name);
  op.num_args = 3;
  op.attrs = NormFields(axis);
  op.fusion = FusionClass::kOutElementwise;
  op.implied_args = implied::VectorsAlongAxis;
  op.layout = LayoutRule::kFollows;
  op.infer = InferNorm;
  return op;
}

// x * s + t with s = gamma / sqrt(var + epsilon) and t = beta - mean * s, both along `axis`; then
// the statistics.
std::optional<std::vector<CallWriter::Value>> DecomposeBatchNorm(CallWriter& w) {
  const TensorType& x = w.tensor(0);
  const Attrs& attrs = w.attrs();
  CallWriter::Value epsilon = w.Scalar(attrs.Float("epsilon"), x.dtype);
  CallWriter::Value scale = w.Call("rsqrt", {w.Add(w.Arg(4), epsilon)});
  if (attrs.Bool("scale")) scale = w.Multiply(scale, w.Arg(1));
  CallWriter::Value shift = w.Call("negative", {w.Multiply(w.Arg(3), scale)});
  if (attrs.Bool("center")) shift = w.Add(shift, w.Arg(2));
  const int trailing = x.rank() - 1 - CanonicalAxis(attrs.Int("axis"), x.rank());
  auto along_axis = [&](CallWriter::Value v) {
    return trailing == 0 ? v : w.ExpandDims(v, 1, trailing);
  };
  CallWriter::Value scaled = w.Multiply(w.Arg(0), along_axis(scale));
  return {{w.Add(scaled, along_axis(shift)), w.Arg(3), w.Arg(4)}};
}

// Inference form: the moving statistics normalise. They are results 1 and 2.
OpDef BatchNormOp() {
  OpDef op = NormOp("nn.batch_norm", 1);
  op.num_args = 5;
  op.decompose = DecomposeBatchNorm;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(
        CheckNormArgs(tc, {"gamma", "beta", "moving_mean", "moving_var"}).status());
    return OpResult::Tuple({tc.tensor(0), tc.tensor(3), tc.tensor(4)});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& data = c.inputs[0];
    const DType dtype = data->dtype;
    const int axis = CanonicalAxis(c.attrs.Int("axis"), data->rank());
    const Expr epsilon = te::Const(c.attrs.Float("epsilon"), dtype);
    const std::vector<Dim> channels = {data->shape[axis]};
    const Tensor scale = te::Compute("batch_norm_scale", channels, [&](const Indices& i) {
      Expr s = nn::Divide(te::Const(1, dtype), nn::Sqrt(te::Load(c.inputs[4], i) + epsilon));
      return c.attrs.Bool("scale") ? s * te::Load(c.inputs[1], i) : s;
    });
    const Tensor shift = te::Compute("batch_norm_shift", channels, [&](const Indices& i) {
      Expr s = te::Unary(te::UnaryOp::kNegative, te::Load(c.inputs[3], i)) * te::Load(scale, i);
      return c.attrs.Bool("center") ? s + te::Load(c.inputs[2], i) : s;
    });
    const Tensor out = te::Compute("batch_norm", data->shape, [&](const Indices& at) {
      return te::Load(data, at) * te::Load(scale, {at[axis]}) + te::Load(shift, {at[axis]});
    });
    return {out, Identity(c.inputs[3]), Identity(c.inputs[4])};
  };
  return op;
}

OpDef LayerNormOp() {
  OpDef op = NormOp("nn.layer_norm", -1);
  op.compute = [](const ComputeContext& c) {
    const Tensor& data = c.inputs[0];
    const Moments m =
        MomentsOf(data, OneAxis(c.attrs.Int("axis"), data->rank()), c.attrs.Float("epsilon"));
    return ScaleAndCenter(c, "layer_norm", [&](const Indices& at) { return m.Normalized(at); });
  };
  return op;
}

// Over all axes but the batch (0) and the channels.
OpDef InstanceNormOp() {
  OpDef op = NormOp("nn.instance_norm", 1);
  op.compute = [](const ComputeContext& c) {
    const Tensor& data = c.inputs[0];
    std::vector<bool> reduced(data->shape.size(), true);
    reduced[0] = false;
    reduced[CanonicalAxis(c.attrs.Int("axis"), data->rank())] = false;
    const Moments m = MomentsOf(data, reduced, c.attrs.Float("epsilon"));
    return ScaleAndCenter(c, "instance_norm", [&](const Indices& at) { return m.Normalized(at); });
  };
  return op;
}

// The channels fall into num_groups; statistics are over a group's channels and all axes after
// `axis`.
OpDef GroupNormOp() {
  OpDef op = NormOp("nn.group_norm", 1);
  op.attrs.push_back({"num_groups", AttrKind::kInt, false, 0});
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const int64_t groups = tc.attrs().Int("num_groups");
    if (groups < 1) return Invalid("num_groups is {}, expected at least 1", groups);
    RELAYVM_ASSIGN_OR_RETURN(int axis, CheckNormArgs(tc, {"gamma", "beta"}));
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::FloorMod(tc.tensor(0).shape[axis], groups), 0,
                                            "the channels modulo num_groups"));
    return OpResult(tc.tensor(0));
  };
  op.compute = [](const ComputeContext& c) {
    const Tensor& data = c.inputs[0];
    const int rank = data->rank();
    const int axis = CanonicalAxis(c.attrs.Int("axis"), rank);
    const int64_t groups = c.attrs.Int("num_groups");
    const Dim group_size = Dim::FloorDiv(data->shape[axis], groups);
    std::vector<Dim> split = data->shape;  // ... groups, channels of one, ...
    split[axis] = groups;
    split.insert(split.begin() + axis + 1, group_size);
    std::vector<bool> reduced(split.size(), false);
    std::fill(reduced.begin() + axis + 1, reduced.end(), true);
    const Tensor grouped = te::Compute("group_norm_split", split, [&](const Indices& i) {
      Indices at = i;
      at[axis] = i[axis] * te::DimValue(group_size) + i[axis + 1];
      at.erase(at.begin() + axis + 1);
      return te::Load(data, at);
    });
    const Moments m = MomentsOf(grouped, reduced, c.attrs.Float("epsilon"));
    return ScaleAndCenter(c, "group_norm", [&](const Indices& i) {
      Indices at = i;
      at[axis] = FloorDivExpr(i[axis], te::DimValue(group_size));
      at.insert(at.begin() + axis + 1, FloorModExpr(i[axis], te::DimValue(group_size)));
      return m.Normalized(at);
    });
  };
  return op;
}

// --- l2_normalize, lrn ---

// x / sqrt(max(sum of squares over `axis`, eps)); no axis given means all.
OpDef L2NormalizeOp() {
  OpDef op;
  op.name = "nn.l2_normalize";
  op.layout = LayoutRule::kFollows;
  op.attrs = {{"eps", AttrKind::kFloat, true}, {"axis", AttrKind::kInts}};
  op.fusion = FusionClass::kOutElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireFloat(tc.tensor(0)));
    RELAYVM_RETURN_IF_ERROR(NormalizeAxes(tc.attrs().Ints("axis"), tc.tensor(0).rank()).status());
    return OpResult(tc.tensor(0));
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const std::vector<int64_t> given = c.attrs.Ints("axis");
    std::vector<bool> reduced(x->shape.size(), given.empty());
    for (int64_t axis : given) reduced[CanonicalAxis(axis, x->rank())] = true;
    const Expr eps = te::Const(c.attrs.Float("eps"), x->dtype);
    const Tensor norm = Statistic(
        "l2_norm", x->shape, reduced, ReduceKind::kSum, x->dtype,
        [&](const Indices& at) { return te::Load(x, at) * te::Load(x, at); },
        [&](Expr sum) { return nn::Sqrt(MaxExpr(std::move(sum), eps)); });
    return {te::Compute("l2_normalize", x->shape, [&](const Indices& at) {
      return nn::Divide(te::Load(x, at), te::Load(norm, StatisticIndex(at, reduced)));
    })};
  };
  return op;
}

// x / (bias + alpha / size * sum of squares over `size` neighbours along `axis`) ^ beta
OpDef LrnOp() {
  OpDef op;
  op.name = "nn.lrn";
  op.layout = LayoutRule::kFollows;
  op.attrs = {{"size", AttrKind::kInt, false, 5},
              {"axis", AttrKind::kInt, false, 1},
              {"bias", AttrKind::kFloat, false, 2.0},
              {"alpha", AttrKind::kFloat, false, 0.0001},
              {"beta", AttrKind::kFloat, false, 0.75}};
  op.fusion = FusionClass::kOpaque;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireFloat(tc.tensor(0)));
    RELAYVM_RETURN_IF_ERROR(NormalizeAxis(tc.attrs().Int("axis"), tc.tensor(0).rank()).status());
    if (tc.attrs().Int("size") < 1) return Invalid("size is {}", tc.attrs().Int("size"));
    return OpResult(tc.tensor(0));
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const DType dtype = x->dtype;
    const int axis = CanonicalAxis(c.attrs.Int("axis"), x->rank());
    const int64_t size = c.attrs.Int("size");
    const Tensor sum = te::Compute("lrn_sum", x->shape, [&](const Indices& i) {
      const te::Axis k = te::MakeAxis("k", size);
      Indices at = i;
      at[axis] = i[axis] + te::AxisValue(k) - Int(size / 2);
      const Expr value = te::Load(x, at) * te::Load(x, at);
      return te::Reduce(ReduceKind::kSum,
                        te::Select(nn::InRange(at[axis], te::DimValue(x->shape[axis])), value,
                                   te::Const(0, dtype)),
                        {k}, dtype);
    });
    return {te::Compute("lrn", x->shape, [&](const Indices& at) {
      const Expr scaled =
          te::Const(c.attrs.Float("alpha") / static_cast<double>(size), dtype) * te::Load(sum, at) +
          te::Const(c.attrs.Float("bias"), dtype);
      return nn::Divide(te::Load(x, at),
                        nn::Power(scaled, te::Const(c.attrs.Float("beta"), dtype)));
    })};
  };
  return op;
}

}  // namespace

void DefineNorm(OpTable& table) {
  table.Add(SoftmaxOp("nn.softmax", false));
  table.Add(SoftmaxOp("nn.fast_softmax", false));
  table.Add(SoftmaxOp("nn.log_softmax", true));
  table.Add(BatchNormOp());
  table.Add(LayerNormOp());
  table.Add(InstanceNormOp());
  table.Add(GroupNormOp());
  table.Add(L2NormalizeOp());
  table.Add(LrnOp());
}

}  // namespace relayvm

// Reductions: sum mean variance max min prod all any argmax argmin.
// Axes: None is all of them, [] none; `exclude` takes the others. Accumulation is in the input's
// dtype, so an integer sum wraps and a float16 sum rounds at every step; but mean and variance of
// integers are made in 64 bits, then truncated, those of floats of 16 bits in 32, as TVM and numpy
// do.
// Stateless. Tested by reduce_test.cc.
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/nn_helpers.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::ReduceKind;
using te::Tensor;

// Which dimensions of a tensor are reduced.
Result<std::vector<bool>> ReducedDims(const Attrs& attrs, int rank) {
  const auto axes = attrs.OptionalInts("axis");
  if (!axes) return std::vector<bool>(rank, true);
  std::vector<bool> reduced(rank, false);
  for (int64_t a : *axes) {
    RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(a, rank));
    reduced[axis] = true;
  }
  if (attrs.Bool("exclude")) reduced.flip();
  return reduced;
}

std::vector<Dim> ReducedShape(const std::vector<Dim>& shape, const std::vector<bool>& reduced,
                              bool keepdims) {
  std::vector<Dim> out;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!reduced[d]) {
      out.push_back(shape[d]);
    } else if (keepdims) {
      out.push_back(1);
    }
  }
  return out;
}

// The result for `element(full index)` reduced in the element's dtype, then `finish(reduced
// value)`.
using ElementFn = std::function<Expr(const Indices&)>;
Tensor Reduction(const std::string& name, const ComputeContext& c, ReduceKind kind,
                 const ElementFn& element, const std::function<Expr(Expr)>& finish = nullptr) {
  const Tensor& data = c.inputs[0];
  const int rank = data->rank();
  const std::vector<bool> reduced = *ReducedDims(c.attrs, rank);
  const bool keepdims = c.attrs.Bool("keepdims");
  const DType dtype = c.outputs[0].dtype;
  return te::Compute(name, ReducedShape(data->shape, reduced, keepdims), [&](const Indices& out) {
    std::vector<te::Axis> axes;
    Indices at;
    size_t next = 0;
    for (int d = 0; d < rank; ++d) {
      if (!reduced[d]) {
        at.push_back(out[next++]);
        continue;
      }
      axes.push_back(te::MakeAxis(fmt::format("k{}", d), data->shape[d]));
      at.push_back(te::AxisValue(axes.back()));
      if (keepdims) ++next;
    }
    const bool is_arg = kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMin;
    Expr value;
    if (axes.empty()) {
      value = is_arg ? te::IntImm(0, dtype) : element(at);
    } else {
      const bool last = is_arg && c.attrs.Bool("select_last_index");
      Expr reduced = element(at);
      const DType result = is_arg ? dtype : reduced->dtype;
      value = te::Reduce(kind, std::move(reduced), axes, result, last);
    }
    return finish ? finish(value) : value;
  });
}

// The number of elements reduced into one.
Dim CountReduced(const std::vector<Dim>& shape, const std::vector<bool>& reduced) {
  Dim count = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced[d]) count = count * shape[d];
  }
  return count;
}
Expr ReducedCount(const ComputeContext& c) {
  const std::vector<Dim>& shape = c.inputs[0]->shape;
  return te::DimValue(CountReduced(shape, *ReducedDims(c.attrs, static_cast<int>(shape.size()))));
}

Result<OpResult> InferReduction(TypeContext& tc, bool is_arg) {
  const TensorType& data = tc.tensor(0);
  RELAYVM_ASSIGN_OR_RETURN(std::vector<bool> reduced, ReducedDims(tc.attrs(), data.rank()));
  if (is_arg) {
    const Dim last = CountReduced(data.shape, reduced) - Dim(1);
    RELAYVM_RETURN_IF_ERROR(RequireHolds(tc, DType::kInt32, last, "the last index"));
  }
  return OpResult(TensorType{ReducedShape(data.shape, reduced, tc.attrs().Bool("keepdims")),
                             is_arg ? DType::kInt32 : data.dtype});
}

std::vector<AttrField> ReduceFields() {
  return {{"axis", AttrKind::kInts},
          {"keepdims", AttrKind::kBool, false, false},
          {"exclude", AttrKind::kBool, false, false}};
}

OpDef ReduceOp(const std::string& name, ReduceKind kind) {
  OpDef op;
  op.name = name;
  op.attrs = ReduceFields();
  op.layout = LayoutRule::kFollows;
  op.fusion = FusionClass::kReduction;
  const bool logical = kind == ReduceKind::kAll || kind == ReduceKind::kAny;
  op.infer = [logical](TypeContext& tc) -> Result<OpResult> {
    if (logical)
      RELAYVM_RETURN_IF_ERROR(nn::RequireSameDType(tc.tensor(0).dtype, DType::kBool, "data"));
    return InferReduction(tc, false);
  };
  op.compute = [name, kind](const ComputeContext& c) -> std::vector<Tensor> {
    return {Reduction(name, c, kind, [&](const Indices& at) { return te::Load(c.inputs[0], at); })};
  };
  return op;
}

OpDef ArgReduceOp(const char* name, ReduceKind kind) {
  OpDef op = ReduceOp(name, kind);
  op.attrs.push_back({"select_last_index", AttrKind::kBool, false, false});
  op.infer = [](TypeContext& tc) { return InferReduction(tc, true); };
  return op;
}

// In which mean and variance add.
DType SumDType(DType dtype) {
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  return half ? DType::kFloat32 : nn::AverageDType(dtype);
}

OpDef MeanOp() {
  OpDef op = ReduceOp("mean", ReduceKind::kSum);
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const DType dtype = c.outputs[0].dtype;
    return {Reduction(
        "mean", c, ReduceKind::kSum,
        [&](const Indices& at) { return te::Cast(te::Load(c.inputs[0], at), SumDType(dtype)); },
        [&](Expr sum) { return nn::Average(std::move(sum), ReducedCount(c), dtype); })};
  };
  return op;
}

// The second argument is the mean, with the reduced dimensions kept as 1.
OpDef VarianceOp() {
  OpDef op = ReduceOp("variance", ReduceKind::kSum);
  op.num_args = 2;
  op.attrs.push_back({"unbiased", AttrKind::kBool, false, false});
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    const TensorType& mean = tc.tensor(1);
    RELAYVM_RETURN_IF_ERROR(nn::RequireSameDType(data.dtype, mean.dtype, "data and mean"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(mean, data.rank(), "mean"));
    for (int d = 0; d < data.rank(); ++d) {
      if (mean.shape[d].is_const(1)) continue;
      RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(data.shape[d], mean.shape[d],
                                              fmt::format("dimension {} of data and mean", d)));
    }
    return InferReduction(tc, false);
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const DType dtype = c.outputs[0].dtype;
    const Tensor squares =
        te::Compute("variance_squares", c.inputs[0]->shape, [&](const Indices& at) {
          const DType wide = SumDType(dtype);
          return te::Cast(te::Load(c.inputs[0], at), wide) -
                 te::Cast(nn::LoadOnes(c.inputs[1], at), wide);
        });
    return {Reduction(
        "variance", c, ReduceKind::kSum,
        [&](const Indices& at) {
          const Expr difference = te::Load(squares, at);
          return difference * difference;
        },
        [&](Expr sum) {
          Expr count = ReducedCount(c);
          if (c.attrs.Bool("unbiased")) count = count - Int(1);
          return nn::Average(std::move(sum), count, dtype);
        })};
  };
  return op;
}

}  // namespace

void DefineReduce(OpTable& table) {
  table.Add(ReduceOp("sum", ReduceKind::kSum));
  table.Add(ReduceOp("prod", ReduceKind::kProd));
  table.Add(ReduceOp("max", ReduceKind::kMax));
  table.Add(ReduceOp("min", ReduceKind::kMin));
  table.Add(ReduceOp("all", ReduceKind::kAll));
  table.Add(ReduceOp("any", ReduceKind::kAny));
  table.Add(ArgReduceOp("argmax", ReduceKind::kArgMax));
  table.Add(ArgReduceOp("argmin", ReduceKind::kArgMin));
  table.Add(MeanOp());
  table.Add(VarianceOp());
}

}  // namespace relayvm

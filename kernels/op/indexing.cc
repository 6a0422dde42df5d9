// Operators that index by data: take, gather, gather_nd, adv_index, one_hot, unravel_index,
// sparse_to_dense.
//
// An index out of range is clamped into it (take's "wrap" aside) where TVM is unchecked, so that no
// access leaves the tensor.
#include "kernels/op/indexing.h"

#include <algorithm>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"
#include "kernels/op/shape_rules.h"

namespace relayvm {

using te::Expr;

namespace {

constexpr const char* kByteTable = "contrib_byte_table";
constexpr int64_t kByteValues = 256;

// What an index of `dtype` is computed in: all of them are numbers of it.
DType WideInteger(DType dtype) { return dtype == DType::kUInt64 ? DType::kUInt64 : DType::kInt64; }

// An axis that is read through an index must not be empty, unless nothing is read.
Status RequireReadable(TypeContext& ctx, const Dim& extent, const std::vector<Dim>& result) {
  if (auto low = extent.LowerBound(); low && *low >= 1) return OkStatus();
  return ctx.RequireAtLeast(extent, Dim::Min(Dim(1), ProductOf(result)),
                            "the extent of the indexed axis");
}

// --- take ---

// Where the parts of the result of take(axis, batch_dims) lie:
// data[:axis] + indices[batch_dims:] + data[axis + 1:].
struct TakeShape {
  int axis;
  int batch;
};

Result<OpResult> InferTake(TypeContext& ctx) {
  const TensorType& data = ctx.tensor(0);
  const TensorType& indices = ctx.tensor(1);
  RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "indices"));
  auto given = ctx.attrs().OptionalInt("axis");
  if (!given) {
    if (ctx.attrs().Int("batch_dims") != 0) return Invalid("batch_dims needs an axis");
    RELAYVM_RETURN_IF_ERROR(RequireReadable(ctx, ProductOf(data.shape), indices.shape));
    return OpResult(TensorType{indices.shape, data.dtype});
  }
  RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(*given, data.rank()));
  int64_t batch = ctx.attrs().Int("batch_dims");
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > axis || batch > indices.rank()) {
    return Invalid("batch_dims is {}, with axis {} and indices of rank {}", batch, axis,
                   indices.rank());
  }
  for (int64_t i = 0; i < batch; ++i) {
    auto k = static_cast<size_t>(i);
    RELAYVM_RETURN_IF_ERROR(
        ctx.RequireEqual(data.shape[k], indices.shape[k], "batch dims of data and indices"));
  }
  TensorType out{{data.shape.begin(), data.shape.begin() + axis}, data.dtype};
  out.shape.insert(out.shape.end(), indices.shape.begin() + batch, indices.shape.end());
  out.shape.insert(out.shape.end(), data.shape.begin() + axis + 1, data.shape.end());
  RELAYVM_RETURN_IF_ERROR(RequireReadable(ctx, data.shape[static_cast<size_t>(axis)], out.shape));
  return OpResult(std::move(out));
}

std::vector<te::Tensor> ComputeTake(const ComputeContext& ctx) {
  const te::Tensor& data = ctx.inputs[0];
  const te::Tensor& indices = ctx.inputs[1];
  // As TVM, which checks no name: what is neither clip nor fast wraps.
  const std::string& mode = ctx.attrs.String("mode");
  bool wrap = mode != "clip" && mode != "fast";
  auto in_range = [&](Expr index, const Dim& extent) {
    if (!wrap) return ClampIndex(std::move(index), extent);
    const DType wide = WideInteger(index->dtype);
    return te::Cast(
        FloorModExpr(te::Cast(std::move(index), wide), te::Cast(te::DimValue(extent), wide)),
        DType::kInt64);
  };
  auto given = ctx.attrs.OptionalInt("axis");
  if (!given) {
    return {te::Compute("take", ctx.outputs[0].shape, [&](const ExprList& i) {
      Expr position = in_range(te::Load(indices, i), ProductOf(data->shape));
      return te::Load(data, Unravel(position, data->shape));
    })};
  }
  int axis = CanonicalAxis(*given, data->rank());
  int batch = CanonicalAxis(ctx.attrs.Int("batch_dims"), indices->rank());
  return {te::Compute("take", ctx.outputs[0].shape, [&](const ExprList& i) {
    auto middle = i.begin() + axis;
    auto tail = middle + (indices->rank() - batch);
    ExprList which(i.begin(), i.begin() + batch);
    which.insert(which.end(), middle, tail);
    ExprList at(i.begin(), middle);
    at.push_back(
        in_range(te::Load(indices, std::move(which)), data->shape[static_cast<size_t>(axis)]));
    at.insert(at.end(), tail, i.end());
    return te::Load(data, std::move(at));
  })};
}

OpDef Take() {
  OpDef def;
  def.name = "take";
  def.num_args = 2;
  def.along_axis = AlongAxis::kTakes;
  def.attrs = {Optional("batch_dims", AttrKind::kInt, 0), Optional("axis", AttrKind::kInt),
               Optional("mode", AttrKind::kString, "clip")};
  def.fusion = FusionClass::kInjective;
  def.infer = InferTake;
  def.compute = ComputeTake;
  return def;
}

// --- contrib_byte_table ---

// What a table of 256 bytes holds for each byte, which is its index as uint8: what a chain of
// functions of one byte comes to (transforms/simplify/tabulate_bytes.h).
OpDef ByteTable() {
  OpDef def;
  def.name = kByteTable;
  def.num_args = 2;
  def.fusion = FusionClass::kElementwise;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    const TensorType& table = ctx.tensor(1);
    for (const TensorType* t : {&data, &table}) {
      if (DTypeBytes(t->dtype) != 1 || t->dtype == DType::kBool)
        return Invalid("expected tensors of int8 or uint8, found {}", DTypeName(t->dtype));
    }
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(ctx, table.shape, {Dim(kByteValues)}, "the table"));
    return OpResult(TensorType{data.shape, table.dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    return {te::Compute("byte_table", ctx.outputs[0].shape, [&](const ExprList& i) {
      const te::Expr byte = te::Load(ctx.inputs[0], i);
      const te::Expr index =
          byte->dtype == DType::kUInt8 ? byte : te::Reinterpret(byte, DType::kUInt8);
      return te::Load(ctx.inputs[1], {ToIndex(index)});
    })};
  };
  return def;
}

// --- gather ---

// out[i, j, k] = data[i, indices[i, j, k], k] for axis 1.
OpDef Gather() {
  OpDef def;
  def.name = "gather";
  def.num_args = 2;
  def.attrs = {Required("axis", AttrKind::kInt)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    const TensorType& indices = ctx.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "indices"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(indices, data.rank(), "indices"));
    RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(ctx.attrs().Int("axis"), data.rank()));
    for (size_t i = 0; i < data.shape.size(); ++i) {
      if (i == static_cast<size_t>(axis)) continue;
      RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(data.shape[i], indices.shape[i],
                                                 "the data's extent beside that of indices"));
    }
    RELAYVM_RETURN_IF_ERROR(
        RequireReadable(ctx, data.shape[static_cast<size_t>(axis)], indices.shape));
    return OpResult(TensorType{indices.shape, data.dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    auto axis = static_cast<size_t>(CanonicalAxis(ctx.attrs.Int("axis"), data->rank()));
    return {te::Compute("gather", ctx.outputs[0].shape, [&](const ExprList& i) {
      ExprList at = i;
      at[axis] = ClampIndex(te::Load(ctx.inputs[1], i), data->shape[axis]);
      return te::Load(data, std::move(at));
    })};
  };
  return def;
}

// indices has shape (M, Y...): its first axis holds the M coordinates of an element of data[batch
// dims...].
OpDef GatherNd() {
  OpDef def;
  def.name = "gather_nd";
  def.num_args = 2;
  def.attrs = {Optional("batch_dims", AttrKind::kInt, 0), Optional("index_rank", AttrKind::kInt)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    const TensorType& indices = ctx.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireNumber(indices, "indices"));
    if (indices.rank() < 1) return Invalid("indices must have at least one dim");
    Dim count = indices.shape[0];
    if (!count.is_const()) {
      auto rank = ctx.attrs().OptionalInt("index_rank");
      if (!rank) {
        return Invalid(
            "index_rank must be given: the first dim of indices, {}, is not known at compile time",
            count.ToString());
      }
      RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(count, Dim(*rank), "index_rank"));
      count = Dim(*rank);
    }
    int64_t batch = ctx.attrs().Int("batch_dims");
    if (batch < 0 || batch > indices.rank() - 1) {
      return Invalid("batch_dims is {}, indices have rank {}", batch, indices.rank());
    }
    if (count.value() < 0 || count.value() + batch > data.rank()) {
      return Invalid("{} coordinates and {} batch dims for data of rank {}", count.value(), batch,
                     data.rank());
    }
    TensorType out{{indices.shape.begin() + 1, indices.shape.end()}, data.dtype};
    out.shape.insert(out.shape.end(), data.shape.begin() + batch + count.value(), data.shape.end());
    for (int64_t i = 0; i < batch; ++i) {
      auto k = static_cast<size_t>(i);
      RELAYVM_RETURN_IF_ERROR(
          ctx.RequireEqual(data.shape[k], indices.shape[k + 1], "batch dims of data and indices"));
    }
    for (int64_t i = batch; i < batch + count.value(); ++i) {
      RELAYVM_RETURN_IF_ERROR(RequireReadable(ctx, data.shape[static_cast<size_t>(i)], out.shape));
    }
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    const te::Tensor& indices = ctx.inputs[1];
    int64_t batch = ctx.attrs.Int("batch_dims");
    int64_t kept = ctx.outputs[0].rank() - (indices->rank() - 1);  // trailing dims of data
    int64_t count = data->rank() - batch - kept;
    return {te::Compute("gather_nd", ctx.outputs[0].shape, [&](const ExprList& i) {
      ExprList at(i.begin(), i.begin() + batch);
      for (int64_t k = 0; k < count; ++k) {
        ExprList which{Int(k)};
        which.insert(which.end(), i.begin(), i.begin() + (indices->rank() - 1));
        at.push_back(ClampIndex(te::Load(indices, std::move(which)),
                                data->shape[static_cast<size_t>(batch + k)]));
      }
      at.insert(at.end(), i.begin() + (indices->rank() - 1), i.end());
      return te::Load(data, std::move(at));
    })};
  };
  return def;
}

// (data, i0, i1, ...): numpy's data[i0, i1, ...], the indices broadcast together.
OpDef AdvIndex() {
  OpDef def;
  def.name = "adv_index";
  def.tuple_args = {0};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const std::vector<TensorType>& fields = ctx.arg(0).tensors;
    const TensorType& data = fields[0];
    auto count = static_cast<std::ptrdiff_t>(fields.size()) - 1;
    if (count < 1 || count > data.rank()) {
      return Invalid("{} indices for data of rank {}", count, data.rank());
    }
    std::vector<Dim> shape;
    for (size_t n = 1; n < fields.size(); ++n) {
      RELAYVM_RETURN_IF_ERROR(RequireInteger(fields[n], "indices"));
      RELAYVM_ASSIGN_OR_RETURN(shape, BroadcastShapes(ctx, shape, fields[n].shape, "indices"));
    }
    shape.insert(shape.end(), data.shape.begin() + count, data.shape.end());
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      RELAYVM_RETURN_IF_ERROR(RequireReadable(ctx, data.shape[static_cast<size_t>(k)], shape));
    }
    return OpResult(TensorType{std::move(shape), data.dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    const std::vector<Dim>& out = ctx.outputs[0].shape;
    auto count = static_cast<std::ptrdiff_t>(ctx.inputs.size()) - 1;
    std::ptrdiff_t index_rank = static_cast<std::ptrdiff_t>(out.size()) - (data->rank() - count);
    std::vector<Dim> index_shape(out.begin(), out.begin() + index_rank);
    return {te::Compute("adv_index", out, [&](const ExprList& i) {
      ExprList which(i.begin(), i.begin() + index_rank);
      ExprList at;
      for (std::ptrdiff_t k = 0; k < count; ++k) {
        auto n = static_cast<size_t>(k);
        at.push_back(
            ClampIndex(LoadBroadcast(ctx.inputs[n + 1], index_shape, which), data->shape[n]));
      }
      at.insert(at.end(), i.begin() + index_rank, i.end());
      return te::Load(data, std::move(at));
    })};
  };
  return def;
}

// --- one_hot ---

OpDef OneHot() {
  OpDef def;
  def.name = "one_hot";
  def.num_args = 3;
  def.attrs = {Required("depth", AttrKind::kInt), Optional("axis", AttrKind::kInt, -1),
               Optional("dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    int64_t depth = ctx.attrs().Int("depth");
    if (depth < 1) return Invalid("depth is {}", depth);
    return InferOneHot(ctx, Dim(depth));
  };
  def.compute = ComputeOneHot;
  return def;
}

// --- unravel_index, sparse_to_dense ---

// A coordinate of a negative index may be one that the indices' dtype does not hold.
Expr Coordinate(Expr value, DType dtype, int64_t check) {
  if (IsSignedInt(dtype) && dtype != DType::kInt64) {
    const int64_t end = int64_t{1} << (DTypeBits(dtype) - 1);
    value = te::Checked(std::move(value), Int(0), Int(end), check);
  }
  return te::Cast(std::move(value), dtype);
}

// Coordinate k is index / (the product of the extents behind k), modulo extent k. For shapes whose
// length only running tells.
te::Tensor UnravelByProducts(const te::Tensor& indices, const te::Tensor& shape,
                             const TensorType& out, int64_t check) {
  const DType wide = WideInteger(indices->dtype);
  te::Tensor steps = te::Compute("unravel_step", shape->shape, [&](const ExprList& i) {
    te::Axis k = te::MakeAxis("k", shape->shape[0]);
    Expr extent = ToIndex(te::Load(shape, {te::AxisValue(k)}));
    return te::Reduce(te::ReduceKind::kProd,
                      te::Select(Greater(te::AxisValue(k), i[0]), std::move(extent), Int(1)), {k},
                      DType::kInt64);
  });
  return te::Compute("unravel_index", out.shape, [&](const ExprList& i) {
    Expr index = te::Cast(te::Load(indices, ExprList(i.begin() + 1, i.end())), wide);
    Expr step = te::Cast(te::Load(steps, {i[0]}), wide);
    Expr extent = te::Cast(ToIndex(te::Load(shape, {i[0]})), wide);
    return Coordinate(FloorModExpr(FloorDivExpr(std::move(index), step), extent), out.dtype, check);
  });
}

// Row k holds coordinate k of each index into an array of the given shape.
OpDef UnravelIndex() {
  OpDef def;
  def.name = "unravel_index";
  def.num_args = 2;
  def.fusion = FusionClass::kInjective;
  def.checks = true;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& indices = ctx.tensor(0);
    const TensorType& shape = ctx.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "indices"));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(shape, "shape"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(shape, 1, "shape"));
    if (indices.rank() > 1) return Invalid("indices must be a scalar or a vector");
    TensorType out{{shape.shape[0]}, indices.dtype};
    out.shape.insert(out.shape.end(), indices.shape.begin(), indices.shape.end());
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& indices = ctx.inputs[0];
    const Dim& length = ctx.outputs[0].shape[0];
    if (!length.is_const()) {
      return {UnravelByProducts(indices, ctx.inputs[1], ctx.outputs[0], ctx.check)};
    }
    int64_t rank = length.value();
    const DType wide = WideInteger(indices->dtype);
    return {te::Compute("unravel_index", ctx.outputs[0].shape, [&](const ExprList& i) {
      Expr rest = te::Cast(te::Load(indices, ExprList(i.begin() + 1, i.end())), wide);
      ExprList coordinates(static_cast<size_t>(rank));
      for (int64_t k = rank; k-- > 0;) {
        Expr extent = te::Cast(ToIndex(te::Load(ctx.inputs[1], {Int(k)})), wide);
        coordinates[static_cast<size_t>(k)] =
            Coordinate(FloorModExpr(rest, extent), indices->dtype, ctx.check);
        rest = FloorDivExpr(rest, extent);
      }
      return SelectFrom(i[0], coordinates, indices->dtype);
    })};
  };
  return def;
}

OpDef SparseToDense() {
  OpDef def;
  def.name = "sparse_to_dense";
  def.num_args = -1;
  def.attrs = {Required("output_shape", AttrKind::kDims)};
  def.fusion = FusionClass::kOpaque;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    std::vector<Dim> shape = ctx.attrs().Dims("output_shape");
    RELAYVM_RETURN_IF_ERROR(RequireSizes(ctx, shape));
    return InferSparseToDense(ctx, shape);
  };
  def.builtin = [](const ComputeContext& ctx) -> BuiltinCall {
    return {ctx.inputs.size() > 2 ? "sparse_to_dense" : "sparse_to_dense_zero", {}};
  };
  return def;
}

}  // namespace

Result<OpResult> InferOneHot(TypeContext& ctx, const Dim& depth) {
  const TensorType& indices = ctx.tensor(0);
  RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "indices"));
  RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(1), 0, "on_value"));
  RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(2), 0, "off_value"));
  RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(ctx.attrs().Int("axis"), indices.rank() + 1));
  TensorType out{indices.shape, DTypeOr(ctx.attrs(), "dtype", ctx.tensor(1).dtype)};
  out.shape.insert(out.shape.begin() + axis, depth);
  return OpResult(std::move(out));
}

std::vector<te::Tensor> ComputeOneHot(const ComputeContext& ctx) {
  const te::Tensor& indices = ctx.inputs[0];
  int axis = CanonicalAxis(ctx.attrs.Int("axis"), indices->rank() + 1);
  return {te::Compute("one_hot", ctx.outputs[0].shape, [&](const ExprList& i) {
    ExprList at = i;
    at.erase(at.begin() + axis);
    DType dtype = ctx.outputs[0].dtype;
    return te::Select(ToIndex(te::Load(indices, std::move(at))) == i[static_cast<size_t>(axis)],
                      te::Cast(Scalar(ctx.inputs[1]), dtype),
                      te::Cast(Scalar(ctx.inputs[2]), dtype));
  })};
}

Result<OpResult> InferSparseToDense(TypeContext& ctx, const std::vector<Dim>& shape) {
  if (ctx.num_args() < 2) return Invalid("needs indices and values");
  if (ctx.num_args() > 4) return Invalid("{} arguments, expected 2 or 3", ctx.num_args());
  const TensorType& indices = ctx.tensor(0);
  const TensorType& values = ctx.tensor(1);
  RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "sparse_indices"));
  if (values.rank() > 1) return Invalid("sparse_values must be a scalar or a vector");
  if (indices.rank() > 2) return Invalid("sparse_indices must have at most 2 dims");
  if (ctx.num_args() > 2) {
    RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(2), 0, "default_value"));
  }
  if (values.rank() == 1) {
    Dim count = indices.rank() == 0 ? Dim(1) : indices.shape[0];
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(values.shape[0], count, "indices and values"));
  }
  Dim coordinates = indices.rank() == 2 ? indices.shape[1] : Dim(1);
  RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(coordinates, Dim(static_cast<int64_t>(shape.size())),
                                           "coordinates of an index and dims of the result"));
  return OpResult(TensorType{shape, values.dtype});
}

NamedCall ByteTableCall() { return {kByteTable, {}}; }

void DefineIndexing(OpTable& table) {
  table.Add(Take());
  table.Add(ByteTable());
  table.Add(Gather());
  table.Add(GatherNd());
  table.Add(AdvIndex());
  table.Add(OneHot());
  table.Add(UnravelIndex());
  table.Add(SparseToDense());
}

}  // namespace relayvm

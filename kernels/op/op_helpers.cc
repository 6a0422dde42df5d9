#include "kernels/op/op_helpers.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "kernels/op/shape_rules.h"

namespace relayvm {

using te::Expr;
using te::Tensor;

// --- Axes and dtypes ---

Result<int> NormalizeAxis(int64_t axis, int rank, std::string_view what) {
  if (axis < -rank || axis >= rank) {
    if (rank == 0) return Invalid("{} {} is out of range: the tensor has rank 0", what, axis);
    return Invalid("{} {} is out of range [{}, {}] for rank {}", what, axis, -rank, rank - 1, rank);
  }
  return CanonicalAxis(axis, rank);
}

Result<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank,
                                       std::string_view what) {
  std::vector<int> out;
  for (int64_t axis : axes) {
    RELAYVM_ASSIGN_OR_RETURN(int normal, NormalizeAxis(axis, rank, what));
    if (std::find(out.begin(), out.end(), normal) != out.end()) {
      return Invalid("{} {} is given twice", what, axis);
    }
    out.push_back(normal);
  }
  return out;
}

namespace {
Status DTypeError(const TensorType& t, std::string_view what, std::string_view expected) {
  return Invalid("{} must be of {} dtype, not {}", what, expected, DTypeName(t.dtype));
}
}  // namespace

Status RequireFloat(const TensorType& t, std::string_view what) {
  return IsFloat(t.dtype) ? OkStatus() : DTypeError(t, what, "a float");
}
Status RequireInteger(const TensorType& t, std::string_view what) {
  return IsInt(t.dtype) ? OkStatus() : DTypeError(t, what, "an integer");
}
Status RequireIntegerOrBool(const TensorType& t, std::string_view what) {
  return IsInt(t.dtype) || t.dtype == DType::kBool ? OkStatus()
                                                   : DTypeError(t, what, "an integer or bool");
}
Status RequireNumber(const TensorType& t, std::string_view what) {
  return IsInt(t.dtype) || IsFloat(t.dtype) ? OkStatus()
                                            : DTypeError(t, what, "an integer or float");
}
Status RequireBool(const TensorType& t, std::string_view what) {
  if (t.dtype == DType::kBool) return OkStatus();
  return Invalid("{} must be bool, not {}", what, DTypeName(t.dtype));
}

Status RequireSameDType(const TensorType& a, const TensorType& b) {
  if (a.dtype == b.dtype) return OkStatus();
  return Invalid("dtypes {} and {} differ; there is no implicit conversion, insert a cast",
                 DTypeName(a.dtype), DTypeName(b.dtype));
}

Status RequireRank(const TensorType& t, int rank, std::string_view what) {
  if (t.rank() == rank) return OkStatus();
  return Invalid("{} must have rank {}, not {}: its shape is {}", what, rank, t.rank(),
                 ShapeToString(t.shape));
}

Status RequireHolds(TypeContext& ctx, DType dtype, const Dim& largest, std::string_view what) {
  int bits = DTypeBits(dtype) - (IsSignedInt(dtype) ? 1 : 0);
  if (IsFloat(dtype)) {  // as far as floats hold all
    bits = dtype == DType::kFloat16    ? 11
           : dtype == DType::kBFloat16 ? 8
           : dtype == DType::kFloat32  ? 24
                                       : 53;
  }
  if (dtype == DType::kBool) bits = 1;
  if (bits >= 63) return OkStatus();
  return RequireAtMost(ctx, largest, Dim((int64_t{1} << bits) - (IsFloat(dtype) ? 0 : 1)),
                       fmt::format("{} as {}", what, DTypeName(dtype)));
}

Status RequireShapeEqual(TypeContext& ctx, const std::vector<Dim>& a, const std::vector<Dim>& b,
                         std::string_view what) {
  if (a.size() != b.size()) {
    return Invalid("{}: shapes {} and {} differ in rank", what, ShapeToString(a), ShapeToString(b));
  }
  for (size_t i = 0; i < a.size(); ++i) {
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(a[i], b[i], what));
  }
  return OkStatus();
}

Result<std::vector<Dim>> BroadcastShapes(TypeContext& ctx, const std::vector<Dim>& a,
                                         const std::vector<Dim>& b, std::string_view what) {
  const std::vector<Dim>& longer = a.size() >= b.size() ? a : b;
  const std::vector<Dim>& shorter = a.size() >= b.size() ? b : a;
  size_t lead = longer.size() - shorter.size();
  std::vector<Dim> out(longer.begin(), longer.begin() + static_cast<std::ptrdiff_t>(lead));
  for (size_t i = 0; i < shorter.size(); ++i) {
    const Dim& x = a.size() >= b.size() ? longer[lead + i] : shorter[i];
    const Dim& y = a.size() >= b.size() ? shorter[i] : longer[lead + i];
    RELAYVM_ASSIGN_OR_RETURN(Dim d, ctx.Broadcast(x, y, what));
    out.push_back(std::move(d));
  }
  return out;
}

// --- Tensor expressions ---

Expr ToIndex(Expr e) {
  if (e->dtype == DType::kUInt64) {
    e = MinExpr(std::move(e), te::IntImm(std::numeric_limits<int64_t>::max(), DType::kUInt64));
  }
  return te::Cast(std::move(e), DType::kInt64);
}

Expr ClampIndex(Expr index, const Dim& extent) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (index->dtype == DType::kInt32 && extent.is_const() && extent.value() - 1 <= kMost) {
    // In 32 bits, of which a vector holds twice as many.
    return te::Cast(Clamp(std::move(index), te::IntImm(0, DType::kInt32),
                          te::IntImm(extent.value() - 1, DType::kInt32)),
                    DType::kInt64);
  }
  return Clamp(ToIndex(std::move(index)), Int(0), te::DimValue(extent - Dim(1)));
}

Expr Ravel(const ExprList& indices, const std::vector<Dim>& shape) {
  Expr position = Int(0);
  for (size_t i = 0; i < shape.size(); ++i) {
    position = i == 0 ? indices[0] : position * te::DimValue(shape[i]) + indices[i];
  }
  return position;
}

ExprList Unravel(Expr position, const std::vector<Dim>& shape) {
  ExprList out(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i].is_const(1)) {
      out[i] = Int(0);
    } else if (i == 0) {
      out[i] = position;
    } else {
      out[i] = FloorModExpr(position, te::DimValue(shape[i]));
      position = FloorDivExpr(position, te::DimValue(shape[i]));
    }
  }
  return out;
}

ExprList BroadcastIndices(const std::vector<Dim>& shape, const std::vector<Dim>& out,
                          const ExprList& indices) {
  size_t lead = out.size() - shape.size();
  ExprList result;
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim& d = shape[i];
    const Expr& index = indices[lead + i];
    if (d.is_const(1)) {
      result.push_back(Int(0));
    } else if (d.is_const() || d == out[lead + i]) {
      result.push_back(index);
    } else {
      result.push_back(te::Select(te::DimValue(d) == Int(1), Int(0), index));
    }
  }
  return result;
}

Expr LoadBroadcast(const Tensor& t, const std::vector<Dim>& out, const ExprList& indices) {
  return te::Load(t, BroadcastIndices(t->shape, out, indices));
}

Tensor Elementwise(std::string name, const ComputeContext& ctx,
                   const std::function<Expr(const ExprList&)>& fn) {
  return te::Compute(std::move(name), ctx.outputs[0].shape, [&](const ExprList& i) {
    ExprList values;
    for (const Tensor& t : ctx.inputs) values.push_back(te::Load(t, i));
    return fn(values);
  });
}

Tensor Identity(const Tensor& t) {
  return te::Compute("copy", t->shape, [&](const ExprList& i) { return te::Load(t, i); });
}

namespace {

// A run of dims [in_begin, in_end) of the data that holds the same elements as [out_begin, out_end)
// of the result.
struct DimGroup {
  size_t in_begin, in_end, out_begin, out_end;
};

// Splits a reshape into the smallest groups whose products are equal as expressions, so that
// unchanged dims keep their plain index. Dims left over form one last group.
std::vector<DimGroup> GroupDims(const std::vector<Dim>& in, const std::vector<Dim>& out) {
  std::vector<DimGroup> groups;
  size_t i = 0;
  size_t j = 0;
  while (i < in.size() && j < out.size()) {
    bool found = false;
    // The first pair of equal prefix products, fewest dims first.
    for (size_t total = 2; !found && total <= in.size() - i + out.size() - j; ++total) {
      for (size_t a = 1; !found && a < total; ++a) {
        size_t b = total - a;
        if (a > in.size() - i || b > out.size() - j) continue;
        Dim left = ProductOf(std::span<const Dim>(in).subspan(i, a));
        Dim right = ProductOf(std::span<const Dim>(out).subspan(j, b));
        if (!(left == right)) continue;
        groups.push_back({i, i + a, j, j + b});
        i += a;
        j += b;
        found = true;
      }
    }
    if (!found) break;
  }
  auto all_one = [](const std::vector<Dim>& dims, size_t from) {
    return std::all_of(dims.begin() + static_cast<std::ptrdiff_t>(from), dims.end(),
                       [](const Dim& d) { return d.is_const(1); });
  };
  bool rest = i < in.size() || j < out.size();
  if (rest && all_one(in, i) && all_one(out, j)) {
    groups.push_back({i, in.size(), out.size(), out.size()});
  } else if (rest) {
    groups.push_back({i, in.size(), j, out.size()});
  }
  return groups;
}

}  // namespace

Tensor ReshapeTensor(const Tensor& data, const std::vector<Dim>& shape) {
  const std::vector<Dim>& in = data->shape;
  auto slice = [](const auto& v, size_t begin, size_t end) {
    return std::decay_t<decltype(v)>(v.begin() + static_cast<std::ptrdiff_t>(begin),
                                     v.begin() + static_cast<std::ptrdiff_t>(end));
  };
  return te::Compute("reshape", shape, [&](const ExprList& out) {
    ExprList indices;
    for (const DimGroup& g : GroupDims(in, shape)) {
      Expr position =
          Ravel(slice(out, g.out_begin, g.out_end), slice(shape, g.out_begin, g.out_end));
      for (Expr& e : Unravel(position, slice(in, g.in_begin, g.in_end))) {
        indices.push_back(std::move(e));
      }
    }
    return te::Load(data, std::move(indices));
  });
}

Expr SelectFrom(const Expr& index, const ExprList& values, DType dtype) {
  if (values.empty()) return te::Const(0, dtype);
  Expr result = values.back();
  for (size_t i = values.size() - 1; i-- > 0;) {
    result = te::Select(index == Int(static_cast<int64_t>(i)), values[i], result);
  }
  return result;
}

}  // namespace relayvm

#include "kernels/op/nn_helpers.h"

#include <algorithm>
#include <limits>

namespace relayvm::nn {

using te::Expr;

Status RequireSameDType(DType a, DType b, std::string_view what) {
  if (a == b) return OkStatus();
  return Invalid("{}: {} and {} differ", what, DTypeName(a), DTypeName(b));
}

Expr LowestValue(DType dtype) {
  if (IsFloat(dtype)) return te::FloatImm(-std::numeric_limits<double>::infinity(), dtype);
  if (!IsSignedInt(dtype)) return te::IntImm(0, dtype);
  return te::IntImm(std::numeric_limits<int64_t>::min() >> (64 - DTypeBits(dtype)), dtype);
}

Expr LowestFinite(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return te::FloatImm(-65504.0, dtype);
    case DType::kBFloat16:
      return te::FloatImm(-0x1.FEp127, dtype);
    case DType::kFloat32:
      return te::FloatImm(std::numeric_limits<float>::lowest(), dtype);
    case DType::kFloat64:
      return te::FloatImm(std::numeric_limits<double>::lowest(), dtype);
    default:
      return LowestValue(dtype);
  }
}

DType AverageDType(DType dtype) {
  if (IsFloat(dtype) || dtype == DType::kUInt64) return dtype;
  return DType::kInt64;
}

Expr Average(Expr sum, const Expr& count, DType dtype) {
  // A count may be more than a half float is.
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  const DType wide = half ? DType::kFloat32 : sum->dtype;
  return te::Cast(Divide(te::Cast(std::move(sum), wide), te::Cast(count, wide)), dtype);
}

Expr InRange(const Expr& i, const Expr& extent) { return i >= Int(0) && i < extent; }

Expr AndAll(const std::vector<Expr>& conditions) {
  Expr all;
  for (const Expr& c : conditions) all = all == nullptr ? c : all && c;
  return all;
}

Expr SelectIf(const Expr& condition, Expr if_true, Expr if_false) {
  if (condition == nullptr) return if_true;
  return te::Select(condition, std::move(if_true), std::move(if_false));
}

Expr ReduceOver(te::ReduceKind kind, Expr body, std::vector<te::Axis> axes, DType dtype) {
  if (axes.empty()) return te::Cast(std::move(body), dtype);
  return te::Reduce(kind, std::move(body), std::move(axes), dtype);
}

Expr LoadOnes(const te::Tensor& t, const Indices& indices) {
  const size_t skip = indices.size() - t->shape.size();
  Indices at;
  for (size_t d = 0; d < t->shape.size(); ++d) {
    at.push_back(t->shape[d].is_const(1) ? Int(0) : indices[skip + d]);
  }
  return te::Load(t, std::move(at));
}

te::Tensor WithHint(const te::Tensor& t, te::ScheduleHint hint, std::vector<te::Tensor> inputs) {
  auto node = std::make_shared<te::TensorNode>(*t);
  node->hint = hint;
  node->hint_inputs = std::move(inputs);
  return node;
}

// --- Windows ---

Result<Padding> ExpandPadding(const std::vector<int64_t>& padding, int spatial) {
  const size_t n = static_cast<size_t>(spatial);
  Padding result;
  if (padding.size() == 1) {
    result.before.assign(n, padding[0]);
    result.after = result.before;
  } else if (padding.size() == n) {
    result.before = result.after = padding;
  } else if (padding.size() == 2 * n) {
    result.before.assign(padding.begin(), padding.begin() + spatial);
    result.after.assign(padding.begin() + spatial, padding.end());
  } else {
    return Invalid("padding has {} values, expected 1, {} or {}", padding.size(), n, 2 * n);
  }
  return result;
}

Result<std::vector<int64_t>> ExpandSpatial(std::vector<int64_t> values, int spatial, int64_t least,
                                           std::string_view what) {
  if (values.size() == 1) values.assign(spatial, values[0]);
  if (values.size() != static_cast<size_t>(spatial)) {
    return Invalid("{} has {} values, expected {}", what, values.size(), spatial);
  }
  for (int64_t v : values) {
    if (v < least) return Invalid("{} holds {}, expected at least {}", what, v, least);
  }
  return values;
}

Dim WindowExtent(const Dim& in, int64_t pad, const Dim& kernel, int64_t stride, int64_t dilation) {
  const Dim dilated = (kernel - 1) * dilation + 1;
  return Dim::FloorDiv(in + pad - dilated, stride) + 1;
}

std::string_view SpatialLetters(int spatial) {
  constexpr std::string_view kLetters = "DHW";
  return kLetters.substr(3 - spatial);
}

}  // namespace relayvm::nn

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
  switch (dtype) {
    case DType::kFloat16:
      return te::FloatImm(-65504.0, dtype);
    case DType::kBFloat16:
      return te::FloatImm(-0x1.FEp127, dtype);
    case DType::kFloat32:
      return te::FloatImm(std::numeric_limits<float>::lowest(), dtype);
    case DType::kFloat64:
      return te::FloatImm(std::numeric_limits<double>::lowest(), dtype);
    case DType::kInt8:
      return te::IntImm(std::numeric_limits<int8_t>::min(), dtype);
    case DType::kInt16:
      return te::IntImm(std::numeric_limits<int16_t>::min(), dtype);
    case DType::kInt32:
      return te::IntImm(std::numeric_limits<int32_t>::min(), dtype);
    case DType::kInt64:
      return te::IntImm(std::numeric_limits<int64_t>::min(), dtype);
    default:
      return te::IntImm(0, dtype);
  }
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

// --- Layouts ---

Result<WindowLayout> WindowLayout::Parse(std::string_view text) {
  WindowLayout layout;
  int64_t factor = 0;
  for (char c : text) {
    if (c >= '0' && c <= '9') {
      factor = factor * 10 + (c - '0');
      if (factor > (1 << 30)) return Invalid("layout {}: the factor is too large", text);
      continue;
    }
    const bool capital = c >= 'A' && c <= 'Z';
    if (!capital && !(c >= 'a' && c <= 'z')) return Invalid("layout {}: '{}' is no axis", text, c);
    if (capital ? factor != 0 : factor == 0) {
      return Invalid("layout {}: a factor stands before a small letter, and only there", text);
    }
    const char axis = capital ? c : static_cast<char>(c - 'a' + 'A');
    for (const Part& p : layout.parts_) {
      if (capital && p.axis == axis && p.factor == 0) {
        return Invalid("layout {}: '{}' stands twice", text, c);
      }
    }
    layout.parts_.push_back({axis, factor});
    factor = 0;
  }
  if (factor != 0 || layout.parts_.empty()) return Invalid("layout \"{}\" is malformed", text);
  for (const Part& p : layout.parts_) {
    if (!layout.Has(p.axis)) return Invalid("layout {}: axis {} is split but absent", text, p.axis);
  }
  return layout;
}

int WindowLayout::Position(char axis) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].axis == axis && parts_[i].factor == 0) return static_cast<int>(i);
  }
  return -1;
}

int64_t WindowLayout::Factor(char axis) const {
  int64_t product = 1;
  for (const Part& p : parts_) {
    if (p.axis == axis && p.factor != 0) product *= p.factor;
  }
  return product;
}

Dim WindowLayout::Extent(char axis, const std::vector<Dim>& shape) const {
  return shape[Position(axis)] * Dim(Factor(axis));
}

Expr WindowLayout::Logical(char axis, const Indices& indices) const {
  Expr value = indices[Position(axis)];
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].axis != axis || parts_[i].factor == 0) continue;
    value = value * Int(parts_[i].factor) + indices[i];
  }
  return value;
}

std::vector<Dim> WindowLayout::Shape(const std::function<Dim(char)>& fn) const {
  std::vector<Dim> shape;
  for (const Part& p : parts_) {
    shape.push_back(p.factor != 0 ? Dim(p.factor) : Dim::FloorDiv(fn(p.axis), Factor(p.axis)));
  }
  return shape;
}

Indices WindowLayout::Physical(const std::function<Expr(char)>& fn) const {
  Indices at(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].factor != 0) continue;
    Expr rest = fn(parts_[i].axis);
    for (size_t j = parts_.size(); j-- > 0;) {  // innermost split first
      if (parts_[j].axis != parts_[i].axis || parts_[j].factor == 0) continue;
      at[j] = FloorModExpr(rest, Int(parts_[j].factor));
      rest = FloorDivExpr(rest, Int(parts_[j].factor));
    }
    at[i] = rest;
  }
  return at;
}

std::string WindowLayout::Capitals() const {
  std::string capitals;
  for (const Part& p : parts_) {
    if (p.factor == 0) capitals += p.axis;
  }
  return capitals;
}

Result<WindowLayout> ParseLayout(std::string_view text, std::string_view capitals,
                                 std::string_view what) {
  RELAYVM_ASSIGN_OR_RETURN(WindowLayout layout, WindowLayout::Parse(text));
  std::string got = layout.Capitals(), want(capitals);
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  if (got != want)
    return Invalid("{} is {}, expected an order of the axes {}", what, text, capitals);
  return layout;
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

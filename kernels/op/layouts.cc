#include "kernels/op/layouts.h"

#include <algorithm>

namespace relayvm {
namespace {

// The product of an axis' parts is at most this.
constexpr int64_t kMaxFactor = int64_t{1} << 31;

}  // namespace

Result<Layout> Layout::Parse(std::string_view text) {
  Layout layout;
  int64_t factor = 0;
  bool is_number = false;
  for (char c : text) {
    if (c >= '0' && c <= '9') {
      is_number = true;
      factor = factor * 10 + (c - '0');
      if (factor > kMaxFactor) return Invalid("layout \"{}\": a factor is too large", text);
      continue;
    }
    const bool upper = c >= 'A' && c <= 'Z';
    if (!upper && !(c >= 'a' && c <= 'z')) {
      return Invalid("layout \"{}\": '{}' is no axis", text, c);
    }
    if (upper ? is_number : factor == 0) {
      return Invalid(
          "layout \"{}\": a factor above 0 stands before a lower-case letter, and only "
          "there",
          text);
    }
    const char axis = upper ? c : static_cast<char>(c - 'a' + 'A');
    if (upper && layout.Has(c)) return Invalid("layout \"{}\": axis {} stands twice", text, c);
    if (!upper && layout.Factor(axis) > kMaxFactor / factor) {
      return Invalid("layout \"{}\": the factors of {} are too large", text, axis);
    }
    layout.parts_.push_back({axis, factor});
    factor = 0;
    is_number = false;
  }
  if (is_number) return Invalid("layout \"{}\" ends in a factor", text);
  if (layout.parts_.empty()) return Invalid("the layout is empty");
  for (const Part& p : layout.parts_) {
    if (!layout.Has(p.axis)) {
      return Invalid("layout \"{}\": axis {} has a part, but is absent", text, p.axis);
    }
  }
  return layout;
}

Result<Layout> Layout::Parse(std::string_view text, std::string_view axes, std::string_view what) {
  RELAYVM_ASSIGN_OR_RETURN(Layout layout, Parse(text));
  std::string found = layout.Axes();
  std::string expected(axes);
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  if (found == expected) return layout;
  return Invalid("{} is {}, expected an order of the axes {}", what, text, axes);
}

std::string Layout::ToString() const {
  std::string text;
  for (const Part& p : parts_) {
    if (p.factor != 0) text += std::to_string(p.factor);
    text += static_cast<char>(p.factor != 0 ? p.axis - 'A' + 'a' : p.axis);
  }
  return text;
}

std::string Layout::Axes() const {
  std::string axes;
  for (const Part& p : parts_) {
    if (p.factor == 0) axes += p.axis;
  }
  return axes;
}

int Layout::Position(char axis) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].axis == axis && parts_[i].factor == 0) return static_cast<int>(i);
  }
  return -1;
}

int64_t Layout::Factor(char axis) const {
  int64_t product = 1;
  for (const Part& p : parts_) {
    if (p.axis == axis && p.factor != 0) product *= p.factor;
  }
  return product;
}

Dim Layout::Extent(char axis, const std::vector<Dim>& shape) const {
  return shape[Position(axis)] * Dim(Factor(axis));
}

te::Expr Layout::Logical(char axis, const ExprList& indices) const {
  te::Expr value = indices[Position(axis)];
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].axis != axis || parts_[i].factor == 0) continue;
    value = value * Int(parts_[i].factor) + indices[i];
  }
  return value;
}

std::vector<Dim> Layout::Shape(const std::function<Dim(char)>& fn) const {
  std::vector<Dim> shape;
  for (const Part& p : parts_) {
    shape.push_back(p.factor != 0 ? Dim(p.factor) : Dim::FloorDiv(fn(p.axis), Factor(p.axis)));
  }
  return shape;
}

ExprList Layout::Physical(const std::function<te::Expr(char)>& fn) const {
  ExprList at(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].factor != 0) continue;
    te::Expr rest = fn(parts_[i].axis);
    for (size_t j = parts_.size(); j-- > 0;) {  // innermost part first
      if (parts_[j].axis != parts_[i].axis || parts_[j].factor == 0) continue;
      at[j] = FloorModExpr(rest, Int(parts_[j].factor));
      rest = FloorDivExpr(rest, Int(parts_[j].factor));
    }
    at[i] = rest;
  }
  return at;
}

Status Layout::CheckShape(TypeContext& ctx, const std::vector<Dim>& shape) const {
  if (static_cast<int>(shape.size()) != rank()) {
    return Invalid("the layout has {} dims, the data {}", rank(), shape.size());
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (parts_[i].factor == 0) continue;
    RELAYVM_RETURN_IF_ERROR(
        ctx.RequireEqual(shape[i], Dim(parts_[i].factor), "a factor of the layout"));
  }
  return OkStatus();
}

Result<std::vector<Dim>> TransformShape(TypeContext& ctx, const std::vector<Dim>& shape,
                                        const Layout& from, const Layout& to) {
  RELAYVM_RETURN_IF_ERROR(from.CheckShape(ctx, shape));
  for (char axis : from.Axes() + to.Axes()) {
    if (!from.Has(axis) || !to.Has(axis)) return Invalid("axis {} is missing in one layout", axis);
  }
  for (char axis : to.Axes()) {
    Dim extent = from.Extent(axis, shape);
    Dim factor(to.Factor(axis));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(Dim::FloorDiv(extent, factor) * factor, extent,
                                             "an axis must be a multiple of its factor"));
  }
  return to.Shape([&](char axis) { return from.Extent(axis, shape); });
}

te::Tensor TransformTensor(const te::Tensor& data, const Layout& from, const Layout& to,
                           const std::vector<Dim>& shape) {
  return te::Compute("layout_transform", shape, [&](const ExprList& i) {
    return te::Load(data, from.Physical([&](char axis) { return to.Logical(axis, i); }));
  });
}

}  // namespace relayvm

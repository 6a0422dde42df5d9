// Coordinates of an operand in terms of those of a product: expressions times and over dims, the
// coordinates of a row-major position, and axes replaced by expressions. Pure functions. Tested by
// contraction_test.cc.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/te/te.h"

namespace relayvm::codegen {

inline te::Expr Times(const te::Expr& e, const Dim& d) { return e * te::DimValue(d); }
inline te::Expr Quotient(const te::Expr& e, const Dim& d) {
  return te::Binary(te::BinaryOp::kDivide, e, te::DimValue(d));
}
inline te::Expr Remainder(const te::Expr& e, const Dim& d) {
  return te::Binary(te::BinaryOp::kMod, e, te::DimValue(d));
}

// The coordinates along `axes` of row-major position `flat`.
inline std::vector<te::Expr> Unflatten(const te::Expr& flat, const std::vector<te::Axis>& axes) {
  std::vector<te::Expr> result(axes.size());
  te::Expr rest = flat;
  for (size_t i = axes.size(); i-- > 0;) {
    if (i == 0) {
      result[i] = rest;
    } else {
      result[i] = Remainder(rest, axes[i]->extent);
      rest = Quotient(rest, axes[i]->extent);
    }
    if (axes[i]->extent.is_const(1)) result[i] = te::IntImm(0);
  }
  return result;
}

// How many positions the axes have.
inline Dim Extent(const std::vector<te::Axis>& axes) {
  std::vector<Dim> extents;
  extents.reserve(axes.size());
  for (const te::Axis& axis : axes) extents.push_back(axis->extent);
  return ProductOf(extents);
}

// What stands for axes in an expression.
struct Substitution {
  std::vector<te::Axis> axes;
  std::vector<te::Expr> values;

  void Add(const te::Axis& axis, te::Expr value) {
    axes.push_back(axis);
    values.push_back(std::move(value));
  }
  void Add(const std::vector<te::Axis>& from, const std::vector<te::Expr>& to) {
    for (size_t i = 0; i < from.size(); ++i) Add(from[i], to[i]);
  }
  te::Expr Apply(const te::Expr& e) const {
    return te::SubstituteAxes(e, [this](const te::Axis& axis) -> te::Expr {
      auto it = std::find(axes.begin(), axes.end(), axis);
      return it == axes.end() ? nullptr : values[it - axes.begin()];
    });
  }
};

}  // namespace relayvm::codegen

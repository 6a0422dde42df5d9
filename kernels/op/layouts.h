// Layout strings such as NCHW, NCHW8c or OIHW16i16o: one entry for each dim of a tensor. An
// upper-case letter is an axis; a lower-case letter behind a number is an inner part of the axis of
// that letter, with the number as its extent, outer parts first:
//
//   NCHW8c   n, c / 8, h, w, c % 8
//
// Tested by layouts_test.cc.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/op/op_helpers.h"

namespace relayvm {

class Layout {
 public:
  static Result<Layout> Parse(std::string_view text);
  // The same, where its axes are those of `axes` in any order. `what` is the attribute.
  static Result<Layout> Parse(std::string_view text, std::string_view axes, std::string_view what);

  std::string ToString() const;
  int rank() const { return static_cast<int>(parts_.size()); }
  // The axes in order: NCHW of NCHW8c.
  std::string Axes() const;
  bool Has(char axis) const { return Position(axis) >= 0; }
  // Of the upper-case letter; -1 when there is none.
  int Position(char axis) const;
  // The product of the parts of an axis; 1 when it has none.
  int64_t Factor(char axis) const;
  // The extent of an axis in a tensor of this shape.
  Dim Extent(char axis, const std::vector<Dim>& shape) const;
  // The index along an axis of the element at `indices`.
  te::Expr Logical(char axis, const ExprList& indices) const;
  // The shape, and the indices of an element, from what `fn` gives for each axis.
  std::vector<Dim> Shape(const std::function<Dim(char)>& fn) const;
  ExprList Physical(const std::function<te::Expr(char)>& fn) const;
  // States that `shape` is one of this layout: its rank, and the extents of its parts.
  Status CheckShape(TypeContext& ctx, const std::vector<Dim>& shape) const;
  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  struct Part {
    char axis;       // upper case
    int64_t factor;  // 0 for the upper-case letter itself
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts_;
};

// Checks that data of layout `from` can be brought into layout `to`, and gives the shape.
Result<std::vector<Dim>> TransformShape(TypeContext& ctx, const std::vector<Dim>& shape,
                                        const Layout& from, const Layout& to);
te::Tensor TransformTensor(const te::Tensor& data, const Layout& from, const Layout& to,
                           const std::vector<Dim>& shape);

}  // namespace relayvm

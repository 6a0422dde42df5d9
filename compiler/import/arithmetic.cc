#include "compiler/import/arithmetic.h"

#include <algorithm>
#include <span>

namespace relayvm::import {

// numpy's matmul: vectors are matrices of one row or column, leading dims broadcast.
Value MatMulOf(TypedBuilder& b, Value x, Value y, const ProductFn& product) {
  const auto multiply = [&](const Value& left, const Value& right, bool is_batch) {
    if (product) return product(left, right, is_batch);
    if (!is_batch) return b.Op("nn.matmul", {left, right});
    return b.Op("nn.batch_matmul", {left, right}, {{"transpose_b", false}});
  };
  if (x.rank() == 0 || y.rank() == 0) {
    b.Fail("expected operands of rank 1 or more");
    return x;
  }
  const bool row = x.rank() == 1, column = y.rank() == 1;
  if (row) x = b.ExpandDims(x, 0);
  if (column) y = b.ExpandDims(y, 1);
  Value out;
  if (y.rank() == 2) {
    // One product over all leading dims.
    const int rank = x.rank();
    const Value matrix =
        rank == 2 ? x : b.ReshapeTo(x, b.Concat({b.Ints({-1}), b.DimOf(x, -1)}, 0));
    out = multiply(matrix, y, false);
    if (rank > 2) {
      std::vector<Value> dims;
      for (int i = 0; i + 1 < rank; ++i) dims.push_back(b.DimOf(x, i));
      dims.push_back(b.DimOf(y, -1));
      out = b.ReshapeTo(out, b.Concat(dims, 0));
    }
  } else {
    const int rank = std::max(x.rank(), y.rank());
    x = b.ExpandDims(x, 0, rank - x.rank());
    y = b.ExpandDims(y, 0, rank - y.rank());
    if (rank == 3) {
      out = multiply(x, y, true);
    } else {
      // batch_matmul has one batch dim: leading dims are broadcast first, then merged.
      const auto merged = [&](const Value& v, const std::vector<Value>& lead) {
        std::vector<Value> dims = lead;
        dims.push_back(b.DimOf(v, -2));
        dims.push_back(b.DimOf(v, -1));
        Value full = v;
        bool same = true;
        for (int i = 0; i + 2 < rank; ++i) {
          auto want = b.Elements(lead[static_cast<size_t>(i)]);
          same &= want && (*want)[0] == v.dim(i);
        }
        if (!same) full = b.Op("dyn.broadcast_to", {v, b.Concat(dims, 0)});
        return b.ReshapeTo(full, b.Concat({b.Ints({-1}), b.DimOf(v, -2), b.DimOf(v, -1)}, 0));
      };
      std::vector<Value> lead;
      for (int i = 0; i + 2 < rank; ++i) {
        lead.push_back(x.dim(i) == Dim(1) ? b.DimOf(y, i)
                       : y.dim(i) == Dim(1) || x.dim(i) == y.dim(i)
                           ? b.DimOf(x, i)
                           : b.Op("maximum", {b.DimOf(x, i), b.DimOf(y, i)}));
      }
      const Value merged_product = multiply(merged(x, lead), merged(y, lead), true);
      lead.push_back(b.DimOf(x, -2));
      lead.push_back(b.DimOf(y, -1));
      out = b.ReshapeTo(merged_product, b.Concat(lead, 0));
    }
  }
  if (column) out = b.Squeeze(out, {-1});
  if (row) out = b.Squeeze(out, {column ? -1 : -2});
  return out;
}

Term Table(TypedBuilder& b, const std::vector<double>& values, const std::vector<int64_t>& shape,
           DType dtype) {
  HostTensor t{dtype, shape, {}};
  const auto fill = [&]<typename T>(T) {
    std::vector<T> elements;
    for (const double v : values) elements.push_back(static_cast<T>(v));
    t.data = SharedBytes::Copy(std::as_bytes(std::span(elements)));
  };
  if (dtype == DType::kFloat64) {
    fill(double{});
  } else if (dtype == DType::kInt32) {
    fill(int32_t{});
  } else {
    fill(float{});
  }
  return {b, b.Constant(std::move(t))};
}

}  // namespace relayvm::import

// Functions of small matrices. Tested by compiler/import/onnx/op_vision_test.cc
// and compiler/import/torch/op_function_test.cc.
#pragma once

#include <optional>

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

// Nullopt with an error, both of them. The determinants (..), by elimination: the pivot is the row
// with the largest first element. The extent is known and at most 64.
std::optional<Term> DeterminantOf(const Term& x);
// The inverses, by elimination of each column in turn from all other rows, beside the unit matrix.
std::optional<Term> InverseOf(const Term& x);

// --- Factors ---
// Of matrices one behind the other, (batch, m, n), float64 (StackedMatrices). Nullopt with an
// error. REQUIRES of all here: rank 3.

// `x` (.., m, n) so, and `y` back again: `axes` of what is behind the first axis, of x's dtype.
Term StackedMatrices(const Term& x);
Value Unstacked(const Term& x, const Term& y, int axes);
// (size, size), float64
Term UnitMatrix(const Term& size);

// By Householder's reflections, each of one column to the other side of 0: q (m, m) and r (m, n),
// or the first min(m, n) columns and rows of them.
struct QrFactors {
  Term q, r;
};
std::optional<QrFactors> QrOf(const Term& x, bool full);
// Of symmetric matrices: values (n) and vectors as columns, in order, by Jacobi's rotations.
struct EigenFactors {
  Term values, vectors;
};
std::optional<EigenFactors> EigenOf(const Term& x, bool descending);
// x = u diag(s) v', k = min(m, n) columns of u and v each: columns are turned until they are
// orthogonal (Hestenes), so that small values are as exact as large ones. Extents are known.
struct SingularFactors {
  Term u, s, v;
};
std::optional<SingularFactors> SingularOf(const Term& x);
// `rows`[i] is the row of x that row i of l u is; both stand in one matrix, l without its diagonal
// of ones. Swaps: (min(m, n)), the row that was taken in each turn, from 0.
struct LuFactors {
  Term both, rows, swaps;
};
std::optional<LuFactors> LuOf(const Term& x, bool pivot);

}  // namespace relayvm::import

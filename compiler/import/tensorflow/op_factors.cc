// Factors of matrices (.., m, n): orthogonal ones by Householder's reflections, eigenvalues of
// symmetric ones by Jacobi's rotations, singular values by those of x^T x, in float64.
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

using State = TypedBuilder::State;

// Matrices one behind the other, float64.
std::optional<Term> MatricesOf(NodeContext& n) {
  if (HasComplex(n)) return n.Unsupported("complex matrices");
  const Term x(n, 0);
  if (x.rank() < 2) return n.Fail("expected matrices, found rank {}", x.rank());
  TypedBuilder& b = n.b();
  return To(x.As(DType::kFloat64),
            {ProductOfDims(b, x, 0, x.rank() - 2), b.DimOf(x, -2), b.DimOf(x, -1)});
}
// Back: `axes` of what is behind the first axis, of the input's dtype.
Value As(NodeContext& n, const Term& y, int axes) {
  TypedBuilder& b = n.b();
  std::vector<Value> dims = DimsOf(b, n.Input(0), 0, n.Input(0).rank() - 2);
  for (int i = 0; i < axes; ++i) dims.push_back(b.DimOf(y, 1 + i));
  return To(y.As(n.Input(0).dtype()), dims);
}
// (size, size)
Term Unit(const Term& size) {
  return Equal(Range(size).Expand(1), Range(size)).As(DType::kFloat64);
}
Term Times(const Term& x, const Term& y) { return {x.b(), MatMulOf(x.b(), x, y)}; }
Term Transposed(const Term& x) { return x.Transpose({0, 2, 1}); }

// Each turn reflects one more column onto the diagonal, to the other side of 0.
Outputs Qr(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto x = MatricesOf(n);
  if (!x) return {};
  const Term rows = Extent(b, *x, 1), columns = Extent(b, *x, 2), least = Minimum(rows, columns);
  const Term place = Range(rows);
  const Term start = Unit(rows) + x->Slice(2, 0, 1) * 0.0;  // (n, m, m)
  const State last = b.While(
      {b.Int(0), *x, start}, [&](const State& s) { return Term(b, s[0]) < least; },
      [&](const State& s) -> State {
        const Term k(b, s[0]), r(b, s[1]), q(b, s[2]);
        const Term column = r.Take(k, 2);                // (n, m)
        const Term first = column.Take(k, 1).Expand(1);  // (n, 1)
        const Term below = Select(place > k, column, column.Number(0));
        const Term tail = Sum(below * below, {1});
        const Term norm = Sqrt(first * first + tail);
        const Term end = Select(tail > 0, Select(first >= 0, -norm, norm), first);
        const Term v = Select(Equal(place, k), first - end, below);
        const Term size = Sum(v * v, {1});
        const Term factor = Select(size > 0, size.Number(2) / size, size.Number(0)).Expand(2);
        const Term down = v.Expand(2), across = v.Expand(1);
        return {k + 1, r - factor * down * Sum(down * r, {1}),
                q - factor * Sum(q * across, {2}) * across};
      });
  if (!Ok(n) || last.size() != 3) return {};
  Term r(b, last[1]), q(b, last[2]);
  r = Select(place.Expand(1) <= Range(columns), r, r.Number(0));
  if (!n.Bool("full_matrices", false)) {
    r = r.Take(Range(least), 1);
    q = q.Take(Range(least), 2);
  }
  return {As(n, q, 2), As(n, r, 2)};
}

// Of symmetric matrices (n, s, s): values (n, s) and vectors as columns, in order.
struct Eigen {
  Term values, vectors;
};
std::optional<Eigen> EigenOf(NodeContext& n, const Term& x, bool descending) {
  TypedBuilder& b = n.b();
  constexpr int64_t kMost = 256, kSweeps = 12;
  const Dim extent = x.value().dim(1);
  if (!extent.is_const() || extent.value() < 1 || extent.value() > kMost)
    return n.Unsupported("matrices whose smaller extent is not known or above {}", kMost);
  std::vector<int64_t> firsts, seconds;
  for (int64_t p = 0; p < extent.value(); ++p) {
    for (int64_t q = p + 1; q < extent.value(); ++q) {
      firsts.push_back(p);
      seconds.push_back(q);
    }
  }
  const auto pairs = static_cast<int64_t>(firsts.size());
  const Term place(b, b.Ints(Iota(extent.value())));
  const Term start = x * 0.0 + Unit(Term(b, b.Int(extent.value())));
  State last = {b.Int(0), x, start};
  if (pairs > 0) {
    const Term p_of(b, b.Ints(firsts)), q_of(b, b.Ints(seconds));
    // A pair of rows or columns turned.
    const auto turned = [&](const Term& m, int axis, const Term& p, const Term& q, const Term& c,
                            const Term& s) {
      const Term own = m.Take(p, axis), other = m.Take(q, axis);
      const Term at = Along(place, axis, 3);
      return Select(Equal(at, p), (own * c - other * s).Expand(axis),
                    Select(Equal(at, q), (own * s + other * c).Expand(axis), m));
    };
    last = b.While(
        last, [&](const State& s) { return Term(b, s[0]) < static_cast<double>(pairs * kSweeps); },
        [&](const State& s) -> State {
          const Term step(b, s[0]), a(b, s[1]), v(b, s[2]);
          const Term at = step.Call("floor_mod", Term(b, b.Int(pairs)));
          const Term p = p_of.Take(at, 0), q = q_of.Take(at, 0);
          const Term row = a.Take(p, 1);
          const Term app = row.Take(p, 1), apq = row.Take(q, 1), aqq = a.Take(q, 1).Take(q, 1);
          const Term none = Equal(apq, 0);
          const Term tau = (aqq - app) / (Select(none, apq.Number(1), apq) * 2.0);
          const Term size = Abs(tau) + Sqrt(tau * tau + 1);
          const Term t = Select(none, apq, Select(tau < 0, tau.Number(-1), tau.Number(1)) / size);
          const Term c = (1.0 / Sqrt(t * t + 1)).Expand(1), sine = c * t.Expand(1);
          return {step + 1, turned(turned(a, 1, p, q, c, sine), 2, p, q, c, sine),
                  turned(v, 2, p, q, c, sine)};
        });
  }
  if (!Ok(n) || last.size() != 3) return std::nullopt;
  const Term unit = Unit(Term(b, b.Int(extent.value())));
  const Term values = (Term(b, last[1]) * unit).Over("sum", {2}, false);
  const Term order =
      values.Call("argsort", {{"axis", 1}, {"is_ascend", !descending}, {"dtype", "int64"}});
  const Term moved = Equal(place.Expand(1), order.Expand(1)).As(DType::kFloat64);  // (n, s, s)
  return Eigen{(values.Expand(2) * moved).Over("sum", {1}, false), Times(Term(b, last[2]), moved)};
}

Outputs SymmetricEigen(NodeContext& n) {
  const auto x = MatricesOf(n);
  if (!x) return {};
  if (Dim::ProvablyDifferent(x->value().dim(1), x->value().dim(2)))
    return n.Fail("expected square matrices");
  const auto found = EigenOf(n, *x, false);
  if (!found) return {};
  return {As(n, found->values, 1), As(n, found->vectors, 2)};
}

// The side that is not found as eigenvectors follows from the other one.
Outputs Svd(NodeContext& n) {
  const auto x = MatricesOf(n);
  if (!x) return {};
  const Dim rows = x->value().dim(1), columns = x->value().dim(2);
  if (!rows.is_const() || !columns.is_const())
    return n.Unsupported("matrices whose extents are not known");
  const bool wide = rows.value() < columns.value();
  const bool vectors = n.Bool("compute_uv", true);
  if (vectors && n.Bool("full_matrices", false) && rows != columns)
    return n.Unsupported("full_matrices of matrices that are not square");
  const Term flipped = Transposed(*x);
  const auto found = EigenOf(n, wide ? Times(*x, flipped) : Times(flipped, *x), true);
  if (!found) return {};
  const Term values = Sqrt(Maximum(found->values, found->values.Number(0)));
  if (!vectors) return {As(n, values, 1)};
  const Term divisor = Select(values > 0, values, values.Number(1)).Expand(1);
  const Term other = Times(wide ? flipped : *x, found->vectors) / divisor;
  const Value own = As(n, found->vectors, 2), derived = As(n, other, 2);
  return {As(n, values, 1), wide ? own : derived, wide ? derived : own};
}

constexpr OperatorDef kFactorOperators[] = {
    {"Qr", 1, 1, Qr, "q r"},
    {"SelfAdjointEigV2", 1, 1, SymmetricEigen, "e v"},
    {"Svd", 1, 1, Svd, "s u v"},
};

}  // namespace

std::span<const OperatorDef> FactorOperators() { return kFactorOperators; }

}  // namespace relayvm::import::tensorflow

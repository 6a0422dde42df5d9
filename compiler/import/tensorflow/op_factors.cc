// Factors of matrices (.., m, n): composite/matrices.h.
#include "compiler/import/composite/matrices.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

std::optional<Term> MatricesOf(NodeContext& n) {
  if (HasComplex(n)) return n.Unsupported("complex matrices");
  const Term x(n, 0);
  if (x.rank() < 2) return n.Fail("expected matrices, found rank {}", x.rank());
  return StackedMatrices(x);
}
Value As(NodeContext& n, const Term& y, int axes) { return Unstacked(Term(n, 0), y, axes); }

Outputs Qr(NodeContext& n) {
  const auto x = MatricesOf(n);
  if (!x) return {};
  const auto found = QrOf(*x, n.Bool("full_matrices", false));
  if (!found) return {};
  return {As(n, found->q, 2), As(n, found->r, 2)};
}

Outputs SymmetricEigen(NodeContext& n) {
  const auto x = MatricesOf(n);
  if (!x) return {};
  if (Dim::ProvablyDifferent(x->value().dim(1), x->value().dim(2)))
    return n.Fail("expected square matrices");
  const auto found = EigenOf(*x, false);
  if (!found) return {};
  return {As(n, found->values, 1), As(n, found->vectors, 2)};
}

Outputs Svd(NodeContext& n) {
  const auto x = MatricesOf(n);
  if (!x) return {};
  const bool vectors = n.Bool("compute_uv", true);
  if (vectors && n.Bool("full_matrices", false) && x->value().dim(1) != x->value().dim(2))
    return n.Unsupported("full_matrices of matrices that are not square");
  const auto found = SingularOf(*x);
  if (!found) return {};
  if (!vectors) return {As(n, found->s, 1)};
  return {As(n, found->s, 1), As(n, found->u, 2), As(n, found->v, 2)};
}

constexpr OperatorDef kFactorOperators[] = {
    {"Qr", 1, 1, Qr, "q r"},
    {"SelfAdjointEigV2", 1, 1, SymmetricEigen, "e v"},
    {"Svd", 1, 1, Svd, "s u v"},
};

}  // namespace

std::span<const OperatorDef> FactorOperators() { return kFactorOperators; }

}  // namespace relayvm::import::tensorflow

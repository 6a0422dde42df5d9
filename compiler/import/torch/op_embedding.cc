// Rows of tables: embeddings, and bags of them.
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/quantised.h"

namespace relayvm::import::torch {

namespace {

Results Embedding(Call& n) {
  TypedBuilder& b = n.b();
  const Term weight(n, 0);
  if (weight.rank() != 2) return n.Fail("weight: expected rank 2, found rank {}", weight.rank());
  const Value indices =
      b.Cast(n.Input(1), IsInt(n.Input(1).dtype()) ? n.Input(1).dtype() : DType::kInt64);
  return {weight.Take(Below({n, 1, "indices"}, indices, b.DimOf(weight, 0)), 0)};
}

// --- Bags ---

// Rows of a table in bags that begin at offsets: sums, means or the greatest.
struct Bags {
  Term rows;     // (indices, width)
  Term bag;      // of each index
  Term counted;  // whether it counts, (indices), bool
  Value count;   // bags, int64, rank 1
};

std::optional<Bags> ReadBags(const Call& n, const Term& weight) {
  TypedBuilder& b = n.b();
  const Value given = n.Input(1);
  const Term offsets = Term(n, 2).As(DType::kInt64);
  if (weight.rank() != 2 || given.rank() != 1 || offsets.rank() != 1)
    return n.Fail("expected a weight of rank 2, indices and offsets of rank 1");
  const Term indices(b, Below({n, 1, "indices"}, b.Cast(given, DType::kInt64), b.DimOf(weight, 0)));
  const bool last = n.Bool("include_last_offset");
  Term count(b, b.DimOf(offsets, 0));
  if (last) count = count - 1;
  const Term starts = last ? Term(b, Sliced(b, offsets, 0, b.Int(0), AsScalar(count))) : offsets;
  const Term bag = Term(b, b.Op("searchsorted", {starts, RangeOf(b, indices, 0)},
                                {{"right", true}, {"dtype", "int64"}})) -
                   1;
  Term counted = indices >= 0;
  int64_t padding = n.Int("padding_idx", -1);
  const Dim rows_of = weight.value().dim(0);
  if (n.overload() == "padding_idx" && n.Has("padding_idx") && padding < 0) {
    // From the end, where it is given.
    if (!rows_of.is_const()) return n.Unsupported("a negative padding_idx of weights of open size");
    padding += rows_of.value();
  }
  if (padding >= 0) counted = And(counted, Not(Equal(indices, static_cast<double>(padding))));
  Term rows = weight.Take(indices, 0);
  if (n.Has("per_sample_weights"))
    rows = rows * Term(n, n.Tensor("per_sample_weights")).As(rows.dtype()).Expand(1);
  return Bags{rows, Maximum(bag, bag.Number(0)), counted, count};
}

// What each bag makes of its rows by a reduction of scatter_elements, beginning with `first`.
Term Collected(const Bags& bags, const Term& rows, double first, const char* reduction) {
  TypedBuilder& b = rows.b();
  const Value start = Filled(b, first, rows.dtype(), b.Concat({bags.count, b.DimOf(rows, 1)}, 0));
  const Value at = BroadcastTo(b, bags.bag.Expand(1), b.ShapeOf(rows));
  return {b, b.Op("scatter_elements", {start, at, rows}, {{"axis", 0}, {"reduction", reduction}})};
}

// Beside the bags: of each index its bag, the bags' sizes, where the greatest came from.
Results EmbeddingBag(Call& n) {
  TypedBuilder& b = n.b();
  const Term weight(b, NumbersOf(b, n.Arg(size_t{0})));
  const auto bags = ReadBags(n, weight);
  const int64_t mode = n.Int("mode");
  if (!bags || !b.status().ok()) return {};
  if (mode < 0 || mode > 2) return n.Fail("mode: expected 0 to 2, found {}", mode);
  const Term ones = bags->counted.As(weight.dtype()).Expand(1);
  const Term sizes = Collected(*bags, ones, 0, "add");  // (bags, 1)
  const auto masked = [&](double otherwise) {
    return Select(bags->counted.Expand(1), bags->rows, bags->rows.Number(otherwise));
  };
  Term y = weight;
  if (mode == 2) {
    y = Collected(*bags, masked(-HUGE_VAL), -HUGE_VAL, "max");
    y = Select(sizes > 0, y, y.Number(0));
  } else {
    y = Collected(*bags, masked(0), 0, "add");
    if (mode == 1) y = y / Maximum(sizes, sizes.Number(1));
  }
  const Term size = Term(b, b.Squeeze(sizes, {1})).As(DType::kInt64);
  // Where the greatest came from is for gradients only: of each bag and column.
  if (mode == 2) return {y, bags->bag, size, y.Call("zeros_like").As(DType::kInt64)};
  return {y, bags->bag, size, size};
}

constexpr OperatorDef kEmbeddingOperators[] = {
    {"aten::embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool "
     "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
     Embedding},
    {"aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
     "per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, "
     "Tensor, Tensor)",
     EmbeddingBag},
    {"aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool "
     "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
     EmbeddingBag},
    {"aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
     "per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> "
     "(Tensor, Tensor, Tensor, Tensor)",
     EmbeddingBag},
    {"aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, "
     "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
     "per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> "
     "(Tensor, Tensor, Tensor, Tensor)",
     EmbeddingBag},
};

}  // namespace

OperatorTable EmbeddingOperators() { return kEmbeddingOperators; }

}  // namespace relayvm::import::torch

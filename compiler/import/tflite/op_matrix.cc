// Products of matrices. Weights of FULLY_CONNECTED are (outputs, inputs).
#include "compiler/import/composite/quantised.h"
#include "compiler/import/tflite/graph_importer.h"
#include "compiler/import/tflite/products.h"
#include "compiler/typing/op_typing.h"

namespace relayvm::import::tflite {

namespace {

// (rows, inputs) by (outputs, inputs), both floats, or the weights codes of 8 bits.
Term HybridDense(NodeContext& n, const Term& rows, bool has_zero) {
  TypedBuilder& b = n.b();
  const Value one = b.Scalar(1, DType::kFloat32), none = b.Int(0, DType::kInt8);
  const QuantisedRows q = QuantiseRows(rows, {1}, has_zero);
  Term sum =
      Term(b, b.Op("qnn.dense", {q.codes, n.Input(1), none, none, one, one})).As(DType::kFloat32);
  if (q.zero) {
    const Term weights = Term(n, 1).As(DType::kInt32).Over("sum", {1}, false);
    sum = sum - *q.zero * weights.As(DType::kFloat32);
  }
  return sum * q.scale * ScaleOf(b, n.In(1));
}

// Sums are rounded once.
std::optional<Value> DenseOfCodes(NodeContext& n, const Value& rows, fb::Activation activation) {
  TypedBuilder& b = n.b();
  const Value one = b.Scalar(1, DType::kFloat32);
  const Quantisation& q = n.In(1).quantisation;
  const Value w_zero = q.is_per_channel() ? b.Ints(q.zeros, n.Input(1).dtype())
                                          : b.Int(q.zero(), n.Input(1).dtype());
  const auto sum = [&](const Value& x, const Value& zero) -> std::optional<Value> {
    return b.Op("qnn.dense", {x, n.Input(1), zero, w_zero, one, one});
  };
  const Tensor &in = n.In(0), &out = n.Out();
  const bool is_scaled = q && IsQuantised(in) && IsQuantised(out);
  if (DTypeBytes(rows.dtype()) == 1 && is_scaled) {
    const auto total =
        sum(rows, b.Scalar(static_cast<double>(in.quantisation.zero()), rows.dtype()));
    Term y(b, *total);
    if (n.Has(2)) y = y + Term(n, 2).As(DType::kInt32);
    return CodesOf(TimesEachRoundedOnce(y, ProductFactors(in, n.In(1), out)), out, activation);
  }
  NodeContext flat = n.With(0, rows);
  return SummedCodes(flat, 0, 1, 2, sum, activation, WideRounding::kInDouble);
}

// The same with weights of which each block along a row has a scale: the file has them as a tensor.
// Rows are quantised with a zero point.
std::optional<Term> DenseOfBlocks(NodeContext& n, const Term& rows) {
  TypedBuilder& b = n.b();
  const auto* q = n.In(1).table->quantization();
  const auto* o = q == nullptr ? nullptr : q->details_as_BlockwiseQuantization();
  const auto scales = o == nullptr ? std::nullopt : n.importer().ConstantAt(o->scales());
  const Value w = n.Input(1);
  if (!scales || rows.dtype() != DType::kFloat32) return n.Unsupported("weights of such scales");
  const int64_t outputs = w.dim(0).is_const() ? w.dim(0).value() : 0, size = o->block_size();
  const int64_t inputs = w.dim(1).value();
  int64_t count = 1;
  for (int i = 0; i < scales->rank(); ++i) count *= scales->dim(i).value();
  if (size < 1 || inputs % size != 0 || outputs < 1 || count != outputs * (inputs / size)) {
    return n.Fail("{} scales of blocks of {}, weights of {} by {}", count, size, outputs, inputs);
  }
  const Term blocks = Term(b, w).As(DType::kFloat32).Reshape({outputs, inputs / size, size});
  const Term each = Term(b, *scales).As(DType::kFloat32).Reshape({outputs, inputs / size, 1});
  const QuantisedRows codes = QuantiseRows(rows, {1}, /*has_zero=*/true);
  const Term whole = codes.codes.As(DType::kFloat32) - *codes.zero;
  return whole.Call("nn.dense", (blocks * each).Reshape({outputs, inputs})) * codes.scale;
}

Outputs FullyConnected(NodeContext& given) {
  NodeContext n = given.With(1, SignedWeights(given, 0, 1));
  TypedBuilder& b = n.b();
  const auto& o = n.Get<fb::FullyConnectedOptions>();
  const Value w = n.Input(1);
  if (o.weights_format() != 0) return n.Unsupported("weights that are shuffled");
  if (w.rank() != 2 || !w.dim(1).is_const()) return n.Fail("expected weights of 2 dims");
  const Value x = n.Input(0);
  if (x.rank() == 0) return n.Fail("expected an input of 1 dim or more");
  const bool is_flat = x.rank() == 2 && x.dim(1) == w.dim(1);
  const Value rows = is_flat ? x : b.Reshape(x, {-1, w.dim(1).value()});
  Value y;
  if (IsQuantised(n.In(0)) && IsQuantised(n.Out())) {
    const auto codes = DenseOfCodes(n, rows, o.activation());
    if (!codes) return {};
    y = *codes;
  } else {
    Term sum(b, rows);
    if (n.In(1).is_of_blocks) {
      const auto dense = DenseOfBlocks(n, sum);
      if (!dense) return {};
      sum = *dense;
    } else if (IsHybrid(n, 0, 1)) {
      sum = HybridDense(n, sum, o.asymmetric_quantize_inputs());
    } else {
      sum = sum.Call("nn.dense", b.Cast(w, rows.dtype()));
    }
    if (n.Has(2)) sum = sum + Term(n, 2).As(sum.dtype());
    y = Activated(sum, o.activation());
  }
  if (!o.keep_num_dims() || is_flat) return {y};
  std::vector<Value> dims;
  for (int i = 0; i + 1 < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
  dims.push_back(b.DimOf(w, 0));
  return {ShapedAs(b, y, dims)};
}

// The last two axes swapped.
Value Adjoint(TypedBuilder& b, const Value& v, bool is) {
  if (!is) return v;
  std::vector<int64_t> axes = Iota(v.rank());
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return b.Transpose(v, axes);
}

Outputs BatchMatMul(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto& o = n.Get<fb::BatchMatMulOptions>();
  if (n.Input(0).rank() < 2 || n.Input(1).rank() < 2) return n.Fail("expected 2 dims or more");
  const Value x = Adjoint(b, n.Input(0), o.adj_x()), y = Adjoint(b, n.Input(1), o.adj_y());
  const Tensor &left = n.In(0), &right = n.In(1), &out = n.Out();
  if (IsQuantised(left) && IsQuantised(right) && IsQuantised(out)) {
    if (right.quantisation.is_per_channel()) return n.Unsupported("scales along an axis");
    const double factor = ProductFactors(left, right, out)[0];
    if (DTypeBytes(x.dtype()) == 1) {
      const auto zero = [&](const Tensor& t, const Value& v) {
        return b.Int(t.quantisation.zero(), v.dtype());
      };
      const Term sum = IntegerProduct(b, x, zero(left, x), y, zero(right, y));
      return {CodesOf(Times(sum, FactorOf(factor)), out)};
    }
    const DType wide = DType::kFloat64;  // holds such sums
    const Term sum(b, MatMulOf(b, b.Cast(x, wide), b.Cast(y, wide)));
    return {CodesOf(TimesWide(sum.As(DType::kInt64), {factor}), out)};
  }
  if (!IsHybrid(n, 0, 1)) return {MatMulOf(b, x, b.Cast(y, x.dtype()))};
  const QuantisedRows rows =
      QuantiseRows(Term(b, x), {x.rank() - 1}, o.asymmetric_quantize_inputs());
  Term sum = IntegerProduct(b, rows.codes, {}, y, {}).As(DType::kFloat32);
  if (rows.zero) {
    const Term columns = Term(b, y).As(DType::kInt32).Over("sum", {y.rank() - 2});
    sum = sum - *rows.zero * columns.As(DType::kFloat32);
  }
  return {sum * rows.scale * ScaleOf(b, right)};
}

}  // namespace

std::span<const OperatorDef> MatrixOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::FULLY_CONNECTED, 2, 3, FullyConnected, Options::FullyConnectedOptions},
      {Code::BATCH_MATMUL, 2, 2, BatchMatMul, Options::BatchMatMulOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite

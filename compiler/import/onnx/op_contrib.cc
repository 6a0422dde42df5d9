// com.microsoft: what ONNX Runtime's optimisers and quantisers write, but for attention
// (op_attention.cc).
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "compiler/import/onnx/normalise.h"
#include "compiler/import/onnx/quantised.h"

namespace relayvm::import {

using Outputs = std::vector<Value>;

namespace {

// --- Activations ---

Term GeluOf(const Term& x) { return x * 0.5 * ((x * std::sqrt(0.5)).Call("erf") + 1); }
Term TanhGelu(const Term& x) {
  return x * 0.5 *
         (((x + x * x * x * 0.044715) * std::sqrt(2 * std::numbers::inv_pi)).Call("tanh") + 1);
}
Term Biased(NodeContext& n) { return n.Has(1) ? Term(n, 0) + Term(n, 1) : Term(n, 0); }

Outputs BiasGelu(NodeContext& n) { return {GeluOf(Biased(n))}; }
Outputs FastGelu(NodeContext& n) { return {TanhGelu(Biased(n))}; }
Outputs QuickGelu(NodeContext& n) {
  const Term x(n, 0);
  return {x * (x * n.Float("alpha", 1.702)).Call("sigmoid")};
}
Outputs BiasSplitGelu(NodeContext& n) {
  const std::vector<Value> halves =
      n.b().Ops("split", {Biased(n)}, {{"indices_or_sections", 2}, {"axis", -1}});
  if (halves.size() < 2) return {};
  return {Term(n.b(), halves[0]) * GeluOf(Term(n.b(), halves[1]))};
}
Outputs BiasAdd(NodeContext& n) { return {Term(n, 0) + Term(n, 1) + Term(n, 2)}; }

// The activation that is fused into a node; a null node with an error for a name that is not known.
Value Activated(NodeContext& n, const Term& x, const std::string& name,
                const std::vector<double>& params) {
  const auto param = [&](size_t i, double fallback) {
    return i < params.size() ? params[i] : fallback;
  };
  if (name.empty() || name == "Identity") return x;
  if (name == "Relu") return x.Call("nn.relu");
  if (name == "Sigmoid") return x.Call("sigmoid");
  if (name == "Tanh") return x.Call("tanh");
  if (name == "LeakyRelu") return Select(x < 0, x * param(0, 0.01), x);
  if (name == "Clip") {
    return x.Call("clip", {{"a_min", param(0, -3.402823e38)}, {"a_max", param(1, 3.402823e38)}});
  }
  if (name == "HardSigmoid") {
    return (x * param(0, 0.2) + param(1, 0.5)).Call("clip", {{"a_min", 0.0}, {"a_max", 1.0}});
  }
  n.Unsupported(fmt::format("activation '{}' is not supported", name));
  return x;
}

// --- Products ---

Outputs FusedMatMul(NodeContext& n) {
  // With transBatch the first axis is the last but one, behind those of batches.
  const auto operand = [&](size_t i, const char* trans, const char* trans_batch) {
    Term x(n, i);
    if (n.Int(trans_batch, 0) != 0 && x.rank() > 2) {
      x = x.Transpose(AxisMoved(x.rank(), 0, x.rank() - 2));
    }
    if (n.Int(trans, 0) == 0 || x.rank() < 2) return x;
    return x.Transpose(AxisMoved(x.rank(), x.rank() - 1, x.rank() - 2));
  };
  const Term y(
      n.b(), MatMulOf(n, operand(0, "transA", "transBatchA"), operand(1, "transB", "transBatchB")));
  const double alpha = n.Float("alpha", 1);
  return {alpha == 1 ? y : y * alpha};
}

Outputs FusedGemm(NodeContext& n) {
  const Outputs y = n.As("Gemm", 13, n.inputs());
  if (y.empty()) return {};
  std::vector<double> params;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (n.HasAttr(name)) params.push_back(n.Float(name, 0));
  }
  return {Activated(n, {n.b(), y[0]}, n.String("activation", ""), params)};
}

Outputs FusedConv(NodeContext& n) {
  const Outputs y = n.As("Conv", 11, {n.Input(0), n.Input(1), n.Input(2)});
  if (y.empty()) return {};
  Term sum(n.b(), y[0]);
  if (n.Has(3)) sum = sum + Term(n, 3);
  return {Activated(n, sum, n.String("activation", ""), n.Floats("activation_params"))};
}

// x (n, .., c), w (o, .., i).
Outputs NhwcConv(NodeContext& n) {
  const Term x(n, 0), w(n, 1);
  if (x.rank() < 3 || w.rank() != x.rank()) return n.Fail("expected an input of rank 3 or more");
  const std::vector<int64_t> first = AxisMoved(x.rank(), x.rank() - 1, 1);
  const Outputs y = n.As("Conv", 11, {x.Transpose(first), w.Transpose(first), n.Input(2)});
  if (y.empty()) return {};
  return {Term(n.b(), y[0]).Transpose(AxisMoved(x.rank(), 1, x.rank() - 1))};
}

// Numbers of 2, 4 or 8 bits that the bytes of the last axis hold, the lowest bits first, as one axis.
Term Unpacked(const Term& packed, int64_t bits) {
  if (bits == 8) return packed;
  TypedBuilder& b = packed.b();
  const Term mask = packed.Number(static_cast<double>((1 << bits) - 1));
  std::vector<Value> parts, dims;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    const Term moved = packed.Call("right_shift", packed.Number(static_cast<double>(shift)));
    parts.push_back(moved.Call("bitwise_and", mask).Expand(packed.rank()));
  }
  for (int i = 0; i + 1 < packed.rank(); ++i) dims.push_back(b.DimOf(packed, i));
  dims.push_back(Term(b, b.DimOf(packed, -1)) * (8.0 / static_cast<double>(bits)));
  return {b, ShapedAs(b, b.Concat(parts, packed.rank()), dims)};
}

// Weights of 2, 4 or 8 bits, in blocks with one scale each: (n, blocks, bytes).
Outputs MatMulNBits(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int64_t bits = n.Int("bits", 4), block = n.Int("block_size", 0), columns = n.Int("N", 0),
                depth = n.Int("K", 0);
  if (bits != 2 && bits != 4 && bits != 8) return n.Unsupported("expected bits of 2, 4 or 8");
  if (block < 1 || columns < 1 || depth < 1 || block > (1 << 20) || depth > (int64_t{1} << 40)) {
    return n.Fail("expected positive K, N and block_size");
  }
  const int64_t blocks = (depth + block - 1) / block;
  if (n.Has(4)) {
    const Dim count = n.Input(4).dim(0);
    if (n.Input(4).rank() != 1 || (count.is_const() && count.value() < depth)) {
      return n.Fail(fmt::format("g_idx: expected a vector of {} numbers", depth));
    }
    for (int64_t g : b.ConstantInts(n.Input(4)).value_or(std::vector<int64_t>())) {
      if (g < 0 || g >= blocks) {
        return n.Fail(fmt::format("g_idx: expected 0 to {}, found {}", blocks - 1, g));
      }
    }
  }
  const Term x(n, 0);
  const auto unpack = [&](const Term& packed, const std::vector<int64_t>& shape) {
    return Unpacked(packed, bits).Reshape(shape);
  };
  const Term whole = unpack(Term(n, 1), {columns, blocks, -1}).Slice(2, 0, block);
  const Term scale = Term(n, 2).Reshape({columns, blocks, 1});
  Term zero = scale.Number(static_cast<double>(1 << (bits - 1)));
  if (n.Has(3)) {
    const Term given(n, 3);
    zero = IsFloat(given.dtype()) ? given.Reshape({columns, blocks, 1}).As(scale.dtype())
                                  : unpack(given.Reshape({columns, -1}), {columns, -1, 1})
                                        .Slice(1, 0, blocks)
                                        .As(scale.dtype());
  }
  const auto flat = [&](const Term& v) { return v.Reshape({columns, -1}).Slice(1, 0, depth); };
  const auto dequantised = [&] {
    if (!n.Has(4)) return flat((whole.As(scale.dtype()) - zero) * scale);
    // A row's scale is that of the block that g_idx names, and so its zero point.
    const Term named = Term(n, 4).Slice(0, 0, depth);
    const auto of_rows = [&](const Term& v) {
      return v.rank() == 0 ? v : v.Reshape({columns, blocks}).Take(named, 1);
    };
    return (flat(whole).As(scale.dtype()) - of_rows(zero)) * of_rows(scale);
  };
  const Term weight = dequantised().As(x.dtype());
  Term y(b, MatMulOf(n, x, weight.Transpose({1, 0})));
  if (n.Has(5)) y = y + Term(n, 5);
  return {y};
}

// Rows of a table that is quantised in blocks. Rows are taken first, so that the table stays as it
// is. Inputs: table, rows, scales, zero points.
Outputs GatherBlockQuantized(NodeContext& n) {
  const Term data(n, 0), rows(n, 1), scales(n, 2);
  const int64_t bits = n.Int("bits", 4), block = n.Count("block_size", 128);
  const int rank = data.rank();
  const int from = n.Axis(n.Int("gather_axis", 0), rank);
  const int along = n.Axis(n.Int("quantize_axis", 1), rank);
  if (!n.b().status().ok()) return {};
  // Bytes of which each holds several numbers, but for those of a type of few bits.
  const bool packed = data.dtype() == DType::kUInt8 && data.value().bits == 0;
  if (scales.rank() != rank || block < 1 || from == along ||
      (packed && ((bits != 2 && bits != 4 && bits != 8) || along != rank - 1))) {
    return n.Unsupported(
        "expected scales of the table's rank, blocks along another axis than rows (the last one of "
        "packed bytes), and bits of 2, 4 or 8");
  }
  const auto taken = [&](const Term& v, bool bytes) {
    const Term some = v.Take(rows, from);
    return bytes ? Unpacked(some, bits) : some;
  };
  const int at = along > from ? along + rows.rank() - 1 : along;
  const Term whole = taken(data, packed);
  // One number for each block, which may reach beyond the data.
  const auto spread = [&](const Term& v) {
    return v.Take(RangeOf(n.b(), whole, at) / static_cast<double>(block), at);
  };
  const Term scale = spread(taken(scales, false));
  Term y = whole.As(DType::kInt32);
  if (n.Has(3)) {
    y = y - spread(taken(Term(n, 3), packed)).As(DType::kInt32);
  } else if (packed) {
    y = y - static_cast<double>(1 << (bits - 1));
  }
  return {y.As(scale.dtype()) * scale};
}

// --- Normalisation ---

Outputs SkipNorm(NodeContext& n, bool simple) {
  Term sum = Term(n, 0) + Term(n, 1);
  const size_t bias = simple ? 3 : 4;
  if (n.Has(bias)) sum = sum + Term(n, bias);
  const double epsilon = n.Float("epsilon", simple ? 1e-5 : 1e-12);
  if (simple) {
    const Normalised norm = RmsNormOf(sum, {sum.rank() - 1}, epsilon);
    return {norm.y * Term(n, 2), norm.mean, norm.inverse, sum};
  }
  if (!n.WantsOutput(1) && !n.WantsOutput(2)) {
    return {ScaledLayerNorm(n, sum, n.Input(2), n.Input(3), epsilon), sum, sum, sum};
  }
  const Normalised norm = LayerNormOf(sum, {sum.rank() - 1}, epsilon);
  Term y = norm.y * Term(n, 2);
  if (n.Has(3)) y = y + Term(n, 3);
  return {y, norm.mean, norm.inverse, sum};
}
Outputs SkipLayerNormalization(NodeContext& n) { return SkipNorm(n, false); }
Outputs SkipSimplifiedLayerNormalization(NodeContext& n) { return SkipNorm(n, true); }

// Inputs: words, segments, tables of words, positions and segments, scale, bias, mask, positions.
Outputs EmbedLayerNormalization(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term words(n, 0);
  if (words.rank() != 2) return n.Fail("input_ids: expected (batch, length)");
  const Term place = n.Has(8) ? Term(n, 8) : RangeOf(b, words, 1);
  Term sum = Term(n, 2).Take(words, 0) + Term(n, 3).Take(place, 0);
  if (n.Has(1) && n.Has(4)) sum = sum + Term(n, 4).Take(n.Input(1), 0);
  const Value y = ScaledLayerNorm(n, sum, n.Input(5), n.Input(6), n.Float("epsilon", 1e-12));
  const Value lengths = n.Has(7) ? Term(n, 7).As(DType::kInt32).Over("sum", {1}, false).value()
                                 : Filled(b, 0, DType::kInt32, b.DimOf(words, 0));
  return {y, lengths, sum};
}

// --- Quantised ---

Outputs QLinearAdd(NodeContext& n) {
  const Term left = DequantisedInput(n, 0, 1, 2), right = DequantisedInput(n, 3, 4, 5);
  return {QuantisedOutput(n, left + right, 6, 7, n.Input(0).dtype())};
}
Outputs QLinearMul(NodeContext& n) {
  const Term product =
      ShiftedBy(n, n.Input(0), n.Input(2), 0) * ShiftedBy(n, n.Input(3), n.Input(5), 0);
  const auto scale = [&](size_t i) { return AsScalar(Term(n, i)); };
  const DType dtype = n.Has(7) ? n.Input(7).dtype() : n.Input(0).dtype();
  return {Requantised(product, scale(1) * scale(4) / scale(6), OptionalScalar(n, 7), dtype)};
}

Outputs QLinearWhere(NodeContext& n) {
  const Term left = DequantisedInput(n, 1, 2, 3), right = DequantisedInput(n, 4, 5, 6);
  return {QuantisedOutput(n, Select(Term(n, 0), left, right), 7, 8, n.Input(1).dtype())};
}
Outputs QLinearSigmoid(NodeContext& n) {
  const Term y = DequantisedInput(n, 0, 1, 2).Call("sigmoid");
  return {QuantisedOutput(n, y, 3, 4, n.Input(0).dtype())};
}
Outputs QLinearLeakyRelu(NodeContext& n) {
  const Term x = DequantisedInput(n, 0, 1, 2);
  return {
      QuantisedOutput(n, Select(x < 0, x * n.Float("alpha", 0.01), x), 3, 4, n.Input(0).dtype())};
}

Outputs QLinearSoftmax(NodeContext& n) {
  const Outputs y =
      n.As("Softmax", static_cast<int>(n.Int("opset", 13)), {DequantisedInput(n, 0, 1, 2)});
  if (y.empty()) return {};
  return {QuantisedOutput(n, {n.b(), y[0]}, 3, 4, n.Input(0).dtype())};
}

// Scale and zero point of the result, then three inputs for each part.
Outputs QLinearConcat(NodeContext& n) {
  if (n.num_inputs() < 5 || (n.num_inputs() - 2) % 3 != 0) {
    return n.Fail("expected data, scale and zero point of each part");
  }
  std::vector<Value> parts;
  for (size_t i = 2; i < n.num_inputs(); i += 3) {
    parts.push_back(DequantisedInput(n, i, i + 1, i + 2));
  }
  const int axis = n.Axis(n.Int("axis", 0), parts[0].rank());
  const Term y(n.b(), n.b().Concat(parts, axis));
  return {QuantisedOutput(n, y, 0, 1, n.Input(2).dtype())};
}

// Pools; with channels_last the channels move and come back.
Outputs QLinearPool(NodeContext& n, std::string_view op) {
  Term x = DequantisedInput(n, 0, 1, 2);
  const bool last = n.Int("channels_last", 0) != 0 && x.rank() > 2;
  if (last) x = x.Transpose(AxisMoved(x.rank(), x.rank() - 1, 1));
  const Outputs pooled = n.As(op, 11, {x});
  if (pooled.empty()) return {};
  Term y(n.b(), pooled[0]);
  if (last) y = y.Transpose(AxisMoved(y.rank(), 1, y.rank() - 1));
  return {QuantisedOutput(n, y, 3, 4, n.Input(0).dtype())};
}
Outputs QLinearAveragePool(NodeContext& n) { return QLinearPool(n, "AveragePool"); }
Outputs QLinearGlobalAveragePool(NodeContext& n) { return QLinearPool(n, "GlobalAveragePool"); }

// A scale where the result has it: one for each column, or one for all.
Term ColumnScale(NodeContext& n, size_t i) {
  const Term s(n, i);
  return s.rank() == 1 && !s.value().dim(0).is_const(1) ? s : AsScalar(s);
}

Outputs DynamicQuantizeMatMul(NodeContext& n) {
  const DynamicallyQuantised q = QuantiseDynamically(Term(n, 0));
  const Term sum = IntegerProduct(n, q.data, q.zero_point, n.Input(1), n.Input(3));
  const Term y = sum.As(DType::kFloat32) * (q.scale * ColumnScale(n, 2));
  return {n.Has(4) ? y + Term(n, 4) : y};
}

Outputs MatMulIntegerToFloat(NodeContext& n) {
  const Term sum = IntegerProduct(n, n.Input(0), n.Input(4), n.Input(1), n.Input(5));
  const Term y = sum.As(DType::kFloat32) * (ColumnScale(n, 2) * ColumnScale(n, 3));
  return {n.Has(6) ? y + Term(n, 6) : y};
}

Outputs MatMulInteger16(NodeContext& n) {
  return {IntegerProduct(n, n.Input(0), {}, n.Input(1), {})};
}

// Inputs: a, w with scale and zero point each, the int32 bias, scale and zero point of the result.
Outputs QGemm(NodeContext& n) {
  const auto operand = [&](size_t i, const char* attr) {
    const Term x(n, i);
    return n.Int(attr, 0) != 0 && x.rank() == 2 ? x.Transpose({1, 0}) : x;
  };
  Term sum = IntegerProduct(n, operand(0, "transA"), n.Input(2), operand(3, "transB"), n.Input(5));
  if (n.Has(6)) sum = sum + Term(n, 6);
  const Term y =
      sum.As(DType::kFloat32) * (AsScalar(Term(n, 1)) * ColumnScale(n, 4) * n.Float("alpha", 1));
  if (!n.Has(7)) return {y};
  return {QuantisedOutput(n, y, 7, 8, n.Input(0).dtype())};
}

// --- The rest ---

Outputs ExpandDims(NodeContext& n) {
  const auto axis = n.ConstantInts(1, "axis");
  if (!axis || axis->size() != 1) return {};
  return {Term(n, 0).Expand(n.Axis((*axis)[0], n.Input(0).rank() + 1))};
}

// Distances between the rows of two matrices.
Outputs CDist(NodeContext& n) {
  const Term d = Term(n, 0).Expand(1) - Term(n, 1).Expand(0);
  const Term squares = (d * d).Over("sum", {2}, false);
  const std::string metric = n.String("metric", "sqeuclidean");
  if (metric == "sqeuclidean") return {squares};
  if (metric == "euclidean") return {Sqrt(squares)};
  return n.Unsupported(fmt::format("metric '{}' is not supported", metric));
}

Outputs Pad(NodeContext& n) { return n.As("Pad", 18, n.inputs()); }
Outputs Trilu(NodeContext& n) { return n.As("Trilu", 14, n.inputs()); }

constexpr OperatorDef kOperators[] = {
    {"BiasAdd", 3, 3, BiasAdd, 1, kMicrosoft},
    {"BiasGelu", 2, 2, BiasGelu, 1, kMicrosoft},
    {"BiasSplitGelu", 2, 2, BiasSplitGelu, 1, kMicrosoft},
    {"CDist", 2, 2, CDist, 1, kMicrosoft},
    {"DynamicQuantizeMatMul", 3, 5, DynamicQuantizeMatMul, 1, kMicrosoft},
    {"EmbedLayerNormalization", 7, 9, EmbedLayerNormalization, 1, kMicrosoft},
    {"ExpandDims", 2, 2, ExpandDims, 1, kMicrosoft},
    {"FastGelu", 1, 2, FastGelu, 1, kMicrosoft},
    {"FusedConv", 2, 4, FusedConv, 1, kMicrosoft},
    {"FusedGemm", 2, 3, FusedGemm, 1, kMicrosoft},
    {"FusedMatMul", 2, 2, FusedMatMul, 1, kMicrosoft},
    {"GatherBlockQuantized", 3, 4, GatherBlockQuantized, 1, kMicrosoft},
    {"Gelu", 1, 1, BiasGelu, 1, kMicrosoft},
    {"MatMulInteger16", 2, 2, MatMulInteger16, 1, kMicrosoft},
    {"MatMulIntegerToFloat", 4, 7, MatMulIntegerToFloat, 1, kMicrosoft},
    {"MatMulNBits", 3, 6, MatMulNBits, 1, kMicrosoft},
    {"NhwcConv", 2, 3, NhwcConv, 1, kMicrosoft},
    {"Pad", 2, 4, Pad, 1, kMicrosoft},
    {"QGemm", 6, 9, QGemm, 1, kMicrosoft},
    {"QLinearAdd", 7, 8, QLinearAdd, 1, kMicrosoft},
    {"QLinearAveragePool", 4, 5, QLinearAveragePool, 1, kMicrosoft},
    {"QLinearConcat", 5, -1, QLinearConcat, 1, kMicrosoft},
    {"QLinearGlobalAveragePool", 4, 5, QLinearGlobalAveragePool, 1, kMicrosoft},
    {"QLinearLeakyRelu", 4, 5, QLinearLeakyRelu, 1, kMicrosoft},
    {"QLinearMul", 7, 8, QLinearMul, 1, kMicrosoft},
    {"QLinearSigmoid", 4, 5, QLinearSigmoid, 1, kMicrosoft},
    {"QLinearSoftmax", 4, 5, QLinearSoftmax, 1, kMicrosoft},
    {"QLinearWhere", 8, 9, QLinearWhere, 1, kMicrosoft},
    {"QuickGelu", 1, 1, QuickGelu, 1, kMicrosoft},
    {"SkipLayerNormalization", 3, 5, SkipLayerNormalization, 1, kMicrosoft},
    {"SkipSimplifiedLayerNormalization", 3, 4, SkipSimplifiedLayerNormalization, 1, kMicrosoft},
    {"Trilu", 1, 2, Trilu, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> ContribOperators() { return kOperators; }

}  // namespace relayvm::import

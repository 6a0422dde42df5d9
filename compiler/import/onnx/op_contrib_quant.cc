// com.microsoft: weights of few bits and quantised numbers, as ONNX Runtime's quantisers write
// them.
#include <fmt/format.h>

#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/learn.h"
#include "compiler/import/onnx/quantised.h"

namespace relayvm::import {

namespace {

// --- Weights of few bits ---

// Numbers of 2, 4 or 8 bits that the bytes of the last axis hold, the lowest bits first, as one
// axis.
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

// g_idx of MatMulNBits: for each row of the weights its block; checked when the program runs where
// it is no constant. Nullopt and an error for what can't be one.
std::optional<Term> NamedBlocks(NodeContext& n, int64_t depth, int64_t blocks) {
  TypedBuilder& b = n.b();
  const Term given(n, 4);
  if (given.rank() != 1 ||
      (given.value().dim(0).is_const() && given.value().dim(0).value() < depth)) {
    return n.Fail("g_idx: expected a vector of {} numbers", depth);
  }
  Term named = given.Slice(0, 0, depth);
  const auto known = b.ConstantInts(given);
  if (!known) {
    const Term inside = And(named >= 0, named < static_cast<double>(blocks));
    return Term(b, InRange(b, inside.Over("all", {0}, false), named));
  }
  for (const int64_t g : *known) {
    if (g >= 0 && g < blocks) continue;
    return n.Fail("g_idx: expected 0 to {}, found {}", blocks - 1, g);
  }
  return named;
}

// Weights of 2, 4 or 8 bits, in blocks with one scale each: (n, blocks, bytes).
Outputs MatMulNBits(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int64_t bits = n.Int("bits", 4), block = n.Int("block_size", 0), columns = n.Count("N", 0),
                depth = n.Count("K", 0);
  if (bits != 2 && bits != 4 && bits != 8) return n.Unsupported("expected bits of 2, 4 or 8");
  if (block < 1 || columns < 1 || depth < 1 || block > (1 << 20))
    return n.Fail("expected positive K, N and block_size");
  const int64_t blocks = (depth + block - 1) / block;
  std::optional<Term> named;  // by row: its block
  if (n.Has(4)) {
    named = NamedBlocks(n, depth, blocks);
    if (!named) return {};
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
    if (!named) return flat((whole.As(scale.dtype()) - zero) * scale);
    // A row's scale is that of the block that g_idx names, and so its zero point.
    const auto of_rows = [&](const Term& v) {
      return v.rank() == 0 ? v : v.Reshape({columns, blocks}).Take(*named, 1);
    };
    return (flat(whole).As(scale.dtype()) - of_rows(zero)) * of_rows(scale);
  };
  // Constant weights stay as they are: kernels read blocks of such sizes.
  const auto& bytes = n.Input(1).constant;
  const int64_t block_bytes = block * bits / 8;
  const bool stays = !named && bits >= 4 && block >= 16 && block <= 256 &&
                     (block & (block - 1)) == 0 && x.dtype() == DType::kFloat32 && x.rank() > 0 &&
                     scale.dtype() == DType::kFloat32 && bytes != nullptr &&
                     bytes->dtype == DType::kUInt8 &&
                     bytes->size() == columns * blocks * block_bytes && n.Input(2).constant &&
                     (!n.Has(3) || n.Input(3).constant);
  Value product;
  if (stays) {
    std::vector<Value> args = {x, Term(n, 1).Reshape({columns, blocks, block_bytes}),
                               scale.Reshape({columns, blocks})};
    if (n.Has(3)) args.push_back(zero.Reshape({columns, blocks}));
    product = b.Op("nn.contrib_dense_nbits", args, {{"bits", bits}, {"in_units", depth}});
  } else {
    const Term weight = dequantised().As(x.dtype());
    product = MatMulOf(n, x, weight.Transpose({1, 0}));
  }
  Term y(b, product);
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
  const Value places = FromFront({n, 1, "indices"}, rows, n.b().DimOf(data, from));
  const auto taken = [&](const Term& v, bool bytes) {
    const Term some = v.Take(places, from);
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

// Weights (n, k) as one vector of 4-bit codes, the high ones of each byte first, in blocks with one
// scale each.
Outputs MatMulBnb4(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int64_t block = n.Count("block_size", 0), columns = n.Count("N", 0),
                depth = n.Count("K", 0);
  const bool normal = n.Int("quant_type", 1) != 0;
  if (block < 1 || columns < 1 || depth < 1) return n.Fail("expected positive K, N and block_size");
  if (n.Int("transB", 1) == 0) return n.Unsupported("transB=0 is not supported");
  // What the codes stand for: parts of a block's largest number.
  static const std::vector<double> kFloats = {
      0, 0.005208333333,  2.0 / 3,  1,  1.0 / 3,  0.5,  1.0 / 6,  0.25,
      0, -0.005208333333, -2.0 / 3, -1, -1.0 / 3, -0.5, -1.0 / 6, -0.25};
  static const std::vector<double> kNormal = {-1.0,
                                              -0.6961928009986877,
                                              -0.5250730514526367,
                                              -0.39491748809814453,
                                              -0.28444138169288635,
                                              -0.18477343022823334,
                                              -0.09105003625154495,
                                              0.0,
                                              0.07958029955625534,
                                              0.16093020141124725,
                                              0.24611230194568634,
                                              0.33791524171829224,
                                              0.44070982933044434,
                                              0.5626170039176941,
                                              0.7229568362236023,
                                              1.0};
  const Term packed = Term(n, 1).Reshape({-1});
  const Term high = packed.Call("right_shift", packed.Number(4));
  const Term low = packed.Call("bitwise_and", packed.Number(15));
  const Term codes(b, b.Concat({high.Expand(1), low.Expand(1)}, 1));
  const int64_t count = columns * depth, blocks = (count + block - 1) / block;
  const Term values = Table(b, normal ? kNormal : kFloats, {16}).Take(codes.Reshape({-1}), 0);
  const Term place = Term(b, b.Ints({blocks * block})).Reshape({});
  const Term scale = Term(n, 2).Reshape({-1}).Take(Range(place) / static_cast<double>(block), 0);
  const Term weight = (values.Slice(0, 0, count) * scale.Slice(0, 0, count).As(values.dtype()))
                          .Reshape({columns, depth})
                          .As(n.Input(0).dtype());
  return {MatMulOf(n, n.Input(0), weight.Transpose({1, 0}))};
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
  if (n.num_inputs() < 5 || (n.num_inputs() - 2) % 3 != 0)
    return n.Fail("expected data, scale and zero point of each part");
  std::vector<Value> parts;
  for (size_t i = 2; i < n.num_inputs(); i += 3) {
    parts.push_back(DequantisedInput(n, i, i + 1, i + 2));
  }
  const int axis = n.Axis(n.Int("axis", 0), parts[0].rank());
  const Term y(n.b(), n.b().Concat(parts, axis));
  return {QuantisedOutput(n, y, 0, 1, n.Input(2).dtype())};
}

// Pools; with channels_last the channels move and come back.
template <OpName kPool>
Outputs QLinearPool(NodeContext& n) {
  Term x = DequantisedInput(n, 0, 1, 2);
  const bool last = n.Int("channels_last", 0) != 0 && x.rank() > 2;
  if (last) x = x.Transpose(AxisMoved(x.rank(), x.rank() - 1, 1));
  const Outputs pooled = n.As(kPool.chars, 11, {x});
  if (pooled.empty()) return {};
  Term y(n.b(), pooled[0]);
  if (last) y = y.Transpose(AxisMoved(y.rank(), 1, y.rank() - 1));
  return {QuantisedOutput(n, y, 3, 4, n.Input(0).dtype())};
}

Outputs QLinearReduceMean(NodeContext& n) {
  const Term x = DequantisedInput(n, 0, 1, 2);
  const std::vector<int64_t> axes = n.Axes(n.Ints("axes", Iota(x.rank())), x.rank());
  const Term mean = x.Over("mean", axes, n.Int("keepdims", 1) != 0);
  return {QuantisedOutput(n, mean, 3, 4, n.Input(0).dtype())};
}

// Of ai.onnx, but that channels may come last.
Outputs ContribQLinearConv(NodeContext& n) {
  std::vector<Value> inputs = n.inputs();
  const Term x(n, 0);
  const bool last = n.Int("channels_last", 0) != 0 && x.rank() > 2;
  if (last) inputs[0] = x.Transpose(AxisMoved(x.rank(), x.rank() - 1, 1));
  Outputs y = n.As("QLinearConv", 10, inputs);
  if (y.empty() || !last) return y;
  return {Term(n.b(), y[0]).Transpose(AxisMoved(x.rank(), 1, x.rank() - 1))};
}

// Inputs: numbers and their zero points, which may be left out.
Outputs MulInteger(NodeContext& n) {
  return {ShiftedBy(n, n.Input(0), n.Input(1), 0) * ShiftedBy(n, n.Input(2), n.Input(3), 0)};
}
Outputs ReduceSumInteger(NodeContext& n) {
  const Term x(n, 0);
  const std::vector<int64_t> axes = n.Axes(n.Ints("axes"), x.rank());
  const Term wide = x.As(x.dtype() == DType::kUInt8 ? DType::kUInt32 : DType::kInt32);
  return {wide.Over("sum", axes, n.Int("keepdims", 1) != 0)};
}

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

constexpr OperatorDef kContribQuantOperators[] = {
    {"DynamicQuantizeMatMul", 3, 5, DynamicQuantizeMatMul, 1, kMicrosoft},
    {"GatherBlockQuantized", 3, 4, GatherBlockQuantized, 1, kMicrosoft},
    {"MatMulBnb4", 3, 3, MatMulBnb4, 1, kMicrosoft},
    {"MatMulInteger16", 2, 2, MatMulInteger16, 1, kMicrosoft},
    {"MatMulIntegerToFloat", 4, 7, MatMulIntegerToFloat, 1, kMicrosoft},
    {"MatMulNBits", 3, 6, MatMulNBits, 1, kMicrosoft},
    {"MulInteger", 3, 4, MulInteger, 1, kMicrosoft},
    {"QGemm", 6, 9, QGemm, 1, kMicrosoft},
    {"QLinearAdd", 7, 8, QLinearAdd, 1, kMicrosoft},
    {"QLinearAveragePool", 4, 5, QLinearPool<"AveragePool">, 1, kMicrosoft},
    {"QLinearConcat", 5, -1, QLinearConcat, 1, kMicrosoft},
    {"QLinearConv", 8, 9, ContribQLinearConv, 1, kMicrosoft},
    {"QLinearGlobalAveragePool", 4, 5, QLinearPool<"GlobalAveragePool">, 1, kMicrosoft},
    {"QLinearLeakyRelu", 4, 5, QLinearLeakyRelu, 1, kMicrosoft},
    {"QLinearMul", 7, 8, QLinearMul, 1, kMicrosoft},
    {"QLinearReduceMean", 4, 5, QLinearReduceMean, 1, kMicrosoft},
    {"QLinearSigmoid", 4, 5, QLinearSigmoid, 1, kMicrosoft},
    {"QLinearSoftmax", 4, 5, QLinearSoftmax, 1, kMicrosoft},
    {"QLinearWhere", 8, 9, QLinearWhere, 1, kMicrosoft},
    {"ReduceSumInteger", 1, 1, ReduceSumInteger, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> ContribQuantOperators() { return kContribQuantOperators; }

}  // namespace relayvm::import

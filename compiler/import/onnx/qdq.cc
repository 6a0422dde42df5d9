// DequantizeLinear, a node, QuantizeLinear: the node on integers.
//
// Products are sums of integers, which one float32 factor brings to the scale of the result,
// rounded halves to even: what QLinearConv and QLinearMatMul state. What moves elements, and
// maxima, keep the integers. The float nodes stay in the graph for whoever else reads them.
#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/import/onnx/quantised.h"
#include "compiler/ir/scalar.h"

namespace relayvm::import {

namespace {

// Nodes between DequantizeLinear and its use.
constexpr int kMostMoves = 16;

// A real tensor as scale * (data - zero point). Scales have rank 0, or 1: along `axis`.
struct Integers {
  Value data, scale, zero_point;
  int axis = 0;
};

bool IsOneOf(std::string_view op, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), op) != all.end();
}

// Elements of the first input alone, in other places; or the greatest of some.
bool Moves(NodeContext& n) {
  if (n.op_type() == "Resize") return n.String("mode", "nearest") == "nearest";
  if (n.op_type() == "MaxPool") return !n.WantsOutput(1);
  return IsOneOf(n.op_type(),
                 {"DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice",
                  "SpaceToDepth", "Squeeze", "Tile", "Transpose", "Unsqueeze"});
}

Value ScalarWhereOne(TypedBuilder& b, const Value& v) {
  return v && v.rank() == 1 && v.dim(0).is_const(1) ? b.Reshape(v, {}) : v;
}

std::optional<Integers> IntegersOf(NodeContext& n, const Value& v, int depth = 0) {
  TypedBuilder& b = n.b();
  auto origin = n.OriginOf(v);
  if (!origin || depth > kMostMoves || !b.status().ok()) return std::nullopt;
  if (origin->op_type() == "DequantizeLinear") {
    Integers q{origin->Input(0), ScalarWhereOne(b, origin->Input(1)),
               ScalarWhereOne(b, origin->Input(2))};
    const DType dtype = q.data.dtype();
    const bool narrow = IsInt(dtype) && (DTypeBytes(dtype) == 1 || dtype == DType::kInt32);
    if (!narrow || q.scale.dtype() != DType::kFloat32 || q.scale.rank() > 1 ||
        origin->Int("block_size", 0) != 0 || v.dtype() != DType::kFloat32 ||
        (q.zero_point && q.zero_point.rank() != q.scale.rank())) {
      return std::nullopt;
    }
    q.axis = q.scale.rank() == 0 ? 0 : origin->Axis(origin->Int("axis", 1), q.data.rank());
    return q;
  }
  if (!Moves(*origin)) return std::nullopt;
  auto q = IntegersOf(n, origin->Input(0), depth + 1);
  if (!q || q->scale.rank() != 0 || q->data.dtype() == DType::kInt32) return std::nullopt;
  std::vector<Value> inputs = origin->inputs();
  inputs[0] = q->data;
  const std::vector<Value> moved =
      origin->As(origin->op_type(), origin->opset(), std::move(inputs));
  if (moved.empty() || !moved[0]) return std::nullopt;
  q->data = moved[0];
  return q;
}

// The same value, or equal constants; none is 0.
bool SameNumber(const Value& x, const Value& y) {
  const auto zero = [](const Value& v) {
    if (!v) return true;
    return v.constant != nullptr &&
           std::all_of(v.constant->data.begin(), v.constant->data.end(),
                       [](std::byte byte) { return byte == std::byte{0}; });
  };
  if (x && y && x.node == y.node) return true;
  if (!x || !y) return zero(x) && zero(y);
  return x.constant != nullptr && y.constant != nullptr && x.dtype() == y.dtype() &&
         x.constant->size() == 1 && y.constant->size() == 1 &&
         std::equal(x.constant->data.begin(), x.constant->data.end(), y.constant->data.begin(),
                    y.constant->data.end());
}

// --- Activations: limits of what is quantised ---

struct QuantisedLimits {
  std::optional<double> low, high;
};

// A constant of one element, of float32 or an integer.
std::optional<double> NumberOf(const Value& v) {
  if (v.constant == nullptr || v.constant->size() != 1) return std::nullopt;
  if (!IsInt(v.dtype()) && v.dtype() != DType::kFloat32) return std::nullopt;
  return ir::NumberAt(*v.constant);
}

// The value that Relu or Clip takes, and its limits.
Value WithoutLimits(NodeContext& n, const Value& v, QuantisedLimits& limits) {
  auto origin = n.OriginOf(v);
  if (!origin) return v;
  if (origin->op_type() == "Relu") {
    limits.low = 0;
    return origin->Input(0);
  }
  if (origin->op_type() != "Clip") return v;
  if (origin->opset() < 11) {
    if (origin->HasAttr("min")) limits.low = origin->Float("min", 0);
    if (origin->HasAttr("max")) limits.high = origin->Float("max", 0);
    return origin->Input(0);
  }
  if (origin->Has(1)) limits.low = NumberOf(origin->Input(1));
  if (origin->Has(2)) limits.high = NumberOf(origin->Input(2));
  const bool known = (!origin->Has(1) || limits.low) && (!origin->Has(2) || limits.high);
  return known ? origin->Input(0) : v;
}

// --- Products ---

// The elements of a small integer constant; nullopt for other values.
std::optional<std::vector<int64_t>> IntegersIn(const Value& v) {
  if (v.constant == nullptr || IsFloat(v.dtype())) return std::nullopt;
  return typing::IntegerElements(*v.constant);
}

// The greatest magnitude of a sum of bytes times weights, whose output channel is axis `column`,
// and the bias; nullopt where the weights are not constant.
std::optional<double> GreatestSum(const Integers& x, const Integers& w, int column,
                                  const Value& bias) {
  const auto weights = IntegersIn(w.data);
  if (!weights) return std::nullopt;
  int64_t inner = 1;
  for (int i = column + 1; i < w.data.rank(); ++i) inner *= w.data.dim(i).value();
  const int64_t channels = w.data.dim(column).value();
  const auto zeros = w.zero_point ? IntegersIn(w.zero_point) : std::vector<int64_t>{0};
  const auto most = bias ? IntegersIn(bias) : std::vector<int64_t>{};
  if (!zeros || !most) return std::nullopt;
  if (zeros->size() != 1 && static_cast<int64_t>(zeros->size()) != channels) return std::nullopt;
  std::vector<double> sums(static_cast<size_t>(channels), 0);
  for (size_t i = 0; i < weights->size(); ++i) {
    const auto channel = static_cast<size_t>(static_cast<int64_t>(i) / inner % channels);
    const int64_t zero = zeros->size() == 1 ? (*zeros)[0] : (*zeros)[channel];
    sums[channel] += std::abs(static_cast<double>((*weights)[i]) - static_cast<double>(zero));
  }
  const double low = x.data.dtype() == DType::kUInt8 ? 0 : -128;
  double reach = 255;
  if (!x.zero_point) reach = 255 + low;
  const auto zero = x.zero_point ? IntegersIn(x.zero_point) : std::nullopt;
  if (zero && !zero->empty()) {
    const auto z = static_cast<double>((*zero)[0]);
    reach = std::max(z - low, low + 255 - z);
  }
  double greatest = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double more = most->size() == sums.size() ? std::abs(static_cast<double>((*most)[i])) : 0;
    greatest = std::max(greatest, sums[i] * std::max(reach, 128.0) + more);
  }
  return greatest;
}

struct IntegerProduct {
  Term sum;      // whole numbers: int32, or float32 that holds them
  Term scale;    // of the sum, where it broadcasts to it
  Value bias;    // real, or none; along `axis`
  int axis = 0;  // of the result, that the scales and the bias are along
};

// Element by element: the products are exact.
std::optional<IntegerProduct> ElementProductOf(NodeContext& n, const NodeContext& origin) {
  TypedBuilder& b = n.b();
  const auto x = IntegersOf(n, origin.Input(0)), y = IntegersOf(n, origin.Input(1));
  for (const auto& q : {x, y}) {
    if (!q || q->scale.rank() != 0 || DTypeBytes(q->data.dtype()) != 1) return std::nullopt;
  }
  return IntegerProduct{
      ShiftedBy(n, x->data, x->zero_point, 0) * ShiftedBy(n, y->data, y->zero_point, 0),
      Term(b, x->scale) * Term(b, y->scale),
      {},
      0};
}

// The sum of x * w less their zero points, by a Conv, Gemm or MatMul. `in_bytes`: nullopt where it
// is no product of bytes.
std::optional<Term> SumOf(NodeContext& n, NodeContext& node, const Integers& x, const Integers& w,
                          int column, const Value& whole_bias, bool in_bytes) {
  TypedBuilder& b = n.b();
  const bool conv = node.op_type() == "Conv", gemm = node.op_type() == "Gemm";
  const bool turns_left = gemm && node.Int("transA", 0) != 0;
  const bool turns_right = gemm && node.Int("transB", 0) != 0;
  const auto turned = [&](const Value& v, bool turns) {
    return turns ? b.Transpose(v, {1, 0}) : v;
  };
  const Value left = turned(x.data, turns_left), right = turned(w.data, turns_right);
  if (const auto bytes = ByteProductOf(n, left, x.zero_point, right, w.zero_point)) {
    const auto product = conv ? ByteConvOf(node, *bytes) : ByteMatMulOf(n, *bytes);
    if (product) return Term(b, *product);
  }
  if (in_bytes) return std::nullopt;
  // Floats hold whole numbers up to 2^24, and so any sum of such in any order: products of floats
  // are as exact as those of integers, and faster than those of int32.
  constexpr double kExact = 1 << 24;
  const auto greatest = GreatestSum(x, w, column, whole_bias);
  const DType dtype = greatest && *greatest < kExact ? DType::kFloat32 : DType::kInt32;
  const Term shifted_left = ShiftedBy(n, x.data, x.zero_point, 0).As(dtype);
  const Term shifted_right = ShiftedBy(n, w.data, w.zero_point, column).As(dtype);
  if (!conv) {
    return Term(b,
                MatMulOf(n, turned(shifted_left, turns_left), turned(shifted_right, turns_right)));
  }
  const std::vector<Value> made = node.As("Conv", 11, {shifted_left, shifted_right});
  return made.empty() ? std::nullopt : std::optional(Term(b, made[0]));
}

// What a Conv, Gemm or MatMul computes.
std::optional<IntegerProduct> ProductOfNode(NodeContext& n, NodeContext& node, bool in_bytes) {
  TypedBuilder& b = n.b();
  const auto x = IntegersOf(n, node.Input(0)), w = IntegersOf(n, node.Input(1));
  const auto is_byte = [](const std::optional<Integers>& q) {
    return q && DTypeBytes(q->data.dtype()) == 1;
  };
  if (!is_byte(x) || !is_byte(w) || x->scale.rank() != 0) return std::nullopt;
  const bool conv = node.op_type() == "Conv", gemm = node.op_type() == "Gemm";
  const bool flipped = gemm && node.Int("transB", 0) != 0;
  const int column = conv || flipped ? 0 : w->data.rank() - 1;  // of the weight
  if (w->scale.rank() == 1 && (w->axis != column || (!conv && w->data.rank() != 2))) {
    return std::nullopt;
  }
  if (gemm && (node.Float("alpha", 1) != 1 || (node.Has(2) && node.Float("beta", 1) != 1) ||
               x->data.rank() != 2 || w->data.rank() != 2)) {
    return std::nullopt;
  }
  // A bias in the scale of the sum is a part of it.
  const Value bias = node.op_type() == "MatMul" ? Value{} : node.Input(2);
  const auto q = bias ? IntegersOf(n, bias) : std::nullopt;
  const bool whole = q && q->data.dtype() == DType::kInt32 && q->data.rank() == 1;
  const auto sum = SumOf(n, node, *x, *w, column, whole ? q->data : Value{}, in_bytes);
  if (!sum || !b.status().ok()) return std::nullopt;
  const int axis = conv ? 1 : sum->rank() - 1;
  Term scale = Term(b, x->scale) * Term(b, w->scale);
  IntegerProduct p{*sum, scale.rank() == 0 ? scale : Along(scale, axis, sum->rank()), {}, axis};
  if (!bias) return p;
  if (whole) {
    p.sum = *sum + Along(Term(b, q->data).As(sum->dtype()), axis, sum->rank());
  } else {
    p.bias = bias;
  }
  return p;
}

std::optional<IntegerProduct> ProductOf(NodeContext& n, const Value& v) {
  auto origin = n.OriginOf(v);
  if (origin && origin->op_type() == "Mul") return ElementProductOf(n, *origin);
  if (!origin || !IsOneOf(origin->op_type(), {"Conv", "Gemm", "MatMul"})) return std::nullopt;
  return ProductOfNode(n, *origin, /*in_bytes=*/false);
}

// A sum of two in steps of the result, its zero point among them: as QLinearAdd computes it.
std::optional<Term> StepsOfSum(NodeContext& n, const Value& v, const Term& scale,
                               const std::optional<Term>& zero_point) {
  TypedBuilder& b = n.b();
  auto origin = n.OriginOf(v);
  if (!origin || origin->op_type() != "Add") return std::nullopt;
  const auto x = IntegersOf(n, origin->Input(0)), y = IntegersOf(n, origin->Input(1));
  for (const auto& q : {x, y}) {
    if (!q || q->scale.rank() != 0 || DTypeBytes(q->data.dtype()) != 1) return std::nullopt;
  }
  const auto real = [&](const Value& whole) {
    return whole ? Term(b, whole).As(DType::kFloat32) : Term(b, b.Scalar(0, DType::kFloat32));
  };
  const Term x_ratio = Term(b, x->scale) / scale, y_ratio = Term(b, y->scale) / scale;
  const Term fixed = real(zero_point ? zero_point->value() : Value{}) -
                     (x_ratio * real(x->zero_point) + y_ratio * real(y->zero_point));
  return real(x->data) * x_ratio + real(y->data) * y_ratio + fixed;
}

// --- Means and joins ---

// Means of whole numbers: their sums are exact.
std::optional<Value> MeanOf(NodeContext& n, const Value& v, const Term& scale,
                            const std::optional<Term>& zero_point, DType dtype) {
  TypedBuilder& b = n.b();
  auto origin = n.OriginOf(v);
  if (!origin || !IsOneOf(origin->op_type(), {"AveragePool", "GlobalAveragePool", "ReduceMean"})) {
    return std::nullopt;
  }
  const auto x = IntegersOf(n, origin->Input(0));
  if (!x || x->scale.rank() != 0 || DTypeBytes(x->data.dtype()) != 1) return std::nullopt;
  std::vector<Value> inputs = origin->inputs();
  Term whole = Term(b, x->data).As(DType::kInt32);
  if (x->zero_point) whole = whole - Term(b, x->zero_point).As(DType::kInt32);
  inputs[0] = whole.As(DType::kFloat32);
  const std::vector<Value> mean = origin->As(origin->op_type(), origin->opset(), std::move(inputs));
  if (mean.empty() || !mean[0]) return std::nullopt;
  const Term steps = (Term(b, mean[0]) * (Term(b, x->scale) / scale)).Call("round_even");
  return Saturate(zero_point ? steps + zero_point->As(DType::kFloat32) : steps, {dtype});
}

// Of integers under one scale and zero point: as they are, where the result has both.
Value Requantised(NodeContext& n, const Integers& q, const Term& scale,
                  const std::optional<Term>& zero_point, DType dtype) {
  TypedBuilder& b = n.b();
  const bool same = q.data.dtype() == dtype && SameNumber(q.scale, scale) &&
                    SameNumber(q.zero_point, zero_point ? zero_point->value() : Value{});
  if (same) return q.data;
  const std::optional<Term> zero =
      q.zero_point ? std::optional(Term(b, q.zero_point)) : std::nullopt;
  return Quantised(Dequantised(Term(b, q.data), Term(b, q.scale), zero), scale, zero_point,
                   {dtype});
}

// Part by part.
std::optional<Value> ConcatenationOf(NodeContext& n, const Value& v, const Term& scale,
                                     const std::optional<Term>& zero_point, DType dtype) {
  auto origin = n.OriginOf(v);
  if (!origin || origin->op_type() != "Concat") return std::nullopt;
  std::vector<Value> parts;
  for (const Value& part : origin->inputs()) {
    const auto q = IntegersOf(n, part);
    if (!q || q->scale.rank() != 0 || DTypeBytes(q->data.dtype()) != 1) return std::nullopt;
    parts.push_back(Requantised(n, *q, scale, zero_point, dtype));
  }
  const std::vector<Value> joined = origin->As("Concat", origin->opset(), std::move(parts));
  return joined.empty() ? std::nullopt : std::optional(joined[0]);
}

// --- What is quantised ---

// `v` quantised, without the float value; nullopt where that is no better.
std::optional<Value> QuantisedValue(NodeContext& n, const Value& v, const Term& scale,
                                    const std::optional<Term>& zero_point, DType dtype,
                                    int depth = 0) {
  TypedBuilder& b = n.b();
  auto origin = n.OriginOf(v);
  if (!origin || origin->op_type() == "DequantizeLinear" || depth > kMostMoves) {
    return std::nullopt;
  }
  if (const auto moved = IntegersOf(n, v);
      moved && moved->scale.rank() == 0 && DTypeBytes(moved->data.dtype()) == 1) {
    return Requantised(n, *moved, scale, zero_point, dtype);
  }
  if (Moves(*origin)) {  // rounding keeps the order: what is greatest stays so
    auto inner = QuantisedValue(n, origin->Input(0), scale, zero_point, dtype, depth + 1);
    if (!inner) return std::nullopt;
    std::vector<Value> inputs = origin->inputs();
    inputs[0] = *inner;
    const std::vector<Value> moved =
        origin->As(origin->op_type(), origin->opset(), std::move(inputs));
    return moved.empty() || !moved[0] ? std::nullopt : std::optional(moved[0]);
  }
  if (auto mean = MeanOf(n, v, scale, zero_point, dtype)) return mean;
  if (auto joined = ConcatenationOf(n, v, scale, zero_point, dtype)) return joined;
  QuantisedLimits limits;
  const Value computed = WithoutLimits(n, v, limits);
  std::optional<Term> sum = StepsOfSum(n, computed, scale, zero_point);
  const bool has_zero = sum.has_value();
  if (!sum) {
    const auto product = ProductOf(n, computed);
    if (!product || !b.status().ok()) return std::nullopt;
    sum = product->sum.As(DType::kFloat32) * (product->scale / scale);
    if (product->bias) {
      const Term bias(b, product->bias);
      sum = *sum + (bias.rank() == 1 ? Along(bias, product->axis, sum->rank()) : bias) / scale;
    }
  }
  Term steps = sum->Call("round_even");
  const std::optional<double> step = NumberOf(scale.value());
  const std::optional<double> zero = zero_point ? NumberOf(zero_point->value()) : 0;
  if (step && zero) {
    // Both limits at once, and none where the result's own do.
    const auto limit = [&](const std::optional<double>& at, double otherwise) {
      return at ? std::nearbyint(static_cast<float>(*at) / static_cast<float>(*step)) + *zero
                : otherwise;
    };
    const double least = dtype == DType::kUInt8 ? 0 : -128, greatest = least + 255;
    if (*zero != 0 && !has_zero) steps = steps + *zero;
    const double low = std::max(least, limit(limits.low, least));
    const double high = std::min(greatest, limit(limits.high, greatest));
    if (low <= high) {
      return steps.Call("clip", {{"a_min", low}, {"a_max", high}}).As(dtype);
    }
    return Saturate(Minimum(Maximum(steps, steps.Number(low)), steps.Number(high)), {dtype});
  }
  const auto limit = [&](double at) {
    const Term whole = (steps.Number(at) / scale).Call("round_even");
    return zero_point ? whole + zero_point->As(DType::kFloat32) : whole;
  };
  if (zero_point && !has_zero) steps = steps + zero_point->As(DType::kFloat32);
  if (limits.low) steps = Maximum(steps, limit(*limits.low));
  if (limits.high) steps = Minimum(steps, limit(*limits.high));
  return Saturate(steps, {dtype});
}

}  // namespace

std::optional<Value> QuantisedInIntegers(NodeContext& n, const Term& scale,
                                         const std::optional<Term>& zero_point, DType dtype) {
  if (dtype != DType::kInt8 && dtype != DType::kUInt8) return std::nullopt;
  return QuantisedValue(n, n.Input(0), scale, zero_point, dtype);
}

std::optional<Value> DequantisedProduct(NodeContext& n) {
  if (n.Input(0).dtype() != DType::kFloat32 || n.Input(1).dtype() != DType::kFloat32) {
    return std::nullopt;
  }
  const auto product = ProductOfNode(n, n, /*in_bytes=*/true);
  if (!product || !n.b().status().ok()) return std::nullopt;
  Term y = product->sum.As(DType::kFloat32) * product->scale;
  if (!product->bias) return y;
  const Term bias(n.b(), product->bias);
  return y + (bias.rank() == 1 ? Along(bias, product->axis, y.rank()) : bias);
}

}  // namespace relayvm::import

// Quantised tensors: integers q with a range (min, max) of one number each. A number is
// q * level, where level is the greater absolute bound of the range by 127.5 (int8), 255.5 (uint8)
// or 2^31 - 1 (int32): half a level more than there is, as MXNet's oneDNN operators have it.
// Most operators take data, then a range for each, and give data and its range.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/import/composite/window.h"
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/window.h"

namespace relayvm::import::mxnet {

namespace {

double GreatestOf(DType t) {
  return t == DType::kInt8 ? 127 : t == DType::kUInt8 ? 255 : 2147483647;
}
// Levels in a range's greater absolute bound.
double LevelsOf(DType t) { return t == DType::kInt32 ? GreatestOf(t) : GreatestOf(t) + 0.5; }
bool IsQuantised(const Value& v) {
  return v && v.is_tensor() &&
         (v.dtype() == DType::kInt8 || v.dtype() == DType::kUInt8 || v.dtype() == DType::kInt32);
}

struct Range {
  Term low, high;  // float32, rank 0

  Term bound() const { return Maximum(Abs(low), Abs(high)); }
};
Term BoundOf(TypedBuilder& b, const Value& v) { return AsScalar(Term(b, v).As(DType::kFloat32)); }
// Inputs `i` and the next.
std::optional<Range> ReadRange(Node& n, size_t i) {
  for (const size_t k : {i, i + 1}) {
    if (n.Has(k) && n.Input(k).is_tensor()) continue;
    return n.Fail("expected the bounds of a range as inputs {} and {}", i, i + 1);
  }
  return Range{BoundOf(n, n.Input(i)), BoundOf(n, n.Input(i + 1))};
}
// Of all elements.
Range ActualRange(const Term& x) {
  const std::vector<int64_t> all = Iota(x.rank());
  return {x.Over("min", all, false), x.Over("max", all, false)};
}
// What the node's attributes say that its results lie in.
std::optional<Range> CalibratedRange(Node& n) {
  const auto low = n.MaybeFloat("min_calib_range"), high = n.MaybeFloat("max_calib_range");
  if (!low || !high) return std::nullopt;
  TypedBuilder& b = n.b();
  return Range{{b, b.Scalar(*low, DType::kFloat32)}, {b, b.Scalar(*high, DType::kFloat32)}};
}

Term RealOf(const Term& q, const Range& range) {
  if (q.dtype() == DType::kInt32) {
    const Term level = range.bound().As(DType::kFloat64) / GreatestOf(DType::kInt32);
    return (q.As(DType::kFloat64) * level).As(DType::kFloat32);
  }
  return q.As(DType::kFloat32) * (range.bound() / LevelsOf(q.dtype()));
}
Outputs WithRange(const Term& q, const Range& range) {
  return {q, range.low.Reshape({1}), range.high.Reshape({1})};
}
// The nearest of the levels, of which the bound has `levels` (0: as many as are read back).
Outputs QuantisedTo(const Term& x, const Range& range, DType dtype, double levels = 0) {
  const double most = GreatestOf(dtype);
  const DType wide = dtype == DType::kInt32 ? DType::kFloat64 : DType::kFloat32;
  const Term bound = range.bound().As(wide);
  const Term safe = Select(bound > 0, bound, bound.Number(1));
  const Term q = (x.As(wide) * ((levels > 0 ? levels : LevelsOf(dtype)) / safe)).Call("round_even");
  const double least = dtype == DType::kUInt8 ? 0 : -most;
  const Range symmetric{-range.bound(), range.bound()};
  const Term zero = range.low.Number(0);
  return WithRange(Clamp(q, q.Number(least), q.Number(most)).As(dtype),
                   dtype == DType::kUInt8 ? Range{zero, range.bound()} : symmetric);
}
// The type that "auto" and calibration ask for.
DType TypeAsked(Node& n, std::string_view fallback) {
  const std::string type = n.Choice("out_type", fallback, {"auto", "int8", "uint8", "float32"});
  if (type != "auto") return type == "uint8" ? DType::kUInt8 : DType::kInt8;
  return n.MaybeFloat("min_calib_range").value_or(-1) >= 0 &&
                 n.MaybeFloat("max_calib_range").has_value()
             ? DType::kUInt8
             : DType::kInt8;
}
// Results of an operator: floats, or by the calibrated range 8 bits, or all that int32 holds.
Outputs Results(Node& n, const Term& real) {
  if (n.Bool("enable_float_output", false)) return {real};
  if (const auto range = CalibratedRange(n)) {
    const bool positive = n.Float("min_calib_range", -1) >= 0;
    return QuantisedTo(real, *range, positive ? DType::kUInt8 : DType::kInt8);
  }
  return QuantisedTo(real, ActualRange(real), DType::kInt32);
}
std::optional<Term> RealInput(Node& n, size_t data, size_t range) {
  if (!IsQuantised(n.Input(data))) return n.Fail("input {}: expected int8, uint8 or int32", data);
  const auto bounds = ReadRange(n, range);
  return bounds ? std::optional(RealOf(Term(n, data), *bounds)) : std::nullopt;
}

// --- To and from floats ---

// The first version has whole levels.
Outputs Quantize(Node& n) {
  const auto range = ReadRange(n, 1);
  const DType dtype = TypeAsked(n, "uint8");
  return range ? QuantisedTo(Term(n, 0), *range, dtype, GreatestOf(dtype)) : Outputs{};
}
Outputs QuantizeV2(Node& n) {
  const Term x(n, 0);
  const auto calibrated = CalibratedRange(n);
  if (!IsFloat(x.dtype())) {
    const double most = GreatestOf(x.dtype());
    TypedBuilder& b = n.b();
    const auto bound = [&](double v) { return Term(b, b.Scalar(v, DType::kFloat32)); };
    return WithRange(
        x, calibrated.value_or(Range{bound(x.dtype() == DType::kUInt8 ? 0 : -most), bound(most)}));
  }
  return QuantisedTo(x, calibrated ? *calibrated : ActualRange(x), TypeAsked(n, "int8"));
}
Outputs Dequantize(Node& n) {
  const auto real = RealInput(n, 0, 1);
  return real ? Outputs{*real} : Outputs{};
}
Outputs Requantize(Node& n) {
  const auto real = RealInput(n, 0, 1);
  if (!real) return {};
  const auto calibrated = CalibratedRange(n);
  return QuantisedTo(*real, calibrated ? *calibrated : ActualRange(*real), TypeAsked(n, "int8"));
}

// --- Operators that only move integers ---

// By the operator of floats of that name on the data alone.
template <OpName kName>
Outputs Moved(Node& n) {
  Outputs out = n.As(kName.chars, {n.Input(0)});
  if (out.empty()) return out;
  return {out[0], n.Input(1), n.Input(2)};
}
Outputs QuantizedAct(Node& n) {
  if (n.Choice("act_type", "relu", {"relu"}) != "relu") return {};
  const Term x(n, 0);
  return {Maximum(x, x.Number(0)), n.Input(1), n.Input(2)};
}
// Averages of integers are rounded.
Outputs QuantizedPooling(Node& n) {
  const Term x(n, 0);
  if (n.Text("pool_type", "max") == "max") return Moved<"Pooling">(n);
  const Outputs out = n.As("Pooling", {x.As(DType::kFloat32)});
  if (out.empty()) return {};
  return {Term(n.b(), out[0]).Call("round_even").As(x.dtype()), n.Input(1), n.Input(2)};
}
Outputs QuantizedEmbedding(Node& n) {
  const Outputs out = n.As("Embedding", {n.Input(0), n.Input(1)});
  return out.empty() ? out : Outputs{out[0], n.Input(2), n.Input(3)};
}
// At the widest of the ranges.
Outputs QuantizedConcat(Node& n) {
  TypedBuilder& b = n.b();
  const size_t count = n.num_inputs() / 3;
  if (count < 1 || n.num_inputs() != 3 * count)
    return n.Fail("expected data and a range for each, found {} inputs", n.num_inputs());
  std::vector<Value> parts;
  std::optional<Term> bound;
  bool has_sign = false;
  for (size_t i = 0; i < count; ++i) {
    const auto range = ReadRange(n, count + 2 * i);
    const auto real = RealInput(n, i, count + 2 * i);
    if (!range || !real) return {};
    parts.push_back(*real);
    bound = bound ? Maximum(*bound, range->bound()) : range->bound();
    has_sign |= n.Input(i).dtype() != DType::kUInt8;
  }
  const int axis = n.Axis(n.Int("dim", 1), parts[0].rank());
  if (!b.status().ok()) return {};
  return QuantisedTo(Term(b, b.Concat(parts, axis)), Range{-*bound, *bound},
                     has_sign ? DType::kInt8 : DType::kUInt8);
}

// --- Arithmetic, on what the integers stand for ---

template <bool kProduct>
Outputs QuantizedBinary(Node& n) {
  const auto x = RealInput(n, 0, 2), y = RealInput(n, 1, 4);
  if (!x || !y) return {};
  return Results(n, kProduct ? *x * *y : *x + *y);
}
Outputs QuantizedBatchNorm(Node& n) {
  const auto x = RealInput(n, 0, 5);
  if (!x) return {};
  const Outputs out = n.As("BatchNorm", {*x, n.Input(1), n.Input(2), n.Input(3), n.Input(4)});
  return out.empty() ? out : Results(n, Term(n.b(), out[0]));
}
// Data, weights and perhaps a bias, each with its range behind all of them.
Outputs QuantizedProduct(Node& n, const char* op) {
  const size_t count = n.num_inputs() / 3;
  if ((count != 2 && count != 3) || n.num_inputs() != 3 * count)
    return n.Fail("expected data, weights and bias, and a range for each");
  std::vector<Value> reals;
  for (size_t i = 0; i < count; ++i) {
    const auto real = RealInput(n, i, count + 2 * i);
    if (!real) return {};
    reals.push_back(*real);
  }
  const Outputs out = n.As(op, reals);
  return out.empty() ? out : Results(n, Term(n.b(), out[0]));
}
Outputs QuantizedConv(Node& n) { return QuantizedProduct(n, "Convolution"); }
Outputs QuantizedDense(Node& n) { return QuantizedProduct(n, "FullyConnected"); }

// --- Operators fused for oneDNN ---

// Weights of 8 bits, and the level of each output channel: (channels), float32.
struct ByteWeights {
  Value w;
  Term levels;
};
// Float weights by the greatest of each channel, the first axis; integers by their range, input
// `range`. Nullopt where they are no constant.
std::optional<ByteWeights> BytesOf(Node& n, const Value& w, size_t range) {
  TypedBuilder& b = n.b();
  if (w.constant == nullptr || w.rank() < 2) return std::nullopt;
  const int64_t channels = w.constant->shape[0];
  if (w.dtype() == DType::kInt8) {
    const auto bounds = ReadRange(n, range);
    if (!bounds) return std::nullopt;
    return ByteWeights{w, (bounds->bound() / LevelsOf(DType::kInt8)).Reshape({1})};
  }
  if (w.dtype() != DType::kFloat32 || channels < 1) return std::nullopt;
  const SharedBytes bytes = w.constant->data.Loaded();
  const auto size = static_cast<size_t>(w.constant->size() / channels);
  HostTensor q{DType::kInt8, w.constant->shape,
               SharedBytes::Zeros(static_cast<size_t>(w.constant->size()))};
  const std::span<std::byte> to = q.data.Mutable();
  std::vector<double> levels;
  std::vector<float> row(size);
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    std::memcpy(row.data(), bytes.data() + c * size * sizeof(float), size * sizeof(float));
    float most = 0;
    for (const float v : row) most = std::max(most, std::abs(v));
    const double level = most > 0 ? most / LevelsOf(DType::kInt8) : 1;
    for (size_t i = 0; i < size; ++i) {
      const double nearest = std::clamp(std::nearbyint(row[i] / level), -127.0, 127.0);
      to[c * size + i] = static_cast<std::byte>(static_cast<int8_t>(nearest));
    }
    levels.push_back(level);
  }
  return ByteWeights{b.Constant(std::move(q)), Table(b, levels, {channels})};
}

// The product of a layer of a fused node's subgraph, of integers: as floats, with its bias. Nullopt
// for what it does not take; it is made of floats then. `reals`: the subgraph's variables.
std::optional<Term> IntegerLayer(Node& n, const SymbolNode& layer,
                                 const std::vector<Value>& reals) {
  TypedBuilder& b = n.b();
  const Symbol& graph = n.SubgraphOf(0);
  // Which input of the node a variable is.
  const auto place = [&](size_t i) -> size_t {
    size_t at = 0;
    for (size_t k = 0; k < layer.inputs[i].node; ++k) at += graph.nodes[k].is_variable() ? 1 : 0;
    return graph.nodes[layer.inputs[i].node].is_variable() ? at : n.num_inputs();
  };
  std::vector<Value> given;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    if (place(i) >= reals.size()) return std::nullopt;
    given.push_back(i < 2 ? n.Input(place(i)) : reals[place(i)]);
  }
  // The data's range stands first, then that of weights that are integers.
  const auto range = given.size() < 2 || place(0) != 0 ? std::nullopt : ReadRange(n, reals.size());
  if (!range || !(given[0].dtype() == DType::kInt8 || given[0].dtype() == DType::kUInt8))
    return std::nullopt;
  const auto weights = BytesOf(n, given[1], reals.size() + 2);
  if (!weights) return std::nullopt;
  Node inner = n.Inner(layer, given);
  const Term x(b, given[0]);
  std::optional<Value> sum;
  if (layer.op == "Convolution") {
    const auto window = ReadWindow(inner);
    if (!window || window->channels_last || weights->w.rank() != x.rank()) return std::nullopt;
    sum = IntegerConv(
        b, x, {}, weights->w, {},
        {.window = *window, .groups = inner.Count("num_group", 1), .kernel_layout = ""});
  } else {
    if (!inner.Bool("flatten", true) || x.rank() < 2) return std::nullopt;
    const Value rows = x.rank() == 2 ? x.value() : x.Call("nn.batch_flatten").value();
    sum = IntegerProduct(b, rows, {}, b.Transpose(weights->w, {1, 0}), {}).value();
  }
  if (!sum) return std::nullopt;
  const Term level = weights->levels * (range->bound() / LevelsOf(x.dtype()));
  const Term product(b, *sum);
  const Term real = product.As(DType::kFloat32) * Along(level, 1, product.rank());
  if (given.size() < 3 || inner.Bool("no_bias", false)) return real;
  return real + Along(Term(b, given[2]), 1, product.rank());
}

// The subgraph says what is computed: of floats, or (quantised) of what integers stand for. Behind
// the subgraph's inputs stand ranges, one for each of those that are integers.
Outputs Fused(Node& n) {
  if (n.NumSubgraphs() != 1) return n.Fail("expected a subgraph");
  const size_t count = n.NumSubgraphInputs(0);
  if (count > n.num_inputs())
    return n.Fail("the subgraph has {} variables, the node {} inputs", count, n.num_inputs());
  std::vector<Value> reals;
  size_t next = count;
  const bool quantised = n.Bool("quantized", false);
  for (size_t i = 0; i < count; ++i) {
    Value v = n.Input(i);
    if (quantised && IsQuantised(v)) {
      const auto range = ReadRange(n, next);
      if (!range) return {};
      v = RealOf(Term(n.b(), v), *range);
      next += 2;
    }
    reals.push_back(v);
  }
  std::map<size_t, Value> known;
  const Symbol& graph = n.SubgraphOf(0);
  for (size_t i = 0; quantised && i < graph.nodes.size() && n.b().status().ok(); ++i) {
    if (graph.nodes[i].op != "Convolution" && graph.nodes[i].op != "FullyConnected") continue;
    if (const auto product = IntegerLayer(n, graph.nodes[i], reals)) known[i] = *product;
  }
  const std::vector<Value> heads = n.Subgraph(0, reals, known);
  if (heads.empty() || !n.b().status().ok()) return {};
  return quantised ? Results(n, Term(n.b(), heads[0])) : heads;
}

// Products of attention; integers have their ranges behind all data.
Outputs FusedAttention(Node& n, const char* op, size_t count) {
  std::vector<Value> reals;
  for (size_t i = 0; i < count; ++i) {
    Value v = n.Input(i);
    if (n.Bool("quantized", false)) {
      const auto real = RealInput(n, i, count + 2 * i);
      if (!real) return {};
      v = *real;
    }
    reals.push_back(v);
  }
  const Outputs out = n.As(op, reals);
  if (out.empty() || !n.Bool("quantized", false)) return out;
  return Results(n, Term(n.b(), out[0]));
}
Outputs FusedScores(Node& n) {
  return FusedAttention(n, "_contrib_interleaved_matmul_selfatt_qk", 1);
}
Outputs FusedAttended(Node& n) {
  return FusedAttention(n, "_contrib_interleaved_matmul_selfatt_valatt", 2);
}

constexpr OperatorDef kQuantOperators[] = {
    {"_contrib_dequantize", 3, 3, Dequantize},
    {"_contrib_quantize", 3, 3, Quantize},
    {"_contrib_quantize_v2", 1, 1, QuantizeV2},
    {"_contrib_quantized_act", 3, 3, QuantizedAct},
    {"_contrib_quantized_batch_norm", 7, 7, QuantizedBatchNorm},
    {"_contrib_quantized_concat", 3, -1, QuantizedConcat},
    {"_contrib_quantized_conv", 6, 9, QuantizedConv},
    {"_contrib_quantized_elemwise_add", 6, 6, QuantizedBinary<false>},
    {"_contrib_quantized_elemwise_mul", 6, 6, QuantizedBinary<true>},
    {"_contrib_quantized_embedding", 4, 4, QuantizedEmbedding},
    {"_contrib_quantized_flatten", 3, 3, Moved<"Flatten">},
    {"_contrib_quantized_fully_connected", 6, 9, QuantizedDense},
    {"_contrib_quantized_pooling", 3, 3, QuantizedPooling},
    {"_contrib_requantize", 3, 3, Requantize},
    {"_sg_mkldnn_conv", 2, -1, Fused},
    {"_sg_mkldnn_fully_connected", 2, -1, Fused},
    {"_sg_mkldnn_selfatt_qk", 1, 3, FusedScores},
    {"_sg_mkldnn_selfatt_valatt", 2, 6, FusedAttended},
};

}  // namespace

std::span<const OperatorDef> QuantOperators() { return kQuantOperators; }

}  // namespace relayvm::import::mxnet

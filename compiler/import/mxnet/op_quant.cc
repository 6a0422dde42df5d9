// Quantised tensors: integers q with a range (min, max) of one number each. A number is
// q * level, where level is the greater absolute bound of the range by 127.5 (int8), 255.5 (uint8)
// or 2^31 - 1 (int32): half a level more than there is, as MXNet's oneDNN operators have it. Some
// have whole levels, of int8 even where data is uint8; what they give then is not what it stands
// for, and is what MXNet gives. Most operators take data, then a range for each, and give data and
// its range.
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
// The nearest integers, within what the type holds; floats in.
Term Saturated(const Term& x, DType dtype) {
  const Term q = x.Call("round_even");
  if (dtype == DType::kInt32) {
    const Term wide = q.As(DType::kFloat64);
    return Clamp(wide, wide.Number(-0x1p31), wide.Number(GreatestOf(dtype))).As(dtype);
  }
  const double least = dtype == DType::kUInt8 ? 0 : -128;
  return Clamp(q, q.Number(least), q.Number(GreatestOf(dtype))).As(dtype);
}
// The nearest of the levels, of which the bound has `levels` (0: as many as are read back).
Outputs QuantisedTo(const Term& x, const Range& range, DType dtype, double levels = 0) {
  const DType wide = dtype == DType::kInt32 ? DType::kFloat64 : DType::kFloat32;
  const Term bound = range.bound().As(wide);
  const Term safe = Select(bound > 0, bound, bound.Number(1));
  const Term q = x.As(wide) * ((levels > 0 ? levels : LevelsOf(dtype)) / safe);
  const Range symmetric{-range.bound(), range.bound()};
  return WithRange(Saturated(q, dtype), dtype == DType::kUInt8 ? range : symmetric);
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
Outputs Results(Node& n, const Term& real, bool is_positive) {
  if (n.Bool("enable_float_output", false)) return {real};
  const auto range = CalibratedRange(n);
  if (!range) return QuantisedTo(real, ActualRange(real), DType::kInt32);
  const Outputs q = QuantisedTo(real, *range, is_positive ? DType::kUInt8 : DType::kInt8);
  return WithRange(Term(n.b(), q[0]), *range);
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
// From int32, whose bound is 2^31, to whole levels.
Outputs Requantize(Node& n) {
  const auto given = ReadRange(n, 1);
  const Term q(n, 0);
  if (!given || q.dtype() != DType::kInt32)
    return n.b().status().ok() ? n.Fail("input 0: expected int32") : Outputs{};
  const DType dtype = TypeAsked(n, "int8");
  const auto calibrated = CalibratedRange(n);
  const auto most = [&] {  // of the integers there are
    const Range found = ActualRange(q.As(DType::kFloat32));
    return found.bound() * given->bound() / 0x1p31;
  };
  const Term bound = calibrated ? calibrated->bound() : most();
  const Term safe = Select(bound > 0, bound, bound.Number(1));
  const Term scale = given->bound() / 0x1p31 * (GreatestOf(dtype) / safe);
  const Term low = dtype == DType::kUInt8 ? bound.Number(0) : -bound;
  return WithRange(Saturated(q.As(DType::kFloat32) * scale, dtype), {low, bound});
}

// --- Operators that only move integers ---

// By the operator of floats of that name on the data alone.
template <OpName kName>
Outputs Moved(Node& n) {
  Outputs out = n.As(kName.chars, {n.Input(0)});
  if (out.empty()) return out;
  return {out[0], n.Input(1), n.Input(2)};
}
// What it gives is int8 by MXNet's inference of types, whatever bytes it has.
Outputs QuantizedAct(Node& n) {
  if (n.Choice("act_type", "relu", {"relu"}) != "relu") return {};
  const Term x(n, 0);
  if (x.dtype() == DType::kUInt8)
    return {x.Call("reinterpret", {{"dtype", TypeName(DType::kInt8)}}), n.Input(1), n.Input(2)};
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
  std::vector<Range> ranges;
  DType dtype = DType::kUInt8;
  for (size_t i = 0; i < count; ++i) {
    const auto range = ReadRange(n, count + 2 * i);
    if (!range || !RealInput(n, i, count + 2 * i)) return {};
    ranges.push_back(*range);
    if (n.Input(i).dtype() != DType::kUInt8) dtype = DType::kInt8;
  }
  Range widest = ranges[0];
  for (const Range& r : ranges) widest = {Minimum(widest.low, r.low), Maximum(widest.high, r.high)};
  std::vector<Value> parts;
  for (size_t i = 0; i < count; ++i) {
    const DType from = n.Input(i).dtype();
    const Term scale = widest.low.Number(LevelsOf(dtype)) / widest.bound() /
                       (widest.low.Number(LevelsOf(from)) / ranges[i].bound());
    parts.push_back(Saturated(Term(n, i).As(DType::kFloat32) * scale, dtype));
  }
  const int axis = n.Axis(n.Int("dim", 1), parts[0].rank());
  if (!b.status().ok()) return {};
  return WithRange(Term(b, b.Concat(parts, axis)), widest);
}

// --- Arithmetic ---

// Bytes without a sign beside others that have one are made such first, at the result's levels.
Outputs QuantizedSum(Node& n) {
  const auto range = ReadRange(n, 2), other = ReadRange(n, 4);
  if (!range || !other) return {};
  const DType types[] = {n.Input(0).dtype(), n.Input(1).dtype()};
  const bool is_unsigned = types[0] == DType::kUInt8 && types[1] == DType::kUInt8;
  const auto calibrated = CalibratedRange(n);
  const DType dtype = !calibrated ? DType::kInt32 : is_unsigned ? DType::kUInt8 : DType::kInt8;
  const Term both = range->bound() + other->bound();
  const Range result = calibrated ? *calibrated : Range{-both, both};
  const Range* ranges[] = {&*range, &*other};
  std::vector<Term> parts;
  for (size_t i = 0; i < 2; ++i) {
    const Term scale = ranges[i]->bound() * LevelsOf(dtype) / (result.bound() * LevelsOf(types[i]));
    const Term part = Term(n, i).As(DType::kFloat32) * scale;
    const bool is_moved = types[i] == DType::kUInt8 && !is_unsigned;
    parts.push_back(is_moved ? Saturated(part, DType::kInt8).As(DType::kFloat32) : part);
  }
  return WithRange(Saturated(parts[0] + parts[1], dtype), result);
}
// The range of a product of int32: of whole levels.
Range RangeOfProduct(const Range& x, double x_levels, const Range& y) {
  const Term most =
      x.bound() / x_levels * (y.bound() / GreatestOf(DType::kInt8)) * GreatestOf(DType::kInt32);
  return {-most, most};
}
// Cut, not rounded.
Outputs QuantizedTimes(Node& n) {
  const auto x = ReadRange(n, 2), y = ReadRange(n, 4);
  if (!x || !y) return {};
  const Term product = Term(n, 0).As(DType::kInt32) * Term(n, 1).As(DType::kInt32);
  const double levels = LevelsOf(DType::kInt8);
  const Term each = x->bound() / levels * (y->bound() / levels);
  const Term real = product.As(DType::kFloat32) * each;
  if (n.Bool("enable_float_output", false)) return {real};
  const auto calibrated = CalibratedRange(n);
  if (!calibrated) return WithRange(product, RangeOfProduct(*x, GreatestOf(DType::kInt8), *y));
  const Term q = (real * (levels / calibrated->bound())).Call("trunc");
  return WithRange(q.As(DType::kInt32).As(DType::kInt8), *calibrated);
}
// Of int8; its range must be known.
Outputs QuantizedBatchNorm(Node& n) {
  const auto range = ReadRange(n, 5);
  const auto result = CalibratedRange(n);
  if (!range) return {};
  if (!result) return n.Fail("expected min_calib_range and max_calib_range");
  const int axis = n.Axis(n.Int("axis", 1), n.Input(0).rank());
  if (!n.b().status().ok()) return {};
  Term q = Term(n, 0).As(DType::kFloat32);
  const double levels = LevelsOf(DType::kInt8);
  if (n.Input(0).dtype() == DType::kUInt8)
    q = Saturated(q * (levels / LevelsOf(DType::kUInt8)), DType::kInt8).As(DType::kFloat32);
  const Term gamma = Term(n, 1) / Sqrt(Term(n, 4) + n.Float("eps", 1e-3));
  const Term shift = (Term(n, 2) - Term(n, 3) * gamma) * (levels / result->bound());
  // oneDNN divides by the root of 1 and epsilon once more.
  const Term scale =
      gamma * (range->bound() / result->bound()) * (1 / std::sqrt(1 + n.Float("eps", 1e-3)));
  const Term y = q * Along(scale, axis, q.rank()) + Along(shift, axis, q.rank());
  return WithRange(Saturated(y, DType::kInt8), *result);
}

// Data, weights and perhaps a bias, each with its range behind all of them: the sums, and what
// their range is.
Outputs QuantizedConv(Node& n) {
  const size_t count = n.num_inputs() / 3;
  const auto x = ReadRange(n, count), w = ReadRange(n, count + 2);
  const auto window = ReadWindow(n);
  if (!x || !w || !window) return {};
  if (window->channels_last || n.Input(1).rank() != n.Input(0).rank())
    return n.Unsupported("this layout of quantised data");
  const auto sum =
      IntegerConv(n.b(), n.Input(0), {}, n.Input(1), {},
                  {.window = *window, .groups = n.Count("num_group", 1), .kernel_layout = ""});
  if (!sum) return {};
  Term y(n.b(), *sum);
  // The bias is added as it is, whatever its range.
  if (count == 3) y = y + Along(Term(n, 2).As(DType::kInt32), 1, y.rank());
  return WithRange(y, RangeOfProduct(*x, GreatestOf(DType::kInt8), *w));
}
Outputs QuantizedDense(Node& n) {
  TypedBuilder& b = n.b();
  const size_t count = n.num_inputs() / 3;
  const auto x = ReadRange(n, count), w = ReadRange(n, count + 2);
  if (!x || !w) return {};
  const Value data = n.Input(0);
  const bool flattens = n.Bool("flatten", true) && data.rank() > 2;
  if (data.rank() < 2 || (!flattens && data.rank() > 2))
    return n.Unsupported("data of {} dims that is not flattened", data.rank());
  const Value rows = flattens ? Term(b, data).Call("nn.batch_flatten").value() : data;
  Term y = IntegerProduct(b, rows, {}, b.Transpose(n.Input(1), {1, 0}), {});
  if (count == 3) {
    const auto bias = ReadRange(n, count + 4);
    if (!bias) return {};
    const double levels = LevelsOf(DType::kInt8);
    const Term scale =
        LevelsOf(data.dtype()) / x->bound() * (levels / w->bound()) * bias->bound() / levels;
    y = y + (Term(n, 2).As(DType::kFloat32) * scale).Call("trunc").As(DType::kInt32);
  }
  return WithRange(y, RangeOfProduct(*x, GreatestOf(data.dtype()), *w));
}

// --- Operators fused for oneDNN ---

using Floats = std::vector<float>;
std::optional<Floats> FloatsOf(const Value& v) {
  if (v.constant == nullptr || v.dtype() != DType::kFloat32) return std::nullopt;
  const SharedBytes bytes = v.constant->data.Loaded();
  Floats all(static_cast<size_t>(v.constant->size()));
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof(float));
  return all;
}

// A layer of a fused node's subgraph: the product, a normalisation behind it, and what they read.
struct FusedLayer {
  const SymbolNode& product;
  std::vector<Value> given;   // integers are as they are, but a bias is what it stands for
  const SymbolNode* norm;     // or null
  std::vector<Value> scales;  // what the normalisation reads behind the product
  size_t ranges;              // the node's input that is the data's range
};

// Weights of 8 bits, the level of each output channel, and the bias: (channels), float32.
struct ByteWeights {
  Value w;
  Term levels;
  std::optional<Term> bias;
};

// A normalisation of constants goes into the weights and the bias.
bool FoldNorm(Node& n, const FusedLayer& layer, Floats& w, Floats& bias) {
  Node norm = n.Inner(*layer.norm, layer.scales);
  std::vector<Floats> parts;
  for (const Value& v : layer.scales) {
    auto part = FloatsOf(v);
    if (!part || part->size() != bias.size()) return false;
    parts.push_back(std::move(*part));
  }
  if (parts.size() != 4 || bias.empty()) return false;
  const bool is_fixed = norm.Bool("fix_gamma", true);
  const auto epsilon = static_cast<float>(norm.Float("eps", 1e-3));
  const size_t row = w.size() / bias.size();
  for (size_t c = 0; c < bias.size(); ++c) {
    const float alpha = (is_fixed ? 1 : parts[0][c]) / std::sqrt(parts[3][c] + epsilon);
    bias[c] = parts[1][c] + alpha * (bias[c] - parts[2][c]);
    for (size_t k = 0; k < row; ++k) w[c * row + k] *= alpha;
  }
  return true;
}

// The nearest levels of float weights: of each channel, the first axis, or of all.
ByteWeights NearestBytes(TypedBuilder& b, const Value& like, const Floats& w, bool per_channel) {
  const int64_t channels = like.constant->shape[0];
  HostTensor q{DType::kInt8, like.constant->shape, SharedBytes::Zeros(w.size())};
  const std::span<std::byte> to = q.data.Mutable();
  const size_t row = per_channel ? w.size() / static_cast<size_t>(channels) : w.size();
  std::vector<double> levels;
  for (size_t from = 0; from < w.size(); from += row) {
    float most = 0;
    for (size_t i = from; i < from + row; ++i) most = std::max(most, std::abs(w[i]));
    const float scale = most > 0 ? static_cast<float>(LevelsOf(DType::kInt8)) / most : 1;
    for (size_t i = from; i < from + row; ++i) {
      const float nearest = std::clamp(std::nearbyint(w[i] * scale), -128.0F, 127.0F);
      to[i] = static_cast<std::byte>(static_cast<int8_t>(nearest));
    }
    levels.push_back(1 / static_cast<double>(scale));
  }
  const auto count = static_cast<int64_t>(levels.size());
  return {b.Constant(std::move(q)), Table(b, levels, {count}), std::nullopt};
}

// Nullopt where they are no constant.
std::optional<ByteWeights> BytesOf(Node& n, const FusedLayer& layer, bool per_channel) {
  TypedBuilder& b = n.b();
  const Value& w = layer.given[1];
  if (w.constant == nullptr || w.rank() < 2) return std::nullopt;
  const bool has_bias = layer.given.size() > 2;
  if (w.dtype() == DType::kInt8) {
    const auto bounds = ReadRange(n, layer.ranges + 2);
    if (!bounds || layer.norm != nullptr) return std::nullopt;
    ByteWeights bytes{w, (bounds->bound() / LevelsOf(DType::kInt8)).Reshape({1}), std::nullopt};
    if (has_bias) bytes.bias = Term(b, layer.given[2]);
    return bytes;
  }
  auto numbers = FloatsOf(w);
  if (!numbers || numbers->empty()) return std::nullopt;
  std::optional<Term> bias;
  if (has_bias) bias = Term(b, layer.given[2]);
  if (layer.norm != nullptr) {
    const auto channels = static_cast<size_t>(w.constant->shape[0]);
    auto shift = has_bias ? FloatsOf(layer.given[2]) : Floats(channels, 0);
    if (!shift || shift->size() != channels || !FoldNorm(n, layer, *numbers, *shift))
      return std::nullopt;
    bias = Table(b, {shift->begin(), shift->end()}, {w.constant->shape[0]});
  }
  ByteWeights bytes = NearestBytes(b, w, *numbers, per_channel);
  bytes.bias = bias;
  return bytes;
}

// The layer of integers: as floats, with its bias, which is of whole levels too. Nullopt for what
// it does not take; it is made of floats then.
std::optional<Term> IntegerLayer(Node& n, const FusedLayer& layer) {
  TypedBuilder& b = n.b();
  const auto range = ReadRange(n, layer.ranges);
  const bool is_float = n.Bool("enable_float_output", false);
  const bool is_known = CalibratedRange(n).has_value() || is_float;
  if (!range) return std::nullopt;
  const auto bytes = BytesOf(n, layer, is_known);
  if (!bytes) return std::nullopt;
  Node inner = n.Inner(layer.product, layer.given);
  const Term x(b, layer.given[0]);
  std::optional<Value> sum;
  if (layer.product.op == "Convolution") {
    const auto window = ReadWindow(inner);
    if (!window || window->channels_last || bytes->w.rank() != x.rank()) return std::nullopt;
    sum = IntegerConv(
        b, x, {}, bytes->w, {},
        {.window = *window, .groups = inner.Count("num_group", 1), .kernel_layout = ""});
  } else {
    if (x.rank() < 2 || (!inner.Bool("flatten", true) && x.rank() > 2)) return std::nullopt;
    const Value rows = x.rank() == 2 ? x.value() : x.Call("nn.batch_flatten").value();
    sum = IntegerProduct(b, rows, {}, b.Transpose(bytes->w, {1, 0}), {}).value();
  }
  if (!sum) return std::nullopt;
  const Term level = bytes->levels * (range->bound() / LevelsOf(x.dtype()));
  Term total(b, *sum);
  if (bytes->bias && !(layer.norm == nullptr && inner.Bool("no_bias", false))) {
    const Term whole = Saturated(*bytes->bias / level, DType::kInt32);
    total = total + Along(whole, 1, total.rank());
  }
  return total.As(DType::kFloat32) * Along(level, 1, total.rank());
}

// What is at node `i` of the subgraph, where it is a layer of bytes. `reals`: the subgraph's
// variables; `at`: the node whose value it is.
std::optional<Term> LayerAt(Node& n, size_t i, const std::vector<Value>& reals, size_t& at) {
  const Symbol& graph = n.SubgraphOf(0);
  // Which input of the node a variable is.
  const auto place = [&](const Entry& e) -> size_t {
    size_t variables = 0;
    for (size_t k = 0; k < e.node; ++k) variables += graph.nodes[k].is_variable() ? 1 : 0;
    return graph.nodes[e.node].is_variable() ? variables : n.num_inputs();
  };
  const SymbolNode& product = graph.nodes[i];
  FusedLayer layer{product, {}, nullptr, {}, reals.size()};
  for (size_t k = 0; k < product.inputs.size(); ++k) {
    const size_t from = place(product.inputs[k]);
    if (from >= reals.size()) return std::nullopt;
    layer.given.push_back(k < 2 ? n.Input(from) : reals[from]);
  }
  // The data's range stands first, then that of weights that are integers.
  if (layer.given.size() < 2 || place(product.inputs[0]) != 0) return std::nullopt;
  const DType dtype = layer.given[0].dtype();
  if (dtype != DType::kInt8 && dtype != DType::kUInt8) return std::nullopt;
  at = i;
  for (size_t k = i + 1; k < graph.nodes.size(); ++k) {
    const SymbolNode& norm = graph.nodes[k];
    if (norm.op != "BatchNorm" || norm.inputs.size() != 5 || norm.inputs[0].node != i) continue;
    layer.norm = &norm;
    at = k;
    for (size_t m = 1; m < 5; ++m) {
      const size_t from = place(norm.inputs[m]);
      if (from >= reals.size()) return std::nullopt;
      layer.scales.push_back(reals[from]);
    }
  }
  return IntegerLayer(n, layer);
}

// Whether the last of a subgraph gives nothing below 0: bytes have no sign then.
bool EndsPositive(const Symbol& graph) {
  const SymbolNode& last = graph.nodes[graph.heads[0].node];
  const auto attr = last.attrs.find("act_type");
  const std::string kind = attr == last.attrs.end() ? "" : attr->second;
  if (last.op == "Activation") return kind == "relu" || kind == "sigmoid" || kind == "softrelu";
  static constexpr std::string_view kOps[] = {"relu", "sigmoid", "clip", "square",
                                              "sqrt", "exp",     "abs"};
  return std::ranges::find(kOps, last.op) != std::end(kOps);
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
    size_t at = i;
    if (const auto product = LayerAt(n, i, reals, at)) known[at] = *product;
  }
  const std::vector<Value> heads = n.Subgraph(0, reals, known);
  if (heads.empty() || !n.b().status().ok()) return {};
  if (!quantised) return heads;
  const Term real(n.b(), heads[0]);
  const bool is_positive = EndsPositive(graph);
  if (known.empty() || CalibratedRange(n) || n.Bool("enable_float_output", false))
    return Results(n, real, is_positive);
  // The range that sums get is of whole levels.
  const DType dtype = n.Input(0).dtype();
  const double factor =
      LevelsOf(dtype) / GreatestOf(dtype) * LevelsOf(DType::kInt8) / GreatestOf(DType::kInt8);
  return Results(n, real * factor, is_positive);
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
  return Results(n, Term(n.b(), out[0]), n.Float("min_calib_range", -1) >= 0);
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
    {"_contrib_quantized_elemwise_add", 6, 6, QuantizedSum},
    {"_contrib_quantized_elemwise_mul", 6, 6, QuantizedTimes},
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

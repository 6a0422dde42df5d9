// Recurrent layers: LSTM, GRU, RNN; DynamicQuantizeLSTM of com.microsoft. See
// composite/recurrent.h.
#include <fmt/format.h>

#include "compiler/import/composite/recurrent.h"
#include "compiler/import/onnx/checked.h"

namespace relayvm::import {

namespace {

// Those of all directions, one after the other. Alphas and betas go to those that take them.
std::vector<RecurrentActivation> ActivationsOf(NodeContext& n,
                                               const std::vector<std::string>& defaults,
                                               int directions) {
  std::vector<std::string> names = n.Strings("activations");
  const size_t count = defaults.size() * static_cast<size_t>(directions);
  if (names.empty()) {
    for (int d = 0; d < directions; ++d)
      names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != count)
    return n.Fail("activations: expected {}, found {}", count, names.size());
  const std::vector<double> alphas = n.Floats("activation_alpha"),
                            betas = n.Floats("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<RecurrentActivation> out;
  for (const std::string& name : names) {
    const ActivationDef* def = FindActivation(name);
    if (def == nullptr) return n.Unsupported("activation {} is not supported", name);
    RecurrentActivation bound{def};
    if (def->parameters > 0 && alpha < alphas.size()) bound.alpha = alphas[alpha++];
    if (def->parameters > 1 && beta < betas.size()) bound.beta = betas[beta++];
    out.push_back(bound);
  }
  return out;
}

struct Layer {
  RecurrentCell cell;
  std::string_view gates;
  std::vector<std::string> activations;
  // W and R are of 8 bits, (directions, columns, gates * hidden); inputs 8 to 11 hold their scales
  // and zero points.
  bool quantised = false;
};

// What the inputs say, checked.
struct LayerInputs {
  Value x, w, r;  // x: (time, batch, width)
  Value initial[2];
  int directions;
  int64_t hidden;
};

// (batch, time, ...) as (time, batch, ...) and back, where the node's layout says so.
Value TimeFirst(NodeContext& n, const Value& v) {
  return v && n.Int("layout", 0) != 0 ? n.b().Transpose(v, {1, 0, 2}) : v;
}

// The units of a direction, as R or the node says.
std::optional<int64_t> HiddenOf(NodeContext& n, const Layer& layer) {
  const auto gates = static_cast<int64_t>(layer.gates.size());
  const int width_axis = layer.quantised ? 1 : 2;
  const int64_t declared = n.Int("hidden_size", 0);
  if (!n.Input(2).dim(width_axis).is_const() && declared > 0 && declared <= INT32_MAX) {
    const Dim one(declared), all(declared * gates), any = Dim::Any();
    const std::vector<Dim> shape =
        layer.quantised ? std::vector{any, one, all} : std::vector{any, all, one};
    if (!n.ExpectShape(2, shape, "R")) return std::nullopt;
  }
  const Dim width = n.Input(2).dim(width_axis);
  if (!width.is_const()) return n.Unsupported("the hidden size must be known; fix R with --shape");
  if (width.value() > INT32_MAX) return n.Fail("the hidden size is out of range");
  if (n.HasAttr("hidden_size") && declared != width.value())
    return n.Fail("hidden_size is {}, but R is of {}", declared, width.value());
  return width.value();
}

// Whether all inputs have the shapes that x, R and the direction ask for.
bool FitInputs(NodeContext& n, const Layer& layer, const LayerInputs& in) {
  const Dim d(in.directions), hidden(in.hidden);
  const Dim rows(in.hidden * static_cast<int64_t>(layer.gates.size()));
  const auto weights = [&](std::string_view what, const Value& v, const Dim& columns) {
    return layer.quantised ? n.FitsShape(v, {d, columns, rows}, what)
                           : n.FitsShape(v, {d, rows, columns}, what);
  };
  if (!weights("W", in.w, in.x.dim(2)) || !weights("R", in.r, hidden)) return false;
  for (size_t i = 8; layer.quantised && i < 12; ++i) {
    const std::string_view what = i % 2 == 0 ? "a scale" : "a zero point";
    const Value v = n.Input(i);
    if (!v) return n.Fail("expected {} as input {}", what, i), false;
    if (!n.FitsShape(v, v.rank() == 1 ? std::vector{d} : std::vector{d, rows}, what)) return false;
  }
  const auto fits = [&](const Value& v, const std::vector<Dim>& shape, std::string_view what) {
    return !v || n.FitsShape(v, shape, what);
  };
  const std::vector<Dim> state = {d, in.x.dim(1), hidden};
  return fits(n.Input(3), {d, rows * Dim(2)}, "B") &&
         fits(n.Input(4), {in.x.dim(1)}, "sequence_lens") &&
         fits(n.Input(7), {d, Dim(3 * in.hidden)}, "P") &&
         fits(in.initial[0], state, "the initial state") &&
         fits(in.initial[1], state, "the initial state");
}

// Part `d` of the first axis.
Value Direction(TypedBuilder& b, const Value& v, int64_t d) {
  if (!v) return v;
  if (v.dim(0).is_const(1)) return b.Squeeze(v, {0});
  return b.Squeeze(Term(b, v).Slice(0, d, d + 1), {0});
}

RecurrentDirection DirectionOf(NodeContext& n, const Layer& layer, const LayerInputs& in,
                               int64_t k) {
  TypedBuilder& b = n.b();
  const auto weights = [&](const Value& v, size_t scale) {
    if (!layer.quantised) return RecurrentWeights{Direction(b, v, k), {}, {}};
    return RecurrentWeights{Direction(b, v, k), Direction(b, n.Input(scale), k),
                            Direction(b, n.Input(scale + 1), k)};
  };
  RecurrentDirection d;
  d.input = weights(in.w, 8);
  d.recurrent = weights(in.r, 10);
  if (const Value bias = Direction(b, n.Input(3), k)) {
    const std::vector<Value> both =
        b.Ops("split", {bias}, {{"indices_or_sections", 2}, {"axis", 0}});
    if (both.size() == 2) d.bias = both[0], d.recurrent_bias = both[1];
  }
  if (const Value peepholes = Direction(b, n.Input(7), k)) {
    const auto part = [&](int64_t i) {
      return Term(b, peepholes).Slice(0, i * in.hidden, (i + 1) * in.hidden).value();
    };
    d.peephole_i = part(0), d.peephole_o = part(1), d.peephole_f = part(2);
  }
  d.initial_h = Direction(b, in.initial[0], k);
  d.initial_c = Direction(b, in.initial[1], k);
  return d;
}

Outputs Layers(NodeContext& n, const Layer& layer) {
  TypedBuilder& b = n.b();
  for (size_t i = 0; i < 3; ++i) {
    if (n.Input(i).rank() == 3) continue;
    return n.Fail("expected X, W and R of rank 3, found {}, {} and {}", n.Input(0).rank(),
                  n.Input(1).rank(), n.Input(2).rank());
  }
  const std::string way = n.String("direction", "forward");
  if (way != "forward" && way != "reverse" && way != "bidirectional")
    return n.Fail("direction: expected forward, reverse or bidirectional, found {}", way);
  const int directions = way == "bidirectional" ? 2 : 1;
  const auto hidden = HiddenOf(n, layer);
  if (!hidden) return {};
  const LayerInputs in{TimeFirst(n, n.Input(0)),
                       n.Input(1),
                       n.Input(2),
                       {TimeFirst(n, n.Input(5)), TimeFirst(n, n.Input(6))},
                       directions,
                       *hidden};
  if (!FitInputs(n, layer, in)) return {};
  const auto activations = ActivationsOf(n, layer.activations, directions);
  RecurrentSpec spec{.cell = layer.cell, .gates = layer.gates, .hidden = *hidden, .x = in.x};
  spec.clip = n.Float("clip", 0);
  spec.reset_after = n.Int("linear_before_reset", 0) != 0;
  spec.coupled_forget = n.Int("input_forget", 0) != 0;
  spec.wants_y = n.WantsOutput(0);
  if (!b.status().ok()) return {};
  if (n.Has(4)) spec.lengths.emplace(n, 4, "sequence_lens");
  for (int k = 0; k < directions; ++k) {
    RecurrentDirection d = DirectionOf(n, layer, in, k);
    d.backward = way == "reverse" || k == 1;
    const auto first = activations.begin() + static_cast<ptrdiff_t>(layer.activations.size()) * k;
    d.activations.assign(first, first + static_cast<ptrdiff_t>(layer.activations.size()));
    spec.directions.push_back(std::move(d));
  }
  if (!b.status().ok()) return {};
  std::vector<Value> ys, hs, cs;
  for (const RecurrentResult& r : Recurrent(b, spec)) {
    if (r.y) ys.push_back(b.ExpandDims(r.y, 1));
    hs.push_back(b.ExpandDims(r.h, 0));
    if (r.c) cs.push_back(b.ExpandDims(r.c, 0));
  }
  if (hs.empty()) return {};
  Outputs out(1);
  if (!ys.empty()) {
    out[0] = b.Concat(ys, 1);
    if (n.Int("layout", 0) != 0) out[0] = b.Transpose(out[0], {2, 0, 1, 3});
  }
  out.push_back(TimeFirst(n, b.Concat(hs, 0)));
  if (!cs.empty()) out.push_back(TimeFirst(n, b.Concat(cs, 0)));
  return out;
}

Outputs Lstm(NodeContext& n) {
  return Layers(n, {RecurrentCell::kLstm, "iofc", {"Sigmoid", "Tanh", "Tanh"}});
}
Outputs Gru(NodeContext& n) { return Layers(n, {RecurrentCell::kGru, "zrh", {"Sigmoid", "Tanh"}}); }
Outputs Rnn(NodeContext& n) { return Layers(n, {RecurrentCell::kPlain, "h", {"Tanh"}}); }

// The state is quantised as a whole too. ONNX Runtime does it for parts of a large batch, as many
// as it has threads.
Outputs DynamicQuantizeLstm(NodeContext& n) {
  for (size_t i : {1, 2}) {
    const DType dtype = n.Input(i).dtype();
    if (dtype == DType::kInt8 || dtype == DType::kUInt8) continue;
    return n.Fail("expected weights of int8 or uint8, found {}", DTypeName(dtype));
  }
  return Layers(n, {RecurrentCell::kLstm, "iofc", {"Sigmoid", "Tanh", "Tanh"}, true});
}

constexpr OperatorDef kRnnOperators[] = {
    {"GRU", 3, 6, Gru},
    {"LSTM", 3, 8, Lstm},
    {"RNN", 3, 6, Rnn},
    {"DynamicQuantizeLSTM", 3, 12, DynamicQuantizeLstm, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> RecurrentOperators() { return kRnnOperators; }

}  // namespace relayvm::import

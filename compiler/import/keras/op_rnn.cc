// Recurrent layers, their cells, and layers around other layers. Layers of which all steps count
// are composite/recurrent.h's; others are loops over their cells.
#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/recurrent.h"
#include "compiler/import/composite/window.h"
#include "compiler/import/keras/model_builder.h"

namespace relayvm::import::keras {

namespace {

using State = TypedBuilder::State;

// --- Cells ---

struct CellStep {
  Value output;
  State state;
};
struct Cell {
  std::vector<int64_t> sizes;  // of its states
  std::function<CellStep(const Term& x, const State& state)> step;
};

struct CellWeights {
  Value kernel, recurrent, bias;
};
CellWeights WeightsOf(LayerContext& n, std::string_view part) {
  CellWeights w{n.Weight(part), n.Weight(part), {}};
  if (n.Bool("use_bias", true)) w.bias = n.Weight(part);
  return w;
}
std::vector<Term> Gates(const Term& all, int64_t count) {
  TypedBuilder& b = all.b();
  std::vector<Term> gates;
  for (const Value& v :
       b.Ops("split", {all}, {{"indices_or_sections", count}, {"axis", all.rank() - 1}}))
    gates.emplace_back(b, v);
  while (static_cast<int64_t>(gates.size()) < count) gates.push_back(all);
  return gates;
}
Term Product(const Term& x, const Value& w) { return x.Call("nn.matmul", w); }

Cell PlainCell(LayerContext& n, std::string_view part) {
  const CellWeights w = WeightsOf(n, part);
  return {{n.Int("units", 1)}, [&n, w](const Term& x, const State& state) -> CellStep {
            Term y = Product(x, w.kernel) + Product({x.b(), state[0]}, w.recurrent);
            if (w.bias) y = y + Term(x.b(), w.bias);
            const Value out = n.Activated(y, "activation", "tanh");
            return {out, {out}};
          }};
}

Cell LstmCell(LayerContext& n, std::string_view part) {
  const CellWeights w = WeightsOf(n, part);
  const int64_t units = n.Int("units", 1);
  return {{units, units}, [&n, w](const Term& x, const State& state) -> CellStep {
            Term all = Product(x, w.kernel) + Product({x.b(), state[0]}, w.recurrent);
            if (w.bias) all = all + Term(x.b(), w.bias);
            const std::vector<Term> g = Gates(all, 4);
            const auto gate = [&](size_t i) {
              return n.Activated(g[i], "recurrent_activation", "sigmoid");
            };
            const Term c =
                gate(1) * Term(x.b(), state[1]) + gate(0) * n.Activated(g[2], "activation", "tanh");
            const Value h = gate(3) * n.Activated(c, "activation", "tanh");
            return {h, {h, c}};
          }};
}

Cell GruCell(LayerContext& n, std::string_view part) {
  const CellWeights w = WeightsOf(n, part);
  const bool after = n.Bool("reset_after", n.model().version >= 3);
  return {{n.Int("units", 1)}, [&n, w, after](const Term& x, const State& state) -> CellStep {
            TypedBuilder& b = x.b();
            const Term h(b, state[0]);
            Term own = Product(x, w.kernel);
            std::optional<Term> recurrent_bias;
            if (w.bias && w.bias.rank() == 2) {
              own = own + Term(b, w.bias).Slice(0, 0, 1).Reshape({-1});
              recurrent_bias = Term(b, w.bias).Slice(0, 1, 2).Reshape({-1});
            } else if (w.bias) {
              own = own + Term(b, w.bias);
            }
            const std::vector<Term> xs = Gates(own, 3);
            const auto gate = [&](const Term& v) {
              return n.Activated(v, "recurrent_activation", "sigmoid");
            };
            if (after) {
              Term all = Product(h, w.recurrent);
              if (recurrent_bias) all = all + *recurrent_bias;
              const std::vector<Term> hs = Gates(all, 3);
              const Term z = gate(xs[0] + hs[0]), r = gate(xs[1] + hs[1]);
              const Value y =
                  z * h + (1.0 - z) * n.Activated(xs[2] + r * hs[2], "activation", "tanh");
              return {y, {y}};
            }
            const std::vector<Term> ws = Gates({b, w.recurrent}, 3);
            const Term z = gate(xs[0] + Product(h, ws[0])), r = gate(xs[1] + Product(h, ws[1]));
            const Value y = z * h + (1.0 - z) * n.Activated(xs[2] + Product(r * h, ws[2]),
                                                            "activation", "tanh");
            return {y, {y}};
          }};
}

std::optional<Cell> CellNamed(LayerContext& n, std::string_view name, std::string_view part) {
  if (name == "SimpleRNN" || name == "SimpleRNNCell") return PlainCell(n, part);
  if (name == "LSTM" || name == "LSTMCell") return LstmCell(n, part);
  if (name == "GRU" || name == "GRUCell") return GruCell(n, part);
  return std::nullopt;
}

// --- Loops ---

// Time first, and back.
Value Swapped(TypedBuilder& b, const Value& v) {
  std::vector<int64_t> axes = Iota(v.rank());
  std::swap(axes[0], axes[1]);
  return b.Transpose(v, axes);
}

struct Unrolled {
  Value y, last;  // y: (time, batch, ...)
  State state;
};
// Over x (time, batch, ...). Steps that do not count (`mask`, (time, batch)) keep state and output.
std::optional<Unrolled> RunCell(LayerContext& n, const Cell& cell, const Value& x,
                                const Value& mask, const State& initial, bool backward,
                                const Value& first_output) {
  TypedBuilder& b = n.b();
  ScanSpec spec{.initial = initial, .scanned = {x}, .backward = {backward}};
  spec.initial.push_back(first_output);
  if (mask) {
    spec.scanned.push_back(mask);
    spec.backward.push_back(backward);
  }
  const bool zeros = n.Bool("zero_output_for_mask", false);
  spec.body = [&](const State& state, const std::vector<Value>& rows) {
    const State own(state.begin(), state.end() - 1);
    CellStep step = cell.step({b, rows[0]}, own);
    Value collected = step.output;
    if (rows.size() > 1) {
      const auto kept = [&](const Value& now, const Value& before) {
        Term counts(b, rows[1]);
        counts = counts.Expand(1, now.rank() - 1);
        return Select(counts, Term(b, now), Term(b, before)).value();
      };
      for (size_t i = 0; i < own.size(); ++i) step.state[i] = kept(step.state[i], own[i]);
      collected = kept(step.output, zeros ? b.Op("zeros_like", {step.output}) : state.back());
      step.output = kept(step.output, state.back());
    }
    Turn turn{.next = step.state};
    turn.next.push_back(step.output);
    turn.rows = {collected};
    return turn;
  };
  spec.nodes = 16;
  State last = ScanRows(b, spec);
  if (!b.status().ok() || last.size() != initial.size() + 2) return std::nullopt;
  Unrolled out{last.back(), last[initial.size()], {}};
  out.state.assign(last.begin(), last.begin() + static_cast<ptrdiff_t>(initial.size()));
  return out;
}

State ZeroStates(LayerContext& n, const Value& batch, const std::vector<int64_t>& sizes,
                 DType dtype) {
  State zeros;
  for (const int64_t size : sizes)
    zeros.push_back(Filled(n, 0, dtype, n.b().Concat({batch, n.b().Ints({size})}, 0)));
  return zeros;
}

// What the layer hands on, of y (time, batch, ..) in the order of the steps.
Outputs Results(LayerContext& n, const Value& y, const Value& last, const State& state) {
  Outputs out = {
      n.Bool("return_sequences", false) ? (n.Bool("time_major", false) ? y : Swapped(n, y)) : last};
  n.keeps_mask = n.Bool("return_sequences", false);
  if (n.Bool("return_state", false)) out.insert(out.end(), state.begin(), state.end());
  return out;
}

// --- State between runs ---

// Of a layer that is stateful: what its states were; the layers' own states otherwise, `zeros`.
// Nullopt with an error.
std::optional<State> KeptOr(LayerContext& n, const State& zeros) {
  if (!n.Bool("stateful", false)) return zeros;
  State kept;
  for (size_t i = 0; i < zeros.size(); ++i) {
    const TensorType& type = zeros[i].tensor();
    if (!std::ranges::all_of(type.shape, [](const Dim& d) { return d.is_const(); }))
      return n.Unsupported("stateful: the batch's extent must be known");
    kept.push_back(n.model().StateOf(n.StateName(i), type.shape, type.dtype).current);
  }
  return kept;
}
void Keep(LayerContext& n, const State& state) {
  if (!n.Bool("stateful", false)) return;
  for (size_t i = 0; i < state.size(); ++i) {
    const TensorType& type = state[i].tensor();
    n.model().StateOf(n.StateName(i), type.shape, type.dtype).current = state[i];
  }
}

Outputs ByCell(LayerContext& n, const Cell& cell) {
  TypedBuilder& b = n.b();
  if (!b.status().ok()) return {};
  const bool time_major = n.Bool("time_major", false);
  const Value x = time_major ? n.Input(0) : Swapped(b, n.Input(0));
  State initial(n.inputs().begin() + 1, n.inputs().end());
  const DType dtype = x.dtype();
  for (const int64_t size : cell.sizes) {
    if (size < 1 || size > INT32_MAX) return n.Fail("units: out of range");
  }
  const State zeros = ZeroStates(n, b.DimOf(x, 1), cell.sizes, dtype);
  if (initial.empty()) {
    const auto kept = KeptOr(n, zeros);
    if (!kept) return {};
    initial = *kept;
  }
  if (initial.size() != cell.sizes.size())
    return n.Fail("expected {} initial states, found {}", cell.sizes.size(), initial.size());
  const Value mask = n.Mask() ? (time_major ? n.Mask() : Swapped(b, n.Mask())) : Value{};
  // The output of stacked cells is the last one's, whose first state has its size.
  const auto size = cell.sizes;
  const Value first = ZeroStates(n, b.DimOf(x, 1), {size.back()}, dtype)[0];
  const bool backward = n.Bool("go_backwards", false);
  const auto run = RunCell(n, cell, x, mask, initial, backward, first);
  if (!run) return {};
  Keep(n, run->state);
  return Results(n, run->y, run->last, run->state);
}

// --- Layers ---

std::optional<RecurrentActivation> Bound(LayerContext& n, std::string_view key,
                                         std::string_view fallback) {
  const Json* given = n.IsNull(key) ? nullptr : Member(n.config(), key);
  if (given != nullptr && !given->is_string()) return std::nullopt;
  const std::string name = given == nullptr ? std::string(fallback) : given->get<std::string>();
  const ActivationDef* def = FindActivation(name == "linear"         ? "identity"
                                            : name == "hard_sigmoid" ? "hardsigmoid"
                                                                     : name);
  if (def == nullptr) return std::nullopt;
  RecurrentActivation bound{def};
  bound.alpha = bound.def->alpha, bound.beta = bound.def->beta;
  if (name == "hard_sigmoid")
    bound.alpha = n.model().version >= 3 ? 1.0 / 6 : 0.2, bound.beta = 0.5;
  return bound;
}

Outputs Layer(LayerContext& n) {
  TypedBuilder& b = n.b();
  const std::string kind = n.class_name();
  const bool lstm = kind == "LSTM", gru = kind == "GRU";
  if (n.Input(0).rank() != 3)
    return n.Fail("expected an input of rank 3, found {}", n.Input(0).rank());
  const auto own = Bound(n, "activation", "tanh");
  const auto gate = lstm || gru ? Bound(n, "recurrent_activation", "sigmoid") : own;
  const int64_t units = n.Int("units", 1);
  if (units < 1 || units > INT32_MAX) return n.Fail("units: out of range");
  if (n.Mask() || !own || !gate) {
    const auto cell = CellNamed(n, kind, "cell");
    return cell ? ByCell(n, *cell) : Outputs{};
  }
  const CellWeights w = WeightsOf(n, "cell");
  if (!b.status().ok()) return {};
  const bool time_major = n.Bool("time_major", false), backward = n.Bool("go_backwards", false);
  RecurrentSpec spec{.cell = lstm  ? RecurrentCell::kLstm
                             : gru ? RecurrentCell::kGru
                                   : RecurrentCell::kPlain,
                     .gates = lstm  ? "ifco"
                              : gru ? "zrh"
                                    : "h",
                     .hidden = units,
                     .x = time_major ? n.Input(0) : Swapped(b, n.Input(0))};
  spec.reset_after = gru && n.Bool("reset_after", n.model().version >= 3);
  spec.wants_y = n.Bool("return_sequences", false);
  RecurrentDirection d;
  d.backward = backward;
  d.input.w = b.Transpose(w.kernel, {1, 0});
  d.recurrent.w = b.Transpose(w.recurrent, {1, 0});
  if (w.bias && w.bias.rank() == 2) {
    d.bias = Term(b, w.bias).Slice(0, 0, 1).Reshape({-1});
    d.recurrent_bias = Term(b, w.bias).Slice(0, 1, 2).Reshape({-1});
  } else {
    d.bias = w.bias;
  }
  if (n.Has(1)) d.initial_h = n.Input(1);
  if (lstm && n.Has(2)) d.initial_c = n.Input(2);
  if (!n.Has(1) && n.Bool("stateful", false)) {
    const std::vector<int64_t> sizes(lstm ? 2 : 1, units);
    const auto kept = KeptOr(n, ZeroStates(n, b.DimOf(spec.x, 1), sizes, spec.x.dtype()));
    if (!kept) return {};
    d.initial_h = (*kept)[0];
    if (lstm) d.initial_c = (*kept)[1];
  }
  d.activations = lstm  ? std::vector{*gate, *own, *own}
                  : gru ? std::vector{*gate, *own}
                        : std::vector{*own};
  spec.directions.push_back(std::move(d));
  const auto results = Recurrent(b, spec);
  if (results.empty() || !b.status().ok()) return {};
  Value y = results[0].y;
  if (y && backward) y = b.Op("reverse", {y}, {{"axis", 0}});
  State state = {results[0].h};
  if (lstm) state.push_back(results[0].c);
  Keep(n, state);
  return Results(n, y, results[0].h, state);
}

// A cell that is called as a layer: its input, then its states.
Outputs OneStep(LayerContext& n) {
  const auto cell = CellNamed(n, n.class_name(), "");
  if (!cell || !n.b().status().ok()) return {};
  const State state(n.inputs().begin() + 1, n.inputs().end());
  if (state.size() != cell->sizes.size())
    return n.Fail("expected {} states, found {}", cell->sizes.size(), state.size());
  const CellStep step = cell->step({n, n.Real(0)}, state);
  Outputs out = {step.output};
  out.insert(out.end(), step.state.begin(), step.state.end());
  return out;
}

// RNN: a cell, or several of which each takes the output of the one before.
Outputs OfCells(LayerContext& n) {
  const Json* cell = n.IsNull("cell") ? nullptr : Member(n.config(), "cell");
  if (cell == nullptr && !n.IsNull("layer")) cell = Member(n.config(), "layer");
  if (cell == nullptr) return n.Fail("expected a cell");
  std::vector<const Json*> all = {cell};
  const bool stacked = TextAt(*cell, "class_name") == "StackedRNNCells";
  if (stacked) {
    const Json* config = Member(*cell, "config");
    const Json* cells = config == nullptr ? nullptr : Member(*config, "cells");
    if (cells == nullptr || !cells->is_array() || cells->empty()) return n.Fail("expected cells");
    all.clear();
    for (const Json& c : *cells) all.push_back(&c);
  }
  std::vector<std::unique_ptr<LayerContext>> contexts;
  std::vector<Cell> cells;
  std::map<std::string, int> seen;
  for (const Json* c : all) {
    const std::string name = TextAt(*c, "class_name"), snake = SnakeCase(name);
    std::string part = "cell";
    if (stacked) {
      const int count = seen[snake]++;
      part += "/cells/" + snake + (count == 0 ? "" : "_" + std::to_string(count));
    }
    contexts.push_back(
        std::make_unique<LayerContext>(n.model(), *c, n.weights(), std::vector<Value>{}));
    contexts.back()->weight_dtype = n.weight_dtype;
    auto made = CellNamed(*contexts.back(), name, part);
    if (!made) return n.Unsupported("cells of the kind {} are not supported", name);
    cells.push_back(*std::move(made));
  }
  Cell whole;
  for (const Cell& c : cells) whole.sizes.insert(whole.sizes.end(), c.sizes.begin(), c.sizes.end());
  whole.step = [&cells](const Term& x, const State& state) -> CellStep {
    CellStep all{x, {}};
    auto at = state.begin();
    for (const Cell& c : cells) {
      const auto end = at + static_cast<ptrdiff_t>(c.sizes.size());
      const CellStep one = c.step({x.b(), all.output}, State(at, end));
      all.output = one.output;
      all.state.insert(all.state.end(), one.state.begin(), one.state.end());
      at = end;
    }
    return all;
  };
  return ByCell(n, whole);
}

// Gates are convolutions. x is (batch, time, spatial.., channels).
template <size_t kSpatial>
Outputs ConvLstm(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const CellWeights w = WeightsOf(n, "cell");
  if (!b.status().ok()) return {};
  if (x.rank() != static_cast<int>(kSpatial) + 3 ||
      w.kernel.rank() != static_cast<int>(kSpatial) + 2)
    return n.Fail("expected an input of rank {}", kSpatial + 3);
  if (!n.ChannelsLast()) return n.Unsupported("data_format: expected channels_last");
  const auto spread = [&](std::vector<int64_t> v) {
    if (v.size() == 1) v.assign(kSpatial, v[0]);
    return v;
  };
  Window window{.strides = spread(n.Ints("strides", {1})),
                .dilations = spread(n.Ints("dilation_rate", {1}))};
  for (size_t i = 0; i < kSpatial; ++i) {
    const Dim d = w.kernel.dim(static_cast<int>(i));
    if (!d.is_const()) return n.Fail("the kernel's extents must be known");
    window.kernel.push_back(d.value());
  }
  window.channels_last = true;
  if (n.String("padding", "valid") == "same") window.padding = WindowPadding::kSameUpper;
  constexpr std::string_view kLayouts[] = {"WIO", "HWIO", "DHWIO"};
  const ConvSpec of_x{.window = window, .kernel_layout = std::string(kLayouts[kSpatial - 1])};
  ConvSpec of_h = of_x;
  of_h.window.strides.assign(kSpatial, 1);
  of_h.window.dilations.assign(kSpatial, 1);
  of_h.window.padding = WindowPadding::kSameUpper;
  // The inputs' part of all steps at once.
  std::vector<Value> flat = {ProductOfDims(b, x, 0, 2)}, steps = {b.DimOf(x, 0), b.DimOf(x, 1)};
  for (int i = 2; i < x.rank(); ++i) flat.push_back(b.DimOf(x, i));
  auto parts = Convolved(b, ShapedAs(b, x, flat), w.kernel, of_x);
  if (!parts) return {};
  if (w.bias) parts = (Term(b, *parts) + Term(b, w.bias)).value();
  std::vector<Value> shape = {b.DimOf(x, 0)};
  for (int i = 1; i < parts->rank(); ++i) steps.push_back(b.DimOf(*parts, i));
  for (int i = 1; i + 1 < parts->rank(); ++i) shape.push_back(b.DimOf(*parts, i));
  shape.push_back(b.DimOf(w.recurrent, -2));
  const Value rows = Swapped(b, ShapedAs(b, *parts, steps));
  const Value zeros = Filled(b, 0, x.dtype(), b.Concat(shape, 0));
  Cell cell;
  cell.step = [&](const Term& part, const State& state) -> CellStep {
    const auto moved = Convolved(b, state[0], w.recurrent, of_h);
    if (!moved) return {state[0], state};
    const std::vector<Term> g = Gates(part + Term(b, *moved), 4);
    const auto gate = [&](size_t i) {
      return n.Activated(g[i], "recurrent_activation", "sigmoid");
    };
    const Term c = gate(1) * Term(b, state[1]) + gate(0) * n.Activated(g[2], "activation", "tanh");
    const Value h = gate(3) * n.Activated(c, "activation", "tanh");
    return {h, {h, c}};
  };
  State initial(n.inputs().begin() + 1, n.inputs().end());
  if (initial.empty()) {
    const auto kept = KeptOr(n, {zeros, zeros});
    if (!kept) return {};
    initial = *kept;
  }
  if (initial.size() != 2) return n.Fail("expected 2 initial states, found {}", initial.size());
  const auto run = RunCell(n, cell, rows, n.Mask() ? Swapped(b, n.Mask()) : Value{}, initial,
                           n.Bool("go_backwards", false), zeros);
  if (!run) return {};
  Keep(n, run->state);
  return Results(n, run->y, run->last, run->state);
}

// --- Layers around a layer ---

// The inner layer `layer`, whose weights are the part of that name.
std::vector<Tensor> CallInner(LayerContext& n, const Json& layer, const std::string& part,
                              const std::vector<Tensor>& inputs) {
  WeightScope inner = n.weights();
  if (inner.by_place) {
    inner.Rewind();
    inner.place += "/" + part;
  }
  auto out = n.model().Call(layer, inner, inputs);
  if (!inner.by_place) n.weights().next = inner.next;
  return out;
}

Outputs Bidirectional(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Json* layer = n.IsNull("layer") ? nullptr : Member(n.config(), "layer");
  const Json* config = layer == nullptr ? nullptr : Member(*layer, "config");
  if (config == nullptr || !config->is_object()) return n.Fail("expected a layer");
  const auto flag = [&](const Json& of, const char* key) {
    const Json* v = Member(of, key);
    return v != nullptr && v->is_boolean() && v->get<bool>();
  };
  Json one_way = *layer;
  // Keras 2 says so itself to layers that it runs both ways.
  if (n.model().version < 3 && flag(*config, "return_sequences"))
    one_way["config"]["zero_output_for_mask"] = true;
  Json other = one_way;
  if (n.IsNull("backward_layer")) {
    other["config"]["go_backwards"] = !flag(*config, "go_backwards");
  } else {
    other = *n.Setting("backward_layer");
    if (!other.is_object()) return n.Fail("backward_layer: expected a layer");
  }
  const size_t states = (n.num_inputs() - 1) / 2;
  std::vector<Tensor> first = {{n.Input(0), n.Mask()}}, second = first;
  for (size_t i = 0; i < states; ++i) {
    first.push_back({n.Input(1 + i), {}});
    second.push_back({n.Input(1 + states + i), {}});
  }
  const auto forward = CallInner(n, one_way, "forward_layer", first);
  const auto backward = CallInner(n, other, "backward_layer", second);
  if (forward.empty() || backward.empty() || !b.status().ok()) return {};
  const bool sequences = flag(*config, "return_sequences");
  n.keeps_mask = sequences;
  const Value one = forward[0].value;
  const Value two =
      sequences ? b.Op("reverse", {backward[0].value}, {{"axis", 1}}) : backward[0].value;
  const Term x(b, one), y(b, two);
  const std::string mode = n.IsNull("merge_mode") ? "none" : n.String("merge_mode", "concat");
  const bool unsaid = Member(n.config(), "merge_mode") == nullptr;
  Outputs out;
  if (unsaid || mode == "concat") {
    out = {b.Concat({one, two}, one.rank() - 1)};
  } else if (mode == "sum") {
    out = {x + y};
  } else if (mode == "mul") {
    out = {x * y};
  } else if (mode == "ave") {
    out = {(x + y) / 2};
  } else if (mode == "none") {
    out = {one, two};
  } else {
    return n.Fail("merge_mode: '{}' is not known", mode);
  }
  for (size_t i = 1; i < forward.size(); ++i) out.push_back(forward[i].value);
  for (size_t i = 1; i < backward.size(); ++i) out.push_back(backward[i].value);
  return out;
}

// The layer on each step: steps are batches to it.
Outputs TimeDistributed(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Json* layer = n.IsNull("layer") ? nullptr : Member(n.config(), "layer");
  if (layer == nullptr) return n.Fail("expected a layer");
  const Value x = n.Input(0);
  if (x.rank() < 3) return n.Fail("expected an input of rank 3 or more");
  std::vector<Value> dims = {ProductOfDims(b, x, 0, 2)};
  for (int i = 2; i < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
  const auto y = CallInner(n, *layer, "layer", {{ShapedAs(b, x, dims), {}}});
  if (y.empty() || !b.status().ok()) return {};
  std::vector<Value> back = {b.DimOf(x, 0), b.DimOf(x, 1)};
  for (int i = 1; i < y[0].value.rank(); ++i) back.push_back(b.DimOf(y[0].value, i));
  return {ShapedAs(b, y[0].value, back)};
}

constexpr LayerDef kRecurrentLayers[] = {
    {"Bidirectional", 1, -1, Bidirectional},
    {"ConvLSTM1D", 1, 3, ConvLstm<1>},
    {"ConvLSTM2D", 1, 3, ConvLstm<2>},
    {"ConvLSTM3D", 1, 3, ConvLstm<3>},
    {"GRU", 1, 2, Layer},
    {"GRUCell", 2, 2, OneStep},
    {"LSTM", 1, 3, Layer},
    {"LSTMCell", 3, 3, OneStep},
    {"RNN", 1, -1, OfCells},
    {"SimpleRNN", 1, 2, Layer},
    {"SimpleRNNCell", 2, 2, OneStep},
    {"TimeDistributed", 1, 1, TimeDistributed},
};

}  // namespace

std::span<const LayerDef> RecurrentLayers() { return kRecurrentLayers; }

}  // namespace relayvm::import::keras

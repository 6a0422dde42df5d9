// Recurrent layers: LSTM, GRU, RNN; DynamicQuantizeLSTM of com.microsoft.
//
// What the input contributes to the gates is one product for all steps; then a loop over time, whose
// turn is a product with the state and one kernel for the gates. Y is written in place, row by row.
// Short sequences of a known length are straight code.
#include <fmt/format.h>

#include <cctype>

#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/quantised.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;
using State = TypedBuilder::State;

// --- Activations ---

using RnnActivation = std::function<Value(NodeContext&, const Value&, double alpha, double beta)>;

struct ActivationDef {
  std::string_view name;  // lower case
  int parameters;         // of alpha, beta
  double alpha, beta;     // where the node gives none
  Value (*apply)(NodeContext& n, const Value& x, double alpha, double beta);
};

Value Affine(NodeContext& n, const Value& x, double scale, double shift) {
  TypedBuilder& b = n.b();
  return b.Op("add", {b.Op("multiply", {x, Like(n, x, scale)}), Like(n, x, shift)});
}

constexpr ActivationDef kActivations[] = {
    {"affine", 2, 1, 0, Affine},
    {"elu", 1, 1, 0,
     [](NodeContext& n, const Value& x, double a, double) {
       TypedBuilder& b = n.b();
       const Value zero = Like(n, x, 0);
       const Value low =
           b.Op("subtract", {b.Op("exp", {b.Op("minimum", {x, zero})}), Like(n, x, 1)});
       return b.Op("where", {b.Op("less", {x, zero}), b.Op("multiply", {low, Like(n, x, a)}), x});
     }},
    {"hardsigmoid", 2, 0.2, 0.5,
     [](NodeContext& n, const Value& x, double a, double shift) {
       return n.b().Op("clip", {Affine(n, x, a, shift)}, {{"a_min", 0.0}, {"a_max", 1.0}});
     }},
    {"leakyrelu", 1, 0.01, 0,
     [](NodeContext& n, const Value& x, double a, double) {
       return n.b().Op("nn.leaky_relu", {x}, {{"alpha", a}});
     }},
    {"relu", 0, 0, 0,
     [](NodeContext& n, const Value& x, double, double) { return n.b().Op("nn.relu", {x}); }},
    {"scaledtanh", 2, 1, 1,
     [](NodeContext& n, const Value& x, double a, double scale) {
       TypedBuilder& b = n.b();
       return b.Op("multiply",
                   {b.Op("tanh", {b.Op("multiply", {x, Like(n, x, scale)})}), Like(n, x, a)});
     }},
    {"sigmoid", 0, 0, 0,
     [](NodeContext& n, const Value& x, double, double) { return n.b().Op("sigmoid", {x}); }},
    {"softplus", 0, 0, 0,
     [](NodeContext& n, const Value& x, double, double) {
       return Softplus(Term(n.b(), x)).value();
     }},
    {"softsign", 0, 0, 0,
     [](NodeContext& n, const Value& x, double, double) {
       TypedBuilder& b = n.b();
       return b.Op("divide", {x, b.Op("add", {b.Op("abs", {x}), Like(n, x, 1)})});
     }},
    {"tanh", 0, 0, 0,
     [](NodeContext& n, const Value& x, double, double) { return n.b().Op("tanh", {x}); }},
    {"thresholdedrelu", 1, 1, 0,
     [](NodeContext& n, const Value& x, double a, double) {
       TypedBuilder& b = n.b();
       return b.Op("where", {b.Op("greater", {x, Like(n, x, a)}), x, Like(n, x, 0)});
     }},
};

struct BoundActivation {
  const ActivationDef* def;
  double alpha, beta;
  Value operator()(NodeContext& n, const Value& x) const { return def->apply(n, x, alpha, beta); }
};

const ActivationDef* FindActivation(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const ActivationDef& a : kActivations) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

// Those of all directions, one after the other. Alphas and betas go to those that take them.
std::vector<BoundActivation> ActivationsOf(NodeContext& n, const std::vector<std::string>& defaults,
                                           int directions) {
  std::vector<std::string> names = n.Strings("activations");
  const size_t count = defaults.size() * static_cast<size_t>(directions);
  if (names.empty()) {
    for (int d = 0; d < directions; ++d)
      names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != count) {
    n.Fail(fmt::format("activations: expected {}, found {}", count, names.size()));
    return {};
  }
  const std::vector<double> alphas = n.Floats("activation_alpha"),
                            betas = n.Floats("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<BoundActivation> out;
  for (const std::string& name : names) {
    const ActivationDef* def = FindActivation(name);
    if (def == nullptr) {
      n.Unsupported(fmt::format("activation {} is not supported", name));
      return {};
    }
    BoundActivation bound{def, def->alpha, def->beta};
    if (def->parameters > 0 && alpha < alphas.size()) bound.alpha = alphas[alpha++];
    if (def->parameters > 1 && beta < betas.size()) bound.beta = betas[beta++];
    out.push_back(bound);
  }
  return out;
}

// --- Cells ---

// What a product takes: (units, columns); or of 8 bits, (columns, units), with a scale and a zero
// point for all units or for each.
struct Weights {
  Value w, scale, zero_point;  // no scale: numbers as they are
};

// One direction's weights, and what a turn needs of them.
struct Cell {
  NodeContext& n;
  int64_t hidden;
  std::vector<BoundActivation> act;
  Weights recurrent;     // gates * hidden units of hidden columns
  Value recurrent_bias;  // (gates * hidden), where it is not in the input's product; may be none
  Value peephole;        // (3 * hidden); may be none
  double clip;           // 0: none
  bool linear_before_reset, input_forget;

  Value Clip(const Value& v) const {
    if (clip <= 0) return v;
    return n.b().Op("clip", {v}, {{"a_min", -clip}, {"a_max", clip}});
  }
  Value Act(size_t i, const Value& v) const { return act[i](n, Clip(v)); }
};

std::vector<Value> Split(TypedBuilder& b, const Value& v, int64_t parts, int axis) {
  if (parts == 1) return {v};
  return b.Ops("split", {v}, {{"indices_or_sections", parts}, {"axis", axis}});
}

// Columns first..last of the gates' axis, which is the first.
Value Gates(const Cell& c, const Value& v, int64_t first, int64_t last) {
  return c.n.b().Op("strided_slice", {v},
                    {{"begin", AttrList{first * c.hidden}},
                     {"end", AttrList{last * c.hidden}},
                     {"strides", AttrList{1}}});
}

Value Dense(TypedBuilder& b, const Value& x, const Value& w) {
  return b.Op("nn.dense", {x, w},
              {{"units", w.dim(0).is_const() ? AttrValue(w.dim(0).value()) : AttrValue()}});
}

// By weights of 8 bits `x` is quantised to uint8, by the extremes of the whole of it.
Value Product(NodeContext& n, const Value& x, const Weights& weights) {
  if (!weights.scale) return Dense(n.b(), x, weights.w);
  const DynamicallyQuantised q = QuantiseDynamically(Term(n.b(), x));
  const Term sum = IntegerProduct(n, q.data, q.zero_point, weights.w, weights.zero_point);
  return sum.As(DType::kFloat32) * (q.scale * Term(n.b(), weights.scale));
}

// h' of h: `x` is what the input gives to the gates, (batch, gates * hidden). State: h, for LSTM c.
using StepFn = State (*)(const Cell& cell, const Value& x, const State& state);

State RnnStep(const Cell& c, const Value& x, const State& s) {
  TypedBuilder& b = c.n.b();
  return {c.Act(0, b.Op("add", {Product(c.n, s[0], c.recurrent), x}))};
}

State GruStep(const Cell& c, const Value& x, const State& s) {
  TypedBuilder& b = c.n.b();
  const Value& h = s[0];
  const std::vector<Value> in = Split(b, x, 3, 1);  // z, r, h
  if (in.size() != 3) return s;
  Value z, r, candidate;
  if (c.linear_before_reset) {
    Value product = Product(c.n, h, c.recurrent);
    if (c.recurrent_bias) product = b.Op("add", {product, c.recurrent_bias});
    const std::vector<Value> own = Split(b, product, 3, 1);
    if (own.size() != 3) return s;
    z = c.Act(0, b.Op("add", {in[0], own[0]}));
    r = c.Act(0, b.Op("add", {in[1], own[1]}));
    candidate = b.Op("add", {in[2], b.Op("multiply", {r, own[2]})});
  } else {
    const std::vector<Value> own = Split(b, Dense(b, h, Gates(c, c.recurrent.w, 0, 2)), 2, 1);
    if (own.size() != 2) return s;
    z = c.Act(0, b.Op("add", {in[0], own[0]}));
    r = c.Act(0, b.Op("add", {in[1], own[1]}));
    candidate =
        b.Op("add", {Dense(b, b.Op("multiply", {r, h}), Gates(c, c.recurrent.w, 2, 3)), in[2]});
  }
  candidate = c.Act(1, candidate);
  // (1 - z) * candidate + z * h
  const Value one = Like(c.n, z, 1);
  return {b.Op("add", {b.Op("multiply", {b.Op("subtract", {one, z}), candidate}),
                       b.Op("multiply", {z, h})})};
}

State LstmStep(const Cell& c, const Value& x, const State& s) {
  TypedBuilder& b = c.n.b();
  const Value& memory = s[1];
  const std::vector<Value> gates =
      Split(b, b.Op("add", {Product(c.n, s[0], c.recurrent), x}), 4, 1);  // i, o, f, c
  if (gates.size() != 4) return s;
  const auto peep = [&](const Value& gate, int64_t which, const Value& at) {
    if (!c.peephole) return gate;
    return b.Op("add", {gate, b.Op("multiply", {at, Gates(c, c.peephole, which, which + 1)})});
  };
  const Value i = c.Act(0, peep(gates[0], 0, memory));
  const Value f =
      c.input_forget ? b.Op("subtract", {Like(c.n, i, 1), i}) : c.Act(0, peep(gates[2], 2, memory));
  const Value next =
      b.Op("add", {b.Op("multiply", {f, memory}), b.Op("multiply", {i, c.Act(1, gates[3])})});
  const Value o = c.Act(0, peep(gates[1], 1, next));
  return {b.Op("multiply", {o, c.act[2](c.n, next)}), next};
}

// --- Layers ---

struct Layer {
  int gates;
  StepFn step;
  std::vector<std::string> activations;
  size_t states;  // tensors of the state
  // W and R are of 8 bits, (directions, columns, gates * hidden); inputs 8 to 11 hold their scales
  // and zero points.
  bool quantised = false;
};

// Part `d` of the first axis.
Value Direction(TypedBuilder& b, const Value& v, int64_t d) {
  if (!v) return v;
  if (v.dim(0).is_const(1)) return b.Squeeze(v, {0});
  return b.Squeeze(
      b.Op("strided_slice", {v},
           {{"begin", AttrList{d}}, {"end", AttrList{d + 1}}, {"strides", AttrList{1}}}),
      {0});
}

// zeros of (batch, hidden), where batch is that of x: (time, batch, ...).
Value ZeroState(TypedBuilder& b, const Value& x, int64_t hidden) {
  const DType dtype = x.dtype();
  constexpr int64_t kMostListed = 1 << 24;
  const Dim count = x.dim(1) * Dim(hidden);
  if (count.is_const() && count.value() <= kMostListed) {
    return b.Full({x.dim(1).value(), hidden}, 0, dtype);
  }
  return b.Op("dyn.zeros", {b.Concat({b.DimOf(x, 1), b.Ints({hidden})}, 0)},
              {{"dtype", std::string(DTypeName(dtype))}});
}

// At most so many turns become straight code.
constexpr int64_t kStraightSteps = 2;

struct Run {
  NodeContext& n;
  const Layer& layer;
  const Cell& cell;
  Value projected;  // (time, batch, gates * hidden)
  Value lengths;    // (batch), or none
  bool backward, wants_y;
  State state;  // h, for LSTM c
  Value y;      // (time, batch, hidden)

  // Beyond its length a sequence keeps its state, and Y is 0.
  std::pair<State, Value> Turn(const Value& x, const Value& time, const State& s,
                               const Value& lens) const {
    TypedBuilder& b = n.b();
    State next = layer.step(cell, x, s);
    Value row = next[0];
    if (lens) {
      const Value on = b.ExpandDims(b.Op("less", {time, lens}), 1);
      for (size_t i = 0; i < next.size(); ++i) next[i] = b.Op("where", {on, next[i], s[i]});
      row = b.Op("where", {on, row, Like(n, row, 0)});
    }
    return {next, row};
  }

  void Straight(int64_t turns) {
    TypedBuilder& b = n.b();
    std::vector<Value> rows(static_cast<size_t>(turns));
    for (int64_t i = 0; i < turns; ++i) {
      const int64_t at = backward ? turns - 1 - i : i;
      const Value x = turns == 1 ? b.Squeeze(projected, {0})
                                 : b.Op("take", {projected, b.Int(at)}, {{"axis", 0}});
      auto [next, row] =
          Turn(x, b.Int(i, lengths ? lengths.dtype() : DType::kInt64), state, lengths);
      state = next;
      rows[static_cast<size_t>(at)] = b.ExpandDims(row, 0);
    }
    if (wants_y) y = b.Concat(rows, 0);
  }

  void Loop() {
    TypedBuilder& b = n.b();
    const Value turns = b.Reshape(b.DimOf(projected, 0), {});
    // Time, what the turns read, the state, Y. What the turns read stands in the state so that its
    // dims have the same symbols.
    State start = {b.Int(0), projected};
    const size_t first = lengths ? 3 : 2, last = first + layer.states;
    if (lengths) start.push_back(lengths);
    start.insert(start.end(), state.begin(), state.end());
    if (wants_y) {
      // Zeros of the rows' type; no tensor of constants for a long sequence.
      const Value like = b.Op("strided_slice", {projected},
                              {{"begin", AttrList{0}},
                               {"end", AttrList{cell.hidden}},
                               {"strides", AttrList{1}},
                               {"axes", AttrList{2}}});
      start.push_back(b.Op("zeros_like", {like}));
    }
    const State end = b.While(
        start, [&](const State& s) { return b.Op("less", {s[0], turns}); },
        [&](const State& s) {
          const Value one = b.Int(1);
          const Value at =
              backward ? b.Op("subtract", {b.Op("subtract", {turns, one}), s[0]}) : s[0];
          const Value x = b.Op("take", {s[1], at}, {{"axis", 0}});
          const State before(s.begin() + static_cast<ptrdiff_t>(first),
                             s.begin() + static_cast<ptrdiff_t>(last));
          const Value lens = lengths ? s[2] : Value{};
          auto [next, row] = Turn(x, lens ? b.Cast(s[0], lens.dtype()) : s[0], before, lens);
          State out(s.begin(), s.begin() + static_cast<ptrdiff_t>(first));
          out[0] = b.Op("add", {s[0], one});
          out.insert(out.end(), next.begin(), next.end());
          if (wants_y) {
            out.push_back(
                b.Op("scatter_nd", {s.back(), b.Reshape(at, {1, 1}), b.ExpandDims(row, 0)}));
          }
          return out;
        });
    if (!b.status().ok()) return;
    for (size_t i = 0; i < layer.states; ++i)
      state[i] = b.WithDimsOf(end[first + i], projected, 1, 1);
    if (wants_y) y = b.WithDimsOf(end.back(), projected, 0, 2);
  }
};

Outputs Recurrent(NodeContext& n, const Layer& layer) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0), w = n.Input(1), r = n.Input(2);
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) {
    return n.Fail(fmt::format("expected X, W and R of rank 3, found {}, {} and {}", x.rank(),
                              w.rank(), r.rank()));
  }
  const std::string way = n.String("direction", "forward");
  if (way != "forward" && way != "reverse" && way != "bidirectional") {
    return n.Fail(
        fmt::format("direction: expected forward, reverse or bidirectional, found {}", way));
  }
  const int directions = way == "bidirectional" ? 2 : 1;
  const int width_axis = layer.quantised ? 1 : 2;
  const int64_t declared = n.Int("hidden_size", 0);
  if (!r.dim(width_axis).is_const() && declared > 0 && declared <= INT32_MAX) {
    const Dim one(declared), all(declared * layer.gates), any = Dim::Any();
    const std::vector<Dim> shape =
        layer.quantised ? std::vector{any, one, all} : std::vector{any, all, one};
    if (!n.ExpectShape(2, shape, "R")) return {};
    r = n.Input(2);
  }
  const Dim width = r.dim(width_axis);
  if (!width.is_const()) return n.Unsupported("the hidden size must be known; fix R with --shape");
  const int64_t hidden = width.value();
  if (hidden > INT32_MAX) return n.Fail("the hidden size is out of range");
  const Dim rows = Dim(hidden * layer.gates);
  const auto expect = [&](std::string_view what, const Value& v, const std::vector<Dim>& dims) {
    return n.FitsShape(v, dims, what);
  };
  const Dim d(directions);
  if (n.HasAttr("hidden_size") && declared != hidden)
    return n.Fail(fmt::format("hidden_size is {}, but R is of {}", declared, hidden));
  const auto expect_weights = [&](std::string_view what, const Value& v, const Dim& columns) {
    return layer.quantised ? expect(what, v, {d, columns, rows})
                           : expect(what, v, {d, rows, columns});
  };
  if (!expect_weights("W", w, x.dim(2)) || !expect_weights("R", r, width)) return {};
  const auto weights_of = [&](const Value& v, size_t scale, int64_t k) {
    if (!layer.quantised) return Weights{Direction(b, v, k), {}, {}};
    return Weights{Direction(b, v, k), Direction(b, n.Input(scale), k),
                   Direction(b, n.Input(scale + 1), k)};
  };
  for (size_t i = 8; layer.quantised && i < 12; ++i) {
    const std::string_view what = i % 2 == 0 ? "a scale" : "a zero point";
    const Value v = n.Input(i);
    if (!v) return n.Fail(fmt::format("expected {} as input {}", what, i));
    if (v.rank() == 1 ? !expect(what, v, {d}) : !expect(what, v, {d, rows})) return {};
  }
  const bool batch_first = n.Int("layout", 0) != 0;
  const auto time_first = [&](const Value& v) {
    return batch_first && v ? b.Transpose(v, {1, 0, 2}) : v;
  };
  x = time_first(x);
  const Value bias = n.Input(3), lengths = n.Input(4), peepholes = n.Input(7);
  if (bias && !expect("B", bias, {d, rows * Dim(2)})) return {};
  if (lengths && !expect("sequence_lens", lengths, {x.dim(1)})) return {};
  if (peepholes && !expect("P", peepholes, {d, Dim(3 * hidden)})) return {};
  Value initial[2] = {time_first(n.Input(5)), time_first(n.Input(6))};
  for (const Value& v : initial) {
    if (v && !expect("the initial state", v, {d, x.dim(1), Dim(hidden)})) return {};
  }
  // What is given for each sequence says how many there are.
  for (const Value& v : {lengths, initial[0], initial[1]}) {
    const Dim count = !v ? x.dim(1) : v.dim(v.rank() == 1 ? 0 : 1);
    if (!count.is_const() || x.dim(1).is_const()) continue;
    x = ShapedAs(b, x, {b.DimOf(x, 0), b.Ints({count.value()}), b.DimOf(x, 2)});
  }
  const auto activations = ActivationsOf(n, layer.activations, directions);
  const std::vector<double> clip =
      n.HasAttr("clip") ? std::vector<double>{n.Float("clip", 0)} : std::vector<double>{0};
  if (!b.status().ok()) return {};
  // Sequences of full length need no lengths.
  Value lens = lengths;
  if (lengths) {
    lens = Checked({n, 4, "sequence_lens"}, lengths, 0, Term(b, b.DimOf(x, 0)) + 1);
    if (!b.status().ok()) return {};
  }
  if (auto known = lengths ? b.ConstantInts(lengths) : std::nullopt; known && x.dim(0).is_const()) {
    const bool full =
        std::all_of(known->begin(), known->end(), [&](int64_t v) { return x.dim(0).is_const(v); });
    if (full) lens = {};
  }
  if (layer.quantised && lens) {  // what lies beyond all sequences has no part in the extremes
    const Term longest = Term(b, lens).Call("max");
    const Term on = RangeOf(b, x, 0).As(lens.dtype()) < longest;
    x = Select(on.Expand(1, 2), Term(b, x), Term(b, Like(n, x, 0)));
  }
  std::vector<Value> ys;
  std::vector<std::vector<Value>> states(layer.states);
  for (int k = 0; k < directions; ++k) {
    const bool backward = way == "reverse" || k == 1;
    const size_t functions = layer.activations.size();
    Cell cell{n,
              hidden,
              {},
              weights_of(r, 10, k),
              {},
              Direction(b, peepholes, k),
              clip[0],
              n.Int("linear_before_reset", 0) != 0,
              n.Int("input_forget", 0) != 0};
    cell.act.assign(
        activations.begin() + static_cast<ptrdiff_t>(functions * static_cast<size_t>(k)),
        activations.begin() + static_cast<ptrdiff_t>(functions * static_cast<size_t>(k + 1)));
    // Each sequence is reversed by itself.
    const bool flip = backward && lens;
    const auto flipped = [&](const Value& v) {
      return b.Op("reverse_sequence", {v, lens}, {{"seq_axis", 0}, {"batch_axis", 1}});
    };
    Value projected = Product(n, flip ? flipped(x) : x, weights_of(w, 8, k));
    if (bias) {
      const std::vector<Value> both = Split(b, Direction(b, bias, k), 2, 0);
      if (both.size() != 2) return {};
      Value sum = both[0];
      if (cell.linear_before_reset && layer.gates == 3) {
        cell.recurrent_bias = both[1];
      } else {
        sum = b.Op("add", {both[0], both[1]});
      }
      projected = b.Op("add", {projected, sum});
    }
    State state;
    for (size_t i = 0; i < layer.states; ++i) {
      state.push_back(initial[i] ? Direction(b, initial[i], k) : ZeroState(b, x, hidden));
    }
    Run run{n, layer, cell, projected, lens, backward && !flip, n.WantsOutput(0), state, {}};
    if (!b.status().ok()) return {};
    if (const Dim time = x.dim(0);
        time.is_const() && time.value() <= kStraightSteps && time.value() > 0) {
      run.Straight(time.value());
    } else {
      run.Loop();
    }
    if (!b.status().ok()) return {};
    if (run.wants_y) ys.push_back(b.ExpandDims(flip ? flipped(run.y) : run.y, 1));
    for (size_t i = 0; i < layer.states; ++i) states[i].push_back(b.ExpandDims(run.state[i], 0));
  }
  Outputs out(1);
  if (!ys.empty()) {
    out[0] = b.Concat(ys, 1);
    if (batch_first) out[0] = b.Transpose(out[0], {2, 0, 1, 3});
  }
  for (const auto& s : states) out.push_back(time_first(b.Concat(s, 0)));
  return out;
}

Outputs Lstm(NodeContext& n) { return Recurrent(n, {4, LstmStep, {"Sigmoid", "Tanh", "Tanh"}, 2}); }
Outputs Gru(NodeContext& n) { return Recurrent(n, {3, GruStep, {"Sigmoid", "Tanh"}, 1}); }
Outputs Rnn(NodeContext& n) { return Recurrent(n, {1, RnnStep, {"Tanh"}, 1}); }

// The state is quantised as a whole too. ONNX Runtime does it for parts of a large batch, as many as
// it has threads.
Outputs DynamicQuantizeLstm(NodeContext& n) {
  for (size_t i : {1, 2}) {
    const DType dtype = n.Input(i).dtype();
    if (dtype == DType::kInt8 || dtype == DType::kUInt8) continue;
    return n.Fail(fmt::format("expected weights of int8 or uint8, found {}", DTypeName(dtype)));
  }
  return Recurrent(n, {4, LstmStep, {"Sigmoid", "Tanh", "Tanh"}, 2, true});
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

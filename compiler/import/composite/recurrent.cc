#include "compiler/import/composite/recurrent.h"

#include <algorithm>
#include <utility>

#include "compiler/import/composite/quantised.h"

namespace relayvm::import {

namespace {

using State = TypedBuilder::State;

// --- Cells ---

// One direction, and what a turn needs of it.
struct Cell {
  TypedBuilder& b;
  const RecurrentSpec& spec;
  const RecurrentDirection& of;

  Value Clip(const Value& v) const {
    if (spec.clip <= 0) return v;
    return b.Op("clip", {v}, {{"a_min", -spec.clip}, {"a_max", spec.clip}});
  }
  Value Act(size_t i, const Value& v) const { return of.activations[i](b, Clip(v)); }
  // That of the gates which `letter` names.
  const Value& Gate(const std::vector<Value>& gates, char letter) const {
    return gates[spec.gates.find(letter)];
  }
  std::vector<Value> Split(const Value& v, int axis = 1) const {
    const auto count = static_cast<int64_t>(spec.gates.size());
    return b.Ops("split", {v}, {{"indices_or_sections", count}, {"axis", axis}});
  }
};

Value Dense(TypedBuilder& b, const Value& x, const Value& w) {
  return b.Op("nn.dense", {x, w},
              {{"units", w.dim(0).is_const() ? AttrValue(w.dim(0).value()) : AttrValue()}});
}

Value Product(TypedBuilder& b, const Value& x, const RecurrentWeights& weights) {
  if (!weights.scale) return Dense(b, x, weights.w);
  const DynamicallyQuantised q = QuantiseDynamically(Term(b, x));
  const Term sum = IntegerProduct(b, q.data, q.zero_point, weights.w, weights.zero_point);
  return sum.As(DType::kFloat32) * (q.scale * Term(b, weights.scale));
}

Value OneLess(TypedBuilder& b, const Value& v) { return b.Op("subtract", {Like(b, v, 1), v}); }

// h' of h: `x` is what the input gives to the gates, (batch, gates * hidden). State: h, for LSTM c.
using StepFn = State (*)(const Cell& c, const Value& x, const State& state);

State PlainStep(const Cell& c, const Value& x, const State& s) {
  return {c.Act(0, c.b.Op("add", {Product(c.b, s[0], c.of.recurrent), x}))};
}

// Units first..last of the weights, in gates.
Value GateRows(const Cell& c, const Value& w, int64_t first, int64_t last) {
  return c.b.Op("strided_slice", {w},
                {{"begin", AttrList{first * c.spec.hidden}},
                 {"end", AttrList{last * c.spec.hidden}},
                 {"strides", AttrList{1}}});
}

State GruStep(const Cell& c, const Value& x, const State& s) {
  TypedBuilder& b = c.b;
  const Value& h = s[0];
  const std::vector<Value> in = c.Split(x);
  if (in.size() != 3) return s;
  Value z, r, candidate;
  if (c.spec.reset_after) {
    Value product = Product(b, h, c.of.recurrent);
    if (c.of.recurrent_bias) product = b.Op("add", {product, c.of.recurrent_bias});
    const std::vector<Value> own = c.Split(product);
    if (own.size() != 3) return s;
    z = c.Act(0, b.Op("add", {c.Gate(in, 'z'), c.Gate(own, 'z')}));
    r = c.Act(0, b.Op("add", {c.Gate(in, 'r'), c.Gate(own, 'r')}));
    candidate = b.Op("add", {c.Gate(in, 'h'), b.Op("multiply", {r, c.Gate(own, 'h')})});
  } else {
    const Value& w = c.of.recurrent.w;
    const std::vector<Value> own = b.Ops("split", {Dense(b, h, GateRows(c, w, 0, 2))},
                                         {{"indices_or_sections", 2}, {"axis", 1}});
    if (own.size() != 2) return s;
    z = c.Act(0, b.Op("add", {c.Gate(in, 'z'), c.Gate(own, 'z')}));
    r = c.Act(0, b.Op("add", {c.Gate(in, 'r'), c.Gate(own, 'r')}));
    candidate = b.Op("add", {Dense(b, b.Op("multiply", {r, h}), GateRows(c, w, 2, 3)), in[2]});
  }
  candidate = c.Act(1, candidate);
  // (1 - z) * candidate + z * h
  return {b.Op("add", {b.Op("multiply", {OneLess(b, z), candidate}), b.Op("multiply", {z, h})})};
}

State LstmStep(const Cell& c, const Value& x, const State& s) {
  TypedBuilder& b = c.b;
  const Value& memory = s[1];
  const std::vector<Value> gates = c.Split(b.Op("add", {Product(b, s[0], c.of.recurrent), x}));
  if (gates.size() != c.spec.gates.size()) return s;
  const auto gate = [&](char letter, const Value& peephole, const Value& at) {
    const Value& v = c.Gate(gates, letter);
    return c.Act(0, peephole ? b.Op("add", {v, b.Op("multiply", {at, peephole})}) : v);
  };
  const bool has_input = c.spec.gates.find('i') != std::string_view::npos;
  Value i, f;
  if (has_input) i = gate('i', c.of.peephole_i, memory);
  f = has_input && c.spec.coupled_forget ? OneLess(b, i) : gate('f', c.of.peephole_f, memory);
  if (!has_input) i = OneLess(b, f);
  const Value candidate = c.Act(1, c.Gate(gates, 'c'));
  Value next = b.Op("add", {b.Op("multiply", {f, memory}), b.Op("multiply", {i, candidate})});
  if (const double most = c.spec.memory_clip; most > 0)
    next = b.Op("clip", {next}, {{"a_min", -most}, {"a_max", most}});
  const Value o = gate('o', c.of.peephole_o, next);
  const Value h = b.Op("multiply", {o, c.of.activations[2](b, next)});
  return {c.of.projection ? Dense(b, h, c.of.projection) : h, next};
}

constexpr StepFn kSteps[] = {PlainStep, GruStep, LstmStep};

// --- Layers ---

// zeros of (batch, size), where batch is that of x: (time, batch, ...).
Value ZeroState(TypedBuilder& b, const Value& x, int64_t size) {
  const DType dtype = x.dtype();
  constexpr int64_t kMostListed = 1 << 24;
  const Dim count = x.dim(1) * Dim(size);
  if (count.is_const() && count.value() <= kMostListed) {
    return b.Full({x.dim(1).value(), size}, 0, dtype);
  }
  return b.Op("dyn.zeros", {b.Concat({b.DimOf(x, 1), b.Ints({size})}, 0)},
              {{"dtype", std::string(DTypeName(dtype))}});
}

// At most so many turns become straight code.
constexpr int64_t kStraightSteps = 2;

struct Run {
  TypedBuilder& b;
  StepFn step;
  const Cell& cell;
  int64_t size;     // of h
  Value projected;  // (time, batch, gates * hidden)
  Value lengths;    // (batch), or none
  bool backward, wants_y;
  State state;  // h, for LSTM c
  Value y;      // (time, batch, size)

  // Beyond its length a sequence keeps its state, and Y is 0.
  std::pair<State, Value> Turn(const Value& x, const Value& time, const State& s,
                               const Value& lens) const {
    State next = step(cell, x, s);
    Value row = next[0];
    if (lens) {
      const Value on = b.ExpandDims(b.Op("less", {time, lens}), 1);
      for (size_t i = 0; i < next.size(); ++i) next[i] = b.Op("where", {on, next[i], s[i]});
      row = b.Op("where", {on, row, Like(b, row, 0)});
    }
    return {next, row};
  }

  void Straight(int64_t turns) {
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
    const Value turns = b.Reshape(b.DimOf(projected, 0), {});
    // Time, what the turns read, the state, Y. What the turns read stands in the state so that its
    // dims have the same symbols.
    State start = {b.Int(0), projected};
    const size_t first = lengths ? 3 : 2, last = first + state.size();
    if (lengths) start.push_back(lengths);
    start.insert(start.end(), state.begin(), state.end());
    if (wants_y) {
      // Zeros of the rows' type; no tensor of constants for a long sequence.
      const Value like = b.Op("strided_slice", {projected},
                              {{"begin", AttrList{0}},
                               {"end", AttrList{size}},
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
    for (size_t i = 0; i < state.size(); ++i)
      state[i] = b.WithDimsOf(end[first + i], projected, 1, 1);
    if (wants_y) y = b.WithDimsOf(end.back(), projected, 0, 2);
  }
};

// The data with as many sequences as what is given for each of them says.
Value WithBatchOf(TypedBuilder& b, const Value& x, const RecurrentSpec& spec) {
  std::vector<Value> given;
  if (spec.lengths) given.push_back(spec.lengths->value);
  for (const RecurrentDirection& d : spec.directions) {
    given.push_back(d.initial_h);
    given.push_back(d.initial_c);
  }
  for (const Value& v : given) {
    if (!v || !v.dim(0).is_const() || x.dim(1).is_const()) continue;
    return ShapedAs(b, x, {b.DimOf(x, 0), b.Ints({v.dim(0).value()}), b.DimOf(x, 2)});
  }
  return x;
}

// None where all sequences have the full length, or with an error.
Value LengthsOf(TypedBuilder& b, const Value& x, const RecurrentSpec& spec) {
  if (!spec.lengths) return {};
  const Value& given = spec.lengths->value;
  Value lengths = Checked(*spec.lengths, given, 0, Term(b, b.DimOf(x, 0)) + 1);
  if (!b.status().ok()) return {};
  if (auto known = b.ConstantInts(given); known && x.dim(0).is_const()) {
    const bool full =
        std::all_of(known->begin(), known->end(), [&](int64_t v) { return x.dim(0).is_const(v); });
    if (full) return {};
  }
  return lengths;
}

// Of 8 bits: what lies beyond all sequences has no part in the extremes.
Value WithoutRest(TypedBuilder& b, const Value& x, const Value& lengths) {
  const Term longest = Term(b, lengths).Call("max");
  const Term on = RangeOf(b, x, 0).As(lengths.dtype()) < longest;
  return Select(on.Expand(1, 2), Term(b, x), Term(b, Like(b, x, 0)));
}

RecurrentResult RunDirection(TypedBuilder& b, const RecurrentSpec& spec,
                             const RecurrentDirection& d, const Value& x, const Value& lengths) {
  const Cell cell{b, spec, d};
  // Each sequence is reversed by itself.
  const bool flip = d.backward && lengths;
  const auto flipped = [&](const Value& v) {
    return b.Op("reverse_sequence", {v, lengths}, {{"seq_axis", 0}, {"batch_axis", 1}});
  };
  Value projected = Product(b, flip ? flipped(x) : x, d.input);
  // A GRU that resets afterwards adds the state's bias before.
  const bool apart = spec.cell == RecurrentCell::kGru && spec.reset_after;
  Value bias = d.bias;
  if (d.recurrent_bias && !apart)
    bias = bias ? b.Op("add", {bias, d.recurrent_bias}) : d.recurrent_bias;
  if (bias) projected = b.Op("add", {projected, bias});
  const Dim rows = d.projection ? d.projection.dim(0) : Dim(spec.hidden);
  if (!rows.is_const())
    return b.Fail("the size of the projection must be known"), RecurrentResult{};
  State state = {d.initial_h ? d.initial_h : ZeroState(b, x, rows.value())};
  if (spec.cell == RecurrentCell::kLstm)
    state.push_back(d.initial_c ? d.initial_c : ZeroState(b, x, spec.hidden));
  Run run{b,
          kSteps[static_cast<size_t>(spec.cell)],
          cell,
          rows.value(),
          projected,
          lengths,
          d.backward && !flip,
          spec.wants_y,
          state,
          {}};
  if (!b.status().ok()) return {};
  const Dim time = x.dim(0);
  if (time.is_const() && time.value() <= kStraightSteps && time.value() > 0) {
    run.Straight(time.value());
  } else {
    run.Loop();
  }
  if (!b.status().ok()) return {};
  RecurrentResult result{{}, run.state[0], run.state.size() > 1 ? run.state[1] : Value{}};
  if (spec.wants_y) result.y = flip ? flipped(run.y) : run.y;
  return result;
}

}  // namespace

std::vector<RecurrentResult> Recurrent(TypedBuilder& b, const RecurrentSpec& spec) {
  Value x = WithBatchOf(b, spec.x, spec);
  const Value lengths = LengthsOf(b, x, spec);
  if (!b.status().ok()) return {};
  const bool quantised = !spec.directions.empty() && spec.directions[0].input.scale;
  if (quantised && lengths) x = WithoutRest(b, x, lengths);
  std::vector<RecurrentResult> results;
  for (const RecurrentDirection& d : spec.directions) {
    results.push_back(RunDirection(b, spec, d, x, lengths));
    if (!b.status().ok()) return {};
  }
  return results;
}

}  // namespace relayvm::import

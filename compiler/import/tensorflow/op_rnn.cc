// Cells of recurrent layers, and whole layers of them.
#include "compiler/import/composite/loops.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

// The numbers of a step of an LSTM, as TensorFlow lists them.
struct LstmStep {
  Term i, cs, f, o, ci, co, h;
};
struct LstmWeights {
  Term w, bias;  // (inputs + cells, 4 * cells), (4 * cells)
  std::optional<Term> peephole_i, peephole_f, peephole_o;
  double forget_bias, clip;  // no clip: 0
  bool forget_second;        // gates are i, f, c, o; else i, c, f, o
};

LstmStep Step(const Term& x, const Term& cs, const Term& h, const LstmWeights& weights) {
  TypedBuilder& b = x.b();
  const Term both(b, b.Concat({x, h}, 1));
  const Term gates = both.Call("nn.matmul", weights.w) + weights.bias;
  const std::vector<Value> parts =
      b.Ops("split", {gates}, {{"indices_or_sections", 4}, {"axis", 1}});
  const auto gate = [&](size_t k) { return Term(b, k < parts.size() ? parts[k] : gates.value()); };
  Term i = gate(0), ci = gate(weights.forget_second ? 2 : 1),
       f = gate(weights.forget_second ? 1 : 2), o = gate(3);
  if (weights.forget_bias != 0) f = f + weights.forget_bias;
  if (weights.peephole_i) i = i + cs * *weights.peephole_i;
  if (weights.peephole_f) f = f + cs * *weights.peephole_f;
  i = Sigmoid(i), f = Sigmoid(f), ci = Tanh(ci);
  Term next = ci * i + cs * f;
  if (weights.clip > 0) next = Clamp(next, next.Number(-weights.clip), next.Number(weights.clip));
  if (weights.peephole_o) o = o + next * *weights.peephole_o;
  o = Sigmoid(o);
  const Term co = Tanh(next);
  return {i, next, f, o, ci, co, co * o};
}

// Inputs from `first` on: w, wci, wcf, wco, b.
LstmWeights WeightsOf(NodeContext& n, size_t first, bool v2) {
  LstmWeights weights{Term(n, first), Term(n, first + 4), {}, {}, {}, 0, 0, v2};
  weights.forget_bias = v2 ? 0 : n.Float("forget_bias", 1);
  weights.clip = n.Float("cell_clip", v2 ? 0 : 3);
  if (n.Bool("use_peephole", false)) {
    weights.peephole_i = Term(n, first + 1);
    weights.peephole_f = Term(n, first + 2);
    weights.peephole_o = Term(n, first + 3);
  }
  return weights;
}

Outputs LstmCell(NodeContext& n) {
  const LstmStep s = Step(Term(n, 0), Term(n, 1), Term(n, 2), WeightsOf(n, 3, false));
  return {s.i, s.cs, s.f, s.o, s.ci, s.co, s.h};
}

// Over time: x (time, batch, inputs). What comes behind the greatest length is 0.
template <bool kV2>
Outputs LstmLayer(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(1);
  if (x.rank() != 3) return n.Fail("x: expected rank 3, found {}", x.rank());
  const LstmWeights weights = WeightsOf(n, 4, kV2);
  std::vector<size_t> wanted;
  for (size_t k = 0; k < 7; ++k) {
    if (n.WantsOutput(k)) wanted.push_back(k);
  }
  ScanSpec spec{.initial = {n.Input(2), n.Input(3)}, .scanned = {x}, .backward = {false}};
  spec.body = [&](const TypedBuilder::State& state, const std::vector<Value>& rows) {
    const LstmStep s = Step({b, rows[0]}, {b, state[0]}, {b, state[1]}, weights);
    const std::vector<Value> all = {s.i, s.cs, s.f, s.o, s.ci, s.co, s.h};
    Turn turn{.next = {s.cs, s.h}};
    for (const size_t k : wanted) turn.rows.push_back(all[k]);
    return turn;
  };
  spec.nodes = 20;
  const TypedBuilder::State last = ScanRows(b, spec);
  if (!Ok(n) || last.size() != 2 + wanted.size()) return {};
  const Term length = AsScalar(Term(n, 0)).As(DType::kInt64);
  const auto known = b.ConstantInts(length);
  const bool all = known && x.dim(0).is_const() && (*known)[0] >= x.dim(0).value();
  Outputs out(7);
  for (size_t k = 0; k < wanted.size(); ++k) {
    const Term y(b, last[2 + k]);
    out[wanted[k]] =
        all ? y.value() : Select((RangeOf(b, x, 0) < length).Expand(1, 2), y, y.Number(0)).value();
  }
  return out;
}

Outputs GruCell(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0), h(n, 1), w_ru(n, 2), w_c(n, 3), b_ru(n, 4), b_c(n, 5);
  const Term gates = Sigmoid(Term(b, b.Concat({x, h}, 1)).Call("nn.matmul", w_ru) + b_ru);
  const std::vector<Value> parts =
      b.Ops("split", {gates}, {{"indices_or_sections", 2}, {"axis", 1}});
  if (parts.size() != 2) return {};
  const Term r(b, parts[0]), u(b, parts[1]);
  const Term c = Tanh(Term(b, b.Concat({x, r * h}, 1)).Call("nn.matmul", w_c) + b_c);
  return {r, u, c, u * h + (1.0 - u) * c};
}

constexpr std::string_view kLstmOutputs = "i cs f o ci co h";
constexpr OperatorDef kRecurrentOperators[] = {
    {"BlockLSTM", 9, 9, LstmLayer<false>, kLstmOutputs, "032221111"},
    {"BlockLSTMV2", 9, 9, LstmLayer<true>, kLstmOutputs, "032221111"},
    {"GRUBlockCell", 6, 6, GruCell, "r u c h", "222211"},
    {"LSTMBlockCell", 8, 8, LstmCell, kLstmOutputs, "22221111"},
};

}  // namespace

std::span<const OperatorDef> RecurrentOperators() { return kRecurrentOperators; }

}  // namespace relayvm::import::tensorflow

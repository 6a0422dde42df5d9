#include "compiler/import/tflite/lstm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/recurrent.h"
#include "compiler/import/tflite/fixed_point.h"

namespace relayvm::import::tflite {

namespace {

enum Gate : uint8_t { kInput, kForget, kCandidate, kOutput };

// What both kinds of cells share.
struct Layer {
  NodeContext& n;
  TypedBuilder& b;
  const LstmInputs& in;
  const LstmOptions& options;

  bool Has(size_t input) const { return input != 0 && n.Has(input); }
  bool has_input_gate() const { return Has(in.w[kInput]); }
  bool has_norm() const { return Has(in.norms[kForget]); }
  bool has_peephole() const { return Has(in.peepholes[1]); }
  bool has_projection() const { return Has(in.projection); }
  // The gates that have weights, in order.
  std::vector<Gate> gates() const {
    if (has_input_gate()) return {kInput, kForget, kCandidate, kOutput};
    return {kForget, kCandidate, kOutput};
  }
  std::vector<size_t> Of(const std::array<size_t, 4>& inputs) const {
    std::vector<size_t> out;
    for (const Gate g : gates()) out.push_back(inputs[g]);
    return out;
  }
  Value Joined(const std::array<size_t, 4>& inputs) const {
    std::vector<Value> parts;
    for (const size_t i : Of(inputs)) parts.push_back(n.Input(i));
    return b.Concat(parts, 0);
  }
  int64_t units() const { return n.Input(in.w[kForget]).dim(0).value(); }
  Term Peephole(int which) const { return {b, n.Input(in.peepholes[static_cast<size_t>(which)])}; }
};

// Whether the operator has what a cell needs; an error where it does not.
bool IsWhole(const Layer& l) {
  const LstmInputs& in = l.in;
  for (const Gate g : l.gates()) {
    for (const size_t i : {in.w[g], in.recurrent[g], in.bias[g]}) {
      if (l.Has(i) && l.n.Input(i).dim(0).is_const()) continue;
      l.n.Fail("input {} is left out, or open", i);
      return false;
    }
    const Value w = l.n.Input(in.w[g]), r = l.n.Input(in.recurrent[g]);
    const Value first = l.n.Input(in.w[kForget]);
    if (w.rank() != 2 || r.rank() != 2 || w.dim(0) != first.dim(0) || r.dim(0) != first.dim(0) ||
        w.dtype() != first.dtype() || r.dtype() != first.dtype() || !w.dim(1).is_const()) {
      l.n.Fail("weights of its gates differ in shape or dtype");
      return false;
    }
  }
  for (const size_t i : {in.h, in.c}) {
    if (l.Has(i) && l.n.Input(i).rank() == 2) continue;
    l.n.Fail("expected states of 2 dims");
    return false;
  }
  return true;
}

// All rows of x, (time * batch, width).
Term RowsOf(const Layer& l, const Value& x) {
  return Term(l.b, x).Reshape({-1, l.n.Input(l.in.w[kForget]).dim(1).value()});
}
Value BySteps(const Layer& l, const Term& rows, const Value& x) {
  return ShapedAs(l.b, rows, {l.b.DimOf(x, 0), l.b.DimOf(x, 1), l.b.DimOf(rows, 1)});
}

// The gates of a row (batch, gates * units), in the order of Gate; one that there is not is none.
std::array<std::optional<Term>, 4> SplitGates(const Layer& l, const Term& all) {
  std::array<std::optional<Term>, 4> out;
  const std::vector<Gate> gates = l.gates();
  const auto parts = l.b.Ops(
      "split", {all}, {{"indices_or_sections", static_cast<int64_t>(gates.size())}, {"axis", 1}});
  for (size_t i = 0; i < gates.size() && i < parts.size(); ++i) out[gates[i]] = Term(l.b, parts[i]);
  return out;
}

std::optional<LstmResult> Scan(
    const Layer& l, const Value& given, int64_t nodes,
    const std::function<TypedBuilder::State(const Value& row, const TypedBuilder::State& state)>&
        step) {
  TypedBuilder& b = l.b;
  ScanSpec scan;
  scan.initial = {l.n.Input(l.in.h), l.n.Input(l.in.c)};
  scan.scanned = {given};
  scan.backward = {l.options.backward};
  scan.nodes = nodes;
  scan.body = [&](const TypedBuilder::State& state, const std::vector<Value>& row) -> Turn {
    TypedBuilder::State next = step(row[0], state);
    return {{}, next, {next[0]}};
  };
  const auto end = ScanRows(b, scan);
  if (!b.status().ok() || end.size() != 3) return std::nullopt;
  const Value y = l.options.backward ? b.Op("reverse", {end[2]}, {{"axis", 0}}) : end[2];
  return LstmResult{y, end[0], end[1]};
}

// --- Floats ---

Term Clipped(const Term& x, double most) {
  return most > 0 ? x.Call("clip", {{"a_min", -most}, {"a_max", most}}) : x;
}

TypedBuilder::State FloatStep(const Layer& l, const Value& row, const TypedBuilder::State& state) {
  TypedBuilder& b = l.b;
  const LstmInputs& in = l.in;
  const Term h(b, state[0]), c(b, state[1]);
  auto gates =
      SplitGates(l, Term(b, row) + DenseOfWeights(l.n, h, l.Of(in.recurrent), l.options.has_zero));
  if (!b.status().ok()) return state;
  const auto normed = [&](Gate g, const Term& x) {
    if (!l.has_norm()) return x;
    constexpr double kEpsilon = 1e-8;
    const Term centred = x - Mean(x, {1});
    const Term unit = centred / Sqrt(Mean(centred * centred, {1}) + kEpsilon);
    return unit * Term(b, l.n.Input(in.norms[g])) + Term(b, l.n.Input(in.bias[g]));
  };
  const auto gate = [&](Gate g, int peephole, const Term& memory) {
    Term x = *gates[g];
    if (l.has_peephole()) {
      const size_t weights = in.peepholes[static_cast<size_t>(peephole)];
      x = x + memory * RealOf(b, l.n.Input(weights), l.n.In(weights));
    }
    return normed(g, x).Call("sigmoid");
  };
  const Term f = gate(kForget, 1, c);
  const Term i = l.has_input_gate() ? gate(kInput, 0, c) : 1.0 - f;
  const Term candidate = Activated(normed(kCandidate, *gates[kCandidate]), l.options.activation);
  const Term memory = Clipped(f * c + i * candidate, l.options.memory_clip);
  const Term o = gate(kOutput, 2, memory);
  Term y = o * Activated(memory, l.options.activation);
  if (l.has_projection()) {
    y = DenseOfWeights(l.n, y, {in.projection}, l.options.has_zero);
    if (l.Has(in.projection_bias)) y = y + Term(b, l.n.Input(in.projection_bias));
    y = Clipped(y, l.options.projection_clip);
  }
  return {y, memory};
}

// By the layer that all formats share, where the cell is one of its.
std::optional<LstmResult> SharedLayer(const Layer& l, const Value& x) {
  const LstmInputs& in = l.in;
  const bool fits = l.has_input_gate() && !l.has_norm() &&
                    l.options.activation == fb::Activation::TANH &&
                    l.options.projection_clip == 0 && !l.Has(in.projection_bias) &&
                    IsFloat(l.n.Input(in.w[kForget]).dtype());
  if (!fits) return std::nullopt;
  RecurrentSpec spec;
  spec.cell = RecurrentCell::kLstm;
  spec.gates = "ifco";
  spec.hidden = l.units();
  spec.x = x;
  spec.memory_clip = l.options.memory_clip;
  RecurrentDirection& d = spec.directions.emplace_back();
  d.backward = l.options.backward;
  d.input.w = l.Joined(in.w);
  d.recurrent.w = l.Joined(in.recurrent);
  d.bias = l.Joined(in.bias);
  if (l.has_peephole()) {
    d.peephole_i = l.Peephole(0);
    d.peephole_f = l.Peephole(1);
    d.peephole_o = l.Peephole(2);
  }
  if (l.has_projection()) d.projection = l.n.Input(in.projection);
  d.initial_h = l.n.Input(in.h);
  d.initial_c = l.n.Input(in.c);
  const RecurrentActivation logistic{FindActivation("sigmoid")}, tanh{FindActivation("tanh")};
  d.activations = {logistic, tanh, tanh};
  const auto results = Recurrent(l.b, spec);
  if (results.size() != 1) return std::nullopt;
  return LstmResult{results[0].y, results[0].h, results[0].c};
}

std::optional<LstmResult> FloatLayer(const Layer& l, const Value& x) {
  if (auto shared = SharedLayer(l, x); shared || !l.b.status().ok()) return shared;
  Term given = DenseOfWeights(l.n, RowsOf(l, x), l.Of(l.in.w), l.options.has_zero);
  if (!l.has_norm()) given = given + Term(l.b, l.Joined(l.in.bias));
  return Scan(l, BySteps(l, given, x), 30, [&](const Value& row, const TypedBuilder::State& state) {
    return FloatStep(l, row, state);
  });
}

// --- Codes: gates are numbers of 16 bits with 12 behind the point, or (normed) of their own scale;
// what functions give are fractions of 15 bits ---

Term Within16(const Term& x) { return x.Call("clip", {{"a_min", -32768.0}, {"a_max", 32767.0}}); }

// Scales are computed in float32 there.
double InFloat(double x) { return static_cast<double>(static_cast<float>(x)); }

class CodeCell {
 public:
  CodeCell(const Layer& l) : l_(l), b_(l.b) {
    const NodeContext& n = l.n;
    hidden_ = n.Between(4).quantisation ? n.Between(4) : n.In(l.in.h);
    // What is projected has the zero point's other sign there: it only counts where codes end.
    if (l.has_projection())
      for (int64_t& zero : hidden_.quantisation.zeros) zero = -zero;
    std::frexp(n.In(l.in.c).quantisation.scale(), &memory_bits_);
    memory_bits_ += 15 - 1;  // bits of the memory before the point
    logistic_ = Lookup(LogisticOfWords(3));
    tanh_ = Lookup(TanhOfWords(3));
    tanh_of_memory_ =
        memory_bits_ == 3 ? tanh_ : Lookup(TanhOfWords(std::clamp(memory_bits_, 0, 6)));
  }

  // What data gives to the gates: (rows, gates * units), int32 within 16 bits.
  Term Given(const Term& rows, size_t data, const std::array<size_t, 4>& weights, bool adds_bias) {
    const Value one = b_.Scalar(1, DType::kFloat32);
    const Tensor& in = l_.n.In(data);
    Term sum(b_, b_.Op("qnn.dense",
                       {rows, l_.Joined(weights), b_.Int(in.quantisation.zero(), rows.dtype()),
                        b_.Int(0, DType::kInt8), one, one}));
    if (adds_bias) sum = sum + Term(b_, l_.Joined(l_.in.bias));
    std::vector<double> factors;
    for (const Gate g : l_.gates()) {
      const double factor =
          InFloat(InFloat(l_.n.In(weights[g]).quantisation.scale() * in.quantisation.scale()) /
                  ScaleOfGate(g));
      factors.insert(factors.end(), static_cast<size_t>(l_.units()), factor);
    }
    return TimesEach(sum, factors);
  }

  TypedBuilder::State Step(const Value& row, const TypedBuilder::State& state) {
    const LstmInputs& in = l_.in;
    const Term c = Term(b_, state[1]).As(DType::kInt32);
    auto gates = SplitGates(
        l_, Within16(Term(b_, row) + Given(Term(b_, state[0]), in.h, in.recurrent, false)));
    if (!b_.status().ok()) return state;
    const auto gate = [&](Gate g, int peephole, const Term& memory) {
      Term x = *gates[g];
      if (l_.has_peephole()) x = WithPeephole(g, peephole, x, memory);
      return Of(logistic_, Normed(g, x));
    };
    const Term f = gate(kForget, 1, c);
    const Term i = l_.has_input_gate() ? gate(kInput, 0, c) : f.Number(32767) - f;
    const Term candidate = Of(tanh_, Normed(kCandidate, *gates[kCandidate]));
    // 30 bits of two fractions, of which the memory keeps 15 less those before its point.
    Term memory = Within16(ShiftedRight(f * c, 15) +
                           ShiftedRight(i * candidate, std::clamp(15 + memory_bits_, 0, 31)));
    if (l_.options.memory_clip > 0) {
      const double most = std::min(
          32767.0, std::trunc(l_.options.memory_clip / l_.n.In(in.c).quantisation.scale()));
      memory = memory.Call("clip", {{"a_min", -most}, {"a_max", most}});
    }
    const Term o = gate(kOutput, 2, memory);
    const Term y = o * Of(tanh_of_memory_, memory);
    const double factor = InFloat(0x1p-30 / hidden_.quantisation.scale());
    const Value h = CodesOf(Times(y, FactorOf(factor)), hidden_);
    return {l_.has_projection() ? Projected(h) : h, memory.As(DType::kInt16)};
  }

 private:
  Value Lookup(const std::vector<int64_t>& table) { return b_.Ints(table, DType::kInt16); }
  Term Of(const Value& table, const Term& x) {
    return Term(b_, table).Take(x + 32768, 0).As(DType::kInt32);
  }
  double ScaleOfGate(Gate g) const {
    return l_.has_norm() ? l_.n.Between(g).quantisation.scale() : 0x1p-12;
  }

  Term WithPeephole(Gate g, int which, const Term& x, const Term& memory) {
    const Tensor& t = l_.n.In(l_.in.peepholes[static_cast<size_t>(which)]);
    const double factor =
        InFloat(l_.n.In(l_.in.c).quantisation.scale() * t.quantisation.scale() / ScaleOfGate(g));
    const Term product = memory * PeepholeOf(which);
    return Within16(x + Times(product, FactorOf(factor)));
  }

  // Weights for the memory. The kernel counts as many units as there are outputs, over all rows
  // that it has as one: where a projection makes fewer outputs, the last units have none.
  Term PeepholeOf(int which) {
    const Term weights = l_.Peephole(which).As(DType::kInt32);
    const Dim outputs = l_.n.Input(l_.in.h).dim(1), batch = l_.n.Input(l_.in.c).dim(0);
    const int64_t units = l_.units();
    if (!outputs.is_const() || outputs.value() >= units || outputs.value() < 1) return weights;
    const int64_t rows = l_.options.rows_apart ? 1 : batch.is_const() ? batch.value() : 0;
    if (rows < 1 || rows > (1 << 20) / units) return weights;
    std::vector<int64_t> places, counts;
    for (int64_t k = 0; k < rows * units; ++k) {
      places.push_back(k % outputs.value());
      counts.push_back(k < rows * outputs.value() ? 1 : 0);
    }
    const Term each = weights.Take(b_.Ints(places), 0) * Term(b_, b_.Ints(counts, DType::kInt32));
    return each.Reshape({rows, units});
  }

  // Less its mean, over its deviation, in 1/1024.
  Term Normed(Gate g, const Term& x) {
    if (!l_.has_norm()) return x;
    const double scale = l_.n.In(l_.in.norms[g]).quantisation.scale();
    const auto count = static_cast<double>(l_.units());
    const auto over = [&](const Term& v, double by) { return v / v.Number(by); };  // toward zero
    const Term wide = x.As(DType::kInt64);
    const Term mean = over(import::Sum(wide, {1}) * 1024, count);
    const Term squares = import::Sum(wide * wide, {1}) * std::floor(0x1p20 / count);
    const Term variance = over(squares - mean * mean, 0x1p20).As(DType::kInt32);
    const double guard = std::max(1.0, std::trunc(10000 * scale));
    const ComputedFactor inverse =
        InverseSquareRootOf(Select(variance < 1, variance.Number(guard), variance));
    const Term shifted = x * 1024 - mean.As(DType::kInt32);
    const Term unit = TimesComputed(shifted, inverse.significand, inverse.shift);
    const Term weighted = unit * Term(b_, l_.n.Input(l_.in.norms[g])).As(DType::kInt32) +
                          Term(b_, l_.n.Input(l_.in.bias[g]));
    const Term half = Select(weighted > 0, weighted + 512, weighted - 512);
    Factor f = FactorOf(scale);
    f.shift += 12;
    return Within16(Times(over(half, 1024), f));
  }

  Value Projected(const Value& h) {
    const LstmInputs& in = l_.in;
    const Value one = b_.Scalar(1, DType::kFloat32);
    const Tensor &w = l_.n.In(in.projection), &out = l_.n.In(in.h);
    const Value weights = l_.n.Input(in.projection), none = b_.Int(0, DType::kInt8);
    Term sum(b_, b_.Op("qnn.dense", {h, weights, none, none, one, one}));
    if (const int64_t zero = hidden_.quantisation.zero(); zero != 0) {  // 128 is no int8
      const Term rows = Term(b_, weights).As(DType::kInt32).Over("sum", {1}, false);
      sum = sum - rows * static_cast<double>(zero);
    }
    if (l_.Has(in.projection_bias)) sum = sum + Term(b_, l_.n.Input(in.projection_bias));
    const double factor = InFloat(InFloat(w.quantisation.scale() * hidden_.quantisation.scale()) /
                                  out.quantisation.scale());
    const Term y(b_, CodesOf(Times(sum, FactorOf(factor)), out));
    if (l_.options.projection_clip <= 0) return y;
    const double most =
        std::clamp(std::trunc(l_.options.projection_clip / out.quantisation.scale()), 0.0, 127.0);
    return y.Call("clip", {{"a_min", -most}, {"a_max", most}});
  }

  const Layer& l_;
  TypedBuilder& b_;
  Tensor hidden_;
  int memory_bits_ = 0;
  Value logistic_, tanh_, tanh_of_memory_;
};

std::optional<LstmResult> CodeLayer(const Layer& l, const Value& x) {
  const Tensor &h = l.n.In(l.in.h), &c = l.n.In(l.in.c);
  if (x.dtype() != DType::kInt8 || !IsQuantised(h) || *c.dtype != DType::kInt16 ||
      l.n.Input(l.in.w[kForget]).dtype() != DType::kInt8) {
    return l.n.Unsupported("cells of {} with a memory of {}", DTypeName(x.dtype()),
                           TypeName(c.type));
  }
  CodeCell cell(l);
  const Term given = Within16(cell.Given(RowsOf(l, x), 0, l.in.w, !l.has_norm()));
  return Scan(l, BySteps(l, given, x), 60, [&](const Value& row, const TypedBuilder::State& state) {
    return cell.Step(row, state);
  });
}

}  // namespace

Term DenseOfWeights(NodeContext& n, const Term& rows, const std::vector<size_t>& weights,
                    bool has_zero) {
  TypedBuilder& b = n.b();
  std::vector<Value> parts;
  std::vector<double> scales;
  for (const size_t i : weights) {
    parts.push_back(SignedWeights(n, 0, i));
    const Dim units = n.Input(i).dim(0);
    const auto count = static_cast<size_t>(units.is_const() ? units.value() : 1);
    scales.insert(scales.end(), count, n.In(i).quantisation.scale());
  }
  const Value all = b.Concat(parts, 0);
  if (IsFloat(all.dtype())) return rows.Call("nn.dense", all);
  const QuantisedRows q = QuantiseRows(rows, {1}, has_zero);
  const Value one = b.Scalar(1, DType::kFloat32), none = b.Int(0, DType::kInt8);
  Term sum = Term(b, b.Op("qnn.dense", {q.codes, all, none, none, one, one})).As(DType::kFloat32);
  if (q.zero) {
    const Term columns = Term(b, all).As(DType::kInt32).Over("sum", {1}, false);
    sum = sum - *q.zero * columns.As(DType::kFloat32);
  }
  return sum * q.scale * import::Table(b, scales, {static_cast<int64_t>(scales.size())});
}

std::optional<LstmResult> RunLstm(NodeContext& n, const Value& x, const LstmInputs& inputs,
                                  const LstmOptions& options) {
  const Layer l{n, n.b(), inputs, options};
  if (!IsWhole(l)) return std::nullopt;
  // As many sequences as there are states.
  Value data = x;
  const Dim batch = n.Input(inputs.h).dim(0);
  if (batch.is_const() && !x.dim(1).is_const()) {
    data = ShapedAs(n, x, {n.b().DimOf(x, 0), n.b().Ints({batch.value()}), n.b().DimOf(x, 2)});
  }
  return IsFloat(x.dtype()) ? FloatLayer(l, data) : CodeLayer(l, data);
}

}  // namespace relayvm::import::tflite

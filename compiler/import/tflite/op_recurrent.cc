// Recurrent layers: LSTM, plain cells, SVDF. Their states are variables.
#include <array>
#include <cmath>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/recurrent.h"
#include "compiler/import/tflite/lstm.h"

namespace relayvm::import::tflite {

namespace {

// A layer's state from here on.
void SetState(NodeContext& n, size_t input, const Value& value) {
  if (Variable* v = n.importer().VariableOf(n.TensorOf(input))) v->current = value;
}

// (time, batch, ..) of data in whichever order, and back.
Value TimeFirst(TypedBuilder& b, const Value& x, bool is_first) {
  return is_first ? x : b.Transpose(x, {1, 0, 2});
}

constexpr LstmInputs kForward = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11}, {12, 13, 14, 15}, 16,
                                 17,           18,           19,          {20, 21, 22, 23}};
constexpr LstmInputs kForwardOfTwo = {
    {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11}, {12, 13, 14, 15}, 16, 17, 35, 36, {}};
constexpr LstmInputs kBackwardOfTwo = {
    {18, 19, 20, 21}, {22, 23, 24, 25}, {26, 27, 28}, {29, 30, 31, 32}, 33, 34, 37, 38, {}};

std::optional<Value> RunLayer(NodeContext& n, const Value& x, const LstmInputs& inputs,
                              const LstmOptions& options) {
  const auto result = RunLstm(n, x, inputs, options);
  if (!result) return std::nullopt;
  SetState(n, inputs.h, result->h);
  SetState(n, inputs.c, result->c);
  return result->y;
}

Outputs SequenceLstm(NodeContext& n) {
  const auto& o = n.Get<fb::UnidirectionalSequenceLSTMOptions>();
  if (n.Input(0).rank() != 3) return n.Fail("expected an input of 3 dims");
  if (o.diagonal_recurrent_tensors()) return n.Unsupported("diagonal recurrent weights");
  LstmOptions options{static_cast<double>(o.cell_clip()), static_cast<double>(o.proj_clip()),
                      o.activation(), o.asymmetric_quantize_inputs()};
  options.rows_apart = !o.time_major();
  const auto y = RunLayer(n, TimeFirst(n, n.Input(0), o.time_major()), kForward, options);
  return y ? Outputs{TimeFirst(n, *y, o.time_major())} : Outputs{};
}

Outputs TwoWayLstm(NodeContext& n) {
  const auto& o = n.Get<fb::BidirectionalSequenceLSTMOptions>();
  if (n.Input(0).rank() != 3) return n.Fail("expected an input of 3 dims");
  for (size_t i = 39; i < n.num_inputs(); ++i)
    if (n.Has(i)) return n.Unsupported("an auxiliary input");
  LstmOptions options{static_cast<double>(o.cell_clip()), static_cast<double>(o.proj_clip()),
                      o.activation(), o.asymmetric_quantize_inputs()};
  const Value x = TimeFirst(n, n.Input(0), o.time_major());
  const auto forward = RunLayer(n, x, kForwardOfTwo, options);
  options.backward = true;
  const auto backward = forward ? RunLayer(n, x, kBackwardOfTwo, options) : std::nullopt;
  if (!backward) return {};
  const Value y = TimeFirst(n, *forward, o.time_major());
  const Value z = TimeFirst(n, *backward, o.time_major());
  if (o.merge_outputs()) return {n.b().Concat({y, z}, 2)};
  return {y, z};
}

// One step. Cells of the older kind have one matrix, for i, j, f and o.
Outputs BasicLstm(NodeContext& n) {
  TypedBuilder& b = n.b();
  if (n.num_inputs() != 5) return n.Fail("expected 5 inputs, found {}", n.num_inputs());
  if (n.Input(0).dtype() != DType::kFloat32)
    return n.Unsupported("cells of 8 bits with one matrix");
  const Term joined(b, b.Concat({n.Input(0), n.Input(1)}, 1));
  const Term all = joined.Call("nn.dense", n.Input(2)) + Term(n, 3);
  const std::vector<Value> g = b.Ops("split", {all}, {{"indices_or_sections", 4}, {"axis", 1}});
  if (g.size() != 4) return {};
  const auto logistic = [&](int i) { return Term(b, g[static_cast<size_t>(i)]).Call("sigmoid"); };
  const Term c = logistic(0) * Term(b, g[1]).Call("tanh") + logistic(2) * Term(n, 4);
  const Term h = logistic(3) * c.Call("tanh");
  SetState(n, 1, h);
  SetState(n, 4, c);
  return {h, c, joined, all};
}

Outputs Lstm(NodeContext& n) {
  const auto& o = n.Get<fb::LSTMOptions>();
  TypedBuilder& b = n.b();
  if (o.kernel_type() == 1) return BasicLstm(n);
  if (n.num_inputs() < 20 || n.Input(0).rank() != 2)
    return n.Fail("expected 20 inputs or more, of which the first has 2 dims");
  const auto y = RunLayer(n, b.ExpandDims(n.Input(0), 0), kForward,
                          {static_cast<double>(o.cell_clip()), static_cast<double>(o.proj_clip()),
                           o.activation(), o.asymmetric_quantize_inputs()});
  if (!y) return {};
  const Value h = b.Squeeze(*y, {0});
  if (n.num_outputs() < 4) return {h};
  return {h, h, h, h};  // older files: the last one counts
}

// --- Plain cells ---

struct PlainInputs {
  size_t w, recurrent, bias, h;
};

// y (time, batch, units) of x (time, batch, width). All of it is run `turns` times, of which the
// last counts.
std::optional<Value> RunPlain(NodeContext& n, const Value& x, const PlainInputs& in,
                              fb::Activation activation, bool backward, bool has_zero,
                              int64_t turns = 1) {
  TypedBuilder& b = n.b();
  if (x.dtype() != DType::kFloat32) return n.Unsupported("plain cells of {}", DTypeName(x.dtype()));
  const Term rows = Term(b, x).Reshape({-1, x.dim(2).is_const() ? x.dim(2).value() : -1});
  const Term given = DenseOfWeights(n, rows, {in.w}, has_zero) + Term(n, in.bias);
  const Value units = b.DimOf(n.Input(in.w), 0);
  Value all = ShapedAs(b, given, {b.DimOf(x, 0), b.DimOf(x, 1), units});
  if (turns > 1) all = b.Op("tile", {all}, {{"reps", AttrList{turns, int64_t{1}, int64_t{1}}}});
  ScanSpec scan;
  scan.initial = {n.Input(in.h)};
  scan.scanned = {all};
  scan.backward = {backward};
  scan.nodes = 4;
  scan.body = [&](const TypedBuilder::State& state, const std::vector<Value>& row) -> Turn {
    const Term sum = DenseOfWeights(n, Term(b, state[0]), {in.recurrent}, has_zero);
    const Value h = Activated(Term(b, row[0]) + sum, activation);
    return {{}, {h}, {h}};
  };
  const auto end = ScanRows(b, scan);
  if (end.size() != 2) return std::nullopt;
  SetState(n, in.h, end[0]);
  const Value last =
      turns > 1 ? Term(b, end[1]).Slice(0, (turns - 1) * turns, INT64_MAX).value() : end[1];
  return backward ? b.Op("reverse", {last}, {{"axis", 0}}) : last;
}

Outputs Rnn(NodeContext& n) {
  const auto& o = n.Get<fb::RNNOptions>();
  if (n.Input(0).rank() != 2) return n.Fail("expected an input of 2 dims");
  const auto y = RunPlain(n, n.b().ExpandDims(n.Input(0), 0), {1, 2, 3, 4}, o.activation(), false,
                          o.asymmetric_quantize_inputs());
  return y ? Outputs{n.b().Squeeze(*y, {0})} : Outputs{};
}

Outputs SequenceRnn(NodeContext& n) {
  const auto& o = n.Get<fb::SequenceRNNOptions>();
  if (n.Input(0).rank() != 3) return n.Fail("expected an input of 3 dims");
  const auto y = RunPlain(n, TimeFirst(n, n.Input(0), o.time_major()), {1, 2, 3, 4}, o.activation(),
                          false, o.asymmetric_quantize_inputs());
  return y ? Outputs{TimeFirst(n, *y, o.time_major())} : Outputs{};
}

Outputs TwoWayRnn(NodeContext& n) {
  const auto& o = n.Get<fb::BidirectionalSequenceRNNOptions>();
  if (n.Input(0).rank() != 3) return n.Fail("expected an input of 3 dims");
  for (size_t i = 9; i < n.num_inputs(); ++i)
    if (n.Has(i)) return n.Unsupported("an auxiliary input");
  const Value x = TimeFirst(n, n.Input(0), o.time_major());
  const bool has_zero = o.asymmetric_quantize_inputs();
  // With weights of 8 bits and time first, the kernel goes over the sequence once for each step.
  const bool repeats = o.time_major() && IsHybrid(n, 0, 1);
  if (repeats && !x.dim(0).is_const()) return n.Unsupported("time first, of an open extent");
  const int64_t turns = repeats ? x.dim(0).value() : 1;
  const auto forward = RunPlain(n, x, {1, 2, 3, 4}, o.activation(), false, has_zero, turns);
  const auto backward =
      forward ? RunPlain(n, x, {5, 6, 7, 8}, o.activation(), true, has_zero, turns) : std::nullopt;
  if (!backward) return {};
  const Value y = TimeFirst(n, *forward, o.time_major());
  const Value z = TimeFirst(n, *backward, o.time_major());
  if (o.merge_outputs()) return {n.b().Concat({y, z}, 2)};
  return {y, z};
}

// --- SVDF: (data, weights of features, weights of time, bias, state) ---

// The memory (batch, filters, steps) with the newest features behind the others.
Term Remembered(NodeContext& n, const Term& features) {
  TypedBuilder& b = n.b();
  const Dim filters = n.Input(2).dim(0), steps = n.Input(2).dim(1);
  const Term state = Term(n, 4).Reshape({-1, filters.value(), steps.value()});
  const Term now(b, b.Concat({state.Slice(2, 1, INT64_MAX), features.Expand(2)}, 2));
  SetState(n, 4, now.Reshape({-1, filters.value() * steps.value()}));
  return now;
}

// The sums over the ranks of each unit.
Term OverRanks(const Term& x, int64_t rank, int64_t filters) {
  return x.Reshape({-1, filters / rank, rank}).Over("sum", {2}, false);
}

Outputs Svdf(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto& o = n.Get<fb::SVDFOptions>();
  const Value time = n.Input(2);
  if (n.Input(0).rank() != 2 || time.rank() != 2 || !time.dim(0).is_const() ||
      !time.dim(1).is_const() || o.rank() < 1 || time.dim(0).value() % o.rank() != 0) {
    return n.Fail("weights and rank do not fit");
  }
  const int64_t filters = time.dim(0).value();
  if (n.Input(0).dtype() == DType::kFloat32) {
    const Term features = DenseOfWeights(n, Term(n, 0), {1}, o.asymmetric_quantize_inputs());
    const Term weights = RealOf(b, time, n.In(2));
    const Term memory = Remembered(n, features);
    Term y = OverRanks((memory * weights).Over("sum", {2}, false), o.rank(), filters);
    if (n.Has(3)) y = y + Term(n, 3);
    return {Activated(y, o.activation())};
  }
  const Tensor &in = n.In(0), &state = n.In(4);
  const Value one = b.Scalar(1, DType::kFloat32);
  const Term sum(b, b.Op("qnn.dense",
                         {n.Input(0), n.Input(1), b.Int(in.quantisation.zero(), n.Input(0).dtype()),
                          b.Int(0, n.Input(1).dtype()), one, one}));
  const double first =
      in.quantisation.scale() * n.In(1).quantisation.scale() / state.quantisation.scale();
  const Term features(b, CodesOf(Times(sum, FactorOf(first)), state));
  Term memory = Remembered(n, features).As(DType::kInt32);
  if (const int64_t zero = state.quantisation.zero(); zero != 0)
    memory = memory - static_cast<double>(zero);
  Term y = OverRanks((memory * Term(b, time).As(DType::kInt32)).Over("sum", {2}, false), o.rank(),
                     filters);
  if (n.Has(3)) y = y + Term(n, 3);
  const double second =
      state.quantisation.scale() * n.In(2).quantisation.scale() / n.Out().quantisation.scale();
  return {CodesOf(Times(y, FactorOf(second)), n.Out())};
}

}  // namespace

std::span<const OperatorDef> RecurrentOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::LSTM, 1, 24, Lstm, Options::LSTMOptions},
      {Code::UNIDIRECTIONAL_SEQUENCE_LSTM, 1, 28, SequenceLstm,
       Options::UnidirectionalSequenceLSTMOptions},
      {Code::BIDIRECTIONAL_SEQUENCE_LSTM, 1, 48, TwoWayLstm,
       Options::BidirectionalSequenceLSTMOptions},
      {Code::RNN, 5, 5, Rnn, Options::RNNOptions},
      {Code::UNIDIRECTIONAL_SEQUENCE_RNN, 5, 5, SequenceRnn, Options::SequenceRNNOptions},
      {Code::BIDIRECTIONAL_SEQUENCE_RNN, 9, 12, TwoWayRnn,
       Options::BidirectionalSequenceRNNOptions},
      {Code::SVDF, 5, 5, Svdf, Options::SVDFOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite

// Recurrent layers and cells, and packed sequences. See composite/recurrent.h.
#include "compiler/import/composite/recurrent.h"
#include "compiler/import/torch/convert.h"
#include "compiler/import/torch/nn_tables.h"

namespace relayvm::import::torch {

namespace {

// PyTorch's order of gates.
struct Layers {
  RecurrentCell cell;
  std::string_view gates, own;  // `own`: the activation of the candidate
};
Layers LayersOf(std::string_view name) {
  if (name.find("lstm") != std::string_view::npos) return {RecurrentCell::kLstm, "ifco", "tanh"};
  if (name.find("gru") != std::string_view::npos) return {RecurrentCell::kGru, "rzh", "tanh"};
  return {RecurrentCell::kPlain, "h",
          name.find("relu") != std::string_view::npos ? "relu" : "tanh"};
}

std::vector<RecurrentActivation> ActivationsOf(const Layers& layers) {
  const RecurrentActivation gate{FindActivation("sigmoid")}, own{FindActivation(layers.own)};
  if (layers.cell == RecurrentCell::kPlain) return {own};
  if (layers.cell == RecurrentCell::kGru) return {gate, own};
  return {gate, own, own};
}

// One direction of one layer: its weights, biases and projection.
std::optional<RecurrentDirection> ReadDirection(const Call& n, const Layers& layers,
                                                std::span<const Value> parameters, bool biases,
                                                int64_t* hidden) {
  const size_t expected = 2 + (biases ? 2 : 0);
  if (parameters.size() < expected) return n.Fail("params: too few of them");
  RecurrentDirection d;
  d.input.w = parameters[0];
  d.recurrent.w = parameters[1];
  if (biases) {
    d.bias = parameters[2];
    d.recurrent_bias = parameters[3];
  }
  if (parameters.size() > expected) d.projection = parameters[expected];
  const Dim rows = d.recurrent.w.dim(0);
  const auto gates = static_cast<int64_t>(layers.gates.size());
  if (d.input.w.rank() != 2 || d.recurrent.w.rank() != 2 || !rows.is_const() ||
      rows.value() % gates != 0 || rows.value() / gates > INT32_MAX) {
    return n.Fail("params: expected matrices of {} gates, whose extents are known", gates);
  }
  *hidden = rows.value() / gates;
  d.activations = ActivationsOf(layers);
  return d;
}

// What all layers of a call share.
struct Stack {
  Layers layers;
  Value x;     // (time, batch, width)
  Value h, c;  // (layers * directions, batch, size)
  std::vector<Value> parameters;
  std::optional<InputName> lengths;
};

Value Row(TypedBuilder& b, const Value& v, int64_t i) {
  return v ? b.Squeeze(Term(b, v).Slice(0, i, i + 1), {0}) : v;
}

// y, then the last h and c of all layers and directions; nothing with an error.
std::vector<Value> RunStack(Call& n, const Stack& s) {
  TypedBuilder& b = n.b();
  const int64_t count = n.Int("num_layers", 1), ways = n.Bool("bidirectional") ? 2 : 1;
  const bool biases = n.Bool("has_biases", true);
  if (n.Bool("train") && n.Float("dropout") > 0)
    return n.Unsupported("dropout between layers of training is not supported");
  if (count < 1 || s.parameters.size() % static_cast<size_t>(count * ways) != 0)
    return n.Fail("{} parameters for {} layers of {} directions", s.parameters.size(), count, ways);
  const size_t each = s.parameters.size() / static_cast<size_t>(count * ways);
  Value x = s.x;
  std::vector<Value> hs, cs;
  for (int64_t layer = 0; layer < count; ++layer) {
    RecurrentSpec spec{.cell = s.layers.cell, .gates = s.layers.gates, .x = x};
    spec.reset_after = true;
    if (s.lengths) spec.lengths.emplace(*s.lengths);
    for (int64_t way = 0; way < ways; ++way) {
      const int64_t at = layer * ways + way;
      const std::span<const Value> own(&s.parameters[static_cast<size_t>(at) * each], each);
      auto d = ReadDirection(n, s.layers, own, biases, &spec.hidden);
      if (!d) return {};
      d->backward = way == 1;
      d->initial_h = Row(b, s.h, at);
      d->initial_c = Row(b, s.c, at);
      spec.directions.push_back(*std::move(d));
    }
    std::vector<Value> ys;
    for (const RecurrentResult& r : Recurrent(b, spec)) {
      ys.push_back(r.y);
      hs.push_back(b.ExpandDims(r.h, 0));
      if (r.c) cs.push_back(b.ExpandDims(r.c, 0));
    }
    if (!b.status().ok() || ys.empty()) return {};
    x = b.Concat(ys, 2);
  }
  std::vector<Value> out = {x, b.Concat(hs, 0)};
  if (!cs.empty()) out.push_back(b.Concat(cs, 0));
  return out;
}

std::optional<Stack> ReadStack(Call& n) {
  Stack s{.layers = LayersOf(n.name()),
          .x = {},
          .h = {},
          .c = {},
          .parameters = n.Tensors("params"),
          .lengths = std::nullopt};
  const std::vector<Value> state = n.Tensors("hx");
  const size_t expected = s.layers.cell == RecurrentCell::kLstm ? 2 : 1;
  if (state.size() != expected || s.parameters.empty())
    return n.Fail("hx: expected {} tensors", expected);
  s.h = state[0];
  if (expected == 2) s.c = state[1];
  if (s.h.rank() != 3) return n.Fail("hx: expected rank 3, found rank {}", s.h.rank());
  return s;
}

Results Recur(Call& n) {
  TypedBuilder& b = n.b();
  auto s = ReadStack(n);
  if (!s) return {};
  s->x = n.Input(0);
  if (s->x.rank() != 3) return n.Fail("input: expected rank 3, found rank {}", s->x.rank());
  const bool batch_first = n.Bool("batch_first");
  if (batch_first) s->x = b.Transpose(s->x, {1, 0, 2});
  std::vector<Value> out = RunStack(n, *s);
  if (out.empty()) return {};
  if (batch_first) out[0] = b.Transpose(out[0], {1, 0, 2});
  return {out.begin(), out.end()};
}

// --- Packed sequences: steps of all that are that long, one step behind the other ---

// Places in (time * batch) of what a packed sequence holds, in its order.
Value PackedPlaces(TypedBuilder& b, const Term& batch_sizes, const Term& batch) {
  const Term there = Range(batch) < batch_sizes.As(DType::kInt64).Expand(1);  // (time, batch)
  return b.Reshape(b.Op("argwhere", {b.Reshape(there, {-1})}), {-1});
}

Results RecurPacked(Call& n) {
  TypedBuilder& b = n.b();
  auto s = ReadStack(n);
  if (!s) return {};
  const Term data(n, 0), sizes = Term(n, 1).As(DType::kInt64);
  if (data.rank() != 2 || sizes.rank() != 1) return n.Fail("expected packed data of rank 2");
  const Term batch = Extent(b, s->h, 1), time = Extent(b, sizes, 0);
  const Term places = Term(b, PackedPlaces(b, sizes, batch)).As(DType::kInt64);
  // (time, batch, width), zeros where a sequence has ended.
  const Value all =
      Filled(b, 0, data.dtype(), b.Concat({(time * batch).Reshape({1}), b.DimOf(data, 1)}, 0));
  const Value spread =
      b.Op("scatter_nd", {all, b.Reshape(places, {1, -1}), data}, {{"mode", "update"}});
  s->x = ShapedAs(b, spread, {time.Reshape({1}), batch.Reshape({1}), b.DimOf(data, 1)});
  const Term there = Range(batch) < sizes.Expand(1);
  const Value lengths = there.As(DType::kInt64).Over("sum", {0}, false);
  s->lengths.emplace(b, lengths, "batch_sizes of " + std::string(n.name()));
  std::vector<Value> out = RunStack(n, *s);
  if (out.empty()) return {};
  const Term flat(b, ShapedAs(b, out[0], {b.Ints({-1}), b.DimOf(out[0], 2)}));
  out[0] = flat.Take(places, 0);
  return {out.begin(), out.end()};
}

// (time, batch, ..), or batch first, and lengths from the longest on: the data, and how many
// sequences have each step.
Results PackPadded(Call& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const Term lengths = Term(n, 1).As(DType::kInt64);
  if (x.rank() < 2 || lengths.rank() != 1)
    return n.Fail("expected data of rank 2 or more, and a length for each sequence");
  std::vector<int64_t> axes = Iota(x.rank());
  std::swap(axes[0], axes[1]);
  if (n.Bool("batch_first")) x = x.Transpose(axes);
  const Term longest = lengths.Call("max");
  const Term there = Range(longest).Expand(1) < lengths;  // (time, batch)
  const Value sizes = there.As(DType::kInt64).Over("sum", {1}, false);
  const Value places = b.Reshape(b.Op("argwhere", {b.Reshape(there, {-1})}), {-1});
  std::vector<Value> dims = {b.Ints({-1})};
  for (int i = 2; i < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
  const Term flat(b, ShapedAs(b, x, dims));
  return {flat.Take(Term(b, places).As(DType::kInt64), 0), sizes};
}

Results PadPacked(Call& n) {
  TypedBuilder& b = n.b();
  const Term data(n, 0), sizes = Term(n, 1).As(DType::kInt64);
  if (data.rank() < 1 || sizes.rank() != 1)
    return n.Fail("expected packed data and its batch sizes");
  const Term batch = AsScalar(sizes.Slice(0, 0, 1));
  Term time = Extent(b, sizes, 0);
  const Term places = Term(b, PackedPlaces(b, sizes, batch)).As(DType::kInt64);
  // total_length is 0 or less for the longest.
  const auto total = n.KnownInt("total_length");
  if (!total || *total > 0) time = Term(n, n.SymInt("total_length"));
  std::vector<Value> shape = {(time * batch).Reshape({1})},
                     dims = {time.Reshape({1}), batch.Reshape({1})};
  for (int i = 1; i < data.rank(); ++i) {
    shape.push_back(b.DimOf(data, i));
    dims.push_back(b.DimOf(data, i));
  }
  const Value empty = BroadcastTo(b, n.Number("padding_value", data.dtype()), b.Concat(shape, 0));
  const Value spread =
      b.Op("scatter_nd", {empty, b.Reshape(places, {1, -1}), data}, {{"mode", "update"}});
  Term y(b, ShapedAs(b, spread, dims));
  std::vector<int64_t> axes = Iota(y.rank());
  if (axes.size() < 2) return {};
  std::swap(axes[0], axes[1]);
  if (n.Bool("batch_first")) y = y.Transpose(axes);
  const Term there = Range(batch) < sizes.Expand(1);
  return {y, there.As(DType::kInt64).Over("sum", {0}, false)};
}

// --- Cells ---

Results Cell(Call& n) {
  TypedBuilder& b = n.b();
  const Layers layers = LayersOf(n.name());
  const Term x(n, 0);
  const std::vector<Value> state = n.Tensors("hx");
  if (state.empty() || state.size() != (layers.cell == RecurrentCell::kLstm ? 2U : 1U))
    return n.Fail("hx: expected the state");
  const bool alone = x.rank() == 1;  // without a batch
  const auto batched = [&](const Value& v) { return alone ? b.ExpandDims(v, 0) : v; };
  RecurrentSpec spec{.cell = layers.cell, .gates = layers.gates, .x = b.ExpandDims(batched(x), 0)};
  spec.reset_after = true;
  spec.wants_y = false;
  std::vector<Value> parameters = {n.Tensor("w_ih"), n.Tensor("w_hh")};
  const bool biases = n.Has("b_ih") && n.Has("b_hh");
  if (biases) parameters.insert(parameters.end(), {n.Tensor("b_ih"), n.Tensor("b_hh")});
  auto d = ReadDirection(n, layers, parameters, biases, &spec.hidden);
  if (!d) return {};
  d->initial_h = batched(state[0]);
  if (state.size() > 1) d->initial_c = batched(state[1]);
  spec.directions.push_back(*std::move(d));
  const auto r = Recurrent(b, spec);
  if (r.empty()) return {};
  const auto off = [&](const Value& v) { return alone ? b.Squeeze(v, {0}) : v; };
  if (layers.cell == RecurrentCell::kLstm) return {off(r[0].h), off(r[0].c)};
  return {off(r[0].h)};
}

constexpr OperatorDef kRecurrentOperators[] = {
    {"aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
     "(Tensor, Tensor, Tensor)",
     Recur},
    {"aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
     "(Tensor, Tensor)",
     Recur},
    {"aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
     "(Tensor, Tensor)",
     Recur},
    {"aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
     "(Tensor, Tensor)",
     Recur},
    {"aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> "
     "(Tensor, Tensor, Tensor)",
     RecurPacked},
    {"aten::gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> "
     "(Tensor, Tensor)",
     RecurPacked},
    {"aten::rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, "
     "bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> "
     "(Tensor, Tensor)",
     RecurPacked},
    {"aten::rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, "
     "bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> "
     "(Tensor, Tensor)",
     RecurPacked},
    {"aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? "
     "b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)",
     Cell},
    {"aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? "
     "b_ih=None, Tensor? b_hh=None) -> Tensor",
     Cell},
    {"aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? "
     "b_ih=None, Tensor? b_hh=None) -> Tensor",
     Cell},
    {"aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? "
     "b_ih=None, Tensor? b_hh=None) -> Tensor",
     Cell},
    {"aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> "
     "(Tensor, Tensor)",
     PackPadded},
    {"aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, "
     "Scalar padding_value, int total_length) -> (Tensor, Tensor)",
     PadPacked},
};

}  // namespace

OperatorTable RecurrentOperators() { return kRecurrentOperators; }

}  // namespace relayvm::import::torch

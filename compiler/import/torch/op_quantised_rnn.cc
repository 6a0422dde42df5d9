// Recurrent layers and cells whose weights are packed: products as those of dynamic linear layers,
// the input's of all steps at once, the state's step by step.
#include "compiler/import/control_flow.h"
#include "compiler/import/torch/convert.h"
#include "compiler/import/torch/nn_tables.h"

namespace relayvm::import::torch {

namespace {

enum class CellGates : uint8_t { kLstm, kGru, kTanh, kRelu };

CellGates CellGatesOf(std::string_view name) {
  if (name.find("lstm") != std::string_view::npos) return CellGates::kLstm;
  if (name.find("gru") != std::string_view::npos) return CellGates::kGru;
  return name.find("relu") != std::string_view::npos ? CellGates::kRelu : CellGates::kTanh;
}

// Packed weights of the input and of the state; they hold their biases.
struct PackedCell {
  Argument input, state;
  bool reduce_range = true;
};

Term PackedProduct(const Call& n, const Term& x, const PackedCell& cell, const Argument& weights) {
  return {n.b(),
          n.ValueAs("quantized::linear_dynamic", {x, weights, Argument::Bool(cell.reduce_range)})};
}

// ("quantized_dynamic", tensors, numbers, [reduce_range], [packed input, packed state]).
std::optional<PackedCell> ReadPackedCell(const Call& n, const Argument& a) {
  using Kind = Argument::Kind;
  const Argument none;
  const Argument& state = a.is(Kind::kObject) && a.object != nullptr ? a.object->state : none;
  const bool right = state.is_list() && state.items.size() == 5 &&
                     state.items[0].is(Kind::kString) && state.items[4].items.size() == 2;
  if (!right) return n.Fail("params: expected packed weights of a cell, found {}", KindText(a));
  const std::string& type = state.items[0].text;
  if (type != "quantized_dynamic" && type != "quantized_fp16")
    return n.Unsupported("weights of the type '{}'", type);
  PackedCell cell{.input = state.items[4].items[0], .state = state.items[4].items[1]};
  const std::vector<Argument>& numbers = state.items[3].items;
  cell.reduce_range = !numbers.empty() && numbers[0].is_known_number() && numbers[0].number() != 0;
  return cell;
}

Term GatePart(const Term& gates, int i, const Term& width) {
  TypedBuilder& b = gates.b();
  const Term from = width * static_cast<double>(i), to = width * static_cast<double>(i + 1);
  return {b, Sliced(b, gates, gates.rank() - 1, from, to)};
}

struct CellState {
  Term h;
  std::optional<Term> c;
};
// One step, by what the input and the state give to the gates.
CellState CellStep(CellGates kind, const Term& x, const Term& recurrent, const CellState& last) {
  TypedBuilder& b = x.b();
  const Term width = Extent(b, last.h, last.h.rank() - 1);
  const auto gate = [&](int i) {
    return (GatePart(x, i, width) + GatePart(recurrent, i, width)).Call("sigmoid");
  };
  if (kind == CellGates::kLstm) {
    const Term own = (GatePart(x, 2, width) + GatePart(recurrent, 2, width)).Call("tanh");
    const Term c = gate(1) * *last.c + gate(0) * own;
    return {gate(3) * c.Call("tanh"), c};
  }
  if (kind == CellGates::kGru) {
    const Term own = (GatePart(x, 2, width) + gate(0) * GatePart(recurrent, 2, width)).Call("tanh");
    return {(last.h - own) * gate(1) + own, std::nullopt};
  }
  const Term sum = x + recurrent;
  return {kind == CellGates::kRelu ? Maximum(sum, sum.Number(0)) : sum.Call("tanh"), std::nullopt};
}

// x (time, batch, width): y, then the last state; nothing with an error.
std::vector<Value> RunDirection(const Call& n, CellGates kind, const PackedCell& cell,
                                const Term& x, const CellState& first, bool backward) {
  TypedBuilder& b = n.b();
  Term gates = PackedProduct(n, x, cell, cell.input);
  if (backward) gates = gates.Call("reverse", {{"axis", 0}});
  TypedBuilder::State initial = {first.h};
  if (first.c) initial.push_back(*first.c);
  if (!b.status().ok()) return {};
  TypedBuilder::State out = RunLoop(b, {Extent(b, gates, 0).value(),
                                        {},
                                        std::move(initial),
                                        [&](const Value& i, const TypedBuilder::State& state) {
                                          CellState last{{b, state[0]}, std::nullopt};
                                          if (state.size() > 1) last.c = Term(b, state[1]);
                                          const CellState next = CellStep(
                                              kind, gates.Take(Term(b, i), 0),
                                              PackedProduct(n, last.h, cell, cell.state), last);
                                          Turn turn{{}, {next.h}, {next.h}};
                                          if (next.c) turn.next.push_back(*next.c);
                                          return turn;
                                        }});
  if (!b.status().ok() || out.empty()) return {};
  Value y = out.back();
  if (backward) y = b.Op("reverse", {y}, {{"axis", 0}});
  out.pop_back();
  out.insert(out.begin(), y);
  return out;
}

Results RecurWithPacked(Call& n) {
  TypedBuilder& b = n.b();
  const CellGates kind = CellGatesOf(n.name());
  const std::vector<Value> state = n.Tensors("hx");
  const std::vector<Argument>& params = n.Arg("params").items;
  const int64_t count = n.Int("num_layers", 1), ways = n.Bool("bidirectional") ? 2 : 1;
  Term x(n, 0);
  if (!b.status().ok()) return {};
  if (n.Bool("train") && n.Float("dropout") > 0)
    return n.Unsupported("dropout between layers of training is not supported");
  if (state.size() != (kind == CellGates::kLstm ? 2U : 1U) || state[0].rank() != 3 || x.rank() != 3)
    return n.Fail("expected an input and a state of rank 3");
  if (count < 1 || count > static_cast<int64_t>(params.size()) ||
      static_cast<int64_t>(params.size()) != count * ways)
    return n.Fail("{} cells for {} layers of {} directions", params.size(), count, ways);
  if (n.Bool("batch_first")) x = x.Transpose({1, 0, 2});
  std::vector<Value> hs, cs;
  const auto row = [&](const Value& v, int64_t i) {
    return Term(b, b.Squeeze(Term(b, v).Slice(0, i, i + 1), {0}));
  };
  for (int64_t layer = 0; layer < count; ++layer) {
    std::vector<Value> ys;
    for (int64_t way = 0; way < ways; ++way) {
      const int64_t at = layer * ways + way;
      const auto cell = ReadPackedCell(n, params[static_cast<size_t>(at)]);
      if (!cell) return {};
      CellState first{row(state[0], at), std::nullopt};
      if (state.size() > 1) first.c = row(state[1], at);
      const std::vector<Value> out = RunDirection(n, kind, *cell, x, first, way == 1);
      if (out.empty()) return {};
      ys.push_back(out[0]);
      hs.push_back(b.ExpandDims(out[1], 0));
      if (out.size() > 2) cs.push_back(b.ExpandDims(out[2], 0));
    }
    x = Term(b, b.Concat(ys, 2));
  }
  if (n.Bool("batch_first")) x = x.Transpose({1, 0, 2});
  Results results = {x, b.Concat(hs, 0)};
  if (!cs.empty()) results.emplace_back(b.Concat(cs, 0));
  return results;
}

Results PackedCellOnce(Call& n) {
  const CellGates kind = CellGatesOf(n.name());
  const std::vector<Value> state = n.Tensors("hx");
  if (state.size() != (kind == CellGates::kLstm ? 2U : 1U)) return n.Fail("hx: expected the state");
  const PackedCell cell{.input = n.Arg("w_ih"), .state = n.Arg("w_hh")};
  CellState last{{n, state[0]}, std::nullopt};
  if (state.size() > 1) last.c = Term(n, state[1]);
  const Term x = PackedProduct(n, {n, 0}, cell, cell.input);
  const Term recurrent = PackedProduct(n, last.h, cell, cell.state);
  if (!n.b().status().ok()) return {};
  const CellState next = CellStep(kind, x, recurrent, last);
  if (next.c) return {next.h, *next.c};
  return {next.h};
}

constexpr OperatorDef kQuantisedRecurrentOperators[] = {
    {"aten::quantized_lstm.input(Tensor input, Tensor[] hx, Any[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first, *, ScalarType? "
     "dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
     RecurWithPacked, Takes::kQuantised},
    {"aten::quantized_gru.input(Tensor input, Tensor hx, Any[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
     "Tensor)",
     RecurWithPacked, Takes::kQuantised},
    {"quantized::quantized_lstm_cell_dynamic(Tensor input, Tensor[] hx, Any w_ih, Any w_hh, Tensor "
     "bias_ih, Tensor bias_hh) -> (Tensor, Tensor)",
     PackedCellOnce, Takes::kQuantised},
    {"quantized::quantized_gru_cell_dynamic(Tensor input, Tensor hx, Any w_ih, Any w_hh, Tensor "
     "b_ih, Tensor b_hh) -> Tensor",
     PackedCellOnce, Takes::kQuantised},
    {"quantized::quantized_rnn_tanh_cell_dynamic(Tensor input, Tensor hx, Any w_ih, Any w_hh, "
     "Tensor b_ih, Tensor b_hh) -> Tensor",
     PackedCellOnce, Takes::kQuantised},
    {"quantized::quantized_rnn_relu_cell_dynamic(Tensor input, Tensor hx, Any w_ih, Any w_hh, "
     "Tensor b_ih, Tensor b_hh) -> Tensor",
     PackedCellOnce, Takes::kQuantised},
};

}  // namespace

OperatorTable QuantisedRecurrentOperators() { return kQuantisedRecurrentOperators; }

}  // namespace relayvm::import::torch

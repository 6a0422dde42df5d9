// Control flow: If, Loop, Scan.
#include <fmt/format.h>

#include "compiler/import/composite/loops.h"
#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/convert.h"
#include "compiler/import/onnx/small_floats.h"

namespace relayvm::import {

namespace {

using State = TypedBuilder::State;

// Whether two values of one name are floats of 8 or 4 bits of one format, or neither is any; else
// an error.
bool AreOfOneFormat(NodeContext& n, const Value& x, const Value& y) {
  if (x.bits == y.bits || (x.bits >= 0 && y.bits >= 0)) return true;
  n.Fail("floats of 8 or 4 bits on one way, another dtype on the other");
  return false;
}

// Values that lost their formats, with those.
Outputs WithBits(Outputs values, const std::vector<int>& bits) {
  for (size_t i = 0; i < values.size() && i < bits.size(); ++i) values[i].bits = bits[i];
  return values;
}

Outputs If(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value condition = n.Input(0);
  if (const auto known = KnownNumber(b, condition)) {
    return n.Graph(*known != 0 ? "then_branch" : "else_branch", {});
  }
  std::vector<Value> yes = n.Graph("then_branch", {});
  std::vector<Value> no = n.Graph("else_branch", {});
  if (!b.status().ok()) return {};
  if (yes.size() != no.size() || yes.empty())
    return n.Fail("the branches differ in the number of outputs");
  std::vector<int> bits;
  for (size_t i = 0; i < yes.size(); ++i) {
    if (!AreOfOneFormat(n, yes[i], no[i])) return {};
    bits.push_back(yes[i].bits == no[i].bits ? yes[i].bits : 0);
  }
  const Value scalar = ScalarOrNone(b, condition);
  if (auto joined = Branches(b, scalar, yes, no)) return WithBits(*std::move(joined), bits);
  return n.Fork(scalar, yes, no);
}

// One turn of a body with `states` states.
Turn BodyOf(NodeContext& n, const std::vector<Value>& inputs, size_t states, bool has_condition) {
  const std::vector<Value> all = n.Graph("body", inputs);
  Turn turn;
  if (!n.b().status().ok()) return turn;
  const size_t first = has_condition ? 1 : 0;
  if (all.size() < first + states) {
    n.Fail("body: expected at least {} outputs, found {}", first + states, all.size());
    return turn;
  }
  if (has_condition) turn.again = ScalarOrNone(n, all[0]);
  const auto at = all.begin() + static_cast<ptrdiff_t>(first);
  turn.next.assign(at, at + static_cast<ptrdiff_t>(states));
  turn.rows.assign(at + static_cast<ptrdiff_t>(states), all.end());
  return turn;
}

Outputs Loop(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value yes = b.Full({}, 1, DType::kBool);
  const Value limit = ScalarOrNone(b, n.Input(0)), condition = ScalarOrNone(b, n.Input(1));
  const std::vector<Value>& in = n.inputs();
  const State initial(in.begin() + std::min<ptrdiff_t>(2, static_cast<ptrdiff_t>(in.size())),
                      in.end());
  for (const Value& v : initial) {
    if (!v) return n.Fail("a state of the loop is left out");
  }
  if (n.NumGraphInputs("body") != initial.size() + 2) {
    return n.Fail("body: expected {} inputs, found {}", initial.size() + 2,
                  n.NumGraphInputs("body"));
  }
  // Of each result: as its state began, or as a turn collects it.
  std::vector<int> bits;
  for (const Value& v : initial) bits.push_back(v.bits);
  // Within a turn the condition holds.
  const auto body = [&](const Value& i, const State& state) {
    std::vector<Value> inputs = {i, yes};
    inputs.insert(inputs.end(), state.begin(), state.end());
    for (size_t k = 0; k < state.size(); ++k) inputs[k + 2].bits = bits[k];
    Turn turn = BodyOf(n, inputs, state.size(), /*has_condition=*/true);
    for (size_t k = 0; k < turn.next.size(); ++k) {
      if (!AreOfOneFormat(n, initial[k], turn.next[k])) return Turn{};
    }
    bits.resize(initial.size());
    for (const Value& v : turn.rows) bits.push_back(v.bits);
    return turn;
  };
  const Value turns = limit ? b.Cast(limit, DType::kInt64) : limit;
  return WithBits(RunOrUnroll(b, {turns, condition, initial, body},
                              static_cast<int64_t>(n.NumGraphNodes("body"))),
                  bits);
}

// --- Scan ---

// By the node's body.
Outputs ScanRows(NodeContext& n, const State& initial, const std::vector<Value>& scanned,
                 const std::vector<bool>& backward) {
  const auto body = [&](const State& state, const std::vector<Value>& rows) {
    std::vector<Value> given = state;
    given.insert(given.end(), rows.begin(), rows.end());
    Turn turn = BodyOf(n, given, state.size(), /*has_condition=*/false);
    return HaveNoSmallFloats(n, turn.next) && HaveNoSmallFloats(n, turn.rows) ? turn : Turn{};
  };
  return ScanRows(n.b(), {.initial = initial,
                          .scanned = scanned,
                          .backward = backward,
                          .body = body,
                          .nodes = static_cast<int64_t>(n.NumGraphNodes("body"))});
}

std::vector<bool> Backward(NodeContext& n, std::string_view attr, size_t count) {
  std::vector<bool> out(count);
  const std::vector<int64_t> given = n.Ints(attr);
  for (size_t i = 0; i < count && i < given.size(); ++i) out[i] = given[i] != 0;
  return out;
}

// The scanned inputs, of which there are num_scan_inputs; false and an error where they don't fit.
bool SplitInputs(NodeContext& n, size_t skipped, State* initial, std::vector<Value>* scanned) {
  const int64_t count = n.Int("num_scan_inputs", 0);
  const auto total = static_cast<int64_t>(n.num_inputs()) - static_cast<int64_t>(skipped);
  if (count < 1 || count > total) {
    n.Fail("num_scan_inputs: expected 1 to {}, found {}", total, count);
    return false;
  }
  for (size_t i = skipped; i < n.num_inputs(); ++i) {
    if (!n.Has(i)) {
      n.Fail("input {} is left out", i);
      return false;
    }
    const bool is_state = static_cast<int64_t>(i - skipped) < total - count;
    (is_state ? *initial : *scanned).push_back(n.Input(i));
    if (!is_state && (!n.Input(i).is_tensor() || n.Input(i).rank() < (skipped > 0 ? 2 : 1))) {
      n.Fail("input {} has no axis to scan", i);
      return false;
    }
  }
  return true;
}

Outputs Scan(NodeContext& n) {
  TypedBuilder& b = n.b();
  State initial;
  std::vector<Value> scanned;
  if (!SplitInputs(n, 0, &initial, &scanned)) return {};
  const std::vector<int64_t> axes = n.Ints("scan_input_axes");
  for (size_t i = 0; i < scanned.size() && i < axes.size(); ++i) {
    const int rank = scanned[i].rank();
    scanned[i] = b.Transpose(scanned[i], AxisMoved(rank, n.Axis(axes[i], rank), 0));
  }
  Outputs out = ScanRows(n, initial, scanned, Backward(n, "scan_input_directions", scanned.size()));
  if (!b.status().ok() || out.size() < initial.size()) return {};
  const size_t collected = out.size() - initial.size();
  const std::vector<bool> reversed = Backward(n, "scan_output_directions", collected);
  const std::vector<int64_t> out_axes = n.Ints("scan_output_axes");
  for (size_t i = 0; i < collected; ++i) {
    Value& v = out[initial.size() + i];
    if (reversed[i]) v = b.Op("reverse", {v}, {{"axis", 0}});
    if (i < out_axes.size())
      v = b.Transpose(v, AxisMoved(v.rank(), 0, n.Axis(out_axes[i], v.rank())));
  }
  return out;
}

// Opset 8: everything has a batch axis first, and each batch may end early.
Outputs ScanBatches(NodeContext& n) {
  TypedBuilder& b = n.b();
  State initial;
  std::vector<Value> scanned;
  if (!SplitInputs(n, 1, &initial, &scanned)) return {};
  const Value lengths = n.Input(0);
  const std::vector<bool> backward = Backward(n, "directions", scanned.size());
  const auto scan = [&](const Value& batch, const State&) {
    const auto of_batch = [&](const Value& v) { return b.Op("take", {v, batch}, {{"axis", 0}}); };
    State state;
    std::vector<Value> rows;
    for (const Value& v : initial) state.push_back(of_batch(v));
    for (const Value& v : scanned) rows.push_back(of_batch(v));
    const Value full = b.DimOf(rows[0], 0);
    Value own;
    if (lengths) {
      const Value end = b.Op("add", {full, b.Int(1)});
      own = Checked({n, 0, "sequence_lens"},
                    b.Reshape(b.Cast(of_batch(lengths), DType::kInt64), {1}), 0, end);
      for (Value& v : rows) {
        v = b.Op("dyn.strided_slice", {v, b.Ints({0}), own, b.Ints({1})});
      }
    }
    Outputs out = ScanRows(n, state, rows, backward);
    for (size_t k = initial.size(); lengths && k < out.size(); ++k) {  // zeros behind the end
      std::vector<Value> dims = {b.Op("subtract", {full, own})};
      for (int d = 1; d < out[k].rank(); ++d) dims.push_back(b.DimOf(out[k], d));
      const Value zeros = b.Op("dyn.zeros", {b.Concat(dims, 0)},
                               {{"dtype", std::string(DTypeName(out[k].dtype()))}});
      out[k] = b.Concat({out[k], zeros}, 0);
    }
    return Turn{{}, {}, std::move(out)};
  };
  const Value batches = b.Reshape(b.DimOf(scanned[0], 0), {});
  Outputs out = RunLoop(b, {batches, {}, {}, scan});
  for (Value& v : out) {
    if (b.status().ok()) v = b.WithDimsOf(v, scanned[0], 0, 1);
  }
  return out;
}

constexpr OperatorDef kControlOperators[] = {
    {"If", 1, 1, If},
    {"Loop", 0, -1, Loop},
    {"Scan", 1, -1, ScanBatches, 8},
    {"Scan", 1, -1, Scan, 9},
};

}  // namespace

std::span<const OperatorDef> ControlOperators() { return kControlOperators; }

}  // namespace relayvm::import

// Control flow: If, Loop, Scan.
#include <fmt/format.h>

#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/convert.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;
using State = TypedBuilder::State;

// Loops of at most so many turns, and so many nodes in all, become straight code.
constexpr int64_t kStraightTurns = 16;
constexpr int64_t kStraightNodes = 64;

// The condition or count as a scalar.
Value Scalar(NodeContext& n, const Value& v) {
  return !v || v.rank() == 0 ? v : n.b().Reshape(v, {});
}

std::optional<int64_t> Number(NodeContext& n, const Value& v) {
  auto known = v ? n.b().ConstantInts(v) : std::nullopt;
  return known && known->size() == 1 ? std::optional((*known)[0]) : std::nullopt;
}

Outputs If(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value condition = n.Input(0);
  if (const auto known = Number(n, condition)) {
    return n.Graph(*known != 0 ? "then_branch" : "else_branch", {});
  }
  std::vector<Value> yes = n.Graph("then_branch", {});
  std::vector<Value> no = n.Graph("else_branch", {});
  if (!b.status().ok()) return {};
  if (yes.size() != no.size() || yes.empty())
    return n.Fail("the branches differ in the number of outputs");
  ir::TupleType type;
  for (size_t i = 0; i < yes.size(); ++i) {
    ir::Type joined = JoinTypes(yes[i].type, no[i].type);
    if (joined == nullptr) return n.Fork(Scalar(n, condition), yes, no);
    yes[i] = Coerce(b, yes[i], joined);
    no[i] = Coerce(b, no[i], joined);
    type.fields.push_back(b.Open(joined));
  }
  return b.Fields(b.If(Scalar(n, condition), b.Tuple(yes), b.Tuple(no), ir::MakeType(type)));
}

// One turn of a body with `states` states.
Turn BodyOf(NodeContext& n, const std::vector<Value>& inputs, size_t states, bool has_condition) {
  const std::vector<Value> all = n.Graph("body", inputs);
  Turn turn;
  if (!n.b().status().ok()) return turn;
  const size_t first = has_condition ? 1 : 0;
  if (all.size() < first + states) {
    n.Fail(fmt::format("body: expected at least {} outputs, found {}", first + states, all.size()));
    return turn;
  }
  if (has_condition) turn.again = Scalar(n, all[0]);
  const auto at = all.begin() + static_cast<ptrdiff_t>(first);
  turn.next.assign(at, at + static_cast<ptrdiff_t>(states));
  turn.rows.assign(at + static_cast<ptrdiff_t>(states), all.end());
  return turn;
}

// Straight code for a known number of turns; nullopt where a turn's condition is not known.
std::optional<Outputs> Straight(NodeContext& n, int64_t turns, State state,
                                const std::function<Turn(int64_t, const State&)>& body) {
  TypedBuilder& b = n.b();
  std::vector<std::vector<Value>> rows;
  for (int64_t i = 0; i < turns; ++i) {
    Turn turn = body(i, state);
    if (!b.status().ok()) return Outputs{};
    state = turn.next;
    rows.resize(turn.rows.size());
    for (size_t k = 0; k < rows.size(); ++k) {
      if (!turn.rows[k].is_tensor()) return std::nullopt;
      rows[k].push_back(b.ExpandDims(turn.rows[k], 0));
    }
    if (!turn.again) continue;
    const auto again = Number(n, turn.again);
    if (!again && i + 1 < turns) return std::nullopt;
    if (again && *again == 0) break;
  }
  Outputs out = state;
  for (const auto& r : rows) out.push_back(b.Concat(r, 0));
  return out;
}

Outputs Loop(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value yes = b.Full({}, 1, DType::kBool);
  const Value limit = Scalar(n, n.Input(0)), condition = Scalar(n, n.Input(1));
  const std::vector<Value>& in = n.inputs();
  const State initial(in.begin() + std::min<ptrdiff_t>(2, static_cast<ptrdiff_t>(in.size())),
                      in.end());
  for (const Value& v : initial) {
    if (!v) return n.Fail("a state of the loop is left out");
  }
  if (n.NumGraphInputs("body") != initial.size() + 2) {
    return n.Fail(fmt::format("body: expected {} inputs, found {}", initial.size() + 2,
                              n.NumGraphInputs("body")));
  }
  // Within a turn the condition holds.
  const auto body = [&](const Value& i, const State& state) {
    std::vector<Value> inputs = {i, yes};
    inputs.insert(inputs.end(), state.begin(), state.end());
    return BodyOf(n, inputs, state.size(), /*has_condition=*/true);
  };
  const auto turns = Number(n, limit), first = condition ? Number(n, condition) : 1;
  const auto nodes = static_cast<int64_t>(n.NumGraphNodes("body"));
  if (turns && first && *first != 0 && *turns > 0 &&
      (*turns == 1 || (*turns <= kStraightTurns && *turns * nodes <= kStraightNodes))) {
    auto out =
        Straight(n, *turns, initial, [&](int64_t i, const State& s) { return body(b.Int(i), s); });
    if (out) return *out;
  }
  return RunLoop(b, {limit ? b.Cast(limit, DType::kInt64) : limit, condition, initial, body});
}

// --- Scan ---

// Scans along the first axis of `scanned`, from the end where `backward`. States, then what is
// collected.
Outputs ScanRows(NodeContext& n, const State& initial, const std::vector<Value>& scanned,
                 const std::vector<bool>& backward) {
  TypedBuilder& b = n.b();
  const Dim length = scanned[0].dim(0);
  const Value count = b.Reshape(b.DimOf(scanned[0], 0), {});
  const auto inputs = [&](const Value& i, const State& state) {
    std::vector<Value> given = state;
    for (size_t k = 0; k < scanned.size(); ++k) {
      const Value at = backward[k] ? b.Op("subtract", {b.Op("subtract", {count, b.Int(1)}), i}) : i;
      given.push_back(b.Op("take", {scanned[k], at}, {{"axis", 0}}));
    }
    return given;
  };
  const auto body = [&](const Value& i, const State& state) {
    return BodyOf(n, inputs(i, state), state.size(), /*has_condition=*/false);
  };
  const auto nodes = static_cast<int64_t>(n.NumGraphNodes("body"));
  if (length.is_const() && length.value() > 0 &&
      (length.is_const(1) ||
       (length.value() <= kStraightTurns && length.value() * nodes <= kStraightNodes))) {
    auto out = Straight(n, length.value(), initial,
                        [&](int64_t i, const State& s) { return body(b.Int(i), s); });
    if (out) return *out;
  }
  return RunLoop(b, {count, {}, initial, body});
}

// The axis `from` becomes the first, or the first becomes `to`.
Value MoveToFront(TypedBuilder& b, const Value& v, int from) {
  std::vector<int64_t> axes = {from};
  for (int i = 0; i < v.rank(); ++i) {
    if (i != from) axes.push_back(i);
  }
  return b.Transpose(v, axes);
}
Value MoveFromFront(TypedBuilder& b, const Value& v, int to) {
  std::vector<int64_t> axes;
  for (int i = 1; i < v.rank(); ++i) axes.push_back(i);
  axes.insert(axes.begin() + to, 0);
  return b.Transpose(v, axes);
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
    n.Fail(fmt::format("num_scan_inputs: expected 1 to {}, found {}", total, count));
    return false;
  }
  for (size_t i = skipped; i < n.num_inputs(); ++i) {
    if (!n.Has(i)) {
      n.Fail(fmt::format("input {} is left out", i));
      return false;
    }
    const bool is_state = static_cast<int64_t>(i - skipped) < total - count;
    (is_state ? *initial : *scanned).push_back(n.Input(i));
    if (!is_state && (!n.Input(i).is_tensor() || n.Input(i).rank() < (skipped > 0 ? 2 : 1))) {
      n.Fail(fmt::format("input {} has no axis to scan", i));
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
    scanned[i] = MoveToFront(b, scanned[i], n.Axis(axes[i], scanned[i].rank()));
  }
  Outputs out = ScanRows(n, initial, scanned, Backward(n, "scan_input_directions", scanned.size()));
  if (!b.status().ok() || out.size() < initial.size()) return {};
  const size_t collected = out.size() - initial.size();
  const std::vector<bool> reversed = Backward(n, "scan_output_directions", collected);
  const std::vector<int64_t> out_axes = n.Ints("scan_output_axes");
  for (size_t i = 0; i < collected; ++i) {
    Value& v = out[initial.size() + i];
    if (reversed[i]) v = b.Op("reverse", {v}, {{"axis", 0}});
    if (i < out_axes.size()) v = MoveFromFront(b, v, n.Axis(out_axes[i], v.rank()));
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

#include "compiler/import/composite/loops.h"

#include <utility>

namespace relayvm::import {

using State = TypedBuilder::State;

namespace {

// Loops of at most so many turns, and so many nodes in all, become straight code.
constexpr int64_t kStraightTurns = 16;
constexpr int64_t kStraightNodes = 64;

// Straight code for a known number of turns; nullopt where a turn's condition is not known.
std::optional<State> Straight(TypedBuilder& b, int64_t turns, const CountedLoop& loop) {
  State state = loop.initial;
  std::vector<std::vector<Value>> rows;
  for (int64_t i = 0; i < turns; ++i) {
    Turn turn = loop.body(b.Int(i), state);
    if (!b.status().ok()) return State{};
    state = turn.next;
    rows.resize(turn.rows.size());
    for (size_t k = 0; k < rows.size(); ++k) {
      if (!turn.rows[k].is_tensor()) return std::nullopt;
      rows[k].push_back(b.ExpandDims(turn.rows[k], 0));
    }
    if (!turn.again) continue;
    const auto again = KnownNumber(b, turn.again);
    if (!again && i + 1 < turns) return std::nullopt;
    if (again && *again == 0) break;
  }
  State out = state;
  for (const auto& r : rows) out.push_back(b.Concat(r, 0));
  return out;
}

}  // namespace

std::optional<int64_t> KnownNumber(TypedBuilder& b, const Value& v) {
  auto known = v ? b.ConstantInts(v) : std::nullopt;
  return known && known->size() == 1 ? std::optional((*known)[0]) : std::nullopt;
}

Value ScalarOrNone(TypedBuilder& b, const Value& v) {
  return !v || v.rank() == 0 ? v : b.Reshape(v, {});
}

std::optional<std::vector<Value>> Branches(TypedBuilder& b, const Value& condition,
                                           std::vector<Value> yes, std::vector<Value> no) {
  ir::TupleType type;
  for (size_t i = 0; i < yes.size(); ++i) {
    ir::Type joined = JoinTypes(yes[i].type, no[i].type);
    if (joined == nullptr) return std::nullopt;
    yes[i] = Coerce(b, yes[i], joined);
    no[i] = Coerce(b, no[i], joined);
    type.fields.push_back(b.Open(joined));
  }
  return b.Fields(b.If(condition, b.Tuple(yes), b.Tuple(no), ir::MakeType(type)));
}

State RunOrUnroll(TypedBuilder& b, const CountedLoop& loop, int64_t nodes) {
  const auto turns = KnownNumber(b, loop.count);
  const auto first = loop.condition ? KnownNumber(b, loop.condition) : 1;
  if (turns && first && *first != 0 && *turns > 0 &&
      (*turns == 1 || (*turns <= kStraightTurns && *turns * nodes <= kStraightNodes))) {
    if (auto out = Straight(b, *turns, loop)) return *out;
  }
  return RunLoop(b, loop);
}

State ScanRows(TypedBuilder& b, const ScanSpec& spec) {
  const Value& first = spec.scanned[0];
  const Value count = b.Reshape(b.DimOf(first, 0), {});
  const auto body = [&](const Value& i, const State& state) {
    std::vector<Value> rows;
    for (size_t k = 0; k < spec.scanned.size(); ++k) {
      const Value at =
          spec.backward[k] ? b.Op("subtract", {b.Op("subtract", {count, b.Int(1)}), i}) : i;
      rows.push_back(b.Op("take", {spec.scanned[k], at}, {{"axis", 0}}));
    }
    Turn turn = spec.body(state, rows);
    turn.again = {};
    return turn;
  };
  return RunOrUnroll(b, {count, {}, spec.initial, body}, spec.nodes);
}

}  // namespace relayvm::import

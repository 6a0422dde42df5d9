// Sequences and optional values. See composite/sequence.h.
#include "compiler/import/composite/sequence.h"
#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/small_floats.h"

namespace relayvm::import {

namespace {

using State = TypedBuilder::State;

// A sequence of a known length.
bool IsFixed(const Value& v) { return v.type != nullptr && v.type->As<ir::TupleType>() != nullptr; }

// --- Operators ---

Outputs SequenceConstruct(NodeContext& n) { return {n.b().Tuple(n.inputs())}; }
Outputs SequenceEmpty(NodeContext& n) { return {n.b().Tuple({})}; }

Outputs SequenceLength(NodeContext& n) { return {SequenceLength(n.b(), n.Input(0))}; }

Outputs SequenceAt(NodeContext& n) { return {SequenceAt(n.Input(0), {n, 1, "position"})}; }

Outputs SequenceInsert(NodeContext& n) {
  std::optional<InputName> place;
  if (n.Has(2)) place.emplace(n, 2, "position");
  return {SequenceInsert(n.b(), n.Input(0), n.Input(1), place)};
}

Outputs SequenceErase(NodeContext& n) {
  InputName place(n, 1, "position");
  if (!place.value) place.value = n.b().Int(-1);
  return {SequenceErase(n.Input(0), place)};
}

Outputs ConcatFromSequence(NodeContext& n) {
  if (IsSequence(n.Input(0)) && !n.HasAttr("axis")) return n.Fail("attribute axis is missing");
  return {SequenceJoin(n, n.Input(0), n.Int("axis", 0), n.Int("new_axis", 0) != 0)};
}

Outputs SplitToSequence(NodeContext& n) {
  InputName sizes(n, 1, "split");
  if (!sizes.value) sizes.value = n.b().Int(1);
  const Value x = n.Input(0);
  return {SequenceOfParts(n, {.x = x,
                              .axis = n.Axis(n.Int("axis", 0), x.rank()),
                              .sizes = std::move(sizes),
                              .keeps_axis = n.Has(1) || n.Int("keepdims", 1) != 0})};
}

Outputs SequenceMap(NodeContext& n) {
  TypedBuilder& b = n.b();
  std::vector<Value> in = n.inputs();
  if (!n.b().status().ok()) return {};
  if (!IsSequence(in[0])) return n.Fail("expected a sequence");
  bool known = true;
  for (const Value& v : in) known &= !IsSequence(v) || IsFixed(v);
  if (known) {
    std::vector<std::vector<Value>> out(n.num_outputs()), fields;
    for (const Value& v : in) fields.push_back(IsFixed(v) ? b.Fields(v) : std::vector<Value>());
    for (size_t i = 0; i < fields[0].size(); ++i) {
      std::vector<Value> args;
      for (size_t k = 0; k < in.size(); ++k) {
        if (!IsFixed(in[k])) {
          args.push_back(in[k]);
        } else if (i < fields[k].size()) {
          args.push_back(fields[k][i]);
        } else {
          return n.Fail("the sequences differ in length");
        }
      }
      const std::vector<Value> results = n.Graph("body", args);
      if (!b.status().ok()) return {};
      if (results.size() < out.size()) return n.Fail("body: too few outputs");
      if (!HaveNoSmallFloats(n, results)) return {};
      for (size_t k = 0; k < out.size(); ++k) out[k].push_back(results[k]);
    }
    Outputs tuples;
    for (const auto& fields : out) tuples.push_back(b.Tuple(fields));
    return tuples;
  }
  // Lists in their order, and as many lists that grow.
  State state;
  for (Value& v : in) {
    if (!IsSequence(v)) continue;
    const Value list = AsSequence(b, v);
    if (!b.status().ok()) return {};
    state.push_back(Coerce(b, list, ListType(ElementType(list.type, "Sequence"))));
  }
  const size_t lists = state.size();
  for (size_t k = 0; k < n.num_outputs(); ++k) state.push_back(b.Tuple({}));
  const Value count = SequenceLength(b, AsSequence(b, in[0]));
  State end = RunLoop(
      b, {count, {}, state, [&](const Value&, const State& s) {
            Turn turn;
            std::vector<Value> args;
            size_t list = 0;
            for (const Value& v : in) {
              if (!IsSequence(v)) {
                args.push_back(v);
                continue;
              }
              const Value& l = s[list++];
              args.push_back(CallPrelude(b, "list_first", {l}, ElementType(l.type, "List")));
              turn.next.push_back(CallPrelude(b, "list_rest", {l}, l.type));
            }
            const std::vector<Value> results = n.Graph("body", args);
            if (!HaveNoSmallFloats(n, results)) return Turn{};
            for (size_t k = 0; k < results.size() && k < n.num_outputs(); ++k) {
              turn.next.push_back(Append(b, s[lists + k], results[k]));
            }
            return turn;
          }});
  if (!b.status().ok()) return {};
  return Outputs(end.begin() + static_cast<ptrdiff_t>(lists), end.end());
}

// --- Optional values ---

Outputs Optional(NodeContext& n) {
  if (n.Has(0)) return {n.Input(0)};
  return {n.b().Wrap(n.b().Tuple({}).node, NoneType())};
}

Outputs OptionalHasElement(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value v = n.Input(0);
  if (!v || IsNone(v)) return {b.Full({}, 0, DType::kBool)};
  if (ElementType(v.type, "Optional") == nullptr) return {b.Full({}, 1, DType::kBool)};
  return {CallPrelude(b, "optional_has", {v}, ir::MakeScalarType(DType::kBool))};
}

Outputs OptionalGetElement(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value v = n.Input(0);
  if (IsNone(v)) return n.Fail("the value is left out");
  return {ElementType(v.type, "Optional") == nullptr ? v : Held(b, v)};
}

constexpr OperatorDef kSequenceOperators[] = {
    {"ConcatFromSequence", 1, 1, ConcatFromSequence},
    {"Optional", 0, 1, Optional},
    {"OptionalGetElement", 1, 1, OptionalGetElement},
    {"OptionalHasElement", 0, 1, OptionalHasElement},
    {"SequenceAt", 2, 2, SequenceAt},
    {"SequenceConstruct", 1, -1, SequenceConstruct},
    {"SequenceEmpty", 0, 0, SequenceEmpty},
    {"SequenceErase", 1, 2, SequenceErase},
    {"SequenceInsert", 2, 3, SequenceInsert},
    {"SequenceLength", 1, 1, SequenceLength},
    {"SequenceMap", 1, -1, SequenceMap},
    {"SplitToSequence", 1, 2, SplitToSequence},
};

}  // namespace

std::span<const OperatorDef> SequenceOperators() { return kSequenceOperators; }

}  // namespace relayvm::import

// Sequences of several lengths, (time, batch, ..) or, with axis 1, (batch, time, ..).
#include "compiler/import/mxnet/convert.h"

namespace relayvm::import::mxnet {

namespace {

struct Sequences {
  Term x;
  int axis;                     // of time
  std::optional<Term> lengths;  // (batch), int64
};
std::optional<Sequences> Read(Node& n) {
  const Term x(n, 0);
  const int64_t axis = n.Int("axis", 0);
  if (axis != 0 && axis != 1) return n.Fail("attribute axis: expected 0 or 1, found {}", axis);
  const bool has_lengths = n.Bool("use_sequence_length", false) && n.Has(1);
  if (x.rank() < (has_lengths ? 2 : 1) || x.rank() <= axis)
    return n.Fail("expected data of rank 2 or more");
  Sequences s{x, static_cast<int>(axis), std::nullopt};
  if (has_lengths) s.lengths = Term(n, 1).As(DType::kInt64);
  return s;
}

Outputs SequenceMask(Node& n) {
  const auto s = Read(n);
  if (!s) return {};
  if (!s->lengths) return {s->x};
  const Term time = Along(RangeOf(n, s->x, s->axis), s->axis, s->x.rank());
  const Term length = Along(*s->lengths, 1 - s->axis, s->x.rank());
  return {Select(time < length, s->x, s->x.Number(n.Float("value", 0)))};
}
Outputs SequenceLast(Node& n) {
  TypedBuilder& b = n.b();
  const auto s = Read(n);
  if (!s) return {};
  if (!s->lengths) return {b.Squeeze(s->x.Slice(s->axis, -1, INT64_MAX), {s->axis})};
  // The elements at (length - 1, batch).
  const Term rows = s->axis == 0 ? s->x : s->x.Transpose(AxisMoved(s->x.rank(), 1, 0));
  const Term last = Maximum(*s->lengths - 1, s->lengths->Number(0)).Expand(0);
  const Value at = b.Concat({last, RangeOf(b, rows, 1).Expand(0)}, 0);
  return {b.Op("gather_nd", {rows, at})};
}
Outputs SequenceReverse(Node& n) {
  const auto s = Read(n);
  if (!s) return {};
  if (!s->lengths) return {s->x.Call("reverse", {{"axis", s->axis}})};
  return {s->x.Call("reverse_sequence", *s->lengths,
                    {{"seq_axis", s->axis}, {"batch_axis", 1 - s->axis}})};
}

constexpr OperatorDef kSequenceOperators[] = {
    {"SequenceLast", 1, 2, SequenceLast},
    {"SequenceMask _npx_sequence_mask", 1, 2, SequenceMask},
    {"SequenceReverse", 1, 2, SequenceReverse},
};

}  // namespace

std::span<const OperatorDef> SequenceOperators() { return kSequenceOperators; }

}  // namespace relayvm::import::mxnet

#include "compiler/import/composite/sequence.h"

#include <fmt/format.h>

#include <algorithm>

namespace relayvm::import {

namespace {

using State = TypedBuilder::State;

bool IsTuple(const Value& v) { return v.type != nullptr && v.type->As<ir::TupleType>() != nullptr; }

ir::Type IntType() { return ir::MakeScalarType(DType::kInt64); }

std::optional<int64_t> PlaceOf(TypedBuilder& b, const Value& v) {
  auto known = v ? b.ConstantInts(v) : std::nullopt;
  return known && known->size() == 1 ? std::optional((*known)[0]) : std::nullopt;
}

Value ScalarOf(TypedBuilder& b, const Value& v) {
  return b.Cast(v.rank() == 0 ? v : b.Reshape(v, {}), DType::kInt64);
}

// False, with an error, where `v` is no sequence.
bool RequireSequence(TypedBuilder& b, const Value& v) {
  if (!b.status().ok()) return false;
  if (IsSequence(v)) return true;
  b.Fail("expected a sequence");
  return false;
}

// --- Lists of unknown length ---

Value ListLength(TypedBuilder& b, const Value& list) {
  return CallPrelude(b, "sequence_length", {list, b.Int(0)}, IntType());
}

// The number of elements behind place `at`, which counts from the end where negative; the program
// fails where there is no such place. With `end` the place behind the last counts too.
Value Behind(const InputName& of, const Value& list, const Value& at, bool end) {
  TypedBuilder& b = of.b;
  const Term length(b, ListLength(b, list)), last = end ? length : length - 1;
  const Term place = Checked(of, at, (-length).Reshape({1}), (last + 1).Reshape({1}));
  return last - Select(place < 0, place + length, place);
}

ir::Type ElementOf(const Value& list) { return ElementType(list.type, "Sequence"); }

// The place of a known one among `count`, from the front; nullopt with an error where there is
// none.
std::optional<int64_t> FrontPlace(const InputName& of, int64_t place, int64_t size, bool end) {
  const int64_t last = end ? size : size - 1;
  if (place >= -size && place <= last) return place < 0 ? place + size : place;
  return of.b.Fail("{}: {}, expected {} to {}", of.text, place, -size, last);
}

}  // namespace

Value SequenceLength(TypedBuilder& b, const Value& v) {
  if (!RequireSequence(b, v)) return {};
  if (IsTuple(v)) return b.Int(static_cast<int64_t>(b.Fields(v).size()));
  return ListLength(b, v);
}

Value SequenceAt(const Value& v, const InputName& of) {
  TypedBuilder& b = of.b;
  const Value at = ScalarOf(b, of.value);
  if (!RequireSequence(b, v)) return {};
  if (const auto known = PlaceOf(b, at); known && IsTuple(v)) {
    const std::vector<Value> fields = b.Fields(v);
    const auto place = FrontPlace(of, *known, static_cast<int64_t>(fields.size()), false);
    return place ? fields[static_cast<size_t>(*place)] : Value{};
  }
  const Value list = AsSequence(b, v);
  if (!b.status().ok()) return {};
  return CallPrelude(b, "sequence_at", {list, Behind(of, list, at, false)}, ElementOf(list));
}

Value SequenceInsert(TypedBuilder& b, const Value& v, const Value& x,
                     const std::optional<InputName>& of) {
  if (!RequireSequence(b, v)) return {};
  const Value at = of ? ScalarOf(b, of->value) : Value{};
  const auto known = PlaceOf(b, at);
  if (IsTuple(v) && (!at || known)) {
    std::vector<Value> fields = b.Fields(v);
    const auto size = static_cast<int64_t>(fields.size());
    const auto place = known ? FrontPlace(*of, *known, size, true) : size;
    if (!place) return {};
    fields.insert(fields.begin() + *place, x);
    return b.Tuple(fields);
  }
  const ir::Type joined = JoinTypes(AsSequence(b, b.Tuple({x})).type, v.type);
  if (!b.status().ok()) return {};
  if (joined == nullptr) {
    b.Fail(StatusCode::kUnsupported, "{} is put into a sequence of {}; ranks must be the same",
           ir::TypeToString(x.type), ir::TypeToString(v.type));
    return {};
  }
  const ir::Type element = ElementType(joined, "Sequence");
  const Value list = AsSequence(b, v, element);
  const Value behind = at ? Behind(*of, list, at, true) : b.Int(0);
  return CallPrelude(b, "sequence_insert", {list, behind, Coerce(b, x, element)}, joined);
}

Value SequenceErase(const Value& v, const InputName& of) {
  TypedBuilder& b = of.b;
  if (!RequireSequence(b, v)) return {};
  const Value at = ScalarOf(b, of.value);
  if (const auto known = PlaceOf(b, at); known && IsTuple(v)) {
    std::vector<Value> fields = b.Fields(v);
    const auto place = FrontPlace(of, *known, static_cast<int64_t>(fields.size()), false);
    if (!place) return {};
    fields.erase(fields.begin() + *place);
    return b.Tuple(fields);
  }
  const Value list = AsSequence(b, v);
  if (!b.status().ok()) return {};
  return CallPrelude(b, "sequence_erase", {list, Behind(of, list, at, false)}, list.type);
}

namespace {

// The elements of a list one after the other: sizes first, then each is copied once, from the last.
Value JoinList(TypedBuilder& b, const Value& list, int axis, bool new_axis) {
  const ir::Type element = b.Open(ElementOf(list));
  const auto last = [&](const Value& l) {
    Value v = CallPrelude(b, "sequence_at", {l, b.Int(0)}, ElementOf(list));
    return new_axis ? b.ExpandDims(v, 0) : b.Transpose(v, AxisMoved(v.rank(), axis, 0));
  };
  const auto rest = [&](const Value& l) { return CallPrelude(b, "sequence_rest", {l}, list.type); };
  const Value count = ListLength(b, list), one = b.Int(1);
  const auto more = [&](const State& s) { return b.Op("greater", {s[0], b.Int(0)}); };
  const auto rows = [&](const Value& v) { return b.Reshape(b.DimOf(v, 0), {}); };
  const State sizes = b.While({count, list, b.Int(0)}, more, [&](const State& s) {
    return State{b.Op("subtract", {s[0], one}), rest(s[1]), b.Op("add", {s[2], rows(last(s[1]))})};
  });
  const Value sample = last(list);
  if (!b.status().ok()) return {};
  std::vector<Value> dims = {b.Reshape(sizes[2], {1})};
  for (int i = 1; i < sample.rank(); ++i) dims.push_back(b.DimOf(sample, i));
  const Value zeros =
      b.Op("dyn.zeros", {b.Concat(dims, 0)}, {{"dtype", std::string(DTypeName(sample.dtype()))}});
  const State end = b.While({count, list, sizes[2], zeros}, more, [&](const State& s) {
    const Value part = last(s[1]);
    const Value size = rows(part), start = b.Op("subtract", {s[2], size});
    const Value at = b.Op("arange", {start, s[2], one}, {{"dtype", "int64"}});
    return State{b.Op("subtract", {s[0], one}), rest(s[1]), start,
                 b.Op("scatter_nd", {s[3], b.ExpandDims(at, 0), part})};
  });
  if (!b.status().ok()) return {};
  return b.Transpose(end[3], AxisMoved(end[3].rank(), 0, axis));
}

}  // namespace

Value SequenceJoin(TypedBuilder& b, const Value& v, int64_t axis, bool new_axis) {
  if (!RequireSequence(b, v)) return {};
  if (!IsTuple(v)) {
    const auto* element = ElementOf(v)->As<TensorType>();
    if (element == nullptr)
      return b.Fail(StatusCode::kUnsupported, "the elements are no tensors"), Value{};
    const int at = AxisIn(b, axis, element->rank() + (new_axis ? 1 : 0));
    return b.status().ok() ? JoinList(b, v, at, new_axis) : Value{};
  }
  std::vector<Value> parts = b.Fields(v);
  if (parts.empty()) return b.Fail("the sequence is empty"), Value{};
  const int at = AxisIn(b, axis, parts[0].rank() + (new_axis ? 1 : 0));
  if (new_axis) {
    for (Value& p : parts) p = b.ExpandDims(p, at);
  }
  return b.Concat(parts, at);
}

namespace {

// Slices whose sizes are known: a tuple. Nullopt for others.
std::optional<Value> KnownParts(TypedBuilder& b, const SplitSpec& spec) {
  const Value& x = spec.x;
  const int axis = spec.axis;
  const bool keep = spec.keeps_axis;
  const Value& split = spec.sizes.value;
  constexpr int64_t kMostParts = 1024;
  const auto known = b.ConstantInts(split);
  const Dim extent = x.dim(axis);
  std::vector<int64_t> sizes;
  if (known && split.rank() == 1) {
    sizes = *known;
  } else if (known && extent.is_const() && known->size() == 1) {
    const int64_t size = (*known)[0];
    if (size < 1) return b.Fail("split: expected at least 1, found {}", size), Value{};
    if ((extent.value() - 1) / size < kMostParts) {
      for (int64_t left = extent.value(); left > 0; left -= sizes.back()) {
        sizes.push_back(std::min(size, left));
      }
      if (sizes.empty()) return b.Tuple({});
    }
  }
  if (!sizes.empty() || (known && split.rank() == 1)) {
    int64_t total = 0;
    std::vector<Value> parts;
    for (int64_t size : sizes) {
      if (size < 0) return b.Fail("split: a size is negative"), Value{};
      int64_t end = 0;
      if (__builtin_add_overflow(total, size, &end))
        return b.Fail("split: the sizes overflow"), Value{};
      Value part = b.Op("strided_slice", {x},
                        {{"begin", AttrList{total}},
                         {"end", AttrList{end}},
                         {"strides", AttrList{1}},
                         {"axes", AttrList{axis}}});
      parts.push_back(keep ? part : b.Squeeze(part, {axis}));
      total = end;
    }
    if (extent.is_const() && total != extent.value())
      return b.Fail("split: the sizes sum to {}, the dim is {}", total, extent.value()), Value{};
    return b.Tuple(parts);
  }
  return std::nullopt;
}

}  // namespace

Value SequenceOfParts(TypedBuilder& b, const SplitSpec& spec) {
  const Value& x = spec.x;
  const int axis = spec.axis;
  const bool keep = spec.keeps_axis;
  const Value& split = spec.sizes.value;
  if (!b.status().ok()) return {};
  if (auto known = KnownParts(b, spec)) return *known;
  if (split.rank() > 1) return b.Fail("split: expected rank 0 or 1"), Value{};
  // Slices along the first axis, as many as it takes.
  const Value rows = b.Transpose(x, AxisMoved(x.rank(), axis, 0)), zero = b.Int(0), one = b.Int(1);
  const Value extent_value = b.Reshape(b.DimOf(rows, 0), {});
  const bool even = split.rank() == 0;
  // Of parts of their own sizes none is negative; the last ends at the extent (below).
  const Value all = AtLeast(spec.sizes, b.Cast(split, DType::kInt64), even ? 1 : 0);
  const Value count =
      even ? b.Op("floor_divide", {b.Op("subtract", {b.Op("add", {extent_value, all}), one}), all})
           : b.Reshape(b.DimOf(all, 0), {});
  const auto part_of = [&](const Value& from, const Value& size) {
    const Value to = b.Op("minimum", {b.Op("add", {from, size}), extent_value});
    Value part =
        b.Op("dyn.strided_slice", {rows, b.Reshape(from, {1}), b.Reshape(to, {1}), b.Ints({1})});
    part = keep ? b.Transpose(part, AxisMoved(part.rank(), 0, axis)) : b.Squeeze(part, {0});
    return std::pair(part, to);
  };
  const auto sized = [&](const Value& i) {
    return even ? all : b.Op("take", {all, i}, {{"axis", 0}});
  };
  // The type of an element: that of any part.
  const Value sample = part_of(zero, even ? all : one).first;
  if (!b.status().ok()) return {};
  const Value list = AsSequence(b, b.Tuple({}), ElementOf(AsSequence(b, b.Tuple({sample}))));
  const State end = b.While(
      {zero, zero, list}, [&](const State& s) { return b.Op("less", {s[0], count}); },
      [&](const State& s) {
        auto [part, to] = part_of(s[1], sized(s[0]));
        return State{b.Op("add", {s[0], one}), to,
                     CallPrelude(b, "sequence_insert", {s[2], zero, part}, list.type)};
      });
  if (!b.status().ok()) return {};
  return end[2];
}

}  // namespace relayvm::import

// Sequences and optional values. Of a length that is known they are tuples, and cost nothing; else
// lists (control_flow.h).
#include <fmt/format.h>

#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/checked.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;
using State = TypedBuilder::State;

bool IsTuple(const Value& v) { return v.type != nullptr && v.type->As<ir::TupleType>() != nullptr; }

ir::Type IntType() { return ir::MakeScalarType(DType::kInt64); }

std::optional<int64_t> Number(TypedBuilder& b, const Value& v) {
  auto known = v ? b.ConstantInts(v) : std::nullopt;
  return known && known->size() == 1 ? std::optional((*known)[0]) : std::nullopt;
}

Value Scalar(TypedBuilder& b, const Value& v) {
  return b.Cast(v.rank() == 0 ? v : b.Reshape(v, {}), DType::kInt64);
}

// False, with an error, where input 0 is no sequence.
bool RequireSequence(NodeContext& n, const Value& v) {
  if (!n.b().status().ok()) return false;
  if (IsSequence(v)) return true;
  n.Fail("expected a sequence");
  return false;
}

// --- Lists of unknown length ---

Value Length(TypedBuilder& b, const Value& list) {
  return CallPrelude(b, "sequence_length", {list, b.Int(0)}, IntType());
}

// The number of elements behind place `at`, which counts from the end where negative; the program
// fails where there is no such place. With `end` the place behind the last counts too.
Value Behind(const InputName& of, const Value& list, const Value& at, bool end) {
  TypedBuilder& b = of.b;
  const Term length(b, Length(b, list)), last = end ? length : length - 1;
  const Term place = Checked(of, at, (-length).Reshape({1}), (last + 1).Reshape({1}));
  return last - Select(place < 0, place + length, place);
}

ir::Type Element(const Value& list) { return ElementType(list.type, "Sequence"); }

// --- Operators ---

Outputs SequenceConstruct(NodeContext& n) { return {n.b().Tuple(n.inputs())}; }
Outputs SequenceEmpty(NodeContext& n) { return {n.b().Tuple({})}; }

Outputs SequenceLength(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value v = n.Input(0);
  if (!RequireSequence(n, v)) return {};
  if (IsTuple(v)) return {b.Int(static_cast<int64_t>(b.Fields(v).size()))};
  return {Length(b, v)};
}

Outputs SequenceAt(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value v = n.Input(0), at = Scalar(b, n.Input(1));
  if (!RequireSequence(n, v)) return {};
  if (const auto known = Number(b, at); known && IsTuple(v)) {
    const std::vector<Value> fields = b.Fields(v);
    const auto size = static_cast<int64_t>(fields.size());
    if (*known < -size || *known >= size) {
      return n.Fail(fmt::format("{}: {}, expected {} to {}", n.InputText(1, "position"), *known,
                                -size, size - 1));
    }
    return {fields[static_cast<size_t>(*known < 0 ? *known + size : *known)]};
  }
  const Value list = AsSequence(b, v);
  if (!b.status().ok()) return {};
  return {CallPrelude(b, "sequence_at", {list, Behind({n, 1, "position"}, list, at, false)},
                      Element(list))};
}

Outputs SequenceInsert(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value v = n.Input(0), x = n.Input(1);
  if (!RequireSequence(n, v)) return {};
  const Value at = n.Has(2) ? Scalar(b, n.Input(2)) : Value{};
  const auto known = Number(b, at);
  if (IsTuple(v) && (!at || known)) {
    std::vector<Value> fields = b.Fields(v);
    const auto size = static_cast<int64_t>(fields.size());
    int64_t place = known.value_or(size);
    if (place < -size || place > size) {
      return n.Fail(
          fmt::format("{}: {}, expected {} to {}", n.InputText(2, "position"), place, -size, size));
    }
    if (place < 0) place += size;
    fields.insert(fields.begin() + place, x);
    return {b.Tuple(fields)};
  }
  const ir::Type joined = JoinTypes(AsSequence(b, b.Tuple({x})).type, v.type);
  if (!b.status().ok()) return {};
  if (joined == nullptr) {
    return n.Unsupported(fmt::format("{} is put into a sequence of {}; ranks must be the same",
                                     ir::TypeToString(x.type), ir::TypeToString(v.type)));
  }
  const ir::Type element = ElementType(joined, "Sequence");
  const Value list = AsSequence(b, v, element);
  const Value behind = at ? Behind({n, 2, "position"}, list, at, true) : b.Int(0);
  return {CallPrelude(b, "sequence_insert", {list, behind, Coerce(b, x, element)}, joined)};
}

Outputs SequenceErase(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value v = n.Input(0);
  if (!RequireSequence(n, v)) return {};
  const Value at = n.Has(1) ? Scalar(b, n.Input(1)) : b.Int(-1);
  if (const auto known = Number(b, at); known && IsTuple(v)) {
    std::vector<Value> fields = b.Fields(v);
    const auto size = static_cast<int64_t>(fields.size());
    if (*known < -size || *known >= size) {
      return n.Fail(fmt::format("{}: {}, expected {} to {}", n.InputText(1, "position"), *known,
                                -size, size - 1));
    }
    fields.erase(fields.begin() + (*known < 0 ? *known + size : *known));
    return {b.Tuple(fields)};
  }
  const Value list = AsSequence(b, v);
  if (!b.status().ok()) return {};
  return {CallPrelude(b, "sequence_erase", {list, Behind({n, 1, "position"}, list, at, false)},
                      list.type)};
}

Value ToFront(TypedBuilder& b, const Value& v, int axis) {
  std::vector<int64_t> axes = {axis};
  for (int i = 0; i < v.rank(); ++i) {
    if (i != axis) axes.push_back(i);
  }
  return b.Transpose(v, axes);
}

Value FromFront(TypedBuilder& b, const Value& v, int axis) {
  std::vector<int64_t> axes;
  for (int i = 1; i < v.rank(); ++i) axes.push_back(i);
  axes.insert(axes.begin() + axis, 0);
  return b.Transpose(v, axes);
}

// The elements of a list one after the other: sizes first, then each is copied once, from the last.
Outputs ConcatList(NodeContext& n, const Value& list, int axis, bool new_axis) {
  TypedBuilder& b = n.b();
  const ir::Type element = b.Open(Element(list));
  const auto last = [&](const Value& l) {
    Value v = CallPrelude(b, "sequence_at", {l, b.Int(0)}, Element(list));
    return new_axis ? b.ExpandDims(v, 0) : ToFront(b, v, axis);
  };
  const auto rest = [&](const Value& l) { return CallPrelude(b, "sequence_rest", {l}, list.type); };
  const Value count = Length(b, list), one = b.Int(1);
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
  return {FromFront(b, end[3], axis)};
}

Outputs ConcatFromSequence(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value v = n.Input(0);
  if (!RequireSequence(n, v)) return {};
  if (!n.HasAttr("axis")) return n.Fail("attribute axis is missing");
  const bool new_axis = n.Int("new_axis", 0) != 0;
  if (!IsTuple(v)) {
    const auto* element = Element(v)->As<TensorType>();
    if (element == nullptr) return n.Unsupported("the elements are no tensors");
    const int axis = n.Axis(n.Int("axis", 0), element->rank() + (new_axis ? 1 : 0));
    return b.status().ok() ? ConcatList(n, v, axis, new_axis) : Outputs{};
  }
  std::vector<Value> parts = b.Fields(v);
  if (parts.empty()) return n.Fail("the sequence is empty");
  const int axis = n.Axis(n.Int("axis", 0), parts[0].rank() + (new_axis ? 1 : 0));
  if (new_axis) {
    for (Value& p : parts) p = b.ExpandDims(p, axis);
  }
  return {b.Concat(parts, axis)};
}

Outputs SplitToSequence(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  const bool keep = n.Has(1) || n.Int("keepdims", 1) != 0;
  const Value split = n.Has(1) ? n.Input(1) : b.Int(1);
  if (!b.status().ok()) return {};
  constexpr int64_t kMostParts = 1024;
  const auto known = b.ConstantInts(split);
  const Dim extent = x.dim(axis);
  std::vector<int64_t> sizes;
  if (known && split.rank() == 1) {
    sizes = *known;
  } else if (known && extent.is_const() && known->size() == 1) {
    const int64_t size = (*known)[0];
    if (size < 1) return n.Fail(fmt::format("split: expected at least 1, found {}", size));
    if ((extent.value() - 1) / size < kMostParts) {
      for (int64_t left = extent.value(); left > 0; left -= sizes.back()) {
        sizes.push_back(std::min(size, left));
      }
      if (sizes.empty()) return {b.Tuple({})};
    }
  }
  if (!sizes.empty() || (known && split.rank() == 1)) {
    int64_t total = 0;
    std::vector<Value> parts;
    for (int64_t size : sizes) {
      if (size < 0) return n.Fail("split: a size is negative");
      int64_t end = 0;
      if (__builtin_add_overflow(total, size, &end)) return n.Fail("split: the sizes overflow");
      Value part = b.Op("strided_slice", {x},
                        {{"begin", AttrList{total}},
                         {"end", AttrList{end}},
                         {"strides", AttrList{1}},
                         {"axes", AttrList{axis}}});
      parts.push_back(keep ? part : b.Squeeze(part, {axis}));
      total = end;
    }
    if (extent.is_const() && total != extent.value()) {
      return n.Fail(
          fmt::format("split: the sizes sum to {}, the dim is {}", total, extent.value()));
    }
    return {b.Tuple(parts)};
  }
  if (split.rank() > 1) return n.Fail("split: expected rank 0 or 1");
  // Slices along the first axis, as many as it takes.
  const Value rows = ToFront(b, x, axis), zero = b.Int(0), one = b.Int(1);
  const Value extent_value = b.Reshape(b.DimOf(rows, 0), {});
  const bool even = split.rank() == 0;
  // Of parts of their own sizes none is negative; the last ends at the extent (below).
  const Value all = AtLeast({n, 1, "split"}, b.Cast(split, DType::kInt64), even ? 1 : 0);
  const Value count =
      even ? b.Op("floor_divide", {b.Op("subtract", {b.Op("add", {extent_value, all}), one}), all})
           : b.Reshape(b.DimOf(all, 0), {});
  const auto part_of = [&](const Value& from, const Value& size) {
    const Value to = b.Op("minimum", {b.Op("add", {from, size}), extent_value});
    Value part =
        b.Op("dyn.strided_slice", {rows, b.Reshape(from, {1}), b.Reshape(to, {1}), b.Ints({1})});
    part = keep ? FromFront(b, part, axis) : b.Squeeze(part, {0});
    return std::pair(part, to);
  };
  const auto sized = [&](const Value& i) {
    return even ? all : b.Op("take", {all, i}, {{"axis", 0}});
  };
  // The type of an element: that of any part.
  const Value sample = part_of(zero, even ? all : one).first;
  if (!b.status().ok()) return {};
  const Value list = AsSequence(b, b.Tuple({}), Element(AsSequence(b, b.Tuple({sample}))));
  const State end = b.While(
      {zero, zero, list}, [&](const State& s) { return b.Op("less", {s[0], count}); },
      [&](const State& s) {
        auto [part, to] = part_of(s[1], sized(s[0]));
        return State{b.Op("add", {s[0], one}), to,
                     CallPrelude(b, "sequence_insert", {s[2], zero, part}, list.type)};
      });
  if (!b.status().ok()) return {};
  return {end[2]};
}

Outputs SequenceMap(NodeContext& n) {
  TypedBuilder& b = n.b();
  std::vector<Value> in = n.inputs();
  if (!RequireSequence(n, in[0])) return {};
  bool known = true;
  for (const Value& v : in) known &= !IsSequence(v) || IsTuple(v);
  if (known) {
    std::vector<std::vector<Value>> out(n.num_outputs()), fields;
    for (const Value& v : in) fields.push_back(IsTuple(v) ? b.Fields(v) : std::vector<Value>());
    for (size_t i = 0; i < fields[0].size(); ++i) {
      std::vector<Value> args;
      for (size_t k = 0; k < in.size(); ++k) {
        if (!IsTuple(in[k])) {
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
    state.push_back(Coerce(b, list, ListType(Element(list))));
  }
  const size_t lists = state.size();
  for (size_t k = 0; k < n.num_outputs(); ++k) state.push_back(b.Tuple({}));
  const Value count = Length(b, AsSequence(b, in[0]));
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

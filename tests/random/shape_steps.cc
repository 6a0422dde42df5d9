// Steps that change shapes, or ask for them.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace relayvm::random_programs {

bool Generator::ReshapeStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && AllKnown(x.type->shape) && Smallest(x.type->shape) > 0;
  });
  if (!v) return false;
  Shape shape = v->type->shape;
  std::vector<int64_t> codes;
  // Merge neighbours, split numbers; at most one size of the result is left to -1.
  Shape out;
  bool inferred = false;
  bool prefix = true;  // 0 means the size at the same place
  for (size_t d = 0; d < shape.size(); ++d) {
    Size s = shape[d];
    bool merged = false;
    while (d + 1 < shape.size() && Chance(40)) {
      ++d;
      for (size_t r = 0; r < kRuns; ++r) s.at[r] *= shape[d].at[r];
      s.is_static = s.is_static && shape[d].is_static;
      merged = true;
    }
    if (!merged && prefix && Chance(30)) {
      codes.push_back(0);
      out.push_back(s);
      continue;
    }
    prefix = prefix && !merged;
    if (s.is_static && s.at[0] % 2 == 0 && Chance(40)) {
      codes.push_back(2);
      codes.push_back(s.at[0] / 2);
      out.push_back(StaticSize(2));
      out.push_back(StaticSize(s.at[0] / 2));
      prefix = false;
    } else if (s.is_static) {
      codes.push_back(s.at[0]);
      out.push_back(s);
    } else if (!inferred) {
      codes.push_back(-1);
      out.push_back(s);
      inferred = true;
    } else if (!merged && prefix) {
      codes.push_back(0);
      out.push_back(s);
    } else {
      return false;
    }
  }
  return Add(scope, "reshape", fmt::format("reshape({}, newshape={})", v->text, Ints(codes)),
             TensorType(v->type->dtype, out, v->type->range));
}

bool Generator::TransposeStep(Scope& scope) {
  std::optional<Value> v =
      PickTensor(scope, [](const Value& x) { return x.type->shape.size() >= 2; });
  if (!v) return false;
  const Shape& x = v->type->shape;
  std::vector<int64_t> axes;
  for (size_t i = x.size(); i-- > 0;) axes.push_back(static_cast<int64_t>(i));
  std::string text = "None";
  if (Chance(70)) {
    for (size_t i = axes.size(); i-- > 1;)
      std::swap(axes[i], axes[static_cast<size_t>(Below(static_cast<int>(i) + 1))]);
    text = Ints(axes);
  }
  Shape out;
  for (int64_t a : axes) out.push_back(x[static_cast<size_t>(a)]);
  return Add(scope, "transpose", fmt::format("transpose({}, axes={})", v->text, text),
             TensorType(v->type->dtype, out, v->type->range));
}

bool Generator::DimsStep(Scope& scope) {
  std::optional<Value> v =
      PickTensor(scope, [](const Value& x) { return x.type->shape.size() <= 3; });
  if (!v) return false;
  Shape out = v->type->shape;
  auto rank = static_cast<int>(out.size());
  for (int d = 0; d < rank && Chance(50); ++d) {
    if (!out[static_cast<size_t>(d)].Is(1)) continue;
    out.erase(out.begin() + d);
    return Add(scope, "op.squeeze", fmt::format("squeeze({}, axis=[{}])", v->text, d),
               TensorType(v->type->dtype, out, v->type->range));
  }
  int axis = Below(rank + 1);
  out.insert(out.begin() + axis, StaticSize(1));
  return Add(scope, "op.expand_dims",
             fmt::format("expand_dims({}, axis={})", v->text, Chance(30) ? axis - rank - 1 : axis),
             TensorType(v->type->dtype, out, v->type->range));
}

// Concatenates the fields of a tuple that is a variable; where none does, one is made.
bool Generator::TupleArgumentStep(Scope& scope) {
  std::optional<Value> tuple = PickCopy(scope, [](const Value& v) {
    const std::vector<TypePtr>& fields = v.type->args;
    return v.type->Is(Type::Kind::kTuple) && !fields.empty() &&
           std::all_of(fields.begin(), fields.end(), [&](const TypePtr& f) {
             return f->IsTensor() && f->dtype == fields[0]->dtype && !f->shape.empty() &&
                    f->shape.size() == fields[0]->shape.size();
           });
  });
  if (!tuple || Chance(30)) {
    auto has_axes = [](const Value& v) { return !v.type->shape.empty(); };
    std::optional<Value> a = PickTensor(scope, has_axes);
    if (!a) return false;
    std::optional<Value> b = PickTensor(scope, [&](const Value& v) {
      Shape joined = a->type->shape;
      return v.type->dtype == a->type->dtype && v.type->shape.size() == joined.size() &&
             Concatenated(&joined, v.type->shape, 0);
    });
    tuple =
        Let(scope, fmt::format("({}, {})", a->text, b->text), TupleType({a->type, b->type}), true);
  }
  const std::vector<TypePtr>& fields = tuple->type->args;
  auto axis = static_cast<size_t>(Below(static_cast<int>(fields[0]->shape.size())));
  Shape shape = fields[0]->shape;
  Range range = fields[0]->range;
  for (size_t i = 1; i < fields.size(); ++i) {
    range = Union(range, fields[i]->range);
    if (!Concatenated(&shape, fields[i]->shape, axis)) return false;
  }
  if (LargestCount(shape) > kLargestTensor) return false;
  return Add(scope, "tuple.argument", fmt::format("concatenate({}, axis={})", tuple->text, axis),
             TensorType(fields[0]->dtype, shape, range));
}

// Adds a tensor of shape `next` to one of shape `shape`; false when another axis differs.
bool Generator::Concatenated(Shape* shape, const Shape& next, size_t axis) {
  for (size_t d = 0; d < shape->size(); ++d) {
    Size& s = (*shape)[d];
    const Size& n = next[d];
    if (d != axis) {
      if (!(s == n)) return false;
      s.is_static = s.is_static || n.is_static;
    } else if (s.known() && n.known()) {
      for (size_t r = 0; r < kRuns; ++r) s.at[r] += n.at[r];
      s.is_static = s.is_static && n.is_static;
    } else {
      s = {};
      s.unknown = next_unknown_++;
    }
  }
  return true;
}

bool Generator::ConcatenateStep(Scope& scope) {
  std::optional<Value> a = PickTensor(scope, [](const Value& v) { return !v.type->shape.empty(); });
  if (!a) return false;
  Shape shape = a->type->shape;
  bool stack = Chance(25);
  auto axis = static_cast<size_t>(Below(static_cast<int>(shape.size())));
  Range range = a->type->range;
  std::string text = a->text;
  int count = Between(1, 3);
  for (int i = 1; i < count; ++i) {
    std::optional<Value> b = PickTensor(scope, [&](const Value& v) {
      if (v.type->dtype != a->type->dtype || v.type->shape.size() != shape.size()) return false;
      Shape joined = shape;
      return Concatenated(&joined, v.type->shape, stack ? shape.size() : axis);
    });
    if (!b) return false;
    text += ", " + b->text;
    range = Union(range, b->type->range);
    Concatenated(&shape, b->type->shape, stack ? shape.size() : axis);
  }
  if (count == 1) text += ",";
  if (stack) shape.insert(shape.begin() + static_cast<int64_t>(axis), StaticSize(count));
  if (LargestCount(shape) > kLargestTensor) return false;
  return Add(scope, stack ? "op.stack" : "concatenate",
             fmt::format("{}(({}), axis={})", stack ? "stack" : "concatenate", text, axis),
             TensorType(a->type->dtype, shape, range));
}

bool Generator::SplitStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
  if (!v) return false;
  Shape shape = v->type->shape;
  auto axis = static_cast<size_t>(Below(static_cast<int>(shape.size())));
  const Size s = shape[axis];
  if (!s.is_static || s.at[0] < 2) return false;
  std::vector<int64_t> ends;
  std::string how = "2";
  if (s.at[0] % 2 == 0 && Chance(60)) {
    ends = {s.at[0] / 2, s.at[0]};
  } else {
    int64_t cut = Between(1, static_cast<int>(s.at[0]) - 1);
    how = Ints({cut});
    ends = {cut, s.at[0]};
  }
  std::vector<TypePtr> fields;
  int64_t begin = 0;
  for (int64_t end : ends) {
    shape[axis] = StaticSize(end - begin);
    begin = end;
    fields.push_back(TensorType(v->type->dtype, shape, v->type->range));
  }
  Use("split");
  Value tuple =
      Let(scope, fmt::format("split({}, indices_or_sections={}, axis={})", v->text, how, axis),
          TupleType(fields), true);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (Chance(70)) Let(scope, fmt::format("{}.{}", tuple.text, i), fields[i], true);
  }
  return true;
}

bool Generator::RepeatStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
  if (!v) return false;
  Shape out = v->type->shape;
  auto axis = static_cast<size_t>(Below(static_cast<int>(out.size())));
  int kind = Below(3), times = Between(1, 3);
  if (kind != 0) {
    for (int64_t& n : out[axis].at) n *= times;
    if (!out[axis].known() && times > 1) out[axis].unknown = next_unknown_++;
  }
  if (LargestCount(out) > kLargestTensor) return false;
  TypePtr type = TensorType(v->type->dtype, out, v->type->range);
  if (kind == 0) {
    return Add(scope, "op.reverse", fmt::format("reverse({}, axis={})", v->text, axis), type);
  }
  if (kind == 1) {
    return Add(scope, "op.repeat",
               fmt::format("repeat({}, repeats={}, axis={})", v->text, times, axis), type);
  }
  std::vector<int64_t> reps(out.size(), 1);
  reps[axis] = times;
  return Add(scope, "op.tile", fmt::format("tile({}, reps={})", v->text, Ints(reps)), type);
}

bool Generator::ShapeStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
  if (!v) return false;
  auto rank = static_cast<int>(v->type->shape.size());
  Use("shape_of");
  static const std::vector<DType> kDTypes = {DType::kInt64, DType::kInt32,  DType::kInt32,
                                             DType::kUInt8, DType::kUInt32, DType::kInt16};
  DType dtype = OneOf(kDTypes);
  std::string shape = fmt::format("shape_of({}, dtype=\"{}\")", v->text, DTypeName(dtype));
  switch (Below(4)) {
    case 0:
      return Add(scope, "op.shape_of", shape, TensorType(dtype, {StaticSize(rank)}));
    case 1:
      return Add(scope, "op.shape_of", fmt::format("take({}, {}i64, axis=0)", shape, Below(rank)),
                 ScalarType(dtype));
    case 2:
      return Add(scope, "op.ndarray_size",
                 fmt::format("ndarray_size({}, dtype=\"{}\")", v->text, DTypeName(dtype)),
                 ScalarType(dtype));
    default: {
      // All in one row, by arithmetic on the shape.
      if (!AllKnown(v->type->shape)) return false;
      Size s = StaticSize(1);
      for (const Size& d : v->type->shape) {
        for (size_t r = 0; r < kRuns; ++r) s.at[r] *= d.at[r];
      }
      s.is_static = false;
      if (s.Smallest() == 0) return false;       // 0 would say: as the operand's
      if (dtype == DType::kUInt8) return false;  // the product would wrap
      return Add(scope, "op.dyn.reshape",
                 fmt::format("dyn.reshape({}, prod({}, axis=[0], keepdims=True), newshape=[])",
                             v->text, shape),
                 TensorType(v->type->dtype, {s}, v->type->range));
    }
  }
}

}  // namespace relayvm::random_programs

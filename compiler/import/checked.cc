#include "compiler/import/checked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/ir/scalar.h"

namespace relayvm::import {

namespace {

// What is known of numbers: for each place of the bounds, those that stand there.
std::optional<std::vector<Dim>> NumbersOf(TypedBuilder& b, const Value& v, size_t places) {
  if (v.constant == nullptr || v.constant->size() <= static_cast<int64_t>(2 * places)) {
    if (auto known = b.Elements(v)) return known;
  }
  const auto known = b.ConstantInts(v);
  if (!known) return std::nullopt;
  // The least and the greatest stand for all.
  std::vector<int64_t> ends;
  for (size_t i = 0; i < known->size(); ++i) {
    if (i < places) {
      ends.push_back((*known)[i]);
      continue;
    }
    if (i == places)
      ends.insert(ends.end(), ends.begin(), ends.begin() + static_cast<int64_t>(places));
    int64_t& least = ends[i % places];
    int64_t& most = ends[places + i % places];
    least = std::min(least, (*known)[i]);
    most = std::max(most, (*known)[i]);
  }
  return std::vector<Dim>(ends.begin(), ends.end());
}

bool Proved(const Dim& not_negative) {
  const auto low = not_negative.LowerBound();
  return low && *low >= 0;
}
bool Refuted(const Dim& not_negative) {
  const auto high = not_negative.UpperBound();
  return high && *high < 0;
}

// True where nothing is left to check; an error of the node where a number is wrong.
bool Holds(const InputName& of, const Value& values, const Value& least, const Value& end) {
  TypedBuilder& b = of.b;
  if (!b.status().ok() || !values.is_tensor() || IsFloat(values.dtype())) return true;
  const auto low = b.Elements(least), high = b.Elements(end);
  if (!low || !high || low->empty() || low->size() != high->size()) return false;
  const auto numbers = NumbersOf(b, values, low->size());
  if (!numbers) return false;
  bool holds = true;
  for (size_t i = 0; i < numbers->size(); ++i) {
    const Dim& from = (*low)[i % low->size()];
    const Dim to = (*high)[i % low->size()] - Dim(1);
    const Dim& number = (*numbers)[i];
    if (Refuted(number - from) || Refuted(to - number)) {
      const bool open = to.is_const() && to.value() == INT64_MAX - 1;
      of.b.Fail("{}: {}, expected {}", of.text, number.ToString(),
                open ? fmt::format("{} or more", from.ToString())
                     : fmt::format("{} to {}", from.ToString(), to.ToString()));
      return true;
    }
    holds &= Proved(number - from) && Proved(to - number);
  }
  return holds;
}

// Constants as what is to be checked of them.
Value Representatives(TypedBuilder& b, const Value& values, size_t places) {
  if (values.constant == nullptr) return values;
  const auto numbers = NumbersOf(b, values, places);
  if (!numbers || numbers->size() % places != 0) return values;
  std::vector<int64_t> ints;
  for (const Dim& d : *numbers) {
    if (!d.is_const()) return values;
    ints.push_back(d.value());
  }
  return b.Reshape(b.Ints(ints), {-1, static_cast<int64_t>(places)});
}

// A constant float32 or float64 of one element.
std::optional<double> KnownFloat(const Value& v) {
  if (v.constant == nullptr || v.constant->size() != 1) return std::nullopt;
  if (v.dtype() != DType::kFloat32 && v.dtype() != DType::kFloat64) return std::nullopt;
  return ir::NumberAt(*v.constant);
}

Value Call(const InputName& of, std::string_view op, const std::vector<Value>& args) {
  TypedBuilder& b = of.b;
  const ir::Span outer = b.span();
  if (of.place) b.SetSpan(of.place(of.measured));
  Value v = b.Op(op, args);
  b.SetSpan(outer);
  return v;
}

size_t PlacesOf(const Value& bounds) {
  return bounds.dim(0).is_const() ? static_cast<size_t>(std::max<int64_t>(bounds.dim(0).value(), 1))
                                  : 1;
}

}  // namespace

Value CheckedEnd(const InputName& of, const Value& values, const Value& least, const Value& end) {
  if (Holds(of, values, least, end)) return end;
  return Call(of, "check_range", {Representatives(of.b, values, PlacesOf(end)), least, end});
}

Term Checked(const InputName& of, const Value& values, const Value& least, const Value& end) {
  TypedBuilder& b = of.b;
  if (Holds(of, values, least, end)) return {b, values};
  // One bound is a number: known to the kernel that checks, or in a register.
  const auto bound = [&](const Value& v) { return end.dim(0).is_const(1) ? b.Reshape(v, {}) : v; };
  return {b, Call(of, "range_checked", {values, bound(least), bound(end)})};
}
Term Checked(const InputName& of, const Value& values, int64_t least, const Value& end) {
  const auto places = static_cast<size_t>(PlacesOf(end));
  return Checked(of, values, of.b.Ints(std::vector<int64_t>(places, least)), end);
}
Term AtLeast(const InputName& of, const Value& values, int64_t least) {
  return Checked(of, values, least, of.b.Ints({INT64_MAX}));
}

Term Fraction(const InputName& of, const Term& value, bool below_one) {
  TypedBuilder& b = of.b;
  if (!b.status().ok() || !IsFloat(value.dtype())) return value;
  if (const auto known = KnownFloat(of.value)) {
    if (*known >= 0 && (below_one ? *known < 1 : *known <= 1)) return value;
    b.Fail("{}: {}, expected 0 to {}1", of.text, *known, below_one ? "below " : "");
    return value;
  }
  const Term number = value.As(DType::kFloat32);
  // What is no number is below all.
  const Term limited = Clamp(Select(Equal(number, number), number, number.Number(-1)),
                             number.Number(-1e6), number.Number(1e6)) *
                       1000.0;
  const Term rounded =
      below_one ? Floor(limited) : Select(limited < 0, Floor(limited), limited.Call("ceil"));
  InputName thousandths = of;
  thousandths.measured = "thousandths of ";
  const Term checked =
      Checked(thousandths, rounded.As(DType::kInt64), 0, b.Ints({below_one ? 1000 : 1001}));
  // The number, which is not above 1.
  return Minimum(number, (checked + 1.0).As(DType::kFloat32)).As(value.dtype());
}

bool FollowsFromDims(TypedBuilder& b, const Value& v) {
  const auto elements = b.Elements(v);
  return elements && std::all_of(elements->begin(), elements->end(), [](const Dim& d) {
           return !d.is_symbol() || d.LowerBound().has_value();
         });
}

Value NotNegative(const InputName& of) {
  TypedBuilder& b = of.b;
  const Value v = of.value;
  return FollowsFromDims(b, v) && !b.ConstantInts(v) ? v : AtLeast(of, v, 0).value();
}

Value FromFront(const InputName& of, const Value& indices, const Value& extents) {
  TypedBuilder& b = of.b;
  const Value least = b.Op("negative", {extents});
  const Value wide = Term(b, indices).As(DType::kInt64);
  const auto known = b.ConstantInts(indices);
  const auto sizes = b.ConstantInts(extents);
  if (known) {
    // What is to be read is known.
    if (Holds(of, indices, least, extents) &&
        std::all_of(known->begin(), known->end(), [](int64_t i) { return i >= 0; })) {
      return indices;
    }
    if (sizes && !sizes->empty() && b.status().ok()) {
      std::vector<int64_t> wrapped, shape;
      for (size_t i = 0; i < known->size(); ++i) {
        wrapped.push_back((*known)[i] + ((*known)[i] < 0 ? (*sizes)[i % sizes->size()] : 0));
      }
      for (const Dim& d : indices.shape()) shape.push_back(d.is_const() ? d.value() : -1);
      const Value v = b.Ints(wrapped);
      return shape.size() == 1
                 ? v
                 : b.Op("reshape", {v}, {{"newshape", ListOf(shape)}, {"allowzero", true}});
    }
  }
  const Term place = Checked(of, wide, least, extents);
  if (!b.status().ok()) return indices;
  const bool one = extents.dim(0).is_const(1);
  const Term extent(b, one ? b.Squeeze(extents, {0}) : extents);
  return Select(place < 0, place + extent, place);
}

Value Below(const InputName& of, const Value& indices, const Value& extent) {
  TypedBuilder& b = of.b;
  if (Holds(of, indices, b.Ints({0}), extent)) return indices;
  return Checked(of, Term(b, indices).As(DType::kInt64), 0, extent);
}

Term AxisFromFront(const InputName& of, int64_t rank) {
  TypedBuilder& b = of.b;
  const Term axis = AsScalar(Term(of.b, of.value)).As(DType::kInt64);
  return {b, FromFront(of, axis, b.Ints({rank}))};
}

bool FitsShape(TypedBuilder& b, const Value& v, const std::vector<Dim>& shape,
               std::string_view what) {
  bool fits = v.is_tensor() && v.rank() == static_cast<int>(shape.size());
  for (int k = 0; fits && k < v.rank(); ++k) {
    const Dim& wanted = shape[static_cast<size_t>(k)];
    fits = !wanted.is_const() || !v.dim(k).is_const() || wanted == v.dim(k);
  }
  if (fits) return true;
  std::vector<std::string> text;
  for (const Dim& d : shape) text.push_back(d.is_const() ? d.ToString() : "?");
  b.Fail("{}: expected shape ({}), found {}", what, fmt::join(text, ", "),
         ir::TypeToString(v.type));
  return false;
}

std::optional<Value> OfShape(const InputName& of, const std::vector<Dim>& shape) {
  const Value& v = of.value;
  if (!FitsShape(of.b, v, shape, of.text)) return std::nullopt;
  bool known = true;
  for (int k = 0; k < v.rank(); ++k) {
    const Dim& wanted = shape[static_cast<size_t>(k)];
    known &= !wanted.is_const() || wanted == v.dim(k);
  }
  if (known) return v;
  Value stated = of.b.Stated({v, ir::MakeTensorType(shape, v.dtype())}, {}, of.text);
  stated.bits = v.bits;
  return of.b.status().ok() ? std::optional(stated) : std::nullopt;
}

int AxisIn(TypedBuilder& b, int64_t axis, int rank, std::string_view input) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  b.Fail(input.empty() ? fmt::format("axis: expected {} to {}, found {}", -rank, rank - 1, axis)
                       : fmt::format("{}: {}, expected {} to {}", input, axis, -rank, rank - 1));
  return 0;
}

}  // namespace relayvm::import

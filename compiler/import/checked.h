// Inputs whose numbers must lie in a range that the data's dims decide: indices, axes, lengths,
// counts. Others are an error. Those that are known are checked when compiling, and so are those
// that follow from dims; else the program checks them when it runs (check_range), and the error
// names the node, the input and the number.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

// Of whom a range is: an input, and what errors call it.
struct InputName {
  // `what` is what operators call input `input` of a format's node: "indices".
  template <typename Node>
    requires requires(Node& n) { n.InputSpan(size_t{}, std::string_view{}); }
  InputName(Node& n, size_t input, std::string what)
      : b(n.b()),
        value(n.Input(input)),
        text(n.InputText(input, what)),
        place([&n, input, what](const std::string& of) { return n.InputSpan(input, of + what); }) {}
  InputName(TypedBuilder& b, Value value, std::string text)
      : b(b), value(std::move(value)), text(std::move(text)) {}

  TypedBuilder& b;
  Value value;
  std::string text;      // "indices 'ids'"
  std::string measured;  // what of the numbers is checked: "thousandths of "; else empty
  // Of what the program checks; empty: the builder's.
  std::function<ir::Span(const std::string& measured)> place;
};

// Integers `values`, each of which must be in least..end-1. Bounds are int64 of rank 1: of one
// number, or of one for each place of the values' last axis. What is used must come from the
// result: the values, once they are checked.
Term Checked(const InputName& of, const Value& values, const Value& least, const Value& end);
Term Checked(const InputName& of, const Value& values, int64_t least, const Value& end);
// Whether the numbers are known, or formulas over dims: not numbers of the data.
bool FollowsFromDims(TypedBuilder& b, const Value& v);
// Sizes, 0 or more. Those that follow from dims stay as they are: types check the sizes they give.
Value NotNegative(const InputName& of);
// Without an upper bound.
Term AtLeast(const InputName& of, const Value& values, int64_t least);
// A float of rank 0, which must be in 0..1, and below 1 where asked for. When it runs, thousandths
// are checked, rounded so that what lies outside stays outside.
Term Fraction(const InputName& of, const Term& value, bool below_one);
// Checked, for values that are large: gives `end`.
Value CheckedEnd(const InputName& of, const Value& values, const Value& least, const Value& end);

// Indices of axes whose extents are those (int64, rank 1, of one or for each place of the last
// axis), which count from the end where negative: from the front.
Value FromFront(const InputName& of, const Value& indices, const Value& extents);
// The same of an axis, rank 0, int64.
Term AxisFromFront(const InputName& of, int64_t rank);
// `indices` that must not be negative.
Value Below(const InputName& of, const Value& indices, const Value& extent);

// Whether `v` can be of that shape, of which dims that are no numbers may be anything; an error
// where it cannot.
bool FitsShape(TypedBuilder& b, const Value& v, const std::vector<Dim>& shape,
               std::string_view what);
// An input as a tensor of that shape, Any being anything: an error where it is none, when it runs
// where only running tells. Nullopt with an error.
std::optional<Value> OfShape(const InputName& of, const std::vector<Dim>& shape);

// An axis in 0..rank-1 from one in -rank..rank-1; an error and 0 beyond. `input`: what gives it, if
// it is an input ("axes 'k'").
int AxisIn(TypedBuilder& b, int64_t axis, int rank, std::string_view input = {});

}  // namespace relayvm::import

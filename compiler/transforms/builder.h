// Appends operator calls to a list of bindings: for passes that rewrite one call into several.
// Tested by builder_test.cc, and through the passes that use it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// Attributes, and the values of those that are lists.
AttrList Ints(const std::vector<int64_t>& values);
AttrList DimsOf(const std::vector<Dim>& shape);
Attrs AttrsOf(std::initializer_list<std::pair<const char*, AttrValue>> values);

// Appends the guards that `call` needs, which type inference then keeps: for a pass that puts other
// operators in its place. These may accept what it does not, and where they refuse the same, the
// error names the operator of the program. REQUIRES: its arguments have types.
void KeepGuards(const Module& m, const OpCall& call, Span span, std::vector<Binding>& out);

class BindingBuilder {
 public:
  BindingBuilder(const Module& m, Span span, std::vector<Binding>& out)
      : m_(m), span_(span), out_(out) {}

  // A call of a known operator with some of its attributes given; its variable has no type yet.
  Atom Call(std::string_view op, std::vector<Atom> args, const Attrs& given = {});
  Atom Tuple(std::vector<Atom> fields);
  // A rank-0 constant.
  Atom Scalar(double value, DType dtype);
  // Binds `var` itself to the last step.
  void BindCall(const Var* var, std::string_view op, std::vector<Atom> args,
                const Attrs& given = {});
  void BindAtom(const Var* var, Atom atom);

  // --- Operators by what they do, as Relay has them; `as`: the variable that a call binds ---

  Atom Reshape(Atom a, AttrList shape, const Var* as = nullptr);
  Atom Transpose(Atom a, const std::vector<int64_t>& axes, const Var* as = nullptr);
  Atom ToLayout(Atom a, const std::string& from, const std::string& to, const Var* as = nullptr);
  Atom ExpandDims(Atom a, int64_t axis, int64_t count = 1);
  Atom Cast(Atom a, DType dtype);
  Atom Add(Atom a, Atom b);
  Atom Subtract(Atom a, Atom b);
  Atom Multiply(Atom a, Atom b);
  Atom Xor(Atom a, Atom b);  // of bits
  Atom Sum(Atom a, const std::vector<int64_t>& axes, bool keepdims);
  Atom Repeat(Atom a, int64_t times, int64_t axis);
  Atom Reverse(Atom a, int64_t axis);
  Atom Dilate(Atom a, const std::vector<int64_t>& strides);
  // `widths`: before and behind each dim.
  Atom Pad(Atom a, Atom fill, AttrList widths);
  // Of all axes without `axes`.
  Atom Slice(Atom a, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
             const std::vector<int64_t>& axes = {});
  Atom Concatenate(std::vector<Atom> parts, int64_t axis, const Var* as = nullptr);

 private:
  Atom CallAs(const Var* as, std::string_view op, std::vector<Atom> args, const Attrs& given);

  const Module& m_;
  Span span_;
  std::vector<Binding>& out_;
};

}  // namespace relayvm::ir

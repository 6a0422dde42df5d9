// Appends operator calls to a list of bindings: for passes that rewrite one call into several.
// Tested by builder_test.cc, and through the passes that use it.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"
#include "kernels/op/call_makers.h"

namespace relayvm::ir {

// Attributes, and the values of those that are lists.
AttrList Ints(const std::vector<int64_t>& values);
AttrList DimsOf(const std::vector<Dim>& shape);
Attrs AttrsOf(std::initializer_list<std::pair<const char*, AttrValue>> values);

// Appends the guards that `call` needs, which type inference then keeps: for a pass that puts other
// operators in its place. These may accept what it does not, and where they refuse the same, the
// error names the operator of the program. REQUIRES: its arguments have types.
void KeepGuards(const Module& m, const OpCall& call, Span span, std::vector<Binding>& out);

// Operators by what they do: CallMakers, where a variable behind the operands is what a call binds.
class BindingBuilder : public CallMakers<BindingBuilder, Atom> {
 public:
  BindingBuilder(const Module& m, Span span, std::vector<Binding>& out)
      : m_(m), span_(span), out_(out) {}

  // A call of a known operator with some of its attributes given. It binds `as`, or a variable that
  // has no type yet.
  Atom Call(std::string_view op, std::vector<Atom> args, const Attrs& given = {},
            const Var* as = nullptr);
  Atom Tuple(std::vector<Atom> fields);
  // A rank-0 constant.
  Atom Scalar(double value, DType dtype);
  // Binds `var` itself to the last step.
  void BindCall(const Var* var, std::string_view op, std::vector<Atom> args,
                const Attrs& given = {}) {
    Call(op, std::move(args), given, var);
  }
  void BindAtom(const Var* var, Atom atom);

 private:
  const Module& m_;
  Span span_;
  std::vector<Binding>& out_;
};

}  // namespace relayvm::ir

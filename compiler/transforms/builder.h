// Appends operator calls to a list of bindings: for passes that rewrite one call into several.
// Tested through the passes that use it.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

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

 private:
  const Module& m_;
  Span span_;
  std::vector<Binding>& out_;
};

}  // namespace relayvm::ir

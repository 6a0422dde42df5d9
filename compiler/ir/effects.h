// Which expressions of a module do more than give a value: they write a reference, call an unknown
// function or the host, or may fail on purpose. Tested by from_anf_test.cc and
// compiler/transforms/simplify/dead_code_test.cc.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

class Effects {
 public:
  // What counts as one.
  enum class Of : uint8_t {
    kDropping,  // what may not be left out where nobody uses the value
    kMoving,  // what may not change its place among the others: also what makes or reads a reference
  };
  explicit Effects(const Module& m, Of what = Of::kDropping);

  // Recurses with the nesting of blocks.
  bool HasEffect(const Expr& e) const;

 private:
  using OnCall = std::function<void(const std::string& callee)>;
  void ScanExpr(const Expr& e, bool& effect, const OnCall& on_call) const;
  void Scan(const Block& block, bool& effect, const OnCall& on_call) const;

  Of what_;
  std::unordered_set<std::string> effectful_;  // functions whose call is one
};

}  // namespace relayvm::ir

// SignatureDims: what the names of a signature's dims promise. A name is one number wherever it
// stands: in several values, in one, in tuples, in lists and other data types, and in expressions
// such as n + 1. The first place binds it and each other one is compared. Compilers rely on that,
// and so do kernels.
//
// Made once, when a program is loaded: a flat list of what to compare, in which names that occur
// once do not stand, so that programs without shared names pay nothing. Immutable. Tested by
// signature_dims_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/status_detail.h"
#include "bytecode/program.h"
#include "vm/border/border.h"
#include "vm/border/value.h"

namespace relayvm::vm {

class SignatureDims {
 public:
  // Where two places disagree.
  struct Mismatch {
    std::string text;  // "x's dim 1 (k) is 3, w's dim 0 (k) is 5"; empty: there is none
    StatusDetail detail;
    // What gives the second place another name, for relayc's --shape: "w='(k_2, ?)'"; or empty.
    std::string other_name;
  };

  SignatureDims() = default;
  // Of parameters; and of a result, if not null, which must keep to the names of the arguments as
  // that of a host function does. The types stay where they are.
  SignatureDims(std::span<const ValueType> params, const ValueType* result);

  // Nothing is to be compared.
  bool empty() const { return checks_.empty() && data_.empty(); }

  // Whether all places agree, of values of the types; false also where that takes a closer look.
  bool Agree(std::span<const Value> values) const;
  // The same, with where they do not; of other values, what can be compared. `result`: of the
  // result, or null. `names`: of the parameters. Undefined when `poll` has stopped it.
  Mismatch Check(const Program& program, std::span<const Value> values, const Object* result,
                 std::span<const std::string> names, BorderPoll* poll) const;

 private:
  // A dim of a tensor: of a value, by the fields of tuples on the way to it.
  struct Place {
    uint32_t value;
    uint32_t dim;
    std::vector<uint32_t> path;
    const ValueType* type;
  };
  // Places that have a name, in the order in which they occur, and then those of expressions.
  struct DimCheck {
    enum class Kind : uint8_t { kBind, kCompare, kEvaluate };
    Kind kind;
    uint32_t slot;  // of the name
    uint32_t place;
  };
  // Of tensors inside of data types; by the slot of their name, or by their formula.
  struct InsideDim {
    uint32_t dim;
    uint32_t slot;
    const SizeFormula* formula;  // or null
  };
  class Collector;
  class Run;

  static const Tensor* TensorAt(const Object* object, const Place& place);
  static std::string DimNameAt(const Place& place);

  std::vector<Place> places_;
  std::vector<DimCheck> checks_;
  uint32_t num_slots_ = 0;
  std::vector<const ValueType*> types_;  // by value, the result's after those of the parameters
  std::vector<uint32_t> data_;           // the values that hold such tensors
  std::map<const ValueType*, std::vector<InsideDim>> inside_;  // by the tensors' types
};

}  // namespace relayvm::vm

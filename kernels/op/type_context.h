// What the type relation of an operator sees and gives: argument types, attributes, the contents of
// shape operands, and the ways to state what must hold between dims. Implemented by the type
// checker (compiler/typing), by the reference interpreter, and by tests with a simple fake.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bytecode/base/shape_rule.h"
#include "bytecode/base/status.h"
#include "kernels/op/attrs.h"
#include "kernels/op/tensor_type.h"

namespace relayvm {

// One argument of an operator call: a tensor, or a tuple of tensors where OpDef::tuple_args says
// so.
struct ArgType {
  bool is_tuple = false;
  std::vector<TensorType> tensors;  // one, unless is_tuple
};

// One operator on scalars in a computation that gives a dimension (TypeContext::ComputeDim):
// "cast", "multiply", "round" ... of arguments of the call, dims and earlier steps.
struct ScalarStep {
  struct Argument {  // argument `index` of the call, of rank 0
    size_t index;
  };
  struct Earlier {  // the result of step `index`
    size_t index;
  };
  // A Dim is an int64 scalar, a number one of the first operand's dtype.
  using Operand = std::variant<Argument, Earlier, Dim, double>;

  std::string_view op;
  std::vector<Operand> operands;
  std::optional<DType> dtype = std::nullopt;  // the attribute of "cast"
};

// A shape that numbers decide when a call runs.
struct RuledShape {
  ShapeRule rule;
  std::vector<Dim> data;
  std::vector<Dim> numbers;
  uint64_t zeros = 0;  // bit k: numbers[k] is a size where it is 0
  size_t rank = 0;     // of the result

  bool operator==(const RuledShape&) const = default;
};

// What a type relation sees and does.
class TypeContext {
 public:
  virtual ~TypeContext() = default;

  virtual const Attrs& attrs() const = 0;
  virtual size_t num_args() const = 0;
  virtual const ArgType& arg(size_t i) const = 0;
  // REQUIRES: argument i is a tensor.
  const TensorType& tensor(size_t i) const { return arg(i).tensors[0]; }

  // The elements of integer tensor argument i (rank 0 or 1, static length) as Dims: known ones as
  // they are, unknown ones as symbols that are bound to the element when the call runs. Fails if
  // the length is not static.
  virtual Result<std::vector<Dim>> Elements(size_t i) = 0;
  // One element of integer tensor argument i (rank 1), whose length need not be static.
  virtual Result<Dim> Element(size_t i, size_t index) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> elements, Elements(i));
    if (index < elements.size()) return std::move(elements[index]);
    return {StatusCode::kInvalidInput, "a shape operand has too few elements"};
  }
  // The elements only if all are integers known now.
  virtual std::optional<std::vector<int64_t>> ConstantElements(size_t i) = 0;
  // The same for a float tensor (arange's start, stop, step). A context that knows no constants
  // says so.
  virtual std::optional<std::vector<double>> ConstantFloats(size_t /*i*/) { return std::nullopt; }
  // A new symbol for a dimension that only running the operator can tell (argwhere, unique); see
  // OpDef::num_counts.
  virtual Dim FreshSymbol(std::string_view name) = 0;
  // A number that scalar operators compute when the call runs; the last step gives an int64. It may
  // be negative. For sizes that floats decide: dims have no floats.
  virtual Result<Dim> ComputeDim(std::span<const ScalarStep> /*steps*/) {
    return {StatusCode::kUnsupported, "a size depends on floats that only running tells"};
  }
  // The dims of the shape that the rule gives when the call runs (bytecode/base/shape_rule.h):
  // `rank` symbols, never negative. For numbers that are not known; the call fails where the rule
  // does.
  virtual Result<std::vector<Dim>> ShapeByRule(const RuledShape& /*shape*/) {
    return {StatusCode::kUnsupported, "a shape depends on numbers that only running tells"};
  }
  // States that a == b must hold: an error when it cannot, a run-time guard when it is not proved.
  // `what` completes "nn.dense: WHAT: 3 and 4 differ".
  virtual Status RequireEqual(const Dim& a, const Dim& b, std::string_view what) = 0;
  // States that `a` must be `b` or 1, or `b` 1, and gives the broadcast dimension.
  virtual Result<Dim> Broadcast(const Dim& a, const Dim& b, std::string_view what) = 0;
  // States that a >= b must hold.
  virtual Status RequireAtLeast(const Dim& a, const Dim& b, std::string_view what) = 0;
};

// A result of a type relation: one tensor, or a tuple of tensors.
struct OpResult {
  bool is_tuple = false;
  std::vector<TensorType> tensors;

  OpResult() = default;
  OpResult(TensorType t) : tensors{std::move(t)} {}  // NOLINT(google-explicit-constructor)
  static OpResult Tuple(std::vector<TensorType> ts) {
    OpResult r;
    r.is_tuple = true;
    r.tensors = std::move(ts);
    return r;
  }
};

}  // namespace relayvm

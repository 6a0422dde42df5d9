// Runs the type relation of one operator call: proves, guards or refuses the equations that it
// states. Not thread-safe. Tested by op_typing_test.cc.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::typing {

// Dimensions that came from broadcasting: what each was made of. The expression of a broadcast of n
// and m is max(n, m)*min(n, m, 1), which is n where m is 1, m where n is 1, and n where both are
// equal.
class Broadcasts {
 public:
  // The broadcast of a and b. `proved` is set when no guard is needed: one is 1, they are equal, or
  // one is made of the other. REQUIRES: a and b are not different constants above 1.
  Dim Combine(const Dim& a, const Dim& b, bool* proved);

 private:
  struct Hash {
    size_t operator()(const Dim& d) const { return d.Hash(); }
  };
  struct Made {
    std::vector<Dim> parts;  // in order
    Dim largest, smallest;   // of the parts; of the parts and 1
  };
  Made PartsOf(const Dim& d) const;
  std::unordered_map<Dim, Made, Hash> parts_;
};

// What a relation needs from around the call.
class OpHost {
 public:
  virtual ~OpHost() = default;
  // The elements of argument i, a tensor of static shape with `size` elements. Those of a float
  // tensor are truncated.
  virtual std::vector<Dim> Elements(size_t i, int64_t size) = 0;
  // Element `index` of argument i, an integer tensor of rank 1 and any length above `index`.
  virtual Dim Element(size_t i, int64_t index) = 0;
  // The argument when it is a constant, else null.
  virtual const ir::Constant* ConstantArg(size_t i) = 0;
  // A symbol that the call's result defines.
  virtual Dim NewSymbol(std::string_view name) = 0;
  // A symbol for the value of a long expression that is never negative, or the expression itself.
  virtual Dim NameDim(const Dim& d) { return d; }
  // See TypeContext. REQUIRES: operands are there, arguments have rank 0.
  virtual Result<Dim> ComputeDim(std::span<const ScalarStep> /*steps*/) {
    return {StatusCode::kUnsupported, "a size depends on floats that only running tells"};
  }
  virtual Result<std::vector<Dim>> ShapeByRule(const RuledShape& /*shape*/) {
    return {StatusCode::kUnsupported, "a shape depends on numbers that only running tells"};
  }
  virtual Broadcasts& broadcasts() = 0;
};

struct OpTyping {
  OpResult result;
  std::vector<ir::Guard> guards;
};

// The types of a call's arguments as relations see them. Error: one is neither a tensor nor a tuple
// of tensors.
Result<std::vector<ArgType>> ArgTypes(const OpDef& op, std::span<const ir::Type> types);

// The result has no Any. Errors name the operator, not the place.
Result<OpTyping> TypeOp(const OpDef& op, const Attrs& attrs, std::span<const ArgType> args,
                        OpHost& host);

// The elements of the integer results of a call, as dims, where they are small and can be computed
// now: one entry for each result tensor, nullopt where not known. `elements(i)` gives those of the
// i-th argument tensor, tuples flattened. With `bools` also those of results that are conditions.
std::vector<std::optional<std::vector<Dim>>> EvaluateElements(
    const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
    std::span<const TensorType> outputs,
    const std::function<std::optional<std::vector<Dim>>(size_t)>& elements, bool bools = false);

// As many elements as are tracked.
inline constexpr int64_t kMaxTrackedElements = 64;
// The number of elements of an integer tensor small enough to be tracked.
std::optional<int64_t> TrackedSize(const TensorType& t);
// Elements of a constant; floats are truncated.
std::vector<int64_t> IntegerElements(const HostTensor& t);
// Dims with more nodes than this get a name (see NameDim) and elements with more are not tracked.
inline constexpr size_t kMaxDimSize = 64;

}  // namespace relayvm::typing

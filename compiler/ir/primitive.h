// What groups of operator calls compute, as tensor expressions. Thread-safe. Tested by
// compiler/lowering/lower_test.cc and compiler/end_to_end/split_batches_test.cc.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/ir.h"
#include "kernels/te/te.h"

namespace relayvm::ir {

// The tensors of a value: the tensor, or a tuple's, depth first.
std::vector<TensorType> FlatTypes(const Type& type);

// A rank-0 constant as an expression of its own, so that code generation sees the number.
te::Tensor ImmediateTensor(const HostTensor& value);
// A vector of sizes.
te::Tensor VectorOf(const ShapeValue& value, const TensorType& type);

// The results of a primitive function (PrimitiveCall) that is no region of another engine, tuples
// flattened. `inputs` are its parameters' tensors, tuples flattened: placeholders or computations.
Result<std::vector<te::Tensor>> ComputePrimitive(const Function& f,
                                                 std::span<const te::Tensor> inputs);

}  // namespace relayvm::ir

// What decompositions of operators on tuples need besides OpDef::decompose's CallWriter, which is always
// one of these. Tested through simplify_inference_test.cc.
#pragma once

#include <vector>

#include "kernels/op/op.h"

namespace relayvm {

class TupleWriter : public CallWriter {
 public:
  // The fields of an argument that is a tuple of tensors.
  virtual std::vector<TensorType> tensors(size_t arg) const = 0;
  virtual Value Field(size_t arg, size_t field) = 0;
  virtual Value Tuple(const std::vector<Value>& fields) = 0;
};

}  // namespace relayvm

// TensorType: the type of a tensor as operators see it.
#pragma once

#include <vector>

#include "bytecode/base/dim.h"
#include "bytecode/base/dtype.h"

namespace relayvm {

struct TensorType {
  std::vector<Dim> shape;  // empty: a scalar (rank 0)
  DType dtype = DType::kFloat32;

  int rank() const { return static_cast<int>(shape.size()); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

}  // namespace relayvm

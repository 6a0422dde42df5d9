// A dense row-major tensor in host memory: what files, constants and the evaluator hold. bool is
// one byte. Copies share the elements (shared_bytes.h). Tested by the readers and the evaluator.
#pragma once

#include <cstdint>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/shared_bytes.h"

namespace relayvm {

struct HostTensor {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  SharedBytes data;

  int64_t size() const;  // number of elements
};

// Files may hold any byte for true: makes it 1. Does nothing to other dtypes.
void NormalizeBools(HostTensor& tensor);

}  // namespace relayvm

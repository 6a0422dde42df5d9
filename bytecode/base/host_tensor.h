// A dense row-major tensor in host memory: what files, constants and the evaluator hold. bool is one
// byte. Tested by the readers and the evaluator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytecode/base/dtype.h"

namespace relayvm {

struct HostTensor {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;

  int64_t size() const;  // number of elements
};

}  // namespace relayvm

#include "bytecode/base/host_tensor.h"

namespace relayvm {

int64_t HostTensor::size() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

}  // namespace relayvm

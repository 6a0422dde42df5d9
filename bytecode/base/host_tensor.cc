#include "bytecode/base/host_tensor.h"

#include <algorithm>

namespace relayvm {

int64_t HostTensor::size() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

void NormalizeBools(HostTensor& tensor) {
  auto is_odd = [](std::byte b) { return b > std::byte{1}; };
  if (tensor.dtype != DType::kBool || std::ranges::none_of(tensor.data, is_odd)) return;
  for (std::byte& b : tensor.data.Mutable()) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
}

}  // namespace relayvm

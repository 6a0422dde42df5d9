// Indices that are results, where what they are depends on data: the dtype may not hold them.
#pragma once

#include <type_traits>

#include "kernels/runtime/call_args.h"

namespace relayvm {

// Element i of an integer tensor. Ends the kernel with INDEX_OUT_OF_RANGE where the dtype does not
// hold the value.
inline void StoreFittingIndex(const TensorView& t, int64_t i, int64_t value) {
  DispatchDType(t.dtype, [&]<typename T>() {
    const T stored = ConvertElement<T>(value);
    if constexpr (std::is_integral_v<T>) {
      if (static_cast<int64_t>(stored) != value || (value < 0 && std::is_unsigned_v<T>))
        StopKernel(RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
    }
    t.as<T>()[i] = stored;
  });
}

}  // namespace relayvm

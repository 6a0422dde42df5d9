#include "compiler/transforms/half_weights.h"

#include <cstring>
#include <span>

#include "kernels/runtime/half.h"

namespace relayvm::ir {

bool FitsFloat16(const HostTensor& w) {
  const SharedBytes in = w.data.Loaded();
  bool fits = true;
  for (int64_t i = 0; i < w.size() && fits; ++i) {
    float value;
    std::memcpy(&value, in.data() + i * int64_t{sizeof value}, sizeof value);
    fits = HalfToFloat(FloatToHalf(value)) == value;
  }
  in.DropPages();
  return fits;
}

HostTensor AsFloat16Later(const HostTensor& w) {
  HostTensor halves{DType::kFloat16, w.shape, {}};
  halves.data = SharedBytes::Lazy(
      static_cast<size_t>(w.size()) * sizeof(uint16_t), [w](std::span<std::byte> out) {
        const SharedBytes in = w.data.Loaded();
        for (int64_t i = 0; i < w.size(); ++i) {
          float value;
          std::memcpy(&value, in.data() + i * int64_t{sizeof value}, sizeof value);
          const uint16_t bits = FloatToHalf(value);
          std::memcpy(out.data() + i * int64_t{sizeof bits}, &bits, sizeof bits);
        }
        in.DropPages();
      });
  return halves;
}

}  // namespace relayvm::ir

#include "kernels/runtime/winograd_kernel.h"

#include "kernels/runtime/kernels.h"
#include "kernels/runtime/winograd_transform.h"

namespace relayvm {

int32_t WinogradWeights(const CallArgs& args) {
  const auto work = [&](int64_t units) { args.Work(units); };
  return TransformWinogradWeights(args[0], args[1], work) ? RELAYVM_KERNEL_OK
                                                          : RELAYVM_KERNEL_INVALID_ARGUMENT;
}

}  // namespace relayvm

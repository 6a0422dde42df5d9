#include "kernels/runtime/call_builtin.h"

#include <cassert>
#include <vector>

namespace relayvm {

int32_t CallBuiltin(const Builtin& builtin, std::span<const BuiltinTensor> tensors,
                    std::span<const int64_t> params) {
  assert(builtin.makes_constants && std::ssize(tensors) == builtin.num_tensors &&
         std::ssize(params) == builtin.num_params);
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
  for (const BuiltinTensor& t : tensors) {
    buffers.push_back(t.data);
    scalars.push_back(static_cast<int64_t>(t.dtype));
    scalars.push_back(std::ssize(t.dims));
    scalars.insert(scalars.end(), t.dims.begin(), t.dims.end());
  }
  scalars.insert(scalars.end(), params.begin(), params.end());
  const RelayvmKernelEnv env{.struct_size = sizeof(RelayvmKernelEnv), .num_threads = 1};
  const RelayvmKernelArgs args{buffers.data(), scalars.data(), nullptr};
  return builtin.fn(&env, &args, 0, 1);
}

}  // namespace relayvm

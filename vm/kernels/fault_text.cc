// Apart from failure.cc, since librelayvm_graph takes it of the archive, alone.
#include <fmt/format.h>

#include "vm/kernels/failure.h"

namespace relayvm::vm {

std::string FaultText(const RelayvmKernelFault& fault) {
  if (fault.given == 0) return "";
  return fault.most < fault.least
             ? fmt::format(": {}, where there is no number that fits", fault.found)
         : fault.most == INT64_MAX - 1  // no index is that
             ? fmt::format(": {}, expected {} or more", fault.found, fault.least)
             : fmt::format(": {}, expected {} to {}", fault.found, fault.least, fault.most);
}

}  // namespace relayvm::vm

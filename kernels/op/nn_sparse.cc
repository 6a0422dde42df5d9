#include "kernels/op/nn_parts.h"
#include "kernels/op/op.h"

namespace relayvm {

void DefineNnSparse(OpTable& table) { (void)table; }

}  // namespace relayvm

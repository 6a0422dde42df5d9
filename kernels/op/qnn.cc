#include "kernels/op/define.h"
#include "kernels/op/op.h"

namespace relayvm {

void DefineQnn(OpTable& table) { (void)table; }

}  // namespace relayvm

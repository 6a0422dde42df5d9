#include "compiler/ir/stop_scope.h"

namespace relayvm::ir {

constinit thread_local const std::stop_token* StopScope::current_ = nullptr;

}  // namespace relayvm::ir

// Failures on their way between the runtime, which has Statuses, and Triton, which has errors.
#pragma once

#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "tools/serve/triton/triton_abi.h"

namespace relayvm::triton {

// The same failure for the server, which deletes it; null for OK.
TRITONSERVER_Error* ToError(const Status& status);
// Of a call of the server's: OK for null, else its message. Takes the error.
Status FromError(TRITONSERVER_Error* error, std::string_view call);
// A line in the server's log; failures of logging are nobody's.
void Log(TRITONSERVER_LogLevel level, const std::string& message);

// Returns from the enclosing function when a call of the server's failed.
#define RELAYVM_TRITON_CALL(function, ...) \
  RELAYVM_RETURN_IF_ERROR(::relayvm::triton::FromError(function(__VA_ARGS__), #function))

}  // namespace relayvm::triton

#include "tools/serve/triton/triton_error.h"

#include <fmt/format.h>

namespace relayvm::triton {
namespace {

TRITONSERVER_Error_Code CodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kInvalidInput:
    case StatusCode::kOutOfRange:
    case StatusCode::kFailedPrecondition:
      return TRITONSERVER_ERROR_INVALID_ARG;
    case StatusCode::kUnsupported:
      return TRITONSERVER_ERROR_UNSUPPORTED;
    case StatusCode::kNotFound:
      return TRITONSERVER_ERROR_NOT_FOUND;
    case StatusCode::kResourceExhausted:
    case StatusCode::kDeadlineExceeded:
      return TRITONSERVER_ERROR_UNAVAILABLE;
    case StatusCode::kCancelled:
      return TRITONSERVER_ERROR_CANCELLED;
    default:
      return TRITONSERVER_ERROR_INTERNAL;
  }
}

StatusCode CodeOf(TRITONSERVER_Error_Code code) {
  switch (code) {
    case TRITONSERVER_ERROR_NOT_FOUND:
      return StatusCode::kNotFound;
    case TRITONSERVER_ERROR_INVALID_ARG:
    case TRITONSERVER_ERROR_ALREADY_EXISTS:
      return StatusCode::kInvalidArgument;
    case TRITONSERVER_ERROR_UNAVAILABLE:
      return StatusCode::kResourceExhausted;
    case TRITONSERVER_ERROR_UNSUPPORTED:
      return StatusCode::kUnsupported;
    case TRITONSERVER_ERROR_CANCELLED:
      return StatusCode::kCancelled;
    default:
      return StatusCode::kInternal;
  }
}

}  // namespace

TRITONSERVER_Error* ToError(const Status& status) {
  return status.ok() ? nullptr
                     : TRITONSERVER_ErrorNew(CodeOf(status.code()), status.message().c_str());
}

Status FromError(TRITONSERVER_Error* error, std::string_view call) {
  if (error == nullptr) return OkStatus();
  Status status(CodeOf(TRITONSERVER_ErrorCode(error)),
                fmt::format("{}: {}", call, TRITONSERVER_ErrorMessage(error)));
  TRITONSERVER_ErrorDelete(error);
  return status;
}

void Log(TRITONSERVER_LogLevel level, const std::string& message) {
  TRITONSERVER_Error* const error = TRITONSERVER_LogMessage(level, "relayvm", 0, message.c_str());
  if (error != nullptr) TRITONSERVER_ErrorDelete(error);
}

}  // namespace relayvm::triton

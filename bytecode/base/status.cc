#include "bytecode/base/status.h"

#include <cstddef>
#include <new>

namespace relayvm {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kInvalidInput:
      return "invalid input";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kNotFound:
      return "not found";
    case StatusCode::kOutOfRange:
      return "out of range";
    case StatusCode::kResourceExhausted:
      return "resource exhausted";
    case StatusCode::kFailedPrecondition:
      return "failed precondition";
    case StatusCode::kCancelled:
      return "cancelled";
    case StatusCode::kDeadlineExceeded:
      return "deadline exceeded";
    case StatusCode::kInternal:
      return "internal error";
  }
  return "unknown";
}

// The last holder is this function, which stays.
Status::Rep* Status::NoMemory() noexcept {
  alignas(Rep) static std::byte memory[sizeof(Rep)];
  static Rep* const rep =
      new (memory) Rep{1, StatusCode::kResourceExhausted, "out of memory", nullptr};
  return rep;
}

Status::Status(StatusCode code, std::string message,
               std::shared_ptr<const StatusDetail> detail) noexcept
    : rep_(new (std::nothrow) Rep{1, code, std::move(message), std::move(detail)}) {
  assert(code != StatusCode::kOk);
  if (rep_ == nullptr) *this = OutOfMemory();
}

Status Status::OutOfMemory() noexcept {
  Status status;
  status.rep_ = NoMemory();
  status.rep_->holders.fetch_add(1, std::memory_order_relaxed);
  return status;
}

void Status::Drop(Rep* rep) noexcept {
  if (rep->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep;
}

const std::string& Status::message() const {
  static const std::string kEmpty;
  return rep_ ? rep_->message : kEmpty;
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  return std::string(StatusCodeName(code())) + ": " + message();
}

Status Status::WithContext(std::string_view context) const {
  assert(!ok());
  return {code(), std::string(context) + ": " + message(), rep_->detail};
}

}  // namespace relayvm

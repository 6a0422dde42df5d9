// Status and Result<T>: how every fallible function of relayvm reports.
//
// Status is one pointer; OK is null. A failed Status holds a code and a message that names the
// thing, the numbers and the remedy, and where they are known the place and the numbers as fields
// (status_detail.h). Result<T> holds a value or a failed Status, never both, never
// neither. No exception crosses a public interface (guarded.h). Where there is no memory for a
// failed Status, it is Status::OutOfMemory(), which needs none. Thread-compatible; copies share
// what they hold. Tested by status_test.cc.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace relayvm {

struct StatusDetail;

enum class StatusCode : int {
  kOk = 0,
  kInvalidArgument,     // the caller's argument is wrong (usage, an input of the wrong shape)
  kInvalidInput,        // a file or program is malformed
  kUnsupported,         // well-formed, but this compiler or runtime cannot do it
  kNotFound,            // a file, function or symbol that does not exist
  kOutOfRange,          // an index, a depth or a size beyond its limit
  kResourceExhausted,   // memory or stack limit reached
  kFailedPrecondition,  // a guard of the running program did not hold
  kCancelled,           // the invocation was cancelled
  kDeadlineExceeded,    // the invocation ran out of time
  kInternal,            // a defect of relayvm
};

// The code's name, such as "invalid input".
std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  // REQUIRES: not kOk.
  Status(StatusCode code, std::string message,
         std::shared_ptr<const StatusDetail> detail = nullptr) noexcept;
  // kResourceExhausted, "out of memory".
  static Status OutOfMemory() noexcept;
  Status(const Status& other) noexcept : rep_(other.rep_) {
    if (rep_ != nullptr) rep_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  Status(Status&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Status() {
    if (rep_ != nullptr) Drop(rep_);
  }

  bool ok() const { return rep_ == nullptr; }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  // Empty when ok().
  const std::string& message() const;
  // Its place and numbers (status_detail.h); null where none are known.
  const StatusDetail* detail() const { return rep_ ? rep_->detail.get() : nullptr; }
  // "invalid input: message", or "ok".
  std::string ToString() const;
  // The same failure with `context` and ": " before its message; keeps the detail. REQUIRES: !ok().
  Status WithContext(std::string_view context) const;

 private:
  struct Rep {
    std::atomic<uint32_t> holders;
    StatusCode code;
    std::string message;
    std::shared_ptr<const StatusDetail> detail;
  };
  static Rep* NoMemory() noexcept;
  static void Drop(Rep* rep) noexcept;

  Rep* rep_ = nullptr;
};

inline Status OkStatus() { return {}; }
inline Status InvalidInput(std::string message) {
  return {StatusCode::kInvalidInput, std::move(message)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.ok());
  }
  Result(StatusCode code, std::string message) : status_(code, std::move(message)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // REQUIRES: ok(), of these. NOLINTBEGIN(bugprone-unchecked-optional-access)
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:  // NOLINTEND(bugprone-unchecked-optional-access)
  Status status_;
  std::optional<T> value_;
};

#define RELAYVM_CONCAT_INNER(a, b) a##b
#define RELAYVM_CONCAT(a, b) RELAYVM_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expr`, a Status, failed.
#define RELAYVM_RETURN_IF_ERROR(expr)                                                           \
  do {                                                                                          \
    if (::relayvm::Status relayvm_status = (expr); !relayvm_status.ok()) return relayvm_status; \
  } while (false)
// NOLINTBEGIN(bugprone-macro-parentheses): names that are declared take none.
// Assigns the value of `expr`, a Result, to `lhs` (which may declare), or returns its Status.
#define RELAYVM_ASSIGN_OR_RETURN(lhs, expr) \
  RELAYVM_ASSIGN_OR_RETURN_IMPL(RELAYVM_CONCAT(relayvm_result_, __LINE__), lhs, expr)
#define RELAYVM_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                                  \
  if (!tmp.ok()) return tmp.status();                 \
  lhs = std::move(tmp).value()
// NOLINTEND(bugprone-macro-parentheses)
}  // namespace relayvm

// The C API: version, statuses, and what the other files share.
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

#include "bytecode/base/status_detail.h"
#include "vm/api/c_api_internal.h"

using relayvm::StatusCode;
using relayvm::StatusDetail;
using relayvm::c_api::Fail;

static_assert(RELAYVM_OK == static_cast<int>(StatusCode::kOk));
static_assert(RELAYVM_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(RELAYVM_FAILED_PRECONDITION == static_cast<int>(StatusCode::kFailedPrecondition));
static_assert(RELAYVM_INTERNAL == static_cast<int>(StatusCode::kInternal));

#define RELAYVM_TEXT_OF(x) #x
#define RELAYVM_TEXT(x) RELAYVM_TEXT_OF(x)
static_assert(std::string_view(RELAYVM_BUILD_VERSION) ==
                  RELAYVM_TEXT(RELAYVM_VERSION_MAJOR) "." RELAYVM_TEXT(
                      RELAYVM_VERSION_MINOR) "." RELAYVM_TEXT(RELAYVM_VERSION_PATCH),
              "c_api.h and CMakeLists.txt state different versions");

namespace relayvm::c_api {

relayvm_status* NullArgument(const char* function, const char* argument) {
  return Guarded([&] {
    return Fail(StatusCode::kInvalidArgument, std::string(function) + ": " + argument + " is NULL");
  });
}

relayvm_status* Fail(Status status) noexcept {
  if (status.ok()) return nullptr;
  auto* failed = new (std::nothrow) relayvm_status{std::move(status)};
  return failed != nullptr ? failed : NoMemory();
}

// Without memory there is none for a status either, and NULL would say that all went well.
relayvm_status* NoMemory() noexcept {
  alignas(relayvm_status) static std::byte memory[sizeof(relayvm_status)];
  static relayvm_status* const status = new (memory) relayvm_status{Status::OutOfMemory()};
  return status;
}

Status CheckStructSize(uint32_t found, size_t first_size, size_t size, const char* type) {
  constexpr uint32_t kLargest = 4096;  // what no version ever has
  if (found >= first_size && found <= kLargest) return OkStatus();
  return {StatusCode::kInvalidArgument,
          std::string(type) + ": expected struct_size " + std::to_string(size) + ", found " +
              std::to_string(found) + "; set it to sizeof(" + type + ")"};
}

Status ReadStruct(const void* from, size_t first_size, size_t size, void* to, const char* type) {
  uint32_t found = 0;
  std::memcpy(&found, from, sizeof(found));
  RELAYVM_RETURN_IF_ERROR(CheckStructSize(found, first_size, size, type));
  const auto* bytes = static_cast<const unsigned char*>(from);
  for (size_t i = size; i < found; ++i) {
    if (bytes[i] == 0) continue;
    return {StatusCode::kInvalidArgument,
            std::string(type) + ": the field at byte " + std::to_string(i) +
                " is set, which this library (API version " + std::to_string(RELAYVM_API_VERSION) +
                ") does not know; use a newer one"};
  }
  std::memcpy(to, from, std::min<size_t>(found, size));
  return OkStatus();
}

}  // namespace relayvm::c_api

namespace {

const StatusDetail* DetailOf(const relayvm_status* status) {
  return status == nullptr ? nullptr : status->status.detail();
}

const int64_t* Numbers(const relayvm_status* status, std::vector<int64_t> StatusDetail::* numbers,
                       size_t* count) {
  if (count == nullptr) return nullptr;
  const StatusDetail* detail = DetailOf(status);
  *count = detail == nullptr ? 0 : (detail->*numbers).size();
  return *count == 0 ? nullptr : (detail->*numbers).data();
}

}  // namespace

extern "C" {

const char* relayvm_version(void) { return RELAYVM_BUILD_VERSION; }

void relayvm_version_numbers(uint32_t* major, uint32_t* minor, uint32_t* patch) {
  if (major != nullptr) *major = RELAYVM_VERSION_MAJOR;
  if (minor != nullptr) *minor = RELAYVM_VERSION_MINOR;
  if (patch != nullptr) *patch = RELAYVM_VERSION_PATCH;
}

uint32_t relayvm_api_version(void) { return RELAYVM_API_VERSION; }

relayvm_status* relayvm_check_api_version(uint32_t header) {
  constexpr uint32_t kOldest = 1;
  if (header >= kOldest && header <= RELAYVM_API_VERSION) return nullptr;
  return relayvm::c_api::Guarded([&] {
    return Fail(StatusCode::kUnsupported,
                "the program was compiled for version " + std::to_string(header) +
                    " of relayvm's C API, this library (relayvm " RELAYVM_BUILD_VERSION
                    ") serves versions " +
                    std::to_string(kOldest) + " to " + std::to_string(RELAYVM_API_VERSION) +
                    (header < kOldest ? ": compile the program again" : ": use a newer library"));
  });
}

int relayvm_status_code(const relayvm_status* status) {
  return status == nullptr ? RELAYVM_OK : static_cast<int>(status->status.code());
}
const char* relayvm_status_message(const relayvm_status* status) {
  return status == nullptr ? "ok" : status->status.message().c_str();
}
const char* relayvm_status_code_name(int code) {
  return relayvm::StatusCodeName(static_cast<StatusCode>(code)).data();  // a literal
}
relayvm_status* relayvm_status_create(int code, const char* message) {
  if (code == RELAYVM_OK) return nullptr;
  if (code < 0 || code > RELAYVM_INTERNAL) code = RELAYVM_INTERNAL;
  return relayvm::c_api::Guarded(
      [&] { return Fail(static_cast<StatusCode>(code), message == nullptr ? "" : message); });
}
void relayvm_status_free(relayvm_status* status) {
  if (status != relayvm::c_api::NoMemory()) delete status;
}

size_t relayvm_status_num_places(const relayvm_status* status) {
  const StatusDetail* detail = DetailOf(status);
  return detail == nullptr ? 0 : detail->places.size();
}
int relayvm_status_place(const relayvm_status* status, size_t index, relayvm_place* place) {
  if (place == nullptr || index >= relayvm_status_num_places(status)) return 0;
  const relayvm::StatusPlace& from = DetailOf(status)->places[index];
  *place = {from.function.c_str(), from.file.c_str(), from.line, from.column, from.instruction};
  return 1;
}
const char* relayvm_status_source_line(const relayvm_status* status, size_t index,
                                       uint32_t* length) {
  if (length != nullptr) *length = 0;
  if (index >= relayvm_status_num_places(status)) return "";
  const relayvm::StatusPlace& from = DetailOf(status)->places[index];
  if (length != nullptr) *length = from.length;
  return from.source_line.c_str();
}
const char* relayvm_status_expected_text(const relayvm_status* status) {
  const StatusDetail* detail = DetailOf(status);
  return detail == nullptr ? "" : detail->expected_text.c_str();
}
const char* relayvm_status_found_text(const relayvm_status* status) {
  const StatusDetail* detail = DetailOf(status);
  return detail == nullptr ? "" : detail->found_text.c_str();
}
const char* relayvm_status_subject(const relayvm_status* status) {
  const StatusDetail* detail = DetailOf(status);
  return detail == nullptr ? "" : detail->subject.c_str();
}
const int64_t* relayvm_status_expected(const relayvm_status* status, size_t* count) {
  return Numbers(status, &StatusDetail::expected, count);
}
const int64_t* relayvm_status_found(const relayvm_status* status, size_t* count) {
  return Numbers(status, &StatusDetail::found, count);
}
const int64_t* relayvm_status_numbers(const relayvm_status* status, size_t* count) {
  return Numbers(status, &StatusDetail::numbers, count);
}

}  // extern "C"

#include "bytecode/base/status.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "bytecode/base/status_detail.h"

namespace relayvm {
namespace {

TEST_CASE("status: ok is one null pointer") {
  static_assert(sizeof(Status) == sizeof(void*));
  Status status;
  CHECK(status.ok());
  CHECK(status.code() == StatusCode::kOk);
  CHECK(status.message().empty());
  CHECK(status.ToString() == "ok");
  CHECK(OkStatus().ok());
}

TEST_CASE("status: a failure keeps its code and message, and gains context") {
  Status status(StatusCode::kInvalidInput, "no such thing");
  CHECK(!status.ok());
  CHECK(status.ToString() == "invalid input: no such thing");
  Status wider = status.WithContext("model.vmx");
  CHECK(wider.code() == StatusCode::kInvalidInput);
  CHECK(wider.message() == "model.vmx: no such thing");
  CHECK(status.message() == "no such thing");
}

TEST_CASE("status: a detail goes with copies, moves and context") {
  CHECK(Status().detail() == nullptr);
  CHECK(Status(StatusCode::kNotFound, "a").detail() == nullptr);
  auto detail = std::make_shared<StatusDetail>();
  detail->places.push_back({"main", "a.relay", 3, 7, 12});
  detail->numbers = {2, -1};
  Status status(StatusCode::kFailedPrecondition, "guard", detail);
  Status copy = status;
  Status wider = status.WithContext("m.vmx");
  for (const Status* s : {&status, &copy, &wider}) {
    REQUIRE(s->detail() != nullptr);
    CHECK(s->detail()->places[0].line == 3);
    CHECK(s->detail()->numbers == std::vector<int64_t>{2, -1});
  }
}

TEST_CASE("status: out of memory takes no memory, and can be had at any time") {
  const Status a = Status::OutOfMemory();
  Status b = a, c = Status::OutOfMemory();
  b = Status(StatusCode::kNotFound, "b");
  CHECK(a.ToString() == "resource exhausted: out of memory");
  CHECK(&a.message() == &c.message());  // one, which is shared
  static_assert(std::is_nothrow_copy_constructible_v<Status>);
  static_assert(std::is_nothrow_copy_assignable_v<Status>);
}

TEST_CASE("status: copies are independent, moves leave ok behind") {
  Status a(StatusCode::kNotFound, "a");
  Status b = a;
  a = Status(StatusCode::kInternal, "other");
  CHECK(b.message() == "a");
  Status c = std::move(b);
  CHECK(c.code() == StatusCode::kNotFound);
  CHECK(b.ok());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  c = OkStatus();
  CHECK(c.ok());
}

TEST_CASE("status: every code has a name of its own") {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(StatusCode::kInternal); ++i) {
    std::string_view name = StatusCodeName(static_cast<StatusCode>(i));
    CHECK(name != "unknown");
    CHECK(names.insert(name).second);
  }
  CHECK(StatusCodeName(static_cast<StatusCode>(99)) == "unknown");
}

Result<int> Half(int n) {
  if (n % 2 != 0) return {StatusCode::kInvalidArgument, "odd"};
  return n / 2;
}
Result<int> Quarter(int n) {
  RELAYVM_ASSIGN_OR_RETURN(int half, Half(n));
  RELAYVM_ASSIGN_OR_RETURN(half, Half(half));
  return half;
}
Status CheckQuarter(int n) {
  RELAYVM_RETURN_IF_ERROR(Quarter(n).status());
  return {};
}

TEST_CASE("result: a value or a failure, passed on by the macros") {
  CHECK(*Quarter(12) == 3);
  CHECK(Quarter(12).status().ok());
  CHECK(!Quarter(6).ok());
  CHECK(Quarter(6).status().message() == "odd");
  CHECK(CheckQuarter(8).ok());
  CHECK(CheckQuarter(7).code() == StatusCode::kInvalidArgument);
}

TEST_CASE("result: holds what can only be moved") {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  REQUIRE(result.ok());
  std::unique_ptr<int> value = *std::move(result);
  CHECK(*value == 5);
}

}  // namespace
}  // namespace relayvm

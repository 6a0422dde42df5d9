// Native code (relayc --executor aot) with each allocation failing: runs that end well, and runs
// that fail, whose failure has to be told. Its frames cannot be unwound, so what it calls must let
// nothing out.
#include <cstdlib>
#include <string>
#include <vector>

#include "bytecode/base/guarded.h"
#include "faults_native.h"          // of native.relay
#include "faults_native_recipes.h"  // of native_recipes.relay
#include "tests/faults/fail_each.h"
#include "tests/temp_folder.h"

namespace relayvm::faults {
namespace {

struct NativeCase {
  const char* what;
  int32_t mode, n;
  std::vector<float> x;
  std::vector<int64_t> at;
  relayvm_aot_options options;
  int code;
};

std::vector<NativeCase> NativeCases() {
  const auto options = [](uint64_t memory, uint64_t stack, int64_t timeout = 0) {
    relayvm_aot_options o{};
    o.struct_size = sizeof(o);
    o.memory_limit = memory;
    o.stack_bytes = stack;
    o.timeout_ns = timeout;
    return o;
  };
  const auto none = options(0, 0);
  return {
      {"a result", 0, 6, {3, 1, 2}, {0, 2}, none, RELAYVM_OK},
      {"large results", 0, 3, std::vector<float>(20'000, 1), {0, 2}, none, RELAYVM_OK},
      {"the memory limit", 0, 1000, {3, 1, 2}, {0}, options(20'000, 0), RELAYVM_RESOURCE_EXHAUSTED},
      {"the stack", 1, 10'000'000, {3, 1, 2}, {0}, options(0, 1 << 20), RELAYVM_RESOURCE_EXHAUSTED},
      {"a kernel's index", 0, 2, {3, 1, 2}, {0, 7}, none, RELAYVM_OUT_OF_RANGE},
      {"an operator's sizes", 2, 0, {1}, {0}, none, RELAYVM_FAILED_PRECONDITION},
      {"the deadline", 0, 100'000, {3, 1, 2}, {0}, options(0, 0, 1), RELAYVM_DEADLINE_EXCEEDED},
  };
}

struct NativeInputs {
  explicit NativeInputs(const NativeCase& c) {
    const int64_t n = static_cast<int64_t>(c.x.size()), m = static_cast<int64_t>(c.at.size());
    REQUIRE(relayvm_value_tensor(RELAYVM_INT32, nullptr, 0, &c.mode, &values[0]) == nullptr);
    REQUIRE(relayvm_value_tensor(RELAYVM_INT32, nullptr, 0, &c.n, &values[1]) == nullptr);
    REQUIRE(relayvm_value_tensor(RELAYVM_FLOAT32, &n, 1, c.x.data(), &values[2]) == nullptr);
    REQUIRE(relayvm_value_tensor(RELAYVM_INT64, &m, 1, c.at.data(), &values[3]) == nullptr);
  }
  ~NativeInputs() {
    for (relayvm_value* value : values) relayvm_value_free(value);
  }
  NativeInputs(const NativeInputs&) = delete;
  NativeInputs& operator=(const NativeInputs&) = delete;
  relayvm_value* values[4] = {};
};

int RunNative(const NativeCase& c, const NativeInputs& inputs) {
  relayvm_value* result = nullptr;
  relayvm_status* status = faults_native_main_with(&c.options, inputs.values, 4, &result);
  const int code = relayvm_status_code(status);
  if (code != RELAYVM_OK) CHECK(*relayvm_status_message(status) != '\0');
  relayvm_status_free(status);
  relayvm_value_free(result);
  return code;
}

TEST_CASE("faults: native code fails where an allocation fails, and runs again") {
  for (const NativeCase& c : NativeCases()) {
    CAPTURE(std::string(c.what));
    const NativeInputs inputs(c);
    REQUIRE(RunNative(c, inputs) == c.code);
    for (const Failing failing : {Failing::kOne, Failing::kRest}) {
      int64_t failures = 0;
      for (int64_t number = 1;; ++number) {
        CAPTURE(number);
        Arm(number, failing);
        const int code = RunNative(c, inputs);
        const bool failed = Disarm();
        const bool expected = code == c.code || (failed && code == RELAYVM_RESOURCE_EXHAUSTED);
        REQUIRE_MESSAGE(expected, code);
        failures += failed ? 1 : 0;
        REQUIRE(RunNative(c, inputs) == c.code);
        if (!failed) break;
      }
      CHECK(failures > 0);
    }
  }
}

// The first call makes the weights, as often as it takes.
TEST_CASE("faults: native code makes its constants where no allocation fails") {
  const testing::TempFolder folder;
  ::setenv("RELAYVM_CACHE", (folder / "cache").c_str(), 1);
  const int64_t dims[] = {1, 16, 56, 56};
  const std::vector<float> ones(size_t{16} * 56 * 56, 1);
  relayvm_value *x = nullptr, *y = nullptr;
  REQUIRE(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 4, ones.data(), &x) == nullptr);
  int64_t failures = 0;
  for (int64_t number = 1;; ++number) {
    Arm(number, Failing::kRest);
    relayvm_status* status = faults_native_recipes_main(&x, 1, &y);
    const bool failed = Disarm();
    const int code = relayvm_status_code(status);
    relayvm_status_free(status);
    CAPTURE(number);
    REQUIRE((code == RELAYVM_OK || (failed && code == RELAYVM_RESOURCE_EXHAUSTED)));
    failures += failed ? 1 : 0;
    if (code == RELAYVM_OK) break;
  }
  CHECK(failures > 0);
  const auto* sums = static_cast<const float*>(relayvm_value_data(y));
  CHECK(sums[57] == doctest::Approx(16 * 9));
  CHECK(sums[0] == doctest::Approx(16 * 4));
  relayvm_value_free(y);
  relayvm_value_free(x);
  ::setenv("RELAYVM_CACHE", "", 1);
}

}  // namespace
}  // namespace relayvm::faults

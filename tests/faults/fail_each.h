// What every test of this folder does: something is tried again and again, with one allocation
// after the other failing, until it goes through without.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bytecode/base/guarded.h"
#include "compiler/api/compiler.h"
#include "tests/faults/injector.h"
#include "tests/same_value.h"
#include "vm/api/relayvm.h"

namespace relayvm::faults {

// Calls attempt() with each of its allocations failing in turn, and works() after each. attempt()
// gives a Status: ok (the failure was of something that it can do without) or kResourceExhausted.
// `prepare` is called before, without failures. At least one attempt must fail.
template <typename Prepare, typename Attempt, typename Works>
void FailEach(const Prepare& prepare, const Attempt& attempt, const Works& works) {
  for (const Failing failing : {Failing::kOne, Failing::kRest}) {
    CAPTURE(static_cast<int>(failing));
    int64_t failures = 0;
    for (int64_t number = 1;; ++number) {
      CAPTURE(number);
      prepare();
      Arm(number, failing);
      const Status status = Guarded(attempt);  // the test's own may throw
      const bool failed = Disarm();
      if (!status.ok()) {
        ++failures;
        REQUIRE_MESSAGE(status.code() == StatusCode::kResourceExhausted, status.ToString());
        REQUIRE_MESSAGE(failed, status.ToString());
      }
      works();
      if (!failed) break;
    }
    CHECK(failures > 0);
  }
}
template <typename Attempt, typename Works>
void FailEach(const Attempt& attempt, const Works& works) {
  FailEach([] {}, attempt, works);
}

// Runs `test` twice, and checks that the second time leaves nothing behind: the first one may make
// what the process keeps.
template <typename Test>
void LeavesNothing(const Test& test) {
  test();
  const Live before = LiveNow();
  test();
  // Threads that end give back what they have a moment later.
  for (int i = 0; i < 1000 && LiveNow() != before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(LiveNow().blocks == before.blocks);
  CHECK(LiveNow().mapped_bytes == before.mapped_bytes);
}

inline CompiledModel Compile(const std::string& text, bool batching = false) {
  CompilerOptions options;
  options.batching = batching;
  options.num_threads = 1;
  Result<CompiledModel> model = CompileModel(ModelSource::Text(text), options);
  REQUIRE_MESSAGE(model.ok(), model.status().ToString());
  return *model;
}

inline std::shared_ptr<const Executable> Load(const CompiledModel& model,
                                              const std::vector<HostFunction>& functions = {}) {
  auto executable = model.Load({.host_functions = functions});
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  return *executable;
}

inline std::shared_ptr<Runtime> NewRuntime(const RuntimeOptions& options = {}) {
  auto runtime = Runtime::Create(options);
  REQUIRE(runtime.ok());
  return *runtime;
}

inline Value Floats(const std::vector<float>& elements) {
  const int64_t n = static_cast<int64_t>(elements.size());
  return *Value::CopyTensor(DType::kFloat32, {{n}}, elements.data());
}

}  // namespace relayvm::faults

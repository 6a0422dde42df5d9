// Children of fork(), while other threads of the parent make, run and destroy what they can: a
// runtime of the child's own works, and so does native code, which has none.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>

#include "faults_native.h"
#include "tests/faults/fail_each.h"

namespace relayvm::faults {
namespace {

int RunNativeOnce() {
  const int32_t what = 0, n = 3;
  const float x[] = {3, 1, 2};
  const int64_t at[] = {0, 2}, three = 3, two = 2;
  relayvm_value *values[4] = {}, *result = nullptr;
  relayvm_status* status = relayvm_value_tensor(RELAYVM_INT32, nullptr, 0, &what, &values[0]);
  if (status == nullptr) status = relayvm_value_tensor(RELAYVM_INT32, nullptr, 0, &n, &values[1]);
  if (status == nullptr) status = relayvm_value_tensor(RELAYVM_FLOAT32, &three, 1, x, &values[2]);
  if (status == nullptr) status = relayvm_value_tensor(RELAYVM_INT64, &two, 1, at, &values[3]);
  if (status == nullptr) status = faults_native_main(values, 4, &result);
  const int code = relayvm_status_code(status);
  relayvm_status_free(status);
  relayvm_value_free(result);
  for (relayvm_value* value : values) relayvm_value_free(value);
  return code;
}

TEST_CASE("faults: a child of fork() runs what it loads, and native code") {
  const std::string path = "/tmp/relayvm_fork_" + std::to_string(getpid()) + ".vmx";
  const CompiledModel model = Compile(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?), float32]) { (argsort(%x), add(%x, 1f)) })");
  REQUIRE(model.Save(path).ok());
  const Value x = Floats({3, 1, 2});
  const auto run = [&](const std::shared_ptr<Runtime>& runtime) -> Status {
    RELAYVM_ASSIGN_OR_RETURN(auto program, Executable::Load(path, {.verify = true}));
    RELAYVM_ASSIGN_OR_RETURN(auto invocation, Invocation::Create(runtime, program));
    return invocation->Run("main", {x}).status();
  };
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  const auto keep = [&](const std::function<bool()>& well) {
    threads.emplace_back([&, well] {
      while (!stop) wrong += well() ? 0 : 1;
    });
  };
  const auto shared = NewRuntime({.max_idle_workspaces = 0});
  for (int t = 0; t < 2; ++t) keep([&] { return run(shared).ok(); });
  keep([&] { return run(NewRuntime({.num_threads = 2})).ok(); });
  keep([] { return RunNativeOnce() == RELAYVM_OK; });
  int children = 0, bad = 0;
  for (; children < 100 && bad == 0; ++children) {
    const pid_t child = fork();
    if (child == 0) {
      std::signal(SIGALRM, SIG_DFL);
      alarm(60);
      const auto own = Runtime::Create({.num_threads = 2});
      const bool well = own.ok() && run(*own).ok() && run(*own).ok() &&
                        RunNativeOnce() == RELAYVM_OK && RunNativeOnce() == RELAYVM_OK;
      _exit(well ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    bad += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK_MESSAGE(bad == 0, "child " << children << " hung or failed");
  CHECK(wrong == 0);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace relayvm::faults

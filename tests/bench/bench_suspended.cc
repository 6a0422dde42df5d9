// Many invocations that wait for their host at once: prints what each takes, in KiB of resident
// memory and of page tables, how many mappings the process has, and the times to begin and to end
// one, in microseconds.  usage: bench_suspended SUSPENDED.vmx COUNT  (border/suspended.relay,
// compiled)
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "vm/api/relayvm.h"
#include "vm/border/host_function.h"

namespace {

double KiBOf(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(field)) return std::strtod(line.c_str() + field.size(), nullptr);
  }
  return 0;
}

int64_t NumMappings() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  int64_t count = 0;
  while (std::getline(maps, line)) ++count;
  return count;
}

double Microseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

int Fail(const relayvm::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  const int64_t count = std::atoll(argv[2]);
  std::vector<relayvm::Waker> wakers;
  const relayvm::HostFunction wait{"wait", "fn (float32) -> float32",
                                   [&](relayvm::HostCall& call) -> relayvm::Result<relayvm::Value> {
                                     wakers.push_back(call.waker());
                                     RELAYVM_RETURN_IF_ERROR(call.Suspend());
                                     return call.args()[0];
                                   }};
  auto runtime = relayvm::Runtime::Create({.num_threads = 1});
  auto program = relayvm::Executable::Load(argv[1], {.host_functions = {&wait, 1}});
  if (!runtime.ok()) return Fail(runtime.status());
  if (!program.ok()) return Fail(program.status());
  const float one = 1;
  auto x = relayvm::Value::CopyTensor(relayvm::DType::kFloat32, {}, &one);
  if (!x.ok()) return Fail(x.status());
  const double resident = KiBOf("VmRSS:"), tables = KiBOf("VmPTE:");
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<relayvm::Invocation>> invocations;
  for (int64_t i = 0; i < count; ++i) {
    auto invocation = relayvm::Invocation::Create(*runtime, *program);
    if (!invocation.ok()) return Fail(invocation.status());
    if (relayvm::Status status = (*invocation)->Start("main", {*x}); !status.ok())
      return Fail(status);
    if ((*invocation)->Poll() != relayvm::RunState::kWaiting) return 3;
    invocations.push_back(*std::move(invocation));
  }
  const auto suspended = std::chrono::steady_clock::now();
  const auto n = static_cast<double>(count);
  std::printf("suspended %.0f  resident %.2f KiB each  page tables %.2f KiB each  mappings %lld\n",
              n, (KiBOf("VmRSS:") - resident) / n, (KiBOf("VmPTE:") - tables) / n,
              static_cast<long long>(NumMappings()));
  const auto wake = std::chrono::steady_clock::now();
  for (const relayvm::Waker& waker : wakers) waker.Wake();
  for (const auto& invocation : invocations) {
    if (invocation->Poll() != relayvm::RunState::kDone) return 4;
    auto result = invocation->TakeResult();
    if (!result.ok()) return Fail(result.status());
    if (*static_cast<const float*>(result->data()) != 2) return 5;
  }
  std::printf("begin %.2f us  end %.2f us\n", Microseconds(suspended - start) / n,
              Microseconds(std::chrono::steady_clock::now() - wake) / n);
  invocations.clear();
  wakers = {};
  malloc_trim(0);  // what the C library keeps is not the runtime's
  std::printf("afterwards resident %.1f MiB, before %.1f MiB\n", KiBOf("VmRSS:") / 1024,
              resident / 1024);
  return 0;
}

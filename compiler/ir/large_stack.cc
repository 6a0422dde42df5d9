#include "compiler/ir/large_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#include <exception>

#include "compiler/ir/stop_scope.h"

namespace relayvm::ir {
namespace {

constexpr size_t kSmallest = size_t{8} << 20;  // what a main thread has anyway
constexpr size_t kGuardBytes = 64 << 10;       // an overflow ends in a signal, not in other memory

thread_local bool on_large_stack = false;

struct Call {
  const std::function<void()>& run;
  const std::stop_token* stop;  // of the scope around
  std::exception_ptr exception;
};

void* Main(void* argument) {
  auto* call = static_cast<Call*>(argument);
  on_large_stack = true;
  const StopScope scope(call->stop);
  try {
    call->run();
  } catch (...) {
    call->exception = std::current_exception();
  }
  return nullptr;
}

bool RunOnStackOf(size_t bytes, Call* call) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* stack = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (stack == MAP_FAILED) return false;
  pthread_attr_t attributes;
  pthread_t thread;
  bool started =
      ::mprotect(stack, kGuardBytes, PROT_NONE) == 0 && pthread_attr_init(&attributes) == 0;
  if (started) {
    started = pthread_attr_setstack(&attributes, stack, bytes) == 0 &&
              pthread_create(&thread, &attributes, Main, call) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (started) pthread_join(thread, nullptr);
  ::munmap(stack, bytes);
  return started;
}

}  // namespace

void RunOnLargeStack(const std::function<void()>& run) {
  if (on_large_stack) return run();
  Call call{run, StopScope::Current(), nullptr};
  size_t bytes = kLargeStackBytes;
  while (bytes > kSmallest && !RunOnStackOf(bytes, &call)) bytes /= 2;
  if (bytes <= kSmallest) return run();
  if (call.exception != nullptr) std::rethrow_exception(call.exception);
}

}  // namespace relayvm::ir

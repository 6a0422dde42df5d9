#include "vm/fiber.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cassert>
#include <cstdint>
#include <string>

#include "vm/sanitizers.h"

#if RELAYVM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if RELAYVM_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace relayvm::vm {

namespace context = boost::context::detail;

namespace {

constexpr size_t kPageBytes = 4096;

// Before leaving a stack for [bottom, bottom + bytes): `fake` keeps the fake stack of the one left,
// or is null when it will not be used again.
inline void StartSwitch([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                        [[maybe_unused]] size_t bytes) {
#if RELAYVM_ASAN
  __sanitizer_start_switch_fiber(fake, bottom, bytes);
#endif
}
// After arriving on a stack; gives the stack that was left.
inline void FinishSwitch([[maybe_unused]] void* fake, [[maybe_unused]] const void** bottom,
                         [[maybe_unused]] size_t* bytes) {
#if RELAYVM_ASAN
  __sanitizer_finish_switch_fiber(fake, bottom, bytes);
#endif
}
// Right before a jump. A macro: a function of our own would be entered on one stack and left on the
// other, which unbalances what TSan keeps of each.
#if RELAYVM_TSAN
#define RELAYVM_SWITCH_THREAD_STATE(fiber) __tsan_switch_to_fiber(fiber, 0)
#else
#define RELAYVM_SWITCH_THREAD_STATE(fiber) static_cast<void>(fiber)
#endif

}  // namespace

FiberStack::~FiberStack() {
  if (bottom_ != nullptr) munmap(bottom_ - kPageBytes, bytes_ + kPageBytes);
}

Status FiberStack::Reserve(size_t bytes) {
  bytes = (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  if (bytes <= bytes_) return OkStatus();
  void* memory = mmap(nullptr, bytes + kPageBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kPageBytes, PROT_NONE) != 0) {
    if (memory != MAP_FAILED) munmap(memory, bytes + kPageBytes);
    return {StatusCode::kResourceExhausted,
            "cannot map a native stack of " + std::to_string(bytes) + " bytes"};
  }
  if (bottom_ != nullptr) munmap(bottom_ - kPageBytes, bytes_ + kPageBytes);
  bottom_ = static_cast<char*>(memory) + kPageBytes;
  bytes_ = bytes;
  return OkStatus();
}

struct Fiber::Entry {
  // The first thing on the new stack. Never returns: the last switch leaves it, so it must leave no
  // traces with sanitizers.
  __attribute__((no_sanitize("thread"), no_sanitize("address"))) static void Run(
      context::transfer_t from) {
    auto* fiber = static_cast<Fiber*>(from.data);
    FinishSwitch(nullptr, &fiber->resumer_bottom_, &fiber->resumer_bytes_);
    fiber->resumer_ = from.fctx;
    fiber->fn_(fiber->argument_);
    fiber->done_ = true;
    StartSwitch(nullptr, fiber->resumer_bottom_, fiber->resumer_bytes_);
    RELAYVM_SWITCH_THREAD_STATE(fiber->tsan_resumer_);
    context::jump_fcontext(static_cast<context::fcontext_t>(fiber->resumer_), nullptr);
  }
};

Fiber::Fiber(const FiberStack& stack, void (*fn)(void*), void* argument)
    : stack_(stack),
      fn_(fn),
      argument_(argument),
      self_(context::make_fcontext(stack.top(), stack.bytes(), Entry::Run)) {
#if RELAYVM_TSAN
  tsan_self_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  assert(done_ || !started_);
#if RELAYVM_TSAN
  __tsan_destroy_fiber(tsan_self_);
#endif
  // Frames that were left without returning; the next user of these pages must not see them.
  UnpoisonMemory(stack_.bottom(), stack_.bytes());
}

void Fiber::Resume() {
  assert(!done_);
  started_ = true;
  void* fake = nullptr;
#if RELAYVM_TSAN
  tsan_resumer_ = __tsan_get_current_fiber();
#endif
  StartSwitch(&fake, stack_.bottom(), stack_.bytes());
  RELAYVM_SWITCH_THREAD_STATE(tsan_self_);
  context::transfer_t back = context::jump_fcontext(static_cast<context::fcontext_t>(self_), this);
  self_ = back.fctx;
  FinishSwitch(fake, nullptr, nullptr);
}

void Fiber::Suspend() {
  StartSwitch(&fake_stack_, resumer_bottom_, resumer_bytes_);
  RELAYVM_SWITCH_THREAD_STATE(tsan_resumer_);
  context::transfer_t back =
      context::jump_fcontext(static_cast<context::fcontext_t>(resumer_), nullptr);
  resumer_ = back.fctx;
  FinishSwitch(fake_stack_, &resumer_bottom_, &resumer_bytes_);
}

}  // namespace relayvm::vm

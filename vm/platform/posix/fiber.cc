#include "vm/platform/fiber.h"

#include <boost/context/detail/fcontext.hpp>
#include <cassert>

#include "vm/platform/sanitizers.h"

#if RELAYVM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if RELAYVM_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace relayvm::vm {

namespace context = boost::context::detail;

namespace {

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

Fiber::Fiber(const StackRegion& stack, void (*fn)(void*), void* argument)
    : stack_(stack),
      fn_(fn),
      argument_(argument),
      self_(context::make_fcontext(stack.split(), stack.native_bytes(), Entry::Run)) {
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
  UnpoisonMemory(stack_.native_bottom(), stack_.native_bytes());
}

#if RELAYVM_ASAN || RELAYVM_TSAN
void Fiber::Resume() {
  assert(!done_);
  started_ = true;
  void* fake = nullptr;
#if RELAYVM_TSAN
  tsan_resumer_ = __tsan_get_current_fiber();
#endif
  StartSwitch(&fake, stack_.native_bottom(), stack_.native_bytes());
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
#endif

}  // namespace relayvm::vm

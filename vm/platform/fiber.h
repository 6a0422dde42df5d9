// Fiber: code that runs on a native stack of its own and can be suspended from anywhere inside.
//
// Built on Boost.Context's context switch (about 4 ns). A fiber is used by one thread at a time,
// and runs to its end before it is destroyed: to cancel one, make what it waits for fail, and
// resume it. Exceptions must not leave its function. Sanitizers are told of each switch. Tested by
// fiber_test.cc.
#pragma once

#if !RELAYVM_MINIMAL
#include <boost/context/detail/fcontext.hpp>
#endif
#include <cassert>
#include <cstddef>
#include <cstdlib>

#include "vm/memory/stack.h"
#include "vm/platform/sanitizers.h"

namespace relayvm::vm {

#if RELAYVM_MINIMAL
// On the stack of who resumes it, to its end.
class Fiber {
 public:
  static constexpr bool kSuspends = false;
  Fiber(const StackRegion& /*stack*/, void (*fn)(void*), void* context)
      : fn_(fn), context_(context) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void Resume() {
    fn_(context_);
    done_ = true;
  }
  [[noreturn]] void Suspend() { std::abort(); }  // REQUIRES: kSuspends
  bool done() const { return done_; }

 private:
  void (*fn_)(void*);
  void* context_;
  bool done_ = false;
};
#else
class Fiber {
 public:
  static constexpr bool kSuspends = true;
  // Runs fn(context) on the native stack of the region, which is borrowed, from the first Resume()
  // on.
  Fiber(const StackRegion& stack, void (*fn)(void*), void* context);
  // REQUIRES: done(), or never resumed.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Continues the fiber until it suspends or ends. REQUIRES: !done(), called from outside of it.
  void Resume();
  // Goes back to who resumed. REQUIRES: called from inside.
  void Suspend();
  bool done() const { return done_; }

 private:
  struct Entry;

  const StackRegion& stack_;
  void (*fn_)(void*);
  void* argument_;
  void* self_;               // the suspended fiber's context
  void* resumer_ = nullptr;  // the context of who resumed
  bool started_ = false, done_ = false;
  // For the sanitizers: who resumed, and their fake stacks.
  const void* resumer_bottom_ = nullptr;
  size_t resumer_bytes_ = 0;
  void* fake_stack_ = nullptr;
  void *tsan_self_ = nullptr, *tsan_resumer_ = nullptr;
};

// Inlined: a return that follows a switch is never predicted, and costs as much as the switch.
#if !RELAYVM_ASAN && !RELAYVM_TSAN
inline void Fiber::Resume() {
  assert(!done_);
  started_ = true;
  self_ = boost::context::detail::jump_fcontext(self_, this).fctx;
}
inline void Fiber::Suspend() {
  resumer_ = boost::context::detail::jump_fcontext(resumer_, nullptr).fctx;
}
#endif
#endif

}  // namespace relayvm::vm

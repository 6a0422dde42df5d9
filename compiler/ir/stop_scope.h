// How passes end when their compilation is cancelled. They are functions from module to module that
// know of no token: whoever runs one opens a scope, and the walks that all are made of (walk.h,
// ir/rewrite.h, type inference, lowering, the parser's tokens) poll it.
//
//   return Stoppable(stop, [&] { return pass.run(module, context); });    // kCancelled, soon
//
// A poll throws, as an allocation may: it goes through the same code, and nothing else is caught
// here. A scope holds for its thread and for the large stack (large_stack.h) that is run from it.
// Outside of scopes polls do nothing. Tested by stop_scope_test.cc.
#pragma once

#include <stop_token>
#include <utility>

#include "bytecode/base/check_stop.h"

namespace relayvm::ir {

// What a poll throws.
struct Stopped {};

class StopScope {
 public:
  // `stop` outlives the scope.
  explicit StopScope(const std::stop_token* stop) : outer_(std::exchange(current_, stop)) {}
  ~StopScope() { current_ = outer_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  // The token of this thread's innermost scope; null outside of any.
  static const std::stop_token* Current() { return current_; }

 private:
  static constinit thread_local const std::stop_token* current_;
  const std::stop_token* outer_;
};

// Throws Stopped when the scope around has been asked to stop.
inline void PollStop() {
  const std::stop_token* stop = StopScope::Current();
  if (stop != nullptr && stop->stop_requested()) throw Stopped();
}

// f() in a scope of `stop`; kCancelled where that was asked to and f ended early. `f` gives a
// Status or a Result.
template <typename F>
auto Stoppable(const std::stop_token& stop, F&& f) -> decltype(f()) {
  const StopScope scope(&stop);
  try {
    return std::forward<F>(f)();
  } catch (const Stopped&) {
    return CheckStop(stop);
  }
}

}  // namespace relayvm::ir

// Host functions: what a program declares and the host provides.
//
//   HostFunction fetch{"fetch", "fn (int64) -> Tensor[(?, 128), float32]",
//                      [&](HostCall& call) -> Result<Value> {
//                        auto request = database.Ask(call.args()[0], call.waker());
//                        RELAYVM_RETURN_IF_ERROR(call.Suspend());  // other invocations run
//                        return request->Take();
//                      }};
//   LoadOptions options{.host_functions = {&fetch, 1}};
//
// A function runs on its invocation's fiber: what it may use of the stack is
// InvocationOptions::native_stack_bytes, less a few KiB. Several threads may call one at once, for
// different invocations. Over a Suspend() the thread may change: hold no mutex and no address of a
// thread-local variable across it, and be in no catch block. An exception that leaves a function
// ends the run with kInternal, std::bad_alloc with kResourceExhausted. Tested by
// host_function_test.cc and host_wait_test.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "vm/border/value.h"

namespace relayvm {

class Executable;

namespace vm {
class WaitState;
struct InterpreterContext;
}  // namespace vm

// Wakes the host call that it was made in. Copies may be kept and used by any thread, for as long
// as it likes: once that call has ended, they do nothing.
class Waker {
 public:
  Waker() = default;  // wakes nothing
  // Ends the call's Suspend(), or else makes its next one return at once; any number of wakes
  // before a Suspend() count as one. Calls the invocation's on_ready, if it waits, on this thread.
  void Wake() const;

 private:
  friend class HostCall;
  Waker(std::shared_ptr<vm::WaitState> state, uint64_t call)
      : state_(std::move(state)), call_(call) {}
  std::shared_ptr<vm::WaitState> state_;
  uint64_t call_ = 0;
};

// One call of a host function; lives as long as it runs.
class HostCall {
 public:
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

  // Checked against the types that the program declares.
  std::span<const Value> args() const { return args_; }
  std::string_view function() const { return function_; }
  const Executable& executable() const { return executable_; }
  // Of the invocation: Invocation::id(), InvocationOptions::tag and host_context.
  uint64_t invocation_id() const;
  uint64_t tag() const;
  void* context() const;
  // When its run is out of time; time_point::max() without a limit.
  std::chrono::steady_clock::time_point deadline() const;

  Waker waker() const;
  // Lets the thread do something else until a waker of this call is used, or the time comes; with
  // nobody to wake it, until the run is cancelled or out of time. Fails with kCancelled or
  // kDeadlineExceeded when the run is: return that status, and soon. Who waits for one of several
  // things looks at them in a loop.
  Status Suspend();
  Status SuspendUntil(std::chrono::steady_clock::time_point time);
  // The same failures, for functions that take long.
  Status CheckInterrupt() const;

  // For the runtime.
  HostCall(vm::InterpreterContext& context, const Executable& executable, std::string_view function,
           std::span<const Value> args);

 private:
  vm::InterpreterContext& context_;
  const Executable& executable_;
  std::string_view function_;
  std::span<const Value> args_;
  uint64_t call_;  // its number in the invocation
};

struct HostFunction {
  std::string name;
  // As Relay writes types: "fn (int64, (Tensor[(?, 4), float32], bool)) -> List[int64]". A dim that
  // is ? here takes what the program says, and the other way round. Empty: any.
  std::string type;
  std::function<Result<Value>(HostCall&)> call;
};

}  // namespace relayvm

#include "vm/border/host_function.h"

#include <algorithm>

#include "bytecode/base/guarded.h"
#include "vm/platform/fiber.h"
#include "vm/run/interpreter.h"

namespace relayvm {

void Waker::Wake() const {
  // What is woken may drop this waker.
  const std::shared_ptr<vm::WaitState> state = state_;
  if (state != nullptr) state->Wake(call_);
}

HostCall::HostCall(vm::InterpreterContext& context, const Executable& executable,
                   std::string_view function, std::span<const Value> args)
    : context_(context),
      executable_(executable),
      function_(function),
      args_(args),
      call_(++context.host_calls) {}

uint64_t HostCall::invocation_id() const { return context_.invocation_id; }
uint64_t HostCall::tag() const { return context_.tag; }
void* HostCall::context() const { return context_.host_context; }
std::chrono::steady_clock::time_point HostCall::deadline() const {
  return vm::ToTimePoint(context_.deadline);
}

Waker HostCall::waker() const { return {context_.wait, call_}; }

Status HostCall::CheckInterrupt() const {
  if (context_.stop->load(std::memory_order_acquire) != 0)
    return Guarded([] { return Status(StatusCode::kCancelled, "cancelled"); });
  if (context_.deadline != INT64_MAX && vm::NowNanoseconds() >= context_.deadline) {
    return Guarded([] { return Status(StatusCode::kDeadlineExceeded, "the deadline has passed"); });
  }
  return OkStatus();
}

Status HostCall::Suspend() { return SuspendUntil(vm::ToTimePoint(INT64_MAX)); }

Status HostCall::SuspendUntil(std::chrono::steady_clock::time_point time) {
  RELAYVM_RETURN_IF_ERROR(CheckInterrupt());
  if (context_.wait->TakeWake(call_)) return OkStatus();
  const int64_t end = std::min(context_.deadline, vm::ToNanoseconds(time));
  if (end != INT64_MAX && end <= vm::NowNanoseconds()) return CheckInterrupt();
  if (!vm::Fiber::kSuspends) {
    return {StatusCode::kUnsupported,
            "this build of the runtime (RELAYVM_MINIMAL) has no runs that wait"};
  }
  context_.waiting_call = call_;
  context_.wait_time = end;
  context_.yield(context_.yield_context);
  context_.waiting_call = 0;
  return CheckInterrupt();
}

}  // namespace relayvm

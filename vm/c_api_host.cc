#include "vm/c_api_host.h"

#include <chrono>
#include <span>

#include "vm/c_api_internal.h"

using relayvm::HostCall;
using relayvm::HostFunction;
using relayvm::Result;
using relayvm::Status;
using relayvm::Value;
using relayvm::c_api::Fail;

struct relayvm_host_call {
  HostCall& call;
  // References of their own: what is passed in is not the callee's to change.
  std::vector<Value> args;
};
struct relayvm_waker {
  relayvm::Waker waker;
};

namespace {

Result<Value> CallC(relayvm_host_fn function, void* context, HostCall& call) {
  relayvm_host_call handle{call, {call.args().begin(), call.args().end()}};
  relayvm_value* out = nullptr;
  const std::unique_ptr<relayvm_status, void (*)(relayvm_status*)> failed(
      function(&handle, context, &out), relayvm_status_free);
  Value result = relayvm::c_api::FromHandle(out);
  if (failed != nullptr && !failed->status.ok()) return failed->status;
  if (!result) return Value::Tuple({});
  return result;
}

// Releases the contexts of functions that nobody has taken over, where memory runs out.
struct ReleaseRest {
  std::span<const relayvm_host_function> functions;
  ~ReleaseRest() {
    for (const relayvm_host_function& f : functions) {
      if (f.struct_size != sizeof(f)) return;
      if (f.release != nullptr) f.release(f.context);
    }
  }
};

}  // namespace

namespace relayvm::c_api {

Result<std::vector<HostFunction>> ReadHostFunctions(const relayvm_host_function* functions,
                                                    size_t count) {
  std::vector<HostFunction> made;
  if (count > 0 && functions == nullptr) {
    return Status(StatusCode::kInvalidArgument, "relayvm_load_options: host_functions is NULL");
  }
  ReleaseRest rest{{functions, count}};
  Status wrong;
  for (size_t i = 0; i < count; ++i) {
    const relayvm_host_function& f = functions[i];
    const std::string which = "host function " + std::to_string(i) + ": ";
    if (f.struct_size != sizeof(relayvm_host_function)) {
      // Of another layout, and those behind it too: nothing of them is known.
      rest.functions = {};
      return Status(StatusCode::kInvalidArgument,
                    which + "expected struct_size " +
                        std::to_string(sizeof(relayvm_host_function)) + ", found " +
                        std::to_string(f.struct_size) +
                        "; set it to sizeof(relayvm_host_function)");
    }
    rest.functions = rest.functions.subspan(1);
    const std::shared_ptr<void> context(f.context, [release = f.release](void* c) {
      if (release != nullptr) release(c);
    });
    if (wrong.ok() && (f.name == nullptr || f.call == nullptr)) {
      wrong = Status(StatusCode::kInvalidArgument,
                     which + (f.name == nullptr ? "name" : "call") + " is NULL");
    }
    if (!wrong.ok()) continue;
    made.push_back(
        {f.name, f.type == nullptr ? "" : f.type, [function = f.call, context](HostCall& call) {
           return CallC(function, context.get(), call);
         }});
  }
  if (!wrong.ok()) return wrong;
  return made;
}

}  // namespace relayvm::c_api

extern "C" {

// --- Inside a host function ---

size_t relayvm_host_call_num_args(const relayvm_host_call* call) {
  return call == nullptr ? 0 : call->args.size();
}
const relayvm_value* relayvm_host_call_arg(const relayvm_host_call* call, size_t index) {
  if (call == nullptr || index >= call->args.size()) return nullptr;
  return reinterpret_cast<const relayvm_value*>(call->args[index].object());
}
uint64_t relayvm_host_call_invocation_id(const relayvm_host_call* call) {
  return call == nullptr ? 0 : call->call.invocation_id();
}
void* relayvm_host_call_invocation_context(const relayvm_host_call* call) {
  return call == nullptr ? nullptr : call->call.context();
}
int64_t relayvm_host_call_deadline(const relayvm_host_call* call) {
  return call == nullptr ? INT64_MAX : call->call.deadline().time_since_epoch().count();
}
relayvm_status* relayvm_host_call_suspend(relayvm_host_call* call) {
  return relayvm_host_call_suspend_until(call, INT64_MAX);
}
relayvm_status* relayvm_host_call_suspend_until(relayvm_host_call* call, int64_t time) {
  RELAYVM_REQUIRE(call);
  const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(time)};
  return Fail(call->call.SuspendUntil(until));
}
relayvm_status* relayvm_host_call_check(const relayvm_host_call* call) {
  RELAYVM_REQUIRE(call);
  return Fail(call->call.CheckInterrupt());
}

relayvm_waker* relayvm_host_call_waker(const relayvm_host_call* call) {
  return call == nullptr ? nullptr : new (std::nothrow) relayvm_waker{call->call.waker()};
}
relayvm_waker* relayvm_waker_copy(const relayvm_waker* waker) {
  return waker == nullptr ? nullptr : new (std::nothrow) relayvm_waker{waker->waker};
}
void relayvm_waker_wake(const relayvm_waker* waker) {
  if (waker != nullptr) waker->waker.Wake();
}
void relayvm_waker_free(relayvm_waker* waker) { delete waker; }

void relayvm_invocation_set_host_context(relayvm_invocation* invocation, void* context) {
  if (invocation != nullptr) invocation->invocation->set_host_context(context);
}

}  // extern "C"

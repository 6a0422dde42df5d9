#include "vm/api/c_api_host.h"

#include <chrono>
#include <span>

#include "vm/api/c_api_internal.h"

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

// The host's array, whose items are as large as the first one says. Releases the contexts of those
// that nobody has taken over, where memory runs out.
class HostFunctions {
 public:
  HostFunctions(const relayvm_host_function* first, size_t count)
      : at_(reinterpret_cast<const char*>(first)),
        step_(count == 0 ? 0 : first->struct_size),
        left_(count) {}
  HostFunctions(const HostFunctions&) = delete;
  HostFunctions& operator=(const HostFunctions&) = delete;
  ~HostFunctions() {
    try {
      for (relayvm_host_function f{}; left_ > 0 && Next(&f).ok();) {
        if (f.release != nullptr) f.release(f.context);
      }
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): of the text of an error
    }
  }
  size_t left() const { return left_; }

  // Where it fails, this one and those behind it have another layout: nothing is known of them.
  Status Next(relayvm_host_function* out) {
    constexpr size_t kFirstSize = 48;
    static_assert(sizeof(relayvm_host_function) >= kFirstSize);
    uint32_t size = 0;
    std::memcpy(&size, at_, sizeof(size));
    *out = {};
    Status read =
        relayvm::c_api::ReadStruct(at_, kFirstSize, sizeof(*out), out, "relayvm_host_function");
    if (read.ok() && size != step_) {
      read = Status(relayvm::StatusCode::kInvalidArgument,
                    "relayvm_host_function: expected struct_size " + std::to_string(step_) +
                        ", as of the first, found " + std::to_string(size));
    }
    left_ = read.ok() ? left_ - 1 : 0;
    at_ += step_;
    return read;
  }

 private:
  const char* at_;
  size_t step_, left_;
};

}  // namespace

namespace relayvm::c_api {

Result<std::vector<HostFunction>> ReadHostFunctions(const relayvm_host_function* functions,
                                                    size_t count) {
  std::vector<HostFunction> made;
  if (count > 0 && functions == nullptr) {
    return Status(StatusCode::kInvalidArgument, "relayvm_load_options: host_functions is NULL");
  }
  HostFunctions rest(functions, count);
  Status wrong;
  while (rest.left() > 0) {
    const std::string which = "host function " + std::to_string(count - rest.left()) + ": ";
    relayvm_host_function f;
    if (Status read = rest.Next(&f); !read.ok()) {
      return Status(StatusCode::kInvalidArgument, which + read.message());
    }
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
const char* relayvm_host_call_name(const relayvm_host_call* call) {
  return call == nullptr ? nullptr : call->call.function().data();  // the program's own string
}
const void* relayvm_host_call_program(const relayvm_host_call* call) {
  return call == nullptr ? nullptr : &call->call.executable();
}
uint64_t relayvm_host_call_invocation_id(const relayvm_host_call* call) {
  return call == nullptr ? 0 : call->call.invocation_id();
}
uint64_t relayvm_host_call_tag(const relayvm_host_call* call) {
  return call == nullptr ? 0 : call->call.tag();
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

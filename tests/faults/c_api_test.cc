// The C API with each allocation failing: from load to results, host functions, DLPack, a scheduler
// and what an executable says of itself. What is handed over is released once, whatever happens.
#include "vm/api/c_api.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "bytecode/base/guarded.h"
#include "tests/faults/fail_each.h"
#include "vm/api/c_api_host.h"
#include "vm/api/c_api_scheduler.h"

namespace relayvm::faults {
namespace {

constexpr const char* kProgram = R"(#[version = "0.0.5"]
type Pair { Two(Tensor[(?), float32], int64) }
def @work(%n: int64, host=1) -> int64;
def @main(%x: Tensor[(?), float32], %n: int64) {
  let %y = add(%x, 1f);
  (Two(%y, @work(%n)), ones(shape=[9000], dtype="float32"))
})";

// A status as C gives it, freed.
struct Failed {
  Failed(relayvm_status* status) : code(relayvm_status_code(status)) {  // NOLINT: as it is returned
    relayvm_status_free(status);
  }
  int code;
};
#define RETURN_IF_FAILED(call)                                  \
  do {                                                          \
    if (const int code = Failed(call).code; code != RELAYVM_OK) \
      return Status(static_cast<StatusCode>(code), #call);      \
  } while (false)

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

std::atomic<int> g_released{0};
void Release(void* /*context*/) { ++g_released; }

relayvm_status* Work(relayvm_host_call* call, void* /*context*/, relayvm_value** result) {
  relayvm_waker* waker = relayvm_host_call_waker(call);
  if (waker == nullptr) return relayvm_status_create(RELAYVM_RESOURCE_EXHAUSTED, "no waker");
  relayvm_waker_wake(waker);
  relayvm_waker_free(waker);
  if (relayvm_status* failed = relayvm_host_call_suspend(call)) return failed;
  if (relayvm_status* failed = relayvm_host_call_suspend_until(call, 1)) return failed;
  const int64_t twice =
      2 * *static_cast<const int64_t*>(relayvm_value_data(relayvm_host_call_arg(call, 0)));
  return relayvm_value_tensor(RELAYVM_INT64, nullptr, 0, &twice, result);
}

// What a caller has: the bytes of a program, and no memory of C++ of its own in what is tried.
struct Caller {
  const void* bytes = nullptr;
  size_t size = 0;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  int run_code = -1;
};

void Complete(void* context, relayvm_status* status, relayvm_value* result) {
  auto* caller = static_cast<Caller*>(context);
  const int code = relayvm_status_code(status);
  relayvm_status_free(status);
  relayvm_value_free(result);
  const std::lock_guard lock(caller->mutex);
  caller->run_code = code;
  caller->done = true;
  caller->changed.notify_all();
}

Status CheckResult(const relayvm_value* result) {
  relayvm_value* pair = nullptr;
  RETURN_IF_FAILED(relayvm_value_field(result, 0, &pair));
  const Owned<relayvm_value> owned(pair, relayvm_value_free);
  relayvm_value* number = nullptr;
  RETURN_IF_FAILED(relayvm_value_field(pair, 1, &number));
  const Owned<relayvm_value> owned_number(number, relayvm_value_free);
  if (*static_cast<const int64_t*>(relayvm_value_data(number)) != 14)
    return {StatusCode::kInternal, "wrong"};
  DLManagedTensorVersioned* tensor = nullptr;
  RETURN_IF_FAILED(relayvm_value_to_dlpack(number, &tensor));
  relayvm_value* again = nullptr;
  const int code = Failed(relayvm_value_from_dlpack(tensor, &again)).code;
  relayvm_value_free(again);
  if (code != RELAYVM_OK) return {static_cast<StatusCode>(code), "relayvm_value_from_dlpack"};
  return OkStatus();
}

// Everything, once. May throw: this test's own statuses have texts.
Status UseAll(Caller* caller) {
  relayvm_runtime* runtime_out = nullptr;
  RETURN_IF_FAILED(relayvm_runtime_create(nullptr, &runtime_out));
  const Owned<relayvm_runtime> runtime(runtime_out, relayvm_runtime_free);

  const relayvm_host_function function = {sizeof(function), "work", "fn (int64) -> int64", Work,
                                          nullptr,          Release};
  const relayvm_host_function functions[2] = {
      function, {sizeof(function), "unused", nullptr, Work, nullptr, Release}};
  relayvm_load_options load{};
  load.struct_size = sizeof(load);
  load.host_functions = functions;
  load.num_host_functions = 2;
  relayvm_executable* executable_out = nullptr;
  RETURN_IF_FAILED(relayvm_executable_wrap_memory(caller->bytes, caller->size, Release, nullptr,
                                                  &load, &executable_out));
  const Owned<relayvm_executable> executable(executable_out, relayvm_executable_free);
  // Null without memory.
  relayvm_type_text(relayvm_executable_param_type(executable.get(), 0, 0));
  size_t index = 0;
  RETURN_IF_FAILED(relayvm_executable_find_function(executable.get(), "main", &index));
  uint32_t tag = 1;
  RETURN_IF_FAILED(relayvm_executable_constructor_tag(executable.get(), "Two", &tag));

  const float numbers[3] = {1, 2, 3};
  const int64_t dims[1] = {3}, seven = 7;
  relayvm_value *x = nullptr, *n = nullptr, *result = nullptr;
  RETURN_IF_FAILED(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, numbers, &x));
  const Owned<relayvm_value> owned_x(x, relayvm_value_free);
  RETURN_IF_FAILED(relayvm_value_tensor(RELAYVM_INT64, nullptr, 0, &seven, &n));
  const Owned<relayvm_value> owned_n(n, relayvm_value_free);
  relayvm_value* const inputs[2] = {x, n};
  const Owned<relayvm_value> copy(relayvm_value_copy(x), relayvm_value_free);

  relayvm_invocation* invocation_out = nullptr;
  RETURN_IF_FAILED(
      relayvm_invocation_create(runtime.get(), executable.get(), nullptr, &invocation_out));
  const Owned<relayvm_invocation> invocation(invocation_out, relayvm_invocation_free);
  RETURN_IF_FAILED(relayvm_invocation_set_on_ready(
      invocation.get(), [](void*) {}, nullptr));
  RETURN_IF_FAILED(relayvm_invocation_set_stack_limit(invocation.get(), 1 << 20));
  RETURN_IF_FAILED(relayvm_invocation_run(invocation.get(), "main", inputs, 2, &result));
  const Owned<relayvm_value> owned_result(result, relayvm_value_free);
  RELAYVM_RETURN_IF_ERROR(CheckResult(result));
  RETURN_IF_FAILED(relayvm_invocation_start(invocation.get(), "main", inputs, 2, nullptr, 0));
  while (relayvm_invocation_poll(invocation.get(), 1000) != RELAYVM_DONE)
    relayvm_invocation_wait(invocation.get());
  relayvm_value* second = nullptr;
  RETURN_IF_FAILED(relayvm_invocation_take_result(invocation.get(), &second));
  relayvm_value_free(second);

  relayvm_scheduler* scheduler_out = nullptr;
  RETURN_IF_FAILED(relayvm_scheduler_create(runtime.get(), nullptr, &scheduler_out));
  const Owned<relayvm_scheduler> scheduler(scheduler_out, relayvm_scheduler_free);
  caller->done = false;
  relayvm_run* run = nullptr;
  RETURN_IF_FAILED(relayvm_scheduler_run(scheduler.get(), executable.get(), "main", inputs, 2,
                                         nullptr, Complete, caller, &run));
  relayvm_run_free(run);
  std::unique_lock lock(caller->mutex);
  caller->changed.wait(lock, [&] { return caller->done; });
  if (caller->run_code == RELAYVM_OK) return OkStatus();
  return {static_cast<StatusCode>(caller->run_code), "a run of the scheduler"};
}

TEST_CASE("faults: the C API gives statuses, and releases what it was given once") {
  const CompiledModel model = Compile(kProgram);
  const SharedBytes bytes = *model.Bytes();
  Caller caller;
  caller.bytes = bytes.data();
  caller.size = bytes.size();
  LeavesNothing([&] {
    // Two functions and the bytes; nothing where not even a runtime was made.
    const auto released_all = [&] { CHECK((g_released == 3 || g_released == 0)); };
    FailEach([] { g_released = 0; }, [&] { return Guarded([&] { return UseAll(&caller); }); },
             released_all);
    g_released = 0;
    const Status status = UseAll(&caller);
    REQUIRE_MESSAGE(status.ok(), status.ToString());
    CHECK(g_released == 3);
  });
}

}  // namespace
}  // namespace relayvm::faults

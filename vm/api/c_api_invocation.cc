// The C API: invocations.
#include <fmt/format.h>

#include "vm/api/c_api_internal.h"

using relayvm::InvocationOptions;
using relayvm::OutputBuffer;
using relayvm::Result;
using relayvm::RunState;
using relayvm::Status;
using relayvm::StatusCode;
using relayvm::Value;
using relayvm::c_api::Fail;
using relayvm::c_api::GiveValue;
using relayvm::c_api::Guarded;

static_assert(RELAYVM_READY == static_cast<int>(RunState::kReady));
static_assert(RELAYVM_DONE == static_cast<int>(RunState::kDone));
static_assert(RELAYVM_WAITING == static_cast<int>(RunState::kWaiting));

namespace {

constexpr size_t kInvocationOptionsSize = 48;
static_assert(sizeof(relayvm_invocation_options) >= kInvocationOptionsSize);

size_t OrDefault(uint64_t bytes, size_t otherwise) {
  return bytes == 0 ? otherwise : static_cast<size_t>(bytes);
}

Status CheckTimeout(int64_t timeout_ns) {
  if (timeout_ns >= 0) return relayvm::OkStatus();
  return {StatusCode::kInvalidArgument,
          "timeout_ns is " + std::to_string(timeout_ns) + ", expected 0 or more"};
}

relayvm_status* IsRunning() {
  return Fail(StatusCode::kFailedPrecondition,
              "the invocation is running; poll it to its end first");
}

[[gnu::cold]] Status CheckOutput(const relayvm_output& output, size_t index) {
  RELAYVM_RETURN_IF_ERROR(relayvm::c_api::CheckDType(output.dtype));
  if (output.rank <= 255 && (output.rank == 0 || output.dims != nullptr))
    return relayvm::OkStatus();
  return {StatusCode::kInvalidArgument,
          fmt::format("output {}: rank {}{}", index, output.rank,
                      output.rank > 255 ? ", above 255" : ", and dims is NULL")};
}

relayvm_status* Run(relayvm_invocation* invocation, const char* function,
                    relayvm_value* const* inputs, size_t num_inputs, const relayvm_output* outputs,
                    size_t num_outputs, relayvm_value** out) {
  return Guarded([&]() -> relayvm_status* {
    Result<std::vector<Value>> values = relayvm::c_api::Inputs(inputs, num_inputs);
    if (!values.ok()) return Fail(values.status());
    std::vector<OutputBuffer> buffers;
    if (num_outputs > 0) {
      Result<std::vector<OutputBuffer>> read = relayvm::c_api::Outputs(outputs, num_outputs);
      if (!read.ok()) return Fail(read.status());
      buffers = std::move(read).value();
    }
    Result<Value> result =
        invocation->invocation->Run(function, std::move(values).value(), std::move(buffers));
    if (out == nullptr && result.ok()) return nullptr;
    return GiveValue(std::move(result), out);
  });
}

}  // namespace

Result<InvocationOptions> relayvm::c_api::ReadInvocationOptions(
    const relayvm_invocation_options* options) {
  RELAYVM_ASSIGN_OR_RETURN(
      const relayvm_invocation_options read,
      RELAYVM_READ_OPTIONS(options, relayvm_invocation_options, kInvocationOptionsSize));
  RELAYVM_RETURN_IF_ERROR(CheckTimeout(read.timeout_ns));
  InvocationOptions to;
  to.memory_limit = OrDefault(read.memory_limit, to.memory_limit);
  to.stack_limit = OrDefault(read.stack_limit, to.stack_limit);
  to.timeout = std::chrono::nanoseconds(read.timeout_ns);
  to.native_stack_bytes = OrDefault(read.native_stack_bytes, to.native_stack_bytes);
  to.host_context = read.host_context;
  to.tag = read.tag;
  return to;
}

Result<std::vector<OutputBuffer>> relayvm::c_api::Outputs(const relayvm_output* outputs,
                                                          size_t count) {
  std::vector<OutputBuffer> buffers;
  if (count > 0 && outputs == nullptr)
    return Status(StatusCode::kInvalidArgument, "outputs is NULL");
  buffers.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    OutputBuffer& buffer = buffers.emplace_back();
    const relayvm_output& output = outputs[i];
    if (output.data == nullptr) continue;
    RELAYVM_RETURN_IF_ERROR(CheckOutput(output, i));
    buffer.dtype = static_cast<relayvm::DType>(output.dtype);
    buffer.dims = {output.dims, output.rank};
    buffer.data = output.data;
  }
  return buffers;
}

relayvm_status* relayvm::c_api::RunNamed(
    const NamedInputs& inputs, const WantedOutputs& outputs,
    const std::function<Result<NamedOutputs>(const std::vector<NamedValue>&)>& run) {
  return Guarded([&]() -> relayvm_status* {
    Result<std::vector<Value>> values = relayvm::c_api::Inputs(inputs.values, inputs.count);
    if (!values.ok()) return Fail(values.status());
    std::vector<relayvm::NamedValue> named;
    for (size_t i = 0; i < inputs.count; ++i) {
      if (inputs.names[i] == nullptr)
        return Fail(StatusCode::kInvalidArgument, fmt::format("input_names: name {} is NULL", i));
      named.push_back({inputs.names[i], std::move((*values)[i])});
    }
    const auto result = run(named);
    if (!result.ok()) return Fail(result.status());
    std::vector<Value> found;
    for (size_t i = 0; i < outputs.count; ++i) {
      if (outputs.names[i] == nullptr)
        return Fail(StatusCode::kInvalidArgument, fmt::format("output_names: name {} is NULL", i));
      Result<Value> output = result->Find(outputs.names[i]);
      if (!output.ok()) return Fail(output.status());
      found.push_back(*std::move(output));
    }
    std::ranges::transform(found, outputs.values,
                           [](Value& value) { return relayvm::c_api::ToHandle(std::move(value)); });
    return nullptr;
  });
}

extern "C" {

relayvm_status* relayvm_invocation_create(relayvm_runtime* runtime, relayvm_executable* executable,
                                          const relayvm_invocation_options* options,
                                          relayvm_invocation** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(runtime);
  RELAYVM_REQUIRE(executable);
  return Guarded([&]() -> relayvm_status* {
    Result<InvocationOptions> read = relayvm::c_api::ReadInvocationOptions(options);
    if (!read.ok()) return Fail(read.status());
    auto invocation = relayvm::Invocation::Create(runtime->runtime, executable->executable, *read);
    if (!invocation.ok()) return Fail(invocation.status());
    *out = new relayvm_invocation{std::move(invocation).value()};
    return nullptr;
  });
}
void relayvm_invocation_free(relayvm_invocation* invocation) { delete invocation; }

relayvm_status* relayvm_invocation_run(relayvm_invocation* invocation, const char* function,
                                       relayvm_value* const* inputs, size_t num_inputs,
                                       relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(invocation);
  RELAYVM_REQUIRE(function);
  return Run(invocation, function, inputs, num_inputs, nullptr, 0, out);
}
relayvm_status* relayvm_invocation_run_into(relayvm_invocation* invocation, const char* function,
                                            relayvm_value* const* inputs, size_t num_inputs,
                                            const relayvm_output* outputs, size_t num_outputs,
                                            relayvm_value** out) {
  if (out != nullptr) *out = nullptr;
  RELAYVM_REQUIRE(invocation);
  RELAYVM_REQUIRE(function);
  return Run(invocation, function, inputs, num_inputs, outputs, num_outputs, out);
}

relayvm_status* relayvm_invocation_run_named(relayvm_invocation* invocation, const char* function,
                                             const char* const* input_names,
                                             relayvm_value* const* inputs, size_t num_inputs,
                                             const char* const* output_names, size_t num_outputs,
                                             relayvm_value** outputs) {
  if (num_outputs > 0) RELAYVM_REQUIRE(outputs);
  std::fill_n(outputs, num_outputs, nullptr);
  RELAYVM_REQUIRE(invocation);
  RELAYVM_REQUIRE(function);
  if (num_inputs > 0) RELAYVM_REQUIRE(input_names);
  if (num_outputs > 0) RELAYVM_REQUIRE(output_names);
  return relayvm::c_api::RunNamed({input_names, inputs, num_inputs},
                                  {output_names, outputs, num_outputs},
                                  [&](const std::vector<relayvm::NamedValue>& named) {
                                    return invocation->invocation->Run(named, {}, function);
                                  });
}

relayvm_status* relayvm_invocation_start(relayvm_invocation* invocation, const char* function,
                                         relayvm_value* const* inputs, size_t num_inputs,
                                         const relayvm_output* outputs, size_t num_outputs) {
  RELAYVM_REQUIRE(invocation);
  RELAYVM_REQUIRE(function);
  return Guarded([&]() -> relayvm_status* {
    Result<std::vector<Value>> values = relayvm::c_api::Inputs(inputs, num_inputs);
    if (!values.ok()) return Fail(values.status());
    Result<std::vector<OutputBuffer>> buffers = relayvm::c_api::Outputs(outputs, num_outputs);
    if (!buffers.ok()) return Fail(buffers.status());
    return Fail(invocation->invocation->Start(function, std::move(values).value(),
                                              std::move(buffers).value()));
  });
}
int relayvm_invocation_poll(relayvm_invocation* invocation, int64_t slice_ns) {
  if (invocation == nullptr) return RELAYVM_DONE;
  return static_cast<int>(invocation->invocation->Poll(std::chrono::nanoseconds(slice_ns)));
}
relayvm_status* relayvm_invocation_take_result(relayvm_invocation* invocation,
                                               relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(invocation);
  return Guarded([&] { return GiveValue(invocation->invocation->TakeResult(), out); });
}

relayvm_status* relayvm_invocation_set_on_ready(relayvm_invocation* invocation,
                                                void (*on_ready)(void* user), void* user) {
  RELAYVM_REQUIRE(invocation);
  return Guarded([&]() -> relayvm_status* {
    if (invocation->invocation->running()) {
      return Fail(StatusCode::kFailedPrecondition,
                  "on_ready is set before the run that it is for; the invocation is running");
    }
    std::function<void()> callback;
    if (on_ready != nullptr) callback = [=] { on_ready(user); };
    return Fail(invocation->invocation->set_on_ready(std::move(callback)));
  });
}
int64_t relayvm_invocation_next_deadline_ns(const relayvm_invocation* invocation) {
  if (invocation == nullptr) return INT64_MAX;
  return std::chrono::nanoseconds(invocation->invocation->next_deadline().time_since_epoch())
      .count();
}
int relayvm_invocation_wake_if_due(relayvm_invocation* invocation) {
  return invocation != nullptr && invocation->invocation->WakeIfDue() ? 1 : 0;
}
void relayvm_invocation_wait(relayvm_invocation* invocation) {
  if (invocation != nullptr) invocation->invocation->Wait();
}
void relayvm_invocation_cancel(relayvm_invocation* invocation) {
  if (invocation != nullptr) invocation->invocation->Cancel();
}
void relayvm_invocation_forget_cancel(relayvm_invocation* invocation) {
  if (invocation != nullptr) invocation->invocation->ForgetCancel();
}

relayvm_status* relayvm_invocation_set_memory_limit(relayvm_invocation* invocation,
                                                    uint64_t bytes) {
  RELAYVM_REQUIRE(invocation);
  invocation->invocation->set_memory_limit(OrDefault(bytes, InvocationOptions().memory_limit));
  return nullptr;
}
relayvm_status* relayvm_invocation_set_stack_limit(relayvm_invocation* invocation, uint64_t bytes) {
  RELAYVM_REQUIRE(invocation);
  return Guarded([&] {
    return Fail(
        invocation->invocation->set_stack_limit(OrDefault(bytes, InvocationOptions().stack_limit)));
  });
}
relayvm_status* relayvm_invocation_set_timeout(relayvm_invocation* invocation, int64_t timeout_ns) {
  RELAYVM_REQUIRE(invocation);
  return Guarded([&] {
    Status bad = CheckTimeout(timeout_ns);
    if (bad.ok()) invocation->invocation->set_timeout(std::chrono::nanoseconds(timeout_ns));
    return Fail(std::move(bad));
  });
}
relayvm_status* relayvm_invocation_set_native_stack(relayvm_invocation* invocation,
                                                    uint64_t bytes) {
  RELAYVM_REQUIRE(invocation);
  return Guarded([&] {
    return Fail(invocation->invocation->set_native_stack_bytes(
        OrDefault(bytes, InvocationOptions().native_stack_bytes)));
  });
}
relayvm_status* relayvm_invocation_trim(relayvm_invocation* invocation) {
  RELAYVM_REQUIRE(invocation);
  return Guarded([&]() -> relayvm_status* {
    if (invocation->invocation->running()) return IsRunning();
    invocation->invocation->Trim();
    return nullptr;
  });
}
relayvm_status* relayvm_invocation_get_stats(const relayvm_invocation* invocation,
                                             relayvm_invocation_stats* stats) {
  RELAYVM_REQUIRE(stats);
  RELAYVM_REQUIRE(invocation);
  return Guarded([&] { return relayvm::c_api::GiveStats(invocation->invocation->stats(), stats); });
}
relayvm_status* relayvm_invocation_set_tag(relayvm_invocation* invocation, uint64_t tag) {
  RELAYVM_REQUIRE(invocation);
  return Guarded([&]() -> relayvm_status* {
    if (invocation->invocation->running()) return IsRunning();
    invocation->invocation->set_tag(tag);
    return nullptr;
  });
}
uint64_t relayvm_invocation_id(const relayvm_invocation* invocation) {
  return invocation == nullptr ? 0 : invocation->invocation->id();
}

}  // extern "C"

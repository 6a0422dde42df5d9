#include "vm/c_api.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include "bytecode/reader.h"
#include "vm/dlpack_exchange.h"
#include "vm/relayvm.h"

using relayvm::DType;
using relayvm::Result;
using relayvm::Status;
using relayvm::StatusCode;
using relayvm::Value;

struct relayvm_status {
  Status status;
};
struct relayvm_runtime {
  std::shared_ptr<relayvm::Runtime> runtime;
};
struct relayvm_executable {
  std::shared_ptr<const relayvm::Executable> executable;
};
struct relayvm_invocation {
  std::unique_ptr<relayvm::Invocation> invocation;
};
struct relayvm_value {
  Value value;
};

static_assert(RELAYVM_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(RELAYVM_FAILED_PRECONDITION == static_cast<int>(StatusCode::kFailedPrecondition));
static_assert(RELAYVM_INTERNAL == static_cast<int>(StatusCode::kInternal));
static_assert(RELAYVM_BOOL == static_cast<int>(DType::kBool));
static_assert(RELAYVM_FLOAT16 == static_cast<int>(DType::kFloat16));
static_assert(RELAYVM_FLOAT64 == static_cast<int>(DType::kFloat64));
static_assert(RELAYVM_VALUE_ADT == static_cast<int>(Value::Kind::kAdt));
static_assert(RELAYVM_VALUE_REF == static_cast<int>(Value::Kind::kRef));

namespace {

relayvm_status* Fail(Status status) {
  return status.ok() ? nullptr : new relayvm_status{std::move(status)};
}
relayvm_status* Fail(StatusCode code, std::string message) {
  return Fail(Status(code, std::move(message)));
}

// In a function that returns a status: these arguments must not be NULL.
#define RELAYVM_REQUIRE(argument)                                        \
  do {                                                                   \
    if ((argument) == nullptr) return NullArgument(__func__, #argument); \
  } while (false)

relayvm_status* NullArgument(const char* function, const char* argument) {
  return new (std::nothrow) relayvm_status{
      Status(StatusCode::kInvalidArgument, std::string(function) + ": " + argument + " is NULL")};
}

// Runs `body`, which returns a relayvm_status*: no exception crosses to C.
template <typename Body>
relayvm_status* Guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(StatusCode::kResourceExhausted, "out of memory");
  } catch (const std::exception& e) {
    return Fail(StatusCode::kInternal, e.what());
  }
}

relayvm_status* GiveValue(Result<Value> result, relayvm_value** out) {
  if (!result.ok()) return Fail(result.status());
  *out = new relayvm_value{std::move(result).value()};
  return nullptr;
}

// The caller's options over the defaults. Those of a newer caller may be longer; as long as there
// is one version, shorter ones are a mistake.
template <typename T>
Result<T> ReadOptions(const T* options, const char* type) {
  if (options == nullptr) return T{};
  if (options->struct_size < sizeof(T)) {
    return Status(StatusCode::kInvalidArgument, std::string(type) + ": expected struct_size " +
                                                    std::to_string(sizeof(T)) + ", found " +
                                                    std::to_string(options->struct_size) +
                                                    "; set it to sizeof(" + type + ")");
  }
  return *options;
}

bool IsTensor(const relayvm_value* value) { return value != nullptr && value->value.is_tensor(); }

relayvm_status* CheckTensorArguments(relayvm_dtype dtype, const int64_t* dims, size_t rank) {
  if (dtype < 0 || dtype >= relayvm::kNumDTypes) {
    return Fail(StatusCode::kInvalidArgument, "dtype " + std::to_string(dtype) + " does not exist");
  }
  if (rank > 0 && dims == nullptr) return Fail(StatusCode::kInvalidArgument, "dims is NULL");
  return nullptr;
}

Result<std::vector<Value>> Inputs(relayvm_value* const* inputs, size_t count) {
  std::vector<Value> values;
  for (size_t i = 0; i < count; ++i) {
    if (inputs == nullptr || inputs[i] == nullptr)
      return Status(StatusCode::kInvalidArgument, "input " + std::to_string(i) + " is NULL");
    values.push_back(inputs[i]->value);
  }
  return values;
}

const relayvm::ExportInfo* Export(const relayvm_executable* executable, size_t index) {
  if (executable == nullptr) return nullptr;
  const auto& exports = executable->executable->program().exports;
  return index < exports.size() ? &exports[index] : nullptr;
}

}  // namespace

extern "C" {

// --- Status ---

int relayvm_status_code(const relayvm_status* status) {
  return status == nullptr ? RELAYVM_OK : static_cast<int>(status->status.code());
}
const char* relayvm_status_message(const relayvm_status* status) {
  return status == nullptr ? "ok" : status->status.message().c_str();
}
void relayvm_status_free(relayvm_status* status) { delete status; }

// --- Runtime ---

relayvm_status* relayvm_runtime_create(const relayvm_runtime_options* options,
                                       relayvm_runtime** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  return Guarded([&]() -> relayvm_status* {
    Result<relayvm_runtime_options> read = ReadOptions(options, "relayvm_runtime_options");
    if (!read.ok()) return Fail(read.status());
    relayvm::RuntimeOptions runtime_options;
    if (read->num_threads != 0) runtime_options.num_threads = read->num_threads;
    if (read->max_idle_workspaces != 0)
      runtime_options.max_idle_workspaces = read->max_idle_workspaces;
    auto runtime = relayvm::Runtime::Create(runtime_options);
    if (!runtime.ok()) return Fail(runtime.status());
    *out = new relayvm_runtime{std::move(runtime).value()};
    return nullptr;
  });
}
void relayvm_runtime_free(relayvm_runtime* runtime) { delete runtime; }

// --- Program ---

relayvm_status* relayvm_executable_load(const char* path, relayvm_executable** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(path);
  return Guarded([&]() -> relayvm_status* {
    auto executable = relayvm::Executable::Load(path);
    if (!executable.ok()) return Fail(executable.status());
    *out = new relayvm_executable{std::move(executable).value()};
    return nullptr;
  });
}

relayvm_status* relayvm_executable_load_memory(const void* bytes, size_t size,
                                               relayvm_executable** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(bytes);
  return Guarded([&]() -> relayvm_status* {
    auto program = relayvm::ReadProgram({static_cast<const uint8_t*>(bytes), size});
    if (!program.ok()) return Fail(program.status());
    auto executable = relayvm::Executable::FromProgram(std::move(program).value());
    if (!executable.ok()) return Fail(executable.status());
    *out = new relayvm_executable{std::move(executable).value()};
    return nullptr;
  });
}

void relayvm_executable_free(relayvm_executable* executable) { delete executable; }

size_t relayvm_executable_num_functions(const relayvm_executable* executable) {
  return executable == nullptr ? 0 : executable->executable->program().exports.size();
}
const char* relayvm_executable_function_name(const relayvm_executable* executable, size_t index) {
  const relayvm::ExportInfo* e = Export(executable, index);
  return e == nullptr ? nullptr : e->name.c_str();
}
size_t relayvm_executable_num_params(const relayvm_executable* executable, size_t function) {
  const relayvm::ExportInfo* e = Export(executable, function);
  return e == nullptr ? 0 : e->params.size();
}
const char* relayvm_executable_param_name(const relayvm_executable* executable, size_t function,
                                          size_t param) {
  const relayvm::ExportInfo* e = Export(executable, function);
  return e == nullptr || param >= e->param_names.size() ? nullptr : e->param_names[param].c_str();
}
relayvm_status* relayvm_executable_constructor_tag(const relayvm_executable* executable,
                                                   const char* name, uint32_t* tag) {
  RELAYVM_REQUIRE(tag);
  *tag = 0;
  RELAYVM_REQUIRE(executable);
  RELAYVM_REQUIRE(name);
  return Guarded([&]() -> relayvm_status* {
    Result<uint32_t> found = executable->executable->FindConstructor(name);
    if (!found.ok()) return Fail(found.status());
    *tag = *found;
    return nullptr;
  });
}

// --- Values ---

relayvm_status* relayvm_value_tensor(relayvm_dtype dtype, const int64_t* dims, size_t rank,
                                     const void* data, relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  return Guarded([&]() -> relayvm_status* {
    if (relayvm_status* bad = CheckTensorArguments(dtype, dims, rank)) return bad;
    if (data != nullptr)
      return GiveValue(Value::CopyTensor(static_cast<DType>(dtype), {dims, rank}, data), out);
    Result<Value> value = Value::NewTensor(static_cast<DType>(dtype), {dims, rank});
    if (value.ok()) std::memset(value->mutable_data(), 0, value->bytes());
    return GiveValue(std::move(value), out);
  });
}

relayvm_status* relayvm_value_wrap(relayvm_dtype dtype, const int64_t* dims, size_t rank,
                                   void* data, void (*release)(void* context), void* context,
                                   relayvm_value** out) {
  if (out == nullptr) {
    if (release != nullptr) release(context);
    RELAYVM_REQUIRE(out);
  }
  *out = nullptr;
  return Guarded([&]() -> relayvm_status* {
    if (relayvm_status* bad = CheckTensorArguments(dtype, dims, rank)) {
      if (release != nullptr) release(context);
      return bad;
    }
    return GiveValue(
        Value::WrapTensor(static_cast<DType>(dtype), {dims, rank}, data, release, context), out);
  });
}

relayvm_status* relayvm_value_adt(uint32_t tag, relayvm_value* const* fields, size_t num_fields,
                                  relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  return Guarded([&]() -> relayvm_status* {
    if (num_fields > 0xFFFF) {
      return Fail(StatusCode::kInvalidArgument,
                  std::to_string(num_fields) + " fields, above 65535");
    }
    Result<std::vector<Value>> values = Inputs(fields, num_fields);
    if (!values.ok()) return Fail(values.status());
    return GiveValue(Value::Adt(tag, std::move(values).value()), out);
  });
}

relayvm_status* relayvm_value_from_dlpack(DLManagedTensorVersioned* tensor, relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(tensor);
  return Guarded([&] { return GiveValue(relayvm::FromDLPack(tensor), out); });
}

relayvm_status* relayvm_value_to_dlpack(const relayvm_value* value,
                                        DLManagedTensorVersioned** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(value);
  return Guarded([&]() -> relayvm_status* {
    Result<DLManagedTensorVersioned*> tensor = relayvm::ToDLPack(value->value);
    if (!tensor.ok()) return Fail(tensor.status());
    *out = *tensor;
    return nullptr;
  });
}

relayvm_value* relayvm_value_copy(const relayvm_value* value) {
  return value == nullptr ? nullptr : new (std::nothrow) relayvm_value{value->value};
}
void relayvm_value_free(relayvm_value* value) { delete value; }

relayvm_value_kind relayvm_value_get_kind(const relayvm_value* value) {
  return value == nullptr ? RELAYVM_VALUE_NONE
                          : static_cast<relayvm_value_kind>(value->value.kind());
}
relayvm_dtype relayvm_value_get_dtype(const relayvm_value* value) {
  return IsTensor(value) ? static_cast<relayvm_dtype>(value->value.dtype()) : RELAYVM_BOOL;
}
size_t relayvm_value_rank(const relayvm_value* value) {
  return IsTensor(value) ? value->value.dims().size() : 0;
}
const int64_t* relayvm_value_dims(const relayvm_value* value) {
  return IsTensor(value) ? value->value.dims().data() : nullptr;
}
const void* relayvm_value_data(const relayvm_value* value) {
  return IsTensor(value) ? value->value.data() : nullptr;
}
size_t relayvm_value_bytes(const relayvm_value* value) {
  return IsTensor(value) ? value->value.bytes() : 0;
}

uint32_t relayvm_value_tag(const relayvm_value* value) {
  return relayvm_value_get_kind(value) == RELAYVM_VALUE_ADT ? value->value.tag() : 0;
}
size_t relayvm_value_num_fields(const relayvm_value* value) {
  switch (relayvm_value_get_kind(value)) {
    case RELAYVM_VALUE_ADT:
      return value->value.num_fields();
    case RELAYVM_VALUE_REF:
      return 1;
    default:
      return 0;
  }
}
relayvm_status* relayvm_value_field(const relayvm_value* value, size_t index, relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(value);
  return Guarded([&]() -> relayvm_status* {
    size_t count = relayvm_value_num_fields(value);
    if (index >= count) {
      return Fail(StatusCode::kOutOfRange,
                  "field " + std::to_string(index) + " of " + std::to_string(count));
    }
    return GiveValue(value->value.field(index), out);
  });
}

// --- Invocations ---

relayvm_status* relayvm_invocation_create(relayvm_runtime* runtime, relayvm_executable* executable,
                                          const relayvm_invocation_options* options,
                                          relayvm_invocation** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(runtime);
  RELAYVM_REQUIRE(executable);
  return Guarded([&]() -> relayvm_status* {
    Result<relayvm_invocation_options> read = ReadOptions(options, "relayvm_invocation_options");
    if (!read.ok()) return Fail(read.status());
    if (read->timeout_ns < 0) {
      return Fail(StatusCode::kInvalidArgument,
                  "timeout_ns is " + std::to_string(read->timeout_ns) + ", expected 0 or more");
    }
    relayvm::InvocationOptions invocation_options;
    if (read->memory_limit != 0) invocation_options.memory_limit = read->memory_limit;
    if (read->stack_limit != 0) invocation_options.stack_limit = read->stack_limit;
    invocation_options.timeout = std::chrono::nanoseconds(read->timeout_ns);
    auto invocation =
        relayvm::Invocation::Create(runtime->runtime, executable->executable, invocation_options);
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
  return Guarded([&]() -> relayvm_status* {
    Result<std::vector<Value>> values = Inputs(inputs, num_inputs);
    if (!values.ok()) return Fail(values.status());
    return GiveValue(invocation->invocation->Run(function, std::move(values).value()), out);
  });
}

relayvm_status* relayvm_invocation_start(relayvm_invocation* invocation, const char* function,
                                         relayvm_value* const* inputs, size_t num_inputs) {
  RELAYVM_REQUIRE(invocation);
  RELAYVM_REQUIRE(function);
  return Guarded([&]() -> relayvm_status* {
    Result<std::vector<Value>> values = Inputs(inputs, num_inputs);
    if (!values.ok()) return Fail(values.status());
    return Fail(invocation->invocation->Start(function, std::move(values).value()));
  });
}
int relayvm_invocation_poll(relayvm_invocation* invocation, int64_t slice_ns) {
  if (invocation == nullptr) return 1;
  return static_cast<int>(invocation->invocation->Poll(std::chrono::nanoseconds(slice_ns)));
}
relayvm_status* relayvm_invocation_take_result(relayvm_invocation* invocation,
                                               relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(invocation);
  return Guarded([&] { return GiveValue(invocation->invocation->TakeResult(), out); });
}
void relayvm_invocation_cancel(relayvm_invocation* invocation) {
  if (invocation != nullptr) invocation->invocation->Cancel();
}
void relayvm_invocation_forget_cancel(relayvm_invocation* invocation) {
  if (invocation != nullptr) invocation->invocation->ForgetCancel();
}
void relayvm_invocation_get_stats(const relayvm_invocation* invocation,
                                  relayvm_invocation_stats* stats) {
  if (stats == nullptr) return;
  relayvm::InvocationStats from;
  if (invocation != nullptr) from = invocation->invocation->stats();
  relayvm_invocation_stats all{stats->struct_size, from.peak_bytes, from.resident_bytes,
                               from.allocations, from.run_ns};
  std::memcpy(stats, &all, std::min<size_t>(stats->struct_size, sizeof(all)));
}

}  // extern "C"

// What the files of the C API share: the handles, and how errors and options cross the border.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/guarded.h"
#include "vm/api/c_api.h"
#include "vm/api/relayvm.h"
#include "vm/trace/chrome_trace.h"
#include "vm/trace/profile.h"

struct relayvm_status {
  relayvm::Status status;
};
struct relayvm_runtime {
  std::shared_ptr<relayvm::Runtime> runtime;
};
struct relayvm_executable {
  std::shared_ptr<const relayvm::Executable> executable;
};
struct relayvm_profile {
  std::shared_ptr<relayvm::Profile> profile;
};
struct relayvm_chrome_trace {
  std::shared_ptr<relayvm::ChromeTrace> trace;
};
struct relayvm_device {
  std::shared_ptr<relayvm::Device> device;
};
struct relayvm_invocation {
  std::unique_ptr<relayvm::Invocation> invocation;
};

namespace relayvm::c_api {

// Null when it is ok; NoMemory() without memory.
relayvm_status* Fail(Status status) noexcept;
// A status that takes none, for which relayvm_status_free does nothing.
relayvm_status* NoMemory() noexcept;
inline relayvm_status* Fail(StatusCode code, std::string message) {
  return Fail(Status(code, std::move(message)));
}

relayvm_status* NullArgument(const char* function, const char* argument);

// In a function that returns a status: these arguments must not be NULL.
#define RELAYVM_REQUIRE(argument)                                                        \
  do {                                                                                   \
    if ((argument) == nullptr) return relayvm::c_api::NullArgument(__func__, #argument); \
  } while (false)

// Runs `body`, which returns a relayvm_status*: no exception crosses to C.
template <typename Body>
relayvm_status* Guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (...) {
    return Fail(CaughtException());
  }
}

// A relayvm_value* is the shared object itself, with one reference of the handle's own: a value
// that crosses the border allocates nothing. NULL is the none value.
inline relayvm_value* ToHandle(Value value) {
  return reinterpret_cast<relayvm_value*>(value.Release());
}
// Takes the handle over.
inline Value FromHandle(relayvm_value* handle) {
  return Value::Adopt(reinterpret_cast<vm::Object*>(handle));
}
// The value of a handle that stays its owner's.
class ValueOf {
 public:
  explicit ValueOf(const relayvm_value* handle)
      : value_(FromHandle(const_cast<relayvm_value*>(handle))) {}
  ValueOf(const ValueOf&) = delete;
  ValueOf& operator=(const ValueOf&) = delete;
  ~ValueOf() { value_.Release(); }

  Value& operator*() { return value_; }
  Value* operator->() { return &value_; }

 private:
  Value value_;
};

inline relayvm_status* GiveValue(Result<Value> result, relayvm_value** out) {
  if (!result.ok()) return Fail(result.status());
  *out = ToHandle(std::move(result).value());
  return nullptr;
}

// kInvalidArgument when a struct_size is below that of the struct's first version, or what none
// has.
Status CheckStructSize(uint32_t found, size_t first_size, size_t size, const char* type);
// Copies a struct of `size` bytes, whose first version had `first_size`, to one of this library's,
// which begins as all zeros. kInvalidArgument when it is too short, or longer with what is unknown
// here.
Status ReadStruct(const void* from, size_t first_size, size_t size, void* to, const char* type);

// The caller's options over the defaults.
template <typename T>
Result<T> ReadOptions(const T* options, size_t first_size, const char* type) {
  T read{};
  if (options == nullptr) return read;
  RELAYVM_RETURN_IF_ERROR(ReadStruct(options, first_size, sizeof(T), &read, type));
  return read;
}
// `size` is that of the struct's first version.
#define RELAYVM_READ_OPTIONS(options, type, size) \
  relayvm::c_api::ReadOptions<type>(options, size, #type)

// What is behind functions that give the statistics of a run.
inline relayvm_status* GiveStats(const InvocationStats& from, relayvm_invocation_stats* stats) {
  constexpr size_t kFirstSize = 40;  // of the struct's first version
  static_assert(sizeof(*stats) >= kFirstSize);
  const uint32_t size = stats->struct_size;
  Status bad = CheckStructSize(size, kFirstSize, sizeof(*stats), "relayvm_invocation_stats");
  if (!bad.ok()) return Fail(std::move(bad));
  const relayvm_invocation_stats all{size, from.peak_bytes, from.resident_bytes, from.allocations,
                                     from.run_ns};
  std::memcpy(stats, &all, std::min<size_t>(size, sizeof(all)));
  return nullptr;
}

inline bool IsTensor(const relayvm_value* value) { return ValueOf(value)->is_tensor(); }

inline Status CheckDType(relayvm_dtype dtype) {
  if (dtype >= 0 && dtype <= static_cast<int>(DType::kString)) return OkStatus();
  return {StatusCode::kInvalidArgument, "dtype " + std::to_string(dtype) + " does not exist"};
}

// `what` they are: "input", "field".
Result<std::vector<Value>> Values(relayvm_value* const* values, size_t count, const char* what);
// NULL: one that is left out (vm/border/optional_inputs.h).
Result<std::vector<Value>> Inputs(relayvm_value* const* values, size_t count);

// LoadOptions, with the kernels and functions that they refer to.
struct OwnedLoadOptions {
  LoadOptions options;
  std::vector<Builtin> kernels;
  std::vector<HostFunction> host_functions;
  std::vector<EngineLibrary> engines;
};
// Takes over the functions' contexts, whatever comes of it; in c_api_executable.cc.
Status ReadLoadOptions(const relayvm_load_options* from, OwnedLoadOptions* to);

// In c_api_invocation.cc.
// What goes in and comes out by names.
struct NamedInputs {
  const char* const* names;
  relayvm_value* const* values;
  size_t count;
};
struct WantedOutputs {
  const char* const* names;
  relayvm_value** values;
  size_t count;
};
relayvm_status* RunNamed(
    const NamedInputs& inputs, const WantedOutputs& outputs,
    const std::function<Result<NamedOutputs>(const std::vector<NamedValue>&)>& run);
Result<InvocationOptions> ReadInvocationOptions(const relayvm_invocation_options* options);
Result<std::vector<OutputBuffer>> Outputs(const relayvm_output* outputs, size_t count);

// Takes over the functions' contexts, whatever comes of it; in c_api_host.cc.
Result<std::vector<HostFunction>> ReadHostFunctions(const relayvm_host_function* functions,
                                                    size_t count);

}  // namespace relayvm::c_api

// As much of a Triton server as the backend calls: models with their configuration, instances,
// requests and responses, all looked at by tests. Loads the backend as Triton does, by dlopen; the
// functions that it finds then are those of fake_host.cc, which the program exports.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/serve/triton/triton_abi.h"

namespace relayvm::triton {

struct HostTensor {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_FP32;
  std::vector<int64_t> dims;
  std::vector<std::string> pieces;  // of its bytes
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
};
template <typename T>
std::string BytesOf(const std::vector<T>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}
template <typename T>
std::vector<T> ElementsOf(const std::string& bytes) {
  const auto* const first = reinterpret_cast<const T*>(bytes.data());
  return {first, first + bytes.size() / sizeof(T)};
}

struct HostAnswer {
  std::vector<HostTensor> outputs;
  std::optional<TRITONSERVER_Error_Code> code;  // of a failure
  std::string message;
};

struct HostStatistics {
  std::vector<bool> requests;      // with success?
  std::vector<uint64_t> batches;   // sizes of what ran
  std::atomic<int> bad_times = 0;  // that are not in order
};

// Whether an object is there, and calls that are to fail.
struct HostWorld {
  std::atomic<int> errors = 0, messages = 0, responses = 0;
  std::set<std::string> fails;  // names of calls
  std::vector<std::string> log;
  int preferred_cpu = 0, parallel_loading = 0;
  uint32_t minor = TRITONBACKEND_API_VERSION_MINOR;
  static HostWorld& Get();
};

}  // namespace relayvm::triton

// The opaque structs of the interface.
struct TRITONSERVER_Error {
  TRITONSERVER_Error_Code code;
  std::string message;
};
struct TRITONSERVER_Message {
  std::string json;
};
struct TRITONBACKEND_Input {
  relayvm::triton::HostTensor tensor;
};
struct TRITONBACKEND_Output {
  relayvm::triton::HostTensor tensor;
  std::unique_ptr<char[]> buffer;
  size_t bytes = 0;
};
struct TRITONBACKEND_Request {
  std::vector<TRITONBACKEND_Input> inputs;
  std::vector<std::string> outputs;
  bool is_cancelled = false;
  uint64_t timeout_us = 0;
  std::vector<relayvm::triton::HostAnswer> answers;
  int releases = 0;
};
struct TRITONBACKEND_Response {
  TRITONBACKEND_Request* request;
  std::vector<std::unique_ptr<TRITONBACKEND_Output>> outputs;
};
struct TRITONBACKEND_Model {
  std::string name, repository;
  nlohmann::json config = nlohmann::json::object();
  bool auto_complete = true;
  void* state = nullptr;
  int times_set = 0;
};
struct TRITONBACKEND_ModelInstance {
  TRITONBACKEND_Model* model;
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  void* state = nullptr;
  relayvm::triton::HostStatistics statistics;
};

namespace relayvm::triton {

// The backend's functions; closed when it goes.
class LoadedBackend {
 public:
  explicit LoadedBackend(const std::string& path);
  ~LoadedBackend();
  LoadedBackend(const LoadedBackend&) = delete;
  LoadedBackend& operator=(const LoadedBackend&) = delete;

  decltype(&TRITONBACKEND_Initialize) initialize = nullptr;
  decltype(&TRITONBACKEND_GetBackendAttribute) get_attribute = nullptr;
  decltype(&TRITONBACKEND_ModelInitialize) model_initialize = nullptr;
  decltype(&TRITONBACKEND_ModelFinalize) model_finalize = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceInitialize) instance_initialize = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceFinalize) instance_finalize = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceReady) instance_ready = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceExecute) execute = nullptr;

 private:
  void* library_;
};

// The text of an error, which it deletes; "" for none.
std::string Taken(TRITONSERVER_Error* error);

}  // namespace relayvm::triton

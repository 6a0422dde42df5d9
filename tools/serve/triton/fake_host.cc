#include "tools/serve/triton/fake_host.h"

#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <stdexcept>

using relayvm::triton::HostAnswer;
using relayvm::triton::HostWorld;

namespace relayvm::triton {
namespace {

std::mutex mutex;  // of the log, the answers and the statistics

template <typename F>
void Find(void* library, const char* name, F* function) {
  *function = reinterpret_cast<F>(dlsym(library, name));
  if (*function == nullptr) throw std::runtime_error(std::string("there is no ") + name);
}

}  // namespace

HostWorld& HostWorld::Get() {
  static HostWorld world;
  return world;
}

LoadedBackend::LoadedBackend(const std::string& path)
    : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) throw std::runtime_error(dlerror());
  Find(library_, "TRITONBACKEND_Initialize", &initialize);
  Find(library_, "TRITONBACKEND_GetBackendAttribute", &get_attribute);
  Find(library_, "TRITONBACKEND_ModelInitialize", &model_initialize);
  Find(library_, "TRITONBACKEND_ModelFinalize", &model_finalize);
  Find(library_, "TRITONBACKEND_ModelInstanceInitialize", &instance_initialize);
  Find(library_, "TRITONBACKEND_ModelInstanceFinalize", &instance_finalize);
  Find(library_, "TRITONBACKEND_ModelInstanceReady", &instance_ready);
  Find(library_, "TRITONBACKEND_ModelInstanceExecute", &execute);
}

LoadedBackend::~LoadedBackend() { dlclose(library_); }

std::string Taken(TRITONSERVER_Error* error) {
  if (error == nullptr) return {};
  std::string message = error->message;
  TRITONSERVER_ErrorDelete(error);
  return message;
}

}  // namespace relayvm::triton

namespace {

using relayvm::triton::mutex;

// For calls that tests make fail.
TRITONSERVER_Error* Asked(const char* call) {
  if (!HostWorld::Get().fails.contains(call)) return nullptr;
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "made to fail");
}

}  // namespace

#define FAIL_IF_ASKED \
  if (TRITONSERVER_Error* const asked = Asked(__func__)) return asked

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* message) {
  ++HostWorld::Get().errors;
  return new TRITONSERVER_Error{code, message};
}
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) {
  --HostWorld::Get().errors;
  delete error;
}
TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error) { return error->code; }
const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) { return error->message.c_str(); }

TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel /*level*/, const char* /*file*/,
                                            const int /*line*/, const char* message) {
  const std::lock_guard lock(mutex);
  HostWorld::Get().log.emplace_back(message);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message,
                                                              const char* base, size_t size) {
  FAIL_IF_ASKED;
  ++HostWorld::Get().messages;
  *message = new TRITONSERVER_Message{std::string(base, size)};
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                        const char** base, size_t* size) {
  FAIL_IF_ASKED;
  *base = message->json.data();
  *size = message->json.size();
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) {
  --HostWorld::Get().messages;
  delete message;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = TRITONBACKEND_API_VERSION_MAJOR;
  *minor = HostWorld::Get().minor;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* /*attributes*/, const TRITONSERVER_InstanceGroupKind kind,
    const uint64_t /*count*/, const uint64_t* /*device_ids*/, const uint64_t /*id_count*/) {
  HostWorld::Get().preferred_cpu += kind == TRITONSERVER_INSTANCEGROUPKIND_CPU ? 1 : 0;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* /*attributes*/, bool enabled) {
  HostWorld::Get().parallel_loading += enabled ? 1 : 0;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name) {
  *name = model->name.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* /*model*/, uint64_t* version) {
  *version = 1;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model,
                                                  TRITONBACKEND_ArtifactType* artifact_type,
                                                  const char** location) {
  *artifact_type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = model->repository.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model,
                                              const uint32_t /*config_version*/,
                                              TRITONSERVER_Message** model_config) {
  FAIL_IF_ASKED;
  const std::string text = model->config.dump();
  return TRITONSERVER_MessageNewFromSerializedJson(model_config, text.data(), text.size());
}
TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* model,
                                                          bool* auto_complete_config) {
  *auto_complete_config = model->auto_complete;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model,
                                                 const uint32_t /*config_version*/,
                                                 TRITONSERVER_Message* model_config) {
  FAIL_IF_ASKED;
  model->config = nlohmann::json::parse(model_config->json);
  ++model->times_set;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model, void** state) {
  *state = model->state;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model, void* state) {
  FAIL_IF_ASKED;
  model->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance* instance,
                                                    TRITONSERVER_InstanceGroupKind* kind) {
  *kind = instance->kind;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                     TRITONBACKEND_Model** model) {
  *model = instance->model;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance,
                                                     void** state) {
  *state = instance->state;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance,
                                                        void* state) {
  FAIL_IF_ASKED;
  instance->state = state;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, const bool success,
    const uint64_t exec_start_ns, const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t exec_end_ns) {
  const bool in_order = exec_start_ns > 0 && exec_start_ns <= compute_start_ns &&
                        compute_start_ns <= compute_end_ns && compute_end_ns <= exec_end_ns;
  if (request->releases > 0 || (success && !in_order)) ++instance->statistics.bad_times;
  const std::lock_guard lock(mutex);
  instance->statistics.requests.push_back(success);
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, const uint64_t batch_size, const uint64_t exec_start_ns,
    const uint64_t compute_start_ns, const uint64_t compute_end_ns, const uint64_t exec_end_ns) {
  if (exec_start_ns > compute_start_ns || compute_start_ns > compute_end_ns ||
      compute_end_ns > exec_end_ns) {
    ++instance->statistics.bad_times;
  }
  const std::lock_guard lock(mutex);
  instance->statistics.batches.push_back(batch_size);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request,
                                                    uint32_t* count) {
  *count = static_cast<uint32_t>(request->inputs.size());
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      const uint32_t index,
                                                      TRITONBACKEND_Input** input) {
  FAIL_IF_ASKED;
  *input = &request->inputs.at(index);
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     uint32_t* count) {
  *count = static_cast<uint32_t>(request->outputs.size());
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request,
                                                    const uint32_t index,
                                                    const char** output_name) {
  *output_name = request->outputs.at(index).c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request,
                                                     bool* is_cancelled) {
  *is_cancelled = request->is_cancelled;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout) {
  *timeout = request->timeout_us;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request,
                                                 uint32_t /*release_flags*/) {
  ++request->releases;
  request->inputs.clear();  // nobody reads them from here on: ASan would see it
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  TRITONSERVER_DataType* datatype,
                                                  const int64_t** shape, uint32_t* dims_count,
                                                  uint64_t* byte_size, uint32_t* buffer_count) {
  *name = input->tensor.name.c_str();
  *datatype = input->tensor.type;
  *shape = input->tensor.dims.data();
  *dims_count = static_cast<uint32_t>(input->tensor.dims.size());
  *byte_size = 0;
  for (const std::string& piece : input->tensor.pieces) *byte_size += piece.size();
  *buffer_count = static_cast<uint32_t>(input->tensor.pieces.size());
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, const uint32_t index,
                                              const void** buffer, uint64_t* buffer_byte_size,
                                              TRITONSERVER_MemoryType* memory_type,
                                              int64_t* memory_type_id) {
  FAIL_IF_ASKED;
  *buffer = input->tensor.pieces.at(index).data();
  *buffer_byte_size = input->tensor.pieces.at(index).size();
  *memory_type = input->tensor.memory;
  *memory_type_id = 0;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request) {
  FAIL_IF_ASKED;
  ++HostWorld::Get().responses;
  *response = new TRITONBACKEND_Response{request, {}};
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 const TRITONSERVER_DataType datatype,
                                                 const int64_t* shape, const uint32_t dims_count) {
  FAIL_IF_ASKED;
  response->outputs.push_back(std::make_unique<TRITONBACKEND_Output>());
  *output = response->outputs.back().get();
  (*output)->tensor = {name, datatype, {shape, shape + dims_count}, {}, TRITONSERVER_MEMORY_CPU};
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               const uint64_t buffer_byte_size,
                                               TRITONSERVER_MemoryType* memory_type,
                                               int64_t* memory_type_id) {
  FAIL_IF_ASKED;
  *memory_type = TRITONSERVER_MEMORY_CPU;
  *memory_type_id = 0;
  output->bytes = buffer_byte_size;
  output->buffer = std::make_unique<char[]>(buffer_byte_size);
  *buffer = output->buffer.get();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response,
                                               const uint32_t /*send_flags*/,
                                               TRITONSERVER_Error* error) {
  HostAnswer answer;
  if (error != nullptr) {
    answer.code = error->code;
    answer.message = error->message;
  } else {
    for (const auto& output : response->outputs) {
      output->tensor.pieces = {std::string(output->buffer.get(), output->bytes)};
      answer.outputs.push_back(output->tensor);
    }
  }
  {
    const std::lock_guard lock(mutex);
    response->request->answers.push_back(std::move(answer));
  }
  --HostWorld::Get().responses;
  delete response;
  return nullptr;
}

}  // extern "C"

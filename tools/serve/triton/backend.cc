// The functions of libtriton_relayvm.so that Triton calls. No exception leaves them.
#include <fmt/format.h>

#include <exception>
#include <memory>

#include "tools/serve/triton/execute.h"
#include "tools/serve/triton/served_model.h"
#include "tools/serve/triton/triton_abi.h"
#include "tools/serve/triton/triton_error.h"

namespace relayvm::triton {
namespace {

template <typename Body>
TRITONSERVER_Error* Guarded(const Body& body) {
  try {
    return ToError(body());
  } catch (const std::bad_alloc&) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "out of memory");
  } catch (const std::exception& e) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, e.what());
  }
}

Status CheckVersion() {
  uint32_t major = 0;
  uint32_t minor = 0;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ApiVersion, &major, &minor);
  if (major == TRITONBACKEND_API_VERSION_MAJOR && minor >= 10) return OkStatus();
  return {
      StatusCode::kUnsupported,
      fmt::format("expected Triton's backend interface 1.10 or later, found {}.{}", major, minor)};
}

Status InitializeModel(TRITONBACKEND_Model* model) {
  RELAYVM_ASSIGN_OR_RETURN(std::unique_ptr<ServedModel> served, ServedModel::Load(model));
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelSetState, model, served.get());
  served.release();  // NOLINT(bugprone-unused-return-value): the server keeps it
  return OkStatus();
}

Status FinalizeModel(TRITONBACKEND_Model* model) {
  void* state = nullptr;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelState, model, &state);
  delete static_cast<ServedModel*>(state);
  return FromError(TRITONBACKEND_ModelSetState(model, nullptr), "TRITONBACKEND_ModelSetState");
}

Status InitializeInstance(TRITONBACKEND_ModelInstance* instance) {
  TRITONBACKEND_Model* model = nullptr;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelInstanceModel, instance, &model);
  void* state = nullptr;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelState, model, &state);
  if (state == nullptr) return {StatusCode::kInternal, "the model is not initialised"};
  RELAYVM_ASSIGN_OR_RETURN(
      std::unique_ptr<ServedInstance> served,
      ServedInstance::Create(instance, static_cast<const ServedModel*>(state)));
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelInstanceSetState, instance, served.get());
  served.release();  // NOLINT(bugprone-unused-return-value): the server keeps it
  return OkStatus();
}

Result<ServedInstance*> InstanceOf(TRITONBACKEND_ModelInstance* instance) {
  void* state = nullptr;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelInstanceState, instance, &state);
  if (state == nullptr) return Status(StatusCode::kInternal, "the instance is not initialised");
  return static_cast<ServedInstance*>(state);
}

Status FinalizeInstance(TRITONBACKEND_ModelInstance* instance) {
  void* state = nullptr;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelInstanceState, instance, &state);
  delete static_cast<ServedInstance*>(state);
  return FromError(TRITONBACKEND_ModelInstanceSetState(instance, nullptr),
                   "TRITONBACKEND_ModelInstanceSetState");
}

}  // namespace
}  // namespace relayvm::triton

using namespace relayvm;          // NOLINT(google-build-using-namespace)
using namespace relayvm::triton;  // NOLINT(google-build-using-namespace)

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* /*backend*/) {
  return Guarded([] { return CheckVersion(); });
}

// Instances are the CPU's, as many as Triton makes where the configuration says nothing.
TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(TRITONBACKEND_Backend* /*backend*/,
                                                      TRITONBACKEND_BackendAttribute* attributes) {
  return Guarded([&]() -> Status {
    RELAYVM_TRITON_CALL(TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup, attributes,
                        TRITONSERVER_INSTANCEGROUPKIND_CPU, 0, nullptr, 0);
    RELAYVM_TRITON_CALL(TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading, attributes,
                        true);
    return OkStatus();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return Guarded([&] { return InitializeModel(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guarded([&] { return FinalizeModel(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guarded([&] { return InitializeInstance(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guarded([&] { return FinalizeInstance(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(TRITONBACKEND_ModelInstance* instance) {
  return Guarded([&]() -> Status {
    RELAYVM_ASSIGN_OR_RETURN(const ServedInstance* served, InstanceOf(instance));
    return served->CheckReady();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return Guarded([&]() -> Status {
    RELAYVM_ASSIGN_OR_RETURN(ServedInstance* const served, InstanceOf(instance));
    Execute(instance, served, {requests, request_count});
    return OkStatus();
  });
}

}  // extern "C"

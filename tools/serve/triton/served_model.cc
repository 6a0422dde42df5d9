#include "tools/serve/triton/served_model.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "tools/serve/triton/triton_error.h"

namespace relayvm::triton {
namespace {

using Json = nlohmann::json;

Result<Json> ReadConfig(TRITONBACKEND_Model* model) {
  TRITONSERVER_Message* message = nullptr;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelConfig, model, 1, &message);
  const char* base = nullptr;
  size_t size = 0;
  Status status = FromError(TRITONSERVER_MessageSerializeToJson(message, &base, &size),
                            "TRITONSERVER_MessageSerializeToJson");
  Json config;
  if (status.ok()) {
    config = Json::parse(std::string_view(base, size), nullptr, false);
    if (!config.is_object())
      status = Status(StatusCode::kInvalidArgument, "the configuration is no JSON object");
  }
  Status deleted = FromError(TRITONSERVER_MessageDelete(message), "TRITONSERVER_MessageDelete");
  RELAYVM_RETURN_IF_ERROR(std::move(status));
  RELAYVM_RETURN_IF_ERROR(std::move(deleted));
  return config;
}

Status SetConfig(TRITONBACKEND_Model* model, const Json& config) {
  const std::string text = config.dump();
  TRITONSERVER_Message* message = nullptr;
  RELAYVM_TRITON_CALL(TRITONSERVER_MessageNewFromSerializedJson, &message, text.data(),
                      text.size());
  Status status =
      FromError(TRITONBACKEND_ModelSetConfig(model, 1, message), "TRITONBACKEND_ModelSetConfig");
  Status deleted = FromError(TRITONSERVER_MessageDelete(message), "TRITONSERVER_MessageDelete");
  return status.ok() ? deleted : status;
}

Result<std::string> VersionFolder(TRITONBACKEND_Model* model) {
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* location = nullptr;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelRepository, model, &type, &location);
  if (type != TRITONBACKEND_ARTIFACT_FILESYSTEM)
    return Status(StatusCode::kUnsupported, "the model is not in a file system");
  uint64_t version = 0;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelVersion, model, &version);
  return fmt::format("{}/{}", location, version);
}

}  // namespace

Status ServedModel::Open(const std::string& version_folder) {
  std::string path = fmt::format("{}/{}", version_folder, options_.file);
  if (options_.file.empty() || options_.file == "model.relayvm") {
    path = version_folder + "/model.relayvm";
    if (std::error_code error; !std::filesystem::exists(path, error))
      path = version_folder + "/model.vmx";
  }
  std::vector<EngineLibrary> engines;
  for (const std::string& name : options_.engines) engines.push_back({.name = name});
  LoadOptions load;
  load.engines = engines;
  load.notice = [](const std::string& notice) { Log(TRITONSERVER_LOG_WARN, notice); };
  RELAYVM_ASSIGN_OR_RETURN(executable_, Executable::Load(path, load));
  RELAYVM_ASSIGN_OR_RETURN(function_, executable_->info().FindFunction(options_.function));
  RELAYVM_RETURN_IF_ERROR(CheckServable(*function_));
  RELAYVM_ASSIGN_OR_RETURN(runtime_, Runtime::Create({.num_threads = options_.threads}));
  return OkStatus();
}

Status ServedModel::Agree(TRITONBACKEND_Model* model, Json config) {
  if (options_.max_batch_size > 0) RELAYVM_RETURN_IF_ERROR(CheckRows(*function_));
  bool completes = false;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelAutoCompleteConfig, model, &completes);
  if (completes && CompleteConfig(*function_, &config)) {
    RELAYVM_RETURN_IF_ERROR(SetConfig(model, config));
    RELAYVM_ASSIGN_OR_RETURN(config, ReadConfig(model));
  }
  return CheckConfig(*function_, config);
}

Result<std::unique_ptr<ServedModel>> ServedModel::Load(TRITONBACKEND_Model* model) {
  std::unique_ptr<ServedModel> served(new ServedModel);
  RELAYVM_ASSIGN_OR_RETURN(Json config, ReadConfig(model));
  RELAYVM_ASSIGN_OR_RETURN(served->options_, ReadOptions(config));
  RELAYVM_ASSIGN_OR_RETURN(const std::string folder, VersionFolder(model));
  RELAYVM_RETURN_IF_ERROR(served->Open(folder));
  RELAYVM_RETURN_IF_ERROR(served->Agree(model, std::move(config)));
  return served;
}

Result<std::unique_ptr<ServedInstance>> ServedInstance::Create(
    TRITONBACKEND_ModelInstance* instance, const ServedModel* model) {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
  RELAYVM_TRITON_CALL(TRITONBACKEND_ModelInstanceKind, instance, &kind);
  if (kind == TRITONSERVER_INSTANCEGROUPKIND_GPU) {
    return Status(StatusCode::kUnsupported,
                  "it runs on CPUs: the configuration needs instance_group [{ kind: KIND_CPU }]");
  }
  InvocationOptions options;
  if (model->options().memory_limit > 0) options.memory_limit = model->options().memory_limit;
  auto served = std::make_unique<ServedInstance>(ServedInstance{model, nullptr});
  RELAYVM_ASSIGN_OR_RETURN(served->invocation,
                           Invocation::Create(model->runtime(), model->executable(), options));
  return served;
}

Status ServedInstance::CheckReady() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return model->executable()->CheckFile(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace relayvm::triton

#include "tools/serve/grpc/service.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "tools/serve/grpc/health.pb.h"
#include "tools/serve/grpc/inference.pb.h"
#include "tools/serve/grpc/message.h"
#include "tools/serve/routes.h"

namespace relayvm::serve {
namespace {

// By GrpcMethod.
constexpr std::string_view kService = "inference.GRPCInferenceService";
constexpr std::string_view kHealth = "grpc.health.v1.Health";
constexpr std::array<std::string_view, 14> kMethods = {"ServerLive",
                                                       "ServerReady",
                                                       "ModelReady",
                                                       "ServerMetadata",
                                                       "ModelMetadata",
                                                       "ModelInfer",
                                                       "ModelStreamInfer",
                                                       "ModelConfig",
                                                       "ModelStatistics",
                                                       "RepositoryIndex",
                                                       "RepositoryModelLoad",
                                                       "RepositoryModelUnload",
                                                       "Check",
                                                       "Watch"};
static_assert(static_cast<size_t>(GrpcMethod::kHealthWatch) + 1 == kMethods.size());

// A status is metadata, of which clients take 8 KiB; percent-encoding makes 3 bytes of one.
constexpr size_t kMaxText = 2000;

template <typename Spec, typename Described>
void Describe(const Spec& spec, Described* described) {
  described->set_name(spec.name);
  if (spec.dtype) described->set_datatype(std::string(DatatypeName(*spec.dtype)));
  for (const int64_t dim : spec.dims) described->add_shape(dim);
}

inference::DataType ConfigType(std::optional<DType> dtype) {
  if (!dtype) return inference::TYPE_INVALID;
  if (*dtype == DType::kString) return inference::TYPE_STRING;
  inference::DataType type = inference::TYPE_INVALID;
  inference::DataType_Parse("TYPE_" + std::string(DatatypeName(*dtype)), &type);
  return type;
}

template <typename Described>
void Configure(const TensorSpec& spec, Described* described) {
  described->set_name(spec.name);
  described->set_data_type(ConfigType(spec.dtype));
  for (const int64_t dim : spec.dims) described->add_dims(dim);
}

void SetDuration(uint64_t count, int64_t ns, inference::StatisticDuration* duration) {
  duration->set_count(count);
  duration->set_ns(static_cast<uint64_t>(ns));
}

void AddStatistics(const ServedModel& model, inference::ModelStatisticsResponse* answer) {
  const ModelMetrics& metrics = model.metrics();
  const uint64_t good = metrics.answers(200), runs = metrics.runs.value();
  uint64_t bad = 0;
  for (const int code : ModelMetrics::kCodes) bad += code == 200 ? 0 : metrics.answers(code);
  const int64_t queued = metrics.queued.sum_ns(), ran = metrics.ran.sum_ns();
  inference::ModelStatistics* one = answer->add_model_stats();
  one->set_name(model.name());
  one->set_version(model.version());
  one->set_inference_count(good);
  one->set_execution_count(runs);
  inference::InferStatistics* times = one->mutable_inference_stats();
  SetDuration(good, queued + ran, times->mutable_success());
  SetDuration(bad, 0, times->mutable_fail());
  SetDuration(runs, queued, times->mutable_queue());
  SetDuration(runs, ran, times->mutable_compute_infer());
  for (const auto& [size, of_size] : metrics.batch_times()) {
    inference::InferBatchStatistics* batch = one->add_batch_stats();
    batch->set_batch_size(size);
    SetDuration(of_size.count, of_size.ns, batch->mutable_compute_infer());
  }
}

// Of a load or unload.
template <typename Request>
Result<std::string> ModelNameOf(const grpc::ByteBuffer& bytes) {
  Request request;
  RELAYVM_RETURN_IF_ERROR(ParseMessage(bytes, &request));
  std::string name =
      request.model_name().empty() ? request.repository_name() : request.model_name();
  if (name.empty()) return Status(StatusCode::kInvalidArgument, "the request names no model");
  return name;
}

grpc::StatusCode GrpcCodeOf(int http_code) {
  switch (http_code) {
    case 200:
      return grpc::StatusCode::OK;
    case 400:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case 401:
      return grpc::StatusCode::UNAUTHENTICATED;
    case 404:
      return grpc::StatusCode::NOT_FOUND;
    case 409:
      return grpc::StatusCode::ALREADY_EXISTS;
    case 413:
    case 429:
    case 503:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case 499:
      return grpc::StatusCode::CANCELLED;
    case 501:
      return grpc::StatusCode::UNIMPLEMENTED;
    case 504:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    default:
      return grpc::StatusCode::INTERNAL;
  }
}

grpc::Status StatusWith(grpc::StatusCode code, std::string_view text) {
  if (text.size() <= kMaxText) return {code, std::string(text)};
  // Not within a character of UTF-8.
  size_t end = kMaxText;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return {code, std::string(text.substr(0, end)) + "..."};
}

}  // namespace

std::optional<GrpcMethod> FindGrpcMethod(std::string_view path) {
  const size_t end = path.rfind('/');
  if (end == std::string_view::npos || !path.starts_with('/') || end == 0) return std::nullopt;
  const std::string_view service = path.substr(1, end - 1), name = path.substr(end + 1);
  for (size_t i = 0; i < kMethods.size(); ++i) {
    const auto method = static_cast<GrpcMethod>(i);
    if (kMethods[i] == name)
      return service == (method < GrpcMethod::kHealthCheck ? kService : kHealth)
                 ? std::optional(method)
                 : std::nullopt;
  }
  return std::nullopt;
}

GrpcFailure GrpcFailure::Of(const Status& status) {
  return Of(HttpCodeOf(status), status.message());
}

GrpcFailure GrpcFailure::Of(int http_code, std::string_view text) {
  return {http_code, StatusWith(GrpcCodeOf(http_code), text)};
}

GrpcFailure GrpcFailure::Busy(std::string_view text) {
  return {409, StatusWith(grpc::StatusCode::ABORTED, text)};
}

GrpcFailure GrpcFailure::Draining() {
  return {503, {grpc::StatusCode::UNAVAILABLE, "the server ends"}};
}

grpc::ByteBuffer WriteHealth(HealthStatus status) {
  using Answer = grpc::health::v1::HealthCheckResponse;
  Answer answer;
  answer.set_status(static_cast<Answer::ServingStatus>(status));
  return WriteMessage(answer);
}

void GrpcService::Handle(GrpcMethod method, const grpc::ByteBuffer& request, const Done& done) {
  if (method == GrpcMethod::kRepositoryModelLoad) return Load(request, done);
  if (method == GrpcMethod::kRepositoryModelUnload) return Unload(request, done);
  done(Answer(method, request));
}

Result<grpc::ByteBuffer> GrpcService::Answer(GrpcMethod method,
                                             const grpc::ByteBuffer& request) const {
  switch (method) {
    case GrpcMethod::kServerLive: {
      inference::ServerLiveResponse answer;
      answer.set_live(true);
      return WriteMessage(answer);
    }
    case GrpcMethod::kServerReady: {
      inference::ServerReadyResponse answer;
      answer.set_ready(!draining_ && repository_.is_loaded());
      return WriteMessage(answer);
    }
    case GrpcMethod::kServerMetadata: {
      inference::ServerMetadataResponse answer;
      answer.set_name("relayvm");
      answer.set_version(RELAYVM_VERSION);
      for (const char* extension : {"model_repository", "model_configuration", "statistics"})
        answer.add_extensions(extension);
      return WriteMessage(answer);
    }
    case GrpcMethod::kModelReady:
      return ModelReady(request);
    case GrpcMethod::kModelMetadata:
      return ModelMetadata(request);
    case GrpcMethod::kModelConfig:
      return ModelConfig(request);
    case GrpcMethod::kModelStatistics:
      return ModelStatistics(request);
    case GrpcMethod::kRepositoryIndex:
      return RepositoryIndex(request);
    case GrpcMethod::kHealthCheck:
      return HealthCheck(request);
    case GrpcMethod::kHealthWatch:
    case GrpcMethod::kModelInfer:
    case GrpcMethod::kModelStreamInfer:
    case GrpcMethod::kRepositoryModelLoad:
    case GrpcMethod::kRepositoryModelUnload:
      break;
  }
  return Status(StatusCode::kInternal, "no such method here");
}

Result<HealthStatus> GrpcService::Health(const grpc::ByteBuffer& bytes) const {
  grpc::health::v1::HealthCheckRequest request;
  RELAYVM_RETURN_IF_ERROR(ParseMessage(bytes, &request));
  if (!request.service().empty() && request.service() != kService)
    return HealthStatus::kServiceUnknown;
  return !draining_ && repository_.is_loaded() ? HealthStatus::kServing : HealthStatus::kNotServing;
}

Result<grpc::ByteBuffer> GrpcService::HealthCheck(const grpc::ByteBuffer& request) const {
  RELAYVM_ASSIGN_OR_RETURN(const HealthStatus status, Health(request));
  if (status == HealthStatus::kServiceUnknown)
    return Status(StatusCode::kNotFound, fmt::format("there is no service but {}", kService));
  return WriteHealth(status);
}

Result<grpc::ByteBuffer> GrpcService::ModelReady(const grpc::ByteBuffer& bytes) const {
  inference::ModelReadyRequest request;
  RELAYVM_RETURN_IF_ERROR(ParseMessage(bytes, &request));
  inference::ModelReadyResponse answer;
  answer.set_ready(repository_.Find(request.name(), request.version()).ok());
  return WriteMessage(answer);
}

Result<grpc::ByteBuffer> GrpcService::ModelMetadata(const grpc::ByteBuffer& bytes) const {
  inference::ModelMetadataRequest request;
  RELAYVM_RETURN_IF_ERROR(ParseMessage(bytes, &request));
  RELAYVM_ASSIGN_OR_RETURN(const auto model, repository_.Find(request.name(), request.version()));
  inference::ModelMetadataResponse answer;
  answer.set_name(model->name());
  for (const std::string& version : repository_.VersionsOf(model->name()))
    answer.add_versions(version);
  answer.set_platform("relayvm_vmx");
  for (const TensorSpec& input : model->inputs()) Describe(input, answer.add_inputs());
  for (const TensorSpec& output : model->outputs()) Describe(output, answer.add_outputs());
  return WriteMessage(answer);
}

Result<grpc::ByteBuffer> GrpcService::ModelConfig(const grpc::ByteBuffer& bytes) const {
  inference::ModelConfigRequest request;
  RELAYVM_RETURN_IF_ERROR(ParseMessage(bytes, &request));
  RELAYVM_ASSIGN_OR_RETURN(const auto model, repository_.Find(request.name(), request.version()));
  inference::ModelConfigResponse answer;
  inference::ModelConfig* config = answer.mutable_config();
  config->set_name(model->name());
  config->set_platform("relayvm_vmx");
  config->set_backend("relayvm");
  for (const TensorSpec& input : model->inputs()) {
    inference::ModelInput* described = config->add_input();
    Configure(input, described);
    described->set_optional(input.is_optional);
  }
  for (const TensorSpec& output : model->outputs()) Configure(output, config->add_output());
  return WriteMessage(answer);
}

Result<grpc::ByteBuffer> GrpcService::ModelStatistics(const grpc::ByteBuffer& bytes) const {
  inference::ModelStatisticsRequest request;
  RELAYVM_RETURN_IF_ERROR(ParseMessage(bytes, &request));
  inference::ModelStatisticsResponse answer;
  if (!request.name().empty())
    RELAYVM_RETURN_IF_ERROR(repository_.Find(request.name(), request.version()).status());
  for (const auto& model : repository_.Served(request.name(), request.version()))
    AddStatistics(*model, &answer);
  return WriteMessage(answer);
}

Result<grpc::ByteBuffer> GrpcService::RepositoryIndex(const grpc::ByteBuffer& bytes) const {
  inference::RepositoryIndexRequest request;
  RELAYVM_RETURN_IF_ERROR(ParseMessage(bytes, &request));
  inference::RepositoryIndexResponse answer;
  for (IndexEntry& entry : repository_.Index()) {
    if (request.ready() && !entry.is_ready) continue;
    auto* model = answer.add_models();
    model->set_name(std::move(entry.name));
    model->set_version(std::move(entry.version));
    model->set_state(std::string(entry.state()));
    model->set_reason(std::move(entry.reason));
  }
  return WriteMessage(answer);
}

void GrpcService::Load(const grpc::ByteBuffer& request, const Done& done) {
  const auto name = ModelNameOf<inference::RepositoryModelLoadRequest>(request);
  if (!name.ok()) return done(name.status());
  repository_.Load(*name, [done, name = *name](const Status& status) {
    if (!status.ok()) return done(status);
    inference::RepositoryModelLoadResponse answer;
    answer.set_model_name(name);
    answer.set_is_loaded(true);
    done(WriteMessage(answer));
  });
}

void GrpcService::Unload(const grpc::ByteBuffer& request, const Done& done) {
  const auto name = ModelNameOf<inference::RepositoryModelUnloadRequest>(request);
  if (!name.ok()) return done(name.status());
  repository_.Unload(*name, [done, name = *name](const Status& status) {
    if (!status.ok()) return done(status);
    inference::RepositoryModelUnloadResponse answer;
    answer.set_model_name(name);
    answer.set_is_unloaded(true);
    done(WriteMessage(answer));
  });
}

}  // namespace relayvm::serve

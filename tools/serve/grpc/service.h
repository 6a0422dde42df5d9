// What the methods of GRPCInferenceService answer but for inference, and which failure is which
// status. Thread-safe. Tested by grpc_server_test.cc.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string_view>

#include "bytecode/base/status.h"
#include "tools/serve/repository.h"

namespace relayvm::serve {

enum class GrpcMethod : uint8_t {
  kServerLive,
  kServerReady,
  kModelReady,
  kServerMetadata,
  kModelMetadata,
  kModelInfer,
  kModelStreamInfer,
  kModelConfig,
  kModelStatistics,
  kRepositoryIndex,
  kRepositoryModelLoad,
  kRepositoryModelUnload,
  kHealthCheck,  // of grpc.health.v1
  kHealthWatch,
};
// By its path: "/inference.GRPCInferenceService/ServerLive", "/grpc.health.v1.Health/Check".
std::optional<GrpcMethod> FindGrpcMethod(std::string_view path);

// How a failure is told: by REST's code, which counts and logs have, and by gRPC's, with a message
// that is cut where it is longer than what clients take.
//
//   400 INVALID_ARGUMENT      401 UNAUTHENTICATED     404 NOT_FOUND    409 ALREADY_EXISTS, ABORTED
//   413 RESOURCE_EXHAUSTED    429 RESOURCE_EXHAUSTED  499 CANCELLED    500 INTERNAL
//   503 RESOURCE_EXHAUSTED, UNAVAILABLE               501 UNIMPLEMENTED    504 DEADLINE_EXCEEDED
struct GrpcFailure {
  // ALREADY_EXISTS: a sequence that has begun before; RESOURCE_EXHAUSTED where something is full.
  static GrpcFailure Of(const Status& status);
  static GrpcFailure Of(int http_code, std::string_view text);
  // A model is being loaded or unloaded: ABORTED, as what can be tried again.
  static GrpcFailure Busy(std::string_view text);
  static GrpcFailure Draining();

  // Whether the same request may do better before long.
  bool is_passing() const { return http_code == 503 || http_code == 429; }

  int http_code;
  grpc::Status status;
};

// As grpc.health.v1 numbers it.
enum class HealthStatus : uint8_t { kServing = 1, kNotServing = 2, kServiceUnknown = 3 };
grpc::ByteBuffer WriteHealth(HealthStatus status);

class GrpcService {
 public:
  using Done = std::function<void(Result<grpc::ByteBuffer>)>;

  explicit GrpcService(Repository& repository) : repository_(repository) {}

  // REQUIRES: neither an inference nor kHealthWatch. `done` is called once, before this returns or
  // on the repository's thread.
  void Handle(GrpcMethod method, const grpc::ByteBuffer& request, const Done& done);
  // What kHealthWatch tells of the service that `request` names; kInvalidArgument.
  Result<HealthStatus> Health(const grpc::ByteBuffer& request) const;
  void SetDraining() { draining_ = true; }
  bool draining() const { return draining_; }

 private:
  Result<grpc::ByteBuffer> Answer(GrpcMethod method, const grpc::ByteBuffer& request) const;
  Result<grpc::ByteBuffer> HealthCheck(const grpc::ByteBuffer& request) const;
  Result<grpc::ByteBuffer> ModelReady(const grpc::ByteBuffer& request) const;
  Result<grpc::ByteBuffer> ModelMetadata(const grpc::ByteBuffer& request) const;
  Result<grpc::ByteBuffer> ModelConfig(const grpc::ByteBuffer& request) const;
  Result<grpc::ByteBuffer> ModelStatistics(const grpc::ByteBuffer& request) const;
  Result<grpc::ByteBuffer> RepositoryIndex(const grpc::ByteBuffer& request) const;
  void Load(const grpc::ByteBuffer& request, const Done& done);
  void Unload(const grpc::ByteBuffer& request, const Done& done);

  Repository& repository_;
  std::atomic<bool> draining_{false};
};

}  // namespace relayvm::serve

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
};
// By its path: "/inference.GRPCInferenceService/ServerLive".
std::optional<GrpcMethod> FindGrpcMethod(std::string_view path);

// INVALID_ARGUMENT for what the request is wrong in, NOT_FOUND, RESOURCE_EXHAUSTED (too much at
// once), DEADLINE_EXCEEDED, CANCELLED, INTERNAL; with the message, which is cut where it is longer
// than what clients take.
grpc::Status GrpcStatusOf(const Status& status);
grpc::Status GrpcStatusOf(grpc::StatusCode code, std::string_view text);

class GrpcService {
 public:
  using Done = std::function<void(Result<grpc::ByteBuffer>)>;

  explicit GrpcService(Repository& repository) : repository_(repository) {}

  // REQUIRES: no inference. `done` is called once, before this returns or on the repository's
  // thread.
  void Handle(GrpcMethod method, const grpc::ByteBuffer& request, const Done& done);
  void SetDraining() { draining_ = true; }
  bool draining() const { return draining_; }

 private:
  Result<grpc::ByteBuffer> Answer(GrpcMethod method, const grpc::ByteBuffer& request) const;
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

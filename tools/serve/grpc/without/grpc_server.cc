// GrpcServer where there is no gRPC to build with: it says so.
#include "tools/serve/grpc/grpc_server.h"

namespace relayvm::serve {

struct GrpcServer::Impl {};

GrpcServer::GrpcServer(const GrpcOptions&, Repository&, Dispatcher&) {}
GrpcServer::~GrpcServer() = default;
Result<uint16_t> GrpcServer::Start(const std::string&, uint16_t) {
  return Status(StatusCode::kUnsupported, "this vmserve was built without gRPC");
}
void GrpcServer::SetReady() {}
void GrpcServer::SetDraining() {}
void GrpcServer::Drain(std::chrono::steady_clock::time_point) {}
GrpcStats GrpcServer::stats() const { return {}; }

}  // namespace relayvm::serve

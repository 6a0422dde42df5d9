#include "tools/serve/grpc/grpc_server.h"

#include <absl/synchronization/mutex.h>
#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>

#include "tools/serve/grpc/call.h"
#include "tools/serve/grpc/listener.h"

namespace relayvm::serve {

using Clock = std::chrono::steady_clock;

namespace {

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file || text.empty()) return Status(StatusCode::kInvalidInput, path + ": it cannot be read");
  return text;
}

Result<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(const GrpcOptions& options) {
  if (options.certificate_file.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions::PemKeyCertPair pair;
  RELAYVM_ASSIGN_OR_RETURN(pair.private_key, ReadFile(options.key_file));
  RELAYVM_ASSIGN_OR_RETURN(pair.cert_chain, ReadFile(options.certificate_file));
  grpc::SslServerCredentialsOptions tls;  // asks clients for no certificate
  tls.pem_key_cert_pairs.push_back(std::move(pair));
  return grpc::SslServerCredentials(tls);
}

}  // namespace

struct GrpcServer::Impl {
  Impl(const GrpcOptions& options, Repository& repository, Dispatcher& dispatcher)
      : shared(std::make_shared<CallEnvironment>(options, repository, dispatcher)) {}

  void TellHealth() const {
    for (const auto& call : environment.calls.All()) call->TellHealth();
  }
  void SetLimits(grpc::ServerBuilder& builder) const;
  void Watch();
  void StopWatching();

  const std::shared_ptr<CallEnvironment> shared;
  CallEnvironment& environment = *shared;
  CallQueues queues{[this](ServerCall& call) { return Call::Begin(shared, call); }};
  std::unique_ptr<Listener> listener;
  std::unique_ptr<grpc::Server> server;
  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  std::thread watcher;
};

void GrpcServer::Impl::SetLimits(grpc::ServerBuilder& builder) const {
  const GrpcOptions& options = environment.options;
  const auto as_int = [](size_t number) {
    return static_cast<int>(std::min<size_t>(number, INT32_MAX));
  };
  const auto set = [&](const char* name, int64_t value) {
    builder.AddChannelArgument(name, as_int(static_cast<size_t>(value)));
  };
  builder.SetMaxReceiveMessageSize(as_int(options.max_message_bytes));
  builder.SetMaxSendMessageSize(-1);
  // What gRPC's own makes of a message has no bound: calls do it.
  set(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // What gRPC itself holds: buffers of connections, messages that are half received.
  grpc::ResourceQuota quota("vmserve");
  quota.Resize(options.max_all_messages + options.max_message_bytes);
  builder.SetResourceQuota(quota);
  set(GRPC_ARG_MAX_METADATA_SIZE, static_cast<int64_t>(options.max_metadata_bytes));
  set(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_streams);
  set(GRPC_ARG_MAX_CONNECTION_IDLE_MS, options.idle_time.count());
  set(GRPC_ARG_KEEPALIVE_TIME_MS, options.keep_alive.count());
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, options.transfer_time.count());
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, options.transfer_time.count());
  // Pings of clients: one in 10 s is as often as anybody needs, and the third too many ends it.
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  set(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2);
}

// Ends calls whose clients take too long.
void GrpcServer::Impl::Watch() {
  const auto period =
      std::clamp<std::chrono::milliseconds>(environment.options.transfer_time / 10,
                                            std::chrono::milliseconds(10), std::chrono::seconds(1));
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, period, [this] { return stopping; })) {
    lock.unlock();
    const Clock::time_point now = Clock::now();
    for (const auto& call : environment.calls.All()) call->EndIfLate(now);
    lock.lock();
  }
}

void GrpcServer::Impl::StopWatching() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  if (watcher.joinable()) watcher.join();
}

GrpcServer::GrpcServer(const GrpcOptions& options, Repository& repository, Dispatcher& dispatcher)
    : impl_(std::make_unique<Impl>(options, repository, dispatcher)) {}

GrpcServer::~GrpcServer() {
  Drain(Clock::now());
  impl_->StopWatching();
}

Result<uint16_t> GrpcServer::Start(const std::string& host, uint16_t port) {
  // Of what strangers send, nothing is to be written to the log; who wants it says so.
  google::protobuf::SetLogHandler(nullptr);
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
  // Debian's Abseil looks for cycles at each lock that gRPC takes.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  RELAYVM_ASSIGN_OR_RETURN(impl_->listener, Listener::Open(host, port));
  grpc::ServerBuilder builder;
  using External = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  RELAYVM_ASSIGN_OR_RETURN(auto credentials, CredentialsOf(impl_->environment.options));
  auto acceptor = builder.experimental().AddExternalConnectionAcceptor(External::FROM_FD,
                                                                       std::move(credentials));
  impl_->SetLimits(builder);
  impl_->queues.Register(builder, impl_->environment.options.threads);
  impl_->server = builder.BuildAndStart();
  if (impl_->server == nullptr) return Status(StatusCode::kInternal, "gRPC does not start");
  impl_->queues.Start();
  impl_->listener->Start(
      impl_->environment.options.max_connections,
      [acceptor = std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor>(
           std::move(acceptor))](int fd) {
        grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
        connection.fd = fd;
        acceptor->HandleNewConnection(&connection);
      });
  impl_->watcher = std::thread([this] { impl_->Watch(); });
  return impl_->listener->port();
}

void GrpcServer::SetReady() { impl_->TellHealth(); }

void GrpcServer::SetDraining() {
  impl_->environment.service.SetDraining();
  impl_->TellHealth();
}

void GrpcServer::Drain(Clock::time_point deadline) {
  SetDraining();
  if (impl_->server == nullptr) return;
  impl_->listener->Stop();
  for (const auto& call : impl_->environment.calls.All()) call->EndIfIdle();
  const auto left = std::max(deadline - Clock::now(), Clock::duration(0));
  impl_->server->Shutdown(std::chrono::system_clock::now() + left);
  impl_->queues.Stop();
}

GrpcStats GrpcServer::stats() const {
  const CallEnvironment& environment = impl_->environment;
  return {.calls = environment.begun,
          .refused = environment.refused + (impl_->listener ? impl_->listener->refused() : 0),
          .timeouts = environment.timeouts,
          .open_calls = environment.calls.size(),
          .message_bytes = environment.message_bytes};
}

}  // namespace relayvm::serve

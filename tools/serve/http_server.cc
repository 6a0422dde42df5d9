#include "tools/serve/http_server.h"

#include "tools/serve/http_connection.h"

namespace relayvm::serve {
namespace {

constexpr auto kSweep = std::chrono::milliseconds(200);

}  // namespace

void HttpLoop::Sweep() {
  const Clock::time_point now = Clock::now();
  std::vector<std::shared_ptr<HttpConnection>> late;
  for (const auto& [key, connection] : connections) {
    const bool is_over = connection->IsIdle() && shared.draining.load(std::memory_order_relaxed);
    if (is_over || connection->IsLate(now)) late.push_back(connection);
  }
  for (const auto& connection : late) {
    if (!connection->IsIdle()) ++shared.timeouts;
    connection->Close();
  }
  timer.expires_after(kSweep);
  timer.async_wait([this](beast::error_code error) {
    if (!error) Sweep();
  });
}

void HttpLoop::Run() {
  current_http_loop = this;
  asio::post(context, [this] { Sweep(); });
  Clock::time_point latest = Clock::now();
  for (;;) {
    try {
      while (!context.stopped()) {
        if (context.poll() > 0) {
          latest = Clock::now();
        } else if (Clock::now() - latest < shared.options.spin) {
          std::this_thread::yield();
        } else {
          context.run_one();
          latest = Clock::now();
        }
      }
      return;
    } catch (const std::exception&) {
      // Without memory for a connection: its exchange goes, and the others on.
    }
  }
}

struct HttpServer::Impl {
  struct Listener {
    Listener(asio::io_context& context, HttpHandler h)
        : acceptor(context), handler(std::move(h)), pause(context) {}
    tcp::acceptor acceptor;
    HttpHandler handler;
    asio::steady_timer pause;
  };

  explicit Impl(const HttpOptions& options) : shared(options) {
    for (uint32_t i = 0; i < std::max<uint32_t>(options.threads, 1); ++i)
      loops.push_back(std::make_unique<HttpLoop>(shared));
  }

  void Accept(Listener& listener) {
    HttpLoop* least = loops.front().get();
    for (const auto& loop : loops) {
      if (loop->load < least->load) least = loop.get();
    }
    listener.acceptor.async_accept(
        least->context, [this, &listener, least](beast::error_code error, tcp::socket socket) {
          if (error == asio::error::operation_aborted || shared.draining) return;
          if (!error && Take(listener, *least, std::move(socket))) return Accept(listener);
          // No file descriptors, or no memory, most likely: some are given back soon.
          listener.pause.expires_after(std::chrono::milliseconds(50));
          listener.pause.async_wait([this, &listener](beast::error_code stopped) {
            if (!stopped) Accept(listener);
          });
        });
  }

  // False without memory for it.
  bool Take(Listener& listener, HttpLoop& loop, tcp::socket socket) {
    ++shared.accepted;
    if (shared.connections.fetch_add(1) >= shared.options.max_connections) {
      --shared.connections;
      ++shared.refused;
      constexpr std::string_view kFull =
          "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
          "Content-Length: 32\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
          "{\"error\":\"too many connections\"}";
      beast::error_code ignored;
      socket.non_blocking(true, ignored);
      socket.write_some(asio::buffer(kFull.data(), kFull.size()), ignored);
      return true;
    }
    loop.load.fetch_add(1, std::memory_order_relaxed);
    try {
      auto connection = std::allocate_shared<HttpConnection>(
          SlotAllocator<HttpConnection>(shared.connection_slots), loop, listener.handler,
          std::move(socket));
      asio::post(loop.context, [&loop, connection = std::move(connection)] {
        loop.connections.emplace(connection.get(), connection);
        connection->Start();
      });
    } catch (const std::bad_alloc&) {
      loop.load.fetch_sub(1, std::memory_order_relaxed);
      --shared.connections;
      ++shared.refused;
      return false;
    }
    return true;
  }

  HttpShared shared;
  std::vector<std::unique_ptr<HttpLoop>> loops;
  std::vector<std::unique_ptr<Listener>> listeners;
};

HttpServer::HttpServer(const HttpOptions& options) : impl_(std::make_unique<Impl>(options)) {}

HttpServer::~HttpServer() {
  for (const auto& loop : impl_->loops) loop->context.stop();
  for (const auto& loop : impl_->loops) {
    if (loop->thread.joinable()) loop->thread.join();
  }
  impl_->listeners.clear();
  for (const auto& loop : impl_->loops) {
    const auto connections = std::exchange(loop->connections, {});
    for (const auto& [key, connection] : connections) connection->Close();
  }
}

Result<uint16_t> HttpServer::Listen(const std::string& host, uint16_t port, HttpHandler handler) {
  beast::error_code error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error)
    return Status(StatusCode::kInvalidArgument, host + ": expected an IP address or localhost");
  auto listener =
      std::make_unique<Impl::Listener>(impl_->loops.front()->context, std::move(handler));
  tcp::acceptor& acceptor = listener->acceptor;
  const tcp::endpoint endpoint(address, port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(4096, error);
  if (error)
    return Status(StatusCode::kFailedPrecondition,
                  fmt::format("{}:{}: {}", host, port, error.message()));
  const uint16_t bound = acceptor.local_endpoint(error).port();
  impl_->listeners.push_back(std::move(listener));
  return bound;
}

void HttpServer::Start() {
  for (const auto& listener : impl_->listeners) impl_->Accept(*listener);
  for (const auto& loop : impl_->loops) loop->thread = std::thread([l = loop.get()] { l->Run(); });
}

bool HttpServer::Drain(Clock::time_point deadline) {
  impl_->shared.draining = true;
  asio::post(impl_->loops.front()->context, [this] {
    beast::error_code ignored;
    for (const auto& listener : impl_->listeners) listener->acceptor.close(ignored);
  });
  for (const auto& loop : impl_->loops) {
    asio::post(loop->context, [l = loop.get()] {
      for (const auto& [key, connection] : l->connections) connection->EndAfterAnswer();
    });
  }
  while (impl_->shared.connections > 0 && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return impl_->shared.connections == 0;
}

HttpStats HttpServer::stats() const {
  const HttpShared& shared = impl_->shared;
  return {shared.accepted, shared.refused,     shared.requests,     shared.bad_requests,
          shared.timeouts, shared.connections, shared.bodies.used()};
}

}  // namespace relayvm::serve

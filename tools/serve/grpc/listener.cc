#include "tools/serve/grpc/listener.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace relayvm::serve {
namespace {

// 0: it is closed, or no socket.
ino_t InodeOf(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

uint16_t PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::Open(const std::string& host, uint16_t port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const std::string service = std::to_string(port);
  if (const int error = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &found); error != 0) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{}: {}", host, ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (fd < 0 || ::bind(fd, found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd, 1024) != 0) {
    const std::string error = std::strerror(errno);
    if (fd >= 0) ::close(fd);
    return Status(StatusCode::kFailedPrecondition, fmt::format("{}:{}: {}", host, port, error));
  }
  return std::unique_ptr<Listener>(new Listener(fd, PortOf(fd)));
}

Listener::~Listener() { Stop(); }

void Listener::Start(size_t max_open, std::function<void(int)> take) {
  thread_ = std::thread([this, max_open, take = std::move(take)] { Work(max_open, take); });
}

void Listener::Stop() {
  stopping_ = true;
  if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);  // wakes it
  if (thread_.joinable()) thread_.join();
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool Listener::HasRoom(size_t max_open) {
  if (open_.size() < max_open) return true;
  std::erase_if(open_, [](const auto& one) { return InodeOf(one.first) != one.second; });
  return open_.size() < max_open;
}

void Listener::Work(size_t max_open, const std::function<void(int)>& take) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  while (!stopping_) {
    pollfd waiting{fd_, POLLIN, 0};
    ::poll(&waiting, 1, -1);
    const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      // No file or no memory: what waits, waits on.
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED && !stopping_)
        std::this_thread::sleep_for(kPause);
      continue;
    }
    open_.erase(fd);  // of another that is closed
    if (!HasRoom(max_open)) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      ::close(fd);
      continue;
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    open_.emplace(fd, InodeOf(fd));
    take(fd);
  }
}

}  // namespace relayvm::serve

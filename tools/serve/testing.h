// What the tests of this folder share: models from Relay text, requests, a plain client.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/api/compiler.h"
#include "tools/serve/dispatcher.h"
#include "tools/serve/model.h"
#include "tools/serve/repository.h"

namespace relayvm::serve::testing {

inline constexpr std::string_view kAddOne = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] { add(%x, 1f) }
)";
inline constexpr std::string_view kAddTwo = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] { add(%x, 2f) }
)";
// Counts down from n, one by one.
inline constexpr std::string_view kCount = R"(#[version = "0.0.5"]
def @main(%n: int64) -> int64 { if (greater(%n, 0i64)) { @main(subtract(%n, 1i64)) } else { %n } }
)";

inline CompiledModel Compiled(std::string_view relay) {
  auto model = relayvm::CompileModel(ModelSource::Text(relay), {.opt_level = 1});
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  return *std::move(model);
}
inline std::shared_ptr<const Executable> Loaded(std::string_view relay) {
  auto executable = Compiled(relay).Load();
  REQUIRE(executable.ok());
  return *std::move(executable);
}
inline void Save(std::string_view relay, const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const Status saved = Compiled(relay).Save(path);
  REQUIRE_MESSAGE(saved.ok(), saved.message());
}

inline Value Floats(const std::vector<float>& values) {
  return *Value::CopyTensor(DType::kFloat32, {{static_cast<int64_t>(values.size())}},
                            values.data());
}
inline std::vector<float> FloatsOf(const Value& value) {
  const auto span = value.span<float>();
  return {span.begin(), span.end()};
}

inline std::unique_ptr<Dispatcher> NewDispatcher(const DispatcherOptions& options = {}) {
  auto dispatcher = Dispatcher::Create(options);
  REQUIRE(dispatcher.ok());
  return *std::move(dispatcher);
}
inline std::shared_ptr<const ServedModel> Served(Dispatcher& dispatcher, Metrics& metrics,
                                                 std::string_view relay) {
  auto model = ServedModel::Create("m", "1", Loaded(relay), *dispatcher.MakeGroup(),
                                   std::make_shared<ModelMetrics>(metrics, "m"));
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  return *model;
}

inline Repository::MakeModel MakeServed(Dispatcher& dispatcher, Metrics& metrics) {
  return [&](const std::string& name, const std::string& version,
             std::shared_ptr<const Executable> executable)
             -> Result<std::shared_ptr<const ServedModel>> {
    RELAYVM_ASSIGN_OR_RETURN(
        std::shared_ptr<const ServedModel> model,
        ServedModel::Create(name, version, std::move(executable), *dispatcher.MakeGroup(),
                            std::make_shared<ModelMetrics>(metrics, name)));
    return model;
  };
}
// What a repository's Load, Unload or Refresh came to.
template <typename Start>
Status Wait(const Start& start) {
  std::promise<Status> done;
  start([&](Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}

// A connection to this machine, which sends and receives what it is told.
class Client {
 public:
  explicit Client(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const timeval patience{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Client() { Close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // One answer: its header, and the body that it says it has; what there is, where the server
  // closes.
  std::string Answer() {
    size_t header = std::string::npos;
    while ((header = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!Receive()) return std::exchange(received_, "");
    }
    const size_t at = received_.find("Content-Length: ");
    const size_t length = at < header ? std::stoul(received_.substr(at + 16)) : 0;
    while (received_.size() < header + 4 + length) {
      if (!Receive()) return std::exchange(received_, "");
    }
    const std::string answer = received_.substr(0, header + 4 + length);
    received_.erase(0, answer.size());
    return answer;
  }
  // What comes, up to a text; what there is, where the server closes.
  std::string Until(std::string_view text) {
    while (received_.find(text) == std::string::npos && Receive()) {
    }
    return std::exchange(received_, "");
  }
  const std::string& received() const { return received_; }
  // Whether the server has closed, or does so before long.
  bool IsClosed() {
    while (Receive()) {
    }
    return last_ == 0;
  }

 private:
  bool Receive() {
    char bytes[4096];
    last_ = ::recv(fd_, bytes, sizeof bytes, 0);
    if (last_ > 0) received_.append(bytes, static_cast<size_t>(last_));
    return last_ > 0;
  }

  int fd_;
  ssize_t last_ = 1;
  std::string received_;
};

}  // namespace relayvm::serve::testing

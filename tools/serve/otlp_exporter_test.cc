#include "tools/serve/otlp_exporter.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;

// A collector: answers each connection with `answer` when its request is there; with an empty one
// never.
class Receiver {
 public:
  explicit Receiver(std::string answer) : answer_(std::move(answer)) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(fd_, 16) == 0);
    socklen_t size = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Work(); });
  }
  ~Receiver() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
    for (const int held : held_) ::close(held);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1/traces"; }
  // REQUIRES: the exporter has ended.
  const std::vector<std::string>& requests() const { return requests_; }

 private:
  void Work() {
    for (int client; (client = ::accept(fd_, nullptr, nullptr)) >= 0;) {
      if (answer_.empty()) {
        held_.push_back(client);
        continue;
      }
      std::string request;
      char bytes[4096];
      size_t length = std::string::npos;
      while (request.size() < length) {
        const ssize_t n = ::recv(client, bytes, sizeof bytes, 0);
        if (n <= 0) break;
        request.append(bytes, static_cast<size_t>(n));
        const size_t end = request.find("\r\n\r\n"), at = request.find("Content-Length: ");
        if (end != std::string::npos) length = end + 4 + std::stoul(request.substr(at + 16));
      }
      requests_.push_back(request);
      ::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL);
      ::close(client);
    }
  }
  std::string answer_;
  int fd_ = -1;
  uint16_t port_ = 0;
  std::vector<std::string> requests_;
  std::vector<int> held_;
  std::thread thread_;
};

EndedRequest Request() {
  EndedRequest request;
  request.method = "POST";
  request.path = "/v2/models/m/infer";
  request.model = "m\"\n<b>";
  request.version = "1";
  request.code = 200;
  request.queued_ns = 1'200;
  request.run_ns = 250'300;
  request.begin = std::chrono::system_clock::time_point(std::chrono::seconds(1'000'000'000));
  request.took = std::chrono::microseconds(7);
  request.trace = {0x0af7651916cd43dd, 0x8448eb211c80319c, 0x1, 0xb7ad6b7169203331, true};
  return request;
}

TEST_CASE("endpoints") {
  const auto parsed = ParseOtlpEndpoint("http://collector:4319/x/y");
  REQUIRE(parsed.ok());
  CHECK(parsed->host == "collector");
  CHECK(parsed->port == "4319");
  CHECK(parsed->path == "/x/y");
  CHECK(ParseOtlpEndpoint("http://c")->port == "4318");
  CHECK(ParseOtlpEndpoint("http://c")->path == "/v1/traces");
  CHECK(ParseOtlpEndpoint("http://[::1]:9/p")->host == "::1");
  CHECK(ParseOtlpEndpoint("http://[::1]")->port == "4318");
  for (const char* wrong :
       {"", "c:4318", "https://c/v1", "http://", "http://:1", "http://c:", "http://c:x",
        "http://c:65536", "http://c:123456", "http://u@c/", "http://[::1", "http://[::1]x",
        "http://c/\r\nEvil: 1", "http://c /", "http://[]:1"}) {
    CHECK_MESSAGE(!ParseOtlpEndpoint(wrong).ok(), wrong);
  }
}

TEST_CASE("a collector gets each span, in OTLP's JSON") {
  Receiver receiver("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  Counter sent, dropped;
  {
    auto exporter = OtlpExporter::Create({receiver.url()}, sent, dropped);
    REQUIRE(exporter.ok());
    (*exporter)->Add(Request());
    EndedRequest failed = Request();
    failed.code = 503;
    failed.trace.parent = 0;
    failed.queued_ns = failed.run_ns = -1;
    (*exporter)->Add(failed);
  }
  CHECK(sent.value() == 2);
  CHECK(dropped.value() == 0);
  REQUIRE(receiver.requests().size() == 1);
  const std::string& request = receiver.requests().front();
  CHECK(request.starts_with("POST /v1/traces HTTP/1.1\r\n"));
  const auto json = nlohmann::json::parse(request.substr(request.find("\r\n\r\n") + 4));
  const auto& resource = json["resourceSpans"][0];
  CHECK(resource["resource"]["attributes"][0]["value"]["stringValue"] == "vmserve");
  const auto& spans = resource["scopeSpans"][0]["spans"];
  REQUIRE(spans.size() == 2);
  CHECK(spans[0]["traceId"] == "0af7651916cd43dd8448eb211c80319c");
  CHECK(spans[0]["spanId"] == "0000000000000001");
  CHECK(spans[0]["parentSpanId"] == "b7ad6b7169203331");
  CHECK(spans[0]["name"] == "POST m\"\n<b>");
  CHECK(spans[0]["startTimeUnixNano"] == "1000000000000000000");
  CHECK(spans[0]["endTimeUnixNano"] == "1000000000000007000");
  CHECK(spans[0]["status"].empty());
  CHECK(!spans[1].contains("parentSpanId"));
  CHECK(spans[1]["status"]["code"] == 2);
  std::map<std::string, nlohmann::json> attributes;
  for (const auto& a : spans[0]["attributes"]) attributes[a["key"]] = a["value"];
  CHECK(attributes["http.response.status_code"]["intValue"] == "200");
  CHECK(attributes["relayvm.run_ns"]["intValue"] == "250300");
}

TEST_CASE("a collector that hangs holds up neither requests nor the end; the queue is bounded") {
  Receiver receiver("");
  Counter sent, dropped;
  const auto begin = Clock::now();
  {
    auto exporter = OtlpExporter::Create(
        {receiver.url(), 100, std::chrono::milliseconds(1), std::chrono::milliseconds(300)}, sent,
        dropped);
    REQUIRE(exporter.ok());
    for (int i = 0; i < 10'000; ++i) (*exporter)->Add(Request());
    CHECK(Clock::now() - begin < std::chrono::milliseconds(250));
  }
  CHECK(Clock::now() - begin < std::chrono::seconds(5));
  CHECK(sent.value() == 0);
  CHECK(dropped.value() > 9'000);
}

TEST_CASE("a collector that refuses, speaks something else or is not there: spans are dropped") {
  for (const char* answer : {"HTTP/1.1 503 Busy\r\n\r\n", "SSH-2.0-OpenSSH_9.2p1 x\r\n",
                             "HTTP/1.1 ", "HTTP/1.1 2x0 OK\r\n"}) {
    Receiver receiver(answer);
    Counter sent, dropped;
    {
      auto exporter = OtlpExporter::Create({receiver.url()}, sent, dropped);
      REQUIRE(exporter.ok());
      (*exporter)->Add(Request());
    }
    CHECK(sent.value() == 0);
    CHECK(dropped.value() == 1);
  }
  Counter sent, dropped;
  {
    auto exporter = OtlpExporter::Create({"http://127.0.0.1:1/v1/traces"}, sent, dropped);
    REQUIRE(exporter.ok());
    (*exporter)->Add(Request());
  }
  CHECK(dropped.value() == 1);
}

}  // namespace
}  // namespace relayvm::serve

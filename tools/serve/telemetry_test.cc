#include "tools/serve/telemetry.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/temp_folder.h"
#include "tools/serve/http_server.h"
#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using relayvm::testing::TempFolder;
using testing::Client;

constexpr std::string_view kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string TraceparentOf(const std::string& answer) {
  const size_t at = answer.find("\r\ntraceparent: ");
  return at == std::string::npos ? "" : answer.substr(at + 15, 55);
}

// A server with an access log, which answers /m as a model's run does, /held never.
struct House {
  explicit House(bool with_log) {
    TelemetryOptions options;
    if (with_log) options.access_log = log_path;
    auto made = Telemetry::Create(options, metrics);
    REQUIRE(made.ok());
    telemetry = *std::move(made);
    server = std::make_unique<HttpServer>(
        HttpOptions{.threads = 1, .max_body_bytes = 100, .observer = telemetry.get()});
    const auto listening =
        server->Listen("127.0.0.1", 0, [this](std::shared_ptr<HttpExchange> exchange) {
          tag = exchange->trace().tag();
          if (exchange->target() == "/held") {
            held = std::move(exchange);
            held->set_on_disconnect([this] { gone.set_value(); });
            is_held = true;
            return;
          }
          HttpResponse response;
          response.body = "12345";
          if (exchange->target() == "/m") response.run = {"m", "7", nullptr, 1000, 2000};
          exchange->Respond(std::move(response));
        });
    REQUIRE(listening.ok());
    port = *listening;
    server->Start();
  }
  // The lines of the log, once all has been written.
  std::vector<nlohmann::json> Lines() {
    server.reset();
    telemetry.reset();
    std::vector<nlohmann::json> lines;
    std::ifstream file(log_path);
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  TempFolder folder;
  std::string log_path = folder / "log";
  Metrics metrics;
  std::unique_ptr<Telemetry> telemetry;
  std::unique_ptr<HttpServer> server;
  std::shared_ptr<HttpExchange> held;
  std::promise<void> gone;
  std::atomic<uint64_t> tag{0};
  std::atomic<bool> is_held{false};
  uint16_t port = 0;
};

TEST_CASE("an answer says its trace: the caller's, or a new one where there is none or a bad one") {
  House house(/*with_log=*/false);
  Client client(house.port);
  client.Send("GET / HTTP/1.1\r\nTraceparent: " + std::string(kParent) + "\r\n\r\n");
  const std::string mine = TraceparentOf(client.Answer());
  CHECK(mine.substr(0, 36) == kParent.substr(0, 36));
  CHECK(mine.substr(36, 16) != kParent.substr(36, 16));
  CHECK(mine.substr(53) == "01");
  CHECK(house.tag == 0x8448eb211c80319c);
  std::string before;
  for (const std::string& bad : {std::string(), std::string(kParent.substr(0, 54)),
                                 "ff" + std::string(kParent.substr(2)), std::string(5000, '-')}) {
    client.Send("GET / HTTP/1.1\r\ntraceparent: " + bad + "\r\n\r\n");
    const std::string text = TraceparentOf(client.Answer());
    CHECK(ParseTraceparent(text));
    CHECK(text.substr(3, 32) != kParent.substr(3, 32));
    CHECK(text != before);
    before = text;
  }
}

TEST_CASE("each request is a line of the log, those that reach no handler too") {
  House house(/*with_log=*/true);
  {
    Client client(house.port);
    client.Send("POST /m HTTP/1.1\r\nContent-Length: 3\r\ntraceparent: " + std::string(kParent) +
                "\r\n\r\nabc");
    client.Answer();
    client.Send("HEAD /x<b> HTTP/1.1\r\n\r\n");
    Client large(house.port), garbage(house.port);
    large.Send("POST /large HTTP/1.1\r\nContent-Length: 101\r\n\r\n");
    large.Answer();
    garbage.Send("\x01\x02\r\n\r\n");
    garbage.Answer();
  }
  const auto lines = house.Lines();
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]["path"] == "/m");
  CHECK(lines[0]["model"] == "m");
  CHECK(lines[0]["version"] == "7");
  CHECK(lines[0]["code"] == 200);
  CHECK(lines[0]["bytes_in"] == 3);
  CHECK(lines[0]["bytes_out"] == 5);
  CHECK(lines[0]["queued_us"] == 1.0);
  CHECK(lines[0]["run_us"] == 2.0);
  CHECK(lines[0]["trace"] == kParent.substr(3, 32));
  CHECK(lines[1]["path"] == "/x<b>");
  CHECK(lines[1]["bytes_out"] == 0);
  CHECK(!lines[1].contains("model"));
  CHECK(lines[2]["code"] == 413);
  CHECK(lines[3]["code"] == 400);
}

TEST_CASE("a client that goes before its answer is a line with 499") {
  House house(/*with_log=*/true);
  {
    Client client(house.port);
    client.Send("POST /held HTTP/1.1\r\n\r\n");
    while (!house.is_held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  house.gone.get_future().wait();
  HttpResponse late;
  late.status = 200;
  std::exchange(house.held, nullptr)->Respond(std::move(late));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto lines = house.Lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["code"] == 499);
  CHECK(lines[0]["bytes_out"] == 0);
}

TEST_CASE("what cannot be is an error") {
  Metrics metrics;
  TelemetryOptions options;
  options.otlp_endpoint = "https://somewhere";
  CHECK(!Telemetry::Create(options, metrics).ok());
  options.otlp_endpoint.clear();
  options.access_log = "/nowhere/at/all";
  CHECK(!Telemetry::Create(options, metrics).ok());
}

TEST_CASE("of traces that begin here a part is sampled, the caller's as it says") {
  Metrics metrics;
  TelemetryOptions options;
  options.otlp_endpoint = "http://127.0.0.1:1/";
  options.sample = 0.25;
  auto telemetry = Telemetry::Create(options, metrics);
  REQUIRE(telemetry.ok());
  int sampled = 0;
  for (int i = 0; i < 4000; ++i) sampled += (*telemetry)->Begin("").is_sampled ? 1 : 0;
  CHECK(sampled > 800);
  CHECK(sampled < 1200);
  CHECK((*telemetry)->Begin(kParent).is_sampled);
}

}  // namespace
}  // namespace relayvm::serve

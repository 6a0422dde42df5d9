#include "tools/serve/generate.h"

#include "tests/temp_folder.h"
#include "tools/serve/routes.h"
#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using namespace std::chrono_literals;
using relayvm::testing::TempFolder;

// Says n, n - 1, ..., 1, and for ever 7 where n is below 0; gives n.
constexpr std::string_view kCountdown = R"(#[version = "0.0.5"]
def @emit(%i: int64, host=1) -> ();
def @main(%n: int64) -> int64 {
  if (greater(%n, 0i64)) {
    let %said = @emit(%n);
    let %rest = @main(subtract(%n, 1i64));
    %n
  } else {
    if (less(%n, 0i64)) {
      let %again = @emit(7i64);
      @main(%n)
    } else { %n }
  }
}
)";

struct Server {
  Server() {
    testing::Save(kCountdown, folder / "say/1/model.vmx");
    testing::Save(testing::kAddOne, folder / "add/1/model.vmx");
    auto made = Repository::Create({.folder = folder / "", .poll = 0ms},
                                   testing::MakeServed(*dispatcher, metrics));
    REQUIRE(made.ok());
    repository = *std::move(made);
    for (const IndexEntry& entry : repository->Index()) {
      CAPTURE(entry.reason);
      REQUIRE(entry.is_ready);
    }
    routes = std::make_unique<Routes>(*repository, *dispatcher, metrics);
    http = std::make_unique<HttpServer>(HttpOptions{});
    port = *http->Listen("127.0.0.1", 0,
                         [this](std::shared_ptr<HttpExchange> e) { routes->Handle(std::move(e)); });
    http->Start();
  }
  ~Server() {
    repository.reset();
    dispatcher.reset();
  }
  static std::string Post(const std::string& path, const std::string& body,
                          const std::string& version = "1.1") {
    return "POST /v2/models/" + path + " HTTP/" + version +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  std::string Ask(const std::string& path, const std::string& body) {
    testing::Client client(port);
    client.Send(Post(path, body));
    return client.Answer();
  }
  bool BecomesIdle() {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < 10s) {
      const SchedulerStats stats = dispatcher->stats();
      if (stats.queued + stats.ready + stats.running + stats.waiting == 0) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }

  TempFolder folder;
  Metrics metrics;
  std::unique_ptr<Dispatcher> dispatcher = testing::NewDispatcher({.workers = 2});
  std::unique_ptr<Repository> repository;
  std::unique_ptr<Routes> routes;
  std::unique_ptr<HttpServer> http;
  uint16_t port = 0;
};

TEST_CASE("generate answers with what was emitted and what came out") {
  Server server;
  CHECK(server.Ask("say/generate", R"({"n": 3, "id": "a"})")
            .ends_with(R"({"model_name":"say","model_version":"1","id":"a",)"
                       R"("emitted":[3,2,1],"output_0":3})"));
  CHECK(server.Ask("say/versions/1/generate", R"({"n": 0})")
            .ends_with(R"({"model_name":"say","model_version":"1","output_0":0})"));
  CHECK(server.Ask("add/generate", R"({"x": [1, 2]})").ends_with("\"output_0\":[2,3]}"));
  CHECK(server.Ask("add/generate", R"({"x": 1})").ends_with("\"output_0\":2}"));
  // What is emitted goes nowhere.
  CHECK(
      server
          .Ask("say/infer", R"({"inputs":[{"name":"n","shape":[],"datatype":"INT64","data":[2]}]})")
          .starts_with("HTTP/1.1 200"));
}

TEST_CASE("generate_stream sends events as they come, and the connection goes on") {
  Server server;
  testing::Client client(server.port);
  client.Send(Server::Post("say/generate_stream", R"({"n": 2})"));
  const std::string first = client.Until("\r\n0\r\n\r\n");
  CHECK(first.find("Content-Type: text/event-stream\r\n") != std::string::npos);
  CHECK(first.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  CHECK(first.find("Content-Length") == std::string::npos);
  const std::string head = R"(data: {"model_name":"say","model_version":"1",)";
  for (const char* event : {"\"emitted\":2}\n\n", "\"emitted\":1}\n\n", "\"output_0\":2}\n\n"})
    CHECK(first.find(head + event) != std::string::npos);
  client.Send(Server::Post("say/generate", R"({"n": 1})"));
  CHECK(client.Answer().starts_with("HTTP/1.1 200"));

  testing::Client old(server.port);
  old.Send(Server::Post("say/generate_stream", R"({"n": 1})", "1.0"));
  CHECK(old.IsClosed());
  const std::string plain = old.received();
  CHECK(plain.find("chunked") == std::string::npos);
  CHECK(plain.ends_with("\"output_0\":1}\n\n"));
}

TEST_CASE("what is wrong has its code, before anything was said and after") {
  Server server;
  for (const char* body : {"", "[]", "{}", R"({"n": "x"})", R"({"n": [[1]]})", R"({"n": [1, 2]})",
                           R"({"n": 1, "m": 2})", R"({"n": 1, "n": 2})", R"({"n": {}})"}) {
    CAPTURE(body);
    CHECK(server.Ask("say/generate", body).starts_with("HTTP/1.1 400"));
    CHECK(server.Ask("say/generate_stream", body).starts_with("HTTP/1.1 400"));
  }
  CHECK(server.Ask("none/generate", "{}").starts_with("HTTP/1.1 404"));
  testing::Client client(server.port);
  client.Send(
      Server::Post("say/generate_stream", R"({"n": -1, "parameters": {"timeout": 50000}})"));
  const std::string answer = client.Until("\r\n0\r\n\r\n");
  CHECK(answer.starts_with("HTTP/1.1 200"));
  CHECK(answer.find("data: {\"error\":") != std::string::npos);
  client.Send("GET /v2/models/say/generate HTTP/1.1\r\n\r\n");
  CHECK(client.Answer().starts_with("HTTP/1.1 405"));
}

TEST_CASE("a client that goes ends its run, and one that takes nothing makes it wait") {
  Server server;
  {
    testing::Client client(server.port);
    client.Send(Server::Post("say/generate_stream", R"({"n": -1})"));
    client.Until("emitted");
  }
  CHECK(server.BecomesIdle());
  {
    testing::Client client(server.port);
    client.Send(Server::Post("say/generate_stream", R"({"n": -1})"));
    // The sockets are full before long, and then the run waits.
    const auto begin = std::chrono::steady_clock::now();
    while (server.dispatcher->stats().waiting == 0 &&
           std::chrono::steady_clock::now() - begin < 20s)
      std::this_thread::sleep_for(5ms);
    CHECK(server.dispatcher->stats().waiting == 1);
    client.Until("emitted");
  }
  CHECK(server.BecomesIdle());
}

}  // namespace
}  // namespace relayvm::serve

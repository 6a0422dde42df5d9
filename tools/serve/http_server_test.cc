#include "tools/serve/http_server.h"

#include <zlib.h>

#include <atomic>
#include <future>
#include <thread>

#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using testing::Client;
using Clock = std::chrono::steady_clock;

// A server that answers with what it was asked; /later from another thread, /never not at all.
struct Echo {
  explicit Echo(HttpOptions options = {}) : server(options) {
    const auto listening = server.Listen(
        "127.0.0.1", 0, [this](std::shared_ptr<HttpExchange> e) { Handle(std::move(e)); });
    REQUIRE(listening.ok());
    port = *listening;
    server.Start();
  }
  ~Echo() {
    for (std::thread& thread : threads) thread.join();
  }
  void Handle(std::shared_ptr<HttpExchange> exchange) {
    HttpResponse response;
    response.body = std::string(exchange->method()) + " " + std::string(exchange->target()) + " " +
                    std::string(exchange->header("x-tag")) + " " + std::string(exchange->body());
    if (exchange->target() == "/throw") throw std::runtime_error("no luck");
    if (exchange->target() == "/large") response.body.assign(16 << 20, 'x');
    if (exchange->target() == "/count" && !exchange->CountMemory(1500)) response.status = 503;
    if (exchange->target() == "/hold") {
      exchange->CountMemory(1500);
      exchange->set_on_disconnect([held = exchange]() mutable { held.reset(); });
      return;
    }
    if (exchange->target() == "/never") {
      exchange->set_on_disconnect([this, exchange] { gone.set_value(); });
      return;
    }
    if (exchange->target() != "/later") return exchange->Respond(std::move(response));
    threads.emplace_back(
        [exchange = std::move(exchange), response = std::move(response)]() mutable {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          exchange->Respond(std::move(response));
        });
  }

  std::promise<void> gone;
  std::vector<std::thread> threads;
  HttpServer server;
  uint16_t port = 0;
};

std::string BodyOf(const std::string& answer) {
  const size_t header = answer.find("\r\n\r\n");
  return header == std::string::npos ? "" : answer.substr(header + 4);
}
bool HasCode(const std::string& answer, const char* code) {
  return answer.starts_with(std::string("HTTP/1.1 ") + code + " ");
}

TEST_CASE("requests on one connection, one after the other") {
  Echo echo({.threads = 1});
  Client client(echo.port);
  for (int i = 0; i < 3; ++i) {
    client.Send("POST /a?b HTTP/1.1\r\nHost: h\r\nX-Tag: t\r\nContent-Length: 4\r\n\r\nbody");
    CHECK(BodyOf(client.Answer()) == "POST /a?b t body");
  }
  client.Send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  CHECK(client.Answer().find("Connection: close") != std::string::npos);
  CHECK(client.IsClosed());
  CHECK(echo.server.stats().requests == 4);
}

TEST_CASE("requests that come before answers are answered in order, however many") {
  Echo echo({.threads = 1});
  Client client(echo.port);
  std::string many = "GET /later HTTP/1.1\r\n\r\n";
  constexpr int kMany = 5000;
  for (int i = 0; i < kMany; ++i) many += "GET /" + std::to_string(i) + " HTTP/1.1\r\n\r\n";
  std::thread sender([&] { client.Send(many); });
  CHECK(BodyOf(client.Answer()) == "GET /later  ");
  int wrong = 0;
  for (int i = 0; i < kMany; ++i)
    wrong += BodyOf(client.Answer()) != "GET /" + std::to_string(i) + "  " ? 1 : 0;
  sender.join();
  CHECK(wrong == 0);
}

TEST_CASE("bodies in chunks, requests byte by byte, HEAD, and HTTP/1.0") {
  Echo echo;
  Client client(echo.port);
  client.Send(
      "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n");
  CHECK(BodyOf(client.Answer()) == "POST /c  abcd");
  for (const char c : std::string("POST /slow HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"))
    client.Send(std::string(1, c));
  CHECK(BodyOf(client.Answer()) == "POST /slow  hi");
  Client old(echo.port);
  old.Send("HEAD /x HTTP/1.0\r\n\r\n");
  CHECK(old.IsClosed());
}

TEST_CASE("a client that waits for leave to send its body gets it") {
  Echo echo;
  Client client(echo.port);
  client.Send("POST /e HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(client.Answer() == "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("ok");
  CHECK(BodyOf(client.Answer()) == "POST /e  ok");
}

TEST_CASE("what is no request, or too large, is answered and closed") {
  using namespace std::string_literals;
  const std::string kChunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  Echo echo({.max_header_bytes = 1024, .max_body_bytes = 1000});
  const struct {
    std::string request;
    const char* code;
  } cases[] = {
      {"nonsense\r\n\r\n", "400"},
      {"GET / HTTP/9.9\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "400"},
      {"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nBad Name: x\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", "413"},
      {"POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n", "413"},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x'),
       "413"},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "413"},
      {"GET / HTTP/1.1\r\nX: " + std::string(2000, 'x') + "\r\n\r\n", "431"},
      // What proxies and servers take for the end of a body in different ways.
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501"},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", "501"},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n", "501"},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n", "501"},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "501"},
      {"POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\r\nContent-Length: 0x3\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\r\nContent-Length : 3\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\nContent-Length: 3\n\nabc\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\n Content-Length: 3\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\r\nX: a\0b\r\n\r\n"s, "400"},
      {kChunked + "-1\r\nab", "400"},
      {kChunked + "0x2\r\nab\r\n0\r\n\r\n", "400"},
      {kChunked + "g\r\n", "400"},
      {kChunked + "\r\n", "400"},
      {kChunked + "10000000000000000\r\n", "400"},
      {kChunked + "2\r\nabc\r\n0\r\n\r\n", "400"},
      {kChunked + "2;" + std::string(5000, 'x'), "431"},
      {kChunked + "0\r\nX: " + std::string(5000, 'x'), "431"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.request);
    Client client(echo.port);
    client.Send(c.request);
    const std::string answer = client.Answer();
    CHECK_MESSAGE(HasCode(answer, c.code), answer);
    CHECK(client.IsClosed());
  }
  CHECK(echo.server.stats().body_bytes == 0);
}

// As gzip has it (windowBits 31) or zlib (15).
std::string Deflated(const std::string& text, int window_bits) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}
std::string Coded(const char* coding, const std::string& body) {
  return std::string("POST /z HTTP/1.1\r\nContent-Encoding: ") + coding +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_CASE("compressed bodies come to what they were, bounded by what comes out") {
  Echo echo({.max_body_bytes = 100'000});
  const std::string gzip = Deflated("some text", 31), zlib = Deflated("some text", 15);
  std::string random;
  for (uint32_t i = 0, x = 1; i < 90'000; ++i)
    random.push_back(static_cast<char>((x *= 69069) >> 24));
  Client client(echo.port);
  const auto ask = [&](const std::string& request) {
    client.Send(request);
    return BodyOf(client.Answer());
  };
  CHECK(ask(Coded("gzip", gzip)) == "POST /z  some text");
  CHECK(ask(Coded("X-GZIP", gzip + gzip)) == "POST /z  some textsome text");
  CHECK(ask(Coded("deflate", zlib)) == "POST /z  some text");
  CHECK(ask(Coded("identity", "as it is")) == "POST /z  as it is");
  CHECK(ask(Coded("gzip", "")) == "POST /z  ");
  CHECK(ask(Coded("gzip", Deflated(random, 31))) == "POST /z  " + random);
  CHECK(ask(Coded("gzip", Deflated(std::string(100'000, 'x'), 31))).size() == 100'009);
  for (const char c : Coded("gzip", gzip)) client.Send(std::string(1, c));
  CHECK(BodyOf(client.Answer()) == "POST /z  some text");
  std::string damaged = gzip;
  damaged[12] ^= 0x55;
  const struct {
    std::string request;
    const char* code;
  } cases[] = {{Coded("gzip", gzip.substr(0, gzip.size() - 1)), "400"},
               {Coded("gzip", gzip + "more"), "400"},
               {Coded("gzip", damaged), "400"},
               {Coded("gzip", "some text"), "400"},
               {Coded("gzip", Deflated(std::string(100'001, 'x'), 31)), "413"},
               {Coded("gzip", Deflated(std::string(50 << 20, '\0'), 31)), "413"},
               {Coded("br", "x"), "415"},
               {Coded("gzip, gzip", "x"), "415"},
               {Coded("gzip\r\nContent-Encoding: br", gzip), "415"}};
  for (const auto& c : cases) {
    Client other(echo.port);
    other.Send(c.request);
    const std::string answer = other.Answer();
    CHECK_MESSAGE(HasCode(answer, c.code), answer);
  }
  while (echo.server.stats().body_bytes > 0) std::this_thread::yield();
}

TEST_CASE("a client has its share of requests at a time, where that is limited") {
  Echo echo({.max_client_requests = 1});
  Client first(echo.port), second(echo.port);
  first.Send("GET /never HTTP/1.1\r\n\r\n");
  while (echo.server.stats().requests == 0) std::this_thread::yield();
  second.Send("GET /a HTTP/1.1\r\n\r\n");
  const std::string answer = second.Answer();
  CHECK(HasCode(answer, "429"));
  CHECK(answer.find("Retry-After: 1") != std::string::npos);
  first.Close();
  echo.gone.get_future().wait();
  do {
    std::this_thread::yield();
    second.Send("GET /b HTTP/1.1\r\n\r\n");
  } while (HasCode(second.Answer(), "429"));
  for (int i = 0; i < 3; ++i) {
    second.Send("GET /c HTTP/1.1\r\n\r\n");
    CHECK(BodyOf(second.Answer()) == "GET /c  ");
  }
}

TEST_CASE("answers count toward the memory of all bodies") {
  Echo echo({.max_all_bodies = size_t{20} << 20});
  Client first(echo.port), second(echo.port);
  first.Send("GET /large HTTP/1.1\r\n\r\n");
  while (echo.server.stats().body_bytes < 16 << 20) std::this_thread::yield();
  second.Send("GET /large HTTP/1.1\r\n\r\n");
  CHECK(HasCode(second.Answer(), "503"));
  CHECK(BodyOf(first.Answer()).size() == 16 << 20);
  while (echo.server.stats().body_bytes > 0) std::this_thread::yield();
}

TEST_CASE("what is made of a body counts until it is answered, or its client goes") {
  Echo echo({.max_body_bytes = 1000, .max_all_bodies = 2000});
  Client first(echo.port), second(echo.port);
  for (int i = 0; i < 3; ++i) {
    first.Send("GET /count HTTP/1.1\r\n\r\n");
    CHECK(HasCode(first.Answer(), "200"));
  }
  while (echo.server.stats().body_bytes > 0) std::this_thread::yield();
  second.Send("GET /hold HTTP/1.1\r\n\r\n");
  while (echo.server.stats().body_bytes < 1500) std::this_thread::yield();
  first.Send("GET /count HTTP/1.1\r\n\r\n");
  CHECK(HasCode(first.Answer(), "503"));
  second.Close();
  while (echo.server.stats().body_bytes > 0) std::this_thread::yield();
  first.Send("GET /count HTTP/1.1\r\n\r\n");
  CHECK(HasCode(first.Answer(), "200"));
}

TEST_CASE("the bodies of all connections have a limit, and connections have one") {
  Echo echo({.threads = 1, .max_body_bytes = 1000, .max_all_bodies = 1500, .max_connections = 2});
  Client first(echo.port), second(echo.port);
  first.Send("POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + std::string(999, 'x'));
  while (echo.server.stats().body_bytes < 999) std::this_thread::yield();
  Client third(echo.port);
  CHECK(HasCode(third.Answer(), "503"));
  CHECK(third.IsClosed());
  second.Send("POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x'));
  CHECK(HasCode(second.Answer(), "503"));
  first.Send("x");
  CHECK(HasCode(first.Answer(), "200"));
}

TEST_CASE("who is slow with a header, a body, or the next request is cut off") {
  using std::chrono::milliseconds;
  Echo echo({.header_time = milliseconds(100),
             .idle_time = milliseconds(100),
             .transfer_time = milliseconds(100),
             .min_bytes_per_second = 1 << 30});
  for (const char* begun : {"", "GET / HT", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"}) {
    CAPTURE(begun);
    const auto begin = Clock::now();
    Client client(echo.port);
    client.Send(begun);
    CHECK(client.IsClosed());
    CHECK(Clock::now() - begin < std::chrono::seconds(10));
  }
  // One that takes no answer: its server holds it for no longer.
  Client client(echo.port);
  client.Send("GET /large HTTP/1.1\r\n\r\n");
  const auto begin = Clock::now();
  while (echo.server.stats().connections > 0 && Clock::now() - begin < std::chrono::seconds(15))
    std::this_thread::sleep_for(milliseconds(5));
  CHECK(echo.server.stats().connections == 0);
}

TEST_CASE("a large answer comes whole") {
  Echo echo;
  Client client(echo.port);
  client.Send("GET /large HTTP/1.1\r\n\r\n");
  CHECK(BodyOf(client.Answer()).size() == 16 << 20);
}

TEST_CASE("a handler learns that its client has gone") {
  Echo echo;
  Client client(echo.port);
  client.Send("GET /never HTTP/1.1\r\n\r\n");
  while (echo.server.stats().requests == 0) std::this_thread::yield();
  client.Close();
  echo.gone.get_future().wait();
}

TEST_CASE("what a handler throws is the answer, and the server goes on") {
  Echo echo;
  Client client(echo.port);
  client.Send("GET /throw HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\n\r\n");
  CHECK(BodyOf(client.Answer()) == "{\"error\":\"no luck\"}");
  CHECK(BodyOf(client.Answer()) == "GET /a  ");
}

TEST_CASE("drained, it closes idle connections, and others after their answer") {
  Echo echo;
  Client idle(echo.port), busy(echo.port);
  busy.Send("GET /later HTTP/1.1\r\n\r\n");
  while (echo.server.stats().requests == 0) std::this_thread::yield();
  CHECK(echo.server.Drain(Clock::now() + std::chrono::seconds(10)));
  CHECK(BodyOf(busy.Answer()) == "GET /later  ");
  CHECK(busy.IsClosed());
  CHECK(idle.IsClosed());
}

TEST_CASE("addresses that are none, and ports that are taken") {
  Echo echo;
  HttpServer other(HttpOptions{});
  CHECK(other.Listen("nowhere", 0, nullptr).status().code() == StatusCode::kInvalidArgument);
  CHECK(other.Listen("127.0.0.1", echo.port, nullptr).status().code() ==
        StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace relayvm::serve

#include "tools/serve/access.h"

#include <doctest/doctest.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace relayvm::serve {
namespace {

TEST_CASE("a token is a bearer's, whole and exact") {
  const std::string token = "0123456789abcdef";
  CHECK(HasToken("Bearer " + token, token));
  CHECK(HasToken("bearer " + token, token));
  for (const std::string& other : std::vector<std::string>{
           std::string(), token, "Bearer", "Bearer ", "Bearer  " + token, "Bearer " + token + " ",
           "Bearer 0123456789abcde", "Bearer 0123456789abcdeF", "Basic " + token,
           "Bearer " + token + std::string(1, '\0')}) {
    CAPTURE(other);
    CHECK_FALSE(HasToken(other, token));
  }
}

class Exchange : public HttpExchange {
 public:
  std::string method_text = "GET", target_text, authorization;
  std::optional<int> status;

  std::string_view method() const override { return method_text; }
  std::string_view target() const override { return target_text; }
  std::string_view body() const override { return {}; }
  std::string_view header(std::string_view name) const override {
    return name == "Authorization" ? std::string_view(authorization) : std::string_view();
  }
  void set_on_disconnect(std::function<void()>) override {}
  void Respond(HttpResponse response) override { status = response.status; }
  void BeginStream(HttpResponse, std::function<void()>) override {}
  void WriteStream(std::string) override {}
  void EndStream() override {}
};

TEST_CASE("requests without the token get 401, but probes and what is the same for all") {
  const HttpHandler handler =
      WithToken("0123456789", [](const std::shared_ptr<HttpExchange>& e) { e->Respond({}); });
  struct Case {
    const char *method, *target, *authorization;
    int status;
  };
  for (const Case& c :
       {Case{"GET", "/v2", "", 401}, Case{"GET", "/v2", "Bearer 0123456789", 200},
        Case{"GET", "/v2/health/ready", "", 200}, Case{"HEAD", "/v2/health/live", "", 200},
        Case{"GET", "/", "", 200}, Case{"GET", "/openapi.json", "", 200},
        Case{"POST", "/", "", 401}, Case{"GET", "//", "", 401}, Case{"GET", "/?x", "", 401},
        Case{"POST", "/v2/health/live", "", 401},
        Case{"GET", "/v2/health/live/../../models", "", 401}}) {
    CAPTURE(c.target);
    const auto exchange = std::make_shared<Exchange>();
    exchange->method_text = c.method;
    exchange->target_text = c.target;
    exchange->authorization = c.authorization;
    handler(exchange);
    CHECK(exchange->status == c.status);
  }
}

TEST_CASE("a token's file is one line of 8 to 4096 printable characters") {
  const testing::TempFolder folder;
  const std::string path = folder / "token";
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    const auto token = ReadToken(path);
    return token.ok() ? *token : "";
  };
  CHECK(read("0123456789") == "0123456789");
  CHECK(read("0123456789\n") == "0123456789");
  CHECK(read("0123456789\r\n") == "0123456789");
  CHECK(read(std::string(4096, 'x') + "\n") == std::string(4096, 'x'));
  for (const std::string& bad : {std::string(), std::string("short\n"), std::string("two words\n"),
                                 std::string("two\nlines and\n"), std::string(4097, 'x')}) {
    CHECK(read(bad).empty());
  }
  CHECK(ReadToken(folder / "none").status().code() == StatusCode::kNotFound);
}

}  // namespace
}  // namespace relayvm::serve

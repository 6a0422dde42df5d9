#include "tools/serve/access.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>

namespace relayvm::serve {
namespace {

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

}  // namespace
}  // namespace relayvm::serve

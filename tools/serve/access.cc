#include "tools/serve/access.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/serve/protocol/json_writer.h"
#include "tools/serve/protocol/token.h"

namespace relayvm::serve {
namespace {

// What says nothing of models: probes, the page, which asks for the token itself, and the
// description of the paths.
bool IsOpen(const HttpExchange& exchange) {
  constexpr std::string_view kOpen[] = {"/v2/health/live", "/v2/health/ready", "/",
                                        "/openapi.json"};
  return (exchange.method() == "GET" || exchange.method() == "HEAD") &&
         std::ranges::find(kOpen, exchange.target()) != std::end(kOpen);
}

}  // namespace

HttpHandler WithToken(std::string token, HttpHandler handler) {
  return [token = std::move(token),
          handler = std::move(handler)](std::shared_ptr<HttpExchange> exchange) {
    if (IsOpen(*exchange) || HasToken(exchange->header("Authorization"), token))
      return handler(std::move(exchange));
    HttpResponse response;
    response.status = 401;
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    response.body = JsonError("expected a header Authorization: Bearer TOKEN");
    exchange->Respond(std::move(response));
  };
}

}  // namespace relayvm::serve

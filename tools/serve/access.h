// Who may ask: those whose requests carry the token (protocol/token.h). Immutable; thread-safe.
// Tested by access_test.cc.
#pragma once

#include <string>

#include "tools/serve/http_server.h"

namespace relayvm::serve {

// `handler` for requests with the token, and for GET of what has nothing of models: /v2/health/live
// and ready, which probes ask, the page at / and /openapi.json; others get 401.
HttpHandler WithToken(std::string token, HttpHandler handler);

}  // namespace relayvm::serve

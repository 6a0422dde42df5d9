// Who may ask: a token that requests carry ("Authorization: Bearer TOKEN"), as --token-file has it.
// Immutable; thread-safe. Tested by access_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "tools/serve/http_server.h"

namespace relayvm::serve {

// A file's only line: 8 to 4096 printable characters without a space. kInvalidInput.
Result<std::string> ReadToken(const std::string& path);

// Whether a header's value is the token's, in a time that does not depend on where they differ.
bool HasToken(std::string_view authorization, std::string_view token);

// `handler` for requests with the token, and for GET of what has nothing of models: /v2/health/live
// and ready, which probes ask, the page at / and /openapi.json; others get 401.
HttpHandler WithToken(std::string token, HttpHandler handler);

}  // namespace relayvm::serve

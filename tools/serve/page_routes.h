// The page at /, and what it shows of a model: where its time goes, and its graph.
//
//   GET  /                                      the page (page/index.html)
//   GET  /v2/models/M[/versions/V]/graph        model_graph.h
//   GET  /v2/models/M[/versions/V]/profile      model_profile.h; ?format=chrome: of the recording
//   POST /v2/models/M[/versions/V]/profile?requests=N    records the next N runs
//
// Thread-safe. Tested by page_routes_test.cc, the page by tests/run_page.py.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/serve/http_server.h"
#include "tools/serve/model.h"
#include "tools/serve/model_profile.h"
#include "tools/serve/protocol/http_message.h"

namespace relayvm::serve {

// The page's file, as it was when this was built; and openapi.json, the description of all paths.
std::string_view PageSource();
std::string_view OpenApiSource();
// The page with a nonce of its own, which alone lets its script and style be used.
HttpResponse PageResponse();

// The value of a parameter behind the ? of a target; none where it is not there.
std::optional<std::string_view> QueryValue(std::string_view target, std::string_view name);

// What GET, HEAD and POST of .../graph and .../profile answer. Takes milliseconds for a large
// model. `profiler` may be null: there is no profile then.
HttpResponse AnswerGraph(const ServedModel& model);
HttpResponse AnswerProfile(ModelProfiler* profiler, const ServedModel& model, bool is_post,
                           std::string_view target);

// Whether a page of another site makes a browser send this, which must change nothing here.
bool IsForeign(const HttpExchange& exchange);

}  // namespace relayvm::serve

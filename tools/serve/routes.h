// Routes: what each path of the Open Inference Protocol answers, as an HttpServer's handler.
//
// route_table.h has the paths, openapi.json describes them; the page and what it shows are
// page_routes.h's, generate and generate_stream generate.h's.
//
// Errors are {"error": text} with the code that HttpCodeOf says. Thread-safe. Tested by
// routes_test.cc, and as a client sees it by tests/run_serve.py.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "bytecode/base/status.h"
#include "tools/serve/dispatcher.h"
#include "tools/serve/http_server.h"
#include "tools/serve/metrics.h"
#include "tools/serve/model_profile.h"
#include "tools/serve/repository.h"
#include "tools/serve/route_table.h"

namespace relayvm::serve {

// 400 for what the request is wrong in, 404, 503 (too much at once), 504 (too late), 499 (the
// client went), 500.
int HttpCodeOf(const Status& status);
HttpResponse ErrorResponse(int code, std::string_view text);
HttpResponse ErrorResponse(const Status& status);

class Routes {
 public:
  // Borrowed, all of them.
  Routes(Repository& repository, Dispatcher& dispatcher, Metrics& metrics)
      : repository_(repository), dispatcher_(dispatcher), metrics_(metrics) {}

  void Handle(std::shared_ptr<HttpExchange> exchange);
  // GET /metrics alone.
  void HandleMetrics(std::shared_ptr<HttpExchange> exchange);
  // Null, as it is at first: models have no profiles.
  void set_profiler(ModelProfiler* profiler) { profiler_ = profiler; }
  // From here on the server says that it is not ready, while it answers what comes.
  void SetDraining() { draining_ = true; }

 private:
  struct Pending;
  void HandleModel(const Route& route, std::shared_ptr<HttpExchange> exchange);
  void AnswerLater(const Route& route, std::shared_ptr<const ServedModel> model,
                   std::shared_ptr<HttpExchange> exchange);
  void ChangeModel(const Route& route, std::shared_ptr<HttpExchange> exchange);
  void Infer(std::shared_ptr<const ServedModel> model, std::shared_ptr<HttpExchange> exchange);
  void Start(const std::shared_ptr<Pending>& pending);
  Status ReadRequest(Pending& pending);
  HttpResponse Ready() const;
  HttpResponse Index(std::string_view body) const;
  HttpResponse Models() const;
  HttpResponse Stats(std::string_view model, std::string_view version) const;
  HttpResponse MetricsText() const;

  Repository& repository_;
  Dispatcher& dispatcher_;
  Metrics& metrics_;
  ModelProfiler* profiler_ = nullptr;
  std::atomic<bool> draining_{false};
};

}  // namespace relayvm::serve

#include "tools/serve/routes.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/guarded.h"
#include "bytecode/base/printable.h"
#include "tools/serve/generate.h"
#include "tools/serve/page_routes.h"
#include "tools/serve/protocol/json_writer.h"
#include "tools/serve/protocol/protocol.h"
#include "tools/serve/request_options.h"

namespace relayvm::serve {
namespace {

HttpResponse Json(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

HttpResponse NotAllowed(std::string_view allowed) {
  HttpResponse response = ErrorResponse(405, fmt::format("expected {}", allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

HttpResponse NoSuchPath() { return ErrorResponse(404, "there is no such path"); }

HttpResponse ServerResponse() {
  return Json(fmt::format(
      "{{\"name\":\"relayvm\",\"version\":\"{}\",\"extensions\":[\"binary_tensor_data\","
      "\"model_repository\",\"statistics\"]}}",
      RELAYVM_VERSION));
}

// Triton's batch_stats: of what each size took.
void AppendBatches(const ModelMetrics& metrics, std::string* json) {
  const char* separator = "";
  for (const auto& [size, of_size] : metrics.batch_times()) {
    fmt::format_to(std::back_inserter(*json),
                   "{}{{\"batch_size\":{},\"compute_infer\":{{\"count\":{},\"ns\":{}}}}}",
                   std::exchange(separator, ","), size, of_size.count, of_size.ns);
  }
}

}  // namespace

int HttpCodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return 200;
    case StatusCode::kInvalidArgument:
    case StatusCode::kInvalidInput:
    case StatusCode::kUnsupported:
    case StatusCode::kOutOfRange:
      return 400;
    case StatusCode::kFailedPrecondition:
      return status.detail() != nullptr && status.detail()->subject == kSequenceConflict ? 409
                                                                                         : 400;
    case StatusCode::kNotFound:
      return 404;
    case StatusCode::kResourceExhausted:
      return 503;
    case StatusCode::kCancelled:
      return 499;
    case StatusCode::kDeadlineExceeded:
      return 504;
    case StatusCode::kInternal:
      return 500;
  }
  return 500;
}

HttpResponse ErrorResponse(int code, std::string_view text) {
  HttpResponse response;
  response.status = code;
  response.body = JsonError(text);
  if (code == 503 || code == 429) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse ErrorResponse(const Status& status) {
  HttpResponse response = ErrorResponse(HttpCodeOf(status), status.message());
  // Several codes of the VM are one of HTTP; a client of ours tells them apart.
  response.headers.emplace_back("X-Relayvm-Status", StatusCodeName(status.code()));
  return response;
}

// An inference between its request and its answer.
struct Routes::Pending {
  Pending(std::shared_ptr<HttpExchange> e, std::shared_ptr<const ServedModel> m)
      : exchange(std::move(e)), model(std::move(m)) {}

  void Answer(HttpResponse response) {
    response.run.model = model->name();
    response.run.version = model->version();
    response.run.owner = model;
    model->metrics().CountAnswer(response.status);
    is_answered.store(true, std::memory_order_relaxed);
    std::exchange(exchange, nullptr)->Respond(std::move(response));
  }
  // The client has gone, maybe before the run was asked for.
  void Leave() {
    const std::lock_guard lock(mutex);
    has_left = true;
    cancel.Cancel();
  }
  void SetCancel(Dispatcher::Cancel handle) {
    const std::lock_guard lock(mutex);
    cancel = std::move(handle);
    if (has_left) cancel.Cancel();
  }

  std::shared_ptr<HttpExchange> exchange;  // until it is answered
  std::shared_ptr<const ServedModel> model;
  InferRequest request;
  InferOptions options;
  std::atomic<bool> is_answered{false};
  std::mutex mutex;  // of what follows
  Dispatcher::Cancel cancel;
  bool has_left = false;
};

void Routes::Handle(std::shared_ptr<HttpExchange> exchange) {
  const std::optional<Route> route = FindRoute(exchange->target());
  if (!route) return exchange->Respond(NoSuchPath());
  if (!route->Allows(exchange->method())) return exchange->Respond(NotAllowed(route->row->methods));
  if (exchange->method() == "POST" && IsForeign(*exchange))
    return exchange->Respond(ErrorResponse(403, "a page of another site asks for this"));
  switch (route->id()) {
    case RouteId::kPage:
      return exchange->Respond(PageResponse());
    case RouteId::kOpenApi:
      return exchange->Respond(Json(std::string(OpenApiSource())));
    case RouteId::kServer:
      return exchange->Respond(ServerResponse());
    case RouteId::kLive:
      return exchange->Respond(Json("{\"live\":true}"));
    case RouteId::kReady:
      return exchange->Respond(Ready());
    case RouteId::kMetrics:
      return exchange->Respond(MetricsText());
    case RouteId::kModels:
      return exchange->Respond(Models());
    case RouteId::kIndex:
      return exchange->Respond(Index(exchange->body()));
    case RouteId::kLoad:
    case RouteId::kUnload:
      return ChangeModel(*route, std::move(exchange));
    case RouteId::kAllStats:
      return exchange->Respond(Stats({}, {}));
    default:
      return HandleModel(*route, std::move(exchange));
  }
}

// What is of one model that is served.
void Routes::HandleModel(const Route& route, std::shared_ptr<HttpExchange> exchange) {
  auto model = repository_.Find(route.model, route.version);
  if (!model.ok()) return exchange->Respond(ErrorResponse(model.status()));
  switch (route.id()) {
    case RouteId::kModel:
      return exchange->Respond(
          Json((*model)->MetadataJson(repository_.VersionsOf((*model)->name()))));
    case RouteId::kModelStats:
      return exchange->Respond(Stats(route.model, route.version));
    case RouteId::kInfer:
      return Infer(*std::move(model), std::move(exchange));
    case RouteId::kGenerate:
    case RouteId::kGenerateStream:
      return Generate(dispatcher_, *std::move(model), std::move(exchange),
                      route.id() == RouteId::kGenerateStream);
    case RouteId::kGraph:
    case RouteId::kProfile:
      return AnswerLater(route, *std::move(model), std::move(exchange));
    default: {
      std::string json = "{\"name\":";
      AppendJsonText((*model)->name(), &json);
      return exchange->Respond(Json(json + ",\"ready\":true}"));
    }
  }
}

// Graphs and profiles, which take milliseconds to write.
void Routes::AnswerLater(const Route& route, std::shared_ptr<const ServedModel> model,
                         std::shared_ptr<HttpExchange> exchange) {
  const bool is_graph = route.id() == RouteId::kGraph;
  dispatcher_.Post([this, exchange = std::move(exchange), model = std::move(model), is_graph] {
    const auto response = Guarded([&]() -> Result<HttpResponse> {
      if (is_graph) return AnswerGraph(*model);
      return AnswerProfile(profiler_, *model, exchange->method() == "POST", exchange->target());
    });
    exchange->Respond(response.ok() ? *response : ErrorResponse(response.status()));
  });
}

void Routes::HandleMetrics(std::shared_ptr<HttpExchange> exchange) {
  const std::optional<Route> route = FindRoute(exchange->target());
  if (!route || route->id() != RouteId::kMetrics) return exchange->Respond(NoSuchPath());
  exchange->Respond(route->Allows(exchange->method()) ? MetricsText()
                                                      : NotAllowed(route->row->methods));
}

HttpResponse Routes::Ready() const {
  if (!draining_ && repository_.is_loaded()) return Json("{\"ready\":true,\"live\":true}");
  HttpResponse response = Json("{\"ready\":false,\"live\":true}");
  response.status = 503;
  return response;
}

HttpResponse Routes::Models() const {
  std::string json = "{\"models\":[", latest;
  const char* separator = "";
  for (const IndexEntry& entry : repository_.Index()) {
    if (!entry.is_ready || entry.name == latest) continue;  // it has several versions
    json += std::exchange(separator, ",");
    AppendJsonText(entry.name, &json);
    latest = entry.name;
  }
  return Json(json + "]}");
}

HttpResponse Routes::Index(std::string_view body) const {
  const Result<bool> only_ready = ReadIndexRequest(body);
  if (!only_ready.ok()) return ErrorResponse(only_ready.status());
  std::string json = "[";
  const char* separator = "";
  for (const IndexEntry& entry : repository_.Index()) {
    if (*only_ready && !entry.is_ready) continue;
    json += std::exchange(separator, ",");
    json += "{\"name\":";
    AppendJsonText(entry.name, &json);
    json += ",\"version\":";
    AppendJsonText(entry.version, &json);
    json += fmt::format(",\"state\":\"{}\",\"reason\":", entry.state());
    AppendJsonText(entry.reason, &json);
    json += "}";
  }
  return Json(json + "]");
}

HttpResponse Routes::Stats(std::string_view model, std::string_view version) const {
  std::string json = "{\"model_stats\":[";
  const char* separator = "";
  for (const auto& served : repository_.Served(model, version)) {
    const ModelMetrics& metrics = served->metrics();
    const uint64_t good = metrics.answers(200), runs = metrics.runs.value();
    uint64_t bad = 0;
    for (const int code : ModelMetrics::kCodes) bad += code == 200 ? 0 : metrics.answers(code);
    const int64_t queued = metrics.queued.sum_ns(), ran = metrics.ran.sum_ns();
    json += std::exchange(separator, ",");
    json += "{\"name\":";
    AppendJsonText(served->name(), &json);
    json += ",\"version\":";
    AppendJsonText(served->version(), &json);
    fmt::format_to(std::back_inserter(json),
                   ",\"inference_count\":{0},\"execution_count\":{1},\"inference_stats\":{{"
                   "\"success\":{{\"count\":{0},\"ns\":{2}}},\"fail\":{{\"count\":{3},\"ns\":0}},"
                   "\"queue\":{{\"count\":{1},\"ns\":{4}}},"
                   "\"compute_infer\":{{\"count\":{1},\"ns\":{5}}}}},\"batch_stats\":[",
                   good, runs, queued + ran, bad, queued, ran);
    AppendBatches(metrics, &json);
    json += "]}";
  }
  return Json(json + "]}");
}

HttpResponse Routes::MetricsText() const {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics_.Text();
  return response;
}

void Routes::ChangeModel(const Route& route, std::shared_ptr<HttpExchange> exchange) {
  if (const auto parameters = ReadParameters(exchange->body()); !parameters.ok())
    return exchange->Respond(ErrorResponse(parameters.status()));
  auto done = [exchange](const Status& status) {
    if (status.code() == StatusCode::kFailedPrecondition)
      return exchange->Respond(ErrorResponse(409, status.message()));
    exchange->Respond(status.ok() ? Json("{}") : ErrorResponse(status));
  };
  if (route.id() == RouteId::kLoad) return repository_.Load(route.model, std::move(done));
  repository_.Unload(route.model, std::move(done));
}

Status Routes::ReadRequest(Pending& pending) {
  HttpExchange& exchange = *pending.exchange;
  std::optional<size_t> json_bytes;
  constexpr std::string_view kLength = "Inference-Header-Content-Length";
  if (const std::string_view text = exchange.header(kLength); !text.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(json_bytes, HeaderNumber(kLength, text));
  }
  RELAYVM_ASSIGN_OR_RETURN(pending.request,
                           ReadInferRequest(exchange.body(), json_bytes, dispatcher_.runtime(),
                                            LimitsOf(dispatcher_, exchange)));
  pending.request.model = pending.model->name();
  pending.request.version = pending.model->version();
  RELAYVM_ASSIGN_OR_RETURN(pending.options.deadline,
                           DeadlineOf(exchange, pending.request, dispatcher_.default_timeout()));
  return OkStatus();
}

void Routes::Infer(std::shared_ptr<const ServedModel> model,
                   std::shared_ptr<HttpExchange> exchange) {
  const auto pending = std::make_shared<Pending>(exchange, std::move(model));
  if (exchange->body().size() <= kReadHere) {
    Start(pending);
  } else {
    dispatcher_.Post([this, pending] {
      const Status failed = Guarded([&]() -> Status {
        Start(pending);
        return OkStatus();
      });
      if (!failed.ok() && !pending->is_answered) pending->Answer(ErrorResponse(503, ""));
    });
  }
  if (!pending->is_answered.load(std::memory_order_relaxed))
    exchange->set_on_disconnect([pending] { pending->Leave(); });
}

void Routes::Start(const std::shared_ptr<Pending>& pending) {
  if (const Status read = ReadRequest(*pending); !read.ok())
    return pending->Answer(ErrorResponse(read));
  pending->options.tag = pending->exchange->trace().tag();
  auto done = [pending](Result<InferResponse> result) {
    const RunReport& run = Dispatcher::ended_run();
    const int64_t queued = run.invocation != 0 ? run.queued_ns : run.total_ns;
    const int64_t ran = run.total_ns - queued;
    const auto answer = [&](HttpResponse response) {
      response.run.queued_ns = queued;
      response.run.run_ns = ran;
      pending->Answer(std::move(response));
    };
    if (!result.ok()) return answer(ErrorResponse(result.status()));
    Result<HttpResponse> response = WriteInferResponse(pending->request, *std::move(result));
    answer(response.ok() ? *std::move(response) : ErrorResponse(response.status()));
  };
  Dispatcher::Cancel cancel;
  const Status refused = dispatcher_.Infer(pending->model, pending->request, pending->options,
                                           std::move(done), &cancel);
  if (refused.ok()) return pending->SetCancel(std::move(cancel));
  const bool is_draining = refused.code() == StatusCode::kFailedPrecondition && draining_;
  pending->Answer(is_draining ? ErrorResponse(503, "the server ends") : ErrorResponse(refused));
}

}  // namespace relayvm::serve

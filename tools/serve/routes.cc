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
#include "tools/serve/json_writer.h"
#include "tools/serve/page_routes.h"
#include "tools/serve/protocol.h"
#include "tools/serve/request_options.h"

namespace relayvm::serve {
namespace {

constexpr size_t kMaxSegments = 16;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

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

// A target in its parts: {"v2", "models", "m", "infer"}.
struct Routes::Path {
  std::vector<std::string> parts;

  static std::optional<Path> Of(std::string_view target) {
    Path path;
    target = target.substr(0, target.find('?'));
    while (!target.empty()) {
      if (target.front() != '/' || path.parts.size() == kMaxSegments) return std::nullopt;
      target.remove_prefix(1);
      const size_t end = std::min(target.find('/'), target.size());
      std::optional<std::string> part = Decoded(target.substr(0, end));
      if (!part) return std::nullopt;
      target.remove_prefix(end);
      if (part->empty() && target.empty()) break;  // a slash at the end
      path.parts.push_back(*std::move(part));
    }
    return path;
  }
  size_t size() const { return parts.size(); }
  bool Is(size_t i, std::string_view text) const { return i < parts.size() && parts[i] == text; }
  bool IsModel() const { return Is(0, "v2") && Is(1, "models") && size() > 2; }
  bool HasVersion() const { return Is(3, "versions") && size() > 4; }
  const std::string& model() const { return parts[2]; }
  std::string_view version() const { return HasVersion() ? std::string_view(parts[4]) : ""; }
  bool IsRun() const {
    return verb() == "infer" || verb() == "generate" || verb() == "generate_stream";
  }
  // Behind model and version: "infer"; nothing there is "", more than one part is "?".
  std::string_view verb() const {
    const size_t at = HasVersion() ? 5 : 3;
    if (size() == at) return "";
    return size() == at + 1 ? std::string_view(parts[at]) : "?";
  }
};

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
  const std::optional<Path> path = Path::Of(exchange->target());
  if (!path) return exchange->Respond(NoSuchPath());
  const std::string_view method = exchange->method();
  if (method == "POST" && IsForeign(*exchange))
    return exchange->Respond(ErrorResponse(403, "a page of another site asks for this"));
  if (HandlePage(*path, exchange)) return;
  if (method == "POST") return Post(*path, std::move(exchange));
  const bool is_post = (path->IsModel() && path->IsRun()) || path->Is(1, "repository");
  if ((method != "GET" && method != "HEAD") || is_post)
    return exchange->Respond(NotAllowed(is_post ? "POST" : "GET, HEAD"));
  exchange->Respond(Get(*path));
}

bool Routes::HandlePage(const Path& path, const std::shared_ptr<HttpExchange>& exchange) {
  const bool is_page = path.size() == 0 && exchange->target().starts_with('/');
  const bool is_graph = path.IsModel() && path.verb() == "graph";
  const bool is_profile = path.IsModel() && path.verb() == "profile";
  if (!is_page && !is_graph && !is_profile) return false;
  const std::string_view method = exchange->method();
  const bool is_post = method == "POST";
  if ((method != "GET" && method != "HEAD" && !is_post) || (is_post && !is_profile)) {
    exchange->Respond(NotAllowed(is_profile ? "GET, HEAD, POST" : "GET, HEAD"));
    return true;
  }
  if (is_page) {
    exchange->Respond(PageResponse());
    return true;
  }
  auto found = repository_.Find(path.model(), path.version());
  if (!found.ok()) {
    exchange->Respond(ErrorResponse(found.status()));
    return true;
  }
  dispatcher_.Post([this, exchange, model = *std::move(found), is_graph, is_post] {
    const auto response = Guarded([&]() -> Result<HttpResponse> {
      if (is_graph) return AnswerGraph(*model);
      return AnswerProfile(profiler_, *model, is_post, exchange->target());
    });
    exchange->Respond(response.ok() ? *response : ErrorResponse(response.status()));
  });
  return true;
}

void Routes::HandleMetrics(std::shared_ptr<HttpExchange> exchange) {
  const std::optional<Path> path = Path::Of(exchange->target());
  if (!path || !path->Is(0, "metrics") || path->size() != 1) return exchange->Respond(NoSuchPath());
  if (exchange->method() != "GET" && exchange->method() != "HEAD")
    return exchange->Respond(NotAllowed("GET, HEAD"));
  exchange->Respond(MetricsText());
}

HttpResponse Routes::Get(const Path& path) {
  if (path.Is(0, "metrics") && path.size() == 1) return MetricsText();
  if (!path.Is(0, "v2")) return NoSuchPath();
  if (path.size() == 1) {
    return Json(fmt::format(
        "{{\"name\":\"relayvm\",\"version\":\"{}\",\"extensions\":[\"binary_tensor_data\","
        "\"model_repository\",\"statistics\"]}}",
        RELAYVM_VERSION));
  }
  if (path.Is(1, "health") && path.size() == 3) {
    if (path.Is(2, "live")) return Json("{\"live\":true}");
    if (path.Is(2, "ready")) return Ready();
  }
  if (path.Is(1, "models") && path.size() == 2) return Models();
  if (path.Is(1, "models") && path.Is(2, "stats") && path.size() == 3) return Stats(nullptr);
  if (path.IsModel()) return GetModel(path);
  return NoSuchPath();
}

HttpResponse Routes::GetModel(const Path& path) {
  const auto model = repository_.Find(path.model(), path.version());
  const std::string_view verb = path.verb();
  if (verb != "" && verb != "ready" && verb != "stats") return NoSuchPath();
  if (!model.ok()) return ErrorResponse(model.status());
  if (verb == "") return Json((*model)->MetadataJson());
  if (verb == "stats") return Stats(model->get());
  std::string json = "{\"name\":";
  AppendJsonText((*model)->name(), &json);
  return Json(json + ",\"ready\":true}");
}

HttpResponse Routes::Ready() const {
  if (!draining_) return Json("{\"ready\":true,\"live\":true}");
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

HttpResponse Routes::Index() const {
  std::string json = "[";
  const char* separator = "";
  for (const IndexEntry& entry : repository_.Index()) {
    json += std::exchange(separator, ",");
    json += "{\"name\":";
    AppendJsonText(entry.name, &json);
    json += ",\"version\":";
    AppendJsonText(entry.version, &json);
    json += entry.is_ready ? ",\"state\":\"READY\",\"reason\":"
                           : ",\"state\":\"UNAVAILABLE\",\"reason\":";
    AppendJsonText(entry.reason, &json);
    json += "}";
  }
  return Json(json + "]");
}

HttpResponse Routes::Stats(const ServedModel* only) const {
  std::string json = "{\"model_stats\":[";
  const char* separator = "";
  for (const IndexEntry& entry : repository_.Index()) {
    if (!entry.is_ready || (only != nullptr && entry.name != only->name())) continue;
    const auto model = repository_.Find(entry.name, entry.version);
    if (!model.ok()) continue;
    const ModelMetrics& metrics = (*model)->metrics();
    const uint64_t good = metrics.answers(200), runs = metrics.runs.value();
    uint64_t bad = 0;
    for (const int code : ModelMetrics::kCodes) bad += code == 200 ? 0 : metrics.answers(code);
    const int64_t queued = metrics.queued.sum_ns(), ran = metrics.ran.sum_ns();
    json += std::exchange(separator, ",");
    json += "{\"name\":";
    AppendJsonText(entry.name, &json);
    json += ",\"version\":";
    AppendJsonText(entry.version, &json);
    fmt::format_to(std::back_inserter(json),
                   ",\"inference_count\":{0},\"execution_count\":{1},\"inference_stats\":{{"
                   "\"success\":{{\"count\":{0},\"ns\":{2}}},\"fail\":{{\"count\":{3},\"ns\":0}},"
                   "\"queue\":{{\"count\":{1},\"ns\":{4}}},"
                   "\"compute_infer\":{{\"count\":{1},\"ns\":{5}}}}},\"batch_stats\":[]}}",
                   good, runs, queued + ran, bad, queued, ran);
  }
  return Json(json + "]}");
}

HttpResponse Routes::MetricsText() const {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics_.Text();
  return response;
}

void Routes::Post(const Path& path, std::shared_ptr<HttpExchange> exchange) {
  if (path.IsModel()) {
    if (path.verb() == "infer") return Infer(path, std::move(exchange));
    if (path.verb() == "generate" || path.verb() == "generate_stream") {
      auto model = repository_.Find(path.model(), path.version());
      if (!model.ok()) return exchange->Respond(ErrorResponse(model.status()));
      return Generate(dispatcher_, *std::move(model), std::move(exchange),
                      path.verb() == "generate_stream");
    }
    const bool is_get = path.verb() == "" || path.verb() == "ready" || path.verb() == "stats";
    return exchange->Respond(is_get ? NotAllowed("GET, HEAD") : NoSuchPath());
  }
  if (!path.Is(0, "v2") || !path.Is(1, "repository")) {
    const bool is_get = Get(path).status != 404;
    return exchange->Respond(is_get ? NotAllowed("GET, HEAD") : NoSuchPath());
  }
  if (path.Is(2, "index") && path.size() == 3) return exchange->Respond(Index());
  const bool is_load = path.Is(4, "load"), is_unload = path.Is(4, "unload");
  if (!path.Is(2, "models") || path.size() != 5 || (!is_load && !is_unload))
    return exchange->Respond(NoSuchPath());
  if (const auto parameters = ReadParameters(exchange->body()); !parameters.ok())
    return exchange->Respond(ErrorResponse(parameters.status()));
  auto done = [exchange](const Status& status) {
    if (status.code() == StatusCode::kFailedPrecondition)
      return exchange->Respond(ErrorResponse(409, status.message()));
    exchange->Respond(status.ok() ? Json("{}") : ErrorResponse(status));
  };
  if (is_load) return repository_.Load(path.parts[3], std::move(done));
  repository_.Unload(path.parts[3], std::move(done));
}

Status Routes::ReadRequest(Pending& pending) {
  const HttpExchange& exchange = *pending.exchange;
  std::optional<size_t> json_bytes;
  constexpr std::string_view kLength = "Inference-Header-Content-Length";
  if (const std::string_view text = exchange.header(kLength); !text.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(json_bytes, HeaderNumber(kLength, text));
  }
  RELAYVM_ASSIGN_OR_RETURN(pending.request,
                           ReadInferRequest(exchange.body(), json_bytes, dispatcher_.runtime()));
  pending.request.model = pending.model->name();
  pending.request.version = pending.model->version();
  RELAYVM_ASSIGN_OR_RETURN(pending.options.deadline,
                           DeadlineOf(exchange, pending.request, dispatcher_.default_timeout()));
  return OkStatus();
}

void Routes::Infer(const Path& path, std::shared_ptr<HttpExchange> exchange) {
  auto model = repository_.Find(path.model(), path.version());
  if (!model.ok()) return exchange->Respond(ErrorResponse(model.status()));
  const auto pending = std::make_shared<Pending>(exchange, *std::move(model));
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

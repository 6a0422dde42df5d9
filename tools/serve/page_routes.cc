#include "tools/serve/page_routes.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "bytecode/base/printable.h"
#include "tools/serve/model_graph.h"
#include "tools/serve/routes.h"

namespace relayvm::serve {
namespace {

constexpr std::string_view kNoncePlace = "__NONCE__";

HttpResponse JsonAnswer(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

}  // namespace

HttpResponse PageResponse() {
  uint64_t random[2] = {};
  if (::getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
    return ErrorResponse(503, "the machine has no random numbers");
  const std::string nonce = fmt::format("{:016x}{:016x}", random[0], random[1]);
  HttpResponse response;
  response.content_type = "text/html; charset=utf-8";
  std::string_view source = PageSource();
  for (size_t at; (at = source.find(kNoncePlace)) != std::string_view::npos;) {
    response.body.append(source.substr(0, at)).append(nonce);
    source.remove_prefix(at + kNoncePlace.size());
  }
  response.body.append(source);
  response.headers = {
      {"Content-Security-Policy",
       fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                   "connect-src 'self'; img-src blob:; base-uri 'none'; form-action 'none'; "
                   "frame-ancestors 'none'",
                   nonce)},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cache-Control", "no-store"}};
  return response;
}

std::optional<std::string_view> QueryValue(std::string_view target, std::string_view name) {
  const size_t question = target.find('?');
  if (question == std::string_view::npos) return std::nullopt;
  target.remove_prefix(question + 1);
  while (!target.empty()) {
    const std::string_view part = target.substr(0, target.find('&'));
    const size_t equals = std::min(part.find('='), part.size());
    if (part.substr(0, equals) == name) return part.substr(std::min(equals + 1, part.size()));
    target.remove_prefix(std::min(part.size() + 1, target.size()));
  }
  return std::nullopt;
}

HttpResponse AnswerGraph(const ServedModel& model) {
  return JsonAnswer(ModelGraphJson(*model.executable()));
}

HttpResponse AnswerProfile(ModelProfiler* profiler, const ServedModel& model, bool is_post,
                           std::string_view target) {
  if (profiler == nullptr) return ErrorResponse(404, "this server keeps no profiles");
  const Executable& executable = *model.executable();
  if (is_post) {
    const std::string_view text = QueryValue(target, "requests").value_or("");
    int64_t runs = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), runs);
    if (error != std::errc() || end != text.data() + text.size()) {
      return ErrorResponse(
          400, fmt::format("requests: expected a number, found {}", Printable(text.substr(0, 40))));
    }
    const Status started = profiler->Record(executable, runs);
    return started.ok() ? JsonAnswer("{}") : ErrorResponse(started);
  }
  const auto format = QueryValue(target, "format");
  if (format && *format != "json" && *format != "chrome")
    return ErrorResponse(400, "format: expected json or chrome");
  Result<std::string> json =
      format && *format == "chrome" ? profiler->ChromeJson(executable) : profiler->Json(executable);
  return json.ok() ? JsonAnswer(*std::move(json)) : ErrorResponse(json.status());
}

bool IsForeign(const HttpExchange& exchange) {
  return exchange.header("Sec-Fetch-Site") == "cross-site";
}

}  // namespace relayvm::serve

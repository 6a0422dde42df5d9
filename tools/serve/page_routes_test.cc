#include "tools/serve/page_routes.h"

#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

std::string PolicyOf(const HttpResponse& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "Content-Security-Policy") return value;
  }
  return "";
}

TEST_CASE("parameters of a target") {
  CHECK(QueryValue("/p?a=1&b=2", "b") == "2");
  CHECK(QueryValue("/p?a=1&b=2", "a") == "1");
  CHECK(QueryValue("/p?a", "a") == "");
  CHECK(QueryValue("/p?a=", "a") == "");
  CHECK(QueryValue("/p?aa=1", "a") == std::nullopt);
  CHECK(QueryValue("/p?&&=&x", "a") == std::nullopt);
  CHECK(QueryValue("/p", "p") == std::nullopt);
  CHECK(QueryValue("?", "") == std::nullopt);
}

TEST_CASE("each page has a nonce of its own, which is in its policy and its tags") {
  const HttpResponse first = PageResponse(), second = PageResponse();
  CHECK(PolicyOf(first) != PolicyOf(second));
  CHECK(first.body.find("__NONCE__") == std::string::npos);
  const std::string policy = PolicyOf(first);
  const size_t at = policy.find("'nonce-");
  REQUIRE(at != std::string::npos);
  const std::string nonce = policy.substr(at + 7, 32);
  CHECK(first.body.find("<script nonce=\"" + nonce + "\">") != std::string::npos);
  CHECK(first.body.find("<style nonce=\"" + nonce + "\">") != std::string::npos);
  CHECK(policy.find("unsafe") == std::string::npos);
}

TEST_CASE("nothing of the page is from elsewhere, or put in as HTML") {
  const std::string_view page = PageSource();
  for (const char* wrong : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                            "eval(", "src=\"http", "href=\"http", "@import", "onclick=\""})
    CHECK_MESSAGE(page.find(wrong) == std::string_view::npos, wrong);
}

TEST_CASE("profiles: what was asked wrongly") {
  auto dispatcher = testing::NewDispatcher();
  Metrics metrics;
  const auto model = testing::Served(*dispatcher, metrics, testing::kAddOne);
  ModelProfiler profiler(0);
  CHECK(AnswerProfile(nullptr, *model, false, "/p").status == 404);
  CHECK(AnswerProfile(&profiler, *model, false, "/p").status == 404);
  const auto watch = profiler.Watch("m", "1", *model->executable());
  CHECK(AnswerProfile(&profiler, *model, false, "/p").status == 200);
  CHECK(AnswerProfile(&profiler, *model, false, "/p?format=xml").status == 400);
  CHECK(AnswerProfile(&profiler, *model, false, "/p?format=chrome").status == 404);
  for (const char* wrong : {"/p", "/p?requests=", "/p?requests=x", "/p?requests=0",
                            "/p?requests=-1", "/p?requests=1x", "/p?requests=99999999999999999999"})
    CHECK_MESSAGE(AnswerProfile(&profiler, *model, true, wrong).status == 400, wrong);
  CHECK(AnswerProfile(&profiler, *model, true, "/p?requests=3").status == 200);
  CHECK(AnswerProfile(&profiler, *model, false, "/p?format=chrome").status == 200);
  CHECK(AnswerGraph(*model).body.starts_with("{\"functions\":["));
}

}  // namespace
}  // namespace relayvm::serve

#include "tools/serve/routes.h"

#include "tests/temp_folder.h"
#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using relayvm::testing::TempFolder;

// A request without a connection.
class FakeExchange : public HttpExchange {
 public:
  std::string_view method() const override { return method_; }
  std::string_view target() const override { return target_; }
  std::string_view body() const override { return body_; }
  std::string_view header(std::string_view name) const override {
    for (const auto& [key, value] : headers_) {
      if (key == name) return value;
    }
    return {};
  }
  void set_on_disconnect(std::function<void()> gone) override { gone_.set_value(std::move(gone)); }
  void Respond(HttpResponse response) override { response_.set_value(std::move(response)); }
  void BeginStream(HttpResponse, std::function<void()>) override {}
  void WriteStream(std::string) override {}
  void EndStream() override {}

  std::string method_, target_, body_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::promise<std::function<void()>> gone_;
  std::promise<HttpResponse> response_;
};

struct House {
  explicit House(size_t versions = 1) {
    testing::Save(testing::kAddOne, folder / "add/3/model.vmx");
    testing::Save(testing::kCount, folder / "count/1/model.vmx");
    auto made = Repository::Create(
        {.folder = folder / "", .poll = std::chrono::milliseconds(0), .versions = versions},
        testing::MakeServed(*dispatcher, metrics));
    REQUIRE(made.ok());
    repository = *std::move(made);
    routes = std::make_unique<Routes>(*repository, *dispatcher, metrics);
  }
  ~House() {
    repository.reset();
    dispatcher.reset();
  }
  std::shared_ptr<FakeExchange> Start(
      const std::string& method, const std::string& target, const std::string& body = "",
      const std::vector<std::pair<std::string, std::string>>& headers = {}) {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->method_ = method;
    exchange->target_ = target;
    exchange->body_ = body;
    exchange->headers_ = headers;
    routes->Handle(exchange);
    return exchange;
  }
  HttpResponse Ask(const std::string& method, const std::string& target,
                   const std::string& body = "",
                   const std::vector<std::pair<std::string, std::string>>& headers = {}) {
    return Start(method, target, body, headers)->response_.get_future().get();
  }
  int Code(const std::string& method, const std::string& target, const std::string& body = "") {
    return Ask(method, target, body).status;
  }

  TempFolder folder;
  Metrics metrics;
  std::unique_ptr<Dispatcher> dispatcher = testing::NewDispatcher({.workers = 1});
  std::unique_ptr<Repository> repository;
  std::unique_ptr<Routes> routes;
};

constexpr const char* kOne =
    R"({"id":"7","inputs":[{"name":"x","shape":[2],"datatype":"FP32","data":[1,2.5]}]})";
constexpr const char* kForever =
    R"({"inputs":[{"name":"n","shape":[],"datatype":"INT64","data":[1000000000000000000]}]})";

TEST_CASE("what the server and its models are") {
  House house;
  CHECK(house.Ask("GET", "/v2").body.starts_with("{\"name\":\"relayvm\",\"version\":\""));
  CHECK(house.Ask("GET", "/v2/health/live").body == "{\"live\":true}");
  CHECK(house.Code("GET", "/v2/health/ready") == 200);
  CHECK(house.Ask("GET", "/v2/models").body == "{\"models\":[\"add\",\"count\"]}");
  const std::string metadata = house.Ask("GET", "/v2/models/add").body;
  CHECK(metadata.starts_with("{\"name\":\"add\",\"versions\":[\"3\"],"));
  CHECK(house.Ask("GET", "/v2/models/add/versions/3").body == metadata);
  CHECK(house.Ask("GET", "/v2/models/%61dd/?x=/y").body == metadata);
  CHECK(house.Ask("HEAD", "/v2/models/add/ready").body == "{\"name\":\"add\",\"ready\":true}");
  CHECK(house.Ask("POST", "/v2/repository/index", "{}")
            .body.starts_with(
                "[{\"name\":\"add\",\"version\":\"3\",\"state\":\"READY\",\"reason\":\"\"},"));
}

TEST_CASE("an inference, and what counts it") {
  House house;
  for (const char* path : {"/v2/models/add/infer", "/v2/models/add/versions/3/infer"}) {
    CHECK(house.Ask("POST", path, kOne).body ==
          R"({"model_name":"add","model_version":"3","id":"7","outputs":[{"name":"output_0",)"
          R"("datatype":"FP32","shape":[2],"data":[2,3.5]}]})");
  }
  CHECK(house.Code("POST", "/v2/models/add/infer", "{") == 400);
  CHECK(house.Ask("GET", "/metrics")
            .body.find("vmserve_requests_total{model=\"add\",code=\"200\"} 2\n") !=
        std::string::npos);
  CHECK(
      house.Ask("GET", "/v2/models/add/stats")
          .body.starts_with(
              R"({"model_stats":[{"name":"add","version":"3","inference_count":2,"execution_count":2,)"));
  const std::string all = house.Ask("GET", "/v2/models/stats").body;
  CHECK(all.find(R"("batch_stats":[{"batch_size":1,"compute_infer":{"count":2,"ns":)") !=
        std::string::npos);
  CHECK(all.find("\"batch_stats\":[]}") != std::string::npos);  // of count
}

TEST_CASE(
    "metadata has all versions that are served, whichever was asked; statistics have those that "
    "were") {
  House house(2);
  testing::Save(testing::kAddTwo, house.folder / "add/12/model.vmx");
  CHECK(testing::Wait([&](auto done) { house.repository->Refresh(std::move(done)); }).ok());
  for (const char* path : {"/v2/models/add", "/v2/models/add/versions/3"})
    CHECK(
        house.Ask("GET", path).body.starts_with("{\"name\":\"add\",\"versions\":[\"3\",\"12\"],"));
  const auto has = [&](const char* path, const char* version) {
    const std::string text = std::string(R"({"name":"add","version":")") + version + "\"";
    return house.Ask("GET", path).body.find(text) != std::string::npos;
  };
  for (const char* version : {"3", "12"}) CHECK(has("/v2/models/add/stats", version));
  CHECK(has("/v2/models/add/versions/12/stats", "12"));
  CHECK_FALSE(has("/v2/models/add/versions/12/stats", "3"));
}

TEST_CASE("an index of all, or of what is ready") {
  House house;
  CHECK(house.Code("POST", "/v2/repository/models/add/unload") == 200);
  CHECK(house.Ask("POST", "/v2/repository/index").body.find("\"UNAVAILABLE\"") !=
        std::string::npos);
  CHECK(house.Ask("POST", "/v2/repository/index", R"({"ready": true})").body ==
        R"([{"name":"count","version":"1","state":"READY","reason":""}])");
  CHECK(house.Code("POST", "/v2/repository/index", R"({"ready": 1})") == 400);
}

TEST_CASE("paths, methods and bodies that are none") {
  House house;
  for (const char* path :
       {"", "?/", "*", "/v1", "/v2/nothing", "/v2/health", "/v2/models/none",
        "/v2/models/add/versions/4", "/v2/models/add/versions/4/ready", "/v2/models/add/nothing",
        "/v2/models/add/versions/3/x/y", "/v2/models/%zz", "/v2/models/%6", "/v2//models",
        "/metrics/x", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18"}) {
    CAPTURE(path);
    CHECK(house.Code("GET", path) == 404);
  }
  for (const char* path : {"/v2/models/none/infer", "/v2/models/add/versions/4/infer",
                           "/v2/repository", "/v2/repository/models/none/load",
                           "/v2/repository/models/add/load/x", "/v2/models/add/run"}) {
    CAPTURE(path);
    CHECK(house.Code("POST", path, "{}") == 404);
  }
  for (const char* path : {"/v2", "/v2/models", "/v2/health/live", "/v2/models/add/ready"}) {
    CAPTURE(path);
    CHECK(house.Code("POST", path, "{}") == 405);
    CHECK(house.Code("DELETE", path) == 405);
  }
  CHECK(house.Code("GET", "/v2/models/add/infer") == 405);
  CHECK(house.Code("GET", "/v2/repository/index") == 405);
  CHECK(house.Code("POST", "/v2/repository/models/add/load", "{") == 400);
  CHECK(house
            .Ask("POST", "/v2/models/add/infer", kOne,
                 {{"Inference-Header-Content-Length", "99999999999999999999"}})
            .status == 400);
  CHECK(
      house.Ask("POST", "/v2/models/add/infer", kOne, {{"X-Request-Timeout-Ms", "soon"}}).status ==
      400);
}

TEST_CASE("a shape that is another's is an error in the VM's words") {
  House house;
  const HttpResponse response =
      house.Ask("POST", "/v2/models/add/infer",
                R"({"inputs":[{"name":"x","shape":[1,1],"datatype":"FP32","data":[1]}]})");
  CHECK(response.status == 400);
  CHECK(response.body.find("expected Tensor[(") != std::string::npos);
  CHECK(response.body.find("found Tensor[(1, 1), float32]") != std::string::npos);
}

TEST_CASE("models are unloaded and loaded by name") {
  House house;
  CHECK(house.Code("POST", "/v2/repository/models/add/unload", "{}") == 200);
  CHECK(house.Code("POST", "/v2/models/add/infer", kOne) == 404);
  CHECK(house.Code("POST", "/v2/repository/models/add/load") == 200);
  CHECK(house.Code("POST", "/v2/models/add/infer", kOne) == 200);
}

TEST_CASE("a deadline ends a request: by its header, and by its parameter") {
  House house;
  CHECK(house.Ask("POST", "/v2/models/count/infer", kForever, {{"X-Request-Timeout-Ms", "20"}})
            .status == 504);
  std::string body = kForever;
  body.insert(1, R"("parameters":{"timeout":20000},)");
  CHECK(house.Ask("POST", "/v2/models/count/infer", body).status == 504);
}

TEST_CASE("large requests, which workers read, are as others") {
  House house;
  constexpr size_t kMany = 100'000;
  std::string data = "0.5";
  for (size_t i = 1; i < kMany; ++i) data += ",0.5";
  const auto body = [&](size_t count) {
    return R"({"inputs":[{"name":"x","shape":[)" + std::to_string(count) +
           R"(],"datatype":"FP32","data":[)" + data + "]}]}";
  };
  const HttpResponse response = house.Ask("POST", "/v2/models/add/infer", body(kMany));
  CHECK(response.status == 200);
  CHECK(response.body.ends_with("1.5,1.5]}]}"));
  CHECK(house.Code("POST", "/v2/models/add/infer", body(kMany + 1)) == 400);
  // Its client goes before or while it is read.
  const auto exchange =
      house.Start("POST", "/v2/models/count/infer", kForever + std::string(200'000, ' '));
  exchange->gone_.get_future().get()();
  CHECK(exchange->response_.get_future().get().status == 499);
}

TEST_CASE("a client that goes ends its run") {
  House house;
  const auto exchange = house.Start("POST", "/v2/models/count/infer", kForever);
  exchange->gone_.get_future().get()();
  CHECK(exchange->response_.get_future().get().status == 499);
}

TEST_CASE("while it drains, it is not ready") {
  House house;
  house.routes->SetDraining();
  CHECK(house.Code("GET", "/v2/health/ready") == 503);
  CHECK(house.Code("GET", "/v2/health/live") == 200);
  CHECK(house.dispatcher->Drain({}).ok());
  const HttpResponse refused = house.Ask("POST", "/v2/models/add/infer", kOne);
  CHECK(refused.status == 503);
  CHECK(refused.headers[0].first == "Retry-After");
}

}  // namespace
}  // namespace relayvm::serve

#include "tools/serve/model_profile.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "tools/serve/model_memory.h"
#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using Json = nlohmann::json;

// A dispatcher whose runs a profiler sees, with a model or two.
struct House {
  explicit House(uint32_t interval) : profiler(interval) {
    DispatcherOptions options;
    options.trace = &profiler;
    options.workers = 2;
    dispatcher = testing::NewDispatcher(options);
    model = Watched("m");
  }
  std::shared_ptr<const ServedModel> Watched(const std::string& name) {
    auto made =
        ServedModel::Create(name, "1", testing::Loaded(testing::kAddOne), *dispatcher->MakeGroup(),
                            std::make_shared<ModelMetrics>(metrics, name));
    REQUIRE(made.ok());
    (*made)->Attach(profiler.Watch(name, "1", *(*made)->executable()));
    return *made;
  }
  void Run(const std::shared_ptr<const ServedModel>& which, uint64_t tag = 0) {
    InferRequest request;
    request.inputs.push_back({"x", testing::Floats({1, 2})});
    std::promise<void> done;
    InferOptions options;
    options.tag = tag;
    Dispatcher::Cancel cancel;
    REQUIRE(dispatcher
                ->Infer(
                    which, request, options,
                    [&](const Result<InferResponse>& result) {
                      CHECK(result.ok());
                      done.set_value();
                    },
                    &cancel)
                .ok());
    done.get_future().wait();
  }
  Json Profile(const std::shared_ptr<const ServedModel>& which) {
    const auto json = profiler.Json(*which->executable());
    REQUIRE(json.ok());
    return Json::parse(*json);
  }

  Metrics metrics;
  ModelProfiler profiler;
  std::unique_ptr<Dispatcher> dispatcher;
  std::shared_ptr<const ServedModel> model;
};

TEST_CASE("sampled kernels stand for all calls") {
  House house(1);
  for (int i = 0; i < 3; ++i) house.Run(house.model);
  const Json json = house.Profile(house.model);
  CHECK(json["name"] == "m");
  CHECK(json["recording"].is_null());
  CHECK(json["sampled"]["interval"] == 1);
  CHECK(json["sampled"]["runs"] == 3);
  REQUIRE(json["sampled"]["kernels"].size() == 1);
  CHECK(json["sampled"]["kernels"][0]["calls"] == 3);
  CHECK(json["sampled"]["kernels"][0]["total_ns"] > 0);
  std::string text;
  house.profiler.AppendMetrics(&text);
  CHECK(text.find("vmserve_kernel_calls_total{model=\"m\",version=\"1\",kernel=\"") !=
        std::string::npos);
  CHECK(text.find("\"} 3\n") != std::string::npos);
}

TEST_CASE("the next runs of one model are recorded, others not") {
  House house(0);
  const auto other = house.Watched("other");
  house.Run(house.model);
  CHECK(house.Profile(house.model)["sampled"]["kernels"].empty());
  CHECK(house.profiler.ChromeJson(*house.model->executable()).status().code() ==
        StatusCode::kNotFound);
  REQUIRE(house.profiler.Record(*house.model->executable(), 2).ok());
  CHECK(house.Profile(house.model)["recording"]["done"] == false);
  house.Run(other);
  for (int i = 0; i < 4; ++i) house.Run(house.model, 77);
  const Json recording = house.Profile(house.model)["recording"];
  CHECK(recording["asked"] == 2);
  CHECK(recording["done"] == true);
  CHECK(recording["runs"] == 2);
  CHECK(recording["kernels"][0]["calls"] == 2);
  CHECK(house.Profile(other)["recording"].is_null());
  CHECK(house.profiler.kernel_interval() == 0);
  const auto chrome = house.profiler.ChromeJson(*house.model->executable());
  REQUIRE(chrome.ok());
  CHECK(Json::parse(*chrome)["traceEvents"].size() > 0);
  CHECK(chrome->find("77") != std::string::npos);  // the tag
}

TEST_CASE("what cannot be recorded") {
  House house(0);
  for (const int64_t runs : {int64_t{0}, int64_t{-1}, int64_t{1001}, INT64_MAX}) {
    CHECK(house.profiler.Record(*house.model->executable(), runs).code() ==
          StatusCode::kInvalidArgument);
  }
  const auto stranger = testing::Loaded(testing::kAddTwo);
  CHECK(house.profiler.Record(*stranger, 1).code() == StatusCode::kNotFound);
  CHECK(house.profiler.Json(*stranger).status().code() == StatusCode::kNotFound);
}

TEST_CASE("a program goes with its model, though it was profiled and is being recorded") {
  House house(1);
  auto model = house.Watched("gone");
  REQUIRE(house.profiler.Record(*model->executable(), 5).ok());
  house.Run(model);
  const std::weak_ptr<const Executable> executable = model->executable();
  house.Run(house.model);  // what the worker had of the run before is given back
  model.reset();
  for (int i = 0; i < 1000 && !executable.expired(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(executable.expired());
  CHECK(house.profiler.kernel_interval() == 1);
  std::string text;
  house.profiler.AppendMetrics(&text);
  CHECK(text.find("gone") == std::string::npos);
}

TEST_CASE("gauges of a version end with it, those of a newer one of its name stay") {
  Metrics metrics;
  auto first = metrics.AddEndingGauge("g", "Is", {{"m", "x"}}, [] { return 1; });
  auto second = metrics.AddEndingGauge("g", "Is", {{"m", "x"}}, [] { return 2; });
  first.reset();
  CHECK(metrics.Text().find("g{m=\"x\"} 2\n") != std::string::npos);
  second.reset();
  CHECK(metrics.Text().empty());
}

TEST_CASE("memory of a loaded program") {
  const auto executable = testing::Loaded(testing::kAddOne);
  CHECK(MemoryOf(*executable).images > 0);
}

}  // namespace
}  // namespace relayvm::serve

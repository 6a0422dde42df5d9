#include "compiler/import/tensorflow/tfjs.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compiler/import/tensorflow/testing.h"

namespace relayvm::import::tensorflow::testing {
namespace {

struct ModelFolder {
  ModelFolder()
      : path(std::filesystem::temp_directory_path() / fmt::format("tfjs_{}", ::getpid())) {
    std::filesystem::create_directories(path);
  }
  ~ModelFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

const std::string kNodes = R"("modelTopology": {"node": [
  {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"},
   "shape": {"shape": {"dim": [{"size": "-1"}, {"size": "2"}]}}}},
  {"name": "w", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor":
   {"dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "2"}]}}}}},
  {"name": "q", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor":
   {"dtype": "DT_FLOAT", "tensorShape": {}}}}},
  {"name": "a", "op": "Mul", "input": ["x", "w"], "attr": {"T": {"type": 1}}},
  {"name": "b", "op": "AddV2", "input": ["a", "q"]}]})";

std::string Weights(const std::string& file) {
  return R"("weightsManifest": [{"paths": [")" + file + R"("], "weights": [
    {"name": "w", "shape": [2], "dtype": "float32"},
    {"name": "q", "shape": [], "dtype": "float32",
     "quantization": {"dtype": "uint8", "scale": 0.5, "min": -1}}]}])";
}

TEST_CASE("graphs of TensorFlow.js: JSON, weights in files, quantised ones") {
  const ModelFolder folder;
  const float w[] = {2, 3};
  std::ofstream(folder.path / "group1-shard1of1.bin", std::ios::binary)
      << std::string(reinterpret_cast<const char*>(w), sizeof w) << '\x08';
  const std::string path = (folder.path / "model.json").string();
  const auto run = [&](const std::string& json) {
    auto module = ImportTensorFlow(path, SharedBytes::Copy(std::as_bytes(std::span(json))), {});
    if (!module.ok()) return module.status().message();
    auto typed = InferTypes(*module);
    REQUIRE_MESSAGE(typed.ok(), typed.status().message());
    auto result =
        reference::Run(*typed, "main", {reference::MakeTensor(TensorOf({{1, 2}, {10, 20}}))});
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    float y[2] = {};
    std::memcpy(y, reference::TensorOf(*result)->data.data(), sizeof y);
    return fmt::format("{} {}", y[0], y[1]);
  };
  CHECK(run("{" + kNodes + ", " + Weights("group1-shard1of1.bin") + "}") == "23 63");
  CHECK(run("{" + kNodes + ", " + Weights("group1-shard1of1.bin") +
            R"(, "signature": {"inputs": {"in": {"name": "x:0", "dtype": "DT_FLOAT", "tensorShape":
               {"dim": [{"size": "-1"}, {"size": "2"}]}}}, "outputs": {"out": {"name": "a:0"}}}})") ==
        "20 60");
  CHECK(run("{" + kNodes + ", " + Weights("../group1-shard1of1.bin") + "}")
            .find("is not in the model's folder") != std::string::npos);
  CHECK(run("{" + kNodes + ", " + Weights("none.bin") + "}").find("none.bin") != std::string::npos);
  CHECK(run(R"({"modelTopology": {"model_config": {}}})").find("layers model") !=
        std::string::npos);
  CHECK(run(R"({"modelTopology": {"node": [{"name": 3}]}})").find("name has another type") !=
        std::string::npos);
}

}  // namespace
}  // namespace relayvm::import::tensorflow::testing

// Small models written as text, run by the reference interpreter. Numbers are Keras 3.15's, of the
// same weights, or follow from the definition.
#include "compiler/import/keras/importer.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/import/container/hdf5_testing.h"
#include "compiler/import/importers.h"
#include "compiler/import/keras/layer.h"
#include "compiler/reference/interpreter.h"
#include "compiler/typing/infer.h"

namespace relayvm::import {
namespace {

using testing::Hdf5Writer;

struct Weight {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;
};

SharedBytes BytesOf(const std::string& text) {
  return SharedBytes::Copy(std::as_bytes(std::span(text.data(), text.size())));
}

// An .h5 of a model with these weights of layer "l".
Result<ir::Module> Import(const std::string& config, const std::vector<Weight>& weights,
                          const char* version = "3.15.1") {
  Hdf5Writer w;
  std::vector<std::pair<std::string, uint64_t>> members;
  Hdf5Writer::Texts names;
  for (const Weight& one : weights) {
    members.emplace_back(one.name, w.Floats(one.shape, one.values));
    names.push_back(one.name);
  }
  std::sort(members.begin(), members.end());
  const uint64_t inner = w.Group(members);
  const uint64_t layer = w.Group({{"l", inner}}, {{"weight_names", [&] {
                                                     Hdf5Writer::Texts all;
                                                     for (const auto& n : names)
                                                       all.push_back("l/" + n);
                                                     return all;
                                                   }()}});
  const uint64_t models = w.Group({{"l", layer}}, {{"layer_names", {"l"}}});
  const std::string bytes = w.File(w.Group(
      {{"model_weights", models}}, {{"model_config", {config}}, {"keras_version", {version}}}));
  return ImportKeras("m.h5", BytesOf(bytes), {});
}

// A model of one layer on an input of that shape (without the batch).
std::string Model(const std::string& kind, const std::string& config, const std::string& shape) {
  return fmt::format(
      R"({{"class_name": "Sequential", "config": {{"name": "s", "layers": [{{"class_name":
      "InputLayer", "config": {{"batch_shape": [null, {}], "dtype": "float32", "name": "x"}}}},
      {{"class_name": "{}", "config": {{"name": "l"{}{}}}}}]}}}})",
      shape, kind, config.empty() ? "" : ", ", config);
}

std::vector<double> Run(Result<ir::Module> module, const std::vector<int64_t>& shape,
                        const std::vector<float>& x) {
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  auto typed = InferTypes(*std::move(module));
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  const auto y =
      reference::Run(*typed, "main",
                     {reference::MakeTensor({DType::kFloat32, shape,
                                             SharedBytes::Copy(std::as_bytes(std::span(x)))})});
  REQUIRE_MESSAGE(y.ok(), y.status().message());
  const HostTensor& t = *(*y)->As<reference::Tensor>()->data;
  const SharedBytes bytes = t.data;
  std::vector<float> out(static_cast<size_t>(t.size()));
  std::memcpy(out.data(), bytes.data(), 4 * out.size());
  return {out.begin(), out.end()};
}

void CheckClose(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5).scale(1));
  }
}

TEST_CASE("a dense layer with its activation, on any batch") {
  const std::string model = Model("Dense", R"("units": 2, "activation": "relu")", "3");
  const std::vector<Weight> weights = {{"kernel", {3, 2}, {1, -1, 0.5, 2, 0, 1}},
                                       {"bias", {2}, {0.25, -1}}};
  CheckClose(Run(Import(model, weights), {2, 3}, {1, 2, 3, -4, 0, 1}), {2.25, 5, 0, 4});
}

// By layer: its configuration, weights, the input and what Keras gives.
struct LayerCase {
  const char* kind;
  const char* config;
  const char* shape;
  std::vector<Weight> weights;
  std::vector<int64_t> dims;
  std::vector<float> x;
  std::vector<double> y;
};

TEST_CASE("layers") {
  const LayerCase cases[] = {
#include "compiler/import/keras/layer_cases.inc"
  };
  for (const LayerCase& c : cases) {
    CAPTURE(std::string(c.kind));
    CAPTURE(std::string(c.config));
    CheckClose(Run(Import(Model(c.kind, c.config, c.shape), c.weights), c.dims, c.x), c.y);
  }
}

TEST_CASE("models in models, a layer that two calls share, several inputs") {
  const char* config = R"({"class_name": "Functional", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "name": "a", "config": {"name": "a", "batch_shape": [null, 2]}, "inbound_nodes": []},
    {"class_name": "Sequential", "name": "l", "config": {"name": "l", "layers": [
      {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [null, 2]}},
      {"class_name": "Dense", "config": {"name": "d", "units": 2, "use_bias": false}}]},
     "inbound_nodes": [[["a", 0, 0, {}]], [["l", 0, 0, {}]]]},
    {"class_name": "Add", "name": "s", "config": {"name": "s"},
     "inbound_nodes": [[["l", 0, 0, {}], ["l", 1, 0, {}]]]}],
    "input_layers": [["a", 0, 0]], "output_layers": [["s", 0, 0]]}})";
  Hdf5Writer w;
  const uint64_t kernel = w.Floats({2, 2}, {0, 1, 2, 0});
  const uint64_t d = w.Group({{"kernel", kernel}});
  const uint64_t l = w.Group({{"d", d}}, {{"weight_names", {"d/kernel"}}});
  const uint64_t models = w.Group({{"l", l}}, {{"layer_names", {"l"}}});
  const std::string bytes = w.File(w.Group(
      {{"model_weights", models}}, {{"model_config", {config}}, {"keras_version", {"2.15.0"}}}));
  // x W + x W W
  CheckClose(Run(ImportKeras("m.h5", BytesOf(bytes), {}), {1, 2}, {3, 5}), {10 + 6, 3 + 10});
}

TEST_CASE("operations of Keras 3 in an .h5, which names no modules") {
  const char* config = R"({"class_name": "Functional", "config": {"name": "m", "trainable": true, "layers": [
    {"class_name": "InputLayer", "name": "a", "config": {"name": "a", "batch_shape": [null, 2]}, "inbound_nodes": []},
    {"class_name": "Add", "name": "s", "config": {"name": "s"}, "inbound_nodes": [{"args": [
      {"class_name": "__keras_tensor__", "config": {"shape": [null, 2], "dtype": "float32", "keras_history": ["a", 0, 0]}},
      3.0], "kwargs": {}}]},
    {"class_name": "Add", "name": "t", "config": {"name": "t", "trainable": true, "dtype": "float32"},
     "inbound_nodes": [{"args": [[
      {"class_name": "__keras_tensor__", "config": {"shape": [null, 2], "dtype": "float32", "keras_history": ["a", 0, 0]}},
      {"class_name": "__keras_tensor__", "config": {"shape": [null, 2], "dtype": "float32", "keras_history": ["s", 0, 0]}}]],
      "kwargs": {}}]}],
    "input_layers": [["a", 0, 0]], "output_layers": [["t", 0, 0]]}})";
  Hdf5Writer w;
  const uint64_t models = w.Group({}, {});
  const std::string bytes = w.File(w.Group(
      {{"model_weights", models}}, {{"model_config", {config}}, {"keras_version", {"3.15.0"}}}));
  CheckClose(Run(ImportKeras("m.h5", BytesOf(bytes), {}), {1, 2}, {1, 5}), {1 + 4, 5 + 8});
}

TEST_CASE("all layers that are not supported, and weights that are missing, are named") {
  CHECK(Import(Model("Lambda", "", "3"), {}).status().message() ==
        "m.h5: 1 kind of layer is not supported:\n  Lambda: layer 'l'");
  CHECK(Import(Model("Dense", R"("units": 2)", "3"), {})
            .status()
            .message()
            .find("the file has no further weight of it") != std::string::npos);
  CHECK(Import("{\"class_name\": \"Sequential\"", {}).status().message() ==
        "m.h5: the configuration is no JSON object");
}

// Settings of every kind in place of what each layer expects: an error or a module, never a crash.
TEST_CASE("settings that are something else") {
  const char* keys[] = {"units",
                        "activation",
                        "recurrent_activation",
                        "use_bias",
                        "axis",
                        "axes",
                        "strides",
                        "dilation_rate",
                        "padding",
                        "data_format",
                        "pool_size",
                        "size",
                        "groups",
                        "epsilon",
                        "target_shape",
                        "dims",
                        "n",
                        "cropping",
                        "output_size",
                        "output_padding",
                        "layer",
                        "cell",
                        "merge_mode",
                        "height",
                        "interpolation",
                        "num_tokens",
                        "bin_boundaries",
                        "vocabulary",
                        "output_mode",
                        "equation",
                        "mask_value",
                        "mean",
                        "scale",
                        "max_value",
                        "key_dim",
                        "dtype",
                        "stateful",
                        "return_sequences",
                        "shape",
                        "newshape",
                        "pad_width",
                        "repeats",
                        "num_classes",
                        "indices_or_sections",
                        "backward_layer",
                        "num_bins",
                        "num_query_heads",
                        "num_key_value_heads"};
  const char* values[] = {"null",
                          "true",
                          "-1",
                          "0",
                          "9223372036854775807",
                          "1e300",
                          "\"text\"",
                          "[]",
                          "[-1]",
                          "[[]]",
                          "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
                          "{}",
                          "[1, [2, {\"a\": 1}]]",
                          "-9223372036854775808",
                          "2147483648",
                          "{\"class_name\": \"Dense\", \"config\": {\"units\": [1]}}"};
  const char* shapes[] = {"3", "4, 3", "null, 4, 3", "2, 4, 4, 3", ""};
  const std::vector<Weight> weights = {{"w0", {3, 2}, std::vector<float>(6, 1)},
                                       {"w1", {2}, {1, 2}}};
  size_t turn = 0;
  const auto all = [&](std::span<const keras::LayerDef> table) {
    for (const keras::LayerDef& layer : table) {
      CAPTURE(std::string(layer.name));
      for (const char* key : keys) {
        const std::string config =
            fmt::format(R"("{}": {})", key, values[(turn * 7 + 3) % std::size(values)]);
        CAPTURE(config);
        const auto module =
            Import(Model(std::string(layer.name), config, shapes[turn % std::size(shapes)]),
                   weights, turn % 2 == 0 ? "3.15.1" : "2.15.0");
        CHECK((module.ok() || !module.status().message().empty()));
        ++turn;
      }
    }
  };
  all(keras::Layers());
  all(keras::Operations());
}

// A list of weights that are none of a layer's.
TEST_CASE("weights of other shapes") {
  const std::vector<std::vector<uint64_t>> shapes = {{}, {0}, {1}, {3, 0}, {1, 1, 1, 1, 1, 1}, {7}};
  for (const keras::LayerDef& layer : keras::Layers()) {
    CAPTURE(std::string(layer.name));
    for (size_t i = 0; i < shapes.size(); ++i) {
      std::vector<Weight> weights;
      for (int k = 0; k < 4; ++k) {
        const auto& shape = shapes[(i + static_cast<size_t>(k)) % shapes.size()];
        size_t count = 1;
        for (const uint64_t d : shape) count *= d;
        weights.push_back({fmt::format("w{}", k), shape, std::vector<float>(count, 0.5F)});
      }
      const auto module = Import(Model(std::string(layer.name), R"("units": 2, "key_dim": 2)",
                                       i % 2 == 0 ? "4, 3" : "4, 4, 3"),
                                 weights);
      CHECK((module.ok() || !module.status().message().empty()));
    }
  }
}

}  // namespace
}  // namespace relayvm::import

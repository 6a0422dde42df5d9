// A Keras model's configuration as Relay: Functional and Sequential models, models in models,
// layers that several calls share. Not thread-safe. Tested by importer_test.cc.
#pragma once

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/import/container/hdf5.h"
#include "compiler/import/keras/layer.h"

namespace relayvm::import::keras {

// A tensor of a model and, where steps are left out, which count.
struct Tensor {
  Value value, mask;
};

// What a model's configuration says of its inputs.
struct ModelInput {
  std::string name;
  std::vector<Dim> shape;  // Any: open
  DType dtype = DType::kFloat32;
};

// What a layer keeps between runs, which begins as zeros: an input of the model, and what it
// becomes.
struct KeptState {
  const ir::Var* var;
  Value current;
};

class ModelBuilder {
 public:
  // `version`: 2 or 3, of the Keras that wrote it.
  ModelBuilder(std::string path, int version, const Hdf5File* weights, const ir::Module& module,
               uint32_t file_index, std::stop_token stop)
      : version(version),
        path_(std::move(path)),
        weights_(weights),
        builder_(module),
        file_index_(file_index),
        stop_(std::move(stop)) {}

  const int version;

  TypedBuilder& b() { return builder_; }
  const Hdf5File* file() const { return weights_; }

  // `model`: an object with class_name and config. An error where it is no model.
  Result<std::vector<ModelInput>> Inputs(const Json& model);
  std::vector<std::string> OutputNames(const Json& model);
  // Layers that no table has, all of them in one error.
  Status CheckLayers(const Json& model);
  // A layer's state of that name, which is made where there is none.
  KeptState& StateOf(const std::string& name, const std::vector<Dim>& shape, DType dtype);
  // In the order in which they were made.
  const std::vector<std::string>& state_names() const { return state_names_; }
  const KeptState& state(const std::string& name) const { return states_.at(name); }
  // Any layer, or a model, on these inputs.
  std::vector<Tensor> Call(const Json& layer, WeightScope& weights,
                           const std::vector<Tensor>& inputs, const CallSite& site = {});
  // Of the weights of a layer of a model, those of the layer `index` of a list of layers.
  WeightScope ScopeOf(const Json& layers, size_t index, const WeightScope& model);

 private:
  // Null where no table has it. `parameters`, which may be null: of a function of TensorFlow.
  static const LayerDef* DefOf(const Json& layer, std::string_view* parameters);
  std::vector<Tensor> CallLayer(const Json& layer, WeightScope& weights,
                                const std::vector<Tensor>& inputs, CallSite site);
  std::vector<Tensor> CallSequential(const Json& layers, WeightScope& weights,
                                     std::vector<Tensor> inputs);
  std::vector<Tensor> CallFunctional(const Json& config, WeightScope& weights,
                                     const std::vector<Tensor>& inputs);
  void CollectLayers(const Json& layer, int depth,
                     std::map<std::string, std::vector<std::string>>* missing);

  const std::string path_;
  const Hdf5File* weights_;
  TypedBuilder builder_;
  uint32_t file_index_;
  const std::stop_token stop_;
  std::map<std::string, KeptState> states_;
  std::vector<std::string> state_names_;
  int depth_ = 0;
  size_t called_ = 0;
};

bool IsModel(const Json& layer);
// Null where it is none.
const Json* Member(const Json& object, std::string_view key);
std::string TextAt(const Json& object, std::string_view key, std::string_view fallback = {});

}  // namespace relayvm::import::keras

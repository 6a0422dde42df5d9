// Where Keras' files keep weights: .keras (and .weights.h5) by the place of a layer in its model,
// "layers/dense_1/vars/0"; .h5 a list for each layer, in the order in which the layer made them.
// Immutable but for what was taken of a scope; not thread-safe. Tested by importer_test.cc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/container/hdf5.h"

namespace relayvm::import::keras {

// The weights of one layer (or model), of which a call takes one after the other.
struct WeightScope {
  // By places: the layer's group. Else names of datasets, all of the layer and what it holds.
  bool by_place = true;
  std::string place;
  std::vector<std::string> datasets;
  // How many were taken, by part; of a list of all.
  std::map<std::string, size_t, std::less<>> taken;
  size_t next = 0;

  // The name of the next dataset; empty: there is none.
  std::string Next(const Hdf5File& file, std::string_view part) const;
  void Took(std::string_view part);
  // A call of the layer begins: weights are taken from the first on.
  void Rewind() { taken.clear(), next = 0; }
};

// What Keras 3 calls the group of a layer of that class: "Conv2D" is conv2d.
std::string SnakeCase(std::string_view name);

// What a layer that is called so has of the list of the model that it is in: those that name it.
WeightScope PartOf(const WeightScope& whole, std::string_view layer);

}  // namespace relayvm::import::keras

// One entry for each Keras layer: how many tensors it takes, and the function that writes it as
// Relay. Tables stand in op_*.cc by subject; operator_table.cc joins them. A converter reads its
// layer's configuration through LayerContext, takes its weights one after the other as the layer
// makes them, and builds with its TypedBuilder; errors stick there.
//
//   Outputs Dense(LayerContext& n) {
//     Term y(n, MatMulOf(n, n.Input(0), n.Weight()));
//     if (n.Bool("use_bias", true)) y = y + Term(n, n.Weight());
//     return {n.Activated(y)};
//   }
//
// Configurations leave out what has its default, and older Keras calls some things otherwise.
// Tested by importer_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/import/arithmetic.h"
#include "compiler/import/keras/weights.h"

namespace relayvm::import::keras {

using Json = nlohmann::json;
using Outputs = std::vector<Value>;
class ModelBuilder;

// What a call says besides its tensors.
struct CallSite {
  const Json* positional = nullptr;  // Keras 3: all positional arguments; may be null
  const Json* named = nullptr;       // may be null
  // Of each tensor: the argument that it is ("value"); empty: by position.
  std::vector<std::string> names;
  // Keras 2: what stands in place of the first tensor; may be null.
  const Json* constant = nullptr;
  // A function of TensorFlow: what it calls its arguments, in the order of the operation's; and its
  // arguments come before what the configuration says.
  std::string_view parameters;
};

class LayerContext : public NodeErrors<LayerContext> {
 public:
  // `layer`: an object with class_name and config. All outlive this.
  LayerContext(ModelBuilder& model, const Json& layer, WeightScope& weights,
               std::vector<Value> inputs)
      : model_(model), layer_(layer), weights_(weights), inputs_(std::move(inputs)) {}

  TypedBuilder& b() const;
  operator TypedBuilder&() const { return b(); }  // NOLINT(google-explicit-constructor)
  ModelBuilder& model() { return model_; }
  const Json& config() const;
  std::string class_name() const;
  std::string name() const;

  size_t num_inputs() const { return inputs_.size(); }
  Value Input(size_t i) const { return i < inputs_.size() ? inputs_[i] : Value{}; }
  bool Has(size_t i) const { return static_cast<bool>(Input(i)); }
  const std::vector<Value>& inputs() const { return inputs_; }
  // The same, as the real numbers that the layer computes with.
  Value Real(size_t i);
  // Inputs that are real numbers get that dtype.
  void CastReals(DType dtype);
  // What the call says besides.
  CallSite site;
  // The tensor of that argument; none: it is given by position, or left out.
  Value Named(std::string_view argument) const;
  // Which steps count, (batch, time), bool, of an input; none: all.
  std::vector<Value> masks;
  Value Mask(size_t i = 0) const { return i < masks.size() ? masks[i] : Value{}; }
  // Of the result; where a layer sets none and `keeps_mask` holds it is the first input's.
  Value result_mask;
  bool keeps_mask = true;

  // The dtype that the layer computes in, by its configuration.
  std::optional<DType> ComputeDType() const;
  // What weights become that are real numbers; nullopt: they stay.
  std::optional<DType> weight_dtype;
  // The next weight, of a part of the layer ("cell") or of itself. An error where there is none.
  Value Weight(std::string_view part = {});
  // Whether there is a further one.
  bool HasWeight(std::string_view part = {}) const;
  WeightScope& weights() { return weights_; }
  // What a state that the layer keeps between runs is called.
  std::string StateName(size_t i);

  // --- Configuration, or what the call says by name: a wrong type is an error of the layer and
  // gives the fallback. ---
  const Json* Setting(std::string_view key) const;  // null: left out
  bool IsNull(std::string_view key) const;          // or left out
  bool Bool(std::string_view key, bool fallback);
  int64_t Int(std::string_view key, int64_t fallback);
  double Float(std::string_view key, double fallback);
  std::string String(std::string_view key, std::string_view fallback);
  std::vector<int64_t> Ints(std::string_view key, std::vector<int64_t> fallback = {});
  std::vector<double> Floats(std::string_view key);
  bool ChannelsLast();
  int Axis(int64_t axis, int rank);

  // By Keras' name of it; an error where there is none.
  Term ActivatedBy(const std::string& name, const Term& x);
  // By the name, or the object, that the configuration has for it; left out: by `fallback`.
  Term Activated(const Term& x, std::string_view key = "activation",
                 const std::string& fallback = "linear");

  // How errors of this node are noted (NodeErrors).
  Failed Note(StatusCode code, std::string_view why) const { return b().Fail(code, why); }

 private:
  ModelBuilder& model_;
  const Json& layer_;
  WeightScope& weights_;
  std::vector<Value> inputs_;
};

using Converter = Outputs (*)(LayerContext&);

struct LayerDef {
  std::string_view name;
  int min_inputs, max_inputs;  // max -1: any number
  Converter convert;
};

// The operands of an operation of Keras 3 or TensorFlow, in order: tensors, and numbers.
// `same`: of one dtype, by Keras 3's rules of promotion; of TensorFlow's functions that of the
// first tensor.
std::vector<Term> Operands(LayerContext& n, bool same = true);
// The dtype that two have in common, by Keras 3's rules.
DType Promoted(DType x, DType y);
// What operations between layers make of the tensors and numbers that stand where a list is
// expected: small integers.
std::optional<Value> IntsOrTensors(LayerContext& n, std::string_view key);
// A tensor, written as Keras writes numbers, lists of them and arrays; nullopt where it is none.
std::optional<Value> ArrayAt(LayerContext& n, const Json& v, DType fallback);

// Null when there is none.
const LayerDef* FindLayer(std::string_view name);
// Of a line between layers: operations come first, some of which have a layer's name.
const LayerDef* FindOperation(std::string_view name);
// A function of TensorFlow that Keras 2 names, and what it calls its arguments.
struct FunctionDef {
  std::string_view name, operation, parameters;
};
const FunctionDef* FindFunction(std::string_view name);
std::span<const FunctionDef> Functions();
std::span<const LayerDef> Layers();
std::span<const LayerDef> Operations();

// The tables by subject.
std::span<const LayerDef> CoreLayers();       // op_core.cc: products, activations, shapes, merges
std::span<const LayerDef> ConvLayers();       // op_conv.cc: convolutions, pools
std::span<const LayerDef> NormLayers();       // op_norm.cc: normalisation
std::span<const LayerDef> AttentionLayers();  // op_attention.cc
std::span<const LayerDef> RecurrentLayers();  // op_rnn.cc
std::span<const LayerDef> ImageLayers();      // op_image.cc: pictures, what prepares data
std::span<const LayerDef> CategoryLayers();   // op_category.cc: numbers, texts as categories
// Operations, of the lines that stand between layers.
std::span<const LayerDef> MathOperations();   // op_operations.cc
std::span<const LayerDef> ArrayOperations();  // op_arrays.cc

}  // namespace relayvm::import::keras

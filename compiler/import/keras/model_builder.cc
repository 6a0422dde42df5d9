#include "compiler/import/keras/model_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "bytecode/base/check_stop.h"
#include "bytecode/base/printable.h"

namespace relayvm::import::keras {

namespace {

constexpr int kMostDepth = 64;
constexpr size_t kMostCalls = 1 << 17;

// A tensor of a model: an output of a call of a layer.
struct Ref {
  std::string layer;
  int64_t call = 0, tensor = 0;
};

std::optional<Ref> RefAt(const Json& v) {
  // Keras 2: [layer, call, tensor, arguments]; Keras 3: an object whose keras_history is one.
  if (v.is_object()) {
    const Json* config = Member(v, "config");
    if (TextAt(v, "class_name") != "__keras_tensor__" || config == nullptr) return std::nullopt;
    const Json* history = Member(*config, "keras_history");
    return history == nullptr ? std::nullopt : RefAt(*history);
  }
  if (!v.is_array() || v.size() < 3 || v.size() > 4 || !v[0].is_string() ||
      !v[1].is_number_integer() || !v[2].is_number_integer()) {
    return std::nullopt;
  }
  return Ref{v[0].get<std::string>(), v[1].get<int64_t>(), v[2].get<int64_t>()};
}

// All tensors of a structure, in order; `name` is the argument that they are. Of a list of masks
// also those that are none count: refs without a layer.
void CollectRefs(const Json& v, std::string_view name, int depth, std::vector<Ref>* refs,
                 CallSite* site) {
  if (depth > kMostDepth) return;
  const bool is_constant = v.is_array() && v.size() == 4 && v[0] == "_CONSTANT_VALUE";
  if (const auto ref = is_constant ? std::nullopt : RefAt(v)) {
    refs->push_back(*ref);
    site->names.emplace_back(name);
  } else if (!v.is_array() && !v.is_object()) {
    if (!v.is_null() || name != "mask") return;
    refs->emplace_back();
    site->names.emplace_back(name);
  } else if (is_constant) {
    site->constant = &v[2];
  } else {
    for (const Json& e : v) CollectRefs(e, name, depth + 1, refs, site);
    return;
  }
  // What Keras 2 says besides stands beside each tensor.
  if (v.is_array() && v.size() == 4 && v[3].is_object() && !v[3].empty()) site->named = &v[3];
}

std::vector<Ref> RefsOf(const Json* v) {
  std::vector<Ref> refs;
  CallSite site;
  if (v != nullptr) CollectRefs(*v, "", 0, &refs, &site);
  return refs;
}

using Place = std::pair<size_t, size_t>;  // a layer of a list, and which call of it

// The layers of a model by name, and what the number of a call counts from: models inside may count
// what made them as a call.
struct LayerPlaces {
  std::map<std::string, size_t> places;
  std::map<std::string, int64_t> first_calls;
};
// Nullopt with an error where there is no such layer.
std::optional<Place> PlaceOf(TypedBuilder& b, const LayerPlaces& layers, const Ref& ref) {
  const auto found = layers.places.find(ref.layer);
  const auto first = layers.first_calls.find(ref.layer);
  const int64_t call = first == layers.first_calls.end() ? ref.call : ref.call - first->second;
  if (found == layers.places.end() || call < 0)
    return b.Fail("there is no layer '{}'", Printable(ref.layer));
  return Place{found->second, static_cast<size_t>(call)};
}

// A call, and the tensors that it takes.
struct Visit {
  Place place;
  std::vector<Ref> refs;
  CallSite site;
};
Visit VisitOf(const Json& call, const Place& place) {
  Visit visit{place, {}, {}};
  if (call.is_object()) {
    visit.site.positional = Member(call, "args");
    visit.site.named = Member(call, "kwargs");
    if (visit.site.positional != nullptr)
      CollectRefs(*visit.site.positional, "", 0, &visit.refs, &visit.site);
  } else {
    CollectRefs(call, "", 0, &visit.refs, &visit.site);
  }
  if (visit.site.named == nullptr || !visit.site.named->is_object()) return visit;
  for (const auto& [key, value] : visit.site.named->items())
    CollectRefs(value, key, 0, &visit.refs, &visit.site);
  return visit;
}

const Json& LayersOf(const Json& model) {
  static const Json* const kNone = new Json(Json::array());
  const Json* config = Member(model, "config");
  if (config == nullptr) return *kNone;
  if (config->is_array()) return *config;  // Sequential of Keras 1
  const Json* layers = Member(*config, "layers");
  return layers != nullptr && layers->is_array() ? *layers : *kNone;
}
std::string NameOf(const Json& layer) {
  const Json* config = Member(layer, "config");
  const std::string own = TextAt(layer, "name");
  return !own.empty() ? own : config == nullptr ? "" : TextAt(*config, "name");
}
bool IsSequential(const Json& layer) { return TextAt(layer, "class_name") == "Sequential"; }
bool IsInput(const Json& layer) { return TextAt(layer, "class_name") == "InputLayer"; }

DType DTypeAt(const Json& config) {
  const Json* v = Member(config, "dtype");
  std::string name = v != nullptr && v->is_string() ? v->get<std::string>() : "float32";
  if (v != nullptr && v->is_object()) {
    const Json* inner = Member(*v, "config");
    if (inner != nullptr) name = TextAt(*inner, "name", "float32");
  }
  if (name.starts_with("mixed_")) return DType::kFloat32;
  return ParseDType(name).value_or(DType::kFloat32);
}

LayerPlaces PlacesOf(const Json& layers) {
  LayerPlaces out;
  for (size_t i = 0; i < layers.size(); ++i) out.places.emplace(NameOf(layers[i]), i);
  std::map<std::string, int64_t> least;
  for (const Json& layer : layers) {
    const Json* calls = Member(layer, "inbound_nodes");
    if (calls == nullptr || !calls->is_array()) continue;
    for (const Json& call : *calls) {
      for (const Ref& ref : VisitOf(call, {}).refs) {
        const auto at = least.emplace(ref.layer, ref.call).first;
        at->second = std::min(at->second, ref.call);
      }
    }
  }
  for (const auto& [name, call] : least) {
    const auto place = out.places.find(name);
    if (call == 1 && place != out.places.end() && IsModel(layers[place->second]))
      out.first_calls[name] = 1;
  }
  return out;
}
// The outputs of a model, whose numbers of calls count from where no other does.
std::vector<Ref> OutputsOf(const Json& config, const Json& layers, LayerPlaces* places) {
  const std::vector<Ref> refs = RefsOf(Member(config, "output_layers"));
  for (const Ref& ref : refs) {
    const auto place = places->places.find(ref.layer);
    if (place == places->places.end() || !IsModel(layers[place->second])) continue;
    const Json* calls = Member(layers[place->second], "inbound_nodes");
    const auto count = calls == nullptr ? 0 : static_cast<int64_t>(calls->size());
    if (ref.call >= count || (ref.call >= 1 && !IsSequential(layers[place->second])))
      places->first_calls[ref.layer] = 1;
  }
  return refs;
}

}  // namespace

const Json* Member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() ? nullptr : &*found;
}
std::string TextAt(const Json& object, std::string_view key, std::string_view fallback) {
  const Json* v = Member(object, key);
  return v != nullptr && v->is_string() ? v->get<std::string>() : std::string(fallback);
}
bool IsModel(const Json& layer) {
  const std::string name = TextAt(layer, "class_name");
  if (name == "Sequential" || name == "Functional" || name == "Model") return true;
  const Json* config = Member(layer, "config");
  return config != nullptr && Member(*config, "layers") != nullptr &&
         Member(*config, "output_layers") != nullptr;
}

// --- Inputs and outputs ---

Result<std::vector<ModelInput>> ModelBuilder::Inputs(const Json& model) {
  const Json& layers = LayersOf(model);
  const auto fail = [&](std::string_view why) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: {}", path_, why));
  };
  const auto read = [&](const Json& layer, std::string_view name) -> Result<ModelInput> {
    const Json* config = Member(layer, "config");
    ModelInput input{std::string(name), {}, config == nullptr ? DType::kFloat32 : DTypeAt(*config)};
    const Json* shape = nullptr;
    bool has_batch = true;
    for (const char* key : {"batch_shape", "batch_input_shape"}) {
      if (shape == nullptr && config != nullptr) shape = Member(*config, key);
    }
    if (shape == nullptr && config != nullptr && (shape = Member(*config, "shape")) != nullptr)
      has_batch = false;
    if (shape == nullptr || !shape->is_array() || shape->size() > 16)
      return fail(fmt::format("input '{}': its shape is not declared", Printable(name)));
    if (!has_batch) input.shape.push_back(Dim::Any());
    for (const Json& d : *shape) {
      const bool known =
          d.is_number_integer() && d.get<int64_t>() >= 0 && d.get<int64_t>() < (int64_t{1} << 40);
      input.shape.push_back(known ? Dim(d.get<int64_t>()) : Dim::Any());
    }
    return input;
  };
  std::vector<ModelInput> inputs;
  if (IsSequential(model)) {
    if (layers.empty()) return fail("the model has no layers");
    const Json* config = Member(layers[0], "config");
    if (IsInput(layers[0]) ||
        (config != nullptr && Member(*config, "batch_input_shape") != nullptr)) {
      RELAYVM_ASSIGN_OR_RETURN(ModelInput input, read(layers[0], NameOf(layers[0])));
      return std::vector{std::move(input)};
    }
    // Or what it was built for.
    const Json* own = Member(model, "config");
    const Json* built = own == nullptr ? nullptr : Member(*own, "build_input_shape");
    if (const Json* build = Member(model, "build_config"); built == nullptr && build != nullptr)
      built = Member(*build, "input_shape");
    if (built == nullptr || !built->is_array())
      return fail("the model's first layer has no input shape: it was never built");
    const Json as_input = {{"config", {{"batch_shape", *built}}}};
    RELAYVM_ASSIGN_OR_RETURN(ModelInput input, read(as_input, "input"));
    return std::vector{std::move(input)};
  }
  const Json* config = Member(model, "config");
  for (const Ref& ref : RefsOf(config == nullptr ? nullptr : Member(*config, "input_layers"))) {
    const auto found = std::find_if(layers.begin(), layers.end(),
                                    [&](const Json& l) { return NameOf(l) == ref.layer; });
    if (found == layers.end())
      return fail(fmt::format("there is no input layer '{}'", Printable(ref.layer)));
    RELAYVM_ASSIGN_OR_RETURN(ModelInput input, read(*found, ref.layer));
    inputs.push_back(std::move(input));
  }
  if (inputs.empty())
    return fail("expected a Sequential or Functional model, whose layers the file lists");
  return inputs;
}

std::vector<std::string> ModelBuilder::OutputNames(const Json& model) {
  std::vector<std::string> names;
  if (IsSequential(model)) {
    const Json& layers = LayersOf(model);
    if (!layers.empty()) names.push_back(NameOf(layers.back()));
    return names;
  }
  const Json* config = Member(model, "config");
  std::map<std::string, int> seen;
  for (const Ref& ref : RefsOf(config == nullptr ? nullptr : Member(*config, "output_layers"))) {
    const int count = seen[ref.layer]++;
    names.push_back(count == 0 ? ref.layer : fmt::format("{}_{}", ref.layer, count));
  }
  return names;
}

namespace {

// Masks that are given stand for those that the tensors bring.
std::vector<Tensor> WithMasks(const std::vector<Tensor>& given, const CallSite& call,
                              CallSite* site) {
  std::vector<Tensor> inputs;
  std::vector<Value> masks;
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string name = i < call.names.size() ? call.names[i] : "";
    if (name == "mask") {
      masks.push_back(given[i].value);
    } else {
      inputs.push_back(given[i]);
      site->names.push_back(name);
    }
  }
  for (size_t i = 0; i < std::min(inputs.size(), masks.size()); ++i) {
    if (masks[i]) inputs[i].mask = masks[i];
  }
  return inputs;
}

// An operation of Keras 3: an .h5 does not say so, but a layer can be trained or not.
bool IsOperation(const Json& layer) {
  const std::string module = TextAt(layer, "module");
  if (!module.empty()) return module.starts_with("keras.src.ops") || module == "keras.ops";
  const Json *config = Member(layer, "config"), *calls = Member(layer, "inbound_nodes");
  const bool is_keras3 =
      calls != nullptr && calls->is_array() && !calls->empty() && calls->front().is_object();
  return is_keras3 && config != nullptr && Member(*config, "trainable") == nullptr;
}
bool IsFunction(std::string_view kind) {
  return kind == "TFOpLambda" || kind == "SlicingOpLambda" || kind == "ClassMethod" ||
         kind == "InstanceMethod" || kind == "InstanceProperty";
}
std::string FunctionOf(const Json& layer) {
  const Json* config = Member(layer, "config");
  return config == nullptr ? "" : TextAt(*config, "function");
}

}  // namespace

// --- What is supported ---

void ModelBuilder::CollectLayers(const Json& layer, int depth,
                                 std::map<std::string, std::vector<std::string>>* missing) {
  if (depth > kMostDepth) return;
  if (IsModel(layer)) {
    for (const Json& inner : LayersOf(layer)) CollectLayers(inner, depth + 1, missing);
    return;
  }
  const std::string kind = TextAt(layer, "class_name");
  const std::string name = IsFunction(kind) ? kind + " of tf." + FunctionOf(layer) : kind;
  if (DefOf(layer, nullptr) == nullptr) (*missing)[name].push_back(NameOf(layer));
  const Json* config = Member(layer, "config");
  for (const char* key : {"layer", "backward_layer"}) {
    const Json* inner = config == nullptr ? nullptr : Member(*config, key);
    if (inner != nullptr && inner->is_object()) CollectLayers(*inner, depth + 1, missing);
  }
}

Status ModelBuilder::CheckLayers(const Json& model) {
  std::map<std::string, std::vector<std::string>> missing;
  CollectLayers(model, 0, &missing);
  if (missing.empty()) return OkStatus();
  std::string text =
      fmt::format("{}: {} not supported:", path_,
                  missing.size() == 1 ? "1 kind of layer is"
                                      : fmt::format("{} kinds of layers are", missing.size()));
  for (const auto& [name, layers] : missing) {
    std::vector<std::string> few;
    for (size_t i = 0; i < std::min<size_t>(layers.size(), 3); ++i)
      few.push_back("'" + Printable(layers[i]) + "'");
    text += fmt::format("\n  {}: layer {}", Printable(name), fmt::join(few, ", "));
    if (layers.size() > 3) text += fmt::format(" and {} more", layers.size() - 3);
  }
  return {StatusCode::kUnsupported, text};
}

KeptState& ModelBuilder::StateOf(const std::string& name, const std::vector<Dim>& shape,
                                 DType dtype) {
  const auto found = states_.find(name);
  if (found != states_.end()) return found->second;
  const ir::Var* var = builder_.NewVar(Printable(name), ir::MakeTensorType(shape, dtype));
  state_names_.push_back(name);
  return states_.emplace(name, KeptState{var, builder_.Use(var)}).first->second;
}

// --- Calls ---

WeightScope ModelBuilder::ScopeOf(const Json& layers, size_t index, const WeightScope& model) {
  if (!model.by_place) return PartOf(model, NameOf(layers[index]));
  const std::string kind = SnakeCase(TextAt(layers[index], "class_name"));
  size_t before = 0;
  for (size_t i = 0; i < index; ++i)
    before += SnakeCase(TextAt(layers[i], "class_name")) == kind ? 1 : 0;
  WeightScope scope;
  scope.place = (model.place.empty() ? "" : model.place + "/") + "layers/" + kind;
  if (before > 0) scope.place += "_" + std::to_string(before);
  if (weights_ == nullptr || weights_->Has(scope.place)) return scope;
  // A class that is called otherwise now: groups say whose they are.
  const std::string group = (model.place.empty() ? "" : model.place + "/") + "layers";
  for (const std::string& name : weights_->Names(group)) {
    const auto owner = weights_->Texts(group + "/" + name + "/vars", "name");
    if (owner.ok() && *owner && !(*owner)->empty() && (*owner)->front() == NameOf(layers[index]))
      scope.place = group + "/" + name;
  }
  return scope;
}

const LayerDef* ModelBuilder::DefOf(const Json& layer, std::string_view* parameters) {
  const std::string kind = TextAt(layer, "class_name");
  if (IsFunction(kind)) {
    const FunctionDef* function = FindFunction(FunctionOf(layer));
    if (function == nullptr) return nullptr;
    if (parameters != nullptr) *parameters = function->parameters;
    return FindOperation(function->operation);
  }
  return IsOperation(layer) ? FindOperation(kind) : FindLayer(kind);
}

std::vector<Tensor> ModelBuilder::CallLayer(const Json& layer, WeightScope& weights,
                                            const std::vector<Tensor>& inputs, CallSite site) {
  const LayerDef* def = DefOf(layer, &site.parameters);
  const std::string kind = TextAt(layer, "class_name");
  if (def == nullptr)
    return builder_.Fail(StatusCode::kUnsupported, "layers of the kind {} are not supported",
                         Printable(kind));
  const auto count = static_cast<int>(inputs.size()) + (site.constant != nullptr ? 1 : 0);
  if (count < def->min_inputs || (def->max_inputs >= 0 && count > def->max_inputs))
    return builder_.Fail("expected {} inputs, found {}", def->min_inputs, count);
  std::vector<Value> values, masks;
  for (const Tensor& t : inputs) {
    values.push_back(t.value);
    masks.push_back(t.mask);
  }
  const bool is_line = IsOperation(layer) || IsFunction(kind);
  LayerContext context(*this, layer, weights, std::move(values));
  const auto dtype = is_line || kind == "InputLayer" ? std::nullopt : context.ComputeDType();
  if (dtype) context.CastReals(*dtype);
  context.weight_dtype = dtype;
  context.site = std::move(site);
  context.masks = std::move(masks);
  context.keeps_mask = !is_line;
  std::vector<Tensor> out;
  for (const Value& v : def->convert(context)) out.push_back({v, context.result_mask});
  if (!context.result_mask && context.keeps_mask && !inputs.empty() && out.size() == 1)
    out[0].mask = inputs[0].mask;
  return out;
}

std::vector<Tensor> ModelBuilder::Call(const Json& layer, WeightScope& weights,
                                       const std::vector<Tensor>& given, const CallSite& call) {
  CallSite site{call.positional, call.named, {}, call.constant, {}};
  const std::vector<Tensor> inputs = WithMasks(given, call, &site);
  const ir::Span outer = builder_.span();
  const std::string kind = TextAt(layer, "class_name");
  builder_.SetSpan(builder_.module().sources->NodeSpan(file_index_, Printable(NameOf(layer)),
                                                       Printable(kind), ""));
  std::vector<Tensor> out;
  if (++called_ > kMostCalls || ++depth_ > kMostDepth) {
    builder_.Fail(StatusCode::kResourceExhausted, "models are nested too deep, or too large");
  } else if (const Status s = CheckStop(stop_); !s.ok()) {
    builder_.Fail(s.code(), s.message());
  } else if (IsModel(layer)) {
    out = IsSequential(layer) ? CallSequential(LayersOf(layer), weights, inputs)
                              : CallFunctional(*Member(layer, "config"), weights, inputs);
  } else {
    out = CallLayer(layer, weights, inputs, std::move(site));
  }
  --depth_;
  if (builder_.status().ok()) builder_.SetSpan(outer);
  return out;
}

std::vector<Tensor> ModelBuilder::CallSequential(const Json& layers, WeightScope& weights,
                                                 std::vector<Tensor> inputs) {
  for (size_t i = 0; i < layers.size() && builder_.status().ok(); ++i) {
    if (IsInput(layers[i])) continue;
    WeightScope scope = ScopeOf(layers, i, weights);
    inputs = Call(layers[i], scope, inputs);
  }
  return inputs;
}

std::vector<Tensor> ModelBuilder::CallFunctional(const Json& config, WeightScope& weights,
                                                 const std::vector<Tensor>& inputs) {
  const Json* listed = Member(config, "layers");
  if (listed == nullptr || !listed->is_array()) return builder_.Fail("expected a list of layers");
  const Json& layers = *listed;
  const LayerPlaces places = PlacesOf(layers);
  LayerPlaces output_places = places;
  const std::vector<Ref> output_refs = OutputsOf(config, layers, &output_places);
  std::map<Place, std::vector<Tensor>> done;
  std::map<size_t, WeightScope> scopes;
  const std::vector<Ref> given = RefsOf(Member(config, "input_layers"));
  if (given.size() != inputs.size())
    return builder_.Fail("the model has {} inputs, found {}", given.size(), inputs.size());
  for (size_t i = 0; i < given.size(); ++i) {
    if (const auto place = PlaceOf(builder_, places, given[i])) done[*place] = {inputs[i]};
  }
  std::vector<Visit> stack;
  std::set<Place> open;
  const auto enter = [&](const Place& place) {
    const Json& layer = layers[place.first];
    const Json* calls = Member(layer, "inbound_nodes");
    if (calls == nullptr || !calls->is_array() || place.second >= calls->size()) {
      builder_.Fail("layer '{}' has no call {}", Printable(NameOf(layer)), place.second);
      return;
    }
    if (!open.insert(place).second) {
      builder_.Fail("layer '{}' needs what it gives itself", Printable(NameOf(layer)));
      return;
    }
    stack.push_back(VisitOf((*calls)[place.second], place));
  };
  // What a tensor's call needs comes first; an empty result: it is being made, or an error.
  static const Tensor kNone;
  const auto known = [&](const Ref& ref, const LayerPlaces& by) -> const Tensor* {
    if (ref.layer.empty()) return &kNone;
    const auto place = PlaceOf(builder_, by, ref);
    if (!place) return nullptr;
    const auto found = done.find(*place);
    if (found == done.end()) {
      enter(*place);
      return nullptr;
    }
    if (ref.tensor < 0 || static_cast<size_t>(ref.tensor) >= found->second.size()) {
      builder_.Fail("layer '{}' has no output {}", Printable(ref.layer), ref.tensor);
      return nullptr;
    }
    return &found->second[static_cast<size_t>(ref.tensor)];
  };
  std::vector<Tensor> outputs;
  for (const Ref& ref : output_refs) {
    const Tensor* output = known(ref, output_places);
    while (builder_.status().ok() && !stack.empty()) {
      std::vector<Tensor> arguments;
      const size_t top = stack.size() - 1;
      bool ready = true;
      const std::vector<Ref> refs = stack[top].refs;
      for (const Ref& needed : refs) {
        const Tensor* t = known(needed, places);
        ready &= t != nullptr;
        if (!ready) break;
        arguments.push_back(*t);
      }
      if (!ready || !builder_.status().ok()) continue;
      const Visit visit = std::move(stack[top]);
      stack.pop_back();
      const size_t layer = visit.place.first;
      auto scope = scopes.find(layer);
      if (scope == scopes.end())
        scope = scopes.emplace(layer, ScopeOf(layers, layer, weights)).first;
      scope->second.Rewind();
      done[visit.place] = Call(layers[layer], scope->second, arguments, visit.site);
    }
    if (!builder_.status().ok()) return {};
    if (output == nullptr) output = known(ref, output_places);
    if (output == nullptr) return {};
    outputs.push_back(*output);
  }
  if (outputs.empty()) builder_.Fail("the model has no outputs");
  return outputs;
}

}  // namespace relayvm::import::keras

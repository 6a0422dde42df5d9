// What providers of engines that compute float32 node by node have in common: a region's JSON, read
// and checked; extents and places of its values; and the functions of bytecode/region_abi.h around
// a class that computes. For the examples beside this file, and for yours to start from.
//
// A value is what an input, a constant or a kernel of the JSON gives: it has the node's number.
// Tested by engines_test.cc.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/region_abi.h"

namespace engines {

// Thrown by whatever has to do with a region, and caught before the ABI.
struct Refused : std::runtime_error {
  Refused(int32_t status_code, const std::string& why)
      : std::runtime_error(why), status(status_code) {}
  int32_t status;
};
[[noreturn]] inline void Invalid(const std::string& why) {
  throw Refused(RELAYVM_REGION_INVALID, why);
}
[[noreturn]] inline void Unsupported(const std::string& why) {
  throw Refused(RELAYVM_REGION_UNSUPPORTED, why);
}

struct Extent {
  int64_t number = 0;
  int symbol = -1;  // of the region's, in place of the number
  bool operator==(const Extent&) const = default;
};

// What follows a kernel's operator: "bias input=2", "clip min=0 max=6".
struct Step {
  std::string label;
  std::vector<size_t> inputs;  // places in the node's inputs
  std::map<std::string, std::string> values;
};

struct Node {
  enum class Kind { kInput, kConstant, kKernel };
  Kind kind = Kind::kInput;
  std::string op;              // of a kernel: Relay's operator
  std::vector<size_t> inputs;  // nodes before this one
  std::vector<Extent> shape;
  std::map<std::string, std::vector<std::string>> attrs;  // of the operator
  std::vector<Step> steps;

  bool Flag(const std::string& name, bool fallback = false) const {
    const auto at = attrs.find(name);
    return at == attrs.end() || at->second.empty() ? fallback : at->second[0] == "1";
  }
};

struct Region {
  std::vector<Node> nodes;
  std::vector<size_t> inputs, constants, heads;  // nodes
  size_t num_symbols = 0;
};

constexpr size_t kMaxNodes = 100000, kMaxRank = 8;

// --- Reading ---

inline Step ReadStep(const std::string& text, const Node& node) {
  Step step;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    const size_t sign = word.find('=');
    if (step.label.empty()) {
      step.label = word;
    } else if (sign == std::string::npos) {
      Invalid("step " + text + ": expected name=value");
    } else if (word.starts_with("input=")) {
      size_t input = 0;
      const char* last = word.data() + word.size();
      const auto [stop, error] = std::from_chars(word.data() + sign + 1, last, input);
      if (error != std::errc() || stop != last || input >= node.inputs.size())
        Invalid("step " + text + ": there is no such input");
      step.inputs.push_back(input);
    } else {
      step.values[word.substr(0, sign)] = word.substr(sign + 1);
    }
  }
  return step;
}

inline Node ReadNode(const nlohmann::json& json, const std::map<std::string, int>& symbols,
                     size_t number) {
  Node node;
  const std::string kind = json.at("op");
  node.kind = kind == "input"   ? Node::Kind::kInput
              : kind == "const" ? Node::Kind::kConstant
                                : Node::Kind::kKernel;
  const nlohmann::json& attrs = json.at("attrs");
  const nlohmann::json &dtypes = attrs.at("dtype").at(0), &shapes = attrs.at("shape").at(0);
  if (dtypes.size() != 1 || shapes.size() != 1 || dtypes[0] != "float32")
    Unsupported("a value that is not one tensor of float32");
  if (shapes[0].size() > kMaxRank) Unsupported("a tensor of more than 8 dims");
  for (const nlohmann::json& dim : shapes[0]) {
    if (dim.is_string()) {
      node.shape.push_back({0, symbols.at(dim)});
    } else {
      node.shape.push_back({dim.get<int64_t>(), -1});
      if (node.shape.back().number < 0) Invalid("a dim below 0");
    }
  }
  if (node.kind != Node::Kind::kKernel) return node;
  for (const nlohmann::json& input : json.at("inputs")) {
    node.inputs.push_back(input.at(0).get<size_t>());
    if (node.inputs.back() >= number || input.at(1) != 0)
      Invalid("a kernel reads what does not stand before it");
  }
  node.op = json.at("name");
  for (const auto& [name, value] : attrs.items()) {
    if (name == "dtype" || name == "shape" || !value.is_array() || value.empty()) continue;
    const auto texts = value.at(0).get<std::vector<std::string>>();
    if (name == "operator") {
      node.op = texts.at(0);
    } else if (name == "post_ops") {
      for (const std::string& text : texts) node.steps.push_back(ReadStep(text, node));
    } else {
      node.attrs[name] = texts;
    }
  }
  return node;
}

// Throws Refused, or what nlohmann::json throws.
inline Region ReadRegion(std::string_view text) {
  const auto json = nlohmann::json::parse(text);
  Region region;
  std::map<std::string, int> symbols;
  if (const auto names = json.find("symbols"); names != json.end()) {
    for (const std::string name : *names)
      symbols.emplace(name, static_cast<int>(region.num_symbols++));
  }
  if (json.at("nodes").size() > kMaxNodes) Unsupported("too many nodes");
  for (const nlohmann::json& node : json.at("nodes")) {
    const size_t number = region.nodes.size();
    region.nodes.push_back(ReadNode(node, symbols, number));
    if (region.nodes.back().kind == Node::Kind::kInput) region.inputs.push_back(number);
    if (region.nodes.back().kind == Node::Kind::kConstant) region.constants.push_back(number);
  }
  for (const nlohmann::json& head : json.at("heads")) {
    region.heads.push_back(head.at(0).get<size_t>());
    if (region.heads.back() >= region.nodes.size() || head.at(1) != 0)
      Invalid("a head that is no node");
  }
  return region;
}

// --- Plans ---

using Dims = std::vector<int64_t>;

struct Plan {
  std::vector<int64_t> symbols;
  std::vector<Dims> dims;       // of each value
  std::vector<uint64_t> place;  // in the scratch memory, of each value that is there
  uint64_t scratch = 0;         // bytes
};

inline int64_t Product(const Dims& dims, size_t first, size_t last) {
  int64_t product = 1;
  for (size_t i = first; i < last; ++i) {
    if (__builtin_mul_overflow(product, dims[i], &product) || product > INT64_MAX / 64)
      Invalid("a tensor of too many elements");
  }
  return product;
}
inline int64_t Elements(const Dims& dims) { return Product(dims, 0, dims.size()); }

// A file that somebody has made may say other sizes than its JSON.
inline void CheckTensor(const RelayvmRegionTensor& t, const Dims& dims) {
  constexpr int32_t kFloat32 = 11;
  if (t.dtype != kFloat32 || t.rank != dims.size() || !std::equal(dims.begin(), dims.end(), t.dims))
    Invalid("a tensor of another type than the JSON's");
}

inline Plan MakePlan(const Region& region, const int64_t* symbols, uint32_t num_symbols) {
  if (num_symbols != region.num_symbols) Invalid("another number of symbols than the JSON's");
  Plan plan;
  plan.symbols.assign(symbols, symbols + num_symbols);
  for (const Node& node : region.nodes) {
    Dims& dims = plan.dims.emplace_back();
    for (const Extent& e : node.shape) dims.push_back(e.symbol < 0 ? e.number : symbols[e.symbol]);
    plan.place.push_back(plan.scratch);
    const auto bytes = static_cast<uint64_t>(Elements(dims)) * sizeof(float);
    if (node.kind != Node::Kind::kKernel) continue;
    if (__builtin_add_overflow(plan.scratch, (bytes + 63) / 64 * 64, &plan.scratch))
      Invalid("too much memory");
  }
  return plan;
}

// --- The ABI ---

// What an engine is: made of a region, or it throws Refused; used by several threads at once.
class Engine {
 public:
  virtual ~Engine() = default;
  // Whether it runs with these sizes, or Refused.
  virtual void Check(const Plan& plan) const { (void)plan; }
  // Computes value `node`, of a kernel; values[i] is where value i is.
  virtual void Compute(const Plan& plan, size_t node, float* const* values) const = 0;
};

struct State {
  Region region;
  std::unique_ptr<Engine> engine;
  std::vector<float*> constants;
};

template <typename F>
int32_t Guarded(RelayvmRegionError* error, const F& run) {
  const auto say = [&](int32_t status, const char* why) {
    std::snprintf(error->message, sizeof error->message, "%s", why);
    return status;
  };
  try {
    return run();
  } catch (const Refused& e) {
    return say(e.status, e.what());
  } catch (const std::bad_alloc&) {
    return say(RELAYVM_REGION_OUT_OF_MEMORY, "no memory");
  } catch (const std::exception& e) {  // of nlohmann::json
    return say(RELAYVM_REGION_INVALID, e.what());
  }
}

inline int32_t Run(const State& state, const Plan& plan, const RelayvmRegionEnv* env,
                   const RelayvmRegionTensor* inputs, const RelayvmRegionTensor* outputs,
                   void* scratch) {
  const Region& region = state.region;
  std::vector<float*> values(region.nodes.size());
  size_t input = 0, constant = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const Node::Kind kind = region.nodes[i].kind;
    values[i] = kind == Node::Kind::kInput ? static_cast<float*>(inputs[input++].data)
                : kind == Node::Kind::kConstant
                    ? state.constants[constant++]
                    : reinterpret_cast<float*>(static_cast<char*>(scratch) + plan.place[i]);
  }
  // A result is computed where it is wanted.
  for (size_t h = 0; h < region.heads.size(); ++h) {
    if (region.nodes[region.heads[h]].kind == Node::Kind::kKernel)
      values[region.heads[h]] = static_cast<float*>(outputs[h].data);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (region.nodes[i].kind != Node::Kind::kKernel || Elements(plan.dims[i]) == 0) continue;
    if (env->poll(env) != 0) return RELAYVM_REGION_STOPPED;
    state.engine->Compute(plan, i, values.data());
  }
  for (size_t h = 0; h < region.heads.size(); ++h) {
    const auto bytes = static_cast<size_t>(Elements(plan.dims[region.heads[h]])) * sizeof(float);
    if (bytes > 0 && outputs[h].data != values[region.heads[h]])
      std::memcpy(outputs[h].data, values[region.heads[h]], bytes);
  }
  return RELAYVM_REGION_OK;
}

// The provider of an engine E, whose constructor takes the region and E's `open` says the version
// of what it found, or throws Refused.
template <typename E>
const RelayvmRegionProvider* ProviderOf(const char* name) {
  static RelayvmRegionProvider provider = {};
  provider.abi = RELAYVM_REGION_ABI;
  provider.struct_size = sizeof provider;
  provider.engine = name;
  provider.open = [](const char** version, RelayvmRegionError* error) {
    return Guarded(error, [&] {
      *version = E::Open();
      return RELAYVM_REGION_OK;
    });
  };
  provider.create = [](const char* json, uint64_t bytes, const RelayvmRegionTensor* constants,
                       uint32_t num_constants, RelayvmRegion** made, RelayvmRegionError* error) {
    return Guarded(error, [&] {
      auto state = std::make_unique<State>();
      state->region = ReadRegion({json, static_cast<size_t>(bytes)});
      if (num_constants != state->region.constants.size())
        Invalid("another number of constants than the JSON's");
      for (uint32_t i = 0; i < num_constants; ++i)
        state->constants.push_back(static_cast<float*>(constants[i].data));
      state->engine = std::make_unique<E>(state->region);
      *made = reinterpret_cast<RelayvmRegion*>(state.release());
      return RELAYVM_REGION_OK;
    });
  };
  provider.prepare = [](RelayvmRegion* region, const int64_t* dims, uint32_t num_dims,
                        uint32_t /*num_threads*/, RelayvmPlan** made, uint64_t* scratch_bytes,
                        RelayvmRegionError* error) {
    return Guarded(error, [&] {
      const State& state = *reinterpret_cast<State*>(region);
      auto plan = std::make_unique<Plan>(MakePlan(state.region, dims, num_dims));
      state.engine->Check(*plan);
      *scratch_bytes = plan->scratch;
      *made = reinterpret_cast<RelayvmPlan*>(plan.release());
      return RELAYVM_REGION_OK;
    });
  };
  provider.run = [](RelayvmRegion* region, RelayvmPlan* plan, const RelayvmRegionEnv* env,
                    const RelayvmRegionTensor* inputs, uint32_t num_inputs,
                    const RelayvmRegionTensor* outputs, uint32_t num_outputs, void* scratch,
                    RelayvmRegionError* error) {
    return Guarded(error, [&] {
      const State& state = *reinterpret_cast<State*>(region);
      if (num_inputs != state.region.inputs.size() || num_outputs != state.region.heads.size())
        Invalid("another number of tensors than the JSON's");
      const Plan& its = *reinterpret_cast<Plan*>(plan);
      for (uint32_t i = 0; i < num_inputs; ++i)
        CheckTensor(inputs[i], its.dims[state.region.inputs[i]]);
      for (uint32_t i = 0; i < num_outputs; ++i)
        CheckTensor(outputs[i], its.dims[state.region.heads[i]]);
      return Run(state, *reinterpret_cast<Plan*>(plan), env, inputs, outputs, scratch);
    });
  };
  provider.release = [](RelayvmRegion*, RelayvmPlan* plan) {
    delete reinterpret_cast<Plan*>(plan);
  };
  provider.destroy = [](RelayvmRegion* region) { delete reinterpret_cast<State*>(region); };
  return &provider;
}

}  // namespace engines

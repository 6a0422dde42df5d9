#include "compiler/import/keras/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/keras/model_builder.h"

namespace relayvm::import::keras {

TypedBuilder& LayerContext::b() const { return model_.b(); }

const Json& LayerContext::config() const {
  static const Json* const kNone = new Json(Json::object());
  const Json* config = Member(layer_, "config");
  return config != nullptr && config->is_object() ? *config : *kNone;
}
std::string LayerContext::class_name() const { return TextAt(layer_, "class_name"); }
std::string LayerContext::name() const {
  return TextAt(config(), "name", TextAt(layer_, "name", class_name()));
}

Value LayerContext::Named(std::string_view argument) const {
  for (size_t i = 0; i < site.names.size(); ++i) {
    if (site.names[i] == argument) return Input(i);
  }
  return {};
}

// The layer's name of a dtype, or of a policy of which "mixed_float16" and "int8_from_float32" are
// some.
std::optional<DType> LayerContext::ComputeDType() const {
  const Json* v = Member(config(), "dtype");
  if (v == nullptr) return std::nullopt;
  std::string name = v->is_string() ? v->get<std::string>() : "";
  if (const Json* inner = Member(*v, "config")) {
    name = TextAt(*inner, "name");
    if (name.empty()) name = TextAt(*inner, "source_name");
  }
  if (const size_t from = name.find("_from_"); from != std::string::npos)
    name = name.substr(from + 6);
  if (name.starts_with("mixed_")) name = name.substr(6);
  const auto dtype = ParseDType(name);
  return dtype && IsFloat(*dtype) ? dtype : std::nullopt;
}

void LayerContext::CastReals(DType dtype) {
  for (Value& v : inputs_) {
    if (v && v.is_tensor() && IsFloat(v.dtype())) v = b().Cast(v, dtype);
  }
}

Value LayerContext::Real(size_t i) {
  const Value v = Input(i);
  return !v || IsFloat(v.dtype()) ? v : b().Cast(v, ComputeDType().value_or(DType::kFloat32));
}

// --- Weights ---

bool LayerContext::HasWeight(std::string_view part) const {
  return model_.file() != nullptr && !weights_.Next(*model_.file(), part).empty();
}

Value LayerContext::Weight(std::string_view part) {
  const std::string name = model_.file() == nullptr ? "" : weights_.Next(*model_.file(), part);
  if (name.empty()) {
    Fail("the file has no further weight of it{}{}", part.empty() ? "" : ", of its part ", part);
    return b().Scalar(0, DType::kFloat32);
  }
  weights_.Took(part);
  auto tensor = model_.file()->Dataset(name);
  if (!tensor.ok()) {
    b().Fail(tensor.status().code(), tensor.status().message());
    return b().Scalar(0, DType::kFloat32);
  }
  const Value weight = b().Constant(*std::move(tensor), name);
  return weight_dtype && IsFloat(weight.dtype()) ? b().Cast(weight, *weight_dtype) : weight;
}

// The layer may stand in one that runs it both ways.
std::string LayerContext::StateName(size_t i) {
  return fmt::format("{}{}/state_{}", name(), Bool("go_backwards", false) ? "/backward" : "", i);
}

// --- Configuration ---

const Json* LayerContext::Setting(std::string_view key) const {
  const Json* of_call = site.named == nullptr ? nullptr : Member(*site.named, key);
  if (!site.parameters.empty()) {
    const std::string alias = ";" + std::string(key) + "=";
    const size_t at = site.parameters.find(alias);
    if (at == std::string_view::npos || site.named == nullptr) return of_call;
    const size_t from = at + alias.size();
    return Member(*site.named,
                  site.parameters.substr(from, site.parameters.find(';', from) - from));
  }
  const Json* v = Member(config(), key);
  return v != nullptr ? v : of_call;
}

bool LayerContext::IsNull(std::string_view key) const {
  const Json* v = Setting(key);
  return v == nullptr || v->is_null();
}

bool LayerContext::Bool(std::string_view key, bool fallback) {
  if (IsNull(key)) return fallback;
  const Json& v = *Setting(key);
  if (v.is_boolean()) return v.get<bool>();
  if (v.is_number_integer()) return v.get<int64_t>() != 0;
  Fail("{}: expected true or false", key);
  return fallback;
}

int64_t LayerContext::Int(std::string_view key, int64_t fallback) {
  if (IsNull(key)) return fallback;
  const Json& v = *Setting(key);
  if (v.is_number_integer()) return v.get<int64_t>();
  if (v.is_number_float() && std::abs(v.get<double>()) < 1e15)
    return static_cast<int64_t>(v.get<double>());
  if (v.is_array() && v.size() == 1 && v[0].is_number_integer()) return v[0].get<int64_t>();
  Fail("{}: expected a whole number", key);
  return fallback;
}

double LayerContext::Float(std::string_view key, double fallback) {
  if (IsNull(key)) return fallback;
  const Json& v = *Setting(key);
  if (v.is_number()) return v.get<double>();
  // Numbers of numpy, as older Keras wrote them.
  const Json* value = Member(v, "value");
  if (value != nullptr && value->is_number()) return value->get<double>();
  Fail("{}: expected a number", key);
  return fallback;
}

std::string LayerContext::String(std::string_view key, std::string_view fallback) {
  if (IsNull(key)) return std::string(fallback);
  const Json& v = *Setting(key);
  if (v.is_string()) return v.get<std::string>();
  Fail("{}: expected a text", key);
  return std::string(fallback);
}

std::vector<int64_t> LayerContext::Ints(std::string_view key, std::vector<int64_t> fallback) {
  if (IsNull(key)) return fallback;
  std::vector<int64_t> out;
  const std::function<bool(const Json&, int)> add = [&](const Json& v, int depth) {
    if (v.is_number_integer()) return out.push_back(v.get<int64_t>()), true;
    if (!v.is_array() || depth > 3) return false;
    return std::all_of(v.begin(), v.end(), [&](const Json& e) { return add(e, depth + 1); });
  };
  if (add(*Setting(key), 0)) return out;
  Fail("{}: expected whole numbers", key);
  return fallback;
}

std::vector<double> LayerContext::Floats(std::string_view key) {
  if (IsNull(key)) return {};
  std::vector<double> out;
  const std::function<bool(const Json&, int)> add = [&](const Json& v, int depth) {
    if (v.is_number()) return out.push_back(v.get<double>()), true;
    if (!v.is_array() || depth > 8) return false;
    return std::all_of(v.begin(), v.end(), [&](const Json& e) { return add(e, depth + 1); });
  };
  if (!add(*Setting(key), 0)) Fail("{}: expected numbers", key);
  return out;
}

bool LayerContext::ChannelsLast() {
  const std::string format = String("data_format", "channels_last");
  if (format != "channels_last" && format != "channels_first")
    Fail("data_format: expected channels_last or channels_first, found '{}'", format);
  return format != "channels_first";
}

int LayerContext::Axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  Fail("axis: expected {} to {}, found {}", -rank, rank - 1, axis);
  return 0;
}

// --- Activations ---

namespace {

Term Shrunk(const Term& x, double least, bool soft) {
  const Term zero = x.Number(0);
  if (!soft) return Select(Abs(x) > least, x, zero);
  return Select(x > least, x - least, Select(x < -least, x + least, zero));
}

// (x - t) where that is above 0. As Keras computes t: of the sums of the largest elements all that
// are in the support are added, not the last of them alone.
Term Sparsemax(const Term& x) {
  const int last = x.rank() - 1;
  const Term sorted = x.Call("sort", {{"axis", last}, {"is_ascend", false}});
  const Term sums = sorted.Call("cumsum", {{"axis", last}});
  const Term place = (RangeOf(x.b(), x, last) + 1).As(x.dtype());
  const Term inside = place * sorted + 1 > sums;
  const Term count = Sum(inside.As(x.dtype()), {last});
  const Term total = Sum(Select(inside, sums, x.Number(0)), {last});
  return Maximum(x.Number(0), x - (total - 1) / count);
}

// NaN stays.
Term Held(const Term& x, double low, double high) {
  return Minimum(x.Number(high), Maximum(x.Number(low), x));
}

std::optional<Term> NamedActivation(const std::string& name, const Term& x, bool hard_is_sixth) {
  const auto gate = [&] { return x.Call("sigmoid"); };
  const Term zero = x.Number(0);
  if (name == "linear" || name.empty()) return x;
  if (name == "softmax") return x.Call("nn.softmax", {{"axis", x.rank() - 1}});
  if (name == "log_softmax") return x.Call("nn.log_softmax", {{"axis", x.rank() - 1}});
  if (name == "swish" || name == "silu") return SwishOf(x, 1);
  if (name == "exponential") return Exp(x);
  if (name == "relu6") return Held(x, 0, 6);
  if (name == "leaky_relu") return FindActivation("leakyrelu")->apply(x, 0.2, 0);
  if (name == "hard_sigmoid")
    return FindActivation("hardsigmoid")->apply(x, hard_is_sixth ? 1.0 / 6 : 0.2, 0.5);
  if (name == "hard_silu" || name == "hard_swish")
    return FindActivation("hardswish")->apply(x, 0, 0);
  if (name == "hard_tanh") return Held(x, -1, 1);
  if (name == "mish") return x * Softplus(x).Call("tanh");
  if (name == "celu") return Select(x > 0, x, Exp(Minimum(zero, x)) - 1);
  if (name == "log_sigmoid") return -Softplus(-x);
  if (name == "soft_shrink") return Shrunk(x, 0.5, true);
  if (name == "hard_shrink") return Shrunk(x, 0.5, false);
  if (name == "tanh_shrink") return x - x.Call("tanh");
  if (name == "squareplus") return (x + Sqrt(x * x + 4)) / 2;
  if (name == "sparse_plus") {
    const Term half = (x + 1) * (x + 1) / 4;
    return Select(x <= -1, zero, Select(x >= 1, x, half));
  }
  if (name == "sparse_sigmoid") return Clamp((x + 1) / 2, zero, x.Number(1));
  if (name == "sparsemax") return Sparsemax(x);
  if (name == "threshold") return Select(x > 0, x, zero);
  if (name == "glu") {
    const std::vector<Value> parts =
        x.b().Ops("split", {x}, {{"indices_or_sections", 2}, {"axis", x.rank() - 1}});
    if (parts.size() != 2) return x;
    return Term(x.b(), parts[0]) * Term(x.b(), parts[1]).Call("sigmoid");
  }
  if (name == "sigmoid") return gate();
  const ActivationDef* def = FindActivation(name);
  if (def == nullptr) return std::nullopt;
  return def->apply(x, def->alpha, def->beta);
}

}  // namespace

Term LayerContext::ActivatedBy(const std::string& name, const Term& x) {
  const auto y = NamedActivation(name, x, model_.version >= 3);
  if (y) return *y;
  Unsupported("the activation '{}' is not supported", name);
  return x;
}

Term LayerContext::Activated(const Term& x, std::string_view key, const std::string& fallback) {
  if (Setting(key) == nullptr) return *NamedActivation(fallback, x, true);
  if (IsNull(key)) return x;
  const Json& given = *Setting(key);
  std::string name;
  if (given.is_string()) {
    name = given.get<std::string>();
  } else if (given.is_object()) {
    const Json* inner = Member(given, "config");
    name = TextAt(given, "class_name");
    if (name == "function" && inner != nullptr && inner->is_string())
      name = inner->get<std::string>();
    if (FindLayer(name) != nullptr) {
      // A layer without weights.
      WeightScope none;
      const auto y = model_.Call(given, none, {{x, {}}});
      return y.empty() ? x : Term(b(), y[0].value);
    }
  }
  const auto y = NamedActivation(name, x, model_.version >= 3);
  if (y) return *y;
  Unsupported("{}: the activation '{}' is not supported", key, name);
  return x;
}

}  // namespace relayvm::import::keras

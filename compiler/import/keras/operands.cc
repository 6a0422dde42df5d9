#include "compiler/import/keras/operands.h"

#include <algorithm>

#include "compiler/import/keras/model_builder.h"

namespace relayvm::import::keras {

namespace {

Operand NumberOf(const Json& v) {
  if (v.is_boolean()) return {{}, v.get<bool>() ? 1.0 : 0.0, false, true};
  return {{}, v.get<double>(), v.is_number_float(), false};
}
bool IsNumber(const Json& v) { return v.is_number() || v.is_boolean(); }

// Of Keras 3: positional arguments, of which a list may be one.
void AddPositional(LayerContext& n, const Json& v, size_t* next, int depth,
                   std::vector<Operand>* all) {
  if (depth > 8) return;
  if (IsNumber(v)) {
    all->push_back(NumberOf(v));
  } else if (TextAt(v, "class_name") == "__keras_tensor__") {
    if (n.Has(*next)) all->push_back({n.Input((*next)++)});
  } else if (const auto array = ArrayAt(n, v, DType::kFloat32)) {
    all->push_back({*array});
  } else if (v.is_array()) {
    for (const Json& e : v) AddPositional(n, e, next, depth + 1, all);
  }
}

// Of TensorFlow: by the names of the parameters, of which the first is given by position.
std::vector<Operand> OfParameters(LayerContext& n) {
  std::vector<Operand> all;
  const auto by_place = std::ranges::count(n.site.names, std::string());
  if (n.site.constant != nullptr && by_place > 0) {
    n.Unsupported("a list of tensors and numbers");
    return {};
  }
  DType dtype = DType::kFloat32;
  for (size_t i = n.num_inputs(); i-- > 0;) dtype = n.Input(i).dtype();
  std::string_view names = n.site.parameters.substr(0, n.site.parameters.find(';'));
  for (bool first = true; !names.empty(); first = false) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const Json* v = n.site.named == nullptr ? nullptr : Member(*n.site.named, name);
    if (v == nullptr && first) v = n.site.constant;
    const size_t before = all.size();
    for (size_t i = 0; i < n.num_inputs(); ++i) {
      const std::string& given = n.site.names[i];
      if (given == name || (first && given.empty())) all.push_back({n.Input(i)});
    }
    if (v == nullptr || v->is_null() || all.size() > before) continue;
    if (IsNumber(*v)) {
      all.push_back(NumberOf(*v));
    } else if (const auto array = ArrayAt(n, *v, dtype)) {
      all.push_back({*array});
    }
  }
  return all;
}

}  // namespace

std::vector<Operand> OperandsOf(LayerContext& n) {
  if (!n.site.parameters.empty()) return OfParameters(n);
  std::vector<Operand> all;
  size_t next = 0;
  if (n.site.positional != nullptr && n.site.positional->is_array()) {
    for (const Json& v : *n.site.positional) AddPositional(n, v, &next, 0, &all);
  }
  for (; next < n.num_inputs(); ++next) all.push_back({n.Input(next)});
  return all;
}

std::vector<Term> TypedOperands(LayerContext& n, const std::vector<Operand>& operands, size_t from,
                                bool same) {
  std::optional<DType> dtype;
  for (size_t i = from; i < operands.size(); ++i) {
    if (!operands[i].tensor) continue;
    const DType own = operands[i].tensor.dtype();
    dtype = !dtype ? own : n.site.parameters.empty() ? Promoted(*dtype, own) : *dtype;
  }
  for (size_t i = from; i < operands.size() && n.site.parameters.empty(); ++i) {
    const Operand& o = operands[i];
    if (o.tensor) continue;
    if (!dtype) dtype = o.is_float ? DType::kFloat32 : o.is_bool ? DType::kBool : DType::kInt32;
    if (o.is_float && !IsFloat(*dtype)) dtype = DType::kFloat32;
    if (!o.is_bool && *dtype == DType::kBool) dtype = DType::kInt32;
  }
  std::vector<Term> all;
  for (size_t i = from; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    const DType to = dtype.value_or(DType::kFloat32);
    if (!o.tensor) {
      all.emplace_back(n, n.b().Scalar(o.number, to));
    } else {
      all.emplace_back(n, same ? n.b().Cast(o.tensor, to) : o.tensor);
    }
  }
  return all;
}

DType Promoted(DType x, DType y) {
  if (x == y || y == DType::kBool) return x;
  if (x == DType::kBool) return y;
  if (IsFloat(x) != IsFloat(y)) return IsFloat(x) ? x : y;
  if (DTypeBits(x) != DTypeBits(y)) {
    const DType wide = DTypeBits(x) > DTypeBits(y) ? x : y, narrow = wide == x ? y : x;
    const bool grows = IsUnsignedInt(wide) && !IsUnsignedInt(narrow);
    if (!grows) return wide;
    return DTypeBits(wide) == 16   ? DType::kInt32
           : DTypeBits(wide) == 32 ? DType::kInt64
                                   : DType::kFloat32;
  }
  if (IsFloat(x)) return DType::kFloat32;  // two of 16 bits
  return DTypeBits(x) == 8    ? DType::kInt16
         : DTypeBits(x) == 16 ? DType::kInt32
         : DTypeBits(x) == 32 ? DType::kInt64
                              : DType::kFloat32;
}

std::vector<Term> Operands(LayerContext& n, bool same) {
  return TypedOperands(n, OperandsOf(n), 0, same);
}

std::optional<Value> ArrayAt(LayerContext& n, const Json& v, DType fallback) {
  const std::string kind = TextAt(v, "class_name");
  const Json* config = Member(v, "config");
  const bool is_array = (kind == "__numpy__" || kind == "__tensor__") && config != nullptr;
  const Json* value = is_array ? Member(*config, "value") : &v;
  if (value == nullptr || (!value->is_array() && !(is_array && IsNumber(*value))))
    return std::nullopt;
  std::vector<int64_t> shape;
  for (const Json* at = value; at->is_array() && shape.size() < 8; at = &(*at)[0]) {
    shape.push_back(static_cast<int64_t>(at->size()));
    if (at->empty()) break;
  }
  std::vector<double> numbers;
  bool is_float = false, is_bool = true;
  const std::function<bool(const Json&, size_t)> add = [&](const Json& e, size_t depth) {
    if (depth == shape.size()) {
      if (!IsNumber(e)) return false;
      is_float |= e.is_number_float(), is_bool &= e.is_boolean();
      numbers.push_back(NumberOf(e).number);
      return true;
    }
    return e.is_array() && e.size() == static_cast<size_t>(shape[depth]) &&
           std::ranges::all_of(e, [&](const Json& inner) { return add(inner, depth + 1); });
  };
  if (!add(*value, 0)) return std::nullopt;
  DType dtype = !n.site.parameters.empty() ? fallback
                : is_float                 ? DType::kFloat32
                : is_bool                  ? DType::kBool
                                           : DType::kInt32;
  if (is_array) dtype = ParseDType(TextAt(*config, "dtype", "float32")).value_or(dtype);
  return n.b().Cast(Table(n, numbers, shape, DType::kFloat64), dtype);
}

std::optional<Value> IntsOrTensors(LayerContext& n, std::string_view key) {
  TypedBuilder& b = n.b();
  const Json* v = n.Setting(key);
  if (v == nullptr || v->is_null()) return std::nullopt;
  // What the argument is called that tensors stand in for.
  std::string name(key);
  if (const size_t at = n.site.parameters.find(";" + name + "="); at != std::string_view::npos) {
    const size_t from = at + name.size() + 2;
    name = n.site.parameters.substr(from, n.site.parameters.find(';', from) - from);
  }
  std::vector<Value> tensors;
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    if (i < n.site.names.size() && n.site.names[i] == name)
      tensors.push_back(b.Cast(n.Input(i), DType::kInt64));
  }
  if (tensors.empty()) return b.Ints(n.Ints(key));
  if (tensors.size() == 1 && tensors[0].rank() == 1) return tensors[0];
  std::vector<Value> parts;
  size_t next = 0;
  if (!v->is_array()) return n.Fail("{}: expected whole numbers", key);
  for (const Json& e : *v) {
    if (e.is_number_integer()) {
      parts.push_back(b.Ints({e.get<int64_t>()}));
    } else if (e.is_null()) {
      parts.push_back(b.Ints({-1}));
    } else if (next < tensors.size()) {
      parts.push_back(b.Reshape(tensors[next++], {1}));
    }
  }
  return parts.empty() ? b.Ints({}) : b.Concat(parts, 0);
}

}  // namespace relayvm::import::keras

#include "kernels/op/attrs.h"

#include <cassert>

namespace relayvm {
namespace {

int64_t ToInt(const AttrValue& v) {
  if (const auto* b = std::get_if<bool>(&v.value)) return *b ? 1 : 0;
  const auto* dim = std::get_if<Dim>(&v.value);
  assert(dim != nullptr && dim->is_const());
  return dim != nullptr && dim->is_const() ? dim->value() : 0;
}

double ToFloat(const AttrValue& v) {
  if (const auto* d = std::get_if<double>(&v.value)) return *d;
  return static_cast<double>(ToInt(v));
}

}  // namespace

bool operator==(const AttrValue& a, const AttrValue& b) { return a.value == b.value; }

const AttrValue* Attrs::Find(std::string_view name) const {
  auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

bool Attrs::Has(std::string_view name) const {
  const AttrValue* v = Find(name);
  return v != nullptr && !v->is_none();
}

bool Attrs::Bool(std::string_view name) const {
  assert(Has(name));
  return ToInt(*Find(name)) != 0;
}

int64_t Attrs::Int(std::string_view name) const {
  assert(Has(name));
  return ToInt(*Find(name));
}

std::optional<int64_t> Attrs::OptionalInt(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  return Int(name);
}

double Attrs::Float(std::string_view name) const {
  assert(Has(name));
  return ToFloat(*Find(name));
}

const std::string& Attrs::String(std::string_view name) const {
  assert(Has(name));
  return std::get<std::string>(Find(name)->value);
}

std::optional<DType> Attrs::OptionalDType(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  return ParseDType(String(name));
}

std::vector<int64_t> Attrs::Ints(std::string_view name) const {
  std::vector<int64_t> out;
  if (!Has(name)) return out;
  const AttrValue& v = *Find(name);
  const auto* list = std::get_if<AttrList>(&v.value);
  if (list == nullptr) return {ToInt(v)};
  for (const AttrValue& x : *list) out.push_back(ToInt(x));
  return out;
}

std::optional<std::vector<int64_t>> Attrs::OptionalInts(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  return Ints(name);
}

std::vector<Dim> Attrs::Dims(std::string_view name) const {
  std::vector<Dim> out;
  if (!Has(name)) return out;
  const AttrValue& v = *Find(name);
  const auto* list = std::get_if<AttrList>(&v.value);
  AttrList single;
  if (list == nullptr) {
    single.push_back(v);
    list = &single;
  }
  for (const AttrValue& x : *list) {
    const auto* dim = std::get_if<Dim>(&x.value);
    out.push_back(dim != nullptr ? *dim : Dim(ToInt(x)));
  }
  return out;
}

std::vector<std::vector<int64_t>> Attrs::Ints2(std::string_view name) const {
  std::vector<std::vector<int64_t>> out;
  if (!Has(name)) return out;
  for (const AttrValue& row : std::get<AttrList>(Find(name)->value)) {
    std::vector<int64_t>& ints = out.emplace_back();
    for (const AttrValue& x : std::get<AttrList>(row.value)) ints.push_back(ToInt(x));
  }
  return out;
}

std::vector<double> Attrs::Floats(std::string_view name) const {
  std::vector<double> out;
  if (!Has(name)) return out;
  const AttrValue& v = *Find(name);
  const auto* list = std::get_if<AttrList>(&v.value);
  if (list == nullptr) return {ToFloat(v)};
  for (const AttrValue& x : *list) out.push_back(ToFloat(x));
  return out;
}

}  // namespace relayvm

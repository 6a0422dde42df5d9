#include "kernels/op/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "bytecode/base/suggestion.h"

namespace relayvm {
namespace {

std::string Describe(const AttrValue& v) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool b) const { return b ? "True" : "False"; }
    std::string operator()(const Dim& d) const { return d.ToString(); }
    std::string operator()(double d) const { return fmt::format("{}", d); }
    std::string operator()(const std::string& s) const { return fmt::format("\"{}\"", s); }
    std::string operator()(const AttrList& list) const {
      std::string out = "[";
      for (size_t i = 0; i < list.size(); ++i) {
        if (i > 0) out += ", ";
        if (i == 8) return out + "...]";
        out += Describe(list[i]);
      }
      return out + "]";
    }
  };
  return std::visit(Visitor(), v.value);
}

std::string_view Expectation(AttrKind kind) {
  switch (kind) {
    case AttrKind::kBool:
      return "True or False";
    case AttrKind::kInt:
      return "an integer";
    case AttrKind::kFloat:
      return "a number";
    case AttrKind::kString:
      return "a string";
    case AttrKind::kDType:
      return "the name of a dtype";
    case AttrKind::kInts:
    case AttrKind::kPositions:
      return "a list of integers";
    case AttrKind::kInts2:
      return "a list of lists of integers";
    case AttrKind::kFloats:
      return "a list of numbers";
    case AttrKind::kIntOrInts:
      return "an integer or a list of integers";
    case AttrKind::kDims:
      return "a list of integers or ?";
    case AttrKind::kAny:
      return "any value";
  }
  return "";
}

// Metadata sections hold numbers as text, so a string that is a number in whole counts as one.
template <typename T>
std::optional<T> ParseWhole(const std::string& text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> AsInt(const AttrValue& v) {
  if (const auto* b = std::get_if<bool>(&v.value)) return *b ? 1 : 0;
  if (const auto* dim = std::get_if<Dim>(&v.value)) {
    if (dim->is_const()) return dim->value();
    return std::nullopt;
  }
  if (const auto* text = std::get_if<std::string>(&v.value)) return ParseWhole<int64_t>(*text);
  return std::nullopt;
}

std::optional<double> AsFloat(const AttrValue& v) {
  if (const auto* d = std::get_if<double>(&v.value)) return *d;
  if (const auto* text = std::get_if<std::string>(&v.value)) return ParseWhole<double>(*text);
  if (auto i = AsInt(v)) return static_cast<double>(*i);
  return std::nullopt;
}

std::optional<AttrValue> Convert(const AttrValue& v, AttrKind kind);

std::optional<AttrValue> ConvertList(const AttrValue& v, AttrKind element, bool accept_single) {
  const auto* list = std::get_if<AttrList>(&v.value);
  AttrList out;
  if (list == nullptr) {
    if (!accept_single) return std::nullopt;
    auto single = Convert(v, element);
    if (!single) return std::nullopt;
    out.push_back(std::move(*single));
    return AttrValue(std::move(out));
  }
  out.reserve(list->size());
  for (const AttrValue& x : *list) {
    auto converted = Convert(x, element);
    if (!converted) return std::nullopt;
    out.push_back(std::move(*converted));
  }
  return AttrValue(std::move(out));
}

// `v` as the canonical value of `kind`; nullopt when it is not one.
std::optional<AttrValue> Convert(const AttrValue& v, AttrKind kind) {
  switch (kind) {
    case AttrKind::kBool:
      if (auto i = AsInt(v)) return AttrValue(*i != 0);
      return std::nullopt;
    case AttrKind::kInt:
      if (auto i = AsInt(v)) return AttrValue(*i);
      return std::nullopt;
    case AttrKind::kFloat:
      if (auto d = AsFloat(v)) return AttrValue(*d);
      return std::nullopt;
    case AttrKind::kString:
      if (std::holds_alternative<std::string>(v.value)) return v;
      return std::nullopt;
    case AttrKind::kDType: {
      const auto* text = std::get_if<std::string>(&v.value);
      if (text == nullptr) return std::nullopt;
      if (text->empty() || *text == "void") return AttrValue("");
      auto dtype = ParseDType(*text);
      if (!dtype) return std::nullopt;
      return AttrValue(std::string(DTypeName(*dtype)));
    }
    case AttrKind::kInts:
    case AttrKind::kPositions:
      return ConvertList(v, AttrKind::kInt, true);
    case AttrKind::kInts2:
      return ConvertList(v, AttrKind::kInts, false);
    case AttrKind::kFloats:
      return ConvertList(v, AttrKind::kFloat, true);
    case AttrKind::kIntOrInts:
      if (std::holds_alternative<AttrList>(v.value)) return ConvertList(v, AttrKind::kInt, false);
      return Convert(v, AttrKind::kInt);
    case AttrKind::kDims: {
      const auto* list = std::get_if<AttrList>(&v.value);
      AttrList single{v};
      if (list == nullptr) list = &single;
      AttrList out;
      for (const AttrValue& x : *list) {
        if (std::holds_alternative<Dim>(x.value)) {
          out.push_back(x);
          continue;
        }
        auto i = AsInt(x);
        if (!i) return std::nullopt;
        out.emplace_back(*i);
      }
      return AttrValue(std::move(out));
    }
    case AttrKind::kAny:
      return v;
  }
  return std::nullopt;
}

// The first integer that leaves 32 bits, where `kind` has only such.
std::optional<int64_t> OutOfRange(const AttrValue& v, AttrKind kind) {
  if (kind != AttrKind::kInt && kind != AttrKind::kInts && kind != AttrKind::kInts2 &&
      kind != AttrKind::kIntOrInts) {
    return std::nullopt;
  }
  if (const auto* list = std::get_if<AttrList>(&v.value)) {
    for (const AttrValue& x : *list) {
      if (auto found = OutOfRange(x, kind)) return found;
    }
    return std::nullopt;
  }
  auto i = AsInt(v);
  if (!i || std::in_range<int32_t>(*i)) return std::nullopt;
  return i;
}

const AttrField* FindField(const OpDef& op, std::string_view name) {
  for (const AttrField& field : op.attrs) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

std::string FieldNames(const OpDef& op) {
  if (op.attrs.empty()) return "it has none";
  std::string out = "it has ";
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    if (i > 0) out += ", ";
    out += op.attrs[i].name;
  }
  return out;
}

std::string Describe(const ArgType& arg) {
  std::string out;
  for (const TensorType& t : arg.tensors) {
    if (!out.empty()) out += ", ";
    out += fmt::format("Tensor[{}, {}]", ShapeToString(t.shape), DTypeName(t.dtype));
  }
  if (!arg.is_tuple) return out;
  return fmt::format("({}{})", out, arg.tensors.size() == 1 ? "," : "");
}

bool TakesTuple(const OpDef& op, size_t i) {
  return std::find(op.tuple_args.begin(), op.tuple_args.end(), static_cast<int>(i)) !=
         op.tuple_args.end();
}

}  // namespace

Status WrongArg(const OpDef& op, size_t i, std::string_view found) {
  return {StatusCode::kInvalidInput,
          fmt::format("argument {}: expected {}, found {}", i,
                      TakesTuple(op, i) ? "a tuple of tensors" : "a tensor", found)};
}

te::Tensor ExpressionOf(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                        const TensorType& result) {
  if (!op.compute || op.builtin) return nullptr;
  std::vector<te::Tensor> placeholders;
  for (const TensorType& t : inputs)
    placeholders.push_back(
        te::Placeholder("s", t.shape, t.dtype, static_cast<int>(placeholders.size())));
  return op.compute({attrs, placeholders, std::span(&result, 1)}).at(0);
}

Status CheckArgs(const OpDef& op, std::span<const ArgType> args) {
  if (op.num_args >= 0 && args.size() != static_cast<size_t>(op.num_args)) {
    return {StatusCode::kInvalidInput, fmt::format("expected {} argument{}, found {}", op.num_args,
                                                   op.num_args == 1 ? "" : "s", args.size())};
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].is_tuple != TakesTuple(op, i) || args[i].tensors.empty()) {
      return WrongArg(op, i, Describe(args[i]));
    }
  }
  return OkStatus();
}

Result<Attrs> CompleteAttrs(const OpDef& op, const Attrs& given, bool may_miss) {
  Attrs out;
  for (const auto& [name, value] : given.values()) {
    const AttrField* field = FindField(op, name);
    if (field == nullptr) {
      Suggestion suggestion(name);
      for (const AttrField& f : op.attrs) suggestion.Consider(f.name);
      const std::string meant = suggestion.Text("");
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: no attribute named \"{}\"{} {}", op.name, name,
                                meant.empty() ? ";" : meant, FieldNames(op)));
    }
    if (value.is_none()) continue;  // as if not given
    auto converted = Convert(value, field->kind);
    if (!converted) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: attribute {} must be {}, not {}", op.name, name,
                                Expectation(field->kind), Describe(value)));
    }
    if (auto number = OutOfRange(*converted, field->kind)) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: attribute {}: {} is out of range, expected {} to {}", op.name,
                                name, *number, INT32_MIN, INT32_MAX));
    }
    out.Set(name, std::move(*converted));
  }
  for (const AttrField& field : op.attrs) {
    if (out.Find(field.name) != nullptr) continue;
    if (field.required && may_miss) continue;
    if (field.required) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: attribute {} ({}) is missing", op.name, field.name,
                                Expectation(field.kind)));
    }
    out.Set(std::string(field.name), field.fallback);
  }
  return out;
}

}  // namespace relayvm

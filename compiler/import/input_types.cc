#include "compiler/import/input_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bytecode/base/dtype.h"
#include "compiler/import/control_flow.h"
#include "compiler/ir/shape_text.h"

namespace relayvm::import {

namespace {

constexpr int kMostNested = 16;
constexpr std::string_view kHow =
    "write dims as 1x3x? or (n, 3, ?):float32, or a type as Tensor[(n, 3), float32], "
    "List[Tensor[(?, 3), float32]], (TYPE, TYPE), Optional[TYPE] or None";

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Status Wrong(std::string why) { return {StatusCode::kInvalidArgument, std::move(why)}; }

// Parts between commas outside of brackets. A comma at the end is allowed.
std::vector<std::string_view> SplitParts(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++depth;
    if (i < text.size() && (text[i] == ')' || text[i] == ']')) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const std::string_view part = Trim(text.substr(begin, i - begin));
    if (i < text.size() || !part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

// A type as it was said. A tensor without a dtype has none, and `?` is Any.
struct SaidType {
  ir::Type type;
  bool has_dtype = true;
};

class Reader {
 public:
  explicit Reader(InputTypes& types) : types_(types) {}

  Result<SaidType> Read(std::string_view text, int depth = 0) {
    text = Trim(text);
    if (depth > kMostNested) return Wrong("its type is nested too deeply");
    if (text == "None") return SaidType{NoneType()};
    if (auto inner = Inside(text, "Tensor")) {
      const auto parts = SplitParts(*inner);
      if (parts.size() != 2) return Wrong(fmt::format("\"{}\": {}", text, kHow));
      return Tensor(parts[0], parts[1]);
    }
    for (const auto& [word, make] : {std::pair("List", &ListType), {"Optional", &OptionalType}}) {
      const auto inner = Inside(text, word);
      if (!inner) continue;
      RELAYVM_ASSIGN_OR_RETURN(SaidType held, Read(*inner, depth + 1));
      return SaidType{make(held.type), held.has_dtype};
    }
    if (IsTuple(text)) {
      ir::TupleType tuple;
      for (std::string_view part : SplitParts(text.substr(1, text.size() - 2))) {
        RELAYVM_ASSIGN_OR_RETURN(SaidType field, Read(part, depth + 1));
        tuple.fields.push_back(field.type);
      }
      return SaidType{ir::MakeType(std::move(tuple))};
    }
    const size_t colon = text.rfind(':');
    const bool has_dtype = colon != std::string_view::npos && text.find_last_of(")]") + 1 <= colon;
    if (!has_dtype) return Tensor(text, "");
    return Tensor(text.substr(0, colon), text.substr(colon + 1));
  }

 private:
  // WORD[inside]
  static std::optional<std::string_view> Inside(std::string_view text, std::string_view word) {
    if (!text.starts_with(word) || !text.ends_with(']')) return std::nullopt;
    const std::string_view rest = Trim(text.substr(word.size()));
    if (!rest.starts_with('[')) return std::nullopt;
    return rest.substr(1, rest.size() - 2);
  }
  // Parts that are types, not dims.
  static bool IsTuple(std::string_view text) {
    if (!text.starts_with('(') || !text.ends_with(')')) return false;
    for (std::string_view part : SplitParts(text.substr(1, text.size() - 2))) {
      for (std::string_view word : {"Tensor", "List", "Optional", "None", "("}) {
        if (part.starts_with(word)) return true;
      }
      if (part.ends_with(')')) return true;
    }
    return false;
  }

  Result<SaidType> Tensor(std::string_view dims, std::string_view dtype_text) {
    dtype_text = Trim(dtype_text);
    // How arrays hold it may follow, as tools that have no such dtype say it.
    if (dtype_text.ends_with(" as uint16 bits"))
      dtype_text.remove_suffix(std::string_view(" as uint16 bits").size());
    std::optional<DType> dtype = DType::kFloat32;
    if (!dtype_text.empty()) dtype = DTypeNamed(dtype_text);
    if (!dtype)
      return Wrong(fmt::format("\"{}\" is not a dtype; write float32, int64 ...", dtype_text));
    const auto parts = ir::ParseShapeText(dims);
    if (!parts.ok()) return Wrong(fmt::format("{}; {}", parts.status().message(), kHow));
    std::vector<Dim> shape;
    for (const ir::DimText& part : *parts) {
      shape.push_back(part.size           ? Dim(*part.size)
                      : part.name.empty() ? Dim::Any()
                                          : types_.DimNamed(part.name));
    }
    return SaidType{ir::MakeTensorType(std::move(shape), *dtype), !dtype_text.empty()};
  }

  // As Relay has them, or short: f32, i64, u8, bf16.
  static std::optional<DType> DTypeNamed(std::string_view name) {
    if (auto dtype = ParseDType(name)) return dtype;
    for (const auto& [letters, word] :
         {std::pair<std::string_view, std::string_view>{"bf", "bfloat"},
          {"f", "float"},
          {"i", "int"},
          {"u", "uint"}}) {
      if (name.starts_with(letters))
        return ParseDType(fmt::format("{}{}", word, name.substr(letters.size())));
    }
    return std::nullopt;
  }

  InputTypes& types_;
};

}  // namespace

InputTypes::Said InputTypes::Find(std::string_view name, size_t position) const {
  for (const std::string& key : {std::string(name), std::to_string(position)}) {
    const auto found = options_.shapes.find(key);
    if (found != options_.shapes.end() && !key.empty()) return {&found->first, &found->second};
  }
  return {};
}

bool InputTypes::IsSaid(std::string_view name, size_t position) const {
  return Find(name, position).text != nullptr;
}

Dim InputTypes::DimNamed(const std::string& name) {
  const auto [at, inserted] = dims_.try_emplace(name);
  if (inserted) {
    const auto given = options_.dims.find(name);
    at->second =
        given != options_.dims.end() ? Dim(given->second) : Dim::Symbol(module_.ids->Next(), name);
  }
  return at->second;
}

ir::Type InputTypes::Opened(const ir::Type& type) {
  return ir::MapDims(
      type, [&](const Dim& d) { return d.is_any() ? Dim::Symbol(module_.ids->Next(), "d") : d; });
}

Result<ir::Type> InputTypes::Merge(const ir::Type& declared, const ir::Type& said) {
  const auto* x = declared->As<TensorType>();
  const auto* y = said->As<TensorType>();
  if (x == nullptr || y == nullptr) return said;
  if (x->shape.size() != y->shape.size())
    return Wrong(fmt::format("the input has {} dimensions", x->shape.size()));
  std::vector<Dim> shape = x->shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (y->shape[i].is_any()) continue;
    if (shape[i].is_const() && y->shape[i].is_const() && shape[i] != y->shape[i])
      return Wrong(fmt::format("dimension {} is declared as {}", i, shape[i].value()));
    if (!shape[i].is_const()) shape[i] = y->shape[i];
  }
  return ir::MakeTensorType(std::move(shape), x->dtype);
}

Result<ir::Type> InputTypes::Of(std::string_view name, size_t position, ir::Type declared) {
  inputs_.emplace(name.empty() ? std::to_string(position) : std::string(name));
  const Said said = Find(name, position);
  if (said.text == nullptr) return declared == nullptr ? nullptr : Opened(declared);
  used_.insert(*said.name);
  const auto fail = [&](std::string_view why) {
    return Wrong(fmt::format("--shape {}={}: {}", *said.name, *said.text, why));
  };
  const auto read = Reader(*this).Read(*said.text);
  if (!read.ok()) return fail(read.status().message());
  if (declared == nullptr) return Opened(read->type);
  const auto* x = declared->As<TensorType>();
  const auto* y = read->type->As<TensorType>();
  if (x != nullptr && y != nullptr && read->has_dtype && x->dtype != y->dtype)
    return fail(fmt::format("the input is {}", DTypeName(x->dtype)));
  const auto merged = Merge(declared, read->type);
  if (!merged.ok()) return fail(merged.status().message());
  return Opened(*merged);
}

Status InputTypes::CheckUsed() const {
  for (const auto& [name, text] : options_.shapes) {
    if (used_.contains(name)) continue;
    return Wrong(fmt::format("--shape {}={}: there is no such input; the model has: {}", name, text,
                             fmt::join(inputs_, ", ")));
  }
  for (const auto& [name, value] : options_.dims) {
    if (dims_.contains(name)) continue;
    std::vector<std::string> names;
    for (const auto& [known, dim] : dims_) names.push_back(known);
    return Wrong(
        fmt::format("--dim {}={}: no dimension of an input has that name; there {}", name, value,
                    names.empty() ? "is none" : fmt::format("are {}", fmt::join(names, ", "))));
  }
  return OkStatus();
}

}  // namespace relayvm::import

#include "tools/serve/triton/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "tools/serve/triton/tensors.h"

namespace relayvm::triton {
namespace {

using Json = nlohmann::json;

Status Wrong(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

// Protocol buffers write 64-bit numbers as text, Triton as numbers.
std::optional<int64_t> NumberOf(const Json& json) {
  if (json.is_number_integer()) return json.get<int64_t>();
  if (!json.is_string()) return std::nullopt;
  const auto& text = json.get_ref<const std::string&>();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string TextOf(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

const Json& ListOf(const Json& json, const char* key) {
  static const Json empty = Json::array();
  const auto it = json.find(key);
  return it != json.end() && it->is_array() ? *it : empty;
}

// {"key": {"string_value": "text"}}
std::string ParameterOf(const Json& config, const char* key) {
  const auto parameters = config.find("parameters");
  if (parameters == config.end() || !parameters->is_object()) return {};
  const auto it = parameters->find(key);
  return it != parameters->end() && it->is_object() ? TextOf(*it, "string_value") : std::string();
}

template <typename T>
Status ReadNumber(const Json& config, const char* key, T* number) {
  const std::string text = ParameterOf(config, key);
  if (text.empty()) return OkStatus();
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  if (error == std::errc() && stop == end) return OkStatus();
  return Wrong(fmt::format("parameter {}: expected a number, found '{}'", key, text));
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Names of dims in an expression over them.
std::set<std::string> SymbolsOf(const std::string& expression) {
  std::set<std::string> symbols;
  std::string symbol;
  for (const char c : expression + " ") {
    const bool is_part =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || (c & 0x80) != 0;
    if (is_part) {
      symbol += c;
    } else if (!symbol.empty()) {
      if (std::isdigit(static_cast<unsigned char>(symbol[0])) == 0) symbols.insert(symbol);
      symbol.clear();
    }
  }
  return symbols;
}

Status CheckTensor(const char* what, const NamedType& named) {
  if (named.type.kind == TypeInfo::Kind::kTensor) return OkStatus();
  return {StatusCode::kUnsupported,
          fmt::format("{} {}: expected a tensor, found {}", what, named.name, named.type.text)};
}

Status CheckRow(const char* what, const NamedType& named, const std::string& rows) {
  const std::vector<TypeInfo::Dim>& dims = named.type.dims;
  const std::string reason = dims.empty()           ? "is a scalar"
                             : dims[0].size >= 0    ? fmt::format("has {} rows", dims[0].size)
                             : dims[0].name.empty() ? "has rows of a number that nothing names"
                             : dims[0].name != rows
                                 ? fmt::format("has {} rows, not {}", dims[0].name, rows)
                                 : std::string();
  if (!reason.empty())
    return Wrong(
        fmt::format("max_batch_size: {} {}: {} {}", what, named.name, named.type.text, reason));
  for (size_t i = 1; i < dims.size(); ++i) {
    for (const std::string& symbol : SymbolsOf(rows)) {
      if (!SymbolsOf(dims[i].name).contains(symbol)) continue;
      return Wrong(fmt::format("max_batch_size: {} {}: dim {} of {} depends on the number of rows",
                               what, named.name, i, named.type.text));
    }
  }
  return OkStatus();
}

int64_t MaxBatch(const Json& config) {
  const auto it = config.find("max_batch_size");
  return it == config.end() ? 0 : NumberOf(*it).value_or(0);
}

// The configuration's: without rows.
std::vector<int64_t> DimsOf(const TypeInfo& type, bool has_rows) {
  std::vector<int64_t> dims;
  for (size_t i = has_rows ? 1 : 0; i < type.dims.size(); ++i) dims.push_back(type.dims[i].size);
  return dims;
}

bool CompleteTensor(const NamedType& named, bool is_input, bool has_rows, Json* io) {
  bool changed = false;
  const std::string type = TextOf(*io, "data_type");
  if (type.empty() || type == "TYPE_INVALID") {
    (*io)["data_type"] = ConfigType(named.type.dtype);
    changed = true;
  }
  if (ListOf(*io, "dims").empty()) {
    std::vector<int64_t> dims = DimsOf(named.type, has_rows);
    if (dims.empty()) {  // which a configuration can't say: a shape of one element stands for it
      dims = {1};
      (*io)["reshape"] = {{"shape", Json::array()}};
    }
    (*io)["dims"] = dims;
    changed = true;
  }
  if (is_input && named.is_optional && !io->contains("optional")) {
    (*io)["optional"] = true;
    changed = true;
  }
  return changed;
}

bool CompleteList(const std::vector<NamedType>& all, const char* key, bool has_rows, Json* config) {
  bool changed = false;
  Json list = ListOf(*config, key);
  const bool is_input = std::string_view(key) == "input";
  const bool is_empty = list.empty();
  for (const NamedType& named : all) {
    auto it = std::ranges::find_if(
        list, [&](const Json& io) { return TextOf(io, "name") == named.name; });
    if (it == list.end()) {
      if (!is_input && !is_empty) continue;  // outputs may be left out
      list.push_back({{"name", named.name}});
      it = list.end() - 1;
    }
    changed = CompleteTensor(named, is_input, has_rows, &*it) || changed;
  }
  if (changed) (*config)[key] = std::move(list);
  return changed;
}

Status CheckDims(const NamedType& named, const Json& io, bool has_rows) {
  if (io.contains("reshape") && io["reshape"].is_object())
    return OkStatus();  // they are other ones
  std::vector<int64_t> found;
  for (const Json& dim : ListOf(io, "dims")) found.push_back(NumberOf(dim).value_or(-2));
  const std::vector<int64_t> expected = DimsOf(named.type, has_rows);
  const bool fits = std::ranges::equal(
      expected, found, [](int64_t e, int64_t f) { return e == f || e < 0 || f == -1; });
  if (fits) return OkStatus();
  return Wrong(fmt::format("{}: expected dims [{}]{}, as {} says, found [{}]", named.name,
                           fmt::join(expected, ", "), has_rows ? " after the rows" : "",
                           named.type.text, fmt::join(found, ", ")));
}

Status CheckList(const std::vector<NamedType>& all, const char* key, bool has_rows,
                 const Json& config) {
  for (const Json& io : ListOf(config, key)) {
    const std::string name = TextOf(io, "name");
    const auto it = std::ranges::find(all, name, &NamedType::name);
    if (it == all.end()) {
      std::vector<std::string> names;
      for (const NamedType& named : all) names.push_back(named.name);
      return Wrong(fmt::format("there is no {} {}; it has {}", key, name, fmt::join(names, ", ")));
    }
    const std::string type = TextOf(io, "data_type");
    if (type != ConfigType(it->type.dtype)) {
      return Wrong(
          fmt::format("{} {}: expected {}, found {}", key, name, ConfigType(it->type.dtype), type));
    }
    const Status status = CheckDims(*it, io, has_rows);
    if (!status.ok()) return status.WithContext(key);
  }
  return OkStatus();
}

}  // namespace

Result<ModelOptions> ReadOptions(const Json& config) {
  ModelOptions options;
  options.file = TextOf(config, "default_model_filename");
  options.max_batch_size = MaxBatch(config);
  const std::string function = ParameterOf(config, "function");
  if (!function.empty()) options.function = function;
  RELAYVM_RETURN_IF_ERROR(ReadNumber(config, "threads", &options.threads));
  RELAYVM_RETURN_IF_ERROR(ReadNumber(config, "memory_limit", &options.memory_limit));
  options.engines = Split(ParameterOf(config, "engines"));
  return options;
}

Status CheckServable(const FunctionSignature& function) {
  for (const NamedType& input : function.inputs)
    RELAYVM_RETURN_IF_ERROR(CheckTensor("input", input));
  for (const NamedType& output : function.outputs)
    RELAYVM_RETURN_IF_ERROR(CheckTensor("output", output));
  return OkStatus();
}

Status CheckRows(const FunctionSignature& function) {
  if (function.inputs.empty()) return Wrong("max_batch_size: there are no inputs");
  const std::vector<TypeInfo::Dim>& first = function.inputs[0].type.dims;
  const std::string rows = first.empty() ? std::string() : first[0].name;
  for (const NamedType& input : function.inputs)
    RELAYVM_RETURN_IF_ERROR(CheckRow("input", input, rows));
  for (const NamedType& output : function.outputs)
    RELAYVM_RETURN_IF_ERROR(CheckRow("output", output, rows));
  return OkStatus();
}

bool CompleteConfig(const FunctionSignature& function, Json* config) {
  const bool has_rows = MaxBatch(*config) > 0;
  bool changed = CompleteList(function.inputs, "input", has_rows, config);
  changed = CompleteList(function.outputs, "output", has_rows, config) || changed;
  const bool has_scheduler =
      config->contains("dynamic_batching") || config->contains("sequence_batching");
  if (has_rows && !has_scheduler) {
    (*config)["dynamic_batching"] = Json::object();
    changed = true;
  }
  return changed;
}

Status CheckConfig(const FunctionSignature& function, const Json& config) {
  const bool has_rows = MaxBatch(config) > 0;
  RELAYVM_RETURN_IF_ERROR(CheckList(function.inputs, "input", has_rows, config));
  return CheckList(function.outputs, "output", has_rows, config);
}

}  // namespace relayvm::triton

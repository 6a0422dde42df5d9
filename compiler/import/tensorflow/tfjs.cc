#include "compiler/import/tensorflow/tfjs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/printable.h"
#include "compiler/import/container/protobuf_wire.h"
#include "compiler/import/tensorflow/graph_def.h"
#include "compiler/import/tensorflow/schema.h"

namespace relayvm::import::tensorflow {

namespace {

using Json = nlohmann::json;

constexpr int kMostJsonDepth = 60;

// "tensorShape" -> "tensor_shape".
std::string FieldName(std::string_view json) {
  std::string out;
  for (const char c : json) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper) out += '_';
    out += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::optional<std::string> FromBase64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int value = -1;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    if (c >= '0' && c <= '9') value = c - '0' + 52;
    if (c == '+' || c == '-') value = 62;
    if (c == '/' || c == '_') value = 63;
    if (c == '=') continue;
    if (value < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>((bits >> count) & 0xff));
  }
  return out;
}

// A weight as its elements' bytes and its dtype.
struct Weight {
  int64_t type = 0;
  std::vector<int64_t> shape;
  std::string content;
  std::vector<std::string> texts;
};
using Weights = std::map<std::string, Weight, std::less<>>;

Status Wrong(std::string_view what) {
  return InvalidInput(fmt::format("expected a graph model of TensorFlow.js: {}", what));
}

std::string ShapeMessage(const std::vector<int64_t>& shape) {
  std::string out;
  for (const int64_t d : shape) {
    std::string dim;
    AppendNumber(1, static_cast<uint64_t>(d), &dim);
    AppendBytes(2, dim, &out);
  }
  return out;
}

// --- JSON as binary ---

class Encoder {
 public:
  explicit Encoder(const Weights& weights) : weights_(weights) {}

  Status Message(Msg message, const Json& json, int depth, std::string* out) {
    if (!json.is_object() || depth > kMostJsonDepth) return Wrong("a message is no object");
    for (const auto& [key, value] : json.items()) {
      const FieldRow* row = FindField(message, FieldName(key));
      if (row == nullptr || value.is_null()) continue;
      RELAYVM_RETURN_IF_ERROR(Field(*row, value, depth, out));
    }
    return OkStatus();
  }

  // A node; a constant has its elements in a file.
  Status Node(const Json& json, std::string* out) {
    RELAYVM_RETURN_IF_ERROR(Message(Msg::kNode, json, 1, out));
    const auto name = json.find("name"), op = json.find("op");
    if (name == json.end() || !name->is_string() || op == json.end() || *op != "Const")
      return OkStatus();
    const auto weight = weights_.find(name->get<std::string>());
    if (weight == weights_.end()) return OkStatus();
    std::string tensor, value, entry;
    AppendNumber(1, static_cast<uint64_t>(weight->second.type), &tensor);
    AppendBytes(2, ShapeMessage(weight->second.shape), &tensor);
    if (!weight->second.content.empty()) AppendBytes(4, weight->second.content, &tensor);
    for (const std::string& text : weight->second.texts) AppendBytes(8, text, &tensor);
    AppendBytes(8, tensor, &value);
    AppendBytes(1, "value", &entry);
    AppendBytes(2, value, &entry);
    AppendBytes(5, entry, out);  // the last one of a name counts
    return OkStatus();
  }

 private:
  // Maps are objects: an entry is a message of a key and a value.
  static bool IsMap(Msg message) {
    return message == Msg::kAttrEntry || message == Msg::kTextEntry ||
           message == Msg::kTensorInfoEntry || message == Msg::kSignatureEntry;
  }

  Status Field(const FieldRow& row, const Json& value, int depth, std::string* out) {
    if (row.is == Is::kMessage && IsMap(row.message)) {
      if (!value.is_object()) return Wrong(fmt::format("{}: expected an object", row.name));
      for (const auto& [key, each] : value.items()) {
        std::string entry;
        AppendBytes(1, key, &entry);
        RELAYVM_RETURN_IF_ERROR(Single(*FindField(row.message, "value"), each, depth + 1, &entry));
        AppendBytes(row.number, entry, out);
      }
      return OkStatus();
    }
    if (!value.is_array()) return Single(row, value, depth, out);
    for (const Json& each : value) RELAYVM_RETURN_IF_ERROR(Single(row, each, depth, out));
    return OkStatus();
  }

  Status Single(const FieldRow& row, const Json& value, int depth, std::string* out) {
    const auto wrong = [&] { return Wrong(fmt::format("{} has another type", row.name)); };
    if (row.is == Is::kMessage) {
      std::string inner;
      if (row.message == Msg::kNode) {
        RELAYVM_RETURN_IF_ERROR(Node(value, &inner));
      } else {
        RELAYVM_RETURN_IF_ERROR(Message(row.message, value, depth + 1, &inner));
      }
      AppendBytes(row.number, inner, out);
      return OkStatus();
    }
    const std::string text = value.is_string() ? value.get<std::string>() : std::string();
    if (row.is == Is::kText) {
      if (!value.is_string()) return wrong();
      const bool is_bytes =
          row.name == "s" || row.name == "tensor_content" || row.name == "string_val";
      const auto bytes = is_bytes ? FromBase64(text) : text;
      if (!bytes) return wrong();
      AppendBytes(row.number, *bytes, out);
      return OkStatus();
    }
    if (value.is_boolean()) {
      AppendNumber(row.number, value.get<bool>() ? 1 : 0, out);
      return OkStatus();
    }
    if (row.is == Is::kFloat || row.is == Is::kDouble) {
      double number = value.is_number() ? value.get<double>() : 0;
      if (value.is_string()) number = std::strtod(text.c_str(), nullptr);
      if (row.is == Is::kFloat) {
        AppendFloat(row.number, static_cast<float>(number), out);
      } else {
        AppendDouble(row.number, number, out);
      }
      return OkStatus();
    }
    int64_t number = 0;
    if (value.is_number_integer()) {
      number = value.get<int64_t>();
    } else if (const auto type = TypeNamed(text); type && row.is == Is::kType) {
      number = *type;
    } else {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size() || text.empty()) return wrong();
    }
    AppendNumber(row.number, static_cast<uint64_t>(number), out);
    return OkStatus();
  }

  const Weights& weights_;
};

// --- Weights ---

struct StoredType {
  std::string_view name, type;
  size_t width;
};
constexpr StoredType kStored[] = {{"float32", "DT_FLOAT", 4}, {"int32", "DT_INT32", 4},
                                  {"bool", "DT_BOOL", 1},     {"string", "DT_STRING", 1},
                                  {"float16", "DT_HALF", 2},  {"uint8", "DT_UINT8", 1},
                                  {"uint16", "DT_UINT16", 2}, {"complex64", "DT_COMPLEX64", 8}};
const StoredType* FindStored(std::string_view name) {
  const auto* found = std::ranges::find(kStored, name, &StoredType::name);
  return found == std::end(kStored) ? nullptr : found;
}

std::string TextAt(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}
double NumberAt(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

// Codes of 8 or 16 bits as the numbers that they stand for.
std::string Dequantised(std::string_view codes, size_t width, double scale, double least,
                        bool is_integer) {
  std::string out;
  for (size_t i = 0; i + width <= codes.size(); i += width) {
    uint16_t code = 0;
    std::memcpy(&code, codes.data() + i, width);
    const double number = code * scale + least;
    const auto real = static_cast<float>(number);
    const auto whole = static_cast<int32_t>(std::clamp(number, -2147483648.0, 2147483647.0));
    out.append(
        is_integer ? reinterpret_cast<const char*>(&whole) : reinterpret_cast<const char*>(&real),
        sizeof real);
  }
  return out;
}

// Takes a weight off the bytes of its group.
Status TakeWeight(const Json& spec, std::string_view* bytes, Weights* weights) {
  const std::string name = TextAt(spec, "name");
  const auto wrong = [&](std::string_view why) {
    return Wrong(fmt::format("weight '{}': {}", Printable(name), why));
  };
  const StoredType* type = FindStored(TextAt(spec, "dtype"));
  if (type == nullptr) return wrong(fmt::format("dtype '{}'", Printable(TextAt(spec, "dtype"))));
  Weight weight;
  uint64_t count = 1;
  const auto shape = spec.find("shape");
  if (shape == spec.end() || !shape->is_array()) return wrong("it has no shape");
  for (const Json& d : *shape) {
    if (!d.is_number_integer() || d.get<int64_t>() < 0) return wrong("an extent is no number");
    weight.shape.push_back(d.get<int64_t>());
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(weight.shape.back()), &count))
      return wrong("it is too large");
  }
  const auto take = [&](uint64_t size, std::string_view* out) {
    if (size > bytes->size()) return false;
    *out = bytes->substr(0, size);
    bytes->remove_prefix(size);
    return true;
  };
  weight.type = TypeNamed(type->type).value_or(0);
  std::string_view content;
  const auto quantised = spec.find("quantization");
  const StoredType* stored =
      quantised != spec.end() ? FindStored(TextAt(*quantised, "dtype")) : type;
  if (stored == nullptr) return wrong("its quantised dtype");
  if (type->name == "string") {
    for (uint64_t i = 0; i < count; ++i) {
      uint32_t length = 0;
      if (!take(sizeof length, &content)) return wrong("its strings are cut off");
      std::memcpy(&length, content.data(), sizeof length);
      if (!take(length, &content)) return wrong("its strings are cut off");
      weight.texts.emplace_back(content);
    }
  } else {
    uint64_t size = 0;
    if (__builtin_mul_overflow(count, stored->width, &size) || !take(size, &content))
      return wrong("the files of weights are too short");
    weight.content = content;
    if (quantised != spec.end() && stored->name == "float16") {
      weight.type = TypeNamed("DT_HALF").value_or(0);
    } else if (quantised != spec.end()) {
      weight.content = Dequantised(content, stored->width, NumberAt(*quantised, "scale"),
                                   NumberAt(*quantised, "min"), type->name == "int32");
    }
  }
  (*weights)[name] = std::move(weight);
  return OkStatus();
}

Result<Weights> ReadWeights(const std::string& path, const Json& model, InputFiles& files) {
  Weights weights;
  const auto manifest = model.find("weightsManifest");
  if (manifest == model.end()) return weights;
  if (!manifest->is_array()) return Wrong("weightsManifest is no list");
  const auto folder = std::filesystem::path(path).parent_path();
  for (const Json& group : *manifest) {
    const auto paths = group.find("paths"), specs = group.find("weights");
    if (!group.is_object() || paths == group.end() || specs == group.end() || !paths->is_array() ||
        !specs->is_array()) {
      return Wrong("weightsManifest has no paths or no weights");
    }
    std::string bytes;
    for (const Json& each : *paths) {
      const std::filesystem::path file = each.is_string() ? each.get<std::string>() : "";
      const bool leads_out = std::ranges::any_of(file, [](const auto& p) { return p == ".."; });
      if (file.empty() || file.is_absolute() || leads_out)
        return Wrong(fmt::format("'{}' is not in the model's folder", Printable(file.string())));
      RELAYVM_ASSIGN_OR_RETURN(auto mapping, files.Open((folder / file).string()));
      bytes.append(reinterpret_cast<const char*>(mapping->bytes().data()), mapping->bytes().size());
    }
    std::string_view rest = bytes;
    for (const Json& spec : *specs) RELAYVM_RETURN_IF_ERROR(TakeWeight(spec, &rest, &weights));
  }
  return weights;
}

// Half floats become what the nodes say: a cast would have to stand behind each.
void WidenHalves(Weights* weights) {
  for (auto& [name, weight] : *weights) {
    if (weight.type != TypeNamed("DT_HALF")) continue;
    std::string out;
    for (size_t i = 0; i + 2 <= weight.content.size(); i += 2) {
      uint16_t half = 0;
      std::memcpy(&half, weight.content.data() + i, sizeof half);
      _Float16 value = 0;
      std::memcpy(&value, &half, sizeof half);
      const auto real = static_cast<float>(value);
      out.append(reinterpret_cast<const char*>(&real), sizeof real);
    }
    weight.content = std::move(out);
    weight.type = TypeNamed("DT_FLOAT").value_or(0);
  }
}

}  // namespace

Result<TfjsModel> ReadTfjs(const std::string& path, std::string_view text, InputFiles& files) {
  const Json model = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!model.is_object()) return Wrong("the file is no JSON");
  const auto topology = model.find("modelTopology");
  if (topology == model.end() || !topology->is_object()) return Wrong("it has no modelTopology");
  if (topology->find("node") == topology->end()) {
    return Status(StatusCode::kUnsupported,
                  "a layers model of TensorFlow.js, which is not supported: convert it to a graph "
                  "model, or save it as .keras");
  }
  RELAYVM_ASSIGN_OR_RETURN(Weights weights, ReadWeights(path, model, files));
  WidenHalves(&weights);
  Encoder encoder(weights);
  TfjsModel out;
  RELAYVM_RETURN_IF_ERROR(encoder.Message(Msg::kGraph, *topology, 0, &out.binary));
  auto signature = model.find("signature");
  if (signature == model.end()) {
    const auto metadata = model.find("userDefinedMetadata");
    if (metadata == model.end() || !metadata->is_object()) return out;
    signature = metadata->find("signature");
    if (signature == metadata->end()) return out;
  }
  const auto outputs = signature->is_object() ? signature->find("outputs") : signature->end();
  if (!signature->is_object() || outputs == signature->end() || outputs->empty()) return out;
  std::string definition, entry, meta, saved;
  RELAYVM_RETURN_IF_ERROR(encoder.Message(Msg::kSignature, *signature, 0, &definition));
  AppendBytes(1, "serving_default", &entry);
  AppendBytes(2, definition, &entry);
  AppendBytes(2, out.binary, &meta);
  AppendBytes(5, entry, &meta);
  AppendNumber(1, 1, &saved);
  AppendBytes(2, meta, &saved);
  return TfjsModel{std::move(saved), true};
}

}  // namespace relayvm::import::tensorflow

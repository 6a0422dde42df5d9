#include "compiler/frontend/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "bytecode/io/ndarray_blob.h"

namespace relayvm::frontend {
namespace {

using Json = nlohmann::json;

constexpr int kMaxMetadataNesting = 200;

Status Bad(const std::string& what) {
  return Status(StatusCode::kInvalidInput, "metadata: " + what);
}

std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseDouble(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsList(AttrKind kind) {
  return kind == AttrKind::kInts || kind == AttrKind::kInts2 || kind == AttrKind::kFloats ||
         kind == AttrKind::kIntOrInts || kind == AttrKind::kPositions;
}

}  // namespace

// --- Reading ---

Result<Metadata> Metadata::Parse(std::string_view text, size_t* error_offset) {
  *error_offset = 0;
  Json json;
  try {
    json = Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& e) {
    *error_offset = e.byte == 0 ? 0 : e.byte - 1;
    return Bad("malformed JSON");
  } catch (const std::exception& e) {
    return Bad("malformed JSON");
  }
  if (!json.is_object()) return Bad("expected a JSON object");
  Metadata m;
  if (auto it = json.find("b64ndarrays"); it != json.end()) {
    if (!it->is_array()) return Bad("b64ndarrays is not a list");
    for (Json& blob : *it) {
      if (!blob.is_string()) return Bad("an element of b64ndarrays is not a string");
      m.arrays_.push_back(std::move(blob.get_ref<std::string&>()));
    }
  }
  auto nodes = json.find("nodes");
  auto root = json.find("root");
  if (nodes == json.end() || !nodes->is_array()) return Bad("no list of nodes");
  if (root == json.end() || !root->is_number_unsigned() || root->get<uint64_t>() >= nodes->size()) {
    return Bad("the root is not the index of a node");
  }
  for (const Json& j : *nodes) {
    const size_t position = m.nodes_.size();
    if (!j.is_object()) return Bad(fmt::format("node {} is not an object", position));
    Node node;
    for (const auto& [key, value] : j.items()) {
      bool legal = true;
      if (key == "type_key" && value.is_string()) {
        node.type_key = value;
      } else if (key == "repr_str" && value.is_string()) {
        node.repr = value;
      } else if (key == "repr_b64" && value.is_string()) {
        // u64 length, then the bytes.
        auto bytes = Base64Decode(value.get_ref<const std::string&>());
        legal = bytes.ok() && bytes->size() >= 8;
        if (legal)
          node.repr.assign(reinterpret_cast<const char*>(bytes->data()) + 8, bytes->size() - 8);
      } else if (key == "attrs" && value.is_object()) {
        for (const auto& [name, field] : value.items()) {
          legal = legal && field.is_string();
          if (legal) node.attrs[name] = field;
        }
      } else if (key == "keys" && value.is_array()) {
        for (const Json& name : value) {
          legal = legal && name.is_string();
          if (legal) node.keys.push_back(name);
        }
      } else if (key == "data" && value.is_array()) {
        for (const Json& index : value) {
          legal = legal && index.is_number_unsigned() && index.get<uint64_t>() < nodes->size();
          if (legal) node.data.push_back(index);
        }
      } else {
        legal = false;
      }
      if (!legal) return Bad(fmt::format("node {}: malformed \"{}\"", position, key));
    }
    m.nodes_.push_back(std::move(node));
  }
  const Node& map = m.nodes_[root->get<uint32_t>()];
  if (map.type_key != "Map" || map.keys.size() != map.data.size())
    return Bad("the root is not a map");
  for (size_t i = 0; i < map.keys.size(); ++i) m.roots_[map.keys[i]] = map.data[i];
  return m;
}

Result<uint32_t> Metadata::Find(std::string_view type_key, uint64_t index) const {
  auto it = roots_.find(type_key);
  if (it == roots_.end()) {
    return Bad(nodes_.empty()
                   ? fmt::format("meta[{}][{}] is not there, the file has no metadata section",
                                 type_key, index)
                   : fmt::format("no entries for \"{}\"", type_key));
  }
  const std::vector<uint32_t>& list = nodes_[it->second].data;
  if (index >= list.size()) {
    return Bad(fmt::format("meta[{}][{}] is not there, \"{}\" has {} entries", type_key, index,
                           type_key, list.size()));
  }
  return list[index];
}

Status Metadata::Enter(Budget& budget) const {
  if (--budget.nodes < 0 || ++budget.depth > kMaxMetadataNesting)
    return Bad("objects are cyclic or nested too deeply");
  return OkStatus();
}

Result<uint32_t> Metadata::Reference(const Node& node, std::string_view field) const {
  auto it = node.attrs.find(std::string(field));
  if (it == node.attrs.end()) return Bad(fmt::format("{} without \"{}\"", node.type_key, field));
  auto index = ParseInt(it->second);
  if (!index || *index < 0 || static_cast<uint64_t>(*index) >= nodes_.size()) {
    return Bad(fmt::format("{}: \"{}\" is not the index of a node", node.type_key, field));
  }
  return static_cast<uint32_t>(*index);
}

// --- Values ---

Result<HostTensor> Metadata::ConstantValue(uint32_t n) const {
  const Node& node = nodes_[n];
  if (node.type_key != "relay.Constant")
    return Bad(fmt::format("expected relay.Constant, found {}", node.type_key));
  auto it = node.attrs.find("data");
  auto index = it == node.attrs.end() ? std::nullopt : ParseInt(it->second);
  if (!index || *index < 0 || static_cast<uint64_t>(*index) >= arrays_.size()) {
    return Bad("relay.Constant: \"data\" is not the index of an array");
  }
  RELAYVM_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, Base64Decode(arrays_[*index]));
  size_t size = 0;
  auto tensor = ReadNdarrayBlob(bytes, &size);
  if (tensor.ok() && size < bytes.size())
    return Bad(
        fmt::format("b64ndarrays[{}]: {} bytes after the tensor", *index, bytes.size() - size));
  return tensor;
}

Result<Dim> Metadata::DimValue(uint32_t node, ir::IdSource& ids) {
  Budget budget;
  return SizeAt(node, ids, budget);
}

Result<Dim> Metadata::SizeAt(uint32_t node, ir::IdSource& ids, Budget& budget) {
  RELAYVM_ASSIGN_OR_RETURN(Dim dim, DimAt(node, ids, budget));
  if (dim.is_const() && dim.value() < 0)
    return Bad(fmt::format("expected a dimension of a tensor, 0 or more, found {}", dim.value()));
  return dim;
}

Result<Dim> Metadata::DimAt(uint32_t n, ir::IdSource& ids, Budget& budget) {
  RELAYVM_RETURN_IF_ERROR(Enter(budget));
  const Node& node = nodes_[n];
  if (node.type_key == "IntImm") {
    auto it = node.attrs.find("value");
    auto value = it == node.attrs.end() ? std::nullopt : ParseInt(it->second);
    if (!value) return Bad("IntImm without an integer value");
    --budget.depth;
    return Dim(*value);
  }
  if (node.type_key == "tir.Any") {
    --budget.depth;
    return Dim::Any();
  }
  if (node.type_key == "tir.SizeVar" || node.type_key == "tir.Var") {
    auto it = symbols_.find(n);
    if (it == symbols_.end()) {
      RELAYVM_ASSIGN_OR_RETURN(uint32_t name, Reference(node, "name"));
      it = symbols_.emplace(n, Dim::Symbol(ids.Next(), nodes_[name].repr)).first;
    }
    --budget.depth;
    return it->second;
  }
  if (node.type_key == "tir.Cast") {
    RELAYVM_ASSIGN_OR_RETURN(uint32_t value, Reference(node, "value"));
    RELAYVM_ASSIGN_OR_RETURN(Dim d, DimAt(value, ids, budget));
    --budget.depth;
    return d;
  }
  using Arithmetic = Dim (*)(const Dim&, const Dim&);
  static const std::map<std::string, Arithmetic> kArithmetic = {
      {"tir.Add", [](const Dim& a, const Dim& b) { return a + b; }},
      {"tir.Sub", [](const Dim& a, const Dim& b) { return a - b; }},
      {"tir.Mul", [](const Dim& a, const Dim& b) { return a * b; }},
      {"tir.FloorDiv", [](const Dim& a, const Dim& b) { return Dim::FloorDiv(a, b); }},
      {"tir.Div", [](const Dim& a, const Dim& b) { return Dim::FloorDiv(a, b); }},
      {"tir.FloorMod", [](const Dim& a, const Dim& b) { return Dim::FloorMod(a, b); }},
      {"tir.Mod", [](const Dim& a, const Dim& b) { return Dim::FloorMod(a, b); }},
      {"tir.Min", [](const Dim& a, const Dim& b) { return Dim::Min(a, b); }},
      {"tir.Max", [](const Dim& a, const Dim& b) { return Dim::Max(a, b); }},
  };
  auto it = kArithmetic.find(node.type_key);
  if (it == kArithmetic.end())
    return Bad(fmt::format("expected a dimension, found \"{}\"", node.type_key));
  RELAYVM_ASSIGN_OR_RETURN(uint32_t a, Reference(node, "a"));
  RELAYVM_ASSIGN_OR_RETURN(uint32_t b, Reference(node, "b"));
  RELAYVM_ASSIGN_OR_RETURN(Dim left, DimAt(a, ids, budget));
  RELAYVM_ASSIGN_OR_RETURN(Dim right, DimAt(b, ids, budget));
  --budget.depth;
  const bool divides = node.type_key.ends_with("Div") || node.type_key.ends_with("Mod");
  if (divides && right.is_const(0)) return Bad(fmt::format("{} by 0", node.type_key));
  return it->second(left, right);
}

Result<AttrValue> Metadata::Value(uint32_t node, ir::IdSource& ids) {
  Budget budget;
  return ValueAt(node, ids, budget);
}

Result<AttrValue> Metadata::ValueAt(uint32_t n, ir::IdSource& ids, Budget& budget) {
  RELAYVM_RETURN_IF_ERROR(Enter(budget));
  const Node& node = nodes_[n];
  --budget.depth;
  if (node.type_key.empty()) return AttrValue();
  if (node.type_key == "runtime.String") return AttrValue(node.repr);
  if (node.type_key == "FloatImm") {
    auto it = node.attrs.find("value");
    auto value = it == node.attrs.end() ? std::nullopt : ParseDouble(it->second);
    if (!value) return Bad("FloatImm without a value");
    return AttrValue(*value);
  }
  if (node.type_key == "Array") {
    AttrList list;
    ++budget.depth;
    for (uint32_t element : node.data) {
      RELAYVM_ASSIGN_OR_RETURN(AttrValue value, ValueAt(element, ids, budget));
      list.push_back(std::move(value));
    }
    --budget.depth;
    return AttrValue(std::move(list));
  }
  RELAYVM_ASSIGN_OR_RETURN(Dim dim, DimAt(n, ids, budget));
  auto dtype = node.attrs.find("dtype");
  if (node.type_key == "IntImm" && dtype != node.attrs.end() && dtype->second == "bool") {
    return AttrValue(!dim.is_const(0));
  }
  return AttrValue(std::move(dim));
}

Result<AttrValue> Metadata::FieldValue(uint32_t owner, const AttrField& schema,
                                       const std::string& text, ir::IdSource& ids) {
  const std::string& type_key = nodes_[owner].type_key;
  auto number = ParseInt(text);
  const Node* target = number && *number >= 0 && static_cast<uint64_t>(*number) < nodes_.size()
                           ? &nodes_[*number]
                           : nullptr;
  auto dereference = [&] { return Value(static_cast<uint32_t>(*number), ids); };
  auto malformed = [&] {
    return Bad(fmt::format("{}: malformed field {} = \"{}\"", type_key, schema.name, text));
  };
  const bool integer_node = target != nullptr && target->type_key == "IntImm";
  switch (schema.kind) {
    case AttrKind::kString:
      if (target != nullptr && target->type_key == "runtime.String") return dereference();
      return AttrValue(text);
    case AttrKind::kDType:
      return AttrValue(text);
    case AttrKind::kFloat: {
      if (target != nullptr && target->type_key == "FloatImm") return dereference();
      auto value = ParseDouble(text);
      if (!value) return malformed();
      return AttrValue(*value);
    }
    case AttrKind::kBool:
      if (integer_node) return dereference();
      if (!number) return malformed();
      return AttrValue(*number != 0);
    case AttrKind::kInt: {
      if (!number) return malformed();
      // A number that names a later node is a reference: a dump numbers an object's fields after
      // the object.
      if (!schema.is_plain_int && target != nullptr && static_cast<uint64_t>(*number) > owner &&
          !target->type_key.empty()) {
        return dereference();
      }
      return AttrValue(*number);
    }
    default:
      break;
  }
  if (target == nullptr) return malformed();
  return dereference();
}

Result<Attrs> Metadata::AttrsValue(uint32_t n, const OpDef& op, ir::IdSource& ids) {
  const Node& node = nodes_[n];
  if (!IsAttrs(node.type_key))
    return Bad(
        fmt::format("expected an object of class relay.attrs.*, found \"{}\"", node.type_key));
  Attrs attrs;
  for (const auto& entry : node.attrs) {
    const std::string& field = entry.first;
    const std::string& text = entry.second;
    auto schema = std::find_if(op.attrs.begin(), op.attrs.end(),
                               [&](const AttrField& f) { return f.name == field; });
    if (schema == op.attrs.end()) {
      // Let CompleteAttrs say that there is no such attribute, unless it says nothing.
      if (text.empty() || text == "0") continue;
      attrs.Set(field, AttrValue(text));
      continue;
    }
    if (schema->kind == AttrKind::kAny) continue;  // an argument once more (arange)
    // A null object is None where the field may be none, and the number 0 where it is plain.
    const bool nullable = schema->fallback.is_none() && !schema->required;
    if (text == "0" && (IsList(schema->kind) || (nullable && schema->kind != AttrKind::kBool))) {
      attrs.Set(field, AttrValue());
      continue;
    }
    RELAYVM_ASSIGN_OR_RETURN(AttrValue value, FieldValue(n, *schema, text, ids));
    attrs.Set(field, std::move(value));
  }
  return attrs;
}

Result<ir::Type> Metadata::TypeValue(uint32_t node, ir::IdSource& ids) {
  Budget budget;
  return TypeAt(node, ids, budget);
}

Result<ir::Type> Metadata::TypeAt(uint32_t n, ir::IdSource& ids, Budget& budget) {
  RELAYVM_RETURN_IF_ERROR(Enter(budget));
  const Node& node = nodes_[n];
  if (node.type_key == "relay.TensorType") {
    auto it = node.attrs.find("dtype");
    auto dtype = it == node.attrs.end() ? std::nullopt : ParseDType(it->second);
    if (!dtype) return Bad("relay.TensorType without a known dtype");
    RELAYVM_ASSIGN_OR_RETURN(uint32_t shape, Reference(node, "shape"));
    std::vector<Dim> dims;
    for (uint32_t d : nodes_[shape].data) {
      RELAYVM_ASSIGN_OR_RETURN(Dim dim, SizeAt(d, ids, budget));
      dims.push_back(std::move(dim));
    }
    --budget.depth;
    return ir::MakeTensorType(std::move(dims), *dtype);
  }
  if (node.type_key == "TypeTuple" || node.type_key == "relay.TupleType") {
    RELAYVM_ASSIGN_OR_RETURN(uint32_t fields, Reference(node, "fields"));
    ir::TupleType tuple;
    for (uint32_t f : nodes_[fields].data) {
      RELAYVM_ASSIGN_OR_RETURN(ir::Type field, TypeAt(f, ids, budget));
      tuple.fields.push_back(std::move(field));
    }
    --budget.depth;
    return ir::MakeType(std::move(tuple));
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("metadata: {} is not supported as a type", node.type_key));
}

}  // namespace relayvm::frontend

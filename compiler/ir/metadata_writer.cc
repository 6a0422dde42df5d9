#include "compiler/ir/metadata_writer.h"

#include <fmt/format.h>

#include "bytecode/base/dim.h"
#include "bytecode/io/ndarray_blob.h"

namespace relayvm::ir {
namespace {
// Node 0 is null, node 1 the root map. The arrays of the root come last.
constexpr uint32_t kFirstNode = 2;
}  // namespace

std::string Escaped(std::string_view text, std::string_view hex) {
  std::string out = "\"";
  for (char c : text) {
    const size_t at = std::string_view("\"\\\n\r\t").find(c);
    if (at != std::string_view::npos) {
      out += {'\\', "\"\\nrt"[at]};
    } else if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) {
      out += fmt::format("{}{:02x}", hex, static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

static std::string JsonString(std::string_view text) { return Escaped(text, "\\u00"); }

uint32_t MetadataWriter::Add(const std::string& type_key, const Fields& attrs,
                             const std::string& extra) {
  std::string json = fmt::format("{{\"type_key\": {}", JsonString(type_key));
  if (!attrs.empty()) {
    json += ", \"attrs\": {";
    for (size_t i = 0; i < attrs.size(); ++i) {
      json += fmt::format("{}{}: {}", i > 0 ? ", " : "", JsonString(attrs[i].first),
                          JsonString(attrs[i].second));
    }
    json += "}";
  }
  nodes_.push_back(json + extra + "}");
  return static_cast<uint32_t>(nodes_.size() - 1) + kFirstNode;
}

uint32_t MetadataWriter::AddString(const std::string& text) {
  return Add("runtime.String", {}, text.empty() ? "" : ", \"repr_str\": " + JsonString(text));
}

std::string MetadataWriter::Root(const std::string& type_key, uint32_t node) {
  std::vector<uint32_t>& list = roots_[type_key];
  list.push_back(node);
  return fmt::format("meta[{}][{}]", type_key, list.size() - 1);
}

uint32_t MetadataWriter::VirtualDevice() {
  if (virtual_device_ == 0) {
    uint32_t scope = AddString("");
    virtual_device_ = Add("VirtualDevice", {{"device_type_int", "-1"},
                                            {"memory_scope", std::to_string(scope)},
                                            {"target", "0"},
                                            {"virtual_device_id", "-1"}});
  }
  return virtual_device_;
}

void MetadataWriter::AddStrings(const Constant* table) { Root("Strings", AddConstant(table)); }

std::string MetadataWriter::Reference(const Constant* constant) {
  std::string& reference = constants_[constant];
  if (!reference.empty()) return reference;
  return reference = Root("relay.Constant", AddConstant(constant));
}

uint32_t MetadataWriter::AddConstant(const Constant* constant) {
  arrays_.push_back(constant);
  return Add("relay.Constant", {{"_checked_type_", "0"},
                                {"data", std::to_string(arrays_.size() - 1)},
                                {"span", "0"},
                                {"virtual_device_", std::to_string(VirtualDevice())}});
}

uint32_t MetadataWriter::AddBinary(const std::string& type_key, uint32_t a, uint32_t b) {
  return Add(
      type_key,
      {{"a", std::to_string(a)}, {"b", std::to_string(b)}, {"dtype", "int32"}, {"span", "0"}});
}

static const char* TypeKey(Dim::Kind kind) {
  switch (kind) {
    case Dim::Kind::kSymbol:
      return "tir.SizeVar";
    case Dim::Kind::kMul:
      return "tir.Mul";
    case Dim::Kind::kFloorDiv:
      return "tir.FloorDiv";
    case Dim::Kind::kFloorMod:
      return "tir.FloorMod";
    case Dim::Kind::kMin:
      return "tir.Min";
    case Dim::Kind::kMax:
      return "tir.Max";
    default:
      return "tir.Add";
  }
}

uint32_t MetadataWriter::AddDim(const Dim& dim) {
  switch (dim.kind()) {
    case Dim::Kind::kConst: {
      const bool wide = dim.value() != static_cast<int32_t>(dim.value());
      return Add("IntImm", {{"dtype", wide ? "int64" : "int32"},
                            {"span", "0"},
                            {"value", std::to_string(dim.value())}});
    }
    case Dim::Kind::kAny:
      return Add("tir.Any", {{"dtype", "int32"}, {"span", "0"}});
    case Dim::Kind::kSymbol: {
      auto [it, is_new] = symbols_.try_emplace(dim.symbol_id(), 0);
      if (!is_new) return it->second;
      if (prim_type_ == 0) prim_type_ = Add("PrimType", {{"dtype", "int32"}});
      uint32_t name = AddString(dim.symbol_name());
      return it->second = Add("tir.SizeVar", {{"dtype", "int32"},
                                              {"name", std::to_string(name)},
                                              {"span", "0"},
                                              {"type_annotation", std::to_string(prim_type_)}});
    }
    default:
      break;
  }
  if (dim.kind() == Dim::Kind::kInt32) {
    constexpr int64_t kHalf = int64_t{1} << 31;
    uint32_t shifted = AddBinary("tir.Add", AddDim(dim.operands()[0]), AddDim(Dim(kHalf)));
    uint32_t residue = AddBinary("tir.FloorMod", shifted, AddDim(Dim(2 * kHalf)));
    return AddBinary("tir.Add", residue, AddDim(Dim(-kHalf)));
  }
  uint32_t node = AddDim(dim.operands()[0]);
  for (const Dim& operand : dim.operands().subspan(1))
    node = AddBinary(TypeKey(dim.kind()), node, AddDim(operand));
  return node;
}

std::string MetadataWriter::Reference(const Dim& dim) {
  auto it = dims_.find(dim);
  if (it != dims_.end()) return it->second;
  return dims_[dim] = Root(TypeKey(dim.kind()), AddDim(dim));
}

std::string MetadataWriter::Write() const {
  std::string keys;
  std::string data;
  std::string arrays;
  uint32_t next = static_cast<uint32_t>(nodes_.size()) + kFirstNode;
  for (const auto& [type_key, list] : roots_) {
    const char* comma = keys.empty() ? "" : ", ";
    keys += comma + JsonString(type_key);
    data += comma + std::to_string(next++);
    arrays +=
        fmt::format(",\n    {{\"type_key\": \"Array\", \"data\": [{}]}}", fmt::join(list, ", "));
  }
  std::string out = "{\n  \"root\": 1,\n  \"nodes\": [\n    {\"type_key\": \"\"},\n";
  out += fmt::format("    {{\"type_key\": \"Map\", \"keys\": [{}], \"data\": [{}]}}", keys, data);
  for (const std::string& node : nodes_) out += ",\n    " + node;
  out += arrays + "\n  ],\n  \"b64ndarrays\": [";
  for (size_t i = 0; i < arrays_.size(); ++i) {
    out += i > 0 ? ",\n    \"" : "\n    \"";
    out += Base64Encode(WriteNdarrayBlob(arrays_[i]->value));
    out += "\"";
  }
  out += arrays_.empty() ? "]" : "\n  ]";
  return out + ",\n  \"attrs\": {\"tvm_version\": \"0.14.0\"}\n}\n";
}

}  // namespace relayvm::ir

// Collects the objects that Relay text refers to as meta[type.key][i] and writes the metadata
// section. See the reader, compiler/frontend/metadata.h, for the format. Tested by printer_test.cc.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

class MetadataWriter {
 public:
  // "meta[relay.Constant][3]". One object for each constant, symbol and expression.
  std::string Reference(const Constant* constant);
  std::string Reference(const Dim& dim);  // REQUIRES: an expression with symbols
  // meta[Strings][0]: the texts that elements of strings are ids of, as StringsOfTable has them.
  void AddStrings(const Constant* table);

  bool empty() const { return roots_.empty(); }
  // The JSON document.
  std::string Write() const;

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  uint32_t AddConstant(const Constant* constant);
  uint32_t Add(const std::string& type_key, const Fields& attrs, const std::string& extra = "");
  uint32_t AddString(const std::string& text);
  uint32_t AddDim(const Dim& dim);
  uint32_t AddBinary(const std::string& type_key, uint32_t a, uint32_t b);
  std::string Root(const std::string& type_key, uint32_t node);
  uint32_t VirtualDevice();

  std::vector<std::string>
      nodes_;  // JSON objects; their numbers are assigned as they come, see kFirstNode
  std::vector<const Constant*> arrays_;
  std::map<std::string, std::vector<uint32_t>> roots_;
  std::unordered_map<const Constant*, std::string> constants_;
  std::map<Dim, std::string> dims_;
  std::map<uint32_t, uint32_t> symbols_;
  uint32_t prim_type_ = 0;
  uint32_t virtual_device_ = 0;
};

// In double quotes. What cannot stand there is `hex` and its number: "\\u00" for JSON, "\\x" for
// Relay. Bytes that are no UTF-8 are kept.
std::string Escaped(std::string_view text, std::string_view hex);

}  // namespace relayvm::ir

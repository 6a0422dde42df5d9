// The metadata section of Relay text: TVM's JSON dump of an object graph.
//
//   {"root": 1, "nodes": [{"type_key": "relay.Constant", "attrs": {"data": "0", ...}}, ...],
//   "b64ndarrays": ["..."]}
//
// Values of `attrs` are strings, whatever they mean: a number may be itself or the index of a node;
// which, is known from the operator's schema and the node's type. meta[KEY][i] names element i of
// the list under KEY in the root map. Safe on any bytes. Tested by metadata_test.cc.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::frontend {

class Metadata {
 public:
  // An empty section.
  Metadata() = default;
  // `*error_offset` is set where a failure has a place in `json`.
  static Result<Metadata> Parse(std::string_view json, size_t* error_offset);

  // The node that meta[type_key][index] names.
  Result<uint32_t> Find(std::string_view type_key, uint64_t index) const;

  static constexpr std::string_view kAttrsPrefix = "relay.attrs.";
  static bool IsAttrs(std::string_view type_key) { return type_key.starts_with(kAttrsPrefix); }

  // REQUIRES: a relay.Constant.
  Result<HostTensor> ConstantValue(uint32_t node) const;
  // The size of a tensor's axis: an integer, `?`, a size variable (one symbol for each node) or
  // arithmetic over them.
  Result<Dim> DimValue(uint32_t node, ir::IdSource& ids);
  // An attribute's value: a Dim, a number, a string, a list, None.
  Result<AttrValue> Value(uint32_t node, ir::IdSource& ids);
  // The fields of an attributes object.
  Result<Attrs> AttrsValue(uint32_t node, const OpDef& op, ir::IdSource& ids);
  // relay.TensorType and tuples of them.
  Result<ir::Type> TypeValue(uint32_t node, ir::IdSource& ids);

 private:
  struct Node {
    std::string type_key;
    std::string repr;  // of strings and operators
    std::map<std::string, std::string> attrs;
    std::vector<std::string> keys;  // of a map from strings
    std::vector<uint32_t> data;     // of arrays and maps
  };
  // Counts what one lookup visits, so that cycles and exponential sharing end with an error.
  struct Budget {
    int nodes = 1 << 18;
    int depth = 0;
  };

  Result<uint32_t> Reference(const Node& node, std::string_view field) const;
  Result<Dim> DimAt(uint32_t node, ir::IdSource& ids, Budget& budget);
  // A Dim that is the size of a tensor's axis: not negative.
  Result<Dim> SizeAt(uint32_t node, ir::IdSource& ids, Budget& budget);
  Result<AttrValue> ValueAt(uint32_t node, ir::IdSource& ids, Budget& budget);
  Result<ir::Type> TypeAt(uint32_t node, ir::IdSource& ids, Budget& budget);
  Result<AttrValue> FieldValue(uint32_t node, const AttrField& schema, const std::string& text,
                               ir::IdSource& ids);
  Status Enter(Budget& budget) const;

  std::vector<Node> nodes_;
  std::vector<std::string> arrays_;                     // base64
  std::map<std::string, uint32_t, std::less<>> roots_;  // type key -> Array node
  std::map<uint32_t, Dim> symbols_;                     // size variables, by node
};

}  // namespace relayvm::frontend

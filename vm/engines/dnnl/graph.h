// A region as data: what its JSON says (tools/examples/engines/README.md), checked. Every index is
// in range, a node reads what stands before it, and each has the inputs that it says. What the
// operators mean by their attributes is checked by who makes primitives of them (operators.h).
// Tested by dnnl_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "vm/engines/dnnl/onednn.h"

namespace relayvm::onednn {

struct Extent {
  int64_t value = 0;
  int32_t symbol = -1;  // where it is not -1, the extent is that symbol's number

  bool is_known() const { return symbol < 0; }
  bool operator==(const Extent& other) const = default;
};

struct TensorType {
  DType dtype = DType::kFloat32;
  std::vector<Extent> shape;

  int rank() const { return static_cast<int>(shape.size()); }
};

// Output `output` of node `node`.
struct ValueRef {
  uint32_t node = 0, output = 0;
  bool operator==(const ValueRef& other) const = default;
};

// A step upon the operator: "clip min=0.0 max=6.0", "add input=2".
struct Step {
  std::string label;
  std::vector<uint32_t> inputs;  // positions in the node's inputs, each below their number
  std::vector<std::pair<std::string, double>> numbers;
  std::vector<std::pair<std::string, std::string>> texts;  // values that are no numbers

  // kInvalidInput without.
  Result<double> Number(std::string_view name) const;
  double NumberOr(std::string_view name, double fallback) const;
  std::string Text(std::string_view name, std::string fallback) const;
};

struct Node {
  enum class Kind : uint8_t { kInput, kConst, kKernel };
  Kind kind = Kind::kInput;
  std::string name;
  uint32_t position = 0;  // of an input among inputs, of a constant among constants
  std::vector<TensorType> outputs;
  std::vector<ValueRef> inputs;
  std::string op;  // the Relay operator of a kernel
  std::vector<Step> steps;
  std::vector<std::pair<std::string, std::vector<std::string>>> attributes;

  // The attribute's texts; null where there is none.
  const std::vector<std::string>* Find(std::string_view attribute) const;
  // These give `fallback` where there is no such attribute, or it is None; kInvalidInput where it
  // is no number. Integers lie within 32 bits.
  Result<Dims> Integers(std::string_view attribute, Dims fallback) const;
  Result<int64_t> Integer(std::string_view attribute, int64_t fallback) const;
  Result<double> Number(std::string_view attribute, double fallback) const;
  Result<bool> Flag(std::string_view attribute, bool fallback) const;
  Result<std::string> Text(std::string_view attribute, std::string fallback) const;

  Status Unsupported(std::string_view why) const;
  Status Invalid(std::string_view why) const;
  // With the node's name before the message.
  Status Located(const Status& status) const;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<uint32_t> inputs, constants;  // nodes
  std::vector<ValueRef> heads;
  std::vector<std::string> symbols;
  std::vector<const void*> constant_data;  // of constants, by their positions

  const TensorType& TypeOf(ValueRef v) const { return nodes[v.node].outputs[v.output]; }
};

inline constexpr size_t kMaxNodes = 16384, kMaxSymbols = 1024, kMaxRank = 12;
inline constexpr int64_t kMaxBytes = int64_t{1} << 46;  // of a tensor

Result<Graph> ParseGraph(std::string_view json);
// The type's extents with these numbers of the symbols; kInvalidInput where the tensor is too
// large.
Result<Dims> ResolveDims(const TensorType& type, const std::vector<int64_t>& symbols);

}  // namespace relayvm::onednn

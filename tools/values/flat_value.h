// A result as a list of its parts in depth-first order: what printing, saving and comparing walk.
//
// Each node says how many children follow it. A value's depth is then no concern of those who read
// it, and results of the VM and of the reference interpreter look alike. What is shared in a value
// occurs once for each use. Tested by flat_value_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/values/types.h"
#include "vm/border/value.h"

namespace relayvm::tools {

struct FlatNode {
  enum class Kind : uint8_t { kTensor, kTuple, kConstructor, kFunction, kRef };
  Kind kind;
  uint32_t num_children = 0;
  Value tensor;      // kTensor
  std::string name;  // kConstructor, kFunction
};
using FlatValue = std::vector<FlatNode>;

// Fails with kOutOfRange for a value of absurdly many parts (sharing can make them exponentially
// many).
Result<FlatValue> Flatten(const Value& value, TypeTable& types, TypeTable::Id type);

// The tensors, in order.
std::vector<Value> TensorsOf(const FlatValue& value);
// Keys for them: the export's output names where it has one for each tensor; else, and where a name
// is empty or given twice, out0, out1, ...
std::vector<std::string> TensorNames(const ExportInfo& function, size_t count);

inline constexpr size_t kMaxFlatNodes = size_t{1} << 26;

}  // namespace relayvm::tools

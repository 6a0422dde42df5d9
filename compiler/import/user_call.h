// A call of an operator that a caller of the importer writes (user_operators.h): its arguments as
// values of the graph or, where they are known, as they are. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/typed_builder.h"

namespace relayvm::import {

struct UserArgument {
  enum class Kind : uint8_t {
    kNone,
    kBool,    // `integer`, 0 or 1
    kInt,     // `integer`
    kFloat,   // `real`
    kString,  // `text`
    kTensor,  // `value`
    kNumber,  // `value`: rank 0, a number that only running tells
    kList,    // `items`
    kTuple    // `items`
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  Value value;
  std::vector<UserArgument> items;
};

struct UserCall {
  std::string_view name;                // "aten::relu"
  std::vector<UserArgument> arguments;  // in the order of the operator's, defaults included
};

}  // namespace relayvm::import

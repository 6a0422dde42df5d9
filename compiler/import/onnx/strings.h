// What operators on strings share: constants of texts, and places of elements among keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

// A constant.
Value Texts(TypedBuilder& b, const std::vector<std::string>& texts, std::vector<int64_t> shape);
inline Value Texts(TypedBuilder& b, const std::vector<std::string>& texts) {
  return Texts(b, texts, {static_cast<int64_t>(texts.size())});
}
// The numbers of texts, which those of equal elements are too.
std::vector<int64_t> IdsOf(TypedBuilder& b, const std::vector<std::string>& texts);
// The numbers of strings, int64.
Term Ids(const Term& strings);
// Of each element of an int64 tensor the place of the first key that it is (int64), and the number
// of keys where it is none of them. REQUIRES: there are keys.
Term PlaceAmong(const Term& x, const std::vector<int64_t>& keys);

// Casts that strings are part of. Errors are the node's.
Value CastOfStrings(NodeContext& n, const Value& v, DType dtype);
// Unique's outputs of a vector of strings, and of slices of strings.
std::vector<Value> UniqueStrings(NodeContext& n, const Term& x, bool sorted);

// Labels of classes: whole numbers, or texts.
struct Labels {
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;  // none: numbers

  size_t size() const { return texts.empty() ? numbers.size() : texts.size(); }
};

}  // namespace relayvm::import

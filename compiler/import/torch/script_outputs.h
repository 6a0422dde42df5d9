// What forward gives as the host sees it: tensors, Lists, tuples (of dictionaries and objects too,
// in their order); None is left out. Not thread-safe. Tested by script_test.cc.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

class ScriptOutputs {
 public:
  ScriptOutputs(TypedBuilder& b, Evaluator& evaluator, const ir::Module& module)
      : b_(b), evaluator_(evaluator), module_(module) {}

  // Nullopt: None, or an error of the builder.
  std::optional<Value> Of(const Item& item);
  // Of a tuple, a dictionary, an object.
  static std::vector<Item> PartsOf(const Item& item);
  // How many outputs a value of that type is.
  static size_t CountOf(const ir::Type& t);

 private:
  std::optional<Value> OutputOf(const Item& item);
  Value OutputTuple(const std::vector<Item>& parts);
  std::optional<Value> OutputList(const Item& list);
  std::optional<Value> OutputColumns(const Columns& columns);
  Value Made(std::string_view name, const std::vector<Value>& arguments, const ir::Type& type);

  TypedBuilder& b_;
  Evaluator& evaluator_;
  const ir::Module& module_;
};

}  // namespace relayvm::import::torch

// What the host gives, as values of a TorchScript program; which entries of a dict its code reads.
// Tested by script_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

class ScriptInputs {
 public:
  ScriptInputs(TypedBuilder& b, Evaluator& evaluator) : b_(b), evaluator_(evaluator) {}

  // A value that comes from the host, as what the program takes it for.
  Item ItemOf(const Value& v, const ScriptType& type);
  // One entry for each key, in order.
  Item DictOf(const ScriptType& type, const std::vector<Expr>& keys, std::vector<Item> values);

 private:
  // A List of the host: numbers become the rows of a tensor.
  Item ListItem(const Value& v, const ir::Type& element, const ScriptType& type);

  TypedBuilder& b_;
  Evaluator& evaluator_;
};

// What code reads of a dict that is a parameter, in the order in which it does.
struct KeysRead {
  std::vector<Expr> keys;   // texts and integers
  std::vector<Expr> asked;  // whether they are there
  bool all = true;          // it reads nothing else of it
};
void ReadKeys(const std::vector<Stmt>& body, std::string_view name, KeysRead* read);
bool HasKey(const std::vector<Expr>& keys, const Expr& key);
std::string TextOfKey(const Expr& key);

}  // namespace relayvm::import::torch

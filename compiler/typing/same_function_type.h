// Equality of function types up to the names of what they bind: symbols in the types of parameters,
// type parameters, and those of the function types inside them. Tested by
// same_function_type_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "compiler/ir/type.h"

namespace relayvm::typing {

// Remembers what it compared: types that share large parts are compared in time linear in what is
// new. One thread at a time.
class FunctionTypeEquality {
 public:
  // REQUIRES: both are function types.
  bool operator()(const ir::Type& a, const ir::Type& b);

 private:
  // What the function types around two types bind: names of `a` and the ones of `b` that stand for
  // them.
  struct Names {
    size_t id = 0;                                              // of this set of names
    std::map<uint32_t, uint32_t> symbols_of_a;                  // by those of b
    std::map<uint32_t, uint32_t> symbols_of_b, type_vars_of_b;  // by those of a
    bool empty() const { return symbols_of_b.empty() && type_vars_of_b.empty(); }
  };

  bool Functions(const ir::FunctionType& a, const ir::FunctionType& b, const Names& around);
  bool Signatures(const ir::FunctionType& a, const ir::FunctionType& b, const Names& names);
  bool All(const std::vector<ir::Type>& a, const std::vector<ir::Type>& b, const Names& names);
  bool Types(const ir::Type& a, const ir::Type& b, const Names& names);
  static bool Tensors(const TensorType& a, const TensorType& b, const Names& names);
  bool Nodes(const ir::TypeNode& a, const ir::TypeNode& b, const Names& names);

  size_t last_names_ = 0;
  // Of pairs of large types, under the names of that id; the types are kept.
  std::map<std::tuple<ir::Type, ir::Type, size_t>, bool> known_;
};

}  // namespace relayvm::typing

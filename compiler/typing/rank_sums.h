// Functions whose results have several ranks give a sum of types, and their callers match it:
//
//   def @f(%c, %x) -> f.ranks {                           // type f.ranks { f.of1(Tensor[(?)]),
//     if (%c) { f.of1(%x) } else { f.of2(expand_dims(%x)) }            f.of2(Tensor[(?, ?)]) }
//   }
//   let %y = match (@f(%c, %x)) { f.of1(%v) => %v, f.of2(%v) => %v };
//
// which makes %y a value of several ranks as those of branches are. What a function gives and has
// no type yet, as it comes of a call of the function itself, goes through @f.wrap until it has one.
//
// Part of SpecialiseRanks, whose errors say why there is no such type. Tested by
// specialise_ranks_test.cc.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/typing/mixed_values.h"

namespace relayvm::ir {

class RankSums {
 public:
  // Adds types, and changes functions of, `m`, which outlives it.
  explicit RankSums(Module& m) : m_(m) {}

  bool empty() const { return sums_.empty(); }
  // Of those that `functions` give; gives how many bindings it made.
  Result<size_t> Make(const std::map<std::string, const Function*>& functions,
                      const MixedValues& mixed);
  // Constructors instead of what waits for them, where `type_of` knows the type.
  Status Wrap(Module& m, const std::function<Type(const Atom&)>& type_of) const;

 private:
  struct Sum {
    std::string name;
    std::vector<Type> type_params;
    std::map<std::string, const Constructor*> constructors;  // by the type without its dims
  };

  Status Define(const std::string& name, const Function& f,
                const std::map<std::string, Type>& types);
  const Function* GivesSum(const std::string& name, const Function& f, const Sum& sum,
                           const MixedValues& mixed);
  const Block* MapLeaves(const Block& block, const MixedValues& mixed,
                         const std::function<const Block*(const Block&)>& fn);
  Binding Matched(const Binding& b, const Var* sum, const Sum& of) const;

  Module& m_;
  std::map<std::string, Sum> sums_;  // by function
};

}  // namespace relayvm::ir

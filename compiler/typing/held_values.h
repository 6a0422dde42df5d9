// Values that functions hold for those that they call, where these are many: a row of functions
// each of which takes what all later ones read would have parameters by the square of its length.
//
//   let %h = main.held1(%x1, %x2, ... %x16);            // type main.held1 { main.held1(Tensor[(4)], ...) }
//   @main.rank1(%y, %c, %h)
//
//   def @main.rank1(%y, %c, %h: main.held1) {
//     let %x1 = match (%h) { main.held1(%v, _, ...) => %v };    // where it is read
//
// A type of its own says in one word what all fields are. The dims of its fields are open but for
// constants; symbols that several values share are stated anew where the values are read, next to
// one that is passed as it is. Many holders are fields of one, and so on: a tree. Tested by
// specialise_ranks_test.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ir/rewrite.h"

namespace relayvm::ir {

// Types as text in which symbols are numbers, from 0, in the order in which they occur.
class NumberedSpelling {
 public:
  std::string Of(const Type& t);
  std::string Of(const Dim& d) { return Numbered(d).ToString(); }
  Dim Numbered(const Dim& d);
  // By their numbers.
  const std::vector<Dim>& symbols() const { return symbols_; }

 private:
  std::unordered_map<uint32_t, uint32_t> numbers_;
  std::vector<Dim> symbols_;
};

class HeldValues {
 public:
  struct Layout;
  // A holder in a function, and what stands there for the symbols of its layout.
  struct Holder {
    const Var* var;
    const Layout* layout;
    std::vector<Dim> dims;
  };
  // A variable of the program, what stands for it in a function, and its type there; null: unknown.
  struct Value {
    const Var* original;
    Atom image;
    Type type;
  };
  using Index = std::unordered_map<const Var*, const Layout*>;  // what is held, and in which holder
  // What a function was given: holders and, with their types, other values.
  struct State {
    std::vector<Holder> holders;
    std::shared_ptr<const Index> index;  // null: nothing
    std::vector<std::pair<const Var*, Type>> known;
    std::map<std::pair<const Var*, size_t>, const Var*> inner;  // fields of holders that were read

    bool Holds(const Var* original) const { return index != nullptr && index->contains(original); }
  };
  // Names and type parameters of the types that are made.
  struct Scope {
    std::string function;
    std::vector<Type> type_params;
    Span span;
  };

  explicit HeldValues(Module& m) : m_(m) {}

  // Where `direct` has too many values, in order of first use, those that are used last go to
  // holders, which `out` binds. `others`: types of what is passed besides.
  void Hold(const Scope& scope, const std::vector<Type>& others, std::vector<Value>& direct,
            State& state, std::vector<Binding>& out);
  // Binds in `out` those of `wanted` that are held and have no image yet, and maps them.
  void Read(const std::vector<const Var*>& wanted, Span span, State& state, AtomMap& map,
            std::vector<Binding>& out);

  static const Type& TypeOf(const Holder& h);
  // What a function passes on of `given`, with dims as its types have them by now.
  static State Passed(const State& given, const std::function<Type(const Var*)>& type_of);

 private:
  Holder HoldValues(const Scope& scope, const std::vector<Value>& values,
                    const std::unordered_map<uint32_t, size_t>& uses, std::vector<Binding>& out);
  Holder HoldHolders(const Scope& scope, const std::vector<Holder>& holders,
                     std::vector<Binding>& out);
  const Layout* Define(const Scope& scope, const std::string& key, Layout layout,
                       std::vector<Type> fields);
  Holder Make(const Scope& scope, const Layout* layout, std::vector<Dim> dims,
              std::vector<Atom> fields, std::vector<Binding>& out);
  const Var* Field(const Var* holder, const Layout& layout, size_t field, Span span, State& state,
                   std::vector<Binding>& out);
  // The variable and its type, where symbols are the function's.
  std::pair<const Var*, Type> ReadOne(const Var* original, Span span, State& state,
                                      std::vector<Binding>& out);

  Module& m_;
  std::deque<Layout> layouts_;
  std::map<std::string, const Layout*> known_;  // by what they hold
};

struct HeldValues::Layout {
  size_t level = 0;  // 0: its fields are values; others have holders of the level below
  std::vector<const Var*> values;
  std::vector<Type>
      value_types;  // in terms of symbols 0, 1, ...; an open dim that no other value has
                    // is Dim::Any()
  std::vector<const Layout*> holders;
  std::vector<size_t> first_dims;                 // of each field's, among those of the whole
  std::unordered_map<const Var*, size_t> fields;  // by what they lead to
  const Constructor* constructor = nullptr;
  Type type;
};

}  // namespace relayvm::ir

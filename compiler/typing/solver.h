// Unification of types with unknowns, up to dimensions.
//
// An unknown is a slot, written as an InferVar in types. Structure (tuples, ADTs, dtypes, ranks) is
// unified as in Hindley and Milner; dims are joined: equal dims stay, all else becomes Any, as
// Relay's `?` does; a number where another one is written is an error. So the type in a slot can
// grow (widen) after someone has read it. A widening is remembered by the slot's key, which names
// its place in the program, and the whole inference runs again with the wider type from the start;
// each run removes at least one dim for good, so this ends.
//
// A slot may mention only symbols that are visible from its limit; others become Any when it is
// filled. Values flow: Flow(actual, expected) widens only what stands on the expected side, except
// inside references and the parameters of functions, where both sides share their slots. Not
// thread-safe. Tested by solver_test.cc.
#pragma once

#include <array>
#include <compare>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/typing/same_function_type.h"
#include "compiler/typing/scopes.h"

namespace relayvm::typing {

struct SlotKey {
  uint32_t site;   // the id of the variable, function or annotation that the slot belongs to
  uint32_t index;  // which of its slots
  friend auto operator<=>(const SlotKey&, const SlotKey&) = default;
};

// What earlier runs learned: for each key a type whose Any dims are to be Any from the start.
using Widenings = std::map<SlotKey, ir::Type>;

class Solver {
 public:
  // REQUIRES: the pointees outlive the solver.
  Solver(ir::IdSource* ids, Scopes* scopes, Widenings* widenings)
      : ids_(ids), scopes_(scopes), widenings_(widenings) {}

  // An unknown. `guessed`: what flows into it before its definition is known (Define) says nothing
  // about its symbols.
  ir::Type NewSlot(Place limit, SlotKey key, bool guessed = false);
  // The slot of an InferVar that the program wrote.
  void AdoptSlot(uint32_t id, Place limit);

  // Follows filled slots at the top. An InferVar when unknown.
  ir::Type Resolve(const ir::Type& t) const;
  bool IsUnknown(const ir::Type& t) const { return Resolve(t)->As<ir::InferVar>() != nullptr; }
  // The id of the first unknown inside, 0 when the type is complete.
  uint32_t FirstUnknown(const ir::Type& t) const;
  // Follows filled slots everywhere; unknowns become `fallback` unless it is null.
  ir::Type Zonk(const ir::Type& t, const ir::Type& fallback = nullptr) const;
  // No slot changes from here on: what Zonk makes with a fallback, which is always the same, is
  // kept and shared.
  void Close() { closed_ = true; }

  // A value of type `actual` goes where `expected` is wanted. The error says what was expected and
  // found, without place.
  Status Flow(const ir::Type& actual, const ir::Type& expected);
  // The definition of a `guessed` slot has become known.
  Status Define(const ir::Type& slot, const ir::Type& type);

  // `t` as seen from `limit`: dims with symbols that are not visible there (and that `keep` doesn't
  // allow) become Any.
  ir::Type Restrict(const ir::Type& t, Place limit,
                    const std::function<bool(uint32_t)>& keep = nullptr);

  // Waiters: called with the numbers given here, once, when the slot is filled. REQUIRES: slot is
  // unknown.
  void Wait(uint32_t slot, uint32_t waiter);
  std::vector<uint32_t> TakeWoken() { return std::exchange(woken_, {}); }
  bool HasWoken() const { return !woken_.empty(); }

  // A step is a piece of work during which no one else reads the slots that it makes: those widen
  // freely.
  void BeginStep() { ++step_; }
  // True when a slot widened after it was read: the run's results are not to be used.
  bool must_rerun() const { return must_rerun_; }

 private:
  struct Slot {
    ir::Type type;  // null: unknown
    uint32_t forward = 0;
    Place limit;
    std::vector<SlotKey> keys;
    bool guessed = false;
    uint32_t step = 0;
    std::vector<uint32_t> waiters;
    ir::Type accepted;  // what a function takes as it; null where none was seen
  };
  enum class Variance { kCovariant, kInvariant };
  using Bound = std::vector<uint32_t>;

  ir::Type ZonkParam(const ir::Type& t, const ir::Type& fallback) const;
  uint32_t Root(uint32_t id) const;
  Slot& At(uint32_t id) { return slots_.find(id)->second; }
  const Slot& At(uint32_t id) const { return slots_.find(id)->second; }
  void Fill(uint32_t slot, const ir::Type& type);
  Status Bind(uint32_t slot, const ir::Type& type);
  void Link(uint32_t a, uint32_t b);
  void Widen(uint32_t slot, const ir::Type& type);
  void Accept(const ir::Type& slot, const ir::Type& param);
  void Limit(uint32_t slot, Place limit, bool drop_symbols);
  bool Occurs(uint32_t slot, const ir::Type& t) const;

  // The walks themselves, over types that share their parts.
  uint32_t FirstUnknown(const ir::Type& t, ir::TypeMemo<bool>& seen) const;
  bool Occurs(uint32_t slot, const ir::Type& t, ir::TypeMemo<bool>& seen) const;
  ir::Type Zonk(const ir::Type& t, const ir::Type& fallback, ir::TypeMemo<ir::Type>& done) const;
  ir::Type ZonkNode(const ir::Type& r, const ir::Type& fallback,
                    ir::TypeMemo<ir::Type>& done) const;

  // How two types are joined.
  struct JoinMode {
    Variance variance;
    bool widen;  // `expected` is what a slot holds: where it is a number and `actual` another one,
                 // the slot gets Any. A number that is written stays.
  };
  Result<ir::Type> Join(const ir::Type& expected, const ir::Type& actual, JoinMode mode);
  Result<ir::Type> JoinResolved(const ir::Type& e, const ir::Type& a, JoinMode mode);
  Result<ir::Type> JoinNodes(const ir::Type& e, const ir::Type& a, JoinMode mode);
  Result<ir::Type> JoinTensors(const TensorType& e, const TensorType& a, const ir::Type& whole,
                               bool widen);
  Result<ir::Type> JoinFunctions(const ir::Type& e, const ir::Type& a, JoinMode mode);
  Result<std::vector<ir::Type>> JoinLists(const std::vector<ir::Type>& e,
                                          const std::vector<ir::Type>& a, JoinMode mode);
  // Without type parameters and quantified symbols.
  ir::FunctionType Loosen(const ir::FunctionType& f);

  struct Cleaning {
    Place limit;
    bool drop_symbols;
    const std::function<bool(uint32_t)>* keep;
    Bound bound;
    std::array<ir::TypeMemo<ir::Type>, 2> done;  // by variance
  };
  ir::Type Clean(const ir::Type& t, Cleaning& c, Variance v);
  ir::Type CleanNode(const ir::Type& t, Cleaning& c, Variance v);
  bool IsVisible(uint32_t symbol, const Cleaning& c) const;

  ir::IdSource* ids_;
  Scopes* scopes_;
  Widenings* widenings_;
  std::unordered_map<uint32_t, Slot> slots_;
  // What the Flow that is under way has joined, by (expected, actual, variance, widen): types share
  // their parts.
  struct Joined {
    ir::Type type;
    bool differ;  // something inside counts as a difference
  };
  std::map<std::tuple<ir::Type, ir::Type, Variance, bool>, Joined> joined_;
  // Places where the types that are joined differ, or may: where the count stays, both are equal,
  // and nobody walks them to compare.
  size_t differences_ = 0;
  std::vector<uint32_t> woken_;
  uint32_t step_ = 0;
  uint32_t anonymous_ = 0;
  bool must_rerun_ = false;
  bool closed_ = false;
  FunctionTypeEquality same_functions_;
  mutable ir::TypeMemo<ir::Type> final_;
};

using ir::ForEachBoundSymbol;
using ir::MapChildren;
using ir::SubstituteTypeVars;

}  // namespace relayvm::typing

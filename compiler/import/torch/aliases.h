// Tensors that share memory, made functional: who writes one (add_, copy_, x[i] = y) is seen by all
// that look at the same storage, and views are made anew of what it holds then. Both evaluators of
// PyTorch programs call operators through Aliases::Run and read their tensors by Read.
//
//   Aliases aliases(b);
//   Argument x = aliases.Fresh(value);                      // a tensor of its own: x
//   Results v = aliases.Run(*FindOperator("aten::select", "int"), {x, 0, 1});   // x[:, 1]
//   aliases.Run(add, {v[0], y}, /*in_place=*/true);         // x[:, 1] += y
//   aliases.Read(x)                                         // has the sum
//
// Storages are variables of the program: a branch or a loop that writes one assigns it. Not
// thread-safe. Tested by aliases_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/import/torch/layout.h"
#include "compiler/import/torch/operator.h"

namespace relayvm::import::torch {

// What tensors share: the elements as they are now.
struct Storage : std::enable_shared_from_this<Storage> {
  Value value;
  uint64_t version = 0;  // counts writes
  uint64_t id = 0;       // in the order in which they were made
  // Those that may be this one: `reshape` gives a view or a copy, by how the elements lie. Once one
  // is written, nobody knows what the others hold: `stale` is the operator that gave them.
  std::shared_ptr<std::vector<std::weak_ptr<Storage>>> perhaps;
  std::string_view perhaps_by;
  std::string_view stale;
};

// How the elements of a tensor lie: in their order without gaps; by steps that are known; as nobody
// knows here.
enum class Layout : uint8_t { kDense, kSteps, kUnknown };

class TensorAlias {
 public:
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // The whole of its storage, in order: no view.
  bool is_whole() const { return steps_.empty(); }
  Layout layout() const { return layout_; }

 private:
  friend class Aliases;
  // A view of what the step before it gives (of the storage's value).
  struct Step {
    const Operator* op;
    std::vector<Argument> arguments;
    size_t argument = 0;   // the one that it looks at
    size_t result = 0;     // of several, which
    bool is_item = false;  // `result` is an element of a list
    Expected expected;
  };
  std::shared_ptr<Storage> storage_;
  std::vector<Step> steps_;
  Value seen_;  // as of `version_`
  uint64_t version_ = 0;
  Layout layout_ = Layout::kDense;
  AxisSteps steps_of_axes_;  // of kSteps
};

class Aliases {
 public:
  explicit Aliases(TypedBuilder& b) : b_(b) {}

  // A tensor (its quantisation is kept) with a storage of its own; other arguments are given back.
  Argument Fresh(Argument tensor);
  // The tensor as it is now.
  Value Read(const Argument& tensor);
  // As it was last seen, where only its shape and dtype are asked for.
  Value ReadShape(const Argument& tensor);
  // The same of all tensors in lists and tuples.
  Argument Current(const Argument& a);
  // All that see the tensor's storage see `value` in its place; broadcast to its shape, cast to its
  // dtype. What cannot be written (expanded views) is an error.
  void Write(const Argument& tensor, const Value& value);

  // Calls an operator on arguments bound to its schema (Bind). Results that are views look at their
  // argument; others are fresh. `in_place`: argument 0 (or `out`, where it is given) takes the
  // result, and is what is given back.
  Results Run(const Operator& op, std::vector<Argument> arguments, bool in_place = false,
              const Argument* out = nullptr);

  // `value` has the tensor's elements as they are now, and says more of their shape.
  void Refine(const Argument& tensor, const Value& value);
  // What the file says of the results of the next Run.
  void Expect(const Expected& expected) { expected_ = expected; }

  // --- For branches and loops ---
  // Storages that are written while `run` runs, in the order of their making, with the values that
  // they had before; those that were made in `run` are left out.
  struct Written {
    std::shared_ptr<Storage> storage;
    Value before;
  };
  std::vector<Written> During(const std::function<void()>& run);
  void Set(Storage& storage, const Value& value);

 private:
  Value Apply(const TensorAlias::Step& step, const Value& v);
  Value Replay(TensorAlias& alias, size_t steps);
  Value Undo(const TensorAlias::Step& step, const Value& before, const Value& v);
  Value Scattered(const TensorAlias::Step& step, const Value& before, const Value& v);
  std::vector<int64_t> PermutationOf(const TensorAlias::Step& step, int rank);
  Value BroadcastAs(const Value& v, const Value& like);
  bool Allowed(const Operator& op, const Argument& a);
  Argument Perhaps(const TensorAlias& from, std::string_view by, Argument value);
  Argument View(const Call& of, const std::vector<Argument>& original,
                const std::vector<Argument>& current, size_t result, bool is_item, Argument value);
  void LookAtStorage(std::vector<Argument>& arguments);
  static void Keep(const Argument& first, Results* results);
  Results InPlace(const Call& call, const std::vector<Argument>& arguments,
                  const std::vector<Argument>& current, const Argument* out, Results results);

  TypedBuilder& b_;
  Expected expected_;
  uint64_t next_id_ = 0;
  std::vector<Written>* log_ = nullptr;
  uint64_t log_from_ = 0;
};

}  // namespace relayvm::import::torch

// What a program keeps between runs: pairs of an input and an output (relayc --state IN=OUT,
// FunctionSignature::states), where the input is what the output of the run before was.
//
//   auto state = State::Create(executable);
//   for (const Value& chunk : chunks) auto y = (*invocation)->Run({{"x", chunk}}, *state);
//
// An executable holds no state: this is one stream's. A copy goes on by itself from where it was
// made; tensors are shared, since nobody writes them: those that lie in a host's memory
// (Value::WrapTensor) are copied. One thread at a time, and one run. Tested by state_test.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "vm/border/model_info.h"
#include "vm/border/value.h"

namespace relayvm {

class Executable;
class Runtime;

class State {
 public:
  // Before the first run. Fails with kNotFound (no such function) and kFailedPrecondition (it keeps
  // nothing).
  static Result<State> Create(std::shared_ptr<const Executable> executable,
                              std::string_view function = "main");

  const FunctionSignature& function() const { return *function_; }
  // By the name of the input; none (Value()) before the first run. kInvalidArgument where there is
  // no such state.
  Result<Value> Get(std::string_view name) const;
  // What the next run takes; its type is checked when that begins. None: as before the first run.
  Status Set(std::string_view name, Value value);
  void Reset();
  // Whether a run gets the tensors for itself, so that a program that writes a part of them (a
  // cache of keys) writes it in their place, where nobody else holds them: each run then costs what
  // it writes, not what is kept. A run that fails leaves the states as before the first run then.
  // Off at first: a failed run changes nothing.
  void set_in_place(bool in_place) { in_place_ = in_place; }
  bool in_place() const { return in_place_; }

  // --- Of runs that are not Invocation::Run's, such as a scheduler's ---

  // Begins a run: puts the states in the places of their inputs that are none, of those in order.
  // Before the first run that is nothing where the program has a value of its own, else a tensor of
  // zeros: of dims that another input has by name, as long as there, of others that are not known,
  // 0. Their memory is `runtime`'s, which counts it; null: the system's. `outputs`: the run's
  // buffers. Fails with kFailedPrecondition while another run has it, and kInvalidArgument where a
  // state would go to a buffer; then no run has begun.
  Status Begin(std::vector<Value>* inputs, std::span<const OutputBuffer> outputs = {},
               Runtime* runtime = nullptr);
  // Ends it: the states are those of the result, which stays as it is, or as they were where the
  // run failed, unless they are in place.
  Status End(const Result<Value>& result);

 private:
  State(std::shared_ptr<const Executable> executable, const FunctionSignature* function);
  Result<size_t> Find(std::string_view name) const;
  Result<Value> Zeros(const StatePair& state, std::span<const Value> inputs,
                      Runtime* runtime) const;

  struct InRun {  // not a copy's
    bool is = false;
    InRun() = default;
    InRun(const InRun&) {}
    InRun& operator=(const InRun&) { return *this; }
  };

  std::shared_ptr<const Executable> executable_;
  const FunctionSignature* function_;  // of it
  std::vector<Value> values_;          // as function_->states
  InRun in_run_;
  bool in_place_ = false;
};

}  // namespace relayvm

// The reference interpreter: runs typed Relay as it stands, slow and obviously right. The oracle of
// our own tests.
//
//   - Operators run by their definitions (operator.h), one at a time, each into new memory.
//   - Variables live in one map for each call; closures copy what they use; `if` and `match` choose
//     a block of the same call.
//   - Calls live on a stack of our own: depth costs memory, not native stack. A tail call replaces
//     its caller.
//   - What type inference said is checked: the shape of every value against its variable's type,
//     and every guard.
//
// It takes the module that type inference gives (RunFrontendPipeline), and also what most passes
// make of it. Thread-compatible. Tested by interpreter_test.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/reference/value.h"

namespace relayvm::reference {

// A variable that got its value. Valid for the time of the call.
struct ValueEvent {
  const ir::Function& function;  // whose body holds the variable
  const ir::Var& var;
  const ir::Expr* expr;  // what computed it; null: a parameter, or a variable of a pattern
  const Value& value;

  std::string Name() const;  // "%conv1"; empty of a variable without a name
  std::string Operation()
      const;  // "nn.conv2d", "@layer", "if" ...; "parameter" and "pattern" without `expr`
  ir::Span span() const;
};

struct Options {
  // Calls that may be active at once.
  size_t max_depth = 1'000'000;
  // Of the whole run; zero: none.
  std::chrono::nanoseconds timeout{0};
  // Runs what the host registers as `name`; none: the program fails where it calls one.
  std::function<Result<Value>(const std::string& name, std::vector<Value> args)> host;
  // Sees the value of each variable when it is known, in the order of the run; what it fails with
  // ends the run. Not told of what only type inference needs (guards, dims), nor of the value of a
  // call in tail position, which is the one that its callee returned.
  std::function<Status(const ValueEvent&)> observe;
  // The texts that strings are ids of: it goes on behind the module's. Null: the program has none.
  StringTable* strings = nullptr;
  std::stop_token stop;  // asked to: the run fails with kCancelled, between two operators
};

// Fails as the program does: kFailedPrecondition (a guard, a match that nothing matches, an
// operator that refuses its arguments), kOutOfRange, kResourceExhausted (depth, memory),
// kDeadlineExceeded; kInvalidArgument for wrong inputs; kInternal where types inferred and values
// disagree. REQUIRES: `module` outlives the result, and `entry` is a function of it.
Result<Value> Run(const ir::Module& module, std::string_view entry, std::vector<Value> inputs,
                  const Options& options = {});

}  // namespace relayvm::reference

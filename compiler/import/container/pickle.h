// What a Python pickle holds, as plain data: nothing of it is executed. A class or function that it
// names (a GLOBAL) must be among those that the caller knows, and stays a name; calls of it are
// kept as what they are called with:
//
//   RELAYVM_ASSIGN_OR_RETURN(Pickle pickle, Pickle::Read("m.pt: data.pkl", bytes, KnownGlobal));
//   const PickleValue& root = pickle.root();
//   if (root.IsCallOf("torch._utils._rebuild_tensor_v2")) ... root.arguments() ...
//
// Protocols 2 to 5, without out-of-band buffers. Any bytes are safe: memory is bounded by the size
// of the pickle, what refers to itself is an error, and the result may be walked as the tree that
// it looks like (values that several share count each time): its depth is at most kDepth, its size
// kWalked. Immutable; thread-safe. Tested by pickle_test.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::import {

struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,    // `integer`, 0 or 1
    kInt,     // `integer`
    kFloat,   // `real`
    kText,    // `text`, as the pickle has it: UTF-8
    kBytes,   // `text`
    kTuple,   // `items`
    kList,    // `items`
    kSet,     // `items`
    kDict,    // `items`: key, value, key, value ... in order; of equal keys the last counts
    kGlobal,  // `text`: "torch._utils._rebuild_tensor_v2"
    // What a global gave when it was called (REDUCE) or made an instance of (NEWOBJ).
    kCall,
    kPersistent  // `items`: what a persistent id is made of
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<const PickleValue*> items;  // of calls: what was appended, or set by keys, afterwards

  // --- Of calls ---
  const PickleValue* callee = nullptr;       // the global
  const PickleValue* called_with = nullptr;  // a tuple
  const PickleValue* state = nullptr;  // what __setstate__ is given, or the attributes; or null

  bool is(Kind k) const { return kind == k; }
  bool is_none() const { return kind == Kind::kNone; }
  bool is_sequence() const { return kind == Kind::kTuple || kind == Kind::kList; }
  bool is_number() const { return kind == Kind::kInt || kind == Kind::kFloat; }
  double number() const { return kind == Kind::kFloat ? real : static_cast<double>(integer); }
  bool IsCallOf(std::string_view global) const {
    return kind == Kind::kCall && callee->text == global;
  }
  std::span<const PickleValue* const> arguments() const { return called_with->items; }
  // The value of a text key, of a dict or of a call that keys were set of (OrderedDict); null:
  // there is none.
  const PickleValue* Find(std::string_view key) const;
};

// For messages: "an int", "a call of collections.OrderedDict", "None".
std::string Describe(const PickleValue& v);

class Pickle {
 public:
  // Whether a global may be named: "collections", "OrderedDict".
  using Known = std::function<bool(std::string_view module, std::string_view name)>;
  // `where` begins messages. kInvalidInput: damaged, or a global is not known.
  static Result<Pickle> Read(std::string_view where, std::span<const std::byte> bytes,
                             const Known& known);

  // As long-lived as this object and its copies.
  const PickleValue& root() const { return *root_; }

  static constexpr int kDepth = 500;
  static constexpr uint64_t kWalked = uint64_t{1} << 24;

 private:
  Pickle() = default;
  std::shared_ptr<const void> values_;
  const PickleValue* root_ = nullptr;
};

}  // namespace relayvm::import

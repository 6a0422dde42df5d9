// Values of the reference interpreter: plain, counted, and destroyed without recursion, however
// deep. Thread-compatible. Tested by interpreter_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::reference {

struct Object;
using Value = std::shared_ptr<Object>;

struct Tensor {
  std::shared_ptr<const HostTensor> data;
};
struct Data {  // a tuple (constructor is null), or a constructor's value
  const ir::Constructor* constructor = nullptr;
  std::vector<Value> fields;
};
struct Closure {  // a function value. Exactly one of `function` and `constructor` is set.
  const ir::Function* function = nullptr;
  const ir::Constructor* constructor = nullptr;
  std::vector<std::pair<uint32_t, Value>> captured;   // by Var::id
  std::vector<std::pair<uint32_t, int64_t>> symbols;  // dimension symbols that it may speak of
  std::vector<Value> first_args;                      // of a lifted closure: its first arguments
  const ir::Var* self = nullptr;  // the variable that a recursive closure calls itself by
};
struct Reference {
  Value content;
};

struct Object {
  std::variant<Tensor, Data, Closure, Reference> node;

  template <typename T>
  explicit Object(T n) : node(std::move(n)) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object();

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&node);
  }
  template <typename T>
  T* As() {
    return std::get_if<T>(&node);
  }
};

template <typename T>
Value Make(T node) {
  return std::make_shared<Object>(std::move(node));
}
Value MakeTensor(HostTensor tensor);
Value MakeTuple(std::vector<Value> fields);

// Null when it is none.
const HostTensor* TensorOf(const Value& value);
std::string ShownTensor(const HostTensor& t);  // its type, as Relay writes it
bool Matches(const ir::Pattern& pattern, const Value& value);
// A result whose parts may be values of the type OneOf: what these hold.
Value OpenResult(const Value& result);

}  // namespace relayvm::reference

// PyTorch's operator schemas, as it prints them itself:
//
//   aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
//   aten::slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1)
//     -> Tensor(a)
//
// Letters in brackets say what shares memory: (a) a result is a view of the argument of the same
// letter, (a!) the argument is written. Thread-safe. Tested by schema_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/import/torch/argument.h"

namespace relayvm::import::torch {

struct SchemaType {
  enum class Base : uint8_t {
    kTensor,
    kInt,
    kFloat,
    kBool,
    kScalar,
    kComplex,
    kString,
    kDevice,
    kGenerator,  // any
    kAny         // t, Any, objects, dictionaries
  };
  Base base = Base::kAny;
  bool optional = false;  // T?
  bool list = false;      // T[]; `element_optional`: T?[]
  bool element_optional = false;
  int64_t length = 0;  // T[2]: one element stands for that many
};

struct SchemaArgument {
  std::string name;
  SchemaType type;
  bool has_default = false;
  Argument fallback;
  bool keyword_only = false;
  bool is_out = false;   // (a!) behind the *: out=
  char alias = 0;        // 'a'; 0: it shares nothing
  bool written = false;  // (a!)
};

struct SchemaResult {
  SchemaType type;
  char alias = 0;
};

struct Schema {
  std::string name;      // "aten::add"
  std::string overload;  // "Tensor"; may be empty
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaResult> results;
  bool variadic = false;  // "...": any number of arguments more

  int Find(std::string_view argument) const;  // -1: none
  // Result `i` is a view of an argument that is not written.
  bool IsView(size_t i) const;
  std::string full_name() const { return overload.empty() ? name : name + "." + overload; }
};
Result<Schema> ParseSchema(std::string_view text);

struct KeywordArgument {
  std::string name;
  Argument value;
};
// One for each argument of the schema, defaults filled in; an error that says which does not fit.
// `convert`: tensors stand for numbers where a number is expected, as traces have it.
Result<std::vector<Argument>> Bind(const Schema& schema, std::span<const Argument> positional,
                                   std::span<const KeywordArgument> keywords, bool convert);

}  // namespace relayvm::import::torch

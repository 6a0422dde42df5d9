// Attributes of an operator call: named values checked against the operator's schema.
// Tested by attrs_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "bytecode/base/dim.h"
#include "bytecode/base/dtype.h"

namespace relayvm {

struct AttrValue;
using AttrList = std::vector<AttrValue>;

// None is std::monostate. A Dim stands for an integer; `?` in a shape attribute is Dim::Any().
// Relay writes dtypes as strings; they stay strings here ("" is unset).
struct AttrValue {
  std::variant<std::monostate, bool, Dim, double, std::string, AttrList> value;

  AttrValue() = default;
  // NOLINTBEGIN(google-explicit-constructor,bugprone-forwarding-reference-overload): a value is
  // written where an attribute is wanted, and the constraint leaves copies out.
  template <typename T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, AttrValue>) AttrValue(T&& v)
      : value(std::forward<T>(v)) {}
  // NOLINTEND(google-explicit-constructor,bugprone-forwarding-reference-overload)
  AttrValue(const char* s) : value(std::string(s)) {}  // NOLINT(google-explicit-constructor)
  AttrValue(int v) : value(Dim(v)) {}                  // NOLINT(google-explicit-constructor)
  AttrValue(int64_t v) : value(Dim(v)) {}              // NOLINT(google-explicit-constructor)

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  friend bool operator==(const AttrValue& a, const AttrValue& b);
};

// The kinds that a schema can ask for. kInts takes a list of integers or one integer; kDType a
// dtype's name or "". kAny takes whatever stands there: attributes that no relation reads as one
// kind.
//
// Integers lie within 32 bits, so that relations may add and multiply two of them, but for sizes
// (kDims, which also takes `?`, and whose arithmetic saturates) and positions (kPositions, where
// what lies beyond an end stands for it).
enum class AttrKind : uint8_t {
  kBool,
  kInt,
  kFloat,
  kString,
  kDType,
  kInts,
  kInts2,
  kFloats,
  kIntOrInts,
  kDims,
  kPositions,
  kAny
};

struct AttrField {
  std::string_view name;
  AttrKind kind;
  // It must be given, and not as None; else `fallback` holds when it is not given or None.
  bool required = false;
  AttrValue fallback;  // None where None is a value of its own (units=None, axes=None)
  // TVM declares a C++ int, so that a metadata section holds the number itself, never the index of
  // a node.
  bool is_plain_int = false;
};

// Attributes of one call, complete: every field of the schema is present (perhaps None).
// Accessors REQUIRE that the field is in the schema and is not None unless they return optional.
class Attrs {
 public:
  bool Has(std::string_view name) const;  // present and not None
  const AttrValue* Find(std::string_view name) const;
  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  std::optional<int64_t> OptionalInt(std::string_view name) const;
  double Float(std::string_view name) const;  // integers convert
  const std::string& String(std::string_view name) const;
  std::optional<DType> OptionalDType(std::string_view name) const;  // nullopt when "" or None
  std::vector<int64_t> Ints(
      std::string_view name) const;  // one integer gives a list of one; None gives {}
  std::optional<std::vector<int64_t>> OptionalInts(std::string_view name) const;
  std::vector<Dim> Dims(std::string_view name) const;  // Any where `?`
  std::vector<std::vector<int64_t>> Ints2(std::string_view name) const;
  std::vector<double> Floats(std::string_view name) const;

  void Set(std::string name, AttrValue value) { values_[std::move(name)] = std::move(value); }
  const std::map<std::string, AttrValue, std::less<>>& values() const { return values_; }
  friend bool operator==(const Attrs& a, const Attrs& b) = default;

 private:
  std::map<std::string, AttrValue, std::less<>> values_;
};

}  // namespace relayvm

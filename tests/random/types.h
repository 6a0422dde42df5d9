// Types of random programs: Relay's types, with what the generator must know beyond them.
//
// A tensor's size is known for each of the runs that the program is made for, though the program
// may say `?`; so every step knows whether its operator's shapes fit in every run. A float
// tensor has a Range: how large its elements can be and how far two correct computations of it can
// differ. Steps stay where results are comparable: what is discontinuous takes exact operands only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/base/dtype.h"

namespace relayvm::random_programs {

inline constexpr int kRuns = 3;

struct Size {
  std::array<int64_t, kRuns> at{};
  bool is_static = false;  // the program's types say the number; else they say `?`
  int unknown = 0;         // not 0: not known here; equal numbers are equal sizes

  bool known() const { return unknown == 0; }
  bool Is(int64_t n) const { return is_static && at[0] == n; }
  int64_t Largest() const { return known() ? *std::max_element(at.begin(), at.end()) : 64; }
  int64_t Smallest() const { return known() ? *std::min_element(at.begin(), at.end()) : 0; }
  friend bool operator==(const Size& a, const Size& b) {
    return a.unknown == b.unknown && (!a.known() || a.at == b.at);
  }
};
Size StaticSize(int64_t n);
using Shape = std::vector<Size>;
bool AllKnown(const Shape& shape);
int64_t Smallest(const Shape& shape);      // of its sizes; at most 1
int64_t LargestCount(const Shape& shape);  // of elements
inline constexpr int64_t kLargestTensor = 20000;

struct Range {
  double bound = 0;    // of the absolute value
  double err = 0;      // between any two orders of evaluation; 0: exact
  double quantum = 1;  // where exact: elements are multiples of it

  bool exact() const { return err == 0; }
};
// The range after an operation that is correct to rounding; nothing when it leaves what is
// comparable.
std::optional<Range> Rounded(DType dtype, Range r, bool exact_operation = false);
Range Union(const Range& a, const Range& b);
// What values that cross functions, data and references are scaled to.
Range ContractRange(DType dtype);
bool Within(const Range& r, const Range& contract);
// The tolerance of results of dtype `t`.
double ToleranceOf(DType t);

struct Type;
using TypePtr = std::shared_ptr<const Type>;
struct Type {
  enum class Kind : uint8_t { kTensor, kTuple, kAdt, kFunction, kRef };
  Kind kind = Kind::kTensor;
  DType dtype = DType::kFloat32;
  Shape shape;
  Range range;
  std::string adt;
  std::vector<TypePtr> args;  // fields; type arguments; parameters and then the result; content

  bool Is(Kind k) const { return kind == k; }
  bool IsTensor() const { return kind == Kind::kTensor; }
  bool IsScalar(DType t) const { return IsTensor() && shape.empty() && dtype == t; }
};
TypePtr TensorType(DType dtype, Shape shape, Range range = {});
TypePtr ScalarType(DType dtype);
TypePtr TupleType(std::vector<TypePtr> fields);
TypePtr AdtType(std::string name, std::vector<TypePtr> args = {});
TypePtr FunctionType(std::vector<TypePtr> params, TypePtr result);
TypePtr RefType(TypePtr content);

// As the program writes it.
std::string TypeText(const Type& type);
// Equal but for ranges. `a` may be given where `b` is declared: sizes that b does not know take
// any.
bool Fits(const Type& a, const Type& b);
// The type of a value that is one of `a` and `b`; null when a program cannot have such a value.
// Sizes that differ become unknown with numbers from `next_unknown`.
TypePtr Join(const TypePtr& a, const TypePtr& b, int* next_unknown);
// Float ranges become contracts.
TypePtr Contract(const TypePtr& type);
bool Contains(const Type& type, Type::Kind kind);

}  // namespace relayvm::random_programs

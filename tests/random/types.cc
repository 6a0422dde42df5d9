#include "tests/random/types.h"

#include <fmt/format.h>

#include <cmath>

namespace relayvm::random_programs {
namespace {

struct Precision {
  double unit;     // of one rounding, with room for functions that are right to some ULP
  double largest;  // err of a value that may still be computed with
  double contract;
  double exact;  // integers up to it are exact
};
Precision PrecisionOf(DType t) {
  if (t == DType::kFloat64) return {1e-13, 1e-8, 1e-10, 0x1p40};
  if (t == DType::kFloat32) return {5e-7, 1e-3, 1e-4, 0x1p24};
  return {1, 0, 0, 0x1p11};  // float16: exact arithmetic only
}
constexpr double kLargestBound = 1000;
constexpr double kContractBound = 4;

TypePtr Make(Type t) { return std::make_shared<const Type>(std::move(t)); }

}  // namespace

Size StaticSize(int64_t n) {
  Size s;
  s.at.fill(n);
  s.is_static = true;
  return s;
}

bool AllKnown(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Size& s) { return s.known(); });
}
int64_t Smallest(const Shape& shape) {
  int64_t n = 1;
  for (const Size& s : shape) n = std::min(n, s.Smallest());
  return n;
}
int64_t LargestCount(const Shape& shape) {
  int64_t n = 1;
  for (const Size& s : shape) n *= s.Largest();
  return n;
}

std::optional<Range> Rounded(DType dtype, Range r, bool exact_operation) {
  if (!IsFloat(dtype)) return Range{};
  Precision p = PrecisionOf(dtype);
  if (r.bound > kLargestBound || !(r.bound >= 0)) return std::nullopt;
  bool exact = r.exact() && exact_operation && r.bound / r.quantum <= p.exact;
  if (!exact) r.err += p.unit * std::max(r.bound, 1e-3);
  if (r.err > p.largest) return std::nullopt;
  return r;
}

Range Union(const Range& a, const Range& b) {
  return {std::max(a.bound, b.bound), std::max(a.err, b.err), std::min(a.quantum, b.quantum)};
}

Range ContractRange(DType dtype) {
  if (!IsFloat(dtype)) return {};
  return {kContractBound, PrecisionOf(dtype).contract, dtype == DType::kFloat16 ? 0.25 : 0x1p-20};
}

bool Within(const Range& r, const Range& contract) {
  return r.bound <= contract.bound && r.err <= contract.err &&
         (!contract.exact() || r.quantum >= contract.quantum);
}

double ToleranceOf(DType t) { return IsFloat(t) ? 4 * PrecisionOf(t).largest : 0; }

TypePtr TensorType(DType dtype, Shape shape, Range range) {
  Type t;
  t.dtype = dtype;
  t.shape = std::move(shape);
  t.range = range;
  return Make(std::move(t));
}
TypePtr ScalarType(DType dtype) { return TensorType(dtype, {}, ContractRange(dtype)); }
TypePtr TupleType(std::vector<TypePtr> fields) {
  Type t;
  t.kind = Type::Kind::kTuple;
  t.args = std::move(fields);
  return Make(std::move(t));
}
TypePtr AdtType(std::string name, std::vector<TypePtr> args) {
  Type t;
  t.kind = Type::Kind::kAdt;
  t.adt = std::move(name);
  t.args = std::move(args);
  return Make(std::move(t));
}
TypePtr FunctionType(std::vector<TypePtr> params, TypePtr result) {
  Type t;
  t.kind = Type::Kind::kFunction;
  t.args = std::move(params);
  t.args.push_back(std::move(result));
  return Make(std::move(t));
}
TypePtr RefType(TypePtr content) {
  Type t;
  t.kind = Type::Kind::kRef;
  t.args = {std::move(content)};
  return Make(std::move(t));
}

std::string TypeText(const Type& type) {
  std::string args;
  if (type.IsTensor()) {
    if (type.shape.empty()) return std::string(DTypeName(type.dtype));
    for (const Size& s : type.shape) {
      args += args.empty() ? "" : ", ";
      args += s.is_static ? std::to_string(s.at[0]) : "?";
    }
    return fmt::format("Tensor[({}), {}]", args, DTypeName(type.dtype));
  }
  size_t count = type.args.size() - (type.Is(Type::Kind::kFunction) ? 1 : 0);
  for (size_t i = 0; i < count; ++i) args += (i == 0 ? "" : ", ") + TypeText(*type.args[i]);
  switch (type.kind) {
    case Type::Kind::kTuple:
      return fmt::format("({}{})", args, count == 1 ? "," : "");
    case Type::Kind::kAdt:
      return count == 0 ? type.adt : fmt::format("{}[{}]", type.adt, args);
    case Type::Kind::kFunction:
      return fmt::format("fn ({}) -> {}", args, TypeText(*type.args.back()));
    default:
      return fmt::format("ref({})", args);
  }
}

bool Fits(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.adt != b.adt || a.args.size() != b.args.size()) return false;
  if (a.IsTensor()) {
    if (a.dtype != b.dtype || a.shape.size() != b.shape.size()) return false;
    for (size_t i = 0; i < a.shape.size(); ++i) {
      const Size &x = a.shape[i], &y = b.shape[i];
      if (!y.known()) continue;
      if (!(x == y) || (y.is_static && !x.is_static)) return false;
    }
    return true;
  }
  // Functions and references are neither read nor written as another type.
  bool exact = a.Is(Type::Kind::kFunction) || a.Is(Type::Kind::kRef);
  for (size_t i = 0; i < a.args.size(); ++i) {
    if (!Fits(*a.args[i], *b.args[i]) || (exact && !Fits(*b.args[i], *a.args[i]))) return false;
  }
  return true;
}

TypePtr Join(const TypePtr& a, const TypePtr& b, int* next_unknown) {
  if (a->kind != b->kind || a->adt != b->adt || a->args.size() != b->args.size()) return nullptr;
  Type t = *a;
  if (a->IsTensor()) {
    if (a->dtype != b->dtype || a->shape.size() != b->shape.size()) return nullptr;
    for (size_t i = 0; i < t.shape.size(); ++i) {
      const Size &x = a->shape[i], &y = b->shape[i];
      t.shape[i].is_static = x.is_static && y.is_static;
      if (x == y) continue;
      t.shape[i] = Size{};
      t.shape[i].unknown = (*next_unknown)++;
    }
    t.range = Union(a->range, b->range);
    return Make(std::move(t));
  }
  if (a->Is(Type::Kind::kFunction) || a->Is(Type::Kind::kRef)) return Fits(*a, *b) ? a : nullptr;
  for (size_t i = 0; i < t.args.size(); ++i) {
    t.args[i] = Join(a->args[i], b->args[i], next_unknown);
    if (t.args[i] == nullptr) return nullptr;
  }
  return Make(std::move(t));
}

TypePtr Contract(const TypePtr& type) {
  Type t = *type;
  if (t.IsTensor()) t.range = ContractRange(t.dtype);
  for (TypePtr& arg : t.args) arg = Contract(arg);
  return Make(std::move(t));
}

bool Contains(const Type& type, Type::Kind kind) {
  if (type.kind == kind) return true;
  return std::any_of(type.args.begin(), type.args.end(),
                     [&](const TypePtr& arg) { return Contains(*arg, kind); });
}

}  // namespace relayvm::random_programs

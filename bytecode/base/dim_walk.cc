// Walks over the expression of a Dim: its symbols, substitution, its value.
#include <algorithm>
#include <unordered_set>

#include "bytecode/base/dim.h"
#include "bytecode/base/dim_node.h"

namespace relayvm {
namespace {

// Larger expressions are walked with memory, since they may share their parts.
constexpr size_t kSmallTree = 12;

}  // namespace

using dim_internal::FloorDivInt;
using dim_internal::FloorModInt;

void Dim::ForEachSymbol(const std::function<void(const Dim&)>& fn) const {
  if (is_symbol()) return fn(*this);
  if (node_ == nullptr) return;
  std::vector<uint32_t> seen;
  std::unordered_set<const Node*> visited;
  std::function<void(const Dim&)> walk = [&](const Dim& d) {
    if (d.is_symbol()) {
      if (std::find(seen.begin(), seen.end(), d.symbol_id()) != seen.end()) return;
      seen.push_back(d.symbol_id());
      fn(d);
      return;
    }
    if (d.Size() > kSmallTree && !visited.insert(d.node_.get()).second) return;
    for (const Dim& x : d.operands()) walk(x);
  };
  walk(*this);
}

namespace {

// `d` with what fn makes of each operand, in canonical form.
Dim Rebuilt(const Dim& d, const std::function<Dim(const Dim& operand)>& fn) {
  std::vector<Dim> ops;
  bool changed = false;
  for (const Dim& operand : d.operands()) {
    ops.push_back(fn(operand));
    changed = changed || !(ops.back() == operand);
  }
  if (!changed) return d;
  if (d.kind() == Dim::Kind::kInt32) return Dim::Int32(ops[0]);
  if (d.kind() == Dim::Kind::kFloorDiv) return Dim::FloorDiv(ops[0], ops[1]);
  if (d.kind() == Dim::Kind::kFloorMod) return Dim::FloorMod(ops[0], ops[1]);
  Dim result = ops[0];
  for (size_t i = 1; i < ops.size(); ++i) {
    switch (d.kind()) {
      case Dim::Kind::kAdd:
        result = result + ops[i];
        break;
      case Dim::Kind::kMul:
        result = result * ops[i];
        break;
      case Dim::Kind::kMin:
        result = Dim::Min(result, ops[i]);
        break;
      default:
        result = Dim::Max(result, ops[i]);
        break;
    }
  }
  return result;
}

}  // namespace

Dim Dim::WithoutInt32(std::vector<Dim>* assumed) const {
  auto without = [&](const Dim& operand) { return operand.WithoutInt32(assumed); };
  if (kind() != Kind::kInt32) return Rebuilt(*this, without);
  Dim plain = without(operands()[0]);
  if (assumed != nullptr && !(Int32(plain) == plain)) assumed->push_back(plain);
  return plain;
}

Dim Dim::Substitute(const std::function<std::optional<Dim>(const Dim&)>& fn) const {
  switch (kind()) {
    case Kind::kConst:
    case Kind::kAny:
      return *this;
    case Kind::kSymbol: {
      auto replacement = fn(*this);
      return replacement ? *replacement : *this;
    }
    default:
      return Rebuilt(*this, [&](const Dim& operand) { return operand.Substitute(fn); });
  }
}

std::optional<int64_t> Dim::Evaluate(
    const std::function<std::optional<int64_t>(uint32_t)>& fn) const {
  if (is_const()) return value();
  if (is_any()) return std::nullopt;
  if (is_symbol()) return fn(symbol_id());
  std::optional<int64_t> result;
  for (const Dim& d : operands()) {
    auto v = d.Evaluate(fn);
    if (!v) return std::nullopt;
    if (!result) {
      result = v;
      continue;
    }
    int64_t a = *result;
    int64_t out = 0;
    switch (kind()) {
      case Kind::kAdd:
        if (__builtin_add_overflow(a, *v, &out)) return std::nullopt;
        break;
      case Kind::kMul:
        if (__builtin_mul_overflow(a, *v, &out)) return std::nullopt;
        break;
      case Kind::kFloorDiv:
      case Kind::kFloorMod:
        if (*v == 0 || (a == INT64_MIN && *v == -1)) return std::nullopt;
        out = kind() == Kind::kFloorDiv ? FloorDivInt(a, *v) : FloorModInt(a, *v);
        break;
      case Kind::kMin:
        out = std::min(a, *v);
        break;
      default:
        out = std::max(a, *v);
        break;
    }
    result = out;
  }
  if (kind() == Kind::kInt32) result = static_cast<int32_t>(*result);
  return result;
}

}  // namespace relayvm

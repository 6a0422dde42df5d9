#include "bytecode/size_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bytecode/base/dim.h"

namespace relayvm {
namespace {

using Kind = SizeStep::Kind;

bool IsOperator(Kind kind) { return kind >= Kind::kAdd && kind <= Kind::kMax; }

bool Apply(Kind kind, int64_t a, int64_t b, int64_t* result) {
  switch (kind) {
    case Kind::kAdd:
      return !__builtin_add_overflow(a, b, result);
    case Kind::kSub:
      return !__builtin_sub_overflow(a, b, result);
    case Kind::kMul:
      return !__builtin_mul_overflow(a, b, result);
    case Kind::kFloorDiv:
      if (b == 0 || (a == INT64_MIN && b == -1)) return false;
      *result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
      return true;
    case Kind::kFloorMod:
      if (b == 0) return false;
      *result = b == -1 ? 0 : a % b;
      if (*result != 0 && (*result < 0) != (b < 0)) *result += b;
      return true;
    case Kind::kMin:
      *result = std::min(a, b);
      return true;
    default:
      *result = std::max(a, b);
      return true;
  }
}

Dim Apply(Kind kind, const Dim& a, const Dim& b) {
  switch (kind) {
    case Kind::kAdd:
      return a + b;
    case Kind::kSub:
      return a - b;
    case Kind::kMul:
      return a * b;
    case Kind::kFloorDiv:
      return Dim::FloorDiv(a, b);
    case Kind::kFloorMod:
      return Dim::FloorMod(a, b);
    case Kind::kMin:
      return Dim::Min(a, b);
    default:
      return Dim::Max(a, b);
  }
}

Kind OperatorOf(Dim::Kind kind) {
  switch (kind) {
    case Dim::Kind::kAdd:
      return Kind::kAdd;
    case Dim::Kind::kMul:
      return Kind::kMul;
    case Dim::Kind::kFloorDiv:
      return Kind::kFloorDiv;
    case Dim::Kind::kFloorMod:
      return Kind::kFloorMod;
    case Dim::Kind::kMin:
      return Kind::kMin;
    default:
      return Kind::kMax;
  }
}

// A term with a negative coefficient, as the expression to subtract.
bool IsSubtracted(const Dim& term) {
  const Dim& factor = term.kind() == Dim::Kind::kMul ? term.operands().back() : term;
  return factor.is_const() && factor.value() < 0 && factor.value() != INT64_MIN;
}

void Append(const Dim& dim, const std::function<int64_t(const Dim& symbol)>& scalar_of,
            SizeFormula* to) {
  if (to->size() > kMaxSizeSteps) return;
  if (dim.is_const()) return to->push_back({Kind::kConst, dim.value()});
  if (dim.is_symbol()) return to->push_back({Kind::kScalar, scalar_of(dim)});
  if (dim.kind() == Dim::Kind::kInt32) {  // floormod(x + 2^31, 2^32) - 2^31
    constexpr int64_t kHalf = int64_t{1} << 31;
    Append(dim.operands()[0], scalar_of, to);
    to->insert(to->end(), {{Kind::kConst, kHalf},
                           {Kind::kAdd},
                           {Kind::kConst, 2 * kHalf},
                           {Kind::kFloorMod},
                           {Kind::kConst, kHalf},
                           {Kind::kSub}});
    return;
  }
  const bool sum = dim.kind() == Dim::Kind::kAdd;
  bool first = true;
  // A sum starts with what is added, where there is such a term.
  for (const bool subtracted : {false, true}) {
    for (const Dim& operand : dim.operands()) {
      if (sum ? IsSubtracted(operand) != subtracted : subtracted) continue;
      const bool negate = subtracted && !first;
      Append(negate ? Dim(0) - operand : operand, scalar_of, to);
      if (!first) to->push_back({negate ? Kind::kSub : OperatorOf(dim.kind())});
      first = false;
    }
  }
}

}  // namespace

Status CheckSizeFormula(std::span<const SizeStep> formula, size_t num_scalars, bool shape) {
  if (formula.size() > kMaxSizeSteps)
    return InvalidInput(
        fmt::format("a size of {} steps, the limit is {}", formula.size(), kMaxSizeSteps));
  int depth = 0;
  for (const SizeStep& step : formula) {
    if (step.kind == Kind::kConst || step.kind == Kind::kScalar) {
      const auto scalar = static_cast<uint64_t>(step.value);
      if (step.kind == Kind::kScalar && scalar >= num_scalars)
        return InvalidInput(
            fmt::format("a size of scalar {}, out of range {}", scalar, num_scalars));
      ++depth;
    } else if (IsOperator(step.kind) && depth >= 2) {
      --depth;
    } else if (step.kind == Kind::kDim && shape && depth == 1) {
      depth = 0;
    } else {
      return InvalidInput(
          fmt::format("a size has step {} where it has no meaning", static_cast<int>(step.kind)));
    }
    if (depth > kMaxSizeDepth)
      return InvalidInput(fmt::format("a size nests deeper than {}", kMaxSizeDepth));
  }
  return depth == (shape ? 0 : 1) ? Status() : InvalidInput("a size ends early");
}

// The analyzer does not know that formulas are checked before they are evaluated
// (CheckSizeFormula).
// NOLINTBEGIN(clang-analyzer-core.*)
std::optional<int64_t> EvaluateSize(std::span<const SizeStep> formula, const int64_t* scalars) {
  // No larger than it may get: this may be the deepest that a run goes.
  auto* stack = static_cast<int64_t*>(
      __builtin_alloca(sizeof(int64_t) * std::min<size_t>(formula.size(), kMaxSizeDepth)));
  int64_t elements = 1;
  bool empty = false, fits = true;
  int depth = 0;
  for (const SizeStep& step : formula) {
    switch (step.kind) {
      case Kind::kConst:
        stack[depth++] = step.value;
        break;
      case Kind::kScalar:
        stack[depth++] = scalars[step.value];
        break;
      case Kind::kDim:
        depth = 0;
        if (stack[0] < 0) return std::nullopt;
        empty |= stack[0] == 0;
        fits &= !__builtin_mul_overflow(elements, stack[0], &elements);
        break;
      default:
        --depth;
        if (!Apply(step.kind, stack[depth - 1], stack[depth], &stack[depth - 1]))
          return std::nullopt;
    }
  }
  if (depth > 0) return stack[0];
  if (empty) return 0;
  return fits ? std::optional(elements) : std::nullopt;
}
// NOLINTEND(clang-analyzer-core.*)

std::optional<std::vector<Dim>> EvaluateDims(std::span<const SizeStep> formula,
                                             std::span<const Dim> scalars) {
  constexpr size_t kMaxSize = 64;
  std::vector<Dim> stack, dims;
  for (const SizeStep& step : formula) {
    if (step.kind == Kind::kConst) {
      stack.emplace_back(step.value);
    } else if (step.kind == Kind::kScalar) {
      stack.push_back(scalars[static_cast<size_t>(step.value)]);
    } else if (step.kind == Kind::kDim) {
      dims.push_back(std::move(stack.back()));
      stack.pop_back();
    } else {
      const Dim b = std::move(stack.back());
      stack.pop_back();
      stack.back() = Apply(step.kind, stack.back(), b);
      if (stack.back().Size() > kMaxSize) return std::nullopt;
    }
  }
  return stack.empty() ? dims : stack;
}

std::optional<int64_t> ConstantSize(std::span<const SizeStep> formula) {
  const bool open = std::any_of(formula.begin(), formula.end(),
                                [](const SizeStep& s) { return s.kind == Kind::kScalar; });
  return open ? std::nullopt : EvaluateSize(formula, nullptr);
}

Status AppendSize(const Dim& dim, const std::function<int64_t(const Dim& symbol)>& scalar_of,
                  SizeFormula* to) {
  Append(dim, scalar_of, to);
  int depth = 0;
  int deepest = 0;
  for (const SizeStep& step : *to) {
    depth += IsOperator(step.kind) || step.kind == Kind::kDim ? -1 : 1;
    deepest = std::max(deepest, depth);
  }
  if (to->size() <= kMaxSizeSteps && deepest <= kMaxSizeDepth) return OkStatus();
  return {StatusCode::kUnsupported,
          fmt::format("a size is an expression of more than {} steps, or nests deeper than {}",
                      kMaxSizeSteps, kMaxSizeDepth)};
}

std::string SizeFormulaToString(std::span<const SizeStep> formula) {
  enum Precedence { kSum, kProduct, kPrimary };
  std::vector<std::pair<std::string, Precedence>> stack;
  std::string dims;
  auto at_least = [](const std::pair<std::string, Precedence>& e, Precedence needed) {
    return e.second >= needed ? e.first : "(" + e.first + ")";
  };
  for (const SizeStep& step : formula) {
    if (step.kind == Kind::kConst) {
      stack.emplace_back(fmt::format("{}", step.value), kPrimary);
      continue;
    }
    if (step.kind == Kind::kScalar) {
      stack.emplace_back(fmt::format("s{}", step.value), kPrimary);
      continue;
    }
    if (step.kind == Kind::kDim) {
      dims += (dims.empty() ? "" : ", ") + stack.back().first;
      stack.pop_back();
      continue;
    }
    const auto b = std::move(stack.back());
    stack.pop_back();
    auto& a = stack.back();
    switch (step.kind) {
      case Kind::kAdd:
      case Kind::kSub:
        a = {fmt::format("{} {} {}", a.first, step.kind == Kind::kAdd ? "+" : "-",
                         at_least(b, kProduct)),
             kSum};
        break;
      case Kind::kMul:
        a = {fmt::format("{}*{}", at_least(a, kProduct), at_least(b, kPrimary)), kProduct};
        break;
      default: {
        const char* const names[] = {"floordiv", "floormod", "min", "max"};
        a = {fmt::format("{}({}, {})",
                         names[static_cast<int>(step.kind) - static_cast<int>(Kind::kFloorDiv)],
                         a.first, b.first),
             kPrimary};
      }
    }
  }
  return stack.empty() ? dims : stack.back().first;
}

}  // namespace relayvm

// SizeFormula: a size as arithmetic on the scalars of a kernel call, such as the elements of a
// buffer, s0 x 8, or the units of work, floordiv(s0 + 63, 64). In postfix order:
//
//   floordiv(s0 + 63, 64)   s0 63 + 64 floordiv
//   the shape [s0, 8]       s0 dim 8 dim
//
// Arithmetic is exact: a result outside int64 and a division by zero have no value. Tested by
// size_formula_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/dim.h"
#include "bytecode/base/status.h"

namespace relayvm {

struct SizeStep {
  enum class Kind : uint8_t {
    kConst,   // push `value`
    kScalar,  // push scalar number `value`
    kAdd,     // pop b, pop a, push a + b; the others likewise
    kSub,
    kMul,
    kFloorDiv,
    kFloorMod,
    kMin,
    kMax,
    kDim,  // pop: the next dim of a shape
  };
  Kind kind = Kind::kConst;
  alignas(8) int64_t value = 0;  // of kConst and kScalar

  friend bool operator==(const SizeStep&, const SizeStep&) = default;
};
using SizeFormula = std::vector<SizeStep>;

inline constexpr size_t kMaxSizeSteps = 1024;
inline constexpr int kMaxSizeDepth = 128;  // of the stack

// Whether the steps are the dims of a shape (none: rank 0), or with `shape` false one number; and
// all scalars are below num_scalars. Else a message without a place.
Status CheckSizeFormula(std::span<const SizeStep> formula, size_t num_scalars, bool shape);

// REQUIRES, of all that follows: the formula passed CheckSizeFormula.
// The number; of a shape its elements, without value when a dim is negative.
std::optional<int64_t> EvaluateSize(std::span<const SizeStep> formula, const int64_t* scalars);
// The number, or the dims, where scalars are expressions; nothing when an expression grows large.
std::optional<std::vector<Dim>> EvaluateDims(std::span<const SizeStep> formula,
                                             std::span<const Dim> scalars);
// The same, of a formula without scalars; else nothing.
std::optional<int64_t> ConstantSize(std::span<const SizeStep> formula);

// `scalar_of` gives the number of the scalar that holds a symbol. Fails when the expression is
// beyond the limits.
Status AppendSize(const Dim& dim, const std::function<int64_t(const Dim& symbol)>& scalar_of,
                  SizeFormula* to);

// "floordiv(s0 + 63, 64)"; of a shape "s0, 8".
std::string SizeFormulaToString(std::span<const SizeStep> formula);

}  // namespace relayvm

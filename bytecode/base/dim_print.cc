// Dims as text.
#include <optional>
#include <span>
#include <string>

#include "bytecode/base/dim.h"

namespace relayvm {
namespace {
void Print(const Dim& d, bool in_product, std::string& out);

void PrintList(std::span<const Dim> operands, const char* separator, bool in_product,
               std::string& out) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) out += separator;
    Print(operands[i], in_product, out);
  }
}

// What stands after a minus sign; nullopt when the term is positive.
std::optional<Dim> Negated(const Dim& term) {
  if (term.is_const()) {
    return term.value() < 0 && term.value() != INT64_MIN ? std::optional(Dim(-term.value()))
                                                         : std::nullopt;
  }
  if (term.kind() != Dim::Kind::kMul || !term.operands().back().is_const()) return std::nullopt;
  int64_t c = term.operands().back().value();
  if (c >= 0 || c == INT64_MIN) return std::nullopt;
  return term * Dim(-1);
}

void PrintSum(std::span<const Dim> terms, std::string& out) {
  bool first = true;
  // Positive terms first, so that m - n does not start with a minus sign.
  for (bool negative : {false, true}) {
    for (const Dim& term : terms) {
      auto negated = Negated(term);
      if (negated.has_value() != negative) continue;
      if (negative) {
        out += first ? "-" : " - ";
      } else if (!first) {
        out += " + ";
      }
      first = false;
      Print(negative ? *negated : term, false, out);
    }
  }
}

void Print(const Dim& d, bool in_product, std::string& out) {
  switch (d.kind()) {
    case Dim::Kind::kConst:
      out += std::to_string(d.value());
      return;
    case Dim::Kind::kAny:
      out += "?";
      return;
    case Dim::Kind::kSymbol:
      out += d.symbol_name();
      return;
    case Dim::Kind::kAdd:
      if (in_product) out += "(";
      PrintSum(d.operands(), out);
      if (in_product) out += ")";
      return;
    case Dim::Kind::kMul:
      if (auto negated = Negated(d)) {
        out += "-";
        Print(*negated, in_product, out);
        return;
      }
      PrintList(d.operands(), "*", true, out);
      return;
    case Dim::Kind::kFloorDiv:
      out += "floordiv(";
      break;
    case Dim::Kind::kFloorMod:
      out += "floormod(";
      break;
    case Dim::Kind::kMin:
      out += "min(";
      break;
    case Dim::Kind::kMax:
      out += "max(";
      break;
    case Dim::Kind::kInt32:
      out += "int32(";
      break;
  }
  PrintList(d.operands(), ", ", false, out);
  out += ")";
}
}  // namespace

std::string Dim::ToString() const {
  std::string out;
  Print(*this, false, out);
  return out;
}

std::string ShapeToString(std::span<const Dim> dims) {
  std::string out = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ", ";
    out += dims[i].ToString();
  }
  return out + ")";
}

}  // namespace relayvm

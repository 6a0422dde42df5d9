// ToString: expressions as people write them.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "kernels/te/te.h"

namespace relayvm::te {
namespace {

constexpr std::array<std::string_view, 33> kUnaryNames = {
    "negative", "abs",   "sign",       "not",    "exp",    "softmax_exp", "log",   "log2",  "log10",
    "sqrt",     "rsqrt", "sigmoid",    "tanh",   "erf",    "sin",         "cos",   "tan",   "asin",
    "acos",     "atan",  "sinh",       "cosh",   "asinh",  "acosh",       "atanh", "floor", "ceil",
    "trunc",    "round", "round_even", "is_nan", "is_inf", "is_finite"};
static_assert(static_cast<int>(UnaryOp::kIsFinite) == 32);
// Operators are infix, names are calls.
constexpr std::array<std::string_view, 22> kBinaryNames = {
    "+", "-", "*", "/",  "floordiv", "%",  "floormod", "min", "max", "pow", "atan2",
    "&", "|", "^", "<<", ">>",       "==", "!=",       "<",   "<=",  ">",   ">="};
static_assert(static_cast<int>(BinaryOp::kGreaterEqual) == 21);
constexpr std::array<std::string_view, 8> kReduceNames = {"sum", "prod", "max",    "min",
                                                          "all", "any",  "argmax", "argmin"};

void Print(const ExprNode& e, std::string& out);

void PrintList(const std::vector<Expr>& list, std::string& out) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    Print(*list[i], out);
  }
}

void Print(const ExprNode& e, std::string& out) {
  switch (e.kind) {
    case ExprKind::kIntImm:
      if (e.dtype == DType::kBool) {
        out += e.int_value != 0 ? "true" : "false";
      } else if (e.dtype == DType::kInt64) {
        out += std::to_string(e.int_value);
      } else {
        out += fmt::format("{}({})", DTypeName(e.dtype), e.int_value);
      }
      return;
    case ExprKind::kFloatImm:
      out += e.dtype == DType::kFloat32 ? fmt::format("{}f", e.float_value)
                                        : fmt::format("{}({})", DTypeName(e.dtype), e.float_value);
      return;
    case ExprKind::kAxis:
      out += e.axis->name;
      return;
    case ExprKind::kDim:
      out += e.dim.ToString();
      return;
    case ExprKind::kLoad:
      out += e.tensor->name + "[";
      PrintList(e.operands, out);
      out += "]";
      return;
    case ExprKind::kUnary:
      out += kUnaryNames[static_cast<size_t>(e.unary)];
      break;
    case ExprKind::kBinary: {
      std::string_view name = kBinaryNames[static_cast<size_t>(e.binary)];
      bool is_call = name[0] >= 'a' && name[0] <= 'z';
      if (is_call) {
        out += name;
        break;
      }
      out += "(";
      Print(*e.operands[0], out);
      out += fmt::format(" {} ", name);
      Print(*e.operands[1], out);
      out += ")";
      return;
    }
    case ExprKind::kCast:
      out += DTypeName(e.dtype);
      break;
    case ExprKind::kReinterpret:
      out += fmt::format("reinterpret_{}", DTypeName(e.dtype));
      break;
    case ExprKind::kSelect:
      out += "select";
      break;
    case ExprKind::kReduce:
      out += fmt::format("{}(", kReduceNames[static_cast<size_t>(e.reduce)]);
      Print(*e.operands[0], out);
      for (const Axis& axis : e.axes)
        out += fmt::format(", {} < {}", axis->name, axis->extent.ToString());
      out += ")";
      return;
    case ExprKind::kChecked:
      out += "checked";
      break;
  }
  out += "(";
  PrintList(e.operands, out);
  out += ")";
}

}  // namespace

std::string ToString(const Expr& e) {
  std::string out;
  Print(*e, out);
  return out;
}

std::string ToString(const Tensor& t) {
  std::string out = fmt::format("{}: {}[", t->name, DTypeName(t->dtype));
  for (size_t i = 0; i < t->shape.size(); ++i) out += (i > 0 ? ", " : "") + t->shape[i].ToString();
  out += "]";
  if (t->is_placeholder()) return out;
  out += " = (";
  for (size_t i = 0; i < t->axes.size(); ++i) out += (i > 0 ? ", " : "") + t->axes[i]->name;
  return out + ") => " + ToString(t->body);
}

}  // namespace relayvm::te

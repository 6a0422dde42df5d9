// Steps that compute each element from those at its place.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace relayvm::random_programs {

std::optional<Shape> Generator::Broadcast(const Shape& a, const Shape& b) const {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    const Size &x = longer[i + skip], &y = shorter[i];
    Size& to = out[i + skip];
    if (x == y) {
      to.is_static = x.is_static || y.is_static;
    } else if (x.Is(1)) {
      to = y;
    } else if (!y.Is(1)) {
      if (!x.known() || !y.known()) return std::nullopt;
      for (size_t r = 0; r < kRuns; ++r) {
        if (x.at[r] != y.at[r] && x.at[r] != 1 && y.at[r] != 1) return std::nullopt;
        to.at[r] = x.at[r] == 1 ? y.at[r] : x.at[r];
      }
      // A size that the program says, and that is not 1, is the result's.
      to.is_static = x.is_static || y.is_static;
    }
  }
  if (LargestCount(out) > kLargestTensor) return std::nullopt;
  return out;
}

bool Generator::UnaryStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value&) { return true; });
  if (!v) return false;
  const Type& t = *v->type;
  Range r = t.range;
  DType dtype = t.dtype;
  auto number = [&](double x) { return Number(dtype, x); };
  if (dtype == DType::kBool) {
    return Add(scope, "op.logical_not", fmt::format("logical_not({})", v->text), v->type);
  }
  if (!IsFloat(dtype)) {
    std::vector<std::string> ops = {"negative", "abs", "sign", "bitwise_not", "copy"};
    const std::string& op = OneOf(ops);
    return Add(scope, "op." + op, fmt::format("{}({})", op, v->text), v->type);
  }
  struct Row {
    const char* op;
    const char* text;  // {0}: the operand, {1}: one
    double bound;      // of the result; negative: the operand's
    double slope;
    bool exact, discontinuous;
  };
  static const std::vector<Row> kRows = {
      {"tanh", "tanh({0})", 1, 1, false, false},
      {"sigmoid", "sigmoid({0})", 1, 1, false, false},
      {"exp", "exp(clip({0}, a_min=-8f, a_max=2f))", 7.5, 7.5, false, false},
      {"sqrt", "sqrt(add(abs({0}), {1}))", -1, 1, false, false},
      {"rsqrt", "rsqrt(add(abs({0}), {1}))", 1, 1, false, false},
      {"log", "log(add(abs({0}), {1}))", -1, 1, false, false},
      {"sin", "sin({0})", 1, 1, false, false},
      {"cos", "cos({0})", 1, 1, false, false},
      {"atan", "atan({0})", 1.6, 1, false, false},
      {"erf", "erf({0})", 1, 1.2, false, false},
      {"negative", "negative({0})", -1, 1, true, false},
      {"abs", "abs({0})", -1, 1, true, false},
      {"nn.relu", "nn.relu({0})", -1, 1, true, false},
      {"clip", "clip({0}, a_min=-1f, a_max=2.5f)", 2.5, 1, true, false},
      {"copy", "copy({0})", -1, 1, true, false},
      {"floor", "floor({0})", -2, 1, true, true},
      {"ceil", "ceil({0})", -2, 1, true, true},
      {"round", "round({0})", -2, 1, true, true},
      {"trunc", "trunc({0})", -2, 1, true, true},
      {"sign", "sign({0})", 1, 1, true, true},
      {"square", "multiply({0}, {0})", -3, 0, true, false},
  };
  const Row& row = OneOf(kRows);
  if (row.discontinuous && !r.exact()) return false;
  if (dtype == DType::kFloat16 && !row.exact) return false;
  Range out = r;
  out.err *= row.slope;
  out.bound = row.bound > 0    ? row.bound
              : row.bound < -1 ? r.bound + 1
                               : r.bound + (row.exact ? 0 : 1);
  if (row.discontinuous) out.quantum = 1;
  if (row.bound == 2.5) out.quantum = std::min(out.quantum, 0.5);
  if (row.slope == 0) out = {r.bound * r.bound, 2 * r.bound * r.err, r.quantum * r.quantum};
  std::optional<Range> rounded = Rounded(dtype, out, row.exact);
  if (!rounded) return false;
  Use("elementwise");
  return Add(scope, fmt::format("op.{}", row.op),
             fmt::format(fmt::runtime(row.text), v->text, number(1)),
             TensorType(dtype, t.shape, *rounded));
}

bool Generator::BinaryStep(Scope& scope) {
  std::optional<Value> a = PickTensor(scope, [](const Value&) { return true; });
  if (!a) return false;
  DType dtype = a->type->dtype;
  if (dtype == DType::kBool) return LogicStep(scope);
  Value b{SmallNumber(dtype), TensorType(dtype, {}, {2, 0, 0.25})};
  if (!Chance(20)) {
    std::optional<Value> other = PickTensor(scope, [&](const Value& v) {
      return v.type->dtype == dtype && Broadcast(a->type->shape, v.type->shape);
    });
    if (other) b = *other;
  }
  if (Chance(30)) std::swap(*a, b);
  std::optional<Shape> shape = Broadcast(a->type->shape, b.type->shape);
  if (!shape) return false;
  Range x = a->type->range, y = b.type->range, r;
  std::string text, op;
  auto infix = [&](const char* name, const char* sign) {
    op = name;
    text = Chance(30) ? fmt::format("({} {} {})", a->text, sign, b.text)
                      : fmt::format("{}({}, {})", name, a->text, b.text);
  };
  auto call = [&](const char* name) {
    op = name;
    text = fmt::format("{}({}, {})", name, a->text, b.text);
  };
  bool exact = true;
  r = {x.bound + y.bound, x.err + y.err, std::min(x.quantum, y.quantum)};
  if (IsFloat(dtype)) {
    switch (Below(6)) {
      case 0:
        infix("add", "+");
        break;
      case 1:
        infix("subtract", "-");
        break;
      case 2:
        infix("multiply", "*");
        r = {x.bound * y.bound, x.bound * y.err + y.bound * x.err + x.err * y.err,
             x.quantum * y.quantum};
        break;
      case 3:
        call(Chance(50) ? "maximum" : "minimum");
        r = Union(x, y);
        break;
      case 4:
        if (dtype == DType::kFloat16) return false;
        op = "divide";
        text = fmt::format("divide({}, add(abs({}), {}))", a->text, b.text, Number(dtype, 1));
        r = {x.bound, x.err + x.bound * y.err, 1};
        exact = false;
        break;
      default:
        if (dtype == DType::kFloat16 || y.bound > 2) return false;
        op = "power";
        text = fmt::format("power(add(clip(abs({}), a_min=0f, a_max=1f), {}), {})", a->text,
                           Number(dtype, 1), b.text);
        r = {4, 4 * (x.err + y.err), 1};
        exact = false;
    }
  } else {
    switch (Below(10)) {
      case 0:
      case 1:
        infix("add", "+");
        break;
      case 2:
        infix("subtract", "-");
        break;
      case 3:
        infix("multiply", "*");
        break;
      case 4:
        call(Chance(50) ? "maximum" : "minimum");
        break;
      case 5:
        call(Chance(50) ? "floor_divide" : "floor_mod");
        break;
      case 6:
        call(Chance(50) ? "divide" : "mod");
        break;
      case 7:
        call(Chance(50) ? "bitwise_and" : "bitwise_or");
        break;
      case 8:
        call("bitwise_xor");
        break;
      default:
        op = Chance(50) ? "left_shift" : "right_shift";
        text = fmt::format("{}({}, bitwise_and({}, {}))", op, a->text, b.text, Number(dtype, 7));
    }
  }
  std::optional<Range> rounded = Rounded(dtype, r, exact);
  if (!rounded) return false;
  Use("elementwise");
  return Add(scope, "op." + op, text, TensorType(dtype, *shape, *rounded));
}

bool Generator::CompareStep(Scope& scope) {
  std::optional<Value> a = PickTensor(scope, IsComparable);
  if (!a) return false;
  std::optional<Value> b = PickTensor(scope, [&](const Value& v) {
    return v.type->dtype == a->type->dtype && IsComparable(v) &&
           Broadcast(a->type->shape, v.type->shape);
  });
  if (!b || Chance(20)) b = Value{SmallNumber(a->type->dtype), ScalarType(a->type->dtype)};
  std::vector<std::string> ops = {"less",          "less_equal", "greater",
                                  "greater_equal", "equal",      "not_equal"};
  if (a->type->dtype == DType::kBool) ops = {"equal", "not_equal"};
  const std::string& op = OneOf(ops);
  std::optional<Shape> shape = Broadcast(a->type->shape, b->type->shape);
  if (!shape) return false;
  return Add(scope, "op." + op, fmt::format("{}({}, {})", op, a->text, b->text),
             TensorType(DType::kBool, *shape));
}

bool Generator::LogicStep(Scope& scope) {
  auto is_bool = [](const Value& v) { return v.type->dtype == DType::kBool; };
  std::optional<Value> a = PickTensor(scope, is_bool);
  if (!a) return false;
  std::optional<Value> b = PickTensor(scope, [&](const Value& v) {
    return is_bool(v) && Broadcast(a->type->shape, v.type->shape);
  });
  if (!b) return false;
  std::vector<std::string> ops = {"logical_and", "logical_or", "logical_xor"};
  const std::string& op = OneOf(ops);
  return Add(scope, "op." + op, fmt::format("{}({}, {})", op, a->text, b->text),
             TensorType(DType::kBool, *Broadcast(a->type->shape, b->type->shape)));
}

bool Generator::WhereStep(Scope& scope) {
  std::optional<Value> c =
      PickTensor(scope, [](const Value& v) { return v.type->dtype == DType::kBool; });
  if (!c) return false;
  std::optional<Value> a = PickTensor(
      scope, [&](const Value& v) { return Broadcast(c->type->shape, v.type->shape).has_value(); });
  if (!a) return false;
  std::optional<Value> b = PickTensor(scope, [&](const Value& v) {
    if (v.type->dtype != a->type->dtype) return false;
    std::optional<Shape> both = Broadcast(a->type->shape, v.type->shape);
    return both && Broadcast(c->type->shape, *both);
  });
  if (!b) return false;
  Shape shape = *Broadcast(c->type->shape, *Broadcast(a->type->shape, b->type->shape));
  return Add(scope, "where", fmt::format("where({}, {}, {})", c->text, a->text, b->text),
             TensorType(a->type->dtype, shape, Union(a->type->range, b->type->range)));
}

bool Generator::CastStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value&) { return true; });
  if (!v) return false;
  static const std::vector<DType> kTo = {
      DType::kFloat32, DType::kFloat32, DType::kFloat64, DType::kInt32,   DType::kInt64,
      DType::kBool,    DType::kInt8,    DType::kUInt8,   DType::kFloat16, DType::kInt16,
      DType::kUInt16,  DType::kUInt32,  DType::kUInt64};
  DType from = v->type->dtype, to = OneOf(kTo);
  std::string text = v->text;
  Range r = v->type->range;
  if (!IsFloat(to)) {
    constexpr double kSmall = 127;
    if (IsFloat(from) && (!r.exact() || r.bound > kSmall)) return false;
    if (IsFloat(from) && IsUnsignedInt(to)) text = fmt::format("abs({})", text);
    r = {};
  } else if (!IsFloat(from)) {
    // Of any number: its last bits.
    if (from != DType::kBool) text = fmt::format("bitwise_and({}, {})", text, Number(from, 7));
    r = {7, 0, 1};
  } else if (to == DType::kFloat16 && (!r.exact() || r.bound / r.quantum > 0x1p11)) {
    return false;
  }
  std::optional<Range> rounded = Rounded(to, r, true);
  if (!rounded) return false;
  return Add(scope, "cast", fmt::format("cast({}, dtype=\"{}\")", text, DTypeName(to)),
             TensorType(to, v->type->shape, *rounded));
}

}  // namespace relayvm::random_programs

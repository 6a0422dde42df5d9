// Steps that call operators on tensors.
#include <fmt/format.h>

#include <cmath>

#include "tests/random/generator.h"

namespace relayvm::random_programs {
namespace {

bool IsFloat32Or64(const Value& v) {
  return v.type->dtype == DType::kFloat32 || v.type->dtype == DType::kFloat64;
}
bool IsComparable(const Value& v) { return !IsFloat(v.type->dtype) || v.type->range.exact(); }
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
constexpr int64_t kLargestTensor = 20000;

std::string Ints(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

}  // namespace

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
  return Add(scope, "op." + op, fmt::format("{}({}, {})", op, a->text, b->text),
             TensorType(DType::kBool, *Broadcast(a->type->shape, b->type->shape)));
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
      DType::kBool,    DType::kInt8,    DType::kUInt8,   DType::kFloat16, DType::kInt16};
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

// --- Reductions ---

bool Generator::Reduced(const Type& x, std::string* attrs, Shape* out, int64_t* count,
                        bool* empty) {
  auto rank = static_cast<int>(x.shape.size());
  std::vector<bool> reduced(x.shape.size(), false);
  bool keepdims = Chance(30), exclude = rank > 1 && Chance(15);
  *attrs = "";
  if (Chance(25)) {
    reduced.assign(x.shape.size(), true);
  } else {
    std::vector<int64_t> axes;
    for (int d = 0; d < rank; ++d) {
      if (!Chance(50)) continue;
      reduced[static_cast<size_t>(d)] = true;
      axes.push_back(Chance(20) ? d - rank : d);
    }
    if (axes.empty()) {
      axes = {rank - 1};
      reduced.back() = true;
    }
    *attrs += ", axis=" + Ints(axes);
    if (exclude) {
      reduced.flip();
      *attrs += ", exclude=True";
    }
  }
  if (keepdims) *attrs += ", keepdims=True";
  *count = 1;
  *empty = false;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (!reduced[d]) {
      out->push_back(x.shape[d]);
      continue;
    }
    *count *= x.shape[d].Largest();
    *empty = *empty || x.shape[d].Smallest() == 0;
    if (keepdims) out->push_back(StaticSize(1));
  }
  return true;
}

bool Generator::ReduceStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
  if (!v) return false;
  const Type& t = *v->type;
  std::string attrs;
  Shape shape;
  int64_t count = 1;
  bool empty = false;
  Reduced(t, &attrs, &shape, &count, &empty);
  std::vector<std::string> ops = {"sum", "sum", "max", "min"};
  if (t.dtype == DType::kBool) ops = {"all", "any"};
  if (t.dtype == DType::kFloat32 || t.dtype == DType::kFloat64) ops.push_back("mean");
  if (IsInt(t.dtype)) ops.push_back("prod");
  const std::string& op = OneOf(ops);
  bool defined = !empty || op == "sum" || op == "prod" || op == "all" || op == "any";
  if (!defined) return false;
  Range r = t.range;
  if (op == "sum") {
    r.bound *= static_cast<double>(count);
    r.err *= static_cast<double>(count);
  }
  std::optional<Range> rounded = Rounded(t.dtype, r, op != "mean");
  if (!rounded || (op == "sum" && t.dtype == DType::kFloat16 && !rounded->exact())) return false;
  Use("op." + op);
  return Add(scope, "reduce", fmt::format("{}({}{})", op, v->text, attrs),
             TensorType(t.dtype, shape, *rounded));
}

bool Generator::ArgReduceStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && IsComparable(x) && x.type->dtype != DType::kBool &&
           Smallest(x.type->shape) > 0;
  });
  if (!v) return false;
  auto axis = static_cast<size_t>(Below(static_cast<int>(v->type->shape.size())));
  Shape shape = v->type->shape;
  bool keepdims = Chance(30);
  if (keepdims) {
    shape[axis] = StaticSize(1);
  } else {
    shape.erase(shape.begin() + static_cast<int64_t>(axis));
  }
  const char* op = Chance(50) ? "argmax" : "argmin";
  return Add(
      scope, fmt::format("op.{}", op),
      fmt::format("{}({}, axis=[{}]{}{})", op, v->text, axis, keepdims ? ", keepdims=True" : "",
                  Chance(30) ? ", select_last_index=True" : ""),
      TensorType(DType::kInt32, shape));
}

bool Generator::SoftmaxStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && IsFloat32Or64(x) && Smallest(x.type->shape) > 0;
  });
  if (!v) return false;
  bool log = Chance(30);
  Range r = v->type->range;
  r.err *= 2;
  r.bound = log ? 2 * r.bound + 10 : 1;
  std::optional<Range> rounded = Rounded(v->type->dtype, r);
  if (!rounded) return false;
  int axis = Chance(50) ? -1 : Below(static_cast<int>(v->type->shape.size()));
  return Add(scope, "softmax",
             fmt::format("nn.{}softmax({}, axis={})", log ? "log_" : "", v->text, axis),
             TensorType(v->type->dtype, v->type->shape, *rounded));
}

bool Generator::DenseStep(Scope& scope) {
  bool batch = Chance(30);
  size_t rank = batch ? 3 : 2;
  std::optional<Value> a = PickTensor(scope, [&](const Value& v) {
    return v.type->shape.size() == rank && IsFloat32Or64(v) && AllKnown(v.type->shape);
  });
  if (!a) return false;
  const Shape& x = a->type->shape;
  const Size& k = x.back();
  std::optional<Value> b = PickTensor(scope, [&](const Value& v) {
    const Shape& y = v.type->shape;
    return y.size() == rank && v.type->dtype == a->type->dtype && y.back() == k &&
           y.back().is_static == k.is_static && AllKnown(y) && (!batch || y[0] == x[0]);
  });
  if (!b && !batch && k.is_static) {
    int units = Between(1, 9);
    Shape weight = {StaticSize(units), k};
    std::string_view name = DTypeName(a->type->dtype);
    b = Let(scope,
            fmt::format("full({}, shape=[{}, {}], dtype=\"{}\")", SmallNumber(a->type->dtype),
                        units, k.at[0], name),
            TensorType(a->type->dtype, weight, {2, 0, 0.25}), true);
  }
  if (!b) return false;
  const Shape& y = b->type->shape;
  auto n = static_cast<double>(std::max<int64_t>(k.Largest(), 1));
  Range p = a->type->range, q = b->type->range;
  std::optional<Range> rounded = Rounded(
      a->type->dtype,
      {n * p.bound * q.bound, n * (p.bound * q.err + q.bound * p.err), p.quantum * q.quantum},
      true);
  if (!rounded) return false;
  if (batch) {
    Size first = x[0];
    first.is_static = x[0].is_static || y[0].is_static;
    return Add(scope, "contraction",
               fmt::format("nn.batch_matmul({}, {}, transpose_b=True)", a->text, b->text),
               TensorType(a->type->dtype, {first, x[1], y[1]}, *rounded));
  }
  std::string units = y[0].is_static ? std::to_string(y[0].at[0]) : "None";
  return Add(scope, "contraction",
             fmt::format("nn.dense({}, {}, units={})", a->text, b->text, units),
             TensorType(a->type->dtype, {x[0], y[0]}, *rounded));
}

// --- Shapes ---

bool Generator::ReshapeStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && AllKnown(x.type->shape) && Smallest(x.type->shape) > 0;
  });
  if (!v) return false;
  Shape shape = v->type->shape;
  std::vector<int64_t> codes;
  // Merge neighbours, split numbers; at most one size of the result is left to -1.
  Shape out;
  bool inferred = false;
  bool prefix = true;  // 0 means the size at the same place
  for (size_t d = 0; d < shape.size(); ++d) {
    Size s = shape[d];
    bool merged = false;
    while (d + 1 < shape.size() && Chance(40)) {
      ++d;
      for (size_t r = 0; r < kRuns; ++r) s.at[r] *= shape[d].at[r];
      s.is_static = s.is_static && shape[d].is_static;
      merged = true;
    }
    if (!merged && prefix && Chance(30)) {
      codes.push_back(0);
      out.push_back(s);
      continue;
    }
    prefix = prefix && !merged;
    if (s.is_static && s.at[0] % 2 == 0 && Chance(40)) {
      codes.push_back(2);
      codes.push_back(s.at[0] / 2);
      out.push_back(StaticSize(2));
      out.push_back(StaticSize(s.at[0] / 2));
      prefix = false;
    } else if (s.is_static) {
      codes.push_back(s.at[0]);
      out.push_back(s);
    } else if (!inferred) {
      codes.push_back(-1);
      out.push_back(s);
      inferred = true;
    } else if (!merged && prefix) {
      codes.push_back(0);
      out.push_back(s);
    } else {
      return false;
    }
  }
  return Add(scope, "reshape", fmt::format("reshape({}, newshape={})", v->text, Ints(codes)),
             TensorType(v->type->dtype, out, v->type->range));
}

bool Generator::TransposeStep(Scope& scope) {
  std::optional<Value> v =
      PickTensor(scope, [](const Value& x) { return x.type->shape.size() >= 2; });
  if (!v) return false;
  const Shape& x = v->type->shape;
  std::vector<int64_t> axes;
  for (size_t i = x.size(); i-- > 0;) axes.push_back(static_cast<int64_t>(i));
  std::string text = "None";
  if (Chance(70)) {
    for (size_t i = axes.size(); i-- > 1;)
      std::swap(axes[i], axes[static_cast<size_t>(Below(static_cast<int>(i) + 1))]);
    text = Ints(axes);
  }
  Shape out;
  for (int64_t a : axes) out.push_back(x[static_cast<size_t>(a)]);
  return Add(scope, "transpose", fmt::format("transpose({}, axes={})", v->text, text),
             TensorType(v->type->dtype, out, v->type->range));
}

bool Generator::DimsStep(Scope& scope) {
  std::optional<Value> v =
      PickTensor(scope, [](const Value& x) { return x.type->shape.size() <= 3; });
  if (!v) return false;
  Shape out = v->type->shape;
  auto rank = static_cast<int>(out.size());
  for (int d = 0; d < rank && Chance(50); ++d) {
    if (!out[static_cast<size_t>(d)].Is(1)) continue;
    out.erase(out.begin() + d);
    return Add(scope, "op.squeeze", fmt::format("squeeze({}, axis=[{}])", v->text, d),
               TensorType(v->type->dtype, out, v->type->range));
  }
  int axis = Below(rank + 1);
  out.insert(out.begin() + axis, StaticSize(1));
  return Add(scope, "op.expand_dims",
             fmt::format("expand_dims({}, axis={})", v->text, Chance(30) ? axis - rank - 1 : axis),
             TensorType(v->type->dtype, out, v->type->range));
}

bool Generator::ConcatenateStep(Scope& scope) {
  std::optional<Value> a = PickTensor(
      scope, [](const Value& v) { return !v.type->shape.empty() && AllKnown(v.type->shape); });
  if (!a) return false;
  Shape shape = a->type->shape;
  auto axis = static_cast<size_t>(Below(static_cast<int>(shape.size())));
  bool stack = Chance(25);
  Range range = a->type->range;
  std::string text = a->text;
  int count = Between(1, 3);
  for (int i = 1; i < count; ++i) {
    std::optional<Value> b = PickTensor(scope, [&](const Value& v) {
      if (v.type->dtype != a->type->dtype || v.type->shape.size() != shape.size()) return false;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (!v.type->shape[d].known()) return false;
        if ((d != axis || stack) && !(v.type->shape[d] == shape[d])) return false;
      }
      return true;
    });
    if (!b) return false;
    text += ", " + b->text;
    range = Union(range, b->type->range);
    for (size_t d = 0; d < shape.size(); ++d) {
      const Size& s = b->type->shape[d];
      if (d != axis || stack) {
        shape[d].is_static = shape[d].is_static || s.is_static;
        continue;
      }
      for (size_t r = 0; r < kRuns; ++r) shape[d].at[r] += s.at[r];
      shape[d].is_static = shape[d].is_static && s.is_static;
    }
  }
  if (count == 1) text += ",";
  if (stack) shape.insert(shape.begin() + static_cast<int64_t>(axis), StaticSize(count));
  if (LargestCount(shape) > kLargestTensor) return false;
  return Add(scope, stack ? "op.stack" : "concatenate",
             fmt::format("{}(({}), axis={})", stack ? "stack" : "concatenate", text, axis),
             TensorType(a->type->dtype, shape, range));
}

bool Generator::SplitStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
  if (!v) return false;
  Shape shape = v->type->shape;
  auto axis = static_cast<size_t>(Below(static_cast<int>(shape.size())));
  const Size s = shape[axis];
  if (!s.is_static || s.at[0] < 2) return false;
  std::vector<int64_t> ends;
  std::string how;
  if (s.at[0] % 2 == 0 && Chance(60)) {
    how = "2";
    ends = {s.at[0] / 2, s.at[0]};
  } else {
    int64_t cut = Between(1, static_cast<int>(s.at[0]) - 1);
    how = Ints({cut});
    ends = {cut, s.at[0]};
  }
  std::vector<TypePtr> fields;
  int64_t begin = 0;
  for (int64_t end : ends) {
    shape[axis] = StaticSize(end - begin);
    begin = end;
    fields.push_back(TensorType(v->type->dtype, shape, v->type->range));
  }
  Use("split");
  Value tuple =
      Let(scope, fmt::format("split({}, indices_or_sections={}, axis={})", v->text, how, axis),
          TupleType(fields), true);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (Chance(70)) Let(scope, fmt::format("{}.{}", tuple.text, i), fields[i], true);
  }
  return true;
}

bool Generator::TakeStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && Smallest(x.type->shape) > 0 && AllKnown(x.type->shape);
  });
  std::optional<Value> index = PickTensor(scope, [](const Value& x) {
    return (x.type->dtype == DType::kInt32 || x.type->dtype == DType::kInt64) &&
           x.type->shape.size() <= 1;
  });
  if (!v || !index) return false;
  const Shape& x = v->type->shape;
  auto axis = static_cast<size_t>(Below(static_cast<int>(x.size())));
  Shape out(x.begin(), x.begin() + static_cast<int64_t>(axis));
  out.insert(out.end(), index->type->shape.begin(), index->type->shape.end());
  out.insert(out.end(), x.begin() + static_cast<int64_t>(axis) + 1, x.end());
  if (LargestCount(out) > kLargestTensor || out.size() > 4) return false;
  return Add(scope, "take",
             fmt::format("take({}, {}, axis={}, mode=\"{}\")", v->text, index->text, axis,
                         Chance(50) ? "clip" : "wrap"),
             TensorType(v->type->dtype, out, v->type->range));
}

bool Generator::SliceStep(Scope& scope) {
  std::optional<Value> v = PickTensor(
      scope, [](const Value& x) { return !x.type->shape.empty() && AllKnown(x.type->shape); });
  if (!v) return false;
  Shape out = v->type->shape;
  std::vector<int64_t> begins, ends, strides, axes;
  for (size_t d = 0; d < out.size(); ++d) {
    if (!Chance(60)) continue;
    int64_t begin = Between(-3, 3), end = Chance(30) ? INT32_MAX : Between(-2, 6),
            stride = Between(1, 2);
    if (Chance(20)) {
      stride = -Between(1, 2);
      begin = Between(-2, 5);
      end = Chance(50) ? -INT32_MAX : Between(0, 2);
    }
    for (int64_t& n : out[d].at) {
      int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? n : n - 1;
      int64_t b = std::clamp(begin < 0 ? begin + n : begin, low, std::max(low, high));
      int64_t e = std::clamp(end < 0 ? end + n : end, low, std::max(low, high));
      int64_t span = stride > 0 ? e - b : b - e;
      n = span <= 0 ? 0 : (span + std::abs(stride) - 1) / std::abs(stride);
    }
    // The compiler may know that it is always one number; types here must not be wider than its.
    const auto& at = out[d].at;
    if (!out[d].is_static &&
        std::all_of(at.begin(), at.end(), [&](int64_t n) { return n == at[0]; })) {
      return false;
    }
    begins.push_back(begin);
    ends.push_back(end);
    strides.push_back(stride);
    axes.push_back(static_cast<int64_t>(d));
  }
  if (axes.empty()) return false;
  return Add(scope, "strided_slice",
             fmt::format("strided_slice({}, begin={}, end={}, strides={}, axes={})", v->text,
                         Ints(begins), Ints(ends), Ints(strides), Ints(axes)),
             TensorType(v->type->dtype, out, v->type->range));
}

bool Generator::RepeatStep(Scope& scope) {
  std::optional<Value> v = PickTensor(
      scope, [](const Value& x) { return !x.type->shape.empty() && AllKnown(x.type->shape); });
  if (!v) return false;
  Shape out = v->type->shape;
  auto axis = static_cast<size_t>(Below(static_cast<int>(out.size())));
  int kind = Below(3), times = Between(1, 3);
  if (kind != 0) {
    for (int64_t& n : out[axis].at) n *= times;
  }
  if (LargestCount(out) > kLargestTensor) return false;
  TypePtr type = TensorType(v->type->dtype, out, v->type->range);
  if (kind == 0) {
    return Add(scope, "op.reverse", fmt::format("reverse({}, axis={})", v->text, axis), type);
  }
  if (kind == 1) {
    return Add(scope, "op.repeat",
               fmt::format("repeat({}, repeats={}, axis={})", v->text, times, axis), type);
  }
  std::vector<int64_t> reps(out.size(), 1);
  reps[axis] = times;
  return Add(scope, "op.tile", fmt::format("tile({}, reps={})", v->text, Ints(reps)), type);
}

bool Generator::CreateStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value&) { return true; });
  if (!v) return false;
  DType dtype = v->type->dtype;
  Range range = IsFloat(dtype) ? Range{2, 0, 0.25} : Range{};
  switch (Below(4)) {
    case 0:
      return Add(scope, "op.zeros_like", fmt::format("zeros_like({})", v->text),
                 TensorType(dtype, v->type->shape, range));
    case 1:
      return Add(scope, "op.full_like",
                 fmt::format("full_like({}, {})", v->text, SmallNumber(dtype)),
                 TensorType(dtype, v->type->shape, range));
    case 2: {
      int n = Between(1, 4), m = Between(1, 5);
      return Add(scope, "op.ones",
                 fmt::format("ones(shape=[{}, {}], dtype=\"{}\")", n, m, DTypeName(dtype)),
                 TensorType(dtype, {StaticSize(n), StaticSize(m)}, range));
    }
    default: {
      std::optional<Value> index = PickTensor(
          scope, [](const Value& x) { return IsInt(x.type->dtype) && x.type->shape.size() <= 2; });
      if (!index) return false;
      Shape out = index->type->shape;
      out.push_back(StaticSize(4));
      return Add(
          scope, "op.one_hot",
          fmt::format("one_hot({}, 1f, 0f, depth=4, axis=-1, dtype=\"float32\")", index->text),
          TensorType(DType::kFloat32, out, {1, 0, 1}));
    }
  }
}

bool Generator::ScanStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && x.type->dtype != DType::kBool &&
           x.type->dtype != DType::kFloat16;
  });
  if (!v) return false;
  auto axis = static_cast<size_t>(Below(static_cast<int>(v->type->shape.size())));
  auto n = static_cast<double>(v->type->shape[axis].Largest());
  Range r = v->type->range;
  std::optional<Range> rounded = Rounded(v->type->dtype, {r.bound * n, r.err * n, r.quantum}, true);
  if (!rounded) return false;
  return Add(scope, "op.cumsum",
             fmt::format("cumsum({}, axis={}, dtype=\"{}\", exclusive={})", v->text, axis,
                         DTypeName(v->type->dtype), Chance(30) ? "True" : "False"),
             TensorType(v->type->dtype, v->type->shape, *rounded));
}

bool Generator::ShapeStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
  if (!v) return false;
  auto rank = static_cast<int>(v->type->shape.size());
  Use("shape_of");
  std::string shape = fmt::format("shape_of({}, dtype=\"int64\")", v->text);
  switch (Below(4)) {
    case 0:
      return Add(scope, "op.shape_of", shape, TensorType(DType::kInt64, {StaticSize(rank)}));
    case 1:
      return Add(scope, "op.shape_of", fmt::format("take({}, {}i64, axis=0)", shape, Below(rank)),
                 ScalarType(DType::kInt64));
    case 2:
      return Add(scope, "op.ndarray_size",
                 fmt::format("ndarray_size({}, dtype=\"int32\")", v->text),
                 ScalarType(DType::kInt32));
    default: {
      // All in one row, by arithmetic on the shape.
      if (!AllKnown(v->type->shape)) return false;
      Size s = StaticSize(1);
      for (const Size& d : v->type->shape) {
        for (size_t r = 0; r < kRuns; ++r) s.at[r] *= d.at[r];
      }
      s.is_static = false;
      if (s.Smallest() == 0) return false;  // 0 would say: as the operand's
      return Add(scope, "op.dyn.reshape",
                 fmt::format("dyn.reshape({}, prod({}, axis=[0], keepdims=True), newshape=[])",
                             v->text, shape),
                 TensorType(v->type->dtype, {s}, v->type->range));
    }
  }
}

bool Generator::SortStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && IsComparable(x) && x.type->dtype != DType::kBool &&
           x.type->dtype != DType::kFloat16;
  });
  if (!v) return false;
  Shape shape = v->type->shape;
  int axis = Below(static_cast<int>(shape.size()));
  const char* ascending = Chance(50) ? "True" : "False";
  Use("sort");
  if (Chance(50)) {
    return Add(scope, "op.sort",
               fmt::format("sort({}, axis={}, is_ascend={})", v->text, axis, ascending), v->type);
  }
  Size& s = shape[static_cast<size_t>(axis)];
  if (s.Smallest() < 1) return false;
  s = StaticSize(1);
  return Add(scope, "op.topk",
             fmt::format("topk({}, k=1, axis={}, ret_type=\"values\", is_ascend={})", v->text, axis,
                         ascending),
             TensorType(v->type->dtype, shape, v->type->range));
}

bool Generator::DataShapeStep(Scope& scope) {
  std::optional<Value> v =
      PickTensor(scope, [](const Value& x) { return !x.type->shape.empty() && IsComparable(x); });
  if (!v) return false;
  Size found;
  found.unknown = next_unknown_++;
  return Add(
      scope, "data_dependent", fmt::format("argwhere({})", v->text),
      TensorType(DType::kInt32, {found, StaticSize(static_cast<int64_t>(v->type->shape.size()))}));
}

}  // namespace relayvm::random_programs

// Numbers of the program: Python's arithmetic on ints, floats and bools, known or not, and what is
// asked of tensors that gives numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "compiler/import/composite/loops.h"
#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

namespace {

int64_t Wrapped(std::string_view op, int64_t x, int64_t y) {
  const auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  return static_cast<int64_t>(op == "add" ? a + b : op == "sub" ? a - b : a * b);
}

int64_t FloorDivided(int64_t x, int64_t y) {
  if (y == -1) return static_cast<int64_t>(-static_cast<uint64_t>(x));
  return x / y - ((x % y != 0) && ((x % y < 0) != (y < 0)) ? 1 : 0);
}

double FloorMod(double x, double y) {
  const double m = std::fmod(x, y);
  return m != 0 && ((m < 0) != (y < 0)) ? m + y : m;
}

using DoubleFn = double (*)(double);
const std::map<std::string_view, DoubleFn>& FloatFunctions() {
  static const std::map<std::string_view, DoubleFn> kAll = {
      {"sqrt", std::sqrt},
      {"exp", std::exp},
      {"log", std::log},
      {"log2", std::log2},
      {"log10", std::log10},
      {"log1p", std::log1p},
      {"expm1", std::expm1},
      {"sin", std::sin},
      {"cos", std::cos},
      {"tan", std::tan},
      {"asin", std::asin},
      {"acos", std::acos},
      {"atan", std::atan},
      {"sinh", std::sinh},
      {"cosh", std::cosh},
      {"tanh", std::tanh},
      {"asinh", std::asinh},
      {"acosh", std::acosh},
      {"atanh", std::atanh},
      {"fabs", std::fabs},
      {"erf", std::erf},
      {"erfc", std::erfc},
      {"gamma", std::tgamma},
      {"lgamma", std::lgamma},
      {"degrees", [](double x) { return x * (180.0 / 3.14159265358979323846); }},
      {"radians", [](double x) { return x * (3.14159265358979323846 / 180.0); }},
  };
  return kAll;
}

}  // namespace

Item Evaluator::Number(const Value& v) {
  if (TakeError()) return Item::Unknown();
  return ScalarArgument(b_, v);
}

Value Evaluator::ScalarOf(const Item& item, DType dtype) {
  if (item.is_tensor()) return b_.Cast(b_.Reshape(ReadTensor(item), {}), dtype);
  if (item.is_number()) return ScalarValue(b_, item.plain, dtype);
  if (item.is(Item::Kind::kEither)) {
    TypedBuilder::State value;
    shapes_.Flatten(shapes_.AllValues(item), item, &value);
    if (value.size() == 1 && value[0].is_tensor()) return b_.Cast(value[0], dtype);
  }
  Fail("expected a number");
  return b_.Scalar(0, dtype);
}

Item Evaluator::NumberAs(const Item& item, ScriptType::Kind kind) {
  using K = ScriptType::Kind;
  if (item.is(Item::Kind::kUnknown)) return item;
  if (item.is(Item::Kind::kEither)) {
    return Fork(
        item.condition, [&] { return NumberAs(item.items[0], kind); },
        [&] { return NumberAs(item.items[1], kind); });
  }
  if (item.is_text() && !item.is_string()) {
    const Value text = TextValue(item);
    if (!text) return Item::Unknown();
    if (kind == K::kBool)
      return CallOperator("aten::ne", {"", {item, Item::String("")}, {}, nullptr});
    const DType dtype = kind == K::kInt ? DType::kInt64 : DType::kFloat64;
    return Number(b_.Op("string.to_number", {text}, {{"dtype", std::string(DTypeName(dtype))}}));
  }
  if (item.is_string()) {
    if (kind == K::kBool) return Item::Bool(!item.plain.text.empty());
    try {
      return kind == K::kInt ? Item::Int(std::stoll(item.plain.text))
                             : Item::Float(std::stod(item.plain.text));
    } catch (const std::exception&) {
      return Raise(fmt::format("could not convert string to number: '{}'", item.plain.text));
    }
  }
  if (item.is_known_number()) {
    const Argument& a = item.plain;
    if (kind == K::kBool) return Item::Bool(a.number() != 0);
    if (kind == K::kFloat) return Item::Float(a.number());
    if (!a.is(Argument::Kind::kFloat)) return Item::Int(a.integer);
    if (!(a.real > -0x1p63 && a.real < 0x1p63)) return Raise("cannot convert float to int");
    return Item::Int(static_cast<int64_t>(a.real));
  }
  if (!item.is_tensor() && !item.is_number()) {
    if (item.is(Item::Kind::kList) && kind == K::kBool)
      return CallOperator("aten::gt", {"", {LengthOf(item), Item::Int(0)}, {}, nullptr});
    return Fail("expected a number");
  }
  const Value v = item.is_tensor() ? ReadTensor(item) : item.plain.value;
  if (item.is_tensor()) {
    if (item.plain.complex) return Unsupported("a number of a complex tensor");
    for (const Dim& d : v.shape()) {
      if (d.is_const() && d.value() != 1)
        return Raise("a Tensor with more than one element cannot be converted to a number");
    }
  }
  const Value scalar = b_.Reshape(v, {});
  if (kind == K::kBool) return Number(b_.Cast(scalar, DType::kBool));
  return Number(b_.Cast(scalar, kind == K::kInt ? DType::kInt64 : DType::kFloat64));
}

// --- Two numbers ---

Item Evaluator::ComplexArithmetic(std::string_view op, const Item& x, const Item& y) {
  const auto complex = [](const Argument& a) {
    return a.is(Argument::Kind::kComplex) ? std::complex<double>(a.real, a.imaginary)
                                          : std::complex<double>(a.number(), 0);
  };
  if ((!x.is_known_number() && !x.plain_is(Argument::Kind::kComplex)) ||
      (!y.is_known_number() && !y.plain_is(Argument::Kind::kComplex)))
    return Unsupported("arithmetic on a complex number that only running tells");
  const auto p = complex(x.plain), q = complex(y.plain);
  const auto r = op == "add"   ? p + q
                 : op == "sub" ? p - q
                 : op == "mul" ? p * q
                 : op == "div" ? p / q
                               : std::pow(p, q);
  return Argument::Complex(r.real(), r.imag());
}

Item Evaluator::KnownArithmetic(std::string_view op, const Item& x, const Item& y) {
  const Argument &p = x.plain, &q = y.plain;
  const bool floats = p.is_float() || q.is_float();
  if (op == "div" || op == "truediv") {
    if (q.number() == 0) return Raise("ZeroDivisionError: division by zero");
    return Item::Float(p.number() / q.number());
  }
  if (op == "pow") {
    if (floats || q.number() < 0) return Item::Float(std::pow(p.number(), q.number()));
    return Item::Float(std::pow(p.number(), q.number()));
  }
  if (op == "floordiv" || op == "floor_divide" || op == "remainder" || op == "fmod" ||
      op == "mathremainder") {
    if (q.number() == 0 && !(floats && op == "fmod"))
      return Raise("ZeroDivisionError: integer division or modulo by zero");
    if (op == "fmod") return Item::Float(std::fmod(p.number(), q.number()));
    if (op == "mathremainder") return Item::Float(std::remainder(p.number(), q.number()));
    const bool division = op != "remainder";
    if (floats)
      return Item::Float(division ? std::floor(p.number() / q.number())
                                  : FloorMod(p.number(), q.number()));
    const int64_t quotient = FloorDivided(p.integer, q.integer);
    return Item::Int(division ? quotient
                              : Wrapped("sub", p.integer, Wrapped("mul", quotient, q.integer)));
  }
  if (op == "atan2") return Item::Float(std::atan2(p.number(), q.number()));
  if (op == "copysign") return Item::Float(std::copysign(p.number(), q.number()));
  if (floats) {
    const double a = p.number(), b = q.number();
    return Item::Float(op == "add" ? a + b : op == "sub" ? a - b : a * b);
  }
  return Item::Int(Wrapped(op, p.integer, q.integer));
}

std::optional<Item> Evaluator::Arithmetic(Args& a) {
  if (a.size() < 2) return std::nullopt;
  const std::string_view op = OwnScriptName(a.name);
  const Item &x = a[0], &y = a[1];
  if (op == "add" && (x.is_text() || x.is(Item::Kind::kList))) return AddLists(a);
  if (op == "mul" && (x.is(Item::Kind::kList) || y.is(Item::Kind::kList))) return AddLists(a);
  if (!x.is_number() || !y.is_number()) return std::nullopt;
  // alpha= of add and sub.
  Item second = y;
  if (a.size() > 2 && (op == "add" || op == "sub"))
    second = CallOperator("aten::mul", {"", {y, a[2]}, {}, nullptr});
  if (x.plain_is(Argument::Kind::kComplex) || second.plain_is(Argument::Kind::kComplex))
    return ComplexArithmetic(op, x, second);
  if (x.is_known_number() && second.is_known_number()) return KnownArithmetic(op, x, second);
  static const std::map<std::string_view, std::string_view> kRelay = {
      {"add", "add"},
      {"sub", "subtract"},
      {"mul", "multiply"},
      {"div", "divide"},
      {"truediv", "divide"},
      {"floordiv", "floor_divide"},
      {"floor_divide", "floor_divide"},
      {"remainder", "floor_mod"},
      {"fmod", "mod"},
      {"pow", "power"}};
  const auto relay = kRelay.find(op);
  if (relay == kRelay.end()) return Unsupported("{} of numbers that only running tells", a.name);
  const bool floats = op == "div" || op == "truediv" || op == "pow" || op == "fmod" ||
                      x.plain.is_float() || second.plain.is_float();
  const DType dtype = floats ? DType::kFloat64 : DType::kInt64;
  if (!floats && (op == "floordiv" || op == "remainder" || op == "floor_divide") &&
      second.is_known_number() && second.plain.integer == 0)
    return Raise("ZeroDivisionError: integer division or modulo by zero");
  return Number(b_.Op(relay->second, {ScalarOf(x, dtype), ScalarOf(second, dtype)}));
}

std::optional<Item> Evaluator::Bitwise(Args& a) {
  if (a.size() != 2 || !a[0].is_number() || !a[1].is_number()) return std::nullopt;
  const std::string_view op = OwnScriptName(a.name);
  const bool bools = a[0].plain.is_bool() && a[1].plain.is_bool();
  const bool is_and = op == "__and__", is_or = op == "__or__";
  if (a[0].is_known_int() && a[1].is_known_int()) {
    const int64_t x = a[0].plain.integer, y = a[1].plain.integer;
    constexpr int64_t kBits = 64;
    if ((op == "__lshift__" || op == "__rshift__") && (y < 0 || y >= kBits))
      return Raise("a shift of less than 0 or more than 63 bits");
    const int64_t r = is_and               ? (x & y)
                      : is_or              ? (x | y)
                      : op == "__xor__"    ? (x ^ y)
                      : op == "__lshift__" ? static_cast<int64_t>(static_cast<uint64_t>(x) << y)
                                           : (x >> y);
    return bools ? Item::Bool(r != 0) : Item::Int(r);
  }
  // False and ..., True or ...: known by one of them.
  for (size_t i = 0; bools && i < 2; ++i) {
    if (!a[i].is_known_int()) continue;
    const bool v = a[i].plain.integer != 0;
    if (is_and) return v ? a[1 - i] : Item::Bool(false);
    if (is_or) return v ? Item::Bool(true) : a[1 - i];
  }
  if (bools) {
    const Value x = ScalarOf(a[0], DType::kBool), y = ScalarOf(a[1], DType::kBool);
    const Value both = b_.Op(is_and ? "logical_and" : is_or ? "logical_or" : "logical_xor", {x, y});
    for (const Value& one : {x, y}) {
      if (is_and || is_or) Implies(both, is_and, one, is_and);
    }
    return Number(both);
  }
  const Value x = ScalarOf(a[0], DType::kInt64), y = ScalarOf(a[1], DType::kInt64);
  return Number(b_.Op(is_and               ? "bitwise_and"
                      : is_or              ? "bitwise_or"
                      : op == "__xor__"    ? "bitwise_xor"
                      : op == "__lshift__" ? "left_shift"
                                           : "right_shift",
                      {x, y}));
}

std::optional<Item> Evaluator::Compare(Args& a) {
  if (a.size() != 2) return std::nullopt;
  const std::string_view op = OwnScriptName(a.name);
  const Item &x = a[0], &y = a[1];
  if (x.is_tensor() || y.is_tensor()) return std::nullopt;
  const bool equality = op == "eq" || op == "ne";
  if (x.is_number() && y.is_number() && !x.plain_is(Argument::Kind::kComplex) &&
      !y.plain_is(Argument::Kind::kComplex)) {
    if (x.is_known_number() && y.is_known_number()) {
      // Large ints are no doubles.
      const bool ints = x.is_known_int() && y.is_known_int();
      const auto compare = [&](auto p, auto q) {
        return op == "eq"   ? p == q
               : op == "ne" ? p != q
               : op == "lt" ? p < q
               : op == "le" ? p <= q
               : op == "gt" ? p > q
                            : p >= q;
      };
      return Item::Bool(ints ? compare(x.plain.integer, y.plain.integer)
                             : compare(x.plain.number(), y.plain.number()));
    }
    const bool floats = x.plain.is_float() || y.plain.is_float();
    const Value p = ScalarOf(x, floats ? DType::kFloat64 : DType::kInt64),
                q = ScalarOf(y, floats ? DType::kFloat64 : DType::kInt64);
    if (!floats) {
      // The same size on both sides; sizes are not negative.
      const auto s = b_.Elements(p), t = b_.Elements(q);
      if (s && t && s->size() == 1 && t->size() == 1 && (*s)[0] == (*t)[0])
        return Item::Bool(op == "eq" || op == "le" || op == "ge");
    }
    static const std::map<std::string_view, std::string_view> kRelay = {
        {"eq", "equal"},      {"ne", "not_equal"}, {"lt", "less"},
        {"le", "less_equal"}, {"gt", "greater"},   {"ge", "greater_equal"}};
    return Number(b_.Op(kRelay.at(op), {p, q}));
  }
  if (x.is_string() && y.is_string()) {
    const int order = x.plain.text.compare(y.plain.text);
    return Item::Bool(op == "eq"   ? order == 0
                      : op == "ne" ? order != 0
                      : op == "lt" ? order < 0
                      : op == "le" ? order <= 0
                      : op == "gt" ? order > 0
                                   : order >= 0);
  }
  if (equality) {
    const Item same = EqualItems(x, y);
    if (op == "eq" || same.is(Item::Kind::kUnknown)) return same;
    return CallOperator("aten::__not__", {"", {same}, {}, nullptr});
  }
  if (x.is(Item::Kind::kList) && y.is(Item::Kind::kList)) {
    const std::vector<Item>*p = KnownItems(x), *q = KnownItems(y);
    if (p != nullptr && q != nullptr) {
      for (size_t i = 0; i < std::min(p->size(), q->size()); ++i) {
        const Item same = EqualItems((*p)[i], (*q)[i]);
        if (!same.is_known_number())
          return Unsupported("an order of lists that only running tells");
        if (same.plain.integer == 0)
          return CallOperator(std::string(a.name), {"", {(*p)[i], (*q)[i]}, {}, nullptr});
      }
      return CallOperator(std::string(a.name), {"",
                                                {Item::Int(static_cast<int64_t>(p->size())),
                                                 Item::Int(static_cast<int64_t>(q->size()))},
                                                {},
                                                nullptr});
    }
  }
  return std::nullopt;
}

// Of numbers, strings, lists, objects: a bool, known or not.
Item Evaluator::EqualItems(const Item& x, const Item& y) {
  if (Shapes::AreSame(x, y)) return Item::Bool(true);
  if (x.is_text() && y.is_text() && !(x.is_string() && y.is_string())) return EqualTexts(x, y);
  if (x.is(Item::Kind::kDict) && y.is(Item::Kind::kDict))
    return Unsupported("a comparison of dictionaries");
  if (x.is_number() && y.is_number()) {
    if (x.plain_is(Argument::Kind::kComplex) || y.plain_is(Argument::Kind::kComplex))
      return Item::Bool(false);
    return CallOperator("aten::eq", {"", {x, y}, {}, nullptr});
  }
  if (x.is_tensor() && y.is_tensor())
    return NumberAs(
        CallOperator("aten::all",
                     {"", {CallOperator("aten::eq", {"", {x, y}, {}, nullptr})}, {}, nullptr}),
        ScriptType::Kind::kBool);
  const bool lists = x.is(Item::Kind::kList) && y.is(Item::Kind::kList),
             tuples = x.is(Item::Kind::kTuple) && y.is(Item::Kind::kTuple);
  if (x.is(Item::Kind::kObject) && y.is(Item::Kind::kObject) && x.type == y.type) {
    // Members of an enumeration.
    const auto &p = x.cell->content().attributes, &q = y.cell->content().attributes;
    if (p.size() == 2 && p.contains("value") && p.contains("name") && q.contains("value"))
      return EqualItems(p.find("value")->second, q.find("value")->second);
  }
  if (!lists && !tuples) {
    if (x.plain_is(Argument::Kind::kDevice) && y.plain_is(Argument::Kind::kDevice))
      return Item::Bool(true);
    return Item::Bool(false);
  }
  const std::vector<Item>*known_x = lists ? KnownItems(x) : &x.items,
        *known_y = lists ? KnownItems(y) : &y.items;
  if (known_x == nullptr || known_y == nullptr)
    return Unsupported("a comparison of lists whose length only running tells");
  const std::vector<Item> p = *known_x, q = *known_y;
  if (p.size() != q.size()) return Item::Bool(false);
  Item all = Item::Bool(true);
  for (size_t i = 0; i < p.size(); ++i)
    all = CallOperator("aten::__and__", {"", {all, EqualItems(p[i], q[i])}, {}, nullptr});
  return all;
}

// --- One number ---

std::optional<Item> Evaluator::Unary(Args& a) {
  if (a.size() < 1 || !a[0].is_number()) return std::nullopt;
  const std::string_view op = OwnScriptName(a.name);
  const Item& x = a[0];
  if (x.plain_is(Argument::Kind::kComplex)) {
    if (op == "abs") return Item::Float(std::hypot(x.plain.real, x.plain.imaginary));
    if (op == "neg") return Argument::Complex(-x.plain.real, -x.plain.imaginary);
    return std::nullopt;
  }
  const bool to_int = op == "floor" || op == "ceil" || op == "trunc";
  if (const auto function = FloatFunctions().find(op); function != FloatFunctions().end()) {
    // log(x, base).
    if (x.is_known_number()) {
      const double value = function->second(x.plain.number());
      if (op == "log" && a.size() == 2 && a[1].is_known_number())
        return Item::Float(value / std::log(a[1].plain.number()));
      if (std::isnan(value) && !std::isnan(x.plain.number()))
        return Raise("ValueError: math domain error");
      return Item::Float(value);
    }
    if (op == "degrees" || op == "radians")
      return CallOperator("aten::mul", {"", {x, Item::Float(function->second(1))}, {}, nullptr});
    if (OpTable::Get().Find(op == "fabs" ? "abs" : op) == nullptr)
      return Unsupported("{} of a number that only running tells", a.name);
    const Item value = Number(b_.Op(op == "fabs" ? "abs" : op, {ScalarOf(x, DType::kFloat64)}));
    if (op == "log" && a.size() == 2)
      return CallOperator(
          "aten::div",
          {"", {value, CallOperator("aten::log", {"", {a[1]}, {}, nullptr})}, {}, nullptr});
    return value;
  }
  if (x.is_known_number()) {
    const double v = x.plain.number();
    if (op == "isnan") return Item::Bool(std::isnan(v));
    if (op == "isinf") return Item::Bool(std::isinf(v));
    if (op == "isfinite") return Item::Bool(std::isfinite(v));
    if (to_int)
      return x.plain.is_float() ? NumberAs(Item::Float(op == "floor"  ? std::floor(v)
                                                       : op == "ceil" ? std::ceil(v)
                                                                      : std::trunc(v)),
                                           ScriptType::Kind::kInt)
                                : x;
    if (op == "round") {
      const double scale =
          a.size() > 1 && a[1].is_known_number() ? std::pow(10, a[1].plain.number()) : 1;
      return Item::Float(std::nearbyint(v * scale) / scale);
    }
    if (x.plain.is_float()) return Item::Float(op == "neg" ? -v : std::fabs(v));
    const int64_t negated = static_cast<int64_t>(-static_cast<uint64_t>(x.plain.integer));
    return Item::Int(op == "neg" || x.plain.integer < 0 ? negated : x.plain.integer);
  }
  const bool is_float = x.plain.is_float();
  const Value v = ScalarOf(x, is_float ? DType::kFloat64 : DType::kInt64);
  if (op == "isnan" || op == "isinf" || op == "isfinite")
    return Number(b_.Op(op, {ScalarOf(x, DType::kFloat64)}));
  if (to_int) return is_float ? NumberAs(Number(b_.Op(op, {v})), ScriptType::Kind::kInt) : x;
  if (op == "round")
    return is_float ? CallOperator("aten::Float", {"", {CallTable("aten::round", a)}, {}, nullptr})
                    : NumberAs(x, ScriptType::Kind::kFloat);
  return Number(b_.Op(op == "neg" ? "negative" : "abs", {v}));
}

Item Evaluator::Negated(const Value& v) {
  const Value negated = b_.Op("logical_not", {v});
  for (const bool when : {false, true}) {
    Implies(negated, when, v, !when);
    Implies(v, when, negated, !when);
  }
  return Number(negated);
}

std::optional<Item> Evaluator::Not(Args& a) {
  if (a.size() != 1) return std::nullopt;
  if (a[0].is_known_number()) return Item::Bool(a[0].plain.number() == 0);
  const Item truth = NumberAs(a[0], ScriptType::Kind::kBool);
  if (truth.is_known_number()) return Item::Bool(truth.plain.integer == 0);
  if (!truth.is_number()) return truth;
  return Negated(truth.plain.value);
}

std::optional<Item> Evaluator::Extremum(Args& a) {
  const bool is_min = OwnScriptName(a.name) == "min";
  std::vector<Item> items = a.items;
  if (items.size() == 1 && items[0].is(Item::Kind::kList)) {
    const std::vector<Item>* known = KnownItems(items[0]);
    if (known == nullptr) {
      const auto& columns = items[0].cell->content().columns;
      if (columns == nullptr || columns->values.size() != 1 || !columns->values[0].is_tensor() ||
          columns->values[0].rank() != 1)
        return std::nullopt;
      return Number(b_.Op(is_min ? "min" : "max", {columns->values[0]}));
    }
    items = *known;
  }
  if (items.empty() || !std::ranges::all_of(items, &Item::is_number)) return std::nullopt;
  Item best = items[0];
  for (size_t i = 1; i < items.size(); ++i) {
    const Item& x = items[i];
    const bool floats = best.plain.is_float() || x.plain.is_float();
    if (best.is_known_number() && x.is_known_number()) {
      const bool less =
          floats ? x.plain.number() < best.plain.number() : x.plain.integer < best.plain.integer;
      const bool more =
          floats ? x.plain.number() > best.plain.number() : x.plain.integer > best.plain.integer;
      if (is_min ? less : more) best = x;
      if (floats && !best.plain.is_float()) best = Item::Float(best.plain.number());
      continue;
    }
    // The largest int beside another is no limit.
    const auto no_limit = [&](const Item& item) {
      return item.is_known_int() &&
             item.plain.integer == (is_min ? std::numeric_limits<int64_t>::max()
                                           : std::numeric_limits<int64_t>::min());
    };
    if (no_limit(best) || no_limit(x)) {
      if (no_limit(best)) best = x;
      continue;
    }
    const DType dtype = floats ? DType::kFloat64 : DType::kInt64;
    best =
        Number(b_.Op(is_min ? "minimum" : "maximum", {ScalarOf(best, dtype), ScalarOf(x, dtype)}));
  }
  return best;
}

std::optional<Item> Evaluator::ToNumber(Args& a) {
  using K = ScriptType::Kind;
  if (a.size() < 1) return std::nullopt;
  const std::string_view op = OwnScriptName(a.name);
  if (op == "complex" || op == "Complex") {
    if (a.size() == 2 && a[0].is_known_number() && a[1].is_known_number())
      return Argument::Complex(a[0].plain.number(), a[1].plain.number());
    if (a.size() == 1 && a[0].is_known_number()) return Argument::Complex(a[0].plain.number(), 0);
    return std::nullopt;
  }
  if (op == "NumToTensor" || op == "scalar_tensor") {
    if (op == "scalar_tensor" || !a[0].is_number()) return std::nullopt;
    const DType dtype = a[0].plain.is_bool()    ? DType::kBool
                        : a[0].plain.is_float() ? DType::kFloat64
                                                : DType::kInt64;
    return Item(aliases_.Fresh(ScalarOf(a[0], dtype)));
  }
  if (op == "Int" || op == "int" || op == "IntImplicit") return NumberAs(a[0], K::kInt);
  if (op == "Float" || op == "float" || op == "FloatImplicit") return NumberAs(a[0], K::kFloat);
  if (op == "Bool" || op == "bool") return NumberAs(a[0], K::kBool);
  // item(): by the tensor's dtype.
  if (!a[0].is_tensor()) return a[0];
  const DType dtype = ReadTensor(a[0]).dtype();
  if (a[0].plain.quantised != nullptr || a[0].plain.complex) return std::nullopt;
  return NumberAs(a[0], dtype == DType::kBool ? K::kBool : IsFloat(dtype) ? K::kFloat : K::kInt);
}

}  // namespace relayvm::import::torch

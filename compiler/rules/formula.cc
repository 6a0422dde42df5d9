#include "compiler/rules/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

namespace relayvm::rules {
namespace {

using frontend::Formula;
using Kind = Formula::Kind;
using Values = std::optional<AttrValue>;

// An argument: a value, or what a hole stands for.
struct Argument {
  AttrValue value;
  const ir::Atom* atom = nullptr;
  ir::Type type;  // of the hole
};
using Arguments = std::span<const Argument>;

std::optional<int64_t> IntegerOf(const AttrValue& v) {
  const auto* d = std::get_if<Dim>(&v.value);
  return d != nullptr && d->is_const() ? std::optional(d->value()) : std::nullopt;
}
std::optional<double> NumberOf(const AttrValue& v) {
  if (const auto i = IntegerOf(v)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&v.value)) return *d;
  if (const auto* b = std::get_if<bool>(&v.value)) return *b ? 1 : 0;
  return std::nullopt;
}
const AttrList* ListOf(const AttrValue& v) { return std::get_if<AttrList>(&v.value); }
std::optional<std::vector<int64_t>> IntegersOf(const AttrValue& v) {
  const AttrList* list = ListOf(v);
  if (list == nullptr) return std::nullopt;
  std::vector<int64_t> out;
  for (const AttrValue& e : *list) {
    const auto i = IntegerOf(e);
    if (!i) return std::nullopt;
    out.push_back(*i);
  }
  return out;
}
AttrValue ListFrom(const std::vector<int64_t>& values) {
  return AttrList(values.begin(), values.end());
}

const TensorType* TensorOf(const Argument& a) { return a.type->As<TensorType>(); }
std::optional<DType> DTypeOf(const AttrValue& v) {
  const auto* name = std::get_if<std::string>(&v.value);
  return name == nullptr ? std::nullopt : ParseDType(*name);
}
// An axis from 0, of one that may count from the end.
std::optional<int64_t> AxisOf(const AttrValue& v, int64_t rank) {
  auto axis = IntegerOf(v);
  if (axis && *axis < 0) *axis += rank;
  return axis && *axis >= 0 && *axis < rank ? axis : std::nullopt;
}

// --- Arithmetic ---

// Of two numbers, or of lists, element by element.
template <typename OfDims, typename OfFloats>
Values Arithmetic(const AttrValue& a, const AttrValue& b, const OfDims& dims,
                  const OfFloats& floats) {
  const AttrList *x = ListOf(a), *y = ListOf(b);
  if (x != nullptr && y != nullptr) {
    if (x->size() != y->size()) return std::nullopt;
    AttrList out;
    for (size_t i = 0; i < x->size(); ++i) {
      const Values one = Arithmetic((*x)[i], (*y)[i], dims, floats);
      if (!one) return std::nullopt;
      out.push_back(*one);
    }
    return AttrValue(std::move(out));
  }
  const auto *m = std::get_if<Dim>(&a.value), *n = std::get_if<Dim>(&b.value);
  if (m != nullptr && n != nullptr) return AttrValue(dims(*m, *n));
  const auto p = NumberOf(a), q = NumberOf(b);
  return p && q ? Values(AttrValue(floats(*p, *q))) : std::nullopt;
}

Values Add(Arguments a) {
  return Arithmetic(a[0].value, a[1].value, std::plus<Dim>(), std::plus<double>());
}
Values Subtract(Arguments a) {
  return Arithmetic(a[0].value, a[1].value, std::minus<Dim>(), std::minus<double>());
}
Values Multiply(Arguments a) {
  return Arithmetic(a[0].value, a[1].value, std::multiplies<Dim>(), std::multiplies<double>());
}
Values Least(Arguments a) {
  return Arithmetic(
      a[0].value, a[1].value, [](const Dim& x, const Dim& y) { return Dim::Min(x, y); },
      [](double x, double y) { return std::min(x, y); });
}
Values Most(Arguments a) {
  return Arithmetic(
      a[0].value, a[1].value, [](const Dim& x, const Dim& y) { return Dim::Max(x, y); },
      [](double x, double y) { return std::max(x, y); });
}

// --- Lists ---

Values Element(Arguments a) {
  const AttrList* list = ListOf(a[0].value);
  if (list == nullptr) return std::nullopt;
  const auto at = [&](const AttrValue& place) -> Values {
    const auto i = AxisOf(place, static_cast<int64_t>(list->size()));
    return i ? Values((*list)[static_cast<size_t>(*i)]) : std::nullopt;
  };
  const AttrList* places = ListOf(a[1].value);
  if (places == nullptr) return at(a[1].value);
  AttrList out;
  for (const AttrValue& place : *places) {
    const Values one = at(place);
    if (!one) return std::nullopt;
    out.push_back(*one);
  }
  return AttrValue(std::move(out));
}
Values List(Arguments a) {
  AttrList out;
  for (const Argument& e : a) out.push_back(e.value);
  return AttrValue(std::move(out));
}
Values Size(Arguments a) {
  const AttrList* list = ListOf(a[0].value);
  return list == nullptr ? std::nullopt : Values(AttrValue(static_cast<int64_t>(list->size())));
}
// shape(%x): its dims.
Values Shape(Arguments a) {
  const TensorType* t = TensorOf(a[0]);
  return t == nullptr ? std::nullopt
                      : Values(AttrValue(AttrList(t->shape.begin(), t->shape.end())));
}
// The least and the greatest number of a list, or of one number.
Values Outermost(const AttrValue& v, bool greatest) {
  if (NumberOf(v)) return v;
  const AttrList* list = ListOf(v);
  const AttrValue* found = nullptr;
  if (list == nullptr) return std::nullopt;
  for (const AttrValue& e : *list) {
    if (!NumberOf(e)) return std::nullopt;
    if (found == nullptr ||
        (greatest ? *NumberOf(e) > *NumberOf(*found) : *NumberOf(e) < *NumberOf(*found)))
      found = &e;
  }
  return found == nullptr ? std::nullopt : Values(*found);
}
Values LeastOf(Arguments a) { return Outermost(a[0].value, false); }
Values GreatestOf(Arguments a) { return Outermost(a[0].value, true); }
// is_in(v, list).
Values IsIn(Arguments a) {
  const AttrList* list = ListOf(a[1].value);
  if (list == nullptr) return std::nullopt;
  return AttrValue(
      std::ranges::any_of(*list, [&](const AttrValue& e) { return Compare(a[0].value, "==", e); }));
}
// Whether it counts from 0.
Values IsIdentity(Arguments a) {
  const auto list = IntegersOf(a[0].value);
  if (!list) return std::nullopt;
  bool counts = true;
  for (size_t i = 0; i < list->size(); ++i)
    counts = counts && (*list)[i] == static_cast<int64_t>(i);
  return AttrValue(counts);
}

// --- Types of holes ---

Values Rank(Arguments a) {
  const TensorType* t = TensorOf(a[0]);
  return t == nullptr ? std::nullopt : Values(AttrValue(t->rank()));
}
Values DTypeText(Arguments a) {
  const TensorType* t = TensorOf(a[0]);
  return t == nullptr ? std::nullopt : Values(AttrValue(std::string(DTypeName(t->dtype))));
}
Values DimAt(Arguments a) {
  const TensorType* t = TensorOf(a[0]);
  const auto i = t == nullptr ? std::nullopt : AxisOf(a[1].value, t->rank());
  return i ? Values(AttrValue(t->shape[static_cast<size_t>(*i)])) : std::nullopt;
}
Values IsConstant(Arguments a) {
  return AttrValue(std::holds_alternative<const ir::Constant*>(*a[0].atom));
}
// axis(a, %x): from 0.
Values Axis(Arguments a) {
  const TensorType* t = TensorOf(a[1]);
  const auto axis = t == nullptr ? std::nullopt : AxisOf(a[0].value, t->rank());
  return axis ? Values(AttrValue(*axis)) : std::nullopt;
}
// order(axes, %x): those of a transposition of %x, from 0; None reverses them.
Values Order(Arguments a) {
  const TensorType* t = TensorOf(a[1]);
  if (t == nullptr) return std::nullopt;
  const auto rank = static_cast<int64_t>(t->rank());
  std::vector<int64_t> out;
  if (a[0].value.is_none()) {
    for (int64_t i = rank; i-- > 0;) out.push_back(i);
    return ListFrom(out);
  }
  const AttrList* given = ListOf(a[0].value);
  if (given == nullptr || static_cast<int64_t>(given->size()) != rank) return std::nullopt;
  for (const AttrValue& v : *given) {
    const auto axis = AxisOf(v, rank);
    if (!axis) return std::nullopt;
    out.push_back(*axis);
  }
  return ListFrom(out);
}

// broadcast_axes(%b, %x): the axes of %x along which %b has other elements, where it can be
// broadcast to the shape of %x.
Values BroadcastAxes(Arguments a) {
  const TensorType *b = TensorOf(a[0]), *t = TensorOf(a[1]);
  if (b == nullptr || t == nullptr || b->rank() > t->rank()) return std::nullopt;
  const auto first = static_cast<size_t>(t->rank() - b->rank());
  std::vector<int64_t> axes;
  for (size_t i = 0; i < b->shape.size(); ++i) {
    if (b->shape[i].is_const(1)) continue;
    if (!(b->shape[i] == t->shape[first + i])) return std::nullopt;
    axes.push_back(static_cast<int64_t>(first + i));
  }
  return ListFrom(axes);
}

// magnitude(%w, axis): of a constant of bytes, the largest sum of the magnitudes of the elements at
// one place of the axis.
Values Magnitude(Arguments a) {
  const auto* constant = std::get_if<const ir::Constant*>(a[0].atom);
  if (constant == nullptr) return std::nullopt;
  const HostTensor& t = (*constant)->value;
  const auto axis = AxisOf(a[1].value, static_cast<int64_t>(t.shape.size()));
  if (!axis || (t.dtype != DType::kInt8 && t.dtype != DType::kUInt8)) return std::nullopt;
  const auto extent = static_cast<size_t>(t.shape[static_cast<size_t>(*axis)]);
  size_t inner = 1;  // elements at one place of all axes up to this one
  for (size_t i = static_cast<size_t>(*axis) + 1; i < t.shape.size(); ++i)
    inner *= static_cast<size_t>(t.shape[i]);
  const SharedBytes bytes = t.data.Loaded();
  std::vector<int64_t> sums(extent, 0);
  for (size_t i = 0; i < static_cast<size_t>(t.size()); ++i) {
    const auto byte = static_cast<uint8_t>(bytes.data()[i]);
    sums[i / inner % extent] +=
        t.dtype == DType::kUInt8 ? byte : std::abs(int64_t{static_cast<int8_t>(byte)});
  }
  return AttrValue(sums.empty() ? int64_t{0} : *std::ranges::max_element(sums));
}

// holds(wide, narrow): each value of dtype `narrow` is one of `wide`.
bool HoldsAll(DType wide, DType narrow) {
  if (wide == narrow || narrow == DType::kBool) return true;
  if (wide == DType::kBool || wide == DType::kString || narrow == DType::kString) return false;
  const auto significant = [](DType t) {  // bits of whole numbers, the sign's not among them
    switch (t) {
      case DType::kFloat16:
        return 11;
      case DType::kBFloat16:
        return 8;
      case DType::kFloat32:
        return 24;
      case DType::kFloat64:
        return 53;
      default:
        return DTypeBits(t) - (IsSignedInt(t) ? 1 : 0);
    }
  };
  if (IsFloat(narrow)) {
    return wide == DType::kFloat64 || (wide == DType::kFloat32 && DTypeBits(narrow) == 16);
  }
  if (!IsFloat(wide) && IsSignedInt(narrow) && !IsSignedInt(wide)) return false;
  return significant(wide) >= significant(narrow);
}
Values Holds(Arguments a) {
  const auto wide = DTypeOf(a[0].value), narrow = DTypeOf(a[1].value);
  return wide && narrow ? Values(AttrValue(HoldsAll(*wide, *narrow))) : std::nullopt;
}

struct Function {
  std::string_view name;
  size_t arguments;
  unsigned holes;  // which arguments are, a bit each
  Values (*compute)(Arguments a);
  Words words;
};
constexpr size_t kAny = std::numeric_limits<size_t>::max();
constexpr Function kFunctions[] = {
    {"+", 2, 0, Add, {"{0} + {1}", About::kNothing}},
    {"-", 2, 0, Subtract, {"{0} - {1}", About::kNothing}},
    {"*", 2, 0, Multiply, {"{0} * {1}", About::kNothing}},
    {"[]", 2, 0, Element, {"element {1} of {0}", About::kNothing}},
    {"list", kAny, 0, List, {"", About::kNothing}},
    {"axis", 2, 2, Axis, {"{0} (counted from 0)", About::kAttribute}},
    {"broadcast_axes",
     2,
     3,
     BroadcastAxes,
     {"the axes along which {0} has more than one element", About::kShape}},
    {"dim", 2, 1, DimAt, {"axis {1} of {0}", About::kShape}},
    {"dtype", 1, 1, DTypeText, {"the dtype of {0}", About::kDType}},
    {"greatest", 1, 0, GreatestOf, {"the greatest of {0}", About::kNothing}},
    {"holds", 2, 0, Holds, {"{0} a dtype that holds each value of {1}", About::kDType}},
    {"is_constant", 1, 1, IsConstant, {"{0} a constant", About::kConstant}},
    {"is_identity", 1, 0, IsIdentity, {"{0} count from 0", About::kNothing}},
    {"is_in", 2, 0, IsIn, {"{0} one of {1}", About::kNothing}},
    {"least", 1, 0, LeastOf, {"the least of {0}", About::kNothing}},
    {"magnitude",
     2,
     1,
     Magnitude,
     {"the greatest sum of magnitudes of {0} along axis {1}", About::kConstant}},
    {"max", 2, 0, Most, {"the greater of {0} and {1}", About::kNothing}},
    {"min", 2, 0, Least, {"the lesser of {0} and {1}", About::kNothing}},
    {"order", 2, 2, Order, {"the order {0} of the axes of {1}", About::kNothing}},
    {"rank", 1, 1, Rank, {"the rank of {0}", About::kShape}},
    {"shape", 1, 1, Shape, {"the shape of {0}", About::kShape}},
    {"size", 1, 0, Size, {"the length of {0}", About::kNothing}},
};

const Function* Find(std::string_view name) {
  const auto* at = std::ranges::find(kFunctions, name, &Function::name);
  return at == std::end(kFunctions) ? nullptr : at;
}
bool IsComparison(std::string_view name) {
  return name == "==" || name == "!=" || name == "<" || name == "<=" || name == ">" || name == ">=";
}

// Of @name what the pattern itself matches.
const ir::Var* HoleOf(const Rule& rule, const std::string& name) {
  if (name.starts_with('@')) return name.substr(1) == rule.name ? ir::AsVar(rule.pattern) : nullptr;
  const auto at = std::ranges::find_if(rule.graph->holes,
                                       [&](const auto& hole) { return hole.second->name == name; });
  return at == rule.graph->holes.end() ? nullptr : at->second;
}

}  // namespace

bool Compare(const AttrValue& found, const std::string& comparison, const AttrValue& expected) {
  const AttrList* list = ListOf(found);
  if (list != nullptr && ListOf(expected) == nullptr) {
    return std::ranges::all_of(
        *list, [&](const AttrValue& v) { return Compare(v, comparison, expected); });
  }
  const auto *x = std::get_if<Dim>(&found.value), *y = std::get_if<Dim>(&expected.value);
  const auto a = NumberOf(found), b = NumberOf(expected);
  if (comparison == "==") return a && b ? *a == *b : found == expected;
  if (comparison == "!=") {
    if (a && b) return *a != *b;
    return x != nullptr && y != nullptr ? Dim::ProvablyDifferent(*x, *y) : !(found == expected);
  }
  if (!a || !b) return false;
  if (comparison == "<") return *a < *b;
  if (comparison == "<=") return *a <= *b;
  if (comparison == ">") return *a > *b;
  return *a >= *b;
}

std::optional<AttrValue> Evaluate(const Formula& f, const FormulaScope& scope,
                                  std::string* reason) {
  if (f.kind == Kind::kValue) return f.value;
  if (f.kind == Kind::kVariable) return scope.variables.at(f.name);
  std::vector<Argument> arguments;
  for (const Formula& arg : f.args) {
    Argument& a = arguments.emplace_back();
    if (arg.kind == Kind::kHole) {
      a.atom = &scope.images.at(HoleOf(scope.rule, arg.name)->id);
      a.type = ir::AtomType(scope.module, *a.atom);
      continue;
    }
    const Values value = Evaluate(arg, scope, reason);
    if (!value) return std::nullopt;
    a.value = *value;
  }
  if (IsComparison(f.name)) {
    return AttrValue(Compare(arguments[0].value, f.name, arguments[1].value));
  }
  Values value = Find(f.name)->compute(arguments);
  if (!value && reason != nullptr) *reason = fmt::format("{} has no value here", ToText(f));
  return value;
}

std::string WhyNot(const Formula& condition, const FormulaScope& scope) {
  std::string text = ToText(condition) + " does not hold";
  for (const Formula& side : condition.args) {
    const Values value = side.kind == Kind::kValue || side.kind == Kind::kHole
                             ? std::nullopt
                             : Evaluate(side, scope, nullptr);
    if (!value) continue;
    text += fmt::format("{} {} is {}", text.ends_with("hold") ? ":" : ",", ToText(side),
                        ToText(*value));
  }
  return text;
}

Status CheckFormula(const ir::Module& m, const Rule& rule, const Formula& f,
                    const std::set<std::string>& variables, const std::set<uint32_t>& holes) {
  const auto wrong = [&](const Formula& at, const std::string& message) {
    return m.sources->Error(StatusCode::kInvalidInput, at.span,
                            fmt::format("rule @{}: {}", rule.name, message));
  };
  if (f.kind == Kind::kValue) return OkStatus();
  if (f.kind == Kind::kVariable) {
    if (variables.contains(f.name)) return OkStatus();
    return wrong(f, fmt::format("no attribute of each pattern is called ${}", f.name));
  }
  if (f.kind == Kind::kHole) {
    return wrong(f, fmt::format("{} is a value: expected a number or a list, as rank({}) is",
                                ToText(f), ToText(f)));
  }
  const Function* function = Find(f.name);
  if (function == nullptr && !IsComparison(f.name)) {
    std::vector<std::string_view> names;
    for (const Function& known : kFunctions) {
      if (known.name.front() >= 'a' && known.name != "list") names.push_back(known.name);
    }
    return wrong(f, fmt::format("there is no function {} of attributes: expected one of {}", f.name,
                                fmt::join(names, ", ")));
  }
  const size_t expected = function == nullptr ? 2 : function->arguments;
  if (expected != kAny && f.args.size() != expected) {
    return wrong(
        f, fmt::format("{}: expected {} arguments, found {}", f.name, expected, f.args.size()));
  }
  for (size_t i = 0; i < f.args.size(); ++i) {
    const Formula& arg = f.args[i];
    const bool is_hole = function != nullptr && i < 8 && (function->holes >> i & 1U) != 0;
    if (!is_hole) {
      RELAYVM_RETURN_IF_ERROR(CheckFormula(m, rule, arg, variables, holes));
      continue;
    }
    const ir::Var* hole = arg.kind == Kind::kHole ? HoleOf(rule, arg.name) : nullptr;
    if (hole == nullptr || !(holes.contains(hole->id) || arg.name.starts_with('@'))) {
      return wrong(
          arg, fmt::format("{}: expected a hole of each pattern, found {}", f.name, ToText(arg)));
    }
  }
  return OkStatus();
}

Words WordsOf(std::string_view function) {
  const Function* found = Find(function);
  return found == nullptr ? Words{} : found->words;
}

const AttrList& SaidOf(const ir::OpCall& call, const char* name) {
  static const AttrList kNothing;
  const AttrValue* said = call.attrs.Find(name);
  return said == nullptr ? kNothing : std::get<AttrList>(said->value);
}

std::pair<std::string, const frontend::Formula&> FormulaOf(const Rule& rule,
                                                           const AttrValue& said) {
  const AttrList& parts = std::get<AttrList>(said.value);
  const auto position = static_cast<size_t>(std::get<Dim>(parts[1].value).value());
  return {std::get<std::string>(parts[0].value), rule.graph->formulas.at(position)};
}

Attrs OperatorAttrs(const ir::OpCall& call, const Attrs* like) {
  const auto is_of_operator = [](const std::string& name) {
    return name != frontend::kWrittenAttr && name != frontend::kConditionsAttr &&
           name != frontend::kFormulasAttr;
  };
  Attrs result;
  for (const auto& [name, value] : call.attrs.values()) {
    if (is_of_operator(name)) result.Set(name, value);
  }
  if (like == nullptr) return result;
  const AttrList& written = SaidOf(call, frontend::kWrittenAttr);
  for (const auto& [name, value] : like->values()) {
    if (is_of_operator(name) && std::ranges::find(written, AttrValue(name)) == written.end())
      result.Set(name, value);
  }
  return result;
}

std::string ToText(const AttrValue& v) {
  if (v.is_none()) return "None";
  if (const auto* b = std::get_if<bool>(&v.value)) return *b ? "True" : "False";
  if (const auto* d = std::get_if<Dim>(&v.value)) return d->ToString();
  if (const auto* d = std::get_if<double>(&v.value)) return fmt::format("{}", *d);
  if (const auto* s = std::get_if<std::string>(&v.value)) return '"' + *s + '"';
  std::vector<std::string> parts;
  for (const AttrValue& e : std::get<AttrList>(v.value)) parts.push_back(ToText(e));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string ToText(const Formula& f) {
  if (f.kind == Kind::kValue) return ToText(f.value);
  if (f.kind == Kind::kVariable) return "$" + f.name;
  if (f.kind == Kind::kHole) return f.name.starts_with('@') ? f.name : "%" + f.name;
  std::vector<std::string> parts;
  for (const Formula& arg : f.args) parts.push_back(ToText(arg));
  if (f.name == "[]") return fmt::format("{}[{}]", parts[0], parts[1]);
  if (f.name == "list") return fmt::format("[{}]", fmt::join(parts, ", "));
  if (f.name.front() < 'a' && parts.size() == 2)
    return fmt::format("{} {} {}", parts[0], f.name, parts[1]);
  return fmt::format("{}({})", f.name, fmt::join(parts, ", "));
}

}  // namespace relayvm::rules

// Values of a given type: from the scope, or made.
#include <fmt/format.h>

#include <cmath>

#include "tests/random/generator.h"

namespace relayvm::random_programs {
namespace {

bool IsVariable(const std::string& text) {
  return text.find_first_of("( {") == std::string::npos && text.starts_with('%');
}

}  // namespace

std::string Generator::Number(DType dtype, double value) {
  switch (dtype) {
    case DType::kBool:
      return value != 0 ? "True" : "False";
    case DType::kFloat16:
      return fmt::format("{}f16", value);
    case DType::kFloat32:
      return fmt::format("{}f", value);
    case DType::kFloat64:
      return fmt::format("{}f64", value);
    case DType::kInt32:
      return fmt::format("{:.0f}", value);
    default:
      return fmt::format("{:.0f}{}{}", value, IsUnsignedInt(dtype) ? 'u' : 'i', DTypeBits(dtype));
  }
}

std::string Generator::SmallNumber(DType dtype) {
  if (IsFloat(dtype)) return Number(dtype, 0.25 * Between(-8, 8));
  if (dtype == DType::kBool) return Number(dtype, Below(2));
  return Number(dtype, IsSignedInt(dtype) ? Between(-5, 9) : Below(10));
}

std::string Generator::SmallCount(Scope& scope, int limit) {
  std::optional<Value> v =
      PickTensor(scope, [](const Value& x) { return x.type->IsScalar(DType::kInt32); });
  if (!v || Chance(30)) return std::to_string(Below(limit + 1));
  return fmt::format("floor_mod({}, {})", v->text, limit + 1);
}

std::optional<Value> Generator::Fit(const Value& value, const Type& want) {
  if (!Fits(*value.type, want)) return std::nullopt;
  if (want.Is(Type::Kind::kTuple)) {
    std::string fields;
    bool same = true;
    for (size_t i = 0; i < want.args.size(); ++i) {
      std::optional<Value> f =
          Fit({fmt::format("{}.{}", value.text, i), value.type->args[i]}, *want.args[i]);
      if (!f) return std::nullopt;
      same = same && f->type == value.type->args[i];
      fields += f->text + ", ";
    }
    if (same) return value;
    if (!IsVariable(value.text)) return std::nullopt;
    return Value{"(" + fields + ")", std::make_shared<Type>(want)};
  }
  if (!want.IsTensor() || !IsFloat(want.dtype)) return value;
  const Range& r = value.type->range;
  if (Within(r, want.range)) return value;
  if (want.range.exact()) return std::nullopt;
  double scale =
      0.5 * std::min(want.range.bound / r.bound, want.range.err / std::max(r.err, 1e-30));
  scale = std::exp2(std::floor(std::log2(std::min(scale, 1.0))));
  Range scaled = {r.bound * scale, r.err * scale, r.quantum * scale};
  std::optional<Range> rounded = Rounded(want.dtype, scaled, true);
  if (!rounded || !Within(*rounded, want.range)) return std::nullopt;
  return Value{fmt::format("multiply({}, {})", value.text, Number(want.dtype, scale)),
               TensorType(want.dtype, value.type->shape, *rounded)};
}

std::optional<std::string> Generator::MakeValue(Scope& scope, const TypePtr& want, int depth) {
  std::optional<Value> found =
      PickCopy(scope, [&](const Value& v) { return Fits(*v.type, *want); });
  if (found && depth == 0) found = Combine(scope, *found, scope.values.size() / 2);
  if (found) found = Fit(*found, *want);
  if (found && Chance(80)) return found->text;
  std::optional<std::string> made;
  switch (want->kind) {
    case Type::Kind::kTensor:
      made = MakeTensor(scope, *want);
      break;
    case Type::Kind::kTuple:
      made = "(";
      for (const TypePtr& f : want->args) {
        std::optional<std::string> field = MakeValue(scope, f, depth + 1);
        if (!field) {
          made.reset();
          break;
        }
        *made += *field + ", ";
      }
      if (made) *made += ")";
      break;
    case Type::Kind::kAdt:
      made = MakeData(scope, *want, depth);
      break;
    case Type::Kind::kFunction:
      made = MakeClosure(scope, *want, depth);
      break;
    case Type::Kind::kRef:
      break;
  }
  if (!made && found) return found->text;
  return made;
}

std::optional<std::string> Generator::MakeTensor(Scope& scope, const Type& want) {
  if (want.shape.empty()) return SmallNumber(want.dtype);
  bool static_shape = true;
  std::string dims;
  for (const Size& s : want.shape) {
    if (s.known() && !s.is_static) static_shape = false;
    int64_t any = Between(0, 3);
    dims += fmt::format("{}{}", dims.empty() ? "" : ", ", s.known() ? s.at[0] : any);
  }
  std::string_view name = DTypeName(want.dtype);
  if (static_shape) {
    return fmt::format("full({}, shape=[{}], dtype=\"{}\")", SmallNumber(want.dtype), dims, name);
  }
  std::optional<Value> like = PickTensor(scope, [&](const Value& v) {
    Type same = want;
    same.dtype = v.type->dtype;
    return Fits(*v.type, same);
  });
  if (!like) return std::nullopt;
  return fmt::format("cast(ones_like({}), dtype=\"{}\")", like->text, name);
}

std::vector<Generator::Constructor> Generator::ConstructorsOf(const Type& adt) const {
  if (adt.adt == "Own") return own_constructors_;
  TypePtr self = std::make_shared<Type>(adt);
  const TypePtr& a = adt.args[0];
  if (adt.adt == "List") return {{"Cons", {a, self}}, {"Nil", {}}};
  if (adt.adt == "Option") return {{"None_", {}}, {"Some", {a}}};
  return {{"Leaf", {a}}, {"Node", {self, a, self}}};
}

std::optional<std::string> Generator::MakeData(Scope& scope, const Type& want, int depth) {
  std::vector<Constructor> all = ConstructorsOf(want);
  constexpr int kDeepest = 3;
  size_t at = static_cast<size_t>(Below(static_cast<int>(all.size())));
  if (depth >= kDeepest) at = want.adt == "List" ? 1 : 0;
  if (want.adt == "Own") Use("adt.own");
  std::string fields;
  for (const TypePtr& f : all[at].fields) {
    std::optional<std::string> field = MakeValue(scope, f, depth + 1);
    if (!field) return std::nullopt;
    fields += (fields.empty() ? "" : ", ") + *field;
  }
  return fields.empty() ? all[at].name : fmt::format("{}({})", all[at].name, fields);
}

std::optional<std::string> Generator::MakeClosure(Scope& scope, const Type& want, int depth) {
  Scope inner = Inner(scope);
  std::string params;
  for (size_t i = 0; i + 1 < want.args.size(); ++i) {
    std::string name = "%" + NewName("a");
    params += fmt::format("{}{}: {}", i == 0 ? "" : ", ", name, TypeText(*want.args[i]));
    Declare(inner, name, Fresh(want.args[i]));
  }
  const TypePtr& result = want.args.back();
  size_t outer = scope.values.size();
  std::optional<std::string> body = BlockOf(std::move(inner), depth > 1 ? 0 : Below(3), result);
  if (!body) return std::nullopt;
  Use("closure");
  for (size_t i = 0; i < outer; ++i) {
    const std::string& text = scope.values[i].text;
    if (IsVariable(text) && (body->find(text + ",") != std::string::npos ||
                             body->find(text + ")") != std::string::npos)) {
      Use("closure.capture");
    }
  }
  return fmt::format("fn ({}) -> {} {}", params, TypeText(*result), *body);
}

}  // namespace relayvm::random_programs

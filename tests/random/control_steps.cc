// Steps that make control flow, data, references and scalars.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace relayvm::random_programs {
namespace {

bool AllStatic(const Type& t) {
  return std::all_of(t.shape.begin(), t.shape.end(), [](const Size& s) { return s.is_static; }) &&
         std::all_of(t.args.begin(), t.args.end(), [](const TypePtr& a) { return AllStatic(*a); });
}
bool IsCondition(const Value& v) { return v.type->IsScalar(DType::kBool); }

}  // namespace

bool Generator::ScalarStep(Scope& scope) {
  std::optional<Value> a = PickTensor(scope, [](const Value& v) {
    return v.type->shape.empty() && v.type->dtype != DType::kBool &&
           (!IsFloat(v.type->dtype) || v.type->range.exact());
  });
  if (!a) return false;
  DType dtype = a->type->dtype;
  std::optional<Value> b = PickTensor(scope, [&](const Value& v) {
    return v.type->IsScalar(dtype) && (!IsFloat(dtype) || v.type->range.exact());
  });
  if (!b || Chance(30)) b = Value{SmallNumber(dtype), TensorType(dtype, {}, {2, 0, 0.25})};
  Use("scalar");
  if (Chance(45)) {
    std::vector<std::string> ops = {"less", "greater_equal", "equal", "not_equal"};
    return Add(scope, "scalar", fmt::format("{}({}, {})", OneOf(ops), a->text, b->text),
               ScalarType(DType::kBool));
  }
  std::vector<std::string> ops = {"add", "subtract", "maximum", "minimum"};
  if (IsInt(dtype)) {
    ops.insert(ops.end(), {"multiply", "floor_mod", "floor_divide", "divide", "bitwise_xor"});
  }
  const Range &x = a->type->range, &y = b->type->range;
  std::optional<Range> rounded =
      Rounded(dtype, {x.bound + y.bound, 0, std::min(x.quantum, y.quantum)}, true);
  if (!rounded) return false;
  return Add(scope, "scalar", fmt::format("{}({}, {})", OneOf(ops), a->text, b->text),
             TensorType(dtype, {}, *rounded));
}

TypePtr Generator::ResultType(Scope& scope) {
  std::optional<Value> v = PickCopy(scope, [](const Value& x) {
    return !Contains(*x.type, Type::Kind::kRef) && !Contains(*x.type, Type::Kind::kFunction);
  });
  return v ? v->type : nullptr;
}

bool Generator::IfStep(Scope& scope) {
  std::optional<Value> condition = PickTensor(scope, IsCondition);
  if (!condition) {
    condition =
        PickTensor(scope, [](const Value& v) { return v.type->shape.empty() && IsComparable(v); });
    if (!condition) return false;
    DType dtype = condition->type->dtype;
    condition->text = fmt::format("less({}, {})", condition->text, SmallNumber(dtype));
  }
  TypePtr want = ResultType(scope);
  if (want == nullptr) return false;
  if (Chance(40)) {
    std::optional<Value> open =
        PickTensor(scope, [](const Value& x) { return !AllStatic(*x.type); });
    if (open) want = open->type;
  }
  TypePtr other = want;
  if (want->IsTensor() && !want->shape.empty() && Chance(80)) {
    std::optional<Value> v = PickTensor(scope, [&](const Value& x) {
      int unknown = next_unknown_;
      return x.type->IsTensor() && !(x.type->shape == want->shape) &&
             Join(want, x.type, &unknown) != nullptr;
    });
    if (v) other = v->type;
  }
  if (want->IsTensor() && !want->shape.empty() && AllStatic(*want) && Chance(25)) {
    // Another number that the program says.
    Type t = *want;
    Size& s = t.shape[static_cast<size_t>(Below(static_cast<int>(t.shape.size())))];
    s = StaticSize(s.at[0] + Between(1, 3));
    std::optional<std::string> made = MakeTensor(scope, t);
    if (made) other = Let(scope, *made, Contract(std::make_shared<Type>(t)), true).type;
  }
  TypePtr found_then, found_else;
  std::optional<std::string> then_block = BlockOf(Inner(scope), Below(5), want, &found_then);
  std::optional<std::string> else_block = BlockOf(Inner(scope), Below(5), other, &found_else);
  if (!then_block || !else_block) return false;
  TypePtr type = Join(found_then, found_else, &next_unknown_);
  if (type == nullptr) return false;
  if (type->IsTensor() && !(found_then->shape == found_else->shape)) {
    Use("branch.sizes_differ");
    if (AllStatic(*found_then) && AllStatic(*found_else)) Use("branch.static_differ");
  }
  return Add(scope, "if",
             fmt::format("if ({}) {} else {}", condition->text, *then_block, *else_block), type,
             false);
}

bool Generator::DataStep(Scope& scope) {
  TypePtr type;
  auto element = [&]() -> TypePtr {
    TypePtr t = ResultType(scope);
    return t == nullptr || t->Is(Type::Kind::kAdt) ? ScalarType(DType::kInt32) : Contract(t);
  };
  int kind = Below(5);
  if (kind == 0) type = AdtType("Own");
  if (kind == 1) type = AdtType("Option", {element()});
  if (kind == 2) type = AdtType("Tree", {element()});
  if (kind >= 3) type = AdtType("List", {element()});
  std::optional<std::string> made = MakeData(scope, *type, Below(2));
  // A constructor without fields says nothing of its type's arguments.
  if (!made || made->find('(') == std::string::npos || made->find("Cons") > made->size()) {
    if (!made || type->adt != "Own") return false;
  }
  std::string name = "%" + NewName("d");
  scope.lines +=
      fmt::format("{}let {}: {} = {};\n", std::string(static_cast<size_t>(2 * scope.indent), ' '),
                  name, TypeText(*type), *made);
  Declare(scope, name, type);
  return true;
}

// --- Match ---

std::string Generator::RandomPattern(const TypePtr& type, int depth,
                                     std::vector<PatternVar>* vars) {
  constexpr int kDeepest = 3;
  bool structured = type->Is(Type::Kind::kAdt) || type->Is(Type::Kind::kTuple);
  if (!structured || depth >= kDeepest || Chance(depth == 0 ? 5 : 45)) {
    if (Chance(40)) return "_";
    vars->push_back({"%" + NewName("m"), type});
    return vars->back().name;
  }
  std::string fields;
  if (type->Is(Type::Kind::kTuple)) {
    for (const TypePtr& f : type->args) fields += RandomPattern(f, depth + 1, vars) + ", ";
    return "(" + fields + ")";
  }
  if (depth > 0) Use("adt.nested_pattern");
  std::vector<Constructor> all = ConstructorsOf(*type);
  const Constructor& c = OneOf(all);
  for (const TypePtr& f : c.fields) {
    fields += (fields.empty() ? "" : ", ") + RandomPattern(f, depth + 1, vars);
  }
  return fields.empty() ? c.name : fmt::format("{}({})", c.name, fields);
}

bool Generator::MatchStep(Scope& scope) {
  std::optional<Value> data = PickCopy(scope, [](const Value& v) {
    return v.type->Is(Type::Kind::kAdt) || v.type->Is(Type::Kind::kTuple);
  });
  TypePtr want = ResultType(scope);
  if (!data || want == nullptr) return false;
  std::vector<std::pair<std::string, std::vector<PatternVar>>> patterns;
  for (int i = Below(4); i > 0; --i) {
    std::vector<PatternVar> vars;
    std::string p = RandomPattern(data->type, 0, &vars);
    patterns.emplace_back(p, vars);
  }
  // Then clauses that leave nothing out.
  if (data->type->Is(Type::Kind::kAdt) && Chance(60)) {
    for (const Constructor& c : ConstructorsOf(*data->type)) {
      std::vector<PatternVar> vars;
      std::string fields;
      for (const TypePtr& f : c.fields) {
        bool named = Chance(70);
        if (named) vars.push_back({"%" + NewName("m"), f});
        fields += (fields.empty() ? "" : ", ") + (named ? vars.back().name : "_");
      }
      patterns.emplace_back(fields.empty() ? c.name : fmt::format("{}({})", c.name, fields), vars);
    }
  } else {
    patterns.emplace_back("_", std::vector<PatternVar>());
  }
  std::string pad(static_cast<size_t>(2 * scope.indent), ' ');
  std::string text = fmt::format("match ({}) {{\n", data->text);
  TypePtr type;
  for (auto& [pattern, vars] : patterns) {
    Scope inner = Inner(scope);
    ++inner.indent;
    for (PatternVar& v : vars) Declare(inner, v.name, Fresh(v.type));
    TypePtr found;
    std::optional<std::string> body = BlockOf(std::move(inner), Below(3), want, &found);
    if (!body) return false;
    text += fmt::format("{}  {} => {},\n", pad, pattern, *body);
    type = type == nullptr ? found : Join(type, found, &next_unknown_);
    if (type == nullptr) return false;
  }
  if (data->type->Is(Type::Kind::kAdt)) {
    if (data->type->adt == "List") Use("match.list");
    if (data->type->adt == "Option") Use("match.option");
    if (data->type->adt == "Tree") Use("match.tree");
    if (data->type->adt == "Own") Use("adt.own");
  }
  return Add(scope, "match", text + pad + "}", type, false);
}

// --- Tuples and references ---

bool Generator::TupleStep(Scope& scope) {
  std::vector<TypePtr> types;
  std::string text;
  for (int i = Between(1, 3); i > 0; --i) {
    std::optional<Value> v =
        PickCopy(scope, [](const Value& x) { return !Contains(*x.type, Type::Kind::kRef); });
    if (!v) return false;
    text += v->text + ", ";
    types.push_back(v->type);
  }
  return Add(scope, "tuple", "(" + text + ")", TupleType(types));
}

bool Generator::TupleGetStep(Scope& scope) {
  std::optional<Value> v = PickCopy(scope, [](const Value& x) {
    return x.type->Is(Type::Kind::kTuple) && !x.type->args.empty() && x.text.starts_with('%');
  });
  if (!v) return false;
  auto at = static_cast<size_t>(Below(static_cast<int>(v->type->args.size())));
  return Add(scope, "tuple", fmt::format("{}.{}", v->text, at), v->type->args[at]);
}

bool Generator::RefStep(Scope& scope) {
  TypePtr type = ResultType(scope);
  if (type == nullptr) return false;
  type = Contract(type);
  std::optional<std::string> content = MakeValue(scope, type);
  if (!content) return false;
  std::string pad(static_cast<size_t>(2 * scope.indent), ' ');
  std::string cell = "%" + NewName("r");
  if (!type->IsTensor()) {
    // Data says its type, since an empty list does not.
    std::string name = "%" + NewName("c");
    scope.lines += fmt::format("{}let {}: {} = {};\n", pad, name, TypeText(*type), *content);
    content = name;
  }
  scope.lines += fmt::format("{}let {} = ref({});\n", pad, cell, *content);
  Declare(scope, cell, RefType(type));
  return true;
}

bool Generator::RefReadStep(Scope& scope) {
  std::optional<Value> v =
      PickCopy(scope, [](const Value& x) { return x.type->Is(Type::Kind::kRef); });
  if (!v) return false;
  return Add(scope, "ref.read", fmt::format("ref_read({})", v->text), v->type->args[0], false);
}

bool Generator::RefWriteStep(Scope& scope) {
  std::optional<Value> v =
      PickCopy(scope, [](const Value& x) { return x.type->Is(Type::Kind::kRef); });
  if (!v) return false;
  std::optional<std::string> content = MakeValue(scope, v->type->args[0]);
  if (!content) return false;
  std::string write = fmt::format("ref_write({}, {})", v->text, *content);
  if (Chance(65)) {
    // By a closure, which is called at once and later again.
    Use("ref.in_closure");
    Value f =
        Let(scope,
            fmt::format("fn (%k{0}: int32) -> int32 {{ {1}; add(%k{0}, 1) }}", next_name_++, write),
            FunctionType({ScalarType(DType::kInt32)}, ScalarType(DType::kInt32)), true);
    Let(scope, fmt::format("{}({})", f.text, Below(9)), ScalarType(DType::kInt32), false);
    return true;
  }
  Use("ref.write");
  scope.lines +=
      fmt::format("{}{};\n", std::string(static_cast<size_t>(2 * scope.indent), ' '), write);
  return true;
}

}  // namespace relayvm::random_programs

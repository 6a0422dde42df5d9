#include "tests/random/generator.h"

#include <fmt/format.h>

namespace relayvm::random_programs {

const std::vector<std::string> kFeatures = {
    "adt.nested_pattern",
    "adt.own",
    "adt.parameter",
    "branch.sizes_differ",
    "branch.static_differ",
    "call.again",
    "closure",
    "closure.call",
    "closure.capture",
    "closure.recursive",
    "cast",
    "concatenate",
    "contraction",
    "curried",
    "data_dependent",
    "dtype.float16",
    "dtype.float64",
    "dtype.int16",
    "dtype.int64",
    "dtype.int8",
    "dtype.uint16",
    "dtype.uint32",
    "dtype.uint64",
    "dtype.uint8",
    "dynamic",
    "elementwise",
    "extreme_integer",
    "function",
    "graph_binding",
    "higher_order.list",
    "higher_order.tree",
    "if",
    "let",
    "loop.grow",
    "match",
    "match.list",
    "match.option",
    "match.tree",
    "mutual_recursion",
    "narrower_annotation",
    "nested_expression",
    "polymorphic",
    "recursion.deep",
    "recursion.tail",
    "recursion.tree",
    "ref.in_closure",
    "ref.read",
    "ref.write",
    "reduce",
    "reshape",
    "scalar",
    "shape_of",
    "size.arange",
    "size.content",
    "size.fill",
    "size.float",
    "size.join",
    "size.narrow",
    "size.one",
    "size.slice",
    "size.tile",
    "size.view",
    "size.zero",
    "softmax",
    "sort",
    "split",
    "strided_slice",
    "take",
    "transpose",
    "tuple",
    "tuple.argument",
    "where",
    "wider_annotation",
};

std::string Ints(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

RandomProgram Generate(const Random& random) { return Generator(random).Run(); }

// --- Scopes ---

Value* Generator::Pick(Scope& scope, const Predicate& fits) {
  std::vector<Value*> found;
  for (Value& v : scope.values) {
    if (fits(v)) found.push_back(&v);
  }
  if (found.empty()) return nullptr;
  auto count = static_cast<int>(found.size());
  int at = Chance(50) ? Below(count) : std::max(Below(count), Below(count));
  ++found[static_cast<size_t>(at)]->uses;
  return found[static_cast<size_t>(at)];
}

std::optional<Value> Generator::PickCopy(Scope& scope, const Predicate& fits) {
  Value* found = Pick(scope, fits);
  if (found == nullptr) return std::nullopt;
  return *found;
}

std::optional<Value> Generator::PickTensor(Scope& scope, const Predicate& fits) {
  return PickCopy(scope, [&](const Value& v) { return v.type->IsTensor() && fits(v); });
}

void Generator::Declare(Scope& scope, std::string variable, TypePtr type) {
  if (type->IsTensor()) {
    Use("dtype." + std::string(DTypeName(type->dtype)));
    for (const Size& s : type->shape) {
      if (s.known() && s.Smallest() == 0) Use("size.zero");
      if (!s.is_static) Use("dynamic");
    }
  }
  scope.values.push_back({std::move(variable), std::move(type)});
}

TypePtr Generator::Fresh(const TypePtr& type) {
  Type t = *type;
  for (Size& s : t.shape) {
    if (!s.known()) s.unknown = next_unknown_++;
  }
  for (TypePtr& arg : t.args) arg = Fresh(arg);
  return std::make_shared<const Type>(std::move(t));
}

Value Generator::Let(Scope& scope, const std::string& text, TypePtr type, bool pure) {
  std::string pad(static_cast<size_t>(2 * scope.indent), ' ');
  std::string name;
  if (pure && Chance(15)) {
    name = fmt::format("%{}", next_graph_++);
    scope.lines += fmt::format("{}{} = {};\n", pad, name, text);
    Use("graph_binding");
  } else {
    name = "%" + NewName("v");
    bool annotated = Chance(12) && !Contains(*type, Type::Kind::kFunction);
    if (annotated && type->IsTensor()) type = Restated(*type);
    scope.lines +=
        fmt::format("{}let {}{} = {};\n", pad, name, annotated ? ": " + TypeText(*type) : "", text);
    Use("let");
  }
  Declare(scope, name, std::move(type));
  return scope.values.back();
}

TypePtr Generator::Restated(const Type& type) {
  Shape shape = type.shape;
  for (Size& s : shape) {
    if (!s.known() || Chance(60)) continue;
    if (s.is_static) {
      s.is_static = false;
      Use("wider_annotation");
    } else if (s.Smallest() == s.Largest()) {
      s.is_static = true;
      Use("narrower_annotation");
    }
  }
  return TensorType(type.dtype, std::move(shape), type.range);
}

bool Generator::Add(Scope& scope, const std::string& feature, const std::string& text, TypePtr type,
                    bool pure) {
  Use(feature);
  if (!pure) type = Fresh(type);
  constexpr size_t kLongestNested = 100;
  if (pure && text.size() < kLongestNested && Chance(15)) {
    Use("nested_expression");
    Declare(scope, text, std::move(type));
    return true;
  }
  Let(scope, text, std::move(type), pure);
  return true;
}

Scope Generator::Inner(const Scope& outer) {
  Scope inner;
  inner.values = outer.values;
  inner.sizes = outer.sizes;
  inner.indent = outer.indent + 1;
  inner.depth = outer.depth + 1;
  return inner;
}

std::optional<std::string> Generator::BlockOf(Scope scope, int steps, const TypePtr& want,
                                              TypePtr* found) {
  size_t old = scope.values.size();
  Steps(scope, steps);
  std::string result;
  if (found != nullptr) {
    // Any value of this type, of whatever range; new ones rather than old.
    Value* v = nullptr;
    for (Value& candidate : scope.values) {
      bool better = v == nullptr || Chance(60);
      if (Fits(*candidate.type, *want) && better) v = &candidate;
    }
    if (v == nullptr) return std::nullopt;
    Value combined = Combine(scope, *v, old);
    result = combined.text;
    *found = combined.type;
  } else {
    std::optional<std::string> made = MakeValue(scope, want);
    if (!made) return std::nullopt;
    result = *made;
  }
  std::string pad(static_cast<size_t>(2 * scope.indent), ' ');
  return fmt::format("{{\n{}{}{}\n{}}}", scope.lines, pad, result,
                     std::string(static_cast<size_t>(2 * scope.indent - 2), ' '));
}

Value Generator::Combine(Scope& scope, const Value& value, size_t begin) {
  if (!value.type->IsTensor()) return value;
  DType dtype = value.type->dtype;
  for (size_t i = scope.values.size(); i-- > begin;) {
    const Value& v = scope.values[i];
    if (!v.type->IsTensor() || v.type->dtype != dtype || v.text == value.text) continue;
    int64_t smallest = 1;
    for (const Size& s : v.type->shape) smallest = std::min(smallest, s.Smallest());
    std::string whole = v.text;
    if (!v.type->shape.empty()) {
      const char* op = dtype == DType::kBool ? "any" : IsFloat(dtype) ? "max" : "sum";
      if (smallest == 0 && IsFloat(dtype)) continue;
      whole = fmt::format("{}({})", op, whole);
    }
    const char* join = dtype == DType::kBool ? "logical_xor" : IsFloat(dtype) ? "maximum" : "add";
    return {fmt::format("{}({}, {})", join, value.text, whole),
            TensorType(dtype, value.type->shape, Union(value.type->range, v.type->range))};
  }
  return value;
}

void Generator::Steps(Scope& scope, int count) {
  for (int i = 0; i < count && budget_ > 0; ++i) {
    constexpr int kTries = 12;
    --budget_;
    for (int t = 0; t < kTries && !Step(scope); ++t) {
    }
  }
}

bool Generator::Step(Scope& scope) {
  struct Row {
    bool (Generator::*step)(Scope&);
    int weight;
    bool nests;  // it makes blocks
  };
  using G = Generator;
  static const std::vector<Row> kRows = {
      {&G::UnaryStep, 10, false},      {&G::BinaryStep, 16, false},
      {&G::CompareStep, 5, false},     {&G::LogicStep, 3, false},
      {&G::WhereStep, 4, false},       {&G::CastStep, 5, false},
      {&G::ReduceStep, 7, false},      {&G::ArgReduceStep, 2, false},
      {&G::SoftmaxStep, 3, false},     {&G::ReshapeStep, 5, false},
      {&G::TransposeStep, 4, false},   {&G::DimsStep, 4, false},
      {&G::ConcatenateStep, 4, false}, {&G::TupleArgumentStep, 3, false},
      {&G::SplitStep, 3, false},       {&G::TakeStep, 4, false},
      {&G::SliceStep, 4, false},       {&G::DenseStep, 4, false},
      {&G::RepeatStep, 3, false},      {&G::CreateStep, 3, false},
      {&G::ScanStep, 2, false},        {&G::ShapeStep, 3, false},
      {&G::SortStep, 2, false},        {&G::DataShapeStep, 2, false},
      {&G::SizeStep, 7, false},        {&G::SizedStep, 9, false},
      {&G::ScalarStep, 9, false},      {&G::IfStep, 9, true},
      {&G::DataStep, 7, false},        {&G::MatchStep, 12, true},
      {&G::TupleStep, 3, false},       {&G::TupleGetStep, 5, false},
      {&G::RefStep, 6, false},         {&G::RefReadStep, 4, false},
      {&G::RefWriteStep, 8, false},    {&G::ClosureStep, 6, true},
      {&G::CallValueStep, 5, false},   {&G::LocalRecursionStep, 3, true},
      {&G::FunctionStep, 5, true},     {&G::CallAgainStep, 3, false},
      {&G::RecursionStep, 5, true},    {&G::MutualRecursionStep, 3, true},
      {&G::GrowStep, 4, false},        {&G::CurriedStep, 3, true},
      {&G::ListFunctionStep, 8, true}, {&G::TreeFunctionStep, 5, true},
      {&G::PolymorphicStep, 4, true},
  };
  int total = 0;
  constexpr int kDeepest = 3;
  for (const Row& r : kRows) total += r.nests && scope.depth >= kDeepest ? 0 : r.weight;
  int at = Below(total);
  for (const Row& r : kRows) {
    if (r.nests && scope.depth >= kDeepest) continue;
    at -= r.weight;
    if (at < 0) return (this->*r.step)(scope);
  }
  return false;
}

// --- @main ---

namespace {

TypePtr TensorOf(DType dtype, Shape shape) {
  constexpr Range kInputs = {2, 0, 0.25};
  return TensorType(dtype, std::move(shape), IsFloat(dtype) ? kInputs : Range{});
}

}  // namespace

std::vector<TypePtr> Generator::SomeFields() {
  Size unknown;
  unknown.unknown = next_unknown_++;
  auto f32 = [](Shape shape) {
    return TensorType(DType::kFloat32, std::move(shape), ContractRange(DType::kFloat32));
  };
  std::vector<TypePtr> choice = {
      ScalarType(DType::kInt32),
      ScalarType(DType::kInt32),
      ScalarType(DType::kBool),
      ScalarType(DType::kInt64),
      ScalarType(DType::kFloat32),
      f32({StaticSize(2)}),
      f32({unknown, StaticSize(2)}),
      AdtType("List", {ScalarType(DType::kInt32)}),
      AdtType("Option", {ScalarType(DType::kInt32)}),
      AdtType("Tree", {f32({StaticSize(2)})}),
      TupleType({ScalarType(DType::kInt32), ScalarType(DType::kBool)}),
      AdtType("Own"),
      AdtType("Own"),
  };
  std::vector<TypePtr> fields;
  for (int i = Below(4); i > 0; --i) fields.push_back(OneOf(choice));
  return fields;
}

void Generator::DeclareData() {
  definitions_ +=
      "type List[A] { Cons(A, List[A]), Nil }\n"
      "type Option[A] { Some(A), None_ }\n"
      "type Tree[A] { Leaf(A), Node(Tree[A], A, Tree[A]) }\n";
  own_constructors_ = {{"Own0", {ScalarType(DType::kInt32)}}};
  for (int i = Between(1, 4); i > 0; --i) {
    own_constructors_.push_back({fmt::format("Own{}", own_constructors_.size()), SomeFields()});
  }
  definitions_ += "type Own { ";
  for (const Constructor& c : own_constructors_) {
    std::string fields;
    for (const TypePtr& f : c.fields) fields += (fields.empty() ? "" : ", ") + TypeText(*f);
    definitions_ += fields.empty() ? c.name : fmt::format("{}({})", c.name, fields);
    definitions_ += &c == &own_constructors_.back() ? " }\n" : ", ";
  }
}

TypePtr Generator::ParameterType(int index) {
  if (index == 0) return ScalarType(DType::kInt32);
  if (index > 2 && Chance(40)) {
    Size any;
    any.unknown = next_unknown_++;
    TypePtr row = TensorType(DType::kFloat32, {any, StaticSize(2)}, ContractRange(DType::kFloat32));
    std::vector<TypePtr> choice = {
        AdtType("List", {row}),
        AdtType("List", {ScalarType(DType::kInt32)}),
        AdtType("Tree", {ScalarType(DType::kInt32)}),
        AdtType("Tree",
                {TensorType(DType::kFloat32, {StaticSize(3)}, ContractRange(DType::kFloat32))}),
        AdtType("Option", {ScalarType(DType::kInt64)}),
        AdtType("Own"),
        TupleType({ScalarType(DType::kInt32), AdtType("List", {row})}),
        TupleType({TensorOf(DType::kFloat32, {SomeSize(), StaticSize(3)}),
                   TensorOf(DType::kFloat32, {SomeSize(), StaticSize(3)})}),
        TupleType({TensorOf(DType::kInt64, {SomeSize()}), TensorOf(DType::kInt64, {SomeSize()}),
                   TensorOf(DType::kInt64, {SomeSize()})}),
    };
    Use("adt.parameter");
    return OneOf(choice);
  }
  static const std::vector<DType> kDTypes = {
      DType::kFloat32, DType::kFloat32, DType::kFloat32, DType::kFloat32,
      DType::kFloat64, DType::kInt32,   DType::kInt32,   DType::kInt64,
      DType::kBool,    DType::kInt8,    DType::kUInt8,   DType::kFloat16,
      DType::kInt16,   DType::kUInt16,  DType::kUInt32,  DType::kUInt64,
  };
  DType dtype = index <= 2 ? DType::kFloat32 : OneOf(kDTypes);
  Shape shape;
  int rank = index <= 2 ? Between(1, 3) : Below(4);
  for (int i = 0; i < rank; ++i) shape.push_back(SomeSize());
  return TensorOf(dtype, std::move(shape));
}

Size Generator::SomeSize() {
  if (Chance(55)) return StaticSize(OneOf<int64_t>({1, 2, 3, 4, 4, 5, 8, 17}));
  Size s;
  s.at = dynamic_[static_cast<size_t>(Below(4))];
  for (int64_t n : s.at) {
    if (n == 1) Use("size.one");
  }
  return s;
}

std::string Generator::InputText(const Type& type, int run, int depth) {
  auto number = [&](DType t) {
    if (t == DType::kBool) return std::string(Chance(50) ? "true" : "false");
    if (IsFloat(t)) return fmt::format("{}", 0.25 * Between(-8, 8));
    constexpr int kExtremePercent = 3;
    if (!Chance(kExtremePercent))
      return std::to_string(IsSignedInt(t) ? Between(-9, 9) : Below(10));
    Use("extreme_integer");
    int unused = 64 - DTypeBits(t);
    if (!IsSignedInt(t)) return std::to_string(UINT64_MAX >> unused);
    return std::to_string((Chance(50) ? INT64_MIN : INT64_MAX) >> unused);
  };
  if (type.IsTensor()) {
    std::vector<int64_t> dims;
    int64_t count = 1;
    for (const Size& s : type.shape) {
      dims.push_back(s.known() ? s.at[static_cast<size_t>(run)] : Below(4));
      count *= dims.back();
    }
    if (count == 0) {
      return fmt::format("{}x{}=0", fmt::join(dims, "x"), DTypeName(type.dtype));
    }
    std::string text;
    for (int64_t i = 0; i < count; ++i) {
      int64_t block = 1;
      std::string open, close;
      for (size_t d = dims.size(); d-- > 0;) {
        block *= dims[d];
        if (i % block == 0) open += '[';
        if ((i + 1) % block == 0) close += ']';
      }
      if (i > 0) text += ", ";
      text += open;
      text += number(type.dtype);
      text += close;
    }
    return text;
  }
  if (type.Is(Type::Kind::kTuple)) {
    std::string fields;
    for (const TypePtr& f : type.args) fields += InputText(*f, run, depth + 1) + ", ";
    return "(" + fields + ")";
  }
  std::vector<Constructor> all = ConstructorsOf(type);
  constexpr int kDeepest = 4;
  bool list = type.adt == "List";
  // The first constructor of the others is small; a list ends with its second.
  size_t at =
      depth >= kDeepest ? (list ? 1 : 0) : static_cast<size_t>(Below(static_cast<int>(all.size())));
  if (list && depth < kDeepest) at = Chance(75) ? 0 : 1;
  std::string fields;
  for (const TypePtr& f : all[at].fields) {
    fields += (fields.empty() ? "" : ", ") + InputText(*f, run, depth + 1);
  }
  return fields.empty() ? all[at].name : fmt::format("{}({})", all[at].name, fields);
}

RandomProgram Generator::Run() {
  RandomProgram program;
  bool zero = Chance(10);
  for (auto& size : dynamic_) {
    size = {Between(2, 6), Chance(50) ? 1 : Between(1, 4), Between(1, 19)};
    if (zero && Chance(50)) size[1] = 0;
  }
  DeclareData();
  Scope scope;
  std::string params;
  int count = Between(4, 6);
  for (int i = 0; i < count; ++i) {
    TypePtr type = ParameterType(i);
    std::string name = fmt::format("%p{}", i);
    params += fmt::format("{}{}: {}", i == 0 ? "" : ", ", name, TypeText(*type));
    for (int run = 0; run < kRuns; ++run) {
      program.inputs[static_cast<size_t>(run)].push_back(InputText(*type, run, 0));
    }
    Declare(scope, name, type);
  }
  budget_ = Between(12, 36);
  while (budget_ > 0) Steps(scope, 1);

  // What nothing has used yet comes first, so that little of the program is dead.
  std::vector<const Value*> results;
  for (int round = 0; round < 2; ++round) {
    for (const Value& v : scope.values) {
      bool printable =
          !Contains(*v.type, Type::Kind::kFunction) && !Contains(*v.type, Type::Kind::kRef);
      if (printable && (v.uses == 0) == (round == 0) && (round == 0 || results.size() < 4)) {
        results.push_back(&v);
      }
    }
  }
  constexpr size_t kMostResults = 12;
  if (results.size() > kMostResults) results.erase(results.begin(), results.end() - kMostResults);
  std::string result;
  for (const Value* v : results) result += v->text + ", ";
  program.text = fmt::format("#[version = \"0.0.5\"]\n{}def @main({}) {{\n{}  ({})\n}}\n",
                             definitions_, params, scope.lines, result);
  program.features = features_;
  return program;
}

}  // namespace relayvm::random_programs

// What converters read of their calls, and the dtypes of results.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/sequence.h"
#include "compiler/import/torch/complex_calls.h"

namespace relayvm::import::torch {

namespace {

using Kind = Argument::Kind;

const Argument& NoArgument() {
  static const Argument kNone;
  return kNone;
}

}  // namespace

Call::Call(TypedBuilder& b, const Operator& op, std::vector<Argument> arguments)
    : b_(b), op_(op), arguments_(std::move(arguments)) {}

std::string_view Call::name() const { return op_.schema.name; }
std::string_view Call::overload() const { return op_.schema.overload; }

const Argument& Call::Arg(size_t i) const {
  return i < arguments_.size() ? arguments_[i] : NoArgument();
}
const Argument& Call::Arg(std::string_view name) const {
  const int i = op_.schema.Find(name);
  return i < 0 ? NoArgument() : Arg(static_cast<size_t>(i));
}

Failed Call::Note(StatusCode code, std::string_view why) const {
  return b_.Fail(code, "{}: {}", name(), why);
}

std::string Call::InputText(size_t i, std::string_view what) const {
  const bool named = i < schema().arguments.size();
  return named ? fmt::format("{} of {}", what, name()) : std::string(what);
}
ir::Span Call::InputSpan(size_t /*i*/, std::string_view /*what*/) const { return b_.span(); }

// --- Tensors ---

Value Call::AsTensor(const Argument& a, std::string_view what) const {
  if (a.is_tensor() || a.is_none()) return a.value;
  if (a.is(Kind::kComplex)) {
    Unsupported("{}: a complex number is not supported", what);
    return b_.Scalar(0, DType::kFloat32);
  }
  if (a.is_number()) return ScalarValue(b_, a, DTypeOfNumber(a));
  Fail("{}: expected a tensor, found {}", what, KindText(a));
  return b_.Scalar(0, DType::kFloat32);
}

Value Call::Input(size_t i) const {
  return AsTensor(Arg(i), i < schema().arguments.size()
                              ? std::string_view(schema().arguments[i].name)
                              : std::string_view("an argument"));
}
Value Call::Tensor(std::string_view name) const { return AsTensor(Arg(name), name); }

std::vector<Value> Call::Tensors(std::string_view name) const {
  const Argument& a = Arg(name);
  std::vector<Value> values;
  if (a.is(Kind::kSequence)) {
    if (a.value.type != nullptr && a.value.type->As<ir::TupleType>() != nullptr)
      return b_.Fields(a.value);
    return Unsupported("{}: the number of tensors must be known when compiling", name);
  }
  if (!a.is_list()) return a.is_none() ? values : std::vector<Value>{AsTensor(a, name)};
  for (const Argument& item : a.items) values.push_back(AsTensor(item, name));
  return values;
}

std::vector<Value> Call::OptionalTensors(std::string_view name) const { return Tensors(name); }

// --- Known numbers ---

std::optional<double> Call::Known(const Argument& a) const {
  if (a.is_known_number()) return a.number();
  if (!a.value.is_tensor()) return std::nullopt;
  const Argument scalar =
      a.value.rank() == 0 || a.value.constant != nullptr ? ScalarArgument(b_, a.value) : a;
  return scalar.is_known_number() ? std::optional(scalar.number()) : std::nullopt;
}

std::optional<int64_t> Call::KnownInt(const Argument& a) const {
  if (a.is(Kind::kInt) || a.is(Kind::kBool)) return a.integer;
  if (a.is(Kind::kFloat)) return static_cast<int64_t>(a.real);
  if (!a.value.is_tensor()) return std::nullopt;
  const auto known = b_.ConstantInts(a.value);
  return known && known->size() == 1 ? std::optional((*known)[0]) : std::nullopt;
}
std::optional<int64_t> Call::KnownInt(std::string_view name) const { return KnownInt(Arg(name)); }

int64_t Call::MustKnow(const Argument& a, std::string_view name) const {
  if (const auto known = KnownInt(a)) return *known;
  if (a.is_int() || a.is_tensor()) {
    Unsupported("{} must be a number that is known when compiling", name);
  } else {
    Fail("{}: expected an integer, found {}", name, KindText(a));
  }
  return 0;
}

int64_t Call::Int(std::string_view name, int64_t fallback) const {
  const Argument& a = Arg(name);
  return a.is_none() ? fallback : MustKnow(a, name);
}

double Call::Float(std::string_view name, double fallback) const {
  const Argument& a = Arg(name);
  if (a.is_none()) return fallback;
  if (const auto known = Known(a)) return *known;
  Unsupported("{} must be a number that is known when compiling", name);
  return fallback;
}

bool Call::Bool(std::string_view name, bool fallback) const {
  return Int(name, fallback ? 1 : 0) != 0;
}

std::string Call::String(std::string_view name, std::string_view fallback) const {
  const Argument& a = Arg(name);
  if (a.is_none()) return std::string(fallback);
  if (!a.is(Kind::kString)) Fail("{}: expected a text, found {}", name, KindText(a));
  return a.text;
}

std::vector<int64_t> Call::Ints(std::string_view name) const {
  const Argument& a = Arg(name);
  std::vector<int64_t> out;
  if (a.is_none()) return out;
  if (a.is_list()) {
    for (const Argument& item : a.items) out.push_back(MustKnow(item, name));
    return out;
  }
  if (a.is_tensor() && a.value.rank() == 1) {
    if (auto known = b_.ConstantInts(a.value)) return *known;
  }
  const int at = op_.schema.Find(name);
  const int64_t length = at < 0 ? 0 : op_.schema.arguments[static_cast<size_t>(at)].type.length;
  out.assign(static_cast<size_t>(std::max<int64_t>(length, 1)), MustKnow(a, name));
  return out;
}

std::vector<double> Call::Floats(std::string_view name) const {
  const Argument& a = Arg(name);
  std::vector<double> out;
  if (a.is_none()) return out;
  const auto add = [&](const Argument& item) {
    const auto known = Known(item);
    if (!known) Unsupported("{} must be numbers that are known when compiling", name);
    out.push_back(known.value_or(0));
  };
  if (!a.is_list()) {
    add(a);
    return out;
  }
  for (const Argument& item : a.items) add(item);
  return out;
}

std::vector<int64_t> Call::Ints(std::string_view name, size_t count, int64_t fallback) const {
  std::vector<int64_t> out = Ints(name);
  if (out.empty()) out.assign(count, fallback);
  if (out.size() == 1) out.assign(count, out[0]);
  if (out.size() != count) {
    Fail("{}: {} numbers, expected {}", name, out.size(), count);
    out.resize(count, fallback);
  }
  return out;
}

std::optional<DType> Call::Dtype(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  const int64_t number = Int(name);
  const auto dtype = DTypeOfTorch(number);
  if (!dtype) Unsupported("{} is not supported", TorchDTypeName(number));
  return dtype;
}

// --- Numbers that only running may tell ---

Value Call::Number(std::string_view name, DType dtype) const {
  const Argument& a = Arg(name);
  if (a.is_tensor()) {
    const Value v = a.value.rank() == 0 ? a.value : b_.Reshape(a.value, {});
    return b_.Cast(v, dtype);
  }
  return ScalarValue(b_, a, dtype);
}

Value Call::SymInt(const Argument& a, std::string_view name) const {
  if (a.is_number() || a.is_tensor()) {
    const Value v = a.is_tensor() ? b_.Reshape(a.value, {}) : ScalarValue(b_, a, DType::kInt64);
    return b_.Cast(v, DType::kInt64);
  }
  Fail("{}: expected an integer, found {}", name, KindText(a));
  return b_.Int(0);
}
Value Call::SymInt(std::string_view name) const { return SymInt(Arg(name), name); }

std::vector<Value> Call::SymInts(std::string_view name) const {
  const Argument& a = Arg(name);
  std::vector<Value> out;
  if (a.is_none()) return out;
  if (!a.is_list()) {
    out.push_back(SymInt(a, name));
    return out;
  }
  for (const Argument& item : a.items) out.push_back(SymInt(item, name));
  return out;
}

Value Call::Sizes(std::string_view name) const {
  const Argument& a = Arg(name);
  if (a.is_tensor() && a.value.rank() == 1) return b_.Cast(a.value, DType::kInt64);
  std::vector<Value> parts;
  std::vector<int64_t> known;
  for (const Value& v : SymInts(name)) {
    if (const auto number = b_.ConstantInts(v)) known.push_back((*number)[0]);
    parts.push_back(b_.Reshape(v, {1}));
  }
  if (known.size() == parts.size()) return b_.Ints(known);
  return b_.Concat(parts, 0);
}

// --- Axes ---

int Call::Axis(std::string_view name, int rank, int64_t fallback) const {
  return AxisIn(b_, Int(name, fallback), std::max(rank, 1));
}

std::vector<int64_t> Call::Axes(std::string_view name, int rank, bool empty_is_none) const {
  const std::vector<int64_t> given = Ints(name);
  if (!Has(name) || (given.empty() && !empty_is_none)) return Iota(rank);
  std::vector<int64_t> axes;
  for (const int64_t axis : given) axes.push_back(AxisIn(b_, axis, std::max(rank, 1)));
  if (rank == 0) return {};
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    Fail("{}: an axis is given twice", name);
    return {};
  }
  return axes;
}

// --- Beside results ---

void Call::Write(std::string_view name, const Value& value) {
  const int i = op_.schema.Find(name);
  if (i >= 0) writes_.emplace_back(static_cast<size_t>(i), value);
}

std::vector<Argument> Call::As(std::string_view full_name, std::vector<Argument> arguments,
                               const Expected& expected) const {
  const size_t dot = full_name.find('.');
  const Operator* op =
      FindOperator(full_name.substr(0, dot),
                   dot == std::string_view::npos ? std::string_view() : full_name.substr(dot + 1));
  if (op == nullptr) {
    Unsupported("it needs {}, which is not supported", full_name);
    return {};
  }
  auto bound = Bind(op->schema, arguments, {}, /*convert=*/true);
  if (!bound.ok()) {
    b_.Fail(bound.status().code(), bound.status().message());
    return {};
  }
  Call call(b_, *op, *std::move(bound));
  call.Expect(expected);
  return Converted(call);
}
Value Call::ValueAs(std::string_view full_name, std::vector<Argument> arguments) const {
  const std::vector<Argument> results = As(full_name, std::move(arguments));
  return results.empty() ? b_.Scalar(0, DType::kFloat32) : results[0].value;
}

// --- Dtypes ---

namespace {

int CategoryOf(DType t) { return t == DType::kBool ? 0 : IsFloat(t) ? 2 : 1; }

DType Wider(DType x, DType y) {
  if (x == y) return x;
  if (CategoryOf(x) != CategoryOf(y)) return CategoryOf(x) > CategoryOf(y) ? x : y;
  const int bytes = std::max(DTypeBytes(x), DTypeBytes(y));
  if (IsFloat(x)) {
    if (DTypeBytes(x) == DTypeBytes(y)) return DType::kFloat32;  // float16 and bfloat16
    return DTypeBytes(x) > DTypeBytes(y) ? x : y;
  }
  if (IsSignedInt(x) == IsSignedInt(y)) return DTypeBytes(x) > DTypeBytes(y) ? x : y;
  const DType is_signed = IsSignedInt(x) ? x : y;
  if (DTypeBytes(is_signed) == bytes && DTypeBytes(x) != DTypeBytes(y)) return is_signed;
  return bytes == 1 ? DType::kInt16 : bytes == 2 ? DType::kInt32 : DType::kInt64;
}

std::optional<DType> Widest(std::span<const Argument> operands, int level) {
  std::optional<DType> widest;
  for (const Argument& a : operands) {
    if (a.is_none()) continue;
    const int own = !a.is_tensor() ? 2 : a.value.rank() == 0 ? 1 : 0;
    if (own != level) continue;
    const DType t = a.is_tensor() ? a.value.dtype() : DTypeOfNumber(a);
    widest = widest ? Wider(*widest, t) : t;
  }
  return widest;
}

std::optional<DType> Combined(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher || !lower) return higher ? higher : lower;
  if (IsFloat(*higher)) return higher;
  if (*higher == DType::kBool || IsFloat(*lower)) return Wider(*higher, *lower);
  return higher;
}

}  // namespace

DType ResultType(std::span<const Argument> operands) {
  const auto result =
      Combined(Widest(operands, 0), Combined(Widest(operands, 1), Widest(operands, 2)));
  return result.value_or(DType::kFloat32);
}
DType FloatResultType(std::span<const Argument> operands) {
  const DType t = ResultType(operands);
  return IsFloat(t) ? t : DType::kFloat32;
}

}  // namespace relayvm::import::torch

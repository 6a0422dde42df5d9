#include "compiler/typing/op_typing.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bytecode/base/dim.h"
#include "bytecode/verifier.h"
#include "compiler/ir/scalar.h"
#include "kernels/te/evaluate.h"
#include "kernels/te/scalar.h"

namespace relayvm::typing {

// --- Broadcasting ---

Broadcasts::Made Broadcasts::PartsOf(const Dim& d) const {
  if (d.is_const(1)) return {{}, Dim(1), Dim(1)};
  auto it = parts_.find(d);
  return it == parts_.end() ? Made{{d}, d, Dim::Min(Dim(1), d)} : it->second;
}

Dim Broadcasts::Combine(const Dim& a, const Dim& b, bool* proved) {
  *proved = true;
  Made x = PartsOf(a);
  Made y = PartsOf(b);
  // That `a` exists says that its parts broadcast with each other.
  if (std::includes(x.parts.begin(), x.parts.end(), y.parts.begin(), y.parts.end())) return a;
  if (std::includes(y.parts.begin(), y.parts.end(), x.parts.begin(), x.parts.end())) return b;
  *proved = false;
  Made both;
  std::set_union(x.parts.begin(), x.parts.end(), y.parts.begin(), y.parts.end(),
                 std::back_inserter(both.parts));
  for (const Dim& d : both.parts) {
    if (d.is_const()) return d;  // above 1: the others are it, or 1
  }
  both.largest = Dim::Max(x.largest, y.largest);
  both.smallest = Dim::Min(x.smallest, y.smallest);
  Dim result = both.largest * both.smallest;
  parts_.emplace(result, std::move(both));
  return result;
}

// --- The context of a relation ---

namespace {

// A shape operand longer than this is a mistake.
constexpr int64_t kMaxShapeElements = 1 << 16;

class Context final : public TypeContext {
 public:
  Context(const OpDef& op, const Attrs& attrs, std::span<const ArgType> args, OpHost& host)
      : op_(op), attrs_(attrs), args_(args), host_(host) {}

  const Attrs& attrs() const override { return attrs_; }
  size_t num_args() const override { return args_.size(); }
  const ArgType& arg(size_t i) const override { return args_[i]; }

  Result<std::vector<Dim>> Elements(size_t i) override {
    RELAYVM_RETURN_IF_ERROR(CheckTensor(i));
    const TensorType& t = tensor(i);
    if (t.dtype == DType::kFloat16 || t.dtype == DType::kBFloat16) {
      return Fail(fmt::format("argument {}: expected integers, found {}", i, DTypeName(t.dtype)));
    }
    Dim size = ProductOf(t.shape);
    if (!size.is_const()) {
      return Fail(StatusCode::kUnsupported,
                  fmt::format("argument {}: its length decides a rank and must be static, but its "
                              "shape is {}",
                              i, ShapeToString(t.shape)));
    }
    if (size.value() < 0 || size.value() > kMaxShapeElements) {
      return Fail(
          fmt::format("argument {}: {} elements are too many for a shape", i, size.value()));
    }
    if (const ir::Constant* c = host_.ConstantArg(i)) {
      std::vector<int64_t> values = IntegerElements(c->value);
      std::vector<Dim> elements(values.begin(), values.end());
      for (const Dim& d : elements) RELAYVM_RETURN_IF_ERROR(RequireInt64(d, i));
      return elements;
    }
    std::vector<Dim> elements = host_.Elements(i, size.value());
    for (Dim& d : elements) {
      d = SizeOf(d, i);
      RELAYVM_RETURN_IF_ERROR(RequireInt64(d, i));
    }
    return elements;
  }

  Result<Dim> Element(size_t i, size_t index) override {
    RELAYVM_RETURN_IF_ERROR(CheckTensor(i));
    const TensorType& t = tensor(i);
    if (t.rank() != 1 || IsFloat(t.dtype) || t.dtype == DType::kString || t.shape[0].is_const()) {
      RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> elements, Elements(i));
      if (index < elements.size()) return std::move(elements[index]);
      return Fail(fmt::format("argument {}: expected more than {} element{}, found {}", i, index,
                              index == 1 ? "" : "s", elements.size()));
    }
    RELAYVM_RETURN_IF_ERROR(RequireAtLeast(t.shape[0], Dim(static_cast<int64_t>(index) + 1),
                                           fmt::format("the length of argument {}", i)));
    Dim element = SizeOf(host_.Element(i, static_cast<int64_t>(index)), i);
    RELAYVM_RETURN_IF_ERROR(RequireInt64(element, i));
    return element;
  }

  Result<Dim> ComputeDim(std::span<const ScalarStep> steps) override {
    return host_.ComputeDim(steps);
  }

  Result<std::vector<Dim>> ShapeByRule(const RuledShape& shape) override {
    return host_.ShapeByRule(shape);
  }

  std::optional<std::vector<int64_t>> ConstantElements(size_t i) override {
    if (i >= args_.size() || args_[i].is_tuple) return std::nullopt;
    const ir::Constant* c = host_.ConstantArg(i);
    bool half = tensor(i).dtype == DType::kFloat16 || tensor(i).dtype == DType::kBFloat16;
    if (c != nullptr && !half) return IntegerElements(c->value);
    if (!TrackedSize(tensor(i))) return std::nullopt;
    std::vector<int64_t> values;
    for (const Dim& d : host_.Elements(i, *TrackedSize(tensor(i)))) {
      if (!d.is_const()) return std::nullopt;
      values.push_back(d.value());
    }
    return values;
  }

  std::optional<std::vector<double>> ConstantFloats(size_t i) override {
    if (i >= args_.size() || args_[i].is_tuple) return std::nullopt;
    if (!IsFloat(tensor(i).dtype)) {
      auto integers = ConstantElements(i);
      if (!integers) return std::nullopt;
      return std::vector<double>(integers->begin(), integers->end());
    }
    const ir::Constant* c = host_.ConstantArg(i);
    if (c == nullptr) return std::nullopt;
    if (c->value.dtype != DType::kFloat32 && c->value.dtype != DType::kFloat64) return std::nullopt;
    std::vector<double> out;
    for (int64_t k = 0; k < c->value.size(); ++k) out.push_back(ir::NumberAt(c->value, k));
    return out;
  }

  Dim FreshSymbol(std::string_view name) override { return host_.NewSymbol(name); }

  Status RequireEqual(const Dim& a, const Dim& b, std::string_view what) override {
    if (a == b) return OkStatus();
    if (Dim::ProvablyDifferent(a, b)) return Differ(a, b, what);
    AddGuard(ir::Guard::Kind::kEqual, a, b, what);
    return OkStatus();
  }

  Result<Dim> Broadcast(const Dim& a, const Dim& b, std::string_view what) override {
    if (a.is_const(1) || a == b) return b;
    if (b.is_const(1)) return a;
    // Neither equal nor is either 1.
    if (Dim::ProvablyDifferent(a, b) && Dim::ProvablyDifferent(a, Dim(1)) &&
        Dim::ProvablyDifferent(b, Dim(1))) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: {}: {} and {} do not broadcast", op_.name, what, a.ToString(),
                                b.ToString()));
    }
    bool proved = false;
    Dim result = host_.broadcasts().Combine(a, b, &proved);
    if (!proved) AddGuard(ir::Guard::Kind::kBroadcastable, a, b, what);
    return result;
  }

  Status RequireAtLeast(const Dim& a, const Dim& b, std::string_view what) override {
    Dim difference = a - b;
    auto low = difference.LowerBound();
    if (low && *low >= 0) return OkStatus();
    auto high = difference.UpperBound();
    if (high && *high < 0) {
      return Fail(
          fmt::format("{}: expected at least {}, found {}", what, b.ToString(), a.ToString()));
    }
    AddGuard(ir::Guard::Kind::kAtLeast, a, b, what);
    return OkStatus();
  }

  std::vector<ir::Guard> TakeGuards() { return std::move(guards_); }

  // A dimension that an expression makes must not be negative.
  Status RequireDimension(const Dim& d, size_t tensor, size_t axis) {
    auto low = d.LowerBound();
    if (low && *low >= 0) return OkStatus();
    for (const ArgType& a : args_) {
      for (const TensorType& t : a.tensors) {
        if (std::find(t.shape.begin(), t.shape.end(), d) != t.shape.end()) return OkStatus();
      }
    }
    std::string what = tensor == 0 ? fmt::format("dimension {} of the result", axis)
                                   : fmt::format("dimension {} of result {}", axis, tensor);
    auto high = d.UpperBound();
    if (high && *high < 0) return Fail(fmt::format("{} is negative: {}", what, d.ToString()));
    AddGuard(ir::Guard::Kind::kAtLeast, d, Dim(0), what);
    return OkStatus();
  }

 private:
  // A size that is computed in int32 must not wrap on the way: as a formula without wrapping it can
  // be compared with other sizes.
  Dim SizeOf(const Dim& element, size_t i) {
    std::vector<Dim> exact;
    Dim size = element.WithoutInt32(&exact);
    const std::string what = fmt::format("argument {}, computed in int32", i);
    for (const Dim& d : exact) {
      auto low = d.LowerBound();
      auto high = d.UpperBound();
      if (!low || *low < INT32_MIN) AddGuard(ir::Guard::Kind::kAtLeast, d, Dim(INT32_MIN), what);
      if (!high || *high > INT32_MAX) AddGuard(ir::Guard::Kind::kAtLeast, Dim(INT32_MAX), d, what);
    }
    return size;
  }
  // A Dim is an int64, of which the upper half of uint64 is the negative one.
  Status RequireInt64(const Dim& element, size_t i) {
    if (tensor(i).dtype != DType::kUInt64) return OkStatus();
    return RequireAtLeast(element, Dim(0), fmt::format("argument {}, of uint64, as int64", i));
  }
  Status CheckTensor(size_t i) const {
    if (i < args_.size() && !args_[i].is_tuple) return OkStatus();
    return Fail(fmt::format("argument {}: expected a tensor", i));
  }
  Status Fail(StatusCode code, std::string_view what) const {
    return {code, fmt::format("{}: {}", op_.name, what)};
  }
  Status Fail(std::string_view what) const { return Fail(StatusCode::kInvalidInput, what); }
  Status Differ(const Dim& a, const Dim& b, std::string_view what) const {
    return Fail(fmt::format("{}: {} and {} differ", what, a.ToString(), b.ToString()));
  }
  void AddGuard(ir::Guard::Kind kind, const Dim& a, const Dim& b, std::string_view what) {
    guards_.push_back({kind, a, b, fmt::format("{}: {}", op_.name, what)});
  }

  const OpDef& op_;
  const Attrs& attrs_;
  std::span<const ArgType> args_;
  OpHost& host_;
  std::vector<ir::Guard> guards_;
};

// Nullopt where it is neither a tensor nor a tuple of tensors.
std::optional<ArgType> AsArgType(const ir::Type& type) {
  if (type == nullptr) return std::nullopt;
  if (const auto* tensor = type->As<TensorType>()) return ArgType{false, {*tensor}};
  const auto* tuple = type->As<ir::TupleType>();
  if (tuple == nullptr) return std::nullopt;
  ArgType out{true, {}};
  for (const ir::Type& f : tuple->fields) {
    const auto* tensor = f->As<TensorType>();
    if (tensor == nullptr) return std::nullopt;
    out.tensors.push_back(*tensor);
  }
  return out;
}

// A relation's own messages leave the operator's name out.
Status WithOpName(const OpDef& op, const Status& s) {
  if (s.message().rfind(op.name + ": ", 0) == 0) return s;
  return {s.code(), fmt::format("{}: {}", op.name, s.message())};
}

Status NoStrings(const OpDef& op, const std::string& what, const TensorType& t) {
  return {StatusCode::kUnsupported,
          fmt::format("{}: expected numbers, found strings: {} is Tensor[{}, string]", op.name,
                      what, ShapeToString(t.shape))};
}

// What moves elements makes no strings of numbers: only of strings, or of nothing (zeros).
bool MakesStrings(const OpDef& op, std::span<const ArgType> args) {
  bool moves_numbers = false;
  for (size_t i = 0; i < args.size(); ++i) {
    for (const TensorType& t : args[i].tensors) {
      if (t.dtype == DType::kString) return true;  // it takes them
    }
    moves_numbers |=
        op.compute && std::ranges::find(op.shape_args, static_cast<int>(i)) == op.shape_args.end();
  }
  return op.takes_strings && !moves_numbers;
}

// A tensor larger than this is a mistake: 64 TiB.
constexpr int64_t kMaxTensorBytes = int64_t{1} << 46;

Status CheckSize(const OpDef& op, const TensorType& t) {
  int64_t bytes = DTypeBytes(t.dtype);
  bool too_large = false;
  for (const Dim& d : t.shape) {
    if (d.is_const(0)) return OkStatus();
    if (!d.is_const() || too_large) continue;
    too_large = __builtin_mul_overflow(bytes, d.value(), &bytes) || bytes > kMaxTensorBytes;
  }
  if (!too_large) return OkStatus();
  return {StatusCode::kInvalidInput,
          fmt::format("{}: the result is too large: Tensor[{}, {}] takes more than {} bytes",
                      op.name, ShapeToString(t.shape), DTypeName(t.dtype), kMaxTensorBytes)};
}

// Nodes of an expression that nobody would want to run at each call.
constexpr size_t kMaxArithmetic = 4096;

Status TooLarge(const OpDef& op) {
  return {StatusCode::kUnsupported,
          fmt::format("{}: the arithmetic on its dims is too large", op.name)};
}

}  // namespace

Result<std::vector<ArgType>> ArgTypes(const OpDef& op, std::span<const ir::Type> types) {
  std::vector<ArgType> args;
  for (size_t i = 0; i < types.size(); ++i) {
    std::optional<ArgType> arg = AsArgType(types[i]);
    if (!arg) return WithOpName(op, WrongArg(op, i, ir::TypeToString(types[i])));
    args.push_back(*std::move(arg));
  }
  return args;
}

Result<OpTyping> TypeOp(const OpDef& op, const Attrs& attrs, std::span<const ArgType> args,
                        OpHost& host) {
  if (Status s = CheckArgs(op, args); !s.ok()) return WithOpName(op, s);
  if (!op.takes_strings) {
    for (size_t i = 0; i < args.size(); ++i) {
      for (const TensorType& t : args[i].tensors) {
        if (t.dtype == DType::kString) return NoStrings(op, fmt::format("argument {}", i), t);
      }
    }
  }
  Context context(op, attrs, args, host);
  if (!op.infer) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: has no type relation", op.name));
  }
  auto inferred = op.infer(context);
  if (!inferred.ok()) return WithOpName(op, inferred.status());
  OpTyping typing{std::move(inferred).value(), {}};
  if (!typing.result.is_tuple && typing.result.tensors.size() != 1) {
    return Status(StatusCode::kInternal, fmt::format("{}: its type relation gives {} results",
                                                     op.name, typing.result.tensors.size()));
  }
  for (size_t t = 0; t < typing.result.tensors.size(); ++t) {
    if (typing.result.tensors[t].dtype == DType::kString && !MakesStrings(op, args))
      return NoStrings(op, "the result", typing.result.tensors[t]);
    auto& shape = typing.result.tensors[t].shape;
    if (shape.size() > kMaxTensorRank) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{}: the result has {} dimensions, a tensor has at most {}",
                                op.name, shape.size(), kMaxTensorRank));
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].ContainsAny()) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("{}: dimension {} of the result can't be told from the arguments",
                                  op.name, i));
      }
      if (shape[i].Size() > kMaxArithmetic) return TooLarge(op);
      bool is_number = shape[i].kind() != Dim::Kind::kAdd && shape[i].kind() != Dim::Kind::kMul;
      shape[i].ForEachSymbol([&](const Dim&) { is_number = true; });
      if (!is_number) {
        return Status(StatusCode::kInvalidInput,
                      fmt::format("{}: dimension {} of the result, {}, does not fit 64 bits",
                                  op.name, i, shape[i].ToString()));
      }
      RELAYVM_RETURN_IF_ERROR(context.RequireDimension(shape[i], t, i));
      if (shape[i].Size() > kMaxDimSize) shape[i] = host.NameDim(shape[i]);
    }
    RELAYVM_RETURN_IF_ERROR(CheckSize(op, typing.result.tensors[t]));
  }
  typing.guards = context.TakeGuards();
  for (const ir::Guard& g : typing.guards) {
    if (std::max(g.left.Size(), g.right.Size()) > kMaxArithmetic) return TooLarge(op);
  }
  return typing;
}

// --- Elements ---

std::optional<int64_t> TrackedSize(const TensorType& t) {
  if (!IsInt(t.dtype) || t.rank() > 4) return std::nullopt;
  int64_t size = 1;
  for (const Dim& d : t.shape) {
    if (!d.is_const() || d.value() < 0 || d.value() > kMaxTrackedElements) return std::nullopt;
    size *= d.value();
  }
  if (size > kMaxTrackedElements) return std::nullopt;
  return size;
}

std::vector<int64_t> IntegerElements(const HostTensor& t) {
  std::vector<int64_t> out(static_cast<size_t>(t.size()));
  const bool is_half = t.dtype == DType::kFloat16 || t.dtype == DType::kBFloat16;
  if (is_half || t.dtype == DType::kString)
    return out;  // no program writes shapes so; see Elements
  constexpr double kEnd = 0x1p63;
  const auto width = static_cast<size_t>(DTypeBytes(t.dtype));
  for (size_t i = 0; i < out.size(); ++i) {
    const te::Scalar x = te::ReadElement(t.dtype, t.data.data() + i * width);
    // What is no number is no size either.
    out[i] = !IsFloat(t.dtype) ? x.i
             : x.f >= kEnd     ? std::numeric_limits<int64_t>::max()
             : x.f >= -kEnd    ? static_cast<int64_t>(x.f)
                               : std::numeric_limits<int64_t>::min();
  }
  return out;
}

std::vector<std::optional<std::vector<Dim>>> EvaluateElements(
    const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
    std::span<const TensorType> outputs,
    const std::function<std::optional<std::vector<Dim>>(size_t)>& elements, bool bools) {
  std::vector<std::optional<std::vector<Dim>>> out(outputs.size());
  auto size_of = [&](const TensorType& t) -> std::optional<int64_t> {
    if (bools && t.dtype == DType::kBool) return TrackedSize({t.shape, DType::kInt32});
    const bool holds_dims = t.dtype == DType::kInt32 || t.dtype == DType::kInt64;
    return holds_dims ? TrackedSize(t) : std::nullopt;
  };
  auto tracked = [&](const TensorType& t) { return size_of(t).has_value(); };
  if (!op.compute || std::none_of(outputs.begin(), outputs.end(), tracked)) return out;
  std::vector<std::optional<std::vector<Dim>>> known;
  std::vector<te::Tensor> placeholders;
  for (size_t i = 0; i < inputs.size(); ++i) {
    known.push_back(elements(i));
    placeholders.push_back(te::Placeholder(fmt::format("p{}", i), inputs[i].shape, inputs[i].dtype,
                                           static_cast<int>(i)));
  }
  ComputeContext context{attrs, placeholders, outputs};
  std::vector<te::Tensor> results = op.compute(context);
  for (size_t r = 0; r < results.size() && r < outputs.size(); ++r) {
    if (!tracked(outputs[r])) continue;
    auto values = te::EvaluateSymbolic(results[r], known);
    if (!values || values->size() != static_cast<size_t>(*size_of(outputs[r]))) continue;
    bool simple = std::all_of(values->begin(), values->end(), [](const Dim& d) {
      return !d.ContainsAny() && d.Size() <= kMaxDimSize;
    });
    if (simple) out[r] = std::move(values);
  }
  return out;
}

}  // namespace relayvm::typing

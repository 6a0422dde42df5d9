#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bytecode/base/printable.h"
#include "compiler/import/checked.h"
#include "compiler/import/tensorflow/graph_importer.h"
#include "compiler/ir/scalar.h"

namespace relayvm::import::tensorflow {

TypedBuilder& NodeContext::b() const { return importer_.b(); }
std::string_view NodeContext::op() const { return node_.op; }
std::string_view NodeContext::name() const { return node_.name; }
bool NodeContext::WantsOutput(size_t i) const { return importer_.WantsOutput(node_, i); }
void NodeContext::Warn(std::string_view what) { importer_.Warn(what); }

std::string NodeContext::InputText(size_t i, std::string_view what) const {
  return fmt::format("{} '{}'", what, importer_.TextOfInput(node_, i));
}
ir::Span NodeContext::InputSpan(size_t i, std::string_view what) const {
  return importer_.SpanOf(node_, InputText(i, what));
}

std::vector<Value> NodeContext::As(std::string_view op, std::vector<Value> inputs) {
  const OperatorDef* def = FindOperator(op);
  if (def == nullptr) return Unsupported("there is no operator {}", op);
  NodeContext context(importer_, node_, std::move(inputs));
  return b().status().ok() ? def->convert(context) : std::vector<Value>();
}

// --- Attributes ---

bool NodeContext::HasAttr(std::string_view name) const {
  return importer_.AttrOf(node_, name).kind != AttrValue::Kind::kNone;
}

AttrValue NodeContext::Find(std::string_view name, AttrValue::Kind kind) {
  const AttrValue value = importer_.AttrOf(node_, name);
  if (value.kind == kind || value.kind == AttrValue::Kind::kNone) return value;
  Fail("attribute {}: expected {}, found {}", name, KindName(kind), KindName(value.kind));
  return {};
}

bool NodeContext::Bool(std::string_view name, bool fallback) {
  const AttrValue value = Find(name, AttrValue::Kind::kBool);
  return value.kind == AttrValue::Kind::kNone ? fallback : value.number != 0;
}
int64_t NodeContext::Int(std::string_view name, int64_t fallback) {
  const AttrValue value = Find(name, AttrValue::Kind::kInt);
  return value.kind == AttrValue::Kind::kNone ? fallback : value.number;
}
int64_t NodeContext::Count(std::string_view name, int64_t fallback) {
  const int64_t value = Int(name, fallback);
  if (value >= 0 && value <= INT32_MAX) return value;
  Fail("attribute {}: expected 0 to {}, found {}", name, INT32_MAX, value);
  return fallback;
}
double NodeContext::Float(std::string_view name, double fallback) {
  const AttrValue value = Find(name, AttrValue::Kind::kFloat);
  return value.kind == AttrValue::Kind::kNone ? fallback : value.real;
}
std::string NodeContext::String(std::string_view name, std::string_view fallback) {
  const AttrValue value = Find(name, AttrValue::Kind::kString);
  return std::string(value.kind == AttrValue::Kind::kNone ? fallback : value.bytes);
}

std::vector<AttrValue> NodeContext::List(std::string_view name, AttrValue::Kind kind) {
  std::vector<AttrValue> list = ReadList(Find(name, AttrValue::Kind::kList).bytes);
  for (const AttrValue& value : list) {
    if (value.kind == kind) continue;
    Fail("attribute {}: expected a list of {}, found {}", name, KindName(kind),
         KindName(value.kind));
    return {};
  }
  return list;
}

std::vector<int64_t> NodeContext::Ints(std::string_view name, std::vector<int64_t> fallback) {
  if (!HasAttr(name)) return fallback;
  std::vector<int64_t> out;
  for (const AttrValue& value : List(name, AttrValue::Kind::kInt)) out.push_back(value.number);
  return out;
}
std::vector<double> NodeContext::Floats(std::string_view name, std::vector<double> fallback) {
  if (!HasAttr(name)) return fallback;
  std::vector<double> out;
  for (const AttrValue& value : List(name, AttrValue::Kind::kFloat)) out.push_back(value.real);
  return out;
}
std::vector<std::string> NodeContext::Strings(std::string_view name) {
  std::vector<std::string> out;
  for (const AttrValue& value : List(name, AttrValue::Kind::kString)) out.emplace_back(value.bytes);
  return out;
}

DType NodeContext::Type(std::string_view name, DType fallback) {
  const AttrValue value = Find(name, AttrValue::Kind::kType);
  if (value.kind == AttrValue::Kind::kNone) return fallback;
  const auto dtype = DTypeOf(value.number);
  if (!dtype) {
    Unsupported("attribute {}: elements of {} are not supported", name, TypeName(value.number));
  }
  return dtype.value_or(fallback);
}
int64_t NodeContext::RawType(std::string_view name) {
  return Find(name, AttrValue::Kind::kType).number;
}
bool NodeContext::IsComplexType(std::string_view name) {
  return tensorflow::IsComplexType(RawType(name));
}

std::optional<std::vector<Dim>> NodeContext::Shape(std::string_view name) {
  const AttrValue value = Find(name, AttrValue::Kind::kShape);
  return value.kind == AttrValue::Kind::kNone ? std::nullopt : ReadShape(value.bytes);
}
std::vector<std::optional<std::vector<Dim>>> NodeContext::Shapes(std::string_view name) {
  std::vector<std::optional<std::vector<Dim>>> out;
  for (const AttrValue& value : List(name, AttrValue::Kind::kShape))
    out.push_back(ReadShape(value.bytes));
  return out;
}

Value NodeContext::Tensor(std::string_view name) {
  const AttrValue value = Find(name, AttrValue::Kind::kTensor);
  return value.kind == AttrValue::Kind::kNone ? Value{}
                                              : importer_.ConstantOf(value.bytes, node_.name);
}

// --- Inputs that say how ---

int NodeContext::Axis(int64_t axis, int rank, std::string_view input) {
  return AxisIn(b(), axis, rank, input);
}

std::vector<int64_t> NodeContext::Axes(const std::vector<int64_t>& axes, int rank,
                                       std::string_view input) {
  std::vector<int64_t> out;
  for (const int64_t axis : axes) {
    const int at = Axis(axis, rank, input);
    if (std::ranges::find(out, at) == out.end()) out.push_back(at);
  }
  return out;
}

std::optional<std::vector<int64_t>> NodeContext::ConstantInts(size_t i, std::string_view what) {
  if (auto known = b().ConstantInts(Input(i))) return known;
  if (b().status().ok()) {
    Unsupported("{} must be known when compiling; it is computed from the inputs",
                InputText(i, what));
  }
  return std::nullopt;
}

std::optional<int64_t> NodeContext::ConstantInt(size_t i, std::string_view what) {
  const auto known = ConstantInts(i, what);
  if (!known) return std::nullopt;
  if (known->size() == 1) return (*known)[0];
  Fail("{}: expected one number, found {}", InputText(i, what), known->size());
  return std::nullopt;
}

std::optional<std::vector<double>> NodeContext::ConstantFloats(size_t i, std::string_view what) {
  const Value v = Input(i);
  std::vector<double> out;
  if (v.constant != nullptr && (v.dtype() == DType::kFloat32 || v.dtype() == DType::kFloat64)) {
    for (int64_t k = 0; k < v.constant->size(); ++k) out.push_back(ir::NumberAt(*v.constant, k));
    return out;
  }
  if (auto known = b().ConstantInts(v)) {
    out.assign(known->begin(), known->end());
    return out;
  }
  if (b().status().ok()) {
    Unsupported("{} must be known when compiling; it is computed from the inputs",
                InputText(i, what));
  }
  return std::nullopt;
}

std::vector<int64_t> KeysOf(const HostTensor& t) {
  if (t.dtype != DType::kString) return typing::IntegerElements(t);
  std::vector<int64_t> ids(static_cast<size_t>(t.size()));
  if (!ids.empty()) std::memcpy(ids.data(), t.data.data(), ids.size() * sizeof(int64_t));
  return ids;
}

std::optional<std::vector<std::string>> NodeContext::ConstantStrings(size_t i) {
  const Value v = Input(i);
  if (v.constant == nullptr || v.constant->dtype != DType::kString) return std::nullopt;
  std::vector<std::string> out;
  for (const int64_t id : KeysOf(*v.constant)) {
    out.emplace_back(b().module().strings->Text(id).value_or(""));
  }
  return out;
}

bool NodeContext::FitsShape(const Value& v, const std::vector<Dim>& shape, std::string_view what) {
  return import::FitsShape(b(), v, shape, what);
}

}  // namespace relayvm::import::tensorflow

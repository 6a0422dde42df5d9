#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bytecode/base/printable.h"
#include "compiler/import/checked.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/ir/scalar.h"

namespace relayvm::import {

using Proto = onnx::AttributeProto;

TypedBuilder& NodeContext::b() const { return importer_.b(); }
std::string_view NodeContext::op_type() const { return node_.op_type(); }
size_t NodeContext::num_outputs() const { return static_cast<size_t>(node_.output_size()); }
bool NodeContext::WantsOutput(size_t i) const {
  return i < num_outputs() && !node_.output(static_cast<int>(i)).empty();
}

bool NodeContext::ForkByOne(const Dim& dim, const Value& extent) {
  return importer_.ForkByOne(dim, extent);
}
std::optional<bool> NodeContext::IsOne(const Dim& dim) const { return importer_.IsOne(dim); }

std::vector<Value> NodeContext::Fork(const Value& condition, std::vector<Value> yes,
                                     std::vector<Value> no) {
  importer_.Fork(condition, std::move(yes), std::move(no));
  return {};
}
void NodeContext::Warn(std::string_view what) { importer_.Warn(what); }

std::string NodeContext::InputText(size_t i, std::string_view what) const {
  const auto at = static_cast<int>(i);
  if (at >= node_.input_size()) return std::string(what);
  return fmt::format("{} '{}'", what, Printable(node_.input(at)));
}
ir::Span NodeContext::InputSpan(size_t i, std::string_view what) const {
  return importer_.SpanOf(node_, InputText(i, what));
}

std::optional<NodeContext> NodeContext::OriginOf(const Value& v) const {
  const GraphImporter::Origin* origin = importer_.OriginOf(v);
  if (origin == nullptr) return std::nullopt;
  return NodeContext(importer_, *origin->node, origin->inputs, origin->opset, nullptr);
}

uint32_t NodeContext::Seed() {
  if (const Proto* a = Named("seed").proto) {
    const float real = a->f();
    uint32_t bits = 0;
    std::memcpy(&bits, &real, sizeof bits);
    return a->type() == Proto::INT ? static_cast<uint32_t>(a->i()) : bits;
  }
  uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : node_.output_size() > 0 ? node_.output(0) : node_.name()) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  }
  return hash;
}

std::vector<Value> NodeContext::As(std::string_view op, int opset, std::vector<Value> inputs) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  const OperatorDef* def = FindOperator("", op, opset);
  if (def == nullptr) return Unsupported("there is no operator {}", op);
  const auto given = static_cast<int>(inputs.size());
  if (given < def->min_inputs || (def->max_inputs >= 0 && given > def->max_inputs)) {
    return Fail("{} inputs do not fit", given);
  }
  NodeContext context(importer_, node_, std::move(inputs), opset, call_);
  return b().status().ok() ? context.Convert(*def) : std::vector<Value>();
}

std::vector<Value> NodeContext::Convert(const OperatorDef& op) {
  DType narrow = DType::kFloat32;
  for (Value& v : inputs_) {
    if (!v.is_tensor() || !IsFloat(v.dtype()) || DTypeBytes(v.dtype()) != 2 || !Sums(op)) continue;
    narrow = v.dtype();
    v = b().Cast(v, DType::kFloat32);
  }
  std::vector<Value> outputs = op.convert(*this);
  for (Value& v : outputs) {
    if (narrow != DType::kFloat32 && v.is_tensor() && v.dtype() == DType::kFloat32) {
      v = b().Cast(v, narrow);
    }
  }
  return outputs;
}

// --- Attributes ---

GivenAttribute Resolved(const Proto& attribute, const CallAttributes* call) {
  if (attribute.ref_attr_name().empty()) return {&attribute, call};
  if (call == nullptr) return {};
  const auto found = call->given.find(attribute.ref_attr_name());
  return found == call->given.end() ? GivenAttribute() : found->second;
}

GivenAttribute NodeContext::Named(std::string_view name) const {
  for (const auto& a : node_.attribute()) {
    if (a.name() != name) continue;
    if (const GivenAttribute given = Resolved(a, call_); given.proto != nullptr) return given;
  }
  return {};
}

bool NodeContext::HasAttr(std::string_view name) const { return Named(name).proto != nullptr; }

const Proto* NodeContext::Find(std::string_view name, int type) {
  const Proto* a = Named(name).proto;
  // Files of IR version 1 have no types.
  if (a == nullptr || a->type() == type || a->type() == Proto::UNDEFINED) return a;
  Fail("attribute {}: expected {}, found {}", name,
       Proto::AttributeType_Name(static_cast<Proto::AttributeType>(type)),
       Proto::AttributeType_Name(a->type()));
  return nullptr;
}

int64_t NodeContext::Int(std::string_view name, int64_t fallback) {
  const Proto* a = Find(name, Proto::INT);
  return a == nullptr ? fallback : a->i();
}
int64_t NodeContext::Count(std::string_view name, int64_t fallback) {
  const int64_t value = Int(name, fallback);
  if (value >= 0 && value <= INT32_MAX) return value;
  Fail("attribute {}: expected 0 to {}, found {}", name, INT32_MAX, value);
  return fallback;
}
double NodeContext::Float(std::string_view name, double fallback) {
  const Proto* a = Find(name, Proto::FLOAT);
  return a == nullptr ? fallback : static_cast<double>(a->f());
}
std::string NodeContext::String(std::string_view name, std::string_view fallback) {
  const Proto* a = Find(name, Proto::STRING);
  return a == nullptr ? std::string(fallback) : a->s();
}
std::vector<int64_t> NodeContext::Ints(std::string_view name, std::vector<int64_t> fallback) {
  const Proto* a = Find(name, Proto::INTS);
  return a == nullptr ? std::move(fallback)
                      : std::vector<int64_t>(a->ints().begin(), a->ints().end());
}
std::vector<double> NodeContext::Floats(std::string_view name, std::vector<double> fallback) {
  const Proto* a = Find(name, Proto::FLOATS);
  return a == nullptr ? std::move(fallback)
                      : std::vector<double>(a->floats().begin(), a->floats().end());
}
std::vector<std::string> NodeContext::Strings(std::string_view name) {
  const Proto* a = Find(name, Proto::STRINGS);
  return a == nullptr ? std::vector<std::string>()
                      : std::vector<std::string>(a->strings().begin(), a->strings().end());
}

Value NodeContext::SparseTensor(std::string_view name) {
  const Proto* a = Find(name, Proto::SPARSE_TENSOR);
  return a == nullptr ? Value{} : importer_.ConstantOf(a->sparse_tensor(), "");
}

Value NodeContext::Tensor(std::string_view name) {
  const Proto* a = Find(name, Proto::TENSOR);
  return a == nullptr ? Value{} : importer_.ConstantOf(a->t(), "");
}

DType NodeContext::Type(std::string_view name, DType fallback) {
  const Proto* a = Find(name, Proto::INT);
  if (a == nullptr) return fallback;
  const auto type = static_cast<int32_t>(std::clamp<int64_t>(a->i(), 0, INT32_MAX));
  if (auto dtype = DTypeOfOnnx(type)) return *dtype;
  Unsupported("attribute {}: elements of {} are not supported", name, OnnxTypeName(type));
  return fallback;
}

ElementKind NodeContext::Kind(std::string_view name, DType fallback) {
  const Proto* a = Find(name, Proto::INT);
  const NarrowInt* narrow =
      a == nullptr ? nullptr
                   : NarrowIntOf(static_cast<int32_t>(std::clamp<int64_t>(a->i(), 0, INT32_MAX)));
  if (narrow != nullptr) return {narrow->dtype, narrow->kind()};
  return {Type(name, fallback)};
}

int NodeContext::Axis(int64_t axis, int rank, std::string_view input) {
  return AxisIn(b(), axis, rank, input);
}

std::vector<int64_t> NodeContext::Axes(const std::vector<int64_t>& axes, int rank,
                                       std::string_view input) {
  std::vector<int64_t> out;
  for (int64_t a : axes) {
    if (!b().status().ok()) break;
    out.push_back(Axis(a, rank, input));
  }
  return out;
}

std::optional<std::vector<int64_t>> NodeContext::ConstantInts(size_t i, std::string_view what) {
  if (!b().status().ok()) return std::nullopt;
  if (auto values = b().ConstantInts(Input(i))) return values;
  return Unsupported(
      "input {} ({}) must be known when compiling; fix the shapes that it "
      "depends on with --shape",
      i, what);
}

std::optional<std::vector<double>> NodeContext::ConstantFloats(size_t i, std::string_view what) {
  if (!b().status().ok()) return std::nullopt;
  const Value v = Input(i);
  std::vector<double> out;
  if (v.constant != nullptr && (v.dtype() == DType::kFloat32 || v.dtype() == DType::kFloat64)) {
    for (int64_t k = 0; k < v.constant->size(); ++k) out.push_back(ir::NumberAt(*v.constant, k));
    return out;
  }
  if (auto values = b().ConstantInts(v)) return std::vector<double>(values->begin(), values->end());
  return Unsupported("input {} ({}) must be a constant", i, what);
}

bool NodeContext::FitsShape(const Value& v, const std::vector<Dim>& shape, std::string_view what) {
  return import::FitsShape(b(), v, shape, what);
}

bool NodeContext::ExpectShape(size_t i, const std::vector<Dim>& shape, std::string_view what) {
  auto v = OfShape({b(), Input(i), InputText(i, what)}, shape);
  if (!v) return false;
  inputs_[i] = *std::move(v);
  return true;
}

std::optional<std::vector<int64_t>> NodeContext::AxesOf(std::string_view attr, size_t i) {
  if (HasAttr(attr)) return Ints(attr);
  if (!Has(i)) return std::nullopt;
  return ConstantInts(i, attr);
}

// --- Subgraphs ---

const onnx::GraphProto* NodeContext::GraphOf(std::string_view name) const {
  const Proto* a = Named(name).proto;
  return a != nullptr && a->has_g() ? &a->g() : nullptr;
}

size_t NodeContext::NumGraphInputs(std::string_view name) const {
  const onnx::GraphProto* graph = GraphOf(name);
  return graph == nullptr ? 0 : static_cast<size_t>(graph->input_size());
}

size_t NodeContext::NumGraphNodes(std::string_view name) const {
  const onnx::GraphProto* graph = GraphOf(name);
  return graph == nullptr ? 0 : static_cast<size_t>(graph->node_size());
}

std::string NodeContext::GraphInputName(std::string_view name, size_t i) const {
  const onnx::GraphProto* graph = GraphOf(name);
  return graph == nullptr || i >= NumGraphInputs(name) ? std::string()
                                                       : graph->input(static_cast<int>(i)).name();
}

std::vector<Value> NodeContext::Graph(std::string_view name, const std::vector<Value>& inputs) {
  const onnx::GraphProto* graph = GraphOf(name);
  if (graph == nullptr) return Fail("attribute {}: expected a graph", name);
  std::map<std::string, Value> given;
  for (int i = 0; i < graph->input_size() && static_cast<size_t>(i) < inputs.size(); ++i) {
    given[graph->input(i).name()] = inputs[static_cast<size_t>(i)];
  }
  const ir::Span span = b().span();
  // A loop has one type for each state.
  const bool is_branch = name == "then_branch" || name == "else_branch";
  std::vector<Value> outputs = importer_.Import(*graph, given, Named(name).call, is_branch);
  b().SetSpan(span);
  return outputs;
}

}  // namespace relayvm::import

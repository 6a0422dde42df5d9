#include "compiler/import/onnx/graph_importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <utility>

#include "compiler/import/control_flow.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::import {

namespace {

// Subgraphs and functions in one another; the importer recurses with them.
constexpr size_t kMaxScopes = 200;
// Nodes in a row whose branches differ in rank: what follows is imported twice for each.
constexpr int kMaxForks = 5;
// Functions that call others, loops in loops and branches of several ranks are written more than
// once: a small file could stand for more nodes than there is memory. It may grow to so many, and to
// so many for each node that it has.
constexpr int64_t kMostNodes = 50'000;
constexpr int64_t kMostTimes = 16;

std::string_view CanonicalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

template <typename Nodes, typename Fn>
void ForEachNode(const Nodes& nodes, const Fn& fn, size_t depth = 0) {
  if (depth > kMaxScopes) return;
  for (const onnx::NodeProto& node : nodes) {
    fn(node);
    for (const auto& attr : node.attribute()) {
      if (attr.has_g()) ForEachNode(attr.g().node(), fn, depth + 1);
      for (const auto& g : attr.graphs()) ForEachNode(g.node(), fn, depth + 1);
    }
  }
}

}  // namespace

GraphImporter::GraphImporter(ModelFile& file, const ir::Module& module, uint32_t file_index,
                             const CustomOperators& operators)
    : file_(file), operators_(operators), builder_(module), file_index_(file_index) {
  for (const auto& opset : file.model().opset_import()) {
    opsets_[std::string(CanonicalDomain(opset.domain()))] =
        static_cast<int>(std::clamp<int64_t>(opset.version(), 0, 1'000'000));
  }
  int64_t nodes = 0;
  const auto count = [&](const onnx::NodeProto&) { ++nodes; };
  ForEachNode(file.model().graph().node(), count);
  for (const auto& f : file.model().functions()) ForEachNode(f.node(), count);
  most_nodes_ = kMostNodes + kMostTimes * nodes;
}

int GraphImporter::OpsetOf(std::string_view domain) const {
  auto it = opsets_.find(CanonicalDomain(domain));
  return it == opsets_.end() ? 1 : it->second;
}

const OpDef* GraphImporter::CustomOf(const onnx::NodeProto& node) const {
  return operators_.FindOnnx(CanonicalDomain(node.domain()), node.op_type());
}

const onnx::FunctionProto* GraphImporter::FindFunction(const onnx::NodeProto& node) const {
  for (const onnx::FunctionProto& f : file_.model().functions()) {
    if (f.name() == node.op_type() &&
        CanonicalDomain(f.domain()) == CanonicalDomain(node.domain())) {
      return &f;
    }
  }
  return nullptr;
}

// --- Operators that are not supported ---

Status GraphImporter::CheckOperators() const {
  std::map<std::string, std::vector<std::string>> missing;  // nodes by operator
  const auto check = [&](const onnx::NodeProto& node) {
    const int opset = OpsetOf(node.domain());
    if (FindOperator(CanonicalDomain(node.domain()), node.op_type(), opset) != nullptr) return;
    if (CustomOf(node) != nullptr || FindFunction(node) != nullptr) return;
    const std::string_view domain = CanonicalDomain(node.domain());
    missing[fmt::format("{} ({}, opset {})", node.op_type(), domain.empty() ? "ai.onnx" : domain,
                        opset)]
        .push_back(fmt::format("'{}'", node.name()));
  };
  ForEachNode(file_.model().graph().node(), check);
  for (const auto& f : file_.model().functions()) ForEachNode(f.node(), check);
  if (missing.empty()) return OkStatus();
  std::string text;
  for (auto& [op, nodes] : missing) {
    constexpr size_t kShown = 3;
    const size_t all = nodes.size();
    nodes.resize(std::min(all, kShown));
    text += fmt::format("\n  {}: node {}", op, fmt::join(nodes, ", "));
    if (all > kShown) text += fmt::format(" and {} more", all - kShown);
  }
  return {StatusCode::kUnsupported,
          fmt::format("{}: {} operator{} not supported:{}", file_.path(), missing.size(),
                      missing.size() == 1 ? " is" : "s are", text)};
}

// --- Graphs ---

Value GraphImporter::Lookup(const std::string& name) {
  for (size_t i = scopes_.size(); i-- > 0;) {
    Scope& scope = scopes_[i];
    if (auto it = scope.values.find(name); it != scope.values.end()) return it->second;
    if (auto it = scope.constants.find(name); it != scope.constants.end()) return it->second;
    if (auto it = scope.initializers.find(name); it != scope.initializers.end()) {
      const Value v = ConstantOf(*it->second, name);
      if (v) scope.constants.emplace(name, v);
      return v;
    }
    if (!scope.sees_outer) break;
  }
  builder_.Fail(
      fmt::format("'{}' is used before a node, an input or an initializer gives it", name));
  return {};
}

Value GraphImporter::ConstantOf(const onnx::TensorProto& tensor, const std::string& name) {
  auto elements = file_.TensorOf(tensor);
  if (!elements.ok()) {
    builder_.Fail(elements.status().code(), elements.status().message());
    return {};
  }
  Value v = builder_.Constant(*std::move(elements), name);
  if (const NarrowInt* narrow = NarrowIntOf(tensor.data_type())) v.bits = narrow->bits;
  return v;
}

std::vector<Value> GraphImporter::Import(const onnx::GraphProto& graph,
                                         const std::map<std::string, Value>& inputs) {
  if (scopes_.size() >= kMaxScopes) {
    builder_.Fail(fmt::format("graphs nest deeper than {} levels", kMaxScopes));
    return {};
  }
  scopes_.emplace_back();
  for (const auto& t : graph.initializer()) scopes_.back().initializers[t.name()] = &t;
  for (const auto& [name, value] : inputs) scopes_.back().values[name] = value;
  if (graph.sparse_initializer_size() != 0) {
    builder_.Fail(StatusCode::kUnsupported, "sparse initializers are not supported");
  }
  Nodes nodes;
  for (const onnx::NodeProto& node : graph.node()) nodes.push_back(&node);
  std::vector<std::string> names;
  for (const auto& output : graph.output()) names.push_back(output.name());
  std::vector<Value> outputs = ImportNodes(nodes, 0, names);
  scopes_.pop_back();
  return outputs;
}

std::vector<Value> GraphImporter::ImportNodes(const Nodes& nodes, size_t first,
                                              const std::vector<std::string>& outputs) {
  for (size_t i = first; i < nodes.size() && builder_.status().ok(); ++i) {
    ImportNode(*nodes[i]);
    if (fork_ && builder_.status().ok()) return ImportForked(nodes, i, outputs);
  }
  std::vector<Value> values;
  for (const std::string& name : outputs) {
    if (builder_.status().ok()) values.push_back(Lookup(name));
  }
  return values;
}

void GraphImporter::Fork(const Value& condition, std::vector<Value> yes, std::vector<Value> no) {
  fork_ = {condition, std::move(yes), std::move(no)};
}

// What follows a node that gives values of two ranks: once for each. Where it fits one of them alone,
// the program fails when it gets to the other.
std::vector<Value> GraphImporter::ImportForked(const Nodes& nodes, size_t first,
                                               const std::vector<std::string>& outputs) {
  const Alternatives fork = *std::exchange(fork_, std::nullopt);
  const ir::Span outer = builder_.span();
  const ir::Span span = builder_.module().sources->NodeSpan(file_index_, nodes[first]->name(),
                                                            nodes[first]->op_type());
  std::vector<Value> results[2];
  Status errors[2];
  if (++forks_ > kMaxForks) {
    builder_.Fail(StatusCode::kUnsupported,
                  fmt::format("more than {} nodes in a row whose branches differ in rank; fix the "
                              "dims that decide them with --shape",
                              kMaxForks));
  }
  for (const bool which : {true, false}) {
    if (!builder_.status().ok()) break;
    std::vector<Scope> before = scopes_;
    Define(*nodes[first], which ? fork.yes : fork.no);
    results[which] = ImportNodes(nodes, first + 1, outputs);
    errors[which] = builder_.TakeStatus();
    for (size_t s = 0; s < before.size(); ++s) before[s].constants = scopes_[s].constants;
    scopes_ = std::move(before);
    builder_.SetSpan(span);
  }
  --forks_;
  if (!errors[0].ok() && !errors[1].ok()) builder_.Fail(errors[1].code(), errors[1].message());
  if (!builder_.status().ok()) return {};
  ir::TupleType type;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::Type yes = errors[1].ok() ? results[1][i].type : results[0][i].type;
    const ir::Type no = errors[0].ok() ? results[0][i].type : results[1][i].type;
    const ir::Type joined = JoinTypes(yes, no);
    if (joined == nullptr) {
      builder_.Fail(StatusCode::kUnsupported,
                    fmt::format("'{}' is {} after one branch and {} after the other; fix the dims "
                                "that the condition depends on with --shape",
                                outputs[i], ir::TypeToString(yes), ir::TypeToString(no)));
      return {};
    }
    type.fields.push_back(builder_.Open(joined));
    for (const bool which : {true, false}) {
      if (errors[which].ok()) results[which][i] = Coerce(builder_, results[which][i], joined);
    }
  }
  const ir::Type result = ir::MakeType(std::move(type));
  const auto value = [&](bool which) {
    return errors[which].ok() ? builder_.Tuple(results[which]) : Impossible(builder_, result);
  };
  const Value joined = builder_.If(fork.condition, value(true), value(false), result);
  builder_.SetSpan(outer);
  return builder_.Fields(joined);
}

void GraphImporter::ImportNode(const onnx::NodeProto& node) {
  if (++imported_ > most_nodes_) {
    return builder_.Fail(
        StatusCode::kResourceExhausted,
        fmt::format("functions, loops and branches expand to more than {} nodes", kMostNodes));
  }
  const ir::Span outer = builder_.span();
  builder_.SetSpan(builder_.module().sources->NodeSpan(
      file_index_, node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name(),
      node.op_type()));
  std::vector<Value> inputs;
  for (const std::string& name : node.input()) {
    inputs.push_back(name.empty() ? Value{} : Lookup(name));
  }
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  const int opset = OpsetOf(node.domain());
  std::vector<Value> outputs;
  if (const OperatorDef* op = FindOperator(CanonicalDomain(node.domain()), node.op_type(), opset)) {
    const auto given = static_cast<int>(inputs.size());
    if (given < op->min_inputs || (op->max_inputs >= 0 && given > op->max_inputs)) {
      builder_.Fail(fmt::format("expected {} inputs, found {}",
                                op->max_inputs < 0 ? fmt::format("at least {}", op->min_inputs)
                                : op->min_inputs == op->max_inputs
                                    ? fmt::format("{}", op->min_inputs)
                                    : fmt::format("{} to {}", op->min_inputs, op->max_inputs),
                                given));
    }
    if (builder_.status().ok()) {
      NodeContext context(*this, node, inputs, opset);
      outputs = context.Convert(*op);
      // Integers of a few bits: what takes them gives another type, or moves them.
      for (const Value& from : inputs) {
        for (Value& to : outputs) {
          if (from.bits != 0 && to && to.is_tensor() && to.dtype() == from.dtype() &&
              node.op_type() != "Cast") {
            to.bits = from.bits;
          }
        }
      }
      if (!outputs.empty() && outputs[0] && calls_.empty()) {
        origins_.try_emplace(outputs[0].node, Origin{&node, std::move(inputs), opset});
      }
    }
  } else if (const OpDef* custom = CustomOf(node)) {
    outputs = CallCustom(*custom, node, inputs);
  } else if (const onnx::FunctionProto* function = FindFunction(node)) {
    outputs = CallFunction(*function, node, inputs);
  }
  if (builder_.status().ok() && !fork_) Define(node, outputs);
  builder_.SetSpan(outer);
}

std::vector<Value> GraphImporter::CallCustom(const OpDef& op, const onnx::NodeProto& node,
                                             const std::vector<Value>& inputs) {
  NodeContext context(*this, node, inputs, OpsetOf(node.domain()));
  const auto wanted = static_cast<size_t>(op.num_args);
  if (inputs.size() != wanted || !std::all_of(inputs.begin(), inputs.end(), [](const Value& v) {
        return static_cast<bool>(v);
      })) {
    return context.Fail(fmt::format("operator {} takes {} inputs, all of them; found {}", op.name,
                                    wanted, inputs.size()));
  }
  Attrs attrs;
  for (const auto& given : node.attribute()) {
    const auto field = std::find_if(op.attrs.begin(), op.attrs.end(),
                                    [&](const AttrField& f) { return f.name == given.name(); });
    if (field == op.attrs.end()) {
      return context.Fail(fmt::format("operator {} has no attribute {}", op.name, given.name()));
    }
    switch (field->kind) {
      case AttrKind::kFloat:
        attrs.Set(given.name(), AttrValue(context.Float(given.name(), 0)));
        break;
      case AttrKind::kBool:
        attrs.Set(given.name(), AttrValue(context.Int(given.name(), 0) != 0));
        break;
      case AttrKind::kInts: {
        AttrList list;
        for (const int64_t i : context.Ints(given.name())) list.emplace_back(i);
        attrs.Set(given.name(), AttrValue(std::move(list)));
        break;
      }
      default:
        attrs.Set(given.name(), AttrValue(context.Int(given.name(), 0)));
    }
  }
  if (!builder_.status().ok()) return {};
  const Value result = builder_.Op(op, inputs, attrs);
  if (!builder_.status().ok()) return {};
  return result.is_tensor() ? std::vector<Value>{result} : builder_.Fields(result);
}

const GraphImporter::Origin* GraphImporter::OriginOf(const Value& v) const {
  const auto known = v ? origins_.find(v.node) : origins_.end();
  return known == origins_.end() ? nullptr : &known->second;
}

void GraphImporter::Define(const onnx::NodeProto& node, const std::vector<Value>& outputs) {
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    if (static_cast<size_t>(i) >= outputs.size() || !outputs[i]) {
      return builder_.Fail(StatusCode::kUnsupported,
                           fmt::format("output {} ('{}') is not supported", i, node.output(i)));
    }
    scopes_.back().values[node.output(i)] = outputs[i];
  }
}

namespace {

using Given = std::map<std::string, onnx::AttributeProto, std::less<>>;

// Attributes of a function with the values that they have where a call gives none: a field that is
// newer than the installed schema.
Given DefaultsOf(const onnx::FunctionProto& function) {
  constexpr int kAttributeProto = 11;
  Given defaults;
  const auto& unknown = function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    onnx::AttributeProto attr;
    if (field.number() == kAttributeProto &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        attr.ParseFromString(field.length_delimited())) {
      defaults[attr.name()] = attr;
    }
  }
  return defaults;
}

// Attributes that refer to the function's own take its values, also in graphs inside.
void Bind(const Given& given, onnx::NodeProto& node) {
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
  for (onnx::AttributeProto& attr : *node.mutable_attribute()) {
    if (!attr.ref_attr_name().empty()) {
      const auto value = given.find(attr.ref_attr_name());
      if (value == given.end()) continue;
      *bound.Add() = value->second;
      bound.Mutable(bound.size() - 1)->set_name(attr.name());
      continue;
    }
    if (attr.has_g()) {
      for (onnx::NodeProto& inner : *attr.mutable_g()->mutable_node()) Bind(given, inner);
    }
    for (onnx::GraphProto& graph : *attr.mutable_graphs()) {
      for (onnx::NodeProto& inner : *graph.mutable_node()) Bind(given, inner);
    }
    *bound.Add() = attr;
  }
  *node.mutable_attribute() = bound;
}

}  // namespace

// A function of the model is written where it is called.
std::vector<Value> GraphImporter::CallFunction(const onnx::FunctionProto& function,
                                               const onnx::NodeProto& node,
                                               const std::vector<Value>& inputs) {
  if (std::find(calls_.begin(), calls_.end(), &function) != calls_.end() ||
      scopes_.size() >= kMaxScopes) {
    builder_.Fail(fmt::format("function '{}' calls itself", function.name()));
    return {};
  }
  calls_.push_back(&function);
  scopes_.emplace_back();
  scopes_.back().sees_outer = false;
  for (int i = 0; i < function.input_size(); ++i) {
    // What the call leaves out is left out for the nodes too.
    scopes_.back().values[function.input(i)] =
        static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : Value{};
  }
  const auto outer_opsets = opsets_;
  for (const auto& opset : function.opset_import()) {
    opsets_[std::string(CanonicalDomain(opset.domain()))] =
        static_cast<int>(std::clamp<int64_t>(opset.version(), 0, 1'000'000));
  }
  Given given = DefaultsOf(function);
  for (const auto& attr : node.attribute()) given[attr.name()] = attr;
  std::vector<onnx::NodeProto> body;
  for (const onnx::NodeProto& inner : function.node()) {
    Bind(given, body.emplace_back(inner));
  }
  Nodes nodes;
  for (const onnx::NodeProto& node : body) nodes.push_back(&node);
  std::vector<Value> outputs = ImportNodes(
      nodes, 0, std::vector<std::string>(function.output().begin(), function.output().end()));
  opsets_ = outer_opsets;
  scopes_.pop_back();
  calls_.pop_back();
  return outputs;
}

}  // namespace relayvm::import

#include "compiler/import/onnx/graph_importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <unordered_set>
#include <utility>

#include "bytecode/base/check_stop.h"
#include "bytecode/base/printable.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/names_read.h"
#include "compiler/import/onnx/small_floats.h"
#include "compiler/typing/op_typing.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::import {

namespace {

// Nodes in a row whose branches differ in rank: what follows is imported twice for each.
constexpr int kMaxForks = 5;
constexpr int kMaxForksByOne = 2;
// Functions that call others, loops in loops and branches of several ranks are written more than
// once: a small file could stand for more than there is memory. It may grow to so many nodes, and
// to so many for each node that it has; and so with the bytes that are read of it.
constexpr size_t kMostNodes = 50'000;
constexpr size_t kMostBytes = size_t{64} << 20;
constexpr size_t kMostTimes = 16;

// A text field that is newer than the installed schema.
std::string NewerText(const google::protobuf::Message& message, int number) {
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      return field.length_delimited();
    }
  }
  return "";
}

}  // namespace

std::string_view CanonicalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

const std::string& NameOf(const onnx::NodeProto& node) {
  return node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
}

GraphImporter::GraphImporter(ModelFile& file, const ir::Module& module, uint32_t file_index,
                             const CustomOperators& operators, std::stop_token stop)
    : file_(file),
      operators_(operators),
      builder_(module),
      file_index_(file_index),
      stop_(std::move(stop)) {
  for (const auto& opset : file.model().opset_import()) {
    opsets_[std::string(CanonicalDomain(opset.domain()))] =
        static_cast<int>(std::clamp<int64_t>(opset.version(), 0, 1'000'000));
  }
  size_t nodes = 0;
  const auto count = [&](const onnx::NodeProto&) { ++nodes; };
  ForEachNode(file.model().graph().node(), count);
  for (const auto& f : file.model().functions()) {
    ForEachNode(f.node(), count);
    constexpr int kOverload = 13;
    functions_.try_emplace({CanonicalDomain(f.domain()), f.name(), NewerText(f, kOverload)}, &f);
  }
  most_nodes_ = kMostNodes + kMostTimes * nodes;
  most_bytes_ = kMostBytes + kMostTimes * file.model().ByteSizeLong();
}

int GraphImporter::OpsetOf(std::string_view domain) const {
  auto it = opsets_.find(CanonicalDomain(domain));
  return it == opsets_.end() ? 1 : it->second;
}

const OpDef* GraphImporter::CustomOf(const onnx::NodeProto& node) const {
  return operators_.FindOnnx(CanonicalDomain(node.domain()), node.op_type());
}

const onnx::FunctionProto* GraphImporter::FindFunction(const onnx::NodeProto& node) const {
  constexpr int kOverload = 8;
  const auto found =
      functions_.find({CanonicalDomain(node.domain()), node.op_type(), NewerText(node, kOverload)});
  return found == functions_.end() ? nullptr : found->second;
}

void GraphImporter::Warn(std::string_view what) {
  if (warn_) {
    warn_(fmt::format("{}: {}", builder_.module().sources->Place(builder_.span()), what));
  }
}

// --- Operators that are not supported ---

Status GraphImporter::CheckOperators() const {
  std::map<std::string, std::vector<std::string>> missing;  // nodes by operator
  // Functions that are called, from the graph or from another one.
  std::vector<const onnx::FunctionProto*> called;
  std::unordered_set<const onnx::FunctionProto*> known;
  const auto check = [&](const onnx::NodeProto& node) {
    const int opset = OpsetOf(node.domain());
    if (FindOperator(CanonicalDomain(node.domain()), node.op_type(), opset) != nullptr) return;
    if (CustomOf(node) != nullptr) return;
    if (const onnx::FunctionProto* function = FindFunction(node)) {
      if (known.insert(function).second) called.push_back(function);
      return;
    }
    const std::string_view domain = CanonicalDomain(node.domain());
    missing[fmt::format("{} ({}, opset {})", node.op_type(), domain.empty() ? "ai.onnx" : domain,
                        opset)]
        .push_back(fmt::format("'{}'", node.name()));
  };
  ForEachNode(file_.model().graph().node(), check);
  for (size_t i = 0; i < called.size(); ++i) ForEachNode(called[i]->node(), check);
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

std::optional<Value> GraphImporter::Find(const std::string& name) {
  for (size_t i = scopes_.size(); i-- > 0;) {
    Scope& scope = scopes_[i];
    if (auto it = scope.values.find(name); it != scope.values.end()) return it->second.value;
    if (auto it = scope.constants.find(name); it != scope.constants.end()) return it->second;
    if (auto it = scope.initializers.find(name); it != scope.initializers.end()) {
      Value v = ConstantOf(*it->second, name);
      if (v) scope.constants.emplace(name, v);
      return v;
    }
    if (auto it = scope.sparse.find(name); it != scope.sparse.end()) {
      Value v = ConstantOf(*it->second, name);
      if (v) scope.constants.emplace(name, v);
      return v;
    }
    if (!scope.sees_outer) break;
  }
  return std::nullopt;
}

Value GraphImporter::Lookup(const std::string& name) {
  if (const auto found = Find(name)) return *found;
  builder_.Fail("'{}' is used before a node, an input or an initializer gives it", name);
  return {};
}

ir::Span GraphImporter::SpanOf(const onnx::NodeProto& node, std::string_view part) {
  // A name with a newline would forge a line of an error.
  return builder_.module().sources->NodeSpan(file_index_, Printable(NameOf(node)),
                                             Printable(node.op_type()), part);
}

void GraphImporter::FailGraph(StatusCode code, std::string_view message) {
  const bool has_place = builder_.span().line != 0;
  builder_.Fail(code,
                has_place ? std::string(message) : file_.path() + ": " + std::string(message));
}

std::vector<Value> GraphImporter::Import(const onnx::GraphProto& graph,
                                         const std::map<std::string, Value>& inputs,
                                         const CallAttributes* call, bool may_differ) {
  if (scopes_.size() >= kMaxScopes) {
    FailGraph(StatusCode::kInvalidInput,
              fmt::format("graphs nest deeper than {} levels", kMaxScopes));
    return {};
  }
  const std::string which =
      scopes_.empty() ? std::string("the graph") : fmt::format("graph '{}'", graph.name());
  const auto twice = [&](std::string_view what, const std::string& name) {
    FailGraph(StatusCode::kInvalidInput,
              fmt::format("{} has two {} of the name '{}'", which, what, name));
  };
  scopes_.emplace_back();
  Scope& scope = scopes_.back();
  scope.may_differ = may_differ;
  for (const auto& t : graph.initializer()) {
    Charge(t.name().size() + sizeof(void*));
    if (!scope.initializers.try_emplace(t.name(), &t).second && !t.name().empty())
      twice("initializers", t.name());
  }
  std::unordered_set<std::string_view> names;
  for (const auto& input : graph.input()) {
    Charge(input.name().size() + sizeof(void*));
    if (!input.name().empty() && !names.insert(input.name()).second) twice("inputs", input.name());
  }
  for (const auto& [name, value] : inputs) scope.values[name] = {value, nullptr};
  if (const auto found = contracts_.find(&graph); found != contracts_.end()) {
    StateInputs(found->second);
  }
  for (const auto& t : graph.sparse_initializer()) {
    const std::string& name = t.values().name();
    Charge(name.size() + sizeof(void*));
    if ((!scope.sparse.try_emplace(name, &t).second || scope.initializers.contains(name)) &&
        !name.empty())
      twice("initializers", name);
  }
  Body body{which, {}, {}};
  for (const onnx::NodeProto& node : graph.node()) body.nodes.push_back(&node);
  for (const auto& output : graph.output()) {
    Charge(output.name().size() + sizeof(void*));
    body.outputs.push_back(output.name());
  }
  Sort(body);
  const CallAttributes* outer = std::exchange(call_, call);
  std::vector<Value> outputs = ImportNodes(body, 0);
  call_ = outer;
  scopes_.pop_back();
  return outputs;
}

void GraphImporter::StateInputs(const Contract& contract) {
  std::vector<TypedBuilder::Statement> others;
  for (const auto& [name, type] : contract.known) others.push_back({Lookup(name), type});
  for (const auto& [name, type] : contract.stated) {
    Value value = Lookup(name);
    if (!builder_.status().ok()) return;
    // Those that say something of a dim of this one.
    std::set<uint32_t> symbols;
    ir::ForEachDim(type, [&](const Dim& d) {
      if (d.is_symbol()) symbols.insert(d.symbol_id());
    });
    std::vector<TypedBuilder::Statement> same;
    for (const TypedBuilder::Statement& other : others) {
      bool shares = false;
      ir::ForEachDim(other.type, [&](const Dim& d) {
        shares |= d.is_symbol() && symbols.erase(d.symbol_id()) > 0;
      });
      if (shares) same.push_back(other);
    }
    const int bits = value.bits;
    value = builder_.Stated({value, type}, same, fmt::format("input '{}'", Printable(name)));
    value.bits = bits;
    others.push_back({value, type});
    scopes_.back().values[name] = {value, nullptr};
  }
}

std::vector<Value> GraphImporter::ImportNodes(const Body& body, size_t first) {
  for (size_t i = first; i < body.nodes.size() && builder_.status().ok(); ++i) {
    ImportNode(*body.nodes[i]);
    if (fork_ && builder_.status().ok()) return ImportForked(body, i);
  }
  std::vector<Value> values;
  for (const std::string& name : body.outputs) {
    if (!builder_.status().ok()) break;
    if (const auto found = Find(name)) {
      values.push_back(*found);
    } else {
      FailGraph(StatusCode::kInvalidInput,
                fmt::format("output '{}' of {}: no node, input or initializer gives it", name,
                            body.name));
    }
  }
  return values;
}

void GraphImporter::Fork(const Value& condition, std::vector<Value> yes, std::vector<Value> no) {
  fork_ = {condition, std::move(yes), std::move(no), std::nullopt};
}

std::optional<bool> GraphImporter::IsOne(const Dim& dim) const {
  const auto known =
      std::find_if(is_one_.begin(), is_one_.end(), [&](const auto& d) { return d.first == dim; });
  return known == is_one_.end() ? std::nullopt : std::optional(known->second);
}

bool GraphImporter::ForkByOne(const Dim& dim, const Value& extent) {
  // A loop has one type for each state.
  const bool may_differ =
      std::all_of(scopes_.begin(), scopes_.end(), [](const Scope& s) { return s.may_differ; });
  if (dim.ContainsAny() || forks_ >= kMaxForksByOne || !may_differ || fork_) return false;
  const Value one = builder_.Op("equal", {builder_.Reshape(extent, {}), builder_.Int(1)});
  fork_ = {one, {}, {}, dim};
  return true;
}

bool GraphImporter::ForkOneOf(const std::vector<Value>& values) {
  const auto found = std::find_if(values.begin(), values.end(), IsOneOf);
  if (found == values.end() || !builder_.status().ok()) return false;
  std::vector<Value> yes = values, no = values;
  const auto i = static_cast<size_t>(found - values.begin());
  yes[i] = FirstOf(builder_, *found);
  no[i] = SecondOf(builder_, *found);
  Fork(IsFirst(builder_, *found), std::move(yes), std::move(no));
  return true;
}

// What follows a node that gives values of two ranks: once for each. Where it fits one of them
// alone, the program fails when it gets to the other.
std::vector<Value> GraphImporter::ImportForked(const Body& body, size_t first) {
  const onnx::NodeProto& node = *body.nodes[first];
  const Alternatives fork = *std::exchange(fork_, std::nullopt);
  const ir::Span outer = builder_.span();
  const ir::Span span = SpanOf(node);
  std::vector<Value> results[2];
  Status errors[2];
  if (++forks_ > kMaxForks) {
    builder_.Fail(StatusCode::kUnsupported,
                  "more than {} nodes in a row whose branches differ in rank; fix the "
                  "dims that decide them with --shape",
                  kMaxForks);
  }
  for (const bool which : {true, false}) {
    if (!builder_.status().ok()) break;
    // What follows defines names of this scope alone.
    auto before = scopes_.back().values;
    const std::vector<Value>& values = which ? fork.yes : fork.no;
    if (fork.dim) {
      is_one_.emplace_back(*fork.dim, which);
      results[which] = ImportNodes(body, first);
      is_one_.pop_back();
    } else if (ForkOneOf(values)) {
      results[which] = ImportForked(body, first);
    } else {
      Define(node, values);
      results[which] = ImportNodes(body, first + 1);
    }
    scopes_.back().values = std::move(before);
    builder_.SetSpan(span);
    // What ends the whole import is not one branch's.
    const bool ends = stop_.stop_requested() || imported_ > most_nodes_ || charged_ > most_bytes_;
    if (ends && !builder_.status().ok()) break;
    errors[which] = builder_.TakeStatus();
  }
  --forks_;
  if (!builder_.status().ok()) return {};
  if (!errors[0].ok() && !errors[1].ok()) builder_.Fail(errors[1].code(), errors[1].message());
  if (!builder_.status().ok()) return {};
  ir::TupleType type;
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    const ir::Type yes = errors[1].ok() ? results[1][i].type : results[0][i].type;
    const ir::Type no = errors[0].ok() ? results[0][i].type : results[1][i].type;
    const ir::Type joined = scopes_.back().may_differ ? JoinAny(yes, no) : JoinTypes(yes, no);
    if (joined == nullptr) {
      builder_.Fail(StatusCode::kUnsupported,
                    "'{}' is {} after one branch and {} after the other; fix the dims "
                    "that the condition depends on with --shape",
                    body.outputs[i], ir::TypeToString(yes), ir::TypeToString(no));
      return {};
    }
    type.fields.push_back(builder_.Open(joined));
    for (const bool which : {true, false}) {
      if (errors[which].ok()) results[which][i] = CoerceAny(builder_, results[which][i], joined);
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

void GraphImporter::Charge(size_t bytes) {
  charged_ += bytes;
  if (charged_ > most_bytes_) {
    FailGraph(StatusCode::kResourceExhausted,
              fmt::format("functions, loops and branches expand to more than {} bytes of the model",
                          most_bytes_));
  }
}

void GraphImporter::Charge(const onnx::NodeProto& node) {
  size_t bytes = 0;
  for (const std::string& name : node.input()) bytes += name.size() + sizeof(void*);
  for (const std::string& name : node.output()) bytes += name.size() + sizeof(void*);
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    bytes += sizeof(void*);
    // Graphs are charged when they are imported.
    const onnx::AttributeProto* given = Resolved(attribute, call_).proto;
    if (given != nullptr && !given->has_g() && given->graphs_size() == 0)
      bytes += given->ByteSizeLong();
  }
  Charge(bytes);
}

void GraphImporter::ImportNode(const onnx::NodeProto& node) {
  if (++imported_ > most_nodes_) {
    return FailGraph(
        StatusCode::kResourceExhausted,
        fmt::format("functions, loops and branches expand to more than {} nodes", most_nodes_));
  }
  Charge(node);
  if (const Status s = CheckStop(stop_); !s.ok()) FailGraph(s.code(), s.message());
  if (!builder_.status().ok()) return;
  const ir::Span outer = builder_.span();
  builder_.SetSpan(SpanOf(node));
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
      builder_.Fail("expected {} inputs, found {}",
                    op->max_inputs < 0 ? fmt::format("at least {}", op->min_inputs)
                    : op->min_inputs == op->max_inputs
                        ? fmt::format("{}", op->min_inputs)
                        : fmt::format("{} to {}", op->min_inputs, op->max_inputs),
                    given);
    }
    const bool has_small_floats =
        std::any_of(inputs.begin(), inputs.end(), [](const Value& v) { return v.bits < 0; });
    if (has_small_floats && (!op->domain.empty() || !TakesSmallFloats(op->name))) {
      builder_.Fail(StatusCode::kUnsupported,
                    "an input is of floats of 8 or 4 bits, which only conversions and what moves "
                    "elements take; cast them first");
    }
    if (builder_.status().ok()) {
      NodeContext context(*this, node, inputs, opset, call_);
      outputs = context.Convert(*op);
      // Integers of a few bits: what takes them gives another type, or moves them.
      for (const Value& from : inputs) {
        for (Value& to : outputs) {
          if (from.bits != 0 && to && to.is_tensor() && to.dtype() == from.dtype() &&
              node.op_type() != "Cast" && node.op_type() != "Loop") {
            to.bits = from.bits;
          }
        }
      }
      if (!outputs.empty() && outputs[0] && calls_.empty() && !has_small_floats) {
        origins_.try_emplace(outputs[0].node, Origin{&node, std::move(inputs), opset});
      }
    }
  } else if (const OpDef* custom = CustomOf(node)) {
    outputs = CallCustom(*custom, node, inputs);
  } else if (const onnx::FunctionProto* function = FindFunction(node)) {
    outputs = CallFunction(*function, node, inputs);
  }
  if (builder_.status().ok() && !fork_ && !ForkOneOf(outputs)) Define(node, outputs);
  builder_.SetSpan(outer);
}

const GraphImporter::Origin* GraphImporter::OriginOf(const Value& v) const {
  const auto known = v ? origins_.find(v.node) : origins_.end();
  return known == origins_.end() ? nullptr : &known->second;
}

void GraphImporter::Define(const onnx::NodeProto& node, const std::vector<Value>& outputs) {
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    if (static_cast<size_t>(i) >= outputs.size() || !outputs[i]) {
      builder_.Fail(StatusCode::kUnsupported, "output {} ('{}') is not supported", i,
                    node.output(i));
      return;
    }
    const Scope& scope = scopes_.back();
    const auto known = scope.values.find(node.output(i));
    const bool is_initializer =
        scope.initializers.contains(node.output(i)) || scope.sparse.contains(node.output(i));
    if (known != scope.values.end() || is_initializer) {
      const onnx::NodeProto* by = known == scope.values.end() ? nullptr : known->second.node;
      builder_.Fail("output '{}' is given already, by {}", node.output(i),
                    is_initializer  ? std::string("an initializer")
                    : by == nullptr ? std::string("an input")
                    : by == &node
                        ? std::string("the node itself")
                        : fmt::format("node '{}' ({})", Printable(NameOf(*by)), by->op_type()));
      return;
    }
    scopes_.back().values.emplace(node.output(i), Given{outputs[static_cast<size_t>(i)], &node});
  }
}

}  // namespace relayvm::import

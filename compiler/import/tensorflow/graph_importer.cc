#include "compiler/import/tensorflow/graph_importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "bytecode/base/check_stop.h"
#include "bytecode/base/file_mapping.h"
#include "bytecode/base/printable.h"
#include "bytecode/base/string_table.h"
#include "compiler/import/tensorflow/object_graph.h"

namespace relayvm::import::tensorflow {

namespace {

// Functions that call others and loops in loops are written more than once: a small file could
// stand for more than there is memory.
constexpr size_t kMostNodes = 200'000;
constexpr size_t kMostTimes = 16;
constexpr size_t kMostScopes = 100;

bool IsControl(std::string_view text) { return text.starts_with('^'); }

std::optional<uint32_t> NumberIn(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end != text.end()) return std::nullopt;
  return value;
}

}  // namespace

GraphImporter::GraphImporter(GraphFile& file, const ir::Module& module, uint32_t file_index,
                             std::stop_token stop)
    : file_(file), builder_(module), file_index_(file_index), stop_(std::move(stop)) {
  most_nodes_ = kMostNodes + kMostTimes * file.graph().nodes.size();
  scopes_.push_back(std::make_unique<Scope>());
  scopes_.back()->graph = &file.graph();
}

void GraphImporter::Warn(std::string_view what) {
  if (warn_) {
    warn_(fmt::format("{}: {}", builder_.module().sources->Place(builder_.span()), what));
  }
}

ir::Span GraphImporter::SpanOf(const NodeDef& node, std::string_view part) {
  return builder_.module().sources->NodeSpan(file_index_, Printable(node.name), Printable(node.op),
                                             part);
}

void GraphImporter::FailGraph(StatusCode code, std::string_view message) {
  const bool has_place = builder_.span().line != 0;
  builder_.Fail(code,
                has_place ? std::string(message) : file_.path() + ": " + std::string(message));
}

// --- Names ---

std::optional<uint32_t> GraphImporter::OutputNamed(const NodeDef& node, std::string_view name) {
  const OperatorDef* op = FindOperator(node.op);
  if (op == nullptr) {
    const auto function = file_.FindFunction(node.op);
    if (!function.ok() || *function == nullptr) return 0;
    for (size_t i = 0; i < (*function)->outputs.size(); ++i) {
      if ((*function)->outputs[i].name == name) return static_cast<uint32_t>(i);
    }
    return std::nullopt;
  }
  std::string_view rest = op->outputs;
  if (rest.empty()) return 0;
  uint32_t first = 0;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    std::string_view arg = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t star = arg.find('*');
    if (arg.substr(0, star) == name) return first;
    if (star == std::string_view::npos) {
      ++first;
      continue;
    }
    const AttrValue count = AttrOf(node, arg.substr(star + 1));
    if (count.kind == AttrValue::Kind::kList) {
      first += static_cast<uint32_t>(ReadList(count.bytes).size());
    } else {
      first += static_cast<uint32_t>(std::clamp<int64_t>(count.number, 0, INT32_MAX / 2));
    }
  }
  return std::nullopt;
}

std::optional<GraphImporter::Source> GraphImporter::SourceOf(const Scope& scope,
                                                             std::string_view text) {
  const auto fail = [&](std::string_view why) {
    builder_.Fail("input '{}': {}", Printable(text), why);
    return std::nullopt;
  };
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  uint32_t first = 0;
  const auto node = scope.graph->places.find(name);
  const bool is_arg = scope.args.contains(name) && (node == scope.graph->places.end());
  if (!is_arg && node == scope.graph->places.end()) return fail("there is no node of that name");
  const size_t second = rest.find(':');
  const bool names_output = !rest.empty() && !NumberIn(rest.substr(0, second));
  if (names_output) {
    if (!is_arg) {
      const NodeDef& def = scope.graph->nodes[node->second];
      const auto output = OutputNamed(def, rest.substr(0, second));
      if (!output) return fail(fmt::format("{} has no output of that name", Printable(def.op)));
      first = *output;
    }
    rest = second == std::string_view::npos ? "" : rest.substr(second + 1);
  }
  uint32_t number = 0;
  if (!rest.empty()) {
    const auto given = NumberIn(rest);
    if (!given || *given > INT32_MAX / 2)
      return fail("expected the number of an output behind ':'");
    number = *given;
  }
  if (is_arg) return Source{true, {0, first + number}, name};
  return Source{false, {node->second, first + number}, name};
}

std::string GraphImporter::TextOfInput(const NodeDef& node, size_t i) const {
  return i < node.inputs.size() ? Printable(node.inputs[i]) : std::string();
}

// --- Values ---

void GraphImporter::Bind(std::string_view tensor, Value value) {
  const size_t colon = std::min(tensor.find(':'), tensor.size());
  const auto found = file_.graph().places.find(tensor.substr(0, colon));
  const uint32_t output =
      colon < tensor.size() ? NumberIn(tensor.substr(colon + 1)).value_or(0) : 0;
  if (found != file_.graph().places.end())
    scopes_.front()->bound[Edge{found->second, output}] = std::move(value);
}

std::optional<Value> GraphImporter::Known(const Scope& scope, const Source& source) const {
  if (source.is_arg) {
    const std::vector<Value>& arg = scope.args.find(source.arg)->second;
    return source.edge.output < arg.size() ? arg[source.edge.output] : Value{};
  }
  if (const auto bound = scope.bound.find(source.edge); bound != scope.bound.end())
    return bound->second;
  const auto known = scope.values.find(source.edge.node);
  if (known == scope.values.end()) return std::nullopt;
  const std::vector<Value>& outputs = known->second;
  return source.edge.output < outputs.size() ? outputs[source.edge.output] : Value{};
}

bool GraphImporter::WantsOutput(const NodeDef& node, size_t output) const {
  const Scope& scope = *scopes_.back();
  const auto place = scope.graph->places.find(node.name);
  return place != scope.graph->places.end() &&
         scope.wanted.contains(Edge{place->second, static_cast<uint32_t>(output)});
}

bool GraphImporter::Order(const std::vector<Source>& roots,
                          const std::vector<std::string_view>& effects,
                          std::vector<uint32_t>* order) {
  Scope& scope = *scopes_.back();
  const Graph& graph = *scope.graph;
  // A node that gives a value, or one through which effects are looked for.
  struct Visit {
    uint32_t node;
    bool gives;
    std::vector<Source> inputs;
    std::vector<uint32_t> before;  // whose effects come first
    size_t next = 0;
  };
  std::vector<Visit> stack;
  std::unordered_map<uint32_t, bool> seen;  // true: what it needs stands before it
  std::set<uint32_t> passed;
  const auto enter_node = [&](uint32_t place) {
    const auto [at, is_new] = seen.emplace(place, false);
    if (!is_new && !at->second) {
      builder_.SetSpan(SpanOf(graph.nodes[place]));
      builder_.Fail("the node needs what it gives itself");
      return false;
    }
    if (!is_new) return true;
    auto needs = NeedsOf(scope, place);
    if (!needs) return false;
    Visit visit{place, true, *std::move(needs), {}};
    for (const std::string_view text : graph.nodes[place].inputs) {
      const auto from = IsControl(text) ? graph.places.find(text.substr(1)) : graph.places.end();
      if (from != graph.places.end()) visit.before.push_back(from->second);
    }
    stack.push_back(std::move(visit));
    return true;
  };
  const auto enter = [&](const Source& source) {
    if (source.is_arg) return true;
    scope.wanted.insert(source.edge);
    return Known(scope, source) ? true : enter_node(source.edge.node);
  };
  const auto pass = [&](uint32_t place) {
    const NodeDef& node = graph.nodes[place];
    if (!passed.insert(place).second || scope.values.contains(place)) return true;
    if (TouchesState(node)) return seen.contains(place) || enter_node(place);
    Visit visit{place, false, {}, {}};
    for (std::string_view text : node.inputs) {
      if (IsControl(text)) text.remove_prefix(1);
      const auto from = graph.places.find(text.substr(0, text.find(':')));
      if (from != graph.places.end()) visit.before.push_back(from->second);
    }
    stack.push_back(std::move(visit));
    return true;
  };
  const auto drain = [&] {
    while (!stack.empty()) {
      Visit& top = stack.back();
      const size_t next = top.next++;
      if (next < top.before.size()) {
        if (!pass(top.before[next])) return false;
      } else if (next < top.before.size() + top.inputs.size()) {
        if (!enter(Source(top.inputs[next - top.before.size()]))) return false;
      } else {
        if (top.gives) {
          seen[top.node] = true;
          order->push_back(top.node);
        }
        stack.pop_back();
      }
    }
    return true;
  };
  for (const std::string_view effect : effects) {
    const auto from = graph.places.find(effect.substr(0, effect.find(':')));
    if (from != graph.places.end() && (!pass(from->second) || !drain())) return false;
  }
  for (const Source& root : roots) {
    if (!enter(root) || !drain()) return false;
  }
  return true;
}

std::vector<Value> GraphImporter::Evaluate(const std::vector<std::string_view>& texts,
                                           const std::vector<std::string_view>& effects) {
  Scope& scope = *scopes_.back();
  std::vector<Source> sources;
  for (const std::string_view text : texts) {
    auto source = SourceOf(scope, text);
    if (!source) return {};
    sources.push_back(*std::move(source));
  }
  std::vector<uint32_t> order;
  if (!Order(sources, effects, &order)) return {};
  for (const uint32_t node : order) {
    if (!scope.values.contains(node)) ImportNode(node);
    if (!builder_.status().ok()) return {};
  }
  std::vector<Value> values;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto value = Known(scope, sources[i]);
    if (!value || !*value) {
      FailGraph(StatusCode::kInvalidInput,
                fmt::format("'{}' is not an output of a node", Printable(texts[i])));
      return {};
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<Value> GraphImporter::Import(const std::vector<std::string>& tensors) {
  return Evaluate({tensors.begin(), tensors.end()});
}

void GraphImporter::ImportNode(uint32_t place) {
  Scope& scope = *scopes_.back();
  const NodeDef& node = scope.graph->nodes[place];
  const ir::Span outer = builder_.span();
  builder_.SetSpan(SpanOf(node));
  if (++imported_ > most_nodes_) {
    builder_.Fail(StatusCode::kResourceExhausted,
                  "functions and loops expand to more than {} nodes", most_nodes_);
  }
  if (const Status s = CheckStop(stop_); !s.ok()) FailGraph(s.code(), s.message());
  const std::string_view op_name =
      node.op.starts_with("Ref") ? node.op.substr(3) : node.op;  // of references: the same
  const bool is_exit = op_name == "Exit", is_merge = op_name == "Merge";
  if ((is_exit || is_merge) && builder_.status().ok()) {
    if (is_merge) {
      ImportMerge(place);
    } else if (const Loop* loop = LoopOf(scope, place)) {
      RunFrame(*loop);
    }
    if (builder_.status().ok()) builder_.SetSpan(outer);
    return;
  }
  std::vector<Value> inputs;
  for (size_t i = 0; i < node.inputs.size() && builder_.status().ok(); ++i) {
    if (IsControl(node.inputs[i])) continue;
    if (op_name == "Switch" && !inputs.empty()) break;  // who merges asks for what decides
    const auto source = SourceOf(scope, node.inputs[i]);
    const auto value = source ? Known(scope, *source) : std::nullopt;
    if (!value || !*value) {
      builder_.Fail("input '{}' is not an output of a node", TextOfInput(node, i));
    } else {
      inputs.push_back(*value);
    }
  }
  if (!builder_.status().ok()) return;
  std::vector<Value> outputs = Convert(node, std::move(inputs));
  if (!builder_.status().ok()) return;
  scope.values[place] = std::move(outputs);
  builder_.SetSpan(outer);
}

std::vector<Value> GraphImporter::Convert(const NodeDef& node, std::vector<Value> inputs) {
  const OperatorDef* op = FindOperator(node.op);
  // Who does not write a variable of TensorFlow 1 reads it.
  const bool hands_on = node.op == "Identity" || node.op.starts_with("Assign");
  for (Value& v : inputs) {
    if (!hands_on) v = Loaded(v);
    if (!builder_.status().ok()) return {};
    const auto variable = op == nullptr || !op->touches_state ? ResourceOf(v) : nullptr;
    if (variable == nullptr || !variable->is_reference) continue;
    v = Read(*variable);
    if (v) continue;
    builder_.Fail(
        "variable '{}' has no value: a graph of its own has none; give a SavedModel's "
        "folder, or freeze the graph",
        Printable(variable->name));
    return {};
  }
  if (op == nullptr) {
    const auto function = file_.FindFunction(node.op);
    if (function.ok() && *function != nullptr) return Call({node.op, node.attrs}, inputs);
    missing_ = true;
    builder_.Fail(StatusCode::kUnsupported, "operator {} is not supported", Printable(node.op));
    return {};
  }
  const auto given = static_cast<int>(inputs.size());
  if (given < op->min_inputs || (op->max_inputs >= 0 && given > op->max_inputs)) {
    builder_.Fail("expected {} inputs, found {}",
                  op->max_inputs < 0 ? fmt::format("at least {}", op->min_inputs)
                  : op->min_inputs == op->max_inputs
                      ? fmt::format("{}", op->min_inputs)
                      : fmt::format("{} to {}", op->min_inputs, op->max_inputs),
                  given);
    return {};
  }
  NodeContext context(*this, node, std::move(inputs));
  return op->convert(context);
}

// --- Functions ---

bool GraphImporter::TouchesState(const NodeDef& node) {
  if (const OperatorDef* op = FindOperator(node.op); op != nullptr && op->touches_state)
    return true;
  const auto calls = [&](std::string_view name) {
    const auto function = file_.FindFunction(name);
    return function.ok() && *function != nullptr && TouchesState((*function)->body);
  };
  for (const auto& [name, bytes] : node.attrs) {
    const AttrValue value = ReadAttr(bytes);
    if (value.kind == AttrValue::Kind::kFunction && calls(ReadFunctionRef(value.bytes).name))
      return true;
    if (value.kind != AttrValue::Kind::kList || name != "branches") continue;
    for (const AttrValue& each : ReadList(value.bytes)) {
      if (each.kind == AttrValue::Kind::kFunction && calls(ReadFunctionRef(each.bytes).name))
        return true;
    }
  }
  return calls(node.op);
}

bool GraphImporter::TouchesState(const Graph& graph) {
  const auto [known, is_new] = touches_.emplace(&graph, false);  // false in a circle
  if (!is_new) return known->second;
  const bool touches =
      std::ranges::any_of(graph.nodes, [&](const NodeDef& node) { return TouchesState(node); });
  touches_[&graph] = touches;
  return touches;
}

std::vector<bool> GraphImporter::HandedOn(const FunctionRef& ref, int depth) {
  constexpr int kMostDepth = 20;
  const auto found = file_.FindFunction(ref.name);
  if (!found.ok() || *found == nullptr) return {};
  const FunctionDef& function = **found;
  std::vector<bool> out;
  for (size_t i = 0; i < function.outputs.size() && i < function.inputs.size(); ++i) {
    const auto result = function.results.find(function.outputs[i].name);
    std::string_view text = result == function.results.end() ? "" : result->second;
    for (size_t steps = 0; steps < function.body.nodes.size(); ++steps) {
      const auto at = function.body.places.find(text.substr(0, text.find(':')));
      if (at == function.body.places.end()) break;
      const NodeDef& node = function.body.nodes[at->second];
      if (node.inputs.empty()) break;
      if (node.op == "Identity") {
        text = node.inputs[0];
        continue;
      }
      // What a loop inside does not change either.
      const auto number = NumberIn(text.substr(text.rfind(':') + 1));
      if ((node.op != "While" && node.op != "StatelessWhile") || !number ||
          *number >= node.inputs.size()) {
        break;
      }
      if (depth >= kMostDepth) break;
      const std::vector<bool> inner =
          HandedOn(ReadFunctionRef(ReadAttr(node.Attr("body")).bytes), depth + 1);
      if (*number >= inner.size() || !inner[*number]) break;
      text = node.inputs[*number];
    }
    out.push_back(text.substr(0, text.find(':')) == function.inputs[i].name);
  }
  return out;
}

std::vector<Value> GraphImporter::Call(const FunctionRef& ref, const std::vector<Value>& inputs,
                                       const WantsFn& wants) {
  const auto found = file_.FindFunction(ref.name);
  if (!found.ok() || *found == nullptr) {
    builder_.Fail("function '{}': {}", Printable(ref.name),
                  found.ok() ? "the file has none of that name" : found.status().message());
    return {};
  }
  const FunctionDef& function = **found;
  if (std::ranges::find(calls_, &function) != calls_.end() || scopes_.size() >= kMostScopes) {
    builder_.Fail("function '{}' calls itself, directly or through others", Printable(ref.name));
    return {};
  }
  auto scope = std::make_unique<Scope>();
  scope->graph = &function.body;
  scope->function = &function;
  scope->attrs = &ref.attrs;
  scope->caller = scopes_.back().get();
  size_t next = 0;
  for (const ArgDef& arg : function.inputs) {
    size_t count = 1;  // of a list what is left, by its attribute
    if (!arg.number_attr.empty() || !arg.type_list_attr.empty()) {
      AttrValue length;
      for (const auto& [name, value] : ref.attrs) {
        if (name == arg.number_attr || name == arg.type_list_attr) length = ReadAttr(value);
      }
      count = length.kind == AttrValue::Kind::kList
                  ? ReadList(length.bytes).size()
                  : static_cast<size_t>(std::max<int64_t>(length.number, 0));
    }
    if (count > inputs.size() - next) {
      builder_.Fail("function '{}' takes more inputs than {}", Printable(ref.name), inputs.size());
      return {};
    }
    std::vector<Value>& values = scope->args[arg.name];
    for (size_t i = 0; i < count; ++i) values.push_back(inputs[next++]);
  }
  if (next != inputs.size()) {
    builder_.Fail("function '{}' takes {} inputs, found {}", Printable(ref.name), next,
                  inputs.size());
    return {};
  }
  std::vector<std::string_view> results;
  std::vector<size_t> places;
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    const ArgDef& output = function.outputs[i];
    if (wants != nullptr && !wants(i)) continue;
    const auto result = function.results.find(output.name);
    if (result == function.results.end()) {
      builder_.Fail("function '{}' says nowhere what its output '{}' is", Printable(ref.name),
                    Printable(output.name));
      return {};
    }
    results.push_back(result->second);
    places.push_back(i);
  }
  calls_.push_back(&function);
  scopes_.push_back(std::move(scope));
  const std::vector<Value> values = Evaluate(results, function.control_results);
  scopes_.pop_back();
  calls_.pop_back();
  if (!builder_.status().ok()) return {};
  std::vector<Value> outputs(function.outputs.size());
  for (size_t i = 0; i < places.size(); ++i) outputs[places[i]] = values[i];
  return outputs;
}

AttrValue GraphImporter::AttrOf(const NodeDef& node, std::string_view name) const {
  AttrValue value = ReadAttr(node.Attr(name));
  const Scope* scope = scopes_.back().get();
  // In a function: what its caller says, which may stand in one too.
  while (value.kind == AttrValue::Kind::kPlaceholder && scope != nullptr) {
    AttrValue given;
    for (size_t i = 0; scope->attrs != nullptr && i < scope->attrs->size(); ++i) {
      if ((*scope->attrs)[i].first == value.bytes) given = ReadAttr((*scope->attrs)[i].second);
    }
    value = given;
    scope = scope->caller;
  }
  return value;
}

// --- What stands beside the file ---

Value GraphImporter::NewStored(std::string key, std::string slice) {
  const Value value = builder_.Wrap(builder_.graph().Tuple({}, builder_.span()),
                                    ir::MakeType(ir::AdtType{"Stored", {}}));
  stored_[value.node] = {std::move(key), std::move(slice), {}};
  return value;
}

Bundle* GraphImporter::OpenBundle() {
  if (bundle_ != nullptr) return bundle_.get();
  const auto folder = std::filesystem::path(file_.path()).parent_path();
  auto bundle = Bundle::Open((folder / "variables" / "variables").string());
  if (!bundle.ok()) {
    builder_.Fail(bundle.status().code(), bundle.status().message());
    return nullptr;
  }
  bundle_ = *std::move(bundle);
  return bundle_.get();
}

void GraphImporter::RestoreObjects() {
  std::vector<std::string> without;
  for (const NodeDef& node : file_.graph().nodes) {
    if (node.op == "VarHandleOp" && !variables_.contains(std::string(node.name)))
      without.emplace_back(node.name);
  }
  if (without.empty() || file_.object_graph().empty() || OpenBundle() == nullptr) return;
  const auto objects = bundle_->Tensor(kObjectGraphKey);
  if (!objects.ok() || objects->size() != 1) return;
  const PackedStrings text(objects->data.data(), 1);
  for (const auto& [node, key] : CheckpointKeys(file_, text[0])) {
    if (std::ranges::find(without, node) != without.end())
      variables_[std::string(node)] = NewStored(key, "");
  }
}

Value GraphImporter::Loaded(const Value& v) {
  const auto known = stored_.find(v.node);
  if (known == stored_.end()) return v;
  Stored& stored = known->second;
  if (stored.value) return stored.value;
  if (OpenBundle() == nullptr) return {};
  auto tensor = bundle_->Tensor(stored.key, stored.slice);
  if (tensor.ok() && tensor->dtype == DType::kString)
    tensor = InternStrings(*builder_.module().strings, *tensor);
  if (!tensor.ok()) {
    builder_.Fail(tensor.status().code(), tensor.status().message());
    return {};
  }
  stored.value = builder_.Constant(*std::move(tensor), stored.key);
  return stored.value;
}

void GraphImporter::StartOver() {
  scopes_.front()->values.clear();
  scopes_.front()->wanted.clear();
}

Result<SharedBytes> GraphImporter::Asset(const std::string& name) {
  // Whoever wrote the model had it elsewhere: here it lies in the model's own folder.
  const auto file = std::filesystem::path(name).filename();
  if (file.empty() || file == ".." || file == ".")
    return InvalidInput(fmt::format("asset '{}': expected the name of a file", Printable(name)));
  const auto folder = std::filesystem::path(file_.path()).parent_path();
  RELAYVM_ASSIGN_OR_RETURN(auto mapping, FileMapping::Open((folder / "assets" / file).string()));
  return SharedBytes::OfFile(std::move(mapping));
}

bool GraphImporter::IsRangeFromZero(const NodeDef& node, size_t i) {
  const Scope& scope = *scopes_.back();
  const auto from = [&](std::string_view text) -> const NodeDef* {
    for (int steps = 0; steps < 10; ++steps) {
      const auto at = scope.graph->places.find(text.substr(0, text.find(':')));
      if (at == scope.graph->places.end()) return nullptr;
      const NodeDef& found = scope.graph->nodes[at->second];
      if (found.op != "Identity" || found.inputs.empty()) return &found;
      text = found.inputs[0];
    }
    return nullptr;
  };
  const auto is_number = [&](std::string_view text, int64_t number) {
    const auto source = SourceOf(scope, text);
    const auto value = source ? Known(scope, *source) : std::nullopt;
    const auto known = value && *value ? builder_.ConstantInts(*value) : std::nullopt;
    return known && known->size() == 1 && (*known)[0] == number;
  };
  const NodeDef* range = i < node.inputs.size() ? from(node.inputs[i]) : nullptr;
  return range != nullptr && range->op == "Range" && range->inputs.size() >= 3 &&
         is_number(range->inputs[0], 0) && is_number(range->inputs[2], 1);
}

// --- Constants ---

Value GraphImporter::ConstantOf(std::string_view tensor, std::string_view name) {
  auto known = tensors_.find(tensor.data());
  if (known == tensors_.end()) {
    auto elements = file_.TensorOf(tensor);
    if (elements.ok() && elements->dtype == DType::kString)
      elements = InternStrings(*builder_.module().strings, *elements);
    if (!elements.ok()) {
      builder_.Fail(elements.status().code(), elements.status().message());
      return {};
    }
    known = tensors_.emplace(tensor.data(), *std::move(elements)).first;
  }
  return builder_.Constant(known->second, std::string(name));
}

// --- Operators that are not supported ---

Status GraphImporter::Unsupported(const std::vector<std::string>& tensors) {
  struct Missing {
    size_t count = 0;
    std::vector<std::string> nodes;  // the first ones
  };
  std::map<std::string, Missing> missing;  // by operator
  std::vector<const Graph*> graphs = {&file_.graph()};
  std::set<const Graph*> known = {&file_.graph()};
  const auto call = [&](std::string_view name) {
    const auto function = file_.FindFunction(name);
    if (function.ok() && *function != nullptr && known.insert(&(*function)->body).second)
      graphs.push_back(&(*function)->body);
    return function.ok() && *function != nullptr;
  };
  for (size_t g = 0; g < graphs.size(); ++g) {
    const Graph& graph = *graphs[g];
    std::vector<uint32_t> todo;
    std::set<uint32_t> seen;
    const auto need = [&](std::string_view text) {
      const auto at = graph.places.find(text.substr(0, text.find(':')));
      if (at != graph.places.end() && seen.insert(at->second).second) todo.push_back(at->second);
    };
    if (g == 0) {
      for (const std::string& tensor : tensors) need(tensor);
    } else {
      for (uint32_t i = 0; i < graph.nodes.size(); ++i) todo.push_back(i);
    }
    while (!todo.empty()) {
      const NodeDef& node = graph.nodes[todo.back()];
      todo.pop_back();
      for (const std::string_view text : node.inputs) {
        if (g == 0 && !IsControl(text)) need(text);
      }
      for (const auto& [name, bytes] : node.attrs) {
        const AttrValue value = ReadAttr(bytes);
        if (value.kind == AttrValue::Kind::kFunction) call(ReadFunctionRef(value.bytes).name);
        if (value.kind != AttrValue::Kind::kList) continue;
        for (const AttrValue& each : ReadList(value.bytes)) {
          if (each.kind == AttrValue::Kind::kFunction) call(ReadFunctionRef(each.bytes).name);
        }
      }
      if (FindOperator(node.op) != nullptr || call(node.op)) continue;
      Missing& of = missing[Printable(node.op)];
      constexpr size_t kShown = 3;
      if (++of.count <= kShown) of.nodes.push_back(fmt::format("'{}'", Printable(node.name)));
    }
  }
  std::string text;
  for (const auto& [op, of] : missing) {
    text += fmt::format("\n  {}: node {}", op, fmt::join(of.nodes, ", "));
    if (of.count > of.nodes.size()) text += fmt::format(" and {} more", of.count - of.nodes.size());
  }
  return {StatusCode::kUnsupported,
          fmt::format("{}: {} operator{} not supported:{}", file_.path(), missing.size(),
                      missing.size() == 1 ? " is" : "s are", text)};
}

}  // namespace relayvm::import::tensorflow

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
constexpr size_t kMostNodes = 50'000;
constexpr size_t kMostTimes = 16;

bool IsControl(std::string_view text) { return text.starts_with('^'); }

// Whether a node is what a variable of TensorFlow 1 holds at that time.
bool ReadsReference(const Graph& graph, const NodeDef& node) {
  if (node.op != "Identity" || node.inputs.empty()) return false;
  const auto from = graph.places.find(node.inputs[0].substr(0, node.inputs[0].find(':')));
  return from != graph.places.end() && graph.nodes[from->second].op.starts_with("Variable");
}

}  // namespace

std::optional<uint32_t> NumberIn(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end != text.end()) return std::nullopt;
  return value;
}

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
    if (TouchesState(node) || ReadsReference(graph, node))
      return seen.contains(place) || enter_node(place);
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
  const size_t held = builder_.status().ok() ? HoldGuards(scope, place) : 0;
  const auto release = [&] { held_.resize(held_.size() - held); };
  if ((is_exit || is_merge) && builder_.status().ok()) {
    if (is_merge) {
      ImportMerge(place);
    } else if (const Loop* loop = LoopOf(scope, place)) {
      RunFrame(*loop);
    }
    if (builder_.status().ok()) builder_.SetSpan(outer);
    release();
    return;
  }
  std::vector<Value> inputs;
  for (size_t i = 0; i < node.inputs.size() && builder_.status().ok(); ++i) {
    if (IsControl(node.inputs[i])) continue;
    const bool is_switch = op_name == "Switch" || op_name == "_SwitchN";
    if (is_switch && !inputs.empty()) break;  // who merges asks for what decides
    const auto source = SourceOf(scope, node.inputs[i]);
    const auto value = source ? Known(scope, *source) : std::nullopt;
    if (!value || !*value) {
      builder_.Fail("input '{}' is not an output of a node", TextOfInput(node, i));
    } else {
      inputs.push_back(*value);
    }
  }
  std::vector<Value> outputs;
  if (builder_.status().ok()) outputs = Convert(node, std::move(inputs));
  release();
  if (!builder_.status().ok()) return;
  scope.values[place] = std::move(outputs);
  builder_.SetSpan(outer);
}

std::vector<Value> GraphImporter::Convert(const NodeDef& node, std::vector<Value> inputs) {
  const OperatorDef* op = FindOperator(node.op);
  // Who does not write a variable of TensorFlow 1 reads it.
  const bool hands_on =
      node.op == "Identity" || node.op.starts_with("Ref") || node.op.starts_with("Assign");
  for (Value& v : inputs) {
    if (!hands_on) v = Loaded(v);
    if (!builder_.status().ok()) return {};
    const auto variable = op == nullptr || !op->touches_state ? ResourceOf(v) : nullptr;
    if (variable == nullptr || !variable->is_reference) continue;
    if (node.op.starts_with("Ref")) continue;
    const Value held = Read(*variable);
    if (!held && node.op == "Identity") continue;  // nobody may ask for it
    v = held;
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

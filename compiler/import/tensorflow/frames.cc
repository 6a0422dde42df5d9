// Branches and loops of TensorFlow 1, by what they are made of.
//
// A conditional: Switch(x, p) gives x at one of its outputs, and what depends on it is alive where
// p is so; Merge gives the one of its inputs that is alive. What a node depends on in this way are
// its guards; two inputs of a Merge differ in one of them.
//
// A loop, a frame: for each variable
//
//   Enter -> Merge(Enter, NextIteration) -> Switch(Merge, LoopCond) -> 1: body -> NextIteration
//                                                                   -> 0: Exit
//
// and Enters of what all turns see. Everything between is found from the Exits back to the Enters.
#include <fmt/format.h>

#include <algorithm>

#include "bytecode/base/printable.h"
#include "compiler/import/arithmetic.h"
#include "compiler/import/composite/loops.h"
#include "compiler/import/tensorflow/graph_importer.h"

namespace relayvm::import::tensorflow {

namespace {

// Without what tells that it works on references.
std::string_view PlainOp(const NodeDef& node) {
  constexpr std::string_view kReference = "Ref";
  std::string_view op = node.op;
  if (op.starts_with(kReference)) op.remove_prefix(kReference.size());
  return op;
}

// _SwitchN gives its input at one of many outputs.
constexpr std::string_view kManyWays = "_SwitchN";
bool IsSwitch(const NodeDef& node) { return PlainOp(node) == "Switch" || node.op == kManyWays; }

std::string_view FrameOf(const NodeDef& enter) { return ReadAttr(enter.Attr("frame_name")).bytes; }

constexpr size_t kMostGuards = 64;
// Nodes in a row that only hand a value on.
constexpr size_t kMostSteps = 1000;

}  // namespace

// --- Loops ---

const GraphImporter::Loop* GraphImporter::LoopOf(const Scope& scope, uint32_t exit) {
  const Graph& graph = *scope.graph;
  const auto fail = [&](std::string_view why) -> const Loop* {
    builder_.SetSpan(SpanOf(graph.nodes[exit]));
    builder_.Fail("a loop without its parts: {}", why);
    return nullptr;
  };
  const auto input = [&](uint32_t node, size_t i) -> std::optional<uint32_t> {
    if (i >= graph.nodes[node].inputs.size()) return std::nullopt;
    const std::string_view text = graph.nodes[node].inputs[i];
    const auto found = graph.places.find(text.substr(0, text.find(':')));
    return found == graph.places.end() ? std::nullopt : std::optional(found->second);
  };
  const auto is = [&](std::optional<uint32_t> node, std::string_view op) {
    return node && PlainOp(graph.nodes[*node]) == op;
  };
  // The Merge of an Exit, the Enter of a Merge.
  const auto merge_of = [&](uint32_t node) -> std::optional<uint32_t> {
    const auto from = input(node, 0);
    const auto merge = is(from, "Switch") ? input(*from, 0) : std::nullopt;
    return is(merge, "Merge") ? merge : std::nullopt;
  };
  const auto part_of = [&](uint32_t merge, std::string_view op) -> std::optional<uint32_t> {
    for (size_t i = 0; i < graph.nodes[merge].inputs.size(); ++i) {
      if (is(input(merge, i), op)) return input(merge, i);
    }
    return std::nullopt;
  };
  const auto own_merge = merge_of(exit);
  const auto own_enter = own_merge ? part_of(*own_merge, "Enter") : std::nullopt;
  if (!own_enter) return fail("there is no Switch of a Merge of an Enter before the Exit");
  const std::string_view frame = FrameOf(graph.nodes[*own_enter]);
  auto [known, is_new] = loops_.try_emplace({&graph, frame});
  if (!is_new) return known->second->exits.contains(exit) ? known->second.get() : fail(frame);
  known->second = std::make_unique<Loop>();
  Loop& loop = *known->second;
  const auto condition = input(*input(exit, 0), 1);
  if (!is(condition, "LoopCond")) return fail("the Switch has no LoopCond");
  loop.condition = *condition;
  // All Exits of the frame that something reads, so that the loop is there once.
  std::vector<uint32_t> todo = {loop.condition, *own_merge};
  std::map<uint32_t, uint32_t> exits;  // their Merges
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (PlainOp(graph.nodes[i]) != "Exit") continue;
    const auto merge = merge_of(i);
    const auto enter = merge ? part_of(*merge, "Enter") : std::nullopt;
    if (!enter || FrameOf(graph.nodes[*enter]) != frame) continue;
    exits[i] = *merge;
    todo.push_back(*merge);
  }
  std::set<uint32_t> seen(todo.begin(), todo.end());
  while (!todo.empty()) {
    const uint32_t at = todo.back();
    todo.pop_back();
    const NodeDef& node = graph.nodes[at];
    const bool is_enter = PlainOp(node) == "Enter" && FrameOf(node) == frame;
    if (is_enter) loop.fixed.push_back(at);
    if (PlainOp(node) == "Merge") {
      const auto enter = part_of(at, "Enter"), next = part_of(at, "NextIteration");
      if (enter && next && FrameOf(graph.nodes[*enter]) == frame) {
        loop.merges.push_back(at);
        loop.enters.push_back(*enter);
        loop.nexts.push_back(*next);
      }
    }
    for (size_t i = 0; i < node.inputs.size() && !is_enter; ++i) {
      const auto from = input(at, i);
      if (from && seen.insert(*from).second) todo.push_back(*from);
    }
  }
  for (const uint32_t enter : loop.enters) std::erase(loop.fixed, enter);
  for (const auto& [place, merge] : exits) {
    const auto at = std::ranges::find(loop.merges, merge);
    if (at != loop.merges.end()) loop.exits[place] = static_cast<size_t>(at - loop.merges.begin());
  }
  return loop.exits.contains(exit) ? &loop : fail("its Merge has no NextIteration");
}

void GraphImporter::RunFrame(const Loop& loop) {
  Scope& outer = *scopes_.back();
  const Graph& graph = *outer.graph;
  const auto outside = [&](uint32_t enter) {
    const auto source = SourceOf(outer, graph.nodes[enter].inputs[0]);
    return source ? Known(outer, *source).value_or(Value{}) : Value{};
  };
  std::map<Edge, Value> fixed;
  for (const uint32_t enter : loop.fixed) fixed[{enter, 0}] = outside(enter);
  WhileSpec spec;
  for (const uint32_t enter : loop.enters) spec.initial.push_back(outside(enter));
  // A turn sees the state as what its Merges give.
  const auto turn = [&](const std::vector<Value>& state, const std::vector<uint32_t>& nodes) {
    auto scope = std::make_unique<Scope>();
    scope->graph = outer.graph;
    scope->function = outer.function;
    scope->attrs = outer.attrs;
    scope->caller = outer.caller;
    scope->args = outer.args;
    scope->bound = fixed;
    for (size_t i = 0; i < state.size(); ++i) scope->bound[{loop.merges[i], 0}] = state[i];
    std::vector<std::string_view> texts;
    for (const uint32_t node : nodes) texts.push_back(graph.nodes[node].inputs[0]);
    scopes_.push_back(std::move(scope));
    std::vector<Value> values = Evaluate(texts);
    scopes_.pop_back();
    return values;
  };
  spec.condition = [&](const std::vector<Value>& state) {
    const std::vector<Value> values = turn(state, {loop.condition});
    return values.empty() ? Value{} : values[0];
  };
  spec.body = [&](const std::vector<Value>& state) { return turn(state, loop.nexts); };
  for (size_t i = 0; i < loop.nexts.size(); ++i) {
    // What a NextIteration gives where it is only handed on.
    uint32_t at = loop.nexts[i];
    const auto is = [&](std::string_view op) {
      return graph.nodes[at].op == op && !graph.nodes[at].inputs.empty();
    };
    for (size_t steps = 0; steps < kMostSteps; ++steps) {
      if (!is("NextIteration") && !is("Identity") && !is("Switch")) break;
      const std::string_view text = graph.nodes[at].inputs[0];
      const auto from = graph.places.find(text.substr(0, text.find(':')));
      if (from == graph.places.end()) break;
      at = from->second;
    }
    spec.fixed.push_back(at == loop.merges[i]);
  }
  const std::vector<Value> last = RunWhile(spec);
  if (!builder_.status().ok()) return;
  for (const auto& [exit, variable] : loop.exits) outer.values[exit] = {last[variable]};
}

// --- Conditionals ---

std::optional<Edge> GraphImporter::EdgeOf(const Scope& scope, std::string_view text) const {
  const bool is_control = text.starts_with('^');
  if (is_control) text.remove_prefix(1);
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon), rest = text.substr(colon);
  const bool is_second = rest.ends_with(":1") || rest.find("output_true") != std::string_view::npos;
  const uint32_t output = !is_control && is_second ? 1 : 0;
  if (const auto found = scope.graph->places.find(name); found != scope.graph->places.end()) {
    if (is_control || scope.graph->nodes[found->second].op != kManyWays || rest.empty())
      return Edge{found->second, output};
    return Edge{found->second, NumberIn(rest.substr(rest.rfind(':') + 1)).value_or(0)};
  }
  for (size_t i = 0; scope.function != nullptr && i < scope.function->inputs.size(); ++i) {
    if (scope.function->inputs[i].name == name)
      return Edge{static_cast<uint32_t>(scope.graph->nodes.size() + i), 0};
  }
  return std::nullopt;
}

GraphImporter::Source GraphImporter::SourceOfEdge(const Scope& scope, const Edge& edge) {
  const size_t nodes = scope.graph->nodes.size();
  if (edge.node < nodes) return {false, edge, {}};
  return {true, {0, 0}, scope.function->inputs[edge.node - nodes].name};
}

std::optional<Edge> GraphImporter::PredicateOf(const Scope& scope, uint32_t place) const {
  const Graph& graph = *scope.graph;
  const NodeDef& node = graph.nodes[place];
  if (!IsSwitch(node) || node.inputs.size() < 2) return std::nullopt;
  auto predicate = EdgeOf(scope, node.inputs[1]);
  // Those of one value are one, whatever hands it on.
  for (size_t steps = 0; predicate && steps < kMostSteps; ++steps) {
    if (predicate->node >= graph.nodes.size()) return predicate;
    const NodeDef& from = graph.nodes[predicate->node];
    if (PlainOp(from) == "LoopCond") return std::nullopt;
    if (from.op != "Identity" || from.inputs.empty()) return predicate;
    predicate = EdgeOf(scope, from.inputs[0]);
  }
  return predicate;
}

std::optional<GraphImporter::Guard> GraphImporter::GuardAt(const Scope& scope,
                                                           const Edge& edge) const {
  const auto predicate = PredicateOf(scope, edge.node);
  if (!predicate) return std::nullopt;
  const NodeDef& node = scope.graph->nodes[edge.node];
  if (node.op != kManyWays) return Guard{*predicate, edge.output == 1 ? 1U : 0U, 0};
  const int64_t sides = ReadAttr(node.Attr("num_outs")).number;
  return Guard{*predicate, edge.output,
               static_cast<uint32_t>(std::clamp<int64_t>(sides, 1, INT32_MAX))};
}

// A number that has no output of its own takes the last one.
Value GraphImporter::Holds(const Guard& guard, const Value& decides) {
  const Term x = AsScalar(Term(builder_, decides));
  if (guard.sides == 0) return guard.side == 1 ? x : Not(x);
  if (guard.side + 1 < guard.sides) return Equal(x, guard.side);
  return Or(x < 0, x >= static_cast<double>(guard.sides) - 1);
}

const std::vector<GraphImporter::Guards>& GraphImporter::GuardsOf(const Scope& scope) {
  const Graph& graph = *scope.graph;
  auto [known, is_new] = guards_.try_emplace(&graph);
  std::vector<Guards>& guards = known->second;
  if (!is_new) return guards;
  guards.resize(graph.nodes.size());
  const auto of_output = [&](const Edge& edge) {
    if (edge.node >= graph.nodes.size()) return Guards();  // an argument
    Guards out = guards[edge.node];
    if (const auto guard = GuardAt(scope, edge)) out.insert(*guard);
    return out;
  };
  // Behind what they read; what comes around in a loop says nothing new.
  std::vector<uint8_t> state(graph.nodes.size(), 0);
  std::vector<std::pair<uint32_t, size_t>> stack;
  for (uint32_t root = 0; root < graph.nodes.size(); ++root) {
    if (state[root] == 0) stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [at, next] = stack.back();
      const NodeDef& node = graph.nodes[at];
      state[at] = 1;
      if (next < node.inputs.size() && PlainOp(node) != "NextIteration") {
        const auto from = EdgeOf(scope, node.inputs[next++]);
        if (from && from->node < graph.nodes.size() && state[from->node] == 0)
          stack.emplace_back(from->node, 0);
        continue;
      }
      Guards& own = guards[at];
      const bool merges = PlainOp(node) == "Merge";
      bool is_first = true;
      for (const std::string_view text : node.inputs) {
        const auto from = EdgeOf(scope, text);
        if (!from || (from->node < graph.nodes.size() &&
                      PlainOp(graph.nodes[from->node]) == "NextIteration")) {
          continue;
        }
        const Guards given = of_output(*from);
        if (merges && !is_first && !text.starts_with('^')) {
          std::erase_if(own, [&](const auto& g) { return !given.contains(g); });
        } else {
          own.insert(given.begin(), given.end());
        }
        is_first = false;
        if (own.size() > kMostGuards) {
          own.clear();
          too_deep_.insert(&graph);
        }
      }
      state[at] = 2;
      stack.pop_back();
    }
  }
  return guards;
}

std::optional<GraphImporter::Decision> GraphImporter::DecisionAmong(
    const std::vector<Guards>& of, const std::vector<size_t>& inputs) {
  // What some of them need, and of the others each needs it to be another.
  for (const Guard& guard : of[inputs[0]]) {
    Decision decision{guard, {}, {}};
    for (const size_t i : inputs) {
      const bool holds = of[i].contains(guard);
      const bool differs = std::ranges::any_of(of[i], [&](const Guard& other) {
        return other.decides == guard.decides && other.side != guard.side;
      });
      if (holds != differs) (holds ? decision.yes : decision.no).push_back(i);
    }
    const bool decides =
        !decision.no.empty() && decision.yes.size() + decision.no.size() == inputs.size();
    if (decides) return decision;
  }
  // One of two is there always: the other one counts where it is there.
  if (inputs.size() != 2) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const size_t own = inputs[side], other = inputs[1 - side];
    for (const Guard& guard : of[own]) {
      if (!of[other].contains(guard)) return Decision{guard, {own}, {other}};
    }
  }
  return std::nullopt;
}

std::optional<std::vector<GraphImporter::Decision>> GraphImporter::DecisionsOf(const Scope& scope,
                                                                               uint32_t merge) {
  constexpr size_t kMostInputs = 500;
  const Graph& graph = *scope.graph;
  const std::vector<Guards>& guards = GuardsOf(scope);
  std::vector<Guards> of;
  for (const std::string_view text : graph.nodes[merge].inputs) {
    if (text.starts_with('^')) continue;
    const auto edge = EdgeOf(scope, text);
    if (!edge) return std::nullopt;
    Guards given;
    if (edge->node < graph.nodes.size()) {
      given = guards[edge->node];
      // A Switch that is merged itself.
      if (const auto guard = GuardAt(scope, *edge)) given.insert(*guard);
    }
    of.push_back(std::move(given));
  }
  if (of.empty() || of.size() > kMostInputs) return std::nullopt;
  std::vector<Decision> decisions;
  std::vector<std::vector<size_t>> todo(1);
  for (size_t i = 0; i < of.size(); ++i) todo[0].push_back(i);
  while (!todo.empty()) {
    const std::vector<size_t> inputs = std::move(todo.back());
    todo.pop_back();
    if (inputs.size() == 1) continue;
    auto decision = DecisionAmong(of, inputs);
    if (!decision) return std::nullopt;
    todo.push_back(decision->yes);
    todo.push_back(decision->no);
    decisions.push_back(*std::move(decision));
  }
  return decisions;
}

void GraphImporter::ImportMerge(uint32_t place) {
  Scope& scope = *scopes_.back();
  const NodeDef& node = scope.graph->nodes[place];
  const auto decisions = DecisionsOf(scope, place);
  if (!decisions) {
    builder_.Fail(StatusCode::kUnsupported,
                  "no Switch decides between what it merges; expected that of any two inputs a "
                  "predicate takes one");
    return;
  }
  // What is taken of each input, and its number.
  std::vector<std::vector<Value>> taken;
  for (const std::string_view text : node.inputs) {
    const auto source = text.starts_with('^') ? std::nullopt : SourceOf(scope, text);
    if (!source) continue;
    const Value value = Known(scope, *source).value_or(Value{});
    if (!value) builder_.Fail("an input of it is not an output of a node");
    taken.push_back({value, builder_.Int(static_cast<int64_t>(taken.size()), DType::kInt32)});
  }
  // The last ones decide between the fewest.
  for (size_t i = decisions->size(); i-- > 0 && builder_.status().ok();) {
    const Decision& decision = (*decisions)[i];
    const auto& yes = taken[decision.yes[0]];
    const auto& no = taken[decision.no[0]];
    const Value decides =
        Known(scope, SourceOfEdge(scope, decision.guard.decides)).value_or(Value{});
    if (!decides) {
      builder_.Fail("what decides between its inputs is not an output of a node");
      return;
    }
    const Value condition = Holds(decision.guard, decides);
    auto& into = taken[std::min(decision.yes[0], decision.no[0])];
    if (const auto known = KnownNumber(builder_, condition)) {
      into = std::vector<Value>(*known != 0 ? yes : no);
    } else {
      into = Joined(condition, yes, no);
    }
  }
  if (builder_.status().ok()) scope.values[place] = taken[0];
}

// --- What branches do to variables ---

GraphImporter::Guards GraphImporter::GuardsOfEffects(const Scope& scope, uint32_t place) {
  if (!TouchesState(*scope.graph)) return {};
  const NodeDef& node = scope.graph->nodes[place];
  if (PlainOp(node) != "Exit" && !TouchesState(node)) return {};
  Guards guards = GuardsOf(scope)[place];
  if (too_deep_.contains(scope.graph))
    builder_.Fail(StatusCode::kUnsupported, "a variable that changes in branches this deep");
  // What holds around it is known to.
  std::erase_if(guards, [&](const Guard& guard) {
    return std::ranges::any_of(
        held_, [&](const Held& held) { return held.graph == scope.graph && held.guard == guard; });
  });
  return guards;
}

size_t GraphImporter::HoldGuards(const Scope& scope, uint32_t place) {
  size_t count = 0;
  for (const Guard& guard : GuardsOfEffects(scope, place)) {
    const Value value = Known(scope, SourceOfEdge(scope, guard.decides)).value_or(Value{});
    if (!value) {
      builder_.Fail(StatusCode::kUnsupported,
                    "a variable that a branch changes whose predicate is not known there");
      return count;
    }
    held_.push_back({scope.graph, guard, Holds(guard, value)});
    ++count;
  }
  return count;
}

// --- Order ---

std::optional<std::vector<GraphImporter::Source>> GraphImporter::NeedsOf(const Scope& scope,
                                                                         uint32_t place) {
  const NodeDef& node = scope.graph->nodes[place];
  const ir::Span outer = builder_.span();
  builder_.SetSpan(SpanOf(node));
  std::vector<Source> needs;
  const auto need = [&](std::string_view text) {
    if (auto source = SourceOf(scope, text)) needs.push_back(*std::move(source));
  };
  const std::string_view op = PlainOp(node);
  if (op == "Exit") {
    const Loop* loop = LoopOf(scope, place);
    if (loop == nullptr) return std::nullopt;
    for (const auto* enters : {&loop->enters, &loop->fixed}) {
      for (const uint32_t enter : *enters) {
        if (!scope.graph->nodes[enter].inputs.empty()) need(scope.graph->nodes[enter].inputs[0]);
      }
    }
  } else if (IsSwitch(node)) {
    if (!node.inputs.empty()) need(node.inputs[0]);
  } else {
    for (const std::string_view text : node.inputs) {
      if (!text.starts_with('^')) need(text);
    }
    if (op == "Merge") {
      for (const Decision& decision : DecisionsOf(scope, place).value_or(std::vector<Decision>()))
        needs.push_back(SourceOfEdge(scope, decision.guard.decides));
    }
  }
  for (const Guard& guard : GuardsOfEffects(scope, place))
    needs.push_back(SourceOfEdge(scope, guard.decides));
  if (!builder_.status().ok()) return std::nullopt;
  builder_.SetSpan(outer);
  return needs;
}

}  // namespace relayvm::import::tensorflow

#include "compiler/import/tensorflow/entry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "bytecode/base/printable.h"
#include "bytecode/base/suggestion.h"
#include "compiler/import/tensorflow/operator.h"

namespace relayvm::import::tensorflow {

namespace {

constexpr std::string_view kDefaultSignature = "serving_default";
constexpr std::string_view kInitSignature = "__saved_model_init_op";

std::string_view NodeOf(std::string_view text) {
  if (text.starts_with('^')) text.remove_prefix(1);
  return text.substr(0, text.find(':'));
}

const NodeDef* FindNode(const Graph& graph, std::string_view text) {
  const auto found = graph.places.find(NodeOf(text));
  return found == graph.places.end() ? nullptr : &graph.nodes[found->second];
}

bool IsPlaceholder(const NodeDef& node) { return node.op.starts_with("Placeholder"); }

void Describe(const NodeDef& node, Port* port) {
  port->type = ReadAttr(node.Attr("dtype")).number;
  const AttrValue shape = ReadAttr(node.Attr("shape"));
  port->shape = shape.kind == AttrValue::Kind::kShape ? ReadShape(shape.bytes) : std::nullopt;
  port->has_default = node.op == "PlaceholderWithDefault";
}

// How many branches and loops a node stands in: Switch and Enter lead in, Merge and Exit out.
std::vector<int> DepthsOf(const Graph& graph) {
  const auto source = [&](std::string_view text) { return graph.places.find(NodeOf(text)); };
  const auto comes_from = [&](const NodeDef& node, std::string_view op) {
    return std::ranges::any_of(node.inputs, [&](std::string_view text) {
      const auto from = source(text);
      return from != graph.places.end() && graph.nodes[from->second].op == op;
    });
  };
  std::vector<int> depths(graph.nodes.size(), -1);
  std::vector<std::pair<uint32_t, size_t>> stack;
  for (uint32_t root = 0; root < graph.nodes.size(); ++root) {
    if (depths[root] < 0) stack.emplace_back(root, 0);
    while (!stack.empty()) {
      const uint32_t at = stack.back().first;
      const NodeDef& node = graph.nodes[at];
      depths[at] = std::max(depths[at], 0);
      // What comes around in a loop is where the loop is.
      if (stack.back().second < node.inputs.size() && node.op != "NextIteration") {
        const auto from = source(node.inputs[stack.back().second++]);
        if (from != graph.places.end() && depths[from->second] < 0)
          stack.emplace_back(from->second, 0);
        continue;
      }
      int depth = 0;
      for (const std::string_view text : node.inputs) {
        const auto from = source(text);
        if (from != graph.places.end() && graph.nodes[from->second].op != "NextIteration")
          depth = std::max(depth, depths[from->second]);
      }
      const bool leads_in = node.op == "Enter" || node.op == "_SwitchN" ||
                            (node.op == "Switch" && !comes_from(node, "LoopCond"));
      const bool leads_out =
          node.op == "Exit" || (node.op == "Merge" && !comes_from(node, "NextIteration"));
      depths[at] = std::max(depth + (leads_in ? 1 : 0) - (leads_out ? 1 : 0), 0);
      stack.pop_back();
    }
  }
  return depths;
}

// "Identity", "a/Identity_3": what TensorFlow calls one that nobody has named.
bool IsUnnamed(const NodeDef& node) {
  std::string_view name = node.name.substr(node.name.rfind('/') + 1);
  if (!name.starts_with(node.op)) return false;
  name.remove_prefix(node.op.size());
  return name.empty() ||
         (name.starts_with('_') && name.size() > 1 &&
          std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
}

// The outputs of a graph that does not say which they are: what no other node reads, without what
// only steers branches and loops or was left over by whoever froze the graph.
std::vector<const NodeDef*> FinalNodes(const Graph& graph) {
  std::set<std::string_view> read, awaited, steering;
  for (const NodeDef& node : graph.nodes) {
    for (const std::string_view text : node.inputs)
      (text.starts_with('^') ? awaited : read).insert(NodeOf(text));
    if (node.op != "Switch" || node.inputs.size() < 2) continue;
    steering.insert(NodeOf(node.inputs[1]));
  }
  constexpr std::string_view kNone[] = {"Assert",
                                        "Const",
                                        "NoOp",
                                        "Placeholder",
                                        "PlaceholderWithDefault",
                                        "CheckNumerics",
                                        "SaveV2",
                                        "RestoreV2",
                                        "MergeV2Checkpoints",
                                        "VarHandleOp",
                                        "VariableV2",
                                        "TensorListReserve",
                                        "EmptyTensorList",
                                        "HashTableV2",
                                        "Print",
                                        "PrintV2"};
  const std::vector<int> depths = DepthsOf(graph);
  std::vector<const NodeDef*> nodes;
  std::map<std::string_view, int> readers;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeDef& node = graph.nodes[i];
    for (const std::string_view text : node.inputs) ++readers[NodeOf(text)];
    if (read.contains(node.name) || std::ranges::find(kNone, node.op) != std::end(kNone)) continue;
    const bool steers =
        node.op == "Identity" && !node.inputs.empty() && steering.contains(NodeOf(node.inputs[0]));
    if (!steers) nodes.push_back(&node);
  }
  const auto keep = [&](const auto& holds) {
    std::vector<const NodeDef*> kept;
    std::ranges::copy_if(nodes, std::back_inserter(kept), holds);
    if (!kept.empty()) nodes = std::move(kept);
  };
  keep([&](const NodeDef* n) { return !awaited.contains(n->name); });
  keep([&](const NodeDef* n) { return depths[graph.places.find(n->name)->second] == 0; });
  keep([](const NodeDef* n) { return n->op != "Exit" && n->op != "Shape"; });
  const auto is_unnamed = [](const NodeDef* n) { return n->op == "Identity" && IsUnnamed(*n); };
  if (std::ranges::all_of(nodes, is_unnamed)) return nodes;
  keep([&](const NodeDef* n) {
    return !is_unnamed(n) || n->inputs.empty() || readers[NodeOf(n->inputs[0])] == 1;
  });
  return nodes;
}

// The outputs of a node, as many as its operator has.
void AddOutputs(const NodeDef& node, std::vector<Port>* outputs) {
  const OperatorDef* op = FindOperator(node.op);
  size_t count = 1;
  if (op != nullptr && !op->outputs.empty()) {
    count = 1 + static_cast<size_t>(std::ranges::count(op->outputs, ' '));
  }
  // Those that gradients or rarer callers need are there by name.
  constexpr std::pair<std::string_view, size_t> kFirst[] = {{"FusedBatchNorm", 1},
                                                            {"FusedBatchNormV2", 1},
                                                            {"FusedBatchNormV3", 1},
                                                            {"NonMaxSuppressionV5", 2},
                                                            {"SparseFillEmptyRows", 3},
                                                            {"Switch", 1},
                                                            {"RefSwitch", 1},
                                                            {"Merge", 1},
                                                            {"RefMerge", 1},
                                                            {"TopKV2", 1}};
  for (const auto& [name, first] : kFirst) {
    if (node.op == name) count = first;
  }
  for (const std::string_view attr : {"num_split", "num", "N", "num_partitions"}) {
    const AttrValue value = ReadAttr(node.Attr(attr));
    const bool splits = node.op == "Split" || node.op == "SplitV" || node.op == "Unpack" ||
                        node.op == "DynamicPartition";
    if (splits && value.kind == AttrValue::Kind::kInt)
      count = static_cast<size_t>(std::clamp<int64_t>(value.number, 1, 10'000));
  }
  for (const std::string_view attr : {"T", "Tout", "dtypes"}) {
    const AttrValue value = ReadAttr(node.Attr(attr));
    const bool lists = node.op == "IdentityN" || attr == "Tout";
    if (lists && value.kind == AttrValue::Kind::kList) count = ReadList(value.bytes).size();
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string name = i == 0 ? std::string(node.name) : fmt::format("{}:{}", node.name, i);
    outputs->push_back({name, name});
  }
}

// The placeholders that the outputs need, in the graph's order.
void AddInputs(const Graph& graph, Entry* entry) {
  std::vector<bool> needed(graph.nodes.size());
  std::vector<uint32_t> todo;
  const auto need = [&](std::string_view text) {
    const auto at = graph.places.find(NodeOf(text));
    if (at == graph.places.end() || needed[at->second]) return;
    needed[at->second] = true;
    todo.push_back(at->second);
  };
  for (const Port& output : entry->outputs) need(output.tensor);
  while (!todo.empty()) {
    const uint32_t at = todo.back();
    todo.pop_back();
    for (const std::string_view text : graph.nodes[at].inputs) need(text);
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeDef& node = graph.nodes[i];
    if (!IsPlaceholder(node) || !needed[i]) continue;
    Port port{std::string(node.name), std::string(node.name)};
    Describe(node, &port);
    entry->inputs.push_back(std::move(port));
  }
}

Result<Entry> EntryOfGraph(const GraphFile& file, std::string_view wanted) {
  Entry entry;
  while (!wanted.empty()) {
    const std::string name(wanted.substr(0, wanted.find(',')));
    wanted.remove_prefix(std::min(name.size() + 1, wanted.size()));
    if (FindNode(file.graph(), name) == nullptr) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("--signature {}: the graph has no such node", name));
    }
    entry.outputs.push_back({name, name});
  }
  if (entry.outputs.empty()) {
    for (const NodeDef* node : FinalNodes(file.graph())) AddOutputs(*node, &entry.outputs);
  }
  if (entry.outputs.empty()) {
    return InvalidInput(fmt::format(
        "{}: the graph has no outputs; name nodes: --signature NODE,NODE:1", file.path()));
  }
  AddInputs(file.graph(), &entry);
  return entry;
}

Result<Entry> EntryOfSignature(const GraphFile& file, std::string_view wanted) {
  std::vector<std::string_view> names;
  for (const auto& [name, signature] : file.signatures()) {
    if (name != kInitSignature && !signature.outputs.empty()) names.push_back(name);
  }
  const bool has_default = std::ranges::find(names, kDefaultSignature) != names.end();
  std::string_view chosen = wanted;
  if (wanted.empty() && has_default) chosen = kDefaultSignature;
  if (wanted.empty() && names.size() == 1) chosen = names[0];
  const auto found = file.signatures().find(chosen);
  if (found == file.signatures().end() || chosen.empty()) {
    if (names.empty())
      return InvalidInput(fmt::format("{}: the model has no signature", file.path()));
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{}: {}{}; it has: {}", file.path(),
                    wanted.empty() ? std::string("it has several signatures: say --signature NAME")
                                   : fmt::format("there is no signature '{}'", wanted),
                    DidYouMean(wanted, names),
                    Printable(fmt::format("{}", fmt::join(names, ", ")))));
  }
  Entry entry;
  for (const auto& [inputs, from, to] : {std::tuple(true, &found->second.inputs, &entry.inputs),
                                         {false, &found->second.outputs, &entry.outputs}}) {
    for (const auto& [name, info] : *from) {
      if (info.is_composite) {
        return Status(
            StatusCode::kUnsupported,
            fmt::format("{}: {} '{}' is a sparse or ragged tensor, which is not supported",
                        file.path(), inputs ? "input" : "output", Printable(name)));
      }
      Port port{std::string(name), std::string(info.name), info.type, info.shape};
      const NodeDef* node = FindNode(file.graph(), info.name);
      if (node == nullptr) {
        return InvalidInput(fmt::format("{}: signature '{}': there is no node '{}'", file.path(),
                                        Printable(chosen), Printable(info.name)));
      }
      if (inputs && IsPlaceholder(*node)) {
        Port declared;
        Describe(*node, &declared);
        if (!port.shape) port.shape = declared.shape;
        port.has_default = declared.has_default;
      }
      to->push_back(std::move(port));
    }
  }
  return entry;
}

}  // namespace

Result<Entry> FindEntry(const GraphFile& file, std::string_view signature) {
  return file.is_saved_model() ? EntryOfSignature(file, signature) : EntryOfGraph(file, signature);
}

std::vector<std::string_view> InitialisersOf(const GraphFile& file) {
  std::vector<std::string_view> nodes;
  if (const auto init = file.signatures().find(kInitSignature); init != file.signatures().end()) {
    for (const auto& [name, info] : init->second.outputs) nodes.push_back(info.name);
  }
  for (const std::string_view name : {"saved_model_main_op", "legacy_init_op", "main_op"}) {
    for (const std::string_view node : file.Collection(name)) nodes.push_back(node);
  }
  return nodes;
}

ReadersRanks::ReadersRanks(const Graph& graph) {
  for (const NodeDef& node : graph.nodes) {
    size_t place = 0;
    for (const std::string_view text : node.inputs) {
      if (!text.starts_with('^')) readers_.emplace(text, std::pair(&node, place++));
    }
  }
}

std::optional<int> ReadersRanks::Of(std::string_view node) const {
  // What hands it on has its rank too.
  constexpr size_t kMostSteps = 100;
  std::vector<std::string_view> todo = {NodeOf(node)};
  size_t steps = 0;
  for (size_t i = 0; i < todo.size(); ++i) {
    const auto [begin, end] = readers_.equal_range(todo[i]);
    for (auto at = begin; at != end && ++steps < kMostSteps; ++at) {
      const auto& [reader, place] = at->second;
      const OperatorDef* op = FindOperator(reader->op);
      if (op != nullptr && place < op->ranks.size() && op->ranks[place] != '?')
        return op->ranks[place] - '0';
      if (reader->op == "Identity") todo.push_back(reader->name);
    }
  }
  return std::nullopt;
}

}  // namespace relayvm::import::tensorflow

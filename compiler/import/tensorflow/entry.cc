#include "compiler/import/tensorflow/entry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

// Which nodes belong to one side of a branch or to a turn of a loop: what depends on a Switch and
// comes to no Merge or Exit.
std::vector<bool> InsideOf(const Graph& graph) {
  std::vector<bool> inside(graph.nodes.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const NodeDef& node = graph.nodes[i];
      bool is = node.op == "Switch" || node.op == "Enter";
      for (const std::string_view text : node.inputs) {
        const auto from = graph.places.find(NodeOf(text));
        is |= from != graph.places.end() && inside[from->second];
      }
      is &= node.op != "Merge" && node.op != "Exit";
      changed |= is && !inside[i];
      inside[i] = inside[i] || is;
    }
  }
  return inside;
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
  std::set<std::string_view> read, steering;
  for (const NodeDef& node : graph.nodes) {
    for (const std::string_view text : node.inputs) read.insert(NodeOf(text));
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
  const std::vector<bool> inside = InsideOf(graph);
  std::vector<const NodeDef*> nodes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeDef& node = graph.nodes[i];
    if (read.contains(node.name) || std::ranges::find(kNone, node.op) != std::end(kNone)) continue;
    const bool steers =
        node.op == "Identity" && !node.inputs.empty() && steering.contains(NodeOf(node.inputs[0]));
    if (!inside[i] && !steers) nodes.push_back(&node);
  }
  const auto keep = [&](const auto& holds) {
    std::vector<const NodeDef*> kept;
    std::ranges::copy_if(nodes, std::back_inserter(kept), holds);
    if (!kept.empty()) nodes = std::move(kept);
  };
  keep([](const NodeDef* n) { return n->op != "Exit" && n->op != "Shape"; });
  keep([](const NodeDef* n) { return n->op != "Identity" || !IsUnnamed(*n); });
  return nodes;
}

// The outputs of a node, as many as its operator has.
void AddOutputs(const NodeDef& node, std::vector<Port>* outputs) {
  const OperatorDef* op = FindOperator(node.op);
  size_t count = 1;
  if (op != nullptr && !op->outputs.empty()) {
    count = 1 + static_cast<size_t>(std::ranges::count(op->outputs, ' '));
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

Result<Entry> EntryOfGraph(const GraphFile& file, std::string_view wanted) {
  Entry entry;
  for (const NodeDef& node : file.graph().nodes) {
    if (!IsPlaceholder(node)) continue;
    Port port{std::string(node.name), std::string(node.name)};
    Describe(node, &port);
    entry.inputs.push_back(std::move(port));
  }
  while (!wanted.empty()) {
    const std::string name(wanted.substr(0, wanted.find(',')));
    wanted.remove_prefix(std::min(name.size() + 1, wanted.size()));
    if (FindNode(file.graph(), name) == nullptr) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("--signature {}: the graph has no such node", name));
    }
    entry.outputs.push_back({name, name});
  }
  if (!entry.outputs.empty()) return entry;
  for (const NodeDef* node : FinalNodes(file.graph())) AddOutputs(*node, &entry.outputs);
  if (entry.outputs.empty()) {
    return InvalidInput(fmt::format(
        "{}: the graph has no outputs; name nodes: --signature NODE,NODE:1", file.path()));
  }
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

std::optional<int> RankOf(const Graph& graph, std::string_view node) {
  // What hands it on has its rank too.
  std::set<std::string_view> names = {NodeOf(node)};
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeDef& reader : graph.nodes) {
      const OperatorDef* op = FindOperator(reader.op);
      size_t place = 0;
      for (const std::string_view text : reader.inputs) {
        if (text.starts_with('^')) continue;
        const size_t at = place++;
        if (!names.contains(text)) continue;
        if (op != nullptr && at < op->ranks.size() && op->ranks[at] != '?')
          return op->ranks[at] - '0';
        if (reader.op == "Identity") changed |= names.insert(reader.name).second;
      }
    }
  }
  return std::nullopt;
}

}  // namespace relayvm::import::tensorflow

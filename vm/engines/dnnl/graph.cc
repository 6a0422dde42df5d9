#include "vm/engines/dnnl/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "vm/graph/format/json_tree.h"

namespace relayvm::onednn {
namespace {

using graph::JsonArray;
using graph::JsonObject;
using graph::JsonTree;

using Symbols = std::unordered_map<std::string_view, int32_t>;

// The text as a number, all of it.
bool ParseInteger(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}
bool ParseNumber(std::string_view text, double* value) {
  if (text.empty()) return false;
  if (text == "inf" || text == "-inf") {
    *value = text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 60;
  return fmt::format("\"{}\"", text.size() <= kMost ? text : text.substr(0, kMost));
}

Result<const JsonArray*> ArrayOf(const JsonTree& parent, const char* key) {
  const JsonTree* found = parent.Find(key);
  if (found == nullptr || found->array() == nullptr) {
    return InvalidInput(fmt::format("{} is no list", key));
  }
  return found->array();
}

Result<int64_t> IntegerOf(const JsonTree& tree) {
  if (const auto* i = std::get_if<int64_t>(&tree.value)) return *i;
  if (const auto* u = std::get_if<uint64_t>(&tree.value)) {
    if (*u <= static_cast<uint64_t>(INT64_MAX)) return static_cast<int64_t>(*u);
  }
  return InvalidInput("a number is not a whole one of 64 bits");
}

Result<ValueRef> ReadRef(const JsonTree& tree) {
  const JsonArray* triple = tree.array();
  if (triple == nullptr || triple->empty() || triple->size() > 3) {
    return InvalidInput("a place is not [node, output, version]");
  }
  RELAYVM_ASSIGN_OR_RETURN(const int64_t node, IntegerOf((*triple)[0]));
  int64_t output = 0;
  if (triple->size() > 1) {
    RELAYVM_ASSIGN_OR_RETURN(output, IntegerOf((*triple)[1]));
  }
  constexpr int64_t kMost = kMaxNodes;
  if (node < 0 || node >= kMost || output < 0 || output >= kMost) {
    return InvalidInput(fmt::format("[{}, {}] is no place", node, output));
  }
  return ValueRef{static_cast<uint32_t>(node), static_cast<uint32_t>(output)};
}

Status CheckRef(const Graph& graph, ValueRef ref, size_t num_nodes) {
  if (ref.node >= num_nodes) {
    return InvalidInput(fmt::format("node {} is read, where {} stand before", ref.node, num_nodes));
  }
  const size_t outputs = graph.nodes[ref.node].outputs.size();
  if (ref.output >= outputs) {
    return InvalidInput(
        fmt::format("output {} of node {} is read, which has {}", ref.output, ref.node, outputs));
  }
  return OkStatus();
}

Result<Extent> ReadExtent(const JsonTree& tree, const Symbols& symbols) {
  if (const std::string* name = tree.string()) {
    const auto found = symbols.find(*name);
    if (found == symbols.end()) return InvalidInput(Quoted(*name) + " is not among the symbols");
    return Extent{.value = 0, .symbol = found->second};
  }
  RELAYVM_ASSIGN_OR_RETURN(const int64_t value, IntegerOf(tree));
  if (value < 0) return InvalidInput(fmt::format("an extent is {}", value));
  return Extent{.value = value};
}

Result<std::vector<TensorType>> ReadTypes(const JsonTree& attrs, const Symbols& symbols) {
  RELAYVM_ASSIGN_OR_RETURN(const JsonArray* dtypes, ArrayOf(attrs, "dtype"));
  RELAYVM_ASSIGN_OR_RETURN(const JsonArray* shapes, ArrayOf(attrs, "shape"));
  if (dtypes->size() != 1 || shapes->size() != 1 || (*dtypes)[0].array() == nullptr ||
      (*shapes)[0].array() == nullptr) {
    return InvalidInput("dtype and shape are not lists in a list");
  }
  dtypes = (*dtypes)[0].array();
  shapes = (*shapes)[0].array();
  if (dtypes->size() != shapes->size() || dtypes->empty()) {
    return InvalidInput(fmt::format("{} dtypes of {} shapes", dtypes->size(), shapes->size()));
  }
  std::vector<TensorType> types;
  for (size_t i = 0; i < dtypes->size(); ++i) {
    TensorType type;
    const std::string* name = (*dtypes)[i].string();
    const std::optional<DType> dtype = name == nullptr ? std::nullopt : ParseDType(*name);
    if (!dtype) return InvalidInput("a dtype is no name of one");
    type.dtype = *dtype;
    const JsonArray* shape = (*shapes)[i].array();
    if (shape == nullptr) return InvalidInput("a shape is no list");
    if (shape->size() > kMaxRank) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("a rank of {}, oneDNN has {}", shape->size(), kMaxRank));
    }
    for (const JsonTree& dim : *shape) {
      RELAYVM_ASSIGN_OR_RETURN(const Extent extent, ReadExtent(dim, symbols));
      type.shape.push_back(extent);
    }
    types.push_back(std::move(type));
  }
  return types;
}

// "clip min=0.0 max=6.0"
Result<Step> ReadStep(std::string_view text, size_t num_inputs) {
  Step step;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word.empty()) continue;
    if (step.label.empty()) {
      step.label = word;
      continue;
    }
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      return InvalidInput(fmt::format("{} is not name=value", Quoted(word)));
    }
    const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "input") {
      int64_t position = 0;
      if (!ParseInteger(value, &position) || position < 0 ||
          static_cast<size_t>(position) >= num_inputs) {
        return InvalidInput(fmt::format("{}: the node has {} inputs", Quoted(word), num_inputs));
      }
      step.inputs.push_back(static_cast<uint32_t>(position));
      continue;
    }
    double number = 0;
    if (ParseNumber(value, &number)) {
      step.numbers.emplace_back(name, number);
    } else {
      step.texts.emplace_back(name, value);
    }
  }
  if (step.label.empty()) return InvalidInput("a step without a label");
  return step;
}

// The texts of an attribute: a text, or a list of texts in a list.
Result<std::vector<std::string>> ReadTexts(const JsonTree& tree) {
  if (const std::string* text = tree.string()) return std::vector<std::string>{*text};
  const JsonArray* array = tree.array();
  if (array != nullptr && array->size() == 1) array = (*array)[0].array();
  if (array == nullptr) return InvalidInput("an attribute is not a list of texts in a list");
  std::vector<std::string> texts;
  for (const JsonTree& item : *array) {
    if (item.string() == nullptr) {
      return InvalidInput("an attribute is not a list of texts in a list");
    }
    texts.push_back(*item.string());
  }
  return texts;
}

Status ReadAttributes(const JsonTree& attrs, Node* node) {
  for (const auto& [key, value] : *attrs.object()) {
    if (key == "dtype" || key == "shape") continue;
    RELAYVM_ASSIGN_OR_RETURN(std::vector<std::string> texts, ReadTexts(value));
    node->attributes.emplace_back(key, std::move(texts));
  }
  const std::vector<std::string>* op = node->Find("operator");
  if (op != nullptr && op->size() == 1) {
    node->op = (*op)[0];
  } else {
    node->op = node->name;
  }
  const std::vector<std::string>* steps = node->Find("post_ops");
  if (steps == nullptr) return OkStatus();
  for (const std::string& text : *steps) {
    RELAYVM_ASSIGN_OR_RETURN(Step step, ReadStep(text, node->inputs.size()));
    node->steps.push_back(std::move(step));
  }
  return OkStatus();
}

Status ReadNode(const JsonTree& tree, const Symbols& symbols, Graph* graph) {
  Node node;
  const JsonTree* name = tree.Find("name");
  if (name != nullptr && name->string() != nullptr) node.name = *name->string();
  const JsonTree* op = tree.Find("op");
  const std::string kind = op == nullptr || op->string() == nullptr ? "" : *op->string();
  const JsonTree* attrs = tree.Find("attrs");
  if (attrs == nullptr || attrs->object() == nullptr) return node.Invalid("it has no attrs");
  RELAYVM_ASSIGN_OR_RETURN(node.outputs, ReadTypes(*attrs, symbols));
  if (kind == "kernel") {
    node.kind = Node::Kind::kKernel;
    RELAYVM_ASSIGN_OR_RETURN(const JsonArray* inputs, ArrayOf(tree, "inputs"));
    for (const JsonTree& input : *inputs) {
      RELAYVM_ASSIGN_OR_RETURN(const ValueRef ref, ReadRef(input));
      RELAYVM_RETURN_IF_ERROR(CheckRef(*graph, ref, graph->nodes.size()));
      node.inputs.push_back(ref);
    }
    RELAYVM_RETURN_IF_ERROR(ReadAttributes(*attrs, &node));
  } else if (kind == "input" || kind == "const") {
    node.kind = kind == "input" ? Node::Kind::kInput : Node::Kind::kConst;
    if (node.outputs.size() != 1) return node.Invalid("it has not one type");
    std::vector<uint32_t>& list = kind == "input" ? graph->inputs : graph->constants;
    node.position = static_cast<uint32_t>(list.size());
    list.push_back(static_cast<uint32_t>(graph->nodes.size()));
  } else {
    return node.Invalid("op is " + Quoted(kind) + ", expected input, const or kernel");
  }
  graph->nodes.push_back(std::move(node));
  return OkStatus();
}

}  // namespace

Result<double> Step::Number(std::string_view name) const {
  for (const auto& [key, value] : numbers) {
    if (key == name) return value;
  }
  return InvalidInput(fmt::format("the step {} has no {}", label, name));
}

double Step::NumberOr(std::string_view name, double fallback) const {
  const Result<double> number = Number(name);
  return number.ok() ? *number : fallback;
}

std::string Step::Text(std::string_view name, std::string fallback) const {
  for (const auto& [key, value] : texts) {
    if (key == name) return value;
  }
  return fallback;
}

const std::vector<std::string>* Node::Find(std::string_view attribute) const {
  for (const auto& [key, texts] : attributes) {
    if (key == attribute) return &texts;
  }
  return nullptr;
}

Result<Dims> Node::Integers(std::string_view attribute, Dims fallback) const {
  const std::vector<std::string>* texts = Find(attribute);
  if (texts == nullptr || (texts->size() == 1 && (*texts)[0].empty())) return fallback;
  Dims values;
  for (const std::string& text : *texts) {
    int64_t value = 0;
    if (!ParseInteger(text, &value) || value < INT32_MIN || value > INT32_MAX) {
      return Invalid(
          fmt::format("{} is {}, expected a number of 32 bits", attribute, Quoted(text)));
    }
    values.push_back(value);
  }
  return values;
}

Result<int64_t> Node::Integer(std::string_view attribute, int64_t fallback) const {
  RELAYVM_ASSIGN_OR_RETURN(const Dims values, Integers(attribute, {fallback}));
  if (values.size() == 1) return values[0];
  return Invalid(fmt::format("{} has {} values, expected one", attribute, values.size()));
}

Result<double> Node::Number(std::string_view attribute, double fallback) const {
  RELAYVM_ASSIGN_OR_RETURN(const std::string text, Text(attribute, ""));
  if (text.empty()) return fallback;
  double value = 0;
  if (ParseNumber(text, &value)) return value;
  return Invalid(fmt::format("{} is {}, expected a number", attribute, Quoted(text)));
}

Result<bool> Node::Flag(std::string_view attribute, bool fallback) const {
  const std::vector<std::string>* texts = Find(attribute);
  if (texts == nullptr || (texts->size() == 1 && (*texts)[0].empty())) return fallback;
  if (texts->size() == 1 && (*texts)[0] == "1") return true;
  if (texts->size() == 1 && (*texts)[0] == "0") return false;
  return Invalid(fmt::format("{} is {}, expected 0 or 1", attribute,
                             texts->empty() ? "nothing" : Quoted((*texts)[0])));
}

Result<std::string> Node::Text(std::string_view attribute, std::string fallback) const {
  const std::vector<std::string>* texts = Find(attribute);
  if (texts == nullptr) return fallback;
  if (texts->size() == 1) return (*texts)[0];
  return Invalid(fmt::format("{} has {} values, expected one", attribute, texts->size()));
}

Status Node::Unsupported(std::string_view why) const {
  return Located({StatusCode::kUnsupported, std::string(why)});
}
Status Node::Invalid(std::string_view why) const {
  return Located({StatusCode::kInvalidInput, std::string(why)});
}
Status Node::Located(const Status& status) const {
  constexpr size_t kMost = 80;  // of the 256 bytes of a message
  if (status.code() == StatusCode::kResourceExhausted) return status;
  return status.WithContext(name.empty() ? "a node" : name.substr(0, kMost));
}

Result<Graph> ParseGraph(std::string_view json) {
  RELAYVM_ASSIGN_OR_RETURN(const JsonTree tree, graph::ParseJson(json));
  if (tree.object() == nullptr) return InvalidInput("the JSON is no object");
  Graph graph;
  Symbols symbols;
  if (tree.Find("symbols") != nullptr) {
    RELAYVM_ASSIGN_OR_RETURN(const JsonArray* names, ArrayOf(tree, "symbols"));
    if (names->size() > kMaxSymbols) {
      return InvalidInput(
          fmt::format("{} symbols, expected {} at most", names->size(), kMaxSymbols));
    }
    for (const JsonTree& name : *names) {
      if (name.string() == nullptr) return InvalidInput("a symbol is no text");
      graph.symbols.push_back(*name.string());
    }
    for (size_t i = 0; i < graph.symbols.size(); ++i) {
      symbols.emplace(graph.symbols[i], static_cast<int32_t>(i));
    }
    if (symbols.size() != graph.symbols.size()) return InvalidInput("a symbol stands there twice");
  }
  RELAYVM_ASSIGN_OR_RETURN(const JsonArray* nodes, ArrayOf(tree, "nodes"));
  if (nodes->size() > kMaxNodes) {
    return InvalidInput(fmt::format("{} nodes, expected {} at most", nodes->size(), kMaxNodes));
  }
  for (size_t i = 0; i < nodes->size(); ++i) {
    const Status read = ReadNode((*nodes)[i], symbols, &graph);
    if (!read.ok()) return read.WithContext(fmt::format("nodes[{}]", i));
  }
  RELAYVM_ASSIGN_OR_RETURN(const JsonArray* heads, ArrayOf(tree, "heads"));
  if (heads->empty() || heads->size() > kMaxNodes) {
    return InvalidInput(fmt::format("{} heads", heads->size()));
  }
  for (const JsonTree& head : *heads) {
    RELAYVM_ASSIGN_OR_RETURN(const ValueRef ref, ReadRef(head));
    RELAYVM_RETURN_IF_ERROR(CheckRef(graph, ref, graph.nodes.size()));
    graph.heads.push_back(ref);
  }
  return graph;
}

Result<Dims> ResolveDims(const TensorType& type, const std::vector<int64_t>& symbols) {
  Dims dims;
  int64_t bytes = DTypeBytes(type.dtype);
  for (const Extent& e : type.shape) {
    const int64_t d = e.is_known() ? e.value : symbols[static_cast<size_t>(e.symbol)];
    dims.push_back(d);
    // An extent of 0 does not excuse others that are too large: strides are made of them.
    if (d > kMaxBytes || __builtin_mul_overflow(bytes, std::max<int64_t>(d, 1), &bytes) ||
        bytes > kMaxBytes) {
      return InvalidInput(fmt::format("a tensor of more than {} bytes", kMaxBytes));
    }
  }
  return dims;
}

}  // namespace relayvm::onednn

#include "compiler/import/mxnet/symbol.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "bytecode/base/printable.h"

namespace relayvm::import::mxnet {

namespace {

using nlohmann::json;

// Objects and arrays in others: a subgraph is four levels of its node.
constexpr int kMostNested = 100;

class SymbolReader {
 public:
  explicit SymbolReader(const std::string& path) : path_(path) {}

  Result<Symbol> Read(std::string_view text) {
    bool too_deep = false;
    const auto bounded = [&](int depth, json::parse_event_t, const json&) {
      too_deep |= depth > kMostNested;
      return !too_deep;
    };
    const json file = json::parse(text, bounded, /*allow_exceptions=*/false);
    if (too_deep) return Fail("", fmt::format("objects nest deeper than {} levels", kMostNested));
    if (file.is_discarded()) return Fail("", "the JSON is damaged or cut off");
    RELAYVM_ASSIGN_OR_RETURN(Symbol symbol, Graph(file, ""));
    if (const json* attrs = Field(file, "attrs", json::value_t::object)) {
      if (const auto version = Setting(*attrs, "mxnet_version")) symbol.version = *version;
      symbol.np_shape = Setting(*attrs, "is_np_shape").value_or(0) != 0;
    }
    return symbol;
  }

 private:
  Status Fail(std::string_view where, std::string_view why) const {
    return InvalidInput(fmt::format("{}: {}{}{}", path_, where, where.empty() ? "" : ": ", why));
  }

  static const json* Field(const json& object, const char* name, json::value_t type) {
    const auto at = object.find(name);
    return at == object.end() || at->type() != type ? nullptr : &*at;
  }

  // ["int", 10901]
  static std::optional<int64_t> Setting(const json& attrs, const char* name) {
    const json* pair = Field(attrs, name, json::value_t::array);
    if (pair == nullptr || pair->size() != 2 || !(*pair)[1].is_number_integer())
      return std::nullopt;
    return (*pair)[1].get<int64_t>();
  }

  Result<Symbol> Graph(const json& graph, const std::string& where) {
    if (!graph.is_object()) return Fail(where, "expected an object with nodes and heads");
    const json* nodes = Field(graph, "nodes", json::value_t::array);
    const json* heads = Field(graph, "heads", json::value_t::array);
    if (nodes == nullptr || heads == nullptr)
      return Fail(where, "expected \"nodes\" and \"heads\", the lists of a symbol");
    Symbol symbol;
    symbol.nodes.reserve(nodes->size());
    std::set<std::string_view> variables;
    for (const json& n : *nodes) {
      const std::string place =
          fmt::format("{}{}node {}", where, where.empty() ? "" : ", ", symbol.nodes.size());
      RELAYVM_ASSIGN_OR_RETURN(SymbolNode node, Node(n, symbol.nodes.size(), place));
      symbol.nodes.push_back(std::move(node));
      const SymbolNode& added = symbol.nodes.back();
      if (added.is_variable() && !variables.insert(added.name).second)
        return Fail(place,
                    fmt::format("'{}' is the name of another variable too", Printable(added.name)));
    }
    if (heads->empty()) return Fail(where, "the symbol has no heads");
    for (const json& head : *heads) {
      RELAYVM_ASSIGN_OR_RETURN(Entry entry, EntryOf(head, symbol.nodes.size(), "a head", where));
      symbol.heads.push_back(entry);
    }
    return symbol;
  }

  // [node, output] or [node, output, version]; `end`: how many nodes there are.
  Result<Entry> EntryOf(const json& entry, size_t end, std::string_view what,
                        const std::string& where) {
    const bool fits = entry.is_array() && entry.size() >= 2 && entry[0].is_number_unsigned() &&
                      entry[1].is_number_unsigned();
    constexpr uint64_t kMostOutputs = 1 << 20;
    if (!fits || entry[1].get<uint64_t>() > kMostOutputs) {
      return Fail(where, fmt::format("{}: expected the numbers of a node and of an output", what));
    }
    const auto node = entry[0].get<uint64_t>();
    if (node >= end) {
      return Fail(where, fmt::format("{} is of node {}, expected one of the {} nodes before", what,
                                     node, end));
    }
    return Entry{static_cast<uint32_t>(node), static_cast<uint32_t>(entry[1].get<uint64_t>())};
  }

  Status AddAttributes(const json& node, const char* name, const std::string& where,
                       SymbolNode* out) {
    const json* attrs = Field(node, name, json::value_t::object);
    if (attrs == nullptr) return OkStatus();
    for (const auto& [key, value] : attrs->items()) {
      if (!value.is_string())
        return Fail(where, fmt::format("attribute {}: expected a text", Printable(key)));
      out->attrs.emplace(key, value.get<std::string>());  // what an operator takes comes first
    }
    return OkStatus();
  }

  Result<SymbolNode> Node(const json& n, size_t index, const std::string& where) {
    if (!n.is_object()) return Fail(where, "expected an object");
    const json* op = Field(n, "op", json::value_t::string);
    const json* name = Field(n, "name", json::value_t::string);
    const json* inputs = Field(n, "inputs", json::value_t::array);
    if (op == nullptr || name == nullptr)
      return Fail(where, "expected the texts \"op\" and \"name\"");
    SymbolNode node{op->get<std::string>(), name->get<std::string>(), {}, {}, {}};
    for (const char* key : {"param", "attrs", "attr"})
      RELAYVM_RETURN_IF_ERROR(AddAttributes(n, key, where, &node));
    const std::string place = fmt::format("{} '{}'", where, Printable(node.name));
    for (size_t i = 0; inputs != nullptr && i < inputs->size(); ++i) {
      RELAYVM_ASSIGN_OR_RETURN(Entry entry,
                               EntryOf((*inputs)[i], index, fmt::format("input {}", i), place));
      node.inputs.push_back(entry);
    }
    if (node.is_variable() && !node.inputs.empty()) return Fail(place, "a variable has inputs");
    if (const json* graphs = Field(n, "subgraphs", json::value_t::array)) {
      for (const json& graph : *graphs) {
        RELAYVM_ASSIGN_OR_RETURN(Symbol subgraph, Graph(graph, fmt::format("{}, subgraph {}", place,
                                                                           node.subgraphs.size())));
        node.subgraphs.push_back(std::move(subgraph));
      }
    }
    return node;
  }

  const std::string& path_;
};

}  // namespace

size_t Symbol::num_nodes() const {
  size_t count = nodes.size();
  for (const SymbolNode& node : nodes) {
    for (const Symbol& graph : node.subgraphs) count += graph.num_nodes();
  }
  return count;
}

Result<Symbol> ReadSymbol(const std::string& path, std::string_view text) {
  return SymbolReader(path).Read(text);
}

}  // namespace relayvm::import::mxnet

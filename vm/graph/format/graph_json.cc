#include "vm/graph/format/graph_json.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "bytecode/base/guarded.h"
#include "vm/graph/format/json_tree.h"

namespace relayvm::graph {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kView = "__nop";
constexpr size_t kMostOutputs = 1 << 16;  // of a node

Status Bad(const std::string& where, std::string_view what) {
  return {StatusCode::kInvalidInput, fmt::format("{}: {}", where, what)};
}

// What stands there, shortened.
std::string Text(const JsonTree& json) {
  constexpr size_t kMost = 40;
  if (json.array() != nullptr) return "an array";
  if (json.object() != nullptr) return "an object";
  if (const std::string* text = json.string()) {
    std::string shown;
    for (const char c : text->substr(0, kMost)) {
      const bool is_plain = static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\';
      shown += is_plain ? c : '?';
    }
    return fmt::format("\"{}{}\"", shown, text->size() > kMost ? "..." : "");
  }
  if (const auto* i = std::get_if<int64_t>(&json.value)) return fmt::format("{}", *i);
  if (const auto* u = std::get_if<uint64_t>(&json.value)) return fmt::format("{}", *u);
  if (const auto* f = std::get_if<double>(&json.value)) return fmt::format("{}", *f);
  if (const auto* b = std::get_if<bool>(&json.value)) return *b ? "true" : "false";
  return "null";
}

// A value and where it stands. Members and elements are asked for by what they must be.
class Cursor {
 public:
  Cursor(const JsonTree& json, std::string where) : json_(&json), where_(std::move(where)) {}

  Status Expected(std::string_view what) const {
    return Bad(where_, fmt::format("expected {}, found {}", what, Text(*json_)));
  }
  bool Has(const char* key) const { return json_->Find(key) != nullptr; }
  Result<Cursor> Member(const char* key) const {
    if (json_->object() == nullptr) return Expected("an object");
    const JsonTree* found = json_->Find(key);
    if (found == nullptr) return Bad(where_, fmt::format("\"{}\" is missing", key));
    return Cursor(*found, where_ == "graph" ? key : fmt::format("{}.{}", where_, key));
  }
  Result<size_t> Size() const {
    if (json_->array() == nullptr) return Expected("an array");
    return json_->array()->size();
  }
  // REQUIRES: below Size().
  Cursor At(size_t i) const { return {(*json_->array())[i], fmt::format("{}[{}]", where_, i)}; }

  Result<std::string> String() const {
    if (json_->string() == nullptr) return Expected("a string");
    return *json_->string();
  }
  Result<int64_t> Integer(int64_t least, int64_t most) const {
    const auto* i = std::get_if<int64_t>(&json_->value);
    const auto* u = std::get_if<uint64_t>(&json_->value);
    const bool fits = i != nullptr || (u != nullptr && *u <= uint64_t{INT64_MAX});
    const int64_t value = !fits ? 0 : i != nullptr ? *i : static_cast<int64_t>(*u);
    if (fits && value >= least && value <= most) return value;
    return Expected(fmt::format("a whole number from {} to {}", least, most));
  }
  Result<uint32_t> Index() const {
    RELAYVM_ASSIGN_OR_RETURN(const int64_t value, Integer(0, UINT32_MAX));
    return static_cast<uint32_t>(value);
  }
  // Numbers in a string, as all attributes of TVM's nodes are.
  Result<std::vector<int64_t>> Numbers() const {
    RELAYVM_ASSIGN_OR_RETURN(const std::string text, String());
    std::vector<int64_t> numbers;
    const char* at = text.data();
    const char* end = at + text.size();
    while (at != end) {
      int64_t number = 0;
      const auto [next, error] = std::from_chars(at, end, number);
      if (error != std::errc() || (next != end && *next != ' '))
        return Expected("numbers with spaces between them");
      numbers.push_back(number);
      at = next == end ? end : next + 1;
    }
    return numbers;
  }
  Result<int64_t> Number() const {
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, Numbers());
    if (numbers.size() == 1) return numbers[0];
    return Expected("a number in a string");
  }
  // [node, output, version], as TVM refers to a tensor; the version may be left out.
  Result<EntryRef> Ref() const {
    RELAYVM_ASSIGN_OR_RETURN(const size_t size, Size());
    if (size < 2 || size > 3) return Expected("[node, output, 0]");
    EntryRef ref;
    RELAYVM_ASSIGN_OR_RETURN(ref.node, At(0).Index());
    RELAYVM_ASSIGN_OR_RETURN(ref.output, At(1).Index());
    return ref;
  }
  Result<std::vector<EntryRef>> Refs() const {
    RELAYVM_ASSIGN_OR_RETURN(const size_t size, Size());
    std::vector<EntryRef> refs;
    for (size_t i = 0; i < size; ++i) {
      RELAYVM_ASSIGN_OR_RETURN(refs.emplace_back(), At(i).Ref());
    }
    return refs;
  }

 private:
  const JsonTree* json_;
  std::string where_;
};

Result<Node> ReadNode(const Cursor& json) {
  Node node;
  RELAYVM_ASSIGN_OR_RETURN(const Cursor op_at, json.Member("op"));
  RELAYVM_ASSIGN_OR_RETURN(const std::string op, op_at.String());
  RELAYVM_ASSIGN_OR_RETURN(const Cursor name, json.Member("name"));
  RELAYVM_ASSIGN_OR_RETURN(node.name, name.String());
  RELAYVM_ASSIGN_OR_RETURN(const Cursor inputs, json.Member("inputs"));
  RELAYVM_ASSIGN_OR_RETURN(node.inputs, inputs.Refs());
  node.outputs.resize(1);
  if (op == "null") return node;
  if (op != "tvm_op") return op_at.Expected("\"null\" or \"tvm_op\"");
  RELAYVM_ASSIGN_OR_RETURN(const Cursor attrs, json.Member("attrs"));
  RELAYVM_ASSIGN_OR_RETURN(const Cursor function, attrs.Member("func_name"));
  RELAYVM_ASSIGN_OR_RETURN(const std::string func_name, function.String());
  RELAYVM_ASSIGN_OR_RETURN(const Cursor outputs_at, attrs.Member("num_outputs"));
  RELAYVM_ASSIGN_OR_RETURN(const int64_t outputs, outputs_at.Number());
  if (outputs < 1 || outputs > static_cast<int64_t>(kMostOutputs))
    return outputs_at.Expected(fmt::format("1 to {} outputs", kMostOutputs));
  node.outputs.resize(static_cast<size_t>(outputs));
  if (attrs.Has("source")) {
    RELAYVM_ASSIGN_OR_RETURN(const Cursor source, attrs.Member("source"));
    RELAYVM_ASSIGN_OR_RETURN(node.source, source.String());
  }
  node.kind = func_name == kView ? Node::Kind::kView : Node::Kind::kKernel;
  if (node.kind == Node::Kind::kView) return node;
  auto number = [&](const char* key, int64_t* value) -> Status {
    RELAYVM_ASSIGN_OR_RETURN(const Cursor at, attrs.Member(key));
    RELAYVM_ASSIGN_OR_RETURN(*value, at.Number());
    return OkStatus();
  };
  int64_t kernel = 0;
  RELAYVM_RETURN_IF_ERROR(number("kernel", &kernel));
  if (kernel < 0 || kernel > UINT32_MAX)
    return attrs.Member("kernel")->Expected("the number of a kernel");
  node.kernel = static_cast<uint32_t>(kernel);
  RELAYVM_RETURN_IF_ERROR(number("units", &node.units));
  RELAYVM_RETURN_IF_ERROR(number("grain", &node.grain));
  RELAYVM_RETURN_IF_ERROR(number("scratch", &node.scratch_bytes));
  RELAYVM_ASSIGN_OR_RETURN(const Cursor scalars, attrs.Member("scalars"));
  RELAYVM_ASSIGN_OR_RETURN(node.scalars, scalars.Numbers());
  return node;
}

// attrs.KEY: [type, [...]], of `count` elements.
Result<Cursor> List(const Cursor& attrs, const char* key, std::string_view type, size_t count) {
  RELAYVM_ASSIGN_OR_RETURN(const Cursor pair, attrs.Member(key));
  RELAYVM_ASSIGN_OR_RETURN(const size_t size, pair.Size());
  if (size != 2) return pair.Expected(fmt::format("[\"{}\", [...]]", type));
  RELAYVM_ASSIGN_OR_RETURN(const std::string found, pair.At(0).String());
  if (found != type) return pair.At(0).Expected(fmt::format("\"{}\"", type));
  RELAYVM_ASSIGN_OR_RETURN(const size_t elements, pair.At(1).Size());
  if (elements == count) return pair.At(1);
  return pair.Expected(
      fmt::format("as many elements as there are tensors, {} (there are {})", count, elements));
}

Status ReadEntries(const Cursor& attrs, Graph& graph, size_t count) {
  RELAYVM_ASSIGN_OR_RETURN(const Cursor storages, List(attrs, "storage_id", "list_int", count));
  RELAYVM_ASSIGN_OR_RETURN(const Cursor shapes, List(attrs, "shape", "list_shape", count));
  RELAYVM_ASSIGN_OR_RETURN(const Cursor dtypes, List(attrs, "dltype", "list_str", count));
  const bool has_offsets = attrs.Has("storage_offset");
  Cursor offsets = storages;
  if (has_offsets) {
    RELAYVM_ASSIGN_OR_RETURN(offsets, List(attrs, "storage_offset", "list_int", count));
  }
  size_t i = 0;
  for (Node& node : graph.nodes) {
    for (Entry& entry : node.outputs) {
      RELAYVM_ASSIGN_OR_RETURN(entry.storage, storages.At(i).Index());
      RELAYVM_ASSIGN_OR_RETURN(const std::string dtype, dtypes.At(i).String());
      const std::optional<DType> parsed = ParseDType(dtype);
      if (!parsed) return dtypes.At(i).Expected("a dtype");
      entry.dtype = *parsed;
      RELAYVM_ASSIGN_OR_RETURN(const size_t rank, shapes.At(i).Size());
      for (size_t d = 0; d < rank; ++d) {
        RELAYVM_ASSIGN_OR_RETURN(entry.dims.emplace_back(),
                                 shapes.At(i).At(d).Integer(0, INT64_MAX));
      }
      if (has_offsets) {
        RELAYVM_ASSIGN_OR_RETURN(const int64_t offset, offsets.At(i).Integer(0, INT64_MAX));
        entry.offset = static_cast<uint64_t>(offset);
      }
      ++i;
    }
  }
  return OkStatus();
}

Result<Graph> ReadGraph(const JsonTree& text) {
  const Cursor json(text, "graph");
  Graph graph;
  RELAYVM_ASSIGN_OR_RETURN(const Cursor nodes, json.Member("nodes"));
  RELAYVM_ASSIGN_OR_RETURN(const size_t num_nodes, nodes.Size());
  for (size_t i = 0; i < num_nodes; ++i) {
    RELAYVM_ASSIGN_OR_RETURN(graph.nodes.emplace_back(), ReadNode(nodes.At(i)));
  }
  RELAYVM_ASSIGN_OR_RETURN(const Cursor args, json.Member("arg_nodes"));
  RELAYVM_ASSIGN_OR_RETURN(const size_t num_args, args.Size());
  for (size_t i = 0; i < num_args; ++i) {
    RELAYVM_ASSIGN_OR_RETURN(graph.inputs.emplace_back(), args.At(i).Index());
  }
  RELAYVM_ASSIGN_OR_RETURN(const Cursor heads, json.Member("heads"));
  RELAYVM_ASSIGN_OR_RETURN(graph.heads, heads.Refs());
  RELAYVM_ASSIGN_OR_RETURN(const Cursor rows, json.Member("node_row_ptr"));
  RELAYVM_ASSIGN_OR_RETURN(const size_t num_rows, rows.Size());
  if (num_rows != num_nodes + 1)
    return rows.Expected(fmt::format("{} numbers, one more than nodes", num_nodes + 1));
  size_t entries = 0;
  for (size_t i = 0; i <= num_nodes; ++i) {
    RELAYVM_ASSIGN_OR_RETURN(const uint32_t row, rows.At(i).Index());
    if (row != entries)
      return rows.At(i).Expected(fmt::format("{}, the tensors of the nodes before", entries));
    if (i < num_nodes) entries += graph.nodes[i].outputs.size();
  }
  RELAYVM_ASSIGN_OR_RETURN(const Cursor attrs, json.Member("attrs"));
  RELAYVM_RETURN_IF_ERROR(ReadEntries(attrs, graph, entries));
  return graph;
}

OrderedJson RefJson(EntryRef ref) { return OrderedJson::array({ref.node, ref.output, 0}); }

OrderedJson NodeJson(const Node& node, const Program& kernels) {
  OrderedJson json;
  json["op"] = node.kind == Node::Kind::kInput ? "null" : "tvm_op";
  json["name"] = node.name;
  if (node.kind != Node::Kind::kInput) {
    OrderedJson attrs;
    attrs["num_outputs"] = std::to_string(node.outputs.size());
    attrs["num_inputs"] = std::to_string(node.inputs.size());
    attrs["flatten_data"] = "0";
    if (node.kind == Node::Kind::kView) {
      attrs["func_name"] = kView;
    } else {
      attrs["func_name"] = kernels.kernels[node.kernel].name;
      attrs["kernel"] = std::to_string(node.kernel);
      attrs["scalars"] = fmt::format("{}", fmt::join(node.scalars, " "));
      attrs["units"] = std::to_string(node.units);
      attrs["grain"] = std::to_string(node.grain);
      attrs["scratch"] = std::to_string(node.scratch_bytes);
    }
    if (!node.source.empty()) attrs["source"] = node.source;
    json["attrs"] = std::move(attrs);
  }
  json["inputs"] = OrderedJson::array();
  for (const EntryRef& in : node.inputs) json["inputs"].push_back(RefJson(in));
  return json;
}

}  // namespace

Result<std::string> GraphToJson(const Graph& graph, const Program& kernels) {
  return Guarded([&]() -> Result<std::string> {
    std::string text = "{\"nodes\": [";
    OrderedJson rows = {0}, storages = OrderedJson::array(), offsets = OrderedJson::array(),
                shapes = OrderedJson::array(), dtypes = OrderedJson::array();
    std::vector<OrderedJson> nodes;
    bool has_offsets = false;
    for (const Node& node : graph.nodes) {
      nodes.push_back(NodeJson(node, kernels));
      for (const Entry& entry : node.outputs) {
        storages.push_back(entry.storage);
        offsets.push_back(entry.offset);
        shapes.push_back(entry.dims);
        dtypes.push_back(DTypeName(entry.dtype));
        has_offsets |= entry.offset != 0;
      }
      rows.push_back(storages.size());
    }
    OrderedJson heads = OrderedJson::array();
    for (const EntryRef& head : graph.heads) heads.push_back(RefJson(head));
    auto list = [](const char* type, OrderedJson values) {
      return OrderedJson::array({type, std::move(values)});
    };
    // In the order of TVM's, a line for each node and list.
    OrderedJson attrs;
    attrs["storage_id"] = list("list_int", std::move(storages));
    attrs["shape"] = list("list_shape", std::move(shapes));
    attrs["dltype"] = list("list_str", std::move(dtypes));
    if (has_offsets) attrs["storage_offset"] = list("list_int", std::move(offsets));
    try {
      for (const OrderedJson& node : nodes)
        text += fmt::format("{}\n{}", &node == nodes.data() ? "" : ",", node.dump());
      text += fmt::format("\n],\n\"arg_nodes\": {},\n\"heads\": {},\n\"attrs\": {{",
                          OrderedJson(graph.inputs).dump(), heads.dump());
      for (const auto& [key, value] : attrs.items())
        text += fmt::format("{}\n\"{}\": {}", text.ends_with('{') ? "" : ",", key, value.dump());
      return text + fmt::format("\n}},\n\"node_row_ptr\": {}}}\n", rows.dump());
    } catch (const OrderedJson::exception& e) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("the graph has a name that is not UTF-8: {}", e.what()));
    }
  });
}

Result<Graph> ParseGraphJson(std::string_view text) {
  return Guarded([&]() -> Result<Graph> {
    RELAYVM_ASSIGN_OR_RETURN(const JsonTree json, ParseJson(text));
    return ReadGraph(json);
  });
}

}  // namespace relayvm::graph

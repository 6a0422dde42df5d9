#include "compiler/import/mxnet/declared_types.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/import/mxnet/attributes.h"
#include "compiler/import/mxnet/graph_importer.h"
#include "compiler/import/mxnet/operator.h"

namespace relayvm::import::mxnet {

namespace {

const std::string* Attr(const SymbolNode& node, std::string_view name) {
  const auto at = node.attrs.find(name);
  return at == node.attrs.end() ? nullptr : &at->second;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// What __shape__ says; in `np_shape` 0 is an extent. Nullopt: nothing.
std::optional<std::vector<Dim>> WrittenShape(const SymbolNode& node, bool np_shape) {
  const std::string* text = Attr(node, "__shape__");
  const auto parts = text == nullptr ? std::nullopt : ParseTuple(*text);
  if (!parts || (parts->empty() && !np_shape)) return std::nullopt;
  std::vector<Dim> dims;
  for (const std::string_view part : *parts) {
    const auto extent = ParseInt(part);
    if (!extent) return std::nullopt;
    const bool known = *extent > 0 || (*extent == 0 && np_shape);
    dims.push_back(known ? Dim(*extent) : Dim::Any());
  }
  return dims;
}

// --- What operators tell of their first input ---

// `weights`: the array of the node's second input, null where there is none.
std::optional<std::vector<Dim>> ShapeByOperator(const SymbolNode& node, const HostTensor* weights) {
  const auto kernel = [&]() -> std::optional<size_t> {
    const std::string* text = Attr(node, "kernel");
    const auto parts = text == nullptr ? std::nullopt : ParseTuple(*text);
    return parts && !parts->empty() && parts->size() <= 3 ? std::optional(parts->size())
                                                          : std::nullopt;
  };
  const auto group = [&] {
    const std::string* text = Attr(node, "num_group");
    return text == nullptr ? 1 : ParseInt(*text).value_or(1);
  };
  const bool is_last = Attr(node, "layout") != nullptr && Attr(node, "layout")->ends_with("C");
  if (node.op == "Convolution" || node.op == "Deconvolution" || node.op == "Pooling" ||
      node.op == "Convolution_v1" || node.op == "Pooling_v1") {
    const auto spatial = kernel();
    if (!spatial) return std::nullopt;
    std::vector<Dim> dims(*spatial + 2, Dim::Any());
    if (weights != nullptr && weights->shape.size() == dims.size()) {
      const bool transposed = node.op == "Deconvolution";
      int64_t channels = 0;
      const int64_t inner = weights->shape[is_last && !transposed ? *spatial + 1 : 1];
      if (transposed) {
        channels = weights->shape[0];
      } else if (__builtin_mul_overflow(inner, group(), &channels)) {
        return std::nullopt;
      }
      if (channels > 0) dims[is_last ? *spatial + 1 : 1] = Dim(channels);
    }
    return dims;
  }
  if (node.op == "FullyConnected" && weights != nullptr && weights->shape.size() == 2) {
    const std::string* flatten = Attr(node, "flatten");
    // Data of rank 2 is the usual case, and for any other the weights do not tell the extents.
    if (flatten == nullptr || ParseBool(*flatten).value_or(true))
      return std::vector<Dim>{Dim::Any(), Dim(weights->shape[1])};
  }
  if (node.op == "RNN") return std::vector<Dim>(3, Dim::Any());
  return std::nullopt;
}

}  // namespace

void Upgrade(Symbol* symbol) {
  constexpr int64_t kAxisIsOptional = 905;  // 0.9.5
  const size_t count = symbol->nodes.size();
  for (size_t i = 0; i < count; ++i) {
    const OperatorDef* op = FindOperator(symbol->nodes[i].op);
    if (op == nullptr) continue;
    const std::vector<std::string> names = Words(op->arguments);
    for (size_t k = symbol->nodes[i].inputs.size(); k < names.size(); ++k) {
      SymbolNode variable;
      variable.op = "null";
      variable.name = symbol->nodes[i].name + "_" + names[k];
      symbol->nodes[i].inputs.push_back({static_cast<uint32_t>(symbol->nodes.size()), 0});
      symbol->nodes.push_back(std::move(variable));
    }
    SymbolNode& node = symbol->nodes[i];
    const std::string* axis = Attr(node, "axis");
    if (symbol->version < kAxisIsOptional && (node.op == "argmax" || node.op == "argmin") &&
        axis != nullptr && *axis == "-1") {
      node.attrs.erase("axis");
    }
  }
}

std::vector<bool> NeededVariables(const Symbol& symbol) {
  const std::vector<bool> reached = Reached(symbol);
  std::vector<bool> needed(symbol.nodes.size());
  for (const Entry& head : symbol.heads) needed[head.node] = symbol.nodes[head.node].is_variable();
  for (size_t i = 0; i < symbol.nodes.size(); ++i) {
    const SymbolNode& node = symbol.nodes[i];
    if (!reached[i] || node.is_variable()) continue;
    const OperatorDef* op = FindOperator(node.op);
    const size_t least = op == nullptr ? 0 : static_cast<size_t>(op->min_inputs);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const uint32_t from = node.inputs[k].node;
      // What follows the least inputs is given or not; of the labels of losses alone it is neither.
      const bool is_label = op != nullptr && op->has_label && k >= least;
      if (!is_label && symbol.nodes[from].is_variable()) needed[from] = true;
    }
  }
  return needed;
}

std::vector<ir::Type> DeclaredTypes(const Symbol& symbol, const Arrays& arrays) {
  const auto array_of = [&](const SymbolNode& node, size_t input) -> const HostTensor* {
    if (input >= node.inputs.size()) return nullptr;
    const SymbolNode& from = symbol.nodes[node.inputs[input].node];
    const auto at = from.is_variable() ? arrays.find(from.name) : arrays.end();
    return at == arrays.end() ? nullptr : &at->second;
  };
  std::vector<std::optional<std::vector<Dim>>> shapes(symbol.nodes.size());
  for (size_t i = 0; i < symbol.nodes.size(); ++i) {
    const SymbolNode& node = symbol.nodes[i];
    if (node.is_variable()) {
      shapes[i] = WrittenShape(node, symbol.np_shape);
    } else if (!node.inputs.empty()) {
      auto& first = shapes[node.inputs[0].node];
      if (!first) first = ShapeByOperator(node, array_of(node, 1));
    }
  }
  std::vector<ir::Type> types(symbol.nodes.size());
  for (size_t i = 0; i < symbol.nodes.size(); ++i) {
    const SymbolNode& node = symbol.nodes[i];
    if (!node.is_variable() || !shapes[i] || arrays.contains(node.name)) continue;
    const std::string* flag = Attr(node, "__dtype__");
    const auto dtype = flag == nullptr ? std::nullopt : ParseType(*flag);
    types[i] = ir::MakeTensorType(*shapes[i], dtype.value_or(DType::kFloat32));
  }
  return types;
}

}  // namespace relayvm::import::mxnet

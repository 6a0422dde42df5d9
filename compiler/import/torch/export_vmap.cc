// vmap as torch.export writes it: nodes between two marks, on tensors of which one dim is hidden.
// What works on single elements takes the dim as the first; other nodes run once for each of its
// rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/import/checked.h"
#include "compiler/import/composite/loops.h"
#include "compiler/import/torch/export_graph.h"

namespace relayvm::import::torch {

namespace {

// Operators whose elements follow from those in their places.
constexpr std::array<std::string_view, 40> kElementwise = {
    "aten::add",   "aten::sub",     "aten::mul",         "aten::div",        "aten::neg",
    "aten::exp",   "aten::log",     "aten::tanh",        "aten::sigmoid",    "aten::relu",
    "aten::sqrt",  "aten::rsqrt",   "aten::abs",         "aten::sin",        "aten::cos",
    "aten::pow",   "aten::maximum", "aten::minimum",     "aten::clamp",      "aten::where",
    "aten::eq",    "aten::ne",      "aten::lt",          "aten::le",         "aten::gt",
    "aten::ge",    "aten::square",  "aten::reciprocal",  "aten::silu",       "aten::gelu",
    "aten::sign",  "aten::floor",   "aten::ceil",        "aten::erf",        "aten::log1p",
    "aten::expm1", "aten::clone",   "aten::logical_and", "aten::logical_or", "aten::logical_not"};

struct Hidden {
  const Json* node;
  std::string name;  // of the tensor without its dim
  Value rows;        // with it, as the first
};
struct Shown {
  const Json* node;
  int64_t axis;
};

int64_t IntAt(const Json& node, size_t input) {
  const Json& inputs = Member(node, "inputs");
  return IntOf(Member(Member(ItemOf(inputs, input), "arg"), "as_int")).value_or(0);
}
std::string NameOf(const Json& argument) {
  return std::string(TextOf(Member(Member(argument, "as_tensor"), "name")));
}

}  // namespace

std::string_view VmapTarget(std::string_view target) {
  constexpr std::string_view kPrefix = "torch._functorch.predispatch.";
  if (!target.starts_with(kPrefix)) return {};
  target.remove_prefix(kPrefix.size());
  if (target.starts_with("_")) target.remove_prefix(1);
  constexpr std::array<std::string_view, 5> kKnown = {
      "add_batch_dim", "remove_batch_dim", "vmap_increment_nesting", "vmap_decrement_nesting",
      "lazy_load_decompositions"};
  return std::find(kKnown.begin(), kKnown.end(), target) == kKnown.end() ? std::string_view()
                                                                         : target;
}

// A result whose hidden dim becomes one of its own again.
void ExportGraph::Show(const Json& graph, const Json& node, int64_t to, const Value& v,
                       Names& names) {
  if (!b_.status().ok()) return;
  const int axis = AxisIn(b_, to, v.rank());
  if (!b_.status().ok()) return;
  const Value shown = b_.Transpose(v, AxisMoved(v.rank(), 0, axis));
  Assign(graph, node, {aliases_.Fresh(Argument(shown))}, names);
}

size_t ExportGraph::RunVmap(const Json& graph, size_t from, size_t to, Names& names) {
  const Json& nodes = Member(graph, "nodes");
  std::vector<Hidden> hidden;
  std::vector<Shown> shown;
  size_t end = from + 1;
  int nested = 1;
  bool elementwise = true;
  for (; end < to && nested > 0; ++end) {
    const Json& node = ItemOf(nodes, end);
    const std::string_view text = TextOf(Member(node, "target"));
    const std::string_view vmap = VmapTarget(text);
    nested += vmap == "vmap_increment_nesting" ? 1 : vmap == "vmap_decrement_nesting" ? -1 : 0;
    elementwise = elementwise && nested <= 1;
    if (nested == 1 && vmap == "add_batch_dim") {
      const Json& inputs = Member(node, "inputs");
      const Argument x =
          inputs.empty() ? Argument() : Read(Member(ItemOf(inputs, 0), "arg"), names);
      if (!b_.status().ok() || !x.is_tensor()) return to;
      const Value v = aliases_.Read(x);
      const int axis = AxisIn(b_, IntAt(node, 1), v.rank());
      if (!b_.status().ok()) return to;
      const Json& outputs = Member(node, "outputs");
      hidden.push_back(
          {&node, NameOf(ItemOf(outputs, 0)), b_.Transpose(v, AxisMoved(v.rank(), axis, 0))});
      elementwise = elementwise && hidden[0].rows.rank() == v.rank();
    } else if (nested == 1 && vmap == "remove_batch_dim") {
      shown.push_back({&node, IntAt(node, 3)});
    } else if (vmap.empty()) {
      const Target t = TargetOf(text);
      elementwise = elementwise && std::find(kElementwise.begin(), kElementwise.end(), t.name) !=
                                       kElementwise.end();
    }
  }
  if (hidden.empty() || nested > 0) {
    b_.Fail(StatusCode::kUnsupported, "a vmap without a batch, or one that does not end");
    return to;
  }
  // Runs the nodes on the tensors, and gives those that are shown.
  const auto run = [&](const std::vector<Value>& rows) {
    Names inner = names;
    for (size_t i = 0; i < rows.size(); ++i)
      inner[hidden[i].name] = aliases_.Fresh(Argument(rows[i]));
    RunNodes(graph, from + 1, end - 1, inner);
    std::vector<Value> out;
    for (const Shown& s : shown) {
      if (!b_.status().ok()) break;
      out.push_back(
          aliases_.Read(Read(Member(ItemOf(Member(*s.node, "inputs"), 0), "arg"), inner)));
    }
    return out;
  };
  std::vector<Value> rows;
  for (const Hidden& h : hidden) rows.push_back(h.rows);
  std::vector<Value> results;
  if (elementwise) {
    const bool outer = std::exchange(batched_, true);
    results = run(rows);
    batched_ = outer;
    for (Value& v : results) {
      // What does not depend on the batch stands in each row.
      if (v.rank() < rows[0].rank() && b_.status().ok())
        v = b_.Op("add", {v, b_.Cast(b_.Op("zeros_like", {rows[0]}), v.dtype())});
    }
  } else {
    ScanSpec spec;
    spec.scanned = rows;
    spec.backward.assign(rows.size(), false);
    spec.nodes = static_cast<int64_t>(end - from);
    spec.body = [&](const TypedBuilder::State& /*state*/, const std::vector<Value>& row) {
      Turn turn;
      turn.rows = run(row);
      return turn;
    };
    results = ScanRows(b_, spec);
  }
  for (size_t i = 0; i < shown.size() && i < results.size(); ++i)
    Show(graph, *shown[i].node, shown[i].axis, results[i], names);
  return end;
}

}  // namespace relayvm::import::torch

// Subgraphs that operators call: branches, loops, calls; and what is kept between runs.
#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/tflite/graph_importer.h"

namespace relayvm::import::tflite {

namespace {

// Variables that subgraphs read or assign, as a part of a loop's or a branch's values.
class Carried {
 public:
  Carried(NodeContext& n, const std::vector<int>& subgraphs) : importer_(n.importer()) {
    for (const int s : subgraphs) {
      for (const size_t i : importer_.VariablesOf(s)) {
        if (importer_.variables()[i].current) indices_.insert(i);
      }
    }
  }
  std::vector<Value> Values() const {
    std::vector<Value> values;
    for (const size_t i : indices_) values.push_back(importer_.variables()[i].current);
    return values;
  }
  void Set(std::span<const Value> values) {
    size_t k = 0;
    for (const size_t i : indices_) importer_.variables()[i].current = values[k++];
  }
  size_t size() const { return indices_.size(); }

 private:
  GraphImporter& importer_;
  std::set<size_t> indices_;
};

// The values of a loop that are tensors: handles go into the subgraphs as they are.
struct TensorInputs {
  std::vector<bool> is_tensor;
  std::vector<Value> Pick(const std::vector<Value>& all) const {
    std::vector<Value> picked;
    for (size_t i = 0; i < all.size() && i < is_tensor.size(); ++i)
      if (is_tensor[i]) picked.push_back(all[i]);
    return picked;
  }
  std::vector<Value> Spread(std::span<const Value> picked) const {
    std::vector<Value> all;
    size_t k = 0;
    for (const bool is : is_tensor) all.push_back(is && k < picked.size() ? picked[k++] : Value{});
    return all;
  }
};

// The subgraph's outputs; handles among its inputs are those of the operator's.
std::vector<Value> CallSubgraph(NodeContext& n, int subgraph, const std::vector<Value>& inputs,
                                size_t first = 0) {
  std::map<int, std::string> handles;
  GraphImporter& importer = n.importer();
  if (importer.NumInputs(subgraph) != static_cast<int>(inputs.size())) {
    return n.Fail("subgraph {} has {} inputs, found {}", subgraph, importer.NumInputs(subgraph),
                  inputs.size());
  }
  const Subgraph& callee = importer.file().subgraphs()[static_cast<size_t>(subgraph)];
  for (size_t i = 0; i < inputs.size() && first + i < n.num_inputs(); ++i) {
    const std::string name = importer.HandleOf(n.TensorOf(first + i));
    if (!name.empty()) handles[callee.inputs[i]] = name;
  }
  return importer.Import(subgraph, inputs, callee.outputs, std::move(handles));
}

Outputs If(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto& o = n.Get<fb::IfOptions>();
  const std::vector<Value> inputs(n.inputs().begin() + 1, n.inputs().end());
  const Value condition = ScalarOrNone(b, n.Input(0));
  if (const auto known = KnownNumber(b, condition)) {
    return CallSubgraph(n, *known != 0 ? o.then_subgraph_index() : o.else_subgraph_index(), inputs,
                        1);
  }
  Carried carried(n, {o.then_subgraph_index(), o.else_subgraph_index()});
  const std::vector<Value> before = carried.Values();
  const auto branch = [&](int subgraph) {
    carried.Set(before);
    std::vector<Value> values = CallSubgraph(n, subgraph, inputs, 1);
    const std::vector<Value> after = carried.Values();
    values.insert(values.end(), after.begin(), after.end());
    return values;
  };
  std::vector<Value> yes = branch(o.then_subgraph_index());
  std::vector<Value> no = branch(o.else_subgraph_index());
  if (!b.status().ok()) return {};
  if (yes.size() != no.size()) return n.Fail("its branches differ in outputs");
  auto joined = Branches(b, condition, std::move(yes), std::move(no));
  if (!joined) return n.Unsupported("its branches' outputs differ in rank or dtype");
  carried.Set(std::span(*joined).last(carried.size()));
  joined->resize(joined->size() - carried.size());
  return *joined;
}

// One of several; of an index that none has it is the last one.
Outputs Case(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto* graphs = n.Get2<fb::StablehloCaseOptions>().branch_subgraph_indices();
  const std::vector<int> all =
      graphs == nullptr ? std::vector<int>() : std::vector<int>(graphs->begin(), graphs->end());
  if (all.empty()) return n.Fail("it has no branches");
  const std::vector<Value> inputs(n.inputs().begin() + 1, n.inputs().end());
  const Value index = ScalarOrNone(b, n.Input(0));
  const auto last = static_cast<int64_t>(all.size()) - 1;
  if (const auto known = KnownNumber(b, index)) {
    const int64_t which = *known < 0 || *known > last ? last : *known;
    return CallSubgraph(n, all[static_cast<size_t>(which)], inputs, 1);
  }
  Carried carried(n, all);
  const std::vector<Value> before = carried.Values();
  const auto branch = [&](int64_t which) {
    carried.Set(before);
    std::vector<Value> values = CallSubgraph(n, all[static_cast<size_t>(which)], inputs, 1);
    const std::vector<Value> after = carried.Values();
    values.insert(values.end(), after.begin(), after.end());
    return values;
  };
  std::vector<Value> result = branch(last);
  for (int64_t i = last - 1; i >= 0 && b.status().ok(); --i) {
    std::vector<Value> yes = branch(i);
    if (yes.size() != result.size()) return n.Fail("its branches differ in outputs");
    auto joined = Branches(b, Equal(Term(b, index), static_cast<double>(i)), std::move(yes),
                           std::move(result));
    if (!joined) return n.Unsupported("its branches' outputs differ in rank or dtype");
    result = *std::move(joined);
  }
  if (!b.status().ok()) return {};
  carried.Set(std::span(result).last(carried.size()));
  result.resize(result.size() - carried.size());
  return result;
}

Outputs Loop(NodeContext& n, int condition, int body) {
  TypedBuilder& b = n.b();
  GraphImporter& importer = n.importer();
  const auto count = static_cast<int>(n.num_inputs());
  if (importer.NumInputs(condition) != count || importer.NumInputs(body) != count)
    return n.Fail("its subgraphs {} and {} must have {} inputs", condition, body, count);
  Carried carried(n, {condition, body});
  TensorInputs tensors;
  for (const Value& v : n.inputs()) tensors.is_tensor.push_back(static_cast<bool>(v));
  const size_t own = tensors.Pick(n.inputs()).size();
  const auto holds = [&](std::span<const Value> state) {
    carried.Set(state.last(carried.size()));
    const std::vector<Value> all = tensors.Spread(state.first(own));
    const std::vector<Value> result = CallSubgraph(n, condition, all);
    if (result.size() != 1) return n.Fail("its condition has {} outputs", result.size()), Value{};
    return ScalarOrNone(b, result[0]);
  };
  CountedLoop loop;
  loop.initial = tensors.Pick(n.inputs());
  const std::vector<Value> before = carried.Values();
  loop.initial.insert(loop.initial.end(), before.begin(), before.end());
  loop.condition = holds(loop.initial);
  loop.body = [&](const Value&, const TypedBuilder::State& state) -> Turn {
    carried.Set(std::span(state).last(carried.size()));
    Turn turn;
    turn.next = tensors.Pick(CallSubgraph(n, body, tensors.Spread(std::span(state).first(own))));
    if (turn.next.size() != own) {
      n.Fail("its body has {} outputs, expected {}", turn.next.size(), own);
      turn.next = state;
      turn.again = b.Scalar(0, DType::kBool);
      return turn;
    }
    const std::vector<Value> after = carried.Values();
    turn.next.insert(turn.next.end(), after.begin(), after.end());
    turn.again = holds(turn.next);
    return turn;
  };
  if (!b.status().ok()) return {};
  const std::vector<Value> last = RunLoop(b, loop);
  if (!b.status().ok() || last.size() != loop.initial.size()) return {};
  carried.Set(std::span(last).last(carried.size()));
  return tensors.Spread(std::span(last).first(own));
}

Outputs While(NodeContext& n) {
  const auto& o = n.Get<fb::WhileOptions>();
  return Loop(n, o.cond_subgraph_index(), o.body_subgraph_index());
}

Outputs StablehloWhile(NodeContext& n) {
  const auto& o = n.Get2<fb::StablehloWhileOptions>();
  return Loop(n, o.cond_subgraph_index(), o.body_subgraph_index());
}

Outputs Call(NodeContext& n) {
  const uint32_t subgraph = n.Get<fb::CallOptions>().subgraph();
  return CallSubgraph(n, static_cast<int>(std::min<uint32_t>(subgraph, INT32_MAX)), n.inputs());
}

Outputs Composite(NodeContext& n) {
  return CallSubgraph(n, n.Get2<fb::StableHLOCompositeOptions>().decomposition_subgraph_index(),
                      n.inputs());
}

// It has run (GraphImporter::FindVariables).
Outputs CallOnce(NodeContext& /*n*/) { return {}; }

// --- Variables ---

Outputs VarHandle(NodeContext& n) {
  const auto& o = n.Get<fb::VarHandleOptions>();
  const std::string name = o.shared_name() == nullptr ? "" : o.shared_name()->str();
  const std::string container = o.container() == nullptr ? "" : o.container()->str();
  if (n.num_outputs() == 1)
    n.importer().SetHandle(n.OutputTensor(0), container.empty() ? name : container + "/" + name);
  return {};
}

Variable* HandledVariable(NodeContext& n) {
  const std::string name = n.importer().HandleOf(n.TensorOf(0));
  Variable* v = n.importer().FindVariable(name);
  // What runs once may set others than this entry's.
  if (v == nullptr && !n.importer().RunsOnce()) n.Fail("its input is no variable");
  return v;
}

Outputs ReadVariable(NodeContext& n) {
  const Variable* v = HandledVariable(n);
  if (v == nullptr) return {};
  const Value& held = n.importer().RunsOnce() ? v->first : v->current;
  if (!held) return n.Fail("variable '{}' has no value", v->name);
  return {held};
}

Outputs AssignVariable(NodeContext& n) {
  Variable* v = HandledVariable(n);
  if (v == nullptr) return {};
  (n.importer().RunsOnce() ? v->first : v->current) = n.Input(1);
  return {};
}

}  // namespace

std::span<const OperatorDef> ControlOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::IF, 1, -1, If, Options::IfOptions},
      {Code::STABLEHLO_CASE, 1, -1, Case, Options::NONE, Options2::StablehloCaseOptions},
      {Code::WHILE, 1, -1, While, Options::WhileOptions},
      {Code::STABLEHLO_WHILE, 1, -1, StablehloWhile, Options::NONE,
       Options2::StablehloWhileOptions},
      {Code::CALL, 0, -1, Call, Options::CallOptions},
      {Code::CALL_ONCE, 0, 0, CallOnce, Options::CallOnceOptions},
      {Code::STABLEHLO_COMPOSITE, 0, -1, Composite, Options::NONE,
       Options2::StableHLOCompositeOptions},
      {Code::VAR_HANDLE, 0, 0, VarHandle, Options::VarHandleOptions},
      {Code::READ_VARIABLE, 1, 1, ReadVariable},
      {Code::ASSIGN_VARIABLE, 2, 2, AssignVariable},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite

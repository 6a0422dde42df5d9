// Higher-order operators of torch.export: branches, loops, graphs that are inlined.
#include <fmt/format.h>

#include "compiler/import/composite/loops.h"
#include "compiler/import/torch/export_graph.h"

namespace relayvm::import::torch {

namespace {

using Kind = Argument::Kind;

// What a value of a branch or a loop stands for, by what it was.
Argument Like(TypedBuilder& b, const Argument& model, const Value& v) {
  if (model.is_tensor()) {
    Argument a = v;
    a.complex = model.complex;
    a.quantised = model.quantised;
    return a;
  }
  return ScalarArgument(b, v);
}

int64_t NodesOf(const Json& graph) {
  return static_cast<int64_t>(Member(graph, "nodes").size()) + 1;
}

}  // namespace

std::vector<Value> ValuesOf(TypedBuilder& b, Aliases& aliases, const std::vector<Argument>& all) {
  std::vector<Value> values;
  for (const Argument& a : all) {
    if (a.is_tensor()) {
      values.push_back(aliases.Read(a));
    } else if (a.is_number() && !a.is(Kind::kComplex)) {
      const DType t = a.is_bool() ? DType::kBool : a.is_int() ? DType::kInt64 : DType::kFloat64;
      values.push_back(ScalarValue(b, a, t));
    } else {
      b.Fail(StatusCode::kUnsupported, "{} is carried by a branch or a loop", KindText(a));
      values.push_back(b.Int(0));
    }
  }
  return values;
}

std::vector<Argument> ExportGraph::RunPure(const Json& graph, std::vector<Argument> inputs) {
  std::vector<Argument> outputs;
  const auto written = aliases_.During([&] { outputs = Run(graph, std::move(inputs)); });
  if (!written.empty()) {
    b_.Fail(StatusCode::kUnsupported, "the body of a loop writes a tensor that it does not carry");
  }
  return outputs;
}

std::vector<Argument> ExportGraph::Cond(const std::vector<Argument>& arguments,
                                        const std::vector<const Json*>& graphs) {
  if (arguments.empty() || graphs.size() != 2) {
    b_.Fail("cond: expected a condition and two graphs");
    return {};
  }
  Argument condition = arguments[0];
  if (condition.is_tensor()) condition = ScalarArgument(b_, aliases_.Read(condition));
  std::vector<Argument> operands;
  if (arguments.size() > 3 && arguments[3].is_list()) operands = arguments[3].items;
  if (condition.is_known_number())
    return Run(condition.number() != 0 ? *graphs[0] : *graphs[1], operands);
  const ir::Span span = b_.span();
  std::vector<Argument> results[2];
  std::vector<Aliases::Written> written[2];
  std::vector<std::vector<Value>> ends;
  for (int arm = 0; arm < 2; ++arm) {
    written[arm] = aliases_.During([&] { results[arm] = Run(*graphs[arm], operands); });
    if (!b_.status().ok()) return {};
    std::vector<Value> end;
    for (const Aliases::Written& w : written[arm]) {
      end.push_back(w.storage->value);
      aliases_.Set(*w.storage, w.before);
    }
    ends.push_back(std::move(end));
  }
  b_.SetSpan(span);
  std::vector<Value> arms[2];
  for (int arm = 0; arm < 2; ++arm) arms[arm] = ValuesOf(b_, aliases_, results[arm]);
  const size_t count = arms[0].size();
  if (arms[1].size() != count) {
    b_.Fail("cond: its graphs have {} and {} results", count, arms[1].size());
    return {};
  }
  // Storages that either arm wrote.
  std::vector<std::shared_ptr<Storage>> storages;
  for (const auto& side : written) {
    for (const Aliases::Written& w : side) {
      if (std::find(storages.begin(), storages.end(), w.storage) == storages.end())
        storages.push_back(w.storage);
    }
  }
  for (const auto& storage : storages) {
    for (int arm = 0; arm < 2; ++arm) {
      Value v = storage->value;
      for (size_t i = 0; i < written[arm].size(); ++i) {
        if (written[arm][i].storage == storage) v = ends[static_cast<size_t>(arm)][i];
      }
      arms[arm].push_back(v);
    }
  }
  const Value choice = ScalarValue(b_, condition, DType::kBool);
  const auto joined = Branches(b_, choice, arms[0], arms[1]);
  if (!joined) {
    b_.Fail(StatusCode::kUnsupported, "cond: the results of its graphs differ in rank or dtype");
    return {};
  }
  if (!b_.status().ok()) return {};
  std::vector<Argument> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(aliases_.Fresh(Like(b_, results[0][i], (*joined)[i])));
  for (size_t i = 0; i < storages.size(); ++i) aliases_.Set(*storages[i], (*joined)[count + i]);
  return out;
}

std::vector<Argument> ExportGraph::WhileLoop(const std::vector<Argument>& arguments,
                                             const std::vector<const Json*>& graphs) {
  if (arguments.size() < 3 || graphs.size() != 2) {
    b_.Fail("while_loop: expected two graphs and what they carry");
    return {};
  }
  const std::vector<Argument> carried = arguments[2].items;
  const std::vector<Argument> more =
      arguments.size() > 3 ? arguments[3].items : std::vector<Argument>();
  const auto inputs = [&](const TypedBuilder::State& state) {
    std::vector<Argument> all;
    for (size_t i = 0; i < carried.size(); ++i)
      all.push_back(aliases_.Fresh(Like(b_, carried[i], state[i])));
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto holds = [&](const TypedBuilder::State& state) -> Value {
    const std::vector<Argument> truth = RunPure(*graphs[0], inputs(state));
    if (truth.size() != 1) return b_.Full({}, 0, DType::kBool);
    const Value v = ValuesOf(b_, aliases_, truth)[0];
    return b_.Cast(v.rank() == 0 ? v : b_.Reshape(v, {}), DType::kBool);
  };
  const TypedBuilder::State initial = ValuesOf(b_, aliases_, carried);
  if (!b_.status().ok()) return {};
  CountedLoop loop;
  loop.initial = initial;
  loop.condition = holds(initial);
  loop.body = [&](const Value& /*i*/, const TypedBuilder::State& state) {
    Turn turn;
    turn.next = ValuesOf(b_, aliases_, RunPure(*graphs[1], inputs(state)));
    if (b_.status().ok() && turn.next.size() == initial.size()) turn.again = holds(turn.next);
    return turn;
  };
  if (!b_.status().ok()) return {};
  const TypedBuilder::State last = RunLoop(b_, loop);
  if (!b_.status().ok()) return {};
  std::vector<Argument> out;
  for (size_t i = 0; i < carried.size(); ++i)
    out.push_back(aliases_.Fresh(Like(b_, carried[i], last[i])));
  return out;
}

// scan(init, xs, more), map(xs, more), associative_scan(xs, more): over the rows along axis 0.
std::vector<Argument> ExportGraph::Scan(std::string_view name,
                                        const std::vector<Argument>& arguments, const Json& graph) {
  const bool is_scan = name == "scan", is_prefix = name == "associative_scan";
  const size_t at = is_scan ? 2 : 1;
  if (arguments.size() <= at) {
    b_.Fail("{}: expected what it goes over", name);
    return {};
  }
  std::vector<Argument> initial = is_scan ? arguments[1].items : std::vector<Argument>();
  const std::vector<Argument>& xs = arguments[at].items;
  const std::vector<Argument> more =
      arguments.size() > at + 1 ? arguments[at + 1].items : std::vector<Argument>();
  std::vector<Value> rows = ValuesOf(b_, aliases_, xs);
  for (const Value& v : rows) {
    if (b_.status().ok() && v.rank() == 0) b_.Fail("{}: expected tensors of rank 1 or more", name);
  }
  if (!b_.status().ok() || rows.empty()) return {};
  std::vector<Value> heads;
  if (is_prefix) {
    // The first row as it is, then each with what stands before it.
    for (Value& v : rows) {
      const Term x(b_, v);
      heads.push_back(x.Slice(0, 0, 1));
      initial.push_back(Argument(b_.Squeeze(heads.back(), {0})));
      v = x.Slice(0, 1, INT64_MAX);
    }
  }
  const size_t states = initial.size();
  ScanSpec spec;
  spec.initial = ValuesOf(b_, aliases_, initial);
  spec.scanned = rows;
  spec.backward.assign(rows.size(), false);
  spec.nodes = NodesOf(graph);
  spec.body = [&](const TypedBuilder::State& state, const std::vector<Value>& row) {
    std::vector<Argument> inputs;
    for (size_t i = 0; i < states; ++i)
      inputs.push_back(aliases_.Fresh(Like(b_, initial[i], state[i])));
    for (const Value& v : row) inputs.push_back(aliases_.Fresh(Argument(v)));
    inputs.insert(inputs.end(), more.begin(), more.end());
    const std::vector<Value> results = ValuesOf(b_, aliases_, RunPure(graph, std::move(inputs)));
    Turn turn;
    if (results.size() < states) {
      if (b_.status().ok()) b_.Fail("{}: its graph has too few results", name);
      turn.next = state;
      return turn;
    }
    const auto middle = results.begin() + static_cast<int64_t>(states);
    turn.next.assign(results.begin(), middle);
    turn.rows.assign(is_prefix ? results.begin() : middle, results.end());
    return turn;
  };
  const TypedBuilder::State last = ScanRows(b_, spec);
  if (!b_.status().ok()) return {};
  std::vector<Argument> out;
  for (size_t i = is_prefix ? states : 0; i < last.size(); ++i) {
    if (is_prefix) {
      out.push_back(aliases_.Fresh(Argument(b_.Concat({heads[i - states], last[i]}, 0))));
    } else {
      out.push_back(aliases_.Fresh(i < states ? Like(b_, initial[i], last[i]) : Argument(last[i])));
    }
  }
  return out;
}

std::vector<Argument> ExportGraph::HigherOrder(std::string_view name, const Json& node,
                                               const Names& names) {
  std::vector<Argument> arguments;
  std::vector<const Json*> graphs;
  size_t behind = 0;  // the first argument behind the last graph
  for (const Json& input : Member(node, "inputs")) {
    const auto [kind, value] = UnionOf(Member(input, "arg"));
    if (kind == "as_graph") {
      graphs.push_back(&Member(*value, "graph"));
      behind = arguments.size() + 1;
    }
    arguments.push_back(Read(Member(input, "arg"), names));
  }
  if (!b_.status().ok()) return {};
  if (graphs.empty()) {
    b_.Fail("{}: expected a graph", name);
    return {};
  }
  if (name == "cond") return Cond(arguments, graphs);
  if (name == "while_loop") return WhileLoop(arguments, graphs);
  if (name == "scan" || name == "map_impl" || name == "map" || name == "associative_scan")
    return Scan(name, arguments, *graphs[0]);
  // The others call their graph with what follows it.
  std::vector<Argument> inputs;
  const size_t wanted = Member(*graphs[0], "inputs").size();
  for (size_t i = behind; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    if (a.is(Kind::kString) && inputs.size() < wanted && arguments.size() - behind > wanted)
      continue;  // the name of a subgraph
    if (a.is_list()) {
      inputs.insert(inputs.end(), a.items.begin(), a.items.end());
    } else {
      inputs.push_back(a);
    }
  }
  inputs.resize(std::min(inputs.size(), wanted));
  return Run(*graphs[0], std::move(inputs));
}

}  // namespace relayvm::import::torch

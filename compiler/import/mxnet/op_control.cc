// Control flow. Attributes say which input each variable of a subgraph gets.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

namespace {

using State = TypedBuilder::State;

// Numbers of an attribute, each below `end`; nullopt with an error.
std::optional<std::vector<size_t>> Places(Node& n, std::string_view name, size_t end) {
  std::vector<size_t> out;
  for (const int64_t at : n.Ints(name)) {
    if (at < 0 || at >= static_cast<int64_t>(end)) {
      n.Fail("attribute {}: {} is out of 0 to {}", name, at, static_cast<int64_t>(end) - 1);
      return std::nullopt;
    }
    out.push_back(static_cast<size_t>(at));
  }
  return out;
}
// The node's inputs at these places.
std::vector<Value> InputsAt(Node& n, const std::vector<size_t>& places) {
  std::vector<Value> out;
  for (const size_t at : places) out.push_back(n.Input(at));
  return out;
}
bool HasSubgraphs(Node& n, size_t count) {
  if (n.NumSubgraphs() == count) return true;
  n.Fail("expected {} subgraphs, found {}", count, n.NumSubgraphs());
  return false;
}
// Every input has a value.
bool AreGiven(Node& n) {
  if (std::ranges::all_of(n.inputs(), [](const Value& v) { return v && v.is_tensor(); }))
    return true;
  n.Fail("an input has no value");
  return false;
}

// A condition, of one element, as bool.
Value ConditionOf(Node& n, const std::vector<Value>& heads) {
  if (heads.empty()) return {};
  return IsTrue(AsScalar(Term(n.b(), heads[0])));
}

// States that begin with extents of 1 (zeros of a shape that was not known) broadcast to those that
// they have after a turn: (batch, units).
State WithExtentsOf(TypedBuilder& b, State initial, const State& next) {
  for (size_t i = 0; i < initial.size() && i < next.size(); ++i) {
    if (!next[i].is_tensor() || initial[i].rank() != next[i].rank()) continue;
    bool differs = false;
    for (int k = 0; k < next[i].rank(); ++k)
      differs |= initial[i].dim(k).is_const(1) && !next[i].dim(k).is_const(1);
    if (differs) initial[i] = BroadcastTo(b, initial[i], DimsOf(b, next[i], 0, next[i].rank()));
  }
  return initial;
}

// --- _foreach ---

struct ForeachPlaces {
  std::vector<size_t> data, states, others;  // of the subgraph's variables
  size_t rows = 0;                           // results that are collected
};
std::optional<ForeachPlaces> ReadForeach(Node& n) {
  if (!HasSubgraphs(n, 1) || !AreGiven(n)) return std::nullopt;
  const size_t count = n.NumSubgraphInputs(0);
  const auto data = Places(n, "in_data_locs", count), states = Places(n, "in_state_locs", count),
             others = Places(n, "remain_locs", count);
  if (!data || !states || !others) return std::nullopt;
  if (data->empty() || data->size() + states->size() + others->size() != n.num_inputs() ||
      n.num_inputs() != count) {
    return n.Fail("{} inputs do not match the locations of the subgraph's {} variables",
                  n.num_inputs(), count);
  }
  return ForeachPlaces{*data, *states, *others, static_cast<size_t>(n.Count("num_out_data", 0))};
}

Outputs Foreach(Node& n) {
  TypedBuilder& b = n.b();
  const auto places = ReadForeach(n);
  if (!places) return {};
  const auto inputs = n.inputs().begin();
  const auto first_state = inputs + static_cast<ptrdiff_t>(places->data.size());
  const auto first_other = first_state + static_cast<ptrdiff_t>(places->states.size());
  const std::vector<Value> data(inputs, first_state), others(first_other, n.inputs().end());
  State initial(first_state, first_other);
  for (const Value& v : data)
    if (v.rank() < 1) return n.Fail("expected data of rank 1 or more");
  const auto body = [&](const State& state, const std::vector<Value>& rows) {
    std::vector<Value> variables(n.num_inputs());
    for (size_t i = 0; i < rows.size(); ++i) {
      // A row of a vector is a vector of one element.
      variables[places->data[i]] = rows[i].rank() == 0 ? b.Reshape(rows[i], {1}) : rows[i];
    }
    for (size_t i = 0; i < state.size(); ++i) variables[places->states[i]] = state[i];
    for (size_t i = 0; i < others.size(); ++i) variables[places->others[i]] = others[i];
    const std::vector<Value> heads = n.Subgraph(0, variables);
    Turn turn;
    if (heads.size() != places->rows + places->states.size()) {
      if (b.status().ok())
        n.Fail("the subgraph has {} heads, expected {}", heads.size(),
               places->rows + places->states.size());
      return turn;
    }
    const auto split = heads.begin() + static_cast<ptrdiff_t>(places->rows);
    turn.rows.assign(heads.begin(), split);
    turn.next.assign(split, heads.end());
    return turn;
  };
  const auto nodes = static_cast<int64_t>(n.NumSubgraphNodes(0));
  if (std::ranges::any_of(initial, [](const Value& v) {
        return std::ranges::any_of(v.shape(), [](const Dim& d) { return d.is_const(1); });
      })) {
    std::vector<Value> rows;
    for (const Value& v : data) rows.push_back(Term(b, v).Take(b.Int(0), 0));
    const Turn first = body(initial, rows);
    if (!b.status().ok()) return {};
    initial = WithExtentsOf(b, initial, first.next);
  }
  const State all = ScanRows(b, {.initial = initial,
                                 .scanned = data,
                                 .backward = std::vector<bool>(data.size()),
                                 .body = body,
                                 .nodes = nodes});
  if (!b.status().ok() || all.size() < initial.size()) return {};
  // The collected ones come first.
  const auto split = all.begin() + static_cast<ptrdiff_t>(initial.size());
  Outputs out(split, all.end());
  out.insert(out.end(), all.begin(), split);
  return out;
}

// --- _while_loop ---

// `v`, which has a row for each turn, with zeros behind up to `rows` rows.
Value FilledUp(Node& n, const Value& v, int64_t rows) {
  TypedBuilder& b = n.b();
  const Term missing = Term(b, b.Ints({rows})) - Term(b, b.DimOf(v, 0));
  std::vector<Value> dims = DimsOf(b, v, 1, v.rank());
  dims.insert(dims.begin(), missing);
  const Value zeros = Filled(b, 0, v.dtype(), b.Concat(dims, 0));
  const Value all = b.Concat({v, zeros}, 0);
  std::vector<Value> shape = DimsOf(b, v, 1, v.rank());
  shape.insert(shape.begin(), b.Ints({rows}));
  return ShapedAs(b, all, shape);
}

Outputs WhileLoop(Node& n) {
  TypedBuilder& b = n.b();
  if (!HasSubgraphs(n, 2) || !AreGiven(n)) return {};
  const auto condition = Places(n, "cond_input_locs", n.num_inputs()),
             func = Places(n, "func_input_locs", n.num_inputs());
  const auto vars = func ? Places(n, "func_var_locs", func->size()) : std::nullopt;
  if (!condition || !func || !vars) return {};
  const auto rows = static_cast<size_t>(n.Count("num_out_data", 0));
  const int64_t most = n.Count("max_iterations", 0);
  // Which state an input is; not one: it stays.
  std::vector<std::optional<size_t>> state_of(n.num_inputs());
  State initial;
  for (size_t i = 0; i < vars->size(); ++i) {
    state_of[(*func)[(*vars)[i]]] = i;
    initial.push_back(n.Input((*func)[(*vars)[i]]));
  }
  const auto values = [&](const std::vector<size_t>& at, const State& state) {
    std::vector<Value> out = InputsAt(n, at);
    for (size_t i = 0; i < at.size(); ++i)
      if (state_of[at[i]]) out[i] = state[*state_of[at[i]]];
    return out;
  };
  const auto holds = [&](const State& state) {
    return ConditionOf(n, n.Subgraph(0, values(*condition, state)));
  };
  const auto body = [&](const Value&, const State& state) {
    const std::vector<Value> heads = n.Subgraph(1, values(*func, state));
    Turn turn;
    if (heads.size() != rows + state.size()) {
      if (b.status().ok())
        n.Fail("the subgraph has {} heads, expected {}", heads.size(), rows + state.size());
      return turn;
    }
    const auto split = heads.begin() + static_cast<ptrdiff_t>(rows);
    turn.rows.assign(heads.begin(), split);
    turn.next.assign(split, heads.end());
    turn.again = holds(turn.next);
    return turn;
  };
  const Value first = holds(initial);
  if (!b.status().ok()) return {};
  const State all = RunOrUnroll(b, {b.Int(most), first, initial, body},
                                static_cast<int64_t>(n.NumSubgraphNodes(1)));
  if (!b.status().ok() || all.size() < initial.size()) return {};
  Outputs out;
  for (size_t i = initial.size(); i < all.size(); ++i) out.push_back(FilledUp(n, all[i], most));
  out.insert(out.end(), all.begin(), all.begin() + static_cast<ptrdiff_t>(initial.size()));
  return out;
}

// --- _cond ---

Outputs Cond(Node& n) {
  TypedBuilder& b = n.b();
  if (!HasSubgraphs(n, 3) || !AreGiven(n)) return {};
  const auto condition = Places(n, "cond_input_locs", n.num_inputs()),
             then_at = Places(n, "then_input_locs", n.num_inputs()),
             else_at = Places(n, "else_input_locs", n.num_inputs());
  if (!condition || !then_at || !else_at) return {};
  const Value holds = ConditionOf(n, n.Subgraph(0, InputsAt(n, *condition)));
  if (!b.status().ok()) return {};
  if (const auto known = KnownNumber(b, holds))
    return *known != 0 ? n.Subgraph(1, InputsAt(n, *then_at))
                       : n.Subgraph(2, InputsAt(n, *else_at));
  std::vector<Value> yes = n.Subgraph(1, InputsAt(n, *then_at)),
                     no = n.Subgraph(2, InputsAt(n, *else_at));
  if (!b.status().ok()) return {};
  if (yes.size() != no.size() || yes.empty())
    return n.Fail("the branches differ in the number of heads");
  const auto joined = Branches(b, holds, yes, no);
  if (!joined) return n.Fail("the branches give tensors of different ranks or dtypes");
  return *joined;
}

constexpr OperatorDef kControlOperators[] = {
    {"_cond _npx_cond", 1, -1, Cond},
    {"_foreach _npx_foreach", 1, -1, Foreach},
    {"_while_loop _npx_while_loop", 1, -1, WhileLoop},
};

}  // namespace

std::span<const OperatorDef> ControlOperators() { return kControlOperators; }

}  // namespace relayvm::import::mxnet
